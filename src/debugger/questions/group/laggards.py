"""Decides which members of a hanging group are not where the others wait. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from msgspec import Struct

from debugger.model.group_labels import MAIN, format_members
from debugger.model.group_merge import StackPlace, order_members
from debugger.questions.group.member_wait import (
    CHILD,
    COMPUTES,
    ENDED,
    FAILED,
    LOCKED,
    SILENT,
    STARTING,
    STOPPED,
    WAITS,
    MemberWait,
    is_meeting,
)
from debugger.questions.group.wait_chains import Key, WaitChains

# The call by which a rank joins its job.
_JOINS_JOB = re.compile(
    r"(?:^|\b)P?MPI_(?:Init(?:_thread)?|Session_init)$|(?:^|\.)init_process_group$"
)
_MANAGER = re.compile(r"Manager-[\d:]+(?:@|\Z)")  # the name of its process
# A program that was started is looked at again: seconds in which members that compute may come to
# the others, in which one that is alone may start others (a launcher imports, and meets its like),
# and between two looks. One that works while it imports and starts has much longer.
_SETTLE_S, _ALONE_S, AGAIN_S = 60.0, 10.0, 2.0
SETTLE_MAX_S = 300.0
_MEMBERS_MAX = 80  # characters of a set of members in a sentence
_CALL_NUMBER = re.compile(r" #\d+")  # of a collective call, in its process group
_ROOT = re.compile(r"root -?\d+\Z")  # of a collective call of MPI
# They are at no line: what is known of them is how they ended, or why they do not answer.
_KNOWN_BY_DETAIL = frozenset({FAILED, SILENT})
_ROOTS_MAX = 3  # threads that a sentence names


class WaitRow(Struct, frozen=True):
    """Members that do the same at the same line; laggards come first."""

    members: tuple[str, ...]
    kind: str
    place: StackPlace | None = None
    call: str = ""
    detail: str = ""
    is_laggard: bool = False
    # The thread, where it is not the main one: `thread loader`.
    thread: str = ""
    # Another thread of members that have a row of their own.
    is_beside: bool = False


class GroupVerdict(Struct, frozen=True):
    """Why a group does not go on.

    The kind is `lagging`, `failed`, `deadlock`, `blocked`, `together`, `computing` or `unknown`.
    """

    kind: str
    cause: str
    rows: tuple[WaitRow, ...]


def judge_waits(waits: Sequence[MemberWait]) -> GroupVerdict:
    """Find where most members wait, and who is not there.

    The place is a call in which members meet, as at a barrier; without one, any in which at least
    two members wait. A program that only waits for the processes that it started lags behind none.
    """
    graph = WaitChains(waits)
    members = graph.members
    meeting = _find_meeting(members)
    cycle = graph.find_cycle()
    if cycle:
        # A thread of a library, as the one that fills a queue, tells less than the program's own.
        ranks = {one.key: int(one.place is None) for one in cycle}
        rows = _merge_rows(members, cycle, ranks)
        # What may be at the other end of a pipe is not known to be all that could have ended it.
        is_sure = not any(each.is_possible for one in cycle for each in one.blockers)
        cause = f"deadlock: {'; '.join(map(_describe_wait, cycle))}"
        return GroupVerdict("deadlock", cause + ("" if is_sure else _describe_ended(members)), rows)
    failed = [one for one in members if one.kind == FAILED]
    absent = _find_absent(members, meeting)
    blocked = _find_blocked(graph, members if not meeting else absent)
    # Who is where the others are has done what it should, as far as this is known.
    blocked = [(one, root) for one, root in blocked if root not in meeting]
    if not (meeting or failed):
        working = _find_working(members)
        blocked = [pair for pair in blocked if not working or _is_telling(*pair)]
        raised = [(one, one) for one in members if one.kind == STOPPED and one.detail]
        blocked = (
            raised or blocked or [(one, one) for one in working] or _find_awaited(graph, members)
        )
    roots = [root for _, root in blocked]
    others = graph.other_threads({one.label for one in (*absent, *roots)} or _labels(members))
    # Who has failed comes first, then what is not awaited itself, then who is not there; last of
    # these who waits in another meeting, as of a smaller communicator, for others of them.
    ranks = {one.key: 2 + is_meeting(one) for one in absent} | {one.key: 1 for one in roots}
    ranks |= {one.key: 0 for one in failed}
    rows = _merge_rows(members, (*roots, *others), ranks)
    kind, cause = _explain(meeting, failed, absent, blocked, rows)
    if kind not in {"lagging", "failed"}:
        cause += _describe_ended(members)
    return GroupVerdict(kind, cause, rows)


def _describe_ended(members: Sequence[MemberWait]) -> str:
    """Name members that have ended: others may wait for what they would have sent."""
    ended = [one.label for one in members if one.kind == ENDED]
    # How one ended is not always known.
    return f"; {_describe_ends(ended)}" if ended else ""


def _describe_ends(labels: Sequence[str]) -> str:
    return f"{_cut(format_members(labels))} {'have' if len(labels) > 1 else 'has'} ended"


def _labels(waits: Iterable[MemberWait]) -> set[str]:
    return {one.label for one in waits}


def _find_blocked(
    graph: WaitChains, waits: Sequence[MemberWait]
) -> list[tuple[MemberWait, MemberWait]]:
    """Return members that wait for another one, and the thread at the end of each chain."""
    found: dict[Key, tuple[MemberWait, MemberWait]] = {}
    for one in waits:
        root = graph.find_root(one) if one.kind == WAITS else one
        if _is_manager(root) and root.label != one.label:
            found.setdefault(one.key, (one, one))  # it serves the others, and waits for nobody
            continue
        # At the same call, as of a queue whose lock one of its readers holds, none is behind.
        if root.label != one.label and (root.place, root.call) != (one.place, one.call):
            found.setdefault(root.key, (one, root))
    return list(found.values())


def _find_awaited(
    graph: WaitChains, waits: Sequence[MemberWait]
) -> list[tuple[MemberWait, MemberWait]]:
    """Return members that wait for the end of another one, and that one if it waits, too."""
    chains = [(one, graph.find_root(one)) for one in waits if one.kind == CHILD]
    return [(one, root) for one, root in chains if one is not root and root.kind == WAITS]


def _find_working(members: Sequence[MemberWait]) -> list[MemberWait]:
    """Return members in code of the program's own where the program or others are in an engine's.

    An engine's processes wait for work in its own code: what has not come to its end is a task.
    """
    working = [
        one
        for one in members
        if one.label.split("@")[0] != MAIN
        and one.place is not None
        and one.kind in {WAITS, COMPUTES}
    ]
    idle = [one for one in members if one.place is None and one.kind in {WAITS, COMPUTES}]
    return working if idle else []


def _is_telling(first: MemberWait, root: MemberWait) -> bool:
    """Return whether a chain of waits says more than that a process of an engine waits for work."""
    is_sure = bool(first.blockers) and not any(one.is_possible for one in first.blockers)
    own = [one for one in (first, root) if one.place is not None]
    # A pool's workers wait for one another's lock, of which one waits for work.
    return bool(own) and (is_sure or len(own) == len((first, root)))


def _is_manager(wait: MemberWait) -> bool:
    """Return whether a member is the process of a multiprocessing manager, which has its locks."""
    return wait.place is None and _MANAGER.search(wait.label) is not None


def is_looked_at_again(
    verdict: GroupVerdict,
    before: GroupVerdict | None,
    *,
    elapsed_s: float,
    works: bool = False,
    silent_works: bool = False,
) -> bool:
    """Return whether a program that was started may yet come to where it hangs (bounded).

    Args:
        verdict: The look at it now.
        before: The look before.
        elapsed_s: Since the first look.
        works: Its processes have used processors since the look before: on a busy machine what
            is on its way is only late.
        silent_works: The same of members that do not answer: those that use no processor will not.
    """
    may_start = elapsed_s < _ALONE_S or (silent_works and _is_silent(verdict))
    is_late = works and _is_under_way(verdict, may_start=may_start)
    if elapsed_s > (SETTLE_MAX_S if is_late else _SETTLE_S):
        return False
    may_come = works and _may_start_tasks(verdict)
    return may_come or not is_settled(verdict, before, may_start=may_start)


def _may_start_tasks(verdict: GroupVerdict) -> bool:
    """Return whether an engine may be about to start the processes of its tasks, as Ray does.

    Its services run, and none but the program itself is in code of the program's own.
    """
    others = [one for one in verdict.rows if any(each != MAIN for each in one.members)]
    is_idle = all(one.place is None for one in others)
    return bool(others) and is_idle and verdict.kind in {"computing", "unknown"}


def _is_silent(verdict: GroupVerdict) -> bool:
    return any(one.kind == SILENT for one in verdict.rows)


def is_settled(
    verdict: GroupVerdict, before: GroupVerdict | None, *, may_start: bool = False
) -> bool:
    """Return whether a program that was started is where it hangs, and no longer on its way there.

    A member that computes may come to the others yet: it is a laggard if it is still in its
    function. One that imports a library, whose module runs, will. So may one that waits elsewhere,
    as on a busy machine: it is looked at twice. Those that all begin the engine (MPI_Init) are on
    their way. With `may_start` programs that are alone are still to start their processes.
    """
    if _is_under_way(verdict, may_start=may_start):
        return False
    calls = _calls_to_join(verdict)
    if any(calls) or verdict.kind in {"computing", "lagging", "blocked", "unknown"}:
        return before is not None and _place_keys(before) == _place_keys(verdict)
    return True


def _is_under_way(verdict: GroupVerdict, *, may_start: bool) -> bool:
    """Return whether members still start, import, or join their job."""
    is_found = verdict.kind not in {"computing", "together", "unknown"}
    members = [label.split("@")[0] for one in verdict.rows for label in one.members]
    if may_start and (_is_silent(verdict) or (not is_found and set(members) <= {MAIN})):
        return True
    computing = [one for one in verdict.rows if one.kind == COMPUTES]
    # On a busy machine one that imports waits for a processor or a disk, and seems to wait.
    imports = any(one.call == "<module>" for one in verdict.rows)
    begins = may_start and any(one.place is None for one in computing)
    if imports or begins or any(one.call == STARTING for one in computing):
        return True
    calls = _calls_to_join(verdict)
    return bool(calls) and all(calls)  # nobody is missing: on a busy machine it takes them long


def _calls_to_join(verdict: GroupVerdict) -> list[bool]:
    """Return of each row but the launcher's whether its members join their job."""
    rows = [one for one in verdict.rows if not set(one.members) <= {MAIN}]
    return [_JOINS_JOB.search(one.call) is not None for one in rows]


