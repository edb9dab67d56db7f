"""Finds what an expression read, and where these values came from, without running any code.

Names, fields and items are read before their statement runs, because it may assign them anew; the
results of calls are known afterwards.
"""

from __future__ import annotations

import ast
from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_OPERANDS = 8  # of one expression
_GENERATES = 0x20 | 0x80 | 0x200  # generators and coroutines
_CLASSES = 5_000
_SCALAR_KEYS = frozenset((str, int, bool, bytes, float, type(None)))
_CONTAINERS = frozenset(
    {("builtins", one) for one in ("dict", "list", "tuple", "str", "bytes", "bytearray")}
    | {("collections", "deque"), ("array", "array")}
)
_CHANGING = frozenset({"dict", "list", "deque", "array"})
_COPYING = frozenset(
    {"list", "dict", "tuple", "set", "sorted", "copy", "deepcopy", "OrderedDict", "deque"}
)
_KEYED = frozenset({"get", "setdefault", "__getitem__"})
_DISPLAYS = (ast.List, ast.Tuple, ast.Dict, ast.Set)
_MRO: Any = type.__dict__["__mro__"].__get__
_NAMES: Any = type.__dict__["__dict__"].__get__
_NAME: Any = type.__dict__["__name__"].__get__
_MODULE_OF: Any = type.__dict__["__module__"].__get__
_MODULE = type(ast)
_FUNCTION = type(lambda: None)
_GETTER = type(_FUNCTION.__dict__["__code__"])
_MEMBER = type(_FUNCTION.__dict__["__globals__"])
_TUPLE_GETTER = type(_NAMES(namedtuple("_Field", "name"))["name"])  # noqa: PYI024
_WRAPPED = (staticmethod, classmethod, property, _FUNCTION)


class FieldPlace:
    """The object that holds a field or an item, its key there, and the value."""

    __slots__ = ("holder", "key", "value")

    def __init__(self, holder: Any, key: str, value: Any) -> None:
        self.holder = holder
        self.key = key
        self.value = value


