"""Injection into a Python process: safe, once, and repeated where no server comes."""

from __future__ import annotations

import importlib.util
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from debugpy.common import messaging

import debugger.backends.adapters.debugpy as package
from debugger.backends.adapters.debugpy import injector

PATH = Path(str(package.__file__)).with_name("run_adapter.py")  # run by path, so loaded by path


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


def load_by_path(name: str) -> Any:
    path = PATH.parent / name
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


COMMAND = """gdb --pid 7 --eval-command='call (int)DoAttach(0, "exec(bytes([1]), {})", 0)'"""


@pytest.fixture
def runner(tmp_path, monkeypatch) -> Any:
    """Return what runs gdb, with the commands that it ran; the clock moves with each sleep."""
    injector, slept = load_by_path("injector.py"), []
    monkeypatch.setattr(injector.time, "monotonic", lambda: sum(slept))
    monkeypatch.setattr(injector.time, "sleep", slept.append)
    commands: list[str] = []
    monkeypatch.setattr(injector.subprocess, "check_call", commands.append)
    monkeypatch.setattr(injector, "skip_debug_info", lambda command: command)
    progress = tmp_path / "progress"
    progress.touch()
    gdb = injector.GdbRunner(progress)
    return SimpleNamespace(gdb=gdb, progress=progress, commands=commands, slept=slept)


@pytest.mark.parametrize(
    ("status", "command", "changed"),
    [
        (0, "gdb --nw --pid 7", "gdb --readnever --nw --pid 7"),
        (1, "gdb --nw --pid 7", "gdb --nw --pid 7"),  # gdb 8.0 knows no such option
        (0, "lldb -p 7", "lldb -p 7"),
    ],
)
def test_gdb_reads_no_debug_information_for_an_injection(monkeypatch, status, command, changed):
    injector, ran = load_by_path("injector.py"), []
    tried = SimpleNamespace(returncode=status)
    monkeypatch.setattr(injector.subprocess, "run", lambda words, **_: ran.append(words) or tried)
    assert injector.skip_debug_info(command) == changed
    commands: list[str] = []
    monkeypatch.setattr(injector.subprocess, "check_call", commands.append)
    injector.GdbRunner(Path("/no/such")).run_command(command)
    assert commands == [changed]
    assert ran in ([], 2 * [["gdb", "--readnever", "--version"]])


def test_code_is_injected_between_two_instructions_of_the_interpreter(runner):
    runner.progress.write_text("11")
    runner.gdb.run_command(COMMAND)
    (command,) = runner.commands
    assert runner.slept == []
    held = "PyGILState_Check() ? (int)Py_AddPendingCall((void*)&PyRun_SimpleString, "
    assert held + '"exec(bytes([1]), {})") : (int)DoAttach(0, "exec' in command


def test_code_that_does_not_begin_in_time_is_run_where_the_thread_is(runner):
    runner.gdb.run_command(COMMAND)
    assert runner.commands[1:] == [COMMAND]


def test_the_injection_lasts_until_the_injected_code_has_ended(runner):
    # Else debugpy's adapter injects again, into a program whose server is about to connect.
    runner.progress.write_text("1")
    runner.gdb.run_command(COMMAND)
    assert len(runner.commands) == 1
    assert sum(runner.slept) > 5


def test_another_command_runs_once_and_unchanged(runner):
    runner.gdb.run_command("lldb -p 7")
    assert runner.commands == ["lldb -p 7"]


def test_injected_code_leaves_the_programs_names_alone_and_never_raises():
    injector = load_by_path("injector.py")
    names = {"setup": "mine", "seen": []}
    for code in ("setup = 1; import json", "seen", "raise SystemExit(3)", "1 +"):
        enclosed = injector.enclose_code(code)
        assert not {'"', "'", "\n"} & set(enclosed)
        exec(enclosed, names)
    assert {name for name in names if not name.startswith("__")} == {"setup", "seen"}
    assert names["setup"] == "mine"


def test_one_injection_that_is_run_twice_begins_once(tmp_path, monkeypatch):
    injected = load_by_path("attached/attach_pid_injected.py")
    monkeypatch.delitem(sys.modules, injected._MARKS, raising=False)
    assert [injected._is_first(token) for token in ("a", "a", "b", "b")] == [True, False] * 2
    monkeypatch.delitem(sys.modules, injected._MARKS)
    progress = tmp_path / "progress"
    injected._report_progress(str(progress))  # its injector has gone, or it sees other folders
    assert not progress.exists()
    progress.touch()
    for _ in range(2):
        injected._report_progress(str(progress))
    assert progress.stat().st_size == 2


def test_of_large_libraries_gdb_reads_only_those_that_it_calls():
    torch = "/venv/torch/lib/libtorch_cuda.so"
    small = {"/usr/lib/libc.so.6": 2 << 20, "/usr/bin/python3.11": 6 << 20, torch: 1 << 20}
    large = {
        **small,
        torch: 1 << 30,
        "/venv/lib/libcublas.so.13": 1,
        "/usr/lib/libpython3.11.so.1": 1,
    }
    assert injector.choose_scanned_libraries(small) == []
    assert injector.choose_scanned_libraries(large) == [
        r"/usr/lib/libc\.so\.6",
        r"/usr/lib/libpython3\.11\.so\.1",
    ]
    without = {path: size for path, size in large.items() if "libc.so" not in path}
    assert injector.choose_scanned_libraries(without) == []
    older = {**without, "/lib/libc-2.31.so": 1, "/lib/libdl-2.31.so": 1}
    assert len(injector.choose_scanned_libraries(older)) == 3
    musl = {**without, "/lib/ld-musl-x86_64.so.1": 1}
    assert r"/lib/ld\-musl\-x86_64\.so\.1" in injector.choose_scanned_libraries(musl)


def test_the_mapped_files_of_a_process_have_their_sizes():
    found = injector.read_mapped_files(os.getpid())
    assert any("python" in path and size for path, size in found.items())
    assert injector.read_mapped_files(0) == {}


def test_a_refusal_that_nobody_waits_for_ends_no_other_session(
    wrapper: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A child has ended, and its client has hung up before an answer: all share one adapter."""
    exits: list[int] = []
    monkeypatch.setattr(os, "_exit", exits.append)
    monkeypatch.setattr(messaging, "os", os)
    wrapper._end_one_session_alone()
    ours, other = socket.socketpair()
    channel: Any = None

    class Handlers:
        def evaluate_request(self, request: Any) -> Any:
            channel.close()
            raise request.cant_handle("the server disconnected")

    stream = messaging.JsonIOStream.from_socket(ours)
    channel = messaging.JsonMessageChannel(stream, Handlers())
    channel.start()
    body = b'{"seq": 1, "type": "request", "command": "evaluate", "arguments": {}}'
    with other:
        other.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        channel.wait()
    assert exits == []
