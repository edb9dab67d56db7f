"""Formats text for a terminal: tables and colours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

_LEAST_WIDTH = 20

# The first that matches a line paints what its groups hold.
_COLOURS = (
    (re.compile(r"(stopped:)"), ("bold yellow",)),
    (re.compile(r"(exited: status 0)$|(exited\b.*)"), ("bold green", "bold red")),
    (re.compile(r"(running)\b"), ("bold cyan",)),
    (re.compile(r"(-> .*)"), ("bold",)),
    (re.compile(r"(   +\d+  )"), ("dim",)),
    (re.compile(r" *(err\| .*)"), ("red",)),
    (re.compile(r" *(dbg\| .*)"), ("dim",)),
    (re.compile(r" *(… .*)"), ("dim",)),
    (re.compile(r"(│ )(?:(ok)|(warning)|(error)) "), ("", "green", "yellow", "red")),
    (re.compile(r"([a-z][a-z ]{2,19}:)(?= |$)"), ("bold",)),
)


def terminal_table(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> str:
    """Format a table without colours; long cells are folded, not cut."""
    # Late: rich is for a terminal only, and slow to import.
    from rich import box
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=box.SQUARE)
    for column in columns:
        drawn.add_column(column, overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    console, written = _make_console(width, has_colour=False)
    console.print(drawn)
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines())


def colour_text(text: str) -> str:
    """Add colours to a text, and nothing else."""
    # Late: rich is for a terminal only, and slow to import.
    from rich.text import Text

    console, written = _make_console(_LEAST_WIDTH, has_colour=True)
    for line in text.split("\n"):
        painted = Text.from_ansi(line) if "\x1b" in line else Text(line)
        # The first pattern that matches a line decides.
        for pattern, styles in _COLOURS:
            if match := pattern.match(line):
                for group, style in enumerate(styles, 1):
                    if match[group] is not None and style:
                        painted.stylize(style, *match.span(group))
                break
        # Rich would replace a tab by up to eight blanks, which the budget has not counted.
        for index, part in enumerate(painted.split("\t", allow_blank=True)):
            written.write("\t" if index else "")
            console.print(part, soft_wrap=True, highlight=False, end="")
        written.write("\n")
    return written.getvalue().removesuffix("\n")


def _make_console(width: int, *, has_colour: bool) -> tuple[Console, StringIO]:
    from rich.console import Console  # late: as above

    written = StringIO()
    # Everything is said, so that rich asks neither the environment nor the terminal.
    console = Console(
        file=written,
        force_terminal=has_colour,
        color_system="standard" if has_colour else None,
        no_color=not has_colour,
        width=max(width, _LEAST_WIDTH),
        height=25,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
    )
    return console, written
