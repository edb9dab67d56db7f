"""Converts events to database rows and back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar

import msgspec

from debugger.model.events import Event, EventKind, OutputData, OutputStream
from debugger.model.program import CallEvent
from debugger.session.timeline.line_splitter import OutputPiece

KINDS = tuple(EventKind)
CODES = {kind: code for code, kind in enumerate(KINDS)}
INT64 = range(-(2**63), 2**63)
"""The integers that can be stored."""

BLOCK = 2**13
"""So many calls share a block, in which their values are sorted."""

_PLAIN = 18  # decimal digits that fit 64 bits
_ENTER, _EXIT = CODES[EventKind.FUNCTION_ENTER], CODES[EventKind.FUNCTION_EXIT]
T = TypeVar("T")
_NUMBER = re.compile(
    r"([-+]?)(?:(0[xX][0-9a-fA-F]{1,32})|([0-9]{1,40})|"
    r"((?:[0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})(?:[eE][-+]?[0-9]{1,4})?))(?=\s|\Z)"
)

Stored = tuple[object, ...]
"""The values of the columns of `COLUMNS`, or of `CALL_COLUMNS`."""

Columns = list[Sequence[Any]]
"""The values of each of `CALL_NAMES`, of as many calls and returns."""

COLUMNS = (
    "seq INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL, kind INTEGER NOT NULL,"
    " session INTEGER NOT NULL, thread INTEGER, place INTEGER, text TEXT NOT NULL, data BLOB,"
    " head INTEGER NOT NULL"
)
CALL_COLUMNS = (
    "seq INTEGER PRIMARY KEY, time_ns INTEGER NOT NULL, kind INTEGER NOT NULL,"
    " session INTEGER NOT NULL, thread INTEGER, place INTEGER, text TEXT NOT NULL,"
    " number, returned TEXT, duration_ns INTEGER, trace INTEGER, caller TEXT"
)
CALL_NAMES = tuple(column.split()[0] for column in CALL_COLUMNS.split(","))
_CALL_WIDTH = len(CALL_NAMES)


class EventRow(NamedTuple):
    """One event to store; `head` is the number of its line's first piece, or its own."""

    seq: int
    time_ns: int
    kind: EventKind
    session: str
    thread: int | None
    function: str | None
    file: str | None
    line: int | None
    text: str
    data: bytes
    head: int

    @property
    def size(self) -> int:
        """The number of bytes of the text and the data."""
        return len(self.text.encode()) + len(self.data)

    def to_event(self) -> Event:
        """Return the event that a reader of the database would get."""
        return Event(*self[:-2], data=msgspec.json.decode(self.data))


class CallRows(NamedTuple):
    """Calls and returns of traced functions, numbered from `first`, before conversion to rows."""

    first: int
    session: str
    passages: Sequence[CallEvent]

    @property
    def last(self) -> int:
        """The number of the last row."""
        return self.first + len(self.passages) - 1


def storable_text(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode()


def number_of(text: str) -> int | float | None:
    """Return the number at the start of a value (`-3`, `0x1f`, `97 'a'`), or None."""
    found = _NUMBER.match(text)
    if found is None:
        return None
    sign, hexadecimal, integer, real = found.groups()
    if real is not None:
        return float(sign + real)
    number = int(sign + (hexadecimal or integer), 16 if hexadecimal else 10)
    return number if number in INT64 else float(number)


@cache
def _output_data(stream: OutputStream, continues: bool, is_open: bool) -> bytes:  # noqa: FBT001 - positional for speed
    return msgspec.json.encode(OutputData(stream, continues, is_open))


def output_row(piece: OutputPiece) -> EventRow:
    """Return the row of a piece of output."""
    return EventRow(
        seq=piece.seq,
        time_ns=piece.time_ns,
        kind=EventKind.OUTPUT,
        session=piece.session,
        thread=None,
        function=None,
        file=None,
        line=None,
        text=piece.text,
        data=_output_data(piece.stream, piece.continues, piece.open),
        head=piece.head,
    )


Place = tuple[str | None, str | None, int | None]
"""A function, a file and a line, as far as they are known."""


class NameTable:
    """The locations and sessions of events by number, because a few of them recur in many rows."""

    def __init__(self) -> None:
        self.places: list[Place] = []
        self.sessions: list[str] = []
        self._places_known: dict[Place, int] = {}
        self._sessions_known: dict[str, int] = {}

    def row_columns(self, row: EventRow) -> Stored:
        """Return the columns of an event."""
        seq, time_ns, kind, session, thread, function, file, line, text, data, head = row
        place = (function, file, line)
        return (
            seq,
            time_ns,
            CODES[kind],
            self._session_number(session),
            thread,
            None if place == (None, None, None) else self._location_number(place),
            text,
            data,
            head,
        )

    def call_columns(self, calls: CallRows) -> Columns:
        """Return the columns of calls and returns, in the order of `CALL_NAMES`."""
        passages, count = calls.passages, len(calls.passages)
        known = self._places_known
        places = [known.get((one.function, one.file, one.line)) for one in passages]
        if None in places:
            places = [self._location_number((one.function, one.file, one.line)) for one in passages]
        texts = [one.text for one in passages]
        if not all(map(str.isascii, texts)):
            texts = list(map(storable_text, texts))
        returned = [one.returned for one in passages]
        numbers: list[int | float | None] = [None] * count
        for at, value in enumerate(returned):
            if value is None:
                continue
            # Most are plain numbers, which need no pattern.
            digits = value.removeprefix("-")
            if len(digits) <= _PLAIN and digits.isascii() and digits.isdigit():
                numbers[at] = int(value)
            else:
                returned[at] = text = storable_text(value)
                numbers[at] = number_of(text)
        return [
            range(calls.first, calls.last + 1),
            [one.time_ns for one in passages],
            [_EXIT if one.is_return else _ENTER for one in passages],
            [self._session_number(calls.session)] * count,
            [one.thread for one in passages],
            places,
            texts,
            numbers,
            returned,
            [one.duration_ns for one in passages],
            [one.trace for one in passages],
            [one.caller and storable_text(one.caller) for one in passages],
        ]

    def read_event(self, stored: Sequence[Any]) -> Event:
        """Return the event of a row of either table."""
        seq, time_ns, kind, session, thread, place, text, *rest = stored
        function, file, line = (None, None, None) if place is None else self.places[place]
        return Event(
            seq,
            time_ns,
            KINDS[kind],
            self.sessions[session],
            thread,
            function,
            file,
            line,
            text,
            _call_data(rest) if len(stored) == _CALL_WIDTH else _decode_data(rest),
        )

    def _location_number(self, place: Place) -> int:
        function, file, line = place
        known = (
            None if function is None else storable_text(function),
            None if file is None else storable_text(file),
            line,
        )
        return _number_of(known, self.places, self._places_known)

    def _session_number(self, name: str) -> int:
        return _number_of(name, self.sessions, self._sessions_known)


def _number_of(one: T, listed: list[T], known: dict[T, int]) -> int:
    number = known.get(one)
    if number is None:
        number = known[one] = len(listed)
        listed.append(one)
    return number


def _decode_data(rest: Sequence[Any]) -> dict[str, Any]:
    data, _ = rest
    return msgspec.json.decode(data, type=dict[str, Any])


def _call_data(rest: Sequence[Any]) -> dict[str, Any]:
    _, returned, duration_ns, trace, caller = rest
    fields = {
        "returned": returned,
        "duration_ns": duration_ns,
        "trace": trace,
        "caller": caller,
    }
    return {key: value for key, value in fields.items() if value is not None}
