"""Explains a crash that no debugger stopped at, from the program's own output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from debugger.model import answers, traceback_text
from debugger.model.debugger_traits import Runtime
from debugger.model.location import is_library
from debugger.model.text_filters import without_traces
from debugger.model.traceback_text import NodeReport, read_node_report
from debugger.questions.crash import crash_cause
from debugger.questions.crash.crash_cause import CrashFacts, explain_crash
from debugger.questions.crash.crash_stops import THROWN_VALUE
from debugger.questions.runner.answer import CallerView, Crash
from debugger.questions.runner.question_run import RunningQuestion
from debugger.session import source_files

_OUTPUT = 12  # last lines
_RECURSION = 100  # frames: there the callers are all the same
_CALLERS = 6
_PYTHON_MAX = 8
_CYCLE_MAX = 4
PANICKED = 101  # what Rust's runtime exits with
# The exit code of a program that an exception or a panic ends which nobody caught.
_UNCAUGHT = {Runtime.PYTHON: 1, Runtime.NODE: 1, Runtime.GO: 2}
_BY = "the debugger did not see it: this is from the program's own {}"


def explain_from_output(
    run: RunningQuestion, last: answers.Stop, output: answers.Output, notes: Sequence[str]
) -> Crash | None:
    """Explain a crash by a sanitizer's report, or a traceback, in an ended program's output."""
    lines = run.said_in_all() if last.exit_code else [line.text for line in output.lines]
    found = (
        _sanitizer_answer(lines)
        or _ended_by_v8(lines)
        or _traceback_answer(lines, run.session.target.cwd)
    )
    if found is None:
        return None
    words = found.exception
    repeated = [f"{words.type}: {words.message}"] if words is not None else []
    shown, traces = without_traces(output.lines, repeated)
    return msgspec.structs.replace(
        found,
        outcome="survived" if last.exit_code == 0 else "crashed",
        signal=last.signal,
        output=shown[-_OUTPUT:],
        output_total=output.total,
        output_dropped=output.dropped,
        traces_left_out=traces,
        exit_code=last.exit_code,
        exit_signal=last.signal,
        adapter=run.session.adapter,
        usual_exit=usual_exit(run, words.type if words is not None else None),
        notes=tuple(dict.fromkeys([*found.notes, *notes])),
    )


def python_stack(lines: Sequence[str]) -> list[str]:
    """Parse Python's own stack of a fault in compiled code, written by its faulthandler."""
    found = traceback_text.parse_traceback(lines)
    if found is None or not found.is_fatal:
        return []
    named = [f"{one.function} {Path(one.file).name}:{one.line}" for one in found.frames]
    more = f" … {len(named) - _PYTHON_MAX} more" if len(named) > _PYTHON_MAX else ""
    return [f"Python's stack then: {' < '.join(named[:_PYTHON_MAX])}{more}"]


def _sanitizer_answer(lines: Sequence[str]) -> Crash | None:
    place = crash_cause.summed_up(lines)
    if crash_cause.parse_report(lines) is None or place is None:
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
        source=source_files.surrounding_lines(file, line, before=2, after=2),
        notes=(*found.notes, _BY.format("report")),
    )


def _ended_by_v8(lines: Sequence[str]) -> Crash | None:
    words = traceback_text.fatal_error(lines)
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
    told, report = traceback_text.parse_traceback(lines), read_node_report(lines)
    if told is None:
        return _thrown_value(report)
    place = traceback_text.innermost_user_frame(told, lambda file: _is_foreign(file, cwd))
    if report is not None and report.place is not None and place.file.startswith("node:"):
        # What Node cannot load has no frame of its own.
        place = traceback_text.TracebackFrame("<module>", *report.place)
    counted = ", ".join(_recursion_cycle(told.frames))
    found = explain_crash(
        CrashFacts(
            function=place.function,
            place=f"{Path(place.file).name}:{place.line}",
            exception=None if told.is_fatal else told.type,
            message=f"{told.message} in compiled code" if told.is_fatal else told.message,
            recursion=(counted, told.depth) if counted else None,
            fields=report.fields if report is not None else "",
        )
    )
    causes = report.causes if report is not None else ()
    return Crash(
        outcome="crashed",
        cause=found.text,
        kind="signal" if told.is_fatal else found.kind,
        exception=None if told.is_fatal else answers.ExceptionView(told.type, told.message, causes),
        frame=answers.FrameView(0, place.function, place.file, place.line),
        source=source_files.surrounding_lines(place.file, place.line, before=2, after=2),
        callers=tuple(
            CallerView(answers.FrameView(at, one.function, one.file, one.line))
            for at, one in enumerate(told.frames)
            if one != place and not _is_foreign(one.file, cwd) and told.depth < _RECURSION
        )[:_CALLERS],
        frames_total=told.depth,
        notes=(_BY.format("traceback"),),
    )


def _thrown_value(report: NodeReport | None) -> Crash | None:
    """Return where a value that is no Error was thrown; Node writes no stack for it."""
    if report is None or report.type:
        return None
    file, line = report.place or ("", 0)
    where = f"{Path(file).name}:{line}" if file else ""
    found = explain_crash(CrashFacts("", where, exception=THROWN_VALUE, message=report.message))
    return Crash(
        outcome="crashed",
        cause=found.text,
        kind=found.kind,
        exception=answers.ExceptionView(THROWN_VALUE, report.message),
        frame=answers.FrameView(0, "", file, line) if file else None,
        source=source_files.surrounding_lines(file, line, before=2, after=2) if file else (),
        notes=(_BY.format("report"),),
    )


def _recursion_cycle(frames: Sequence[traceback_text.TracebackFrame]) -> list[str]:
    """Return the functions that call themselves or one another, callers first."""
    counted = Counter(one.function for one in frames)
    most = max(counted.values())
    often = dict.fromkeys(one.function for one in frames if counted[one.function] > most // 2)
    return list(often)[::-1][:_CYCLE_MAX]


def _is_foreign(file: str, cwd: str) -> bool:
    return is_library(file, cwd) or "pydevd" in file or "/debugpy/" in file


def usual_exit(run: RunningQuestion, exception_type: str | None) -> int | None:
    """Return the exit code of a program of this runtime that an exception or a panic has ended."""
    panicked = PANICKED if exception_type == "panic" else None
    return _UNCAUGHT.get(run.session.traits.runtime, panicked)
