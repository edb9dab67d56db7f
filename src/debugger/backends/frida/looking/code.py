"""Disassembles code, and moves a thread to another line of its function."""

from __future__ import annotations

from pathlib import Path

import capstone

from debugger.backends.frida.dwarf import unwind
from debugger.backends.frida.inside import Inside
from debugger.backends.frida.looking.around import Around
from debugger.backends.frida.looking.memory import bytes_at
from debugger.core.model import Instruction
from debugger.errors import Code, DebuggerError

_LONGEST = 15  # bytes of an instruction
_EXECUTABLE = 1


class Disassembly:
    """Machine code by capstone, as it was before our breakpoints."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside
        self._capstone = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)

    async def instructions(self, address: int, count: int) -> list[Instruction]:
        """Return so many instructions from an address on."""
        module = self._inside.modules.at(address)
        code = b""
        if module is None or _is_code(module, address):
            code = await bytes_at(self._inside.engine, address, count * _LONGEST)
        found = []
        for at, size, mnemonic, operands in self._capstone.disasm_lite(code, address, count):
            start = at - address
            text = f"{mnemonic} {operands}".strip()
            found.append(self._placed(at, text, code[start : start + size].hex()))
        if not found:
            raise DebuggerError(
                Code.EVALUATION_FAILED, f"no code at {address:#x}", hint="debugger disassemble"
            )
        return found

    def _placed(self, address: int, text: str, code: str) -> Instruction:
        module = self._inside.modules.at(address)
        if module is None:
            return Instruction(address, text, code)
        own = address - module.bias
        functions = module.image.functions.at(own) if module.image.has_debug else ()
        function = functions[-1].name if functions else self._inside.modules.symbol(address)
        place = module.image.lines.at(own) if module.image.has_debug else None
        if place is None or not place.line:
            return Instruction(address, text, code, function)
        return Instruction(address, text, code, function, place.file, place.line)


def _is_code(module: unwind.Module, address: int) -> bool:
    own = address - module.bias
    return any(
        one.flags & _EXECUTABLE and one.address <= own < one.address + one.size
        for one in module.image.binary.segments
    )


class Jump:
    """The program counter of a thread, set to where a line of its function begins."""

    is_reported = False

    def __init__(self, inside: Around) -> None:
        self._inside = inside

    async def jump(self, file: str, line: int, thread: int) -> None:
        """Move a thread's program counter; nothing runs."""
        looking = self._inside.looking
        found, _ = await looking.stacks.of(thread, 1)
        frame = next((one for one in found if not one.is_inlined), None)
        module = frame.module if frame is not None else None
        if frame is None or module is None or frame.entry is None:
            raise _refused(f"no debug information is there where thread {thread} is")
        functions = module.image.functions.at(frame.lookup - module.bias)
        ranges = functions[-1].ranges if functions else ()
        known = module.image.lines.find(file, line)
        own = [
            one.address
            for one in known.locations
            if known.line == line and any(low <= one.address < high for low, high in ranges)
        ]
        if not own:
            has_code = known.locations and known.line == line
            why = f"is not in {frame.function}" if has_code else "has no code"
            raise _refused(f"{Path(file).name}:{line} {why}, where the thread is")
        target = own[0] + module.bias
        await looking.machine.set(thread, "rip", target.to_bytes(8, "little"))
        looking.new_stop()


def _refused(why: str) -> DebuggerError:
    return DebuggerError(
        Code.EVALUATION_FAILED, why, hint="debugger source shows the function; debugger jump LINE"
    )
