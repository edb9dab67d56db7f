"""Gives the location of a function's variables while its prologue has not stored them yet.

A location that is one expression for the whole function is right only behind the prologue. Before,
a parameter is where the prologue will take it from, which the code itself says: no calling
convention is assumed, since the compiler may have changed the function's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf import prologue_analysis
from debugger.symbols.dwarf.debug_entries import DebugEntry, DebugUnits
from debugger.symbols.dwarf.elf_file import ElfFile
from debugger.symbols.dwarf.line_table import LineTable
from debugger.symbols.dwarf.location_operations import LocationOperation
from debugger.symbols.dwarf.prologue_analysis import NUMBERS, Bytes, PrologueState

_NAMES: Final = {number: name for name, number in NUMBERS.items()}
_FRAME: Final = {NUMBERS["rsp"], NUMBERS["rbp"]}
_WORD: Final = 8
_CODE_MAX: Final = 512
_UNKNOWN: Final = "not known at the entry"

Place = tuple[LocationOperation, ...]


@dataclass(frozen=True, slots=True)
class PrologueExtent:
    """A function's first code: its entry, where its prologue ends, and the line there."""

    entry: int
    body: int
    end: int
    line: str = ""


@dataclass(frozen=True, slots=True)
class _FrameSlot:
    """Where a location leads in the frame; `is_pointed` where the value is behind it."""

    offset: int
    is_pointed: bool = False


class FunctionStart:
    """The first instructions of one function, followed once for all of its variables."""

    def __init__(self, extent: PrologueExtent, read: Callable[[int, int], bytes | None]) -> None:
        self._extent = extent
        # Optimised code has no prologue of its own: what it stores, it stores before it branches.
        self._is_mixed = extent.body == extent.entry
        end = min(extent.end, extent.entry + _CODE_MAX) if self._is_mixed else extent.body
        code = read(extent.entry, end - extent.entry) or b""
        self._states = prologue_analysis.follow_prologue(code, extent.entry, end)
        self._is_whole = self._is_mixed or self._states[-1].address == extent.body

    @property
    def body_address(self) -> int:
        """The address behind the prologue."""
        return self._extent.body

    def is_in_prologue(self, address: int) -> bool:
        """Say whether an address is where the prologue may be under way."""
        return any(one.address == address for one in self._states[:-1]) or (
            self._extent.entry <= address < self._extent.body
        )

    @property
    def explain_location(self) -> str:
        """Why a parameter has no location here, and where it has one."""
        line = self._extent.line
        return f"{_UNKNOWN}; {line} knows it" if line else _UNKNOWN

    def is_unset(self, address: int, place: Place, base: Place) -> bool:
        """Say whether a location is in the frame, where no statement has stored anything yet."""
        slot = self._frame_slot(place, base)
        return slot is not None and slot.offset < 0 and address < self._extent.body

    def location_at(
        self, address: int, place: Place, base: Place, size: int, *, is_listed: bool
    ) -> Place | None:
        """Give the location that holds at an address; None where it is not known.

        Args:
            address: The link-time address, which `is_in_prologue` knows.
            place: The location that the debug information has for it.
            base: The function's frame base.
            size: The bytes of the variable.
            is_listed: Whether `place` is of a list, which is for this very address.
        """
        found: list[LocationOperation] = []
        for part, count in _split_pieces(place):
            known = self._part_location(address, part, base, count or size, is_listed=is_listed)
            if known is None or (count and any(one.name == "piece" for one in known)):
                return None
            found += known
            if count:
                found.append(LocationOperation("piece", count))
        return tuple(found)

    def _part_location(
        self, address: int, place: Place, base: Place, size: int, *, is_listed: bool
    ) -> Place | None:
        now = next((one for one in self._states if one.address == address), None)
        # A frame that counts from its canonical address needs no register: what is said of one
        # there is said of this address, while LLVM says it of what is behind the prologue.
        is_exact = is_listed and base[:1] == (LocationOperation("call_frame_cfa"),)
        slot = self._frame_slot(place, base) if not is_exact or place[0].name != "breg" else None
        if slot is not None:
            return self._of_slot(address, now, slot, size, place)
        # GCC writes a list of one stretch, which is the whole function, as one expression.
        is_traced = base[:1] == (LocationOperation("call_frame_cfa"),) and self._is_mixed
        if is_listed or is_traced or address >= self._extent.body > self._extent.entry:
            return place
        if any(one.name in {"fbreg", "call_frame_cfa"} for one in place):
            return None
        return self._of_register(now, place)

    def _frame_slot(self, place: Place, base: Place) -> _FrameSlot | None:
        """Understand a location in the frame: an offset, and a pointer there perhaps."""
        if not place:
            return None
        is_pointed = len(place) > 1 and place[-1].name == "deref"
        rest = place[:-1] if is_pointed else place
        first, offset = rest[0], 0
        match [one.name for one in rest]:
            case ["fbreg"]:
                start, offset = self._base_offset(base), first.first
            case ["breg"]:
                start, offset = self._register_offset(first.first), first.second
            case ["call_frame_cfa"]:
                start = 0
            case ["call_frame_cfa", "plus_uconst"]:
                start, offset = 0, rest[1].first
            case ["call_frame_cfa", "const", "plus"]:
                start, offset = 0, rest[1].first
            case _:
                return None
        return _FrameSlot(start + offset, is_pointed) if start is not None else None

    def _base_offset(self, base: Place) -> int | None:
        match base:
            case (LocationOperation(name="call_frame_cfa"),):
                return 0
            case (LocationOperation(name="reg", first=number),):
                return self._register_offset(number)
            case (LocationOperation(name="breg", first=number, second=offset),):
                start = self._register_offset(number)
                return start + offset if start is not None else None
        return None

    def _register_offset(self, number: int) -> int | None:
        """Return what a frame's register is behind the prologue, as an offset in the frame."""
        if number not in _FRAME or (not self._is_whole and number == NUMBERS["rsp"]):
            return None
        held = self._states[-1].registers.get(_NAMES.get(number, ""))
        return held if isinstance(held, int) else None

    def _of_slot(
        self, address: int, now: PrologueState | None, slot: _FrameSlot, size: int, place: Place
    ) -> Place | None:
        size = _WORD if slot.is_pointed else size
        whole = (
            *_frame_location(slot.offset),
            *((LocationOperation("deref"),) if slot.is_pointed else ()),
        )
        if slot.offset >= 0:  # the caller has put it there
            return whole
        held = self._stored_bytes(self._states[-1], slot.offset, size)
        if size and None not in held:
            is_stored = now is not None and self._stored_bytes(now, slot.offset, size) == held
            if is_stored or address >= self._states[-1].address:
                return whole
            found = _origin_location(held, now) if now is not None else None
            return _pointed_location(found) if slot.is_pointed else found
        is_behind = address >= self._extent.body and address != self._extent.entry
        return place if is_behind else None

    @staticmethod
    def _stored_bytes(state: PrologueState, offset: int, size: int) -> Bytes:
        return tuple(state.memory.get(offset + number) for number in range(size))

    def _of_register(self, now: PrologueState | None, place: Place) -> Place | None:
        """Follow what one expression for the whole function says of registers."""
        found = []
        for one in place:
            if one.name not in {"reg", "breg", "regval"}:
                found.append(one)
                continue
            held = self._states[-1].registers.get(_NAMES.get(one.first, ""))
            if not self._is_whole or held is None or isinstance(held, int) or now is None:
                return None
            register = now.place_of(held[:_WORD]) if None not in held[:_WORD] else None
            if register is None:
                return None
            found.append(LocationOperation(one.name, NUMBERS[register], one.second))
        return tuple(found)


