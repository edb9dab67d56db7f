"""Writes of a value are folded by line, and the last before a location is marked."""

from __future__ import annotations

from debugger.questions.who_wrote.value_writers import (
    ValueWrite,
    WriteLocation,
    group_writes,
    last_before,
)

_MAIN = WriteLocation("main", "/src/a.c", 90)


def _write(line: int, new: str, *, caller: int = 90, is_after: bool = False) -> ValueWrite:
    stack = (WriteLocation("add", "/src/a.c", line), WriteLocation("main", "/src/a.c", caller))
    return ValueWrite(stack, str(int(new) - 1), new, is_after=is_after)


def test_a_line_that_writes_often_is_told_once_with_its_first_and_last() -> None:
    found = group_writes([_write(10, "1"), _write(12, "2"), _write(10, "3"), _write(10, "4")])
    assert [(one.site.line, one.count, one.first, one.last) for one in found] == [
        (10, 3, 1, 4),
        (12, 1, 2, 2),
    ]
    assert (found[0].first_write.new, found[0].last_write.new) == ("1", "4")


def test_the_last_before_the_place_is_marked_and_what_came_after_is_told_apart() -> None:
    writes = [_write(10, "1"), _write(12, "2"), _write(10, "3", is_after=True)]
    found = group_writes(writes)
    assert [(one.site.line, one.is_last, one.is_after) for one in found] == [
        (10, False, False),
        (12, True, False),
        (10, False, True),
    ]
    assert last_before(writes) == writes[1]


def test_ways_to_a_line_are_counted_by_its_callers_lines() -> None:
    (found,) = group_writes([_write(10, "1"), _write(10, "2", caller=91), _write(10, "3")])
    assert found.callers == 2


def test_writes_only_after_the_place_have_no_last_before() -> None:
    writes = [_write(10, "1", is_after=True)]
    assert last_before(writes) is None
    assert not group_writes(writes)[0].is_last
    assert group_writes([]) == []
