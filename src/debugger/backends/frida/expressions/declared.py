"""Lists the names in scope at an address, by the program's debug information.

A scope for `resolve` out of the values of `dwarf`: types become this package's, locations nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial

from debugger.backends.frida.dwarf import codes as dw
from debugger.backends.frida.dwarf import spans
from debugger.backends.frida.dwarf import types as dwarf
from debugger.backends.frida.dwarf.entries import Entry
from debugger.backends.frida.dwarf.functions import Function
from debugger.backends.frida.dwarf.image import Image
from debugger.backends.frida.dwarf.operations import Operation
from debugger.backends.frida.dwarf.scopes import Role
from debugger.backends.frida.dwarf.scopes import Variable as Declaration
from debugger.backends.frida.expressions import places
from debugger.backends.frida.expressions.nodes import (
    Binary,
    Choose,
    Compare,
    Const,
    Load,
    Machine,
    Node,
    Register,
    plus,
)
from debugger.backends.frida.expressions.scope import Absent, Computed, Variable
from debugger.backends.frida.expressions.types import BASIC, Field, Guard, Kind, Type

_KINDS = {
    dwarf.Kind.INTEGER: Kind.INTEGER,
    dwarf.Kind.FLOAT: Kind.REAL,
    dwarf.Kind.BOOL: Kind.BOOLEAN,
    dwarf.Kind.CHARACTER: Kind.CHARACTER,
    dwarf.Kind.POINTER: Kind.POINTER,
    dwarf.Kind.REFERENCE: Kind.REFERENCE,
    dwarf.Kind.STRUCT: Kind.RECORD,
    dwarf.Kind.UNION: Kind.RECORD,
    dwarf.Kind.ENUM: Kind.ENUM,
    dwarf.Kind.ARRAY: Kind.ARRAY,
    dwarf.Kind.FUNCTION: Kind.FUNCTION,
}
_NAMED = frozenset({
    dw.TAG_BASE, dw.TAG_TYPEDEF, dw.TAG_STRUCTURE, dw.TAG_CLASS, dw.TAG_UNION, dw.TAG_ENUMERATION,
})  # fmt: skip
_OUTER = frozenset({
    dw.TAG_NAMESPACE, dw.TAG_STRUCTURE, dw.TAG_CLASS, dw.TAG_UNION, dw.TAG_SUBPROGRAM,
    dw.TAG_LEXICAL_BLOCK,
})  # fmt: skip
_WORD = 8
_WORDS = frozenset({1, 2, 4, 8})


def type_of(known: dwarf.Type) -> Type:
    """Translate a type; what it is made of is translated when it is asked for."""
    kind = _KINDS.get(known.kind, Kind.VOID)
    if kind is Kind.ARRAY:
        return _array(known, known.counts or (None,))
    names = {name: value for value, name in known.enumerators.items()} if kind is Kind.ENUM else {}
    return Type(
        known.name,
        kind,
        known.size,
        known.is_signed,
        target=partial(_target, known),
        fields=partial(_fields, known),
        parameters=partial(_parameters, known),
        enumerators=names,
        declared=known,
    )


def _array(known: dwarf.Type, counts: Sequence[int | None]) -> Type:
    """Make an array of each dimension: DWARF lists the dimensions of the innermost elements."""
    count, rest = counts[0], counts[1:]
    element = _array(known, rest) if rest else type_of(known.target)
    size = element.size * (count or 0)
    return Type(known.name, Kind.ARRAY, size, target=lambda: element, count=count)


def _target(known: dwarf.Type) -> Type:
    return type_of(known.target)


def _fields(known: dwarf.Type) -> tuple[Field, ...]:
    if known.variants:
        return tuple(_cases(known))
    return tuple(
        Field(one.name, partial(type_of, one.type), one.offset, one.bits, one.is_base)
        for one in known.members
        if one.offset is not None
    )


def _cases(known: dwarf.Type) -> Iterator[Field]:
    """Make a member of each case of a Rust enum, with what says that it is the one."""
    place = known.discriminant
    size = place.type.size if place is not None else 0
    mask = (1 << 8 * size) - 1
    values = [one.value & mask for one in known.variants if one.value is not None]
    for one in known.variants:
        guard = None
        if place is not None and place.offset is not None and size in _WORDS:
            own = (one.value & mask,) if one.value is not None else tuple(values)
            guard = Guard(place.offset, size, own, is_other=one.value is None)
        for held in one.members:
            if held.offset is not None and (guard is not None or len(known.variants) == 1):
                yield Field(held.name, partial(type_of, held.type), held.offset, guard=guard)


def _parameters(known: dwarf.Type) -> tuple[Type, ...]:
    return tuple(map(type_of, known.arguments))


class Declared:
    """The names at one link-time address of a binary; `bias` is added for run-time addresses.

    `entry` is the function that is meant, where copies of others are inlined around the address;
    `is_stopped` says that a thread is stopped there, whose thread-local variables are meant.
    """

    def __init__(
        self,
        image: Image,
        address: int,
        *,
        bias: int = 0,
        entry: int | None = None,
        is_stopped: bool = False,
    ) -> None:
        self._is_stopped = is_stopped
        self._image = image
        self._address = address
        self._bias = bias
        self._entry = entry

    @cached_property
    def _functions(self) -> tuple[Function, ...]:
        found = self._image.functions.at(self._address)
        at = next((at for at, one in enumerate(found) if one.entry == self._entry), 0)
        return found[at:]

    @cached_property
    def _locals(self) -> dict[str, Variable]:
        """The variables of all functions around the address; those of inlined copies come first."""
        found: dict[str, Variable] = {}
        for function in reversed(self._functions):
            base = self._image.scopes.frame_base(function.entry, self._address)
            for one in self._image.scopes.locals(function.entry, self._address):
                if not one.is_shadowed:
                    found[one.name] = self._variable(one, base)
        return found

    def _variable(self, one: Declaration, base: Sequence[Operation] = ()) -> Variable:
        kind = type_of(one.type)
        if not one.place and one.constant is not None:
            is_wide = len(one.constant) > _WORD
            value = Const(int.from_bytes(one.constant[:_WORD], "little"), Machine.U64)
            why = Absent("a constant that is too wide to read")
            return Variable(one.name, kind, why if is_wide else Computed(value))
        if one.why:
            return Variable(one.name, kind, Absent(one.why))
        where = places.where(
            one.place, bias=self._bias, frame_base=base, cfa=self._canonical, block=self._block
        )
        return Variable(one.name, kind, where)

    @cached_property
    def _block(self) -> Node | None:
        """Where thread-locals begin, for a thread that is stopped."""
        if not self._is_stopped:
            return None
        below, slot = self._image.binary.block_below, self._image.binary.module_number_slot
        thread = Register("fs_base", Machine.U64)
        if below is not None:
            return plus(thread, -below)
        if slot is None:
            return None
        # The thread's vector of blocks (glibc's dtv): its length, and 16 bytes for each module.
        vector = Load(plus(thread, _WORD), Machine.U64)
        number = Load(Const(slot + self._bias, Machine.U64), Machine.U64)
        offset = Binary("<<", number, Const(4, Machine.U64), Machine.U64)
        block = Load(Binary("+", vector, offset, Machine.U64), Machine.U64)
        is_there = Compare("<=", number, Load(plus(vector, -2 * _WORD), Machine.U64))
        return Choose(is_there, block, Const(0, Machine.U64), Machine.U64)

    @cached_property
    def _canonical(self) -> Node | None:
        row = self._image.frames.row(self._address)
        if row is None or isinstance(row.cfa, bytes) or row.cfa[0] >= len(places.REGISTERS):
            return None
        register, offset = row.cfa
        return plus(Register(places.REGISTERS[register], Machine.U64), offset)

    def variable(self, name: str) -> Variable | None:
        """Find a variable: local, then global by its whole name or its last parts."""
        found = self._locals.get(name)
        if found is not None:
            return found
        known = self._image.scopes.global_named(name, near=self._address)
        return self._variable(known) if known is not None else None

    def names(self) -> Iterable[str]:
        """Name the locals, and the globals of the same file."""
        outer = self._image.scopes.globals_of(self._address)
        return [*self._locals, *(one.name for one in outer), *self._constants]

    def constant(self, name: str) -> tuple[int, Type] | None:
        """Find an enumerator of the same file."""
        return self._constants.get(name)

    @cached_property
    def _constants(self) -> dict[str, tuple[int, Type]]:
        found: dict[str, tuple[int, Type]] = {}
        for entry in self._entries():
            if entry.tag != dw.TAG_ENUMERATION:
                continue
            kind = self._image.scopes.type(entry)
            ours = type_of(kind)
            scope = spans.qualified(entry).rpartition("::")[0]
            for value, name in kind.enumerators.items():
                found.setdefault(f"{kind.name}::{name}", (value, ours))
                if not kind.is_scoped:
                    found.setdefault(name, (value, ours))
                    found.setdefault(f"{scope}::{name}" if scope else name, (value, ours))
        return found

    def type(self, name: str) -> Type | None:
        """Find a type of the same file, else a basic one, by its whole name or its last part."""
        entry = self._types.get(name)
        if entry is not None:
            return type_of(self._image.scopes.type(entry))
        return BASIC.get(name)

    @cached_property
    def _types(self) -> dict[str, Entry]:
        found: dict[str, Entry] = {}
        shorter: dict[str, Entry] = {}
        for entry in self._entries():
            if entry.tag in _NAMED and entry.name:
                found.setdefault(spans.qualified(entry), entry)
                shorter.setdefault(entry.name, entry)
        return shorter | found

    def _entries(self) -> Iterator[Entry]:
        """Yield what the file that the address belongs to declares."""
        unit = self._image.units.at(self._address)
        waiting = list(unit.entries().children) if unit is not None else []
        while waiting:
            entry = waiting.pop()
            yield entry
            if entry.tag in _OUTER:
                waiting.extend(entry.children)

    def arguments(self) -> Sequence[Variable] | None:
        """Return the arguments of the function that the address is in, as they are there."""
        outer = next((one for one in self._functions if not one.is_inlined), None)
        if outer is None:
            return None
        base = self._image.scopes.frame_base(outer.entry, self._address)
        known = self._image.scopes.locals(outer.entry, self._address)
        return [self._variable(one, base) for one in known if one.role is Role.ARGUMENT]

    def incomplete(self) -> str:
        """Say why the debug information lacks variables here."""
        return self._image.incomplete(self._address)
