"""Models a run in which each statement and each change of a value was recorded. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

HASH_DEFAULT = "(default)"  # among the elements of a hash of Ruby
Path = tuple[str, ...]  # a name, and the keys behind it


class Step(Struct, frozen=True):
    """A statement that began: its number, its call, and its place in the records."""

    number: int
    call: int
    line: int
    index: int


class PassedValue(Struct, frozen=True):
    """A value as text, and the number of its object, 0 for a plain value."""

    text: str | None
    object: int = 0


class Change(Struct, frozen=True):
    """A change of a value; `scanned` is the number of the last statement before it for sure."""

    index: int
    owner: str
    path: Path
    value: PassedValue
    old: str | None
    # -1: the value was there when its owner was first seen.
    scanned: int


class StepCall(Struct):
    """A call of a function, with what it was passed and what it returned."""

    number: int
    parent: int
    function: int
    line: int
    index: int
    arguments: tuple[tuple[str, PassedValue], ...] = ()
    receiver: int = 0
    result: PassedValue | None = None
    result_line: int = 0
    end: int = 1 << 60
    is_thrown: bool = False  # an exception left it


class PlaceHit(Struct, frozen=True):
    """The place that was asked about was reached."""

    number: int
    call: int
    index: int
    value: PassedValue
    failure: str | None
    # Functions and lines, the innermost first.
    stack: tuple[tuple[int, int], ...]


class SourceFunction(Struct, frozen=True):
    """A function of the program."""

    name: str
    file: str
    line: int


class StepHistory:
    """The records of one process, ordered for questions about the past."""

    def __init__(self) -> None:
        self.pid = 0
        self.functions: dict[int, SourceFunction] = {}
        self.calls: dict[int, StepCall] = {}
        self.steps: list[Step] = []
        self.hits: list[PlaceHit] = []
        self.changes: dict[str, dict[Path, list[Change]]] = {}
        self.condition: str | None = None
        self.dropped = 0
        self._indexes: list[int] = []
        self._calls_of: dict[int, list[Step]] = {}
        self._children: dict[int, list[StepCall]] = {}

    def read(self, index: int, record: list[Any]) -> None:
        """Add one record; unknown ones are passed over."""
        match record:
            case ["p", call, number, line]:
                step = Step(number, call, line, index)
                self.steps.append(step)
                self._indexes.append(index)
                self._calls_of.setdefault(call, []).append(step)
            case ["w", owner, path, text, number, old, scanned]:
                change = Change(index, owner, tuple(path), PassedValue(text, number), old, scanned)
                self.changes.setdefault(owner, {}).setdefault(change.path, []).append(change)
            case ["c", number, parent, function, _, _, line, pairs]:
                given = tuple((name, PassedValue(text, one)) for name, text, one in pairs)
                call = StepCall(number, parent, function, line, index, given)
                self.calls[number] = call
                self._children.setdefault(parent, []).append(call)
            case ["o", number, receiver] if number in self.calls:
                self.calls[number].receiver = receiver
            case ["r", number, _, text, receiver, line] if number in self.calls:
                self.calls[number].result = PassedValue(text, receiver)
                self.calls[number].result_line = line
                self.calls[number].end = index
            case ["x", number, *_] if number in self.calls:
                self.calls[number].end = index
                self.calls[number].is_thrown = True
            case ["L", number, call, [text, one, failure], stack]:
                frames = tuple((function, line) for function, line in stack)
                value = PassedValue(text, one)
                self.hits.append(PlaceHit(number, call, index, value, failure, frames))
            case _:
                self._read_fact(record)

    def _read_fact(self, record: list[Any]) -> None:
        match record:
            case ["f", number, name, file, line]:
                self.functions[number] = SourceFunction(name, file, line)
            case ["begin", {"pid": pid}]:
                self.pid = pid
            case ["n", "condition", _, text]:
                self.condition = text
            case ["end", _, dropped, _, _]:
                self.dropped = dropped

    def is_thrown_from(self, call: int) -> bool:
        """Return whether an exception left a call."""
        found = self.calls.get(call)
        return found is not None and found.is_thrown

    def function_of(self, call: int) -> SourceFunction:
        """Return the function of a call; one without a name if its record was dropped."""
        found = self.calls.get(call)
        unknown = SourceFunction("?", "", 0)
        return self.functions.get(found.function, unknown) if found is not None else unknown

    def steps_of(self, call: int) -> list[Step]:
        """Return the statements of a call."""
        return self._calls_of.get(call, [])

    def children_of(self, call: int) -> list[StepCall]:
        """Return the calls that a call made of the program's own functions."""
        return self._children.get(call, [])

    def step_before(self, index: int) -> Step | None:
        """Return the last statement that began before a record."""
        at = bisect_right(self._indexes, index - 1)
        return self.steps[at - 1] if at else None

    def last_step(self, call: int, index: int) -> Step | None:
        """Return the last statement of a call that began before a record."""
        steps = self.steps_of(call)
        at = bisect_right(steps, index - 1, key=lambda one: one.index)
        return steps[at - 1] if at else None

    def calling_step(self, call: StepCall) -> Step | None:
        """Return the statement that made a call; of a thread's block it may be long over."""
        last = self.last_step(call.parent, call.index)
        if last is None or last.line == call.line:
            return last
        steps = [one for one in self.steps_of(call.parent) if one.index < call.index]
        return next((one for one in reversed(steps) if one.line == call.line), last)

    def settled(self, index: int) -> int:
        """Return the record before the statement that follows a change, with all changes beside."""
        at = bisect_right(self._indexes, index)
        return self._indexes[at] if at < len(self._indexes) else 1 << 60

    def steps_between(self, first: int, index: int) -> Iterator[Step]:
        """Yield the statements after one of a number and before a record, the last first."""
        at = bisect_right(self._indexes, index - 1)
        while at and self.steps[at - 1].number > first:
            at -= 1
            yield self.steps[at]

    def last_change(self, owner: str, path: Path, index: int) -> Change | None:
        """Return the last change of a value up to a record; of a part, that of what it is in."""
        known = self.changes.get(owner, {})
        for length in range(len(path), 0, -1):
            some = known.get(path[:length], [])
            at = bisect_right(some, index, key=lambda one: one.index)
            if at:
                return some[at - 1]
        return None

    def items_of(self, owner: str, path: Path, index: int) -> Iterator[Change]:
        """Yield the elements that a container has at a record."""
        for each in self.changes.get(owner, {}):
            is_item = len(each) == len(path) + 1 and each[:-1] == path
            if is_item and each[-1] != HASH_DEFAULT:
                found = self.last_change(owner, each, index)
                if found is not None and found.path == each and found.value.text is not None:
                    yield found


def parse_history(lines: Iterable[bytes]) -> StepHistory:
    """Parse one process's records; lines that are none are passed over."""
    found = StepHistory()
    for index, line in enumerate(lines):
        try:
            found.read(index, msgspec.json.decode(line, type=list[Any]))
        except msgspec.DecodeError:
            continue
    return found
