"""Runs the daemon's commands for a tool in one session; its hints name tools, not commands."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from debugger.daemon.daemon_client import DaemonClient, DaemonReply
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import COMMANDS

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
    r"\bdebugger (?P<path>start PROGRAM begins one|--session \S+ COMMAND|raw help|registers all|"
    r"(?:breakpoint|memory|watch|catch|trace|evidence|runs) [a-z]+|-*[A-Za-z][\w-]*)"
    # All words up to those of a program; what a hint says behind them stands in brackets.
    r"(?P<arguments>(?: (?:'[^']*'|(?!debugger |-- )[^\s;,']+))* -- (?!CMD)(?:(?!, | \().)+|"
    rf"(?:(?<=debugger use) [\w.-]+)?{_ARGUMENT}*)"
)
# A clause that is only an option, which the tools have as an argument.
_OPTION = re.compile(r"--(?P<name>members|group) (?P<value>'[^']*'|\S+)")
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
    lines: list[str] = []
    is_left_out = False
    for clause in hint.split(";"):
        goes_on = is_left_out and _GOES_ON.match(clause.strip())
        fitting = None if goes_on else _fit_clause(clause.strip(), tools)
        is_left_out = fitting is None
        lines += [fitting] if fitting else []
    return "; ".join(lines) or None


def _fit_clause(clause: str, tools: Container[str]) -> str | None:
    if _ANY_COMMAND in tools:
        option = _OPTION.match(clause)
        if option is None:
            return _COMMAND.sub(_quote_named, clause)
        value = json.dumps(option["value"].strip("'"))
        return f"{option['name']}: {value}{clause[option.end() :]}"
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
        full = " ".join(one for one in (command, " ".join(given) or open_words) if one)
        return _json_call("debug_lldb_command", {"command": full})
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


# What can be run without meaning one session.
_OF_NO_SESSION = frozenset(
    {"attach", "config", "crash", "doctor", "sessions", "setup", "start", "use"}
)


@dataclass(frozen=True)
class ToolAnswer:
    """A tool's answer: the command line's text, and the same data as values."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    is_error: bool = False

    @classmethod
    def join_replies(cls, replies: Sequence[DaemonReply], data: Mapping[str, Any]) -> ToolAnswer:
        """Join the replies of several commands into one answer."""
        return cls("".join(one.text for one in replies), data)


class ClientMemory:
    """The session that a client's connection started or selected last.

    With `of_many` the memory is shared by clients that cannot be distinguished: then it holds no
    session.
    """

    def __init__(self, *, of_many: bool = False) -> None:
        self.of_many = of_many
        self.session: str | None = None
        self.defaults: dict[str, Any] = {}


@dataclass(frozen=True)
class ToolCall:
    """One call of a tool by one client."""

    daemon: DaemonClient
    memory: ClientMemory
    session: str | None
    # Awaits a long operation, and reports progress meanwhile.
    wait: Callable[[Awaitable[DaemonReply], str], Awaitable[DaemonReply]]
    # The group and the members that the commands act on, where they take such a choice.
    choice: Mapping[str, Any] = field(default_factory=dict)

    async def run_command(self, command: str, *, waits: bool = False, **args: Any) -> DaemonReply:
        """Run one of the daemon's commands; arguments that are None are omitted.

        Args:
            command: Its wire name: `breakpoint_add`.
            waits: It may take long: progress is reported.
            args: Its arguments by name.

        Raises:
            DebuggerError: The command's failure.
        """
        choice = self.choice if _takes_members(command) else {}
        given = {name: value for name, value in {**args, **choice}.items() if value is not None}
        session = await self._chosen_session(command)
        running = self.daemon.run_command(command, given, session=session)
        return await (self.wait(running, command) if waits else running)

    async def run_command_line(self, argv: Sequence[str]) -> DaemonReply:
        """Run a command line of the debugger.

        Raises:
            DebuggerError: The command's failure.
        """
        running = self.daemon.run_command_line(argv, session=await self._chosen_session(argv[0]))
        return await self.wait(running, " ".join(argv[:2]))

    async def _chosen_session(self, command: str) -> str | None:
        """Return the session for the call, None for the only one.

        Raises:
            DebuggerError: USAGE if it may be another client's.
        """
        session = self.session or self.memory.session
        if session is not None or not self.memory.of_many or command in _OF_NO_SESSION:
            return session
        found = (await self.daemon.run_command("sessions", {})).data["sessions"]
        if len(found) > 1:
            names = ", ".join(str(one["session"]) for one in found)
            raise DebuggerError(
                ErrorCode.USAGE,
                "several sessions are open, and which one is yours is not known here",
                hint=f"give sessionId: {names}",
            )
        return None

    def without_session(self) -> ToolCall:
        """Return a copy of the call for a session that does not exist yet."""
        return replace(self, memory=ClientMemory())

    def remember(self, session: str | None) -> None:
        """Make a session the default for later calls."""
        if not self.memory.of_many:
            self.memory.session = session


