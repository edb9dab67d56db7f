"""Runs the program for one chain of a native value, each time up to the event found last."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence

import msgspec

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.locations.missing_function import (
    describe_near,
    repeat_question,
    search_program,
)
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.why import run_planning
from debugger.questions.why.answer import ChainEnd
from debugger.questions.why.copied_memory import CopiedMemory, CopyWrite
from debugger.questions.why.native_sites import ChainSites, NativeSources
from debugger.questions.why.native_steps import ReachedEnd, ValuePosition
from debugger.questions.why.traced_run import (
    EndPlan,
    LinePlan,
    ReturnPlan,
    TraceEvent,
    TracePlan,
    TraceResult,
    WatchPlan,
    run_traced,
)
from debugger.questions.why.why_request import RUNS_USUAL, WhyRequest
from debugger.session import source_files
from debugger.sources.compared_sides import find_compared
from debugger.symbols.program_file import may_start_processes

_FUNCTIONS_MAX = 200  # functions whose calls are known
_END_S = 1.5  # seconds that the end of a run takes
_LAST_DEEP = 8  # last hits of a site whose stacks a further run reads


def plan_survey(request: WhyRequest, end: EndPlan) -> TracePlan:
    """Return the plan of the first run: to the location, where it reads the value and the stack."""
    return TracePlan(
        end,
        expression=request.expression,
        frame=request.frame,
        calls=_FUNCTIONS_MAX,
        finds_copies=True,
        compared=find_compared_values(request.expression, request.check_place()),
    )


def find_compared_values(
    expression: str, place: tuple[str, int] | None
) -> tuple[tuple[str, str, str], ...]:
    """Return what a check at a line compares a value with, for a run's plan."""
    file, line = place or ("", 0)
    lines = source_files.read_source(file) if file else None
    found = []
    for one in find_compared(file, lines, line) if lines is not None else ():
        other = one.other_of(expression)
        found += [(other, one.how.value, one.size)] if other is not None else []
    return tuple(found)


