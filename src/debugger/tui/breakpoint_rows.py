"""Lists the breakpoints of a session: shows, sets, changes and removes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from textual.binding import Binding
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from debugger.errors import DebuggerError, ErrorCode
from debugger.output.location_text import escape_text
from debugger.tui.session_watch import RunCommand

_ROWS_MAX: Final = 500


class BreakpointRows(OptionList):
    """The breakpoints; Enter shows one, Space switches it, E changes it, Delete removes it."""

    BINDINGS: ClassVar = [
        Binding("space", "act('switch')", "On/off"),
        Binding("e", "act('change')", "Change"),
        Binding("delete,d", "act('remove')", "Remove"),
    ]

    class Acted(Message):
        """Something is to be done with a breakpoint: switch, change, remove."""

        def __init__(self, action: str, known: Mapping[str, Any]) -> None:
            super().__init__()
            self.action = action
            self.known = known

    def __init__(self, run_command: RunCommand, **options: Any) -> None:
        super().__init__(markup=False, **options)
        self._run_command = run_command
        self.breakpoints: list[Mapping[str, Any]] = []

    async def load(self) -> None:
        """Load what there is now."""
        try:
            found = await self._run_command("breakpoint_list", {})
        except DebuggerError:
            found = {"breakpoints": []}
        self.breakpoints = found["breakpoints"]
        chosen = self.highlighted
        self.clear_options()
        self.add_options(
            [Option(_row_text(one), id=str(one["id"])) for one in self.breakpoints[:_ROWS_MAX]]
        )
        if chosen is not None and self.option_count:
            self.highlighted = min(chosen, self.option_count - 1)

    def lines_of(self, path: str | None) -> dict[int, bool]:
        """Return the lines of a file with a breakpoint: whether it is on."""
        return {
            one["line"]: one["enabled"]
            for one in self.breakpoints
            if one.get("file") == path and one.get("line")
        }

    def find(self, path: str, line: int) -> Mapping[str, Any] | None:
        """Return the breakpoint of a line."""
        found = (
            one for one in self.breakpoints if (one.get("file"), one.get("line")) == (path, line)
        )
        return next(found, None)

    def action_act(self, action: str) -> None:
        """Ask for something with the breakpoint at the cursor."""
        if self.highlighted is not None and self.highlighted < len(self.breakpoints):
            self.post_message(self.Acted(action, self.breakpoints[self.highlighted]))

    async def toggle(self, path: str, line: int) -> None:
        """Set a breakpoint at a line, or remove the one that is there.

        Raises:
            DebuggerError: What the daemon refuses.
        """
        known = self.find(path, line)
        if known is not None:
            await self._run_command("breakpoint_remove", {"ids": [known["id"]]})
        else:
            await self._run_command("breakpoint_add", {"place": f"{path}:{line}"})

    async def act(self, action: str, known: Mapping[str, Any]) -> None:
        """Switch a breakpoint on or off, or remove it.

        Raises:
            DebuggerError: What the daemon refuses.
        """
        if action == "remove":
            await self._run_command("breakpoint_remove", {"ids": [known["id"]]})
        else:
            command = "breakpoint_disable" if known["enabled"] else "breakpoint_enable"
            await self._run_command(command, {"number": known["id"]})

    async def save(
        self, known: Mapping[str, Any] | None, place: str, fields: tuple[str, str, str]
    ) -> None:
        """Set or change a breakpoint, with its condition, hit count and message.

        Raises:
            DebuggerError: USAGE for a hit count that is no number, or what the daemon refuses.
        """
        condition, hits, log = fields
        if hits and not hits.isdecimal():
            raise DebuggerError(ErrorCode.USAGE, f"a hit count is a number, not {hits[:40]!r}")
        count = int(hits or "0")
        if known is not None:
            change = {"number": known["id"], "condition": condition, "hit_count": count, "log": log}
            await self._run_command("breakpoint_change", change)
        else:
            when = [condition] if condition else []
            options = {"when": when, "hit_count": count or None, "log": log or None}
            await self._run_command("breakpoint_add", {"place": place, **options})
        await self.load()


def place_name(one: Mapping[str, Any]) -> str:
    """Name the place of a breakpoint."""
    if one.get("file"):
        return f"{one['file']}:{one.get('line')}"
    return str(one.get("function") or one.get("address") or one.get("kind") or "?")


def _row_text(one: Mapping[str, Any]) -> str:
    more = [
        f"if {one['condition']}" if one.get("condition") else "",
        f"from hit {one['hit_count']}" if one.get("hit_count") else "",
        f"logs {one['log']}" if one.get("log") else "",
        f"{one['hits']} hits" if one.get("hits") else "",
        "" if one.get("enabled") else "off",
        "" if one.get("verified") else "not bound",
    ]
    text = f"{one['id']}  {place_name(one)}  {', '.join(each for each in more if each)}"
    return escape_text(text)[:300]
