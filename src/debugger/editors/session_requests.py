"""Answers an editor's requests that begin and end a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from debugger.backends.base import AttachTarget, LaunchTarget
from debugger.editors import capabilities
from debugger.editors.editor_channel import EditorRequest
from debugger.editors.editor_conversation import ANSWERED, EditorConversation
from debugger.editors.session_follower import PageView
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.events import State
from debugger.questions.runner.command_call import (
    CommandCall,
    backend_maker,
    begin_session,
    locate_target,
    with_default,
)
from debugger.questions.runner.configured_target import (
    configured_attach,
    configured_launch,
    find_configuration,
)
from debugger.session import session_list
from debugger.session.selection import target_program
from debugger.session.session import Session
from debugger.targets import launch_target
from debugger.targets.launch_json.launch_configuration import (
    AttachConfiguration,
    names_server_or_core,
    read_attach,
    read_launch,
)
from debugger.targets.launch_json.named_configuration import Configuration

Body = Mapping[str, Any] | None


class EditorInitializeArguments(Struct, frozen=True, rename="camel"):
    """DAP, InitializeRequestArguments: what concerns us."""

    lines_start_at1: bool = True
    columns_start_at1: bool = True
    path_format: str = "path"
    supports_invalidated_event: bool = False
    supports_memory_event: bool = False
    supports_progress_reporting: bool = False


async def initialize(editor: EditorConversation, request: EditorRequest) -> Body:
    """Say what there is."""
    arguments = request.decode_arguments(EditorInitializeArguments)
    if arguments.path_format != "path":
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"paths as {arguments.path_format!r}",
            hint='"pathFormat": "path"',
        )
    editor.is_initialized = True
    editor.lines_from = int(arguments.lines_start_at1)
    editor.columns_from = int(arguments.columns_start_at1)
    editor.takes_invalidated = arguments.supports_invalidated_event
    editor.takes_memory = arguments.supports_memory_event
    editor.progress.is_requested = arguments.supports_progress_reporting
    return capabilities.general_capabilities()


async def launch(editor: EditorConversation, request: EditorRequest) -> Body:
    """Prepare a session; its program begins after `configurationDone`, which answers this, too."""
    _require_no_session(editor)
    arguments = request.arguments or {}
    call, name = editor.call, arguments.get("config")
    given: Configuration
    if isinstance(name, str) and name:
        found = find_configuration(call, name, ())
        given, call = found.given, found.call
    elif names_server_or_core(arguments):
        given = read_attach(arguments)
    else:
        given = read_launch(arguments)
    if isinstance(given, AttachConfiguration):
        return await _attach_to(editor, request, call, given)
    configured = configured_launch(call, given)
    target, adapter = launch_target.prepare_launch(with_default(call, configured.request))
    if given.python is not None and target.python is not None:
        await launch_target.check_python(target)
    session = await call.sessions.create(target, backend_maker(call, adapter), name=given.session)
    session.selection.note_file(launch_target.default_file(target))
    return await _begin_later(editor, request, session, configured.notes)


async def attach(editor: EditorConversation, request: EditorRequest) -> Body:
    """Join a session, or attach to a process, a core file or a debug server."""
    _require_no_session(editor)
    given = read_attach(request.arguments or {})
    return await _attach_to(editor, request, editor.call, given)


async def _attach_to(
    editor: EditorConversation,
    request: EditorRequest,
    call: CommandCall,
    given: AttachConfiguration,
) -> Body:
    if given.joins:
        return await _join(editor, request, given)
    prepared = await locate_target(
        configured_attach(call, given),
        hint='"processId": PID, or "session": NAME to join a session',
    )
    session = await call.sessions.create(
        prepared.target, backend_maker(call, prepared.adapter), name=None
    )
    return await _begin_later(editor, request, session, (*given.notes, *prepared.notes))


def _require_no_session(editor: EditorConversation) -> None:
    if editor.has_session:
        raise DebuggerError(
            ErrorCode.WRONG_STATE,
            "this conversation has a session already",
            hint="another `debugger dap` serves another",
        )


async def _begin_later(
    editor: EditorConversation, request: EditorRequest, session: Session, notes: Sequence[str]
) -> Body:
    """Take a session that begins with `configurationDone`, which also answers `request`."""
    editor.take_session(session, ends_program=True)

    async def begin() -> None:
        try:
            async with editor.progress.report_start(session, request.seq):
                await begin_session(editor.call, session)
        except DebuggerError as error:
            await editor.channel.send_error(request, error)
            await editor.channel.send_event("terminated")
            return
        async with editor.order:
            await editor.channel.send_response(request)
            await _report_begun(editor, session)
        editor.follow()

    editor.begin = begin
    await _send_notes(editor, notes)
    await editor.channel.send_event("initialized")
    return ANSWERED


async def _join(
    editor: EditorConversation, request: EditorRequest, given: AttachConfiguration
) -> Body:
    session = editor.call.sessions.get(given.session)
    page = None
    if given.page_key is not None:
        # It also shows what has ended.
        page = PageView(given.page_key, given.output_since or "0")
    else:
        session.require_live("join it")
    editor.take_session(session, ends_program=False, page=page)

    async def begin() -> None:
        async with editor.order:
            await _report_begun(editor, editor.session)
        editor.follow()

    editor.begin = begin
    await _send_notes(editor, given.notes)
    await editor.channel.send_response(request)
    await editor.channel.send_event("initialized")
    return ANSWERED


async def _send_notes(editor: EditorConversation, notes: Sequence[str]) -> None:
    for note in notes:
        await editor.note(note)


async def _report_begun(editor: EditorConversation, session: Session) -> None:
    """Say what is debugged, and by which debugger."""
    if session.is_live:
        body = {"capabilities": capabilities.session_capabilities(session)}
        await editor.channel.send_event("capabilities", body)
    is_launched = isinstance(session.target, LaunchTarget)
    process: dict[str, Any] = {
        "name": target_program(session.target) or session.name,
        "isLocalProcess": True,
        "startMethod": "launch" if is_launched else "attach",
    }
    if session.pid is not None:
        process["systemProcessId"] = session.pid
    await editor.channel.send_event("process", process)


async def configuration_done(editor: EditorConversation, request: EditorRequest) -> Body:
    """Let the program begin."""
    begin, editor.begin = editor.begin, None
    if begin is None:
        raise DebuggerError(
            ErrorCode.WRONG_STATE, "nothing waits for it", hint="send launch or attach first"
        )
    await editor.channel.send_response(request)
    await begin()
    return ANSWERED


async def restart(editor: EditorConversation, request: EditorRequest) -> Body:
    """Run the program again, with the same breakpoints."""
    del request
    session = editor.session
    await session.run_job(session.restart)
    return None


class EditorDisconnectArguments(Struct, frozen=True, rename="camel"):
    """DAP, DisconnectArguments."""

    restart: bool = False
    terminate_debuggee: bool | None = None


async def disconnect(editor: EditorConversation, request: EditorRequest) -> Body:
    """Leave the session: what the editor has started ends, what it has joined goes on."""
    arguments = request.decode_arguments(EditorDisconnectArguments)
    ends = arguments.terminate_debuggee
    if editor.has_session and ends and isinstance(editor.session.target, AttachTarget):
        await session_list.kill_attached(editor.call.sessions, editor.session)
    await editor.leave_session(ends_program=editor.ends_program if ends is None else ends)
    await editor.channel.send_response(request)
    editor.finish()
    return ANSWERED


async def terminate(editor: EditorConversation, request: EditorRequest) -> Body:
    """End the program, whoever began it."""
    del request
    session = editor.session
    if session.state is State.TERMINATED:
        return None
    if isinstance(session.target, AttachTarget):
        await session_list.kill_attached(editor.call.sessions, session)
    else:
        await editor.call.sessions.close(session, kill=True)
    return None


class EditorCancelArguments(Struct, frozen=True, rename="camel"):
    """DAP, CancelArguments."""

    request_id: int | None = None
    progress_id: str | None = None


async def cancel(editor: EditorConversation, request: EditorRequest) -> Body:
    """Give a start up by its progress; other requests are bounded, and end by themselves."""
    arguments = request.decode_arguments(EditorCancelArguments)
    named = arguments.progress_id is not None or arguments.request_id is not None
    if named and editor.progress.is_of(arguments.progress_id, arguments.request_id):
        await editor.call.sessions.close(editor.session, kill=True)
    return None


class ControlArguments(Struct, frozen=True):
    """The process that a page takes over alone; None: the program, or the group, as a whole."""

    session: str | None = None


async def take_over(editor: EditorConversation, request: EditorRequest) -> Body:
    """Take over for a person: agents' commands then leave the program alone (ours, not DAP's)."""
    name = request.decode_arguments(ControlArguments).session
    key = editor.page_key
    if name is not None:
        session = editor.find_session(name)
        session.require_live("take it over")
        session.control.take_over(key, is_alone=True)
        return None
    every = editor.every_session()
    roots = [one for one in every if one.parent is None]
    if not any(one.is_live for one in every):
        editor.session.require_live("take it over")
    for one in every:
        if one in roots:
            one.control.take_over(key)
        else:  # what was held alone is held with all others
            one.control.end()
    return None


async def hand_back(editor: EditorConversation, request: EditorRequest) -> Body:
    """Hand back to the agent what this page has taken over (ours, not DAP's)."""
    name = request.decode_arguments(ControlArguments).session
    chosen = editor.every_session() if name is None else [editor.find_session(name)]
    for one in chosen:
        one.control.hand_back(editor.page_key)
    return None
