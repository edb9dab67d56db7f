"""Resolves types lazily, since they are recursive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Final

from debugger.symbols.dwarf import code_spans
from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf.debug_entries import DebugEntry
from debugger.symbols.dwarf.location_evaluation import parse_operations

POINTER_SIZE: Final = 8
_WRAPPERS: Final = {
    dw.TAG_CONST: "const",
    dw.TAG_VOLATILE: "volatile",
    dw.TAG_RESTRICT: "restrict",
    dw.TAG_ATOMIC: "_Atomic",
}
_LINKS_MAX: Final = 64


class TypeKind(Enum):
    """Says what a type is, with its names and qualifiers stripped."""

    VOID = "void"
    INTEGER = "integer"
    FLOAT = "float"
    BOOL = "bool"
    CHARACTER = "character"
    POINTER = "pointer"
    REFERENCE = "reference"
    STRUCT = "struct"
    UNION = "union"
    ENUM = "enum"
    ARRAY = "array"
    FUNCTION = "function"
    COMPLEX = "complex"
    MEMBER_POINTER = "pointer to member"
    OTHER = "other"


_KINDS: Final = {
    dw.TAG_POINTER: TypeKind.POINTER,
    dw.TAG_REFERENCE: TypeKind.REFERENCE,
    dw.TAG_RVALUE_REFERENCE: TypeKind.REFERENCE,
    dw.TAG_STRUCTURE: TypeKind.STRUCT,
    dw.TAG_CLASS: TypeKind.STRUCT,
    dw.TAG_UNION: TypeKind.UNION,
    dw.TAG_ENUMERATION: TypeKind.ENUM,
    dw.TAG_ARRAY: TypeKind.ARRAY,
    dw.TAG_SUBROUTINE_TYPE: TypeKind.FUNCTION,
    dw.TAG_POINTER_TO_MEMBER: TypeKind.MEMBER_POINTER,
}
_ENCODINGS: Final = {
    dw.ATE_BOOLEAN: TypeKind.BOOL,
    dw.ATE_FLOAT: TypeKind.FLOAT,
    dw.ATE_COMPLEX_FLOAT: TypeKind.COMPLEX,
    dw.ATE_SIGNED: TypeKind.INTEGER,
    dw.ATE_UNSIGNED: TypeKind.INTEGER,
    dw.ATE_ADDRESS: TypeKind.INTEGER,
    dw.ATE_SIGNED_CHAR: TypeKind.CHARACTER,
    dw.ATE_UNSIGNED_CHAR: TypeKind.CHARACTER,
    dw.ATE_UTF: TypeKind.CHARACTER,
}


@dataclass(frozen=True, slots=True)
class DebugMember:
    """Describes a member or a base: `offset` in bytes, `bits` as (first bit, count) of a bit field.

    `offset` is None where the program computes it, as for a virtual base: `place` says how.
    """

    name: str
    type: DebugType
    offset: int | None
    bits: tuple[int, int] | None = None
    is_base: bool = False
    place: bytes = b""


@dataclass(frozen=True, slots=True)
class EnumVariant:
    """Describes one case of a Rust enum; `value` is None for the one of all other values."""

    value: int | None
    members: tuple[DebugMember, ...]


class DebugType:
    """Describes a type, by its entry; None is void. `definition` completes a declaration."""

    def __init__(
        self, entry: DebugEntry | None, definition: Callable[[str], DebugEntry | None] | None = None
    ) -> None:
        self.entry = entry
        self.definition = definition

    def __repr__(self) -> str:
        return f"<Type {self.name}>"

    def _type_of(self, entry: DebugEntry | None) -> DebugType:
        return DebugType(entry, self.definition)

    @cached_property
    def name(self) -> str:
        """The type as it is written, such as `const char *` or `int [3]`."""
        entry = self.entry
        if entry is None:
            return "void"
        if entry.tag in _WRAPPERS:
            inner = self._type_of(entry.type).name
            after = inner.endswith(("*", "&"))
            word = _WRAPPERS[entry.tag]
            return f"{inner} {word}" if after else f"{word} {inner}"
        own = entry.get_text(dw.AT_NAME)
        if own:
            return code_spans.qualified_name(entry)
        return self._unnamed_name(entry)

    def _unnamed_name(self, entry: DebugEntry) -> str:
        inner = self._type_of(entry.type)
        if entry.tag in {dw.TAG_POINTER, dw.TAG_REFERENCE, dw.TAG_RVALUE_REFERENCE}:
            sign = {dw.TAG_POINTER: "*", dw.TAG_REFERENCE: "&"}.get(entry.tag, "&&")
            if inner.entry is not None and inner.entry.tag == dw.TAG_SUBROUTINE_TYPE:
                return inner.name.replace(" (", f" ({sign})(", 1)
            return f"{inner.name}{'' if inner.name.endswith(('*', '&')) else ' '}{sign}"
        if entry.tag == dw.TAG_POINTER_TO_MEMBER:
            sign = f"{self.containing_class.name}::*"
            is_method = inner.kind is TypeKind.FUNCTION
            return (
                inner.name.replace(" (", f" ({sign})(", 1) if is_method else f"{inner.name} {sign}"
            )
        if entry.tag == dw.TAG_ARRAY:
            counts = "".join(f"[{'' if one is None else one}]" for one in self.dimension_counts)
            return f"{inner.name} {counts}"
        if entry.tag == dw.TAG_SUBROUTINE_TYPE:
            children = entry.children
            takes = [
                self._type_of(one.type).name for one in children if one.tag == dw.TAG_PARAMETER
            ]
            return f"{inner.name} ({', '.join(takes)})"
        return f"{self.kind.value} {{...}}"

    @cached_property
    def without_names(self) -> DebugType:
        """The type without typedefs and qualifiers, defined where it is only declared."""
        entry = self.entry
        # A ring of typedefs exists in broken files alone.
        for _ in range(_LINKS_MAX):
            if entry is None or (entry.tag not in _WRAPPERS and entry.tag != dw.TAG_TYPEDEF):
                break
            entry = entry.type
        # With -fdebug-types-section a unit has a declaration with a signature, and a type
        # unit the definition.
        if entry is not None and entry.has_attribute(dw.AT_SIGNATURE):
            entry = entry.get_reference(dw.AT_SIGNATURE) or entry
        if entry is not None and entry.get_flag(dw.AT_DECLARATION) and self.definition is not None:
            entry = self.definition(code_spans.qualified_name(entry)) or entry
        return self if entry is self.entry else self._type_of(entry)

    @cached_property
    def kind(self) -> TypeKind:
        """The kind of type, with its names stripped."""
        entry = self.without_names.entry
        if entry is None or entry.tag == dw.TAG_UNSPECIFIED:
            return TypeKind.VOID
        if entry.tag == dw.TAG_BASE:
            return _ENCODINGS.get(entry.get_number(dw.AT_ENCODING) or 0, TypeKind.OTHER)
        return _KINDS.get(entry.tag, TypeKind.OTHER)

    @cached_property
    def is_signed(self) -> bool:
        """Whether its numbers have a sign."""
        entry = self.without_names.entry
        if entry is not None and entry.tag == dw.TAG_ENUMERATION and entry.type is not None:
            return self._type_of(entry.type).is_signed
        if entry is not None and entry.tag == dw.TAG_ENUMERATION:
            return any(value < 0 for value in self.enumerators)
        encoding = entry.get_number(dw.AT_ENCODING) if entry is not None else None
        return encoding in {dw.ATE_SIGNED, dw.ATE_SIGNED_CHAR}

    @cached_property
    def is_declared(self) -> bool:
        """Whether only its name is known."""
        entry = self.without_names.entry
        return entry is not None and entry.get_flag(dw.AT_DECLARATION)

    @cached_property
    def size(self) -> int:
        """Its size in bytes; 0 where it is not known."""
        entry = self.without_names.entry
        if entry is None:
            return 0
        own = entry.get_number(dw.AT_BYTE_SIZE)
        if own is not None:
            return own
        if entry.tag in {dw.TAG_POINTER, dw.TAG_REFERENCE, dw.TAG_RVALUE_REFERENCE}:
            return POINTER_SIZE
        if entry.tag == dw.TAG_POINTER_TO_MEMBER:
            # A method's is its address, and what is added to `this` (Itanium C++ ABI, 2.3.2).
            return POINTER_SIZE * (2 if self.target_type.kind is TypeKind.FUNCTION else 1)
        if entry.tag == dw.TAG_ARRAY:
            total = self.target_type.size
            for count in self.dimension_counts:
                total *= count or 0
            return total
        return self._type_of(entry.type).size if entry.tag == dw.TAG_ENUMERATION else 0

    @cached_property
    def target_type(self) -> DebugType:
        """The type of a pointer's or a reference's target, or of an array's innermost elements."""
        entry = self.without_names.entry
        return self._type_of(entry.type if entry is not None else None)

    @cached_property
    def containing_class(self) -> DebugType:
        """The class that a pointer to a member is of."""
        entry = self.without_names.entry
        return self._type_of(
            entry.get_reference(dw.AT_CONTAINING_TYPE) if entry is not None else None
        )

    @cached_property
    def dimension_counts(self) -> tuple[int | None, ...]:
        """The number of elements in each dimension of an array; None where unknown."""
        entry = self.without_names.entry
        if entry is None:
            return ()
        return tuple(_element_count(one) for one in entry.children if one.tag == dw.TAG_SUBRANGE)

    @cached_property
    def members(self) -> tuple[DebugMember, ...]:
        """Its bases and members, in their order; static ones are left out."""
        entry = self.without_names.entry
        if entry is None:
            return ()
        return self._read_members(entry)

    def _read_members(self, entry: DebugEntry) -> tuple[DebugMember, ...]:
        found = []
        for one in entry.children:
            if one.tag == dw.TAG_INHERITANCE:
                kind = self._type_of(one.type)
                at = _member_offset(one)
                place = one.get_block(dw.AT_MEMBER_LOCATION) if at is None else None
                found.append(DebugMember(kind.name, kind, at, is_base=True, place=place or b""))
            elif one.tag == dw.TAG_MEMBER and not one.get_flag(dw.AT_EXTERNAL):
                kind = self._type_of(one.type)
                offset, bits = _member_place(one, kind.size)
                found.append(DebugMember(one.get_text(dw.AT_NAME), kind, offset, bits))
        return tuple(found)

    @cached_property
    def enumerators(self) -> dict[int, str]:
        """The names of an enumeration's values."""
        entry = self.without_names.entry
        if entry is None:
            return {}
        found: dict[int, str] = {}
        for one in entry.children:
            value = one.get_number(dw.AT_CONST_VALUE)
            if one.tag == dw.TAG_ENUMERATOR and value is not None:
                found.setdefault(value, one.get_text(dw.AT_NAME))
        return found

    @cached_property
    def is_scoped(self) -> bool:
        """Whether it is an `enum class`, whose values are written with its name."""
        entry = self.without_names.entry
        return entry is not None and entry.get_flag(dw.AT_ENUM_CLASS)

    @cached_property
    def discriminant(self) -> DebugMember | None:
        """The member that says which variant of a Rust enum it is."""
        part = self._variant_part
        found = part.get_reference(dw.AT_DISCR) if part is not None else None
        return (
            DebugMember("", self._type_of(found.type), _member_offset(found))
            if found is not None
            else None
        )

    @cached_property
    def variants(self) -> tuple[EnumVariant, ...]:
        """The cases of a Rust enum; none for other types."""
        part = self._variant_part
        if part is None:
            return ()
        return tuple(
            EnumVariant(one.get_number(dw.AT_DISCR_VALUE), self._read_members(one))
            for one in part.children
            if one.tag == dw.TAG_VARIANT
        )

    @cached_property
    def _variant_part(self) -> DebugEntry | None:
        entry = self.without_names.entry
        if entry is None:
            return None
        return next((one for one in entry.children if one.tag == dw.TAG_VARIANT_PART), None)

    @cached_property
    def template_arguments(self) -> tuple[DebugType, ...]:
        """The types that a template, or a generic type, was made for."""
        entry = self.without_names.entry
        if entry is None:
            return ()
        found = []
        for one in entry.children:
            # A parameter pack has its types as children.
            pack = one.children if one.tag == dw.TAG_TEMPLATE_PACK else [one]
            found += [self._type_of(it.type) for it in pack if it.tag == dw.TAG_TEMPLATE_TYPE]
        return tuple(found)

    def find_member(self, name: str) -> DebugMember | None:
        """Find a member by its name, in its bases too."""
        for one in self.members:
            if one.name == name and not one.is_base:
                return one
        for one in self.members:
            # What an unnamed union or a base holds is written as if it were here.
            if (one.is_base or not one.name) and one.offset is not None:
                inner = one.type.find_member(name)
                if inner is not None and inner.offset is not None:
                    return DebugMember(name, inner.type, one.offset + inner.offset, inner.bits)
        return None


