"""Reads the output of a group, each line with the member that wrote it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import UNSET

from debugger.model import answers
from debugger.model.events import Event, EventKind, OutputStream
from debugger.questions.group.group_choice import ChosenMembers
from debugger.session.timeline import Filters

_LINES_MAX = 10_000
_PAGE = 500
_KINDS = frozenset({EventKind.OUTPUT, EventKind.LOGPOINT})
_SHARED = (
    "its processes write to one stream, so the lines have no member; debugger output shows all"
)
_ELSEWHERE = "its members write where their launcher does"


def read_members_output(chosen: ChosenMembers, *, tail: int | None, every: bool) -> answers.Output:
    """Return the lines of members: the new ones of a group, all that are kept of some members.

    What is read of some members is new to a later call all the same.
    """
    timeline, cursors = chosen.group.first.timeline, chosen.group.first.cursors
    labels = {one.session.name: one.label for one in chosen.members}
    main = _shared_writer(chosen)
    filters = Filters(kinds=_KINDS, sessions=frozenset(labels) if chosen.is_subset else None)
    is_all = every or tail is not None or chosen.is_subset
    page = timeline.events(filters, since=0 if is_all else cursors.asked, limit=_PAGE)
    lines = list(page.events)
    # Pages of the first part of what is kept: the rest is read by the next call.
    while page.events and len(lines) < page.total and len(lines) < _LINES_MAX:
        page = timeline.events(filters, since=page.next, limit=_PAGE)
        lines += page.events
    if not chosen.is_subset:
        cursors.advance_output(page.next)
        if tail is None:
            cursors.advance(page.next)
    shown = lines if tail is None else lines[max(0, len(lines) - tail) :]
    return answers.Output(
        lines=tuple(_member_line(one, labels, main) for one in shown),
        dropped=page.dropped,
        total=len(shown),
        notes=_note_shared(chosen) if not shown or main is not None else (),
    )


def _shared_writer(chosen: ChosenMembers) -> str | None:
    """Return the session of a program whose streams are also those of what it starts."""
    main = chosen.group.main
    return None if main is None or main.traits.is_launcher else main.name


def _member_line(
    event: Event, labels: Mapping[str, str], shared_writer: str | None
) -> answers.OutputLine:
    stream = str(event.data.get("stream", OutputStream.CONSOLE.value))
    is_shared = event.kind is EventKind.OUTPUT and event.session == shared_writer
    member = UNSET if is_shared else labels.get(event.session, UNSET)
    return answers.OutputLine(stream, event.text, event.seq, member)


def _note_shared(chosen: ChosenMembers) -> tuple[str, ...]:
    """Return why members have no lines, where that is not for want of any."""
    if chosen.group.main is None:
        return (_ELSEWHERE,)
    has_ranks = any(one.session.process.rank for one in chosen.members)
    return () if has_ranks or not chosen.is_subset else (_SHARED,)
