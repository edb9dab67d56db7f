"""Identifies the stop of a session, so that a second run can be brought to it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from debugger.backends.base import Launch
from debugger.core import answers
from debugger.core.breakpoints import Kind, Spec
from debugger.core.model import Frame, Reason, Resume, Stopped, Variable
from debugger.core.state import State
from debugger.errors import Code, DebuggerError
from debugger.session import report, views
from debugger.session.look import TRAIL_MAX
from debugger.session.session import Session
from debugger.session.standing import check_runs

_LEVELS = 20
_VALUE = 200
_DIFFERENCES = 10
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
HERE = "--here tries it in the session itself, which then goes on from there"
# At these a program stops by itself; elsewhere a breakpoint of ours makes it stop again.
_BY_ITSELF = {Reason.EXCEPTION, Reason.SIGNAL, Reason.ENTRY}


class Seen(Struct, frozen=True):
    """What can be compared of a stop: the frames, and the variables of the one looked at."""

    frames: tuple[Frame, ...]
    total: int | None
    variables: tuple[Variable, ...]

    def is_at(self, other: Seen) -> bool:
        """Tell whether both are at the same line of the same function, as deep."""
        if self.total != other.total and None not in {self.total, other.total}:
            return False
        return [*map(place_of, self.frames[:1])] == [*map(place_of, other.frames[:1])]

    def is_called_alike(self, other: Seen) -> bool:
        """Tell whether both came there through the same lines."""
        return [*map(place_of, self.frames)] == [*map(place_of, other.frames)]


class Position(Struct, frozen=True):
    """How a second run comes to where a session is.

    `wanted` are the breakpoints to run with; `hits` says how often each, by its place in that list,
    has stopped the session; the one at `extra` is ours. From there on `steps` are made. `frame` is
    the number of the frame that is looked at, `thread` that of the thread among all, where another
    than the one that stopped was chosen: the system's own numbers are others in each run.
    `is_exact`: the place alone is not enough, its values must be the same; `is_counted`: all
    breakpoints were there from the beginning, so that the hits alone tell the time.
    """

    seen: Seen
    wanted: tuple[Spec, ...]
    hits: tuple[int, ...]
    extra: int | None = None
    anchor: tuple[object, ...] | None = None
    steps: tuple[Resume, ...] = ()
    frame: int = 0
    thread: int | None = None
    is_exact: bool = False
    is_counted: bool = False


async def seen(session: Session, frame: int) -> Seen:
    """Look at a stopped session without telling it (a job): nobody's next report changes by it."""
    session.require(State.STOPPED, to="look at it")
    stack = await session.backend.stack(session.look.thread or 0, levels=max(_LEVELS, frame + 1))
    looked = next((one for one in stack.frames if one.index == frame), None)
    found = await report.frame_locals(session, looked) if looked is not None else []
    # What a step returned is told among the locals by some adapters, in brackets.
    variables = (
        msgspec.structs.replace(one, value=_ADDRESS.sub("0x…", one.value), handle=0)
        for one in found
        if not one.name.startswith("(")
    )
    return Seen(stack.frames[:_LEVELS], stack.total, tuple(variables))


def place_of(frame: Frame) -> tuple[object, ...]:
    """Return what is the same of a frame in each run: its function and line."""
    return (frame.function, frame.file, frame.line)


def differences(was: Seen, now: Seen, session: Session) -> tuple[answers.Change, ...]:
    """Return what is otherwise in a second run: values, but not addresses."""
    changed = views.changes(was.variables, now.variables, session.refs, most=_VALUE)
    names = {one.name for one in now.variables}
    gone = (
        answers.Change(one.name, views.value_text(one.value, _VALUE), "not there", one.type)
        for one in was.variables
        if one.name not in names
    )
    return (*(one for one in changed if not _is_same(one)), *gone)


