"""Unwinds a stack from one frame's registers and memory."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Final

from debugger.backends.frida.dwarf import callframes, locations, showing, spans
from debugger.backends.frida.dwarf import codes as dw
from debugger.backends.frida.dwarf.callframes import FS_BASE, RBP, RIP, RSP, Row
from debugger.backends.frida.dwarf.entries import Entry
from debugger.backends.frida.dwarf.expressions import (
    MASK,
    Context,
    Reader,
    Unavailable,
    Unreadable,
    address,
    evaluate,
)
from debugger.backends.frida.dwarf.image import Image
from debugger.backends.frida.dwarf.operations import parse
from debugger.backends.frida.dwarf.scopes import Role, Variable
from debugger.backends.frida.dwarf.spans import Span, around
from debugger.backends.frida.dwarf.symbols import readable
from debugger.backends.frida.dwarf.values import Memory, Value, located

_CALL_SITES: Final = (dw.TAG_CALL_SITE, dw.TAG_GNU_CALL_SITE)
_CALL_PARAMETERS: Final = (dw.TAG_CALL_SITE_PARAMETER, dw.TAG_GNU_CALL_SITE_PARAMETER)
_REGISTER_0, _REGISTERS, _WORD = 0x50, 32, 8  # DW_OP_reg0, and how many have such an operation
_ENTRY_VALUES_MAX: Final = 8  # callers that are asked one after the other


@dataclass(frozen=True, slots=True)
class Module:
    """A binary that the program has loaded, from `base` up to `end`."""

    image: Image
    base: int
    end: int

    @property
    def bias(self) -> int:
        """What is added to the binary's own addresses."""
        return self.image.binary.bias(self.base)


