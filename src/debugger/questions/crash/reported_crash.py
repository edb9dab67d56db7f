"""Explains a crash by what the program, or a process that it started, wrote about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from debugger.model import answers, exception_cause
from debugger.model.crash_reports import PANIC, fatal_error, parse_report
from debugger.model.debugger_words import Runtime
from debugger.model.exception_cause import Traceback, TracebackFrame
from debugger.model.location import is_library
from debugger.model.node_report import NodeReport, read_node_report
from debugger.model.text_filters import without_traces
from debugger.model.typescript_refusal import typescript_notes
from debugger.questions.crash import sanitizer_report
from debugger.questions.crash.crash_cause import explain_crash
from debugger.questions.crash.crash_facts import CrashFacts
from debugger.questions.crash.crash_stops import THROWN_VALUE
from debugger.questions.runner.answer import CallerView, Crash
from debugger.questions.runner.question_run import RunningQuestion
from debugger.session import source_files

OUTPUT_MAX = 12  # last lines
PANICKED = 101  # what Rust's runtime exits with
_RECURSION, _CALLERS = 100, 6  # frames: in a recursion the callers are all the same
_PYTHON_MAX = 8
_CYCLE_MAX = 4
# The exit code of a program that an exception or a panic ends which nobody caught.
_UNCAUGHT = {Runtime.PYTHON: 1, Runtime.NODE: 1, Runtime.GO: 2, Runtime.RUBY: 1, Runtime.PHP: 255}
_BY = "the debugger did not see it: this is from the program's own {}"
_TRACEBACK, _REPORT = _BY.format("traceback"), _BY.format("report")


def may_be_of_started(answer: Crash) -> bool:
    """Return whether a process that the program started may have crashed, unseen by the debugger.

    Of a panic that was reported, and of an exception of C++, the values are not known.
    """
    if answer.outcome == "exited":
        return bool(answer.exit_code)
    is_reported = any(one in answer.notes for one in (_TRACEBACK, _REPORT))
    is_panic = answer.exception is not None and answer.exception.type == PANIC
    return is_reported and (is_panic or answer.frame is None)


def is_from_traceback(answer: Crash) -> bool:
    """Return whether only the program's own traceback shows the crash, with its line."""
    is_placed = answer.frame is not None and answer.frame.line is not None
    return _TRACEBACK in answer.notes and is_placed


def explain_from_output(
    run: RunningQuestion, last: answers.Stop, output: answers.Output, notes: Sequence[str]
) -> Crash | None:
    """Explain a crash by a sanitizer's report, or a traceback, in an ended program's output."""
    lines = run.all_output_lines() if last.exit_code else run.last_output_lines()
    found = explain_lines(lines, run.session.target.cwd)
    if found is None:
        return None
    words = found.exception
    repeated = [f"{words.type}: {words.message}"] if words is not None else []
    shown, traces = without_traces(output.lines, repeated)
    return msgspec.structs.replace(
        found,
        outcome="survived" if last.exit_code == 0 else "crashed",
        signal=last.signal,
        output=shown[-OUTPUT_MAX:],
        output_total=output.total,
        output_dropped=output.dropped,
        traces_left_out=traces,
        exit_code=last.exit_code,
        exit_signal=last.signal,
        adapter=run.session.adapter,
        usual_exit=usual_exit(run, words.type if words is not None else None),
        notes=tuple(dict.fromkeys([*found.notes, *notes, *typescript_notes(lines)])),
    )


def explain_lines(lines: Sequence[str], cwd: str) -> Crash | None:
    """Explain a crash by a report or a traceback in lines of output; None without one."""
    return _sanitizer_answer(lines) or _ended_by_v8(lines) or _traceback_answer(lines, cwd)


def python_stack(lines: Sequence[str]) -> list[str]:
    """Parse Python's own stack of a fault in compiled code, written by its faulthandler."""
    found = exception_cause.parse_traceback(lines)
    if found is None or not found.is_fatal:
        return []
    named = [f"{one.function} {Path(one.file).name}:{one.line}" for one in found.frames]
    more = f" … {len(named) - _PYTHON_MAX} more" if len(named) > _PYTHON_MAX else ""
    return [f"Python's stack then: {' < '.join(named[:_PYTHON_MAX])}{more}"]


def _sanitizer_answer(lines: Sequence[str]) -> Crash | None:
    place = sanitizer_report.summed_up(lines)
    if sanitizer_report.parse_sanitizer_report(lines) is None or place is None:
        return None
    function, file, line = place
    found = explain_crash(
        CrashFacts(function=function, place=f"{Path(file).name}:{line}", said=tuple(lines))
    )
    return Crash(
        outcome="crashed",
        cause=found.text,
        kind=found.kind,
        frame=answers.FrameView(0, function, file, line),
        source=source_files.failure_lines(file, line),
        notes=(*found.notes, _REPORT),
    )


