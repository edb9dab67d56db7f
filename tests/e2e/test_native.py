"""Real C, C++ and Rust programs: crashes, threads, values, ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import debuggees
from cli_commands import Cli, answer_data, marked_location, print_value, start_program

pytestmark = pytest.mark.adapter("lldb-dap")


def test_a_crash_tells_signal_address_and_the_frame_that_did_it(cli: Cli) -> None:
    stop = start_program(cli, "crash.c")
    assert (stop["reason"], stop["signal"]) == ("signal", "SIGSEGV")
    assert "0x0" in (stop["description"] or "")
    assert (stop["frame"]["function"], stop["frame"]["line"]) == (
        "list_pop",
        debuggees.find_marker("crash.c", "crash"),
    )
    assert {one["name"]: one["value"] for one in stop["locals"]}["first"] in {"0x0", "nullptr"}
    assert [one["function"] for one in stop["stack"]][:4] == ["list_pop", "drain", "run", "main"]
    end = answer_data(cli("--json", "continue", check=0))
    assert (end["exit_code"], end["signal"]) == (None, "SIGSEGV")


def test_an_abort_is_shown_in_the_users_frame(cli: Cli) -> None:
    stop = start_program(cli, "exits.c", "--", "abort")
    assert (stop["signal"], stop["frame"]["function"]) == ("SIGABRT", "main")
    assert stop["frame"]["index"] > 0
    assert stop["frame"]["line"] == debuggees.find_marker("exits.c", "abort")
    text = cli("context", check=0).out
    assert "SIGABRT" in text.splitlines()[0]


@pytest.mark.parametrize("status", ["0", "1", "77"])
def test_an_exit_status_is_told_as_it_is(status: str, cli: Cli) -> None:
    end = start_program(cli, "exits.c", "--", status)
    assert (end["reason"], end["exit_code"], end["signal"]) == ("exit", int(status), None)


def test_a_death_by_a_signal_is_told_as_one(cli: Cli) -> None:
    stop = start_program(cli, "exits.c", "--", "term")
    assert stop["signal"] == "SIGTERM"
    end = answer_data(cli("--json", "continue", check=0))
    assert (end["exit_code"], end["signal"]) == (None, "SIGTERM")


def test_threads_are_listed_with_their_names_and_stacks(cli: Cli) -> None:
    start_program(cli, "threads.c", "--break", marked_location("threads.c", "all_alive"))
    threads = answer_data(cli("--json", "threads", check=0))["threads"]
    assert {one["name"] for one in threads} >= {"reader", "parser", "writer", "logger"}
    assert sum(one["current"] for one in threads) == 1
    stacks = answer_data(cli("--json", "backtrace", "--all", check=0))["threads"]
    assert len(stacks) == 5
    other = next(one["id"] for one in threads if not one["current"])
    chosen = answer_data(cli("--json", "thread", str(other), check=0))
    assert chosen["thread"] == other
    refused = cli("thread", "999999")
    assert (refused.exit, "no thread 999999" in refused.err) == (1, True)


def test_cpp_values_are_readable(cli: Cli) -> None:
    start_program(cli, "values.cpp", "--break", marked_location("values.cpp", "ready"))
    assert print_value(cli, "numbers").startswith("size=200 {0, 1, 4, 9, 16")
    assert "size=3" in print_value(cli, "ages")
    assert '"hello"' in print_value(cli, "text")
    assert "x:7" in print_value(cli, "owned").replace(" ", "") or "x = 7" in print_value(
        cli, "owned"
    )
    page = answer_data(cli("--json", "print", "numbers", check=0))
    assert page["children_total"] == 200
    part = answer_data(cli("--json", "vars", page["ref"], "--from", "198", "--count", "5", check=0))
    assert [one["value"] for one in part["variables"]] == [str(198**2), str(199**2)]
    stale = page["ref"]
    cli("next", check=0)
    refused = cli("--json", "vars", stale)
    assert (refused.exit, refused.data["error"]["code"]) == (1, "STALE_REF")


def test_cpp_functions_are_named_without_their_arguments(cli: Cli) -> None:
    stop = start_program(cli, "values.cpp", "--break", marked_location("values.cpp", "throw"))
    assert [one["function"] for one in stop["stack"]][:3] == ["parse", "parse_or", "main"]
    caught = answer_data(
        cli("--json", "until", str(debuggees.find_marker("values.cpp", "catch")), check=0)
    )
    assert caught["frame"]["function"] == "parse_or"
    stop = answer_data(cli("--json", "finish", check=0))
    assert stop["frame"]["function"] == "main"


def test_finish_shows_what_was_returned(cli: Cli) -> None:
    start_program(cli, "loop.c", "--break", marked_location("loop.c", "return"))
    stop = answer_data(cli("--json", "finish", check=0))
    assert stop["returned"]["value"] == "1"


def test_an_uncaught_cpp_exception_is_a_stop(cli: Cli) -> None:
    stop = start_program(cli, "uncaught.cpp")
    assert stop["signal"] == "SIGABRT"
    assert stop["frame"]["file"] == str(debuggees.find_source("uncaught.cpp"))


def test_rust_values_and_names_are_readable(cli: Cli) -> None:
    stop = start_program(cli, "panic.rs", "--break", marked_location("panic.rs", "panic"))
    assert stop["frame"]["function"] == "panic::pick"
    answer_data(cli("--json", "up", check=0))
    text = cli("locals", check=0).out
    assert "size=5" in text
    assert '"grace"' in text
    assert "(lldb)" not in text
    cli("next", check=0)
    lines = answer_data(cli("--json", "output", "--all", check=0))["lines"]
    assert not any("Breakpoint" in one["text"] for one in lines)  # LLDB's own words


def test_a_rust_panic_can_be_stopped_at_and_ends_with_101(cli: Cli) -> None:
    stop = start_program(cli, "panic.rs", "--break", "rust_panic")
    assert stop["frame"]["file"] == str(debuggees.find_source("panic.rs"))
    end = answer_data(cli("--json", "continue", check=0))
    assert end["exit_code"] == 101
    lines = answer_data(cli("--json", "output", "--all", check=0))["lines"]
    assert any("index out of bounds" in one["text"] for one in lines if one["stream"] == "stderr")


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(words, id=words[1], marks=pytest.mark.adapter(needs))
        for words, needs in (
            (("--adapter", "lldb-dap"), "lldb-dap"),
            (("--adapter", "codelldb"), "codelldb"),
            (("--adapter", "gdb"), "gdb"),
            (("--backend", "lldb-cli"), "lldb-cli"),
        )
    ],
)
def test_an_expression_that_ends_the_program_is_told_as_its_end(
    cli: Cli, words: tuple[str, ...]
) -> None:
    start_program(cli, "loop.c", *words, "--break", "calculate")
    refused = cli("--json", "print", "(int)exit(3)", check=4)
    assert refused.data["error"]["message"] == "the program ended while the expression ran"
    assert answer_data(cli("--json", "status", check=0))["exit_code"] == 3


def test_the_end_by_a_rust_panic_says_how_to_stop_at_it(cli: Cli) -> None:
    end = start_program(cli, "panic.rs")
    (note,) = end["notes"]
    assert note.startswith("a panic ended it (panic.rs:26:5: index out of bounds")
    assert note.endswith("): debugger break rust_panic, then debugger restart")
    cli("break", "rust_panic", check=0)
    stop = answer_data(cli("--json", "restart", check=0))
    assert stop["frame"]["file"] == str(debuggees.find_source("panic.rs"))
    assert answer_data(cli("--json", "continue", check=0))["notes"] == []


def test_a_program_reads_what_it_is_sent(cli: Cli, wait_until: Callable[..., Any]) -> None:
    start_program(cli, "stdin.c", "--no-wait")
    cli("input", "hello there", check=0)

    def lines() -> list[str]:
        return [one["text"] for one in answer_data(cli("--json", "output", "--all"))["lines"]]

    wait_until(lambda: "HELLO THERE" in lines(), what="the echo")
    cli("input", "--eof", check=0)
    end = answer_data(cli("--json", "await", check=0))
    assert end["exit_code"] == 0
    assert lines()[-1] == "1 lines"


def test_standard_output_and_error_are_told_apart(cli: Cli) -> None:
    start_program(cli, "output.c", "--", "unfinished", "3", "both")
    lines = answer_data(cli("--json", "output", "--all", check=0))["lines"]
    assert {one["stream"] for one in lines} == {"stdout", "stderr"}


def test_pause_and_status_answer_while_the_program_runs(cli: Cli) -> None:
    assert cli("start", str(debuggees.build_debuggee("endless.c")), "--timeout", "0.2").exit == 3
    assert answer_data(cli("--json", "status", check=0))["state"] == "running"
    assert cli("locals").exit == 4
    assert cli("next").exit == 4
    assert cli("await", "--timeout", "0.1").exit == 3
    stop = answer_data(cli("--json", "pause", check=0))
    assert (stop["reason"], stop["state"]) == ("pause", "stopped")
    assert cli("stop", check=0).out == "ended: endless\n"
