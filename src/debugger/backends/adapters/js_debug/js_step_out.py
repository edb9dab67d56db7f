"""Steps out of a function so that its returned value is reported.

V8 tells what a function returns only while it stands at the return itself; a step out of it passes
by. So breakpoints of ours are set where the function returns, for the time of the step. A throw, or
a return that was not found, ends in the caller all the same: it is a step out throughout.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.adapter_profile import AdapterAccess
from debugger.errors import DebuggerError
from debugger.model.program import Frame, ScopeKind, Stopped, StopReason, Variable
from debugger.sources import javascript_outline as source

RETURNED = "Return value"
_OTHERS_MAX = 20  # returns of the same function further in, until it is no more looked for
_SHOWN_MAX = 8
_ENDS = frozenset(";,)]}")

# Sets a file's breakpoints and these of ours, or none of ours; returns their numbers.
SetOurs = Callable[[str, Sequence[dict[str, Any]]], Awaitable[set[int]]]


class JsStepOut:
    """One step out of a function."""

    def __init__(self, inside: AdapterAccess, thread: int, set_ours: SetOurs) -> None:
        self._inside = inside
        self._thread = thread
        self._set_ours = set_ours
        self._file: str | None = None
        self._ours: set[int] = set()
        self._depth = 0
        self._others = 0
        self.value: Variable | None = None
        self.is_over = False

    async def begin(self) -> None:
        """Leave the innermost function."""
        stack = await self._inside.read_stack(self._thread, levels=1)
        self._depth = stack.total or 0
        if stack.frames:
            await self._prepare_breakpoints(stack.frames[0])
        await self._step_out()

    async def _prepare_breakpoints(self, frame: Frame) -> None:
        try:
            self.value = await self._returned_value(frame)
            if self.value is None and frame.file is not None and frame.line is not None:
                places = await self._return_locations(frame.file, frame.line, frame.column or 1)
                if places:
                    self._file = frame.file
                    self._ours = await self._set_ours(frame.file, places)
        except (DebuggerError, OSError):
            return

    async def _return_locations(self, file: str, line: int, column: int) -> list[dict[str, Any]]:
        """Return where the function around a place returns.

        Of the places where V8 can stop, a return is the only one that is at the end of something.
        """
        outline = source.outline_file(file)
        function = outline.innermost_function(line, column) if outline is not None else None
        if outline is None or function is None:
            return []
        lines = Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
        arguments = {
            "source": {"path": file},
            "line": function.first_line,
            "endLine": function.last_line + 1,
        }
        body = await self._inside.send_request("breakpointLocations", arguments, dap.LocationsBody)
        return [
            {"line": one.line, "column": one.column}
            for one in body.breakpoints
            if one.column is not None
            and one.line <= min(function.last_line, len(lines))
            and _is_end(lines[one.line - 1], one.column)
            and outline.innermost_function(one.line, one.column) is function
        ]

    async def stands(self, stop: Stopped) -> bool:
        """Tell whether a stop is for the user: the end of the step, or something else."""
        is_ours = bool(stop.hits) and set(stop.hits) <= self._ours
        if not is_ours and stop.reason is not StopReason.STEP:
            await self.end()
            return True
        stack = await self._inside.read_stack(self._thread, levels=1)
        depth = stack.total or 0
        if depth < self._depth or not stack.frames:
            await self.end()
            return True
        if depth == self._depth and is_ours:
            self.value = await self._returned_value(stack.frames[0])
        self._others += 1
        if self.value is not None or self._others > _OTHERS_MAX:
            await self._remove_breakpoints()
        await self._step_out()
        return False

    async def end(self) -> None:
        """Take away what was set for the step."""
        self.is_over = True
        await self._remove_breakpoints()

    async def _remove_breakpoints(self) -> None:
        file, self._file, self._ours = self._file, None, set()
        if file is not None:
            await self._set_ours(file, ())

    async def _returned_value(self, frame: Frame) -> Variable | None:
        for scope in await self._inside.read_scopes(frame):
            if scope.kind is ScopeKind.LOCALS:
                for one in await self._inside.fetch_variables(scope.handle, start=None, count=None):
                    if one.name == RETURNED:
                        name, value = f"(return) {frame.function}", await self._value_text(one)
                        return Variable(name=name, value=value, type=one.type)
                return None  # it is in the innermost scope
        return None

    async def _value_text(self, value: Variable) -> str:
        """Write a value with what is inside: it cannot be looked into from the caller."""
        if not value.handle or value.type.endswith("Function"):
            return value.value
        inside = await self._inside.fetch_variables(value.handle, start=None, count=None)
        own = [one for one in inside if not one.name.startswith("[[") and one.name != "length"]
        more = ", …" if len(own) > _SHOWN_MAX else ""
        shown = own[:_SHOWN_MAX]
        if all(one.name.isdecimal() for one in shown):
            return f"{value.value} [{', '.join(one.value for one in shown)}{more}]"
        return f"{value.value} {{{', '.join(f'{one.name}: {one.value}' for one in shown)}{more}}}"

    async def _step_out(self) -> None:
        await self._inside.send_request("stepOut", ask.ThreadArguments(self._thread), dap.DapBody)


def _is_end(line: str, column: int) -> bool:
    rest = line[column - 1 :].strip()
    return not rest or rest[0] in _ENDS or line[column - 2 : column - 1] == ";"
