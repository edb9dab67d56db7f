"""Attaching to a running process, inspecting it, and detaching without harm."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

import debuggees
from cli_commands import answer_data, marked_location, print_value, resolve_program
from conftest import require_tool
from refused_commands import check_refused
from running_programs import attach_to_stop, find_tracer, process_state, run_program

lldb = pytest.mark.adapter("lldb-dap")
EXAMPLE = Path(__file__).parents[2] / "examples" / "deadlock" / "deadlock.c"
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it reads /proc")


@pytest.fixture
def unique(tmp_path):
    """Give a program under a name that no other process has."""

    def copy(name: str) -> Path:
        own = (
            tmp_path / f"{Path(name).stem}-{os.getpid()}{Path(name).suffix * name.endswith('.py')}"
        )
        own.write_bytes(Path(resolve_program(name)).read_bytes())
        own.chmod(0o755)
        return own

    return copy


@lldb
def test_a_process_is_attached_to_by_its_name_and_let_go(cli, unique):
    path = unique("endless.c")
    with run_program(path, ready="counting") as process:
        assert cli("attach", "--name", path.name, check=0).out.startswith("running")
        told = answer_data(cli("--json", "status", check=0))
        assert (told["pid"], told["program"], told["adapter"]) == (
            process.pid,
            str(path),
            "lldb-dap",
        )
        assert find_tracer(process.pid) != 0
        answer_data(cli("--json", "break", marked_location("endless.c", "count"), check=0))
        stop = answer_data(cli("--json", "await", "--timeout", "20", check=0))
        assert (stop["reason"], stop["frame"]["function"]) == ("breakpoint", "count")
        assert int(print_value(cli, "counter")) > 0
        cli("detach", check=0)
        assert (find_tracer(process.pid), process_state(process.pid)) == (0, "R")


@pytest.mark.adapter("lldb-dap", "debugpy", "gdb-cli")
@pytest.mark.parametrize("name", ["endless.c", "endless.py"])
@pytest.mark.parametrize("words", [("stop", "--all"), ("daemon", "stop")])
def test_the_end_of_all_sessions_leaves_alone_what_was_attached_to(cli, unique, name, words):
    path = unique(name)
    python = [sys.executable, "-Xfrozen_modules=off"] if name.endswith(".py") else []
    with run_program(*python, path, ready="counting") as process:
        cli("attach", str(process.pid), "--pause", check=0)
        cli(*words, check=0)
        assert find_tracer(process.pid) == 0
        assert process_state(process.pid) in {"R", "S"}


@lldb
def test_a_name_of_several_processes_lists_them_and_attaches_to_none(cli, unique):
    path = unique("endless.c")
    with run_program(path, ready="counting") as one, run_program(path, ready="counting") as other:
        says = (f"2 processes are called '{path.name}'", f"  {one.pid}  ", f"  {other.pid}  ")
        words = ("attach", "--name", path.name)
        check_refused(
            cli, *words, exit=2, code="USAGE", says=says, hint=f"debugger attach {one.pid}"
        )
        assert (find_tracer(one.pid), find_tracer(other.pid)) == (0, 0)


def test_a_name_of_nobody_tells_near_names(cli, unique):
    path = unique("endless.c")
    with run_program(path, ready="counting"):
        near = path.name.replace("endless", "endles")
        words = ("attach", "--name", near)
        check_refused(cli, *words, exit=1, code="NOT_FOUND", says=path.name, hint=path.name)


@pytest.mark.adapter("debugpy", "gdb-cli")
def test_a_python_process_is_attached_to_by_the_name_of_its_script(cli, unique):
    path = unique("endless.py")
    with run_program(sys.executable, "-Xfrozen_modules=off", path, ready="counting") as process:
        line = debuggees.find_marker("endless.py", "count")
        words = ("--name", path.name, "--break", f"{path.name}:{line}")
        stop = attach_to_stop(cli, *words, cwd=path.parent)
        told = answer_data(cli("--json", "status", check=0))
        assert (told["pid"], told["program"], told["adapter"]) == (
            process.pid,
            str(path),
            "debugpy",
        )
        assert (stop["frame"]["function"], stop["frame"]["line"]) == ("count", line)
        assert int(print_value(cli, "counter")) > 0
        cli("detach", check=0)
        cli("attach", str(process.pid), "--pause", check=0)
        assert answer_data(cli("--json", "status", check=0))["state"] == "stopped"
        cli("detach", check=0)
        assert process_state(process.pid) in {"R", "S"}


@pytest.mark.adapter("debugpy", "gdb-cli")
def test_a_python_process_is_taken_and_let_go_again_and_again(cli, unique, tmp_path):
    path, errors = unique("endless.py"), tmp_path / "stderr"
    with (
        errors.open("w") as stderr,
        run_program(sys.executable, path, ready="counting", stderr=stderr) as process,
    ):
        for _ in range(3):
            cli("attach", str(process.pid), "--pause", check=0)
            assert int(print_value(cli, "1 + 1")) == 2
            cli("detach", check=0)
        assert process_state(process.pid) in {"R", "S"}
    assert errors.read_text() == "", "what the debugger wrote into the program's stderr"


_NAMES = """\
import time
setup = decode = "mine"
print("ready", flush=True)
while True:
    time.sleep(0.01)
