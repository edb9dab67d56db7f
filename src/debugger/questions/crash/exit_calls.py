"""Explains how a program ended its process itself, by what the debuggee reports of such a call.

`backends.adapters.debugpy.exit_calls` writes the report.
"""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

from debugger.model import answers
from debugger.model.events import EventKind
from debugger.model.exception_cause import TracebackFrame
from debugger.model.location import is_library
from debugger.questions.runner.answer import CallerView, Crash
from debugger.session import source_files
from debugger.session.session import Session
from debugger.session.timeline.search_plan import Filters

_ENDS = " ends the process (most recent call first):"
_FRAME = re.compile(r'  File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<function>\S+)')
_VALUE = re.compile(r"    (?P<name>\w+) = (?P<value>.+)")
_CALLERS = 6


class ReportedExit(Struct, frozen=True):
    """A call that ended a process, and its stack, innermost frame first."""

    call: str
    frames: tuple[TracebackFrame, ...]
    # The plain values of the innermost frame, by name.
    values: tuple[tuple[str, str], ...] = ()

    def choose_frame(self, cwd: str) -> int:
        """Return the innermost frame of the program's own code, else the innermost one."""
        own = (at for at, one in enumerate(self.frames) if not is_library(one.file, cwd))
        return next(own, 0)

    def describe(self, cwd: str) -> str:
        """Describe the call and the program's own line that led to it."""
        own = self.frames[self.choose_frame(cwd)]
        return f"{self.call} called by {own.function} {Path(own.file).name}:{own.line}"


def find_exit_call(session: Session) -> ReportedExit | None:
    """Find the call by which a session's process has ended itself; None if none is known."""
    filters = Filters(kinds={EventKind.ADAPTER}, sessions={session.name}, text=_ENDS)
    page = session.timeline.events(filters, limit=1, newest=True)
    return parse_exit_call(page.events[0].text) if page.events else None


def parse_exit_call(text: str) -> ReportedExit | None:
    """Parse the debuggee's report. Pure."""
    head, *rest = text.splitlines() or [""]
    call, mark, _ = head.partition(_ENDS)
    frames = [
        TracebackFrame(one["function"], one["file"], int(one["line"]))
        for line in rest
        if (one := _FRAME.fullmatch(line))
    ]
    values = tuple((one["name"], one["value"]) for line in rest if (one := _VALUE.fullmatch(line)))
    return ReportedExit(call, tuple(frames), values) if mark and frames else None


def describe_exit_call(session: Session) -> list[str]:
    """Return a note on the call by which a session's process has ended itself."""
    found = find_exit_call(session)
    return [found.describe(session.target.cwd)] if found is not None else []


def explain_exit_call(found: ReportedExit, cwd: str) -> Crash:
    """Explain the end of a process by the call that ended it."""
    chosen = found.choose_frame(cwd)
    own = found.frames[chosen]
    return Crash(
        outcome="crashed",
        cause=found.describe(cwd),
        kind="exit",
        frame=answers.FrameView(0, own.function, own.file, own.line),
        source=source_files.surrounding_lines(own.file, own.line, before=2, after=2),
        callers=tuple(
            CallerView(answers.FrameView(at, one.function, one.file, one.line))
            for at, one in enumerate(found.frames[chosen + 1 :], 1)
            if not is_library(one.file, cwd)
        )[:_CALLERS],
        locals=tuple(answers.VariableView(name, value) for name, value in found.values)
        if chosen == 0
        else (),
        locals_total=len(found.values) if chosen == 0 else 0,
        frames_total=len(found.frames),
    )
