"""Measures what counting costs real libraries in Node, as ratios of CPU time to the plain run.

    python bench/node_libraries.py [--json] [LIBRARY …]

The libraries are installed by npm into a temporary folder, outside of `node_modules` as a program's
own code is. Each runs long (about 2 s) and short; recorded for the first time, when its scripts are
rewritten, and again, when they are kept. Plain and recorded runs are measured in turns; the
least user time of each counts, of all threads.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from debugger.recorders.node.node_recorder import NodeRecorder

AIM = 1.5
ROUNDS = 3
_LOAD = "const text = require('fs').readFileSync(require('path').join(__dirname, {!r}), 'utf8');"
_YAML = "'items:\\n' + '- {a: 1, b: [x, \"y\\\\n\"], when: 2001-12-14}\\n  \\n'.repeat(1500)"


class Library(Struct, frozen=True):
    """A library: what npm installs, what a round of its program does, and the rounds of a run."""

    package: str
    copied: Mapping[str, str]  # of the package, to the program's folder
    prepare: str
    round: str
    long: int
    short: int


_AJV = """
const Ajv = require('./dist/ajv.js').default;
const properties = {};
for (let n = 0; n < 30; n++) {
  const a = { type: 'integer', minimum: n };
  const inner = { type: 'object', required: ['a'], properties: { a } };
  properties[`p${n}`] = { anyOf: [{ type: 'string', minLength: n }, inner] };
}
"""
_AJV_ROUND = """
new Ajv({ allErrors: true }).compile({ type: 'object', properties })({ p1: 1, p2: { a: 0 } });
"""
_TYPESCRIPT = """
const lib = require('./lib/typescript.js');
const input = `${__dirname}/in.ts`;
require('fs').writeFileSync(input, 'export const n: number = [1].at(0)!;');
"""
_TYPESCRIPT_ROUND = """
lib.getPreEmitDiagnostics(lib.createProgram([input], { lib: ['lib.es2022.d.ts'], types: [] }));
"""
_LIBRARIES: Mapping[str, Library] = {
    "esprima": Library(
        "esprima@4.0.1",
        {"dist/esprima.js": "esprima.js"},
        "const lib = require('./esprima.js');" + _LOAD.format("esprima.js"),
        "lib.parseScript(text, { range: true });",
        90,
        8,
    ),
    "acorn": Library(
        "acorn@8.15.0",
        {"dist/acorn.js": "acorn.js"},
        "const lib = require('./acorn.js');" + _LOAD.format("acorn.js"),
        "lib.parse(text, { ecmaVersion: 2022 });",
        200,
        10,
    ),
    "js-yaml": Library(
        "js-yaml@4.1.0",
        {"lib": "lib", "index.js": "index.js", "../argparse": "node_modules/argparse"},
        f"const lib = require('./index.js'); const text = {_YAML};",
        "lib.dump(lib.load(text));",
        180,
        15,
    ),
    # Minified, in lines of 600 characters.
    "marked": Library(
        "marked@16.1.1",
        {"lib": ".", "README.md": "in.md"},
        "const lib = require('./marked.umd.js');" + _LOAD.format("in.md"),
        "for (let n = 0; n < 20; n++) lib.parse(text);",
        400,
        20,
    ),
    # Many files, each with a source map.
    "ajv": Library(
        "ajv@8.17.1",
        {
            "dist": "dist",
            "../fast-deep-equal": "node_modules/fast-deep-equal",
            "../fast-uri": "node_modules/fast-uri",
            "../json-schema-traverse": "node_modules/json-schema-traverse",
            "../require-from-string": "node_modules/require-from-string",
        },
        _AJV,
        _AJV_ROUND,
        100,
        10,
    ),
    # One file of 9 MB: V8 counts it.
    "typescript": Library("typescript@5.9.2", {"lib": "lib"}, _TYPESCRIPT, _TYPESCRIPT_ROUND, 6, 1),
}


def install_library(library: Library, folder: Path) -> Path:
    """Install a library as a program's own code, and return the program."""
    npm = shutil.which("npm") or "npm"
    words = (npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent")
    subprocess.run((*words, "--prefix", str(folder), library.package), check=True)
    name = library.package.rpartition("@")[0]
    program = folder / "program"
    program.mkdir()
    for source, target in library.copied.items():
        found = folder / "node_modules" / name / source
        (program / target).parent.mkdir(parents=True, exist_ok=True)
        if found.is_dir():
            shutil.copytree(found, program / target, dirs_exist_ok=True)
        else:
            shutil.copy(found, program / target)
    main = program / "main.js"
    rounds = "for (let round = +process.argv[2]; round > 0; round--) {"
    main.write_text(f"{library.prepare}\n{rounds} {library.round} }}\n")
    return main


def user_seconds(words: list[str], env: Mapping[str, str]) -> float:
    """Run a program, and return the CPU time of its threads."""
    process = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(words)} ended with {process.returncode}")
    return usage.ru_utime


def measure_library(main: Path, rounds: int, scratch: Path) -> dict[str, float]:
    """Measure runs of one length: plain, recorded for the first time, and recorded again."""
    words = [shutil.which("node") or "node", str(main), str(rounds)]
    plain_env = {**os.environ, "NODE_OPTIONS": ""}
    seconds: dict[str, list[float]] = {"plain": [], "first": [], "again": []}
    for number in range(ROUNDS):
        seconds["plain"].append(user_seconds(words, plain_env))
        for kind in ("first", "again"):
            with tempfile.TemporaryDirectory(dir=scratch) as folder:
                recorder = NodeRecorder([str(main.parent)], cache=scratch / f"{main.name}{number}")
                env = recorder.recording_environment(plain_env, Path(folder))
                seconds[kind].append(user_seconds(words, env))
        shutil.rmtree(scratch / f"{main.name}{number}")
    plain = min(seconds["plain"])
    return {"plain_s": plain, **{kind: min(seconds[kind]) / plain for kind in ("first", "again")}}


def main() -> None:
    """Measure the libraries."""
    names = [word for word in sys.argv[1:] if not word.startswith("-")] or list(_LIBRARIES)
    found: dict[str, float] = {}
    for name in names:
        library = _LIBRARIES[name]
        with tempfile.TemporaryDirectory(prefix="bench-", dir="/tmp") as folder:
            program = install_library(library, Path(folder))
            for length in ("long", "short"):
                rounds = library.long if length == "long" else library.short
                for key, value in measure_library(program, rounds, Path(folder)).items():
                    found[f"{name}.{length}.{key}"] = round(value, 2)
                    is_ratio = not key.endswith("_s")
                    aim = f"  aim {AIM:g}{'' if value <= AIM else '  MISSED'}" if is_ratio else ""
                    if "--json" not in sys.argv:
                        print(f"{name}.{length}.{key:22} {value:6.2f}{aim}", flush=True)
    if "--json" in sys.argv:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
