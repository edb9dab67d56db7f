"""One call by its lines: loops folded, decisions counted."""

from __future__ import annotations

import pytest

from debugger.recorders.call_tree import (
    CallLine,
    LineBranch,
    LoopRounds,
    build_trees,
    call_lifetime,
)
from debugger.recorders.model import (
    CallEntered,
    CallRaised,
    Event,
    LineBranched,
    LinePassed,
    LinesSkipped,
    RecordedFunction,
    RecordedValue,
    Recording,
    ValuesChanged,
)
from debugger.recorders.python.python_branches import find_branches, find_loops, may_catch


def report_lines(*events: Event, **options):
    recording = Recording(
        functions={
            1: RecordedFunction(1, "f", "/p/a.py", 1),
            2: RecordedFunction(2, "g", "/p/a.py", 30),
        },
        events=(CallEntered(1, 0, 1, 1, 0, 0, (RecordedValue("n", "3"),)), *events),
    )
    return call_lifetime(recording, build_trees(recording)[0], **options)


def passes(*numbers: int) -> list[LinePassed]:
    return [LinePassed(1, 0, number) for number in numbers]


def shape(items) -> list[object]:
    return [
        one.line
        if isinstance(one, CallLine)
        else (one.line, one.rounds, [(s.count, shape(s.first)) for s in one.shapes])
        for one in items
    ]


def test_a_line_has_what_it_changed_with_what_was_there_and_what_it_called():
    call = report_lines(
        LinePassed(1, 5, 2),
        CallEntered(2, 1, 2, 1, 6, 2),
        ValuesChanged(1, (RecordedValue("n", "4"), RecordedValue("m", "1"))),
        LinePassed(1, 7, 3),
        ValuesChanged(1, (RecordedValue("m", None),)),
    )
    first, second = call.items
    assert [(c.name, c.old, c.new) for c in first.changes] == [("n", "3", "4"), ("m", None, "1")]
    assert [one.function.name for one in first.callees] == ["g"]
    assert [(c.name, c.old, c.new) for c in second.changes] == [("m", "1", None)]


def test_a_loop_is_folded_with_its_odd_round_shown():
    rounds = [2, 3, 5] * 4 + [2, 3, 4, 5] + [2, 3, 5] * 2
    call = report_lines(*passes(1, *rounds, 2, 6))
    assert shape(call.items) == [
        1,
        (2, 7, [(6, [2, 3, 5]), (1, [2, 3, 4, 5])]),
        2,
        6,
    ]
    assert call.items[1].shapes[1].first_round == 5


def test_inner_loops_are_folded_in_each_round():
    inner = [3, 4, 3, 4, 3]
    call = report_lines(*passes(2, *inner, 2, *inner, 2, 7))
    assert shape(call.items) == [(2, 2, [(2, [2, (3, 2, [(2, [3, 4])]), 3])]), 2, 7]


def test_two_loops_after_each_other_stay_two():
    call = report_lines(*passes(2, 3, 2, 3, 2, 5, 6, 5, 6, 5, 9))
    assert shape(call.items) == [(2, 2, [(2, [2, 3])]), 2, (5, 2, [(2, [5, 6])]), 5, 9]


def test_a_round_that_is_left_in_its_middle_counts():
    call = report_lines(*passes(2, 3, 4, 2, 3, 4, 2, 3), CallRaised(1, 9, "KeyError", "x", 3))
    assert shape(call.items) == [(2, 3, [(2, [2, 3, 4]), (1, [2, 3])])]
    assert (call.error, call.error_line) == ("KeyError: x", 3)


def test_what_varies_in_a_loop_is_summed_up():
    events: list[Event] = []
    for number in range(100):
        events += [
            LinePassed(1, 0, 2),
            ValuesChanged(1, (RecordedValue("i", str(number)),)),
            LinePassed(1, 0, 3),
        ]
    (loop,) = report_lines(*events).items
    assert isinstance(loop, LoopRounds)
    (i,) = loop.varies
    assert (loop.rounds, i.first, i.last, i.least, i.most, i.count) == (
        99 + 1,
        "0",
        "99",
        "0",
        "99",
        100,
    )


def test_decisions_are_counted_and_the_side_never_taken_is_named():
    known = {2: LineBranch(2, 3, 5), 7: LineBranch(7, 8, 0)}
    call = report_lines(*passes(2, 3, 2, 3, 7, 9), branches=known)
    assert [(d.line, d.taken, d.never) for d in call.decisions] == [
        (2, ((3, 2),), (5,)),
        (7, ((0, 1),), (8,)),
    ]


def test_branches_that_a_recorder_tells_itself_need_no_source():
    call = report_lines(LinePassed(1, 0, 2), LineBranched(1, 2, 9), LinePassed(1, 0, 9))
    assert [(d.line, d.taken) for d in call.decisions] == [(2, ((9, 1),))]


def test_skipped_lines_are_counted():
    call = report_lines(*passes(2, 3), LinesSkipped(1, 1000))
    assert (call.passed, call.skipped) == (1002, 1000)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("if a:\n    b\nelif c:\n    d\nelse:\n    e\n", {1: (2, 3), 3: (4, 6)}),
        ("for a in b:\n    c\n", {1: (2, 0)}),
        ("while a:\n    @deco\n    def f(): pass\n", {1: (2, 0)}),
        ("if a: b\n", {}),
        ("if", {}),
        ("\0", {}),
    ],
)
def test_branches_are_found_in_a_source(source, found):
    assert {line: (b.then, b.otherwise) for line, b in find_branches(source).items()} == found


def test_a_function_without_a_try_or_a_with_catches_nothing() -> None:
    source = "def mid():\n    def inner():\n        try: pass\n        finally: pass\n"
    assert not may_catch(source, 1)
    assert may_catch(source, 2)
    assert may_catch("@cached\nasync def f():\n    async with lock: pass\n", 1)
    assert not may_catch("import asyncio\ndef f(): pass\nasyncio.run(f())\n", 1)
    assert may_catch("x = (", 1)  # not known


def test_a_statement_of_several_lines_is_no_loop() -> None:
    source = "def g(n):\n    v = max(\n        n,\n        3,\n    )\n    return v\n"
    assert find_loops(source) == frozenset()
    call = report_lines(*passes(2, 3, 4, 2, 6), loops=find_loops(source))
    assert shape(call.items) == [2, 3, 4, 2, 6]
    assert find_loops("for a in b: c\nx = [\n  a\n  for a in b\n]\n") == frozenset({1, 2, 3, 4, 5})
    assert find_loops("if") is None
