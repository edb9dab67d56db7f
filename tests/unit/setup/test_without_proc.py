"""A process is found, and may be attached to, where there is no /proc: as on macOS."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from debugger.errors import Code, DebuggerError
from debugger.setup import attaching
from debugger.setup.processes import named, numbered
from debugger.targets import listening, permission, process, process_rows
from debugger.targets.process_rows import ProcessRow

MACS = "/Applications/Acme App.app/Contents/MacOS/Acme App"
PYTHON = "/opt/py/Python.app/Contents/MacOS/Python"
ROWS = [
    ProcessRow(501, 1, 501, "S", "Acme App", MACS, "/", (MACS, "--fast")),
    ProcessRow(502, 501, 501, "S", "Python", PYTHON, "/srv", (PYTHON, "server.py", "80")),
    ProcessRow(503, 1, 0, "S", "systemd", "/usr/sbin/systemd", "", ()),
]


@pytest.fixture
def sleeper() -> Iterator[int]:
    words = [sys.executable, "-c", "import time; print(flush=True); time.sleep(600)"]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.readline()
        yield running.pid
        running.kill()


@pytest.fixture(autouse=True)
def without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (process, permission):
        monkeypatch.setattr(module, "has_proc", lambda: False)
    monkeypatch.setattr(permission, "_read", lambda _: "")


@pytest.fixture
def scripted_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_rows, "list_rows", lambda *_: ROWS)
    monkeypatch.setattr(os, "geteuid", lambda: 501)


def test_psutil_tells_of_a_process_what_proc_tells(
    sleeper: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = process.look_at(sleeper)
    monkeypatch.undo()
    known = process.look_at(sleeper)
    assert found is not None
    assert known is not None
    for field in ("pid", "words", "exe", "cwd", "parent", "group", "owner", "state"):
        assert getattr(found, field) == getattr(known, field), field


def test_a_process_that_a_signal_has_stopped_or_that_has_ended_is_told_as_that(
    sleeper: int,
) -> None:
    os.kill(sleeper, signal.SIGSTOP)
    os.waitid(os.P_PID, sleeper, os.WSTOPPED)
    assert process.look_at(sleeper).state == "T"
    os.kill(sleeper, signal.SIGKILL)
    os.waitid(os.P_PID, sleeper, os.WEXITED | os.WNOWAIT)
    assert process.look_at(sleeper).state == "Z"


def test_the_processes_that_a_process_started_are_listed(sleeper: int) -> None:
    assert process.children(os.getpid())[sleeper] == process.command_line(sleeper)


def test_who_listens_at_a_port_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "sees_all", lambda: False)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        (one,) = listening.serving(listening.listeners(), ["127.0.0.1"], port)
        assert [found.pid for found in listening.owners([one])] == [os.getpid()]


@pytest.mark.usefixtures("scripted_rows")
@pytest.mark.parametrize(("name", "pid"), [("Acme App", 501), ("server.py", 502), ("server", 502)])
def test_a_process_is_found_by_its_name(name: str, pid: int) -> None:
    found = named(name, list(process.every()))
    assert found.pid == pid
    assert permission.refusal(permission.facts_of(found)) is None


@pytest.mark.usefixtures("scripted_rows")
def test_a_process_of_another_user_is_refused_for_that() -> None:
    found = named("systemd", list(process.every()))
    refused = permission.refusal(permission.facts_of(found))
    assert refused is not None
    assert "belongs to user 0, and we are user 501" in refused.reason


@pytest.mark.parametrize("uid", [0, None])
def test_our_own_process_is_prepared_for_an_attach(
    sleeper: int, uid: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if uid is not None:
        monkeypatch.setattr(os, "geteuid", lambda: uid)
    wanted = attaching.Wanted(cwd="/", env=dict(os.environ), what=str(sleeper))
    assert attaching.prepare(wanted).target.pid == sleeper


def test_a_process_that_is_not_there_is_not_found() -> None:
    with pytest.raises(DebuggerError) as raised:
        numbered("999999999")
    assert raised.value.code is Code.NOT_FOUND


def test_of_several_processes_of_a_name_it_is_said_which_started_which() -> None:
    rows = [
        ProcessRow(pid, parent, 501, "S", "gunicorn", "/bin/gunicorn", "/", ("gunicorn", "app"))
        for pid, parent in ((600, 1), (601, 600), (602, 600))
    ]
    with pytest.raises(DebuggerError) as raised:
        named("gunicorn", [process.of_row(row) for row in rows])
    _, parent, *workers = raised.value.message.splitlines()
    assert parent.endswith("(started 2 of the others)")
    assert all(one.endswith("(started by 600)") for one in workers)
