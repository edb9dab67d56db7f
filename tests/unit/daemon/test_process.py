"""There is one daemon, separate from its starter, and it leaves only what it should."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import select
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from debugger import __version__, paths
from debugger.daemon import daemon_process, transport
from debugger.daemon.daemon_process import RuntimeFiles
from debugger.errors import DebuggerError, ErrorCode
from fakes import toy_handler


def start(directory: Path, command: tuple[str, ...], **limits: float) -> list[str]:
    """Start a daemon and hang up; give what was said."""
    said: list[str] = []
    daemon_process.connect_or_start(str(directory), command, say=said.append, **limits).close()
    return said


def state_of(directory: Path) -> dict[str, object]:
    state: dict[str, object] = json.loads((directory / paths.STATE).read_bytes())
    return state


def test_twenty_clients_at_once_get_one_daemon(runtime_dir):
    ended = [
        toy_handler.wait_client(client)
        for client in [toy_handler.start_client("pid") for _ in range(20)]
    ]
    assert {code for code, _, _ in ended} == {0}
    assert {out for _, out, _ in ended} == {f"{state_of(runtime_dir)['pid']}\n"}
    assert {err for _, _, err in ended} == {""}


def test_a_daemon_that_listens_is_taken_and_no_other_started(runtime_dir):
    pid = toy_handler.run_client("pid").stdout
    assert start(runtime_dir, ("-c", "raise SystemExit('never run')")) == []
    assert toy_handler.run_client("pid").stdout == pid


def test_a_stale_socket_is_cleaned_away(runtime_dir):
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(runtime_dir / paths.SOCKET))
    assert start(runtime_dir, toy_handler.DAEMON) == []
    assert toy_handler.run_client("echo", "on").stdout == "on\n"


def test_a_dead_daemons_state_is_told_and_an_ended_ones_is_not(runtime_dir):
    state = {"pid": 4, "sessions": [{"name": "app", "program": "./prog", "pid": 123}]}
    transport.write_state(str(runtime_dir), state)
    said = start(runtime_dir, toy_handler.DAEMON)
    assert said == ["the daemon (pid 4) died; lost: session app (./prog, pid 123)"]
    toy_handler.run_client("daemon", "stop")
    transport.write_state(str(runtime_dir), {**state, "closing": True})
    assert start(runtime_dir, toy_handler.DAEMON) == []


def test_the_daemon_has_nothing_of_who_started_it(runtime_dir):
    client = toy_handler.start_client("pid")
    code, out, _ = toy_handler.wait_client(client)
    pid = int(out)
    assert code == 0
    assert os.getsid(pid) not in (os.getsid(0), client.pid, pid)
    assert os.getpgid(pid) != os.getpgid(0)
    if sys.platform == "linux":
        own = Path(f"/proc/{pid}")
        assert os.readlink(own / "cwd") == "/"
        assert os.readlink(own / "fd" / "0") == "/dev/null"
        log = str(runtime_dir / paths.LOG)
        assert {os.readlink(own / "fd" / str(fd)) for fd in (1, 2)} == {log}
        held = [os.readlink(path) for path in (own / "fd").iterdir()]
        assert not [path for path in held if path.startswith("pipe:")]


def test_all_that_the_daemon_leaves_is_its_owners_alone(runtime_dir):
    toy_handler.run_client("open", "app")
    modes = {path.name: stat.S_IMODE(path.lstat().st_mode) for path in runtime_dir.iterdir()}
    names = (paths.SOCKET, paths.STATE, paths.LOG, paths.LOCK)
    assert modes == dict.fromkeys(names, 0o600)
    assert state_of(runtime_dir) == {
        "pid": int(toy_handler.run_client("pid").stdout),
        "version": __version__,
        "transport": "unix",
        "sessions": [{"name": "app", "program": "./app", "pid": 123}],
    }


def test_a_daemon_that_ends_at_once_is_an_error_with_the_tail_of_its_log(runtime_dir):
    (runtime_dir / paths.LOG).write_text("an older fault\n")
    with pytest.raises(DebuggerError) as failed:
        start(runtime_dir, ("-c", "raise SystemExit('the disk is on fire')"))
    assert failed.value.code is ErrorCode.INTERNAL
    assert failed.value.message == (
        "the daemon did not start: it ended at once\n  the disk is on fire"
    )
    assert failed.value.hint == "debugger daemon logs"


def test_a_daemon_that_does_not_start_for_a_full_disk_says_so(runtime_dir, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(paths, "write_private", fail)
    with pytest.raises(DebuggerError) as failed:
        start(runtime_dir, ("-c", "raise SystemExit('a traceback')"))
    assert failed.value.message == f"the daemon did not start: the disk of {runtime_dir} is full"
    assert "DEBUGGER_RUNTIME_DIR" in failed.value.hint


def test_a_daemon_that_never_gets_ready_is_killed(runtime_dir, tmp_path):
    told = tmp_path / "pid"
    code = f"import os, signal; open({str(told)!r}, 'w').write(str(os.getpid())); signal.pause()"
    with pytest.raises(DebuggerError, match=r"not ready after 1 s"):
        start(runtime_dir, ("-c", code), ready_s=1.0)
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_a_daemon_that_is_ready_is_taken_though_its_starter_is_slow_to_end(runtime_dir):
    # The starter forks the daemon, and ends when it gets the processor again.
    (program,) = toy_handler.DAEMON
    slow = (
        "import os, runpy, sys, time\n"
        "if os.fork(): time.sleep(4); os._exit(0)\n"
        f"sys.path.insert(0, {str(Path(program).parent)!r})\n"
        f"runpy.run_path({program!r}, run_name='__main__')\n"
    )
    assert start(runtime_dir, ("-c", slow), reap_s=0.05) == []
    assert start(runtime_dir, toy_handler.DAEMON) == []


def test_a_starter_that_ctrl_c_ended_does_not_end_the_daemon():
    receiver, sender = os.pipe()
    os.close(receiver)
    daemon_process.report_ready(sender)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(sender)


def test_ctrl_c_while_the_daemon_starts_leaves_none(runtime_dir, monkeypatch):
    started = []

    def interrupt(*_words):
        raise KeyboardInterrupt

    def remember_group(leader):
        started.append(leader)
        kill_group(leader)

    kill_group = daemon_process._kill_group
    monkeypatch.setattr(daemon_process, "_kill_group", remember_group)
    monkeypatch.setattr(select, "select", interrupt)
    with pytest.raises(KeyboardInterrupt):
        start(runtime_dir, ("-c", "import time; time.sleep(60)"))
    with pytest.raises(ProcessLookupError):
        os.killpg(started[0], 0)


def test_the_wait_for_the_lock_is_bounded(runtime_dir):
    descriptor = paths.open_private(str(runtime_dir / paths.LOCK), os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with pytest.raises(DebuggerError, match="another command has been starting") as failed:
            start(runtime_dir, toy_handler.DAEMON, lock_s=0.05)
    finally:
        os.close(descriptor)
    assert failed.value.code is ErrorCode.TIMEOUT
    assert start(runtime_dir, toy_handler.DAEMON) == []


def test_the_daemon_finds_its_own_code_and_what_the_client_found(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"relative{os.pathsep}{os.pathsep}/absolute")
    search = daemon_process._daemon_environment()["PYTHONPATH"].split(os.pathsep)
    assert search[:2] == [str(tmp_path / "relative"), "/absolute"]
    root = str(Path(daemon_process.__file__).parents[2])
    assert search[2:] == ([] if root.endswith("-packages") else [root])


def test_over_tcp_a_daemon_serves_and_ends_as_well(runtime_dir, monkeypatch):
    monkeypatch.setenv("DEBUGGER_TRANSPORT", "tcp")
    first = toy_handler.run_client("pid").stdout
    assert toy_handler.run_client("pid").stdout == first
    state = state_of(runtime_dir)
    assert state["transport"] == "tcp"
    assert len(bytes.fromhex(state["token"])) == 32
    assert toy_handler.list_files(runtime_dir) == {paths.STATE}
    assert "stopped" in toy_handler.run_client("daemon", "stop").stdout
    assert not toy_handler.list_files(runtime_dir)


def test_a_client_with_the_wrong_token_is_not_served(runtime_dir, monkeypatch):
    monkeypatch.setenv("DEBUGGER_TRANSPORT", "tcp")
    first = toy_handler.run_client("pid").stdout
    state = state_of(runtime_dir)
    transport.write_state(str(runtime_dir), {**state, "token": "0" * 64})
    ran = toy_handler.run_client("pid", check=1)
    assert ran.stdout == ""
    transport.write_state(str(runtime_dir), state)
    assert toy_handler.run_client("pid").stdout == first


@pytest.fixture
def presence(tmp_path: Path) -> RuntimeFiles:
    (tmp_path / paths.SOCKET).touch()
    return RuntimeFiles(str(tmp_path), {"transport": "unix"})


def test_who_takes_its_leave_says_so_first_and_then_leaves_nothing(presence, tmp_path):
    presence.publish([{"name": "app"}])
    presence.withdraw()
    assert not (tmp_path / paths.SOCKET).exists()
    assert state_of(tmp_path)["closing"] is True
    presence.publish([])
    assert state_of(tmp_path)["sessions"] == [{"name": "app"}]
    presence.end()
    assert not (tmp_path / paths.STATE).exists()


def test_who_takes_its_leave_touches_nothing_of_its_successor(presence, tmp_path):
    presence.publish([])
    (tmp_path / "new").touch()
    (tmp_path / "new").replace(tmp_path / paths.SOCKET)
    presence.withdraw()
    assert (tmp_path / paths.SOCKET).exists()
    transport.write_state(str(tmp_path), {"pid": os.getpid() + 1})
    presence.end()
    assert state_of(tmp_path) == {"pid": os.getpid() + 1}


def test_a_full_log_is_put_away_and_the_one_before_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(daemon_process, "LOG_BYTES", 10)
    for content in (b"first and too long", b"second and too long", b"short"):
        descriptor = daemon_process.open_log(str(tmp_path))
        os.write(descriptor, content)
        os.close(descriptor)
    assert (tmp_path / paths.LOG).read_bytes() == b"short"
    assert (tmp_path / paths.OLD_LOG).read_bytes() == b"second and too long"
    os.close(daemon_process.open_log(str(tmp_path)))
    assert (tmp_path / paths.LOG).read_bytes() == b"short"


def test_a_running_daemons_log_stays_within_its_bound(tmp_path):
    code = (
        "import sys\n"
        "from debugger.daemon import daemon_process\n"
        "daemon_process.LOG_BYTES = 1 << 10\n"
        "log = daemon_process.RotatingLog(sys.argv[1])\n"
        "for number in range(200):\n"
        "    log.write(f'line {number} \\udcff\\n')\n"
        "    log.flush()"
    )
    descriptor = daemon_process.open_log(str(tmp_path))
    command = [sys.executable, "-c", code, str(tmp_path)]
    subprocess.run(command, stderr=descriptor, check=True, timeout=toy_handler.PATIENCE_S)
    os.close(descriptor)
    current = (tmp_path / paths.LOG).read_text()
    old = (tmp_path / paths.OLD_LOG).read_text()
    assert max(len(current), len(old)) < 2 << 10
    assert (old + current).endswith("line 198 \\udcff\nline 199 \\udcff\n")


def test_what_was_lost_is_said():
    entry = {"name": "a", "program": "./b", "pid": 5}
    assert (
        daemon_process.describe_lost_sessions({"sessions": [entry]})
        == "lost: session a (./b, pid 5)"
    )
    assert (
        daemon_process.describe_lost_sessions({"sessions": []})
        == daemon_process.describe_lost_sessions({})
        == "it held no session"
    )
