"""Identifies the stop of a session, and brings a second run to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

import msgspec
from msgspec import Struct

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import BreakpointKind, BreakpointSpec
from debugger.model.events import State
from debugger.model.program import Frame, ResumeKind, Stopped, StopReason, Variable
from debugger.questions.runner.question_run import RunningQuestion
from debugger.session import assigned_locals, inspection, stop_report, views
from debugger.session.selection import TRAIL_MAX
from debugger.session.session import Session
from debugger.session.session_state import check_runs

_LEVELS = 20  # frames to compare
_VALUE = 200  # characters of a shown difference
_DIFFERENCES = 10  # shown differences
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
# Python counts the debugger's threads, too, and the system's numbers of threads vary.
_THREAD_NUMBER = re.compile(r"(?<=\bThread-)\d+|(?<=, started )\d+|(?<=, started daemon )\d+")
HERE = "--here tries it in the session itself, which then goes on from there"
# At these a program stops by itself; elsewhere a breakpoint of ours makes it stop again.
_BY_ITSELF = {StopReason.EXCEPTION, StopReason.SIGNAL, StopReason.ENTRY}


class ComparableStop(Struct, frozen=True):
    """The comparable part of a stop: its frames, and the selected frame's variables."""

    frames: tuple[Frame, ...]
    total: int | None
    variables: tuple[Variable, ...]

    def is_at(self, other: ComparableStop) -> bool:
        """Return whether both are at the same line of the same function, at equal depth."""
        if self.total != other.total and None not in {self.total, other.total}:
            return False
        return [*map(frame_location, self.frames[:1])] == [*map(frame_location, other.frames[:1])]

    def is_called_alike(self, other: ComparableStop) -> bool:
        """Return whether both were called through the same lines."""
        return [*map(frame_location, self.frames)] == [*map(frame_location, other.frames)]


class StopPosition(Struct, frozen=True):
    """The way to bring a second run to the stop of a session."""

    seen: ComparableStop
    # The breakpoints to run with.
    wanted: tuple[BreakpointSpec, ...]
    # How often each of `wanted`, by index, has stopped the session.
    hits: tuple[int, ...]
    # The index of our own breakpoint in `wanted`.
    extra: int | None = None
    anchor: tuple[object, ...] | None = None
    # The steps to repeat after the last breakpoint.
    steps: tuple[ResumeKind, ...] = ()
    # The number of the selected frame.
    frame: int = 0
    # The index of the selected thread, if it is not the stopped one: the system's thread ids differ
    # in each run.
    thread: int | None = None
    # The location is not enough: its values must be equal, too.
    is_exact: bool = False
    # All breakpoints existed from the start, so that hit counts alone identify the stop.
    is_counted: bool = False

    @property
    def users(self) -> int:
        """How many of `wanted` are the user's."""
        return len(self.wanted) - (self.extra is not None)


async def observe_stop(session: Session, frame: int) -> ComparableStop:
    """Inspect a stopped session without affecting its next report (a job)."""
    session.require_state(State.STOPPED, to="show where it is")
    stack = await session.backend.read_stack(
        session.selection.thread or 0, levels=max(_LEVELS, frame + 1)
    )
    looked = next((one for one in stack.frames if one.index == frame), None)
    found = await stop_report.frame_locals(session, looked) if looked is not None else []
    # What a step returned is told among the locals by some adapters, in brackets.
    return ComparableStop(stack.frames[:_LEVELS], stack.total, _comparable_values(found))


def _comparable_values(found: Sequence[Variable]) -> tuple[Variable, ...]:
    return tuple(
        msgspec.structs.replace(one, value=hide_addresses(one.value), handle=0)
        for one in found
        if not one.name.startswith("(")
    )


def hide_addresses(text: str) -> str:
    """Replace the addresses and the numbers of threads in a text, which differ in each run."""
    return _THREAD_NUMBER.sub("…", _ADDRESS.sub("0x…", text))


def frame_location(frame: Frame) -> tuple[object, ...]:
    """Return a frame's key across runs: its function and line."""
    return (frame.function, frame.file, frame.line)


def stop_differences(
    was: ComparableStop, now: ComparableStop, session: Session
) -> tuple[answers.ChangedValue, ...]:
    """Return a second run's different values, ignoring addresses."""
    changed = views.changed_values(was.variables, now.variables, session.refs, most=_VALUE)
    names = {one.name for one in now.variables}
    gone = (
        answers.ChangedValue(one.name, views.value_text(one.value, _VALUE), "not there", one.type)
        for one in was.variables
        if one.name not in names
    )
    return (*(one for one in changed if not _is_same(one)), *gone)


