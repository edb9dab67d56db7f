"""Owns the processes of a session, and ends all of them with it.

Run with the arguments CONTROL_FD SCRATCH_DIR [--ignore-sigpipe] -- ADAPTER_ARGV..., it starts the
adapter on its own standard streams and exchanges JSON lines with the daemon over CONTROL_FD, a
stream socket. Without ADAPTER_ARGV it runs only the programs that the daemon orders. With
--ignore-sigpipe the adapter ignores SIGPIPE. Run with `--sweep SCRATCH_DIR`, and a JSON object on
standard input, it ends the processes of a killed supervisor (`end_left_over`), and prints what it
had to kill.
"""

from __future__ import annotations

import errno
import os
import select
import stat
import sys
import time

# A session's start waits for these imports: signal, ctypes, json, socket, contextlib and
# collections take as long as all the rest. What they are made of in C each Python has from 3.8 on.
from _ctypes import call_function, dlopen, dlsym
from _json import make_scanner
from _socket import CMSG_SPACE, SCM_RIGHTS, socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import suppress
    from typing import Any
else:
    import _signal as signal

    class suppress:  # noqa: N801 - contextlib's, which is slow to import
        """Suppresses some exceptions."""

        def __init__(self, *errors: type[Exception]) -> None:
            self._errors = errors

        def __enter__(self) -> None:
            pass

        def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
            return kind is not None and issubclass(kind, self._errors)


_GRACE_S = 1.5  # from an adapter's own exit to the end, unless the daemon says otherwise
_END_S = 2.0  # how long the end may take
_RESCAN_S = 0.01  # a grandchild's death sends us no SIGCHLD
_LOOK_S = 1.0  # how often it is seen whether a released program lives
_SEND_S = 1.0  # a daemon that reads nothing for so long is taken for dead
_LINE_MAX = 4 << 20  # bytes; a spawn order carries a whole environment
_IS_LINUX = sys.platform == "linux"
_PR_SET_CHILD_SUBREAPER = 36  # orphans anywhere below us become our children


class Process:
    """A process of the system; pid and start (clock ticks since boot) are never used twice."""

    __slots__ = ("group", "is_alive", "name", "parent", "pid", "session", "start")

    def __init__(  # noqa: PLR0917 - those of proc_pid_stat(5)
        self,
        pid: int,
        parent: int,
        group: int,
        start: int,
        name: str,
        is_alive: bool,  # noqa: FBT001
        session: int = 0,
    ) -> None:
        self.pid = pid
        self.parent = parent
        self.group = group
        self.start = start
        self.name = name
        self.is_alive = is_alive
        self.session = session


class _JsonOptions:
    """The options of json.loads, for its scanner."""

    strict = True
    object_hook = object_pairs_hook = array_hook = None  # array_hook since Python 3.15
    parse_int, parse_float, parse_constant = int, float, float


def _parse_order(line: bytes) -> Any:
    """Parse JSON; None for what is none, which no order is."""
    options: Any = _JsonOptions  # json's decoder, by its annotation
    try:
        return make_scanner(options)(line.decode().strip(), 0)[0]
    except (ValueError, StopIteration, RecursionError):
        return None


def _format_event(event: str, fields: Mapping[str, object]) -> bytes:
    if not all(type(one) is int for one in fields.values()):
        import json  # slow to import, and the start must be fast

        return json.dumps({"event": event, **fields}).encode()
    texts = [f'"event": "{event}"', *(f'"{name}": {one}' for name, one in fields.items())]
    return f"{{{', '.join(texts)}}}".encode()


def parse_stat(text: bytes) -> Process:
    """Parse a line of /proc/PID/stat, proc_pid_stat(5); the name may have blanks and parens."""
    head, _, tail = text.rpartition(b")")
    pid, _, name = head.partition(b" (")
    fields = tail.split()
    # A process whose first thread has ended while others run shows as a zombie too.
    is_alive = fields[0] not in (b"Z", b"X") or int(fields[17]) > 1
    parent, group, session, start = (int(fields[at]) for at in (1, 2, 3, 19))
    return Process(int(pid), parent, group, start, name.decode(errors="replace"), is_alive, session)


def _read_process(pid: int | str) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            return parse_stat(file.read(4096))
    except OSError:
        return None


