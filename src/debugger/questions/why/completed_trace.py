"""Completes the links of a native value's chain, when it has come to its end."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from debugger.questions.runner.answer import ReachingCondition
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.why import heap_history, reaching_conditions, run_planning
from debugger.questions.why.answer import REACHED_ENDS
from debugger.questions.why.copied_memory import CopyWrite
from debugger.questions.why.heap_history import HeapHistory
from debugger.questions.why.native_steps import ReachedEnd, ValuePosition
from debugger.questions.why.reaching_conditions import ReachedStep
from debugger.questions.why.return_trace import ReturnTrace
from debugger.questions.why.traced_run import TraceEvent, WatchPlan
from debugger.questions.why.why_request import WhyRequest

SLOTS = 4  # debug registers of x86-64
_SOURCES_LEAST = 2  # with one line the statement says all


class CompletedTrace(ReturnTrace):
    """The runs of one question, and what a further run adds to the links."""

    def __init__(self, call: CommandCall, question: QuestionRun, request: WhyRequest) -> None:
        super().__init__(call, question, request)
        self._heap = HeapHistory()
        # A write whose block's frees and allocations are not known, and the number of its link.
        self._described: tuple[CopyWrite, int] | None = None
        # The conditions by which the last link's statement was reached, with their operands.
        self.reached: tuple[ReachingCondition, ...] = ()

    async def complete_links(self, ended: ReachedEnd) -> None:
        """Add the blocks of an overflow, a block's life, and what a last sum was made of."""
        await self._complete_overlap()
        await self._complete_life()
        await self._add_executed_sources()
        await self._add_operands(ended)

    async def _add_operands(self, ended: ReachedEnd) -> None:
        """Add what the conditions compared by which the chain's statements were reached."""
        links, runs = self._chain.links, self._runs
        if not links or not runs.has_left():
            return
        steps = [
            ReachedStep(event, event.frames[0], condition.line, condition.written)
            for _, event, condition in self._decisions
        ]
        ends = ended.end in REACHED_ENDS
        reached = reaching_conditions.find_reached(links[-1]) if ends else ()
        own = reaching_conditions.frame_of(self._chain.moment, links[-1], reached)
        last = [
            ReachedStep(self._chain.moment, own, one.frame.line or 0, one.text)
            for one in reached
            if own is not None and self._chain.moment is not None
        ]
        operands = await reaching_conditions.read_operands(runs, [*steps, *last])
        for (at, *_), found in zip(self._decisions, operands, strict=False):
            links[at] = msgspec.structs.replace(links[at], operands=found)
        if last:
            self.reached = reaching_conditions.with_values(reached, operands[len(steps) :])

    async def _complete_overlap(self) -> None:
        """Find where the blocks of an overflow were allocated, if a run is left for it."""
        free = SLOTS - (self._runs.marker_watch is not None)
        watches = self._heap.pending_watches(free)
        if watches and self._runs.has_left():
            result = await self._runs.run(watches=watches)
            self._heap.read_events(result, self._runs.watched)
        text = self._heap.describe_overlap()
        for at, link in enumerate(self._chain.links):
            if heap_history.OVERLAP in link.details:
                details = [text if one == heap_history.OVERLAP else one for one in link.details]
                self._chain.links[at] = msgspec.structs.replace(link, details=tuple(details))

    async def _complete_life(self) -> None:
        """Find who freed and allocated a written block before, if a run is left for it."""
        if self._described is None or not self._runs.has_left():
            return
        write, at = self._described
        self._runs.mark_copy(write)
        free = SLOTS - (self._runs.marker_watch is not None)
        result = await self._runs.run(watches=self._heap.life_watches(free))
        if not result.reached:
            return
        self._heap.read_events(result, self._runs.watched)
        link = self._chain.links[at]
        details = (*link.details, *self._heap.describe_open_life(write.event))
        self._chain.links[at] = msgspec.structs.replace(link, details=details)

    def _note_described(self, event: TraceEvent, watch: WatchPlan | None) -> None:
        """Keep the first write whose block's frees and allocations are not known yet."""
        if self._heap.is_life_open and self._described is None and watch is not None:
            self._described = CopyWrite(event, watch, {}), len(self._chain.links)

    async def _add_executed_sources(self) -> None:
        """Add the assignments to a last sum's operands, and to theirs, that ran in its call."""
        chain, runs = self._chain, self._runs
        if chain.computed is None or not chain.links:
            return
        position, origin = chain.computed
        self._add_returned(position)
        if not runs.has_left():
            return
        lines = run_planning.source_lines(position, origin, runs.new_key)
        if position.is_ahead and position.event is not None:
            runs.mark_event(position.event)
        at_end = position.event is not None and runs.end.key == position.event.key
        if len(lines) < _SOURCES_LEAST or not (at_end or position.event is None):
            return
        entries = (run_planning.entry_of(position.frame),)
        result = await runs.run(lines=lines, entries=entries, deep_frames=1, is_last=False)
        if result.reached:
            self._add_details(run_planning.executed_lines(position, lines, result))

    def _add_returned(self, position: ValuePosition) -> None:
        """Add to a last sum what the functions that it called have returned, if that was seen."""
        runs = self._runs
        if runs.last is None:
            return
        here = runs.sequence_of(position.event)
        after = (here or 0) if position.is_ahead else 0
        before = runs.sequence_of(position.until) if position.is_ahead else here
        self._add_details(run_planning.returned_lines(position, runs.last, after, before))

    def _add_details(self, details: Sequence[str]) -> None:
        last = self._chain.links[-1]
        text = (*last.details, *details)
        self._chain.links[-1] = msgspec.structs.replace(last, details=text)
