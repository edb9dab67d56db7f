"""Calls a function of the program on a paused thread, by Frida's types."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from debugger.backends.expressions.syntax_tree import expression_error
from debugger.backends.inprocess.expressions import nodes
from debugger.backends.inprocess.expressions.arithmetic import apply_cast
from debugger.backends.inprocess.expressions.declared_names import type_of
from debugger.backends.inprocess.expressions.location_nodes import (
    AbsentValue,
    ComputedValue,
    ScopeVariable,
    StoredValue,
)
from debugger.backends.inprocess.expressions.node_evaluation import (
    NodeWorld,
    encode_number,
    evaluate_node,
)
from debugger.backends.inprocess.expressions.nodes import (
    ConstantNode,
    ExpressionKind,
    ExpressionType,
    MachineType,
)
from debugger.backends.inprocess.expressions.operands import (
    Operand,
    address_of,
    load_node,
    look_through_reference,
    machine_type,
)
from debugger.backends.inprocess.inspection import frame_names
from debugger.backends.inprocess.inspection.frame_names import FrameNames
from debugger.backends.inprocess.target_access import TargetAccess
from debugger.errors import DebuggerError, ErrorCode

# What NativeFunction passes in one register. Records by value would need the ABI's
# classification.
_WORDS = frozenset(
    {ExpressionKind.INTEGER, ExpressionKind.CHARACTER, ExpressionKind.BOOLEAN, ExpressionKind.ENUM}
)
_ADDRESSES = frozenset({ExpressionKind.POINTER, ExpressionKind.REFERENCE})
_REALS = {4: "float", 8: "double"}
_WIDEST = 8
_HINT = "debugger call --help"


@dataclass(frozen=True, slots=True)
class PassedArgument:
    """Holds an argument: Frida's type and value, or a text that must be put in memory."""

    kind: str
    value: str = ""
    text: bytes | None = None


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """Holds a checked call that may be performed."""

    name: str
    address: int
    arguments: tuple[PassedArgument, ...]
    returns: ExpressionType
    is_indirect: bool = False


def choose_function(
    candidates: Sequence[ScopeVariable], arguments: Sequence[Operand]
) -> ScopeVariable:
    """Choose among functions of one name by their parameters; the first of several that fit."""

    # No rules of C++'s overload resolution: the number of parameters must fit, then the kinds
    # and the names of the types decide. -1 is below any function with the right number.
    def score(one: ScopeVariable) -> int:
        takes = _parameter_types(one.type)
        if takes is None or len(takes) != len(arguments):
            return -1
        pairs = zip(takes, arguments, strict=True)
        return sum(_fit_score(kind, look_through_reference(given).type) for kind, given in pairs)

    return max(candidates, key=score)


def _fit_score(kind: ExpressionType, given: ExpressionType) -> int:
    kind = kind.points_to() if kind.kind is ExpressionKind.REFERENCE else kind
    return 1 + (kind.kind is given.kind) + (kind.name == given.name)


def _parameter_types(function: ExpressionType) -> tuple[ExpressionType, ...] | None:
    known = function.declared
    found = frame_names.parameter_types(known) if known is not None else None
    return tuple(map(type_of, found)) if found is not None else None


def prepare_call(
    function: Operand,
    name: str,
    arguments: Sequence[Operand],
    world: NodeWorld,
    *,
    returns: ExpressionType | None = None,
) -> PreparedCall:
    """Check a call, and convert its arguments; `returns` is the type that it is cast to.

    Raises:
        DebuggerError: EVALUATION_FAILED, saying what does not fit.
    """
    address, kind = _call_target(look_through_reference(function), name, world)
    takes, known = _parameter_types(kind), kind.declared
    # Without debug information arguments go as they are, and only a cast tells what comes
    # back: gdb's rule.
    if takes is None:
        if returns is None:
            text = f"what {name} returns is not known: cast the call, as in (int){name}(…)"
            raise expression_error(text, hint=_HINT)
        passed = tuple(_as_it_is(one, world) for one in arguments)
        is_indirect = known is not None and known.name == frame_names.INDIRECT
        return PreparedCall(name, address, passed, returns, is_indirect)
    # The ABI wants the number of vector registers in al for these, which Frida does not set.
    if known is not None and frame_names.is_variadic(known) and len(arguments) > len(takes):
        text = f"{name} is called with its {len(takes)} named arguments alone"
        raise expression_error(text, hint=_HINT)
    if len(arguments) != len(takes):
        raise expression_error(
            f"{name} takes {len(takes)} arguments, not {len(arguments)}", hint=_HINT
        )
    pairs = zip(takes, arguments, strict=True)
    return PreparedCall(
        name,
        address,
        tuple(_pass_argument(to, one, world) for to, one in pairs),
        _result_type(kind),
    )


def _call_target(function: Operand, name: str, world: NodeWorld) -> tuple[int, ExpressionType]:
    kind = function.type
    if kind.kind is ExpressionKind.FUNCTION:
        return int(evaluate_node(load_node(function), world)), kind
    if kind.kind is ExpressionKind.POINTER and kind.points_to().kind is ExpressionKind.FUNCTION:
        return int(evaluate_node(load_node(function), world)), kind.points_to()
    raise expression_error(f"{name} is no function: it is {kind.name}", hint=_HINT)


