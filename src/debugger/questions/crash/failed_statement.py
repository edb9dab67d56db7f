"""Reads the statement at which a program failed, the condition around it, and their values."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress

import msgspec
from msgspec import UNSET

from debugger.errors import DebuggerError
from debugger.model import answers
from debugger.model.exception_cause import short_type
from debugger.model.program import EvaluationPurpose, Frame
from debugger.model.statement import StatementReads, join_statement, parse_reads
from debugger.questions.crash.complained_operand import is_uncallable
from debugger.questions.crash.failed_condition import (
    compared_calls,
    read_guard,
    reported_operands,
)
from debugger.questions.runner import evidence_store
from debugger.session import source_files
from debugger.session.session import Session
from debugger.sources.guilty_operand import FailedCondition
from debugger.sources.javascript_statement import (
    cut_statement,
    find_destructured,
    find_index,
    find_pattern,
)
from debugger.sources.nothing_calls import (
    find_called_element,
    find_nothing_call,
    find_null_call,
    find_unwrapped_call,
    is_about_nothing,
    python_statement,
    rust_statement,
)
from debugger.sources.php_suspect import find_php_suspect
from debugger.sources.python_suspect import (
    failed_text,
    find_comprehended,
    find_suspect,
    join_part,
    place_found,
)

_EVALUATED_MAX = 16  # expressions of the statement
# A statement has few accesses; a slow debugger must not delay the answer.
_EVALUATE_S = 5.0
# The head of Ruby's `def price(key) = @items[key] * 2`, whose body is the statement.
_ENDLESS = re.compile(
    r"^\s*(?:private\s+)?def\s+[\w.]+[?!]?\s*(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?\s*=(?![=~>])\s*"
)
_ASSERT = re.compile(r"\bassert\w*!?[ (]")
_JAVASCRIPT = (".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx")
_RUBY, _PHP = ".rb", ".php"
_HASHES = (".py", ".pyw", _RUBY)
_ENDS = ";{}"  # of a statement
_LITERAL = re.compile(r"""[-\d"'`]|.*\.\.""")


class FailedStatement(msgspec.Struct, frozen=True):
    """What a statement reads, and the condition under which it raises an exception."""

    frame: Frame | None
    # The source of what failed.
    text: str
    # What it reads itself.
    own_reads: StatementReads
    # With what the condition around it reads.
    reads: StatementReads
    guard: FailedCondition | None
    # The values of what is read, by the text of the expressions.
    values: Mapping[str, answers.VariableView]
    # What an exception of Python is about, by the syntax of what failed; "" if that is not known.
    suspect: str = ""

    def list_reported(self, values: Mapping[str, str]) -> tuple[str, ...]:
        """Return what the statement complains about, if it raises an exception."""
        return reported_operands(self.frame, self.guard, self.own_reads.operands, values)

    def find_nothing_call(self, message: str, *, is_fault: bool, is_inside: bool) -> str:
        """Return the call whose result was nothing, by the exception's message or for a fault.

        `is_inside`: the fault is in a function of a library.
        """
        if is_fault:
            return find_null_call(read_statement(self.frame), is_inside=is_inside)
        if not is_about_nothing(message):
            return ""
        if self.suspect and self._names_operand():
            return self.suspect
        found = find_nothing_call(self.text, message)
        is_go = self.frame is not None and (self.frame.file or "").endswith(".go")
        return found or (find_called_element(self.text) if is_go else "")

    def _names_operand(self) -> bool:
        return self.frame is not None and (self.frame.file or "").endswith((_RUBY, _PHP))

    def list_compared_calls(
        self, shown: answers.FrameView | None, values: Mapping[str, str]
    ) -> tuple[str, ...]:
        """Return the calls that the failed check of the reported frame compared."""
        return compared_calls(shown, self.guard, values)


