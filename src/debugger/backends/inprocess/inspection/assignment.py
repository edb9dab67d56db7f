"""Sets a variable, a member, an element or a register."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Final, TypeAlias

from debugger.backends.expressions.syntax_tree import expression_error
from debugger.backends.inprocess.expressions import nodes
from debugger.backends.inprocess.expressions.declared_names import type_of
from debugger.backends.inprocess.expressions.expression_evaluation import (
    EvaluatedExpression,
    MemoryPlace,
    RegisterPlace,
    assignment_bytes,
)
from debugger.backends.inprocess.expressions.node_evaluation import NodeWorld
from debugger.backends.inprocess.expressions.nodes import ExpressionKind, ExpressionType
from debugger.backends.inprocess.inspection.evaluation import (
    EvaluationResult,
    ExpressionEvaluator,
    is_wide,
    world_of,
)
from debugger.backends.inprocess.inspection.frame_names import FrameNames
from debugger.backends.inprocess.inspection.memory_reading import run_reading
from debugger.backends.inprocess.inspection.thread_stacks import (
    NUMBERS,
    FrameLevel,
    ThreadRegisters,
    ThreadStacks,
)
from debugger.backends.inprocess.target_access import TargetAccess
from debugger.errors import DebuggerError, ErrorCode
from debugger.symbols.dwarf import debug_types as dwarf
from debugger.symbols.dwarf import unwinding
from debugger.symbols.dwarf.call_frames import PRESERVED
from debugger.symbols.dwarf.typed_values import TypedValue, ValueMemory

Number: TypeAlias = int | Fraction | float

# The widest number that is set: __int128 and the 16 bytes of long double.
_BITS: Final = 128
# Both 80-bit and 128-bit reals have an exponent of 15 bits with this bias.
_BIAS: Final = 16383
_EXPONENT_MAX: Final = 0x7FFF
# The x87's form writes the first bit of the mantissa (always 1), IEEE's does not.
_X87_MANTISSA: Final = 64
_QUAD_MANTISSA: Final = 112


def parse_number(text: str) -> Number | None:
    """Parse a number that is written out; None for another expression."""
    # Fraction before float: 0.1 is then rounded once, to the wide form, and not to a double
    # before.
    reads: tuple[Callable[[str], Number], ...] = (lambda one: int(one, 0), Fraction, float)
    for read in reads:
        with suppress(ValueError, ZeroDivisionError):
            return read(text.strip())
    return None


def encode_number(number: Number, kind: ExpressionType) -> bytes:
    """Encode a number as a value of a type.

    Raises:
        DebuggerError: EVALUATION_FAILED where it does not fit.
    """
    if kind.kind is ExpressionKind.REAL:
        return _encode_real(number, is_quad="128" in kind.name).ljust(kind.size, b"\0")
    integer = int(number) if math.isfinite(number) else 1 << _BITS
    low = -(1 << (_BITS - 1)) if kind.is_signed else 0
    if not low <= integer < (1 << (_BITS - kind.is_signed)):
        raise expression_error(
            f"{number} does not fit in {kind.name}", hint="debugger set NAME VALUE"
        )
    return integer.to_bytes(kind.size, "little", signed=kind.is_signed)


def _encode_real(number: Number, *, is_quad: bool) -> bytes:
    """Encode in IEEE's form of 128 bits, or in the x87's, which writes the first bit too."""
    width = _QUAD_MANTISSA if is_quad else _X87_MANTISSA
    sign = int(math.copysign(1.0, number) < 0) if isinstance(number, float) else int(number < 0)
    exponent, mantissa = 0, 0
    if not math.isfinite(number):
        exponent = _EXPONENT_MAX
        mantissa = (0 if is_quad else 1 << 63) | (math.isnan(number) << (width - 2 + is_quad))
    elif number:
        exact = abs(Fraction(number))
        # The exponent, from the lengths: at most one too large, which the next line corrects.
        power = exact.numerator.bit_length() - exact.denominator.bit_length()
        power -= exact < Fraction(2) ** power
        last = width - 1 + is_quad  # the first bit's place
        mantissa = round(exact * Fraction(2) ** (last - power))
        # Rounding up has carried into a new bit.
        if mantissa >> (last + 1):
            mantissa, power = mantissa >> 1, power + 1
        exponent = power + _BIAS
        if not 0 < exponent < _EXPONENT_MAX:
            raise expression_error(
                f"{number} is too large, or too small", hint="debugger set NAME VALUE"
            )
    encoded = mantissa & ((1 << width) - 1) | (exponent | sign << 15) << width
    return encoded.to_bytes(16 if is_quad else 10, "little")


_NAME = re.compile(r"\$?[A-Za-z_]\w*\Z")
_HINT = "debugger print shows what it is; debugger set NAME VALUE"


class ValueAssigner:
    """Assigns values to what expressions name."""

    def __init__(
        self,
        target: TargetAccess,
        machine: ThreadRegisters,
        stacks: ThreadStacks,
        evaluating: ExpressionEvaluator,
    ) -> None:
        self._access = target
        self._machine = machine
        self._stacks = stacks
        self._evaluating = evaluating

    async def assign_value(self, target: str, value: str, level: FrameLevel | None) -> None:
        """Set a target to the value of an expression; without a frame both are global.

        Raises:
            DebuggerError: EVALUATION_FAILED, saying why it cannot be set; WRONG_STATE.
        """
        register = target.strip().removeprefix("$")
        if target.strip().startswith("$") and level is not None:
            await self._set_register(register, value, level)
            return
        place = await self._evaluating.evaluate_result(target, level)
        if place.value.type.kind is dwarf.TypeKind.FUNCTION:
            raise expression_error(
                f"{target.strip()} is a function, which cannot be set", hint=_HINT
            )
        if place.value.problem or place.evaluated is None:
            raise _not_assignable(target, place.value)
        # A value without a place: computed by the debug information, from registers of the
        # caller perhaps.
        if place.evaluated.place is None and _NAME.match(target.strip()):
            raise _optimized_out(target)
        kind = place.evaluated.type
        if is_wide(kind) and isinstance(place.evaluated.place, MemoryPlace):
            content = await self._encode_wide(kind, value, level)
            await self._access.engine.write_memory(place.evaluated.place.address, content)
            return
        names = FrameNames(self._access.modules, level, constants=_enumerator_values(kind))
        given = await self._evaluating.evaluate_result(value, level, names=names)
        await self._store_value(place.evaluated, given, level)

    async def _encode_wide(
        self, kind: ExpressionType, value: str, level: FrameLevel | None
    ) -> bytes:
        """Encode a number of more than eight bytes: a written one, or another variable's."""
        number = parse_number(value)
        if number is None:
            given = await self._evaluating.evaluate_result(value, level)
            if given.value.type.size == kind.size and is_wide(type_of(given.value.type)):
                return await run_reading(self._access, lambda memory: memory.bytes_of(given.value))
            found = given.evaluated.value if given.evaluated is not None else None
            if not isinstance(found, int | float):
                raise expression_error(f"{kind.name} is set to a number", hint=_HINT)
            number = found
        return encode_number(number, kind)

    async def _set_register(self, name: str, value: str, level: FrameLevel) -> None:
        given = await self._evaluating.evaluate_result(value, level)
        known = level.known_registers
        if name not in known or level.frame.index:
            why = "of a frame that has called another" if name in known else "there is none"
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                f"${name} cannot be set: {why}",
                hint="debugger registers",
            )
        number = given.evaluated.value if given.evaluated is not None else None
        if not isinstance(number, int | float):
            raise expression_error(f"${name} is set to a number", hint=_HINT)
        current = nodes.wrap_number(int(number), nodes.MachineType.U64)
        await self._machine.set_register(level.thread, name, current.to_bytes(8, "little"))

    async def _store_value(
        self, target: EvaluatedExpression, given: EvaluationResult, level: FrameLevel | None
    ) -> None:
        def work(memory: ValueMemory) -> tuple[MemoryPlace | RegisterPlace, bytes]:
            return _assigned_bytes(target, given, memory, world_of(memory, level))

        place, content = await run_reading(self._access, work)
        if isinstance(place, MemoryPlace):
            await self._access.engine.write_memory(place.address, content)
        elif level is not None:
            await self._set_register_value(level, place.name, content)

    async def _set_register_value(self, level: FrameLevel, name: str, content: bytes) -> None:
        """Set a variable that is in a register, or where an inner frame has saved that register."""
        # An outer frame's register is in the machine only if no inner frame has saved it. The
        # innermost save counts first from outside: the nearest callee that has put it on its
        # stack will restore it.
        frames, _ = await self._stacks.unwind_thread(level.thread, level.frame.index)
        inner = [one for one in frames[: level.frame.index] if one.cfa != level.frame.cfa]
        for one in reversed(inner):
            place = _saved_register(one, NUMBERS[name])
            if place is not None:
                await self._access.engine.write_memory(place, content)
                return
        # Registers that a call may change (System V ABI, 3.2.1) are lost for outer frames.
        if inner and NUMBERS[name] not in PRESERVED:
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                f"it was in register {name}, which frame {inner[-1].index} may have changed",
                hint="debugger frame 0; debugger locals",
            )
        await self._machine.set_register(level.thread, name, content)