def other_values(
    shown: Sequence[Variable], now: ComparableStop, session: Session
) -> tuple[answers.ChangedValue, ...]:
    """Return the values that are others now than a session has shown at the same stop."""
    was = ComparableStop(now.frames, now.total, _comparable_values(shown))
    changed = stop_differences(was, now, session)
    names = {one.name for one in now.variables}
    return tuple(one for one in changed if one.previous is not None and one.name in names)


def _is_same(change: answers.ChangedValue) -> bool:
    """Return whether two values differ at most by what one side did not read or mark.

    After an assignment in a session nothing is marked as not assigned yet.
    """
    if assigned_locals.UNASSIGNED in {change.previous, change.value}:
        return True
    outer, inner = (text.partition(" {") for text in (change.previous or "", change.value))
    return outer[0] == inner[0] and bool(outer[1]) != bool(inner[1])


def limit_changes(changes: Sequence[answers.ChangedValue]) -> tuple[answers.ChangedValue, ...]:
    """Return as many changes as an answer shows."""
    return tuple(changes[:_DIFFERENCES])


def check_second_run(session: Session, *, to: str = "try it", hint: str = HERE) -> LaunchTarget:
    """Return the launch target of a second run; `to` says what it is for.

    Raises:
        DebuggerError: WRONG_STATE for a core file, NOT_SUPPORTED for a target that can run only
        once.
    """
    check_runs(session.target, to=to)
    target, why = session.target, None
    if not isinstance(target, LaunchTarget):
        why = "it was attached to, and cannot be started again as it was"
    elif session.parent is not None:
        why = "it is a child process, which only its parent can start"
    elif session.selection.has_read_stdin:
        why = "it has read what was typed for it; with debugger start --stdin FILE it can be rerun"
    if why is not None or not isinstance(target, LaunchTarget):
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED, f"cannot {to} in a second run: {why}", hint=hint
        )
    return target


async def find_position(session: Session) -> StopPosition:
    """Determine how a second run can reach the session's stop (a job).

    Raises:
        DebuggerError: NOT_SUPPORTED if there is no line to stop at.
    """
    selection, stop = session.selection, session.last_stop
    assert stop is not None
    chosen = selection.frame.index if selection.frame is not None else 0
    now = await observe_stop(session, chosen)
    reason, frame, hits = stop.reason, now.frames[0] if now.frames else None, session.hits
    steps, is_exact = _repeatable_steps(session), reason is StopReason.PAUSE
    if steps and selection.anchor is not None:
        before, frame, hits = selection.anchor
        reason = before.reason
    enabled = [
        one
        for one in session.breakpoints.user_breakpoints()
        if one.spec.enabled
        and one.spec.kind is not BreakpointKind.WATCHPOINT
        and one.spec.log is None
    ]
    specs, counts, extra = [one.spec for one in enabled], [one.hits for one in enabled], None
    if reason not in _BY_ITSELF and not {one.id for one in enabled} & set(hits):
        ours = _line_of(frame)
        # One of the user's at the line, perhaps with a condition, would stop there less often.
        others = [
            at for at, one in enumerate(specs) if (one.file, one.line) != (ours.file, ours.line)
        ]
        specs, counts = [*(specs[at] for at in others), ours], [*(counts[at] for at in others), 1]
        extra = len(others)
    return StopPosition(
        seen=now,
        wanted=tuple(specs),
        hits=tuple(counts),
        extra=extra,
        anchor=frame_location(frame) if steps and frame is not None else None,
        steps=steps,
        frame=chosen,
        thread=await _selected_thread_index(session, stop),
        is_exact=is_exact,
        is_counted=extra is None and set(specs) <= set(selection.begun),
    )


def _repeatable_steps(session: Session) -> tuple[ResumeKind, ...]:
    """Return the steps since the last stop that ended no step; nothing if any is unknown."""
    selection, stop = session.selection, session.last_stop
    if (
        stop is None
        or stop.reason is not StopReason.STEP
        or session.hits
        or selection.anchor is None
    ):
        return ()
    before, at, _ = selection.anchor
    known = tuple(one for one in selection.trail if one is not None)
    is_whole = len(known) == len(selection.trail) < TRAIL_MAX
    is_found = before.reason is not StopReason.PAUSE and (
        at is not None or before.reason in _BY_ITSELF
    )
    return known if is_whole and is_found else ()


async def _selected_thread_index(session: Session, stop: Stopped) -> int | None:
    chosen = session.selection.thread
    if chosen is None or chosen == stop.thread:
        return None
    numbers = [one.id for one in await session.backend.list_threads()]
    return numbers.index(chosen) if chosen in numbers else None


