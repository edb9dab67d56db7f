"""Implements debugpy's abilities beside the protocol's common requests.

These are the jump, live values, the list of modules and steps through own code. Facts are of
debugpy 1.8.22.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from debugger.backends import abilities
from debugger.backends.adapters.debugpy.debugpy_exceptions import INSIDE
from debugger.backends.dap import dap_abilities as generic
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.adapter_profile import AdapterAccess
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import LoadedModule, Variable

_ONLY_A_LINE = "can only jump from a 'line' trace event"
_CANNOT = "refused 'goto' without saying why"

HAS = frozenset(
    {
        abilities.ExceptionAbility,
        abilities.RawCommandAbility,
        abilities.ReturnValueAbility,
        abilities.StepTargetAbility,
    }
)
# What is to be done in Python in the place of what it has nothing of.
INSTEAD: Mapping[type[Any], str] = {
    abilities.WatchpointAbility: "debugger who-wrote EXPR --at FILE:LINE -- CMD names the lines "
    "that wrote it; debugger break FILE:LINE --condition 'EXPR' stops where it is assigned",
    abilities.MemoryAbility: "debugger print EXPR shows a value, debugger set changes it",
    abilities.RegisterAbility: "debugger locals shows the variables",
    abilities.DisassemblyAbility: "debugger print \"__import__('dis').Bytecode(FUNCTION).dis()\" "
    "shows Python's own instructions",
    abilities.InstructionBreakpointAbility: "debugger break FILE:LINE, or a function's name",
    abilities.InstructionStepAbility: "debugger next and debugger step go by lines; "
    "debugger step --into NAME chooses a call",
    abilities.SingleThreadAbility: "debugger break FILE:LINE --thread N stops one thread only",
}


class DebugpyJump:
    """The goto request, which moves within the current function, from a line's beginning."""

    is_stop_reported = True

    def __init__(self, adapter: AdapterAccess) -> None:
        self._inside = adapter
        self._generic = generic.DapJump(adapter)

    async def jump_to(self, file: str, line: int, thread: int) -> None:
        """Move the thread; debugpy heeds only the line."""
        # debugpy's goto ignores the file: a line of another file would be taken for one of this.
        stack = await self._inside.read_stack(thread, levels=1)
        at = stack.frames[0].file if stack.frames else None
        if at is not None and Path(at).resolve() != Path(file).resolve():
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                f"cannot jump to {Path(file).name}: the program is in {at}",
                hint=f"debugger jump takes a line of {stack.frames[0].function}",
            )
        try:
            await self._generic.jump_to(file, line, thread)
        except DebuggerError as error:
            if _ONLY_A_LINE in error.message:  # CPython's own words
                raise DebuggerError(
                    ErrorCode.EVALUATION_FAILED,
                    "Python cannot jump from an exception: only from the beginning of a line",
                    hint="debugger restart, with a breakpoint before the line that raises",
                ) from error
            # debugpy gives no message where the thread is not at the beginning of a line.
            if _CANNOT not in error.message:
                raise
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                "Python can jump only from the beginning of a line, and this stop is within one",
                hint="debugger next, then debugger jump LINE",
            ) from error


class DebugpyOwnSteps:
    """Steps as with justMyCode, which debugpy takes for a whole session only."""

    def __init__(self, adapter: AdapterAccess) -> None:
        self._inside = adapter

    async def limit_steps_to_own_code(self, *, is_on: bool) -> None:
        """Let the steps that follow end in the program's own code only, or anywhere again."""
        await self._inside.send_request(
            "evaluate",
            ask.EvaluateArguments(f"{INSIDE}.keep_to_own({is_on})", "repl"),
            dap.EvaluateBody,
            failure=ErrorCode.EVALUATION_FAILED,
        )


class DebugpyModules:
    """Lists the imported modules; debugpy's request lists only those that it stopped in."""

    def __init__(self, adapter: AdapterAccess) -> None:
        self._inside = adapter

    async def list_modules(self) -> list[LoadedModule]:
        """Return the program's main module, then the others by name."""
        body = await self._inside.send_request(
            "evaluate",
            ask.EvaluateArguments(f"{INSIDE}.modules()", "repl"),
            dap.EvaluateBody,
            failure=ErrorCode.EVALUATION_FAILED,
        )
        try:
            told = json.loads(body.result or "")
        except ValueError as error:
            raise DebuggerError(
                ErrorCode.ADAPTER_FAILED,
                f"the program did not tell its modules: {body.result}",
                hint="debugger print \"list(__import__('sys').modules)\"",
            ) from error
        return [
            LoadedModule(name=str(name), path=path, version=version) for name, path, version in told
        ]


_LOCAL_READ = "{} is a local variable: it is read at a breakpoint"
_LOCAL_WRITTEN = "Local variable writes require a paused breakpoint."


class DebugpyLiveValues:
    """Evaluates beside the program's threads, in the main module, where there is no frame."""

    def __init__(self, adapter: AdapterAccess) -> None:
        self._inside = adapter

    async def read_live_value(self, expression: str, *, kind: str | None = None) -> Variable:
        """Evaluate an expression over the names of the main module and imported modules."""
        _refuse_kind(kind)
        call = f"read_live({expression!r})"
        (found,) = await self._evaluate_named(expression, call, _LOCAL_READ)
        return found

    async def write_live_value(
        self, target: str, value: str, *, kind: str | None = None
    ) -> tuple[Variable, Variable]:
        """Assign to a name of the main module, an attribute or an item."""
        _refuse_kind(kind)
        call = f"write_live({target!r}, {value!r})"
        before, after = await self._evaluate_named(target, call, _LOCAL_WRITTEN)
        return before, after

    async def _evaluate_named(self, name: str, expression: str, said: str) -> list[Variable]:
        body = await self._inside.send_request(
            "evaluate",
            ask.EvaluateArguments(f"{INSIDE}.{expression}", "repl"),
            dap.EvaluateBody,
            failure=ErrorCode.EVALUATION_FAILED,
        )
        told = json.loads(body.result or "{}")
        if local := told.get("local"):
            raise DebuggerError(ErrorCode.WRONG_STATE, said.format(local), hint="debugger pause")
        if "values" not in told:
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                str(told.get("problem", "the program did not answer")),
                hint="of a running program the main module's names and imported modules are "
                "known; debugger pause stops it, for locals",
            )
        return [Variable(name, text, kind) for text, kind in told["values"]]


def _refuse_kind(kind: str | None) -> None:
    if kind is not None:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            "a Python value has its own type, and no address to read",
            hint="debugger read NAME",
        )


OWN = {
    abilities.JumpAbility: DebugpyJump,
    abilities.LiveValueAbility: DebugpyLiveValues,
    abilities.ModuleAbility: DebugpyModules,
    abilities.OwnStepAbility: DebugpyOwnSteps,
}
