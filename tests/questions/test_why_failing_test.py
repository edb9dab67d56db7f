"""`why --at fail` and `test` follow the value of a test to the condition that made it wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from debuggees import PROGRAMS, find_marker

SOURCE = "why/suite/words.py"
SUITE = PROGRAMS / "why" / "suite"
Cli = Callable[..., Any]
_LISTED = "marked or plain or short"


@pytest.mark.parametrize(
    ("case", "part", "marker", "is_true"),
    [
        # The other assignment to the followed variable was left out.
        ("short", "got[0:]", "skipped", False),
        # Another `return` would have given the value.
        ("box", "got[2:]", "left", True),
        # An item that the other list does not have.
        ("pieces", "got[1]", "kept_empty", True),
    ],
)
def test_the_condition_on_the_way_back_to_the_tests_own_input_is_named(
    cli: Cli, case: str, part: str, marker: str, is_true: bool
) -> None:
    run = (sys.executable, "-m", "unittest", "-q", f"test_words.Words.test_{case}")
    answer = cli("--json", "why", "got", "--at", "fail", "--", *run, check=0, cwd=SUITE).data[
        "data"
    ]
    assert answer["expression"] == part
    decided = [(one["frame"]["line"], one["is_true"]) for one in answer["decided"]]
    assert decided == [(find_marker(SOURCE, marker), is_true)]


@pytest.mark.parametrize(("case", "part"), [("equal", "got[1]"), ("assert", "got[at]")])
def test_an_element_that_an_assertion_compares_is_followed_and_not_what_is_expected(
    cli: Cli, case: str, part: str
) -> None:
    run = (sys.executable, "-m", "unittest", "-q", f"bills.Bills.test_{case}")
    answer = cli("--json", "test", "--", *run, check=0, cwd=SUITE).data["data"]
    assert answer["why"]["expression"] == part
    assert answer["why"]["frame"]["line"] == find_marker("why/suite/bills.py", "stored")


def test_a_failing_test_is_found_by_its_runner_and_followed_alone(cli: Cli) -> None:
    # The tests' functions have another name, and all of them run before.
    run = (
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "test_words.py",
        "-k",
        _LISTED,
    )
    answer = cli("test", "--", *run, check=0, cwd=SUITE).out
    assert "/test_words.py::Words::test_short · pytest: 1 failed, 2 passed" in answer
    line = find_marker(SOURCE, "skipped")
    assert f"  on the way `mark and len(words) > 2` was false, words.py:{line}" in answer
    left_out = answer.partition("only the failing test did not run:\n")[2]
    row = f"  words.py:{line + 1} in listed, as `mark and len(words) > 2` was false :{line}  "
    assert left_out.startswith(row), answer


def test_what_a_lambda_passes_on_is_its_own_and_no_librarys(cli: Cli) -> None:
    run = (sys.executable, "-m", "unittest", "-q", "test_words.Words.test_box")
    answer = cli("why", "got", "--at", "fail", "--", *run, check=0, cwd=SUITE).out
    assert "passed as word to plural, <lambda> at test_words.py:" in answer


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (
            "door",
            "why: self.is_open=False, set as self.is_open at words.py:{closed} in Door.__init__",
        ),
        ("number", "caused by: ValueError: invalid literal for int() with base 10: 'x', in parsed"),
        ("number", "in parsed words.py:{parsed}\n"),
    ],
)
def test_an_exception_of_a_test_leads_to_its_condition_or_its_cause(
    cli: Cli, case: str, said: str
) -> None:
    run = (sys.executable, "-m", "unittest", "-q", f"test_words.Words.test_{case}")
    places = {name: find_marker(SOURCE, name) for name in ("closed", "parsed")}
    answer = cli("test", "--", *run, check=0, cwd=SUITE).out
    assert said.format(**places) in answer
