"""Resolves an expression's names and types at a location of the program. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from debugger.backends.frida.expressions import nodes, tree, types
from debugger.backends.frida.expressions import operands as of
from debugger.backends.frida.expressions.arithmetic import binary, cast, conditional, moved, unary
from debugger.backends.frida.expressions.containers import (
    Found,
    case_with,
    count_of,
    elements,
    holds,
    inner_array,
    member,
    member_names,
    pointed,
)
from debugger.backends.frida.expressions.nodes import Const, Machine, Node
from debugger.backends.frida.expressions.operands import Operand, dereferenced, peeled
from debugger.backends.frida.expressions.running import single
from debugger.backends.frida.expressions.scope import Absent, Scope, Stored
from debugger.backends.frida.expressions.syntax import ASKED, parse
from debugger.backends.frida.expressions.tree import Misplaced, Tree, fault, fault_at
from debugger.backends.frida.expressions.types import Kind, Type
from debugger.core.locate import near_names
from debugger.errors import Code, DebuggerError

_WORDS = (
    "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "rip",
    *(f"r{number}" for number in range(8, 16)),
)  # fmt: skip
_ADDRESSES = {"pc": "rip", "sp": "rsp", "fp": "rbp", "rip": "rip", "rsp": "rsp", "rbp": "rbp"}
_HALVES = {f"e{word[1:]}": word for word in _WORDS[:8]}


def expression(text: str, scope: Scope) -> Operand:
    """Read and check an expression.

    Raises:
        DebuggerError: EVALUATION_FAILED, saying what is wrong and where.
    """
    return checked(read(text, scope), text, scope)


def read(text: str, scope: Scope) -> Tree:
    """Read an expression, in which names may be types of a scope.

    Raises:
        DebuggerError: EVALUATION_FAILED.
    """
    return parse(text, lambda name: scope.variable(name) is None and scope.type(name) is not None)


def checked(parsed: Tree, text: str, scope: Scope) -> Operand:
    """Check an expression that was read before.

    Raises:
        DebuggerError: EVALUATION_FAILED.
    """
    return dereferenced(_Resolver(text, scope).operand(parsed))


def condition(text: str, scope: Scope) -> Node:
    """Read and check a condition: a node that gives 0 or 1.

    Raises:
        DebuggerError: EVALUATION_FAILED.
    """
    return of.truth(expression(text, scope))


@dataclass(frozen=True, slots=True)
class _Resolver:
    """Gives each tree its type and node."""

    text: str
    scope: Scope

    def operand(self, one: Tree) -> Operand:
        try:
            return self._operand(one)
        except Misplaced:
            raise
        except DebuggerError as error:
            raise fault_at(self.text, one.at, error.message, hint=error.hint) from None

    def _operand(self, one: Tree) -> Operand:  # noqa: PLR0911  one case for each kind of tree
        simple = self._literal(one)
        if simple is not None:
            return simple
        match one:
            case tree.Null():
                return self._name(tree.Name(one.text, one.at))
            case tree.Name():
                return self._name(one)
            case tree.Member():
                return self._member(one)
            case tree.Index():
                return self._index(self.operand(one.of), self.operand(one.index), one.index)
            case tree.Unary():
                return self._unary(one)
            case tree.Binary():
                return self._binary(one)
            case _:
                return self._rare(one)

    def _rare(self, one: Tree) -> Operand:
        match one:
            case tree.Conditional():
                parts = (one.test, one.yes, one.no)
                return conditional(*(self.operand(part) for part in parts))
            case tree.Cast():
                return cast(self.operand(one.of), self.type(one.kind))
            case tree.SizeOf():
                return self._sizeof(one)
            case tree.Ask():
                return self._ask(one)
            case tree.Argument():
                return self._argument(one)
            case tree.Register():
                return self._register(one)
            case tree.Call(of=tree.Member(name=name)):
                known = ", ".join(f"{it}()" for it in ASKED)
                raise fault(f"{name}() is not called; there are {known}")
            case tree.Call():
                raise fault("functions are not called in expressions: see `debugger call`")
        raise AssertionError(one)

    def _literal(self, one: Tree) -> Operand | None:  # noqa: PLR0911  the same
        match one:
            case tree.Integer():
                kind = types.of_literal(one.value, one.kind, is_decimal=one.is_decimal)
                value = (
                    nodes.wrapped(one.value, of.machine(kind)) if kind.kind is Kind.INTEGER else 0
                )
                if kind.kind is Kind.INTEGER and value != one.value:
                    raise fault(f"{one.value} does not fit in {kind.name}")
                return of.number(value, kind)
            case tree.Real():
                kind = types.FLOAT if one.is_single else types.DOUBLE
                real = single(one.value) if one.is_single else one.value
                return Operand(kind, node=nodes.Const(real, of.machine(kind)))
            case tree.Character():
                # As in C, but for letters beyond a byte, which Rust has.
                kind = types.CHAR if one.value < 128 else types.INT  # noqa: PLR2004  ASCII
                return of.number(one.value, kind)
            case tree.Text():
                return Operand(of.TEXT, words=nodes.Literal(one.value))
            case tree.Truth():
                return of.number(int(one.value), types.BOOL)
            case tree.Null() if self.scope.variable(one.text) is None:
                return of.number(0, types.pointer(types.VOID))
        return None

    def _name(self, one: tree.Name) -> Operand:
        name = one.text.removeprefix("::")
        variable = self.scope.variable(one.text) or self.scope.variable(name)
        if variable is not None:
            # Of what is not there, the type is known: `sizeof` needs no more.
            where = variable.where
            if isinstance(where, Absent):
                where = Absent(f"{name} is {where.why}")
            return Operand(variable.type, where=where)
        constant = self.scope.constant(name)
        if constant is not None:
            return of.number(*constant)
        raise self._unknown(name)

    def _unknown(self, name: str) -> DebuggerError:
        if name == "args":
            return fault("args[n] takes a number, such as args[0]")
        near = near_names(name, self.scope.names())
        also = f"; near: {', '.join(near)}" if near else ""
        why = self.scope.incomplete()
        also += f"; {why}" if why else ""
        return DebuggerError(
            Code.EVALUATION_FAILED, f"no {name!r} in scope here{also}", hint="debugger locals"
        )

    def _argument(self, one: tree.Argument) -> Operand:
        known = self.scope.arguments()
        if known is None:
            raise fault(
                "args[n] is not known here: there is no debug information of the function",
                hint="debugger registers",
            )
        if one.number >= len(known):
            raise fault(f"there is no args[{one.number}]: the function has {len(known)}")
        found = known[one.number]
        if isinstance(found.where, Absent):
            raise fault(f"args[{one.number}] ({found.name}) is {found.where.why}")
        return Operand(found.type, where=found.where)

    def _register(self, one: tree.Register) -> Operand:
        if one.name in _ADDRESSES:
            whole = nodes.Register(_ADDRESSES[one.name], Machine.U64)
            return Operand(types.pointer(types.VOID), node=whole)
        if one.name in _WORDS:
            whole = nodes.Register(one.name, Machine.U64)
            return Operand(types.LONG, node=nodes.Convert(whole, Machine.I64))
        if one.name in _HALVES:
            whole = nodes.Register(_HALVES[one.name], Machine.U64)
            return Operand(types.INT, node=nodes.Convert(whole, Machine.I32))
        raise DebuggerError(
            Code.EVALUATION_FAILED, f"no register ${one.name}", hint="debugger registers"
        )

    def _member(self, one: tree.Member) -> Operand:
        holder = dereferenced(self.operand(one.of))
        kind = holder.type
        # Pointers to pointers too, since Rust's `.` looks through all of them.
        while kind.kind is Kind.POINTER:
            holder = dereferenced(Operand(kind.points_to(), where=Stored(of.bits(holder))))
            kind = holder.type
        if holder.is_text or kind.kind is not Kind.RECORD:
            if one.name == "length" and (count := count_of(holder)) is not None:
                return Operand(types.UNSIGNED_LONG, node=count)
            raise fault(f"{kind.name} has no members")
        found = member(kind, one.name)
        owned = pointed(holder) if found is None else None
        if owned is not None:
            holder, kind = owned, owned.type
            found = member(kind, one.name)
        if found is None:
            return self._member_of_case(one, holder)
        if isinstance(holder.where, Stored):
            return Operand(found.type, where=_stored(found, holder.where))
        return _member_of_value(holder, found.type, found.offset, found.field.bits)

    def _member_of_case(self, one: tree.Member, holder: Operand) -> Operand:
        """Look for a member in the cases of a Rust enum, of which one has to have it."""
        kind = holder.type
        if one.name == "length" and (count := count_of(holder)) is not None:
            return Operand(types.UNSIGNED_LONG, node=count)
        cases = case_with(kind, one.name)
        if len(cases) == 1:
            return self._member(
                tree.Member(tree.Member(one.of, cases[0].name, one.at), one.name, one.at)
            )
        said = one.name.removeprefix("__")
        if cases:
            which = " or ".join(f".{it.name}.{said}" for it in cases[:3])
            raise fault(f"several cases of {kind.name} have {said!r}: write {which}")
        names = member_names(kind)
        near = ", ".join(near_names(one.name, names) or names[:5])
        raise fault(f"{kind.name} has no member {said!r}; it has {near or 'none'}")

    def _index(self, holder: Operand, index: Operand, written: Tree) -> Operand:
        holder, index = peeled(holder), peeled(index)
        if index.type.kind not in of.ARITHMETIC - {Kind.REAL} or index.is_text:
            raise fault_at(self.text, written.at, f"an index is a number, not {index.type.name}")
        if holder.type.kind is Kind.RECORD and not holder.is_text:
            held = elements(holder)
            if held is not None:
                span, element = held
                at = nodes.Element(span, cast(index, types.LONG).node or Const(0, Machine.I64))
                return Operand(element, where=Stored(at))
            array = inner_array(holder)
            if array is not None and isinstance(holder.where, Stored):
                where = Stored(nodes.plus(holder.where.address, array.offset), holder.where.is_sure)
                holder = Operand(array.type, where=where)
        kind = holder.type
        if kind.kind not in {Kind.ARRAY, Kind.POINTER} or holder.is_text:
            raise fault(f"{kind.name} has no elements")
        target = kind.points_to()
        if target.kind in {Kind.VOID, Kind.FUNCTION}:
            raise fault(f"what {kind.name} points to has no size: cast it first")
        address = moved(of.load(holder), "+", index, target)
        return Operand(target, where=Stored(address, _is_inside(holder, index)))

    def _unary(self, one: tree.Unary) -> Operand:
        inner = self.operand(one.of)
        if one.op == "&":
            inner = dereferenced(inner)
            return Operand(types.pointer(inner.type), node=of.address_of(inner))
        if one.op != "*":
            return unary(one.op, inner)
        inner = dereferenced(inner)
        owned = pointed(inner)
        if owned is not None:
            return owned
        target = inner.type.points_to()
        if inner.is_text or inner.type.kind not in {Kind.POINTER, Kind.ARRAY}:
            raise fault(f"{inner.type.name} is no pointer")
        if target.kind in {Kind.VOID, Kind.FUNCTION}:
            raise fault(f"what {inner.type.name} points to has no value: cast it first")
        is_sure = (
            inner.type.kind is Kind.ARRAY
            and isinstance(inner.where, Stored)
            and inner.where.is_sure
        )
        return Operand(target, where=Stored(of.load(inner), is_sure))

    def _binary(self, one: tree.Binary) -> Operand:
        if one.op in {"&&", "||"}:
            left, right = (of.truth(self.operand(side)) for side in (one.left, one.right))
            return of.yes_or_no(nodes.Logic(one.op, left, right))
        return binary(one.op, self.operand(one.left), self.operand(one.right))

    def _sizeof(self, one: tree.SizeOf) -> Operand:
        if isinstance(one.of, tree.TypeName):
            kind = self.type(one.of)
        elif isinstance(one.of, tree.Name) and self.scope.variable(one.of.text) is None:
            kind = self.type(tree.TypeName(one.of.text, 0, one.of.at))
        else:
            kind = dereferenced(self.operand(one.of)).type
        if not kind.size:
            raise fault(f"how large {kind.name} is, is not known here")
        return of.number(kind.size, types.UNSIGNED_LONG)

    def _ask(self, one: tree.Ask) -> Operand:
        inner = self.operand(one.of)
        count = count_of(inner)
        if count is None:
            raise fault(f"{inner.type.name} has no length that is known here")
        if one.what == "empty":
            return of.yes_or_no(nodes.Compare("==", count, Const(0, Machine.U64)))
        return Operand(types.UNSIGNED_LONG, node=count)

    def type(self, one: tree.TypeName) -> Type:
        """Find a type by the name that was written."""
        kind = self.scope.type(one.name)
        if kind is None:
            raise fault_at(self.text, one.at, f"no type {one.name!r} here")
        for _ in range(one.pointers):
            kind = types.pointer(kind)
        return kind


def _stored(found: Found, holder: Stored) -> Stored:
    """Return where a member lies in a record that is in memory."""
    address = nodes.plus(holder.address, found.offset)
    if found.field.guard is None:
        return Stored(address, holder.is_sure, found.field.bits)
    # Of a case that is not the one nothing is read: there is nothing at 0.
    is_it = holds(found.field.guard, holder.address)
    return Stored(nodes.Choose(is_it, address, Const(0, Machine.U64), Machine.U64))


def _member_of_value(
    holder: Operand, kind: Type, offset: int, bits: tuple[int, int] | None
) -> Operand:
    """Take a member out of a small record that is in a register, or computed."""
    if isinstance(holder.where, Absent):
        raise fault(holder.where.why)
    if holder.type.size > 8 or bits is not None or kind.kind not in of.SCALAR:  # noqa: PLR2004  a word
        raise fault(f"{holder.type.name} is in no memory: its members are not read here")
    whole = of.bits(holder)
    down = Const(offset * 8, Machine.I64)
    shifted = nodes.Binary(">>", whole, down, Machine.U64)
    if of.machine(kind).is_real:
        raise fault(f"{holder.type.name} is in no memory: its real members are not read here")
    return Operand(kind, node=nodes.Convert(shifted, of.machine(kind)))


def _is_inside(holder: Operand, index: Operand) -> bool:
    """Tell whether an element surely lies in its array."""
    return (
        isinstance(holder.where, Stored)
        and holder.where.is_sure
        and holder.type.kind is Kind.ARRAY
        and isinstance(index.node, Const)
        and 0 <= index.node.value < (holder.type.count or 0)
    )
