"""Shows a source file: the line that runs next, breakpoints, and a cursor; any number of lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from debugger.errors import DebuggerError
from debugger.output.location_text import escape_text
from debugger.tui.session_watch import Request

if TYPE_CHECKING:
    from rich.text import Text

_HIGHLIGHTED_MAX: Final = 300_000  # characters of a file whose words are coloured
_LINE_MAX: Final = 500  # characters of a line
_TAB: Final = "    "
_CURRENT: Final = Style(bgcolor="#3a3a10")
_CURSOR: Final = Style(bgcolor="#303040")
_GUTTER: Final = Style(color="bright_black")
_BREAKPOINT: Final = Style(color="red", bold=True)
_ARROW: Final = Style(color="yellow", bold=True)


class SourceView(ScrollView, can_focus=True):
    """A file with a line that runs next; `Toggled` asks for a breakpoint at the cursor's line."""

    BINDINGS: ClassVar = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "edge(-1)", show=False),
        Binding("end", "edge(1)", show=False),
        Binding("left", "scroll_left", show=False),
        Binding("right", "scroll_right", show=False),
    ]

    class Toggled(Message):
        """A breakpoint is to be set or removed."""

        def __init__(self, path: str, line: int) -> None:
            super().__init__()
            self.path = path
            self.line = line

    def __init__(self, request: Request, **options: Any) -> None:
        super().__init__(**options)
        self._request = request
        self._name: str | None = None  # the path or reference of the file that is shown
        self.path: str | None = None
        self.cursor = 0  # a line's index
        self.problem = ""
        self._lines: list[str] = []
        self._coloured: list[Text] = []
        self._current: int | None = None  # the number of the line that runs next
        self._breakpoints: Mapping[int, bool] = {}

    @property
    def line_count(self) -> int:
        """The number of lines."""
        return len(self._lines)

    def forget_source(self) -> None:
        """Read the file again when it is shown: another session is followed."""
        self._name = None

    async def show_source(self, source: Mapping[str, Any]) -> None:
        """Show the file of a frame (DAP, Source), or say why there is none."""
        reference = source.get("sourceReference") or 0
        name = source.get("path") or f"{source.get('name')}#{reference}" if source else None
        if name is None:
            self._name = None
            self.show_problem("no source here")
            return
        if name == self._name:
            return
        arguments = {"sourceReference": reference, "source": source}
        try:
            text = (await self._request("source", arguments))["content"]
        except DebuggerError as error:
            self._name = None
            self.show_problem(escape_text(error.message))
            return
        self._name = name
        self.show_file(name, text)
        self.border_title = escape_text(name)[-80:]

    def show_file(self, path: str, text: str) -> None:
        """Show a file's text."""
        self.path, self.problem = path, ""
        self._lines = [
            escape_text(one.replace("\t", _TAB))[:_LINE_MAX] for one in text.splitlines()
        ]
        self._coloured = _colour_lines(path, self._lines)
        self.cursor = min(self.cursor, max(len(self._lines) - 1, 0))
        self._update_size()

    def show_problem(self, text: str) -> None:
        """Show why there is no source."""
        self.path, self.problem, self._lines, self._coloured = None, text, [], []
        self._update_size()

    def show_line(self, number: int, *, is_next: bool) -> None:
        """Bring a line into view; it is marked where it runs next."""
        self._current = number if is_next else None
        self.cursor = max(min(number, len(self._lines)) - 1, 0)
        self.refresh()
        # How far it can scroll is known only after the file was laid out.
        self.call_after_refresh(self._follow_cursor, centred=True)

    def clear_current(self) -> None:
        """Mark no line: the program runs."""
        self._current = None
        self.refresh()

    def set_breakpoints(self, lines: Mapping[int, bool]) -> None:
        """Mark the lines with breakpoints; False for those that are off."""
        self._breakpoints = lines
        self.refresh()

    def toggle_at_cursor(self) -> None:
        """Ask for a breakpoint at the cursor's line, or for its removal."""
        if self.path is not None and self._lines:
            self.post_message(self.Toggled(self.path, self.cursor + 1))

    def action_move(self, by: int) -> None:
        """Move the cursor by lines."""
        self.cursor = max(min(self.cursor + by, len(self._lines) - 1), 0)
        self._follow_cursor()

    def action_page(self, by: int) -> None:
        """Move the cursor by pages."""
        self.action_move(by * max(self.size.height - 1, 1))

    def action_edge(self, to: int) -> None:
        """Move the cursor to the first or the last line."""
        self.action_move(to * len(self._lines))

    def on_click(self, event: Any) -> None:
        """Move the cursor to a line; in the margin, toggle its breakpoint."""
        index = int(event.y + self.scroll_offset.y)
        if 0 <= index < len(self._lines):
            self.cursor = index
            self.refresh()
            if event.x < self._margin():
                self.toggle_at_cursor()

    def render_line(self, y: int) -> Strip:
        """Render a line of the view."""
        index = y + self.scroll_offset.y
        width = self.size.width
        if self.problem:
            text = self.problem if y == 0 else ""
            strip = Strip([Segment(text, _GUTTER)]).adjust_cell_length(width)
            return strip.apply_style(self.rich_style)
        if index >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        number = index + 1
        is_current = number == self._current
        mark = {True: "●", False: "○", None: " "}[self._breakpoints.get(number)]
        margin = Strip(
            [
                Segment(mark, _BREAKPOINT),
                Segment("▶" if is_current else " ", _ARROW),
                Segment(f"{number:>{self._margin() - 3}} ", _GUTTER),
            ]
        )
        left = int(self.scroll_offset.x)
        code = Strip(self._code_segments(index)).crop(left, left + width)
        strip = Strip.join([margin, code]).adjust_cell_length(width).apply_style(self.rich_style)
        marked = _CURRENT if is_current else _CURSOR if self._is_at_cursor(index) else None
        return strip if marked is None else Strip([_with_background(one, marked) for one in strip])

    def _is_at_cursor(self, index: int) -> bool:
        return index == self.cursor and self.has_focus

    def _code_segments(self, index: int) -> list[Segment]:
        if self._coloured:
            found = self._coloured[index].render(self.app.console)
            return [Segment(one.text, _foreground(one.style)) for one in found]
        return [Segment(self._lines[index])]

    def _margin(self) -> int:
        return len(str(max(len(self._lines), 100))) + 3

    def _update_size(self) -> None:
        widest = max((cell_len(one) for one in self._lines), default=0)
        self.virtual_size = Size(widest + self._margin(), len(self._lines))
        self.refresh()

    def _follow_cursor(self, *, centred: bool = False) -> None:
        height = max(self.size.height, 1)
        top = int(self.scroll_offset.y)
        if centred and not top + 2 <= self.cursor < top + height - 3:
            self.scroll_to(0, max(self.cursor - height // 3, 0), animate=False, immediate=True)
        elif not centred:
            x = int(self.scroll_offset.x)
            self.scroll_to_region(
                Region(x, self.cursor, 1, 1), animate=False, immediate=True, force=True
            )
        self.refresh()


def _with_background(one: Segment, background: Style) -> Segment:
    return Segment(one.text, (one.style or Style()) + background)


def _foreground(style: Style | None) -> Style | None:
    """Leave out the background, which is the screen's."""
    if style is None:
        return None
    return Style(color=style.color, bold=style.bold, italic=style.italic)


def _colour_lines(path: str, lines: list[str]) -> list[Text]:
    """Colour the words of a file; nothing for a large one, or of an unknown language."""
    from rich.syntax import Syntax

    text = "\n".join(lines)
    lexer = Syntax.guess_lexer(path)
    if len(text) > _HIGHLIGHTED_MAX or lexer == "default":
        return []
    coloured = Syntax(text, lexer, theme="ansi_dark", background_color="default").highlight(text)
    found = coloured.split("\n", allow_blank=True)
    return list(found)[: len(lines)] if len(found) >= len(lines) else []
