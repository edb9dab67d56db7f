"""Errors of `start` name the fault, and the next command works."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from debuggees import build_debuggee, find_source
from refused_commands import check_refused

lldb = pytest.mark.adapter("lldb-dap")
python = pytest.mark.adapter("debugpy")
LAUNCH = {"exit": 1, "code": "LAUNCH_FAILED"}


def no_session_is_left(cli) -> None:
    assert cli("sessions", "--json", check=0).data["data"]["sessions"] == []


def test_a_program_that_does_not_exist_is_refused(cli, tmp_path):
    says = ("no such program", str(tmp_path / "nosuch"))
    check_refused(
        cli, "start", "./nosuch", **LAUNCH, says=says, hint="debugger start", cwd=tmp_path
    )
    no_session_is_left(cli)


def test_a_misspelt_program_names_the_one_beside_it_by_its_folder(cli, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "server.py").write_text("print(1)\n")
    hint = "debugger start bin/server.py"
    check_refused(
        cli, "start", "bin/servr.py", **LAUNCH, says="there is server.py", hint=hint, cwd=tmp_path
    )


def test_a_directory_is_no_program(cli, tmp_path):
    check_refused(cli, "start", tmp_path, **LAUNCH, says="is a directory", hint="debugger start -m")


def test_a_text_file_is_no_program(cli, tmp_path):
    (tmp_path / "notes.txt").write_text("hello\n")
    check_refused(
        cli, "start", "notes.txt", **LAUNCH, says="not executable", hint="--adapter", cwd=tmp_path
    )
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    words = ("probe", "--at", "a.c:1", "1", "--", "./a.c")
    hint = f"debugger probe --at a.c:1 1 -- {tmp_path}/a (made by gcc -g -O0 {tmp_path}/a.c"
    check_refused(cli, *words, **LAUNCH, says="is a source file", hint=hint, cwd=tmp_path)


@lldb
def test_a_compiled_program_without_the_right_to_run_says_how_to_give_it(cli, tmp_path):
    program = tmp_path / "loop"
    shutil.copy(build_debuggee("loop.c"), program)
    program.chmod(0o600)
    check_refused(
        cli, "start", program, **LAUNCH, says="is not executable", hint=f"chmod u+x {program}"
    )
    program.chmod(0o700)
    assert "exited: status 3" in cli("start", program, check=0).out


@lldb
def test_a_file_that_only_begins_like_a_program_is_refused_by_the_debugger(cli, tmp_path):
    program = tmp_path / "short"
    program.write_bytes(b"\x7fELF")
    program.chmod(0o700)
    check_refused(
        cli, "start", program, **LAUNCH, says="not a valid executable", hint="debugger doctor"
    )
    no_session_is_left(cli)


@lldb
def test_a_program_without_debug_information_runs_and_says_why_nothing_was_bound(cli):
    program = build_debuggee("loop.c", debug=False)
    ended = cli("start", program, "--break", "main", "--break", "loop.c:6", check=0)
    assert "exited: status 3" in ended.out
    assert "breakpoint 1 was never bound: no function main" in ended.out
    assert ended.out.count("no debug information: compile it with -g") == 2, str(ended)


@lldb
def test_a_breakpoint_in_a_program_without_debug_information_says_why_at_once(cli):
    cli("start", build_debuggee("loop.c", debug=False), "--stop-on-entry", check=0)
    for place in ("sum_to", "loop.c:6"):
        added = cli("break", place, "--json", check=0).data["data"]
        assert added["verified"] is False
        assert "compile it with -g" in added["why_unbound"]
    assert "exited: status 3" in cli("continue", check=0).out


@pytest.mark.parametrize(
    ("program", "adapter", "better"),
    [("loop.c", "debugpy", "lldb-dap"), ("loop.py", "lldb-dap", "debugpy")],
)
def test_the_wrong_adapter_for_a_program_names_the_right_one(cli, program, adapter, better):
    path = build_debuggee(program) if program.endswith(".c") else find_source(program)
    words = ("start", path, "--adapter", adapter)
    check_refused(cli, *words, **LAUNCH, says=f"{adapter} cannot debug", hint=f"--adapter {better}")


def test_an_unknown_adapter_or_backend_names_the_known_ones(cli):
    usage = {"exit": 2, "code": "USAGE"}
    start = ("start", find_source("loop.py"))
    says = "no adapter 'debugpi'; there are: "
    check_refused(
        cli, *start, "--adapter", "debugpi", **usage, says=says, hint="did you mean debugpy?"
    )
    check_refused(cli, *start, "--backend", "nosuch", **usage, says=("no backend 'nosuch'", "dap"))


def test_an_adapter_that_is_not_where_the_configuration_says_exits_with_5(cli, runtime_dir):
    (runtime_dir / "config.toml").write_text('[adapters.lldb-dap]\npath = "/nonexistent/lldb"\n')
    missing = {"exit": 5, "code": "ADAPTER_NOT_FOUND"}
    check_refused(
        cli,
        "start",
        build_debuggee("loop.c"),
        **missing,
        says="/nonexistent/lldb",
        hint="debugger config",
    )


def test_a_program_without_an_adapter_here_exits_with_5(cli, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    (tmp_path / "script.rb").write_text("puts 1\n")
    missing = {"exit": 5, "code": "ADAPTER_NOT_FOUND", "hint": "debugger setup rdbg --yes"}
    check_refused(cli, "start", "script.rb", **missing, says="rdbg is not installed", cwd=tmp_path)


def test_an_adapter_that_ends_at_once_is_no_reason_to_restart(cli, runtime_dir):
    (runtime_dir / "config.toml").write_text('[adapters.lldb-dap]\npath = "/bin/true"\n')
    died = {"exit": 1, "code": "ADAPTER_DIED", "hint": "debugger doctor"}
    check_refused(cli, "start", build_debuggee("loop.c"), **died, says="exited with 0")
    no_session_is_left(cli)


NO_PYTHONS = ["/nonexistent/python", "nosuchpython", "/tmp"]


def test_a_python_that_does_not_exist_is_refused(cli):
    for named in NO_PYTHONS:
        words = ("start", find_source("loop.py"), "--python", named)
        check_refused(cli, *words, **LAUNCH, says=("no such Python", named), hint="--python PATH")


@python
def test_a_program_that_is_no_python_is_refused_before_anything_waits_for_it(cli, tmp_path):
    true = shutil.which("true")
    words = ("start", find_source("loop.py"), "--python", true)
    check_refused(cli, *words, **LAUNCH, says=f"{true} is not a Python", hint="--python PATH")
    shim = tmp_path / "python3.99"
    shim.write_text("#!/bin/sh\necho 'no version 3.99 is installed' >&2\nexit 127\n")
    shim.chmod(0o755)
    says = f"{shim} is not a Python: no version 3.99 is installed"
    words = ("start", find_source("loop.py"), "--python", shim)
    check_refused(cli, *words, **LAUNCH, says=says, hint="--python PATH")
    no_session_is_left(cli)


@python
def test_a_syntax_error_is_told_with_its_file_and_line(cli):
    # It never ran: there is no frame of its own to stop in, and the end tells all.
    ended = cli("start", find_source("syntax_error.py"), check=0)
    assert "exited: status 1" in ended.out
    assert 'syntax_error.py", line 4' in ended.out
    assert "SyntaxError: " in ended.out


@python
def test_a_python_module_that_does_not_exist_is_told(cli):
    assert "No module named nosuchmodule" in cli("start", "-m", "nosuchmodule", check=0).out


BAD_OPTIONS = [
    (("--cwd", "/nonexistent"), "NOT_FOUND", 1, "no such directory: /nonexistent"),
    (("--stdin", "/nonexistent"), "NOT_FOUND", 1, "cannot read /nonexistent"),
    (("--stdin", "/tmp"), "NOT_FOUND", 1, "cannot read /tmp"),
    (("--env", "NAME"), "USAGE", 2, "--env expects KEY=VALUE, not 'NAME'"),
    (("--env", "=value"), "USAGE", 2, "--env expects KEY=VALUE"),
    (("--timeout", "-1"), "USAGE", 2, "not -1"),
    (("--timeout", "1e99"), "USAGE", 2, "from 0 to 86400"),
    (("--timeout", "nan"), "USAGE", 2, "not nan"),
    (("--timeout", "soon"), "USAGE", 2, "'soon' is not a valid float"),
    (("--break", ""), "USAGE", 2, "not a location"),
    (("--session", "-x"), "USAGE", 2, "not a session's name"),
    (("--session", "a\nb"), "USAGE", 2, "not a session's name"),
]


def test_a_bad_option_of_start_is_refused_and_starts_nothing(cli):
    for words, code, exit_code, says in BAD_OPTIONS:
        check_refused(
            cli, "start", find_source("loop.py"), *words, exit=exit_code, code=code, says=says
        )
        no_session_is_left(cli)
    words = ("start", find_source("loop.py"), "--when", "i > 2")
    hint = "--break LOC --when 'i > 2'"
    check_refused(cli, *words, exit=2, code="USAGE", says="which is missing", hint=hint)


@pytest.mark.parametrize("verb", ["crash", "test"])
def test_a_question_names_itself_where_what_it_was_given_is_bad(cli, verb):
    words = ("--", shutil.which("python3"), "-m", "pytest")
    for option, says, hint in (
        (("--env", "NAME"), "--env expects KEY=VALUE, not 'NAME'", "--help"),
        (("--cwd", "/nonexistent"), "no such directory: /nonexistent", "--cwd DIRECTORY"),
        (("--stdin", "/nonexistent"), "cannot read /nonexistent", "--stdin FILE"),
    ):
        answer = cli(verb, *option, *words)
        assert answer.exit in {1, 2}
        assert says in answer.err
        assert f"hint: debugger {verb} {hint}" in answer.err
    no_session_is_left(cli)


def test_start_without_a_program_asks_for_one(cli):
    check_refused(
        cli, "start", exit=2, code="USAGE", says="which program?", hint="debugger start PROG"
    )


@lldb
def test_a_wait_of_no_time_at_all_says_that_the_program_still_runs(cli):
    running = cli("start", build_debuggee("endless.c"), "--timeout", "0")
    assert running.exit == 3, str(running)
    assert running.out.startswith("running: no stop within 0 s")
    assert "debugger pause" in running.out


BROKEN = [
    ('[defaults]\nadaptr = "x"\n', ("unknown key 'defaults.adaptr'", "'adapter'")),
    ('[securty]\nraw = "deny"\n', ("unknown key 'securty'", "'security'")),
    ('[adapters.gdb]\npth = "x"\n', ("unknown key 'adapters.gdb.pth'", "'path'")),
    ('[timeouts]\ndap_request_secs = "soon"\n', ("timeouts.dap_request_secs",)),
    ("[timeouts]\nawait_default_secs = -1\n", ("await_default_secs must be above 0",)),
    ('[security]\nraw = "maybe"\n', ("security.raw",)),
    ("[timeouts\n", ("line 1",)),
    ("defaults = 3\n", ("defaults",)),
]


def test_a_broken_configuration_is_named_with_what_is_wrong(cli, runtime_dir):
    file = runtime_dir / "config.toml"
    usage = {"exit": 2, "code": "USAGE", "hint": "debugger config --path"}
    for text, says in BROKEN:
        file.write_text(text)
        check_refused(cli, "sessions", **usage, says=(str(file), *says))
        file.unlink()
        cli("sessions", check=0)


def test_a_configured_adapter_that_is_none_is_not_passed_over(cli, runtime_dir):
    (runtime_dir / "config.toml").write_text('[defaults]\nadapter = "lldb-dp"\n')
    usage = {"exit": 2, "code": "USAGE"}
    check_refused(
        cli, "start", find_source("loop.py"), **usage, says="no adapter 'lldb-dp'", hint="lldb-dap"
    )


@pytest.mark.parametrize("kind", ["open to others", "a symbolic link", "not a directory"])
def test_a_runtime_directory_that_is_not_ours_alone_is_not_used(cli, tmp_path, kind):
    place = tmp_path / "runtime"
    if kind == "not a directory":
        place.write_text("")
    elif kind == "a symbolic link":
        (tmp_path / "own").mkdir(mode=0o700)
        place.symlink_to(tmp_path / "own")
    else:
        place.mkdir()
        place.chmod(0o777)
    env = {"DEBUGGER_RUNTIME_DIR": str(place)}
    check_refused(
        cli, "status", exit=1, code="DENIED", says=kind, hint="DEBUGGER_RUNTIME_DIR", env=env
    )
    assert not [*Path(place).glob("*")], "something was put there"


@pytest.mark.adapter("lldb-dap")
def test_xcodebuildmcps_variables_bound_requests_and_log_them(cli):
    bound = "XCODEBUILDMCP_DAP_REQUEST_TIMEOUT_MS"
    failed = cli("start", build_debuggee("loop.c"), env={bound: "soon"}, check=2)
    assert f"{bound} is a number of milliseconds above 0, not 'soon'" in failed.err
    cli("start", build_debuggee("loop.c"), env={"XCODEBUILDMCP_DAP_LOG_EVENTS": "1"}, check=0)
    assert '"command":"configurationDone"' in cli("daemon", "logs", check=0).out.replace(" ", "")
