"""The list of all commands is complete and within its lines."""

from __future__ import annotations

import pytest

from debugger.cli import commands
from debugger.cli.command_help import fold_help, help_text
from debugger.cli.reference import MAX_OVERVIEW_LINES, command_overview
from debugger.model.command_registry import COMMANDS


def test_the_questions_are_told_apart_in_the_list_of_commands() -> None:
    commands.register_all()
    lines = list(command_overview(COMMANDS))
    assert len(lines) <= MAX_OVERVIEW_LINES
    begin = lines.index("Questions:")
    questions = {one.split()[0]: one for one in lines[begin + 1 :]}
    assert "the values of expressions each time" in questions["probe"]
    assert "where they diverge" in questions["diff"]


def test_a_summary_ends_with_a_clause_and_not_within_one() -> None:
    commands.register_all()
    lines = list(command_overview(COMMANDS))
    listed = lines[lines.index("Sessions:") :]
    assert not [one for one in listed if "\N{HORIZONTAL ELLIPSIS}" in one]
    assert any("Run to the next line, over calls" in one for one in listed)
    assert not any(one.endswith((" and", " or", " where")) for one in listed)


@pytest.mark.parametrize("words", [(), ("probe",), ("start",)])
@pytest.mark.parametrize("width", [40, 80])
def test_help_is_folded_at_words_for_a_narrow_terminal(words: tuple[str, ...], width: int) -> None:
    commands.register_all()
    text = help_text(words, COMMANDS)
    folded = fold_help(text, width)
    assert folded.split() == text.split()
    # A word is never cut, however long it is.
    assert all(len(line) <= width or len(line.split()) == 1 for line in folded.splitlines())
    assert fold_help(text, 200) == text