class NativeRuns:
    """The runs of one question: their number, their end, and what the last one has shown."""

    def __init__(self, call: CommandCall, question: QuestionRun, request: WhyRequest) -> None:
        self._call, self._question = call, question
        # Its expression is that of the part that is followed, once the survey has found it.
        self.request = request
        self.count = request.runs
        self.seconds = question.patience.seconds
        self.notes: list[str] = []
        self.end: EndPlan = run_planning.location_end(request, request.nth)
        self.sources = NativeSources()
        self.sites = ChainSites(self.sources, self.new_key)
        self.copies = CopiedMemory()
        self.survey = TraceResult()
        self.last: TraceResult | None = None
        # What the last run has watched, and the functions whose returns it has recorded.
        self.watched: dict[str, WatchPlan] = {}
        self.returned: dict[str, ReturnPlan] = {}
        self._lined: dict[str, LinePlan] = {}
        # The plan's entries that the end of the next run needs.
        self.marker_watch: WatchPlan | None = None
        self._marker_return: ReturnPlan | None = None
        self._marker_line: LinePlan | None = None
        self._deep_from: dict[str, int] = {}
        self._keys = 0
        self._random: tuple[str, ...] = ()
        self._began = asyncio.get_running_loop().time() - request.spent_s

    def new_key(self, letter: str) -> str:
        """Return a key that no plan has used."""
        self._keys += 1
        return f"{letter}{self._keys}"

    def used_s(self) -> float:
        """Return the seconds since the question began."""
        return asyncio.get_running_loop().time() - self._began

    def has_left(self) -> bool:
        """Return whether the bounds of runs and of seconds allow one more."""
        return self.count < self.request.runs_most and self.has_time()

    def has_time(self) -> bool:
        """Return whether a run as long as the first one ends in time."""
        return self.used_s() + self.survey.seconds < self.seconds

    def describe_late(self) -> ReachedEnd:
        """Return the end for a run that was not over in time, with the writes until then."""
        text = f"the run with watchpoints was not over in {self.seconds:g} s in all"
        counts = (self.last or self.survey).counts
        count = max((counts.get(key, 0) for key in self.watched), default=0)
        if count > 1:
            text += f"; until then the memory was written {count:,} times"
        return ReachedEnd(
            ChainEnd.BOUND,
            f"{text}: --nth or --when choose an earlier moment, --timeout 300",
            is_opaque=True,
        )

    def describe_bound(self) -> str:
        """Return which bound allows no further run."""
        is_usual = self.request.runs_most == RUNS_USUAL
        more = ", without --timeout S" if is_usual else ""
        if self.has_time():
            return f"{self.count} runs are the most{more}"
        return f"{self.seconds:g} s are the most, and a run takes {self.survey.seconds:.1f} s{more}"

    async def run_survey(self) -> TraceResult:
        """Run to the location, and read the value and the stack there.

        Raises:
            DebuggerError: NOT_FOUND or TIMEOUT for a location that is not reached.
        """
        request = self.request
        if request.is_last:
            counted = await self._run_plan(TracePlan(self.end))
            number = counted.hits + 1 + request.nth
            if number < 1:
                raise await self._location_error(counted)
            self.end = run_planning.location_end(request, number)
        plan = plan_survey(request, self.end)
        found = request.survey
        if found is None or not found.reached:
            found = await self._run_plan(plan)
        else:
            self._note_run(found)
        if not found.reached:
            await self._check_function()
            raise await self._location_error(found)
        if request.check_place() is None and found.frames:
            frame = found.frames[found.frame]
            place = (frame.file or "", frame.line or 0)
            compared = find_compared_values(request.expression, place)
            if compared:
                found = await self._run_plan(msgspec.structs.replace(plan, compared=compared))
        if found.departs is not None:
            part = f"{request.expression}{found.departs.path}"
            self.request = msgspec.structs.replace(request, expression=part)
        self.survey = self.last = found
        if found.value is not None:
            self.copies.note_end(found, found.value.bytes)
        self.seconds = request.seconds_for(self.seconds, found.seconds)
        self.sources.add_functions(found.functions)
        return found

    async def run(
        self,
        *,
        watches: Sequence[WatchPlan] = (),
        returns: Sequence[ReturnPlan] = (),
        lines: Sequence[LinePlan] = (),
        entries: tuple[str, ...] = (),
        reads: bool = False,
        blocks: bool = False,
        expression: str = "",
        frame: int = 0,
        deep_frames: int = 4,
        is_last: bool = True,
        copied: str = "",
    ) -> TraceResult:
        """Run to the end again, with what the end needs and the chain's own sites.

        Without `is_last` the chain goes on by what the run before has shown.
        """
        markers = [one for one in (self.marker_watch,) if one is not None]
        watched = tuple(dict.fromkeys([*markers, *watches]))
        # A watchpoint that ends the run watches the same calls as before.
        owners = [f"*{one.owner[1]:#x}" for one in markers if one.owner is not None]
        marked = [one for one in (self._marker_return,) if one is not None]
        returned = tuple(dict.fromkeys([*marked, *returns]))
        begun = [one for one in (self._marker_line,) if one is not None]
        lined = tuple(dict.fromkeys([*begun, *lines]))
        plan = TracePlan(
            self.end,
            watches=watched,
            returns=(*returned, *self.sites.returns),
            lines=(*lined, *self.sites.lines),
            entries=tuple(dict.fromkeys([*entries, *owners])),
            reads=reads,
            blocks=blocks,
            expression=expression,
            frame=frame,
            deep_frames=deep_frames,
            finds_copies=bool(expression),
            copied=copied,
            deep_from=dict(self._deep_from),
        )
        found = await self._run_plan(plan)
        for key in self.sites.all_keys():
            self._deep_from[key] = max(found.counts.get(key, 0) - _LAST_DEEP, 1)
        self.sites.drop(found.hot)
        if copied and found.reached:
            self.copies.note_end(found, copied)
        self.copies.read_events(found, watched)
        if is_last:
            self.watched = {one.key: one for one in watched if one.key not in found.hot}
            self.returned = {one.key: one for one in returned}
            self._lined = {one.key: one for one in lined}
            self.last = found
        return found

    async def _location_error(self, found: TraceResult) -> DebuggerError:
        target = self._question.target
        path = target.program if isinstance(target, LaunchTarget) else None
        error = run_planning.location_error(self.request, found)
        if path is None or not await asyncio.to_thread(may_start_processes, path):
            return error
        text = f"{error.message}; the processes that it starts are not followed"
        return DebuggerError(error.code, text, hint=error.hint)

    async def _check_function(self) -> None:
        """Check that the program has the function of the location.

        Raises:
            DebuggerError: NOT_FOUND, with near names.
        """
        target, at = self._question.target, self.request.at
        if at is None or not at.function or at.file or not isinstance(target, LaunchTarget):
            return
        missing = await asyncio.to_thread(search_program, target.program, at.function)
        if missing is not None:
            words = f"debugger why {shlex.quote(self.request.expression)} --at"
            raise DebuggerError(
                ErrorCode.NOT_FOUND,
                describe_near(*missing),
                hint=repeat_question(words, missing[1]),
            )

    async def _run_plan(self, plan: TracePlan) -> TraceResult:
        self.count += 1
        seconds = max(self.seconds - self.used_s() - _END_S, 1.0)
        plan = msgspec.structs.replace(plan, random=self._random, forks=self.request.forks)
        found = await run_traced(self._call, self._question, plan, seconds=seconds)
        self._note_run(found)
        return found

    def _note_run(self, found: TraceResult) -> None:
        self._random = max(self._random, found.random, key=len)
        self.notes += found.notes

    def mark_event(self, event: TraceEvent) -> None:
        """End the next runs at this event."""
        self.end = EndPlan("event", key=event.key, count=event.count)
        self.marker_watch = self.watched.get(event.key)
        self._marker_return = self.returned.get(event.key)
        self._marker_line = self._lined.get(event.key)

    def mark_copy(self, write: CopyWrite) -> None:
        """End the next runs at the write of a copy, which an earlier run has seen."""
        self.mark_event(write.event)
        self.marker_watch = write.watch

    def line_of(self, event: TraceEvent | None) -> tuple[LinePlan, ...]:
        """Return the plan of the line that an event is of, if it is none of the chain's sites."""
        plan = self._lined.get(event.key) if event is not None else None
        return (plan,) if plan is not None else ()

    def keys_of_lines(self, file: str, numbers: Sequence[int]) -> dict[str, int]:
        """Return the keys of lines that the last run has recorded; none unless all were."""
        places = {f"{file}:{one}": one for one in numbers}
        found = {
            key: places[one.location]
            for key, one in self._lined.items()
            if one.location in places and not one.value
        }
        return found if self.last is not None and len(found) == len(places) else {}

    def sequence_of(self, event: TraceEvent | None) -> int | None:
        """Return the moment of an event in the last run; None is its end."""
        if self.last is None or event is None:
            return None
        return next(
            (
                one.sequence
                for one in self.last.events
                if (one.key, one.count) == (event.key, event.count)
            ),
            None,
        )

    def extend_sites(self, position: ValuePosition, text: str) -> None:
        """Record in the next run what an expression at a position may come by."""
        frame = position.frame
        self.sites.extend(self.sources.function_of(frame), text, frame.line)