def _is_here(pid: int, start: int) -> bool:
    found = _read_process(pid) if _IS_LINUX else _scan_processes().get(pid)
    return found is not None and found.start == start and found.is_alive


def _list_processes() -> Iterator[Process]:
    """List the processes on systems without /proc. Untested."""
    import subprocess  # never needed on Linux, and slow to import

    command = ["/bin/ps", "-axo", "pid=,ppid=,pgid=,stat=,comm="]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as ps:
        try:
            out = ps.communicate(timeout=_END_S / 2)[0]
        except subprocess.TimeoutExpired:
            ps.kill()
            return
    for line in out.decode(errors="replace").splitlines():
        pid, parent, group, state, name = line.split(None, 4)
        if int(pid) != ps.pid:
            is_alive, name = not state.startswith("Z"), name.rpartition("/")[2]
            yield Process(int(pid), int(parent), int(group), 0, name, is_alive)


def _scan_processes() -> dict[int, Process]:
    pids = os.listdir("/proc") if _IS_LINUX else []
    processes = (
        (_read_process(pid) for pid in pids if pid.isdigit()) if _IS_LINUX else _list_processes()
    )
    return {process.pid: process for process in processes if process}


def find_descendants(roots: Iterable[int], table: Mapping[int, Process]) -> list[Process]:
    """Collect all processes below the roots, parents before their children."""
    children: dict[int, list[Process]] = {}
    for process in table.values():
        children.setdefault(process.parent, []).append(process)
    family = [process for root in roots for process in children.pop(root, ())]
    for process in family:  # it grows meanwhile
        family += children.pop(process.pid, ())
    return family


def _own_processes(pids: Iterable[object]) -> list[Process]:
    """Return our descendants among the pids, and all processes below them."""
    table = _scan_processes()
    family = {process.pid for process in find_descendants([os.getpid()], table)}
    roots = [pid for pid in pids if isinstance(pid, int) and pid in family]
    return [table[pid] for pid in roots] + find_descendants(roots, table)


