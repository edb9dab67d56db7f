"""All that an adapter starts ends with its session, and nothing else does.

Whatever inherits the adapter's standard output holds that pipe open: its end is their end.
"""

from __future__ import annotations

import errno
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from debugger.system import supervised_process, supervisor
from debugger.system.supervisor import Process, find_descendants, parse_stat
from running_programs import ignored_signals

PATIENCE_S = 60.0
PYTHON = (sys.executable, "-I", "-S", "-c")
WAITS = "import signal; print('here', flush=True); signal.pause()"
ORPHANED = """
import os, signal, sys
if not os.fork():
    os.setsid()
    if not os.fork():
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        print(os.getpid(), flush=True)
        signal.pause()
    os._exit(0)
os.wait()
"""
ORPHANS = f"{ORPHANED}\nsignal.pause()"
SHORT_GRACE = f"""
import sys
sys.path.insert(0, {str(Path(supervisor.__file__).parents[2])!r})
from debugger.system import supervisor
supervisor._GRACE_S = 0.05
supervisor.run_supervisor()
"""


class Guard:
    """A guard's other end."""

    def __init__(
        self,
        scratch: Path,
        argv: tuple[str, ...],
        run: tuple[str, ...],
        options: tuple[str, ...] = (),
    ) -> None:
        self.scratch = scratch
        self.control, theirs = socket.socketpair()
        self.control.settimeout(PATIENCE_S)
        self._reports = self.control.makefile("rb")
        with theirs:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-I", "-S", *run, str(theirs.fileno()), str(scratch)),
                    *(*options, "--", *argv),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                pass_fds=[theirs.fileno()],
            )

    def order(self, op: str, **fields: object) -> None:
        self.control.sendall(json.dumps({"op": op, **fields}).encode() + b"\n")

    def spawn(self, number: int, code: str, **fields: object) -> None:
        self.order("spawn", id=number, argv=[*PYTHON, code], **fields)

    def report(self, event: str) -> dict[str, Any]:
        """Give the next report, which must be of this event; that of a fork comes before others."""
        line = self._reports.readline()
        told: dict[str, Any] = json.loads(line or b"{}")
        if told.get("event") == "forked" != event:
            return self.report(event)
        assert told.pop("event", None) == event, line
        return told

    def end(self) -> tuple[set[int], list[int]]:
        """Order the end; give the pids of what was killed and of what survived."""
        self.order("end")
        told = [json.loads(line) for line in self._reports]
        assert told[-1]["event"] == "ended"
        return {process["pid"] for process in told[-1]["killed"]}, told[-1]["survivors"]

    def is_silent(self, seconds: float) -> bool:
        return not select.select([self.control], [], [], seconds)[0]

    def line(self) -> str:
        """Give the next line of the adapter or of what it started."""
        assert self.process.stdout is not None
        assert select.select([self.process.stdout], [], [], PATIENCE_S)[0], "nothing was printed"
        return self.process.stdout.readline().decode().strip()

    def await_output_end(self) -> None:
        """Wait until nothing holds the adapter's output (bounded)."""
        assert self.line() == ""

    def hang_up(self) -> None:
        """Be a daemon that dies."""
        with suppress(OSError):
            self.control.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.hang_up()
        try:
            self.process.wait(PATIENCE_S)
        finally:
            self.process.kill()
            self.process.communicate()
            self._reports.close()
            self.control.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Guard]]:
    started: list[Guard] = []

    def run(
        code: str,
        *argv: str,
        is_hasty: bool = False,
        scratch: Path = tmp_path / "scratch",
        options: tuple[str, ...] = (),
    ) -> Guard:
        scratch.mkdir(exist_ok=True)
        (scratch / "a file").touch()
        how = ("-c", SHORT_GRACE) if is_hasty else supervised_process._RUN_GUARD[3:]
        one = Guard(scratch, argv or (*PYTHON, code), how, options)
        started.append(one)
        return one

    yield run
    for one in started:
        one.close()


@pytest.fixture
def fifo(tmp_path: Path) -> Iterator[Callable[[str], tuple[str, int]]]:
    """Make a FIFO, and open it so that neither end waits for the other."""
    opened: list[int] = []

    def make(name: str) -> tuple[str, int]:
        path = str(tmp_path / name)
        os.mkfifo(path)
        opened.append(os.open(path, os.O_RDWR))
        return path, opened[-1]

    yield make
    for descriptor in opened:
        os.close(descriptor)


