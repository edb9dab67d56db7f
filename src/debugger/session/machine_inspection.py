"""Inspects the machine state of a stopped program: memory, registers, instructions, modules.

Each function is a job of the session and raises DebuggerError: WRONG_STATE or PROGRAM_EXITED unless
the program is stopped, NOT_SUPPORTED where the debugger cannot, EVALUATION_FAILED, NOT_FOUND.
"""

from __future__ import annotations

import itertools
import re

from msgspec import UNSET

from debugger.backends.abilities import (
    DisassemblyAbility,
    MemoryAbility,
    ModuleAbility,
    RegisterAbility,
)
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers, number_format
from debugger.model.debugger_words import one_line
from debugger.model.events import State
from debugger.model.location import near_names
from debugger.model.number_format import parse_integer
from debugger.model.program import EvaluationPurpose, Frame, Instruction, RegisterGroup
from debugger.model.statement import hint_instead
from debugger.session import inspection, source_files
from debugger.session.session import Session

INSTRUCTIONS_MAX = 1000
_COUNT = 20  # default number of instructions
_FUNCTION_MAX = 200  # instructions of a large function that are shown
_BACK_MAX = 1 << 16  # bytes before an address in which its function's start is searched
_CHUNK = 64
_PADDING = re.compile(r"int\s*(3|\$0x3)\b", re.IGNORECASE)
_MODULES_MAX = 200
_ADDRESS = re.compile(r"\*?(0[xX][0-9a-fA-F]{1,16})\Z")
_POINTER = re.compile(r"0x([0-9a-fA-F]{1,16})\b")
_REGISTER_MAX = 200  # characters of a register's value
_PAGE = 4096


async def address_of(session: Session, words: str) -> int:
    """Return the address of a user's text: `0x…`, `&VAR`, a pointer, or a function's name.

    Raises:
        DebuggerError: EVALUATION_FAILED for an expression without an address.
    """
    plain = _ADDRESS.match(words.strip())
    if plain:
        return int(plain[1], 16)
    one_line(words)
    frame = await inspection.frame_of(session)
    found = None
    referred = await _referenced_address(session, words, frame)
    if referred is not None:
        return referred
    # The value of a pointer, of `&VAR`, or of a function is an address; else the variable has one.
    # The value itself as an address, else the address of the variable.
    for expression in (words, f"&({words})"):
        try:
            value = await session.backend.evaluate(expression, frame, EvaluationPurpose.PRINT)
        except DebuggerError:
            if expression == words:
                raise
            break
        found = _POINTER.search(value.value) if _is_pointer(value.value, value.type) else None
        if found:
            return int(found[1], 16)
        register = parse_integer(value.value) if words.startswith("$") else None
        if register is not None and register >= 0:
            return register
    raise DebuggerError(
        ErrorCode.EVALUATION_FAILED,
        f"{words} is not an address, and has none",
        hint="debugger memory read '&VARIABLE', a pointer, or 0xADDR",
    )


async def _referenced_address(session: Session, words: str, frame: Frame) -> int | None:
    """Return the address of the object behind a reference, for `&REFERENCE`.

    lldb-dap 19 returns the address of the reference itself.
    """
    if not words.strip().startswith("&"):
        return None
    try:
        operand = words.strip().removeprefix("&")
        value = await session.backend.evaluate(operand, frame, EvaluationPurpose.PRINT)
    except DebuggerError:
        return None
    found = _POINTER.search(value.value) if value.type.rstrip().endswith("&") else None
    return int(found[1], 16) if found else None


def _is_pointer(value: str, kind: str) -> bool:
    """Distinguish a pointer's or a function's value from a number, a struct and a string."""
    if kind.rstrip().endswith(("*", "&", "pointer", "]")) or "*" in kind or "(" in kind:
        return True
    return value.lstrip("({ ").startswith("0x")


