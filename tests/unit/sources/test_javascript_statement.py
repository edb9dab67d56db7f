from __future__ import annotations

import pytest

from debugger.sources.javascript_statement import (
    cut_statement,
    find_destructured,
    find_index,
    find_pattern,
)

READ = "Cannot read properties of null (reading 'name')"
ITERATED = "undefined is not iterable (cannot read property Symbol(Symbol.iterator))"


@pytest.mark.parametrize(
    ("text", "at", "statement"),
    [
        ("rows.map((row) => row.user.name)", "name", "row.user.name"),
        ("function f(c) { return new URL(c.host); }", "new", "return new URL(c.host);"),
        ("const f = (rows) => rows.reduce((a, b) => a + b.n.x(0), '');", "x", "a + b.n.x(0)"),
        ("let t = 0n; for (const x of xs) t += x; return t;", "+=", "for (const x of xs) t += x;"),
        ("return load({ a: x.y }).b.c;", "c", "return load({ a: x.y }).b.c;"),
        ("return load({ a: x.y.z }).then(q)", "z", "return load({ a: x.y.z }).then(q)"),
        ("if (a) { b(); } c.d.e();", "e", "c.d.e();"),
        ("class A { size() { return this.w / this.h; } f() {} }", "/", "return this.w / this.h;"),
        (
            "const { user: { name }, size } = row;",
            "name",
            "const { user: { name }, size } = row;",
        ),
        ("x = a.b.c", "c", "x = a.b.c"),
        ('log("a; b", c.d.e)', "e", 'log("a; b", c.d.e)'),
    ],
)
def test_a_statement_is_cut_out_of_its_line(text: str, at: str, statement: str) -> None:
    assert cut_statement(text, text.rindex(at)) == statement


@pytest.mark.parametrize(
    ("statement", "message", "taken"),
    [
        ("const { user: { name }, size } = row;", READ, "row.user"),
        ("({ a: { name } = {} } = x.y);", READ, "x.y.a"),
        ("const [first, [a, b]] = o.list", ITERATED, "o.list[1]"),
        ("const { a: { name }, b: { name: other } } = x", READ, ""),
        ("const { name } = row", READ, ""),
        ("const { user: { name } } = load(row)", READ, ""),
        ("row.user.name", READ, ""),
    ],
)
def test_what_a_pattern_takes_apart_is_found(statement: str, message: str, taken: str) -> None:
    assert find_destructured(statement, message) == taken


def test_the_index_into_what_is_written_in_place_is_found() -> None:
    assert find_index("return [5, 6, 7][at].name(1)", READ) == "at"
    assert find_index("return { a: 1 }[row.key].name", READ) == "row.key"
    assert find_index("return { a: 1 }[row.key].other", READ) == ""
    assert find_index("return load()[at].name", READ) == ""


@pytest.mark.parametrize(
    ("text", "marked", "message", "pattern"),
    [
        ("function f({ id, user: { name } }) {", "name", READ, "{ name }"),
        ("rows.map(({ user: { name, age } = {} }) => name)", "name, age", READ, "{ name, age }"),
        ("for (const { user: { name } } of rows) {", "name", READ, "{ name }"),
        ("const { user: { name } } = load();", "name", READ, "{ name }"),
        (
            "f(({ v }) => v)",
            "v }",
            "Cannot destructure property 'v' of 'x' as it is null.",
            "{ v }",
        ),
        ("const f = ([a, [b]]) => a + b;", "[b]", ITERATED, "[b]"),
        ("({ user: { name: other } } = row)", "other", READ, "{ name: other }"),
        ("f({ name: row.user.name })", "name })", READ, ""),
        ("row.user.name", "name", READ, ""),
        ("f({ name })", "name", "Cannot read properties of null", ""),
        ("f([...name])", "name", ITERATED, ""),
    ],
)
def test_the_pattern_that_v8_marks_is_found(
    text: str, marked: str, message: str, pattern: str
) -> None:
    assert find_pattern(text, text.index(marked), message) == pattern
