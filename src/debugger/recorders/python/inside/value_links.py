"""Stores, for each name, field and item of the running program, where its value came from.

A link describes one event that gave a value: an assignment, an argument, a return. It refers to the
links of the values that the event read, so the links of the live values are the history of these
values; links of other values are freed with them. No object of the program is kept alive: objects
are known by their identity and type, and only small values of immutable types are stored.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType
    from typing import Any

_TEXT = 200  # characters of a stored text
_DEPTH = 256  # links behind each other, after which the older half is dropped
_HOLDERS = 100_000  # objects whose fields and items have links
_PASSED_ON = 12  # names, arguments and results between a field and the use of its object
_OWNING = frozenset({"field", "item", "stored", "class attribute"})
_KEYS = 2_000  # fields and items of one object
_NUMBERS = frozenset(map(id, (int, float, bool, complex, type(None))))
_TEXTS = frozenset(map(id, (str, bytes)))
_NAME_OF: Any = type.__dict__["__name__"].__get__
MISSING: Any = object()


def snap_value(value: Any) -> Any:
    """Return a small immutable value itself, and of any other its identity and type."""
    kind = type(value)
    if id(kind) in _NUMBERS or (id(kind) in _TEXTS and len(value) <= _TEXT):
        return value
    return (id(value), _NAME_OF(kind))


def is_same(one: Any, other: Any) -> bool:
    """Return whether two stored values are the same: one object, or equal values of one type."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    # A NaN is not equal to itself.
    return bool(one == other) or (one != one and other != other)  # noqa: PLR0124


def find_places(items: list[Any], value: Any) -> list[int]:
    """Return the positions of the items that have a stored value."""
    kind = type(value)
    if kind is tuple:
        return [at for at, one in enumerate(items) if id(one) == value[0]]
    return [at for at, one in enumerate(items) if type(one) is kind and is_same(one, value)]


class ValueOperandLink:
    """A value that an event read: its syntax node, its value, and the link of that value."""

    __slots__ = ("link", "node", "through", "value")

    def __init__(self, node: Any, link: ValueLink | None, value: Any) -> None:
        self.node = node
        self.link = link
        self.value = value
        # By which field or item the value's object was reached, if it was written by another one.
        self.through: ValueLink | None = None


class ContainerOperandLink(ValueOperandLink):
    """A container that a function made its result of, with the links of its items."""

    __slots__ = ("items",)

    def __init__(self, operand: ValueOperandLink, items: dict[Any, ValueLink]) -> None:
        super().__init__(operand.node, operand.link, operand.value)
        self.through = operand.through
        self.items = items

    def find_item(self, value: Any) -> ValueLink | None:
        """Return the last written item with a value, which may be what the result has of it."""
        for key, link in reversed(self.items.items()):
            if key[:1] == "[" and is_same(link.value, value):
                return link
        return None


class ValueLink:
    """One event that gave a value.

    `kind` is what got the value (a name, a field, an argument, a result), `how` where the value
    came from: `copy`, `selected` (by a key, from a table of constants), `missed` (a lookup of a key
    that is not there), `computed`, `constant`, `new`, `library`, `input`, `part`, `default`, or ""
    if that is not known. A copy's first source
    is what it copied, and the second, if there is one, the key of the item.
    """

    __slots__ = (
        "began",
        "call",
        "callee",
        "code",
        "depth",
        "frame",
        "frames",
        "how",
        "is_inferred",
        "kind",
        "line",
        "name",
        "note",
        "number",
        "old",
        "owner",
        "pieces",
        "root",
        "size",
        "sources",
        "span",
        "stack",
        "thread",
        "value",
    )

    def __init__(self, kind: str, name: Any, how: str, sources: Any, value: Any) -> None:
        self.kind = kind
        self.name = name
        self.how = how
        self.sources: tuple[ValueOperandLink, ...] = sources
        self.value = value
        self.old: Any = MISSING
        self.code: CodeType | None = None
        self.callee: Any = None  # the code whose parameter or result it is, or a type's name
        self.line = 0
        self.thread = 0
        # By which field or item the written object was reached, and the first object of the chain.
        self.owner: ValueLink | None = None
        self.root: ValueLink | None = None
        self.call = 0  # the number of the call of its function
        self.stack: Any = None  # (code, line, stack) of the caller
        self.note = ""
        self.is_inferred = False
        # The numbers (see `origin_windows`) of the last own call before the statement and before
        # the link, and of the call that the statement is in.
        self.began = self.number = self.frame = 0
        self.frames: tuple[int, ...] = ()  # the calls on the stack of an unrecorded caller
        # Of a part of a text or of bytes: its first and end position; of a joined one: its pieces.
        self.span: tuple[int, int] | None = None
        self.pieces: tuple[Any, ...] = ()
        self.size: int | None = None  # of a result that is a long text
        self.depth = 1
        for one in sources:
            if one.link is not None and one.link.depth >= self.depth:
                self.depth = one.link.depth + 1
        if self.depth > _DEPTH:
            self._drop_oldest()

    def take_place(self, other: ValueLink) -> None:
        """Take the place and the time of another link."""
        self.code, self.line, self.thread = other.code, other.line, other.thread
        self.call, self.stack = other.call, other.stack
        self.began, self.number = other.began, other.number
        self.frame, self.frames = other.frame, other.frames

    def as_inferred(self) -> ValueLink:
        """Return a copy that is marked as inferred."""
        found = ValueLink(self.kind, self.name, self.how, self.sources, self.value)
        found.take_place(self)
        found.old, found.callee, found.note = self.old, self.callee, self.note
        found.owner, found.root = self.owner, self.root
        found.span, found.pieces = self.span, self.pieces
        found.is_inferred = True
        return found

    def _drop_oldest(self) -> None:
        """Drop the older half of a chain, as that of a sum in a loop."""
        waiting, limit = [self], _DEPTH // 2
        visited = set()
        while waiting:
            link = waiting.pop()
            if id(link) in visited:
                continue
            visited.add(id(link))
            if self.depth - link.depth >= limit:
                if link.sources:  # else it is the end of other chains, too
                    link.sources, link.pieces, link.note = (), (), "cut"
            else:
                waiting += [one.link for one in link.sources if one.link is not None]
                link.depth = max(1, link.depth - limit)
        self.depth = limit


