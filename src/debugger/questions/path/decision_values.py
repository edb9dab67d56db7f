"""Takes the values of the condition that decided differently in a failing and a passing run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import Struct

from debugger.errors import DebuggerError
from debugger.model.hit_filter import EVERY_HIT, HitFilter
from debugger.questions.path.answer import (
    DivergingConditionView,
    OperandView,
    PathAnswer,
    SuspectView,
)
from debugger.questions.probe.answer import Probe, ProbeColumn, ProbeRow
from debugger.questions.probe.probe_arguments import parse_probe_points, take_probes
from debugger.questions.probe.probe_points import HitRange, counterpart_points
from debugger.questions.recordings import function_lookup
from debugger.questions.recordings.recorded_run import RecordedProgram, RecordedRun
from debugger.questions.recordings.saved_runs import StoredRun, roots_of
from debugger.questions.runner.command_call import CommandCall
from debugger.sources.deciding_condition import (
    DecidingCondition,
    find_conditions,
    find_part_conditions,
)

_TRIED = 4  # ranges of lines for which a condition is looked for
_HITS = 200  # of the passing run, whose values are summarised
_SLOW_S = 30.0  # a run that takes longer is not repeated
_SOME = 3  # distinct values
_Side = RecordedProgram | StoredRun


class DivergingCondition(Struct, frozen=True):
    """A condition that both runs evaluated, and which is true only in one of them."""

    suspect: SuspectView
    condition: DecidingCondition
    # Whether it was true where the failing run went its own way.
    is_true_failing: bool

    @property
    def location(self) -> str:
        """The location to probe."""
        return f"{self.suspect.file}:{self.condition.line}"

    @property
    def expressions(self) -> tuple[str, ...]:
        """The values to take."""
        return self.condition.operands

    def failing_condition(self, language: str) -> str:
        """Return the condition under which the failing run differs, in the program's language."""
        text = self.condition.text
        if not text or self.is_true_failing:
            return text
        return f"not ({text})" if language == "python" else f"!({text})"


def find_diverging_condition(answer: PathAnswer) -> DivergingCondition | None:
    """Find the condition before the first lines that one side alone executed."""
    only = (*answer.suspect_lines, *answer.passing_lines)
    located = answer.origins if answer.is_origin_known else ()
    origins = {(one.file, one.function) for one in located}
    for suspects, is_failing in ((answer.suspect_lines, True), (answer.passing_lines, False)):
        # Where the failure's origin is known, runs that part elsewhere only have other inputs.
        near = [one for one in suspects if not origins or (one.file, one.function) in origins]
        # Of a function the first range; one that no passing run called has no shared condition.
        first = {(one.file, one.function): one for one in reversed(near) if not one.is_new}
        for suspect in [one for one in near if one in first.values()][:_TRIED]:
            for one in _conditions_before(suspect):
                # Its head must have run in both, or the runs parted before it.
                if not _is_one_sided(only, suspect, one.line) and one.operands:
                    return DivergingCondition(suspect, one, one.is_met == is_failing)
    return None


def _conditions_before(suspect: SuspectView) -> list[DecidingCondition]:
    source = "\n".join(function_lookup.lines_of(suspect.file))
    if suspect.column:
        return find_part_conditions(suspect.file, source, suspect.line, suspect.column)
    return find_conditions(suspect.file, source, suspect.line)


def _is_one_sided(only: Sequence[SuspectView], suspect: SuspectView, line: int) -> bool:
    return any(
        one.file == suspect.file and one.line <= line <= max(one.last, one.line) and not one.column
        for one in only
    )


async def take_decision(
    call: CommandCall, sides: tuple[_Side, _Side], ran: Sequence[RecordedRun], answer: PathAnswer
) -> tuple[DivergingConditionView | None, tuple[str, ...]]:
    """Run both programs again with one probe, at the condition that decided differently.

    `sides` are a failing and a passing run. Returns the values, and a note if they were not taken.
    """
    found = find_diverging_condition(answer)
    bad, good = sides
    if found is None or isinstance(bad, StoredRun) or bad.question is None or bad.is_native:
        return None, ()
    instead = _diff_command(found, bad, good)
    if any(one.view.took_s > _SLOW_S or one.view.timed_out for one in ran):
        return None, (f"{instead} tells what decided there",)
    try:
        failing = await _probe_condition(call, bad, found)
        if failing is None:
            return None, ()
        passing = None
        if not isinstance(good, StoredRun) and good.question is not None:
            passing = await _probe_condition(call, good, found, first_side=(bad, failing))
    except DebuggerError as error:
        return None, (f"the values at {found.location} were not taken: {error.message}",)
    return _decision_view(found, failing, passing), ()


