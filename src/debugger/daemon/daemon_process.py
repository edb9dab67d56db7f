"""Starts and finds the daemon, and removes its files at its end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from debugger import __version__, paths
from debugger.daemon import protocol, transport
from debugger.errors import DebuggerError, ErrorCode, full_disk_error

if TYPE_CHECKING:
    from debugger.daemon.command_request import HandlerFactory
    from debugger.daemon.server import DaemonServer

DAEMON = ("-m", "debugger.daemon")
IDLE_S = 30 * 60.0
LOG_BYTES = 1 << 20  # the size at which the log is rotated

# A start is half a second on a quiet machine, and ten times that on a busy one.
_READY_S = 20.0
# More than that: whoever waits takes the daemon that another has started.
_LOCK_S = 25.0
# More than all the bounds of a shutdown together.
_EXIT_S = 12.0
_READY = b"ready\n"


def connect_or_start(
    directory: str,
    command: Sequence[str] = DAEMON,
    *,
    say: Callable[[str], None],
    ready_s: float = _READY_S,
    reap_s: float = _READY_S,
    lock_s: float = _LOCK_S,
) -> transport.DaemonConnection:
    """Connect to the daemon, and start one if none listens; only one of many callers starts it.

    Args:
        directory: The runtime directory.
        command: Python's arguments that run the daemon.
        say: Receives the report of a dead daemon, and of the sessions lost with it.
        ready_s: Seconds for the daemon to be ready.
        reap_s: Seconds for the process that forks it to end.
        lock_s: Seconds for another caller's start.

    Raises:
        DebuggerError: It does not start.
        TimeoutError: A daemon listens but accepts no connection.
    """
    with start_lock(directory, lock_s):
        # Another caller may have started it while we waited for the lock.
        if connection := transport.connect_daemon(directory):
            return connection
        state = transport.read_state(directory)
        if state is not None and not state.get("closing"):
            say(f"the daemon (pid {state.get('pid')}) died; {describe_lost_sessions(state)}")
        paths.remove_file(f"{directory}/{paths.SOCKET}")
        paths.remove_file(f"{directory}/{paths.STATE}")
        _spawn_daemon(directory, command, ready_s, reap_s)
        if connection := transport.connect_daemon(directory):
            return connection
    raise _not_started("it ended at once", directory)


def describe_lost_sessions(state: Mapping[str, Any]) -> str:
    """Describe the sessions that were lost with the daemon of this state file."""
    sessions = state.get("sessions")
    return f"lost: {protocol.name_sessions(sessions)}" if sessions else "it held no session"


def run_daemon(
    factory: HandlerFactory, *, idle_s: float = IDLE_S, argv: Sequence[str] | None = None
) -> int:
    """Run as the daemon until it is stopped or has been idle for `idle_s` seconds.

    Args:
        factory: Makes the handler of all requests; called once, in the running event loop.
        idle_s: Seconds without a request and without a session after which it ends.
        argv: `--directory DIR` (default: the runtime directory), `--ready-fd N`, the pipe of a
        starter that waits, and `--keep S`: it ends when no client is connected for so long.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    options = dict(zip(words[::2], words[1::2], strict=False))
    directory = options.get("--directory") or paths.runtime_dir()
    ready = int(options["--ready-fd"]) if "--ready-fd" in options else None
    if ready is not None and os.fork():
        # The starter reaps this process now; the daemon belongs to init from here on.
        os._exit(0)
    if ready is not None:
        os.set_inheritable(ready, False)  # noqa: FBT003 - no keyword there
    # asyncio is for the daemon alone: a client that starts one imports this module.
    from debugger.daemon import server

    _log_to(RotatingLog(directory))
    token = os.urandom(transport.TOKEN_BYTES).hex()
    listener, address = transport.listen_for_clients(directory, token)
    presence = RuntimeFiles(directory, address)
    keep_s = float(options["--keep"]) if "--keep" in options else None
    served = server.DaemonServer(
        factory, listener, presence, token=token, idle_s=idle_s, keep_s=keep_s
    )

    def tell_ready() -> None:
        if ready is not None:
            report_ready(ready)

    import asyncio

    asyncio.run(_serve_until_stopped(served, tell_ready))
    return 0


