"""Reads registers and stacks of paused threads, and finds a frame by its handle."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from debugger.backends.inprocess.engine.engine_events import ThreadPaused
from debugger.backends.inprocess.expressions.location_nodes import REGISTERS
from debugger.backends.inprocess.inspection.memory_reading import run_reading
from debugger.backends.inprocess.stepping.step_marks import count_hidden
from debugger.backends.inprocess.target_access import TargetAccess
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import Frame, Register, RegisterGroup, Stack
from debugger.symbols.dwarf import unwinding
from debugger.symbols.dwarf.call_frames import FS_BASE
from debugger.symbols.dwarf.location_evaluation import UnreadableMemory
from debugger.symbols.dwarf.typed_values import ValueMemory, read_floating

NUMBERS: Mapping[str, int] = {name: number for number, name in enumerate(REGISTERS)}
# The legacy region of an XSAVE area (Intel SDM 1, 10.5.1): x87 registers at 32, xmm at 160,
# 16 bytes each. XSTATE_BV at 512 says which parts are saved; bit 1 is for SSE.
_FXSAVE = 512
_STACK, _STACK_WIDTH, _STACK_COUNT = 32, 16, 8
_VECTORS, _VECTOR_WIDTH, _VECTOR_COUNT = 160, 16, 16
_STATE, _STATE_SSE = 512, 2
_GENERAL = (
    "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13",
    "r14", "r15", "rip", "rflags",
)  # fmt: skip
_CONTROL = (("fctrl", 0, 2), ("fstat", 2, 2), ("ftag", 4, 1), ("fop", 6, 2), ("mxcsr", 24, 4))


class ThreadRegisters:
    """Reads and sets the registers of paused threads."""

    def __init__(self, target: TargetAccess) -> None:
        self._access = target

    def registers_by_name(self, thread: int) -> dict[str, int]:
        """Return a thread's registers by name, without vectors.

        Raises:
            DebuggerError: WRONG_STATE for a thread that runs.
        """
        return dict(self._access.paused_thread(thread).registers)

    def registers_by_number(self, thread: int, memory: ValueMemory) -> dict[int, int]:
        """Return a thread's registers by DWARF number, with the vectors."""
        paused = self._access.paused_thread(thread)
        found = {
            NUMBERS[one]: at for one, at in self.registers_by_name(thread).items() if one in NUMBERS
        }
        # Not in DWARF's numbering of old: needed for thread-local variables, which lie below
        # it.
        if "fs_base" in paused.registers:
            found[FS_BASE] = paused.registers["fs_base"]
        image = _fpu_image(paused, memory)
        for number in range(_VECTOR_COUNT) if image else ():
            at = _VECTORS + number * _VECTOR_WIDTH
            content = image[at : at + _VECTOR_WIDTH]
            found[NUMBERS[f"xmm{number}"]] = int.from_bytes(content, "little")
        return found

    async def set_register(self, thread: int, name: str, content: bytes) -> None:
        """Set a register's lowest bytes.

        Raises:
            DebuggerError: WRONG_STATE for a thread that runs, EVALUATION_FAILED for one that
                cannot be set.
        """
        paused = self._access.paused_thread(thread)
        if name.startswith("xmm"):
            await self._set_vector(paused, int(name[3:]), content)
            return
        before = self.registers_by_name(thread)
        if name not in before:
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED, f"no register {name}", hint="debugger registers"
            )
        upper = before[name] >> 8 * len(content) << 8 * len(content)
        # A write of 32 bits clears the upper half of a register, as the processor does (Intel
        # SDM 1, 3.4.1.1); one of 8 or 16 bits leaves the rest.
        upper = 0 if len(content) >= 4 else upper  # noqa: PLR2004
        value = upper | int.from_bytes(content, "little")
        await self._access.engine.set_registers(thread, {name: value})

    async def _set_vector(self, paused: ThreadPaused, number: int, content: bytes) -> None:
        if not paused.vectors:
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                f"xmm{number} cannot be set here",
                hint="debugger set a variable that is in memory",
            )
        engine = self._access.engine
        await engine.write_memory(paused.vectors + _VECTORS + number * _VECTOR_WIDTH, content)
        # XSAVE may leave out vectors that were all zero: without this bit XRSTOR would zero
        # them again.
        state = paused.vectors + _STATE
        current = int.from_bytes(await engine.read_memory(state, 8), "little")
        await engine.write_memory(state, (current | _STATE_SSE).to_bytes(8, "little"))


def _fpu_image(paused: ThreadPaused, memory: ValueMemory) -> bytes:
    if not paused.vectors:
        return b""
    try:
        return memory.read_at(paused.vectors, _FXSAVE)
    except UnreadableMemory:
        return b""


def register_groups(
    named: Mapping[str, int], paused: ThreadPaused, memory: ValueMemory
) -> list[RegisterGroup]:
    """Return the registers of the innermost frame, in groups."""
    image = _fpu_image(paused, memory)
    return [
        general_group(named),
        *([_floating_group(image), _vector_group(image)] if image else []),
    ]


def general_group(named: Mapping[str, int]) -> RegisterGroup:
    """Return the known general registers."""
    return RegisterGroup(
        "General Purpose",
        tuple(Register(one, hex(named[one])) for one in _GENERAL if one in named),
    )


def _floating_group(image: bytes) -> RegisterGroup:
    shown = []
    for number in range(_STACK_COUNT):
        at = _STACK + number * _STACK_WIDTH
        shown.append(Register(f"st{number}", repr(read_floating(image[at : at + 10]))))
    for name, at, size in _CONTROL:
        shown.append(Register(name, hex(int.from_bytes(image[at : at + size], "little"))))
    return RegisterGroup("Floating Point", tuple(shown))


