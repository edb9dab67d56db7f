"""Shows a group: its members as a grid by state, and their stacks merged into one tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.binding import Binding
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Tree

from debugger.model.group_labels import format_members
from debugger.output.location_text import base_name, escape_text
from debugger.tui.group_members import GroupMember, MemberGrid, MemberKind, build_grid

_STYLES: Final = {
    MemberKind.BAD: Style(color="red", bold=True),
    MemberKind.STOPPED: Style(color="yellow"),
    MemberKind.RUNNING: Style(color="green"),
    MemberKind.STARTING: Style(color="bright_black"),
    MemberKind.OVER: Style(color="bright_black"),
}
_CURSOR: Final = Style(reverse=True)
_FOCUSED: Final = Style(bold=True, underline=True)
_QUIET: Final = Style(color="bright_black")
_NAME_MOST: Final = 100
_BRANCHES_MOST: Final = 500  # of one node


class GroupGrid(ScrollView, can_focus=True):
    """The members, of which one is in focus; `MemberChosen` asks for another."""

    BINDINGS: ClassVar = [
        Binding("left", "move(-1)", show=False),
        Binding("right", "move(1)", show=False),
        Binding("up", "step(-1)", show=False),
        Binding("down", "step(1)", show=False),
        Binding("home", "edge(0)", show=False),
        Binding("end", "edge(-1)", show=False),
        Binding("enter,space", "choose", show=False),
    ]

    class MemberChosen(Message):
        """A member was chosen."""

        def __init__(self, session: str) -> None:
            super().__init__()
            self.session = session

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.grid = MemberGrid()
        self.title = ""
        self._members: Sequence[GroupMember] = ()
        self._holders: Mapping[
            str, bool
        ] = {}  # by session: whether it is this screen that holds it
        self._focused: str | None = None
        self._cursor: str | None = None  # the session of the cell with the cursor

    @property
    def cursor(self) -> int:
        """The index of the member at the cursor."""
        at = [n for n, one in enumerate(self.grid.members) if one.session == self._cursor]
        return at[0] if at else 0

    def show_members(self, title: str, members: Sequence[GroupMember]) -> None:
        """Show the members as they are now."""
        self.title, self._members = title, members
        self._place_cells()

    def mark_members(self, focused: str | None, holders: Mapping[str, bool]) -> None:
        """Mark the member in focus, and those that a person has taken over."""
        if focused != self._focused:
            self._cursor = focused
        self._focused, self._holders = focused, holders
        self.refresh()

    def on_resize(self) -> None:
        """Place the cells again."""
        self._place_cells()

    def _place_cells(self) -> None:
        self.grid = build_grid(self._members, max(self.size.width - 1, 1))
        self.virtual_size = Size(self.size.width, len(self.grid.rows) + 1)
        self.refresh()

    def action_move(self, by: int) -> None:
        """Move the cursor to the next member."""
        self._move_to(self.cursor + by)

    def action_step(self, down: int) -> None:
        """Move the cursor a row up or down."""
        if self.grid.members:
            self._move_to(self.grid.step(self.cursor, down=down))

    def action_edge(self, to: int) -> None:
        """Move the cursor to the first or the last member."""
        self._move_to(to % max(len(self.grid.members), 1))

    def action_choose(self) -> None:
        """Choose the member at the cursor."""
        if self.grid.members:
            self.post_message(self.MemberChosen(self.grid.members[self.cursor].session))

    def _move_to(self, index: int) -> None:
        if not self.grid.members:
            return
        index = max(min(index, len(self.grid.members) - 1), 0)
        self._cursor = self.grid.members[index].session
        row = self.grid.row_of(index) + 1
        self.scroll_to_region(Region(0, row, 1, 1), animate=False, immediate=True, force=True)
        self.refresh()

    def on_click(self, event: Any) -> None:
        """Choose the member that is clicked."""
        row = int(event.y + self.scroll_offset.y) - 1
        if 0 <= row < len(self.grid.rows):
            cells = self.grid.rows[row].cells
            column = int(event.x) // self.grid.cell_width
            if column < len(cells):
                self._move_to(cells[column])
                self.action_choose()

    def render_line(self, y: int) -> Strip:
        """Render a line of the view; the first of all describes the member at the cursor."""
        at = int(y + self.scroll_offset.y) - 1
        width = self.size.width
        if y == 0:  # also when the cells are scrolled
            segments = [Segment(self._describe_cursor(), _QUIET)]
        elif 0 <= at < len(self.grid.rows):
            segments = self._row_segments(at)
        else:
            segments = []
        strip = Strip(segments).crop(0, width).adjust_cell_length(width)
        return strip.apply_style(self.rich_style)

    def _describe_cursor(self) -> str:
        if not self.grid.members:
            return "no members yet"
        one = self.grid.members[self.cursor]
        held_by = {True: " · you act on it", False: " · another screen acts on it"}
        who = held_by.get(self._holders[one.session], "") if one.session in self._holders else ""
        return f"{self.title} · {one.describe()}{who}"

    def _row_segments(self, at: int) -> list[Segment]:
        row = self.grid.rows[at]
        style = _STYLES[row.kind]
        if row.heading:
            return [Segment("● ", style), Segment(row.heading)]
        segments = []
        for index in row.cells:
            one = self.grid.members[index]
            is_own = self._holders.get(one.session)
            mark = "▸" if one.session == self._focused else " "
            mark = {True: "●", False: "○", None: mark}[is_own]
            shown = style + _FOCUSED if one.session == self._focused else style
            if self.has_focus and index == self.cursor:
                shown += _CURSOR
            segments += [Segment(mark, style), Segment(one.short_label, shown)]
            segments.append(Segment(" " * (self.grid.cell_width - 1 - len(one.short_label))))
        return segments


class MergedTree(Tree[dict[str, Any]]):
    """The stacks of all members as one tree, the odd ones first; `BranchChosen` names one."""

    class BranchChosen(Message):
        """A branch was chosen: its members, and the frame to show."""

        def __init__(self, members: Sequence[str], frame: Mapping[str, Any] | None) -> None:
            super().__init__()
            self.members = members
            self.frame = frame

    def __init__(self, **options: Any) -> None:
        super().__init__("merged", **options)
        self.show_root = False
        self.guide_depth = 2

    def show_stacks(self, answer: Mapping[str, Any]) -> None:
        """Show the answer of `backtrace` for a group."""
        self.clear()
        self._add_branches(self.root, answer["branches"])
        silent: dict[str, list[str]] = {}
        for one in answer.get("silent", ()):
            silent.setdefault(one["reason"], []).append(one["label"])
        for reason, labels in silent.items():
            self._add_note(f"{format_members(labels)}  no answer: {reason}")
        self.root.expand()

    def show_text(self, text: str) -> None:
        """Show one line in place of stacks."""
        self.clear()
        self._add_note(text)

    def _add_note(self, text: str) -> None:
        self.root.add_leaf(Text(escape_text(text)[:_NAME_MOST], "bright_black"))

    def _add_branches(self, above: Any, branches: Sequence[Mapping[str, Any]]) -> None:
        for one in branches[:_BRANCHES_MOST]:
            data = {"members": one["members"], "frame": _shown_frame(one)}
            inner = one.get("branches", ())
            if not inner:
                above.add_leaf(_branch_label(one), data=data)
            else:
                self._add_branches(above.add(_branch_label(one), data=data, expand=True), inner)

    def on_tree_node_selected(self, event: Tree.NodeSelected[dict[str, Any]]) -> None:
        """Choose a branch."""
        if event.node.data:
            self.post_message(
                self.BranchChosen(event.node.data["members"], event.node.data["frame"])
            )


def _shown_frame(branch: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the innermost frame of the program's own code, or of any with a line."""
    placed = [one for one in branch["frames"] if one.get("file") and one.get("line")]
    own = [one for one in placed if one.get("text")]
    some: Sequence[Mapping[str, Any]] = own or placed
    return some[-1] if some else None


def _branch_label(branch: Mapping[str, Any]) -> Text:
    frames = branch["frames"]
    shown = _shown_frame(branch) or (frames[-1] if frames else None)
    count = f" {len(branch['members'])}×" if len(branch["members"]) > 1 else ""  # noqa: RUF001
    label = Text(escape_text(format_members(branch["members"]))[:60], "bold")
    label.append(count, "bright_black not bold")
    name = shown["function"] if shown else "here"
    label.append(f" {escape_text(name)[:_NAME_MOST]}", "not bold")
    if frames and frames[-1] is not shown:
        label.append(f" ▸ {escape_text(frames[-1]['function'])[:60]}", "bright_black not bold")
    place = branch.get("state", "")
    if shown and shown.get("file"):
        place = f"{base_name(shown['file'])}:{shown.get('line') or '?'}"
    label.append(f" {escape_text(place)[:60]}", "bright_black not bold")
    return label
