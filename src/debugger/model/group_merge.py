"""Merges what the members of a group answer: stacks into one tree, values and stops into sets."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.group_labels import sort_key

T = TypeVar("T")

BY_LINE, BY_FUNCTION, BY_STATE = "line", "function", "state"
MERGES = (BY_LINE, BY_FUNCTION, BY_STATE)
# An object's address differs between processes, and says nothing of its value.
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")
_SAME_ADDRESS = "0x…"


class StackPlace(Struct, frozen=True):
    """A function and a line on a member's stack; the line is None where it is not compared."""

    function: str
    file: str | None = None
    line: int | None = None
    # The source of the line, for the innermost frame of the program's own code.
    text: str = ""


class MemberStack(Struct, frozen=True):
    """The stack of a member, outermost frame first, and its state (stopped, running)."""

    label: str
    state: str
    frames: tuple[StackPlace, ...] = ()


class StackBranch(Struct, frozen=True):
    """A run of frames that the same members have, and the branches below it."""

    members: tuple[str, ...]
    frames: tuple[StackPlace, ...]
    # Empty where the members' stacks end here.
    branches: tuple[StackBranch, ...] = ()
    # The state of members whose stacks end here, where it tells them apart.
    state: str = ""


class MergedValue(Struct, frozen=True):
    """A value, and the members that have it."""

    value: str
    members: tuple[str, ...]


def check_merge(by: str) -> None:
    """Check the name of a way to merge stacks.

    Raises:
        DebuggerError: USAGE.
    """
    if by not in MERGES:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--by is {', '.join(MERGES)}, not {by!r}",
            hint="debugger backtrace --by function",
        )


def order_members(labels: Iterable[str]) -> tuple[str, ...]:
    """Return labels in their order, each once."""
    return tuple(sorted(set(labels), key=sort_key))


def merge_stacks(stacks: Sequence[MemberStack], by: str = BY_LINE) -> tuple[StackBranch, ...]:
    """Merge stacks into trees; of two branches the one with fewer members comes first.

    By `line` members are together while function, file and line are equal; by `function` the lines
    are not compared; by `state` members are together whose state and innermost frame are equal.
    """
    if by == BY_STATE:
        compared = [
            MemberStack(one.label, one.state, _without_lines(one.frames[-1:])) for one in stacks
        ]
        groups = _group_by(compared, lambda one: (one.state, one.frames))
        found = [
            StackBranch(_labels_of(members), members[0].frames, (), members[0].state)
            for members in groups
        ]
        return tuple(_odd_first(found))
    compared = [
        MemberStack(
            one.label, one.state, one.frames if by == BY_LINE else _without_lines(one.frames)
        )
        for one in stacks
    ]
    return _branches_at(compared, 0)


def _without_lines(frames: Sequence[StackPlace]) -> tuple[StackPlace, ...]:
    return tuple(StackPlace(one.function, one.file) for one in frames)


def _branches_at(stacks: Sequence[MemberStack], depth: int) -> tuple[StackBranch, ...]:
    """Return the branches of stacks that are equal up to a depth."""
    # Recursion goes one level for each split, not for each frame: a branch takes all the frames
    # that its members share.
    ended = [one for one in stacks if len(one.frames) == depth]
    deeper = [one for one in stacks if len(one.frames) > depth]
    found = [
        StackBranch(_labels_of(members), (), (), members[0].state)
        for members in _group_by(ended, lambda one: one.state)
    ]
    for members in _group_by(deeper, lambda one: one.frames[depth]):
        end = _shared_end(members, depth)
        branches = _branches_at(members, end)
        frames = members[0].frames[depth:end]
        if len(branches) == 1 and not branches[0].branches and not branches[0].frames:
            # All end here, in one state.
            found.append(StackBranch(_labels_of(members), frames, (), branches[0].state))
        else:
            found.append(StackBranch(_labels_of(members), frames, branches))
    return tuple(_odd_first(found))


def _shared_end(members: Sequence[MemberStack], depth: int) -> int:
    end = min(len(one.frames) for one in members)
    first = members[0].frames
    for at in range(depth + 1, end):
        if any(one.frames[at] != first[at] for one in members):
            return at
    return end


def _group_by(items: Sequence[T], key: Callable[[T], Hashable]) -> list[list[T]]:
    groups: dict[Hashable, list[T]] = {}
    for one in items:
        groups.setdefault(key(one), []).append(one)
    return list(groups.values())


def _labels_of(members: Sequence[MemberStack]) -> tuple[str, ...]:
    return order_members([one.label for one in members])


def _odd_first(branches: Sequence[StackBranch]) -> list[StackBranch]:
    return sorted(branches, key=lambda one: (len(one.members), sort_key(one.members[0])))


def merge_values(values: Mapping[str, str]) -> tuple[MergedValue, ...]:
    """Merge values by label; the value of most members comes first.

    Values that differ in addresses of objects only are one value.
    """
    groups: dict[str, list[str]] = {}
    for label in order_members(list(values)):
        groups.setdefault(_ADDRESS.sub(_SAME_ADDRESS, values[label]), []).append(label)
    found = [
        MergedValue(values[labels[0]] if len(labels) == 1 else text, tuple(labels))
        for text, labels in groups.items()
    ]
    return tuple(sorted(found, key=lambda one: (-len(one.members), sort_key(one.members[0]))))
