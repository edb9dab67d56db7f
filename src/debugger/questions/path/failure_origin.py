"""Traces a failing run's failure back to the calls that it comes from.

A check that compared two values is evaluated in a second run, and the wrong value is looked for in
what the recorded calls returned. Any other exception comes from the calls that it left, and from
what these called last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import Struct, structs

from debugger.errors import DebuggerError
from debugger.model.hit_filter import HitFilter
from debugger.output.location_text import short_name
from debugger.questions.path.answer import (
    FailedCheckView,
    OriginView,
    PathAnswer,
    SourceLineView,
    SuspectView,
)
from debugger.questions.probe.probe_arguments import parse_probe_points, take_probes
from debugger.questions.probe.probe_points import HitRange
from debugger.questions.recordings import function_lookup, recorded_run
from debugger.questions.recordings.answer import ValueView
from debugger.questions.recordings.recorded_run import RecordedProgram, RecordedRun
from debugger.questions.runner.command_call import CommandCall
from debugger.recorders import call_tree
from debugger.recorders.call_tree import CallNode
from debugger.recorders.line_effect import LineEffect, classify_line
from debugger.recorders.model import LinesHit, Recording
from debugger.recorders.value_origin import (
    FailingStack,
    LeftCall,
    TextOrigin,
    find_failing_stack,
    find_origin,
)
from debugger.sources.failed_check import FailedCheck, find_failed_check

_ORIGINS = 4
_CALLERS = 3
_DEPTH = 3  # calls above it: a module, its main function, and one that the program may be
_OUTERMOST = 2  # calls: a module, and its main function
_LINES = 8  # of the function that is suspected first
_TELLING = 3  # characters of a value that is looked for
_LONG = 120  # characters of a value that is looked for as it is
# Evaluated in the program: the first value from where it differs from the second.
_WINDOW = (
    "(lambda a, b: next((a[max(i - n, 0):i + 2 * n] for n in [40 if isinstance(a, str) else 1] "
    "for i in range(min(len(a), len(b))) if a[i] != b[i]), a[min(len(a), len(b)) - 1:]))"
)
_GIVEN = "gave the wrong value on, and no call had returned it"
_RETURNED = "the wrong value is first seen in its result"
_WITHIN = "called by {}, whose result is wrong"
_BEFORE = "called before {} gave the wrong value on"
_OPEN = "under way when {} had the wrong value"
_RAISED = "raised it"
_EARLIER = "called before that"
_CALLED = "called what raised it"

# Functions by file and name, with their executed lines.
_Lines = Mapping[tuple[str, str], tuple[int, ...]]


class _Candidate(Struct, frozen=True):
    call: CallNode
    reason: str
    value: str | None = None
    line: int = 0  # the last executed line, if known


class _Failure(Struct, frozen=True):
    stack: FailingStack
    check: FailedCheck | None


async def trace_failure(
    call: CommandCall, program: RecordedProgram | None, ran: RecordedRun, answer: PathAnswer
) -> PathAnswer:
    """Add the failure of a run to an answer, and order its suspects by the failure's origin."""
    recording = ran.recording
    roots = call_tree.build_trees(recording)
    stack = find_failing_stack(recording, roots)
    if stack is None:
        return answer
    failure = _Failure(stack, _check_at(recording, stack.calls[0]))
    if failure.check is None and stack.error.startswith("SystemExit"):
        return answer  # the program's end, and no failure's place
    values: tuple[str, str] | None = None
    notes: tuple[str, ...] = ()
    if failure.check is not None and program is not None and program.is_python:
        try:
            values = await _take_operands(call, program, recording, failure)
        except DebuggerError as error:
            notes = (f"the values of the check were not taken: {error.message}",)
    executed = _executed_lines(recording)
    candidates = list(_candidates(recording, roots, failure, values))
    # A function of one line only hands on what it calls.
    own = [one for one in candidates if len(_lines_of(recording, one, executed)) > 1]
    # What ran in failing runs alone may have made the difference.
    new = {(one.file, one.function) for one in answer.suspect_lines}
    own.sort(key=lambda one: _function_key(recording, one) not in new)
    # In the script's outermost calls nearly everything is below the value.
    is_known = any(
        one.reason in {_RETURNED, _GIVEN} and _depth(one.call) >= _DEPTH for one in candidates
    )
    origins = _origin_views(recording, own or candidates, executed, answer)
    return structs.replace(
        answer,
        failure=_failure_view(recording, failure, values),
        origins=origins,
        is_origin_known=is_known,
        suspect_lines=_by_origin(answer.suspect_lines, origins if is_known else ()),
        notes=(*answer.notes, *notes),
    )


