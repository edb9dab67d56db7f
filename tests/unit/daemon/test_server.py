"""Every connection is served as the protocol says, and the server ends well."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest

from debugger import __version__, paths
from debugger.daemon import protocol, transport
from debugger.daemon.daemon_process import RuntimeFiles
from debugger.daemon.server import DaemonServer
from fakes.toy_handler import ToyHandler

T = TypeVar("T")
PATIENCE_S = 60.0
TOKEN = "0f" * 32


async def within(waiting: Awaitable[T]) -> T:
    async with asyncio.timeout(PATIENCE_S):
        return await waiting


class Peer:
    """A client, message by message."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self.writer = writer

    async def write(self, raw: bytes) -> None:
        self.writer.write(raw)
        with suppress(ConnectionError):  # what the server said before shows in what is read
            await within(self.writer.drain())

    async def send(self, number: int, *argv: str, **more: Any) -> None:
        words = {"argv": argv} if argv else {}
        await self.write(protocol.encode_message({"v": 1, "id": number, **words, **more}))

    async def read(self) -> dict[str, Any] | None:
        try:
            line = await within(self._reader.readline())
        except ConnectionResetError:  # hung up on while more was on its way
            line = b""
        return json.loads(line) if line else None

    async def ask(self, number: int, *argv: str, **more: Any) -> dict[str, Any]:
        """Send a request, and give what is answered next."""
        await self.send(number, *argv, **more)
        answer = await self.read()
        assert answer is not None
        return answer

    async def close(self) -> None:
        self.writer.close()
        with suppress(ConnectionError):
            await within(self.writer.wait_closed())


class Served:
    """A server in this process, its handler and its clients."""

    def __init__(self, directory: Path, **seconds: float) -> None:
        self.directory = directory
        listener, self.address = transport.listen_for_clients(str(directory), TOKEN)
        presence = RuntimeFiles(str(directory), self.address)
        self.server = DaemonServer(self._build, listener, presence, token=TOKEN, **seconds)
        self.running: asyncio.Task[None] | None = None
        self._peers: list[Peer] = []

    def _build(self, publish: Callable[..., None]) -> ToyHandler:
        self.toy = ToyHandler(publish)
        return self.toy

    async def start(self) -> None:
        ready = asyncio.Event()
        self.running = asyncio.create_task(self.server.run(ready.set))
        await within(ready.wait())

    async def connect(self) -> Peer:
        if self.address["transport"] == "tcp":
            opening = asyncio.open_connection("127.0.0.1", self.address["port"], limit=1 << 25)
        else:
            path = str(self.directory / paths.SOCKET)
            opening = asyncio.open_unix_connection(path, limit=1 << 25)
        self._peers.append(Peer(*await within(opening)))
        return self._peers[-1]

    async def ended(self) -> None:
        assert self.running is not None
        await within(asyncio.shield(self.running))

    async def close(self) -> None:
        self.server.stop()
        await self.ended()
        for peer in self._peers:
            await peer.close()
        for descriptor in self.server._held_sockets:
            os.close(descriptor)


@pytest.fixture
async def serve(runtime_dir: Path) -> AsyncIterator[Callable[..., Awaitable[Served]]]:
    started: list[Served] = []

    async def run(idle_s: float = 60.0, **limits: float) -> Served:
        served = Served(runtime_dir, idle_s=idle_s, **limits)
        await served.start()
        started.append(served)
        return served

    yield run
    for served in started:
        await served.close()


@pytest.fixture
async def served(serve: Callable[..., Awaitable[Served]]) -> Served:
    return await serve()


@pytest.fixture
async def peer(served: Served) -> Peer:
    return await served.connect()


def is_protocol_error(answer: dict[str, Any] | None) -> bool:
    return answer is not None and answer["error"]["code"] == "PROTOCOL" and answer["exit"] == 1


async def test_an_answer_has_result_text_and_exit(peer):
    answer = {"id": 7, "success": True, "exit": 0, "result": {"words": ["a", "b"]}, "text": "a b"}
    assert await peer.ask(7, "echo", "a", "b") == answer
    assert await peer.ask(7, command="echo", args={"x": "a", "y": "b"}) == answer


