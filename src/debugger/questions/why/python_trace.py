"""Follows a value of Python back to its origin, by up to four recorded runs."""

from __future__ import annotations

import ast
import asyncio
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers.frames import FrameView
from debugger.model.location import CRASH, FAIL, nearest_lines
from debugger.questions.recordings.source_search import check_exists
from debugger.questions.runner import command_call
from debugger.questions.runner.answer import ValueOrigin
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_run import QuestionRun, describe_end
from debugger.questions.why.answer import LinkCertainty, Why
from debugger.questions.why.origin_records import OpenEnd, OriginRecord, decode_record
from debugger.questions.why.python_chain import build_chain
from debugger.questions.why.python_runs import (
    RUNS_MOST,
    CountedHit,
    LocatedHit,
    describe_recording,
    is_better,
    plan_last_hit,
    plan_next_run,
    plan_window,
)
from debugger.questions.why.shared_objects import (
    describe_change,
    find_cached_origin,
    find_changed_origin,
)
from debugger.questions.why.why_request import (
    WhyRequest,
    repeat_with,
    require_innermost,
)
from debugger.recorders.model import OriginOrder, Recording, RecordingNote, RecordingOrder
from debugger.recorders.recorded_process import (
    CompletedRun,
    record_run,
    require_recording,
    roots_of,
)
from debugger.recorders.test_failures import FailedTestRecord
from debugger.session import source_files

# What one run records where all values of an exception are asked about: seldom more runs follow.
_STATEMENTS_OF_EVENT = 12_000
_LINKS_MOST = 80  # each is in the record already, and those that hand a value on say little
_Found = tuple[Why, OpenEnd | None, LocatedHit]
_NO_EVENT = {
    CRASH: ("the program did not end with an exception", "debugger why EXPR --at FILE:LINE -- CMD"),
    FAIL: (
        "no test failed in the program's own code",
        "debugger why EXPR --at crash -- CMD takes an exception",
    ),
}


async def trace_value(
    call: CommandCall,
    question: QuestionRun,
    request: WhyRequest,
    runs: TracedRuns | None = None,
) -> Why:
    """Run a program, and follow the value of an expression at a location back.

    Args:
        call: The command's call.
        question: The run of the program.
        request: The expression and the location.
        runs: What was recorded for further expressions at the same event, and for this one.

    Raises:
        DebuggerError: NOT_FOUND if the location is not reached, EVALUATION_FAILED for an
        expression without a value there, NOT_SUPPORTED for what cannot be followed.
    """
    require_innermost(request)
    if runs is None:
        runs = TracedRuns(call, question, request)
        await runs.choose_failing_test()
    first = runs.first_order(request)
    order: OriginOrder | None = first
    answer: Why | None = None
    located: LocatedHit | None = None
    before: OpenEnd | None = None
    while order is not None:
        ran = await runs.record(order)
        found = _read_hit(request, ran, runs.number_of(request))
        if found is None and answer is None and runs.choose_all_tests():
            continue
        if found is None and answer is None:
            following = plan_last_hit(first, order, _counted_hit(ran, runs.number_of(request)))
            if following is not None and runs.has_time():
                order = following
                continue
        if found is None:
            if answer is None:
                raise _no_hit(request, ran)
            notes = (*answer.notes, f"run {runs.count} did not come to {request.place}")
            answer = msgspec.structs.replace(answer, notes=notes)
            break
        fresh, end, at = found
        if is_better(fresh, answer):
            notes = fresh.notes
            if located is not None and located.calls != at.calls:
                known = f"{at.calls:,} calls before it, and {located.calls:,} in run 1"
                notes = (*notes, f"the runs differ: {known}")
            answer = msgspec.structs.replace(
                fresh, method=describe_recording(order, at), notes=notes
            )
        located = located or at
        is_late = runs.count >= RUNS_MOST or ran.is_timed_out or not runs.has_time()
        order = None if is_late else plan_next_run(order, at, fresh, end, before)
        before = end
    assert answer is not None
    return msgspec.structs.replace(answer, runs=runs.count, took_s=round(runs.took_s, 1))


async def trace_cached(runs: TracedRuns) -> ValueOrigin | None:
    """Return the origin of a value at a crash that another call had stored; None without one.

    Raises:
        DebuggerError: What a run raises.
    """
    return await _trace_shared(runs, find_cached_origin)


