"""Answers an editor's requests for memory, machine code, modules and sources."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from debugger.backends.abilities import (
    DisassemblyAbility,
    LoadedSourceAbility,
    MemoryAbility,
    ModuleAbility,
)
from debugger.editors.breakpoint_requests import parse_address
from debugger.editors.editor_channel import EditorRequest
from debugger.editors.editor_conversation import EditorConversation
from debugger.editors.editor_text import source_body
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.events import State
from debugger.model.program import Instruction, LoadedModule
from debugger.session import source_files
from debugger.session.session import Session

Body = Mapping[str, Any] | None

_BYTES_MAX = 1 << 20
_INSTRUCTIONS_MAX = 2000
_LONGEST = (
    15  # bytes of an x86-64 instruction; what lies before an address is read from so far back
)
_MODULES_MAX = 2000
_SOURCES_MAX = 5000


class EditorReadMemoryArguments(Struct, frozen=True, rename="camel"):
    """DAP, ReadMemoryArguments."""

    memory_reference: str
    count: int
    offset: int = 0


async def read_memory(editor: EditorConversation, request: EditorRequest) -> Body:
    """Return bytes of the program's memory, up to the first that is not mapped."""
    arguments = request.decode_arguments(EditorReadMemoryArguments)
    address = parse_address(arguments.memory_reference) + arguments.offset
    count = min(max(arguments.count, 0), _BYTES_MAX)
    session = editor.session
    if editor.follower is not None:
        editor.follower.note_read(arguments.memory_reference, arguments.offset, count)
    if not count:
        return {"address": hex(address)}
    ability = session.backend.find_ability(MemoryAbility)
    try:
        data = await session.run_job(lambda: ability.read_memory(address, count))
    except DebuggerError as error:
        if error.code is not ErrorCode.EVALUATION_FAILED:
            raise
        return {"address": hex(address), "unreadableBytes": count}
    body: dict[str, Any] = {"address": hex(address), "data": base64.b64encode(data).decode()}
    rest = arguments.count - len(data)
    return {**body, "unreadableBytes": rest} if rest > 0 else body


class EditorWriteMemoryArguments(Struct, frozen=True, rename="camel"):
    """DAP, WriteMemoryArguments."""

    memory_reference: str
    data: str
    offset: int = 0