def _kill_process(process: Process, *, whole_group: bool) -> bool:
    """Kill a scanned process, or its whole group at once; tell whether it existed."""
    now = _read_process(process.pid) if _IS_LINUX else process
    # A parent may have reaped it since the scan, and its pid be somebody else's by now.
    if now is None or (now.start, now.group) != (process.start, process.group):
        return False
    try:
        os.kill(-process.group if whole_group else process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _fork_child(become: Callable[[], object]) -> tuple[int, int]:
    """Fork a child; return its pid and a pipe that closes at its exec or reports an error.

    Raises:
        OSError: No process or pipe is available.
    """
    report, report_in_child = os.pipe()
    try:
        pid = os.fork()
        if not pid:
            _exec_child(become, report_in_child)
    except OSError:
        os.close(report)
        raise
    finally:
        os.close(report_in_child)
    return pid, report


def _exec_child(become: Callable[[], object], report: int) -> None:
    """Run in the child: exec, or write `ERRNO FILENAME` to the report pipe."""
    try:
        signal.set_wakeup_fd(-1)
        # Ignored signals stay ignored across exec, and the program expects the defaults.
        for number in signal.valid_signals():
            if signal.getsignal(number) == signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
        become()
    except OSError as error:
        os.write(report, f"{error.errno} {error.filename or ''}".encode(errors="replace"))
    except (TypeError, ValueError):  # no text, or a NUL in it
        os.write(report, b"%d " % errno.EINVAL)
    finally:
        os._exit(127)


def _read_report(report: int) -> tuple[int, str]:
    """Wait for the exec; return its errno, 0 for success, and the file concerned."""
    number, _, filename = os.read(report, 8192).decode(errors="replace").partition(" ")
    os.close(report)
    return int(number or 0), filename


def _become_adapter(argv: Sequence[str], *, ignores_sigpipe: bool) -> None:
    if ignores_sigpipe:
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    # A group of its own, so that one signal reaches what it has started.
    os.setpgid(0, 0)
    os.execvp(argv[0], list(argv))  # noqa: S606 - no shell is the point


def _become_program(order: Mapping[str, Any]) -> None:
    # Before its terminal is opened, which O_NOCTTY keeps from becoming the controlling one.
    os.setsid()  # so it has no controlling terminal
    os.chdir(order.get("cwd") or ".")
    for target, stream in enumerate(("stdin", "stdout", "stderr")):
        mode = os.O_WRONLY if target else os.O_RDONLY
        os.dup2(os.open(order.get(stream) or os.devnull, mode | os.O_NOCTTY), target)
    env = order.get("env")
    os.execvpe(order["argv"][0], order["argv"], os.environ if env is None else env)  # noqa: S606


def _remove_scratch(scratch: str) -> None:
    with suppress(FileNotFoundError):
        found = os.lstat(scratch)
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
            import shutil  # slow to import, and the start must be fast

            shutil.rmtree(scratch, ignore_errors=True)


class Supervisor:
    """The owner of one session's adapter and its descendants, which obeys the daemon."""

    def __init__(self, control: int, *, ignores_sigpipe: bool = False) -> None:
        self._control = control
        self._ignores_sigpipe = ignores_sigpipe  # the adapter does
        self._socket = socket(fileno=os.dup(control))
        self._drains: list[int] = []  # what released programs write to
        self._received = b""
        self._adapter = 0
        self._programs: dict[int, object] = {}  # pids to the ids of their orders
        self._reports: dict[int, int] = {}  # pipes of programs before their exec, to pids
        self._released: set[tuple[int, int]] = set()  # (pid, start)
        self._grace_s: float | None = _GRACE_S
        self._end_at: float | None = None
        self._wakeup, wakeup = os.pipe()
        os.set_blocking(self._wakeup, False)
        os.set_blocking(wakeup, False)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # without a handler no wakeup
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._poll.register(self._wakeup, select.POLLIN)

    def supervise(self, argv: Sequence[str]) -> None:
        """Run the adapter, if any; end everything on request, or when the daemon has gone."""
        number = self._start_adapter(argv) if argv else 0
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):  # the pipes are to close when the adapter dies
            os.dup2(null, stream)
        # The adapter did not start: there is nothing to end.
        if number:
            self._emit_event("failed", error=os.strerror(number), errno=number)
            return
        try:
            self._emit_event("started", pid=self._adapter)
            while self._process_events():
                pass
        finally:
            self._end_all()

    def _start_adapter(self, argv: Sequence[str]) -> int:
        """Start the adapter; return the error number, 0 for success."""
        try:
            self._adapter, report = _fork_child(
                lambda: _become_adapter(argv, ignores_sigpipe=self._ignores_sigpipe)
            )
        except OSError as error:
            return error.errno or errno.EAGAIN
        return _read_report(report)[0]

    def _process_events(self) -> bool:
        left_s = None if self._end_at is None else self._end_at - time.monotonic()
        if left_s is not None and left_s <= 0:
            return False
        ready = {fd for fd, _ in self._poll.poll(None if left_s is None else left_s * 1000)}
        for report in ready & self._reports.keys():
            self._finish_spawn(report)
        if self._wakeup in ready:
            self._reap_children()
        # Last, because an order may open a pipe under a number that was closed just now.
        return self._control not in ready or self._read_commands()

    def _read_commands(self) -> bool:
        try:
            chunk, passed, _, _ = self._socket.recvmsg(1 << 16, CMSG_SPACE(16))
        except ConnectionError:
            return False
        for _, kind, descriptors in passed:
            if kind == SCM_RIGHTS:
                self._drains += memoryview(descriptors).cast("i")
        *lines, rest = (self._received + chunk).split(b"\n")
        self._received = rest if len(rest) <= _LINE_MAX else b""  # what follows is no JSON
        return bool(chunk) and all(self._run_order(line) for line in lines)

    def _run_order(self, line: bytes) -> bool:
        match _parse_order(line):
            case {"op": "end"}:
                return False
            case {"op": "keep"}:
                self._grace_s = self._end_at = None
            case {"op": "release", "pids": [*pids]}:
                self._released |= {(process.pid, process.start) for process in _own_processes(pids)}
            case {"op": "signal", "pid": int(pid), "signal": int(number)} if _own_processes([pid]):
                with suppress(OSError):  # another user's, or no such signal
                    os.kill(pid, number)
            case {"op": "spawn", "id": _, "argv": [str(), *_]} as order:
                self._spawn_process(order)
        return True

    def _spawn_process(self, order: Mapping[str, Any]) -> None:
        try:
            pid, report = _fork_child(lambda: self._become_program(order))
        except OSError as error:
            self._emit_event("spawn_failed", id=order["id"], error=error.strerror)
            return
        self._programs[pid] = order["id"]
        self._emit_event("forked", id=order["id"], pid=pid)  # should we be killed before it runs
        # Not awaited: the child may wait in the opening of a FIFO until the daemon opens it too.
        self._reports[report] = pid
        # The report pipe closes at the exec (O_CLOEXEC), or has the error.
        self._poll.register(report, select.POLLIN)

    def _become_program(self, order: Mapping[str, Any]) -> None:
        # While it waits for its files to be opened, the daemon could not see that we are dead.
        self._socket.close()
        os.close(self._control)
        _become_program(order)

    def _finish_spawn(self, report: int) -> None:
        self._poll.unregister(report)
        pid = self._reports.pop(report)
        number, filename = _read_report(report)
        if number:
            error = f"{os.strerror(number)}: {filename}" if filename else os.strerror(number)
            self._emit_event("spawn_failed", id=self._programs.pop(pid), error=error)
        else:
            self._emit_event("spawned", id=self._programs[pid], pid=pid)

    def _reap_children(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._wakeup, 4096)
        with suppress(ChildProcessError):
            while (dead := os.waitpid(-1, os.WNOHANG))[0]:
                self._note_end(dead[0], os.waitstatus_to_exitcode(dead[1]))

    def _note_end(self, pid: int, result: int) -> None:
        for report in [report for report, owner in self._reports.items() if owner == pid]:
            self._finish_spawn(report)  # its start is told before its end
        code, number = (result, None) if result >= 0 else (None, -result)
        if pid == self._adapter:
            self._adapter = 0  # an adopted orphan may have the number next
            self._emit_event("adapter_exited", code=code, signal=number)
            if self._grace_s is not None:
                self._end_at = time.monotonic() + self._grace_s
        elif pid in self._programs:
            self._emit_event(
                "exited", id=self._programs.pop(pid), pid=pid, code=code, signal=number
            )

    def _processes_to_end(self, table: Mapping[int, Process]) -> list[Process]:
        released = [
            pid for pid, start in self._released if pid in table and table[pid].start == start
        ]
        spared = {*released, *(process.pid for process in find_descendants(released, table))}
        return [p for p in find_descendants([os.getpid()], table) if p.pid not in spared]

    def _end_all(self) -> None:
        """Kill, reap and scan again until a scan finds nothing.

        Every line of descent begins at a child of ours, dead or alive, and only our reaping removes
        a child from the process table; so a scan without any child has missed no descendant.
        """
        limit = time.monotonic() + _END_S
        killed: dict[tuple[int, int], dict[str, object]] = {}
        while (
            doomed := self._processes_to_end(table := _scan_processes())
        ) and time.monotonic() < limit:
            pids = {process.pid for process in doomed}
            # A group that also has spared processes is not killed as a whole.
            shared = {process.group for process in table.values() if process.pid not in pids}
            # Upwards, so that a debuggee is gone before the death of its debugger sets it going.
            for process in reversed(doomed):
                # A chain of forks, each outliving its parent, cannot outrun a blow at the group.
                whole_group = process.group > 1 and process.group not in shared
                if _kill_process(process, whole_group=whole_group) and process.is_alive:
                    killed[process.pid, process.start] = {"pid": process.pid, "name": process.name}
            select.select([self._wakeup], [], [], _RESCAN_S)
            self._reap_children()
        survivors = [process.pid for process in doomed]
        self._emit_event("ended", killed=list(killed.values()), survivors=survivors)

    def drain_output(self) -> None:
        """Read and discard the output of released programs while one of them lives.

        Without a reader, their next line of output would kill or block them.
        """
        with suppress(OSError):
            self._socket.close()
            os.close(self._control)
        poll = select.poll()
        for descriptor in self._drains:
            poll.register(descriptor, select.POLLIN)
        while self._drains and any(_is_here(pid, start) for pid, start in self._released):
            for descriptor, _ in poll.poll(_LOOK_S * 1000):
                try:
                    is_over = not os.read(descriptor, 1 << 16)
                except BlockingIOError:  # the daemon was faster, this once
                    is_over = False
                except OSError:  # nobody has the terminal open any more
                    is_over = True
                if is_over:
                    poll.unregister(descriptor)
                    self._drains.remove(descriptor)
            self._reap_children()

    def _emit_event(self, event: str, **fields: object) -> None:
        line = _format_event(event, fields) + b"\n"
        poll = select.poll()
        poll.register(self._control, select.POLLOUT)
        with suppress(OSError):  # nobody is there
            # The control socket is non-blocking, and a daemon that hangs must not hang us.
            while line and poll.poll(_SEND_S * 1000):
                line = line[os.write(self._control, line) :]
        if line:
            self._end_at = time.monotonic()