def _is_same(change: answers.Change) -> bool:
    """Tell whether only what is inside of a value was not read on one side."""
    outer, inner = (text.partition(" {") for text in (change.previous or "", change.value))
    return outer[0] == inner[0] and bool(outer[1]) != bool(inner[1])


def bounded(changes: Sequence[answers.Change]) -> tuple[answers.Change, ...]:
    """Return so many as an answer tells."""
    return tuple(changes[:_DIFFERENCES])


def check(session: Session) -> Launch:
    """Return what a second run starts.

    Raises:
        DebuggerError: WRONG_STATE for a core file, NOT_SUPPORTED for what can be run only once.
    """
    check_runs(session.target, to="try a change")
    target, why = session.target, None
    if not isinstance(target, Launch):
        why = "it was attached to, and cannot be started again as it was"
    elif session.parent is not None:
        why = "it is a child process, which only its parent can start"
    elif session.look.was_fed:
        why = "it has read what was typed for it; with debugger start --stdin FILE it can be rerun"
    if why is not None or not isinstance(target, Launch):
        raise DebuggerError(Code.NOT_SUPPORTED, f"cannot try it in a second run: {why}", hint=HERE)
    return target


async def position(session: Session) -> Position:
    """Tell how a second run comes to where a session is (a job).

    Raises:
        DebuggerError: NOT_SUPPORTED where there is no line that it could stop at.
    """
    look, stop = session.look, session.last_stop
    assert stop is not None
    chosen = look.frame.index if look.frame is not None else 0
    now = await seen(session, chosen)
    reason, frame, hits = stop.reason, now.frames[0] if now.frames else None, session.hits
    steps, is_exact = _steps(session), reason is Reason.PAUSE
    if steps and look.anchor is not None:
        before, frame, hits = look.anchor
        reason = before.reason
    wanted = [
        one
        for one in session.breakpoints.listed()
        if one.spec.enabled and one.spec.kind is not Kind.WATCHPOINT and one.spec.log is None
    ]
    specs, counts, extra = [one.spec for one in wanted], [one.hits for one in wanted], None
    if reason not in _BY_ITSELF and not {one.id for one in wanted} & set(hits):
        ours = _line_of(frame)
        # One of the user's at the line, perhaps with a condition, would stop there less often.
        kept = [
            at for at, one in enumerate(specs) if (one.file, one.line) != (ours.file, ours.line)
        ]
        specs, counts = [*(specs[at] for at in kept), ours], [*(counts[at] for at in kept), 1]
        extra = len(kept)
    return Position(
        seen=now,
        wanted=tuple(specs),
        hits=tuple(counts),
        extra=extra,
        anchor=place_of(frame) if steps and frame is not None else None,
        steps=steps,
        frame=chosen,
        thread=await _chosen(session, stop),
        is_exact=is_exact,
        is_counted=extra is None and set(specs) <= set(look.begun),
    )


def _steps(session: Session) -> tuple[Resume, ...]:
    """Return the steps from the last stop that was none; of those that are not known, nothing."""
    look, stop = session.look, session.last_stop
    if stop is None or stop.reason is not Reason.STEP or session.hits or look.anchor is None:
        return ()
    before, at, _ = look.anchor
    known = tuple(one for one in look.trail if one is not None)
    is_whole = len(known) == len(look.trail) < TRAIL_MAX
    is_found = before.reason is not Reason.PAUSE and (at is not None or before.reason in _BY_ITSELF)
    return known if is_whole and is_found else ()


async def _chosen(session: Session, stop: Stopped) -> int | None:
    chosen = session.look.thread
    if chosen is None or chosen == stop.thread:
        return None
    numbers = [one.id for one in await session.backend.threads()]
    return numbers.index(chosen) if chosen in numbers else None


def _line_of(frame: Frame | None) -> Spec:
    if frame is None or frame.file is None or frame.line is None:
        raise DebuggerError(
            Code.NOT_SUPPORTED,
            "cannot try it in a second run: there is no line here to bring it to",
            hint=HERE,
        )
    return Spec(file=frame.file, line=frame.line)
