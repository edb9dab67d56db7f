"""A pause of CodeLLDB's is reported only where the program stopped."""

from __future__ import annotations

from typing import Any

import pytest

from debugger.backends.adapters.lldb import codelldb_adapter
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import Frame, Stack, Stopped, StopReason

PAUSED = Stopped(reason=StopReason.PAUSE, raw_reason="pause", thread=7)


class OneThreadConnection:
    """A program of one thread, whose stack cannot be read for a `problem`."""

    def __init__(self, problem: str | None) -> None:
        self.problem = problem
        self.asked: list[tuple[str, Any]] = []

    async def read_stack(self, _thread: int, *, levels: int) -> Stack:
        if self.problem is not None:
            raise DebuggerError(ErrorCode.ADAPTER_FAILED, self.problem)
        return Stack((Frame(handle=1, index=0, function="main"),)[:levels], 1)

    async def send_request(self, command: str, arguments: Any, _body: Any) -> None:
        self.asked.append((command, arguments.thread_id))


async def settled(inside: Any) -> Stopped | None:
    assert PAUSED.reason in codelldb_adapter.CodeLldbAdapter().inspected_reasons
    return await codelldb_adapter.CodeLldbAdapter().inspect_stop(inside, PAUSED)


@pytest.mark.parametrize(
    "problem",
    [
        "Internal debugger error: Invalid thread_id.",
        "Not available while the process is running.",
    ],
)
async def test_a_pause_that_is_told_of_a_program_that_runs_is_asked_for_again(problem: str):
    inside = OneThreadConnection(problem)
    assert await settled(inside) is None
    assert inside.asked == [("pause", 7)]


async def test_a_pause_where_the_program_stands_is_told():
    inside = OneThreadConnection(None)
    assert await settled(inside) == PAUSED
    assert not inside.asked


async def test_another_problem_is_no_reason_to_ask_again():
    inside = OneThreadConnection("the adapter is gone")
    with pytest.raises(DebuggerError, match="is gone"):
        await settled(inside)
    assert not inside.asked
