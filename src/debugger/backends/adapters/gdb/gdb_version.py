"""Asks a gdb about its version and features, once for each version of its file."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

_ASK_S = 10.0


def gdb_output(gdb: str, *words: str) -> str | None:
    """Return what `gdb -nx -batch` writes to standard output and errors; None where it cannot."""
    try:
        found = Path(gdb).stat()
    except OSError:
        return None
    return _cached_output(gdb, found.st_mtime_ns, found.st_size, words)


@functools.lru_cache(maxsize=16)
def _cached_output(gdb: str, changed: int, size: int, words: tuple[str, ...]) -> str | None:
    del changed, size  # they only tell one file from the one that it was
    try:
        answer = subprocess.run(
            [gdb, "-nx", "-batch", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_ASK_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout
