"""Finds the number of the one hit of a location that a filter chooses, by a run before."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

import msgspec
from msgspec import Struct

from debugger.backends import backend_names
from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.hit_filter import HitFilter, refuse_thread_name
from debugger.model.hit_selection import HitSelector
from debugger.output.location_text import format_count
from debugger.questions.locations.missing_function import suggest_what_ran
from debugger.questions.probe.answer import ProbePlace
from debugger.questions.probe.probe_arguments import (
    can_probe_inside,
    means_for,
    parse_probe_points,
    probe_under_debugger,
    take_probes,
)
from debugger.questions.probe.probe_points import HitRange, ProbePoint, range_of
from debugger.questions.probe.probe_table import ProbeCell, ProbeTable
from debugger.questions.probe.recorded_probe import collect_recorded, record_probed_run
from debugger.questions.probe.render import format_column
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import QuestionOptions
from debugger.questions.runner.question_build import build_question
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.try_change.trial import condition_operands

_ROWS = 3
_NUMBERS = 1000  # of hits that are kept


class ChosenHit(Struct, frozen=True):
    """The hit that a filter chooses: its number among those at which its condition is true."""

    number: int
    notes: tuple[str, ...] = ()


class _FoundHit(Struct, frozen=True):
    """The number of the hit that meets a filter, of how many; else what was in the way."""

    number: int | None
    passed: int
    problem: str = ""


class _NumberedHits(ProbeTable):
    """Numbers all hits of one location, and selects those that a filter keeps."""

    def __init__(self, points: Sequence[ProbePoint], hits: HitFilter) -> None:
        within = HitRange(ends_run=not hits.kept_last)
        super().__init__([one.expressions for one in points], within, rows=_ROWS)
        self._events = [one.event for one in points]
        refuse_thread_name(hits)
        self._thread = hits.thread
        self._selector: HitSelector[int] = HitSelector(hits)
        self._certain: list[int] = []
        self.passed = 0

    def take_hit(
        self,
        place: int,
        cells: Sequence[ProbeCell],
        *,
        at_s: float,  # noqa: ARG002 - of a table
        hit: int | None = None,  # noqa: ARG002 - of a table
        thread: int | None = None,
        name: str = "",  # noqa: ARG002 - of a table
    ) -> None:
        """Add a hit, or the event that begins or ends those that count."""
        selector = self._selector
        if self._events[place]:
            selector.begin() if self._events[place] == "after" else selector.end()
            return
        self.passed += 1
        if self._thread in {None, thread} and selector.add_hit(self.passed, tuple(cells)):
            self._certain.append(self.passed)

    def skip_hit(self, place: int) -> None:  # noqa: ARG002 - of a table
        """Count a hit that is not below a call of the filter's function."""
        self.passed += 1

    @property
    def numbers_hits(self) -> bool:
        """Whether the numbers of hits are the table's."""
        return True

    def is_over(self, place: int) -> bool:
        """Return whether no later hit of a location counts."""
        return self._selector.is_over and not self._events[place]

    @property
    def is_all_over(self) -> bool:
        """Whether no later hit counts."""
        return self._selector.is_over

    def finish(self) -> None:
        """Add the hits that the end of the run decides."""
        self._certain += self._selector.finish()

    @property
    def is_begun(self) -> bool:
        """Whether the event of `--after` was seen, or none is needed."""
        return self._selector.is_begun

    @property
    def chosen(self) -> int | None:
        """The number of the chosen hit."""
        return self._certain[0] if self._certain else None


