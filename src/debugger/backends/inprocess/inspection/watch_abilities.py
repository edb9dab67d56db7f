"""Watches an expression's value by the processor's debug registers."""

from __future__ import annotations

from debugger.backends.inprocess.engine.engine_events import EngineWatch
from debugger.backends.inprocess.expressions.expression_evaluation import (
    MemoryPlace,
    RegisterPlace,
)
from debugger.backends.inprocess.inspection.inspection_access import InspectionAccess
from debugger.backends.inprocess.inspection.thread_stacks import FrameLevel
from debugger.backends.inprocess.inspection.watch_conditions import WatchedValue
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, WatchAccess
from debugger.model.program import Frame
from debugger.symbols.dwarf.call_frames import RSP

_SIZES = (1, 2, 4, 8)
_RED_ZONE = 128  # below the stack pointer (System V ABI, 3.2.2)
# The processor has none for reading alone.
_ACCESS = {WatchAccess.WRITE: "w", WatchAccess.READ: "r", WatchAccess.ANY: "rw"}


class InProcessWatchpoints:
    """Hardware watchpoints in all threads; ours have negative numbers, breakpoints positive."""

    slot_count = 4

    def __init__(self, inside: InspectionAccess) -> None:
        self._inside = inside

    async def set_watchpoint(self, wanted: Breakpoint, frame: Frame | None) -> BoundBreakpoint:
        """Set one where an expression's value is, in memory."""
        looking = self._inside.looking
        expression = (wanted.spec.watch or "").strip()
        level = await looking.frame_level(frame) if frame is not None else None
        result = await looking.evaluating.evaluate_result(expression, level)
        place = result.evaluated.place if result.evaluated is not None else None
        address = result.value.address
        if isinstance(place, RegisterPlace):
            raise _refused_error(
                f"{expression} is in register {place.name}: memory alone can be watched"
            )
        if address is None:
            why = result.value.problem or "a value without a place"
            raise _refused_error(f"{expression} cannot be watched: it is {why}")
        size = result.value.type.size
        if isinstance(place, MemoryPlace) and place.bits is not None:
            address, size = address + place.bits[0] // 8, 1
        if size not in _SIZES:
            raise _refused_error(f"{expression} has {size} bytes, and a watchpoint 1, 2, 4 or 8")
        if address % size:
            raise _refused_error(f"{expression} at {address:#x} is not aligned to its {size} bytes")
        number = -wanted.id
        order = EngineWatch(
            id=str(number),
            address=address,
            size=size,
            access=_ACCESS[wanted.spec.access],
            changes=wanted.spec.access is WatchAccess.WRITE,
        )
        again = f"{expression} at {address:#x}"
        bound = BoundBreakpoint(verified=True, backend_id=number, address=hex(address), again=again)
        home = level if level is not None and _is_in_frame(address, level) else None
        await looking.watches.add_watch(
            number, WatchedValue(order, wanted.spec, bound, result, home)
        )
        return bound

    async def remove_watchpoint(self, bound: BoundBreakpoint) -> None:
        """Remove one."""
        if bound.backend_id is not None:
            await self._inside.looking.watches.remove_watch(bound.backend_id)


def _is_in_frame(address: int, level: FrameLevel) -> bool:
    """Tell whether an address lies in the part of the stack that a frame has."""
    frame = level.frame
    return frame.cfa is not None and frame.registers.get(RSP, 0) - _RED_ZONE <= address < frame.cfa


def _refused_error(why: str) -> DebuggerError:
    return DebuggerError(
        ErrorCode.EVALUATION_FAILED,
        why,
        hint="watch one of its members or elements; debugger print shows them",
    )
