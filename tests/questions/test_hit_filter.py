"""Questions take one filter of hits, and the names of events as locations."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from debuggees import build_debuggee, program_text

Cli = Callable[..., Any]
SOURCES = {
    "w.py": program_text("counted_lines/hits.py"),
    "w.c": program_text("counted_lines/hits.c"),
    "w.js": program_text("counted_lines/hits.js"),
    "w.go": program_text("counted_lines/hits.go"),
}
CRASH_PY = """\
def inner(values, at):
    return values[at]


values = [1, 2, 3]
for at in range(5):
    inner(values, at)
"""
CRASH_C = """\
struct node { int n; struct node *next; };
int sum(struct node *at) {
    int total = 0;
    while (1) {
        total += at->n;
        at = at->next;
    }
    return total;
}
int main(void) {
    struct node b = {2, 0}, a = {1, &b};
    return sum(&a);
}
"""
TESTS = """\
def test_good():
    assert 1 == 1


def test_bad():
    for n in range(5):
        got = 2 * n + (n == 3)
        assert got == 2 * n
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("hits")
    texts = {**SOURCES, "cr.py": CRASH_PY, "cr.c": CRASH_C, "test_x.py": TESTS}
    for name, text in texts.items():
        (made / name).write_text(text)
    for name in ("w", "cr"):
        words = ["gcc", "-g", "-O0", "-w", "-o", str(made / name), str(made / f"{name}.c")]
        subprocess.run(words, check=True, timeout=60)
    return made


def rows(cli: Cli, folder: Path, *words: str) -> list[tuple[int, str]]:
    answer = cli("probe", "--json", *words, check=0, cwd=folder, timeout=90)
    return [(row["hit"], row["values"][0]) for row in answer.data["data"]["rows"]]


PYTHON = ("w.py:3", "w.py:18", ["--", sys.executable, "w.py"])
DEBUGGERS = [
    pytest.param("w.c:4", "w.c:17", ["--adapter", "lldb-dap", "--", "./w"],
                 marks=pytest.mark.adapter("lldb-dap"), id="lldb-dap"),
    pytest.param("w.c:4", "w.c:17", ["--adapter", "gdb", "--", "./w"],
                 marks=pytest.mark.adapter("gdb"), id="gdb"),
    pytest.param("w.js:3", "w.js:16", ["--", "node", "w.js"],
                 marks=pytest.mark.adapter("js-debug"), id="node"),
    pytest.param("w.go:7", "w.go:22", ["--", "go", "run", "w.go"],
                 marks=pytest.mark.adapter("delve"), id="go"),
    pytest.param(*PYTHON, id="python"),
]  # fmt: skip


@pytest.mark.parametrize(("at", "mark", "words"), DEBUGGERS)
def test_a_probe_shows_the_hits_that_the_filter_names(
    cli: Cli, folder: Path, at: str, mark: str, words: list[str]
) -> None:
    # Line `mark` may be reached at every n (Python, Go: the `if`), or once, at n == 4.
    def probed(*options: str) -> list[tuple[int, str]]:
        return rows(cli, folder, "--at", at, "n", *options, *words)

    assert probed("--nth", "-2") == [(17, "11")]
    assert probed("--nth", "3") == [(3, "11")]
    assert probed("--when", "n > 14", "--last", "2") == [(3, "19"), (4, "21")]
    assert [value for _, value in probed("--in", "high", "--first", "2")] == ["11", "13"]
    begins = [value for _, value in probed("--after", f"{mark} if n == 4", "--first", "1")]
    assert begins == ["5"]
    assert probed("--until", f"{mark} if n == 4", "--last", "1") == [(7, "4")]


@pytest.mark.adapter("gdb")
@pytest.mark.parametrize(
    ("at", "words"),
    [("w.py:3", ["--", sys.executable, "w.py"]), ("w.c:4", ["--adapter", "gdb", "--", "./w"])],
)
def test_only_changes_are_rows(cli: Cli, folder: Path, at: str, words: list[str]) -> None:
    seen = rows(cli, folder, "--at", at, "n > 10", "--changes", *words)
    # Numbered by what counts, and no value twice in a row.
    values = [value for _, value in seen]
    assert [number for number, _ in seen] == list(range(1, len(seen) + 1))
    assert all(one != other for one, other in pairwise(values))
    assert len(values) == 12


def test_an_event_that_never_happens_is_reported(cli: Cli, folder: Path) -> None:
    words = ["--at", "w.py:3", "n", "--after", "w.py:3 if n > 99", "--", sys.executable, "w.py"]
    answer = cli("probe", *words, check=0, cwd=folder)
    assert "--after w.py:3 if n > 99: never happened, so no hit counts" in answer.out


