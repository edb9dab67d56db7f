"""Rebuilds the tree of calls from the order of their events. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from debugger.recorders.model import (
    CallEntered,
    CallRaised,
    CallReturned,
    CallsMerged,
    LineBranched,
    LinePassed,
    LinesSkipped,
    RecordedValue,
    Recording,
    ValuesChanged,
)


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
