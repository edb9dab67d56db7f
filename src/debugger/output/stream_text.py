"""Formats output, events and a debugger's own messages."""

from __future__ import annotations

from debugger.model.answers import Events, EventView, Output, Raw, Stop, Text
from debugger.model.text_filters import without_colour
from debugger.output import stop_text
from debugger.output.list_text import format_output_line, list_section
from debugger.output.location_text import (
    IN_A_LIST,
    base_name,
    format_count,
    output_line,
    short_name,
)
from debugger.output.stop_text import format_crashed, format_details
from debugger.output.structured import RenderPage, TextSection, fixed_section, width_option

_NS_IN_S = 1_000_000_000
_CALLS = frozenset({"function_enter", "function_exit"})
_OF_STOPS, _OF_CALLS = 3, 6
_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"))


def format_output(answer: Output, page: RenderPage) -> list[TextSection]:
    """Format lines of output; the newest are kept."""
    lost = _format_lost(answer.dropped, "line")
    if answer.cleared:
        return [*lost, fixed_section("output cleared")]
    notes = [fixed_section(f"note: {note}", 2) for note in answer.notes]
    if not answer.lines:
        none = [] if answer.total else [fixed_section("no new output")]  # --follow has shown it
        return [*lost, *none, *notes, *format_crashed(answer.crash)]
    lines = [format_output_line(line, page) for line in answer.lines]
    command = f"debugger output --all {width_option(lines)}"
    shown = list_section(
        lines,
        lambda cut: f"… {format_count(cut, 'earlier line')}: {command}",
        missing=max(answer.total - len(lines), 0),
        rank=0,
        from_end=True,
    )
    return [*lost, shown, *notes, *format_crashed(answer.crash)]


def _format_lost(number: int, noun: str) -> list[TextSection]:
    return (
        [fixed_section(f"({format_count(number, noun)} lost: over the limits)", 1)]
        if number
        else []
    )


def format_events(answer: Events, page: RenderPage) -> list[TextSection]:
    """Format events, one a line, with times in seconds since the first."""
    lost = [*_format_lost(answer.dropped, "event"), *format_crashed(answer.crash)]
    if not answer.events:
        return lost if answer.total else [*lost, fixed_section("no events")]
    start = answer.events[0].time_ns
    digits = _OF_CALLS if any(one.kind in _CALLS for one in answer.events) else _OF_STOPS
    is_family = len({one.session for one in answer.events}) > 1
    lines = [
        " ".join(
            [
                str(one.seq),
                f"{(one.time_ns - start) / _NS_IN_S:+.{digits}f}s",
                *([short_name(one.member or one.session)] if is_family else []),
                _format_event(one, page),
            ]
        )
        for one in answer.events
    ]
    least = "at least " if answer.total_is_least else ""
    total = max(answer.total - answer.earlier, len(lines))
    if answer.earlier:
        text = (
            f"… {least}{format_count(answer.earlier, 'earlier event')}: debugger events --since 0"
        )
        lost = [*lost, fixed_section(text)]

    clocks = []
    if answer.clock_error_ns:
        text = f"the hosts' clocks are compared within {answer.clock_error_ns / 1e6:.1f} ms"
        clocks.append(fixed_section(f"{text}: the order of nearer events is not certain"))
    more = least if not answer.earlier else ""

    def fit_text(most: int) -> str:
        cut = total - most
        if most == len(lines):
            cursor = answer.next
        else:
            # The events after this number are asked for.
            cursor = answer.events[most - 1].seq if most else answer.events[0].seq - 1
        last = f"… {more}{format_count(cut, 'more event')}: debugger events --since {cursor}"
        return "\n".join([*lines[:most], *([last] if cut else [])])

    return [*lost, TextSection(fit_text, count=len(lines)), *clocks]


def _format_event(event: EventView, page: RenderPage) -> str:
    texts = [short_name(event.kind), output_line(event.text, page, IN_A_LIST)]
    duration = event.data.get("duration_ns")
    if event.kind in _CALLS and isinstance(duration, int):
        texts.append(f"in {_format_lasting(duration)}")
    place = []
    # A call's text begins with the function.
    if isinstance(event.function, str) and event.kind not in _CALLS:
        place.append(short_name(event.function))
    if isinstance(event.file, str):
        line = f":{event.line}" if isinstance(event.line, int) else ""
        place.append(f"{base_name(event.file)}{line}")
    where = " ".join(place)
    if event.thread is not None:
        where = f"{where}, thread {event.thread}" if where else f"thread {event.thread}"
    if where:
        texts.append(f"({where})")
    lines = [" ".join(part for part in texts if part)]
    if event.kind == "crash":
        lines += format_details(event.data, IN_A_LIST)
    return "\n  ".join(lines)


def _format_lasting(duration_ns: int) -> str:
    """Format `5.2ms`, as `--min-duration` accepts it."""
    for unit, name in _UNITS:
        if duration_ns >= unit:
            return f"{duration_ns / unit:.3g}{name}"
    return f"{duration_ns}ns"


def format_raw(answer: Raw, page: RenderPage) -> list[TextSection]:
    """Format the debugger's own output, and the stop that followed."""
    if isinstance(answer.stop, Stop):
        lines = _format_lines(answer.output, page, empty="") if answer.output.strip() else []
        return [*lines, *stop_text.stop_sections(answer.stop, page)]
    return _format_lines(answer.output, page, empty="no output")


def format_sentence(answer: Text, page: RenderPage) -> list[TextSection]:
    """Format a sentence."""
    return _format_lines(answer.message, page, empty="done")


def _format_lines(words: str, page: RenderPage, *, empty: str) -> list[TextSection]:
    words = words.rstrip("\r\n")
    if not without_colour(words).strip():
        return [fixed_section(empty)]
    # No more lines are taken apart than can be shown.
    parts = words.split("\n", page.limit)
    missing = parts.pop().count("\n") + 1 if len(parts) > page.limit else 0
    lines = [output_line(part, page) for part in parts]
    return [
        list_section(
            lines,
            lambda cut: f"… {format_count(cut, 'more line')}: {width_option([words])}",
            missing=missing,
            rank=0,
        )
    ]
