"""Answers which of Python's tests fails, and why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from debugger.model import answers
from debugger.model.library_path import is_library
from debugger.model.stack_trace_text import without_traces
from debugger.model.state import State
from debugger.model.statement import parse_reads
from debugger.model.text_clip import clip_text
from debugger.model.traceback_text import innermost_user_frame
from debugger.model.traceback_text import parse_traceback as read_traceback
from debugger.questions.crash.crash_cause import CrashFacts, explain_crash
from debugger.questions.recordings import recorded_run
from debugger.questions.recordings.recorded_run import RecordedProgram
from debugger.questions.runner import question_run
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.test import runner_summary, traced_rerun
from debugger.questions.test.recorded_value_lines import ValueLines, find_value_lines, text_at
from debugger.questions.test.traced_rerun import TestRun, tests_begun
from debugger.recorders.model import RecordingNote
from debugger.recorders.recorded_process import CompletedRun
from debugger.recorders.test_failures import FailedFrame, FailedTestRecord
from debugger.session import source_files

_METHOD = "recorded inside Python"
_TRACED = "then recorded inside Python"
_STUCK_S = 3.0
_LOCALS = 10
_CALLERS = 5
_OTHERS = 20
_MESSAGE = 160
_DEEPER = 3  # functions that are named
_OUTPUT = 8
_PYTEST_NOTHING = (4, 5)  # its exit statuses: a wrong command line, and no tests
_DULL = frozenset({"self", "cls"})  # of a test's class: what it has of the runner's
_NO_VALUES = ("<function", "<module", "<class")
_ERROR = re.compile(r"\bERROR:|\berror:|Error\b")
_NOT_IMPORTED = re.compile(r"Failed to import test module: ")
_TOLD = frozenset({"failed", "passed"})
_LIST = {
    "pytest": "the tests that there are: pytest --collect-only -q",
    "unittest": "the tests that there are: python -m unittest discover -v",
}


async def find_failing_test(program: RecordedProgram) -> answers.Tested:
    """Run tests in Python to their end, and say why the first that failed did.

    Raises:
        DebuggerError: LAUNCH_FAILED; NOT_SUPPORTED where the interpreter cannot be looked into.
    """
    return report_tests(await traced_rerun.run_tests(program), program)


async def keep_failing_test(question: QuestionRun, answer: answers.Tested) -> answers.Tested:
    """Run the tests again under the debugger, and leave them stopped at the assertion's line.

    Raises:
        DebuggerError: What starting the program raises; ADAPTER_DIED.
    """
    async with question_run.run_question(question) as run:
        stop = await run.wait_first()
        if stop.state != State.STOPPED.value:
            note = "run again under the debugger, it did not come to the assertion"
            return msgspec.structs.replace(answer, notes=(*answer.notes, note))
        kept = run.keep_stopped(stop)
        note = "it is stopped where the line is come to first, before it fails"
        return msgspec.structs.replace(answer, notes=(*answer.notes, note), session=kept)


def report_tests(run: TestRun, program: RecordedProgram) -> answers.Tested:
    """Return what is said of a run."""
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
        summary=runner_summary.of_python(lines),
        output=() if answer.outcome in _TOLD or answer.errors else shown[-_OUTPUT:],
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
    """Say which lines that made the values are not known, and what shows them."""
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
) -> answers.Tested:
    """Tell of the first test that failed with its values, and of the others by name."""
    frame = first.frames[0] if first.frames else None
    found = explain_crash(_failure_facts(first, frame))
    is_collected = first.phase == "collect"
    kind = "assertion" if first.is_assertion else found.kind
    operands, locals_ = _split_locals(frame)
    return answers.Tested(
        outcome="broken" if is_collected else "failed",
        runner=first.runner,
        cause=found.text,
        kind=kind,
        test=first.name,
        phase=None if first.phase == "call" else first.phase,
        exception=answers.ExceptionView(first.type, first.message, first.causes),
        frame=_frame_view(0, frame) if frame is not None else None,
        source=source_files.lines_around(frame.file, frame.line, before=2, after=2)
        if frame
        else (),
        values=operands,
        locals=locals_[:_LOCALS],
        locals_total=len(locals_),
        made=origin.views,
        inside=_library_frame(first, cwd),
        callers=tuple(_caller_view(at, one) for at, one in enumerate(first.frames[1:], 1))[
            :_CALLERS
        ],
        others=tuple(_other_failure(one) for one in failed[1 : 1 + _OTHERS]),
        failed=len(failed),
    )


def _import_failure(failed: FailedTestRecord, cwd: str) -> FailedTestRecord:
    """Return what a module could not be imported for, which unittest only has as text."""
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
    return CrashFacts(
        function=frame.function if frame is not None else "",
        place=f"{Path(frame.file).name}:{frame.line}" if frame is not None else "",
        exception="AssertionError" if failed.is_assertion else failed.type,
        message=clip_text(message, 300),
        accesses=read.accesses,
        operands=tuple(one for one in read.operands if known.get(one, "") not in {"", message}),
        values=known,
    )


def _split_locals(
    frame: FailedFrame | None,
) -> tuple[tuple[answers.VariableView, ...], tuple[answers.VariableView, ...]]:
    """Return the locals that the statement reads, and the others."""
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
    """Return the library's function that raised, but for the runner's own assertions."""
    one = failed.inside
    if one is None or failed.is_assertion or not is_library(one.file, cwd):
        return None
    return answers.FrameView(0, one.function, one.file, one.line)


def _caller_view(at: int, frame: FailedFrame) -> answers.CallerView:
    text = text_at(frame.file, frame.line)
    read = parse_reads(text, hash_comments=True)
    named = {*read.operands, *(one.base for one in read.accesses)}
    values = [answers.VariableView(name, one) for name, one in frame.locals if name in named]
    return answers.CallerView(_frame_view(at, frame), text, tuple(values[:4]))


def _other_failure(failed: FailedTestRecord) -> answers.FailedTest:
    first = failed.message.strip().partition("\n")[0]
    message = f"{failed.type}: {first}" if first else failed.type
    frame = _frame_view(0, failed.frames[0]) if failed.frames else None
    return answers.FailedTest(failed.name, clip_text(message, _MESSAGE), frame)


def _no_failure_answer(
    ran: CompletedRun, lines: Sequence[str], runner: str, program: RecordedProgram
) -> tuple[answers.Tested, list[str]]:
    """Say how tests ended of which none has failed."""
    last = _last_begun(ran)
    if ran.is_timed_out:
        return answers.Tested("running", runner, test=last), _unfinished_note(ran, program)
    if ran.status == 0 and not runner_summary.ran_nothing(lines):
        return answers.Tested("passed", runner), []
    if ran.status == 0 or ran.status in _PYTEST_NOTHING or runner_summary.ran_nothing(lines):
        errors = [one for one in runner_summary.without_colours(lines) if _ERROR.search(one)]
        answer = answers.Tested("nothing", runner, errors=tuple(errors[-4:]))
        return answer, [_LIST[runner]] if runner in _LIST else []
    traced = read_traceback(runner_summary.without_colours(lines))
    if ran.signal is not None or traced is None:
        return answers.Tested("crashed", runner, test=last), [
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
        answers.Tested(
            "broken",
            runner,
            cause=found.text,
            kind=found.kind,
            frame=answers.FrameView(0, place.function, place.file, place.line),
            source=source_files.lines_around(place.file, place.line, before=2, after=2),
        ),
        [],
    )


def _last_begun(ran: CompletedRun) -> str | None:
    """Return the test that was begun last, in any process."""
    begun = [one.text for each in ran.recordings for one in tests_begun(each)]
    return begun[-1] if begun else None


def _unfinished_note(ran: CompletedRun, program: RecordedProgram) -> list[str]:
    """Tell a slow run from one whose last test does not end: by when that test began."""
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
    """Say that a run was ended at its limit, so that more may fail than is known."""
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
