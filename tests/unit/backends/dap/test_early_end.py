"""A program that ends before its adapter has answered has ended: no request has failed."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import msgspec
import pytest

import fakes.fake_adapter as fake
from debugger.backends.dap.dap_client import DapClient, HandshakeWaits
from debugger.backends.dap.debug_adapter import AdapterServer
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.program import ExitedProgram
from driven_backend import DrivenBackend, drive_adapter, launch_target
from event_loop import begin_task

BOUND_S = 60.0
ABORTED = ExitedProgram(signal="SIGABRT")


@dataclasses.dataclass
class Handshake:
    """A handshake in which a request was sent, and what may come next."""

    client: DapClient
    waits: HandshakeWaits
    event: asyncio.Future[None]
    answer: asyncio.Future[Any]

    def play(self, name: str) -> None:
        """Let one thing happen."""
        steps: dict[str, Callable[[], None]] = {
            "event": lambda: self.event.set_result(None),
            "success": lambda: self._respond(success=True),
            "failure": lambda: self._respond(success=False),
            "loss": lambda: self.client.fail_all(
                DebuggerError(ErrorCode.ADAPTER_DIED, "the adapter is gone")
            ),
        }
        steps[name]()

    def _respond(self, *, success: bool) -> None:
        message = {"type": "response", "request_seq": 1, "success": success, "message": "no"}
        self.client.receive_message(json.dumps(message).encode())

    async def wait(self, *, is_enough: bool) -> None:
        """Wait as a start does."""
        async with asyncio.timeout(BOUND_S):
            await self.waits.wait_for_event(
                self.event,
                unless=self.answer,
                doing="launch",
                is_enough=is_enough,
                within_s=BOUND_S,
            )


async def _refuse(_command: str, _raw: msgspec.Raw) -> dict[str, Any]:
    raise DebuggerError(ErrorCode.NOT_SUPPORTED, "nothing is requested here")


@pytest.fixture
async def handshake() -> AsyncIterator[Handshake]:
    async with asyncio.TaskGroup() as tasks:
        client = DapClient(
            "toy",
            write=lambda _: None,
            on_event=lambda _name, _body: None,
            on_request=_refuse,
            tasks=tasks,
        )
        event: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waits = HandshakeWaits(client, "toy", event)
        yield Handshake(client, waits, event, waits.post_request("launch", {}))


async def create_task(coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    return asyncio.create_task(coroutine)


@pytest.mark.parametrize("is_waited_for", [True, False])
@pytest.mark.parametrize("is_enough", [True, False])
@pytest.mark.parametrize("answer", ["success", "failure", "loss"])
async def test_an_event_counts_if_it_came_before_the_failure_also_in_the_same_turn(
    handshake: Handshake, answer: str, is_enough: bool, is_waited_for: bool
):
    # Both come in one turn of the event loop, before whoever waits wakes.
    begin = begin_task if is_waited_for else create_task
    wait = await begin(handshake.wait(is_enough=is_enough))
    handshake.play("event")
    handshake.play(answer)
    await wait


@pytest.mark.parametrize(
    ("answer", "code"), [("failure", ErrorCode.LAUNCH_FAILED), ("loss", ErrorCode.ADAPTER_DIED)]
)
@pytest.mark.parametrize("is_waited_for", [True, False])
async def test_a_failure_counts_if_the_event_came_after_it(
    handshake: Handshake, answer: str, code: ErrorCode, is_waited_for: bool
):
    begin = begin_task if is_waited_for else create_task
    wait = await begin(handshake.wait(is_enough=True))
    handshake.play(answer)
    handshake.play("event")
    with pytest.raises(DebuggerError) as failed:
        await wait
    assert failed.value.code is code


async def test_a_success_ends_the_wait_only_where_it_is_enough(handshake: Handshake):
    handshake.play("success")
    await handshake.wait(is_enough=True)
    wait = await begin_task(handshake.wait(is_enough=False))
    assert not wait.done()
    handshake.play("event")
    await wait


# -- a program that is its own adapter, as Ruby's and PHP's ----------------------------------------


def _drive_own_adapter(folder: Path, *quirks: str) -> AbstractAsyncContextManager[DrivenBackend]:
    found = fake.fake_location(*fake.quirk_words(*quirks), "--port-announce")
    found = dataclasses.replace(found, listens=r"listening at: 127.0.0.1:(?P<port>\d+)")
    server = AdapterServer(words=lambda at, _launch, _port: list(at.argv), is_program=True)
    return drive_adapter(fake.change_adapter(fake.FAKE_ADAPTER, server=server), found, folder)


async def test_a_death_before_the_answer_to_the_configuration_is_the_programs_end(
    runtime_dir: Path,
):
    async with _drive_own_adapter(runtime_dir, "dies-on:configurationDone") as one:
        await one.backend.start(launch_target("main.c"))
        await one.backend.run_program()
        assert await one.seen.next(ExitedProgram) == ABORTED


async def test_a_death_before_the_answer_to_a_resume_is_the_programs_end(runtime_dir: Path):
    async with _drive_own_adapter(runtime_dir, "dies-on:continue") as one:
        stop = await one.to_stop(launch_target("main.c"), BreakpointSpec(file="main.c", line=4))
        await one.go_on(stop)
        assert await one.seen.next(ExitedProgram) == ABORTED
