"""A whole session on a C and on a Python program, in the same words."""

from __future__ import annotations

import pytest

import debuggees
from cli_commands import Cli, answer_data, marked_location, print_value, resolve_program

BOTH = [
    pytest.param("loop.c", marks=pytest.mark.adapter("lldb-dap")),
    pytest.param("loop.py", marks=pytest.mark.adapter("debugpy")),
]


def line(name: str, marker: str) -> int:
    return debuggees.find_marker(name, marker)


@pytest.mark.parametrize("name", BOTH)
def test_a_program_stops_at_a_line_and_tells_where_it_is(name: str, cli: Cli) -> None:
    stop = answer_data(
        cli(
            "--json",
            "start",
            resolve_program(name),
            "--break",
            marked_location(name, "add"),
            check=0,
        )
    )
    assert (stop["state"], stop["reason"], stop["hit_breakpoints"]) == (
        "stopped",
        "breakpoint",
        [1],
    )
    assert stop["frame"]["function"] == "sum_to"
    assert stop["frame"]["file"] == str(debuggees.find_source(name))
    assert stop["frame"]["line"] == line(name, "add")
    assert [one["line"] for one in stop["source"] if one["current"]] == [line(name, "add")]
    assert {one["name"]: one["value"] for one in stop["locals"]}["i"] == "1"
    assert [one["function"] for one in stop["stack"]][:2] == ["sum_to", "main"]


@pytest.mark.parametrize("name", BOTH)
def test_a_first_stop_is_small_and_a_repeated_one_tells_what_changed(name: str, cli: Cli) -> None:
    first = cli(
        "start", resolve_program(name), "--break", marked_location(name, "add"), check=0
    ).out
    assert first.startswith("stopped: breakpoint 1, sum_to at loop.")
    assert len(first) <= 600
    again = cli("continue", check=0).out
    assert "i=1→2" in again
    assert "stack:" not in again
    assert "step 1" in again
    assert len(again) <= 250


@pytest.mark.parametrize("name", BOTH)
def test_conditions_hit_counts_and_functions_stop_where_they_should(name: str, cli: Cli) -> None:
    cli("start", resolve_program(name), "--break", "main", check=0)
    cli("break", marked_location(name, "add"), "--condition", "i == 3", check=0)
    stop = answer_data(cli("--json", "continue", check=0))
    assert (stop["hit_breakpoints"], print_value(cli, "i")) == ([2], "3")
    cli("breakpoint", "remove", "2", check=0)
    cli("break", "calculate", "--hit-count", "2", check=0)
    stop = answer_data(cli("--json", "continue", check=0))
    assert (stop["reason"], stop["frame"]["function"]) == ("function_breakpoint", "calculate")
    # Its first hit was for i == 3, which went on.
    assert print_value(cli, "i") == "4"


@pytest.mark.parametrize("name", BOTH)
def test_steps_go_over_into_and_out_of_calls(name: str, cli: Cli) -> None:
    cli("start", resolve_program(name), "--break", marked_location(name, "call"), check=0)
    stop = answer_data(cli("--json", "step", check=0))
    assert stop["frame"]["function"] == "sum_to"
    stop = answer_data(cli("--json", "until", str(line(name, "add")), check=0))
    assert (stop["frame"]["line"], stop["reason"]) == (line(name, "add"), "goto")
    stop = answer_data(cli("--json", "step", check=0))
    assert stop["frame"]["function"] == "calculate"
    stop = answer_data(cli("--json", "finish", check=0))
    assert stop["frame"]["function"] == "sum_to"
    stop = answer_data(cli("--json", "next", "2", check=0))
    assert stop["frame"]["function"] == "sum_to"
    listed = answer_data(cli("--json", "breakpoint", "list", check=0))["breakpoints"]
    assert [one["id"] for one in listed] == [1], "until leaves nothing behind"


@pytest.mark.parametrize("name", BOTH)
def test_a_local_that_is_set_changes_the_output_and_the_exit_status_is_told(
    name: str, cli: Cli
) -> None:
    cli("start", resolve_program(name), "--break", marked_location(name, "print"), check=0)
    changed = answer_data(cli("--json", "set", "scale", "10", check=0))
    assert (changed["name"], changed["previous"], changed["value"]) == ("scale", "1", "10")
    end = answer_data(cli("--json", "continue", check=0))
    assert (end["reason"], end["exit_code"], end["signal"]) == ("exit", 3, None)
    assert any(one["text"].startswith("sum 550") for one in end["output"])
    again = cli("continue")
    assert again.exit == 4
    assert "the program has ended" in again.err


