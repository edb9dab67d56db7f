"""Finds the writes of a PHP value by breakpoints at the statements that name it.

Xdebug has no watchpoints. A breakpoint at each statement whose source names the variable records
there, without a stop, whose it is (the object, or the call) and its value before the statement. The
value after it is that before the next one.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.events import State
from debugger.model.program import EvaluationPurpose
from debugger.questions.runner import question_run
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.questions.who_wrote import php_sources
from debugger.questions.who_wrote.answer import PassedCall, WhoWrote, build_writers_answer
from debugger.questions.who_wrote.php_sources import NamingLine, PhpVariable
from debugger.questions.who_wrote.value_writers import ValueWrite, WriteLocation, WriteRequest
from debugger.questions.who_wrote.watched_writes import passing_call, reach_location
from debugger.session import inspection
from debugger.session.session import Session
from debugger.sources.project_files import project_files, with_text

_SUFFIXES = (".php", ".inc", ".phtml")
_LINES_MAX = 300  # that get a breakpoint
_BYTES_MAX = 1 << 20  # of a file
_MARK = -1  # the number of the record at the location
_METHOD = "its value at {} that name{} it, recorded in one run"
_UNSEEN = (
    "between {}:{}, which only reads it, and the next statement that names it something else wrote "
    "it, as through a reference or by its name in a variable"
)
_CUT = "not all writes were recorded: there were too many"
_CHILD = "the writes of the process that came to the place are shown, not those before a fork"
_LIMIT = "the last {:,} of {:,} writes before it: --limit N"


class _PhpRecord(Struct, frozen=True, array_like=True):
    """A record of the program: the line's number, whose value it is, and the value before."""

    number: int
    owner: int | None
    text: str | None
    global_text: str | None
    stack: list[tuple[str, str | None, int | None]]
    is_cut: bool = False
    pid: int = 0


class _LocationRun(Struct, frozen=True):
    """What a run showed at the location: the value, and the call that passed it."""

    value: str
    passed: PassedCall | None
    timed_out: bool
    is_child: bool  # a process that the program started came there


class _ChangedValue(Struct, frozen=True):
    """A value that changed after a record."""

    record: _PhpRecord
    old: str | None
    new: str | None
    is_after: bool


async def who_wrote(question: QuestionRun, request: WriteRequest) -> WhoWrote:
    """Run a program to a location and on, and report the writes of a value.

    Raises:
        DebuggerError: NOT_SUPPORTED for what is no variable, NOT_FOUND if the location is never
        reached, EVALUATION_FAILED.
    """
    began = asyncio.get_running_loop().time()
    variable = php_sources.parse_variable(request.expression)
    if variable is None:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{request.expression} is no variable, property or element",
            hint=request.no_value_hint,
        )
    if "$" in variable.keys:
        variable = await _resolve_keys(question, request, variable)
    lines = await asyncio.to_thread(_find_lines, question, request, variable)
    notes = []
    if len(lines) > _LINES_MAX:
        notes.append(f"of {len(lines):,} statements the first {_LINES_MAX} were watched")
        lines = lines[:_LINES_MAX]
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "writes.jsonl"))
        run = await _record_run(question, request, variable, lines, path)
        records = _read_records(path)
    writes, own = _find_writes(records, lines, variable)
    notes += [*own, *([_CHILD] if run.is_child else [])]
    before = [one for one in writes if not one.is_after]
    if len(before) > request.limit:
        notes.append(_LIMIT.format(request.limit, len(before)))
    shown = [*before[-request.limit :], *[one for one in writes if one.is_after][: request.limit]]
    answer = build_writers_answer(
        request.expression, request.place, run.value, shown, run.passed, misses_same=True
    )
    count = f"{len(lines)} statement{'s' * (len(lines) != 1)}"
    return msgspec.structs.replace(
        answer,
        method=_METHOD.format(count, "s" * (len(lines) == 1)),
        adapter="xdebug",
        timed_out=run.timed_out,
        took_s=round(asyncio.get_running_loop().time() - began, 1),
        notes=tuple(dict.fromkeys(notes)),
    )


async def _resolve_keys(
    question: QuestionRun, request: WriteRequest, variable: PhpVariable
) -> PhpVariable:
    """Replace variables in the subscripts by their values at the location."""
    keys = re.findall(r"\[([^\[\]]*)\]", variable.keys)
    specs = (request.at,)
    async with question_run.run_question(replace(question, breakpoints=specs)) as run:
        session = run.session_of(await reach_location(run, request))
        found = [await _evaluate(session, request, key) if "$" in key else key for key in keys]
    return msgspec.structs.replace(variable, keys="".join(f"[{one}]" for one in found))


def _find_lines(
    question: QuestionRun, request: WriteRequest, variable: PhpVariable
) -> list[NamingLine]:
    """Return the statements that name the variable: those of the location's file first."""
    target = question.target
    script = getattr(target, "program", None)
    folders = [str(getattr(target, "cwd", "."))]
    files = [Path(one) for one in (request.at.file, script) if one]
    files += project_files(folders, _SUFFIXES)
    found: dict[tuple[str, int], NamingLine] = {}
    named = dict.fromkeys(each.resolve() for each in files)
    for file in with_text(named, variable.name, size_max=_BYTES_MAX):
        text = file.read_text("utf-8", "replace")
        for one in php_sources.find_naming_lines(str(file), text, variable):
            known = found.get((one.file, one.line))
            if known is None or (one.may_write and not known.may_write):
                found[one.file, one.line] = one
    lines = list(found.values())
    if request.scope is not None and not variable.operator:
        path, first, last = request.scope
        lines = [one for one in lines if one.file == path and first <= one.line <= last]
    return lines


