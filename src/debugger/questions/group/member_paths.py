"""Records the processes of one program, and says which of them took another branch first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.group_merge import order_members
from debugger.questions.group.answer import MemberBranches
from debugger.questions.group.member_branches import (
    BranchSplit,
    collect_lines,
    find_splits,
)
from debugger.questions.group.member_differences import label_recordings
from debugger.questions.group.member_stacks import read_source_line
from debugger.questions.recordings.recorded_run import run_recorded
from debugger.questions.recordings.run_text import format_run_end
from debugger.questions.recordings.saved_runs import StoredRun, compared_runs
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import QuestionOptions, keep_evidence
from debugger.recorders.model import LineRecording, RecordingOrder
from debugger.targets.command_line import BETWEEN, first_command

_SPLITS_MAX = 20  # lines in an answer
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
    if call.sessions.name_suffix:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            "the branches of processes on several hosts are not compared",
            hint=f"debugger probe --group --at LOC 'EXPR, EXPR' --host h1,h2 -- CMD, or {verb} "
            "--group on one host",
        )
    (program,) = await compared_runs(call, requested, (), save="group")
    if isinstance(program, StoredRun) or not program.is_python:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{verb} --group compares the processes of a Python program that it starts",
            hint=f"debugger hang --group -- CMD, or debugger {verb} --group -- python3 FILE.py",
        )
    ran = await run_recorded(
        program,
        lambda roots: RecordingOrder(roots, lines=LineRecording.EACH),
        is_compared=True,
        tells_all=True,
    )
    members = [collect_lines(label, one) for label, one in label_recordings(ran.recordings)]
    if len(members) < _LEAST:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"the program ran no other Python process; {format_run_end(ran.view)}",
            hint=f"debugger {verb} -- CMD --vs CMD compares two runs",
        )
    splits = find_splits(members)
    return MemberBranches(
        group=Path(program.launch.program or program.launch.module or "group").stem,
        members=order_members(one.label for one in members),
        splits=tuple(map(_add_texts, splits[:_SPLITS_MAX])),
        total=len(splits),
        lines=len({line for one in members for line in one.passed}),
        end=format_run_end(ran.view),
    )


def _add_texts(split: BranchSplit) -> BranchSplit:
    ways = tuple(
        msgspec.structs.replace(one, text=read_source_line(split.file, one.line))
        for one in split.ways
    )
    text = read_source_line(split.file, split.line)
    return msgspec.structs.replace(split, text=text, ways=ways)
