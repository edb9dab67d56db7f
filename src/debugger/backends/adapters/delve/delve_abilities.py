"""Reads memory and registers and steps single instructions behind delve (1.27.2)."""

from __future__ import annotations

import re

import msgspec

from debugger.backends.dap import dap_abilities as generic
from debugger.backends.dap import dap_convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.adapter_profile import AdapterAccess
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, WatchAccess
from debugger.model.program import (
    EvaluationPurpose,
    Frame,
    Instruction,
    Register,
    RegisterGroup,
    ResumeKind,
)

_READ_MAX = 1000  # bytes a command
_PAGE = 4096
_ROW = re.compile(r"^0x[0-9a-f]+:(?P<bytes>(?:\s+0x[0-9a-f]{2})+)\s*$", re.MULTILINE)
_WIDE = 8


class DelveDisassembly(generic.DapDisassembly):
    """The disassemble request, from the middle of an instruction on, too."""

    async def read_instructions(self, address: int, count: int) -> list[Instruction]:
        """Return so many instructions, from the one on that an address belongs to."""
        try:
            return await super().read_instructions(address, count)
        except DebuggerError:
            # Delve knows the beginnings of instructions alone.
            found = await self._instructions_before(address + 1, count)
            if not found:
                raise
            return found

    async def _instructions_before(self, address: int, count: int) -> list[Instruction]:
        """Return so many from the one on that ends before an address; none if none begins there."""
        arguments = {
            "memoryReference": hex(address),
            "instructionOffset": -1,
            "instructionCount": count,
        }
        try:
            body = await self._inside.send_request("disassemble", arguments, dap.DisassembleBody)
        except DebuggerError:
            return []
        return dap_convert.to_instructions(body.instructions)


class DelveMemory:
    """`dlv examinemem`, and numbers set through pointers.

    The protocol's requests reach only the strings and lists that were shown.
    """

    def __init__(self, inside: AdapterAccess) -> None:
        self._inside = inside

    async def read_memory(self, address: int, count: int) -> bytes:
        """Return what is mapped of so many bytes, from the first on."""
        found = b""
        while len(found) < count:
            at = address + len(found)
            # Not over the end of a page: of what is partly mapped nothing would come.
            piece = await self._read_piece(
                at, min(count - len(found), _READ_MAX, _PAGE - at % _PAGE)
            )
            if not piece:
                break
            found += piece
        if not found and count:
            raise generic.unmapped_error(address)
        return found

    async def _read_piece(self, address: int, count: int) -> bytes:
        command = f"dlv examinemem -fmt hex -count {count} -size 1 {address:#x}"
        try:
            text = (await self._inside.evaluate(command, None, EvaluationPurpose.RAW)).value
        except DebuggerError as error:
            if error.code is not ErrorCode.EVALUATION_FAILED:
                raise
            return b""
        words = " ".join(match["bytes"] for match in _ROW.finditer(text)).split()
        return bytes(int(word, 16) for word in words)

    async def write_memory(self, address: int, data: bytes) -> None:
        """Write all of it."""
        at = 0
        while at < len(data):
            size = _WIDE if len(data) - at >= _WIDE else 1
            number = int.from_bytes(data[at : at + size], "little")
            await self._set_number(f"(*uint{size * 8})({address + at:#x})", number)
            at += size

    async def _set_number(self, pointer: str, number: int) -> None:
        arguments = ask.EvaluateArguments(pointer, "variables")
        body = await self._inside.send_request(
            "evaluate", arguments, dap.EvaluateBody, failure=ErrorCode.EVALUATION_FAILED
        )
        variable = ask.SetVariableArguments(body.variables_reference or 0, "", str(number))
        await self._inside.send_request(
            "setVariable", variable, dap.EvaluateBody, failure=ErrorCode.EVALUATION_FAILED
        )


class DelveRegisters(generic.DapRegisters):
    """The scope of registers, which is shown while it is asked for: it takes 4 ms at each stop."""

    async def read_registers(self, frame: Frame) -> list[RegisterGroup]:
        """Return the groups of the frame's registers; the names come with blanks before."""
        await self._inside.run_raw("config showRegisters true", None)
        try:
            groups = await super().read_registers(frame)
        finally:
            await self._inside.run_raw("config showRegisters false", None)
        return [
            msgspec.structs.replace(
                group,
                registers=tuple(Register(one.name.strip(), one.value) for one in group.registers),
            )
            for group in groups
        ]


class DelveWatchpoints(generic.DapWatchpoints):
    """Data breakpoints; a stop for one does not say for which, so they go without a number."""

    def __init__(self, inside: AdapterAccess) -> None:
        super().__init__(inside)
        self._numbered: list[BoundBreakpoint] = []

    async def set_watchpoint(self, wanted: Breakpoint, frame: Frame | None) -> BoundBreakpoint:
        """Set one."""
        if wanted.spec.access is WatchAccess.READ:
            raise DebuggerError(
                ErrorCode.NOT_SUPPORTED,
                "delve cannot watch for reads alone",
                hint="debugger watch EXPR --access stops at reads and writes",
            )
        bound = await super().set_watchpoint(wanted, frame)
        self._numbered.append(bound)
        return msgspec.structs.replace(bound, backend_id=None)

    async def remove_watchpoint(self, bound: BoundBreakpoint) -> None:
        """Remove the newest one on what this is on."""
        alike = [one for one in self._numbered if one.again == bound.again]
        if alike:
            self._numbered.remove(alike[-1])
            await super().remove_watchpoint(alike[-1])


class DelveInstructionSteps(generic.DapInstructionSteps):
    """Steps by the instruction, which go into calls whatever is asked for."""

    async def step_instruction(self, how: ResumeKind, thread: int) -> None:
        """Step one instruction; a call is stepped into or, to step over it, refused."""
        if how is ResumeKind.NEXT and await self._is_at_call(thread):
            raise DebuggerError(
                ErrorCode.NOT_SUPPORTED,
                "delve cannot step over a call by the instruction, and this is one",
                hint="debugger step --instruction goes into it; debugger next steps over the line",
            )
        await super().step_instruction(how, thread)

    async def _is_at_call(self, thread: int) -> bool:
        frames = (await self._inside.read_stack(thread, levels=1)).frames
        if not frames or frames[0].address is None:
            return False
        found = await generic.DapDisassembly(self._inside).read_instructions(
            int(frames[0].address, 16), 1
        )
        return found[0].text.upper().startswith("CALL")
