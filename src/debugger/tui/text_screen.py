"""Shows over the screen a long text, a list to choose from, or a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static

from debugger.output.location_text import escape_text

_TEXT_MAX: Final = 200_000  # characters
_LINE_MAX: Final = 2000
KEYS: Final = """\
F2, t  Shift+F2, T  take over, hand back; of a group: all
F5, c               continue             C  all you act on
F6, p               pause                P  all you act on
F10, n              step over
F11, s              step into
Shift+F11, f        step out
Ctrl+R              restart
F9, b               breakpoint at the cursor's line
Shift+F9, B         with condition, hit count, message
e                   set the value, change the breakpoint
d, Delete           remove the breakpoint, the watch
w                   watch an expression
m                   stacks of a group: merged, or a member's
F3                  choose the session
1 … 9, Alt+1 … 9    stack, source, variables, output,
                    answers, timeline, console, group,
                    breakpoints
0, Alt+0            enlarge what is below
arrows, Enter       move, expand, choose
q, Ctrl+C           quit; the session goes on

While you have taken over, an agent's commands
that let the program run, or change it, are
refused until you hand back."""


class TextScreen(ModalScreen[None]):
    """A text, with its title; Escape closes it."""

    CSS = """
    TextScreen { align: center middle; }
    TextScreen > Vertical { width: 90%; height: 90%; border: round $accent; background: $surface; }
    """
    BINDINGS: ClassVar = [Binding("escape,q,enter", "dismiss", "Close")]

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._heading = escape_text(title)[:200]
        lines = [escape_text(one, tabs=True) for one in text[:_TEXT_MAX].split("\n")]
        self._text = "\n".join(lines)

    def compose(self) -> ComposeResult:
        """Lay out the text."""
        with Vertical() as box:
            box.border_title = self._heading[:80]
            box.border_subtitle = "Escape closes"
            with VerticalScroll():
                yield Static(Text(self._text))

    def on_mount(self) -> None:
        """Let the arrows scroll."""
        self.query_one(VerticalScroll).focus()


class ChoiceScreen(ModalScreen[str | None]):
    """A list of names, one of which is chosen."""

    CSS = """
    ChoiceScreen { align: center middle; }
    ChoiceScreen OptionList { width: 60%; max-height: 60%; border: round $accent; }
    """
    BINDINGS: ClassVar = [Binding("escape", "dismiss(None)", "Close")]

    def __init__(self, title: str, names: Sequence[str]) -> None:
        super().__init__()
        self._heading = title
        self._names = list(names)

    def compose(self) -> ComposeResult:
        """Lay out the list."""
        listed = OptionList(*[escape_text(one) for one in self._names], markup=False)
        listed.border_title = self._heading
        yield listed

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Answer with the chosen name."""
        self.dismiss(self._names[event.option_index])


class QuestionScreen(ModalScreen[str | None]):
    """A line to type."""

    CSS = """
    QuestionScreen { align: center middle; }
    QuestionScreen Input { width: 70%; border: round $accent; }
    """
    BINDINGS: ClassVar = [Binding("escape", "dismiss(None)", "Close")]

    def __init__(self, title: str) -> None:
        super().__init__()
        self._heading = title

    def compose(self) -> ComposeResult:
        """Lay out the line."""
        line = Input(max_length=_LINE_MAX)
        line.border_title = self._heading
        yield line

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer with what was typed."""
        self.dismiss(event.value.strip())
