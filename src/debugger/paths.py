"""Locates the daemon's files and what was installed, and checks that they are ours alone."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False  # `typing` costs the client a fifth of Python's own start
if TYPE_CHECKING:
    from collections.abc import Mapping

SOCKET = "daemon.sock"
LOG = "daemon.log"
OLD_LOG = "daemon.log.1"
LOCK = "daemon.lock"
STATE = "daemon.json"

_GROUP_AND_OTHERS = 0o077


def runtime_dir() -> str:
    """Give the absolute path of the runtime directory, created and checked.

    Raises:
        DebuggerError: It cannot be made, or somebody else could reach into it.
    """
    # errors is imported where something failed: its Enum costs a third of Python's own start.
    path = _configured_directory()
    try:
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            os.makedirs(path, mode=0o700, exist_ok=True)  # noqa: PTH103 - pathlib is slow to import
            found = os.lstat(path)
    except OSError as error:
        from debugger.errors import DebuggerError, ErrorCode

        raise DebuggerError(
            ErrorCode.DENIED,
            f"cannot use the runtime directory {path}: {error.strerror}",
            hint="set DEBUGGER_RUNTIME_DIR to a directory of your own",
        ) from error
    _refuse_foreign(path, found)
    return path


def data_dir(env: Mapping[str, str]) -> str:
    """Give the absolute path of what was installed for us; `adapters/NAME` holds an adapter.

    It is in $XDG_DATA_HOME, or in ~/.local/share, and need not be there.
    """
    home = env.get("XDG_DATA_HOME", "")
    if not os.path.isabs(home):  # noqa: PTH117 - pathlib costs the client its start-up time
        user = env.get("HOME") or os.path.expanduser("~")  # noqa: PTH111 - the same
        home = f"{user}/.local/share"
    return f"{home}/debugger-cli"


def open_private(path: str, flags: int) -> int:
    """Open a file that only its owner may read, never through a symbolic link.

    Raises:
        OSError: As `os.open` does.
    """
    return os.open(path, flags | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0), 0o600)


def write_private(path: str, content: bytes) -> None:
    """Replace a file as a whole: a reader sees the old content or the new, never a part.

    Raises:
        OSError: It cannot be written.
    """
    draft = f"{path}.{os.getpid()}"
    descriptor = open_private(draft, os.O_WRONLY | os.O_TRUNC)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - pathlib costs the client its start-up time
            file.write(content)
        os.replace(draft, path)  # noqa: PTH105 - the same
    except BaseException:
        remove_file(draft)
        raise


def remove_file(path: str) -> None:
    """Remove a file; one that is not there is as good as removed."""
    try:  # noqa: SIM105 - contextlib costs the client its start-up time
        os.unlink(path)  # noqa: PTH108 - the same
    except FileNotFoundError:
        pass


def log_tail(path: str, *, lines: int, since: int = 0) -> list[str]:
    """Give the last lines of a log, of what was written after byte `since`."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib costs the client its start-up time
            # A line of a log is seldom longer than this, and the answer must stay small.
            size = file.seek(0, os.SEEK_END)
            file.seek(max(since, size - 400 * lines, 0))
            content = file.read()
    except FileNotFoundError:
        return []
    return content.decode("utf-8", "replace").splitlines()[-lines:]


def _configured_directory() -> str:
    own = os.environ.get("DEBUGGER_RUNTIME_DIR")
    if own:
        return os.path.abspath(own)  # noqa: PTH100 - pathlib costs the client its start-up time
    shared = os.environ.get("XDG_RUNTIME_DIR", "")
    # Containers and `su` leave the variable pointing at a directory that was never made.
    if os.path.isabs(shared) and os.path.isdir(shared):  # noqa: PTH112, PTH117 - the same
        return f"{shared}/debugger-cli"
    return f"/tmp/debugger-cli-{os.getuid()}"  # noqa: S108 - owner and mode are checked


def _refuse_foreign(path: str, found: os.stat_result) -> None:
    why = None
    if not stat.S_ISDIR(found.st_mode):
        why = "is a symbolic link" if stat.S_ISLNK(found.st_mode) else "is not a directory"
    elif found.st_uid != os.getuid():
        why = f"belongs to another user (uid {found.st_uid})"
    elif found.st_mode & _GROUP_AND_OTHERS:
        why = f"is open to others (mode {stat.S_IMODE(found.st_mode):04o}, not 0700)"
    if why is None:
        return
    from debugger.errors import DebuggerError, ErrorCode

    raise DebuggerError(
        ErrorCode.DENIED,
        f"the runtime directory {path} {why}",
        hint="set DEBUGGER_RUNTIME_DIR to a directory of your own",
    )
