"""Each of many requests over one connection gets its own answer or failure."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from debugger.daemon import daemon_client as asked
from debugger.daemon import protocol, transport
from debugger.daemon.daemon_client import DaemonClient
from debugger.errors import DebuggerError, ErrorCode

Answer = Callable[["Other", dict[str, Any]], Awaitable[None]]


class Other:
    """A daemon of the test's own, which answers as it is told to."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.heard: list[dict[str, Any]] = []
        self.connections = 0
        self.serving: list[asyncio.Future[None]] = []
        self.news = asyncio.Event()

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writer = writer
        self.serving.append(asyncio.ensure_future(self._serve(reader, writer)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while line := await reader.readline():
                message = json.loads(line)
                self.heard.append(message)
                self.news.set()
                await self.answer(self, message)
            writer.close()
            await writer.wait_closed()

    async def until(self, predicate: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not predicate():
                self.news.clear()
                await self.news.wait()

    def send(self, number: Any, **answer: Any) -> None:
        whole = {"id": number, "success": True, "result": {}, "text": "", "exit": 0, **answer}
        self.writer.write(protocol.encode_message(whole))

    def stream(self, number: int, text: str) -> None:
        self.writer.write(protocol.encode_message({"id": number, "stream": text}))


@asynccontextmanager
async def other(runtime_dir: Path, answer: Answer) -> AsyncIterator[Other]:
    served = Other(answer)
    listener, _ = transport.listen_for_clients(str(runtime_dir), "")
    server = await asyncio.start_server(served.accept, sock=listener, limit=protocol.MAX_BYTES)
    async with server:
        yield served
        async with asyncio.timeout(60):
            await asyncio.gather(*served.serving)


async def silent(_other: Other, _message: dict[str, Any]) -> None:
    """Answer nothing."""


async def test_answers_belong_to_their_askers_in_whatever_order_they_come(runtime_dir) -> None:
    waiting: list[dict[str, Any]] = []

    async def backwards(one: Other, message: dict[str, Any]) -> None:
        waiting.append(message)
        if len(waiting) == 50:
            for each in reversed(waiting):
                one.send(each["id"], text=each["command"])

    async with other(runtime_dir, backwards) as one, DaemonClient(note=print) as daemon:
        replies = await asyncio.gather(*(daemon.run_command(f"c{n}", {}) for n in range(50)))
        assert [reply.text for reply in replies] == [f"c{n}" for n in range(50)]
        assert one.connections == 1


async def test_a_request_that_is_cancelled_is_cancelled_there_too(runtime_dir) -> None:
    async with other(runtime_dir, silent) as one, DaemonClient(note=print) as daemon:
        asking = asyncio.ensure_future(daemon.run_command("await", {}, session="s"))
        await one.until(lambda: len(one.heard) == 1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await one.until(lambda: len(one.heard) == 2)
        assert one.heard[0]["session"] == "s"
        assert one.heard[1]["cancel"] == one.heard[0]["id"]
        # What comes for it after all belongs to nobody, and hurts nobody.
        one.send(one.heard[0]["id"], text="late")
        asking = asyncio.ensure_future(daemon.run_command("status", {}))
        await one.until(lambda: len(one.heard) == 3)
        one.send(one.heard[2]["id"], text="mine")
        assert (await asking).text == "mine"


async def test_too_many_at_once_are_refused(runtime_dir, monkeypatch) -> None:
    monkeypatch.setattr(asked, "REQUESTS_MAX", 3)
    async with other(runtime_dir, silent) as one, DaemonClient(note=print) as daemon:
        asking = [asyncio.ensure_future(daemon.run_command("await", {})) for _ in range(3)]
        await one.until(lambda: len(one.heard) == 3)
        with pytest.raises(DebuggerError) as failed:
            await daemon.run_command("status", {})
        assert failed.value.code is ErrorCode.DENIED
        for each in asking:
            each.cancel()
        await asyncio.gather(*asking, return_exceptions=True)


async def test_a_call_that_is_too_long_is_refused_before_it_is_sent(runtime_dir) -> None:
    async with other(runtime_dir, silent) as one, DaemonClient(note=print) as daemon:
        with pytest.raises(DebuggerError) as failed:
            await daemon.run_command("eval", {"expression": "x" * protocol.MAX_BYTES})
        assert failed.value.code is ErrorCode.PROTOCOL
        assert one.heard == []


async def test_an_error_keeps_its_code_and_its_hint(runtime_dir) -> None:
    async def fail(one: Other, message: dict[str, Any]) -> None:
        error = {"code": "NO_SESSION", "message": "none", "hint": "start"}
        one.send(message["id"], success=False, error=error)

    async with other(runtime_dir, fail), DaemonClient(note=print) as daemon:
        with pytest.raises(DebuggerError) as failed:
            await daemon.run_command("status", {})
        assert (failed.value.code, failed.value.message, failed.value.hint) == (
            ErrorCode.NO_SESSION,
            "none",
            "start",
        )


async def test_what_is_streamed_comes_before_the_answer_and_is_bounded(runtime_dir) -> None:
    async def streaming(one: Other, message: dict[str, Any]) -> None:
        for _ in range(3):
            one.stream(message["id"], "x" * asked.STREAM_MAX)
        one.stream(message["id"], "end\n")
        one.send(message["id"], text="done")

    async with other(runtime_dir, streaming), DaemonClient(note=print) as daemon:
        reply = await daemon.run_command_line(["output"])
        assert reply.text.endswith("xend\ndone")
        assert len(reply.text) == asked.STREAM_MAX + len("done")


async def test_a_note_is_passed_on_once(runtime_dir) -> None:
    async def older(one: Other, message: dict[str, Any]) -> None:
        one.send(message["id"], note="the daemon is older")

    noted: list[str] = []
    async with other(runtime_dir, older), DaemonClient(note=noted.append) as daemon:
        for _ in range(3):
            await daemon.run_command("status", {})
    assert noted == ["the daemon is older"]


async def test_a_daemon_that_dies_fails_all_that_waited_and_says_what_was_lost(runtime_dir) -> None:
    async def die(one: Other, message: dict[str, Any]) -> None:
        if len(one.heard) == 3:
            one.writer.transport.abort()

    gone = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await gone.wait()
    lost = {"name": "app", "program": "./app", "pid": 7}
    state = {"pid": gone.pid, "transport": "unix", "sessions": [lost]}
    async with other(runtime_dir, die), DaemonClient(note=print) as daemon:
        transport.write_state(str(runtime_dir), state)
        asking = [daemon.run_command("await", {}) for _ in range(3)]
        for failure in await asyncio.gather(*asking, return_exceptions=True):
            assert isinstance(failure, DebuggerError)
            assert failure.message == (
                "the daemon died while it ran 'await'; lost: session app (./app, pid 7)"
            )
            assert "debug_launch" in str(failure.hint)


async def test_a_daemon_that_ends_in_good_order_is_asked_again_as_its_successor(
    runtime_dir,
) -> None:
    async def ending(one: Other, message: dict[str, Any]) -> None:
        if one.connections == 1:
            one.writer.transport.abort()
        elif one.connections == 2 and len(one.heard) == 2:
            one.send(message["id"], retry=True, success=False)
        else:
            one.send(message["id"], text="here")

    async with other(runtime_dir, ending) as one, DaemonClient(note=print) as daemon:
        assert (await daemon.run_command("status", {})).text == "here"
        assert [message["command"] for message in one.heard] == ["status"] * 3


async def test_what_cannot_be_read_is_as_if_it_had_hung_up(runtime_dir) -> None:
    async def garbage(one: Other, _message: dict[str, Any]) -> None:
        one.writer.write(b"\xff\xfe\n")

    async with other(runtime_dir, garbage), DaemonClient(note=print) as daemon:
        with pytest.raises(DebuggerError) as failed:
            await daemon.run_command("status", {})
        assert failed.value.code is ErrorCode.TIMEOUT
