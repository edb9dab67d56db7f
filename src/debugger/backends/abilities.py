"""Defines the abilities that only some debuggers have, as protocols (`Backend.find_ability`).

All raise DebuggerError as the Backend's own calls do. Addresses are numbers here, and `0x…`
strings in answers. The first line of each protocol's docstring is part of an error message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint
from debugger.model.debugger_words import RawEffect
from debugger.model.program import (
    CatchFilter,
    Frame,
    Instruction,
    LoadedModule,
    RegisterGroup,
    ResumeKind,
    StepTarget,
    Stopped,
    TracedPattern,
    Variable,
)


def missing_ability(
    kind: type[Any], who: str, others: str, *, instead: str | None = None
) -> DebuggerError:
    """Build the error for an ability that a debugger lacks, naming the adapters that have it.

    `instead` is the hint where the debugger has a way of its own.
    """
    # The docstring's first line completes the sentence "ADAPTER cannot …".
    # So each protocol's docstring begins with "The ability to".
    description = (
        (kind.__doc__ or "").partition("\n")[0].removeprefix("The ability to ").rstrip(".")
    )
    capable_hint = (
        f"adapters that can: {others}" if others else "debugger doctor lists the adapters"
    )
    return DebuggerError(
        ErrorCode.NOT_SUPPORTED, f"{who} cannot {description}", hint=instead or capable_hint
    )


class ReturnValueAbility(Protocol):
    """The ability to tell what a function returned that was stepped out of."""

    async def returned_value(self, stop: Stopped, frame: Frame) -> Variable | None:
        """Return the value of the function that was just left; None where it is unknown."""


class RawCommandAbility(Protocol):
    """The ability to run commands of the debugger's own command line."""

    @property
    def has_command_line(self) -> bool:
        """Whether raw commands are a debugger's own, with `help`; else they are expressions."""

    async def run_raw(self, command: str, frame: Frame | None) -> str:
        """Run one command and return its output."""

    def classify_raw_command(self, command: str) -> RawEffect:
        """Return the effect of a command on the program."""


class WatchpointAbility(Protocol):
    """The ability to stop when memory is written or read, without stepping the program."""

    @property
    def slot_count(self) -> int | None:
        """The most watchpoints at a time: the debug registers (4 on x86-64); None: no limit."""

    async def set_watchpoint(self, breakpoint_: Breakpoint, frame: Frame | None) -> BoundBreakpoint:
        """Set a watchpoint on `spec.watch`, an expression in a frame.

        In the answer `again` is an expression that gives the value in any frame, `address` the
        address of the value, and `backend_id` the number that a stop's `hits` contain.

        Raises:
            DebuggerError: EVALUATION_FAILED for what cannot be evaluated or has no address.
        """

    async def remove_watchpoint(self, bound: BoundBreakpoint) -> None:
        """Remove a watchpoint."""


class ExceptionAbility(Protocol):
    """The ability to stop when an exception is thrown, caught or uncaught."""

    @property
    def catch_filters(self) -> Mapping[str, CatchFilter]:
        """The exceptions that can be caught, by the words that `catch` takes."""

    async def set_catches(self, breakpoints: Sequence[Breakpoint]) -> list[BoundBreakpoint]:
        """Replace the exception breakpoints (`at.catch`, `at.type`); answers in the same order."""


class MemoryAbility(Protocol):
    """The ability to read and write memory."""

    async def read_memory(self, address: int, count: int) -> bytes:
        """Return the mapped bytes of a range, up to the first that is not mapped.

        Raises:
            DebuggerError: EVALUATION_FAILED if the first byte is not mapped.
        """

    async def write_memory(self, address: int, data: bytes) -> None:
        """Write all of the data.

        Raises:
            DebuggerError: EVALUATION_FAILED if it cannot be written.
        """


class RegisterAbility(Protocol):
    """The ability to show a frame's registers."""

    async def read_registers(self, frame: Frame) -> list[RegisterGroup]:
        """Return all groups of registers (general purpose, floating point, …)."""


