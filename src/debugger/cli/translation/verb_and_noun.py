"""Composes a command from a verb and a noun: `list-breakpoints`, `show threads`, `bp rm`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

Words = tuple[str, ...]

_VERBS: Final[Mapping[str, str]] = {
    "toggle": "toggle",
    **dict.fromkeys(("add", "set", "create", "new", "insert", "put", "place"), "add"),
    **dict.fromkeys(("list", "ls", "show", "get", "print", "view", "display"), "show"),
    **dict.fromkeys(("remove", "delete", "del", "rm", "clear", "drop", "unset", "un"), "remove"),
    **dict.fromkeys(("enable", "on"), "enable"),
    **dict.fromkeys(("disable", "off"), "disable"),
    **dict.fromkeys(("use", "switch", "select"), "select"),
    **dict.fromkeys(("read", "examine", "dump"), "read"),
    **dict.fromkeys(("end", "close", "quit", "kill", "finish", "terminate", "release"), "end"),
}
_NOUNS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("breakpoint", "breakpoints", "bp", "bps", "break", "breaks"), "breakpoint"),
    **dict.fromkeys(("functionbreakpoint", "functionbreakpoints", "linebreakpoint"), "breakpoint"),
    **dict.fromkeys(("databreakpoint", "databreakpoints"), "watch"),
    **dict.fromkeys(("watchpoint", "watchpoints", "watch", "watches", "wp"), "watch"),
    **dict.fromkeys(("conditionalbreakpoint", "conditionalbreakpoints"), "breakpoint"),
    **dict.fromkeys(("catchpoint", "catchpoints", "catch"), "catch"),
    **dict.fromkeys(("exceptionbreakpoint", "exceptionbreakpoints"), "catch"),
    **dict.fromkeys(("logpoint", "logpoints", "tracepoint"), "logpoint"),
    **dict.fromkeys(("trace", "traces"), "trace"),
    **dict.fromkeys(("session", "sessions", "debugsession", "debugsessions"), "session"),
    **dict.fromkeys(("thread", "threads", "goroutine", "goroutines"), "thread"),
    **dict.fromkeys(("frame",), "frame"),
    **dict.fromkeys(
        ("frames", "stack", "backtrace", "callstack", "stacktrace", "stackframes", "bt"), "stack"
    ),
    **dict.fromkeys(("local", "locals", "variables", "vars", "localvariables", "scope"), "locals"),
    **dict.fromkeys(("variable", "var", "value", "expression", "expr"), "value"),
    **dict.fromkeys(("arg", "args", "arguments", "parameters"), "args"),
    **dict.fromkeys(("register", "registers", "regs"), "registers"),
    **dict.fromkeys(("source", "code", "sourcecontext", "sourcecode"), "source"),
    **dict.fromkeys(("module", "modules", "libraries", "sharedlibs"), "modules"),
    **dict.fromkeys(("memory", "mem"), "memory"),
    **dict.fromkeys(("output", "stdout"), "output"),
    **dict.fromkeys(("event", "events"), "events"),
    **dict.fromkeys(("status", "state"), "status"),
    **dict.fromkeys(("evidence",), "evidence"),
    **dict.fromkeys(("runs",), "runs"),
    **dict.fromkeys(("adapters",), "adapters"),
}
_FILLERS: Final = frozenset({"all", "the", "my", "current", "me", "a", "of", "in"})
_COMPOSED: Final[Mapping[tuple[str, str], str]] = {
    ("add", "breakpoint"): "breakpoint add",
    ("show", "breakpoint"): "breakpoint list",
    ("remove", "breakpoint"): "breakpoint remove",
    ("enable", "breakpoint"): "breakpoint enable",
    ("disable", "breakpoint"): "breakpoint disable",
    ("add", "watch"): "watch",
    ("show", "watch"): "watch list",
    ("remove", "watch"): "watch remove",
    ("add", "catch"): "catch",
    ("show", "catch"): "catch list",
    ("remove", "catch"): "catch remove",
    ("add", "logpoint"): "log",
    ("remove", "logpoint"): "breakpoint remove",
    ("show", "logpoint"): "breakpoint list",
    ("add", "trace"): "trace add",
    ("show", "trace"): "trace list",
    ("remove", "trace"): "trace remove",
    ("show", "session"): "sessions",
    ("select", "session"): "use",
    ("add", "session"): "start",
    ("remove", "session"): "stop",
    ("end", "session"): "stop",
    ("show", "thread"): "threads",
    ("select", "thread"): "thread",
    ("show", "stack"): "backtrace",
    ("select", "frame"): "frame",
    ("show", "frame"): "frame",
    ("show", "locals"): "locals",
    ("show", "value"): "print",
    ("read", "value"): "print",
    ("add", "value"): "set",
    ("show", "args"): "args",
    ("show", "registers"): "registers",
    ("read", "registers"): "registers",
    ("show", "source"): "source",
    ("show", "modules"): "modules",
    ("read", "memory"): "memory read",
    ("show", "memory"): "memory read",
    ("show", "output"): "output",
    ("read", "output"): "output",
    ("remove", "output"): "output --clear",
    ("show", "events"): "events",
    ("show", "status"): "status",
    ("show", "evidence"): "evidence list",
    ("show", "runs"): "runs list",
    ("remove", "runs"): "runs remove",
    ("show", "adapters"): "setup --list",
}


def _join_noun(words: Sequence[str], behind: Sequence[int]) -> tuple[str, int]:
    """Return the noun, `databreakpoint` of `data breakpoint`, and where it ends."""
    joined = "".join(words[at].lower() for at in behind[:2])
    if len(behind) > 1 and joined in _NOUNS:
        return joined, behind[1] + 1
    return words[behind[0]].lower(), behind[0] + 1


def compose_command(words: Sequence[str]) -> Words | None:
    """Return our command for a verb and a noun at the beginning of the words.

    The two may be one word, joined by a dash or an underscore, and in either order.
    """
    first = words[0].lower()
    parts = [one for one in re.split(r"[-_]", first) if one not in _FILLERS]
    if len(parts) > 1:
        pair, rest = (parts[0], "".join(parts[1:])), words[1:]
        if pair[0] not in _VERBS:
            pair = ("".join(parts[:-1]), parts[-1])
    else:
        behind = [at for at, one in enumerate(words[1:], 1) if one.lower() not in _FILLERS]
        if not behind:
            return None
        noun, end = _join_noun(words, behind)
        pair, rest = (first, noun), words[end:]
    for verb, noun in (pair, pair[::-1]):
        meaning = _VERBS.get(verb), _NOUNS.get(noun)
        command = _COMPOSED.get(meaning)  # type: ignore[arg-type] # None is no key
        if command is not None:
            is_plural = noun.endswith("s") or verb == "clear"
            is_all = meaning[0] == "remove" and is_plural and not rest
            return (*command.split(), *(("--all",) if is_all else ()), *rest)
    return None
