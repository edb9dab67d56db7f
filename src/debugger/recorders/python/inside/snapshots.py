"""Takes snapshots of stored values, to detect what a line changed in place.

No code of the program is called: fields are read from dictionaries and slots, and containers by the
methods of the built-in types.
"""

from __future__ import annotations

import sys
from collections import deque
from opcode import opname

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType
    from typing import Any

_DEPTH = 4  # levels of a snapshot
_NODES = 80  # of one snapshot
_ITEMS = 24  # of one container
_IDENTIFIED = 2_000  # items of a container that are told apart by their identity
_BYTES = 8_192  # bytes of a bytearray or an array that are compared
_SCALARS = frozenset(
    map(id, (int, float, complex, bool, str, bytes, type(None), type(Ellipsis), range))
)
_Function = type(lambda: None)
_CONTAINERS = frozenset(map(id, (dict, list, tuple, deque, set, frozenset)))
OPAQUE = frozenset(map(id, (type, type(sys), _Function, type(len), property, slice)))
# Instructions that may change an object, in 3.8 to 3.13. What an operator of a class of the
# program's own changes is seen as a call.
_WRITING = ("STORE_ATTR", "STORE_SUBSCR", "STORE_SLICE", "DELETE_ATTR", "DELETE_SUBSCR", "CALL",
            "PRECALL", "INPLACE_", "BINARY_OP", "SEND", "YIELD", "FOR_ITER", "BEFORE_WITH",
            "LIST_APPEND", "MAP_ADD", "SET_ADD", "WITH_")  # fmt: skip
_WIDE = 2  # bytes of an instruction


class SnapshotNode:
    """A value of a snapshot: its object's identity, its size, and its children by key.

    `scalar` is a tuple of the value itself if nothing in it can change. Without `is_whole` the
    object has more keys than `kids`.
    """

    __slots__ = ("content", "ident", "is_whole", "kids", "scalar")

    def __init__(self, value: Any) -> None:
        self.ident = id(value)
        self.scalar: tuple[Any, ...] = (value,) if id(type(value)) in _SCALARS else ()
        self.content: Any = None
        self.kids: dict[str, SnapshotNode] = {}
        self.is_whole = True

    def is_other(self, node: SnapshotNode) -> bool:
        """Return whether the object was replaced; equal scalars of one type count as the same."""
        if self.scalar and node.scalar:
            mine, other = self.scalar[0], node.scalar[0]
            return mine is not other and (type(mine) is not type(other) or mine != other)
        return self.ident != node.ident


class SnapshotDifference:
    """A change at a path in a value: `holder` is the object that holds it as `key`."""

    __slots__ = ("holder", "key", "new", "old", "path")

    def __init__(
        self, place: tuple[str, int, str], old: SnapshotNode | None, new: SnapshotNode | None
    ) -> None:
        self.path, self.holder, self.key = place
        self.old, self.new = old, new


def is_fixed(value: Any) -> bool:
    """Return whether a value cannot change, or has a type that is not inspected."""
    return id(type(value)) in _SCALARS or id(type(value)) in OPAQUE


def writing_lines(code: CodeType) -> frozenset[int] | None:
    """Return the lines of code that may change an object in place; None before Python 3.10."""
    if not hasattr(code, "co_lines"):
        return None
    text, found = code.co_code, set()
    for start, end, line in code.co_lines():
        names = [opname[text[at]] for at in range(start, end, _WIDE)]
        if line and any(one.startswith(_WRITING) for one in names):
            found.add(line)
    return frozenset(found)


def snapshot(
    value: Any, fields: Callable[[Any], list[tuple[str, Any]]], objects: dict[int, Any]
) -> SnapshotNode:
    """Take a snapshot of a value; its nodes' objects are added to `objects`."""
    top = SnapshotNode(value)
    waiting: deque[tuple[SnapshotNode, Any, int]] = deque([(top, value, 0)])
    visited, count = {id(value)}, 1
    objects[top.ident] = value
    while waiting:
        node, one, depth = waiting.popleft()
        # Breadth first, so that the limit cuts the deepest values and not the last ones.
        if depth >= _DEPTH or count >= _NODES:
            node.is_whole = False
            node.content = _container_content(one)
            continue
        node.content = _container_content(one)
        for key, inner in _value_parts(one, fields, node):
            kid = node.kids[key] = SnapshotNode(inner)
            objects[kid.ident] = inner
            count += 1
            if not is_fixed(inner):
                # A second reference to the same object, or a cycle.
                if id(inner) in visited:
                    kid.is_whole = False
                else:
                    visited.add(id(inner))
                    waiting.append((kid, inner, depth + 1))
    return top


