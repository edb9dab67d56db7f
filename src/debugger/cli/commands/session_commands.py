"""Defines the commands that start, attach, detach, end, list and select sessions."""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import UNSET

from debugger.backends.backend_names import BACKENDS_TEXT
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.command_registry import Argument, Option, register_command
from debugger.model.events import State
from debugger.model.program import StopReason
from debugger.questions.group.group_options import NO_CHOICE, GroupOptions
from debugger.questions.runner.first_breakpoints import (
    FIRST_BREAKPOINTS,
    NO_BREAKPOINTS,
    FirstBreakpoints,
)

if TYPE_CHECKING:
    from debugger.backends.base import LaunchTarget
    from debugger.model import answers
    from debugger.questions.runner.command_call import CommandCall
    from debugger.session.session import MakeBackend, Session
    from debugger.session.stepping import WaitLimit
    from debugger.targets import launch_target
    from debugger.targets.attach_request import PreparedAttach

_FIRST_STOP_S = 1.0
GROUP = "Sessions"
# In debugpy 1.8.22 the server of an attach before, while it ends, may take the new one along.
_TAKEN_ALONG = "disconnected unexpectedly"


_ARGS_MAX = 20


@register_command("start", group=GROUP)
async def start(
    call: CommandCall,
    program: Annotated[str | None, Argument("PROGRAM", "a compiled program or a script")] = None,
    args: Annotated[tuple[str, ...], Argument("ARGS", "its arguments, after --")] = (),
    *,
    module: Annotated[str | None, Option("--module", "-m", help="run a Python module")] = None,
    adapter: Annotated[str | None, Option("--adapter", help="debug adapter to use")] = None,
    backend: Annotated[str | None, Option("--backend", help=BACKENDS_TEXT)] = None,
    stop_on_entry: Annotated[bool, Option("--stop-on-entry", help="stop at the beginning")] = False,
    breaks: Annotated[FirstBreakpoints, FIRST_BREAKPOINTS] = NO_BREAKPOINTS,
    cwd: Annotated[str | None, Option("--cwd", help="directory to run in", metavar="D")] = None,
    env: Annotated[
        tuple[str, ...], Option("--env", help="change the environment", metavar="K=V")
    ] = (),
    stdin: Annotated[
        str | None, Option("--stdin", help="file for its standard input", metavar="FILE")
    ] = None,
    python: Annotated[
        str | None, Option("--python", help="Python to run it with", metavar="P")
    ] = None,
    config: Annotated[
        str | None,
        Option(
            "--config",
            help="a configuration of .vscode/launch.json",
            metavar="NAME",
            names_from="completion configs",
        ),
    ] = None,
    list_configs: Annotated[bool, Option("--list-configs", help="list these")] = False,
    is_group: Annotated[
        bool, Option("--group", help="it and its processes are one group: docs/groups.md")
    ] = False,
    pattern: Annotated[
        str | None,
        Option("--members", help="with --group: only of command lines like *x.py*", metavar="P"),
    ] = None,
    no_wait: Annotated[bool, Option("--no-wait", help="do not wait for a stop")] = False,
    timeout: Annotated[
        float | None, Option("--timeout", help="seconds to wait", metavar="S")
    ] = None,
) -> answers.Answer:
    """Start a program and run it to the first stop or its end.

    The adapter is chosen by the kind of program. The program gets your directory and environment;
    a Python program runs with your virtual environment's Python. With --config, PROGRAM is the
    file of a configuration for the editor's present file, and the other options come on top.
    """
    from debugger.backends import select_backend
    from debugger.cli.commands import compound_start, configured_start
    from debugger.questions.group import group_run
    from debugger.questions.runner.command_call import (
        begin_session,
        breakpoint_notes,
        locate_target,
        resolve_managed,
    )
    from debugger.questions.runner.configured_target import find_configured_parts
    from debugger.session import stepping, stop_report
    from debugger.targets import launch_target
    from debugger.targets.attach_request import AttachRequest

    if list_configs:
        return configured_start.list_configs(call)
    _check_group(is_group=is_group, pattern=pattern)
    selected = select_backend.choose_backend(backend, call.env, call.config.defaults.backend)
    patience = call.wait_limit(timeout)
    request = launch_target.LaunchRequest(
        cwd=call.cwd,
        env=call.env,
        program=program,
        module=module,
        args=args,
        adapter=adapter,
        backend=selected,
        python=python,
        stdin=stdin,
        stop_on_entry=stop_on_entry,
        changed_env=env,
        changed_cwd=cwd,
        adapters=call.config.adapters,
    )
    notes: tuple[str, ...] = ()
    if config is not None and find_configured_parts(call, config):
        limit = None if no_wait else patience
        return await compound_start.start_compound(call, config, request, breaks, limit)
    if config is None:
        request = launch_target.look_in_directory(resolve_managed(call, request))
    else:
        configured = configured_start.apply_configuration(call, config, request)
        if isinstance(configured.request, AttachRequest):
            _check_group(is_group=is_group, pattern=pattern, attached=config)
            prepared = await locate_target(configured.request, hint="debugger attach PID")
            answer = await _begin_attached(call, prepared, breaks, patience)
            return msgspec.structs.replace(answer, notes=(*answer.notes, *configured.notes))
        request, notes = configured.request, configured.notes
    begun = await _resolve_program(call, request, is_group=is_group)
    launch, code = begun.launch, begun.code
    near = [launch.cwd, os.path.dirname(code or "")]
    specs = breaks.build_specs(call, near=near, current=begun.current, program=code)
    session = await call.sessions.create(launch, begun.make, name=begun.name)
    session.selection.note_file(begun.current)
    for spec in specs:
        session.breakpoints.add(spec)
    group = None
    if is_group:
        group = call.sessions.groups.add(session.name, session, is_main=True, pattern=pattern)
    await begin_session(call, session)
    if no_wait:
        answer = stop_report.report_running(session, waited_s=None)
    else:
        answer = await stepping.wait_for_stop(session, patience, after=0)
    if answer.reason != StopReason.EXIT.value:  # the end tells of unbound breakpoints itself
        notes = (*notes, *breakpoint_notes(session))
    answer = msgspec.structs.replace(answer, notes=(*answer.notes, *notes))
    return answer if group is None else await group_run.report_group_stop(group, answer)


