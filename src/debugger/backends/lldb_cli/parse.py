"""Converts LLDB's answers and events, in JSON, to the debugger's own values. Pure."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from debugger.backends import base
from debugger.backends.lldb import common
from debugger.core.breakpoints import Bound, Breakpoint
from debugger.core.clip import clip
from debugger.core.events import Stream
from debugger.core.locate import is_pattern, plain_function
from debugger.core.model import (
    Frame,
    Instruction,
    LoadedModule,
    Reason,
    Scope,
    ScopeKind,
    Stack,
    StepTarget,
    Stopped,
    Thread,
    Variable,
)
from debugger.core.template import parts
from debugger.errors import Code, DebuggerError

_VALUE_MAX = 1 << 16
_SCOPES = {"locals": ScopeKind.LOCALS, "globals": ScopeKind.GLOBALS}


class Ready(Struct, frozen=True, tag="ready", tag_field="event"):
    """Reports that LLDB is ready for questions."""

    version: str


class Halted(Struct, frozen=True, tag="stopped", tag_field="event"):
    """Reports that the program has stopped."""

    reason: str
    raw: str
    thread: int | None = None
    description: str = ""
    hits: tuple[int, ...] = ()
    signal: str | None = None


class Resumed(Struct, frozen=True, tag="resumed", tag_field="event"):
    """Reports that the program runs."""


class Exited(Struct, frozen=True, tag="exited", tag_field="event"):
    """Reports that the program has ended."""

    code: int


class Detached(Struct, frozen=True, tag="detached", tag_field="event"):
    """Reports that the program runs on without LLDB."""


class Printed(Struct, frozen=True, tag="printed", tag_field="event"):
    """Reports output of a program behind a debug server."""

    stream: str
    text: str


class Logged(Struct, frozen=True, tag="logged", tag_field="event"):
    """Reports that a logpoint was passed."""

    number: int
    text: str


class ConditionFailed(Struct, frozen=True, tag="condition_failed", tag_field="event"):
    """Reports that a logpoint's condition could not be evaluated."""

    number: int
    text: str


class Console(Struct, frozen=True, tag="console", tag_field="event"):
    """Reports an error in LLDB that belongs to no question."""

    text: str


class Place(Struct, frozen=True, tag="rebound", tag_field="event"):
    """Reports a breakpoint's location."""

    id: int
    verified: bool
    file: str | None = None
    line: int | None = None
    address: str | None = None
    function: str | None = None
    locations: int = 1


News = Halted | Resumed | Exited | Detached | Printed | Logged | ConditionFailed | Console | Place
_NEWS = msgspec.json.Decoder(Ready | News)


class _Answer(Struct, frozen=True):
    ok: Any = None
    error: str | None = None
    code: str = "ADAPTER_FAILED"


class _Frames(Struct, frozen=True):
    frames: tuple[Frame, ...]
    total: int


class _Scope(Struct, frozen=True):
    name: str
    handle: int


def news(body: bytes) -> Ready | News:
    """Decode an event.

    Raises:
        msgspec.DecodeError: The body is malformed.
    """
    told: Ready | News = _NEWS.decode(body)
    return told


def settle(waiting: asyncio.Future[Any], body: bytes) -> None:
    """Give an answer to the future that waits for it."""
    answer = msgspec.json.decode(body, type=_Answer)
    if answer.error is None:
        waiting.set_result(answer.ok)
        return
    known = {code.value: code for code in Code}
    waiting.set_exception(DebuggerError(known.get(answer.code, Code.ADAPTER_FAILED), answer.error))


def event(
    told: Resumed | Printed | Logged | ConditionFailed | Console | Place,
) -> base.Event:
    """Convert an event that needs no filtering."""
    match told:
        case Resumed():
            return base.Resumed()
        case Printed(stream, text):
            return base.Printed(Stream(stream), text.replace("\r\n", "\n"))
        case Logged(number, text):
            return base.Logged(number, text)
        case ConditionFailed(number, text):
            return base.ConditionFailed(number, common.problem(text))
        case Console(text):
            return base.Printed(Stream.CONSOLE, text)
        case Place():
            return base.Rebound(bound(told, None))


