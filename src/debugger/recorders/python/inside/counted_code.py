"""Puts a counter of calls into the code of a function (CPython 3.11 to 3.13).

The counter is an iterator, of which each call takes one. That costs four instructions, which call
nothing and cannot fail, where a callback of sys.monitoring costs more than most functions do. The
variables, positions and handlers of the code stay. The number of the call can be kept in a
variable.
"""

from __future__ import annotations

import opcode
import sys
from itertools import repeat
from opcode import opmap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

_VERSIONS = ((3, 11), (3, 12), (3, 13))  # whose bytecode is known
_RESUME = opmap.get("RESUME", -1)
_ENTRY = 3  # the bits of RESUME's argument that are 0 where a function begins
_BYTE = 8
_LAST = 255  # of a number in one byte
_NO_LOCATION = 0xF8  # an entry of a location table, without its size
_ENTRY_UNITS = 8  # of such an entry
_BEGINS = 0x80  # of the first byte of an entry
_STACK = 2  # values that the counter has on the stack
_OPTIMIZED = 0x1
# Instructions of a variable, by its number; of pairs, by two numbers of four bits.
_PAIRED_OPS = frozenset(op for op in opcode.haslocal if opcode.opname[op].count("_FAST") > 1)
_VARIABLE_OPS = frozenset({*opcode.haslocal, *opcode.hasfree}) - _PAIRED_OPS
_PAIR_LAST = 15
_EXTENDED_ARG = bytes((opmap["EXTENDED_ARG"],))


class CallCounter(repeat):  # type: ignore[type-arg]
    """An iterator that knows how many were taken of it."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        """Leave nothing of us in code of the program that is sent to another process."""
        return repeat, (None,)


def make_counter() -> CallCounter:
    """Return a counter of which nothing was taken."""
    return CallCounter(None, sys.maxsize)


def read_counter(counter: CallCounter) -> int:
    """Return how many were taken of a counter."""
    return sys.maxsize - counter.__length_hint__()


def can_count() -> bool:
    """Return whether code of this interpreter can be given a counter, exactly."""
    has_lock = getattr(sys, "_is_gil_enabled", bool)() or sys.version_info < (3, 13)
    is_known = sys.implementation.name == "cpython" and sys.version_info[:2] in _VERSIONS
    return bool(is_known and has_lock)


def add_counter(
    code: CodeType, counter: CallCounter, tables: Any, numbers: Any = None, name: str = ""
) -> CodeType | None:
    """Return code that takes one of a counter at each call; None if its form is not known.

    Args:
        code: The code of a function, a generator or a coroutine.
        counter: What counts.
        tables: The definitions of `bytecode`.
        numbers: Another iterator, of which each call takes one as well.
        name: The variable of a function that gets what it gave.
    """
    known = code.co_nlocals
    if name and code.co_flags & _OPTIMIZED:
        code = _add_variable(code, name)
    text = code.co_code
    entry = text[::2].find(_RESUME)
    if entry < 0 or text[2 * entry + 1] & _ENTRY:
        return None
    body = entry + 1
    at = _find_location(code.co_linetable, body)
    if at < 0:
        return None
    constants = [*code.co_consts, counter]
    added = _take_one(len(constants) - 1, instruct("POP_TOP"))
    if numbers is not None:
        constants.append(numbers)
        has_room = code.co_nlocals > known
        keep = instruct("STORE_FAST", known) if has_room else instruct("POP_TOP")
        added += _take_one(len(constants) - 1, keep)
    units = len(added) // 2
    # All jumps are between instructions behind the counter.
    regions = [
        (
            first + units if first >= body else first,
            last + units if last >= body else last,
            (to + units if to >= body else to, depth, is_numbered),
        )
        for first, last, to, depth, is_numbered in tables.read_handlers(code.co_exceptiontable)
    ]
    made: CodeType = code.replace(
        co_code=text[: 2 * body] + added + text[2 * body :],
        co_consts=tuple(constants),
        co_linetable=code.co_linetable[:at] + no_locations(units) + code.co_linetable[at:],
        co_exceptiontable=tables.write_regions(regions),
        co_stacksize=code.co_stacksize + _STACK,
    )
    return made


def _take_one(constant: int, keep: bytes) -> bytes:
    """Return what takes one of an iterator, and keeps or drops it."""
    taken = keep + instruct("POP_TOP")
    return instruct("LOAD_CONST", constant) + instruct("FOR_ITER", len(taken) // 2) + taken


def _add_variable(code: CodeType, name: str) -> CodeType:
    """Return code with room for a variable behind its own.

    Variables that inner functions share are behind it, and get other numbers; if one of these has
    no room in its instruction, nothing is changed.
    """
    first = code.co_nlocals
    text = bytearray(code.co_code)
    if code.co_cellvars or code.co_freevars:
        for at in range(0, len(text), 2):
            found = _shift_variable(text[at], text[at + 1], first)
            is_long = text[at] in _VARIABLE_OPS and text[at - 2 : at - 1] == _EXTENDED_ARG
            if found > _LAST or is_long:
                return code
            text[at + 1] = found
    names = (*code.co_varnames, name)
    return code.replace(co_code=bytes(text), co_nlocals=first + 1, co_varnames=names)


def _shift_variable(op: int, arg: int, first: int) -> int:
    """Return an instruction's argument with one more variable before `first`; 256 if too large."""
    if op in _VARIABLE_OPS:
        return arg + (arg >= first)
    if op in _PAIRED_OPS:
        one, two = (number + (number >= first) for number in divmod(arg, _PAIR_LAST + 1))
        return one << 4 | two if max(one, two) <= _PAIR_LAST else _LAST + 1
    return arg


def _find_location(table: bytes, unit: int) -> int:
    """Return where the entry of a location table begins that begins with a unit; -1 for none."""
    at = passed = 0
    while passed < unit and at < len(table):
        passed += (table[at] & _ENTRY_UNITS - 1) + 1
        at += 1
        while at < len(table) and not table[at] & _BEGINS:
            at += 1
    return at if passed == unit else -1


def no_locations(units: int) -> bytes:
    """Return what a location table has of units of code that stand nowhere in the source."""
    full, rest = divmod(units, _ENTRY_UNITS)
    last = bytes((_NO_LOCATION | rest - 1,)) if rest else b""
    return bytes((_NO_LOCATION | _ENTRY_UNITS - 1,)) * full + last


def instruct(name: str, arg: int = 0) -> bytes:
    """Return the bytecode of an instruction, with its caches."""
    op = opmap[name]
    caches: Any = vars(opcode)["_inline_cache_entries"]  # by name since 3.13
    count = caches.get(name, 0) if isinstance(caches, dict) else caches[op]
    found = bytes((op, arg & (1 << _BYTE) - 1)) + bytes(2 * count)
    while arg >> _BYTE:
        arg >>= _BYTE
        found = bytes((opmap["EXTENDED_ARG"], arg & (1 << _BYTE) - 1)) + found
    return found
