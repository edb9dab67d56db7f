"""Brings a session back to an earlier stop of its program, by running it again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import Breakpoint, BreakpointSpec
from debugger.model.events import OutputStream, State
from debugger.model.program import Frame, ResumeKind, Variable
from debugger.model.text_filters import clip_text
from debugger.questions.back.earlier_stop import (
    BackKind,
    ReplayPlan,
    find_other_line,
    is_in_frame,
    may_miss_lines,
    plan_replay,
    previous_stops,
)
from debugger.questions.back.repeated_run import (
    RepeatedRun,
    add_lasting,
    find_path,
    record_path,
    record_steps,
    record_stops,
    replay_stops,
    site_of,
)
from debugger.questions.runner import question_run, stop_position
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.questions.runner.stop_position import ComparableStop, StopPosition
from debugger.session import inspection, source_files, stepping
from debugger.session.session import Session
from debugger.session.session_list import SessionList
from debugger.session.stepping import WaitLimit
from debugger.sources.function_span import find_span

_NAME = "back"
_LINES_MAX = 300  # lines of a function that a run stops at
_NAMED_MAX = 3  # named values that differ
_LINE_MAX = 100  # characters of an output line
_RESTART = "debugger restart begins the program again"


class BackRequest(Struct, frozen=True):
    """How far to go back, how often, and for `back-continue` the location."""

    kind: BackKind
    count: int = 1
    to: BreakpointSpec | None = None


async def go_back(
    sessions: SessionList, session: Session, request: BackRequest, patience: WaitLimit
) -> answers.Stop:
    """Bring a session back to an earlier stop.

    Raises:
        DebuggerError: WRONG_STATE, NOT_SUPPORTED if the program cannot be run again; NOT_FOUND if
            it runs differently the second time, or if there is no earlier stop. The session then
            stays where it is.
    """
    # 1. A private second run records its stops at the session's breakpoints, up to the session's
    #    stop: the same line, depth and values after the same number of hits.
    # 2. If the earlier stop is not among them, a further private run stops also at each line of the
    #    function (or the caller's line, or `--to`), from the last stop before on.
    # 3. Only then the session's own program is restarted, and brought to the stop that was chosen.
    ends_at = asyncio.get_running_loop().time() + patience.seconds
    session.require_state(State.STOPPED, to="go back")
    stop_position.check_second_run(session, to="go back", hint=_RESTART)
    was = await session.run_job(partial(stop_position.find_position, session))
    repeats = _Repeats(sessions, session, was, patience, ends_at)
    earlier = await repeats.find_plan(request)
    return await _move_session(session, earlier, repeats)


class EarlierStop(Struct, frozen=True):
    """How to reach an earlier stop, and what the private runs have shown of it."""

    plan: ReplayPlan
    # The values that differed at the session's own stop.
    differs: tuple[answers.ChangedValue, ...]
    # What a private run showed at the earlier stop; None if it was not read.
    seen: ComparableStop | None
    # What the session has shown there itself.
    shown: tuple[Variable, ...] = ()


class _Repeats:
    """The repeated runs of one request, and the remaining time."""

    def __init__(
        self,
        sessions: SessionList,
        session: Session,
        was: StopPosition,
        patience: WaitLimit,
        ends_at: float,
    ) -> None:
        self._sessions = sessions
        self._session = session
        self._was = was
        self.patience = patience
        self.ends_at = ends_at
        self.made = 0
        # The session's own resumes; None if a second run cannot repeat them.
        self._path = find_path(session, was)
        self._begun = session.selection.begun_ours
        # The values that differ from run to run at the session's stop.
        self._varying: frozenset[str] = frozenset()
        # A line of this session's output, and what a further run has printed in its place.
        self.other_line: tuple[str, str] | None = None

    @property
    def left_s(self) -> float:
        """The remaining seconds."""
        return max(0.0, self.ends_at - asyncio.get_running_loop().time())

    async def find_plan(self, request: BackRequest) -> EarlierStop:
        """Return how to reach the earlier stop, and what is known of it."""
        frames = self._was.seen.frames
        caller = (frames[1].file, frames[1].line) if len(frames) > 1 else None
        extra = _further_lines(request, frames)
        kind = BackKind.NEXT if request.kind is BackKind.STEP else request.kind
        found = await self._record_stops()
        attempt = found.attempt if self._was.steps else None
        after = len(found.arrivals)
        chosen = [] if request.to is not None else previous_stops(kind, found.arrivals, caller)
        # Since the last stop that ended no step all was stepped: nothing is missing there, also
        # where a step went into a call and a later one out of it.
        anchor = len(found.arrivals) - 1 - len(self._was.steps)
        is_stepped = len(chosen) >= request.count and chosen[-request.count] >= anchor
        if kind is BackKind.NEXT and not is_stepped:
            chosen = []  # lines between two stops at breakpoints are not among them
        if not chosen and extra:
            # From the last stop before on; only if there is none, from the start on.
            for after in dict.fromkeys((self._stops_before(found, anchor), 0)):
                found = await self._record(extra, after=after, attempt=attempt)
                chosen = _among(request, found, kind, caller)
                if len(chosen) >= request.count:
                    break
        if len(chosen) < request.count:
            raise _nothing_before(request, len(chosen))
        target = chosen[-request.count]
        plan = plan_replay(
            found.arrivals,
            target,
            after=after,
            path=self._path,
            begun=self._begun,
        )
        shown = plan.path_end(self._path or ())
        earlier = EarlierStop(plan, found.differs, found.seen_at(target), shown)
        if request.kind is BackKind.STEP:
            return await self._find_by_steps(earlier, ResumeKind.STEP)
        if (
            kind is BackKind.NEXT
            and not is_stepped
            and may_miss_lines(
                found.arrivals, target, source_files.read_source(frames[0].file or "") or ()
            )
        ):
            return await self._find_by_steps(earlier, ResumeKind.NEXT, request.count)
        return earlier

    async def _record_stops(self) -> RepeatedRun:
        """Record the stops of a run at the session's breakpoints, up to its stop.

        The run repeats the session's own resumes, as far as these are known.
        """
        if self._path is not None:
            try:
                async with self._run(self._begun, is_like_session=True) as run:
                    found = await record_path(run, self._users, self._path)
                    self.other_line = self._compare_output(run)
            except DebuggerError as error:
                if error.code is not ErrorCode.NOT_FOUND:
                    raise
                # Some kinds of steps are recorded as the plain ones.
                self._path = None
            else:
                self._varying = frozenset(one.name for one in found.differs)
                # The values identify the stop now, without those that differ in each run.
                self._was = msgspec.structs.replace(self._was, is_counted=False)
                return found
        found = await self._record((), after=0)
        if self._was.steps and found.attempt > 1:
            return await self._record((), after=0, attempt=found.attempt)
        return found

    def _compare_output(self, run: RunningQuestion) -> tuple[str, str] | None:
        """Return the first line that this session has printed, and the run otherwise."""
        begun_at = self._session.selection.begun_at
        before, now = (
            [
                (one.stream.value, stop_position.hide_addresses(one.text))
                for one in session.timeline.lines(since=since).lines
                if one.stream is not OutputStream.CONSOLE
            ]
            for session, since in ((self._session, begun_at), (run.session, 0))
        )
        return find_other_line(before, now)

    def _stops_before(self, found: RepeatedRun, anchor: int) -> int:
        """Return after how many stops a run stops at further lines, too."""
        if self._path is not None:
            return anchor
        before = [index for index, one in enumerate(found.arrivals[:-1]) if one.is_users]
        return before[-1] + 1 if before and not self._was.steps else 0

    async def _find_by_steps(
        self, earlier: EarlierStop, how: ResumeKind, count: int = 1
    ) -> EarlierStop:
        """Return the stop `count` steps before the session's, which is at or behind another one."""
        plan = earlier.plan
        # As the session will run: without our own breakpoint at its stop.
        async with self._run(plan.first, is_like_session=True) as run:
            steps, seen = await record_steps(run, self._was, plan, how, self._varying)
        is_in_calls = not all(is_in_frame(one, steps[-1]) for one in steps[-1 - count : -1])
        if how is ResumeKind.NEXT and is_in_calls:
            return earlier  # a breakpoint of the user's has interrupted a step
        made = [one.how for one in steps[1:-count] if one.how is not None]
        plan = msgspec.structs.replace(plan, steps=(*plan.steps, *made))
        return msgspec.structs.replace(earlier, plan=plan, seen=seen[-count])

    async def _record(
        self, extra: Sequence[BreakpointSpec], *, after: int, attempt: int | None = None
    ) -> RepeatedRun:
        path = self._path[: after - 1] if self._path is not None and after else None
        was = self._was if path is None else self._users
        lines = extra if path is None or self._own is None else (*extra, self._own)
        first = self._begun if path is not None else () if after else extra
        async with self._run(first, is_like_session=path is not None) as run:
            return await record_stops(
                run, was, lines, after=after, attempt=attempt, path=path, varying=self._varying
            )

    @property
    def _own(self) -> BreakpointSpec | None:
        """Our breakpoint at the session's stop, if none of the user's stops there."""
        extra = self._was.extra
        return self._was.wanted[extra] if extra is not None else None

    @property
    def _users(self) -> StopPosition:
        """The session's stop with the user's breakpoints alone."""
        specs, hits, extra = self._was.wanted, self._was.hits, self._was.extra
        if extra is None:
            return self._was
        return msgspec.structs.replace(
            self._was,
            wanted=(*specs[:extra], *specs[extra + 1 :]),
            hits=(*hits[:extra], *hits[extra + 1 :]),
            extra=None,
        )

    @asynccontextmanager
    async def _run(
        self,
        extra: Sequence[BreakpointSpec],
        *,
        is_like_session: bool = False,
    ) -> AsyncIterator[RunningQuestion]:
        specs = (self._users if is_like_session else self._was).wanted
        known = {site_of(one) for one in specs}
        question = QuestionRun(
            sessions=self._sessions,
            target=stop_position.check_second_run(self._session),
            make_backend=self._session.make_backend,
            name=_NAME,
            patience=replace(self.patience, seconds=self.left_s),
            breakpoints=(
                *specs,
                *(one for one in extra if site_of(one) not in known),
            ),
            traits=self._session.traits,
            adapter=self._session.adapter,
        )
        self.made += 1
        async with question_run.run_question(question) as run:
            yield run


