"""The words by which a compiled language's runtime ends a program are read."""

from __future__ import annotations

import pytest

from debugger.questions.crash.runtime_errors import (
    complete_by_report,
    may_be_handled,
    read_report,
    runtime_function,
)
from debugger.questions.runner.answer import Crash

ADA = "__gnat_unhandled_exception"
FORTRAN = "_gfortran_runtime_error_at"


@pytest.mark.parametrize(
    ("function", "line", "report"),
    [
        (ADA, "raised STOCK.TOO_MUCH : too much", ("STOCK.TOO_MUCH", "too much")),
        (ADA, "raised CONSTRAINT_ERROR", ("CONSTRAINT_ERROR", "")),
        ("_d_throw", "shop.TooMuch@shop.d(4): too much", ("shop.TooMuch", "too much")),
        (FORTRAN, "Fortran runtime error: Index '4'", ("Fortran runtime error", "Index '4'")),
        (FORTRAN, "ERROR STOP too much", ("ERROR STOP", "too much")),
        (
            "raiseExceptionEx",
            "Error: unhandled exception: too much [ValueError]",
            ("ValueError", "too much"),
        ),
        (ADA, "the price was raised: 5", None),
        ("_d_throw", "mail to me@example.org (1)", None),
    ],
)
def test_the_report_of_each_runtime_is_read(function, line, report):
    assert read_report(function, ["out", line, "----"]) == report


def test_a_runtimes_function_is_found_among_the_innermost_frames_alone():
    assert runtime_function(["raise", ADA, "main"]) == ADA
    assert runtime_function([*map(str, range(9)), ADA]) is None
    assert may_be_handled("_gfortran_generate_error")
    assert not may_be_handled(FORTRAN)


def test_an_answer_takes_the_report_only_of_a_program_that_ended_with_a_status():
    failed = Crash("exited", exit_code=1)
    told = complete_by_report(failed, ("ValueError", "too much"))
    assert (told.outcome, told.cause) == ("crashed", "ValueError: too much")
    assert "more than 40 exceptions" in told.notes[1]
    assert complete_by_report(failed, None) is failed
    ended = Crash("exited", exit_code=0)
    assert complete_by_report(ended, ("ValueError", "too much")) is ended
