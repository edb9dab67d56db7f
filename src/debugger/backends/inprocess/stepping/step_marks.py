"""Defines where a step inspects its thread again: at returns, exceptions and longjmps.

An unwinder calls `_Unwind_SetIP` for each frame that it will resume in, with the address there: in
C++, in Rust, and where a thread is cancelled. A longjmp gets its target by its first argument, in
glibc's form for x86-64, which is mixed with a guard that the kernel has handed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Final

from debugger.backends.inprocess.engine.engine_events import ThreadPaused
from debugger.backends.inprocess.stepping.function_body import (
    ControlFlow,
    DecodedInstruction,
    code_at,
    decode_instruction,
)
from debugger.backends.inprocess.stepping.line_walk import WalkState
from debugger.symbols.dwarf import call_frames
from debugger.symbols.dwarf.call_frames import RIP, RSP
from debugger.symbols.dwarf.location_evaluation import (
    MASK,
    Reader,
    UnavailableValue,
    UnreadableMemory,
)
from debugger.symbols.dwarf.unwinding import LoadedBinaries, LoadedBinary, unwind_stack

_UNWINDER: Final = ("_Unwind_SetIP",)
_JUMPS: Final = ("longjmp", "_longjmp", "siglongjmp", "__longjmp_chk")
# glibc's __jmpbuf for x86-64 is rbx, rbp, r12 to r15, rsp, pc: words 6 and 7 are mangled, by
# xor with the guard and a rotation to the left (PTR_MANGLE in
# sysdeps/unix/sysv/linux/x86_64).
_STACK, _TARGET, _ROTATED = 48, 56, 17  # in a jmp_buf, in bytes; and by how many bits
# _Unwind_GetCFA is one load and a return, so its displacement is the place of the frame's
# address in libgcc's _Unwind_Context, which no header declares.
_FIELD: Final = re.compile(r"mov rax, qword ptr \[rdi \+ (0x[0-9a-f]+)\]")
# A frame may push arguments while it calls, so its stack pointer is not its lowest. What lies
# further down than this was called by it.
_BELOW: Final = 4096
_RANDOM: Final = 25  # AT_RANDOM of the auxiliary vector


@dataclass(frozen=True, slots=True)
class NonlocalExit:
    """Describes a function that moves control out of a frame.

    It is an unwinder's, with the place of the frame in its context, or a longjmp, with the guard.
    """

    address: int
    field: int | None = None
    guard: int | None = None

    def exit_condition(self, floor: int) -> str | None:
        """Write a condition for the agent: the exit leads to a frame, or to one further out."""
        # In the agent, because exceptions within a callee may come by the thousand, and each
        # stop of a thread costs milliseconds. The two strings do what `find_target` and
        # `_demangled_pointer` do.
        if self.guard is not None:
            return (
                "((guard, least) => (c) => { const mixed = c.rdi.add(48).readU64();"
                " return mixed.shr(17).or(mixed.shl(47)).xor(guard).compare(least) >= 0; })"
                f"(uint64('{self.guard:#x}'), uint64('{floor - _BELOW:#x}'))"
            )
        if self.field is not None:
            return (
                f"((least) => (c) => c.rdi.add({self.field}).readPointer().compare(least) >= 0)"
                f"(ptr('{floor - _BELOW:#x}'))"
            )
        return None

    def find_target(self, registers: Mapping[str, int], read: Reader) -> int | None:
        """Return where the exit leads, at the entry of its function."""
        # _Unwind_SetIP(context, address): the second argument is in rsi.
        if self.guard is None:
            return registers["rsi"]
        try:
            mixed = int.from_bytes(read(registers["rdi"] + _TARGET, 8), "little")
        except UnreadableMemory:
            return None
        return _demangled_pointer(mixed, self.guard)


def _demangled_pointer(mixed: int, guard: int) -> int:
    return ((mixed >> _ROTATED | mixed << (64 - _ROTATED)) & MASK) ^ guard


def find_exits(modules: LoadedBinaries, read: Reader, guard: int | None) -> list[NonlocalExit]:
    """Find the functions of the program by which control may leave a frame."""
    found: dict[int, NonlocalExit] = {}
    for module, is_program in _modules_to_search(modules):
        name = module.image.binary.path.name
        # The unwinder of a Rust or a static libgcc program is linked into the program itself.
        if is_program or name.startswith(("libgcc_s", "libunwind")):
            field = _context_field(module, read)
            for address in _functions_named(module, _UNWINDER):
                found[address] = NonlocalExit(address, field=field)
        if guard is not None and name.startswith(("libc.so", "libc-")):
            for address in _functions_named(module, _JUMPS):
                found[address] = NonlocalExit(address, guard=guard)
    return list(found.values())


def _modules_to_search(modules: LoadedBinaries) -> Iterator[tuple[LoadedBinary, bool]]:
    for module in modules:
        yield module, module.image.binary.interpreter is not None


def _functions_named(module: LoadedBinary, names: tuple[str, ...]) -> Iterator[int]:
    for name in names:
        for one in module.image.symbols.find_by_name(name):
            if one.is_function and one.name.partition("@")[0] == name:
                yield one.address + module.load_bias


def _context_field(module: LoadedBinary, read: Reader) -> int | None:
    """Return where an unwinder's context has its frame: the field that `_Unwind_GetCFA` returns."""
    for address in _functions_named(module, ("_Unwind_GetCFA",)):
        at = address
        # An endbr64 may come first.
        for _ in range(3):
            one = decode_instruction(code_at(module, at, read), at)
            if one is None or one.flow is not ControlFlow.ON:
                break
            match = _FIELD.fullmatch(one.text)
            if match is not None:
                return int(match[1], 16)
            at = one.next_address
    return None


