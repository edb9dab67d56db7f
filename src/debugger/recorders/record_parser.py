"""Parses a recorder's lines, and counts the unreadable ones. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from debugger.recorders.model import (
    CallEntered,
    CallRaised,
    CallReturned,
    CallsMerged,
    Event,
    LinePassed,
    LinesHit,
    LinesSkipped,
    ProbeHit,
    ProbeSeen,
    RecordedCell,
    RecordedFunction,
    RecordedProcess,
    RecordedValue,
    Recording,
    RecordingNote,
    ValuesChanged,
    ValueWritten,
)
from debugger.recorders.test_failures import FailedTestRecord


def _parse_values(pairs: Iterable[tuple[str, str | None]]) -> tuple[RecordedValue, ...]:
    return tuple(RecordedValue(name, text) for name, text in pairs)


def _parse_entered(  # noqa: PLR0917 - the order is that of the record
    call: int, parent: int, function: int, thread: int, at: int, line: int, pairs: _Pairs
) -> CallEntered:
    return CallEntered(call, parent, function, thread, at, line, _parse_values(pairs))


def _parse_probed(
    probe: int, hit: int, at: int, thread: int, values: tuple[str | tuple[str | int, ...], ...]
) -> ProbeHit:
    return ProbeHit(probe, hit, at, thread, tuple(map(_parse_cell, values)))


def _parse_cell(value: str | tuple[str | int, ...]) -> RecordedCell:
    """Parse a value: its text, [error], or [text, the object's number, its departure]."""
    if isinstance(value, str):
        return RecordedCell(value)
    text, *marks = value
    if not marks:
        return RecordedCell(str(text), is_error=True)
    number, departure = marks
    return RecordedCell(str(text), number=int(number), departure=str(departure))


_Pairs = tuple[tuple[str, str | None], ...]
# What stands behind the letter, and what it makes.
_KINDS: Mapping[str, tuple[Any, Callable[..., Event]]] = {
    "c": (
        tuple[int, int, int, int, int, int, _Pairs],
        _parse_entered,
    ),
    "p": (tuple[int, int, int], LinePassed),
    "v": (tuple[int, _Pairs], lambda call, pairs: ValuesChanged(call, _parse_values(pairs))),
    "s": (tuple[int, int], LinesSkipped),
    "r": (tuple[int, int, str], CallReturned),
    "x": (tuple[int, int, str, str, int], CallRaised),
    "m": (tuple[int, int, int, int, int, int, int, int], CallsMerged),
    "h": (tuple[int, tuple[int, ...], tuple[int, ...]], LinesHit),
    "w": (
        tuple[int, int, int, int, str | None, str | None, tuple[tuple[int, int], ...]],
        ValueWritten,
    ),
    "q": (tuple[int, int, int, int, tuple[str | tuple[str | int, ...], ...]], _parse_probed),
    "Q": (
        tuple[
            int,
            int,
            int,
            int,
            str,
            int,
            str,
            tuple[int, ...],
            tuple[int, ...],
            tuple[str, ...],
            str,
            int,
            bool,
            int,
        ],
        ProbeSeen,
    ),
    "T": (tuple[FailedTestRecord], lambda failed: failed),
    "n": (tuple[str, int, str], RecordingNote),
}
_FUNCTION = tuple[int, str, str, int]
_THREAD = tuple[int, str]
_STOPPED = tuple[int, int]
_FURTHER = tuple[int, int]
_END = tuple[int, int, int, int]


class _RecordParser:
    """Parses one process's records, line by line."""

    def __init__(self) -> None:
        self.process = RecordedProcess()
        self.functions: dict[int, RecordedFunction] = {}
        self.threads: dict[int, str] = {}
        self.events: list[Event] = []
        self.stopped: set[int] = set()
        self.further: dict[int, int] = {}
        self.end: tuple[int, int, int, int] | None = None
        self.unread = 0

    def parse_line(self, line: bytes) -> None:
        """Parse one line."""
        try:
            record = msgspec.json.decode(line, type=list[Any])
        except msgspec.DecodeError:
            record = _with_surrogates(line)
        try:
            kind, *rest = record
            self._parse_record(kind, rest)
        except (msgspec.ValidationError, ValueError, TypeError):
            self.unread += 1

    def _parse_record(self, kind: object, rest: list[Any]) -> None:
        if kind in _KINDS:
            shape, make = _KINDS[str(kind)]
            self.events.append(make(*msgspec.convert(rest, shape)))
        elif kind == "f":
            function = RecordedFunction(*msgspec.convert(rest, _FUNCTION))
            self.functions[function.number] = function
        elif kind == "t":
            number, name = msgspec.convert(rest, _THREAD)
            self.threads[number] = name
        elif kind == "k":
            self.stopped.add(msgspec.convert(rest, _STOPPED)[0])
        elif kind == "K":
            number, count = msgspec.convert(rest, _FURTHER)
            self.further[number] = count
        elif kind == "begin":
            self.process = msgspec.convert(rest[0] if rest else None, RecordedProcess)
        elif kind == "end":
            self.end = msgspec.convert(rest, _END)
        else:
            self.unread += 1


def _with_surrogates(line: bytes) -> list[Any]:
    """Decode lone surrogates, as in Python's names of files; they are written as escapes."""
    try:
        text = json.loads(line)
        escaped = json.dumps(text, ensure_ascii=False).encode("utf-8", "backslashreplace")
        return list(json.loads(escaped.replace(b"\\ud", b"\\\\ud")))
    except (ValueError, TypeError, RecursionError):
        return []


def parse_records(lines: Iterable[bytes]) -> Recording:
    """Parse one process's records, up to its end or its death."""
    reader = _RecordParser()
    for line in lines:
        if line.strip(b"\0\n"):
            reader.parse_line(line)
    took, dropped, total, chosen = reader.end or (0, 0, 0, 0)
    return Recording(
        process=reader.process,
        functions=reader.functions,
        threads=reader.threads,
        events=tuple(reader.events),
        dropped=dropped,
        seen=total,
        chosen=chosen,
        took_ns=took or max((getattr(one, "at", 0) for one in reader.events), default=0),
        stopped=frozenset(reader.stopped),
        further=reader.further,
        is_whole=reader.end is not None,
        unread=reader.unread,
    )
