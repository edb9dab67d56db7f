"""Lists the frames of a paused thread, and finds a frame by its handle."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from debugger.backends.frida.dwarf import unwind
from debugger.backends.frida.dwarf.callframes import FS_BASE
from debugger.backends.frida.dwarf.values import Memory
from debugger.backends.frida.expressions.places import REGISTERS
from debugger.backends.frida.inside import Inside
from debugger.backends.frida.looking.memory import reading
from debugger.backends.frida.looking.registers import Machine
from debugger.backends.frida.stepping.points import hidden
from debugger.core.model import Frame, Stack
from debugger.errors import Code, DebuggerError

_LEVELS = 64  # that are unwound at least
MOST = 10_000


@dataclass(frozen=True, slots=True)
class Level:
    """One frame of a thread."""

    thread: int
    frame: unwind.Frame

    @property
    def registers(self) -> dict[str, int]:
        """Those that are known in it, by name."""
        known = self.frame.registers
        named = {REGISTERS[at]: value for at, value in known.items() if at < len(REGISTERS)}
        return {**named, "fs_base": known[FS_BASE]} if FS_BASE in known else named


@dataclass(frozen=True, slots=True)
class _Known:
    sequence: int
    frames: list[unwind.Frame]
    is_whole: bool


class Stacks:
    """The stacks of paused threads, each unwound once as far as it is asked for."""

    def __init__(self, inside: Inside, machine: Machine) -> None:
        self._inside = inside
        self._machine = machine
        self._known: dict[int, _Known] = {}
        self._before: dict[int, list[unwind.Frame]] = {}
        self._levels: dict[int, Level] = {}
        self._handles: dict[tuple[int, int], int] = {}
        self._next = 1

    def forget(self) -> None:
        """Forget the frames: the program has run, and their handles are stale."""
        self._before.update({thread: one.frames for thread, one in self._known.items()})
        self._known.clear()
        self._levels.clear()
        self._handles.clear()

    def forget_frames(self) -> None:
        """Forget what was unwound, since something was changed; handles stay."""
        self._known.clear()

    async def of(self, thread: int, most: int) -> tuple[list[unwind.Frame], bool]:
        """Unwind at least so many frames; say whether these are all.

        Raises:
            DebuggerError: WRONG_STATE for a thread that runs.
        """
        paused = self._inside.paused(thread)
        sequence = paused.sequence
        known = self._known.get(thread)
        is_enough = known is not None and (known.is_whole or len(known.frames) >= most)
        if known is not None and known.sequence == sequence and is_enough:
            return known.frames, known.is_whole
        wanted = min(max(most, _LEVELS), MOST)

        def work(memory: Memory) -> list[unwind.Frame]:
            registers = self._machine.numbered(thread, memory)
            frames = unwind.stack(registers, self._inside.modules, memory.read, most=wanted + 1)
            # A step may have come to where an inlined function begins, and not be in it.
            unseen = hidden(paused)
            own = {FS_BASE: registers[FS_BASE]} if FS_BASE in registers else {}
            return [
                replace(one, index=one.index - unseen, registers={**one.registers, **own})
                for one in frames[unseen:]
            ]

        found = await reading(self._inside, work)
        is_whole = len(found) <= wanted
        self._known[thread] = _Known(sequence, found[:wanted], is_whole)
        return found[:wanted], is_whole

    def left(self, thread: int, registers: Mapping[str, int]) -> unwind.Frame | None:
        """Return the frame of the stop before that a thread has just returned from."""
        frames = self._before.get(thread, [])
        for one, caller in itertools.pairwise(frames):
            if not one.is_inlined and one.cfa == registers.get("rsp"):
                return one if caller.pc == registers.get("rip") else None
        return None

    async def stack(self, thread: int, *, start: int, levels: int) -> Stack:
        """Tell some frames; the number of all where the stack's end was reached."""
        found, is_whole = await self.of(thread, start + levels)
        shown = tuple(self._told(thread, one) for one in found[start : start + levels])
        return Stack(shown, len(found) if is_whole else None)

    def _told(self, thread: int, one: unwind.Frame) -> Frame:
        key = (thread, one.index)
        handle = self._handles.get(key)
        if handle is None:
            handle, self._next = self._next, self._next + 1
            self._handles[key] = handle
            self._levels[handle] = Level(thread, one)
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

    async def level(self, handle: int) -> Level:
        """Return a frame by its handle, as it is now.

        Raises:
            DebuggerError: STALE_REF, WRONG_STATE for a thread that runs.
        """
        level = self._levels.get(handle)
        if level is None:
            raise DebuggerError(
                Code.STALE_REF, "this frame belongs to an earlier stop", hint="debugger backtrace"
            )
        found, _ = await self.of(level.thread, level.frame.index + 1)
        if level.frame.index >= len(found):
            return level
        return Level(level.thread, found[level.frame.index])
