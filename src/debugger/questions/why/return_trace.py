"""Follows a native value to the function that returned it, in the runs of one question."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.why import chain_positions, native_values, run_planning, write_choice
from debugger.questions.why.answer import ChainEnd, LinkCertainty, LinkKind, Why, WhyLink
from debugger.questions.why.decided_return import ReturnDecision, find_decisions
from debugger.questions.why.native_chain import NativeChain
from debugger.questions.why.native_links import summarize_chain
from debugger.questions.why.native_runs import NativeRuns
from debugger.questions.why.native_sites import returning_lines
from debugger.questions.why.native_steps import (
    NextStep,
    ReachedEnd,
    ReturnTarget,
    ValuePosition,
)
from debugger.questions.why.traced_run import ReturnPlan, TraceEvent, TraceResult, TraceValue
from debugger.questions.why.why_request import WhyRequest
from debugger.session import source_files
from debugger.sources.deciding_condition import DecidingCondition

_CALLS_ARE_OFF = "may-call-functions"  # in gdb's words for a call that it does not make
_TRUTH_BYTES = 4  # of a returned number that decide whether it is zero
_NOT_CALLED = (
    "the line has not made this call yet, and no other call is made for the question; "
    "what it is assigned to has the value at a later line"
)
_METHOD = "hardware watchpoints in repeated runs with the same addresses"


class ReturnTrace:
    """The runs of one question, and the returns that they have shown."""

    def __init__(self, call: CommandCall, question: QuestionRun, request: WhyRequest) -> None:
        self._question, self._request = question, request
        self._runs = NativeRuns(call, question, request)
        self._chain = NativeChain()
        # The last position whose memory was watched.
        self._first_position: ValuePosition | None = None
        # The last `return` that was followed, and its event.
        self._returned: tuple[ReturnTarget, TraceEvent] | None = None
        # Of links to a condition: their number, the event behind it, and the condition.
        self._decisions: list[tuple[int, TraceEvent, DecidingCondition]] = []
        # What the first call of the chain has returned, whose value nothing keeps.
        self._called: TraceValue | None = None

    def _position_at(self, survey: TraceResult) -> ValuePosition:
        """Return the position of the value that is asked about."""
        request, value = self._request, survey.value
        if value is None:
            reason = _NOT_CALLED if _CALLS_ARE_OFF in str(survey.error) else survey.error
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                f"{request.expression} has no value at {request.location_text()}: {reason}",
                hint=run_planning.operand_hint(request, survey),
            )
        operands = {name: one for name, one in survey.operands.items() if one is not None}
        frames = tuple(
            msgspec.structs.replace(one, vars={**operands, **one.vars})
            if at == survey.frame
            else one
            for at, one in enumerate(survey.frames)
        )
        text = native_values.text_end(value)
        return ValuePosition(request.expression, text, frames, survey.frame, LinkCertainty.SEEN)

    def _bound_reached(
        self, position: ValuePosition, step: NextStep | None = None
    ) -> ReachedEnd | None:
        """Return the end for runs or seconds that are used up."""
        runs = self._runs
        if runs.has_left():
            return None
        # Where the value is in memory already: a call's result is not, at the line of the call.
        known = (
            self._first_position
            if isinstance(step, ReturnTarget) and self._first_position
            else position
        )
        frame = known.frame
        where = f"{frame.file}:{frame.line}" if frame.file else self._request.place
        return ReachedEnd(
            ChainEnd.BOUND,
            f"{runs.describe_bound()}; go on with debugger why '{known.expression}' --at {where} "
            "-- CMD",
            is_opaque=True,
        )

    def _is_same(self, result: TraceResult) -> bool:
        """Return whether a run came to the same end, with the value at the same address."""
        if not result.reached:
            return False
        if self._runs.end.key or result.value is None or self._runs.survey.value is None:
            return True
        return result.value.address == self._runs.survey.value.address

    def _lost(self) -> ReachedEnd:
        if self._runs.last is not None and self._runs.last.late:
            return self._runs.describe_late()
        return ReachedEnd(
            ChainEnd.LOST,
            "another run did not come to the same place with the same addresses (threads, time or "
            "random numbers differ): debugger who-wrote watches one run",
        )

    async def _follow_return(self, target: ReturnTarget) -> NextStep:
        """Find the `return` by which a function gave its value."""
        position = target.position
        event = write_choice.find_return(target, self._runs)
        if event is None:
            ended = self._bound_reached(position, target)
            if ended is not None:
                return ended
            await self._run_to_return(target)
            if self._runs.last is None or not self._is_same(self._runs.last):
                return self._lost()
            event = write_choice.find_return(target, self._runs)
        if event is None:
            known = [one for one in self._runs.returned.values() if one.entry]
            is_known = any(one.function == target.function for one in known)
            unknown = (
                "was not seen to return to this line"
                if is_known
                else "has no code of its own with source (inlined or a library's), or no single one"
            )
            return (
                self._chain.follow_call_operand(target)
                or chain_positions.inner_call(target)
                or ReachedEnd(
                    ChainEnd.NOT_FOLLOWED,
                    f"{target.function} {unknown}: {target.text}",
                    is_opaque=True,
                )
            )
        self._runs.mark_event(event)
        self._returned = target, event
        if event.returned is not None and not position.value.bytes:
            # Of a call that a condition looks at the value is seen only now.
            self._called = self._called or event.returned
            position = msgspec.structs.replace(position, value=event.returned)
            target = msgspec.structs.replace(target, position=position)
        if write_choice.is_by_library(event, position):
            target = msgspec.structs.replace(target, certainty=LinkCertainty.INFERRED)
        return self._chain.explain_return(event, target)

    async def _find_decision(self) -> ReturnTarget | ValuePosition | None:
        """Return the call, or else the variable, that led to the chain's last `return`.

        Of a `goto` that led there the link is added in any case.
        """
        links, runs = self._chain.links, self._runs
        last = links[-1] if links else None
        if self._returned is None or last is None or last.kind is not LinkKind.RETURNED:
            return None
        target, event = self._returned
        frame = event.frames[0]
        lines = source_files.read_source(frame.file) if frame.file else None
        if lines is None or frame.file is None or not frame.line or not frame.first_line:
            return None
        found = find_decisions(frame.file, lines, frame.first_line, frame.line)
        if not found or not await self._run_to_decisions(event, found):
            return None
        jumps = {one.line for one in found if one.label}
        at = run_planning.last_executed(
            frame, runs.keys_of_lines(frame.file, sorted(jumps)), runs.last
        )
        for one in found:
            if one.line != (at if jumps else frame.line):
                continue
            decided = self._decided_by(one, target, event)
            if decided is None and not (one.label and one.call is None):
                continue
            place = msgspec.structs.replace(frame, line=one.condition.line)
            self._decisions.append((len(links), event, one.condition))
            text = lines[one.condition.line - 1].strip()
            links.append(
                WhyLink(
                    LinkKind.REACHED,
                    LinkCertainty.RERUN,
                    one.describe(),
                    frame=native_values.frame_view(place),
                    statement=text,
                )
            )
            return decided
        return None

    def _decided_by(
        self, decision: ReturnDecision, target: ReturnTarget, event: TraceEvent
    ) -> ReturnTarget | ValuePosition | None:
        """Return the call of a decision, if it was seen to return what decides so.

        Where no call decides it is the variable that does, with its value at the `return`.
        """
        if decision.call is None:
            known = event.frames[0].vars
            names = decision.guilty({name: one.text for name, one in known.items()})
            name = next((one for one in names if one in known), None)
            if name is None or decision.label:
                return None
            return ValuePosition(name, known[name], event.frames, 0, target.certainty, event)
        frame = msgspec.structs.replace(event.frames[0], line=decision.condition.line)
        frames = (frame, *event.frames[1:])
        value = TraceValue("0" if decision.is_zero else "not 0")
        position = ValuePosition(decision.call.text, value, frames, 0, target.certainty, event)
        called = ReturnTarget(position, decision.call.function, decision.call.text, decision.call)
        returned = write_choice.find_return(called, self._runs)
        if returned is None or not returned.value:
            return None
        is_zero = not returned.value[: 2 * _TRUTH_BYTES].strip("0")
        return called if is_zero is decision.is_zero else None

    async def _run_to_decisions(self, event: TraceEvent, found: Sequence[ReturnDecision]) -> bool:
        """Record what may have decided, and the jumps of all functions that it may come by."""
        runs, frame = self._runs, event.frames[0]
        jumps = sorted({one.line for one in found if one.label})
        names = {one.call.function for one in found if one.call is not None}
        # A macro returns nothing.
        names &= self._chain.own_functions
        is_known = all(runs.sites.return_keys(one) for one in names)
        if is_known and (not jumps or runs.keys_of_lines(frame.file or "", jumps)):
            return True
        if not runs.has_left():
            return False
        function = runs.sources.function_of(frame)
        for one in found:
            text = one.call.text if one.call is not None else ""
            runs.sites.extend(function, text, one.condition.line)
        functions = [one for one in (function, *runs.sites.functions()) if one is not None]
        plans = run_planning.jump_plans(dict.fromkeys(functions), runs.new_key)
        result = await runs.run(lines=plans, entries=(run_planning.entry_of(frame),))
        return self._is_same(result)

    async def _run_to_return(self, target: ReturnTarget) -> None:
        frame, runs = target.position.frame, self._runs
        runs.extend_sites(target.position, target.text)
        function = runs.sources.function_of(frame)
        numbers = run_planning.statement_numbers(frame)
        called = runs.sources.functions_called(function, numbers) if function is not None else ()
        # A function whose code is not known is looked for by its name.
        places = {
            one.entry: tuple(returning_lines(one)) for one in called if one.name == target.function
        }
        search = run_planning.search_plan(target, runs.new_key) if not places else None
        plans = (
            [search]
            if search is not None
            else [
                ReturnPlan(
                    runs.new_key("r"),
                    target.function,
                    frame.cfa,
                    frame.function,
                    frame.file or "",
                    one,
                    lines=lines,
                )
                for one, lines in (places or {0: ()}).items()
            ]
        )
        lines = runs.line_of(target.position.event) if target.position.is_ahead else ()
        await runs.run(returns=plans, lines=lines, entries=(run_planning.entry_of(frame),))

    def _build_answer(self, position: ValuePosition, ended: ReachedEnd) -> Why:
        survey, request = self._runs.survey, self._request
        event = survey.signal
        known = self._called if not position.value.type and self._called else position.value
        expression, value, other = request.expression, known.text, None
        if survey.departs is not None:
            compared = expression.removesuffix(survey.departs.path)
            expression, value = f"{compared}{survey.departs.shown}", survey.departs.value
            other = survey.departs.other
        links = tuple(self._chain.links)
        return Why(
            expression=expression,
            place=request.place,
            cause=f"{expression}={value} at {request.place}: {summarize_chain(links, ended)}",
            value=value,
            other=other,
            meaning=native_values.describe_meaning(known),
            frame=native_values.frame_view(position.frame, position.index),
            event=f"crash, {event}" if event and request.at is None else event,
            links=links,
            ended=ended.end,
            ending=ended.reason,
            runs=self._runs.count,
            method=_METHOD,
            timed_out=ended.end is ChainEnd.BOUND and not self._runs.has_time(),
            took_s=round(self._runs.used_s(), 1),
            notes=tuple(dict.fromkeys(self._runs.notes)),
        )
