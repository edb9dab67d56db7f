"""Commands that let the program run, and wait; each answers with where it stopped."""

from __future__ import annotations

from typing import Annotated

from debugger.commands.breakpoints import spec_of
from debugger.commands.call import Call
from debugger.core import answers
from debugger.core.command import Arg, Opt, command
from debugger.core.model import Resume
from debugger.core.state import State
from debugger.errors import Code, DebuggerError
from debugger.session import stepping

GROUP = "Running"
_PAUSE_S = 10.0
_Timeout = Annotated[float | None, Opt("--timeout", help="seconds to wait", metavar="S")]
_Count = Annotated[int, Arg("COUNT", "how many times")]


@command("continue", aliases=("c",), group=GROUP)
async def continue_(
    call: Call,
    *,
    timeout: _Timeout = None,
    no_wait: Annotated[bool, Opt("--no-wait", help="do not wait for a stop")] = False,
) -> answers.Answer:
    """Run to the next stop or the end."""
    patience = None if no_wait else call.patience(timeout)
    return await stepping.resume(call.session(), Resume.CONTINUE, patience)


@command("next", aliases=("n",), group=GROUP)
async def next_(call: Call, count: _Count = 1, *, timeout: _Timeout = None) -> answers.Answer:
    """Run to the next line, over calls."""
    return await stepping.steps(call.session(), Resume.NEXT, count, call.patience(timeout))


@command("step", aliases=("s",), group=GROUP)
async def step(call: Call, count: _Count = 1, *, timeout: _Timeout = None) -> answers.Answer:
    """Run to the next line, into calls."""
    return await stepping.steps(call.session(), Resume.STEP, count, call.patience(timeout))


@command("finish", aliases=("out",), group=GROUP)
async def finish(call: Call, *, timeout: _Timeout = None) -> answers.Answer:
    """Run until the current function has returned; shows what it returned where that is known."""
    return await stepping.resume(call.session(), Resume.FINISH, call.patience(timeout))


@command("until", group=GROUP)
async def until(
    call: Call,
    place: Annotated[str, Arg("LOC", "FILE:LINE, LINE of the current file, or FUNCTION")],
    *,
    timeout: _Timeout = None,
) -> answers.Answer:
    """Run to a place; other breakpoints stop it too, and are kept."""
    session = call.session()
    session.require(State.STOPPED, to="run to a place")
    spec = spec_of(call, session, place)
    if spec.address is not None:
        raise DebuggerError(
            Code.NOT_SUPPORTED, "cannot run to an address", hint="debugger until FILE:LINE"
        )
    return await stepping.until(session, spec, call.patience(timeout))


@command("pause", group=GROUP)
async def pause(call: Call, *, timeout: _Timeout = None) -> answers.Answer:
    """Stop the running program and show where it is.

    A program that waits inside a library may take long to stop: without --timeout, 10 seconds at
    most are waited.
    """
    most = min(_PAUSE_S, call.config.timeouts.await_default_secs)
    return await stepping.pause(call.session(), call.patience(most if timeout is None else timeout))


@command("await", aliases=("wait",), group=GROUP)
async def await_(call: Call, *, timeout: _Timeout = None) -> answers.Answer:
    """Wait for the next stop or the end."""
    return await stepping.wait(call.session(), call.patience(timeout))
