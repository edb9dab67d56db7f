"""Defines the recorder's graph of links behind a Python value, as it is written."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from debugger.model.statement import join_statement
from debugger.session import source_files

_STATEMENT = 4  # lines of a statement


class OriginLinkRecord(Struct, frozen=True):
    """One event that gave a value, as the recorder writes it (see `inside/value_links.py`)."""

    kind: str
    how: str
    name: str = ""
    # The file, the function and the line.
    place: tuple[str, str, int] | None = None
    callee: str = ""
    # The number of the call of its function, and how often that was called up to the hit.
    call: int = 0
    runs: int = 0
    thread: int = 0
    stack: tuple[tuple[str, str, int], ...] = ()
    value: str | None = None
    old: str | None = None
    note: str = ""
    inferred: bool = False
    # Code that was not recorded ran since, and may have written the same value again.
    stale: bool = False
    # The number of the last call before the statement, and before the link.
    calls: tuple[int, int] = (0, 0)
    # The number of the call that the statement is in, and of its callers if they are not recorded.
    frame: int = 0
    frames: tuple[int, ...] = ()
    # The text of each value that was read, the number of its link or -1, and the value.
    sources: tuple[tuple[str, int, str | None], ...] = ()
    # Of a write: the link of the field by which the written object was reached.
    owner: int = -1
    # The link of the field by which the object was reached that the first value was read from, if
    # it was written by another.
    through: int = -1
    # Of a part of a text or of bytes: its first and end position in the whole.
    span: tuple[int, int] | None = None
    # Of what was joined: the first and end position of each piece, the number of its link, -2
    # for a constant of the source, and how much further on it begins there.
    pieces: tuple[tuple[int, int, int, int], ...] = ()


class OpenEnd(Struct, frozen=True):
    """The first place of a chain at which a part of the run was missing that is not recorded."""

    link: OriginLinkRecord
    # The values whose writes were not seen, as their expressions.
    unseen: tuple[str, ...] = ()
    # The number of the last call before the chain's last link.
    oldest: int = 0
    # Whether it read a buffer in memory, and no write of what was read there was seen.
    reads_buffer: bool = False

    def is_same_place(self, other: OpenEnd | None) -> bool:
        """Return whether two runs ended at the same statement and at the same values."""
        if other is None or self.link.how == "unrecorded":
            return False
        link, known = self.link, other.link
        return (link.kind, link.place, link.name, self.unseen) == (
            *(known.kind, known.place, known.name),
            other.unseen,
        )


class CachedRecord(Struct, frozen=True, array_like=True):
    """A name of a running call whose value an earlier call of one function had stored."""

    name: str
    # The file, the function and the line of the call that has the name.
    place: tuple[str, str, int]
    # The numbers of three links: the name's, the one that read the item, and the item's.
    link: int
    read: int
    write: int


class ChangedRecord(Struct, frozen=True, array_like=True):
    """A change in place of an object that a local name reaches, by code that came another way."""

    path: str
    # The numbers of the write's link, and of the link of the other field that has the object.
    write: int
    owner: int


class OriginRecord(Struct, frozen=True):
    """The value of the expression at a hit, and all links behind it."""

    hit: int
    frame: tuple[str, str, int]
    value: str | None
    how: str
    note: str = ""
    frame_number: int = 0
    error: str | None = None
    # The part by which the value failed a check or is wrong: its text, its value, and that of the
    # other side of a check.
    departs: tuple[str, str, str | None] | None = None
    sources: tuple[tuple[str, int, str | None], ...] = ()
    through: int = -1
    links: tuple[OriginLinkRecord, ...] = ()
    # The last writes into the value, a container.
    contents: tuple[int, ...] = ()
    # At an exception.
    cached: tuple[CachedRecord, ...] = ()
    changed: ChangedRecord | None = None


def statement_at(place: tuple[str, str, int] | None) -> str:
    """Return the source of the statement at a file, a function and a line."""
    if place is None:
        return ""
    lines = source_files.read_source(place[0])
    if lines is None or not 1 <= place[2] <= len(lines):
        return ""
    some = lines[place[2] - 1 : place[2] - 1 + _STATEMENT]
    return join_statement(some, hash_comments=True, most=_STATEMENT)


def decode_record(text: str) -> OriginRecord:
    """Decode the recorder's graph."""
    return msgspec.json.decode(text, type=OriginRecord)
