"""Merges the answers of a group's parts on several hosts into the answer of one group. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers import Events, EventView
from debugger.model.events import State
from debugger.model.group_labels import MAIN, format_members
from debugger.model.group_merge import (
    MemberStack,
    StackBranch,
    StackPlace,
    merge_stacks,
    merge_values,
    order_members,
)
from debugger.questions.group.answer import (
    GroupCrash,
    GroupHang,
    GroupStacks,
    GroupStatus,
    GroupStop,
    GroupValues,
    MemberBranches,
    MemberEnd,
    MemberProbes,
    MemberView,
    MergedState,
    NamedValues,
    merge_ends,
)
from debugger.questions.group.branch_answer import build_branches, build_counted_branches
from debugger.questions.group.laggards import judge_waits
from debugger.questions.group.member_differences import compare_location, refuse_unreached
from debugger.questions.group.member_wait import MemberWait
from debugger.session.group import SilentMember

_LEAST = 2  # members of which one can have taken another branch
QuestionAnswer = GroupHang | GroupCrash | MemberProbes | MemberBranches
GroupAnswer = GroupStacks | GroupValues | GroupStatus | GroupStop | QuestionAnswer
STARTING = "starting"  # the state of a host that has not begun its part yet
_SILENT = "no answer"  # the state of members whose host is not reached
Relabel = Callable[[str], str]
# What only an answer of this kind has.
_KINDS: Mapping[str, type[GroupAnswer]] = {
    "branches": GroupStacks,
    "rows": GroupValues,
    "verdict": GroupHang,
    "crash": GroupCrash,
    "places": MemberProbes,
    "splits": MemberBranches,
    "stop": GroupStop,
    "focused": GroupStatus,
}


def read_answer(data: Mapping[str, Any]) -> GroupAnswer | Events | None:
    """Return the answer of a part of a group; None for what is no answer of a group's own."""
    if "events" in data:
        return msgspec.convert(data, Events, strict=False)
    kind = next((kind for key, kind in _KINDS.items() if key in data and "group" in data), None)
    return msgspec.convert(data, kind, strict=False, str_keys=True) if kind is not None else None


def list_labels(answer: GroupAnswer | Events) -> set[str]:
    """Return the labels of members that an answer names."""
    match answer:
        case GroupStacks() | GroupStatus():
            return {label for one in answer.states for label in one.members}
        case GroupValues():
            merged = {each for row in answer.rows for one in row.values for each in one.members}
            return merged | {one.label for one in answer.silent}
        case GroupStop():
            others = {label for one in answer.others for label in one.members}
            return others | ({answer.member} if answer.member else set())
        case GroupHang() | GroupCrash() | MemberProbes() | MemberBranches():
            return _list_question_labels(answer)
        case Events():
            return set()


def _list_question_labels(answer: QuestionAnswer) -> set[str]:
    match answer:
        case GroupHang():
            return {label for row in answer.verdict.rows for label in row.members}
        case GroupCrash():
            ends = {label for one in answer.ends for label in one.members}
            others = list_labels(answer.others) if answer.others is not None else set()
            return ends | others | ({answer.member} if answer.member else set())
        case MemberProbes() | MemberBranches():
            return set(answer.members)


def relabel_answer(answer: GroupAnswer, name: Relabel) -> GroupAnswer:
    """Return an answer with the labels that its members have in the whole group."""
    replace = msgspec.structs.replace
    match answer:
        case GroupStacks():
            branches = tuple(_relabel_branch(one, name) for one in answer.branches)
            return replace(
                answer,
                branches=branches,
                states=_relabel_states(answer.states, name),
                silent=_relabel_silent(answer.silent, name),
            )
        case GroupValues():
            rows = [
                replace(
                    row,
                    values=tuple(
                        replace(one, members=_names(one.members, name)) for one in row.values
                    ),
                )
                for row in answer.rows
            ]
            return replace(answer, rows=tuple(rows), silent=_relabel_silent(answer.silent, name))
        case GroupStop():
            return replace(
                answer,
                member=name(answer.member) if answer.member else "",
                others=_relabel_states(answer.others, name),
            )
        case GroupHang() | GroupCrash() | MemberProbes() | MemberBranches():
            return _relabel_question(answer, name)
        case GroupStatus():
            return replace(
                answer,
                focused=name(answer.focused) if answer.focused else "",
                states=_relabel_states(answer.states, name),
                members=tuple(replace(one, label=name(one.label)) for one in answer.members),
            )