def read_line(descriptor: int) -> str:
    line = b""
    while not line.endswith(b"\n"):
        assert select.select([descriptor], [], [], PATIENCE_S)[0], line
        line += os.read(descriptor, 1)
    return line.decode().strip()


def test_the_adapter_has_the_streams_to_itself(start):
    one = start(
        "import sys; sys.stdout.write(sys.stdin.readline().upper()); sys.stderr.write('oops')"
    )
    one.process.stdin.write(b"hello\n")
    assert one.line() == "HELLO"
    assert one.line() == ""
    assert one.process.stderr.read() == b"oops"
    assert one.report("started")["pid"] != one.process.pid
    assert one.report("adapter_exited") == {"code": 0, "signal": None}


def test_the_adapter_inherits_neither_descriptors_nor_ignored_signals(start):
    one = start(
        "import os, signal\n"
        "def is_open(number):\n"
        "    try: return bool(os.fstat(number))\n"
        "    except OSError: return False\n"
        "ignored = [n for n in signal.valid_signals() if signal.getsignal(n) == signal.SIG_IGN]\n"
        "print([n for n in range(3, 256) if is_open(n)], set(ignored) - {13, 25},"
        " signal.pthread_sigmask(signal.SIG_BLOCK, ()), os.getpgid(0) == os.getpid())"
    )
    # 13 and 25: Python itself ignores SIGPIPE and SIGXFSZ.
    assert one.line() == "[] set() set() True"


@pytest.mark.parametrize(
    ("options", "ignored"), [((), set()), (("--ignore-sigpipe",), {signal.SIGPIPE})]
)
def test_an_adapter_may_be_started_with_sigpipe_ignored(start, options, ignored):
    one = start("", "grep", "SigIgn", "/proc/self/status", options=options)
    assert ignored_signals(one.line()) == ignored


@pytest.mark.parametrize(("mode", "number"), [(None, errno.ENOENT), (0o600, errno.EACCES)])
def test_an_adapter_that_cannot_be_run_is_reported(start, tmp_path, mode, number):
    program = tmp_path / "adapter"
    if mode is not None:
        program.touch(mode)
    one = start("", str(program))
    assert one.report("failed") == {"error": os.strerror(number), "errno": number}
    assert one.process.wait(PATIENCE_S) == 0
    assert not one.scratch.exists()


def test_with_a_killed_adapter_its_orphans_in_other_sessions_die(start):
    one = start(ORPHANS)
    orphan = int(one.line())
    adapter = one.report("started")["pid"]
    os.kill(adapter, signal.SIGKILL)
    assert one.report("adapter_exited") == {"code": None, "signal": signal.SIGKILL}
    ended = one.report("ended")
    assert [process["pid"] for process in ended["killed"]] == [orphan]
    assert ended["killed"][0]["name"].startswith("python")
    assert ended["survivors"] == []
    one.await_output_end()
    assert one.process.wait(PATIENCE_S) == 0
    assert not one.scratch.exists()


def test_when_the_daemon_dies_all_die_and_the_scratch_directory_goes(start):
    one = start(ORPHANS)
    assert one.line().isdecimal()
    one.hang_up()
    one.await_output_end()
    assert one.process.wait(PATIENCE_S) == 0
    assert not one.scratch.exists()


def test_the_end_names_what_it_killed_and_not_what_was_dead(start):
    dead = "pid = os.fork()\nif not pid: os._exit(0)\n"
    dead += "os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)"
    one = start(f"import os, signal\n{dead}\n{ORPHANS}")
    orphan = int(one.line())
    adapter = one.report("started")["pid"]
    assert one.end() == ({adapter, orphan}, [])
    assert one.line() == ""


def test_signals_for_the_terminal_leave_the_guard_alone(start):
    one = start(WAITS)
    assert one.line() == "here"
    one.report("started")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        one.process.send_signal(number)
    assert one.end()[1] == []
    assert one.process.wait(PATIENCE_S) == 0


def test_a_chain_of_forks_cannot_outrun_the_end(start):
    one = start(
        "import os, signal\n"
        "if os.fork(): signal.pause()\n"
        "print('running', flush=True)\n"
        "while True:\n"
        "    if os.fork(): os._exit(0)"
    )
    assert one.line() == "running"
    one.report("started")
    assert one.end()[1] == []
    one.await_output_end()


