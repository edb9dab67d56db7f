"""Follows a value of a compiled program back to its origin, by repeated runs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.why import heap_history, native_values, run_planning, write_choice
from debugger.questions.why.answer import ChainEnd, LinkCertainty, LinkKind, Why, WhyLink
from debugger.questions.why.heap_history import BlockEvents, HeapHistory
from debugger.questions.why.native_chain import (
    MemoryTarget,
    NativeChain,
    NextStep,
    ReachedEnd,
    ReturnTarget,
    ValuePosition,
)
from debugger.questions.why.traced_run import (
    EndPlan,
    ReturnPlan,
    TraceEvent,
    TracePlan,
    TraceResult,
    WatchPlan,
    run_traced,
)
from debugger.questions.why.why_request import RUNS_USUAL, WhyRequest

_SLOTS = 4  # debug registers of x86-64
_STEPS_MAX = 200
_SOURCES_LEAST = 2  # with one line the statement says all
_REPEATED = "so it was computed"
_METHOD = "hardware watchpoints in repeated runs with the same addresses"


async def trace_value(call: CommandCall, question: QuestionRun, request: WhyRequest) -> Why:
    """Run a program up to `runs_most` times, and follow the value of an expression back.

    Raises:
        DebuggerError: NOT_FOUND if the location is not reached, EVALUATION_FAILED for an
        expression without a value there, NOT_SUPPORTED for what cannot be followed.
    """
    # 1. A survey run goes to the location: the value, its memory, the stack.
    # 2. What the stack shows by itself (a parameter is the caller's argument) needs no further run.
    # 3. Memory is watched in a further run, up to the event that was found last. That run also
    #    watches what may be next: variables with the same value, the block's header words (which
    #    the allocator writes), and the returns of the functions that are called.
    # 4. With randomization off, raw addresses are the same in each run; a run that does not come to
    #    the same event ends the chain.
    trace = NativeTrace(call, question, request)
    return await trace.find_origin()


class NativeTrace:
    """The runs of one question."""

    def __init__(self, call: CommandCall, question: QuestionRun, request: WhyRequest) -> None:
        self._call, self._question, self._request = call, question, request
        self._chain = NativeChain()
        self._heap = HeapHistory()
        self._runs = request.runs
        self._seconds = question.patience.seconds
        self._end: EndPlan = run_planning.location_end(self._request, request.nth)
        # The plan's entries that the end of the next run needs.
        self._marker_watch: WatchPlan | None = None
        self._marker_return: ReturnPlan | None = None
        self._survey = TraceResult()
        self._last: TraceResult | None = None
        self._watched: dict[str, WatchPlan] = {}
        self._returned: dict[str, ReturnPlan] = {}
        self._keys = 0
        self._notes: list[str] = []
        self._repeats = 0
        # The last position whose memory was watched.
        self._first_position: ValuePosition | None = None
        self._began = asyncio.get_running_loop().time()

    async def find_origin(self) -> Why:
        """Follow the value to the end of the chain."""
        survey = await self._run_survey()
        request = self._request
        value, place = survey.value, request.location_text()
        if value is None:
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                f"{request.expression} has no value at {place}: {survey.error}",
                hint=run_planning.operand_hint(request, survey),
            )
        operands = {name: one for name, one in survey.operands.items() if one is not None}
        frames = tuple(
            msgspec.structs.replace(one, vars={**operands, **one.vars})
            if at == survey.frame
            else one
            for at, one in enumerate(survey.frames)
        )
        position = ValuePosition(
            request.expression, value, frames, survey.frame, LinkCertainty.SEEN
        )
        self._heap.note_survey(survey, request.expression)
        ended = await self._follow_steps(position)
        await self._complete_overlap()
        await self._add_executed_sources()
        return self._build_answer(position, ended)

    async def _run_survey(self) -> TraceResult:
        request = self._request
        if request.is_last:
            counted = await self._run_plan(TracePlan(self._end))
            number = counted.hits + 1 + request.nth
            if number < 1:
                raise run_planning.location_error(self._request, counted)
            self._end = run_planning.location_end(self._request, number)
        plan = TracePlan(self._end, expression=request.expression, frame=request.frame)
        found = await self._run_plan(plan)
        self._survey = found
        if not found.reached:
            raise run_planning.location_error(self._request, found)
        return found

    async def _run_plan(self, plan: TracePlan) -> TraceResult:
        self._runs += 1
        used = asyncio.get_running_loop().time() - self._began
        seconds = max(self._seconds - used, 1.0)
        found = await run_traced(self._call, self._question, plan, seconds=seconds)
        self._notes += found.notes
        return found

    async def _follow_steps(self, position: ValuePosition) -> ReachedEnd:
        step: NextStep = position
        for _ in range(_STEPS_MAX):
            if len(self._chain.links) >= self._request.links:
                return ReachedEnd(ChainEnd.BOUND, f"{self._request.links} links are the most")
            if isinstance(step, ReachedEnd):
                return step
            if isinstance(step, ValuePosition):
                step = self._chain.explain_position(step)
            elif isinstance(step, MemoryTarget):
                step = await self._follow_memory(step.position)
            else:
                step = await self._follow_return(step)
        return ReachedEnd(ChainEnd.BOUND, "the chain leads in a circle")

    async def _complete_overlap(self) -> None:
        """Find where the blocks of an overflow were allocated, if a run is left for it."""
        watches = [one for one in (self._marker_watch,) if one is not None]
        watches += self._heap.pending_watches(_SLOTS - len(watches))
        if len(watches) > 1 and self._has_run_left():
            self._watched = {one.key: one for one in watches}
            returns = (self._marker_return,) if self._marker_return is not None else ()
            result = await self._run_plan(
                TracePlan(self._end, watches=tuple(watches), returns=returns)
            )
            self._heap.read_events(result, self._watched)
        text = self._heap.describe_overlap()
        for at, link in enumerate(self._chain.links):
            if heap_history.OVERLAP in link.details:
                details = [text if one == heap_history.OVERLAP else one for one in link.details]
                self._chain.links[at] = msgspec.structs.replace(link, details=tuple(details))

    async def _add_executed_sources(self) -> None:
        """Add the assignments to a last sum's operands, and to theirs, that ran in its call."""
        chain = self._chain
        if chain.computed is None or not self._has_run_left() or not chain.links:
            return
        position, origin = chain.computed
        lines = run_planning.source_lines(position, origin, self._new_key)
        at_end = position.event is not None and self._end.key == position.event.key
        if len(lines) < _SOURCES_LEAST or not (at_end or position.event is None):
            return
        watches = (self._marker_watch,) if self._marker_watch is not None else ()
        returns = (self._marker_return,) if self._marker_return is not None else ()
        entries = (run_planning.entry_of(position.frame),)
        plan = TracePlan(self._end, watches, returns, lines, entries, deep_frames=1)
        result = await self._run_plan(plan)
        details = run_planning.executed_lines(position, lines, result) if result.reached else ()
        last = chain.links[-1]
        chain.links[-1] = msgspec.structs.replace(last, details=(*last.details, *details))

    def _has_run_left(self) -> bool:
        """Tell whether the bound of runs allows one more."""
        return self._runs < self._request.runs_most

    def _bound_reached(
        self, position: ValuePosition, step: NextStep | None = None
    ) -> ReachedEnd | None:
        """Return the end for runs or seconds that are used up."""
        used = asyncio.get_running_loop().time() - self._began
        if self._has_run_left() and used < self._seconds:
            return None
        # Where the value is in memory already: a call's result is not, at the line of the call.
        known = (
            self._first_position
            if isinstance(step, ReturnTarget) and self._first_position
            else position
        )
        frame = known.frame
        where = f"{frame.file}:{frame.line}" if frame.file else self._request.place
        reached = f"{self._seconds:g} s are the most"
        if not self._has_run_left():
            is_usual = self._request.runs_most == RUNS_USUAL
            more = ", without --timeout S" if is_usual else ""
            reached = f"{self._runs} runs are the most{more}"
        return ReachedEnd(
            ChainEnd.BOUND,
            f"{reached}; go on with debugger why '{known.expression}' --at {where} -- CMD",
        )

    async def _follow_memory(self, position: ValuePosition) -> NextStep:
        """Find the last write of memory before a position."""
        self._first_position = position
        key = self._known_watch(position)
        if key is None:
            ended = self._bound_reached(position)
            if ended is not None:
                return ended
            key = await self._watch_memory(position)
        result = self._last
        if result is None or not self._is_same(result):
            return self._lost()
        before = self._sequence_of(position)
        event = write_choice.find_last_write(result, key, before)
        if write_choice.is_unseen(result, key, event, before) and self._has_run_left():
            read = await self._follow_reads(position, key)
            if read is not None:
                return read
        return await self._explain_event(position, result, key, event)

    async def _read_operands(self, event: TraceEvent) -> TraceEvent:
        """Run once more to a late event of many, whose operands were not read."""
        if event.deep or not self._has_run_left() or self._marker_watch is None:
            return event
        result = await self._run_plan(
            TracePlan(self._end, watches=(self._marker_watch,), blocks=self._heap.is_used)
        )
        found = [one for one in result.events_of(event.key) if one.count == event.count]
        if not found:
            return event
        self._last, self._watched = result, {self._marker_watch.key: self._marker_watch}
        self._returned = {}
        return found[-1]

    async def _explain_event(
        self, position: ValuePosition, result: TraceResult, key: str, event: TraceEvent | None
    ) -> NextStep:
        """Add the link of the last write of memory, or the end without one."""
        blocks = self._heap.read_events(result, self._watched)
        before = self._sequence_of(position)
        same = write_choice.same_value_write(position, result, event, before)
        if same is not None:
            self._repeats = 0
            return self._chain.explain_assignment(same, position)
        if event is None:
            return self._explain_unwritten(position, result, key)
        if not event.deep:
            if self._is_counter(event):
                return ReachedEnd(
                    ChainEnd.BOUND,
                    f"{position.expression} was changed {event.count:,} times before; --when or "
                    "--nth choose an earlier moment",
                )
            self._mark_event(event)
            event = await self._read_operands(event)
            result = self._last or result
            if not event.deep:
                return self._bound_reached(position) or self._lost()
        return self._explain_last(position, event, result, blocks)

    def _explain_last(
        self,
        position: ValuePosition,
        event: TraceEvent,
        result: TraceResult,
        blocks: Mapping[int, BlockEvents],
    ) -> NextStep:
        """Add the link of a last write, unless it is of another value or another call's frame."""
        if not write_choice.is_of_value(position, event):
            text = f"the memory of {position.expression} was written with another value last"
            return ReachedEnd(ChainEnd.NOT_FOLLOWED, text)
        if not write_choice.is_of_frame(position, event, result):
            return self._explain_stale(position, event)
        return self._explain_seen(position, event, blocks)

    def _explain_seen(
        self, position: ValuePosition, event: TraceEvent, blocks: Mapping[int, BlockEvents]
    ) -> NextStep:
        """Add the link of a write with its operands, or count it as a repetition."""
        if self._last is not None and write_choice.is_loop_begin(position, event, self._last):
            self._mark_event(event)
            self._repeats = 0
            return self._chain.explain_assignment(event, position)
        is_folded = self._fold_repeated(position, event)
        self._mark_event(event)
        details = self._heap.describe_write(event, position, blocks)
        count = len(self._chain.links)
        threads = 1 if event.thread == self._survey.thread else 2
        threads = max(self._survey.threads, threads)
        step = self._chain.explain_write(event, position, details, threads=threads)
        if is_folded:
            del self._chain.links[count:]
        return step

    def _is_counter(self, event: TraceEvent) -> bool:
        """Tell whether the last link computes the same memory from itself."""
        last = self._chain.links[-1] if self._chain.links else None
        return (
            last is not None
            and last.kind is LinkKind.COMPUTED
            and (event.key, event.count + 1) == (self._end.key, self._end.count)
        )

    def _fold_repeated(self, position: ValuePosition, event: TraceEvent) -> bool:
        """Tell whether a write repeats the last link's, as a counter's in a loop, and count it."""
        own = event.own
        last = self._chain.links[-1] if self._chain.links else None
        if last is None or own is None or last.kind is not LinkKind.COMPUTED:
            return False
        is_same = last.frame is not None and (last.frame.file, last.frame.line) == (
            own.file,
            own.line,
        )
        watch = self._watched.get(event.key)
        if not is_same or watch is None or position.value.address != watch.address:
            return False
        self._repeats += 1
        details = [one for one in last.details if not one.startswith(_REPEATED)]
        details.append(f"{_REPEATED} {self._repeats:,} times before")
        self._chain.links[-1] = msgspec.structs.replace(last, details=tuple(details))
        return True

    def _known_watch(self, position: ValuePosition) -> str | None:
        """Return the key of a watchpoint of the last run that has seen this memory already."""
        if self._last is None or position.event is None:
            return None
        if position.event not in self._last.events:
            return None
        for key, one in self._watched.items():
            if one.address == position.value.address:
                return key
        return None

    def _sequence_of(self, position: ValuePosition) -> int | None:
        """Return the moment of a position in the last run; None is its end."""
        result, event = self._last, position.event
        if result is None or event is None:
            return None
        return next(
            (
                one.sequence
                for one in result.events
                if (one.key, one.count) == (event.key, event.count)
            ),
            None,
        )

    async def _watch_memory(self, position: ValuePosition) -> str:
        value = position.value
        key = self._new_key("w")
        watches = [native_values.watch_plan(key, value.address, value.size)]
        if self._marker_watch is not None:
            watches.insert(0, self._marker_watch)
        watches += self._heap.watches_for(value.address, _SLOTS - len(watches))
        for address, size in run_planning.equal_memory(position, {one.address for one in watches}):
            if len(watches) < _SLOTS:
                watches.append(native_values.watch_plan(self._new_key("w"), address, size))
        returns = run_planning.predict_returns(position, self._new_key)
        if self._marker_return is not None:
            returns.insert(0, self._marker_return)
        is_local = native_values.is_local(position.expression, value, position.frame)
        owner = write_choice.owner_of(position)
        self._watched = {one.key: one for one in watches}
        self._returned = {one.key: one for one in returns}
        self._last = await self._run_plan(
            TracePlan(
                self._end,
                watches=tuple(watches),
                returns=tuple(returns),
                lines=run_planning.assigning_lines(position, self._new_key) if is_local else (),
                entries=(run_planning.entry_of(owner),) if owner is not None else (),
                blocks=self._heap.is_used,
                expression=self._request.expression if not self._end.key else "",
                frame=self._request.frame,
            )
        )
        return key

    def _new_key(self, letter: str) -> str:
        self._keys += 1
        return f"{letter}{self._keys}"

    def _is_same(self, result: TraceResult) -> bool:
        """Tell whether a run came to the same end, with the value at the same address."""
        if not result.reached:
            return False
        if self._end.key or result.value is None or self._survey.value is None:
            return True
        return result.value.address == self._survey.value.address

    def _lost(self) -> ReachedEnd:
        if self._last is not None and self._last.late:
            return ReachedEnd(
                ChainEnd.BOUND,
                f"the run with watchpoints was not over in {self._seconds:g} s: --timeout 300",
            )
        return ReachedEnd(
            ChainEnd.LOST,
            "another run did not come to the same place with the same addresses (threads, time or "
            "random numbers differ): debugger who-wrote watches one run",
        )

    def _mark_event(self, event: TraceEvent) -> None:
        """End the next runs at this event."""
        self._end = EndPlan("event", key=event.key, count=event.count)
        self._marker_watch = self._watched.get(event.key)
        self._marker_return = self._returned.get(event.key)

    async def _follow_reads(self, position: ValuePosition, key: str) -> ReachedEnd | None:
        """Run again, with the system calls that read into the memory."""
        watch = self._watched[key]
        plan = TracePlan(
            self._end,
            watches=tuple(dict.fromkeys(one for one in (self._marker_watch, watch) if one)),
            returns=(self._marker_return,) if self._marker_return is not None else (),
            reads=True,
        )
        result = await self._run_plan(plan)
        events = result.events_of(f"read:{key}")
        if not events:
            return None
        event = events[-1]
        own = event.own
        source = native_values.describe_source(event) or f"descriptor {event.descriptor}"
        self._chain.links.append(
            WhyLink(
                LinkKind.INPUT,
                LinkCertainty.RERUN,
                f"read in by the system call {event.call}",
                frame=native_values.frame_view(own) if own is not None else None,
                statement=own.statement if own is not None else "",
                new=position.value.text,
                details=(f"from {source} ({event.bytes:,} bytes read)",),
            )
        )
        return ReachedEnd(ChainEnd.INPUT, source)

    def _explain_stale(self, position: ValuePosition, event: TraceEvent) -> NextStep:
        """Return what comes next for memory whose last write was of an earlier call's frame."""
        owner = write_choice.owner_of(position)
        if position.expression in position.frame.args or owner is not position.frame:
            return self._chain.explain_passed(position)
        own = event.own or event.frames[0]
        self._chain.links.append(
            WhyLink(
                LinkKind.OTHER,
                LinkCertainty.RERUN,
                f"{position.expression} was not written in this call of {position.frame.function}; "
                "its memory was written",
                frame=native_values.frame_view(own),
                statement=own.statement,
                old=native_values.format_bytes(event.old, position.value.kind),
                new=native_values.format_bytes(event.new, position.value.kind),
            )
        )
        return ReachedEnd(
            ChainEnd.UNINITIALISED,
            f"{position.expression} is read before it is written: the value is what was left on "
            "the stack",
        )

    def _explain_unwritten(
        self, position: ValuePosition, result: TraceResult, key: str
    ) -> ReachedEnd:
        """Return the end for memory that nothing was seen to write."""
        name = position.expression
        frame = position.frame
        if self._question.language == "go":
            return ReachedEnd(
                ChainEnd.NOT_FOLLOWED,
                f"nothing was seen to write {name}: Go moves its stacks and allocates elsewhere in "
                f"each run; debugger who-wrote {name} --at LOC -- CMD asks delve",
            )
        if native_values.is_local(name, position.value, frame):
            assigned = run_planning.assigning_line(position)
            if assigned:
                return ReachedEnd(
                    ChainEnd.NOT_FOLLOWED,
                    f"no change of {name} was seen, and {assigned} assigns it: its memory had the "
                    "value already, or the code is not the source's",
                )
            return ReachedEnd(
                ChainEnd.UNINITIALISED,
                f"{name} is read before it is written: nothing wrote its memory before",
            )
        link = self._heap.allocation_link(position.value.address)
        if link is not None:
            self._chain.links.append(link)
            return ReachedEnd(
                ChainEnd.UNINITIALISED,
                f"nothing was seen to write {name} since its block was allocated",
            )
        initial = result.initial.get(key, "")
        if initial and initial == result.final.get(key, initial):
            zero = not initial.strip("0")
            text = "it is zero from the start" if zero else "it has its value from the start"
            declared = heap_history.find_declaration(name, frame.file)
            return ReachedEnd(ChainEnd.CONSTANT, f"{name} was not changed: {text}{declared}")
        return ReachedEnd(ChainEnd.NOT_FOLLOWED, f"nothing was seen to write {name}")

    async def _follow_return(self, target: ReturnTarget) -> NextStep:
        """Find the `return` by which a function gave its value."""
        position = target.position
        event = self._return_event(target)
        if event is None:
            ended = self._bound_reached(position, target)
            if ended is not None:
                return ended
            await self._run_to_return(target)
            if self._last is None or not self._is_same(self._last):
                return self._lost()
            event = self._return_event(target)
        if event is None:
            unknown = "is no function of the program with source, or has no single definition"
            return self._chain.follow_call_operand(target) or ReachedEnd(
                ChainEnd.NOT_FOLLOWED, f"{target.function} {unknown}: {target.text}"
            )
        self._mark_event(event)
        return self._chain.explain_return(event, target)

    def _return_event(self, target: ReturnTarget) -> TraceEvent | None:
        result = self._last
        if result is None:
            return None
        before = self._sequence_of(target.position)
        keys = [key for key, one in self._returned.items() if one.function == target.function]
        events = [
            one
            for one in result.events
            if one.key in keys
            and (before is None or one.sequence < before)
            and one.sequence > result.entries.get(str(target.position.frame.cfa), 0)
        ]
        return max(events, key=lambda one: one.sequence, default=None)

    async def _run_to_return(self, target: ReturnTarget) -> None:
        frame = target.position.frame
        key = self._new_key("r")
        returns = [ReturnPlan(key, target.function, frame.cfa, frame.function, frame.file or "")]
        if self._marker_return is not None:
            returns.insert(0, self._marker_return)
        watches = [one for one in (self._marker_watch,) if one is not None]
        # Another local with the value may be its source.
        self._watched = {one.key: one for one in watches}
        self._returned = {one.key: one for one in returns}
        self._last = await self._run_plan(
            TracePlan(
                self._end,
                watches=tuple(watches),
                returns=tuple(returns),
                entries=(run_planning.entry_of(frame),),
            )
        )

    def _build_answer(self, position: ValuePosition, ended: ReachedEnd) -> Why:
        survey, request = self._survey, self._request
        event = survey.signal
        expression = request.expression
        links = tuple(self._chain.links)
        return Why(
            expression=expression,
            place=request.place,
            cause=f"{expression}={position.value.text} at {request.place}: "
            f"{_summarize(links, ended)}",
            value=position.value.text,
            meaning=native_values.describe_meaning(position.value),
            frame=native_values.frame_view(position.frame, position.index),
            event=f"crash, {event}" if event and request.at is None else event,
            links=links,
            ended=ended.end,
            ending=ended.reason,
            runs=self._runs,
            method=_METHOD,
            took_s=round(asyncio.get_running_loop().time() - self._began, 1),
            notes=tuple(dict.fromkeys(self._notes)),
        )


def _summarize(links: Sequence[WhyLink], ended: ReachedEnd) -> str:
    """Return the chain in one sentence: its first link and its end."""
    if not links:
        return ended.reason
    first = links[0]
    where = f" in {first.frame.function}" if first.frame is not None else ""
    return f"{first.text}{where}; {ended.end.value}: {ended.reason}"
