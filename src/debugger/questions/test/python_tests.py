"""Explains the first failing Python test by tracing it in a second run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.model import answers
from debugger.model.events import State
from debugger.model.exception_cause import innermost_user_frame
from debugger.model.exception_cause import parse_traceback as read_traceback
from debugger.model.location import is_library
from debugger.model.statement import parse_reads
from debugger.model.text_filters import clip_text, without_traces
from debugger.questions.crash.crash_cause import explain_crash
from debugger.questions.crash.crash_facts import CrashFacts
from debugger.questions.crash.failed_condition import (
    compared_calls,
    compared_part,
    guilty_operands,
    read_guard,
    reported_operands,
)
from debugger.questions.recordings import recorded_run
from debugger.questions.recordings.recorded_run import RecordedProgram
from debugger.questions.runner import command_call, question_run
from debugger.questions.runner.answer import CallerView, ValueOrigin
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.test import test_reports
from debugger.questions.test.answer import FailedTest, SuiteAnswer
from debugger.questions.test.counted_tests import TIME_S, compare_python_tests
from debugger.questions.test.value_sources import (
    ValueLines,
    choose_origin,
    find_value_lines,
    text_at,
)
from debugger.questions.why.answer import LinkCertainty
from debugger.recorders.model import Recording, RecordingLimits, RecordingNote, RecordingOrder
from debugger.recorders.recorded_process import CompletedRun, record_run
from debugger.recorders.test_failures import FailedFrame, FailedTestRecord
from debugger.session import source_files

_COMPARED_S = 5.0  # for the comparison with passing tests, however long the tests took
_AGAIN_S = 15.0  # for what is run again after the time is up
_UNKNOWN = "which lines made its values is not known"


class TestRun(Struct, frozen=True):
    """A run of tests: its failures, the traced first failure, and notes."""

    ran: CompletedRun
    failed: tuple[FailedTestRecord, ...] = ()
    is_traced: bool = False
    again_s: float = 0.0
    notes: tuple[str, ...] = ()
    # The tests with which the first failure came again.
    repeated: tuple[str, ...] = ()


async def run_tests(program: RecordedProgram) -> TestRun:
    """Run tests to their end, and the first failed one again, traced.

    Raises:
        DebuggerError: LAUNCH_FAILED.
    """
    ran = await _run_once(program, program.patience.seconds)
    failed = failed_tests(ran)
    if not failed or failed[0].phase != "call" or program.patience.interrupted.is_set():
        return TestRun(ran, failed)
    rerun = _TracedRerun(program, ran, failed[0])
    traced = await rerun.trace_failure()
    first = traced if traced is not None else failed[0]
    notes = list(rerun.notes)
    if traced is not None and traced.limit:
        notes.append(f"not all lines that made its values are known: {traced.limit}")
    return TestRun(
        *(ran, (first, *failed[1:]), traced is not None, rerun.took_s, tuple(notes)),
        repeated=rerun.tests,
    )


def failed_tests(ran: CompletedRun) -> tuple[FailedTestRecord, ...]:
    """Return the failed tests of a run, in order."""
    found = [
        one for each in ran.recordings for one in each.events if isinstance(one, FailedTestRecord)
    ]
    # Several processes may run tests at once; the first failure in time counts.
    return tuple(sorted(found, key=lambda one: one.time_ns))


def tests_begun(recording: Recording) -> list[RecordingNote]:
    """Return the tests that one process began, in order."""
    return [
        one for one in recording.events if isinstance(one, RecordingNote) and one.kind == "test"
    ]


def tests_of_process(run: TestRun) -> list[str]:
    """Return the tests of the process in which the first test failed, in order."""
    of = run.failed[0].of
    every = [[one.text for one in tests_begun(each)] for each in run.ran.recordings]
    return next((names for names in every if of in names), [])


async def _run_once(
    program: RecordedProgram, seconds: float, *, traced: str = "", only: Sequence[str] = ()
) -> CompletedRun:
    limits = RecordingLimits(text=200, files=256)
    return await record_run(
        program.launch_argv,
        RecordingOrder(
            roots=program.source_roots, tests=True, traced=traced, only=tuple(only), limits=limits
        ),
        cwd=program.launch.cwd,
        env=program.launch.env,
        stdin=await command_call.stdin_bytes(program.launch),
        timeout_s=seconds,
        scratch_root=program.scratch,
        interrupted=program.patience.interrupted,
    )


class _TracedRerun:
    """Repeats a failed test with tracing."""

    def __init__(
        self, program: RecordedProgram, ran: CompletedRun, failed: FailedTestRecord
    ) -> None:
        self._program = program
        self._ran = ran
        self._failed = failed
        self.took_s = 0.0
        self.notes: list[str] = []
        self.tests: tuple[str, ...] = ()  # those with which it failed again

    async def trace_failure(self) -> FailedTestRecord | None:
        """Return the test's failure in the traced run; None if it did not fail again."""
        # Alone first, which is faster.
        found = await self._rerun_with(())
        if found is not None or self.notes:
            return found
        # A test may depend on state that earlier tests have left.
        before = self._tests_before()
        tests = f"{len(before):,} run"
        if before:
            found = await self._rerun_with(before)
            if found is not None:
                self.notes.append(f"it passes when run alone, and fails after the {tests} before")
                return found
        if not self.notes:
            also = f", and after the {tests} before it" if before else ""
            self.notes.append(f"it passed when it was run again alone{also}: {_UNKNOWN}")
        return None

    async def _rerun_with(self, before: Sequence[str]) -> FailedTestRecord | None:
        name = self._failed.of
        total_s = self._program.patience.seconds
        remaining = total_s - self._ran.took_s - self.took_s
        # At least some time, even if the first run has used nearly all of it.
        seconds = max(remaining, min(_AGAIN_S, total_s / 2))
        ran = await _run_once(self._program, seconds, traced=name, only=(*before, name))
        self.took_s += ran.took_s
        found = [one for one in failed_tests(ran) if one.of == name and one.phase == "call"]
        same = [one for one in found if _is_same(one, self._failed)]
        if same:
            self.tests = (*before, name)
            return same[0]
        begun = [one.text for each in ran.recordings for one in tests_begun(each)]
        if found:
            self.notes.append(
                f"when it was run again it failed otherwise ({found[0].type}): {_UNKNOWN}"
            )
        elif ran.is_timed_out:
            self.notes.append(f"run again, it had not failed after {seconds:g} s: {_UNKNOWN}")
        elif name not in begun:
            self.notes.append(f"it could not be run again alone: {_UNKNOWN}")
        return None

    def _tests_before(self) -> list[str]:
        """Return the earlier tests of the same process."""
        for one in self._ran.recordings:
            if any(event is self._failed for event in one.events):
                begun = [each.text for each in tests_begun(one)]
                return begun[: begun.index(self._failed.of)] if self._failed.of in begun else []
        return []


