"""Defines the commands for a program's output, its input, and the timeline of events."""

from __future__ import annotations

import difflib
import os
import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import UNSET

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import Argument, Option, register_command
from debugger.model.events import Event, EventKind, OutputStream
from debugger.questions.group.group_options import NO_CHOICE, GroupOptions

if TYPE_CHECKING:
    from debugger.model import answers
    from debugger.questions.runner.command_call import CommandCall
    from debugger.session.session import Session
    from debugger.session.timeline import EventPage, Filters, LogLine, ReturnedCondition

_AGO = re.compile(r"(?:-|(?=.*[a-z]))([0-9]{1,9}(?:\.[0-9]{1,9})?)(ms|s|m)?")  # `-5`, `-5s`, `5s`
_LASTING = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(ns|us|µs|μs|ms|s|m)")
_UNITS = {"ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9, "m": 6e10, None: 1e9}
_COMPARED = re.compile(r"(<=|>=|!=|==|<|>|=)\s*(.*)", re.DOTALL)
_PATTERN = re.compile(r"[*?\[]")
_HINT = "debugger events --help"


def parse_filters(
    *,
    kinds: tuple[str, ...] = (),
    function: str | None = None,
    file: str | None = None,
    text: str | None = None,
    thread: int | None = None,
    returned: str | None = None,
    min_duration: str | None = None,
    max_duration: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> Filters:
    """Return the filters that are asked for; of `since` and `until` those that are times.

    Raises:
        DebuggerError: USAGE for words that mean nothing.
    """
    from debugger.session.timeline import Filters

    least = _parse_duration("--min-duration", min_duration)
    most = _parse_duration("--max-duration", max_duration)
    if least is not None and most is not None and least > most:
        raise _usage_error(f"no duration is at least {min_duration} and at most {max_duration}")
    since_ns = None if since is None else _parse_ago(since)
    until_ns = None if until is None else _parse_ago(until)
    if since_ns is not None and until_ns is not None and since_ns > until_ns:
        raise _usage_error(f"no time is after {since} and up to {until}: -9s is before -1s")
    return Filters(
        kinds={_parse_kind(name) for name in kinds} or None,
        function=function,
        file=file,
        text=text,
        thread=thread,
        returned=None if returned is None else _parse_returned(returned),
        min_duration_ns=least,
        max_duration_ns=most,
        since_ns=since_ns,
        until_ns=until_ns,
    )


def parse_event_number(option: str, words: str | None) -> int | None:
    """Return the event's number that is meant; None where it is a time, or nothing.

    Raises:
        DebuggerError: USAGE for what is neither.
    """
    if words is None or _parse_ago(words) is not None:
        return None
    if re.fullmatch(r"[0-9]{1,18}", words):
        return int(words)
    raise DebuggerError(
        ErrorCode.USAGE,
        f"{option} is an event's number or -5s, not {words!r}",
        hint="debugger events",
    )


def _usage_error(message: str) -> DebuggerError:
    return DebuggerError(ErrorCode.USAGE, message, hint=_HINT)


def _parse_kind(name: str) -> EventKind:
    try:
        return EventKind(name)
    except ValueError:
        names = [kind.value for kind in EventKind]
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"debugger events --kind {near[0]}" if near else "debugger events"
        known = ", ".join(names)
        raise DebuggerError(
            ErrorCode.USAGE, f"no kind of event {name!r}; there are: {known}", hint=hint
        ) from None


def _parse_ago(words: str) -> int | None:
    """Return the time of the clock so long ago; None for what is no such time."""
    relative = _AGO.fullmatch(words)
    if relative is None:
        return None
    return time.monotonic_ns() - int(float(relative[1]) * _UNITS[relative[2]])


def _parse_duration(option: str, words: str | None) -> int | None:
    if words is None:
        return None
    found = _LASTING.fullmatch(words.strip())
    if found is None:
        raise _usage_error(f"{option} is a time like 5ms (ns, us, ms, s, m), not {words!r}")
    return round(float(found[1]) * _UNITS[found[2]])


def _parse_returned(words: str) -> ReturnedCondition:
    """Return a comparison (`<0`, `!=0`, `=5`), a value that is to be equal, or a pattern."""
    from debugger.session.timeline import ReturnedCondition

    compared = _COMPARED.fullmatch(words)
    if compared is None:
        value = _parse_number(words)
        if value is not None:
            return ReturnedCondition("=", value)
        return ReturnedCondition("like" if _PATTERN.search(words) else "=", words)
    operator, right = compared[1].replace("==", "="), compared[2]
    value = _parse_number(right)
    if value is not None:
        return ReturnedCondition(operator, value)
    if operator in {"=", "!="} and right:
        return ReturnedCondition(operator, right)
    raise _usage_error(
        f"--returned {operator} takes a number, not {right!r}; "
        "a value that begins so is --returned '=VALUE'"
    )


def _parse_number(words: str) -> int | float | None:
    """Return the number that words are, as a whole."""
    from debugger.session.timeline import number_of

    return number_of(words.strip()) if len(words.split()) == 1 else None


GROUP = "Output and events"
_LINES_MAX = 10_000
_INPUT_MAX = 8 << 20
_FOLLOW_S = 0.5


@register_command("output", group=GROUP)
async def output(
    call: CommandCall,
    *,
    tail: Annotated[int | None, Option("--tail", help="the last N lines", metavar="N")] = None,
    follow: Annotated[bool, Option("--follow", help="continue until Ctrl-C or the end")] = False,
    every: Annotated[bool, Option("--all", help="everything that is kept")] = False,
    clear: Annotated[bool, Option("--clear", help="delete the kept output")] = False,
    choice: GroupOptions = NO_CHOICE,
) -> answers.Answer:
    """Show the program's output: what is new since you last asked.

    stdout and stderr reach the debugger separately. Each keeps its own order, but of two lines
    written close together, one to each, it is not known which came first. Lines of a group have
    the member that wrote them, where its launcher tells.
    """
    from debugger.model import answers
    from debugger.questions.group.group_choice import choose_members
    from debugger.questions.group.member_output import read_members_output

    chosen = None if clear or follow else await choose_members(call, choice)
    session = call.current_session() if chosen is None else chosen.group.first
    timeline, cursors = session.timeline, session.cursors
    if tail is not None and not 0 <= tail <= _LINES_MAX:
        raise DebuggerError(ErrorCode.USAGE, f"--tail is 0 to {_LINES_MAX}", hint="debugger output")
    if clear:
        cleared = timeline.clear_output()
        cursors.advance(timeline.cursor())
        cursors.advance_output(timeline.cursor())
        return answers.Output(lines=(), dropped=0, total=cleared, cleared=True)
    if chosen is not None:
        return read_members_output(chosen, tail=tail, every=every)
    page = timeline.lines(since=0 if every or tail is not None else cursors.asked, tail=tail)
    cursors.advance_output(page.next)
    if tail is None:  # the next stop does not show again what was all shown here
        cursors.advance(page.next)
    if follow:
        return await _follow_output(call, session, list(page.lines))
    return answers.Output(
        lines=tuple(_output_line(one) for one in page.lines),
        dropped=page.dropped,
        total=len(page.lines),
        crash=session.crash or UNSET,
        notes=_output_notes(page.lines),
    )


def _output_notes(lines: Sequence[LogLine]) -> tuple[str, ...]:
    if {OutputStream.STDOUT, OutputStream.STDERR} <= {one.stream for one in lines}:
        return ("stdout and stderr are each in order; which came first of the two is not known",)
    return ()


def _output_line(line: LogLine) -> answers.OutputLine:
    from debugger.model import answers

    return answers.OutputLine(line.stream.value, line.text, line.seq)


async def _follow_output(
    call: CommandCall, session: Session, lines: list[LogLine]
) -> answers.Output:
    """Stream the output until the user has enough or the program has ended."""
    from debugger.model import answers

    timeline, cursors = session.timeline, session.cursors
    total = 0
    while True:
        is_over = not session.is_live
        for line in lines:
            await call.stream(line.text + ("" if line.open else "\n"))
        total += len(lines)
        if call.interrupted.is_set() or (is_over and not lines):
            return answers.Output(lines=(), dropped=0, total=total)
        if not lines:
            await _wait_for_event(
                call, session, cursors.asked, {EventKind.OUTPUT, EventKind.LOGPOINT, EventKind.EXIT}
            )
        if session.is_closed:
            return answers.Output(lines=(), dropped=0, total=total)
        page = timeline.lines(since=cursors.asked)
        lines = list(page.lines)
        cursors.advance_output(page.next)
        cursors.advance(page.next)


async def _wait_for_event(
    call: CommandCall, session: Session, after: int, kinds: set[EventKind]
) -> None:
    await session.timeline.wait(after, kinds, _FOLLOW_S, interrupted=call.interrupted)


@register_command("events", group=GROUP, reads_only=True)
async def events(
    call: CommandCall,
    *,
    kinds: Annotated[tuple[str, ...], Option("--kind", help="only this kind", metavar="K")] = (),
    function: Annotated[
        str | None,
        Option(
            "--function", help="only in this function, or in all like *this*", metavar="PATTERN"
        ),
    ] = None,
    file: Annotated[str | None, Option("--file", help="only in this file", metavar="FILE")] = None,
    text: Annotated[
        str | None, Option("--text", help="only with this in the text", metavar="TEXT")
    ] = None,
    thread: Annotated[
        int | None, Option("--thread", help="only of this thread", metavar="N")
    ] = None,
    returned: Annotated[
        str | None,
        Option("--returned", help="only what returned it: 0, '<0', '!=0', *text*", metavar="VALUE"),
    ] = None,
    min_duration: Annotated[
        str | None, Option("--min-duration", help="only calls of at least, like 5ms", metavar="T")
    ] = None,
    max_duration: Annotated[
        str | None, Option("--max-duration", help="only calls of at most", metavar="T")
    ] = None,
    since: Annotated[
        str | None, Option("--since", help="after this event or time (-5s)", metavar="SEQ")
    ] = None,
    until: Annotated[
        str | None, Option("--until", help="up to this event or time (-5s)", metavar="SEQ")
    ] = None,
    limit: Annotated[int, Option("--limit", help="at most this many", metavar="N")] = 50,
    follow: Annotated[bool, Option("--follow", help="continue until Ctrl-C or the end")] = False,
    choice: GroupOptions = NO_CHOICE,
) -> answers.Answer:
    """Show what happened: stops, output, calls, failed conditions, crashes, exits.

    An event must match all filters. Events are numbered in the order in which they arrived. A
    traced call has the time of the call, so it may follow an event that happened later.
    """
    from debugger.model import answers
    from debugger.questions.group.group_choice import choose_members

    chosen = await choose_members(call, choice)
    session = call.current_session() if chosen is None else chosen.group.first
    if not 1 <= limit <= 500:  # noqa: PLR2004 - the timeline's page
        raise DebuggerError(
            ErrorCode.USAGE, "--limit is 1 to 500", hint="debugger events --since SEQ"
        )
    if follow and until is not None:
        raise DebuggerError(
            ErrorCode.USAGE, "--follow goes on, --until ends", hint="debugger events --help"
        )
    filters = parse_filters(
        kinds=kinds,
        function=function,
        file=file,
        text=text,
        thread=thread,
        returned=returned,
        min_duration=min_duration,
        max_duration=max_duration,
        since=since,
        until=until,
    )
    if chosen is not None and chosen.is_subset:
        own = frozenset(one.session.name for one in chosen.members)
        filters = msgspec.structs.replace(filters, sessions=own)
    labels = {} if chosen is None else {one.session.name: one.label for one in chosen.members}
    after, last = (
        parse_event_number("--since", since),
        parse_event_number("--until", until),
    )
    before = None if last is None else last + 1
    matching = partial(session.timeline.events, filters, before=before)
    page = matching(since=after or 0, limit=limit, newest=since is None)
    if follow:
        return await _follow_events(call, session, page, matching)
    return answers.Events(
        events=tuple(_event_view(one, labels.get(one.session)) for one in page.events),
        next=page.next,
        dropped=page.dropped,
        total=page.total,
        earlier=max(0, page.total - len(page.events)) if since is None else 0,
        total_is_least=page.is_least,
        crash=session.crash or UNSET,
    )


async def _follow_events(
    call: CommandCall, session: Session, page: EventPage, matching: Callable[..., EventPage]
) -> answers.Events:
    from debugger.model import answers

    cursor, found, shown = page.next, page.events, 0
    while True:
        is_over = not session.is_live
        shown += len(found)
        for one in found:
            text = one.text.replace("\n", "\\n")
            await call.stream(f"{one.seq} {one.kind.value} {text}\n")
        if call.interrupted.is_set() or session.is_closed or (is_over and not found):
            return answers.Events(events=(), next=cursor, dropped=0, total=shown)
        if not found:
            await _wait_for_event(call, session, cursor, set(EventKind))
        page = matching(since=cursor, limit=500)
        cursor, found = page.next, page.events


def _event_view(one: Event, member: str | None) -> answers.EventView:
    from debugger.model import answers

    return answers.EventView(
        seq=one.seq,
        time_ns=one.time_ns,
        kind=one.kind.value,
        session=one.session,
        thread=one.thread,
        text=one.text,
        data=one.data,
        function=one.function if one.function is not None else UNSET,
        file=one.file if one.file is not None else UNSET,
        line=one.line if one.line is not None else UNSET,
        member=member if member is not None else UNSET,
    )


@register_command("input", group=GROUP, acts_on_program=True)
async def input_(
    call: CommandCall,
    text: Annotated[
        str | None, Argument("TEXT", "a line for the program to read", words=True)
    ] = None,
    *,
    file: Annotated[str | None, Option("--file", help="send this file", metavar="F")] = None,
    eof: Annotated[bool, Option("--eof", help="end its input (after TEXT)")] = False,
    no_newline: Annotated[bool, Option("--no-newline", help="send TEXT without a newline")] = False,
) -> answers.Answer:
    """Write to the program's input."""
    from debugger.model import answers
    from debugger.session.session_state import check_runs

    session = call.current_session()
    session.require_live("write to its input")
    check_runs(session.target, to="write to its input")
    if text is None and file is None and not eof:
        raise DebuggerError(
            ErrorCode.USAGE, "what? TEXT, --file or --eof", hint="debugger input --help"
        )
    data = b""
    if text is not None:
        data = text.encode("utf-8", "surrogateescape") + (b"" if no_newline else b"\n")
    if file is not None:
        data += _file_contents(Path(call.cwd) / file)
    if data:
        session.selection.note_typed_input()
        await session.backend.write_input(data)
    if eof:
        await session.backend.close_input()
    message = f"sent {len(data)} bytes" if data or not eof else "ended the input"
    return answers.Text(message=message + (", and ended the input" if eof and data else ""))


def _file_contents(path: Path) -> bytes:
    try:
        # What a device or a pipe gives is known only when it is read, and may have no end.
        with open(path, "rb", opener=_without_waiting) as opened:
            data = opened.read(_INPUT_MAX + 1) or b""
    except OSError as error:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"cannot read {path}: {error.strerror}",
            hint="debugger input --file F",
        ) from error
    if len(data) > _INPUT_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{path} is over {_INPUT_MAX} bytes",
            hint="debugger start PROGRAM --stdin FILE takes a file of any size",
        )
    return data


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)
