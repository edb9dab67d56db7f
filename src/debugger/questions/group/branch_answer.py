"""Builds the answer about the branches that the members of a group took, of one host or of many."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from debugger.model.group_merge import order_members
from debugger.questions.group.answer import MemberBranches
from debugger.questions.group.member_branches import BranchSplit, MemberLines, find_splits
from debugger.questions.group.member_counts import CountSplit, MemberCounts, find_count_splits
from debugger.questions.group.member_stacks import read_source_line

_SPLITS_MAX = 20  # lines in an answer


def build_branches(group: str, members: Sequence[MemberLines], end: str) -> MemberBranches:
    """Build the answer about the branches of members, without the texts of lines."""
    splits = find_splits(members)
    return MemberBranches(
        group=group,
        members=order_members(one.label for one in members),
        splits=splits[:_SPLITS_MAX],
        total=len(splits),
        lines=len({line.line for one in members for line in one.lines}),
        end=end,
    )


def build_counted_branches(group: str, members: Sequence[MemberCounts], end: str) -> MemberBranches:
    """Build the answer about the counts of members' lines, without the texts of lines."""
    counted = find_count_splits(members)
    lines = {
        (function.file, one.line)
        for each in members
        for function in each.functions
        for one in function.lines
        if one.times
    }
    return MemberBranches(
        group=group,
        members=order_members(one.label for one in members),
        splits=(),
        total=len(counted),
        lines=len(lines),
        end=end,
        counted=counted[:_SPLITS_MAX],
        is_counted=True,
        only_lines=any(one.only_lines for one in members),
    )


def add_source_texts(answer: MemberBranches) -> MemberBranches:
    """Add the texts of lines, as far as their sources are on this machine."""
    return msgspec.structs.replace(
        answer,
        splits=tuple(map(_add_texts, answer.splits)),
        counted=tuple(map(_add_line_texts, answer.counted)),
    )


def _add_line_texts(split: CountSplit) -> CountSplit:
    after = read_source_line(split.file, split.after) if split.after else ""
    text = read_source_line(split.file, split.line)
    return msgspec.structs.replace(split, text=text, after_text=after)


def _add_texts(split: BranchSplit) -> BranchSplit:
    ways = tuple(
        msgspec.structs.replace(one, text=read_source_line(split.file, one.line))
        for one in split.ways
    )
    text = read_source_line(split.file, split.line)
    return msgspec.structs.replace(split, text=text, ways=ways)
