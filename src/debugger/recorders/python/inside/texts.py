"""Formats values as short texts, without running a line of the program's own code.

A `__repr__` may be slow, raise, recurse or change the program, as may a property, a metaclass or
`__getattr__`. So none of them is called: the interpreter's own types are read directly, types of
known libraries by the rules of `known_types`, and of every other object the type's name and the
stored fields are shown.
"""

from __future__ import annotations

import sys
from collections import deque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

_CUT = "…"
_HINT = ", str() shows it"
_LITTLE = (f"({_CUT}", f"[{_CUT}", f"{{{_CUT}")  # fields that are not read for their depth
_BITS_MAX = 256  # a larger integer is described by its size
_SMALL = 1_000_000_000  # numbers that are written at once
_FIELDS_SEEN = 64  # items that are read of one container or object
_PLAIN = (bool, float, complex, type(None), type(Ellipsis), type(NotImplemented), range, slice)

_type_dict: Any = type.__dict__
_mro_of: Callable[[type], tuple[type, ...]] = _type_dict["__mro__"].__get__
_name_of: Callable[[type], str] = _type_dict["__name__"].__get__
_names_in: Callable[[type], Any] = _type_dict["__dict__"].__get__
_arguments_of: Any = BaseException.__dict__["args"]
_Function = type(lambda: None)
_Getter = type(_Function.__dict__["__code__"])
_Member = type(_Function.__dict__["__globals__"])
_Module = type(sys)
_Builtin = type(len)
_MISSING = object()
_PLAIN_CONTAINERS = frozenset((list, tuple, dict, set, frozenset, deque, bytearray))


class _BoundMethodSample:
    def method(self) -> None:
        """Exist, so that a bound method's type has a name here."""


_Method = type(_BoundMethodSample().method)


def fields(value: Any) -> list[tuple[str, Any]]:
    """Return an object's stored fields: its dictionary, then its slots."""
    found: list[tuple[str, Any]] = []
    for base in _mro_of(type(value)):
        names = _names_in(base)
        # The descriptors of the interpreter itself: a `__dict__` or a slot that the program has
        # replaced is not read.
        stored = names.get("__dict__", _MISSING)
        if type(stored) is _Getter or type(stored) is _Member:
            inside = stored.__get__(value)
            if type(inside) is dict:
                found += [
                    (name, one) for name, one in _take_first(inside.items()) if type(name) is str
                ]
        slots = names.get("__slots__", _MISSING)
        if slots is not _MISSING:
            for name, descriptor in list(names.items()):
                if type(descriptor) is _Member and name not in ("__dict__", "__weakref__"):
                    one = _read_descriptor(descriptor, value)
                    if one is not _MISSING:
                        found.append((name, one))
    return found


def field(value: Any, name: str) -> tuple[bool, Any]:
    """Read one stored field: whether it exists, and its value."""
    for known, one in fields(value):
        if known == name:
            return True, one
    return False, None


def _read_descriptor(descriptor: Any, value: Any) -> Any:
    try:
        return descriptor.__get__(value)
    except AttributeError:  # an empty slot
        return _MISSING


def _take_first(items: Iterable[Any], most: int = _FIELDS_SEEN) -> list[Any]:
    """Take the first few items; another thread may be changing the container."""
    taken: list[Any] = []
    try:
        for item in items:
            if len(taken) == most:
                break
            taken.append(item)
    except RuntimeError:
        return taken
    return taken


