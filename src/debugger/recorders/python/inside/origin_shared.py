"""Finds shared objects: values out of a cache, and what was changed through another owner."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType
    from typing import Any

_CALLS = 12  # own calls on the stack
_FRAMES = 100
_STEPS = 24  # links between a name and the item that it came from
_CACHED = 4  # values of one stack
_DEPTH = 4  # fields and items from a name to a changed object
_OBJECTS = 600  # reachable from one name
_ITEMS = 40  # of one container
_NAMES = 12
_STORING = frozenset({"item", "stored"})


class CachedValue:
    """A name whose value an earlier call had stored, and the call's statement that read it."""

    __slots__ = ("link", "name", "place", "read", "write")

    def __init__(self, name: str, link: Any, read: Any, write: Any) -> None:
        self.name = name
        self.link = link
        self.read = read
        self.write = write
        self.place: Any = None  # the code and the line of the call that has the name


def find_cached(frame: FrameType | None, scopes: dict[int, Any]) -> list[CachedValue]:
    """Return the values of the running calls that came out of a cache, the innermost first."""
    found: dict[int, CachedValue] = {}
    for scope, line in _own_calls(frame, scopes):
        for name, link in scope.names.items():
            one = _cached_value(name, link)
            if one is not None and (id(one.write) in found or len(found) < _CACHED):
                # The name that is nearest to the cache says most, at the place of the innermost.
                one.place = (scope.code, line)
                found[id(one.write)] = one
    return list(found.values())


def _own_calls(frame: FrameType | None, scopes: dict[int, Any]) -> Iterator[tuple[Any, int]]:
    """Yield the recorded calls on the stack, each with its line."""
    count = 0
    for _ in range(_FRAMES):
        if frame is None or count >= _CALLS:
            return
        scope = scopes.get(id(frame))
        if scope is not None and scope.code is frame.f_code:
            count += 1
            yield scope, frame.f_lineno
        frame = frame.f_back


def _cached_value(name: str, link: Any) -> CachedValue | None:
    """Return a name's value as a cached one: one function stored it, and read it in a later call.

    Both are in the chain of the value: the statement of the function that read the item, and the
    write of the item, whose callers have the same function and were running before that call began.
    """
    readers: dict[Any, Any] = {}
    one = link
    for _ in range(_STEPS):
        if one is None:
            return None
        if one.kind in _STORING:
            for code in _codes_of(one):
                read = readers.get(code)
                if read is not None and one.number < read.frame:
                    return CachedValue(name, link, read, one)
        if one.how not in ("copy", "part", "selected") or not one.sources:
            return None
        if one.kind in ("name", "returned") and one.code is not None:
            readers[one.code] = one
        one = one.sources[-1 if one.how == "selected" else 0].link
    return None


def _codes_of(link: Any) -> Iterator[Any]:
    yield link.code
    outer = link.stack
    while outer is not None:
        yield outer[0]
        outer = outer[2]


class SharedChange:
    """A change in place of what a name reaches, by a statement that reached it from elsewhere."""

    __slots__ = ("owner", "path", "write")

    def __init__(self, path: str, write: Any, owner: Any) -> None:
        self.path = path  # of the shared object: `opened._query.where`
        self.write = write
        self.owner = owner  # the link of the other field that has the object


def find_changed(scope: Any, reader: Any, links: Any) -> SharedChange | None:
    """Return the last change in place of an object that a local name and another owner share.

    Only changes since the name was assigned count, by code that reached the object through a field
    or an item that is not on the way from the name.
    """
    found: list[SharedChange] = []
    for name, link in list(scope.names.items())[-_NAMES:]:
        value = scope.held.get(name, reader.missing)
        if value is reader.missing or type(link.value) is not tuple:
            continue
        found += _changes_below(name, value, link.number, reader, links)
    return max(found, key=lambda one: int(one.write.number), default=None)


def _changes_below(
    name: str, value: Any, since: int, reader: Any, links: Any
) -> Iterator[SharedChange]:
    # Each with its path, and the objects on the way with the link by which each was reached.
    waiting: list[tuple[str, Any, tuple[Any, ...]]] = [(name, value, ())]
    visited: set[int] = set()
    while waiting and len(visited) < _OBJECTS:
        path, holder, way = waiting.pop(0)
        if id(holder) in visited:
            continue
        visited.add(id(holder))
        known = reader.store.of(holder)
        for write in tuple(known.links.values()) if known is not None else ():
            if write.number > since and write.kind in ("field", "item", "stored"):
                yield from _change_by(write, way)
        if len(way) >= _DEPTH:
            continue
        for key, text, one in reader.parts(holder, _ITEMS):
            snap = links.snap_value(one)
            if type(snap) is tuple and snap[1] not in ("type", "function", "module"):
                step = (f"{path}{text}", snap, reader.store.last_key(holder, key))
                waiting.append((f"{path}{text}", one, (*way, step)))


def _change_by(write: Any, way: tuple[Any, ...]) -> Iterator[SharedChange]:
    """Yield a write as a change, if its owner is not the one by which the way came."""
    for owner in (write.owner, write.root):
        for path, snap, link in way:
            if owner is not None and owner.value == snap and owner is not link:
                yield SharedChange(path, write, owner)
                return
