"""Shows what the program prints: the newest lines, stdout and stderr apart, following the end."""

from __future__ import annotations

from collections import deque
from typing import Any, ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from debugger.output.location_text import escape_text

LINES_MAX: Final = 10_000
_LINE_MAX: Final = 2000  # characters
_NOTE_MAX: Final = 200
_SHOW_S: Final = 0.1  # seconds between two looks at what has come
_ERROR: Final = Style(color="red")
_TAB: Final = "    "


class OutputView(ScrollView, can_focus=True):
    """The newest lines of output; older ones are let go."""

    BINDINGS: ClassVar = [
        Binding("left", "scroll_left", show=False),
        Binding("right", "scroll_right", show=False),
    ]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._lines: deque[tuple[str, bool]] = deque(maxlen=LINES_MAX)  # with: is of stderr
        self._is_open = False  # the last line goes on
        self._is_new = False

    @property
    def texts(self) -> list[str]:
        """The lines that are kept."""
        return [text for text, _ in self._lines]

    def on_mount(self) -> None:
        """Show what has come a few times a second: a program may print faster."""
        self.set_interval(_SHOW_S, self._show_new)

    def clear_lines(self) -> None:
        """Let go of all lines."""
        self._lines.clear()
        self._is_open, self._is_new = False, True

    def add_output(self, text: str, category: str | None) -> None:
        """Add output of a category of the protocol; it may begin or end within a line."""
        if category == "important":
            self.notify(escape_text(text.rstrip())[:_NOTE_MAX], markup=False)
        is_error = category == "stderr"
        first, *rest = text.split("\n")
        if self._is_open and self._lines and self._lines[-1][1] == is_error:
            before, _ = self._lines.pop()
            self._lines.append(((before + _shown(first))[:_LINE_MAX], is_error))
        elif first or rest:
            self._lines.append((_shown(first), is_error))
        self._lines.extend((_shown(one), is_error) for one in rest[:-1])
        self._is_open = not rest or bool(rest[-1])
        if rest and rest[-1]:
            self._lines.append((_shown(rest[-1]), is_error))
        self._is_new = True

    def render_line(self, y: int) -> Strip:
        """Render a line of the view."""
        index = y + int(self.scroll_offset.y)
        if index >= len(self._lines):
            return Strip.blank(self.size.width, self.rich_style)
        text, is_error = self._lines[index]
        left = int(self.scroll_offset.x)
        line = Strip([Segment(text, _ERROR if is_error else None)])
        cut = line.crop(left, left + self.size.width).adjust_cell_length(self.size.width)
        return cut.apply_style(self.rich_style)

    def _show_new(self) -> None:
        if not self._is_new:
            return
        self._is_new = False
        was_at_end = self.scroll_offset.y >= self.max_scroll_y - 1
        self.virtual_size = Size(_LINE_MAX, len(self._lines))
        if was_at_end:
            self.scroll_end(animate=False, immediate=True, x_axis=False)
        self.refresh()


def _shown(text: str) -> str:
    return escape_text(text[:_LINE_MAX].removesuffix("\r").replace("\t", _TAB))[:_LINE_MAX]
