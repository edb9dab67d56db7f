"""A process is named as its user names it, and the debugger is never taken for one."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from debugger.system import process_info
from debugger.system.process_info import (
    ProcessInfo,
    is_ours,
    look_at,
    process_language,
    process_names,
    script_of,
    status_of,
)


def make_process(
    *words: str, name: str = "x", exe: str = "", cwd: str = "/home", **more
) -> ProcessInfo:
    return ProcessInfo(pid=more.pop("pid", 7), name=name, words=words, exe=exe, cwd=cwd, **more)


@pytest.mark.parametrize(
    ("words", "language", "script"),
    [
        (["app.py"], "python", "/home/app.py"),
        (["-u", "-X", "dev", "/srv/app.py", "-c"], "python", "/srv/app.py"),
        (["-m", "http.server", "8000"], "python", "-m http.server"),
        (["-c", "import x", "app.py"], "python", None),
        (["-"], "python", None),
        ([], "python", None),
        (["-m", "debugpy", "--listen", "5678", "app.py"], "python", "/home/app.py"),
        (
            ["-m", "debugpy", "--wait-for-client", "--listen", "5678", "-m", "app"],
            "python",
            "-m app",
        ),
        (["--inspect=9229", "-r", "./hook.js", "server.js", "-x"], "javascript", "/home/server.js"),
        (["-e", "1"], "javascript", None),
        (["-e", "run.sh"], "shell", None),
        (["-o", "pipefail", "run.sh"], "shell", "/home/run.sh"),
    ],
)
def test_the_script_is_found_among_an_interpreters_words(words, language, script):
    assert script_of(words, language, "/home") == script


@pytest.mark.parametrize(
    ("process", "expected"),
    [
        (
            make_process("./server", "-v", name="server", exe="/srv/server (deleted)"),
            {"server"},
        ),
        (
            make_process(
                "./a_rather_long_name", name="a_rather_long_n", exe="/srv/a_rather_long_name"
            ),
            {"a_rather_long_n", "a_rather_long_name"},
        ),
        (
            make_process("python3", "-u", "app.py", name="python3", exe="/usr/bin/python3.11"),
            {"python3", "python3.11", "app.py"},
        ),
        (
            make_process("python3", "-m", "http.server", name="python3", exe="/usr/bin/python3.11"),
            {"python3", "python3.11", "http.server"},
        ),
        (
            make_process("node", "srv/main.js", name="node", exe="/usr/bin/node"),
            {"node", "main.js"},
        ),
        (make_process(name="kthreadd"), {"kthreadd"}),
    ],
)
def test_a_process_is_called_by_its_name_its_executable_and_its_script(process, expected):
    assert process_names(process) == expected


@pytest.mark.parametrize(
    "process",
    [
        make_process("/usr/bin/python3", "-P", "-m", "debugger.daemon", exe="/usr/bin/python3"),
        make_process(
            *("python3", "-I", "-S", "-c", "import supervisor", "/x/debugger/system/supervisor.py"),
            exe="/usr/bin/python3",
        ),
        make_process("/venv/bin/python", "/venv/bin/debugger", "attach", exe="/usr/bin/python3.11"),
        make_process(
            "python", "-m", "debugger", "attach", "--name", "x", exe="/usr/bin/python3.11"
        ),
        make_process("/usr/bin/lldb-dap-19", exe="/usr/bin/lldb-dap-19", parent=8),
    ],
)
def test_the_debuggers_own_processes_are_known(process):
    words = (
        "python3",
        "-I",
        "-S",
        "-c",
        "import supervisor",
        "/x/debugger/system/supervisor.py",
        "7",
        "/s",
        "--",
        "/usr/bin/lldb-dap-19",
    )
    guard = make_process(*words, exe="/usr/bin/python3", pid=8)
    assert is_ours(process, {8: guard})


def test_a_program_that_was_let_go_is_not_ours_though_its_guard_is_its_parent():
    words = (
        "python3",
        "-I",
        "-S",
        "-c",
        "import supervisor",
        "/x/debugger/system/supervisor.py",
        "7",
        "/s",
        "--",
        "/usr/bin/lldb-dap-19",
    )
    guard = make_process(*words, exe="/usr/bin/python3", pid=8)
    assert not is_ours(make_process("/srv/app", exe="/srv/app", parent=8), {8: guard})


def test_a_program_that_a_debugged_program_started_is_not_ours():
    guard = make_process(
        *("python3", "-I", "-S", "-c", "import supervisor", "/x/debugger/system/supervisor.py"),
        exe="/usr/bin/python3",
        pid=8,
    )
    adapter = make_process("lldb-dap", exe="/usr/bin/lldb-dap", pid=9, parent=8)
    child = make_process("./app", exe="/srv/app", parent=9)
    assert not is_ours(child, {8: guard, 9: adapter})
    assert not is_ours(make_process("python", "debugger.py", exe="/usr/bin/python3"), {})


def test_status_is_read_as_keys_and_values():
    text = "Name:\ta:b c\nUid:\t0\t1\t2\t3\nodd line\nTracerPid:\t5\n"
    assert status_of(text) == {"Name": "a:b c", "Uid": "0\t1\t2\t3", "TracerPid": "5"}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it reads /proc")
def test_a_live_process_is_looked_at():
    code = "import sys; print('ready', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        running.stdout.readline()
        found = look_at(running.pid)
        assert found is not None
        assert (found.parent, found.group, found.tracer) == (os.getpid(), running.pid, 0)
        assert found.owner == os.geteuid()
        assert found.state in {"S", "R"}
        assert not found.is_kernel
        assert process_language(found) == "python"
        running.stdin.close()
        os.waitid(os.P_PID, running.pid, os.WEXITED | os.WNOWAIT)
        ended = look_at(running.pid)
        assert ended is not None
        assert ended.state == "Z"
    assert look_at(running.pid) is None


def test_a_thread_that_has_ended_since_it_was_listed_has_no_children(monkeypatch):
    listed = process_info._list_directory(f"/proc/{os.getpid()}/task")
    monkeypatch.setattr(process_info, "_list_directory", lambda _: ["999999999", *listed])
    words = [sys.executable, "-c", "print(1, flush=True); input()"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"1\n"  # before, it need not be that program yet
        assert process_info.child_commands(os.getpid())[child.pid] == tuple(words)
        child.communicate(b"\n")


@pytest.mark.parametrize("pid", [0, -1, 2**40])
def test_what_is_no_process_is_none(pid):
    assert look_at(pid) is None


def test_the_status_of_an_ended_process_is_read_until_its_parent_has_waited() -> None:
    for code, status in (
        ("import sys; sys.exit(3)", 3),
        ("import os; os.kill(os.getpid(), 9)", -9),
    ):
        with subprocess.Popen([sys.executable, "-c", code]) as process:
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            assert process_info.read_exit_status(process.pid) == status
            process.wait()
            assert process_info.read_exit_status(process.pid) is None
    assert process_info.read_exit_status(os.getpid()) is None


def test_the_processor_time_of_a_program_has_that_of_what_it_started() -> None:
    spin = "import time\nwhile time.process_time() < 0.3: pass\nprint(1, flush=True); input()"
    starts = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {spin!r}])"
    with subprocess.Popen(
        [sys.executable, "-c", starts], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as program:
        assert program.stdout is not None
        program.stdout.readline()
        assert process_info.processor_seconds(program.pid) >= 0.3
        program.communicate(b"\n")
    assert process_info.processor_seconds(program.pid) == 0
