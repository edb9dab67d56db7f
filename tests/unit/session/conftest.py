"""Fixtures: sessions whose program is in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from debugger.backends.base import LaunchTarget
from debugger.session.session import Session
from debugger.session.session_list import SessionList
from debugger.session.stepping import WaitLimit
from debugger.session.timeline import Timeline
from fakes.fake_backend import LAUNCH, FakeBackend

PATIENCE_S = 60.0


class House:
    """The sessions of a daemon, and the backends that were made for them."""

    def __init__(self) -> None:
        self.backends: list[FakeBackend] = []
        self.held_at_first: str | None = None
        self.sessions = SessionList(
            on_change=lambda: None, timeline=lambda: Timeline(max_events=1000, max_bytes=1 << 20)
        )

    def make(self, sink: Any, tasks: asyncio.TaskGroup) -> FakeBackend:
        backend = FakeBackend(sink, tasks)
        backend.hold = self.held_at_first
        self.backends.append(backend)
        return backend

    async def create(
        self, name: str | None = None, target: LaunchTarget = LAUNCH, *, private: str | None = None
    ) -> Session:
        return await self.sessions.create(target, self.make, name=name, private=private)

    async def started(
        self, name: str | None = None, *, private: str | None = None
    ) -> tuple[Session, FakeBackend]:
        session = await self.create(name, private=private)
        await session.run_job(session.start_program)
        return session, self.backends[-1]

    async def stopped(self) -> tuple[Session, FakeBackend]:
        session, backend = await self.started()
        backend.stop(10)
        return session, backend


def patience(seconds: float = PATIENCE_S) -> WaitLimit:
    return WaitLimit(seconds, asyncio.Event())


@pytest.fixture
async def session_factory() -> AsyncIterator[House]:
    made = House()
    yield made
    await asyncio.wait_for(made.sessions.close_all(), PATIENCE_S)


@pytest.fixture(name="patience")
def _patience() -> Any:
    return patience
