"""Probes by stopping the program at each hit: slow, and possible with every debugger.

Each hit is a stop, a look, and a resume: what logpoints tell can be checked by it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError
from debugger.model import answers
from debugger.model.program import EvaluationPurpose, Frame
from debugger.model.state import State
from debugger.questions.probe.probe_end import ProbeEnd, end_at_limit, run_to_end
from debugger.questions.probe.probe_points import ProbePoint
from debugger.questions.probe.probe_table import ProbeCell, ProbeTable
from debugger.questions.runner import question_run
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.questions.runner.short_values import plain_text
from debugger.session.session import Session


async def probe_by_stopping(
    question: QuestionRun, wanted: Sequence[ProbePoint], table: ProbeTable
) -> ProbeEnd:
    """Run a program to its end, or until the time is up, stopping at each hit.

    Raises:
        DebuggerError: What starting the program raises; ADAPTER_DIED.
    """
    specs = tuple(msgspec.structs.replace(one.spec, condition=one.when) for one in wanted)
    async with question_run.run_question(replace(question, breakpoints=specs)) as run:
        began = time.monotonic()
        stop = await run.wait_first()
        while stop.state == State.STOPPED.value and stop.hit_breakpoints:
            await _take_hit(run, stop, wanted, table, began)
            if table.is_all_over and table.ends_run and isinstance(question.target, LaunchTarget):
                return await end_at_limit(run, stop, began)
            if table.is_all_over:
                session = run.session_of(stop)
                for number in range(1, len(wanted) + 1):
                    await _switch_off(session, number)
            stop = await run.go_on(run.session_of(stop))
        return await run_to_end(run, stop, began)


async def _switch_off(session: Session, number: int) -> None:
    await session.run_job(lambda: session.binding.enable(number, on=False))


async def _take_hit(
    run: RunningQuestion,
    stop: answers.Stop,
    wanted: Sequence[ProbePoint],
    table: ProbeTable,
    began: float,
) -> None:
    session, at_s = run.session_of(stop), time.monotonic() - began
    for number in stop.hit_breakpoints:
        if not 1 <= number <= len(wanted):
            continue
        cells = [await _evaluate_cell(session, one) for one in wanted[number - 1].expressions]
        table.take_hit(number - 1, cells, at_s=at_s, thread=stop.thread)


async def _evaluate_cell(session: Session, expression: str) -> ProbeCell:
    async def job() -> ProbeCell:
        frame: Frame | None = session.look.frame
        try:
            return ProbeCell(
                plain_text(
                    await session.backend.evaluate(expression, frame, EvaluationPurpose.PRINT)
                )
            )
        except DebuggerError as error:
            return ProbeCell(error.message, is_error=True)

    return await session.run_job(job)
