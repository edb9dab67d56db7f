"""The source's names are found in minified scripts, by their source maps."""

from __future__ import annotations

from pathlib import Path

import pytest

from debuggees import PROGRAMS
from debugger.sources.compiled_names import SourceIndex, find_original_frame, find_original_names

FOLDER = PROGRAMS / "minified"
SOURCE = FOLDER / "cart.ts"
LINES = SOURCE.read_text().splitlines()


def line_with(part: str) -> int:
    (found,) = [number for number, one in enumerate(LINES, 1) if part in one]
    return found


def compile_at(script: str, part: str, expression: str) -> str:
    names = SourceIndex([FOLDER / "none.js", FOLDER / script]).find_names(str(SOURCE))
    assert names is not None
    return names.compile_expression(expression, line_with(part))


@pytest.mark.parametrize(
    ("part", "expression", "esbuild", "terser"),
    [
        ("this.items.push", "item.name + subtotal", "r.name + t", "t.name + r"),
        ("+= current.price", "[runningTotal, current]", "[r, t]", "[t, r]"),
        ("return runningTotal", "runningTotal", "r", "t"),
        ("const rounded", "amount + currency", "e + r", "t + r"),
        ("if (cart.addItem", "{ name, entry }", "{ name: s, entry: t }", "{ name: o, entry: r }"),
        ("if (cart.addItem", "`${name} ${cart}`", "`${s} ${r}`", "`${o} ${n}`"),
        ("console.log", "ordersSeen", "o", "t"),
    ],
)
def test_a_variable_has_the_name_that_the_script_gives_it_there(part, expression, esbuild, terser):
    assert compile_at("esbuild.js", part, expression) == esbuild
    assert compile_at("terser.js", part, expression) == terser


@pytest.mark.parametrize("script", ["esbuild.js", "terser.js"])
def test_a_removed_variable_fails_with_what_to_write_instead(script):
    made = compile_at(script, "return `${rounded}", "rounded")
    why = f"rounded has no variable in {script} here: write what it is computed from: "
    assert f'throw new ReferenceError("{why}Math.round(amount * 100) / 100")' in made


def test_a_variable_that_another_one_hides_is_not_taken_for_it():
    # In terser's script both are called `t` there.
    made = compile_at("terser.js", "this.items.push", "ordersSeen + item.count")
    assert "ordersSeen has no variable in terser.js here: known are " in made
    assert made.endswith(":ordersSeen) + t.count")


def test_names_of_no_source_stay_as_they_are():
    assert compile_at("esbuild.js", "return runningTotal", "Math.abs(other)") == "Math.abs(other)"
    assert find_original_names(str(FOLDER / "esbuild.js"), FOLDER / "esbuild.js") is None


@pytest.mark.parametrize(
    ("script", "given", "part", "expected"),
    [
        ("esbuild.js", "n.addItem", "this.items.push", "Cart.addItem"),
        ("esbuild.js", "m", "const cart", "readOrders"),
        ("terser.js", "<anonymous>", "const cart", "readOrders"),
        ("terser.js", "<anonymous>", "ordersSeen += 1", "<anonymous>"),
        ("terser.js", "Object.<anonymous>", "console.log", "Object.<anonymous>"),
    ],
)
def test_a_function_has_its_name_of_the_source(script, given, part, expected):
    names = find_original_names(str(SOURCE), FOLDER / script)
    assert names is not None
    line = line_with(part)
    assert names.function_name(given, line, LINES[line - 1].index(part) + 1) == expected


def test_a_location_of_a_script_is_found_in_its_source():
    script = FOLDER / "esbuild.js"
    column = script.read_text().index("this.items.push") + 1
    found = find_original_frame(str(script), 1, column, "n.addItem")
    assert found == ("Cart.addItem", str(SOURCE), line_with("this.items.push"))
    assert find_original_frame(str(script), 1, 1_000_000, "x") is None
    assert find_original_frame(str(SOURCE), 1, 1, "x") is None


def test_an_import_that_has_become_a_property_is_read_from_its_module(tmp_path: Path):
    (tmp_path / "a.ts").write_text("import { total } from './b';\nconst sum = total(1);\n")
    script = tmp_path / "a.js"
    script.write_text("const b_1=require('./b');\nconst sum=(0,b_1.total)(1);\n")
    # `sum`, and `b_1.total` for `total`; TypeScript writes no names.
    source_map = '{"version":3,"sources":["a.ts"],"names":[],"mappings":";MACM,OAAM"}'
    (tmp_path / "a.js.map").write_text(source_map)
    script.write_text(script.read_text() + "//# sourceMappingURL=a.js.map\n")
    names = find_original_names(str(tmp_path / "a.ts"), script)
    assert names is not None
    assert names.compile_expression("total(sum)", 2) == "b_1.total(sum)"
