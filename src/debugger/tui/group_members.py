"""Orders the members of a group by state, and places them as cells in rows. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from debugger.output.location_text import escape_text

LABEL_MOST: Final = 14  # characters of a cell
_LIVE: Final = frozenset({"stopped", "running", "initializing", "configuring"})
_WHERE_MOST: Final = 200


class MemberKind(Enum):
    """What a member does, or how it ended; each has a colour. In the order in which they come."""

    BAD = "bad"
    STOPPED = "stopped"
    RUNNING = "running"
    STARTING = "starting"
    OVER = "over"


@dataclass(frozen=True)
class GroupMember:
    """A member of a group, as it was last seen."""

    label: str
    session: str
    state: str
    # Its location while it is stopped, or how it ended.
    where: str = ""
    pid: int | None = None

    @classmethod
    def from_answer(cls, one: Mapping[str, Any]) -> GroupMember:
        """Read a member of the answer of `status`."""
        return cls(one["label"], one["session"], one["state"], one.get("where", ""), one.get("pid"))

    @property
    def kind(self) -> MemberKind:
        """What it does."""
        if self.state in _LIVE:
            known = {"stopped": MemberKind.STOPPED, "running": MemberKind.RUNNING}
            return known.get(self.state, MemberKind.STARTING)
        return MemberKind.OVER if self.state == "ended" else MemberKind.BAD

    @property
    def short_label(self) -> str:
        """The label in a cell."""
        label = escape_text(self.label)
        return label if len(label) <= LABEL_MOST else f"{label[: LABEL_MOST - 1]}…"

    def describe(self) -> str:
        """Say which it is, its state, where it is, and its process."""
        where = self.where.removeprefix("stopped at ")
        pid = f"pid {self.pid}" if self.pid else ""
        texts = [f"{self.label}: {self.state}", where, pid]
        return escape_text(", ".join(one for one in texts if one))[:_WHERE_MOST]


@dataclass(frozen=True)
class GridRow:
    """A row of the grid: a heading, or the indices of the members in its cells."""

    heading: str = ""
    kind: MemberKind = MemberKind.OVER
    cells: tuple[int, ...] = ()


@dataclass(frozen=True)
class MemberGrid:
    """The members in the order of the grid, and its rows."""

    members: tuple[GroupMember, ...] = ()
    rows: tuple[GridRow, ...] = ()
    cell_width: int = 4

    def row_of(self, index: int) -> int:
        """Return the row of a member's cell."""
        return next((at for at, row in enumerate(self.rows) if index in row.cells), 0)

    def step(self, index: int, *, down: int) -> int:
        """Return the member in the next row of cells, above or below, nearest in its column."""
        at = self.row_of(index)
        column = self.rows[at].cells.index(index)
        at += down
        while 0 <= at < len(self.rows):
            cells = self.rows[at].cells
            if cells:
                return cells[min(column, len(cells) - 1)]
            at += down
        return index


def build_grid(members: Sequence[GroupMember], width: int) -> MemberGrid:
    """Place members by state, what ended badly first, in rows of so many characters."""
    by_state: dict[str, list[GroupMember]] = {}
    for one in members:
        by_state.setdefault(one.state, []).append(one)
    kinds = list(MemberKind)
    states = sorted(
        by_state.values(), key=lambda some: (kinds.index(some[0].kind), -len(some), some[0].state)
    )
    # A mark before the label, and a blank after it.
    cell_width = max((len(one.short_label) for one in members), default=1) + 2
    columns = max(width // cell_width, 1)
    ordered: list[GroupMember] = []
    rows: list[GridRow] = []
    for some in states:
        state = escape_text(some[0].state)[:60]
        rows.append(GridRow(f"{len(some)} {state}", some[0].kind))
        first = len(ordered)
        ordered += some
        for at in range(first, len(ordered), columns):
            cells = tuple(range(at, min(at + columns, len(ordered))))
            rows.append(GridRow(kind=some[0].kind, cells=cells))
    return MemberGrid(tuple(ordered), tuple(rows), cell_width)