async def read_memory(
    session: Session, words: str, *, count: int | None, form: str
) -> answers.MemoryView:
    """Show memory; `count` is in items of the format."""
    session.require_state(State.STOPPED, to="read memory")
    shape = number_format.find_layout(form)
    size = (count if count is not None else shape.count) * shape.size
    if not 0 < size <= number_format.COUNT_MAX:
        most = number_format.COUNT_MAX // shape.size
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--count is 1 to {most} for {form}",
            hint="debugger memory read --help",
        )
    reader = session.backend.find_ability(MemoryAbility)
    address = await address_of(session, words)
    data = await reader.read_memory(address, size)
    if form == "string" and b"\0" in data:
        data = data[: data.index(b"\0") + 1]
        size = len(data)
    return answers.MemoryView(
        address=hex(address),
        bytes=data.hex(),
        format=form,
        rows=number_format.memory_rows(address, data, form),
        size=len(data),
        asked=size,
    )


async def write_memory(session: Session, words: str, text: str) -> answers.MemoryWritten:
    """Write bytes, and show the previous ones."""
    session.require_state(State.STOPPED, to="write memory")
    data = number_format.parse_bytes(text)
    ability = session.backend.find_ability(MemoryAbility)
    address = await address_of(session, words)
    # Read first: a write that begins in mapped memory may end beyond it.
    before = await ability.read_memory(address, len(data))
    if len(before) < len(data):
        raise DebuggerError(
            ErrorCode.EVALUATION_FAILED,
            f"only {len(before)} of {len(data)} bytes are mapped at {address:#x}",
            hint="debugger memory read shows the bytes there",
        )
    await ability.write_memory(address, data)
    session.selection.note_changed()
    return answers.MemoryWritten(
        address=hex(address),
        previous=before.hex(),
        bytes=(await ability.read_memory(address, len(data))).hex(),
        size=len(data),
    )


async def read_registers(session: Session, names: tuple[str, ...]) -> answers.RegistersView:
    """Show the first group of registers, registers or groups by name, or `all`."""
    session.require_state(State.STOPPED, to="show registers")
    reader = session.backend.find_ability(RegisterAbility)
    groups = await reader.read_registers(await inspection.frame_of(session))
    shown = _choose_groups(groups, names)
    return answers.RegistersView(
        groups=tuple(
            answers.RegisterGroupView(
                one.name,
                tuple(
                    answers.RegisterView(each.name, each.value[:_REGISTER_MAX])
                    for each in one.registers
                ),
            )
            for one in shown
        ),
        others=tuple(one.name for one in groups if not names and one not in shown),
    )


def _choose_groups(groups: list[RegisterGroup], names: tuple[str, ...]) -> list[RegisterGroup]:
    if not names:
        return groups[:1]
    if names == ("all",):
        return groups
    chosen: list[RegisterGroup] = []
    for name in names:
        plain_name = name.lower().removeprefix("$").removeprefix("%")
        matching = [one for one in groups if one.name.lower().startswith(plain_name)]
        single = [
            RegisterGroup(one.name, (each,))
            for one in groups
            for each in one.registers
            if each.name.lower() == plain_name
        ]
        if not single and not matching:
            every = [each.name for one in groups for each in one.registers]
            near = near_names(plain_name, [*every, *(one.name for one in groups)])
            suggestion = f"; did you mean {' or '.join(near[:3])}?" if near else ""
            raise DebuggerError(
                ErrorCode.NOT_FOUND,
                f"no register {name}{suggestion}",
                hint="debugger registers all",
            )
        chosen += single or matching
    merged: dict[str, RegisterGroup] = {}
    for one in chosen:
        before = merged[one.name].registers if one.name in merged else ()
        merged[one.name] = RegisterGroup(one.name, tuple(dict.fromkeys([*before, *one.registers])))
    return list(merged.values())


async def disassemble_code(
    session: Session, words: str | None, *, count: int | None = None, with_source: bool
) -> answers.Disassembled:
    """Show machine code from an address on; by default of the current function."""
    session.require_state(State.STOPPED, to="disassemble")
    if count is not None and not 1 <= count <= INSTRUCTIONS_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--count is 1 to {INSTRUCTIONS_MAX}",
            hint="debugger disassemble --help",
        )
    reader = session.backend.find_ability(DisassemblyAbility)
    frame = await inspection.frame_of(session)
    here = int(frame.address, 16) if frame.address is not None else None
    if words is not None:
        start = await address_of(session, words)
    elif here is not None:
        start = here
    else:
        raise DebuggerError(
            ErrorCode.NOT_FOUND, "the frame has no address", hint="debugger disassemble 0xADDR"
        )
    if words is None and count is None:
        found = await _function_instructions(reader, start)
    else:
        count = count or _COUNT
        with hint_instead("debugger disassemble shows the current function"):
            found = (await reader.read_instructions(start, count))[:count]
    last: tuple[str | None, int | None] = (None, None)
    shown = []
    for one in found:
        place = (one.file, one.line)
        text = _line_of(one) if with_source and place != last else None
        last = place
        shown.append(_instruction_view(one, here, text))
    return answers.Disassembled(instructions=tuple(shown))


