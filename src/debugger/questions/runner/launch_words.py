"""Runs a debug session's command without a debugger: its command line, and its input."""

from __future__ import annotations

import asyncio
from pathlib import Path

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode

_INPUT_MAX = 64 << 20


def launch_argv(launch: LaunchTarget) -> list[str]:
    """Return the words that run it, with the interpreter where it needs one."""
    before = [launch.python] if launch.python is not None else []
    what = ["-m", launch.module] if launch.module is not None else [str(launch.program)]
    return [*before, *what, *launch.args]


async def stdin_bytes(launch: LaunchTarget) -> bytes:
    """Return its standard input, of at most 64 MiB.

    Raises:
        DebuggerError: USAGE if it is longer.
    """
    if launch.stdin is None:
        return b""
    return await asyncio.to_thread(read_stdin_file, Path(launch.stdin))


def read_stdin_file(path: Path) -> bytes:
    """Read a file of standard input, of at most 64 MiB.

    Raises:
        DebuggerError: NOT_FOUND, and USAGE if it is longer.
    """
    try:
        return _read_limited(path)
    except OSError as error:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"cannot read {path}: {error.strerror}",
            hint="give it: --stdin FILE",
        ) from error


def _read_limited(path: Path) -> bytes:
    with path.open("rb") as file:
        read = file.read(_INPUT_MAX + 1)
    if len(read) > _INPUT_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{path} is longer than 64 MiB",
            hint="give a shorter input: --stdin FILE",
        )
    return read
