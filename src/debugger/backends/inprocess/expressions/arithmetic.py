"""Types an operator's result and makes its node. Pure.

C's rules: what is smaller than an int becomes one, then both sides become the wider type, the
unsigned of two with the same size. Numbers wrap, in Rust's programs too. Not as in C: a shift by
too many bits, a division by zero and a real number that does not fit are errors.
"""

from __future__ import annotations

from debugger.backends.expressions.syntax_tree import expression_error
from debugger.backends.inprocess.expressions import nodes
from debugger.backends.inprocess.expressions.container_members import words_of
from debugger.backends.inprocess.expressions.nodes import (
    ConstantNode,
    ExpressionKind,
    ExpressionType,
    MachineType,
    Node,
)
from debugger.backends.inprocess.expressions.operands import (
    ARITHMETIC,
    Operand,
    load_node,
    look_through_wrappers,
    machine_type,
    truth_node,
    yes_or_no,
)

COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_WHOLE_ONLY = frozenset({"%", "&", "|", "^", "<<", ">>"})
_POINTERS = frozenset({ExpressionKind.POINTER, ExpressionKind.ARRAY})
_BY_MACHINE = {
    MachineType.I32: nodes.INT, MachineType.U32: nodes.UNSIGNED,
    MachineType.I64: nodes.LONG,
    MachineType.U64: nodes.UNSIGNED_LONG, MachineType.F32: nodes.FLOAT,
    MachineType.F64: nodes.DOUBLE,
}  # fmt: skip
# Narrower types are promoted to int (C11, 6.3.1.1).
_INT_BITS = 32


def promote_type(kind: ExpressionType) -> ExpressionType:
    """Return the type that a number is calculated with: at least an int."""
    if kind.kind is ExpressionKind.REAL:
        return kind
    size = machine_type(kind)
    if size.bit_width < _INT_BITS:
        return nodes.INT
    return kind if kind.kind is ExpressionKind.INTEGER else _BY_MACHINE[size]


def common_type(left: ExpressionType, right: ExpressionType) -> ExpressionType:
    """Return the type that two numbers are calculated with."""
    left, right = promote_type(left), promote_type(right)
    first, second = machine_type(left), machine_type(right)
    if first.is_real or second.is_real:
        return max(
            (one for one in (left, right) if machine_type(one).is_real), key=lambda one: one.size
        )
    # C11, 6.3.1.8, for two whole numbers: the wider, and of one width the unsigned one.
    if first.bit_width != second.bit_width:
        return left if first.bit_width > second.bit_width else right
    return right if first.is_signed else left


def convert_operand(operand: Operand, kind: ExpressionType) -> Node:
    """Return an operand's number in another type."""
    node, requested = load_node(operand), machine_type(kind)
    if nodes.machine_of(node) is requested:
        return node
    if (
        isinstance(node, ConstantNode)
        and not nodes.machine_of(node).is_real
        and not requested.is_real
    ):
        return ConstantNode(nodes.wrap_number(int(node.value), requested), requested)
    return nodes.ConvertNode(node, requested)


def apply_binary(op: str, left: Operand, right: Operand) -> Operand:
    """Apply an operator that is neither `&&` nor `||`.

    Raises:
        DebuggerError: EVALUATION_FAILED, naming both types where they do not fit.
    """
    if op in COMPARISONS:
        return _compare_operands(op, left, right)
    left, right = look_through_wrappers(left), look_through_wrappers(right)
    kinds = left.type.kind, right.type.kind
    if left.is_text or right.is_text:
        raise _mismatch_error(op, left, right)
    if kinds[0] in _POINTERS or kinds[1] in _POINTERS:
        return _pointer_operation(op, left, right)
    if not ARITHMETIC.issuperset(kinds):
        raise _mismatch_error(op, left, right)
    if op in _WHOLE_ONLY and ExpressionKind.REAL in kinds:
        raise _mismatch_error(op, left, right)
    if op in {"<<", ">>"}:
        kind = promote_type(left.type)
        # The count keeps its own type, so that a negative or a huge one is noticed
        # (RuntimeTrouble.SHIFT).
        count = load_node(right)
        if nodes.machine_of(count).bit_width < nodes.MachineType.I64.bit_width:
            count = nodes.ConvertNode(count, MachineType.I64)
        return Operand(
            kind,
            node=nodes.BinaryNode(
                op, convert_operand(left, kind), _shift_count(count), machine_type(kind)
            ),
        )
    kind = common_type(left.type, right.type)
    parts = convert_operand(left, kind), convert_operand(right, kind)
    return Operand(kind, node=nodes.BinaryNode(op, *parts, machine_type(kind)))


