"""Probes by stopping the program at each hit: slow, and possible with every debugger.

Each hit is a stop, a look, and a resume: what logpoints tell can be checked by it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from debugger.backends.base import Launch
from debugger.core import answers
from debugger.core.model import Frame, Purpose
from debugger.core.state import State
from debugger.errors import DebuggerError
from debugger.questions import asking
from debugger.questions.asking import Question, Run
from debugger.questions.probing.ending import Ending, finished, limited
from debugger.questions.probing.table import Cell, Table
from debugger.questions.probing.wanted import Wanted
from debugger.questions.values import plain
from debugger.session.session import Session


async def stopping(question: Question, wanted: Sequence[Wanted], table: Table) -> Ending:
    """Run a program to its end, or until the time is up, stopping at each hit.

    Raises:
        DebuggerError: What starting the program raises; ADAPTER_DIED.
    """
    specs = tuple(msgspec.structs.replace(one.spec, condition=one.when) for one in wanted)
    async with asking.running(replace(question, breakpoints=specs)) as run:
        began = time.monotonic()
        stop = await run.first()
        while stop.state == State.STOPPED.value and stop.hit_breakpoints:
            await _look(run, stop, wanted, table, began)
            if table.is_all_over and table.ends_run and isinstance(question.target, Launch):
                return await limited(run, stop, began)
            if table.is_all_over:
                session = run.at(stop)
                for number in range(1, len(wanted) + 1):
                    await _off(session, number)
            stop = await run.go_on(run.at(stop))
        return await finished(run, stop, began)


async def _off(session: Session, number: int) -> None:
    await session.do(lambda: session.binding.enable(number, on=False))


async def _look(
    run: Run, stop: answers.Stop, wanted: Sequence[Wanted], table: Table, began: float
) -> None:
    session, at_s = run.at(stop), time.monotonic() - began
    for number in stop.hit_breakpoints:
        if not 1 <= number <= len(wanted):
            continue
        cells = [await _value(session, one) for one in wanted[number - 1].expressions]
        table.take(number - 1, cells, at_s=at_s, thread=stop.thread)


async def _value(session: Session, expression: str) -> Cell:
    async def job() -> Cell:
        frame: Frame | None = session.look.frame
        try:
            return Cell(plain(await session.backend.evaluate(expression, frame, Purpose.PRINT)))
        except DebuggerError as error:
            return Cell(error.message, is_error=True)

    return await session.do(job)
