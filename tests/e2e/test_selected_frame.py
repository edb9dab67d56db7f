"""Steps are of the frame that is shown: the selected one, and the user's after a pause."""

from __future__ import annotations

import pytest

from cli_commands import Cli, answer_data, marked_location, start_program

_WAYS = [
    ("nested.c", "--adapter", "lldb-dap"),
    ("nested.c", "--adapter", "codelldb"),
    ("nested.c", "--adapter", "gdb"),
    ("nested.c", "--backend", "lldb-cli"),
    ("nested.c", "--backend", "frida"),
    ("nested.py", "--adapter", "debugpy"),
    ("nested.js", "--adapter", "js-debug"),
]
_ways = pytest.mark.parametrize("way", _WAYS, ids=["-".join((one[0], one[2])) for one in _WAYS])


@_ways
def test_finish_leaves_the_selected_frame_also_in_a_recursion(cli: Cli, way) -> None:
    program, *chosen = way
    start_program(cli, program, *chosen, "--break", marked_location(program, "deepest"))
    assert answer_data(cli("--json", "frame", "1", check=0))["frame"]["function"] == "down"
    stop = answer_data(cli("--json", "finish", check=0))
    assert (stop["reason"], stop["frame"]["function"]) == ("step", "down")
    assert {one["name"]: one["value"] for one in stop["locals"]}["n"] == "2"
    assert stop["returned"]["value"] == "1"


@pytest.mark.parametrize("way", _WAYS[:4], ids=[one[2] for one in _WAYS[:4]])
def test_continue_does_not_end_in_a_step_that_a_breakpoint_interrupted(cli: Cli, way) -> None:
    program, *chosen = way
    start_program(cli, program, *chosen, "--break", marked_location(program, "calls"))
    cli("breakpoint", "add", marked_location(program, "deepest"), check=0)
    assert answer_data(cli("--json", "next", check=0))["reason"] == "breakpoint"
    assert answer_data(cli("--json", "continue", check=0))["reason"] == "exit"


@pytest.mark.parametrize("way", _WAYS[:5], ids=[one[2] for one in _WAYS[:5]])
def test_after_a_pause_in_a_library_next_is_of_the_users_frame(cli: Cli, way) -> None:
    _, *chosen = way
    start_program(cli, "sleeps.c", *chosen, "--break", marked_location("sleeps.c", "naps"))
    cli("breakpoint", "remove", "--all", check=0)
    cli("continue", "--no-wait", check=0)
    stop = answer_data(cli("--json", "pause", check=0))
    assert stop["frame"]["index"] > 0
    stepped = answer_data(cli("--json", "next", check=0))
    assert (stepped["reason"], stepped["frame"]["index"]) == ("step", 0)
    assert stepped["frame"]["function"] == stop["frame"]["function"]