def random_at(pid: int) -> int | None:
    """Return the address of the kernel's random bytes, whose second half is glibc's guard."""
    # The first eight bytes are the stack protector's canary (dl-osinfo.h of glibc).
    try:
        content = Path(f"/proc/{pid}/auxv").read_bytes()
    except OSError:
        return None
    # Pairs of a key and a value, eight bytes each, up to AT_NULL.
    for at in range(0, len(content) - 15, 16):
        if int.from_bytes(content[at : at + 8], "little") == _RANDOM:
            return int.from_bytes(content[at + 8 : at + 16], "little")
    return None


def guard_at(random: int | None, read: Reader) -> int | None:
    """Read the pointer guard from the kernel's random bytes."""
    try:
        return int.from_bytes(read(random + 8, 8), "little") if random is not None else None
    except UnreadableMemory:
        return None


# The registers by their DWARF numbers (System V ABI, figure 3.36).
NAMES: Final = (
    *("rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp"),
    *("r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"),
)


@dataclass(frozen=True, slots=True)
class FrameIdentity:
    """Identifies a frame; `cfa` is None where it is unknown, `back` where there is no caller."""

    pc: int
    rsp: int
    cfa: int | None
    back: int | None

    @property
    def stack_floor(self) -> int:
        """The least value of the stack pointer once this frame has gone."""
        # The canonical frame address is the stack pointer behind the return. Without it, a
        # return has at least taken the return address off.
        return self.cfa if self.cfa is not None else self.rsp + 8


def number_registers(registers: Mapping[str, int]) -> dict[int, int]:
    """Key registers by their DWARF numbers."""
    return {number: registers[name] for number, name in enumerate(NAMES) if name in registers}


def innermost_frame(
    registers: Mapping[str, int], modules: LoadedBinaries, read: Reader
) -> FrameIdentity:
    """Return the innermost frame of a thread; inlined copies are a part of it."""
    values = number_registers(registers)
    row = frame_rules(values[RIP], modules)
    if row is None:
        # Code that nothing is known of may have a frame pointer.
        frames = unwind_stack(values, modules, read, most=2)
        back = frames[1].pc if len(frames) > 1 else None
        return FrameIdentity(values[RIP], values[RSP], None, back or None)
    # The frame's own address may be computed even where the caller's registers may not.
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
    """Return the canonical frame address of a thread's innermost frame, or None."""
    values = number_registers(registers)
    row = frame_rules(values[RIP], modules)
    if row is None:
        return None
    try:
        return call_frames.compute_cfa(row, values, read)
    except (UnavailableValue, UnreadableMemory):
        return None


def frame_rules(address: int, modules: LoadedBinaries) -> call_frames.FrameRules | None:
    """Return the rules of the call frame information at an address."""
    module = modules.module_at(address)
    return module.image.frames.rules_at(address - module.load_bias) if module is not None else None


