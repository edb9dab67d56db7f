"""Is the skill short, and does every command in it run as it stands?"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from debuggees import PROGRAMS
from debugger.core.command import COMMANDS
from debugger.surface import skill

LINES_MAX = 120
TEXT = skill.text()
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`debugger ([^`]*)`")
# What the text after a block says of it, by a word in the block's first command.
ANSWERS = {
    "app.py:12 -- ": "n * 2 = 2",
    "fails.py\n": "ZeroDivisionError",
    "sum_to": "watchpoint",
    "spins.py": "work at spins.py",
    "--stop-on-entry": "ValueError",
}


def blocks() -> list[list[str]]:
    return [block.strip().splitlines() for block in _BLOCK.findall(TEXT)]


def sessions() -> list[list[str]]:
    """Join the blocks that go on with the session of the block before."""
    found: list[list[str]] = []
    for block in blocks():
        if shlex.split(block[0])[1] in {"start", "attach"}:
            found.append([])
        found[-1] += block
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    where = tmp_path / "work"
    shutil.copytree(PROGRAMS / "skill", where)
    compiler = shutil.which("gcc") or "cc"
    subprocess.run([compiler, "-g", "-O0", "-o", "app", "main.c"], cwd=where, check=True)
    return where


@contextmanager
def spinning(folder: Path, *, is_needed: bool) -> Iterator[None]:
    """Run the program that hangs, where a session attaches to it by name."""
    if not is_needed:
        yield
        return
    words = [sys.executable, "-Xfrozen_modules=off", folder / "spins.py"]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE) as spins:
        assert spins.stdout is not None
        assert spins.stdout.readline() == b"waiting\n"
        try:
            yield
        finally:
            spins.kill()


def test_the_skill_is_short_and_begins_with_its_name_and_purpose() -> None:
    assert len(TEXT.splitlines()) <= LINES_MAX
    assert re.match(r"---\nname: debugger\ndescription: .{80,400}\n---\n", TEXT)


@pytest.mark.adapter("debugpy", "lldb-dap", "gdb-cli")
@pytest.mark.parametrize("session", sessions(), ids=lambda one: one[0])
def test_every_command_of_the_skill_runs(cli: Any, folder: Path, session: list[str]) -> None:
    said = ""
    with spinning(folder, is_needed="spins.py" in session[0]):
        for line in session:
            name, *words = shlex.split(line)
            assert name == "debugger"
            said += cli(*words, cwd=folder, check=0).out
    for word, expected in ANSWERS.items():
        if word in session[0] + "\n":
            assert expected in said
    cli("stop", "--all")


@pytest.mark.parametrize("words", _INLINE.findall(TEXT))
def test_every_command_that_is_mentioned_is_there(words: str) -> None:
    from debugger import commands

    commands.load()
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
    path.write_text(TEXT.replace("Workflow", "Older"))
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