def _result_type(function: ExpressionType) -> ExpressionType:
    found = function.points_to()
    is_word = found.kind in _WORDS | _ADDRESSES and found.size <= _WIDEST
    if (
        found.kind is ExpressionKind.VOID
        or is_word
        or (found.kind is ExpressionKind.REAL and found.size in _REALS)
    ):
        return found
    raise expression_error(f"it returns {found.name}, which is not read from a call", hint=_HINT)


def _as_it_is(one: Operand, world: NodeWorld) -> PassedArgument:
    one = look_through_reference(one)
    if one.type.kind is ExpressionKind.ARRAY:
        return PassedArgument("pointer", hex(int(evaluate_node(load_node(one), world))))
    # C's default promotion: a float is passed as a double where no parameter is declared.
    return _pass_argument(
        nodes.DOUBLE if one.type.kind is ExpressionKind.REAL else one.type, one, world
    )


def _pass_argument(kind: ExpressionType, given: Operand, world: NodeWorld) -> PassedArgument:
    # Put into the program's memory when the call is made (`_place_text`).
    if isinstance(given.words, nodes.LiteralText):
        if kind.kind is ExpressionKind.POINTER or kind.size == 0:
            return PassedArgument("pointer", text=given.words.value.encode() + b"\0")
        raise expression_error(f"a string cannot be passed as {kind.name}", hint=_HINT)
    if kind.kind is ExpressionKind.REFERENCE:
        given = look_through_reference(given)
        return PassedArgument("pointer", hex(int(evaluate_node(address_of(given), world))))
    if (
        kind.kind not in _WORDS | {ExpressionKind.POINTER, ExpressionKind.REAL}
        or kind.size > _WIDEST
    ):
        raise expression_error(
            f"{kind.name} is passed by value, which is not done here", hint=_HINT
        )
    value = evaluate_node(load_node(apply_cast(given, kind)), world)
    if kind.kind is ExpressionKind.REAL:
        return PassedArgument(_REALS[kind.size], repr(float(value)))
    return PassedArgument(
        _frida_type(kind),
        hex(int(value)) if kind.kind is ExpressionKind.POINTER else str(value),
    )


def _frida_type(kind: ExpressionType) -> str:
    if kind.kind is ExpressionKind.VOID:
        return "void"
    if kind.kind in _ADDRESSES:
        return "pointer"
    if kind.kind is ExpressionKind.REAL:
        return _REALS[kind.size]
    return f"{'' if kind.is_signed else 'u'}int{8 * kind.size}"


async def perform_call(
    target: TargetAccess, thread: int, call: PreparedCall, names: FrameNames
) -> ScopeVariable:
    """Perform a call; return its result, of type void where there is none.

    Raises:
        DebuggerError: EVALUATION_FAILED when it faults, TIMEOUT; the thread is where it was.
    """
    engine = target.engine
    passed = [await _place_text(target, thread, one, names) for one in call.arguments]
    address = call.address
    # A GNU indirect function returns the address of the one to call, chosen for this
    # processor.
    if call.is_indirect:
        found = await engine.call_function(thread, address, takes=[], returns="pointer", values=[])
        address = int(found, 16)
    try:
        returned = await engine.call_function(
            thread,
            address,
            takes=[one.kind for one in passed],
            returns=_frida_type(call.returns),
            values=[one.value for one in passed],
        )
    except DebuggerError as error:
        if error.code is not ErrorCode.EVALUATION_FAILED:
            raise
        raise DebuggerError(
            error.code,
            f"the call of {call.name} failed: {error.message}; the thread is where it was",
            hint="debugger backtrace",
        ) from error
    return _returned_variable(call, returned)


async def _place_text(
    target: TargetAccess, thread: int, one: PassedArgument, names: FrameNames
) -> PassedArgument:
    """Put a text into memory that the program allocates and keeps: the callee may refer to it."""
    if one.text is None:
        return one
    allocate = next(names.find_functions("malloc"), None)
    if allocate is None or not isinstance(allocate.where, StoredValue):
        raise expression_error(
            "the program has no malloc, so that no string can be passed", hint=_HINT
        )
    address = int(evaluate_node(allocate.where.address, NodeWorld({}, lambda _, __: b"")))
    size = str(len(one.text))
    returned = await target.engine.call_function(
        thread, address, takes=["uint64"], returns="pointer", values=[size]
    )
    await target.engine.write_memory(int(returned, 16), one.text)
    return PassedArgument("pointer", returned)


def _returned_variable(call: PreparedCall, returned: str) -> ScopeVariable:
    kind = call.returns
    if kind.kind is ExpressionKind.VOID:
        return ScopeVariable(
            call.name, kind, AbsentValue("not there: the function returns nothing")
        )
    if kind.kind is ExpressionKind.REFERENCE:
        place = ConstantNode(int(returned, 16), MachineType.U64)
        return ScopeVariable(call.name, kind.points_to(), StoredValue(place))
    machine = machine_type(kind)
    if machine.is_real:
        # JavaScript's spelling of these two.
        number: float = float(returned.replace("Infinity", "inf").replace("NaN", "nan"))
        (bits,) = struct.unpack("<Q", encode_number(number, machine).ljust(8, b"\0"))
    else:
        bits = int(returned, 0) & ((1 << machine.bit_width) - 1)
    return ScopeVariable(call.name, kind, ComputedValue(ConstantNode(bits, MachineType.U64)))