def _place_keys(verdict: GroupVerdict) -> list[Hashable]:
    """Return who is in which function: the lines of one that computes change.

    Who has come to the next collective call at the same line goes on, if slowly.
    """
    places = ((one, one.place or StackPlace("")) for one in verdict.rows)
    return [
        (one.members, one.kind, place.function, place.file, _CALL_NUMBER.findall(one.call))
        for one, place in places
    ]


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
    if not elsewhere and parties is not None and len(meeting) < parties:
        # One that has ended too early does not come any more.
        return [one for one in waits if one.kind == ENDED and one.label.split("@")[0] != MAIN]
    # The program is expected at a barrier only if the others are too few for it.
    is_enough = parties is not None and len(meeting) + len(others) >= parties
    return others if is_enough or (ranks and others) else elsewhere


def _find_meeting(waits: Sequence[MemberWait]) -> list[MemberWait]:
    waiting = [
        one for one in waits if one.kind == WAITS and (one.place is not None or one.call == LOCKED)
    ]
    # The same collective call may be made at several lines.
    places = _group_by(waiting, lambda one: _collective_key(one) or (one.place, one.call))
    # What keeps the interpreter's lock for good is a call of MPI that waits for the others.
    known = [one for one in places if is_meeting(one[0]) or one[0].call == LOCKED]
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


