"""Finds the locals of a C or C++ function that no instruction can have assigned yet.

The claim is made where it is certain, and nowhere else:

1. The unit is GCC's, without optimization: each variable has one location in the frame, and an
   instruction writes to it only for a line at or behind its declaration.
2. Nothing is inlined into the function, no function is nested in it, and it calls nothing that
   returns twice (setjmp).
3. Of all instructions that control can have passed on its way to the current one, each belongs to
   the function's file, and to a line before the declaration; or none of them writes to the
   variable's bytes in the frame, or takes their address (`int n;`, assigned by a later statement).
   Jumps are followed backwards: in a loop the body's own instructions come before themselves. A
   place that nothing leads to is the beginning of an exception handler, or a jump table's target:
   what came before it is not known.

Rust's locals come into scope when they are assigned, and delve hides those of later lines.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from debugger.model.program import Instruction
from debugger.symbols.dwarf import dwarf_codes as dw
from debugger.symbols.dwarf import location_lists
from debugger.symbols.dwarf.binary_image import BinaryImage
from debugger.symbols.dwarf.debug_entries import DebugEntry, DebugUnit
from debugger.symbols.dwarf.debug_types import TypeKind
from debugger.symbols.dwarf.frame_slots import FrameSlot, changed_slots, has_frame_pointer
from debugger.symbols.dwarf.line_program import END

if TYPE_CHECKING:  # it disassembles, with a package that only the extra `frida` brings
    from debugger.symbols.dwarf.scope_variables import DebugVariable

CODE_MAX: Final = 1 << 14  # bytes of a function; a larger one is not examined
_GCC: Final = re.compile(r"GNU C(?:\+\+)?\d* ")
_OPTIMIZED: Final = re.compile(r" -O(?!0\b)|-flto")
_RETURNS_TWICE: Final = ("setjmp", "getcontext", "vfork")
_JUMP: Final = re.compile(r"(?:notrack |bnd )*(?P<name>j\w+|loop\w*)\s+(?P<to>.*)")
_TARGET: Final = re.compile(r"(?:0x)?(?P<address>[0-9a-f]+)\b")
_ENDS: Final = re.compile(r"(?:rep\w* |bnd |notrack )*(?:ret\w*|iret\w*|ud[012]|hlt)\b")
_RETURN: Final = re.compile(r"(?:rep\w* |bnd |notrack )*ret")
_TRAP: Final = re.compile(r"int3|int\s+\$?0?x?3\b|xbegin|syscall|sysret\w*|\(bad\)|<unknown>")
_CALL: Final = re.compile(r"(?:notrack |bnd )*call\w*\s+(?P<to>.*)")
_HIGHEST: Final = 1 << 62
# The call frame's address, from the frame pointer on: between them are the saved frame pointer and
# the return address (System V ABI for x86-64, 3.2.2).
_CFA: Final = 16
_INDEXED: Final = {TypeKind.ARRAY, TypeKind.STRUCT, TypeKind.UNION}
_UNIT_MAX: Final = 2 << 20  # bytes of a unit's entries: reading these takes half a second


class PossibleLocals(Struct, frozen=True):
    """The locals of a function that may not be assigned yet, with the function's lines.

    Addresses are link-time.
    """

    low: int
    high: int
    declared: Mapping[str, int]  # lines, of those that are declared at the current line or later
    slots: Mapping[str, FrameSlot]
    # The line of each address with a row; 0 for what is not the function's own file.
    rows: Sequence[tuple[int, int]]
    # The function may have exception handlers, behind its last instruction, the return.
    has_handlers: bool = False
    # Entries of the procedure linkage table for functions that return twice.
    returning_twice: frozenset[int] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """The names of the locals."""
        return frozenset(self.declared.keys() | self.slots.keys())

    def shift_by(self, bias: int) -> PossibleLocals:
        """Return the same for the addresses where the file was loaded."""
        return msgspec.structs.replace(
            self,
            low=self.low + bias,
            high=self.high + bias,
            rows=[(address + bias, line) for address, line in self.rows],
            returning_twice=frozenset(one + bias for one in self.returning_twice),
        )


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
    file = functions[0].file
    rows = _function_rows(image, unit, (low, high), file)
    first, last = max(line, functions[0].line), max((number for _, number in rows), default=0)
    locals_here = _plain_locals(image.scopes.local_variables(functions[0].entry, address))
    declared = {
        one.name: one.line
        for one in locals_here
        if first <= one.line <= last and _is_in_file(image, unit, one, file)
    }
    slots = _frame_slots(entry, address, locals_here)
    if not declared and not slots:
        return None
    twice = frozenset(
        at
        for at, name in image.binary.linkage_entries.items()
        if any(one in name for one in _RETURNS_TWICE)
    )
    return PossibleLocals(low, high, declared, slots, rows, is_cpp, twice)


def _plain_locals(found: Sequence[DebugVariable]) -> list[DebugVariable]:
    """Leave out those of one name: which of them a debugger shows is not known."""
    names = [one.name for one in found]
    return [one for one in found if names.count(one.name) == 1 and _is_plain_local(one.entry)]


def _frame_slots(
    function: DebugEntry, address: int, found: Sequence[DebugVariable]
) -> dict[str, FrameSlot]:
    bases = location_lists.location_operations(function, address, dw.AT_FRAME_BASE)
    if [one.name for one in bases] != ["call_frame_cfa"]:
        return {}
    return {
        one.name: FrameSlot(
            location_lists.location_operations(one.entry, address)[0].first + _CFA,
            one.type.size,
            one.type.kind in _INDEXED,
        )
        for one in found
        if one.type.size
    }


def _is_in_file(image: BinaryImage, unit: DebugUnit, one: DebugVariable, file: str) -> bool:
    holder = one.entry.find_with_attribute(dw.AT_DECL_FILE)
    number = holder.get_number(dw.AT_DECL_FILE) if holder is not None else None
    return number is not None and image.lines.file_of(unit.offset, number) == file


def _is_plain_unit(image: BinaryImage, unit: DebugUnit) -> bool:
    """Return whether a unit is GCC's, not optimized, and calls setjmp, if at all, by a table."""
    producer = unit.top_entry.get_text(dw.AT_PRODUCER)
    # Without its own options in it (-gno-record-gcc-switches) the level is not known.
    if not _GCC.match(producer) or " -g" not in producer or _OPTIMIZED.search(producer):
        return False
    is_linked = image.binary.interpreter is not None or image.binary.has_section(".dynsym")
    names = image.binary.read_section(".strtab")
    return is_linked or not any(one.encode() in names for one in _RETURNS_TWICE)


