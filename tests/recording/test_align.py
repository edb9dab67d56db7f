"""Two runs are aligned rightly, at a bounded cost."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from debugger.recorders import run_alignment as aligning
from debugger.recorders.model import (
    CallEntered,
    CallReturned,
    Event,
    LinePassed,
    RecordedFunction,
    RecordedValue,
    Recording,
    ValuesChanged,
)
from debugger.recorders.run_alignment import RunPoint, align_runs, run_points

F = RecordedFunction(1, "f", "/p/a.py", 1)


def row(letters: str) -> list[RunPoint]:
    return [RunPoint("line", F, ord(letter)) for letter in letters]


def longest(a: str, b: str) -> int:
    table = [0] * (len(b) + 1)
    for x in a:
        before = 0
        for at, y in enumerate(b, 1):
            before, table[at] = table[at], before + 1 if x == y else max(table[at], table[at - 1])
    return table[-1]


words = st.text(alphabet="abc", max_size=25)


@given(words, words)
def test_the_common_sequence_is_a_longest_one(a, b):
    found = align_runs(row(a), row(b))
    assert found.is_whole
    assert found.common == longest(a, b)
    assert (found.left_only, found.right_only) == (len(a) - found.common, len(b) - found.common)


@given(words, words)
def test_a_bounded_comparison_gives_pairs_that_are_the_same_and_in_order(a, b):
    pairs, _ = aligning.common_subsequence(list(a), list(b))
    some, _ = aligning.common_subsequence(list(a), list(b), cost_max=2)
    assert len(some) <= len(pairs)
    for found in (pairs, some):
        assert all(a[x] == b[y] for x, y in found)
        assert all(one[0] < two[0] and one[1] < two[1] for one, two in pairwise(found))


class CountedEvent:
    """An event that counts its comparisons, and is equal to none of another run."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        CountedEvent.compared += 1
        return self is other

    __hash__ = None


def comparisons(length: int) -> int:
    """Count the comparisons of two runs of a length that have nothing in common."""
    CountedEvent.compared = 0
    left, right = ([CountedEvent() for _ in range(length)] for _ in range(2))
    assert aligning.common_subsequence(left, right) == ([], False)
    return CountedEvent.compared


def test_long_runs_that_have_nothing_in_common_are_given_up_soon():
    found = align_runs(row("a" * 50_000), row("b" * 50_000))
    assert (found.is_whole, found.common) == (False, 0)
    # The bound is a number of differences, whatever the runs' length.
    assert comparisons(50_000) == comparisons(5_000) > 0


def run(discount: str, line: int, total: str) -> Recording:
    events: tuple[Event, ...] = (
        CallEntered(1, 0, 1, 1, 0, 0, (RecordedValue("n", "3"),)),
        LinePassed(1, 1, 2),
        ValuesChanged(1, (RecordedValue("discount", discount),)),
        LinePassed(1, 2, 3),
        LinePassed(1, 3, line),
        ValuesChanged(1, (RecordedValue("total", total),)),
        CallReturned(1, 4, total),
    )
    return Recording(functions={1: F}, events=events)


def test_the_first_divergence_has_its_context_and_the_value_that_differed_before_it():
    found = align_runs(run_points(run("10", 4, "90")), run_points(run("0", 6, "100")))
    assert found.divergence is not None
    assert [one.line for one in found.divergence.before] == [0, 2, 3]
    assert (found.divergence.left[0].line, found.divergence.right[0].line) == (4, 6)
    (value,) = found.divergence.values
    assert (value.name, value.left, value.right) == ("discount", "10", "0")
    (first,) = found.differences
    assert (first.point.line, first.name, first.left, first.right) == (2, "discount", "10", "0")
    assert [(hunk.left, hunk.right) for hunk in found.hunks] == [(1, 1)]


def test_runs_that_do_the_same_have_no_divergence_but_their_values():
    found = align_runs(run_points(run("10", 4, "90")), run_points(run("10", 4, "91")))
    assert found.divergence is None
    assert [(one.name, one.left, one.right) for one in found.differences] == [
        ("total", "90", "91"),
        ("returned", "90", "91"),
    ]


def test_what_differs_in_the_addresses_of_objects_alone_is_no_difference():
    def run(text: str) -> list[RunPoint]:
        return [
            RunPoint("line", F, 1, values=(RecordedValue("seen", text),)),
            RunPoint("line", F, 2),
        ]

    assert align_runs(run("{139813072906816}"), run("{140259368807872}")).differences == ()
    assert len(align_runs(run("{139813072906816}"), run("{7}")).differences) == 1


def recorded_calls(*names: str, file: str, stopped: str = "") -> Recording:
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names), 1)}
    events: list[Event] = []
    for call, name in enumerate(names, 1):
        events += [CallEntered(call, 0, numbers[name], 1, 0, 0, ()), LinePassed(call, 1, 2)]
    return Recording(
        functions={one: RecordedFunction(one, name, file, 1) for name, one in numbers.items()},
        events=tuple(events),
        stopped=frozenset(numbers[name] for name in stopped),
    )


def test_calls_that_only_one_run_follows_are_not_compared():
    def names(recording: Recording) -> list[str]:
        return [point.function.name for point in run_points(recording) if point.kind == "call"]

    # The second run called `g` before, so that it has other numbers, and stopped `f` earlier.
    left = recorded_calls(*"fgffg", file="/a/x.py", stopped="f")
    right = recorded_calls(*"gfgfgg", file="/b/x.py", stopped="f")
    both = aligning.common_calls([left, right], {"/b/x.py": "/a/x.py"})
    assert [names(one) for one in both] == [list("fgfg"), list("gfgfgg")]
    # What neither stopped is compared to its end: the other run made no more calls of it.
    assert all(len(run_points(one)) == 2 * len(names(one)) for one in both)
    plain = recorded_calls(*"ff", file="/a/x.py")
    assert aligning.common_calls([plain, plain], {}) == (plain, plain)
