"""Finds the locals of a C or C++ function that no instruction can have assigned yet.

The claim is made where it is certain, and nowhere else:

1. The unit is GCC's, without optimization: then an instruction writes to a variable only for a line
   at or behind the variable's declaration. Each variable has one location in the frame.
2. Nothing is inlined into the function, no function is nested in it, and the file has nothing that
   returns twice (setjmp).
3. Of all instructions that control can have passed on its way to the current one, each belongs to
   the function's file, and to a line before the declaration. Jumps are followed backwards: in a
   loop the body's own instructions come before themselves. A place that nothing leads to is the
   beginning of an exception handler, or a jump table's target: what came before it is not known.

Rust's locals come into scope when they are assigned, and delve hides those of later lines.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from debugger.model.program import Instruction
from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf import location_lists
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.debug_entries import DebugEntry, DebugUnit
from debugger.symbols.dwarf.line_program import END

CODE_MAX: Final = 1 << 14  # bytes of a function; a larger one is not examined
_GCC: Final = re.compile(r"GNU C(?:\+\+)?\d* ")
_OPTIMIZED: Final = re.compile(r" -O(?!0\b)|-flto")
_RETURNS_TWICE: Final = (b"setjmp", b"getcontext", b"vfork")
_JUMP: Final = re.compile(r"(?:notrack |bnd )*(?P<name>j\w+|loop\w*)\s+(?P<to>.*)")
_TARGET: Final = re.compile(r"(?:0x)?(?P<address>[0-9a-f]+)\b")
_ENDS: Final = re.compile(r"(?:rep\w* |bnd |notrack )*(?:ret\w*|iret\w*|ud[012]|hlt)\b")
_RETURN: Final = re.compile(r"(?:rep\w* |bnd |notrack )*ret")
_TRAP: Final = re.compile(r"int3|int\s+\$?0?x?3\b|xbegin|syscall|sysret\w*|\(bad\)|<unknown>")
_CALL: Final = re.compile(r"(?:notrack |bnd )*call")
_HIGHEST: Final = 1 << 62
_UNIT_MAX: Final = 2 << 20  # bytes of a unit's entries: reading these takes half a second


class PossibleLocals(Struct, frozen=True):
    """The locals of a function whose declaration is not before the current line, with its lines.

    Addresses are link-time.
    """

    low: int
    high: int
    declared: Mapping[str, int]
    # The line of each address with a row; 0 for what is not the function's own file.
    rows: Sequence[tuple[int, int]]
    # The function may have exception handlers, behind its last instruction, the return.
    has_handlers: bool = False

    def shift_by(self, bias: int) -> PossibleLocals:
        """Return the same for the addresses where the file was loaded."""
        rows = [(address + bias, line) for address, line in self.rows]
        return msgspec.structs.replace(self, low=self.low + bias, high=self.high + bias, rows=rows)


def find_possible_locals(image: BinaryImage, address: int, line: int) -> PossibleLocals | None:
    """Return the locals that may not be assigned yet at an address; None where none is certain."""
    unit = image.units.unit_at_address(address) if image.has_debug else None
    if unit is None or unit.end - unit.offset > _UNIT_MAX or not _is_plain_unit(image, unit):
        return None
    functions = image.functions.functions_at(address)
    if len(functions) != 1 or functions[0].is_inlined or len(functions[0].ranges) != 1:
        return None
    low, high = functions[0].ranges[0]
    entry = image.units.find_entry(functions[0].entry)
    if entry is None or high - low > CODE_MAX or functions[0].address != low:
        return None
    is_cpp = unit.top_entry.get_text(dw.AT_PRODUCER).startswith("GNU C++")
    # GNU C has nested functions; in C++ these are the members of local classes and lambdas.
    excluded = {dw.TAG_INLINED} if is_cpp else {dw.TAG_INLINED, dw.TAG_SUBPROGRAM}
    if any(one.tag in excluded for one in entry.walk_descendants()):
        return None
    rows = _function_rows(image, unit, (low, high), functions[0].file)
    last = max((number for _, number in rows), default=0)
    declared: dict[str, int] = {}
    known: set[str] = set()
    for one in image.scopes.local_variables(functions[0].entry, address):
        holder = one.entry.find_with_attribute(dw.AT_DECL_FILE)
        number = holder.get_number(dw.AT_DECL_FILE) if holder is not None else None
        is_here = number is not None and image.lines.file_of(unit.offset, number) == (
            functions[0].file
        )
        if one.name in known:
            declared.pop(one.name, None)  # which of the two a debugger shows is not known
        elif (
            is_here
            and max(line, functions[0].line) <= one.line <= last
            and _is_plain_local(one.entry)
        ):
            declared[one.name] = one.line
        known.add(one.name)
    return PossibleLocals(low, high, declared, rows, is_cpp) if declared else None


def _is_plain_unit(image: BinaryImage, unit: DebugUnit) -> bool:
    """Tell whether a unit is GCC's, and neither optimized nor in a file with setjmp."""
    producer = unit.top_entry.get_text(dw.AT_PRODUCER)
    # Without its own options in it (-gno-record-gcc-switches) the level is not known.
    if not _GCC.match(producer) or " -g" not in producer or _OPTIMIZED.search(producer):
        return False
    names = image.binary.read_section(".dynstr")
    if image.binary.interpreter is None:
        names += image.binary.read_section(".strtab")
    return not any(one in names for one in _RETURNS_TWICE)


