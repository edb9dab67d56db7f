"""Explains how a program ended its process itself, by what the debuggee reports of such a call.

The same of an exception that ended a task, and which the worker of a pool has handled.

`backends.adapters.debugpy.exit_calls` writes the report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct, structs

from debugger.model import answers
from debugger.model.events import EventKind
from debugger.model.exception_cause import TracebackFrame
from debugger.model.location import is_library
from debugger.questions.crash.crash_cause import explain_crash
from debugger.questions.crash.crash_facts import CrashFacts
from debugger.questions.runner.answer import CallerView, Crash
from debugger.session import source_files
from debugger.session.session import Session
from debugger.session.timeline.search_plan import Filters

_ENDS = " ends the process (most recent call first):"
_TASK_ENDS = " ends the task (most recent call first):"
_FRAME = re.compile(r'  File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<function>\S+)')
_VALUE = re.compile(r"    (?P<name>\w+) = (?P<value>.+)")
_CALLERS = 6
_TASKS_MAX = 20  # reports of one process


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
    return next(iter(_find_reports(session, _ENDS)), None)


def find_task_error(session: Session, raised: answers.ExceptionView) -> ReportedExit | None:
    """Find the exception of a task in a worker that its program has raised again."""
    kind, message = raised.type.rpartition(".")[2], raised.message.partition("\n")[0]
    for one in _find_reports(session, _TASK_ENDS, limit=_TASKS_MAX):
        name, _, text = one.call.partition(": ")
        if name.rpartition(".")[2] == kind and text == message:
            return one
    return None


def describe_task_error(
    sessions: Iterable[Session], raised: answers.ExceptionView, cwd: str
) -> list[str]:
    """Return a note with the values of the task whose exception its program has raised again."""
    tasks = (find_task_error(one, raised) for one in sessions)
    task = next((one for one in tasks if one is not None), None)
    if task is None or not task.values or task.choose_frame(cwd):
        return []
    own, values = task.frames[0], " ".join(f"{name}={value}" for name, value in task.values)
    return [f"in the worker's {own.function} {Path(own.file).name}:{own.line}: {values}"]


def _find_reports(session: Session, mark: str, *, limit: int = 1) -> list[ReportedExit]:
    filters = Filters(kinds={EventKind.ADAPTER}, sessions={session.name}, text=mark)
    page = session.timeline.events(filters, limit=limit, newest=True)
    found = [parse_exit_call(one.text, mark) for one in page.events]
    return [one for one in found if one is not None]


def parse_exit_call(text: str, ends: str = _ENDS) -> ReportedExit | None:
    """Parse the debuggee's report. Pure."""
    head, *rest = text.splitlines() or [""]
    call, mark, _ = head.partition(ends)
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


def explain_task_error(found: ReportedExit, raised: answers.ExceptionView, cwd: str) -> Crash:
    """Explain an exception that a worker has handled by the task that raised it."""
    own = found.frames[found.choose_frame(cwd)]
    facts = CrashFacts(
        own.function,
        f"{Path(own.file).name}:{own.line}",
        exception=raised.type,
        message=raised.message,
    )
    cause = explain_crash(facts)
    crash = explain_exit_call(found, cwd)
    # The program's causes name this place once more.
    alone = structs.replace(raised, causes=())
    return structs.replace(crash, cause=cause.text, kind=cause.kind, exception=alone)


def explain_exit_call(found: ReportedExit, cwd: str) -> Crash:
    """Explain the end of a process by the call that ended it."""
    chosen = found.choose_frame(cwd)
    own = found.frames[chosen]
    return Crash(
        outcome="crashed",
        cause=found.describe(cwd),
        kind="exit",
        frame=answers.FrameView(0, own.function, own.file, own.line),
        source=source_files.failure_lines(own.file, own.line),
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
