"""Probes by a debugger's logpoints while the program runs on; also by the Frida engine's.

What they print is taken before it gets to the session, whose timeline would drop the first of it.
"""

from __future__ import annotations

import asyncio
import functools
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, cast

import msgspec

from debugger.backends.base import (
    AttachTarget,
    Backend,
    BackendEvent,
    ChildStarted,
    ConditionError,
    LogpointPassed,
    Sink,
)
from debugger.errors import DebuggerError
from debugger.model.breakpoints import Breakpoint, BreakpointSpec
from debugger.model.program import ExitedProgram
from debugger.model.state import State
from debugger.questions.probe import function_entry, log_marks
from debugger.questions.probe.probe_end import EntryHits, ProbeEnd, to_the_end
from debugger.questions.probe.probe_points import ProbePoint
from debugger.questions.probe.probe_table import ProbeTable
from debugger.questions.runner import question_run
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.session import source_files
from debugger.session.session import Session
from debugger.session.stepping import WaitLimit

_BURST = 20_000
# Their breakpoints can be changed while the program runs. Of delve a hit is then told twice, and
# LLDB may stop for one that is there no more.
_LIVE = frozenset({"frida", "js-debug", "debugpy"})
_DROP_S = 5.0
_LAST = re.compile(r"::|\.")  # before the last part of a function's name


@dataclass
class _LoggedValues:
    """What the logpoints of one question have told so far; they are numbered from 1."""

    table: ProbeTable
    wanted: Sequence[ProbePoint]
    adapter: str
    began: float
    ends_run: bool  # at the last hit that counts
    failures: dict[int, tuple[int, str]] = field(default_factory=dict)
    told: dict[int, int] = field(default_factory=dict)  # hits, by place
    hitting: dict[int, set[int]] = field(default_factory=dict)  # processes, by place
    processes: int = 0
    over: asyncio.Event = field(default_factory=asyncio.Event)
    dropped: dict[int, Breakpoint] = field(default_factory=dict)  # as they were
    ended: float | None = None  # when the last process did

    def add_process(self) -> Callable[[BackendEvent], bool]:
        """Return what takes the events of one more process, which numbers hits of its own."""
        self.processes += 1
        return functools.partial(self.take_event, self.processes)

    def take_event(self, process: int, event: BackendEvent) -> bool:
        """Take an event of a process if it is ours."""
        if isinstance(event, ExitedProgram):
            self.ended = time.monotonic()
        if isinstance(event, ConditionError) and self._is_ours(event.number):
            count, _ = self.failures.get(event.number or 0, (0, ""))
            self.failures[event.number or 0] = (count + 1, event.message)
            return False
        if not isinstance(event, LogpointPassed) or event.number is None:
            return False
        if event.number > len(self.wanted):
            return False
        place = event.number - 1
        missed = log_marks.parse_missed(event.text)
        # Who numbers the hits, or counts those that had no room, knows of no condition.
        is_plain = self.wanted[place].when is None
        if missed:
            self.table.set_hits(place, self.told.get(place, 0) + missed if is_plain else 0)
            return True
        self.told[place] = self.told.get(place, 0) + 1
        hit = self._hit_number(process, place, event.hit) if is_plain else None
        if self.table.is_over(place):
            if not (self.ends_run and self.table.is_all_over):
                self.table.set_hits(place, hit or self.table.hit_count(place) + 1)
            return True
        count = len(self.wanted[place].expressions)
        thread, cells = log_marks.parse_cells(event.text, count, self.adapter)
        self.table.take_hit(
            place,
            cells,
            at_s=time.monotonic() - self.began,
            hit=hit,
            thread=event.thread if event.thread is not None else thread,
        )
        if self.table.is_over(place):
            self.over.set()
        return True

    def finished_points(self) -> list[int]:
        """Return the numbers of those whose later hits do not count."""
        return [place + 1 for place in range(len(self.wanted)) if self.table.is_over(place)]

    def _hit_number(self, process: int, place: int, hit: int | None) -> int | None:
        """Return the number of a hit; None where it is the next: each process counts its own."""
        hitting = self.hitting.setdefault(place, set())
        hitting.add(process)
        return hit if len(hitting) == 1 else None

    def _is_ours(self, number: int | None) -> bool:
        return number is not None and 1 <= number <= len(self.wanted)


class _TappedBackend:
    """A child's backend, whose events we see first, too; all else goes through."""

    def __init__(self, inner: Backend, told: _LoggedValues) -> None:
        self._inner = inner
        self._told = told

    def set_sink(self, sink: Sink) -> None:
        """Report to another sink from now on."""
        self._inner.set_sink(_tap_sink(sink, self._told))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _tap_sink(sink: Sink, told: _LoggedValues) -> Sink:
    take = told.add_process()

    def tell(event: BackendEvent) -> None:
        if isinstance(event, ChildStarted):
            backend = cast("Backend", _TappedBackend(event.backend, told))
            sink(msgspec.structs.replace(event, backend=backend))
        elif not take(event):
            sink(event)

    return tell