class DisassemblyAbility(Protocol):
    """The ability to show machine code."""

    async def read_instructions(self, address: int, count: int) -> list[Instruction]:
        """Return `count` instructions from an address on, or fewer where the code ends.

        Raises:
            DebuggerError: EVALUATION_FAILED if there is no code.
        """


class InstructionBreakpointAbility(Protocol):
    """The ability to stop at an address."""

    async def set_instruction_breakpoints(
        self, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        """Replace the breakpoints at addresses (`at.address`); answers in the same order."""


class InstructionStepAbility(Protocol):
    """The ability to step by one machine instruction."""

    async def step_instruction(self, how: ResumeKind, thread: int) -> None:
        """Step into (`ResumeKind.STEP`) or over calls (`ResumeKind.NEXT`); the stop is reported."""


class OwnStepAbility(Protocol):
    """The ability to step through the program's own code only, over all that libraries do."""

    async def limit_steps_to_own_code(self, *, is_on: bool) -> None:
        """Let later steps end in the program's own code only, or anywhere again."""


class ModuleAbility(Protocol):
    """The ability to list the program and its libraries."""

    async def list_modules(self) -> list[LoadedModule]:
        """Return the loaded modules, the program first."""


class LoadedSourceAbility(Protocol):
    """The ability to list the source files that the program has loaded."""

    async def list_loaded_sources(self) -> list[str]:
        """Return the paths of the loaded sources; those without a file are left out."""


class JumpAbility(Protocol):
    """The ability to go on from another line, without running what is between."""

    @property
    def is_stop_reported(self) -> bool:
        """Whether the end of a jump is reported to the sink as a stop."""

    async def jump_to(self, file: str, line: int, thread: int) -> None:
        """Move a thread's program counter; nothing runs.

        Raises:
            DebuggerError: EVALUATION_FAILED if the line has no code or is in another function.
        """


class StepTargetAbility(Protocol):
    """The ability to step into one of several calls in a line."""

    async def list_step_targets(self, frame: Frame) -> list[StepTarget]:
        """Return the calls in the frame's line that can be stepped into."""

    async def step_into_target(self, target: StepTarget, thread: int) -> None:
        """Step into one of the calls; the stop is reported."""


class SingleThreadAbility(Protocol):
    """The ability to let one thread run while the others stay where they are."""

    async def resume_single_thread(self, how: ResumeKind, thread: int) -> None:
        """Let only this thread run; the next stop is reported."""


class PauseAllAbility(Protocol):
    """The ability to stop all threads where each stops on its own."""

    @property
    def waiting_threads(self) -> Sequence[int]:
        """The threads that are stopped now, also those whose stop is not reported yet."""

    async def pause_all_threads(self) -> None:
        """Pause every thread; one stop is reported when all have stopped."""


class LiveValueAbility(Protocol):
    """The ability to read and write values while the program runs."""

    async def read_live_value(self, expression: str, *, kind: str | None = None) -> Variable:
        """Evaluate an expression over globals, or an address (`0x…`) with a type."""

    async def write_live_value(
        self, target: str, value: str, *, kind: str | None = None
    ) -> tuple[Variable, Variable]:
        """Write a global, or an address with a type; return the old value and the new one."""


class CallAbility(Protocol):
    """The ability to call a function of the program on a stopped thread."""

    async def call_function(
        self, function: str, arguments: Sequence[str], frame: Frame
    ) -> Variable:
        """Call a function with the values of expressions of the frame; return its return value.

        Raises:
            DebuggerError: EVALUATION_FAILED if there is no such function, or it faults.
        """


class TracingAbility(Protocol):
    """The ability to tell of the calls and returns of functions without stopping the program."""

    async def trace_functions(
        self, patterns: Sequence[str], *, limit: int | None = None
    ) -> list[TracedPattern]:
        """Trace the functions that patterns match (`audio::process*`, `@file:parser.c`).

        At most `limit` functions of each pattern; None leaves the number to the backend.
        """

    async def untrace_functions(self, numbers: Sequence[int]) -> None:
        """Stop tracing the functions of these patterns.

        Raises:
            DebuggerError: NOT_FOUND, naming the traced patterns.
        """

    async def traced_patterns(self) -> list[TracedPattern]:
        """Return the traced patterns, each in its present state."""
