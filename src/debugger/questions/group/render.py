"""Formats the answers about groups: members as ranges, the odd one first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from debugger.model.group_labels import format_members
from debugger.model.group_merge import MergedValue, StackBranch, StackPlace
from debugger.output import stop_text
from debugger.output.list_text import list_section
from debugger.output.location_text import base_name, format_count, short_name, shorten_value
from debugger.output.structured import RenderPage, TextSection, fixed_section
from debugger.questions.crash.render import format_crash
from debugger.questions.group.answer import (
    GroupCrash,
    GroupHang,
    GroupStacks,
    GroupStatus,
    GroupStop,
    GroupValues,
    JoinedMember,
    MemberBranches,
    MemberProbes,
    MergedState,
    NamedValues,
    RemoteShellEnd,
)
from debugger.questions.group.laggards import WaitRow
from debugger.questions.group.member_branches import BranchSplit
from debugger.questions.group.member_counts import CountSplit
from debugger.questions.group.member_differences import ComparedLocation, ExpressionDifference
from debugger.questions.group.member_wait import CHILD, FAILED, SILENT, STOPPED
from debugger.session.group import SilentMember

_HEAD, _SILENT, _NOTES, _BODY = range(4)
_MEMBERS = 60  # characters of a set of members in a line
_VALUE = 160
_REASON = 160
_CAUSE = 600
_WAITS = {CHILD: "waits for its processes", STOPPED: "is stopped", SILENT: "no answer"}
_UNTIMED = {"runs on", "ended"}  # when one ended whose end was not reported is not known
_LEVELS_MAX = 12  # of a tree that are indented


def format_set(members: Sequence[str], limit: int = _MEMBERS) -> str:
    """Write a set of members as ranges, with their number where it is cut."""
    text = format_members(members)
    if len(text) <= limit:
        return text
    return f"{text[: limit - 1]}… ({len(members)})"


def format_states(states: Sequence[MergedState]) -> str:
    """Write how many members are in each state, and which: `3 running (0-1,4) · 1 stopped (2)`."""
    return " · ".join(
        f"{len(one.members):,} {short_name(one.state)} ({format_set(one.members)})"
        for one in states
    )


def format_stacks(answer: GroupStacks, _page: RenderPage) -> list[TextSection]:
    """Format merged stacks as a tree, a branch a line."""
    head = f"{short_name(answer.group)}: {format_count(answer.total, 'member')}"
    lines = [line for one in answer.branches for line in _format_branch(one, 0, answer.by)]
    return [
        fixed_section(f"{head}: {format_states(answer.states)}", _HEAD),
        list_section(
            lines,
            lambda cut: f"… {format_count(cut, 'more line')}: --by function, or --budget 4000",
            rank=_BODY,
            floor=8,
        ),
        *_format_silent(answer.silent),
        *(fixed_section(f"note: {one}", _NOTES) for one in answer.notes),
    ]


def _format_branch(branch: StackBranch, level: int, by: str) -> Iterator[str]:
    indent = "  " * min(level, _LEVELS_MAX)
    chain = " > ".join(_format_place(one) for one in branch.frames)
    state = f" [{branch.state}]" if by == "state" and branch.state else ""
    texts = [one.text for one in branch.frames if one.text]
    text = f"  `{shorten_value(texts[-1], _VALUE)}`" if texts else ""
    yield f"{indent}{format_set(branch.members)}: {chain or 'here'}{state}{text}"
    for one in branch.branches:
        yield from _format_branch(one, level + 1, by)


def _format_place(place: StackPlace) -> str:
    name = short_name(place.function)
    if place.file is None:
        return name
    line = f":{place.line}" if place.line is not None else ""
    return f"{name} {short_name(base_name(place.file))}{line}"


def _format_silent(silent: Sequence[SilentMember]) -> list[TextSection]:
    """Name the members that did not answer, by reason."""
    by_reason: dict[str, list[str]] = {}
    for one in silent:
        by_reason.setdefault(one.reason, []).append(one.label)
    lines = [
        f"no answer: {format_set(labels)}: {shorten_value(reason, _REASON)}"
        for reason, labels in by_reason.items()
    ]
    if not lines:
        return []
    return [list_section(lines, lambda cut: f"… {cut} more reasons", rank=_SILENT, floor=2)]


def _format_row(row: NamedValues) -> str:
    if any(one.value for one in row.values):
        return f"{short_name(row.name)} = {_format_merged(row.values)}"
    members = [label for one in row.values for label in one.members]
    return f"{short_name(row.name)}: done on {format_set(members)}"  # a statement has no value


def format_values(answer: GroupValues, _page: RenderPage) -> list[TextSection]:
    """Format merged values: `120 on 0-6 · 119 on 7`."""
    by_function: dict[str, list[str]] = {}
    for row in answer.rows:
        by_function.setdefault(row.function, []).append(_format_row(row))
    lines: list[str] = []
    for function, own in by_function.items():
        if len(by_function) == 1:
            lines += own
            continue
        lines.append(f"in {short_name(function) or 'an unknown function'}:")
        lines += [f"  {one}" for one in own]
    if not lines:
        lines.append(f"group {short_name(answer.group)}: no values")
    return [
        list_section(
            lines, lambda cut: f"… {format_count(cut, 'more name')}: --budget 4000", rank=_BODY
        ),
        *_format_silent(answer.silent),
    ]


def _format_merged(values: Sequence[MergedValue]) -> str:
    return " · ".join(
        f"{shorten_value(one.value, _VALUE)} on {format_set(one.members)}" for one in values
    )


def format_member_probes(answer: MemberProbes, _page: RenderPage) -> list[TextSection]:
    """Format where the values of members differ first."""
    head = f"{short_name(answer.group)}: {format_count(len(answer.members), 'member')}"
    lines = [line for one in answer.places for line in _format_location(one)]
    return [
        fixed_section(f"{head}; {answer.end}, {answer.took_s:.3g} s", _HEAD),
        list_section(
            lines, lambda cut: f"… {format_count(cut, 'more line')}: --budget 4000", rank=_BODY
        ),
        *(fixed_section(f"note: {one}", _NOTES) for one in answer.notes),
        *([fixed_section(f"evidence: {answer.evidence}", _NOTES)] if answer.evidence else []),
    ]


def format_member_branches(answer: MemberBranches, _page: RenderPage) -> list[TextSection]:
    """Format where members took different branches, the first time first."""
    head = f"{short_name(answer.group)}: {format_count(len(answer.members), 'member')}"
    lines = [line for one in answer.splits for line in _format_split(one)]
    lines += [line for one in answer.counted for line in _format_counted(one, answer)]
    if not lines and answer.is_counted:
        lines = [f"all ran the same {format_count(answer.lines, 'line')}"]
    elif not lines:
        lines = [f"all went the same way after {format_count(answer.lines, 'line')}"]
    more = answer.total - len(answer.splits) - len(answer.counted)
    known = "which lines ran is known" if answer.only_lines else "how often lines ran is known"
    note = f"{known}, and not each time: debugger probe --group --at LOC EXPR -- CMD has values"
    return [
        fixed_section(f"{head}; {answer.end}", _HEAD),
        list_section(
            lines, lambda cut: f"… {format_count(cut, 'more line')}: --budget 4000", rank=_BODY
        ),
        *(
            [fixed_section(f"… and after {format_count(more, 'more line')}", _NOTES)]
            if more
            else []
        ),
        *([fixed_section(note, _NOTES)] if answer.is_counted else []),
        *([fixed_section(f"evidence: {answer.evidence}", _NOTES)] if answer.evidence else []),
    ]


def _format_counted(split: CountSplit, answer: MemberBranches) -> Iterator[str]:
    place = f"{short_name(split.function)} {Path(split.file).name}:{split.line}"
    counts = []
    for one in split.counts:
        count = int(one.value) if one.value.isdecimal() else 0
        ran = "ran" if answer.only_lines else f"ran {format_count(count, 'time')}"
        counts.append(f"{ran if count else 'did not run'} on {format_set(one.members)}")
    yield f"{place} {' · '.join(counts)}{_format_source(split.text)}"
    if split.after:
        yield f"  after line {split.after}, the same on all{_format_source(split.after_text)}"


def _format_split(split: BranchSplit) -> Iterator[str]:
    place = f"{short_name(split.function)} {Path(split.file).name}:{split.line}"
    often = f" (at {split.differing} of {split.compared} times)" if split.compared > 1 else ""
    when = f"at hit {split.hit}{often}"
    yield f"{place}: different ways {when}{_format_source(split.text)}"
    for one in split.ways:
        way = f"goes on at {one.line}" if one.line else one.end
        way = way if len(one.members) == 1 else way.replace("goes on", "go on", 1)
        yield f"  {format_set(one.members)}: {way}{_format_source(one.text)}"


def _format_source(text: str) -> str:
    return f"  `{shorten_value(text, _VALUE)}`" if text else ""


def _format_location(place: ComparedLocation) -> Iterator[str]:
    function = f" in {short_name(place.function)}" if place.function else ""
    if not place.counts:
        yield f"{place.asked}: no member came here"
        return
    hits = " · ".join(
        f"{one.value} {'hit' if one.value == '1' else 'hits'} on {format_set(one.members)}"
        for one in place.counts
    )
    yield f"{place.asked}{function}: {hits}"
    for one in place.expressions:
        yield f"  {short_name(one.expression)}: {_format_difference(one, place.compared)}"


def _format_difference(one: ExpressionDifference, compared: int) -> str:
    if not compared:
        return "only one member came here"
    if one.hit is None:
        value = shorten_value(one.values[0].value, _VALUE) if one.values else ""
        # Of several hits it is that of the last one, and an error is one at most of them.
        value = f": {value}" if compared == 1 or value.startswith("<") else ""
        return f"the same at {format_count(compared, 'hit')}{value}"
    often = f" (at {one.differing} of {compared} hits)" if compared > 1 else ""
    return f"differs first at hit {one.hit}{often}: {_format_merged(one.values)}"


def format_group_stop(answer: GroupStop, page: RenderPage) -> list[TextSection]:
    """Format the first stop of a group, and where the others are."""
    others = [
        f"  {format_set(one.members)}: {shorten_value(one.state, _VALUE)}" for one in answer.others
    ]
    who = f"member {answer.member} of {answer.group}" if answer.member else f"group {answer.group}"
    return [
        fixed_section(short_name(who), _HEAD),
        *stop_text.stop_sections(answer.stop, page),
        list_section(
            ["others:", *others] if others else [],
            lambda cut: f"… {cut} more: debugger backtrace --group {answer.group}",
            rank=_SILENT,
            floor=4,
        ),
    ]


def format_group_status(answer: GroupStatus, _page: RenderPage) -> list[TextSection]:
    """Format the members of a group."""
    focus = f", in focus: {answer.focused}" if answer.focused else ""
    head = f"group {answer.group}: {format_count(len(answer.members), 'member')}{focus}"
    lines = [
        f"  {short_name(one.label)}: {one.state}"
        + (f", pid {one.pid}" if one.pid is not None else "")
        + (f", session {one.session}" if one.session else "")
        + (f", {shorten_value(one.where, _VALUE)}" if one.where else "")
        for one in answer.members
    ]
    return [
        fixed_section(f"{head}: {format_states(answer.states)}", _HEAD),
        list_section(
            lines, lambda cut: f"… {format_count(cut, 'more member')}: --budget 4000", rank=_BODY
        ),
        *(fixed_section(f"note: {one}", _NOTES) for one in answer.notes),
    ]


def format_group_crash(answer: GroupCrash, page: RenderPage) -> list[TextSection]:
    """Format the first failure of a group as a crash, then what became of the others."""
    if not answer.member:
        state = "still runs" if answer.timed_out else "none failed"
        head = f"{short_name(answer.group)}: {format_count(answer.total, 'member')}: {state}"
        return [fixed_section(head, _HEAD), *format_crash(answer.crash, page)]
    head = f"member {short_name(answer.member)} of {answer.group} failed first"
    if answer.crash.cause != answer.how:
        head += f": {answer.how}"
    lines = []
    if answer.others is not None:
        for one in answer.others.branches:
            lines += [f"  {text}" for text in _format_branch(one, 0, answer.others.by)]
    ends = [
        f"  {format_set(one.members)}: {one.how}"
        + (
            f", {one.after_s:g} s later"
            if one.after_s is not None and one.how not in _UNTIMED
            else ""
        )
        for one in answer.ends
    ]
    return [
        fixed_section(head, _HEAD),
        *format_crash(answer.crash, page),
        list_section(
            ["the others then:", *lines] if lines else [],
            lambda cut: f"… {format_count(cut, 'more line')}: --budget 4000",
            rank=_BODY,
            floor=6,
        ),
        *(_format_silent(answer.others.silent) if answer.others is not None else []),
        *(fixed_section(f"note: {one}", _BODY) for one in answer.notes),
        list_section(
            ["after it:", *ends] if ends else [],
            lambda cut: f"… {format_count(cut, 'more line')}: --budget 4000",
            rank=_SILENT,
            floor=4,
        ),
    ]


def format_joined_member(answer: JoinedMember, _page: RenderPage) -> list[TextSection]:
    """Format that a process has joined a group."""
    return [fixed_section(f"{short_name(answer.program)} joins {answer.group}", _HEAD)]


def format_remote_shell(answer: RemoteShellEnd, _page: RenderPage) -> list[TextSection]:
    """Format nothing: a launcher takes what its remote shell says for its programs' output."""
    del answer
    return []


