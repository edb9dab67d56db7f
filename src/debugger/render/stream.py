"""Formats output, events and a debugger's own messages."""

from __future__ import annotations

from debugger.core.answers import Events, EventView, Output, Raw, Stop, Text
from debugger.core.colour import without_colour
from debugger.render import stop
from debugger.render.budget import Section, fixed
from debugger.render.crash import crashed, details
from debugger.render.lists import listing, streamed
from debugger.render.page import Page, wider
from debugger.render.places import basename
from debugger.render.values import IN_A_LIST, counted, output_line, short_name

_NS_IN_S = 1_000_000_000
_CALLS = frozenset({"function_enter", "function_exit"})
_OF_STOPS, _OF_CALLS = 3, 6
_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"))


def output(answer: Output, page: Page) -> list[Section]:
    """Return lines of output; the newest are kept."""
    lost = _lost(answer.dropped, "line")
    if answer.cleared:
        return [*lost, fixed("output cleared")]
    if not answer.lines:
        return [*lost, fixed("no new output"), *crashed(answer.crash)]
    lines = [streamed(line, page) for line in answer.lines]
    command = f"debugger output --all {wider(lines)}"
    shown = listing(
        lines,
        lambda cut: f"… {counted(cut, 'earlier line')}: {command}",
        missing=max(answer.total - len(lines), 0),
        rank=0,
        from_end=True,
    )
    notes = [fixed(f"note: {note}", 2) for note in answer.notes]
    return [*lost, shown, *notes, *crashed(answer.crash)]


def _lost(number: int, noun: str) -> list[Section]:
    return [fixed(f"({counted(number, noun)} lost: over the limits)", 1)] if number else []


def events(answer: Events, page: Page) -> list[Section]:
    """Return events, one a line, their times in seconds since the first."""
    lost = [*_lost(answer.dropped, "event"), *crashed(answer.crash)]
    if not answer.events:
        return [*lost, fixed("no events")]
    start = answer.events[0].time_ns
    digits = _OF_CALLS if any(one.kind in _CALLS for one in answer.events) else _OF_STOPS
    is_family = len({one.session for one in answer.events}) > 1
    lines = [
        " ".join(
            [
                str(one.seq),
                f"{(one.time_ns - start) / _NS_IN_S:+.{digits}f}s",
                *([short_name(one.session)] if is_family else []),
                _event(one, page),
            ]
        )
        for one in answer.events
    ]
    least = "at least " if answer.total_is_least else ""
    total = max(answer.total - answer.earlier, len(lines))
    if answer.earlier:
        said = f"… {least}{counted(answer.earlier, 'earlier event')}: debugger events --since 0"
        lost = [*lost, fixed(said)]

    more = least if not answer.earlier else ""

    def lay(kept: int) -> str:
        cut = total - kept
        if kept == len(lines):
            cursor = answer.next
        else:
            # The events after this number are asked for.
            cursor = answer.events[kept - 1].seq if kept else answer.events[0].seq - 1
        last = f"… {more}{counted(cut, 'more event')}: debugger events --since {cursor}"
        return "\n".join([*lines[:kept], *([last] if cut else [])])

    return [*lost, Section(lay, count=len(lines))]


def _event(event: EventView, page: Page) -> str:
    said = [short_name(event.kind), output_line(event.text, page, IN_A_LIST)]
    duration = event.data.get("duration_ns")
    if event.kind in _CALLS and isinstance(duration, int):
        said.append(f"in {_lasting(duration)}")
    place = []
    # A call's text begins with the function.
    if isinstance(event.function, str) and event.kind not in _CALLS:
        place.append(short_name(event.function))
    if isinstance(event.file, str):
        line = f":{event.line}" if isinstance(event.line, int) else ""
        place.append(f"{basename(event.file)}{line}")
    where = " ".join(place)
    if event.thread is not None:
        where = f"{where}, thread {event.thread}" if where else f"thread {event.thread}"
    if where:
        said.append(f"({where})")
    told = [" ".join(part for part in said if part)]
    if event.kind == "crash":
        told += details(event.data, IN_A_LIST)
    return "\n  ".join(told)


def _lasting(duration_ns: int) -> str:
    """Return `5.2ms`, as `--min-duration` takes it."""
    for unit, name in _UNITS:
        if duration_ns >= unit:
            return f"{duration_ns / unit:.3g}{name}"
    return f"{duration_ns}ns"


def raw(answer: Raw, page: Page) -> list[Section]:
    """Return the debugger's own words, and where the program stopped."""
    if isinstance(answer.stop, Stop):
        said = _lines(answer.output, page, empty="") if answer.output.strip() else []
        return [*said, *stop.sections(answer.stop, page)]
    return _lines(answer.output, page, empty="no output")


def text(answer: Text, page: Page) -> list[Section]:
    """Return a sentence."""
    return _lines(answer.message, page, empty="done")


def _lines(words: str, page: Page, *, empty: str) -> list[Section]:
    words = words.rstrip("\r\n")
    if not without_colour(words).strip():
        return [fixed(empty)]
    # No more lines are taken apart than can be shown.
    parts = words.split("\n", page.limit)
    missing = parts.pop().count("\n") + 1 if len(parts) > page.limit else 0
    lines = [output_line(part, page) for part in parts]
    return [
        listing(
            lines,
            lambda cut: f"… {counted(cut, 'more line')}: {wider([words])}",
            missing=missing,
            rank=0,
        )
    ]
