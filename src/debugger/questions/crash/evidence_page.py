"""Builds a page of the kept answers and of the sessions: their stops, stacks and output. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from debugger.errors import DebuggerError
from debugger.output.html_page import (
    build_page,
    build_table,
    command_block,
    folded_block,
    preformatted,
)
from debugger.output.location_text import base_name, format_count
from debugger.output.markup import Markup, element
from debugger.output.svg_chart import shorten_text
from debugger.questions.runner.answer import EvidenceShown
from debugger.questions.runner.evidence_store import AnswerPicture

STOPS = 200  # events of a session
LINES = 500  # of its output
_PICTURES = 4 << 20  # bytes of all pictures
_SUMMARY = 160
_OPEN_ANSWERS = 3  # the newest ones are unfolded
_CSS = (
    ".answer { border-top: 1px solid var(--line); padding: .6rem 0; }"
    ".answer > summary { font-weight: 600; overflow-wrap: anywhere; }"
)


class StopRow(Struct, frozen=True):
    """An event of a session: a stop, a crash, a failed condition, its end."""

    number: int
    seconds: float
    kind: str
    text: str
    function: str = ""
    file: str = ""
    line: int = 0


class SessionRecord(Struct, frozen=True):
    """What is known of a session."""

    name: str
    program: str
    state: str
    stops: tuple[StopRow, ...] = ()
    stops_total: int = 0
    # The stacks of all threads where it is stopped now, equal ones merged.
    stacks: str = ""
    output: tuple[str, ...] = ()
    output_dropped: bool = False


def build_evidence_page(
    shown: Sequence[tuple[EvidenceShown, AnswerPicture | None]],
    sessions: Sequence[SessionRecord],
    *,
    dropped: int,
) -> str:
    """Build the page; pictures are drawn until they are too many, the newest first."""
    pictures: dict[str, str] = {}
    size, left_out = 0, 0
    for one, draw in reversed(shown):
        picture = _draw_answer(draw)
        size += len(picture)
        if size <= _PICTURES:
            pictures[one.evidence.id] = picture
        else:
            left_out += 1
    parts: list[str] = [element("p", _summary(shown, sessions), class_="quiet")]
    for at, (one, _) in enumerate(shown):
        is_open = at >= len(shown) - _OPEN_ANSWERS
        parts.append(_answer_block(one, pictures.get(one.evidence.id, ""), is_open=is_open))
    if sessions:
        parts.append(element("h2", "Sessions"))
    parts += [_session_block(one) for one in sessions]
    notes = []
    if dropped:
        notes.append(f"{format_count(dropped, 'older answer')} are not kept")
    if left_out:
        notes.append(f"the pictures of {format_count(left_out, 'older answer')} are left out")
    parts += [element("p", one, class_="quiet") for one in notes]
    return build_page("Evidence", parts, css=_CSS)


def _draw_answer(draw: AnswerPicture | None) -> str:
    """Draw an answer; nothing if it has nothing that can be drawn."""
    if draw is None:
        return ""
    try:
        return draw.svg()
    except DebuggerError:
        return ""


def _summary(
    shown: Sequence[tuple[EvidenceShown, AnswerPicture | None]], sessions: Sequence[SessionRecord]
) -> str:
    stale = sum(bool(one.evidence.stale) for one, _ in shown)
    is_stale = f", {stale} of them older than a source that they quote" if stale else ""
    return (
        f"{format_count(len(shown), 'answer')}{is_stale}; "
        f"{format_count(len(sessions), 'session')}. Each can be asked again by its command."
    )


def _answer_block(one: EvidenceShown, picture: str, *, is_open: bool) -> Markup:
    view = one.evidence
    words = view.command.split(maxsplit=2)
    verb = words[1] if len(words) > 1 else view.command
    title = f"{view.id}: {verb}: {shorten_text(view.summary, _SUMMARY)}"
    parts: list[str] = [element("summary", title)]
    if view.stale:
        names = ", ".join(base_name(path) for path in view.stale)
        parts.append(element("p", f"Changed since: {names}. Ask again.", class_="hot"))
    if picture:
        parts.append(element("div", Markup(picture), class_="scroll", tabindex="0"))
    parts += [
        preformatted(one.text),
        command_block(view.command, f"{view.cwd}, {view.time}"),
    ]
    return element("details", *parts, class_="answer", open=is_open, id=view.id)


def _session_block(one: SessionRecord) -> Markup:
    title = f"{one.name}: {shorten_text(one.program, _SUMMARY)} ({one.state})"
    parts: list[str] = [element("summary", title)]
    if one.stacks:
        parts += [element("h3", "Stacks, where it is stopped"), preformatted(one.stacks)]
    if one.stops:
        rows = (
            [
                str(row.number),
                f"{row.seconds:.3f}",
                row.kind,
                row.text,
                f"{row.function} {base_name(row.file)}:{row.line}" if row.file else row.function,
            ]
            for row in one.stops
        )
        more = one.stops_total - len(one.stops)
        count = format_count(len(one.stops), "event") + (f", {more:,} earlier" if more > 0 else "")
        table = build_table(["event", "seconds", "kind", "what", "where"], rows)
        parts.append(folded_block(count, table, is_open=True))
    if one.output:
        earlier = ", without its beginning" if one.output_dropped else ""
        count = f"{format_count(len(one.output), 'line')} of output{earlier}"
        parts.append(folded_block(count, preformatted("\n".join(one.output)), is_open=True))
    return element("details", *parts, class_="answer", open=True)