def _describe_wait(wait: MemberWait) -> str:
    """Describe a thread's wait in a sentence: `2 (thread load) waits in flock at …: a lock …`."""
    who = f"{wait.label} ({wait.name})" if wait.name else wait.label
    text = f"{who} {_describe_action(wait.kind, wait.place, wait.call)}"
    return f"{text}: {wait.detail}" if wait.detail else text


def _describe_action(kind: str, place: StackPlace | None, call: str) -> str:
    verb = {COMPUTES: "computes", STOPPED: "is stopped", SILENT: "does not answer"}.get(
        kind, "waits"
    )
    # Of one that a signal has stopped, or that does not answer, no line is known.
    is_known = place is not None or call or kind not in {STOPPED, SILENT}
    return f"{verb} {_describe_place(place, call)}" if is_known else verb


def _merge_rows(
    members: Sequence[MemberWait], others: Iterable[MemberWait], ranks: Mapping[Key, int]
) -> tuple[WaitRow, ...]:
    """Merge what members, and other threads of theirs, do at the same line.

    Args:
        members: One wait of each member.
        others: Those of other threads; some of them may be among `members`.
        ranks: Of laggards; the lowest come first.
    """
    last, chosen = max(ranks.values(), default=0) + 1, {one.key for one in members}
    order = [FAILED, COMPUTES, STOPPED, WAITS, SILENT, CHILD, ENDED]
    groups = _group_by(
        {one.key: one for one in (*members, *others)}.values(),
        lambda one: (
            ranks.get(one.key, last),
            one.kind,
            one.place,
            one.call,
            one.name,
            one.key in chosen,
            _meeting_number(one),
            one.detail if one.kind in _KNOWN_BY_DETAIL else "",
        ),
    )
    groups.sort(
        key=lambda same: (ranks.get(same[0].key, last), order.index(same[0].kind), len(same))
    )
    return tuple(
        WaitRow(
            order_members(each.label for each in same),
            same[0].kind,
            same[0].place,
            _describe_call(same[0]),
            _shared_detail(same),
            is_laggard=same[0].key in ranks,
            thread=same[0].name,
            is_beside=same[0].key not in chosen,
        )
        for same in groups
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
        return _format_by_member(tensors)
    parties = {(one.meeting.came, one.meeting.parties) for one in same if one.meeting is not None}
    came, of = next(iter(parties)) if len(parties) == 1 else (0, None)
    if of is not None:
        return f"{came} of {of} are there"
    details: dict[str, list[str]] = {}
    for one in same:
        details.setdefault(one.detail, []).append(one.label)
    if len(details) == 1:
        return same[0].detail
    # Descriptors and peers differ between members; a root that differs is why they wait.
    if all(_ROOT.match(text) for text in details):
        return _format_by_member(details)
    return ""


def _format_by_member(texts: Mapping[str, Sequence[str]]) -> str:
    return " · ".join(f"{text} on {_cut(format_members(of))}" for text, of in texts.items())


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
    blocked: Sequence[tuple[MemberWait, MemberWait]],
    rows: Sequence[WaitRow],
) -> tuple[str, str]:
    where = f"{_name_members(meeting)} {'wait' if len(meeting) > 1 else 'waits'}"
    if meeting:
        where += f" {_describe_place(meeting[0].place, _describe_call(meeting[0]))}"
        detail = _shared_detail(meeting)
        where += f": {detail}" if detail and (meeting[0].meeting or " · " in detail) else ""
    lost = f"{_name_members(failed)} {failed[0].detail or 'ended'}" if failed else ""
    if meeting and absent:
        here = _labels(absent)
        missing = [
            _describe_row(one, meeting[0], absent)
            for one in rows
            if one.is_laggard and here.issuperset(one.members)
        ]
        awaited = [_describe_wait(root) for _, root in blocked if root not in absent]
        parts = (lost, *awaited[:_ROOTS_MAX], *missing[:_ROOTS_MAX], where)
        return "lagging", "; ".join(filter(None, parts))
    if failed:
        return "failed", f"{lost}; {where}" if meeting else lost
    if blocked:
        # One that waits for a manager is its own root: nobody knows who has the manager's lock.
        waiting, root = blocked[0]
        pair = (root,) if root is waiting else (root, waiting)
        more = [root for each, root in blocked[1:_ROOTS_MAX] if each is root]
        return "blocked", "; ".join(map(_describe_wait, (*pair, *more)))
    if meeting:
        return "together", f"{where}, and no member is elsewhere"
    computing = [one for one in rows if one.kind == COMPUTES]
    if computing:
        members = [label for one in computing for label in one.members]
        return "computing", f"{_cut(format_members(members))}: computing, at no wait"
    return "unknown", _describe_scattered(rows)


def _describe_row(row: WaitRow, there: MemberWait, absent: Sequence[MemberWait]) -> str:
    """Describe what laggards do, and how far they have come, in a sentence."""
    if row.kind == ENDED:
        return _describe_ends(row.members)
    who = _cut(format_members(row.members)) + (f" ({row.thread})" if row.thread else "")
    what = f"{who} {_describe_action(row.kind, row.place, row.call)}"
    notes = (row.detail, _describe_progress(there, row, absent))
    return what + "".join(f": {one}" for one in filter(None, notes))


def _describe_scattered(rows: Sequence[WaitRow]) -> str:
    if len(rows) != 1:
        return "no two members wait at the same place"
    one = rows[0]  # a group of one is as a session
    who = _cut(format_members(one.members))
    return f"{who} {_describe_action(one.kind, one.place, one.call)}"


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
