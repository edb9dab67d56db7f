"""Decides which members of a hanging group are not where the others wait. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from msgspec import Struct

from debugger.model.group_labels import MAIN, format_members
from debugger.model.group_merge import StackPlace, order_members

WAITS, COMPUTES, CHILD, STOPPED, FAILED, ENDED, SILENT = (
    *("waits", "computes", "child", "stopped", "failed", "ended", "silent"),
)
STARTING = "its start"  # in the place of a call
# Calls in which the members of a job meet: of threading and multiprocessing, torch.distributed,
# MPI and mpi4py. A method of compiled code has no frame: then the line of the program names it.
_MEETING = re.compile(
    r"(?:Barrier\.wait|\b(?:P?MPI_)?(?:i?barrier|monitored_barrier|i?all_?reduce\w*|i?all_?gather\w*"
    r"|i?broadcast\w*|i?bcast|reduce|reduce_scatter\w*|i?scatter(?:v|_object_list)?"
    r"|i?gather(?:v|_object)?|i?all_?to_?all\w*|init_process_group|new_group))(?:$|\()",
    re.IGNORECASE,
)
# A program that was started is looked at again: seconds in which members that compute may come to
# the others, in which one that is alone may start others (a launcher imports, and meets its like),
# and between two looks.
SETTLE_S, ALONE_S, AGAIN_S = 60.0, 10.0, 2.0
_MEMBERS_MAX = 80  # characters of a set of members in a sentence


class Meeting(Struct, frozen=True):
    """The call in which a member waits for others, as its library knows it."""

    # Of a collective call: the process group, "" for the one of all ranks, and its ranks.
    group: str = ""
    ranks: tuple[int, ...] = ()
    # Which call of the group it is, counted from 1.
    number: int | None = None
    # Shape and type of what is sent: `[4, 3] float32`.
    tensors: str = ""
    # Of a barrier: how many must come, and how many are there.
    parties: int | None = None
    came: int = 0


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
    meeting: Meeting | None = None
    # Its rank in torch.distributed, and how many collective calls of each group it has come to.
    rank: int | None = None
    numbers: Mapping[str, int] = {}
    # The members that hold the lock it waits for.
    owners: tuple[str, ...] = ()


class WaitRow(Struct, frozen=True):
    """Members that do the same at the same line; laggards come first."""

    members: tuple[str, ...]
    kind: str
    place: StackPlace | None = None
    call: str = ""
    detail: str = ""
    is_laggard: bool = False


class GroupVerdict(Struct, frozen=True):
    """Why a group does not go on.

    The kind is `lagging`, `failed`, `deadlock`, `together`, `computing` or `unknown`.
    """

    kind: str
    cause: str
    rows: tuple[WaitRow, ...]


def judge_waits(waits: Sequence[MemberWait]) -> GroupVerdict:
    """Find where most members wait, and who is not there.

    The place is a call in which members meet, as at a barrier; without one, any in which at least
    two members wait. A program that only waits for the processes that it started lags behind none.
    """
    cycle = _find_cycle(waits)
    if cycle:
        labels = {one.label for one in cycle}
        return GroupVerdict("deadlock", _explain_cycle(cycle), _merge_rows(waits, labels))
    meeting = _find_meeting(waits)
    failed = [one for one in waits if one.kind == FAILED]
    absent = _find_absent(waits, meeting)
    laggards = {one.label for one in (*failed, *absent)}
    rows = _merge_rows(waits, laggards)
    kind, cause = _explain(meeting, failed, absent, rows)
    ended = [one for one in waits if one.kind == ENDED]
    if ended and kind not in {"lagging", "failed"}:
        # Others may wait for what it would have sent; how it ended is not always known.
        cause += f"; {_name_members(ended)} {'have' if len(ended) > 1 else 'has'} ended"
    return GroupVerdict(kind, cause, rows)


def is_settled(
    verdict: GroupVerdict, before: GroupVerdict | None, *, may_start: bool = False
) -> bool:
    """Tell whether a program that was started is where it hangs, and no longer on its way there.

    A member that computes may come to the others yet: it is a laggard if it is still in its
    function. One that imports a library, whose module runs, will. So may one that waits elsewhere,
    as on a busy machine: it is looked at twice. With `may_start` programs that are alone are still
    to start their processes.
    """
    is_found = verdict.kind not in {"computing", "together", "unknown"}
    members = [label.split("@")[0] for one in verdict.rows for label in one.members]
    if may_start and not is_found and set(members) <= {MAIN}:
        return False
    computing = [one for one in verdict.rows if one.kind == COMPUTES]
    if any(one.call in {STARTING, "<module>"} for one in computing):
        return False
    if verdict.kind in {"computing", "lagging", "unknown"}:
        return before is not None and _place_keys(before) == _place_keys(verdict)
    return True


def _place_keys(verdict: GroupVerdict) -> list[Hashable]:
    """Return who is in which function: the lines of one that computes change."""
    places = ((one, one.place or StackPlace("")) for one in verdict.rows)
    return [(one.members, one.kind, place.function, place.file) for one, place in places]


def _find_absent(waits: Sequence[MemberWait], meeting: Sequence[MemberWait]) -> list[MemberWait]:
    """Return the members that are expected where the others wait, and are elsewhere."""
    if not meeting:
        return []
    there = {one.label for one in meeting}
    elsewhere = [
        one
        for one in waits
        if one.label not in there
        and one.kind in {WAITS, COMPUTES, STOPPED}
        and not (one.is_main and one.place is None)
    ]
    # A collective call names its ranks: what only starts them is not one.
    ranks = {rank for one in meeting if one.meeting is not None for rank in one.meeting.ranks}
    if ranks and any(one.rank is not None for one in elsewhere):
        return [one for one in elsewhere if one.rank in ranks]
    others = [one for one in elsewhere if not one.is_main]
    parties = next((one.meeting.parties for one in meeting if one.meeting is not None), None)
    # The program is expected at a barrier only if the others are too few for it.
    is_enough = parties is not None and len(meeting) + len(others) >= parties
    return others if is_enough or (ranks and others) else elsewhere


def _find_meeting(waits: Sequence[MemberWait]) -> list[MemberWait]:
    waiting = [one for one in waits if one.kind == WAITS and one.place is not None]
    # The same collective call may be made at several lines.
    places = _group_by(waiting, lambda one: _collective_key(one) or (one.place, one.call))
    known = [one for one in places if is_meeting(one[0])]
    candidates = known or [one for one in places if len(one) > 1]
    # Of two calls with as many members the later one: at the other are those that are behind.
    return max(candidates, key=lambda one: (len(one), _meeting_number(one[0])), default=[])


def _collective_key(wait: MemberWait) -> Hashable:
    meeting = wait.meeting
    if meeting is None or meeting.number is None or not is_meeting(wait):
        return None
    return (wait.call, meeting.group, meeting.number)


def _meeting_number(wait: MemberWait) -> int:
    return (wait.meeting.number or 0) if wait.meeting is not None else 0


def _find_cycle(waits: Sequence[MemberWait]) -> list[MemberWait]:
    """Return members each of which waits for a lock that the next one holds."""
    by_label = {one.label: one for one in waits}
    for first in waits:
        path, at = [first], first
        while at.owners and at.owners[0] in by_label and len(path) <= len(waits):
            at = by_label[at.owners[0]]
            if at is first:
                return path
            path.append(at)
    return []


def _explain_cycle(cycle: Sequence[MemberWait]) -> str:
    texts = [
        f"{one.label} waits {_describe_place(one.place, one.call)} for a lock that"
        f" {one.owners[0]} holds"
        for one in cycle
    ]
    return "; ".join(texts)


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
            _describe_call(same[0]),
            _shared_detail(same),
            is_laggard=same[0].label in laggards,
        )
        for same in _group_by(
            waits,
            lambda one: (
                one.label in laggards,
                one.kind,
                one.place,
                one.call,
                _meeting_number(one),
            ),
        )
    ]
    order = [FAILED, COMPUTES, STOPPED, WAITS, SILENT, CHILD, ENDED]
    return tuple(
        sorted(rows, key=lambda one: (not one.is_laggard, order.index(one.kind), len(one.members)))
    )


def _describe_call(wait: MemberWait) -> str:
    """Return a call with its number in the process group: `all_reduce #4`."""
    if wait.meeting is None or not wait.call or wait.meeting.number is None:
        return wait.call
    group = f" of group {wait.meeting.group}" if wait.meeting.group else ""
    return f"{wait.call} #{wait.meeting.number}{group}"


def _shared_detail(same: Sequence[MemberWait]) -> str:
    """Return what is to be said of members at one place."""
    tensors: dict[str, list[str]] = {}
    for one in same:
        if one.meeting is not None and one.meeting.tensors:
            tensors.setdefault(one.meeting.tensors, []).append(one.label)
    if len(tensors) == 1:
        return next(iter(tensors))
    if tensors:
        return " · ".join(f"{text} on {_cut(format_members(of))}" for text, of in tensors.items())
    parties = {(one.meeting.came, one.meeting.parties) for one in same if one.meeting is not None}
    came, of = next(iter(parties)) if len(parties) == 1 else (0, None)
    if of is not None:
        return f"{came} of {of} are there"
    # Descriptors and peers differ between members.
    return same[0].detail if len({each.detail for each in same}) == 1 else ""


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
        where += f" {_describe_place(meeting[0].place, _describe_call(meeting[0]))}"
        detail = _shared_detail(meeting) if meeting[0].meeting is not None else ""
        where += f": {detail}" if detail else ""
    lost = f"{_name_members(failed)} {failed[0].detail or 'ended'}" if failed else ""
    if meeting and absent:
        first = next(one for one in rows if one.is_laggard and one.kind != FAILED)
        does = {COMPUTES: "computes", STOPPED: "is stopped"}.get(first.kind, "waits")
        missing = f"{_cut(format_members(first.members))} {does} "
        missing += _describe_place(first.place, first.call)
        notes = [first.detail, _describe_progress(meeting[0], first, absent)]
        missing += "".join(f": {one}" for one in filter(None, notes))
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


def _describe_progress(there: MemberWait, row: WaitRow, absent: Sequence[MemberWait]) -> str:
    """Say how far a laggard has come in the collective calls of the group, if it is in none."""
    meeting, first = there.meeting, next(one for one in absent if one.label in row.members)
    if meeting is None or meeting.number is None or first.meeting is not None:
        return ""
    number = first.numbers.get(meeting.group)
    return f"after {number} of the {meeting.number} calls" if number is not None else ""


def _describe_place(place: StackPlace | None, call: str) -> str:
    if place is None:
        return f"in {call}" if call else "in code without a source line"
    file = f" {(place.file or '').rpartition('/')[2]}:{place.line}" if place.file else ""
    return f"{f'in {call} ' if call else ''}at {place.function}{file}"


def _name_members(waits: Sequence[MemberWait]) -> str:
    return _cut(format_members(one.label for one in waits))


def _cut(text: str) -> str:
    return text if len(text) <= _MEMBERS_MAX else f"{text[: _MEMBERS_MAX - 1]}…"
