"""Core files: inspected like a stop, and nothing can be resumed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import debuggees
from cli_commands import answer_data, print_value
from refused_commands import check_refused
from running_programs import dump_core, run_program

pytestmark = [
    pytest.mark.adapter("lldb-dap"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the core files are ELF"),
]
PROGRAM = "crash.c"


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    return dump_core(debuggees.build_debuggee(PROGRAM), tmp_path_factory.mktemp("core"))


def test_a_core_file_is_stopped_at_the_crash_with_the_users_frame_and_locals(cli, core):
    stop = answer_data(
        cli("--json", "attach", "--core", core, debuggees.build_debuggee(PROGRAM), check=0)
    )
    assert (stop["state"], stop["reason"], stop["signal"]) == ("stopped", "signal", "SIGSEGV")
    frame = stop["frame"]
    line = debuggees.find_marker(PROGRAM, "crash")
    assert (frame["function"], frame["line"]) == ("list_pop", line)
    assert next(one for one in stop["source"] if one["current"])["line"] == line
    shown = {one["name"]: one["value"] for one in stop["locals"]}
    assert shown["value"] == "0"
    assert int(shown["first"].split()[0], 16) == 0
    stack = answer_data(cli("--json", "backtrace", check=0))["frames"]
    names = [one["function"] for one in stack[:4]]
    assert names == ["list_pop", "drain", "run", "main"]
    cli("frame", "1", check=0)
    assert print_value(cli, "total + i") == "63"
    told = answer_data(cli("--json", "status", check=0))
    # The process is gone, and its number may be another's by now.
    assert (told["state"], told["pid"]) == ("stopped", None)
    assert cli("detach", check=0).out.startswith("ended: crash")


@pytest.mark.parametrize(
    "with_", [("--adapter", "lldb-dap"), ("--adapter", "codelldb"), ("--backend", "lldb-cli")]
)
def test_nothing_is_read_through_a_null_pointer_of_a_core_file(cli, core, with_):
    cli("attach", "--core", core, debuggees.build_debuggee(PROGRAM), *with_, check=0)
    for expression in ("first->value", "(long)first->value", "*first"):
        told = cli("print", expression, check=1)
        assert "null pointer" in told.err or "no memory" in told.err, str(told)
    assert print_value(cli, "first == 0 || first->value") == "true"
    cli("stop", check=0)


@pytest.mark.adapter("gdb-cli")
def test_a_core_file_of_a_process_that_ran_holds_no_crash(cli, tmp_path):
    program = debuggees.build_debuggee("endless.c")
    with run_program(program, ready="counting") as process:
        words = ("gcore", "-o", tmp_path / "core", str(process.pid))
        subprocess.run(words, check=True, capture_output=True)
    core = tmp_path / f"core.{process.pid}"
    says = cli("crash", "--core", core, program, check=1).err
    assert "no crash: no signal had ended the process that the core file is of" in says
    assert f"hint: debugger attach --core {core}, then debugger backtrace --all" in says


def test_the_program_is_known_from_the_core_file(cli, core):
    stop = answer_data(cli("--json", "attach", "--core", core.name, cwd=core.parent, check=0))
    assert stop["frame"]["function"] == "list_pop"
    told = answer_data(cli("--json", "status", check=0))
    assert os.path.samefile(told["program"], debuggees.build_debuggee(PROGRAM))
    cli("stop", check=0)


def test_a_core_file_does_not_run(cli, core):
    cli("attach", "--core", core, check=0)
    before = cli("backtrace", check=0).out
    says = "a core file does not run"
    for words in (
        ("continue",),
        ("continue", "--no-wait"),
        ("next",),
        ("step",),
        ("next", "3"),
        ("finish",),
        ("until", "main"),
        ("step", "--into", "main"),
        ("jump", str(debuggees.find_marker(PROGRAM, "crash"))),
        ("pause",),
        ("restart",),
        ("input", "x"),
    ):
        check_refused(cli, *words, exit=4, code="WRONG_STATE", says=says, hint="debugger backtrace")
    assert cli("backtrace", check=0).out == before
    assert answer_data(cli("--json", "breakpoint", "list", check=0))["breakpoints"] == []


def test_a_core_file_that_is_cut_off_is_shown_with_a_warning(cli, core, tmp_path):
    cut = tmp_path / "cut"
    whole = core.read_bytes()
    cut.write_bytes(whole[: len(whole) // 4])
    answer = cli("--json", "attach", "--core", cut, debuggees.build_debuggee(PROGRAM), check=0)
    stop = answer_data(answer)
    missing = len(whole) - len(whole) // 4
    assert any(f"is cut off: {missing} bytes are missing" in note for note in stop["notes"])
    assert stop["signal"] == "SIGSEGV"
    assert stop["stack"][0]["function"] == "list_pop"


def test_a_core_file_of_another_program_is_refused_and_says_whose_it_is(cli, core, tmp_path):
    other = debuggees.build_debuggee("loop.c")
    own = str(debuggees.build_debuggee(PROGRAM))
    missing = {"exit": 1, "code": "NOT_FOUND"}
    says = (f"not a core file of {other}", f"but of {own}")
    check_refused(cli, "attach", "--core", core, other, **missing, says=says, hint=own)
    rebuilt = tmp_path / "crash"
    rebuilt.write_bytes(debuggees.build_debuggee(PROGRAM, debug=False).read_bytes())
    says = f"another build of {own}"
    check_refused(cli, "attach", "--core", core, rebuilt, **missing, says=says, hint=own)


def test_what_is_no_core_file_is_refused_and_says_what_it_is(cli, core, tmp_path):
    missing = {"exit": 1, "code": "NOT_FOUND"}
    (tmp_path / "empty").touch()
    for name, says in (
        (tmp_path / "nosuch", "no such file"),
        (tmp_path, "is a directory"),
        (tmp_path / "empty", "is empty"),
        (debuggees.find_source(PROGRAM), "is not an ELF file"),
        (debuggees.build_debuggee(PROGRAM), "no core file"),
    ):
        check_refused(
            cli, "attach", "--core", name, debuggees.build_debuggee(PROGRAM), **missing, says=says
        )
    words = ("attach", "--core", core, tmp_path / "nosuch")
    check_refused(cli, *words, **missing, says="no such file", hint="--core")
    unable = {"exit": 1, "code": "NOT_SUPPORTED", "says": "reads no core files"}
    check_refused(cli, "attach", "--core", core, "--adapter", "debugpy", **unable, hint="--core")
    assert answer_data(cli("--json", "sessions", check=0))["sessions"] == []


def test_a_renamed_program_is_known_by_its_build(cli, core, tmp_path):
    renamed = tmp_path / "renamed"
    renamed.write_bytes(debuggees.build_debuggee(PROGRAM).read_bytes())
    stop = answer_data(cli("--json", "attach", "--core", core, renamed, check=0))
    assert stop["frame"]["function"] == "list_pop"
