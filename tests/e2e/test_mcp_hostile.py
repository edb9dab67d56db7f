"""The server survives malformed, excessive and hostile clients."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.shared.exceptions import MCPError

from debuggees import find_source
from mcp_client import connect_stdio, server_command, start_http_server
from warm_daemon import WARM_SERVERS

MB = 1_000_000
# A quiet machine needs half a second, and no wait of the server's is longer than one.
ENDS_S = 20.0
INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "hostile", "version": "1"},
    },
}
PING = {"jsonrpc": "2.0", "id": "after", "method": "ping"}
POSTS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


class Raw:
    """A server's process, spoken to in bytes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self.stdin = process.stdin
        self.stdout = process.stdout

    async def send(self, *messages: Any) -> None:
        for message in messages:
            raw = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.stdin.write(raw + b"\n")
            await self.stdin.drain()

    async def receive(self) -> Any:
        async with asyncio.timeout(60):
            return json.loads(await self.stdout.readline())

    def peak_mb(self) -> float:
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
        raise AssertionError


@asynccontextmanager
async def raw(*, is_own: bool = False) -> AsyncIterator[Raw]:
    """Start a server; one whose memory is measured is a process of its own."""
    own = server_command()
    process = await asyncio.create_subprocess_exec(
        *(own if is_own else WARM_SERVERS.choose_command(["mcp"], os.environ)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=16 * MB,
    )
    spoken = Raw(process)
    try:
        await spoken.send(INITIALIZE)
        assert (await spoken.receive())["id"] == 1
        yield spoken
    finally:
        if process.returncode is None:
            spoken.stdin.close()
        async with asyncio.timeout(60):
            await process.communicate()


def tool(number: object, name: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


# What is sent, and the id and the code of the error that answers it.
NO_MESSAGES = [
    (b"{not json", None, -32700),
    (b"\xff\xfe{}", None, -32700),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping\xff"}', None, -32700),
    (b"[" * 100_000, None, -32700),
    (b'{"a":' * 10_000 + b"1" + b"}" * 10_000, None, -32700),
    (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', None, -32600),
    (b'"text"', None, -32600),
    (b"null", None, -32600),
    (b"{}", None, -32600),
    (b'{"jsonrpc":"2.0","id":7}', 7, -32600),
    (b'{"jsonrpc":"1.0","id":8,"method":"ping"}', 8, -32600),
    (b'{"jsonrpc":"2.0","id":"q","method":4}', "q", -32600),
    (b'{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}', None, -32600),
    (b'{"jsonrpc":"2.0","id":9,"method":"nosuch"}', 9, -32601),
    (b'{"jsonrpc":"2.0","id":10,"method":"tools/call"}', 10, -32602),
    (b'{"jsonrpc":"2.0","id":11,"method":"tools/call","params":[1]}', 11, -32600),
]


async def test_what_is_no_message_is_answered_with_an_error_and_the_next_is_served(
    runtime_dir,
) -> None:
    async with raw() as server:
        for sent, number, code in NO_MESSAGES:
            await server.send(sent, PING)
            refused = await server.receive()
            assert (refused["id"], refused["error"]["code"]) == (number, code), sent[:60]
            assert refused["error"]["message"]
            assert (await server.receive())["id"] == "after", sent[:60]


async def test_a_message_of_50_mb_is_refused_in_bounded_memory(runtime_dir) -> None:
    async with raw(is_own=True) as server:
        before = server.peak_mb()
        huge = b'{"name":"debug_query","arguments":{"function":"' + b"x" * (50 * MB) + b'"}}'
        # Clients write the id first, or last.
        await server.send(b'{"jsonrpc":"2.0","id":71,"method":"tools/call","params":' + huge + b"}")
        await server.send(b'{"method":"tools/call","params":' + huge + b',"jsonrpc":"2.0","id":72}')
        await server.send(b"x" * (50 * MB), PING)
        for number in (71, 72, None):
            refused = await server.receive()
            assert (refused["id"], refused["error"]["code"]) == (number, -32600)
            assert "of at most" in refused["error"]["message"]
        assert (await server.receive())["id"] == "after"
        assert server.peak_mb() < before + 20


async def test_a_client_that_does_not_read_is_not_listened_to_and_starves_nobody(
    runtime_dir,
) -> None:
    async with raw(is_own=True) as flooding, connect_stdio() as other:
        before = flooding.peak_mb()
        await other.call("debug_launch", command=str(find_source("loop.py")), stopOnEntry=True)
        many = [tool(number, "debug_command", command="help") for number in range(500)]
        sending = asyncio.ensure_future(flooding.send(*many))
        for _ in range(20):
            async with asyncio.timeout(60):
                assert (await other.call("debug_session")).data["state"] == "stopped"
        assert flooding.peak_mb() < before + 60
        # Who begins to read gets an answer to each, be it a refusal.
        answers = [await flooding.receive() for _ in range(500)]
        await sending
        assert sorted(one["id"] for one in answers) == list(range(500))
        assert any("result" in one for one in answers)


async def test_waits_do_not_keep_a_cancellation_from_being_heard(runtime_dir) -> None:
    async with raw() as server:
        launch = tool("launch", "debug_launch", command=str(find_source("endless.py")), timeoutMs=1)
        await server.send(launch)
        assert (await server.receive())["id"] == "launch"
        waits = [tool(number, "debug_session", action="wait") for number in range(300)]
        await server.send(*waits)
        refused = {(await server.receive())["id"] for _ in range(300 - 256)}
        assert refused == set(range(256, 300))
        for number in range(256):
            params = {"requestId": number}
            notification = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
            await server.send(notification)
        await server.send(tool("pause", "debug_session", action="pause"))
        told = await server.receive()
        assert told["id"] == "pause"
        assert told["result"]["structuredContent"]["status"] == "paused"


async def test_the_server_ends_with_its_input_and_leaves_only_the_daemon(cli, runtime_dir) -> None:
    async with raw() as server:
        await server.send(
            tool(2, "debug_launch", command=str(find_source("endless.py")), timeoutMs=1)
        )
        await server.receive()
        await server.send(tool(3, "debug_session", action="wait"))
        server.stdin.close()
        async with asyncio.timeout(ENDS_S):
            rest = await server.stdout.read()
            await server.process.wait()
        assert server.process.returncode == 0
        assert json.loads(rest)["id"] == 3  # the wait was ended, and says so
    assert cli("status", check=0).out.startswith("endless: running")


async def test_a_pipe_that_closes_at_once_gets_the_answers(runtime_dir) -> None:
    process = await asyncio.create_subprocess_exec(
        *server_command(), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    # Without a line's end behind the last one.
    sent = b"\n".join(json.dumps(one).encode() for one in (INITIALIZE, listing))
    async with asyncio.timeout(60):
        out, _ = await process.communicate(sent)
    answers = [json.loads(line) for line in out.splitlines()]
    assert [one["id"] for one in answers] == [1, 2]
    assert len(answers[1]["result"]["tools"]) >= 15


async def test_a_client_that_hangs_up_at_once_leaves_no_trace(runtime_dir) -> None:
    reader, writer = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *server_command(),
        stdin=asyncio.subprocess.PIPE,
        stdout=writer,
        stderr=asyncio.subprocess.PIPE,
    )
    os.close(writer)
    os.close(reader)
    assert process.stdin is not None
    process.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    async with asyncio.timeout(60):
        _, err = await process.communicate()
    assert (process.returncode, err) == (0, b"")


@pytest.mark.parametrize("stream", ["<&-", ">&-"])
async def test_a_closed_stream_is_a_usage_error(runtime_dir, stream) -> None:
    process = await asyncio.create_subprocess_exec(
        *("/bin/sh", "-c", f'"$@" {stream}', "sh", *server_command()),
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(60):
        _, err = await process.communicate()
    assert process.returncode == 2
    assert err.startswith(b"error: standard ")
    assert b"hint: " in err


def test_another_address_than_this_machines_is_a_usage_error(cli) -> None:
    answer = cli("mcp", "--http", "0.0.0.0:0", check=2)
    assert answer.err.startswith("error: 0.0.0.0 is not this machine alone")
    assert "hint: debugger mcp --http 127.0.0.1:0" in answer.err


async def test_a_port_that_is_taken_is_a_usage_error(cli) -> None:
    async with start_http_server() as server:
        taken = server.url.removeprefix("http://").removesuffix("/mcp")
        answer = await asyncio.to_thread(cli, "mcp", "--http", taken)
    assert answer.exit == 2
    assert answer.err.startswith(f"error: cannot listen at {taken}: ")


@pytest.mark.parametrize("at", ["127.0.0.1:0", "localhost:0", "[::1]:0", "127.0.0.2:0"])
async def test_each_loopback_address_can_be_served_under_its_own_name(runtime_dir, at) -> None:
    async with start_http_server(at=at) as server, httpx2.AsyncClient() as http:
        headers = {**POSTS, **server.headers}
        answer = await http.post(server.url, json=INITIALIZE, headers=headers)
        assert answer.status_code == 200


async def test_the_token_is_in_a_private_file_that_goes_with_the_server(runtime_dir) -> None:
    async with start_http_server() as server:
        (kept,) = runtime_dir.glob("mcp-*.token")
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert len(server.token) >= 32
    assert not kept.exists()


async def test_a_token_of_the_environment_is_taken_and_kept_from_the_programs(
    cli, runtime_dir
) -> None:
    async with (
        start_http_server(env={"DEBUGGER_MCP_TOKEN": "known-to-both"}) as server,
        server.connected() as agent,
    ):
        assert not list(runtime_dir.glob("mcp-*.token"))
        await agent.call("debug_launch", command=str(find_source("loop.py")), stopOnEntry=True)
        expression = "'DEBUGGER_MCP_TOKEN' in __import__('os').environ"
        assert (await agent.call("debug_evaluate", expression=expression)).data["value"] == "False"


# Which headers are changed, and the status that answers them.
HEADERS: list[tuple[dict[str, str | None], int]] = [
    ({"Authorization": None}, 401),
    ({"Authorization": "Bearer wrong"}, 401),
    ({"Authorization": "Bearer"}, 401),
    ({"Authorization": "Bearer \xfc"}, 401),
    ({"Authorization": "Basic TOKEN"}, 401),
    ({"Authorization": "TOKEN"}, 401),
    ({"Origin": "http://evil.example"}, 403),
    ({"Origin": "null"}, 403),
    ({"Origin": "http://evil.example", "Authorization": None}, 403),
    ({"Origin": "http://localhost.evil.example:PORT"}, 403),
    ({"Host": "evil.example"}, 421),
    ({"Host": "evil.example:PORT"}, 421),
    ({"Host": "127.0.0.1:1"}, 421),
    ({"Host": "localhost:PORT"}, 200),
    ({"Origin": "http://localhost:PORT"}, 200),
    ({}, 200),
]


async def test_who_may_not_is_refused(runtime_dir) -> None:
    async with start_http_server() as server, httpx2.AsyncClient() as http:
        port = server.url.split(":")[-1].removesuffix("/mcp")
        for changed, status in HEADERS:
            headers = {**POSTS, **server.headers}
            for name, value in changed.items():
                if value is None:
                    del headers[name]
                else:
                    headers[name] = value.replace("TOKEN", server.token).replace("PORT", port)
            raw_headers = [(name, value.encode("latin-1")) for name, value in headers.items()]
            answer = await http.post(server.url, json=INITIALIZE, headers=raw_headers)
            assert answer.status_code == status, changed
            assert server.token not in answer.text


@pytest.mark.parametrize("is_declared", [True, False])
async def test_a_body_that_is_too_large_is_refused(runtime_dir, is_declared) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(6):
            yield b"x" * MB

    async with start_http_server() as server, httpx2.AsyncClient() as http:
        content = b"x" * (6 * MB) if is_declared else chunks()
        headers = {**POSTS, **server.headers}
        with contextlib.suppress(httpx2.WriteError):
            answer = await http.post(server.url, content=content, headers=headers)
            assert answer.status_code == 413
        assert (await http.post(server.url, json=INITIALIZE, headers=headers)).status_code == 200


async def test_a_flood_over_http_does_not_starve_another_client(runtime_dir) -> None:
    async with start_http_server() as server, server.connected(mode="legacy") as other:
        told = await other.call(
            "debug_launch", command=str(find_source("loop.py")), stopOnEntry=True
        )
        host, _, port = server.url.removeprefix("http://").removesuffix("/mcp").rpartition(":")
        body = json.dumps(tool(1, "debug_session", action="list")).encode()
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: {host}:{port}\r\n"
            f"Authorization: Bearer {server.token}\r\nContent-Length: {len(body)}\r\n"
            "MCP-Protocol-Version: 2025-06-18\r\nAccept: application/json, text/event-stream\r\n"
            "Content-Type: application/json\r\n\r\n"
        ).encode()
        opened = []
        try:
            for _ in range(200):
                opened.append(await asyncio.open_connection(host, int(port)))
                opened[-1][1].write((head + body) * 5)  # in a row, and no answer is read
            for _ in range(20):
                async with asyncio.timeout(ENDS_S):
                    status = await other.call("debug_session")
                assert status.data["session"] == told.data["sessionId"]
        finally:
            for _, writer in opened:
                writer.close()


async def test_a_server_over_http_ends_with_its_streams_open(
    runtime_dir,
) -> None:
    async with start_http_server() as server, server.connected(mode="legacy") as agent:
        await agent.call("debug_launch", command=str(find_source("endless.py")), timeoutMs=1)
        waiting = asyncio.ensure_future(agent.ask("debug_session", action="wait"))
        await agent.call("debug_session")
        server.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(ENDS_S):
            assert await server.process.wait() == 0
        with pytest.raises(MCPError, match="the server was stopped"):
            await waiting
        assert server.process.stderr is not None
        assert await server.process.stderr.read() == b""
