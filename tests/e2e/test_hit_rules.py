"""Breakpoints of a session stop, and logpoints write, at the hits that their filter names."""

from __future__ import annotations

from pathlib import Path

import pytest

import debuggees
from cli_commands import Cli, answer_data, print_value, resolve_program

C = "counted_lines/hits.c"
BACKENDS = [
    pytest.param("counted_lines/hits.py", (3, 18), [], marks=pytest.mark.adapter("debugpy")),
    pytest.param(C, (4, 17), ["--adapter", "lldb-dap"], marks=pytest.mark.adapter("lldb-dap")),
    pytest.param(C, (4, 17), ["--adapter", "gdb"], marks=pytest.mark.adapter("gdb")),
    pytest.param("counted_lines/hits.go", (7, 22), [], marks=pytest.mark.adapter("delve")),
    pytest.param("counted_lines/hits.js", (3, 16), [], marks=pytest.mark.adapter("js-debug")),
]


def start(cli: Cli, name: str, options: list[str]) -> Path:
    program = resolve_program(name)
    answer_data(cli("--json", "start", "--stop-on-entry", *options, program, check=0, timeout=120))
    return debuggees.find_source(name)


def run_on(cli: Cli) -> tuple[str, str | None]:
    """Continue; return the state, and n where it is stopped."""
    stop = answer_data(cli("--json", "continue", check=0))
    return stop["state"], print_value(cli, "n") if stop["state"] == "stopped" else None


@pytest.mark.parametrize(("name", "lines", "options"), BACKENDS)
def test_a_breakpoint_stops_at_the_hits_that_count(
    cli: Cli, name: str, lines: tuple[int, int], options: list[str]
) -> None:
    source = debuggees.find_source(name)
    at, mark = (f"{source}:{line}" for line in lines)
    after = ["--after", f"{mark} if n == 4"]
    # A program begins with them, too.
    filtered = ["--break", at, "--nth", "2", "--in", "high", "--when", "n > 12"]
    cli("start", *options, resolve_program(name), *filtered, check=0, timeout=120)
    assert print_value(cli, "n") == "15"
    listed = answer_data(cli("--json", "breakpoint", "list", check=0))["breakpoints"]
    assert [(one["hits"], one["enabled"]) for one in listed] == [(1, False)]
    # A run that starts anew has all hits before it.
    answer_data(cli("--json", "restart", check=0, timeout=90))
    assert print_value(cli, "n") == "15"
    cli("breakpoint", "remove", "--all", check=0)
    cli("break", at, check=0)
    answer_data(cli("--json", "restart", check=0, timeout=90))
    cli("breakpoint", "remove", "--all", check=0)
    cli("break", at, "--first", "2", *after, check=0)
    assert run_on(cli) == ("stopped", "5")
    assert run_on(cli) == ("stopped", "15")
    assert run_on(cli) == ("terminated", None)


@pytest.mark.adapter("debugpy")
def test_skipped_hits_are_counted_and_reported(cli: Cli) -> None:
    source = start(cli, "counted_lines/hits.py", [])
    cli("break", f"{source}:3", "--nth", "3", "--in", "high", check=0)
    stopped = cli("continue", check=0).out
    assert "8 hits of breakpoint 1 skipped before (--nth 3 --in high)" in stopped
    assert "8 hits skipped" in cli("breakpoint", "list", check=0).out
    cli("break", f"{source}:7", "--in", "high", check=0)
    # None of them counts: that is said at the end.
    ended = cli("continue", check=0).out
    assert "breakpoint 2 (--in high): 6 hits, none reported" in ended


@pytest.mark.adapter("debugpy")
def test_until_runs_to_the_hit_that_counts(cli: Cli) -> None:
    source = start(cli, "counted_lines/hits.py", [])
    cli("until", f"{source}:3", "--nth", "2", "--in", "high", check=0)
    assert print_value(cli, "n") == "13"
    cli("until", f"{source}:3", "--when", "n == 9", check=0)
    assert print_value(cli, "n") == "9"


@pytest.mark.adapter("debugpy")
def test_a_logpoint_writes_what_the_filter_lets_pass(cli: Cli) -> None:
    source = start(cli, "counted_lines/hits.py", [])
    cli("log", f"{source}:3", "big={n > 10}", "--changes", "--first", "3", check=0)
    cli("continue", check=0)
    events = answer_data(cli("--json", "events", "--kind", "logpoint", check=0))["events"]
    assert [one["text"] for one in events] == ["big=False", "big=True", "big=False"]


@pytest.mark.adapter("debugpy")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["break", "3", "--last", "2"], "the program's future is not known"),
        (["break", "3", "--nth", "last"], "cannot count hits from the last one"),
        (["break", "3", "--changes"], "a breakpoint has no values to compare"),
        (["log", "3", "{n}", "--in", "high"], "a logpoint does not show its callers"),
        (["until", "3", "--first", "2"], "it stops once"),
        (["break", "3", "--nth", "2", "--first", "2"], "exclude each other"),
    ],
)
def test_what_a_live_command_cannot_take_is_refused(
    cli: Cli, words: list[str], message: str
) -> None:
    start(cli, "counted_lines/hits.py", [])
    answer = cli(*words)
    assert answer.exit
    assert message in answer.err
    assert "\nhint: " in answer.err


@pytest.mark.parametrize(("name", "lines", "options"), BACKENDS)
def test_the_first_breakpoint_of_a_session_may_have_a_condition(
    cli: Cli, name: str, lines: tuple[int, int], options: list[str]
) -> None:
    program, source = resolve_program(name), debuggees.find_source(name)
    stop = answer_data(
        cli("--json", "start", "--break", f"{source}:{lines[0]} if n == 15", *options, program,
            check=0, timeout=120)
    )  # fmt: skip
    assert (stop["state"], print_value(cli, "n")) == ("stopped", "15")
    assert run_on(cli) == ("terminated", None)
