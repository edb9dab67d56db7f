"""A wrong value is followed back to the recorded call in which it appears first."""

from __future__ import annotations

import pytest

from debugger.recorders.call_tree import build_trees
from debugger.recorders.model import (
    CallEntered,
    CallRaised,
    CallReturned,
    Event,
    RecordedFunction,
    RecordedValue,
    Recording,
)
from debugger.recorders.value_origin import (
    differing_fragments,
    find_failing_stack,
    find_origin,
)

NAMES = ("main", "render", "format", "group", "rows")


def _enter(call: int, parent: int, name: str, **arguments: str) -> CallEntered:
    given = tuple(RecordedValue(key, text) for key, text in arguments.items())
    return CallEntered(call, parent, NAMES.index(name) + 1, 1, call * 10, 1, given)


def _recording(*events: Event) -> Recording:
    functions = {
        at: RecordedFunction(at, name, "/p/a.py", at) for at, name in enumerate(NAMES, start=1)
    }
    return Recording(functions=functions, events=events, took_ns=1_000)


def _origin(wrong: str, right: str, *events: Event) -> tuple[str, str] | None:
    recording = _recording(*events)
    found = find_origin(build_trees(recording), wrong, right)
    if found is None:
        return None
    return recording.find_function(found.call.function).name, found.argument


def test_the_innermost_call_that_returned_a_piece_of_the_wrong_value_is_the_origin() -> None:
    events = (
        _enter(1, 0, "main", words="['1234567']"),
        _enter(2, 1, "format", n="'1234567'"),
        _enter(3, 2, "group", digits="'1234567'"),
        CallReturned(3, 35, "'12,34,567'"),
        CallReturned(2, 36, "'+12,34,567'"),
        CallReturned(1, 37, "'n: +12,34,567'"),
    )
    assert _origin("'n: +12,34,567'", "'n: +1,234,567'", *events) == ("group", "")


def test_a_call_that_was_given_the_wrong_value_is_not_its_origin() -> None:
    events = (
        _enter(1, 0, "main"),
        _enter(2, 1, "format", n="'green...'"),
        CallReturned(2, 25, "'GREEN...'"),
        CallReturned(1, 30, "'GREEN...'"),
    )
    assert _origin("'green...'", "'green apples'", *events) == ("format", "n")


def test_a_short_part_that_the_input_has_too_does_not_count() -> None:
    events = (
        _enter(1, 0, "main", edges="[['c', 'd', 1], ['a', 't', 1]]"),
        _enter(2, 1, "rows"),
        CallReturned(2, 25, "(7, ['s', 'c', 'd', 't'])"),
        CallReturned(1, 30, "None"),
    )
    assert _origin("['s', 'c', 'd', 't']", "['s', 'c', 'a', 't']", *events) == ("rows", "")


def test_another_container_of_the_same_values_counts_as_the_value() -> None:
    events = (
        _enter(1, 0, "main"),
        _enter(2, 1, "rows"),
        CallReturned(2, 25, "{2: 1, 3: 3, 1009: 1}"),
        CallReturned(1, 30, "None"),
    )
    assert _origin("[[2, 1], [3, 3], [1009, 1]]", "[[2, 1], [3, 4], [1009, 1]]", *events) == (
        "rows",
        "",
    )


def test_a_value_that_no_call_shows_has_no_origin() -> None:
    assert _origin("'abcd'", "'wxyz'", _enter(1, 0, "main"), CallReturned(1, 20, "3")) is None


def test_a_generator_that_was_under_way_is_known() -> None:
    recording = _recording(
        _enter(1, 0, "main"),
        _enter(2, 1, "rows"),
        _enter(3, 1, "format", n="'abc'"),
        CallReturned(3, 35, "'wrong text'"),
        CallReturned(2, 40, "None"),
        CallReturned(1, 50, "None"),
    )
    found = find_origin(build_trees(recording), "'wrong text'", "'right text'")
    assert found is not None
    assert [recording.find_function(one.function).name for one in found.generators] == ["rows"]


@pytest.mark.parametrize(
    ("wrong", "right", "first"),
    [
        ("'12,34,567'", "'1,234,567'", "12,34"),
        ("'one two four'", "'one two three four'", "two four"),
    ],
)
def test_the_first_part_is_the_shortest_that_the_right_text_lacks(
    wrong: str, right: str, first: str
) -> None:
    parts = next(iter(differing_fragments(wrong, right)))
    assert parts.levels[0].strip("'").startswith(first)
    assert all(one not in right for one in parts.levels)


def test_the_failing_stack_begins_at_the_call_that_raised() -> None:
    recording = _recording(
        _enter(1, 0, "main"),
        _enter(2, 1, "rows"),
        CallRaised(2, 22, "ValueError", "no", 7),  # caught
        _enter(3, 1, "format"),
        _enter(4, 3, "group"),
        CallRaised(4, 42, "KeyError", "'k'", 9),
        CallRaised(3, 43, "KeyError", "'k'", 8),
        CallRaised(1, 44, "KeyError", "'k'", 3),
    )
    found = find_failing_stack(recording, build_trees(recording))
    assert found is not None
    assert found.error == "KeyError: 'k'"
    assert [one.line for one in found.calls] == [9, 8, 3]


def test_a_run_that_no_exception_ended_has_no_failing_stack() -> None:
    recording = _recording(_enter(1, 0, "main"), CallReturned(1, 20, "1"))
    assert find_failing_stack(recording, build_trees(recording)) is None