def _diff_command(found: DivergingCondition, bad: RecordedProgram, good: _Side) -> str:
    other = "CMD" if isinstance(good, StoredRun) else shlex.join(good.words)
    at = shlex.join(["--at", found.location, ", ".join(found.expressions)])
    return f"debugger diff {at} -- {shlex.join(bad.words)} --vs {other}"


async def _probe_condition(
    call: CommandCall,
    program: RecordedProgram,
    found: DivergingCondition,
    *,
    first_side: tuple[RecordedProgram, Probe] | None = None,
) -> Probe | None:
    """Probe the failing run where it differs, or the passing one `beside` it at its first hits.

    Where the condition calls something, it is not evaluated, and the hits of both are its first.
    """
    assert program.question is not None  # the caller has checked it
    question = replace(program.question, name="diff")
    script = program.launch.program
    near = str(Path(script).parent) if script else program.launch.cwd
    at = [(found.location, ", ".join(found.expressions))]
    when = found.failing_condition(program.language) if first_side is None else ""
    points = parse_probe_points(
        replace(call, cwd=near),
        question,
        at,
        HitFilter(conditions=(when,)) if when else EVERY_HIT,
        also=(call.cwd,),
    )
    if first_side is not None:
        points, notes = counterpart_points(
            points, first_side[1].places, roots_of(first_side[0]), roots_of(program)
        )
        if notes:  # the other source has no such line
            return None
    last = 1 if when else _HITS

    async def no_engine() -> None:
        raise NotImplementedError

    probe = await take_probes(
        call,
        question,
        points,
        HitRange(last=last),
        by=None,
        rows=last + 2,
        is_free=program.is_python,
        ask_free=program.traced or no_engine,  # type: ignore[arg-type]  # native programs alone use it
        each=last,
    )
    return probe if probe.places[0].hits else None


def _decision_view(
    found: DivergingCondition, failing: Probe, passing: Probe | None
) -> DivergingConditionView | None:
    operands = tuple(_operand_views(found, failing, passing))
    if not operands:
        return None
    file, line = found.suspect.file, found.condition.line
    return DivergingConditionView(
        function=found.suspect.function,
        file=file,
        line=line,
        text=function_lookup.line_text(file, line),
        is_true_failing=found.is_true_failing if found.condition.text else None,
        operands=operands,
        passing_hits=passing.places[0].hits if passing is not None else 0,
    )


def _operand_views(
    found: DivergingCondition, failing: Probe, passing: Probe | None
) -> Iterator[OperandView]:
    """Return the values of both runs, those that differ first."""
    row = _differing_row(failing, passing)
    rows = []
    for at, expression in enumerate(found.expressions):
        column = failing.places[0].columns[at]
        value = row.values[at] if row is not None and not column.failed else None
        other = passing.places[0].columns[at] if passing is not None else None
        if value is not None:
            texts, is_range = _summarise_column(other) if other is not None else ((), False)
            rows.append(OperandView(expression, value, texts, is_range))
    yield from sorted(rows, key=lambda one: one.passing == (one.failing,))


def _differing_row(failing: Probe, passing: Probe | None) -> ProbeRow | None:
    """Return the failing run's first hit with values that the passing one never has together."""
    known = {one.values for one in passing.rows} if passing is not None else set()
    different = (one for one in failing.rows if one.values not in known)
    return next(different, next(iter(failing.rows), None))


def _summarise_column(column: ProbeColumn) -> tuple[tuple[str, ...], bool]:
    """Return a column's only value, its range (then True), or its first values, if it had any."""
    if column.is_never_there or not column.taken:
        return (), False
    if column.distinct > 1 and column.minimum is not None and column.maximum is not None:
        return (column.minimum.value, column.maximum.value), True
    if column.distinct == 1 and column.first is not None:
        return (column.first,), False
    return tuple(one.value for one in column.common[:_SOME]), False
