"""Defines the commands that attach to processes, core files and servers, and that detach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec

from debugger.backends import select_backend
from debugger.errors import DebuggerError
from debugger.model import answers
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.command_registry import Argument, Option, register_command
from debugger.model.state import State
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.session_begin import (
    backend_maker,
    begin_session,
    breakpoint_notes,
    locate_target,
    pids_with_session,
)
from debugger.session import session_list, stepping, stop_report
from debugger.session.session import Session
from debugger.session.stepping import WaitLimit
from debugger.targets import attach_target, simulator_target
from debugger.targets.attach_request import AttachRequest, PreparedAttach

_FIRST_STOP_S = 1.0
GROUP = "Sessions"
# In debugpy 1.8.22 the server of an attach before, while it ends, may take the new one along.
_TAKEN_ALONG = "disconnected unexpectedly"


@register_command("attach", group=GROUP)
async def attach(
    call: CommandCall,
    what: Annotated[
        str | int | None, Argument("PID", "a process; with --core or --connect, the PROGRAM")
    ] = None,
    *,
    name: Annotated[str | None, Option("--name", help="the one process of this name")] = None,
    core: Annotated[
        str | None, Option("--core", help="what a program left when it crashed", metavar="FILE")
    ] = None,
    connect: Annotated[
        str | None, Option("--connect", help="a debug server", metavar="HOST:PORT")
    ] = None,
    simulator: Annotated[
        str | None,
        Option("--simulator", help="of Xcode; with --bundle-id, or a PID", metavar="NAME"),
    ] = None,
    bundle_id: Annotated[
        str | None, Option("--bundle-id", help="the app on the simulator", metavar="ID")
    ] = None,
    wait_for: Annotated[bool, Option("--wait-for", help="wait until the app runs")] = False,
    adapter: Annotated[str | None, Option("--adapter", help="debug adapter to use")] = None,
    backend: Annotated[str | None, Option("--backend", help=select_backend.NAMED)] = None,
    breaks: Annotated[
        tuple[str, ...], Option("--break", "-b", help="set a breakpoint first", metavar="LOC")
    ] = (),
    pause: Annotated[bool, Option("--pause", help="stop it, and show where it is")] = False,
    timeout: Annotated[
        float | None, Option("--timeout", help="seconds to wait", metavar="S")
    ] = None,
) -> answers.Answer:
    """Attach to a running process, an app on a simulator, a core file or a debug server.

    A process runs on unless --pause is given. A name is that of the process, of its executable, or
    of its script. The adapter is chosen by what the process is, or by who listens.
    """
    patience = call.wait_limit(timeout, ends_idle=False)
    pid = str(what) if what is not None else None
    app = None
    if simulator is not None or bundle_id is not None or wait_for:
        attach_target.check_alone(name, core, connect)
        wait_s = (simulator_target.WAIT_S if timeout is None else timeout) if wait_for else None
        sought = simulator_target.SimulatorRequest(simulator, bundle_id, pid, wait_s)
        app = await simulator_target.find_app(call.env, sought, patience.interrupted)
        pid = app.pid
    wanted = AttachRequest(
        cwd=call.cwd,
        env=call.env,
        what=pid,
        simulator=app.udid if app is not None else None,
        name=name,
        core=core,
        connect=connect,
        adapter=adapter,
        backend=select_backend.choose_backend(backend, call.env, call.config.defaults.backend),
        pause=pause,
        adapters=call.config.adapters,
        held=pids_with_session(call),
    )
    prepared = await locate_target(wanted, hint="debugger attach --connect ADDRESS:PORT")
    answer = await _begin_attached(call, prepared, breaks, patience)
    where = (app.note,) if app is not None else ()
    return msgspec.structs.replace(answer, notes=(*answer.notes, *where))


async def _begin_attached(
    call: CommandCall,
    prepared: PreparedAttach,
    breaks: tuple[str, ...],
    patience: WaitLimit,
) -> answers.Stop:
    target = prepared.target
    specs = [
        call.breakpoint_spec(words, near=[], current=None, program=target.program)
        for words in breaks
    ]
    try:
        try:
            session = await _create_session(call, prepared, specs)
        except DebuggerError as error:
            if _TAKEN_ALONG not in error.message:
                raise
            session = await _create_session(call, prepared, specs)
    except DebuggerError as error:
        raise attach_target.explain_attach_error(error, prepared) from error
    unbound = breakpoint_notes(session)
    # A Node that waits for a debugger (--inspect-brk) stands still without being asked to.
    if target.pause or session.state is State.STOPPED:
        answer = await stepping.wait_for_stop(session, patience, after=0)
    elif specs:
        # A program that a server held begins now, and may be at a breakpoint at once.
        soon = WaitLimit(min(_FIRST_STOP_S, patience.seconds), patience.interrupted)
        answer = await stepping.wait_for_stop(session, soon, after=0)
    else:
        answer = stop_report.report_running(session, waited_s=None)
    return msgspec.structs.replace(answer, notes=(*answer.notes, *prepared.notes, *unbound))


async def _create_session(
    call: CommandCall, prepared: PreparedAttach, specs: Sequence[BreakpointSpec]
) -> Session:
    session = await call.sessions.create(
        prepared.target, backend_maker(call, prepared.profile), name=call.session_name
    )
    for spec in specs:
        session.breakpoints.add(spec)
    await begin_session(call, session)
    return session


@register_command("detach", group=GROUP)
async def detach(call: CommandCall) -> answers.Answer:
    """Let the program go: end the session, and leave it running."""
    session = call.current_session()
    # What has ended, or lost its debugger, is forgotten all the same.
    fate = await session_list.let_go(call.sessions, session)
    return answers.Ended(
        ended=(session.name,), detached=fate.goes_on, pid=session.pid, notes=fate.notes
    )
