"""Implements the abilities of LLDB's command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from debugger.backends import abilities
from debugger.backends.lldb import lldb_abilities, lldb_common, lldb_watchpoints
from debugger.backends.lldb.command_line import lldb_answers
from debugger.backends.lldb.lldb_common import LldbAccess
from debugger.backends.lldb.lldb_steps import LldbSteps
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint
from debugger.model.program import (
    CatchFilter,
    Frame,
    Instruction,
    LoadedModule,
    ResumeKind,
    StepTarget,
)

_FILTERS = {
    "cpp_throw": "C++ exceptions, when they are thrown",
    "cpp_catch": "C++ exceptions, when they are caught",
    "objc_throw": "Objective-C exceptions, when they are thrown",
    "objc_catch": "Objective-C exceptions, when they are caught",
    "swift_throw": "Swift errors, when they are thrown",
    "swift_catch": "Swift errors, when they are caught",
}
# LLDB's filters by language; the same words as lldb-dap's, so that both backends take the same.
_BY_FILTER = {name: CatchFilter(name, label, takes_type=True) for name, label in _FILTERS.items()}
CATCHES: dict[str, CatchFilter] = {
    **_BY_FILTER,
    **{
        word: CatchFilter(name, f"calls of {name}", takes_type=True)
        for word, name in lldb_common.CATCH_FUNCTIONS.items()
    },
    **{word: _BY_FILTER[name] for word, name in lldb_common.CATCHES.items()},
}


class CliAbilityAccess(LldbAccess, Protocol):
    """Gives abilities access to the session's LLDB."""

    @property
    def step_keeper(self) -> LldbSteps:
        """Keeps steps from being lost."""

    async def ask_lldb(self, do: str, **arguments: Any) -> Any:
        """Send a question to LLDB and return its answer."""

    async def replace_breakpoints(
        self, name: str, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        """Replace a list of breakpoints."""


class CliExceptions:
    """Sets `breakpoint set --language-exception`; the type is checked at the stop."""

    def __init__(self, lldb: CliAbilityAccess) -> None:
        self._access = lldb

    @property
    def catch_filters(self) -> Mapping[str, CatchFilter]:
        """The exceptions that can be caught, by the words that `catch` takes."""
        return CATCHES

    async def set_catches(self, breakpoints: Sequence[Breakpoint]) -> list[BoundBreakpoint]:
        """Replace the exception breakpoints; they bind when the language's runtime is loaded."""
        return await self._access.replace_breakpoints("catches", breakpoints)


class CliDisassembly:
    """Reads machine code with its functions and lines."""

    def __init__(self, lldb: CliAbilityAccess) -> None:
        self._access = lldb

    async def read_instructions(self, address: int, count: int) -> list[Instruction]:
        """Return `count` instructions from an address on."""
        answer = await self._access.ask_lldb("instructions", address=address, count=count)
        instructions = lldb_answers.parse_instructions(answer)
        if not instructions:
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED, f"no code at {address:#x}", hint="debugger disassemble"
            )
        return instructions


class CliInstructionBreakpoints:
    """Sets breakpoints at addresses."""

    def __init__(self, lldb: CliAbilityAccess) -> None:
        self._access = lldb

    async def set_instruction_breakpoints(
        self, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        """Replace the breakpoints at addresses."""
        return await self._access.replace_breakpoints("addresses", breakpoints)


class CliInstructionSteps:
    """Steps by `thread step-inst`, which is not lost at a breakpoint that does not stop."""

    def __init__(self, lldb: CliAbilityAccess) -> None:
        self._access = lldb
        self._own = lldb_abilities.LldbInstructionSteps(lldb)

    async def step_instruction(self, how: ResumeKind, thread: int) -> None:
        """Step into, or over calls; the stop is reported."""
        # Any way to step goes through the step keeper: LLDB would lose the step at a breakpoint.
        await self._access.step_keeper.begin_step(how, thread, by_instruction=True)
        await self._own.step_instruction(how, thread)


class CliModules:
    """Lists the program and its libraries."""

    def __init__(self, lldb: CliAbilityAccess) -> None:
        self._access = lldb

    async def list_modules(self) -> list[LoadedModule]:
        """Return the loaded modules, the program first."""
        return lldb_answers.parse_modules(await self._access.ask_lldb("modules"))


class CliStepTargets:
    """Lists the calls in a line, in the order of the machine code, and steps into one."""

    def __init__(self, lldb: CliAbilityAccess) -> None:
        self._access = lldb

    async def list_step_targets(self, frame: Frame) -> list[StepTarget]:
        """Return the calls that can be stepped into."""
        return lldb_answers.convert_step_targets(
            await self._access.ask_lldb("step_targets", frame=frame.handle)
        )

    async def step_into_target(self, target: StepTarget, thread: int) -> None:
        """Step into one of the calls; the stop is reported."""
        await self._access.step_keeper.begin_step(ResumeKind.STEP, thread)
        await self._access.ask_lldb("step_into", target=target.id, thread=thread)


class CliSingleThread:
    """Lets one thread run, and suspends the others until the next stop."""

    def __init__(self, lldb: CliAbilityAccess) -> None:
        self._access = lldb

    async def resume_single_thread(self, how: ResumeKind, thread: int) -> None:
        """Let only this thread run; the next stop is reported."""
        await self._access.step_keeper.begin_step(how, thread)
        await self._access.ask_lldb("resume", how=how.value, thread=thread, alone=True)


ABILITIES: Mapping[type[Any], Callable[[Any], Any]] = {
    abilities.DisassemblyAbility: CliDisassembly,
    abilities.ExceptionAbility: CliExceptions,
    abilities.InstructionBreakpointAbility: CliInstructionBreakpoints,
    abilities.InstructionStepAbility: CliInstructionSteps,
    abilities.JumpAbility: lldb_abilities.LldbJump,
    abilities.MemoryAbility: lldb_abilities.LldbMemory,
    abilities.ModuleAbility: CliModules,
    # The backend itself implements these.
    abilities.RawCommandAbility: lambda backend: backend,
    abilities.RegisterAbility: lldb_abilities.LldbRegisters,
    abilities.ReturnValueAbility: lambda backend: backend,
    abilities.StepTargetAbility: CliStepTargets,
    abilities.SingleThreadAbility: CliSingleThread,
    abilities.WatchpointAbility: lldb_watchpoints.LldbWatchpoints,
}