def _check_at(recording: Recording, left: LeftCall) -> FailedCheck | None:
    file = recording.find_function(left.call.function).file
    source = "\n".join(function_lookup.lines_of(file))
    return find_failed_check(source, left.line) if file.endswith(".py") else None


async def _take_operands(
    call: CommandCall, program: RecordedProgram, recording: Recording, failure: _Failure
) -> tuple[str, str] | None:
    """Evaluate the operands of the failed check in a second run, where it fails first."""
    check = failure.check
    assert check is not None
    operands = (check.left, check.right)
    windows = (f"{_WINDOW}({a}, {b})" for a, b in (operands, operands[::-1]))
    assert program.question is not None
    file = recording.find_function(failure.stack.calls[0].call.function).file
    script = program.launch.program
    near = str(Path(script).parent) if script else program.launch.cwd
    question = replace(program.question, name="diff")
    points = parse_probe_points(
        replace(call, cwd=near),
        question,
        [(f"{file}:{check.line}", ", ".join([*operands, *windows]))],
        HitFilter(conditions=(check.fails_if,)),
        also=(call.cwd,),
    )

    async def no_engine() -> None:
        raise NotImplementedError

    probe = await take_probes(
        call,
        question,
        points,
        HitRange(last=1),
        by=None,
        rows=2,
        is_free=True,
        ask_free=no_engine,  # type: ignore[arg-type]  # native programs alone use it
        each=1,
    )
    failed = [one.failed for one in probe.places[0].columns]
    if not probe.rows or any(failed[:2]):
        return None
    values = probe.rows[0].values
    # Of long values the part is wanted where they differ.
    is_long = not any(failed[2:]) and max(map(len, values[:2])) > _LONG
    wrong, right = values[2:] if is_long else values[:2]
    return wrong, right


def _candidates(
    recording: Recording,
    roots: Sequence[CallNode],
    failure: _Failure,
    values: tuple[str, str] | None,
) -> Iterator[_Candidate]:
    """Return the calls that the failure comes from, the nearest to the cause first."""
    if values is not None and min(map(len, values)) >= _TELLING:
        found = find_origin(roots, *values)
        if found is not None:
            yield from _candidates_of(recording, found)
            return
    stack = failure.stack.calls
    if failure.check is not None and len(stack) <= _OUTERMOST:
        return  # a check of the script or the test itself: only its values tell anything
    innermost, *outer = stack
    if failure.check is not None and outer:
        yield _Candidate(outer[0].call, _CALLED, line=outer[0].line)
    yield _Candidate(innermost.call, _RAISED, line=innermost.line)
    for one in reversed(innermost.call.children[-2:]):
        yield _Candidate(one, _EARLIER, one.value)
    for left in outer[:1]:
        yield _Candidate(left.call, _CALLED, line=left.line)


def _candidates_of(recording: Recording, found: TextOrigin) -> Iterator[_Candidate]:
    maker = found.call.parent if found.argument else found.call
    if maker is None:
        return
    name = short_name(recording.find_function(maker.function).name)
    yield _Candidate(maker, _GIVEN if found.argument else _RETURNED, found.text)
    for one in found.callees:
        yield _Candidate(one, (_BEFORE if found.argument else _WITHIN).format(name), one.value)
    for one in found.generators:
        yield _Candidate(one, _OPEN.format(name), one.value)


