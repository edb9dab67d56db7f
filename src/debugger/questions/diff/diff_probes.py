"""Probes two programs at the same locations, to compare them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.hit_filter import EVERY_HIT, HitFilter
from debugger.model.location import ENDS
from debugger.questions.diff.answer import DiffOfProbes
from debugger.questions.locations import event_location
from debugger.questions.probe import probe_comparison, probe_points
from debugger.questions.probe.answer import Probe, ProbePlace
from debugger.questions.probe.probe_arguments import are_named, parse_probe_points, take_probes
from debugger.questions.probe.probe_comparison import ProbedRun
from debugger.questions.probe.probe_points import HitRange, range_of
from debugger.questions.recordings.recorded_run import SAME_SETS, RecordedProgram
from debugger.questions.recordings.saved_runs import StoredRun, compared_runs, roots_of
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import QuestionOptions
from debugger.questions.runner.question_run import QuestionRun

Places = Sequence[tuple[str, str]]
_SIDES = 2
_EXAMPLE = "debugger diff --at FILE:LINE 'EXPR, EXPR' -- CMD_A --vs CMD_B"


def check_options(at: Places, hits: HitFilter, function: str | None) -> None:
    """Reject incompatible options.

    Raises:
        DebuggerError: USAGE.
    """
    if at and function is not None:
        raise DebuggerError(
            ErrorCode.USAGE,
            "--at compares values at places, --function the calls of one: not both",
            hint=f"debugger diff --at {function} 'EXPR, EXPR' -- CMD_A --vs CMD_B",
        )
    if hits and not at:
        flag = hits.options()[0]
        raise DebuggerError(ErrorCode.USAGE, f"{flag} is for the hits of --at", hint=_EXAMPLE)


def probe_options(at: Places, hits: HitFilter) -> list[str]:
    """Return the command-line options that repeat the request."""
    places = [word for place, text in at for word in ("--at", place, text)]
    return [*places, *hits.options()]


def probe_scope(at: Places, hits: HitFilter) -> str:
    """Return the key of a saved run: only equal probes are compared."""
    return shlex.join(probe_options(at, hits))


async def compare_probes(
    call: CommandCall,
    sides: Sequence[RecordedProgram | StoredRun],
    at: Places,
    hits: HitFilter,
    *,
    verb: str = "diff",
) -> list[ProbedRun]:
    """Probe one or two runs, the saved one first: the locations refer to its lines.

    Raises:
        DebuggerError: USAGE for an invalid request; what starting a program raises.
    """
    are_named(at, verb=verb)
    event = event_location.find_event(verb, at, hits)
    if event is not None:
        return await _compare_at_event(call, sides, at, event)
    order = sorted(sides, key=lambda one: not isinstance(one, StoredRun))
    found = [await _take_values(call, order[0], at, hits)]
    if len(sides) == 1:
        return found
    found.append(await _take_values(call, order[1], at, hits, other_run=(order[0], found[0])))
    return found if order[0] is sides[0] else found[::-1]


async def _compare_at_event(
    call: CommandCall, sides: Sequence[RecordedProgram | StoredRun], at: Places, event: str
) -> list[ProbedRun]:
    """Take the values of each run at an event; where one run lacks it, at each hit of its line.

    Raises:
        DebuggerError: NOT_FOUND if no run has the event.
    """
    text = ", ".join(text for _, text in at)
    found = [await _values_at_event(call, one, event, text) for one in sides]
    missing = [one for one in found if isinstance(one, DebuggerError)]
    if not missing:
        return [one for one in found if isinstance(one, ProbedRun)]
    side = next((at for at, one in enumerate(found) if isinstance(one, ProbedRun)), None)
    there = found[side] if side is not None else missing[0]
    place = there.places[0] if isinstance(there, ProbedRun) else None
    if side is None or place is None or place.file is None or event in ENDS:
        raise missing[0]
    name = f"{os.path.relpath(place.file, call.cwd)}:{place.line}"
    note = f"only {'AB'[side]} comes to --at {event}, at {name}: the hits of that line are compared"
    runs = [await _take_values(call, one, [(name, text)], EVERY_HIT) for one in sides]
    view = msgspec.structs.replace(runs[0].view, notes=(note, *runs[0].view.notes))
    return [msgspec.structs.replace(runs[0], view=view), *runs[1:]]


async def _values_at_event(
    call: CommandCall, program: RecordedProgram | StoredRun, event: str, text: str
) -> ProbedRun | DebuggerError:
    """Return the values of a run at an event; the error of a run without it."""
    if isinstance(program, StoredRun):
        assert program.probed is not None  # its scope says that it was probed
        return program.probed
    assert program.options is not None  # a program that is run by a command has them
    expressions = probe_points.split_expressions(text)
    try:
        answer = await event_location.probe_event(call, program.options, event, expressions)
    except DebuggerError as error:
        if error.code is not ErrorCode.NOT_FOUND:
            raise
        return error
    if isinstance(answer, Probe):
        return probe_comparison.to_probed_run(answer, shlex.join(program.words), is_chosen=True)
    # It is not stopped there: the last hit of its line, in a second run.
    place = answer.place_from(call.cwd)
    return await _take_values(call, program, [(place, text)], HitFilter(nth=-1))


async def _take_values(
    call: CommandCall,
    program: RecordedProgram | StoredRun,
    at: Places,
    hits: HitFilter,
    *,
    other_run: tuple[RecordedProgram | StoredRun, ProbedRun] | None = None,
) -> ProbedRun:
    """Probe a program, or load a saved run; `beside` is the other run."""
    if isinstance(program, StoredRun):
        assert program.probed is not None  # its scope says that it was probed
        return program.probed
    assert program.question is not None  # a program that is run by a command has one
    assert program.traced is not None
    found = _with_same_sets(program.question)
    # A file is first looked for beside the program: two may have one of the same name each.
    beside_it = os.path.dirname(program.launch.program or "") or program.launch.cwd
    places = parse_probe_points(
        replace(call, cwd=beside_it),
        found,
        at,
        hits,
        verb="diff",
        also=(call.cwd,),
    )
    notes: list[str] = []
    if other_run is not None:
        other, known = other_run
        places, notes = probe_points.counterpart_points(
            places, known.places, roots_of(other), roots_of(program)
        )
    each = probe_comparison.hits_compared(len(places))
    answer = await take_probes(
        call,
        found,
        places,
        _range_of(hits, each),
        by=None,
        rows=(each + 2) * len(places),  # thirds of them are kept apart
        is_free=True,
        ask_free=program.traced,
        hits=hits,
        each=each,
    )
    answer = msgspec.structs.replace(
        answer,
        places=tuple(_explain_never(one, answer, hits) for one in answer.places),
        notes=(*answer.notes, *notes),
    )
    is_chosen = hits.nth is not None or hits.last is not None
    return probe_comparison.to_probed_run(answer, shlex.join(program.words), is_chosen=is_chosen)


def _explain_never(place: ProbePlace, answer: Probe, hits: HitFilter) -> ProbePlace:
    """Add to a location without hits which event of the filter did not happen."""
    missing = [one for one in answer.events if one.event == "after" and not one.hits]
    if place.hits or not missing or hits.after is None:
        return place
    why = f"--after {hits.after.text} never happened: {missing[0].why or 'it was not reached'}"
    return msgspec.structs.replace(place, why=why)


def _range_of(hits: HitFilter, each: int) -> HitRange:
    """Return the hits of a run that are compared; those from its end are chosen at its end."""
    if hits.kept_last:
        return HitRange()
    within = range_of(None, None, hits)
    return within if 0 < within.last <= each else HitRange(within.first, within.first + each - 1)


def _with_same_sets(found: QuestionRun) -> QuestionRun:
    target = found.target
    if found.language != "python" or not isinstance(target, LaunchTarget):
        return found
    env = {**SAME_SETS, **target.env}
    return replace(found, target=msgspec.structs.replace(target, env=env))


async def probe_both_commands(
    call: CommandCall,
    requested: QuestionOptions,
    versus: Sequence[str],
    at: Places,
    *,
    hits: HitFilter,
    refused: Sequence[str],
) -> tuple[DiffOfProbes, tuple[ProbedRun, ProbedRun]]:
    """Probe two commands at the same locations, and compare the values hit by hit.

    The runs are returned, too: an answer has only few of their hits.

    `refused` are given options that a comparison has no meaning for.

    Raises:
        DebuggerError: USAGE for these, and for more commands.
    """
    if refused:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--vs compares the hits of two runs, and takes no {refused[0]}",
            hint="debugger probe --at LOC 'EXPR, EXPR' --when COND -- CMD --vs CMD",
        )
    sides = await compared_runs(call, requested, versus, scope=probe_scope(at, hits))
    if len(sides) != _SIDES:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"two commands are compared, not {len(sides)}",
            hint="debugger probe --at LOC 'EXPR, EXPR' -- CMD_A --vs CMD_B",
        )
    one, other = await compare_probes(call, sides, at, hits, verb="probe")
    found = probe_comparison.compare_probed_runs(one, other)
    return msgspec.structs.replace(found, verb="probe"), (one, other)


def evidence_summary(answer: DiffOfProbes) -> str:
    """Summarise an answer for the evidence list."""
    if answer.parted is None:
        return f"the same values at {answer.common:,} hits"
    row = answer.parted.left or answer.parted.right
    assert row is not None  # a pair has one row at least
    return f"differ first at hit {row.hit:,} of {answer.places[row.place].asked}"
