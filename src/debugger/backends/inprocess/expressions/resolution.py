"""Resolves an expression's names and types at a location of the program. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from debugger.backends.expressions import syntax_tree
from debugger.backends.expressions.expression_parser import SIZE_NAMES, parse_expression
from debugger.backends.expressions.syntax_tree import (
    ExpressionError,
    Tree,
    expression_error,
    fault_at,
)
from debugger.backends.inprocess.expressions import nodes
from debugger.backends.inprocess.expressions import operands as of
from debugger.backends.inprocess.expressions.arithmetic import (
    apply_binary,
    apply_cast,
    apply_conditional,
    apply_unary,
    move_address,
)
from debugger.backends.inprocess.expressions.container_members import (
    FoundMember,
    case_holds,
    case_with,
    container_elements,
    count_of,
    find_member,
    inner_array,
    member_names,
    owned_pointer,
)
from debugger.backends.inprocess.expressions.location_nodes import (
    AbsentValue,
    NameScope,
    StoredValue,
)
from debugger.backends.inprocess.expressions.node_evaluation import round_to_single
from debugger.backends.inprocess.expressions.nodes import (
    ConstantNode,
    ExpressionKind,
    ExpressionType,
    MachineType,
    Node,
)
from debugger.backends.inprocess.expressions.operands import (
    Operand,
    look_through_reference,
    look_through_wrappers,
)
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.location import near_names

_WORDS = (
    "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "rip",
    *(f"r{number}" for number in range(8, 16)),
)  # fmt: skip
# These registers hold addresses, and get the type `void *`.
_ADDRESSES = {"pc": "rip", "sp": "rsp", "fp": "rbp", "rip": "rip", "rsp": "rsp", "rbp": "rbp"}
# eax to esp: the lower 32 bits.
_HALVES = {f"e{word[1:]}": word for word in _WORDS[:8]}


def resolve_expression(text: str, scope: NameScope) -> Operand:
    """Parse and check an expression.

    Raises:
        DebuggerError: EVALUATION_FAILED, saying what is wrong and where.
    """
    return check_tree(parse_in_scope(text, scope), text, scope)


def parse_in_scope(text: str, scope: NameScope) -> Tree:
    """Parse an expression, in which names may be types of a scope.

    Raises:
        DebuggerError: EVALUATION_FAILED.
    """
    return parse_expression(
        text, lambda name: scope.find_variable(name) is None and scope.find_type(name) is not None
    )


def check_tree(parsed: Tree, text: str, scope: NameScope) -> Operand:
    """Check a tree that was parsed before.

    Raises:
        DebuggerError: EVALUATION_FAILED.
    """
    return look_through_reference(_Resolver(text, scope).resolve_operand(parsed))


def resolve_condition(text: str, scope: NameScope) -> Node:
    """Parse and check a condition: a node that yields 0 or 1.

    Raises:
        DebuggerError: EVALUATION_FAILED.
    """
    return of.truth_node(resolve_expression(text, scope))


@dataclass(frozen=True, slots=True)
class _Resolver:
    """Gives each tree its type and node."""

    text: str
    scope: NameScope

    def resolve_operand(self, one: Tree) -> Operand:
        try:
            return self._resolve_tree(one)
        # Raised for an inner part already, with its column: the innermost place is the useful
        # one.
        except ExpressionError:
            raise
        except DebuggerError as error:
            raise fault_at(self.text, one.at, error.message, hint=error.hint) from None

    def _resolve_tree(self, one: Tree) -> Operand:  # noqa: PLR0911  one case for each kind of tree
        simple = self._resolve_literal(one)
        if simple is not None:
            return simple
        match one:
            case syntax_tree.NullTree():
                return self._resolve_name(syntax_tree.NameTree(one.text, one.at))
            case syntax_tree.NameTree():
                return self._resolve_name(one)
            case syntax_tree.MemberTree():
                return self._resolve_member(one)
            case syntax_tree.IndexTree():
                return self._resolve_index(
                    self.resolve_operand(one.of), self.resolve_operand(one.index), one.index
                )
            case syntax_tree.UnaryTree():
                return self._resolve_unary(one)
            case syntax_tree.BinaryTree():
                return self._resolve_binary(one)
            case _:
                return self._resolve_rare(one)

    def _resolve_rare(self, one: Tree) -> Operand:
        match one:
            case syntax_tree.ConditionalTree():
                parts = (one.test, one.yes, one.no)
                return apply_conditional(*(self.resolve_operand(part) for part in parts))
            case syntax_tree.CastTree():
                return apply_cast(self.resolve_operand(one.of), self.find_type(one.kind))
            case syntax_tree.SizeOfTree():
                return self._resolve_sizeof(one)
            case syntax_tree.LengthTree():
                return self._resolve_length(one)
            case syntax_tree.ArgumentTree():
                return self._resolve_argument(one)
            case syntax_tree.RegisterTree():
                return self._resolve_register(one)
            case syntax_tree.CallTree(of=syntax_tree.MemberTree(name=name)):
                known = ", ".join(f"{it}()" for it in SIZE_NAMES)
                raise expression_error(f"{name}() is not called; there are {known}")
            case syntax_tree.CallTree():
                raise expression_error(
                    "functions are not called in expressions: see `debugger call`"
                )
        raise AssertionError(one)

    def _resolve_literal(self, one: Tree) -> Operand | None:  # noqa: PLR0911  the same
        match one:
            case syntax_tree.IntegerTree():
                kind = nodes.of_literal(one.value, one.kind, is_decimal=one.is_decimal)
                value = (
                    nodes.wrap_number(one.value, of.machine_type(kind))
                    if kind.kind is ExpressionKind.INTEGER
                    else 0
                )
                if kind.kind is ExpressionKind.INTEGER and value != one.value:
                    raise expression_error(f"{one.value} does not fit in {kind.name}")
                return of.number_operand(value, kind)
            case syntax_tree.RealTree():
                kind = nodes.FLOAT if one.is_single else nodes.DOUBLE
                real = round_to_single(one.value) if one.is_single else one.value
                return Operand(kind, node=nodes.ConstantNode(real, of.machine_type(kind)))
            case syntax_tree.CharacterTree():
                # A char as in C++, but an int beyond ASCII: Rust's letters may have four
                # bytes.
                kind = nodes.CHAR if one.value < 128 else nodes.INT  # noqa: PLR2004  ASCII
                return of.number_operand(one.value, kind)
            case syntax_tree.TextTree():
                return Operand(of.TEXT, words=nodes.LiteralText(one.value))
            case syntax_tree.TruthTree():
                return of.number_operand(int(one.value), nodes.BOOL)
            case syntax_tree.NullTree() if self.scope.find_variable(one.text) is None:
                return of.number_operand(0, nodes.pointer_to(nodes.VOID))
        return None

    def _resolve_name(self, one: syntax_tree.NameTree) -> Operand:
        name = one.text.removeprefix("::")
        member = self._member_of_this(one)
        if member is not None:
            return member
        variable = self.scope.find_variable(one.text) or self.scope.find_variable(name)
        if variable is not None:
            # An absent variable still has its type, and `sizeof` needs no more.
            where = variable.where
            if isinstance(where, AbsentValue):
                where = AbsentValue(f"{name} is {where.why}")
            return Operand(variable.type, where=where)
        constant = self.scope.find_constant(name)
        if constant is not None:
            return of.number_operand(*constant)
        raise self._unknown_name_error(name)

    def _member_of_this(self, one: syntax_tree.NameTree) -> Operand | None:
        """Return a member of the method's object: it hides globals, as in C++."""
        this = self.scope.find_variable("this") if self.scope.is_local("this") else None
        if this is None or self.scope.is_local(one.text) or this.type.target is None:
            return None
        kind = this.type.points_to()
        if kind.kind is not ExpressionKind.RECORD or find_member(kind, one.text) is None:
            return None
        holder = syntax_tree.NameTree("this", one.at)
        return self._resolve_member(syntax_tree.MemberTree(holder, one.text, one.at))

    def _unknown_name_error(self, name: str) -> DebuggerError:
        if name == "args":
            return expression_error("args[n] takes a number, such as args[0]")
        near = near_names(name, self.scope.visible_names())
        also = f"; near: {', '.join(near)}" if near else ""
        why = self.scope.why_incomplete()
        also += f"; {why}" if why else ""
        return DebuggerError(
            ErrorCode.EVALUATION_FAILED, f"no {name!r} in scope here{also}", hint="debugger locals"
        )

    def _resolve_argument(self, one: syntax_tree.ArgumentTree) -> Operand:
        known = self.scope.function_arguments()
        if known is None:
            raise expression_error(
                "args[n] is not known here: there is no debug information of the function",
                hint="debugger registers",
            )
        if one.number >= len(known):
            raise expression_error(f"there is no args[{one.number}]: the function has {len(known)}")
        found = known[one.number]
        if isinstance(found.where, AbsentValue):
            raise expression_error(f"args[{one.number}] ({found.name}) is {found.where.why}")
        return Operand(found.type, where=found.where)

    def _resolve_register(self, one: syntax_tree.RegisterTree) -> Operand:
        if one.name in _ADDRESSES:
            register = nodes.RegisterNode(_ADDRESSES[one.name], MachineType.U64)
            return Operand(nodes.pointer_to(nodes.VOID), node=register)
        if one.name in _WORDS:
            register = nodes.RegisterNode(one.name, MachineType.U64)
            return Operand(nodes.LONG, node=nodes.ConvertNode(register, MachineType.I64))
        if one.name in _HALVES:
            register = nodes.RegisterNode(_HALVES[one.name], MachineType.U64)
            return Operand(nodes.INT, node=nodes.ConvertNode(register, MachineType.I32))
        raise DebuggerError(
            ErrorCode.EVALUATION_FAILED, f"no register ${one.name}", hint="debugger registers"
        )

    def _resolve_member(self, one: syntax_tree.MemberTree) -> Operand:
        holder = look_through_reference(self.resolve_operand(one.of))
        kind = holder.type
        # Through pointers to pointers, too: Rust's `.` looks through all of them, C's `->`
        # through one.
        while kind.kind is ExpressionKind.POINTER:
            holder = look_through_reference(
                Operand(kind.points_to(), where=StoredValue(of.pointer_node(holder)))
            )
            kind = holder.type
        if holder.is_text or kind.kind is not ExpressionKind.RECORD:
            if one.name == "length" and (count := count_of(holder)) is not None:
                return Operand(nodes.UNSIGNED_LONG, node=count)
            raise expression_error(f"{kind.name} has no members")
        found = find_member(kind, one.name)
        # A smart pointer's own members come first: `p._M_t` is one, `p->size` is the owner's.
        owned = owned_pointer(holder) if found is None else None
        if owned is not None:
            holder, kind = owned, owned.type
            found = find_member(kind, one.name)
        if found is None:
            return self._member_of_case(one, holder)
        if isinstance(holder.where, StoredValue):
            return Operand(found.member_type, where=_member_storage(found, holder.where))
        return _member_of_value(holder, found.member_type, found.offset, found.field.bits)

    def _member_of_case(self, one: syntax_tree.MemberTree, holder: Operand) -> Operand:
        """Find a member in the cases of a Rust enum, of which exactly one must have it."""
        kind = holder.type
        if one.name == "length" and (count := count_of(holder)) is not None:
            return Operand(nodes.UNSIGNED_LONG, node=count)
        cases = case_with(kind, one.name)
        if len(cases) == 1:
            return self._resolve_member(
                syntax_tree.MemberTree(
                    syntax_tree.MemberTree(one.of, cases[0].name, one.at), one.name, one.at
                )
            )
        name = one.name.removeprefix("__")
        if cases:
            which = " or ".join(f".{it.name}.{name}" for it in cases[:3])
            raise expression_error(f"several cases of {kind.name} have {name!r}: write {which}")
        names = member_names(kind)
        near = ", ".join(near_names(one.name, names) or names[:5])
        raise expression_error(f"{kind.name} has no member {name!r}; it has {near or 'none'}")

    def _resolve_index(self, holder: Operand, index: Operand, written: Tree) -> Operand:
        holder, index = look_through_wrappers(holder), look_through_wrappers(index)
        if index.type.kind not in of.ARITHMETIC - {ExpressionKind.REAL} or index.is_text:
            raise fault_at(self.text, written.at, f"an index is a number, not {index.type.name}")
        if holder.type.kind is ExpressionKind.RECORD and not holder.is_text:
            elements = container_elements(holder)
            # Bounds are checked for containers that know their size, as an index beyond is
            # never meant.
            if elements is not None:
                span, element = elements
                at = nodes.ElementNode(
                    span,
                    apply_cast(index, nodes.LONG).node or ConstantNode(0, MachineType.I64),
                )
                return Operand(element, where=StoredValue(at))
            array = inner_array(holder)
            if array is not None and isinstance(holder.where, StoredValue):
                where = StoredValue(
                    nodes.add_offset(holder.where.address, array.offset), holder.where.is_sure
                )
                holder = Operand(array.member_type, where=where)
        kind = holder.type
        if kind.kind not in {ExpressionKind.ARRAY, ExpressionKind.POINTER} or holder.is_text:
            raise expression_error(f"{kind.name} has no elements")
        target = kind.points_to()
        if target.kind in {ExpressionKind.VOID, ExpressionKind.FUNCTION}:
            raise expression_error(f"what {kind.name} points to has no size: cast it first")
        address = move_address(of.load_node(holder), "+", index, target)
        return Operand(target, where=StoredValue(address, _is_in_array(holder, index)))

    def _resolve_unary(self, one: syntax_tree.UnaryTree) -> Operand:
        inner = self.resolve_operand(one.of)
        if one.op == "&":
            inner = look_through_reference(inner)
            return Operand(nodes.pointer_to(inner.type), node=of.address_of(inner))
        if one.op != "*":
            return apply_unary(one.op, inner)
        inner = look_through_reference(inner)
        owned = owned_pointer(inner)
        if owned is not None:
            return owned
        target = inner.type.points_to()
        if inner.is_text or inner.type.kind not in {ExpressionKind.POINTER, ExpressionKind.ARRAY}:
            raise expression_error(f"{inner.type.name} is no pointer")
        if target.kind in {ExpressionKind.VOID, ExpressionKind.FUNCTION}:
            raise expression_error(f"what {inner.type.name} points to has no value: cast it first")
        is_sure = (
            inner.type.kind is ExpressionKind.ARRAY
            and isinstance(inner.where, StoredValue)
            and inner.where.is_sure
        )
        return Operand(target, where=StoredValue(of.load_node(inner), is_sure))

    def _resolve_binary(self, one: syntax_tree.BinaryTree) -> Operand:
        if one.op in {"&&", "||"}:
            # Both sides become 0 or 1 here; which of them is evaluated is decided at run
            # time.
            left, right = (
                of.truth_node(self.resolve_operand(side)) for side in (one.left, one.right)
            )
            return of.yes_or_no(nodes.LogicNode(one.op, left, right))
        return apply_binary(one.op, self.resolve_operand(one.left), self.resolve_operand(one.right))

    def _resolve_sizeof(self, one: syntax_tree.SizeOfTree) -> Operand:
        if isinstance(one.of, syntax_tree.TypeName):
            kind = self.find_type(one.of)
        elif (
            isinstance(one.of, syntax_tree.NameTree)
            and self.scope.find_variable(one.of.text) is None
        ):
            kind = self.find_type(syntax_tree.TypeName(one.of.text, 0, one.of.at))
        else:
            kind = look_through_reference(self.resolve_operand(one.of)).type
        if not kind.size:
            raise expression_error(f"how large {kind.name} is, is not known here")
        return of.number_operand(kind.size, nodes.UNSIGNED_LONG)

    def _resolve_length(self, one: syntax_tree.LengthTree) -> Operand:
        inner = self.resolve_operand(one.of)
        count = count_of(inner)
        if count is None:
            raise expression_error(f"{inner.type.name} has no length that is known here")
        # `empty()` is a comparison of the length with 0, for all containers alike.
        if one.what == "empty":
            return of.yes_or_no(nodes.CompareNode("==", count, ConstantNode(0, MachineType.U64)))
        return Operand(nodes.UNSIGNED_LONG, node=count)

    def find_type(self, one: syntax_tree.TypeName) -> ExpressionType:
        """Find a type by the name that was written."""
        kind = self.scope.find_type(one.name)
        if kind is None:
            raise fault_at(self.text, one.at, f"no type {one.name!r} here")
        for _ in range(one.pointers):
            kind = nodes.pointer_to(kind)
        return kind