def _relabel_question(answer: QuestionAnswer, name: Relabel) -> QuestionAnswer:
    replace = msgspec.structs.replace
    match answer:
        case GroupHang():
            found = [replace(row, members=_names(row.members, name)) for row in answer.verdict.rows]
            waits = [
                replace(
                    one,
                    label=name(one.label),
                    blockers=tuple(replace(by, label=name(by.label)) for by in one.blockers),
                )
                for one in answer.waits
            ]
            verdict = replace(answer.verdict, rows=tuple(found))
            return replace(answer, verdict=verdict, waits=tuple(waits))
        case GroupCrash():
            others = answer.others and relabel_answer(answer.others, name)
            ends = [replace(one, members=_names(one.members, name)) for one in answer.ends]
            member = name(answer.member) if answer.member else ""
            return replace(answer, member=member, others=others, ends=tuple(ends))
        case MemberProbes():
            hits = [replace(one, label=name(one.label)) for one in answer.hits]
            return replace(answer, members=_names(answer.members, name), hits=tuple(hits))
        case MemberBranches():
            passed = tuple(replace(one, label=name(one.label)) for one in answer.passed)
            counts = tuple(replace(one, label=name(one.label)) for one in answer.counts)
            members = _names(answer.members, name)
            return replace(answer, members=members, passed=passed, counts=counts)


def _names(labels: Iterable[str], name: Relabel) -> tuple[str, ...]:
    return tuple(map(name, labels))


def _relabel_branch(branch: StackBranch, name: Relabel) -> StackBranch:
    return StackBranch(
        _names(branch.members, name),
        branch.frames,
        tuple(_relabel_branch(one, name) for one in branch.branches),
        branch.state,
    )


def _relabel_states(states: Iterable[MergedState], name: Relabel) -> tuple[MergedState, ...]:
    return tuple(MergedState(one.state, _names(one.members, name)) for one in states)


def _relabel_silent(silent: Iterable[SilentMember], name: Relabel) -> tuple[SilentMember, ...]:
    return tuple(SilentMember(name(one.label), one.reason) for one in silent)


def merge_answers(
    group: str, answers: Sequence[GroupAnswer], silent: Sequence[SilentMember]
) -> GroupAnswer | None:
    """Merge the answers of a group's parts, whose labels are those of the whole group.

    Args:
        group: The name of the whole group.
        answers: At least one; those that are not of the kind of the first are left out.
        silent: The members whose host gave no answer.

    Returns:
        None where the answers cannot be merged.
    """
    kind = type(answers[0])
    alike: list[Any] = [one for one in answers if isinstance(one, kind)]
    if len(alike) != len(answers):
        return None
    merges: Mapping[type, Callable[..., GroupAnswer]] = {
        GroupStacks: _merge_stacks,
        GroupValues: _merge_group_values,
        GroupHang: _merge_hangs,
        GroupStop: _merge_stops,
        GroupCrash: _merge_crashes,
        MemberProbes: _merge_probes,
        MemberBranches: _merge_branches,
        GroupStatus: merge_statuses,
    }
    return merges[kind](group, alike, tuple(silent))


def _merge_stacks(
    group: str, answers: Sequence[GroupStacks], silent: tuple[SilentMember, ...]
) -> GroupStacks:
    stacks = [
        stack for one in answers for branch in one.branches for stack in _list_stacks(branch, ())
    ]
    by = answers[0].by
    return GroupStacks(
        group=group,
        total=sum(one.total for one in answers) + len(silent),
        states=_merge_states([state for one in answers for state in one.states]),
        branches=merge_stacks(stacks, by),
        by=by,
        silent=(*silent, *(each for one in answers for each in one.silent)),
        notes=_merge_notes(answers),
    )


def _list_stacks(branch: StackBranch, above: tuple[StackPlace, ...]) -> Iterator[MemberStack]:
    """Yield the stack of each member of a branch, outermost frame first."""
    frames = (*above, *branch.frames)
    for one in branch.branches:
        yield from _list_stacks(one, frames)
    if not branch.branches:
        for label in branch.members:
            yield MemberStack(label, branch.state, frames)


def _merge_states(states: Iterable[MergedState]) -> tuple[MergedState, ...]:
    by_state: dict[str, list[str]] = {}
    for one in states:
        by_state.setdefault(one.state, []).extend(one.members)
    return tuple(MergedState(state, order_members(labels)) for state, labels in by_state.items())


def _merge_notes(answers: Sequence[GroupStacks | GroupStatus | MemberProbes]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note for one in answers for note in one.notes))


