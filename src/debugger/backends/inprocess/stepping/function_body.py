"""Decodes a function's instructions, and finds the addresses that control may reach from them."""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, TypeAlias

import capstone
from capstone import x86_const

from debugger.symbols.dwarf.code_spans import CodeSpan
from debugger.symbols.dwarf.elf_file import LINKAGE_TABLES, demangle
from debugger.symbols.dwarf.line_program import CONTINUES, END, IS_STMT, LineRows
from debugger.symbols.dwarf.location_evaluation import MASK, Reader, UnreadableMemory
from debugger.symbols.dwarf.unwinding import LoadedBinaries, LoadedBinary

# The longest instruction of x86-64 (Intel SDM, volume 2, 2.3.11).
INSTRUCTION_MAX: Final = 15
# capstone 5 puts loop into its group of relative branches only, and not into that of jumps.
_LOOPS: Final = {"loop", "loope", "loopne"}
# hlt is privileged, the others raise by definition: what follows is not reached by itself.
_TRAPS: Final = {"ud0", "ud1", "ud2", "hlt", "int3"}


class ControlFlow(Enum):
    """Says how an instruction changes the flow of control."""

    ON = "on"
    CALL = "call"
    JUMP = "jump"
    BRANCH = "branch"
    RETURN = "return"
    TRAP = "trap"


@dataclass(frozen=True, slots=True)
class TargetPlace:
    """Describes where an indirect call or jump finds its target: a register, or memory."""

    register: str = ""
    base: str = ""
    index: str = ""
    scale: int = 1
    offset: int = 0
    is_memory: bool = False


@dataclass(frozen=True, slots=True)
class DecodedInstruction:
    """Describes an instruction; `target` is where it leads, or `place` is where to read that."""

    address: int
    size: int
    flow: ControlFlow
    text: str
    target: int | None = None
    place: TargetPlace | None = None

    @property
    def next_address(self) -> int:
        """The address of the next instruction in memory."""
        return self.address + self.size


def _make_decoder() -> Any:
    one = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    one.detail = True
    return one


_DECODER: Final = _make_decoder()


def decode_instruction(code: bytes, address: int) -> DecodedInstruction | None:
    """Decode the instruction at the beginning of `code`; None where there is none."""
    # A step asks three things of an instruction: does control go on behind it, where else may
    # it go, and is that a call. So capstone's groups are reduced to six kinds of flow:
    #
    # - ON: to the next instruction. BRANCH: there or to the next one. JUMP: there alone.
    # - CALL: to the next one, after a function has run. RETURN: out of the function. TRAP:
    #   nowhere.
    #
    # An immediate operand is the target itself, as capstone adds rip to it. Any other operand
    # is a `TargetPlace`, whose value is known only when the thread is at the instruction
    # (`find_target`): jump tables, virtual calls, calls through the global offset table.
    one = next(_DECODER.disasm(code[:INSTRUCTION_MAX], address, 1), None)
    if one is None:
        return None
    flow = _control_flow(one)
    text = f"{one.mnemonic} {one.op_str}".strip()
    if flow not in {ControlFlow.CALL, ControlFlow.JUMP, ControlFlow.BRANCH} or not one.operands:
        return DecodedInstruction(address, one.size, flow, text)
    operand = one.operands[0]
    if operand.type == x86_const.X86_OP_IMM:
        return DecodedInstruction(address, one.size, flow, text, target=operand.imm & MASK)
    return DecodedInstruction(address, one.size, flow, text, place=_target_place(one, operand))


def _control_flow(one: Any) -> ControlFlow:
    groups = set(one.groups)
    # The last word: prefixes such as `bnd`, `notrack` and `rep` come before it.
    name = one.mnemonic.split()[-1]
    if name in _TRAPS:
        return ControlFlow.TRAP
    if capstone.CS_GRP_CALL in groups:
        return ControlFlow.CALL
    if capstone.CS_GRP_RET in groups or capstone.CS_GRP_IRET in groups:
        return ControlFlow.RETURN
    # Before the group: CS_GRP_JUMP contains conditional jumps as well.
    if name == "jmp":
        return ControlFlow.JUMP
    if capstone.CS_GRP_JUMP in groups or name in _LOOPS or name == "xbegin":
        return ControlFlow.BRANCH
    return ControlFlow.ON


