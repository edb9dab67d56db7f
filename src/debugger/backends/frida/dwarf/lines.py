"""Maps source lines to addresses, and addresses to lines."""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from msgspec import Struct

from debugger.backends.frida.dwarf import codes as dw
from debugger.backends.frida.dwarf import lineprogram, spans
from debugger.backends.frida.dwarf.cache import Cache
from debugger.backends.frida.dwarf.collecting import forget
from debugger.backends.frida.dwarf.entries import Units
from debugger.backends.frida.dwarf.lineprogram import END, IS_STMT, PROLOGUE_END, Rows
from debugger.backends.frida.dwarf.spans import Span
from debugger.core import locate

_OPTIMISED: Final = (" -O1", " -O2", " -O3", " -Os", " -Og", " -Ofast", " -Oz")


class _Program(Struct, frozen=True, array_like=True):
    """A unit's line program: where it is, and whether the compiler optimised."""

    unit: int
    offset: int
    files: tuple[int, ...]


class _Files(Struct, frozen=True, array_like=True):
    paths: tuple[str, ...]
    programs: tuple[_Program, ...]


class _Columns(Struct, frozen=True, array_like=True):
    address: bytes
    file: bytes
    line: bytes
    flags: bytes


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file; both are empty where an address has none."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Location:
    """Where a line's code begins, once in every function or copy that has it."""

    address: int
    function: str
    is_inlined: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """What was found for a file and a line; `nearest` are lines with code, if it has none.

    `files` are the paths that the user's words fit, where they fit more than one.
    """

    file: str
    line: int
    locations: tuple[Location, ...] = ()
    nearest: tuple[int, ...] = ()
    files: tuple[str, ...] = ()