def test_what_is_kept_outlives_the_adapter_until_the_end(start):
    one = start(f"import sys; sys.stdin.readline()\n{ORPHANED}", is_hasty=True)
    one.report("started")
    one.order("keep")
    one.process.stdin.write(b"\n")
    orphan = int(one.line())
    assert one.report("adapter_exited")["code"] == 0
    assert one.is_silent(0.5)
    assert one.end() == ({orphan}, [])
    assert one.line() == ""


def test_a_scratch_directory_that_is_a_link_is_not_followed(start, tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "precious")
    one = start(WAITS, scratch=tmp_path / "link")
    one.hang_up()
    assert one.process.wait(PATIENCE_S) == 0
    assert (tmp_path / "precious" / "a file").exists()


def test_a_released_program_goes_on_and_its_output_is_drained(start, fifo, tmp_path, wait_until):
    one = start(ORPHANS)
    orphan = int(one.line())
    adapter = one.report("started")["pid"]
    stdin, to_program = fifo("stdin")
    stdout, from_program = fifo("stdout")
    done = tmp_path / "done"
    code = (
        "import pathlib, signal, sys\n"
        "sys.stdin.readline()\n"
        "sys.stdout.write('x' * (1 << 20)); sys.stdout.flush()\n"  # a pipe holds 1 << 16
        f"pathlib.Path({str(done)!r}).touch()\n"
        "signal.pause()"
    )
    one.spawn(1, code, stdin=stdin, stdout=stdout)
    pid = one.report("spawned")["pid"]
    try:
        line = json.dumps({"op": "release", "pids": [pid]}).encode() + b"\n"
        socket.send_fds(one.control, [line], [from_program])
        assert one.end() == ({adapter, orphan}, [])
        assert one.line() == ""
        one.hang_up()
        os.write(to_program, b"\n")
        wait_until(done.exists, what="the released program's writing")
        assert one.process.poll() is None
        assert not one.scratch.exists()
    finally:
        os.kill(pid, signal.SIGKILL)
    assert one.process.wait(PATIENCE_S) == 0


def test_a_spawned_program_has_its_files_directory_and_environment(start, fifo, tmp_path):
    one = start(WAITS)
    one.report("started")
    (stdin, to), (stdout, out), (stderr, err) = map(fifo, ("stdin", "stdout", "stderr"))
    code = (
        "import os, sys\n"
        "word = sys.stdin.readline().strip()\n"
        "print(word, os.getcwd(), os.environ['A'], os.getsid(0), flush=True)\n"
        "print('oops', file=sys.stderr)\n"
        "sys.exit(7)"
    )
    one.spawn(5, code, cwd=str(tmp_path), env={"A": "ü"}, stdin=stdin, stdout=stdout, stderr=stderr)
    spawned = one.report("spawned")
    assert spawned["id"] == 5
    os.write(to, b"hello\n")
    # -I ignores PYTHONUTF8, and without a locale Python chooses UTF-8 itself.
    assert read_line(out) == f"hello {tmp_path} ü {spawned['pid']}"
    assert read_line(err) == "oops"
    assert one.report("exited") == {"id": 5, "pid": spawned["pid"], "code": 7, "signal": None}


def test_a_spawned_program_without_files_has_none_and_its_signal_is_told(start):
    one = start(WAITS)
    one.report("started")
    code = "import os, sys; assert not sys.stdin.read(); print('unread'); os.kill(os.getpid(), 11)"
    one.spawn(1, code, env=None)
    pid = one.report("spawned")["pid"]
    assert one.report("exited") == {"id": 1, "pid": pid, "code": None, "signal": 11}
    assert one.line() == "here"


def test_a_program_that_waits_for_its_fifo_holds_up_no_other(start, tmp_path):
    one = start(WAITS)
    one.report("started")
    os.mkfifo(tmp_path / "unopened")
    one.spawn(1, "", stdout=str(tmp_path / "unopened"))
    one.spawn(2, "")
    assert one.report("spawned")["id"] == 2
    assert one.report("exited")["code"] == 0
    assert one.end()[1] == []


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"argv": ["/no/program"]}, "No such file or directory"),
        ({"cwd": "/no/directory"}, "No such file or directory: /no/directory"),
        ({"stdin": "/no/file"}, "No such file or directory: /no/file"),
        ({"argv": ["a\0b"]}, "Invalid argument"),
        ({"argv": [sys.executable, 1]}, "Invalid argument"),
    ],
)
def test_a_program_that_cannot_be_run_is_reported_and_the_next_one_runs(start, fields, error):
    one = start(WAITS)
    one.report("started")
    one.order("spawn", **{"id": 1, "argv": [*PYTHON, ""], **fields})
    told = one.report("spawn_failed")
    assert told["id"] == 1
    assert told["error"].startswith(error)
    one.spawn(2, "")
    assert one.report("spawned")["id"] == 2


