"""The exception that a crash's call had caught, and replaced by the one that nobody caught.

`raise Unknown("no price") from error` says nothing of a value. What it replaced does, if it was
raised in the same call, whose variables are still there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs

from debugger.errors import DebuggerError
from debugger.model import answers
from debugger.model.program import EvaluationPurpose, Frame
from debugger.model.statement import StatementReads
from debugger.questions.crash.crash_cause import explain_crash
from debugger.questions.crash.crash_facts import CrashFacts
from debugger.questions.crash.failed_statement import inspect_statement
from debugger.session.session import Session

# As the sessions describe a cause: its type and message, and the innermost own call.
_CAUSE = re.compile(
    r"(?P<type>[\w.$:\\]+?)(?:: (?P<message>.*))?"
    r", in (?P<function>\S+) (?P<file>\S+):(?P<line>\d+)",
    re.DOTALL,
)


class ReplacedException(Struct, frozen=True):
    """An exception that was raised in a line of the call that raised another one."""

    type: str
    message: str
    line: int


def find_replaced(
    causes: Sequence[str], function: str, file: str | None, line: int | None
) -> ReplacedException | None:
    """Return the first of the nested exceptions that a call had raised at another line."""
    for text in reversed(causes):
        found = _CAUSE.fullmatch(text)
        if found is None or found["file"] != Path(file or "").name:
            continue
        if found["function"] == function and int(found["line"]) != line:
            return ReplacedException(found["type"], found["message"] or "", int(found["line"]))
    return None


def find_culprit(one: ReplacedException, reads: StatementReads, values: Mapping[str, str]) -> str:
    """Return the expression that the exception complains about; "" if that is unknown."""
    facts = CrashFacts(
        function="",
        exception=one.type,
        message=one.message,
        accesses=reads.accesses,
        operands=reads.operands,
        called=reads.called,
        values=values,
    )
    return explain_crash(facts).culprit


async def note_rethrow(session: Session, frame: Frame | None) -> tuple[str, ...]:
    """Note that the values are of a later moment: a handler ran, as of `finally` (a job)."""
    expression = session.traits.rethrow_expression
    if expression is None or frame is None:
        return ()
    try:
        found = await session.backend.evaluate(expression, frame, EvaluationPurpose.PRINT)
    except DebuggerError:
        return ()  # what threw it is where it stopped
    place = found.value.strip('"')
    return (f"the values are those at {place}, which throws it again after the code of a handler",)


async def add_replaced(
    session: Session,
    frame: Frame | None,
    exception: answers.ExceptionView | None,
    facts: CrashFacts,
) -> CrashFacts:
    """Add what a replaced exception complains about, and the values of its statement (a job).

    The values are those at the crash.
    """
    if frame is None or exception is None or not exception.causes:
        return facts
    one = find_replaced(exception.causes, frame.function, frame.file, frame.line)
    if one is None:
        return facts
    at = structs.replace(frame, line=one.line, column=None)
    statement = await inspect_statement(session, at, is_call=False)
    values = {name: view.value for name, view in statement.values.items()}
    culprit = find_culprit(one, statement.own_reads, values)
    return structs.replace(facts, replaced=culprit, values=values | dict(facts.values))
