"""What names a process among the members of its engine, by the engine's own objects."""

from __future__ import annotations

import json
import multiprocessing.process  # noqa: F401 - what is not imported is not asked
import sys
import threading
import types

import pytest

from debugger.session.inside import member_names


def name_of() -> str:
    return json.loads(member_names.read_facts(("RANK",)))[1]


def put(monkeypatch: pytest.MonkeyPatch, name: str, **attributes: object) -> None:
    module = types.ModuleType(name)
    vars(module).update(attributes)
    monkeypatch.setitem(sys.modules, name, module)


def test_the_variables_that_are_set_are_told(monkeypatch):
    monkeypatch.setenv("RANK", "3")
    found = json.loads(member_names.read_facts(("RANK", "NONE")))
    assert found == [{"RANK": "3"}, "MainProcess", []]


def test_the_debuggers_threads_are_told_though_it_hides_them(monkeypatch):
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.is_pydev_daemon_thread = True
    thread.start()
    monkeypatch.setattr(threading, "enumerate", list)
    assert json.loads(member_names.read_facts(()))[2] == [thread.native_id]
    done.set()
    thread.join()


def test_a_dask_worker_has_its_workers_name_once_it_is_there(monkeypatch):
    named = types.SimpleNamespace(name="Dask Worker process (from Nanny)")
    put(monkeypatch, "multiprocessing.process", current_process=lambda: named)
    put(monkeypatch, "distributed.worker", Worker=types.SimpleNamespace(_instances=[]))
    assert name_of() == ""
    worker = types.SimpleNamespace(name=1)
    put(monkeypatch, "distributed.worker", Worker=types.SimpleNamespace(_instances=[worker]))
    assert name_of() == "1"


def test_a_gunicorn_worker_has_its_number(monkeypatch):
    put(monkeypatch, "gunicorn.workers.base")
    names: dict[str, object] = {}
    code = compile(
        "def init_process(self, ask):\n    return ask()\n",
        "/venv/gunicorn/workers/base.py",
        "exec",
    )
    exec(code, names)
    assert names["init_process"](types.SimpleNamespace(age=2), name_of) == "w2"
    assert name_of() == "MainProcess"


def test_a_celery_worker_has_the_number_that_billiard_gave_it(monkeypatch):
    named = types.SimpleNamespace(name="ForkPoolWorker-2")
    put(monkeypatch, "billiard.process", current_process=lambda: named)
    assert name_of() == "ForkPoolWorker-2"


@pytest.mark.parametrize(
    ("program", "name"),
    [
        ("/venv/ray/dashboard/agent.py", "dashboard_agent"),
        ("/venv/ray/_private/log_monitor.py", "log_monitor"),
        ("/venv/ray/_private/workers/default_worker.py", ""),
        ("/home/ray/train.py", "MainProcess"),
        ("/job/train.py", "MainProcess"),
    ],
)
def test_a_program_of_ray_has_its_own_name_and_a_worker_its_pid(monkeypatch, program, name):
    put(monkeypatch, "ray", __file__="/venv/ray/__init__.py")
    put(monkeypatch, "__main__", __file__=program)
    assert name_of() == name
