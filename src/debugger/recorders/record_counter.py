"""Counts what a running program has recorded so far."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_CHUNK = 1 << 20
_CHUNKS_MAX = 16  # of one file at one time, since the daemon's loop waits for it


class RecordCounter:
    """Counts the records of all processes, which write JSON lines into files filled with NUL."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._records = 0
        self._read: dict[str, int] = {}  # bytes of each file that were counted

    def count(self) -> int:
        """Return the records so far; those that were counted before are not read again."""
        with suppress(OSError):
            for path in self._folder.iterdir():
                self._count_file(path)
        return self._records

    def _count_file(self, path: Path) -> None:
        at = self._read.get(path.name, 0)
        with path.open("rb") as file:
            file.seek(at)
            for _ in range(_CHUNKS_MAX):
                chunk = file.read(_CHUNK)
                written, end, _ = chunk.partition(b"\0")
                self._records += written.count(b"\n")
                at += len(written)
                if end or len(chunk) < _CHUNK:
                    break
        self._read[path.name] = at
