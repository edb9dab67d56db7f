"""Maps source lines to addresses, and addresses to lines."""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from msgspec import Struct

from debugger.model import location
from debugger.symbols.dwarf import code_spans, line_program
from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf.code_spans import CodeSpan
from debugger.symbols.dwarf.debug_cache import DebugCache
from debugger.symbols.dwarf.debug_entries import DebugUnits, break_cycles
from debugger.symbols.dwarf.line_program import END, IS_STMT, PROLOGUE_END, LineRows

_OPTIMISED: Final = (" -O1", " -O2", " -O3", " -Os", " -Og", " -Ofast", " -Oz")


class _LineProgram(Struct, frozen=True, array_like=True):
    """Describes a unit's line program: its offset, and its files by their numbers in the index."""

    unit: int
    offset: int
    files: tuple[int, ...]


class _FileIndex(Struct, frozen=True, array_like=True):
    paths: tuple[str, ...]
    programs: tuple[_LineProgram, ...]


class _RowColumns(Struct, frozen=True, array_like=True):
    address: bytes
    file: bytes
    line: bytes
    flags: bytes


@dataclass(frozen=True, slots=True)
class LinePosition:
    """Names a line of a file; both are empty where an address has none."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class LineAddress:
    """Names the beginning of a line's code, once in every function or copy that has it."""

    address: int
    function: str
    is_inlined: bool = False


@dataclass(frozen=True, slots=True)
class LineMatch:
    """Holds the addresses of a line; `nearest` are lines with code, if it has none.

    `files` are the paths that the user's words match, where they match more than one.
    """

    file: str
    line: int
    locations: tuple[LineAddress, ...] = ()
    nearest: tuple[int, ...] = ()
    files: tuple[str, ...] = ()