"""


@pytest.mark.adapter("debugpy", "gdb-cli")
def test_an_attach_leaves_the_programs_global_names_alone(cli, tmp_path):
    path = tmp_path / f"names-{os.getpid()}.py"
    path.write_text(_NAMES)
    with run_program(sys.executable, path, ready="ready") as process:
        stop = answer_data(cli("--json", "attach", str(process.pid), "--pause", check=0))
        assert stop["frame"]["file"] == str(path)
        assert len(stop["stack"]) == 1
        assert print_value(cli, "setup + decode") == "'minemine'"
        assert print_value(cli, "sorted(n for n in globals() if n[:2] != '__')") == (
            "['decode', 'setup', 'time']"
        )
        cli("detach", check=0)


_BACKTRACKS = """\
import re
print("ready", flush=True)
re.match(r"(a|aa)+$", "a" * 60 + "b")
"""


@pytest.mark.adapter("debugpy", "gdb-cli")
def test_a_python_that_stays_in_compiled_code_is_attached_to(cli, tmp_path):
    path = tmp_path / f"backtracks-{os.getpid()}.py"
    path.write_text(_BACKTRACKS)
    with run_program(sys.executable, path, ready="ready") as process:
        cli("attach", str(process.pid), check=0)
        assert answer_data(cli("--json", "status", check=0))["state"] == "running"
        cli("detach", check=0)


_RECURSES = """\
import time
def rec(n):
    return rec(n + 1)
print("ready", flush=True)
go = False
while not go:
    time.sleep(0.05)
rec(0)
"""


@pytest.mark.adapter("debugpy", "gdb-cli")
def test_a_recursion_without_end_is_stopped_at_in_an_attached_program(cli, tmp_path):
    path = tmp_path / f"recurses-{os.getpid()}.py"
    path.write_text(_RECURSES)
    with run_program(sys.executable, path, ready="ready") as process:
        cli("attach", str(process.pid), "--break", f"{path}:7", check=0)
        cli("set", "go", "True", check=0)
        cli("breakpoint", "remove", "1", check=0)
        stop = answer_data(cli("--json", "continue", check=0))
        assert stop["exception"]["type"] == "RecursionError"
        assert (stop["frame"]["index"], stop["frame"]["line"]) == (0, 3)


_HANDLED = """\
import json, time
print("counting", flush=True)
while True:
    try:
        json.loads("{")
    except ValueError:
        time.sleep(0.01)
"""


@pytest.mark.adapter("debugpy", "gdb-cli")
def test_what_a_library_raises_stops_in_the_programs_own_code_at_every_attach(cli, tmp_path):
    path = tmp_path / f"handled-{os.getpid()}.py"
    path.write_text(_HANDLED)
    with run_program(sys.executable, "-Xfrozen_modules=off", path, ready="counting") as process:
        for _ in range(2):
            cli("attach", str(process.pid), "--pause", check=0)
            cli("catch", "raised", check=0)
            stop = answer_data(cli("--json", "continue", check=0))
            assert stop["exception"]["type"].endswith("JSONDecodeError")
            assert (stop["frame"]["file"], stop["frame"]["line"]) == (str(path), 5)
            cli("detach", check=0)


_MAPPING = """\
import mmap, sys
with open(sys.argv[1], "rb") as file:
    kept = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
