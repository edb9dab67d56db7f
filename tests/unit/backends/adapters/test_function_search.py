"""A function's breakpoint is found in the text of a project's files."""

from __future__ import annotations

import os
from pathlib import Path

from debugger.backends.adapters.debugpy import debugpy_breakpoints as python
from debugger.backends.adapters.js_debug import js_breakpoints as javascript
from debugger.backends.base import LaunchTarget
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec
from debugger.sources.project_files import project_files


def _launch(program: Path, cwd: Path, *args: str) -> LaunchTarget:
    return LaunchTarget(program=str(program), cwd=str(cwd), env={}, args=args)


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_name_that_no_adapter_can_be_sent_is_none_of_a_projects_files(tmp_path: Path):
    own = _write(tmp_path / "ä.js", "")
    _write(tmp_path / os.fsdecode(b"\xff.js"), "")
    assert project_files([tmp_path], {".js"}) == [own]


def test_what_was_installed_is_none_of_a_projects_files(tmp_path: Path):
    own = _write(tmp_path / "src" / "a.js", "")
    for name in ("node_modules/x/b.js", ".cache/c.js", "src/d.txt"):
        _write(tmp_path / name, "")
    _write(tmp_path / "venv" / "pyvenv.cfg", "")
    _write(tmp_path / "venv" / "e.js", "")
    assert project_files([tmp_path], {".js"}) == [own]


def test_a_scripts_function_is_found_in_files_that_are_loaded_later(tmp_path: Path):
    main = _write(tmp_path / "main.js", "require('./lib/price')\n")
    price = _write(tmp_path / "lib" / "deep" / "er" / "price.js", "const rate = (n) =>\n  n * 2;\n")
    found = javascript.find_function(_launch(main, tmp_path), None, BreakpointSpec(function="rate"))
    assert isinstance(found, BreakpointSpec)
    assert (found.file, found.line) == (str(price), 2)


def test_of_functions_of_one_name_the_one_that_the_program_imports_is_meant(tmp_path: Path):
    main = _write(tmp_path / "main.mjs", "import { a } from './b/index.js';\n")
    _write(tmp_path / "a" / "rate.ts", "function rate() {}\n")
    _write(tmp_path / "b" / "index.ts", "export * from '../c/rate';\n")
    meant = _write(tmp_path / "c" / "rate.ts", "function rate() {}\n")
    found = javascript.find_function(_launch(main, tmp_path), None, BreakpointSpec(function="rate"))
    assert isinstance(found, BreakpointSpec)
    assert found.file == str(meant)
    assert found.note == "others of this name: a/rate.ts:1"


def test_a_loader_runs_a_script_that_is_among_its_arguments(tmp_path: Path):
    loader = _write(tmp_path / "app" / "node_modules" / "tsx" / "cli.mjs", "function whole() {}\n")
    script = _write(tmp_path / "app" / "main.ts", "function whole(n: number) {\n  return n;\n}\n")
    launched = _launch(loader, tmp_path, "app/main.ts")
    found = javascript.find_function(launched, None, BreakpointSpec(function="whole"))
    assert isinstance(found, BreakpointSpec)
    assert (found.file, found.line) == (str(loader), 1)
    found = javascript.find_function(launched, None, BreakpointSpec(function="main.whole"))
    assert isinstance(found, BreakpointSpec)
    assert found.file == str(script)


def test_a_function_that_is_nowhere_says_where_it_was_looked_for_and_names_near(tmp_path: Path):
    main = _write(tmp_path / "main.js", "function lineTotal(n) {\n  return n;\n}\n")
    launch, spec = _launch(main, tmp_path), BreakpointSpec(function="lineTotl")
    # The program may make it of a text as it runs.
    assert javascript.find_function(launch, None, spec) == spec
    found = javascript.find_function(launch, None, spec, explain=True)
    assert isinstance(found, BoundBreakpoint)
    assert found.why is not None
    assert f"1 script below {tmp_path}" in found.why
    assert found.near_names == ("lineTotal",)


def test_the_entry_of_a_function_is_a_condition_only_where_its_line_is_shared(tmp_path: Path):
    text = "def f(xs): return [x for x in xs]\n\n\ndef g():\n    return 1\n"
    path = _write(tmp_path / "a.py", text)

    def condition(name: str, own: str | None) -> str | None:
        at = python.find_function(_launch(path, tmp_path), None, BreakpointSpec(function=name))
        assert isinstance(at, BreakpointSpec)
        return python.condition_of(
            Breakpoint(1, BreakpointSpec(function=name, condition=own), at=at)
        )

    assert condition("g", None) is None
    assert condition("g", "x") == "x"
    entry = condition("f", None)
    assert entry is not None
    assert python.own_condition(condition("f", "x > 1") or "") == "x > 1"


def test_several_functions_of_a_name_are_named(tmp_path: Path):
    path = _write(tmp_path / "a.py", "class A:\n    def f(self):\n        return 1\n")
    _write(tmp_path / "b.py", "def f():\n    return 1\n")
    found = python.find_function(_launch(path, tmp_path), None, BreakpointSpec(function="f"))
    assert isinstance(found, BreakpointSpec)
    assert found.note == "others of this name: b.py:2"


def test_a_runners_function_is_that_of_the_files_which_its_arguments_import(tmp_path: Path):
    runner = _write(tmp_path / "bin" / "pytest", "")
    test = _write(tmp_path / "test_cart.py", "import sys\nfrom shop.cart import total\n")
    _write(tmp_path / "another.py", "def tax(n):\n    return n\n")
    _write(tmp_path / "shop" / "cart.py", "from . import rates\n")
    meant = _write(tmp_path / "shop" / "rates" / "__init__.py", "def tax(n):\n    return n\n")
    for argument in (test.name, f"{test.name}::test_total"):
        launched = _launch(runner, tmp_path, argument)
        found = python.find_function(launched, None, BreakpointSpec(function="tax"))
        assert isinstance(found, BreakpointSpec)
        assert found.file == str(meant)
        assert found.note == "others of this name: another.py:2"
