"""Caches what was parsed of a binary for the next session (SQLite, by build id)."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

# A change of any cached value's shape needs a new version: files of older ones are not read.
VERSION: Final = 3
# Another session may be writing to the same file; parsing again is better than a longer wait.
_BUSY_S: Final = 1.0
_FILES_MAX: Final = 40
_ALSO: Final = ("-wal", "-shm", "-journal")

T = TypeVar("T")


def cache_folder(env: Mapping[str, str]) -> Path:
    """Return the directory of the cache: in $XDG_CACHE_HOME, or in ~/.cache."""
    home = env.get("XDG_CACHE_HOME", "")
    user = Path(env["HOME"]) if env.get("HOME") else Path.home()
    place = Path(home) if Path(home).is_absolute() else user / ".cache"
    return place / "debugger-cli" / "dwarf"


class DebugCache:
    """Stores values by key for one build of a binary; without a folder only in memory.

    A cache that cannot be read or written is no failure: its values are parsed again. Any thread
    may use it, and close it while another reads: CPython 3.11 faults where a connection is closed
    within another thread's `execute`.
    """

    # Two levels. In memory (`_known`), each value once for a session. On disk, one SQLite
    # file for each build id, so that a rebuilt program never meets old values; values are
    # MessagePack, typed when they are read. Keys are names of indexes ("files", "functions",
    # "types") or parts of one unit ("rows 4711"). The folder must be the user's own and
    # closed to others, as its values are believed. Each write is a transaction of its own:
    # values are independent, and two sessions write the same.
    def __init__(self, place: Path | None, identity: str, *, files_max: int = _FILES_MAX) -> None:
        self._known: dict[str, object] = {}
        self._lock = threading.Lock()
        self._connection = _open_database(place, identity, files_max) if place is not None else None

    def get_or_make(self, key: str, kind: type[T], make: Callable[[], T]) -> T:
        """Return the value of a key, or make and store it."""
        if key in self._known:
            known: T = self._known[key]  # type: ignore[assignment]  # one key has one type
            return known
        # Two threads may make the same value: both are right, and no lock is held while
        # parsing.
        value = self._stored_value(key, kind)
        if value is None:
            value = make()
            self._store_value(key, value)
        self._known[key] = value
        return value

    def has_key(self, key: str) -> bool:
        """Return whether a key has a value."""
        if key in self._known:
            return True
        try:
            return self._first_row("SELECT 1 FROM kept WHERE key = ?", key) is not None
        except sqlite3.Error:
            return False

    def _stored_value(self, key: str, kind: type[T]) -> T | None:
        try:
            row = self._first_row("SELECT value FROM kept WHERE key = ?", key)
            return msgspec.msgpack.decode(row[0], type=kind) if row is not None else None
        except (sqlite3.Error, msgspec.DecodeError):
            return None

    def _store_value(self, key: str, value: object) -> None:
        if self._connection is None:  # what nobody keeps need not be encoded
            return
        with contextlib.suppress(sqlite3.Error):
            self._first_row(
                "INSERT OR REPLACE INTO kept VALUES (?, ?)", key, msgspec.msgpack.encode(value)
            )

    def _first_row(self, statement: str, *values: object) -> tuple[Any, ...] | None:
        """Execute a statement, and return its first row; without a connection nothing is done."""
        with self._lock:
            if self._connection is None:
                return None
            row: tuple[Any, ...] | None = self._connection.execute(statement, values).fetchone()
            return row

    def close(self) -> None:
        """Close the file."""
        # Under the lock: see the class.
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()


def _open_database(place: Path, identity: str, files_max: int) -> sqlite3.Connection | None:
    path = place / f"{identity}-v{VERSION}.sqlite"
    try:
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = place.lstat()
        if found.st_uid != os.getuid() or found.st_mode & 0o077:
            return None
        if not path.exists():
            _make_room(place, files_max)
        # Made before SQLite does, which would let others read it.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    except OSError:
        return None
    # Twice: the second time with an empty file, where the first was no database.
    for _ in range(2):
        connection = None
        try:
            connection = sqlite3.connect(
                path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
            )
            # A power failure may lose the cache, which is parsed again; writes are much
            # faster.
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, value BLOB)")
        except sqlite3.DatabaseError as error:
            if connection is not None:
                connection.close()
            if isinstance(error, sqlite3.OperationalError):
                return None
            # It is no database any more: a new one is begun.
            with contextlib.suppress(OSError):
                path.write_bytes(b"")
        else:
            return connection
    return None


def _make_room(place: Path, files_max: int) -> None:
    """Remove the caches with the oldest changes, so that `files_max` remain with the new one."""
    files = sorted(place.glob("*.sqlite"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in files[files_max - 1 :]:
        path.unlink(missing_ok=True)
        for ending in _ALSO:
            path.with_name(path.name + ending).unlink(missing_ok=True)
