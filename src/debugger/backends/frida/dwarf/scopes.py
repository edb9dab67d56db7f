"""Lists the variables and arguments in scope at an address."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import PurePath
from typing import Final

from debugger.backends.frida.dwarf import codes as dw
from debugger.backends.frida.dwarf import locations, naming, spans, stackwords
from debugger.backends.frida.dwarf.cache import Cache
from debugger.backends.frida.dwarf.callframes import CallFrames
from debugger.backends.frida.dwarf.entries import Entry, Units
from debugger.backends.frida.dwarf.operations import Operation
from debugger.backends.frida.dwarf.parameters import FunctionEntries, Start
from debugger.backends.frida.dwarf.types import Type

_VARIABLES: Final = (dw.TAG_PARAMETER, dw.TAG_VARIABLE)
_TYPES: Final = (dw.TAG_STRUCTURE, dw.TAG_CLASS, dw.TAG_UNION)
_CODE: Final = (dw.TAG_SUBPROGRAM, dw.TAG_LEXICAL_BLOCK)
_UNITS_MAX: Final = 100
_NAMED_MAX: Final = 4
_FILE: Final = re.compile(r"'?([\w./+-]+\.\w+)'?::")
_WITHOUT_TYPE: Final = "without a type: its file was compiled for lines only (-g1)"
LEFT_OUT: Final = "not in the program: the linker left it out"
_OUTER: Final = (dw.TAG_NAMESPACE, dw.TAG_COMPILE_UNIT, dw.TAG_PARTIAL_UNIT, *_TYPES)


class Role(Enum):
    """Where a variable belongs."""

    ARGUMENT = "argument"
    LOCAL = "local"
    STATIC = "static"
    GLOBAL = "global"


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable as it is declared; `place` is its expression at the address asked for.

    `constant` is the value where the compiler knows it; `is_shadowed` says that an inner one has
    the same name; `why` says why there is no place, where it is not that it was optimized out.
    """

    name: str
    role: Role
    type: Type
    place: tuple[Operation, ...]
    entry: Entry
    line: int = 0
    constant: bytes | None = None
    is_shadowed: bool = False
    why: str = ""


