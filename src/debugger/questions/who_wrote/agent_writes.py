"""Finds the writes that our own agents record: a Ruby variable's, a Java field's.

Before the location they are recorded from the program's beginning, after it by a watchpoint.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

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
    skip_made_setter,
)
from debugger.session.session import Session

_CUT = "not all earlier writes were recorded: there were too many"


_RUBY_VARIABLE = re.compile(r"@\w+|\$\w+|[a-z_]\w*")
_RUBY_ATTRIBUTE = re.compile(r"(?P<receiver>[@$]?\w+(?:\.\w+)*)\.(?P<name>[a-z_]\w*)")
_JAVA_FIELD = re.compile(r"(?:.*\.)?([A-Za-z_$][\w$]*)", re.DOTALL)


def _find_ruby_variable(expression: str) -> tuple[str, str] | None:
    if _RUBY_VARIABLE.fullmatch(expression):
        return expression, "self"
    attribute = _RUBY_ATTRIBUTE.fullmatch(expression)
    return (f"@{attribute['name']}", attribute["receiver"]) if attribute else None


def _find_java_field(expression: str) -> tuple[str, str] | None:
    field = _JAVA_FIELD.fullmatch(expression)
    return (field[1], "this") if field else None


@dataclasses.dataclass(frozen=True)
class HistoryDialect:
    """How a language's agent records the writes of what an expression names."""

    variable: str  # names what is recorded in the environment of the launch
    # What is recorded for an expression, and the object that has it; None: nothing can be.
    find_recorded: Callable[[str], tuple[str, str] | None]
    # The expression that gives the history, at the location, or writes it to a file.
    report: str
    not_recorded: str
    method: str  # how writes after the location are seen


_DIALECTS = {
    "ruby": HistoryDialect(
        "DEBUGGER_RUBY_HISTORY",
        _find_ruby_variable,
        "DebuggerAgent.history.report({receiver}, '{path}') {{ {expression} }}",
        "the writes before the place are recorded of @name, object.name, $name or a local only",
        "its value after each line, {recorded}watched from the place on",
    ),
    "java": HistoryDialect(
        "DEBUGGER_JAVA_HISTORY",
        _find_java_field,
        "$writes({expression})",
        "the writes before the place are recorded of a field only: object.field or Class.field",
        "a field watchpoint, {recorded}watched from the place on",
    ),
}
LANGUAGES = frozenset(_DIALECTS)
_OF_LIBRARY = (
    "it is a field of the language's library: its writes before the place are not recorded; "
    "debugger why names what was put into a list or a map"
)


class _Write(Struct):
    new: str
    stack: list[tuple[str, str, int]]
    old: str | None = None


class _History(Struct, rename="camel"):
    writes: list[_Write]
    is_cut: bool = False
    is_library: bool = False  # a field of Java's own library, whose writes are not recorded


async def who_wrote(question: QuestionRun, request: WriteRequest) -> WhoWrote:
    """Run a program once: its writes are recorded up to the location, and watched from there on.

    Raises:
        DebuggerError: NOT_FOUND if the location is never reached, EVALUATION_FAILED.
    """
    began = asyncio.get_running_loop().time()
    dialect = _DIALECTS[question.language]
    found = dialect.find_recorded(request.expression)
    variable, receiver = found or ("", "")
    target = question.target
    if found and isinstance(target, LaunchTarget):
        env = {**target.env, dialect.variable: variable}
        question = dataclasses.replace(question, target=msgspec.structs.replace(target, env=env))
    earlier: list[ValueWrite] = []
    notes: list[str] = [] if found else [dialect.not_recorded]

    async def read_history(session: Session, frame: Frame) -> None:
        expression = request.expression
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "history.json")
            text = dialect.report.format(receiver=receiver, expression=expression, path=path)
            try:
                value = await session.backend.evaluate(text, frame, EvaluationPurpose.EVALUATE)
            except DebuggerError as error:
                if error.code is not ErrorCode.EVALUATION_FAILED:
                    raise
                notes.append(dialect.not_recorded)  # the watchpoint then says what it is instead
                return
            written = path.read_bytes() if path.exists() else json.loads(value.value)
        history = msgspec.json.decode(written, type=_History)
        earlier.extend(_to_write(one) for one in history.writes)
        notes.extend([_OF_LIBRARY] if history.is_library else [])
        notes.extend([_CUT] if history.is_cut else [])

    later = await watched_writes.watch_later(
        question, request, look=read_history if found else None
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
    is_recorded = found and _OF_LIBRARY not in notes
    recorded = "recorded from the beginning, and " if is_recorded else ""
    return msgspec.structs.replace(
        answer,
        adapter=later.adapter,
        method=dialect.method.format(recorded=recorded),
        timed_out=bool(last and last.timed_out),
        took_s=round(asyncio.get_running_loop().time() - began, 1),
        notes=tuple(dict.fromkeys([*notes, *later.notes])),
    )


def _to_write(one: _Write) -> ValueWrite:
    stack = tuple(skip_made_setter([WriteLocation(*each) for each in one.stack]))
    return ValueWrite(stack, one.old, one.new)