async def _record_run(
    question: QuestionRun,
    request: WriteRequest,
    variable: PhpVariable,
    lines: Sequence[NamingLine],
    path: str,
) -> _LocationRun:
    """Run to the location and on."""
    until = (request.until,) if request.until is not None else ()
    recording = tuple(
        BreakpointSpec(
            file=one.file,
            line=one.line,
            condition=php_sources.recording_code(number, variable, one, path),
        )
        for number, one in enumerate(lines)
    )
    specs = (request.at, *until, *recording)
    async with question_run.run_question(replace(question, breakpoints=specs)) as run:
        stop = await reach_location(run, request)
        session = run.session_of(stop)
        value = await _evaluate(session, request, request.expression)
        here = NamingLine("", 0, variable.owner, _naming(variable), may_write=False)
        if variable.operator == "::$":
            here = msgspec.structs.replace(here, owner="")
        await _evaluate(session, request, php_sources.recording_code(_MARK, variable, here, path))
        passed = None
        if not variable.operator:
            frame = await session.run_job(lambda: inspection.frame_of(session, request.frame))
            thread = stop.thread if stop.thread is not None else 0
            passed = await session.run_job(
                lambda: passing_call(session, f"${variable.name}", frame, thread)
            )
        await _run_on(run, session, has_until=bool(until))
        is_child = session is not run.session
        return _LocationRun(value, passed, timed_out=session.last_stop is None, is_child=is_child)


async def _run_on(run: RunningQuestion, session: Session, *, has_until: bool) -> None:
    """Run to the end of the request: `until`, or the program's end."""
    for _ in range(100_000):
        stop = await run.go_on_alone(session)
        if stop.state != State.STOPPED.value:
            return
        if has_until and 2 in stop.hit_breakpoints:  # noqa: PLR2004 - the second is `until`
            return
        if not stop.hit_breakpoints:
            return


def _naming(variable: PhpVariable) -> str:
    return f"{variable.owner}{variable.operator or '$'}{variable.name}{variable.keys}"


async def _evaluate(session: Session, request: WriteRequest, expression: str) -> str:
    frame = await session.run_job(lambda: inspection.frame_of(session, request.frame or None))
    try:
        value = await session.run_job(
            lambda: session.backend.evaluate(expression, frame, EvaluationPurpose.PRINT)
        )
    except DebuggerError as error:
        raise request.expression_error(error) from error
    return value.value


def _read_records(path: str) -> list[_PhpRecord]:
    try:
        lines = Path(path).read_bytes().splitlines()
    except OSError:
        return []
    return [msgspec.json.decode(one, type=_PhpRecord) for one in lines]


def _find_writes(
    records: Sequence[_PhpRecord], lines: Sequence[NamingLine], variable: PhpVariable
) -> tuple[list[ValueWrite], list[str]]:
    """Return the writes of the variable that is meant at the location, and notes."""
    mark = next((one for one in records if one.number == _MARK), None)
    if mark is None:
        return [], []
    notes = [_CUT] if any(one.is_cut for one in records) else []
    # Each process counts the owners by itself.
    own = [one for one in records if (one.owner, one.pid) == (mark.owner, mark.pid)]
    is_global = not variable.operator and any(_is_of_global(one, lines) for one in own)
    if is_global:
        own = [one for one in records if one is mark or _is_of_global(one, lines)]
        own = [one for one in own if one.pid == mark.pid]
    writes = []
    for change in _find_changes(own, is_global=is_global):
        line = lines[change.record.number]
        if not line.may_write:
            line = _find_loop(lines, line) or line
        if not line.may_write:
            notes.append(_UNSEEN.format(Path(line.file).name, line.line))
        writes.append(
            ValueWrite(
                stack=_to_stack(line, change.record),
                old=change.old,
                new=change.new,
                is_after=change.is_after,
            )
        )
    return writes, notes


def _is_of_global(record: _PhpRecord, lines: Sequence[NamingLine]) -> bool:
    is_line = 0 <= record.number < len(lines)
    return not record.stack or (is_line and lines[record.number].in_global_scope)


def _find_changes(records: Sequence[_PhpRecord], *, is_global: bool) -> Iterator[_ChangedValue]:
    """Yield each change of the value from one record to the next: the earlier statement made it."""
    before: _PhpRecord | None = None
    old: str | None = None
    is_after = False
    for one in records:
        text = one.global_text if is_global else one.text
        if before is not None and before.number != _MARK and text != old:
            yield _ChangedValue(before, old, text, is_after)
        is_after = is_after or one.number == _MARK
        # The statement at the location is recorded where the program stands, before it has run.
        if one.number != _MARK or before is None:
            before = one
        old = text


def _find_loop(lines: Sequence[NamingLine], line: NamingLine) -> NamingLine | None:
    """Return the loop above a statement that writes the variable at each turn."""
    above = [
        one
        for one in lines
        if one.is_loop and one.may_write and one.file == line.file and one.line <= line.line
    ]
    return max(above, key=lambda one: one.line, default=None)


def _to_stack(line: NamingLine, record: _PhpRecord) -> tuple[WriteLocation, ...]:
    stack = list[WriteLocation]()
    file, number = line.file or None, line.line or None
    for name, caller, at in record.stack:
        stack.append(WriteLocation(name, file, number))
        file, number = caller, at
    stack.append(WriteLocation("{main}", file, number))
    return tuple(stack)
