"""`test` names the failing test, and where its wrong value came from."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import program_text

CART = """\
def discount(whole, percent):
    return whole - whole * percent // 100


def total(items, percent=0):
    whole = 0
    for price, count in items:
        whole += price * max(count - 1, 1)
    return discount(whole, percent)
"""
TESTS = program_text("counted_lines/sample_tests.py")
UNITTEST = """\
import unittest
from cart import total


class Cart(unittest.TestCase):
    def test_it(self):
        got = total([(300, 2)])
        self.assertEqual(got, 600)
"""
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cart.py").write_text(CART)
    (tmp_path / "test_cart.py").write_text(TESTS)
    (tmp_path / "unit_cart.py").write_text(UNITTEST)
    return tmp_path


def test_a_failure_of_pytest_is_told_where_its_value_was_made(
    cli: Callable[..., Any], folder: Path
) -> None:
    told = cli("test", "--json", "--", *PYTEST, cwd=folder, check=0).data["data"]
    assert told["outcome"] == "failed"
    assert told["test"] == "test_cart.py::test_total"
    assert told["frame"]["function"] == "test_total"  # not the helper that hides itself
    assert {"name": "found", "value": "750", "type": ""} in told["values"]
    calls = [one["call"] or "" for one in told["made"]]
    assert any(one.startswith("discount(whole=750, percent=0) → 750") for one in calls)
    assert [one["name"] for one in told["others"]] == ["test_cart.py::test_setup"]
    assert "1 failed, 1 passed, 1 xfailed, 1 error" in told["summary"]


def test_workers_of_xdist_are_followed(cli: Callable[..., Any], folder: Path) -> None:
    words = ("test", "--keep", "--", *PYTEST, "-n", "2", "-k", "total")
    # Here with all the plugins that are installed, as a user's pytest runs.
    plugins = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": ""}
    answer = cli(*words, cwd=folder, env=plugins, check=0, timeout=100)
    assert "assert 750 == 1050" in answer.out
    assert "whole += price * max(count - 1, 1)  [whole=750]" in answer.out
    # It is stopped in the worker, and the hint ends the other ones, too.
    assert cli("print", "found", check=0).out == "found = 750\n"
    assert "debugger stop --session test (test." in answer.out
    cli("stop", "--session", "test", check=0)
    assert cli("sessions", check=0).out == "no sessions\n"


def test_a_failure_of_unittest_is_told(cli: Callable[..., Any], folder: Path) -> None:
    command = [sys.executable, "-m", "unittest", "unit_cart"]
    answer = cli("crash", "--test", "--", *command, cwd=folder, check=0)
    first = answer.out.splitlines()[0]
    assert first.startswith("failed: assertion failed: 300 != 600 with got=300")
    assert first.endswith("unit_cart.py:8")
    assert "total(items=[(300, 2)], percent=0) → 300" in answer.out


def test_tests_that_pass_do_not_exist_or_cannot_be_read_are_told_so(
    cli: Callable[..., Any], folder: Path
) -> None:
    passed = cli("test", "--", *PYTEST, "-k", "empty", cwd=folder, check=0)
    assert passed.out.startswith("passed: 1 passed, ")
    nothing = cli("test", "--", *PYTEST, "nosuch.py", cwd=folder, check=0)
    assert nothing.out.startswith("no test was run: no tests ran")
    assert "pytest --collect-only" in nothing.out
    (folder / "test_cart.py").write_text("def test_it(:\n    pass\n")
    broken = cli("test", "--", *PYTEST, "test_cart.py", cwd=folder, check=0)
    first = broken.out.splitlines()[0]
    assert first.startswith("could not run: SyntaxError: ")
    assert first.endswith("test_cart.py:1")


def test_a_test_without_an_end_and_one_that_ends_all_are_named(
    cli: Callable[..., Any], folder: Path
) -> None:
    (folder / "test_cart.py").write_text(
        "import os, threading\n"
        "def test_ends(): os._exit(3)\n"
        "def test_waits(): threading.Event().wait()\n"
    )
    ended = cli("test", "--", *PYTEST, "-k", "ends", cwd=folder, check=0)
    assert ended.out.startswith(
        "ended without a result: exited with status 3, in test_cart.py::test_ends"
    )
    late = cli("test", "--timeout", "8", "--", *PYTEST, "-k", "waits", cwd=folder, check=3)
    assert late.out.startswith("still running after ")
    assert "test_cart.py::test_waits" in late.out.splitlines()[0]


def test_what_only_starts_a_runner_is_refused(cli: Callable[..., Any], folder: Path) -> None:
    answer = cli("test", "--", "npm", "test", cwd=folder, check=2)
    assert "npx jest" in answer.err
    absent = cli("test", "--", "./nosuch", cwd=folder, check=1)
    assert "no such command: ./nosuch" in absent.err
    bad = cli("test", "--env", "NAME", "--", "go", "test", cwd=folder, check=2)
    assert "--env expects KEY=VALUE, not 'NAME'" in bad.err


TABLE = Path(__file__).parent.parent / "programs" / "table.test.js"


@pytest.mark.adapter("js-debug")
@pytest.mark.parametrize("keep", [False, True], ids=["answer", "kept"])
def test_of_a_line_that_many_tests_pass_the_pass_that_failed_is_shown(
    cli: Callable[..., Any], keep: bool
) -> None:
    options = ["--keep"] if keep else []
    answer = cli("test", *options, "--json", "--", "node", "--test", TABLE, check=0).data["data"]
    assert answer["test"] == 'then "that" (fails)'
    values = {one["name"]: one["value"] for one in (*answer["values"], *answer["locals"])}
    assert (values["n"], values["at"], values["expected"]) == ("3", "2", "6")
    # What the functions around hold is known, too.
    assert values["given"] == "(4) [1, 2, 3, 4]"
    if keep:
        assert cli("print", "n", check=0).out == "n = 3\n"
        cli("stop", check=0)


@pytest.mark.adapter("js-debug")
def test_the_promises_that_a_failing_test_drops_are_named(cli: Callable[..., Any]) -> None:
    file = TABLE.with_name("unawaited.test.js")
    lines = file.read_text().splitlines()
    told = cli("test", "--", "node", "--test", file, check=0).out
    rows = [one for one in told.splitlines() if one.startswith("a promise that nobody awaited: ")]
    dropped = ["second;", "stored.has('last') || save('last', 8);"]
    places = [
        lines.index(f"{blanks}{one}") + 1
        for blanks, one in zip(("  ", "    "), dropped, strict=True)
    ]
    made = f"made in save at {file.name}:{lines.index('async function save(key, value) {') + 1}"
    for row, text, place in zip(rows, dropped, places, strict=True):
        assert f"{text} at {file.name}:{place} in" in row
        assert f"{made}, settled only later [rerun]" in row


@pytest.mark.adapter("js-debug")
def test_a_test_that_another_one_begins_is_looked_at_though_node_passes_over_it_alone(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "nested.test.js").write_text(
        "const { test } = require('node:test');\n"
        "test('outer', async (t) => {\n"
        "  for (const n of [1, 2, 3]) {\n"
        "    await t.test(`n ${n}`, () => require('assert').notEqual(n * 10, 20));\n"
        "  }\n"
        "});\n"
    )
    command = ["node", "--test", tmp_path / "nested.test.js"]
    answer = cli("test", "--json", "--", *command, check=0).data["data"]
    assert (answer["test"], answer["method"]) == ("outer > n 2", "run again by js-debug")
    assert "run again alone it does not fail, or is not come to" in answer["notes"][0]
    passed = cli("test", "--", *command[:2], "--test-name-pattern=n 2", command[2], check=0)
    assert "tests 1, pass 0, fail 0, skipped 1" in passed.out


def test_a_session_is_kept_at_the_assertion(cli: Callable[..., Any], folder: Path) -> None:
    answer = cli("test", "--keep", "--", *PYTEST, "-k", "total", cwd=folder, check=0)
    assert "kept, stopped there" in answer.out
    assert cli("print", "found", check=0).out == "found = 750\n"
    cli("stop", check=0)


def test_an_error_of_gos_compiler_is_the_answer(
    cli: Callable[..., Any], tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    require_tool("go")
    (tmp_path / "go.mod").write_text("module example.com/a\n\ngo 1.21\n")
    (tmp_path / "a_test.go").write_text(
        'package a\n\nimport "testing"\n\nfunc TestA(t *testing.T) { absent() }\n'
    )
    answer = cli("test", "--", "go", "test", "./...", cwd=tmp_path, check=0, timeout=100)
    first = answer.out.splitlines()[0]
    assert first.startswith("could not run: ")
    assert first.endswith("a_test.go:5:28: undefined: absent")


def test_a_panic_of_a_go_test_is_no_failed_assertion(
    cli: Callable[..., Any], tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    require_tool("go")
    (tmp_path / "go.mod").write_text("module example.com/a\n\ngo 1.21\n")
    (tmp_path / "a_test.go").write_text(
        'package a\n\nimport "testing"\n\ntype node struct{ next *node }\n\n'
        "func second(first *node) *node { return first.next.next }\n\n"
        "func TestA(t *testing.T) { second(&node{}) }\n"
    )
    answer = cli("test", "--", "go", "test", "./...", cwd=tmp_path, check=0, timeout=100)
    first, *others = answer.out.splitlines()
    assert first.startswith("failed: nil pointer: first.next is nil, .next of it is read, in a.sec")
    assert not any(one.startswith("inside: ") for one in others)