def _is_plain_local(entry: DebugEntry) -> bool:
    """Tell whether an entry is a variable with one location in the frame, as without -O."""
    if entry.tag != dw.TAG_VARIABLE or location_lists.is_listed(entry):
        return False
    found = location_lists.location_operations(entry, 0)
    return len(found) == 1 and found[0].name == "fbreg"


def _function_rows(
    image: BinaryImage, unit: DebugUnit, span: tuple[int, int], file: str
) -> list[tuple[int, int]]:
    rows = image.lines.unit_rows(unit.offset)
    found: list[tuple[int, int]] = []
    for number in range(bisect.bisect_left(rows.address, span[0]), len(rows)):
        if rows.address[number] >= span[1]:
            break
        if rows.flags[number] & END:
            continue
        is_own = image.lines.file_of(unit.offset, rows.file[number]) == file
        found.append((rows.address[number], rows.line[number] if is_own else 0))
    return found


def find_unassigned(
    possible: PossibleLocals, instructions: Sequence[Instruction], address: int, *, is_caller: bool
) -> frozenset[str]:
    """Return the locals that no instruction before an address can have assigned.

    The instructions are all of the function's. With `is_caller` the address is a return address:
    the call before it has not returned.
    """
    passed = _passed_before(possible, instructions, address, is_caller=is_caller)
    if passed is None:
        return frozenset()
    lines: list[int] = []
    for one in passed:
        lines += _lines_at(possible.rows, one)
    if 0 in lines:
        return frozenset()
    last = max(lines, default=0)
    return frozenset(name for name, line in possible.declared.items() if line > last)


def _lines_at(rows: Sequence[tuple[int, int]], address: int) -> list[int]:
    """Return the lines of the rows that an address is in; 0 where there is none."""
    end = bisect.bisect_right(rows, (address, _HIGHEST))
    if not end:
        return [0]
    start = bisect.bisect_left(rows, (rows[end - 1][0], 0))
    return [line for _, line in rows[start:end]]


def _passed_before(
    possible: PossibleLocals, instructions: Sequence[Instruction], address: int, *, is_caller: bool
) -> set[int] | None:
    """Return the instructions from which control can have come to an address; None: not known."""
    own = [one for one in instructions if possible.low <= one.address < possible.high]
    order = {one.address: number for number, one in enumerate(own)}
    address = _address_of_call(own, address) if is_caller else address
    # A trap is a breakpoint that a debugger has not hidden, or code that was read wrongly.
    is_readable = address in order and own[0].address == possible.low and len(order) == len(own)
    if not is_readable or any(_TRAP.match(one.text.strip()) for one in own):
        return None
    before, is_known = _predecessors(own, order)
    if not is_known:
        return None
    passed: set[int] = set()
    waiting = [address]
    while waiting:
        one = waiting.pop()
        if not before[one] and one != possible.low:
            return None
        fresh = [each for each in before[one] if each not in passed]
        passed.update(fresh)
        waiting += fresh
    if possible.has_handlers:
        # GCC puts them behind the return; from there control can have come back.
        end = next((one.address for one in own if _RETURN.match(one.text.strip())), possible.low)
        if max([address, *passed]) > end:
            return None
    return passed


def _address_of_call(own: Sequence[Instruction], address: int) -> int:
    """Return the address of the call that returns to an address; the address itself without one."""
    for one, after in itertools.pairwise(own):
        if after.address == address and _CALL.match(one.text.strip()):
            return one.address
    return address


def _predecessors(
    own: Sequence[Instruction], order: Mapping[int, int]
) -> tuple[Mapping[int, list[int]], bool]:
    """Return where control may come from to each instruction; False: some jump is not known."""
    before: defaultdict[int, list[int]] = defaultdict(list)
    for number, one in enumerate(own):
        text = one.text.strip()
        jump = _JUMP.match(text)
        if jump is not None:
            target = _TARGET.match(jump["to"].strip())
            if target is None:
                return before, False  # a jump table
            to = int(target["address"], 16)
            if to in order:
                before[to].append(one.address)
            elif own[0].address < to <= own[-1].address:
                return before, False  # into the middle of an instruction
        goes_on = not (_ENDS.match(text) or (jump is not None and jump["name"].startswith("jmp")))
        if goes_on and number + 1 < len(own):
            before[own[number + 1].address].append(one.address)
    return before, True
