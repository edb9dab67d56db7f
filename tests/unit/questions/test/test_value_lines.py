"""Which recorded lines made the values of a failed assertion, and what is not known of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from debugger.questions.test.value_sources import find_value_lines
from debugger.recorders.python.inside import line_trace
from debugger.recorders.test_failures import (
    ChangedInPlace,
    FailedFrame,
    FailureLine,
    LineCall,
    NameBinding,
)

SOURCE = """\
def setup_method(self):
    self.a = make()
    self.a.total += 1
def test(self):
    assert self.a.total == 2
def make():
    return compute()
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "test_it.py"
    path.write_text(SOURCE)
    return str(path)


def _frame(file: str) -> FailedFrame:
    return FailedFrame("test", file, 5, (("self", "<T>"),), (FailureLine(5),), (("self", 1),))


def test_lines_of_a_setup_method_are_found_by_the_object_that_both_have(file: str) -> None:
    steps = (
        FailureLine(2, changed=(ChangedInPlace("self", ".a", None, "A()", 1, ".a"),)),
        FailureLine(3, changed=(ChangedInPlace("self", ".a.total", "0", "1", 2, ".total"),)),
    )
    setup = LineCall("setup_method", file, 3, "None", (("self", "<T>"),), steps, 0, (("self", 1),))
    found = find_value_lines(_frame(file), (setup,))
    assert [one.frame.line for one in found.views if one.frame] == [2, 3]
    other = LineCall("setup_method", file, 3, "None", (("self", "<T>"),), steps, 0, (("self", 9),))
    assert find_value_lines(_frame(file), (other,)).views == ()


def test_what_no_line_made_is_named(file: str) -> None:
    assert find_value_lines(_frame(file)).unexplained == ("self.a.total",)


def test_calls_whose_lines_were_not_kept_are_named(file: str) -> None:
    cut = LineCall("compute", file, 7, "3", is_cut=True)
    steps = (FailureLine(7, gave=(cut,)),)
    bound = FailureLine(
        5, (NameBinding("self", "A()"),), (LineCall("make", file, 7, "A()", (), steps),)
    )
    found = find_value_lines(FailedFrame("test", file, 5, (("self", "<T>"),), (bound,)))
    assert [one.function for one in found.without_lines] == ["compute"]


def test_lines_beyond_the_last_thirty_are_counted(file: str) -> None:
    call = LineCall("make", file, 7, "A()")
    bound = FailureLine(5, (NameBinding("self", "A()"),), (call,) * 40)
    found = find_value_lines(FailedFrame("test", file, 5, (("self", "<T>"),), (bound,)))
    assert (len(found.views), found.omitted) == (30, 40 + 1 - 30)


def _call(steps: list[Any]) -> dict[str, Any]:
    count, levels = line_trace._count_lines(steps), line_trace._count_levels(steps)
    return {"steps": steps, "is_cut": False, "lines": count, "levels": levels}


def _depth(steps: list[Any]) -> int:
    return 1 + max((_depth(call["steps"]) for one in steps for call in one[2]), default=0)


def test_lines_of_a_deep_recursion_are_kept_for_some_levels() -> None:
    steps: list[Any] = [[1, [], [], []]]
    for _ in range(200):
        steps = line_trace._limit_steps([[1, [], [_call(steps)], []]])
        assert _depth(steps) <= line_trace._LEVELS + 1
    assert _depth(steps) > line_trace._LEVELS // 2


def test_lines_of_the_innermost_calls_are_dropped_where_there_are_too_many() -> None:
    inner = [[at, [["x", "1", 0]], [], []] for at in range(60)]
    middle = [[1, [], [_call(inner)] * 12, []]]
    steps = line_trace._limit_steps([[1, [], [_call(middle)], []]])
    assert line_trace._count_lines(steps) <= line_trace._LINES
    last = steps[0][2][0]["steps"][0][2][0]
    assert (last["steps"], last["is_cut"]) == ([], True)
