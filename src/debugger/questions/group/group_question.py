"""Builds the run of a question about a command's processes: a program, or the launcher of a job."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from msgspec import Struct, structs

from debugger.backends import select_backend
from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers import Stop
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.debugger_words import ForkFollowing
from debugger.model.events import EventKind, State
from debugger.questions.group import group_join
from debugger.questions.group.answer import GroupStop
from debugger.questions.group.group_options import ALONE, JobPart
from debugger.questions.group.group_run import report_group_stop
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import QuestionOptions
from debugger.questions.runner.question_build import (
    BreakpointChooser,
    build_question,
    no_breakpoints,
)
from debugger.questions.runner.question_run import QuestionRun
from debugger.session.group import Group
from debugger.session.timeline import Timeline
from debugger.symbols.program_file import may_fork
from debugger.targets import launch_target, launchers

_TIMEOUT_S = 60.0
_NAMES_S = 0.2  # seconds between two looks for new members


def follow_forks(
    call: CommandCall, requested: QuestionOptions, found: QuestionRun
) -> QuestionOptions:
    """Choose a debugger that also takes the processes that a compiled program forks."""
    is_chosen = requested.adapter is not None or requested.backend is not None
    if is_chosen or found.traits.fork_following is not ForkFollowing.NEVER:
        return requested
    name = select_backend.find_fork_follower(found.language, call.env, call.config.adapters)
    return structs.replace(requested, adapter=name)


async def name_members(timeline: Timeline, group: Group) -> None:
    """Name members as they come, until it is cancelled: one that has ended cannot be asked."""
    while True:
        await group.members()
        await timeline.wait(timeline.cursor(), {EventKind.EXIT}, _NAMES_S)


async def build_forking_question(
    call: CommandCall, requested: QuestionOptions, chooser: BreakpointChooser = no_breakpoints
) -> QuestionRun:
    """Build the run of a program, with a debugger that takes what it forks, if it may fork.

    Raises:
        DebuggerError: What resolving the program raises.
    """
    question = await build_question(call, requested, chooser)
    path = question.target.program
    is_job = bool(requested.words) and launchers.is_launcher(requested.words[0])
    if is_job or path is None or not may_fork(path):
        return question
    chosen = follow_forks(call, requested, question)
    return question if chosen is requested else await build_question(call, chosen, chooser)


async def build_group_question(
    call: CommandCall,
    requested: QuestionOptions,
    chooser: BreakpointChooser = no_breakpoints,
    launcher_breaks: tuple[BreakpointSpec, ...] = (),
    part: JobPart = ALONE,
) -> tuple[QuestionRun, str]:
    """Build the run of a command as a group; return it with the group's name.

    Args:
        call: The question's call.
        requested: Its command and options.
        chooser: Chooses the breakpoints of a program.
        launcher_breaks: The breakpoints of what a launcher starts.
        part: What is to be run of a job whose ranks are on several machines.

    Raises:
        DebuggerError: What resolving the program raises; USAGE for what is not started.
    """
    if not requested.words or requested.pid is not None or requested.core is not None:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{requested.verb} --group takes a command",
            hint=f"debugger {requested.verb} --group -- mpirun -n 4 ./program",
        )
    if not launchers.is_launcher(requested.words[0]):
        question = await build_forking_question(call, requested, chooser)
        target = question.target
        program = target.program or getattr(target, "module", None) or "group"
        name = call.sessions.unused_name(Path(program).stem)
        if question.language == "python" and isinstance(target, LaunchTarget):
            question = replace(question, target=group_join.follow_python(target, name))
        return question, name
    if part.shell:
        name, launch = part.name, group_join.prepare_shell(call, (part.shell,), part.name)
    else:
        own = replace(call, session_name=part.name) if part.name else call
        launch, name, _ = group_join.prepare_launcher(own, _launcher_request(call, requested))
    question = QuestionRun(
        sessions=call.sessions,
        target=launch,
        make_backend=select_backend.launcher_maker(call.scratch_root),
        name=name,
        breakpoints=launcher_breaks,
        patience=call.wait_limit(_TIMEOUT_S if requested.timeout is None else requested.timeout),
    )
    return question, name


def _launcher_request(call: CommandCall, requested: QuestionOptions) -> launch_target.LaunchRequest:
    return launch_target.LaunchRequest(
        cwd=call.cwd,
        env=call.env,
        program=requested.words[0],
        args=requested.words[1:],
        stdin=requested.stdin or "/dev/null",
        changed_env=requested.env,
        changed_cwd=requested.cwd,
        adapter=requested.adapter,
        verb=requested.verb,
    )


class RankProgram(Struct, frozen=True):
    """The processes that a question compares, and what starts them."""

    # The command of each of them.
    words: tuple[str, ...]
    # The launcher that starts it several times, and its words in front of the command.
    launcher: LaunchTarget | None = None
    before: tuple[str, ...] = ()


def find_rank_program(
    call: CommandCall, requested: QuestionOptions, part: JobPart = ALONE
) -> RankProgram:
    """Return the processes to compare; what a launcher runs on other hosts joins a `part`.

    Raises:
        DebuggerError: USAGE for a launcher without a program; NOT_FOUND for one that is not there;
            NOT_SUPPORTED for one that reaches other hosts in a way that is not followed.
    """
    words = requested.words
    if not words or not launchers.is_launcher(words[0]):
        return RankProgram(words)
    cwd, env = call.cwd, call.env
    positions = launchers.find_rank_programs(
        words[0],
        words[1:],
        lambda word: launch_target.find_on_path(word, env, cwd) is not None,
        requested.verb,
    )
    ranks = launchers.without_member(words[1 + positions[0] :])
    if part.shell:
        shell = group_join.prepare_shell(call, (part.shell,), part.name)
        return RankProgram(ranks, shell)
    request = _launcher_request(call, requested)
    launcher = launch_target.prepare_launcher(request)
    group_join.find_rank_code(call, request, positions[0], launcher.cwd)
    before = words[1 : 1 + positions[0]]
    host = launch_target.find_other_host(words, launcher.cwd)
    if host is not None and not (part.name and launchers.takes_remote_shell(words[0])):
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"how {words[0]} reaches {host} is not followed: Open MPI's ssh is",
            hint=f"debugger {requested.verb} --group … --host h1,h2 -- CMD runs CMD on each host",
        )
    if part.name:
        own = {
            **group_join.member_environment(part.name),
            **launchers.shell_environment(sys.executable),
        }
        before = launchers.without_remote_shell(before)
        launcher = structs.replace(launcher, args=(*before, *ranks), env={**launcher.env, **own})
    return RankProgram(ranks, launcher, (words[0], *before))


async def begin_group_question(call: CommandCall, requested: QuestionOptions) -> GroupStop:
    """Start a command as a group that its asker looks at, and ends.

    Raises:
        DebuggerError: What starting the program raises.
    """
    question, name = await build_group_question(call, requested)
    assert isinstance(question.target, LaunchTarget)
    session = await call.sessions.create(
        question.target, question.make_backend, name=None, private=name
    )
    group = call.sessions.groups.add(name, session, is_main=True)
    try:
        await session.run_job(session.start_program)
    except BaseException:
        await call.sessions.close(session, kill=True)
        raise
    # Its output is for the answer that follows.
    return await report_group_stop(group, Stop(session.name, State.RUNNING.value))
