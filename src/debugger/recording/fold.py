"""Folds a tree of a million calls into a few lines, with all calls counted. Pure.

Calls of a function in a row are one line with a count and what varies; so are the rounds of a
loop, and calls that a function makes of itself, however far in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from debugger.recording.model import Function, Recording
from debugger.recording.tree import Call
from debugger.recording.vary import Varying, vary, vary_all

_PERIOD_MAX = 8  # calls in one round of a loop
_DEPTH_MAX = 100
_ERRORS = 3
_SEQUENCE_MAX = 2_000  # more calls by one call are told by function


class LeftOut(Struct, frozen=True):
    """What was cut: how many lines, of how many calls."""

    lines: int = 0
    calls: int = 0


class Folded(Struct, frozen=True):
    """Calls of one function that are told together; without a function, the rounds of a loop.

    `count` calls came from outside, `recursions` from the function itself; `raised` of them all
    ended by an exception, `open` had not ended; `threads` made them, `thread` the first. Arguments
    and values are those of `known` calls.
    """

    function: Function | None
    count: int
    at: int = 0
    thread: int = 0
    recursions: int = 0
    raised: int = 0
    open: int = 0
    threads: int = 1
    known: int = 0
    errors: tuple[str, ...] = ()
    total_ns: int = 0
    self_ns: int = 0
    arguments: tuple[Varying, ...] = ()
    value: Varying | None = None
    is_stopped: bool = False  # it was called more often than was counted
    children: tuple[Folded, ...] = ()
    left_out: LeftOut = LeftOut()

    @property
    def calls(self) -> int:
        """How many calls this line stands for, without those below it."""
        return self.count + self.recursions if self.function is not None else 0


def fold(recording: Recording, roots: Sequence[Call]) -> tuple[Folded, ...]:
    """Fold trees of calls; the counts of what comes out add up to the calls that went in."""
    return _Folding(recording).row(list(roots), frozenset(), 0)


def fold_calls(recording: Recording, calls: Sequence[Call]) -> Folded:
    """Fold some calls of one function into one line, with what they led to."""
    return _Folding(recording).bundle(list(calls), frozenset(), 0)


class _Folding:
    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def row(self, calls: list[Call], above: frozenset[int], depth: int) -> tuple[Folded, ...]:
        """Fold what one call made, in its order."""
        if len(calls) > _SEQUENCE_MAX:
            return self._grouped(calls, above, depth)
        found = []
        for rounds, body in _loops(calls):
            parts = tuple(self.bundle(part, above, depth) for part in body)
            if len(parts) == 1:
                found.append(parts[0])
            else:
                total = sum(part.total_ns for part in parts)
                first = parts[0]
                found.append(
                    Folded(
                        None,
                        rounds,
                        at=first.at,
                        thread=first.thread,
                        total_ns=total,
                        children=parts,
                    )
                )
        return tuple(found)

    def _grouped(self, calls: list[Call], above: frozenset[int], depth: int) -> tuple[Folded, ...]:
        groups: dict[int, list[Call]] = {}
        for call in calls:
            groups.setdefault(call.function, []).append(call)
        return tuple(self.bundle(group, above, depth) for group in groups.values())

    def bundle(self, calls: list[Call], above: frozenset[int], depth: int) -> Folded:
        """Fold calls of one function; those that it makes of itself below are among them."""
        number = calls[0].function
        own = _recursions(calls, above)
        inner = above | {number}
        below = [
            child
            for call in (*calls, *own)
            for child in call.children
            if child.function not in inner
        ]
        is_one = len(calls) == 1 and not own and not calls[0].is_merged
        children: tuple[Folded, ...] = ()
        left_out = LeftOut()
        if depth >= _DEPTH_MAX:
            left_out = LeftOut(len(below), sum(call.count for call in _below(below, inner)))
        elif is_one:
            children = self.row(below, inner, depth + 1)
        else:
            below.sort(key=lambda child: (child.at, child.id))
            children = self._grouped(below, inner, depth + 1)
        return self._line(calls, own, children, left_out)

    def _line(
        self,
        calls: list[Call],
        own: list[Call],
        children: tuple[Folded, ...],
        left_out: LeftOut,
    ) -> Folded:
        first, every = calls[0], (*calls, *own)
        single = [call for call in every if not call.is_merged]
        # What came out of the whole, not of its recursions.
        values = [call.value for call in calls if call.value is not None]
        errors = dict.fromkeys(error.text for call in every for error in call.errors)
        return Folded(
            function=self._recording.function(first.function),
            count=sum(call.count for call in calls),
            at=min(call.at for call in calls),
            thread=first.thread,
            recursions=sum(call.count for call in own),
            raised=sum(call.raised for call in every),
            threads=len({call.thread for call in every}),
            open=sum(not call.has_ended for call in every),
            known=len(single),
            errors=tuple(errors)[:_ERRORS],
            total_ns=sum(call.total_ns for call in calls),
            self_ns=sum(call.self_ns for call in every),
            arguments=vary_all(call.arguments for call in single),
            value=vary("", values) if values else None,
            is_stopped=first.function in self._recording.stopped,
            children=children,
            left_out=left_out,
        )


def _recursions(calls: list[Call], above: frozenset[int]) -> list[Call]:
    """Collect the calls of the same function below; what an outer function took is passed over."""
    number = calls[0].function
    found = []
    waiting = [child for call in reversed(calls) for child in reversed(call.children)]
    while waiting:
        call = waiting.pop()
        if call.function in above:
            continue
        if call.function == number:
            found.append(call)
        waiting.extend(reversed(call.children))
    return found


def _below(calls: list[Call], above: frozenset[int]) -> Iterator[Call]:
    """Give these calls and all that they led to, without what outer functions took."""
    waiting = list(calls)
    while waiting:
        call = waiting.pop()
        if call.function not in above:
            yield call
            waiting += call.children


def _loops(calls: list[Call]) -> Iterator[tuple[int, list[list[Call]]]]:
    """Split calls into rounds of loops; each part of a round has the calls of all rounds."""
    at = 0
    while at < len(calls):
        period, rounds = _period(calls, at)
        yield (
            rounds,
            [
                [calls[at + turn * period + place] for turn in range(rounds)]
                for place in range(period)
            ],
        )
        at += period * rounds


def _period(calls: list[Call], at: int) -> tuple[int, int]:
    """Find the repetition that covers most from here on; the shorter of two that cover as much."""
    best, covered = (1, 1), 1
    for period in range(1, min(_PERIOD_MAX, (len(calls) - at) // 2) + 1):
        end = at + period
        while end < len(calls) and calls[end].function == calls[end - period].function:
            end += 1
        rounds = (end - at) // period
        if rounds > 1 and rounds * period > covered:
            best, covered = (period, rounds), rounds * period
    return best


# -- what is left of it within a budget ----------------------------------------------------------


def count(folded: Sequence[Folded]) -> int:
    """Count the calls that folded lines stand for, with those that were left out."""
    return sum(one.calls + one.left_out.calls + count(one.children) for one in folded)


def cut(folded: Sequence[Folded], most: int) -> tuple[tuple[Folded, ...], LeftOut]:
    """Keep `most` lines: those that an exception passed first, then outer ones, then slow ones."""
    ranked: list[tuple[tuple[int, int, int], tuple[int, ...]]] = []

    def rank(rows: Sequence[Folded], place: tuple[int, ...]) -> bool:
        has_error = False
        for number, one in enumerate(rows):
            here = (*place, number)
            below = rank(one.children, here)
            is_bad = bool(one.raised or one.open) or below
            ranked.append(((not is_bad, len(here), -one.total_ns), here))
            has_error = has_error or is_bad
        return has_error

    rank(folded, ())
    kept: set[tuple[int, ...]] = set()
    for _, place in sorted(ranked):
        wanted = [place[: end + 1] for end in range(len(place)) if place[: end + 1] not in kept]
        if len(kept) + len(wanted) <= most:
            kept.update(wanted)
    return _keep(folded, (), kept)


def _keep(
    rows: Sequence[Folded], place: tuple[int, ...], kept: set[tuple[int, ...]]
) -> tuple[tuple[Folded, ...], LeftOut]:
    found, lines, calls = [], 0, 0
    for number, one in enumerate(rows):
        here = (*place, number)
        if here not in kept:
            lines += _lines(one)
            calls += count([one])
            continue
        children, left = _keep(one.children, here, kept)
        left = LeftOut(left.lines + one.left_out.lines, left.calls + one.left_out.calls)
        found.append(structs.replace(one, children=children, left_out=left))
    return tuple(found), LeftOut(lines, calls)


def _lines(one: Folded) -> int:
    return 1 + sum(_lines(child) for child in one.children)
