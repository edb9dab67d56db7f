"""Changes one value of the configuration file, and preserves the rest of its text."""

from __future__ import annotations

import json
import os
import re
import tempfile
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any

from debugger.errors import DebuggerError, ErrorCode

_HEADER = re.compile(r"\s*\[[^\[]")
_FIRST_MODE = 0o600


def with_path(text: str, adapter: str, path: str) -> str:
    """Return the configuration text with an adapter's `path` replaced, all else unchanged.

    Raises:
        DebuggerError: USAGE if the text cannot be changed safely.
    """
    values = _parse_values(text)
    section = values.setdefault("adapters", {}).setdefault(adapter, {})
    section["path"] = path
    line = f"path = {json.dumps(path, ensure_ascii=False)}\n"
    lines = text.splitlines(keepends=True)
    at = _find_header(lines, adapter)
    if at is None:
        changed = _append_section(text, f"[adapters.{_quote_key(adapter)}]\n{line}")
    else:
        old = _key_line(lines, at)
        if old is None:
            lines[at] = lines[at] if lines[at].endswith("\n") else lines[at] + "\n"
            lines.insert(at + 1, line)
        else:
            comment = re.search(r"(?P<said>[ \t]+#[^\"']*)\Z", lines[old].rstrip("\n"))
            lines[old] = line.rstrip("\n") + (comment["said"] if comment else "") + "\n"
        changed = "".join(lines)
    return _check_change(changed, values, f"[adapters.{adapter}] path = {json.dumps(path)}")


def write_settings(file: Path, text: str) -> None:
    """Replace the configuration file atomically; a symbolic link's target is replaced.

    An empty configuration is removed.

    Raises:
        DebuggerError: DENIED.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        real = file.resolve()
        if not text:
            real.unlink(missing_ok=True)
            return
        mode = real.stat().st_mode & 0o777 if real.exists() else _FIRST_MODE
        descriptor, draft = tempfile.mkstemp(prefix=f".{real.name}.", dir=real.parent)
        try:
            with open(descriptor, "w", encoding="utf-8") as opened:
                opened.write(text)
            os.chmod(draft, mode)
            os.replace(draft, real)
        except OSError:
            with suppress(FileNotFoundError):
                os.unlink(draft)
            raise
    except OSError as error:
        raise DebuggerError(
            ErrorCode.DENIED,
            f"cannot write {file}: {error.strerror}",
            hint="debugger config --path",
        ) from error


def read_settings(file: Path) -> str:
    """Return the configuration text; "" without a file.

    Raises:
        DebuggerError: USAGE.
    """
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise DebuggerError(
            ErrorCode.USAGE, f"{file}: {error}", hint="debugger config --path"
        ) from error


def _parse_values(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DebuggerError(
            ErrorCode.USAGE, f"invalid TOML: {error}", hint="debugger config --path"
        ) from error


def _quote_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name)


def _find_header(lines: list[str], adapter: str) -> int | None:
    name = re.escape(adapter)
    pattern = re.compile(
        rf"""\s*\[\s*adapters\s*\.\s*(?:{name}|"{name}"|'{name}')\s*\]\s*(?:#.*)?\Z"""
    )
    return next((at for at, line in enumerate(lines) if pattern.match(line.rstrip("\n"))), None)


def _key_line(lines: list[str], header: int) -> int | None:
    for at in range(header + 1, len(lines)):
        if _HEADER.match(lines[at]):
            return None
        if re.match(r"""\s*(?:path|"path"|'path')\s*=""", lines[at]):
            return at
    return None


def _append_section(text: str, section: str) -> str:
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return text + gap + section


def _check_change(text: str, expected: dict[str, Any], added: str) -> str:
    """Check that the new text adds the new value and changes nothing else."""
    try:
        holds = tomllib.loads(text) == expected
    except tomllib.TOMLDecodeError:
        holds = False
    if not holds:
        raise DebuggerError(
            ErrorCode.USAGE,
            "the configuration is written in a way that is not changed safely; add this to it:\n"
            f"{added}",
            hint="debugger config --path",
        )
    return text
