"""Counts of two recorded runs are compared where both are known."""

from __future__ import annotations

from debugger.questions.recordings.count_comparison import compare_run_counts
from debugger.recorders.model import CallsMerged, RecordedFunction, Recording

HOT, COLD = (RecordedFunction(at, name, "a.py", at) for at, name in ((1, "hot"), (2, "cold")))


def record_counts(hot: int, cold: int, **more: object) -> Recording:
    events = tuple(
        CallsMerged(function.number, 0, function.number, 1, 0, count)
        for function, count in ((HOT, hot), (COLD, cold))
    )
    return Recording(functions={1: HOT, 2: COLD}, events=events, is_whole=True, **more)


def differing_counts(left: Recording, right: Recording) -> list[tuple[str, int, int]]:
    found = compare_run_counts([[left], [right]], [["/"], ["/"]])
    return [(one.function, one.left, one.right) for one in found.rows]


def test_a_count_that_ended_in_one_run_alone_is_no_difference() -> None:
    ended = record_counts(100, 7, stopped=frozenset({1}))
    assert differing_counts(ended, record_counts(90, 9)) == [("cold", 7, 9)]
    assert differing_counts(record_counts(90, 9), ended) == [("cold", 9, 7)]


def test_calls_that_were_only_counted_belong_to_the_count() -> None:
    limited = record_counts(100, 7, stopped=frozenset({1}), further={1: 3})
    assert differing_counts(limited, record_counts(103, 7)) == []
    assert differing_counts(limited, record_counts(90, 7)) == [("hot", 103, 90)]


def test_further_calls_of_a_killed_process_are_not_all_known() -> None:
    limited = record_counts(100, 7, stopped=frozenset({1}), further={1: 3})
    killed = Recording(
        functions=limited.functions,
        events=limited.events,
        stopped=limited.stopped,
        further=limited.further,
    )
    assert differing_counts(killed, record_counts(200, 7)) == []
