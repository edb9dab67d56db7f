"""Follows some characters of a text, or some bytes, through the links behind a Python value. Pure.

A chain may follow a part of a value: `text[3]`, or the first character by which a text departs from
the one that it was compared with. Each link says which pieces its value was joined of.
"""

from __future__ import annotations

import ast
import re

from debugger.questions.why.origin_records import OriginLinkRecord, OriginRecord

CONSTANT = -2  # instead of a link's number, where a part is a constant of the source
_UNKNOWN = -1
_OFFSET = re.compile(r"offset ([\d,]+)")
_SEQUENCE = re.compile(r"b?['\"]|(?:str|bytes|bytearray|memoryview|mmap) #")
_CHARACTERS = re.compile(r"['\"]|str #")
_SAME_BYTES = frozenset({"bytes", "bytearray", "memoryview"})  # functions that keep positions
_Piece = tuple[int, int, int, int]


class FollowedPart:
    """The positions of the followed part in the value of the current link."""

    def __init__(self, record: OriginRecord) -> None:
        self._span: tuple[int, int] | None = None
        self._is_text = False  # a position in a text is none in its file
        self._departs = _read_texts(record)

    def note_link(self, link: OriginLinkRecord) -> None:
        """Note where the part is in a link's value, if it is handed on there."""
        if link.kind == "part":
            span, inner = link.span, self._span
            if span is not None and inner is not None:
                span = (span[0] + inner[0], min(span[0] + inner[1], span[1]))
            self._span = span
        elif not (link.how in {"copy", "input"} or link.note in _SAME_BYTES or link.pieces):
            self._span = None
        elif link.value is not None and not _SEQUENCE.match(link.value):
            self._span = None  # a number that was packed
        self._is_text = self._span is not None and (
            self._is_text or _CHARACTERS.match(link.value or "") is not None
        )

    def enter_piece(self, link: OriginLinkRecord) -> int | None:
        """Follow the part into the piece of a joined value that has it.

        Returns:
            The number of the piece's link, or CONSTANT; None if no piece has it.
        """
        if self._span is None:
            return None
        first, last = self._span
        before: _Piece | None = None
        for one in link.pieces:
            start, end, number, _ = one
            if number != _UNKNOWN and start <= first and last <= end:
                is_next = before is not None and first in (start, before[1])
                if before is not None and is_next and self._is_moved(end - first):
                    return self._follow(before, before[1] - 1, before[1])
                return self._follow(one, first, last)
            before = one if number >= 0 and start < end else None
        return None

    def _follow(self, piece: _Piece, first: int, last: int) -> int:
        _, _, number, shift = piece
        self._span = (first + shift, last + shift)
        return number

    def _is_moved(self, size: int) -> bool:
        """Return whether the other value has the next characters, too, but further on.

        Then what stands before them is too short.
        """
        if self._departs is None:
            return False
        value, other = self._departs
        return size <= len(value) and value[:size] in other

    def describe_input(self, note: str) -> str:
        """Return an input's description, and where the followed bytes are in it."""
        at = _OFFSET.search(note)
        if at is None or self._span is None or self._is_text:
            return note
        first, offset = self._span[0], int(at[1].replace(",", "")) + self._span[0]
        return f"{note}; byte {first} of it is at offset {offset:,}"


def _read_texts(record: OriginRecord) -> tuple[str, str] | None:
    """Return the texts of both sides of a failed check from where they differ; None without any."""
    _, value, other = record.departs or ("", None, None)
    try:
        sides = [ast.literal_eval(one) for one in (value, other) if one is not None]
    except (SyntaxError, ValueError):
        return None
    is_text = len(sides) == 2 and all(isinstance(one, str) for one in sides)  # noqa: PLR2004 - both
    return (sides[0], sides[1]) if is_text else None
