"""Lists the answers of questions, and the events of a session's timeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from textual.widgets import OptionList
from textual.widgets.option_list import Option

from debugger.errors import DebuggerError
from debugger.output.location_text import base_name, escape_text
from debugger.tui.session_watch import RunCommand

_ROWS_MAX: Final = 500
_ROW_MAX: Final = 300  # characters
_PAGE: Final = 500
# As on the page.
_KINDS: Final = (
    *("stop", "resume", "breakpoint_hit", "logpoint", "condition_error"),
    *("crash", "exit", "adapter", "control"),
)


class AnswerList(OptionList):
    """The newest answers, the last first."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, **options)
        self._known: int | None = None

    def show_answers(self, answers: Sequence[Mapping[str, Any]]) -> str | None:
        """Show the answers; return what to say of a new one."""
        is_new = self._known is not None and len(answers) > self._known
        is_same = len(answers) == self._known
        self._known = len(answers)
        if not is_same:
            self.clear_options()
            self.add_options(
                [Option(_answer_text(one), id=str(one["id"])) for one in reversed(answers)][
                    :_ROWS_MAX
                ]
            )
        return f"{answers[-1]['id']}: {answers[-1]['summary']}" if is_new else None


class TimelineList(OptionList):
    """The newest events of a session."""

    def __init__(
        self, run_command: RunCommand, label_of: Callable[[str], str], **options: Any
    ) -> None:
        """Make the list; `label_of` names a session's member of a group, "" where it is none."""
        super().__init__(markup=False, **options)
        self._run_command = run_command
        self._label_of = label_of
        self._cursor = 0
        self._begin_ns: int | None = None
        self._is_loading = False
        self.events: list[Mapping[str, Any]] = []

    def clear_events(self) -> None:
        """Forget the events: another session is followed."""
        self.events, self._cursor, self._begin_ns = [], 0, None
        self.clear_options()

    async def load(self) -> None:
        """Load the events that are new."""
        if self._is_loading:
            return
        self._is_loading = True
        try:
            is_more = True
            while is_more:
                arguments = {"since": str(self._cursor), "limit": _PAGE, "kinds": list(_KINDS)}
                page = await self._run_command("events", arguments)
                self._add_events(page["events"])
                self._cursor = page["next"]
                is_more = len(page["events"]) == _PAGE
        except DebuggerError:
            pass  # it has ended, or the connection: both are shown above all
        finally:
            self._is_loading = False

    def _add_events(self, events: Sequence[Mapping[str, Any]]) -> None:
        if not events:
            return
        follows = self.highlighted in {None, len(self.events) - 1}
        if self._begin_ns is None:
            self._begin_ns = events[0]["time_ns"]
        begin = self._begin_ns or 0
        self.events += events
        if len(self.events) > _ROWS_MAX:
            self.events = self.events[-_ROWS_MAX:]
            self.clear_options()
            self.add_options([self._event_text(one, begin) for one in self.events])
        else:
            self.add_options([self._event_text(one, begin) for one in events])
        if follows:
            self.highlighted = len(self.events) - 1

    def _event_text(self, one: Mapping[str, Any], begin_ns: int) -> str:
        member = str(one.get("member") or self._label_of(str(one.get("session") or "")))
        return _event_text(one, begin_ns, member)


def _answer_text(one: Mapping[str, Any]) -> str:
    command = one["command"].removeprefix("debugger ")
    return escape_text(f"{one['id']}  {command}  {one['summary']}")[:_ROW_MAX]


def _event_text(one: Mapping[str, Any], begin_ns: int, member: str) -> str:
    place = f"{base_name(one['file'])}:{one.get('line')}" if one.get("file") else ""
    where = f"in {one['function']}" if one.get("function") else ""
    texts = [f"{member}:" if member else "", str(one.get("text") or ""), where, place]
    passed = (one["time_ns"] - begin_ns) / 1e9
    kind = str(one["kind"]).replace("_", " ")
    text = " ".join(each for each in texts if each)
    return escape_text(f"{passed:8.3f} s  {kind:<14} {text}")[:_ROW_MAX]
