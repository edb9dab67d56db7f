"""Meaningless words are refused in the contract's form, with what was likely meant."""

from __future__ import annotations

import pytest

from cli_commands import marked_location
from debuggees import build_debuggee, find_source
from refused_commands import check_refused

lldb = pytest.mark.adapter("lldb-dap")
python = pytest.mark.adapter("debugpy")
USAGE = {"exit": 2, "code": "USAGE"}


@pytest.fixture
def stopped(cli):
    cli("start", build_debuggee("loop.c"), "--break", "calculate", check=0)
    return cli


MEANINGLESS = [
    (("contniue",), "no command 'contniue'", "debugger continue"),
    (("xyzzy",), "no command 'xyzzy'", "debugger --help"),
    (("breakpoint",), "breakpoint needs one of add", "debugger breakpoint --help"),
    (("await", "x"), "await takes no arguments", "debugger await --help"),
    (("use", "a", "b"), "use takes 1 argument, not 2", "debugger use b"),
    (("output", "x"), "takes no expression", "debugger print x"),
    (("memory", "write", "0x10"), "memory write needs BYTES", "debugger memory write --help"),
    (("setup", "--bogus"), "no option --bogus", "debugger setup --help"),
    (("path", "--", "true", "--vs"), "before and after each --vs", "debugger path -- CMD ARGS"),
    (("breakpoint", "ad"), "no command breakpoint ad", "debugger breakpoint add"),
    (("daemon", "nosuch"), "no command 'daemon nosuch'", "debugger daemon --help"),
    (("start", "./a", "--stop-on-enty"), "no option --stop-on-enty", "./a --stop-on-entry"),
    (("--nosuch", "locals"), "no option --nosuch", "debugger --help"),
    (("break", "--nosuch"), "no option --nosuch", "debugger breakpoint add --help"),
    (("break", "a.c:1", "x>3"), "a condition is an option", "debugger break a.c:1 --condition"),
    (
        ("probe", "--at", "a.c:1", "--if", "x"),
        "which expressions",
        "debugger probe --at a.c:1 EXPR",
    ),
    (("run", "3"), "run which program", "debugger start PROGRAM -- 3"),
    (("gdb", "--args", "./app", "3"), "gdb's command line", "debugger start ./app -- 3"),
    (("start", "-m"), "-m needs a value", "debugger start --help"),
    (("print",), "print needs EXPR", "debugger print --help"),
    (("vars",), "vars alone", "debugger locals"),
    (("set", "x"), "set needs VALUE", "debugger set --help"),
    (("frame", "x"), "'x' is not a valid integer", "debugger frame --help"),
    (("attach", "x"), "not a process number: 'x'", "debugger attach --name x"),
    (("--budget", "0", "sessions"), "--budget is 10 to", "debugger --budget"),
    (("sessions", "--budget", "-5"), "not -5", "debugger --budget"),
    (("--budget", "x", "sessions"), "'x' is not a valid integer", "debugger --help"),
]


def test_words_that_mean_nothing_are_refused_with_what_was_meant(cli):
    for words, says, hint in MEANINGLESS:
        check_refused(cli, *words, **USAGE, says=says, hint=hint)


@lldb
def test_options_and_values_out_of_range_are_refused(stopped):
    check_refused(stopped, "output", "--tail", "-1", **USAGE, says="--tail is 0 to")
    check_refused(stopped, "events", "--limit", "0", **USAGE, says="--limit is 1 to 500")
    check_refused(stopped, "events", "--since", "x", **USAGE, says="--since is an event's number")
    says = ("no kind of event", "condition_error")
    check_refused(stopped, "events", "--kind", "nosuch", **USAGE, says=says)
    check_refused(stopped, "input", **USAGE, says="TEXT, --file or --eof")
    check_refused(stopped, "source", "0", **USAGE, says="no line 0")
    missing = {"exit": 1, "code": "NOT_FOUND"}
    check_refused(
        stopped, "source", "loop.c:9999", **missing, says="has 25 lines", hint="loop.c:25"
    )
    check_refused(stopped, "source", "nosuch.c:3", **missing, says="cannot read nosuch.c")
    check_refused(
        stopped, "input", "--file", "/nonexistent", **missing, says="cannot read /nonexistent"
    )
    assert "i = 1" in stopped("locals", check=0).out


SEVERAL_LINES = [
    ("print", "i\n+1"),
    ("print", "i\x01"),
    ("set", "i", "1\n2"),
    ("set", "i\n", "2"),
    ("raw", "help\nversion"),
    ("raw", "help\x1b"),
    ("read", "i\n"),
    ("read", "i", "i\nversion"),
    ("read", "i", "--type", "int\nversion"),
    ("write", "i\n", "1"),
    ("write", "i", "1\nversion"),
    ("write", "0x10:i32", "1\n"),
    ("call", "calculate\n"),
    ("call", "calculate", "1", "2\nversion"),
    ("call", "calculate(1\n)"),
    ("log", "calculate", "a\nversion"),
    ("log", "calculate", "a", "--condition", "1\n"),
    ("trace", "add", "calculate", "main\nversion"),
    ("trace", "add", "@file:a.c\x1b"),
]


@lldb
def test_an_expression_of_several_lines_is_refused(stopped):
    for words in SEVERAL_LINES:
        check_refused(
            stopped, *words, **USAGE, says="one line, without control characters", hint="debugger"
        )
        assert stopped("print", "i", check=0).out == "i = 1\n"