def _is_same(one: FailedTestRecord, other: FailedTestRecord) -> bool:
    if one.type != other.type or one.name != other.name:
        return False
    lines = [each.frames[0].line if each.frames else 0 for each in (one, other)]
    return lines[0] == lines[1]


_METHOD = "recorded inside Python"
_TRACED = "then recorded inside Python"
_STUCK_S = 3.0  # seconds in one test that count as a hang
_LOCALS = 10  # locals of the failing frame
_CALLERS = 5
_OTHERS = 20  # failed tests after the first
_MESSAGE = 160  # characters
_DEEPER = 3  # functions that are named
_OUTPUT = 8  # last lines
_PYTEST_NOTHING = (4, 5)  # its exit statuses: a wrong command line, and no tests
_DULL = frozenset({"self", "cls"})  # of a test's class: what it has of the runner's
_NO_VALUES = ("<function", "<module", "<class")
_ERROR = re.compile(r"\bERROR:|\berror:|Error\b")
_NOT_IMPORTED = re.compile(r"Failed to import test module: ")
_DECIDED = frozenset({"failed", "passed"})
_LIST = {
    "pytest": "the tests that there are: pytest --collect-only -q",
    "unittest": "the tests that there are: python -m unittest discover -v",
}


async def add_spectrum(
    program: RecordedProgram, run: TestRun, answer: SuiteAnswer, spent_s: float
) -> SuiteAnswer:
    """Add what the first failing test ran that passing tests beside it did not.

    Args:
        program: The tests' command.
        run: The tests' run.
        answer: What is known of the failure.
        spent_s: What the answer has taken so far.
    """
    if not run.failed or run.failed[0].phase != "call" or run.ran.is_timed_out:
        return answer
    seconds = min(TIME_S, max(program.patience.seconds - spent_s, _COMPARED_S))
    found = await compare_python_tests(program, run.failed, tests_of_process(run), seconds=seconds)
    return msgspec.structs.replace(answer, spectrum=found)