def _element_count(entry: DebugEntry) -> int | None:
    count = entry.get_number(dw.AT_COUNT)
    if count is not None:
        return count
    upper = entry.get_number(dw.AT_UPPER_BOUND)
    # An array without bounds says -1.
    if upper is None or upper >= 1 << 31:
        return None
    return upper + 1


def _member_offset(entry: DebugEntry) -> int | None:
    found = entry.raw_attribute(dw.AT_MEMBER_LOCATION)
    if found is None:
        return 0
    if isinstance(found[1], int):
        return found[1]
    if isinstance(found[1], bytes):
        first, *rest = parse_operations(found[1]) or (None,)
        if first is not None and first.name == "plus_uconst" and not rest:
            return first.first
    return None


def _member_place(entry: DebugEntry, size: int) -> tuple[int | None, tuple[int, int] | None]:
    offset = _member_offset(entry)
    count = entry.get_number(dw.AT_BIT_SIZE)
    if count is None or offset is None:
        return offset, None
    first = entry.get_number(dw.AT_DATA_BIT_OFFSET)
    if first is None:
        # Counted from the most significant bit of the unit that holds it (DWARF 2 and 3).
        unit_size = entry.get_number(dw.AT_BYTE_SIZE) or size
        from_top = entry.get_number(dw.AT_BIT_OFFSET) or 0
        first = offset * 8 + unit_size * 8 - from_top - count
    return first // 8, (first % 8, count)
