"""Follows a value of a compiled program back to its origin, by repeated runs."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.why import (
    container_items,
    native_values,
    register_locals,
    run_planning,
    statement_origin,
    traced_run,
    unset_memory,
    write_choice,
)
from debugger.questions.why.answer import ChainEnd, LinkCertainty, LinkKind, Why, WhyLink
from debugger.questions.why.completed_trace import SLOTS, CompletedTrace
from debugger.questions.why.heap_history import BlockEvents
from debugger.questions.why.native_steps import (
    MemoryTarget,
    NextStep,
    ReachedEnd,
    RegisterTarget,
    ReturnTarget,
    StoreTarget,
    ValuePosition,
)
from debugger.questions.why.statement_origin import OriginKind, StatementOrigin
from debugger.questions.why.traced_run import LinePlan, TraceEvent, TraceResult, TraceValue
from debugger.questions.why.why_request import WhyRequest
from debugger.session import source_files
from debugger.sources.function_names import last_part

_STEPS_MAX = 200
_USES_MOST = 2000  # loads and stores of memory that is zero: a stop takes about 0.3 ms
_UNREAD = "(not read)"  # a structure in registers
_REPEATED = "so it was computed"


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
    async with traced_run.serve_traces(call, question) as served:
        return await NativeTrace(call, served, request).find_origin()


class NativeTrace(CompletedTrace):
    """The runs of one question, and the memory that they have watched."""

    def __init__(self, call: CommandCall, question: QuestionRun, request: WhyRequest) -> None:
        super().__init__(call, question, request)
        self._repeats = 0
        self._is_go = question.language == "go"
        self._last_position: ValuePosition | None = None

    async def find_origin(self) -> Why:
        """Follow the value to the end of the chain."""
        survey = await self._runs.run_survey()
        # The part by which it departs from what it was compared with is followed instead of it.
        request = self._request = self._runs.request
        self._chain.own_functions = frozenset(last_part(one.name) for one in survey.functions)
        call = statement_origin.classify_expression(request.expression)
        ended = None
        if survey.value is None and request.event is not None and call.kind is OriginKind.CALL:
            position, ended = await self._follow_called(call)
        if ended is None:
            position = self._position_at(self._runs.survey)
            self._heap.note_survey(self._runs.survey, self._request.expression)
            ended = await self._follow_decisions(await self._follow_steps(position))
        await self.complete_links(ended)
        answer = self._build_answer(position, ended)
        return msgspec.structs.replace(answer, reached=self.reached)

    async def _follow_called(
        self, call: StatementOrigin
    ) -> tuple[ValuePosition, ReachedEnd | None]:
        """Follow what a function of the program has returned to the check that failed.

        Of a library's function the first argument is asked about.

        Raises:
            DebuggerError: EVALUATION_FAILED if a function of the program was not seen to return.
        """
        survey = self._runs.survey
        position = self._position_at(msgspec.structs.replace(survey, value=TraceValue("")))
        if call.function in self._chain.own_functions:
            target = ReturnTarget(position, call.function, call.text, call)
            ended = await self._follow_decisions(await self._follow_steps(target))
            if self._chain.links and self._called is None:
                self._called = TraceValue(_UNREAD)
            if self._called is not None:
                # Of `find(key).rows` it is the call.
                self._request = self._runs.request = msgspec.structs.replace(
                    self._request, expression=call.text
                )
                return position, ended
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                f"{call.text} is a call, and what {call.function} returned there was not seen",
                hint=f"debugger calls {call.function} -- CMD",
            )
        known = ((name, one) for name, one in survey.operands.items() if one is not None)
        name, value = next(known, ("", None))
        if value is not None:
            self._runs.notes.append(f"{call.text} is a library's call: its {name} is followed")
            self._request = msgspec.structs.replace(self._request, expression=name)
            self._runs.request = self._request
            self._runs.survey = msgspec.structs.replace(survey, value=value)
        return position, None

    async def _follow_decisions(self, ended: ReachedEnd) -> ReachedEnd:
        """Go on with the calls by whose results a literal was returned."""
        while ended.end is ChainEnd.CONSTANT:
            decided = await self._find_decision()
            if decided is None:
                break
            ended = await self._follow_steps(decided)
        return ended

    async def _follow_steps(self, step: NextStep) -> ReachedEnd:
        self._last_position = step if isinstance(step, ValuePosition) else self._last_position
        for _ in range(_STEPS_MAX):
            count = sum(one.kind is not LinkKind.REACHED for one in self._chain.links)
            if count >= self._request.links and not isinstance(step, ReachedEnd):
                return ReachedEnd(ChainEnd.BOUND, f"{self._request.links} links are the most")
            if isinstance(step, ReachedEnd):
                equal = self._follow_equal_write(step)
                if equal is None:
                    return step
                step = equal
            elif isinstance(step, ValuePosition):
                step = self._chain.explain_position(step)
            elif isinstance(step, MemoryTarget):
                step = await self._follow_memory(step.position)
            elif isinstance(step, RegisterTarget):
                found = await register_locals.follow_register(
                    step.position, self._runs, self._chain, self._request
                )
                step = found or self._lost()
            elif isinstance(step, StoreTarget):
                step = await self._follow_store(step)
            else:
                step = await self._follow_return(step)
            if not isinstance(step, ReachedEnd):
                self._last_position = step if isinstance(step, ValuePosition) else step.position
        return ReachedEnd(ChainEnd.BOUND, "the chain leads in a circle")

    async def _follow_memory(self, position: ValuePosition) -> NextStep:
        """Find the last write of memory before a position."""
        self._first_position = position
        settled = self._follow_settled(position) or self._follow_copy(position)
        if settled is not None:
            return settled
        key = self._known_watch(position)
        if key is None:
            ended = self._bound_reached(position)
            if ended is not None:
                return ended
            key = await self._watch_memory(position)
            settled = self._follow_settled(position)
            if settled is not None:
                return settled
        result = self._runs.last
        if result is None or not self._is_same(result):
            return self._lost()
        before = self._runs.sequence_of(position.event)
        event = write_choice.find_last_write(result, key, before)
        if write_choice.is_unseen(position, result, key, event, before) and self._runs.has_left():
            read = await self._follow_reads(position, key)
            if read is not None:
                return read
        same = write_choice.find_same_write(position, self._runs, event)
        return (
            self._explain_assignment(position, *same)
            if same is not None
            else await self._explain_event(position, result, key, event)
        )

    def _follow_settled(self, position: ValuePosition) -> NextStep | None:
        """Add the link of the line that alone can have given a local its value, if it was seen."""
        runs = self._runs
        if runs.last is None or not self._is_same(runs.last):
            return None
        found = write_choice.find_assignment(position, runs)
        if found is None:
            return None
        return self._explain_assignment(position, *found)

    def _explain_assignment(
        self, position: ValuePosition, event: TraceEvent, name: str
    ) -> NextStep:
        """Add the link of a line that gave a local its value."""
        self._repeats = 0
        is_first = self._runs.last is self._runs.survey
        certainty = LinkCertainty.SEEN if is_first else LinkCertainty.RERUN
        return self._chain.explain_line(event, position, name, certainty)

    def _follow_equal_write(self, ended: ReachedEnd) -> NextStep | None:
        """Go on at the last write of the same bytes before, where a chain cannot be followed.

        What a library's function has handed on, as a sort or `take`, is mostly still in memory.
        """
        position, runs = self._last_position, self._runs
        if position is None or not ended.is_opaque:
            return None
        write = runs.copies.write_before(position.value.bytes, self._chain.moment)
        if write is None:
            return None
        runs.mark_copy(write)
        self._chain.computed = None
        value = msgspec.structs.replace(position.value, address=write.watch.address)
        before = ValuePosition(
            position.expression, value, write.event.frames, 0, LinkCertainty.INFERRED
        )
        details = ["followed by its bytes: other memory has had them since then"]
        return self._chain.explain_write(write.event, before, details, threads=runs.survey.threads)

    def _follow_copy(self, position: ValuePosition) -> NextStep | None:
        """Add the link of the one write that gave memory the value, if a run has seen it."""
        unwritten = self._runs.copies.unwritten_run(position)
        if unwritten is not None:
            return self._explain_unwritten(position, *unwritten)
        write = self._runs.copies.write_of(position)
        if write is None or write_choice.owner_of(position) is not None:
            return None
        self._runs.mark_copy(write)
        details = self._heap.describe_write(write.event, position, {})
        self._note_described(write.event, write.watch)
        self._repeats = 0
        threads = 1 if write.event.thread == self._runs.survey.thread else 2
        threads = max(self._runs.survey.threads, threads)
        return self._chain.explain_write(write.event, position, details, threads=threads)

    async def _follow_stores(self, position: ValuePosition, key: str) -> NextStep:
        """Watch the memory again with the stores that change nothing: it may be set by one.

        Where no run is left for that, the end says what is not known.
        """
        runs = self._runs
        unknown = unset_memory.end_without_run(position)
        if self._bound_reached(position) is not None:
            return unknown
        owner = write_choice.owner_of(position)
        watch = msgspec.structs.replace(
            runs.watched[key],
            key=runs.new_key("w"),
            of_stores=True,
            uses_most=0,
            of_block=False,
        )
        result = await runs.run(
            watches=[watch],
            entries=(run_planning.entry_of(owner),) if owner is not None else (),
            reads=True,
            blocks=self._heap.reads_blocks,
            expression=self._request.expression if not runs.end.key else "",
            frame=self._request.frame,
        )
        if not self._is_same(result):
            return unknown if result.late else self._lost()
        before = runs.sequence_of(position.event)
        found = write_choice.find_last_write(result, watch.key, before)
        read = write_choice.find_last_write(result, f"read:{watch.key}", before)
        if read is not None and (found is None or found.sequence < read.sequence):
            return self._chain.explain_read(read, position)
        return await self._explain_event(position, result, watch.key, found)

    async def _read_operands(self, event: TraceEvent) -> TraceEvent:
        """Run once more to a late event of many, whose operands were not read."""
        if event.deep or not self._runs.has_left():
            return event
        result = await self._runs.run(blocks=self._heap.reads_blocks)
        found = [one for one in result.events_of(event.key) if one.count == event.count]
        return found[-1] if found else event

    async def _explain_event(
        self, position: ValuePosition, result: TraceResult, key: str, event: TraceEvent | None
    ) -> NextStep:
        """Add the link of the last write of memory, or the end without one."""
        blocks = self._heap.read_events(result, self._runs.watched)
        before = self._runs.sequence_of(position.event)
        same = write_choice.same_value_write(position, result, event, before)
        if same is not None:
            self._repeats = 0
            return self._chain.explain_assignment(same, position)
        is_complete = self._is_go or (
            self._runs.watched[key].of_stores and key not in result.unstored
        )
        if not is_complete and write_choice.may_hide_store(position, key, event, result):
            return await self._follow_stores(position, key)
        if event is None:
            return self._explain_unwritten(position, result, key)
        if not event.deep:
            if self._is_counter(event):
                return ReachedEnd(
                    ChainEnd.BOUND,
                    f"{position.expression} was changed {event.count:,} times before; --when or "
                    "--nth choose an earlier moment",
                )
            self._runs.mark_event(event)
            event = await self._read_operands(event)
            result = self._runs.last or result
            if not event.deep:
                return self._bound_reached(position) or self._lost()
        return self._explain_last(position, event, result, blocks)

    def _explain_unwritten(
        self, position: ValuePosition, result: TraceResult, key: str
    ) -> ReachedEnd:
        """Return the end for memory that nothing was seen to write, with its block's allocation."""
        if self._is_go:
            return unset_memory.end_of_go(position)
        link = self._heap.allocation_link(position.value.address)
        is_allocated = link is not None and not unset_memory.is_local(position)
        self._chain.links += [link] if link is not None and is_allocated else []
        return unset_memory.describe_unwritten(position, result, key, is_allocated=is_allocated)

    def _explain_last(
        self,
        position: ValuePosition,
        event: TraceEvent,
        result: TraceResult,
        blocks: Mapping[int, BlockEvents],
    ) -> NextStep:
        """Add the link of a last write, unless it is of another value or another call's frame."""
        if not write_choice.is_of_value(position, event):
            text = (
                f"the memory of {position.expression} was written with another value last: what "
                "gave it this one was not seen"
            )
            return ReachedEnd(ChainEnd.NOT_FOLLOWED, text)
        if not write_choice.is_of_frame(position, event, result):
            if event.key in result.partial:
                return ReachedEnd(
                    ChainEnd.BOUND,
                    f"the memory of {position.expression} is changed too often by other calls",
                    is_opaque=True,
                )
            return self._explain_stale(position, event)
        return self._explain_seen(position, event, blocks)

    def _explain_seen(
        self, position: ValuePosition, event: TraceEvent, blocks: Mapping[int, BlockEvents]
    ) -> NextStep:
        """Add the link of a write with its operands, or count it as a repetition."""
        if self._runs.last is not None and write_choice.is_loop_begin(
            position, event, self._runs.last
        ):
            self._runs.mark_event(event)
            self._repeats = 0
            return self._chain.explain_assignment(event, position)
        is_folded = self._fold_repeated(position, event)
        self._runs.mark_event(event)
        moment = self._runs.sequence_of(position.event)
        details = self._heap.describe_write(event, position, blocks, moment)
        self._note_described(event, self._runs.watched.get(event.key))
        count = len(self._chain.links)
        threads = 1 if event.thread == self._runs.survey.thread else 2
        threads = max(self._runs.survey.threads, threads)
        step = self._chain.explain_write(event, position, details, threads=threads)
        if is_folded:
            del self._chain.links[count:]
        return step

    def _is_counter(self, event: TraceEvent) -> bool:
        """Return whether the last link computes the same memory from itself."""
        last = self._chain.links[-1] if self._chain.links else None
        return (
            last is not None
            and last.kind is LinkKind.COMPUTED
            and (event.key, event.count + 1) == (self._runs.end.key, self._runs.end.count)
        )

    def _fold_repeated(self, position: ValuePosition, event: TraceEvent) -> bool:
        """Check whether a write repeats the last link's, as a counter's in a loop, and count it."""
        own = event.own
        last = self._chain.links[-1] if self._chain.links else None
        if last is None or own is None or last.kind is not LinkKind.COMPUTED:
            return False
        is_same = last.frame is not None and (last.frame.file, last.frame.line) == (
            own.file,
            own.line,
        )
        watch = self._runs.watched.get(event.key)
        if not is_same or watch is None or position.value.address != watch.address:
            return False
        self._repeats += 1
        details = [one for one in last.details if not one.startswith(_REPEATED)]
        details.append(f"{_REPEATED} {self._repeats:,} times before")
        self._chain.links[-1] = msgspec.structs.replace(last, details=tuple(details))
        return True

    def _known_watch(self, position: ValuePosition) -> str | None:
        """Return the key of a watchpoint of the last run that has seen this memory already."""
        if self._runs.last is None or position.event is None:
            return None
        if position.event not in self._runs.last.events:
            return None
        for key, one in self._runs.watched.items():
            if one.address == position.value.address:
                return key
        return None

    async def _watch_memory(self, position: ValuePosition) -> str:
        value, runs = position.value, self._runs
        if position.is_ahead and position.event is not None:
            runs.mark_event(position.event)
        runs.extend_sites(position, position.expression)
        key = runs.new_key("w")
        owner = write_choice.owner_of(position)
        watch = native_values.watch_plan(key, value.address, value.size, value.bits, value.bytes)
        if write_choice.may_be_cleared_twice(position, runs):
            watch = msgspec.structs.replace(watch, of_stores=True, uses_most=_USES_MOST)
        is_entered = owner is not None and bool(owner.entry) and not owner.module
        if owner is not None and is_entered:
            watch = msgspec.structs.replace(watch, owner=(owner.cfa, owner.entry))
        watches = [watch]
        free = SLOTS - (runs.marker_watch is not None)
        self._heap.note_position(position)
        is_heap = self._heap.is_first or self._heap.holds(value.address)
        if is_heap:
            watches += self._heap.watches_for(value.address, free - len(watches))
        known = {one.address for one in (*watches, runs.marker_watch) if one is not None}
        copies = runs.copies.watches_for(position, known)
        others = run_planning.equal_memory(position, known | {one.address for one in copies})
        keyed = (native_values.watch_plan("", *one) for one in others)
        for one in (*copies, *keyed):
            if len(watches) < free:
                watches.append(msgspec.structs.replace(one, key=runs.new_key("w")))
        if not is_heap:
            watches += self._heap.watches_for(value.address, free - len(watches))
        returns = [
            one
            for one in run_planning.predict_returns(position, runs.new_key)
            if not runs.sites.return_keys(one.function)
        ]
        is_local = native_values.is_local(position.expression, value, position.frame)
        await runs.run(
            watches=watches,
            returns=returns,
            lines=run_planning.assigning_lines(position, runs.new_key) if is_local else (),
            entries=(run_planning.entry_of(owner),) if owner is not None else (),
            blocks=self._heap.reads_blocks,
            expression=self._request.expression if not runs.end.key else "",
            frame=self._request.frame,
            copied=value.bytes,
        )
        return key

    async def _follow_reads(self, position: ValuePosition, key: str) -> ReachedEnd | None:
        """Run again, with the system calls that read into the memory."""
        result = await self._runs.run(watches=[self._runs.watched[key]], reads=True, is_last=False)
        events = result.events_of(f"read:{key}")
        if not events:
            return None
        return self._chain.explain_read(events[-1], position)

    def _explain_stale(self, position: ValuePosition, event: TraceEvent) -> NextStep:
        """Return what comes next for memory whose last write was of an earlier call's frame."""
        owner = write_choice.owner_of(position)
        if position.expression in position.frame.args or owner is not position.frame:
            return self._chain.explain_passed(position)
        unassigned = unset_memory.end_before_assignment(position)
        if unassigned is not None:
            return unassigned
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

    async def _follow_store(self, target: StoreTarget) -> NextStep:
        """Find the line that put an item into a container, by the item's value."""
        position, runs = target.position, self._runs
        lines = source_files.read_source(position.frame.file or "") or ()
        stores = container_items.find_stores(lines, target.item, position.frame.line or 0)
        function = runs.sources.function_of(position.frame)
        numbers = run_planning.statement_numbers(position.frame)
        own = runs.sources.functions_called(function, numbers) if function is not None else ()
        is_own = any(one.name == target.item.method for one in own)
        # A value of zero is everywhere.
        if not stores or is_own or not position.value.number:
            return self._chain.follow_taking(target)
        ended = self._bound_reached(position)
        if ended is not None:
            return ended
        plans = {runs.new_key("p"): one for one in stores}
        for one in stores:
            around = runs.sources.function_at(position.frame.file or "", one.line)
            runs.sites.extend(around, one.statement, one.line)
        await runs.run(
            lines=[
                LinePlan(
                    key,
                    f"{position.frame.file}:{one.line}",
                    names=one.names,
                    value=position.value.bytes,
                )
                for key, one in plans.items()
            ]
        )
        if runs.last is None or not self._is_same(runs.last):
            return self._lost()
        found = write_choice.find_store(position, plans, runs)
        if found is None:
            return self._chain.follow_taking(target)
        event, store, index = found
        if not event.deep:
            runs.mark_event(event)
            event = await self._read_operands(event)
        if not event.deep:
            return self._bound_reached(position) or self._lost()
        return self._chain.explain_store(event, target, store, index)
