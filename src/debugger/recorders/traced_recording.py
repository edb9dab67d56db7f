"""Rebuilds a recording from the calls and returns of traced functions. Pure.

A function that was left by an exception or a jump has no return event: it counts as left when one
of its callers returns. Neither has a call made while 512 calls of its thread are open: the tracer's
stack is full then.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from msgspec import structs

from debugger.model.events import Event, EventKind
from debugger.recorders.model import (
    CallEntered,
    CallRaised,
    CallReturned,
    CallsMerged,
    RecordedFunction,
    RecordedProcess,
    RecordedValue,
    Recording,
)
from debugger.recorders.model import Event as Recorded

_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
_OPEN, _CLOSE = "([{<", ")]}>"
_EXITS = ("left", "without a return: by an exception or a jump")
RETURNS_MAX = 512  # calls of a thread that are under way, and whose returns are seen
_DEEPER = ("left", f"its return is not seen: it is more than {RETURNS_MAX} calls deep")
NATIVE = "native"  # the language of recordings whose calls are traced, and not the lines
# The function in which a program is stopped before its calls are traced.
_ENTRY = re.compile(r"(\w+::)?main")


def is_entry(name: str) -> bool:
    """Return whether a function is the one in which the recording begins."""
    return _ENTRY.fullmatch(name) is not None


def make_recording(
    passages: Iterable[Event],
    *,
    language: str,
    is_compared: bool = False,
    skipped: Mapping[str, int] | None = None,
) -> Recording:
    """Build a recording from the events of traced functions, in order.

    For a comparison all addresses become equal, because they differ from run to run. `skipped`
    counts unreported calls by function: they are added where the function's reported calls are,
    unless those have several callers.
    """
    made = _RecordingBuilder(skipped or {}, is_compared=is_compared)
    for one in passages:
        made.add_event(one)
    if skipped:
        made.add_skipped()
    return Recording(
        process=RecordedProcess(language=language),
        functions={one.number: one for one in made.functions.values()},
        threads=dict.fromkeys(made.stacks, ""),
        events=tuple(made.events),
        seen=made.calls,
        chosen=made.calls,
        took_ns=made.last,
        is_whole=True,
    )


class _RecordingBuilder:
    """Builds a recording from trace events."""

    def __init__(self, skipped: Mapping[str, int], *, is_compared: bool) -> None:
        self._is_compared = is_compared
        self._skipped = skipped
        # By name: the last reported call of a function of which others were skipped, and what
        # stands for the skipped calls in which traced functions were called.
        self._sampled: dict[str, CallEntered] = {}
        self._callers: dict[str, CallsMerged] = {}
        self.functions: dict[tuple[str, str, int], RecordedFunction] = {}
        self.stacks: dict[int, list[tuple[int, int]]] = {}  # by thread: calls and functions
        self.deeper: dict[int, list[int]] = {}  # by thread: calls around which no return is seen
        self.events: list[Recorded] = []
        self.calls = 0
        self._number = 0  # the last one of a call, or of what stands for several
        self.last = 0
        self._began: int | None = None

    def add_event(self, event: Event) -> None:
        """Add the next event."""
        if event.kind not in {EventKind.FUNCTION_ENTER, EventKind.FUNCTION_EXIT}:
            return
        if self._began is None:
            self._began = event.time_ns
        at = max(event.time_ns - self._began, 0)
        self.last = max(self.last, at)
        number = self._function_of(event).number
        stack = self.stacks.setdefault(event.thread or 0, [])
        if event.kind is EventKind.FUNCTION_ENTER:
            self._enter_call(event, number, at, stack)
        elif any(function == number for _, function in stack):
            self._leave_deeper(event.thread or 0, at)
            self._leave_call(event, number, at, stack)

    def _function_of(self, event: Event) -> RecordedFunction:
        key = (event.function or "?", event.file or "", event.line or 0)
        found = self.functions.get(key)
        if found is None:
            found = self.functions[key] = RecordedFunction(len(self.functions) + 1, *key)
        return found

    def _enter_call(self, event: Event, number: int, at: int, stack: list[tuple[int, int]]) -> None:
        deeper = self.deeper.setdefault(event.thread or 0, [])
        parent = deeper[-1] if deeper else stack[-1][0] if stack else 0
        parent = self._find_skipped_caller(event, stack) or parent
        self.calls += 1
        call = self._next_number()
        given = parse_arguments(event.text, event.function or "")
        values = tuple(RecordedValue(one.name, self._value_text(one.text or "")) for one in given)
        thread = event.thread or 0
        entered = CallEntered(call, parent, number, thread, at, 0, values)
        self.events.append(entered)
        if event.function is not None and event.function in self._skipped:
            self._sampled[event.function] = entered
        # The tracer reports no returns of calls that are nested this deep.
        if len(stack) >= RETURNS_MAX:
            deeper.append(call)
        else:
            stack.append((call, number))

    def _next_number(self) -> int:
        self._number += 1
        return self._number

    def _find_skipped_caller(self, event: Event, stack: list[tuple[int, int]]) -> int | None:
        """Return the number of what stands for the skipped calls of the function that called.

        None where the caller's call was reported.
        """
        name = str(event.data.get("caller", ""))
        last = self._sampled.get(name)
        if last is None or any(function == last.function for _, function in stack):
            return None
        if name not in self._callers:
            self._callers[name] = CallsMerged(
                self._next_number(), last.parent, last.function, last.thread, last.at, 0
            )
            self.events.append(self._callers[name])
        known = self._callers[name]
        self._callers[name] = structs.replace(known, count=known.count + 1)
        return known.call

    def _leave_deeper(self, thread: int, at: int) -> None:
        deeper = self.deeper.get(thread, [])
        self.events += [CallRaised(call, at, *_DEEPER) for call in reversed(deeper)]
        deeper.clear()

    def _leave_call(self, event: Event, number: int, at: int, stack: list[tuple[int, int]]) -> None:
        # Calls above it have ended without a return: by an exception or a jump.
        while stack[-1][1] != number:
            call, _ = stack.pop()
            self.events.append(CallRaised(call, at, *_EXITS))
        call, _ = stack.pop()
        returned = self._value_text(str(event.data.get("returned", "")))
        self.events.append(CallReturned(call, at, returned))

    def add_skipped(self) -> None:
        """Add calls that were only counted, callers before callees."""
        ways: dict[tuple[int, int], int] = {}  # number of the way to the caller, function
        taken, last = {0: 0}, dict[int, CallEntered]()  # by call; by way
        for one in self.events:
            if isinstance(one, CallEntered | CallsMerged):
                way = ways.setdefault((taken[one.parent], one.function), len(ways) + 1)
                taken[one.call] = way
                if isinstance(one, CallEntered):
                    last[way] = one
        self.events += self._callers.values()
        names = {one.number: one.name for one in self.functions.values()}
        counts = Counter(names[function] for _, function in ways)
        merged: dict[int, int] = {}  # by way: what stands for its skipped calls
        for (above, function), way in ways.items():
            name, known = names[function], last[way]
            # With several callers it is unknown to which the counted calls belong.
            if name not in self._skipped or counts[name] != 1:
                continue
            if (caller := self._callers.get(name)) is not None:
                number, parent = caller.call, caller.parent
            else:
                number, parent = self._next_number(), merged.get(above, known.parent)
            merged[way] = number
            count = self._skipped[name]
            self.events.append(CallsMerged(number, parent, function, known.thread, known.at, count))

    def _value_text(self, value: str) -> str:
        return _ADDRESS.sub("0x…", value) if self._is_compared else value


def parse_arguments(text: str, function: str) -> Iterator[RecordedValue]:
    """Parse the arguments in `add(a=1, b="x, y")`."""
    inner = text.removeprefix(function)
    if not inner.startswith("(") or not inner.endswith(")"):
        return
    for part in _split_commas(inner[1:-1]):
        name, equals, value = part.partition("=")
        if equals:
            yield RecordedValue(name.strip(), value)


def _split_commas(text: str) -> Iterator[str]:
    """Split at commas outside of brackets and quotes."""
    depth, start, quote, is_escaped = 0, 0, "", False
    for at, letter in enumerate(text):
        if is_escaped:
            is_escaped = False
        elif quote:
            is_escaped = letter == "\\"
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in _OPEN:
            depth += 1
        elif letter in _CLOSE:
            depth -= 1
        elif letter == "," and depth <= 0:
            yield text[start:at].strip()
            start = at + 1
    if text[start:].strip():
        yield text[start:].strip()
