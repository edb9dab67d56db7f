"""Finds what changed a probed value between two hits, by a second run of a Node program."""

from __future__ import annotations

import os
from collections.abc import Sequence

import msgspec

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers.frames import FrameView
from debugger.model.hit_filter import HitFilter
from debugger.questions.probe.answer import Probe, ProbeNarrowing
from debugger.questions.probe.probe_points import ProbePoint
from debugger.questions.recordings.counted_run import node_roots, run_node_origin
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_run import QuestionRun
from debugger.recorders.node.origin_run import NodeOriginOrder, OriginChange, OriginPlace

_SLOW_S = 20.0  # a program that took longer is not run again


async def add_narrowing(
    call: CommandCall,
    answer: Probe,
    question: QuestionRun,
    points: Sequence[ProbePoint],
    hits: HitFilter,
) -> Probe:
    """Return the answer with the statements that changed the values between its hits.

    Only of one line in JavaScript, and with `--changes` alone: the second run numbers all hits.
    """
    launch = question.target
    is_alone = hits == HitFilter(changes=True)
    if not is_alone or len(points) != 1 or not isinstance(launch, LaunchTarget):
        return answer
    spec = points[0].spec
    is_usual = question.language == "javascript" and spec.file is not None and spec.line is not None
    is_short = answer.took_s is not None and answer.took_s <= _SLOW_S and answer.rows_total > 1
    if not is_usual or not is_short or answer.outcome == "running":
        return answer
    columns = ", ".join(one.expression for one in answer.places[0].columns)
    order = NodeOriginOrder(
        node_roots(launch),
        f"[{columns}]",
        os.path.realpath(spec.file or ""),
        spec.line or 0,
        nth=-1,
        is_changes=True,
    )
    try:
        found = await run_node_origin(call, question, launch, order)
    except DebuggerError as error:
        if error.code is not ErrorCode.TIMEOUT:
            raise
        note = "what changed it between the hits was not found in time"
        return msgspec.structs.replace(answer, notes=(*answer.notes, note))
    # Values that the two runs show differently would give the hits other numbers.
    if found.hits != answer.rows_total:
        return answer
    return msgspec.structs.replace(answer, narrowed=tuple(map(_narrowing, found.changes)))


def _narrowing(one: OriginChange) -> ProbeNarrowing:
    return ProbeNarrowing(
        first=one.first,
        second=one.second,
        frame=_frame(one.frame),
        statement=one.statement,
        run=one.run,
        runs=one.runs,
        before=one.before,
        after=one.after,
        is_final=one.is_final,
        called=_frame(one.called) if one.called is not None else None,
        operands=tuple(f"{each.text}={each.value}" for each in one.operands),
        source=_frame(one.source) if one.source is not None else None,
    )


def _frame(place: OriginPlace) -> FrameView:
    return FrameView(0, place.function, place.file, place.line)