@pytest.mark.parametrize("name", BOTH)
def test_a_logpoint_prints_and_goes_on_and_a_temporary_breakpoint_goes_away(
    name: str, cli: Cli
) -> None:
    cli("start", resolve_program(name), "--break", "main", check=0)
    cli("break", marked_location(name, "add"), "--log", "at {i}", check=0)
    cli("break", marked_location(name, "print"), "--temporary", check=0)
    stop = answer_data(cli("--json", "continue", check=0))
    assert stop["hit_breakpoints"] == [3]
    logged = [
        one["text"] for one in answer_data(cli("--json", "events", "--kind", "logpoint"))["events"]
    ]
    assert logged == [f"at {i}" for i in range(1, 6)]
    listed = answer_data(cli("--json", "breakpoint", "list", check=0))["breakpoints"]
    assert [one["id"] for one in listed] == [1, 2]


@pytest.mark.parametrize("name", BOTH)
def test_restart_keeps_arguments_and_breakpoints(name: str, cli: Cli) -> None:
    cli(
        "start", resolve_program(name), "--break", marked_location(name, "done"), "--", "2", check=0
    )
    cli("breakpoint", "disable", "1", check=0)
    cli("break", marked_location(name, "start"), check=0)
    stop = answer_data(cli("--json", "restart", check=0))
    assert (stop["hit_breakpoints"], stop["frame"]["line"]) == ([2], line(name, "start"))
    assert print_value(cli, "n") == "2"
    end = answer_data(cli("--json", "continue", check=0))
    assert end["exit_code"] == 3


@pytest.mark.parametrize("name", BOTH)
def test_frames_arguments_and_the_output_are_looked_at(name: str, cli: Cli) -> None:
    cli("start", resolve_program(name), "--break", marked_location(name, "return"), check=0)
    assert answer_data(cli("--json", "args", check=0))["variables"][0]["name"] == "i"
    up = answer_data(cli("--json", "up", check=0))
    assert (up["frame"]["index"], up["frame"]["function"]) == (1, "sum_to")
    assert print_value(cli, "n") == "5"
    down = answer_data(cli("--json", "down", check=0))
    assert down["frame"]["index"] == 0
    frames = answer_data(cli("--json", "backtrace", "--locals", check=0))["frames"]
    assert [one["function"] for one in frames][:3] == ["calculate", "sum_to", "main"]
    assert any(one["name"] == "n" for one in frames[1]["locals"])
    assert [one["text"] for one in answer_data(cli("--json", "output"))["lines"]] == ["step 1"]
    assert answer_data(cli("--json", "output"))["lines"] == []
    assert [one["text"] for one in answer_data(cli("--json", "output", "--all"))["lines"]] == [
        "step 1"
    ]


@pytest.mark.adapter("lldb-dap", "debugpy")
def test_several_sessions_live_at_once_and_one_is_current(cli: Cli) -> None:
    cli("start", resolve_program("loop.c"), "--break", marked_location("loop.c", "add"), check=0)
    cli(
        "--session",
        "py",
        "start",
        resolve_program("loop.py"),
        "--break",
        marked_location("loop.py", "add"),
        check=0,
    )
    listed = answer_data(cli("--json", "sessions", check=0))
    assert [one["session"] for one in listed["sessions"]] == ["loop", "py"]
    assert listed["current"] == "py"
    cli("use", "loop", check=0)
    assert answer_data(cli("--json", "status", check=0))["adapter"] == "lldb-dap"
    assert print_value(cli, "i") == "1"
    cli("--session", "py", "continue", check=0)
    assert answer_data(cli("--json", "--session", "py", "print", "i"))["value"] == "2"
    assert print_value(cli, "i") == "1"
    assert cli("stop", "--all", check=0).out.startswith("ended:")
    assert cli("status").exit == 4


@pytest.mark.parametrize("name", BOTH)
def test_until_stops_at_its_line_whatever_breakpoint_is_there_and_keeps_it(
    name: str, cli: Cli
) -> None:
    cli("start", resolve_program(name), "--break", "main", check=0)
    cli("break", marked_location(name, "add"), "--condition", "i == 3", check=0)
    stop = answer_data(cli("--json", "until", marked_location(name, "add"), check=0))
    assert (stop["reason"], print_value(cli, "i")) == ("goto", "1")
    stop = answer_data(cli("--json", "continue", check=0))
    assert (stop["hit_breakpoints"], print_value(cli, "i")) == ([2], "3")
