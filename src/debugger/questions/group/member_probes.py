"""Probes the processes of one program, and says which member's value differs first."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, structs

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.debugger_words import Runtime
from debugger.model.events import State
from debugger.model.group_merge import order_members
from debugger.model.hit_filter import HitFilter
from debugger.questions.group.answer import MemberProbes, ProbedPoint
from debugger.questions.group.group_options import ALONE, JobPart
from debugger.questions.group.group_question import RankProgram, find_rank_program, follow_forks
from debugger.questions.group.member_differences import (
    ComparedLocation,
    MemberHits,
    collect_hits,
    compare_location,
    label_recordings,
    refuse_unreached,
)
from debugger.questions.group.member_logpoints import log_members
from debugger.questions.probe.probe_arguments import are_named, parse_probe_points
from debugger.questions.probe.probe_comparison import hits_compared
from debugger.questions.probe.probe_points import HitRange, ProbePoint, range_of
from debugger.questions.probe.recorded_probe import record_probed_run
from debugger.questions.recordings.counted_run import LANGUAGES
from debugger.questions.runner import command_call
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import QuestionOptions
from debugger.questions.runner.question_build import build_question, keep_evidence
from debugger.questions.runner.question_run import QuestionRun, add_reason
from debugger.recorders.recorded_process import CompletedRun
from debugger.targets.compared_commands import BETWEEN, first_command

# By its time limit, or by the user.
_ENDED = "ended while it ran"


async def answer_comparison(
    call: CommandCall,
    requested: QuestionOptions,
    at: Sequence[tuple[str, str]],
    hits: HitFilter,
    refused: Sequence[str],
    *,
    verb: str,
    part: JobPart = ALONE,
) -> MemberProbes:
    """Answer `probe --group` or `diff --group`, and keep the evidence.

    `refused` are given options that have no meaning here.

    Raises:
        DebuggerError: USAGE for these; what `compare_members` raises.
    """
    words = list(requested.words)
    refused = [*refused, "--vs"] if BETWEEN in words else list(refused)
    if refused:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--group compares the hits of one run's processes, and takes no {refused[0]}",
            hint=f"debugger {verb} --group --at LOC 'EXPR, EXPR' -- {first_command(words)}",
        )
    answer = await compare_members(call, requested, at, hits, verb=verb, part=part)
    places = [word for place, text in at for word in ("--at", place, text)]
    return keep_evidence(
        call,
        requested.repeat_command(["--group", *places, *hits.options()]),
        answer,
        summary=summarise_difference(answer.places),
        files=[place.file for place in answer.places if place.file],
    )


async def compare_members(
    call: CommandCall,
    requested: QuestionOptions,
    at: Sequence[tuple[str, str]],
    hits: HitFilter,
    *,
    verb: str,
    part: JobPart = ALONE,
) -> MemberProbes:
    """Run a program, or a launcher's job, and compare the values of its processes hit by hit.

    Python's have a recorder in each process, others logpoints.

    Raises:
        DebuggerError: USAGE; NOT_SUPPORTED for a process that runs already; NOT_FOUND where no
            process came to any location.
    """
    are_named(at, verb=verb)
    target, points, run = await _run_members(call, requested, at, hits, verb=verb, part=part)
    probed = [
        ProbedPoint(number, one.asked, tuple(one.expressions))
        for number, one in enumerate(points)
        if not one.event
    ]
    places = tuple(
        compare_location(run.members, one.number, one.asked, one.expressions) for one in probed
    )
    is_part = _is_part(call, part)
    if not is_part and not any(one.counts for one in places):
        raise refuse_unreached(places, len(run.members), run.end)
    answer = MemberProbes(
        Path(target.program or target.module or "group").stem,
        order_members(one.label for one in run.members),
        places,
        run.end,
        run.took_s,
        notes=run.notes,
    )
    if is_part:
        return structs.replace(answer, hits=run.members, points=tuple(probed))
    return answer


class _MemberRun(Struct, frozen=True):
    """The values of all processes of a run, and how it ended."""

    members: tuple[MemberHits, ...]
    end: str
    took_s: float
    notes: tuple[str, ...] = ()


async def _run_members(
    call: CommandCall,
    requested: QuestionOptions,
    at: Sequence[tuple[str, str]],
    hits: HitFilter,
    *,
    verb: str,
    part: JobPart,
) -> tuple[LaunchTarget, Sequence[ProbePoint], _MemberRun]:
    """Run the program; return it, the probed locations, and the values of its processes."""
    ranks = find_rank_program(call, requested, part)
    found = await build_question(call, structs.replace(requested, words=ranks.words))
    target = found.target
    if not isinstance(target, LaunchTarget):
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{verb} --group compares the processes of a program that it starts",
            hint=f"debugger {verb} --group --at FILE:LINE 'EXPR, EXPR' -- CMD",
        )
    _check_language(found, ranks, requested, verb)
    points = parse_probe_points(call, found, at, hits, verb=verb)
    # The last hit that counts in one process is no end of the others.
    within = structs.replace(range_of(None, None, hits), ends_run=False)
    if found.language == "python":
        run = await _record_members(
            call, found, ranks.launcher, points, within=within, hits=hits, verb=verb, part=part
        )
    else:
        if ranks.launcher is None:
            requested = follow_forks(call, requested, found)
            found = await build_question(call, requested)
        began = time.monotonic()
        logged = await log_members(
            call, requested, found, points, within=within, hits=hits, part=part
        )
        output = [line.text for line in logged.end.output.lines]
        end = _describe_stop(logged.end.last, output)
        run = _MemberRun(logged.members, end, time.monotonic() - began, logged.notes)
    return target, points, run


def _check_language(
    found: QuestionRun, ranks: RankProgram, requested: QuestionOptions, verb: str
) -> None:
    """Refuse the ranks of a launcher whose debugger cannot take them."""
    can_join = found.language == "python" or found.traits.runtime in {Runtime.NATIVE, Runtime.GO}
    if ranks.launcher is None or can_join:
        return
    program, job = first_command(ranks.words), first_command(requested.words)
    raise DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        f"{verb} --group cannot read values of {found.language} processes that a launcher starts",
        hint=f"debugger path --group -- {job}"
        if found.language in LANGUAGES
        else f"debugger {verb} --group --at LOC EXPR -- {program}",
    )


async def _record_members(
    call: CommandCall,
    found: QuestionRun,
    launcher: LaunchTarget | None,
    points: Sequence[ProbePoint],
    *,
    within: HitRange,
    hits: HitFilter,
    verb: str,
    part: JobPart,
) -> _MemberRun:
    assert isinstance(found.target, LaunchTarget)
    ran = await record_probed_run(
        launcher or found.target,
        points,
        within,
        timeout_s=found.patience.seconds,
        scratch_root=call.scratch_root,
        interrupted=found.patience.interrupted,
        hits=hits,
        each=hits_compared(len(points)),
        again=f"debugger {verb} --group --at {{}} EXPR -- CMD",
        words=command_call.launch_argv(found.target),
        is_part=_is_part(call, part),
    )
    labelled = label_recordings(ran.recordings, launcher)
    members = tuple(collect_hits(label, one) for label, one in labelled)
    return _MemberRun(members, _describe_end(ran), ran.took_s)


def _is_part(call: CommandCall, part: JobPart) -> bool:
    """Return whether other processes are on other machines."""
    return bool(call.sessions.name_suffix or part.name)


def _describe_end(ran: CompletedRun) -> str:
    if ran.is_timed_out:
        return _ENDED
    return _describe_exit(ran.signal, ran.status, ran.output_lines())


def _describe_stop(last: answers.Stop, output: Sequence[str]) -> str:
    if last.state != State.TERMINATED.value:
        return _ENDED
    return _describe_exit(last.signal, last.exit_code, output)


def _describe_exit(signal: int | str | None, status: int | None, output: Sequence[str]) -> str:
    if signal:
        return f"ended by {signal}"
    return add_reason(f"exited with status {status}", output if status else ())


def summarise_difference(places: Sequence[ComparedLocation]) -> str:
    """Summarise an answer for the evidence list."""
    for place in places:
        first = place.expressions[0] if place.expressions else None
        if first is not None and first.hit is not None:
            return f"{first.expression} differs first at hit {first.hit:,} of {place.asked}"
    return f"the same values at {sum(one.compared for one in places):,} hits"
