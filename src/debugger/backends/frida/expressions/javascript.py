"""Writes a checked node in JavaScript, for Frida's QuickJS.

Whole numbers up to 32 bits are Numbers, those of 64 bits BigInts: measured in QuickJS, a 64-bit
read by way of a Number where that is exact, else of a text, costs 0.8 µs, by Int64 0.9 µs, by two
halves 1.4 µs, and only BigInt has all operators. Addresses stay NativePointers as long as they are
only added to. What cannot be read throws, as do divisions by zero and the like; the engine tells.
Nothing of the user's is in the source but numbers and JSON strings.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field

from debugger.backends.frida.expressions import nodes
from debugger.backends.frida.expressions.nodes import (
    Machine,
    Node,
    Span,
    Words,
    machine_of,
    wrapped,
)
from debugger.backends.frida.expressions.prelude import NAMES, PRELUDE, SHARED, TEXT_MAX
from debugger.errors import Code, DebuggerError

_WIDE = 64
_SMALL = 1 << 20  # an element's size, and an offset's factor, with which Numbers stay exact
_EXACT = 1 << 53
_READS = {
    Machine.I8: "readS8", Machine.U8: "readU8", Machine.I16: "readS16", Machine.U16: "readU16",
    Machine.I32: "readS32", Machine.U32: "readU32", Machine.F32: "readFloat",
    Machine.F64: "readDouble",
}  # fmt: skip
_WORDS = frozenset(
    f"r{one}"
    for one in ("ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "ip", *map(str, range(8, 16)))
)
# The view's `vectors` is where XSAVE, or the kernel, put the vector registers.
_VECTORS = tuple(f"xmm{number}" for number in range(16))
_VECTORS_AT = 160


@dataclass(frozen=True, slots=True)
class Script:
    """A function in JavaScript: `constants` are made once, `value` is what it returns of `c`."""

    value: str
    constants: tuple[str, ...] = ()

    @property
    def function(self) -> str:
        """Write the function of `c`, a view of the registers; what is constant is made once."""
        held = "\n".join(self.constants)
        names = ", ".join(NAMES)
        shared = f"(globalThis.{SHARED} ??= (() => {{\n{PRELUDE}return {{ {names} }};\n}})())"
        needs = f"const {{ {names} }} = {shared};\n{held}"
        return f"(() => {{\n{needs}\nreturn (c) => {self.value};\n}})()"


def condition(node: Node) -> Script:
    """Write a function that returns whether the node gives 1.

    Raises:
        DebuggerError: NOT_SUPPORTED for a register that Frida does not tell.
    """
    writer = Writer()
    return Script(writer.truth(node), tuple(writer.constants))


def number(node: Node) -> Script:
    """Write a function that returns the node's number: a BigInt where it has 64 bits."""
    writer = Writer()
    return Script(writer.value(node), tuple(writer.constants))


