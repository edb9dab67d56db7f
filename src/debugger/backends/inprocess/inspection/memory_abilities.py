"""Shows memory, registers and modules."""

from __future__ import annotations

from pathlib import Path

from debugger.backends.inprocess.inspection.inspection_access import InspectionAccess
from debugger.backends.inprocess.inspection.memory_reading import bytes_at, run_reading
from debugger.backends.inprocess.inspection.thread_registers import general_group, register_groups
from debugger.backends.inprocess.target_access import TargetAccess
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import Frame, LoadedModule, RegisterGroup
from debugger.symbols.dwarf.typed_values import ValueMemory as Reads
from debugger.symbols.dwarf.unwinding import LoadedBinary

_PART = 1 << 20


class InProcessMemory:
    """Memory as the program wrote it, our breakpoints left out."""

    def __init__(self, inside: TargetAccess) -> None:
        self._inside = inside

    async def read_memory(self, address: int, count: int) -> bytes:
        """Return what is mapped of so many bytes, from the first on."""
        found = b""
        while len(found) < count:
            wanted = min(_PART, count - len(found))
            part = await bytes_at(self._inside.engine, address + len(found), wanted)
            found += part
            if len(part) < wanted:
                break
        if not found and count:
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                f"no memory is mapped at {address:#x}",
                hint="debugger print shows a pointer's value; debugger modules what is loaded",
            )
        return found

    async def write_memory(self, address: int, data: bytes) -> None:
        """Write all of it."""
        await self._inside.engine.write_memory(address, data)


class InProcessRegisters:
    """The registers of a frame: all of the innermost, of others those that were saved."""

    def __init__(self, inside: InspectionAccess) -> None:
        self._inside = inside

    async def read_registers(self, frame: Frame) -> list[RegisterGroup]:
        """Return all groups of registers."""
        level = await self._inside.looking.frame_level(frame)
        if level.frame.index:
            return [general_group(level.known_registers)]
        paused = self._inside.paused_thread(level.thread)
        named = self._inside.looking.machine.registers_by_name(level.thread)

        def work(memory: Reads) -> list[RegisterGroup]:
            return register_groups(named, paused, memory)

        return await run_reading(self._inside, work)


class InProcessModules:
    """The program and its libraries."""

    def __init__(self, inside: TargetAccess) -> None:
        self._inside = inside

    async def list_modules(self) -> list[LoadedModule]:
        """Return what is loaded, the program first."""
        told = await self._inside.engine.list_modules()
        return [
            LoadedModule(
                one.name,
                one.path,
                hex(one.base),
                symbols=_symbol_note(self._inside.modules.module_at(one.base)),
            )
            for one in told
            if Path(one.path).is_file()
        ]


def _symbol_note(module: LoadedBinary | None) -> str | None:
    if module is None:
        return None
    if module.image.has_debug:
        return "debug information"
    return "symbols only" if next(module.image.symbols.function_names, None) is not None else "none"