def _uses_folder(pid: int, folder: str) -> bool:
    """Return whether a process runs a file of a folder, or uses one as input or output."""
    for name in ("exe", "fd/0", "fd/1", "fd/2"):
        with suppress(OSError):  # it has gone, or has none
            if os.readlink(f"/proc/{pid}/{name}").startswith(f"{folder}/"):
                return True
    return False


def _find_left_over(
    roots: set[int], sessions: set[int], released: set[int], table: Mapping[int, Process]
) -> list[Process]:
    """Return the roots' descendants, and processes of a session (setsid(2)) with a dead leader."""
    alive = {process.pid for process in table.values() if process.is_alive}
    ours = [
        process.pid
        for process in table.values()
        if process.pid in roots or process.session in (sessions - alive) | roots
    ]
    survivors = [pid for pid in released if pid in table]
    spared = {*survivors, *(process.pid for process in find_descendants(survivors, table))}
    found = {pid: table[pid] for pid in ours}
    found |= {process.pid: process for process in find_descendants(ours, table)}
    return [one for pid, one in found.items() if pid in alive and pid not in spared]


def end_left_over(order: Mapping[str, Sequence[int]], scratch: str) -> list[Process]:
    """End the processes of a killed supervisor, and return them.

    The order names the live `roots`, the `sessions` led by the supervisor and its programs, and the
    `released` processes, which run on. A session's number is not reused while it has a process. A
    process that leads another session by now, and has lost its parent, is recognised by its open
    files in the scratch folder.
    """
    roots, sessions, released = (set(order[key]) for key in ("roots", "sessions", "released"))
    limit = time.monotonic() + _END_S
    killed: dict[tuple[int, int], Process] = {}
    while time.monotonic() < limit:
        table = _scan_processes()
        using = {pid for pid in table if _uses_folder(pid, scratch)}
        remaining = _find_left_over(roots | using, sessions, released, table)
        if not remaining:
            break
        # The adapter first: it would report an end of the program that is not the program's own.
        first = {pid: at for at, pid in enumerate(order["roots"])}
        for process in sorted(remaining, key=lambda one: first.get(one.pid, len(first))):
            if _kill_process(process, whole_group=False):
                killed[process.pid, process.start] = process
        select.select((), (), (), _RESCAN_S)  # they are no children of ours, whose death is told
    return list(killed.values())


