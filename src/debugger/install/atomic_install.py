"""Moves a whole new adapter to its place, or nothing of it."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from debugger.errors import DebuggerError, ErrorCode


class InstallPrefix:
    """Where an adapter is made (`draft`) and where it is to be (`target`).

    Both are folders of one file system, so that a rename brings the one to the other as a whole.
    """

    def __init__(self, target: Path, draft: Path) -> None:
        self.target = target
        self.draft = draft
        self._old = _old_folder(target)
        self._is_put = False

    def put_in_place(self) -> None:
        """Bring the draft to its place; what was there is kept until `keep_new`."""
        with suppress(FileNotFoundError):
            self.target.rename(self._old)
        self.draft.rename(self.target)
        self._is_put = True

    def keep_new(self) -> None:
        """Take what was put there for good."""
        self._is_put = False
        _remove_tree(self._old)

    def take_back(self) -> None:
        """Undo a `put_in_place` that was not kept."""
        if self._is_put:
            self._is_put = False
            _remove_tree(self.target)
        _restore_old(self.target)


@contextmanager
def open_install_prefix(folder: Path, name: str) -> Iterator[InstallPrefix]:
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
            ErrorCode.DENIED,
            f"cannot write to {folder}: {error.strerror}",
            hint="XDG_DATA_HOME names another directory for it",
        ) from error
    try:
        _lock_install(lock, name)
        _clear_remains(folder, name)
        place = InstallPrefix(
            folder / name, Path(tempfile.mkdtemp(prefix=f".{name}.new-", dir=folder))
        )
        place.draft.chmod(0o755)
        try:
            yield place
        finally:
            place.take_back()
            _remove_tree(place.draft)
    finally:
        os.close(lock)


def _lock_install(descriptor: int, name: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise DebuggerError(
            ErrorCode.WRONG_STATE,
            f"another setup of {name} is under way",
            hint=f"when it is done: debugger setup {name} --check",
        ) from None


def _old_folder(target: Path) -> Path:
    return target.with_name(f".{target.name}.old")


def _clear_remains(folder: Path, name: str) -> None:
    """Remove what a setup that was killed has left; give back what it had moved away."""
    _restore_old(folder / name)
    _remove_tree(_old_folder(folder / name))
    for draft in folder.glob(f".{name}.new-*"):
        _remove_tree(draft)


def _restore_old(target: Path) -> None:
    if not target.exists():
        with suppress(FileNotFoundError):
            _old_folder(target).rename(target)


def _remove_tree(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path, ignore_errors=True)
