"""Pauses a Node program, and steps out of its functions so that the returned value is reported."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from debugger.backends.base import NoteReported
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.debug_adapter import AdapterConnection
from debugger.errors import DebuggerError
from debugger.model.program import Frame, ScopeKind, Stopped, StopReason, Variable
from debugger.sources import javascript_outline as source

_SOURCE = "event-loop"  # the name of the source of our function
_FUNCTION = "idle"
# Seconds until a program counts as idle: a program that runs JavaScript pauses within milliseconds.
_IDLE_S = 0.5
_IDLE = (
    "none of the program's code runs: it waits for events. It is stopped in a function of the "
    "debugger's own; debugger break LOC stops it where it goes on"
)
_EXPRESSION = (
    f"(function {_FUNCTION}(waits_for){{debugger}})(process.getActiveResourcesInfo?.())"
    f"\n//# sourceURL={_SOURCE}"
)


class JsPause:
    """Pauses one program."""

    def __init__(self, connection: AdapterConnection) -> None:
        self._connection = connection
        self._stopped = asyncio.Event()
        self._evaluation: asyncio.Future[dap.DapMessage] | None = None
        self._is_reported = False

    def note_stop(self) -> None:
        """Note that the program stopped."""
        self._stopped.set()

    async def pause(self, thread: int) -> None:
        """Pause the program; one that runs no JavaScript is stopped in a function of ours."""
        # A pause of an idle program: V8 pauses at the next call of a JavaScript function, and an
        # idle program calls none, or one of Node's own, which js-debug leaves at once.
        #
        # 1. `pause`, as usual. A stop within half a second is the answer.
        # 2. Else an expression defines a function of ours with a `debugger` statement, and calls
        #    it. Its name `idle`, its argument (what Node waits for) and the name of its source tell
        #    what it is.
        # 3. The stop comes to `is_reported`. In our function, with nothing of the program's above,
        #    it is reported with a note. The pause of step 1 may come first, within the evaluation
        #    but outside of the function: then one step out follows.
        # 4. A step of the user's that ends in our function leaves it: the program goes on.
        #
        # The evaluation is not awaited: it is answered only after the program has been continued.
        self._stopped.clear()
        await self._connection.send_request("pause", ask.ThreadArguments(thread), dap.DapBody)
        try:
            async with asyncio.timeout(_IDLE_S):
                await self._stopped.wait()
        except TimeoutError:
            self._evaluate_stop()

    def _evaluate_stop(self) -> None:
        # A second pause while our function is still on the stack needs no second function.
        if self._evaluation is not None:
            return
        self._is_reported = False
        self._connection.stop_checks.append(_no_check)  # so that each stop comes to `is_reported`
        arguments = ask.EvaluateArguments(_EXPRESSION, "watch", None)
        self._evaluation = self._connection.post_request("evaluate", arguments)
        self._evaluation.add_done_callback(self._note_returned)

    def _note_returned(self, evaluation: asyncio.Future[Any]) -> None:
        """Note that our function has returned; one whose evaluation failed stops nothing."""
        del evaluation
        self._evaluation = None
        self._connection.stop_checks.remove(_no_check)

    async def is_reported(self, stop: Stopped) -> bool:
        """Return whether a stop is the user's; a stop within our function is left otherwise."""
        if self._evaluation is None:
            return True
        thread = ask.ThreadArguments(stop.thread or 0)
        frames = (await self._connection.read_stack(thread.thread_id, levels=3)).frames
        # The program's own code ran after all: an ordinary pause.
        if not frames or not _is_ours(frames[0]):
            return True
        if self._is_reported and stop.reason is StopReason.STEP:
            # The user steps on: our function is left, and what comes next is the program's.
            await self._connection.send_request("continue", thread, dap.DapBody)
            return False
        # Nothing but our function on the stack: the program is idle. Any other stop within our
        # source is left by a step out.
        self._is_reported = frames[0].function == _FUNCTION and all(map(_is_ours, frames))
        if not self._is_reported:
            await self._connection.send_request("stepOut", thread, dap.DapBody)
        else:
            self._connection.report_event(NoteReported(_IDLE))
        return self._is_reported


def _is_ours(frame: Frame) -> bool:
    return frame.file is not None and frame.file.endswith(f"/{_SOURCE}")


async def _no_check(stop: Stopped) -> None:
    """Do nothing: while listed as a check, it makes every stop go through the stop filter."""
    del stop


RETURNED = "Return value"
_OTHERS_MAX = 20  # returns of the same function further in, until it is no more looked for
_SHOWN_MAX = 8
# What may follow the position at which V8 stops for a return: the end of the function or of an
# expression.
_ENDS = frozenset(";,)]}")

# Sets a file's breakpoints and these of ours, or none of ours; returns their numbers.
SetOurs = Callable[[str, Sequence[dict[str, Any]]], Awaitable[set[int]]]


