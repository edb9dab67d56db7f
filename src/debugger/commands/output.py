"""Commands about what the program wrote and what happened; and its input."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

from msgspec import UNSET

from debugger.commands.call import Call
from debugger.core import answers
from debugger.core.command import Arg, Opt, command
from debugger.core.events import Event, Kind
from debugger.errors import Code, DebuggerError
from debugger.session.session import Session
from debugger.session.standing import check_runs
from debugger.timeline import Line, Page

GROUP = "Output and events"
_LINES_MAX = 10_000
_INPUT_MAX = 8 << 20
_FOLLOW_S = 0.5


@command("output", group=GROUP)
async def output(
    call: Call,
    *,
    tail: Annotated[int | None, Opt("--tail", help="the last N lines", metavar="N")] = None,
    follow: Annotated[bool, Opt("--follow", help="go on until Ctrl-C or the end")] = False,
    every: Annotated[bool, Opt("--all", help="all that is kept")] = False,
    clear: Annotated[bool, Opt("--clear", help="forget it")] = False,
) -> answers.Answer:
    """Show what the program wrote since you last asked."""
    session = call.session()
    timeline, cursors = session.timeline, session.cursors
    if tail is not None and not 0 <= tail <= _LINES_MAX:
        raise DebuggerError(Code.USAGE, f"--tail is 0 to {_LINES_MAX}", hint="debugger output")
    if clear:
        cleared = timeline.clear_output()
        cursors.asked = cursors.reported = timeline.cursor()
        return answers.Output(lines=(), dropped=0, total=cleared, cleared=True)
    page = timeline.lines(since=0 if every or tail is not None else cursors.asked, tail=tail)
    cursors.asked = page.next
    if follow:
        return await _follow(call, session, list(page.lines))
    return answers.Output(
        lines=tuple(_line(one) for one in page.lines), dropped=page.dropped, total=len(page.lines)
    )


def _line(line: Line) -> answers.OutputLine:
    return answers.OutputLine(line.stream.value, line.text, line.seq)


async def _follow(call: Call, session: Session, lines: list[Line]) -> answers.Output:
    """Stream the output until the user has enough or the program has ended."""
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
            await _something(call, session, cursors.asked, {Kind.OUTPUT, Kind.EXIT})
        if session.is_closed:
            return answers.Output(lines=(), dropped=0, total=total)
        page = timeline.lines(since=cursors.asked)
        cursors.asked, lines = page.next, list(page.lines)


async def _something(call: Call, session: Session, after: int, kinds: set[Kind]) -> None:
    waiting = asyncio.ensure_future(session.timeline.wait(after, kinds, _FOLLOW_S))
    interrupted = asyncio.ensure_future(call.interrupted.wait())
    await asyncio.wait({waiting, interrupted}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    interrupted.cancel()


@command("events", group=GROUP, reads_only=True)
async def events(
    call: Call,
    *,
    kinds: Annotated[tuple[str, ...], Opt("--kind", help="only this kind", metavar="K")] = (),
    function: Annotated[
        str | None, Opt("--function", help="only in functions like this", metavar="PATTERN")
    ] = None,
    file: Annotated[str | None, Opt("--file", help="only in this file", metavar="FILE")] = None,
    text: Annotated[
        str | None, Opt("--text", help="only with this in the text", metavar="TEXT")
    ] = None,
    thread: Annotated[int | None, Opt("--thread", help="only of this thread", metavar="N")] = None,
    since: Annotated[
        str | None, Opt("--since", help="after this event, or so long ago (-5s)", metavar="SEQ")
    ] = None,
    until: Annotated[
        str | None, Opt("--until", help="up to this event, or so long ago", metavar="SEQ")
    ] = None,
    limit: Annotated[int, Opt("--limit", help="at most so many", metavar="N")] = 50,
    follow: Annotated[bool, Opt("--follow", help="go on until Ctrl-C or the end")] = False,
) -> answers.Answer:
    """Show what happened: stops, output, failed conditions, exits."""
    session = call.session()
    if not 1 <= limit <= 500:  # noqa: PLR2004 - the timeline's page
        raise DebuggerError(Code.USAGE, "--limit is 1 to 500", hint="debugger events --since SEQ")
    if follow and until is not None:
        raise DebuggerError(
            Code.USAGE, "--follow goes on, --until ends", hint="debugger events --help"
        )
    before, until_ns = _until(until)
    matching = partial(
        session.timeline.events,
        kinds={_kind(name) for name in kinds} or None,
        function=function,
        file=file,
        text=text,
        thread=thread,
        before=before,
        until_ns=until_ns,
    )
    page = matching(since=_since(session, since), limit=limit, newest=since is None)
    if follow:
        return await _follow_events(call, session, page, matching)
    return answers.Events(
        events=tuple(_event(one) for one in page.events),
        next=page.next,
        dropped=page.dropped,
        total=page.total,
        earlier=max(0, page.total - len(page.events)) if since is None else 0,
    )


async def _follow_events(
    call: Call, session: Session, page: Page, matching: Callable[..., Page]
) -> answers.Events:
    cursor, found = page.next, page.events
    while True:
        is_over = not session.is_live
        for one in found:
            text = one.text.replace("\n", "\\n")
            await call.stream(f"{one.seq} {one.kind.value} {text}\n")
        if call.interrupted.is_set() or session.is_closed or (is_over and not found):
            return answers.Events(events=(), next=cursor, dropped=0, total=0)
        if not found:
            await _something(call, session, cursor, set(Kind))
        page = matching(since=cursor, limit=500)
        cursor, found = page.next, page.events


def _kind(name: str) -> Kind:
    try:
        return Kind(name)
    except ValueError:
        known = ", ".join(kind.value for kind in Kind)
        raise DebuggerError(
            Code.USAGE, f"no kind of event {name!r}; there are: {known}", hint="debugger events"
        ) from None


def _since(session: Session, since: str | None) -> int:
    if since is None:
        return 0
    time_ns = _relative(since)
    if time_ns is not None:
        return session.timeline.since_time_ns(time_ns)
    return _number("--since", since)


def _until(until: str | None) -> tuple[int | None, int | None]:
    """Return the number before which, and the time up to which, events are asked for."""
    if until is None:
        return None, None
    time_ns = _relative(until)
    return (_number("--until", until) + 1, None) if time_ns is None else (None, time_ns)


def _relative(words: str) -> int | None:
    """Return the time of the clock so long ago; None for what is no such time."""
    relative = re.fullmatch(r"-([0-9]{1,9}(?:\.[0-9]{1,9})?)(ms|s|m)?", words)
    if relative is None:
        return None
    unit = {"ms": 1e6, "s": 1e9, "m": 6e10, None: 1e9}[relative[2]]
    return time.monotonic_ns() - int(float(relative[1]) * unit)


def _number(option: str, words: str) -> int:
    if re.fullmatch(r"[0-9]{1,18}", words):
        return int(words)
    raise DebuggerError(
        Code.USAGE, f"{option} is an event's number or -5s, not {words!r}", hint="debugger events"
    )


def _event(one: Event) -> answers.EventView:
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
    )


@command("input", group=GROUP)
async def input_(
    call: Call,
    text: Annotated[str | None, Arg("TEXT", "a line for the program to read", words=True)] = None,
    *,
    file: Annotated[str | None, Opt("--file", help="send this file", metavar="F")] = None,
    eof: Annotated[bool, Opt("--eof", help="end its input (after TEXT)")] = False,
    no_newline: Annotated[bool, Opt("--no-newline", help="send TEXT without a newline")] = False,
) -> answers.Answer:
    """Write to the program's standard input."""
    session = call.session()
    session.require_live("write to its input")
    check_runs(session.target, to="write to its input")
    if text is None and file is None and not eof:
        raise DebuggerError(Code.USAGE, "what? TEXT, --file or --eof", hint="debugger input --help")
    data = b""
    if text is not None:
        data = text.encode("utf-8", "surrogateescape") + (b"" if no_newline else b"\n")
    if file is not None:
        data += _contents(Path(call.cwd) / file)
    if data:
        await session.backend.write_input(data)
    if eof:
        await session.backend.close_input()
    said = f"sent {len(data)} bytes" if data else "ended the input"
    return answers.Text(message=said + (", and ended the input" if eof and data else ""))


def _contents(path: Path) -> bytes:
    try:
        if path.stat().st_size > _INPUT_MAX:
            raise DebuggerError(
                Code.USAGE,
                f"{path} is over {_INPUT_MAX} bytes",
                hint="debugger start --stdin FILE takes a file of any size",
            )
        return path.read_bytes()
    except OSError as error:
        raise DebuggerError(
            Code.NOT_FOUND, f"cannot read {path}: {error.strerror}", hint="debugger input --file F"
        ) from error
