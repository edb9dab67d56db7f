"""Finds the links of items that go through containers: pushed and popped, looped over, unpacked.

An item that is an object is known by its identity wherever its container moves it. A tuple that is
unpacked at once is gone afterwards, so it is known by the values that it held.
"""

from __future__ import annotations

import ast
from collections import deque
from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_GROWING = frozenset({"append", "add", "appendleft", "insert", "put", "put_nowait"})
_PUSHING = frozenset(
    {"heappush", "heappushpop", "heapreplace", "insort", "insort_left", "insort_right"}
)
_POPPING = frozenset({"heappop", "heappushpop", "heapreplace"})
_PICKING = frozenset({"max", "min"})  # they give one of the items that they went through
_NEWEST = frozenset({"pop"})
_TAKING = frozenset({"get", "get_nowait", "pop", "setdefault", "popleft", "popitem", "__getitem__"})
_KEYED = frozenset({"get", "setdefault", "__getitem__"})
_SAME_ITEMS = frozenset({"reversed", "sorted", "list", "tuple", "iter", "set", "values"})
_DISPLAYS = (ast.List, ast.Tuple, ast.Dict, ast.Set)
_CHAINS = (ast.Name, ast.Attribute, ast.Subscript)
_PLAIN_KEYS = (str, bytes, int, float, bool, type(None))
_ELEMENTS = 500  # of a new container
_COMPREHENDED = 64  # items of a comprehension whose links are stored
_SEARCHED = 200  # items among which a new one is searched
_BUILTIN = type(len)
_CONTAINERS = (list, set, deque)
_SLOTS: Any = (type(dict.__setitem__), type(dict.__getitem__), type({}.__setitem__))
_FUNCTION = type(lambda: None)


