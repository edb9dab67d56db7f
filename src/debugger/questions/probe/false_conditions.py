"""Shows which values the conditions had that were never true, by a second run without them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from debugger.errors import DebuggerError
from debugger.questions.probe.answer import Probe, ProbePlace
from debugger.questions.probe.probe_points import ProbePoint
from debugger.questions.try_change.trial import condition_operands

_OPERANDS_MAX = 4  # of each condition

TakeProbes = Callable[[Sequence[ProbePoint]], Awaitable[Probe]]


async def add_operand_values(
    answer: Probe, points: Sequence[ProbePoint], take: TakeProbes, *, is_python: bool
) -> Probe:
    """Return the answer with the values of the conditions' operands, where no hit had a true one.

    Args:
        answer: The answer of the first run.
        points: The locations of the first run, as in `answer.places`.
        take: Runs the program again, and records the values at other locations without a filter.
        is_python: The conditions are Python's, whose comments begin with a `#`.
    """
    points = [one for one in points if not one.event]
    operand_points: dict[int, ProbePoint] = {}
    for index, (place, point) in enumerate(zip(answer.places, points, strict=False)):
        if answer.means == "recorder" and not place.passed:
            continue  # other means do not count what a condition refuses
        operands = _operands_of(place, point, is_python=is_python)
        if operands:
            operand_points[index] = msgspec.structs.replace(point, expressions=operands, when=None)
    if not operand_points:
        return answer
    try:
        second = await take(list(operand_points.values()))
    except DebuggerError:
        return answer  # the first run's answer stands without it
    places = list(answer.places)
    for index, found in zip(operand_points, second.places, strict=True):
        columns = tuple(one for one in found.columns if one.taken and not one.is_never_there)
        places[index] = msgspec.structs.replace(places[index], refused=columns)
    return msgspec.structs.replace(answer, places=tuple(places))


def _operands_of(place: ProbePlace, point: ProbePoint, *, is_python: bool) -> tuple[str, ...]:
    """Return the operands of a condition that was never true; none if it was never evaluated."""
    if point.when is None or place.hits or place.condition_error is not None:
        return ()
    found = condition_operands(point.when, hash_comments=is_python) or (point.when,)
    return found[:_OPERANDS_MAX]
