"""The conditions before a line are found, with what they compare."""

from __future__ import annotations

import pytest

from debuggees import program_text
from debugger.sources.deciding_condition import find_conditions, find_part_conditions

PYTHON = program_text("counted_lines/conditions.py")
NODE = program_text("counted_lines/conditions.js")
GO = """\
func total(items []Item, limit int) int {
\tif n, ok := find(items); ok && n > limit {
\t\treturn n
\t}
\treturn 0
}
"""


def found(path: str, source: str, line: int) -> list[tuple[int, str, tuple[str, ...], bool]]:
    every = find_conditions(path, source, line)
    return [(one.line, one.text, one.operands, one.is_met) for one in every]


PRICE = "item.price > limit and len(item.parts) == 2"
PRICE_OPERANDS = ("item.price", "limit", "len(item.parts)")
LOOP = (2, "", ("items",), True)


@pytest.mark.parametrize(
    ("line", "conditions"),
    [
        (4, [(3, PRICE, PRICE_OPERANDS, True), LOOP]),
        (6, [(5, "", ("item", "limit"), True), (3, PRICE, PRICE_OPERANDS, False), LOOP]),
        (8, [(5, "", ("item", "limit"), False), (3, PRICE, PRICE_OPERANDS, False), LOOP]),
        (10, [(9, "", (), True)]),
        (13, []),
        (16, [(14, "", ("limit",), True)]),
        (17, []),
    ],
)
def test_conditions_around_a_line_of_python(line, conditions):
    assert found("a.py", PYTHON, line) == conditions


PRICE_JS = "item.price > limit && item.parts.length === 2"
JS_OPERANDS = ("item.price", "limit", "item.parts.length")
LOOP_JS = (2, "", ("item", "items"), True)


@pytest.mark.parametrize(
    ("line", "conditions"),
    [
        (4, [(3, PRICE_JS, JS_OPERANDS, True), LOOP_JS]),
        (6, [(5, "", ("item", "limit"), True), (3, PRICE_JS, JS_OPERANDS, False), LOOP_JS]),
        (8, [(5, "", ("item", "limit"), False), (3, PRICE_JS, JS_OPERANDS, False), LOOP_JS]),
        (10, [(10, "a[i] === 'x'", ("a[i]",), True), LOOP_JS]),
        (12, []),
    ],
)
def test_conditions_around_a_line_of_javascript(line, conditions):
    assert found("a.js", NODE, line) == conditions


@pytest.mark.parametrize(
    ("words", "part", "conditions"),
    [
        ("start: isOrdered ? +bull : '',", "+bull", [(2, "isOrdered", ("isOrdered",), True)]),
        ("start: isOrdered ? +bull : '',", "''", [(2, "isOrdered", ("isOrdered",), False)]),
        ("return a.kind ? one(2) : two;", "two", [(2, "a.kind", ("a.kind",), False)]),
        ("const n = a >= b ? 1 : 2;", "1", []),
        ("const n = a === b ? 1 : 2;", "2", []),
        ("const n = a?.b ?? 7;", "7", []),
        ("if (ready) go();", "go", [(2, "ready", ("ready",), True)]),
    ],
)
def test_a_part_of_a_line_is_decided_within_the_line(words, part, conditions):
    source = f"if (cap) {{\n    {words}\n}}\n"
    every = find_part_conditions("a.js", source, 2, source.splitlines()[1].index(part) + 1)
    assert [(one.line, one.text, one.operands, one.is_met) for one in every] == conditions


def test_a_condition_of_go_is_what_stands_behind_its_statement():
    assert found("a.go", GO, 3) == [(2, "ok && n > limit", ("ok", "n", "limit"), True)]


@pytest.mark.parametrize("source", ["", "def f(:\n", "}\n" * 3])
def test_a_source_that_cannot_be_read_has_no_conditions(source):
    assert not find_conditions("a.py", source, 1)
    assert not find_conditions("a.c", source, 9)
