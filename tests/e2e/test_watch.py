"""Watchpoints and catchpoints stop at writes, reads and throws."""

from __future__ import annotations

import pytest

import debuggees
from cli_commands import Cli, answer_data, marked_location, start_program

pytestmark = pytest.mark.adapter("lldb-dap")


def watch(cli: Cli, *words: str) -> dict[str, object]:
    return answer_data(cli("--json", "watch", *words, check=0))


def test_a_write_is_told_with_both_values_and_the_writer(cli: Cli) -> None:
    start_program(cli, "corrupt.cpp", "--break", marked_location("corrupt.cpp", "before"))
    added = watch(cli, "accounts[1].balance")
    assert (added["kind"], added["expression"], added["value"]) == (
        "watchpoint",
        "accounts[1].balance",
        "50",
    )
    stop = answer_data(cli("--json", "continue", check=0))
    assert (stop["reason"], stop["hit_breakpoints"]) == ("watchpoint", [added["id"]])
    assert stop["watched"] == [
        {"id": added["id"], "expression": "accounts[1].balance", "previous": "50", "value": "105"}
    ]
    assert stop["frame"]["function"] == "rename_account"
    (listed,) = answer_data(cli("--json", "watch", "list", check=0))["breakpoints"]
    assert (listed["hits"], listed["value"]) == (1, "105")
    answer_data(cli("--json", "watch", "remove", str(added["id"]), check=0))
    assert answer_data(cli("--json", "continue", check=0))["state"] == "terminated"


def test_a_read_stops_where_it_is_read(cli: Cli) -> None:
    start_program(cli, "corrupt.cpp", "--break", marked_location("corrupt.cpp", "before"))
    watch(cli, "accounts[2].balance", "--read")
    stop = answer_data(cli("--json", "continue", check=0))
    assert (stop["reason"], stop["frame"]["function"]) == ("watchpoint", "total")


def test_a_condition_lets_other_writes_pass(cli: Cli) -> None:
    start_program(cli, "corrupt.cpp", "--break", marked_location("corrupt.cpp", "before"))
    watch(cli, "accounts[1].balance", "--condition", "at == 9")
    stop = answer_data(cli("--json", "continue", check=0))
    assert stop["reason"] == "watchpoint"
    # The value before is that of the stop before, and other writes came between.
    assert [one["previous"] for one in stop["watched"]] == [None]
    assert answer_data(cli("--json", "print", "at", check=0))["value"] == "9"


def test_four_are_watched_and_the_fifth_is_refused_without_loss(cli: Cli) -> None:
    start_program(cli, "corrupt.cpp", "--break", marked_location("corrupt.cpp", "before"))
    places = [f"accounts[{n}].balance" for n in range(3)]
    for place in (*places, "accounts[0].name[0]"):
        watch(cli, place)
    refused = cli("--json", "watch", "accounts[2].name[0]", check=4)
    assert "all 4 hardware watchpoints are in use: 2, 3, 4, 5" in refused.data["error"]["message"]
    assert len(answer_data(cli("--json", "watch", "list", check=0))["breakpoints"]) == 4
    stop = answer_data(cli("--json", "continue", check=0))
    assert stop["watched"][0]["expression"] == "accounts[1].balance"
    answer_data(cli("--json", "watch", "remove", "2", check=0))
    watch(cli, "account.name[0]")


def test_a_disabled_watchpoint_stops_nothing_until_it_is_enabled(cli: Cli) -> None:
    start_program(cli, "corrupt.cpp", "--break", marked_location("corrupt.cpp", "before"))
    number = str(watch(cli, "accounts[1].balance")["id"])
    answer_data(cli("--json", "breakpoint", "disable", number, check=0))
    answer_data(cli("--json", "breakpoint", "enable", number, check=0))
    assert answer_data(cli("--json", "continue", check=0))["reason"] == "watchpoint"
    answer_data(cli("--json", "breakpoint", "disable", number, check=0))
    assert answer_data(cli("--json", "continue", check=0))["state"] == "terminated"


def test_a_restart_keeps_a_watchpoint(cli: Cli) -> None:
    start_program(cli, "corrupt.cpp", "--break", marked_location("corrupt.cpp", "before"))
    watch(cli, "accounts[1].balance")
    answer_data(cli("--json", "restart", check=0))
    assert answer_data(cli("--json", "continue", check=0))["reason"] == "watchpoint"


