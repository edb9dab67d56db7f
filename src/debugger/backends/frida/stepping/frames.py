"""Identifies a thread's frame by its canonical frame address and return address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from debugger.backends.frida.dwarf import callframes
from debugger.backends.frida.dwarf.callframes import RIP, RSP
from debugger.backends.frida.dwarf.expressions import Reader, Unavailable, Unreadable
from debugger.backends.frida.dwarf.unwind import Modules, stack

# The registers by their DWARF numbers (System V ABI, figure 3.36).
NAMES: Final = (
    *("rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp"),
    *("r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"),
)


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame: `cfa` is None where nothing is known of it, `back` where there is no caller."""

    pc: int
    rsp: int
    cfa: int | None
    back: int | None

    @property
    def floor(self) -> int:
        """What the stack pointer is at least, when this frame has gone."""
        return self.cfa if self.cfa is not None else self.rsp + 8


def numbered(registers: Mapping[str, int]) -> dict[int, int]:
    """Give registers by their DWARF numbers."""
    return {number: registers[name] for number, name in enumerate(NAMES) if name in registers}


def frame(registers: Mapping[str, int], modules: Modules, read: Reader) -> Frame:
    """Find the innermost frame of a thread, inlined copies taken as a part of it."""
    values = numbered(registers)
    row = rule(values[RIP], modules)
    if row is None:
        # Code that nothing is known of may have a frame pointer.
        frames = stack(values, modules, read, most=2)
        back = frames[1].pc if len(frames) > 1 else None
        return Frame(values[RIP], values[RSP], None, back or None)
    try:
        outer = callframes.caller(row, values, read)
    except (Unavailable, Unreadable):
        return Frame(values[RIP], values[RSP], cfa(registers, modules, read), None)
    return Frame(values[RIP], values[RSP], outer[RSP], outer.get(RIP) or None)


def cfa(registers: Mapping[str, int], modules: Modules, read: Reader) -> int | None:
    """Give the canonical frame address of a thread's innermost frame, where it is known."""
    values = numbered(registers)
    row = rule(values[RIP], modules)
    if row is None:
        return None
    try:
        return callframes.cfa(row, values, read)
    except (Unavailable, Unreadable):
        return None


def rule(address: int, modules: Modules) -> callframes.Row | None:
    """Give the rules of the call frame information at an address."""
    module = modules.at(address)
    return module.image.frames.row(address - module.bias) if module is not None else None


def place(address: int, modules: Modules) -> tuple[str, int] | None:
    """Give the canonical frame address at an address as a register and what is added to it."""
    row = rule(address, modules)
    if row is None or isinstance(row.cfa, bytes):
        return None
    number, offset = row.cfa
    return NAMES[number], offset