def _target_place(one: Any, operand: Any) -> TargetPlace:
    if operand.type == x86_const.X86_OP_REG:
        return TargetPlace(register=one.reg_name(operand.reg))
    memory = operand.mem
    base = one.reg_name(memory.base) if memory.base else ""
    offset = memory.disp
    # rip is the address behind this instruction, which is known, so it becomes part of the
    # offset.
    if base == "rip":
        base, offset = "", offset + one.address + one.size
    index = one.reg_name(memory.index) if memory.index else ""
    # capstone's name for "no index" in a SIB byte.
    if index == "riz":
        index = ""
    return TargetPlace("", base, index, memory.scale, offset, is_memory=True)


def find_target(place: TargetPlace, registers: Mapping[str, int], read: Reader) -> int:
    """Compute where an indirect call or jump leads, with the registers before it.

    Raises:
        KeyError: A register of the operand is not among them.
        UnreadableMemory: The target is in memory that cannot be read.
    """
    if not place.is_memory:
        return registers[place.register]
    at = place.offset
    if place.base:
        at += registers[place.base]
    if place.index:
        at += registers[place.index] * place.scale
    return int.from_bytes(read(at & MASK, 8), "little")


# A line of a file, by its number in the unit's table; None where code has no line.
Line: TypeAlias = "tuple[int, int] | None"
Chain: TypeAlias = "tuple[int, ...]"


@dataclass(frozen=True, slots=True)
class LineRow:
    """Describes the code of one line from an address on."""

    address: int
    line: Line
    is_stmt: bool


@dataclass(frozen=True)
class FunctionBody:
    """Describes one function in memory; all addresses are run-time ones."""

    module: LoadedBinary | None
    name: str
    # Its offset in .debug_info; 0 without debug information.
    entry: int
    start: int
    behind_prologue: int
    ranges: tuple[tuple[int, int], ...]
    # By address, one for each; none without lines.
    rows: Sequence[LineRow] = ()
    # The inlined functions in it, outer before inner.
    copies: Sequence[CodeSpan] = ()
    # The instructions that were decoded so far: a loop of steps reads the same lines again
    # and again.
    known: dict[int, DecodedInstruction | None] = field(
        default_factory=dict, compare=False, repr=False
    )

    @property
    def load_bias(self) -> int:
        """The difference between run-time addresses and the binary's own."""
        return self.module.load_bias if self.module is not None else 0

    @property
    def has_lines(self) -> bool:
        """Whether any of its code has a line."""
        return any(row.line is not None for row in self.rows)

    def contains_address(self, address: int) -> bool:
        """Return whether an address is in its code."""
        return any(low <= address < high for low, high in self.ranges)

    def row_at(self, address: int) -> LineRow | None:
        """Return the row that contains an address."""
        number = bisect.bisect_right(self.rows, address, key=lambda one: one.address) - 1
        return self.rows[number] if number >= 0 else None

    def enclosing_inlined(self, address: int) -> list[CodeSpan]:
        """List the inlined copies around an address, the outermost first."""
        own = address - self.load_bias
        return [one for one in self.copies if one.low <= own < one.high]

    # By entry and not by name: a function may be inlined twice in one line, and both are
    # calls.
    def inline_chain(self, address: int) -> Chain:
        """Return the inlined copies around an address, by the offsets of their entries."""
        return tuple(one.entry for one in self.enclosing_inlined(address))

    def count_starting(self, address: int) -> int:
        """Count the innermost copies that begin at an address: they are about to be called."""
        count = 0
        # As in gdb, a stop at the first address of an inlined copy is shown at its call, not
        # in it.
        for one in reversed(self.enclosing_inlined(address)):
            if one.low + self.load_bias != address:
                break
            count += 1
        return count

    def line_at(self, address: int, *, hidden: int = 0) -> Line:
        """Return the line of an address, in the frame outside of so many inlined ones."""
        if hidden:
            # The call site of the outermost copy that is hidden is the line of the frame
            # around it.
            outer = self.enclosing_inlined(address)[-hidden]
            return outer.call_file, outer.call_line
        row = self.row_at(address)
        return row.line if row is not None else None

    def instruction_at(self, address: int, read: Reader) -> DecodedInstruction | None:
        """Decode the instruction at an address."""
        if address not in self.known:
            self.known[address] = decode_instruction(code_at(self.module, address, read), address)
        return self.known[address]


