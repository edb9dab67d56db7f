"""Converts LLDB's answers and events, in JSON, to the debugger's own values. Pure."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from debugger.backends import base
from debugger.backends.lldb import lldb_common
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, split_template
from debugger.model.events import OutputStream
from debugger.model.location import is_pattern, plain_function
from debugger.model.program import (
    Frame,
    Instruction,
    LoadedModule,
    Scope,
    ScopeKind,
    Stack,
    StepTarget,
    Stopped,
    StopReason,
    Thread,
    Variable,
)
from debugger.model.text_filters import clip_text

_VALUE_MAX = 1 << 16
_SCOPES = {"locals": ScopeKind.LOCALS, "globals": ScopeKind.GLOBALS}


class LldbReady(Struct, frozen=True, tag="ready", tag_field="event"):
    """Reports that LLDB is ready for questions."""

    version: str


class LldbHalted(Struct, frozen=True, tag="stopped", tag_field="event"):
    """Reports that the program has stopped."""

    reason: str
    raw: str
    thread: int | None = None
    description: str = ""
    hits: tuple[int, ...] = ()
    signal: str | None = None


class LldbResumed(Struct, frozen=True, tag="resumed", tag_field="event"):
    """Reports that the program runs."""


class LldbExited(Struct, frozen=True, tag="exited", tag_field="event"):
    """Reports that the program has ended."""

    code: int


class LldbDetached(Struct, frozen=True, tag="detached", tag_field="event"):
    """Reports that the program runs on without LLDB."""


class LldbOutput(Struct, frozen=True, tag="printed", tag_field="event"):
    """Reports output of a program behind a debug server."""

    stream: str
    text: str


class LldbLogged(Struct, frozen=True, tag="logged", tag_field="event"):
    """Reports that a logpoint was passed."""

    number: int
    text: str


class LldbConditionFailed(Struct, frozen=True, tag="condition_failed", tag_field="event"):
    """Reports that a logpoint's condition could not be evaluated."""

    number: int
    text: str


class LldbMessage(Struct, frozen=True, tag="console", tag_field="event"):
    """Reports an error in LLDB that belongs to no question."""

    text: str


class LldbLocation(Struct, frozen=True, tag="rebound", tag_field="event"):
    """Reports a breakpoint's location."""

    id: int
    verified: bool
    file: str | None = None
    line: int | None = None
    address: str | None = None
    function: str | None = None
    locations: int = 1


News = (
    LldbHalted
    | LldbResumed
    | LldbExited
    | LldbDetached
    | LldbOutput
    | LldbLogged
    | LldbConditionFailed
    | LldbMessage
    | LldbLocation
)
# One decoder for all events: the field `event` chooses the type.
_NEWS = msgspec.json.Decoder(LldbReady | News)


class _LldbAnswer(Struct, frozen=True):
    ok: Any = None
    error: str | None = None
    code: str = "ADAPTER_FAILED"


class _LldbFrames(Struct, frozen=True):
    frames: tuple[Frame, ...]
    total: int


class _LldbScope(Struct, frozen=True):
    name: str
    handle: int


def parse_news(body: bytes) -> LldbReady | News:
    """Decode an event.

    Raises:
        msgspec.DecodeError: The body is malformed.
    """
    event: LldbReady | News = _NEWS.decode(body)
    return event


def settle_answer(waiting: asyncio.Future[Any], body: bytes) -> None:
    """Give an answer to the future that waits for it."""
    answer = msgspec.json.decode(body, type=_LldbAnswer)
    if answer.error is None:
        waiting.set_result(answer.ok)
        return
    known = {code.value: code for code in ErrorCode}
    waiting.set_exception(
        DebuggerError(known.get(answer.code, ErrorCode.ADAPTER_FAILED), answer.error)
    )


def to_event(
    answer: LldbResumed
    | LldbOutput
    | LldbLogged
    | LldbConditionFailed
    | LldbMessage
    | LldbLocation,
) -> base.BackendEvent:
    """Convert an event that needs no filtering."""
    match answer:
        case LldbResumed():
            return base.ProgramResumed()
        case LldbOutput(stream, text):
            return base.OutputPrinted(OutputStream(stream), text.replace("\r\n", "\n"))
        case LldbLogged(number, text):
            return base.LogpointPassed(number, text)
        case LldbConditionFailed(number, text):
            return base.ConditionError(number, lldb_common.error_text(text))
        case LldbMessage(text):
            return base.OutputPrinted(OutputStream.CONSOLE, text)
        case LldbLocation():
            return base.BreakpointChanged(to_bound(answer, None))