async def trace_changed(runs: TracedRuns, frame: FrameView) -> ValueOrigin | None:
    """Return the origin of a shared object that was changed in place before a test failed.

    Args:
        runs: The runs of the tests.
        frame: Where the test failed; None is returned for another failure.

    Raises:
        DebuggerError: What a run raises.
    """

    def find_changed(record: OriginRecord) -> ValueOrigin | None:
        file, _, line = record.frame
        is_same = Path(file).name == Path(frame.file or "").name and line == frame.line
        found = find_changed_origin(record) if is_same else None
        if found is None or found.certainty == LinkCertainty.INFERRED.value:
            return found
        return msgspec.structs.replace(found, certainty=LinkCertainty.RERUN.value)

    return await _trace_shared(runs, find_changed)


def runs_at(
    call: CommandCall,
    question: QuestionRun,
    event: str,
    expressions: Sequence[str] = (),
    tests: Sequence[str] = (),
) -> TracedRuns:
    """Return the runs that record the values of some expressions at an event, and what is there.

    An expression that is not Python is passed over. If there are tests, only those run.
    """
    known = [one for one in expressions if _find_fault(one) is None]
    # Without one it is a constant: what the running calls have is looked through.
    first, *further = [*dict.fromkeys(known), "None"][: max(len(known), 1)]
    request = WhyRequest(expression=first, place=event)
    return TracedRuns(call, question, request, tuple(further), tests=tuple(tests))


async def _trace_shared(
    runs: TracedRuns, find_origin: Callable[[OriginRecord], ValueOrigin | None]
) -> ValueOrigin | None:
    """Return the origin that the records of an event show, by a second run if the first is cut."""
    order: OriginOrder | None = runs.first_order(runs.request)
    while order is not None:
        ran = await runs.record(order)
        following = None
        for recording in ran.recordings:
            text, located = _note_text(recording, "origin"), _note_text(recording, "located")
            if text is None or located is None:
                continue
            found = find_origin(decode_record(text))
            if found is not None:
                return found
            if runs.has_time():
                at = msgspec.json.decode(located, type=LocatedHit)
                following = plan_window(order, at)
        order = following
    return None


class TracedRuns:
    """The runs of one program, with the same input, arguments and environment.

    Each follows the values of all expressions, and is not repeated for the same order.
    """

    def __init__(
        self,
        call: CommandCall,
        question: QuestionRun,
        request: WhyRequest,
        further: tuple[str, ...] = (),
        *,
        tests: tuple[str, ...] = (),
    ) -> None:
        launch = question.target
        assert isinstance(launch, LaunchTarget)  # what is run, and not attached to
        self._call = call
        self._question = question
        self._launch = launch
        self._argv = command_call.launch_argv(launch)
        self._stdin: bytes | None = None
        self._completed: dict[OriginOrder, CompletedRun] = {}
        self._further = further
        self._tests = tests  # the only ones that run; none: all
        self.request = request  # of the first expression
        # Sets are in the same order in each run.
        self._env = {"PYTHONHASHSEED": "0", **launch.env}
        self.count = 0
        self.took_s = 0.0

    def first_order(self, request: WhyRequest) -> OriginOrder:
        """Return the order of the first run, which is the same for all expressions.

        Raises:
            DebuggerError: USAGE for an expression or a condition that is not Python.
        """
        order = _origin_order(request)
        return msgspec.structs.replace(
            order, expression=self.request.expression, further=self._further
        )

    def follows(self, expression: str) -> bool:
        """Return whether the runs follow the value of an expression."""
        return expression in (self.request.expression, *self._further)

    def number_of(self, request: WhyRequest) -> int:
        """Return the number of an expression among those that the runs follow."""
        return (self.request.expression, *self._further).index(request.expression)

    def has_time(self) -> bool:
        """Return whether another run of this length fits into the time limit."""
        return self.took_s * (1 + 1 / max(self.count, 1)) < self._question.patience.seconds

    async def _check_function(self) -> None:
        """Check that the program's sources have the function of the location, as far as is known.

        Raises:
            DebuggerError: NOT_FOUND, with near names.
        """
        request = self.request
        if request.at is None or request.at.function is None:
            return
        again = f"debugger why {shlex.quote(request.expression)} --at {{}} -- CMD"
        roots = roots_of(self._argv, self._launch.cwd)
        at = request.at
        await asyncio.to_thread(
            check_exists, request.place, at.file, at.function, roots, again=again
        )

    async def record(self, order: OriginOrder) -> CompletedRun:
        """Run the program once, recorded as an order says; not again for the same order.

        Raises:
            DebuggerError: What the run raises.
        """
        known = self._completed.get(order)
        if known is not None:
            return known
        if not self._completed:
            await self._check_function()
        ran = await self._run(
            RecordingOrder(
                roots=roots_of(self._argv, self._launch.cwd),
                origin=order,
                ends_run=not order.event and order.nth > 0,
                only=self._tests,
            )
        )
        self._completed[order] = ran
        return ran

    async def choose_failing_test(self) -> None:
        """Run all tests once, and choose the first that fails: recorded, all would take long.

        Raises:
            DebuggerError: What the run raises.
        """
        if self.request.event != FAIL:
            return
        roots = roots_of(self._argv, self._launch.cwd)
        ran = await self._run(RecordingOrder(roots, tests=True))
        failed = [
            one
            for each in ran.recordings
            for one in each.events
            if isinstance(one, FailedTestRecord) and one.phase == "call"
        ]
        first = min(failed, key=lambda one: one.time_ns, default=None)
        self._tests = (first.of,) if first is not None else ()

    def choose_all_tests(self) -> bool:
        """Let all tests run from now on; return whether that is new, and there is time for it."""
        is_new, self._tests = bool(self._tests), ()
        self._completed.clear()
        return is_new and self.has_time()

    async def _run(self, order: RecordingOrder) -> CompletedRun:
        if self._stdin is None:
            self._stdin = await command_call.stdin_bytes(self._launch)
        self._call.scratch_root.mkdir(mode=0o700, parents=True, exist_ok=True)
        patience = self._question.patience
        ran = await record_run(
            self._argv,
            order,
            cwd=self._launch.cwd,
            env=self._env,
            stdin=self._stdin,
            timeout_s=max(patience.seconds - self.took_s, 1.0),
            scratch_root=self._call.scratch_root,
            interrupted=patience.interrupted,
            idle_limits=patience.idle_limits,
        )
        require_recording(ran, self._argv)
        self.count += 1
        self.took_s += ran.took_s
        return ran


