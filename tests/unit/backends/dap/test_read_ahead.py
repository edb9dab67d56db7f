"""At the end of a step, what a report reads is sent before it is requested."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import msgspec
import pytest

from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.dap_inspection import LEVELS, ReadAhead
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import Frame, Scope, ScopeKind, Stack
from event_loop import begin_task

STACK = {"stackFrames": [{"id": 7, "name": "work", "line": 3}]}
SCOPES = {
    "scopes": [
        {"name": "Locals", "variablesReference": 1},
        {"name": "Globals", "variablesReference": 2},
    ]
}
READ_STACK = ("stackTrace", ask.StackTraceArguments(1, 0, LEVELS))
READ_SCOPES = ("scopes", ask.FrameArguments(7))
READ_VARIABLES = ("variables", ask.VariablesArguments(1))


class Adapter:
    """Collects the requests, and answers the last one."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, msgspec.Struct]] = []
        self.responses: list[asyncio.Future[dap.DapMessage]] = []
        self.is_gone = False

    def post_request(
        self, command: str, arguments: msgspec.Struct
    ) -> asyncio.Future[dap.DapMessage]:
        if self.is_gone:
            raise DebuggerError(ErrorCode.ADAPTER_DIED, "gone")
        self.sent.append((command, arguments))
        self.responses.append(asyncio.get_running_loop().create_future())
        return self.responses[-1]

    def set_response(self, body: dict[str, Any], *, success: bool = True) -> asyncio.Event:
        """Answer the last request; the event is set after whoever waited has handled it."""
        handled = asyncio.Event()
        # Callbacks of a future run in the order in which they were added.
        self.responses[-1].add_done_callback(lambda _: handled.set())
        raw = msgspec.Raw(json.dumps(body).encode())
        self.responses[-1].set_result(dap.DapMessage(type="response", success=success, body=raw))
        return handled

    async def respond(self, body: dict[str, Any], *, success: bool = True) -> None:
        await self.set_response(body, success=success).wait()


def scopes(found: tuple[dap.DapScope, ...]) -> list[Scope]:
    kinds = {"Locals": ScopeKind.LOCALS}
    return [
        Scope(one.name, kinds.get(one.name, ScopeKind.GLOBALS), one.variables_reference)
        for one in found
    ]


@pytest.fixture
async def adapter() -> Adapter:
    return Adapter()


@pytest.fixture
async def ahead(adapter: Adapter) -> ReadAhead:
    made = ReadAhead(adapter, scopes)
    made.note_read()
    return made


async def test_stack_scopes_and_locals_are_sent_one_after_the_other(adapter, ahead):
    ahead.begin_reading(1, None)
    await adapter.respond(STACK)
    await adapter.respond(SCOPES)
    assert adapter.sent == [READ_STACK, READ_SCOPES, READ_VARIABLES]
    assert [ahead.take_response(*one) for one in adapter.sent] == adapter.responses


async def test_of_a_known_stack_the_scopes_are_sent_at_once(adapter, ahead):
    ahead.begin_reading(1, Stack((Frame(index=0, function="work", handle=7),), 1))
    assert adapter.sent == [READ_SCOPES]


async def test_nothing_is_sent_where_the_stop_before_was_not_read(adapter, ahead):
    ahead.begin_reading(1, None)
    ahead.begin_reading(1, None)
    assert adapter.sent == [READ_STACK]


async def test_a_response_is_taken_once_and_by_the_same_request_only(adapter, ahead):
    ahead.begin_reading(1, None)
    assert ahead.take_response("stackTrace", ask.StackTraceArguments(2, 0, LEVELS)) is None
    assert ahead.take_response(*READ_STACK) is adapter.responses[0]
    assert ahead.take_response(*READ_STACK) is None


async def test_whoever_takes_a_response_makes_the_next_request(adapter, ahead):
    ahead.begin_reading(1, None)
    ahead.take_response(*READ_STACK)
    await adapter.respond(STACK)
    assert adapter.sent == [READ_STACK]


async def test_what_was_sent_serves_nobody_once_it_is_forgotten(adapter, ahead):
    ahead.begin_reading(1, None)
    ahead.forget_requests()
    assert ahead.take_response(*READ_STACK) is None
    await adapter.respond(STACK)
    assert adapter.sent == [READ_STACK]


@pytest.mark.parametrize(
    ("body", "success"), [({}, False), ({"stackFrames": 3}, True), ({"stackFrames": []}, True)]
)
async def test_a_failure_ends_it_without_a_word(adapter, ahead, body, success):
    ahead.begin_reading(1, None)
    await adapter.respond(body, success=success)
    assert adapter.sent == [READ_STACK]
    assert ahead.take_response(*READ_STACK) is adapter.responses[0]


async def test_before_the_program_runs_on_what_was_sent_is_answered(adapter, ahead):
    ahead.begin_reading(1, None)
    settling = await begin_task(ahead.wait_for_responses())
    assert not settling.done()
    await adapter.respond(STACK)
    await settling
    assert adapter.sent == [READ_STACK]
    assert ahead.take_response(*READ_STACK) is None


async def test_a_response_that_arrives_as_the_program_runs_on_leads_to_no_request(adapter, ahead):
    ahead.begin_reading(1, None)
    handled = adapter.set_response(STACK)  # its callback is due, and has not been called
    await ahead.wait_for_responses()
    await handled.wait()
    assert adapter.sent == [READ_STACK]


async def test_without_an_adapter_nothing_is_sent(adapter, ahead):
    adapter.is_gone = True
    ahead.begin_reading(1, None)
    assert adapter.sent == []


async def test_answers_that_came_with_the_stop_are_taken_and_nothing_is_sent(adapter, ahead):
    answers = [
        dap.AheadAnswer(command, msgspec.Raw(msgspec.json.encode(arguments)), msgspec.Raw(b"{}"))
        for command, arguments in (READ_STACK, READ_SCOPES, READ_VARIABLES)
    ]
    ahead.take_answers(answers)
    taken = [ahead.take_response(*one) for one in (READ_STACK, READ_SCOPES, READ_VARIABLES)]
    assert all(one is not None and one.result().success for one in taken)
    assert adapter.sent == []
    assert ahead.take_response(*READ_STACK) is None
