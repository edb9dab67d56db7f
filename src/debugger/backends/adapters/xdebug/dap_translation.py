"""Answers requests of the Debug Adapter Protocol by commands of DBGp."""

from __future__ import annotations

import asyncio
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from debugger.backends.adapters.xdebug import dbgp_values as dbgp
from debugger.backends.adapters.xdebug.dbgp_engine import DbgpEngine, EngineError

Body = dict[str, Any]
_THREAD = 1
_CAPABILITIES: Body = {
    "supportsConfigurationDoneRequest": True,
    "supportsFunctionBreakpoints": True,
    "supportsConditionalBreakpoints": True,
    "supportsHitConditionalBreakpoints": True,
    "supportsLogPoints": True,
    "supportsSetVariable": True,
    "supportsExceptionInfoRequest": True,
    "supportsExceptionFilterOptions": True,
    "supportTerminateDebuggee": True,
    "exceptionBreakpointFilters": [
        {"filter": "raised", "label": "thrown exceptions", "supportsCondition": True},
        {"filter": "uncaught", "label": "exceptions that nobody caught"},
    ],
}
# Kinds of PHP's own errors, which Xdebug reports as if they were exceptions.
_ERRORS = re.compile(
    r"(?:Fatal error|Parse error|Warning|Notice|Deprecated|Recoverable fatal error|Strict standards"
    r"|Xdebug|Catchable fatal error)\Z"
)
_UNCAUGHT = re.compile(
    r"Uncaught (?P<type>[\w\\]+)(?::? ?)(?P<message>.*?)(?: in \S+:\d+)?$", re.MULTILINE
)
_KEPT_FRAMES = 6  # whose variables are saved at a throw
_CONTEXTS = 0  # locals
_FUNCTION = re.compile(r"\A(?:(?P<owner>[\w\\]+)(?:->|::))?(?P<name>\w+)\Z")
_VARIABLE = re.compile(r"\A\$\w+\Z")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


@dataclass
class PhpBreakpoint:
    """A breakpoint as it was requested."""

    number: int
    commands: tuple[str, ...]  # of a method's name alone: one for each class that has it
    condition: str | None = None
    log: str | None = None
    is_function: bool = False
    path: str = ""
    line: int = 0
    name: str = ""
    engine_ids: tuple[str, ...] = ()
    is_resolved: bool = False


@dataclass
class PhpStack:
    """The frames of a stop; variables of one that is over are saved with them."""

    frames: list[ET.Element]
    saved: dict[int, ET.Element] = field(default_factory=dict)
    is_over: bool = False


@dataclass
class Thrown:
    """What was thrown at a stop."""

    type: str
    message: str
    is_uncaught: bool = False


@dataclass
class Parts:
    """What a value, or a scope, contains; `fullname` is how Xdebug finds the value again."""

    properties: list[ET.Element]
    depth: int
    fullname: str | None
    is_array: bool


