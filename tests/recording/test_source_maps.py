"""Tests of counts that are converted to the sources that a source map names."""

from __future__ import annotations

import json
from pathlib import Path

from debugger.recorders.node.source_maps import CachedMap, MapData, counts_of_sources
from debugger.recorders.node.v8_ranges import CountedRange, V8Function, read_covered
from debugger.sources.source_map import original_sources, source_file

SOURCE = """type Item = { price: number };
export class Cart {
  public async add(item: Item): Promise<void> {
    await item;
  }
}
"""
SCRIPT = "var h=()=>1;\nclass Cart{constructor(){}async a(t){await t}}\n"
# Of the script's second line: the class, its constructor (the class, too), `async`, `await`, `}`.
MAPPINGS = ";AACA,WAAA,eACE,UACE,OACF"


def test_a_function_is_found_in_its_source_under_its_name_there() -> None:
    lengths = tuple(len(line) for line in SCRIPT.split("\n"))
    cached = CachedMap(lengths, MapData(MAPPINGS, ("cart.ts",)))
    method = SCRIPT.index("async")
    added = SCRIPT.index("constructor")
    counted = [
        V8Function("", (CountedRange(0, len(SCRIPT), 1),)),
        V8Function("h", (CountedRange(6, 11, 4),)),
        V8Function("Cart", (CountedRange(added, added + 15, 2),)),
        V8Function("a", (CountedRange(method, SCRIPT.index("}}", method) + 1, 3),)),
    ]
    found = counts_of_sources(counted, cached, {0: SOURCE})[0]
    rows = read_covered(found.functions, "cart.ts", SOURCE, code_lines=found.code_lines)
    assert [(one.name, one.line, one.count) for one in rows] == [
        ("<module>", 1, 1),
        ("Cart.add", 3, 3),
    ]
    assert [(part.line, part.times) for part in rows[1].parts] == [(4, 3)]
    # A type is no code.
    assert 1 not in [part.line for part in rows[0].parts]


def test_sources_are_files_and_what_a_bundler_names_is_searched_around_the_script() -> None:
    assert source_file("file:///p/a%20b.ts", "/p/out/x.js") == "/p/a b.ts"
    assert source_file("webpack://app/src/none.ts", "/p/out/x.js") is None


def test_the_sources_that_webpack_names_are_files_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.ts").write_text("")
    (tmp_path / "dist").mkdir()
    script = tmp_path / "dist/out.js"
    script.write_text("//# sourceMappingURL=out.js.map\n")
    names = [
        "webpack://app/./src/a.ts",
        "webpack://app/webpack/bootstrap",
        "../src/a.ts",
        "../b.ts",
    ]
    (tmp_path / "dist/out.js.map").write_text(json.dumps({"sources": names}))
    assert original_sources(script) == [tmp_path / "src/a.ts"] * 2


def test_a_minified_function_has_its_name_of_the_source_and_a_constructor_its_class() -> None:
    source = (
        "export function twice(n) {\n  return 2 * n;\n}\nclass Cart {\n  constructor(a) {}\n}\n"
    )
    script = "x=function(t){return 2*t}\nclass C{constructor(t){}}\n"
    lengths = tuple(len(line) for line in script.split("\n"))
    # Where the function and the constructor begin, and their last brackets.
    cached = CachedMap(lengths, MapData("EAAA,sBAEA;QAEE,eAAgB", ("a.js",)))
    at = script.index("constructor")
    counted = [
        V8Function("", (CountedRange(2, 25, 2),)),
        V8Function("C", (CountedRange(at, at + 16, 1),)),
    ]
    found = counts_of_sources(counted, cached, {0: source})[0]
    rows = read_covered(found.functions, "a.js", source, code_lines=found.code_lines)
    assert [(one.name, one.line) for one in rows[1:]] == [("twice", 1), ("Cart.constructor", 5)]
