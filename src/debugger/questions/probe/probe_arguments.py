"""Parses a probe's arguments: the expressions, the locations, the method."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import msgspec

from debugger.backends import backend_names
from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.hit_filter import EVERY_HIT, HitFilter
from debugger.model.location import is_pattern
from debugger.questions.probe.answer import Probe
from debugger.questions.probe.logpoint_probe import probe_by_logpoints
from debugger.questions.probe.probe_answer import of_ending, of_recording, separate_events
from debugger.questions.probe.probe_points import (
    PLACES_MAX,
    HitRange,
    ProbePoint,
    assign_conditions,
    split_expressions,
)
from debugger.questions.probe.probe_table import ProbeCell, ProbeTable
from debugger.questions.probe.recorded_probe import (
    collect_recorded,
    probe_by_stopping,
    record_probed_run,
)
from debugger.questions.runner.command_call import CommandCall, target_folders
from debugger.questions.runner.question_arguments import Means
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.runner.started_processes import has_frida
from debugger.symbols.function_definitions import FunctionDefinition, find_definitions

_NATIVE = frozenset({"c", "c++", "rust", "native"})
# What the engine cannot do in a program, before anything of it has run.
_NOT_INSIDE = frozenset(
    {
        ErrorCode.NOT_SUPPORTED,
        ErrorCode.ADAPTER_NOT_FOUND,
        ErrorCode.ADAPTER_FAILED,
        ErrorCode.TIMEOUT,
    }
)

_COMMAND = {"probe": "-- CMD", "diff": "-- CMD_A --vs CMD_B"}
_NO_EXPRESSION = re.compile(r"--(?:[a-z][-a-z]+)?")


def _probe_hint(verb: str) -> str:
    return f"debugger {verb} --at FILE:LINE 'total, count' {_COMMAND[verb]}"


def are_named(at: Sequence[tuple[str, str]], *, verb: str = "probe") -> None:
    """Check that there are locations, each with its expressions.

    An option without its expressions takes the next word for them: an option, or the command's
    beginning.

    Raises:
        DebuggerError: USAGE.
    """
    word = next((text for _, text in at if _NO_EXPRESSION.fullmatch(text)), None)
    if not 0 < len(at) <= PLACES_MAX or word is not None:
        message = f"where, and what? 1 to {PLACES_MAX} places, each with its expressions"
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{message}, not {word}" if word not in {None, "--"} else message,
            hint=_probe_hint(verb),
        )


def parse_probe_points(
    call: CommandCall,
    found: QuestionRun,
    at: Sequence[tuple[str, str]],
    hits: HitFilter,
    *,
    verb: str = "probe",
    also: Sequence[str] = (),
) -> list[ProbePoint]:
    """Parse the probes, and the filter's events; `also` are further folders for their files.

    Raises:
        DebuggerError: USAGE.
    """
    hint = _probe_hint(verb)
    when = hits.conditions
    target = found.target
    near = [target.cwd, *also, *target_folders(target)]
    program = target.program
    if program is not None:
        near.append(os.path.dirname(program))
    made = []

    def spec(place: str) -> BreakpointSpec:
        return call.breakpoint_spec(place, near=near, current=program, program=program)

    for (place, text), condition in zip(
        at, assign_conditions(when, len(at), hint=hint), strict=True
    ):
        made.append(ProbePoint(place, spec(place), split_expressions(text, hint=hint), condition))
    places = [(one.spec.file, one.spec.line, one.spec.function) for one in made]
    twice = next((one.asked for one, key in zip(made, places, strict=True)
                  if places.count(key) > 1), None)  # fmt: skip
    if twice is not None:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{twice} is given twice",
            hint=f"debugger {verb} --at {twice} 'EXPR, EXPR' {_COMMAND[verb]}",
        )
    # Behind the others: at a line of both, that hit is tested first.
    for kind, event in (("until", hits.until), ("after", hits.after)):
        if event is not None:
            made.append(ProbePoint(event.place, spec(event.place), (), event.when, kind))
    return made


async def split_functions(
    found: QuestionRun, points: Sequence[ProbePoint]
) -> tuple[list[ProbePoint], list[str]]:
    """Return a probe for each function of a name in a compiled program, with notes on them.

    A debugger takes all of them for one breakpoint, and their hits could not be told apart.
    """
    program = found.target.program
    if (
        found.language not in _NATIVE
        or program is None
        or not isinstance(found.target, LaunchTarget)
    ):
        return list(points), []
    split: list[ProbePoint] = []
    notes = []
    for one in points:
        spec = one.spec
        known: list[FunctionDefinition] = []
        if spec.function and spec.file is None and not is_pattern(spec.function):
            known = await asyncio.to_thread(find_definitions, program, spec.function)
        if len(known) < 2 or len(split) + len(known) > PLACES_MAX:  # noqa: PLR2004 - several
            split.append(one)
            continue
        for each in known:
            line = msgspec.structs.replace(spec, function=None, file=each.file, line=each.line)
            label = f"{Path(each.file).name}:{each.line}"
            split.append(msgspec.structs.replace(one, asked=label, spec=line))
        notes.append(f"{one.asked} is {len(known)} functions: {', '.join(e.text for e in known)}")
    return split, notes


async def take_probes(
    call: CommandCall,
    found: QuestionRun,
    points: Sequence[ProbePoint],
    within: HitRange,
    *,
    by: Means | None,
    rows: int,
    is_free: bool,
    ask_free: Callable[[], Awaitable[QuestionRun]],
    hits: HitFilter = EVERY_HIT,
    each: int = 0,
    is_enough: Callable[[int, Sequence[ProbeCell]], bool] | None = None,
) -> Probe:
    """Probe a run; the method is chosen freely unless the caller has chosen a debugger.

    `rows` are kept; with `each` none of this many hits of a location is omitted. `ask_free` builds
    it for Frida. `points` includes the events of `hits`. `is_enough` ends a run by logpoints early.

    Raises:
        DebuggerError: What starting the program raises; NOT_SUPPORTED for an unavailable method.
    """

    def table(own: HitFilter = hits) -> ProbeTable:
        every = [one.expressions for one in points]
        events = [one.event for one in points]
        return ProbeTable(every, within, rows=rows, hits=own, events=events, is_enough=is_enough)

    target = found.target
    is_python = isinstance(target, LaunchTarget) and found.language == "python"
    if by == "recorder" and not is_python:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            "the recorder is for Python programs that are started",
            hint="debugger probe --by logpoints …",
        )
    if (
        isinstance(target, LaunchTarget)
        and is_python
        and (by == "recorder" or (by is None and is_free))
    ):
        # The recorder filters, inside of the program, all but the last hits.
        own = HitFilter(nth=hits.nth, last=hits.last)
        answer = await _by_recorder(
            found,
            target,
            points,
            within,
            table(own),
            hits=hits,
            scratch_root=call.scratch_root,
            each=each,
        )
        return separate_events(answer, hits)
    by = means_for(found, hits, by)
    tries_frida = is_free and by is None and can_probe_inside(call, found)
    frida = ask_free if tries_frida else None
    answer = await probe_under_debugger(found, points, hits, table, by=by, frida=frida)
    return separate_events(answer, hits)


async def probe_under_debugger(
    found: QuestionRun,
    points: Sequence[ProbePoint],
    hits: HitFilter,
    table: Callable[[], ProbeTable],
    *,
    by: Means | None,
    frida: Callable[[], Awaitable[QuestionRun]] | None,
) -> Probe:
    """Probe a run with a debugger: `table` makes its table, `frida` the program for the engine.

    Raises:
        DebuggerError: What starting the program raises.
    """
    notes: tuple[str, ...] = ()
    if frida is not None:
        try:
            return await _by_logpoints(await frida(), points, table())
        except DebuggerError as error:
            if error.code not in _NOT_INSIDE:
                raise
            notes = (f"the Frida engine cannot: {error.message}",)
    if by == "stops":
        taken = table()
        ending = await probe_by_stopping(found, points, taken, hits)
        taken.finish()
        answer = of_ending(ending, points, taken, means="stops")
    else:
        answer = await _by_logpoints(found, points, table())
    return msgspec.structs.replace(answer, notes=(*notes, *answer.notes))


def means_for(found: QuestionRun, hits: HitFilter, by: Means | None) -> Means | None:
    """Return the method that can apply the filter: a stop shows the callers, and the thread.

    Raises:
        DebuggerError: NOT_SUPPORTED for a chosen method that cannot.
    """
    has_thread = found.traits.log.thread is not None or by == backend_names.FRIDA
    needs = "--in" if hits.inside is not None else None
    if hits.thread_name or (hits.thread is not None and not has_thread):
        needs = "--thread"
    if needs is None or by == "stops":
        return by
    if by is not None:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{needs} does not work with --by {by}",
            hint="leave --by out, or give --by stops",
        )
    return "stops"


async def _by_recorder(
    question: QuestionRun,
    target: LaunchTarget,
    points: Sequence[ProbePoint],
    within: HitRange,
    table: ProbeTable,
    *,
    hits: HitFilter,
    scratch_root: Path,
    each: int,
) -> Probe:
    seconds = question.patience.seconds
    ran = await record_probed_run(
        target,
        points,
        within,
        timeout_s=seconds,
        scratch_root=scratch_root,
        hits=hits,
        each=each,
        interrupted=question.patience.interrupted,
        again=f"debugger {question.name} --at {{}} EXPR {_COMMAND[question.name]}",
    )
    found = collect_recorded(ran, points, table)
    table.finish()
    return of_recording(found, table, waited_s=seconds)


def can_probe_inside(call: CommandCall, found: QuestionRun) -> bool:
    """Return whether the Frida engine may be tried first."""
    return found.language in _NATIVE and has_frida(call)


async def _by_logpoints(
    found: QuestionRun, points: Sequence[ProbePoint], table: ProbeTable
) -> Probe:
    ending = await probe_by_logpoints(found, points, table)
    table.finish()
    means = found.adapter if found.adapter == backend_names.FRIDA else "logpoints"
    return of_ending(ending, points, table, means=means)
