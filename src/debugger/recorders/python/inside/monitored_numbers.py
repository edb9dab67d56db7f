"""Lets functions take the numbers of their calls, from the first call on (since CPython 3.12).

sys.monitoring reports the start of each code object. A function of the program's own gets code that
takes its numbers itself, where it is found. Until then, and for modules, the callback takes them.
The hits of lines, and exceptions that leave a call, are reported by callbacks, too.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

_OPTIMIZED = 0x1
_MANY = 256  # calls of a function, between two searches for it by its name
_SEARCHED = 2_048  # calls, between two searches of all functions


class MonitoredNumbers:
    """The sys.monitoring callbacks of one process whose calls are numbered."""

    def __init__(self, recorder: Any, numbered: Any, tracer: Any, parts: Any) -> None:
        self._recorder = recorder
        self._numbered = numbered
        self._tracer = tracer
        self._parts = parts
        numbered.numbering = parts.CodeNumbering(numbered, parts, self._hook_lines)
        self._numbering = numbered.numbering
        self._monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        self._tool = -1
        self._counters: dict[int, Any] = {}  # of code that takes no numbers itself
        self._codes: dict[int, CodeType] = {}
        self._hooks: dict[int, dict[int, Any]] = {}  # of lines
        self._replacer: Any = parts.FunctionReplacer(self._make_code)

    def begin(self) -> bool:
        """Begin to number the calls, and to trace the program."""
        self._tool = self._parts.claimed()
        if self._tool < 0:
            self._numbered.begin()
        else:
            self._numbering.counts_all = True
            events = self._monitoring.events
            self._parts.register_callbacks(
                self._tool,
                (events.PY_START, self._on_start),
                (events.LINE, self._on_line),
                (events.PY_UNWIND, self._on_unwind),
            )
            # In 3.12 PY_UNWIND cannot be requested for single code objects.
            unwind = events.PY_UNWIND if self._numbered.unwinds_matter else 0
            self._monitoring.set_events(self._tool, events.PY_START | unwind)
        return bool(self._tracer.begin())

    def reset(self) -> None:
        """Go on as before in a forked child."""
        self._numbered.reset()

    def end(self) -> None:
        """Request no more events."""
        self._tracer.end()
        if self._tool >= 0:
            self._monitoring.set_events(self._tool, 0)
            for code in self._codes.values():
                self._monitoring.set_local_events(self._tool, code, 0)
            self._monitoring.free_tool_id(self._tool)

    # -- calls -------------------------------------------------------------------------------------

    def _on_start(self, code: CodeType, _offset: int) -> Any:
        try:
            counter = self._counters.get(id(code))
            if counter is None:
                counter = self._begin_code(code)
                if counter is None:
                    return self._monitoring.DISABLE
            next(counter)
            self._numbered.meet_single(next(self._numbered.numbers.iterator))
            if code.co_flags & _OPTIMIZED:
                self._replace_code(code, self._parts.read_counter(counter))
        except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
            self._recorder.end_at_fault(error)
        return None

    def _begin_code(self, code: CodeType) -> Any:
        """Return the counter of code that begins to run; None if it is not the program's own."""
        if self._numbering.is_rewritten(code) or not self._recorder.followed.is_own(code):
            return None
        if code.co_name == "<module>" and self._parts.reads_bytecode(code):
            self._replacer.end()
        self._codes[id(code)] = code
        self._hook_lines(code, self._numbering.line_hooks(code))
        counter = self._counters[id(code)] = self._numbering.begin_counter(code)
        return counter

    def _replace_code(self, code: CodeType, count: int) -> None:
        """Let a function take its numbers itself, if it is found."""
        if count == 1 or not count % _MANY:
            # Two frames out: this function, and the callback.
            self._replacer.replace_running(code, sys._getframe(2))  # noqa: SLF001
        if not count % _SEARCHED:
            self._replacer.search((code,))

    def _make_code(self, code: CodeType) -> CodeType | None:
        """Return code that takes its numbers itself; None if its form is not known."""
        try:
            made: CodeType = self._numbering.rewrite(code)
        except self._parts.BytecodeError:
            return None
        return made

    def _on_unwind(self, code: CodeType, _offset: int, error: BaseException) -> None:
        if id(code) in self._counters or self._numbering.is_rewritten(code):
            self._numbered.meet_unwind(error)

    # -- lines -------------------------------------------------------------------------------------

    def _hook_lines(self, code: CodeType, hooks: dict[int, Any]) -> CodeType:
        """Request the events of lines, and return code as it is."""
        if hooks:
            self._codes[id(code)] = code
            self._hooks[id(code)] = hooks
            self._monitoring.set_local_events(self._tool, code, self._monitoring.events.LINE)
        return code

    def _on_line(self, code: CodeType, line: int) -> Any:
        acts = self._hooks.get(id(code), {}).get(line)
        if acts is None:
            return self._monitoring.DISABLE
        for act in acts:
            act()
        return None
