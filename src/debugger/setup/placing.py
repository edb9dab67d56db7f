"""Moves a whole new adapter to its place, or nothing of it."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from debugger.errors import Code, DebuggerError


class Place:
    """Where an adapter is made (`draft`) and where it is to be (`target`).

    Both are folders of one file system, so that a rename brings the one to the other as a whole.
    """

    def __init__(self, target: Path, draft: Path) -> None:
        self.target = target
        self.draft = draft
        self._old = _old(target)
        self._is_put = False

    def put(self) -> None:
        """Bring the draft to its place; what was there is kept until `keep`."""
        with suppress(FileNotFoundError):
            self.target.rename(self._old)
        self.draft.rename(self.target)
        self._is_put = True

    def keep(self) -> None:
        """Take what was put there for good."""
        self._is_put = False
        _remove(self._old)

    def take_back(self) -> None:
        """Undo a `put` that was not kept."""
        if self._is_put:
            self._is_put = False
            _remove(self.target)
        _restore(self.target)


@contextmanager
def placing(folder: Path, name: str) -> Iterator[Place]:
    """Make a draft beside an adapter's place; alone, and without a trace unless it was kept.

    What is killed in between leaves a draft, which the next one removes.

    Raises:
        DebuggerError: DENIED where we may not write, WRONG_STATE while another one does this.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(folder / f".{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise DebuggerError(
            Code.DENIED,
            f"cannot write to {folder}: {error.strerror}",
            hint="XDG_DATA_HOME names another directory for it",
        ) from error
    try:
        _lock(lock, name)
        _clear(folder, name)
        place = Place(folder / name, Path(tempfile.mkdtemp(prefix=f".{name}.new-", dir=folder)))
        place.draft.chmod(0o755)
        try:
            yield place
        finally:
            place.take_back()
            _remove(place.draft)
    finally:
        os.close(lock)


def _lock(descriptor: int, name: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise DebuggerError(
            Code.WRONG_STATE,
            f"another setup of {name} is under way",
            hint=f"when it is done: debugger setup {name} --check",
        ) from None


def _old(target: Path) -> Path:
    return target.with_name(f".{target.name}.old")


def _clear(folder: Path, name: str) -> None:
    """Remove what a setup that was killed has left; give back what it had moved away."""
    _restore(folder / name)
    _remove(_old(folder / name))
    for draft in folder.glob(f".{name}.new-*"):
        _remove(draft)


def _restore(target: Path) -> None:
    if not target.exists():
        with suppress(FileNotFoundError):
            _old(target).rename(target)


def _remove(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path, ignore_errors=True)
