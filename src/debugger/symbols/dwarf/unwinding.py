"""Unwinds a stack from one frame's registers and memory."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Final

from debugger.symbols.dwarf import call_frames, code_spans, location_lists, value_format
from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.call_frames import FS_BASE, RBP, RIP, RSP, FrameRules
from debugger.symbols.dwarf.code_spans import CodeSpan, enclosing_spans
from debugger.symbols.dwarf.debug_entries import DebugEntry
from debugger.symbols.dwarf.elf_file import demangle
from debugger.symbols.dwarf.location_evaluation import (
    MASK,
    EvaluationContext,
    Reader,
    UnavailableValue,
    UnreadableMemory,
    evaluate_address,
    evaluate_location,
    parse_operations,
)
from debugger.symbols.dwarf.scope_variables import DebugVariable, VariableRole
from debugger.symbols.dwarf.typed_values import TypedValue, ValueMemory, value_at_site

_CALL_SITES: Final = (dw.TAG_CALL_SITE, dw.TAG_GNU_CALL_SITE)
_CALL_PARAMETERS: Final = (dw.TAG_CALL_SITE_PARAMETER, dw.TAG_GNU_CALL_SITE_PARAMETER)
_REGISTER_0, _REGISTERS, _WORD = 0x50, 32, 8  # DW_OP_reg0, and how many have such an operation
_ENTRY_VALUES_MAX: Final = 8  # callers that are asked one after the other


@dataclass(frozen=True, slots=True)
class LoadedBinary:
    """Describes a binary that the program has loaded, from `base` up to `end`."""

    image: BinaryImage
    base: int
    end: int

    @property
    def load_bias(self) -> int:
        """The difference between run-time addresses and the binary's own."""
        return self.image.binary.load_bias(self.base)


class LoadedBinaries:
    """Holds the binaries of a program, found by run-time address."""

    def __init__(self, modules: Iterable[LoadedBinary]) -> None:
        self._modules = sorted(modules, key=lambda one: one.base)

    @cached_property
    def _base_addresses(self) -> list[int]:
        return [one.base for one in self._modules]

    def __iter__(self) -> Iterator[LoadedBinary]:
        return iter(self._modules)

    def module_at(self, place: int) -> LoadedBinary | None:
        """Return the module that an address is in."""
        number = bisect.bisect_right(self._base_addresses, place) - 1
        if number < 0 or place >= self._modules[number].end:
            return None
        return self._modules[number]

    def symbol_name(self, place: int) -> str | None:
        """Return the name of the function at a run-time address."""
        module = self.module_at(place)
        if module is None:
            return None
        found = module.image.symbol_at(place - module.load_bias)
        return demangle(found.name) if found is not None else None


@dataclass(frozen=True, slots=True)
class UnwoundFrame:
    """Describes one frame of a stack, innermost first; all addresses are run-time ones.

    `pc` is where the frame continues, `lookup` the address for its line and variables: in a caller
    the call itself. `entry` is its function in .debug_info, None without debug information; `cfa`
    is None where nothing is known of its caller. `registers` are by DWARF number.
    """

    index: int
    function: str
    pc: int
    lookup: int
    file: str
    line: int
    registers: Mapping[int, int]
    cfa: int | None
    module: LoadedBinary | None
    entry: int | None = None
    is_inlined: bool = False
    is_signal: bool = False


