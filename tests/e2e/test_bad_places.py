"""Breakpoints that cannot bind, and conditions that cannot be evaluated, say why."""

from __future__ import annotations

from pathlib import Path

import pytest

from debuggees import build_debuggee, find_marker, find_source
from refused_commands import check_refused

lldb = pytest.mark.adapter("lldb-dap")
python = pytest.mark.adapter("debugpy")
both = pytest.mark.parametrize(
    "name",
    [pytest.param("loop.c", marks=lldb), pytest.param("loop.py", marks=python)],
)


def program(name: str) -> Path:
    return find_source(name) if name.endswith(".py") else build_debuggee(name)


def at_main(cli, name: str) -> None:
    assert "main at loop" in cli("start", program(name), "--break", "main", check=0).out


def added(cli, *words: str) -> dict:
    return cli("break", *words, "--json", check=0).data["data"]


def to_the_end(cli) -> list[str]:
    """Continue to the end, past the SystemExit of a Python program; return what was told."""
    told = [cli("continue", check=0).out]
    if "exception SystemExit" in told[0]:
        told.append(cli("continue", check=0).out)
    assert told[-1].startswith("exited: status 3"), told
    return told


@both
def test_a_breakpoint_in_a_file_that_is_not_in_the_program_is_pending_and_says_so(cli, name):
    at_main(cli, name)
    pending = added(cli, f"nosuch{Path(name).suffix}:3")
    assert pending["verified"] is False
    assert "no such file" in pending["why_unbound"]
    assert "breakpoint 2 was never bound: no such file" in to_the_end(cli)[-1]


@both
def test_a_breakpoint_past_the_end_names_the_last_lines_with_code(cli, name):
    at_main(cli, name)
    pending = added(cli, f"{name}:999")
    assert pending["verified"] is False
    assert pending["why_unbound"] == f"no code at {name}:999"
    assert max(pending["nearest_lines"]) >= find_marker(name, "exit")
    assert f"{name}:999, pending: no code" in cli("breakpoint", "list", check=0).out


@lldb
def test_a_breakpoint_on_a_line_without_code_names_the_nearest_lines(cli):
    at_main(cli, "loop.c")
    pending = added(cli, "loop.c:1")
    assert pending["verified"] is False
    assert find_marker("loop.c", "step") in pending["nearest_lines"]


@python
def test_a_breakpoint_on_a_blank_line_of_python_moves_to_the_next_with_code(cli):
    at_main(cli, "loop.py")
    line = find_marker("loop.py", "return") + 1
    moved = added(cli, f"loop.py:{line}")
    assert moved["verified"] is True
    assert moved["requested_line"] == line
    assert moved["line"] > line


@python
def test_a_breakpoint_in_a_file_that_is_no_python_is_not_called_verified(cli):
    at_main(cli, "loop.py")
    says = "loop.c is not a Python file"
    pending = added(cli, "loop.c:6")
    assert (pending["verified"], pending["why_unbound"]) == (False, says)
    missing = {"exit": 1, "code": "NOT_FOUND", "hint": "debugger source"}
    check_refused(cli, "until", "loop.c:6", **missing, says=says)


@both
def test_an_unknown_function_is_pending_and_names_those_near_it(cli, name):
    at_main(cli, name)
    pending = added(cli, "calculat")
    assert pending["verified"] is False
    assert "no function calculat" in pending["why_unbound"]
    assert pending["near_names"][0] == "calculate"
    assert "near_names" not in added(cli, "zzzzzz")
    assert "near names: calculate" in to_the_end(cli)[-1]


NO_PLACES = [
    ("{name}:0", "no line 0"),
    ("{name}:-1", "lines are numbers from 1"),
    ("{name}:", "lines are numbers from 1"),
    ("{name}:1x", "lines are numbers from 1"),
    (":6", "lines are numbers from 1"),
    ("{name}:99999999999", "no line 99999999999"),
    ("*0xzz", "not an address"),
    ("", "not a location"),
    ("ma\nin", "not a location"),
    ("lo\x01op:6", "not a location"),
]


@both
def test_what_is_no_place_is_a_usage_error_and_no_breakpoint(cli, name):
    at_main(cli, name)
    for place, says in NO_PLACES:
        words = ("break", place.format(name=name))
        check_refused(cli, *words, exit=2, code="USAGE", says=says, hint="FILE:LINE")
        assert len(cli("breakpoint", "list", "--json", check=0).data["data"]["breakpoints"]) == 1