async def probe_by_logpoints(
    question: QuestionRun, wanted: Sequence[ProbePoint], table: ProbeTable
) -> ProbeEnd:
    """Run a program with logpoints to its end, or until the time is up.

    Raises:
        DebuggerError: What starting the program raises; ADAPTER_DIED.
    """
    adapter = question.adapter
    is_attached = isinstance(question.target, AttachTarget)
    ends_run = table.ends_run and not is_attached
    told = _LoggedValues(table, wanted, adapter, time.monotonic(), ends_run)
    make, enough = question.make_backend, asyncio.Event()
    entries = await asyncio.to_thread(_entry_functions, wanted)
    numbers = {place: len(wanted) + at for at, place in enumerate(entries, 1)}
    markers = [_entry_breakpoint(wanted[place], found) for place, found in entries.items()]
    tapped = replace(
        question,
        make_backend=lambda sink, tasks: make(_tap_sink(sink, told), tasks),
        breakpoints=(
            *(_logpoint_spec(one, adapter, question.language) for one in wanted),
            *markers,
        ),
        patience=WaitLimit(question.patience.seconds, enough),
    )
    async with question_run.run_question(tapped) as run:
        began = time.monotonic()
        ends_early = is_attached or ends_run
        tasks = [
            asyncio.create_task(
                _disable_finished(
                    run, told, enough if ends_early else None, is_live=adapter in _LIVE
                )
            ),
            asyncio.create_task(_pass_on(question.patience.interrupted, enough)),
        ]
        try:
            ending = await to_the_end(
                run,
                began,
                markers=frozenset(numbers.values()),
                is_limited=lambda: ends_run and table.is_all_over,
            )
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    last = ending.last
    if is_attached and table.is_all_over and last.timed_out:
        last = msgspec.structs.replace(last, timed_out=False)
    # What the debugger does after the program's end is none of its time.
    took_s = ending.took_s
    if told.ended is not None and last.state == State.TERMINATED.value:
        took_s = min(max(told.ended - began, 0.0), took_s)
    breakpoints = tuple(told.dropped.get(one.id, one) for one in ending.breakpoints)
    left = {one.id for one in breakpoints if one.bound is not None and one.bound.verified}
    return msgspec.structs.replace(
        ending,
        last=last,
        is_limited=ends_run and table.is_all_over,  # it may also have come to its end meanwhile
        took_s=took_s,
        breakpoints=breakpoints,
        failures=dict(told.failures),
        entries={
            place: EntryHits(entries[place].function, entries[place].line, number in ending.passed)
            for place, number in numbers.items()
            if number in ending.passed or number in left
        },
    )


def _entry_functions(wanted: Sequence[ProbePoint]) -> dict[int, function_entry.FunctionEntry]:
    """Find where the functions are entered that lines are in, as far as the sources tell."""
    taken = {(one.spec.file, one.spec.line) for one in wanted}
    # Where a function is entered that is asked for by name, LLDB would stop, and not log that hit.
    names = {_LAST.split(one.spec.function)[-1] for one in wanted if one.spec.function}
    found: dict[int, function_entry.FunctionEntry] = {}
    for place, one in enumerate(wanted):
        if one.spec.file is None or one.spec.line is None:
            continue
        lines = source_files.read_source(one.spec.file)
        entry = function_entry.find_entry(lines, one.spec.line) if lines is not None else None
        if entry is None or entry.function in names:
            continue
        if (one.spec.file, entry.line) not in taken:
            taken.add((one.spec.file, entry.line))
            found[place] = entry
    return found


def _entry_breakpoint(one: ProbePoint, entry: function_entry.FunctionEntry) -> BreakpointSpec:
    """Return what stops once where a function is entered, and is taken away at that stop."""
    return BreakpointSpec(file=one.spec.file, line=entry.line, temporary=True)


async def _pass_on(first: asyncio.Event, second: asyncio.Event) -> None:
    await first.wait()
    second.set()


def _logpoint_spec(one: ProbePoint, adapter: str, language: str) -> BreakpointSpec:
    text = log_marks.logpoint_text(one.expressions, adapter, language)
    return msgspec.structs.replace(one.spec, log=text, condition=one.when, burst=_BURST)


async def _disable_finished(
    run: RunningQuestion, told: _LoggedValues, enough: asyncio.Event | None, *, is_live: bool
) -> None:
    """Switch a logpoint off when no later hit of it counts: the program then runs undisturbed.

    With `enough` that is the end of the question, when it is so of all.
    """
    while True:
        await told.over.wait()
        told.over.clear()
        if enough is not None and told.table.is_all_over:
            enough.set()
        if not is_live:
            continue
        for number in told.finished_points():
            if number not in told.dropped:
                told.dropped[number] = run.session.breakpoints.get(number)
                for session in (run.session, *run.session.family.tree_sessions(run.session)):
                    await _drop_of(session, number)


async def _drop_of(session: Session, number: int) -> None:
    """Switch one off: it stays known, so that the end can tell where it was."""
    with suppress(DebuggerError, TimeoutError):
        async with asyncio.timeout(_DROP_S):
            await session.run_job(lambda: session.binding.enable(number, on=False))