@dataclass(slots=True)
class Writer:
    """Writes nodes; collects the constants that are made once."""

    constants: list[str] = field(default_factory=list)

    def constant(self, value: str) -> str:
        """Name a value that is made once."""
        name = f"k{len(self.constants)}"
        self.constants.append(f"const {name} = {value};")
        return name

    def truth(self, node: Node) -> str:
        """Write a node that gives 0 or 1 as a boolean."""
        match node:
            case nodes.Compare():
                op = {"==": "===", "!=": "!=="}.get(node.op, node.op)
                left, right = self._sides(node)
                return f"({left} {op} {right})"
            case nodes.Logic():
                return f"({self.truth(node.left)} {node.op} {self.truth(node.right)})"
            case nodes.Not():
                return f"(!{self.truth(node.of)})"
            case nodes.Same():
                return self._same(node)
        return f"({self.value(node)} != 0)"

    def value(self, node: Node) -> str:  # noqa: C901, PLR0911, PLR0912  one case for each kind of node
        """Write a node's number."""
        machine = machine_of(node)
        match node:
            case nodes.Const():
                return _literal(node.value, machine)
            case nodes.Register():
                if node.name in _VECTORS:
                    at = _VECTORS_AT + 16 * _VECTORS.index(node.name)
                    return f"c.vectors.add({at}).{_READS[machine]}()"
                return f"q_bits({self._register(node)})"
            case nodes.Load():
                address = self.address(node.address)
                if machine.bits == _WIDE and not machine.is_real:
                    return f"q_{'s' if machine.is_signed else 'u'}64({address})"
                return f"{address}.{_READS[machine]}()"
            case nodes.Convert():
                return self._converted(node)
            case nodes.Negate():
                return _wrap(f"-{self.value(node.of)}", machine)
            case nodes.Invert():
                return _wrap(f"~{self.value(node.of)}", machine)
            case nodes.Binary():
                return self._binary(node)
            case nodes.Choose():
                test = self.truth(node.test)
                return f"({test} ? {self.value(node.yes)} : {self.value(node.no)})"
            case nodes.Count():
                return f"q_span({self._span(node.of)})"
            case nodes.Element():
                return f"q_bits({self.address(node)})"
            case nodes.Length():
                return f"BigInt({self.words(node.of)}.length)"
            case _:
                return f"({self.truth(node)} ? 1 : 0)"

    def address(self, node: Node) -> str:  # noqa: PLR0911  one case for each kind of node
        """Write a U64 as a NativePointer."""
        match node:
            case nodes.Const():
                return self.constant(f'ptr("{int(node.value):#x}")')
            case nodes.Register():
                return self._register(node)
            case nodes.Load():
                return f"{self.address(node.address)}.readPointer()"
            case nodes.Element():
                index = self.value(node.index)
                return f"q_at({self._span(node.of)}, {index})"
            case nodes.Choose():
                test = self.truth(node.test)
                return f"({test} ? {self.address(node.yes)} : {self.address(node.no)})"
            case nodes.Binary(op="+"):
                offset = self._offset(node.right)
                if offset is not None:
                    return f"{self.address(node.left)}.add({offset})"
        return f"q_ptr({self.value(node)})"

    def _offset(self, node: Node) -> str | None:
        """Write a U64 as a Number, where that is exact; None elsewhere."""
        match node:
            case nodes.Const():
                near = wrapped(int(node.value), Machine.I64)
                return str(near) if abs(near) < _EXACT else None
            case nodes.Convert() if not machine_of(node.of).is_real:
                inner = machine_of(node.of)
                if inner.bits < _WIDE:
                    return self.value(node.of)
                return self._offset(node.of)
            case nodes.Binary(op="*", right=nodes.Const(value=factor)) if factor < _SMALL:
                inner_offset = self._offset(node.left)
                return None if inner_offset is None else f"{inner_offset} * {factor}"
        return None

    def words(self, words: Words) -> str:
        """Write a text as an array of its bytes."""
        match words:
            case nodes.Literal():
                return self.constant(json.dumps(list(words.value.encode())))
            case nodes.Bytes():
                most = TEXT_MAX if words.most is None else words.most
                return f"q_until({self.address(words.address)}, {most})"
            case nodes.Spanned():
                return f"q_held({self._span(words.of)})"

    def _same(self, node: nodes.Same) -> str:
        """Compare texts; with a literal no byte is read behind the first that differs."""
        one, other = node.left, node.right
        if isinstance(one, nodes.Literal):
            one, other = other, one
        wanted = self.words(other)
        if isinstance(other, nodes.Literal) and isinstance(one, nodes.Bytes):
            most = TEXT_MAX if one.most is None else one.most
            return f"q_is({self.address(one.address)}, {most}, {wanted})"
        if isinstance(other, nodes.Literal) and isinstance(one, nodes.Spanned):
            return f"q_holds({self._span(one.of)}, {wanted})"
        return f"q_same({self.words(one)}, {wanted})"

    def _sides(self, node: nodes.Compare) -> tuple[str, str]:
        """Write what is compared, as Numbers where they tell as much as BigInts, and sooner.

        A 64-bit number that is rounded stays on its side of all those that are exact.
        """
        sides = node.left, node.right
        exact = [_exact(one) for one in sides]
        if machine_of(node.left).bits == _WIDE and any(exact):
            near = [self._near(one) for one in sides]
            if near[0] is not None and near[1] is not None:
                return near[0], near[1]
        return self.value(node.left), self.value(node.right)

    def _near(self, node: Node) -> str | None:
        match node:
            case nodes.Const() if _exact(node):
                return f"({int(node.value)})"
            case nodes.Convert() if _exact(node):
                return self.value(node.of)
            case nodes.Load() if not node.machine.is_real:
                letter = "S" if node.machine.is_signed else "U"
                return f"{self.address(node.address)}.read{letter}64().toNumber()"
        return None

    def _register(self, node: nodes.Register) -> str:
        if node.name not in _WORDS:
            raise DebuggerError(
                Code.NOT_SUPPORTED,
                f"register {node.name} cannot be read where the program is not paused",
                hint="debugger print EXPR at a pause",
            )
        return f"c.{node.name}"

    def _span(self, span: Span) -> str:
        counted = "true" if span.is_count else "false"
        holder = self.address(span.holder)
        return f"{holder}, {span.first}, {span.second}, {counted}, {span.size}"

    def _converted(self, node: nodes.Convert) -> str:
        before, after, value = machine_of(node.of), node.machine, self.value(node.of)
        was_wide = before.bits == _WIDE and not before.is_real
        if before.is_real and not after.is_real:
            return _whole(value, after)
        if after is Machine.F32 and was_wide:
            return f"q_single({value})"
        if after.is_real:
            return _wrap(f"Number({value})" if was_wide else value, after)
        if after.bits == _WIDE:
            return _wrap(value if was_wide else f"BigInt({value})", after)
        if was_wide:
            signed = "Int" if after.is_signed else "Uint"
            return f"Number(BigInt.as{signed}N({after.bits}, {value}))"
        return _wrap(value, after)

    def _binary(self, node: nodes.Binary) -> str:
        left, right, machine = self.value(node.left), self.value(node.right), node.machine
        if machine.is_real:
            return _wrap(f"({left} {node.op} {right})", machine)
        letter = "b" if machine.bits == _WIDE else "i"
        if node.op in {"/", "%"}:
            divide = f"q_{letter}{'div' if node.op == '/' else 'rest'}({left}, {right})"
            return _wrap(divide, machine)
        if node.op in {"<<", ">>"}:
            count = f"q_by({right}, {machine.bits})"
            if machine.bits == _WIDE:
                return _wrap(f"({left} {node.op} BigInt({count}))", machine)
            op = ">>>" if node.op == ">>" and not machine.is_signed else node.op
            return _wrap(f"({left} {op} {count})", machine)
        if node.op == "*" and machine.bits != _WIDE:
            return _wrap(f"Math.imul({left}, {right})", machine)
        return _wrap(f"({left} {node.op} {right})", machine)


