"""Formats values as short texts, without running a line of the program's own code.

A `__repr__` may be slow, raise, recurse or change the program, as may a property, a metaclass or
`__getattr__`. So none of them is called: the interpreter's own types are read directly, types of
known libraries by the rules of `known_types`, and of every other object the type's name and the
stored fields are shown.
"""

from __future__ import annotations

import sys
from _weakref import ref
from collections import deque
from itertools import islice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, ClassVar

    _ChosenWriter = tuple[Any, Callable[..., str], bool | None]

_CUT = "…"
_HINT = ", str() shows it"
_LITTLE = (f"({_CUT}", f"[{_CUT}", f"{{{_CUT}")  # fields that are not read for their depth
_BITS_MAX = 256  # a larger integer is described by its size
_SMALL = 1_000_000_000  # numbers that are written at once
_CLASSES_KEPT = 10_000  # classes of which it is known how their values are written
_FIELDS_SEEN = 64  # items that are read of one container or object
_PLAIN = (bool, float, complex, type(None), type(Ellipsis), type(NotImplemented))

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
# By the class's identity: to hash a class may run its metaclass's code. A name is that of a slot;
# without one it is the dictionary that is read.
_readers: dict[int, tuple[Any, tuple[tuple[str, Any], ...]]] = {}


class _BoundMethodSample:
    def method(self) -> None:
        """Exist, so that a bound method's type has a name here."""


_Method = type(_BoundMethodSample().method)


def fields(value: Any) -> list[tuple[str, Any]]:
    """Return an object's stored fields: its dictionary, then its slots."""
    kind = type(value)
    known = _readers.get(id(kind))
    # Another class may have come to where one was that is gone.
    if known is None or known[0]() is not kind:
        known = _find_readers(kind)
    found: list[tuple[str, Any]] = []
    attributes = None
    for name, read in known[1]:
        if not name:
            # Several bases may have the descriptor of the one dictionary.
            if attributes is None:
                attributes = read(value)
                if type(attributes) is dict:
                    found += _take_first(attributes.items())
            continue
        try:
            found.append((name, read(value)))
        except AttributeError:  # an empty slot
            continue
    for name, _ in found:
        if type(name) is not str:
            return [one for one in found if type(one[0]) is str]
    return found


def _find_readers(kind: type) -> tuple[Any, tuple[tuple[str, Any], ...]]:
    """Find what reads a class's fields, once, since a class has many other names."""
    # The descriptors of the interpreter itself: a `__dict__` or a slot that the program has
    # replaced is not read.
    found: list[tuple[str, Any]] = []
    for base in _mro_of(kind):
        names = _names_in(base)
        stored = names.get("__dict__", _MISSING)
        if type(stored) is _Getter or type(stored) is _Member:
            found.append(("", stored.__get__))
        if "__slots__" in names:
            found += [
                (name, one.__get__)
                for name, one in list(names.items())
                if type(one) is _Member and name not in ("__dict__", "__weakref__")
            ]
    if len(_readers) >= _CLASSES_KEPT:
        _readers.clear()
    known = _readers[id(kind)] = (ref(kind), tuple(found))
    return known


def field(value: Any, name: str) -> tuple[bool, Any]:
    """Read one stored field: whether it exists, and its value."""
    for known, one in fields(value):
        if known == name:
            return True, one
    return False, None


def _has_shown_field(value: Any, kind: type, is_always_shown: Callable[[str], bool]) -> bool:
    """Return whether one of the first fields of an object is always shown; False if in doubt."""
    known = _readers.get(id(kind))
    if known is None or known[0]() is not kind:
        return False
    for name, read in known[1]:
        if not name:
            attributes = read(value)
            first = _take_first(attributes, 1) if type(attributes) is dict else ()
            if first and type(first[0]) is str and is_always_shown(first[0]):
                return True
        elif is_always_shown(name):
            try:
                read(value)
            except AttributeError:  # an empty slot
                continue
            return True
    return False


def _read_descriptor(descriptor: Any, value: Any) -> Any:
    try:
        return descriptor.__get__(value)
    except AttributeError:  # an empty slot
        return _MISSING


def _take_first(items: Iterable[Any], most: int = _FIELDS_SEEN) -> list[Any]:
    """Take the first few items; another thread may be changing the container."""
    taken: list[Any] = []
    try:
        taken.extend(islice(items, most))
    except RuntimeError:  # what was taken before is kept
        return taken
    return taken


