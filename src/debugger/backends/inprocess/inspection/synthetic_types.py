"""Finds the debug information's type for a value that an expression has made."""

from __future__ import annotations

from debugger.backends.inprocess.expressions import expression_types
from debugger.backends.inprocess.expressions.expression_types import ExpressionKind
from debugger.symbols.dwarf import debug_types as dwarf
from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf.debug_entries import DebugEntry

_KINDS = {
    ExpressionKind.INTEGER: dwarf.TypeKind.INTEGER,
    ExpressionKind.CHARACTER: dwarf.TypeKind.CHARACTER,
    ExpressionKind.BOOLEAN: dwarf.TypeKind.BOOL,
    ExpressionKind.REAL: dwarf.TypeKind.FLOAT,
    ExpressionKind.POINTER: dwarf.TypeKind.POINTER,
    ExpressionKind.REFERENCE: dwarf.TypeKind.REFERENCE,
    ExpressionKind.ARRAY: dwarf.TypeKind.ARRAY,
    ExpressionKind.FUNCTION: dwarf.TypeKind.FUNCTION,
}

# Code that returns the function which is meant, for this processor.
INDIRECT = "<text gnu-indirect-function variable, no debug info>"


class SyntheticType(dwarf.DebugType):
    """A type that stands nowhere in the program."""

    def __init__(
        self,
        name: str,
        kind: dwarf.TypeKind,
        size: int,
        *,
        is_signed: bool = False,
        target: dwarf.DebugType | None = None,
        entry: DebugEntry | None = None,
        counts: tuple[int | None, ...] = (),
    ) -> None:
        super().__init__(entry)
        self.name = name
        self.kind = kind
        self.size = size
        self.is_signed = is_signed
        self.target_type = target if target is not None else dwarf.DebugType(None)
        self.dimension_counts = counts
        self.without_names = self


def to_debug_type(kind: expression_types.ExpressionType) -> dwarf.DebugType:
    """Return the type that values of an expression's type are shown by."""
    if kind.declared is not None:
        return kind.declared
    known = _KINDS.get(kind.kind)
    if known is None:
        return dwarf.DebugType(None)
    target = to_debug_type(kind.points_to()) if kind.target is not None else None
    return SyntheticType(
        kind.name,
        known,
        kind.size,
        is_signed=kind.is_signed,
        target=target,
        counts=(kind.count,) if kind.kind is ExpressionKind.ARRAY else (),
    )


def text_type(size: int) -> dwarf.DebugType:
    """Return the type of a string that was written."""
    letter = to_debug_type(expression_types.CHAR)
    name = f"char [{size}]"
    return SyntheticType(name, dwarf.TypeKind.ARRAY, size, target=letter, counts=(size,))


def function_type(
    entry: DebugEntry, returns: dwarf.DebugType, takes: tuple[dwarf.DebugType, ...]
) -> dwarf.DebugType:
    """Return the type of a function, by its entry."""
    name = f"{returns.name} ({', '.join(one.name for one in takes) or 'void'})"
    return SyntheticType(name, dwarf.TypeKind.FUNCTION, 1, target=returns, entry=entry)


def code_type(*, is_indirect: bool = False) -> dwarf.DebugType:
    """Return the type of code of which only the symbol is known."""
    name = INDIRECT if is_indirect else "<text variable, no debug info>"
    return SyntheticType(name, dwarf.TypeKind.FUNCTION, 1)


def parameter_types(kind: dwarf.DebugType) -> tuple[dwarf.DebugType, ...] | None:
    """Return what a function takes; None where nothing is known of it."""
    entry = kind.without_names.entry
    if entry is None:
        return None
    return tuple(
        dwarf.DebugType(one.type, kind.definition)
        for one in entry.children
        if one.tag == dw.TAG_PARAMETER
    )


def is_variadic(kind: dwarf.DebugType) -> bool:
    """Whether a function takes more than it names."""
    entry = kind.without_names.entry
    return entry is not None and any(
        one.tag == dw.TAG_UNSPECIFIED_PARAMETERS for one in entry.children
    )
