"""Folds a tree of a million calls into a few lines, and the paths that lead to a location. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct, structs

from debugger.recorders.call_tree import CallNode, walk_calls
from debugger.recorders.model import RecordedFunction, Recording
from debugger.recorders.suspect_ranking import ValueVariation, summarise_values, vary_all

_PERIOD_MAX = 8  # calls in one round of a loop
_DEPTH_MAX = 100  # levels of the folded tree
_ERRORS = 3  # distinct exceptions of a line
_SEQUENCE_MAX = 2_000  # more calls by one call are told by function


class OmittedCalls(Struct, frozen=True):
    """The number of omitted lines, and of the calls in them."""

    lines: int = 0
    calls: int = 0


class FoldedCalls(Struct, frozen=True):
    """Calls of one function folded into one line; without a function, the rounds of a loop."""

    function: RecordedFunction | None
    # The calls from other functions; `recursions` are the calls from the function itself.
    count: int
    at: int = 0
    # The first of the `threads` that made the calls.
    thread: int = 0
    recursions: int = 0
    # Of all these calls, those that ended by an exception.
    raised: int = 0
    # Of all these calls, those that had not ended.
    open: int = 0
    threads: int = 1
    # The number of calls with known arguments and values.
    known: int = 0
    errors: tuple[str, ...] = ()
    total_ns: int = 0
    self_ns: int = 0
    arguments: tuple[ValueVariation, ...] = ()
    value: ValueVariation | None = None
    is_stopped: bool = False  # it was called more often than was counted
    children: tuple[FoldedCalls, ...] = ()
    left_out: OmittedCalls = OmittedCalls()

    @property
    def call_count(self) -> int:
        """The number of calls in this line, without those below it."""
        return self.count + self.recursions if self.function is not None else 0


def fold_trees(recording: Recording, roots: Sequence[CallNode]) -> tuple[FoldedCalls, ...]:
    """Fold trees of calls; the folded counts add up to the original number of calls."""
    # 1. `_split_loops` looks for repeated patterns of functions in the callees of one call; each
    #    position of a pattern is folded over all of its rounds. A sequence beyond `_SEQUENCE_MAX`
    #    is only grouped by function.
    # 2. `fold_function` folds calls of one function. Recursive calls, also indirect ones, count as
    #    `recursions` of the outermost, and their callees belong to that one, so that the depth of a
    #    recursion does not become the depth of the tree.
    # 3. `above` holds the functions on the path down to here: a callee among them was already
    #    counted as a recursion further out.
    # 4. Only a single call keeps the order of its callees; callees of several calls are grouped by
    #    function.
    # 5. Below `_DEPTH_MAX` calls are only counted, so that the sums still add up.
    return _CallFolder(recording).fold_sequence(list(roots), frozenset(), 0)


def fold_calls(recording: Recording, calls: Sequence[CallNode]) -> FoldedCalls:
    """Fold some calls of one function into one line, with their callees."""
    return _CallFolder(recording).fold_function(list(calls), frozenset(), 0)


class _CallFolder:
    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def fold_sequence(
        self, calls: list[CallNode], above: frozenset[int], depth: int
    ) -> tuple[FoldedCalls, ...]:
        """Fold the calls that one call made, in order."""
        if len(calls) > _SEQUENCE_MAX:
            return self._fold_groups(calls, above, depth)
        found = []
        for rounds, body in _split_loops(calls):
            parts = tuple(self.fold_function(part, above, depth) for part in body)
            if len(parts) == 1:
                found.append(parts[0])
            else:
                total = sum(part.total_ns for part in parts)
                first = parts[0]
                found.append(
                    FoldedCalls(
                        None,
                        rounds,
                        at=first.at,
                        thread=first.thread,
                        total_ns=total,
                        children=parts,
                    )
                )
        return tuple(found)

    def _fold_groups(
        self, calls: list[CallNode], above: frozenset[int], depth: int
    ) -> tuple[FoldedCalls, ...]:
        groups: dict[int, list[CallNode]] = {}
        for call in calls:
            groups.setdefault(call.function, []).append(call)
        return tuple(self.fold_function(group, above, depth) for group in groups.values())

    def fold_function(
        self, calls: list[CallNode], above: frozenset[int], depth: int
    ) -> FoldedCalls:
        """Fold calls of one function, including its recursive calls."""
        number = calls[0].function
        own = _recursive_calls(calls, above)
        inner = above | {number}
        below = [
            child
            for call in (*calls, *own)
            for child in call.children
            if child.function not in inner
        ]
        is_one = len(calls) == 1 and not own and not calls[0].is_merged
        children: tuple[FoldedCalls, ...] = ()
        left_out = OmittedCalls()
        if depth >= _DEPTH_MAX:
            left_out = OmittedCalls(
                len(below), sum(call.count for call in _calls_below(below, inner))
            )
        elif is_one:
            children = self.fold_sequence(below, inner, depth + 1)
        else:
            # Callees of several calls, in order of time.
            below.sort(key=lambda child: (child.at, child.id))
            children = self._fold_groups(below, inner, depth + 1)
        return self._folded_line(calls, own, children, left_out)

    def _folded_line(
        self,
        calls: list[CallNode],
        own: list[CallNode],
        children: tuple[FoldedCalls, ...],
        left_out: OmittedCalls,
    ) -> FoldedCalls:
        first, every = calls[0], (*calls, *own)
        single = [call for call in every if not call.is_merged]
        # What came out of the whole, not of its recursions.
        values = [call.value for call in calls if call.value is not None]
        errors = dict.fromkeys(error.exception_text for call in every for error in call.errors)
        return FoldedCalls(
            function=self._recording.find_function(first.function),
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
            value=summarise_values("", values) if values else None,
            is_stopped=first.function in self._recording.stopped,
            children=children,
            left_out=left_out,
        )


def _recursive_calls(calls: list[CallNode], above: frozenset[int]) -> list[CallNode]:
    """Collect the recursive calls; calls that belong to an outer function are skipped."""
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


def _calls_below(calls: list[CallNode], above: frozenset[int]) -> Iterator[CallNode]:
    """Yield these calls and all of their callees, without those of outer functions."""
    waiting = list(calls)
    while waiting:
        call = waiting.pop()
        if call.function not in above:
            yield call
            waiting += call.children


def _split_loops(calls: list[CallNode]) -> Iterator[tuple[int, list[list[CallNode]]]]:
    """Split calls into rounds of loops; each part of a round has the calls of all rounds."""
    at = 0
    while at < len(calls):
        period, rounds = _find_period(calls, at)
        yield (
            rounds,
            [
                [calls[at + turn * period + place] for turn in range(rounds)]
                for place in range(period)
            ],
        )
        at += period * rounds


def _find_period(calls: list[CallNode], at: int) -> tuple[int, int]:
    """Find the repetition that covers the most calls from here on, the shortest among equals."""
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


def count_calls(folded: Sequence[FoldedCalls]) -> int:
    """Count the calls of folded lines, including omitted ones."""
    return sum(one.call_count + one.left_out.calls + count_calls(one.children) for one in folded)


def cut_lines(
    folded: Sequence[FoldedCalls], most: int
) -> tuple[tuple[FoldedCalls, ...], OmittedCalls]:
    """Keep `most` lines: those that an exception passed first, then outer ones, then slow ones."""
    ranked: list[tuple[tuple[int, int, int], tuple[int, ...]]] = []

    def rank(rows: Sequence[FoldedCalls], place: tuple[int, ...]) -> bool:
        has_error = False
        for number, one in enumerate(rows):
            here = (*place, number)
            below = rank(one.children, here)
            is_bad = bool(one.raised or one.open) or below
            ranked.append(((not is_bad, len(here), -one.total_ns), here))
            has_error = has_error or is_bad
        return has_error

    rank(folded, ())
    chosen: set[tuple[int, ...]] = set()
    for _, place in sorted(ranked):
        prefixes = [place[: end + 1] for end in range(len(place)) if place[: end + 1] not in chosen]
        if len(chosen) + len(prefixes) <= most:
            chosen.update(prefixes)
    return _keep_lines(folded, (), chosen)


def _keep_lines(
    rows: Sequence[FoldedCalls], place: tuple[int, ...], chosen: set[tuple[int, ...]]
) -> tuple[tuple[FoldedCalls, ...], OmittedCalls]:
    found, lines, calls = [], 0, 0
    for number, one in enumerate(rows):
        here = (*place, number)
        if here not in chosen:
            lines += _count_lines(one)
            calls += count_calls([one])
            continue
        children, omitted = _keep_lines(one.children, here, chosen)
        omitted = OmittedCalls(
            omitted.lines + one.left_out.lines, omitted.calls + one.left_out.calls
        )
        found.append(structs.replace(one, children=children, left_out=omitted))
    return tuple(found), OmittedCalls(lines, calls)


def _count_lines(one: FoldedCalls) -> int:
    return 1 + sum(_count_lines(child) for child in one.children)


class TreeLine(Struct, frozen=True):
    """A line of the tree; the line of `order` 0 is omitted last."""

    folded: FoldedCalls
    depth: int
    order: int


class _RankedLine(Struct):
    folded: FoldedCalls
    depth: int
    parent: int
    is_bad: bool


def flatten_tree(folded: Sequence[FoldedCalls], most: int) -> tuple[TreeLine, ...]:
    """Convert a tree to lines, outer ones before inner ones, limited to the `most` important."""
    lines: list[_RankedLine] = []

    def fit_text(one: FoldedCalls, depth: int, parent: int) -> bool:
        place = len(lines)
        lines.append(_RankedLine(one, depth, parent, is_bad=bool(one.raised or one.open)))
        for child in one.children:
            if fit_text(child, depth + 1, place):
                lines[place].is_bad = True
        return lines[place].is_bad

    for one in folded:
        fit_text(one, 0, -1)
    order = _line_order(lines)
    return tuple(
        TreeLine(line.folded, line.depth, order[place])
        for place, line in enumerate(lines)
        if order[place] < most
    )


def _line_order(lines: Sequence[_RankedLine]) -> dict[int, int]:
    ranked = sorted(
        range(len(lines)),
        key=lambda at: (not lines[at].is_bad, lines[at].depth, -lines[at].folded.total_ns, at),
    )
    order: dict[int, int] = {}
    for place in ranked:
        chain, outer = [], place
        while outer >= 0 and outer not in order:
            chain.append(outer)
            outer = lines[outer].parent
        for one in reversed(chain):
            order[one] = len(order)
    return order


class PathStep(Struct, frozen=True):
    """A function of a call path, and the line of its call; 0 if unknown."""

    function: RecordedFunction
    line: int = 0


class CallPath(Struct, frozen=True):
    """The path of `count` calls to a function, outermost first; recursions appear once."""

    count: int
    steps: tuple[PathStep, ...]


class CallContext(Struct, frozen=True):
    """The calls of a function: the most frequent call paths, and the calls that it made."""

    function: RecordedFunction
    calls: int
    ways: tuple[CallPath, ...]
    more_ways: int
    folded: FoldedCalls


def find_call_contexts(
    recording: Recording,
    roots: Sequence[CallNode],
    is_there: Callable[[RecordedFunction], bool],
    *,
    ways: int = 5,
) -> tuple[CallContext, ...]:
    """Find the callers and callees of each matching function, in order of its first call."""
    groups: dict[int, list[CallNode]] = {}
    for call in walk_calls(roots):
        if is_there(recording.find_function(call.function)):
            groups.setdefault(call.function, []).append(call)
    return tuple(
        _call_context(recording, recording.find_function(number), calls, ways)
        for number, calls in groups.items()
    )


def _call_context(
    recording: Recording, function: RecordedFunction, calls: list[CallNode], most: int
) -> CallContext:
    counts: dict[tuple[tuple[int, int], ...], int] = {}
    for call in calls:
        way = _call_path(call)
        counts[way] = counts.get(way, 0) + call.count
    ranked = sorted(counts, key=lambda way: -counts[way])
    found = tuple(
        CallPath(
            counts[way],
            tuple(PathStep(recording.find_function(number), line) for number, line in way),
        )
        for way in ranked[:most]
    )
    # Calls below others of the same function are among the recursions of those.
    outer = [call for call in calls if not _is_below(call)]
    folded = fold_calls(recording, outer)
    total = sum(call.count for call in calls)
    return CallContext(function, total, found, max(len(ranked) - most, 0), folded)


def _is_below(call: CallNode) -> bool:
    parent = call.parent
    while parent is not None:
        if parent.function == call.function:
            return True
        parent = parent.parent
    return False


def _call_path(call: CallNode) -> tuple[tuple[int, int], ...]:
    """Return the functions that lead to a call, each with the line of its call."""
    chain: list[tuple[int, int]] = []
    line, parent = call.line, call.parent
    while parent is not None:
        chain.append((parent.function, line))
        line, parent = parent.line, parent.parent
    calls: dict[int, int] = {}
    for number, at in reversed(chain):
        calls.setdefault(number, at)
    return tuple(calls.items())