def find_owner(operand: ValueOperandLink | None) -> ValueLink | None:
    """Return the link of the field or item by which an object was reached, however often passed on.

    None for an object that only names were seen to hold.
    """
    link = operand.link if operand is not None else None
    for _ in range(_PASSED_ON):
        if link is None or type(link.value) is not tuple or link.kind in _OWNING:
            return link if link is not None and link.kind in _OWNING else None
        before = link.sources[0] if link.how == "copy" and link.sources else None
        if before is None or before.link is None or before.value != link.value:
            return None
        link = before.link
    return None


def find_first_item(link: ValueLink | None) -> ValueLink | None:
    """Return the link that an item had before containers were made of containers."""
    for _ in range(_PASSED_ON):
        if link is None or link.kind not in ("item", "merged") or link.how != "copy":
            break
        if type(link.name) is not str or not link.sources:
            break
        link = link.sources[0].link
    return link


class HolderLinks:
    """The links of one object's fields and items."""

    __slots__ = ("kind", "links")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.links: dict[Any, ValueLink] = {}


def choose_first(equal: Iterator[ValueLink], value: Any) -> ValueLink | None:
    """Return the first link with a value, as inferred if another one may be meant.

    An object is known by its identity; of equal numbers and texts nothing tells which it is.
    """
    found = next(equal, None)
    if found is None or type(value) is tuple or next(equal, None) is None:
        return found
    return found.as_inferred()


def _choose_equal(links: dict[Any, ValueLink], value: Any) -> ValueLink | None:
    """Return the last written item with a value."""
    return choose_first(
        (
            link
            for key, link in reversed(links.items())
            if key[:1] == "[" and is_same(link.value, value)
        ),
        value,
    )