sys.stdout.write("mapped\\n")
sys.stdout.flush()
sys.stdin.read()
"""


@pytest.mark.parametrize(
    ("library", "name"),
    [("libpypy3.11-c.so", "PyPy"), ("libpython3.13t.so.1.0", "free-threaded Python")],
)
def test_a_python_that_cannot_be_entered_is_refused_at_once(cli, tmp_path, library, name):
    (tmp_path / library).write_bytes(bytes(4096))
    (tmp_path / "app.py").write_text(_MAPPING)
    words = (sys.executable, tmp_path / "app.py", tmp_path / library)
    with run_program(*words, ready="mapped") as process:
        check_refused(
            cli,
            "attach",
            str(process.pid),
            exit=1,
            code="NOT_SUPPORTED",
            says=f"process {process.pid} is {name}",
            hint="app.py",
        )


def test_without_gdb_a_python_process_is_refused_with_another_way(cli, unique, tmp_path):
    path = unique("endless.py")
    with run_program(sys.executable, path, ready="counting") as process:
        check_refused(
            cli,
            "attach",
            str(process.pid),
            exit=5,
            code="ADAPTER_NOT_FOUND",
            says="gdb is needed to enter a running process",
            hint="python -m debugpy --listen",
            env={"PATH": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)},
        )


@pytest.mark.adapter("debugpy", "gdb")
def test_where_gdb_is_not_on_the_path_a_python_process_is_entered_by_the_installed_one(
    cli, unique, tmp_path
):
    path = unique("endless.py")
    with run_program(sys.executable, path, ready="counting") as process:
        installed = tmp_path / "debugger-cli/adapters/gdb/gdb"
        installed.parent.mkdir(parents=True)
        installed.write_text(f'#!/bin/sh\nexec {require_tool("gdb")} "$@"\n')
        installed.chmod(0o755)
        alone = {"PATH": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
        cli("attach", str(process.pid), "--pause", check=0, env=alone)
        assert int(print_value(cli, "1 + 1")) == 2
        cli("detach", check=0)
        assert process_state(process.pid) in {"R", "S"}


@lldb
def test_a_process_is_held_by_one_session_only(cli, unique):
    with run_program(unique("endless.c"), ready="counting") as process:
        cli("attach", str(process.pid), "--session", "first", check=0)
        words = ("attach", str(process.pid), "--session", "second")
        says = f"the session first debugs process {process.pid} already"
        check_refused(cli, *words, exit=4, code="WRONG_STATE", says=says, hint="debugger use first")
        cli("detach", check=0)


@lldb
def test_a_process_that_another_debugger_traces_is_refused_and_left_as_it_was(cli):
    # It lets itself be traced by us, its parent: PTRACE_TRACEME is request 0.
    code = "import ctypes, sys; ctypes.CDLL(None).ptrace(0, 0, 0, 0); print('traced', flush=True)"
    with run_program(sys.executable, "-c", f"{code}; sys.stdin.read()", ready="traced") as process:
        words = ("attach", str(process.pid), "--adapter", "lldb-dap")
        says = f"is traced by process {os.getpid()} "
        check_refused(cli, *words, exit=1, code="DENIED", says=says, hint=str(os.getpid()))
        assert process_state(process.pid) == "S"
        assert find_tracer(process.pid) == os.getpid()
        assert answer_data(cli("--json", "sessions", check=0))["sessions"] == []


def test_what_is_no_process_is_refused(cli):
    usage = {"exit": 2, "code": "USAGE"}
    check_refused(cli, "attach", "app", **usage, says="not a process number", hint="--name app")
    check_refused(cli, "attach", **usage, says="attach to what?", hint="--core FILE PROGRAM")
    check_refused(cli, "attach", "--name", "a", "--core", "b", **usage, says="one thing")
    for pid in (0, -1, 2**40):
        check_refused(cli, "attach", str(pid), exit=1, code="NOT_FOUND", says=f"no process {pid}")


def test_the_debuggers_own_daemon_is_refused(cli, runtime_dir):
    cli("sessions", check=0)
    daemon = answer_data(cli("--json", "daemon", "status", check=0))["pid"]
    words = ("attach", str(daemon))
    check_refused(cli, *words, exit=1, code="DENIED", says="a part of this debugger")
    assert find_tracer(daemon) == 0


def test_a_process_that_has_ended_is_refused(cli):
    pid = os.posix_spawn("/bin/true", ["true"], {})
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    try:
        check_refused(cli, "attach", str(pid), exit=1, code="DENIED", says="has ended")
    finally:
        os.waitpid(pid, 0)
    check_refused(cli, "attach", str(pid), exit=1, code="NOT_FOUND", says=f"no process {pid}")


@lldb
@pytest.mark.parametrize("after_s", [0.0, 0.1, 0.2, 0.4])
def test_a_process_that_ends_while_it_is_attached_to_leaves_no_session_that_lives(
    cli, unique, wait_until, after_s
):
    cli("sessions", check=0)
    with run_program(unique("endless.c"), ready="counting") as process:
        timer = threading.Timer(after_s, process.kill)
        timer.start()
        answer = cli("attach", str(process.pid), "--pause", "--timeout", "10")
        timer.join()
        process.wait(60)
        assert answer.exit in {0, 1}, str(answer)
        if answer.exit == 1:
            assert answer.err.startswith("error: "), str(answer)

        def no_session_lives() -> bool:
            listed = answer_data(cli("--json", "sessions", check=0))["sessions"]
            return all(one["state"] == "terminated" for one in listed)

        wait_until(no_session_lives)


@lldb
def test_a_program_whose_file_was_removed_is_debugged_by_the_processs_own_copy(cli, unique):
    path = unique("endless.c")
    with run_program(path, ready="counting") as process:
        path.unlink()
        place = marked_location("endless.c", "count")
        told = answer_data(cli("--json", "attach", str(process.pid), check=0))
        assert any(f"{path} is not there any more" in note for note in told["notes"])
        cli("break", place, check=0)
        stop = answer_data(cli("--json", "await", "--timeout", "20", check=0))
        assert (stop["session"], stop["frame"]["function"]) == (f"pid-{process.pid}", "count")
        assert int(print_value(cli, "counter")) > 0
        cli("detach", check=0)


@lldb
def test_a_program_that_was_replaced_while_it_ran_is_told_as_that(cli, unique):
    path = unique("endless.c")
    with run_program(path, ready="counting") as process:
        path.unlink()
        path.write_bytes(Path(resolve_program("loop.c")).read_bytes())
        answer = cli("attach", str(process.pid), check=0)
        assert f"{path} was replaced since the process started" in answer.out
        cli("detach", check=0)
        assert process_state(process.pid) == "R"


@lldb
@pytest.mark.adapter("gcc")
def test_the_stacks_of_a_deadlock_are_one_answer(cli, tmp_path):
    hung = debuggees.compile_into(tmp_path, EXAMPLE)
    with run_program(hung, ready="both hold one") as process:
        stop = answer_data(cli("--json", "attach", str(process.pid), "--pause", check=0))
        assert (stop["state"], stop["reason"]) == ("stopped", "pause")
        threads = answer_data(cli("--json", "backtrace", "--all", check=0))["threads"]
        line = debuggees.find_marker(EXAMPLE, "wants")
        stacks = [[one["function"] for one in thread["frames"]] for thread in threads]
        waiting = [
            (thread["frames"][at + 1]["function"], one["line"])
            for thread in threads
            for at, one in enumerate(thread["frames"])
            if one["function"] == "transfer"
        ]
        assert len(threads) == 3
        assert sorted(waiting) == [("save", line), ("spend", line)]
        assert sum("main" in stack for stack in stacks) == 1
        assert sum("pthread_mutex_lock" in " ".join(stack) for stack in stacks) == 2
        text = cli("backtrace", "--all", check=0).out
        assert text.count(f"transfer deadlock.c:{line}") == 2
        cli("detach", check=0)
        assert process_state(process.pid) == "S"


@lldb
def test_a_failed_attach_leaves_the_program_running(cli, unique, tmp_path):
    fake = tmp_path / "lldb-dap"
    fake.write_text("#!/bin/sh\nexit 3\n")
    fake.chmod(0o755)
    with run_program(unique("endless.c"), ready="counting") as process:
        config = tmp_path / "config.toml"
        config.write_text(f'[adapters.lldb-dap]\npath = "{fake}"\n')
        words = ("attach", str(process.pid), "--adapter", "lldb-dap")
        answer = cli(*words, env={"DEBUGGER_CONFIG": str(config)})
        assert answer.exit == 1, str(answer)
        assert "lldb-dap exited with 3" in answer.err
        assert (process_state(process.pid), find_tracer(process.pid)) == ("R", 0)
        assert answer_data(cli("--json", "sessions", check=0))["sessions"] == []
