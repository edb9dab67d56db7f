"""Collects the values of a program's processes by logpoints: of compiled ones, and of Node's."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from msgspec import Struct

from debugger.backends.base import LogpointPassed
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.events import Event, EventKind
from debugger.model.hit_filter import HitFilter
from debugger.questions.group.group_options import ALONE, JobPart
from debugger.questions.group.group_question import build_group_question
from debugger.questions.group.member_differences import MemberHits
from debugger.questions.probe.logpoint_probe import (
    LOGGED_BURST,
    LoggedValues,
    build_logpoint,
    find_entry,
)
from debugger.questions.probe.probe_comparison import ROWS
from debugger.questions.probe.probe_points import HitRange, ProbePoint
from debugger.questions.probe.probe_table import ProbeTable
from debugger.questions.probe.recorded_probe import ProbeEnd, to_the_end
from debugger.questions.runner import question_run
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import QuestionOptions
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.recorders.model import ProbeSeen
from debugger.session import source_files
from debugger.session.group import Group, drop_launcher
from debugger.session.session import Session
from debugger.session.stop_report import LEFT_RUNNING
from debugger.session.timeline import Filters

_LOGGED = Filters(kinds={EventKind.LOGPOINT})
_PAGE = 500  # events that are read at once
_NAMES_S = 0.2  # seconds between two looks for new members
_KEPT = 3 * ROWS  # rows of a table, of which the first third are the first hits


class LoggedMembers(Struct, frozen=True):
    """The processes of a run with the values that their logpoints wrote."""

    members: tuple[MemberHits, ...]
    end: ProbeEnd
    notes: tuple[str, ...] = ()


@dataclass
class _MemberTables:
    """The values of each session so far."""

    question: QuestionRun
    points: Sequence[ProbePoint]
    within: HitRange
    hits: HitFilter
    began: float = field(default_factory=time.monotonic)
    logged: dict[str, LoggedValues] = field(default_factory=dict)
    # The events of the timeline up to here have been read, of which some were no longer kept.
    cursor: int = 0
    dropped: int = 0

    def add_event(self, event: Event) -> None:
        """Add a hit to its session's table."""
        known = self.logged.get(event.session)
        if known is None:
            table = ProbeTable(
                [one.expressions for one in self.points],
                self.within,
                rows=_KEPT,
                hits=self.hits,
                events=[one.event for one in self.points],
            )
            question = self.question
            table.number_threads(are_passing=question.has_passing_thread_ids)
            log, language = question.traits.log, question.language
            known = LoggedValues(
                table, self.points, log, self.began, ends_run=False, language=language
            )
            self.logged[event.session] = known
        number = event.data.get("breakpoint")
        if isinstance(number, int):
            known.take_event(1, LogpointPassed(number, event.text, event.thread))

    def collect_hits(self, session: Session, label: str) -> MemberHits:
        """Return what a member's logpoints wrote, and where they are."""
        known = self.logged.get(session.name)
        values: dict[int, dict[int, tuple[str, ...]]] = {}
        seen: dict[int, ProbeSeen] = {}
        if known is None:
            return MemberHits(label, values, seen)
        known.table.finish()
        for row in known.table.kept_rows():
            values.setdefault(row.place, {})[row.hit] = row.values
        for place, point in enumerate(self.points):
            count = known.table.hit_count(place)
            if count:
                seen[place] = _describe_place(session, place, point.spec, count)
        return MemberHits(label, values, seen)


def _describe_place(session: Session, place: int, spec: BreakpointSpec, count: int) -> ProbeSeen:
    known = session.breakpoints.find(place + 1)
    bound = known.bound if known is not None else None
    file = (bound.file if bound is not None else None) or spec.file or ""
    line = (bound.line if bound is not None else None) or spec.line or 0
    lines = source_files.read_source(file) if file and not spec.function else None
    entry = find_entry(lines, line) if lines is not None else None
    function = spec.function or (entry.function if entry is not None else "")
    return ProbeSeen(place, count, count, 0, file, line, function)


async def log_members(
    call: CommandCall,
    requested: QuestionOptions,
    found: QuestionRun,
    points: Sequence[ProbePoint],
    *,
    within: HitRange,
    hits: HitFilter,
    part: JobPart = ALONE,
) -> LoggedMembers:
    """Run a program, or a launcher's job, to its end with a logpoint in each process.

    `found` is the run of the processes' program, without its launcher.

    Raises:
        DebuggerError: What starting the program raises; ADAPTER_DIED.
    """
    specs = tuple(build_logpoint(one, found.traits, found.language, LOGGED_BURST) for one in points)

    def choose(language: str, *, keep: bool) -> tuple[BreakpointSpec, ...]:
        del language, keep
        return specs

    question, name = await build_group_question(call, requested, choose, specs, part)
    groups = call.sessions.groups
    # Members may come as soon as the program runs.
    begun = replace(question, on_created=lambda one: groups.add(name, one, is_main=True))
    tables = _MemberTables(found, points, within, hits)
    async with question_run.run_question(begun) as run:
        group = groups.get(name)
        reading = asyncio.create_task(_read_events(run, group, tables))
        try:
            ending = await to_the_end(run, tables.began)
        finally:
            reading.cancel()
        _read_page(run, tables)
        members = drop_launcher(await group.members())
        collected = tuple(tables.collect_hits(one.session, one.label) for one in members)
    # What a launcher has left are its connections to other hosts, which we made.
    notes = [one for one in ending.notes if not (part.name and one.startswith(LEFT_RUNNING))]
    return LoggedMembers(collected, ending, (*notes, *_describe_lost(tables)))


async def _read_events(run: RunningQuestion, group: Group, tables: _MemberTables) -> None:
    """Read hits as they come, and name members: one that has ended cannot be asked."""
    timeline = run.session.timeline
    while True:
        _read_page(run, tables)
        await group.members()
        await timeline.wait(tables.cursor, _LOGGED.kinds or (), _NAMES_S)


def _read_page(run: RunningQuestion, tables: _MemberTables) -> None:
    while True:
        page = run.session.timeline.events(_LOGGED, since=tables.cursor, limit=_PAGE)
        tables.cursor = page.next
        tables.dropped += page.dropped
        for event in page.events:
            tables.add_event(event)
        if len(page.events) < _PAGE:
            return


def _describe_lost(tables: _MemberTables) -> list[str]:
    missed = tables.dropped + sum(one.missed for one in tables.logged.values())
    return [f"{missed:,} hits came too fast to be logged"] if missed else []
