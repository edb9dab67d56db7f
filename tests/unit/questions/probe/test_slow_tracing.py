"""When a probe's answer says why the run was slow."""

from __future__ import annotations

import pytest

from debugger.questions.probe.recorded_probe import slow_tracing


@pytest.mark.parametrize(
    ("interpreters", "took_s", "named"),
    [
        (["3.11.7"], 5.0, "3.11.7"),
        (["3.11.7"], 1.0, None),
        (["3.12.1"], 60.0, None),
        (["3.12.1", "3.9.18"], 5.0, "3.9.18"),
        ([], 5.0, None),
    ],
)
def test_a_long_run_of_a_python_that_traces_every_call_is_explained(interpreters, took_s, named):
    notes = slow_tracing(interpreters, took_s)
    assert [one.startswith(f"Python {named} traces") for one in notes] == [True] * bool(named)