def format_group_hang(answer: GroupHang, _page: RenderPage) -> list[TextSection]:
    """Format why a group does not go on: the laggards first."""
    lines = [_format_wait_row(one) for one in answer.verdict.rows]
    head = f"{short_name(answer.group)}: {format_count(answer.total, 'member')}"
    return [
        fixed_section(f"{head}: {shorten_value(answer.verdict.cause, _CAUSE)}", _HEAD),
        list_section(
            lines, lambda cut: f"… {format_count(cut, 'more line')}: --budget 4000", rank=_BODY
        ),
        *(fixed_section(f"note: {shorten_value(one, _CAUSE)}", _NOTES) for one in answer.notes),
    ]


def _format_wait_row(row: WaitRow) -> str:
    mark = "->" if row.is_laggard else "  "
    # How a failed member ended is its detail.
    texts = [] if row.kind == FAILED else [_WAITS.get(row.kind, row.kind)]
    texts += [f"in {short_name(row.call)}"] if row.call else []
    texts += [f"at {_format_place(row.place)}"] if row.place is not None else []
    did = " ".join(texts)
    detail = shorten_value(row.detail, _REASON)
    text = f"  `{shorten_value(row.place.text, _VALUE)}`" if row.place and row.place.text else ""
    thread = f" ({short_name(row.thread)})" if row.thread else ""
    return (
        f"{mark} {format_set(row.members)}{thread}: {': '.join(filter(None, (did, detail)))}{text}"
    )