def _read_hit(request: WhyRequest, ran: CompletedRun, number: int) -> _Found | None:
    """Return the answer of a run, the open end of its chain, and where the run was.

    Args:
        request: The expression and the location.
        ran: A run in which it was followed.
        number: The number of the expression among those that were followed.

    Raises:
        DebuggerError: EVALUATION_FAILED for an expression without a value.
    """
    suffix = f" {number}" if number else ""
    for recording in ran.recordings:
        text = _note_text(recording, f"origin{suffix}")
        located = _note_text(recording, f"located{suffix}")
        if text is None or located is None:
            continue
        record = decode_record(text)
        if record.value is None:
            raise _no_value(request, _note_text(recording, f"condition{suffix}"))
        answer, end = build_chain(
            request.expression,
            request.place,
            record,
            recording.threads,
            _LINKS_MOST,
            shows_all=request.shows_all,
        )
        fault = _note_text(recording, "fault")
        stopped = (f"the recorder stopped early: {fault}",) if fault else ()
        notes = (*stopped, *describe_change(record))
        answer = msgspec.structs.replace(answer, timed_out=ran.is_timed_out, notes=notes)
        return answer, end, msgspec.json.decode(located, type=LocatedHit)
    return None


def _counted_hit(ran: CompletedRun, expression: int = 0) -> CountedHit | None:
    """Return the last hit that a run counted without a look at an expression's value."""
    suffix = f" {expression}" if expression else ""
    for recording in ran.recordings:
        number, located = (_note_text(recording, one + suffix) for one in ("counted", "located"))
        if number is not None and located is not None:
            return CountedHit(int(number), msgspec.json.decode(located, type=LocatedHit))
    return None


def _no_hit(request: WhyRequest, ran: CompletedRun) -> DebuggerError:
    """Return the error about a first run without the location."""
    faults = [text for one in ran.recordings if (text := _note_text(one, "fault"))]
    if faults:
        # The recorder reads sources by what `ast` has since 3.9.
        version = ran.recordings[0].process.interpreter
        is_old = version.startswith("3.8.")
        reason = f"it runs Python {version}, and 3.9 is needed" if is_old else faults[0]
        return DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"values could not be followed in this program: {reason}",
            hint=f"debugger who-wrote '{request.expression}' --at {request.place} -- CMD",
        )
    return _never_reached(request, ran)


def _origin_order(request: WhyRequest) -> OriginOrder:
    """Return the order to the recorder.

    Raises:
        DebuggerError: USAGE for an expression or a condition that is not Python.
    """
    for what, text in (("expression", request.expression), ("condition", request.when)):
        error = _find_fault(text) if text else None
        if error is not None:
            raise DebuggerError(
                ErrorCode.USAGE,
                f"the {what} {text!r} is not a Python expression: {error}",
                hint="debugger why --help",
            ) from error
    if request.event is not None:
        return OriginOrder(request.expression, event=request.event, statements=_STATEMENTS_OF_EVENT)
    at = request.at
    assert at is not None
    return OriginOrder(
        request.expression,
        file=at.file or "",
        line=at.line or 0,
        name=at.function or "",
        when=request.when,
        nth=request.nth,
    )


