"""Defines where a step inspects its thread again, and which frame must be there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from debugger.backends.inprocess.engine.engine_events import ThreadPaused
from debugger.backends.inprocess.stepping.instruction_decoding import DecodedInstruction
from debugger.backends.inprocess.stepping.line_walk import WalkState
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


PREFIX: Final = "step."


def site_name(number: int, unseen: int) -> str:
    """Name a point where so many inlined copies begin that the step has not gone into."""
    return f"{PREFIX}{number}.{unseen}"


def is_step(point: str) -> bool:
    """Tell whether a point is a step's."""
    return point.startswith(PREFIX)


def count_hidden(paused: ThreadPaused) -> int:
    """Count the innermost frames that a thread's step has not gone into, though it is there.

    An inlined copy begins where its call is: who has stepped to the call is not inside.
    """
    if not paused.points or not all(map(is_step, paused.points)):
        return 0
    return min(int(one.rpartition(".")[2]) for one in paused.points)


class MarkKind(IntEnum):
    """What a mark is there for; of several at one address the lowest is looked at first."""

    END = 1
    ENTERED = 2
    BACK = 3
    LANDED = 4
    CALL = 5
    JUMP = 6
    LEAP = 7


@dataclass(frozen=True, slots=True)
class StepMark:
    """An address, and what must hold of the thread that comes to it.

    `cfa` is the frame's own, `cfa_least` that of the frame or of one further out; `back` is where
    a function that was entered returns to. `script` is a condition for the agent where the others
    do not say it. `state` and `instruction` are what the step goes on with. `hidden` counts the
    inlined copies that begin there and that the step has not gone into.
    """

    address: int
    kind: MarkKind
    cfa: int | None = None
    cfa_least: int | None = None
    rsp: int | None = None
    rsp_least: int | None = None
    back: int | None = None
    script: str | None = None
    state: WalkState | None = None
    instruction: DecodedInstruction | None = None
    hidden: int = 0


def mark_condition(mark: StepMark, modules: LoadedBinaries) -> str | None:
    """Write what must hold as a condition for the agent, so that no other hit stops the thread.

    None where it cannot be written, or nothing need hold: `mark_holds` is asked in any case.
    """
    if mark.script is not None:
        return mark.script
    place = frame_address_rule(mark.address, modules)
    cfa = f"c.{place[0]}.add({place[1]})" if place is not None else None
    wanted = (
        ("c.rsp", "===", mark.rsp),
        ("c.rsp", ">=", mark.rsp_least),
        (cfa and f"{cfa}.sub(8).readPointer()", "===", mark.back),
        (cfa, "===", mark.cfa),
        (cfa, ">=", mark.cfa_least),
    )
    for value, how, word in wanted:
        if word is not None and value is not None:
            return f"((w) => (c) => {value}.compare(w) {how} 0)(ptr('{word:#x}'))"
    return None


def mark_holds(
    mark: StepMark, registers: Mapping[str, int], modules: LoadedBinaries, read: Reader
) -> bool:
    """Tell whether what must hold does; what cannot be known is taken to."""
    rsp = registers["rsp"]
    if not _value_fits(rsp, mark.rsp, mark.rsp_least):
        return False
    cfa = frame_address(registers, modules, read)
    if cfa is None:
        return True
    return _value_fits(cfa, mark.cfa, mark.cfa_least) and _returns_to_caller(cfa, mark.back, read)


def _value_fits(value: int, exactly: int | None, least: int | None) -> bool:
    return (exactly is None or value == exactly) and (least is None or value >= least)


def _returns_to_caller(cfa: int, back: int | None, read: Reader) -> bool:
    try:
        return back is None or int.from_bytes(read(cfa - 8, 8), "little") == back
    except UnreadableMemory:
        return True
