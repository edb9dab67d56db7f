"""The end of a run that never came to a location: how it ended, and the likely reason."""

from __future__ import annotations

import pytest

from debugger.questions.runner.question_run import describe_end, reason_line


@pytest.mark.parametrize(
    ("status", "signal", "output", "text"),
    [
        (0, None, ["an error, and yet a success"], "the program ended"),
        (None, None, ["x"], "the program ended"),
        (2, None, [], "the program exited with status 2"),
        (2, None, ["usage: app N", ""], "the program exited with status 2 (usage: app N)"),
        (None, 9, [], "the program was ended by signal 9"),
        (None, "SIGSEGV", ["last words"], "the program was ended by SIGSEGV (last words)"),
    ],
)
def test_an_end_says_how_and_why(status, signal, output, text):
    assert describe_end(status, signal, output) == text


def test_the_line_that_gives_the_reason_is_chosen_before_the_last():
    server = ["started", "ERROR: address already in use", "shutdown complete"]
    assert reason_line(server) == "ERROR: address already in use"
    launcher = ["mpirun: Error: unknown option", "Type 'mpirun --help' for usage."]
    assert reason_line(launcher) == launcher[0]
    assert reason_line(["one", " two "]) == "two"
    assert reason_line(["", " "]) == ""
    assert len(reason_line(["error" * 1000])) <= 120
