"""`path` and `diff` count the lines of Java by an agent in its JVM, and compare runs by them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from cli_commands import Cli, answer_data
from debuggees import PROGRAMS, find_marker

pytestmark = pytest.mark.adapter("java")
FOLDER = PROGRAMS / "java"
SOURCE = FOLDER / "Counted.java"


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("java_counted")
    subprocess.run(["javac", "-g", "-nowarn", "-d", str(folder), str(SOURCE)], check=True)
    return folder


def line(marker: str) -> int:
    return find_marker("java/Counted.java", marker)


def command(classes: Path, *words: str) -> list[str]:
    return ["java", "-cp", str(classes), "Counted", *words]


def count_lines(cli: Cli, classes: Path, function: str, *words: str) -> dict[int, int]:
    """Return how often each line of a function ran."""
    run = command(classes, *words)
    answer = cli("--json", "path", "--around", function, "--", *run, check=0, cwd=FOLDER)
    found: Any = answer_data(answer)
    return {one["line"]: one["times"] for one in found["places"][0]["lines"]}


def test_a_failing_run_is_compared_with_a_passing_one(shared_cli: Cli, classes: Path) -> None:
    bad, good = command(classes, "ends", "10,x"), command(classes, "ends", "10,200")
    shown = shared_cli("path", "--", *bad, "--vs", *good, check=0, cwd=FOLDER).out
    assert f"Counted.java:{line('thrown')}  throw new IllegalStateException(" in shown
    assert f"-{line('caught')}  }} catch (NumberFormatException failed) {{" in shown
    assert f"Counted.java:{line('dear')}  sum -= one.price() / 10;" in shown


def test_two_runs_are_compared_by_how_often_their_lines_ran(shared_cli: Cli, classes: Path) -> None:
    first, second = command(classes, "ends", "50,60"), command(classes, "ends", "50,60", "member")
    shown = shared_cli("diff", "--", *first, "--vs", *second, check=0, cwd=FOLDER).out
    assert f"Counted.java:{line('member')}  x0 / x1  sum = sum * 95 / 100;" in shown


def test_lines_are_counted_as_the_source_has_them(shared_cli: Cli, classes: Path) -> None:
    found = count_lines(shared_cli, classes, "total", "ends", "10,20,300")
    loop = line("loop")
    assert found == {
        loop - 1: 1,
        loop: 4,
        loop + 1: 3,
        line("dear"): 1,
        loop + 4: 3,
        line("member") - 1: 1,
        line("member"): 0,
        line("member") + 2: 1,
    }


def test_loops_switches_and_calls_over_several_lines_are_counted_once(
    shared_cli: Cli, classes: Path
) -> None:
    found = count_lines(shared_cli, classes, "jumps", "ends", "10,20,300")
    assert found[line("short")] == 4  # three times into the loop, and once past it
    assert found[line("breaks")] == 1
    assert found[line("case")] == 1
    spread = line("spread")
    assert found[spread] == found[spread + 1] == found[spread + 2] > 1


def test_a_finally_is_counted_however_it_is_entered(shared_cli: Cli, classes: Path) -> None:
    found = count_lines(shared_cli, classes, "guarded", "ends", "10,x,300")
    assert (found[line("caught")], found[line("finally")]) == (1, 3)


def test_no_count_of_several_threads_is_lost(shared_cli: Cli, classes: Path) -> None:
    assert count_lines(shared_cli, classes, "step", "threads", "60") == {line("step"): 80_000}


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("exits", ["exited with status 4", "Counted.jumps :"]),
        ("halts", ["exited with status 5", "was killed before it told what ran"]),
        ("waits", ["still running after", "Counted.jumps :"]),
    ],
)
def test_what_ran_is_counted_however_the_program_ends(
    shared_cli: Cli, classes: Path, what: str, says: list[str]
) -> None:
    words = ("path", "--timeout", "3" if what == "waits" else "60", "--")
    answer = shared_cli(*words, *command(classes, what, "60"), cwd=FOLDER)
    for text in says:
        assert text in answer.out, str(answer)
    assert ("only counts are known of Java" in answer.out) == (what != "halts")


def test_a_jvm_that_the_program_starts_is_counted(shared_cli: Cli, classes: Path) -> None:
    place = f"Counted.java:{line('dear')}"
    run = command(classes, "starts", "60")
    shown = shared_cli("path", "--around", place, "--", *run, check=0, cwd=FOLDER).out
    assert "path of process 2 (pid " in shown
    assert ", java Counted ends 60,900): exited with status 0" in shown
    assert "x1  sum -= one.price() / 10;" in shown


def test_a_source_is_compiled_and_one_that_does_not_compile_is_named(
    shared_cli: Cli, tmp_path: Path
) -> None:
    shown = shared_cli("path", "--", str(SOURCE), "ends", "60", check=0, cwd=tmp_path).out
    assert f"Counted.total {SOURCE.name}:" in shown or "Counted.total :" in shown
    (tmp_path / "Bad.java").write_text('class Bad { int size = "a"; }\n')
    refused = shared_cli("path", "--", "Bad.java", check=1, cwd=tmp_path)
    assert "Bad.java does not compile: " in refused.err
    assert "incompatible types" in refused.err


def test_classes_without_lines_are_named(shared_cli: Cli, tmp_path: Path) -> None:
    subprocess.run(["javac", "-g:none", "-d", str(tmp_path), str(SOURCE)], check=True)
    shown = shared_cli("path", "--", *command(tmp_path, "ends", "60"), check=0, cwd=FOLDER).out
    assert "note: compiled without lines, so only calls are counted: Counted" in shown


def count_between(cli: Cli, classes: Path, start: str, to: str, *words: str) -> Any:
    run = command(classes, *words)
    answer = cli("--json", "path", "--between", start, to, "--", *run, check=0, cwd=FOLDER)
    return answer_data(answer)


def test_a_part_between_two_locations_is_counted(shared_cli: Cli, classes: Path) -> None:
    found = count_between(shared_cli, classes, "guarded", "Counted.total", "ends", "10,20,x")
    assert {one["function"]: one["count"] for one in found["rows"]} == {
        "Counted.guarded": 3,
        "Counted.Item.<init>": 3,
        "Counted.main": 0,
    }
    assert "counted from where guarded begins to where Counted.total does" in found["notes"][-1]
    # From a function to its next call, and from a line on to the end.
    found = count_between(shared_cli, classes, "guarded", "guarded", "ends", "10,20,x")
    assert found["rows"][0]["count"] == 1
    found = count_between(
        shared_cli, classes, f"Counted.java:{line('dear')}", "nope", "ends", "200"
    )
    assert "nope was not called after" in found["notes"][-1]
    assert "Counted.guarded" not in str(found["rows"])
