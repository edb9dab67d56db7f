"""Links what is read from a buffer in memory, as `io.BytesIO`, with what was written there.

A write is known by its range of positions; that the buffer still has what was written is checked by
its hash when it is read.
"""

from __future__ import annotations

import io

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BUFFERS = 200
_WRITES = 1_000  # of one buffer
_CONTENTS = 10_000
_TELLING = 8  # bytes or characters that are not the same by chance
_OPERANDS = 8  # writes behind one read
_TEXT_MAX = 1 << 16  # characters of a buffer of text, which is copied to be compared
_WHOLE = frozenset({"getvalue", "getbuffer"})
# Exact types: what they do runs no code of the program.
_KINDS = (io.BytesIO, io.StringIO)


class BufferWrite:
    """One write: the positions that it filled, the hash of what it wrote, and its link."""

    __slots__ = ("end", "hash", "link", "start")

    def __init__(self, start: int, end: int, content: Any, link: Any) -> None:
        self.start = start
        self.end = end
        self.hash = hash(content)
        self.link = link


class BufferLinks:
    """The writes to the buffers of the program."""

    def __init__(self, links: Any, choice: Any) -> None:
        self._links = links
        self._choice = choice
        self._writes: dict[int, list[BufferWrite]] = {}  # by the buffer's identity
        self._contents: dict[int, Any] = {}  # the links of writes, by the hash of what they wrote

    def position(self, buffer: Any) -> int:
        """Return the position of a buffer; -1 for any other object, and a closed one."""
        if type(buffer) not in _KINDS or buffer.closed:
            return -1
        return int(buffer.tell())

    def add_write(self, buffer: Any, start: int, link: Any) -> None:
        """Store a write that began at a position and has ended."""
        self._add(buffer, start, self.position(buffer), link)

    def add_content(self, buffer: Any, link: Any) -> None:
        """Store what a new buffer was made with."""
        self._writes.pop(id(buffer), None)
        size = _size_of(buffer)
        if link is not None and size:
            self._add(buffer, 0, size, link)

    def _add(self, buffer: Any, start: int, end: int, link: Any) -> None:
        content = _content(buffer, start, end) if 0 <= start < end else None
        if content is None:
            return
        known = self._writes.pop(id(buffer), [])
        self._writes[id(buffer)] = known  # the last one that was written to is at the end
        known[:] = [one for one in known[-_WRITES:] if one.end <= start or end <= one.start]
        write = BufferWrite(start, end, content, link)
        known.append(write)
        if end - start >= _TELLING:
            self._contents.pop(write.hash, None)
            self._contents[write.hash] = link
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
            if one.start < end
            and start < one.end
            and hash(_content(buffer, one.start, one.end)) == one.hash
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
            found = self._links.JoinedLink(node, some, snap, pieces)
            found.take_place(scope.new_link("value", node, "", (), snap))
            return found
        first, last, link, shift = pieces[at]
        begin = first + shift  # within what was written
        link, begin = _innermost_piece(link, begin, begin + last - first)
        if type(link.value) in (bytes, str) and (begin, len(link.value)) == (0, size):
            return link
        name = f"[{begin}:{begin + last - first}]"
        found = scope.new_link("part", name, "part", (made(None, link, link.value),), snap)
        found.is_inferred = last - first < size
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
        for first, last, inner, shift in getattr(link, "pieces", ()):
            if first <= start and end <= last:
                start, end = start + shift, end + shift
                found = link = inner
                break
    return found, start


def _size_of(buffer: Any) -> int:
    if type(buffer) is io.BytesIO:
        return len(buffer.getbuffer())
    return len(buffer.getvalue())


def _content(buffer: Any, start: int, end: int) -> Any:
    """Return what a buffer has at a range of positions; None if it is too long to be copied."""
    if type(buffer) is io.BytesIO:
        with buffer.getbuffer() as view:
            return bytes(view[start:end])
    return buffer.getvalue()[start:end] if end <= _TEXT_MAX else None
