"""Lists the variables and arguments in scope at an address."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import PurePath
from typing import Final

from debugger.symbols.dwarf import code_spans, function_index, location_lists
from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf.call_frames import CallFrames
from debugger.symbols.dwarf.debug_cache import DebugCache
from debugger.symbols.dwarf.debug_entries import DebugEntry, DebugUnits
from debugger.symbols.dwarf.debug_types import DebugType, TypeKind
from debugger.symbols.dwarf.entry_locations import FunctionStart, PrologueIndex
from debugger.symbols.dwarf.location_evaluation import LocationOperation
from debugger.symbols.dwarf.location_lists import location_operations

WHY: Final = "not known: rustc's debug information says where its address is, not the value"
_RECORDS: Final = {TypeKind.STRUCT, TypeKind.UNION, TypeKind.ARRAY}
_WORD: Final = 8
# Of functions that Rust may call by its own convention (legacy and v0 names).
_MANGLED: Final = ("_ZN", "_R")


def holds_only_address(
    function: DebugEntry,
    address: int,
    kind: DebugType,
    place: tuple[LocationOperation, ...],
    frames: CallFrames,
) -> bool:
    """Return whether a variable's location may be the word on the stack that holds its address.

    Args:
        function: The function, or its inlined copy.
        address: The link-time address for which `place` is.
        kind: The variable's type.
        place: What the debug information has for it.
        frames: The call frame information of the binary.
    """
    # Optimised Rust passes large values by address on the stack, and rustc's debug
    # information loses the indirection: the location is that of the pointer. Values up to a
    # word are passed themselves.
    if len(place) != 1 or kind.kind not in _RECORDS or kind.size <= _WORD:
        return False
    if not _is_rusts(function):
        return False
    offset = _above_frame(function, address, place[0], frames)
    return offset is not None and offset >= 0


def _is_rusts(function: DebugEntry) -> bool:
    if "rustc" not in function.unit.top_entry.get_text(dw.AT_PRODUCER):
        return False
    outer = _outermost_function(function).find_with_attribute(dw.AT_LINKAGE_NAME)
    return outer is not None and outer.get_text(dw.AT_LINKAGE_NAME).startswith(_MANGLED)


def _outermost_function(function: DebugEntry) -> DebugEntry:
    while function.tag != dw.TAG_SUBPROGRAM and function.parent is not None:
        function = function.parent
    return function


def _above_frame(
    function: DebugEntry, address: int, place: LocationOperation, frames: CallFrames
) -> int | None:
    """Return how far above the function's frame a location is; None for other locations."""
    register, offset = place.first, place.second
    if place.name == "fbreg":
        base = location_operations(_outermost_function(function), address, dw.AT_FRAME_BASE)
        if len(base) != 1 or base[0].name != "reg":
            return None
        register, offset = base[0].first, place.first
    elif place.name != "breg":
        return None
    row = frames.rules_at(address)
    if row is None or isinstance(row.cfa, bytes) or row.cfa[0] != register:
        return None
    return offset - row.cfa[1]


_VARIABLES: Final = (dw.TAG_PARAMETER, dw.TAG_VARIABLE)
_TYPES: Final = (dw.TAG_STRUCTURE, dw.TAG_CLASS, dw.TAG_UNION)
_CODE: Final = (dw.TAG_SUBPROGRAM, dw.TAG_LEXICAL_BLOCK)
_UNITS_MAX: Final = 100
_NAMED_MAX: Final = 4
_FILE: Final = re.compile(r"'?([\w./+-]+\.\w+)'?::")
_WITHOUT_TYPE: Final = "without a type: its file was compiled for lines only (-g1)"
LEFT_OUT: Final = "not in the program: the linker left it out"
_OUTER: Final = (dw.TAG_NAMESPACE, dw.TAG_COMPILE_UNIT, dw.TAG_PARTIAL_UNIT, *_TYPES)


class VariableRole(Enum):
    """Says where a variable belongs."""

    ARGUMENT = "argument"
    LOCAL = "local"
    STATIC = "static"
    GLOBAL = "global"


@dataclass(frozen=True, slots=True)
class DebugVariable:
    """Describes a declared variable; `place` is its location expression at the requested address.

    `constant` is the value where the compiler knows it; `is_shadowed` says that an inner one has
    the same name; `why` is the reason for a missing location other than optimization.
    """

    name: str
    role: VariableRole
    type: DebugType
    place: tuple[LocationOperation, ...]
    entry: DebugEntry
    line: int = 0
    # The value, where the compiler knows it and keeps it nowhere.
    constant: bytes | None = None
    # An inner variable has the same name.
    is_shadowed: bool = False
    # Why there is no location, where the reason is not optimization.
    why: str = ""


