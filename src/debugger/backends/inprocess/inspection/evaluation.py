"""Evaluates an expression in a frame, and the calls in it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import replace

from debugger.backends.expressions import syntax_tree
from debugger.backends.expressions.syntax_tree import Tree, expression_error
from debugger.backends.inprocess.engine.engine_events import EngineWatch
from debugger.backends.inprocess.expressions import resolution
from debugger.backends.inprocess.expressions.container_members import owned_pointer
from debugger.backends.inprocess.expressions.declared_names import type_of
from debugger.backends.inprocess.expressions.expression_evaluation import (
    EvaluatedExpression,
    MemoryPlace,
    RegisterPlace,
    evaluate_checked,
)
from debugger.backends.inprocess.expressions.location_nodes import (
    ComputedValue,
    RegisterValue,
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
    pointer_to,
)
from debugger.backends.inprocess.expressions.operands import (
    ARITHMETIC,
    Operand,
    address_of,
    load_node,
    look_through_reference,
    machine_type,
    truth_node,
)
from debugger.backends.inprocess.inspection import frame_names, function_calls
from debugger.backends.inprocess.inspection.frame_names import FrameNames
from debugger.backends.inprocess.inspection.memory_reading import run_reading
from debugger.backends.inprocess.inspection.thread_stacks import FrameLevel
from debugger.backends.inprocess.target_access import TargetAccess
from debugger.errors import DebuggerError, ErrorCode
from debugger.symbols.dwarf import container_shapes, less_common_shapes, unwinding, value_format
from debugger.symbols.dwarf import debug_types as dwarf
from debugger.symbols.dwarf.debug_types import TypeKind
from debugger.symbols.dwarf.location_evaluation import UnreadableMemory
from debugger.symbols.dwarf.typed_values import (
    TypedValue,
    ValueMemory,
    complete_object,
    read_floating,
    read_integer,
)

# Each element of a map or a list is read by itself: this many take about as long as a user
# waits.
_WALK_MAX: Final = 100_000
_SHOWN_KEYS: Final = 5


def walkable_shape(
    value: TypedValue, memory: ValueMemory
) -> container_shapes.SequenceShape | container_shapes.MappingShape | None:
    """Return the shape of a map, or of a sequence whose elements do not lie in one row."""
    shape = less_common_shapes.find_shape(value, memory)
    if isinstance(shape, container_shapes.MappingShape):
        return shape
    name = value.type.without_names.name
    is_walked = name.startswith(("std::deque<", "std::__cxx11::list<", "std::vector<bool"))
    return shape if isinstance(shape, container_shapes.SequenceShape) and is_walked else None


def subscript_element(
    shape: container_shapes.SequenceShape | container_shapes.MappingShape,
    key: object,
    name: str,
    memory: ValueMemory,
) -> ScopeVariable:
    """Return the element at a subscript.

    Raises:
        DebuggerError: EVALUATION_FAILED where there is no such element.
    """
    if isinstance(shape, container_shapes.MappingShape):
        return _element_variable(_value_of(shape, key, memory), memory)
    if not isinstance(key, int):
        raise expression_error(f"an index of {name} is a whole number")
    found = next(shape.items(key), None) if 0 <= key < shape.count else None
    if found is None:
        raise expression_error(f"there is no element {key}: the size is {shape.count}")
    return _element_variable(found, memory)


def _value_of(shape: container_shapes.MappingShape, key: object, memory: ValueMemory) -> TypedValue:
    names: list[str] = []
    for one, value in itertools.islice(shape.items(0), _WALK_MAX):
        if _is_key(one, key, memory):
            return value
        if len(names) < _SHOWN_KEYS:
            names.append(value_format.format_value(one, memory))
    more = ", …" if shape.count > len(names) else ""
    if shape.count > _WALK_MAX:
        raise expression_error(f"no such key among the first {_WALK_MAX:,} of {shape.count:,}")
    raise expression_error(
        f"there is no such key; it has {', '.join(names) + more if names else 'none'}"
    )


def _is_key(one: TypedValue, key: object, memory: ValueMemory) -> bool:
    # The key may be a std::string, a String, a &str or an array of letters.
    if isinstance(key, str):
        shape = less_common_shapes.find_shape(one, memory)
        if isinstance(shape, container_shapes.TextShape):
            return memory.read_at(shape.address, shape.size) == key.encode()
        return value_format.format_value(one, memory) == value_format.quote_bytes(key.encode())
    kind = one.type.kind
    if kind is TypeKind.FLOAT:
        return read_floating(memory.bytes_of(one)) == key
    numbers = {TypeKind.INTEGER, TypeKind.CHARACTER, TypeKind.BOOL, TypeKind.ENUM, TypeKind.POINTER}
    if kind not in numbers:
        raise expression_error(f"a key of type {one.type.name} cannot be written here")
    return read_integer(one, memory) == key


def _element_variable(value: TypedValue, memory: ValueMemory) -> ScopeVariable:
    kind = type_of(value.type)
    # An element of a vector<bool> is a bit, which has no address: its value is taken now.
    if value.bits is not None:
        return ScopeVariable(
            "", kind, ComputedValue(ConstantNode(read_integer(value, memory), MachineType.U8))
        )
    return ScopeVariable(
        "", kind, StoredValue(ConstantNode(value.address or 0, MachineType.U64), is_sure=True)
    )


_NAME = re.compile(r"\$?[A-Za-z_]\w*\Z")
# xmm registers are shown whole; expressions calculate with eight bytes at most.
_VECTOR = 16
_WORD = 8
# Each call runs code of the program: this bounds what one expression may do to it.
_CALLS_MAX = 32


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """Holds a value to be shown; `evaluated` is the same for expressions, with its place."""

    value: TypedValue
    evaluated: EvaluatedExpression | None = None


def _vector_result(name: str, level: FrameLevel) -> EvaluationResult | None:
    """Return a vector register, which is no number of an expression: it is only shown."""
    content = level.known_registers.get(name)
    if content is None or not name.startswith("xmm"):
        return None
    kind = frame_names.SyntheticType("uint128_t", dwarf.TypeKind.OTHER, _VECTOR)
    return EvaluationResult(TypedValue(kind, content=content.to_bytes(_VECTOR, "little")))


def world_of(memory: ValueMemory, level: FrameLevel | None) -> NodeWorld:
    """Return the registers of a frame, and memory, as expressions need them."""

    def read(address: int, size: int) -> bytes:
        try:
            return memory.read(address, size)
        except UnreadableMemory as error:
            raise OSError(address) from error

    return NodeWorld(level.known_registers if level is not None else {}, read)


class ExpressionEvaluator:
    """Evaluates expressions of one program."""

    def __init__(
        self, target: TargetAccess, *, watched: Callable[[], Sequence[EngineWatch]]
    ) -> None:
        self._access = target
        self.watched = watched

    async def evaluate_result(
        self, text: str, level: FrameLevel | None, *, names: FrameNames | None = None
    ) -> EvaluationResult:
        """Evaluate an expression in a frame, or without one over what is global.

        Raises:
            DebuggerError: EVALUATION_FAILED, WRONG_STATE for a call on a thread that runs.
        """
        # An expression is evaluated in three passes:
        #
        # 1. Parsed to a tree.
        # 2. Calls and subscripts that walk a container are done, innermost first, and
        #    replaced by names ($1, $2, ...) whose values are in `names.results`
        #    (`_replace_calls`): they need the program, and may run only once.
        # 3. The rest is checked and evaluated in one piece of work (`run_reading`), which may
        #    be repeated whenever a page is missing, and so must have no effects.
        names = names if names is not None else FrameNames(self._access.modules, level)
        plain = await self._plain_result(text.strip(), level)
        if plain is not None:
            return plain
        # From here on the expression has no calls left.
        settled = await self._replace_calls(
            resolution.parse_in_scope(text, names), text, names, level
        )
        if isinstance(settled, syntax_tree.NameTree) and settled.text in names.results:
            kind = names.results[settled.text].type
            if kind.kind is ExpressionKind.VOID:
                return EvaluationResult(TypedValue(dwarf.DebugType(None)))

        def work(memory: ValueMemory) -> EvaluationResult:
            operand = resolution.check_tree(settled, text, names)
            return result_to_show(operand, world_of(memory, level))

        return await run_reading(self._access, work)

    async def condition_holds(self, text: str, level: FrameLevel | None) -> bool:
        """Evaluate a condition in a frame.

        Raises:
            DebuggerError: EVALUATION_FAILED.
        """
        names = FrameNames(self._access.modules, level)
        settled = await self._replace_calls(
            resolution.parse_in_scope(text, names), text, names, level
        )
        return await self._is_true(settled, text, names, level)

    async def _plain_result(self, text: str, level: FrameLevel | None) -> EvaluationResult | None:
        """Return a local that an expression cannot hold: one in parts, or optimized out."""
        if level is None or not _NAME.match(text):
            return None
        if text.startswith("$"):
            return _vector_result(text[1:], level)
        frame = level.frame
        known = [
            one
            for one in unwinding.frame_variables(frame)
            if one.name == text and not one.is_shadowed
        ]
        if not known:
            return None

        def work(memory: ValueMemory) -> TypedValue:
            return unwinding.variable_value(known[-1], frame, memory)

        found = await run_reading(self._access, work)
        is_in_parts = found.address is None and len(known[-1].place) > 1
        return EvaluationResult(found) if found.problem or is_in_parts else None

    # --- calls ---

    async def _replace_calls(  # noqa: PLR0911 - one case for each kind of tree
        self,
        one: Tree,
        text: str,
        names: FrameNames,
        level: FrameLevel | None,
        returns: ExpressionType | None = None,
    ) -> Tree:
        """Perform the calls in an expression, in its order, and replace them by their results."""
        if not _is_settled_here(one):
            return one
        match one:
            case syntax_tree.CallTree():
                return await self._evaluate_call(one, text, names, level, returns)
            case syntax_tree.IndexTree():
                return await self._evaluate_index(one, text, names, level)
            # The cast says what a function without debug information returns.
            case syntax_tree.CastTree():
                kind = names.find_type(one.kind.name)
                for _ in range(one.kind.pointers if kind is not None else 0):
                    kind = pointer_to(kind) if kind is not None else None
                inner = await self._replace_calls(one.of, text, names, level, kind)
                return replace(one, of=inner)
            # Only the side that counts is evaluated, as in C: a call on the other side must
            # not be made.
            case syntax_tree.BinaryTree(op="&&" | "||"):
                left = await self._replace_calls(one.left, text, names, level)
                if await self._is_true(left, text, names, level) is (one.op == "||"):
                    return syntax_tree.TruthTree(one.op == "||", one.at)
                right = await self._replace_calls(one.right, text, names, level)
                return replace(one, left=left, right=right)
            case syntax_tree.ConditionalTree():
                test = await self._replace_calls(one.test, text, names, level)
                is_true = await self._is_true(test, text, names, level)
                return await self._replace_calls(one.yes if is_true else one.no, text, names, level)
        parts: dict[str, Any] = {
            name: await self._replace_calls(part, text, names, level)
            for name, part in syntax_tree.subtrees(one).items()
        }
        return replace(one, **parts)

    async def _is_true(
        self, one: Tree, text: str, names: FrameNames, level: FrameLevel | None
    ) -> bool:
        def work(memory: ValueMemory) -> bool:
            node = truth_node(resolution.check_tree(one, text, names))
            return bool(evaluate_node(node, world_of(memory, level)))

        return await run_reading(self._access, work)

    async def _evaluate_call(
        self,
        one: syntax_tree.CallTree,
        text: str,
        names: FrameNames,
        level: FrameLevel | None,
        returns: ExpressionType | None,
    ) -> Tree:
        if level is None:
            raise DebuggerError(
                ErrorCode.WRONG_STATE,
                "a function is called on a paused thread alone",
                hint="debugger pause",
            )
        # Results of subscripts count as well.
        if len(names.results) == _CALLS_MAX:
            raise expression_error(f"more than {_CALLS_MAX} calls in one expression")
        arguments = [await self._replace_calls(it, text, names, level) for it in one.arguments]
        of = one.of
        if isinstance(of, syntax_tree.MemberTree):
            of = replace(of, of=await self._replace_calls(of.of, text, names, level))

        def work(memory: ValueMemory) -> function_calls.PreparedCall:
            passed = [resolution.check_tree(it, text, names) for it in arguments]
            return _prepare_call(of, text, passed, names, memory, level=level, returns=returns)

        call = await run_reading(self._access, work)
        result = await self._perform_call(level.thread, call, names)
        # $1 is no identifier of C or Rust, so it hides nothing.
        name = f"${len(names.results) + 1}"
        names.results[name] = result
        return syntax_tree.NameTree(name, one.at)

    async def _evaluate_index(
        self, one: syntax_tree.IndexTree, text: str, names: FrameNames, level: FrameLevel | None
    ) -> Tree:
        """Find an element of a container that is walked, such as a map or a list."""
        of = await self._replace_calls(one.of, text, names, level)
        index = await self._replace_calls(one.index, text, names, level)
        settled = replace(one, of=of, index=index)

        def work(memory: ValueMemory) -> ScopeVariable | None:
            world = world_of(memory, level)
            holder = look_through_reference(resolution.check_tree(of, text, names))
            if holder.type.kind is not ExpressionKind.RECORD or not isinstance(
                holder.where, StoredValue
            ):
                return None
            value = TypedValue(
                frame_names.to_debug_type(holder.type),
                address=int(evaluate_node(holder.where.address, world)),
            )
            shape = walkable_shape(value, memory)
            if shape is None:
                return None
            key = evaluate_checked(resolution.check_tree(index, text, names), world)
            return subscript_element(shape, key.value, value.type.name, memory)

        found = await run_reading(self._access, work)
        if found is None:
            return settled
        name = f"${len(names.results) + 1}"
        names.results[name] = found
        return syntax_tree.NameTree(name, one.at)

    async def _perform_call(
        self, thread: int, call: function_calls.PreparedCall, names: FrameNames
    ) -> ScopeVariable:
        """Perform a call while nothing is watched: a trap within would end the call."""
        engine, orders = self._access.engine, self.watched()
        # The calling thread is in the agent's command loop, so a watchpoint's trap could not
        # pause it again.
        for one in orders:
            await engine.remove_watch(one.id)
        try:
            return await function_calls.perform_call(self._access, thread, call, names)
        finally:
            for one in orders:
                await engine.set_watch(one)


def _prepare_call(
    of: Tree,
    text: str,
    passed: Sequence[Operand],
    names: FrameNames,
    memory: ValueMemory,
    *,
    level: FrameLevel,
    returns: ExpressionType | None,
) -> function_calls.PreparedCall:
    world = world_of(memory, level)
    if isinstance(of, syntax_tree.MemberTree):
        holder = resolution.check_tree(of.of, text, names)
        # A pointer's method is called on what it points to; a smart pointer's `->` is the
        # owner's.
        kind = holder.type
        if kind.kind is ExpressionKind.POINTER:
            holder = Operand(kind.points_to(), where=StoredValue(load_node(holder)))
        holder = _method_object(owned_pointer(holder) or holder, memory, world)
        found = _find_methods(holder.type, of.name, names)
        if found:
            this = Operand(pointer_to(holder.type), node=address_of(holder))
            every = [this, *passed]
            chosen = function_calls.choose_function(found, every)
            function = Operand(chosen.type, where=chosen.where)
            return function_calls.prepare_call(function, of.name, every, world, returns=returns)
    if isinstance(of, syntax_tree.NameTree) and names.value_named(of.text) is None:
        candidates = list(names.find_functions(of.text))
        if candidates:
            one = function_calls.choose_function(candidates, passed)
            function = Operand(one.type, where=one.where)
            return function_calls.prepare_call(function, of.text, passed, world, returns=returns)
    function = resolution.check_tree(of, text, names)
    name = of.text if isinstance(of, syntax_tree.NameTree) else "the expression"
    return function_calls.prepare_call(function, name, passed, world, returns=returns)


def _method_object(holder: Operand, memory: ValueMemory, world: NodeWorld) -> Operand:
    """Return the object that a method is called on, which may be of a derived class."""
    if holder.type.kind is not ExpressionKind.RECORD or not isinstance(holder.where, StoredValue):
        return holder
    address = int(evaluate_node(holder.where.address, world))
    # By its virtual table the object's real class is known, whose override would be called.
    own = TypedValue(frame_names.to_debug_type(holder.type), address=address)
    found = complete_object(own, memory)
    if found is own or found.address is None:
        return holder
    return Operand(
        type_of(found.type), where=StoredValue(ConstantNode(found.address, MachineType.U64))
    )


def _find_methods(kind: ExpressionType, name: str, names: FrameNames) -> list[ScopeVariable]:
    """Find a method of a type, or of its bases."""
    if kind.kind is not ExpressionKind.RECORD:
        return []
    found = list(names.find_functions(f"{kind.name}::{name}"))
    for one in kind.fields() if not found else ():
        # A base at another offset needs `this` adjusted, which is not done here.
        if one.is_base and one.offset == 0:
            found = _find_methods(one.kind(), name, names)
            if found:
                break
    return found


def _is_settled_here(one: Tree) -> bool:
    """Return whether an expression has a call or a subscript, which may need the program."""
    is_one = isinstance(one, syntax_tree.CallTree | syntax_tree.IndexTree)
    return is_one or any(_is_settled_here(part) for part in syntax_tree.subtrees(one).values())


def result_to_show(operand: Operand, world: NodeWorld) -> EvaluationResult:  # noqa: PLR0911 - one case for each place
    """Evaluate a checked operand, to be shown.

    Raises:
        DebuggerError: EVALUATION_FAILED.
    """
    kind = frame_names.to_debug_type(operand.type)
    if operand.type.kind is ExpressionKind.FUNCTION:
        return EvaluationResult(
            TypedValue(kind, address=int(evaluate_node(load_node(operand), world)))
        )
    if operand.type.kind is ExpressionKind.RECORD and operand.words is None:
        record = _register_record(operand, world, kind)
        if record is not None:
            return EvaluationResult(record)
    if is_wide(operand.type) and isinstance(operand.where, StoredValue):
        address = int(evaluate_node(operand.where.address, world))
        return EvaluationResult(
            TypedValue(kind, address=address),
            EvaluatedExpression(operand.type, None, MemoryPlace(address)),
        )
    found = evaluate_checked(operand, world)
    match found.place:
        case MemoryPlace(address, bits):
            return EvaluationResult(TypedValue(kind, address=address, bits=bits), found)
        case RegisterPlace(name):
            content = world.registers.get(name, 0).to_bytes(16, "little")[: kind.size]
            return EvaluationResult(TypedValue(kind, content=content), found)
    if isinstance(found.value, str):
        content = found.value.encode() + b"\0"
        return EvaluationResult(
            TypedValue(frame_names.text_type(len(content)), content=content), found
        )
    content = encode_number(found.value or 0, machine_type(operand.type))
    return EvaluationResult(TypedValue(kind, content=content), found)


def is_wide(kind: ExpressionType) -> bool:
    """Test whether a number has more than eight bytes: it is shown and set, not calculated with."""
    return kind.kind in ARITHMETIC and kind.size > _WORD


def _register_record(
    operand: Operand, world: NodeWorld, kind: dwarf.DebugType
) -> TypedValue | None:
    """Return a record that is in a register."""
    match operand.where:
        case RegisterValue(register):
            bits = world.registers.get(register, 0)
        case ComputedValue(node):
            bits = int(evaluate_node(node, world))
        case _:
            return None
    return TypedValue(kind, content=bits.to_bytes(16, "little")[: kind.size])
