"""Defines the names at an address, and translates their DWARF locations to nodes. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from debugger.backends.inprocess.expressions import nodes
from debugger.backends.inprocess.expressions.nodes import (
    BASIC,
    ConstantNode,
    ExpressionType,
    MachineType,
    Node,
    add_offset,
    wrap_number,
)
from debugger.symbols.dwarf.location_evaluation import LocationOperation


@dataclass(frozen=True, slots=True)
class StoredValue:
    """Describes a value in memory; `is_sure` where the address is surely mapped.

    A frame's and a module's addresses are. `bits` are a bit field's first bit from there, and its
    width.
    """

    address: Node
    is_sure: bool = False
    bits: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class RegisterValue:
    """Describes a value in a register: `rax`, `xmm0`."""

    register: str


@dataclass(frozen=True, slots=True)
class ComputedValue:
    """Describes a value without storage; the node yields its bits as U64."""

    bits: Node


@dataclass(frozen=True, slots=True)
class AbsentValue:
    """Describes a value that does not exist here; `why` says the reason: `optimized out`."""

    why: str


Where = StoredValue | RegisterValue | ComputedValue | AbsentValue


@dataclass(frozen=True, slots=True)
class ScopeVariable:
    """Describes a variable in scope."""

    name: str
    type: ExpressionType
    where: Where


class NameScope(Protocol):
    """Looks up the names of an expression: the program at one address."""

    def find_variable(self, name: str) -> ScopeVariable | None:
        """Find the variable of a name, the innermost first; `a::b` as it was written."""

    def is_local(self, name: str) -> bool:
        """Return whether a variable belongs to the function; it hides the members of `this`."""

    def find_constant(self, name: str) -> tuple[int, ExpressionType] | None:
        """Find an enumerator's number and its type."""

    def find_type(self, name: str) -> ExpressionType | None:
        """Find a type by its name, without stars."""

    def visible_names(self) -> Iterable[str]:
        """Name what is in scope, for a name that is not."""

    def function_arguments(self) -> Sequence[ScopeVariable] | None:
        """Return the function's arguments; None where nothing is known of it."""

    def why_incomplete(self) -> str:
        """Say why names are missing that the source has; "" where none are known to be."""


@dataclass(frozen=True, slots=True)
class TableScope:
    """Looks up names in tables; the basic types of C, C++ and Rust are always there."""

    variables: Mapping[str, ScopeVariable] = field(default_factory=dict)
    constants: Mapping[str, tuple[int, ExpressionType]] = field(default_factory=dict)
    types: Mapping[str, ExpressionType] = field(default_factory=dict)
    entry: Sequence[ScopeVariable] | None = None

    def find_variable(self, name: str) -> ScopeVariable | None:
        """Find a variable."""
        return self.variables.get(name)

    def is_local(self, name: str) -> bool:
        """Return whether there is such a variable."""
        return name in self.variables

    def find_constant(self, name: str) -> tuple[int, ExpressionType] | None:
        """Find an enumerator."""
        return self.constants.get(name)

    def find_type(self, name: str) -> ExpressionType | None:
        """Find a type."""
        return self.types.get(name) or BASIC.get(name)

    def visible_names(self) -> Iterable[str]:
        """Name all variables and enumerators."""
        return [*self.variables, *self.constants]

    def function_arguments(self) -> Sequence[ScopeVariable] | None:
        """Return the function's arguments."""
        return self.entry

    def why_incomplete(self) -> str:
        """Return nothing: a table has all that it should."""
        return ""


# By DWARF's numbers (System V ABI, AMD64, figure 3.36).
REGISTERS = (
    "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13",
    "r14", "r15", "rip", *(f"xmm{number}" for number in range(16)),
)  # fmt: skip
_OPERATORS = {
    "plus": "+", "minus": "-", "mul": "*", "and": "&", "or": "|", "xor": "^", "shl": "<<",
    "shr": ">>", "mod": "%",
}  # fmt: skip
_SIGNED = {"div": "/", "shra": ">>"}
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_SIZES = {1: MachineType.U8, 2: MachineType.U16, 4: MachineType.U32, 8: MachineType.U64}
_WORD = 8
_STACK_MAX = 64
_COPIES_MAX = 4  # each could double what is written for a location


THREAD_LOCAL = "thread-local: it is read at a stop, for the thread that stopped"


class _NotTranslatable(Exception):
    """Says why a location has no form as a node."""


def translate_location(
    operations: Sequence[LocationOperation],
    *,
    bias: int = 0,
    frame_base: Sequence[LocationOperation] = (),
    cfa: Node | None = None,
    block: Node | None = None,
) -> Where:
    """Translate a location's operations; `cfa` is the frame's canonical address at this place.

    `block` is where the thread-local variables of the binary lie for the thread that is meant.
    """
    if not operations:
        return AbsentValue("optimized out")
    try:
        return _NodeMachine(bias, frame_base, cfa, block).run_operations(operations)
    except _NotTranslatable as error:
        return AbsentValue(str(error))


