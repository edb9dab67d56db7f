"""A process is found, and may be attached to, where there is no /proc: as on macOS."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from debugger.errors import Code, DebuggerError
from debugger.setup import attaching
from debugger.setup.processes import named, numbered
from debugger.targets import permission, process, ps

ROWS = """\
  501     1   501 Ss   /Applications/Acme App.app/Contents/MacOS/Acme App --fast
  502   501   501 S+   /opt/py/Python.app/Contents/MacOS/Python server.py 80
  503     1     0 Ss   /usr/sbin/systemd
"""
NAMES = """\
  501 /Applications/Acme App.app/Contents/MacOS/Acme App
  502 /opt/py/Python.app/Contents/MacOS/Python
  503 /usr/sbin/systemd
"""


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
def scripted_ps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "list_rows", lambda *_: list(ps.parse_rows(ROWS, NAMES)))
    monkeypatch.setattr(os, "geteuid", lambda: 501)


def test_the_rows_of_ps_are_processes_with_blanks_in_their_paths() -> None:
    app, python, _ = ps.parse_rows(ROWS, NAMES)
    assert app.words == ("/Applications/Acme App.app/Contents/MacOS/Acme App", "--fast")
    assert (python.parent, python.owner, python.state) == (501, 501, "S")
    assert python.words[1:] == ("server.py", "80")


@pytest.mark.usefixtures("scripted_ps")
@pytest.mark.parametrize(("name", "pid"), [("Acme App", 501), ("server.py", 502), ("server", 502)])
def test_a_process_is_found_by_its_name(name: str, pid: int) -> None:
    found = named(name, list(process.every()))
    assert found.pid == pid
    assert permission.refusal(permission.facts_of(found)) is None


@pytest.mark.usefixtures("scripted_ps")
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


def test_without_ps_a_process_that_is_there_may_be_tried(
    sleeper: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "list_rows", lambda *_: [])
    found = numbered(str(sleeper))
    assert (found.pid, found.owner) == (sleeper, os.geteuid())
    assert permission.refusal(permission.facts_of(found)) is None
    with pytest.raises(DebuggerError) as raised:
        numbered("999999999")
    assert raised.value.code is Code.NOT_FOUND


def test_of_several_processes_of_a_name_it_is_said_which_started_which() -> None:
    rows = [
        ps.PsRow(pid, parent, 501, "S", "/bin/gunicorn", ("gunicorn", "app"))
        for pid, parent in ((600, 1), (601, 600), (602, 600))
    ]
    with pytest.raises(DebuggerError) as raised:
        named("gunicorn", [process._from_ps(row) for row in rows])
    _, parent, *workers = raised.value.message.splitlines()
    assert parent.endswith("(started 2 of the others)")
    assert all(one.endswith("(started by 600)") for one in workers)
