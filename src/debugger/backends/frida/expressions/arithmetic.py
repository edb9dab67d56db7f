"""Types an operator's result and makes its node. Pure.

C's rules: what is smaller than an int becomes one, then both sides become the wider type, the
unsigned of two with the same size. Numbers wrap, in Rust's programs too. Not as in C: a shift by
too many bits, a division by zero and a real number that does not fit are errors.
"""

from __future__ import annotations

from debugger.backends.frida.expressions import nodes, types
from debugger.backends.frida.expressions.containers import words_of
from debugger.backends.frida.expressions.nodes import Const, Machine, Node
from debugger.backends.frida.expressions.operands import (
    ARITHMETIC,
    Operand,
    load,
    machine,
    peeled,
    truth,
    yes_or_no,
)
from debugger.backends.frida.expressions.tree import fault
from debugger.backends.frida.expressions.types import Kind, Type

COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_WHOLE_ONLY = frozenset({"%", "&", "|", "^", "<<", ">>"})
_POINTERS = frozenset({Kind.POINTER, Kind.ARRAY})
_BY_MACHINE = {
    Machine.I32: types.INT, Machine.U32: types.UNSIGNED, Machine.I64: types.LONG,
    Machine.U64: types.UNSIGNED_LONG, Machine.F32: types.FLOAT, Machine.F64: types.DOUBLE,
}  # fmt: skip
_INT_BITS = 32


def promoted(kind: Type) -> Type:
    """Return the type that a number is calculated with: at least an int."""
    if kind.kind is Kind.REAL:
        return kind
    size = machine(kind)
    if size.bits < _INT_BITS:
        return types.INT
    return kind if kind.kind is Kind.INTEGER else _BY_MACHINE[size]


def common(left: Type, right: Type) -> Type:
    """Return the type that two numbers are calculated with."""
    left, right = promoted(left), promoted(right)
    first, second = machine(left), machine(right)
    if first.is_real or second.is_real:
        return max((one for one in (left, right) if machine(one).is_real), key=lambda one: one.size)
    if first.bits != second.bits:
        return left if first.bits > second.bits else right
    return right if first.is_signed else left


def converted(operand: Operand, kind: Type) -> Node:
    """Return an operand's number in another type."""
    node, wanted = load(operand), machine(kind)
    if nodes.machine_of(node) is wanted:
        return node
    if isinstance(node, Const) and not nodes.machine_of(node).is_real and not wanted.is_real:
        return Const(nodes.wrapped(int(node.value), wanted), wanted)
    return nodes.Convert(node, wanted)


def binary(op: str, left: Operand, right: Operand) -> Operand:
    """Apply an operator that is neither `&&` nor `||`.

    Raises:
        DebuggerError: EVALUATION_FAILED, naming both types where they do not fit.
    """
    if op in COMPARISONS:
        return _compared(op, left, right)
    left, right = peeled(left), peeled(right)
    kinds = left.type.kind, right.type.kind
    if left.is_text or right.is_text:
        raise _mismatch(op, left, right)
    if kinds[0] in _POINTERS or kinds[1] in _POINTERS:
        return _pointer(op, left, right)
    if not ARITHMETIC.issuperset(kinds):
        raise _mismatch(op, left, right)
    if op in _WHOLE_ONLY and Kind.REAL in kinds:
        raise _mismatch(op, left, right)
    if op in {"<<", ">>"}:
        kind = promoted(left.type)
        # A count keeps its own type, so that one that is negative or huge is seen.
        count = load(right)
        if nodes.machine_of(count).bits < nodes.Machine.I64.bits:
            count = nodes.Convert(count, Machine.I64)
        return Operand(
            kind, node=nodes.Binary(op, converted(left, kind), _count(count), machine(kind))
        )
    kind = common(left.type, right.type)
    parts = converted(left, kind), converted(right, kind)
    return Operand(kind, node=nodes.Binary(op, *parts, machine(kind)))


def _count(node: Node) -> Node:
    """Make a shift's count an I64; a huge unsigned one becomes negative, which is refused too."""
    return node if nodes.machine_of(node) is Machine.I64 else nodes.Convert(node, Machine.I64)


def _mismatch(op: str, left: Operand, right: Operand) -> Exception:
    verb = "be compared with" if op in COMPARISONS else f"stand beside {op!r} and"
    return fault(f"{left.type.name} cannot {verb} {right.type.name}", hint="debugger locals")


def _pointer(op: str, left: Operand, right: Operand) -> Operand:
    if left.type.kind in _POINTERS and right.type.kind in _POINTERS:
        size = left.type.points_to().size
        if op != "-" or not size or size != right.type.points_to().size:
            raise _mismatch(op, left, right)
        apart = nodes.Binary("-", load(left), load(right), Machine.U64)
        signed = nodes.Convert(apart, Machine.I64)
        divided = nodes.Binary("/", signed, Const(size, Machine.I64), Machine.I64)
        return Operand(types.LONG, node=divided)
    if left.type.kind not in _POINTERS and op == "+":
        left, right = right, left
    if op not in {"+", "-"} or right.type.kind not in ARITHMETIC - {Kind.REAL}:
        raise _mismatch(op, left, right)
    if left.type.kind not in _POINTERS:
        raise _mismatch(op, left, right)
    target = left.type.points_to()
    return Operand(types.pointer(target), node=moved(load(left), op, right, target))