class DapTranslation:
    """The state of one debugged program; `send` takes messages for the DAP side."""

    def __init__(self, send: Callable[[Body], None], resume: Callable[[str], None]) -> None:
        self._send = send
        self._resume = resume
        self.engine: DbgpEngine | None = None
        self.configured = asyncio.Event()
        self.stops_on_entry = False
        self._lines: dict[str, list[PhpBreakpoint]] = {}
        self._functions: list[PhpBreakpoint] = []
        self._filters: dict[str, tuple[str, ...]] = {}
        self._catch_id: str | None = None
        self._number = 0
        self._stack = PhpStack([])
        self._thrown: Thrown | None = None
        self._last_throw: tuple[Thrown, PhpStack] | None = None
        self._parts: list[Parts] = []
        self._stale: list[str] = []
        self._defined: list[tuple[str, str]] = []  # classes and functions of the program's file

    # -- requests ----------------------------------------------------------------------------------

    async def answer(self, request: Mapping[str, Any]) -> None:
        """Answer one request."""
        handler = getattr(self, f"_on_{request['command']}", None)
        reply: Body = {"type": "response", "command": request["command"]}
        reply |= {"request_seq": request["seq"], "success": True}
        try:
            reply["body"] = await (handler or _refuse)(request.get("arguments") or {})
        except EngineError as error:
            reply |= {"success": False, "message": str(error)}
        self._send(reply)
        if request["command"] == "launch":
            self.send_event("initialized")
        elif request["command"] == "configurationDone":
            self.configured.set()
        elif (command := _RESUMES.get(request["command"])) is not None and reply["success"]:
            self._parts.clear()
            self._resume(command)

    def send_event(self, name: str, **body: Any) -> None:
        """Send an event."""
        self._send({"type": "event", "event": name, "body": body})

    async def _on_initialize(self, arguments: Body) -> Body:
        del arguments
        return _CAPABILITIES

    async def _on_launch(self, arguments: Body) -> Body:
        self.stops_on_entry = bool(arguments.get("stopOnEntry"))
        self._defined = dbgp.list_functions(str(arguments.get("program") or ""))
        return {}

    async def _on_configurationDone(self, arguments: Body) -> Body:  # noqa: N802 - the request's name
        del arguments
        return {}

    async def _on_continue(self, arguments: Body) -> Body:
        del arguments
        self._require_stop()
        return {"allThreadsContinued": True}

    async def _on_step(self, arguments: Body) -> Body:
        del arguments
        if self._stack.is_over:
            raise EngineError("what was thrown has ended the request: continue is all that is left")
        self._require_stop()
        return {}

    _on_next = _on_stepIn = _on_stepOut = _on_step  # noqa: N815 - the requests' names

    async def _on_pause(self, arguments: Body) -> Body:
        del arguments
        raise EngineError("Xdebug 3.2 cannot stop PHP while it runs: set a breakpoint before")

    async def _on_threads(self, arguments: Body) -> Body:
        del arguments
        return {"threads": [{"id": _THREAD, "name": "main"}]}

    async def _on_disconnect(self, arguments: Body) -> Body:
        del arguments
        if self.engine is not None:
            self.engine.close()
        return {}

    def _require_stop(self) -> DbgpEngine:
        if self.engine is None or not self._stack.frames:
            raise EngineError("the program is running")
        return self.engine

    # -- breakpoints -------------------------------------------------------------------------------

    async def _on_setBreakpoints(self, arguments: Body) -> Body:  # noqa: N802 - the request's name
        path = str(Path(arguments["source"]["path"]).resolve())
        before = self._lines.get(path, [])
        made = [self._make_line(path, one, before) for one in arguments.get("breakpoints") or ()]
        self._lines[path] = made
        await self._replace(before, made)
        return {"breakpoints": [self._describe(one) for one in made]}

    async def _on_setFunctionBreakpoints(self, arguments: Body) -> Body:  # noqa: N802 - as above
        before = self._functions
        self._functions = [
            self._make_function(one, before) for one in arguments.get("breakpoints") or ()
        ]
        await self._replace(before, self._functions)
        return {"breakpoints": [self._describe(one) for one in self._functions]}

    async def _on_setExceptionBreakpoints(self, arguments: Body) -> Body:  # noqa: N802 - as above
        self._filters = dict.fromkeys(arguments.get("filters") or (), ())
        for one in arguments.get("filterOptions") or ():
            types = tuple(re.split(r"[,\s]+", one.get("condition") or ""))
            self._filters[one["filterId"]] = tuple(filter(None, types))
        if self.engine is not None and self._stack.frames:
            await self._send_catch()
        return {}

    def _make_line(
        self, path: str, requested: Body, before: Sequence[PhpBreakpoint]
    ) -> PhpBreakpoint:
        command = f"breakpoint_set -t line -f {dbgp.to_uri(path)} -n {requested['line']}"
        made = self._make([command], requested, before)
        made.path, made.line = path, made.line or requested["line"]
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
        more = f" -h {count[0]} -o >=" if count else ""
        sent = tuple(command + more for command in commands)
        condition, log = requested.get("condition"), requested.get("logMessage")
        for one in before:
            if (one.commands, one.condition, one.log) == (sent, condition, log):
                return one
        self._number += 1
        return PhpBreakpoint(self._number, sent, condition, log)

    async def _replace(
        self, before: Sequence[PhpBreakpoint], made: Sequence[PhpBreakpoint]
    ) -> None:
        gone = [one for one in before if one not in made]
        self._stale += [number for one in gone for number in one.engine_ids]
        # While PHP runs Xdebug reads nothing: at the next stop they are sent.
        if self.engine is not None and self._stack.frames:
            await self.send_breakpoints()

    async def send_breakpoints(self, *, is_new: bool = False) -> None:
        """Send what Xdebug does not have yet; a new request has none."""
        assert self.engine is not None
        if is_new:
            self._stale.clear()
            self._catch_id = None
            for one in self._all_breakpoints():
                one.engine_ids = ()
            await self._send_catch()
        for number in self._stale:
            with suppress(EngineError):
                await self.engine.run(f"breakpoint_remove -d {number}")
        self._stale.clear()
        for one in self._all_breakpoints():
            if not one.engine_ids:
                await self._send_breakpoint(one)

    async def _send_breakpoint(self, one: PhpBreakpoint) -> None:
        assert self.engine is not None
        for command in one.commands:
            with suppress(EngineError):
                reply = await self.engine.run(command, one.condition)
                if reply is not None:
                    one.engine_ids += (reply.get("id") or "",)
                    # Xdebug says so of each function, whether there is one or not.
                    is_found = reply.get("resolved") == "resolved" and not one.is_function
                    one.is_resolved = one.is_resolved or is_found

    async def _send_catch(self) -> None:
        assert self.engine is not None
        if self._filters and self._catch_id is None:
            reply = await self.engine.run("breakpoint_set -t exception -x *")
            self._catch_id = reply.get("id") if reply is not None else None
        elif not self._filters and self._catch_id is not None:
            await self.engine.run(f"breakpoint_remove -d {self._catch_id}")
            self._catch_id = None

    def _all_breakpoints(self) -> list[PhpBreakpoint]:
        return [*(one for each in self._lines.values() for one in each), *self._functions]

    def _describe(self, one: PhpBreakpoint) -> Body:
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
        for one in self._all_breakpoints():
            is_it = (found.get("id") or "") in one.engine_ids
            if not one.engine_ids and one.path:  # its answer comes after this
                is_it = dbgp.to_path(found.get("filename") or "") == one.path and any(
                    f" -n {one.line}" in command for command in one.commands
                )
            if is_it:
                one.is_resolved = True
                one.line = int(found.get("lineno") or one.line) if one.path else one.line
                self.send_event("breakpoint", reason="changed", breakpoint=self._describe(one))

    # -- stops -------------------------------------------------------------------------------------

    async def report_stop(self, packet: ET.Element, command: str) -> str | None:
        """Report a stop; return the command to go on with if nobody requested it."""
        assert self.engine is not None
        message = dbgp.find_message(packet)
        thrown = message.get("exception") if message is not None else None
        reply = await self.engine.run("stack_get")
        self._stack = PhpStack(list(reply) if reply is not None else [])
        self._thrown = None
        try:
            await self.send_breakpoints()
            if thrown is not None and message is not None:
                return await self._report_exception(thrown, message.text or "", command)
            return await self._report_breakpoint(packet, command)
        except EngineError as error:
            self.send_event("output", category="console", output=f"{error}\n")
            return command

    async def _report_exception(self, kind: str, text: str, command: str) -> str | None:
        if _ERRORS.match(kind):
            uncaught = _UNCAUGHT.match(text)
            if uncaught is None or "uncaught" not in self._filters:
                return self._go_on(command)
            thrown, stack = self._last_throw or (
                Thrown(uncaught["type"], uncaught["message"]),
                self._stack,
            )
            self._stack = PhpStack(stack.frames, stack.saved, is_over=True)
            self._report_thrown(Thrown(thrown.type, thrown.message, is_uncaught=True))
            return None
        thrown = Thrown(kind, text)
        if "uncaught" in self._filters:
            self._last_throw = (thrown, await self._keep_stack())
        types = self._filters.get("raised")
        short = kind.rpartition("\\")[2]
        if types is None or (types and not {kind, short} & set(types)):
            return self._go_on(command)
        self._report_thrown(thrown)
        return None

    async def _keep_stack(self) -> PhpStack:
        assert self.engine is not None
        saved: dict[int, ET.Element] = {}
        for depth in range(min(len(self._stack.frames), _KEPT_FRAMES)):
            with suppress(EngineError):
                reply = await self.engine.run(f"context_get -d {depth} -c {_CONTEXTS}")
                if reply is not None:
                    saved[depth] = reply
        return PhpStack(self._stack.frames, saved)

    def _report_thrown(self, thrown: Thrown) -> None:
        self._thrown = thrown
        text = f"{thrown.type}: {thrown.message}"
        self._report("exception", description=text, text=thrown.type)

    def _report(self, reason: str, **more: Any) -> None:
        self.send_event("stopped", reason=reason, threadId=_THREAD, allThreadsStopped=True, **more)

    def _go_on(self, command: str) -> str:
        self._stack = PhpStack([])
        return command

    async def _report_breakpoint(self, packet: ET.Element, command: str) -> str | None:
        ids = {one.get("id") for one in packet if one.tag.endswith("}breakpoint")}
        hits = [one for one in self._all_breakpoints() if ids & set(one.engine_ids)]
        # Others at the same line: Xdebug names one of them.
        for one in [one for one in hits if one.log is not None]:
            await self._write_log(one)
        stopping = [one for one in hits if one.log is None]
        if hits and not stopping:
            return self._go_on(command)
        numbers = [one.number for one in stopping]
        if not stopping:
            reason = "entry" if self.stops_on_entry and command == "step_into" else "step"
            self.stops_on_entry = False
            self._report(reason)
        elif all(one.is_function for one in stopping):
            self._report("function breakpoint", hitBreakpointIds=numbers)
        else:
            self._report("breakpoint", hitBreakpointIds=numbers)
        return None

    async def _write_log(self, one: PhpBreakpoint) -> None:
        text = one.log or ""
        for match in reversed(list(_PLACEHOLDER.finditer(text))):
            try:
                value = await self._evaluate(match[1], 0)
                shown = dbgp.format_property(value) if value is not None else ""
                if value is not None and value.get("type") == "string":
                    shown = dbgp.read_text(value)
            except EngineError as error:
                shown = f"<{error}>"
            text = text[: match.start()] + shown + text[match.end() :]
        self.send_event("output", category="log", output=text)

    # -- frames and values -------------------------------------------------------------------------

    async def _on_stackTrace(self, arguments: Body) -> Body:  # noqa: N802 - the request's name
        first = arguments.get("startFrame") or 0
        levels = arguments.get("levels") or len(self._stack.frames)
        shown = self._stack.frames[first : first + levels]
        return {
            "stackFrames": [self._describe_frame(one) for one in shown],
            "totalFrames": len(self._stack.frames),
        }

    def _describe_frame(self, one: ET.Element) -> Body:
        path = dbgp.to_path(one.get("filename") or "")
        source = {"source": {"name": Path(path).name, "path": path}} if path.startswith("/") else {}
        return {
            "id": int(one.get("level") or 0) + 1,
            "name": one.get("where") or "{main}",
            "line": int(one.get("lineno") or 0),
            "column": 0,
            **source,
        }

    async def _on_scopes(self, arguments: Body) -> Body:
        depth = int(arguments["frameId"]) - 1
        reply = self._stack.saved.get(depth)
        if reply is None and not self._stack.is_over:
            reply = await self._require_stop().run(f"context_get -d {depth} -c {_CONTEXTS}")
        properties = dbgp.list_properties(reply) if reply is not None else []
        known = [one for one in properties if one.get("type") != "uninitialized"]
        self._parts.append(Parts(known, depth, None, is_array=False))
        scope = {"name": "Locals", "presentationHint": "locals", "expensive": False}
        return {"scopes": [{**scope, "variablesReference": len(self._parts)}]}

    async def _on_variables(self, arguments: Body) -> Body:
        parts = self._find_parts(arguments)
        start, count = arguments.get("start") or 0, arguments.get("count")
        properties = parts.properties[start : start + count if count else None]
        if parts.fullname is not None and not self._stack.is_over:
            properties = await self._read_pages(parts.fullname, parts.depth, start, count)
        described = [
            self._describe_value(one, parts.depth, in_array=parts.is_array) for one in properties
        ]
        return {"variables": described}

    def _find_parts(self, arguments: Body) -> Parts:
        number = int(arguments["variablesReference"])
        if not 0 < number <= len(self._parts):
            raise EngineError("that value was of an earlier stop")
        return self._parts[number - 1]

    async def _read_pages(
        self, fullname: str, depth: int, start: int, count: int | None
    ) -> list[ET.Element]:
        """Read the pages of a large value that have the elements from `start` on."""
        size = 100
        page, found = start // size, list[ET.Element]()
        while count is None or len(found) < count + start % size:
            name = dbgp.quote_option(fullname)
            reply = await self._require_stop().run(f"property_get -n {name} -d {depth} -p {page}")
            owner = dbgp.list_properties(reply)[:1] if reply is not None else []
            items = dbgp.list_properties(owner[0]) if owner else []
            found += items
            page += 1
            if len(items) < size:
                break
        begin = start % size
        return found[begin : begin + count if count else None]

    def _describe_value(self, prop: ET.Element, depth: int, *, in_array: bool = False) -> Body:
        value = dbgp.read_value(prop)
        is_key = in_array and not value.name.startswith("$")
        name = f"[{dbgp.format_key(value.name)}]" if is_key else value.name
        kind = prop.get("type")
        body: Body = {"name": name, "value": value.text, "type": value.type}
        body["evaluateName"] = value.fullname
        body["variablesReference"] = 0
        if value.count:
            parts = Parts(dbgp.list_properties(prop), depth, value.fullname, kind == "array")
            self._parts.append(parts)
            body["variablesReference"] = len(self._parts)
            key = "indexedVariables" if kind == "array" else "namedVariables"
            body[key] = value.count
        return body

    async def _on_evaluate(self, arguments: Body) -> Body:
        depth = int(arguments.get("frameId") or 1) - 1
        value = await self._evaluate(str(arguments["expression"]), depth)
        if value is None:
            return {"result": "null", "type": "null", "variablesReference": 0}
        described = self._describe_value(value, depth)
        return {**described, "result": described["value"]}

    async def _evaluate(self, expression: str, depth: int) -> ET.Element | None:
        if self._stack.is_over:
            return self._find_kept(expression, depth)
        if _VARIABLE.match(expression.strip()):
            return await self._read_variable(expression.strip(), depth)
        reply = await self._require_stop().run(f"eval -d {depth}", f"{expression};")
        found = dbgp.list_properties(reply) if reply is not None else []
        return found[0] if found else None

    async def _read_variable(self, name: str, depth: int) -> ET.Element | None:
        """Read a variable: an evaluation would give null for one that is not there."""
        try:
            reply = await self._require_stop().run(f"property_get -n {name} -d {depth}")
        except EngineError as error:
            raise EngineError(f"undefined variable {name}") from error
        found = dbgp.list_properties(reply) if reply is not None else []
        if found and found[0].get("type") == "uninitialized":
            raise EngineError(f"undefined variable {name}")
        return found[0] if found else None

    def _find_kept(self, expression: str, depth: int) -> ET.Element:
        saved = self._stack.saved.get(depth)
        for one in dbgp.list_properties(saved) if saved is not None else ():
            if one.get("name") == expression.strip():
                return one
        raise EngineError("after an uncaught exception only the variables that are shown are known")

    async def _on_setVariable(self, arguments: Body) -> Body:  # noqa: N802 - the request's name
        parts = self._find_parts(arguments)
        for one in parts.properties:
            described = self._describe_value(one, parts.depth, in_array=parts.is_array)
            if described["name"] == arguments["name"]:
                target = one.get("fullname")
                value = await self._evaluate(f"{target} = {arguments['value']}", parts.depth)
                return self._describe_value(value, parts.depth) if value is not None else {}
        raise EngineError(f"no variable {arguments['name']}")

    async def _on_exceptionInfo(self, arguments: Body) -> Body:  # noqa: N802 - the request's name
        del arguments
        if self._thrown is None:
            raise EngineError("no exception")
        return {
            "exceptionId": self._thrown.type,
            "description": self._thrown.message,
            "breakMode": "unhandled" if self._thrown.is_uncaught else "always",
            "details": {"typeName": self._thrown.type, "message": self._thrown.message},
        }


async def _refuse(arguments: Body) -> Body:
    del arguments
    raise EngineError("unknown request")


_RESUMES = {"continue": "run", "next": "step_over", "stepIn": "step_into", "stepOut": "step_out"}
