"""Collects what a report shows of a session: its stops, its stacks now, and its output."""

from __future__ import annotations

import asyncio
import shlex

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError
from debugger.model.events import Event, EventKind, State
from debugger.questions.crash.evidence_page import LINES, STOPS, SessionRecord, StopRow
from debugger.questions.runner.command_call import CommandCall, launch_argv
from debugger.session import inspection
from debugger.session.session import Session
from debugger.session.timeline import Filters

_KINDS = frozenset(
    {EventKind.STOP, EventKind.CRASH, EventKind.CONDITION_ERROR, EventKind.EXIT, EventKind.ADAPTER}
)
_PAGE = 500  # events that the timeline returns at once
_FRAMES = 20
_STACKS_S = 5.0
_TOKENS = 4000  # of the stacks


async def record_session(call: CommandCall, session: Session) -> SessionRecord:
    """Collect a session's record; a stopped program stays where it is."""
    page = session.timeline.events(Filters(kinds=set(_KINDS)), limit=_PAGE, newest=True)
    own = [one for one in page.events if one.session == session.name]
    begin = own[0].time_ns if own else 0
    # A tree of processes has one timeline, and its output is that of its first program.
    lines = session.timeline.lines(since=0, tail=LINES) if session.parent is None else None
    target = session.target
    program = target.program or ""
    if isinstance(target, LaunchTarget):
        program = shlex.join(launch_argv(target))
    return SessionRecord(
        name=session.name,
        program=program or f"process {session.pid}",
        state=session.state.value,
        stops=tuple(_stop_row(one, begin) for one in own[-STOPS:]),
        stops_total=len(own) + max(page.total - len(page.events), 0),
        stacks=await _read_stacks(call, session),
        output=tuple(one.text for one in lines.lines) if lines is not None else (),
        output_dropped=lines is not None and (lines.dropped > 0 or len(lines.lines) == LINES),
    )


async def _read_stacks(call: CommandCall, session: Session) -> str:
    if session.state is not State.STOPPED:
        return ""
    try:
        async with asyncio.timeout(_STACKS_S):
            found = await session.run_job(lambda: inspection.all_backtraces(session, limit=_FRAMES))
    except (DebuggerError, TimeoutError) as error:
        reason = error.message if isinstance(error, DebuggerError) else "they took too long"
        return f"not known: {reason}"
    return call.as_text(found, _TOKENS)


def _stop_row(one: Event, begin: int) -> StopRow:
    return StopRow(
        number=one.seq,
        seconds=(one.time_ns - begin) / 1e9,
        kind=one.kind.value,
        text=one.text,
        function=one.function or "",
        file=one.file or "",
        line=one.line or 0,
    )