def _is_plain_local(entry: DebugEntry) -> bool:
    """Return whether an entry is a variable with one location in the frame, as without -O."""
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
    own = [one for one in instructions if possible.low <= one.address < possible.high]
    if _calls_twice_returning(possible, own):
        return frozenset()
    passed = _passed_before(possible, own, address, is_caller=is_caller)
    if passed is None:
        return frozenset()
    return _before_declaration(possible, passed) | _never_written(possible, own, passed)


def _before_declaration(possible: PossibleLocals, passed: Iterable[int]) -> frozenset[str]:
    lines: list[int] = []
    for one in passed:
        lines += _lines_at(possible.rows, one)
    if 0 in lines:
        return frozenset()
    last = max(lines, default=0)
    return frozenset(name for name, line in possible.declared.items() if line > last)


def _never_written(
    possible: PossibleLocals, own: Sequence[Instruction], passed: Container[int]
) -> frozenset[str]:
    if not has_frame_pointer([one.text for one in own]):
        return frozenset()
    changed = changed_slots((one.text for one in own if one.address in passed), possible.slots)
    return frozenset(possible.slots.keys() - changed) if changed is not None else frozenset()


def _calls_twice_returning(possible: PossibleLocals, own: Sequence[Instruction]) -> bool:
    """Return whether a function may call what returns twice."""
    if not possible.returning_twice:
        return False
    for one in own:
        call = _CALL.match(one.text.strip())
        target = _TARGET.match(call["to"].strip()) if call is not None else None
        if target is not None and int(target["address"], 16) in possible.returning_twice:
            return True
        if call is not None and "rip" in call["to"]:  # by a slot of the global offset table
            return True
    return False


def _lines_at(rows: Sequence[tuple[int, int]], address: int) -> list[int]:
    """Return the lines of the rows that an address is in; 0 where there is none."""
    end = bisect.bisect_right(rows, (address, _HIGHEST))
    if not end:
        return [0]
    start = bisect.bisect_left(rows, (rows[end - 1][0], 0))
    return [line for _, line in rows[start:end]]


def _passed_before(
    possible: PossibleLocals, own: Sequence[Instruction], address: int, *, is_caller: bool
) -> set[int] | None:
    """Return the instructions from which control can have come to an address; None: not known."""
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
