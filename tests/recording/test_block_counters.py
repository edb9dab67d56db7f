"""Counters put into the scripts of a Node program count as V8 does, and change nothing else."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from debugger.recorders.model import CallsMerged, PartCounts, Recording
from debugger.recorders.node import node_recorder
from debugger.recorders.node.node_recorder import NodeRecorder, prepare_cache
from recording.recorders import PROGRAMS

NODE = shutil.which("node")
BLOCKS = PROGRAMS / "blocks"
pytestmark = pytest.mark.skipif(NODE is None, reason="needs node")

Counts = dict[str, tuple[int, Mapping[tuple[int, int], int]]]


def run_counted(
    words: list[str], scratch: Path, *, by_v8: bool = False, cache: Path | None = None
) -> tuple[subprocess.CompletedProcess[str], list[Recording]]:
    """Run Node with counters in its scripts, or with V8's alone; `scratch` shows which counted."""
    scratch.mkdir()
    program = Path(words[0])
    recorder = NodeRecorder([str(program.parent), str(BLOCKS)], cache=cache)
    env = recorder.recording_environment({**os.environ, "NODE_OPTIONS": ""}, scratch)
    if by_v8:
        (scratch / "records" / "order.json").unlink()
    ran = subprocess.run(
        [str(NODE), *words], env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert any((scratch / "records").glob("counts-*")) is not by_v8
    recordings, _ = recorder.read_recordings(scratch, -1)
    return ran, list(recordings)


def counts_of(recordings: list[Recording]) -> Counts:
    found: Counts = {}
    for one in recordings:
        calls = {each.call: each.count for each in one.events if isinstance(each, CallsMerged)}
        for event in one.events:
            if isinstance(event, PartCounts):
                name = f"{Path(one.find_function(event.function).file).name} "
                name += one.find_function(event.function).name
                parts = {(part.line, part.column): part.times for part in event.parts}
                found[name] = calls[event.function], parts
    return found


def test_functions_and_blocks_of_all_constructs_are_counted_as_v8_counts_them(tmp_path):
    words = [str(BLOCKS / "constructs.js")]
    _, known = run_counted(words, tmp_path / "v8", by_v8=True)
    ran, found = run_counted(words, tmp_path / "own")
    expected, counted = counts_of(known), counts_of(found)
    assert ran.stderr == ""
    # V8 gives the fields' function other ends in each version.
    fields = {name for name in (*expected, *counted) if "initializer>" in name}
    assert {name: counted[name][0] for name in fields} == {
        name: expected[name][0] for name in fields
    }
    lines = {name: dict(parts) for name, (_, parts) in counted.items() if name not in fields}
    own = {name: count for name, (count, _) in counted.items()}
    assert own == {name: count for name, (count, _) in expected.items()}
    for name, (_, parts) in expected.items():
        if name not in fields and not name.endswith("<module>"):
            assert lines[name] == parts, name


def test_loops_that_the_end_of_the_program_leaves_are_counted(tmp_path):
    ran, found = run_counted([str(BLOCKS / "leaves.mjs")], tmp_path / "own")
    assert (ran.returncode, ran.stderr) == (3, "")
    counted = counts_of(found)
    assert counted["leaves.mjs check"][0] == 161
    assert counted["leaves.mjs search"] == (
        2,
        {(5, 0): 2, (6, 0): 2, (7, 0): 81, (8, 0): 161, (11, 0): 1},
    )


def test_a_program_reads_the_texts_of_its_functions_as_they_were_written(tmp_path):
    words = [str(BLOCKS / "texts.js")]
    plain = subprocess.run(
        [str(NODE), *words], capture_output=True, text=True, timeout=60, check=True
    )
    ran, found = run_counted(words, tmp_path / "own")
    assert (ran.stdout, ran.stderr) == (plain.stdout, "")
    assert counts_of(found)["texts.js Counter.count"][0] == 1


def test_a_script_that_was_written_by_a_program_is_counted_by_v8(tmp_path):
    program = tmp_path / "program"
    shutil.copytree(BLOCKS, program)
    text = "exports.double = (n) => { if (n > 1) { return n * 2; } return n + n; };"
    (program / "written.js").write_text(f"{text} exports.filled = '{'x' * 5000}';\n")
    ran, found = run_counted([str(program / "long_line.js")], tmp_path / "own")
    assert (ran.stdout, ran.stderr) == ("0,2,4\n", "")
    counted = counts_of(found)
    assert counted["long_line.js <module>"][1][4, 29] == 3
    assert counted["written.js exports.double"][0] == 3
    assert counted["written.js exports.double"][1][1, 38] == 1


def test_an_end_within_a_counted_script_keeps_the_blocks_that_v8_counts(tmp_path):
    folder = tmp_path / "program"
    folder.mkdir()
    large = "exports.sign = (n) => {\n  if (n < 0) {\n    return -1;\n  }\n  return 1;\n};\n"
    (folder / "large.js").write_text(large + "// so long that V8 counts it\n" * 50_000)
    main = "function end(n) {\n  process.exit(n);\n}\nend(require('./large.js').sign(2) - 1);\n"
    (folder / "main.js").write_text(main)
    _, found = run_counted([str(folder / "main.js")], tmp_path / "own")
    _, parts = counts_of(found)["large.js exports.sign"]
    assert {line: times for (line, _), times in parts.items()}[3] == 0


def compile_constructs(folder: Path, *, is_inline: bool) -> Path:
    """Write a script that was made of `constructs.js` by adding two lines before it."""
    folder.mkdir()
    source = BLOCKS / "constructs.js"
    text = source.read_text()
    lines = ";".join(["", "", "AAAA", *["AACA"] * text.count("\n")])
    name = str(source) if is_inline else "constructs.js"
    source_map = json.dumps({"version": 3, "sources": [name], "names": [], "mappings": lines})
    url = f"data:application/json;base64,{base64.b64encode(source_map.encode()).decode()}"
    script = folder / "out.js"
    if not is_inline:
        shutil.copy(source, folder)
        (folder / "out.js.map").write_text(source_map)
        url = "out.js.map"
    script.write_text(f"'use strict';\n// added\n{text}\n//# sourceMappingURL={url}\n")
    return script


@pytest.mark.parametrize("is_inline", [False, True])
def test_a_script_with_a_source_map_has_the_counts_of_its_source(tmp_path, is_inline):
    words = [str(compile_constructs(tmp_path / "program", is_inline=is_inline))]
    _, known = run_counted(words, tmp_path / "v8", by_v8=True)
    ran, found = run_counted(words, tmp_path / "own")
    assert ran.stderr == ""
    assert uncounted_scripts(tmp_path / "own") == []
    expected, counted = counts_of(known), counts_of(found)
    assert {name for name in counted if not name.startswith("constructs.js ")} == set()
    fields = {name for name in (*expected, *counted) if "initializer>" in name}
    own = {name: found for name, found in counted.items() if name not in fields}
    for name, (count, parts) in own.items():
        if not name.endswith("<module>"):
            assert (count, dict(parts)) == (expected[name][0], dict(expected[name][1])), name
    assert len(own) == len(expected) - len(fields & set(expected))


def uncounted_scripts(scratch: Path) -> list[str]:
    """Return the scripts that V8 counted."""
    return [
        url
        for path in (scratch / "records").glob("counts-*")
        for url in json.loads(path.read_text())["uncounted"]
    ]


def test_a_rewritten_script_is_kept_for_the_next_run(tmp_path):
    program = tmp_path / "program"
    shutil.copytree(BLOCKS, program)
    words, cache = [str(program / "leaves.mjs")], tmp_path / "cache"
    _, first = run_counted(words, tmp_path / "1", cache=cache)
    kept = {path: path.read_bytes() for path in cache.iterdir()}
    assert kept
    assert {path.stat().st_mode & 0o777 for path in (cache, *kept)} == {0o700, 0o600}
    _, second = run_counted(words, tmp_path / "2", cache=cache)
    assert counts_of(second) == counts_of(first)
    assert {path: path.read_bytes() for path in cache.iterdir()} == kept
    # What cannot be read is made anew, and so is what belongs to another text.
    for path in kept:
        path.write_bytes(b"damaged")
    (program / "leaves.mjs").write_text((program / "leaves.mjs").read_text() + "\n// more\n")
    _, third = run_counted(words, tmp_path / "3", cache=cache)
    assert counts_of(third) == counts_of(first)
    assert len(list(cache.iterdir())) > len(kept)


def test_of_kept_scripts_the_oldest_are_removed(tmp_path):
    for number in range(4):
        path = tmp_path / str(number)
        path.write_bytes(b"x" * 100)
        os.utime(path, (number, number))
    assert prepare_cache(tmp_path, bytes_max=250)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2", "3"]


def test_the_compiler_that_rewriting_stops_goes_on_for_the_program(tmp_path):
    # V8 refuses code that was compiled by other flags.
    code = "new (require('vm').Script)('40 + 2'"
    (tmp_path / "program").mkdir()
    script, kept = tmp_path / "program" / "main.js", tmp_path / "kept"
    script.write_text(
        "const fs = require('fs');\n"
        "const [, , kept] = process.argv;\n"
        "const cachedData = fs.existsSync(kept) && fs.readFileSync(kept);\n"
        f"if (cachedData) console.log({code}, {{ cachedData }}).cachedDataRejected);\n"
        f"else fs.writeFileSync(kept, {code}).createCachedData());\n"
    )
    subprocess.run([str(NODE), str(script), str(kept)], check=True, timeout=60)
    ran, _ = run_counted([str(script), str(kept)], tmp_path / "counted")
    assert ran.stdout == "false\n"


def test_the_faster_parser_reads_what_nodes_own_does(tmp_path):
    inside = Path(node_recorder.__file__).parent / "inside"
    texts = (
        "var \\u0061b = 1; a\\u{62}c",
        "var aé = 2; é1; x = 1 //é\n/ 2 / 1",
        "/* x */ // y\n a / b / c",
        "x\u2028y; \ufeffa\u00a0=\u00a01\r\n\f\v++b",
        "#!/usr/bin/env node\na<!-- x\n--> y",
        "class A { #x = 1; get #y() { return this.#x } }",
        "/[/ab/]/g; /(?<n>a)\\k<n>/u; `a${b /* c */}`; \U00020bb7 = 1",
        *("/(/", "/a/gg", "let 1a", "const a = 1, a = 2", '"use strict"; var public'),
    )
    script = tmp_path / "compare.js"
    script.write_text(
        f"const requireInternal = require('{inside}/node_internals.cjs');\n"
        "const acorn = requireInternal('internal/deps/acorn/acorn/dist/acorn');\n"
        f"const {{ fastParser }} = require('{inside}/rewritten_scripts.cjs');\n"
        "const options = { ecmaVersion: 'latest', allowHashBang: true };\n"
        "const read = (parser, text) => {\n"
        "  try { return JSON.stringify(parser.parse(text, options)); }\n"
        "  catch { return 'refused'; }\n"
        "};\n"
        f"for (const text of {json.dumps(texts)}) {{\n"
        "  const [own, fast] = [acorn, fastParser(acorn)].map((parser) => read(parser, text));\n"
        "  console.log(own === fast, own === 'refused');\n"
        "}\n"
    )
    ran = subprocess.run(
        [str(NODE), str(script)], capture_output=True, text=True, timeout=60, check=True
    )
    assert ran.stdout.split("\n")[:-1] == ["true false"] * 7 + ["true true"] * 5
