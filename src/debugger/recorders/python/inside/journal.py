"""Writes records so that none is lost, however the program ends.

The records go to a file that is mapped into memory: the kernel keeps those pages when the program
is killed, crashes, or leaves by os._exit. Each line is one JSON array; the rest of the file is NUL
bytes.
"""

from __future__ import annotations

import os
from _thread import allocate_lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_RESERVED = 8  # one part in so many is kept for the sums that are written last
_LOCK_S = 0.5


try:
    # By the compiled encoder itself: `json` would be an import that the program may not do.
    from _json import encode_basestring_ascii, make_encoder
except ImportError:  # another Python than CPython
    from json import JSONEncoder

    _chunks: Any = JSONEncoder(separators=(",", ":"), check_circular=False).iterencode
else:
    _options: Any = (None, None, encode_basestring_ascii, None, ":", ",", False, False, True)
    _written = make_encoder(*_options)

    def _chunks(value: Any) -> Any:
        return _written(value, 0)


def encode(value: Any) -> str:
    """Format a value as JSON, without an import that the program may not do itself."""
    return "".join(_chunks(value))


class RecordJournal:
    """The records of one process; records that do not fit are counted."""

    def __init__(self, folder: str, size: int, files: int) -> None:
        self._folder = folder
        self._size = size
        self._files = files
        self._map: Any = None
        self._at = 0
        # Threads write, and a signal's handler may come in between: a wait is bounded.
        self._lock = allocate_lock()
        self.dropped = 0
        self.open()

    def open(self) -> None:
        """Open a file for this process; without a folder, or beyond the file limit, do nothing."""
        import mmap

        self._lock = allocate_lock()
        self._map, self._at, self.dropped = None, 0, 0
        path = os.path.join(self._folder, f"{os.getpid()}.jsonl")  # noqa: PTH118 - slow to import
        try:
            if len(os.listdir(self._folder)) >= self._files:  # noqa: PTH208
                return
            for number in range(2, 100):  # a process that runs another program keeps its number
                try:
                    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                    descriptor = os.open(path, flags, 0o600)
                    break
                except FileExistsError:
                    path = os.path.join(self._folder, f"{os.getpid()}.{number}.jsonl")  # noqa: PTH118
            else:
                return
            try:
                os.ftruncate(descriptor, self._size)
                self._map = mmap.mmap(descriptor, self._size)
            finally:
                os.close(descriptor)
        except (OSError, ValueError):
            return

    def write(self, record: list[Any], *, last: bool = False) -> bool:
        """Write a record; only `last` ones may use the reserved space."""
        return self.write_line(encode(record).encode("ascii") + b"\n", last=last)

    def write_line(self, line: bytes, *, last: bool = False) -> bool:
        """Write a record that is encoded already, with the end of its line."""
        room = self._size if last else self._size - self._size // _RESERVED
        if not self._lock.acquire(True, _LOCK_S):  # noqa: FBT003 - it has no name
            self.dropped += 1
            return False
        try:
            end = self._at + len(line)
            if self._map is None or end > room:
                self.dropped += 1
                return False
            # One slice assignment: a process that is killed leaves at most one incomplete line.
            self._map[self._at : end] = line
            self._at = end
        finally:
            self._lock.release()
        return True

    @property
    def is_full(self) -> bool:
        """Whether a record was rejected."""
        return self._map is None or self.dropped > 0

    def close(self) -> None:
        """Accept no more records."""
        if self._lock.acquire(True, _LOCK_S):  # noqa: FBT003 - it has no name
            try:
                if self._map is not None:
                    self._map.close()
                self._map = None
            finally:
                self._lock.release()
