"""Watches an expression's value by the processor's debug registers."""

from __future__ import annotations

from debugger.backends.frida.dwarf.callframes import RSP
from debugger.backends.frida.engine.events import Watch
from debugger.backends.frida.expressions.evaluate import InMemory, InRegister
from debugger.backends.frida.looking.around import Around
from debugger.backends.frida.looking.stacks import Level
from debugger.backends.frida.looking.watched import Watched
from debugger.core.breakpoints import Access, Bound, Breakpoint
from debugger.core.model import Frame
from debugger.errors import Code, DebuggerError

_SIZES = (1, 2, 4, 8)
_RED_ZONE = 128  # below the stack pointer (System V ABI, 3.2.2)
# The processor has none for reading alone.
_ACCESS = {Access.WRITE: "w", Access.READ: "r", Access.ANY: "rw"}


class Watchpoints:
    """Hardware watchpoints in all threads; ours have negative numbers, breakpoints positive."""

    slots = 4

    def __init__(self, inside: Around) -> None:
        self._inside = inside

    async def watch(self, wanted: Breakpoint, frame: Frame | None) -> Bound:
        """Set one where an expression's value is, in memory."""
        looking = self._inside.looking
        expression = (wanted.spec.watch or "").strip()
        level = await looking.level(frame) if frame is not None else None
        result = await looking.evaluating.result(expression, level)
        place = result.evaluated.place if result.evaluated is not None else None
        address = result.value.address
        if isinstance(place, InRegister):
            raise _refused(f"{expression} is in register {place.name}: memory alone can be watched")
        if address is None:
            why = result.value.problem or "a value without a place"
            raise _refused(f"{expression} cannot be watched: it is {why}")
        size = result.value.type.size
        if isinstance(place, InMemory) and place.bits is not None:
            address, size = address + place.bits[0] // 8, 1
        if size not in _SIZES:
            raise _refused(f"{expression} has {size} bytes, and a watchpoint 1, 2, 4 or 8")
        if address % size:
            raise _refused(f"{expression} at {address:#x} is not aligned to its {size} bytes")
        number = -wanted.id
        order = Watch(
            id=str(number),
            address=address,
            size=size,
            access=_ACCESS[wanted.spec.access],
            changes=wanted.spec.access is Access.WRITE,
        )
        again = f"{expression} at {address:#x}"
        bound = Bound(verified=True, backend_id=number, address=hex(address), again=again)
        home = level if level is not None and _is_in_frame(address, level) else None
        await looking.watches.add(number, Watched(order, wanted.spec, bound, result, home))
        return bound

    async def unwatch(self, bound: Bound) -> None:
        """Remove one."""
        if bound.backend_id is not None:
            await self._inside.looking.watches.remove(bound.backend_id)


def _is_in_frame(address: int, level: Level) -> bool:
    """Tell whether an address lies in the part of the stack that a frame has."""
    frame = level.frame
    return frame.cfa is not None and frame.registers.get(RSP, 0) - _RED_ZONE <= address < frame.cfa


def _refused(why: str) -> DebuggerError:
    return DebuggerError(
        Code.EVALUATION_FAILED,
        why,
        hint="watch one of its members or elements; debugger print shows them",
    )
