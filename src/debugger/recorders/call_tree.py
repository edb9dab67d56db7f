"""Rebuilds the tree of calls from their events, and summarises one call line by line. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from msgspec import Struct, field

from debugger.recorders.model import (
    CallEntered,
    CallRaised,
    CallReturned,
    CallsMerged,
    LineBranched,
    LinePassed,
    LinesSkipped,
    RecordedFunction,
    RecordedValue,
    Recording,
    ValuesChanged,
)
from debugger.recorders.suspect_ranking import ValueVariation, vary_each


class CallNode(Struct):
    """A call, or `count` calls of the same path; only `build_trees` makes nodes."""

    id: int
    function: int
    thread: int = 0
    at: int = 0
    line: int = 0
    count: int = 1
    raised: int = 0
    # Up to the end of the recording if the call has not ended; a generator's includes its waits.
    total_ns: int = 0
    arguments: tuple[RecordedValue, ...] = ()
    value: str | None = None
    errors: list[CallRaised] = field(default_factory=list)
    has_ended: bool = False
    is_merged: bool = False
    parent: CallNode | None = None
    children: list[CallNode] = field(default_factory=list)
    # The lines of the call, their changes, and the calls that they made, in order.
    steps: list[LinePassed | ValuesChanged | LinesSkipped | LineBranched | CallNode] = field(
        default_factory=list
    )

    @property
    def self_ns(self) -> int:
        """The time spent outside of the calls that it made."""
        return max(self.total_ns - sum(child.total_ns for child in self.children), 0)


def build_trees(recording: Recording) -> list[CallNode]:
    """Build the trees of a recording's calls: their roots have no recorded caller."""
    calls = _make_calls(recording)
    _fill_calls(recording, calls)
    roots: list[CallNode] = []
    for one in calls.values():
        (one.parent.children if one.parent is not None else roots).append(one)
    for one in calls.values():
        one.children.sort(key=lambda child: (child.at, child.id))
    roots.sort(key=lambda root: (root.at, root.id))
    return roots


def _make_calls(recording: Recording) -> dict[int, CallNode]:
    """Create a node for each call; its number is larger than its caller's."""
    calls: dict[int, CallNode] = {}
    parents: dict[int, int] = {}
    for event in recording.events:
        if isinstance(event, CallEntered):
            made = CallNode(
                id=event.call,
                function=event.function,
                thread=event.thread,
                at=event.at,
                line=event.line,
                arguments=event.arguments,
                total_ns=max(recording.took_ns - event.at, 0),
            )
        elif isinstance(event, CallsMerged):
            made = CallNode(
                id=event.call,
                function=event.function,
                thread=event.thread,
                at=event.at,
                count=event.count,
                raised=event.raised,
                total_ns=event.total_ns,
                has_ended=True,
                is_merged=True,
            )
        else:
            continue
        calls[event.call] = made
        parents[event.call] = event.parent
    for number, made in calls.items():
        if parents[number] < number:
            made.parent = calls.get(parents[number])
    return calls


def _fill_calls(recording: Recording, calls: dict[int, CallNode]) -> None:
    for event in recording.events:
        call = calls.get(getattr(event, "call", 0))
        if call is None:
            continue
        if isinstance(event, LinePassed | ValuesChanged | LinesSkipped | LineBranched):
            call.steps.append(event)
        elif isinstance(event, CallReturned):
            call.value, call.has_ended = event.value, True
            call.total_ns = max(event.at - call.at, 0)
        elif isinstance(event, CallRaised):
            call.errors.append(event)
            if not call.is_merged:
                call.raised, call.has_ended = 1, True
                call.total_ns = max(event.at - call.at, 0)
        elif isinstance(event, CallEntered) and call.parent is not None:
            call.parent.steps.append(call)


def walk_calls(roots: Sequence[CallNode]) -> Iterator[CallNode]:
    """Yield every call before its callees, in order of time."""
    waiting = list(reversed(roots))
    while waiting:
        call = waiting.pop()
        yield call
        waiting.extend(reversed(call.children))


def find_call(roots: Sequence[CallNode], number: int) -> CallNode | None:
    """Return the call with a number."""
    return next((call for call in walk_calls(roots) if call.id == number), None)


def without_functions(
    roots: Sequence[CallNode], left_out: frozenset[int]
) -> tuple[list[CallNode], int]:
    """Remove calls of some functions; their callees move to the callers.

    Returns the new trees, and the number of removed calls.
    """
    made: dict[int, CallNode] = {}
    found: list[CallNode] = []
    count = 0
    for call in walk_calls(roots):
        if call.function in left_out:
            count += call.count
            continue
        parent = call.parent
        while parent is not None and parent.function in left_out:
            parent = parent.parent
        above = made.get(id(parent)) if parent is not None else None
        made[id(call)] = new = _copy_call(call, above)
        (above.children if above is not None else found).append(new)
    return found, count