def _takes_members(command: str) -> bool:
    return any(one.name == "members" for one in COMMANDS.get(command).parameters)


async def answer_each(
    jobs: Mapping[str, Callable[[], Awaitable[DaemonReply]]],
) -> tuple[dict[str, DaemonReply], dict[str, DebuggerError]]:
    """Run several jobs of one call in turn; return the replies, and the failures.

    Raises:
        DebuggerError: The failure of the only job; if all of several fail, all failures.
    """
    replies: dict[str, DaemonReply] = {}
    failures: dict[str, DebuggerError] = {}
    for name, job in jobs.items():
        try:
            replies[name] = await job()
        except DebuggerError as error:
            failures[name] = error
    if failures and not replies:
        first = next(iter(failures.values()))
        if len(failures) == 1:
            raise first
        text = "; ".join(f"{name}: {error.message}" for name, error in failures.items())
        raise DebuggerError(
            first.code, f"none of {len(failures)} was done: {text}", hint=first.hint
        )
    return replies, failures


def failed_text(failures: Mapping[str, DebuggerError]) -> str:
    """Format the failures of several jobs."""
    return "".join(f"failed: {name}: {error.message}\n" for name, error in failures.items())


def failed_data(failures: Mapping[str, DebuggerError]) -> list[dict[str, Any]]:
    """Return the failures of several jobs as values."""
    return [
        {"target": name, "error": error.message, "code": error.code.value, "hint": error.hint}
        for name, error in failures.items()
    ]


def one_of(**given: Any) -> str:
    """Return the name of the only given argument.

    Raises:
        DebuggerError: USAGE if none or several are given.
    """
    named = [name for name, value in given.items() if value not in {None, ""}]
    if len(named) != 1:
        raise DebuggerError(
            ErrorCode.USAGE, f"give one of {', '.join(given)}", hint="exactly one of them"
        )
    return named[0]


INVALID = "Parameter validation failed"


class ToolFailure(DebuggerError):
    """A failure with a text of its own in place of its tool's standard failure text."""

    def __init__(self, title: str, message: str) -> None:
        super().__init__(ErrorCode.USAGE, message)
        self.title = title


def invalid_arguments(
    problem: str, *, argument: str = "root", tip: str | None = None
) -> DebuggerError:
    """Return the failure for invalid arguments."""
    lines = [f"Invalid parameters:\n{argument}: {problem}", *([f"Tip: {tip}"] if tip else [])]
    return ToolFailure(INVALID, "\n".join(lines))


def format_failure(failure: str, error: DebuggerError) -> str:
    """Format a failure; `failure` is the tool's own first line."""
    hint = f"\nhint: {error.hint}" if error.hint else ""
    if isinstance(error, ToolFailure):
        return f"Error: {error.title}\nDetails: {error.message}"
    if error.code is ErrorCode.USAGE:
        return f"Error: {INVALID}\nDetails: Invalid parameters:\n{error.message}{hint}"
    return f"Error: {failure}\nDetails: {error.message}{hint}"
