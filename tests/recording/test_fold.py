"""Folding loses no call, and keeps what a reader needs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from debugger.recorders.call_folding import (
    FoldedCalls,
    count_calls,
    cut_lines,
    find_call_contexts,
    fold_trees,
)
from debugger.recorders.call_tree import build_trees, walk_calls, without_functions
from debugger.recorders.model import (
    CallEntered,
    CallRaised,
    CallReturned,
    CallsMerged,
    Event,
    RecordedFunction,
    RecordedValue,
    Recording,
)

FUNCTIONS = {n: RecordedFunction(n, name, "/p/app.py", n) for n, name in enumerate("abcdef", 1)}


@st.composite
def recordings(draw: st.DrawFn) -> Recording:
    """Calls whose parents are earlier ones; some are several at once."""
    events: list[Event] = []
    for number in range(1, draw(st.integers(1, 60)) + 1):
        parent = draw(st.integers(0, number - 1))
        function = draw(st.integers(1, len(FUNCTIONS)))
        if draw(st.integers(0, 3)):
            events.append(CallEntered(number, parent, function, 1, number * 10))
        else:
            events.append(
                CallsMerged(number, parent, function, 1, number * 10, draw(st.integers(1, 1000)))
            )
    return Recording(functions=FUNCTIONS, events=tuple(events))


def total(recording: Recording) -> int:
    return sum(one.count if isinstance(one, CallsMerged) else 1 for one in recording.events)


def nest(*names: str, rounds: int = 1) -> Recording:
    """A call of a, which makes the others in a row, so many times."""
    by_name = {one.name: number for number, one in FUNCTIONS.items()}
    events: list[Event] = [CallEntered(1, 0, by_name["a"], 1, 0)]
    for turn in range(rounds):
        for name in names:
            number = len(events) + 1
            values = (RecordedValue("n", str(turn)),)
            events.append(CallEntered(number, 1, by_name[name], 1, number, 5, values))
    events += [
        CallReturned(number, 100 + number, str(number)) for number in range(1, len(events) + 1)
    ]
    return Recording(functions=FUNCTIONS, events=tuple(events), is_whole=True)


def lines(rows: tuple[FoldedCalls, ...], indent: str = "") -> list[str]:
    told = []
    for row in rows:
        name = row.function.name if row.function else "loop"
        told.append(f"{indent}{name} {row.count}+{row.recursions}")
        told += lines(row.children, indent + " ")
    return told


@given(recordings())
def test_folding_loses_no_call(recording):
    roots = build_trees(recording)
    assert sum(call.count for call in walk_calls(roots)) == total(recording)
    assert count_calls(fold_trees(recording, roots)) == total(recording)


@given(recordings(), st.integers(0, 20))
def test_what_is_cut_is_counted_and_the_budget_is_kept(recording, most):
    kept, left = cut_lines(fold_trees(recording, build_trees(recording)), most)
    assert count_calls(kept) + left.calls == total(recording)
    assert len(lines(kept)) <= most


@given(recordings(), st.sets(st.integers(1, len(FUNCTIONS))))
def test_what_is_left_out_hands_its_calls_to_its_caller(recording, names):
    roots, gone = without_functions(build_trees(recording), frozenset(names))
    left = list(walk_calls(roots))
    assert sum(call.count for call in left) + gone == total(recording)
    assert all(call.function not in names for call in left)


@given(recordings(), st.integers(1, len(FUNCTIONS)))
def test_around_a_function_all_its_calls_are_counted(recording, number):
    for one in find_call_contexts(
        recording, build_trees(recording), lambda f: f.number == number, ways=1000
    ):
        assert sum(way.count for way in one.ways) == one.calls == one.folded.call_count


def test_calls_in_a_row_and_rounds_of_a_loop_are_one_line():
    row = nest("b", rounds=5)
    assert lines(fold_trees(row, build_trees(row))) == ["a 1+0", " b 5+0"]
    loop = nest("b", "c", "c", rounds=4)
    assert lines(fold_trees(loop, build_trees(loop))) == [
        "a 1+0",
        " loop 4+0",
        "  b 4+0",
        "  c 4+0",
        "  c 4+0",
    ]


def test_what_varies_is_told_by_first_last_least_and_most():
    recording = nest("b", rounds=5)
    (a,) = fold_trees(recording, build_trees(recording))
    (n,) = a.children[0].arguments
    assert (n.first, n.last, n.least, n.most, n.distinct) == ("0", "4", "0", "4", 5)


def test_recursion_through_another_function_is_one_line_each():
    deep = range(1, 2001)  # deeper than Python may recur
    events = tuple(CallEntered(number, number - 1, 1 + number % 2, 1, number) for number in deep)
    recording = Recording(functions=FUNCTIONS, events=events)
    (outer,) = fold_trees(recording, build_trees(recording))
    assert lines((outer,)) == ["b 1+999", " a 1000+0"]
    assert outer.open == 1000


def test_an_exception_that_passes_is_kept_before_slow_calls():
    base = nest("b", "c", "d", "e")
    recording = Recording(
        functions=FUNCTIONS,
        events=(*base.events[:5], CallRaised(5, 110, "ValueError", "no", 7), *base.events[5:9]),
    )
    kept, left = cut_lines(fold_trees(recording, build_trees(recording)), 2)
    assert lines(kept) == ["a 1+0", " e 1+0"]
    assert kept[0].children[0].errors == ("ValueError: no",)
    assert (kept[0].left_out.calls, left.calls) == (3, 0)


def test_around_tells_the_ways_with_the_lines_that_go_on():
    events = (
        CallEntered(1, 0, 1, 1, 0),
        CallEntered(2, 1, 2, 1, 1, 10),
        CallEntered(3, 2, 3, 1, 2, 20),
        CallsMerged(4, 1, 3, 1, 3, 7),
    )
    recording = Recording(functions=FUNCTIONS, events=events)
    (one,) = find_call_contexts(
        recording, build_trees(recording), lambda function: function.name == "c"
    )
    told = [(way.count, [(s.function.name, s.line) for s in way.steps]) for way in one.ways]
    assert told == [(7, [("a", 0)]), (1, [("a", 10), ("b", 20)])]


def test_calls_from_different_lines_of_a_function_are_ways_of_their_own():
    events = (
        CallEntered(1, 0, 1, 1, 0),
        *(CallEntered(2 + at, 1, 2, 1, 1, line) for at, line in enumerate((10, 12, 12))),
    )
    recording = Recording(functions=FUNCTIONS, events=events)
    (one,) = find_call_contexts(
        recording, build_trees(recording), lambda function: function.name == "b"
    )
    assert [(way.count, way.steps[-1].line) for way in one.ways] == [(2, 12), (1, 10)]


def test_a_call_that_names_itself_or_a_later_one_as_its_caller_begins_a_tree():
    recording = Recording(events=(CallEntered(1, 1, 1, 1, 0), CallEntered(2, 3, 1, 1, 0)))
    assert [call.id for call in build_trees(recording)] == [1, 2]
