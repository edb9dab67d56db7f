"""Records the failed tests of one process: their frames' values, and the lines that made them.

All tests run unchanged, except for the one that the order names: its own part is traced. The order
may also name the only tests that are to run.
"""

from __future__ import annotations

import sys
from time import perf_counter_ns as now
from time import time_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType, TracebackType
    from typing import Any

_FRAMES = 8  # frames of a failure
_DETAILED = 3  # failures of one process that are told with their values
_LOCALS = 40  # variables of a frame
_MESSAGE = 2000  # characters
_CAUSES = 4  # chained exceptions
_NAME = 2000  # characters of a test's name


class FailureRecorder:
    """Records the failed tests of one process."""

    def __init__(self, order: dict[str, Any], journal: Any, write: Any, parts: Any) -> None:
        self._journal = journal
        self._write = write
        self._parts = parts
        self._chosen = parts.CodeChooser(order)
        self._name_of = parts.name_of
        self._ours: dict[int, tuple[CodeType, bool]] = {}  # by identity, kept alive
        self.only: dict[str, int] = {name: at for at, name in enumerate(order["only"])}
        self.is_again = bool(self.only)
        self._traced: str = order["traced"]
        self._trace = parts.LineTrace(
            self._is_ours, self._location_record, write, parts, self._note_fault
        )
        self._current = ""
        self._depth = 0
        self.reset()

    def reset(self) -> None:
        """Drop all records, as a forked child does."""
        self._began = now()
        self._trace.reset()
        self._count = 0

    def note(self, kind: str, text: str) -> None:
        """Write a note on the recording itself."""
        self._journal.write(["n", kind, 0, text], last=True)

    def begin(self) -> bool:
        """Install the hooks for test runners."""
        self._parts.install(self)
        return True

    def end(self) -> None:
        """Do nothing: all records are written at once."""

    # One test.

    def enter(self, name: str) -> None:
        """Begin a test, and tracing if the order names it."""
        self._depth += 1
        if self._depth > 1:
            return
        self._current = name
        self._journal.write(["n", "test", now() - self._began, name[:_NAME]])
        if name == self._traced:
            self._trace.begin()

    def enter_setup(self, name: str) -> None:
        """Begin the setup of a test, and tracing if the order names it."""
        if name == self._traced:
            self._trace.begin_setup()

    def leave_setup(self, name: str) -> None:
        """End the setup of a test."""
        if name == self._traced:
            self._trace.end()

    def leave(self) -> None:
        """End a test; its trace is kept until the next traced one."""
        self._depth -= 1
        if self._depth == 0 and self._current == self._traced:
            self._trace.end()

    def failed(
        self, runner: str, name: str, phase: str, error: BaseException, of: str = ""
    ) -> None:
        """Write the record of a failed test, or of a failed collection.

        `of` is the test as it was entered, if `name` is a part of it such as a subtest.
        """
        # Our own frames must not be traced as a part of the test.
        tracer = sys.gettrace()
        if tracer == self._trace.tracer:
            sys.settrace(None)
        try:
            self._count += 1
            record = {
                **self._failure_record(runner, name, phase, error),
                "of": (of or name)[:_NAME],
            }
            if not self._journal.write(["T", record], last=True):
                frames = [{**one, "steps": []} for one in record["frames"]]
                # The record exceeded the journal's space; without the lines it is small.
                less = {"frames": frames, "setup": [], "limit": "there was too much of it"}
                self._journal.write(["T", {**record, **less}], last=True)
        except Exception as fault:  # noqa: BLE001 - ours, and not to become the program's
            self._note_fault(fault)
        finally:
            if tracer == self._trace.tracer:
                sys.settrace(tracer)

    def _failure_record(
        self, runner: str, name: str, phase: str, error: BaseException
    ) -> dict[str, Any]:
        frames = self._trace_frames(error.__traceback__)
        own = [(one, line) for one, line in frames if self._is_ours(one.f_code)]
        shown = [(one, line) for one, line in own if not _is_hidden(one)] or own
        inner = frames[-1] if frames else None
        is_whole = self._count <= _DETAILED
        return {
            "runner": runner,
            "name": name[:_NAME],
            "phase": phase,
            "limit": self._trace.limit,
            "time_ns": time_ns(),
            "type": type(error).__name__,
            "message": self._error_text(error),
            "is_assertion": isinstance(error, AssertionError)
            or type(error).__name__ in ("Failed", "FailureException"),
            "causes": self._error_causes(error),
            "setup": self._trace.setup_calls() if self._current == self._traced else [],
            "frames": [
                *self._unreadable_location(error),
                *[self._frame_record(*one, is_whole=is_whole) for one in shown[::-1][:_FRAMES]],
            ],
            "total": len(frames),
            "inside": None if inner is None or inner in own else self._location_record(*inner),
        }

    def _trace_frames(self, trace: TracebackType | None) -> list[tuple[FrameType, int]]:
        found = []
        while trace is not None:
            found.append((trace.tb_frame, trace.tb_lineno))
            trace = trace.tb_next
        return found

    def _error_text(self, error: BaseException) -> str:
        arguments = BaseException.__dict__["args"].__get__(error)
        if arguments and type(arguments[0]) is str and len(arguments) == 1:
            return str(arguments[0])[:_MESSAGE]
        message = getattr(error, "msg", None)  # pytest.fail, and SyntaxError
        return message[:_MESSAGE] if type(message) is str else self._write.raised(error)

    def _error_causes(self, error: BaseException) -> list[str]:
        found: list[str] = []
        visited = {id(error)}
        # As Python's own traceback: `raise … from None` hides the context.
        one = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        while one is not None and id(one) not in visited and len(found) < _CAUSES:
            visited.add(id(one))
            text = f"{type(one).__name__}: {self._error_text(one)[:300]}"
            found.append(f"{text}{self._raised_at(one)}")
            one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
        return found

    def _raised_at(self, error: BaseException) -> str:
        """Return where the program raised an exception, or called what did; "" if it did not."""
        own = [
            one for one in self._trace_frames(error.__traceback__) if self._is_ours(one[0].f_code)
        ]
        if not own:
            return ""
        place = self._location_record(*own[-1])
        return f", in {place['function']} {place['file'].rpartition('/')[2]}:{place['line']}"

    def _unreadable_location(self, error: BaseException) -> list[dict[str, Any]]:
        """Return the location of a syntax error, in a file that never ran."""
        if not isinstance(error, SyntaxError) or not error.filename:
            return []
        file = self._chosen.file(error.filename)
        return [{"function": "<module>", "file": file, "line": error.lineno or 1}] if file else []

    def _location_record(self, frame: FrameType, line: int) -> dict[str, Any]:
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name).replace("<locals>.", "")
        file = self._chosen.file(code.co_filename) or code.co_filename
        return {"function": name, "file": file, "line": line or 0}

    def _frame_record(self, frame: FrameType, line: int, *, is_whole: bool) -> dict[str, Any]:
        record: dict[str, Any] = {**self._location_record(frame, line), "locals": [], "steps": []}
        if not is_whole:
            return record
        variables = frame.f_locals
        names = [
            one
            for one in list(variables)
            if one.isidentifier() and not (frame.f_globals is variables and one.startswith("__"))
        ]
        record["locals"] = [[one, self._write(variables[one])] for one in names[:_LOCALS]]
        if self._current == self._traced:
            record["steps"] = self._trace.steps(frame)
            # The identities connect these values with the objects in the traced lines.
            record["idents"] = self._trace.idents(variables)
        return record

    def _is_ours(self, code: CodeType) -> bool:
        known = self._ours.get(id(code))
        if known is None:
            known = self._ours[id(code)] = (code, self._chosen.is_ours(code))
        return known[1]

    def _note_fault(self, error: Exception) -> None:
        self.note("fault", f"{type(error).__name__}: {error}")


def _is_hidden(frame: FrameType) -> bool:
    """Return whether a helper hides its frame, by pytest's convention."""
    return bool(frame.f_locals.get("__tracebackhide__") is True)
