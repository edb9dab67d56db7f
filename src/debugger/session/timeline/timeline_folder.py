"""Chooses a timeline's file, its permissions, and removes those of dead daemons."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

_FILE = "events.db"


class TimelineFolder:
    """A folder of one timeline's own, in which only its owner can read; locked while it is used."""

    def __init__(self, parent: Path) -> None:
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = Path(tempfile.mkdtemp(prefix="t-", dir=parent))
        self._lock = _lock_file(self._path)
        self.file = self._path / _FILE
        # SQLite gives what it makes beside the file the file's own mode.
        os.close(os.open(self.file, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))

    def remove(self) -> None:
        """Remove all of it, and what holds it when that is empty."""
        shutil.rmtree(self._path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        with suppress(OSError):
            self._path.parent.rmdir()


def remove_abandoned(parent: Path) -> None:
    """Remove the folders of daemons that died: those that nobody holds."""
    with suppress(OSError):
        for path in parent.iterdir():
            lock = _lock_file(path)
            if lock is not None:
                shutil.rmtree(path, ignore_errors=True)
                os.close(lock)
        parent.rmdir()


def _lock_file(path: Path) -> int | None:
    """Lock a folder for as long as the descriptor is open; None where somebody else holds it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
