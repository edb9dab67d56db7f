"""Tells the objects apart that a probe's expressions are. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from debugger.questions.probe.answer import ProbeObject

OBJECTS_MAX = 1000
_SPANS_MAX = 64  # of one object
_SHOWN_MAX = 8  # objects of a column
# Parts the mark of a value from its text; no program prints it by chance.
_MARK = "\u2063"
_POINTER = re.compile(r"(?:\([^()]*\)\s*)?(0x[0-9a-f]+)(?![\w.])", re.IGNORECASE)

# The elements of one array, as `{1, 2}`, `[1, 2]`, `[]int len: 2, cap: 2, [1,2]`.
_NUMBERS = re.compile(r"(?:[\w:&* ]*(?:\[\d*\])?[\w:, .]*)[\[{(]\s*(-?\d+(?:,\s*-?\d+){4,})")
_STARTS = 4  # elements that show a pattern
_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_GO_ADDRESS = re.compile(r"([1-9]\d*) = 0x")

# A function of JavaScript of a value: its number, and where an array of numbers leaves its pattern.
# The numbers are in a WeakMap, which keeps no object alive and takes none for another.
JAVASCRIPT_MARK = (
    "((v)=>{try{if((typeof v!=='object'&&typeof v!=='function')||v===null)return '';"
    "const k=Symbol.for('debugger.objects');if(!globalThis[k])Object.defineProperty(globalThis,k,"
    "{value:{ids:new WeakMap(),next:1},configurable:true});const h=globalThis[k];"
    "if(!h.ids.has(v))h.ids.set(v,h.next++);"
    "let d='';if(Array.isArray(v)||(ArrayBuffer.isView(v)&&!(v instanceof DataView))){"
    "const n=Math.min(v.length,1e5),s=v[1]-v[0];let w=n>4;"
    "for(let i=0;i<4&&w;i++)w=Number.isSafeInteger(v[i])&&(!i||v[i]-v[i-1]===s);"
    "for(let i=4;i<n&&w;i++)if(typeof v[i]!=='number'||v[i]-v[i-1]!==s){"
    "d='['+i+'] = '+String(typeof v[i]==='object'?typeof v[i]:v[i]).slice(0,24)+' after '+v[i-1];"
    "break}}"
    f"return '{_MARK}'+(h.ids.get(v)||0)+'{_MARK}'+d+'{_MARK}'}}catch{{return ''}}}})"
)


def go_addresses(expressions: Sequence[str], language: str) -> dict[int, str]:
    """Return, by the number of an expression, what delve shows the address of a pointer by.

    Its text of a pointer has none. An expression that may call something is not evaluated twice.
    """
    if language != "go":
        return {}
    return {at: f"uintptr(&(*{one}))" for at, one in enumerate(expressions) if _PATH.fullmatch(one)}


def parse_go_address(text: str) -> str:
    """Return the identity that delve's text of an address is; "" for what is no pointer."""
    found = _GO_ADDRESS.match(text)
    return f"{int(found[1]):#x}" if found is not None else ""


def split_mark(text: str) -> tuple[str, str, str]:
    """Split a value's text from its object's identity, and from its departure from a pattern.

    The identity of a compiled program's pointer is the address.
    """
    if text.startswith(_MARK) and text.count(_MARK) > 2:  # noqa: PLR2004 - around two parts
        _, number, departure, rest = text.split(_MARK, 3)
        return rest, number if number != "0" else "", departure
    found = _POINTER.match(text)
    address = int(found[1], 16) if found is not None else 0
    return text, f"{address:#x}" if address else "", _departure_in(text)


def _departure_in(text: str) -> str:
    """Return the element by which the numbers of an array's text leave their pattern, if shown."""
    found = _NUMBERS.match(text)
    numbers = [int(one) for one in found[1].split(",")] if found is not None else []
    steps = [after - before for before, after in pairwise(numbers)]
    if len(set(steps[: _STARTS - 1])) != 1:
        return ""
    at = next((at for at, step in enumerate(steps, 1) if step != steps[0]), 0)
    return f"[{at}] = {numbers[at]} after {numbers[at - 1]}" if at else ""


class ObjectNumbers:
    """Numbers identities in the order in which they come, for all columns alike."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self.is_full = False

    def number_of(self, identity: str) -> int:
        """Return the number of an identity; 0 without one, or once there are many."""
        if identity not in self._known and len(self._known) >= OBJECTS_MAX:
            self.is_full = True
            return 0
        return self._known.setdefault(identity, len(self._known) + 1) if identity else 0


class ObjectHits:
    """The hits at which one column was which object."""

    def __init__(self) -> None:
        self._spans: dict[int, list[list[int]]] = {}
        self._counts: dict[int, int] = {}
        self._last = 0

    def add_hit(self, hit: int, number: int) -> None:
        """Add a hit at which the column was an object."""
        if not number:
            self._last = 0
            return
        self._counts[number] = self._counts.get(number, 0) + 1
        spans = self._spans.setdefault(number, [])
        if spans and number == self._last:
            spans[-1][1] = hit
        elif len(spans) < _SPANS_MAX:
            spans.append([hit, hit])
        self._last = number

    @property
    def total(self) -> int:
        """The number of objects."""
        return len(self._counts)

    def to_objects(self) -> Sequence[ProbeObject]:
        """Return the objects that came most often, in the order of their numbers."""
        often = sorted(self._counts, key=lambda one: (-self._counts[one], one))[:_SHOWN_MAX]
        return tuple(
            ProbeObject(
                number,
                self._counts[number],
                tuple((first, last) for first, last in self._spans[number]),
            )
            for number in sorted(often)
        )