async def keep_failing_test(question: QuestionRun, answer: SuiteAnswer) -> SuiteAnswer:
    """Run the tests again under the debugger, up to the assertion's line, and keep the session.

    Raises:
        DebuggerError: What starting the program raises; ADAPTER_DIED.
    """
    async with question_run.run_question(question) as run:
        stop = await run.wait_first()
        if stop.state != State.STOPPED.value:
            note = "run again under the debugger, it did not reach the assertion"
            return msgspec.structs.replace(answer, notes=(*answer.notes, note))
        stopped = run.keep_stopped(stop)
        note = "it is stopped where the line is come to first, before it fails"
        return msgspec.structs.replace(answer, notes=(*answer.notes, note), session=stopped)


def report_tests(run: TestRun, program: RecordedProgram) -> SuiteAnswer:
    """Build the answer about a run."""
    ran, failed = run.ran, run.failed
    view = (
        recorded_run.recorded_run_view(program, ran, ran.recordings[0]) if ran.recordings else None
    )
    lines = tuple("".join(one.text for one in ran.output).splitlines())
    runner = failed[0].runner if failed else _runner_name(program)
    notes = [*run.notes, *_run_notes(ran)]
    if failed:
        first = _import_failure(failed[0], program.launch.cwd)
        origin = find_value_lines(first.frames[0], first.setup) if first.frames else ValueLines()
        answer = _failure_answer(first, failed, origin, program.launch.cwd)
        notes += [
            *_unknown_origin(first, origin, is_traced=run.is_traced),
            *_time_limit_note(ran, program),
        ]
    else:
        answer, more = _no_failure_answer(ran, lines, runner, program)
        notes += more
    shown, _ = without_traces(_output_lines(lines))
    return msgspec.structs.replace(
        answer,
        runner=runner,
        summary=test_reports.of_python(lines),
        output=() if answer.outcome in _DECIDED or answer.errors else shown[-_OUTPUT:],
        output_total=len(lines),
        output_dropped=max(ran.printed - sum(len(one.text) for one in ran.output), 0),
        exit_code=ran.status,
        exit_signal=view.exit_signal if view is not None else None,
        took_s=round(ran.took_s + run.again_s, 3),
        method=_TRACED if run.is_traced else _METHOD,
        timed_out=ran.is_timed_out,
        notes=tuple(dict.fromkeys(notes)),
    )


def _runner_name(program: RecordedProgram) -> str:
    words = " ".join(program.words)
    return next((one for one in ("pytest", "unittest") if one in words), "python")


def _unknown_origin(first: FailedTestRecord, origin: ValueLines, *, is_traced: bool) -> list[str]:
    """Return a note on values of unknown origin, with a command that shows it."""
    notes = []
    if origin.omitted:
        notes.append(
            f"of the lines its values come from the last {len(origin.views)} are shown, "
            f"{origin.omitted:,} before them are left out"
        )
    deeper = list(dict.fromkeys(one.function for one in origin.without_lines))
    if deeper:
        notes.append(
            "so many calls deep, lines were not kept, of "
            f"{', '.join(deeper[-_DEEPER:])}: debugger calls {deeper[-1].rpartition('.')[2]} -- CMD"
        )
    if origin.unexplained and is_traced and first.frames:
        frame = first.frames[0]
        names, last = ", ".join(origin.unexplained), origin.unexplained[-1]
        notes.append(
            f"no line of the test or its setup was seen that made {names}: "
            f"debugger who-wrote {last} --at {Path(frame.file).name}:{frame.line} -- CMD"
        )
    return notes


