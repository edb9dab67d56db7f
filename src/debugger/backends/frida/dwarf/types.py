"""Resolves types lazily, since they are recursive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Final

from debugger.backends.frida.dwarf import codes as dw
from debugger.backends.frida.dwarf import spans
from debugger.backends.frida.dwarf.entries import Entry
from debugger.backends.frida.dwarf.operations import parse

POINTER_SIZE: Final = 8
_WRAPPERS: Final = {
    dw.TAG_CONST: "const",
    dw.TAG_VOLATILE: "volatile",
    dw.TAG_RESTRICT: "restrict",
    dw.TAG_ATOMIC: "_Atomic",
}
_LINKS_MAX: Final = 64


class Kind(Enum):
    """What a type is, with its names and qualifiers stripped."""

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
    dw.TAG_POINTER: Kind.POINTER,
    dw.TAG_REFERENCE: Kind.REFERENCE,
    dw.TAG_RVALUE_REFERENCE: Kind.REFERENCE,
    dw.TAG_STRUCTURE: Kind.STRUCT,
    dw.TAG_CLASS: Kind.STRUCT,
    dw.TAG_UNION: Kind.UNION,
    dw.TAG_ENUMERATION: Kind.ENUM,
    dw.TAG_ARRAY: Kind.ARRAY,
    dw.TAG_SUBROUTINE_TYPE: Kind.FUNCTION,
    dw.TAG_POINTER_TO_MEMBER: Kind.MEMBER_POINTER,
}
_ENCODINGS: Final = {
    dw.ATE_BOOLEAN: Kind.BOOL,
    dw.ATE_FLOAT: Kind.FLOAT,
    dw.ATE_COMPLEX_FLOAT: Kind.COMPLEX,
    dw.ATE_SIGNED: Kind.INTEGER,
    dw.ATE_UNSIGNED: Kind.INTEGER,
    dw.ATE_ADDRESS: Kind.INTEGER,
    dw.ATE_SIGNED_CHAR: Kind.CHARACTER,
    dw.ATE_UNSIGNED_CHAR: Kind.CHARACTER,
    dw.ATE_UTF: Kind.CHARACTER,
}


@dataclass(frozen=True, slots=True)
class Member:
    """A member or a base class: `offset` in bytes, `bits` as (first bit, count) of a bit field.

    `offset` is None where the program computes it, as for a virtual base: `place` says how.
    """

    name: str
    type: Type
    offset: int | None
    bits: tuple[int, int] | None = None
    is_base: bool = False
    place: bytes = b""


@dataclass(frozen=True, slots=True)
class Variant:
    """One case of a Rust enum; `value` is None for the one that all other values mean."""

    value: int | None
    members: tuple[Member, ...]


class Type:
    """A type, by its entry; None is void. `definition` finds what a declaration only names."""

    def __init__(
        self, entry: Entry | None, definition: Callable[[str], Entry | None] | None = None
    ) -> None:
        self.entry = entry
        self.definition = definition

    def __repr__(self) -> str:
        return f"<Type {self.name}>"

    def _of(self, entry: Entry | None) -> Type:
        return Type(entry, self.definition)

    @cached_property
    def name(self) -> str:
        """The type as it is written, such as `const char *` or `int [3]`."""
        entry = self.entry
        if entry is None:
            return "void"
        if entry.tag in _WRAPPERS:
            inner = self._of(entry.type).name
            after = inner.endswith(("*", "&"))
            word = _WRAPPERS[entry.tag]
            return f"{inner} {word}" if after else f"{word} {inner}"
        own = entry.text(dw.AT_NAME)
        if own:
            return spans.qualified(entry)
        return self._unnamed(entry)

    def _unnamed(self, entry: Entry) -> str:
        inner = self._of(entry.type)
        if entry.tag in {dw.TAG_POINTER, dw.TAG_REFERENCE, dw.TAG_RVALUE_REFERENCE}:
            sign = {dw.TAG_POINTER: "*", dw.TAG_REFERENCE: "&"}.get(entry.tag, "&&")
            if inner.entry is not None and inner.entry.tag == dw.TAG_SUBROUTINE_TYPE:
                return inner.name.replace(" (", f" ({sign})(", 1)
            return f"{inner.name}{'' if inner.name.endswith(('*', '&')) else ' '}{sign}"
        if entry.tag == dw.TAG_POINTER_TO_MEMBER:
            sign = f"{self.container.name}::*"
            is_method = inner.kind is Kind.FUNCTION
            return (
                inner.name.replace(" (", f" ({sign})(", 1) if is_method else f"{inner.name} {sign}"
            )
        if entry.tag == dw.TAG_ARRAY:
            counts = "".join(f"[{'' if one is None else one}]" for one in self.counts)
            return f"{inner.name} {counts}"
        if entry.tag == dw.TAG_SUBROUTINE_TYPE:
            children = entry.children
            takes = [self._of(one.type).name for one in children if one.tag == dw.TAG_PARAMETER]
            return f"{inner.name} ({', '.join(takes)})"
        return f"{self.kind.value} {{...}}"

    @cached_property
    def plain(self) -> Type:
        """The type without typedefs and qualifiers, defined where it is only declared."""
        entry = self.entry
        for _ in range(_LINKS_MAX):
            if entry is None or (entry.tag not in _WRAPPERS and entry.tag != dw.TAG_TYPEDEF):
                break
            entry = entry.type
        if entry is not None and entry.has(dw.AT_SIGNATURE):
            entry = entry.reference(dw.AT_SIGNATURE) or entry
        if entry is not None and entry.flag(dw.AT_DECLARATION) and self.definition is not None:
            entry = self.definition(spans.qualified(entry)) or entry
        return self if entry is self.entry else self._of(entry)

    @cached_property
    def kind(self) -> Kind:
        """What it is, with its names stripped."""
        entry = self.plain.entry
        if entry is None or entry.tag == dw.TAG_UNSPECIFIED:
            return Kind.VOID
        if entry.tag == dw.TAG_BASE:
            return _ENCODINGS.get(entry.number(dw.AT_ENCODING) or 0, Kind.OTHER)
        return _KINDS.get(entry.tag, Kind.OTHER)

    @cached_property
    def is_signed(self) -> bool:
        """Whether its numbers have a sign."""
        entry = self.plain.entry
        if entry is not None and entry.tag == dw.TAG_ENUMERATION and entry.type is not None:
            return self._of(entry.type).is_signed
        if entry is not None and entry.tag == dw.TAG_ENUMERATION:
            return any(value < 0 for value in self.enumerators)
        encoding = entry.number(dw.AT_ENCODING) if entry is not None else None
        return encoding in {dw.ATE_SIGNED, dw.ATE_SIGNED_CHAR}

    @cached_property
    def is_declared(self) -> bool:
        """Whether only its name is known."""
        entry = self.plain.entry
        return entry is not None and entry.flag(dw.AT_DECLARATION)

    @cached_property
    def size(self) -> int:
        """Its size in bytes; 0 where it is not known."""
        entry = self.plain.entry
        if entry is None:
            return 0
        own = entry.number(dw.AT_BYTE_SIZE)
        if own is not None:
            return own
        if entry.tag in {dw.TAG_POINTER, dw.TAG_REFERENCE, dw.TAG_RVALUE_REFERENCE}:
            return POINTER_SIZE
        if entry.tag == dw.TAG_POINTER_TO_MEMBER:
            # A method's is its address, and what is added to `this` (Itanium C++ ABI, 2.3.2).
            return POINTER_SIZE * (2 if self.target.kind is Kind.FUNCTION else 1)
        if entry.tag == dw.TAG_ARRAY:
            total = self.target.size
            for count in self.counts:
                total *= count or 0
            return total
        return self._of(entry.type).size if entry.tag == dw.TAG_ENUMERATION else 0

    @cached_property
    def target(self) -> Type:
        """What a pointer or a reference names, or an array's innermost elements are."""
        entry = self.plain.entry
        return self._of(entry.type if entry is not None else None)

    @cached_property
    def container(self) -> Type:
        """The class that a pointer to a member is of."""
        entry = self.plain.entry
        return self._of(entry.reference(dw.AT_CONTAINING_TYPE) if entry is not None else None)

    @cached_property
    def counts(self) -> tuple[int | None, ...]:
        """How many elements each dimension of an array has; None where nobody knows."""
        entry = self.plain.entry
        if entry is None:
            return ()
        return tuple(_count(one) for one in entry.children if one.tag == dw.TAG_SUBRANGE)

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """Its bases and members, in their order; static ones are left out."""
        entry = self.plain.entry
        if entry is None:
            return ()
        return self._members(entry)

    def _members(self, entry: Entry) -> tuple[Member, ...]:
        found = []
        for one in entry.children:
            if one.tag == dw.TAG_INHERITANCE:
                kind = self._of(one.type)
                at = _offset(one)
                place = one.block(dw.AT_MEMBER_LOCATION) if at is None else None
                found.append(Member(kind.name, kind, at, is_base=True, place=place or b""))
            elif one.tag == dw.TAG_MEMBER and not one.flag(dw.AT_EXTERNAL):
                kind = self._of(one.type)
                offset, bits = _place(one, kind.size)
                found.append(Member(one.text(dw.AT_NAME), kind, offset, bits))
        return tuple(found)

    @cached_property
    def enumerators(self) -> dict[int, str]:
        """The names of an enumeration's values."""
        entry = self.plain.entry
        if entry is None:
            return {}
        found: dict[int, str] = {}
        for one in entry.children:
            value = one.number(dw.AT_CONST_VALUE)
            if one.tag == dw.TAG_ENUMERATOR and value is not None:
                found.setdefault(value, one.text(dw.AT_NAME))
        return found

    @cached_property
    def is_scoped(self) -> bool:
        """Whether it is an `enum class`, whose values are written with its name."""
        entry = self.plain.entry
        return entry is not None and entry.flag(dw.AT_ENUM_CLASS)

    @cached_property
    def discriminant(self) -> Member | None:
        """The member that says which variant of a Rust enum it is."""
        part = self._variant_part
        found = part.reference(dw.AT_DISCR) if part is not None else None
        return Member("", self._of(found.type), _offset(found)) if found is not None else None

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """The cases of a Rust enum; none for other types."""
        part = self._variant_part
        if part is None:
            return ()
        return tuple(
            Variant(one.number(dw.AT_DISCR_VALUE), self._members(one))
            for one in part.children
            if one.tag == dw.TAG_VARIANT
        )

    @cached_property
    def _variant_part(self) -> Entry | None:
        entry = self.plain.entry
        if entry is None:
            return None
        return next((one for one in entry.children if one.tag == dw.TAG_VARIANT_PART), None)

    @cached_property
    def arguments(self) -> tuple[Type, ...]:
        """The types that a template, or a generic type, was made for."""
        entry = self.plain.entry
        if entry is None:
            return ()
        found = []
        for one in entry.children:
            pack = one.children if one.tag == dw.TAG_TEMPLATE_PACK else [one]
            found += [self._of(it.type) for it in pack if it.tag == dw.TAG_TEMPLATE_TYPE]
        return tuple(found)

    def member(self, name: str) -> Member | None:
        """Find a member by its name, in its bases too."""
        for one in self.members:
            if one.name == name and not one.is_base:
                return one
        for one in self.members:
            # What an unnamed union or a base holds is written as if it were here.
            if (one.is_base or not one.name) and one.offset is not None:
                inner = one.type.member(name)
                if inner is not None and inner.offset is not None:
                    return Member(name, inner.type, one.offset + inner.offset, inner.bits)
        return None