async def test_a_handlers_failure_is_an_answer_with_code_message_and_hint(peer):
    error = {"code": "NOT_FOUND", "message": "no such thing", "hint": "debugger status"}
    assert await peer.ask(1, "fail") == {"id": 1, "success": False, "exit": 1, "error": error}


@pytest.mark.parametrize("fault", ["crash", "unsayable"])
async def test_an_unforeseen_failure_is_internal_and_its_traceback_is_in_the_log(
    peer, caplog, fault
):
    answer = await peer.ask(1, fault)
    assert answer["error"]["code"] == "INTERNAL"
    assert "Error: " in answer["error"]["message"]
    assert paths.LOG in answer["error"]["hint"]
    assert [record.exc_info for record in caplog.records if record.levelname == "ERROR"]
    assert (await peer.ask(2, "echo"))["success"]


async def test_a_full_disk_is_no_fault_of_the_debugger(peer):
    error = (await peer.ask(1, "store"))["error"]
    assert error["code"] == "DENIED"
    assert error["message"] == "the disk of the debugger's runtime directory is full"
    assert error["hint"].startswith("debugger daemon status names the directory")


async def test_requests_of_one_connection_run_at_once(peer):
    assert await peer.ask(1, "wait") == {"id": 1, "stream": "waiting\n"}
    assert (await peer.ask(2, "echo"))["id"] == 2
    answer = await peer.ask(1, "echo")
    assert is_protocol_error(answer)
    assert "request 1 is still running" in answer["error"]["message"]
    assert (await peer.ask(3, cancel=1))["result"] == {"cancelled": True}
    assert (await peer.read())["text"] == "still running"
    assert (await peer.ask(1, "echo"))["success"]


async def test_a_cancel_ends_the_wait_and_the_request_is_still_answered(peer):
    await peer.ask(1, "wait")
    await peer.send(2, cancel=1)
    answers = {answer["id"]: answer for answer in [await peer.read(), await peer.read()]}
    assert answers[2]["result"] == {"cancelled": True}
    assert (answers[1]["exit"], answers[1]["text"]) == (3, "still running")
    assert (await peer.ask(3, cancel=1))["result"] == {"cancelled": False}


async def test_a_client_that_hangs_up_cancels_its_own_requests_only(served, peer):
    other = await served.connect()
    await other.ask(1, "wait")
    await peer.ask(1, "hang")
    await peer.close()
    await within(served.toy.cancelled.wait())
    await other.send(2, cancel=1)
    assert {(await other.read())["id"], (await other.read())["id"]} == {1, 2}


@pytest.mark.parametrize("version", [0, 2, "1", None, [1]])
async def test_another_version_is_refused_by_both_names_and_the_connection_goes_on(peer, version):
    answer = await peer.ask(1, "echo", v=version)
    assert is_protocol_error(answer)
    assert f"version {version!r}," in answer["error"]["message"]
    assert f"speaks version {protocol.VERSION}" in answer["error"]["message"]
    assert answer["error"]["hint"] == "debugger daemon stop"
    assert (await peer.ask(2, "echo"))["success"]


@pytest.mark.parametrize(
    "fields",
    [
        {"id": "x", "argv": []},
        {"id": None, "argv": []},
        {"id": 1},
        {"id": 1, "argv": "echo"},
        {"id": 1, "argv": [1]},
        {"id": 1, "argv": ["echo"], "command": "echo"},
        {"id": 1, "argv": ["echo"], "cancel": 1},
        {"id": 1, "cancel": "x"},
        {"id": 1, "argv": ["echo"], "env": {"A": 1}},
        {"id": 1, "argv": ["echo"], "cwd": None},
        {"id": 1, "argv": ["echo"], "width": "80"},
    ],
)
async def test_what_is_no_request_is_refused_and_the_connection_goes_on(peer, fields):
    await peer.write(protocol.encode_message({"v": 1, **fields}))
    answer = await peer.read()
    assert is_protocol_error(answer)
    assert "bad request" in answer["error"]["message"]
    assert (await peer.ask(2, "echo"))["success"]


