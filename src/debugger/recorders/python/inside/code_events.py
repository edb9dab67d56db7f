"""Reports the events of rewritten code as `sys.monitoring` does (CPython 3.11).

The recorder of later versions requests events by the same functions. Functions of which no more
calls are counted get other code, and then run as fast as without us.
"""

from __future__ import annotations

import sys
from _thread import get_ident
from time import perf_counter_ns as now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

_OPTIMIZED = 0x1
_GENERATES = 0x20 | 0x80 | 0x200  # generators and coroutines
_FUNCTION = type(lambda: None)
_SEARCH_SHARE = 20  # one part of the run's time in so many is for the search of functions
_NO_CALLS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})


class EventNumbers:
    """The bits of the events, by the names of `sys.monitoring.events`."""

    PY_START = 1
    PY_RESUME = 2
    PY_RETURN = 4
    PY_YIELD = 8
    LINE = 16
    PY_UNWIND = 32
    PY_THROW = 64


_NAMES = {
    EventNumbers.PY_START: "start",
    EventNumbers.PY_RESUME: "resume",
    EventNumbers.PY_RETURN: "return",
    EventNumbers.PY_YIELD: "yield",
    EventNumbers.LINE: "line",
    EventNumbers.PY_UNWIND: "unwind",
    EventNumbers.PY_THROW: "throw",
}


