"""Does an attach to a Python process come through while an older debug server is going away?"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import debugger.backends.adapters.debugpy as package

PATH = Path(str(package.__file__)).with_name("adapter.py")  # run by path, so loaded by path


@pytest.fixture
def wrapper() -> Any:
    spec = importlib.util.spec_from_file_location("wrapper_of_debugpy", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Servers(ModuleType):
    """debugpy's module of the same name: a server comes after so many injections."""

    def __init__(self, comes_after: int, status: int | None) -> None:
        super().__init__("debugpy.adapter.servers")
        self.subprocess: Any = None
        self.injections: list[tuple[Any, ...]] = []
        self.waits: list[float | None] = []
        self._comes_after = comes_after
        self._status = status

    def inject(self, *words: Any) -> None:
        self.injections.append(words)
        self.subprocess.last = SimpleNamespace(poll=lambda: self._status)

    def wait_for_connection(self, session: Any, predicate: Any, timeout: float | None) -> Any:
        del session, predicate
        self.waits.append(timeout)
        return "connection" if len(self.injections) >= self._comes_after else None


@pytest.fixture
def servers(wrapper: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 1.0
        return now

    def made(comes_after: int, *, status: int | None = 0) -> Servers:
        module = Servers(comes_after, status)
        monkeypatch.setitem(sys.modules, "debugpy.adapter.servers", module)
        monkeypatch.setattr(wrapper.time, "monotonic", clock)
        wrapper._inject_again()
        return module

    return made


def test_a_session_ends_when_what_has_injected_the_server_has_left(wrapper, monkeypatch):
    said = []

    class Session:
        def finalize(self, why, terminate_debuggee=None):
            said.append((why, terminate_debuggee))

    sessions = ModuleType("debugpy.adapter.sessions")
    sessions.Session = Session
    monkeypatch.setitem(sys.modules, "debugpy.adapter.sessions", sessions)
    noting = SimpleNamespace(last=None)
    wrapper._leave_after_injection(noting)
    Session().finalize("left", False)
    noting.last = SimpleNamespace(wait=said.append)
    Session().finalize("left")
    assert said == [("left", False), ("left", None), 4.0]


def test_a_server_that_comes_is_injected_once(servers):
    module = servers(1)
    module.inject(7, [], None)
    assert module.wait_for_connection("session", None, 15) == "connection"
    assert len(module.injections) == 1


def test_a_server_that_does_not_come_is_injected_again(servers):
    module = servers(3)
    module.inject(7, ["--x"], None)
    assert module.wait_for_connection("session", None, 15) == "connection"
    assert module.injections == [(7, ["--x"], None)] * 3


@pytest.mark.parametrize("status", [None, 1])
def test_an_injector_that_still_works_or_failed_is_not_started_again(servers, status):
    module = servers(2, status=status)
    module.inject(7, [], None)
    assert module.wait_for_connection("session", None, 15) is None
    assert len(module.injections) == 1


def test_a_wait_for_what_was_not_injected_is_left_alone(servers):
    module = servers(1)
    assert module.wait_for_connection("session", None, None) is None
    assert module.wait_for_connection("session", None, 0) is None
    assert module.waits == [None, 0]


def test_a_process_whose_parent_has_ended_belongs_to_the_launched_program(wrapper, monkeypatch):
    launched = SimpleNamespace(pid=1, launcher="one", server=None, client="ours")
    child = SimpleNamespace(pid=2, launcher=None, server="its", client="ours")
    sessions = ModuleType("debugpy.adapter.sessions")
    sessions._sessions = {id(one): one for one in (child, launched)}.values()
    sessions.get = {1: launched, 2: child}.get
    monkeypatch.setitem(sys.modules, "debugpy.adapter.sessions", sessions)
    wrapper._take_in_the_orphans()
    assert sessions.get(7) is None  # the program itself, which is the first to come
    launched.server = "its"
    assert (sessions.get(7), sessions.get(2)) == (launched, child)