def unwind_stack(
    registers: Mapping[int, int], modules: LoadedBinaries, read: Reader, *, most: int = 256
) -> list[UnwoundFrame]:
    """Unwind from registers by DWARF number; inlined copies are frames of their own.

    The list ends where no caller is known, at a fault of the stack, or after `most` frames.
    """
    # One turn for each frame that is really on the stack:
    #
    # 1. Find the binary at pc, and its call frame rules there (.eh_frame).
    # 2. By these the canonical frame address: the stack pointer behind the return.
    # 3. Yield the innermost inlined copy at pc, then those around it, then the function
    #    itself; all share the registers (`_inlined_frames`).
    # 4. By the rules again the caller's registers, as far as they were saved. Without rules,
    #    a frame pointer or the word at rsp is tried (`_guess_caller`).
    #
    # pc is exact in the innermost frame, and in one that a signal interrupted. In all others
    # it is a return address, and everything is looked up at pc - 1. Each caller's stack
    # pointer must be higher than the one before, or the walk would go in a circle.
    found: list[UnwoundFrame] = []
    now: dict[int, int] | None = dict(registers)
    is_exact = True
    while now is not None and len(found) < most:
        pc = now.get(RIP, 0)
        if not pc and found:
            break
        module = modules.module_at(pc)
        row = (
            module.image.frames.rules_at(_lookup_address(pc, is_exact) - module.load_bias)
            if module
            else None
        )
        base = _frame_address(row, now, read)
        found.extend(_inlined_frames(len(found), now, module, base, row, is_exact=is_exact))
        before, is_exact = now, row is not None and row.is_signal
        now = _caller_registers(row, now, read, is_first=len(found) == 1)
        # A signal's handler may run on another stack, which may lie anywhere.
        if now is not None and now.get(RSP, 0) <= before.get(RSP, 0) and not is_exact:
            break
    return found[:most]


def _lookup_address(pc: int, is_exact: bool) -> int:  # noqa: FBT001 - the one thing it depends on
    # For example a call of abort, or of another function that does not return.
    # A call may be the last instruction of its function: what follows belongs to another.
    return pc if is_exact else pc - 1


def _frame_address(
    row: FrameRules | None, registers: Mapping[int, int], read: Reader
) -> int | None:
    if row is None:
        return None
    try:
        return call_frames.compute_cfa(row, registers, read)
    except (UnavailableValue, UnreadableMemory):
        return None


def _caller_registers(
    row: FrameRules | None, registers: Mapping[int, int], read: Reader, *, is_first: bool
) -> dict[int, int] | None:
    try:
        if row is not None:
            found = call_frames.caller_registers(row, registers, read)
            return found if RIP in found else None
        return _guess_caller(registers, read, is_first=is_first)
    except (UnavailableValue, UnreadableMemory):
        return None


def _guess_caller(
    registers: Mapping[int, int], read: Reader, *, is_first: bool
) -> dict[int, int] | None:
    """Guess the caller of code without call frame information.

    A call to nowhere has just pushed its return address; other code may have a frame pointer.
    """
    stack_at, base = registers.get(RSP, 0), registers.get(RBP, 0)
    preserved = {one: registers[one] for one in call_frames.PRESERVED if one in registers}
    if is_first and not _is_readable(registers.get(RIP, 0), read):
        pc = int.from_bytes(read(stack_at, 8), "little")
        return {**preserved, RSP: stack_at + 8, RIP: pc} if pc else None
    # rbp is an ordinary register in most code: one below rsp, or not aligned, is no frame
    # pointer.
    if base < stack_at or base & 7:
        return None
    pair = read(base, 16)
    pc = int.from_bytes(pair[8:16], "little")
    if not pc:
        return None
    return {**preserved, RBP: int.from_bytes(pair[:8], "little"), RSP: base + 16, RIP: pc}


def _is_readable(place: int, read: Reader) -> bool:
    try:
        return len(read(place, 1)) == 1
    except UnreadableMemory:
        return False


