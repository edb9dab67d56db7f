"""Writes the links behind a value as one record: a bounded graph of plain values."""

from __future__ import annotations

import ast
from collections import deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

EXPRESSION_FILE = "<why>"  # of the compiled expression of the question
_NODES = 400  # links of one record
# What code that is not recorded may have written again since.
_SHARED = frozenset({"field", "item", "stored", "global", "class attribute"})
_CONSTANT = -2  # stands for a link where a text is a constant of the source
_TEXT = 80  # characters of an expression


class OriginGraph:
    """The links behind one value, each with a number, the nearest first."""

    def __init__(self, write: Any, chosen: Any, windows: Any, links: Any, codes: Any) -> None:
        self._links = links
        self._codes = codes  # the recorder's own, by identity
        self._value: Any = None  # the stored value of the expression
        self._write = write
        self._chosen = chosen
        self._windows = windows
        self._numbers: dict[int, int] = {}
        self._waiting: deque[Any] = deque()
        self._objects: dict[int, int] = {}  # by identity, in the order of their appearance
        self._known: dict[int, str] = {}
        self._frame: list[Any] = []  # the file, function and line of the location

    def build_record(self, hit: Any) -> dict[str, Any]:
        """Return the record of a hit: its value, and the links behind it."""
        self._frame = hit.frame
        text, snap = hit.value if hit.value is not None else (None, None)
        self._value = snap
        if type(snap) is tuple:
            self._known[snap[0]] = str(text)
        root = {
            "hit": hit.number,
            "frame": hit.frame,
            "value": text,
            "how": hit.how,
            "note": hit.note,
            "frame_number": (hit.located["frames"] or [0])[0],
            "error": hit.error[2] if hit.error is not None else None,
            "departs": list(hit.departs) if hit.departs is not None else None,
            "sources": self._operands(hit.sources),
            "through": self._through(hit.sources),
        }
        contents = [self._number(one) for one in hit.contents]
        cached = [self._cached_record(one) for one in hit.cached]
        changed = self._changed_record(hit.changed) if hit.changed is not None else None
        links = []
        while self._waiting:
            links.append(self._link_record(self._waiting.popleft()))
        return {
            **root,
            "links": links,
            "contents": contents,
            "cached": cached,
            "changed": changed,
        }

    def _cached_record(self, one: Any) -> list[Any]:
        """Return a cached value: its name, its place, and the numbers of its links."""
        numbers = [self._number(each) for each in (one.link, one.read, one.write)]
        return [one.name, self._place(*one.place), *numbers]

    def _changed_record(self, one: Any) -> list[Any]:
        """Return a change of a shared object: its path, and the numbers of two links."""
        return [one.path, self._number(one.write), self._number(one.owner)]

    def _operands(self, sources: Any) -> list[list[Any]]:
        found = [
            [self._node_text(one.node), self._number(one.link), self._snap_text(one.value)]
            for one in sources
        ]
        for one in sources:
            if isinstance(one, self._links.ContainerOperandLink):
                item = one.find_item(self._value)
                if item is not None:
                    found.append(["", self._number(item), self._snap_text(item.value)])
        return found

    def _through(self, sources: Any) -> int:
        """Return the number of the link by which the object of a value's field was reached."""
        return self._number(sources[0].through) if sources else -1

    def _number(self, link: Any) -> int:
        """Return the number of a link, which is then written; -1 for none, or beyond the limit."""
        if link is None:
            return -1
        known = self._numbers.get(id(link))
        if known is None:
            if len(self._numbers) >= _NODES:
                return -1
            known = self._numbers[id(link)] = len(self._numbers)
            self._waiting.append(link)
        return known

    def _link_record(self, link: Any) -> dict[str, Any]:
        stack, outer = [], link.stack
        while outer is not None:
            stack.append(self._place(outer[0], outer[1]))
            outer = outer[2]
        callee: Any = link.callee or ""
        if callee and type(callee) is not str:
            callee = self._code_names(callee)[1]
        return {
            "kind": link.kind,
            "name": self._node_text(link.name),
            "how": link.how,
            "place": self._place(link.code, link.line) if link.code is not None else None,
            "callee": callee,
            "call": link.call,
            "runs": getattr(self._codes.get(id(link.code)), "calls", 0),
            "thread": link.thread,
            "stack": stack,
            "value": self._snap_text(link.value),
            "old": self._snap_text(link.old),
            "note": link.note,
            "inferred": link.is_inferred,
            "stale": self._is_stale(link),
            "calls": [link.began, link.number],
            "frame": link.frame,
            "frames": list(link.frames),
            "sources": self._operands(link.sources),
            "owner": self._number(link.owner),
            "through": self._through(link.sources),
            "span": link.span,
            "pieces": [[*one[:2], self._piece(one[2]), one[3]] for one in link.pieces],
        }

    def _piece(self, link: Any) -> int:
        """Return the number of a piece's link; that of a constant is _CONSTANT."""
        return self._number(link) if link is not None else _CONSTANT

    def _is_stale(self, link: Any) -> bool:
        """Return whether code that was not recorded may have written a value again since."""
        windows = self._windows
        if link.kind not in _SHARED or link.number >= windows.gap:
            return False
        name = getattr(link.name, "attr", link.name)
        return not (windows.watches_all and name in windows.watched)

    def _place(self, code: CodeType, line: int) -> list[Any]:
        """Return the file, function and line; of the question's expression, the location's."""
        if code.co_filename == EXPRESSION_FILE:
            return self._frame
        return [*self._code_names(code), line]

    def _code_names(self, code: CodeType) -> list[str]:
        name = getattr(code, "co_qualname", code.co_name).replace("<locals>.", "")
        return [self._chosen.file(code.co_filename) or code.co_filename, name]

    def _node_text(self, node: Any) -> str:
        if node is None or type(node) is str:
            return node or ""
        if isinstance(node, ast.AST):
            text = " ".join(ast.unparse(node).split())
        else:
            text = str(getattr(node, "co_name", ""))
        return text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…"

    def _snap_text(self, snap: Any) -> str | None:
        if type(snap) is tuple:
            if snap[0] in self._known:
                return self._known[snap[0]]
            number = self._objects.setdefault(snap[0], len(self._objects) + 1)
            return f"{snap[1]} #{number}"
        return self._write(snap) if type(snap) is not object else None
