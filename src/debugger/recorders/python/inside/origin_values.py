"""Reads the values of names, fields and items in a frame, without running any code."""

from __future__ import annotations

import ast
from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OPERATORS: Any = {ast.Add: int.__add__, ast.Sub: int.__sub__, ast.Mult: int.__mul__}
_CLASSES = 5_000
_SCALAR_KEYS = frozenset(map(id, (str, int, bool, bytes, float, type(None))))
_CONTAINERS = frozenset(
    {("builtins", one) for one in ("dict", "list", "tuple", "str", "bytes", "bytearray")}
    | {("collections", "deque"), ("array", "array")}
)
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


class ValueReader:
    """Reads expressions that name a value: names, fields, items and constants."""

    def __init__(self, links: Any, inputs: Any) -> None:
        self._inputs = inputs
        self._dicts: dict[int, tuple[Any, Any]] = {}  # by type, which it keeps alive
        self._getters: dict[int, tuple[Any, bool]] = {}
        self._containers: dict[int, tuple[Any, str]] = {}
        self.missing = links.MISSING

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
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            left, right = self.read(node.left, scope), self.read(node.right, scope)
            if type(left) is int and type(right) is int:
                return _OPERATORS[type(node.op)](left, right)
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            return self._read_type(node, scope)
        if isinstance(node, ast.Tuple):
            parts = [self.read(one, scope) for one in node.elts]
            return self.missing if any(one is self.missing for one in parts) else tuple(parts)
        return self.missing

    def _read_type(self, node: ast.Call, scope: Any) -> Any:
        """Return the class of `type(x)`; MISSING for any other call."""
        if not isinstance(node.func, ast.Name) or scope.name_value(node.func.id) is not type:
            return self.missing
        value = self.read(node.args[0], scope)
        return type(value) if value is not self.missing else value

    def place(self, node: Any, scope: Any) -> FieldPlace | None:
        """Return the place of a field or an item; None if its object cannot be read."""
        base = self.read(node.value, scope)
        if base is self.missing:
            return None
        if isinstance(node, ast.Attribute):
            if node.attr == "__class__":
                return FieldPlace(base, ".__class__", type(base))
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

    def class_attribute(self, base: Any, name: str) -> Any:
        """Return what a class, or the class of an object, has by a name, as it is stored there."""
        if base is self.missing:
            return base
        kind = base if issubclass(type(base), type) else type(base)
        found = (_NAMES(one)[name] for one in _MRO(kind) if name in _NAMES(one))
        return next(found, self.missing)

    def _computes(self, kind: type) -> bool:
        """Return whether the values of a class attribute are those of its `__get__`."""
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
        container = self.container_of(type(base))
        if container == "dict":
            pairs = [(f"[{key_text(key)}]", one) for key, one in list(dict.items(base))[:most]
                     if _is_plain_key(key)]  # fmt: skip
        elif container in ("list", "tuple"):
            pairs = [(f"[{at}]", base[at]) for at in range(min(len(base), most))]
        else:
            own = self._own_fields(base, type(base)) or {}
            pairs = [(f".{name}", one) for name, one in list(own.items())[:most]
                     if type(name) is str]  # fmt: skip
        return [(key, key, one) for key, one in pairs]

    def item_place(self, base: Any, key: Any) -> FieldPlace:
        """Return the place of an item of a container of the interpreter's own types."""
        kind = type(base)
        if _NAME(kind) == "ChainMap" and _MODULE_OF(kind) == "collections":
            base = self._mapping_with(base, key)
            kind = type(base)
        value, name = self.missing, f"[{key_text(key)}]"
        container = self.container_of(kind)
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
            if self.container_of(type(one)) != "dict" or not _is_plain_key(key):
                return base  # it may have any key
            if dict.__contains__(one, key):
                return one
        return base

    def is_container(self, value: Any) -> bool:
        """Check whether a value is a container of the interpreter's own, whose items have links."""
        return type(value) is set or self.container_of(type(value)) != ""

    def container_of(self, kind: type) -> str:
        """Return the name of the interpreter's own container that a type reads its items as."""
        known = self._containers.get(id(kind))
        if known is None:
            if len(self._containers) >= _CLASSES:
                self._containers.clear()
            known = self._containers[id(kind)] = (kind, _find_container(kind))
        return known[1]


def key_text(key: Any) -> str:
    """Return the text of a key, by which the links of items are stored; "?" for an object."""
    if id(type(key)) in _SCALAR_KEYS:
        return repr(key)[:200]
    if type(key) is tuple and all(id(type(one)) in _SCALAR_KEYS for one in key):
        return repr(key)[:200]
    return "?"


def _is_plain_key(key: Any) -> bool:
    """Return whether a key's hash and comparison run no code of the program."""
    if type(key) is tuple:
        return all(id(type(one)) in _SCALAR_KEYS for one in key)
    return id(type(key)) in _SCALAR_KEYS


def _find_container(kind: type) -> str:
    """Return the name of the built-in type of a container; "" where a class has its own access."""
    for one in _MRO(kind):
        name, module = _NAME(one), _MODULE_OF(one)
        if (module, name) in _CONTAINERS:
            return str(name)
        if "__getitem__" in _NAMES(one):
            return ""
    return ""
