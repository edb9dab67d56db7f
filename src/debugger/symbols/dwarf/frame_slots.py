"""Tells which variables in a frame x86-64 instructions write to, or take the address of.

It is for code without optimization, in which each variable has its own bytes below the frame
pointer. The instructions are texts of a disassembler, in AT&T's or Intel's syntax.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

_PREFIX: Final = re.compile(r"(?:(?:lock|rep\w*|bnd|notrack|data16)\s+)*")
_SET_UP: Final = (
    re.compile(r"push[q]?\s+%?rbp$"),
    re.compile(r"mov[q]?\s+(?:%rsp,\s*%rbp|rbp,\s*rsp)$"),
)
_RESTORE: Final = re.compile(r"pop[q]?\s+%?rbp$")
_ATT_MEMORY: Final = re.compile(r"(?P<offset>-?(?:0x[0-9a-f]+|\d+))?\((?P<registers>[^)]*)\)$")
_INTEL_MEMORY: Final = re.compile(r"(?P<size>\w+)?(?:\s+ptr)?\s*\[(?P<terms>[^\]]*)\]$")
_TERM: Final = re.compile(r"[+-]?[^+-]+")
_NUMBER: Final = re.compile(r"[+-]?(?:0x[0-9a-f]+|\d+)$")
_READS_ONLY: Final = re.compile(r"cmp(?!xchg)|test|push|call|jmp|v?u?comis|fld|fild|prefetch|nop")
_EXCHANGES: Final = re.compile(r"xchg|xadd|cmpxchg")
_OPERAND: Final = re.compile(r"\s*((?:[^,(\[]|\([^)]*\)|\[[^\]]*\])+)")
_INTEL_SIZES: Final = {"byte": 1, "word": 2, "dword": 4, "qword": 8, "tbyte": 10, "xmmword": 16}
_SUFFIXES: Final = {"b": 1, "w": 2, "l": 4, "q": 8}
_REGISTER_SIZES: Final = (
    (re.compile(r"%[xyz]mm"), 0),  # by its letter, below
    (re.compile(r"%(?:[abcd][lh]|[sd]il|[sb]pl|r\d+b)$"), 1),
    (re.compile(r"%(?:[abcd]x|[sd]i|r\d+w)$"), 2),
    (re.compile(r"%(?:e\w+|r\d+d)$"), 4),
    (re.compile(r"%r\w+$"), 8),
)
_VECTOR_SIZES: Final = {"x": 16, "y": 32, "z": 64}
_LARGEST: Final = 64  # bytes that one instruction writes


class FrameSlot(Struct, frozen=True):
    """The bytes of a variable: where they begin, from the frame pointer on, and how many they are.

    An `is_indexed` one, an array or a record, may be written to by a computed index.
    """

    offset: int
    size: int
    is_indexed: bool


class FrameAccess(Struct, frozen=True):
    """What an instruction does with the frame: writes `size` bytes, or takes an address (size 0).

    The index of an `is_indexed` one is not known.
    """

    offset: int
    size: int
    is_indexed: bool = False

    def may_change(self, slot: FrameSlot) -> bool:
        """Return whether it, or what gets the address, may write to a variable."""
        if self.is_indexed and slot.is_indexed:
            return True
        if not self.size:  # the end of an array is a place to begin, too
            return slot.offset <= self.offset <= slot.offset + slot.size
        return self.offset < slot.offset + slot.size and slot.offset < self.offset + self.size


def has_frame_pointer(texts: Sequence[str]) -> bool:
    """Return whether a function begins by setting up its frame pointer, as without optimization."""
    own = [one for one in map(_normalize, texts[:3]) if not one.startswith("endbr")]
    return len(own) > 1 and all(how.match(one) for how, one in zip(_SET_UP, own, strict=False))


def changed_slots(texts: Iterable[str], slots: Mapping[str, FrameSlot]) -> frozenset[str] | None:
    """Return the variables that some of the instructions may change; None where it is not known."""
    changed: set[str] = set()
    for text in texts:
        one = _normalize(text)
        if "rbp" not in one or _RESTORE.match(one) or any(how.match(one) for how in _SET_UP):
            continue
        access = parse_access(one)
        if access is None:
            return None
        if access:
            changed.update(name for name, slot in slots.items() if access[0].may_change(slot))
    return frozenset(changed)


def parse_access(text: str) -> tuple[FrameAccess, ...] | None:
    """Parse an instruction with the frame pointer in it: nothing if it reads; None if not known."""
    name, _, rest = text.partition(" ")
    operands = [one.strip() for one in _OPERAND.findall(rest)]
    is_att = "%" in rest
    found = [number for number, one in enumerate(operands) if "rbp" in one]
    if len(found) != 1:
        return None
    memory = _parse_memory(operands[found[0]], is_att=is_att)
    if memory is None:
        return None
    offset, is_indexed = memory
    if name.startswith("lea"):
        return (FrameAccess(offset, 0, is_indexed),)
    is_target = found[0] == (len(operands) - 1 if is_att else 0)
    if _READS_ONLY.match(name) or not (is_target or _EXCHANGES.match(name)):
        return ()
    size = _att_size(name, operands) if is_att else _intel_size(operands[found[0]])
    return (FrameAccess(offset, size, is_indexed),)


def _normalize(text: str) -> str:
    plain = text.partition(";")[0].partition("#")[0].partition("<")[0]
    return _PREFIX.sub("", " ".join(plain.lower().split()), count=1)


def _parse_memory(operand: str, *, is_att: bool) -> tuple[int, bool] | None:
    """Return the offset from the frame pointer, and whether an index comes to it."""
    if is_att:
        match = _ATT_MEMORY.match(operand)
        if match is None:
            return None
        base, *index = (one.strip() for one in match["registers"].split(","))
        if base != "%rbp" or "%rbp" in index:
            return None
        return int(match["offset"] or "0", 0), bool(index)
    match = _INTEL_MEMORY.match(operand)
    terms = _TERM.findall(match["terms"].replace(" ", "")) if match is not None else []
    if not terms or terms[0] != "rbp" or any("rbp" in one for one in terms[1:]):
        return None
    numbers = [int(one, 0) for one in terms[1:] if _NUMBER.match(one)]
    return sum(numbers), len(numbers) < len(terms) - 1


def _att_size(name: str, operands: Sequence[str]) -> int:
    for one in operands:
        for how, size in _REGISTER_SIZES:
            if how.match(one):
                return size or _VECTOR_SIZES[one[1]]
    if operands[0].startswith("$"):
        return _SUFFIXES.get(name[-1], _LARGEST)
    return 1 if name.startswith("set") else _LARGEST


def _intel_size(operand: str) -> int:
    return _INTEL_SIZES.get(operand.partition(" ")[0], _LARGEST)
