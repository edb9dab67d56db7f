"""Writes checked nodes in C, for Frida's CModule (TinyCC).

The result is one function of a stub's frame, which returns 0 or 1, or the negative number of a
`RuntimeTrouble`: not 0, so that the engine evaluates the condition again in JavaScript and reports
it in words. A logpoint's function also records the values of its nodes. It needs no header and no
library: what TinyCC would call its run-time library for (unsigned 64 bits to real numbers and back)
is written out here. An address that may be wrong is checked by the kernel first, because in a
CModule a bad read would end the program.
"""

from __future__ import annotations

import dataclasses
import math
import struct
from collections.abc import Sequence

from debugger.backends.inprocess.expressions import nodes
from debugger.backends.inprocess.expressions.nodes import (
    ElementSpan,
    MachineType,
    Node,
    RuntimeTrouble,
    machine_of,
)
from debugger.errors import DebuggerError, ErrorCode

_TYPES = {
    MachineType.I8: "signed char", MachineType.U8: "unsigned char", MachineType.I16: "short",
    MachineType.U16: "unsigned short", MachineType.I32: "int", MachineType.U32: "unsigned int",
    MachineType.I64: "q_i64", MachineType.U64: "q_u64", MachineType.F32: "float",
    MachineType.F64: "double",
}  # fmt: skip
# Where a stub of the engine (code/enter.S) saves the program's registers: words from its
# frame on, the stack above it, and the vector registers as XSAVE writes them below it. A
# change there is a change here, and in agent/20_views.js.
FRAME = (
    "r15", "r14", "r13", "r12", "r11", "r10", "r9", "r8", "rdi", "rsi", "rbp", "rbx", "rdx", "rcx",
    "rax",
)  # fmt: skip
# 16 saved words, the return address into the stub, and the red zone: 128 + 8 + 128 bytes.
STACK_IN_FRAME = 264
VECTORS_BELOW_FRAME = 2816
VECTORS_AT = 160
VECTORS = tuple(f"xmm{number}" for number in range(16))
_UNSIGNED = {MachineType.I32: MachineType.U32, MachineType.I64: MachineType.U64}
_OPEN_RANGE = 2.0**63
_WIDEST = 64

# `q_here` returns its argument: TinyCC (Frida 17.26) takes `*(T *)CONSTANT` for CONSTANT
# itself where that has more than 32 bits.
_PRELUDE = f"""
typedef long long q_i64;
typedef unsigned long long q_u64;
static q_u64 q_here(q_u64 a) {{ return a; }}
static void q_say(int *t, int trouble) {{ if (!*t) *t = trouble; }}
static int q_bad_word(q_u64 a) {{
  q_i64 r;
  __asm__ volatile("movq $8, %%r10; syscall" : "=a"(r)
    : "0"(14LL), "D"(-1LL), "S"(a & ~7ULL), "d"(0LL) : "r10", "rcx", "r11", "memory");
  return r == -14;
}}
static q_u64 q_safe(q_u64 a, int size, int *t) {{
  static const q_u64 zero = 0;
  if (a >= 4096 && !q_bad_word(a) && ((a & 7) + size <= 8 || !q_bad_word(a + size - 1))) return a;
  q_say(t, {-RuntimeTrouble.UNREADABLE.value});
  return (q_u64)&zero;
}}
static q_i64 q_sdiv(q_i64 a, q_i64 b, int rest, int *t) {{
  if (b == 0) {{ q_say(t, {-RuntimeTrouble.DIVISION.value}); return 0; }}
  if (b == -1) return rest ? 0 : (q_i64)(0 - (q_u64)a);
  return rest ? a % b : a / b;
}}
static q_u64 q_udiv(q_u64 a, q_u64 b, int rest, int *t) {{
  if (b == 0) {{ q_say(t, {-RuntimeTrouble.DIVISION.value}); return 0; }}
  return rest ? a % b : a / b;
}}
static int q_by(q_i64 n, int bits, int *t) {{
  if (n < 0 || n >= bits) {{ q_say(t, {-RuntimeTrouble.SHIFT.value}); return 0; }}
  return (int)n;
}}
static double q_real(q_u64 n) {{
  if (n >> 63) return 2.0 * (double)(q_i64)(n >> 1 | (n & 1));
  return (double)(q_i64)n;
}}
static float q_single(q_u64 n) {{
  if (n >> 63) return 2.0f * (float)(q_i64)(n >> 1 | (n & 1));
  return (float)(q_i64)n;
}}
static q_i64 q_whole(double d, double low, double high, int *t) {{
  if (!(d > low && d < high)) {{ q_say(t, {-RuntimeTrouble.RANGE.value}); return 0; }}
  if (d >= {_OPEN_RANGE}) return (q_i64)((q_u64)(q_i64)(d - {_OPEN_RANGE}) | 1ULL << 63);
  return (q_i64)d;
}}
static q_u64 q_raw64(double d) {{ union {{ q_u64 n; double d; }} u; u.d = d; return u.n; }}
static q_u64 q_raw32(float d) {{ union {{ unsigned n; float d; }} u; u.d = d; return u.n; }}
static double q_bits64(q_u64 n) {{ union {{ q_u64 n; double d; }} u; u.n = n; return u.d; }}
static float q_bits32(unsigned n) {{ union {{ unsigned n; float d; }} u; u.n = n; return u.d; }}
static q_u64 q_word(q_u64 a, int *t) {{ return *(q_u64 *)q_safe(a, 8, t); }}
static q_u64 q_count(q_u64 a, int first, int second, int counted, q_u64 size, int *t) {{
  q_u64 end = q_word(a + second, t);
  return counted ? end : (end - q_word(a + first, t)) / size;
}}
static q_u64 q_at(q_u64 a, int first, int second, int counted, q_u64 size, q_i64 i, int *t) {{
  if (i < 0 || (q_u64)i >= q_count(a, first, second, counted, size, t)) {{
    q_say(t, {-RuntimeTrouble.INDEX.value});
    return 0;
  }}
  return q_word(a + first, t) + (q_u64)i * size;
}}
"""