async def find_chosen_hit(
    call: CommandCall,
    options: QuestionOptions,
    place: str,
    expression: str,
    hits: HitFilter,
) -> ChosenHit:
    """Run a program once, and return the number of the hit that a filter with an `nth` chooses.

    Raises:
        DebuggerError: NOT_FOUND if no hit meets the filter; what running the program raises.
    """
    question = replace(await build_question(call, options), name="probe")
    point, *events = parse_probe_points(call, question, [(place, "")], hits)
    if hits.changes:
        point = msgspec.structs.replace(point, expressions=(expression,))
    points = [point, *events]
    target = question.target
    is_free = options.adapter is None and options.backend is None
    if isinstance(target, LaunchTarget) and question.language == "python" and is_free:
        found = await _number_recorded(call, question, target, points, hits)
    else:
        found = await _number_by_debugger(call, options, question, points, hits)
    if found.number is None:
        raise _no_hit(question, point, hits, found)
    text = _filter_text(msgspec.structs.replace(hits, conditions=()))
    return ChosenHit(found.number, (f"{text} is hit {found.number:,} of {place}, by a run before",))


async def find_chosen_numbers(
    call: CommandCall, options: QuestionOptions, place: str, hits: HitFilter
) -> tuple[int, ...]:
    """Run a Python program once, and return the numbers of all hits that a filter leaves.

    With `changes` these are the calls of a function whose arguments differ from the call before.

    Raises:
        DebuggerError: NOT_FOUND if no hit meets the filter; what running the program raises.
    """
    question = replace(await build_question(call, options), name="probe")
    text = "locals()" if hits.changes else ""
    points = parse_probe_points(call, question, [(place, text)], hits)
    target = question.target
    assert isinstance(target, LaunchTarget)  # what is run, and not attached to
    table, found = await _record_numbers(call, question, target, points, hits)
    numbers = tuple(row.hit for row in table.kept_rows() if row.place == 0)
    if not numbers:
        raise _no_hit(question, points[0], hits, found)
    return numbers


async def _number_by_debugger(
    call: CommandCall,
    options: QuestionOptions,
    question: QuestionRun,
    points: Sequence[ProbePoint],
    hits: HitFilter,
) -> _FoundHit:
    """Return the number of the chosen hit, and the number of all hits."""
    tables: list[_NumberedHits] = []

    def table() -> ProbeTable:
        tables.append(_NumberedHits(points, hits))
        return tables[-1]

    by = means_for(question, hits, None)
    is_free = options.adapter is None and options.backend is None
    is_inside = by is None and is_free and can_probe_inside(call, question)
    frida = _frida_run(call, options) if is_inside else None
    answer = await probe_under_debugger(question, points, hits, table, by=by, frida=frida)
    missing = [one for one in answer.places if one.event == "after" and not tables[-1].is_begun]
    problems = [f"--after never happened: {one.why}" for one in missing if one.why]
    problems += [one for one in answer.notes if "the condition of" in one]
    return _FoundHit(tables[-1].chosen, tables[-1].passed, next(iter(problems), ""))


async def _number_recorded(
    call: CommandCall,
    question: QuestionRun,
    target: LaunchTarget,
    points: Sequence[ProbePoint],
    hits: HitFilter,
) -> _FoundHit:
    """Return the number of the chosen hit of a Python program, and the number of all hits."""
    return (await _record_numbers(call, question, target, points, hits))[1]


async def _record_numbers(
    call: CommandCall,
    question: QuestionRun,
    target: LaunchTarget,
    points: Sequence[ProbePoint],
    hits: HitFilter,
) -> tuple[ProbeTable, _FoundHit]:
    """Record the numbers of the hits of a Python program that a filter leaves."""
    table = ProbeTable(
        [one.expressions for one in points],
        HitRange(),
        rows=_NUMBERS,
        hits=HitFilter(nth=hits.nth),
        events=[one.event for one in points],
    )
    ran = await record_probed_run(
        target,
        points,
        range_of(None, None, hits),
        timeout_s=question.patience.seconds,
        scratch_root=call.scratch_root,
        interrupted=question.patience.interrupted,
        hits=hits,
        numbers_all=True,
    )
    found = collect_recorded(ran, points, table)
    table.finish()
    rows = [row for row in table.kept_rows() if row.place == 0]
    counted, number = found.seen.get(0), rows[0].hit if rows else None
    after = [found.seen.get(at) for at, one in enumerate(points) if one.event == "after"]
    missing = any(one is None or not one.hits for one in after)
    if counted is None or missing:
        problem = "--after never happened" if missing else ""
        passed = counted.passed if counted is not None else 0
        return table, _FoundHit(number, passed, problem)
    problem = counted.problem if counted.failed else ""
    return table, _FoundHit(number, counted.passed, problem)