class CodeEvents:
    """The part of `sys.monitoring` that the recorder uses, for rewritten code."""

    DISABLE = "disable"
    events = EventNumbers

    def __init__(self, book: Any, parts: Any) -> None:
        self._book = book
        self._parts = parts
        self.monitor: Any = None  # what the events are for
        self._callbacks: dict[str, Any] = {}
        self._hooks: dict[int, Any] = {}  # by the identity of the plain code
        self._rewritten: list[CodeType] = []  # kept alive, since they are found by identity
        # The guards of executed lines, in order; as a guard, since it is a constant of code.
        self._hits: Any = parts.HookGuard() if book.lines == "hit" else None
        self._pending: list[Any] = []  # hooks of functions that are to be replaced
        self._replaced: list[Any] = []
        self._began = now()
        self._searched = 0  # nanoseconds
        self._is_over = False

    def __reduce__(self) -> Any:
        """Leave nothing of us in code of the program that is sent to another process."""
        return dict, ()

    # -- as sys.monitoring -----------------------------------------------------------------------

    def register_callback(self, _tool: int, event: int, callback: Any) -> None:
        """Set the function that is called at an event."""
        self._callbacks[_NAMES[event]] = callback

    def set_events(self, _tool: int, events: int) -> None:
        """Request the events of all code, or none any more."""
        self._is_over = not events
        if self._is_over:
            for hooks in self._hooks.values():
                hooks.close(calls=True, lines=True)

    def set_local_events(self, _tool: int, code: CodeType, events: int) -> None:
        """Request the events of one function: all, none, or its lines alone."""
        hooks = self._hooks.get(id(code))
        if hooks is not None and not events & EventNumbers.PY_RETURN:
            hooks.close(calls=True, lines=not events & EventNumbers.LINE)
            if self._is_over:
                return
            self._pending.append(hooks)
            # A search goes through all objects of the program.
            if self._searched * _SEARCH_SHARE <= now() - self._began:
                self._replace_functions()

    def collect_lines(self) -> None:
        """Report the lines that were executed for the first time since the last call."""
        if self._hits:
            found = self._hits[:]
            del self._hits[: len(found)]
            for one in found:
                self._book.hit(one.code, one.line, None)

    def restart_events(self) -> None:
        """Report everything once more."""
        if self._hits:
            self._hits.clear()
        for hooks in self._hooks.values():
            hooks.open()
        if self._replaced:
            _set_codes([(hooks.uncounted, hooks.rewritten) for hooks in self._replaced])
            self._replaced.clear()

    def _make_start(self, code: CodeType) -> Any:
        """Return the hook at the start of a function's calls; None: the call is recorded."""
        book, monitor, key = self._book, self.monitor, id(code)
        find_thread, limit, collect = book.threads.get, book.limits["counted"], self.collect_lines

        def start_generator() -> Any:
            collect()
            return monitor.start_first(code)

        if code.co_flags & _GENERATES:
            return start_generator

        def start() -> Any:
            thread = find_thread(get_ident())
            if thread is not None:
                top = thread.top
                spot = top.kids.get(key)
                if spot is not None:
                    spot.count += 1
                    if spot.count > limit:
                        return monitor.stop_counting(code)
                    thread.stack.append((top, now() if spot.parent is top else 0))
                    thread.top = spot
                    return None
            collect()
            return monitor.start_first(code)

        return start

    def _make_return(self, code: CodeType) -> Any:
        """Return the hook at the return of a function's recorded calls."""
        book, monitor, find_thread = self._book, self.monitor, self._book.threads.get
        is_generator = bool(code.co_flags & _GENERATES)

        def leave(value: Any) -> None:
            thread = find_thread(get_ident())
            if thread is None:
                return
            spot = thread.top
            if spot.code is code and not (spot.is_single or is_generator):
                thread.top, began = thread.stack.pop()
                if began:
                    at = now()
                    spot.total += at - began
                    if at > book.due:
                        book.flush()
                return
            monitor.leave_call(thread, code, sys._getframe(1), value)  # noqa: SLF001

        return leave

    def _replace_functions(self) -> None:
        """Replace the code of functions that are no longer counted by one without these hooks."""
        began = now()
        pending, self._pending = self._pending, []
        for hooks in pending:
            made = self._put_hooks(hooks, is_counted=False)
            hooks.uncounted = self._keep_code(made, hooks.code)
        _set_codes([(hooks.rewritten, hooks.uncounted) for hooks in pending])
        self._replaced += pending
        self._searched += now() - began

    def _put_hooks(
        self, hooks: Any, begin_main: Any = None, *, is_counted: bool = True
    ) -> CodeType:
        parts = self._parts
        if begin_main is None and not hooks.code.co_flags & _GENERATES:
            made: CodeType = parts.CodeSplicer(hooks, parts, is_counted=is_counted).splice()
        else:
            made = parts.CodeRewriter(hooks, parts, is_counted=is_counted).rewrite(begin_main)
        return made

    def _keep_code(self, made: CodeType, code: CodeType) -> CodeType:
        self._rewritten.append(made)
        self._book.plain_codes[id(made)] = code
        return made

    def use_tool_id(self, tool: int, name: str) -> None:
        """Do nothing: no other tool has the number."""

    def free_tool_id(self, tool: int) -> None:
        """Do nothing."""

    # -- code ------------------------------------------------------------------------------------

    def is_rewritten(self, code: CodeType) -> bool:
        """Tell whether a code object reports its events itself."""
        return id(code) in self._book.plain_codes

    def rewrite(self, code: CodeType, begin_main: Any = None) -> CodeType:
        """Rewrite a module's code, with all functions in it.

        Raises:
            BytecodeError: It has a form that is not known.
        """
        constants = tuple(
            self.rewrite(one) if type(one) is type(code) else one for one in code.co_consts
        )
        made = code.replace(co_consts=constants)
        is_function = code.co_flags & _OPTIMIZED and code.co_name not in _NO_CALLS
        if is_function or code.co_name == "<module>":
            callbacks = {
                **self._callbacks,
                "start": self._make_start(code),
                "return": self._make_return(code),
            }
            hooks = self._parts.CodeHooks(code, made, callbacks, self._hits)
            self._hooks[id(code)] = hooks
            hooks.rewritten = made = self._put_hooks(hooks, begin_main)
            if self._is_over:
                hooks.close(calls=True, lines=True)
        return self._keep_code(made, code)


def _set_codes(pairs: list[tuple[CodeType, CodeType]]) -> None:
    """Set other code in all functions of the given ones."""
    others = {id(code): other for code, other in pairs}
    for one in _find_referrers(*(code for code, _ in pairs)):
        if type(one) is _FUNCTION and id(one.__code__) in others:
            one.__code__ = others[id(one.__code__)]


def _find_referrers(*objects: Any) -> list[Any]:
    """Return what refers to some objects, without an import that the program has not done."""
    is_known = "gc" in sys.modules
    import gc

    if not is_known:
        del sys.modules["gc"]
    return gc.get_referrers(*objects)