class ResolvedProgram(msgspec.Struct, frozen=True):
    """What `start` runs, and the file that breakpoints without one are for."""

    launch: LaunchTarget
    make: MakeBackend
    name: str | None
    # The file of the program's code: of a launcher that of the first rank's.
    code: str | None
    current: str | None = None


async def _resolve_program(
    call: CommandCall, request: launch_target.LaunchRequest, *, is_group: bool
) -> ResolvedProgram:
    from debugger.backends import select_backend
    from debugger.questions.group import group_join
    from debugger.questions.runner.command_call import backend_maker, with_default
    from debugger.targets import launch_target, launchers

    if is_group and launchers.is_launcher(request.program):
        launcher, group, code = group_join.prepare_launcher(call, request)
        make = select_backend.launcher_maker(call.scratch_root)
        return ResolvedProgram(launcher, make, group, code)
    launch, chosen = launch_target.prepare_launch(with_default(call, request))
    if request.python is not None and launch.python is not None:
        await launch_target.check_python(launch)
    current = launch_target.default_file(launch)
    make = backend_maker(call, chosen)
    name = call.session_name
    if is_group and chosen.connects_programs:
        program = os.path.basename(launch.program or launch.module or "")
        name = name or call.sessions.unused_name(os.path.splitext(program)[0])
        launch = group_join.follow_python(launch, name)
    return ResolvedProgram(launch, make, name, launch.program, current)


def _check_group(*, is_group: bool, pattern: str | None, attached: str | None = None) -> None:
    """Refuse the options of groups that mean nothing without one, or with what is attached to."""
    if pattern is not None and not is_group:
        raise DebuggerError(
            ErrorCode.USAGE,
            "--members chooses processes of a group",
            hint="debugger start --group --members '*train.py*' PROGRAM",
        )
    if is_group and attached is not None:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{attached!r} attaches, and --group is for what is started",
            hint="debugger attach --group --pids 1,2,3",
        )


@register_command("stop", group=GROUP, acts_on_program=True)
async def stop(
    call: CommandCall,
    *,
    choice: GroupOptions = NO_CHOICE,
    every: Annotated[bool, Option("--all", help="every session, and the daemon")] = False,
    kill: Annotated[bool, Option("--kill", help="end an attached process too")] = False,
) -> answers.Answer:
    """End the session: its debugger, and the program if `start` began it.

    An attached process keeps running, as after `detach`, unless --kill is given.
    """
    from debugger.backends.base import AttachTarget
    from debugger.model import answers
    from debugger.questions.group import group_run
    from debugger.questions.group.group_choice import choose_members
    from debugger.session.process_tree import descendants, root_session
    from debugger.session.selection import foreign_processes

    if every:
        return await _stop_all(call, kill=kill)
    if (chosen := await choose_members(call, choice, asks_names=False)) is not None:
        return await group_run.end_members(call, chosen, kill=kill)
    session = call.current_session()
    # A launcher's rank is attached to, and is ours as its launcher is.
    if isinstance(session.target, AttachTarget) and not group_run.is_ours(session):
        return await _stop_attached(call, session, kill=kill)
    names = [session.name, *(one.name for one in descendants(session) if one.is_live)]
    parent = session.parent
    notes: tuple[str, ...] = ()
    if parent is not None and parent.is_live:
        notes = (
            f"{parent.name} goes on: debugger stop --session {root_session(session).name} ends all",
        )
    closed = await call.sessions.close(session, kill=True)
    return answers.Ended(
        ended=tuple(names),
        pid=session.pid,
        killed=foreign_processes(closed.killed, session.pid, session.traits),
        notes=notes,
    )


async def _stop_all(call: CommandCall, *, kill: bool) -> answers.Ended:
    from debugger.backends.base import AttachTarget
    from debugger.model import answers
    from debugger.session import session_list
    from debugger.session.session_state import is_running_program

    attached = [one for one in call.sessions.all_sessions() if isinstance(one.target, AttachTarget)]
    live = [
        one
        for one in attached
        if one.is_live and is_running_program(one.target) and one.parent is None
    ]
    killed: list[str] = []
    notes: list[str] = []
    for one in live:
        if kill:
            killed.append(one.name)
            notes += (await session_list.kill_attached(call.sessions, one)).notes
        else:
            pid = f": pid {one.pid}" if one.pid is not None else ""
            notes.append(f"{one.name} was attached to, and stays{pid}")
    ended = await call.sessions.close_all()
    call.stop_daemon()
    lost = call.evidence.answer_ids
    if lost:
        notes.append(f"lost with the daemon: evidence {', '.join(lost)}")
    return answers.Ended(ended=(*killed, *ended), notes=tuple(notes))


async def _stop_attached(call: CommandCall, session: Session, *, kill: bool) -> answers.Ended:
    from debugger.model import answers
    from debugger.session import session_list
    from debugger.session.process_tree import descendants

    names = (session.name, *(one.name for one in descendants(session) if one.is_live))
    by = session_list.kill_attached if kill else session_list.let_go
    fate = await by(call.sessions, session)
    notes = fate.notes
    if fate.goes_on and not kill:
        notes = (*notes, "it was attached to, and stays: stop --kill ends such a program")
    return answers.Ended(
        ended=names, detached=fate.goes_on and not kill, pid=session.pid, notes=notes
    )


@register_command("restart", group=GROUP, acts_on_program=True)
async def restart(
    call: CommandCall,
    *,
    no_wait: Annotated[bool, Option("--no-wait", help="do not wait for a stop")] = False,
    timeout: Annotated[
        float | None, Option("--timeout", help="seconds to wait", metavar="S")
    ] = None,
) -> answers.Answer:
    """Run the program again with the same arguments and breakpoints."""
    from debugger.questions.group import group_run
    from debugger.session import stepping, stop_report
    from debugger.session.process_tree import descendants, root_session

    # A child process is started by its program.
    session = root_session(call.current_session())
    patience = call.wait_limit(timeout)
    earlier = [one for one in descendants(session) if one.parent is session]
    cursor = await session.run_job(session.restart)
    group = call.sessions.groups.group_of(session)
    for one in earlier:
        await call.sessions.close(one, kill=True)
    if group is not None:
        group.forget_focus()
    if no_wait:
        return stop_report.report_running(session, waited_s=None)
    stop = await stepping.wait_for_stop(session, patience, after=cursor)
    if group is None or len(group.every_session()) == 1:
        return stop
    return await group_run.report_group_stop(group, stop)


@register_command("status", group=GROUP, reads_only=True)
async def status(call: CommandCall, *, choice: GroupOptions = NO_CHOICE) -> answers.Answer:
    """Show the session: its state, program, breakpoints, unread output; or a group's members."""
    from debugger.questions.group import group_run
    from debugger.questions.group.group_choice import choose_members

    if (chosen := await choose_members(call, choice)) is not None:
        return await group_run.describe_group(chosen)
    return describe_session(call.current_session())


def describe_session(session: Session) -> answers.Status:
    """Describe a session as it is now."""
    from debugger.backends.base import AttachTarget, LaunchTarget
    from debugger.model import answers
    from debugger.session import inspection
    from debugger.session.selection import stop_location_text, target_program

    target = session.target
    launch = target if isinstance(target, LaunchTarget) else None
    exited = session.exited
    paused = inspection.paused_alone(session)
    return answers.Status(
        session=session.name,
        state=session.state.value,
        program=target_program(target),
        args=launch.args[:_ARGS_MAX] if launch is not None else (),
        cwd=target.cwd,
        pid=session.pid,
        adapter=session.adapter,
        backend=session.backend_kind,
        breakpoints=len(session.breakpoints.user_breakpoints()),
        unread_output=len(session.timeline.lines(since=session.cursors.asked).lines),
        last_stop=stop_location_text(session.last_stop, session.selection.stop_frame) or UNSET,
        exit_code=exited.code if exited is not None and exited.code is not None else UNSET,
        signal=exited.signal if exited is not None and exited.signal else UNSET,
        error=session.error or UNSET,
        parent=session.parent.name if session.parent is not None else UNSET,
        crash=session.crash or UNSET,
        simulator=(target.simulator if isinstance(target, AttachTarget) else None) or UNSET,
        paused_threads=paused if paused is not None and session.is_live else UNSET,
    )


@register_command("sessions", group=GROUP, reads_only=True)
async def sessions(call: CommandCall) -> answers.Answer:
    """List the sessions; the current one is marked."""
    from debugger.model import answers

    return answers.Sessions(
        sessions=tuple(describe_session(one) for one in call.sessions.all_sessions()),
        current=call.sessions.current,
        groups=tuple(
            answers.SessionGroup(one.name, tuple(each.name for each in one.sessions()))
            for one in call.sessions.groups.live_groups()
        )
        or UNSET,
    )


@register_command("use", group=GROUP)
async def use(
    call: CommandCall, name: Annotated[str, Argument("NAME", "a session")]
) -> answers.Answer:
    """Make a session the current one."""
    return describe_session(call.sessions.select(name))


@register_command("focus", group=GROUP)
async def focus(
    call: CommandCall,
    label: Annotated[str, Argument("LABEL", "a member of the group, or all")],
    *,
    choice: GroupOptions = NO_CHOICE,
) -> answers.Answer:
    """Choose a member of a group, or all.

    While a member is in focus, commands act on it alone; `focus all` makes them act on the group.
    """
    from debugger.questions.group import group_run
    from debugger.questions.group.group_choice import focus_member

    return await group_run.describe_group(await focus_member(call, label, choice))


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
    kernel: Annotated[
        str | None,
        Option("--kernel", help="a Jupyter kernel, by its connection file", metavar="FILE"),
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
    backend: Annotated[str | None, Option("--backend", help=BACKENDS_TEXT)] = None,
    breaks: Annotated[FirstBreakpoints, FIRST_BREAKPOINTS] = NO_BREAKPOINTS,
    pause: Annotated[bool, Option("--pause", help="stop it, and show where it is")] = False,
    is_group: Annotated[
        bool, Option("--group", help="PID and all below it; or --name PATTERN, or --pids")
    ] = False,
    tree: Annotated[
        int | None, Option("--tree", help="with --group: PID and all below it", metavar="PID")
    ] = None,
    pids: Annotated[
        str | None, Option("--pids", help="with --group: these processes", metavar="N,N")
    ] = None,
    timeout: Annotated[
        float | None, Option("--timeout", help="seconds to wait", metavar="S")
    ] = None,
) -> answers.Answer:
    """Attach to a running process, an app on a simulator, a core file or a debug server.

    The process keeps running unless --pause is given; without any argument the processes that can
    be attached to are listed. NAME is the name of the process, of its
    executable or of its script. The adapter is chosen by the kind of process or debug server.
    """
    from debugger.backends import select_backend
    from debugger.questions.group import group_attach
    from debugger.questions.runner.command_call import locate_target, pids_with_session
    from debugger.targets import attach_target, process_target
    from debugger.targets.attach_request import AttachRequest
    from debugger.targets.group_target import GroupSearch, complete_search

    patience = call.wait_limit(timeout, ends_idle=False)
    search = GroupSearch(name, tree, pids)
    pid = str(what) if what is not None else None
    if is_group or search.is_of_group:
        attach_target.check_alone(core, connect, kernel, simulator)
        search = complete_search(search, pid)
        base = AttachRequest(
            cwd=call.cwd,
            env=call.env,
            adapter=adapter,
            backend=select_backend.choose_backend(backend, call.env, call.config.defaults.backend),
            pause=pause,
            adapters=call.config.adapters,
            held=pids_with_session(call),
        )
        within = call.wait_limit(1.0 if timeout is None else timeout, ends_idle=False)
        return await group_attach.attach_group(call, base, search, breaks, within)
    app = None
    if simulator is not None or bundle_id is not None or wait_for:
        attach_target.check_alone(name, core, connect, kernel)
        wait_s = (process_target.WAIT_S if timeout is None else timeout) if wait_for else None
        sought = process_target.SimulatorRequest(simulator, bundle_id, pid, wait_s)
        app = await process_target.find_app(call.env, sought, patience.interrupted)
        pid = app.pid
    request = AttachRequest(
        cwd=call.cwd,
        env=call.env,
        what=pid,
        simulator=app.udid if app is not None else None,
        name=name,
        core=core,
        connect=connect,
        kernel=kernel,
        adapter=adapter,
        backend=select_backend.choose_backend(backend, call.env, call.config.defaults.backend),
        pause=pause,
        adapters=call.config.adapters,
        held=pids_with_session(call),
    )
    prepared = await locate_target(request, hint="debugger attach --connect ADDRESS:PORT")
    answer = await _begin_attached(call, prepared, breaks, patience)
    where = (app.note,) if app is not None else ()
    return msgspec.structs.replace(answer, notes=(*answer.notes, *where))


async def _begin_attached(
    call: CommandCall,
    prepared: PreparedAttach,
    breaks: FirstBreakpoints,
    patience: WaitLimit,
) -> answers.Stop:
    from debugger.questions.runner.command_call import breakpoint_notes, target_folders
    from debugger.session import stepping, stop_report
    from debugger.session.stepping import WaitLimit
    from debugger.targets import attach_target
    from debugger.targets.kernel_target import describe_cells

    target = prepared.target
    specs = breaks.build_specs(
        call, near=target_folders(target), current=None, program=target.program
    )
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
    notes = (*answer.notes, *prepared.notes, *describe_cells(target.cells), *unbound)
    return msgspec.structs.replace(answer, notes=notes)


async def _create_session(
    call: CommandCall, prepared: PreparedAttach, specs: Sequence[BreakpointSpec]
) -> Session:
    from debugger.questions.runner.command_call import backend_maker, begin_session

    session = await call.sessions.create(
        prepared.target, backend_maker(call, prepared.adapter), name=call.session_name
    )
    for spec in specs:
        session.breakpoints.add(spec)
    await begin_session(call, session)
    return session


@register_command("detach", group=GROUP, acts_on_program=True)
async def detach(call: CommandCall, *, choice: GroupOptions = NO_CHOICE) -> answers.Answer:
    """Leave the program running, and end the session."""
    from debugger.model import answers
    from debugger.questions.group import group_run
    from debugger.questions.group.group_choice import choose_members
    from debugger.session import session_list

    if (chosen := await choose_members(call, choice, asks_names=False)) is not None:
        return await group_run.detach_members(call, chosen)
    session = call.current_session()
    # What has ended, or lost its debugger, is forgotten all the same.
    fate = await session_list.let_go(call.sessions, session)
    return answers.Ended(
        ended=(session.name,), detached=fate.goes_on, pid=session.pid, notes=fate.notes
    )