def _shift_count(node: Node) -> Node:
    """Make a shift's count an I64; a huge unsigned one becomes negative, which is refused too."""
    return (
        node
        if nodes.machine_of(node) is MachineType.I64
        else nodes.ConvertNode(node, MachineType.I64)
    )


def _mismatch_error(op: str, left: Operand, right: Operand) -> Exception:
    verb = "be compared with" if op in COMPARISONS else f"stand beside {op!r} and"
    return expression_error(
        f"{left.type.name} cannot {verb} {right.type.name}", hint="debugger locals"
    )


def _pointer_operation(op: str, left: Operand, right: Operand) -> Operand:
    if left.type.kind in _POINTERS and right.type.kind in _POINTERS:
        size = left.type.points_to().size
        if op != "-" or not size or size != right.type.points_to().size:
            raise _mismatch_error(op, left, right)
        # The difference is signed and counted in elements, as ptrdiff_t is.
        apart = nodes.BinaryNode("-", load_node(left), load_node(right), MachineType.U64)
        signed = nodes.ConvertNode(apart, MachineType.I64)
        divided = nodes.BinaryNode(
            "/", signed, ConstantNode(size, MachineType.I64), MachineType.I64
        )
        return Operand(nodes.LONG, node=divided)
    if left.type.kind not in _POINTERS and op == "+":
        left, right = right, left
    if op not in {"+", "-"} or right.type.kind not in ARITHMETIC - {ExpressionKind.REAL}:
        raise _mismatch_error(op, left, right)
    if left.type.kind not in _POINTERS:
        raise _mismatch_error(op, left, right)
    target = left.type.points_to()
    return Operand(nodes.pointer_to(target), node=move_address(load_node(left), op, right, target))


def move_address(address: Node, op: str, by: Operand, target: ExpressionType) -> Node:
    """Return an address that is moved by a number of elements."""
    if target.kind is not ExpressionKind.VOID and not target.size:
        raise expression_error(f"how large {target.name} is, is not known here")
    offset = convert_operand(by, nodes.LONG)
    size = max(target.size, 1)
    if isinstance(offset, ConstantNode):
        distance = int(offset.value) * size
        return nodes.add_offset(address, distance if op == "+" else -distance)
    wide = nodes.ConvertNode(offset, MachineType.U64)
    product = (
        wide
        if size == 1
        else nodes.BinaryNode("*", wide, ConstantNode(size, MachineType.U64), MachineType.U64)
    )
    return nodes.BinaryNode(op, address, product, MachineType.U64)


def _compare_operands(op: str, left: Operand, right: Operand) -> Operand:
    # A record in a comparison can only be a string: nothing else of one is compared.
    if left.is_text or right.is_text or _is_record(left) or _is_record(right):
        return _compare_texts(op, left, right)
    left, right = look_through_wrappers(left), look_through_wrappers(right)
    kinds = left.type.kind, right.type.kind
    if not (ARITHMETIC | _POINTERS).issuperset(kinds):
        raise _mismatch_error(op, left, right)
    if _POINTERS.isdisjoint(kinds):
        kind = common_type(left.type, right.type)
        return yes_or_no(
            nodes.CompareNode(op, convert_operand(left, kind), convert_operand(right, kind))
        )
    if ExpressionKind.REAL in kinds or ExpressionKind.BOOLEAN in kinds:
        raise _mismatch_error(op, left, right)
    # Addresses are compared without a sign: those of the kernel's half are the highest.
    both = (convert_operand(one, nodes.UNSIGNED_LONG) for one in (left, right))
    return yes_or_no(nodes.CompareNode(op, *both))


def _is_record(operand: Operand) -> bool:
    return look_through_wrappers(operand).type.kind is ExpressionKind.RECORD


