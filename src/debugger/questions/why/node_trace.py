"""Follows a value of JavaScript back, by breakpoints that record at the lines that may write it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers.frames import FrameView
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.program import EvaluationPurpose
from debugger.questions.runner import question_run
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.who_wrote.javascript_writes import (
    RecordedWrites,
    record_writes,
    split_expression,
    statement_text,
)
from debugger.questions.who_wrote.value_writers import ValueWrite, WriteRequest
from debugger.questions.who_wrote.watched_writes import reach_location
from debugger.questions.why import node_arguments
from debugger.questions.why.answer import (
    ChainEnd,
    LinkCertainty,
    LinkKind,
    ValueOperand,
    Why,
    WhyLink,
    chain_cause,
)
from debugger.questions.why.statement_origin import (
    OriginKind,
    StatementOrigin,
    computed_origin,
    origin_of_assignment,
)
from debugger.questions.why.why_request import WhyRequest, repeat_with, require_innermost
from debugger.session import inspection

_RUNS_MAX = 4
_STACK = 3
_OPERANDS = 6
_GUILTY = frozenset({"NaN", "undefined", "null", "Infinity", "''", '""'})
_METHOD = "breakpoints that record at the lines that may write it by the source"
_UNSEEN = "no line of the program was seen to write {}: a library did, a computed name, or a call"


class _NodeTrace:
    """The chain so far, and the runs that it took."""

    def __init__(self, question: QuestionRun, request: WhyRequest) -> None:
        self._question = question
        self._request = request
        self.runs = request.runs
        self.links: list[WhyLink] = []
        self.notes: list[str] = []
        self.ended = ChainEnd.NOT_FOLLOWED
        self.ending: str | None = None
        self.value: str | None = None
        self.frame: FrameView | None = None

    async def follow(self) -> None:
        """Follow the value by one or two runs for each link."""
        request = self._request
        at = request.at if request.at is not None else BreakpointSpec(catch="uncaught")
        current: WriteRequest | None = WriteRequest(
            expression=request.expression,
            at=at,
            place=request.place,
            hit=request.nth,
            when=request.when,
        )
        while current is not None and len(self.links) < request.links:
            if self.runs >= _RUNS_MAX:
                self.ended = ChainEnd.BOUND
                self.ending = f"after {self.runs} runs: debugger why {self._again(current)}"
                return
            current = await self._follow_once(current)

    def _again(self, request: WriteRequest) -> str:
        return f"'{request.expression}' --at {request.place} --nth {request.hit} -- CMD"

    async def _follow_once(self, request: WriteRequest) -> WriteRequest | None:
        """Add the last write of a value; return the value that it read."""
        if self._may_be_passed(request):
            passed = await self._follow_passed(request)
            if passed is not request:
                return passed
            if self.runs >= _RUNS_MAX:
                return self._end(_UNSEEN.format(request.expression), ChainEnd.BOUND)
        self.runs += 1
        try:
            recorded = await record_writes(self._question, request)
        except DebuggerError as error:
            # A value that no line writes by its name ends the chain; the first one is an error.
            if error.code is not ErrorCode.NOT_FOUND or not self.links:
                raise
            return self._end(_UNSEEN.format(request.expression))
        if self.value is None:
            self.value = recorded.value
        self.notes += recorded.notes
        if not recorded.writes:
            return self._end(_UNSEEN.format(request.expression))
        write, hit = recorded.writes[-1], recorded.hits[-1]
        statement = statement_text(write)
        origin = origin_of_assignment(statement, self._target(recorded, request))
        self.links.append(self._view(write, statement, request, recorded))
        return await self._next(write, hit, origin)

    @staticmethod
    def _may_be_passed(requested: WriteRequest) -> bool:
        """Return whether an expression may be a parameter, as far as the source tells."""
        if not requested.expression.isidentifier() or requested.frame:
            return False
        at = requested.at
        return at.line is None or node_arguments.is_parameter(
            requested.expression, at.file, at.line
        )

    async def _follow_passed(self, requested: WriteRequest) -> WriteRequest | None:
        """Follow a parameter to the callers' arguments; `wanted` itself if it is none."""
        self.runs += 1
        certainty = LinkCertainty.RERUN if self.links else LinkCertainty.SEEN
        passed = await node_arguments.follow_arguments(self._question, requested, certainty)
        if self.value is None:
            self.value, self.frame = passed.value, passed.frame
        self.links += passed.links
        if passed.ended is not None:
            return self._end(passed.ended[1], passed.ended[0])
        origin = passed.argument
        if origin is None:
            return (
                replace(requested, scope=passed.scope)
                if passed.scope != requested.scope
                else requested
            )
        if origin.kind is OriginKind.CONSTANT:
            return self._end(f"{origin.text} is a literal at {passed.place}", ChainEnd.CONSTANT)
        chosen: str | None = origin.text if origin.kind is OriginKind.OPERAND else None
        if origin.kind is OriginKind.COMPUTED:
            chosen = self._choose_operand(passed.values)
        if chosen is None:
            again = repeat_with(next(iter(passed.values), "EXPR"), passed.place)
            return self._end(f"the argument is computed by {origin.text}: {again}")
        return replace(requested, expression=chosen, frame=passed.index, scope=passed.scope)

    def _target(self, recorded: RecordedWrites, request: WriteRequest) -> str:
        """Return the target as the writing line spells it."""
        site = recorded.writes[-1].location
        for one in recorded.sources:
            if one.file == site.file and one.line == site.line and one.owner:
                _, name, _ = split_expression(request.expression)
                return f"{one.owner}.{name}" if name else f"{one.owner}[{one.key}]"
        return request.expression

    def _end(self, text: str | None, end: ChainEnd = ChainEnd.NOT_FOLLOWED) -> WriteRequest | None:
        """End the chain; None is no further value."""
        self.ended, self.ending = end, text
        return None

    async def _next(
        self, write: ValueWrite, hit: int, origin: StatementOrigin
    ) -> WriteRequest | None:
        """Return the value that a write read, or end the chain."""
        if origin.kind is OriginKind.CONSTANT:
            return self._end(origin.text, ChainEnd.CONSTANT)
        if origin.kind is OriginKind.CALL and "(" in origin.receiver:
            # A chain of methods is seldom the program's own: its operands tell more.
            origin = computed_origin(origin.text)
        names = (origin.text,) if origin.kind is OriginKind.OPERAND else origin.operands
        site = write.location
        if not names or site.file is None or site.line is None or self.runs >= _RUNS_MAX:
            return self._end(self._unfollowed(origin, write))
        at = BreakpointSpec(file=site.file, line=site.line)
        place = f"{Path(site.file).name}:{site.line}"
        chosen: str | None = names[0]
        if origin.kind is not OriginKind.OPERAND:
            chosen = await self._guilty_operand(names[:_OPERANDS], at, place, hit)
        if chosen is None:
            # A name of an inner function has no value here, and a function is no operand to follow.
            known = [
                one.text
                for one in self.links[-1].operands
                if one.value is not None and not one.value.startswith(("ƒ", "class "))
            ]
            again = f": debugger why '{known[-1]}' --at {place} --nth {hit} -- CMD" if known else ""
            return self._end(f"none of its operands stands out{again}")
        return WriteRequest(expression=chosen, at=at, place=place, hit=hit)

    def _unfollowed(self, origin: StatementOrigin, write: ValueWrite) -> str:
        """Return why a right side is not followed, and the command that goes on."""
        site = write.location
        place = f"{Path(site.file or '?').name}:{site.line}"
        if origin.kind is OriginKind.CALL:
            return (
                f"{origin.function} returned it at {place}: debugger calls {origin.function} -- CMD"
            )
        name = next(iter(origin.operands), "EXPR")
        return f"its right side {origin.text} is not followed: {repeat_with(name, place)}"

    async def _guilty_operand(
        self, names: tuple[str, ...], at: BreakpointSpec, place: str, hit: int
    ) -> str | None:
        """Evaluate the operands in another run; return the one that explains the value."""
        self.runs += 1
        request = WriteRequest(expression=names[0], at=at, place=place, hit=hit)
        values: dict[str, str] = {}
        async with question_run.run_question(replace(self._question, breakpoints=(at,))) as run:
            await reach_location(run, request)
            session = run.session
            frame = await session.run_job(lambda: inspection.frame_of(session))
            for name in names:
                try:
                    found = await session.backend.evaluate(name, frame, EvaluationPurpose.PRINT)
                except DebuggerError as error:
                    if error.code is not ErrorCode.EVALUATION_FAILED:
                        raise
                    continue
                values[name] = found.value
        return self._choose_operand(values)

    def _choose_operand(self, values: dict[str, str]) -> str | None:
        """Return the operand that explains the last link's value, and note them all there."""
        last = self.links[-1]
        same = [name for name, value in values.items() if value == last.new]
        guilty = [name for name, value in values.items() if value in _GUILTY]
        candidates = guilty or same or (list(values) if len(values) == 1 else [])
        chosen = candidates[0] if len(candidates) == 1 else None
        operands = tuple(ValueOperand(one, text, one == chosen) for one, text in values.items())
        self.links[-1] = msgspec.structs.replace(last, operands=operands)
        return chosen

    def _view(
        self, write: ValueWrite, statement: str, request: WriteRequest, recorded: RecordedWrites
    ) -> WhyLink:
        site = write.location
        is_variable = not split_expression(request.expression)[0]
        certainty = LinkCertainty.SEEN if not self.links else LinkCertainty.RERUN
        times = len(recorded.writes)
        return WhyLink(
            kind=LinkKind.WRITTEN,
            # A variable is known by its name only.
            certainty=LinkCertainty.INFERRED if is_variable else certainty,
            text=f"{request.expression} written" + (f", write {times:,}" if times > 1 else ""),
            frame=FrameView(0, site.function, site.file, site.line),
            statement=statement,
            stack=tuple(
                FrameView(at, one.function, one.file, one.line)
                for at, one in enumerate(write.stack[1 : 1 + _STACK], 1)
            ),
            old=write.old,
            new=write.new,
        )


async def trace_value(call: CommandCall, question: QuestionRun, request: WhyRequest) -> Why:
    """Run a program, and follow the value of an expression at a location back.

    Raises:
        DebuggerError: NOT_FOUND if the location is not reached, EVALUATION_FAILED for an
        expression without a value there, NOT_SUPPORTED for what cannot be followed.
    """
    del call
    require_innermost(request)
    began = asyncio.get_running_loop().time()
    trace = _NodeTrace(question, request)
    await trace.follow()
    value = f"{request.expression}={trace.value}"
    unseen = f"{value} at {request.place}: {_UNSEEN.format(request.expression)}"
    return Why(
        expression=request.expression,
        place=request.place,
        cause=chain_cause(value, trace.links, unseen, nowhere=" at ?"),
        value=trace.value,
        frame=trace.frame,
        links=tuple(trace.links),
        ended=trace.ended,
        ending=trace.ending,
        runs=trace.runs,
        method=_METHOD,
        took_s=round(asyncio.get_running_loop().time() - began, 1),
        notes=tuple(dict.fromkeys(trace.notes)),
    )
