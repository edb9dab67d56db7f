"""Implements abilities of lldb-dap and CodeLLDB by LLDB's command line.

The protocol's requests are missing for these, or say too little: lldb-dap 19.1.7 crashes at most of
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from debugger.backends import abilities, lldb_text
from debugger.backends.dap import convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.profile import Inside
from debugger.backends.lldb import machine, watch
from debugger.backends.lldb.steps import Steps
from debugger.core.breakpoints import Bound, Breakpoint, Kind
from debugger.core.model import Instruction, Resume
from debugger.errors import Code, DebuggerError

_FILES_MAX = 16


class Disassembly:
    """The disassemble request, with each instruction's function, which it omits."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside

    async def instructions(self, address: int, count: int) -> list[Instruction]:
        """Return `count` instructions from an address on."""
        body = await self._inside.request(
            "disassemble",
            ask.Disassemble(hex(address), count),
            dap.DisassembleBody,
            failure=Code.EVALUATION_FAILED,
        )
        found = convert.instructions(await _with_files(self._inside, body.instructions))
        if not found:
            raise DebuggerError(
                Code.EVALUATION_FAILED, f"no code at {address:#x}", hint="debugger disassemble"
            )
        text = await self._inside.raw(
            f"disassemble --start-address {address:#x} --count {count}", None
        )
        names = lldb_text.functions(text)
        # Code behind a section's last function has no heading of its own.
        looked_up = await self._inside.raw(f"image lookup --verbose --address {address:#x}", None)
        _, end = lldb_text.function_range(looked_up) or (0, None)
        own = names.get(address)
        names = {at: name for at, name in names.items() if end is None or at < end or name != own}
        return [
            msgspec.structs.replace(
                one,
                text=" ".join(one.text.removeprefix(f"{names.get(one.address)}: ").split()),
                bytes=one.bytes.lower(),
                function=one.function or names.get(one.address),
            )
            for one in found
        ]


async def _with_files(
    inside: Inside, found: Sequence[dap.DisassembledInstruction]
) -> list[dap.DisassembledInstruction]:
    """Add the file to instructions that have only a line: CodeLLDB 1.11.8 sends it now and then.

    lldb-dap 19 sends the line only where a line begins: the first instruction may have none.
    """
    if found and not found[0].line:
        text = await inside.raw(f"image lookup --verbose --address {found[0].address}", None)
        path, line = lldb_text.line_file(text), lldb_text.line_number(text)
        if path is not None and line:
            first = msgspec.structs.replace(found[0], location=dap.Source(path=path), line=line)
            found = [first, *found[1:]]
    files: dict[str | None, dap.Source | None] = {
        one.symbol: one.location for one in found if one.location is not None
    }
    for one in found:
        if one.line and one.symbol and one.symbol not in files and len(files) < _FILES_MAX:
            text = await inside.raw(f"image lookup --verbose --address {one.address}", None)
            path = lldb_text.line_file(text)
            files[one.symbol] = dap.Source(path=path) if path is not None else None
    return [
        msgspec.structs.replace(one, location=files.get(one.symbol))
        if one.location is None and one.line
        else one
        for one in found
    ]


class InstructionBreakpoints:
    """Breakpoints at addresses, at which a step may be lost as at those of lines."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside
        self._own = machine.InstructionBreakpoints(inside)

    async def set_instruction_breakpoints(self, wanted: Sequence[Breakpoint]) -> list[Bound]:
        """Replace the breakpoints at addresses."""
        bounds = await self._own.set_instruction_breakpoints(wanted)
        if self._inside.steps is not None:
            bounds = await self._inside.steps.note("*", wanted, bounds)
        return bounds


class InstructionSteps:
    """Steps by an instruction, which may be lost at a breakpoint."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside
        self._own = machine.InstructionSteps(inside)

    async def step_instruction(self, how: Resume, thread: int) -> None:
        """Step into, or over calls."""
        if self._inside.steps is not None:
            await self._inside.steps.begin(how, thread, by_instruction=True)
        await self._own.step_instruction(how, thread)


def steps(inside: Inside, *, counts_alone: bool = False, misplaces: bool = False) -> Steps:
    """Build the step keeper; both adapters log at lines by themselves."""

    async def log(number: int, wanted: Breakpoint, owner: int) -> None:
        # A moved logpoint is set by a command: it stops, and we log.
        del number
        if wanted.spec.log is not None:
            inside.logs[owner] = (wanted.id, wanted.spec.log)

    return Steps(
        inside,
        logging={Kind.LINE},
        on_moved=log,
        counts_alone=counts_alone,
        misplaces=misplaces,
    )


# There is no ThreadsAlone: after `thread continue N` and a pause, lldb-server answers no more.
ABILITIES: Mapping[type[Any], Any] = {
    abilities.Disassembly: Disassembly,
    abilities.InstructionBreakpoints: InstructionBreakpoints,
    abilities.InstructionSteps: InstructionSteps,
    abilities.Jump: machine.Jump,
    abilities.Memory: machine.Memory,
    abilities.Registers: machine.Registers,
    abilities.Watchpoints: watch.Watchpoints,
}
HAS = frozenset(
    {
        abilities.Exceptions,
        abilities.Modules,
        abilities.RawCommands,
        abilities.ReturnValues,
        abilities.StepTargets,
    }
)
