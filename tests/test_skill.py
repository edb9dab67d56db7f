"""The skill page is short, and every command in it runs."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from debuggees import PROGRAMS
from debugger.cli import command_help, commands, parser, skill
from debugger.cli.situations import SITUATIONS
from debugger.model.command_registry import COMMANDS

LINES_MAX = 30
CHARACTERS_MAX = 2_000
TEXT = skill.skill_text()
PAGES = {name: skill.question_page(name) for name in skill.question_names()}
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`debugger ([^`]*)`")
_ANSWER = re.compile(r"^```sh\n([^`]*)^```\n```text\n([^`]*)^```$", re.MULTILINE)
# Verbs that need no session, and so begin none.
_ASKS = frozenset(
    {"crash", "test", "probe", "path", "calls", "diff", "who-wrote", "why", "holds", "hang"}
)


def sessions() -> list[list[str]]:
    """Return the blocks of commands: each is a session, or questions, of its own."""
    return [block.strip().splitlines() for page in PAGES.values() for block in _BLOCK.findall(page)]


def answers() -> dict[str, list[str]]:
    """Return what is said to be answered, by the first command of the block before."""
    return {
        asked.splitlines()[0]: said.splitlines()
        for page in PAGES.values()
        for asked, said in _ANSWER.findall(page)
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    where = tmp_path / "work"
    shutil.copytree(PROGRAMS / "skill", where)
    compiler = shutil.which("gcc") or "cc"
    subprocess.run([compiler, "-g", "-O0", "-o", "app", "main.c"], cwd=where, check=True)
    return where


def test_the_skill_is_short_and_begins_with_its_name_and_purpose() -> None:
    assert len(TEXT.splitlines()) <= LINES_MAX
    assert len(TEXT) <= CHARACTERS_MAX
    assert re.match(r"---\nname: debugger\ndescription: .{80,400}\n---\n", TEXT)


@pytest.mark.adapter("debugpy", "lldb-dap")
@pytest.mark.parametrize("session", sessions(), ids=lambda one: one[0])
def test_every_command_of_the_skill_answers_as_it_says(
    cli: Any, folder: Path, session: list[str]
) -> None:
    env = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    said = ""
    for line in session:
        name, *words = shlex.split(line)
        assert name == "debugger"
        said += cli(*words, cwd=folder, env=env, check=0, timeout=120).out
    for expected in answers().get(session[0], ()):
        assert expected in said
    assert cli("sessions", check=0).out == "no sessions\n"


def test_every_question_has_its_example() -> None:
    asked = {shlex.split(line)[1] for session in sessions() for line in session}
    assert asked >= _ASKS | {"try"}
    assert set(PAGES) == _ASKS | {"try", "session", "group"}


def test_the_help_of_a_question_has_the_example_of_its_page() -> None:
    commands.register_all()
    for name in _ASKS | {"try"}:
        lines = PAGES[name].splitlines()
        example = next(line for line in lines if line.startswith(f"debugger {name} "))
        assert f"\nExample: {example}\n" in command_help.help_text([name], COMMANDS)
    assert "\nExample: debugger break main.c:7 --" in command_help.help_text(["break"], COMMANDS)
    assert "Example" not in command_help.help_text(["sessions"], COMMANDS)


def test_the_skill_begins_with_the_situations_and_their_commands() -> None:
    commands.register_all()
    assert "<situations>" not in TEXT
    for one in SITUATIONS:
        assert f"- {one.text}: `debugger {one.words}`" in TEXT
        parser.parse_argv(shlex.split(one.words), COMMANDS)


def test_a_page_of_a_question_is_printed_and_an_unknown_one_refused(cli: Any) -> None:
    assert cli("skill", "crash", check=0).out == PAGES["crash"]
    refused = cli("skill", "crsh", check=2)
    assert refused.err.startswith("error: no page about crsh; there is one about calls, crash, ")
    assert refused.err.endswith("hint: debugger skill crash\n")
    refused = cli("skill", "probe a value in a failing go test", check=2)
    assert refused.err.endswith("hint: debugger skill probe; debugger skill test\n")
    assert cli("skill", "crash", "--install", "x").exit == 2


@pytest.mark.parametrize(
    ("fault", "page"),
    [
        ("race", "who-wrote"),
        ("data race", "who-wrote"),
        ("Deadlock", "hang"),
        ("use_after_free", "crash"),
    ],
)
def test_a_fault_has_the_page_of_its_question(cli: Any, fault: str, page: str) -> None:
    assert cli("skill", fault, check=0).out == cli("skill", page, check=0).out


@pytest.mark.parametrize("words", _INLINE.findall("\n".join([TEXT, *PAGES.values()])))
def test_every_command_that_is_mentioned_is_there(words: str) -> None:
    commands.register_all()
    first, *rest = words.split()
    known = {one.name for one in COMMANDS}
    assert first == "COMMAND" or " ".join([first, *rest[:1]]) in known or COMMANDS.get(first)


def test_the_skill_is_printed(cli: Any) -> None:
    assert cli("skill", check=0).out == TEXT
    assert cli("skill", "--print", check=0).out == TEXT
    assert cli("skill", "--json", check=0).data["data"]["text"] == TEXT


def test_the_skill_is_installed_and_replaced(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "skills" / "debugger" / "SKILL.md"
    assert cli("skill", "--install", tmp_path / "skills", check=0).out == f"installed {path}\n"
    path.write_text(TEXT.replace("what you have", "something older", 1))
    cli("skill", "--install", tmp_path / "skills", check=0)
    assert path.read_text() == TEXT
    assert [one.name for one in path.parent.iterdir()] == ["SKILL.md"]


def test_another_skill_of_that_name_is_left_alone(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "debugger" / "SKILL.md"
    path.parent.mkdir()
    path.write_text("---\nname: theirs\n---\n")
    told = cli("skill", "--install", tmp_path)
    assert (told.exit, told.err.partition("\n")[0]) == (1, f"error: {path} is another skill")
    assert path.read_text() == "---\nname: theirs\n---\n"


def test_a_folder_that_cannot_be_is_refused(cli: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told = cli("skill", "--install", tmp_path / "file")
    assert told.exit == 1
    assert told.err.startswith("error: cannot write ")
    told = cli("skill", "--install", tmp_path, "--print")
    assert told.exit == 2