def _sweep_main(scratch: str) -> None:
    import json

    try:
        killed = end_left_over(json.load(sys.stdin), scratch)
    finally:
        _remove_scratch(scratch)
    json.dump([{"pid": one.pid, "name": one.name} for one in killed], sys.stdout)


def run_supervisor() -> None:
    """Supervise the adapter of the command line, then remove the scratch directory."""
    if sys.argv[1] == "--sweep":
        _sweep_main(sys.argv[2])
        return
    control, scratch = int(sys.argv[1]), sys.argv[2]
    separator = sys.argv.index("--", 3)
    options, argv = sys.argv[3:separator], sys.argv[separator + 1 :]
    os.set_inheritable(control, False)  # noqa: FBT003 - it has no name
    os.set_blocking(control, False)
    if _IS_LINUX:
        # Without it orphans would go to process 1, out of our reach.
        program: Any = None  # which has the C library; the annotation knows files only
        prctl = dlsym(dlopen(program, 0), "prctl")
        call_function(prctl, (_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
    with suppress(PermissionError):  # the daemon has seen to it
        os.setsid()
    # Ctrl-C in the daemon's terminal, and its end, must not end us before we have ended the others.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())  # children have it from us
    guard = Supervisor(control, ignores_sigpipe="--ignore-sigpipe" in options)
    try:
        guard.supervise(argv)
    finally:
        _remove_scratch(scratch)
    guard.drain_output()