class Lines:
    """The line tables of one binary, in link-time addresses."""

    def __init__(self, units: Units, cache: Cache) -> None:
        self._units = units
        self._cache = cache
        self._rows: dict[int, Rows] = {}
        self._singles: dict[int, tuple[_Program | None, Sequence[str]]] = {}

    @cached_property
    def _index(self) -> _Files:
        return self._cache.get("files", _Files, self._read_files)

    def _read_files(self) -> _Files:
        numbers: dict[str, int] = {}
        programs = []
        seen: set[int] = set()
        for unit in self._units:
            offset = unit.line_program
            # A type unit shares its unit's program, and has no code.
            if offset is None or offset in seen or unit.signature is not None:
                continue
            seen.add(offset)
            files = lineprogram.header(
                self._units.sections, offset, unit.directory, unit.name
            ).files
            known = tuple(numbers.setdefault(path, len(numbers)) for path in files)
            programs.append(_Program(unit.offset, offset, known))
        return _Files(tuple(numbers), tuple(programs))

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of all sources."""
        return self._index.paths

    @cached_property
    def _programs_of(self) -> dict[int, list[_Program]]:
        found: dict[int, list[_Program]] = {}
        for program in self._index.programs:
            for number in set(program.files):
                found.setdefault(number, []).append(program)
        return found

    @cached_property
    def _program_of_unit(self) -> dict[int, _Program]:
        return {one.unit: one for one in self._index.programs}

    def rows(self, unit: int) -> Rows:
        """Give the rows of the unit at an offset of .debug_info."""
        if not self._is_indexed:
            single, _ = self._single(unit)
            return self._decoded(single) if single is not None else Rows()
        program = self._program_of_unit.get(unit)
        return self._decoded(program) if program is not None else Rows()

    def file_of(self, unit: int, number: int) -> str:
        """Give the path that a unit's file number means."""
        if not self._is_indexed:
            _, paths = self._single(unit)
            return paths[number] if number < len(paths) else ""
        program = self._program_of_unit.get(unit)
        if program is None or number >= len(program.files):
            return ""
        return self._index.paths[program.files[number]]

    @property
    def _is_indexed(self) -> bool:
        """Whether the programs of all units are known: of a large library that takes seconds."""
        return "_index" in self.__dict__ or self._cache.has("files")

    def _single(self, unit: int) -> tuple[_Program | None, Sequence[str]]:
        """Read the head of one unit's program alone."""
        known = self._singles.get(unit)
        if known is None:
            of = self._units.make(unit)
            offset = of.line_program
            known = None, ()
            if offset is not None and of.signature is None:
                head = lineprogram.header(self._units.sections, offset, of.directory, of.name)
                known = _Program(unit, offset, ()), head.files
            self._singles[unit] = known
        return known

    def _decoded(self, program: _Program) -> Rows:
        found = self._rows.get(program.offset)
        if found is None:
            columns = self._cache.get(
                f"rows {program.offset}", _Columns, lambda: self._decode(program)
            )
            found = Rows(
                array("Q", columns.address),
                array("I", columns.file),
                array("I", columns.line),
                array("B", columns.flags),
            )
            self._rows[program.offset] = found
        return found

    def _decode(self, program: _Program) -> _Columns:
        unit = self._units.make(program.unit)
        head = lineprogram.header(self._units.sections, program.offset, unit.directory, unit.name)
        rows = lineprogram.rows(self._units.sections, head)
        return _Columns(
            rows.address.tobytes(), rows.file.tobytes(), rows.line.tobytes(), rows.flags.tobytes()
        )

    def spans(self, unit: int) -> list[Span]:
        """Give the code of a unit's functions."""

        def read() -> list[Span]:
            of = self._units.make(unit)
            found = spans.of_unit(of)
            forget(of)
            return found

        return self._cache.get(f"spans {unit}", list[Span], read)

    def spans_at(self, unit: int, address: int) -> list[Span]:
        """Give the code of those functions of a unit that have code at an address.

        Of a large unit the first costs much less than all.
        """
        found: list[Span] = []
        for low, high, offset in self._outline(unit):
            if low <= address < high:
                found += self._spans_of(unit, offset)
        return found

    def _outline(self, unit: int) -> list[tuple[int, int, int]]:
        return self._cache.get(
            f"outline {unit}",
            list[tuple[int, int, int]],
            lambda: spans.outline(self._units.reading(unit)),
        )

    def _spans_of(self, unit: int, offset: int) -> list[Span]:
        def read() -> list[Span]:
            entry = self._units.reading(unit).entry(offset)
            return spans.of_function(entry) if entry is not None else []

        return self._cache.get(f"function {offset}", list[Span], read)

    def find(self, file: str, line: int) -> Found:
        """Find the code of a line; `file` may be the last parts of a path."""
        fitting = locate.matching(file, self.files)
        best, nearest = fitting[0] if fitting else file, set[int]()
        for path in fitting:
            found, valid = self._in_file(path, line)
            if found:
                return Found(path, line, tuple(found), files=tuple(fitting))
            if valid and not nearest:
                best = path
                nearest = valid
        below = sorted(one for one in nearest if one < line)[-2:]
        above = sorted(one for one in nearest if one > line)[:2]
        return Found(best, line, nearest=(*below, *above), files=tuple(fitting))

    def _in_file(self, path: str, line: int) -> tuple[list[Location], set[int]]:
        number = self._index.paths.index(path)
        found: dict[int, Location] = {}
        valid: set[int] = set()
        for program in self._programs_of.get(number, []):
            numbers = {own for own, whole in enumerate(program.files) if whole == number}
            rows = self._decoded(program)
            addresses = _of_line(rows, numbers, line)
            addresses = [one for one in addresses if self._units.is_loaded(one)]
            if addresses:
                for one in self._locations(program, addresses):
                    found.setdefault(one.address, one)
            elif not found:
                valid |= _valid(rows, numbers, self._units.is_loaded)
        return sorted(found.values(), key=lambda one: one.address), valid

    def _locations(self, program: _Program, addresses: list[int]) -> list[Location]:
        """Keep the first address in each block, function or copy, behind its prologue."""
        first: dict[int, tuple[int, Span | None]] = {}
        for address in addresses:
            all_spans = self.spans_at(program.unit, address)
            around = spans.around(all_spans, address)
            span = around[0] if around else None
            # As gdb does: a copy of the line in another block may be on another path.
            key = spans.block(all_spans, address) or -address
            known = first.get(key)
            # A part that was split off as cold lies before the rest, but is reached last.
            if known is None or (span is not None and known[0] < span.first <= address):
                first[key] = (address, span)
        found = []
        for address, span in first.values():
            if span is None:
                found.append(Location(address, ""))
                continue
            place = address
            if address == span.first and not span.is_inlined:
                place = self.prologue_end(program.unit, span)
            found.append(Location(place, span.name, span.is_inlined))
        return found

    def prologue_end(self, unit: int, span: Span) -> int:
        """Give the address behind a function's prologue, where its arguments are in place."""
        rows = self.rows(unit)
        start = bisect.bisect_left(rows.address, span.first)
        second = 0
        for number in range(start, len(rows)):
            address, flags = rows.address[number], rows.flags[number]
            if address >= span.high or (flags & END and address > span.first):
                break
            if flags & PROLOGUE_END:
                return address
            if not second and address > span.first and flags & IS_STMT and rows.line[number]:
                second = address
        return second if second and not self._is_optimised(unit) else span.first

    def next_statement(self, unit: int, address: int, size: int) -> int:
        """Give the second statement of the code at an address, which itself where it has none."""
        rows = self.rows(unit)
        for number in range(bisect.bisect_right(rows.address, address), len(rows)):
            flags = rows.flags[number]
            if rows.address[number] >= address + size or flags & END:
                break
            if flags & IS_STMT and rows.line[number]:
                return rows.address[number]
        return address

    def _is_optimised(self, unit: int) -> bool:
        def ask() -> bool:
            top = self._units.make(unit).top
            return any(one in f"{top.text(dw.AT_PRODUCER)} " for one in _OPTIMISED)

        return self._cache.get(f"optimised {unit}", bool, ask)

    def at(self, address: int) -> Place | None:
        """Give the line of an address."""
        unit = self._units.at(address)
        if unit is None:
            return None
        rows = self.rows(unit.offset)
        number = bisect.bisect_right(rows.address, address) - 1
        if number < 0 or rows.flags[number] & END:
            return None
        # Of the rows with one address the last statement holds.
        last, place = number, rows.address[number]
        while not rows.flags[number] & IS_STMT and number and rows.address[number - 1] == place:
            number -= 1
        if not rows.flags[number] & IS_STMT:
            number = last
        return Place(self.file_of(unit.offset, rows.file[number]), rows.line[number])


def _of_line(rows: Rows, numbers: set[int], line: int) -> list[int]:
    found: list[int] = []
    at = -1
    columns = rows.line
    while True:
        try:
            at = columns.index(line, at + 1)
        except ValueError:
            return found
        flags = rows.flags[at]
        if not flags & IS_STMT or flags & END or rows.file[at] not in numbers:
            continue
        # What goes on with the line of the row before begins nothing.
        goes_on = (
            at > 0
            and rows.line[at - 1] == line
            and rows.flags[at - 1] & (IS_STMT | END) == IS_STMT
            and rows.file[at - 1] == rows.file[at]
        )
        if not goes_on:
            found.append(rows.address[at])


def _valid(
    rows: Rows, numbers: Sequence[int] | set[int], is_loaded: Callable[[int], bool]
) -> set[int]:
    every = zip(rows.address, rows.line, rows.file, rows.flags, strict=True)
    return {
        line
        for address, line, file, flags in every
        if file in numbers and flags & IS_STMT and line and is_loaded(address)
    }