@pytest.mark.parametrize(
    "raw", [b"GET / HTTP/1.1\r\n\r\n", b"\n", b"[1]\n", b"\xff\xff\n", b"{" * 5000 + b"\n"]
)
async def test_garbage_is_answered_once_and_hung_up_on(served, peer, raw):
    await peer.write(raw)
    answer = await peer.read()
    assert is_protocol_error(answer)
    assert answer["id"] is None
    peer.writer.write_eof()
    assert await peer.read() is None
    assert (await (await served.connect()).ask(1, "echo"))["success"]


async def test_garbage_ends_also_what_its_connection_had_asked_before(served, peer):
    await peer.ask(1, "hang")
    await peer.write(b"garbage\n")
    assert is_protocol_error(await peer.read())
    assert served.toy.cancelled.is_set()


async def test_a_message_over_10_mib_is_refused_and_one_just_below_is_not(served, peer):
    word = "x" * (protocol.MAX_BYTES - 200)
    assert (await peer.ask(1, "env", word))["text"] == "(unset)"
    await peer.write(b"x" * (protocol.MAX_BYTES + 1))
    answer = await peer.read()
    assert is_protocol_error(answer)
    assert str(protocol.MAX_BYTES) in answer["error"]["message"]
    assert (await (await served.connect()).ask(1, "echo"))["success"]


async def test_an_answer_over_10_mib_is_an_error_that_says_what_to_ask(peer):
    answer = await peer.ask(1, "fat", str(protocol.MAX_BYTES))
    assert is_protocol_error(answer)
    assert "--limit" in answer["error"]["hint"]
    assert len((await peer.ask(2, "fat", "9000000"))["text"]) == 9_000_000


async def test_a_client_that_does_not_read_holds_up_no_other(served, peer):
    await peer.send(1, "fat", "9000000")
    await peer.send(2, "fat", "9000000")
    other = await served.connect()
    assert (await other.ask(1, "echo"))["success"]


@pytest.mark.parametrize(
    ("client", "note"),
    [
        ("0.0.0", f"newer (version {__version__}) than this command (0.0.0)"),
        ("999.0", f"older (version {__version__}) than this command (999.0)"),
        (__version__, None),
        (None, None),
    ],
)
async def test_a_client_of_another_version_is_told(peer, client, note):
    answer = await peer.ask(1, "echo", client=client)
    assert answer["success"]
    assert (note in answer["note"]) if note else ("note" not in answer)


async def test_the_status_tells_who_serves_what(served, peer):
    await peer.ask(1, "open", "app")
    told = await peer.ask(2, "daemon", "status")
    result = told["result"]
    assert result.pop("uptime_s") >= 0
    assert result == {
        "running": True,
        "pid": os.getpid(),
        "version": __version__,
        "socket": str(served.directory / paths.SOCKET),
        "sessions": [{"name": "app", "program": "./app", "pid": 123}],
    }
    assert "session app (./app, pid 123)" in told["text"]
    as_json = await peer.ask(3, "daemon", "status", "--json")
    assert json.loads(as_json["text"])["data"]["pid"] == os.getpid()
    assert (await peer.ask(4, command="daemon_status"))["result"]["running"]


async def test_what_would_be_lost_is_always_written_down(served, peer):
    def written() -> list[dict[str, Any]]:
        state = transport.read_state(str(served.directory))
        assert state is not None
        return [session["name"] for session in state["sessions"]]

    assert written() == []
    await peer.ask(1, "open", "a")
    await peer.ask(2, "open", "b")
    assert written() == ["a", "b"]


async def test_to_stop_ends_the_sessions_answers_all_and_leaves_nothing(serve):
    served = await serve(finish_s=0.05)
    peer = await served.connect()
    other = await served.connect()
    await other.ask(1, "hang")
    await peer.ask(1, "open", "app")
    answer = await peer.ask(2, "daemon", "stop")
    assert answer["result"]["ended"] == [{"name": "app", "program": "./app", "pid": 123}]
    assert "ended: session app" in answer["text"]
    assert (await other.read())["error"]["code"] == "NO_SESSION"
    assert await other.read() is None
    await served.ended()
    assert not served.toy.live_sessions()
    assert not {path.name for path in served.directory.iterdir()} - {paths.LOCK}


async def test_a_handler_can_stop_the_daemon_with_its_answer(served, peer):
    assert (await peer.ask(1, "quit"))["text"] == "bye"
    await served.ended()


