"""Reads memory and registers and steps single instructions behind delve (1.27.2)."""

from __future__ import annotations

import re

import msgspec

from debugger.backends.dap import abilities as generic
from debugger.backends.dap import convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.profile import Inside
from debugger.core.breakpoints import Access, Bound, Breakpoint
from debugger.core.model import Frame, Instruction, Purpose, Register, RegisterGroup, Resume
from debugger.errors import Code, DebuggerError

_READ_MAX = 1000  # bytes a command
_PAGE = 4096
_ROW = re.compile(r"^0x[0-9a-f]+:(?P<bytes>(?:\s+0x[0-9a-f]{2})+)\s*$", re.MULTILINE)
_WIDE = 8


class Disassembly(generic.Disassembly):
    """The disassemble request, from the middle of an instruction on, too."""

    async def instructions(self, address: int, count: int) -> list[Instruction]:
        """Return so many instructions, from the one on that an address belongs to."""
        try:
            return await super().instructions(address, count)
        except DebuggerError:
            # Delve knows the beginnings of instructions alone.
            found = await self._before(address + 1, count)
            if not found:
                raise
            return found

    async def _before(self, address: int, count: int) -> list[Instruction]:
        """Return so many from the one on that ends before an address; none if none begins there."""
        arguments = {
            "memoryReference": hex(address),
            "instructionOffset": -1,
            "instructionCount": count,
        }
        try:
            body = await self._inside.request("disassemble", arguments, dap.DisassembleBody)
        except DebuggerError:
            return []
        return convert.instructions(body.instructions)


class Memory:
    """`dlv examinemem`, and numbers set through pointers.

    The protocol's requests reach only the strings and lists that were shown.
    """

    def __init__(self, inside: Inside) -> None:
        self._inside = inside

    async def read(self, address: int, count: int) -> bytes:
        """Return what is mapped of so many bytes, from the first on."""
        found = b""
        while len(found) < count:
            at = address + len(found)
            # Not over the end of a page: of what is partly mapped nothing would come.
            piece = await self._piece(at, min(count - len(found), _READ_MAX, _PAGE - at % _PAGE))
            if not piece:
                break
            found += piece
        if not found and count:
            raise generic.unmapped(address)
        return found

    async def _piece(self, address: int, count: int) -> bytes:
        command = f"dlv examinemem -fmt hex -count {count} -size 1 {address:#x}"
        try:
            text = (await self._inside.evaluate(command, None, Purpose.RAW)).value
        except DebuggerError as error:
            if error.code is not Code.EVALUATION_FAILED:
                raise
            return b""
        words = " ".join(match["bytes"] for match in _ROW.finditer(text)).split()
        return bytes(int(word, 16) for word in words)

    async def write(self, address: int, data: bytes) -> None:
        """Write all of it."""
        at = 0
        while at < len(data):
            size = _WIDE if len(data) - at >= _WIDE else 1
            number = int.from_bytes(data[at : at + size], "little")
            await self._set(f"(*uint{size * 8})({address + at:#x})", number)
            at += size

    async def _set(self, pointer: str, number: int) -> None:
        arguments = ask.Evaluate(pointer, "variables")
        body = await self._inside.request(
            "evaluate", arguments, dap.EvaluateBody, failure=Code.EVALUATION_FAILED
        )
        variable = ask.SetVariable(body.variables_reference or 0, "", str(number))
        await self._inside.request(
            "setVariable", variable, dap.EvaluateBody, failure=Code.EVALUATION_FAILED
        )


class Registers(generic.Registers):
    """The scope of registers, which is shown while it is asked for: it takes 4 ms at each stop."""

    async def registers(self, frame: Frame) -> list[RegisterGroup]:
        """Return the groups of the frame's registers; the names come with blanks before."""
        await self._inside.raw("config showRegisters true", None)
        try:
            groups = await super().registers(frame)
        finally:
            await self._inside.raw("config showRegisters false", None)
        return [
            msgspec.structs.replace(
                group,
                registers=tuple(Register(one.name.strip(), one.value) for one in group.registers),
            )
            for group in groups
        ]


class Watchpoints(generic.Watchpoints):
    """Data breakpoints; a stop for one does not say for which, so they go without a number."""

    def __init__(self, inside: Inside) -> None:
        super().__init__(inside)
        self._numbered: list[Bound] = []

    async def watch(self, wanted: Breakpoint, frame: Frame | None) -> Bound:
        """Set one."""
        if wanted.spec.access is Access.READ:
            raise DebuggerError(
                Code.NOT_SUPPORTED,
                "delve cannot watch for reads alone",
                hint="debugger watch EXPR --access stops at reads and writes",
            )
        bound = await super().watch(wanted, frame)
        self._numbered.append(bound)
        return msgspec.structs.replace(bound, backend_id=None)

    async def unwatch(self, bound: Bound) -> None:
        """Remove the newest one on what this is on."""
        alike = [one for one in self._numbered if one.again == bound.again]
        if alike:
            self._numbered.remove(alike[-1])
            await super().unwatch(alike[-1])


class InstructionSteps(generic.InstructionSteps):
    """Steps by the instruction, which go into calls whatever is asked for."""

    async def step_instruction(self, how: Resume, thread: int) -> None:
        """Step one instruction; a call is stepped into or, to step over it, refused."""
        if how is Resume.NEXT and await self._is_at_call(thread):
            raise DebuggerError(
                Code.NOT_SUPPORTED,
                "delve cannot step over a call by the instruction, and this is one",
                hint="debugger step --instruction goes into it; debugger next steps over the line",
            )
        await super().step_instruction(how, thread)

    async def _is_at_call(self, thread: int) -> bool:
        frames = (await self._inside.stack(thread, levels=1)).frames
        if not frames or frames[0].address is None:
            return False
        found = await generic.Disassembly(self._inside).instructions(int(frames[0].address, 16), 1)
        return found[0].text.upper().startswith("CALL")