def _compare_texts(op: str, left: Operand, right: Operand) -> Operand:
    first, second = words_of(left), words_of(right)
    if first is None or second is None:
        raise _mismatch_error(op, left, right)
    if op not in {"==", "!="}:
        raise expression_error(f"texts are compared with == and !=, not with {op}")
    same = nodes.SameTextNode(first, second)
    return yes_or_no(same if op == "==" else nodes.NotNode(same))


def apply_unary(op: str, operand: Operand) -> Operand:
    """Apply `- + ~ !`.

    Raises:
        DebuggerError: EVALUATION_FAILED, naming the type where it does not fit.
    """
    if op == "!":
        return yes_or_no(nodes.NotNode(truth_node(operand)))
    operand = look_through_wrappers(operand)
    kind = operand.type
    if (
        operand.is_text
        or kind.kind not in ARITHMETIC
        or (op == "~" and kind.kind is ExpressionKind.REAL)
    ):
        raise expression_error(f"{op!r} has no meaning for {kind.name}")
    kind = promote_type(kind)
    node = convert_operand(operand, kind)
    if op == "+":
        return Operand(kind, node=node)
    if op == "-" and isinstance(node, ConstantNode):
        value = (
            -node.value
            if machine_type(kind).is_real
            else nodes.wrap_number(-int(node.value), machine_type(kind))
        )
        return Operand(kind, node=ConstantNode(value, machine_type(kind)))
    made = (
        nodes.NegateNode(node, machine_type(kind))
        if op == "-"
        else nodes.InvertNode(node, machine_type(kind))
    )
    return Operand(kind, node=made)


def apply_conditional(test: Operand, yes: Operand, no: Operand) -> Operand:
    """Apply `test ? yes : no`.

    Raises:
        DebuggerError: EVALUATION_FAILED, naming both types where they do not fit.
    """
    yes, no = look_through_wrappers(yes), look_through_wrappers(no)
    kinds = yes.type.kind, no.type.kind
    if ARITHMETIC.issuperset(kinds) and not (yes.is_text or no.is_text):
        is_bool = kinds == (ExpressionKind.BOOLEAN, ExpressionKind.BOOLEAN)
        kind = nodes.BOOL if is_bool else common_type(yes.type, no.type)
    elif _POINTERS.issuperset(kinds):
        pointed = yes if yes.type.points_to().kind is not ExpressionKind.VOID else no
        kind = nodes.pointer_to(pointed.type.points_to())
    else:
        raise expression_error(f"'? :' between {yes.type.name} and {no.type.name}")
    first, second = convert_operand(yes, kind), convert_operand(no, kind)
    return Operand(kind, node=nodes.ChooseNode(truth_node(test), first, second, machine_type(kind)))


def apply_cast(operand: Operand, kind: ExpressionType) -> Operand:
    """Convert to another type, as C's cast does.

    Raises:
        DebuggerError: EVALUATION_FAILED, naming both types where that has no meaning.
    """
    operand = dereferenced_for(operand, kind)
    is_number = operand.type.kind in ARITHMETIC | _POINTERS and not operand.is_text
    if kind.kind is ExpressionKind.BOOLEAN and is_number:
        return Operand(kind, node=nodes.ConvertNode(truth_node(operand), machine_type(kind)))
    fits = kind.kind in ARITHMETIC or kind.kind is ExpressionKind.POINTER
    pointers = {kind.kind, operand.type.kind} & _POINTERS
    if (
        not is_number
        or not fits
        or (pointers and ExpressionKind.REAL in {kind.kind, operand.type.kind})
    ):
        raise expression_error(f"{operand.type.name} cannot be converted to {kind.name}")
    if operand.type.kind in ARITHMETIC and kind.kind is ExpressionKind.POINTER:
        widened = nodes.LONG if machine_type(operand.type).is_signed else nodes.UNSIGNED_LONG
        # Widened with its own sign first: (void *)-1 is all ones.
        operand = Operand(widened, node=convert_operand(operand, widened))
    return Operand(kind, node=convert_operand(operand, kind))


def dereferenced_for(operand: Operand, kind: ExpressionType) -> Operand:
    """Look through references, Rust's too unless an address is wanted."""
    from_reference = look_through_wrappers(operand)
    return (
        operand
        if kind.kind is ExpressionKind.POINTER and operand.type.kind is ExpressionKind.POINTER
        else from_reference
    )