def differences(before: SnapshotNode, after: SnapshotNode) -> list[SnapshotDifference]:
    """Return the differences, only the innermost ones if they explain an outer one."""
    found: list[SnapshotDifference] = []
    _compare_nodes(before, after, ("", 0, ""), found)
    return found


def _compare_nodes(
    before: SnapshotNode,
    after: SnapshotNode,
    place: tuple[str, int, str],
    found: list[SnapshotDifference],
) -> None:
    if before.is_other(after):
        found.append(SnapshotDifference(place, before, after))
        return
    size_before = before.content[0] if before.content else None
    size_after = after.content[0] if after.content else None
    has_keys = before.content is None or before.content[2]
    # Without names, an insertion would show every later item as changed.
    if not has_keys and size_before != size_after:
        found.append(SnapshotDifference(place, None, after))
        return
    count = len(found)
    is_whole = before.is_whole and after.is_whole
    for key in [*before.kids, *(one for one in after.kids if one not in before.kids)]:
        old, new = before.kids.get(key), after.kids.get(key)
        inner = (place[0] + key, after.ident, key)
        if old is not None and new is not None:
            _compare_nodes(old, new, inner, found)
        elif is_whole:
            found.append(SnapshotDifference(inner, old, new))
    if len(found) == count and before.content != after.content:
        found.append(SnapshotDifference(place, None, after))


def _value_parts(
    value: Any, fields: Callable[[Any], list[tuple[str, Any]]], node: SnapshotNode
) -> list[tuple[str, Any]]:
    """Return a value's children by key."""
    found: list[tuple[str, Any]] = []
    if issubclass(type(value), dict):
        pairs = _first_items(dict.items(value))
        found = [(f"[{one!r}]", inner) for one, inner in pairs if id(type(one)) in _SCALARS]
        node.is_whole = len(found) == dict.__len__(value)
    elif issubclass(type(value), (list, tuple, deque)):
        base: Any = _base_value(value)
        found = [(f"[{at}]", one) for at, one in enumerate(_first_items(base.__iter__(value)))]
        node.is_whole = len(found) == base.__len__(value)
    # A subclass may have fields beside its items.
    if id(type(value)) in _CONTAINERS:
        return found
    return found + [(f".{name}", one) for name, one in fields(value)]


def _first_items(items: Iterable[Any]) -> list[Any]:
    taken: list[Any] = []
    try:
        for item in items:
            if len(taken) == _ITEMS:
                break
            taken.append(item)
    except RuntimeError:  # another thread changes it
        return taken
    return taken


def _base_value(value: Any) -> Any:
    return next(one for one in (list, tuple, deque, set, frozenset) if issubclass(type(value), one))


def _container_content(value: Any) -> tuple[int, Any, bool] | None:
    """Return a container's size, a key of its items' identities, and whether items have names."""
    if issubclass(type(value), dict):
        size = dict.__len__(value)
        return (size, _item_identities(dict.values(value), size), True)
    if issubclass(type(value), (list, tuple, deque, set, frozenset)):
        base: Any = _base_value(value)
        size = base.__len__(value)
        return (size, _item_identities(base.__iter__(value), size), False)
    if issubclass(type(value), bytearray):
        size = bytearray.__len__(value)
        return (size, bytes(bytearray.__getitem__(value, slice(0, _BYTES))), False)
    if type(value).__module__ == "numpy" and type(value).__name__ == "ndarray":
        size = int(value.nbytes)
        return (size, value.tobytes() if size <= _BYTES and not value.dtype.hasobject else 0, False)
    return None


def _item_identities(items: Iterable[Any], size: int) -> int:
    if size > _IDENTIFIED:
        return 0
    try:
        # The items' identities, not their values: hashing a value could call the program's code.
        return hash(tuple(map(id, items)))
    except RuntimeError:  # another thread changes it
        return 0