def to_stopped(answer: LldbHalted) -> Stopped:
    """Convert a stop."""
    return Stopped(
        reason=StopReason(answer.reason) if answer.reason in _REASONS else StopReason.PAUSE,
        raw_reason=answer.raw,
        thread=answer.thread,
        description=answer.description,
        hits=answer.hits,
        signal=answer.signal,
    )


_REASONS = {one.value for one in StopReason}


def parse_threads(answer: Any) -> list[Thread]:
    """Convert a list of threads."""
    return msgspec.convert(answer, list[Thread])


def parse_stack(answer: Any) -> Stack:
    """Convert frames; a function's name loses its arguments."""
    converted = msgspec.convert(answer, _LldbFrames)
    frames = (
        msgspec.structs.replace(
            one, function=plain_function(one.function).removesuffix(" [inlined]")
        )
        for one in converted.frames
    )
    return Stack(tuple(frames), converted.total)


def parse_scopes(answer: Any) -> list[Scope]:
    """Convert a frame's scopes."""
    return [
        Scope(one.name.capitalize(), _SCOPES.get(one.name, ScopeKind.OTHER), one.handle)
        for one in msgspec.convert(answer, list[_LldbScope])
    ]


def parse_variable(answer: Any) -> Variable:
    """Convert a variable; a value over 64 Ki characters is cut."""
    converted = msgspec.convert(answer, Variable)
    return msgspec.structs.replace(converted, value=clip_text(converted.value, _VALUE_MAX))


def convert_step_targets(answer: Any) -> list[StepTarget]:
    """Convert the calls of a line."""
    return msgspec.convert(answer, list[StepTarget])


def parse_modules(answer: Any) -> list[LoadedModule]:
    """Convert the loaded modules."""
    return msgspec.convert(answer, list[LoadedModule])


def parse_instructions(answer: Any) -> list[Instruction]:
    """Convert instructions."""
    return [
        msgspec.structs.replace(
            one,
            # LLDB aligns operands with blanks.
            text=" ".join(one.text.split()),
            function=plain_function(one.function) if one.function else None,
        )
        for one in msgspec.convert(answer, list[Instruction])
    ]


def write_function_regex(name: str) -> str | None:
    """Write a pattern of function names as LLDB's regular expression; None for a plain name.

    `*` is any part of a name but `::`, `**` any parts, `?` one letter. LLDB matches names with
    their arguments.
    """
    if not is_pattern(name):
        return None
    # A parenthesis begins the arguments: a pattern stops before them.
    words = {"**": r"[^(]*", "*": r"[^:(]*", "?": r"[^:(]"}
    parts = re.split(r"(\*\*|\*|\?)", name.removeprefix("::"))
    text = "".join(words.get(part, re.escape(part)) for part in parts)
    # A name begins at the start, behind a namespace, or behind a return type.
    return rf"(^|::|[ *&]){text}(\(|$)"


def encode_breakpoint(one: Breakpoint, file: str | None = None) -> dict[str, Any]:
    """Encode a breakpoint; `file` is the program's own name of its source file.

    Raises:
        DebuggerError: USAGE for a control character in any of its words.
    """
    location = one.at or one.spec
    for word in (file, location.function, one.spec.condition, one.spec.log):
        # The request itself is base64, but conditions and log texts get into LLDB's own commands
        # and lines.
        if word is not None and any(ord(letter) < ord(" ") and letter != "\t" for letter in word):
            raise DebuggerError(
                ErrorCode.USAGE,
                f"a control character in {word!r}",
                hint="debugger breakpoint add --help",
            )
    return {
        "number": one.id,
        "file": file,
        "line": location.line,
        "function": location.function,
        "regex": write_function_regex(location.function) if location.function else None,
        "address": location.address,
        "filter": location.catch,
        "condition": one.spec.condition,
        "hit_count": one.spec.hit_count,
        "log": [*split_template(one.spec.log)] if one.spec.log else None,
    }


def parse_locations(answer: Any) -> Sequence[LldbLocation]:
    """Decode the locations of breakpoints."""
    return [msgspec.convert({"event": "rebound", **one}, LldbLocation) for one in answer]


def to_bound(answer: LldbLocation, one: Breakpoint | None) -> BoundBreakpoint:
    """Convert a breakpoint's location."""
    location = (one.at or one.spec) if one is not None else None
    is_wide = (
        location is not None and location.function is not None and is_pattern(location.function)
    )
    return BoundBreakpoint(
        verified=answer.verified,
        backend_id=answer.id,
        file=answer.file or (location.file if location is not None else None),
        line=answer.line or (location.line if location is not None else None),
        address=answer.address,
        function=plain_function(answer.function) if answer.function else None,
        why=f"in {answer.locations} functions" if is_wide and answer.verified else None,
    )
