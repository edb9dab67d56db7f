"""Finds the debug information's type for a value that an expression has made."""

from __future__ import annotations

from debugger.backends.frida.dwarf import codes as dw
from debugger.backends.frida.dwarf import types as dwarf
from debugger.backends.frida.dwarf.entries import Entry
from debugger.backends.frida.expressions import types
from debugger.backends.frida.expressions.types import Kind

_KINDS = {
    Kind.INTEGER: dwarf.Kind.INTEGER,
    Kind.CHARACTER: dwarf.Kind.CHARACTER,
    Kind.BOOLEAN: dwarf.Kind.BOOL,
    Kind.REAL: dwarf.Kind.FLOAT,
    Kind.POINTER: dwarf.Kind.POINTER,
    Kind.REFERENCE: dwarf.Kind.REFERENCE,
    Kind.ARRAY: dwarf.Kind.ARRAY,
    Kind.FUNCTION: dwarf.Kind.FUNCTION,
}

# Code that returns the function which is meant, for this processor.
INDIRECT = "<text gnu-indirect-function variable, no debug info>"


class Made(dwarf.Type):
    """A type that stands nowhere in the program."""

    def __init__(
        self,
        name: str,
        kind: dwarf.Kind,
        size: int,
        *,
        is_signed: bool = False,
        target: dwarf.Type | None = None,
        entry: Entry | None = None,
        counts: tuple[int | None, ...] = (),
    ) -> None:
        super().__init__(entry)
        self.name = name
        self.kind = kind
        self.size = size
        self.is_signed = is_signed
        self.target = target if target is not None else dwarf.Type(None)
        self.counts = counts
        self.plain = self


def declared(kind: types.Type) -> dwarf.Type:
    """Return the type that values of an expression's type are shown by."""
    if kind.declared is not None:
        return kind.declared
    known = _KINDS.get(kind.kind)
    if known is None:
        return dwarf.Type(None)
    target = declared(kind.points_to()) if kind.target is not None else None
    return Made(
        kind.name,
        known,
        kind.size,
        is_signed=kind.is_signed,
        target=target,
        counts=(kind.count,) if kind.kind is Kind.ARRAY else (),
    )


def text(size: int) -> dwarf.Type:
    """Return the type of a string that was written."""
    letter = declared(types.CHAR)
    name = f"char [{size}]"
    return Made(name, dwarf.Kind.ARRAY, size, target=letter, counts=(size,))


def function(entry: Entry, returns: dwarf.Type, takes: tuple[dwarf.Type, ...]) -> dwarf.Type:
    """Return the type of a function, by its entry."""
    name = f"{returns.name} ({', '.join(one.name for one in takes) or 'void'})"
    return Made(name, dwarf.Kind.FUNCTION, 1, target=returns, entry=entry)


def code(*, is_indirect: bool = False) -> dwarf.Type:
    """Return the type of code of which only the symbol is known."""
    name = INDIRECT if is_indirect else "<text variable, no debug info>"
    return Made(name, dwarf.Kind.FUNCTION, 1)


def parameters(kind: dwarf.Type) -> tuple[dwarf.Type, ...] | None:
    """Return what a function takes; None where nothing is known of it."""
    entry = kind.plain.entry
    if entry is None:
        return None
    return tuple(
        dwarf.Type(one.type, kind.definition)
        for one in entry.children
        if one.tag == dw.TAG_PARAMETER
    )


def is_variadic(kind: dwarf.Type) -> bool:
    """Whether a function takes more than it names."""
    entry = kind.plain.entry
    return entry is not None and any(
        one.tag == dw.TAG_UNSPECIFIED_PARAMETERS for one in entry.children
    )