def write_condition(node: Node, name: str = "predicate") -> str:
    """Write `int NAME(q_u64 *frame)` for a node that gives 0 or 1, with all that it needs.

    `frame` is where the engine's stub saved the registers, in the order of `FRAME`.

    Raises:
        DebuggerError: NOT_SUPPORTED where only JavaScript can do it.
    """
    value = _CWriter().write_value(node)
    return (
        f"{_PRELUDE}int {name}(q_u64 *frame) {{\n"
        f"  int trouble = 0, *t = &trouble;\n  int held = {value};\n"
        "  return trouble ? -trouble : held;\n}\n"
    )


def write_record(requested: Node | None, values: Sequence[Node]) -> str:
    """Write `int values(q_u64 *frame, q_u64 *words)`: each node's bits, where the first gives 1.

    Whole numbers are widened with their sign. Without `wanted` they are always written.

    Raises:
        DebuggerError: NOT_SUPPORTED where only JavaScript can do it.
    """
    writer = _CWriter()
    lines = ["int trouble = 0, *t = &trouble;"]
    if requested is not None:
        lines.append(f"if (!{writer.write_value(requested)} || trouble) return -trouble;")
    lines += [f"words[{at}] = {_write_bits(one, writer)};" for at, one in enumerate(values)]
    lines.append("return trouble ? -trouble : 1;")
    body = "".join(f"  {line}\n" for line in lines)
    return f"{_PRELUDE}int values(q_u64 *frame, q_u64 *words) {{\n{body}}}\n"


def _write_bits(node: Node, writer: _CWriter) -> str:
    machine = machine_of(node)
    if not machine.is_real:
        return f"(q_u64){writer.write_value(node)}"
    container = MachineType.U32 if machine is MachineType.F32 else MachineType.U64
    if isinstance(node, nodes.LoadNode):
        # Loaded as a whole number, so that the code keeps to general registers and the stub
        # need not save the vector registers (`isPlain` in agent/40_points.js).
        return f"(q_u64){writer.write_value(dataclasses.replace(node, machine=container))}"
    return f"q_raw{container.bit_width}({writer.write_value(node)})"


def _not_supported(what: str) -> DebuggerError:
    return DebuggerError(
        ErrorCode.NOT_SUPPORTED, f"{what} cannot be compiled to C", hint="use JavaScript for it"
    )