def report_ready(ready: int) -> None:
    """Write the byte that the starter waits for, if it still does, and close the pipe."""
    try:  # noqa: SIM105 - reads as the others
        os.write(ready, _READY)
    except BrokenPipeError:  # Ctrl-C ended the starter, and another client may have connected
        pass
    os.close(ready)


class RuntimeFiles:
    """The daemon's files in the runtime directory, which clients read to find the daemon."""

    def __init__(self, directory: str, address: Mapping[str, Any]) -> None:
        self.directory = directory
        self.log = f"{directory}/{paths.LOG}"
        self._socket = f"{directory}/{paths.SOCKET}"
        self._inode = _file_inode(self._socket) if address["transport"] == "unix" else None
        self.address = self._socket if self._inode else f"127.0.0.1:{address.get('port')}"
        self._state: dict[str, Any] = {"pid": os.getpid(), "version": __version__, **address}
        self._written: dict[str, Any] = {}

    def publish(self, sessions: Sequence[Mapping[str, Any]]) -> None:
        """Write the sessions that would be lost if the daemon died now.

        Raises:
            OSError: The file cannot be written.
        """
        # After `withdraw` the file may be a successor's.
        if not self._state.get("closing"):
            self._state["sessions"] = [dict(session) for session in sessions]
            self._write_state()

    def withdraw(self) -> None:
        """Accept no more clients: from here on they start a daemon of their own."""
        # In this order: whoever finds no socket must not take the state for that of a dead daemon.
        self._state["closing"] = True
        try:
            self._write_state()
        finally:
            self._unlink_socket()

    def end(self) -> None:
        """Remove the state file, unless a successor has written its own."""
        with start_lock(self.directory):
            found = transport.read_state(self.directory)
            if found is not None and found.get("pid") == os.getpid():
                paths.remove_file(f"{self.directory}/{paths.STATE}")

    def _unlink_socket(self) -> None:
        if self._inode is not None and _file_inode(self._socket) == self._inode:
            paths.remove_file(self._socket)

    def _write_state(self) -> None:
        if self._state != self._written:
            transport.write_state(self.directory, self._state)
            self._written = dict(self._state)


