"""Commands that let the program run, and wait; each answers with where it stopped."""

from __future__ import annotations

from typing import Annotated

from debugger.backends.abilities import InstructionSteps, ThreadsAlone
from debugger.commands.breakpoints import spec_of
from debugger.commands.call import Call
from debugger.core import answers
from debugger.core.command import Arg, Opt, command
from debugger.core.model import Resume
from debugger.core.state import State
from debugger.core.words import one_line
from debugger.errors import Code, DebuggerError
from debugger.session import looking, stepping

GROUP = "Running"
_PAUSE_S = 10.0
_Timeout = Annotated[float | None, Opt("--timeout", help="seconds to wait", metavar="S")]
_Instruction = Annotated[bool, Opt("--instruction", help="by machine instructions, not lines")]
_Count = Annotated[int, Arg("COUNT", "how many times")]
_Own = Annotated[bool, Opt("--own", help="stop in the program's own code only, not in libraries")]


@command("continue", aliases=("c",), group=GROUP)
async def continue_(
    call: Call,
    *,
    thread: Annotated[
        int | None, Opt("--thread", help="only this thread; the others stay", metavar="N")
    ] = None,
    timeout: _Timeout = None,
    no_wait: Annotated[bool, Opt("--no-wait", help="do not wait for a stop")] = False,
) -> answers.Answer:
    """Run to the next stop or the end."""
    session = call.session()
    patience = None if no_wait else call.patience(timeout)
    if thread is None:
        return await stepping.resume(session, Resume.CONTINUE, patience)
    session.require(State.STOPPED, to="continue")
    await session.do(lambda: looking.known_thread(session, thread))
    alone = session.backend.ability(ThreadsAlone).resume_alone
    return await stepping.resume(session, Resume.CONTINUE, patience, thread=thread, by=alone)


@command("next", aliases=("n",), group=GROUP)
async def next_(
    call: Call,
    count: _Count = 1,
    *,
    by_instruction: _Instruction = False,
    own: _Own = False,
    timeout: _Timeout = None,
) -> answers.Answer:
    """Run to the next line, over calls."""
    steps = _steps(call, Resume.NEXT, count, timeout, by_instruction=by_instruction, own=own)
    return await steps


@command("step", aliases=("s",), group=GROUP)
async def step(
    call: Call,
    count: _Count = 1,
    *,
    by_instruction: _Instruction = False,
    into: Annotated[
        str | None, Opt("--into", help="into the call of this function", metavar="NAME")
    ] = None,
    own: _Own = False,
    timeout: _Timeout = None,
) -> answers.Answer:
    """Run to the next line, into calls."""
    if into is None:
        steps = _steps(call, Resume.STEP, count, timeout, by_instruction=by_instruction, own=own)
        return await steps
    if by_instruction or own or count != 1:
        raise DebuggerError(
            Code.USAGE,
            "--into steps once, into a function",
            hint="debugger step --into NAME",
        )
    one_line(into)
    return await stepping.into(call.session(), into, call.patience(timeout))


async def _steps(
    call: Call, how: Resume, count: int, timeout: float | None, *, by_instruction: bool, own: bool
) -> answers.Answer:
    session, patience = call.session(), call.patience(timeout)
    if own:
        if by_instruction:
            raise DebuggerError(Code.USAGE, "--own is of lines", hint=f"debugger {how.value} --own")
        async with stepping.own_code(session):
            return await stepping.own_steps(session, how, count, patience)
    if not by_instruction:
        answer = await stepping.steps(session, how, count, patience)
        return stepping.note_library(session, answer)
    session.require(State.STOPPED, to="step")
    one = session.backend.ability(InstructionSteps).step_instruction
    return await stepping.steps(session, how, count, patience, by=one)


@command("finish", aliases=("out",), group=GROUP)
async def finish(call: Call, *, own: _Own = False, timeout: _Timeout = None) -> answers.Answer:
    """Run to the end of the function: the selected frame's; shows what it returned.

    What it returned is known where the debugger can tell; breakpoints that are hit stop it.
    """
    session = call.session()
    if not own:
        return await stepping.finish(session, call.patience(timeout))
    async with stepping.own_code(session):
        patience = call.patience(timeout)
        return await stepping.leave_library(
            session, await stepping.finish(session, patience), patience
        )


@command("until", group=GROUP)
async def until(
    call: Call,
    place: Annotated[str, Arg("LOC", "FILE:LINE, LINE of the current file, FUNCTION, or *0xADDR")],
    *,
    timeout: _Timeout = None,
) -> answers.Answer:
    """Run to a place; other breakpoints stop it too, and are kept."""
    session = call.session()
    session.require(State.STOPPED, to="run to a place")
    spec = spec_of(call, session, place)
    return await stepping.until(session, spec, call.patience(timeout))


@command("jump", group=GROUP)
async def jump(
    call: Call,
    place: Annotated[str, Arg("LOC", "LINE of the current file, or FILE:LINE")],
    *,
    timeout: _Timeout = None,
) -> answers.Answer:
    """Go on from another line, without running what is between."""
    session = call.session()
    session.require(State.STOPPED, to="jump")
    return await stepping.jump(session, spec_of(call, session, place), call.patience(timeout))


@command("pause", group=GROUP)
async def pause(
    call: Call,
    *,
    every: Annotated[bool, Opt("--all", help="every thread, where each stops on its own")] = False,
    timeout: _Timeout = None,
) -> answers.Answer:
    """Stop the running program; shows where it is.

    A program that waits inside a library may take long to stop: without --timeout, 10 seconds at
    most are waited.
    """
    most = min(_PAUSE_S, call.config.timeouts.await_default_secs)
    patience = call.patience(most if timeout is None else timeout, ends_idle=False)
    how = stepping.pause_all if every else stepping.pause
    return await how(call.session(), patience)


@command("await", aliases=("wait",), group=GROUP)
async def await_(call: Call, *, timeout: _Timeout = None) -> answers.Answer:
    """Wait for the next stop or the end.

    A program that serves is waited for though it is idle: a request may come.
    """
    most = call.config.timeouts.await_default_secs if timeout is None else timeout
    return await stepping.wait(call.session(), call.patience(most))
