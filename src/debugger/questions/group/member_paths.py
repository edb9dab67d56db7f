"""Records the processes of one program, and says which of them took another branch first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.group.answer import MemberBranches
from debugger.questions.group.branch_answer import add_source_texts, build_branches
from debugger.questions.group.group_question import find_rank_words
from debugger.questions.group.member_branches import collect_lines
from debugger.questions.group.member_differences import label_recordings
from debugger.questions.recordings.recorded_run import run_recorded
from debugger.questions.recordings.run_text import format_run_end
from debugger.questions.recordings.saved_runs import StoredRun, compared_runs
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import QuestionOptions, keep_evidence
from debugger.recorders.model import LineRecording, RecordingOrder
from debugger.targets.command_line import BETWEEN, first_command

_LEAST = 2  # members of which one can have taken another branch


async def answer_branches(
    call: CommandCall, requested: QuestionOptions, refused: Sequence[str], *, verb: str
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
    answer = await compare_branches(call, requested, verb=verb)
    first = answer.splits[0] if answer.splits else None
    return keep_evidence(
        call,
        requested.repeat_command(["--group"]),
        answer,
        summary="the same branches"
        if first is None
        else f"part at {first.file}:{first.line}, hit {first.hit:,}",
        files=[one.file for one in answer.splits if one.file],
    )


async def compare_branches(
    call: CommandCall, requested: QuestionOptions, *, verb: str
) -> MemberBranches:
    """Run a program with a recorder in each process, and compare their branches.

    Raises:
        DebuggerError: NOT_SUPPORTED for other programs than Python's; NOT_FOUND for one process.
    """
    words, launcher = find_rank_words(call, requested)
    before = requested.words[: len(requested.words) - len(words)]
    options = msgspec.structs.replace(requested, words=words)
    (program,) = await compared_runs(call, options, (), save="group")
    if isinstance(program, StoredRun) or not program.is_python:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{verb} --group compares the branches of Python processes that it starts",
            hint=f"debugger {verb if verb == 'diff' else 'probe'} --group --at FILE:LINE "
            "'EXPR, EXPR' -- CMD compares the values of any program's processes",
        )
    ran = await run_recorded(
        msgspec.structs.replace(program, launcher=before),
        lambda roots: RecordingOrder(roots, lines=LineRecording.EACH),
        is_compared=True,
        tells_all=True,
    )
    labelled = label_recordings(ran.recordings, launcher)
    members = [collect_lines(label, one) for label, one in labelled]
    is_part = bool(call.sessions.name_suffix)
    if len(members) < _LEAST and not is_part:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"the program ran no other Python process; {format_run_end(ran.view)}",
            hint=f"debugger {verb} --help; two runs are compared without --group",
        )
    group = Path(program.launch.program or program.launch.module or "group").stem
    answer = add_source_texts(build_branches(group, members, format_run_end(ran.view)))
    return msgspec.structs.replace(answer, passed=tuple(members)) if is_part else answer
