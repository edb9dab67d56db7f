"""Lists the source files of a project, and the files that a JavaScript program loads."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

_IMPORT = re.compile(
    r"\b(?:from|require\s*\(|import\s*\(?)\s*"
    r"""["'](?P<path>\.{1,2}/[^"'\n]*|\.{1,2})["']"""
)
_SUFFIXES = (".js", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".jsx")
# TypeScript names the file that is made of another, as Node wants it.
_MADE_OF = {".js": (".ts", ".tsx"), ".mjs": (".mts",), ".cjs": (".cts",), ".jsx": (".tsx",)}
_LOADED_MAX = 400  # imported files
_SIZE_MAX = 1 << 19  # bytes; what is longer was written by a program


def imported_files(scripts: Sequence[Path]) -> list[Path]:
    """Return scripts and their direct and indirect imports, the nearest first."""
    found = dict.fromkeys(Path(os.path.realpath(one)) for one in scripts)
    waiting = list(found)
    while waiting and len(found) < _LOADED_MAX:
        for path in _relative_imports(waiting.pop(0)):
            if path not in found:
                found[path] = None
                waiting.append(path)
    return list(found)


def _relative_imports(script: Path) -> Iterator[Path]:
    try:
        if script.stat().st_size > _SIZE_MAX:
            return
        text = script.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    for match in _IMPORT.finditer(text):
        path = _resolve_import(script.parent / match["path"])
        if path is not None:
            yield Path(os.path.realpath(path))


def _resolve_import(path: Path) -> Path | None:
    """Find the file of an import, as Node, TypeScript and bundlers do."""
    made_of = [path.with_suffix(one) for one in _MADE_OF.get(path.suffix, ())]
    completed = [Path(f"{path}{one}") for one in _SUFFIXES]
    inner = [path / f"index{one}" for one in _SUFFIXES]
    return next((one for one in (path, *made_of, *completed, *inner) if one.is_file()), None)


_FILES_MAX = 3000
_ENTRIES_MAX = 30_000  # directory entries that a search reads
_DEPTH_MAX = 8  # levels of folders that a search enters
_NOT_OWN = frozenset({"node_modules", "site-packages", "__pycache__", "bower_components"})
_ENVIRONMENT = "pyvenv.cfg"  # marks a virtual environment


def project_files(folders: Iterable[str | Path], suffixes: Collection[str]) -> list[Path]:
    """Return files below folders by extension, the nearest first, within a limit.

    Installed code is skipped: `node_modules`, virtual environments, hidden folders.
    """
    left = _ENTRIES_MAX
    found: dict[Path, None] = {}
    waiting = [(Path(folder), 0) for folder in folders]
    seen: set[Path] = set()
    while waiting and left > 0 and len(found) < _FILES_MAX:
        folder, depth = waiting.pop(0)
        if folder in seen or folder == Path("/"):
            continue
        seen.add(folder)
        try:
            with os.scandir(folder) as scan:
                entries = sorted(scan, key=lambda one: one.name)
        except OSError:
            continue
        if depth and any(one.name == _ENVIRONMENT for one in entries):
            continue
        left -= len(entries)
        for entry in entries:
            if entry.name.startswith(".") or entry.name in _NOT_OWN:
                continue
            if entry.is_dir(follow_symlinks=False):
                if depth < _DEPTH_MAX:
                    waiting.append((Path(entry.path), depth + 1))
            elif os.path.splitext(entry.name)[1] in suffixes:
                found[Path(entry.path)] = None
    return list(found)[:_FILES_MAX]


def with_text(paths: Iterable[Path], text: str, *, size_max: int) -> list[Path]:
    """Return the files that contain a text; unreadable ones do not."""
    found = []
    needle = text.encode()
    for path in paths:
        try:
            if path.stat().st_size <= size_max and needle in path.read_bytes():
                found.append(path)
        except OSError:
            continue
    return found