def _among(
    request: BackRequest,
    found: RepeatedRun,
    kind: BackKind,
    caller: tuple[str | None, int | None] | None,
) -> list[int]:
    if request.to is None:
        return previous_stops(kind, found.arrivals, caller)
    # The debugger may have moved the breakpoint to the next line with code: any stop that is not at
    # a breakpoint of the user's, or at the session's own line.
    target, here = (request.to.file, request.to.line), found.arrivals[-1].location
    return [
        index
        for index, one in enumerate(found.arrivals[:-1])
        if one.location == target or (not one.is_users and one.location != here)
    ]


def _further_lines(request: BackRequest, frames: Sequence[Frame]) -> list[BreakpointSpec]:
    """Return the locations to stop at beside the session's breakpoints."""
    if request.kind is BackKind.CONTINUE:
        return [request.to] if request.to is not None else []
    caller = [
        BreakpointSpec(file=one.file, line=one.line)
        for one in frames[1:2]
        if one.file is not None and one.line is not None
    ]
    top = frames[0] if frames else None
    if request.kind is BackKind.FINISH or top is None or top.file is None or top.line is None:
        return caller
    text = source_files.read_source(top.file) or ()
    span = find_span(top.file, text, top.line, top.function)
    span_lines = (max(1, top.line - _LINES_MAX // 2), min(len(text), top.line + _LINES_MAX // 2))
    first, last = span or span_lines
    lines = [number for number in range(first, last + 1) if "".join(text[number - 1 : number])]
    near = sorted(lines, key=lambda number: abs(number - (top.line or 0)))[:_LINES_MAX]
    return [*caller, *(BreakpointSpec(file=top.file, line=number) for number in sorted(near))]


def _nothing_before(request: BackRequest, found: int) -> DebuggerError:
    what = {
        BackKind.CONTINUE: "stop at a breakpoint before this one",
        BackKind.FINISH: "call of this function that was seen",
    }.get(request.kind, "line of this function or its caller before this one")
    if request.to is not None:
        to = request.to
        place = f"{to.file}:{to.line}" if to.line is not None else to.function or to.address
        what = f"hit of {place} before this stop"
    if found:
        return DebuggerError(
            ErrorCode.NOT_FOUND,
            f"only {found} lines back to the call of this function are known, not {request.count}",
            hint=f"debugger back {found}, and from there debugger back goes on in the caller",
        )
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"there is no {what}",
        hint="debugger back-continue --to FILE:LINE; " + _RESTART,
    )


async def _move_session(session: Session, earlier: EarlierStop, repeats: _Repeats) -> answers.Stop:
    """Restart the session's own program, and bring it to an earlier stop.

    Raises:
        DebuggerError: NOT_FOUND if this run comes to another stop than the private ones.
    """
    plan = earlier.plan
    printed = {one.text for one in session.timeline.lines(since=0).lines}
    watched = await _disable_watchpoints(session)
    added = await add_lasting(session, plan.first)  # before the start, or it passes them
    try:
        cursor = await session.run_job(session.restart)
        run = RunningQuestion(session, repeats.patience, repeats.ends_at)
        limit = replace(repeats.patience, seconds=run.left_s)
        first = await stepping.wait_for_stop(session, limit, after=cursor)
        stop = await replay_stops(run, plan, first, added)
        varying = await _compare_runs(session, earlier)
    except DebuggerError as error:
        raise DebuggerError(
            error.code,
            f"the program was run again, and this last run went another way: {error.message}",
            hint="debugger status shows where it is; " + _RESTART,
        ) from error
    finally:
        await _enable_watchpoints(session, watched)
    values = "at the stop that was left its values were the same"
    if earlier.differs:
        names = ", ".join(one.name for one in earlier.differs[:3])
        values = f"at the stop that was left these values were others: {names}"
    note = f"went back by running the program again, {repeats.made + 1} times; {values}"
    if repeats.other_line is not None:
        old, new = (clip_text(one, _LINE_MAX) for one in repeats.other_line)
        varying.append(f"the program has printed `{new}` and not `{old}`: it runs differently")
    # What the program printed before is in the timeline, and was shown.
    output = tuple(one for one in stop.output if one.text not in printed)
    return msgspec.structs.replace(
        stop, notes=(*stop.notes, note, *varying), output=output, output_total=len(output)
    )


async def _disable_watchpoints(session: Session) -> list[Breakpoint]:
    """Disable the watchpoints, whose stops the private runs have not made; return them."""
    watched = [one for one in session.binding.watching.watchpoints() if one.spec.enabled]
    for one in watched:
        await session.run_job(partial(session.binding.enable, one.id, on=False))
    return watched


async def _enable_watchpoints(session: Session, watched: Sequence[Breakpoint]) -> None:
    """Enable watchpoints; as after a restart each waits for a stop in its function."""
    for one in watched:
        is_stopped = session.state is State.STOPPED
        frame = await session.run_job(partial(inspection.frame_of, session)) if is_stopped else None
        is_there = frame is not None and frame.function == one.spec.function
        enable = partial(session.binding.enable, one.id, on=True)
        try:
            await session.run_job(partial(enable, frame=frame if is_there else None))
        except DebuggerError as error:
            if error.code is not ErrorCode.EVALUATION_FAILED:
                raise
            await session.run_job(enable)


async def _compare_runs(session: Session, earlier: EarlierStop) -> list[str]:
    """Compare an earlier stop with what a private run, and the session itself, showed there.

    Raises:
        DebuggerError: NOT_FOUND if this is another stop.
    """
    seen = earlier.seen
    if seen is None:
        return ["the values here were not compared with another run's: it is too far back"]
    now = await session.run_job(partial(stop_position.observe_stop, session, 0))
    if not now.is_at(seen):
        one = seen.frames[0]
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"it is not at {one.function} {Path(one.file or '?').name}:{one.line}, where another "
            "run was",
            hint=_RESTART,
        )
    others = stop_position.other_values(earlier.shown, now, session)[:_NAMED_MAX]
    if others:
        shown = ", ".join(f"{one.name}={one.value} and not {one.previous}" for one in others)
        return [f"this is not the state that it was: {shown}"]
    names = [one.name for one in stop_position.stop_differences(seen, now, session)]
    if not names:
        return []
    shown = ", ".join(names[:_NAMED_MAX])
    return [f"these values differ here from run to run, and may not be those that were: {shown}"]
