"""Links what is read from a buffer in memory, as `io.BytesIO`, with what was written there.

A write is known by its range of positions; that the buffer still has what was written is checked by
its first and last part when it is read. A buffer is read by moving its position there and back, so
only while no other thread may use it.
"""

from __future__ import annotations

import ast
import io
from _thread import _count as other_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BUFFERS = 200
_WRITES = 1_000  # of one buffer
_CONTENTS = 2_000
_SAMPLE = 32  # of the beginning and of the end of a write
_TELLING = 8  # bytes or characters that are not the same by chance
_OPERANDS = 8  # writes behind one read
_WHOLE = frozenset({"getvalue", "getbuffer"})
# Exact types: what they do runs no code of the program.
_KINDS = (io.BytesIO, io.StringIO)
_NAMES = frozenset({"BytesIO", "StringIO"})


class BufferWrite:
    """One write: the positions that it filled, both ends of what it wrote, and its link."""

    __slots__ = ("end", "first", "last", "link", "start")

    def __init__(self, buffer: Any, start: int, end: int, link: Any) -> None:
        self.start = start
        self.end = end
        self.first, self.last = _ends_of(buffer, start, end)
        self.link = link

    def is_there(self, buffer: Any) -> bool:
        """Return whether the buffer still has what was written, as far as its ends show it."""
        return _ends_of(buffer, self.start, self.end) == (self.first, self.last)


class BufferLinks:
    """The writes to the buffers of the program."""

    def __init__(self, links: Any, choice: Any) -> None:
        self._links = links
        self._choice = choice
        self._writes: dict[int, list[BufferWrite]] = {}  # by the buffer's identity
        self._contents: dict[int, Any] = {}  # the links of writes, by the hash of what they wrote

    def position(self, buffer: Any) -> int:
        """Return the position of a buffer; -1 for any other object, and a closed one."""
        if type(buffer) not in _KINDS or buffer.closed or other_threads():
            return -1
        return int(buffer.tell())

    def add_write(self, buffer: Any, start: int, link: Any) -> None:
        """Store a write that began at a position and has ended."""
        self._add(buffer, start, self.position(buffer), link)

    def add_content(self, node: Any, buffer: Any, sources: Any) -> None:
        """Store what a new buffer was made with, by the call that made it."""
        name = self._links.call_name(node) if isinstance(node, ast.Call) else ""
        if name not in _NAMES or self.position(buffer) < 0:
            return
        self._writes.pop(id(buffer), None)
        size = _size_of(buffer)
        if sources and sources[0].link is not None and size:
            self._add(buffer, 0, size, sources[0].link)

    def _add(self, buffer: Any, start: int, end: int, link: Any) -> None:
        if not 0 <= start < end:
            return
        known = self._writes.pop(id(buffer), [])
        self._writes[id(buffer)] = known  # the last one that was written to is at the end
        known[:] = [one for one in known[-_WRITES:] if one.end <= start or end <= one.start]
        known.append(BufferWrite(buffer, start, end, link))
        if end - start >= _TELLING:
            key = hash(_content(buffer, start, end))
            self._contents.pop(key, None)
            self._contents[key] = link
            if len(self._contents) > _CONTENTS:
                del self._contents[next(iter(self._contents))]
        if len(self._writes) > _BUFFERS:
            del self._writes[next(iter(self._writes))]

    def find_read(self, node: Any, buffer: Any, scope: Any, snap: Any) -> Any:
        """Return the link of what a call read from a buffer; None if no write of it is known."""
        start, end = scope.positions.get(id(node), -1), self.position(buffer)
        if start < 0 or end < 0:
            return None
        if node.func.attr in _WHOLE:
            start, end = 0, _size_of(buffer)
        if id(buffer) not in self._writes:
            return self._link_of_equal(node, _content(buffer, start, end), scope, snap)
        pieces = [
            (max(one.start - start, 0), min(one.end, end) - start, one.link, start - one.start)
            for one in self._writes[id(buffer)]
            if one.start < end and start < one.end and one.is_there(buffer)
        ]
        return self._link_of_pieces(node, sorted(pieces, key=_start_of), end - start, scope, snap)

    def _link_of_equal(self, node: Any, content: Any, scope: Any, snap: Any) -> Any:
        """Return a link to a write of the same content: code that is not recorded copied it."""
        link = self._contents.get(hash(content)) if content else None
        if link is None:
            return None
        sources = (self._links.ValueOperandLink(None, link, link.value),)
        found = scope.new_link("value", node, "copy", sources, snap)
        found.is_inferred, found.note = True, "equal"
        return found

    def _link_of_pieces(
        self, node: Any, pieces: list[Any], size: int, scope: Any, snap: Any
    ) -> Any:
        """Return the link of a value of pieces: of the one that is most of it, or of all."""
        if not pieces:
            return None
        made = self._links.ValueOperandLink
        at = self._choice.choose_largest([end - start for start, end, *_ in pieces], size)
        if at is None or (len(pieces) > 1 and pieces[at][1] - pieces[at][0] < size):
            some = tuple(made(None, link, link.value) for _, _, link, _ in pieces[:_OPERANDS])
            found = scope.new_link("value", node, "computed", some, snap)
            found.pieces = tuple(pieces)
            return found
        first, last, link, shift = pieces[at]
        begin = first + shift  # within what was written
        link, begin = _innermost_piece(link, begin, begin + last - first)
        if type(link.value) in (bytes, str) and (begin, len(link.value)) == (0, size):
            return link
        name = f"[{begin}:{begin + last - first}]"
        found = scope.new_link("part", name, "part", (made(None, link, link.value),), snap)
        found.is_inferred, found.span = last - first < size, (begin, begin + last - first)
        return found


def _start_of(piece: Any) -> int:
    return int(piece[0])


def _innermost_piece(link: Any, start: int, end: int) -> tuple[Any, int]:
    """Return the piece of a joined value that has a range of it, and where that begins there."""
    found, before = link, None
    while link is not None and link is not before:
        before = link
        if link.how == "copy" and link.sources:
            link = link.sources[0].link
            continue
        for first, last, inner, shift in link.pieces if link.kind == "value" else ():
            if first <= start and end <= last:
                start, end = start + shift, end + shift
                found = link = inner
                break
    return found, start


def _size_of(buffer: Any) -> int:
    position = buffer.tell()
    size = buffer.seek(0, io.SEEK_END)
    buffer.seek(position)
    return int(size)


def _content(buffer: Any, start: int, end: int) -> Any:
    """Return what a buffer has at a range of positions."""
    position = buffer.tell()
    buffer.seek(start)
    found = buffer.read(end - start)
    buffer.seek(position)
    return found


def _ends_of(buffer: Any, start: int, end: int) -> tuple[Any, Any]:
    """Return the first and the last part of what a buffer has at a range of positions."""
    first = _content(buffer, start, min(start + _SAMPLE, end))
    return first, _content(buffer, max(end - _SAMPLE, start), end)
