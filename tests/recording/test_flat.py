"""The most telling lines of a tree are kept, with their ancestors."""

from __future__ import annotations

from debugger.recorders.call_folding import FoldedCalls, flatten_tree
from debugger.recorders.call_tree import build_trees, calls_within, walk_calls
from debugger.recorders.model import CallEntered, RecordedFunction, Recording


def line(name: str, *children: FoldedCalls, took: int = 0, raised: int = 0) -> FoldedCalls:
    return FoldedCalls(
        RecordedFunction(1, name), 1, total_ns=took, raised=raised, children=children
    )


def names(some, most: int) -> list[str]:
    return [one.folded.function.name for one in flatten_tree(some, most)]


TREE = (
    line("main", line("slow", line("deep"), took=9), line("quick", line("bad", raised=1), took=1)),
)


def test_lines_stand_in_the_order_of_the_tree():
    rows = flatten_tree(TREE, 10)
    assert [(one.folded.function.name, one.depth) for one in rows] == [
        ("main", 0),
        ("slow", 1),
        ("deep", 2),
        ("quick", 1),
        ("bad", 2),
    ]
    assert sorted(one.order for one in rows) == [0, 1, 2, 3, 4]


def test_what_an_exception_passed_is_kept_with_what_led_there():
    assert names(TREE, 3) == ["main", "quick", "bad"]


def test_of_the_rest_outer_and_slow_ones_are_kept():
    assert names(TREE, 4) == ["main", "slow", "quick", "bad"]


def test_no_line_is_kept_without_the_one_it_is_below():
    for most in range(6):
        rows = flatten_tree(TREE, most)
        assert len(rows) == min(most, 5)
        depths = [one.depth for one in rows]
        assert all(b <= a + 1 for a, b in zip([-1, *depths], depths, strict=False))


def recorded() -> Recording:
    """Give main (0 to 100) that calls a (10), b (20) and, below b, c (25)."""
    functions = {n: RecordedFunction(n, name) for n, name in enumerate("mabc", 1)}
    calls = [(1, 0, 1, 0), (2, 1, 2, 10), (3, 1, 3, 20), (4, 3, 4, 25)]
    events = tuple(CallEntered(call, parent, number, 1, at) for call, parent, number, at in calls)
    return Recording(functions=functions, events=events)


def test_between_two_times_what_began_is_kept_with_what_is_around_it():
    recording = recorded()
    kept = calls_within(build_trees(recording), 25, 30)
    assert [recording.find_function(one.function).name for one in walk_calls(kept)] == [
        "m",
        "b",
        "c",
    ]
    assert calls_within(build_trees(recording), 26, 30) == []