def _filter_text(hits: HitFilter) -> str:
    """Return the filter's options, without the number that stands for none."""
    return shlex.join(
        msgspec.structs.replace(hits, nth=None if hits.nth == 1 else hits.nth).options()
    )


def _no_hit(
    question: QuestionRun, point: ProbePoint, hits: HitFilter, found: _FoundHit
) -> DebuggerError:
    problem = f": {found.problem}" if found.problem else ""
    when = f" with {hits.when}" if hits.when is not None else ""
    if not found.passed:
        return DebuggerError(
            ErrorCode.NOT_FOUND,
            f"{point.asked}{when} was never hit{problem}",
            hint=suggest_what_ran(question.traits.runtime),
        )
    times = "once" if found.passed == 1 else f"{found.passed:,} times"
    text = _filter_text(hits)
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"{point.asked} was hit {times}, and no hit meets {text}{problem}",
        hint=f"debugger probe --at {point.asked} EXPR -- CMD shows its hits",
    )


async def explain_false_condition(
    call: CommandCall,
    options: QuestionOptions,
    place: str,
    when: str | None,
    error: DebuggerError,
) -> DebuggerError:
    """Return an error about a location that was not reached, with its condition's values there.

    They come from a further run; any other error is returned as it is.
    """
    if error.code is not ErrorCode.NOT_FOUND or when is None:
        return error
    text = await condition_values(call, options, place, when)
    return DebuggerError(error.code, f"{error.message}; {text}", hint=error.hint) if text else error


async def condition_values(
    call: CommandCall, options: QuestionOptions, place: str, when: str
) -> str:
    """Return the values of a condition's operands at a location, from a run of its own.

    A condition without operands is its own: a variable. It is "" for a location that is not
    reached.
    """
    question = replace(await build_question(call, options), name="probe")
    operands = condition_operands(when, hash_comments=question.language == "python") or (when,)
    try:
        found = await _probe_location(call, options, question, place, ", ".join(operands))
    except DebuggerError:
        return ""  # what is known without it stands
    if not found.hits:
        return ""
    values = "; ".join(map(format_column, found.columns))
    return f"without the condition {format_count(found.hits, 'hit')}, with {values}"


async def explain_unreached(call: CommandCall, options: QuestionOptions, place: str) -> str:
    """Return why a location was not reached, from a run of its own; "" if that run reaches it."""
    question = replace(await build_question(call, options), name="probe")
    try:
        found = await _probe_location(call, options, question, place, "0")
    except DebuggerError as error:
        return error.message if error.code is ErrorCode.NOT_FOUND else ""
    if found.hits or not found.why:
        return ""
    near = ", ".join([*map(str, found.nearest_lines), *found.near_names])
    return f"{found.why}; nearest: {near}" if near else found.why


async def _probe_location(
    call: CommandCall, options: QuestionOptions, question: QuestionRun, place: str, values: str
) -> ProbePlace:
    answer = await take_probes(
        call,
        question,
        parse_probe_points(call, question, [(place, values)], HitFilter()),
        HitRange(),
        by=None,
        rows=_ROWS,
        is_free=options.adapter is None and options.backend is None,
        ask_free=_frida_run(call, options),
    )
    return answer.places[0]


def _frida_run(call: CommandCall, options: QuestionOptions) -> Callable[[], Awaitable[QuestionRun]]:
    """Return what builds the same program for the Frida engine."""
    traced = msgspec.structs.replace(options, backend=backend_names.FRIDA)
    return partial(build_question, call, traced)
