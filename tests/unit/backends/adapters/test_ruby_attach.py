"""A program that `rdbg --open` started is entered by the gem's own debug server."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from debugger.backends.adapters.rdbg import ruby_attach
from debugger.backends.dap.dap_transport import MessageDecoder, encode_message

WITHIN_S = 0.05


class GemServerFake:
    """Answers as the server of the gem debug 1.4 does; `commands` are what it was asked."""

    def __init__(self) -> None:
        self.commands: list[str] = []
        self.code = ""
        self.released = asyncio.Event()
        self.left = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one client until it leaves."""
        decoder = MessageDecoder(sender="client")
        while chunk := await reader.read(1 << 16):
            for body in decoder.add_bytes(chunk):
                for answer in self._answer(msgspec.json.decode(body, type=dict[str, Any])):
                    writer.write(encode_message(msgspec.json.encode(answer)))
        self.left.set()
        writer.close()

    def _answer(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        command = request["command"]
        self.commands.append(command)
        response = {"type": "response", "command": command, "request_seq": request["seq"]}
        if command == "configurationDone":
            return [response, {"type": "event", "event": "stopped", "body": {"threadId": 1}}]
        if command == "stackTrace":
            response["body"] = {"stackFrames": [{"id": 7}]}
        if command == "evaluate":
            self.code = request["arguments"]["expression"]
        if command == "disconnect":
            self.released.set()
        return [response]


async def test_the_connection_to_the_gem_stays_until_the_entry_has_run():
    gem = GemServerFake()
    async with await asyncio.start_server(gem.serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        end_entry = await ruby_attach.enter_by_server(("127.0.0.1", port), "nothing")
        # Where the client leaves now, the gem 1.4 may drop the command to go on.
        assert gem.released.is_set()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(gem.left.wait(), WITHIN_S)
        end_entry()
        await gem.left.wait()
    assert gem.commands[-2:] == ["evaluate", "disconnect"]


def test_an_agent_that_cannot_be_loaded_holds_no_program():
    assert "$debugger_hold&.push(false)" in ruby_attach.entering_code(
        ruby_attach.Path("/agent/start.rb"), "/tmp/agent.sock"
    )
