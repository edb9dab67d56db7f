"""Keeps what the question's expressions have where an exception is raised or leaves a call."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_INNER = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<lambda>"})


class OriginErrors:
    """The exceptions in one process's own code; they are of interest for `crash` and `fail`."""

    def __init__(self, recorder: Any, hits: Any, parts: Any) -> None:
        self._recorder = recorder
        self._hits = hits
        self._parts = parts
        self._failing: dict[int, Any] = {}  # exceptions in calls that are not recorded, by frame

    @property
    def matter(self) -> bool:
        """Whether the question is about an exception."""
        return bool(self._hits.event)

    def meet_traced(self, scope: Any, frame: FrameType, raised: Any) -> None:
        """Note an exception in a recorded call; `raised` is what a trace function is given."""
        step = self._parts.last_instruction(frame.f_code, frame.f_lasti)
        if isinstance(raised[1], StopIteration) and step in self._parts.ENDED_BY_STOP:
            return  # what it awaited or went through has ended
        if self.matter and self._has_names(frame, raised[1], raised[2], frame.f_lineno):
            scope.held = self._parts.local_names(frame)
            self._hits.meet_error(scope, frame, raised[1], is_new=_is_new(raised[2]))
        scope.error = raised[1]
        scope.drop_statement()  # what it was to write was not written

    def meet_unrecorded(self, frame: FrameType, raised: Any) -> None:
        """Note an exception in a call that is traced, and not recorded."""
        if self.matter:
            self._failing[id(frame)] = raised[1]
            self._keep(frame, raised[1], raised[2], 0, is_traced=True)

    def end_unrecorded(self, frame: FrameType, value: Any) -> None:
        """Note the end of such a call, by its result or by an exception."""
        error = self._failing.pop(id(frame), None)
        last = self._parts.last_instruction(frame.f_code, frame.f_lasti)
        if error is not None and value is None and last not in self._parts.RETURNS:
            self.leave_code(frame, error)

    def unwind(self, frame: FrameType, error: BaseException) -> None:
        """Note an exception that leaves a call which is not traced."""
        trace = error.__traceback__
        while trace is not None and trace.tb_frame is not frame:
            trace = trace.tb_next
        line = trace.tb_lineno if trace is not None else 0
        self._keep(frame, error, trace, line, is_traced=False)
        self.leave_code(frame, error)

    def _has_names(
        self, frame: FrameType, error: BaseException, trace: Any, line: int | None
    ) -> bool:
        """Return whether a call may have a value; note the exception if it cannot."""
        if self._recorder.is_evaluating:
            return False
        found = bool(self._hits.has_names(frame))
        if not found:
            self._hits.pass_error(frame, error, line or 0, is_new=_is_new(trace))
        return found

    def _keep(
        self, frame: FrameType, error: BaseException, trace: Any, line: int, *, is_traced: bool
    ) -> None:
        if self._recorder.find_code(frame) is None:
            return
        if self._has_names(frame, error, trace, line or frame.f_lineno):
            scope = self._recorder.bare_scope(frame.f_code, frame)
            scope.line = line or scope.line
            how = {"is_new": _is_new(trace), "is_traced": is_traced}
            self._hits.meet_error(scope, frame, error, **how)

    def leave_code(self, frame: FrameType, error: Any, ident: int = 0) -> None:
        """Keep an exception that leaves the program's own code.

        Of one that has passed a handler only the identity is known.
        """
        outer = frame.f_back
        if outer is not None and outer.f_code.co_name in _INNER:
            outer = outer.f_back
        if outer is None or self._recorder.find_code(outer) is None:
            code: CodeType = frame.f_code
            self._hits.leave_code(error, code, ident if error is None else id(error))


def _is_new(trace: Any) -> bool:
    """Return whether an exception was raised in the frame that its traceback begins with."""
    return trace is not None and trace.tb_next is None
