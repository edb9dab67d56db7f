"""Asks a person for a value, or for a breakpoint's condition, hit count and message."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Static

from debugger.errors import DebuggerError
from debugger.output.location_text import escape_text

_TYPED_MAX: Final = 2000
_PROBLEM_MAX: Final = 300


class FormScreen(ModalScreen[None]):
    """Lines to fill in. Enter commits them; while that fails, the form stays open and says why."""

    CSS = """
    FormScreen { align: center middle; }
    FormScreen > Vertical {
        width: 80%; max-width: 90; height: auto; border: round $accent; background: $surface;
        padding: 0 1;
    }
    FormScreen Input { height: 1; border: none; padding: 0; background: $panel; }
    FormScreen #problem { color: $text-error; }
    """
    BINDINGS: ClassVar = [
        Binding("escape", "dismiss", "Close"),
        Binding("down", "app.focus_next", show=False),
        Binding("up", "app.focus_previous", show=False),
    ]

    def __init__(
        self,
        title: str,
        fields: Mapping[str, str],
        commit: Callable[[list[str]], Awaitable[None]],
    ) -> None:
        """Make a form.

        Args:
            title: What it is about.
            fields: The names of the lines, with their present values.
            commit: Gets the new values; raises a DebuggerError for what cannot be set.
        """
        super().__init__()
        self._heading = escape_text(title)[:80]
        self._fields = fields
        self._commit = commit

    def compose(self) -> ComposeResult:
        """Lay out the lines."""
        with Vertical() as box:
            box.border_title = self._heading
            box.border_subtitle = "Enter: set · Escape: leave"
            for name, value in self._fields.items():
                if len(self._fields) > 1:
                    yield Label(name)
                yield Input(value, max_length=_TYPED_MAX, compact=True)
            yield Static(id="problem", markup=False)

    def on_mount(self) -> None:
        """Let the person type in the first line."""
        self.query(Input).first().focus()

    @property
    def problem(self) -> str:
        """Why what was typed could not be set."""
        return str(self.query_one("#problem", Static).content)

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        """Commit what was typed."""
        event.stop()
        try:
            await self._commit([one.value.strip() for one in self.query(Input)])
        except DebuggerError as error:
            self.query_one("#problem", Static).update(escape_text(error.message)[:_PROBLEM_MAX])
            return
        self.dismiss()


def breakpoint_fields(known: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the lines of the form for a breakpoint; None for a new one."""
    one = known or {}
    return {
        "Condition": str(one.get("condition") or ""),
        "Stops from hit": str(one.get("hit_count") or ""),
        "Message instead of a stop, with {expressions}": str(one.get("log") or ""),
    }