def _failure_answer(
    first: FailedTestRecord, failed: Sequence[FailedTestRecord], origin: ValueLines, cwd: str
) -> SuiteAnswer:
    """Build the answer: the first failed test with its values, the others by name."""
    frame = first.frames[0] if first.frames else None
    facts = _failure_facts(first, frame)
    found = explain_crash(facts)
    # The value of a field is not recorded with the failure, but may be followed.
    culprit = next(iter(facts.reported), "") if found.kind == "exception" else ""
    culprit = culprit or found.culprit
    is_collected = first.phase == "collect"
    kind = "assertion" if first.is_assertion else found.kind
    operands, locals_ = _split_locals(frame)
    value = dict(frame.locals).get(culprit) if frame is not None else None
    why = choose_origin(culprit, value, origin.views, LinkCertainty.SEEN)
    if culprit in facts.compared:
        why = ValueOrigin(culprit)  # the line that made its object is not the one that made it
    return SuiteAnswer(
        outcome="broken" if is_collected else "failed",
        runner=first.runner,
        cause=found.text,
        kind=kind,
        test=first.name,
        phase=None if first.phase == "call" else first.phase,
        exception=answers.ExceptionView(first.type, first.message, first.causes),
        frame=_frame_view(0, frame) if frame is not None else None,
        source=source_files.failure_lines(frame.file, frame.line) if frame else (),
        values=operands,
        locals=locals_[:_LOCALS],
        locals_total=len(locals_),
        made=origin.views,
        why=why,
        inside=_library_frame(first, cwd),
        callers=tuple(_caller_view(at, one) for at, one in enumerate(first.frames[1:], 1))[
            :_CALLERS
        ],
        others=tuple(_other_failure(one) for one in failed[1 : 1 + _OTHERS]),
        failed=len(failed),
    )


def _import_failure(failed: FailedTestRecord, cwd: str) -> FailedTestRecord:
    """Return the import error of a module, which unittest reports as text only."""
    lines = failed.message.splitlines()
    traced = read_traceback(lines) if lines and _NOT_IMPORTED.match(lines[0]) else None
    if traced is None:
        return failed
    place = innermost_user_frame(traced, lambda file: is_library(file, cwd))
    return msgspec.structs.replace(
        failed,
        phase="collect",
        type=traced.type,
        message=traced.message,
        name=lines[0].rpartition(": ")[2],
        frames=(FailedFrame("<module>", place.file, place.line),),
        inside=None,
    )


def _failure_facts(failed: FailedTestRecord, frame: FailedFrame | None) -> CrashFacts:
    text = text_at(frame.file, frame.line) if frame is not None else ""
    read = parse_reads(text, hash_comments=True)
    known = dict(frame.locals) if frame is not None else {}
    message = failed.message
    if failed.is_assertion and not message:
        message = text.removeprefix("assert ")
    view = _frame_view(0, frame) if frame is not None else None
    guard = read_guard(view)
    part = compared_part(view, known) if failed.is_assertion else ""
    return CrashFacts(
        function=frame.function if frame is not None else "",
        place=f"{Path(frame.file).name}:{frame.line}" if frame is not None else "",
        exception="AssertionError" if failed.is_assertion else failed.type,
        message=clip_text(message, 300),
        accesses=read.accesses,
        operands=tuple(one for one in read.operands if known.get(one, "") not in {"", message}),
        guilty=guilty_operands(frame.file, frame.line, known) if frame is not None else (),
        reported=reported_operands(view, guard, read.operands, known) if not failed.causes else (),
        compared=(part,) if part else (),
        compared_calls=compared_calls(view, guard, known),
        values=known,
    )


def _split_locals(
    frame: FailedFrame | None,
) -> tuple[tuple[answers.VariableView, ...], tuple[answers.VariableView, ...]]:
    """Split the locals into those that the statement reads, and the others."""
    if frame is None:
        return (), ()
    read = parse_reads(text_at(frame.file, frame.line), hash_comments=True)
    named = {*read.operands, *(one.base for one in read.accesses)}
    views = [
        answers.VariableView(name, text)
        for name, text in frame.locals
        if name not in _DULL and not text.startswith(_NO_VALUES)
    ]
    first = tuple(one for one in views if one.name in named)
    return first, tuple(one for one in views if one.name not in named)


def _frame_view(at: int, frame: FailedFrame) -> answers.FrameView:
    return answers.FrameView(at, frame.function, frame.file, frame.line)


def _library_frame(failed: FailedTestRecord, cwd: str) -> answers.FrameView | None:
    """Return the library function that raised, unless it is the runner's own assertion."""
    one = failed.inside
    if one is None or failed.is_assertion or not is_library(one.file, cwd):
        return None
    return answers.FrameView(0, one.function, one.file, one.line)


