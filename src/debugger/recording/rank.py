"""Which functions and lines ran where runs failed, and not where they passed? Pure.

The measure is Ochiai's: of failing and passing runs that passed a place, against all failing ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from msgspec import Struct

from debugger.recording.model import Entered, Function, Hit, Merged, Passed, Recording

_VALUES = 4
_RUNS_VALUES = 200  # entry values of one argument that are kept for one run


class Place(Struct, frozen=True):
    """A function, or a line of one; the same in every run of a program."""

    file: str
    function: str
    line: int = 0


class Spectrum(Struct, frozen=True):
    """What one run came to, and the values that its functions were entered with."""

    passed: bool
    functions: frozenset[Place]
    lines: frozenset[Place]
    entries: dict[Place, dict[str, tuple[str, ...]]]


class EntryDifference(Struct, frozen=True):
    """An argument's values that only failing runs had, and that only passing ones had."""

    name: str
    failing: tuple[str, ...]
    passing: tuple[str, ...]


class Suspect(Struct, frozen=True):
    """A place with its score, 0 to 1, and how many runs of each kind came to it."""

    place: Place
    score: float
    failing: int
    passing: int
    entries: tuple[EntryDifference, ...] = ()


class Ranking(Struct, frozen=True):
    """The most suspicious places first; places of the same score in the order of their files."""

    functions: tuple[Suspect, ...]
    lines: tuple[Suspect, ...]
    failing: int
    passing: int


def spectrum(recordings: Iterable[Recording], *, passed: bool) -> Spectrum:
    """Sum up one run, of one process or several."""
    functions: set[Place] = set()
    lines: set[Place] = set()
    entries: dict[Place, dict[str, dict[str, None]]] = {}
    for recording in recordings:
        owners: dict[int, Function] = {}
        for event in recording.events:
            if isinstance(event, Entered | Merged):
                function = owners[event.call] = recording.function(event.function)
                place = Place(function.file, function.name)
                functions.add(place)
                if isinstance(event, Entered):
                    _enter(entries.setdefault(place, {}), event)
            elif isinstance(event, Passed) and event.call in owners:
                function = owners[event.call]
                lines.add(Place(function.file, function.name, event.line))
            elif isinstance(event, Hit):
                function = recording.function(event.function)
                lines |= {Place(function.file, function.name, line) for line in event.lines}
    known = {
        place: {name: tuple(texts) for name, texts in names.items()}
        for place, names in entries.items()
    }
    return Spectrum(passed, frozenset(functions), frozenset(lines), known)


def _enter(names: dict[str, dict[str, None]], event: Entered) -> None:
    for value in event.arguments:
        texts = names.setdefault(value.name, {})
        if value.text is not None and len(texts) < _RUNS_VALUES:
            texts[value.text] = None


def rank(spectra: Sequence[Spectrum], *, most: int = 20) -> Ranking:
    """Rank the places that failing runs came to."""
    failing = [one for one in spectra if not one.passed]
    passing = [one for one in spectra if one.passed]
    functions = _suspects(
        [one.functions for one in failing], [one.functions for one in passing], most
    )
    lines = _suspects([one.lines for one in failing], [one.lines for one in passing], most)
    return Ranking(
        tuple(
            Suspect(one.place, one.score, one.failing, one.passing, _entries(one, spectra))
            for one in functions
        ),
        lines,
        len(failing),
        len(passing),
    )


def ochiai(failing: int, passing: int, failed: int) -> float:
    """Score a place that so many failing and passing runs came to, of `failed` in all."""
    if not failing:
        return 0.0
    return failing / math.sqrt(failed * (failing + passing))


def _suspects(
    failing: Sequence[frozenset[Place]], passing: Sequence[frozenset[Place]], most: int
) -> tuple[Suspect, ...]:
    found = []
    for place in frozenset[Place]().union(*failing):
        bad = sum(place in one for one in failing)
        good = sum(place in one for one in passing)
        found.append(Suspect(place, ochiai(bad, good, len(failing)), bad, good))
    found.sort(key=lambda one: (-one.score, one.place.file, one.place.line, one.place.function))
    return tuple(found[:most])


def _entries(suspect: Suspect, spectra: Sequence[Spectrum]) -> tuple[EntryDifference, ...]:
    values: dict[bool, dict[str, dict[str, None]]] = {True: {}, False: {}}
    for one in spectra:
        for name, texts in one.entries.get(suspect.place, {}).items():
            values[one.passed].setdefault(name, {}).update(dict.fromkeys(texts))
    found = []
    for name in dict.fromkeys([*values[False], *values[True]]):
        bad, good = values[False].get(name, {}), values[True].get(name, {})
        only_bad = tuple(text for text in bad if text not in good)
        only_good = tuple(text for text in good if text not in bad)
        if only_bad:
            found.append(EntryDifference(name, only_bad[:_VALUES], only_good[:_VALUES]))
    return tuple(found)