class _CWriter:
    """Writes one node; each value is in brackets and has the C type of its machine type."""

    def write_value(self, node: Node) -> str:  # noqa: PLR0911  one case for each kind of node
        machine = machine_of(node)
        match node:
            case nodes.ConstantNode():
                return _write_constant(node)
            case nodes.RegisterNode():
                return _write_register(node)
            case nodes.LoadNode():
                address = self.write_value(node.address)
                size = machine.bit_width // 8
                safe = f"q_here({address})" if node.is_sure else f"q_safe({address}, {size}, t)"
                return f"(*({_TYPES[machine]} *){safe})"
            case nodes.ConvertNode():
                return self._write_conversion(node)
            # Signed overflow is undefined in C: negation, sums and products are done
            # unsigned, and cast back.
            case nodes.NegateNode() if not machine.is_real:
                unsigned = _TYPES[_UNSIGNED.get(machine, machine)]
                return f"(({_TYPES[machine]})(0 - ({unsigned}){self.write_value(node.of)}))"
            case nodes.NegateNode():
                return f"(-{self.write_value(node.of)})"
            case nodes.InvertNode():
                return f"(({_TYPES[machine]})~{self.write_value(node.of)})"
            case nodes.BinaryNode():
                return self._write_binary(node)
            case _:
                return self._write_choice(node)

    def _write_choice(self, node: Node) -> str:
        match node:
            case nodes.CompareNode() | nodes.LogicNode():
                return f"({self.write_value(node.left)} {node.op} {self.write_value(node.right)})"
            case nodes.NotNode():
                return f"(!{self.write_value(node.of)})"
            case nodes.ChooseNode():
                parts = (node.test, node.yes, node.no)
                test, yes, no = (self.write_value(one) for one in parts)
                return f"({test} ? {yes} : {no})"
            case nodes.CountNode():
                return f"q_count({self._write_span(node.of)}, t)"
            case nodes.ElementNode():
                return f"q_at({self._write_span(node.of)}, {self.write_value(node.index)}, t)"
        raise _not_supported("a text")

    def _write_span(self, span: ElementSpan) -> str:
        counted = int(span.is_count)
        holder = self.write_value(span.holder)
        return f"{holder}, {span.first}, {span.second}, {counted}, {span.size}ULL"

    def _write_conversion(self, node: nodes.ConvertNode) -> str:
        value, before, after = self.write_value(node.of), machine_of(node.of), node.machine
        if before.is_real and not after.is_real:
            # Outside of the type's range C leaves the conversion open, and x86 gives the
            # lowest number.
            low = -(2.0 ** (after.bit_width - 1)) if after.is_signed else 0.0
            high = 2.0 ** (after.bit_width - after.is_signed)
            # The whole part counts: what lies less than one below the lowest still fits, and
            # below the lowest of 64 bits the next real number is further away than one.
            is_widest = after.bit_width == _WIDEST and after.is_signed
            below = math.nextafter(low, -math.inf) if is_widest else low - 1
            return f"(({_TYPES[after]})q_whole({value}, {below!r}, {high!r}, t))"
        if before is MachineType.U64 and after.is_real:
            return f"q_{'real' if after is MachineType.F64 else 'single'}({value})"
        return f"(({_TYPES[after]}){value})"

    def _write_binary(self, node: nodes.BinaryNode) -> str:
        left, right, machine = (
            self.write_value(node.left),
            self.write_value(node.right),
            node.machine,
        )
        kind = _TYPES[machine]
        unsigned = _TYPES[_UNSIGNED.get(machine, machine)]
        if machine.is_real:
            return f"(({kind})({left} {node.op} {right}))"
        if node.op in {"/", "%"}:
            # idiv traps on a zero divisor, and on the lowest number by -1.
            divide = "q_sdiv" if machine.is_signed else "q_udiv"
            return f"(({kind}){divide}({left}, {right}, {int(node.op == '%')}, t))"
        if node.op in {"<<", ">>"}:
            # A shift to the left is done unsigned (undefined otherwise), one to the right
            # with the sign.
            shifted = unsigned if node.op == "<<" else kind
            return f"(({kind})(({shifted}){left} {node.op} q_by({right}, {machine.bit_width}, t)))"
        return f"(({kind})(({unsigned}){left} {node.op} ({unsigned}){right}))"


def _write_register(node: nodes.RegisterNode) -> str:
    kind = _TYPES[node.machine]
    if node.name in FRAME:
        return f"(({kind})frame[{FRAME.index(node.name)}])"
    if node.name == "rsp":
        return f"((q_u64)frame + {STACK_IN_FRAME})"
    if node.name in VECTORS:
        at = VECTORS_AT + 16 * VECTORS.index(node.name)
        return f"(*({kind} *)((((q_u64)frame - {VECTORS_BELOW_FRAME}) & ~63ULL) + {at}))"
    raise _not_supported(f"register {node.name}")


def _write_constant(node: nodes.ConstantNode) -> str:
    machine = node.machine
    if machine.is_real:
        is_double = machine is MachineType.F64
        # As bits, so that no decimal form is rounded on the way.
        packed = struct.pack("<d" if is_double else "<f", node.value)
        bits = int.from_bytes(packed, "little")
        return f"q_bits64({bits}ULL)" if is_double else f"q_bits32({bits}U)"
    return f"(({_TYPES[machine]}){int(node.value) % (1 << 64)}ULL)"
