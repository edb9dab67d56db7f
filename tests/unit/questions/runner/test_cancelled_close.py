"""A question whose client goes while it ends its program has ended it all the same."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from debugger.backends.base import LaunchTarget
from debugger.questions.runner.question_run import QuestionRun, run_question
from debugger.session.stepping import WaitLimit


async def test_a_close_is_finished_though_the_question_is_cancelled_in_it() -> None:
    begun, may_end, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def start(_job: Any = None) -> None: ...

    session = SimpleNamespace(run_job=start, start_program=start)

    async def create(*_: Any, **__: Any) -> Any:
        return session

    async def close(_session: Any, *, kill: bool) -> None:
        assert kill
        begun.set()
        await may_end.wait()
        ended.set()

    async def ask() -> None:
        sessions: Any = SimpleNamespace(create=create, close=close)
        question = QuestionRun(
            sessions=sessions,
            target=LaunchTarget(program="./app", cwd="/", env={}),
            make_backend=lambda _sink, _tasks: pytest.fail("not used"),
            name="calls",
            patience=WaitLimit(1.0, asyncio.Event()),
        )
        async with run_question(question):
            pass

    asking = asyncio.create_task(ask())
    await begun.wait()
    asking.cancel()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert ended.is_set()