def _split_pieces(place: Place) -> Iterator[tuple[Place, int]]:
    """Split a location into its pieces, each with its size; 0 where it is one."""
    part: list[LocationOperation] = []
    for one in place:
        if one.name == "piece":
            yield tuple(part), one.first
            part = []
        else:
            part.append(one)
    if part:
        yield tuple(part), 0


def _frame_location(offset: int) -> Place:
    cfa = LocationOperation("call_frame_cfa")
    if offset >= 0:
        return (cfa, LocationOperation("plus_uconst", offset))
    return (cfa, LocationOperation("const", offset), LocationOperation("plus"))


def _origin_location(held: Bytes, now: PrologueState) -> Place | None:
    """Give the location of bytes whose origin is known: registers, or the caller's memory."""
    groups: list[list[tuple[str, int]]] = []
    for source in held:
        if source is None:
            return None
        last = groups[-1][-1] if groups else None
        if last is not None and source == (last[0], last[1] + 1):
            groups[-1].append(source)
        else:
            groups.append([source])
    found: list[LocationOperation] = []
    for group in groups:
        name, first = group[0]
        if name == "cfa":
            found += _frame_location(first)
        else:
            register = now.place_of(tuple(group))
            if register is None:
                return None
            found.append(LocationOperation("reg", NUMBERS[register]))
        if len(groups) > 1:
            found.append(LocationOperation("piece", len(group)))
    return tuple(found)


def _pointed_location(pointer: Sequence[LocationOperation] | None) -> Place | None:
    """Give the location of what a pointer names, by the pointer's own."""
    if pointer is None or any(one.name == "piece" for one in pointer):
        return None
    if pointer[0].name == "reg":
        return (LocationOperation("breg", pointer[0].first, 0),)
    return (*pointer, LocationOperation("deref"))


class PrologueIndex:
    """The functions of one binary, each followed from its entry when that is needed."""

    def __init__(self, binary: ElfFile, units: DebugUnits, lines: LineTable) -> None:
        self._binary = binary
        self._units = units
        self._lines = lines
        self._starts: dict[int, FunctionStart | None] = {}

    def start_around(self, function: DebugEntry, address: int) -> FunctionStart | None:
        """Give the start of a function where an address is before its prologue's end."""
        if function.tag != dw.TAG_SUBPROGRAM:
            return None
        low = function.get_address(dw.AT_LOW_PC)
        if low is not None and not low <= address < low + _CODE_MAX:
            return None
        if function.offset not in self._starts:
            self._starts[function.offset] = self._function_start(function, address)
        found = self._starts[function.offset]
        return found if found is not None and found.is_in_prologue(address) else None

    def _function_start(self, function: DebugEntry, address: int) -> FunctionStart | None:
        unit = self._units.unit_at_address(address)
        known = self._lines.spans_at(unit.offset, address) if unit is not None else []
        span = next((one for one in known if one.entry == function.offset), None)
        if unit is None or span is None:
            return None
        body = self._lines.prologue_end(unit.offset, span)
        place = self._lines.line_at(body) if body > span.first else None
        line = f"{PurePath(place.file).name}:{place.line}" if place and place.line else ""
        high = span.high if span.low <= span.first < span.high else span.first
        return FunctionStart(PrologueExtent(span.first, body, high, line), self._binary.read_at)
