"""Writes a checked node in JavaScript, for Frida's QuickJS."""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass, field

from debugger.backends.inprocess.expressions import nodes
from debugger.backends.inprocess.expressions.nodes import (
    SAYS,
    ElementSpan,
    MachineType,
    Node,
    RuntimeTrouble,
    Words,
    machine_of,
    wrap_number,
)
from debugger.errors import DebuggerError, ErrorCode

TEXT_MAX = 1 << 20  # bytes of a text that is compared or measured
_PAGE = 4096  # no read goes over the end of one: the next may not be there
_CHUNK = 256
# A Number holds whole numbers exactly up to here: beyond it a BigInt is needed, which is
# slower, so each read decides by its value.
_EXACT = 1 << 53
_SAYS = {one.name: SAYS[one] for one in RuntimeTrouble}

# The functions that scripts need, once in the agent. Each of them does what `node_evaluation`
# does, with the same errors (`q_says`):
# - q_idiv, q_irest: 32 bits as Numbers; q_bdiv, q_brest: 64 bits as BigInts.
# - q_fit, q_bfit: real to whole, an error where C leaves the result open.
# - q_single: a BigInt rounded once to single precision; 50 bits and a sticky bit fit in a
#   double.
# - q_until, q_is: texts up to a zero byte; no read crosses a page, as the next may not be
#   there.
# - q_quote: UTF-8, decoded by decodeURIComponent.
PRELUDE = f"""\
const q_says = {json.dumps(_SAYS)};
const q_fail = (what) => {{ throw new Error(q_says[what]); }};
const q_u64 = (p) => {{
  const v = p.readU64(), n = v.toNumber();
  return n < {_EXACT} ? BigInt(n) : BigInt(v.toString());
}};
const q_s64 = (p) => {{
  const v = p.readS64(), n = v.toNumber();
  return n < {_EXACT} && n > -{_EXACT} ? BigInt(n) : BigInt(v.toString());
}};
const q_bits = (p) => BigInt(p.toString());
const q_ptr = (n) => ptr("0x" + BigInt.asUintN(64, n).toString(16));
const q_idiv = (a, b) => (b === 0 ? q_fail("DIVISION") : Math.trunc(a / b));
const q_irest = (a, b) => (b === 0 ? q_fail("DIVISION") : a % b);
const q_bdiv = (a, b) => (b === 0n ? q_fail("DIVISION") : a / b);
const q_brest = (a, b) => (b === 0n ? q_fail("DIVISION") : a % b);
const q_by = (n, bits) => (n < 0 || n >= bits ? q_fail("SHIFT") : Number(n));
const q_fit = (n, low, high) => {{
  const whole = Math.trunc(n);
  return whole >= low && whole <= high ? whole : q_fail("RANGE");
}};
const q_bfit = (n, bits, signed) => {{
  if (!Number.isFinite(n)) q_fail("RANGE");
  const whole = BigInt(Math.trunc(n));
  const same = signed ? BigInt.asIntN(bits, whole) : BigInt.asUintN(bits, whole);
  return same === whole ? whole : q_fail("RANGE");
}};
const q_single = (n) => {{
  const size = n < 0n ? -n : n;
  const extra = BigInt(Math.max(size.toString(2).length - 50, 0));
  let kept = (size >> extra) << extra;
  if (kept !== size) kept |= 1n << extra;
  return Math.fround(Number(n < 0n ? -kept : kept));
}};
const q_span = (p, first, second, counted, size) => {{
  const end = q_u64(p.add(second));
  return counted ? end : BigInt.asUintN(64, end - q_u64(p.add(first))) / BigInt(size);
}};
const q_at = (p, first, second, counted, size, index) => {{
  const count = q_span(p, first, second, counted, size);
  if (index < 0 || index >= count) q_fail("INDEX");
  return q_ptr(q_u64(p.add(first)) + BigInt(index) * BigInt(size));
}};
const q_held = (p, first, second, counted, size) => {{
  const count = q_span(p, first, second, counted, size);
  if (count > {TEXT_MAX}n) throw new Error("a text of " + count + " bytes");
  return count ? new Uint8Array(q_ptr(q_u64(p.add(first))).readByteArray(Number(count))) : [];
}};
const q_until = (p, most) => {{
  const found = [];
  while (found.length < most) {{
    const at = p.add(found.length);
    const page = {_PAGE} - at.and({_PAGE - 1}).toUInt32();
    const part = new Uint8Array(at.readByteArray(Math.min({_CHUNK}, most - found.length, page)));
    const end = part.indexOf(0);
    found.push(...(end < 0 ? part : part.subarray(0, end)));
    if (end >= 0) break;
  }}
  return found;
}};
const q_same = (a, b) => a.length === b.length && b.every((one, i) => one === a[i]);
const q_is = (p, most, wanted) => {{
  const size = wanted.length;
  if (size > most) return false;
  for (let i = 0; i < size; i++) {{
    const one = (i ? p.add(i) : p).readU8();
    if (one === 0 || one !== wanted[i]) return false;
  }}
  return size === most || p.add(size).readU8() === 0;
}};
const q_holds = (p, first, second, counted, size, wanted) =>
  q_span(p, first, second, counted, size) == wanted.length
  && q_same(q_held(p, first, second, counted, size), wanted);
const q_tried = (write) => {{
  try {{ return write(); }} catch (error) {{ return "<error: " + error.message + ">"; }}
}};
const q_letter = (n) => (n >= 32 && n < 127 ? n + " '" + String.fromCharCode(n) + "'" : String(n));
const q_short = (n) => {{
  for (let digits = 6; digits < 10 && Number.isFinite(n); digits++) {{
    const near = Number(n.toPrecision(digits));
    if (Math.fround(near) === n) return String(near);
  }}
  return String(n);
}};
const q_quote = (held, most) => {{
  let end = Math.min(held.length, most);
  while (end < held.length && end && (held[end] & 0xc0) === 0x80) end--;
  const bytes = Array.from(held).slice(0, end);
  let letters;
  try {{
    const escaped = bytes.map((one) => "%" + (256 + one).toString(16).slice(1));
    letters = decodeURIComponent(escaped.join(""));
  }} catch (_) {{
    letters = bytes.map((one) => (one < 128 ? String.fromCharCode(one) : "\ufffd")).join("");
  }}
  return JSON.stringify(letters) + (end < held.length ? "…" : "");
}};
"""


