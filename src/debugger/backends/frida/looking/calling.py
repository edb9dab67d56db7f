"""Gets a function's returned value, of a call by the user or of a frame just left."""

from __future__ import annotations

from collections.abc import Sequence

from debugger.backends.frida.dwarf import unwind
from debugger.backends.frida.dwarf.returning import value_of
from debugger.backends.frida.dwarf.types import Type
from debugger.backends.frida.dwarf.values import Memory, Value
from debugger.backends.frida.looking.around import Around
from debugger.backends.frida.looking.evaluating import Result
from debugger.backends.frida.looking.memory import reading
from debugger.core.model import Frame, Purpose, Reason, Stopped, Variable


class Calls:
    """Functions of the program, called on a paused thread."""

    def __init__(self, inside: Around) -> None:
        self._inside = inside

    async def call(self, function: str, arguments: Sequence[str], frame: Frame) -> Variable:
        """Call a function with the values of expressions; return what it returned."""
        written = f"{function}({', '.join(arguments)})"
        return await self._inside.looking.evaluate(written, frame, Purpose.PRINT)


class ReturnValues:
    """What is in the registers when a function has just been left."""

    def __init__(self, inside: Around) -> None:
        self._inside = inside

    async def returned(self, stop: Stopped, frame: Frame) -> Variable | None:
        """Return the value of the function that was just left; None where it is not known."""
        thread = stop.thread
        if thread is None or stop.reason is not Reason.STEP or frame.index:
            return None
        looking = self._inside.looking
        named = looking.machine.named(thread)
        left = looking.stacks.left(thread, named)
        kind = _returns(left) if left is not None else None
        if kind is None:
            return None
        returned = kind

        def work(memory: Memory) -> Value | None:
            return value_of(returned, looking.machine.numbered(thread, memory))

        value = await reading(self._inside, work)
        return await looking.told("(return)", Result(value)) if value is not None else None


def _returns(left: unwind.Frame) -> Type | None:
    if left.module is None or left.entry is None:
        return None
    image = left.module.image
    entry = image.units.entry(left.entry)
    if entry is None or entry.type is None:
        return None
    own = image.functions.at(left.lookup - left.module.bias)
    if not all(image.results.are_kept(one) for one in own if one.entry == left.entry):
        return None
    return image.scopes.type(entry.type)
