"""Where a script's functions and its own statements begin."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from debuggees import find_marker, find_source
from debugger.sources import javascript_outline
from debugger.sources.javascript_outline import outline_text
from debugger.sources.source_map import original_sources


@pytest.mark.parametrize(
    ("text", "name", "arguments", "place"),
    [
        ("function add(a, b = 2, ...rest) {\n  return a;\n}\n", "add", ("a", "b", "rest"), (2, 3)),
        ("async function* walk(tree) { yield tree; }", "walk", ("tree",), (1, 30)),
        ("const twice = (n) => n * 2;", "twice", ("n",), (1, 22)),
        ("const one = n =>\n  n;", "one", ("n",), (2, 3)),
        ("let go = async function (x) { stop(); };", "go", ("x",), (1, 31)),
        ("exports.run = function () {\n  x();\n};", "run", (), (2, 3)),
        ("Point.prototype.move = function (by) { x(); };", "Point.move", ("by",), (1, 40)),
        ("const o = {\n  get(key) { return key; },\n};", "o.get", ("key",), (2, 14)),
        ("const o = { p: { set: (k, v) => { x(); } } };", "o.p.set", ("k", "v"), (1, 35)),
        ("class A {\n  #b(c) {\n    c();\n  }\n}", "A.#b", ("c",), (3, 5)),
        ("class A { static of({ x, y: z }, [w]) { x(); } }", "A.of", ("x", "z", "w"), (1, 41)),
        ("class A { on = (e) => { x(); }; }", "A.on", ("e",), (1, 25)),
        ("function f<T>(private a: Map<T, T>, b?: T): T {\n  x();\n}", "f", ("a", "b"), (2, 3)),
        ("const f = (a: string): number => { x(); };", "f", ("a",), (1, 36)),
    ],
)
def test_a_function_is_found_by_its_name_with_its_arguments_and_its_first_code(
    text: str, name: str, arguments: tuple[str, ...], place: tuple[int, int]
):
    found = outline_text(text).find_named(name)
    assert found is not None
    assert (found.name, found.arguments, (found.line, found.column)) == (name, arguments, place)


@pytest.mark.parametrize(
    "text",
    [
        "// function ghost() {}\n",
        "/* function ghost() {} */",
        "const s = 'function ghost() {}';",
        'const s = "function ghost() {}";',
        "const s = `\nfunction ghost() {}\n`;",
        "const r = /function ghost() {}/;",
        "if (ghost()) { x(); }",
        "new Thing(ghost()).x();",
    ],
)
def test_what_only_looks_like_a_function_is_none(text: str):
    assert outline_text(text).find_named("ghost") is None


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("#!/usr/bin/env node\n'use strict';\n\nmain();\n", (4, 1)),
        ("function f() {\n  return 1;\n}\nlet x;\nlet y = 1;\n", (5, 1)),
        ("import fs from 'fs';\nexport class A { b() {} }\nexport const c = fs.d();\n", (3, 1)),
        ("interface A { b: string }\ntype C = A;\nexport { D };\nrun();", (4, 1)),
        ("function f() {}\nclass A {}\n", None),
        ("", None),
    ],
)
def test_the_first_statement_is_the_first_that_has_code_of_its_own(
    text: str, start: tuple[int, int] | None
):
    assert outline_text(text).start == start


def test_a_line_is_in_the_innermost_function_enclosing_it():
    outline = outline_text("function a(x) {\n  return [1].map((y) => {\n    y();\n  });\n}\n")
    assert [
        outline.innermost_function(line) and outline.innermost_function(line).arguments
        for line in (2, 3, 5, 6)
    ] == [
        ("y",),
        ("y",),
        ("x",),
        None,
    ]


def test_a_name_with_its_class_is_found_and_without_it_too():
    outline = javascript_outline.outline_file(str(find_source("loop.js")))
    assert outline is not None
    found = outline.find_named("Account.deposit")
    assert found is not None
    assert found.line == find_marker("loop.js", "deposit")
    assert outline.find_named("deposit") is found
    assert outline.find_named("posit") is None


def test_a_file_that_changes_is_read_again(tmp_path: Path):
    file = tmp_path / "a.js"
    file.write_text("function old() { x(); }")
    before = javascript_outline.outline_file(str(file))
    file.write_text("function renewed() { x(); }")
    after = javascript_outline.outline_file(str(file))
    assert before is not None
    assert after is not None
    assert (before.find_named("old"), after.find_named("old")) == (before.functions[0], None)
    assert javascript_outline.outline_file(str(tmp_path / "none.js")) is None


def test_a_compiled_file_names_its_sources_that_are_here(tmp_path: Path):
    (tmp_path / "a.ts").write_text("")
    told = json.dumps({"version": 3, "sources": ["../a.ts", "../gone.ts"]})
    out = tmp_path / "out"
    out.mkdir()
    (out / "a.js.map").write_text(told)
    (out / "a.js").write_text("x();\n//# sourceMappingURL=a.js.map\n")
    inline = base64.b64encode(told.encode()).decode()
    data = f"//# sourceMappingURL=data:application/json;base64,{inline}\n"
    (out / "b.js").write_text("x();\n" + data)
    (out / "c.js").write_text("//# sourceMappingURL=gone.map\n")
    (out / "d.js").write_text("x();\n")
    assert original_sources(out / "a.js") == [tmp_path / "a.ts"]
    assert original_sources(out / "b.js") == [tmp_path / "a.ts"]
    assert original_sources(out / "c.js") == []
    assert original_sources(out / "d.js") == []


def test_an_arrow_function_begins_behind_the_statement_that_holds_it():
    outline = outline_text("function total(n) {\n  const double = (k) => k * 2;\n  return n;\n}\n")
    column = "  const double = (k)".index("(") + 1
    outer = outline.innermost_function(2, column)
    inner = outline.innermost_function(2, column + len("(k) => "))
    assert outer is not None
    assert inner is not None
    assert (outer.arguments, inner.arguments) == (("n",), ("k",))