def test_a_hit_that_was_never_reached_is_reported(cli: Cli, folder: Path) -> None:
    words = ["--at", "w.py:3", "n", "--nth", "40", "--", sys.executable, "w.py"]
    assert "w.py:3 has no hit 40: it was hit 18 times" in cli("probe", *words, cwd=folder).out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["probe", "--at", "w.py:3", "n", "--nth", "3", "--last", "2"], "exclude each other"),
        (["probe", "--at", "w.py:3", "n", "--nth", "2", "--from", "5"], "--nth chooses other ones"),
        (["probe", "--at", "crash", "n", "--nth", "2"], "happens once, and takes no --nth"),
        (["probe", "--at", "crash", "n", "--at", "w.py:3", "n"], "--at crash stands alone"),
        (["calls", "leaf", "--after", "w.py:3 if n > 99"], "--after never happened"),
        (["calls", "leaf", "--last", "40"], "leaf was called 18 times only"),
        (["calls", "leaf", "--nth", "last", "--changes"], "without a condition or another filter"),
    ],
)
def test_what_a_question_cannot_take_is_refused_with_a_hint(
    cli: Cli, folder: Path, words: list[str], message: str
) -> None:
    answer = cli(*words, "--", sys.executable, "w.py", cwd=folder)
    assert answer.exit
    assert message in answer.err
    assert "\nhint: " in answer.err


def test_the_last_calls_are_counted_from_the_end(cli: Cli, folder: Path) -> None:
    words = ["--", sys.executable, "w.py"]
    assert "#18 leaf(n=21)" in cli("calls", "leaf", "--nth", "last", *words, cwd=folder).out
    two = cli("calls", "leaf", "--last", "2", *words, cwd=folder).out
    assert "#17 leaf(n=11)" in two
    assert "#18 leaf(n=21)" in two


@pytest.mark.adapter("debugpy")
def test_a_value_is_explained_at_the_last_hit_and_at_the_crash(cli: Cli, folder: Path) -> None:
    last = ["--nth", "last", "--", sys.executable, "w.py"]
    answer = cli("who-wrote", "total", "--at", "w.py:18", *last, cwd=folder, check=0)
    assert "total=41 at w.py:18 was last written: 38 → 41" in answer.out
    crash = ["--at", "crash", "--", sys.executable, "cr.py"]
    assert "at=3 was passed at cr.py:7" in cli("who-wrote", "at", *crash, cwd=folder).out


@pytest.mark.parametrize(
    ("words", "values"),
    [
        pytest.param(["--", sys.executable, "cr.py"], ("3", "3"),
                     marks=pytest.mark.adapter("debugpy")),
        pytest.param(["--adapter", "lldb-dap", "--", "./cr"], ("0x0", "3"),
                     marks=pytest.mark.adapter("lldb-dap")),
    ],
)  # fmt: skip
def test_values_at_the_crash_are_those_of_its_stop(
    cli: Cli, folder: Path, words: list[str], values: tuple[str, str]
) -> None:
    second = "len(values)" if "cr.py" in words else "total"
    answer = cli("probe", "--json", "--at", "crash", f"at, {second}", *words, cwd=folder, check=0)
    (row,) = answer.data["data"]["rows"]
    assert answer.data["data"]["outcome"] == "crash"
    assert tuple(row["values"]) == values
    assert cli("sessions", check=0).out == "no sessions\n"


def test_values_at_a_failed_assertion_are_those_of_the_failing_hit(cli: Cli, folder: Path) -> None:
    words = ["--", sys.executable, "-m", "pytest", "-q", "test_x.py"]
    answer = cli("probe", "--json", "--at", "fail", "n, got", *words, cwd=folder, timeout=120)
    (row,) = answer.data["data"]["rows"]
    assert row["values"] == ["3", "7"]


def test_a_crash_that_does_not_happen_is_reported(cli: Cli, folder: Path) -> None:
    words = ["--at", "crash", "n", "--", sys.executable, "w.py"]
    answer = cli("probe", *words, cwd=folder)
    assert "--at crash: it did not happen (the program ended with status 0)" in answer.err
    assert "w.py (shows how it ended)" in answer.err


@pytest.mark.adapter("lldb-dap")
def test_a_lambda_is_a_location_by_its_variable(cli: Cli) -> None:
    program = build_debuggee("lambdas.cpp")
    words = ["probe", "--json", "--at", "Shop::sum::add", "item", "--adapter", "lldb-dap"]
    rows = cli(*words, "--", program, check=0).data["data"]["rows"]
    assert [row["values"] for row in rows] == [["1"], ["2"], ["3"]]
