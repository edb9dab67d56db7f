"""Holds the situations that a user is in, each with the question that answers it.

The overview of the commands, the skill page and the instructions of the MCP server begin with them:
a user knows what happened, and not yet which question to ask.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Situation(NamedTuple):
    """What the user has, and what to do then."""

    text: str
    # The words after `debugger`; CMD is the user's program with its arguments.
    words: str
    # The tool of the MCP server, with the arguments that are worth a mention.
    tool: str
    # What else the skill page says of it, as Markdown.
    note: str = ""


SITUATIONS: Final = (
    Situation(
        "it works with another input, or before a change",
        "path -- CMD --vs GOOD_CMD",
        "debug_path {command, versus}, then debug_diff",
        "then `debugger diff -- CMD --vs GOOD_CMD`: where they diverge",
    ),
    Situation("it crashes", "crash -- CMD", "debug_crash", "also `--core FILE ./app`, `--pid N`"),
    Situation("a test fails", "test -- pytest x.py", "debug_test", "go test, cargo test, jest, …"),
    Situation(
        "a value is wrong",
        "why 'a.b' --at LOC -- CMD",
        "debug_why: where it comes from; debug_who_wrote: its writers",
        "where it comes from; `--at crash`, `--at fail`; `who-wrote`: all its writers",
    ),
    Situation(
        "is my guess right",
        "probe --at LOC 'x, len(y)' -- CMD",
        'debug_probe {command, at: {"a.py:9": "x, len(y)"}}',
        "the values each time",
    ),
    Situation(
        "which of N stages",
        "probe --at LOC 'name, x' --changes -- CMD",
        "debug_probe {changes: true}; when does it break: debug_holds",
        "or `debugger holds 'n <= len(a)' --at LOC -- CMD`: first false where",
    ),
    Situation(
        "what does a function do", "calls FUNCTION --nth 3 -- CMD", "debug_calls", "line by line"
    ),
    Situation("it hangs", "hang -- CMD", "debug_hang", "or `--pid N`"),
    Situation(
        "none of these",
        "start ./app --break LOC -- ARGS",
        "debug_launch",
        "then `print`, `next`, `continue`, `stop`; `debugger try 'n=1' --until LOC`",
    ),
)


def list_as_markdown() -> str:
    """Return the situations as a list in Markdown, for the skill page."""
    lines = (
        f"- {one.text}: `debugger {one.words}`{f' ({one.note})' if one.note else ''}"
        for one in SITUATIONS
    )
    return "\n".join(lines)


def list_as_help(program: str) -> str:
    """Return the situations with their commands, for the overview of the commands."""
    width = max(len(one.text) for one in SITUATIONS)
    return "\n".join(f"  {one.text:{width}}  {program} {one.words}" for one in SITUATIONS)


def list_as_tools() -> str:
    """Return the situations with their tools, for the instructions of the MCP server."""
    return "\n".join(f"- {one.text}: {one.tool}" for one in SITUATIONS)