class _NodeMachine:
    """Runs DWARF's stack machine (DWARF 5, 2.5) with nodes on its stack instead of numbers."""

    def __init__(
        self,
        bias: int,
        frame_base: Sequence[LocationOperation],
        cfa: Node | None,
        block: Node | None = None,
    ) -> None:
        self._block = block
        self._bias = bias
        self._frame_base = frame_base
        self._cfa = cfa
        self._stack: list[Node] = []
        # An address that is computed from registers of the frame and from constants is mapped
        # for sure, so the C code may read it without asking the kernel. That ends with the
        # first value that was read from memory.
        self._is_sure = True
        self._copies = 0

    def run_operations(self, operations: Sequence[LocationOperation]) -> Where:
        # Conditions run in the program at each hit, where no DWARF can be evaluated. So a
        # location is executed here once, symbolically: a register becomes a node that will
        # read it, a sum becomes a node of a sum. The node on top at the end is the address.
        # What needs the caller (entry_value), or has several pieces, has no such form, and
        # the value is absent.
        for number, one in enumerate(operations):
            is_last = number == len(operations) - 1
            match one.name:
                case "reg" if is_last:
                    return RegisterValue(_register_name(one.first))
                case "stack_value" if is_last:
                    return ComputedValue(self._pop_node())
                case "implicit_value" if is_last and one.block:
                    if len(one.block) > _WORD:
                        raise _NotTranslatable("a constant that is too wide to read here")
                    return ComputedValue(
                        ConstantNode(int.from_bytes(one.block, "little"), MachineType.U64)
                    )
                # At a stop these are evaluated with the caller's frame
                # (`unwinding.frame_context`), not here.
                case "entry_value" | "parameter_ref" | "implicit_pointer":
                    raise _NotTranslatable("optimized out")
                case "piece" | "bit_piece":
                    raise _NotTranslatable("in parts of registers and memory")
            self._run_operation(one)
        return StoredValue(self._pop_node(), self._is_sure)

    def _pop_node(self) -> Node:
        if not self._stack:
            raise _NotTranslatable("at a place that is not understood")
        return self._stack.pop()

    def _push_node(self, node: Node) -> None:
        if len(self._stack) == _STACK_MAX:
            raise _NotTranslatable("at a place that is not understood")
        self._stack.append(node)

    def _run_operation(self, one: LocationOperation) -> None:
        simple: dict[str, Callable[[LocationOperation], Node]] = {
            "const": lambda one: _constant_node(one.first),
            "addr": lambda one: _constant_node(one.first + self._bias),
            "breg": lambda one: add_offset(
                nodes.RegisterNode(_register_name(one.first), MachineType.U64), one.second
            ),
            "regval": lambda one: nodes.RegisterNode(_register_name(one.first), MachineType.U64),
            "fbreg": lambda one: add_offset(self._frame_base_node(), one.first),
            "form_tls_address": lambda _: self._thread_local(),
            "call_frame_cfa": lambda _: self._canonical_address(),
            "plus_uconst": lambda one: add_offset(self._pop_node(), one.first),
            "deref": lambda _: self._read_memory(8),
            "deref_size": lambda one: self._read_memory(one.first),
            "neg": lambda _: nodes.NegateNode(self._pop_node(), MachineType.U64),
            "not": lambda _: nodes.InvertNode(self._pop_node(), MachineType.U64),
        }
        if one.name in simple:
            self._push_node(simple[one.name](one))
        elif one.name in _OPERATORS or one.name in _SIGNED or one.name in _COMPARISONS:
            right, left = self._pop_node(), self._pop_node()
            self._push_node(_combine_nodes(one.name, left, right))
        elif one.name == "dup" and self._copies < _COPIES_MAX:
            self._copies += 1
            top = self._pop_node()
            self._push_node(top)
            self._push_node(top)
        elif one.name == "swap":
            first, second = self._pop_node(), self._pop_node()
            self._push_node(first)
            self._push_node(second)
        elif one.name == "drop":
            self._pop_node()
        elif one.name in {"convert", "reinterpret", "nop", "uninit"}:
            if one.first:
                raise _NotTranslatable("computed in another type than an address")
        else:
            raise _NotTranslatable(f"at a place that is not understood ({one.name})")

    def _thread_local(self) -> Node:
        if self._block is None:
            raise _NotTranslatable(THREAD_LOCAL)
        offset = self._pop_node()
        return nodes.BinaryNode("+", self._block, offset, MachineType.U64)

    def _read_memory(self, size: int) -> Node:
        if size not in _SIZES:
            raise _NotTranslatable("at a place that is not understood")
        self._is_sure, was_sure = False, self._is_sure
        loaded = nodes.LoadNode(self._pop_node(), _SIZES[size], is_sure=was_sure)
        return loaded if size == _WORD else nodes.ConvertNode(loaded, MachineType.U64)

    def _canonical_address(self) -> Node:
        if self._cfa is None:
            raise _NotTranslatable("in a frame whose address is not known here")
        return self._cfa

    def _frame_base_node(self) -> Node:
        if not self._frame_base:
            raise _NotTranslatable("in a frame whose base is not known")
        found = _NodeMachine(self._bias, (), self._cfa).run_operations(self._frame_base)
        if isinstance(found, RegisterValue):
            return nodes.RegisterNode(found.register, MachineType.U64)
        if isinstance(found, StoredValue):
            self._is_sure = self._is_sure and found.is_sure
            return found.address
        raise _NotTranslatable("in a frame whose base is not known")


def _register_name(number: int) -> str:
    if not 0 <= number < len(REGISTERS):
        raise _NotTranslatable(f"in a register that is not read (number {number})")
    return REGISTERS[number]


def _constant_node(value: int) -> Node:
    return ConstantNode(wrap_number(value, MachineType.U64), MachineType.U64)


def _combine_nodes(name: str, left: Node, right: Node) -> Node:
    if name == "plus" and isinstance(right, ConstantNode):
        return add_offset(left, int(right.value))
    if name in _OPERATORS:
        return nodes.BinaryNode(_OPERATORS[name], left, right, MachineType.U64)
    first = nodes.ConvertNode(left, MachineType.I64)
    second = nodes.ConvertNode(right, MachineType.I64)
    made: Node = (
        nodes.CompareNode(_COMPARISONS[name], first, second)
        if name in _COMPARISONS
        else nodes.BinaryNode(_SIGNED[name], first, second, MachineType.I64)
    )
    return nodes.ConvertNode(made, MachineType.U64)