def _saved_register(frame: unwinding.UnwoundFrame, register: int) -> int | None:
    """Return where a frame has saved its caller's register."""
    if frame.module is None or frame.cfa is None or frame.is_inlined:
        return None
    row = frame.module.image.frames.rules_at(frame.lookup - frame.module.load_bias)
    rule = row.rules.get(register) if row is not None else None
    return frame.cfa + rule.number if rule is not None and rule.kind == "offset" else None


def _not_assignable(target: str, value: TypedValue) -> DebuggerError:
    """Build the error for a value without a place that can be written to."""
    # A number of one word without a place is computed, from the caller's registers for
    # example.
    kind = type_of(value.type)
    is_one_word = not is_wide(kind) and kind.kind not in {
        ExpressionKind.RECORD,
        ExpressionKind.ARRAY,
    }
    why = value.problem.strip("<>")
    if why == "optimized out" or (not why and is_one_word):
        return _optimized_out(target)
    why = why or "it is in parts of several registers"
    return expression_error(
        f"{target.strip()} cannot be set here: {why}", hint="debugger next; debugger args"
    )


def _optimized_out(target: str) -> DebuggerError:
    return DebuggerError(
        ErrorCode.EVALUATION_FAILED,
        f"Variable '{target.strip()}' is optimized out at this PC. Recompile with -O0.",
        hint="debugger up: the caller may still have the value",
    )


