"""Five bugs of Java programs of several classes, each explained by one question."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cli_commands import Cli
from debuggees import PROGRAMS, find_marker

pytestmark = pytest.mark.adapter("java")
FOLDER = PROGRAMS / "java_bugs"


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile all programs at once."""
    folder = tmp_path_factory.mktemp("java_bugs")
    files = sorted(map(str, FOLDER.glob("*.java")))
    subprocess.run(["javac", "-g", "-nowarn", "-d", str(folder), *files], check=True)
    return folder


def line(name: str, marker: str) -> int:
    return find_marker(f"java_bugs/{name}.java", marker)


def at(name: str, marker: str) -> str:
    return f"{name}.java:{line(name, marker)}"


def explain(cli: Cli, classes: Path, name: str, *words: str) -> str:
    answer = cli(*words, "--", str(classes / f"{name}.class"), check=0, cwd=FOLDER, timeout=120)
    return str(answer.out)


def test_crash_shows_the_null_and_the_row_that_has_no_price(shared_cli: Cli, classes: Path) -> None:
    shown = explain(shared_cli, classes, "Importer", "crash")
    cause = shown.splitlines()[0]
    assert 'Importer$Catalogue.priceOf(String)" is null' in cause
    assert cause.endswith(at("Importer", "unboxed"))
    assert 'line=Importer.Line[code="ink ", count=1]' in shown


def test_who_wrote_names_the_second_release_of_a_seat(shared_cli: Cli, classes: Path) -> None:
    place = at("Stock", "end")
    shown = explain(shared_cli, classes, "Stock", "who-wrote", "hall.free", "--at", place)
    last = f"96 → 103, in Stock.Hall.sweep {at('Stock', 'sweep')}"
    assert shown.startswith(f"hall.free=103 at {place} was last written: {last}")
    assert f"Stock.Hall.cancel {at('Stock', 'cancel')}: 87 → 94" in shown


def test_holds_names_the_statement_that_breaks_a_sum(shared_cli: Cli, classes: Path) -> None:
    invariant = "total == entries.stream().mapToInt(entry -> entry.cents).sum()"
    places = ("--at", "Budget.correct", "--at", at("Budget", "corrected"))
    shown = explain(shared_cli, classes, "Budget", "holds", invariant, *places)
    assert f"made false by {at('Budget', 'forgets')} total += cents;" in shown


def test_hang_names_the_task_that_waits_in_the_only_thread(shared_cli: Cli, classes: Path) -> None:
    shown = explain(shared_cli, classes, "Pool", "hang", "--after", "0.5")
    assert shown.splitlines()[0].endswith(f"in Pool.main {at('Pool', 'awaited')}")
    assert "(pool-1-thread-1): waits for part (FutureTask)" in shown
    assert f"at Pool.report {at('Pool', 'starved')}" in shown


def test_calls_show_that_no_trip_is_charged_for_the_night(shared_cli: Cli, classes: Path) -> None:
    shown = explain(shared_cli, classes, "Fares", "calls", "Fares.fare")
    night = shown[shown.index("#2") :]
    assert "start=23:30" in night
    assert "if (!isDay(trip.start())) {" in night
    assert "cents += 200;" not in night
    assert "cents=250 → 300" in night
