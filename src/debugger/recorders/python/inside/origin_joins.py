"""Links the parts of texts and bytes that were joined of others, and of what byte buffers have.

A joined value has pieces, `(start, end, link, shift)`: its positions from `start` to `end` are
those of the link's value, `shift` further on. A part of it is followed into its piece.
"""

from __future__ import annotations

import ast
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_JOINED = (str, bytes, bytearray)
_PIECES = 200  # of one value
_CONTENT = "(content)"  # the key of the link of what a byte buffer has
_FILLING = frozenset({"readinto", "readinto1", "recv_into", "recvfrom_into"})
_FORMATS = "xcbB?hHiIlLqQnNefdspP"
_MISSING_SIZE = -1


class JoinedParts:
    """Finds the pieces of joined values, and follows the writes into byte buffers."""

    def __init__(self, reader: Any, links: Any, plans: Any) -> None:
        self._reader = reader
        self._links = links
        self._plans = plans
        self._texts = links.TextPieces(reader, links, plans)

    # -- texts and bytes ---------------------------------------------------------------------------

    def find_pieces(self, node: Any, value: Any, scope: Any) -> tuple[Any, ...]:
        """Return the pieces of an expression's value: of a text, of `pack`."""
        if isinstance(node, ast.Call) and self._plans.call_name(node) == "pack":
            return self._pieces_of_fields(node, scope)
        found: tuple[Any, ...] = self._texts.find(node, value, scope)
        return found

    def find_added(
        self, node: Any, before: tuple[Any, ...], value: Any, scope: Any
    ) -> tuple[Any, ...]:
        """Return the pieces of the target of `target += node`, by its size before."""
        size = scope.sizes.get(id(node), _MISSING_SIZE)
        if type(value) not in _JOINED or not 0 <= size <= len(value):
            return ()
        added = self.link_of(node.value, scope)
        pieces = [(0, size, one.link, 0) for one in before]
        return (*pieces, (size, len(value), added, -size)) if added is not None else tuple(pieces)

    def link_of(self, node: Any, scope: Any) -> Any:
        """Return the link of an operand; None for a constant."""
        if isinstance(node, ast.Constant):
            return None
        value = self._reader.read(node, scope)
        snap = self._links.snap_value(value) if value is not self._reader.missing else value
        how, sources = self._reader.origin(node, scope, snap)
        if how == "copy":
            return sources[0].link
        link = scope.new_link("value", node, how, sources, snap)
        scope.complete(link)
        return link

    # -- binary records ----------------------------------------------------------------------------

    def _pieces_of_fields(self, node: ast.Call, scope: Any) -> tuple[Any, ...]:
        """Return the pieces of what `struct.pack` made: one for each of its arguments."""
        spans, nodes, _ = self._packed(node, scope)
        pieces = []
        for (start, end), one in zip(spans, nodes):  # noqa: B905 - of Python 3.8, too
            link = self.link_of(one, scope)
            if link is not None:
                pieces.append((start, end, link, -start))
        return tuple(pieces)

    def find_field(self, node: Any, place: Any, scope: Any) -> Any:
        """Return the operand for one of the values that `struct.unpack` gives: some of the bytes.

        None for any other expression.
        """
        name = self._plans.call_name(node) if isinstance(node, ast.Call) else ""
        if name not in ("unpack", "unpack_from") or type(place) is not int:
            return None
        spans, nodes, offset = self._packed(node, scope)
        if not nodes or not -len(spans) <= place < len(spans) or offset < 0:
            return None
        start, end = (offset + one for one in spans[place])
        bounds = ast.Slice(ast.Constant(start), ast.Constant(end))
        return self._reader.operand(ast.Subscript(nodes[0], bounds, ast.Load()), scope)

    def note_fields(self, node: Any, value: Any, scope: Any) -> None:
        """Give the items of the tuple that `struct.unpack` made links to their bytes."""
        for at, one in enumerate(value[:_PIECES] if type(value) is tuple else ()):
            operand = self.find_field(node, at, scope)
            if operand is None:
                return
            snap = self._links.snap_value(one)
            link = scope.new_link("item", f"[{at}]", "copy", (operand,), snap)
            self._reader.store.put(value, f"[{at}]", link)

    def _packed(self, node: ast.Call, scope: Any) -> tuple[list[tuple[int, int]], list[Any], int]:
        """Return the bytes of each field of a call of `struct`, its data, and the first byte."""
        owner = self._reader.read(getattr(node.func, "value", None), scope)
        arguments = list(node.args)
        if type(owner) is struct.Struct:
            text: Any = owner.format
        else:
            is_module = owner is struct or self._reader.read(node.func, scope) in _FUNCTIONS
            text = self._reader.read(arguments.pop(0), scope) if is_module and arguments else None
        if type(text) is not str or any(isinstance(one, ast.Starred) for one in arguments):
            return [], [], 0
        offset: Any = 0
        given = [*arguments[1:2], *(one.value for one in node.keywords if one.arg == "offset")]
        if given and self._plans.call_name(node) == "unpack_from":
            offset = self._reader.read(given[0], scope)
        return list(_field_spans(text)), arguments, offset if type(offset) is int else -1

    # -- byte buffers ------------------------------------------------------------------------------

    def note_target(self, node: Any, scope: Any) -> None:
        """Keep what the target of `target += x` is, before it runs."""
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            scope.loaded[id(node.target)] = self._reader.load(node.target, scope)
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            value = self._reader.read(node.target, scope)
            if type(value) in (*_JOINED, list):
                scope.sizes[id(node)] = len(value)

    def note_filled(self, call: ast.Call, inputs: Any, scope: Any) -> None:
        """Store that a call such as `file.readinto(buffer)` has read into a byte buffer."""
        if self._plans.call_name(call) not in _FILLING or not call.args:
            return
        buffer, start = self._buffer_of(call.args[0], scope)
        text = inputs.call_input(call, scope, self._reader)
        if buffer is None or not text:
            return
        link = scope.new_link("stored", call.func, "input", (), self._links.snap_value(buffer))
        link.note = text
        statement = scope.statements[-1].node if scope.statements else None
        count = None
        if isinstance(statement, ast.Assign) and statement.value is call:
            count = self._reader.read(statement.targets[0], scope)
        end = min(start + count, len(buffer)) if type(count) is int else len(buffer)
        self.note_content(call.args[0], buffer, (start, end, link, -start), scope)

    def _buffer_of(self, node: Any, scope: Any) -> tuple[Any, int]:
        """Return the byte buffer that a call writes to, and the first position."""
        start: Any = 0
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            start = self._reader.read(node.slice.lower, scope) if node.slice.lower else 0
            node = node.value
        if isinstance(node, ast.Call) and node.args:  # memoryview(buffer)
            node = node.args[0]
        value = self._reader.read(node, scope)
        if type(value) is memoryview and type(value.obj) is bytearray:
            value = value.obj
        is_known = type(value) is bytearray and type(start) is int and start >= 0
        return (value, start) if is_known else (None, 0)

    def note_content(self, node: Any, buffer: bytearray, piece: Any, scope: Any) -> None:
        """Store a write of a range of a byte buffer over what it had before."""
        start, end, link, _ = piece
        known = self.find_content(buffer) or self._reader.operand(node, scope).link
        pieces = known.pieces if known is not None else ()
        if known is not None and not pieces:
            pieces = ((0, len(buffer), known, 0),)
        pieces = (*_cut_pieces(pieces, start, end), piece)[-_PIECES:]
        if len(pieces) > 1 or start:
            sources = tuple(
                self._links.ValueOperandLink(None, one[2], one[2].value) for one in pieces[-2:]
            )
            link = scope.new_link("stored", link.name, "computed", sources, link.value)
            link.pieces = pieces
        self.put_content(buffer, link)

    def put_content(self, buffer: Any, link: Any) -> None:
        """Store that a byte buffer has what a link, with its pieces, says."""
        if type(buffer) is bytearray:
            self._reader.store.forget(buffer)
            self._reader.store.put(buffer, _CONTENT, link)

    def find_content(self, value: Any) -> Any:
        """Return the link of what a byte buffer has; None for any other value."""
        if type(value) is not bytearray:
            return None
        return self._reader.store.last_key(value, _CONTENT)


_FUNCTIONS = (struct.pack, struct.unpack, struct.unpack_from)


def _field_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the first and the end position of each field of a format of `struct`."""
    prefix = text[:1] if text[:1] in "@=<>!" else ""
    known, count = prefix, ""
    for letter in text[len(prefix) :]:
        if letter.isdigit():
            count += letter
            continue
        if letter not in _FORMATS:
            if letter.isspace():
                continue
            return
        steps = [f"{count}{letter}"] if letter in "sp" else [letter] * int(count or 1)
        for one in steps:
            known += one
            end = struct.calcsize(known)
            if letter != "x":
                yield end - struct.calcsize(prefix + one), end
        count = ""


def _cut_pieces(pieces: Any, start: int, end: int) -> Iterator[Any]:
    """Yield what a write of a range leaves of pieces."""
    for first, last, link, shift in pieces:
        if first < min(last, start):
            yield first, min(last, start), link, shift
        if max(first, end) < last:
            yield max(first, end), last, link, shift
