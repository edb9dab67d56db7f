"""Finds the writes that our own agents record: a Ruby variable's, a Java field's.

Before the location they are recorded from the program's beginning, after it by a watchpoint.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import re

import msgspec
from msgspec import Struct

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
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

_CUT = "not all earlier writes were recorded: there were too many"


@dataclasses.dataclass(frozen=True)
class HistoryDialect:
    """How a language's agent records the writes of what an expression names."""

    variable: str  # names what is recorded in the environment of the launch
    recorded: re.Pattern[str]  # an expression that can be; its group is what to record
    report: str  # the expression that gives the history, at the location
    not_recorded: str
    method: str  # how writes after the location are seen


_DIALECTS = {
    "ruby": HistoryDialect(
        "DEBUGGER_RUBY_HISTORY",
        re.compile(r"(@\w+|\$\w+|[a-z_]\w*)"),
        "DebuggerAgent.history.report(self) {{ {expression} }}",
        "the writes before the place are recorded of a plain variable only: @name, $name or local",
        "its value after each line, {recorded}watched from the place on",
    ),
    "java": HistoryDialect(
        "DEBUGGER_JAVA_HISTORY",
        re.compile(r"(?:.*\.)?([A-Za-z_$][\w$]*)", re.DOTALL),
        "$writes({expression})",
        "the writes before the place are recorded of a field only: object.field or Class.field",
        "a field watchpoint, {recorded}watched from the place on",
    ),
}
LANGUAGES = frozenset(_DIALECTS)


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
    dialect = _DIALECTS[question.language]
    match = dialect.recorded.fullmatch(request.expression)
    target = question.target
    if match is not None and isinstance(target, LaunchTarget):
        env = {**target.env, dialect.variable: match[1]}
        question = dataclasses.replace(question, target=msgspec.structs.replace(target, env=env))
    earlier: list[ValueWrite] = []
    notes: list[str] = [] if match is not None else [dialect.not_recorded]

    async def read_history(session: Session, frame: Frame) -> None:
        text = dialect.report.format(expression=request.expression)
        try:
            value = await session.backend.evaluate(text, frame, EvaluationPurpose.EVALUATE)
        except DebuggerError as error:
            if error.code is not ErrorCode.EVALUATION_FAILED:
                raise
            notes.append(dialect.not_recorded)  # the watchpoint then says what it is instead
            return
        history = msgspec.json.decode(json.loads(value.value), type=_History)
        earlier.extend(_to_write(one) for one in history.writes)
        notes.extend([_CUT] if history.is_cut else [])

    later = await watched_writes.watch_later(
        question, request, look=read_history if match is not None else None
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
    recorded = "recorded from the beginning, and " if match is not None else ""
    return msgspec.structs.replace(
        answer,
        adapter=later.adapter,
        method=dialect.method.format(recorded=recorded),
        timed_out=bool(last and last.timed_out),
        took_s=round(asyncio.get_running_loop().time() - began, 1),
        notes=tuple(dict.fromkeys([*notes, *later.notes])),
    )


def _to_write(one: _Write) -> ValueWrite:
    stack = tuple(WriteLocation(name, file, line) for name, file, line in one.stack)
    return ValueWrite(stack, one.old, one.new)
