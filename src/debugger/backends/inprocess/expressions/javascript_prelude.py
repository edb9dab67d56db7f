"""Holds the JavaScript functions that compiled expressions call.

All begin with `q_`. `bits` of 64 are BigInts, texts are arrays of their bytes.
"""

from __future__ import annotations

import hashlib
import json
import re

from debugger.backends.inprocess.expressions.nodes import SAYS, RuntimeTrouble

TEXT_MAX = 1 << 20  # bytes of a text that is compared or measured
_PAGE = 4096  # no read goes over the end of one: the next may not be there
_CHUNK = 256
_EXACT = 1 << 53
_SAYS = {one.name: SAYS[one] for one in RuntimeTrouble}

# What the functions need, once for each script that holds some of them.
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
# Where a script keeps them, once for all expressions.
SHARED = "q_" + hashlib.sha256(PRELUDE.encode()).hexdigest()[:16]
