"""Reports what happens in a session to an editor: stops, output, breakpoints, the end."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from debugger.editors.editor_channel import EditorChannel
from debugger.editors.editor_text import breakpoint_body
from debugger.editors.stop_values import EditorStopValues
from debugger.errors import DebuggerError
from debugger.model.breakpoints import Breakpoint
from debugger.model.events import Event, EventKind, State
from debugger.model.program import Stopped, StopReason
from debugger.session.selection import target_program
from debugger.session.session import Session
from debugger.session.session_control import ControlHolder, SessionControl
from debugger.session.timeline.search_plan import Filters

# Breakpoints and values that other clients change are looked for as often.
_TICK_S = 0.25
_PAGE = 500  # events
_RANGES_MAX = 100  # of memory that an editor shows
_CURSOR_DIGITS = 18  # of a number of 64 bits
_OUTPUT = frozenset(
    {EventKind.OUTPUT, EventKind.LOGPOINT, EventKind.CONDITION_ERROR, EventKind.ADAPTER}
)
_WAKES = _OUTPUT | {EventKind.STOP, EventKind.RESUME, EventKind.EXIT, EventKind.CONTROL}
# DAP, StoppedEvent: the reasons that editors know.
_REASONS: Mapping[StopReason, str] = {
    StopReason.BREAKPOINT: "breakpoint",
    StopReason.STEP: "step",
    StopReason.ENTRY: "entry",
    StopReason.PAUSE: "pause",
    StopReason.EXCEPTION: "exception",
    StopReason.SIGNAL: "exception",
    StopReason.WATCHPOINT: "data breakpoint",
    StopReason.FUNCTION_BREAKPOINT: "function breakpoint",
    StopReason.GOTO: "goto",
}


@dataclass(frozen=True)
class PageView:
    """A person's page: its key, and what it has received before (`launch_configuration`)."""

    key: str
    output_since: str

    def output_cursor(self, control: SessionControl) -> int:
        """Return from which number on the page needs output: all that is kept, if it is new."""
        timeline_id, _, cursor = self.output_since.partition(":")
        is_known = timeline_id == control.timeline_id and cursor.isdecimal()
        return int(cursor) if is_known and len(cursor) <= _CURSOR_DIGITS else 0

    def describe_session(self, session: Session) -> dict[str, Any]:
        """Return what the page shows above all: the session, its state, and who acts."""
        holder = session.control.holder
        every = session.family.tree_sessions(session)
        exited = session.exited
        body: dict[str, Any] = {
            "name": session.name,
            "state": session.state.value,
            "program": target_program(session.target),
            "pid": session.pid,
            "adapter": session.adapter,
            "timeline": session.control.timeline_id,
            "holder": None,
            # The processes that a person has taken over alone.
            "held": {
                one.name: self._describe_holder(alone)
                for one in every
                if (alone := one.control.own_holder) is not None and alone.is_alone
            },
        }
        if holder is not None and not holder.is_alone:
            body["holder"] = self._describe_holder(holder)
        if exited is not None:
            body["exit"] = exited.signal or exited.code
        return body

    def _describe_holder(self, holder: ControlHolder) -> dict[str, Any]:
        return {"isThisPage": holder.key == self.key, "since": holder.time_text}


