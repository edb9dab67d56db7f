"""What is noted of the processes of a run that an answer is not about."""

from __future__ import annotations

from debugger.questions.recordings.recorded_run import raised_in
from debugger.recorders.model import (
    CallEntered,
    CallRaised,
    RecordedFunction,
    RecordedValue,
    Recording,
)

_SCORE = RecordedFunction(1, "score", "/work/pool.py", 6)


def test_a_process_that_failed_is_noted_with_its_innermost_place() -> None:
    entered = CallEntered(1, 0, 1, 0, 0, 6, (RecordedValue("a", "3"), RecordedValue("b", "0")))
    raised = CallRaised(1, 1, "ZeroDivisionError", "division by zero", 7)
    failed = Recording(functions={1: _SCORE}, events=(entered, raised))
    assert raised_in(failed) == "ZeroDivisionError was raised in score pool.py:7 with a=3 b=0"
    assert raised_in(Recording(functions={1: _SCORE}, events=(entered,))) == ""


def test_the_end_of_a_process_by_an_exit_is_no_failure() -> None:
    entered = CallEntered(1, 0, 1, 0, 0, 6)
    ended = Recording(
        functions={1: _SCORE}, events=(entered, CallRaised(1, 1, "SystemExit", "0", 7))
    )
    assert raised_in(ended) == ""
