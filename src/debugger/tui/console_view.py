"""Evaluates what a person types, in the frame that is shown; answers above, the newest last."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.widgets import Input, RichLog

from debugger.errors import DebuggerError
from debugger.output.location_text import escape_text

_LINES_MAX: Final = 2000
_HISTORY_MAX: Final = 200
_ANSWER_MAX: Final = 5000  # characters
_TYPED_MAX: Final = 2000

# Evaluates a text, and returns the body of the response.
Evaluate = Callable[[str], Awaitable[Mapping[str, Any]]]


class ConsoleView(Vertical):
    """A line to type, and the answers to what was typed before."""

    DEFAULT_CSS = """
    ConsoleView RichLog { height: 1fr; background: $background; scrollbar-size-vertical: 1; }
    ConsoleView Input { height: 1; border: none; padding: 0; background: $panel; }
    """
    BINDINGS: ClassVar = [
        Binding("up", "recall(-1)", show=False),
        Binding("down", "recall(1)", show=False),
    ]

    def __init__(self, evaluate: Evaluate, **options: Any) -> None:
        super().__init__(**options)
        self._evaluate = evaluate
        self._history: list[str] = []
        self._at = 0
        self.answers: list[str] = []  # the newest ones, as text

    def compose(self) -> ComposeResult:
        """Lay out the answers and the line."""
        log = RichLog(max_lines=_LINES_MAX, wrap=True, min_width=20)
        log.can_focus = False
        yield log
        yield Input(max_length=_TYPED_MAX, compact=True)

    def focus_line(self) -> None:
        """Let the person type."""
        self.query_one(Input).focus()

    def set_acting(self, *, acts: bool) -> None:
        """Say whether what is typed may change the program."""
        self.query_one(Input).placeholder = (
            "evaluate in the chosen frame; it may change the program"
            if acts
            else "evaluate in the chosen frame: reads only, until you take over"
        )

    def action_recall(self, step: int) -> None:
        """Bring back what was typed before."""
        self._at = max(0, min(self._at + step, len(self._history)))
        line = self.query_one(Input)
        line.value = self._history[self._at] if self._at < len(self._history) else ""
        line.cursor_position = len(line.value)

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        """Evaluate what was typed."""
        event.stop()
        text = event.value.strip()
        if not text:
            return
        event.input.value = ""
        if self._history[-1:] != [text]:
            self._history = [*self._history, text][-_HISTORY_MAX:]
        self._at = len(self._history)
        try:
            found = await self._evaluate(text)
        except DebuggerError as error:
            self._write(text, error.message, "red")
        else:
            self._write(text, str(found["result"]), "cyan")

    def _write(self, typed: str, answer: str, style: str) -> None:
        log = self.query_one(RichLog)
        log.write(Text(f"> {escape_text(typed)}", "bright_black"))
        answer = escape_text(answer[:_ANSWER_MAX], tabs=True)
        log.write(Text(answer, style))
        self.answers = [*self.answers, answer][-_HISTORY_MAX:]