NAMES = re.findall(r"^const (\w+)", PRELUDE, re.MULTILINE)
# Under this name of the global object, once for all scripts of an agent; the digest makes
# sure that it is this very text.
SHARED = "q_" + hashlib.sha256(PRELUDE.encode()).hexdigest()[:16]


_WIDE = 64
_SMALL = 1 << 20  # an element's size, and an offset's factor, with which Numbers stay exact
_READS = {
    MachineType.I8: "readS8", MachineType.U8: "readU8", MachineType.I16: "readS16",
    MachineType.U16: "readU16",
    MachineType.I32: "readS32", MachineType.U32: "readU32", MachineType.F32: "readFloat",
    MachineType.F64: "readDouble",
}  # fmt: skip
_WORDS = frozenset(
    f"r{one}"
    for one in ("ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "ip", *map(str, range(8, 16)))
)
# The view's `vectors` is the address at which XSAVE, or the kernel, saved the vector
# registers; xmm0 is at 160 of it (Intel SDM 1, 10.5.1).
_VECTORS = tuple(f"xmm{number}" for number in range(16))
_VECTORS_AT = 160


@dataclass(frozen=True, slots=True)
class JavaScriptCode:
    """Holds a function in JavaScript: `constants` are made once, `value` is its result for `c`."""

    value: str
    constants: tuple[str, ...] = ()

    @property
    def function_text(self) -> str:
        """The function of `c`, a view of the registers; its constants are made once."""
        constants = "\n".join(self.constants)
        names = ", ".join(NAMES)
        shared = f"(globalThis.{SHARED} ??= (() => {{\n{PRELUDE}return {{ {names} }};\n}})())"
        needs = f"const {{ {names} }} = {shared};\n{constants}"
        return f"(() => {{\n{needs}\nreturn (c) => {self.value};\n}})()"


def condition_script(node: Node) -> JavaScriptCode:
    """Write a function that returns whether the node gives 1.

    Raises:
        DebuggerError: NOT_SUPPORTED for a register that Frida does not tell.
    """
    writer = JavaScriptWriter()
    return JavaScriptCode(writer.write_truth(node), tuple(writer.constants))


def number_script(node: Node) -> JavaScriptCode:
    """Write a function that returns the node's number: a BigInt where it has 64 bits."""
    writer = JavaScriptWriter()
    return JavaScriptCode(writer.write_value(node), tuple(writer.constants))


@dataclass(slots=True)
class JavaScriptWriter:
    """Writes nodes, and collects the constants that are made once."""

    constants: list[str] = field(default_factory=list)

    def name_constant(self, value: str) -> str:
        """Name a value that is made once."""
        name = f"k{len(self.constants)}"
        self.constants.append(f"const {name} = {value};")
        return name

    def write_truth(self, node: Node) -> str:
        """Write a node that gives 0 or 1 as a boolean."""
        # Conditions stay booleans up to the outermost function: QuickJS need not make numbers
        # of them.
        match node:
            case nodes.CompareNode():
                op = {"==": "===", "!=": "!=="}.get(node.op, node.op)
                left, right = self._write_sides(node)
                return f"({left} {op} {right})"
            case nodes.LogicNode():
                return f"({self.write_truth(node.left)} {node.op} {self.write_truth(node.right)})"
            case nodes.NotNode():
                return f"(!{self.write_truth(node.of)})"
            case nodes.SameTextNode():
                return self._write_same(node)
        return f"({self.write_value(node)} != 0)"

    def write_value(self, node: Node) -> str:  # noqa: C901, PLR0911, PLR0912  one case for each kind of node
        """Write a node's number."""
        machine = machine_of(node)
        match node:
            case nodes.ConstantNode():
                return _literal_text(node.value, machine)
            case nodes.RegisterNode():
                if node.name in _VECTORS:
                    at = _VECTORS_AT + 16 * _VECTORS.index(node.name)
                    return f"c.vectors.add({at}).{_READS[machine]}()"
                return f"q_bits({self._write_register(node)})"
            case nodes.LoadNode():
                address = self.write_address(node.address)
                if machine.bit_width == _WIDE and not machine.is_real:
                    return f"q_{'s' if machine.is_signed else 'u'}64({address})"
                return f"{address}.{_READS[machine]}()"
            case nodes.ConvertNode():
                return self._write_conversion(node)
            case nodes.NegateNode():
                return _wrap_number(f"-{self.write_value(node.of)}", machine)
            case nodes.InvertNode():
                return _wrap_number(f"~{self.write_value(node.of)}", machine)
            case nodes.BinaryNode():
                return self._write_binary(node)
            case nodes.ChooseNode():
                test = self.write_truth(node.test)
                return f"({test} ? {self.write_value(node.yes)} : {self.write_value(node.no)})"
            case nodes.CountNode():
                return f"q_span({self._write_span(node.of)})"
            case nodes.ElementNode():
                return f"q_bits({self.write_address(node)})"
            case nodes.LengthNode():
                return f"BigInt({self.write_words(node.of)}.length)"
            case _:
                return f"({self.write_truth(node)} ? 1 : 0)"

    def write_address(self, node: Node) -> str:  # noqa: PLR0911  one case for each kind of node
        """Write a U64 as a NativePointer."""
        match node:
            case nodes.ConstantNode():
                return self.name_constant(f'ptr("{int(node.value):#x}")')
            case nodes.RegisterNode():
                return self._write_register(node)
            case nodes.LoadNode():
                return f"{self.write_address(node.address)}.readPointer()"
            case nodes.ElementNode():
                index = self.write_value(node.index)
                return f"q_at({self._write_span(node.of)}, {index})"
            case nodes.ChooseNode():
                test = self.write_truth(node.test)
                return f"({test} ? {self.write_address(node.yes)} : {self.write_address(node.no)})"
            # NativePointer.add is one call; a sum of BigInts would be converted there and
            # back.
            case nodes.BinaryNode(op="+"):
                offset = self._write_offset(node.right)
                if offset is not None:
                    return f"{self.write_address(node.left)}.add({offset})"
        return f"q_ptr({self.write_value(node)})"

    def _write_offset(self, node: Node) -> str | None:
        """Write a U64 as a Number, where that is exact; None elsewhere."""
        match node:
            case nodes.ConstantNode():
                near = wrap_number(int(node.value), MachineType.I64)
                return str(near) if abs(near) < _EXACT else None
            case nodes.ConvertNode() if not machine_of(node.of).is_real:
                inner = machine_of(node.of)
                if inner.bit_width < _WIDE:
                    return self.write_value(node.of)
                return self._write_offset(node.of)
            case nodes.BinaryNode(op="*", right=nodes.ConstantNode(value=factor)) if (
                factor < _SMALL
            ):
                inner_offset = self._write_offset(node.left)
                return None if inner_offset is None else f"{inner_offset} * {factor}"
        return None

    def write_words(self, words: Words) -> str:
        """Write a text as an array of its bytes."""
        match words:
            case nodes.LiteralText():
                return self.name_constant(json.dumps(list(words.value.encode())))
            case nodes.BytesText():
                most = TEXT_MAX if words.most is None else words.most
                return f"q_until({self.write_address(words.address)}, {most})"
            case nodes.SpannedText():
                return f"q_held({self._write_span(words.of)})"

    def _write_same(self, node: nodes.SameTextNode) -> str:
        """Compare texts; with a literal no byte is read behind the first difference."""
        one, other = node.left, node.right
        if isinstance(one, nodes.LiteralText):
            one, other = other, one
        words = self.write_words(other)
        if isinstance(other, nodes.LiteralText) and isinstance(one, nodes.BytesText):
            most = TEXT_MAX if one.most is None else one.most
            return f"q_is({self.write_address(one.address)}, {most}, {words})"
        if isinstance(other, nodes.LiteralText) and isinstance(one, nodes.SpannedText):
            return f"q_holds({self._write_span(one.of)}, {words})"
        return f"q_same({self.write_words(one)}, {words})"

    def _write_sides(self, node: nodes.CompareNode) -> tuple[str, str]:
        """Write both sides of a comparison, as Numbers where they say as much as BigInts.

        A 64-bit number that is rounded stays on its side of all exact ones.
        """
        sides = node.left, node.right
        exact = [_is_exact(one) for one in sides]
        if machine_of(node.left).bit_width == _WIDE and any(exact):
            near = [self._write_number(one) for one in sides]
            if near[0] is not None and near[1] is not None:
                return near[0], near[1]
        return self.write_value(node.left), self.write_value(node.right)

    def _write_number(self, node: Node) -> str | None:
        match node:
            case nodes.ConstantNode() if _is_exact(node):
                return f"({int(node.value)})"
            case nodes.ConvertNode() if _is_exact(node):
                return self.write_value(node.of)
            case nodes.LoadNode() if not node.machine.is_real:
                letter = "S" if node.machine.is_signed else "U"
                return f"{self.write_address(node.address)}.read{letter}64().toNumber()"
        return None

    def _write_register(self, node: nodes.RegisterNode) -> str:
        if node.name not in _WORDS:
            raise DebuggerError(
                ErrorCode.NOT_SUPPORTED,
                f"register {node.name} cannot be read where the program is not paused",
                hint="debugger print EXPR at a pause",
            )
        return f"c.{node.name}"

    def _write_span(self, span: ElementSpan) -> str:
        counted = "true" if span.is_count else "false"
        holder = self.write_address(span.holder)
        return f"{holder}, {span.first}, {span.second}, {counted}, {span.size}"

    def _write_conversion(self, node: nodes.ConvertNode) -> str:
        before, after, value = machine_of(node.of), node.machine, self.write_value(node.of)
        was_wide = before.bit_width == _WIDE and not before.is_real
        if before.is_real and not after.is_real:
            return _to_whole(value, after)
        if after is MachineType.F32 and was_wide:
            return f"q_single({value})"
        if after.is_real:
            return _wrap_number(f"Number({value})" if was_wide else value, after)
        if after.bit_width == _WIDE:
            return _wrap_number(value if was_wide else f"BigInt({value})", after)
        if was_wide:
            signed = "Int" if after.is_signed else "Uint"
            return f"Number(BigInt.as{signed}N({after.bit_width}, {value}))"
        return _wrap_number(value, after)

    def _write_binary(self, node: nodes.BinaryNode) -> str:
        left, right, machine = (
            self.write_value(node.left),
            self.write_value(node.right),
            node.machine,
        )
        if machine.is_real:
            return _wrap_number(f"({left} {node.op} {right})", machine)
        letter = "b" if machine.bit_width == _WIDE else "i"
        if node.op in {"/", "%"}:
            divide = f"q_{letter}{'div' if node.op == '/' else 'rest'}({left}, {right})"
            return _wrap_number(divide, machine)
        if node.op in {"<<", ">>"}:
            count = f"q_by({right}, {machine.bit_width})"
            if machine.bit_width == _WIDE:
                return _wrap_number(f"({left} {node.op} BigInt({count}))", machine)
            op = ">>>" if node.op == ">>" and not machine.is_signed else node.op
            return _wrap_number(f"({left} {op} {count})", machine)
        # The product of two 32-bit numbers exceeds the 53 bits of a Number; imul keeps the
        # lower half.
        if node.op == "*" and machine.bit_width != _WIDE:
            return _wrap_number(f"Math.imul({left}, {right})", machine)
        return _wrap_number(f"({left} {node.op} {right})", machine)


def _is_exact(node: Node) -> bool:
    """Return whether a whole number of 64 bits is exact as a Number."""
    match node:
        case nodes.ConstantNode(value=value, machine=machine):
            return not machine.is_real and abs(value) < _EXACT
        case nodes.ConvertNode(of=of, machine=machine):
            before = machine_of(of)
            fits = machine.is_signed or not before.is_signed
            return not (before.is_real or machine.is_real) and before.bit_width < _WIDE and fits
    return False


def _to_whole(value: str, after: MachineType) -> str:
    """Convert a real number to a whole one."""
    if after.bit_width == _WIDE:
        return f"q_bfit({value}, 64, {'true' if after.is_signed else 'false'})"
    low = -(1 << (after.bit_width - 1)) if after.is_signed else 0
    high = (1 << (after.bit_width - after.is_signed)) - 1
    return f"q_fit({value}, {low}, {high})"


def _wrap_number(value: str, machine: MachineType) -> str:
    """Wrap a whole number to a type; round a real one."""
    if machine is MachineType.F32:
        return f"Math.fround({value})"
    if machine is MachineType.F64:
        return f"({value})"
    if machine.bit_width == _WIDE:
        return f"BigInt.as{'Int' if machine.is_signed else 'Uint'}N(64, {value})"
    # `| 0` and `>>> 0` wrap to 32 bits, signed and unsigned.
    if machine.bit_width == _WIDE // 2:
        return f"({value} {'|' if machine.is_signed else '>>>'} 0)"
    if machine.is_signed:
        rest = _WIDE // 2 - machine.bit_width
        return f"({value} << {rest} >> {rest})"
    return f"({value} & {(1 << machine.bit_width) - 1})"


def _literal_text(value: float, machine: MachineType) -> str:
    if not machine.is_real:
        return f"({int(value)}n)" if machine.bit_width == _WIDE else f"({int(value)})"
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "(-Infinity)"
    return f"({value!r})"
