"""Finds the writes of a Ruby variable: before a location as recorded, after it by a watchpoint."""

from __future__ import annotations

import asyncio
import dataclasses
import re
import tempfile
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.backends.base import LaunchTarget
from debugger.model.program import EvaluationPurpose, Frame
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.who_wrote import watched_writes
from debugger.questions.who_wrote.answer import WhoWrote, build_writers_answer
from debugger.questions.who_wrote.value_writers import (
    ValueWrite,
    WriteLocation,
    WriteRequest,
)
from debugger.session.session import Session

# The agent in the program reads it, and removes it.
_VARIABLE = "DEBUGGER_RUBY_HISTORY"
_RECORDED = re.compile(r"@\w+|\$\w+|[a-z_]\w*")
_ATTRIBUTE = re.compile(r"(?P<receiver>[@$]?\w+(?:\.\w+)*)\.(?P<name>[a-z_]\w*)")
_REPORT = "DebuggerAgent.history.report({receiver}, '{path}') {{ {expression} }}"
_NOT_RECORDED = (
    "the writes before the place are recorded of @name, object.name, $name or a local only"
)
_CUT = "not all earlier writes were recorded: there were too many"


class _Write(Struct):
    new: str
    stack: list[tuple[str, str, int]]
    old: str | None = None


class _History(Struct, rename="camel"):
    writes: list[_Write]
    is_cut: bool = False


async def who_wrote(question: QuestionRun, request: WriteRequest) -> WhoWrote:
    """Run a program once: its writes are recorded up to the location, and watched from there on.

    Raises:
        DebuggerError: NOT_FOUND if the location is never reached, EVALUATION_FAILED.
    """
    began = asyncio.get_running_loop().time()
    variable, receiver = _find_variable(request.expression)
    is_recorded = variable is not None
    target = question.target
    if variable is not None and isinstance(target, LaunchTarget):
        env = {**target.env, _VARIABLE: variable}
        question = dataclasses.replace(question, target=msgspec.structs.replace(target, env=env))
    earlier: list[ValueWrite] = []
    notes: list[str] = [] if is_recorded else [_NOT_RECORDED]

    async def read_history(session: Session, frame: Frame) -> None:
        # By a file: a value's text is cut.
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "history.json")
            text = _REPORT.format(receiver=receiver, path=path, expression=request.expression)
            await session.backend.evaluate(text, frame, EvaluationPurpose.EVALUATE)
            history = msgspec.json.decode(path.read_bytes(), type=_History)
        earlier.extend(_to_write(one) for one in history.writes)
        notes.extend([_CUT] if history.is_cut else [])

    later = await watched_writes.watch_later(
        question, request, look=read_history if is_recorded else None
    )
    answer = build_writers_answer(
        request.expression,
        request.place,
        later.value,
        [*earlier, *later.writes],
        None,
        misses_same=True,
    )
    last = later.ended
    recorded = "recorded from the beginning, and " if is_recorded else ""
    return msgspec.structs.replace(
        answer,
        adapter=later.adapter,
        method=f"its value after each line, {recorded}watched from the place on",
        timed_out=bool(last and last.timed_out),
        took_s=round(asyncio.get_running_loop().time() - began, 1),
        notes=tuple(dict.fromkeys([*notes, *later.notes])),
    )


def _find_variable(expression: str) -> tuple[str | None, str]:
    """Return the variable that is recorded for an expression, and the object that has it."""
    if _RECORDED.fullmatch(expression):
        return expression, "self"
    attribute = _ATTRIBUTE.fullmatch(expression)
    return (f"@{attribute['name']}", attribute["receiver"]) if attribute else (None, "self")


def _to_write(one: _Write) -> ValueWrite:
    stack = tuple(WriteLocation(name, file, line) for name, file, line in one.stack)
    return ValueWrite(stack, one.old, one.new)