class SessionFollower:
    """Tells one editor of its session and the processes below it, whoever caused what happens.

    It compares what the editor has been told with what is: a stop that is over before the editor
    could be told is not told.
    """

    def __init__(
        self,
        session: Session,
        channel: EditorChannel,
        values: EditorStopValues,
        order: asyncio.Lock,
        page: PageView | None = None,
    ) -> None:
        self._session = session
        self._channel = channel
        self._values = values
        self._order = order
        self._page = page
        self._cursor = (
            session.timeline.cursor() if page is None else page.output_cursor(session.control)
        )
        self._described: dict[str, Any] = {}
        self._stops: dict[str, Stopped | None] = {}
        self._breakpoints: dict[int, Breakpoint] = {}
        self._changes: dict[str, int] = {}
        # The ranges that the editor has read, by their references, and the changes since.
        self._memory: dict[str, tuple[int, int]] = {}
        self._memory_changes: dict[str, int] = {}
        self._is_over = False

    def note_resumed(self, session: Session) -> None:
        """Record that the editor itself lets a session run: it knows that."""
        self._stops[session.name] = None
        self._values.forget_stop(session)

    def note_breakpoints(self) -> None:
        """Record the breakpoints as they are: the editor has just been answered with them."""
        self._breakpoints = self._present_breakpoints()

    def note_changes(self) -> None:
        """Record that values which the editor itself has set are no news to it."""
        for one in self._tree():
            self._changes[one.name] = one.selection.changes

    def note_read(self, reference: str, offset: int, count: int) -> None:
        """Record that the editor has read memory, and shows it."""
        first, end = self._memory.pop(reference, (offset, offset))
        self._memory[reference] = (min(first, offset), max(end, offset + count))
        if len(self._memory) > _RANGES_MAX:
            del self._memory[next(iter(self._memory))]

    async def run(self, *, takes_invalidated: bool, takes_memory: bool) -> None:
        """Report until the session has ended."""
        self.note_changes()
        self._memory_changes = dict(self._changes)
        while not self._is_over:
            async with self._order:
                await self._report(takes_invalidated=takes_invalidated, takes_memory=takes_memory)
            if not self._is_over:
                await self._session.timeline.wait(self._cursor, _WAKES, _TICK_S)

    async def _report(self, *, takes_invalidated: bool, takes_memory: bool) -> None:
        if self._page is not None:
            await self._report_session(self._page)
        # Output first: what was printed before a stop is read before it.
        await self._report_output()
        await self._report_breakpoints()
        for session in self._tree():
            await self._report_state(session)
            if takes_invalidated:
                await self._report_changes(session)
            if takes_memory:
                await self._report_memory(session)
        if self._has_ended():
            await self._report_output()
            await self._report_end()

    async def _report_session(self, page: PageView) -> None:
        """Report who acts, and the state (an event of ours, which only a page asks for)."""
        for one in self._tree():
            one.control.end_idle()
        body = page.describe_session(self._session)
        if body != self._described:
            self._described = body
            await self._channel.send_event("session", body)

    def _tree(self) -> list[Session]:
        return self._session.family.tree_sessions(self._session) or [self._session]

    async def _report_state(self, session: Session) -> None:
        reported = self._stops.get(session.name)
        stop = session.last_stop if session.state is State.STOPPED else None
        if stop is reported:
            return
        self._stops[session.name] = stop
        self._values.forget_stop(session)
        if stop is not None:
            await self._channel.send_event("stopped", await self._stop_body(session, stop))
        elif session.state is State.RUNNING:
            thread = reported.thread if reported is not None else None
            body: dict[str, Any] = {
                "threadId": self._values.thread_number(session, thread or 0),
                "allThreadsContinued": self._is_single(),
            }
            if self._page is not None:
                body["session"] = session.name
            await self._channel.send_event("continued", body)

    async def _stop_body(self, session: Session, stop: Stopped) -> dict[str, Any]:
        thread = stop.thread
        if thread is None:
            try:
                known = await session.run_job(session.backend.list_threads)
            except DebuggerError:
                known = []
            thread = known[0].id if known else 0
        text = stop.signal or stop.text or stop.description
        body: dict[str, Any] = {
            "reason": _REASONS.get(stop.reason, stop.reason.value),
            "threadId": self._values.thread_number(session, thread),
            "allThreadsStopped": self._is_single(),
            "hitBreakpointIds": [number for number in session.hits if number > 0],
        }
        if self._page is not None:
            body["session"] = session.name
        if stop.description:
            body["description"] = stop.description[:500]
        return {**body, "text": text[:2000]} if text else body

    def _is_single(self) -> bool:
        return sum(one.is_live for one in self._tree()) <= 1

    async def _report_changes(self, session: Session) -> None:
        changes = session.selection.changes
        if changes != self._changes.get(session.name, 0):
            self._changes[session.name] = changes
            await self._channel.send_event("invalidated", {"areas": ["variables"]})

    async def _report_memory(self, session: Session) -> None:
        """Report that memory which the editor shows may have changed, whoever changed it."""
        changes = session.selection.changes
        if changes == self._memory_changes.get(session.name, 0):
            return
        self._memory_changes[session.name] = changes
        for reference, (first, end) in self._memory.items():
            body = {"memoryReference": reference, "offset": first, "count": end - first}
            await self._channel.send_event("memory", body)

    async def _report_output(self) -> None:
        while True:
            page = self._session.timeline.events(
                Filters(kinds=_OUTPUT), since=self._cursor, limit=_PAGE
            )
            if page.dropped:
                text = f"{page.dropped} lines of output were not kept\n"
                await self._send_output("important", text)
            for category, text, cursor in _group_output(page.events):
                await self._send_output(category, text, cursor)
            self._cursor = page.next
            if len(page.events) < _PAGE:
                return

    async def _send_output(self, category: str, text: str, cursor: int | None = None) -> None:
        body: dict[str, Any] = {"category": category, "output": text}
        if cursor is not None and self._page is not None:
            body["data"] = f"{self._session.control.timeline_id}:{cursor}"
        await self._channel.send_event("output", body)

    def _present_breakpoints(self) -> dict[int, Breakpoint]:
        return {one.id: one for one in self._session.breakpoints.user_breakpoints()}

    async def _report_breakpoints(self) -> None:
        before, now = self._breakpoints, self._present_breakpoints()
        self._breakpoints = now
        for number in before.keys() - now.keys():
            body = {"reason": "removed", "breakpoint": {"id": number, "verified": False}}
            await self._channel.send_event("breakpoint", body)
        for number, one in now.items():
            old = before.get(number)
            if old is not None and (old.spec, old.bound) == (one.spec, one.bound):
                continue
            reason = "new" if old is None else "changed"
            body = {"reason": reason, "breakpoint": breakpoint_body(one)}
            await self._channel.send_event("breakpoint", body)

    def _has_ended(self) -> bool:
        session = self._session
        if session.is_closed:
            return True
        is_over = session.state is State.TERMINATED and session.is_noted
        return is_over and not any(one.is_live for one in self._tree())

    async def _report_end(self) -> None:
        self._is_over = True
        exited = self._session.exited
        if self._session.error:
            await self._send_output("stderr", f"{self._session.error}\n")
        if exited is not None and exited.signal is not None:
            await self._send_output("console", f"ended by {exited.signal}\n")
        if exited is not None and exited.code is not None:
            await self._channel.send_event("exited", {"exitCode": exited.code})
        await self._channel.send_event("terminated")


def _group_output(events: list[Event]) -> list[tuple[str, str, int]]:
    """Join consecutive events of one category, with the last one's number: few messages."""
    grouped: list[tuple[str, list[str]]] = []
    numbers: list[int] = []
    for one in events:
        category = "console"
        if one.kind is EventKind.OUTPUT:
            stream = one.data.get("stream")
            category = stream if stream in {"stdout", "stderr"} else "console"
        end = "" if one.data.get("open") else "\n"
        if not grouped or grouped[-1][0] != category:
            grouped.append((category, []))
            numbers.append(one.seq)
        grouped[-1][1].append(f"{one.text}{end}")
        numbers[-1] = one.seq
    return [
        (category, "".join(texts), number)
        for (category, texts), number in zip(grouped, numbers, strict=True)
    ]
