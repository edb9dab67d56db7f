"""Identifies a thread's frame by its canonical frame address and return address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from debugger.symbols.dwarf import call_frames
from debugger.symbols.dwarf.call_frames import RIP, RSP
from debugger.symbols.dwarf.location_evaluation import Reader, UnavailableValue, UnreadableMemory
from debugger.symbols.dwarf.unwinding import LoadedBinaries, unwind_stack

# The registers by their DWARF numbers (System V ABI, figure 3.36).
NAMES: Final = (
    *("rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp"),
    *("r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"),
)


@dataclass(frozen=True, slots=True)
class FrameIdentity:
    """A frame: `cfa` is None where nothing is known of it, `back` where there is no caller."""

    pc: int
    rsp: int
    cfa: int | None
    back: int | None

    @property
    def stack_floor(self) -> int:
        """What the stack pointer is at least, when this frame has gone."""
        return self.cfa if self.cfa is not None else self.rsp + 8


def number_registers(registers: Mapping[str, int]) -> dict[int, int]:
    """Give registers by their DWARF numbers."""
    return {number: registers[name] for number, name in enumerate(NAMES) if name in registers}


def innermost_frame(
    registers: Mapping[str, int], modules: LoadedBinaries, read: Reader
) -> FrameIdentity:
    """Find the innermost frame of a thread, inlined copies taken as a part of it."""
    values = number_registers(registers)
    row = frame_rules(values[RIP], modules)
    if row is None:
        # Code that nothing is known of may have a frame pointer.
        frames = unwind_stack(values, modules, read, most=2)
        back = frames[1].pc if len(frames) > 1 else None
        return FrameIdentity(values[RIP], values[RSP], None, back or None)
    try:
        outer = call_frames.caller_registers(row, values, read)
    except (UnavailableValue, UnreadableMemory):
        return FrameIdentity(
            values[RIP], values[RSP], frame_address(registers, modules, read), None
        )
    return FrameIdentity(values[RIP], values[RSP], outer[RSP], outer.get(RIP) or None)


def frame_address(
    registers: Mapping[str, int], modules: LoadedBinaries, read: Reader
) -> int | None:
    """Give the canonical frame address of a thread's innermost frame, where it is known."""
    values = number_registers(registers)
    row = frame_rules(values[RIP], modules)
    if row is None:
        return None
    try:
        return call_frames.compute_cfa(row, values, read)
    except (UnavailableValue, UnreadableMemory):
        return None


def frame_rules(address: int, modules: LoadedBinaries) -> call_frames.FrameRules | None:
    """Give the rules of the call frame information at an address."""
    module = modules.module_at(address)
    return module.image.frames.rules_at(address - module.load_bias) if module is not None else None


def frame_address_rule(address: int, modules: LoadedBinaries) -> tuple[str, int] | None:
    """Give the canonical frame address at an address as a register and what is added to it."""
    row = frame_rules(address, modules)
    if row is None or isinstance(row.cfa, bytes):
        return None
    number, offset = row.cfa
    return NAMES[number], offset
