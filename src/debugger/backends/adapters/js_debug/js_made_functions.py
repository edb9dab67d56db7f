"""Sets breakpoints at functions that a Node program makes of texts (`eval`, `Function`, `vm`)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from debugger.backends.base import BreakpointChanged
from debugger.backends.dap import messages as dap
from debugger.backends.dap.debug_adapter import AdapterConnection
from debugger.errors import DebuggerError
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint
from debugger.model.program import EvaluationPurpose, Stopped, StopReason

# The function that `begin.cjs` has left in the program (see made_functions.cjs).
_SETTER = 'globalThis[Symbol.for("debugger-cli:made")]'
_MADE = re.compile(r"\[\[made (\d{1,9})\]\] (?:none of (\d+) (\S+)|\d+)")
_FULL = (
    "no function {} in the scripts, nor in the first {:,} texts that became code: "
    "no more are searched"
)
_HITS = re.compile(r"\[(\d{1,9}(?:,\d{1,9})*)\]")


_READ_MAX = 8 << 20  # bytes of sources in which a made function's name is searched


class MadeFunctions:
    """Sets one program's breakpoints in made scripts, by code within the program.

    js-debug does not know these breakpoints, and reports their stops as a pause. Their numbers are
    negative: its own begin at 0.
    """

    def __init__(self, connection: AdapterConnection) -> None:
        self._connection = connection
        self._sent: list[dict[str, int | str | None]] = []

    async def send(
        self, breakpoints: Sequence[Breakpoint], write_condition: Callable[[Breakpoint], str | None]
    ) -> Sequence[dap.DapBreakpoint]:
        """Replace the breakpoints; they are bound as the program makes the functions."""
        orders: list[dict[str, int | str | None]] = [
            {
                "id": one.id,
                "name": (one.at or one.spec).function,
                # It has a word of ours, by which its own script is known.
                "condition": f"({write_condition(one) or 'true'})/*debugger-cli*/",
            }
            for one in breakpoints
        ]
        if orders != self._sent:
            self._sent = orders
            self._connection.stop_checks[:] = [
                one for one in self._connection.stop_checks if one is not _require_filter
            ]
            if orders:
                self._connection.stop_checks.append(_require_filter)
            expression = f"({_SETTER}?.({json.dumps(orders)}))"
            try:
                await self._connection.evaluate(expression, None, EvaluationPurpose.PRINT)
            except DebuggerError:
                self._sent = []  # before the launch is done: sent again with the next change
        return [dap.DapBreakpoint(id=-one.id) for one in breakpoints]

    async def attribute_stop(self, stop: Stopped) -> Stopped:
        """Return a stop with the breakpoints of ours that it is for."""
        if not self._sent or stop.reason is StopReason.EXCEPTION:
            return stop
        try:
            found = await self._connection.evaluate(f"{_SETTER}?.()", None, EvaluationPurpose.PRINT)
        except DebuggerError:
            return stop
        listed = _HITS.search(found.value)
        if listed is None:
            return stop
        hits = tuple(-int(one) for one in listed[1].split(","))
        return replace(
            stop,
            reason=StopReason.BREAKPOINT,
            raw_reason="breakpoint",
            hits=(*stop.hits, *(one for one in hits if one not in stop.hits)),
        )


def is_made(files: Sequence[Path], name: str) -> bool:
    """Return whether the program makes a function of a text, and gives it this name."""
    made = re.compile(rf"(?<![\w$.]){re.escape(name)}\s*[=:]\s*(?:new\s+)?(?:Function|eval)\s*\(")
    remaining = _READ_MAX
    for one in files:
        try:
            remaining -= one.stat().st_size
            if remaining < 0:
                return False
            if made.search(one.read_text("utf-8", "replace")):
                return True
        except OSError:
            continue
    return False


def parse_mark(text: str) -> BreakpointChanged | None:
    """Return the news of a breakpoint in made scripts; None for another text.

    It was bound, or the bound of the scripts that are searched was reached before.
    """
    found = _MADE.match(text)
    if found is None:
        return None
    number, count, name = found.groups()
    why = _FULL.format(name, int(count)) if count else None
    bound = BoundBreakpoint(verified=why is None, backend_id=-int(number), why=why)
    return BreakpointChanged(bound)


async def _require_filter(stop: Stopped) -> None:
    """Do nothing: while listed as a check, it makes every stop go through the stop filter."""
    del stop
