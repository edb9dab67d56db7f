"""Is one call told by its lines, its loops folded, its decisions counted?"""

from __future__ import annotations

import pytest

from debugger.recording.lines import Branch, Loop, Step, lifetime
from debugger.recording.model import (
    Branched,
    Changed,
    Entered,
    Event,
    Function,
    Passed,
    Raised,
    Recording,
    Skipped,
    Value,
)
from debugger.recording.python.branches import branches, loops, may_catch
from debugger.recording.tree import grow


def told(*events: Event, **options):
    recording = Recording(
        functions={1: Function(1, "f", "/p/a.py", 1), 2: Function(2, "g", "/p/a.py", 30)},
        events=(Entered(1, 0, 1, 1, 0, 0, (Value("n", "3"),)), *events),
    )
    return lifetime(recording, grow(recording)[0], **options)


def passes(*numbers: int) -> list[Passed]:
    return [Passed(1, 0, number) for number in numbers]


def shape(items) -> list[object]:
    return [
        one.line
        if isinstance(one, Step)
        else (one.line, one.rounds, [(s.count, shape(s.first)) for s in one.shapes])
        for one in items
    ]


def test_a_line_has_what_it_changed_with_what_was_there_and_what_it_called():
    call = told(
        Passed(1, 5, 2),
        Entered(2, 1, 2, 1, 6, 2),
        Changed(1, (Value("n", "4"), Value("m", "1"))),
        Passed(1, 7, 3),
        Changed(1, (Value("m", None),)),
    )
    first, second = call.items
    assert [(c.name, c.old, c.new) for c in first.changes] == [("n", "3", "4"), ("m", None, "1")]
    assert [one.function.name for one in first.callees] == ["g"]
    assert [(c.name, c.old, c.new) for c in second.changes] == [("m", "1", None)]


def test_a_loop_is_folded_with_its_odd_round_shown():
    rounds = [2, 3, 5] * 4 + [2, 3, 4, 5] + [2, 3, 5] * 2
    call = told(*passes(1, *rounds, 2, 6))
    assert shape(call.items) == [
        1,
        (2, 7, [(6, [2, 3, 5]), (1, [2, 3, 4, 5])]),
        2,
        6,
    ]
    assert call.items[1].shapes[1].first_round == 5


def test_inner_loops_are_folded_in_each_round():
    inner = [3, 4, 3, 4, 3]
    call = told(*passes(2, *inner, 2, *inner, 2, 7))
    assert shape(call.items) == [(2, 2, [(2, [2, (3, 2, [(2, [3, 4])]), 3])]), 2, 7]


def test_two_loops_after_each_other_stay_two():
    call = told(*passes(2, 3, 2, 3, 2, 5, 6, 5, 6, 5, 9))
    assert shape(call.items) == [(2, 2, [(2, [2, 3])]), 2, (5, 2, [(2, [5, 6])]), 5, 9]


def test_a_round_that_is_left_in_its_middle_counts():
    call = told(*passes(2, 3, 4, 2, 3, 4, 2, 3), Raised(1, 9, "KeyError", "x", 3))
    assert shape(call.items) == [(2, 3, [(2, [2, 3, 4]), (1, [2, 3])])]
    assert (call.error, call.error_line) == ("KeyError: x", 3)


def test_what_varies_in_a_loop_is_summed_up():
    events: list[Event] = []
    for number in range(100):
        events += [Passed(1, 0, 2), Changed(1, (Value("i", str(number)),)), Passed(1, 0, 3)]
    (loop,) = told(*events).items
    assert isinstance(loop, Loop)
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
    known = {2: Branch(2, 3, 5), 7: Branch(7, 8, 0)}
    call = told(*passes(2, 3, 2, 3, 7, 9), branches=known)
    assert [(d.line, d.taken, d.never) for d in call.decisions] == [
        (2, ((3, 2),), (5,)),
        (7, ((0, 1),), (8,)),
    ]


def test_branches_that_a_recorder_tells_itself_need_no_source():
    call = told(Passed(1, 0, 2), Branched(1, 2, 9), Passed(1, 0, 9))
    assert [(d.line, d.taken) for d in call.decisions] == [(2, ((9, 1),))]


def test_skipped_lines_are_counted():
    call = told(*passes(2, 3), Skipped(1, 1000))
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
    assert {line: (b.then, b.otherwise) for line, b in branches(source).items()} == found


def test_a_function_without_a_try_or_a_with_catches_nothing() -> None:
    source = "def mid():\n    def inner():\n        try: pass\n        finally: pass\n"
    assert not may_catch(source, 1)
    assert may_catch(source, 2)
    assert may_catch("@cached\nasync def f():\n    async with lock: pass\n", 1)
    assert not may_catch("import asyncio\ndef f(): pass\nasyncio.run(f())\n", 1)
    assert may_catch("x = (", 1)  # not known


def test_a_statement_of_several_lines_is_no_loop() -> None:
    source = "def g(n):\n    v = max(\n        n,\n        3,\n    )\n    return v\n"
    assert loops(source) == frozenset()
    call = told(*passes(2, 3, 4, 2, 6), loops=loops(source))
    assert shape(call.items) == [2, 3, 4, 2, 6]
    assert loops("for a in b: c\nx = [\n  a\n  for a in b\n]\n") == frozenset({1, 2, 3, 4, 5})
    assert loops("if") is None
