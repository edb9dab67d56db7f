"""Lists the names in scope at an address, by the program's debug information.

It is a scope for `resolution`: types of `debug_types` become this package's, locations nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial

from debugger.backends.inprocess.expressions import location_nodes
from debugger.backends.inprocess.expressions.location_nodes import (
    AbsentValue,
    ComputedValue,
    ScopeVariable,
)
from debugger.backends.inprocess.expressions.nodes import (
    BASIC,
    BinaryNode,
    CaseGuard,
    ChooseNode,
    CompareNode,
    ConstantNode,
    ExpressionKind,
    ExpressionType,
    LoadNode,
    MachineType,
    Node,
    RecordField,
    RegisterNode,
    add_offset,
)
from debugger.symbols.dwarf import code_spans
from debugger.symbols.dwarf import debug_types as dwarf
from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.debug_entries import DebugEntry
from debugger.symbols.dwarf.function_index import DebugFunction
from debugger.symbols.dwarf.location_evaluation import LocationOperation
from debugger.symbols.dwarf.scope_variables import DebugVariable as Declaration
from debugger.symbols.dwarf.scope_variables import VariableRole

_KINDS = {
    dwarf.TypeKind.INTEGER: ExpressionKind.INTEGER,
    dwarf.TypeKind.FLOAT: ExpressionKind.REAL,
    dwarf.TypeKind.BOOL: ExpressionKind.BOOLEAN,
    dwarf.TypeKind.CHARACTER: ExpressionKind.CHARACTER,
    dwarf.TypeKind.POINTER: ExpressionKind.POINTER,
    dwarf.TypeKind.REFERENCE: ExpressionKind.REFERENCE,
    dwarf.TypeKind.STRUCT: ExpressionKind.RECORD,
    dwarf.TypeKind.UNION: ExpressionKind.RECORD,
    dwarf.TypeKind.ENUM: ExpressionKind.ENUM,
    dwarf.TypeKind.ARRAY: ExpressionKind.ARRAY,
    dwarf.TypeKind.FUNCTION: ExpressionKind.FUNCTION,
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


def type_of(known: dwarf.DebugType) -> ExpressionType:
    """Translate a type; its parts are translated on demand."""
    kind = _KINDS.get(known.kind, ExpressionKind.VOID)
    if kind is ExpressionKind.ARRAY:
        return _array_type(known, known.dimension_counts or (None,))
    names = (
        {name: value for value, name in known.enumerators.items()}
        if kind is ExpressionKind.ENUM
        else {}
    )
    return ExpressionType(
        known.name,
        kind,
        known.size,
        known.is_signed,
        target=partial(_target_type, known),
        fields=partial(_record_fields, known),
        parameters=partial(_parameter_types, known),
        enumerators=names,
        declared=known,
    )


def _array_type(known: dwarf.DebugType, counts: Sequence[int | None]) -> ExpressionType:
    """Make an array of each dimension: DWARF lists the dimensions of the innermost elements."""
    count, rest = counts[0], counts[1:]
    element = _array_type(known, rest) if rest else type_of(known.target_type)
    size = element.size * (count or 0)
    return ExpressionType(
        known.name, ExpressionKind.ARRAY, size, target=lambda: element, count=count
    )


def _target_type(known: dwarf.DebugType) -> ExpressionType:
    return type_of(known.target_type)


def _record_fields(known: dwarf.DebugType) -> tuple[RecordField, ...]:
    if known.variants:
        return tuple(_enum_cases(known))
    return tuple(
        RecordField(one.name, partial(type_of, one.type), one.offset, one.bits, one.is_base)
        for one in known.members
        if one.offset is not None
    )


def _enum_cases(known: dwarf.DebugType) -> Iterator[RecordField]:
    """Make a member of each case of a Rust enum, with the condition under which it holds."""
    place = known.discriminant
    size = place.type.size if place is not None else 0
    mask = (1 << 8 * size) - 1
    # The discriminant may be signed in the debug information; it is compared as unsigned
    # bits.
    values = [one.value & mask for one in known.variants if one.value is not None]
    for one in known.variants:
        guard = None
        if place is not None and place.offset is not None and size in _WORDS:
            own = (one.value & mask,) if one.value is not None else tuple(values)
            guard = CaseGuard(place.offset, size, own, is_other=one.value is None)
        for case in one.members:
            if case.offset is not None and (guard is not None or len(known.variants) == 1):
                yield RecordField(case.name, partial(type_of, case.type), case.offset, guard=guard)


def _parameter_types(known: dwarf.DebugType) -> tuple[ExpressionType, ...]:
    return tuple(map(type_of, known.template_arguments))


class DeclaredNames:
    """Lists the names at one link-time address of a binary; `bias` is added for run-time addresses.

    `entry` selects the function, where copies of others are inlined around the address;
    `is_stopped` says that a thread is stopped there, whose thread-local variables are meant.
    """

    def __init__(
        self,
        image: BinaryImage,
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
    def _enclosing_functions(self) -> tuple[DebugFunction, ...]:
        found = self._image.functions.functions_at(self._address)
        # The frames of inlined copies share an address: `entry` says which of them is looked
        # at.
        at = next((at for at, one in enumerate(found) if one.entry == self._entry), 0)
        return found[at:]

    @cached_property
    def _local_variables(self) -> dict[str, ScopeVariable]:
        """The variables of all functions around the address; those of inlined copies come first."""
        found: dict[str, ScopeVariable] = {}
        for function in reversed(self._enclosing_functions):
            base = self._image.scopes.frame_base(function.entry, self._address)
            for one in self._image.scopes.local_variables(function.entry, self._address):
                if not one.is_shadowed:
                    found[one.name] = self._make_variable(one, base)
        return found

    def _make_variable(
        self, one: Declaration, base: Sequence[LocationOperation] = ()
    ) -> ScopeVariable:
        kind = type_of(one.type)
        if not one.place and one.constant is not None:
            is_wide = len(one.constant) > _WORD
            value = ConstantNode(int.from_bytes(one.constant[:_WORD], "little"), MachineType.U64)
            why = AbsentValue("a constant that is too wide to read")
            return ScopeVariable(one.name, kind, why if is_wide else ComputedValue(value))
        if one.why:
            return ScopeVariable(one.name, kind, AbsentValue(one.why))
        where = location_nodes.translate_location(
            one.place,
            bias=self._bias,
            frame_base=base,
            cfa=self._frame_address,
            block=self._thread_local_block,
        )
        return ScopeVariable(one.name, kind, where)

    @cached_property
    def _thread_local_block(self) -> Node | None:
        """The address of the block of thread-locals, for a thread that is stopped."""
        if not self._is_stopped:
            return None
        below, slot = self._image.binary.block_below, self._image.binary.module_number_slot
        thread = RegisterNode("fs_base", MachineType.U64)
        if below is not None:
            return add_offset(thread, -below)
        if slot is None:
            return None
        # The thread's vector of blocks (glibc's dtv): its length in front, and 16 bytes for
        # each module. A block that the thread has not used yet is not there.
        vector = LoadNode(add_offset(thread, _WORD), MachineType.U64)
        number = LoadNode(ConstantNode(slot + self._bias, MachineType.U64), MachineType.U64)
        offset = BinaryNode("<<", number, ConstantNode(4, MachineType.U64), MachineType.U64)
        block = LoadNode(BinaryNode("+", vector, offset, MachineType.U64), MachineType.U64)
        is_there = CompareNode(
            "<=", number, LoadNode(add_offset(vector, -2 * _WORD), MachineType.U64)
        )
        return ChooseNode(is_there, block, ConstantNode(0, MachineType.U64), MachineType.U64)

    @cached_property
    def _frame_address(self) -> Node | None:
        # The rules at this very address: a condition runs there and nowhere else, so the
        # frame's address can be written as a register and an offset.
        row = self._image.frames.rules_at(self._address)
        if row is None or isinstance(row.cfa, bytes) or row.cfa[0] >= len(location_nodes.REGISTERS):
            return None
        register, offset = row.cfa
        return add_offset(RegisterNode(location_nodes.REGISTERS[register], MachineType.U64), offset)

    def find_variable(self, name: str) -> ScopeVariable | None:
        """Find a variable: local, then global by its whole name or its last parts."""
        found = self._local_variables.get(name)
        if found is not None:
            return found
        known = self._image.scopes.global_named(name, near=self._address)
        return self._make_variable(known) if known is not None else None

    def is_local(self, name: str) -> bool:
        """Return whether a variable is the function's own."""
        return name in self._local_variables

    def visible_names(self) -> Iterable[str]:
        """Name the locals, and the globals of the same file."""
        outer = self._image.scopes.globals_of(self._address)
        return [*self._local_variables, *(one.name for one in outer), *self._file_enumerators]

    def find_constant(self, name: str) -> tuple[int, ExpressionType] | None:
        """Find an enumerator of the same file."""
        return self._file_enumerators.get(name)

    @cached_property
    def _file_enumerators(self) -> dict[str, tuple[int, ExpressionType]]:
        found: dict[str, tuple[int, ExpressionType]] = {}
        for entry in self._file_entries():
            if entry.tag != dw.TAG_ENUMERATION:
                continue
            kind = self._image.scopes.type_of(entry)
            ours = type_of(kind)
            scope = code_spans.qualified_name(entry).rpartition("::")[0]
            for value, name in kind.enumerators.items():
                found.setdefault(f"{kind.name}::{name}", (value, ours))
                # An unscoped enumeration gives its names to the scope around it (C++,
                # 11.7.1).
                if not kind.is_scoped:
                    found.setdefault(name, (value, ours))
                    found.setdefault(f"{scope}::{name}" if scope else name, (value, ours))
        return found

    def find_type(self, name: str) -> ExpressionType | None:
        """Find a type of the same file, else a basic one, by its whole name or its last part."""
        entry = self._file_types.get(name)
        if entry is not None:
            return type_of(self._image.scopes.type_of(entry))
        return BASIC.get(name)

    @cached_property
    def _file_types(self) -> dict[str, DebugEntry]:
        found: dict[str, DebugEntry] = {}
        shorter: dict[str, DebugEntry] = {}
        for entry in self._file_entries():
            if entry.tag in _NAMED and entry.name:
                found.setdefault(code_spans.qualified_name(entry), entry)
                shorter.setdefault(entry.name, entry)
        return shorter | found

    def _file_entries(self) -> Iterator[DebugEntry]:
        """Yield what the file that the address belongs to declares."""
        unit = self._image.units.unit_at_address(self._address)
        # The whole unit, as types and enumerators may be declared in any namespace, class or
        # function of it.
        waiting = list(unit.read_entries().children) if unit is not None else []
        while waiting:
            entry = waiting.pop()
            yield entry
            if entry.tag in _OUTER:
                waiting.extend(entry.children)

    def function_arguments(self) -> Sequence[ScopeVariable] | None:
        """Return the arguments of the function that the address is in, as they are there."""
        outer = next((one for one in self._enclosing_functions if not one.is_inlined), None)
        if outer is None:
            return None
        base = self._image.scopes.frame_base(outer.entry, self._address)
        known = self._image.scopes.local_variables(outer.entry, self._address)
        return [
            self._make_variable(one, base) for one in known if one.role is VariableRole.ARGUMENT
        ]

    def why_incomplete(self) -> str:
        """Say why the debug information lacks variables here."""
        return self._image.why_incomplete(self._address)