class Modules:
    """The binaries of a program, found by run-time address."""

    def __init__(self, modules: Iterable[Module]) -> None:
        self._modules = sorted(modules, key=lambda one: one.base)

    @cached_property
    def _bases(self) -> list[int]:
        return [one.base for one in self._modules]

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules)

    def at(self, place: int) -> Module | None:
        """Find the module that an address is in."""
        number = bisect.bisect_right(self._bases, place) - 1
        if number < 0 or place >= self._modules[number].end:
            return None
        return self._modules[number]

    def symbol(self, place: int) -> str | None:
        """Name the function at a run-time address."""
        module = self.at(place)
        if module is None:
            return None
        found = module.image.symbol_at(place - module.bias)
        return readable(found.name) if found is not None else None


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a stack, innermost first; all addresses are run-time ones.

    `pc` is where it goes on, `lookup` the address its line and variables are looked for at: in a
    caller the call itself. `entry` is its function in .debug_info, None without debug information;
    `cfa` is None where nothing is known of its caller. `registers` are by DWARF number.
    """

    index: int
    function: str
    pc: int
    lookup: int
    file: str
    line: int
    registers: Mapping[int, int]
    cfa: int | None
    module: Module | None
    entry: int | None = None
    is_inlined: bool = False
    is_signal: bool = False


def stack(
    registers: Mapping[int, int], modules: Modules, read: Reader, *, most: int = 256
) -> list[Frame]:
    """Unwind from registers by DWARF number; inlined copies are frames of their own.

    It ends where no caller is known, at a fault of the stack, or after `most` frames.
    """
    found: list[Frame] = []
    now: dict[int, int] | None = dict(registers)
    is_exact = True
    while now is not None and len(found) < most:
        pc = now.get(RIP, 0)
        if not pc and found:
            break
        module = modules.at(pc)
        row = module.image.frames.row(_lookup(pc, is_exact) - module.bias) if module else None
        base = _cfa(row, now, read)
        found.extend(_frames(len(found), now, module, base, row, is_exact=is_exact))
        before, is_exact = now, row is not None and row.is_signal
        now = _caller(row, now, read, is_first=len(found) == 1)
        if now is not None and now.get(RSP, 0) <= before.get(RSP, 0) and not is_exact:
            break
    return found[:most]


def _lookup(pc: int, is_exact: bool) -> int:  # noqa: FBT001 - the one thing it depends on
    # A call may be the last instruction of its function: what follows belongs to another.
    return pc if is_exact else pc - 1


def _cfa(row: Row | None, registers: Mapping[int, int], read: Reader) -> int | None:
    if row is None:
        return None
    try:
        return callframes.cfa(row, registers, read)
    except (Unavailable, Unreadable):
        return None


def _caller(
    row: Row | None, registers: Mapping[int, int], read: Reader, *, is_first: bool
) -> dict[int, int] | None:
    try:
        if row is not None:
            found = callframes.caller(row, registers, read)
            return found if RIP in found else None
        return _guessed(registers, read, is_first=is_first)
    except (Unavailable, Unreadable):
        return None


def _guessed(
    registers: Mapping[int, int], read: Reader, *, is_first: bool
) -> dict[int, int] | None:
    """Find the caller of code that nothing is known of.

    A call to nowhere has just pushed where it came from; other code may have a frame pointer.
    """
    stack_at, base = registers.get(RSP, 0), registers.get(RBP, 0)
    kept = {one: registers[one] for one in callframes.KEPT if one in registers}
    if is_first and not _readable(registers.get(RIP, 0), read):
        pc = int.from_bytes(read(stack_at, 8), "little")
        return {**kept, RSP: stack_at + 8, RIP: pc} if pc else None
    if base < stack_at or base & 7:
        return None
    pair = read(base, 16)
    pc = int.from_bytes(pair[8:16], "little")
    if not pc:
        return None
    return {**kept, RBP: int.from_bytes(pair[:8], "little"), RSP: base + 16, RIP: pc}


def _readable(place: int, read: Reader) -> bool:
    try:
        return len(read(place, 1)) == 1
    except Unreadable:
        return False


def _frames(
    index: int,
    registers: Mapping[int, int],
    module: Module | None,
    base: int | None,
    row: Row | None,
    *,
    is_exact: bool,
) -> Iterator[Frame]:
    pc = registers.get(RIP, 0)
    lookup = _lookup(pc, is_exact)
    is_signal = row is not None and row.is_signal
    if module is None:
        yield Frame(index, "??", pc, lookup, "", 0, registers, base, None, is_signal=is_signal)
        return
    own = lookup - module.bias
    image = module.image
    unit = image.units.at(own) if image.has_debug else None
    copies: list[Span] = (
        _one_function(around(image.lines.spans_at(unit.offset, own), own)) if unit else []
    )
    place = image.lines.at(own) if unit else None
    file, line = (place.file, place.line) if place is not None else ("", 0)
    if unit is None or not copies:
        symbol = image.symbol_at(own)
        name = readable(symbol.name) if symbol is not None else "??"
        known = (index, name, pc, lookup, file, line, registers, base, module)
        yield Frame(*known, is_signal=is_signal)
        return
    for number, span in enumerate(copies):
        yield Frame(
            index + number,
            span.name,
            pc,
            lookup,
            file,
            line,
            registers,
            base,
            module,
            span.entry,
            span.is_inlined,
            is_signal,
        )
        file, line = image.lines.file_of(unit.offset, span.call_file), span.call_line


def _one_function(known: list[Span]) -> list[Span]:
    """Leave out the other names of a function: assembly declares one for each alias."""
    outer = next((at for at, one in enumerate(known) if not one.is_inlined), len(known))
    return known[: outer + 1]


def variables(frame: Frame) -> tuple[Variable, ...]:
    """List the arguments and variables in scope in a frame; none without debug information."""
    if frame.module is None or frame.entry is None:
        return ()
    return frame.module.image.scopes.locals(frame.entry, frame.lookup - frame.module.bias)


def value(variable: Variable, frame: Frame, memory: Memory) -> Value:
    """Find a variable's value in a frame; `problem` says why there is none."""
    if variable.constant is not None:
        return Value(variable.type, content=variable.constant)
    if variable.why:
        return Value(variable.type, problem=f"<{variable.why}>")
    try:
        site = evaluate(variable.place, context(frame, memory.read))
    except Unreadable as error:
        return Value(variable.type, problem=str(error))
    found = located(variable.type, site, frame.registers, memory)
    if found.problem and variable.role is Role.ARGUMENT and not frame.is_inlined:
        return replace(found, problem=_with_entry_value(found.problem, variable, frame, memory))
    return found


