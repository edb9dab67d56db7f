"""Builds the run of a question about a command's processes: a program, or the launcher of a job."""

from __future__ import annotations

import platform
import socket
from dataclasses import replace
from pathlib import Path

from debugger.backends import select_backend
from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.questions.group import group_join
from debugger.questions.group.answer import GroupStop
from debugger.questions.group.group_run import report_group_stop
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import (
    BreakpointChooser,
    QuestionOptions,
    build_question,
    no_breakpoints,
)
from debugger.questions.runner.question_run import QuestionRun
from debugger.session import stop_report
from debugger.targets import launch_target, launchers

_TIMEOUT_S = 60.0


async def build_group_question(
    call: CommandCall,
    requested: QuestionOptions,
    chooser: BreakpointChooser = no_breakpoints,
    launcher_breaks: tuple[BreakpointSpec, ...] = (),
) -> tuple[QuestionRun, str]:
    """Build the run of a command as a group; return it with the group's name.

    Args:
        call: The question's call.
        requested: Its command and options.
        chooser: Chooses the breakpoints of a program.
        launcher_breaks: The breakpoints of what a launcher starts.

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
        question = await build_question(call, requested, chooser)
        target = question.target
        program = target.program or getattr(target, "module", None) or "group"
        name = call.sessions.unused_name(Path(program).stem)
        if question.language == "python" and isinstance(target, LaunchTarget):
            question = replace(question, target=group_join.follow_python(target, name))
        return question, name
    request = _launcher_request(call, requested)
    launch, name, _ = group_join.prepare_launcher(call, request)
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


def find_rank_words(
    call: CommandCall, requested: QuestionOptions
) -> tuple[tuple[str, ...], LaunchTarget | None]:
    """Return the command of the processes to compare, and the launcher that starts them, if any.

    Raises:
        DebuggerError: USAGE for a launcher without a program; NOT_FOUND for one that is not there;
            NOT_SUPPORTED for one that reaches other hosts.
    """
    words = requested.words
    if not words or not launchers.is_launcher(words[0]):
        return words, None
    launcher = launch_target.prepare_launcher(_launcher_request(call, requested))
    positions = launchers.find_rank_programs(
        words[0],
        words[1:],
        lambda word: launch_target.find_on_path(word, launcher.env, launcher.cwd) is not None,
    )
    before = words[1 : 1 + positions[0]]
    own = {"localhost", "127.0.0.1", "::1", socket.gethostname(), platform.node().split(".")[0]}
    host = launchers.find_other_host(before, own, lambda name: _read_text(launcher.cwd, name))
    if host is not None:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{requested.verb} --group compares ranks on this machine, and not those on {host}",
            hint=f"debugger {requested.verb} --group … --host h1,h2 -- CMD runs CMD on each host",
        )
    return words[1 + positions[0] :], launcher


def _read_text(folder: str, name: str) -> str:
    try:
        return (Path(folder) / name).read_text("utf-8", errors="replace")
    except OSError:
        return ""  # as the launcher reports


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
    return await report_group_stop(group, stop_report.report_running(session, waited_s=None))
