"""Rewrites hints of the command line for a toolset: they name tools that its client has. Pure."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Final

_ANY_COMMAND: Final = "debug_command"
_LLDB: Final = 'debug_lldb_command {{"command": "{}"}}'
_SESSION: Final = 'debug_session {{"action": "{}"}}'
# The tools of the XcodeBuildMCP toolset, by the commands that they stand for.
_TOOLS: Final = {
    "args": "debug_variables",
    "attach": "debug_attach",
    "await": _SESSION.format("wait"),
    "backtrace": "debug_stack",
    "break": "debug_breakpoint_add",
    "breakpoint add": "debug_breakpoint_add",
    "breakpoint list": _LLDB.format("breakpoint list"),
    "breakpoint remove": "debug_breakpoint_remove",
    "config": "doctor",
    "continue": "debug_continue",
    "detach": "debug_detach",
    "disassemble": _LLDB.format("disassemble"),
    "doctor": "doctor",
    "eval": _LLDB.format("expression EXPR"),
    "locals": "debug_variables",
    "memory read": _LLDB.format("memory read ADDRESS"),
    "modules": _LLDB.format("image list"),
    "next": _LLDB.format("thread step-over"),
    "output": _LLDB.format("process status"),
    "pause": _SESSION.format("pause"),
    "print": _LLDB.format("expression EXPR"),
    "raw": _LLDB.format("help"),
    "registers": _LLDB.format("register read"),
    "restart": _SESSION.format("restart"),
    "sessions": _SESSION.format("list"),
    "source": _LLDB.format("source list"),
    "status": _SESSION.format("status"),
    "step": _LLDB.format("thread step-in"),
    "stop": _SESSION.format("stop"),
    "threads": _LLDB.format("thread list"),
    "use": _SESSION.format("use"),
}
# What only a shell takes.
_OF_A_SHELL: Final = frozenset({"daemon", "mcp", "completion", "skill"})

_ARGUMENT = r"(?: (?:--?[a-z][\w-]*|'[^']*'|\"[^\"]*\"|[^\sa-z;,][^\s;,]*|[\w./-]+[:=][^\s;,]+))"
_COMMAND = re.compile(
    r"\bdebugger (?P<path>"
    r"(?:breakpoint|memory|watch|catch|trace|evidence|runs) [a-z]+|-*[A-Za-z][\w-]*)"
    rf"(?P<arguments>{_ARGUMENT}*)"
)
_NAMED = re.compile(r"\bdebug_[a-z_]+")


def name_tools(hint: str, tools: Container[str]) -> str | None:
    """Return a hint for those who have these tools and no shell; None where nothing is left.

    Args:
        hint: A hint of the command line: clauses with semicolons between them, each of which may
            name commands as `debugger COMMAND`.
        tools: The names of the tools that the client can call.
    """
    clauses = [_fit(one.strip(), tools) for one in hint.split(";")]
    return "; ".join(one for one in clauses if one) or None


def _fit(clause: str, tools: Container[str]) -> str | None:
    named = list(_COMMAND.finditer(clause))
    if _ANY_COMMAND in tools:
        return _COMMAND.sub(_quoted, clause)
    missing = any(name not in tools for name in _NAMED.findall(clause))
    if missing or any(one["path"] not in _TOOLS for one in named):
        return None
    return _COMMAND.sub(lambda one: _TOOLS[one["path"]], clause)


def _quoted(named: re.Match[str]) -> str:
    words = named[0].removeprefix("debugger ")
    if named["path"] in _OF_A_SHELL:
        return f"in a shell, debugger {words}"
    return f"{_ANY_COMMAND} `{words}`"
