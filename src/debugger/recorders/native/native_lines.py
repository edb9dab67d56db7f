"""Assigns the counted blocks of a binary to the functions and lines of its sources."""

from __future__ import annotations

import bisect
import os
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from debugger.recorders.counted_recording import CoveredFunction
from debugger.recorders.model import BranchCount, SourcePart
from debugger.recorders.native.block_counts import AddressCounts, CountedBlock, JumpCount
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.elf_file import ElfSymbol, demangle
from debugger.symbols.dwarf.line_program import END, IS_STMT

_LARGE = 1 << 16  # a result beyond it is an address, a length or a sum, and decides nothing


class _LineSpan(Struct, frozen=True):
    """A row of a line table: the addresses from `low` to `high` are of a line.

    What is no statement is part of one, or code of no line (0) that leads to the next statement.
    """

    low: int
    high: int
    file: str
    line: int
    is_statement: bool


class BinaryLines:
    """Finds the lines of one binary's functions, by its symbols and its line tables.

    Not by the entries of its debug information: those of a hundred sources of C++ take a minute.
    """

    def __init__(self, image: BinaryImage, find_source: Callable[[str], str | None]) -> None:
        self._image = image
        self._find_source = find_source
        self._paths: dict[tuple[int, int], str] = {}

    def cover_functions(self, blocks: Sequence[CountedBlock]) -> Iterator[CoveredFunction]:
        """Yield the functions of own sources that ran, in the order in which they were reached."""
        counts = AddressCounts(blocks)
        grouped: dict[int, tuple[ElfSymbol, list[CountedBlock]]] = {}
        for block in blocks:
            symbol = self._image.symbols.symbol_at(block.address)
            if symbol is not None and symbol.is_function and symbol.size:
                grouped.setdefault(symbol.address, (symbol, []))[1].append(block)
        jumps = {one.address: one for one in counts.jumps}
        for symbol, own in grouped.values():
            yield from self._cover_function(symbol, own, counts, jumps)

    def _cover_function(
        self,
        symbol: ElfSymbol,
        blocks: Sequence[CountedBlock],
        counts: AddressCounts,
        jumps: dict[int, JumpCount],
    ) -> Iterator[CoveredFunction]:
        spans = list(self._spans_of(symbol))
        name = demangle(symbol.name)
        own = [jumps[one.jump] for one in blocks if one.jump]
        branches = list(_count_branches(list(dict.fromkeys(own)), spans, counts))
        # With inlined code a function has lines of several files.
        statements = [one for one in spans if one.file and one.line and one.is_statement]
        for file in dict.fromkeys(one.file for one in statements):
            lines: dict[int, SourcePart] = {}
            for one in statements:
                if one.file == file:
                    _add_line(lines, one, counts)
            yield CoveredFunction(
                name,
                file,
                statements[0].line if statements[0].file == file else min(lines),
                counts.count_at(symbol.address),
                tuple(lines[at] for at in sorted(lines)),
                branches=tuple(one for at, one in branches if at == file),
                results=_summarise_results(blocks),
            )

    def _spans_of(self, symbol: ElfSymbol) -> Iterator[_LineSpan]:
        """Yield the lines of a function's code; those of foreign sources have no file."""
        unit = self._image.units.unit_at_address(symbol.address)
        if unit is None:
            return
        rows = self._image.lines.unit_rows(unit.offset)
        end = symbol.address + symbol.size
        for number in range(bisect.bisect_left(rows.address, symbol.address), len(rows) - 1):
            low, flags = rows.address[number], rows.flags[number]
            if low >= end:
                break
            high = min(rows.address[number + 1], end)
            # Of the rows with one address the last holds.
            if flags & END or high <= low:
                continue
            file = self._find_source(self._path_of(unit.offset, rows.file[number])) or ""
            yield _LineSpan(low, high, file, rows.line[number], bool(flags & IS_STMT))

    def _path_of(self, unit: int, number: int) -> str:
        key = unit, number
        if key not in self._paths:
            self._paths[key] = os.path.normpath(self._image.lines.file_of(unit, number))
        return self._paths[key]


def _add_line(lines: dict[int, SourcePart], span: _LineSpan, counts: AddressCounts) -> None:
    """Add a span's count to its line: the line ran as often as its part that ran most."""
    times = counts.count_at(span.low)
    first = counts.first_at(span.low)
    known = lines.get(span.line)
    if known is not None:
        firsts = [one for one in (known.first, first) if one]
        times, first = max(times, known.times), min(firsts, default=0)
    lines[span.line] = SourcePart(span.line, times=times, first=first)


def _count_branches(
    jumps: Sequence[JumpCount], spans: Sequence[_LineSpan], counts: AddressCounts
) -> Iterator[tuple[str, BranchCount]]:
    """Yield the branches of a function's lines with their files, in the order of addresses."""
    starts = [one.low for one in spans]

    def span_at(address: int) -> _LineSpan | None:
        at = max(bisect.bisect_right(starts, address) - 1, 0)
        return next((one for one in spans[at:] if one.line and address < one.high), None)

    numbers: dict[tuple[str, int], int] = {}
    for one in sorted(jumps, key=lambda jump: jump.address):
        span = span_at(one.address)
        if span is None or not span.file:
            continue
        key = (span.file, span.line)
        number = numbers[key] = numbers.get(key, 0) + 1
        to, next_ = span_at(one.target), span_at(one.next)
        yield (
            span.file,
            BranchCount(
                span.line,
                number,
                (to.line if to is not None else 0, next_.line if next_ is not None else 0),
                (one.taken, one.passed),
                first=counts.first_at(one.address),
            ),
        )


def _summarise_results(blocks: Sequence[CountedBlock]) -> tuple[str, ...]:
    """List the small results of a function's returns; none if it returns anything else."""
    found: set[int] = set()
    for one in blocks:
        if not one.is_return:
            continue
        if one.least < -_LARGE or one.greatest > _LARGE:
            return ()
        found |= {one.least, one.greatest, *one.results}
    return tuple(map(str, sorted(found)))