def _merge_group_values(
    group: str, answers: Sequence[GroupValues], silent: tuple[SilentMember, ...]
) -> GroupValues:
    values: dict[tuple[str, str], dict[str, str]] = {}
    for answer in answers:
        for row in answer.rows:
            known = values.setdefault((row.name, row.function), {})
            for one in row.values:
                known |= dict.fromkeys(one.members, one.value)
    rows = [
        NamedValues(name, merge_values(found), function)
        for (name, function), found in values.items()
    ]
    # Values that differ between members say most, and come first.
    rows.sort(key=lambda row: len(row.values) == 1)
    return GroupValues(
        group,
        sum(one.total for one in answers) + len(silent),
        tuple(rows),
        (*silent, *(each for one in answers for each in one.silent)),
    )


def _merge_hangs(
    group: str, answers: Sequence[GroupHang], silent: tuple[SilentMember, ...]
) -> GroupHang:
    """Judge again where most wait: on one host alone it may be another place."""
    waits = [each for one in answers for each in one.waits or _list_waits(one)]
    waits += [MemberWait(one.label, "silent", detail=one.reason) for one in silent]
    notes = tuple(dict.fromkeys(note for one in answers for note in one.notes))
    return GroupHang(group, len({one.label for one in waits}), judge_waits(waits), notes=notes)


def _list_waits(answer: GroupHang) -> list[MemberWait]:
    return [
        MemberWait(
            label,
            row.kind,
            row.place,
            row.call,
            row.detail,
            label.split("@")[0] == MAIN,
            name=row.thread,
        )
        for row in answer.verdict.rows
        if not row.is_beside
        for label in row.members
    ]


def merge_statuses(
    group: str, answers: Sequence[GroupStatus], silent: Sequence[SilentMember]
) -> GroupStatus:
    """Merge the members of a group's parts, and those without an answer."""
    lost = [_view_silent(one) for one in silent]
    states = [state for one in answers for state in one.states]
    states += [MergedState(one.state, (one.label,)) for one in lost]
    return GroupStatus(
        group=group,
        focused=next((one.focused for one in answers if one.focused), ""),
        states=_merge_states(states),
        members=(*(each for one in answers for each in one.members), *lost),
        notes=_merge_notes(answers),
    )


def _view_silent(member: SilentMember) -> MemberView:
    """Return what `status` shows of a member without an answer, or of a host that begins."""
    if member.reason == STARTING:
        return MemberView(member.label, "", None, STARTING)
    return MemberView(member.label, "", None, _SILENT, member.reason)


def _merge_crashes(
    group: str, answers: Sequence[GroupCrash], silent: tuple[SilentMember, ...]
) -> GroupCrash:
    """Report the failure that came first; those of other hosts are what it did to the others."""
    failed = [one for one in answers if one.failed_ns is not None]
    earliest = _find_earliest(failed)
    first = min(earliest, key=lambda one: (one.blame, one.failed_ns or 0), default=answers[0])
    by_end: dict[str, list[tuple[str, float]]] = {}
    for one in answers:
        # The other hosts' ends are counted from when they heard of the failure.
        later_s = max(0, (one.failed_ns or 0) - (first.failed_ns or 0)) / 1e9
        if one is not first and one in failed:
            by_end.setdefault(one.how, []).append((one.member, later_s))
        for end in one.ends:
            by_end.setdefault(end.how, []).extend(
                (label, (end.after_s or 0.0) + later_s) for label in end.members
            )
    lost = [MemberEnd((one.label,), f"{_SILENT}: {one.reason}", None) for one in silent]
    others = [one.others for one in answers if one.others is not None]
    return msgspec.structs.replace(
        first,
        group=group,
        total=sum(one.total for one in answers) + len(silent),
        others=_merge_stacks(group, others, ()) if others else None,
        ends=(*merge_ends(by_end), *lost),
        notes=(*first.notes, *_describe_clocks(earliest)),
        timed_out=first.failed_ns is None and any(one.timed_out for one in answers),
    )


def _find_earliest(failed: Sequence[GroupCrash]) -> list[GroupCrash]:
    """Return the failures that may have been the first, as far as the clocks can tell."""
    limit = min(((one.failed_ns or 0) + one.error_ns for one in failed), default=0)
    return [one for one in failed if (one.failed_ns or 0) - one.error_ns <= limit]


def _describe_clocks(earliest: Sequence[GroupCrash]) -> tuple[str, ...]:
    if len(earliest) <= 1:
        return ()
    members = format_members(order_members(one.member for one in earliest))
    error_ms = sum(sorted(one.error_ns for one in earliest)[-2:]) / 1e6
    return (f"which of {members} failed first is not certain: clocks known to {error_ms:.1f} ms",)