async def _function_instructions(reader: DisassemblyAbility, here: int) -> list[Instruction]:
    """Return the instructions of the function around an address, or a part of a large one."""
    # Its function's name tells where the function begins and ends.
    (first, *_) = await reader.read_instructions(here, 1)
    if first.function is None:  # delve names none: up to the padding behind the function
        found = await reader.read_instructions(here, _COUNT)
        return list(itertools.takewhile(lambda one: not _PADDING.match(one.text), found))
    start = await _function_start(reader, here, first.function)
    own = await _function_code(reader, start, first.function)
    at = next((at for at, one in enumerate(own) if one.address == here), None)
    if at is None:  # it is further in than is read at once, or the code was read out of step
        found = await reader.read_instructions(here, _COUNT)
        return list(itertools.takewhile(lambda one: one.function == first.function, found))
    begin = max(0, at - _FUNCTION_MAX // 2) if len(own) > _FUNCTION_MAX else 0
    return own[begin : begin + _FUNCTION_MAX]


async def _function_code(reader: DisassemblyAbility, start: int, name: str) -> list[Instruction]:
    """Read instructions up to the next function; CodeLLDB reads none past a section's end."""
    own: list[Instruction] = []
    at, chunk = start, _CHUNK
    while len(own) < INSTRUCTIONS_MAX:
        try:
            part = await reader.read_instructions(at, chunk)
        except DebuggerError:
            if chunk == 1:
                break
            chunk = max(1, chunk // 4)
            continue
        own_part = list(itertools.takewhile(lambda one: one.function == name, part))
        own += own_part
        if len(own_part) < len(part):
            break
        at = part[-1].address + max(1, len(part[-1].bytes.replace(" ", "")) // 2)
    return own


async def _function_start(reader: DisassemblyAbility, here: int, name: str) -> int:
    """Find the lowest address of the function, at most 64 KiB back."""

    async def is_own(address: int) -> bool:
        try:
            return (await reader.read_instructions(address, 1))[0].function == name
        except DebuggerError:
            return False

    distance = 16
    while distance <= _BACK_MAX and await is_own(here - distance):
        distance *= 2
    outside, own = here - distance, here - (distance // 2 if distance > 16 else 0)  # noqa: PLR2004
    while own - outside > 1:
        middle = (own + outside) // 2
        own, outside = (middle, outside) if await is_own(middle) else (own, middle)
    return own


def _line_of(one: Instruction) -> str | None:
    if one.file is None or one.line is None:
        return None
    nearby = source_files.surrounding_lines(one.file, one.line, before=0, after=0)
    return nearby[0].text.strip() if nearby else None


def _instruction_view(
    one: Instruction, here: int | None, text: str | None
) -> answers.InstructionView:
    return answers.InstructionView(
        address=hex(one.address),
        bytes=one.bytes,
        text=one.text,
        function=one.function,
        file=one.file or UNSET,
        line=one.line or UNSET,
        source=text or UNSET,
        current=one.address == here,
    )


async def list_modules(session: Session) -> answers.ModulesView:
    """List the program and its libraries."""
    session.require_state(State.STOPPED, to="list the modules")
    every = await session.backend.find_ability(ModuleAbility).list_modules()
    # What LLDB has compiled for itself is no module of the program's.
    found = [one for one in every if not one.name.startswith("_$__lldb")]
    return answers.ModulesView(
        modules=tuple(
            answers.ModuleView(one.name, one.path, one.address, one.version, one.symbols)
            for one in found[:_MODULES_MAX]
        ),
        total=len(found),
    )