class ScopeVariables:
    """Lists the variables of one binary, by link-time addresses."""

    def __init__(
        self,
        units: DebugUnits,
        cache: DebugCache,
        entries: PrologueIndex | None = None,
        symbols: Callable[[], Iterable[str]] = tuple,
        frames: Callable[[], CallFrames] | None = None,
    ) -> None:
        self._units = units
        self._symbols = symbols
        self._cache = cache
        self._entries = entries
        self._frames = frames

    def local_variables(self, function: int, address: int) -> tuple[DebugVariable, ...]:
        """List a function's or an inlined copy's arguments and variables in scope, inner last."""
        entry = self._units.find_entry(function)
        if entry is None:
            return ()
        # From the debug information to what a user may see, in four steps:
        #
        # 1. Arguments and variables of the function, and of those blocks that contain the
        #    address. Each has the location that its list has for this address
        #    (location_lists.py).
        # 2. A location that is known to be wrong is removed: dropped by the linker, without a
        #    type, or the address of a Rust value instead of the value.
        # 3. Before the prologue has ended, arguments get the location that they have there
        #    (entry_locations.py), and locals are not set yet.
        # 4. Of several with one name all but the innermost are marked as shadowed; they are
        #    still listed.
        found = [
            self._check_location(one, entry, address) for one in self._variables_in(entry, address)
        ]
        start = (
            self._entries.find_function_start(entry, address) if self._entries is not None else None
        )
        if start is not None:
            base = location_lists.location_operations(entry, start.body_address, dw.AT_FRAME_BASE)
            found = [_at_entry(one, start, address, base) for one in found]
        last = {one.name: number for number, one in enumerate(found)}
        return tuple(
            one if last[one.name] == number else replace(one, is_shadowed=True)
            for number, one in enumerate(found)
        )

    def _check_location(
        self, one: DebugVariable, function: DebugEntry, address: int
    ) -> DebugVariable:
        """Remove a location that is known to be another thing's."""
        if self._frames is not None and holds_only_address(
            function, address, one.type, one.place, self._frames()
        ):
            return replace(one, place=(), why=WHY)
        return one

    def _variables_in(self, entry: DebugEntry, address: int) -> Iterator[DebugVariable]:
        for child in entry.children:
            if child.tag in _VARIABLES and _is_written(child) and not _is_declared(child):
                yield self._make_variable(child, address)
        yield from self._static_variables(entry)
        for child in entry.children:
            if child.tag == dw.TAG_LEXICAL_BLOCK and _holds_address(child, address):
                yield from self._variables_in(child, address)

    def _static_variables(self, entry: DebugEntry) -> Iterator[DebugVariable]:
        """Yield the statics of an optimised function: only its abstract origin has them."""
        origin = entry.get_reference(dw.AT_ABSTRACT_ORIGIN)
        if origin is None:
            return
        # Those that the copy repeats are listed by it already.
        known = {one.get_reference(dw.AT_ABSTRACT_ORIGIN) for one in entry.children}
        for child in origin.children:
            if (
                child.tag == dw.TAG_VARIABLE
                and child.has_attribute(dw.AT_LOCATION)
                and child not in known
            ):
                yield self._make_variable(child, 0)

    def _make_variable(self, entry: DebugEntry, address: int) -> DebugVariable:
        kind = self.type_of(entry.type)
        place = location_lists.location_operations(entry, address)
        holder = entry.find_with_attribute(dw.AT_DECL_LINE)
        if not place and not entry.has_attribute(dw.AT_LOCATION):
            # A static local's place stands at its abstract origin.
            origin = entry.find_with_attribute(dw.AT_LOCATION)
            place = (
                location_lists.location_operations(origin, address) if origin is not None else ()
            )
        why = LEFT_OUT if self._is_discarded(place) else ""
        if kind.entry is None and not why:
            why = _WITHOUT_TYPE
        return DebugVariable(
            entry.name,
            _variable_role(entry, place),
            kind,
            () if why else place,
            entry,
            (holder.get_number(dw.AT_DECL_LINE) if holder is not None else None) or 0,
            _constant_bytes(entry, kind),
            why=why,
        )

    def _is_discarded(self, place: tuple[LocationOperation, ...]) -> bool:
        """Return whether a location is one that the linker dropped: it wrote 0, or nearly."""
        if not place or place[0].name != "addr" or _is_thread_local(place):
            return False
        return not self._units.is_loaded(place[0].first)

    def type_of(self, entry: DebugEntry | None) -> DebugType:
        """Return the type of an entry; one that is only declared is searched in all units."""
        return DebugType(entry, self._find_definition)

    def frame_base(self, function: int, address: int) -> tuple[LocationOperation, ...]:
        """Return the expression of the frame base that a function's variables count from."""
        entry = self._units.find_entry(function)
        while entry is not None and entry.tag != dw.TAG_SUBPROGRAM:
            entry = entry.parent
        return (
            location_lists.location_operations(entry, address, dw.AT_FRAME_BASE)
            if entry is not None
            else ()
        )

    def globals_of(self, address: int) -> tuple[DebugVariable, ...]:
        """List the globals of the unit that an address is in."""
        unit = self._units.unit_at_address(address)
        return tuple(self._enclosing_variables(unit.read_entries())) if unit is not None else ()

    def _enclosing_variables(self, entry: DebugEntry) -> Iterator[DebugVariable]:
        for child in entry.children:
            if child.tag == dw.TAG_VARIABLE and (
                child.has_attribute(dw.AT_LOCATION) or child.has_attribute(dw.AT_CONST_VALUE)
            ):
                found = self._make_variable(child, 0)
                if found.why != LEFT_OUT:
                    yield found
            elif child.tag == dw.TAG_NAMESPACE:
                yield from self._enclosing_variables(child)

    def global_named(self, name: str, *, near: int | None = None) -> DebugVariable | None:
        """Find a global, a static or a class's member by its qualified name, or its last parts.

        `main.c::name` is one of a file, `function::name` a function's static. Of several, one in
        the unit of the address `near` is returned; where there is none, `why` names them.
        """
        file = _FILE.match(name)
        plain_name = (name[file.end() :] if file else name.removeprefix("::")).replace(" ", "")
        found = self._find_globals(plain_name) or self._statics_named(plain_name)
        if file is not None:
            found = [one for one in found if _is_file(one.entry.unit.name, file[1])]
        found = [one for one in found if one.why != LEFT_OUT] or found[:1]
        unit = self._units.unit_at_address(near) if near is not None else None
        own = [one for one in found if unit is not None and one.entry.unit.offset == unit.offset]
        found = own or found
        if len({one.place for one in found}) < 2:  # noqa: PLR2004 - one, or copies of it
            return found[0] if found else None
        texts = [_named_in_file(one) for one in found[:_NAMED_MAX]]
        more = "" if len(found) <= _NAMED_MAX else f" and {len(found) - _NAMED_MAX} more"
        return replace(found[0], place=(), why=f"ambiguous: {', '.join(texts)}{more}")

    def _find_globals(self, name: str) -> list[DebugVariable]:
        found = self._units_by_name.get(name) or [
            place
            for known, places in self._units_by_name.items()
            if known.replace(" ", "") == name or known.replace(" ", "").endswith(f"::{name}")
            for place in places
        ]
        entries = [self._units.find_entry(one) for one in found]
        return [self._make_variable(one, 0) for one in entries if one is not None]

    def _statics_named(self, name: str) -> list[DebugVariable]:
        """Find statics of functions, for which there is no common form of a symbol."""
        last = name.rpartition("::")[2]
        # The symbols first: without one of this name no unit needs to be read.
        if not any(_is_static(one, last) for one in self._symbols()):
            return []
        known = [one for one in self._variables_named(last) if _is_within_code(one)]
        known = [one for one in known if f"::{_qualified_static(one)}".endswith(f"::{name}")]
        entries = [self._units.find_entry(one.offset) for one in known]
        found = [self._make_variable(one, 0) for one in entries if one is not None]
        return [one for one in found if one.place and one.role is VariableRole.STATIC]

    @property
    def global_names(self) -> Iterable[str]:
        """The qualified names of all globals."""
        return self._units_by_name.keys()

    def is_local(self, name: str) -> bool:
        """Return whether any function has a variable or an argument of this name."""
        return any(map(_is_within_code, self._variables_named(name)))

    def _variables_named(self, name: str) -> Iterator[DebugEntry]:
        """Yield all entries of a name, keeping nothing of the units that are read."""
        units = function_index.units_naming(self._units, name, self._cache)
        known = [one for one in self._units if units is None or one.offset in units]
        for unit in known[:_UNITS_MAX]:
            root = self._units.make_unit(unit.offset).read_entries()
            yield from (
                one for one in root.walk_descendants() if one.tag in _VARIABLES and one.name == name
            )

    @property
    def _units_by_name(self) -> dict[str, list[int]]:
        return self._cache.get_or_make("globals", dict[str, list[int]], self._read_globals)

    def _read_globals(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for entry in self._all_declarations():
            if entry.tag == dw.TAG_VARIABLE and entry.has_attribute(dw.AT_LOCATION):
                found.setdefault(code_spans.qualified_name(entry), []).append(entry.offset)
        return found

    def type_named(self, name: str) -> DebugType | None:
        """Find a type by its qualified name, in all units."""
        entry = self._find_definition(name)
        return self.type_of(entry) if entry is not None else None

    def _find_definition(self, name: str) -> DebugEntry | None:
        offset = self._cache.get_or_make("types", dict[str, int], self._read_types).get(name)
        return self._units.find_entry(offset) if offset is not None else None

    def _read_types(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for entry in self._all_declarations():
            if (
                entry.tag in _TYPES
                and entry.has_attribute(dw.AT_NAME)
                and not entry.get_flag(dw.AT_DECLARATION)
            ):
                found.setdefault(code_spans.qualified_name(entry), entry.offset)
        return found

    def _all_declarations(self) -> Iterator[DebugEntry]:
        """Yield the entries of namespaces and types in all units, keeping nothing of them."""
        # A new unit for each: the shared ones would keep all their entries in memory.
        for known in self._units:
            waiting = [self._units.make_unit(known.offset).read_entries()]
            while waiting:
                entry = waiting.pop()
                yield entry
                if entry.tag in _OUTER:
                    waiting.extend(reversed(entry.children))


def _at_entry(
    one: DebugVariable, start: FunctionStart, address: int, base: tuple[LocationOperation, ...]
) -> DebugVariable:
    """Return a variable with the location that it has before the function's prologue has ended."""
    if (
        not one.place
        or one.constant is not None
        or one.role not in {VariableRole.ARGUMENT, VariableRole.LOCAL}
    ):
        return one
    if one.role is VariableRole.LOCAL:
        is_unset = start.is_unset(address, one.place, base)
        return replace(one, place=(), why="not set yet") if is_unset else one
    is_listed = location_lists.is_listed(one.entry)
    place = start.location_at(address, one.place, base, one.type.size, is_listed=is_listed)
    return replace(one, place=place or (), why="" if place else start.explain_location)


def _is_thread_local(place: tuple[LocationOperation, ...]) -> bool:
    return bool(place) and place[-1].name == "form_tls_address"


def _is_within_code(entry: DebugEntry) -> bool:
    return entry.parent is not None and entry.parent.tag in _CODE


def _is_static(symbol: str, name: str) -> bool:
    """Return whether a symbol may be of a function's static: `name.0`, `_ZZ1fvE4name`, `f.name`."""
    # Itanium C++ ABI: a local entity, `_ZZ<function>E<name>`; the name follows its length.
    if symbol.startswith("_ZZ"):
        return f"{len(name)}{name}" in symbol
    return symbol == name or symbol.startswith(f"{name}.") or symbol.endswith(f".{name}")


def _qualified_static(entry: DebugEntry) -> str:
    """Return a static's name behind its function's."""
    outer = entry.parent
    while outer is not None and outer.tag != dw.TAG_SUBPROGRAM:
        outer = outer.parent
    return f"{code_spans.qualified_name(outer)}::{entry.name}" if outer is not None else entry.name


def _named_in_file(one: DebugVariable) -> str:
    if _is_within_code(one.entry):
        return _qualified_static(one.entry)
    return f"{PurePath(one.entry.unit.name).name}::{code_spans.qualified_name(one.entry)}"


def _is_file(path: str, name: str) -> bool:
    """Return whether the last parts of a path are these."""
    return path == name or path.endswith(f"/{name}")


def _is_written(entry: DebugEntry) -> bool:
    """Tell a variable of the source from one that the compiler made, as `__for_range`."""
    return bool(entry.name) and not (
        entry.name.startswith("__") and entry.get_flag(dw.AT_ARTIFICIAL)
    )


def _is_declared(entry: DebugEntry) -> bool:
    return entry.get_flag(dw.AT_DECLARATION)


def _holds_address(entry: DebugEntry, address: int) -> bool:
    ranges = entry.code_ranges()
    # A block without code of its own is one that the compiler did not follow.
    return not ranges or any(low <= address < high for low, high in ranges)


def _variable_role(entry: DebugEntry, place: tuple[LocationOperation, ...]) -> VariableRole:
    if entry.tag == dw.TAG_PARAMETER:
        return VariableRole.ARGUMENT
    if entry.parent is not None and entry.parent.tag in _OUTER:
        return VariableRole.GLOBAL
    return (
        VariableRole.STATIC if place and place[0].name in {"addr", "addrx"} else VariableRole.LOCAL
    )


def _constant_bytes(entry: DebugEntry, kind: DebugType) -> bytes | None:
    holder = entry.find_with_attribute(dw.AT_CONST_VALUE)
    found = holder.raw_attribute(dw.AT_CONST_VALUE) if holder is not None else None
    if found is None:
        return None
    content = found[1]
    if isinstance(content, int):
        size = kind.size or 8
        return (content & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    return content.encode() + b"\0" if isinstance(content, str) else content
