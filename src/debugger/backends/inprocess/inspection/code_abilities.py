"""Disassembles code, and moves a thread to another line of its function."""

from __future__ import annotations

from pathlib import Path

import capstone

from debugger.backends.inprocess.inspection.inspection_access import InspectionAccess
from debugger.backends.inprocess.inspection.memory_reading import bytes_at
from debugger.backends.inprocess.target_access import TargetAccess
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import Instruction
from debugger.symbols.dwarf import unwinding

_LONGEST = 15  # bytes of an instruction
_EXECUTABLE = 1


class InProcessDisassembly:
    """Machine code by capstone, as it was before our breakpoints."""

    def __init__(self, inside: TargetAccess) -> None:
        self._inside = inside
        self._capstone = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)

    async def read_instructions(self, address: int, count: int) -> list[Instruction]:
        """Return so many instructions from an address on."""
        module = self._inside.modules.module_at(address)
        code = b""
        if module is None or _is_code(module, address):
            code = await bytes_at(self._inside.engine, address, count * _LONGEST)
        found = []
        for at, size, mnemonic, operands in self._capstone.disasm_lite(code, address, count):
            start = at - address
            text = f"{mnemonic} {operands}".strip()
            found.append(self._with_location(at, text, code[start : start + size].hex()))
        if not found:
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED, f"no code at {address:#x}", hint="debugger disassemble"
            )
        return found

    def _with_location(self, address: int, text: str, code: str) -> Instruction:
        module = self._inside.modules.module_at(address)
        if module is None:
            return Instruction(address, text, code)
        own = address - module.load_bias
        functions = module.image.functions.functions_at(own) if module.image.has_debug else ()
        function = functions[-1].name if functions else self._inside.modules.symbol_name(address)
        place = module.image.lines.line_at(own) if module.image.has_debug else None
        if place is None or not place.line:
            return Instruction(address, text, code, function)
        return Instruction(address, text, code, function, place.file, place.line)


def _is_code(module: unwinding.LoadedBinary, address: int) -> bool:
    own = address - module.load_bias
    return any(
        one.flags & _EXECUTABLE and one.address <= own < one.address + one.size
        for one in module.image.binary.segments
    )


class InProcessJump:
    """The program counter of a thread, set to where a line of its function begins."""

    is_stop_reported = False

    def __init__(self, inside: InspectionAccess) -> None:
        self._inside = inside

    async def jump_to(self, file: str, line: int, thread: int) -> None:
        """Move a thread's program counter; nothing runs."""
        looking = self._inside.looking
        found, _ = await looking.stacks.unwind_thread(thread, 1)
        frame = next((one for one in found if not one.is_inlined), None)
        module = frame.module if frame is not None else None
        if frame is None or module is None or frame.entry is None:
            raise _refused_error(f"no debug information is there where thread {thread} is")
        functions = module.image.functions.functions_at(frame.lookup - module.load_bias)
        ranges = functions[-1].ranges if functions else ()
        known = module.image.lines.find_line(file, line)
        own = [
            one.address
            for one in known.locations
            if known.line == line and any(low <= one.address < high for low, high in ranges)
        ]
        if not own:
            has_code = known.locations and known.line == line
            why = f"is not in {frame.function}" if has_code else "has no code"
            raise _refused_error(f"{Path(file).name}:{line} {why}, where the thread is")
        target = own[0] + module.load_bias
        await looking.machine.set_register(thread, "rip", target.to_bytes(8, "little"))
        looking.new_stop()


def _refused_error(why: str) -> DebuggerError:
    return DebuggerError(
        ErrorCode.EVALUATION_FAILED,
        why,
        hint="debugger source shows the function; debugger jump LINE",
    )
