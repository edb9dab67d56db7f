"""Implements abilities of lldb-dap and CodeLLDB by LLDB's command line.

The protocol's requests are missing for these, or say too little: lldb-dap 19.1.7 crashes at most of
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from debugger.backends import abilities, lldb_text
from debugger.backends.dap import dap_convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.adapter_profile import AdapterAccess
from debugger.backends.lldb import lldb_abilities, lldb_watchpoints
from debugger.backends.lldb.lldb_steps import LldbSteps
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointKind
from debugger.model.program import Instruction, ResumeKind

# Lookups for one listing: as many functions may be in it.
_FILES_MAX = 16


class LldbDapDisassembly:
    """The disassemble request, with each instruction's function, which it omits."""

    def __init__(self, adapter: AdapterAccess) -> None:
        self._inside = adapter

    async def read_instructions(self, address: int, count: int) -> list[Instruction]:
        """Return `count` instructions from an address on."""
        body = await self._inside.send_request(
            "disassemble",
            ask.DisassembleArguments(hex(address), count),
            dap.DisassembleBody,
            failure=ErrorCode.EVALUATION_FAILED,
        )
        instructions = dap_convert.to_instructions(
            await _add_files(self._inside, body.instructions)
        )
        if not instructions:
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED, f"no code at {address:#x}", hint="debugger disassemble"
            )
        # The request has lines, the command has functions: both lists are of the same instructions.
        text = await self._inside.run_raw(
            f"disassemble --start-address {address:#x} --count {count}", None
        )
        names = lldb_text.parse_functions(text)
        # Code behind a section's last function has no heading of its own.
        looked_up = await self._inside.run_raw(
            f"image lookup --verbose --address {address:#x}", None
        )
        _, end = lldb_text.parse_function_range(looked_up) or (0, None)
        own = names.get(address)
        names = {
            position: name
            for position, name in names.items()
            if end is None or position < end or name != own
        }
        return [
            msgspec.structs.replace(
                one,
                # lldb-dap puts the function's name before the first instruction's text, and aligns
                # with blanks.
                text=" ".join(one.text.removeprefix(f"{names.get(one.address)}: ").split()),
                bytes=one.bytes.lower(),
                function=one.function or names.get(one.address),
            )
            for one in instructions
        ]


async def _add_files(
    adapter: AdapterAccess, found: Sequence[dap.DapInstruction]
) -> list[dap.DapInstruction]:
    """Add the file to instructions that have only a line: CodeLLDB 1.11.8 sends it now and then.

    lldb-dap 19 sends the line only where a line begins: the first instruction may have none.
    """
    # A listing may begin in the middle of a line.
    if found and not found[0].line:
        text = await adapter.run_raw(f"image lookup --verbose --address {found[0].address}", None)
        path, line = lldb_text.parse_line_file(text), lldb_text.parse_line_number(text)
        if path is not None and line:
            first = msgspec.structs.replace(found[0], location=dap.DapSource(path=path), line=line)
            found = [first, *found[1:]]
    files: dict[str | None, dap.DapSource | None] = {
        one.symbol: one.location for one in found if one.location is not None
    }
    for one in found:
        if one.line and one.symbol and one.symbol not in files and len(files) < _FILES_MAX:
            text = await adapter.run_raw(f"image lookup --verbose --address {one.address}", None)
            path = lldb_text.parse_line_file(text)
            files[one.symbol] = dap.DapSource(path=path) if path is not None else None
    return [
        msgspec.structs.replace(one, location=files.get(one.symbol))
        if one.location is None and one.line
        else one
        for one in found
    ]


class LldbDapInstructionBreakpoints:
    """Breakpoints at addresses, at which a step may be lost as at those of lines."""

    def __init__(self, adapter: AdapterAccess) -> None:
        self._inside = adapter
        self._own = lldb_abilities.LldbInstructionBreakpoints(adapter)

    async def set_instruction_breakpoints(
        self, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        """Replace the breakpoints at addresses."""
        bounds = await self._own.set_instruction_breakpoints(breakpoints)
        if self._inside.step_keeper is not None:
            bounds = await self._inside.step_keeper.note_breakpoints("*", breakpoints, bounds)
        return bounds


class LldbDapInstructionSteps:
    """Steps by an instruction, which may be lost at a breakpoint."""

    def __init__(self, adapter: AdapterAccess) -> None:
        self._inside = adapter
        self._own = lldb_abilities.LldbInstructionSteps(adapter)

    async def step_instruction(self, how: ResumeKind, thread: int) -> None:
        """Step into, or over calls."""
        if self._inside.step_keeper is not None:
            await self._inside.step_keeper.begin_step(how, thread, by_instruction=True)
        await self._own.step_instruction(how, thread)


def make_steps(
    adapter: AdapterAccess, *, counts_alone: bool = False, misplaces: bool = False
) -> LldbSteps:
    """Build the step keeper; both adapters log at lines by themselves."""

    async def note_moved_log(number: int, breakpoint_: Breakpoint, owner: int) -> None:
        # A moved logpoint is set by a command: it stops, and we log.
        del number
        if breakpoint_.spec.log is not None:
            adapter.breakpoint_logs[owner] = (breakpoint_.id, breakpoint_.spec.log)

    return LldbSteps(
        adapter,
        logging={BreakpointKind.LINE},
        on_moved=note_moved_log,
        counts_alone=counts_alone,
        misplaces=misplaces,
    )


# There is no ThreadsAlone: after `thread continue N` and a pause, lldb-server answers no more.
ABILITIES: Mapping[type[Any], Any] = {
    abilities.DisassemblyAbility: LldbDapDisassembly,
    abilities.InstructionBreakpointAbility: LldbDapInstructionBreakpoints,
    abilities.InstructionStepAbility: LldbDapInstructionSteps,
    abilities.JumpAbility: lldb_abilities.LldbJump,
    abilities.MemoryAbility: lldb_abilities.LldbMemory,
    abilities.RegisterAbility: lldb_abilities.LldbRegisters,
    abilities.WatchpointAbility: lldb_watchpoints.LldbWatchpoints,
}
HAS = frozenset(
    {
        abilities.ExceptionAbility,
        abilities.ModuleAbility,
        abilities.RawCommandAbility,
        abilities.ReturnValueAbility,
        abilities.StepTargetAbility,
    }
)
