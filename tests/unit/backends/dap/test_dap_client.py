"""Every request gets its response or an error, whatever the adapter sends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from debugger.backends.dap import messages as dap
from debugger.backends.dap.dap_client import DapClient, decode_body, response_error_text
from debugger.errors import DebuggerError, ErrorCode

BOUND_S = 60.0


class End:
    """A client, and what it wrote and heard."""

    def __init__(self, tasks: asyncio.TaskGroup) -> None:
        self.written: list[dict[str, Any]] = []
        self.wrote = asyncio.Event()
        self.events: list[tuple[str, bytes]] = []
        self.client = DapClient(
            "toy",
            write=self._write,
            on_event=lambda name, body: self.events.append((name, bytes(body))),
            on_request=self._answer,
            tasks=tasks,
            busy_s=0.01,
        )

    def _write(self, body: bytes) -> None:
        self.written.append(json.loads(body))
        self.wrote.set()

    async def _answer(self, command: str, raw: msgspec.Raw) -> dict[str, Any]:
        if command == "startDebugging":
            return {"got": msgspec.json.decode(raw, type=dap.StartDebuggingArguments).request}
        raise DebuggerError(ErrorCode.NOT_SUPPORTED, f"unknown request {command!r}")

    def say(self, **message: Any) -> None:
        self.client.receive_message(json.dumps(message).encode())

    def respond(self, seq: int, **more: Any) -> None:
        self.say(type="response", request_seq=seq, success=True, **more)


@pytest.fixture
async def end() -> AsyncIterator[End]:
    async with asyncio.TaskGroup() as tasks:
        yield End(tasks)


async def send_request(end: End, command: str = "threads", within: float = BOUND_S) -> Any:
    task = asyncio.create_task(end.client.send_request(command, {}, dap.ThreadsBody, within=within))
    await asyncio.wait_for(end.wrote.wait(), BOUND_S)
    end.wrote.clear()
    return task


async def test_responses_find_their_requests_in_any_order(end):
    first, second = await send_request(end), await send_request(end)
    end.respond(2, body={"threads": [{"id": 2}]})
    end.respond(1, body={"threads": [{"id": 1}]})
    assert [(await one).threads[0].id for one in (first, second)] == [1, 2]


async def test_a_response_to_nothing_or_a_second_one_is_let_pass(end):
    first = await send_request(end)
    end.respond(77)
    end.respond(1, body=None)
    end.respond(1, body={"threads": [{"id": 1}]})
    assert (await first).threads == ()


async def test_a_late_response_is_a_time_out_and_then_nothing(end):
    late = await send_request(end, within=0.01)
    with pytest.raises(DebuggerError) as slow:
        await late
    assert slow.value.code is ErrorCode.TIMEOUT
    end.respond(1)
    following = await send_request(end)
    end.respond(2)
    assert (await following).threads == ()


async def test_what_follows_a_request_that_was_given_up_does_not_wait_as_long(end):
    with pytest.raises(DebuggerError, match="did not answer evaluate within"):
        await (await send_request(end, "evaluate", within=0.01))
    assert end.client.is_busy
    with pytest.raises(DebuggerError, match="since evaluate, which took too long"):
        await (await send_request(end))
    end.respond(1)
    assert not end.client.is_busy
    following = await send_request(end)
    end.respond(3)
    assert (await following).threads == ()


async def test_a_request_that_was_not_advertised_is_not_sent(end):
    with pytest.raises(DebuggerError) as refused:
        await end.client.send_request("readMemory", {}, dap.DapBody, within=BOUND_S)
    assert refused.value.code is ErrorCode.NOT_SUPPORTED
    assert end.written == []
    end.say(type="event", event="capabilities", body={"capabilities": {"supportsX": 1}})
    late = {"supportsReadMemoryRequest": True, "supportsStepBack": None}
    end.say(type="event", event="capabilities", body={"capabilities": late})
    assert end.client.supports_request("readMemory")
    assert not end.client.supports_request("stepBack")


async def test_malformed_capabilities_are_a_protocol_error(end):
    with pytest.raises(DebuggerError) as broken:
        end.client.merge_capabilities({"supportsReadMemoryRequest": "yes"})
    assert broken.value.code is ErrorCode.PROTOCOL


async def test_when_the_adapter_is_lost_all_that_waits_and_comes_fails(end):
    waiting = await send_request(end)
    gone = DebuggerError(ErrorCode.ADAPTER_DIED, "toy exited with 1")
    end.client.fail_all(gone)
    for one in (waiting, end.client.send_request("threads", {}, dap.ThreadsBody, within=BOUND_S)):
        with pytest.raises(DebuggerError, match="toy exited with 1"):
            await one


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"3",
        b"{",
        b'{"seq":1}',
        b'{"type":3}',
        b'{"type":"response","success":"x"}',
        b'{"type":"event","event":"capabilities","body":[]}',
        b'{"type":"event","body":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b"\xff\xfe",
        b'{"type":"response","request_seq":' + b"9" * 5000 + b"}",
    ],
)
async def test_a_message_that_is_none_is_a_protocol_error(end, body):
    with pytest.raises(DebuggerError) as broken:
        end.client.receive_message(body)
    assert broken.value.code is ErrorCode.PROTOCOL


async def test_half_a_surrogate_pair_spoils_only_itself(end):
    first = await send_request(end, "threads")
    end.client.receive_message(
        b'{"type":"response","request_seq":1,"success":true,'
        b'"body":{"threads":[{"id":1,"name":"a\\ud800b\\\\ud800 \\ud83d\\ude00"}]}}'
    )
    assert (await first).threads[0].name == "a\\ud800b\\ud800 \N{GRINNING FACE}"


async def test_text_that_is_no_utf_8_is_refused_before_it_is_sent(end):
    with pytest.raises(DebuggerError) as refused:
        end.client.post_request("evaluate", {"expression": "a\udcff"})
    assert refused.value.code is ErrorCode.USAGE
    assert end.written == []
    following = await send_request(end)
    end.respond(1)
    assert (await following).threads == ()


async def test_a_request_of_the_adapters_is_answered_whatever_it_holds(end):
    for seq, message in enumerate(
        [
            {"command": "startDebugging", "arguments": {"configuration": {}}},
            {"command": "startDebugging", "arguments": {"configuration": 3}},
            {"command": "startDebugging"},
            {"command": "nosuch", "arguments": {}},
        ]
    ):
        end.say(type="request", seq=seq, **message)
        await asyncio.wait_for(end.wrote.wait(), BOUND_S)
        end.wrote.clear()
    assert [(one["request_seq"], one["success"]) for one in end.written] == [
        (0, True),
        (1, False),
        (2, False),
        (3, False),
    ]


@pytest.mark.parametrize(
    ("response", "text"),
    [
        ({"message": "notStopped"}, "notStopped"),
        ({"message": "no", "body": {"error": {"format": "a sentence"}}}, "a sentence"),
        ({"body": {"error": {"format": "no {x}", "variables": {"x": "y"}}}}, "no y"),
        ({"body": {"error": "text"}}, "text"),
        ({"body": {"error": 3}, "message": "short"}, "short"),
        ({"body": None}, "the adapter refused 'evaluate' without saying why"),
    ],
)
def test_an_error_is_read_wherever_the_adapter_put_it(response, text):
    raw = json.dumps({"type": "response", "command": "evaluate", **response}).encode()
    assert response_error_text(msgspec.json.decode(raw, type=dap.DapMessage)) == text


def test_a_missing_body_is_an_empty_one():
    assert decode_body(msgspec.Raw(b"null"), dap.ThreadsBody) == dap.ThreadsBody()
    with pytest.raises(DebuggerError):
        decode_body(msgspec.Raw(b'{"threads":3}'), dap.ThreadsBody)


async def test_all_messages_go_to_the_log_where_that_is_wanted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO")
    async with asyncio.TaskGroup() as tasks:
        for logs_messages in (False, True):
            client = DapClient(
                "toy",
                write=lambda _: None,
                on_event=lambda *_: None,
                on_request=None,  # type: ignore[arg-type]
                tasks=tasks,
                logs_messages=logs_messages,
            )
            client.post_request("threads", {})
            client.receive_message(b'{"seq":1,"type":"event","event":"stopped","body":{}}')
            assert ("dap from toy" in caplog.text) is logs_messages
    assert 'dap to toy: {"seq":1,"type":"request","command":"threads"' in caplog.text