def _vector_group(image: bytes) -> RegisterGroup:
    shown = []
    for number in range(_VECTOR_COUNT):
        at = _VECTORS + number * _VECTOR_WIDTH
        content = image[at : at + _VECTOR_WIDTH]
        singles, doubles = struct.unpack("<4f", content), struct.unpack("<2d", content)
        text = f"0x{content[::-1].hex()} {{double:{list(doubles)}, float:{list(singles)}}}"
        shown.append(Register(f"xmm{number}", text))
    return RegisterGroup("Vector", tuple(shown))


_LEVELS = 64  # that are unwound at least
MOST = 10_000


@dataclass(frozen=True, slots=True)
class FrameLevel:
    """Describes one frame of a thread."""

    thread: int
    frame: unwinding.UnwoundFrame

    @property
    def known_registers(self) -> dict[str, int]:
        """The registers that are known in the frame, by name."""
        known = self.frame.registers
        named = {REGISTERS[at]: value for at, value in known.items() if at < len(REGISTERS)}
        return {**named, "fs_base": known[FS_BASE]} if FS_BASE in known else named


@dataclass(frozen=True, slots=True)
class _UnwoundStack:
    sequence: int
    frames: list[unwinding.UnwoundFrame]
    is_whole: bool


class ThreadStacks:
    """Unwinds the stacks of paused threads, each once and as far as requested."""

    def __init__(self, target: TargetAccess, machine: ThreadRegisters) -> None:
        self._access = target
        self._machine = machine
        self._known: dict[int, _UnwoundStack] = {}
        # The frames of the stop before: they tell which function a step has returned from.
        self._before: dict[int, list[unwinding.UnwoundFrame]] = {}
        self._levels: dict[int, FrameLevel] = {}
        self._handles: dict[tuple[int, int], int] = {}
        self._next = 1

    def forget_all(self) -> None:
        """Forget the frames: the program has run, and their handles are stale."""
        self._before.update({thread: one.frames for thread, one in self._known.items()})
        self._known.clear()
        self._levels.clear()
        self._handles.clear()

    def forget_frames(self) -> None:
        """Forget unwound frames, as something was changed; handles stay."""
        self._known.clear()

    async def unwind_thread(
        self, thread: int, most: int
    ) -> tuple[list[unwinding.UnwoundFrame], bool]:
        """Unwind at least so many frames; return whether these are all.

        Raises:
            DebuggerError: WRONG_STATE for a thread that runs.
        """
        paused = self._access.paused_thread(thread)
        sequence = paused.sequence
        known = self._known.get(thread)
        # The sequence number of the pause: a thread that has run since has another one.
        is_enough = known is not None and (known.is_whole or len(known.frames) >= most)
        if known is not None and known.sequence == sequence and is_enough:
            return known.frames, known.is_whole
        levels = min(max(most, _LEVELS), MOST)

        def work(memory: ValueMemory) -> list[unwinding.UnwoundFrame]:
            registers = self._machine.registers_by_number(thread, memory)
            frames = unwinding.unwind_stack(
                registers, self._access.modules, memory.read, most=levels + 1
            )
            # A step that ended at the beginning of an inlined function is at its call, not in
            # it.
            unseen = count_hidden(paused)
            own = {FS_BASE: registers[FS_BASE]} if FS_BASE in registers else {}
            return [
                replace(one, index=one.index - unseen, registers={**one.registers, **own})
                for one in frames[unseen:]
            ]

        found = await run_reading(self._access, work)
        is_whole = len(found) <= levels
        self._known[thread] = _UnwoundStack(sequence, found[:levels], is_whole)
        return found[:levels], is_whole

    def returned_frame(
        self, thread: int, registers: Mapping[str, int]
    ) -> unwinding.UnwoundFrame | None:
        """Return the frame of the stop before that a thread has just returned from."""
        frames = self._before.get(thread, [])
        # After a return the stack pointer is the canonical address of the frame that has
        # gone, and the program counter is its caller's: nothing else has run since.
        for one, caller in itertools.pairwise(frames):
            if not one.is_inlined and one.cfa == registers.get("rsp"):
                return one if caller.pc == registers.get("rip") else None
        return None

    async def read_stack(self, thread: int, *, start: int, levels: int) -> Stack:
        """Return some frames; the number of all where the stack's end was reached."""
        found, is_whole = await self.unwind_thread(thread, start + levels)
        shown = tuple(self._to_frame(thread, one) for one in found[start : start + levels])
        return Stack(shown, len(found) if is_whole else None)

    def _to_frame(self, thread: int, one: unwinding.UnwoundFrame) -> Frame:
        key = (thread, one.index)
        # One handle for a level of a thread, however often it is reported at a stop.
        handle = self._handles.get(key)
        if handle is None:
            handle, self._next = self._next, self._next + 1
            self._handles[key] = handle
            self._levels[handle] = FrameLevel(thread, one)
        module = one.module
        return Frame(
            index=one.index,
            function=one.function,
            handle=handle,
            file=one.file or None,
            line=one.line or None,
            address=hex(one.pc),
            module=Path(module.image.binary.path).name if module is not None else None,
        )

    async def frame_level(self, handle: int) -> FrameLevel:
        """Return a frame by its handle, as it is now.

        Raises:
            DebuggerError: STALE_REF, WRONG_STATE for a thread that runs.
        """
        # Unwound again if something was changed since: a handle means a level, not old
        # registers.
        level = self._levels.get(handle)
        if level is None:
            raise DebuggerError(
                ErrorCode.STALE_REF,
                "this frame belongs to an earlier stop",
                hint="debugger backtrace",
            )
        found, _ = await self.unwind_thread(level.thread, level.frame.index + 1)
        if level.frame.index >= len(found):
            return level
        return FrameLevel(level.thread, found[level.frame.index])