def moved(address: Node, op: str, by: Operand, target: Type) -> Node:
    """Return an address that is moved by a number of elements."""
    if target.kind is not Kind.VOID and not target.size:
        raise fault(f"how large {target.name} is, is not known here")
    offset = converted(by, types.LONG)
    size = max(target.size, 1)
    if isinstance(offset, Const):
        distance = int(offset.value) * size
        return nodes.plus(address, distance if op == "+" else -distance)
    wide = nodes.Convert(offset, Machine.U64)
    product = wide if size == 1 else nodes.Binary("*", wide, Const(size, Machine.U64), Machine.U64)
    return nodes.Binary(op, address, product, Machine.U64)


def _compared(op: str, left: Operand, right: Operand) -> Operand:
    if left.is_text or right.is_text or _is_record(left) or _is_record(right):
        return _texts(op, left, right)
    left, right = peeled(left), peeled(right)
    kinds = left.type.kind, right.type.kind
    if not (ARITHMETIC | _POINTERS).issuperset(kinds):
        raise _mismatch(op, left, right)
    if _POINTERS.isdisjoint(kinds):
        kind = common(left.type, right.type)
        return yes_or_no(nodes.Compare(op, converted(left, kind), converted(right, kind)))
    if Kind.REAL in kinds or Kind.BOOLEAN in kinds:
        raise _mismatch(op, left, right)
    both = (converted(one, types.UNSIGNED_LONG) for one in (left, right))
    return yes_or_no(nodes.Compare(op, *both))


def _is_record(operand: Operand) -> bool:
    return peeled(operand).type.kind is Kind.RECORD


def _texts(op: str, left: Operand, right: Operand) -> Operand:
    first, second = words_of(left), words_of(right)
    if first is None or second is None:
        raise _mismatch(op, left, right)
    if op not in {"==", "!="}:
        raise fault(f"texts are compared with == and !=, not with {op}")
    same = nodes.Same(first, second)
    return yes_or_no(same if op == "==" else nodes.Not(same))


def unary(op: str, operand: Operand) -> Operand:
    """Apply `- + ~ !`.

    Raises:
        DebuggerError: EVALUATION_FAILED, naming the type where it does not fit.
    """
    if op == "!":
        return yes_or_no(nodes.Not(truth(operand)))
    operand = peeled(operand)
    kind = operand.type
    if operand.is_text or kind.kind not in ARITHMETIC or (op == "~" and kind.kind is Kind.REAL):
        raise fault(f"{op!r} has no meaning for {kind.name}")
    kind = promoted(kind)
    node = converted(operand, kind)
    if op == "+":
        return Operand(kind, node=node)
    if op == "-" and isinstance(node, Const):
        value = (
            -node.value if machine(kind).is_real else nodes.wrapped(-int(node.value), machine(kind))
        )
        return Operand(kind, node=Const(value, machine(kind)))
    made = nodes.Negate(node, machine(kind)) if op == "-" else nodes.Invert(node, machine(kind))
    return Operand(kind, node=made)


def conditional(test: Operand, yes: Operand, no: Operand) -> Operand:
    """Apply `test ? yes : no`.

    Raises:
        DebuggerError: EVALUATION_FAILED, naming both types where they do not fit.
    """
    yes, no = peeled(yes), peeled(no)
    kinds = yes.type.kind, no.type.kind
    if ARITHMETIC.issuperset(kinds) and not (yes.is_text or no.is_text):
        is_bool = kinds == (Kind.BOOLEAN, Kind.BOOLEAN)
        kind = types.BOOL if is_bool else common(yes.type, no.type)
    elif _POINTERS.issuperset(kinds):
        pointed = yes if yes.type.points_to().kind is not Kind.VOID else no
        kind = types.pointer(pointed.type.points_to())
    else:
        raise fault(f"'? :' between {yes.type.name} and {no.type.name}")
    first, second = converted(yes, kind), converted(no, kind)
    return Operand(kind, node=nodes.Choose(truth(test), first, second, machine(kind)))


def cast(operand: Operand, kind: Type) -> Operand:
    """Convert to another type, as C's cast does.

    Raises:
        DebuggerError: EVALUATION_FAILED, naming both types where that has no meaning.
    """
    operand = dereferenced_for(operand, kind)
    is_number = operand.type.kind in ARITHMETIC | _POINTERS and not operand.is_text
    if kind.kind is Kind.BOOLEAN and is_number:
        return Operand(kind, node=nodes.Convert(truth(operand), machine(kind)))
    fits = kind.kind in ARITHMETIC or kind.kind is Kind.POINTER
    pointers = {kind.kind, operand.type.kind} & _POINTERS
    if not is_number or not fits or (pointers and Kind.REAL in {kind.kind, operand.type.kind}):
        raise fault(f"{operand.type.name} cannot be converted to {kind.name}")
    if operand.type.kind in ARITHMETIC and kind.kind is Kind.POINTER:
        widened = types.LONG if machine(operand.type).is_signed else types.UNSIGNED_LONG
        operand = Operand(widened, node=converted(operand, widened))
    return Operand(kind, node=converted(operand, kind))


def dereferenced_for(operand: Operand, kind: Type) -> Operand:
    """Look through references, Rust's too unless an address is wanted."""
    from_reference = peeled(operand)
    return (
        operand
        if kind.kind is Kind.POINTER and operand.type.kind is Kind.POINTER
        else from_reference
    )
