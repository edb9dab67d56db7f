"""`path --vs` of native programs: their lines and branches are counted, whatever they do."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import program_text

RATES = program_text("branches/rates.cpp")
pytestmark = pytest.mark.adapter("frida")


@pytest.fixture(scope="module")
def rates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rates")
    (folder / "rates.cpp").write_text(RATES)
    words = ["g++", "-g", "-O0", "-pthread", "-o", "rates", "rates.cpp"]
    subprocess.run(words, cwd=folder, check=True, timeout=120)
    return folder / "rates"


def test_a_condition_within_a_line_that_decided_otherwise_is_named(
    cli: Callable[..., Any], rates: Path
) -> None:
    answer = cli("path", "--", rates, "8", "--vs", rates, "3", check=0)
    assert "path: 1 failing run, 1 passing (exited with status 1 | 0)" in answer.out
    first = answer.out.split("failing / passing:\n")[1].splitlines()[0]
    assert first.startswith("  rates.cpp:29  int price = weight * 2 + (weight < 7 ? 1 : 9);")
    assert first.endswith("one way x1 / the other x1  (in rate)")


def test_branches_that_went_the_same_way_are_not_told(cli: Callable[..., Any], rates: Path) -> None:
    # By threads, exceptions and longjmp nothing is lost, or counted twice.
    answer = cli("path", "--", rates, "3", "--vs", rates, "4", check=0)
    assert "all runs came to the same functions and lines of their own code;" in answer.out
    assert "note: ended what" not in answer.out


def test_a_counted_program_ends_as_it_does_alone(cli: Callable[..., Any], rates: Path) -> None:
    answer = cli("path", "--", rates, "30", "--vs", rates, "3", check=0)
    assert "(ended by signal SIGABRT | exited with status 0)" in answer.out
    assert "rates.cpp:45" in answer.out


def test_of_a_program_that_cannot_be_counted_the_lines_that_ran_are_compared(
    cli: Callable[..., Any], rates: Path
) -> None:
    static = rates.parent / "static"
    words = ["g++", "-g", "-O0", "-static", "-o", str(static), "rates.cpp"]
    subprocess.run(words, cwd=rates.parent, check=True, timeout=120)
    answer = cli("path", "--", static, "30", "--vs", static, "3", check=0)
    assert "lines that only passing runs passed:\n  rates.cpp:46-47" in answer.out
    assert "which lines ran is known, and not how often" in answer.out


def test_the_return_of_the_function_that_a_condition_calls_is_named_as_inferred(
    cli: Callable[..., Any], compile_program: Callable[..., Path]
) -> None:
    ledger = compile_program(program_text("branches/ledger.c"), name="ledger")
    answer = cli("path", "--", ledger, "13", "--vs", ledger, "14", check=0)
    rows = answer.out.split("failing / passing:\n")[1].splitlines()
    assert "  ledger.c:16  if (is_due(day))  to :14 x1 / to :17 x1  (in main)" in rows
    decided = rows.index("  ledger.c:16  if (is_due(day))  to :14 x1 / to :17 x1  (in main)") + 1
    assert rows[decided] == "    by ledger.c:7  return late > 3;  (in is_due)  [inferred]"


def test_code_of_no_line_is_not_taken_for_the_statement_before_it(
    cli: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "caret.rs").write_text(program_text("branches/caret.rs"))
    subprocess.run(["rustc", "-g", "caret.rs"], cwd=tmp_path, check=True, timeout=120)
    words = [tmp_path / "caret", "1"]
    answer = cli("path", "--", *words, "3", "3", "--vs", *words, "2", "3", cwd=tmp_path, check=0)
    found, missed = answer.out.split("lines that only passing runs passed:")
    assert "  caret.rs:12  return version.minor < minor;  (in caret::is_newer)" in found
    assert "  caret.rs:13-14  } else if version.patch != patch {  (in caret::is_newer)" in missed


def test_a_counted_program_that_does_not_end_is_compared_as_far_as_it_came(
    cli: Callable[..., Any], compile_program: Callable[..., Path]
) -> None:
    main = "int main(int count) { while (count > 1) spin(count); }"
    text = f"int spin(int n) {{ return n + 1; }}\n{main}\n"
    loop = compile_program(text, name="loop")
    answer = cli("path", "--timeout", "6", "--", loop, "x", "--vs", loop, check=3)
    assert "(still running after " in answer.out
    assert "loop.c:1  int spin(int n) { return n + 1; }  (in spin)" in answer.out
    assert "note: ended what" not in answer.out