def _count(entry: Entry) -> int | None:
    count = entry.number(dw.AT_COUNT)
    if count is not None:
        return count
    upper = entry.number(dw.AT_UPPER_BOUND)
    # An array without bounds says -1.
    if upper is None or upper >= 1 << 31:
        return None
    return upper + 1


def _offset(entry: Entry) -> int | None:
    found = entry.raw(dw.AT_MEMBER_LOCATION)
    if found is None:
        return 0
    if isinstance(found[1], int):
        return found[1]
    if isinstance(found[1], bytes):
        first, *rest = parse(found[1]) or (None,)
        if first is not None and first.name == "plus_uconst" and not rest:
            return first.first
    return None


def _place(entry: Entry, size: int) -> tuple[int | None, tuple[int, int] | None]:
    offset = _offset(entry)
    count = entry.number(dw.AT_BIT_SIZE)
    if count is None or offset is None:
        return offset, None
    first = entry.number(dw.AT_DATA_BIT_OFFSET)
    if first is None:
        # Counted from the most significant bit of the unit that holds it (DWARF 2 and 3).
        held = entry.number(dw.AT_BYTE_SIZE) or size
        from_top = entry.number(dw.AT_BIT_OFFSET) or 0
        first = offset * 8 + held * 8 - from_top - count
    return first // 8, (first % 8, count)