def _merge_probes(
    group: str, answers: Sequence[MemberProbes], silent: tuple[SilentMember, ...]
) -> MemberProbes:
    """Compare the values of all hosts' members again: on one host alone they may be the same."""
    members = [each for one in answers for each in one.hits]
    places = [
        compare_location(members, one.number, one.asked, one.expressions)
        for one in answers[0].points
    ]
    if not any(one.counts for one in places):
        raise refuse_unreached(places, len(members), answers[0].end)
    ends = dict.fromkeys([*(one.end for one in answers), *(one.reason for one in silent)])
    return MemberProbes(
        group=group,
        members=order_members(one.label for one in members),
        places=tuple(places),
        end="; ".join(ends),
        took_s=max(one.took_s for one in answers),
        notes=_merge_notes(answers),
    )


def _merge_branches(
    group: str, answers: Sequence[MemberBranches], silent: tuple[SilentMember, ...]
) -> MemberBranches:
    """Compare the branches of all hosts' members."""
    ends = dict.fromkeys([*(one.end for one in answers), *(one.reason for one in silent)])
    counts = [each for one in answers for each in one.counts]
    if sum(len(one.members) for one in answers) < _LEAST:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"fewer than {_LEAST} processes were recorded; {'; '.join(ends)}",
            hint="debugger path -- CMD shows what one process does",
        )
    if counts:
        return build_counted_branches(group, counts, "; ".join(ends))
    members = [each for one in answers for each in one.passed]
    return build_branches(group, members, "; ".join(ends))


def has_stopped(answer: GroupAnswer | Events | None) -> bool:
    """Return whether an answer is the stop of a member, for which others need not be awaited."""
    return isinstance(answer, GroupStop) and answer.stop.state == State.STOPPED.value


def _merge_stops(
    group: str, answers: Sequence[GroupStop], silent: tuple[SilentMember, ...]
) -> GroupStop:
    """Report the first stop; without one that some run; else the end."""
    order = [State.STOPPED.value, State.RUNNING.value]
    ranked = sorted(
        answers,
        key=lambda one: order.index(one.stop.state) if one.stop.state in order else len(order),
    )
    first, rest = ranked[0], ranked[1:]
    others = [state for one in answers for state in one.others]
    others += [MergedState(_describe_stop(one), (one.member,)) for one in rest if one.member]
    lost = [MergedState(one.reason, (one.label,)) for one in silent]
    return GroupStop(
        group=group,
        member=first.member,
        stop=first.stop,
        others=(*lost, *_merge_states(others)),
        timed_out=first.timed_out,
    )


def _describe_stop(answer: GroupStop) -> str:
    """Describe a stop as `group_run` does those of other members."""
    stop, frame = answer.stop, answer.stop.frame
    if stop.state == State.TERMINATED.value and stop.signal:
        return f"ended by {stop.signal}"
    if stop.state == State.TERMINATED.value:
        return f"ended with status {stop.exit_code}" if stop.exit_code else "ended"
    if stop.state != State.STOPPED.value or not isinstance(frame, msgspec.Struct):
        return stop.state
    file = getattr(frame, "file", None) or ""
    where = f" {file.rpartition('/')[2]}:{getattr(frame, 'line', None)}" if file else ""
    return f"stopped at {getattr(frame, 'function', '')}{where} ({stop.reason})"


class HostEvents(NamedTuple):
    """The events of a host, and what puts them into one order with those of others."""

    answer: Events
    # The nanoseconds that its clock is to be put forward, and by how much they may be wrong.
    ahead_ns: int
    error_ns: int
    # Names its members in the whole group.
    name: Relabel


def merge_events(answers: Sequence[HostEvents], limit: int | None = None) -> Events:
    """Merge the events of hosts into one order by time; with `limit` the last ones are kept."""
    events: list[EventView] = []
    for answer, ahead_ns, _, name in answers:
        for one in answer.events:
            member = name(one.member) if isinstance(one.member, str) else one.member
            moved = one.time_ns + ahead_ns
            events.append(msgspec.structs.replace(one, time_ns=moved, member=member))
    events.sort(key=lambda one: one.time_ns)
    newest = events if limit is None else events[-limit:]
    every = [one.answer for one in answers]
    errors = sorted(one.error_ns for one in answers if one.answer.events)
    return Events(
        events=tuple(newest),
        next=max(one.next for one in every),
        dropped=sum(one.dropped for one in every),
        total=sum(one.total for one in every),
        earlier=sum(one.earlier for one in every) + len(events) - len(newest),
        total_is_least=any(one.total_is_least for one in every),
        clock_error_ns=sum(errors[-2:]) if len(errors) > 1 else 0,
    )
