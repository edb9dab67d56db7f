"""`crash` of JavaScript: what emptied a collection, wrong keys, a lost `this`, promises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from debuggees import find_marker, find_source

PROGRAM = "results/removed.js"
MARKS = {"element": "promises", "pattern": "promises"}  # the others have their own
ANSWERS = [
    ("cleared", 'shelf.names.get("a")', "'a' taken out of shelf.names"),
    ("shortened", "shelf.items.at(-1)", "the last item taken out of shelf.items"),
    ("deleted", "names.get(key)", "'b' taken out of names"),
    ("popped", "items.pop()", "the last item taken out of items"),
    ("shifted", "items.shift()", "the last item taken out of items"),
    ("spliced", "items[0]", "items[0] removed by splice"),
    ("reduced", "items", "the last item taken out of items"),
    ("yielded", "turns.next().value", "the generator has no more, it yielded 1 item"),
    ("index", "items[last]", "items[last]: index 2 in an array of 2"),
    ("key", "prices[key]", "prices[key]: no property 'b'"),
    ("plain", "this", "total is called without an object, Shelf.total with this = undefined"),
    ("callback", "this", "map calls Shelf.total with this = undefined"),
    ("timer", "this.items", "setTimeout calls Shelf.total with this = an object of its own"),
    ("inline", "this.rows", "map calls count with this = the global object"),
    ("promises", "one", "found[1] returned for element 1"),
    ("element", "found[1]", "resolved by load(key=2)"),
    ("pattern", "second", "second returned for element 1"),
    ("date", "day", "day written"),
    ("text", "text", "text written"),
    ("iterable", "pairs", "pairs written"),
    ("nested", "row.user", "set in the literal that made the object"),
    ("counted", "width", "width written"),
    ("mixed", "more", "more written"),
    ("unnamed", "action", "action written"),
    ("frozen", "items", "items written"),
    ("extended", "Base", "assigned to Base"),
]


@pytest.mark.adapter("js-debug")
@pytest.mark.parametrize(("bug", "expression", "text"), ANSWERS, ids=[one[0] for one in ANSWERS])
def test_the_cause_is_in_the_first_answer(
    cli: Callable[..., Any], bug: str, expression: str, text: str
) -> None:
    command = ("crash", "--json", "--", "node", "removed.js", bug)
    why = cli(*command, cwd=find_source(PROGRAM).parent, timeout=60).data["data"]["why"]
    assert (why["expression"], text in why["text"]) == (expression, True)
    lines = [why["frame"]["line"], *(one["line"] for one in why.get("earlier", ()))]
    assert find_marker(PROGRAM, MARKS.get(bug, bug)) in lines


PATTERNS = "results/patterns.js"
TAKEN = [
    ("given", "{ name }", "user set in the literal", "given"),
    ("defaulted", "{ user }", "auth written", "defaulted"),
    ("mapped", "{ city }", "all[1].at written", "mapped"),
    ("reduced", "{ price }", "the object of orders[1].item made, without it", "reduced"),
    ("listed", "{ on }", "settings.b written", "listed"),
    ("looped", "{ b }", "list[1].a written", "looped"),
    ("called", "{ n }", "cell set in the literal", "called"),
    ("part", "rows()[at].cell", "set in the literal", "called"),
    ("nested", "{ size }", "kids[1].meta set in the literal", "nested"),
    ("handed", "{ x }", "at set in the literal", "handed"),
    ("emitted", "{ x }", "{ x } passed by emit", "emitted"),
    ("assigned", "{ n: cell }", "cell set in the literal", "called"),
    ("awaited", "{ name }", "user set in the literal", "awaited"),
    ("made", 'new Reader("").lines', "written by Reader.constructor(text='')", "made"),
    ("settled", "{ v }", "{ v } is element 1 of all", "settled"),
]


@pytest.mark.adapter("js-debug")
@pytest.mark.parametrize(
    ("bug", "expression", "text", "mark"), TAKEN, ids=[one[0] for one in TAKEN]
)
def test_what_a_pattern_takes_apart_or_a_call_gave_is_followed(
    cli: Callable[..., Any], bug: str, expression: str, text: str, mark: str
) -> None:
    command = ("crash", "--json", "--", "node", "patterns.js", bug)
    why = cli(*command, cwd=find_source(PATTERNS).parent, timeout=60).data["data"]["why"]
    assert (why["expression"], text in why["text"]) == (expression, True)
    lines = [why["frame"]["line"], *(one["line"] for one in why.get("earlier", ()))]
    assert find_marker(PATTERNS, mark) in lines


@pytest.mark.adapter("js-debug")
def test_parameters_that_failed_have_no_value_of_an_earlier_call(cli: Callable[..., Any]) -> None:
    command = ("why", "count", "--at", "crash", "--", "node", "patterns.js", "reduced")
    answer = cli(*command, cwd=find_source(PATTERNS).parent, timeout=60, check=1)
    assert "count has no value at crash" in answer.err
    assert "had not begun" in answer.err
