"""Rewrites command-line hints into calls of the tools that a client has. Pure."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Container, Mapping
from typing import Final

_ANY_COMMAND: Final = "debug_command"
# What a tool of the XcodeBuildMCP toolset takes for a command of ours: LLDB's own command, and what
# stands for arguments where the hint gives none.
_LLDB_COMMANDS: Final = {
    "breakpoint list": ("breakpoint list", ""),
    "disassemble": ("disassemble", ""),
    "eval": ("expression", "EXPR"),
    "memory read": ("memory read", "ADDRESS"),
    "modules": ("image list", ""),
    "next": ("thread step-over", ""),
    "print": ("expression", "EXPR"),
    "raw": ("", "COMMAND"),
    "raw help": ("help", ""),
    "registers": ("register read", ""),
    "registers all": ("register read --all", ""),
    "source": ("source list", ""),
    "step": ("thread step-in", ""),
    "threads": ("thread list", ""),
}
_SESSION_ACTIONS: Final = {
    "await": "wait",
    "pause": "pause",
    "restart": "restart",
    "sessions": "list",
    "status": "status",
    "stop": "stop",
    "use": "use",
}
_WHOLE_TOOLS: Final = {
    "args": "debug_variables",
    "backtrace": "debug_stack",
    "continue": "debug_continue",
    "detach": "debug_detach",
    "doctor": "doctor",
    "locals": "debug_variables",
    "start PROGRAM begins one": "debug_attach begins one",
}
# What only a shell takes, and of those what is worth a shell where no other command is known.
_OF_A_SHELL: Final = frozenset({"daemon", "mcp", "completion", "skill"})
_ALWAYS_OF_A_SHELL: Final = frozenset({"config"})

_VALUED = r"--(?:adapter|backend|connect|core|name|session) [^\s;,]+"
_ARGUMENT = (
    rf"(?: (?:{_VALUED}|--?[a-z][\w-]*|'[^']*'|\"[^\"]*\"|[^\sa-z;,][^\s;,]*|[\w./-]+[:=][^\s;,]+))"
)
_COMMAND = re.compile(
    r"\bdebugger (?P<path>start PROGRAM begins one|raw help|registers all|"
    r"(?:breakpoint|memory|watch|catch|trace|evidence|runs) [a-z]+|-*[A-Za-z][\w-]*)"
    rf"(?P<arguments>(?:(?<=debugger use) [\w.-]+)?{_ARGUMENT}*)"
)
_NAMED = re.compile(r"\bdebug_[a-z_]+")
_PLACE = re.compile(r"(.+):(\d+)")
# A clause that goes on with the one before it says nothing without that.
_GOES_ON = re.compile(r"--|without it\b|it\b")


def name_tools(hint: str, tools: Container[str]) -> str | None:
    """Rewrite a hint for clients with these tools and no shell; None if nothing remains.

    Args:
        hint: A hint of the command line: clauses with semicolons between them, each of which may
        name commands as `debugger COMMAND`.
        tools: The names of the tools that the client can call.
    """
    kept: list[str] = []
    is_left_out = False
    for clause in hint.split(";"):
        goes_on = is_left_out and _GOES_ON.match(clause.strip())
        fitting = None if goes_on else _fit_clause(clause.strip(), tools)
        is_left_out = fitting is None
        kept += [fitting] if fitting else []
    return "; ".join(kept) or None


def _fit_clause(clause: str, tools: Container[str]) -> str | None:
    if _ANY_COMMAND in tools:
        return _COMMAND.sub(_quote_named, clause)
    if any(name not in tools for name in _NAMED.findall(clause)):
        return None
    parts: list[str] = []
    end = 0
    for named in _COMMAND.finditer(clause):
        call = _tool_call(named["path"], _argument_words(named["arguments"]))
        if call is None:
            return None
        parts += [clause[end : named.start()], call]
        end = named.end()
    return "".join(parts) + clause[end:]


def _argument_words(arguments: str) -> list[str]:
    try:
        return shlex.split(arguments)
    except ValueError:
        return arguments.split()


def _tool_call(path: str, words: list[str]) -> str | None:
    """Return the equivalent XcodeBuildMCP tool call of a command; None without one."""
    given = [one for one in words if one != "--help"]
    options = [one for one in given if one.startswith("--")]
    if path in _ALWAYS_OF_A_SHELL:
        return " ".join(["in a shell, debugger", path, *words])
    if path == "attach":
        return _attach_call(given)
    if path in _SESSION_ACTIONS:
        return _session_call(_SESSION_ACTIONS[path], given)
    if options:
        return None
    if path in _LLDB_COMMANDS:
        command, open_words = _LLDB_COMMANDS[path]
        whole = " ".join(one for one in (command, " ".join(given) or open_words) if one)
        return _json_call("debug_lldb_command", {"command": whole})
    return _breakpoint_call(path, given) or _WHOLE_TOOLS.get(path)


def _attach_call(given: list[str]) -> str | None:
    match given:
        case [pid] if pid.isdigit():
            return _json_call("debug_attach", {"pid": int(pid)})
        case [("--name" | "--connect" | "--core") as option, value]:
            return _json_call("debug_attach", {option[2:]: value})
        case ["--core", file, program]:
            return _json_call("debug_attach", {"core": file, "program": program})
        case [pid, ("--adapter" | "--backend") as option, value] if pid.isdigit():
            return _json_call("debug_attach", {"pid": int(pid), option[2:]: value})
        case [] | ["PID"]:
            return "debug_attach"
    return None


def _session_call(action: str, given: list[str]) -> str | None:
    match given:
        case []:
            return _json_call("debug_session", {"action": action})
        case ["--kill"] if action == "stop":
            return _json_call("debug_session", {"action": "kill"})
        case ["--all"] if action == "pause":
            return _json_call("debug_session", {"action": action, "allThreads": True})
        case [name] if action == "use":
            return _json_call("debug_session", {"action": action, "sessionId": name})
        case ["--session", name]:
            return _json_call("debug_session", {"action": action, "sessionId": name})
    return None


def _breakpoint_call(path: str, given: list[str]) -> str | None:
    if path == "breakpoint remove":
        numbers = [int(one) for one in given if one.isdigit()]
        return _json_call(
            "debug_breakpoint_remove", {"breakpointId": numbers[0]} if numbers else {}
        )
    if path not in {"break", "breakpoint add"}:
        return None
    place = _PLACE.fullmatch(given[0]) if given else None
    named = {"file": place[1], "line": int(place[2])} if place is not None else {}
    return _json_call("debug_breakpoint_add", named)


def _json_call(tool: str, arguments: Mapping[str, object]) -> str:
    return f"{tool} {json.dumps(arguments, ensure_ascii=False)}" if arguments else tool


def _quote_named(named: re.Match[str]) -> str:
    words = named[0].removeprefix("debugger ")
    if named["path"] == "start PROGRAM begins one":
        return f"{_ANY_COMMAND} `start PROGRAM` begins one"
    if named["path"] in _OF_A_SHELL:
        return f"in a shell, debugger {words}"
    return f"{_ANY_COMMAND} `{words}`"
