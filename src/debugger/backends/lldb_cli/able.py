"""Implements the abilities of LLDB's command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from debugger.backends import abilities
from debugger.backends.lldb import common, machine, watch
from debugger.backends.lldb.inside import Inside
from debugger.backends.lldb.steps import Steps
from debugger.backends.lldb_cli import parse
from debugger.core.breakpoints import Bound, Breakpoint
from debugger.core.model import (
    Catch,
    Frame,
    Instruction,
    LoadedModule,
    Resume,
    StepTarget,
)
from debugger.errors import Code, DebuggerError

_FILTERS = {
    "cpp_throw": "C++ exceptions, when they are thrown",
    "cpp_catch": "C++ exceptions, when they are caught",
    "objc_throw": "Objective-C exceptions, when they are thrown",
    "objc_catch": "Objective-C exceptions, when they are caught",
    "swift_throw": "Swift errors, when they are thrown",
    "swift_catch": "Swift errors, when they are caught",
}
_BY_FILTER = {name: Catch(name, label, takes_type=True) for name, label in _FILTERS.items()}
CATCHES: dict[str, Catch] = {
    **_BY_FILTER,
    **{
        word: Catch(name, f"calls of {name}", takes_type=True)
        for word, name in common.CATCH_FUNCTIONS.items()
    },
    **{word: _BY_FILTER[name] for word, name in common.CATCHES.items()},
}


class Asked(Inside, Protocol):
    """Gives abilities access to the session's LLDB."""

    @property
    def steps(self) -> Steps:
        """Keeps steps from being lost."""

    async def ask(self, do: str, **arguments: Any) -> Any:
        """Send a question to LLDB and return its answer."""

    async def replace(self, name: str, wanted: Sequence[Breakpoint]) -> list[Bound]:
        """Replace a list of breakpoints."""


class Exceptions:
    """`breakpoint set --language-exception`; the type is checked at the stop."""

    def __init__(self, inside: Asked) -> None:
        self._inside = inside

    @property
    def catches(self) -> Mapping[str, Catch]:
        """The exceptions that can be caught, by the words that `catch` takes."""
        return CATCHES

    async def set_catches(self, wanted: Sequence[Breakpoint]) -> list[Bound]:
        """Replace the exception breakpoints; they bind when the language's runtime is loaded."""
        return await self._inside.replace("catches", wanted)


class Disassembly:
    """Machine code with its functions and lines."""

    def __init__(self, inside: Asked) -> None:
        self._inside = inside

    async def instructions(self, address: int, count: int) -> list[Instruction]:
        """Return `count` instructions from an address on."""
        told = await self._inside.ask("instructions", address=address, count=count)
        found = parse.instructions(told)
        if not found:
            raise DebuggerError(
                Code.EVALUATION_FAILED, f"no code at {address:#x}", hint="debugger disassemble"
            )
        return found


class InstructionBreakpoints:
    """Breakpoints at addresses."""

    def __init__(self, inside: Asked) -> None:
        self._inside = inside

    async def set_instruction_breakpoints(self, wanted: Sequence[Breakpoint]) -> list[Bound]:
        """Replace the breakpoints at addresses."""
        return await self._inside.replace("addresses", wanted)


class InstructionSteps:
    """`thread step-inst`, kept at a breakpoint that does not stop."""

    def __init__(self, inside: Asked) -> None:
        self._inside = inside
        self._own = machine.InstructionSteps(inside)

    async def step_instruction(self, how: Resume, thread: int) -> None:
        """Step into, or over calls; the stop is reported."""
        await self._inside.steps.begin(how, thread, by_instruction=True)
        await self._own.step_instruction(how, thread)


class Modules:
    """The program and its libraries."""

    def __init__(self, inside: Asked) -> None:
        self._inside = inside

    async def modules(self) -> list[LoadedModule]:
        """Return the loaded modules, the program first."""
        return parse.modules(await self._inside.ask("modules"))


class StepTargets:
    """The calls in a line, in the order of the machine code."""

    def __init__(self, inside: Asked) -> None:
        self._inside = inside

    async def step_targets(self, frame: Frame) -> list[StepTarget]:
        """Return the calls that can be stepped into."""
        return parse.step_targets(await self._inside.ask("step_targets", frame=frame.handle))

    async def step_into(self, target: StepTarget, thread: int) -> None:
        """Step into one of the calls; the stop is reported."""
        await self._inside.steps.begin(Resume.STEP, thread)
        await self._inside.ask("step_into", target=target.id, thread=thread)


class ThreadsAlone:
    """Lets one thread run, and suspends the others until the next stop."""

    def __init__(self, inside: Asked) -> None:
        self._inside = inside

    async def resume_alone(self, how: Resume, thread: int) -> None:
        """Let only this thread run; the next stop is reported."""
        await self._inside.steps.begin(how, thread)
        await self._inside.ask("resume", how=how.value, thread=thread, alone=True)


ABILITIES: Mapping[type[Any], Callable[[Any], Any]] = {
    abilities.Disassembly: Disassembly,
    abilities.Exceptions: Exceptions,
    abilities.InstructionBreakpoints: InstructionBreakpoints,
    abilities.InstructionSteps: InstructionSteps,
    abilities.Jump: machine.Jump,
    abilities.Memory: machine.Memory,
    abilities.Modules: Modules,
    # The backend itself implements these.
    abilities.RawCommands: lambda inside: inside,
    abilities.Registers: machine.Registers,
    abilities.ReturnValues: lambda inside: inside,
    abilities.StepTargets: StepTargets,
    abilities.ThreadsAlone: ThreadsAlone,
    abilities.Watchpoints: watch.Watchpoints,
}
