"""Decides which members of a hanging group are not where the others wait. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence

from msgspec import Struct

from debugger.model.group_labels import format_members
from debugger.model.group_merge import StackPlace, order_members

WAITS, COMPUTES, CHILD, STOPPED, FAILED, ENDED, SILENT = (
    *("waits", "computes", "child", "stopped", "failed", "ended", "silent"),
)
# Calls in which the members of a job meet: of threading and multiprocessing, torch.distributed,
# MPI and mpi4py. A method of compiled code has no frame: then the line of the program names it.
_MEETING = re.compile(
    r"(?:Barrier\.wait|\b(?:P?MPI_)?(?:i?barrier|i?all_?reduce|i?all_?gather\w*|i?broadcast|i?bcast|reduce"
    r"|reduce_scatter\w*|i?scatterv?|i?gatherv?|i?all_?to_?all\w*))(?:$|\()",
    re.IGNORECASE,
)
_MEMBERS_MAX = 80  # characters of a set of members in a sentence


class MemberWait(Struct, frozen=True):
    """What a member does: it waits, computes, waits for processes that it started, or has ended."""

    label: str
    kind: str
    # The innermost frame of the program's own code, and the function of a library that it called.
    place: StackPlace | None = None
    call: str = ""
    # What the system says of the wait, or how the member ended.
    detail: str = ""
    # It started the others.
    is_main: bool = False


class WaitRow(Struct, frozen=True):
    """Members that do the same at the same line; laggards come first."""

    members: tuple[str, ...]
    kind: str
    place: StackPlace | None = None
    call: str = ""
    detail: str = ""
    is_laggard: bool = False


class GroupVerdict(Struct, frozen=True):
    """Why a group does not go on: `lagging`, `failed`, `together`, `computing` or `unknown`."""

    kind: str
    cause: str
    rows: tuple[WaitRow, ...]


def judge_waits(waits: Sequence[MemberWait]) -> GroupVerdict:
    """Find where most members wait, and who is not there.

    The place is a call in which members meet, as at a barrier; without one, any in which at least
    two members wait. A program that only waits for the processes that it started lags behind none.
    """
    meeting = _find_meeting(waits)
    there = {one.label for one in meeting}
    failed = [one for one in waits if one.kind == FAILED]
    absent = [
        one
        for one in waits
        if meeting
        and one.label not in there
        and one.kind in {WAITS, COMPUTES, STOPPED}
        and not (one.is_main and one.place is None)
    ]
    laggards = {one.label for one in (*failed, *absent)}
    rows = _merge_rows(waits, laggards)
    kind, cause = _explain(meeting, failed, absent, rows)
    return GroupVerdict(kind, cause, rows)


def _find_meeting(waits: Sequence[MemberWait]) -> list[MemberWait]:
    waiting = [one for one in waits if one.kind == WAITS and one.place is not None]
    places = _group_by(waiting, lambda one: (one.place, one.call))
    known = [one for one in places if is_meeting(one[0])]
    candidates = known or [one for one in places if len(one) > 1]
    return max(candidates, key=len, default=[])


def is_meeting_call(function: str) -> bool:
    """Tell whether a function of a library is one in which members meet."""
    return _MEETING.search(function) is not None


def is_meeting(wait: MemberWait) -> bool:
    """Tell whether a member waits in a call that others must come to."""
    if is_meeting_call(wait.call):
        return True
    return not wait.call and wait.place is not None and bool(_MEETING.search(wait.place.text))


def _merge_rows(waits: Sequence[MemberWait], laggards: set[str]) -> tuple[WaitRow, ...]:
    rows = [
        WaitRow(
            order_members(each.label for each in same),
            same[0].kind,
            same[0].place,
            same[0].call,
            # Descriptors and peers differ between members.
            same[0].detail if len({each.detail for each in same}) == 1 else "",
            is_laggard=same[0].label in laggards,
        )
        for same in _group_by(
            waits, lambda one: (one.label in laggards, one.kind, one.place, one.call)
        )
    ]
    order = [FAILED, COMPUTES, STOPPED, WAITS, SILENT, CHILD, ENDED]
    return tuple(
        sorted(rows, key=lambda one: (not one.is_laggard, order.index(one.kind), len(one.members)))
    )


def _group_by(
    waits: Iterable[MemberWait], key: Callable[[MemberWait], Hashable]
) -> list[list[MemberWait]]:
    groups: dict[Hashable, list[MemberWait]] = {}
    for one in waits:
        groups.setdefault(key(one), []).append(one)
    return list(groups.values())


def _explain(
    meeting: Sequence[MemberWait],
    failed: Sequence[MemberWait],
    absent: Sequence[MemberWait],
    rows: Sequence[WaitRow],
) -> tuple[str, str]:
    where = f"{_name_members(meeting)} {'wait' if len(meeting) > 1 else 'waits'}"
    if meeting:
        where += f" {_describe_place(meeting[0].place, meeting[0].call)}"
    lost = f"{_name_members(failed)} {failed[0].detail or 'ended'}" if failed else ""
    if meeting and absent:
        first = next(one for one in rows if one.is_laggard and one.kind != FAILED)
        does = {COMPUTES: "computes", STOPPED: "is stopped"}.get(first.kind, "waits")
        missing = f"{_cut(format_members(first.members))} {does} "
        missing += _describe_place(first.place, first.call)
        if first.detail:
            missing += f": {first.detail}"
        text = f"{missing}; {where}"
        return "lagging", f"{lost}; {text}" if lost else text
    if failed:
        return "failed", f"{lost}; {where}" if meeting else lost
    if meeting:
        return "together", f"{where}, and no member is elsewhere"
    computing = [one for one in rows if one.kind == COMPUTES]
    if computing:
        members = [label for one in computing for label in one.members]
        return "computing", f"{_cut(format_members(members))}: computing, at no wait"
    return "unknown", "no two members wait at the same place"


def _describe_place(place: StackPlace | None, call: str) -> str:
    if place is None:
        return f"in {call}" if call else "in code without a source line"
    file = f" {(place.file or '').rpartition('/')[2]}:{place.line}" if place.file else ""
    return f"{f'in {call} ' if call else ''}at {place.function}{file}"


def _name_members(waits: Sequence[MemberWait]) -> str:
    return _cut(format_members(one.label for one in waits))


def _cut(text: str) -> str:
    return text if len(text) <= _MEMBERS_MAX else f"{text[: _MEMBERS_MAX - 1]}…"
