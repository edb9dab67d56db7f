"""What `start` means is found in the caller's directory and environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from debugger.errors import DebuggerError, ErrorCode
from debugger.targets.launch_target import (
    LaunchRequest,
    default_file,
    look_in_directory,
    prepare_launch,
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text("print()\n")
    return tmp_path


def executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def launch_request(home: Path, **more: Any) -> LaunchRequest:
    return LaunchRequest(
        **{"cwd": str(home), "env": {"PATH": os.defpath}, "program": "app.py", **more}
    )


def refused(home: Path, **more: Any) -> DebuggerError:
    with pytest.raises(DebuggerError) as found:
        prepare_launch(launch_request(home, **more))
    assert found.value.hint
    return found.value


def test_a_script_is_found_in_the_callers_directory(home):
    launch, adapter = prepare_launch(launch_request(home))
    assert (launch.program, launch.cwd) == (str(home / "app.py"), str(home))
    assert adapter.name == "debugpy"
    assert default_file(launch) == launch.program


def test_a_script_is_found_in_the_directory_to_run_in_or_else_in_the_callers(home):
    inner = home / "inner"
    inner.mkdir()
    (inner / "tool.py").write_text("print()\n")
    (home / "words.txt").write_text("")
    for program, folder in (("tool.py", inner), ("app.py", home)):
        request = look_in_directory(
            launch_request(home, program=program, changed_cwd="inner", stdin="words.txt")
        )
        launch, _ = prepare_launch(request)
        assert (launch.program, launch.cwd) == (str(folder / program), str(inner))
        assert launch.stdin == str(home / "words.txt")


def test_an_installed_command_runs_with_the_python_that_it_names(home):
    own = executable(home / "venv" / "bin" / "python3")
    script = executable(home / "venv" / "bin" / "serve")
    active = {"PATH": str(executable(home / "bin" / "python3").parent)}
    for line, python in (
        (f"#!{own}", own),
        ("#!/usr/bin/env python3", home / "bin" / "python3"),
        (f"#!{own}-gone", home / "bin" / "python3"),
    ):
        script.write_text(f"{line}\nimport serving\n")
        launch, _ = prepare_launch(launch_request(home, program=str(script), env=active))
        assert launch.python == str(python)
    named = {"python": str(home / "bin" / "python3"), "program": str(script), "env": active}
    assert prepare_launch(launch_request(home, **named))[0].python == named["python"]


def test_a_module_takes_every_word_as_its_own(home):
    launch, adapter = prepare_launch(
        launch_request(home, module="pkg", program="a", args=("-b", "c"))
    )
    assert (launch.program, launch.module, launch.args) == (None, "pkg", ("a", "-b", "c"))
    assert adapter.name == "debugpy"
    assert default_file(launch) is None


def test_a_module_is_for_python_only(home):
    error = refused(home, module="pkg", adapter="lldb-dap")
    assert error.code is ErrorCode.LAUNCH_FAILED
    assert "Python module pkg" in error.message


def test_python_is_the_virtual_environments_then_the_paths(home):
    venv = executable(home / "venv/bin/python")
    on_path = executable(home / "bin/python3")
    env = {"PATH": str(home / "bin"), "VIRTUAL_ENV": str(home / "venv")}
    assert prepare_launch(launch_request(home, env=env))[0].python == str(venv)
    assert prepare_launch(launch_request(home, env={"PATH": str(home / "bin")}))[0].python == str(
        on_path
    )
    assert (
        prepare_launch(launch_request(home, env={"PATH": "/nonexistent"}))[0].python
        == sys.executable
    )
    broken = {"PATH": str(home / "bin"), "VIRTUAL_ENV": "/nonexistent"}
    assert prepare_launch(launch_request(home, env=broken))[0].python == str(on_path)


def test_a_relative_folder_on_the_path_is_the_callers(home):
    on_path = executable(home / "bin/python3")
    assert prepare_launch(launch_request(home, env={"PATH": "bin"}))[0].python == str(on_path)
    tool = executable(home / "bin/tool")
    tool.write_text("#!/usr/bin/env python3\n")
    launch, _ = prepare_launch(launch_request(home, env={"PATH": "bin"}, program="tool"))
    assert launch.program == str(tool)


def test_a_named_python_is_that_one_or_an_error(home):
    mine = executable(home / "py/python")
    assert prepare_launch(launch_request(home, python="py/python"))[0].python == str(mine)
    assert refused(home, python="nosuchpython").code is ErrorCode.LAUNCH_FAILED
    assert refused(home, python="./py").code is ErrorCode.LAUNCH_FAILED
    assert refused(home, python="./app.py").code is ErrorCode.LAUNCH_FAILED


def test_a_bare_name_is_here_first_and_then_on_the_path(home):
    other = executable(home / "bin/app.py")
    env = {"PATH": str(other.parent)}
    assert prepare_launch(launch_request(home, env=env))[0].program == str(home / "app.py")
    (home / "app.py").unlink()
    assert prepare_launch(launch_request(home, env=env))[0].program == str(other)


def test_a_program_that_is_not_there_names_one_that_is_near(home):
    error = refused(home, program="ap.py")
    assert error.code is ErrorCode.LAUNCH_FAILED
    assert error.message == f"no such program: {home / 'ap.py'}; there is app.py"
    assert error.hint == "debugger start app.py"
    assert "there is" not in refused(home, program="nowhere/x").message


def test_a_folder_that_cannot_be_listed_is_no_fault(home, monkeypatch):
    def deny(path):
        raise PermissionError(13, "denied", path)

    monkeypatch.setattr(os, "listdir", deny)
    assert refused(home, program="ap.py").code is ErrorCode.LAUNCH_FAILED


def test_a_directory_and_plain_text_are_refused(home):
    assert "is a directory" in refused(home, program=".").message
    (home / "text").write_text("hello\n")
    error = refused(home, program="text")
    assert error.code is ErrorCode.LAUNCH_FAILED
    assert "not executable" in error.message


@pytest.mark.timeout(60)
def test_a_fifo_is_refused_without_waiting(home):
    os.mkfifo(home / "fifo")
    assert refused(home, program="fifo").code is ErrorCode.LAUNCH_FAILED


def test_a_compiled_program_must_be_executable(home):
    (home / "prog").write_bytes(b"\x7fELF" + bytes(100))
    (home / "prog").chmod(0o644)
    error = refused(home, program="prog")
    assert (error.code, error.hint) == (ErrorCode.LAUNCH_FAILED, f"chmod u+x {home / 'prog'}")
    (home / "prog").chmod(0o755)
    assert prepare_launch(launch_request(home, program="prog"))[1].name == "lldb-dap"


def test_the_wrong_adapter_is_refused_and_the_right_one_named(home):
    error = refused(home, adapter="lldb-dap")
    assert error.hint == f"debugger start {home / 'app.py'} --adapter debugpy"


def test_the_environment_is_the_callers_with_the_changes(home):
    launch, _ = prepare_launch(launch_request(home, changed_env=("A=1", "B=", "A=x=y")))
    assert launch.env == {"PATH": os.defpath, "A": "x=y", "B": ""}
    for bad in ("A", "=1", ""):
        assert refused(home, changed_env=(bad,)).code is ErrorCode.USAGE


def test_directory_and_input_are_the_callers(home):
    (home / "sub").mkdir()
    (home / "in.txt").write_text("x")
    launch, _ = prepare_launch(launch_request(home, changed_cwd="sub", stdin="in.txt"))
    assert (launch.cwd, launch.stdin) == (str(home / "sub"), str(home / "in.txt"))
    assert refused(home, changed_cwd="nosuch").code is ErrorCode.NOT_FOUND
    assert refused(home, stdin="nosuch").code is ErrorCode.NOT_FOUND


@pytest.mark.parametrize("name", ["program", "module", "python", "stdin", "changed_cwd"])
def test_a_nul_in_a_word_is_a_usage_error(home, name):
    assert refused(home, **{name: "~a\0b"}).code is ErrorCode.USAGE
    assert refused(home, args=("a\0b",)).code is ErrorCode.USAGE


def test_no_program_is_a_usage_error(home):
    assert refused(home, program=None).code is ErrorCode.USAGE


def test_a_shim_of_python_is_the_interpreter_that_it_runs(home):
    shim = executable(home / "bin/python3")
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    launch, _ = prepare_launch(launch_request(home, program=str(shim), adapter="gdb"))
    assert launch.program == sys.executable


def test_a_folder_is_no_program_that_may_be_meant(home):
    (home / "application").mkdir()
    assert "there is" not in refused(home, program="applicatio").message