def _exact(node: Node) -> bool:
    """Tell whether a whole number of 64 bits is surely exact as a Number."""
    match node:
        case nodes.Const(value=value, machine=machine):
            return not machine.is_real and abs(value) < _EXACT
        case nodes.Convert(of=of, machine=machine):
            before = machine_of(of)
            fits = machine.is_signed or not before.is_signed
            return not (before.is_real or machine.is_real) and before.bits < _WIDE and fits
    return False


def _whole(value: str, after: Machine) -> str:
    """Convert a real number to a whole one."""
    if after.bits == _WIDE:
        return f"q_bfit({value}, 64, {'true' if after.is_signed else 'false'})"
    low = -(1 << (after.bits - 1)) if after.is_signed else 0
    high = (1 << (after.bits - after.is_signed)) - 1
    return f"q_fit({value}, {low}, {high})"


def _wrap(value: str, machine: Machine) -> str:
    """Wrap a whole number to a type; round a real one."""
    if machine is Machine.F32:
        return f"Math.fround({value})"
    if machine is Machine.F64:
        return f"({value})"
    if machine.bits == _WIDE:
        return f"BigInt.as{'Int' if machine.is_signed else 'Uint'}N(64, {value})"
    if machine.bits == _WIDE // 2:
        return f"({value} {'|' if machine.is_signed else '>>>'} 0)"
    if machine.is_signed:
        rest = _WIDE // 2 - machine.bits
        return f"({value} << {rest} >> {rest})"
    return f"({value} & {(1 << machine.bits) - 1})"


def _literal(value: float, machine: Machine) -> str:
    if not machine.is_real:
        return f"({int(value)}n)" if machine.bits == _WIDE else f"({int(value)})"
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "(-Infinity)"
    return f"({value!r})"