def calls_within(roots: Sequence[CallNode], begin: int, end: int) -> list[CallNode]:
    """Keep the calls that began between two times, and their callers; the trees are new."""
    made: dict[int, CallNode] = {}
    found: list[CallNode] = []
    for call in walk_calls(roots):
        if not begin <= call.at <= end:
            continue
        chain: list[CallNode] = []
        above: CallNode | None = call
        while above is not None and id(above) not in made:
            chain.append(above)
            above = above.parent
        parent = made[id(above)] if above is not None else None
        for one in reversed(chain):
            made[id(one)] = new = _copy_call(one, parent)
            (parent.children if parent is not None else found).append(new)
            parent = new
    return found


def _copy_call(call: CallNode, parent: CallNode | None) -> CallNode:
    return CallNode(
        id=call.id,
        function=call.function,
        thread=call.thread,
        at=call.at,
        line=call.line,
        count=call.count,
        raised=call.raised,
        total_ns=call.total_ns,
        arguments=call.arguments,
        value=call.value,
        errors=call.errors,
        has_ended=call.has_ended,
        is_merged=call.is_merged,
        parent=parent,
        steps=call.steps,
    )


_SHAPES = 6  # shapes of a loop's rounds
_CALLEES = 20  # calls of one line


class LineBranch(Struct, frozen=True):
    """A branching line and its targets: `otherwise` is 0 if no such line is in the source."""

    line: int
    then: int
    otherwise: int = 0


class LineChange(Struct, frozen=True):
    """A change of a variable; None: it did not exist before, or does not any more."""

    name: str
    old: str | None
    new: str | None


class CalleeSummary(Struct, frozen=True):
    """A call that a line made, or `count` calls of the same path, and the result."""

    function: RecordedFunction
    call: int
    arguments: tuple[RecordedValue, ...] = ()
    value: str | None = None
    error: str | None = None
    count: int = 1
    took_ns: int = 0
    has_ended: bool = True


class CallLine(Struct, frozen=True):
    """A line of a call: its changes, and its calls."""

    line: int
    at: int = 0
    changes: tuple[LineChange, ...] = ()
    callees: tuple[CalleeSummary, ...] = ()


class RoundShape(Struct, frozen=True):
    """Rounds of a loop that passed the same lines: the first and the last of `count`."""

    count: int
    first_round: int  # counted from 1
    lines: tuple[int, ...]
    first: tuple[Item, ...]
    last: tuple[Item, ...] = ()


class LoopRounds(Struct, frozen=True):
    """The rounds of a loop, the most frequent shape first."""

    line: int
    rounds: int
    shapes: tuple[RoundShape, ...]
    more_shapes: int = 0
    varies: tuple[ValueVariation, ...] = ()


Item: TypeAlias = CallLine | LoopRounds


class LineDecision(Struct, frozen=True):
    """The counts of a branching line's targets; `never` are the targets it never reached."""

    line: int
    taken: tuple[tuple[int, int], ...]  # lines and counts
    never: tuple[int, ...] = ()


class CallLifetime(Struct, frozen=True):
    """One call, from its arguments to its end; one without an end was still running."""

    function: RecordedFunction
    call: int
    thread: int
    arguments: tuple[RecordedValue, ...]
    items: tuple[Item, ...]
    decisions: tuple[LineDecision, ...] = ()
    value: str | None = None
    error: str | None = None
    error_line: int = 0
    has_ended: bool = True
    took_ns: int = 0
    passed: int = 0  # lines
    skipped: int = 0  # lines that are not recorded
    merged: tuple[CalleeSummary, ...] = ()  # calls that were counted, but not where in the call


def call_lifetime(
    recording: Recording,
    call: CallNode,
    *,
    branches: Mapping[int, LineBranch] | None = None,
    loops: Collection[int] | None = None,
) -> CallLifetime:
    """Summarise one call, with its lines if they were recorded.

    `branches` and `loops` are the branching lines and the loops' first lines, if known.
    """
    steps = _line_steps(recording, call)
    skipped = max((one.lines for one in call.steps if isinstance(one, LinesSkipped)), default=0)
    error = call.errors[-1] if call.errors else None
    return CallLifetime(
        function=recording.find_function(call.function),
        call=call.id,
        thread=call.thread,
        arguments=call.arguments,
        items=tuple(fold_steps(steps, loops)),
        decisions=_count_decisions(call, steps, branches or {}),
        value=call.value,
        error=error.exception_text if error is not None else None,
        error_line=error.line if error is not None else 0,
        has_ended=call.has_ended,
        took_ns=call.total_ns,
        passed=len(steps) + skipped,
        skipped=skipped,
        merged=tuple(summarise_callee(recording, one) for one in call.children if one.is_merged),
    )


def _line_steps(recording: Recording, call: CallNode) -> list[CallLine]:
    """Group the events of each line, with the previous values of its changes."""
    known: dict[str, str | None] = {value.name: value.text for value in call.arguments}
    found: list[CallLine] = []
    line, at = 0, call.at
    changes: list[LineChange] = []
    callees: list[CalleeSummary] = []

    def end() -> None:
        # What has changed before the first line another thread has changed.
        if line or callees:
            found.append(CallLine(line, at, tuple(changes), tuple(callees[:_CALLEES])))

    for one in call.steps:
        if isinstance(one, LinePassed):
            end()
            line, at, changes, callees = one.line, one.at, [], []
        elif isinstance(one, ValuesChanged):
            for value in one.values:
                changes.append(LineChange(value.name, known.get(value.name), value.text))
                known[value.name] = value.text
        elif isinstance(one, CallNode):
            callees.append(summarise_callee(recording, one))
    end()
    return found


