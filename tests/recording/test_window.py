"""The locations between which counts are reported, and the counts of that part."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest

from debugger.questions.recordings.function_lookup import matches_name
from debugger.recorders.go.go_cover import (
    BEGIN,
    END,
    CoverBlock,
    GoMark,
    find_counter_files,
    find_marks,
    read_covered,
    with_marks,
)
from debugger.recorders.model import FunctionPlace, RecordingWindow
from debugger.recorders.node.v8_ranges import (
    CountedRange,
    V8Function,
    find_window_marks,
    of_part,
    with_call,
)

_TEXT = """package duty

func (p *Plan) Next(day string) string {
\tif p.away {
\t\treturn "nobody"
\t}
\ttext := `{
\t(`
\t// A comment.
\tdays := map[string]int{
\t\t"a": 1,
\t}
\tuse(text,
\t\tdays)
\treturn day
}
"""
GO = _TEXT.split("\n")
BLOCKS = (CoverBlock((3, 41), (4, 12)), CoverBlock((7, 2), (15, 12)), CoverBlock((4, 12), (6, 3)))


def window(start: FunctionPlace, to: FunctionPlace) -> RecordingWindow:
    return RecordingWindow(start, to, matches_name)


@pytest.mark.parametrize("name", ["Next", "Plan.Next", "(*Plan).Next", "duty.Plan.Next", "Pl*"])
def test_a_function_of_go_is_entered_with_its_first_block(name: str):
    wanted = window(FunctionPlace(name=name), FunctionPlace(name="other"))
    assert find_marks(wanted, "/p/duty.go", "duty", BLOCKS, GO) == [GoMark(0, 0, BEGIN)]


@pytest.mark.parametrize(
    ("line", "block", "statement"),
    [(3, 0, 0), (4, 0, 0), (5, 2, 0), (7, 1, 0), (8, 1, 0), (9, 1, 0), (10, 1, 10), (11, 1, 10),
     (13, 1, 13), (14, 1, 13), (15, 1, 15), (16, 0, 0)],
)  # fmt: skip
def test_a_line_of_go_is_passed_where_its_statement_begins(line: int, block: int, statement: int):
    wanted = window(FunctionPlace(name="none"), FunctionPlace(file="duty.go", line=line))
    assert find_marks(wanted, "/p/duty.go", "duty", BLOCKS, GO) == [GoMark(block, statement, END)]
    assert find_marks(wanted, "/p/other.go", "duty", BLOCKS, GO) == []


def test_places_of_go_are_told_before_the_counter_or_the_statement():
    text = "//line a.go:1:1\nfunc f() {C.Count[0]++;\n\tg()\n\th()\n}\n"
    written = with_marks(text, "C", [GoMark(0, 0, BEGIN | END), GoMark(0, 3, END)])
    assert "{debuggerPassed(3, &C.Count[0], true); C.Count[0]++;\n\tg()\n" in written
    assert "\n\tdebuggerPassed(2, &C.Count[0], false); h()\n" in written


def test_counts_of_go_are_those_since_the_beginning_up_to_the_end(tmp_path: Path):
    files = {
        "7-0": [9, 9, 9], "begin-7-0": [1, 0, 3], "end-7-0": [4, 0, 2], "7-edges": [2, 2],
        "8-0": [5, 0, 0], "begin-8-0": [1, 0, 0], "8-edges": [2, 0], "9-0": [6, 0, 0],
        "7-1": [3], "end-7-1": [2],
    }  # fmt: skip
    for name, numbers in files.items():
        (tmp_path / name).write_bytes(array("I", numbers).tobytes())
    counts = find_counter_files(tmp_path)
    # A counter that was set back by another thread counts as nothing.
    assert list(counts[7].read_counts(0) or ()) == [3, 0, 0]
    assert list(counts[7].read_counts(1) or ()) == [2]
    assert list(counts[8].read_counts(0) or ()) == [4, 0, 0]
    assert list(counts[9].read_counts(0) or ()) == [6, 0, 0]
    assert [(one.has_begun, one.has_ended) for one in counts.values()] == [
        (True, True),
        (True, False),
        (False, False),
    ]


def test_of_a_function_that_was_entered_before_only_what_it_came_to_is_told():
    blocks = [one._replace(times=times) for one, times in zip(BLOCKS, (0, 2, 0), strict=True)]
    (only,) = read_covered("/p/duty.go", blocks, GO)
    assert (only.name, only.count) == ("Plan.Next", 0)
    assert {part.line for part in only.parts} >= {10, 15}
    assert all(part.times == 2 for part in only.parts)


SHOP = """class Shop {
  open(kind) {
    if (kind) return 0;
    return 1;
  }
}
function outer() {
  const inner = (n) => {
    return n;
  };
  return inner(1);
}
"""


@pytest.mark.parametrize(
    ("place", "at"),
    [
        (FunctionPlace(name="open"), (3, 5, True)),
        (FunctionPlace(name="Shop.open"), (3, 5, True)),
        (FunctionPlace(name="outer.inner"), (9, 5, True)),
        (FunctionPlace(file="shop.mjs", line=2), (3, 5, True)),
        (FunctionPlace(file="shop.mjs", line=3), (3, 5, True)),
        (FunctionPlace(file="shop.mjs", line=4), (4, 1, False)),
        (FunctionPlace(file="shop.mjs", line=11), (11, 1, False)),
    ],
)
def test_places_of_a_script_are_where_code_begins(
    tmp_path: Path, place: FunctionPlace, at: tuple[int, int, bool]
):
    (tmp_path / "shop.mjs").write_text(SHOP)
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "shop.mjs").write_text(SHOP)
    wanted = find_window_marks(window(place, FunctionPlace(name="none")), [str(tmp_path)])
    (one,) = wanted.start
    assert (one.line, one.column, one.is_entry) == at
    assert (one.url, wanted.to) == ((tmp_path / "shop.mjs").resolve().as_uri(), ())


def test_the_call_with_which_a_part_begins_is_counted_with_its_blocks():
    before = [
        V8Function("", (CountedRange(0, 90, 1),)),
        V8Function("f", (CountedRange(10, 40, 1), CountedRange(20, 40, 0))),
    ]
    part = [V8Function("f", (CountedRange(10, 40, 0), CountedRange(20, 30, 1)))]
    known = of_part(part, [before, part])
    assert {one.name: one.ranges[0].count for one in known} == {"f": 0, "": 0}
    (whole,) = [one for one in with_call(known, before, 12) if one.name == "f"]
    assert whole.ranges == (CountedRange(10, 40, 1), CountedRange(30, 40, 0))
    # Where it had been called more often, what was counted is not of this call alone.
    often = [V8Function("f", (CountedRange(10, 40, 3),))]
    assert with_call(known, often, 12) == known
