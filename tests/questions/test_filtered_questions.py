"""Each command takes the options of the filter that docs/questions.md says, in each language."""

from __future__ import annotations

import inspect
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from debuggees import program_text
from debugger.cli import commands
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import COMMANDS, Option, OptionGroup
from debugger.model.hit_filter import HitFilter, require_one_hit

Cli = Callable[..., Any]
DOC = Path(__file__).parents[2] / "docs" / "questions.md"
NAMES = {
    "--when": "when", "--nth": "nth", "--first": "first", "--last": "last", "--changes": "changes",
    "--thread": "thread", "--in": "inside", "--after": "after", "--until": "until",
}  # fmt: skip
VALUES = {
    "when": ("x > 1",), "nth": "3", "first": 2, "last": 2, "changes": True, "thread": "1",
    "inside": "f", "after": "f.c:3", "until": "f.c:4",
}  # fmt: skip
commands.register_all()


def table_cells(corner: str = "command", first: str = "--when") -> Iterator[tuple[str, str, str]]:
    rows = [
        [cell.strip(" `") for cell in line.strip("|\n ").split("|")]
        for line in DOC.read_text().splitlines()
        if line.startswith("|")
    ]
    at = next(at for at, row in enumerate(rows) if row[:2] == [corner, first])
    for row in rows[at + 2 :]:
        if len(row) != len(rows[at]):
            return
        for flag, cell in zip(rows[at][1:], row[1:], strict=True):
            yield row[0], flag, cell


CELLS = list(table_cells())
EVENT_CELLS = list(table_cells("location", "probe"))


def group_of(command: str) -> OptionGroup:
    groups = inspect.getclosurevars(COMMANDS.get(command).run).nonlocals["groups"].values()
    [found] = filter(is_filter, groups)
    return found


def flags_of(command: str) -> set[str]:
    options = [one.about for one in COMMANDS.get(command).parameters]
    return {flag for one in options if isinstance(one, Option) for flag in (*one.flags, *one.also)}


def is_filter(group: OptionGroup) -> bool:
    return "nth" in {one.name for one in group.parameters}


@pytest.mark.parametrize(("command", "flag", "cell"), CELLS)
def test_the_table_says_what_a_command_takes(command: str, flag: str, cell: str) -> None:
    group, name = group_of(command), NAMES[flag]
    has_it = name in {one.name for one in group.parameters}
    assert has_it == (cell != "own")
    if cell == "own":
        assert flag in flags_of(command)
    elif cell == "no":
        with pytest.raises(DebuggerError) as raised:
            group.build(command, **{name: VALUES[name]})
        assert raised.value.code is ErrorCode.USAGE
        assert raised.value.hint
    else:
        found = group.build(command, **{name: VALUES[name]})
        assert found
        if cell == "1":
            with pytest.raises(DebuggerError, match="one hit"):
                require_one_hit(command, found)


def test_the_table_has_all_commands_with_the_filter() -> None:
    known = {one.name for one in COMMANDS if "--nth" in flags_of(one.name)}
    assert {command for command, _, _ in CELLS} == known


EVENT_WORDS = {
    "probe": ["1"], "diff": ["1"], "why": ["x"], "who-wrote": ["x"], "holds": ["x > 1"],
}  # fmt: skip


