"""Probes the processes of one program, and says which member's value differs first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.group_merge import order_members
from debugger.model.hit_filter import HitFilter
from debugger.questions.group.answer import MemberProbes, ProbedPoint
from debugger.questions.group.member_differences import (
    ComparedLocation,
    collect_hits,
    compare_location,
    label_recordings,
)
from debugger.questions.probe.probe_arguments import are_named, parse_probe_points
from debugger.questions.probe.probe_comparison import hits_compared
from debugger.questions.probe.probe_points import HitRange
from debugger.questions.probe.recorded_probe import record_probed_run
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import (
    QuestionOptions,
    build_question,
    keep_evidence,
)
from debugger.recorders.recorded_process import CompletedRun
from debugger.targets.command_line import BETWEEN, first_command


async def answer_comparison(
    call: CommandCall,
    requested: QuestionOptions,
    at: Sequence[tuple[str, str]],
    hits: HitFilter,
    refused: Sequence[str],
    *,
    verb: str,
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
    answer = await compare_members(call, requested, at, hits, verb=verb)
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
) -> MemberProbes:
    """Run a program with a recorder in each process, and compare their values hit by hit.

    Raises:
        DebuggerError: USAGE; NOT_SUPPORTED for other programs than Python's; NOT_FOUND where no
            process came to any location.
    """
    are_named(at, verb=verb)
    found = await build_question(call, requested)
    target = found.target
    if not isinstance(target, LaunchTarget) or found.language != "python":
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{verb} --group compares the processes of a Python program that it starts",
            hint=f"debugger {verb} --group --at FILE:LINE 'EXPR, EXPR' -- CMD",
        )
    points = parse_probe_points(call, found, at, hits, verb=verb)
    ran = await record_probed_run(
        target,
        points,
        HitRange(),
        timeout_s=found.patience.seconds,
        scratch_root=call.scratch_root,
        interrupted=found.patience.interrupted,
        hits=hits,
        each=hits_compared(len(points)),
        again=f"debugger {verb} --group --at {{}} EXPR -- CMD",
    )
    members = [collect_hits(label, one) for label, one in label_recordings(ran.recordings)]
    probed = [
        ProbedPoint(number, one.asked, tuple(one.expressions))
        for number, one in enumerate(points)
        if not one.event
    ]
    places = tuple(
        compare_location(members, one.number, one.asked, one.expressions) for one in probed
    )
    name = Path(target.program or target.module or "group").stem
    is_part = bool(call.sessions.name_suffix)
    if not is_part and not any(one.counts for one in places):
        names = ", ".join(one.asked for one in places)
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"none of {len(members)} processes came to {names}; {_describe_end(ran)}",
            hint=f"debugger probe --at {places[0].asked} EXPR -- CMD says how near it came",
        )
    labels = order_members(one.label for one in members)
    answer = MemberProbes(name, labels, places, _describe_end(ran), ran.took_s)
    if is_part:
        return msgspec.structs.replace(answer, hits=tuple(members), points=tuple(probed))
    return answer


def _describe_end(ran: CompletedRun) -> str:
    if ran.is_timed_out:
        return f"ended after {ran.took_s:.3g} s, the time limit"
    return f"ended by {ran.signal}" if ran.signal else f"exited with status {ran.status}"


def summarise_difference(places: Sequence[ComparedLocation]) -> str:
    """Summarise an answer for the evidence list."""
    for place in places:
        first = place.expressions[0] if place.expressions else None
        if first is not None and first.hit is not None:
            return f"{first.expression} differs first at hit {first.hit:,} of {place.asked}"
    return f"the same values at {sum(one.compared for one in places):,} hits"
