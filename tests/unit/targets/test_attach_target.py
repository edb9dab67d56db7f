"""`attach` does what its user means, or says why it cannot."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import wait_until
from debugger import config
from debugger.backends.base import AttachTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.system.process_info import ProcessInfo
from debugger.targets import attach_target, process_target
from debugger.targets.attach_target import (
    AttachRequest,
    PreparedAttach,
    explain_attach_error,
    prepare_attach,
    server_language,
)
from debugger.targets.attachable_processes import describe_attachable
from debugger.targets.process_target import process_by_name

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it reads /proc")


def attach_request(**words) -> AttachRequest:
    return AttachRequest(cwd="/", env=dict(os.environ), **words)


def refused(**words) -> DebuggerError:
    with pytest.raises(DebuggerError) as error:
        prepare_attach(attach_request(**words))
    assert error.value.hint
    return error.value


def process(pid: int, name: str, *words: str, exe: str = "") -> ProcessInfo:
    return ProcessInfo(pid=pid, name=name, words=words or (name,), exe=exe or f"/bin/{name}")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({}, "attach to what?"),
        ({"what": "app"}, "not a process number: 'app'"),
        ({"what": "1.5"}, "not a process number"),
        ({"name": "a", "core": "b"}, "one thing"),
        ({"name": "a", "what": "5"}, "one thing"),
        ({"core": "a", "connect": "b"}, "one thing"),
        ({"name": "a\0b"}, "a NUL"),
        ({"connect": "localhost"}, "not HOST:PORT"),
        ({"connect": "localhost:0"}, "not HOST:PORT"),
        ({"connect": "localhost:65536"}, "not HOST:PORT"),
        ({"connect": "::1:80"}, "not HOST:PORT"),
        ({"connect": "http://localhost:80"}, "not HOST:PORT"),
    ],
)
def test_words_that_mean_nothing_are_a_usage_error(words, says):
    error = refused(**words)
    assert (error.code, says in error.message) == (ErrorCode.USAGE, True), error.message


@linux
@pytest.mark.parametrize("pid", [2**40, 2**22 + 1, 0, -1])
def test_a_number_of_no_process_is_not_found(pid):
    error = refused(what=str(pid))
    assert error.code is ErrorCode.NOT_FOUND
    assert error.message.startswith(f"no process {pid}")


@linux
def test_we_are_not_attached_to_ourselves():
    assert refused(what=str(os.getpid())).code is ErrorCode.DENIED


@linux
@pytest.mark.parametrize(
    ("attach", "expected"), [({"processId": "{pid}"}, "own"), ({"port": "{port}"}, None)]
)
def test_an_adapter_of_the_users_own_is_taken_by_the_file_that_runs(
    attach: dict[str, str], expected: str | None, tmp_path: Path
) -> None:
    script = tmp_path / "job.own"
    script.write_text("")
    section = config.AdapterSettings(command=("own-adapter",), extensions=(".own",), attach=attach)
    with subprocess.Popen(["tail", "-f", script], stdout=subprocess.DEVNULL) as running:
        try:
            # A process that has just begun has no command line yet.
            words = Path(f"/proc/{running.pid}/cmdline")
            wait_until(lambda: script.name in words.read_text())
            given = attach_request(what=str(running.pid), adapters={"own": section})
            chosen = prepare_attach(given).adapter.name
        finally:
            running.kill()
    assert (chosen == "own") is (expected == "own")


def test_the_one_process_of_a_name_is_found():
    everything = [process(5, "server"), process(6, "server-2"), process(7, "other")]
    assert process_by_name("server", everything).pid == 5


def test_a_name_of_nobody_tells_near_names():
    with pytest.raises(DebuggerError) as error:
        process_by_name("servr", [process(5, "server"), process(7, "other")])
    assert error.value.code is ErrorCode.NOT_FOUND
    assert "no process is called 'servr'; there is server" in error.value.message
    assert error.value.hint == "debugger attach --name server"


def test_a_name_of_several_lists_ten_of_them():
    everything = [process(pid, "worker", "worker", f"--id={pid}") for pid in range(20, 35)]
    with pytest.raises(DebuggerError) as error:
        process_by_name("worker", everything)
    lines = error.value.message.splitlines()
    assert lines[0] == "15 processes are called 'worker':"
    assert lines[1].split() == ["20", "worker", "--id=20"]
    assert len(lines) == 12
    assert lines[-1].strip() == "and 5 more"
    assert error.value.hint == "debugger attach 20"


def test_the_debuggers_own_processes_and_dead_ones_are_no_candidates():
    daemon = process(5, "python3", "python3", "-m", "debugger.daemon", exe="/usr/bin/python3")
    dead = ProcessInfo(pid=6, name="python3", state="Z")
    ourselves = process(os.getpid(), "python3")
    with pytest.raises(DebuggerError, match="no process is called 'python3'"):
        process_by_name("python3", [daemon, dead, ourselves])


def test_a_hostile_command_line_is_shown_in_one_short_line():
    shown = process_target.shorten_command(process(5, "x", "x", "a\nb\x1b[31m" + "y" * 500))
    assert shown.isprintable()
    assert len(shown) == 100


@linux
def test_a_process_that_a_session_holds_is_not_attached_to_twice():
    error = refused(what=str(os.getppid()), held={os.getppid(): "loop"})
    assert (error.code, error.hint) == (ErrorCode.WRONG_STATE, "debugger use loop")


@pytest.mark.parametrize(
    ("one", "language"),
    [
        (process(5, "lldb-server", exe="/usr/bin/lldb-server-19"), "native"),
        (process(5, "gdbserver"), "native"),
        (process(5, "qemu-x86_64"), "native"),
        (process(5, "dlv"), "go"),
        (process(5, "python3", "python3", "-m", "debugpy", "--listen", "5678"), "python"),
        (process(5, "python3", "python3", "/x/debugpy/adapter", "--port", "5678"), "python"),
        (process(5, "python3", "python3", "-m", "http.server"), ""),
        (process(5, "node", "node", "app.js"), "javascript"),
        (process(5, "ruby", "ruby", "app.rb"), "ruby"),  # rdbg leaves no trace in its words
        (process(5, "sshd"), ""),
    ],
)
def test_a_debug_server_is_known_by_who_listens(one, language):
    assert server_language(one) == language


@linux
def test_a_port_that_nobody_listens_at_is_told_at_once():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    error = refused(connect=f"127.0.0.1:{port}")
    assert (error.code, error.message) == (
        ErrorCode.NOT_FOUND,
        f"nothing listens at 127.0.0.1:{port}",
    )
    assert "debugpy --listen" in (error.hint or "")


@linux
def test_what_listens_and_is_no_debug_server_is_named():
    with socket.create_server(("127.0.0.1", 0)) as server:
        error = refused(connect=f"localhost:{server.getsockname()[1]}")
    assert error.code is ErrorCode.NOT_SUPPORTED
    assert f"process {os.getpid()} (" in error.message


@linux
def test_a_port_alone_is_of_this_machine_and_an_adapter_may_be_named(require_tool):
    require_tool("debugpy")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        prepared = prepare_attach(attach_request(connect=str(port), adapter="debugpy"))
    assert prepared.target.connect == ("localhost", port)
    assert prepared.adapter.name == "debugpy"


def test_of_another_machine_the_adapter_must_be_named():
    error = refused(connect="192.0.2.1:5678")
    assert error.code is ErrorCode.USAGE
    assert "--adapter NAME" in (error.hint or "")


def test_a_host_that_is_none_is_told():
    assert refused(connect="nosuch.invalid:5678").message == "no such host: nosuch.invalid"


def _prepared(**target) -> PreparedAttach:
    about = {"pid": None, "cwd": "/", "env": {}, **target}
    adapter = attach_target.choose_adapter(attach_request(adapter="lldb-dap"), "", "")
    return PreparedAttach(AttachTarget(**about), adapter)


@linux
def test_a_failed_attach_to_a_process_that_has_ended_says_so(tmp_path):
    pid = os.posix_spawn("/bin/true", ["true"], {})
    failure = DebuggerError(ErrorCode.LAUNCH_FAILED, "lost connection")
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    for _ in ("a zombie", "gone"):
        told = explain_attach_error(failure, _prepared(pid=pid))
        assert (told.code, told.message) == (
            ErrorCode.NOT_FOUND,
            f"process {pid} ended while lldb-dap attached to it",
        )
        if _ == "a zombie":
            os.waitpid(pid, 0)


@linux
def test_a_failed_attach_keeps_its_own_words_where_nothing_is_known():
    failure = DebuggerError(ErrorCode.LAUNCH_FAILED, "no reason at all")
    assert explain_attach_error(failure, _prepared(pid=os.getppid())) is failure


@pytest.mark.parametrize(
    ("code", "message", "then"),
    [
        (ErrorCode.ADAPTER_DIED, "debugpy closed its connection", ErrorCode.ADAPTER_FAILED),
        (ErrorCode.TIMEOUT, "did not answer initialize within 10 s", ErrorCode.TIMEOUT),
        (ErrorCode.LAUNCH_FAILED, "invalid process", ErrorCode.ADAPTER_FAILED),
    ],
)
def test_a_server_that_does_not_answer_as_one_is_told_as_that(code, message, then):
    told = attach_target.explain_attach_error(
        DebuggerError(code, message), _prepared(connect=("host", 22))
    )
    assert told.code is then
    assert "the server at host:22 is not a debug server for lldb-dap" in told.message
    assert message in told.message


def test_an_attach_that_names_nothing_lists_what_the_user_may_debug() -> None:
    python, native = ("python3", "train.py"), ("./server", "--fast")
    everything = [
        ProcessInfo(10, "python3", python, "/usr/bin/python3", owner=1000),
        ProcessInfo(11, "python3", python, "/usr/bin/python3", parent=10, owner=1000),
        ProcessInfo(12, "bash", ("bash",), "/usr/bin/bash", owner=1000),
        ProcessInfo(13, "other", ("./other",), "/opt/other", owner=1001),
        ProcessInfo(14, "server", native, "/opt/server", owner=1000, tracer=9),
        ProcessInfo(15, "kworker", is_kernel=True),
        *(ProcessInfo(one, "x", ("./x", str(one)), "/opt/x", owner=1000) for one in range(20, 35)),
    ]

    def describe(user: int, everything: list[ProcessInfo]) -> list[str]:
        return describe_attachable(
            "which?", everything, {10: "train"}, user=user, language_of=lambda one: one.name[:6]
        ).splitlines()

    assert describe(1000, everything[:6]) == [
        "which?",
        "  14  server      ./server --fast  (has a debugger)",
        "  10  python      python3 train.py  (and 1 forks of it)  (session train)",
    ]
    # Root may debug all; its own come first, and what is not shown is counted.
    assert describe(1001, everything[:6])[1:] == ["  13  other       ./other"]
    assert describe(0, everything)[-1] == "  and 3 more, which ps -e lists"
    assert describe(7, everything) == ["which?"]
