"""Reads from ps what processes there are, on systems that have no /proc: macOS.

The options and columns are those of POSIX and of macOS; `comm` is the executable's path there.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

from msgspec import Struct

_PS_S = 10.0
_COLUMNS = ("pid", "ppid", "uid", "state", "args")


class PsRow(Struct, frozen=True):
    """One process as ps shows it; `exe` is its executable, or its name where ps has no path."""

    pid: int
    parent: int
    owner: int
    state: str
    exe: str
    words: tuple[str, ...]


def list_rows(pid: int | None = None) -> list[PsRow]:
    """Return all processes, or one; nothing where ps cannot be asked."""
    chosen = ["-axww"] if pid is None else ["-ww", "-p", str(pid)]
    rows = _run_ps(*chosen, *(word for name in _COLUMNS for word in ("-o", f"{name}=")))
    names = _run_ps(*chosen, "-o", "pid=", "-o", "comm=")
    return list(parse_rows(rows, names))


def parse_rows(rows: str, names: str) -> Iterator[PsRow]:
    """Parse the columns of two calls of ps: the executable's path may have blanks in it."""
    paths = {}
    for line in names.splitlines():
        number, _, path = line.strip().partition(" ")
        paths[number] = path.strip()
    for line in rows.splitlines():
        fields = line.split(None, len(_COLUMNS) - 1)
        if len(fields) < len(_COLUMNS) - 1 or not all(one.isdecimal() for one in fields[:3]):
            continue
        pid, parent, owner, state, *rest = fields
        exe, args = paths.get(pid, ""), rest[0] if rest else ""
        words = (exe, *args[len(exe) :].split()) if exe and args.startswith(exe) else args.split()
        yield PsRow(int(pid), int(parent), int(owner), state[:1], exe, tuple(words))


def _run_ps(*options: str) -> str:
    try:
        answer = subprocess.run(
            ["/bin/ps", *options], capture_output=True, timeout=_PS_S, check=False, errors="replace"
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout
