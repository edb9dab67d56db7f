"""Starts the launcher of a job as a group, and lets the processes that it starts join it."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger import paths
from debugger.backends import select_backend
from debugger.backends.base import AttachTarget, LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.debugger_words import Runtime
from debugger.model.events import State
from debugger.model.group_labels import RANK_VARIABLES
from debugger.questions.group.answer import JoinedMember
from debugger.questions.runner.command_call import (
    CommandCall,
    backend_maker,
    caller_commands,
    pids_with_session,
    with_default,
)
from debugger.session.group import Group, MemberFacts
from debugger.session.session import MakeBackend, Session
from debugger.system.process_info import look_at
from debugger.targets import attach_target, launch_target, launchers
from debugger.targets import command_line as commands
from debugger.targets.attach_request import AttachRequest

_AWAITED_S = 20.0  # seconds until an adapter must wait for the program
_OVER = frozenset("ZX")  # states of a process that has ended
_VERB = "member"
_SHELL = "/bin/sh"
# On the import path of a group's processes.
_ENTRY = str(Path(__file__).parent / "entry")


class JoinRequest(Struct, frozen=True):
    """A process that is to become a program and a member of a group."""

    words: tuple[str, ...]
    pid: int
    # The process that started it: those that it starts are one group.
    launcher_pid: int
    group: str | None = None
    adapter: str | None = None
    breaks: tuple[str, ...] = ()


def prepare_launcher(
    call: CommandCall, request: launch_target.LaunchRequest
) -> tuple[LaunchTarget, str, str]:
    """Put our command in front of the programs that a launcher starts.

    Returns the launcher, the name of the group, and the first rank's program.

    Raises:
        DebuggerError: USAGE, NOT_FOUND, LAUNCH_FAILED.
    """
    launcher = launch_target.prepare_launcher(request)
    cwd, env = launcher.cwd, launcher.env

    def is_program(word: str) -> bool:
        return launch_target.find_on_path(word, env, cwd) is not None

    positions = launchers.find_rank_programs(
        str(request.program), request.args, is_program, request.verb
    )
    program = find_rank_code(call, request, positions[0], cwd)
    group = call.session_name or call.sessions.unused_name(Path(program).stem)
    chosen = ("--adapter", request.adapter) if request.adapter is not None else ()
    ours = launchers.member_words("--group", group, *chosen)
    before = launchers.without_remote_shell(request.args[: positions[0]])
    behind = request.args[positions[0] :]
    args = launchers.put_before_programs(behind, [one - positions[0] for one in positions], ours)
    label = launchers.labelling_options(os.path.realpath(str(launcher.program)))
    # A question goes on in the ranks of other hosts.
    options = ("--crash",) if request.verb == "crash" else ()
    shells = launchers.shell_environment(sys.executable, *options)
    # Python's own words for a crash in compiled code, which its debugger does not see.
    words = {"PYTHONFAULTHANDLER": "1"} if request.verb == "crash" else {}
    env = {**words, **launcher.env, **member_environment(group), **shells}
    return (
        msgspec.structs.replace(launcher, args=(*label, *before, *args), env=env),
        group,
        program,
    )


def member_environment(group: str) -> dict[str, str]:
    """Return what a process must know to join a group of this daemon."""
    return launchers.member_environment(sys.executable, paths.runtime_dir(), group)


def prepare_shell(call: CommandCall, command: Sequence[str], group: str) -> LaunchTarget:
    """Return a shell command as the launcher of a group, which its ranks join."""
    env = {**call.env, **member_environment(group)}
    args = ("-c", " ".join(command))
    return LaunchTarget(program=_SHELL, args=args, cwd=str(Path.home()), env=env, stdin="/dev/null")


def follow_python(launch: LaunchTarget, group: str) -> LaunchTarget:
    """Return a Python program whose Python processes join a group, whatever starts them."""
    own = launch.env.get("PYTHONPATH")
    search = os.pathsep.join((_ENTRY, *((own,) if own else ())))
    env = {**launch.env, **member_environment(group), "PYTHONPATH": search}
    return msgspec.structs.replace(launch, env=env)


def find_rank_code(
    call: CommandCall, request: launch_target.LaunchRequest, at: int, cwd: str
) -> str:
    """Return the file of a rank's program: of `python3 train.py` the script.

    Args:
        call: The command's call.
        request: Of the launcher.
        at: Where the program is among the launcher's arguments.
        cwd: The launcher's directory.

    Raises:
        DebuggerError: LAUNCH_FAILED where the launcher looks for it here, and it is missing.
    """
    before, words = request.args[:at], launchers.without_member(request.args[at:])
    launcher = str(request.program)
    try:
        read = commands.parse_command(words, caller_commands(call), verb="start")
    except DebuggerError as error:
        is_missing = error.code is ErrorCode.LAUNCH_FAILED
        is_here = launch_target.find_other_host((launcher, *request.args), cwd) is None
        if is_missing and is_here and not launchers.changes_folder(before):
            command = shlex.join((launcher, *before, "PROGRAM"))
            # A question keeps the options that the user gave it.
            group = "--group " if request.verb == "start" else ""
            hint = f"debugger {request.verb} {group}-- {command}"
            raise DebuggerError(error.code, error.message, hint=hint) from error
        return words[0]  # the launcher may know where it is
    return read.program or read.module or words[0]


async def plan_member(call: CommandCall, request: JoinRequest) -> JoinedMember:
    """Decide how a process becomes its program; a Python program's session waits for it.

    Raises:
        DebuggerError: What resolving the program raises; NOT_SUPPORTED for other interpreters.
    """
    launch, adapter = launch_target.prepare_launch(with_default(call, _build_launch(call, request)))
    if adapter.traits.runtime in {Runtime.NATIVE, Runtime.GO}:
        program, group = str(launch.program), _find_group(call, request)
        if group is not None:
            group.expected.add(request.pid)
        return JoinedMember(
            request.group or "",
            program,
            (request.words[0], *launch.args),
            tuple(launch.env.items()),
            is_held=True,
        )
    if not adapter.connects_programs:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{adapter.name} cannot take a program that another process starts",
            hint="debugger attach --group --pids 1,2,3 attaches to running processes",
        )
    target = AttachTarget(
        request.pid,
        cwd=launch.cwd,
        env=call.env,
        program=launch.program or launch.module,
        connects_itself=True,
    )
    session = _find_shared_adapter(call, request)
    if session is None:
        session = await _start_adapter(call, request, target, backend_maker(call, adapter))
    group = call.sessions.groups.group_of(session)
    words = adapter.connecting_command(launch, session.process.connect_words)
    env = {**launch.env, **adapter.connecting_environment}
    name = group.name if group is not None else request.group or ""
    return JoinedMember(name, words[0], words, tuple(env.items()))


async def _start_adapter(
    call: CommandCall, request: JoinRequest, target: AttachTarget, make: MakeBackend
) -> Session:
    """Start a member's session, and wait until its adapter waits for the program.

    Raises:
        DebuggerError: ADAPTER_FAILED.
    """
    _, session = await _join_group(call, request, target, make)
    starting = call.sessions.start_apart(session)
    waiting = asyncio.ensure_future(session.process.is_awaited.wait())
    try:
        await asyncio.wait(
            {starting, waiting}, timeout=_AWAITED_S, return_when=asyncio.FIRST_COMPLETED
        )
    finally:
        waiting.cancel()
    if session.process.is_awaited.is_set():
        return session
    await call.sessions.close(session, kill=False)
    raise DebuggerError(
        ErrorCode.ADAPTER_FAILED,
        session.error or f"the adapter did not wait for the program in {_AWAITED_S:g} s",
        hint="debugger doctor",
    )


def _find_shared_adapter(call: CommandCall, request: JoinRequest) -> Session | None:
    """Return the group's program if its adapter takes the process, too, as one that it started.

    An adapter of its own costs each process 0.2 s, and 60 MB.
    """
    group = _find_group(call, request)
    main = group.main if group is not None and not request.breaks else None
    can_share = main is not None and main.is_live and bool(main.process.connect_words)
    return main if can_share else None


def _build_launch(call: CommandCall, request: JoinRequest) -> launch_target.LaunchRequest:
    read = commands.parse_command(request.words, caller_commands(call), verb=_VERB)
    return launch_target.LaunchRequest(
        cwd=call.cwd,
        env=call.env,
        program=read.program,
        module=read.module,
        args=read.args,
        adapter=request.adapter,
        backend=select_backend.choose_backend(None, call.env, call.config.defaults.backend),
        python=read.python,
        changed_env=tuple(f"{name}={value}" for name, value in read.env),
        changed_cwd=call.cwd,
        adapters=call.config.adapters,
        verb=_VERB,
    )


async def attach_held(
    call: CommandCall, request: JoinRequest, entry: tuple[int, bytes]
) -> JoinedMember:
    """Attach to a program that is held at its first instruction, and let it begin.

    Raises:
        DebuggerError: What attaching raises; the caller lets the program go on then.
    """
    sought = AttachRequest(
        cwd=call.cwd,
        env=call.env,
        what=str(request.pid),
        adapter=request.adapter,
        backend=select_backend.choose_backend(None, call.env, call.config.defaults.backend),
        pause=True,
        adapters=call.config.adapters,
        held=pids_with_session(call),
    )
    prepared = await asyncio.to_thread(attach_target.prepare_attach, sought)
    target = msgspec.structs.replace(prepared.target, held_entry=entry)
    group, session = await _join_group(call, request, target, backend_maker(call, prepared.adapter))
    try:
        await asyncio.shield(call.sessions.start_apart(session))
    except DebuggerError as error:
        # One that was killed meanwhile is a member that has ended; any other runs without us.
        if not _has_ended(request.pid):
            group.alone[request.pid] = error.message
            await call.sessions.close(session, kill=False)
        raise attach_target.explain_attach_error(error, prepared) from error
    return JoinedMember(group.name, str(target.program), (), ())


def _has_ended(pid: int) -> bool:
    process = look_at(pid)
    return process is None or process.state in _OVER


async def _join_group(
    call: CommandCall, request: JoinRequest, target: AttachTarget, make: MakeBackend
) -> tuple[Group, Session]:
    """Create a session in the group of a member, which its first member begins."""
    specs = _breakpoint_specs(call, request, target.program)
    groups = call.sessions.groups
    async with groups.joining:
        group = _find_group(call, request)
        first = group.first if group is not None else None
        session = await call.sessions.create(
            target,
            make,
            name=request.group if first is None else call.sessions.name_member(first),
            joined=first,
            parent=group.main if group is not None else None,
        )
        if group is None:
            group = groups.add(session.name, session, is_main=False)
            group.launcher_pid = request.launcher_pid
        group.expected.discard(request.pid)
    if first is not None:
        for known in first.breakpoints.user_breakpoints():
            session.breakpoints.adopt(known)
    present = session.breakpoints.user_specs()
    for spec in specs:
        if spec not in present:
            session.breakpoints.add(spec)
    ranks = {name: call.env[name] for name in RANK_VARIABLES if call.env.get(name)}
    group.note_facts(session, MemberFacts(ranks))
    session.process.rank = next(iter(ranks.values()), "")
    session.note_pid(request.pid)
    return group, session


def _find_group(call: CommandCall, request: JoinRequest) -> Group | None:
    for one in call.sessions.groups.live_groups():
        is_same_job = one.launcher_pid == request.launcher_pid
        if request.group is None:
            # Also where all of them have ended: a launcher starts short ones one after another.
            is_its_group = is_same_job
        else:
            # One that has not begun counts: it is created before its process becomes the program.
            is_live = any(each.state is not State.TERMINATED for each in one.every_session())
            # Of a job that another machine began, the part here has the host's name behind it.
            names = {request.group, f"{request.group}{call.sessions.name_suffix}"}
            is_its_group = one.name in names and (is_live or is_same_job)
        if is_its_group:
            return one
    return None


def _breakpoint_specs(
    call: CommandCall, request: JoinRequest, program: str | None
) -> Sequence[BreakpointSpec]:
    return [
        call.conditional_spec(words, near=[call.cwd], current=None, program=program)
        for words in request.breaks
    ]
