"""The debuggee's report of a call that ends its process is explained as a crash is."""

from __future__ import annotations

from pathlib import Path

from debugger.model.answers import ExceptionView
from debugger.model.exception_cause import TracebackFrame
from debugger.questions.crash.exit_calls import (
    ReportedExit,
    explain_exit_call,
    explain_task_error,
    parse_exit_call,
)

REPORT = """\
os._exit(9) ends the process (most recent call first):
  File "/venv/lib/python3.11/site-packages/lib/leave.py", line 3 in leave
  File "/srv/app/job.py", line 12 in transform
  File "/srv/app/job.py", line 20 in <module>
"""


def test_the_innermost_frame_of_the_program_is_the_one_that_is_shown() -> None:
    found = parse_exit_call(REPORT)
    assert found is not None
    crash = explain_exit_call(found, "/srv/app")
    assert crash.cause == "os._exit(9) called by transform job.py:12"
    assert (crash.frame.function, crash.frame.line) == ("transform", 12)
    assert [one.frame.line for one in crash.callers] == [20]
    assert crash.locals == ()


def test_plain_values_are_those_of_the_frame_that_made_the_call() -> None:
    head, _, first, last = REPORT.splitlines()
    text = f"{head}\n{first}\n    number = 7\n    name = 'a = b'\n{last}"
    found = parse_exit_call(text)
    assert found == ReportedExit(
        "os._exit(9)",
        (
            TracebackFrame("transform", "/srv/app/job.py", 12),
            TracebackFrame("<module>", "/srv/app/job.py", 20),
        ),
        (("number", "7"), ("name", "'a = b'")),
    )
    shown = explain_exit_call(found, "/srv/app").locals
    assert [(one.name, one.value) for one in shown] == [("number", "7"), ("name", "'a = b'")]


def test_an_exception_that_a_worker_handled_is_explained_by_its_task() -> None:
    ends = " ends the task (most recent call first):"
    head, _, first, last = REPORT.splitlines()
    text = f"KeyError: 'weight'{ends}\n{first}\n    number = 7\n{last}"
    found = parse_exit_call(text, ends)
    assert found is not None
    raised = ExceptionView("KeyError", "'weight'", ("in a worker: …",))
    crash = explain_task_error(found, raised, "/srv/app")
    assert crash.cause == "KeyError: 'weight', in transform job.py:12"
    assert crash.exception == ExceptionView("KeyError", "'weight'")
    assert [(one.name, one.value) for one in crash.locals] == [("number", "7")]
    assert parse_exit_call(f"{head}\n{first}", ends) is None


def test_other_messages_and_reports_without_a_stack_are_none(tmp_path: Path) -> None:
    for text in ("", "debugpy: waiting", REPORT.splitlines()[0], f"{tmp_path} ends the process"):
        assert parse_exit_call(text) is None