TOO_MUCH = [
    (("trace", "add", *["main"] * 51), "1 to 50 patterns"),
    (("trace", "add", "x" * 501), "501 characters where 500 are allowed"),
    (("trace", "add", "main", "--limit", "0"), "--limit is 1 to 2000"),
    (("trace", "remove"), "IDs or --all"),
    (("read", *["i"] * 51), "1 to 50 values"),
    (("read", "i" * 4001), "4,001 characters where 4,000 are allowed"),
    (("read", "0x10:i32", "--type", "i64"), "has a type of its own"),
    (("read", "i", "--type", "1;2"), "no type '1;2'"),
    (("write", "i", "1" * 4001), "4,001 characters"),
    (("call", "calculate", *["1"] * 33), "at most 32 arguments"),
]


@lldb
def test_too_many_words_and_words_that_are_too_long_are_refused(stopped):
    for words, says in TOO_MUCH:
        check_refused(stopped, *words, **USAGE, says=says, hint="debugger")


@lldb
def test_an_empty_expression_is_refused(stopped):
    for words in (("print", ""), ("print", " ")):
        check_refused(stopped, *words, **USAGE, says="empty expression", hint="debugger print EXPR")


@lldb
def test_what_lldb_cannot_evaluate_is_told_once_in_its_own_words(stopped):
    failed = {"exit": 1, "code": "EVALUATION_FAILED", "hint": "debugger locals"}
    check_refused(
        stopped, "print", "nosuch", **failed, says="use of undeclared identifier 'nosuch'"
    )
    failed["hint"] = "debugger set 'a[0]' 'b + 1'"
    check_refused(stopped, "set", "i", "=", **failed, says="expected expression")
    told = stopped("print", "nosuch").err
    assert not told.startswith("error: error: ")
    assert "<user expression" not in told
    assert stopped("print", "i", check=0).out == "i = 1\n"


@lldb
def test_an_lldb_expression_that_loops_is_ended_and_the_session_goes_on(cli):
    cli("start", build_debuggee("loopfn.c"), "--break", "main", check=0)
    failed = {"exit": 1, "code": "EVALUATION_FAILED"}
    check_refused(cli, "print", "forever()", **failed, says="it did not finish in time")
    assert cli("print", "1+1", check=0).out == "1+1 = 2\n"


@python
def test_a_python_expression_that_loops_is_ended_and_the_session_goes_on(cli):
    cli("start", find_source("loop.py"), "--break", "calculate", check=0)
    told = cli("print", "[0 for _ in iter(int, 1)]", check=1).err
    assert "it did not finish within 10 s" in told
    assert cli("print", "1+1", check=0).out == "1+1 = 2\n"


@python
def test_what_python_cannot_evaluate_is_told_in_one_line(cli):
    cli("start", find_source("loop.py"), "--break", "calculate", check=0)
    failed = {"exit": 1, "code": "EVALUATION_FAILED", "hint": "debugger locals"}
    check_refused(cli, "print", "nosuch", **failed, says="NameError: name 'nosuch' is not defined")
    check_refused(cli, "raw", "platform shell ls", **failed, says="SyntaxError")
    assert "pydevd" not in cli("raw", "platform shell ls").err
    assert cli("print", "i", check=0).out == "i = 1\n"


@pytest.mark.adapter("gdb")
def test_an_expression_of_gdb_runs_no_shell_and_does_not_end_it(cli, tmp_path):
    made = tmp_path / "made"
    shell = f'$_shell("touch {made}")'
    program = build_debuggee("loop.c")
    cli("start", program, "--adapter", "gdb", "--break", "calculate", check=0)
    says = "an expression runs no shell: $_shell is switched off"
    assert says in cli("print", shell, check=1).err
    assert says in cli("raw", f"print {shell}", check=1).err
    assert "an empty list in braces has no value" in cli("print", "1 + { }", check=1).err
    cli("break", marked_location("loop.c", "return"), "--condition", f"{shell} == 0", check=0)
    cli("continue", check=0)
    cli("stop", check=0)
    assert says in cli("why", shell, "--at", "calculate", "--", program, check=1).err
    assert not made.exists()


SHELLS = ["platform shell true", "plat sh true", "script print(1)"]


@lldb
def test_a_debugger_command_that_runs_a_shell_or_a_script_is_denied(stopped):
    denied = {"exit": 1, "code": "DENIED", "hint": "[security] shell"}
    for command in SHELLS:
        check_refused(stopped, "raw", *command.split(), **denied, says="could run a shell")
        assert stopped("print", "i", check=0).out == "i = 1\n"


@lldb
def test_a_debugger_command_that_fails_is_a_failure(stopped):
    failed = {"exit": 1, "code": "EVALUATION_FAILED", "hint": "debugger raw help"}
    check_refused(stopped, "raw", "nosuchcommand", **failed, says="not a valid command")
    stopped("raw", "quit", check=0)
    assert stopped("print", "i", check=0).out == "i = 1\n"


@lldb
def test_debugger_commands_are_denied_where_the_configuration_says_so(stopped, runtime_dir):
    (runtime_dir / "config.toml").write_text('[security]\nraw = "deny"\n')
    denied = {"exit": 1, "code": "DENIED", "hint": "debugger config"}
    check_refused(stopped, "raw", "help", **denied, says="denied by the configuration")
    assert stopped("print", "i", check=0).out == "i = 1\n"
