"""Tests of counts that are converted to the sources that a source map names."""

from __future__ import annotations

from debugger.recording.node.ranges import Entered, Range, covered
from debugger.recording.node.source_maps import CachedMap, MapData, counts_of_sources, source_file

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
        Entered("", (Range(0, len(SCRIPT), 1),)),
        Entered("h", (Range(6, 11, 4),)),
        Entered("Cart", (Range(added, added + 15, 2),)),
        Entered("a", (Range(method, SCRIPT.index("}}", method) + 1, 3),)),
    ]
    found = counts_of_sources(counted, cached, {0: SOURCE})[0]
    rows = covered(found.functions, "cart.ts", SOURCE, code_lines=found.code_lines)
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
