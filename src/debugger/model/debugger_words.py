"""Checks and classifies text that is sent to a debugger; describes a debugger by facts. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise

from debugger.errors import DebuggerError, ErrorCode

_SHOWN = 60


def one_line(text: str) -> None:
    """Reject text with newlines: a second line would be another debugger command.

    Raises:
        DebuggerError: USAGE.
    """
    if not text.strip():
        raise DebuggerError(ErrorCode.USAGE, "an empty expression", hint="debugger print EXPR")
    if any(ord(letter) < ord(" ") and letter != "\t" for letter in text):
        raise DebuggerError(
            ErrorCode.USAGE,
            "an expression is one line, without control characters",
            hint="debugger eval EXPR takes one line; give several one after the other",
        )


def parse_call(text: str) -> tuple[str, tuple[str, ...]]:
    """Split a call: `add(1, f(2, 3))` → `add` and `1`, `f(2, 3)`; a name alone has no arguments."""
    text = text.strip()
    depth, opens = 0, -1
    commas: list[int] = []
    for at, letter in _unquoted_characters(text):
        if letter in "([{":
            opens, commas = (at, []) if not depth else (opens, commas)
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and depth == 1:
            commas.append(at)
    if opens <= 0 or depth or text[opens] != "(" or not text.endswith(")"):
        return text, ()
    edges = [opens, *commas, len(text) - 1]
    parts = (text[first + 1 : last].strip() for first, last in pairwise(edges))
    given = text[opens + 1 : -1].strip()
    return text[:opens].strip(), tuple(parts) if given else ()


def _unquoted_characters(text: str) -> Iterator[tuple[int, str]]:
    """Yield a text's unquoted characters with their positions."""
    quote = ""
    for at, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote and text[at - 1] != "\\" else quote
        elif letter in "'\"":
            quote = letter
        else:
            yield at, letter


def check_line(text: str, most: int) -> None:
    """Reject text with newlines, or with more than `most` characters.

    Raises:
        DebuggerError: USAGE.
    """
    one_line(text)
    if len(text) > most:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{len(text):,} characters where {most:,} are allowed: {text[:_SHOWN]}…",
            hint="debugger --help",
        )


class RawEffect(Enum):
    """The effect of a raw command on the target."""

    NONE = "none"
    STEP = "step"
    INTERRUPT = "interrupt"
    DETACH = "detach"
    KILL = "kill"


# The shortest spelling of each word that LLDB takes; one word stands for a command or an alias.
_LLDB_EFFECTS: Mapping[RawEffect, str] = {
    RawEffect.STEP: r"t(h(r(e(ad?)?)?)?)?\s+(step-\S+|u(n(t(il?)?)?)?)\b"
    r"|(n|next|s|step|si|stepi|ni|nexti|finish|sif)(\s|\Z)",
    RawEffect.INTERRUPT: r"pro(c(e(ss?)?)?)?\s+i\w*",
    RawEffect.DETACH: r"pro(c(e(ss?)?)?)?\s+d\w*|det\w*",
    RawEffect.KILL: r"pro(c(e(ss?)?)?)?\s+k\w*|k(i(ll?)?)?(\s|\Z)",
}
_GDB_EFFECTS: Mapping[RawEffect, str] = {
    RawEffect.STEP: r"(n|next|s|step|si|stepi|ni|nexti|fin|finish|u|until|advance)(\s|\Z)",
    RawEffect.INTERRUPT: r"interr\w*(\s|\Z)",
    RawEffect.DETACH: r"det\w*|disconn\w*",
    RawEffect.KILL: r"k(i(ll?)?)?(\s|\Z)",
}


def _find_effect(command: str, effects: Mapping[RawEffect, str]) -> RawEffect:
    plain = re.sub(r"[\"'\\]", "", command).strip().lstrip("`").strip()
    return next((one for one, words in effects.items() if re.match(words, plain)), RawEffect.NONE)


def lldb_effect(command: str) -> RawEffect:
    """Return the effect of an LLDB command on the program."""
    return _find_effect(command, _LLDB_EFFECTS)


