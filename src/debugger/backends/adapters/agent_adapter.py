"""Describes what debuggers have in common whose protocol we write ourselves: Java, Ruby, PHP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from debugger.backends.base import ConditionError, LogpointPassed, OutputPrinted
from debugger.backends.dap import debug_adapter as generic
from debugger.backends.dap import messages as dap
from debugger.backends.dap.debug_adapter import AdapterConnection, DebugAdapter
from debugger.model.breakpoints import Breakpoint
from debugger.model.program import Frame, ScopeKind
from debugger.system.process_info import look_at


def find_script_words(words: Sequence[str], with_value: str) -> tuple[str, ...]:
    """Return a script and its arguments, from an interpreter's command line.

    `with_value` are the letters of the options whose value may be the next word.
    """
    rest = list(words[1:])
    while rest and rest[0].startswith("-") and rest[0] != "-":
        word = rest.pop(0)
        if len(word) == len("-x") and word[1] in with_value and rest:
            rest.pop(0)
    return tuple(rest)


class AgentAdapter(DebugAdapter):
    """A debugger whose requests are answered by code of ours.

    Its `output` events have two categories more (DAP: OutputEvent): `log`, a logpoint's text, and
    `condition`, a condition that could not be evaluated.
    """

    exception_filters = ("uncaught",)
    catch_filters: ClassVar = {"throw": "raised", "raised": "raised", "uncaught": "uncaught"}
    filters_by_condition = True
    logs_at_functions = True

    # Letters of the interpreter's options whose value may be the next word.
    options_with_value = ""

    parse_exit = staticmethod(generic.convert_exit_or_signal)

    def parse_output(
        self, body: dap.OutputBody
    ) -> OutputPrinted | LogpointPassed | ConditionError | None:
        """Convert an `output` event (DAP: OutputEvent)."""
        if body.category == "log":
            return LogpointPassed(None, body.output)
        if body.category == "condition":
            return ConditionError(None, body.output)
        return generic.parse_output(body)

    def read_child_command(self, pid: int) -> tuple[str, ...]:
        """Return what a child process runs; nothing if it is unknown."""
        process = look_at(pid)
        return () if process is None else find_script_words(process.words, self.options_with_value)

    def site_key(self, one: Breakpoint) -> object:
        """Return a breakpoint's own number: several may stand at one line."""
        return one.id

    def format_type_condition(self, types: Sequence[str]) -> str:
        """Format the types that an exception filter stops at."""
        return ",".join(types)

    async def read_argument_names(
        self, connection: AdapterConnection, frame: Frame
    ) -> list[str] | None:
        """Return the names of a frame's arguments, a scope of their own; None without one."""
        scopes = await connection.read_scopes(frame)
        given = next((one for one in scopes if one.kind is ScopeKind.ARGUMENTS), None)
        if given is None:
            return None
        variables = await connection.fetch_variables(given.handle, start=None, count=None)
        return [one.name for one in variables]