class ValueTexts:
    """Formats values as texts of at most `room` characters each."""

    def __init__(self, room: int, items: int, depth: int, known: Any) -> None:
        self._room = room
        self._known = known
        self._items = items
        self._depth = depth

    def __call__(self, value: Any) -> str:
        """Format a value."""
        kind = type(value)
        # The most frequent case, without a further call.
        if kind is int and -_SMALL < value < _SMALL:
            return str(value)
        try:
            text = self._write_value(value, self._depth)
        # The program may be close to its own limit.
        except (RecursionError, MemoryError):
            text = f"<{_name_of(kind)}>"
        return text if len(text) <= self._room else text[: self._room - 1] + _CUT

    def own_text_type(self, value: Any, text: str) -> str:
        """Return the type whose own `__str__` says more than the text that was made; else "".

        Of a list, a tuple or a dictionary its first element counts, which `str()` of it shows.
        """
        kind = type(value)
        is_element = kind is list or kind is tuple or kind is dict
        if is_element:
            inner = dict.values(value) if kind is dict else value
            first = _take_first(inner, 1)
            kind = type(first[0]) if first else kind
        name = _name_of(kind)
        is_little = any(mark in text for mark in _LITTLE)
        if not is_little or f"{name}(" not in text or _HINT in text:
            return ""
        return name if self._known.has_own_text(kind, is_element=is_element) else ""

    def raised(self, error: BaseException) -> str:
        """Format an exception's message: its arguments, a single text as it is."""
        arguments = _arguments_of.__get__(error)
        if len(arguments) == 1 and type(arguments[0]) is str:
            said = arguments[0]
            return said if len(said) <= self._room else said[: self._room - 1] + _CUT
        return self(arguments)[1:-1].rstrip(",") if arguments else ""

    def _write_value(self, value: Any, depth: int) -> str:  # noqa: PLR0911 - one for each kind
        kind = type(value)
        if kind is str or kind is bytes:
            return self._write_quoted(value, len(value))
        if kind is int:
            bits = value.bit_length()
            return str(value) if bits <= _BITS_MAX else f"<int of {bits} bits>"
        if any(kind is one for one in _PLAIN):
            return (
                repr(value) if kind is not slice and kind is not range else self._write_span(value)
            )
        if kind is _Function or kind is _Builtin:
            return f"<function {value.__qualname__}>"
        if kind is _Method:
            inner = value.__func__
            name = inner.__qualname__ if type(inner) is _Function else _name_of(type(inner))
            return f"<method {name}>"
        if kind is _Module:
            return f"<module {value.__dict__.get('__name__')!s}>"
        return self._write_structured(value, kind, depth)

    def _write_structured(self, value: Any, kind: type, depth: int) -> str:
        """Format a class, a value of a known type, a container, or an object."""
        # By the type's own slot: `__mro__` and `isinstance` can be overridden.
        bases = _mro_of(kind)
        if any(base is type for base in bases):
            return f"<class {_name_of(value)}>"
        if kind not in _PLAIN_CONTAINERS and "_member_map_" not in _names_in(kind):
            known: str = self._known.known_text(
                value, kind, lambda one: self._write_value(one, depth - 1)
            )
            if known:
                return known
        for base, write in _KINDS:
            if any(one is base for one in bases):
                return write(self, value, kind, depth)
        return self._write_fields(value, kind, depth)

    def _write_quoted(self, value: Any, length: int) -> str:
        kind = str if type(value) is str else bytes
        if length <= self._room:
            return repr(value)
        return f"{kind.__getitem__(value, slice(0, self._room))!r}{_CUT}"

    def _write_span(self, value: Any) -> str:
        bounds = (value.start, value.stop, value.step)
        return f"{_name_of(type(value))}({', '.join(self._write_value(one, 0) for one in bounds)})"

    def _write_row(self, values: Iterable[Any], length: int, depth: int) -> str:
        shown = [self._write_value(one, depth - 1) for one in _take_first(values, self._items)]
        if length > len(shown):
            shown.append(f"{_CUT} {length - len(shown)} more")
        return ", ".join(shown)

    def _write_sequence(self, value: Any, kind: type, depth: int) -> str:
        # The methods of the built-in base are called: a subclass may override `__len__` and
        # `__iter__`.
        base: Any = next(one for one in (list, tuple, deque) if one in _mro_of(kind))
        length = base.__len__(value)
        names = _names_in(kind).get("_fields")
        if base is tuple and type(names) is tuple and len(names) == length and depth > 0:
            pairs = [
                f"{name}={self._write_value(tuple.__getitem__(value, at), depth - 1)}"
                for at, name in enumerate(names[: self._items])
            ]
            return f"{_name_of(kind)}({', '.join(pairs)})"
        if depth <= 0 and length:
            inner = f"{_CUT} {length}"
        else:
            inner = self._write_row(base.__iter__(value), length, depth)
            inner += "," if base is tuple and length == 1 else ""
        text = f"({inner})" if base is tuple else f"[{inner}]"
        return text if kind in (list, tuple) else f"{_name_of(kind)}({text})"

    def _write_set(self, value: Any, kind: type, depth: int) -> str:
        base: Any = set if any(one is set for one in _mro_of(kind)) else frozenset
        length = base.__len__(value)
        inner = f"{_CUT} {length}" if depth <= 0 and length else None
        if inner is None:
            # In an order of its own: that of a set differs from run to run.
            shown = sorted(
                self._write_value(one, depth - 1) for one in _take_first(base.__iter__(value))
            )
            more = length - min(len(shown), self._items)
            shown = [*shown[: self._items], *([f"{_CUT} {more} more"] if more > 0 else [])]
            inner = ", ".join(shown)
        text = f"{{{inner}}}"
        return text if kind is set else f"{_name_of(kind)}({text})"

    def _write_dict(self, value: Any, kind: type, depth: int) -> str:
        length = dict.__len__(value)
        if depth <= 0 and length:
            inner = f"{_CUT} {length}"
        else:
            pairs = [
                f"{self._write_value(key, depth - 1)}: {self._write_value(one, depth - 1)}"
                for key, one in _take_first(dict.items(value), self._items)
            ]
            if length > len(pairs):
                pairs.append(f"{_CUT} {length - len(pairs)} more")
            inner = ", ".join(pairs)
        text = f"{{{inner}}}"
        return text if kind is dict else f"{_name_of(kind)}({text})"

    def _write_text(self, value: Any, kind: type, _depth: int) -> str:
        named = self._member_name(value, kind)
        if named:
            return named
        plain = str.__getitem__(value, slice(None))
        return f"{_name_of(kind)}({self._write_quoted(plain, len(plain))})"

    def _write_number(self, value: Any, kind: type, depth: int) -> str:
        named = self._member_name(value, kind)
        if named:
            return named
        return f"{_name_of(kind)}({self._write_value(int.__index__(value), depth)})"

    def _write_real(self, value: Any, kind: type, _depth: int) -> str:
        return f"{_name_of(kind)}({float.__repr__(value)})"

    def _write_octets(self, value: Any, kind: type, _depth: int) -> str:
        plain = bytes(bytearray.__getitem__(value, slice(0, self._room)))
        return f"{_name_of(kind)}({self._write_quoted(plain, bytearray.__len__(value))})"

    def _write_error(self, value: Any, kind: type, depth: int) -> str:
        arguments = _arguments_of.__get__(value)
        return f"{_name_of(kind)}({self._write_row(arguments, len(arguments), max(depth, 1))})"

    def _member_name(self, value: Any, kind: type) -> str:
        """Return the name of an enumeration's member; nothing for other values."""
        if "_member_map_" not in _names_in(kind):
            return ""
        there, name = field(value, "_name_")
        if there and type(name) is str:
            return f"{_name_of(kind)}.{name}"
        return ""

    def _write_fields(self, value: Any, kind: type, depth: int) -> str:
        named = self._member_name(value, kind)
        if named:
            return named
        stored = self._known.shown_fields(fields(value))
        name = _name_of(kind)
        if not stored:
            # A getter of a compiled type runs no Python code.
            shape = _names_in(kind).get("shape", _MISSING)  # an array's, of numpy and its like
            if type(shape) is _Getter:
                return f"<{name} {self._write_value(_read_descriptor(shape, value), 1)}>"
            return f"<{name}{self._length_hint(kind)}>"
        if depth <= 0:
            return f"{name}({_CUT})"
        shown = [
            f"{one}={self._write_value(what, depth - 1)}" for one, what in stored[: self._items]
        ]
        if len(stored) > len(shown):
            shown.append(f"{_CUT} {len(stored) - len(shown)} more")
        text = f"{name}({', '.join(shown)})"
        hint = (
            self._length_hint(kind)
            if all(one.endswith((">", f"({_CUT})")) for one in shown)
            else ""
        )
        return f"{text[: self._room - len(hint)]}{hint}"

    def _length_hint(self, kind: type) -> str:
        """Describe the type's own text format, for values with few stored fields."""
        return _HINT if self._known.has_repr(kind) else ""


_KINDS: tuple[tuple[type, Callable[..., str]], ...] = (
    (list, ValueTexts._write_sequence),  # noqa: SLF001 - the table belongs to the class
    (tuple, ValueTexts._write_sequence),  # noqa: SLF001
    (dict, ValueTexts._write_dict),  # noqa: SLF001
    (set, ValueTexts._write_set),  # noqa: SLF001
    (frozenset, ValueTexts._write_set),  # noqa: SLF001
    (BaseException, ValueTexts._write_error),  # noqa: SLF001
    (str, ValueTexts._write_text),  # noqa: SLF001
    (int, ValueTexts._write_number),  # noqa: SLF001
    (float, ValueTexts._write_real),  # noqa: SLF001
    (deque, ValueTexts._write_sequence),  # noqa: SLF001
    (bytearray, ValueTexts._write_octets),  # noqa: SLF001
)