def _failure_view(
    recording: Recording, failure: _Failure, values: tuple[str, str] | None
) -> FailedCheckView:
    left, check = failure.stack.calls[0], failure.check
    function = recording.find_function(left.call.function)
    has_values = check is not None and values is not None
    return FailedCheckView(
        function=function.name,
        file=function.file,
        line=left.line,
        text=function_lookup.line_text(function.file, left.line),
        error=failure.stack.error,
        wrong=ValueView(check.left, values[0]) if check and values and has_values else None,
        right=ValueView(check.right, values[1]) if check and values and has_values else None,
    )


def _origin_views(
    recording: Recording,
    candidates: Sequence[_Candidate],
    executed: _Lines,
    answer: PathAnswer,
) -> tuple[OriginView, ...]:
    """Return each function once, with the lines that explain it best."""
    found: dict[tuple[str, str], OriginView] = {}
    for one in candidates:
        function = recording.find_function(one.call.function)
        key = (function.file, function.name)
        if key in found or len(found) == _ORIGINS:
            continue
        new = _new_lines(key, answer.suspect_lines)
        lines = _lines_of(recording, one, executed)
        reported = _telling_lines(function.file, lines, new, one.line)
        found[key] = OriginView(
            function=function.name,
            file=function.file,
            line=one.line or function.line,
            reason=one.reason,
            value=one.value,
            arguments=recorded_run.value_views(one.call.arguments),
            callers=tuple(_callers(recording, one.call)),
            lines=tuple(
                SourceLineView(line, function_lookup.line_text(function.file, line), line in new)
                for line in reported
            ),
            more_lines=len(lines) - len(reported),
        )
    return tuple(found.values())


def _lines_of(recording: Recording, one: _Candidate, executed: _Lines) -> tuple[int, ...]:
    return executed.get(_function_key(recording, one), ())


def _function_key(recording: Recording, one: _Candidate) -> tuple[str, str]:
    function = recording.find_function(one.call.function)
    return function.file, function.name


def _executed_lines(recording: Recording) -> _Lines:
    found: dict[tuple[str, str], set[int]] = {}
    for event in recording.events:
        if isinstance(event, LinesHit):
            function = recording.find_function(event.function)
            found.setdefault((function.file, function.name), set()).update(event.lines)
    return {key: tuple(sorted(lines)) for key, lines in found.items()}


def _new_lines(function: tuple[str, str], suspects: Iterable[SuspectView]) -> set[int]:
    return {
        line
        for one in suspects
        if (one.file, one.function) == function and not one.column
        for line in range(one.line, max(one.last, one.line) + 1)
    }


def _telling_lines(file: str, lines: Sequence[int], new: set[int], last: int) -> list[int]:
    """Return the executed lines that decide or change something: new ones, then the last ones."""
    effects = {line: classify_line(function_lookup.line_text(file, line)) for line in lines}
    some = [
        line
        for line in lines
        if effects[line] in {LineEffect.DECIDES, LineEffect.CHANGES} and (not last or line <= last)
    ]
    return sorted(sorted(some, key=lambda line: (line not in new, -line))[:_LINES])


def _callers(recording: Recording, call: CallNode) -> Iterator[tuple[str, str, int]]:
    inner: CallNode = call
    for _ in range(_CALLERS):
        outer = inner.parent
        if outer is None:
            return
        function = recording.find_function(outer.function)
        yield function.name, function.file, inner.line
        inner = outer


def _depth(call: CallNode) -> int:
    depth, outer = 0, call.parent
    while outer is not None:
        depth, outer = depth + 1, outer.parent
    return depth


def _by_origin(
    suspects: tuple[SuspectView, ...], origins: Sequence[OriginView]
) -> tuple[SuspectView, ...]:
    """Sort suspicious lines: those of the failure's origin first, else in their order."""
    order = {(one.file, one.function): at for at, one in enumerate(origins)}
    return tuple(sorted(suspects, key=lambda one: order.get((one.file, one.function), len(order))))