class LineTable:
    """Reads the line tables of one binary, in link-time addresses."""

    # A line to its addresses, in the order in which it is computed:
    #
    # 1. `_file_index`: all files of all units, from the heads of their programs. Cached on
    #    disk.
    # 2. The programs of the units that name the file are run, each once (`_decoded_rows`),
    #    into columns of numbers; a large program has millions of rows, too many for objects.
    # 3. The statements of the line are taken, without those that only continue one
    #    (`_of_line`).
    # 4. Of the statements in one block, function or inlined copy the first is kept
    #    (`_first_locations`), at a function's own first line moved behind the prologue
    #    (`prologue_end`).
    #
    # An address to its line needs its own unit alone, so the index is not built for that.
    def __init__(self, units: DebugUnits, cache: DebugCache) -> None:
        self._units = units
        self._cache = cache
        self._rows: dict[int, LineRows] = {}
        self._singles: dict[int, tuple[_LineProgram | None, Sequence[str]]] = {}

    @cached_property
    def _file_index(self) -> _FileIndex:
        return self._cache.get_or_make("files", _FileIndex, self._read_files)

    def _read_files(self) -> _FileIndex:
        numbers: dict[str, int] = {}
        programs = []
        visited: set[int] = set()
        for unit in self._units:
            offset = unit.line_program
            # A type unit shares its unit's program, and has no code.
            if offset is None or offset in visited or unit.signature is not None:
                continue
            visited.add(offset)
            files = line_program.read_header(
                self._units.sections, offset, unit.directory, unit.name
            ).files
            known = tuple(numbers.setdefault(path, len(numbers)) for path in files)
            programs.append(_LineProgram(unit.offset, offset, known))
        return _FileIndex(tuple(numbers), tuple(programs))

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of all sources."""
        return self._file_index.paths

    @cached_property
    def _programs_of(self) -> dict[int, list[_LineProgram]]:
        found: dict[int, list[_LineProgram]] = {}
        for program in self._file_index.programs:
            for number in set(program.files):
                found.setdefault(number, []).append(program)
        return found

    @cached_property
    def _program_of_unit(self) -> dict[int, _LineProgram]:
        return {one.unit: one for one in self._file_index.programs}

    def unit_rows(self, unit: int) -> LineRows:
        """Return the rows of the unit at an offset of .debug_info."""
        # For one address the head of one program is read, and not those of all units.
        if not self._is_indexed:
            single, _ = self._single_program(unit)
            return self._decoded_rows(single) if single is not None else LineRows()
        program = self._program_of_unit.get(unit)
        return self._decoded_rows(program) if program is not None else LineRows()

    def file_of(self, unit: int, number: int) -> str:
        """Return the path that a unit's file number means."""
        if not self._is_indexed:
            _, paths = self._single_program(unit)
            return paths[number] if number < len(paths) else ""
        program = self._program_of_unit.get(unit)
        if program is None or number >= len(program.files):
            return ""
        return self._file_index.paths[program.files[number]]

    @property
    def _is_indexed(self) -> bool:
        """Whether the programs of all units are known: of a large library that takes seconds."""
        return "_file_index" in self.__dict__ or self._cache.has_key("files")

    def _single_program(self, unit: int) -> tuple[_LineProgram | None, Sequence[str]]:
        """Read the head of one unit's program alone."""
        known = self._singles.get(unit)
        if known is None:
            of = self._units.make_unit(unit)
            offset = of.line_program
            known = None, ()
            if offset is not None and of.signature is None:
                head = line_program.read_header(self._units.sections, offset, of.directory, of.name)
                known = _LineProgram(unit, offset, ()), head.files
            self._singles[unit] = known
        return known

    def _decoded_rows(self, program: _LineProgram) -> LineRows:
        found = self._rows.get(program.offset)
        if found is None:
            columns = self._cache.get_or_make(
                f"rows {program.offset}", _RowColumns, lambda: self._decode_program(program)
            )
            found = LineRows(
                array("Q", columns.address),
                array("I", columns.file),
                array("I", columns.line),
                array("B", columns.flags),
            )
            self._rows[program.offset] = found
        return found

    def _decode_program(self, program: _LineProgram) -> _RowColumns:
        unit = self._units.make_unit(program.unit)
        head = line_program.read_header(
            self._units.sections, program.offset, unit.directory, unit.name
        )
        rows = line_program.run_program(self._units.sections, head)
        return _RowColumns(
            rows.address.tobytes(), rows.file.tobytes(), rows.line.tobytes(), rows.flags.tobytes()
        )

    def unit_spans(self, unit: int) -> list[CodeSpan]:
        """Return the code of a unit's functions."""

        def read() -> list[CodeSpan]:
            of = self._units.make_unit(unit)
            found = code_spans.of_unit(of)
            # The spans are kept, the entries are not: they would wait for the garbage
            # collector.
            break_cycles(of)
            return found

        return self._cache.get_or_make(f"spans {unit}", list[CodeSpan], read)

    def spans_at(self, unit: int, address: int) -> list[CodeSpan]:
        """Return the code of those functions of a unit that have code at an address.

        Reading these alone costs much less than reading a large unit.
        """
        found: list[CodeSpan] = []
        for low, high, offset in self._unit_outline(unit):
            if low <= address < high:
                found += self._spans_of(unit, offset)
        return found

    def _unit_outline(self, unit: int) -> list[tuple[int, int, int]]:
        return self._cache.get_or_make(
            f"outline {unit}",
            list[tuple[int, int, int]],
            lambda: code_spans.unit_outline(self._units.read_briefly(unit)),
        )

    def _spans_of(self, unit: int, offset: int) -> list[CodeSpan]:
        def read() -> list[CodeSpan]:
            entry = self._units.read_briefly(unit).find_entry(offset)
            return code_spans.of_function(entry) if entry is not None else []

        return self._cache.get_or_make(f"function {offset}", list[CodeSpan], read)

    def find_line(self, file: str, line: int) -> LineMatch:
        """Find the code of a line; `file` may be the last parts of a path."""
        fitting = location.match_paths(file, self.files)
        best, nearest = fitting[0] if fitting else file, set[int]()
        for path in fitting:
            found, valid = self._in_file(path, line)
            if found:
                return LineMatch(path, line, tuple(found), files=tuple(fitting))
            if valid and not nearest:
                best = path
                nearest = valid
        below = sorted(one for one in nearest if one < line)[-2:]
        above = sorted(one for one in nearest if one > line)[:2]
        return LineMatch(best, line, nearest=(*below, *above), files=tuple(fitting))

    def statements_of(self, paths: Collection[str]) -> Iterator[tuple[str, int, int]]:
        """Yield the file, the line and the address of each statement of some files."""
        for program in self._file_index.programs:
            names = [self.files[number] for number in program.files]
            own = {at: name for at, name in enumerate(names) if name in paths}
            if not own:
                continue
            rows = self._decoded_rows(program)
            for address, file, line, flags in zip(
                rows.address, rows.file, rows.line, rows.flags, strict=True
            ):
                is_statement = flags & IS_STMT and not flags & END and line
                if is_statement and file in own and self._units.is_loaded(address):
                    yield own[file], line, address

    def _in_file(self, path: str, line: int) -> tuple[list[LineAddress], set[int]]:
        # The same file has other numbers in each unit, and may have two in one.
        number = self._file_index.paths.index(path)
        found: dict[int, LineAddress] = {}
        valid: set[int] = set()
        for program in self._programs_of.get(number, []):
            numbers = {
                own for own, global_number in enumerate(program.files) if global_number == number
            }
            rows = self._decoded_rows(program)
            addresses = _of_line(rows, numbers, line)
            addresses = [one for one in addresses if self._units.is_loaded(one)]
            if addresses:
                for one in self._first_locations(program, addresses):
                    found.setdefault(one.address, one)
            elif not found:
                valid |= _valid_rows(rows, numbers, self._units.is_loaded)
        return sorted(found.values(), key=lambda one: one.address), valid

    def _first_locations(self, program: _LineProgram, addresses: list[int]) -> list[LineAddress]:
        """Keep the first address in each block, function or copy, behind its prologue."""
        first: dict[int, tuple[int, CodeSpan | None]] = {}
        for address in addresses:
            all_spans = self.spans_at(program.unit, address)
            enclosing = code_spans.enclosing_spans(all_spans, address)
            span = enclosing[0] if enclosing else None
            # As gdb does: a copy of the line in another block may be on another path.
            key = code_spans.block_entry(all_spans, address) or -address
            known = first.get(key)
            # A part that was split off as cold lies before the rest, but is reached last.
            if known is None or (span is not None and known[0] < span.first <= address):
                first[key] = (address, span)
        found = []
        for address, span in first.values():
            if span is None:
                found.append(LineAddress(address, ""))
                continue
            place = address
            if address == span.first and not span.is_inlined:
                place = self.prologue_end(program.unit, span)
            found.append(LineAddress(place, span.name, span.is_inlined))
        return found

    def prologue_end(self, unit: int, span: CodeSpan) -> int:
        """Return the address behind a function's prologue, where its arguments are in place."""
        # LLVM marks the end of the prologue. GCC does not: there the second statement of the
        # function is its body, as gdb takes it; optimised code of GCC has no prologue to
        # skip.
        rows = self.unit_rows(unit)
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
        """Return the second statement of the code at an address, or the address itself."""
        rows = self.unit_rows(unit)
        for number in range(bisect.bisect_right(rows.address, address), len(rows)):
            flags = rows.flags[number]
            if rows.address[number] >= address + size or flags & END:
                break
            if flags & IS_STMT and rows.line[number]:
                return rows.address[number]
        return address

    def _is_optimised(self, unit: int) -> bool:
        def ask() -> bool:
            top = self._units.make_unit(unit).top_entry
            return any(one in f"{top.get_text(dw.AT_PRODUCER)} " for one in _OPTIMISED)

        return self._cache.get_or_make(f"optimised {unit}", bool, ask)

    def line_at(self, address: int) -> LinePosition | None:
        """Return the line of an address."""
        unit = self._units.unit_at_address(address)
        if unit is None:
            return None
        rows = self.unit_rows(unit.offset)
        number = bisect.bisect_right(rows.address, address) - 1
        if number < 0 or rows.flags[number] & END:
            return None
        # Of the rows with one address the last statement holds.
        last, place = number, rows.address[number]
        while not rows.flags[number] & IS_STMT and number and rows.address[number - 1] == place:
            number -= 1
        if not rows.flags[number] & IS_STMT:
            number = last
        return LinePosition(self.file_of(unit.offset, rows.file[number]), rows.line[number])


def _of_line(rows: LineRows, numbers: set[int], line: int) -> list[int]:
    found: list[int] = []
    at = -1
    columns = rows.line
    while True:
        try:
            # In C: a loop over the rows in Python would take most of the time.
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


def _valid_rows(
    rows: LineRows, numbers: Sequence[int] | set[int], is_loaded: Callable[[int], bool]
) -> set[int]:
    every = zip(rows.address, rows.line, rows.file, rows.flags, strict=True)
    return {
        line
        for address, line, file, flags in every
        if file in numbers and flags & IS_STMT and line and is_loaded(address)
    }