def test_a_thrown_exception_stops_in_the_users_frame_with_type_and_message(cli: Cli) -> None:
    start_program(cli, "throws.cpp", "--stop-on-entry")
    caught = answer_data(cli("--json", "catch", "throw", check=0))
    assert (caught["kind"], caught["verified"]) == ("exception", True)
    stop = answer_data(cli("--json", "continue", check=0))
    assert stop["reason"] == "exception"
    assert stop["frame"]["file"].endswith("throws.cpp")
    assert stop["exception"]["type"]
    assert stop["exception"]["message"]
    told = answer_data(cli("--json", "exception", check=0))
    assert (told["type"], told["message"]) == (
        stop["exception"]["type"],
        stop["exception"]["message"],
    )
    (listed,) = answer_data(cli("--json", "catch", "list", check=0))["breakpoints"]
    assert listed["catch"] == "throw"
    answer_data(cli("--json", "catch", "remove", "--all", check=0))
    assert answer_data(cli("--json", "continue", check=0))["state"] == "terminated"


def test_only_a_type_that_was_asked_for_stops(cli: Cli) -> None:
    start_program(cli, "throws.cpp", "--stop-on-entry")
    answer_data(cli("--json", "catch", "throw", "NoSuchError", check=0))
    assert answer_data(cli("--json", "continue", check=0))["state"] == "terminated"


def test_a_rust_panic_is_an_exception_once_it_is_caught(cli: Cli) -> None:
    start_program(cli, "panic.rs", "--stop-on-entry")
    answer_data(cli("--json", "catch", "panic", check=0))
    stop = answer_data(cli("--json", "continue", check=0))
    assert stop["reason"] == "exception"
    assert stop["frame"]["file"].endswith("panic.rs")


@pytest.mark.parametrize(
    "chosen",
    [
        ("--adapter", "lldb-dap"),
        ("--adapter", "gdb"),
        ("--backend", "lldb-cli"),
        ("--backend", "frida"),
    ],
    ids=lambda chosen: chosen[1],
)
def test_a_watched_local_names_the_line_that_wrote_and_ends_with_its_frame(cli: Cli, chosen):
    start_program(cli, "scoped.c", *chosen, "--break", marked_location("scoped.c", "loop"))
    cli("breakpoint", "remove", "--all", check=0)
    watched = answer_data(cli("--json", "watch", "acc", check=0))
    cli("watch", "i", "--condition", "i > 2", check=0)
    seen = []
    while (stop := answer_data(cli("--json", "continue", check=0)))["reason"] == "watchpoint":
        assert [one["id"] for one in stop["watched"]] == stop["hit_breakpoints"]
        if watched["id"] in stop["hit_breakpoints"]:
            seen.append(stop["watched"][0]["value"])
            assert stop["accessed_by"]["line"] == debuggees.find_marker("scoped.c", "adds")
    assert seen == ["1", "3", "6"]


def test_a_second_watchpoint_of_an_expression_says_what_it_takes_the_place_of(cli: Cli) -> None:
    start_program(cli, "corrupt.cpp", "--break", marked_location("corrupt.cpp", "before"))
    first = watch(cli, "accounts[1].balance")
    assert "notes" not in first
    second = watch(cli, "accounts[1].balance", "--condition", "accounts[1].balance > 3")
    assert second["notes"] == [
        f"it takes the place of watchpoint {first['id']}, of the same expression"
    ]


def test_to_remove_all_breakpoints_keeps_watchpoints_and_catchpoints(cli: Cli) -> None:
    start_program(cli, "corrupt.cpp", "--break", marked_location("corrupt.cpp", "before"))
    watch(cli, "accounts[1].balance")
    cli("catch", "throw", check=0)
    said = cli("breakpoint", "remove", "--all", check=0).out
    assert said == "removed: breakpoint 1\nkept: watchpoint 2, catchpoint 3\n"
    assert answer_data(cli("--json", "continue", check=0))["reason"] == "watchpoint"
    assert cli("watch", "remove", "--all", check=0).out == "removed: watchpoint 2\n"
    assert cli("catch", "remove", "--all", check=0).out == "removed: catchpoint 3\n"
