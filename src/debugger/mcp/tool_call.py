"""Runs the daemon's commands for a tool in one session, and formats failures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from debugger.errors import DebuggerError, ErrorCode
from debugger.mcp.daemon_client import DaemonClient, DaemonReply

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

    async def run_command(self, command: str, *, waits: bool = False, **args: Any) -> DaemonReply:
        """Run one of the daemon's commands; arguments that are None are omitted.

        Args:
            command: Its wire name: `breakpoint_add`.
            waits: It may take long: progress is reported.
            args: Its arguments by name.

        Raises:
            DebuggerError: The command's failure.
        """
        given = {name: value for name, value in args.items() if value is not None}
        session = await self._chosen_session(command)
        asked = self.daemon.run_command(command, given, session=session)
        return await (self.wait(asked, command) if waits else asked)

    async def run_command_line(self, argv: Sequence[str]) -> DaemonReply:
        """Run a command line of the debugger.

        Raises:
            DebuggerError: The command's failure.
        """
        asked = self.daemon.run_command_line(argv, session=await self._chosen_session(argv[0]))
        return await self.wait(asked, " ".join(argv[:2]))

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
        said = "; ".join(f"{name}: {error.message}" for name, error in failures.items())
        raise DebuggerError(
            first.code, f"none of {len(failures)} was done: {said}", hint=first.hint
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
