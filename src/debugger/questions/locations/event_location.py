"""Finds the line of an event of a run, evaluates expressions there, and counts hits."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec import UNSET, Struct

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.hit_filter import HitFilter
from debugger.model.location import CRASH, ENDS, EVENTS, EXIT, FAIL, HANG
from debugger.questions.crash import crash_question, crash_stops
from debugger.questions.locations.exit_location import EventValues, run_to_exit
from debugger.questions.locations.hang_location import AFTER_S, run_to_hang
from debugger.questions.probe.answer import Probe, ProbePlace
from debugger.questions.probe.probe_answer import of_recording
from debugger.questions.probe.probe_points import HitRange, ProbePoint
from debugger.questions.probe.probe_table import ProbeCell, ProbeTable
from debugger.questions.probe.recorded_probe import (
    collect_recorded,
    evaluate_cell,
    record_probed_run,
)
from debugger.questions.runner.answer import Crash
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import QuestionOptions
from debugger.questions.runner.question_build import build_question
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.test.answer import SuiteAnswer
from debugger.questions.test.command import find_failure
from debugger.session import inspection

_ROWS = 100  # ends of processes
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

    def place_from(self, cwd: str) -> str:
        """Return the location as a user in a folder types it."""
        folder = f"{cwd.rstrip('/')}/"
        return f"{self.file.removeprefix(folder)}:{self.line}"


def is_event(place: str) -> bool:
    """Return whether a location is the name of an event."""
    return place in EVENTS


def refuse_ends(command: str, places: Iterable[str]) -> None:
    """Check that no location is the end or the hang, for a command that checks the hits of a line.

    Raises:
        DebuggerError: USAGE.
    """
    for one in places:
        if one in ENDS:
            raise DebuggerError(
                ErrorCode.USAGE,
                f"--at {one} is behind the last line, and {command} checks the hits of lines",
                hint=f"debugger probe --at {one} EXPR -- CMD shows values there",
            )


def find_event(verb: str, at: Sequence[tuple[str, str]], hits: HitFilter) -> str | None:
    """Return the event that all locations name; None for lines and functions.

    Raises:
        DebuggerError: USAGE for an event with other locations, or with a filter.
    """
    events = [place for place, _ in at if is_event(place)]
    if not events:
        return None
    if len(events) < len(at) or len(set(events)) > 1:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--at {events[0]} stands alone: it is one stop, at which the run ends",
            hint=f"--at {events[0]} 'EXPR, EXPR' in one question, the others in another",
        )
    refuse_filter(
        shlex.join([verb, *(word for one in at for word in ("--at", *one))]), events[0], hits
    )
    return events[0]


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
        DebuggerError: NOT_FOUND if it does not happen; NOT_SUPPORTED for one without a line; what
            running the program raises.
    """
    if event in ENDS:
        return await _locate_end(call, options, event)
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
    requested = msgspec.structs.replace(options, verb="test", keep=keep)
    return await find_failure(call, requested, is_explained=False)


async def _locate_end(call: CommandCall, options: QuestionOptions, event: str) -> LocatedEvent:
    """Return the line at which a program ends, that of the call of exit or of `main`'s return."""
    if event == HANG:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{options.verb} follows hits of a line, and a program that hangs has no last one",
            hint="debugger hang -- CMD names the line; debugger probe --at hang EXPR -- CMD shows "
            "values there",
        )
    answer = await _probe_end(call, options, event, ())
    place = answer.places[0]
    if place.file is None or not place.line:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            "the script ended by itself, and no line is the last: --at exit shows values only",
            hint=f"debugger {options.verb} EXPR --at FILE:LINE --nth last -- CMD at its last line",
        )
    return LocatedEvent(
        file=place.file,
        line=place.line,
        function=place.function or "",
        what=answer.stopped or event,
    )


async def _probe_end(
    call: CommandCall, options: QuestionOptions, event: str, expressions: Sequence[str]
) -> Probe:
    """Evaluate expressions at the end of a program, or where it hangs."""
    question = await build_question(call, options)
    if event == HANG:
        found = await run_to_hang(question, expressions, options.timeout or AFTER_S)
    elif question.language == "python" and isinstance(question.target, LaunchTarget):
        return await _record_exit(call, question, question.target, expressions)
    else:
        found = await run_to_exit(question, expressions)
    return build_event_answer(event, found, expressions)


async def _record_exit(
    call: CommandCall, question: QuestionRun, target: LaunchTarget, expressions: Sequence[str]
) -> Probe:
    """Evaluate expressions at the end of a Python program, and of its child processes."""
    point = ProbePoint(EXIT, BreakpointSpec(), tuple(expressions), is_exit=True)
    table = ProbeTable([expressions], HitRange(), rows=_ROWS)
    seconds = question.patience.seconds
    ran = await record_probed_run(
        target,
        [point],
        HitRange(),
        timeout_s=seconds,
        scratch_root=call.scratch_root,
        interrupted=question.patience.interrupted,
    )
    found = collect_recorded(ran, [point], table)
    table.finish()
    answer = of_recording(found, table, waited_s=seconds)
    if answer.places[0].hits:
        return answer
    ending = f"signal {answer.exit_signal}" if answer.exit_signal else "its time was up"
    raise DebuggerError(
        ErrorCode.TIMEOUT if answer.timed_out else ErrorCode.NOT_FOUND,
        f"--at exit: the program did not end: {ending}",
        hint="debugger hang -- CMD says where it is"
        if answer.timed_out
        else "debugger crash -- CMD shows how it ended",
    )


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
    if event in ENDS:
        return await _probe_end(call, options, event, expressions)
    found = await locate_event(call, options, event, keep=event == CRASH)
    if found.session is None:
        texts = [found.values.get(one) for one in expressions]
        known = [ProbeCell(text) for text in texts if text is not None]
        if len(known) < len(texts):
            return found
        return build_event_answer(event, _values_at(found, known, began, ""), expressions)
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
    return build_event_answer(event, _values_at(found, cells, began, adapter), expressions)


def _values_at(
    found: LocatedEvent, cells: Sequence[ProbeCell], began: float, adapter: str
) -> EventValues:
    return EventValues(
        cells=tuple(cells),
        what=found.what,
        file=found.file,
        line=found.line,
        function=found.function,
        adapter=adapter,
        took_s=time.monotonic() - began,
    )


def build_event_answer(event: str, found: EventValues, expressions: Sequence[str]) -> Probe:
    """Build the answer from the values at an event."""
    table = ProbeTable([expressions], HitRange(), rows=1)
    table.take_hit(0, found.cells, at_s=found.took_s)
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
        means="stops" if found.adapter else "failure",
        adapter=found.adapter,
        took_s=round(found.took_s, 3),
        stopped=found.what,
    )
