"""Answers requests of the Debug Adapter Protocol by commands of DBGp."""

from __future__ import annotations

import asyncio
import re
import xml.etree.ElementTree as ET
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from debugger.backends.adapters.xdebug import dbgp_values as dbgp
from debugger.backends.adapters.xdebug import interrupts, php_code, php_errors
from debugger.backends.adapters.xdebug.dbgp_engine import DbgpEngine, EngineError
from debugger.backends.adapters.xdebug.php_breakpoints import PhpBreakpoint, PhpBreakpoints
from debugger.backends.adapters.xdebug.php_errors import Thrown
from debugger.backends.adapters.xdebug.php_stack import (
    PhpStack,
    StackReader,
    evaluate,
    list_locals,
    list_variables,
    read_property,
    read_variable,
    save_variables,
)

Body = dict[str, Any]
Handler = Callable[[Body], Awaitable[Body]]
_THREAD = 1
_READ_STACK = "stack_get"
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
_INTERRUPT_S = 0.5  # that PHP, which may be in a call of the system, has to take breakpoints
_VARIABLE = re.compile(r"\A\$\w+\Z")
_PROPERTY = re.compile(r"\A\$\w+(?:->\w+|::\w+|\[(?:\d+|'[^']*'|\"[^\"]*\")\])+\Z")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


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
        self._stops_on_entry = False
        self._stack = PhpStack()
        self.breakpoints = PhpBreakpoints(self.send_event)
        self._thrown: Thrown | None = None
        self._last_throw: tuple[Thrown, PhpStack] | None = None
        self._parts: list[Parts] = []
        self._reader = StackReader()
        self._is_pausing = False
        self._resumed_by = "run"
        self._reported_levels = 0  # frames that are to come with the end of a step
        # Xdebug's breakpoint at the end of the function of the last step, and that function.
        self._return_id: str | None = None
        self._return_function: str | None = None
        self._is_unwinding = False  # an exception was thrown, and not caught so far
        self._is_at_return = False  # PHP stands at the end of the step's function
        self._resumed_depth = 0  # of frames, where a step began
        self._synchronized = asyncio.Event()  # PHP has the breakpoints that are set

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
        if request["command"] in {"launch", "attach"}:
            self.send_event("initialized")
        elif request["command"] == "configurationDone":
            self.configured.set()
        elif (command := _RESUMES.get(request["command"])) is not None and reply["success"]:
            self._parts.clear()
            self._reported_levels = int((request.get("arguments") or {}).get("reports") or 0)
            if self._stack.is_over:  # what was thrown has ended the request
                command = "run"
            self._resumed_by, self._resumed_depth = command, len(self._stack.frames)
            # The hidden function is left first, and the step goes on from there.
            leaves = command == "step_out" and self._stack.innermost > 0
            self._stack = PhpStack()
            self._resume("step_over" if leaves else command)

    def send_event(self, name: str, **body: Any) -> None:
        """Send an event."""
        self._send({"type": "event", "event": name, "body": body})

    async def _on_initialize(self, arguments: Body) -> Body:
        del arguments
        return _CAPABILITIES

    async def _on_launch(self, arguments: Body) -> Body:
        self._stops_on_entry = bool(arguments.get("stopOnEntry"))
        self.breakpoints.read_program(str(arguments.get("program") or ""))
        return {}

    async def _on_attach(self, arguments: Body) -> Body:
        self.breakpoints.read_program(str(arguments.get("program") or ""))
        self._is_pausing = bool(arguments.get("pause"))  # where the next request begins
        return {}

    async def _on_configurationDone(self, arguments: Body) -> Body:  # noqa: N802 - the request's name
        del arguments
        return {}

    async def _on_continue(self, arguments: Body) -> Body:
        del arguments
        self._require_stop()
        await self._watch_return(None)
        return {"allThreadsContinued": True}

    async def _on_step(self, arguments: Body) -> Body:
        del arguments
        self._require_stop()
        await self._watch_return(None)
        return {}

    _on_stepIn = _on_stepOut = _on_step  # noqa: N815 - the requests' names

    async def _on_next(self, arguments: Body) -> Body:
        del arguments
        self._require_stop()
        # Where the step leaves the function, it stops at its end, where Xdebug knows the value.
        is_left = self._stack.innermost > 0 or self._stack.is_over
        function = None if is_left else self._stack.frames[0].get("where")
        await self._watch_return(function)
        return {}

    async def _watch_return(self, function: str | None) -> None:
        """Set a breakpoint at the end of a function, in place of the one of the last step."""
        if function == self._return_function:
            return
        engine = self._require_stop()
        if self._return_id is not None:
            with suppress(EngineError):
                await engine.run(f"breakpoint_remove -d {self._return_id}")
        self._return_id, self._return_function = None, function
        if function and (match := php_code.match_function(function)):
            owner = f" -a {dbgp.quote_option(match['owner'])}" if match["owner"] else ""
            command = f"breakpoint_set -t return -m {match['name']}{owner}"
            with suppress(EngineError):
                reply = await engine.run(command)
                self._return_id = reply.get("id") if reply is not None else None

    async def _on_pause(self, arguments: Body) -> Body:
        del arguments
        # Before PHP connects, and between two requests, the next request stops where it begins.
        if not self._stack.frames:
            if self.engine is not None:
                self.engine.interrupt()
            self._is_pausing = True
        return {}

    async def _on_threads(self, arguments: Body) -> Body:
        del arguments
        return {"threads": [{"id": _THREAD, "name": "main"}]}

    async def _on_disconnect(self, arguments: Body) -> Body:
        if self.engine is not None:
            if arguments.get("terminateDebuggee"):
                self.engine.end_process()
            self.engine.close()
        return {}

    def choose_first_command(self) -> str:
        """Return the command that a new request begins with."""
        self._return_id = self._return_function = None
        return "step_into" if self._stops_on_entry or self._is_pausing else "run"

    def commands_ahead(self, command: str) -> list[str]:
        """Return what the report of a step reads, in nearly all cases, where the step ends."""
        is_step = self._reported_levels and command.startswith("step_")
        return [_READ_STACK, list_locals(0)] if is_step else []

    def _require_stop(self) -> DbgpEngine:
        if self.engine is None or not self._stack.frames:
            raise EngineError("the program is running")
        return self.engine

    # -- breakpoints -------------------------------------------------------------------------------

    async def _on_setBreakpoints(self, arguments: Body) -> Body:  # noqa: N802 - the request's name
        made = self.breakpoints.set_lines(arguments)
        await self._synchronize()
        return {"breakpoints": [self.breakpoints.describe(one) for one in made]}

    async def _on_setFunctionBreakpoints(self, arguments: Body) -> Body:  # noqa: N802 - as above
        made = self.breakpoints.set_functions(arguments)
        await self._synchronize()
        return {"breakpoints": [self.breakpoints.describe(one) for one in made]}

    async def _on_setExceptionBreakpoints(self, arguments: Body) -> Body:  # noqa: N802 - as above
        self.breakpoints.set_filters(arguments)
        await self._synchronize()
        return {}

    async def _synchronize(self) -> None:
        """Let PHP have the breakpoints now, if it can."""
        if self.engine is None:
            return
        if self._stack.frames:
            await self.breakpoints.synchronize(self.engine)
        elif self.configured.is_set() and self._resumed_by == "run":
            # It reads nothing while it runs: it is interrupted, or has them from its next stop on.
            self._synchronized.clear()
            with suppress(EngineError, TimeoutError):
                self.engine.interrupt()
                async with asyncio.timeout(_INTERRUPT_S):
                    await self._synchronized.wait()

    # -- stops -------------------------------------------------------------------------------------

    async def report_stop(self, packet: ET.Element, command: str) -> str | None:
        """Report a stop; return the command to go on with if nobody requested it."""
        assert self.engine is not None
        message = dbgp.find_message(packet)
        thrown = message.get("exception") if message is not None else None
        reply = await self.engine.run(_READ_STACK)
        frames = list(reply) if reply is not None else []
        # Of a function that returns nothing Xdebug shows no value.
        self._is_at_return = self._return_id in dbgp.find_breakpoints(packet)
        # A step stops at the end of each function that an exception leaves, which nobody requested.
        is_left = self._is_at_return or dbgp.is_function_end(packet)
        # One of PHP's own that threw seems to return null there.
        is_left = is_left and (self._thrown is not None or dbgp.find_returned(packet) is None)
        self._is_unwinding = thrown is not None or (self._is_unwinding and is_left)
        is_interrupted = bool(frames) and interrupts.is_handler(frames[0])
        self._stack = PhpStack(frames[is_interrupted:])
        self._thrown = None
        try:
            await self.breakpoints.synchronize(self.engine)
            self._synchronized.set()
            built_in = await self._reader.find_built_in(self.engine, frames)
            self._stack = replace(self._stack, built_in=built_in)
            if is_interrupted:
                return self._report_interrupt()
            if frames and interrupts.is_in_handler(frames[0]):
                return "step_over" if self._is_pausing else self._go_on()
            if thrown is not None and message is not None:
                self._stack = self._stack.hide_built_in()
                return await self._report_exception(thrown, message.text or "")
            if self._is_unwinding:
                return "step_over"
            return await self._report_breakpoint(packet, command)
        except EngineError as error:
            self.send_event("output", category="console", output=f"{error}\n")
            return command

    def _report_interrupt(self) -> str | None:
        if not self._is_pausing:
            return self._go_on()
        self._report("pause")
        return None

    async def _report_exception(self, kind: str, text: str) -> str | None:
        if php_errors.is_own_error(kind):
            uncaught = php_errors.parse_uncaught(text)
            found = uncaught or php_errors.parse_fatal(kind, text)
            if found is None or "uncaught" not in self.breakpoints.filters:
                return self._go_on()
            stack = self._last_throw[1] if self._last_throw and uncaught else None
            stack = stack or await save_variables(self._require_stop(), self._stack)
            if found.is_of_handler and found.place is not None:
                stack = stack.hide_handler(found.place).hide_built_in()
            self._stack = replace(stack, is_over=True)
            self._report_thrown(found)
            return None
        thrown = Thrown(kind, text)
        if "uncaught" in self.breakpoints.filters:
            self._last_throw = (thrown, await save_variables(self._require_stop(), self._stack))
        types = self.breakpoints.filters.get("raised")
        short = kind.rpartition("\\")[2]
        if types is None or (types and not {kind, short} & set(types)):
            return self._go_on()
        self._report_thrown(thrown)
        return None

    def _report_thrown(self, thrown: Thrown) -> None:
        self._thrown = thrown
        text = f"{thrown.type}: {thrown.message}"
        self._report("exception", description=text, text=thrown.type)

    def _report(self, reason: str, **more: Any) -> None:
        self._is_pausing = False
        self.send_event("stopped", reason=reason, threadId=_THREAD, allThreadsStopped=True, **more)

    def _go_on(self) -> str:
        """Return the command that goes on with what was requested, from a stop that nobody did."""
        depth, command = len(self._stack.frames), self._resumed_by
        self._stack = PhpStack()
        if command in {"step_over", "step_out"} and depth > self._resumed_depth:
            return "step_out"
        return command

    async def _report_breakpoint(self, packet: ET.Element, command: str) -> str | None:
        ids = dbgp.find_breakpoints(packet)
        self._hide_returning(packet)
        path, line = dbgp.find_position(self._stack.frames)
        due = await self.breakpoints.find_due(ids, path, line, self._evaluate_text)
        for one in due:
            if one.log is not None:
                await self._write_log(one)
        stopping = [one for one in due if one.log is None]
        if stopping:
            of_functions = all(one.is_function for one in stopping)
            reason = "function breakpoint" if of_functions else "breakpoint"
            self._report(reason, hitBreakpointIds=[one.number for one in stopping])
        elif command == "step_into" and self._stops_on_entry:
            self._stops_on_entry = False
            self._report("entry")
        elif self._is_pausing:
            self._report("pause")
        elif self._resumed_by == "run" or not self._is_step_over():
            return self._go_on()
        else:
            self._report("step", answers=await self._answer_ahead())
        return None

    async def _answer_ahead(self) -> list[Body]:
        """Answer the requests that the report of a step makes."""
        answers: list[Body] = []

        async def answer(command: str, handle: Handler, **arguments: Any) -> Body:
            body = await handle(arguments)
            answers.append({"command": command, "arguments": arguments, "body": body})
            return body

        if self._reported_levels:
            pages: Body = {"threadId": _THREAD, "startFrame": 0, "levels": self._reported_levels}
            stack = await answer("stackTrace", self._on_stackTrace, **pages)
            for frame in stack["stackFrames"][:1]:
                found = await answer("scopes", self._on_scopes, frameId=frame["id"])
                for scope in found["scopes"]:
                    number = scope["variablesReference"]
                    await answer("variables", self._on_variables, variablesReference=number)
        return answers

    def _is_step_over(self) -> bool:
        """Return whether the step that was requested is complete."""
        depth = len(self._stack.frames)
        if self._resumed_by == "step_over":
            has_returned = self._stack.returned is not None or self._is_at_return
            is_within = has_returned and depth == self._resumed_depth
            return depth <= self._resumed_depth and not is_within
        return self._resumed_by != "step_out" or depth < self._resumed_depth

    def _hide_returning(self, packet: ET.Element) -> None:
        """Leave out a function that returns, so that the stop is in its caller."""
        value = dbgp.find_returned(packet)
        if (value is not None or self._is_at_return) and len(self._stack.frames) > 1:
            left, *frames = self._stack.frames
            returned = (left.get("where") or "", value) if value is not None else None
            self._stack = replace(self._stack, frames=frames, returned=returned)

    async def _evaluate_text(self, code: str) -> str:
        """Evaluate code of ours in the innermost frame."""
        value = await evaluate(self._require_stop(), self._stack, self._stack.innermost, code)
        return dbgp.read_text(value) if value is not None else ""

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
        named = {"source": {"name": path.rpartition("/")[2], "path": path}}
        source = named if path.startswith("/") else {}
        return {
            "id": int(one.get("level") or 0) + 1,
            "name": one.get("where") or "{main}",
            "line": int(one.get("lineno") or 0),
            "column": 0,
            **source,
        }

    async def _on_scopes(self, arguments: Body) -> Body:
        depth = int(arguments["frameId"]) - 1
        known = await list_variables(self._require_stop(), self._stack, depth)
        if self._stack.returned is not None and depth == 1:
            function, value = self._stack.returned
            value.set("name", f"(return) {function}")
            known.insert(0, value)
        given = await self._reader.read_parameters(self._require_stop(), self._stack, depth)
        scopes: list[Body] = []
        for name, is_given in (("Arguments", True), ("Locals", False)):
            found = [one for one in known if ((one.get("name") or "")[1:] in given) is is_given]
            if found or not is_given:
                self._parts.append(Parts(found, depth, None, is_array=False))
                scope: Body = {"name": name, "presentationHint": name.lower(), "expensive": False}
                scopes.append({**scope, "variablesReference": len(self._parts)})
        return {"scopes": scopes}

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
            owner = await read_property(self._require_stop(), self._stack, depth, fullname, page)
            items = dbgp.list_properties(owner) if owner is not None else []
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
        depth = int(arguments.get("frameId") or self._stack.innermost + 1) - 1
        value = await self._evaluate(str(arguments["expression"]), depth)
        if value is None:
            return {"result": "null", "type": "null", "variablesReference": 0}
        described = self._describe_value(value, depth)
        return {**described, "result": described["value"]}

    async def _evaluate(self, expression: str, depth: int) -> ET.Element | None:
        engine, stack, name = self._require_stop(), self._stack, expression.strip()
        if stack.is_over or _VARIABLE.match(name):
            return await read_variable(engine, stack, depth, name)
        code = php_code.capture_error(stack.bind_object(depth, expression))
        value = await evaluate(engine, stack, depth, code)
        if (thrown := php_code.read_thrown(value)) is not None:
            # PHP's own code may not read it here, and Xdebug may.
            if "Cannot access" in thrown and _PROPERTY.match(name):
                return await read_property(engine, stack, depth, name)
            raise EngineError(thrown)
        return value

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
            "details": php_errors.describe_thrown(self._thrown),
        }


async def _refuse(arguments: Body) -> Body:
    del arguments
    raise EngineError("unknown request")


_RESUMES = {"continue": "run", "next": "step_over", "stepIn": "step_into", "stepOut": "step_out"}
