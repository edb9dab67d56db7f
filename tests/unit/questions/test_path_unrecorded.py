"""A run of which nothing was recorded is no run with the same functions and lines."""

from __future__ import annotations

from debugger.questions.path.path_comparison import compare_paths
from debugger.questions.recordings.answer import RunView
from debugger.questions.recordings.recorded_run import RecordedRun
from debugger.recorders.counted_recording import CoveredFunction, make_recording
from debugger.recorders.model import RecordedProcess, SourcePart


def _run(command: str, *lines: int, is_ended: bool = False) -> RecordedRun:
    covered = [
        CoveredFunction("main", "/p/a.js", 1, 1, tuple(SourcePart(one, 0, 1) for one in lines))
    ]
    process = RecordedProcess(pid=1, parent=0, language="javascript", words=())
    recording = make_recording(covered if lines else (), process)
    view = RunView(command, None if is_ended else 0, timed_out=is_ended)
    return RecordedRun(recording, (recording,), view, "counts")


def test_a_run_that_was_killed_before_it_told_what_ran_is_not_compared() -> None:
    runs = [_run("node a.js 10", is_ended=True), _run("node a.js 0", 1, 2)]
    answer = compare_paths(runs, [["/p"], ["/p"]])
    assert answer.unrecorded == ("node a.js 10",)
    assert not answer.passing_lines
    same = compare_paths([_run("a", 1, 2), _run("b", 1, 2)], [["/p"], ["/p"]])
    assert same.unrecorded == ()
