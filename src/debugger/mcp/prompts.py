"""Holds the instructions and prompts for a model, and the readable resources of a session."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from debugger.cli import situations
from debugger.daemon.daemon_client import DaemonClient
from debugger.errors import DebuggerError, ErrorCode

CORE = f"""\
Real debuggers for C/C++, Rust, Go, Java, Python, JavaScript, Ruby, PHP: for what the code does \
not show. A question runs a command (`./prog ARGS`, `python x.py`) to its answer and cleans \
up:
{situations.list_as_tools()}

In a session every answer is the whole stop: debug_evaluate, debug_variables, debug_stack inspect \
it, debug_try says whether a change would help, debug_continue goes on, debug_session \
{{action: "stop"}} ends it. A program that must not stop: debug_launch {{backend: "frida"}}, \
debug_trace, debug_logpoint, debug_query.

Expressions may call the program's functions. Questions choose hits by when, nth, first, last, \
changes; all tools take cwd, env, timeoutMs, and sessionId (else the last session). \
debug_command runs any other command; a hint "debugger X" means debug_command \
"X". A job (torchrun, mpirun, multiprocessing): group true, then members "0-3".
"""

XCODE = """\
LLDB on a running app: in a simulator (debug_attach_sim with bundleId or pid) or any process of \
this machine (debug_attach with pid or name).

1. Attach; the app runs on unless continueOnAttach is false. session_set_defaults keeps simulator \
and bundle.
2. debug_breakpoint_add {file, line, condition} or {function}; then make the app come there.
3. debug_session {action: "wait"} waits for the stop; {action: "pause"} stops it where it is.
4. debug_stack, debug_variables {frameIndex}, debug_lldb_command {command: "expression x"}.
5. debug_continue goes on and returns at once. debug_detach at the end: the app lives on.

Without debugSessionId the current debug session is meant. The sessions are shared with the shell \
command `debugger`: a person can look on. What an answer names as "debugger X" is such a command.
"""


def tool_instructions(tools: Container[str]) -> str:
    """Return the instructions for a set of tools, by their names."""
    return CORE if "debug_launch" in tools else XCODE


@dataclass(frozen=True)
class McpPrompt:
    """A prompt with its text."""

    name: str
    title: str
    description: str
    # Name, description, and whether the argument is required.
    arguments: tuple[tuple[str, str, bool], ...]
    text: str

    def fill_arguments(self, given: Mapping[str, str]) -> str:
        """Return the text with its arguments.

        Raises:
            DebuggerError: USAGE for one that is missing.
        """
        values = {name: given.get(name, "") for name, _, _ in self.arguments}
        for name, _, is_required in self.arguments:
            if is_required and not values[name]:
                raise DebuggerError(
                    ErrorCode.USAGE, f"the prompt {self.name} needs {name}", hint=f"give {name}"
                )
        text = self.text
        for name, value in values.items():  # not str.format: values may hold braces
            text = text.replace(f"<{name}>", value)
        return text


PROMPTS: Mapping[str, McpPrompt] = {
    one.name: one
    for one in (
        McpPrompt(
            "find-crash",
            "Find why it crashes",
            "Run a program to its crash, and find the cause",
            (("command", "the program, with its arguments", True),),
            """\
Find why this program crashes: <command>

1. debug_launch with the program and its arguments, without breakpoints (for Rust with \
"rust_panic"): it stops at the signal, the panic or the uncaught exception, with source, locals \
and stack.
2. debug_command "exception" tells type, message and causes. Look at the callers with \
debug_variables {"frameIndex": 1} and on, until a value is wrong that the frame below was given.
3. Find where that value came from: debug_session {"action": "restart"} with a breakpoint before \
it, or debug_command "watch EXPR" once it exists, then debug_continue.
4. Say the cause as: which value, written where, makes which line fail. Then debug_session \
{"action": "stop"}.""",
        ),
        McpPrompt(
            "find-writer",
            "Find who changes this value",
            "Find the code that writes a value",
            (
                ("expression", "the variable, field or element", True),
                ("command", "the program, with its arguments", True),
                ("place", "FILE:LINE or FUNCTION where it exists", False),
            ),
            """\
Find who changes `<expression>` in: <command>

1. debug_launch with a breakpoint where the value exists (<place>).
2. debug_command "watch <expression>". Where there are no watchpoints (Python, JavaScript), set a \
debug_logpoint with the message "<expression>={<expression>}" at each line that may write it.
3. debug_continue: each stop shows the value before and after, and the line that wrote it. Go on \
until the write that is wrong; debug_stack tells who asked for it.
4. Say which line writes it, called by whom, with which values. Then debug_session {"action": \
"stop"}.""",
        ),
        McpPrompt(
            "find-hang",
            "Find why it hangs",
            "Find what a program that does not go on waits for",
            (("pid", "the process, or its name", True),),
            """\
Find why the process <pid> hangs.

1. debug_attach with pid (or name) and "pause": true.
2. debug_stack {"allThreads": true}: all threads in one answer. For each that waits, find in its \
frames which lock, socket or child it waits for, and which thread holds it.
3. If one thread is busy instead: debug_continue {"timeoutMs": 1000} and debug_session {"action": \
"pause"} a few times; the frame that stays is the loop. debug_variables there shows why it does \
not end.
4. Say what waits for what. Then debug_detach: the process must live on.""",
        ),
    )
}


SCHEME = "debugger"
_URI = re.compile(rf"{SCHEME}://session/(?P<session>[^/]+)/(?P<part>[a-z]+)")
_LINES = 500  # the timeline's page, and more source than a model wants


@dataclass(frozen=True)
class SessionResource:
    """One readable part of every session."""

    name: str
    title: str
    description: str


PARTS: Mapping[str, SessionResource] = {
    one.name: one
    for one in (
        SessionResource("source", "Source", "the source around where the program is"),
        SessionResource("output", "Output", "what the program wrote last"),
        SessionResource(
            "timeline", "Timeline", "stops, output, logpoints, failed conditions, the end"
        ),
    )
}


def resource_uri(session: str, part: str) -> str:
    """Return the URI of a session's part."""
    return f"{SCHEME}://session/{quote(session, safe='')}/{part}"


def resource_template(part: str) -> str:
    """Return the template of `resource_uri` (RFC 6570)."""
    return f"{SCHEME}://session/{{session}}/{part}"


async def list_resources(daemon: DaemonClient) -> list[tuple[str, SessionResource]]:
    """List the current resources: a session's name and each part of it."""
    return [(name, part) for name in await list_sessions(daemon) for part in PARTS.values()]


async def list_sessions(daemon: DaemonClient) -> list[str]:
    """List the names of the sessions."""
    reply = await daemon.run_command("sessions", {})
    return [str(one["session"]) for one in reply.data["sessions"]]


async def read_resource(daemon: DaemonClient, uri: str) -> str:
    """Read a resource; unread `output` stays unread.

    Raises:
        DebuggerError: NOT_FOUND for an unknown URI, else the daemon's failure.
    """
    found = _URI.fullmatch(uri)
    if found is None or found["part"] not in PARTS:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"no resource {uri}",
            hint=f"there is {resource_template('source')}",
        )
    session, part = unquote(found["session"]), found["part"]
    if part == "source":
        return (await daemon.run_command("source", {"lines": _LINES}, session=session)).text
    if part == "timeline":
        return (await daemon.run_command("events", {"limit": _LINES}, session=session)).text
    filters: dict[str, Any] = {"kinds": ("output",), "limit": _LINES}
    reply = await daemon.run_command("events", filters, session=session)
    return "".join(f"{one['text']}\n" for one in reply.data["events"])
