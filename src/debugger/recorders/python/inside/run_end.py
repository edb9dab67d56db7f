"""Requests the end of the run from within."""

from __future__ import annotations

import os
import sys
from _thread import allocate_lock

_END_S = 10.0  # within which the run is ended


def request_end(pipe: str) -> None:
    """Request the end of the run, and wait here for it; "" requests nothing."""
    if not pipe:
        return
    # The run is ended from outside, and that loses the text that Python has buffered.
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # noqa: BLE001, S112 - the hit may be inside of a write, or it is closed
            continue
    try:
        # Without a reader an O_NONBLOCK open of a FIFO for writing fails instead of blocking
        # the program.
        descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        os.write(descriptor, b"1")
        os.close(descriptor)
    except OSError:
        return
    waiting = allocate_lock()
    waiting.acquire()
    waiting.acquire(True, _END_S)  # noqa: FBT003 - it has no name
