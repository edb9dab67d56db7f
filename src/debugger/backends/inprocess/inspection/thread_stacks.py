"""Lists the frames of a paused thread, and finds a frame by its handle."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from debugger.backends.inprocess.expressions.location_nodes import REGISTERS
from debugger.backends.inprocess.inspection.memory_reading import run_reading
from debugger.backends.inprocess.inspection.thread_registers import ThreadRegisters
from debugger.backends.inprocess.stepping.site_names import count_hidden
from debugger.backends.inprocess.target_access import TargetAccess
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import Frame, Stack
from debugger.symbols.dwarf import unwinding
from debugger.symbols.dwarf.call_frames import FS_BASE
from debugger.symbols.dwarf.typed_values import ValueMemory

_LEVELS = 64  # that are unwound at least
MOST = 10_000


@dataclass(frozen=True, slots=True)
class FrameLevel:
    """One frame of a thread."""

    thread: int
    frame: unwinding.UnwoundFrame

    @property
    def known_registers(self) -> dict[str, int]:
        """Those that are known in it, by name."""
        known = self.frame.registers
        named = {REGISTERS[at]: value for at, value in known.items() if at < len(REGISTERS)}
        return {**named, "fs_base": known[FS_BASE]} if FS_BASE in known else named


@dataclass(frozen=True, slots=True)
class _UnwoundStack:
    sequence: int
    frames: list[unwinding.UnwoundFrame]
    is_whole: bool


class ThreadStacks:
    """The stacks of paused threads, each unwound once as far as it is asked for."""

    def __init__(self, inside: TargetAccess, machine: ThreadRegisters) -> None:
        self._inside = inside
        self._machine = machine
        self._known: dict[int, _UnwoundStack] = {}
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
        """Forget what was unwound, since something was changed; handles stay."""
        self._known.clear()

    async def unwind_thread(
        self, thread: int, most: int
    ) -> tuple[list[unwinding.UnwoundFrame], bool]:
        """Unwind at least so many frames; say whether these are all.

        Raises:
            DebuggerError: WRONG_STATE for a thread that runs.
        """
        paused = self._inside.paused_thread(thread)
        sequence = paused.sequence
        known = self._known.get(thread)
        is_enough = known is not None and (known.is_whole or len(known.frames) >= most)
        if known is not None and known.sequence == sequence and is_enough:
            return known.frames, known.is_whole
        wanted = min(max(most, _LEVELS), MOST)

        def work(memory: ValueMemory) -> list[unwinding.UnwoundFrame]:
            registers = self._machine.registers_by_number(thread, memory)
            frames = unwinding.unwind_stack(
                registers, self._inside.modules, memory.read, most=wanted + 1
            )
            # A step may have come to where an inlined function begins, and not be in it.
            unseen = count_hidden(paused)
            own = {FS_BASE: registers[FS_BASE]} if FS_BASE in registers else {}
            return [
                replace(one, index=one.index - unseen, registers={**one.registers, **own})
                for one in frames[unseen:]
            ]

        found = await run_reading(self._inside, work)
        is_whole = len(found) <= wanted
        self._known[thread] = _UnwoundStack(sequence, found[:wanted], is_whole)
        return found[:wanted], is_whole

    def returned_frame(
        self, thread: int, registers: Mapping[str, int]
    ) -> unwinding.UnwoundFrame | None:
        """Return the frame of the stop before that a thread has just returned from."""
        frames = self._before.get(thread, [])
        for one, caller in itertools.pairwise(frames):
            if not one.is_inlined and one.cfa == registers.get("rsp"):
                return one if caller.pc == registers.get("rip") else None
        return None

    async def read_stack(self, thread: int, *, start: int, levels: int) -> Stack:
        """Tell some frames; the number of all where the stack's end was reached."""
        found, is_whole = await self.unwind_thread(thread, start + levels)
        shown = tuple(self._to_frame(thread, one) for one in found[start : start + levels])
        return Stack(shown, len(found) if is_whole else None)

    def _to_frame(self, thread: int, one: unwinding.UnwoundFrame) -> Frame:
        key = (thread, one.index)
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
