"""Finds what an expression read, and where these values came from, without running any code.

Names, fields and items are read before their statement runs, because it may assign them anew; the
results of calls are known afterwards.
"""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_OPERANDS = 8  # of one expression
_PLAIN_SEQUENCES = frozenset({"str", "bytes", "bytearray", "memoryview", "mmap"})
_GENERATES = 0x20 | 0x80 | 0x200  # generators and coroutines
_CHANGING = frozenset({"dict", "list", "deque", "array"})
_COPYING = frozenset(
    {"list", "dict", "tuple", "set", "sorted", "copy", "deepcopy", "OrderedDict", "deque"}
)
_KEYED = frozenset({"get", "setdefault", "__getitem__"})
_DISPLAYS = (ast.List, ast.Tuple, ast.Dict, ast.Set)
_MODULE = type(ast)
_FUNCTION = type(lambda: None)
_CODE = type((lambda: None).__code__)
_BOUND = (staticmethod, classmethod, type(ast.NodeVisitor().visit))
_JOINED = (ast.BinOp, ast.Call, ast.JoinedStr)
_JOINING = frozenset({"computed", "library", "drawn", "unrecorded"})
_MAKING = frozenset({"__new__", "__init__", "__call__"})
_COROUTINE = 0x80
_CACHE = "_lru_cache_wrapper"  # the type of functions that `functools` has given a cache


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
        self.joins = links.JoinedParts(self, links, plans)
        self.used = links.UsedIterators(self, links, plans)
        self.removals = links.RemovedItems(self, links.MISSING)
        self.calls = links.ObjectCalls(self, links)
        self._values = values = links.ValueReader(links, inputs)
        self.missing = links.MISSING
        self.read, self.place = values.read, values.place
        self.field_place, self.item_place = values.field_place, values.item_place
        self.parts, self.is_container = values.parts, values.is_container

    @property
    def store(self) -> Any:
        """The links of all objects."""
        return self._store

    def last_writes(self, value: Any, most: int) -> tuple[Any, ...]:
        """Return the last writes into a container of the interpreter's own types."""
        is_container = type(value) is set or self._values.container_of(type(value)) in _CHANGING
        known = self._store.of(value) if is_container else None
        links = known.links.values() if known is not None else ()
        return tuple(one for one in links if one.how != self._links.REMOVED)[-most:]

    # -- links -------------------------------------------------------------------------------------

    def load(self, node: Any, scope: Any) -> Any:
        """Return the operand for a name, a field or an item as it is now."""
        links = self._links
        if isinstance(node, ast.Name):
            value = scope.name_value(node.id)
            snap = links.snap_value(value) if value is not self.missing else value
            link = scope.name_link(node.id, snap)
            if type(snap) is tuple:
                link = self._find_state(value, snap) or link
            return links.ValueOperandLink(node, link, snap)
        place = self.place(node, scope)
        if place is None or place.value is self.missing:
            return links.ValueOperandLink(node, None, self.missing)
        snap = links.snap_value(place.value)
        found = links.ValueOperandLink(node, self.place_link(place, snap, scope), snap)
        if type(snap) is tuple:
            found.link = self._find_state(place.value, snap) or found.link
        owner = found.link.owner if found.link is not None else None
        if owner is not None:
            through = links.find_owner(scope.loaded.get(id(node.value)))
            found.through = through if through is not owner else None
        return found

    def _find_state(self, value: Any, snap: Any) -> Any:
        """Return the link of what an object is by now: a used up iterator, an emptied list."""
        use = self.used.find_use(value, snap) or self.joins.find_content(value)
        return use or self.removals.find_emptied(value)

    def place_link(self, place: Any, snap: Any, scope: Any) -> Any:
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
        if not isinstance(node, ast.Attribute):
            field = self.joins.find_field(node.value, self.read(node.slice, scope), scope)
            if field is not None:
                return field.link
        is_field = isinstance(node, ast.Attribute)
        calls = [] if is_field else self.calls.find(self.read(node.value, scope))
        if calls:  # as of an `array` that was filled by a method
            how, sources = ("copy" if len(calls) == 1 else "library"), calls
        else:
            how, sources = self.origin(node.value, scope, self.missing)
        if not sources and how not in ("input", "new", "constant"):
            return None
        name = f".{node.attr}" if is_field else f"[{self._plans.node_text(node.slice)}]"
        if how not in ("copy", ""):
            inner = scope.new_link("value", node.value, how, sources, self.missing)
            scope.complete(inner)
            sources = (self._links.ValueOperandLink(node.value, inner, self.missing),)
        if not is_field and isinstance(node.slice, ast.Slice):
            # Of a sequence a slice is a part, and its ends are operands.
            sources = (*sources[:1], *self.leaves(node.slice, scope))
        link = scope.new_link("part", name, "part", sources, found.value)
        link.span = None if is_field else self._span_of(node, sources, scope)
        link.is_inferred = link.span is None and not self._is_sliced(node, scope)
        return link

    def _span_of(self, node: Any, sources: Any, scope: Any) -> tuple[int, int] | None:
        """Return the first and the end position of a part of a text or of bytes."""
        base, part = self.read(node.value, scope), node.slice
        kind = type(base).__name__
        if base is self.missing and sources:  # what was stored of an operand names its type
            base = sources[0].value
            kind = base[1] if type(base) is tuple and base[1:] else type(base).__name__
        is_slice = isinstance(part, ast.Slice)
        if kind not in _PLAIN_SEQUENCES and not (base is self.missing and is_slice):
            return None
        if type(base) is memoryview and base.itemsize != 1:
            return None  # its positions are no bytes
        size: Any = len(base) if type(base) in (str, bytes, bytearray, memoryview) else None
        if not is_slice:
            start = self.read(part, scope)
            return _find_span(start, start + 1 if type(start) is int else None, size)
        start = 0 if part.lower is None else self.read(part.lower, scope)
        end = size if part.upper is None else self.read(part.upper, scope)
        return _find_span(start, end, size) if part.step is None else None

    def _is_sliced(self, node: Any, scope: Any) -> bool:
        """Return whether an expression is a slice of a sequence of the interpreter's own types."""
        if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice):
            return False
        return self._values.container_of(type(self.read(node.value, scope))) not in ("", "dict")

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
        return self._store.parts_of(base.value).get(f"[{self._links.key_text(key)}]")

    def origin(self, node: Any, scope: Any, value: Any) -> tuple[str, tuple[Any, ...]]:
        """Return how an expression made its value (see `ValueLink.how`), and what it read."""
        scope.note, scope.pieces = "", ()
        found = self._find_origin(node, scope, value)
        if isinstance(node, _JOINED) and found[0] in _JOINING:
            pieces, note = self.joins.find_pieces(node, value, scope), scope.note
            scope.note, scope.pieces = note, pieces
        return found

    def _find_origin(  # noqa: PLR0911 - one for each kind
        self, node: Any, scope: Any, value: Any
    ) -> tuple[str, tuple[Any, ...]]:
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
        link = scope.returned(node, name)
        is_result = link is not None and link.kind == "returned" and type(link.callee) is _CODE
        if is_result and self.is_called_back(node, link.callee, scope):
            is_other = not self._links.is_same(link.value, value)
            link = None if is_other or _has_key_function(node) else link
        return link if link is not None else self.cached.find(node, scope, value)

    def is_called_back(self, node: ast.Call, code: Any, scope: Any) -> bool:
        """Return whether code that ran at the position of a call is not what is called there.

        A library called it, as `f` in `max(rows, key=f)`, or a key's `__eq__`.
        """
        name = self._plans.call_name(node)
        if name == "getattr" or code.co_name in (name, f"__{name}__"):
            return False  # `len` gives what `__len__` returned
        function = self.function_of(node, scope)
        if type(function) in _BOUND:
            function = function.__func__
        elif type(function).__name__ == _CACHE:
            function = function.__wrapped__
        kind = type(function)
        if kind is type:
            return code.co_name not in _MAKING and code.co_varnames[:1] != ("_cls",)
        if kind is _FUNCTION:
            # A coroutine's own result is what `asyncio.run` and the like give.
            is_through = "__wrapped__" in function.__dict__ or code.co_flags & _COROUTINE
            return function.__code__ is not code and not is_through
        return kind.__module__ == "builtins" and function is not self.missing

    def function_of(self, call: ast.Call, scope: Any) -> Any:
        """Return the called function; of a method that which its class has."""
        found = self.read(call.func, scope)
        if found is self.missing and isinstance(call.func, ast.Attribute):
            owner = self.read(call.func.value, scope)
            return self._values.class_attribute(owner, call.func.attr)
        return found

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
        calls = self.calls.find_of_method(node, scope) if first is not None else []
        if calls and first is not None and first.node is getattr(node.func, "value", None):
            # They may have set what the method reads; of several nothing tells which one.
            return ("drawn" if len(calls) == 1 else "library"), (*calls, *leaves)
        if chosen is None:
            if len(leaves) != 1 or type(leaves[0].value) is not tuple:
                return "library" if leaves or _is_of_constants(node) else "", leaves
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
            # Of a display: a statement that sets one item is itself what gave the value.
            is_constant = link.kind == "item" and link.how == "constant" and type(link.name) is str
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
            if owner is not self.missing and key is not self.missing:
                link = self._store.find(owner, f"[{self._links.key_text(key)}]", value)
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
        find = self._plans.leaf_nodes
        waiting = [*reversed(find(node))]  # from the end: a table in the source has thousands
        bound: set[str] = set()  # the variables of comprehensions
        read: set[str] = set()
        while waiting and count < _OPERANDS:
            one = waiting.pop()
            if _is_chain(one):
                text = self._plans.node_text(one)
                is_bound = bool(bound) and self._plans.first_name(one) in bound
                if text in read or (is_bound and isinstance(one, ast.Name)):
                    continue
                read.add(text)
                found = None if is_bound else self.operand(one, scope)
                if found is None or (found.value is self.missing and found.link is None):
                    parts = self._plans.parts_of_chain(one)
                    waiting += reversed([each for part in parts for each in find(part)])
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
                parts = list(self._call_parts(one, scope))
            else:  # a comprehension
                bound |= self._plans.bound_names(one)
                parts = list(ast.iter_child_nodes(one))
            waiting += reversed([each for part in parts for each in find(part)])

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


def _has_key_function(node: ast.Call) -> bool:
    """Return whether a function only orders what a call goes through: its results are no result."""
    return any(one.arg == "key" for one in node.keywords)


def _is_of_constants(node: ast.Call) -> bool:
    """Return whether the arguments of a call are constants."""
    given = (*node.args, *(one.value for one in node.keywords))
    read = (ast.Call, ast.Name, ast.Attribute)
    return not any(isinstance(one, read) for each in given for one in ast.walk(each))


def _find_span(start: Any, end: Any, size: int | None) -> tuple[int, int] | None:
    """Return the first and the end position of a slice; None if a value or a size is missing."""
    if type(start) is not int or type(end) is not int:
        return None
    if size is None:
        return (start, end) if 0 <= start <= end else None
    if end == 0 and start < 0:  # of an item at -1
        end = size
    start, end, _ = slice(start, end).indices(size)
    return (start, max(start, end))
