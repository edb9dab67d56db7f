"""Writes docs/adapters.md: each command with each adapter."""

from __future__ import annotations

import fcntl
import re
from collections.abc import Mapping
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "adapters.md"
YES, NO = "yes", "no"
_BEGIN, _END = "<!-- the table -->", "<!-- the table's end -->"
_NOTE = re.compile(r"- (?P<adapter>[\w-]+), `(?P<row>[^`]+)`: (?P<said>.+)")

Said = Mapping[str, str]


def read_column(adapter: str) -> dict[str, str]:
    """Return what the page says of each command with an adapter: `yes`, or what we say instead."""
    return parse_table(PAGE.read_text()).get(adapter, {})


def write_column(adapter: str, seen: Said) -> None:
    """Write an adapter's column; others may be written at the same time."""
    with PAGE.open("r+") as page:
        fcntl.flock(page, fcntl.LOCK_EX)
        text = page.read()
        known = parse_table(text)
        known[adapter] = dict(seen)
        before, _, rest = text.partition(_BEGIN)
        _, _, after = rest.partition(_END)
        page.seek(0)
        page.truncate()
        page.write(before + _BEGIN + "\n" + format_table(known) + _END + after)


def parse_table(text: str) -> dict[str, dict[str, str]]:
    inside = text.partition(_BEGIN)[2].partition(_END)[0]
    rows = [line for line in inside.splitlines() if line.startswith("|")]
    if not rows:
        return {}
    adapters = split_cells(rows[0])[1:]
    notes = {(one["adapter"], one["row"]): one["said"] for one in _NOTE.finditer(inside)}
    known: dict[str, dict[str, str]] = {adapter: {} for adapter in adapters}
    for line in rows[2:]:
        name, *cells = split_cells(line)
        row = name.strip("`")
        for adapter, cell in zip(adapters, cells, strict=True):
            if cell:
                known[adapter][row] = notes[adapter, row] if cell == NO else cell
    return known


def split_cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def format_table(known: Mapping[str, Said]) -> str:
    adapters = sorted(known)
    names = list(dict.fromkeys(row for adapter in adapters for row in known[adapter]))
    lines = ["| command | " + " | ".join(adapters) + " |", "|---" * (len(adapters) + 1) + "|"]
    notes = []
    for name in names:
        cells = []
        for adapter in adapters:
            said = known[adapter].get(name, "")
            cells.append(said if said in {YES, ""} else NO)
            if cells[-1] == NO:
                notes.append(f"- {adapter}, `{name}`: {said}")
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", "What is said where it is no:", "", *notes, ""])
