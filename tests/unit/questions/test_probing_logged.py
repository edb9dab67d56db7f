"""Is what logpoints tell taken, and nothing else made of it?"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from debugger.backends.base import Launch
from debugger.core import answers
from debugger.core.model import Exited
from debugger.questions.asking import Question
from debugger.questions.probing import logged as module
from debugger.questions.probing.ending import Ending
from debugger.questions.probing.table import Table
from debugger.questions.probing.wanted import Range
from debugger.session.stepping import Patience

LONG_S = 600.0


def test_the_time_of_a_program_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    sinks: list[Any] = []

    @asynccontextmanager
    async def running(question: Question) -> AsyncIterator[Any]:
        question.make_backend(lambda _event: None, None)
        yield SimpleNamespace()

    async def to_the_end(_run: Any, _began: float, *, markers: frozenset[int], **_: Any) -> Ending:
        assert not markers
        sinks[0](Exited(code=0))
        last = answers.Stop(session="probe", state="terminated", exit_code=0)
        return Ending(last, answers.Output((), 0, 0), LONG_S, "frida")

    async def asked() -> Ending:
        question = Question(
            sessions=SimpleNamespace(),
            target=Launch(program="./app", cwd="/", env={}),
            make_backend=lambda sink, _tasks: sinks.append(sink),
            name="probe",
            patience=Patience(1.0, asyncio.Event()),
        )
        return await module.logged(question, (), Table((), Range(), rows=3))

    monkeypatch.setattr(module.asking, "running", running)
    monkeypatch.setattr(module, "to_the_end", to_the_end)
    assert asyncio.run(asked()).took_s < LONG_S
