"""`test` reports the lines that changed a value, also in place, and only those."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parent.parent / "programs" / "recorded" / "changes_in_place.py"
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "test_it.py").write_text(PROGRAM.read_text())
    return tmp_path


@pytest.fixture
def make_tests(cli: Callable[..., Any], folder: Path) -> Callable[[str], list[str]]:
    def run(name: str) -> list[str]:
        command = ("test", "--json", "--", *PYTEST, f"test_it.py::{name}")
        told = cli(*command, cwd=folder, check=0).data["data"]
        assert told["outcome"] == "failed"
        assert told["notes"] == []
        return [_line(one) for one in told["made"]]

    return run


def _line(one: dict[str, Any]) -> str:
    values = " ".join(f"{each['name']}={each['value']}" for each in one["values"])
    return f"{'  ' * one['depth']}{one['text']} [{values}]" + (one["call"] or "")


def test_a_method_that_changes_a_field_is_reported(make_tests: Callable[[str], list[str]]) -> None:
    lines = make_tests("test_field")
    assert "  self.total += n - f [self.total=0 → 9]Acc.add(self=Acc(total=0), n=10)" in lines
    assert lines[-1] == "a.add(10) [a.total=0 → 9]"
    assert "    return n // 10 []fee(n=10) → 1" in lines


def test_items_that_a_line_changes_are_reported(make_tests: Callable[[str], list[str]]) -> None:
    assert make_tests("test_item") == [
        "d = {} [d={}]",
        "d[\"k\"] = 3 [d['k']=3]",
        "d[\"k\"] += 1 [d['k']=3 → 4]",
    ]
    assert make_tests("test_items_of_items")[-2:] == [
        "rows[0][\"qty\"] += 5 [rows[0]['qty']=10 → 15]",
        'total = sum(r["qty"] for r in rows) [total=35]',
    ]


def test_other_changes_of_the_same_object_are_left_out(
    make_tests: Callable[[str], list[str]],
) -> None:
    lines = make_tests("test_field_of_a_field")
    assert not any("h.log" in one for one in lines)
    assert lines[-1] == "h.pay(30) [h.acc.total=18 → 45]"


def test_the_rounds_of_a_generator_are_each_reported_once(
    make_tests: Callable[[str], list[str]],
) -> None:
    lines = make_tests("test_generator")
    assert [one.partition("→ ")[2] for one in lines if "yield" in one] == ["[10, 20]", "[30, 40]"]
    bound = [one for one in lines if "it=" in one]
    assert [one[one.index("it=") :] for one in bound] == ["it=10]", "it=20]", "it=30]", "it=40]"]


def test_each_call_of_a_lambda_is_reported_once(make_tests: Callable[[str], list[str]]) -> None:
    calls = [one.rpartition("]")[2] for one in make_tests("test_lambda") if "(q=" in one]
    assert calls == [f"test_lambda.<lambda>(q={q}) → {value}" for q, value in
                     [(0, 0), (1, 2), (2, 4)]]  # fmt: skip


def test_a_change_of_a_module_s_variable_is_reported(
    make_tests: Callable[[str], list[str]],
) -> None:
    lines = make_tests("test_of_the_module")
    assert "  COUNTS['n'] = n [COUNTS['n']=4]count(n=4)" in [one.replace('"', "'") for one in lines]


def test_a_test_that_fails_only_after_others_says_so(cli: Callable[..., Any], folder: Path) -> None:
    answer = cli("test", "--", *PYTEST, "-k", "after or before", cwd=folder, check=0)
    assert "note: it passes when run alone, and fails after the 1 run before" in answer.out
    assert 'got = STATE["n"]  [got=1]' in answer.out


def test_a_strict_xfail_that_passes_fails(cli: Callable[..., Any], folder: Path) -> None:
    answer = cli("test", "--", *PYTEST, "-k", "strict", cwd=folder, check=0)
    assert answer.out.startswith("failed: assertion failed: [XPASS(strict)] known")


def test_an_assertion_of_many_lines_is_read_and_what_explains_it_is_left_out(
    make_tests: Callable[[str], list[str]],
) -> None:
    lines = make_tests("test_of_many_lines")
    assert 'word = "a" + "b" [word=\'ab\']' in lines
    assert not any("shown" in one for one in lines), lines


@pytest.fixture
def made_before(cli: Callable[..., Any], tmp_path: Path) -> Callable[..., list[str]]:
    program = PROGRAM.with_name("sets_up.py")
    (tmp_path / "test_it.py").write_text(program.read_text())

    def run(*words: str) -> list[str]:
        told = cli("test", "--json", "--", *words, cwd=tmp_path, check=0).data["data"]
        assert told["outcome"] == "failed"
        return [*(_line(one) for one in told["made"]), *told["notes"]]

    return run


_PAID = "self.account.pay(10) [self.account.balance=100 → 98]"


@pytest.mark.parametrize(
    ("words", "method"),
    [
        ((*PYTEST, "test_it.py::TestMethod::test_balance"), "TestMethod.setup_method"),
        ((*PYTEST, "test_it.py::Case::test_balance"), "Case.setUp"),
        ((sys.executable, "-m", "unittest", "test_it.Case"), "Case.setUp"),
    ],
)
def test_lines_of_a_setup_method_are_reported(
    made_before: Callable[..., list[str]], words: tuple[str, ...], method: str
) -> None:
    lines = made_before(*words)
    assert lines[0].strip().startswith("self.account = Account(100) [self.account=Account(")
    assert lines[-1].strip().startswith(f"{_PAID}{method}(self=")
    assert "    self.balance -= fee(n) [self.balance=100 → 98]Account.pay(" in "\n".join(lines)
    assert not any("log.append" in one for one in lines)


def test_lines_of_a_setup_method_stand_before_those_of_the_test(
    made_before: Callable[..., list[str]],
) -> None:
    lines = made_before(*PYTEST, "test_it.py::TestMethod::test_both")
    calls = [one.strip() for one in lines if ".pay(" in one.partition("[")[0]]
    assert [one.partition(" [")[0] for one in calls] == [
        "self.account.pay(10)",
        "self.account.pay(20)",
    ]


def test_lines_of_fixtures_are_reported(made_before: Callable[..., list[str]]) -> None:
    lines = "\n".join(made_before(*PYTEST, "test_it.py::test_fixture_of_a_fixture"))
    assert lines.index("made.pay(10)") < lines.index("account.pay(20) [account.balance=98 → 95")
    assert lines.splitlines()[-1].strip().startswith("yield account []used(account=Account(")
    assert "account.pay(1)" not in lines
    plain = made_before(*PYTEST, "test_it.py::test_plain_value")
    assert plain[-1].strip() == "return table(30) []number() → 4"


def test_lines_many_calls_deep_are_reported(made_before: Callable[..., list[str]]) -> None:
    lines = made_before(*PYTEST, "test_it.py::test_many_calls_deep")
    assert "        tenth = tenth + 1 [tenth=2]" in lines
    assert lines[-1] == "  return rate(n) []fee(n=10) → 2"