def code_at(module: LoadedBinary | None, address: int, read: Reader) -> bytes:
    """Read the code at an address, from the file where there is a file."""
    # From the file, because in memory there may be int3 of ours, and Frida's hooks.
    # Fewer bytes than the longest instruction may be left before the end.
    for size in range(INSTRUCTION_MAX, 0, -1):
        if module is not None:
            found = module.image.binary.read_at(address - module.load_bias, size)
            if found is not None:
                return found
            continue
        try:
            return read(address, size)
        except UnreadableMemory:
            continue
    return b""


class FunctionBodies:
    """Builds the description of each function once."""

    def __init__(self) -> None:
        self._known: list[FunctionBody] = []

    def body_at(self, address: int, modules: LoadedBinaries) -> FunctionBody:
        """Return the function around an address; unknown code is a function of one byte."""
        module = modules.module_at(address)
        for one in self._known:
            if one.module == module and one.contains_address(address):
                return one
        found = _read_body(address, module)
        # Code without a module may be a JIT's, and other code the next time.
        if module is not None:
            self._known.append(found)
        return found


# Three levels, from the best known: a function of the debug information, with all of its
# ranges (GCC moves unlikely parts to .text.unlikely); a symbol with a size, without lines; a
# single byte, so that a step at least knows that it has left it.
def _read_body(address: int, module: LoadedBinary | None) -> FunctionBody:
    if module is None:
        return FunctionBody(None, "", 0, address, address, ((address, address + 1),))
    image, bias, own = module.image, module.load_bias, address - module.load_bias
    unit = image.units.unit_at_address(own) if image.has_debug else None
    if unit is not None:
        spans = image.lines.spans_at(unit.offset, own)
        outermost = [one for one in spans if not one.depth and not one.block]
        span = next((one for one in outermost if one.low <= own < one.high), None)
        if span is not None:
            # One entry may have several ranges; all spans of it have the same `entry`.
            parts = [(one.low, one.high) for one in outermost if one.entry == span.entry]
            # Blocks are spans, too, and no frames: only inlined copies count.
            inner = [
                one
                for one in spans
                if one.depth and not one.block and any(low <= one.low < high for low, high in parts)
            ]
            return FunctionBody(
                module,
                span.name,
                span.entry,
                span.first + bias,
                image.lines.prologue_end(unit.offset, span) + bias,
                tuple((low + bias, high + bias) for low, high in parts),
                line_rows(image.lines.unit_rows(unit.offset), parts, bias),
                sorted(inner, key=lambda one: one.depth),
            )
    symbol = image.symbol_at(own)
    if symbol is None or not symbol.size:
        return FunctionBody(module, "", 0, address, address, ((address, address + 1),))
    start = symbol.address + bias
    return FunctionBody(module, symbol.name, 0, start, start, ((start, start + symbol.size),))


def line_rows(table: LineRows, parts: Sequence[tuple[int, int]], bias: int) -> tuple[LineRow, ...]:
    """List the rows of ranges of code, one for each address: of several the last statement.

    A row that continues a line with parts is no row of its own, as for gdb.
    """
    found: dict[int, LineRow] = {}
    for low, high in parts:
        at = bisect.bisect_left(table.address, low)
        if at and (at == len(table) or table.address[at] > low):
            at -= 1  # a row that began before holds there
        for number in range(at, len(table)):
            address = table.address[number]
            if address >= high:
                break
            flags = table.flags[number]
            # A step that ended there would stop twice in one line.
            if flags & CONTINUES and address > low:
                continue
            # Line 0 is code that belongs to no line (DWARF 5, 6.2.2): a step goes through it.
            line = (table.file[number], table.line[number]) if table.line[number] else None
            is_stmt = bool(flags & IS_STMT) and not flags & END
            one = LineRow(address + bias, None if flags & END else line, is_stmt)
            before = found.get(one.address)
            # Compilers give several rows to one address; the last one is_stmt among them is
            # the line that gdb shows.
            if before is not None and before.is_stmt and not one.is_stmt:
                continue
            found[one.address] = one
    return tuple(found[address] for address in sorted(found))