class Scopes:
    """The variables of one binary, by link-time addresses."""

    def __init__(
        self,
        units: Units,
        cache: Cache,
        entries: FunctionEntries | None = None,
        symbols: Callable[[], Iterable[str]] = tuple,
        frames: Callable[[], CallFrames] | None = None,
    ) -> None:
        self._units = units
        self._symbols = symbols
        self._cache = cache
        self._entries = entries
        self._frames = frames

    def locals(self, function: int, address: int) -> tuple[Variable, ...]:
        """List a function's, or an inlined copy's, arguments and variables in scope, inner last."""
        entry = self._units.entry(function)
        if entry is None:
            return ()
        found = [self._checked(one, entry, address) for one in self._inside(entry, address)]
        start = self._entries.around(entry, address) if self._entries is not None else None
        if start is not None:
            base = locations.operations(entry, start.body, dw.AT_FRAME_BASE)
            found = [_at_entry(one, start, address, base) for one in found]
        last = {one.name: number for number, one in enumerate(found)}
        return tuple(
            one if last[one.name] == number else replace(one, is_shadowed=True)
            for number, one in enumerate(found)
        )

    def _checked(self, one: Variable, function: Entry, address: int) -> Variable:
        """Take away a place that is known to be another thing's."""
        if self._frames is not None and stackwords.holds_only_address(
            function, address, one.type, one.place, self._frames()
        ):
            return replace(one, place=(), why=stackwords.WHY)
        return one

    def _inside(self, entry: Entry, address: int) -> Iterator[Variable]:
        for child in entry.children:
            if child.tag in _VARIABLES and _is_written(child) and not _is_declared(child):
                yield self._variable(child, address)
        yield from self._statics(entry)
        for child in entry.children:
            if child.tag == dw.TAG_LEXICAL_BLOCK and _holds(child, address):
                yield from self._inside(child, address)

    def _statics(self, entry: Entry) -> Iterator[Variable]:
        """Yield the statics of an optimised function: they stand at its abstract origin alone."""
        origin = entry.reference(dw.AT_ABSTRACT_ORIGIN)
        if origin is None:
            return
        known = {one.reference(dw.AT_ABSTRACT_ORIGIN) for one in entry.children}
        for child in origin.children:
            if child.tag == dw.TAG_VARIABLE and child.has(dw.AT_LOCATION) and child not in known:
                yield self._variable(child, 0)

    def _variable(self, entry: Entry, address: int) -> Variable:
        kind = self.type(entry.type)
        place = locations.operations(entry, address)
        holder = entry.holder(dw.AT_DECL_LINE)
        if not place and not entry.has(dw.AT_LOCATION):
            # A static local's place stands at its abstract origin.
            origin = entry.holder(dw.AT_LOCATION)
            place = locations.operations(origin, address) if origin is not None else ()
        why = LEFT_OUT if self._is_left_out(place) else ""
        if kind.entry is None and not why:
            why = _WITHOUT_TYPE
        return Variable(
            entry.name,
            _role(entry, place),
            kind,
            () if why else place,
            entry,
            (holder.number(dw.AT_DECL_LINE) if holder is not None else None) or 0,
            _constant(entry, kind),
            why=why,
        )

    def _is_left_out(self, place: tuple[Operation, ...]) -> bool:
        """Say whether a place is one that the linker left no room for: it wrote 0, or nearly."""
        if not place or place[0].name != "addr" or _is_thread_local(place):
            return False
        return not self._units.is_loaded(place[0].first)

    def type(self, entry: Entry | None) -> Type:
        """Give the type of an entry; one that is only declared is looked for in all units."""
        return Type(entry, self._definition)

    def frame_base(self, function: int, address: int) -> tuple[Operation, ...]:
        """Give the expression of the frame base that a function's variables count from."""
        entry = self._units.entry(function)
        while entry is not None and entry.tag != dw.TAG_SUBPROGRAM:
            entry = entry.parent
        return locations.operations(entry, address, dw.AT_FRAME_BASE) if entry is not None else ()

    def globals_of(self, address: int) -> tuple[Variable, ...]:
        """List the globals of the unit that an address is in."""
        unit = self._units.at(address)
        return tuple(self._outer(unit.entries())) if unit is not None else ()

    def _outer(self, entry: Entry) -> Iterator[Variable]:
        for child in entry.children:
            if child.tag == dw.TAG_VARIABLE and (
                child.has(dw.AT_LOCATION) or child.has(dw.AT_CONST_VALUE)
            ):
                found = self._variable(child, 0)
                if found.why != LEFT_OUT:
                    yield found
            elif child.tag == dw.TAG_NAMESPACE:
                yield from self._outer(child)

    def global_named(self, name: str, *, near: int | None = None) -> Variable | None:
        """Find a global, a static or a class's member by its qualified name, or its last parts.

        `main.c::name` is one of a file, `function::name` a function's static. Of several, one in
        the unit of the address `near` is meant; where there is none, `why` names them.
        """
        file = _FILE.match(name)
        wanted = (name[file.end() :] if file else name.removeprefix("::")).replace(" ", "")
        found = self._globals(wanted) or self._statics_named(wanted)
        if file is not None:
            found = [one for one in found if _is_file(one.entry.unit.name, file[1])]
        found = [one for one in found if one.why != LEFT_OUT] or found[:1]
        unit = self._units.at(near) if near is not None else None
        own = [one for one in found if unit is not None and one.entry.unit.offset == unit.offset]
        found = own or found
        if len({one.place for one in found}) < 2:  # noqa: PLR2004 - one, or copies of it
            return found[0] if found else None
        said = [_named_in_file(one) for one in found[:_NAMED_MAX]]
        more = "" if len(found) <= _NAMED_MAX else f" and {len(found) - _NAMED_MAX} more"
        return replace(found[0], place=(), why=f"ambiguous: {', '.join(said)}{more}")

    def _globals(self, wanted: str) -> list[Variable]:
        found = self._index.get(wanted) or [
            place
            for known, places in self._index.items()
            if known.replace(" ", "") == wanted or known.replace(" ", "").endswith(f"::{wanted}")
            for place in places
        ]
        entries = [self._units.entry(one) for one in found]
        return [self._variable(one, 0) for one in entries if one is not None]

    def _statics_named(self, wanted: str) -> list[Variable]:
        """Find statics of functions, which no symbol names alike: `name`, `function::name`."""
        last = wanted.rpartition("::")[2]
        if not any(_is_static(one, last) for one in self._symbols()):
            return []
        known = [one for one in self._variables_named(last) if _is_within_code(one)]
        known = [one for one in known if f"::{_qualified(one)}".endswith(f"::{wanted}")]
        entries = [self._units.entry(one.offset) for one in known]
        found = [self._variable(one, 0) for one in entries if one is not None]
        return [one for one in found if one.place and one.role is Role.STATIC]

    @property
    def global_names(self) -> Iterable[str]:
        """The qualified names of all globals."""
        return self._index.keys()

    def is_local(self, name: str) -> bool:
        """Say whether any function has a variable or an argument of this name."""
        return any(map(_is_within_code, self._variables_named(name)))

    def _variables_named(self, name: str) -> Iterator[Entry]:
        """Yield all that has a name, keeping nothing of the units that are read for it."""
        units = naming.units_naming(self._units, name, self._cache)
        known = [one for one in self._units if units is None or one.offset in units]
        for unit in known[:_UNITS_MAX]:
            root = self._units.make(unit.offset).entries()
            yield from (one for one in root.walk() if one.tag in _VARIABLES and one.name == name)

    @property
    def _index(self) -> dict[str, list[int]]:
        return self._cache.get("globals", dict[str, list[int]], self._read_globals)

    def _read_globals(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for entry in self._everywhere():
            if entry.tag == dw.TAG_VARIABLE and entry.has(dw.AT_LOCATION):
                found.setdefault(spans.qualified(entry), []).append(entry.offset)
        return found

    def type_named(self, name: str) -> Type | None:
        """Find a type by its qualified name, in all units."""
        entry = self._definition(name)
        return self.type(entry) if entry is not None else None

    def _definition(self, name: str) -> Entry | None:
        offset = self._cache.get("types", dict[str, int], self._read_types).get(name)
        return self._units.entry(offset) if offset is not None else None

    def _read_types(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for entry in self._everywhere():
            if entry.tag in _TYPES and entry.has(dw.AT_NAME) and not entry.flag(dw.AT_DECLARATION):
                found.setdefault(spans.qualified(entry), entry.offset)
        return found

    def _everywhere(self) -> Iterator[Entry]:
        """Yield what is in namespaces and types of all units, keeping nothing of them."""
        for known in self._units:
            waiting = [self._units.make(known.offset).entries()]
            while waiting:
                entry = waiting.pop()
                yield entry
                if entry.tag in _OUTER:
                    waiting.extend(reversed(entry.children))


def _at_entry(one: Variable, start: Start, address: int, base: tuple[Operation, ...]) -> Variable:
    """Give a variable the location that it has before the function's prologue has ended."""
    if not one.place or one.constant is not None or one.role not in {Role.ARGUMENT, Role.LOCAL}:
        return one
    if one.role is Role.LOCAL:
        is_unset = start.is_unset(address, one.place, base)
        return replace(one, place=(), why="not set yet") if is_unset else one
    is_listed = locations.is_listed(one.entry)
    place = start.place(address, one.place, base, one.type.size, is_listed=is_listed)
    return replace(one, place=place or (), why="" if place else start.why)


def _is_thread_local(place: tuple[Operation, ...]) -> bool:
    return bool(place) and place[-1].name == "form_tls_address"


def _is_within_code(entry: Entry) -> bool:
    return entry.parent is not None and entry.parent.tag in _CODE


def _is_static(symbol: str, name: str) -> bool:
    """Say whether a symbol may be of a function's static: `name.0`, `_ZZ1fvE4name`, `f.name`."""
    if symbol.startswith("_ZZ"):
        return f"{len(name)}{name}" in symbol
    return symbol == name or symbol.startswith(f"{name}.") or symbol.endswith(f".{name}")


def _qualified(entry: Entry) -> str:
    """Give a static's name behind its function's."""
    outer = entry.parent
    while outer is not None and outer.tag != dw.TAG_SUBPROGRAM:
        outer = outer.parent
    return f"{spans.qualified(outer)}::{entry.name}" if outer is not None else entry.name


def _named_in_file(one: Variable) -> str:
    if _is_within_code(one.entry):
        return _qualified(one.entry)
    return f"{PurePath(one.entry.unit.name).name}::{spans.qualified(one.entry)}"


def _is_file(path: str, wanted: str) -> bool:
    """Say whether the last parts of a path are these."""
    return path == wanted or path.endswith(f"/{wanted}")


def _is_written(entry: Entry) -> bool:
    """Tell a variable of the source from one that the compiler made, as `__for_range`."""
    return bool(entry.name) and not (entry.name.startswith("__") and entry.flag(dw.AT_ARTIFICIAL))


def _is_declared(entry: Entry) -> bool:
    return entry.flag(dw.AT_DECLARATION)


def _holds(entry: Entry, address: int) -> bool:
    ranges = entry.ranges()
    # A block without code of its own is one that the compiler did not follow.
    return not ranges or any(low <= address < high for low, high in ranges)


def _role(entry: Entry, place: tuple[Operation, ...]) -> Role:
    if entry.tag == dw.TAG_PARAMETER:
        return Role.ARGUMENT
    if entry.parent is not None and entry.parent.tag in _OUTER:
        return Role.GLOBAL
    return Role.STATIC if place and place[0].name in {"addr", "addrx"} else Role.LOCAL


def _constant(entry: Entry, kind: Type) -> bytes | None:
    holder = entry.holder(dw.AT_CONST_VALUE)
    found = holder.raw(dw.AT_CONST_VALUE) if holder is not None else None
    if found is None:
        return None
    content = found[1]
    if isinstance(content, int):
        size = kind.size or 8
        return (content & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    return content.encode() + b"\0" if isinstance(content, str) else content
