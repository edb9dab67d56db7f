"""Become the program that the arguments name, once told to: run by path, before Frida is there."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

_PR_SET_PTRACER = 0x59616D61
_ANYBODY = 0xFFFF_FFFF_FFFF_FFFF


def _let_in() -> None:
    """Where only ancestors may enter a process, let our host in too; an exec keeps that."""
    try:
        with Path("/proc/sys/kernel/yama/ptrace_scope").open(encoding="ascii") as file:
            if file.read().strip() != "1":
                return
    except OSError:
        return
    import ctypes  # slow to import, and seldom needed

    ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_ulong(_ANYBODY), 0, 0, 0)


def run_launcher() -> None:
    """Say by one FIFO that we are there, and wait at the other for the word."""
    ready, go, argv = sys.argv[1], sys.argv[2], sys.argv[3:]
    _let_in()
    with Path(ready).open("wb", buffering=0) as file:
        file.write(b".")
    with Path(go).open("rb", buffering=0) as file:
        file.read(1)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and an exec keeps that
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(argv[0], argv)  # noqa: S606 - no shell is the point
    except OSError as error:
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
        sys.exit(127)


if __name__ == "__main__":
    run_launcher()