def _find_fault(text: str) -> Exception | None:
    """Return why a text is no Python expression; None if it is one."""
    try:
        compile(text, "<why>", "eval")
    except (SyntaxError, ValueError) as error:
        return error
    return None


def _note_text(recording: Recording, kind: str) -> str | None:
    """Return the last note of a kind."""
    found = [
        one.text for one in recording.events if isinstance(one, RecordingNote) and one.kind == kind
    ]
    return found[-1] if found else None


def _no_value(request: WhyRequest, why: str | None) -> DebuggerError:
    text = f": {why}" if why else ""
    # At an event the place of the failure names the line.
    place = "FILE:LINE" if request.event is not None else request.place
    return DebuggerError(
        ErrorCode.EVALUATION_FAILED,
        f"{request.expression} has no value at {request.place}{text}",
        hint=repeat_with("NAME", place),
    )


def _never_reached(request: WhyRequest, ran: CompletedRun) -> DebuggerError:
    recordings = ran.recordings
    if ran.is_timed_out:
        return DebuggerError(
            ErrorCode.TIMEOUT,
            f"{request.location_text()} was not reached in time",
            hint="debugger why --timeout 300 …",
        )
    counted = _counted_hit(ran)
    if counted is not None:
        met = f"{request.location_text()} was hit {counted.number:,} times"
        if request.event is not None:
            met = f"{counted.number:,} exceptions were raised before {request.place}"
        return DebuggerError(
            ErrorCode.TIMEOUT,
            f"{met}, and there was no time for a run to the last",
            hint=repeat_with(request.expression, request.place, "--timeout 300"),
        )
    if request.event is not None:
        message, hint = _NO_EVENT[request.event]
        return DebuggerError(ErrorCode.NOT_FOUND, message, hint=hint)
    hits = max((int(_note_text(one, "hits") or 0) for one in recordings), default=0)
    failed = [text for one in recordings if (text := _note_text(one, "condition"))]
    why = f": the condition could not be evaluated: {failed[0]}" if failed else ""
    if hits:
        why = f": it was reached {hits:,} time{'s' * (hits > 1)}"
    at = request.at
    if at is not None and at.file is not None and at.line is not None:
        why = why or _line_problem(at.file, at.line)
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"{describe_end(ran.status, ran.signal, ran.output_lines())}, and"
        f" {request.location_text()} was not reached{why}",
        hint=_suggest_other(request, is_reached=bool(hits)),
    )


def _suggest_other(request: WhyRequest, *, is_reached: bool) -> str:
    """Return the hint for a location that was not come to.

    Statements of libraries and generated code are not recorded; their assignments are.
    """
    at = request.at
    if is_reached:
        return repeat_with(request.expression, request.place)
    if at is not None and at.file is not None and at.line is not None:
        near = _statements_near(at.file, at.line)
        behind = [one for one in near if one > at.line] or [*near[-1:]]
        if behind:
            name = request.place.rpartition(":")[0] or at.file
            return repeat_with(request.expression, f"{name}:{behind[0]}")
    if request.at is None or request.at.function is None or request.at.file is not None:
        return "debugger path -- CMD shows what ran"
    words = f"{shlex.quote(request.expression)} --at {shlex.quote(request.place)}"
    return f"debugger who-wrote {words} -- CMD, where a library or generated code has it"


def _line_problem(file: str, line: int) -> str:
    """Say why a line can never be reached; "" if it may have code."""
    if not Path(file).is_file():
        return f": there is no file {file}"
    lines = source_files.read_source(file) or ()
    if line > len(lines):
        return f": the file has {len(lines):,} lines"
    if not (near := _statements_near(file, line)):
        return ""
    return f": line {line} has no code; nearest: {', '.join(map(str, near))}"


def _statements_near(file: str, line: int) -> tuple[int, ...]:
    """Return the lines of statements near an empty line or a comment; nothing for other lines."""
    lines = source_files.read_source(file) or ()
    text = lines[line - 1].strip() if line <= len(lines) else ""
    if line > len(lines) or (text and not text.startswith("#")):
        return ()
    try:
        tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError):
        return ()
    return nearest_lines(line, [one.lineno for one in ast.walk(tree) if isinstance(one, ast.stmt)])