async def test_who_asks_while_the_daemon_ends_is_told_to_ask_the_next_one(
    served, peer, monkeypatch
):
    begun, may_end = asyncio.Event(), asyncio.Event()

    async def close() -> None:
        begun.set()
        await may_end.wait()

    monkeypatch.setattr(served.toy, "close", close)
    served.server.stop()
    await within(begun.wait())
    assert not (served.directory / paths.SOCKET).exists()
    assert transport.read_state(str(served.directory))["closing"]
    answer = await peer.ask(1, "echo")
    may_end.set()
    assert answer["retry"]
    assert answer["error"]["code"] == "NO_SESSION"


@pytest.mark.parametrize("fault", ["hangs", "fails"])
async def test_sessions_that_do_not_end_well_do_not_keep_the_daemon(
    serve, monkeypatch, caplog, fault
):
    served = await serve(close_s=0.05)

    async def close() -> None:
        if fault == "fails":
            raise RuntimeError("no end")
        await asyncio.Event().wait()

    monkeypatch.setattr(served.toy, "close", close)
    served.server.stop()
    await served.ended()
    assert "did not end" in caplog.text


async def test_a_daemon_that_nobody_needs_ends(serve, monkeypatch):
    monkeypatch.setattr(transport, "CONNECT_S", 0.05)
    served = await serve(idle_s=0.01)
    await served.ended()
    assert not (served.directory / paths.SOCKET).exists()


async def test_the_configuration_of_the_last_command_says_how_long_an_idle_daemon_stays(
    serve, monkeypatch
):
    served = await serve(idle_s=3600.0)
    monkeypatch.setattr(served.toy, "idle_s", lambda: 0.01)
    peer = await served.connect()
    await peer.ask(1, "echo", "on")
    await served.ended()


async def test_a_session_keeps_the_daemon_and_its_end_lets_it_go(serve, monkeypatch):
    served = await serve(idle_s=0.05)
    peer = await served.connect()
    await peer.ask(1, "open", "app")
    asked: asyncio.Queue[bool] = asyncio.Queue()
    monkeypatch.setattr(
        served.toy,
        "has_live_session",
        lambda: asked.put_nowait(True) or ToyHandler.has_live_session(served.toy),
    )
    for _ in range(3):
        await within(asked.get())
    assert not served.server.stopping.is_set()
    served.toy._sessions.clear()
    await served.ended()


async def test_a_running_request_keeps_the_daemon(serve):
    served = await serve(idle_s=0.02)
    peer = await served.connect()
    await peer.ask(1, "wait")
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(served.server.stopping.wait(), 0.2)
    await peer.send(2, cancel=1)
    await served.ended()


async def test_another_users_process_is_hung_up_on(served, monkeypatch):
    monkeypatch.setattr(transport, "is_own_peer", lambda _: False)
    peer = await served.connect()
    await peer.send(1, "echo")
    assert await peer.read() is None


@pytest.fixture
async def over_tcp(serve, monkeypatch: pytest.MonkeyPatch) -> Served:
    monkeypatch.setenv("DEBUGGER_TRANSPORT", "tcp")
    return await serve()


async def test_over_tcp_the_right_token_opens_the_way(over_tcp):
    peer = await over_tcp.connect()
    await peer.write(protocol.encode_message({"token": TOKEN}))
    assert (await peer.ask(1, "echo", "a"))["text"] == "a"


@pytest.mark.parametrize(
    "first",
    [
        {"token": "0" * 64},
        {"token": TOKEN[:-1]},
        {"token": None},
        {"token": "\udcff"},
        {"v": 1, "id": 1, "argv": ["echo"]},
    ],
)
async def test_over_tcp_nobody_without_the_token_is_answered(over_tcp, first):
    peer = await over_tcp.connect()
    await peer.write(protocol.encode_message(first))
    await peer.send(1, "echo")
    assert await peer.read() is None


async def test_over_tcp_who_says_nothing_is_hung_up_on(over_tcp, monkeypatch):
    monkeypatch.setattr(transport, "CONNECT_S", 0.05)
    peer = await over_tcp.connect()
    assert await peer.read() is None
