"""Shows an answer over the screen: its picture in characters or its calls, and its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static, TabbedContent, TabPane, Tree
from textual.widgets.tree import TreeNode

from debugger.output.location_text import base_name, escape_text

# Where the person wants to look: a file and a line.
ShownPlace = tuple[str, int]

_TEXT_MAX: Final = 200_000  # characters
_BAR: Final = 10  # characters
_OPEN_DEPTH: Final = 3  # of a long tree
_OPEN_ROWS: Final = 40
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"


class AnswerCallTree(Tree[Mapping[str, Any]]):
    """The calls of a run: each with a bar for its part of the run, below its caller."""

    def __init__(self, tree: Mapping[str, Any], **options: Any) -> None:
        label = escape_text(f"{tree['title']}: {tree['end']}")[:200]
        super().__init__(Text(label, "bold"), **options)
        self.guide_depth = 2
        rows = tree["rows"]
        open_: list[TreeNode[Mapping[str, Any]]] = [self.root]
        for at, row in enumerate(rows):
            depth = min(int(row["depth"]), len(open_) - 1)
            is_open = len(rows) <= _OPEN_ROWS or depth < _OPEN_DEPTH
            has_calls = at + 1 < len(rows) and rows[at + 1]["depth"] > row["depth"]
            above = open_[depth]
            node = (
                above.add(_call_label(row), data=row, expand=is_open)
                if has_calls
                else above.add_leaf(_call_label(row), data=row)
            )
            open_[depth + 1 :] = [node]
        if tree.get("omitted"):
            text = f"{tree['omitted']:,} more lines, the least telling ones, are left out"
            self.root.add_leaf(Text(text, "bright_black"))
        self.root.expand()


class AnswerScreen(ModalScreen[ShownPlace | None]):
    """An answer; Escape closes it, Enter on a call shows its function's line."""

    CSS = """
    AnswerScreen { align: center middle; }
    AnswerScreen > Vertical {
        width: 94%; height: 94%; border: round $accent; background: $surface;
    }
    AnswerScreen TabPane { padding: 0; }
    AnswerScreen AnswerCallTree { height: 1fr; background: $surface; }
    """
    BINDINGS: ClassVar = [Binding("escape,q", "dismiss(None)", "Close")]

    def __init__(self, title: str, text: str, drawing: Mapping[str, Any] | None) -> None:
        super().__init__()
        self._heading = escape_text(title)[:80]
        self._text = _safe_lines(text)
        self._picture = _safe_lines(str((drawing or {}).get("text") or ""))
        self._trees: Sequence[Mapping[str, Any]] = (drawing or {}).get("trees") or ()

    @property
    def picture(self) -> str:
        """The picture in characters; empty for an answer without one."""
        return self._picture

    @property
    def text(self) -> str:
        """The answer as text."""
        return self._text

    def compose(self) -> ComposeResult:
        """Lay out the picture and the text."""
        with Vertical() as box:
            box.border_title = self._heading
            box.border_subtitle = "Escape closes"
            if not self._picture and not self._trees:
                with VerticalScroll():
                    yield Static(Text(self._text))
                return
            with TabbedContent():
                if self._picture:
                    with TabPane("Picture"), VerticalScroll():
                        yield Static(Text(self._picture, no_wrap=True))
                for at, tree in enumerate(self._trees):
                    name = f"Calls of run {at + 1}" if len(self._trees) > 1 else "Calls"
                    with TabPane(name):
                        yield AnswerCallTree(tree)
                with TabPane("Text"), VerticalScroll():
                    yield Static(Text(self._text))

    def on_mount(self) -> None:
        """Let the arrows move or scroll."""
        first = "AnswerCallTree" if self._trees else "VerticalScroll"
        self.query(first).first().focus()

    def on_tree_node_selected(self, event: Tree.NodeSelected[Mapping[str, Any]]) -> None:
        """Show the line of a call's function."""
        row = event.node.data or {}
        if row.get("file") and row.get("line"):
            self.dismiss((row["file"], row["line"]))


def _safe_lines(text: str) -> str:
    return "\n".join(escape_text(one, tabs=True) for one in text[:_TEXT_MAX].split("\n"))


def share_bar(share: float) -> str:
    """Return a bar of ten characters for a part from 0 to 1."""
    eighths = round(min(max(share, 0.0), 1.0) * _BAR * 8)
    full, rest = divmod(eighths, 8)
    return f"{'█' * full}{_EIGHTHS[rest] if rest else ''}".ljust(_BAR)


def _call_label(row: Mapping[str, Any]) -> Text:
    label = Text(share_bar(row["share"]), "yellow" if row["marks"] else "blue")
    label.append(f" {escape_text(row['name'])[:200]}", "default")
    if row.get("result"):
        label.append(f" → {escape_text(row['result'])[:100]}", "cyan")
    for one in row["marks"]:
        label.append(f" {escape_text(one)[:100]}", "bold yellow")
    place = f"{base_name(row['file'])}:{row['line']}" if row.get("file") and row.get("line") else ""
    facts = " · ".join(one for one in (place, row.get("facts", "")) if one)
    label.append(f"  {escape_text(facts)[:120]}", "bright_black")
    return label