class JsStepOut:
    """Steps out of one function, and reads the returned value."""

    def __init__(self, connection: AdapterConnection, thread: int, set_ours: SetOurs) -> None:
        self._connection = connection
        self._thread = thread
        self._set_ours = set_ours
        self._file: str | None = None
        self._ours: set[int] = set()
        self._depth = 0
        self._others = 0
        self.value: Variable | None = None
        self.is_over = False

    async def begin(self) -> None:
        """Step out of the innermost function."""
        stack = await self._connection.read_stack(self._thread, levels=1)
        # V8 shows a function's return value at one position only: at its return, as a variable of
        # the innermost scope. A plain step out ends in the caller, where it is gone. So:
        #
        # 1. Breakpoints of ours are set at every return of the function, found by its outline and
        #    V8's own list of breakable locations.
        # 2. stepOut. It stops at the first of them, or in the caller if the function throws.
        # 3. At a stop of ours in the frame of the step, the value is read; then the breakpoints go,
        #    and stepOut follows. At one further in (a recursion, or another caller of the same
        #    function) stepOut follows, up to 20 times.
        # 4. A stop with fewer frames than the step began with is its end. Any other stop, such as a
        #    user's breakpoint, ends the step, too.
        #
        # The stops of steps 2 and 3 are not reported (`stands` returns False).
        self._depth = stack.total or 0
        if stack.frames:
            await self._prepare_breakpoints(stack.frames[0])
        await self._step_out()

    async def _prepare_breakpoints(self, frame: Frame) -> None:
        try:
            self.value = await self._returned_value(frame)
            # The program may already be at the return: the value is there.
            if self.value is None and frame.file is not None and frame.line is not None:
                places = await self._return_locations(frame.file, frame.line, frame.column or 1)
                if places:
                    self._file = frame.file
                    self._ours = await self._set_ours(frame.file, places)
        # Without the value the step is still a step out.
        except (DebuggerError, OSError):
            return

    async def _return_locations(self, file: str, line: int, column: int) -> list[dict[str, Any]]:
        """Return the locations at which the function around a location returns.

        Of the locations where V8 can stop, only a return is at the end of something.
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
        body = await self._connection.send_request(
            "breakpointLocations", arguments, dap.LocationsBody
        )
        return [
            {"line": one.line, "column": one.column}
            for one in body.breakpoints
            if one.column is not None
            and one.line <= min(function.last_line, len(lines))
            and _is_end(lines[one.line - 1], one.column)
            # Returns of functions within this one are not its own.
            and outline.innermost_function(one.line, one.column) is function
        ]

    async def stands(self, stop: Stopped) -> bool:
        """Return whether a stop is for the user: the end of the step, or something else."""
        # A user's breakpoint at the same location stops for the user.
        is_ours = bool(stop.hits) and set(stop.hits) <= self._ours
        if not is_ours and stop.reason is not StopReason.STEP:
            await self.end()
            return True
        stack = await self._connection.read_stack(self._thread, levels=1)
        depth = stack.total or 0
        if depth < self._depth or not stack.frames:
            await self.end()
            return True
        if depth == self._depth and is_ours:
            self.value = await self._returned_value(stack.frames[0])
        self._others += 1
        # A deep recursion would stop at each return.
        if self.value is not None or self._others > _OTHERS_MAX:
            await self._remove_breakpoints()
        await self._step_out()
        return False

    async def end(self) -> None:
        """Remove the breakpoints of the step."""
        self.is_over = True
        await self._remove_breakpoints()

    async def _remove_breakpoints(self) -> None:
        file, self._file, self._ours = self._file, None, set()
        if file is not None:
            await self._set_ours(file, ())

    async def _returned_value(self, frame: Frame) -> Variable | None:
        for scope in await self._connection.read_scopes(frame):
            if scope.kind is ScopeKind.LOCALS:
                for one in await self._connection.fetch_variables(
                    scope.handle, start=None, count=None
                ):
                    if one.name == RETURNED:
                        name, value = f"(return) {frame.function}", await self._value_text(one)
                        return Variable(name=name, value=value, type=one.type)
                return None  # it is in the innermost scope
        return None

    async def _value_text(self, value: Variable) -> str:
        """Write a value with its members: they cannot be inspected from the caller."""
        if not value.handle or value.type.endswith("Function"):
            return value.value
        members = await self._connection.fetch_variables(value.handle, start=None, count=None)
        own = [one for one in members if not one.name.startswith("[[") and one.name != "length"]
        more = ", …" if len(own) > _SHOWN_MAX else ""
        shown = own[:_SHOWN_MAX]
        if all(one.name.isdecimal() for one in shown):
            return f"{value.value} [{', '.join(one.value for one in shown)}{more}]"
        return f"{value.value} {{{', '.join(f'{one.name}: {one.value}' for one in shown)}{more}}}"

    async def _step_out(self) -> None:
        await self._connection.send_request(
            "stepOut", ask.ThreadArguments(self._thread), dap.DapBody
        )


def _is_end(line: str, column: int) -> bool:
    rest = line[column - 1 :].strip()
    return not rest or rest[0] in _ENDS or line[column - 2 : column - 1] == ";"