class LinkStore:
    """The links of all objects' fields and items, by the identity of the object."""

    def __init__(self) -> None:
        self._holders: dict[int, HolderLinks] = {}
        self._moved = 0  # items without a known position

    def forget(self, holder: Any) -> None:
        """Drop the links of an earlier object of the same identity: this one is new."""
        self._holders.pop(id(holder), None)

    def of(self, holder: Any, *, makes: bool = False) -> HolderLinks | None:
        """Return the links of an object; an earlier object of another type does not count."""
        kind = _NAME_OF(type(holder))
        found = self._holders.get(id(holder))
        if found is not None and found.kind == kind:
            return found
        if not makes:
            return None
        return self._add_holder(id(holder), kind)

    def put(self, holder: Any, key: Any, link: ValueLink) -> None:
        """Store the link of a field or an item."""
        links = self.of(holder, makes=True).links  # type: ignore[union-attr]
        # Re-inserted at the end, so that the order is that of the writes.
        links.pop(key, None)
        if len(links) >= _KEYS:
            del links[next(iter(links))]
        links[key] = link

    def newest(self, holder: Any, key: str) -> ValueLink | None:
        """Return the link under a key if nothing was stored after it."""
        known = self.of(holder)
        last = next(reversed(known.links), None) if known is not None else None
        return known.links[key] if known is not None and last == key else None

    def last_of(self, holder: Any) -> ValueLink | None:
        """Return the link of the last write into a container."""
        known = self.of(holder)
        return next(reversed(known.links.values()), None) if known is not None else None

    def put_of(self, snap: Any, key: str, link: ValueLink) -> None:
        """Store the link of a part of an object that is known by its stored value only."""
        known = self._holders.get(snap[0])
        if known is None or known.kind != snap[1]:
            known = self._add_holder(snap[0], snap[1])
        known.links.pop(key, None)
        known.links[key] = link

    def _add_holder(self, ident: int, kind: str) -> HolderLinks:
        if len(self._holders) >= _HOLDERS:
            del self._holders[next(iter(self._holders))]
        found = self._holders[ident] = HolderLinks(kind)
        return found

    def find(self, holder: Any, key: Any, value: Any) -> ValueLink | None:
        """Return the link of a field or an item that has this value now.

        Items move within their container, so an item is also found by its value.
        """
        known = self.of(holder)
        if known is None:
            return None
        link = known.links.get(key)
        if link is not None and is_same(link.value, value):
            return link
        if link is not None and link.value is MISSING:
            return link.as_inferred()  # it was written here, and what cannot be read
        if key[:1] != "[":
            return None
        if type(value) is tuple and f"[@{value[0]}]" in known.links:
            return known.links[f"[@{value[0]}]"]
        return _choose_equal(known.links, value)

    def take(self, holder: Any, value: Any, *, is_oldest: bool) -> ValueLink | None:
        """Return the link of an item that is taken out: of equal ones the first or the last."""
        known = self.of(holder)
        if known is None:
            return None
        equal = [
            key
            for key, link in known.links.items()
            if key[:1] == "[" and is_same(link.value, value)
        ]
        if not equal:
            return None
        key = equal[0 if is_oldest else -1]
        link = known.links[key]
        if key[:2] == "[+":
            del known.links[key]
        return link if len(equal) == 1 or type(value) is tuple else link.as_inferred()

    def find_of(self, holder: Any, key: str, value: Any) -> ValueLink | None:
        """Return the link of an item of a container that is known by its stored value only."""
        if type(holder) is not tuple:
            return None
        known = self._holders.get(holder[0])
        if known is None or known.kind != holder[1]:
            return None
        link = known.links.get(key)
        return link if link is not None and is_same(link.value, value) else None

    def find_value(
        self, holders: tuple[ValueOperandLink, ...], value: Any, likely: str = ""
    ) -> ValueLink | None:
        """Return the link of the item with a value in one of several containers.

        `likely` is the key at which it is looked for first.
        """
        for one in holders:
            known = self._holders.get(one.value[0]) if type(one.value) is tuple else None
            if known is None or known.kind != one.value[1]:
                continue
            first = known.links.get(likely)
            if first is not None and is_same(first.value, value):
                return first
            link = _choose_equal(known.links, value)
            if link is not None:
                return link
        return None

    def items_of(self, holder: Any) -> list[tuple[str, ValueLink]]:
        """Return the keys and links of a container's items, the last written first."""
        known = self.of(holder)
        if known is None:
            return []
        return [one for one in reversed(known.links.items()) if one[0][:1] == "["]

    def parts_of(self, snap: Any) -> dict[Any, ValueLink]:
        """Return the links of the parts of an object that is known by its stored value only."""
        known = self._holders.get(snap[0]) if type(snap) is tuple else None
        return known.links if known is not None and known.kind == snap[1] else {}

    def find_part(self, snap: Any, keys: tuple[str, ...]) -> tuple[ValueLink | None, int]:
        """Return the link of a part of an object's part, as deep as it is known, and how deep."""
        found = None
        for depth, key in enumerate(keys):
            link = self.parts_of(snap).get(key)
            if link is None:
                return found, depth
            found, snap = link, link.value
        return found, len(keys)

    def drop(self, holder: Any, key: str) -> None:
        """Drop the link of an item that was taken out."""
        known = self.of(holder)
        if known is not None:
            known.links.pop(key, None)

    def move_items(self, holder: Any, moved: Any) -> None:
        """Give the items of a list other positions; `moved` returns the new one, None for unknown.

        An item without a known position is found by its value only.
        """
        known = self.of(holder)
        if known is None:
            return
        links: dict[Any, ValueLink] = {}
        for key, link in known.links.items():
            if key[:1] == "[" and key[1:-1].isdigit():
                place = moved(int(key[1:-1]))
                self._moved += place is None
                links[f"[{place}]" if place is not None else f"[~{self._moved}]"] = link
            else:
                links[key] = link
        known.links = links

    def last_key(self, holder: Any, key: Any) -> ValueLink | None:
        """Return the last known link of a field or an item, whatever its value."""
        known = self.of(holder)
        return known.links.get(key) if known is not None else None

    def copy(self, source: Any, target: Any) -> None:
        """Give a copy of a container the links of the original's items."""
        known = self.of(source)
        if known is not None:
            self.of(target, makes=True).links.update(known.links)  # type: ignore[union-attr]

    def copy_of(self, snap: Any, target: Any) -> None:
        """Give a copy the links of an original that is known by its stored value only."""
        links = self.parts_of(snap)
        if links:
            self.of(target, makes=True).links.update(links)  # type: ignore[union-attr]