def _line_of(frame: Frame | None) -> BreakpointSpec:
    if frame is None or frame.file is None or frame.line is None:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            "cannot try it in a second run: no source line here to run to",
            hint=HERE,
        )
    return BreakpointSpec(file=frame.file, line=frame.line)


_ARRIVALS_MAX = 200  # arrivals at the location in one run
_SEARCH_S = 2.0  # the least time to search beyond the first arrival


class SecondRunArrival(Struct, frozen=True):
    """A second run reached the session's stop, except for the differences in `differs`."""

    session: Session
    differs: tuple[answers.ChangedValue, ...] = ()
    is_called_alike: bool = True


class SecondRunMissed(Struct, frozen=True):
    """A second run did not reach the stop; its arrival number `nearest` was the most similar.

    `stop` is its end, or the report that it still runs.
    """

    stop: answers.Stop
    nearest: int | None = None


async def bring_to_stop(
    run: RunningQuestion, was: StopPosition, at: int | None = None
) -> SecondRunArrival | SecondRunMissed:
    """Run a second run to the stop of a session.

    Without `at` the second run must have equal values there: hit counts do not identify the stop if
    breakpoints were added during the run. The search takes at most as long again as the way to the
    location, at least 2 s. With `at` the second run goes to that arrival at the location.

    Raises:
        DebuggerError: What resuming raises.
    """
    # 1. Let the run stop at its breakpoints until each of them has at least the session's hit count
    #    (`is_due`), then repeat the session's last steps.
    # 2. Each such arrival at the session's line is compared with the session: the values, and the
    #    callers' lines.
    # 3. It is accepted if hit counts alone identify the stop (`is_counted`), if it is the arrival
    #    `at`, or if nothing differs. Otherwise the number of the most similar arrival is
    #    remembered, for a further run that goes there directly.
    began = run.left_s
    stop, number = await run.wait_first(), 0
    best: tuple[int, int] | None = None  # so many differences, at that time
    search_ends: float | None = None  # in seconds that are left of the whole
    while stop.state == State.STOPPED.value:
        session = run.session_of(stop)
        if is_due(session, was):
            number += 1
            after = await _repeat_steps(run, session, was)
            if after.state != State.STOPPED.value:
                return SecondRunMissed(after, _best_number(best))
            now = await observe_second_run(session, was)
            if now is not None and now.is_at(was.seen):
                found = stop_differences(was.seen, now, session)
                is_alike = now.is_called_alike(was.seen)
                is_known = at == number or (at is None and was.is_counted)
                if is_known or (at is None and is_alike and not found):
                    return SecondRunArrival(session, found, is_alike)
                score = (len(found) + (not is_alike), number)
                best = min(best or score, score)
                search_ends = search_ends or run.left_s - max(_SEARCH_S, began - run.left_s)
            if number >= (at or _ARRIVALS_MAX):
                return SecondRunMissed(after, _best_number(best))
        if search_ends is not None and run.left_s <= search_ends:
            return SecondRunMissed(stop, _best_number(best))
        within = run.left_s - search_ends if search_ends is not None else None
        stop = await run.go_on(session, within)
    return SecondRunMissed(stop, _best_number(best))


def _best_number(best: tuple[int, int] | None) -> int | None:
    return best[1] if best is not None else None


def is_due(session: Session, was: StopPosition) -> bool:
    """Return whether the breakpoints have been hit at least as often as the session's."""
    counts = [one.hits for one in session.breakpoints.user_breakpoints()]
    if any(now < then for now, then in zip(counts, was.hits, strict=False)):
        return False
    frame = session.selection.frame
    return was.anchor is None or (frame is not None and frame_location(frame) == was.anchor)


async def _repeat_steps(run: RunningQuestion, session: Session, was: StopPosition) -> answers.Stop:
    """Repeat the steps of the session."""
    stop = answers.Stop(session=session.name, state=session.state.value)
    for how in was.steps:
        if stop.state != State.STOPPED.value:
            break
        stop = await run.go_on(session, how=how)
    return stop


async def observe_second_run(session: Session, was: StopPosition) -> ComparableStop | None:
    """Inspect the same frame and thread; None if there is no such thread."""
    if was.thread is not None:
        numbers = [one.id for one in await session.run_job(session.backend.list_threads)]
        if was.thread >= len(numbers):
            return None
        await session.run_job(partial(inspection.choose_thread, session, numbers[was.thread]))
    return await session.run_job(partial(observe_stop, session, was.frame))