def _with_entry_value(problem: str, variable: Variable, frame: Frame, memory: Memory) -> str:
    """Add what an argument was at the call, where the caller says that: it may be another now."""
    assert frame.module is not None
    functions = frame.module.image.functions.at(frame.lookup - frame.module.bias)
    start = next((one.address for one in functions if not one.is_inlined), 0)
    place = locations.operations(variable.entry, start)
    if len(place) != 1 or place[0].name != "reg" or place[0].first >= _REGISTERS:
        return problem
    try:
        number = _value_at_entry(frame, memory.read, 0, bytes([_REGISTER_0 + place[0].first]))
    except (Unavailable, Unreadable):
        return problem
    content = number.to_bytes(_WORD, "little")[: variable.type.size]
    shown = showing.text(Value(variable.type, content=content), memory)
    return f"{problem.removesuffix('>')}; {shown} at the call>"


def context(frame: Frame, read: Reader, depth: int = 0) -> Context:
    """Give what a frame's expressions may ask for."""
    module = frame.module
    bias = module.bias if module is not None else 0
    plain = Context(frame.registers, read, bias, frame.cfa)

    def base() -> int:
        if module is None or frame.entry is None:
            raise Unavailable("no frame base")
        found = module.image.scopes.frame_base(frame.entry, frame.lookup - bias)
        return address(found, plain) & MASK

    def thread_local(offset: int) -> int:
        thread = frame.registers.get(FS_BASE)
        if module is None or thread is None:
            raise Unavailable("thread-local")
        below, slot = module.image.binary.block_below, module.image.binary.module_number_slot
        if below is not None:
            return thread - below + offset & MASK
        if slot is None:
            raise Unavailable("thread-local in a library that was built without a number for them")

        def word(place: int) -> int:
            return int.from_bytes(read(place & MASK, _WORD), "little")

        vector, number = word(thread + _WORD), word(slot + bias)
        if number > word(vector - 2 * _WORD):
            raise Unavailable("thread-local, and not used by this thread yet")
        return word(vector + 2 * _WORD * number) + offset & MASK

    return Context(
        frame.registers,
        read,
        bias,
        frame.cfa,
        base,
        thread_local,
        entry_value=partial(_value_at_entry, frame, read, depth),
    )


def _value_at_entry(frame: Frame, read: Reader, depth: int, location: bytes) -> int:
    """Find what a register had at a function's entry, as its caller says (DWARF 5, 3.4).

    Raises:
        Unavailable: The caller does not say it, or a tail call came between.
    """
    caller = _calling(frame, read) if depth < _ENTRY_VALUES_MAX else None
    site = _call_site(caller, frame) if caller is not None else None
    for one in site.children if site is not None else ():
        if one.tag in _CALL_PARAMETERS and one.block(dw.AT_LOCATION) == location:
            value = one.block(dw.AT_CALL_VALUE) or one.block(dw.AT_GNU_CALL_SITE_VALUE)
            if value is not None and caller is not None:
                return address(parse(value), context(caller, read, depth + 1)) & MASK
    raise Unavailable("optimized out")


def _calling(frame: Frame, read: Reader) -> Frame | None:
    """Unwind to the caller, where it is in the same binary and has debug information."""
    module = frame.module
    if module is None:
        return None
    try:
        row = module.image.frames.row(frame.lookup - module.bias)
        registers = callframes.caller(row, frame.registers, read) if row is not None else {}
    except Unreadable:
        return None
    pc = registers.get(RIP, 0)
    if not module.base < pc <= module.end:
        return None
    own = module.image.frames.row(pc - 1 - module.bias)
    base = _cfa(own, registers, read)
    return next(_frames(0, registers, module, base, own, is_exact=False), None)


def _call_site(caller: Frame, frame: Frame) -> Entry | None:
    """Find the call of a caller's that returns to where a frame does, and is of its function."""
    assert caller.module is not None
    assert frame.module is not None
    image, bias = caller.module.image, caller.module.bias
    for function in image.functions.at(caller.lookup - bias):
        entry = image.units.entry(function.entry)
        for one in entry.walk() if entry is not None and not function.is_inlined else ():
            if one.tag not in _CALL_SITES:
                continue
            after = one.address(dw.AT_CALL_RETURN_PC) or one.address(dw.AT_LOW_PC)
            called = one.reference(dw.AT_CALL_ORIGIN) or one.reference(dw.AT_ABSTRACT_ORIGIN)
            if after == caller.pc - bias and called is not None:
                return one if _outer_name(frame) == spans.qualified(called) else None
    return None


def _outer_name(frame: Frame) -> str:
    """Name the function that a frame's code is of, which others may be inlined into."""
    assert frame.module is not None
    found = frame.module.image.functions.at(frame.lookup - frame.module.bias)
    return next((one.name for one in found if not one.is_inlined), frame.function)
