"""Shows memory, registers and modules."""

from __future__ import annotations

from pathlib import Path

from debugger.backends.frida.dwarf.unwind import Module
from debugger.backends.frida.dwarf.values import Memory as Reads
from debugger.backends.frida.inside import Inside
from debugger.backends.frida.looking.around import Around
from debugger.backends.frida.looking.memory import bytes_at, reading
from debugger.backends.frida.looking.registers import general, groups
from debugger.core.model import Frame, LoadedModule, RegisterGroup
from debugger.errors import Code, DebuggerError

_PART = 1 << 20


class Memory:
    """Memory as the program wrote it, our breakpoints left out."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside

    async def read(self, address: int, count: int) -> bytes:
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
                Code.EVALUATION_FAILED,
                f"no memory is mapped at {address:#x}",
                hint="debugger print shows a pointer's value; debugger modules what is loaded",
            )
        return found

    async def write(self, address: int, data: bytes) -> None:
        """Write all of it."""
        await self._inside.engine.write(address, data)


class Registers:
    """The registers of a frame: all of the innermost, of others those that were saved."""

    def __init__(self, inside: Around) -> None:
        self._inside = inside

    async def registers(self, frame: Frame) -> list[RegisterGroup]:
        """Return all groups of registers."""
        level = await self._inside.looking.level(frame)
        if level.frame.index:
            return [general(level.registers)]
        paused = self._inside.paused(level.thread)
        named = self._inside.looking.machine.named(level.thread)

        def work(memory: Reads) -> list[RegisterGroup]:
            return groups(named, paused, memory)

        return await reading(self._inside, work)


class Modules:
    """The program and its libraries."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside

    async def modules(self) -> list[LoadedModule]:
        """Return what is loaded, the program first."""
        told = await self._inside.engine.modules()
        return [
            LoadedModule(
                one.name,
                one.path,
                hex(one.base),
                symbols=_symbols(self._inside.modules.at(one.base)),
            )
            for one in told
            if Path(one.path).is_file()
        ]


def _symbols(module: Module | None) -> str | None:
    if module is None:
        return None
    if module.image.has_debug:
        return "debug information"
    return "symbols only" if next(module.image.symbols.names, None) is not None else "none"