def _enumerator_values(kind: ExpressionType) -> dict[str, tuple[int, ExpressionType]]:
    """Return the values of an enumeration, which may belong to another file than the frame."""
    if kind.kind is not ExpressionKind.ENUM:
        return {}
    # With and without the enumeration's name: a scoped one needs it in C++, not here.
    own = {name: (value, kind) for name, value in kind.enumerators.items()}
    return {**{f"{kind.name}::{name}": it for name, it in own.items()}, **own}


def _assigned_bytes(
    target: EvaluatedExpression, given: EvaluationResult, memory: ValueMemory, world: NodeWorld
) -> tuple[MemoryPlace | RegisterPlace, bytes]:
    source = given.evaluated
    is_whole = target.type.kind in {ExpressionKind.RECORD, ExpressionKind.ARRAY}
    if isinstance(target.place, MemoryPlace) and is_whole:
        return target.place, _record_bytes(target.type, given, memory)
    if source is None:
        raise expression_error(f"the value is {given.value.problem or 'not there'}", hint=_HINT)
    return assignment_bytes(target, source, world)


def _record_bytes(kind: ExpressionType, given: EvaluationResult, memory: ValueMemory) -> bytes:
    """Return the bytes of a record, or of a text for an array of letters."""
    source = given.evaluated
    if source is not None and isinstance(source.value, str) and kind.kind is ExpressionKind.ARRAY:
        content = source.value.encode()
        letters = kind.points_to()
        if letters.kind is ExpressionKind.CHARACTER and letters.size == 1:
            if len(content) > kind.size:
                raise expression_error(
                    f"{len(content)} bytes do not fit in {kind.name}", hint=_HINT
                )
            # With its zero where there is room for one, as C does it for `char a[3] = "abc"`.
            return content.ljust(min(kind.size, len(content) + 1), b"\0")
    if source is None or source.type.name != kind.name or source.type.size != kind.size:
        source_name = source.type.name if source is not None else given.value.type.name
        raise expression_error(f"{kind.name} cannot be set to {source_name}", hint=_HINT)
    return memory.bytes_of(given.value)