# From a call through its entry in .plt to the function there may be a thunk or two in between
# (C++ this-adjusting thunks, `jmp` wrappers); anything longer is taken for code.
_STUBS_MAX: Final = 4
# An entry of .plt.sec is endbr64 and a jump, a thunk an addition or two before it.
_INSTRUCTIONS_MAX: Final = 8
_JUMP: Final = 5  # the bytes of a jump


@dataclass(frozen=True, slots=True)
class CallDestination:
    """Describes where a call leads, and the function there.

    A hooked function returns to Frida and not to its caller, so no step goes into it.
    """

    address: int
    body: FunctionBody
    is_hooked: bool = False

    @property
    def can_be_entered(self) -> bool:
        """Whether a step may end there."""
        return self.body.has_lines and not self.is_hooked

    @property
    def body_address(self) -> int:
        """The address where a step into the function ends: behind its prologue."""
        # A tail call or a thunk may lead into the middle, where there is no prologue any
        # more.
        body = self.body
        return body.behind_prologue if self.address == body.start else self.address

    @property
    def name(self) -> str:
        """The function's name, as the source writes it."""
        return demangle(self.body.name)


def find_destination(
    address: int, modules: LoadedBinaries, bodies: FunctionBodies, read: Reader
) -> CallDestination:
    """Follow a call's target through procedure linkage tables and thunks to a function."""
    # A function with lines is the end. One without lines may be a stub; where no jump leads
    # out of it within a few instructions, it is a function that is stepped over.
    for _ in range(_STUBS_MAX):
        body = bodies.body_at(address, modules)
        if body.has_lines:
            break
        further = _stub_target(address, modules, read)
        if further is None:
            break
        address = further
    body = bodies.body_at(address, modules)
    return CallDestination(address, body, body.has_lines and _is_hooked(address, body.module, read))


def _is_hooked(address: int, module: LoadedBinary | None, read: Reader) -> bool:
    """Return whether the agent has changed the beginning of a function of the C library."""
    # The agent hooks fork, execve, _exit, sigaction and the like (agent/65, agent/70), all of
    # them in the C library. Interceptor replaces the return address, so a mark at the caller
    # would be missed.
    if module is None or not module.image.binary.path.name.startswith(("libc.so", "libc-")):
        return False
    original = module.image.binary.read_at(address - module.load_bias, _JUMP)
    try:
        return original is not None and read(address, _JUMP) != original
    except UnreadableMemory:
        return False


def _stub_target(address: int, modules: LoadedBinaries, read: Reader) -> int | None:
    """Return where a stub leads: a few plain instructions, and a jump out of it."""
    module = modules.module_at(address)
    for _ in range(_INSTRUCTIONS_MAX):
        one = decode_instruction(code_at(module, address, read), address)
        if one is None or one.flow not in {ControlFlow.ON, ControlFlow.JUMP}:
            return None
        if one.flow is ControlFlow.JUMP:
            return one.target if one.target is not None else _from_table(one, modules, read)
        address = one.next_address
    return None


def _from_table(one: DecodedInstruction, modules: LoadedBinaries, read: Reader) -> int | None:
    """Read a jump's target from the global offset table, resolved or not."""
    place = one.place
    if place is None or not place.is_memory or place.base or place.index:
        return None
    try:
        target = int.from_bytes(read(place.offset, 8), "little")
    except UnreadableMemory:
        return None
    module = modules.module_at(one.address)
    # With lazy binding an unresolved slot points back into the table of the same module. The
    # function is then found by name, as the loader will: by the relocation of the slot.
    if module is None or not _is_in_table(target, module):
        return target or None
    name = module.image.binary.imported_names.get(place.offset - module.load_bias)
    return _defined_address(name, modules) if name else None


def _is_in_table(address: int, module: LoadedBinary) -> bool:
    """Return whether an address is in a procedure linkage table, so the slot is unresolved."""
    own = address - module.load_bias
    found = (module.image.binary.sections.get(name) for name in LINKAGE_TABLES)
    return any(one is not None and 0 <= own - one.address < one.size for one in found)


def _defined_address(name: str, modules: LoadedBinaries) -> int | None:
    for module in modules:
        for one in module.image.symbols.find_by_name(name):
            if one.is_function and one.name == name:
                return one.address + module.load_bias
    return None
