"""Finds which functions return the same values over and over below a loop of native code. Pure.

The loop of an interpreter or dispatcher has no condition of its own: what keeps it going is what
the functions that it calls return.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from debugger.questions.hang.answer import RepeatedReturnView
from debugger.questions.hang.thread_sampling import SampledFrame

_FUNCTIONS_MAX = 12
SITES_MAX = 20  # return statements that are watched
_SHOWN_MAX = 4
_VALUES = 4
_TIMES_MIN = 3
_RETURN = re.compile(r"\breturn\b\s*(?P<value>[^;]*);")
_EFFECTS = re.compile(r"[\w\])]\s*\(|\+\+|--|(?<![=!<>])=(?!=)")
_CONSTANT = re.compile(r"(?:[-+]?\d\w*|true|false|NULL|nullptr|[A-Z_][A-Z0-9_]*)\Z")
_CALL = re.compile(r"(?<![\w.>])([A-Za-z_]\w*)\s*\(")


class _SeenFunction(msgspec.Struct):
    """A function below the loop: how often and how deep it was seen, and a line of it."""

    times: int
    depth: int
    line: int


def find_return_sites(
    stacks: Sequence[Sequence[SampledFrame]],
    loop: SampledFrame,
    sources: Mapping[str, Sequence[str]],
) -> tuple[RepeatedReturnView, ...]:
    """Return the return statements of the functions that were seen below a loop's frame.

    A function of the same file that one of these calls is among them: it may be too short to be
    seen.
    """
    seen: dict[tuple[str, str], _SeenFunction] = {}
    for stack in stacks:
        at = next((at for at, one in enumerate(stack) if _is_frame(one, loop)), None)
        for index, one in enumerate(stack[:at] if at is not None else ()):
            if one.is_own and one.file and one.line:
                known = seen.setdefault((one.function, one.file), _SeenFunction(0, 0, one.line))
                known.times += 1
                known.depth = max(known.depth, (at or 0) - index)
    ranked = sorted(seen.items(), key=lambda one: -one[1].times)[:_FUNCTIONS_MAX]
    functions = dict(ranked)
    for (_, file), known in ranked:
        for name, line in _callees(sources.get(file, ()), known.line):
            functions.setdefault((name, file), _SeenFunction(0, known.depth + 1, line))
    found = [
        RepeatedReturnView(function, file, *each, depth=known.depth)
        for (function, file), known in functions.items()
        for each in _returns_of(sources.get(file, ()), known.line)
    ]
    # One that is seen and returns what varies comes first.
    found.sort(
        key=lambda one: (
            _CONSTANT.match(one.value) is not None,
            not functions[one.function, one.file].times,
            -one.depth,
        )
    )
    return tuple(found[:SITES_MAX])


def _is_frame(one: SampledFrame, loop: SampledFrame) -> bool:
    return one.function == loop.function and one.file == loop.file


def _function_lines(lines: Sequence[str], line: int) -> range:
    """Return the lines of the function around a line: its closing brace begins a line."""
    if not 1 <= line <= len(lines):
        return range(0)
    first = last = line
    while first > 1 and not lines[first - 2].startswith("}"):
        first -= 1
    while last < len(lines) and not lines[last - 1].startswith("}"):
        last += 1
    return range(first, last + 1)


def _returns_of(lines: Sequence[str], line: int) -> Iterator[tuple[int, str, str]]:
    """Return the line, the text and the value of each return statement of a function."""
    for number in _function_lines(lines, line):
        found = _RETURN.search(lines[number - 1])
        value = found["value"].strip() if found is not None else ""
        if value and not _EFFECTS.search(value):
            yield number, lines[number - 1].strip(), value


def _callees(lines: Sequence[str], line: int) -> Iterator[tuple[str, int]]:
    """Return the functions of the same file that a function calls, each with a line of it."""
    body = "\n".join(lines[number - 1] for number in _function_lines(lines, line))
    names = set(_CALL.findall(body))
    for number, text in enumerate(lines, 1):
        # A definition begins its line, and no prototype ends it.
        head = _CALL.search(text) if text[:1].isalpha() or text[:1] == "_" else None
        if head is not None and head[1] in names and ";" not in text:
            yield head[1], number + 1


def rank_returns(
    sites: Sequence[RepeatedReturnView], passed: Sequence[Sequence[str]], times: Sequence[int]
) -> tuple[RepeatedReturnView, ...]:
    """Return the statements that were passed over and over, the most telling first.

    `passed` are the values of each site in order, `times` how often each was passed in all.
    """
    found = [
        msgspec.structs.replace(
            one,
            times=count,
            values=tuple(dict.fromkeys(values[-_VALUES:])),
            period=find_period(values),
        )
        for one, values, count in zip(sites, passed, times, strict=True)
        if count >= _TIMES_MIN
    ]
    # What goes on to ever new values is no reason.
    found = [one for one in found if one.period]
    # Values that come again in turn tell more than one that is always the same, and with them
    # all that the same function returns.
    cyclic = {one.function for one in found if one.period > 1}
    found.sort(
        key=lambda one: (
            one.function not in cyclic,
            _CONSTANT.match(one.value) is not None,
            -one.depth,
            one.times,
        )
    )
    return tuple(found[:_SHOWN_MAX])


def find_period(values: Sequence[str]) -> int:
    """Return after how many values the last ones come again in the same order; 0 if they do not."""
    # The prefix function of Knuth, Morris and Pratt, of the values from the last one on: what
    # they began with need not come again.
    latest = list(reversed(values))
    border = [0] * len(latest)
    best = 0
    for at in range(1, len(latest)):
        length = border[at - 1]
        while length and latest[at] != latest[length]:
            length = border[length - 1]
        border[at] = length + (latest[at] == latest[length])
        period = at + 1 - border[at]
        if at + 1 >= 2 * period:
            best = period
    return best