class ValueTexts:
    """Formats values as texts of at most `room` characters each."""

    def __init__(self, room: int, items: int, depth: int, known: Any, find_own: Any = None) -> None:
        self._room = room
        # Finds the path of a file of the program's own code: of that nothing is called, not even
        # where it is a known library.
        self._find_own = find_own
        self._known = known
        self._items = items
        self._depth = depth
        # By the identity of a class: a reference to it, what writes its values, and whether it may
        # be a known library's (None: not even a mock).
        self._writers: dict[int, _ChosenWriter] = {}

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
            text = arguments[0]
            return text if len(text) <= self._room else text[: self._room - 1] + _CUT
        return self(arguments)[1:-1].rstrip(",") if arguments else ""

    def _write_value(self, value: Any, depth: int) -> str:
        kind = type(value)
        # This runs for each value of each recorded line, so one lookup decides.
        write = self._exact.get(id(kind))
        return (write or ValueTexts._write_structured)(self, value, kind, depth)

    def _write_structured(self, value: Any, kind: type, depth: int) -> str:
        """Format a class, a value of a known type, or one of a type that derives from ours."""
        chosen = self._writers.get(id(kind))
        if chosen is None or chosen[0]() is not kind:
            chosen = self._choose_writer(kind)
        if chosen[2] or (self._known.has_mocks() and chosen[2] is not None):
            known: str = self._known.known_text(
                value, kind, lambda one: self._write_value(one, depth - 1)
            )
            if known:
                return known
        return chosen[1](self, value, kind, depth)

    def has_fixed_text(self, kind: type) -> bool:
        """Check whether a value of a type, of which one was formatted, always has the same text."""
        chosen = self._writers.get(id(kind))
        if chosen is None or chosen[0]() is not kind:
            return False
        is_known = chosen[2] or chosen[1] is ValueTexts._write_own
        return bool(is_known and self._known.has_fixed_text(kind))

    def _choose_writer(self, kind: type) -> _ChosenWriter:
        """Choose what writes the values of a type."""
        write = None
        # By the type's own slot: `__mro__` and `isinstance` can be overridden.
        for base in _mro_of(kind):
            write = self._derived.get(id(base))
            if write is not None:
                break
        is_enum = "_member_map_" in _names_in(kind)
        is_plain = write is ValueTexts._write_class or is_enum
        may_be_known = None if is_plain else self._known.may_be_known(kind)
        if may_be_known and self._find_own and self._find_own(self._known.library_file(kind)):
            may_be_known, write = None, write or ValueTexts._write_own
        if write is None:
            write = ValueTexts._write_member if is_enum else ValueTexts._write_fields
        if len(self._writers) >= _CLASSES_KEPT:
            self._writers.clear()
        chosen = self._writers[id(kind)] = (ref(kind), write, may_be_known)
        return chosen

    def _write_class(self, value: Any, _kind: type, _depth: int) -> str:
        return f"<class {_name_of(value)}>"

    def _write_plain(self, value: Any, _kind: type, _depth: int) -> str:
        return repr(value)

    def _write_string(self, value: Any, _kind: type, _depth: int) -> str:
        return self._write_quoted(value, len(value))

    def _write_integer(self, value: Any, _kind: type, _depth: int) -> str:
        bits = value.bit_length()
        return str(value) if bits <= _BITS_MAX else f"<int of {bits} bits>"

    def _write_function(self, value: Any, _kind: type, _depth: int) -> str:
        return f"<function {value.__qualname__}>"

    def _write_method(self, value: Any, _kind: type, _depth: int) -> str:
        inner = value.__func__
        name = inner.__qualname__ if type(inner) is _Function else _name_of(type(inner))
        return f"<method {name}>"

    def _write_module(self, value: Any, _kind: type, _depth: int) -> str:
        return f"<module {value.__dict__.get('__name__')!s}>"

    def _write_quoted(self, value: Any, length: int) -> str:
        kind = str if type(value) is str else bytes
        if length <= self._room:
            return repr(value)
        return f"{kind.__getitem__(value, slice(0, self._room))!r}{_CUT}"

    def _write_span(self, value: Any, kind: type, _depth: int) -> str:
        bounds = (value.start, value.stop, value.step)
        return f"{_name_of(kind)}({', '.join(self._write_value(one, 0) for one in bounds)})"

    def _write_row(self, values: Iterable[Any], length: int, depth: int) -> str:
        shown: list[str] = []
        left = self._room
        for one in _take_first(values, self._items):
            text = self._write_value(one, depth - 1)
            shown.append(text)
            left -= len(text)
            if left < 0:  # the rest would be cut off
                break
        if length > len(shown):
            shown.append(f"{_CUT} {length - len(shown)} more")
        return ", ".join(shown)

    def _write_sequence(self, value: Any, kind: type, depth: int) -> str:
        # The methods of the built-in base are called: a subclass may override `__len__` and
        # `__iter__`.
        base: Any = kind
        names = None
        if not (kind is list or kind is tuple or kind is deque):
            base = next(
                one for base in _mro_of(kind) for one in (list, tuple, deque) if one is base
            )
            names = _names_in(kind).get("_fields")
        length = base.__len__(value)
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
        return text if kind is list or kind is tuple else f"{_name_of(kind)}({text})"

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
            pairs: list[str] = []
            left = self._room
            for key, one in _take_first(dict.items(value), self._items):
                text = f"{self._write_value(key, depth - 1)}: {self._write_value(one, depth - 1)}"
                pairs.append(text)
                left -= len(text)
                if left < 0:  # the rest would be cut off
                    break
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

    def _write_member(self, value: Any, kind: type, depth: int) -> str:
        return self._member_name(value, kind) or self._write_fields(value, kind, depth)

    def _write_own(self, value: Any, kind: type, depth: int) -> str:
        text: str = self._known.structure_text(value, kind)
        # Where there is more than the library's own fields, the name alone says too little.
        is_name = text == _name_of(kind) and any(one[:1] != "_" for one, _ in fields(value))
        return text if text and not is_name else self._write_fields(value, kind, depth)

    def _write_fields(self, value: Any, kind: type, depth: int) -> str:
        # Most objects are within another one, and not shown.
        if depth <= 0 and _has_shown_field(value, kind, self._known.is_always_shown):
            return f"{_name_of(kind)}({_CUT})"
        stored = self._known.shown_fields(fields(value))
        name: str = _name_of(kind)
        if not stored:
            # A getter of a compiled type runs no Python code.
            shape = _names_in(kind).get("shape", _MISSING)  # an array's, of numpy and its like
            if type(shape) is _Getter:
                return f"<{name} {self._write_value(_read_descriptor(shape, value), 1)}>"
            return f"<{name}{self._length_hint(kind)}>"
        if depth <= 0:
            return f"{name}({_CUT})"
        shown: list[str] = []
        left, is_little = self._room, True
        for one, what in stored[: self._items]:
            text = self._write_value(what, depth - 1)
            shown.append(f"{one}={text}")
            left -= len(text)
            is_little = is_little and text.endswith((">", f"({_CUT})"))
            if left < 0 and not is_little:  # the rest would be cut off
                break
        if len(stored) > len(shown):
            shown.append(f"{_CUT} {len(stored) - len(shown)} more")
            is_little = False
        text = f"{name}({', '.join(shown)})"
        hint = self._length_hint(kind) if is_little else ""
        return f"{text[: self._room - len(hint)]}{hint}"

    def _length_hint(self, kind: type) -> str:
        """Describe the type's own text format, for values with few stored fields."""
        return _HINT if self._known.has_repr(kind) else ""

    _containers: ClassVar[tuple[tuple[type, Callable[..., str]], ...]] = (
        (list, _write_sequence),
        (tuple, _write_sequence),
        (deque, _write_sequence),
        (dict, _write_dict),
        (set, _write_set),
        (frozenset, _write_set),
        (bytearray, _write_octets),
        (type, _write_class),
    )
    # By the identity of each type: to hash a type may run code of its metaclass.
    _exact: ClassVar[dict[int, Callable[..., str]]] = {
        **{id(kind): write for kind, write in _containers},
        **dict.fromkeys(map(id, _PLAIN), _write_plain),
        **dict.fromkeys(map(id, (range, slice)), _write_span),
        **dict.fromkeys(map(id, (str, bytes)), _write_string),
        **dict.fromkeys(map(id, (_Function, _Builtin)), _write_function),
        id(int): _write_integer,
        id(_Method): _write_method,
        id(_Module): _write_module,
    }
    # Of types that derive from these.
    _derived: ClassVar[dict[int, Callable[..., str]]] = {
        **{id(kind): write for kind, write in _containers},
        id(BaseException): _write_error,
        id(str): _write_text,
        id(int): _write_number,
        id(float): _write_real,
    }
