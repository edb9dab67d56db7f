"""Models a process of which only the counts of its functions and lines are known. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, structs

from debugger.recorders.model import (
    BranchCount,
    BranchCounts,
    CallsMerged,
    Event,
    PartCounts,
    RecordedFunction,
    RecordedProcess,
    Recording,
    RecordingNote,
    SourcePart,
)


class CoveredFunction(Struct, frozen=True):
    """A function that was entered `count` times, and its parts, as in `PartCounts`.

    A count of 0 with executed parts means that the function was entered before the counting began.
    """

    name: str
    file: str
    line: int
    count: int
    parts: tuple[SourcePart, ...] = ()
    branches: tuple[BranchCount, ...] = ()
    results: tuple[str, ...] = ()


def only_known(one: CoveredFunction) -> CoveredFunction:
    """Drop unknown counts of functions that were entered before the counting began."""
    if one.count:
        return one
    return structs.replace(one, parts=tuple(part for part in one.parts if part.times))


def add_note(recording: Recording, text: str) -> Recording:
    """Return a recording with a note on what of the run it does not hold."""
    return structs.replace(recording, events=(*recording.events, RecordingNote("partly", 0, text)))


def make_recording(covered: Iterable[CoveredFunction], process: RecordedProcess) -> Recording:
    """Build a recording from the functions of one process; duplicates are summed.

    The calls have no known caller, and the order of the given functions.
    """
    functions: dict[int, RecordedFunction] = {}
    events: list[Event] = []
    total = 0
    for number, one in enumerate(_add_duplicates(covered), 1):
        functions[number] = RecordedFunction(number, one.name, one.file, one.line)
        events.append(CallsMerged(number, 0, number, 1, number, one.count))
        events.append(PartCounts(number, one.parts))
        if one.branches or one.results:
            events.append(BranchCounts(number, one.branches, one.results))
        total += one.count
    return Recording(
        process=process,
        functions=functions,
        threads={1: ""} if functions else {},
        events=tuple(events),
        seen=total,
        chosen=total,
        is_whole=True,
    )


def _add_duplicates(covered: Iterable[CoveredFunction]) -> list[CoveredFunction]:
    groups: dict[tuple[str, str, int], list[CoveredFunction]] = {}
    for one in covered:
        groups.setdefault((one.file, one.name, one.line), []).append(one)
    return [some[0] if len(some) == 1 else _sum_functions(some) for some in groups.values()]


def _sum_functions(some: Sequence[CoveredFunction]) -> CoveredFunction:
    every = [one for each in some for one in each.parts]
    times: dict[tuple[int, int], SourcePart] = {}
    for each in some:
        for one in _fill_parts(each.parts, every):
            known = times.get((one.line, one.column))
            count = one.times + (known.times if known is not None else 0)
            times[one.line, one.column] = structs.replace(one, times=count)
    return structs.replace(
        some[0],
        count=sum(one.count for one in some),
        parts=tuple(one for _, one in sorted(times.items())),
    )


def unify_parts(runs: Sequence[Sequence[Recording]]) -> list[tuple[Recording, ...]]:
    """Give all runs the same parts of lines, for a comparison.

    A part that ran as often as its surroundings is not recorded by itself.
    """
    known: dict[tuple[str, str], dict[tuple[int, int], SourcePart]] = {}
    every = [one for run in runs for one in run]
    for recording_ in every:
        for event in recording_.events:
            if isinstance(event, PartCounts):
                parts = known.setdefault(_event_key(recording_, event), {})
                parts.update({(one.line, one.column): one for one in event.parts if one.column})
    return [tuple(_with_known_parts(one, known) for one in run) for run in runs]


def _with_known_parts(
    one: Recording, known: Mapping[tuple[str, str], Mapping[tuple[int, int], SourcePart]]
) -> Recording:
    events = tuple(
        PartCounts(event.function, _fill_parts(event.parts, known[_event_key(one, event)].values()))
        if isinstance(event, PartCounts)
        else event
        for event in one.events
    )
    return structs.replace(one, events=events)


def _event_key(one: Recording, event: PartCounts) -> tuple[str, str]:
    function = one.find_function(event.function)
    return function.file, function.name


def _fill_parts(
    parts: Sequence[SourcePart], requested: Iterable[SourcePart]
) -> tuple[SourcePart, ...]:
    """Add missing parts, which ran as often as the innermost part around them."""
    by_line: dict[int, list[SourcePart]] = {}
    for one in parts:
        by_line.setdefault(one.line, []).append(one)
    found = {(one.line, one.column): one for one in parts}
    for one in requested:
        if (one.line, one.column) in found:
            continue
        enclosing = [
            other
            for other in by_line.get(one.line, ())
            if other.column < one.column and (not other.to or one.column < other.to)
        ]
        if enclosing:
            times = max(enclosing, key=lambda other: other.column).times
            found[one.line, one.column] = structs.replace(one, times=times)
    return tuple(one for _, one in sorted(found.items()))
