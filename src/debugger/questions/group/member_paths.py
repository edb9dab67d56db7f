"""Records the processes of one program, and says which of them took another branch first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.group.answer import MemberBranches
from debugger.questions.group.branch_answer import (
    add_source_texts,
    build_branches,
    build_counted_branches,
)
from debugger.questions.group.group_options import ALONE, JobPart
from debugger.questions.group.group_question import find_rank_program
from debugger.questions.group.member_branches import collect_lines
from debugger.questions.group.member_counts import collect_counts
from debugger.questions.group.member_differences import label_recordings
from debugger.questions.recordings.counted_run import GO
from debugger.questions.recordings.process_recording import record_processes
from debugger.questions.recordings.recorded_run import (
    recorded_run_view,
)
from debugger.questions.recordings.run_text import format_run_end
from debugger.questions.recordings.saved_runs import StoredRun, compared_runs
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import QuestionOptions
from debugger.questions.runner.question_build import keep_evidence
from debugger.questions.runner.question_run import add_reason
from debugger.recorders.model import Recording
from debugger.recorders.recorded_process import require_recording
from debugger.targets.compared_commands import BETWEEN, first_command

_LEAST = 2  # members of which one can have taken another branch


async def answer_branches(
    call: CommandCall,
    requested: QuestionOptions,
    refused: Sequence[str],
    *,
    verb: str,
    part: JobPart = ALONE,
) -> MemberBranches:
    """Answer `path --group`, or `diff --group` without locations, and keep the evidence.

    `refused` are given options that have no meaning here.

    Raises:
        DebuggerError: USAGE for these; what `compare_branches` raises.
    """
    words = list(requested.words)
    refused = [*refused, "--vs"] if BETWEEN in words else list(refused)
    if refused:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--group compares the processes of one run, and takes no {refused[0]}",
            hint=f"debugger {verb} --group -- {first_command(words)}",
        )
    answer = await compare_branches(call, requested, verb=verb, part=part)
    return keep_evidence(
        call,
        requested.repeat_command(["--group"]),
        answer,
        summary=_summarise_first(answer),
        files=[*(one.file for one in answer.splits), *(one.file for one in answer.counted)],
    )


def _summarise_first(answer: MemberBranches) -> str:
    if answer.splits:
        first = answer.splits[0]
        return f"part at {first.file}:{first.line}, hit {first.hit:,}"
    if answer.counted:
        return f"part before {answer.counted[0].file}:{answer.counted[0].line}"
    return "the same branches"


async def compare_branches(
    call: CommandCall, requested: QuestionOptions, *, verb: str, part: JobPart = ALONE
) -> MemberBranches:
    """Run a program with a recorder in each process, and compare their branches.

    Raises:
        DebuggerError: NOT_SUPPORTED for a program that cannot be recorded; NOT_FOUND for one
            process.
    """
    ranks = find_rank_program(call, requested, part)
    options = msgspec.structs.replace(requested, words=ranks.words)
    (program,) = await compared_runs(call, options, (), save="group")
    assert not isinstance(program, StoredRun)
    if part.name and program.language == GO and not program.is_python:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{verb} --group builds a Go program with counters, which other hosts do not have",
            hint=f"debugger {verb} --group --host h1,h2 -- {first_command(ranks.words)}",
        )
    launch = program.launch
    if ranks.launcher is not None:
        env = {**launch.env, **ranks.launcher.env}
        launch = msgspec.structs.replace(launch, env=env)
    is_part = bool(call.sessions.name_suffix or part.name)
    if is_part:
        # What is idle here may wait for processes of other machines.
        program = msgspec.structs.replace(
            program, patience=replace(program.patience, idle_limits={})
        )
    own = msgspec.structs.replace(program, launch=launch, launcher=ranks.before, shell=part.shell)
    ran = await record_processes(own)
    if program.is_python and not is_part:
        require_recording(ran, own.launch_argv)
    recordings = ran.recordings
    if not program.is_python:
        # A process of which nothing was recorded is a launcher, or has not come to the program.
        recordings = tuple(one for one in recordings if one.functions)
    end = format_run_end(recorded_run_view(own, ran, Recording(), tells_all=True))
    group = Path(program.launch.program or program.launch.module or "group").stem
    labelled = label_recordings(recordings, ranks.launcher)
    if len(labelled) < _LEAST and not is_part:
        if ran.status or ran.signal:
            end = add_reason(end, ran.output_lines())
        kind = "Python process" if program.is_python else "process whose lines are known"
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"the program ran no other {kind}; {end}",
            hint=f"debugger {verb} --help; two runs are compared without --group",
        )
    if not program.is_python:
        counts = [collect_counts(label, one) for label, one in labelled]
        counted = add_source_texts(build_counted_branches(group, counts, end))
        return msgspec.structs.replace(counted, counts=tuple(counts)) if is_part else counted
    members = [collect_lines(label, one) for label, one in labelled]
    answer = add_source_texts(build_branches(group, members, end))
    return msgspec.structs.replace(answer, passed=tuple(members)) if is_part else answer
