"""Follows a value of Go back, by runs under delve that log the lines which give values."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers.frames import FrameView
from debugger.questions.holds.checked_lines import source_files_of
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.why import (
    go_expressions,
    go_plan,
    go_result,
    go_unwritten,
    go_values,
    go_watch,
)
from debugger.questions.why.answer import ChainEnd, LinkCertainty, Why
from debugger.questions.why.go_chain import (
    ChainEnded,
    GoPosition,
    GoStep,
    NeedsRun,
    NeedsWatch,
)
from debugger.questions.why.go_departure import GoDeparture
from debugger.questions.why.go_memory import explain_memory_write
from debugger.questions.why.go_run import (
    GoLocation,
    GoStop,
    LogOverflowError,
    LogWindow,
    count_hits,
    run_to_location,
)
from debugger.questions.why.go_source import GoSite, GoSourceFunction, GoSources, SiteKind
from debugger.questions.why.go_steps import GoSteps
from debugger.questions.why.traced_run import Departure
from debugger.questions.why.why_request import WhyRequest, repeat_with
from debugger.session import source_files
from debugger.sources.compared_sides import find_compared
from debugger.sources.project_files import TEST_PROGRAM, imported_go_files, is_package

_RUNS_MAX = 4
_RECORDS_FIRST = 300  # of the run that logs everything, at about 10 ms each
_UNREAD = "(not read)"  # the line of the `return` does not show it
_STEPS_MAX = 100
_UP_MAX = 6  # folders above a program in which its module is searched
_METHOD = "delve's logpoints at the lines that may give the value by the source"


async def trace_value(call: CommandCall, question: QuestionRun, request: WhyRequest) -> Why:
    """Run a Go program, and follow the value of an expression at a location back.

    Raises:
        DebuggerError: NOT_FOUND if the location is not reached, EVALUATION_FAILED for an
        expression without a value there.
    """
    # 1. By the source alone, the lines are found that may give the value: writes of the name, the
    #    returns of functions that are called for it, sends, and so on for what those lines read.
    # 2. A run to the location logs each time that such a line is reached: goroutine, frame,
    #    addresses and values. Go moves stacks and has other addresses in each run, so that memory
    #    is compared within one run only.
    # 3. The chain is followed through these records and the stack. Where the stack of an earlier
    #    moment is needed (a parameter of a function that has returned), a further run goes there.
    del call
    began = asyncio.get_running_loop().time()
    # A large program takes seconds to read.
    sources = await asyncio.to_thread(lambda: GoSources(_source_files(question)))
    trace = GoTrace(question, request, sources, began)
    try:
        # The build and the reading of the sources count, too.
        async with asyncio.timeout_at(trace.until) as bound:
            await trace.follow(bound)
    except TimeoutError:
        await trace.end_late(began)
    return trace.build_answer(asyncio.get_running_loop().time() - began)


class GoTrace:
    """The chain so far, and the runs that it took."""

    def __init__(
        self, question: QuestionRun, request: WhyRequest, sources: GoSources, began: float
    ) -> None:
        self._question, self._request = question, request
        self._began = began - request.spent_s
        # When no further link is looked for.
        self.until = self._began + request.seconds_for(question.patience.seconds, 0)
        self.is_late = False
        self._sources = sources
        self._expression = _without_package(request.expression, self._sources)
        self._steps = GoSteps(self._sources, self._expression)
        # The part of the value that is followed, if a check compared it with another one.
        self._departs: Departure | None = None
        self.runs = request.runs
        # The call whose result is asked about, if it is one.
        self._result: go_result.CallResult | None = None
        self._is_watched = False
        # Where the lines before were not logged.
        self._window: LogWindow | None = None
        self.notes: list[str] = []
        self.ended = ChainEnded(ChainEnd.NOT_FOLLOWED, "")
        self.frame: FrameView | None = None

    async def follow(self, bound: asyncio.Timeout) -> None:
        """Follow the value to the end of the chain; the first run sets the time for all."""
        location = await self._first_location()
        function, expression = await self._begin_of(location)
        step: GoStep | None = None
        plan: go_watch.MemoryWatch | None = None
        while True:
            sites = (
                self._result.plan_sites(self._sources)
                if self._result is not None and step is None
                else go_plan.plan_sites(self._sources, function, expression)
            )
            self.runs += 1
            began = asyncio.get_running_loop().time()
            opened = (
                self._run_logged(function, location, sites)
                if plan is None
                else go_watch.run_to_write(self._question, plan, sites)
            )
            async with opened as stop:
                is_first = step is None and self._departs is None
                if is_first and await self._departs_elsewhere(stop, location, sites):
                    expression = self._expression
                    continue
                self._steps.is_first_run = step is None
                if stop.log.missed:
                    self.notes.append(f"{stop.log.missed:,} earlier records were not kept")
                position = await self._first_position(stop, location, step)
                if step is None:
                    self._set_bound(bound, asyncio.get_running_loop().time() - began)
                step = await self._follow_steps(stop, position)
            plan = None
            if self._window is not None and not isinstance(step, ChainEnded):
                # What the further run would go to is counted from the window on.
                step = (
                    step.otherwise if isinstance(step, NeedsWatch) else self._bound(step.position)
                )
            if isinstance(step, NeedsWatch):
                plan, step = await self._find_write(step, location)
            if not isinstance(step, NeedsRun):
                self.ended = self._in_window(step)
                return
            if self.runs >= _RUNS_MAX:
                self.ended = self._bound(step.position)
                return
            if plan is None:
                site = step.record.site
                location = GoLocation(
                    go_plan.line_breakpoint(site), step.record.hit, site.place, frame=0
                )
            else:
                location = msgspec.structs.replace(location, frame=None)
            function, expression = step.position.activation.function, step.position.expression

    @asynccontextmanager
    async def _run_logged(
        self, function: GoSourceFunction | None, location: GoLocation, sites: Sequence[GoSite]
    ) -> AsyncIterator[GoStop]:
        """Run to a location; where that logs too much, only from the last pass of its loop on."""
        line = location.spec.line if location.spec is not None else None
        line = line if line is not None else self._failed_line()
        begin = go_plan.find_pass(self._sources, function, line) if location.hit == 1 else None
        is_limited = begin is not None and self._window is None and self._request.usual_s > 0
        most = _RECORDS_FIRST if is_limited else 0
        async with AsyncExitStack() as stack:
            try:
                opened = run_to_location(
                    self._question, location, sites, window=self._window, records_most=most
                )
                stop = await stack.enter_async_context(opened)
            except LogOverflowError:
                assert begin is not None
                self._window = await self._find_window(location, begin)
                self.runs += 1
                opened = run_to_location(self._question, location, sites, window=self._window)
                stop = await stack.enter_async_context(opened)
            yield stop

    def _failed_line(self) -> int | None:
        return self._request.failed_at[1] if self._request.failed_at is not None else None

    async def _find_window(
        self, location: GoLocation, begin: go_plan.PassBegin
    ) -> LogWindow | None:
        """Count the passes of a line up to the location; None if there is one alone."""
        site = GoSite(SiteKind.CALL, begin.function.file, begin.line, begin.function, "")
        self.runs += 1
        async with run_to_location(self._question, location, [site]) as stop:
            own = (self._sources.function_at(one.file, one.line) for one in stop.frames)
            stack = tuple(dict.fromkeys(one for one in own if one is not None))
            hits = stop.log.count
        # From the pass before on: the line itself is not logged where the window begins.
        return LogWindow(begin, hits - 1, stack) if hits > 1 else None

    def _in_window(self, ended: ChainEnded) -> ChainEnded:
        """Return the end of a chain; where a write may be before the window, it is not known."""
        if self._window is None or not ended.is_unseen:
            return ended
        return ChainEnded(
            ChainEnd.NOT_FOLLOWED,
            f"{ended.reason}; of other functions only what ran since the last pass of "
            f"{self._window.begin.place} was logged: --timeout 300 logs all",
        )

    async def _find_write(
        self, step: NeedsWatch, location: GoLocation
    ) -> tuple[go_watch.MemoryWatch | None, ChainEnded | NeedsRun]:
        """Watch the memory of a value in a further run, and go on at its last write."""
        if self.runs >= _RUNS_MAX:
            return None, step.otherwise
        self.runs += 1
        plan = go_watch.MemoryWatch(step.starts, location)
        write = await go_watch.find_memory_write(self._question, plan, step.value)
        if write is None:
            return None, step.otherwise
        self._is_watched = True
        link, position = explain_memory_write(self._sources, write, step)
        self._steps.links[step.kept :] = [link]
        if not isinstance(position, GoPosition):
            return None, position
        record = step.starts[0].record  # the write has none
        return msgspec.structs.replace(plan, write=write.number), NeedsRun(record, position)

    async def end_late(self, began: float) -> None:
        """End the chain at its time limit; of a location not reached yet, the value alone is read.

        Raises:
            DebuggerError: TIMEOUT if it is not reached without logpoints, either.
        """
        self.is_late = True
        seconds = self.until - began
        more = "--timeout 300 gives more"
        text = f"{seconds:.0f} s are the most for all runs: {more}"
        if self.frame is None:
            text = (
                f"within {seconds:.0f} s, with the build, the location was not reached with the "
                f"lines logged that may give it: --nth or --when choose an earlier moment, {more}"
            )
            try:
                async with asyncio.timeout_at(began + self._question.patience.seconds):
                    await self._read_value()
            except TimeoutError:
                raise DebuggerError(
                    ErrorCode.TIMEOUT,
                    f"{self._request.location_text()} was not reached in time",
                    hint="debugger why --timeout 300 …",
                ) from None
        self.ended = ChainEnded(ChainEnd.BOUND, text)

    async def _read_value(self) -> None:
        location = await self._first_location()
        self.runs += 1
        async with run_to_location(self._question, location, ()) as stop:
            await self._first_position(stop, location, None)

    def _set_bound(self, bound: asyncio.Timeout, run_s: float) -> None:
        patience = self._question.patience.seconds
        self.until = self._began + self._request.seconds_for(patience, run_s)
        bound.reschedule(self.until)

    async def _first_location(self) -> GoLocation:
        request = self._request
        text = request.location_text()
        if request.at is None:
            return GoLocation(None, 1, text, None)
        hit = request.nth
        if request.is_last:
            self.runs += 1
            total = await count_hits(self._question, request.at)
            hit = total + 1 + request.nth
            if hit < 1:
                raise DebuggerError(
                    ErrorCode.NOT_FOUND,
                    f"{request.place} was hit {total:,} times, so there is no hit {request.nth}",
                    hint="debugger path -- CMD shows what ran",
                )
        return GoLocation(request.at, hit, text, request.frame)

    async def _departs_elsewhere(
        self, stop: GoStop, location: GoLocation, sites: Sequence[GoSite]
    ) -> bool:
        """Follow the part instead by which the value departs from that of a failed check.

        Returns:
            Whether it takes another run, because other lines than those of the sites may give it.
        """
        number = self._frame_number(stop, location)
        frame = stop.frames[number]
        lines = source_files.read_source(frame.file) if frame.file else None
        sides = find_compared(frame.file or "", lines, frame.line or 0) if lines else ()
        others = [one.other_of(self._expression) for one in sides]
        known = [one for one in others if one is not None]
        found = await GoDeparture(stop, number).find(self._expression, known) if known else None
        if found is None:
            return False
        self._departs, self._expression = found, self._expression + found.path
        self._steps = GoSteps(self._sources, self._expression)
        function = self._sources.function_at(frame.file, frame.line)
        return not set(go_plan.plan_sites(self._sources, function, self._expression)) <= {*sites}

    async def _begin_of(self, location: GoLocation) -> tuple[GoSourceFunction | None, str]:
        """Return the function of the location; at a panic another run finds it."""
        expression = self._expression
        spec = location.spec
        if self._request.failed_at is not None:
            file, line = self._request.failed_at
            return self._note_result(self._sources.function_at(file, line), line), expression
        if spec is not None and location.frame == 0:
            if spec.line is not None:
                return self._sources.function_at(spec.file, spec.line), expression
            named = self._sources.functions_named(spec.function or "")
            return (named[0] if named else None), expression
        self.runs += 1
        async with run_to_location(self._question, location, ()) as stop:
            frame = stop.frames[self._frame_number(stop, location)]
            function = self._sources.function_at(frame.file, frame.line)
            return self._note_result(function, frame.line), expression

    def _note_result(
        self, function: GoSourceFunction | None, line: int | None
    ) -> GoSourceFunction | None:
        """Keep the call of the failed line, if it is its result that is asked about."""
        self._result = go_result.find_result(self._sources, function, line, self._expression)
        return function

    @staticmethod
    def _frame_number(stop: GoStop, location: GoLocation) -> int:
        if location.frame is None:
            return stop.own_frame()
        return min(location.frame, len(stop.frames) - 1)

    def _bound(self, position: GoPosition) -> ChainEnded:
        place = f"{Path(position.activation.function.file).name}:{position.line}"
        return ChainEnded(
            ChainEnd.BOUND,
            f"{_RUNS_MAX} runs are the most; go on with {repeat_with(position.expression, place)}",
        )

    async def _first_position(self, stop: GoStop, location: GoLocation, step: object) -> GoPosition:
        """Return the position of a run's stop."""
        number = self._frame_number(stop, location)
        frame = stop.frames[number]
        expression = self._expression
        certainty = LinkCertainty.SEEN
        if isinstance(step, NeedsRun):
            expression, certainty = step.position.expression, LinkCertainty.RERUN
        activation = await self._steps.activation_of(stop, number)
        if isinstance(step, NeedsRun):
            value = await stop.evaluate(expression, number)
            before = step.position.value
            is_known = go_values.plain_value(before) is not None
            if is_known and value not in {None, before}:
                self.notes.append(f"in the further run {expression} is {value}, and was {before}")
        else:
            self._steps.is_optimised = await stop.is_optimised(number)
            if self._result is not None:
                activation = self._result.find_call(stop.log.records, activation)
            value = (
                self._result.read_value(stop.log.records, activation) or _UNREAD
                if self._result is not None
                else await self._value_there(stop, expression, number)
            )
            self._steps.value = value
            if self._steps.is_optimised:
                self.notes.append(go_unwritten.describe_optimisation(frame.function))
            self.frame = FrameView(frame.index, frame.function, frame.file, frame.line)
        bare = GoPosition(expression, activation, stop.log.count, frame.line or 0, value, certainty)
        return await self._with_addresses(stop, bare)

    async def _value_there(self, stop: GoStop, expression: str, number: int) -> str:
        try:
            return await stop.evaluate_strictly(expression, number)
        except DebuggerError as error:
            if error.code is not ErrorCode.EVALUATION_FAILED:
                raise
            place = self._request.place
            frame = stop.frames[number]
            function = self._sources.function_at(frame.file, frame.line)
            missing = function and go_unwritten.explain_missing(
                self._sources,
                function,
                expression,
                frame.line or 0,
                is_optimised=self._steps.is_optimised,
            )
            if missing:
                raise DebuggerError(
                    error.code,
                    f"{expression} has no value at {place}: {missing.reason}",
                    hint=missing.hint,
                ) from None
            shorter = go_expressions.split_path(expression)[1:2]
            again = repeat_with(shorter[0] if shorter else "NAME", place)
            raise DebuggerError(
                error.code, f"{expression} has no value at {place}: {error.message}", hint=again
            ) from None

    @staticmethod
    async def _with_addresses(stop: GoStop, position: GoPosition) -> GoPosition:
        """Add the addresses of an expression's parts, as far as its frame is on the stack."""
        index = position.activation.index
        record = position.activation.record
        if index is None or record is not None:
            known = record.addresses if record is not None else {}
            pointers = record.pointers if record is not None else {}
            return msgspec.structs.replace(position, addresses=known, pointers=pointers)
        addresses, pointers = {}, {}
        for prefix in go_expressions.split_path(position.expression.lstrip("&")):
            addresses[prefix] = await stop.address_of(prefix, index)
            if not addresses[prefix] or prefix != position.expression:
                pointers[prefix] = await stop.number_of(go_plan.pointer_text(prefix), index)
        return msgspec.structs.replace(position, addresses=addresses, pointers=pointers)

    async def _follow_steps(
        self, stop: GoStop, position: GoPosition
    ) -> ChainEnded | NeedsRun | NeedsWatch:
        for _ in range(_STEPS_MAX):
            if len(self._steps.links) >= self._request.links:
                return ChainEnded(ChainEnd.BOUND, f"{self._request.links} links are the most")
            step = await self._steps.explain(stop, position)
            if not isinstance(step, GoPosition):
                return step
            position = await self._with_addresses(stop, step)
        return ChainEnded(ChainEnd.BOUND, "the chain leads in a circle")

    def build_answer(self, took_s: float) -> Why:
        """Return the chain as the answer."""
        request = self._request
        expression, shown, other = request.expression, self._steps.value, None
        if self._departs is not None:
            expression += self._departs.shown
            shown, other = self._departs.value, self._departs.other
        value = f"{expression}={shown}"
        text = self.ended.reason
        if self._steps.links:
            first = self._steps.links[0]
            where = f" in {first.frame.function}" if first.frame is not None else ""
            text = f"{first.text}{where}; {self.ended.end.value}: {text}"
        return Why(
            expression=expression,
            place=request.place,
            cause=f"{value} at {request.place}: {text}",
            value=shown,
            other=other,
            frame=self.frame,
            event="panic" if request.at is None else None,
            links=tuple(self._steps.links),
            ended=self.ended.end,
            ending=self.ended.reason or None,
            runs=self.runs,
            method=_METHOD + ", and a hardware watchpoint" * self._is_watched,
            timed_out=self.is_late,
            took_s=round(took_s, 1),
            notes=tuple(dict.fromkeys(self.notes)),
        )


def _source_files(question: QuestionRun) -> list[str]:
    """Return the sources of a Go program: those of its module, or those that it was built of."""
    program, cwd = str(question.target.program), str(question.target.cwd)
    path = Path(program)
    # The tests of a package run in its folder.
    if path.suffix == TEST_PROGRAM and is_package(cwd):
        path = Path(cwd)
    if not path.is_dir() and path.suffix != ".go":
        return source_files_of(program, cwd, "go")
    folder = path if path.is_dir() else path.parent
    above = [folder, *list(folder.parents)[:_UP_MAX]]
    module = next((one for one in above if (one / "go.mod").is_file()), folder)
    return [str(one) for one in imported_go_files(folder, module)]


def _without_package(expression: str, sources: GoSources) -> str:
    """Return `last` of `main.last`, which is a variable of the package."""
    found = re.match(r"main\.(?=([A-Za-z_]\w*))", expression)
    is_global = found is not None and bool(sources.globals_named(found[1]))
    return expression[found.end() :] if found is not None and is_global else expression
