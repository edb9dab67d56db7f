"""Turns a DWARF location into nodes that are compiled once. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from debugger.backends.frida.dwarf.operations import Operation
from debugger.backends.frida.expressions import nodes
from debugger.backends.frida.expressions.nodes import Const, Machine, Node, plus, wrapped
from debugger.backends.frida.expressions.scope import Absent, Computed, Held, Stored, Where

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
_SIZES = {1: Machine.U8, 2: Machine.U16, 4: Machine.U32, 8: Machine.U64}
_WORD = 8
_STACK_MAX = 64
_COPIES_MAX = 4  # each could double what is written for a location


THREAD_LOCAL = "thread-local: it is read at a stop, for the thread that stopped"


class _NotHere(Exception):
    """What the location asks for is not known, or not written down by nodes."""


def where(
    operations: Sequence[Operation],
    *,
    bias: int = 0,
    frame_base: Sequence[Operation] = (),
    cfa: Node | None = None,
    block: Node | None = None,
) -> Where:
    """Translate a location's operations; `cfa` is the frame's canonical address at this place.

    `block` is where the thread-local variables of the binary lie for the thread that is meant.
    """
    if not operations:
        return Absent("optimized out")
    try:
        return _Machine(bias, frame_base, cfa, block).run(operations)
    except _NotHere as error:
        return Absent(str(error))


class _Machine:
    """DWARF's stack machine (DWARF 5, 2.5), with nodes on its stack instead of numbers."""

    def __init__(
        self,
        bias: int,
        frame_base: Sequence[Operation],
        cfa: Node | None,
        block: Node | None = None,
    ) -> None:
        self._block = block
        self._bias = bias
        self._frame_base = frame_base
        self._cfa = cfa
        self._stack: list[Node] = []
        # A frame's and a module's addresses are right as long as nothing was read for them.
        self._is_sure = True
        self._copies = 0

    def run(self, operations: Sequence[Operation]) -> Where:
        for number, one in enumerate(operations):
            is_last = number == len(operations) - 1
            match one.name:
                case "reg" if is_last:
                    return Held(_name(one.first))
                case "stack_value" if is_last:
                    return Computed(self._pop())
                case "implicit_value" if is_last and one.block:
                    if len(one.block) > _WORD:
                        raise _NotHere("a constant that is too wide to read here")
                    return Computed(Const(int.from_bytes(one.block, "little"), Machine.U64))
                case "entry_value" | "parameter_ref" | "implicit_pointer":
                    raise _NotHere("optimized out")
                case "piece" | "bit_piece":
                    raise _NotHere("in parts of registers and memory")
            self._step(one)
        return Stored(self._pop(), self._is_sure)

    def _pop(self) -> Node:
        if not self._stack:
            raise _NotHere("at a place that is not understood")
        return self._stack.pop()

    def _push(self, node: Node) -> None:
        if len(self._stack) == _STACK_MAX:
            raise _NotHere("at a place that is not understood")
        self._stack.append(node)

    def _step(self, one: Operation) -> None:
        simple: dict[str, Callable[[Operation], Node]] = {
            "const": lambda one: _constant(one.first),
            "addr": lambda one: _constant(one.first + self._bias),
            "breg": lambda one: plus(nodes.Register(_name(one.first), Machine.U64), one.second),
            "regval": lambda one: nodes.Register(_name(one.first), Machine.U64),
            "fbreg": lambda one: plus(self._base(), one.first),
            "form_tls_address": lambda _: self._thread_local(),
            "call_frame_cfa": lambda _: self._canonical(),
            "plus_uconst": lambda one: plus(self._pop(), one.first),
            "deref": lambda _: self._read(8),
            "deref_size": lambda one: self._read(one.first),
            "neg": lambda _: nodes.Negate(self._pop(), Machine.U64),
            "not": lambda _: nodes.Invert(self._pop(), Machine.U64),
        }
        if one.name in simple:
            self._push(simple[one.name](one))
        elif one.name in _OPERATORS or one.name in _SIGNED or one.name in _COMPARISONS:
            right, left = self._pop(), self._pop()
            self._push(_combined(one.name, left, right))
        elif one.name == "dup" and self._copies < _COPIES_MAX:
            self._copies += 1
            top = self._pop()
            self._push(top)
            self._push(top)
        elif one.name == "swap":
            first, second = self._pop(), self._pop()
            self._push(first)
            self._push(second)
        elif one.name == "drop":
            self._pop()
        elif one.name in {"convert", "reinterpret", "nop", "uninit"}:
            if one.first:
                raise _NotHere("computed in another type than an address")
        else:
            raise _NotHere(f"at a place that is not understood ({one.name})")

    def _thread_local(self) -> Node:
        if self._block is None:
            raise _NotHere(THREAD_LOCAL)
        offset = self._pop()
        return nodes.Binary("+", self._block, offset, Machine.U64)

    def _read(self, size: int) -> Node:
        if size not in _SIZES:
            raise _NotHere("at a place that is not understood")
        self._is_sure, was_sure = False, self._is_sure
        held = nodes.Load(self._pop(), _SIZES[size], is_sure=was_sure)
        return held if size == _WORD else nodes.Convert(held, Machine.U64)

    def _canonical(self) -> Node:
        if self._cfa is None:
            raise _NotHere("in a frame whose address is not known here")
        return self._cfa

    def _base(self) -> Node:
        if not self._frame_base:
            raise _NotHere("in a frame whose base is not known")
        found = _Machine(self._bias, (), self._cfa).run(self._frame_base)
        if isinstance(found, Held):
            return nodes.Register(found.register, Machine.U64)
        if isinstance(found, Stored):
            self._is_sure = self._is_sure and found.is_sure
            return found.address
        raise _NotHere("in a frame whose base is not known")


def _name(number: int) -> str:
    if not 0 <= number < len(REGISTERS):
        raise _NotHere(f"in a register that is not read (number {number})")
    return REGISTERS[number]


def _constant(value: int) -> Node:
    return Const(wrapped(value, Machine.U64), Machine.U64)


def _combined(name: str, left: Node, right: Node) -> Node:
    if name == "plus" and isinstance(right, Const):
        return plus(left, int(right.value))
    if name in _OPERATORS:
        return nodes.Binary(_OPERATORS[name], left, right, Machine.U64)
    first = nodes.Convert(left, Machine.I64)
    second = nodes.Convert(right, Machine.I64)
    made: Node = (
        nodes.Compare(_COMPARISONS[name], first, second)
        if name in _COMPARISONS
        else nodes.Binary(_SIGNED[name], first, second, Machine.I64)
    )
    return nodes.Convert(made, Machine.U64)