def _caller_view(at: int, frame: FailedFrame) -> CallerView:
    text = text_at(frame.file, frame.line)
    read = parse_reads(text, hash_comments=True)
    named = {*read.operands, *(one.base for one in read.accesses)} - _DULL
    values = [answers.VariableView(name, one) for name, one in frame.locals if name in named]
    return CallerView(_frame_view(at, frame), text, tuple(values[:4]))


def _other_failure(failed: FailedTestRecord) -> FailedTest:
    first = failed.message.strip().partition("\n")[0]
    message = f"{failed.type}: {first}" if first else failed.type
    frame = _frame_view(0, failed.frames[0]) if failed.frames else None
    return FailedTest(failed.name, clip_text(message, _MESSAGE), frame)


def _no_failure_answer(
    ran: CompletedRun, lines: Sequence[str], runner: str, program: RecordedProgram
) -> tuple[SuiteAnswer, list[str]]:
    """Build the answer about tests without a failure."""
    last = _last_begun(ran)
    if ran.is_timed_out:
        return SuiteAnswer("running", runner, test=last), _unfinished_note(ran, program)
    if ran.status == 0 and not test_reports.ran_nothing(lines):
        return SuiteAnswer("passed", runner), []
    if ran.status == 0 or ran.status in _PYTEST_NOTHING or test_reports.ran_nothing(lines):
        errors = [one for one in test_reports.without_colours(lines) if _ERROR.search(one)]
        answer = SuiteAnswer("nothing", runner, errors=tuple(errors[-4:]))
        return answer, [_LIST[runner]] if runner in _LIST else []
    traced = read_traceback(test_reports.without_colours(lines))
    if ran.signal is not None or traced is None:
        return SuiteAnswer("crashed", runner, test=last), [
            "no test that failed was seen; if it crashed: debugger crash -- CMD"
        ]
    place = innermost_user_frame(traced, lambda file: is_library(file, program.launch.cwd))
    facts = CrashFacts(
        function=place.function,
        place=f"{Path(place.file).name}:{place.line}",
        exception=traced.type,
        message=traced.message,
    )
    found = explain_crash(facts)
    return (
        SuiteAnswer(
            "broken",
            runner,
            cause=found.text,
            kind=found.kind,
            frame=answers.FrameView(0, place.function, place.file, place.line),
            source=source_files.failure_lines(place.file, place.line),
        ),
        [],
    )


def _last_begun(ran: CompletedRun) -> str | None:
    """Return the last begun test of all processes."""
    begun = [one.text for each in ran.recordings for one in tests_begun(each)]
    return begun[-1] if begun else None


def _unfinished_note(ran: CompletedRun, program: RecordedProgram) -> list[str]:
    """Distinguish a slow run from a test that does not end, by the start of the last test."""
    begun = [
        (each.process.time_ns - ran.recordings[0].process.time_ns + one.at) / 1e9
        for each in ran.recordings
        for one in tests_begun(each)
    ]
    since = ran.took_s - max(begun, default=0.0)
    if len(begun) > 1 and since < _STUCK_S:
        tests = f"{len(begun):,} tests had begun"
        return [f"the run was ended at its limit, {tests}: debugger test --timeout 300 -- CMD"]
    return [*_time_limit_note(ran, program), "why it does not end: debugger hang --after 5 -- CMD"]


def _time_limit_note(ran: CompletedRun, program: RecordedProgram) -> list[str]:
    """Return a note that the run hit its time limit, so that more tests may fail."""
    if not ran.is_timed_out or program.patience.interrupted.is_set():
        return []
    limit = f"{program.patience.seconds:g} s"
    return [f"the run was ended at its limit of {limit} (--timeout): what came later is not known"]


def _run_notes(ran: CompletedRun) -> list[str]:
    notes = [f"the recorder could not begin: {one}" for one in ran.faults[:2]]
    for each in ran.recordings:
        notes += [
            f"the recorder failed: {one.text}"
            for one in each.events
            if isinstance(one, RecordingNote) and one.kind == "fault"
        ][:2]
    if not ran.is_timed_out:  # what was ended then was still at work
        notes += [f"ended what the tests left running: {one}" for one in ran.killed[:4]]
    return notes


def _output_lines(lines: Iterable[str]) -> list[answers.OutputLine]:
    return [answers.OutputLine("stdout", clip_text(one, 400), 0) for one in lines if one.strip()]
