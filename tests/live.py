"""What drives a backend, or everything behind the socket, inside a test?"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from debugger.backends import choose
from debugger.backends.base import ChildAppeared, Event, Launch, Printed
from debugger.backends.dap.backend import DapBackend
from debugger.backends.dap.conversation import Limits
from debugger.backends.dap.profile import Found, Profile
from debugger.core.breakpoints import Bound, Breakpoint, Spec
from debugger.core.events import Stream
from debugger.daemon.dispatch import Dispatcher
from debugger.daemon.handler import Reply, Request

T = TypeVar("T")
LIMITS = Limits(initialize_s=10, request_s=10)
_EVENT_S = 20.0
_END_S = 20.0


class Seen(list[Event]):
    """A sink that keeps what it is told, to be waited for in its order."""

    def __init__(self) -> None:
        super().__init__()
        self._news = asyncio.Event()
        self._at = 0

    def __call__(self, event: Event) -> None:
        self.append(event)
        self._news.set()

    async def next(self, kind: type[T], *, within: float = _EVENT_S) -> T:
        """Wait for the first event of a kind after the one that was waited for last."""
        try:
            async with asyncio.timeout(within):
                while True:
                    while self._at < len(self):
                        self._at += 1
                        found = self[self._at - 1]
                        if isinstance(found, kind):
                            return found
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"no {kind.__name__} in {within:g} s; seen: {self}") from None

    def printed(self, stream: Stream) -> str:
        """Join what was printed on a stream so far."""
        return "".join(
            one.text for one in self if isinstance(one, Printed) and one.stream is stream
        )

    async def until_printed(self, text: str, stream: Stream = Stream.STDOUT) -> None:
        """Wait until a stream has this text."""
        while text not in self.printed(stream):
            await self.next(Printed)


@dataclass
class Driven:
    """A backend in a test, and what it told; the breakpoints' numbers are given here."""

    backend: DapBackend
    seen: Seen
    tasks: asyncio.TaskGroup
    _numbers: list[int] = field(default_factory=list)

    async def add(self, *specs: Spec) -> list[Bound]:
        """Set breakpoints of one file, or on functions, each placed as the backend wants it."""
        wanted = []
        for spec in specs:
            at = self.backend.place(spec)
            if isinstance(at, Bound):
                return [at]
            self._numbers.append(len(self._numbers) + 1)
            wanted.append(Breakpoint(id=self._numbers[-1], spec=spec, at=at))
        first = wanted[0].at
        assert first is not None
        if first.function is not None:
            return await self.backend.set_function_breakpoints(wanted)
        assert first.file is not None
        return await self.backend.set_breakpoints(first.file, wanted)


@asynccontextmanager
async def driven(
    profile: Profile, found: Found, scratch_root: Path, *, limits: Limits = LIMITS
) -> AsyncIterator[Driven]:
    """Make a backend, and end it with all that it started."""
    seen = Seen()
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        backend = DapBackend(
            profile,
            found,
            sink=seen,
            scratch=choose.scratch(scratch_root),
            limits=limits,
            tasks=tasks,
        )
        try:
            yield Driven(backend, seen, tasks)
        finally:
            children = [one.backend for one in seen if isinstance(one, ChildAppeared)]
            async with asyncio.timeout(_END_S):
                for one in (*children, backend):
                    await one.close(kill=True)


def launch(program: str | Path, *args: str, **changes: Any) -> Launch:
    """Launch a program in the tests' own environment."""
    return Launch(str(program), cwd=os.getcwd(), env=dict(os.environ), args=args, **changes)


@dataclass
class Stack:
    """The daemon's handler in the test's own process: commands in, replies out."""

    dispatcher: Dispatcher
    cwd: Path
    env: Mapping[str, str]
    bound_s: float = 20.0

    async def __call__(self, *argv: str) -> Reply:
        """Run a command; it must answer within the bound."""

        async def stream(_: str) -> None:
            return

        request = Request(id=1, stream=stream, argv=argv, cwd=str(self.cwd), env=self.env)
        async with asyncio.timeout(self.bound_s):
            return await self.dispatcher.handle(request)

    async def data(self, *argv: str) -> Mapping[str, Any]:
        """Run a command that must succeed, and return what it says."""
        reply = await self(*argv)
        assert reply.error is None, f"{argv}: {reply.error.code} {reply.error.message}"
        assert reply.result is not None
        return reply.result


def configure(file: Path, *, adapter: str, arguments: tuple[str, ...], **seconds: float) -> None:
    """Write a configuration that starts an adapter with these arguments."""
    times = "".join(f"{name} = {value}\n" for name, value in seconds.items())
    words = json.dumps(list(arguments))
    file.write_text(f"[adapters.{adapter}]\nargs = {words}\n[timeouts]\n{times}")


@asynccontextmanager
async def stack(cwd: Path, config: Path) -> AsyncIterator[Stack]:
    """Hold a daemon's handler, and end its sessions."""
    published: list[object] = []
    dispatcher = Dispatcher(published.append)
    env = {**os.environ, "DEBUGGER_CONFIG": str(config)}
    try:
        yield Stack(dispatcher, cwd, env)
    finally:
        async with asyncio.timeout(_END_S):
            await dispatcher.close()