class OriginReader:
    """Reads expressions in a frame, and finds the links of the values that they read."""

    def __init__(self, links: Any, plans: Any, inputs: Any) -> None:
        self._links = links
        self._plans = plans
        self._inputs = inputs
        self._store = links.LinkStore()
        self.buffers = links.BufferLinks(links, links)
        # The links of items, and the results in caches, which need this reader.
        self.items: Any = None
        self.cached: Any = None
        self.used = links.UsedIterators(self, links, plans)
        self.calls = links.ObjectCalls(self, links)
        self._dicts: dict[int, tuple[Any, Any]] = {}  # by type, which it keeps alive
        self._getters: dict[int, tuple[Any, bool]] = {}
        self._containers: dict[int, tuple[Any, str]] = {}
        self.missing = links.MISSING

    @property
    def store(self) -> Any:
        """The links of all objects."""
        return self._store

    # -- values ------------------------------------------------------------------------------------

    def read(self, node: Any, scope: Any) -> Any:  # noqa: PLR0911 - one for each kind
        """Return the value of a name, a field, an item or a constant; MISSING for any other."""
        if isinstance(node, ast.Name):
            return scope.name_value(node.id)
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            place = self.place(node, scope)
            return place.value if place is not None else self.missing
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.read(node.operand, scope)
            return -value if type(value) in (int, float) else self.missing
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            left, right = self.read(node.left, scope), self.read(node.right, scope)
            if type(left) is int and type(right) is int:
                return left + right if isinstance(node.op, ast.Add) else left - right
        if isinstance(node, ast.Tuple):
            parts = [self.read(one, scope) for one in node.elts]
            return self.missing if self.missing in parts else tuple(parts)
        return self.missing

    def place(self, node: Any, scope: Any) -> FieldPlace | None:
        """Return the place of a field or an item; None if its object cannot be read."""
        base = self.read(node.value, scope)
        if base is self.missing:
            return None
        if isinstance(node, ast.Attribute):
            return self.field_place(base, node.attr)
        key = self.read(node.slice, scope)
        return self.item_place(base, key) if key is not self.missing else None

    def field_place(self, base: Any, name: str) -> FieldPlace:  # noqa: PLR0911 - one for each kind
        """Return the place of a field: the object itself, or the class that has it."""
        kind = type(base)
        if kind is _MODULE:
            names = _MODULE.__dict__["__dict__"].__get__(base)
            return FieldPlace(names, name, names.get(name, self.missing))
        is_class = issubclass(kind, type)
        if not is_class:
            own = self._own_fields(base, kind)
            if own is not None and name in own:
                return FieldPlace(base, f".{name}", own[name])
        for one in _MRO(base if is_class else kind):
            known = _NAMES(one).get(name, self.missing)
            if known is self.missing:
                continue
            if type(known) is _MEMBER and not is_class:
                try:
                    return FieldPlace(base, f".{name}", known.__get__(base))
                except AttributeError:  # an empty slot
                    return FieldPlace(base, f".{name}", self.missing)
            if type(known) is _TUPLE_GETTER and not is_class:  # a field of a named tuple
                return self.item_place(base, known.__reduce__()[1][0])
            if type(known) in _WRAPPED or self._computes(type(known)):
                return FieldPlace(base, f".{name}", self.missing)
            return FieldPlace(one, f".{name}", known)
        return FieldPlace(base, f".{name}", self.missing)

    def _computes(self, kind: type) -> bool:
        """Tell whether the values of a class attribute are those of its `__get__`."""
        known = self._getters.get(id(kind))
        if known is None:
            is_getter = any("__get__" in _NAMES(one) for one in _MRO(kind))
            if len(self._getters) >= _CLASSES:
                self._getters.clear()
            known = self._getters[id(kind)] = (kind, is_getter)
        return bool(known[1])

    def _own_fields(self, base: Any, kind: type) -> dict[str, Any] | None:
        """Return an object's dictionary, by the interpreter's own descriptor."""
        known = self._dicts.get(id(kind))
        if known is None:
            getter = None
            for one in _MRO(kind):
                found = _NAMES(one).get("__dict__", self.missing)
                if found is not self.missing:
                    getter = found if type(found) in (_GETTER, _MEMBER) else None
                    break
            if len(self._dicts) >= _CLASSES:
                self._dicts.clear()
            known = self._dicts[id(kind)] = (kind, getter)
        if known[1] is None:
            return None
        own = known[1].__get__(base)
        return own if type(own) is dict else None

    def parts(self, base: Any, most: int) -> list[tuple[str, str, Any]]:
        """Return the fields and items of an object, each with its key, its text and its value."""
        container = self._container_of(type(base))
        if container == "dict":
            pairs = [(f"[{_key_text(key)}]", one) for key, one in list(dict.items(base))[:most]
                     if _is_plain_key(key)]  # fmt: skip
        elif container in ("list", "tuple"):
            pairs = [(f"[{at}]", base[at]) for at in range(min(len(base), most))]
        else:
            own = self._own_fields(base, type(base)) or {}
            pairs = [(f".{name}", one) for name, one in list(own.items())[:most]
                     if type(name) is str]  # fmt: skip
        return [(key, key, one) for key, one in pairs]

    def last_writes(self, value: Any, most: int) -> tuple[Any, ...]:
        """Return the last writes into a container of the interpreter's own types."""
        is_container = type(value) is set or self._container_of(type(value)) in _CHANGING
        known = self._store.of(value) if is_container else None
        return tuple(known.links.values())[-most:] if known is not None else ()

    def item_place(self, base: Any, key: Any) -> FieldPlace:
        """Return the place of an item of a container of the interpreter's own types."""
        kind = type(base)
        if _NAME(kind) == "ChainMap" and _MODULE_OF(kind) == "collections":
            base = self._mapping_with(base, key)
            kind = type(base)
        value, name = self.missing, f"[{_key_text(key)}]"
        container = self._container_of(kind)
        if container == "dict":
            if _is_plain_key(key):
                value = dict.get(base, key, self.missing)
        elif container and type(key) is int:
            size = len(base)
            if -size <= key < size:
                value = base[key]
                name = f"[{key % size}]"
        elif type(key) is str:
            value = self._inputs.environment_value(base, key, self.missing)
        return FieldPlace(base, name, value)

    def _mapping_with(self, base: Any, key: Any) -> Any:
        """Return the first mapping of a ChainMap that has a key; the ChainMap itself for none."""
        for one in (self._own_fields(base, type(base)) or {}).get("maps", ()):
            if self._container_of(type(one)) != "dict" or not _is_plain_key(key):
                return base  # it may have any key
            if dict.__contains__(one, key):
                return one
        return base

    def is_container(self, value: Any) -> bool:
        """Tell whether a value is a container of the interpreter's own, whose items have links."""
        return type(value) is set or self._container_of(type(value)) != ""

    def _container_of(self, kind: type) -> str:
        """Return the name of the interpreter's own container that a type reads its items as."""
        known = self._containers.get(id(kind))
        if known is None:
            if len(self._containers) >= _CLASSES:
                self._containers.clear()
            known = self._containers[id(kind)] = (kind, _find_container(kind))
        return known[1]

    # -- links -------------------------------------------------------------------------------------

    def load(self, node: Any, scope: Any) -> Any:
        """Return the operand for a name, a field or an item as it is now."""
        links = self._links
        if isinstance(node, ast.Name):
            value = scope.name_value(node.id)
            snap = links.snap_value(value) if value is not self.missing else value
            link = scope.name_link(node.id, snap)
            if type(snap) is tuple:
                link = self.used.find_use(value, snap) or link
            return links.ValueOperandLink(node, link, snap)
        place = self.place(node, scope)
        if place is None or place.value is self.missing:
            return links.ValueOperandLink(node, None, self.missing)
        snap = links.snap_value(place.value)
        found = links.ValueOperandLink(node, self.place_link(place, snap, scope), snap)
        if type(snap) is tuple:
            found.link = self.used.find_use(place.value, snap) or found.link
        owner = found.link.owner if found.link is not None else None
        if owner is not None:
            through = links.find_owner(scope.loaded.get(id(node.value)))
            found.through = through if through is not owner else None
        return found

    def place_link(self, place: FieldPlace, snap: Any, scope: Any) -> Any:
        """Return the link of a field or an item that was seen to be written, or None."""
        link = self._store.find(place.holder, place.key, snap)
        if link is None:
            special = self._inputs.special_item(place.holder, place.key)
            if special:
                link = scope.new_link("input", special, "input", (), snap)
                link.note = special
        return link

    def operand(self, node: Any, scope: Any) -> Any:
        """Return the operand for a node: as it was before the statement, if it was read then."""
        found = scope.loaded.get(id(node))
        if found is None:
            found = self.load(node, scope)
        if found.link is None and isinstance(node, (ast.Attribute, ast.Subscript)):
            link = self._part_link(node, found, scope)
            return self._links.ValueOperandLink(node, link, found.value)
        return found

    def _part_link(self, node: Any, found: Any, scope: Any) -> Any:
        """Return the link of a part whose writing was not seen: that of its object."""
        called = scope.returned(node, getattr(node, "attr", ""))
        if called is not None:  # a property of the program's own
            return called
        known = self.find_by_snap(node, scope)
        if known is not None and (
            found.value is self.missing or self._links.is_same(known.value, found.value)
        ):
            return known
        how, sources = self.origin(node.value, scope, self.missing)
        if not sources and how not in ("input", "new", "constant"):
            return None
        is_field = isinstance(node, ast.Attribute)
        name = f".{node.attr}" if is_field else f"[{self._plans.node_text(node.slice)}]"
        if how not in ("copy", ""):
            inner = scope.new_link("value", node.value, how, sources, self.missing)
            inner.note = scope.note
            sources = (self._links.ValueOperandLink(node.value, inner, self.missing),)
        if not is_field and isinstance(node.slice, ast.Slice):
            # Of a sequence a slice is a part, and its ends are operands.
            sources = (*sources[:1], *self.leaves(node.slice, scope))
        link = scope.new_link("part", name, "part", sources, found.value)
        link.is_inferred = not self._is_sliced(node, scope)
        return link

    def _is_sliced(self, node: Any, scope: Any) -> bool:
        """Tell whether an expression is a slice of a sequence of the interpreter's own types."""
        if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice):
            return False
        return self._container_of(type(self.read(node.value, scope))) not in ("", "dict")

    def find_by_snap(self, node: Any, scope: Any) -> Any:  # noqa: PLR0911 - one for each kind
        """Return the link of a part of a call's result, which no name holds: `f(x)[0].a`."""
        if isinstance(node, ast.Call):
            return self._find_result(node, scope, self.missing)
        if not isinstance(node, (ast.Attribute, ast.Subscript)):
            return None
        called = scope.returned(node, "")
        if called is not None:
            return called
        base = self.find_by_snap(node.value, scope)
        if base is None:
            return None
        if isinstance(node, ast.Attribute):
            return self._store.parts_of(base.value).get(f".{node.attr}")
        key = self.read(node.slice, scope)
        if key is self.missing:
            return None
        return self._store.parts_of(base.value).get(f"[{_key_text(key)}]")

    def origin(  # noqa: PLR0911 - one for each kind
        self, node: Any, scope: Any, value: Any
    ) -> tuple[str, tuple[Any, ...]]:
        """Return how an expression made its value (see `ValueLink.how`), and what it read."""
        scope.note = ""
        while isinstance(node, (ast.Await, ast.NamedExpr, ast.Starred, ast.YieldFrom)):
            node = node.value
        if isinstance(node, ast.Constant):
            return "constant", ()
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            return self._read_origin(node, scope, value)
        if isinstance(node, ast.Call):
            return self._call_origin(node, scope, value)
        if isinstance(node, (ast.IfExp, ast.BoolOp)):
            return self._chosen_origin(node, scope, value)
        if isinstance(node, _DISPLAYS):
            return "new", tuple(self.leaves(node, scope))
        if self._plans.is_comprehension(node):
            return "new", tuple(self.leaves(node, scope))
        if isinstance(node, ast.Lambda):
            return "constant", ()
        called = scope.returned(node, "")
        if called is not None:  # an operator of a class of the program's own
            return "copy", (self._links.ValueOperandLink(node, called, called.value),)
        leaves = tuple(self.leaves(node, scope))
        return ("computed", leaves) if leaves else ("constant", ())

    def _read_origin(self, node: Any, scope: Any, value: Any) -> tuple[str, tuple[Any, ...]]:
        found = self.operand(node, scope)
        if isinstance(node, ast.Subscript):
            equal = self.items.find_equal_item(node, found.link, scope, value)
            if equal is not None:
                return "copy", (self._links.ValueOperandLink(node, equal, value),)
            return self._selected(found, node.value, node.slice, scope)
        return "copy", (found,)

    def _chosen_origin(self, node: Any, scope: Any, value: Any) -> tuple[str, tuple[Any, ...]]:
        """Return the origin of the operand that an `or` or a conditional has chosen."""
        parts = node.values if isinstance(node, ast.BoolOp) else [node.body, node.orelse]
        called: list[Any] = [one for one in parts if isinstance(one, ast.Call)
                  and scope.returned(one, self._plans.call_name(one)) is not None]  # fmt: skip
        if isinstance(node, ast.IfExp) and len(called) == 1:
            parts = called  # the other branch did not run
        found = []
        for one in parts:
            known = self.read(one, scope)
            if isinstance(one, (ast.Name, ast.Attribute, ast.Subscript)):
                known = self.operand(one, scope).value
            elif known is not self.missing:
                known = self._links.snap_value(known)
            if isinstance(one, ast.Call):
                link = scope.returned(one, self._plans.call_name(one))
                known = link.value if link is not None else self.missing
            if known is not self.missing and self._links.is_same(known, value):
                found.append(one)
        if len(found) == 1 and isinstance(node, ast.IfExp) and isinstance(found[0], ast.Constant):
            # The condition decides about a constant.
            tested = tuple(self.leaves(node.test, scope))
            return ("computed", tested) if tested else ("constant", ())
        if len(found) == 1:
            return self.origin(found[0], scope, value)
        return "computed", tuple(self.leaves(node, scope))

    def _call_origin(  # noqa: PLR0911 - one for each kind
        self, node: ast.Call, scope: Any, value: Any
    ) -> tuple[str, tuple[Any, ...]]:
        name = self._plans.call_name(node)
        link = self._find_result(node, scope, value)
        made = self._links.ValueOperandLink
        if link is not None:
            if link.kind == "made":
                return "new", (made(node, link, link.value),)
            return "copy", (made(node, link, link.value), *self._key_of(node, scope))
        text = self._inputs.call_input(node, scope, self)
        if text:
            scope.note = text
            return "input", ()
        missed = self.items.find_missed_key(node, scope)
        if missed is not None:
            table, key = missed
            scope.note = self._plans.node_text(table)
            return "missed", (self.operand(key, scope),)
        link = self._buffer_link(node, scope, value)
        if link is not None:
            return "copy", (made(node, link, value),)
        taken = self._taken_item(node, scope, value)
        if taken is not None:
            owner = node.func.value if isinstance(node.func, ast.Attribute) else None
            return self._selected(taken, owner, node.args[0] if node.args else None, scope)
        if name in _COPYING:
            return "copied", tuple(self.leaves(node, scope))
        link = scope.returned_value(value)
        if link is not None:  # through a wrapper or a callback
            return "copy", (made(node, link, link.value),)
        leaves = tuple(self.leaves(node, scope))
        scope.note = name
        if scope.has_unrecorded_call():
            return "unrecorded", leaves
        return self._library_origin(node, leaves, scope, value)

    def _find_result(self, node: ast.Call, scope: Any, value: Any) -> Any:
        """Return the link of what own code returned for a call, now or into a cache."""
        name = self._plans.call_name(node)
        is_known = value is not self.missing
        link = scope.result(node, name, value) if is_known else scope.returned(node, name)
        return link if link is not None else self.cached.find(node, scope, value)

    def _buffer_link(self, node: Any, scope: Any, value: Any) -> Any:
        """Return the link of what a call read from a buffer in memory; None if it is not known."""
        if id(node) not in scope.positions:
            return None
        return self.buffers.find_read(node, self.read(node.func.value, scope), scope, value)

    def _library_origin(
        self, node: ast.Call, leaves: tuple[Any, ...], scope: Any, value: Any
    ) -> tuple[str, tuple[Any, ...]]:
        """Return the origin of the result of code that is not followed; first what it is made of.

        `drawn` is not proved: the other operands may have made the result as well.
        """
        links = self._links
        function = self.read(node.func, scope)
        if type(function) is _FUNCTION and function.__code__.co_flags & _GENERATES:
            return "new", leaves  # its code begins to run where the generator is used

        def read(one: Any) -> Any:
            return self.read(one, scope)

        leaves = links.drop_functions(leaves)
        chosen = links.choose_operand(
            node, leaves, value, read=read, store=self._store, links=links
        )
        first = leaves[0] if chosen is None and len(leaves) == 1 else None
        first = chosen.operand if chosen is not None and chosen.item is None else first
        calls = self.calls.find(node, scope) if first is not None else []
        if calls and first is not None and first.node is getattr(node.func, "value", None):
            # They may have set what the method reads; of several nothing tells which one.
            return ("drawn" if len(calls) == 1 else "library"), (*calls, *leaves)
        if chosen is None:
            if len(leaves) != 1 or type(leaves[0].value) is not tuple:
                return "library", leaves
            return "library", (
                links.add_items(leaves[0], read(leaves[0].node), self._store, links),
            )
        if chosen.item is not None:
            return "copy", (links.ValueOperandLink(chosen.operand.node, chosen.item, value),)
        first = chosen.operand
        others = (one for one in leaves if one is not first)
        return "drawn", (links.add_items(first, read(first.node), self._store, links), *others)

    def _selected(self, item: Any, table: Any, key: Any, scope: Any) -> tuple[str, tuple[Any, ...]]:
        """Return the origin of an item: of a table of constants the key decides, which is first."""
        link = self._links.find_first_item(item.link)
        if link is None or link.kind == "part":
            # A global whose items were not seen to be written since it was made.
            is_constant = isinstance(table, ast.Name) and scope.is_global(table.id)
        else:
            is_constant = link.kind == "item" and link.how == "constant"
        if is_constant and _is_chain(key):
            decides = self.operand(key, scope)
            if decides.link is not None:
                return "selected", (decides, item)
        return "copy", (item, self.operand(key, scope)) if isinstance(key, ast.Name) else (item,)

    def _key_of(self, node: ast.Call, scope: Any) -> tuple[Any, ...]:
        """Return the key with which a call of `get` and the like asked a container."""
        is_keyed = isinstance(node.func, ast.Attribute) and node.func.attr in _KEYED
        key = node.args[0] if is_keyed and node.args else None
        return (self.operand(key, scope),) if isinstance(key, ast.Name) else ()

    def _taken_item(self, node: Any, scope: Any, value: Any) -> Any:
        """Return the operand for `container.get(key)`, `pop()` and the like."""
        made = self._links.ValueOperandLink
        if value is self.missing:
            return None
        if isinstance(node.func, ast.Attribute) and node.args:
            owner, key = self.read(node.func.value, scope), self.read(node.args[0], scope)
            if self.missing not in (owner, key):
                link = self._store.find(owner, f"[{_key_text(key)}]", value)
                if link is not None:
                    return made(node, link, value)
        link = self.items.find_taken(node, scope, value)
        link = link if link is not None else self.items.find_picked(node, scope, value)
        if link is not None:
            return made(node, link, value)
        for one in node.args[1:2]:  # a default
            default = self.operand(one, scope) if _is_chain(one) else None
            if default is not None and self._links.is_same(default.value, value):
                return default
        return None

    def leaves(self, node: Any, scope: Any) -> Iterator[Any]:
        """Yield the operands of an expression: its names, fields, items and calls."""
        count = 0
        waiting = [node]
        bound: set[str] = set()  # the variables of comprehensions
        read: set[str] = set()
        while waiting and count < _OPERANDS:
            one = waiting.pop(0)
            if self._plans.is_comprehension(one):
                bound |= self._plans.bound_names(one)
            if _is_chain(one):
                text = self._plans.node_text(one)
                is_bound = bool(bound) and self._plans.first_name(one) in bound
                if text in read or (is_bound and isinstance(one, ast.Name)):
                    continue
                read.add(text)
                found = None if is_bound else self.operand(one, scope)
                if found is None or (found.value is self.missing and found.link is None):
                    waiting = [*self._plans.parts_of_chain(one), *waiting]
                    continue
                count += 1
                yield found
                continue
            if isinstance(one, ast.Call):
                link = self._result_link(one, scope)
                if link is not None:
                    count += 1
                    yield self._links.ValueOperandLink(one, link, link.value)
                    continue
                for link in scope.yielded_by(self._plans.call_name(one)):
                    count += 1
                    yield self._links.ValueOperandLink(one, link, link.value)
                waiting = [*self._call_parts(one, scope), *waiting]
                continue
            if not isinstance(one, (ast.Lambda, ast.expr_context)):
                waiting = [*ast.iter_child_nodes(one), *waiting]

    def _result_link(self, node: ast.Call, scope: Any) -> Any:
        """Return the link of the result of a call within an expression, or of what it read."""
        link = self._find_result(node, scope, self.missing)
        if link is None:
            link = self._buffer_link(node, scope, self.missing)
        message = "" if link is not None else self._inputs.call_input(node, scope, self)
        if message:
            link = scope.new_link("input", node, "input", (), self.missing)
            link.note = message
        return link

    def _call_parts(self, node: ast.Call, scope: Any) -> Iterator[Any]:
        """Yield the object of a method and the arguments of a call."""
        if isinstance(node.func, ast.Attribute):
            owner = node.func.value
            if type(self.read(owner, scope)) not in (_MODULE, type):  # `struct` of struct.unpack
                yield owner
        yield from node.args
        yield from (one.value for one in node.keywords)


def _is_chain(node: Any) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript))


def _key_text(key: Any) -> str:
    if type(key) in _SCALAR_KEYS:
        return repr(key)[:200]
    if type(key) is tuple and all(type(one) in _SCALAR_KEYS for one in key):
        return repr(key)[:200]
    return "?"


def _is_plain_key(key: Any) -> bool:
    """Tell whether a key's hash and comparison run no code of the program."""
    if type(key) is tuple:
        return all(type(one) in _SCALAR_KEYS for one in key)
    return type(key) in _SCALAR_KEYS


def _find_container(kind: type) -> str:
    """Return the name of the built-in type of a container; "" where a class has its own access."""
    for one in _MRO(kind):
        name, module = _NAME(one), _MODULE_OF(one)
        if (module, name) in _CONTAINERS:
            return str(name)
        if "__getitem__" in _NAMES(one):
            return ""
    return ""
