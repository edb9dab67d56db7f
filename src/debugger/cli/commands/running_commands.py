"""Defines the commands that resume the program and wait for its next stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import Argument, Option, register_command
from debugger.model.debugger_words import one_line
from debugger.model.events import State
from debugger.model.hit_filter import EVERY_HIT, RUN_TO_REFUSALS, HitFilter, refuse_options
from debugger.model.program import ResumeKind
from debugger.questions.group.group_options import NO_CHOICE, GroupOptions

if TYPE_CHECKING:
    from debugger.model import answers
    from debugger.questions.runner.command_call import CommandCall

_UNTIL_HITS = refuse_options(RUN_TO_REFUSALS, help={"nth": "run to the Kth hit"})
GROUP = "Running"
_PAUSE_S = 10.0
_GROUP_PAUSE_S = 1.0
_Timeout = Annotated[float | None, Option("--timeout", help="seconds to wait", metavar="S")]
_Instruction = Annotated[bool, Option("--instruction", help="by machine instructions, not lines")]
_Count = Annotated[int, Argument("COUNT", "how many times")]
_Own = Annotated[
    bool, Option("--own", help="stop in the program's own code only, not in libraries")
]


@register_command("continue", aliases=("c",), group=GROUP, acts_on_program=True)
async def continue_(
    call: CommandCall,
    *,
    thread: Annotated[
        int | None, Option("--thread", help="only this thread; the others stay", metavar="N")
    ] = None,
    choice: GroupOptions = NO_CHOICE,
    timeout: _Timeout = None,
    no_wait: Annotated[bool, Option("--no-wait", help="do not wait for a stop")] = False,
) -> answers.Answer:
    """Run to the next stop or the end."""
    from debugger.backends.abilities import SingleThreadAbility
    from debugger.questions.group import group_run
    from debugger.questions.group.group_choice import choose_members
    from debugger.session import inspection, stepping

    patience = None if no_wait else call.wait_limit(timeout)
    if thread is None and (chosen := await choose_members(call, choice)) is not None:
        return await group_run.continue_members(chosen, patience)
    session = call.current_session()
    if thread is None:
        return await stepping.resume_and_wait(session, ResumeKind.CONTINUE, patience)
    session.require_state(State.STOPPED, to="continue")
    await session.run_job(lambda: inspection.known_thread(session, thread))
    alone = session.backend.find_ability(SingleThreadAbility).resume_single_thread
    return await stepping.resume_and_wait(
        session, ResumeKind.CONTINUE, patience, thread=thread, by=alone
    )


@register_command("next", aliases=("n",), group=GROUP, acts_on_program=True)
async def next_(
    call: CommandCall,
    count: _Count = 1,
    *,
    by_instruction: _Instruction = False,
    own: _Own = False,
    timeout: _Timeout = None,
) -> answers.Answer:
    """Run to the next line, over calls."""
    steps = _step_times(
        call, ResumeKind.NEXT, count, timeout, by_instruction=by_instruction, own=own
    )
    return await steps


@register_command("step", aliases=("s",), group=GROUP, acts_on_program=True)
async def step(
    call: CommandCall,
    count: _Count = 1,
    *,
    by_instruction: _Instruction = False,
    into: Annotated[
        str | None, Option("--into", help="into the call of this function", metavar="NAME")
    ] = None,
    own: _Own = False,
    timeout: _Timeout = None,
) -> answers.Answer:
    """Run to the next line, into calls."""
    from debugger.session import stepping

    if into is None:
        steps = _step_times(
            call, ResumeKind.STEP, count, timeout, by_instruction=by_instruction, own=own
        )
        return await steps
    if by_instruction or own or count != 1:
        raise DebuggerError(
            ErrorCode.USAGE,
            "--into steps once, into a function",
            hint="debugger step --into NAME",
        )
    one_line(into)
    return await stepping.step_into(call.current_session(), into, call.wait_limit(timeout))


async def _step_times(
    call: CommandCall,
    how: ResumeKind,
    count: int,
    timeout: float | None,
    *,
    by_instruction: bool,
    own: bool,
) -> answers.Answer:
    from debugger.backends.abilities import InstructionStepAbility
    from debugger.session import stepping

    session, patience = call.current_session(), call.wait_limit(timeout)
    if own:
        if by_instruction:
            raise DebuggerError(
                ErrorCode.USAGE, "--own is for line steps", hint=f"debugger {how.value} --own"
            )
        async with stepping.own_code(session):
            return await stepping.own_steps(session, how, count, patience)
    if not by_instruction:
        answer = await stepping.step_times(session, how, count, patience)
        return stepping.note_library(session, answer)
    session.require_state(State.STOPPED, to="step")
    one = session.backend.find_ability(InstructionStepAbility).step_instruction
    return await stepping.step_times(session, how, count, patience, by=one)


@register_command("finish", aliases=("out",), group=GROUP, acts_on_program=True)
async def finish(
    call: CommandCall, *, own: _Own = False, timeout: _Timeout = None
) -> answers.Answer:
    """Run to the end of the function: the selected frame's; shows what it returned.

    What it returned is known where the debugger can tell; breakpoints that are hit stop it.
    """
    from debugger.session import stepping

    session = call.current_session()
    if not own:
        return await stepping.finish_function(session, call.wait_limit(timeout))
    async with stepping.own_code(session):
        patience = call.wait_limit(timeout)
        return await stepping.leave_library(
            session, await stepping.finish_function(session, patience), patience
        )


@register_command("until", group=GROUP, acts_on_program=True)
async def until(
    call: CommandCall,
    place: Annotated[
        str, Argument("LOC", "FILE:LINE, LINE of the current file, FUNCTION, or *0xADDR")
    ],
    *,
    hits: Annotated[HitFilter, _UNTIL_HITS] = EVERY_HIT,
    timeout: _Timeout = None,
) -> answers.Answer:
    """Run to a location; other breakpoints stop the program too, and are kept."""
    from debugger.questions.runner.command_call import spec_in_session
    from debugger.questions.runner.filtered_breakpoint import filter_in_session
    from debugger.session import stepping

    session = call.current_session()
    session.require_state(State.STOPPED, to="run to a location")
    spec = spec_in_session(call, session, place)
    spec = filter_in_session(call, session, spec, hits, command="until")
    return await stepping.run_until(session, spec, call.wait_limit(timeout))


@register_command("jump", group=GROUP, acts_on_program=True)
async def jump(
    call: CommandCall,
    place: Annotated[str, Argument("LOC", "LINE of the current file, or FILE:LINE")],
    *,
    timeout: _Timeout = None,
) -> answers.Answer:
    """Continue from another line, without running the lines between."""
    from debugger.questions.runner.command_call import spec_in_session
    from debugger.session import stepping

    session = call.current_session()
    session.require_state(State.STOPPED, to="jump")
    return await stepping.jump_to_line(
        session, spec_in_session(call, session, place), call.wait_limit(timeout)
    )


@register_command("pause", group=GROUP, acts_on_program=True)
async def pause(
    call: CommandCall,
    *,
    every: Annotated[
        bool, Option("--all", help="every thread, where each stops on its own")
    ] = False,
    choice: GroupOptions = NO_CHOICE,
    timeout: _Timeout = None,
) -> answers.Answer:
    """Stop the running program; shows where it is.

    A program that waits inside a library may take long to stop. Without --timeout, the command
    waits at most 10 seconds, and 1 second for a group.
    """
    from debugger.questions.group import group_pause
    from debugger.questions.group.group_choice import choose_members
    from debugger.session import stepping

    if (chosen := await choose_members(call, choice, asks_names=False)) is not None:
        within = call.wait_limit(_GROUP_PAUSE_S if timeout is None else timeout, ends_idle=False)
        return await group_pause.pause_members(chosen, within, waits_for_all=timeout is not None)
    most = min(_PAUSE_S, call.config.timeouts.await_default_secs)
    patience = call.wait_limit(most if timeout is None else timeout, ends_idle=False)
    how = stepping.pause_all if every else stepping.pause_program
    return await how(call.current_session(), patience)


@register_command("await", aliases=("wait",), group=GROUP)
async def await_(
    call: CommandCall, *, choice: GroupOptions = NO_CHOICE, timeout: _Timeout = None
) -> answers.Answer:
    """Wait for the next stop or the end, or until a person who has taken over hands back.

    It also waits for an idle server, since a request may arrive.
    """
    from debugger.questions.group import group_run
    from debugger.questions.group.group_choice import choose_members
    from debugger.session import stepping

    most = call.config.timeouts.await_default_secs if timeout is None else timeout
    if (chosen := await choose_members(call, choice)) is not None:
        return await group_run.wait_for_group(chosen, call.wait_limit(most))
    session = call.current_session()
    if session.control.holder is not None:
        return await stepping.wait_handed_back(session, call.wait_limit(most))
    return await stepping.wait_for_stop(session, call.wait_limit(most))