async def write_memory(editor: EditorConversation, request: EditorRequest) -> Body:
    """Write bytes into the program's memory."""
    arguments = request.decode_arguments(EditorWriteMemoryArguments)
    address = parse_address(arguments.memory_reference) + arguments.offset
    try:
        data = base64.b64decode(arguments.data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise DebuggerError(
            ErrorCode.USAGE, f"data is no base64: {error}", hint="nothing was written"
        ) from None
    session = editor.session
    ability = session.backend.find_ability(MemoryAbility)
    await session.run_job(lambda: ability.write_memory(address, data))
    session.selection.note_assigned()
    return {"bytesWritten": len(data)}


class EditorDisassembleArguments(Struct, frozen=True, rename="camel"):
    """DAP, DisassembleArguments."""

    memory_reference: str
    instruction_count: int
    offset: int = 0
    instruction_offset: int = 0


async def disassemble(editor: EditorConversation, request: EditorRequest) -> Body:
    """Return so many instructions; those that are not known are marked as invalid."""
    arguments = request.decode_arguments(EditorDisassembleArguments)
    address = parse_address(arguments.memory_reference) + arguments.offset
    count = min(max(arguments.instruction_count, 0), _INSTRUCTIONS_MAX)
    session = editor.session
    ability = session.backend.find_ability(DisassemblyAbility)
    before = min(max(-arguments.instruction_offset, 0), _INSTRUCTIONS_MAX)
    skipped = min(max(arguments.instruction_offset, 0), _INSTRUCTIONS_MAX)

    async def job() -> list[Instruction]:
        later = await ability.read_instructions(address, count + skipped)
        return [*await _earlier(ability, address, before), *later[skipped:]]

    found = (await session.run_job(job))[:count]
    bodies = [_instruction_body(one, editor.lines_from) for one in found]
    # The protocol wants exactly so many.
    end = found[-1].address if found else address
    filler = [
        {"address": hex(end + at + 1), "instruction": "??", "presentationHint": "invalid"}
        for at in range(count - len(bodies))
    ]
    return {"instructions": [*bodies, *filler]}


async def _earlier(ability: DisassemblyAbility, address: int, count: int) -> list[Instruction]:
    """Return the instructions before an address, as far as a decoding from before meets it."""
    for back in range(count * _LONGEST, 0, -1) if count else ():
        if back < count:
            break
        try:
            found = await ability.read_instructions(address - back, back)
        except DebuggerError:
            continue
        earlier = [one for one in found if one.address < address]
        if len(earlier) < len(found) and any(one.address == address for one in found):
            return earlier[-count:]
        if back < count * _LONGEST - _LONGEST:
            break
    return []


def _instruction_body(one: Instruction, lines_from: int) -> dict[str, Any]:
    body: dict[str, Any] = {"address": hex(one.address), "instruction": one.text}
    if one.bytes:
        body["instructionBytes"] = one.bytes
    if one.function is not None:
        body["symbol"] = one.function
    if one.file is not None:
        body["location"] = source_body(one.file)
    if one.line is not None:
        body["line"] = one.line - 1 + lines_from
    return body


class EditorModulesArguments(Struct, frozen=True, rename="camel"):
    """DAP, ModulesArguments."""

    start_module: int = 0
    module_count: int = 0


async def modules(editor: EditorConversation, request: EditorRequest) -> Body:
    """Return the program and its libraries."""
    arguments = request.decode_arguments(EditorModulesArguments)
    session = editor.session
    ability = session.backend.find_ability(ModuleAbility)
    found = await session.run_job(ability.list_modules)
    count = min(arguments.module_count or _MODULES_MAX, _MODULES_MAX)
    start = max(arguments.start_module, 0)
    bodies = []
    for one in found[start : start + count]:
        body: dict[str, Any] = {"id": one.path or one.name, "name": one.name}
        if one.path is not None:
            body["path"] = one.path
        if one.version is not None:
            body["version"] = one.version
        if one.symbols is not None:
            body["symbolStatus"] = one.symbols
        if one.address is not None:
            body["addressRange"] = one.address
        bodies.append(body)
    return {"modules": bodies, "totalModules": len(found)}


async def loaded_sources(editor: EditorConversation, request: EditorRequest) -> Body:
    """Return the program's sources: what it has loaded, or what it was built from."""
    del request
    session = editor.session
    paths = await session.run_job(lambda: _list_sources(session))
    readable = sorted({one for one in paths if source_files.is_readable(one)})
    return {"sources": [source_body(one) for one in readable[:_SOURCES_MAX]]}


async def _list_sources(session: Session) -> list[str]:
    program = session.target.program
    found = source_files.program_sources(program, [session.target.cwd]) if program else []
    try:
        ability = session.backend.find_ability(LoadedSourceAbility)
    except DebuggerError:
        loaded = _script_paths(await _modules_or_none(session))
        return [*found, *loaded, *await _stack_files(session)]
    return [*found, *await ability.list_loaded_sources()]


async def _stack_files(session: Session) -> list[str]:
    """Return the files of the frames of the stop: all that is known where nothing lists more."""
    stop = session.last_stop
    if session.state is not State.STOPPED or stop is None or stop.thread is None:
        return []
    frames = (await session.backend.read_stack(stop.thread, levels=_SOURCES_MAX)).frames
    return [one.file for one in frames if one.file is not None]


async def _modules_or_none(session: Session) -> list[LoadedModule]:
    """Return the loaded modules; none where the debugger cannot list them."""
    try:
        return await session.backend.find_ability(ModuleAbility).list_modules()
    except DebuggerError as error:
        if error.code is ErrorCode.NOT_SUPPORTED:
            return []
        raise


def _script_paths(modules: list[LoadedModule]) -> list[str]:
    """Return the modules that are sources themselves, as Python's are."""
    return [one.path for one in modules if one.path is not None and one.path.endswith(".py")]