def stopped(told: Halted) -> Stopped:
    """Convert a stop."""
    return Stopped(
        reason=Reason(told.reason) if told.reason in _REASONS else Reason.PAUSE,
        raw_reason=told.raw,
        thread=told.thread,
        description=told.description,
        hits=told.hits,
        signal=told.signal,
    )


_REASONS = {one.value for one in Reason}


def threads(told: Any) -> list[Thread]:
    """Convert a list of threads."""
    return msgspec.convert(told, list[Thread])


def stack(told: Any) -> Stack:
    """Convert frames; a function's name loses its arguments."""
    found = msgspec.convert(told, _Frames)
    frames = (
        msgspec.structs.replace(
            one, function=plain_function(one.function).removesuffix(" [inlined]")
        )
        for one in found.frames
    )
    return Stack(tuple(frames), found.total)


def scopes(told: Any) -> list[Scope]:
    """Convert a frame's scopes."""
    return [
        Scope(one.name.capitalize(), _SCOPES.get(one.name, ScopeKind.OTHER), one.handle)
        for one in msgspec.convert(told, list[_Scope])
    ]


def variable(told: Any) -> Variable:
    """Convert a variable; a value over 64 Ki characters is cut."""
    found = msgspec.convert(told, Variable)
    return msgspec.structs.replace(found, value=clip(found.value, _VALUE_MAX))


def step_targets(told: Any) -> list[StepTarget]:
    """Convert the calls of a line."""
    return msgspec.convert(told, list[StepTarget])


def modules(told: Any) -> list[LoadedModule]:
    """Convert the loaded modules."""
    return msgspec.convert(told, list[LoadedModule])


def instructions(told: Any) -> list[Instruction]:
    """Convert instructions."""
    return [
        msgspec.structs.replace(
            one,
            text=" ".join(one.text.split()),
            function=plain_function(one.function) if one.function else None,
        )
        for one in msgspec.convert(told, list[Instruction])
    ]


def function_regex(name: str) -> str | None:
    """Write a pattern of function names as LLDB's regular expression; None for a plain name.

    `*` is any part of a name but `::`, `**` any parts, `?` one letter. LLDB matches names with
    their arguments.
    """
    if not is_pattern(name):
        return None
    words = {"**": r"[^(]*", "*": r"[^:(]*", "?": r"[^:(]"}
    parts = re.split(r"(\*\*|\*|\?)", name.removeprefix("::"))
    text = "".join(words.get(part, re.escape(part)) for part in parts)
    return rf"(^|::|[ *&]){text}(\(|$)"


def wanted(one: Breakpoint, file: str | None = None) -> dict[str, Any]:
    """Encode a breakpoint; `file` is the program's own name of its source file.

    Raises:
        DebuggerError: USAGE for a control character in any of its words.
    """
    at = one.at or one.spec
    for word in (file, at.function, one.spec.condition, one.spec.log):
        if word is not None and any(ord(letter) < ord(" ") and letter != "\t" for letter in word):
            raise DebuggerError(
                Code.USAGE,
                f"a control character in {word!r}",
                hint="debugger breakpoint add --help",
            )
    return {
        "number": one.id,
        "file": file,
        "line": at.line,
        "function": at.function,
        "regex": function_regex(at.function) if at.function else None,
        "address": at.address,
        "filter": at.catch,
        "condition": one.spec.condition,
        "hit_count": one.spec.hit_count,
        "log": [*parts(one.spec.log)] if one.spec.log else None,
    }


def places(told: Any) -> Sequence[Place]:
    """Decode the locations of breakpoints."""
    return [msgspec.convert({"event": "rebound", **one}, Place) for one in told]


def bound(told: Place, one: Breakpoint | None) -> Bound:
    """Convert a breakpoint's location."""
    at = (one.at or one.spec) if one is not None else None
    is_wide = at is not None and at.function is not None and is_pattern(at.function)
    return Bound(
        verified=told.verified,
        backend_id=told.id,
        file=told.file or (at.file if at is not None else None),
        line=told.line or (at.line if at is not None else None),
        address=told.address,
        function=plain_function(told.function) if told.function else None,
        why=f"in {told.locations} functions" if is_wide and told.verified else None,
    )
