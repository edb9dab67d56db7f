"""Holds the breakpoints of a PHP program, and gives them to each request that Xdebug debugs."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Awaitable, Callable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from debugger.backends.adapters.xdebug import dbgp_values as dbgp
from debugger.backends.adapters.xdebug import php_code
from debugger.backends.adapters.xdebug.dbgp_engine import DbgpEngine, EngineError

Body = dict[str, Any]
_FUNCTION = re.compile(r"\A(?:(?P<owner>[\w\\]+)(?:->|::))?(?P<name>\w+)\Z")


@dataclass
class PhpBreakpoint:
    """A breakpoint as it was requested."""

    number: int
    commands: tuple[str, ...]  # of a method's name alone: one for each class that has it
    condition: str | None = None
    hit_count: int | None = None
    log: str | None = None
    is_function: bool = False
    path: str = ""
    line: int = 0
    name: str = ""
    is_resolved: bool = False


@dataclass
class PhpSite:
    """All breakpoints of one place: one of Xdebug's, whose condition checks each of ours.

    Xdebug 3.2 stops for the first breakpoint of a line alone, and does not look at them where a
    step ends.
    """

    engine_id: str
    code: str | None


class PhpBreakpoints:
    """The requested breakpoints, and what Xdebug has of them; `send_event` takes DAP events."""

    def __init__(self, send_event: Callable[..., None]) -> None:
        self._send_event = send_event
        self.filters: dict[str, tuple[str, ...]] = {}  # of exceptions, each with its types
        self._lines: dict[str, list[PhpBreakpoint]] = {}
        self._functions: list[PhpBreakpoint] = []
        self._catch_id: str | None = None
        self._number = 0
        self._sites: dict[str, PhpSite] = {}  # by the command that sets it
        self._sending = ""  # the command that is being sent
        self._resolved: dict[str, int] = {}  # the lines of those commands that have found code
        self._defined: list[tuple[str, str]] = []  # classes and functions of the program's file

    def read_program(self, path: str) -> None:
        """Read the functions of the program's file."""
        self._defined = dbgp.list_functions(path)

    def set_lines(self, arguments: Body) -> list[PhpBreakpoint]:
        """Take the arguments of a `setBreakpoints` request."""
        path = str(Path(arguments["source"]["path"]).resolve())
        before = self._lines.get(path, [])
        made = [self._make_line(path, one, before) for one in arguments.get("breakpoints") or ()]
        self._lines[path] = made
        return made

    def set_functions(self, arguments: Body) -> list[PhpBreakpoint]:
        """Take the arguments of a `setFunctionBreakpoints` request."""
        before = self._functions
        self._functions = [
            self._make_function(one, before) for one in arguments.get("breakpoints") or ()
        ]
        return self._functions

    def set_filters(self, arguments: Body) -> None:
        """Take the arguments of a `setExceptionBreakpoints` request."""
        self.filters = dict.fromkeys(arguments.get("filters") or (), ())
        for one in arguments.get("filterOptions") or ():
            types = tuple(re.split(r"[,\s]+", one.get("condition") or ""))
            self.filters[one["filterId"]] = tuple(filter(None, types))

    def _make_line(
        self, path: str, requested: Body, before: Sequence[PhpBreakpoint]
    ) -> PhpBreakpoint:
        command = f"breakpoint_set -t line -f {dbgp.to_uri(path)} -n {requested['line']}"
        made = self._make([command], requested, before)
        made.path, made.line = path, made.line or int(requested["line"])
        return made

    def _make_function(self, requested: Body, before: Sequence[PhpBreakpoint]) -> PhpBreakpoint:
        name = str(requested["name"])
        match = _FUNCTION.match(name)
        owner, plain = (match["owner"], match["name"]) if match else (None, name)
        defined = [one for one in self._defined if one[1].lower() == plain.lower()]
        owners = [owner] if owner else [one[0] for one in defined] or [""]
        commands = [
            f"breakpoint_set -t call -m {plain}" + (f" -a {dbgp.quote_option(one)}" if one else "")
            for one in owners
        ]
        made = self._make(commands, requested, before)
        made.is_function, made.name = True, name
        made.is_resolved = made.is_resolved or any(one[0] in owners for one in defined)
        return made

    def _make(
        self, commands: Sequence[str], requested: Body, before: Sequence[PhpBreakpoint]
    ) -> PhpBreakpoint:
        count = re.search(r"\d+", str(requested.get("hitCondition") or ""))
        made = PhpBreakpoint(
            self._number + 1,
            tuple(commands),
            requested.get("condition"),
            int(count[0]) if count else None,
            requested.get("logMessage"),
        )
        for one in before:
            if _identity(one) == _identity(made):
                return one
        self._number += 1
        return made

    async def synchronize(self, engine: DbgpEngine, *, is_new: bool = False) -> None:
        """Send what a stopped request does not have yet; a new one has none."""
        if is_new:
            self._sites.clear()
            self._catch_id = None
        await self._send_catch(engine)
        groups = self._group_by_site()
        for command, site in list(self._sites.items()):
            if command not in groups or site.code != php_code.check_breakpoints(groups[command]):
                del self._sites[command]
                with suppress(EngineError):
                    await engine.run(f"breakpoint_remove -d {site.engine_id}")
        for command, group in groups.items():
            if command not in self._sites:
                await self._send_site(engine, command, group)
            self._note_resolved(command, group)

    def _group_by_site(self) -> dict[str, list[PhpBreakpoint]]:
        groups: dict[str, list[PhpBreakpoint]] = {}
        for one in self.list_all():
            for command in one.commands:
                groups.setdefault(command, []).append(one)
        return groups

    async def _send_site(
        self, engine: DbgpEngine, command: str, group: Sequence[PhpBreakpoint]
    ) -> None:
        code = php_code.check_breakpoints(group)
        self._sending = command
        with suppress(EngineError):
            reply = await engine.run(command, None if group[0].is_function else code)
            if reply is not None:
                self._sites[command] = PhpSite(reply.get("id") or "", code)
                # Xdebug says so of each function, whether there is one or not.
                if reply.get("resolved") == "resolved" and not group[0].is_function:
                    self._resolved.setdefault(command, group[0].line)

    def _note_resolved(self, command: str, group: Sequence[PhpBreakpoint]) -> None:
        for one in group:
            if command in self._resolved:
                one.is_resolved = True
                one.line = self._resolved[command] if one.path else one.line

    async def find_due(
        self, ids: AbstractSet[str], path: str, line: int, evaluate: Callable[[str], Awaitable[str]]
    ) -> list[PhpBreakpoint]:
        """Return the breakpoints that are due at a stop, where Xdebug names some sites.

        Their logs are not written yet; a condition that throws is reported.
        """
        due: list[PhpBreakpoint] = []
        for command, group in self._group_by_site().items():
            site = self._sites.get(command)
            is_named = site is not None and site.engine_id in ids
            is_here = any((one.path, one.line) == (path, line) for one in group)
            if site is None or not (is_named or is_here):
                continue
            if site.code is None:
                due += group
                continue
            # Xdebug 3.2 ignores the conditions of functions.
            if group[0].is_function or not is_named:
                await evaluate(site.code)
            numbers, errors = json.loads(await evaluate(php_code.TAKE_DUE) or "[[], []]")
            for one in group:
                if (problem := dict(errors).get(one.number)) is not None:
                    self.report_condition(one, problem)
                elif one.number in numbers:
                    due.append(one)
        return list({one.number: one for one in due}.values())

    async def _send_catch(self, engine: DbgpEngine) -> None:
        if self.filters and self._catch_id is None:
            reply = await engine.run("breakpoint_set -t exception -x *")
            self._catch_id = reply.get("id") if reply is not None else None
        elif not self.filters and self._catch_id is not None:
            await engine.run(f"breakpoint_remove -d {self._catch_id}")
            self._catch_id = None

    def report_condition(self, one: PhpBreakpoint, problem: str) -> None:
        """Report that a condition could not be evaluated."""
        self._send_event("output", category="condition", output=f"{one.condition}: {problem}")

    def list_all(self) -> list[PhpBreakpoint]:
        """Return all of them."""
        return [*(one for each in self._lines.values() for one in each), *self._functions]

    def describe(self, one: PhpBreakpoint) -> Body:
        """Describe one as DAP does (Breakpoint)."""
        place: Body = {"line": one.line, "source": {"path": one.path}} if one.path else {}
        if one.is_resolved:
            return {"id": one.number, "verified": True, **place}
        what = f"{Path(one.path).name}:{one.line}" if one.path else f"the function {one.name}"
        why = f"{what} is not loaded yet, or has no code"
        return {"id": one.number, "verified": False, "message": why, **place}

    def note_packet(self, packet: ET.Element) -> None:
        """Note a notification: a breakpoint whose code was loaded."""
        found = dbgp.find_child(packet, "breakpoint")
        if packet.get("name") != "breakpoint_resolved" or found is None:
            return
        number = found.get("id") or ""
        sites = {site.engine_id: command for command, site in self._sites.items()}
        # That of a breakpoint which is being set comes before the answer with its number.
        command = sites.get(number, self._sending)
        for one in self.list_all():
            if command in one.commands:
                line = int(found.get("lineno") or one.line) if one.path else one.line
                self._resolved[command] = line
                one.is_resolved, one.line = True, line
                self._send_event("breakpoint", reason="changed", breakpoint=self.describe(one))


def _identity(one: PhpBreakpoint) -> tuple[object, ...]:
    return (one.commands, one.condition, one.hit_count, one.log)
