"""Composes a command from a verb and a noun: `list-breakpoints`, `show threads`, `bp rm`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

Words = tuple[str, ...]

_VERBS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("add", "set", "create", "new", "insert", "put", "place"), "add"),
    **dict.fromkeys(("list", "ls", "show", "get", "print", "view", "display"), "show"),
    **dict.fromkeys(("remove", "delete", "del", "rm", "clear", "drop", "unset"), "remove"),
    **dict.fromkeys(("enable", "on"), "enable"),
    **dict.fromkeys(("disable", "off"), "disable"),
    **dict.fromkeys(("use", "switch", "select"), "select"),
    **dict.fromkeys(("read", "examine", "dump"), "read"),
}
_NOUNS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("breakpoint", "breakpoints", "bp", "bps", "break", "breaks"), "breakpoint"),
    **dict.fromkeys(("watchpoint", "watchpoints", "watch", "watches", "wp"), "watch"),
    **dict.fromkeys(("catchpoint", "catchpoints", "catch"), "catch"),
    **dict.fromkeys(("logpoint", "logpoints", "tracepoint"), "logpoint"),
    **dict.fromkeys(("trace", "traces"), "trace"),
    **dict.fromkeys(("session", "sessions"), "session"),
    **dict.fromkeys(("thread", "threads", "goroutine", "goroutines"), "thread"),
    **dict.fromkeys(("frame",), "frame"),
    **dict.fromkeys(("frames", "stack", "backtrace", "callstack", "stacktrace"), "stack"),
    **dict.fromkeys(("local", "locals", "variables", "vars"), "locals"),
    **dict.fromkeys(("variable", "var", "value", "expression", "expr"), "value"),
    **dict.fromkeys(("arg", "args", "arguments", "parameters"), "args"),
    **dict.fromkeys(("register", "registers", "regs"), "registers"),
    **dict.fromkeys(("source", "code"), "source"),
    **dict.fromkeys(("module", "modules", "libraries", "sharedlibs"), "modules"),
    **dict.fromkeys(("memory", "mem"), "memory"),
    **dict.fromkeys(("output", "stdout"), "output"),
    **dict.fromkeys(("event", "events"), "events"),
    **dict.fromkeys(("status", "state"), "status"),
    **dict.fromkeys(("evidence",), "evidence"),
    **dict.fromkeys(("runs",), "runs"),
    **dict.fromkeys(("adapters",), "adapters"),
}
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


def compose_command(words: Sequence[str]) -> Words | None:
    """Return our command for a verb and a noun at the beginning of the words.

    The two may be one word, joined by a dash or an underscore, and in either order.
    """
    first = words[0].lower()
    joined = re.fullmatch(r"([a-z]+)[-_]([a-z]+)", first)
    if joined is not None:
        pair, rest = (joined[1], joined[2]), words[1:]
    elif len(words) > 1:
        pair, rest = (first, words[1].lower()), words[2:]
    else:
        return None
    for verb, noun in (pair, pair[::-1]):
        meaning = _VERBS.get(verb), _NOUNS.get(noun)
        command = _COMPOSED.get(meaning)  # type: ignore[arg-type] # None is no key
        if command is not None:
            is_all = meaning[0] == "remove" and noun.endswith("s") and not rest
            return (*command.split(), *(("--all",) if is_all else ()), *rest)
    return None
