"""Finds the line of an event of a run, evaluates expressions there, and counts hits."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec import UNSET, Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.hit_filter import HitFilter
from debugger.model.location import CRASH, EVENTS, FAIL
from debugger.questions.crash import crash_question, crash_stops
from debugger.questions.probe.answer import Probe, ProbePlace
from debugger.questions.probe.probe_points import HitRange
from debugger.questions.probe.probe_table import ProbeCell, ProbeTable
from debugger.questions.probe.recorded_probe import evaluate_cell
from debugger.questions.runner.answer import Crash
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import QuestionOptions, build_question
from debugger.questions.test.answer import SuiteAnswer
from debugger.questions.test.command import run_tests
from debugger.session import inspection

_LATER = ("exit", "hang")
_CRASHED = frozenset({"crashed", "survived"})


class LocatedEvent(Struct, frozen=True):
    """Where an event happened; the session is stopped there if it was kept."""

    file: str
    line: int
    function: str
    what: str
    frame: int = 0  # the number of its frame on the stack
    values: Mapping[str, str] = {}  # of the variables that the first run showed there
    session: str | None = None

    @property
    def place(self) -> str:
        """The location as a user types it."""
        return f"{self.file}:{self.line}"


def is_event(place: str) -> bool:
    """Tell whether a location is the name of an event.

    Raises:
        DebuggerError: NOT_SUPPORTED for an event without a line of its own.
    """
    if place in _LATER:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"--at {place} has no line of its own; there are: {', '.join(EVENTS)}",
            hint="debugger hang -- CMD shows the values where it hangs"
            if place == "hang"
            else "--at LOC --nth last shows the last values of a line",
        )
    return place in EVENTS


def refuse_events(command: str, places: Iterable[str]) -> None:
    """Check that no location is an event, for a command that compares or checks many hits.

    Raises:
        DebuggerError: USAGE, or as `is_event`.
    """
    for one in places:
        if is_event(one):
            raise DebuggerError(
                ErrorCode.USAGE,
                f"--at {one} happens once, and {command} is about the hits of a location",
                hint=f"debugger probe --at {one} EXPR -- CMD shows values there",
            )


def refuse_filter(command: str, event: str, hits: HitFilter) -> None:
    """Check that no filter chooses hits of an event; `command` is the question with its words.

    Raises:
        DebuggerError: USAGE.
    """
    if hits:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--at {event} happens once, and takes no {hits.options()[0]}; --at FILE:LINE does",
            hint=f"debugger {command} -- CMD",
        )


async def locate_event(
    call: CommandCall, options: QuestionOptions, event: str, *, keep: bool = False
) -> LocatedEvent:
    """Run a program to an event; with `keep` its session stays there, if the debugger stops.

    Raises:
        DebuggerError: NOT_FOUND if it does not happen; what running the program raises.
    """
    found = await (_run_to_failure if event == FAIL else _run_to_crash)(call, options, keep=keep)
    is_there = found.outcome in (_CRASHED if isinstance(found, Crash) else {"failed", "crashed"})
    frame = found.frame
    session = found.session if found.session is not UNSET else None
    if not is_there or frame is None or frame.file is None or frame.line is None:
        await close_session(call, session)
        raise _not_happened(event, found)
    return LocatedEvent(
        file=frame.file,
        line=frame.line,
        function=frame.function,
        what=found.cause or found.outcome,
        frame=frame.index,
        values={one.name: one.value for one in (*found.locals, *found.values)},
        session=session,
    )


async def _run_to_crash(call: CommandCall, options: QuestionOptions, *, keep: bool) -> Crash:
    keeping = msgspec.structs.replace(options, keep=keep)
    question = await build_question(call, keeping, crash_stops.crash_breakpoints)
    return await crash_question.find_crash(question)


async def _run_to_failure(
    call: CommandCall, options: QuestionOptions, *, keep: bool
) -> SuiteAnswer:
    found = await run_tests(call, options.words, options=options, keep=keep)
    assert isinstance(found, SuiteAnswer)  # what the command answers with
    return found


def _not_happened(event: str, found: Crash | SuiteAnswer) -> DebuggerError:
    if found.timed_out:
        return DebuggerError(
            ErrorCode.TIMEOUT,
            f"no {event} before the time was up",
            hint=f"--timeout 300 waits longer; debugger {_command(event)} -- CMD says where it is",
        )
    ended = (
        f"signal {found.exit_signal}" if found.exit_signal is not None
        else f"status {found.exit_code}" if found.exit_code is not None
        else found.outcome
    )  # fmt: skip
    happened = found.outcome in _CRASHED or found.outcome == "failed"
    cause = f": {found.cause}" if found.cause else ""
    what = f"its line is not known{cause}" if happened else "it did not happen"
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"--at {event}: {what} (the program ended with {ended})",
        hint=f"debugger {_command(event)} -- CMD shows how it ended",
    )


def _command(event: str) -> str:
    return "test" if event == FAIL else "crash"


async def close_session(call: CommandCall, name: str | None) -> None:
    """End a session that was kept for a question."""
    if name is not None:
        await call.sessions.close(call.sessions.get(name), kill=True)


async def probe_event(
    call: CommandCall, options: QuestionOptions, event: str, expressions: Sequence[str]
) -> Probe | LocatedEvent:
    """Evaluate expressions at an event, in the run that has it.

    Returns the location alone where the debugger does not stop there. A session that a failed test
    leaves is stopped at its line, and not always at the hit that fails: it is not used.
    """
    began = time.monotonic()
    found = await locate_event(call, options, event, keep=event == CRASH)
    if found.session is None:
        texts = [found.values.get(one) for one in expressions]
        known = [ProbeCell(text) for text in texts if text is not None]
        if len(known) < len(texts):
            return found
        return _event_answer(event, found, expressions, known, time.monotonic() - began, "")
    try:
        session = call.sessions.get(found.session)
        adapter = session.adapter

        async def select() -> None:
            frame = await inspection.frame_of(session, found.frame)
            session.selection.select_frame(frame)

        await session.run_job(select)
        cells = [await evaluate_cell(session, one) for one in expressions]
    finally:
        await close_session(call, found.session)
    return _event_answer(event, found, expressions, cells, time.monotonic() - began, adapter)


def _event_answer(  # noqa: PLR0917 - as they were found
    event: str,
    found: LocatedEvent,
    expressions: Sequence[str],
    cells: Sequence[ProbeCell],
    took_s: float,
    adapter: str,
) -> Probe:
    table = ProbeTable([expressions], HitRange(), rows=1)
    table.take_hit(0, cells, at_s=took_s)
    place = ProbePlace(
        asked=event,
        columns=table.summarise_columns(0),
        file=found.file,
        line=found.line,
        function=found.function,
        hits=1,
        taken=1,
    )
    return Probe(
        outcome=event,
        places=(place,),
        rows=table.kept_rows(),
        rows_total=1,
        means="stops" if adapter else "failure",
        adapter=adapter,
        took_s=round(took_s, 3),
        stopped=found.what,
    )
