"""What was seen of each test that failed: its frames' values, and the lines that made them?

While a test's own part runs, its thread is traced: of the program's functions what each line
changed is kept for as long as they run, and of those that a line called what they returned, and
by which lines. A tracer of the program's own (a coverage tool) is left alone.
"""

from __future__ import annotations

import sys
from time import time_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType, TracebackType
    from typing import Any

_FRAMES = 8
_WHOLE = 3  # failures of one process that are told with their values
_STEPS = 60  # of one function, the last ones
_INNER = 12  # of one that such a one called
_CALLS = 12  # of one line, the last ones
_EVENTS = 300_000  # of one test; then it is traced no more
_LOCALS = 40
_MESSAGE = 2000
_CAUSES = 4
_SIZED = (list, dict, set, bytearray)


class _Traced:
    """What the lines of one running call have done: `[line, changes, calls]` of each step."""

    __slots__ = ("at", "known", "steps")

    def __init__(self) -> None:
        self.at = 0
        self.known: dict[str, tuple[Any, int]] = {}
        self.steps: list[list[Any]] = []


class Tested:
    """The failures of one process's tests."""

    def __init__(self, order: dict[str, Any], journal: Any, write: Any, parts: Any) -> None:
        self._journal = journal
        self._write = write
        self._parts = parts
        self._chosen = parts.Chosen(order)
        self._name_of = parts.name_of
        self._ours: dict[CodeType, bool] = {}
        self._depth = 0
        self.reset()

    def reset(self) -> None:
        """Forget what was seen, as a forked child does."""
        self._calls: dict[int, _Traced] = {}
        self._events = self._count = 0

    def note(self, kind: str, text: str) -> None:
        """Write down something about the recording itself."""
        self._journal.write(["n", kind, 0, text], last=True)

    def begin(self) -> bool:
        """Wait for a runner to be imported."""
        self._parts.install(self)
        return True

    def end(self) -> None:
        """Write the end, of which nothing more is to be told."""

    # One test.

    def enter(self, name: str) -> None:
        """Begin to trace this thread, where nobody else does."""
        self._depth += 1
        if self._depth == 1:
            self._journal.write(["n", "test", 0, name[:400]])
        if self._depth == 1 and sys.gettrace() is None:
            self._calls, self._events = {}, 0
            sys.settrace(self._called)

    def leave(self) -> None:
        """Trace no more; what was seen stays until the next test."""
        self._depth -= 1
        if self._depth == 0 and sys.gettrace() == self._called:
            sys.settrace(None)

    def failed(self, runner: str, name: str, phase: str, error: BaseException) -> None:
        """Write down a test that failed, or what could not be collected."""
        tracer = sys.gettrace()
        if tracer == self._called:
            sys.settrace(None)
        try:
            self._count += 1
            self._journal.write(["T", self._told(runner, name, phase, error)], last=True)
        except Exception as fault:  # noqa: BLE001 - ours, and not to become the program's
            self.note("fault", f"{type(fault).__name__}: {fault}")
        finally:
            if tracer == self._called:
                sys.settrace(tracer)

    def _told(self, runner: str, name: str, phase: str, error: BaseException) -> dict[str, Any]:
        frames = self._frames(error.__traceback__)
        own = [(one, line) for one, line in frames if self._is_ours(one.f_code)]
        shown = [(one, line) for one, line in own if not _is_hidden(one)] or own
        inner = frames[-1] if frames else None
        is_whole = self._count <= _WHOLE
        return {
            "runner": runner,
            "name": name[:400],
            "phase": phase,
            "time_ns": time_ns(),
            "type": type(error).__name__,
            "message": self._said(error),
            "is_assertion": isinstance(error, AssertionError)
            or type(error).__name__ in ("Failed", "FailureException"),
            "causes": self._causes(error),
            "frames": [
                *self._unread(error),
                *[self._frame(*one, is_whole=is_whole) for one in shown[::-1][:_FRAMES]],
            ],
            "total": len(frames),
            "inside": None if inner is None or inner in own else self._place(*inner),
        }

    def _frames(self, trace: TracebackType | None) -> list[tuple[FrameType, int]]:
        found = []
        while trace is not None:
            found.append((trace.tb_frame, trace.tb_lineno))
            trace = trace.tb_next
        return found

    def _said(self, error: BaseException) -> str:
        arguments = BaseException.__dict__["args"].__get__(error)
        if arguments and type(arguments[0]) is str and len(arguments) == 1:
            return str(arguments[0])[:_MESSAGE]
        message = getattr(error, "msg", None)  # pytest.fail, and SyntaxError
        return message[:_MESSAGE] if type(message) is str else self._write.raised(error)

    def _causes(self, error: BaseException) -> list[str]:
        found: list[str] = []
        seen = {id(error)}
        one = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        while one is not None and id(one) not in seen and len(found) < _CAUSES:
            seen.add(id(one))
            found.append(f"{type(one).__name__}: {self._said(one)[:300]}")
            one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
        return found

    def _unread(self, error: BaseException) -> list[dict[str, Any]]:
        """Return the place of what is no Python: it was never run."""
        if not isinstance(error, SyntaxError) or not error.filename:
            return []
        file = self._chosen.file(error.filename)
        return [{"function": "<module>", "file": file, "line": error.lineno or 1}] if file else []

    def _place(self, frame: FrameType, line: int) -> dict[str, Any]:
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name).replace("<locals>.", "")
        file = self._chosen.file(code.co_filename) or code.co_filename
        return {"function": name, "file": file, "line": line or 0}

    def _frame(self, frame: FrameType, line: int, *, is_whole: bool) -> dict[str, Any]:
        told: dict[str, Any] = {**self._place(frame, line), "locals": [], "steps": []}
        if not is_whole:
            return told
        held = frame.f_locals
        names = [
            one
            for one in list(held)
            if one.isidentifier() and not (frame.f_globals is held and one.startswith("__"))
        ]
        told["locals"] = [[one, self._write(held[one])] for one in names[:_LOCALS]]
        traced = self._calls.get(id(frame))
        if traced is not None:
            told["steps"] = [one for one in traced.steps if one[1] or one[2]]
        return told

    # What the lines did.

    def _is_ours(self, code: CodeType) -> bool:
        known = self._ours.get(code)
        if known is None:
            known = self._ours[code] = self._chosen.is_ours(code)
        return known

    def _called(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        code = frame.f_code
        try:
            if not self._is_ours(code) or self._parts.looks_at_itself(code):
                return None
            self._events += 1
            if self._events > _EVENTS:
                self._give_up()
                return None
            if id(frame) not in self._calls or frame.f_lasti < 0:
                self._calls[id(frame)] = _Traced()
        except Exception as error:  # noqa: BLE001 - see above
            self._fault(error)
            return None
        return self._stepped

    def _stepped(self, frame: FrameType, event: str, argument: Any) -> Any:
        try:
            self._events += 1
            traced = self._calls.get(id(frame))
            if self._events > _EVENTS:
                self._give_up()
            if traced is None or self._events > _EVENTS:
                return None
            if event == "line":
                self._changed(traced, frame)
                traced.at = frame.f_lineno
                traced.steps.append([traced.at, [], []])
                if len(traced.steps) > 2 * _STEPS:
                    del traced.steps[:_STEPS]
            elif event == "exception":
                self._changed(traced, frame)
            elif event == "return":
                self._returned(traced, frame, argument)
        except Exception as error:  # noqa: BLE001
            self._fault(error)
            return None
        return self._stepped

    def _give_up(self) -> None:
        """Trace this test no more; what was seen of it is no longer the last."""
        sys.settrace(None)
        self._calls = {}

    def _changed(self, traced: _Traced, frame: FrameType) -> None:
        """Note which of a frame's names the line that it comes from has bound anew."""
        held = self._parts.variables(frame.f_code, frame)
        step = traced.steps[-1] if traced.steps else None
        for name, value in held.items():
            size = len(value) if type(value) in _SIZED else 0
            before = traced.known.get(name)
            if before is not None and before[0] is value and before[1] == size:
                continue
            traced.known[name] = (value, size)
            if step is not None and name.isidentifier() and len(step[1]) < _CALLS:
                step[1].append([name, self._write(value)])

    def _returned(self, traced: _Traced, frame: FrameType, value: Any) -> None:
        """Tell the caller's line what a call of its gave, and by which lines."""
        self._changed(traced, frame)
        caller = self._calls.get(id(frame.f_back))
        traced.known.clear()
        if caller is None or not caller.steps:
            return
        calls = caller.steps[-1][2]
        # Of what those called the last lines are kept; of what these called, only what it gave.
        steps = [
            [line, changes, [{**one, "steps": _alone(one["steps"])} for one in inner]]
            for line, changes, inner in traced.steps[-_STEPS:]
            if changes or inner
        ]
        place = self._place(frame, frame.f_lineno)
        given = self._parts.arguments(frame.f_code, frame)
        calls.append(
            {
                **place,
                "value": self._write(value),
                "arguments": [[name, self._write(one)] for name, one in list(given.items())[:6]],
                "steps": steps,
            }
        )
        del calls[:-_CALLS]

    def _fault(self, error: Exception) -> None:
        sys.settrace(None)
        self.note("fault", f"{type(error).__name__}: {error}")


def _alone(steps: list[Any]) -> list[Any]:
    return [
        [line, changes, [{**one, "steps": []} for one in inner]]
        for line, changes, inner in steps[-_INNER:]
    ]


def _is_hidden(frame: FrameType) -> bool:
    """Tell whether a helper of the tests wants not to be shown, by pytest's convention."""
    return bool(frame.f_locals.get("__tracebackhide__") is True)