def _ended_by_v8(lines: Sequence[str]) -> Crash | None:
    words = fatal_error(lines)
    if words is None:
        return None
    is_full = "out of memory" in words
    return Crash(
        outcome="crashed",
        cause=f"out of memory: {words}" if is_full else f"FATAL ERROR: {words}",
        kind="out_of_memory" if is_full else "abort",
        notes=(_BY.format("words"),),
    )


def _traceback_answer(lines: Sequence[str], cwd: str) -> Crash | None:
    trace = exception_cause.parse_traceback(lines)
    report = read_node_report(lines)
    if trace is None and report is None:
        trace = parse_report(lines)
    if trace is None:
        return _thrown_value(report) or _uncaught_in_cpp(lines)
    frames = [_with_whole_path(one, cwd) for one in trace.frames]
    trace = msgspec.structs.replace(trace, frames=tuple(frames))
    place = exception_cause.innermost_user_frame(trace, lambda file: _is_foreign(file, cwd))
    # What Node cannot load has no frame of its own.
    is_unreadable = trace.type == "SyntaxError" and trace.frames[0].file.startswith("node:")
    is_nodes = is_unreadable or place.file.startswith("node:")
    if report is not None and report.place is not None and is_nodes:
        place = TracebackFrame("<module>", *report.place)
    found = explain_crash(_facts_of(trace, place, report))
    causes = report.causes if report is not None else ()
    raised = answers.ExceptionView(trace.type, trace.message, causes)
    return Crash(
        outcome="crashed",
        cause=found.text,
        kind="signal" if trace.is_fatal else found.kind,
        exception=None if trace.is_fatal else raised,
        frame=answers.FrameView(0, place.function, place.file, place.line),
        source=source_files.failure_lines(place.file, place.line),
        callers=tuple(
            CallerView(answers.FrameView(at, one.function, one.file, one.line))
            for at, one in enumerate(trace.frames)
            if one != place and not _is_foreign(one.file, cwd) and trace.depth < _RECURSION
        )[:_CALLERS],
        frames_total=trace.depth,
        notes=(_TRACEBACK,),
    )


def _with_whole_path(one: TracebackFrame, cwd: str) -> TracebackFrame:
    """Return a frame with its file's path, where it is named from the working directory."""
    path = Path(cwd) / one.file
    is_relative = not one.file.startswith(("/", "<")) and path.is_file()
    return msgspec.structs.replace(one, file=str(path)) if is_relative else one


def _facts_of(trace: Traceback, place: TracebackFrame, report: NodeReport | None) -> CrashFacts:
    counted = ", ".join(_recursion_cycle(trace.frames))
    is_panic = trace.type == PANIC
    return CrashFacts(
        function=place.function,
        place=f"{Path(place.file).name}:{place.line}",
        exception=None if trace.is_fatal or is_panic else trace.type,
        message=f"{trace.message} in compiled code" if trace.is_fatal else trace.message,
        recursion=(counted, trace.depth) if counted else None,
        fields=report.fields if report is not None else "",
        is_panic=is_panic,
    )


def _uncaught_in_cpp(lines: Sequence[str]) -> Crash | None:
    """Return the exception that ended a C++ program; its runtime does not say where."""
    uncaught = exception_cause.parse_uncaught(lines)
    if uncaught is None:
        return None
    return _answer_without_stack(*uncaught, place=None)


def _thrown_value(report: NodeReport | None) -> Crash | None:
    """Return where a value that is no Error was thrown; Node writes no stack for it."""
    if report is None or report.type:
        return None
    return _answer_without_stack(THROWN_VALUE, report.message, place=report.place)


def _answer_without_stack(type_: str, message: str, *, place: tuple[str, int] | None) -> Crash:
    file, line = place or ("", 0)
    where = f"{Path(file).name}:{line}" if file else ""
    found = explain_crash(CrashFacts("", where, exception=type_, message=message))
    return Crash(
        outcome="crashed",
        cause=found.text,
        kind=found.kind,
        exception=answers.ExceptionView(type_, message),
        frame=answers.FrameView(0, "", file, line) if file else None,
        source=source_files.failure_lines(file, line) if file else (),
        notes=(_REPORT,),
    )


def _recursion_cycle(frames: Sequence[TracebackFrame]) -> list[str]:
    """Return the functions that call themselves or one another, callers first."""
    counted = Counter(one.function for one in frames)
    most = max(counted.values())
    often = dict.fromkeys(one.function for one in frames if counted[one.function] > most // 2)
    return list(often)[::-1][:_CYCLE_MAX]


def _is_foreign(file: str, cwd: str) -> bool:
    return is_library(file, cwd) or "pydevd" in file or "/debugpy/" in file


def usual_exit(run: RunningQuestion, exception_type: str | None) -> int | None:
    """Return the exit code of a program of this runtime that an exception or a panic has ended."""
    panicked = PANICKED if exception_type == PANIC else None
    return _UNCAUGHT.get(run.session.traits.runtime, panicked)
