"""What Ray's driver says of a worker's failure is read as the worker's own report."""

from __future__ import annotations

import pytest

from debugger.questions.group.worker_reports import (
    lines_of_worker,
    parse_worker_report,
)

LINES = [
    "[0, 0]",
    "\x1b[36m(Worker pid=812)\x1b[0m Fatal Python error: Segmentation fault",
    "\x1b[36m(Worker pid=812)\x1b[0m ",
    '(Worker pid=812, ip=192.0.2.2)   File "job.py", line 12 in step',
    "(raylet) pid=812 is no worker's line",
    "(pid=813) another",
]


def test_the_lines_of_one_worker_are_those_with_its_pid() -> None:
    assert lines_of_worker(LINES, 812) == [
        "Fatal Python error: Segmentation fault",
        "",
        '  File "job.py", line 12 in step',
    ]
    assert lines_of_worker(LINES, 813) == ["another"]
    assert lines_of_worker(LINES, 9) == lines_of_worker([], None) == []


def test_an_exception_raised_again_in_the_driver_is_the_workers() -> None:
    message = (
        "\x1b[36mray::Worker.step()\x1b[39m (pid=812, ip=192.0.2.2, actor_id=0a, repr=<W at 0x1>)\n"
        '  File "job.py", line 12, in step\n    return data["missing"]\nKeyError: \'missing\''
    )
    report = parse_worker_report(message)
    assert report is not None
    assert report.pid == 812
    assert report.lines[0] == "Traceback (most recent call last):"
    assert report.lines[-1] == "KeyError: 'missing'"


@pytest.mark.parametrize("message", ["", "missing", "failed (pid=812)", "x (pid=1, ip=2)\n"])
def test_another_exception_is_no_report(message: str) -> None:
    assert parse_worker_report(message) is None
