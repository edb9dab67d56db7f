"""Finds the functions and lines that ran where runs failed, and not where they passed. Pure.

The measure is Ochiai's: of failing and passing runs that passed a place, against all failing ones.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from debugger.recording.model import (
    Counted,
    Entered,
    Function,
    Hit,
    Merged,
    Passed,
    Raised,
    Recording,
    Returned,
    Value,
)

_VALUES = 4
_RUNS_VALUES = 200  # entry values of one argument that are kept for one run
# Where something lies is another place in the next run.
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")


class Place(Struct, frozen=True):
    """A function, a line of one, or what begins within a line; the same in every run."""

    file: str
    function: str
    line: int = 0
    column: int = 0


class Spectrum(Struct, frozen=True):
    """What one run came to, and the values that its functions were entered and left with.

    `firsts` has lines in the order in which they were passed first, where that is known. Runs of
    one `command` have to have the same values.
    """

    passed: bool
    functions: frozenset[Place]
    lines: frozenset[Place]
    entries: dict[Place, dict[str, tuple[str, ...]]]
    order: dict[Place, int] = {}  # in which it came to its functions
    firsts: dict[Place, int] = {}
    command: str = ""


class EntryDifference(Struct, frozen=True):
    """Values of an argument that only failing runs had, and that only passing ones had.

    What came of the calls is called `returned` and `raised`.
    """

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
    """The most suspicious places first; places of the same score as failing runs came to them."""

    functions: tuple[Suspect, ...]
    lines: tuple[Suspect, ...]
    failing: int
    passing: int


def spectrum(recordings: Iterable[Recording], *, passed: bool, command: str = "") -> Spectrum:
    """Sum up one run, of one process or several."""
    functions: set[Place] = set()
    lines: set[Place] = set()
    entries: dict[Place, dict[str, dict[str, None]]] = {}
    order: dict[Place, int] = {}
    firsts: dict[Place, int] = {}
    for recording in recordings:
        owners: dict[int, Function] = {}
        for event in recording.events:
            if isinstance(event, Entered | Merged):
                function = owners[event.call] = recording.function(event.function)
                place = Place(function.file, function.name)
                functions.add(place)
                order.setdefault(place, len(order))
                if isinstance(event, Entered):
                    _enter(entries.setdefault(place, {}), event.arguments)
            elif isinstance(event, Returned | Raised) and event.call in owners:
                function = owners[event.call]
                told = (
                    Value("returned", event.value)
                    if isinstance(event, Returned)
                    else Value("raised", event.text)
                )
                _enter(entries.setdefault(Place(function.file, function.name), {}), (told,))
            elif isinstance(event, Passed) and event.call in owners:
                function = owners[event.call]
                lines.add(Place(function.file, function.name, event.line))
            elif isinstance(event, Hit):
                function = recording.function(event.function)
                hit = [Place(function.file, function.name, line) for line in event.lines]
                lines.update(hit)
                for place, number in zip(hit, event.firsts, strict=False):
                    firsts.setdefault(place, number)
            elif isinstance(event, Counted):
                function = recording.function(event.function)
                lines |= {
                    Place(function.file, function.name, one.line, one.column)
                    for one in event.parts
                    if one.times
                }
    known = {
        place: {name: tuple(texts) for name, texts in names.items()}
        for place, names in entries.items()
    }
    return Spectrum(passed, frozenset(functions), frozenset(lines), known, order, firsts, command)


def _enter(names: dict[str, dict[str, None]], values: Iterable[Value]) -> None:
    for value in values:
        texts = names.setdefault(value.name, {})
        if value.text is not None and len(texts) < _RUNS_VALUES:
            texts[_ADDRESS.sub("0x…", value.text)] = None


def rank(spectra: Sequence[Spectrum], *, most: int = 20) -> Ranking:
    """Rank the places that failing runs came to."""
    failing = [one for one in spectra if not one.passed]
    passing = [one for one in spectra if one.passed]
    order: dict[Place, int] = {}
    firsts: dict[Place, int] = {}
    for one in failing:
        for place, number in one.order.items():
            order.setdefault(place, number)
        for place, number in one.firsts.items():
            firsts.setdefault(place, number)
    functions = _suspects(
        [one.functions for one in failing], [one.functions for one in passing], (order, {}), most
    )
    lines = _suspects(
        [one.lines for one in failing], [one.lines for one in passing], (order, firsts), most
    )
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
    failing: Sequence[frozenset[Place]],
    passing: Sequence[frozenset[Place]],
    orders: tuple[Mapping[Place, int], Mapping[Place, int]],
    most: int,
) -> tuple[Suspect, ...]:
    found = []
    for place in frozenset[Place]().union(*failing):
        bad = sum(place in one for one in failing)
        good = sum(place in one for one in passing)
        found.append(Suspect(place, ochiai(bad, good, len(failing)), bad, good))
    order, firsts = orders

    def key(one: Suspect) -> tuple[float, int, int, str, int, int, str]:
        place = one.place
        first = firsts.get(place, len(firsts))
        number = order.get(Place(place.file, place.function), len(order))
        return (-one.score, first, number, place.file, place.line, place.column, place.function)

    found.sort(key=key)
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
        if only_bad and not _is_noise(suspect.place, name, spectra, only_bad):
            found.append(EntryDifference(name, _some(only_bad), _some(only_good)))
    return tuple(found)


def _is_noise(
    place: Place, name: str, spectra: Sequence[Spectrum], only_bad: Sequence[str]
) -> bool:
    """Tell whether values differ in any two runs: an address, a seed, a time.

    So they do where one command had others in its next run; and where no two failing runs share
    one, unless all are numbers beyond those of the passing runs.
    """
    known = [(one, one.entries.get(place, {}).get(name, ())) for one in spectra]
    seen: dict[tuple[str, bool], set[str]] = {}
    for one, texts in known:
        if (
            one.command
            and texts
            and seen.setdefault((one.command, one.passed), set(texts)) != set(texts)
        ):
            return True
    bad = [set(texts) for one, texts in known if not one.passed and texts]
    if len(bad) < 2 or any(sum(text in each for each in bad) > 1 for text in only_bad):  # noqa: PLR2004 - two runs
        return False
    good = [text for one, texts in known if one.passed for text in texts]
    try:
        wrong, right = [float(text) for text in only_bad], [float(text) for text in good]
    except ValueError:
        return True
    return not right or not (min(wrong) > max(right) or max(wrong) < min(right))


def _some(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Keep the first and the last of many values: what goes wrong may do so late."""
    half = _VALUES // 2
    return texts if len(texts) <= _VALUES else (*texts[:half], *texts[-half:])
