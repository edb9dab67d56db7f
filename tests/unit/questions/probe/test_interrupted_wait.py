"""An answer says how long a run was waited for, which Ctrl-C ends before its limit."""

from __future__ import annotations

import pytest

from debugger.model import answers
from debugger.questions.probe.probe_answer import of_recording
from debugger.questions.probe.probe_points import HitRange
from debugger.questions.probe.probe_table import ProbeTable
from debugger.questions.probe.recorded_probe import RecordedProbes
from debugger.recorders.recorded_process import CompletedRun


@pytest.mark.parametrize(("took_s", "waited_s"), [(3.94, 3.9), (60.02, 60)])
def test_the_wait_is_no_longer_than_the_run(took_s: float, waited_s: float) -> None:
    ran = CompletedRun(None, 9, True, took_s, (), 0, ())
    output = answers.Output(lines=(), dropped=0)
    found = RecordedProbes(ran=ran, seen={}, wanted=(), output=output)
    assert of_recording(found, ProbeTable((), HitRange(), rows=3), waited_s=60).waited_s == waited_s
