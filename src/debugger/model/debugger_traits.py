"""Describes a debugger by facts that sessions and questions depend on, beyond its abilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum


class Runtime(Enum):
    """The runtime of the programs that a debugger is for."""

    NATIVE = "native"
    PYTHON = "python"
    NODE = "node"
    GO = "go"


class ForkFollowing(Enum):
    """When a debugger gets hold of a process that the program has forked."""

    AT_ONCE = "at once"  # before it runs any code of its own
    SOON = "soon"  # it runs for a moment
    NEVER = "never"  # the debugger stays with the parent


def no_logged_error(text: str) -> str | None:
    """Return None: the debugger marks no error in a logged value."""
    del text
    return None


def unchanged_value_text(text: str) -> str:
    """Return a logged value unchanged."""
    return text


@dataclass(frozen=True)
class LogDialect:
    """How a debugger writes the values of a logpoint's expressions."""

    # An expression whose value is the number of the thread that hits the logpoint.
    thread: str | None = None
    # Control characters in a logpoint's text are printed unchanged.
    prints_control_characters: bool = True
    # Returns the message of a value that is an error in the debugger's own notation.
    read_error: Callable[[str], str | None] = no_logged_error
    # Removes from a value what only says how the debugger stores or pads it.
    clean_value: Callable[[str], str] = unchanged_value_text


@dataclass(frozen=True)
class DebuggerTraits:
    """Facts about one debugger; the defaults are those of most."""

    runtime: Runtime = Runtime.NATIVE
    fork_following: ForkFollowing = ForkFollowing.AT_ONCE
    log: LogDialect = field(default_factory=LogDialect)
    # Breakpoints can be changed while the program runs, and each hit is still reported once.
    changes_breakpoints_live: bool = False
    # The debugger's numbers of threads are the kernel's.
    has_kernel_thread_ids: bool = False
    # `$_siginfo` evaluates to what the kernel reported about the signal (siginfo_t).
    has_siginfo: bool = False
    # A signal to the program ends an expression that calls the program's functions.
    signal_ends_calls: bool = False
    # A breakpoint on a function of one line may be hit before its arguments are stored.
    stops_before_arguments: bool = False
    # The raw command that makes the selected frame return, with its value behind it.
    return_command: str | None = None
    # What helps where there is no such command.
    return_hint: str = "set values: debugger try 'x=3'"
    # Beginnings of the names of the debugger's own processes.
    own_programs: tuple[str, ...] = ()
    # Words in the command lines of processes that the debugger starts below the program.
    helper_words: tuple[str, ...] = ()
