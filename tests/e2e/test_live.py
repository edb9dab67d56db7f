"""Live debugging by the command line: reading and changing a running program."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass
from typing import Any

import pytest

from cli_commands import answer_data, marked_location, print_value
from debuggees import build_debuggee, find_marker, find_source
from refused_commands import check_refused

pytestmark = pytest.mark.adapter("frida")
_LOCAL = "Local variable writes require a paused breakpoint."


@dataclass(frozen=True)
class Language:
    """The same program in a language: its names as a user writes them."""

    file: str
    function: str
    inner: str
    counter: str
    bonus: str
    argument: int = 0


C = Language("live.c", "work", "twice", "counter", "bonus")
CPP = Language(
    "live.cpp", "shop::Till::work", "twice", "shop::counter._M_i", "shop::bonus", argument=1
)
RUST = Language("live.rs", "live::work", "twice", "live::COUNTER.v.value", "live::BONUS")
every_language = pytest.mark.parametrize("live", [C, CPP, RUST], ids=lambda one: one.file)


def start(cli: Any, live: Language, *words: str, program: tuple[str, ...] = ()) -> dict[str, Any]:
    asked = ("--json", "start", build_debuggee(live.file), "--backend", "frida", *words)
    return answer_data(cli(*asked, "--", *program, check=0))


def stopped(cli: Any, live: Language, mark: str, *words: str) -> dict[str, Any]:
    stop = start(cli, live, "--break", marked_location(live.file, mark), *words)
    assert stop["frame"]["line"] == find_marker(live.file, mark)
    return stop


def goes_on(cli: Any, *words: str) -> dict[str, Any]:
    return answer_data(cli("--json", *(words or ("continue",)), check=0))


def ends(cli: Any) -> str:
    """Let the program run without breakpoints, and return what it prints at its end."""
    cli("breakpoint", "remove", "--all", check=0)
    stop = goes_on(cli)
    assert (stop["state"], stop["exit_code"]) == ("terminated", 0), stop
    return str(stop["output"][-1]["text"])


def read(cli: Any, *names: str) -> list[str]:
    return [one["value"] for one in answer_data(cli("--json", "read", *names, check=0))["values"]]


def forever(cli: Any, live: Language = C) -> None:
    """Start the program that runs on, and return while it does."""
    start(cli, live, "--break", marked_location(live.file, "call"), program=("forever",))
    cli("breakpoint", "remove", "--all", check=0)
    assert goes_on(cli, "continue", "--no-wait")["state"] == "running"


# -- the eleven ------------------------------------------------------------------------------------


@every_language
def test_a_breakpoint_at_a_functions_entry_stops_at_each_call(cli, live):
    stop = start(cli, live, "--break", live.function)
    assert stop["frame"]["function"].endswith(live.function.rpartition("::")[2])
    assert read(cli, live.counter) == ["0"]
    assert goes_on(cli)["state"] == "stopped"
    assert read(cli, live.counter) == ["3"]
    assert ends(cli) == "counter 120"


@every_language
def test_a_breakpoint_at_a_line_stops_there_and_locals_are_read(cli, live):
    stopped(cli, live, "after")
    assert read(cli, "result", "n") == ["2", "1"]
    assert ends(cli) == "counter 120"


@every_language
def test_a_condition_over_arguments_stops_only_where_it_holds(cli, live):
    start(cli, live, "--stop-on-entry")
    condition = f"args[{live.argument}] > 5"
    cli("break", live.function, "--condition", condition, check=0)
    seen = []
    while (stop := goes_on(cli))["state"] == "stopped":
        seen.append(print_value(cli, "n"))
    assert seen == ["6", "7", "8", "9", "10"]
    assert stop["exit_code"] == 0


@every_language
def test_a_condition_over_names_stops_only_where_it_holds(cli, live):
    start(cli, live, "--stop-on-entry")
    cli("break", marked_location(live.file, "after"), "--condition", "n > 8 && result > 0", check=0)
    goes_on(cli)
    assert read(cli, "n") == ["9"]
    goes_on(cli)
    assert read(cli, "n") == ["10"]
    assert goes_on(cli)["exit_code"] == 0


@every_language
def test_a_hit_count_stops_from_that_hit_on(cli, live):
    start(cli, live, "--stop-on-entry")
    cli("break", marked_location(live.file, "after"), "--hit-count", "3", check=0)
    goes_on(cli)
    assert read(cli, "n") == ["3"]
    assert ends(cli) == "counter 120"


@every_language
def test_a_logpoint_writes_to_the_timeline_and_does_not_stop(cli, live):
    start(cli, live, "--stop-on-entry")
    cli(
        "log",
        marked_location(live.file, "after"),
        "n={n} result={result}",
        "--condition",
        "n > 7",
        check=0,
    )
    assert goes_on(cli)["exit_code"] == 0
    events = answer_data(cli("--json", "events", "--kind", "logpoint", check=0))["events"]
    assert [one["text"] for one in events] == ["n=8 result=16", "n=9 result=18", "n=10 result=20"]


@every_language
def test_a_step_over_goes_to_the_next_line(cli, live):
    stopped(cli, live, "call")
    stop = goes_on(cli, "next")
    assert (stop["reason"], stop["frame"]["line"]) == ("step", find_marker(live.file, "after"))


@every_language
def test_a_step_into_goes_to_the_callees_first_line(cli, live):
    stopped(cli, live, "call")
    stop = goes_on(cli, "step")
    assert stop["frame"]["function"].endswith(live.inner)
    assert stop["frame"]["line"] == find_marker(live.file, "inner")


@every_language
def test_a_step_out_goes_back_to_the_caller(cli, live):
    stopped(cli, live, "inner")
    stop = goes_on(cli, "finish")
    assert stop["frame"]["function"].endswith(live.function.rpartition("::")[2])
    assert stop["frame"]["line"] in {
        find_marker(live.file, "call"),
        find_marker(live.file, "after"),
    }


@every_language
def test_a_global_that_is_written_is_seen_by_the_program(cli, live):
    stopped(cli, live, "call")
    told = answer_data(cli("--json", "write", live.bonus, "100", check=0))
    assert (told["previous"], told["value"]) == ("1", "100")
    assert ends(cli) == "counter 1110"


@every_language
def test_a_local_that_is_written_changes_what_the_next_line_does(cli, live):
    stopped(cli, live, "after")
    told = answer_data(cli("--json", "write", "result", "50", check=0))
    assert (told["previous"], told["value"]) == ("2", "50")
    goes_on(cli, "next")
    assert read(cli, "result") == ["51"]
    assert ends(cli) == "counter 168"


@every_language
def test_two_threads_stop_each_on_its_own_and_go_on_each_by_itself(cli, live, wait_until):
    first = start(cli, live, "--break", marked_location(live.file, "after"), program=("threads",))
    numbers = {read(cli, "n")[0]}

    def both_wait() -> bool:
        return len(answer_data(cli("--json", "status", check=0))["paused_threads"]) == 2

    wait_until(both_wait, what="both threads to wait")
    states = answer_data(cli("--json", "threads", check=0))["threads"]
    assert sorted(one["state"] for one in states) == ["running", "stopped", "stopped"]
    for one in states:
        assert one.get("breakpoints") == ([1] if one["state"] == "stopped" else None)
        assert (one.get("stopped_s", -1) >= 0) is (one["state"] == "stopped")
    assert ": running" in cli("threads", check=0).out
    second = goes_on(cli)
    assert second["thread"] != first["thread"]
    numbers.add(read(cli, "n")[0])
    assert numbers == {"100", "101"}
    assert ends(cli) == "counter 404"


# -- while it runs ---------------------------------------------------------------------------------


@every_language
def test_globals_are_read_while_the_program_runs(cli, live, wait_until):
    forever(cli, live)
    before = int(read(cli, live.counter)[0])
    wait_until(lambda: int(read(cli, live.counter)[0]) > before, what="the counter to grow")
    assert answer_data(cli("--json", "status", check=0))["state"] == "running"


def test_a_global_that_is_written_is_seen_by_the_program_that_runs(cli, wait_until):
    forever(cli)
    told = answer_data(cli("--json", "write", "bonus", "1000000", check=0))
    assert (told["previous"], told["value"]) == ("1", "1000000")
    wait_until(lambda: int(read(cli, "counter")[0]) > 1000000, what="the counter to leap")
    cli("write", "go", "0")  # after which it may have ended before the answer
    assert answer_data(cli("--json", "await", "--timeout", "20", check=0))["exit_code"] == 0


def test_what_is_at_an_address_is_read_and_written_while_the_program_runs(cli):
    forever(cli)
    address = re.findall("0x[0-9a-f]+", read(cli, "&bonus")[0])[0]
    told = answer_data(cli("--json", "write", f"{address}:i32", "7", check=0))
    assert (told["previous"], told["value"]) == ("1", "7")
    assert read(cli, f"{address}:i32", "bonus") == ["7", "7"]


def test_functions_are_traced_by_a_pattern_while_the_program_runs(cli, wait_until):
    forever(cli)
    told = answer_data(cli("--json", "trace", "add", "twic*", "work", check=0))
    assert {name for one in told["traced"] for name in one["names"]} == {"twice", "work"}

    def entered() -> list[dict[str, Any]]:
        asked = ("--json", "events", "--kind", "function_enter", "--function", "twice")
        return answer_data(cli(*asked, check=0))["events"]

    wait_until(entered, what="a call of twice")
    assert "twice" in entered()[0]["text"]
    assert cli("trace", "list", check=0).out.startswith("trace 1: twic*, 1 function (twice)\n")
    assert answer_data(cli("--json", "trace", "remove", "--all", check=0))["removed"] == [1, 2]
    assert cli("trace", "list", check=0).out == "nothing is traced\n"


def test_a_pattern_that_matches_nothing_says_which_names_are_near(cli):
    forever(cli)
    told = answer_data(cli("--json", "trace", "add", "wrok", check=0))["traced"][0]
    assert told["functions"] == 0
    assert told["why"]
    assert "work" in told["near_names"]


def test_a_function_of_the_program_is_called_where_it_is_paused(cli):
    stopped(cli, C, "call")
    assert answer_data(cli("--json", "call", "twice", "n + 20", check=0))["value"] == "42"
    assert answer_data(cli("--json", "call", "twice(4)", check=0))["value"] == "8"
    cli("breakpoint", "remove", "--all", check=0)
    assert ends(cli) == "counter 120"
    check_refused(cli, "call", "twice", "1", exit=4, code="PROGRAM_EXITED", hint="debugger restart")


def test_all_threads_are_paused_at_once_and_shown(cli):
    start(cli, C, "--break", marked_location("live.c", "worker"), program=("threads",))
    assert ": running" in cli("threads", check=0).out
    assert "running" in cli("backtrace", "--all", check=0).out
    cli("pause", "--all", check=0)
    states = {one["state"] for one in answer_data(cli("--json", "threads", check=0))["threads"]}
    assert states == {"stopped"}
    assert ends(cli) == "counter 404"


# -- the table of errors ---------------------------------------------------------------------------


def test_a_line_without_code_is_told_with_the_nearest_that_have_some(cli):
    start(cli, C, "--stop-on-entry")
    line = find_marker("live.c", "inner") - 3
    told = answer_data(cli("--json", "break", f"{find_source('live.c')}:1", check=0))
    assert not told["verified"]
    assert told["nearest_lines"]
    assert "nearest lines" in cli("break", f"{find_source('live.c')}:{line}", check=0).out


def test_a_condition_that_fails_is_an_event_and_the_program_goes_on(cli):
    start(cli, C, "--stop-on-entry")
    cli("break", marked_location("live.c", "after"), "--condition", "*(int *)0 == n", check=0)
    assert goes_on(cli)["exit_code"] == 0
    told = answer_data(cli("--json", "events", "--kind", "condition_error", check=0))["events"]
    assert told
    assert told[0]["line"] == find_marker("live.c", "after")


def test_an_optimised_local_is_not_written(cli, tmp_path):
    program, file = tmp_path / "optimised", find_source("optimised.c")
    compiler = shutil.which("gcc") or "cc"
    subprocess.run([compiler, "-g", "-O2", "-o", program, file], check=True)
    cli(
        "start",
        program,
        "--backend",
        "frida",
        "--break",
        marked_location("optimised.c", "late"),
        check=0,
    )
    says = "Variable 't' is optimized out at this PC. Recompile with -O0."
    check_refused(cli, "write", "t", "1", exit=1, code="EVALUATION_FAILED", says=says)


def test_a_local_is_not_written_while_nothing_is_paused(cli):
    forever(cli)
    wrong = {"exit": 4, "code": "WRONG_STATE", "hint": "debugger pause"}
    check_refused(cli, "write", "doubled", "1", **wrong, says=_LOCAL)
    check_refused(cli, "call", "twice", "1", **wrong, says="the program is running")


def test_a_program_that_is_killed_while_it_is_paused_is_told(cli, wait_until):
    stopped(cli, C, "call")
    os.kill(answer_data(cli("--json", "status", check=0))["pid"], signal.SIGKILL)

    def status() -> dict[str, Any]:
        return answer_data(cli("--json", "status", check=0))

    wait_until(lambda: status()["state"] == "terminated", what="its end")
    assert status()["signal"] == "SIGKILL"


def test_a_breakpoint_is_removed_under_the_thread_that_waits_at_it(cli):
    stopped(cli, C, "after")
    cli("breakpoint", "remove", "1", check=0)
    assert read(cli, "n") == ["1"]
    assert ends(cli) == "counter 120"


def test_a_breakpoint_where_there_is_no_code_says_so(cli):
    start(cli, C, "--stop-on-entry")
    told = answer_data(cli("--json", "break", "*0x10", check=0))
    assert not told["verified"]
    assert told["why_unbound"]