async def inspect_statement(
    session: Session,
    frame: Frame | None,
    *,
    is_call: bool,
    raised: answers.ExceptionView | None = None,
) -> FailedStatement:
    """Read a frame's statement, and evaluate what it reads (a job).

    Args:
        session: The session.
        frame: The user's frame of the failure.
        is_call: Whether what failed is a call of what is no code.
        raised: The exception that was raised there.
    """
    is_call = is_call or (raised is not None and is_uncallable(raised.message))
    guard = read_guard(frame)
    text = _read_failed(frame, raised)
    own = _parse_text(frame, text)
    around = parse_reads(guard.text).operands if guard is not None else ()
    reads = msgspec.structs.replace(own, operands=tuple(dict.fromkeys((*own.operands, *around))))
    values = await _evaluate_reads(session, frame, reads, is_call=is_call)
    suspect, is_nothing = await _find_suspect(session, frame, text, raised, values)
    if is_nothing:
        values[suspect] = answers.VariableView(suspect, "None")
    return FailedStatement(frame, text, own, reads, guard, values, suspect)


def _read_failed(frame: Frame | None, raised: answers.ExceptionView | None) -> str:
    """Return the source of what failed: of Python the part that its runtime marks."""
    statement = _python_statement(frame) if raised is not None else ""
    part = raised.part if raised is not None and raised.part is not UNSET else ""
    return failed_text(statement, part) if statement else read_statement(frame)


async def _find_suspect(
    session: Session,
    frame: Frame | None,
    text: str,
    raised: answers.ExceptionView | None,
    values: Mapping[str, answers.VariableView],
) -> tuple[str, bool]:
    """Return what an exception is about, or takes apart in JavaScript; "" if unknown.

    With it, whether it is a call whose result was None. An element of a container is searched.
    """
    file = (frame.file or "") if frame is not None else ""
    if frame is None or raised is None:
        return "", False
    if not file.endswith(_HASHES[:2]):
        named = _suspect_by_message(frame, text, raised)
        # Where its value is known, as the values write it.
        bare = named.replace(" ", "")
        return next((one for one in values if one.replace(" ", "") == bare), named), False
    shown = {name: one.value for name, one in values.items()}
    is_marked = raised.part is not UNSET and text == join_part(raised.part)
    found = find_suspect(text, short_type(raised.type), raised.message, shown, is_marked=is_marked)
    if (found is None or found.expression not in shown) and raised.part is not UNSET:
        statement = _python_statement(frame)
        kind = short_type(raised.type)
        found = find_comprehended(statement, join_part(raised.part), kind, raised.message) or found
    if found is None or not found.search:
        return (found.expression, found.is_nothing) if found is not None else ("", False)
    with suppress(DebuggerError):
        index = await session.backend.evaluate(found.search, frame, EvaluationPurpose.PRINT)
        return place_found(found, index.value), False
    return "", False


def _suspect_by_message(frame: Frame, text: str, raised: answers.ExceptionView) -> str:
    """Return what an exception of JavaScript, PHP or Ruby is about; "" if unknown."""
    file, message = frame.file or "", raised.message
    if file.endswith(_JAVASCRIPT):
        found = find_destructured(text, message) or find_index(text, message)
        return found or find_pattern(*_position(frame), message)
    if file.endswith(_PHP):
        return find_php_suspect(text, message)
    return (raised.part or "") if file.endswith(_RUBY) else ""


def parse_statement(frame: Frame | None) -> StatementReads:
    """Return what the statement of a frame reads; of an assertion, what its condition does."""
    return _parse_text(frame, read_statement(frame))


def _parse_text(frame: Frame | None, text: str) -> StatementReads:
    text = _ENDLESS.sub("", text)
    asserted = _ASSERT.search(text)
    text = text[asserted.start() :] if asserted else text
    is_hash = frame is not None and (frame.file or "").endswith(_HASHES)
    return parse_reads(text, hash_comments=is_hash)


def _python_statement(frame: Frame | None) -> str:
    if frame is None or not frame.file or not frame.line or not frame.file.endswith(_HASHES[:2]):
        return ""
    return python_statement("\n".join(source_files.read_source(frame.file) or ()), frame.line)


