"""Compares the probed values of a program's processes, hit by hit. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.group_labels import MAIN, choose_label, make_unique
from debugger.model.group_merge import MergedValue, merge_values
from debugger.recorders.model import ProbeHit, ProbeSeen, RecordedProcess, Recording

# Processes of multiprocessing itself, which run none of the program's code.
_HELPERS = ("resource_tracker", "forkserver")


class MemberHits(Struct, frozen=True):
    """The values of one process at the probed locations."""

    label: str
    # Values by hit, counted from 1, by location.
    values: Mapping[int, Mapping[int, tuple[str, ...]]]
    # How many hits there were, and where, by location.
    seen: Mapping[int, ProbeSeen] = {}


class ExpressionDifference(Struct, frozen=True):
    """An expression, and the first hit at which members have different values."""

    expression: str
    # None: the values are the same at all hits that were compared.
    hit: int | None
    # The values at that hit, else at the last one.
    values: tuple[MergedValue, ...]
    # At how many hits the values differ.
    differing: int = 0


class ComparedLocation(Struct, frozen=True):
    """A probed location: who came to it how often, and where the values differ first."""

    asked: str
    function: str
    file: str
    line: int
    # Numbers of hits, and the members that have each.
    counts: tuple[MergedValue, ...]
    # Hits that at least two members have.
    compared: int
    expressions: tuple[ExpressionDifference, ...]


def label_recordings(
    recordings: Sequence[Recording], launcher: LaunchTarget | None = None
) -> list[tuple[str, Recording]]:
    """Name each process by its engine's variables, or by the order in which they began.

    The first is the program that started the others, or their launcher did, which is no member.
    """
    found: list[tuple[str, Recording]] = []
    taken: set[str] = set()
    has_main = launcher is None
    own: Mapping[str, str] = {}
    if launcher is not None:
        own = launcher.env
        recordings = [one for one in recordings if launcher.program not in one.process.words]
    elif recordings:
        own = recordings[0].process.variables
    # The system numbers processes in this order. When a recorder began in each depends on which
    # of them got a processor first.
    first = recordings[: int(has_main)]
    ordered = [*first, *sorted(recordings[len(first) :], key=lambda one: one.process.pid)]
    for at, one in enumerate(ordered, 0 if has_main else 1):
        if at and _is_helper(one.process):
            continue
        variables = {
            name: text for name, text in one.process.variables.items() if own.get(name) != text
        }
        number = len(found) + (not has_main)
        label = MAIN if not at else choose_label(variables, f"Process-{number}", None)
        label = make_unique(label, taken)
        taken.add(label)
        found.append((label, one))
    return found


def _is_helper(process: RecordedProcess) -> bool:
    text = " ".join(process.words)
    return not process.is_fork and any(f"multiprocessing.{one} import" in text for one in _HELPERS)


def collect_hits(label: str, recording: Recording) -> MemberHits:
    """Return the probed values of a process."""
    values: dict[int, dict[int, tuple[str, ...]]] = {}
    seen: dict[int, ProbeSeen] = {}
    for event in recording.events:
        if isinstance(event, ProbeHit):
            cells = tuple(f"<{one.text}>" if one.is_error else one.text for one in event.values)
            values.setdefault(event.probe, {})[event.hit] = cells
        elif isinstance(event, ProbeSeen):
            seen[event.probe] = event
    return MemberHits(label, values, seen)


def refuse_unreached(places: Sequence[ComparedLocation], total: int, end: str) -> DebuggerError:
    """Return the error for locations to which none of a job's processes came."""
    names = ", ".join(one.asked for one in places)
    return DebuggerError(
        ErrorCode.NOT_FOUND,
        f"none of {total} processes came to {names}; {end}",
        hint="debugger probe --group --at FUNCTION EXPR -- CMD says whether its function is called",
    )


def compare_location(
    members: Sequence[MemberHits], number: int, text: str, expressions: Sequence[str]
) -> ComparedLocation:
    """Compare the values of the members that came to a location, expression by expression.

    Those come first whose values were the same and then differ: a rank differs at each hit.
    """
    there = [one for one in members if one.values.get(number)]
    hits = [one.values[number] for one in there]
    shared = sorted({hit for one in hits for hit in one if sum(hit in each for each in hits) > 1})
    found = [
        _compare_expression(there, number, at, one, shared) for at, one in enumerate(expressions)
    ]
    # A process that was killed has not reported how many hits there were in the end.
    counts = {
        one.label: str(
            max(one.seen[number].hits if number in one.seen else 0, len(one.values[number]))
        )
        for one in there
    }
    where = next((one.seen[number] for one in there if number in one.seen), None)
    first = shared[0] if shared else 0
    return ComparedLocation(
        asked=text,
        function=where.function if where is not None else "",
        file=where.file if where is not None else "",
        line=where.line if where is not None else 0,
        counts=merge_values(counts),
        compared=len(shared),
        expressions=tuple(sorted(found, key=lambda one: (one.hit is None, one.hit == first))),
    )


def _compare_expression(
    members: Sequence[MemberHits], number: int, at: int, text: str, hits: Sequence[int]
) -> ExpressionDifference:
    first: tuple[int, tuple[MergedValue, ...]] | None = None
    last: tuple[MergedValue, ...] = ()
    differing = 0
    for hit in hits:
        known = {
            one.label: one.values[number][hit][at]
            for one in members
            if hit in one.values[number] and at < len(one.values[number][hit])
        }
        last = merge_values(known)
        if len(last) > 1:
            differing += 1
            first = first or (hit, last)
    if first is None:
        return ExpressionDifference(text, None, last)
    return ExpressionDifference(text, first[0], first[1], differing)
