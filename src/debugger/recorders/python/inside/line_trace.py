"""Traces the lines of one test: the names that they bind, their changes, their calls.

The changes of each line of a program's function are stored while the function runs. Of functions
called by such a line the return value and the lines behind it are stored; `is_cut` marks a call
whose lines were dropped because there were too many. Objects of the program are not kept alive.
"""

from __future__ import annotations

import sys
from time import perf_counter_ns as now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType
    from typing import Any

_STEPS = 60  # of one function, the last ones
_CALLS = 12  # of one line, the last ones
_LEVELS = 12  # of calls in calls: then those within more than half as many are kept without lines
_LINES = 600  # of a call and of all in it; then those of its innermost calls are dropped
_STEPS_MAX = 6_000  # of a call that runs; then those of the calls of its first half are dropped
_SETUP_CALLS = 40  # that nobody called, as those of fixtures
_EVENTS = 300_000  # of one test; then it is traced no more
_SNAPSHOTS_NS = 4_000_000_000  # for changes in place; then only what names are bound to is noted
_OUTWARD = 60  # frames of a library between two of the program
_GLOBALS = 12  # globals of a function that are watched
_GENERATES = 0x20 | 0x200  # generators, also asynchronous ones
_COROUTINE = 0x80


class _TracedCall:
    """The lines of one running call as `[line, bound, calls, changed]`."""

    __slots__ = (
        "arguments",
        "code",
        "error",
        "given",
        "has_called",
        "idents",
        "known",
        "lines",
        "steps",
    )

    def __init__(
        self, code: CodeType | None, arguments: list[list[str]], idents: list[list[Any]]
    ) -> None:
        self.code = code
        self.arguments = arguments
        self.idents = idents
        self.lines = 0  # of the calls that its lines made, about
        self.known: dict[str, Any] = {}
        self.steps: list[list[Any]] = []
        self.given = 0  # of a generator: the steps that its callers know
        self.has_called = False
        self.error: BaseException | None = None

    def begin_step(self, line: int) -> None:
        """Begin a line; in a long call the first lines are dropped."""
        self.has_called = False
        self.steps.append([line, [], [], []])
        # In blocks of `_STEPS`, since a deletion at the front costs as much as the list is long.
        if len(self.steps) > 2 * _STEPS:
            del self.steps[:_STEPS]
            self.given = max(0, self.given - _STEPS)

    def add_call(self, call: dict[str, Any], most: int) -> None:
        """Record a call that the last line made."""
        # A call can only belong to the line that runs.
        calls = self.steps[-1][2]
        calls.append(call)
        del calls[:-most]
        self.lines += call["lines"]
        if self.lines > _STEPS_MAX:
            half = len(self.steps) // 2
            self.steps[:half] = _without_lines(self.steps[:half], 0)
            self.lines = _count_lines(self.steps)