def frame_address_rule(address: int, modules: LoadedBinaries) -> tuple[str, int] | None:
    """Return the canonical frame address as a register and an offset, or None."""
    row = frame_rules(address, modules)
    # A DWARF expression: in procedure linkage tables and signal frames. The agent cannot
    # evaluate it.
    if row is None or isinstance(row.cfa, bytes):
        return None
    number, offset = row.cfa
    return NAMES[number], offset


PREFIX: Final = "step."


def site_name(number: int, unseen: int) -> str:
    """Name a mark's site; `unseen` inlined copies begin there that the step has not entered."""
    return f"{PREFIX}{number}.{unseen}"


def is_step(point: str) -> bool:
    """Return whether a site is a step's."""
    return point.startswith(PREFIX)


def count_hidden(paused: ThreadPaused) -> int:
    """Count the innermost frames at a thread's address that its step has not entered.

    An inlined copy begins where its call is: a thread that has stepped to the call is not in it.
    """
    # At a breakpoint of the user's the thread is shown in the innermost frame, as gdb does.
    if not paused.points or not all(map(is_step, paused.points)):
        return 0
    return min(int(one.rpartition(".")[2]) for one in paused.points)


class MarkKind(IntEnum):
    """Says what a mark is for; of several at one address the lowest is handled first."""

    # END and ENTERED end the step. BACK and LANDED plan it anew in another frame: after a
    # return, and where an exception or a longjmp has led to. CALL and JUMP read a register to
    # find the target. LEAP is at a function that leaves frames: where it leads to gets a mark
    # of the kind LANDED.
    END = 1
    ENTERED = 2
    BACK = 3
    LANDED = 4
    CALL = 5
    JUMP = 6
    LEAP = 7


@dataclass(frozen=True, slots=True)
class StepMark:
    """Describes an address, and what must hold of the thread that reaches it."""

    address: int
    kind: MarkKind
    # The canonical address of the frame that must be there, exactly, or of one further out.
    cfa: int | None = None
    cfa_least: int | None = None
    # The same by the stack pointer, for callers and for steps by instruction.
    rsp: int | None = None
    rsp_least: int | None = None
    # Where a function that was entered returns to: it was called by this very line.
    back: int | None = None
    # A condition for the agent where the others do not say it.
    script: str | None = None
    # What the step continues with at a mark of the kinds CALL and JUMP.
    state: WalkState | None = None
    instruction: DecodedInstruction | None = None
    # How many inlined copies begin there that the step has not entered.
    hidden: int = 0


def mark_condition(mark: StepMark, modules: LoadedBinaries) -> str | None:
    """Write a mark's conditions as JavaScript for the agent, so that no other hit stops the thread.

    None where they cannot be written, or nothing need hold: `mark_holds` decides in any case.
    """
    if mark.script is not None:
        return mark.script
    place = frame_address_rule(mark.address, modules)
    cfa = f"c.{place[0]}.add({place[1]})" if place is not None else None
    # The same frame by its canonical frame address: a recursive call reaches the same
    # addresses with another one. Only the first condition that applies is sent, the cheapest
    # first: a false stop costs milliseconds and no more, for `mark_holds` checks all.
    checks = (
        ("c.rsp", "===", mark.rsp),
        ("c.rsp", ">=", mark.rsp_least),
        (cfa and f"{cfa}.sub(8).readPointer()", "===", mark.back),
        (cfa, "===", mark.cfa),
        (cfa, ">=", mark.cfa_least),
    )
    for value, how, word in checks:
        if word is not None and value is not None:
            # ptr() is made once and not at each hit: a NativePointer is an object.
            return f"((w) => (c) => {value}.compare(w) {how} 0)(ptr('{word:#x}'))"
    return None


def mark_holds(
    mark: StepMark, registers: Mapping[str, int], modules: LoadedBinaries, read: Reader
) -> bool:
    """Return whether a mark's conditions hold; what cannot be computed is taken to hold."""
    rsp = registers["rsp"]
    if not _value_fits(rsp, mark.rsp, mark.rsp_least):
        return False
    cfa = frame_address(registers, modules, read)
    # A step that ends too early is seen; one that never ends is a program that runs away.
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
