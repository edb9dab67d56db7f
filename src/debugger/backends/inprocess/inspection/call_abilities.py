"""Gets a function's returned value, of a call by the user or of a frame just left."""

from __future__ import annotations

from collections.abc import Sequence

from debugger.backends.inprocess.inspection.evaluation import EvaluationResult
from debugger.backends.inprocess.inspection.inspection_access import InspectionAccess
from debugger.backends.inprocess.inspection.memory_reading import run_reading
from debugger.model.program import EvaluationPurpose, Frame, Stopped, StopReason, Variable
from debugger.symbols.dwarf import unwinding
from debugger.symbols.dwarf.debug_types import DebugType
from debugger.symbols.dwarf.return_registers import value_of
from debugger.symbols.dwarf.typed_values import TypedValue, ValueMemory


class InProcessCalls:
    """Functions of the program, called on a paused thread."""

    def __init__(self, inside: InspectionAccess) -> None:
        self._inside = inside

    async def call_function(
        self, function: str, arguments: Sequence[str], frame: Frame
    ) -> Variable:
        """Call a function with the values of expressions; return what it returned."""
        written = f"{function}({', '.join(arguments)})"
        return await self._inside.looking.evaluate(written, frame, EvaluationPurpose.PRINT)


class InProcessReturnValues:
    """What is in the registers when a function has just been left."""

    def __init__(self, inside: InspectionAccess) -> None:
        self._inside = inside

    async def returned_value(self, stop: Stopped, frame: Frame) -> Variable | None:
        """Return the value of the function that was just left; None where it is not known."""
        thread = stop.thread
        if thread is None or stop.reason is not StopReason.STEP or frame.index:
            return None
        looking = self._inside.looking
        named = looking.machine.registers_by_name(thread)
        left = looking.stacks.returned_frame(thread, named)
        kind = _return_type(left) if left is not None else None
        if kind is None:
            return None
        returned = kind

        def work(memory: ValueMemory) -> TypedValue | None:
            return value_of(returned, looking.machine.registers_by_number(thread, memory))

        value = await run_reading(self._inside, work)
        return (
            await looking.result_variable("(return)", EvaluationResult(value))
            if value is not None
            else None
        )


def _return_type(left: unwinding.UnwoundFrame) -> DebugType | None:
    if left.module is None or left.entry is None:
        return None
    image = left.module.image
    entry = image.units.find_entry(left.entry)
    if entry is None or entry.type is None:
        return None
    own = image.functions.functions_at(left.lookup - left.module.load_bias)
    if not all(image.results.are_kept(one) for one in own if one.entry == left.entry):
        return None
    return image.scopes.type_of(entry.type)
