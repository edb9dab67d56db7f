"""Real Go programs: panics, goroutines, values, tests, builds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import debuggees
from cli_commands import Cli, answer_data, marked_location, print_value

pytestmark = pytest.mark.adapter("delve")

MODULE = debuggees.PROGRAMS / "gomod"


def start(cli: Cli, program: Path | str, *options: str) -> dict[str, Any]:
    path = program if isinstance(program, Path) else debuggees.build_debuggee(program)
    return answer_data(cli("--json", "start", path, *options, check=0))


def where(stop: dict[str, Any]) -> tuple[str, int]:
    return stop["frame"]["function"], stop["frame"]["line"]


PANICS = {
    "index": (
        "runtime.boundsError",
        "runtime error: index out of range [5] with length 3",
        "main.pick",
    ),
    "nil": (
        "runtime.errorString",
        "runtime error: invalid memory address or nil pointer dereference",
        "main.balance",
    ),
    "error": ("*errors.errorString", "nothing to parse", "main.main"),
    "struct": ("*main.refused", "refused with 7: too late", "main.main"),
    "text": (
        "panic",
        "a plain text that is rather long, so that a debugger may cut it: text, to the end",
        "main.main",
    ),
}


@pytest.mark.parametrize("how", PANICS)
def test_a_panic_tells_its_type_and_message_and_the_users_frame(cli: Cli, how: str) -> None:
    kind, message, function = PANICS[how]
    stop = start(cli, "panic.go", "--", how)
    assert stop["reason"] == "exception"
    assert (stop["exception"]["type"], stop["exception"]["message"]) == (kind, message)
    assert where(stop) == (function, debuggees.find_marker("panic.go", how))
    end = answer_data(cli("--json", "continue", check=0))
    assert end["exit_code"] == 2


def test_a_deadlock_is_shown_where_the_goroutine_waits(cli: Cli) -> None:
    stop = start(cli, "deadlock.go")
    assert stop["exception"]["message"] == "all goroutines are asleep - deadlock!"
    assert where(stop) == ("main.receive", debuggees.find_marker("deadlock.go", "receive"))


def test_goroutines_are_listed_by_number_and_function(cli: Cli) -> None:
    stop = start(cli, "threads.go", "--break", marked_location("threads.go", "all_alive"))
    threads = answer_data(cli("--json", "threads", check=0))["threads"]
    names = {one["id"]: one["name"] for one in threads}
    assert len(names) == 5
    assert names[stop["thread"]] == f"goroutine {stop['thread']} main.work"


def test_a_step_that_another_goroutines_breakpoint_interrupted_has_to_end_first(cli: Cli) -> None:
    places = [
        "--break",
        marked_location("threads.go", "all_alive"),
        "--break",
        marked_location("threads.go", "waits"),
    ]
    stop = start(cli, "threads.go", *places)
    for _ in range(8):
        before = stop["thread"]
        answer = cli("--json", "next")
        if not answer.data["ok"]:
            break
        stop = answer_data(answer)
        is_pending = stop["reason"] == "breakpoint" and stop["thread"] != before
        if stop["state"] != "stopped" or not is_pending:
            pytest.skip("the goroutines ran one after the other this time")
    assert answer.data["error"]["code"] == "WRONG_STATE"
    assert "debugger continue" in answer.data["error"]["hint"]
    assert answer_data(cli("--json", "continue", check=0))["reason"] in {"breakpoint", "step"}


def test_values_are_read_called_and_set(cli: Cli) -> None:
    start(cli, "values.go", "--break", marked_location("values.go", "ready"))
    assert print_value(cli, "small") == "255"
    assert print_value(cli, "kind") == "green (1)"
    assert print_value(cli, "owned").startswith("0x")
    assert print_value(cli, "owned").endswith(" {X: 8, Y: 9}")
    assert print_value(cli, "bump(10)") == "16"
    assert print_value(cli, "divide(17, 5)") == "3, 2"
    for target, new in (("owned.X", "99"), ("numbers[150]", "-1"), ("text", '"new"')):
        cli("set", target, new, check=0)
        assert print_value(cli, target) == new
    long = print_value(cli, "longText[9990:10003]")
    assert long == '"yyyyyyyyyyend"'


def test_a_long_string_comes_whole(cli: Cli) -> None:
    start(cli, "values.go", "--break", marked_location("values.go", "ready"))
    assert print_value(cli, "longText") == '"' + "y" * 10_000 + 'end"'


def test_what_a_function_returned_is_told_when_it_is_left(cli: Cli) -> None:
    start(cli, "values.go", "--break", marked_location("values.go", "divide"))
    stop = answer_data(cli("--json", "finish", check=0))
    assert stop["returned"]["value"] == "3, 2"
    assert stop["frame"]["function"] == "main.main"


def test_results_of_each_kind_are_shown_where_a_function_is_left(cli: Cli) -> None:
    functions = ("both", "pt", "fl", "sl", "an", "nl", "gn")
    places = [word for one in functions for word in ("--break", f"main.{one}")]
    start(cli, "results.go", *places)
    returned = []
    for _ in functions:
        returned.append(answer_data(cli("--json", "finish", check=0))["returned"]["value"])
        cli("continue")
    assert returned[0] == '8, "4", error(*errors.errorString) *{s: "bad"}'
    assert returned[1].endswith(' {X: 3, Name: "pt"}, error nil')
    assert returned[2:4] == [
        "2.5, 1.25, true",
        '[]int len: 2, [5,2], []P len: 1, [{X: 1, Name: "a"}]',
    ]
    assert returned[4].startswith('any(int) 7, error(*fs.PathError) *{Op: "open"')
    assert returned[5] == "*P nil, []int nil, error nil"
    assert returned[6] == "[]K len: 1, elements not read"


def test_a_watched_map_is_said_to_be_watched_for_another_one_alone(cli: Cli) -> None:
    start(cli, "results.go", "--break", "main.st")
    cli("up", check=0)
    assert "what is put into this one is not watched" in cli("watch", "k", check=0).out
    assert "is not watched" not in cli("watch", "m", check=0).out


def test_a_method_of_a_value_is_meant_by_its_name_and_not_the_pointers(cli: Cli) -> None:
    # Go makes main.(*Code).Error of it, which delve counts as another function of that name.
    stopped = start(cli, "results.go", "--break", "Code.Error")
    assert stopped["frame"]["function"] == "main.Code.Error"


def test_a_named_result_is_not_shown_before_it_has_a_value(cli: Cli) -> None:
    start(cli, "results.go", "--break", "main.both")
    assert "q" not in [
        one["name"] for one in answer_data(cli("--json", "locals", check=0))["variables"]
    ]
    assert "q has no value yet" in cli("print", "q", check=1).err
    cli("next", check=0)
    assert print_value(cli, "q") == "0"


def test_a_line_without_a_statement_names_those_near_by(cli: Cli) -> None:
    start(cli, "loop.go", "--break", marked_location("loop.go", "step"))
    bound = answer_data(cli("--json", "break", "loop.go:13", check=0))
    assert not bound["verified"]
    assert bound["nearest_lines"] == [10, 11, 12, 15]
    near = answer_data(cli("--json", "break", "calcluate", check=0))["near_names"]
    assert near == ["main.calculate"]


def test_a_module_is_built_and_nothing_is_left_in_it(cli: Cli) -> None:
    before = sorted(MODULE.rglob("*"))
    stop = start(cli, MODULE / "main.go", "--break", "shapes.Square.Area")
    assert stop["frame"]["function"] == "shapes.Square.Area"
    assert sorted(MODULE.rglob("*")) == before
    end = answer_data(cli("--json", "continue", check=0))
    assert end["exit_code"] == 0
    assert sorted(MODULE.rglob("*")) == before


def test_tests_are_debugged_in_their_own_folder(cli: Cli) -> None:
    tests = MODULE / "shapes" / "shapes_test.go"
    options = ("--break", marked_location("gomod/shapes/shapes_test.go", "test"))
    stop = start(cli, tests, *options, "--", "-run", "TestArea", "-v")
    assert stop["frame"]["function"] == "shapes.TestArea"
    end = answer_data(cli("--json", "continue", check=0))
    assert any("PASS: TestArea" in line["text"] for line in end["output"])
    assert start(cli, MODULE / "shapes")["exit_code"] == 0


def test_the_entry_is_the_programs_own_main(cli: Cli) -> None:
    stop = start(cli, MODULE, "--stop-on-entry")
    assert (stop["reason"], stop["frame"]["function"]) == ("entry", "main.main")
    stop = answer_data(cli("--json", "next", check=0))
    assert stop["frame"]["line"] == debuggees.find_marker(MODULE / "main.go", "main")


def test_a_program_that_does_not_build_says_the_compilers_lines(cli: Cli, tmp_path: Path) -> None:
    program = tmp_path / "main.go"
    program.write_text("package main\n\nfunc main() {\n\tmissing()\n}\n")
    answer = cli("start", program)
    assert answer.exit == 1
    assert "the program does not build" in answer.err
    assert "main.go:4:2: undefined: missing" in answer.err
    assert [one.name for one in tmp_path.iterdir()] == ["main.go"]


def test_a_panic_that_is_recovered_can_be_caught_by_its_type(cli: Cli) -> None:
    start(cli, "panic.go", "--stop-on-entry", "--", "recovers")
    cli("catch", "raised", "refused", check=0)
    cli("catch", "raised", "mishap", check=0)
    stop = answer_data(cli("--json", "continue", check=0))
    assert stop["reason"] == "exception"
    assert where(stop) == ("main.protected", debuggees.find_marker("panic.go", "caught"))
