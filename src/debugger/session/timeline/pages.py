"""Defines what a reader of the timeline gets."""

from __future__ import annotations

from functools import cache

import msgspec

from debugger.model.events import Event, OutputData, OutputStream


class EventPage(msgspec.Struct, frozen=True):
    """Events in order; `next` is the cursor that goes on after them.

    `dropped` counts the events that can no longer be read, by kind only: the other filters
    cannot be asked of them. `total` counts the events that can, of all pages; where they are more
    than are counted, it `is_least`.
    """

    events: list[Event]
    next: int
    dropped: int
    total: int
    is_least: bool = False


class LogLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of output, or what there is of it.

    `continues`: its beginning was read earlier, or was dropped, or is the line before, which was
    too long. `open`: no newline has come yet, or the line goes on in the next one. `seq` is that
    of the last piece.
    """

    stream: OutputStream
    text: str
    seq: int
    continues: bool = False
    open: bool = False


class LinePage(msgspec.Struct, frozen=True):
    """Lines in the order of their ends; `next` is the cursor that goes on after them."""

    lines: list[LogLine]
    next: int
    dropped: int


@cache
def _output_data(data: bytes) -> OutputData:
    return msgspec.json.decode(data, type=OutputData)


def join_line(line: LogLine | None, seq: int, text: str, data: bytes) -> LogLine:
    """Return the line that a piece of it goes on with."""
    shown = _output_data(data)
    if line is None:
        return LogLine(shown.stream, text, seq, shown.continues, shown.open)
    return LogLine(shown.stream, line.text + text, seq, line.continues, shown.open)
