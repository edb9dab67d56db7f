"""Finds values that another call of the same function stored: what came out of a cache."""

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
