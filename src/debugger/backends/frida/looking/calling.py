"""What does a function return: one that is called by the user, or was just left?"""

from __future__ import annotations

from collections.abc import Sequence

from debugger.backends.frida.dwarf import codes as dw
from debugger.backends.frida.dwarf import unwind
from debugger.backends.frida.dwarf.types import Kind, Type
from debugger.backends.frida.dwarf.values import Memory, Value
from debugger.backends.frida.looking.around import Around
from debugger.backends.frida.looking.evaluating import Result
from debugger.backends.frida.looking.memory import reading
from debugger.core.model import Frame, Purpose, Reason, Stopped, Variable

_RAX, _RDX, _XMM0, _XMM1 = 0, 1, 17, 18
_WORD, _IN_REGISTERS = 8, 16
# DW_AT_calling_convention of a type whose objects are passed by address (DWARF 5, 5.7.1.1).
_BY_REFERENCE = 4


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
    return image.scopes.type(entry.type)


def value_of(kind: Type, registers: dict[int, int]) -> Value | None:
    """Take a value out of the registers in which functions return it (System V ABI, 3.2.3)."""
    if kind.kind is Kind.FLOAT and kind.size > _WORD:
        return None  # on the stack of the x87
    if _is_in_memory(kind):
        return Value(kind, address=registers.get(_RAX, 0))
    whole, real, content = [_RAX, _RDX], [_XMM0, _XMM1], b""
    for at in range(0, max(kind.size, 1), _WORD):
        order = real if _is_real(kind, at) else whole
        content += (registers.get(order.pop(0), 0) & ((1 << 64) - 1)).to_bytes(8, "little")
    return Value(kind, content=content[: kind.size])


def _is_in_memory(kind: Type) -> bool:
    entry = kind.plain.entry
    how = entry.number(dw.AT_CALLING_CONVENTION) if entry is not None else None
    is_record = kind.kind in {Kind.STRUCT, Kind.UNION, Kind.ARRAY}
    return is_record and (kind.size > _IN_REGISTERS or how == _BY_REFERENCE)


def _is_real(kind: Type, at: int) -> bool:
    """Tell whether all that lies in the eight bytes from `at` on are real numbers."""
    if kind.kind is Kind.FLOAT:
        return True
    if kind.kind is Kind.ARRAY:
        return _is_real(kind.target, 0)
    if kind.kind not in {Kind.STRUCT, Kind.UNION} or kind.variants:
        return False
    within = [
        one
        for one in kind.members
        if one.offset is not None and one.offset < at + _WORD and one.offset + one.type.size > at
    ]
    return bool(within) and all(
        _is_real(one.type, max(at - (one.offset or 0), 0)) for one in within
    )
