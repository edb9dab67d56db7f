"""Answers an editor's requests that let the program run, or stop it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import Struct

from debugger.backends.abilities import (
    InstructionStepAbility,
    JumpAbility,
    SingleThreadAbility,
    StepTargetAbility,
)
from debugger.editors.breakpoint_requests import EditorSource
from debugger.editors.editor_channel import EditorRequest
from debugger.editors.editor_conversation import ANSWERED, EditorConversation
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.events import State
from debugger.model.program import ResumeKind
from debugger.session.session import Run, Session
from debugger.session.session_state import check_runs

Body = Mapping[str, Any] | None

_PAUSE_AGAIN_S = 2.0  # lldb-dap 19 loses a pause that comes before the program's own code
_PAUSES = 3
_GATHER_S = 1.0
_NAMES_SHOWN = 3


class ResumeArguments(Struct, frozen=True, rename="camel"):
    """DAP, ContinueArguments, NextArguments, StepInArguments and StepOutArguments."""

    thread_id: int
    single_thread: bool = False
    granularity: str = "statement"
    target_id: int | None = None


async def continue_program(editor: EditorConversation, request: EditorRequest) -> Body:
    """Let the program run."""
    return await _resume(editor, request, ResumeKind.CONTINUE)


async def step_over(editor: EditorConversation, request: EditorRequest) -> Body:
    """Step over calls."""
    return await _resume(editor, request, ResumeKind.NEXT)


async def step_in(editor: EditorConversation, request: EditorRequest) -> Body:
    """Step into the next call, or into the one of `stepInTargets`."""
    return await _resume(editor, request, ResumeKind.STEP)


async def step_out(editor: EditorConversation, request: EditorRequest) -> Body:
    """Run until the function has returned."""
    return await _resume(editor, request, ResumeKind.FINISH)


async def _resume(editor: EditorConversation, request: EditorRequest, how: ResumeKind) -> Body:
    arguments = request.decode_arguments(ResumeArguments)
    found = editor.values.find_thread(arguments.thread_id)
    session = found.session
    way = _way(editor, session, arguments, how)
    # The stop after it is reported after the response, and never before.
    async with editor.order:
        await session.run_job(lambda: session.resume(how, thread=found.thread, by=way))
        if editor.follower is not None:
            editor.follower.note_resumed(session)
        is_all = how is ResumeKind.CONTINUE and not arguments.single_thread
        body = {"allThreadsContinued": is_all} if how is ResumeKind.CONTINUE else None
        await editor.channel.send_response(request, body)
    return ANSWERED


def _way(
    editor: EditorConversation, session: Session, arguments: ResumeArguments, how: ResumeKind
) -> Run | None:
    """Return how to resume, where it is not the backend's usual way."""
    session.require_state(State.STOPPED, to=how.value)
    if arguments.target_id is not None and how is ResumeKind.STEP:
        target = editor.values.find_step_target(arguments.target_id)
        steps = session.backend.find_ability(StepTargetAbility)
        return lambda _, thread: steps.step_into_target(target, thread)
    is_step = how in {ResumeKind.NEXT, ResumeKind.STEP}
    if arguments.granularity == "instruction" and is_step:
        return session.backend.find_ability(InstructionStepAbility).step_instruction
    if arguments.single_thread:
        return session.backend.find_ability(SingleThreadAbility).resume_single_thread
    return None


class EditorThreadArguments(Struct, frozen=True, rename="camel"):
    """DAP, PauseArguments."""

    thread_id: int = 0
    # Ours: the process, of which a page may know no thread.
    session: str | None = None


async def pause(editor: EditorConversation, request: EditorRequest) -> Body:
    """Stop the process of a thread; the stop is reported as an event."""
    arguments = request.decode_arguments(EditorThreadArguments)
    session = editor.find_session(arguments.session)
    with suppress(DebuggerError):  # a thread that is not known yet: the process's own
        session = editor.values.find_thread(arguments.thread_id).session
    check_runs(session.target, to="pause")
    if session.state is State.STOPPED:
        return None
    await session.pause()
    editor.start_task(_pause_again(editor, session))
    return None


async def _pause_again(editor: EditorConversation, session: Session) -> None:
    for _ in range(_PAUSES):
        await asyncio.sleep(_PAUSE_AGAIN_S)
        if session.state is not State.RUNNING or not session.pause_requests.is_pending:
            return
        with suppress(DebuggerError):
            await session.pause()
    # The members of a group are paused together: one note tells of all.
    editor.not_paused.add(session.name)
    await asyncio.sleep(_GATHER_S)
    if names := sorted(editor.not_paused):
        editor.not_paused.clear()
        await editor.note(_not_paused_text(names), category="important")


def _not_paused_text(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMES_SHOWN])
    if len(names) > _NAMES_SHOWN:
        shown += f" and {len(names) - _NAMES_SHOWN} more"
    wait = "it waits" if len(names) == 1 else "they wait"
    seconds = _PAUSES * _PAUSE_AGAIN_S
    return f"{shown} did not stop within {seconds:g} s: {wait} in compiled code"


class EditorFrameArguments(Struct, frozen=True, rename="camel"):
    """DAP, StepInTargetsArguments."""

    frame_id: int


async def step_in_targets(editor: EditorConversation, request: EditorRequest) -> Body:
    """Return the calls of the line that can be stepped into."""
    arguments = request.decode_arguments(EditorFrameArguments)
    found = editor.values.find_frame(arguments.frame_id)
    session = found.session
    ability = session.backend.find_ability(StepTargetAbility)
    targets = await session.run_job(lambda: ability.list_step_targets(found.frame))
    return {
        "targets": [
            {"id": editor.values.add_step_target(one), "label": one.label} for one in targets
        ]
    }


class EditorGotoTargetsArguments(Struct, frozen=True):
    """DAP, GotoTargetsArguments."""

    source: EditorSource
    line: int


async def goto_targets(editor: EditorConversation, request: EditorRequest) -> Body:
    """Return the line itself: whether it can be gone to, the debugger says when it is."""
    arguments = request.decode_arguments(EditorGotoTargetsArguments)
    editor.session.backend.find_ability(JumpAbility)
    path = arguments.source.path
    if path is None:
        return {"targets": []}
    number = editor.values.add_line(path, arguments.line + 1 - editor.lines_from)
    label = f"line {arguments.line}"
    return {"targets": [{"id": number, "label": label, "line": arguments.line}]}


class EditorGotoArguments(Struct, frozen=True, rename="camel"):
    """DAP, GotoArguments."""

    thread_id: int
    target_id: int


async def goto(editor: EditorConversation, request: EditorRequest) -> Body:
    """Move execution to another line; nothing between runs."""
    arguments = request.decode_arguments(EditorGotoArguments)
    found = editor.values.find_thread(arguments.thread_id)
    file, line = editor.values.find_line(arguments.target_id)
    session = found.session
    session.require_state(State.STOPPED, to="jump")
    ability = session.backend.find_ability(JumpAbility)

    async def job() -> None:
        await ability.jump_to(file, line, found.thread)
        session.note_jump()

    async with editor.order:
        await session.run_job(job)
        await editor.channel.send_response(request)
    return ANSWERED


async def no_single_threads(editor: EditorConversation, request: EditorRequest) -> Body:
    """Refuse to end single threads: none of the debuggers can."""
    del editor, request
    raise DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        "no debugger here can end single threads",
        hint="terminate ends the program",
    )


async def no_way_back(editor: EditorConversation, request: EditorRequest) -> Body:
    """Refuse to run backwards."""
    del editor
    raise DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        f"{request.command} is not supported",
        hint="debugger back goes back, by another run",
    )
