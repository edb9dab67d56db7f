"""Tells what an instruction that used watched memory did: load, store, or copy. Run inside gdb.

A write watchpoint of gdb reports changes alone. An access watchpoint reports loads, too, and
stores of the value that the memory has already: which of them it was, the instruction shows.
"""

from __future__ import annotations

import functools
import importlib
import re
from typing import Any

gdb: Any = importlib.import_module("gdb")

_FUNCTION_MAX = 64 << 10  # bytes that are disassembled
# In AT&T's order the last operand is the destination.
_MEMORY = re.compile(r"(?:%\w+:)?(?:-?0x[0-9a-f]+|-?\d+)?\([^)]*\)$|(?:%\w+:)?0x[0-9a-f]+$")
_LOADING = re.compile(
    r"v?u?comi|v?p?test|cmp(?!xchg)|bt[bwlq]?$|prefetch|nop|lea|i?mul|i?div|call|jmp|j[a-z]+$|fld|fi?ld"
    r"|fcom|fadd|fsub|fmul|fdiv|v?ptest|ret|ldmxcsr|push"
)
_COPYING = re.compile(r"_*(?:GI_+)?mem(?:p?cpy|move)")
_BEFORE = 32  # bytes in front of copied memory that are compared, too
_PREFIX = re.compile(r"^(?:(?:lock|rep[nz]?e?|bnd|notrack|data16|cs|ds|es|fs|gs)\s+)+")


def stores_to_memory(instruction: str) -> bool:
    """Return whether an instruction, in AT&T's syntax, stores to its memory operand."""
    plain = _PREFIX.sub("", instruction.partition("#")[0].split("<")[0].strip())
    name, _, operands = plain.partition(" ")
    last = re.split(r",(?![^(]*\))", operands.strip())[-1].strip()
    return _LOADING.match(name) is None and _MEMORY.match(last) is not None


@functools.lru_cache(maxsize=4096)
def is_store_before(pc: int) -> bool:
    """Return whether the instruction before an address stores: a watchpoint stops behind it."""
    first = _function_start(pc)
    if first is None or not 0 <= pc - first <= _FUNCTION_MAX:
        return False
    code = gdb.selected_inferior().architecture().disassemble(first, pc)
    before = [one for one in code if one["addr"] + one["length"] == pc]
    # A repeated instruction stops after each of its rounds.
    repeated = [one for one in code if one["addr"] == pc and one["asm"].startswith("rep")]
    return any(stores_to_memory(one["asm"]) for one in (*before, *repeated))


def _function_start(pc: int) -> int | None:
    text = gdb.execute(f"info symbol {pc:#x}", to_string=True)
    found = re.match(r"(.+?)(?: \+ (\d+))? (?:in section|of )", text)
    if found is not None:
        return pc - int(found[2] or 0)
    block = gdb.block_for_pc(pc)
    while block is not None and block.function is None:
        block = block.superblock
    return block.start if block is not None else None


def find_copied_memory(address: int, size: int) -> int:
    """Return the address that `memcpy` or `memmove` copies watched memory from; 0 where not known.

    Its loops advance both pointers alike, and return the begin of the destination in rax. What the
    registers say counts only if the bytes there are those that were written.
    """
    frame = gdb.newest_frame()
    if _COPYING.match(frame.name() or "") is None:
        return 0
    to, source, begin = (int(frame.read_register(one)) for one in ("rdi", "rsi", "rax"))
    start = max(address - _BEFORE, begin) if begin <= address else address
    inferior = gdb.selected_inferior()
    try:
        copied = bytes(inferior.read_memory(start, address + size - start))
    except gdb.error:
        return 0
    found = set()
    for distance in {source - to, source - begin}:
        try:
            is_same = bytes(inferior.read_memory(start + distance, len(copied))) == copied
        except (gdb.error, OverflowError):
            continue
        if is_same and distance:
            found.add(address + distance)
    return found.pop() if len(found) == 1 else 0