def _member_storage(found: FoundMember, holder: StoredValue) -> StoredValue:
    """Return where a member of a record in memory is."""
    address = nodes.add_offset(holder.address, found.offset)
    if found.field.guard is None:
        return StoredValue(address, holder.is_sure, found.field.bits)
    # In a case that does not hold nothing is read: its address becomes 0, where nothing is
    # mapped.
    is_it = case_holds(found.field.guard, holder.address)
    return StoredValue(
        nodes.ChooseNode(is_it, address, ConstantNode(0, MachineType.U64), MachineType.U64)
    )


def _member_of_value(
    holder: Operand, kind: ExpressionType, offset: int, bits: tuple[int, int] | None
) -> Operand:
    """Extract a member of a small record that is in a register, or computed."""
    if isinstance(holder.where, AbsentValue):
        raise expression_error(holder.where.why)
    if holder.type.size > 8 or bits is not None or kind.kind not in of.SCALAR:  # noqa: PLR2004  a word
        raise expression_error(f"{holder.type.name} is in no memory: its members are not read here")
    pointer = of.pointer_node(holder)
    down = ConstantNode(offset * 8, MachineType.I64)
    shifted = nodes.BinaryNode(">>", pointer, down, MachineType.U64)
    if of.machine_type(kind).is_real:
        raise expression_error(
            f"{holder.type.name} is in no memory: its real members are not read here"
        )
    return Operand(kind, node=nodes.ConvertNode(shifted, of.machine_type(kind)))


def _is_in_array(holder: Operand, index: Operand) -> bool:
    """Return whether an element is surely within its array."""
    return (
        isinstance(holder.where, StoredValue)
        and holder.where.is_sure
        and holder.type.kind is ExpressionKind.ARRAY
        and isinstance(index.node, ConstantNode)
        and 0 <= index.node.value < (holder.type.count or 0)
    )
