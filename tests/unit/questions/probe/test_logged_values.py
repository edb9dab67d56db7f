"""Logpoint output is taken as values, and nothing else is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from debugger.backends.base import LaunchTarget
from debugger.model import answers
from debugger.model.program import ExitedProgram
from debugger.questions.probe import logpoint_probe as module
from debugger.questions.probe.probe_points import HitRange
from debugger.questions.probe.probe_table import ProbeTable
from debugger.questions.probe.recorded_probe import ProbeEnd
from debugger.questions.runner.question_run import QuestionRun
from debugger.session.stepping import WaitLimit

LONG_S = 600.0


def test_the_time_of_a_program_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    sinks: list[Any] = []

    @asynccontextmanager
    async def running(question: QuestionRun) -> AsyncIterator[Any]:
        question.make_backend(lambda _event: None, None)
        yield SimpleNamespace()

    async def to_the_end(
        _run: Any, _began: float, *, markers: frozenset[int], **_: Any
    ) -> ProbeEnd:
        assert not markers
        sinks[0](ExitedProgram(code=0))
        last = answers.Stop(session="probe", state="terminated", exit_code=0)
        return ProbeEnd(last, answers.Output((), 0, 0), LONG_S, "frida")

    async def asked() -> ProbeEnd:
        question = QuestionRun(
            sessions=SimpleNamespace(),
            target=LaunchTarget(program="./app", cwd="/", env={}),
            make_backend=lambda sink, _tasks: sinks.append(sink),
            name="probe",
            patience=WaitLimit(1.0, asyncio.Event()),
        )
        return await module.probe_by_logpoints(question, (), ProbeTable((), HitRange(), rows=3))

    monkeypatch.setattr(module.question_run, "run_question", running)
    monkeypatch.setattr(module, "to_the_end", to_the_end)
    assert asyncio.run(asked()).took_s < LONG_S
