"""What stands in the source around a place."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from debugger.core.answers import SourceLine
from debugger.errors import Code, DebuggerError

_FILE_MAX = 8 << 20
_LINE_MAX = 400


@functools.lru_cache(maxsize=64)
def _read(path: str, modified_ns: int, size: int) -> tuple[str, ...]:
    del modified_ns, size  # they make a changed file another key
    return split(Path(path).read_bytes())


def split(text: bytes) -> tuple[str, ...]:
    """Cut source into lines as compilers count them: a form feed, say, ends none."""
    lines = (line.decode(errors="replace") for line in text.splitlines())
    return tuple(line[:_LINE_MAX].expandtabs(4) for line in lines)


def lines(path: str) -> tuple[str, ...] | None:
    """Return a file's lines; None if it cannot be read or is over 8 MiB."""
    try:
        found = Path(path).stat()
        if found.st_size > _FILE_MAX or not Path(path).is_file():
            return None
        return _read(path, found.st_mtime_ns, found.st_size)
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return None


def is_readable(path: str | None) -> bool:
    """Tell whether there is source to show."""
    return path is not None and "\0" not in path and os.access(path, os.R_OK)


def around(
    path: str | None, line: int | None, *, before: int, after: int
) -> tuple[SourceLine, ...]:
    """Return the lines around a line, marked; nothing if there is no source."""
    if path is None or line is None:
        return ()
    text = lines(path)
    if text is None or not 1 <= line <= len(text):
        return ()
    first, last = max(1, line - before), min(len(text), line + after)
    return tuple(
        SourceLine(number, text[number - 1], current=number == line)
        for number in range(first, last + 1)
    )


def listing(path: str, line: int, *, context: int) -> tuple[tuple[SourceLine, ...], int]:
    """Return the lines around a line, and how many the file has.

    Raises:
        DebuggerError: NOT_FOUND.
    """
    text = lines(path)
    if text is None:
        raise DebuggerError(
            Code.NOT_FOUND, f"cannot read {path}", hint="debugger backtrace shows the files in use"
        )
    if line > len(text):
        raise DebuggerError(
            Code.NOT_FOUND,
            f"no line {line}: {path} has {len(text)} lines",
            hint=f"debugger source {path}:{max(len(text), 1)}",
        )
    shown = around(path, line, before=context, after=context)
    return shown, len(text)
