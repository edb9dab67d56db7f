"""Defines the events of a session's timeline."""

from __future__ import annotations

from enum import Enum
from typing import Any

import msgspec


class EventKind(Enum):
    """The kinds of events, as the `events` command names them."""

    OUTPUT = "output"
    STOP = "stop"
    RESUME = "resume"
    BREAKPOINT_HIT = "breakpoint_hit"
    LOGPOINT = "logpoint"
    FUNCTION_ENTER = "function_enter"
    FUNCTION_EXIT = "function_exit"
    VARIABLE_SNAPSHOT = "variable_snapshot"
    CONDITION_ERROR = "condition_error"
    CRASH = "crash"
    EXIT = "exit"
    ADAPTER = "adapter"

    __hash__ = object.__hash__  # Enum's own is written in Python: a flood of output asks for it


TRACE_KINDS = frozenset(
    {
        EventKind.LOGPOINT,
        EventKind.FUNCTION_ENTER,
        EventKind.FUNCTION_EXIT,
        EventKind.VARIABLE_SNAPSHOT,
    }
)
"""Kinds that a program can produce at any rate; they are the first to be dropped."""

LASTING_KINDS = frozenset({EventKind.CRASH, EventKind.EXIT})
"""Kinds that are never dropped."""


class OutputStream(Enum):
    """The source of a line of output; `console` is the debugger, not the program."""

    STDOUT = "stdout"
    STDERR = "stderr"
    CONSOLE = "console"

    __hash__ = object.__hash__  # as above


class OutputData(msgspec.Struct, frozen=True, omit_defaults=True):
    """The `data` of an output event."""

    stream: OutputStream
    # The text continues an earlier event of the same stream, without a newline in between.
    continues: bool = False
    # No newline ends the text so far.
    open: bool = False


class Event(msgspec.Struct, frozen=True):
    """One event; `seq` orders all events of a process tree, `time_ns` is on the monotonic clock."""

    seq: int
    time_ns: int
    kind: EventKind
    session: str
    thread: int | None
    function: str | None
    file: str | None
    line: int | None
    text: str
    data: dict[str, Any]
