"""The conversation of a person's screen with a daemon that hangs up, or says nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from debugger.clients import session_client
from debugger.clients.session_client import SessionClient
from debugger.errors import DebuggerError, ErrorCode
from event_loop import begin_task


@asynccontextmanager
async def converse() -> AsyncIterator[tuple[SessionClient, asyncio.StreamWriter]]:
    """Give a client, and what writes to it as the daemon does."""
    accepted: asyncio.Queue[asyncio.StreamWriter] = asyncio.Queue()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        del reader
        accepted.put_nowait(writer)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        client = SessionClient(*await asyncio.open_connection("127.0.0.1", port))
        peer = await accepted.get()
        yield client, peer
        await client.close()
        peer.close()


def frame(**message: object) -> bytes:
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


async def test_an_answer_is_of_its_request_and_an_error_is_raised():
    async with converse() as (client, peer):
        first = await begin_task(client.request("threads", {}))
        second = await begin_task(client.request("scopes", {}))
        wrong = {"error": {"id": 1, "format": "it is running"}}
        peer.write(frame(type="response", request_seq=2, success=False, body=wrong))
        peer.write(frame(type="event", event="stopped", body={"threadId": 3}))
        peer.write(frame(type="response", request_seq=1, success=True, body={"threads": []}))
        assert await first == {"threads": []}
        with pytest.raises(DebuggerError, match="it is running"):
            await second
        assert await client.next_event() == {
            "type": "event",
            "event": "stopped",
            "body": {"threadId": 3},
        }


@pytest.mark.parametrize(
    "last", [b"", b"Content-Length: 5\r\n\r\n{{{{{", b"GET / HTTP/1.1\r\n\r\n"]
)
async def test_a_daemon_that_hangs_up_or_talks_nonsense_ends_the_conversation(last: bytes):
    async with converse() as (client, peer):
        waiting = await begin_task(client.request("threads", {}))
        peer.write(last)
        peer.close()
        with pytest.raises(DebuggerError) as told:
            await waiting
        assert told.value.code is ErrorCode.NO_SESSION
        assert told.value.hint == "debugger status shows what there is"
        assert await client.next_event() is None
        with pytest.raises(DebuggerError, match="has ended"):
            await client.request("threads", {})


async def test_a_daemon_that_never_answers_is_said_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(session_client, "ANSWER_S", 0.01)
    async with converse() as (client, _):
        with pytest.raises(DebuggerError) as told:
            await client.request("threads", {})
        assert told.value.code is ErrorCode.TIMEOUT
        assert told.value.hint == "debugger daemon logs shows why"


async def test_without_a_daemon_it_is_said_how_to_begin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("DEBUGGER_RUNTIME_DIR", str(tmp_path))
    with pytest.raises(DebuggerError, match="the daemon does not run") as told:
        await SessionClient.join_session("app", page_key="k", since="0")
    assert told.value.hint == "debugger start PROGRAM begins a session"