def unwrapped_call(frame: answers.FrameView | None, message: str, place: str) -> str:
    """Return the call of a frame's statement of Rust whose result made it panic; "" for none.

    `place`: FILE:LINE:COLUMN of the panic.
    """
    file, line = (frame.file, frame.line) if frame is not None else (None, None)
    if not file or not line or not file.endswith(".rs"):
        return ""
    lines = source_files.read_source(file) or ()
    if line > len(lines):
        return ""
    _, number, column = [*place.rsplit(":", 2), "", ""][:3]
    text = lines[line - 1]
    begin = text[: int(column) - 1] if number == str(line) and column.isdigit() else ""
    return find_unwrapped_call(rust_statement(lines, line), message, begin)


def read_statement(frame: Frame | None) -> str:
    """Return the source of the statement of a frame, from its column on; empty without source."""
    lines = source_files.read_source(frame.file) if frame is not None and frame.file else None
    if frame is None or lines is None or not frame.line or frame.line > len(lines):
        return ""
    is_hash = (frame.file or "").endswith(_HASHES)
    cut = (
        source_files.column_part(frame.file or "", frame.line, frame.column)
        if frame.column
        else None
    )
    if cut is not None:
        return _clip_at_column(*cut)
    if frame.column and (frame.file or "").endswith(_JAVASCRIPT):
        return cut_statement(*_position(frame))
    return join_statement(lines[frame.line - 1 : frame.line + 5], hash_comments=is_hash)


def _position(frame: Frame) -> tuple[str, int]:
    """Return the statement that begins with the line of a frame, and its column there."""
    lines = source_files.read_source(frame.file) if frame.file else None
    if lines is None or not frame.line or not frame.column or frame.line > len(lines):
        return "", 0
    line = lines[frame.line - 1]
    text = join_statement(lines[frame.line - 1 : frame.line + 5])
    return text, frame.column - 1 - (len(line) - len(line.lstrip()))


def _clip_at_column(text: str, at: int) -> str:
    """Return the statement around a column of a minified line, as far as its marks show."""
    first = max(text.rfind(mark, 0, at) for mark in _ENDS) + 1
    depth, last = 0, at
    while last < len(text):
        depth += (text[last] in "([{") - (text[last] in ")]}")
        if depth < 0 or (text[last] == ";" and not depth):
            break
        last += 1
    return text[first:last]


async def _evaluate_reads(
    session: Session, frame: Frame | None, read: StatementReads, *, is_call: bool
) -> dict[str, answers.VariableView]:
    """Evaluate the accesses of a statement; those without a value here are omitted."""
    if frame is None:
        return {}
    operands: dict[str, None] = dict.fromkeys(read.called) if is_call else {}
    for one in read.accesses:
        operands[one.base] = None
        if one.how == "[]" and not _LITERAL.match(one.inner):
            operands[one.inner] = None
        if one.how == "[]" and (frame.file or "").endswith(_HASHES[:2]):
            operands[f"len({one.base})"] = None
        if is_call and one.how == "*":  # what was called through a pointer
            operands[one.whole] = None
    operands |= dict.fromkeys(read.operands)
    known: dict[str, answers.VariableView] = {}
    limit = asyncio.get_running_loop().time() + _EVALUATE_S
    for expression in list(operands)[:_EVALUATED_MAX]:
        if asyncio.get_running_loop().time() > limit:
            break
        # An access may have no value here, for example before its assignment.
        with suppress(DebuggerError):
            text = session.traits.write_read(expression)
            found = await session.backend.evaluate(text, frame, EvaluationPurpose.PRINT)
            # What says nothing is left out, as `this` where it is the global object.
            value = next(iter(await session.backend.complete_values([found])), None)
            text = value.value.strip() if value is not None else ""
            if (
                value is not None
                and text
                and not evidence_store.is_dull(value)
                and not evidence_store.is_unknown(text)
            ):
                known[expression] = await evidence_store.expanded_view(session, value)
    return known
