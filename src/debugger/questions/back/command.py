"""Defines the commands that go back to an earlier state of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import Argument, Option, register_command
from debugger.questions.back.earlier_stop import BackKind

if TYPE_CHECKING:
    from debugger.model import answers
    from debugger.questions.runner.command_call import CommandCall

GROUP = "Running"
_TIMEOUT_S = 60.0
_COUNT_MAX = 1_000
_Count = Annotated[int, Argument("COUNT", "how many times")]
_Timeout = Annotated[
    float | None, Option("--timeout", help="seconds for all runs (60)", metavar="S")
]


@register_command("back", group=GROUP, acts_on_program=True)
async def back(call: CommandCall, count: _Count = 1, *, timeout: _Timeout = None) -> answers.Answer:
    """Go back a line, over calls.

    The program is run again and brought to the stop before; first in private runs, which show that
    it comes to this stop again, with the same values. A program that runs differently each time is
    left where it is.
    """
    return await _go_back(call, BackKind.NEXT, count, timeout)


@register_command("back-step", group=GROUP, acts_on_program=True)
async def back_step(call: CommandCall, *, timeout: _Timeout = None) -> answers.Answer:
    """Go back a line, into calls.

    It is done as by `back`.
    """
    return await _go_back(call, BackKind.STEP, 1, timeout)


@register_command("back-finish", group=GROUP, acts_on_program=True)
async def back_finish(call: CommandCall, *, timeout: _Timeout = None) -> answers.Answer:
    """Go back to the function's call.

    The caller is stopped at that line; it is done as by `back`.
    """
    return await _go_back(call, BackKind.FINISH, 1, timeout)


@register_command("back-continue", group=GROUP, acts_on_program=True)
async def back_continue(
    call: CommandCall,
    *,
    to: Annotated[
        str | None, Option("--to", help="to the last hit of this location", metavar="LOC")
    ] = None,
    timeout: _Timeout = None,
) -> answers.Answer:
    """Go back to the stop before.

    That is the last stop at a breakpoint, or with --to the last hit of a location; it is done as by
    `back`.
    """
    return await _go_back(call, BackKind.CONTINUE, 1, timeout, to)


async def _go_back(
    call: CommandCall, kind: BackKind, count: int, timeout: float | None, to: str | None = None
) -> answers.Answer:
    from debugger.questions.back.going_back import BackRequest, go_back
    from debugger.questions.runner.command_call import spec_in_session

    if not 1 <= count <= _COUNT_MAX:
        raise DebuggerError(
            ErrorCode.USAGE, f"COUNT is 1 to {_COUNT_MAX:,}, not {count}", hint="debugger back 3"
        )
    session = call.current_session()
    spec = spec_in_session(call, session, to) if to is not None else None
    patience = call.wait_limit(_TIMEOUT_S if timeout is None else timeout)
    return await go_back(call.sessions, session, BackRequest(kind, count, spec), patience)
