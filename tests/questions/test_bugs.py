"""The commands of an example's `expect.toml` show the cause of its bug."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bug_examples import (
    BUGS,
    BugExample,
    ProgramUnavailableError,
    fill_words,
    line_of,
    list_examples,
    prepare_example,
    tools_of,
)
from left_out import leave_out

EXAMPLES = list_examples()
_CHARACTERS_MAX = 2200
_BUGS_MIN = 24
_LANGUAGES = {"c", "cpp", "go", "js", "python", "rust"}
KINDS = frozenset({"crash", "wrong value", "corruption", "concurrency", "hang", "failing test"})


@pytest.fixture
def built(tmp_path: Path, require_tool: Callable[[str], str]) -> Callable[[BugExample], Path]:
    """Give a function that copies an example, builds it, and returns its folder."""

    def build(one: BugExample) -> Path:
        for tool in tools_of(one):
            require_tool(tool)
        try:
            return prepare_example(one, tmp_path)
        except ProgramUnavailableError as error:
            leave_out(str(error))

    return build


@pytest.mark.parametrize("one", EXAMPLES, ids=lambda one: one.name)
def test_the_commands_show_the_cause(
    one: BugExample, built: Callable[[BugExample], Path], cli: Callable[..., Any]
) -> None:
    folder = built(one)
    for ask in one.asks:
        answer = cli(*fill_words(ask.command, folder), cwd=folder, check=ask.exit, timeout=90)
        first = answer.out.splitlines()[0]
        # Only of a crash there is one cause, which is all that the first line says.
        within = first if ask.command[0] == "crash" else answer.out
        for said in ask.cause:
            assert said in within, str(answer)
        if ask.line:
            place = f"{Path(ask.file).name}:{line_of(folder / ask.file, ask.line)}"
            is_there = first.endswith(place) if within is first else place in answer.out
            assert is_there, str(answer)
        for said in ask.answer:
            assert said in answer.out, str(answer)
        assert len(answer.out) <= _CHARACTERS_MAX, str(answer)
    if any(ask.command[0] == "start" for ask in one.asks):
        cli("stop", check=0)
    assert "no sessions" in cli("sessions", check=0).out


def test_every_example_says_what_it_is_about() -> None:
    folders = {one for one in BUGS.iterdir() if one.is_dir()}
    assert {one.folder for one in EXAMPLES} == folders
    assert len(EXAMPLES) >= _BUGS_MIN
    assert {one.language for one in EXAMPLES} == _LANGUAGES
    for one in EXAMPLES:
        assert one.about
        assert one.kind in KINDS
        assert all(ask.cause for ask in one.asks)


def test_each_registry_has_a_large_program_among_them() -> None:
    clients = {one.source.client for one in EXAMPLES if one.source is not None}
    assert clients == {"pip", "npm", "apt"}
