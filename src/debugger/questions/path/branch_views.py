"""Describes the branches that went another way, with the returns of functions that decided them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import structs

from debugger.questions.path.answer import BranchView, ReturnView
from debugger.questions.recordings import function_lookup
from debugger.questions.recordings.recorded_run import RecordedRun
from debugger.recorders.branch_outcomes import DivergingBranch, find_diverging_branches
from debugger.recorders.model import PartCounts, RecordedFunction, Recording

_BRANCHES = 20
_DECIDED = 5  # the first branches, of which the deciding functions are looked for
_RETURNS = 2  # of a deciding function
_CALLED = re.compile(r"(\w+)\s*\(")
# A return that decides something itself: one of a field or a variable only hands it on.
_RETURN = re.compile(r"\s*return\b.*(?:[<>]|[!=]=|&&|\|\||\?|![\w(])")


def branch_views(runs: Sequence[RecordedRun], passed: Sequence[bool]) -> tuple[BranchView, ...]:
    """Return the branches that went another way, the most telling first."""
    sides = [
        [one.recordings for one, is_good in zip(runs, passed, strict=True) if is_good is side]
        for side in (False, True)
    ]
    views = [_branch_view(one) for one in find_diverging_branches(*sides)[:_BRANCHES]]
    functions = _functions_by_name(one for run in sides[0] for one in run)
    return tuple(
        structs.replace(one, returns=tuple(_deciding_returns(one, functions)))
        if at < _DECIDED
        else one
        for at, one in enumerate(views)
    )


def _branch_view(one: DivergingBranch) -> BranchView:
    if one.is_condition:
        names = ("true", "false")
    elif one.to[0] == one.to[1]:
        names = ("one way", "the other")
    else:
        names = (f"to :{one.to[0]}", f"to :{one.to[1]}")
    failing, passing = (
        tuple((name, times) for name, times in zip(names, side, strict=True) if times)
        for side in (one.failing, one.passing)
    )
    place = one.place
    return BranchView(
        place.function,
        place.file,
        place.line,
        function_lookup.line_text(place.file, place.line),
        failing,
        passing,
    )


_Known = Mapping[str, list[tuple[RecordedFunction, tuple[int, ...]]]]


def _functions_by_name(recordings: Iterator[Recording]) -> _Known:
    """Map the last parts of functions' names to the functions and the lines that they passed."""
    found: dict[str, list[tuple[RecordedFunction, tuple[int, ...]]]] = {}
    for recording in recordings:
        for event in recording.events:
            if isinstance(event, PartCounts):
                function = recording.find_function(event.function)
                lines = tuple(one.line for one in event.parts if one.times and not one.column)
                last = re.split(r"::|\.", function.name)[-1]
                found.setdefault(last, []).append((function, lines))
    return found


def _deciding_returns(one: BranchView, functions: _Known) -> Iterator[ReturnView]:
    """Yield the returns of the one function of its name that a branch's line calls.

    What a condition depends on is decided where the called function returns; which of its returns
    decided is known only where the failing run passed no other.
    """
    for name in dict.fromkeys(_CALLED.findall(one.text)):
        known = functions.get(name, [])
        if len(known) != 1:
            continue
        function, lines = known[0]
        returns = [
            line for line in lines if _RETURN.match(function_lookup.line_text(function.file, line))
        ]
        if len(returns) <= _RETURNS:
            for line in returns:
                text = function_lookup.line_text(function.file, line)
                yield ReturnView(function.name, function.file, line, text)
