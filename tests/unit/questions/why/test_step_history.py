"""The recorded history of a script: its changes in order, and which statement made them."""

from __future__ import annotations

import msgspec
import pytest

from debugger.questions.why.script_chain import ScriptChain
from debugger.questions.why.script_trace import find_hit
from debugger.questions.why.script_values import writer_of
from debugger.questions.why.why_request import WhyRequest
from debugger.recorders.script.step_history import parse_history

SOURCE = ["$a = 1;", "$b = $a;", "$a = 2;", "echo $b;"]
RECORDS = [
    ["begin", {"pid": 7}],
    ["f", 1, "<main>", "x.php", 1],
    ["c", 1, 0, 1, 1, 0, 0, []],
    ["p", 1, 1, 1],
    ["w", "L1", ["$a"], "1", 0, None, 0],
    ["p", 1, 2, 2],
    ["w", "L1", ["$b"], "1", 0, None, 1],
    ["p", 1, 3, 3],
    ["w", "L1", ["$a"], "2", 0, "1", 2],
    ["p", 1, 4, 4],
    ["L", 1, 1, ["1", 0, None], [[1, 4]]],
    ["end", 9, 0, 1, 1],
]


def read(records=RECORDS):
    return parse_history([msgspec.json.encode(one) for one in records] + [b"no record"])


def test_changes_are_found_by_their_owner_and_time():
    history = read()
    assert history.last_change("L1", ("$a",), 5).value.text == "1"
    assert history.last_change("L1", ("$a",), 11).value.text == "2"
    assert history.last_change("L1", ("$c",), 11) is None
    assert history.step_before(4).line == 1
    assert [one.line for one in history.steps_between(1, 11)] == [4, 3, 2]
    assert history.settled(4) == 5


def test_a_copied_value_is_followed_to_what_it_was_then():
    history = read()
    (hit,) = history.hits
    chain = ScriptChain(history, lambda _: SOURCE, is_php=True, links_most=12)
    chain.follow("$b", hit.call, hit.index)
    assert [(one.statement, one.new) for one in chain.links] == [
        ("$b = $a;", "1"),
        ("$a = 1;", "1"),
    ]
    assert chain.ended.value == "constant"


def test_a_part_of_a_container_has_the_change_of_the_whole():
    records = [*RECORDS[:4], ["w", "L1", ["$a"], "[1]", 0, None, 0], *RECORDS[5:]]
    history = read(records)
    assert history.last_change("L1", ("$a", "[0]"), 6).path == ("$a",)


def test_a_value_from_before_the_recorded_part_is_said_to_be_so():
    records = [*RECORDS[:3], ["p", 1, 4, 4], RECORDS[10], ["end", 9, 500, 1, 1]]
    history = read(records)
    chain = ScriptChain(history, lambda _: SOURCE, is_php=True, links_most=12)
    chain.follow("$b", 1, 4)
    assert chain.links == []
    assert history.dropped == 500


def test_the_process_that_failed_is_chosen_of_those_that_came_to_the_place():
    fine = [*RECORDS[:-1], ["r", 1, 0, "1", 0, 4], RECORDS[-1]]
    failed = [*RECORDS[:-1], ["x", 1, 0, 4], RECORDS[-1]]
    processes = [read(one) for one in (fine, failed, fine)]
    at_crash = WhyRequest("$b", "crash", nth=-1, is_thrown=True)
    history, hit = find_hit(processes, at_crash)
    assert history is processes[1]
    assert hit is processes[1].hits[0]
    assert find_hit(processes, WhyRequest("$b", "x.php:4"))[0] is processes[0]


@pytest.mark.parametrize("scanned", [1, 2])  # at the beginning of the call's statement, and after
def test_a_statement_writes_after_the_call_that_it_made_has_returned(scanned):
    history = read(
        [
            RECORDS[0],
            ["f", 1, "<main>", "x.php", 1],
            ["f", 2, "two", "x.php", 3],
            ["c", 1, 0, 1, 1, 0, 0, []],
            ["p", 1, 1, 1],  # $o->sum += two();
            ["c", 2, 1, 2, 1, 0, 1, []],
            ["p", 2, 2, 3],  # return 2;
            ["r", 2, 0, "2", 0, 3],
            ["w", "O5", ["->sum"], "2", 0, "0", scanned],
            ["p", 1, 3, 2],
        ]
    )
    change = history.last_change("O5", ("->sum",), 20)
    step, is_sure = writer_of(history, change, lambda one: one.line == 1, lambda *_: False)
    assert step is not None
    assert (step.line, is_sure) == (1, True)
