"""Becomes the program that its arguments name, once a byte comes by FIFO.

It is run by its path, before Frida is in the process, and imports the standard library alone.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

# prctl(2): any process may trace this one, in spite of Yama.
_PR_SET_PTRACER = 0x59616D61
_ANYBODY = 0xFFFF_FFFF_FFFF_FFFF
# Flags of personality(2).
_ADDR_NO_RANDOMIZE = 0x0040000
_ASK = 0xFFFF_FFFF  # answers with the one that is set


def _let_in() -> None:
    """Allow any process to trace this one where Yama allows only ancestors; an exec keeps that."""
    try:
        with Path("/proc/sys/kernel/yama/ptrace_scope").open(encoding="ascii") as file:
            # 1 is "restricted": the host is no ancestor of the program, for the guard starts
            # both. 2 and 3 need rights that nobody can give away.
            if file.read().strip() != "1":
                return
    except OSError:
        return
    import ctypes  # slow to import, and seldom needed

    ctypes.CDLL(None).prctl(_PR_SET_PTRACER, ctypes.c_ulong(_ANYBODY), 0, 0, 0)


def _keep_addresses() -> None:
    """Let what is executed next have the same addresses in each run, as other debuggers do."""
    if sys.platform == "linux":
        import ctypes

        libc = ctypes.CDLL(None)
        now = libc.personality(_ASK)
        if now != -1:
            libc.personality(now | _ADDR_NO_RANDOMIZE)


def run_launcher() -> None:
    """Report by one FIFO that the launcher runs, and wait at the other for a byte."""
    ready, go, argv = sys.argv[1], sys.argv[2], sys.argv[3:]
    _let_in()
    with Path(ready).open("wb", buffering=0) as file:
        file.write(b".")
    _keep_addresses()
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