def summarise_callee(recording: Recording, call: CallNode) -> CalleeSummary:
    """Summarise a call for its caller's line."""
    return CalleeSummary(
        function=recording.find_function(call.function),
        call=call.id,
        arguments=call.arguments,
        value=call.value,
        error=call.errors[-1].exception_text if call.errors else None,
        count=call.count,
        took_ns=call.total_ns,
        has_ended=call.has_ended,
    )


# -- loops -----------------------------------------------------------------------------------------


def fold_steps(steps: Sequence[CallLine], loops: Collection[int] | None = None) -> Iterator[Item]:
    """Fold the rounds of loops: a return to an earlier line begins a round, outermost first.

    If the loops' first lines are known, a return to another line only continues a statement of
    several lines.
    """
    header = _loop_header(steps, loops)
    if header is None:
        yield from steps
        return
    places = [place for place, step in enumerate(steps) if step.line == header]
    first, last = places[0], places[-1]
    rounds = [steps[a:b] for a, b in pairwise(places)]
    body = {step.line for one in rounds for step in one} - {header}
    end = last + 1
    while end < len(steps) and steps[end].line in body:
        end += 1
    if end > last + 1:  # the last round was left in its middle
        rounds.append(steps[last:end])
    else:
        end = last
    yield from fold_steps(steps[:first], loops)
    yield _loop_rounds(header, rounds, loops)
    if end == last:  # the look that ends the loop
        yield steps[last]
        end = last + 1
    yield from fold_steps(steps[end:], loops)


def _loop_header(steps: Sequence[CallLine], loops: Collection[int] | None) -> int | None:
    """Find the first line of the outermost loop."""
    visited: set[int] = set()
    targets = set()
    before = 0
    for step in steps:
        is_header = loops is None or step.line in loops
        if is_header and step.line in visited and step.line <= before:
            targets.add(step.line)
        visited.add(step.line)
        before = step.line
    return min(targets, default=None)


def _loop_rounds(
    header: int, rounds: Sequence[Sequence[CallLine]], loops: Collection[int] | None
) -> LoopRounds:
    groups: dict[tuple[int, ...], list[int]] = {}
    shaped = [tuple(_round_path(one)) for one in rounds]
    for number, path in enumerate(shaped):
        groups.setdefault(path, []).append(number)
    ranked = sorted(groups.items(), key=lambda group: (-len(group[1]), group[1][0]))
    shapes = tuple(
        RoundShape(
            count=len(numbers),
            first_round=numbers[0] + 1,
            lines=path,
            first=tuple(_fold_inner(rounds[numbers[0]], loops)),
            last=tuple(_fold_inner(rounds[numbers[-1]], loops)) if len(numbers) > 1 else (),
        )
        for path, numbers in ranked[:_SHAPES]
    )
    texts: dict[str, list[str]] = {}
    for one in rounds:
        for step in one:
            for change in step.changes:
                if change.new is not None:
                    texts.setdefault(change.name, []).append(change.new)
    return LoopRounds(header, len(rounds), shapes, max(len(ranked) - _SHAPES, 0), vary_each(texts))


def _round_path(steps: Sequence[CallLine]) -> Iterator[int]:
    """Return the lines of a round, with each inner loop's lines once."""
    visited: set[int] = set()
    for step in steps:
        if step.line not in visited:
            visited.add(step.line)
            yield step.line


def _fold_inner(steps: Sequence[CallLine], loops: Collection[int] | None) -> Iterator[Item]:
    """Fold the inside of a round: its own first line begins no loop there."""
    yield steps[0]
    yield from fold_steps(steps[1:], loops)


# -- branches --------------------------------------------------------------------------------------


def _count_decisions(
    call: CallNode, steps: Sequence[CallLine], branches: Mapping[int, LineBranch]
) -> tuple[LineDecision, ...]:
    taken: dict[int, dict[int, int]] = {}

    def take(line: int, to: int) -> None:
        counts = taken.setdefault(line, {})
        counts[to] = counts.get(to, 0) + 1

    reported = [one for one in call.steps if isinstance(one, LineBranched)]
    for one in reported:
        take(one.line, one.to)
    if not reported:
        for step, after in pairwise(steps):
            if step.line in branches:
                take(step.line, _branch_side(branches[step.line], after.line))
    return tuple(
        LineDecision(line, tuple(counts.items()), _never_taken(branches.get(line), counts))
        for line, counts in sorted(taken.items())
    )


def _branch_side(branch: LineBranch, to: int) -> int:
    return to if to == branch.then else branch.otherwise


def _never_taken(branch: LineBranch | None, counts: Mapping[int, int]) -> tuple[int, ...]:
    if branch is None:
        return ()
    return tuple(side for side in (branch.then, branch.otherwise) if side not in counts)
