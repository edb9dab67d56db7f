"""Two versions of a source are compared line by line, with insertions."""

from __future__ import annotations

from debugger.recorders.model import (
    CallEntered,
    LinePassed,
    LinesSkipped,
    RecordedFunction,
    RecordedValue,
    Recording,
    ValuesChanged,
)
from debugger.recorders.run_alignment import (
    RunPoint,
    align_runs,
    describe_changes,
    find_counterparts,
    match_lines,
    move_points,
    run_points,
)
from debugger.sources.function_span import innermost_function, list_functions

SOURCE = """
class Shop:
    @cached
    def total(self):
        def inner(x):
            return x
        return inner(1)

async def main():
    pass
"""


def test_functions_are_found_with_their_full_names_and_first_lines():
    assert [(one.name, one.line, one.last) for one in list_functions(SOURCE)] == [
        ("Shop.total", 3, 7),
        ("Shop.total.inner", 5, 6),
        ("main", 9, 10),
    ]
    assert list_functions("def broken(") == []


def test_functions_in_blocks_of_all_kinds_are_found():
    source = """try:
    def tried(): pass
except OSError:
    def failed(): pass
else:
    def passed(): pass
finally:
    with x as y:
        class Ended:
            def last(self): pass
match x:
    case 1:
        async def matched(): pass
"""
    loops = (
        "while x:\n    if y: pass\n    else:\n        for _ in x:\n            def left(): pass\n"
    )
    found = [one.name for one in list_functions(source + loops)]
    assert found == ["tried", "failed", "passed", "Ended.last", "matched", "left"]


def test_the_innermost_function_is_the_one_that_a_line_is_in():
    assert innermost_function(SOURCE, 6).name == "Shop.total.inner"
    assert innermost_function(SOURCE, 7).name == "Shop.total"
    assert innermost_function(SOURCE, 8) is None


def test_lines_have_their_counterparts_and_changed_ones_too():
    assert match_lines(["a", "b", "c"], ["new", "a", "B", "c"]) == {1: 2, 2: 3, 3: 4}
    assert match_lines(["a", "b"], ["a", "x", "y"]) == {1: 1}


def test_files_at_the_same_place_below_two_folders_are_the_same():
    found = find_counterparts(["/new/a/x.py", "/new/y.py"], ["/new"], ["/old/a/x.py"], ["/old"])
    assert found == {"/new/a/x.py": "/old/a/x.py"}
    assert find_counterparts(["/old/x.py"], ["/old"], ["/old/x.py"], ["/old"]) == {}


def test_two_versions_of_a_package_below_one_root_are_matched_if_they_are_alike():
    texts = {
        "/app/new/a/x.py": ["a", "b", "c"],
        "/app/new/y.py": ["d", "e"],
        "/app/old/a/x.py": ["a", "B", "c"],
        "/app/old/y.py": ["d", "e"],
        "/app/one/z.py": ["f", "g"],
        "/app/two/z.py": ["h", "i"],
        "/app/main.py": ["j"],
    }
    own = ["/app/main.py", "/app/new/a/x.py", "/app/new/y.py", "/app/one/z.py"]
    others = ["/app/main.py", "/app/old/a/x.py", "/app/old/y.py", "/app/two/z.py"]
    found = find_counterparts(own, ["/app"], others, ["/app"], texts.__getitem__)
    assert found == {"/app/new/a/x.py": "/app/old/a/x.py", "/app/new/y.py": "/app/old/y.py"}
    assert describe_changes(found, texts.__getitem__) == ["the sources differ at x.py:2 B / b"]
    assert describe_changes({}, texts.__getitem__) == []


def point(file: str, line: int, value: str = "1", due: int = 0) -> RunPoint:
    return RunPoint(
        "line", RecordedFunction(1, "f", file, 1), line, 1, (RecordedValue("n", value),), due=due
    )


TEXTS = {"/old/x.py": ["def f():", "n = 1"], "/new/x.py": ["", "def f():", "n = 2"]}


def test_a_moved_line_is_the_same_step_and_its_value_is_compared():
    right = move_points([point("/new/x.py", 3, "2")], {"/new/x.py": "/old/x.py"}, TEXTS.__getitem__)
    found = align_runs([point("/old/x.py", 2)], right)
    assert found.divergence is None
    assert [(one.name, one.left, one.right) for one in found.differences] == [("n", "1", "2")]
    assert right[0].line == 3  # as it is told


def test_a_line_that_the_other_does_not_have_is_no_step_of_it():
    right = move_points([point("/new/x.py", 1)], {"/new/x.py": "/old/x.py"}, TEXTS.__getitem__)
    assert align_runs([point("/old/x.py", 1)], right).divergence is not None


def test_what_a_line_changed_differs_only_after_its_calls_have_returned():
    def run(value: str) -> list[RunPoint]:
        calls = RecordedFunction(2, "g", "/old/x.py", 5)
        back = RunPoint("return", calls, 0, 2, (RecordedValue("returned", value),))
        return [point("/old/x.py", 2, value, due=3), RunPoint("call", calls, 0, 2), back]

    found = align_runs(run("1"), run("2"))
    assert [one.name for one in found.differences] == ["returned", "n"]


def test_what_a_line_changes_after_the_runs_part_is_not_told_as_before():
    def run(value: str, last: int) -> list[RunPoint]:
        return [point("/old/x.py", 2, value, due=2), point("/old/x.py", last, "0")]

    found = align_runs(run("1", 3), run("2", 4))
    assert found.differences == ()
    assert found.divergence is not None


def test_what_changes_after_the_last_recorded_line_belongs_to_no_line():
    events = (
        CallEntered(1, 0, 1, 1, 0),
        LinePassed(1, 1, 2),
        ValuesChanged(1, (RecordedValue("n", "1"),)),
        LinesSkipped(1, 40),
        ValuesChanged(1, (RecordedValue("n", "9"),)),
    )
    found = run_points(Recording(events=events))
    assert [one.values for one in found] == [(), (RecordedValue("n", "1"),)]