class ItemLinks:
    """Finds and stores the links of items."""

    def __init__(self, reader: Any, links: Any, plans: Any) -> None:
        self._reader = reader
        self._links = links
        self._plans = plans
        self._missing = links.MISSING
        self.moves = links.ItemMoves(reader, self._missing)
        self.merges = links.MergedItems(reader, links, plans)
        self._pushed = 0  # items put into containers that have no key of their own

    def find_picked(self, node: Any, scope: Any, value: Any) -> Any:
        """Return the link of a generator's item that `max` gave, or of what `getattr` read."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in _PICKING:
            return scope.yielded_value(value)
        if name != "getattr" or not node.args[1:]:
            return None
        base, field = (self._reader.read(one, scope) for one in node.args[:2])
        if base is self._missing or type(field) is not str:
            return None
        place = self._reader.field_place(base, field)
        return self._reader.store.find(place.holder, place.key, value)

    def find_equal_item(self, node: Any, link: Any, scope: Any, value: Any) -> Any:
        """Return the last write of an equal item into a call's result whose keys are not known.

        Of a function of a library that is an item of what the call was given.
        """
        is_known = link is not None and not (link.kind == "part" and link.is_inferred)
        if value is self._missing or is_known:
            return None
        base = self._reader.find_by_snap(node.value, scope)
        if base is None and isinstance(node.value, ast.Call):
            given = tuple(self._reader.leaves(node.value, scope))
            return self._reader.store.find_value(given, value)
        parts = self._reader.store.parts_of(base.value) if base is not None else {}
        same = [one for one in parts.values() if self._links.is_same(one.value, value)]
        return same[-1] if same else None

    def find_missed_key(self, call: ast.Call, scope: Any) -> tuple[Any, Any] | None:
        """Return the nodes of a dictionary and of the key that a call of `get` did not find."""
        function = call.func
        if not isinstance(function, ast.Attribute) or function.attr != "get" or not call.args:
            return None
        owner = self._reader.read(function.value, scope)
        key = self._reader.read(call.args[0], scope)
        # Classes of a program's own may compare keys in their own way.
        if type(owner) is not dict or type(key) not in _PLAIN_KEYS or key in owner:
            return None
        return function.value, call.args[0]

    # -- items that are put in ---------------------------------------------------------------------

    def find_pushed(self, call: Any, scope: Any) -> tuple[Any, Any, Any, str] | None:
        """Return the container, the node and the value that a call put into it, and its key."""
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr in _GROWING and call.args:
            name, owner, node = function.attr, self._owner(function.value, scope), call.args[-1]
        elif call.args and (bound := self._growing_method(function, scope)) is not None:
            name, owner, node = bound.__name__, bound.__self__, call.args[-1]
        else:
            name = self._called_name(function, scope)
            if name not in _PUSHING or len(call.args) < 2:  # noqa: PLR2004 - container, item
                return None
            owner, node = self._owner(call.args[0], scope), call.args[1]
        if owner is self._missing:
            return None
        items = _sequence_of(owner)
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Constant)):
            value = self._reader.read(node, scope)
        else:
            value = self._new_item(items, name, node, scope)
        if name == "append" and type(owner) is list:
            return owner, node, value, f"[{len(owner) - 1}]"
        if name == "insert" and type(owner) is list:
            place = self.moves.insert_place(owner, call, scope)
            if place is not None:
                return owner, node, value, f"[{place}]"
        return owner, node, value, self._free_key(value)

    def _growing_method(self, function: Any, scope: Any) -> Any:
        """Return the method of a container that a call's function is by a name of its own."""
        bound: Any = self._reader.read(function, scope) if isinstance(function, _CHAINS) else None
        is_growing = type(bound) is _BUILTIN and getattr(bound, "__name__", "") in _GROWING
        return bound if is_growing and type(bound.__self__) in _CONTAINERS else None

    def _free_key(self, value: Any) -> str:
        """Return the key of an item that has none: an object's, or a number of its own."""
        if value is not self._missing and type(self._links.snap_value(value)) is tuple:
            return f"[@{id(value)}]"
        # Equal numbers and texts are several items.
        self._pushed += 1
        return f"[+{self._pushed}]"

    def _owner(self, node: Any, scope: Any) -> Any:
        """Return a container: that of a chain, or of `d.setdefault(key, [])`."""
        if isinstance(node, ast.Call) and self._plans.call_name(node) == "super":
            first = scope.code.co_varnames[0] if scope.code.co_argcount else ""
            return scope.held.get(first, self._missing)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr not in _KEYED or not node.args:
                return self._missing
            holder, key = (self._reader.read(one, scope) for one in (node.func.value, node.args[0]))
            if holder is self._missing or key is self._missing:
                return self._missing
            return self._reader.item_place(holder, key).value
        return self._reader.read(node, scope)

    def _called_name(self, function: Any, scope: Any) -> str:
        """Return the name that a called function has itself; a program may rename `heappush`."""
        value = self._reader.read(function, scope)
        if type(value) in (_BUILTIN, _FUNCTION):
            return str(value.__name__)
        return ""

    def find_set(self, call: Any, scope: Any) -> tuple[Any, Any, Any, str] | None:
        """Return what a call of `__setitem__` put into a container, as `find_pushed` does.

        That is `super().__setitem__(key, value)` and `dict.__setitem__(self, key, value)`.
        """
        function, nodes = call.func, list(call.args)
        called = self._reader.read(function, scope)
        is_plain = type(called) in _SLOTS and called.__name__ == "__setitem__"
        is_method = isinstance(function, ast.Attribute) and function.attr == "__setitem__"
        if is_method and not is_plain:
            base = self._reader.read(function.value, scope)
            if not issubclass(type(base), type):
                nodes.insert(0, function.value)
        if not (is_plain or is_method) or len(nodes) != 3:  # noqa: PLR2004 - object, key, value
            return None
        owner, key = self._owner(nodes[0], scope), self._reader.read(nodes[1], scope)
        if owner is self._missing:
            return None
        if key is self._missing:
            value = self._reader.read(nodes[2], scope)
            return owner, nodes[2], value, self._free_key(value)
        place = self._reader.item_place(owner, key)
        return owner, nodes[2], place.value, place.key

    def _new_item(self, items: Any, name: str, node: Any, scope: Any) -> Any:
        """Return the object that a call has just put into a list or deque."""
        if not items:
            return self._missing
        if name in ("append", "put", "put_nowait"):
            places: Any = (len(items) - 1,)
        elif name == "appendleft":
            places = (0,)
        elif name in ("heappush", "heappushpop", "heapreplace"):
            places = _heap_path(len(items)) if name == "heappush" else range(len(items))
        else:
            places = range(len(items))
        for at in places[:_SEARCHED]:
            one = items[at]
            if len(places) == 1 or self._is_made_by(node, one, scope):
                return one
        return self._missing

    def _is_made_by(self, node: Any, value: Any, scope: Any) -> bool:
        """Return whether a tuple is the one that a display made, by what can be read of it."""
        if not isinstance(node, ast.Tuple) or type(value) is not tuple:
            return False
        if len(node.elts) != len(value):
            return False
        known = [self._reader.read(one, scope) for one in node.elts]
        return all(
            one is self._missing or one is item or self._is_equal(one, item)
            for one, item in zip(known, value)  # noqa: B905 - of Python 3.8, too
        )

    def _is_equal(self, one: Any, other: Any) -> bool:
        snap = self._links.snap_value
        return bool(self._links.is_same(snap(one), snap(other)))

    # -- items that are taken out ------------------------------------------------------------------

    def find_taken(self, node: Any, scope: Any, value: Any) -> Any:
        """Return the link of an item that a call took from a container; None if it is not known."""
        owner, name = self._taken_owner(node, scope)
        if owner is self._missing or value is self._missing:
            return None
        store = self._reader.store
        if name == "pop" and type(owner) is list:
            link = store.last_key(owner, self._popped_key(node, owner, scope))
            if link is not None and self._links.is_same(link.value, value):
                return link
        return store.take(owner, value, is_oldest=name not in _NEWEST)

    def _popped_key(self, node: Any, owner: Any, scope: Any) -> str:
        """Return the key that an item had which `pop` took out of a list."""
        place = self._reader.read(node.args[0], scope) if node.args else -1
        if type(place) is not int:
            return ""
        return f"[{place + len(owner) + 1 if place < 0 else place}]"

    def _taken_owner(self, node: Any, scope: Any) -> tuple[Any, str]:
        """Return the container that a call takes an item of, and the name of the function."""
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in _TAKING:
            return self._owner(function.value, scope), function.attr
        name = self._called_name(function, scope)
        if name in _POPPING and node.args:
            return self._owner(node.args[0], scope), name
        return self._missing, ""

    def find_taken_parts(self, node: Any, scope: Any, snaps: list[Any]) -> list[Any] | None:
        """Return the links of the parts of a tuple that a call took, and that is unpacked."""
        if not isinstance(node, ast.Call):
            return None
        owner, _ = self._taken_owner(node, scope)
        if owner is self._missing:
            return None
        return self._parts_among(owner, snaps)

    def _parts_among(self, owner: Any, snaps: list[Any]) -> list[Any] | None:
        """Return the links of the parts of the one item of a container that has these parts."""
        store = self._reader.store
        for key, item in store.items_of(owner):
            parts = store.parts_of(item.value)
            if not parts:
                continue
            links = [parts.get(f"[{at}]") for at in range(len(snaps))]
            if all(
                snap is self._missing or (one is not None and self._links.is_same(one.value, snap))
                for one, snap in zip(links, snaps)  # noqa: B905 - of Python 3.8, too
            ):
                store.drop(owner, key)
                return [self._with_item(one, item) for one in links]
        return None

    def _with_item(self, part: Any, item: Any) -> Any:
        """Return a link that leads to a part, by the statement that stored the whole item."""
        if part is None:
            return None
        link = self._links.ValueLink(
            item.kind, item.name, "copy",
            (self._links.ValueOperandLink(part.name, part, part.value),), part.value,
        )  # fmt: skip
        link.take_place(item)
        return link

    # -- items of a loop ---------------------------------------------------------------------------

    def narrow_iterable(self, node: Any, path: tuple[int, ...]) -> tuple[Any, tuple[int, ...]]:
        """Return what a target's elements are of: `rows` for `b` of `a, b` in `enumerate(rows)`.

        The first value is None for the number of the round.
        """
        while isinstance(node, ast.Call) and path:
            name = self._plans.call_name(node)
            if name == "enumerate" and node.args:
                if path[0] != 1:
                    return None, path
                node, path = node.args[0], path[1:]
            elif name == "zip" and path[0] < len(node.args):
                node, path = node.args[path[0]], path[1:]
            else:
                break
        return node, path

    def find_element(self, node: Any, scope: Any, path: tuple[int, ...], snap: Any) -> Any:
        """Return the link of an element that a loop got from an expression.

        Args:
            node: The expression that the loop goes through.
            scope: The call, with the number of the loop's round.
            path: The places of the target within an unpacked element; () for the whole element.
            snap: The stored value of the target.
        """
        name = self._plans.call_name(node) if isinstance(node, ast.Call) else ""
        is_method = name and isinstance(node.func, ast.Attribute)
        if is_method and name == "items" and path[:1] == (1,):
            return self._item_of_dict(node.func.value, scope, path[1:], snap)
        if name in _SAME_ITEMS:
            inner = node.func.value if is_method else next(iter(node.args), None)
            holder = self._reader.read(inner, scope) if inner is not None else self._missing
            return self._element_of(holder, scope, path, snap, is_moved=True)
        holder = self._reader.read(node, scope)
        if holder is self._missing:
            return self._part_of_result(node, scope, (scope.round, *path), snap)
        return self._element_of(holder, scope, path, snap)

    def _part_of_result(self, node: Any, scope: Any, path: tuple[Any, ...], snap: Any) -> Any:
        """Return the link of a part of a call's result, which no name holds."""
        result = self._reader.find_by_snap(node, scope)
        if result is None or any(one is self._missing for one in path):
            return None
        keys = tuple(self._reader.item_place(None, one).key for one in path)
        link, depth = self._reader.store.find_part(result.value, keys)
        return link if depth == len(keys) and self._links.is_same(link.value, snap) else None

    def _item_of_dict(self, node: Any, scope: Any, path: tuple[int, ...], snap: Any) -> Any:
        """Return the link of the value of this round in a dictionary."""
        holder, key = self._reader.read(node, scope), scope.loop_key
        if holder is self._missing:
            return self._part_of_result(node, scope, (key, *path), snap)
        if type(holder) is not dict:
            return None
        if key is self._missing:
            if scope.round >= min(len(holder), _SEARCHED):
                return None
            key = list(holder)[scope.round]
        place = self._reader.item_place(holder, key)
        if not path:
            return self._reader.store.find(holder, place.key, snap)
        return self._part_of(place.value, path, snap)

    def _element_of(
        self, holder: Any, scope: Any, path: tuple[int, ...], snap: Any, *, is_moved: bool = False
    ) -> Any:
        """Return the link of an element, or of its part, in a container that can be read."""
        store = self._reader.store
        if holder is self._missing:
            return None
        if not path:
            return store.find(holder, f"[{scope.round}]", snap)
        if type(holder) in (list, tuple) and not is_moved and scope.round < len(holder):
            return self._part_of(holder[scope.round], path, snap)
        if len(path) > 1:
            return None
        every = store.items_of(holder)[:_SEARCHED]
        parts = (store.parts_of(item.value).get(f"[{path[0]}]") for _, item in every)
        equal = (one for one in parts if one is not None and self._links.is_same(one.value, snap))
        return self._links.choose_first(equal, snap)

    def _part_of(self, value: Any, path: tuple[int, ...], snap: Any) -> Any:
        """Return the link of a part of an element."""
        for at in path[:-1]:
            value = self._reader.item_place(value, at).value
        return self._reader.store.find(value, self._reader.item_place(value, path[-1]).key, snap)

    # -- new containers ----------------------------------------------------------------------------

    def note_new(self, node: Any, value: Any, scope: Any) -> None:
        """Store the links of the items of a container that an expression has made."""
        if self.merges.note_merged(node, value, scope):
            return
        if isinstance(node, (ast.ListComp, ast.DictComp)):
            self._note_comprehension(node, value, scope)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            self._note_joined(node, value, scope)
        else:
            self.note_elements(node, value, scope)

    def note_elements(self, node: Any, value: Any, scope: Any) -> None:
        """Store the links of the items of a display: each comes from its own expression."""
        reader = self._reader
        if isinstance(node, ast.Dict):
            pairs = [
                (reader.read(key, scope), one)
                for key, one in zip(node.keys, node.values)  # noqa: B905 - of Python 3.8, too
                if key is not None
            ]
        elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            pairs = list(enumerate(node.elts[:_ELEMENTS]))
        else:
            return
        for at, one in pairs:
            place = reader.item_place(value, at)
            known = reader.read(one, scope) if isinstance(one, _CHAINS) else self._missing
            known = place.value if known is self._missing else known
            snap = self._links.snap_value(known) if known is not self._missing else known
            scope.value = known
            how, sources = reader.origin(one, scope, snap)
            if isinstance(one, _DISPLAYS) and known is not self._missing:
                reader.store.forget(known)
                self.note_new(one, known, scope)
            link = scope.new_link("item", place.key, how, sources, snap)
            scope.complete(link)
            reader.store.put(value, place.key, link)

    def _note_joined(self, node: Any, value: Any, scope: Any) -> None:
        """Store the links of the items of `a + b`, which are those of both."""
        store, kind = self._reader.store, type(value)
        left, right = self._reader.read(node.left, scope), self._reader.read(node.right, scope)
        if kind not in (list, tuple) or type(left) not in (kind, type(self._missing)):
            return
        count = len(value) - len(right) if type(right) is kind else len(value)
        count = len(left) if type(left) is kind else count
        for at in range(min(len(value), _COMPREHENDED)):
            holder, place = (left, at) if at < count else (right, at - count)
            if type(holder) is not kind:
                continue
            link = store.find(holder, f"[{place}]", self._links.snap_value(value[at]))
            if link is not None:
                store.put(value, f"[{at}]", link)

    def note_slice(self, node: Any, sources: Any, value: Any, scope: Any) -> None:
        """Store the links of a slice's items: each is one of the whole, chosen by the ends."""
        link = sources[0].link if sources else None
        if type(value) not in (list, tuple) or link is None or not link.sources:
            return
        base, *ends = link.sources
        parts = self._reader.store.parts_of(base.value)
        if not parts or base.value == self._links.snap_value(value):
            return  # the whole of a tuple is that tuple
        lower = node.slice.lower
        start = self._reader.read(lower, scope) if lower is not None else 0
        self._reader.store.forget(value)
        for at, one in enumerate(value[:_COMPREHENDED]):
            snap = self._links.snap_value(one)
            found = parts.get(f"[{start + at}]") if type(start) is int and start >= 0 else None
            if found is None or not self._links.is_same(found.value, snap):
                equal = (each for each in parts.values() if self._links.is_same(each.value, snap))
                found = self._links.choose_first(equal, snap)
            if found is not None:
                operand = self._links.ValueOperandLink(node, found, snap)
                item = scope.new_link("item", f"[{at}]", "copy", (operand, *ends), snap)
                item.note = "slice"
                self._reader.store.put(value, f"[{at}]", item)

    # -- comprehensions ----------------------------------------------------------------------------

    def _note_comprehension(self, node: Any, value: Any, scope: Any) -> None:
        """Store the links of the items, each with its element bound to the loop's variables.

        Calls within the comprehension have left the links of their results elsewhere.
        """
        is_dict = isinstance(node, ast.DictComp)
        if len(node.generators) != 1 or type(value) is not (dict if is_dict else list):
            return
        generator = node.generators[0]
        made = node.value if is_dict else node.elt
        source, table = self._read_iterable(generator.iter, scope)
        is_plain = not any(isinstance(one, ast.Call) for one in ast.walk(made))
        targets = [one for one in flatten_target(generator.target) if isinstance(one[0], ast.Name)]
        if type(source) not in (list, tuple) or not is_plain:
            return
        _, origin = self._reader.origin(generator.iter, scope, self._missing)
        values, at = scope.held, 0
        # As many keys as elements are in their order, also where a key cannot be read.
        keys = list(value) if is_dict and len(value) == len(source) else []
        for place in range(min(len(source), _COMPREHENDED)):
            names, links = self._bind_inner(targets, (source, place, origin, table), scope)
            scope.held, scope.inner = {**values, **names}, links
            key = self._reader.read(node.key, scope) if is_dict else at
            key = keys[place] if keys else key
            item = self._reader.item_place(value, key)
            is_known = key is not self._missing and item.value is not self._missing
            snap = self._links.snap_value(item.value) if is_known else self._missing
            scope.value = item.value
            how, operands = self._reader.origin(made, scope, snap)
            pieces = scope.pieces
            if how == "new" and is_known:
                self._reader.store.forget(item.value)
                self.note_elements(made, item.value, scope)
            scope.held, scope.inner = values, {}
            if not is_known:
                continue
            if generator.ifs and not is_dict and not (how == "copy" and operands[0].value == snap):
                continue  # an element that the condition may have left out
            link = scope.new_link("item", item.key, how, operands, snap)
            link.pieces = pieces
            self._reader.store.put(value, item.key, link)
            at += 1

    def _read_iterable(self, node: Any, scope: Any) -> tuple[Any, Any]:
        """Return the elements that a comprehension goes through, and the dictionary they are of."""
        if not isinstance(node, ast.Call):
            return self._reader.read(node, scope), None
        if self._plans.call_name(node) != "items" or not isinstance(node.func, ast.Attribute):
            return self._missing, None
        table = self._reader.read(node.func.value, scope)
        if type(table) is not dict:
            return self._missing, None
        return list(islice(table.items(), _COMPREHENDED)), table

    def _bind_inner(
        self, targets: list[Any], element_of: tuple[Any, int, Any, Any], scope: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the values and the links of a comprehension's variables for one element."""
        source, place, origin, table = element_of
        names: dict[str, Any] = {}
        links: dict[str, Any] = {}
        for target, path in targets:
            one = source[place]
            for step in path:
                one = self._reader.item_place(one, step).value
            snap = self._links.snap_value(one)
            if table is not None:
                name = self._reader.item_place(table, source[place][0]).key
                link = self._reader.store.find(table, name, snap) if path == (1,) else None
            elif path:
                link = self._part_of(source[place], path, snap)
            else:
                link = self._reader.store.find(source, f"[{place}]", snap)
            if link is None and origin:
                link = scope.new_link("part", "element", "part", origin, snap)
                link.is_inferred = True
            names[target.id], links[target.id] = one, link
        return names, links


def flatten_target(target: Any, path: tuple[int, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """Yield each name, field or item that a target binds, and its place in the element.

    Behind a star the places are counted from the end.
    """
    if isinstance(target, (ast.Tuple, ast.List)):
        shift = 0
        for at, one in enumerate(target.elts):
            if isinstance(one, ast.Starred):
                shift = len(target.elts)
            yield from flatten_target(one, (*path, at - shift))
    elif not isinstance(target, ast.Starred):
        yield target, path


def _sequence_of(owner: Any) -> Any:
    """Return the items of a list, a deque or a queue; () for any other container."""
    kind = type(owner)
    if kind is list or (kind.__name__ == "deque" and kind.__module__ == "collections"):
        return owner
    if kind.__module__ in ("queue", "asyncio.queues"):
        inner = getattr(owner, "queue", None) or getattr(owner, "_queue", None)
        return inner if inner is not None else ()
    return ()


def _heap_path(size: int) -> list[int]:
    """Return the places from the end of a heap to its root, on which a new item is."""
    return list(_parents(size - 1))


def _parents(at: int) -> Iterator[int]:
    while at >= 0:
        yield at
        at = (at - 1) // 2 if at else -1