class RotatingLog:
    """The daemon's log as a text stream: standard error, limited to two files."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        # In the foreground of a terminal or a test, standard error is not the file.
        self._is_file = _same_file(2, f"{directory}/{paths.LOG}")

    def write(self, text: str) -> int:
        """Write to the log."""
        os.write(2, text.encode("utf-8", "backslashreplace"))
        return len(text)

    def flush(self) -> None:
        """Start a new file when this one is full."""
        if self._is_file and os.fstat(2).st_size > LOG_BYTES:
            descriptor = open_log(self._directory)
            # Also for what C code and child processes write.
            os.dup2(descriptor, 1)
            os.dup2(descriptor, 2)
            os.close(descriptor)


@contextmanager
def start_lock(directory: str, within_s: float = _LOCK_S) -> Iterator[None]:
    """Hold the lock for the start or the end of a daemon; wait for it at most `within_s` seconds.

    Raises:
        DebuggerError: Another process holds it for too long.
    """
    descriptor = paths.open_private(f"{directory}/{paths.LOCK}", os.O_RDWR)
    try:
        _lock_descriptor(descriptor, within_s)
        yield
    finally:
        os.close(descriptor)


def open_log(directory: str) -> int:
    """Open the log for appending; a full one is rotated first.

    Raises:
        OSError: It cannot be opened.
    """
    path = f"{directory}/{paths.LOG}"
    descriptor = paths.open_private(path, os.O_WRONLY | os.O_APPEND)
    if os.fstat(descriptor).st_size <= LOG_BYTES:
        return descriptor
    os.close(descriptor)
    os.replace(path, f"{directory}/{paths.OLD_LOG}")  # noqa: PTH105 - as everywhere here
    return paths.open_private(path, os.O_WRONLY | os.O_APPEND)


async def _serve_until_stopped(served: DaemonServer, tell_ready: Callable[[], None]) -> None:
    import asyncio
    import faulthandler
    import signal

    # A fault of the interpreter's own leaves the stacks of all threads in the log.
    faulthandler.enable()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, served.stop)
    async with asyncio.TaskGroup() as group:
        group.create_task(served.run(tell_ready))
        await served.stopping.wait()
        # Its own thread: ends the process, with tracebacks in the log, even if the loop is stuck.
        faulthandler.dump_traceback_later(_EXIT_S, exit=True)


def _spawn_daemon(directory: str, command: Sequence[str], ready_s: float, reap_s: float) -> None:
    import select
    import subprocess

    log = open_log(directory)
    before = os.fstat(log).st_size
    receiver, sender = os.pipe()
    words = ["--directory", directory, "--ready-fd", str(sender)]
    try:
        started = subprocess.Popen(
            # -P: the directory it runs in is no place to import from.
            [sys.executable, "-P", *command, *words],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=_daemon_environment(),
            pass_fds=(sender,),
            start_new_session=True,
        )
        os.close(sender)
        sender = -1
        try:
            readable, _, _ = select.select([receiver], [], [], ready_s)
        except KeyboardInterrupt:
            # Left alone it would take the socket while the next client starts another.
            _kill_group(started.pid)
            started.wait()
            raise
        is_ready = bool(readable) and os.read(receiver, len(_READY)) == _READY
        if not is_ready:
            _kill_group(started.pid)
        # It forks at once and ends; only its child is the daemon. Nothing depends on when.
        try:  # noqa: SIM105 - reads as the others
            started.wait(reap_s)
        except subprocess.TimeoutExpired:
            pass
    finally:
        for descriptor in (log, receiver, sender):
            if descriptor >= 0:
                os.close(descriptor)
    if not is_ready:
        why = "it ended at once" if readable else f"not ready after {ready_s:g} s"
        raise _not_started(why, directory, since=before)


def _daemon_environment() -> dict[str, str]:
    """Return the client's environment, with the daemon's code importable from any directory."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120
    given = os.environ.get("PYTHONPATH", "")
    search = [os.path.abspath(entry) for entry in given.split(os.pathsep) if entry]  # noqa: PTH100
    # Where packages are installed is searched anyway, and not before the standard library.
    if root not in search and os.path.basename(root) not in {"site-packages", "dist-packages"}:  # noqa: PTH119
        search.append(root)
    return {**os.environ, **({"PYTHONPATH": os.pathsep.join(search)} if search else {})}


def _kill_group(leader: int) -> None:
    import signal

    try:  # noqa: SIM105 - reads as the others
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _not_started(why: str, directory: str, *, since: int = 0) -> DebuggerError:
    if _has_no_room(directory):
        return DebuggerError(
            ErrorCode.DENIED,
            f"the daemon did not start: the disk of {directory} is full",
            hint="make room there, or set DEBUGGER_RUNTIME_DIR to a directory that has some",
        )
    path = f"{directory}/{paths.LOG}"
    tail = "".join(f"\n  {line}" for line in paths.log_tail(path, lines=5, since=since))
    return DebuggerError(
        ErrorCode.INTERNAL, f"the daemon did not start: {why}{tail}", hint="debugger daemon logs"
    )


def _has_no_room(directory: str) -> bool:
    probe = f"{directory}/room"
    try:
        paths.write_private(probe, bytes(4096))
        paths.remove_file(probe)
    except OSError as error:
        return full_disk_error(error) is not None
    return False


def _lock_descriptor(descriptor: int, within_s: float) -> None:
    import fcntl
    import threading

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        # flock knows no bound of its own; the thread, if it outlives ours, gets a lock that nobody
        # holds, because the file is closed by then.
        waiter = threading.Thread(
            target=fcntl.flock, args=(descriptor, fcntl.LOCK_EX), daemon=True, name="lock"
        )
        waiter.start()
        waiter.join(within_s)
        if waiter.is_alive():
            raise DebuggerError(
                ErrorCode.TIMEOUT,
                f"another command has been starting the daemon for more than {within_s:g} s",
                hint="debugger daemon logs",
            ) from None


def _log_to(stream: RotatingLog) -> None:
    import logging

    # StreamHandler calls `flush` after each record, which rotates a full file.
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])


def _file_inode(path: str) -> int | None:
    try:
        return os.stat(path).st_ino  # noqa: PTH116 - the same
    except FileNotFoundError:
        return None


def _same_file(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))  # noqa: PTH116
    except OSError:
        return False
