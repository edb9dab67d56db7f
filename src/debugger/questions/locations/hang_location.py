"""Runs a program until it hangs, and evaluates expressions in the frame that the hang is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers import FrameView
from debugger.model.debugger_words import Runtime
from debugger.model.events import State
from debugger.model.location import is_library
from debugger.model.program import Frame
from debugger.questions.hang import hang_question, python_waits
from debugger.questions.hang.answer import Hang
from debugger.questions.locations.exit_location import EventValues, in_node_scope, node_scope_env
from debugger.questions.probe.probe_table import ProbeCell
from debugger.questions.probe.recorded_probe import evaluate_cell
from debugger.questions.runner.evidence_store import plain_text
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.session.session import Session

AFTER_S = 3.0  # seconds after which `hang` inspects a program
_LEVELS = 200


async def run_to_hang(
    question: QuestionRun, expressions: Sequence[str], after_s: float
) -> EventValues:
    """Run a program for a while, and evaluate expressions where it hangs, as `hang` judges.

    Raises:
        DebuggerError: NOT_FOUND for a program that ended, or that waits without a frame of its own;
            what starting it raises.
    """
    cells: list[ProbeCell] = []
    is_node = question.traits.runtime is Runtime.NODE
    if is_node:
        env = {**question.target.env, **node_scope_env(question.target.env)}
        question = replace(question, target=msgspec.structs.replace(question.target, env=env))

    async def observe(run: RunningQuestion, answer: Hang) -> Hang:
        if is_node and run.session.state is State.RUNNING:
            # It waits, without a frame: what is left are the names of its script.
            cells.extend(
                [await evaluate_cell(run.session, in_node_scope(one)) for one in expressions]
            )
        elif answer.frame is not None and not is_library(answer.frame.file, run.session.target.cwd):
            cells.extend(await _evaluate_at(run.session, answer.frame, expressions))
        return answer

    answer = await hang_question.explain_hang(question, after_s, observe=observe)
    frame = answer.frame
    if answer.kind == "ended" or answer.exit_code is not None:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"--at hang: {answer.cause}",
            hint="debugger probe --at exit EXPR -- CMD shows the values at its end",
        )
    if frame is None or len(cells) < len(expressions):
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"--at hang: no frame of the program's own is on a stack there: {answer.cause}",
            hint="debugger hang -- CMD shows what it waits for",
        )
    return EventValues(
        cells=tuple(cells),
        what=answer.cause,
        file=frame.file,
        line=frame.line,
        function=frame.function,
        adapter=answer.adapter,
        took_s=answer.took_s or 0.0,
    )


async def _evaluate_at(
    session: Session, frame: FrameView, expressions: Sequence[str]
) -> list[ProbeCell]:
    if session.traits.runtime is Runtime.PYTHON:
        found = await python_waits.evaluate_in_frame(session, frame, expressions)
        return [
            ProbeCell(one.message, is_error=True)
            if isinstance(one, DebuggerError)
            else ProbeCell(plain_text(one))
            for one in found
        ]
    if session.state is not State.STOPPED or not await session.run_job(
        lambda: _select_frame(session, frame)
    ):
        return []
    return [await evaluate_cell(session, one) for one in expressions]


async def _select_frame(session: Session, view: FrameView) -> bool:
    """Select the frame of a function in any thread, at its line where one is there (a job)."""
    found: list[tuple[int, Frame]] = []
    for thread in await session.backend.list_threads():
        stack = await session.backend.read_stack(thread.id, levels=_LEVELS)
        found += [
            (thread.id, one)
            for one in stack.frames
            if (one.function, one.file) == (view.function, view.file)
        ]
    if not found:
        return False
    thread_id, frame = next((one for one in found if one[1].line == view.line), found[0])
    session.selection.select_thread(thread_id)
    session.selection.select_frame(frame)
    return True