@lldb
def test_a_bad_option_of_a_breakpoint_is_refused(cli):
    at_main(cli, "loop.c")
    usage = {"exit": 2, "code": "USAGE"}
    check_refused(cli, "break", **usage, says="Give a LOC or --function")
    check_refused(
        cli, "break", "main", "--function", "main", **usage, says="Give a LOC or --function"
    )
    check_refused(cli, "break", "6", "--hit-count", "0", **usage, says="counts from 1, not 0")
    check_refused(cli, "break", "6", "--hit-count", "-2", **usage, says="counts from 1, not -2")
    check_refused(cli, "break", "6", "--hit-count", "x", **usage, says="not a valid integer")
    check_refused(cli, "break", "6", "-c", "i ==\n1", **usage, says="one line")
    check_refused(cli, "break", "--function", "a\x07b", **usage, says="one line")
    check_refused(cli, "breakpoint", "remove", **usage, says="Give IDs or --all")
    check_refused(cli, "breakpoint", "remove", "1", "--all", **usage, says="Give IDs or --all")
    missing = {"exit": 1, "code": "NOT_FOUND"}
    hint = "debugger breakpoint list"
    says = "no breakpoint 99; there are: 1"
    check_refused(cli, "breakpoint", "remove", "99", **missing, says=says, hint=hint)
    check_refused(cli, "breakpoint", "enable", "99", **missing, says="no breakpoint 99", hint=hint)
    words = ("break", "6", "--thread", "1")
    check_refused(cli, *words, **missing, says="no thread 1", hint="debugger threads")
    assert len(cli("breakpoint", "list", "--json", check=0).data["data"]["breakpoints"]) == 1


@lldb
def test_an_address_without_code_is_kept_and_says_so(cli):
    at_main(cli, "loop.c")
    pending = cli("break", "*0x10", check=0).out
    assert "*0x10, pending: no code at 0x10" in pending


@python
def test_an_address_is_nothing_to_stop_at_in_python(cli):
    at_main(cli, "loop.py")
    unable = {"exit": 1, "code": "NOT_SUPPORTED", "hint": "debugger break FILE:LINE"}
    check_refused(cli, "break", "*0x10", **unable, says="debugpy cannot stop at an address")
    assert len(cli("breakpoint", "list", "--json", check=0).data["data"]["breakpoints"]) == 1


@both
@pytest.mark.parametrize(
    ("condition", "c_says", "python_says"),
    [
        ("nosuch > 1", "undeclared identifier 'nosuch'", "NameError: name 'nosuch'"),
        ("i == ", "expected expression", "SyntaxError"),
    ],
)
def test_a_condition_that_cannot_be_evaluated_stops_nothing_and_is_told(
    cli, name, condition, c_says, python_says
):
    at_main(cli, name)
    assert (
        added(cli, f"{name}:{find_marker(name, 'step')}", "-c", condition)["condition"] == condition
    )
    told = to_the_end(cli)
    says = c_says if name == "loop.c" else python_says
    notes = [line for line in "".join(told).splitlines() if line.startswith("note: ")]
    assert len(notes) == 2, notes
    assert "the condition of breakpoint 2 could not be evaluated" in notes[0]
    assert says in notes[0]
    assert "5x" in notes[1], notes
    assert "debugger events --kind condition_error" in notes[1]
    found = cli("events", "--kind", "condition_error", "--json", check=0).data["data"]["events"]
    assert len(found) == 5
    assert {one["data"]["breakpoint"] for one in found} == {2}
    assert all(says in one["text"] for one in found)


@both
def test_a_condition_that_fails_while_it_runs_stops_nothing(cli, name):
    at_main(cli, name)
    fails = "1/0 == 1" if name.endswith(".py") else "*(int *)0 == 1"
    added(cli, f"{name}:{find_marker(name, 'step')}", "-c", fails)
    added(cli, f"{name}:{find_marker(name, 'done')}")
    stopped = cli("continue", check=0).out
    assert stopped.startswith("stopped: breakpoint 3, sum_to"), stopped
    assert f"the condition of breakpoint 2 could not be evaluated: {fails}: " in stopped


@lldb
def test_a_condition_that_never_ends_stops_nothing(cli):
    cli("start", build_debuggee("loopfn.c"), "--break", "main", check=0)
    added(cli, "twice", "-c", "forever()")
    ended = cli("continue", check=0).out
    assert ended.startswith("exited: status 0"), ended
    assert "breakpoint 2 could not be evaluated: forever(): it did not finish in time" in ended


CODELESS = ["nosuchfunction", "{name}:999", "nosuch{suffix}:1"]


@both
def test_a_run_to_a_place_without_code_is_refused_and_moves_nothing(cli, name):
    at_main(cli, name)
    before = cli("context", "--json", check=0).data["data"]["frame"]
    for place in CODELESS:
        words = place.format(name=name, suffix=Path(name).suffix)
        check_refused(cli, "until", words, exit=1, code="NOT_FOUND", says="cannot run to")
        assert cli("context", "--json", check=0).data["data"]["frame"] == before