class LineTrace:
    """Traces this thread for one test; `limit` is the reason for an incomplete trace."""

    def __init__(
        self,
        is_ours: Callable[[CodeType], bool],
        place: Callable[[FrameType, int], dict[str, Any]],
        write: Any,
        parts: Any,
        on_fault: Callable[[Exception], None],
    ) -> None:
        self._is_ours = is_ours
        self._place = place
        self._write = write
        self._parts = parts
        self._on_fault = on_fault
        self._lines: dict[CodeType, frozenset[int] | None] = {}
        self._others: Any = None  # the tracer that was set, as a coverage tool's
        self.tracer: Any = self._on_call  # always the same object, to be compared
        self.reset()

    def reset(self) -> None:
        """Drop all records."""
        self._calls: dict[int, _TracedCall] = {}
        self._events = self._spent = 0
        self._is_setup = False
        self._setup = _TracedCall(None, [], [])
        self._setup.begin_step(0)
        self.limit = ""

    def begin_setup(self) -> None:
        """Begin to trace the setup of a test."""
        self.reset()
        self._is_setup = True
        self._start_tracing()

    def begin(self) -> None:
        """Begin to trace a test; the record of its setup is kept."""
        if not self._is_setup:
            self.reset()
        self._is_setup = False
        self._events = self._spent = 0
        self._start_tracing()

    def _start_tracing(self) -> None:
        """Set the trace function; another tracer is suspended until the end."""
        self._others = sys.gettrace()
        sys.settrace(self.tracer)

    def end(self) -> None:
        """Stop tracing, and restore the other tracer; the records are kept."""
        # The test may have set a tracer of its own, which is left alone.
        if sys.gettrace() in (self.tracer, None):
            sys.settrace(self._others)
        self._others = None

    def steps(self, frame: FrameType) -> list[Any]:
        """Return the lines of a frame that had an effect."""
        call = self._calls.get(id(frame))
        if call is None or call.code is not frame.f_code:
            return []
        return [one for one in call.steps if one[1] or one[2] or one[3]]

    def setup_calls(self) -> list[dict[str, Any]]:
        """Return the calls without a traced caller, which are those of a test's setup."""
        calls: list[dict[str, Any]] = self._setup.steps[-1][2]
        return calls

    def idents(self, values: dict[str, Any]) -> list[list[Any]]:
        """Return the numbers of the objects of names; for a method's object its class's too."""
        found = []
        for name, value in list(values.items()):
            if not self._parts.is_fixed(value):
                found.append([name, id(value)])
            if name == "self":
                # A method may change its class's attributes.
                found.append([name, id(type(value))])
        return found

    # -- events ----------------------------------------------------------------------------------

    def _on_call(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        code = frame.f_code
        try:
            if not self._is_ours(code) or self._parts.looks_at_itself(code):
                return None
            self._events += 1
            if self._events > _EVENTS:
                self._give_up()
                return None
            call = self._calls.get(id(frame))
            is_new = call is None or call.code is not code
            if is_new or self._parts.is_entered(code, frame.f_lasti):
                given = self._parts.arguments(code, frame)
                texts = [[name, self._write(one)] for name, one in list(given.items())[:6]]
                self._calls[id(frame)] = _TracedCall(code, texts, self.idents(given))
            elif call is not None:
                # What changed while it was suspended is no line's of its own.
                # Only the snapshots are renewed.
                self._note_changes(call, frame, is_blamed=False)
                call.begin_step(frame.f_lineno or 0)
        except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
            self._note_fault(error)
            return None
        return self._on_line

    def _on_line(self, frame: FrameType, event: str, argument: Any) -> Any:
        try:
            self._events += 1
            call = self._calls.get(id(frame))
            if self._events > _EVENTS:
                self._give_up()
            if call is None or self._events > _EVENTS:
                return None
            if event == "line":
                self._note_changes(call, frame)
                call.error = None
                call.begin_step(frame.f_lineno)
            elif event == "exception":
                self._note_changes(call, frame)
                call.error = argument[1]
            elif event == "return":
                self._note_return(call, frame, argument)
        except Exception as error:  # noqa: BLE001
            self._note_fault(error)
            return None
        return self._on_line

    def _give_up(self) -> None:
        """Stop tracing this test and drop its records, because they end too early."""
        # From here on no event comes, and the program runs at full speed.
        sys.settrace(None)
        self._calls = {}
        what = "its setup" if self._is_setup else "the test"
        self.limit = f"{what} passed more than {_EVENTS:,} lines"

    def _note_fault(self, error: Exception) -> None:
        sys.settrace(None)
        self.limit = "the recorder failed"
        self._on_fault(error)

    # -- what a line changed ---------------------------------------------------------------------

    def _note_changes(self, call: _TracedCall, frame: FrameType, *, is_blamed: bool = True) -> None:
        """Record the bindings and changes in place of the line that a frame leaves."""
        code = frame.f_code
        step = call.steps[-1] if call.steps and is_blamed else None
        # A snapshot costs more than most lines, so one is taken only after instructions that can
        # change an object, or after a call.
        may_write = self._spent <= _SNAPSHOTS_NS and (
            step is None or call.has_called or self._may_write(code, step[0])
        )
        outer = self._read_globals(code, frame)
        values = {**outer, **self._parts.variables(code, frame)}
        for name, value in values.items():
            before = call.known.get(name)
            is_fixed = self._parts.is_fixed(value)
            # The same object as before, and nothing that could have changed it.
            if before is not None and before.ident == id(value) and (is_fixed or not may_write):
                continue
            after = self._take_snapshot(value, is_fixed)
            call.known[name] = after[0]
            if step is None or not name.isidentifier():
                continue
            if before is None or before.is_other(after[0]):
                self._note_bound(step, code, frame, (name, value), before, is_global=name in outer)
            elif len(step[3]) < _CALLS:
                step[3] += self._changes_within(name, before, *after)
        for name in [one for one in call.known if one not in values]:
            del call.known[name]

    def _may_write(self, code: CodeType, line: int) -> bool:
        if code not in self._lines:
            self._lines[code] = self._parts.writing_lines(code)
        lines = self._lines[code]
        return lines is None or line in lines

    def _read_globals(self, code: CodeType, frame: FrameType) -> dict[str, Any]:
        """Return the globals that a function reads, without functions and classes."""
        if code.co_name == "<module>":
            return {}
        found = {}
        for name in code.co_names:
            value = frame.f_globals.get(name, self)
            if (
                value is self
                or id(type(value)) in self._parts.OPAQUE
                or issubclass(type(value), type)
            ):
                continue
            found[name] = value
            if len(found) == _GLOBALS:
                break
        return found

    def _take_snapshot(self, value: Any, is_fixed: bool) -> tuple[Any, dict[int, Any]]:  # noqa: FBT001
        objects: dict[int, Any] = {}
        if is_fixed or self._spent > _SNAPSHOTS_NS:  # no change is looked for any more
            return self._parts.SnapshotNode(value), objects
        began = now()
        node = self._parts.snapshot(value, self._parts.fields, objects)
        self._spent += now() - began
        if self._spent > _SNAPSHOTS_NS and not self.limit:
            self.limit = "changes in place were looked for in its first lines only: it has too many"
        return node, objects

    def _note_bound(
        self,
        step: list[Any],
        code: CodeType,
        frame: FrameType,
        named: tuple[str, Any],
        before: Any,
        *,
        is_global: bool,
    ) -> None:
        name, value = named
        text = self._write(value)
        if is_global or name in code.co_freevars or name in code.co_cellvars:
            # A call may have bound it: its lines are found by who holds the name.
            old = self._write(before.scalar[0]) if before is not None and before.scalar else None
            holder = id(frame.f_globals) if is_global else 0
            # As a change of its holder, since another function may read the name.
            step[3].append([name, "", old, text, holder, name])
        elif len(step[1]) < _CALLS:
            step[1].append([name, text, id(value)])

    def _changes_within(
        self, name: str, before: Any, after: Any, objects: dict[int, Any]
    ) -> list[list[Any]]:
        found = []
        for one in self._parts.differences(before, after)[:_CALLS]:
            old = self._write(one.old.scalar[0]) if one.old is not None and one.old.scalar else None
            new = None if one.new is None else self._write(objects.get(one.new.ident))
            found.append([name, one.path, old, new, one.holder, one.key])
        return found

    # -- what a call gave ------------------------------------------------------------------------

    def _note_return(self, call: _TracedCall, frame: FrameType, value: Any) -> None:
        """Attach a call's result, with the lines behind it, to its caller's line."""
        self._note_changes(call, frame)
        code = frame.f_code
        last = self._parts.last_instruction(code, frame.f_lasti)
        is_raised = call.error is not None and value is None and last not in self._parts.RETURNS
        flags = code.co_flags
        is_suspended = last in self._parts.YIELDS and flags & (_GENERATES | _COROUTINE)
        # An await is no result: the coroutine continues later in the same frame.
        if is_suspended and not is_raised and flags & _COROUTINE:
            return
        if not is_suspended and not is_raised:
            self._calls.pop(id(frame), None)  # one that failed is told of when the test has
        caller = self._traced_caller(frame)
        is_outermost = caller is None
        if caller is None and not is_raised:  # else it is the test itself
            caller = self._setup
        if caller is None or not caller.steps:
            return
        caller.has_called = True
        own = call.steps[call.given :][-_STEPS:]
        steps = _limit_steps([one for one in own if one[1] or one[2] or one[3]])
        call.given = len(call.steps)
        if flags & _GENERATES and not is_suspended and not is_raised and not steps:
            return  # it has come to its end
        error = call.error if is_raised else None
        call.error = None
        text = self._write(value)
        if error is not None:
            message = self._write.raised(error)
            text = f"raised {type(error).__name__}{': ' if message else ''}{message}"
        place = self._place(frame, frame.f_lineno)
        record = {**place, "value": text, "arguments": call.arguments, "steps": steps}
        record.update(lines=_count_lines(steps), levels=_count_levels(steps), idents=call.idents)
        record.update(ident=0 if self._parts.is_fixed(value) else id(value), is_cut=False)
        caller.add_call(record, _SETUP_CALLS if is_outermost else _CALLS)

    def _traced_caller(self, frame: FrameType) -> _TracedCall | None:
        """Return the nearest traced caller; library calls may be in between."""
        outer = frame.f_back
        for _ in range(_OUTWARD):
            if outer is None:
                return None
            call = self._calls.get(id(outer))
            if call is not None and call.code is outer.f_code:
                return call
            outer = outer.f_back
        return None


def _count_lines(steps: list[Any]) -> int:
    within: int = sum(call["lines"] for one in steps for call in one[2])
    return len(steps) + within


def _count_levels(steps: list[Any]) -> int:
    most: int = max((call["levels"] for one in steps for call in one[2]), default=0)
    return 1 + most


def _limit_steps(steps: list[Any]) -> list[Any]:
    """Drop the lines of the innermost calls if there are too many."""
    if _count_levels(steps) <= _LEVELS and _count_lines(steps) <= _LINES:
        return steps
    for levels in (_LEVELS // 2, 4, 3, 2, 1):
        found = _without_lines(steps, levels)
        if _count_lines(found) <= _LINES:
            return found
    return _without_lines(steps, 0)


def _without_lines(steps: list[Any], levels: int) -> list[Any]:
    """Drop the lines of calls more than `levels` deep."""
    return [
        [line, bound, [_without_own(one, levels) for one in calls], changed]
        for line, bound, calls, changed in steps
    ]


def _without_own(call: dict[str, Any], levels: int) -> dict[str, Any]:
    if not call["steps"]:
        return call
    steps = _without_lines(call["steps"], levels - 1) if levels else []
    found = {**call, "steps": steps, "is_cut": call["is_cut"] or not levels}
    found.update(lines=_count_lines(steps), levels=_count_levels(steps) if steps else 0)
    return found
