"""Is the list of all commands within its lines, and whole where the names say least?"""

from __future__ import annotations

from debugger import commands
from debugger.core.command import COMMANDS
from debugger.surface.reference import MAX_OVERVIEW_LINES, overview


def test_the_questions_are_told_apart_in_the_list_of_commands() -> None:
    commands.load()
    lines = list(overview(COMMANDS))
    assert len(lines) <= MAX_OVERVIEW_LINES
    begin = lines.index("Questions:")
    questions = {one.split()[0]: one for one in lines[begin + 1 :]}
    assert "what expressions were each time" in questions["probe"]
    assert "where they part" in questions["diff"]
