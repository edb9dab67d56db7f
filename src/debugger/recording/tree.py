"""Rebuilds the tree of calls from the order of their events. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from debugger.recording.model import (
    Branched,
    Changed,
    Entered,
    Merged,
    Passed,
    Raised,
    Recording,
    Returned,
    Skipped,
    Value,
)


class Call(Struct):
    """A call, or `count` of them that came the same way; made by `grow`, changed by nobody else.

    `steps` are its lines, what they changed, and the calls that they made, in order. `total_ns` of
    a call that has not ended reaches to the end of the recording; a generator's holds the time
    that it waited.
    """

    id: int
    function: int
    thread: int = 0
    at: int = 0
    line: int = 0
    count: int = 1
    raised: int = 0
    total_ns: int = 0
    arguments: tuple[Value, ...] = ()
    value: str | None = None
    errors: list[Raised] = field(default_factory=list)
    has_ended: bool = False
    is_merged: bool = False
    parent: Call | None = None
    children: list[Call] = field(default_factory=list)
    steps: list[Passed | Changed | Skipped | Branched | Call] = field(default_factory=list)

    @property
    def self_ns(self) -> int:
        """The time that was spent in none of the calls it made."""
        return max(self.total_ns - sum(child.total_ns for child in self.children), 0)


def grow(recording: Recording) -> list[Call]:
    """Make the calls' trees of a recording: those that nobody recorded has called."""
    calls = _plant(recording)
    _fill(recording, calls)
    roots: list[Call] = []
    for one in calls.values():
        (one.parent.children if one.parent is not None else roots).append(one)
    for one in calls.values():
        one.children.sort(key=lambda child: (child.at, child.id))
    roots.sort(key=lambda root: (root.at, root.id))
    return roots


def _plant(recording: Recording) -> dict[int, Call]:
    """Make each call; its number is larger than that of the call that led to it."""
    calls: dict[int, Call] = {}
    parents: dict[int, int] = {}
    for event in recording.events:
        if isinstance(event, Entered):
            made = Call(
                id=event.call,
                function=event.function,
                thread=event.thread,
                at=event.at,
                line=event.line,
                arguments=event.arguments,
                total_ns=max(recording.took_ns - event.at, 0),
            )
        elif isinstance(event, Merged):
            made = Call(
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


def _fill(recording: Recording, calls: dict[int, Call]) -> None:
    for event in recording.events:
        call = calls.get(getattr(event, "call", 0))
        if call is None:
            continue
        if isinstance(event, Passed | Changed | Skipped | Branched):
            call.steps.append(event)
        elif isinstance(event, Returned):
            call.value, call.has_ended = event.value, True
            call.total_ns = max(event.at - call.at, 0)
        elif isinstance(event, Raised):
            call.errors.append(event)
            if not call.is_merged:
                call.raised, call.has_ended = 1, True
                call.total_ns = max(event.at - call.at, 0)
        elif isinstance(event, Entered) and call.parent is not None:
            call.parent.steps.append(call)


def walk(roots: Sequence[Call]) -> Iterator[Call]:
    """Give every call, each before those that it made, in the order of time."""
    waiting = list(reversed(roots))
    while waiting:
        call = waiting.pop()
        yield call
        waiting.extend(reversed(call.children))


def find(roots: Sequence[Call], number: int) -> Call | None:
    """Return the call of a number."""
    return next((call for call in walk(roots) if call.id == number), None)


def without(roots: Sequence[Call], left_out: frozenset[int]) -> tuple[list[Call], int]:
    """Leave out calls of some functions; what they called belongs to their callers then.

    Returns the trees, which are new, and how many calls were left out.
    """
    made: dict[int, Call] = {}
    found: list[Call] = []
    count = 0
    for call in walk(roots):
        if call.function in left_out:
            count += call.count
            continue
        parent = call.parent
        while parent is not None and parent.function in left_out:
            parent = parent.parent
        above = made.get(id(parent)) if parent is not None else None
        made[id(call)] = new = _copy(call, above)
        (above.children if above is not None else found).append(new)
    return found, count


def within(roots: Sequence[Call], begin: int, end: int) -> list[Call]:
    """Keep the calls that began between two times, and those around them; the trees are new."""
    made: dict[int, Call] = {}
    found: list[Call] = []
    for call in walk(roots):
        if not begin <= call.at <= end:
            continue
        chain: list[Call] = []
        above: Call | None = call
        while above is not None and id(above) not in made:
            chain.append(above)
            above = above.parent
        parent = made[id(above)] if above is not None else None
        for one in reversed(chain):
            made[id(one)] = new = _copy(one, parent)
            (parent.children if parent is not None else found).append(new)
            parent = new
    return found


def _copy(call: Call, parent: Call | None) -> Call:
    return Call(
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
