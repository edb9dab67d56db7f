"""The conditions before a line are found, with what they compare."""

from __future__ import annotations

import pytest

from debuggees import program_text
from debugger.sources.deciding_condition import (
    find_conditions,
    find_part_conditions,
    find_reaching,
    find_skipped,
)

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


REACHED_PYTHON = """\
def load(text, kinds):
    if not text:
        return None
    for kind in kinds:
        if kind == "a":
            continue
        if kind == "b":
            log(kind)
        elif kind == "c":
            pass
        else:
            raise ValueError(kind)
    return text[0]
"""
REACHED_C = program_text("counted_lines/reached.c")
REACHED_GO = """\
func load(path string) (int, error) {
\tf, err := open(path)
\tif err != nil { return 0, err }
\treturn f.size, nil
}
"""


@pytest.mark.parametrize(
    ("path", "source", "line", "lines"),
    [
        ("a.py", REACHED_PYTHON, 12, [9, 7, 5]),
        ("a.py", REACHED_PYTHON, 13, [2]),
        ("a.py", REACHED_PYTHON, 3, [2]),
        ("a.c", REACHED_C, 11, [10, 8, 5]),
        ("a.c", REACHED_C, 14, [2]),
        ("a.c", REACHED_C, 17, []),
        ("a.go", REACHED_GO, 4, [3]),
        ("a.py", "if (", 1, []),
    ],
)
def test_a_line_is_reached_by_the_conditions_around_it_and_the_last_way_out_before_it(
    path, source, line, lines
):
    assert [one.line for one in find_reaching(path, source, line)] == lines


# The bracket of a function has a line of its own.
_AFTER_FUNCTION = """\
int f(int *p)
{
    if (!p)
        return 0;
    return *p;
}
int g(int n)
{
    n++;
    return n; // here
}
"""
_AFTER_METHOD = """\
struct A {
    int f(int n) const
    {
        if (n)
            return 0;
        return 1;
    }
    int g(int n)
    {
        return n; // here
    }
};
"""
# A `goto` leads past what stands before its label.
_AFTER_LABEL = """\
int f(int *p)
{
    if (!p)
        goto fail;
    return *p;
fail:
    return 0; // here
}
"""


@pytest.mark.parametrize("source", [_AFTER_FUNCTION, _AFTER_METHOD, _AFTER_LABEL])
def test_what_stands_before_a_function_or_a_label_decides_nothing(source: str) -> None:
    line = next(at for at, one in enumerate(source.splitlines(), 1) if "// here" in one)
    assert find_reaching("a.cpp", source, line) == []


def test_a_block_whose_bracket_has_a_line_of_its_own_is_reached_by_its_condition() -> None:
    source = "int f(int *p)\n{\n    if (p && g(1))\n    {\n        return 0;\n    }\n}\n"
    assert [one.written for one in find_reaching("a.cpp", source, 5)] == ["p && g(1)"]


SKIPPED = """\
def read(text, mode):
    size = 1
    if text:
        size = 2
    elif mode:
        size = 3
    if mode == 1:
        if text:
            size = 4
    else:
        size = 5
    if mode == 2:
        mode = 3
    return size
"""


def test_conditions_by_which_an_assignment_was_left_out_are_those_that_were_evaluated() -> None:
    every = find_skipped("a.py", SKIPPED, "size", range(2, 14))
    assert [(one.line, one.is_met) for one in every] == [(7, True), (3, False)]
    assert [one.line for one in find_skipped("a.py", SKIPPED, "size", range(3, 14))] == [7]
    assert [one.line for one in find_skipped("a.py", SKIPPED, "size", range(2, 9))] == [3]
    assert find_skipped("a.c", SKIPPED, "size", range(2, 14)) == []


@pytest.mark.parametrize(
    ("file", "source", "line", "written"),
    [
        ("a.cpp", 'void f() {\n    if (kind == "a") return;\n    g();\n}\n', 3, 'kind == "a"'),
        ("a.c", 'void f() {\n    if (is(kind, ")")) return;\n    g();\n}\n', 3, 'is(kind, ")")'),
        ("a.go", 'func f() {\n\tif kind == "a{" {\n\t\treturn\n\t}\n\tg()\n}\n', 5, 'kind == "a{"'),
    ],
)
def test_a_condition_that_would_have_left_keeps_its_texts(
    file: str, source: str, line: int, written: str
) -> None:
    (found,) = find_reaching(file, source, line)
    assert (found.written, found.is_met) == (written, False)
