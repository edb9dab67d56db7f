"""Moves the links of a list's items as its methods move the items.

Equal numbers and texts are told apart by their positions only, which are wrong after a move.
"""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_METHODS = frozenset({"append", "insert", "pop", "remove", "reverse", "sort", "clear"})
_LATER = frozenset({"append", "pop", "reverse"})  # with them no item moves before a store
_FUNCTIONS = frozenset(
    {"heapify", "heappush", "heappop", "heappushpop", "heapreplace", "shuffle"}
    | {"insort", "insort_left", "insort_right"}
)


class ItemMoves:
    """Follows the moves of the items of lists, statement by statement."""

    def __init__(self, reader: Any, missing: Any) -> None:
        self._reader = reader
        self._missing = missing
        # By the identity of each plan: the calls that may move items, by which function of what.
        self._moving: dict[int, tuple[Any, tuple[tuple[Any, str, Any], ...]]] = {}

    def before_stores(self, plan: Any, scope: Any) -> None:
        """Move the links of items that an inserted one has moved, before its own is stored."""
        for owner, name, call, is_single in self._moves(plan, scope):
            if name == "insert" and is_single:
                place = self.insert_place(owner, call, scope)
                if place is not None:
                    size = len(owner) - 1
                    self._shift(owner, lambda key, p=place: key + (key >= p), size)
                    continue
            if name not in _LATER or not is_single:
                self._reader.store.move_items(owner, lambda _key: None)

    def after_stores(self, plan: Any, scope: Any) -> None:
        """Move the links of the items behind one that was taken out, and of a reversed list."""
        for node in plan.targets:
            self._finish_target(node, scope, is_single=len(plan.targets) == 1)
        for owner, name, call, is_single in self._moves(plan, scope):
            size = len(owner)
            if name == "reverse" and is_single:
                self._shift(owner, lambda key, n=size: n - 1 - key, size)
            elif name == "pop" and is_single:
                place: Any = size
                if call.args:
                    place = self._place(self._reader.read(call.args[0], scope), size + 1)
                self._take_out(owner, place)

    def insert_place(self, owner: Any, call: Any, scope: Any) -> int | None:
        """Return the position at which an item was inserted into a list; None if it is unknown."""
        if len(call.args) != 2:  # noqa: PLR2004 - position, item
            return None
        place = self._reader.read(call.args[0], scope)
        if type(place) is not int:
            return None
        size = len(owner) - 1
        return max(place + size, 0) if place < 0 else min(place, size)

    def _moves(self, plan: Any, scope: Any) -> list[tuple[Any, str, Any, bool]]:
        """Return the lists whose items calls moved, by which function, and whether once only."""
        if not plan.calls:
            return []
        known = self._moving.get(id(plan))
        if known is None:
            known = self._moving[id(plan)] = (plan, tuple(_find_moving(plan)))
        if not known[1]:
            return []
        found = []
        for call, name, node in known[1]:
            owner = self._reader.read(node, scope)
            if type(owner) is list:
                found.append((owner, name, call))
        counts = [sum(other is owner for other, _, _ in found) for owner, _, _ in found]
        return [(*one, count == 1) for one, count in zip(found, counts)]  # noqa: B905 - of Python 3.8, too

    def _finish_target(self, node: Any, scope: Any, *, is_single: bool) -> None:
        """Move the items behind a deleted one; of a slice nothing is known."""
        owner = scope.bases.get(id(node), self._missing)
        if not isinstance(node, ast.Subscript) or type(owner) is not list:
            return
        if isinstance(node.slice, ast.Slice):
            self._take_out(owner, None)
        elif isinstance(node.ctx, ast.Del):
            place = self._place(scope.keys.get(id(node), self._missing), len(owner) + 1)
            self._take_out(owner, place if is_single else None)

    def _take_out(self, owner: Any, place: int | None) -> None:
        """Drop the link at a position, and move those behind it; without one all are unknown."""
        if place is None:
            self._reader.store.move_items(owner, lambda _key: None)
            return
        self._reader.store.drop(owner, f"[{place}]")
        if place >= len(owner):
            return  # the last one: no other moves
        self._shift(owner, lambda key: key - (key > place), len(owner) + 1)

    def _shift(self, owner: Any, moved: Any, size: int) -> None:
        self._reader.store.move_items(owner, lambda key: moved(key) if key < size else None)

    def _place(self, key: Any, size: int) -> int | None:
        if type(key) is not int:
            return None
        return key + size if key < 0 else key


def _find_moving(plan: Any) -> Iterator[tuple[Any, str, Any]]:
    """Yield the calls of a statement that may move items of a list: each, its name and the list."""
    for call in plan.calls:
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr in _METHODS:
            yield call, function.attr, function.value
            continue
        name = str(getattr(function, "attr", "") or getattr(function, "id", ""))
        if name in _FUNCTIONS and call.args:
            yield call, name, call.args[0]