def _inlined_frames(
    index: int,
    registers: Mapping[int, int],
    module: LoadedBinary | None,
    base: int | None,
    row: FrameRules | None,
    *,
    is_exact: bool,
) -> Iterator[UnwoundFrame]:
    pc = registers.get(RIP, 0)
    lookup = _lookup_address(pc, is_exact)
    is_signal = row is not None and row.is_signal
    if module is None:
        yield UnwoundFrame(
            index, "??", pc, lookup, "", 0, registers, base, None, is_signal=is_signal
        )
        return
    own = lookup - module.load_bias
    image = module.image
    unit = image.units.unit_at_address(own) if image.has_debug else None
    copies: list[CodeSpan] = (
        _one_function(enclosing_spans(image.lines.spans_at(unit.offset, own), own)) if unit else []
    )
    place = image.lines.line_at(own) if unit else None
    file, line = (place.file, place.line) if place is not None else ("", 0)
    if unit is None or not copies:
        symbol = image.symbol_at(own)
        name = demangle(symbol.name) if symbol is not None else "??"
        known = (index, name, pc, lookup, file, line, registers, base, module)
        yield UnwoundFrame(*known, is_signal=is_signal)
        return
    for number, span in enumerate(copies):
        yield UnwoundFrame(
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


def _one_function(known: list[CodeSpan]) -> list[CodeSpan]:
    """Drop the other names of a function: assembly declares one for each alias."""
    outer = next((at for at, one in enumerate(known) if not one.is_inlined), len(known))
    return known[: outer + 1]


def frame_variables(frame: UnwoundFrame) -> tuple[DebugVariable, ...]:
    """List the arguments and variables in scope in a frame; none without debug information."""
    if frame.module is None or frame.entry is None:
        return ()
    return frame.module.image.scopes.local_variables(
        frame.entry, frame.lookup - frame.module.load_bias
    )


def variable_value(variable: DebugVariable, frame: UnwoundFrame, memory: ValueMemory) -> TypedValue:
    """Return a variable's value in a frame; `problem` says why there is none."""
    if variable.constant is not None:
        return TypedValue(variable.type, content=variable.constant)
    if variable.why:
        return TypedValue(variable.type, problem=f"<{variable.why}>")
    try:
        site = evaluate_location(variable.place, frame_context(frame, memory.read))
    except UnreadableMemory as error:
        return TypedValue(variable.type, problem=str(error))
    found = value_at_site(variable.type, site, frame.registers, memory)
    if found.problem and variable.role is VariableRole.ARGUMENT and not frame.is_inlined:
        return replace(found, problem=_with_entry_value(found.problem, variable, frame, memory))
    return found


def _with_entry_value(
    problem: str, variable: DebugVariable, frame: UnwoundFrame, memory: ValueMemory
) -> str:
    """Add an argument's value at the call, where the caller says it: it may be another now."""
    assert frame.module is not None
    functions = frame.module.image.functions.functions_at(frame.lookup - frame.module.load_bias)
    start = next((one.address for one in functions if not one.is_inlined), 0)
    # Where it was at the function's entry: one of the registers that a call site may
    # describe.
    place = location_lists.location_operations(variable.entry, start)
    if len(place) != 1 or place[0].name != "reg" or place[0].first >= _REGISTERS:
        return problem
    try:
        number = _value_at_entry(frame, memory.read, 0, bytes([_REGISTER_0 + place[0].first]))
    except (UnavailableValue, UnreadableMemory):
        return problem
    content = number.to_bytes(_WORD, "little")[: variable.type.size]
    shown = value_format.format_value(TypedValue(variable.type, content=content), memory)
    return f"{problem.removesuffix('>')}; {shown} at the call>"


def frame_context(frame: UnwoundFrame, read: Reader, depth: int = 0) -> EvaluationContext:
    """Return what a frame's expressions may use."""
    module = frame.module
    bias = module.load_bias if module is not None else 0
    plain = EvaluationContext(frame.registers, read, bias, frame.cfa)

    def base() -> int:
        if module is None or frame.entry is None:
            raise UnavailableValue("no frame base")
        found = module.image.scopes.frame_base(frame.entry, frame.lookup - bias)
        return evaluate_address(found, plain) & MASK

    def thread_local(offset: int) -> int:
        thread = frame.registers.get(FS_BASE)
        if module is None or thread is None:
            raise UnavailableValue("thread-local")
        # The program's own block lies right below the thread pointer (variant II of the TLS
        # ABI). A library's is found by its module number in glibc's dtv: word 1 of the
        # thread's block is the vector, of entries of 16 bytes; the one below the first is its
        # length, entry `number` has the library's block.
        below, slot = module.image.binary.block_below, module.image.binary.module_number_slot
        if below is not None:
            return thread - below + offset & MASK
        if slot is None:
            raise UnavailableValue(
                "thread-local in a library that was built without a number for them"
            )

        def word(place: int) -> int:
            return int.from_bytes(read(place & MASK, _WORD), "little")

        vector, number = word(thread + _WORD), word(slot + bias)
        if number > word(vector - 2 * _WORD):
            raise UnavailableValue("thread-local, and not used by this thread yet")
        return word(vector + 2 * _WORD * number) + offset & MASK

    return EvaluationContext(
        frame.registers,
        read,
        bias,
        frame.cfa,
        base,
        thread_local,
        entry_value=partial(_value_at_entry, frame, read, depth),
    )


def _value_at_entry(frame: UnwoundFrame, read: Reader, depth: int, location: bytes) -> int:
    """Return a register's value at a function's entry, as its caller says (DWARF 5, 3.4).

    Raises:
        UnavailableValue: The caller does not say it, or a tail call came between.
    """
    # The caller's expression may itself need its caller's: bounded by `depth`.
    caller = _calling_frame(frame, read) if depth < _ENTRY_VALUES_MAX else None
    site = _call_site(caller, frame) if caller is not None else None
    for one in site.children if site is not None else ():
        if one.tag in _CALL_PARAMETERS and one.get_block(dw.AT_LOCATION) == location:
            value = one.get_block(dw.AT_CALL_VALUE) or one.get_block(dw.AT_GNU_CALL_SITE_VALUE)
            if value is not None and caller is not None:
                return (
                    evaluate_address(
                        parse_operations(value), frame_context(caller, read, depth + 1)
                    )
                    & MASK
                )
    raise UnavailableValue("optimized out")


def _calling_frame(frame: UnwoundFrame, read: Reader) -> UnwoundFrame | None:
    """Unwind to the caller, where it is in the same binary and has debug information."""
    module = frame.module
    if module is None:
        return None
    try:
        row = module.image.frames.rules_at(frame.lookup - module.load_bias)
        registers = (
            call_frames.caller_registers(row, frame.registers, read) if row is not None else {}
        )
    except UnreadableMemory:
        return None
    pc = registers.get(RIP, 0)
    if not module.base < pc <= module.end:
        return None
    own = module.image.frames.rules_at(pc - 1 - module.load_bias)
    base = _frame_address(own, registers, read)
    return next(_inlined_frames(0, registers, module, base, own, is_exact=False), None)


def _call_site(caller: UnwoundFrame, frame: UnwoundFrame) -> DebugEntry | None:
    """Find the caller's call that returns to where a frame does, and is of its function."""
    assert caller.module is not None
    assert frame.module is not None
    image, bias = caller.module.image, caller.module.load_bias
    for function in image.functions.functions_at(caller.lookup - bias):
        entry = image.units.find_entry(function.entry)
        for one in (
            entry.walk_descendants() if entry is not None and not function.is_inlined else ()
        ):
            if one.tag not in _CALL_SITES:
                continue
            after = one.get_address(dw.AT_CALL_RETURN_PC) or one.get_address(dw.AT_LOW_PC)
            called = one.get_reference(dw.AT_CALL_ORIGIN) or one.get_reference(
                dw.AT_ABSTRACT_ORIGIN
            )
            if after == caller.pc - bias and called is not None:
                # After a tail call the frame's function is another than the one that was
                # called here: its registers at the entry are not those of this call site.
                return one if _outer_name(frame) == code_spans.qualified_name(called) else None
    return None


def _outer_name(frame: UnwoundFrame) -> str:
    """Return the name of the function that a frame's code is of, without inlined ones."""
    assert frame.module is not None
    found = frame.module.image.functions.functions_at(frame.lookup - frame.module.load_bias)
    return next((one.name for one in found if not one.is_inlined), frame.function)
