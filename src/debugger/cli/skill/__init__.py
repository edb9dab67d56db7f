"""Holds the skill, a description of the command line for agents, and installs it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from debugger.errors import DebuggerError, ErrorCode

NAME: Final = "debugger"
FILE: Final = "SKILL.md"
_PATH = Path(__file__).with_name(FILE)


def show_or_install(*, show: bool, install: str | None) -> str:
    """Return the skill, or install it into a folder of skills and name the file.

    Raises:
        DebuggerError: USAGE for both at once, DENIED for a file that is not ours or a folder that
            cannot be written to.
    """
    if install is None:
        return skill_text()
    if show:
        raise DebuggerError(ErrorCode.USAGE, "--print or --install?", hint="debugger skill --help")
    return f"installed {install_skill(Path(install).expanduser())}\n"


def skill_text() -> str:
    """Return the skill."""
    return _PATH.read_text(encoding="utf-8")


def install_skill(folder: Path) -> Path:
    """Write the skill into a subfolder of a folder of skills, replacing an earlier version.

    Raises:
        DebuggerError: DENIED for an existing file that is not ours, or that cannot be written.
    """
    path = folder / NAME / FILE
    try:
        if path.exists() and not _is_ours(path):
            raise DebuggerError(
                ErrorCode.DENIED, f"{path} is another skill", hint="debugger skill --install DIR"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f".{FILE}.new")
        new.write_text(skill_text(), encoding="utf-8")
        os.replace(new, path)
    except OSError as error:
        raise DebuggerError(
            ErrorCode.DENIED,
            f"cannot write {path}: {error.strerror}",
            hint="debugger skill --print shows it",
        ) from error
    return path


def _is_ours(path: Path) -> bool:
    return f"\nname: {NAME}\n" in path.read_text(encoding="utf-8", errors="replace")
