"""Counts of functions, lines and parts of lines are read, summed and compared."""

from __future__ import annotations

from debugger.recorders import call_tree
from debugger.recorders.counted_recording import CoveredFunction, make_recording, unify_parts
from debugger.recorders.go.go_cover import CoverBlock, read_covered, with_counters
from debugger.recorders.model import PartCounts, RecordedProcess, Recording, SourcePart
from debugger.recorders.node import v8_ranges
from debugger.recorders.node.v8_ranges import CountedRange, V8Function
from debugger.recorders.run_alignment import at_home
from debugger.recorders.suspect_ranking import CodePlace, rank_suspects, run_spectrum

SCRIPT = """'use strict';
// A comment is no code.
const SMILE = '\U0001f600'; function late() { return 1; }
class Shop {
  price(kind) {
    if (kind === 'free') return 0;
    return kind.length;
  }
}
const all = [1, 2].map((n) => n + 1);
const some = [3].map((n) => n * 2);
"""


def span(text: str, count: int, *, source: str = SCRIPT) -> CountedRange:
    """Return where a text is, in UTF-16 units."""
    at = source.index(text)
    start = len(source[:at].encode("utf-16-le")) // 2
    return CountedRange(start, start + len(text.encode("utf-16-le")) // 2, count)


def counted_function(name: str, text: str, count: int, *inner: CountedRange) -> V8Function:
    return V8Function(name, (span(text, count), *inner))


PRICE = SCRIPT[SCRIPT.index("price(") : SCRIPT.index("\n}\nconst")]


def ran(*, is_free: bool) -> Recording:
    inner = span("return 0;", 1) if is_free else span("return 0;", 0)
    after = CountedRange(inner.end, span(PRICE, 0).end, 0 if is_free else 1)
    found = [
        counted_function("", SCRIPT, 1),
        counted_function("late", "function late() { return 1; }", 0),
        counted_function("price", PRICE, 1, *([after] if is_free else [inner])),
        counted_function("", "(n) => n + 1", 2),
        counted_function("", "(n) => n * 2", 1),
    ]
    return make_recording(v8_ranges.read_covered(found, "/p/shop.js", SCRIPT), RecordedProcess())


def parts(one: Recording) -> dict[str, dict[tuple[int, int], int]]:
    return {
        one.find_function(event.function).name: {(p.line, p.column): p.times for p in event.parts}
        for event in one.events
        if isinstance(event, PartCounts)
    }


def test_functions_are_named_by_what_they_are_in_and_counted():
    calls = call_tree.build_trees(ran(is_free=False))
    known = ran(is_free=False)
    assert [(known.find_function(one.function).name, one.count) for one in calls] == [
        ("<module>", 1),
        ("Shop.price", 1),
        ("<anonymous>", 2),
        ("<anonymous> 2", 1),
    ]


def test_lines_and_what_begins_within_them_are_counted():
    found = parts(ran(is_free=False))
    assert found["Shop.price"] == {(6, 0): 1, (6, 26): 0, (7, 0): 1}
    # Neither comments nor brackets are lines that run; a function within a line is a part of it.
    assert found["<module>"] == {(3, 0): 1, (4, 0): 1, (10, 0): 1, (11, 0): 1}
    assert found["<anonymous>"] == {(10, 24): 2}


def test_a_source_that_was_changed_when_it_was_loaded_is_known_by_its_length():
    assert v8_ranges.is_of([V8Function("", (CountedRange(0, 3, 1),))], "abc")
    assert not v8_ranges.is_of([V8Function("", (CountedRange(0, 30, 1),))], "abc")


def test_a_part_that_one_run_does_not_tell_ran_as_often_as_what_is_around_it():
    bad, good = unify_parts([[ran(is_free=True)], [ran(is_free=False)]])
    assert parts(bad[0])["Shop.price"] == {(6, 0): 1, (6, 26): 1, (7, 0): 0}
    found = rank_suspects([run_spectrum(bad, passed=False), run_spectrum(good, passed=True)])
    first = found.lines[0]
    assert (first.place, first.score) == (CodePlace("/p/shop.js", "Shop.price", 6, 26), 1.0)


def test_what_is_told_of_a_function_twice_is_added_up():
    one = CoveredFunction("f", "/p/a.js", 1, 2, (SourcePart(1, times=2), SourcePart(1, 9, 12, 0)))
    two = CoveredFunction("f", "/p/a.js", 1, 1, (SourcePart(1, times=1),))
    made = make_recording([one, two], RecordedProcess())
    assert parts(made) == {"f": {(1, 0): 3, (1, 9): 1}}
    assert made.seen == 3


GO = """package duty

func (p *Plan) Next(day string) string {
\tif p.away {
\t\treturn "nobody"
\t}
\treturn day
}

func unused() { println(1) }
"""
COVERED = (
    GO.replace("{\n\tif", "{C.Count[0]++;\n\tif")
    + """
var C = struct {
\tCount     [3]uint32
} {
\tPos: [3 * 3]uint32{
\t\t3, 4, 0xc0028, // [0]
\t\t7, 7, 0xc0002, // [1]
\t\t4, 6, 0x3000c, // [2]
\t\t10, 10, 0x1c0010, // [3]
\t},
}
"""
)


def test_the_counters_of_go_are_made_by_us_and_their_places_read():
    text, blocks = with_counters(COVERED, "C", 'made("0", 4)')
    assert text.endswith('println(1) }\n\nvar C = made("0", 4)\n')
    assert "C.Count[0]++" in text
    assert blocks[0] == CoverBlock((3, 40), (4, 12))
    assert with_counters(GO, "C", "made") == (GO, ())


def test_lines_of_go_are_counted_by_their_blocks():
    _, blocks = with_counters(COVERED, "C", "made")
    times = [one._replace(times=count) for one, count in zip(blocks, (2, 1, 1, 0), strict=True)]
    (only,) = read_covered("/p/duty.go", times, GO.split("\n"))
    assert (only.name, only.line, only.count) == ("Plan.Next", 3, 2)
    assert [(one.line, one.times) for one in only.parts] == [(4, 2), (5, 1), (7, 1)]


def test_a_run_of_an_older_source_is_compared_by_the_lines_of_the_newer():
    old, new = ["a", "b", "c"], ["a", "new", "b", "other"]
    texts = {"/old/x.py": old, "/new/x.py": new}
    one = run_spectrum(
        [
            make_recording(
                [
                    CoveredFunction(
                        "f", "/old/x.py", 1, 1, (SourcePart(2, times=1), SourcePart(3, times=1))
                    )
                ],
                RecordedProcess(),
            )
        ],
        passed=True,
    )
    found = at_home(one, {"/old/x.py": "/new/x.py"}, texts.__getitem__)
    assert found.functions == {CodePlace("/new/x.py", "f")}
    # The line that was changed stands in the place of the other; what was put in between has none.
    assert found.lines == {CodePlace("/new/x.py", "f", 3), CodePlace("/new/x.py", "f", 4)}