def test_the_table_of_events_says_which_questions_refuse_them(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text("x = 1\n")
    refused = set()
    for event, command, _ in EVENT_CELLS:
        words = [command, *EVENT_WORDS[command], "--at", event, "--", sys.executable, "ends.py"]
        if event in {"exit", "hang"} and command in {"why", "who-wrote", "holds"}:
            answer = cli(*words, cwd=tmp_path)
            assert answer.exit
            refused |= {(event, command)}
            assert "--at exit" in answer.err or "--at hang" in answer.err
    assert refused == {
        (event, command) for event, command, cell in EVENT_CELLS if cell in {"no", "call"}
    }
    assert {command for _, command, _ in EVENT_CELLS} == EVENT_WORDS.keys()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("filtered")
    for ending in ("c", "py", "js", "rs", "go"):
        (made / f"boxes.{ending}").write_text(program_text(f"filtered/boxes.{ending}"))
    build = ["gcc", "-g", "-O0", "-o", "boxes", "boxes.c"]
    subprocess.run(build, check=True, timeout=60, cwd=made)
    if shutil.which("rustc"):
        words = ["rustc", "-g", "-o", "boxes_rs", "boxes.rs"]
        subprocess.run(words, check=True, timeout=120, cwd=made)
    if shutil.which("go"):
        words = ["go", "build", "-gcflags=all=-N -l", "-o", "boxes_go", "boxes.go"]
        subprocess.run(words, check=True, timeout=120, cwd=made)
    return made


# The line of `add` that changes the total, its total, and the program.
LANGUAGES = [
    pytest.param("boxes.c:5", "b->total", ["./boxes"], id="c", marks=pytest.mark.adapter("gdb")),
    pytest.param("boxes.py:11", "b.total", [sys.executable, "boxes.py"], id="python"),
    pytest.param("boxes.js:5", "b.total", ["node", "boxes.js"], id="node",
                 marks=pytest.mark.adapter("js-debug")),
    pytest.param("boxes.rs:4", "b.total", ["./boxes_rs"], id="rust",
                 marks=pytest.mark.adapter("codelldb")),
    pytest.param("boxes.go:12", "b.total", ["./boxes_go"], id="go",
                 marks=pytest.mark.adapter("delve")),
]  # fmt: skip
# Totals before each of the nine hits: 0 0 1 2 4 7 10 14 19; in `twice`: 2, 3, 5, 6, 8, 9.


@pytest.mark.parametrize(("at", "total", "words"), LANGUAGES)
def test_calls_are_those_of_the_filter(
    cli: Cli, folder: Path, at: str, total: str, words: list[str]
) -> None:
    """The eighth and the ninth call of `add` are those below `twice` that follow `mark`."""
    asked = ["--in", "twice", "--after", "mark", "--changes", "--depth", "0", "--nth", "2"]
    found = cli("calls", "--json", "add", *asked, "--", *words, check=0, cwd=folder, timeout=120)
    [one] = found.data["data"]["lives"]
    given = {each["name"]: each["value"] for each in one["arguments"]}
    assert "19" in given["b"]
    assert given["v"] == "5"


@pytest.mark.parametrize(("at", "total", "words"), LANGUAGES)
def test_two_runs_are_compared_at_the_hits_of_the_filter(
    cli: Cli, folder: Path, at: str, total: str, words: list[str]
) -> None:
    asked = ["--at", at, total, "--in", "twice", "--after", "mark", "--nth", "1"]
    sides = ["--", *words, "1", "--vs", *words, "2"]
    found = cli("diff", "--json", *asked, *sides, check=0, cwd=folder, timeout=120).data["data"]
    pair = found["parted"]
    assert [pair["left"]["values"], pair["right"]["values"]] == [["14"], ["28"]]


@pytest.mark.parametrize(("at", "total", "words"), LANGUAGES)
def test_an_invariant_is_checked_at_the_hits_of_the_filter(
    cli: Cli, folder: Path, at: str, total: str, words: list[str]
) -> None:
    def checks(*options: str) -> tuple[int, str]:
        asked = ["holds", "--json", f"{total} < 9", "--at", at, *options, "--", *words]
        found = cli(*asked, check=0, cwd=folder, timeout=120).data["data"]
        return found["checks"], found["invariants"][0]["outcome"]

    assert checks("--until", "mark") == (6, "held")
    if at.startswith("boxes.py"):  # the other questions ask it of each language
        assert checks("--after", "mark")[1] == "false from the beginning"
    assert checks("--when", "v > 1", "--first", "3") == (3, "held")


@pytest.mark.parametrize(("at", "total", "words"), LANGUAGES)
def test_a_value_is_explained_at_the_hit_that_the_filter_chooses(
    cli: Cli, folder: Path, at: str, total: str, words: list[str]
) -> None:
    # Behind the line that writes it.
    file, line = at.split(":")
    asked = ["--at", f"{file}:{int(line) + 1}", "--in", "twice", "--after", "mark", "--", *words]
    found = cli("who-wrote", "--json", total, *asked, check=0, cwd=folder, timeout=180)
    data = found.data["data"]
    assert data["value"].split()[0] == "19"
    assert any("is hit 8 of" in note for note in data["notes"])


def test_a_condition_that_is_never_true_shows_its_values(cli: Cli, folder: Path) -> None:
    words = ["--at", "boxes.py:11", "--when", "v > 100", "--", sys.executable, "boxes.py"]
    for question in ("why", "who-wrote"):
        answer = cli(question, "b.total", *words, check=1, cwd=folder, timeout=60)
        assert "without the condition 9 hits, with v: 0 (hit 1) to 5 (hit 8)" in answer.err
    found = cli("holds", "b.total < 9", *words, check=1, cwd=folder, timeout=60)
    assert "no check meets --when 'v > 100'" in found.out
    assert "with v: 0 (hit 1) to 5 (hit 8)" in found.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--nth", "0"], "--nth counts from 1"),
        (["--nth", "last", "--first", "2"], "exclude each other"),
        (["--first", "3"], "explains the value at one hit"),
        (["--in", "nosuch"], "was hit 9 times, and no hit meets --in nosuch"),
        (["--after", "boxes.py:999"], "--after never happened"),
        (["--when", "v >"], "not a Python expression"),
    ],
)
def test_a_filter_without_a_hit_says_why(
    cli: Cli, folder: Path, options: list[str], said: str
) -> None:
    words = ["--at", "boxes.py:11", *options, "--", sys.executable, "boxes.py"]
    answer = cli("why", "b.total", *words, cwd=folder, timeout=60)
    assert said in answer.err


def test_a_run_that_ends_itself_does_not_end_the_other(cli: Cli, folder: Path) -> None:
    words = [sys.executable, "boxes.py"]
    asked = ["--at", "boxes.py:11", "v", "--nth", "2", "--", *words, "1", "--vs", *words, "2"]
    found = cli("diff", *asked, check=0, cwd=folder, timeout=60)
    assert "first at hit 2" in found.out


@pytest.mark.parametrize(
    ("options", "same"),
    [(["--in", "twice"], ["--around", "twice"]),
     (["--after", "twice", "--until", "mark"], ["--between", "twice", "mark"])],
)  # fmt: skip
def test_a_path_takes_the_filter_for_its_own_places(
    cli: Cli, folder: Path, options: list[str], same: list[str]
) -> None:
    def functions(*words: str) -> list[str]:
        asked = ["path", "--json", *words, "--", sys.executable, "boxes.py"]
        found = cli(*asked, check=0, cwd=folder, timeout=60).data["data"]
        return [row["function"] for row in found["rows"]]

    assert functions(*options) == functions(*same)


def test_one_hit_has_a_number() -> None:
    assert require_one_hit("why", HitFilter()).nth == 1
    assert require_one_hit("why", HitFilter(last=1)).nth == -1
    assert require_one_hit("why", HitFilter(nth=-2)).nth == -2
