"""Assigns a unit's code to its functions, inlined copies too, and names them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct

from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf.debug_entries import DebugEntry, DebugUnit

_TYPES = (dw.TAG_STRUCTURE, dw.TAG_CLASS, dw.TAG_UNION, dw.TAG_ENUMERATION)
_OUTER = (dw.TAG_NAMESPACE, *_TYPES)
# By the entry that a function originates from: its name, where it is declared, its linkage name.
_Names: TypeAlias = dict[int, tuple[str, int, int, str]]


class CodeSpan(Struct, frozen=True, array_like=True):
    """Describes one range of code of a function or of an inlined copy; addresses are link-time.

    `entry` is the function's offset in .debug_info, `depth` how many functions it is inlined into;
    `call_file` and `call_line` are the call of an inlined copy (a number of the line table's
    files). `first` is the first address of the whole function, or copy. `block` is, for a block
    with variables of its own, how deep it is nested; 0 for a function.
    """

    low: int
    high: int
    first: int
    name: str
    entry: int
    depth: int = 0
    file: int = 0
    line: int = 0
    call_file: int = 0
    call_line: int = 0
    linkage: str = ""
    block: int = 0

    @property
    def is_inlined(self) -> bool:
        """Whether this is a copy inside another function."""
        return self.depth > 0


def qualified_name(entry: DebugEntry) -> str:
    """Return a function's, variable's or type's name with its namespaces and classes."""
    holder = entry.find_with_attribute(dw.AT_NAME)
    parts = [holder.get_text(dw.AT_NAME) if holder is not None else "(anonymous)"]
    outer = holder.parent if holder is not None else entry.parent
    # A definition outside of its class refers to the declaration within.
    while outer is not None:
        if outer.tag in _OUTER:
            unnamed = "(anonymous namespace)" if outer.tag == dw.TAG_NAMESPACE else "(anonymous)"
            parts.append(outer.get_text(dw.AT_NAME) or unnamed)
        outer = outer.parent
    return "::".join(reversed(parts))


def unit_outline(unit: DebugUnit) -> list[tuple[int, int, int]]:
    """List where a unit's functions have code, and the entry of each, nested ones too."""
    return [
        (low, high, entry.offset)
        for entry in unit.all_entries()
        if entry.tag == dw.TAG_SUBPROGRAM
        and (entry.has_attribute(dw.AT_LOW_PC) or entry.has_attribute(dw.AT_RANGES))
        for low, high in entry.code_ranges()
    ]


def of_function(entry: DebugEntry, names: _Names | None = None) -> list[CodeSpan]:
    """List the code of one function, of what is inlined into it, and of its blocks."""
    names = {} if names is None else names
    found: list[CodeSpan] = []
    waiting: list[tuple[DebugEntry, int, int]] = [(entry, 0, 0)]
    # A stack of our own: inlining nests deeper than Python's recursion likes.
    while waiting:
        one, depth, level = waiting.pop()
        inner = depth
        if one.tag in {dw.TAG_SUBPROGRAM, dw.TAG_INLINED}:
            found.extend(_entry_spans(one, depth, names))
            inner = depth + 1
            level = 0
        elif one.tag == dw.TAG_LEXICAL_BLOCK and _has_variables(one):
            level += 1
            found.extend(
                CodeSpan(low, high, low, "", one.offset, depth - 1, block=level)
                for low, high in one.code_ranges()
            )
        waiting.extend(
            (child, inner, level)
            for child in one.children
            if child.tag != dw.TAG_SUBPROGRAM and (child.children or child.tag == dw.TAG_INLINED)
        )
    return _in_order(found)


def of_unit(unit: DebugUnit) -> list[CodeSpan]:
    """List the code of a unit's functions, by address, outer before inner."""
    names: _Names = {}
    offsets = dict.fromkeys(offset for _, _, offset in unit_outline(unit))
    entries = [unit.find_entry(offset) for offset in offsets]
    return _in_order(
        [span for entry in entries if entry is not None for span in of_function(entry, names)]
    )


def _in_order(found: list[CodeSpan]) -> list[CodeSpan]:
    return sorted(found, key=lambda span: (span.low, span.depth, -span.high))


def _has_variables(entry: DebugEntry) -> bool:
    return any(one.tag == dw.TAG_VARIABLE for one in entry.children)


def _entry_spans(entry: DebugEntry, depth: int, names: _Names) -> Iterator[CodeSpan]:
    ranges = entry.code_ranges()
    if not ranges:
        return
    origin = entry
    for origin in entry.walk_origins():  # noqa: B007 - the last one is wanted
        pass
    # Each inlined copy has the same origin: its name is put together once.
    known = names.get(origin.offset)
    if known is None:
        linkage = entry.find_with_attribute(dw.AT_LINKAGE_NAME)
        file, line = (
            entry.find_with_attribute(dw.AT_DECL_FILE),
            entry.find_with_attribute(dw.AT_DECL_LINE),
        )
        known = names[origin.offset] = (
            qualified_name(entry),
            (file.get_number(dw.AT_DECL_FILE) if file is not None else None) or 0,
            (line.get_number(dw.AT_DECL_LINE) if line is not None else None) or 0,
            linkage.get_text(dw.AT_LINKAGE_NAME) if linkage is not None else "",
        )
    name, file_number, line_number, linkage_name = known
    # With several ranges there is no low_pc: the entry is DW_AT_entry_pc, which need not be
    # the lowest.
    first = entry.get_address(dw.AT_LOW_PC) or entry.get_address(dw.AT_ENTRY_PC) or ranges[0][0]
    if not any(low <= first < high for low, high in ranges):
        first = ranges[0][0]
    for low, high in ranges:
        yield CodeSpan(
            low,
            high,
            first,
            name,
            entry.offset,
            depth,
            file_number,
            line_number,
            entry.get_number(dw.AT_CALL_FILE) or 0,
            entry.get_number(dw.AT_CALL_LINE) or 0,
            linkage_name,
        )


def enclosing_spans(spans: Sequence[CodeSpan], address: int) -> list[CodeSpan]:
    """List the functions around an address, the innermost inlined copy first."""
    found = [one for one in spans if one.low <= address < one.high and not one.block]
    # As gdb lists frames: the innermost copy is the innermost frame.
    return sorted(found, key=lambda span: -span.depth)


def block_entry(spans: Sequence[CodeSpan], address: int) -> int:
    """Return the entry of the innermost block, copy or function around an address; 0 is none."""
    found = [one for one in spans if one.low <= address < one.high]
    return max(found, key=lambda one: (one.depth, one.block)).entry if found else 0