def gdb_effect(command: str) -> RawEffect:
    """Return the effect of a gdb command on the program."""
    return _find_effect(command, _GDB_EFFECTS)


def no_effect(command: str) -> RawEffect:
    """Return no effect, for a debugger whose commands never resume the program."""
    del command
    return RawEffect.NONE


# Each is a command and, where it has one, its subcommand; LLDB takes any prefix that is unique.
# The commands below that take another command run it later, where nobody looks at it.
_SHELLS = (
    ("platform", "shell"),
    ("script", ""),
    ("shell", ""),
    ("command", "script"),
    ("command", "source"),
    ("plugin", "load"),
    ("process", "plugin"),
    ("scripting", ""),
    ("command", "alias"),
    ("command", "regex"),
    ("breakpoint", "command"),
    ("watchpoint", "command"),
    ("target", "stop-hook"),
    ("frame", "recognizer"),
    ("thread", "step-scripted"),
)
_SHORTEST = {"platform": 2, "script": 2, "shell": 2, "command": 3, "plugin": 2, "process": 3}
_SHORTEST |= {"scripting": 2, "breakpoint": 2, "watchpoint": 1, "target": 2, "frame": 1}
_SHORTEST |= {"thread": 1}
# Options by which other commands take a command or a script: breakpoint set -C, type summary -P…
_OPTIONS = re.compile(
    r"\s--(com|she|py|scr)"
    r"|\A(b|br\w*|tb\w*|rb\w*)\s(.*\s)?-\w*[CP]"
    r"|\Aty\w*\s(.*\s)?-\w*[FPlo]"
    r"|\Apro\w*\s(.*\s)?-\w*[cX]"
)
_GDB = re.compile(
    r"!|\||(python|pi|py|guile|gu|source|pipe|make|define|document|alias|eval|with|dprintf"
    r"|interpreter-exec|compile|[tf]aas|taas|add-auto-load\S*)\b"
    r"|tar\w*\s+\S+\s*\|"
    r"|(thread|frame)\s+apply\b"
)


def uses_shell(command: str) -> bool:
    """Check whether a raw command of gdb or lldb runs a shell or a script of the debugger's own."""
    # LLDB takes a command's words in quotes as well: "platform" 'shell'.
    plain = re.sub(r"[\"'\\]", "", command).strip().lstrip("`").strip()
    words = plain.split()
    if not words:
        return False
    if _GDB.match(plain) or _OPTIONS.search(plain):
        return True
    for first, second in _SHELLS:
        is_first = first.startswith(words[0]) and len(words[0]) >= _SHORTEST[first]
        is_second = not second or (len(words) > 1 and second.startswith(words[1]))
        if is_first and is_second:
            return True
    return False


class Runtime(Enum):
    """The runtime of the programs that a debugger is for."""

    NATIVE = "native"
    PYTHON = "python"
    NODE = "node"
    GO = "go"
    JAVA = "java"
    RUBY = "ruby"
    PHP = "php"


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
    # At a watchpoint, gives function, file and line of the access, a line each.
    access_expression: str | None = None
    # At an exception, gives the FILE:LINE that threw it again, if code ran in between.
    rethrow_expression: str | None = None
    # Where a name may be a method: a function that reads what such a text names, and runs nothing.
    read_function: str | None = None
    # What helps where there is no such command.
    return_hint: str = "set values: debugger try 'x=3'"
    # Beginnings of the names of the debugger's own processes.
    own_programs: tuple[str, ...] = ()
    # Words in the command lines of processes that the debugger starts below the program.
    helper_words: tuple[str, ...] = ()
    # It runs the launcher of a job, which has no debugger and never stops.
    is_launcher: bool = False

    def write_read(self, expression: str) -> str:
        """Write an expression for an answer of our own: reading it must not run the program."""
        if self.read_function is None:
            return expression
        quoted = expression.replace("\\", "\\\\").replace("'", "\\'")
        return f"{self.read_function}(binding, '{quoted}')"
