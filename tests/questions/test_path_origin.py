"""`path --vs` names the call that a failing run's failure comes from, with its lines."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from debuggees import program_text

GOOD = ["tea=120", "Tea: 120"]
BAD = ["ring=1234567", "discount=5", "Gold ring: 1,234,567; Discount: -5"]
_MOST = 1_500  # characters of an answer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("origins")
    for name in ("receipt.py", "ledger.py"):
        (made / name).write_text(program_text(f"suspects/{name}"))
    return made


def _compare(
    cli: Callable[..., Any], folder: Path, script: str, bad: list[str], good: list[str]
) -> str:
    run = [sys.executable, script]
    answer = cli("path", "--", *run, *bad, "--vs", *run, *good, cwd=folder, check=0)
    return str(answer.out)


def test_the_call_that_made_the_wrong_value_is_the_first_suspect(
    cli: Callable[..., Any], folder: Path
) -> None:
    text = _compare(cli, folder, "receipt.py", BAD, GOOD)
    lines = text.splitlines()
    assert lines[1].startswith("failed: receipt.py:48  got: ")
    assert "wanted: 'Gold ring: 1,234,567; Discount: -5'" in lines[1]
    where = next(at for at, line in enumerate(lines) if line.startswith("suspect [inferred]: "))
    assert lines[where].startswith("suspect [inferred]: receipt.py:25 group: the wrong value is")
    assert lines[where + 1] == "  given digits='1234567'"
    # Lines of one run alone are marked, and the wrong one is there with its text.
    assert "    31+ size = 2" in lines
    assert len(text) <= _MOST


def test_what_goes_with_another_input_is_counted_and_not_listed(
    cli: Callable[..., Any], folder: Path
) -> None:
    text = _compare(cli, folder, "receipt.py", BAD, GOOD)
    after = text.split("suspect [inferred]: ")[1]
    # The lines of the function that made the value are first.
    assert after.index("receipt.py:29-31") < after.index("receipt.py:19")
    assert "functions, by suspicion" not in text


def test_a_check_within_the_program_leads_to_its_caller(
    cli: Callable[..., Any], folder: Path
) -> None:
    bad = ['[{"amount": 30}, {"amount": -9, "kind": "refund"}]']
    text = _compare(cli, folder, "ledger.py", bad, ['[{"amount": 30}]'])
    assert "failed: ledger.py:14  total: 39; expected: 21" in text
    suspect = next(line for line in text.splitlines() if line.startswith("suspect [inferred]: "))
    assert suspect.startswith("suspect [inferred]: ledger.py:24 add_up: called what raised it")
    assert "    22+ amount = abs(amount)" in text
    assert "… -" not in text


def test_a_probe_compares_the_hits_of_two_commands(cli: Callable[..., Any], folder: Path) -> None:
    run = [sys.executable, "receipt.py"]
    asked = ["probe", "--at", "receipt.py:28", "digits, size", "--", *run, *BAD]
    answer = cli(*asked, "--vs", *run, *GOOD, cwd=folder, check=0)
    first = answer.out.splitlines()[0]
    assert first == (
        "probe: the runs differ first at hit 1 of receipt.py:28: digits '1234567' | '120'"
    )
    assert "  size: the same\n" in answer.out
    assert "   only A: hit 2  digits='1234'  size=2\n" in answer.out


@pytest.mark.parametrize("option", [["--rows", "2"], ["--csv"], ["--to", "9"]])
def test_a_probe_of_two_commands_refuses_what_has_no_meaning_for_both(
    cli: Callable[..., Any], folder: Path, option: list[str]
) -> None:
    run = [sys.executable, "receipt.py"]
    asked = ["probe", "--at", "receipt.py:28", "digits", *option, "--", *run, *BAD]
    answer = cli(*asked, "--vs", *run, *GOOD, cwd=folder, check=2)
    assert f"takes no {option[0]}" in answer.err