def test_signals_reach_descendants_and_nobody_else(start):
    with subprocess.Popen([*PYTHON, WAITS], stdout=subprocess.PIPE) as stranger:
        try:
            one = start(WAITS)
            adapter = one.report("started")["pid"]
            one.spawn(1, "import signal; signal.pause()")
            pid = one.report("spawned")["pid"]
            for refused in (stranger.pid, one.process.pid, os.getpid(), 1, 0, -1, -adapter):
                one.order("signal", pid=refused, signal=signal.SIGKILL)
            one.order("signal", pid=pid, signal=signal.SIGTERM)
            assert one.report("exited")["signal"] == signal.SIGTERM
            assert stranger.poll() is None
            one.order("release", pids=[stranger.pid, "x"])
            assert one.end() == ({adapter}, [])
            assert stranger.poll() is None
        finally:
            stranger.kill()


def test_garbage_on_the_control_socket_is_no_order(start):
    one = start(WAITS)
    one.report("started")
    bad = (b"garbage", b"[]", b'{"op":"spawn"}', b"\xff\xfe", b"[" * 100_000, b'{"op":"signal"}')
    one.control.sendall(b"".join(line + b"\n" for line in bad))
    one.spawn(1, "")
    assert one.report("spawned")["id"] == 1
    assert one.report("exited")["code"] == 0


def test_an_order_may_carry_a_whole_environment_of_2_mib(start):
    one = start(WAITS)
    one.report("started")
    env = {f"NAME{number}": "x" * 100_000 for number in range(15)}
    code = "import os, sys; sys.exit(sum(name.startswith('NAME') for name in os.environ))"
    one.spawn(1, code, env=env)
    one.report("spawned")
    assert one.report("exited")["code"] == 15


def stat_line(name: str = "app", state: str = "S", threads: int = 1) -> bytes:
    numbers = ["4", "7", *["0"] * 14, str(threads), "0", "123456", "0"]
    return f"12 ({name}) {state} {' '.join(numbers)}".encode()


@pytest.mark.parametrize("name", ["app", "a b", "a) R 1 (b", "((", "12 (x) S 1", ""])
def test_the_name_of_a_process_may_hold_anything(name):
    found = parse_stat(stat_line(name))
    assert (found.pid, found.parent, found.group, found.session) == (12, 4, 7, 0)
    assert (found.start, found.name, found.is_alive) == (123456, name, True)


def test_a_zombie_is_dead_unless_other_threads_of_it_run():
    assert not parse_stat(stat_line(state="Z")).is_alive
    assert not parse_stat(stat_line(state="X")).is_alive
    assert parse_stat(stat_line(state="Z", threads=2)).is_alive
    assert parse_stat(stat_line(state="T")).is_alive


def table(parents: Mapping[int, int]) -> dict[int, Process]:
    return {pid: Process(pid, of, pid, 0, "x", is_alive=True) for pid, of in parents.items()}


def test_descendants_come_after_their_parents_and_strangers_never():
    family = find_descendants([10], table({10: 1, 11: 10, 12: 10, 13: 12, 9: 13, 20: 1, 21: 20}))
    pids = [process.pid for process in family]
    assert sorted(pids) == [9, 11, 12, 13]
    assert pids.index(12) < pids.index(13) < pids.index(9)
    # Pids can be in a circle only in a table that was read while they changed.
    assert [process.pid for process in find_descendants([1], table({1: 2, 2: 1}))] == [2, 1]


def test_a_session_whose_number_leads_another_now_is_left_alone():
    family = {10: 1, 11: 10, 20: 1}
    known = table(family)
    for one in known.values():
        one.session = 10
    swept = supervisor._find_left_over
    assert swept(set(), {10}, set(), known) == []  # 10 lives: it is a leader of its own
    del known[10]
    assert {one.pid for one in swept(set(), {10}, set(), known)} == {11, 20}
    assert {one.pid for one in swept(set(), {10}, {11}, known)} == {20}
