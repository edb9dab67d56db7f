"""Finds who wrote a value of a Python program, recorded in one run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from types import CodeType

import msgspec

from debugger.backends.base import Launch
from debugger.core import answers
from debugger.core.passing import Parameters
from debugger.core.writers import Site, Write
from debugger.errors import Code, DebuggerError
from debugger.questions import launched
from debugger.questions.writing.telling import Passed, told
from debugger.questions.writing.wanted import HINT_WHEN, Wanted
from debugger.recording.model import Noted, Recording, Wrote
from debugger.recording.order import Limits, Order, Place
from debugger.recording.python.watching import watch
from debugger.recording.run import record, require_recording, roots_of
from debugger.session import source
from debugger.session.stepping import Patience

_UNTIL = "--until is for compiled programs: of Python all writes are told, up to --limit"
_OTHER = (
    "it was {} after the last write that was seen, and {} at the place: something else wrote it, "
    "as a library's own code or a thread does"
)
_MADE = (
    "it had its value when it was first named in the program's own code: a library made the "
    "object, or code that is not recorded"
)
_HINT_PATH = "debugger path -- CMD shows what ran"
_CHANGED = re.compile(r" \(changed: [^()]*\)$")


class _Passed(msgspec.Struct):
    """A call: what was called, its parameters, and from where, the caller first."""

    function: str
    positional: tuple[str, ...]
    keywords: tuple[str, ...]
    stack: tuple[tuple[str, str, int], ...]


class _Reached(msgspec.Struct):
    """What the recorder tells of the place."""

    line: int = 0
    found: bool = False
    value: str | None = None
    known: str | None = None
    cut: int = 0
    full: bool = False
    passed: _Passed | None = None
    why: str = ""


async def who_wrote(
    launch: Launch, patience: Patience, wanted: Wanted, *, scratch: Path
) -> answers.WhoWrote:
    """Run a program recorded, and tell the assignments to what is named at a place.

    Raises:
        DebuggerError: NOT_FOUND if the place is never reached, or there is no such name there;
            USAGE for an expression that runs code.
    """
    at = wanted.at
    place = Place(name=at.function or "", file=at.file or "", line=at.line or 0)
    meant = watch(wanted.expression, place, hit=wanted.hit, when=wanted.when)
    argv = launched.argv(launch)
    ran = await record(
        argv,
        Order(
            roots=roots_of(argv, launch.cwd),
            functions=(place,),
            watch=meant,
            limits=Limits(writes=wanted.limit),
        ),
        cwd=launch.cwd,
        env=launch.env,
        stdin=await launched.given(launch),
        timeout_s=patience.seconds,
        scratch_root=scratch,
        interrupted=patience.interrupted,
        idle_limits=patience.idle_limits,
    )
    require_recording(ran, argv)
    chosen = next((one for one in ran.recordings if _reached(one) is not None), None)
    if chosen is None:
        raise _never(wanted, ran.is_timed_out, ran.recordings)
    reached = _reached(chosen)
    assert reached is not None
    if not reached.found:
        raise _not_found(wanted)
    writes = _writes(chosen)
    answer = told(
        wanted.expression, wanted.place, reached.value, writes, passed=_passed(reached.passed)
    )
    notes = list(_notes(wanted, reached, writes))
    return msgspec.structs.replace(
        answer,
        method="recording the assignments, in one run",
        timed_out=ran.is_timed_out,
        took_s=round(ran.took_s, 1),
        adapter="recorder",
        notes=tuple(notes),
    )


def _not_found(wanted: Wanted) -> DebuggerError:
    if wanted.expression.isidentifier():
        return DebuggerError(
            Code.NOT_FOUND,
            f"there is no {wanted.expression} at {wanted.place}",
            hint=wanted.hint,
        )
    return DebuggerError(
        Code.NOT_FOUND,
        f"{wanted.expression} at {wanted.place} has no value that can be read without running the "
        "program's own code: it is not there, it is an attribute of a class, or a method makes it",
        hint=wanted.hint,
    )


def _reached(recording: Recording) -> _Reached | None:
    found = (
        one.text for one in recording.events if isinstance(one, Noted) and one.kind == "reached"
    )
    text = next(found, None)
    return msgspec.json.decode(text, type=_Reached) if text is not None else None


def _passed(call: _Passed | None) -> Passed | None:
    if call is None:
        return None
    stack = tuple(Site(name, file, line) for name, file, line in call.stack)
    return Passed(stack, call.function, Parameters(call.positional, call.keywords))


def _writes(recording: Recording) -> list[Write]:
    writes = []
    is_after = False
    for one in recording.events:
        if isinstance(one, Noted) and one.kind == "reached":
            is_after = True
        elif isinstance(one, Wrote):
            stack = [recording.function(number) for number, _ in one.stack]
            lines = [line for _, line in one.stack]
            writes.append(
                Write(
                    stack=tuple(
                        Site(function.name, function.file, line)
                        for function, line in zip(stack, lines, strict=True)
                    ),
                    old=one.old,
                    new=one.new,
                    thread=one.thread,
                    is_after=is_after,
                )
            )
    return writes


def _notes(wanted: Wanted, reached: _Reached, writes: list[Write]) -> list[str]:
    notes = [f"{wanted.expression}: {reached.why}"] if reached.why else []
    if wanted.until is not None:
        notes.append(_UNTIL)
    before = [one for one in writes if not one.is_after]
    if not writes and not reached.why and reached.passed is None and reached.value is not None:
        notes.append(_MADE)
    if before and _plain(before[-1].new) != reached.value:
        notes.append(_OTHER.format(before[-1].new, reached.value))
    if reached.cut or reached.full:
        notes.append(f"of the writes before it only the last {len(before):,} are told")
    return notes


def _plain(text: str | None) -> str | None:
    """Return a value without what is said of a change that it does not show."""
    return _CHANGED.sub("", text) if text is not None else None


def _never(
    wanted: Wanted,
    timed_out: bool,  # noqa: FBT001 - how the run ended
    recordings: Sequence[Recording],
) -> DebuggerError:
    if timed_out:
        return DebuggerError(
            Code.TIMEOUT,
            f"{wanted.met} was not reached in time",
            hint="debugger who-wrote --timeout 300 …",
        )
    times = f" {wanted.hit} times" if wanted.hit > 1 else ""
    failed = [
        one.text
        for recording in recordings
        for one in recording.events
        if isinstance(one, Noted) and one.kind == "condition"
    ]
    why = f": the condition could not be evaluated: {failed[0]}" if failed else ""
    lines = source.lines(wanted.at.file) if wanted.at.file is not None else None
    if wanted.at.file is not None and not Path(wanted.at.file).is_file():
        why = f": there is no file {wanted.at.file}"
    if lines is not None and wanted.at.line is not None and wanted.at.line > len(lines):
        why = f": the file has {len(lines):,} lines"
    hint = HINT_WHEN.format(wanted.place, wanted.when) if wanted.when else _HINT_PATH
    later = _next_with_code(lines or (), wanted.at.line or 0)
    if later is not None and not why:
        why = f": line {wanted.at.line} has no code"
        name = Path(wanted.at.file or "").name
        hint = f"debugger who-wrote {shlex.quote(wanted.expression)} --at {name}:{later} -- CMD"
    return DebuggerError(
        Code.NOT_FOUND,
        f"the program ended, and {wanted.met} was not reached{times}{why}",
        hint=hint,
    )


def _next_with_code(lines: Sequence[str], line: int) -> int | None:
    """Return the next line with code after one that has none; None where that is not known."""
    try:
        blocks = [compile("\n".join(lines), "", "exec", dont_inherit=True)]
    except (SyntaxError, ValueError, RecursionError):  # of another Python, or none
        return None
    for block in blocks:  # it grows while it is read
        blocks += [one for one in block.co_consts if isinstance(one, CodeType)]
    known = {at for block in blocks for _, _, at in block.co_lines() if at}
    return None if line in known else min((at for at in known if at > line), default=None)
