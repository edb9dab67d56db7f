"""A process is found, and may be attached to, where there is no /proc: as on macOS."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator

import psutil
import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.system import descriptor_peers, process_info, trace_permission
from debugger.system.process_info import ProcessRow
from debugger.targets import attach_target
from debugger.targets.process_target import process_by_name, process_by_pid

MACS = "/Applications/Acme App.app/Contents/MacOS/Acme App"
PYTHON = "/opt/py/Python.app/Contents/MacOS/Python"
ROWS = [
    ProcessRow(501, 1, 501, "S", "Acme App", MACS, "/", (MACS, "--fast")),
    ProcessRow(502, 501, 501, "S", "Python", PYTHON, "/srv", (PYTHON, "server.py", "80")),
    ProcessRow(503, 1, 0, "S", "systemd", "/usr/sbin/systemd", "", ()),
]


@pytest.fixture
def sleeper(wait_until: Callable[..., None]) -> Iterator[int]:
    words = [sys.executable, "-c", "import time; print(flush=True); time.sleep(600)"]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.readline()
        wait_until(lambda: psutil.Process(running.pid).status() == psutil.STATUS_SLEEPING)
        yield running.pid
        running.kill()


@pytest.fixture(autouse=True)
def without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (process_info, trace_permission):
        monkeypatch.setattr(module, "has_proc", lambda: False)
    monkeypatch.setattr(trace_permission, "_read_text", lambda _: "")


@pytest.fixture
def scripted_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_info, "list_rows", lambda *_: ROWS)
    monkeypatch.setattr(os, "geteuid", lambda: 501)


def test_psutil_tells_of_a_process_what_proc_tells(
    sleeper: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = process_info.look_at(sleeper)
    monkeypatch.undo()
    known = process_info.look_at(sleeper)
    assert found is not None
    assert known is not None
    for field in ("pid", "words", "exe", "cwd", "parent", "group", "owner", "state"):
        assert getattr(found, field) == getattr(known, field), field


def test_a_process_that_a_signal_has_stopped_or_that_has_ended_is_told_as_that(
    sleeper: int,
) -> None:
    os.kill(sleeper, signal.SIGSTOP)
    os.waitid(os.P_PID, sleeper, os.WSTOPPED)
    assert process_info.look_at(sleeper).state == "T"
    os.kill(sleeper, signal.SIGKILL)
    os.waitid(os.P_PID, sleeper, os.WEXITED | os.WNOWAIT)
    assert process_info.look_at(sleeper).state == "Z"


def test_the_processes_that_a_process_started_are_listed(sleeper: int) -> None:
    assert process_info.child_commands(os.getpid())[sleeper] == process_info.command_line(sleeper)


def test_who_listens_at_a_port_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descriptor_peers, "sees_all", lambda: False)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        (one,) = descriptor_peers.filter_by_port(
            descriptor_peers.list_listeners(), ["127.0.0.1"], port
        )
        assert [found.pid for found in descriptor_peers.find_owners([one])] == [os.getpid()]


@pytest.mark.usefixtures("scripted_rows")
@pytest.mark.parametrize(("name", "pid"), [("Acme App", 501), ("server.py", 502), ("server", 502)])
def test_a_process_is_found_by_its_name(name: str, pid: int) -> None:
    found = process_by_name(name, list(process_info.list_processes()))
    assert found.pid == pid
    assert trace_permission.explain_refusal(trace_permission.facts_of(found)) is None


@pytest.mark.usefixtures("scripted_rows")
def test_a_process_of_another_user_is_refused_for_that() -> None:
    found = process_by_name("systemd", list(process_info.list_processes()))
    refused = trace_permission.explain_refusal(trace_permission.facts_of(found))
    assert refused is not None
    assert "belongs to user 0, and we are user 501" in refused.reason


@pytest.mark.parametrize("uid", [0, None])
def test_our_own_process_is_prepared_for_an_attach(
    sleeper: int, uid: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if uid is not None:
        monkeypatch.setattr(os, "geteuid", lambda: uid)
    wanted = attach_target.AttachRequest(cwd="/", env=dict(os.environ), what=str(sleeper))
    assert attach_target.prepare_attach(wanted).target.pid == sleeper


def test_a_process_that_is_not_there_is_not_found() -> None:
    with pytest.raises(DebuggerError) as raised:
        process_by_pid("999999999")
    assert raised.value.code is ErrorCode.NOT_FOUND


def test_of_several_processes_of_a_name_it_is_said_which_started_which() -> None:
    rows = [
        ProcessRow(pid, parent, 501, "S", "gunicorn", "/bin/gunicorn", "/", ("gunicorn", "app"))
        for pid, parent in ((600, 1), (601, 600), (602, 600))
    ]
    with pytest.raises(DebuggerError) as raised:
        process_by_name("gunicorn", [process_info.of_row(row) for row in rows])
    _, parent, *workers = raised.value.message.splitlines()
    assert parent.endswith("(started 2 of the others)")
    assert all(one.endswith("(started by 600)") for one in workers)
