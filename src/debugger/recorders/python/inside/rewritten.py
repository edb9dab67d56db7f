"""Follows calls and lines by code that reports its events itself (CPython 3.11).

The program's own code is rewritten where it is loaded: by an import, as the script, or by pytest.
Any other, such as that of `exec`, is traced from then on by `sys.settrace`. Neither the files of
compiled code nor those of pytest's own ever hold rewritten code.
"""

from __future__ import annotations

import os
import sys
from itertools import pairwise
from opcode import opmap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

_FUNCTION: Any = type(lambda: None)
# What gives the code of a function, besides a frame.
_CODE_SOURCES = frozenset({"__code__", "get_code", "gi_code", "cr_code", "ag_code", "numba"})
# What is read of a frame's code without a look at its bytecode.
_CODE_FACTS = frozenset({"co_name", "co_qualname", "co_filename", "co_firstlineno"})
_NAMES_MAX = 256  # of code whose instructions have their names without EXTENDED_ARG
_PYTEST = ("_read_pyc", "_rewrite_test", "_write_pyc")


class RewrittenCalls:
    """Follows calls and lines by rewritten code, where it is the program's own."""

    def __init__(
        self, book: Any, parts: Any, events: Any, tracer: Any, hidden_from: tuple[str, ...] = ()
    ) -> None:
        self._hidden_from = hidden_from or ("settrace", "setprofile")
        self._book = book
        self._parts = parts
        self._events = events  # rewrites code
        self._tracer = tracer  # of code that cannot be rewritten
        self._is_traced = False
        self._has_pytest = False
        self._watch = parts.ExecWatch(self._on_exec)

    def begin(self) -> bool:
        """Rewrite what is imported or run from now on."""
        import _frozen_importlib_external as loading

        for kind in (loading.SourceLoader, loading.SourcelessFileLoader):
            type.__setattr__(kind, "get_code", self._wrap_get_code(kind.get_code))
        self._watch.begin()
        self._hide_hooks()
        return True

    def reset(self) -> None:
        """Expect all lines again, as a forked child does."""
        self._events.reset()
        self._tracer.reset()

    def end(self) -> None:
        """Report no more events."""
        self._events.end()
        if self._is_traced:
            self._tracer.end()

    def _hide_hooks(self) -> None:
        """Keep our hooks from the functions in Python that the program sets to see calls."""
        import threading

        for module in (sys, threading):
            for name in self._hidden_from:
                _wrap_setter(module, name, self._parts.is_ours, self._parts.TRACERS_IN_PYTHON)

    def _wrap_get_code(self, real: Any) -> Any:
        rewrite, patch = self._rewrite_own, self._wrap_pytest

        def get_code(self: Any, fullname: str) -> Any:
            patch()
            return rewrite(real(self, fullname))

        get_code.__doc__, get_code.__qualname__ = real.__doc__, real.__qualname__
        # The import system removes its own files from tracebacks.
        get_code.__code__ = get_code.__code__.replace(co_filename=real.__code__.co_filename)
        get_code.__module__ = real.__module__
        return get_code

    def _rewrite_own(self, code: Any) -> Any:
        """Return rewritten code of the program's own, and other code as it is."""
        if code is None or not self._book.chosen.file(code.co_filename):
            return code
        if not self._events.is_rewritten(code):
            try:
                if not self._reads_own(code):
                    return self._events.rewrite(code)
                self._trace(f"{code.co_filename} reads bytecode")
            except Exception as error:  # noqa: BLE001 - whatever it is, the code can be traced
                self._trace(f"{code.co_filename}: {type(error).__name__}: {error}")
        return code

    def _reads_own(self, code: CodeType) -> bool:
        """Return whether a module reads bytecode, and may get at that of its own functions."""
        inner = self._parts.codes_in
        return self._parts.reads_bytecode(code) and any(map(_gets_code, inner(code)))

    def _wrap_pytest(self) -> None:
        """Rewrite what pytest loads itself, once it is imported; its own cache is as before."""
        module: Any = sys.modules.get("_pytest.assertion.rewrite")
        if self._has_pytest or not hasattr(module, "AssertionRewritingHook"):
            return
        self._has_pytest = True
        if not all(hasattr(module, name) for name in _PYTEST):
            return
        read, rewrite, write = (getattr(module, name) for name in _PYTEST)

        def read_pyc(*arguments: Any, **named: Any) -> Any:
            return self._rewrite_own(read(*arguments, **named))

        def rewrite_test(*arguments: Any, **named: Any) -> Any:
            stat, code = rewrite(*arguments, **named)
            return stat, self._rewrite_own(code)

        def write_pyc(state: Any, code: Any, *rest: Any, **named: Any) -> Any:
            return write(state, self._book.plain_codes.get(id(code), code), *rest, **named)

        for name, function in zip(_PYTEST, (read_pyc, rewrite_test, write_pyc), strict=True):
            setattr(module, name, function)

    def _on_exec(self, code: CodeType) -> None:
        """See to code that is about to be run, and was not loaded by an import."""
        path = self._book.chosen.file(code.co_filename)
        if self._events.is_rewritten(code) or not path:
            return
        # Nothing is below the hook on the stack when Python runs the script.
        is_main = code.co_name == "<module>" and sys._getframe(2).f_back is None  # noqa: SLF001
        if is_main:
            if self._run_main(code):
                return
            self._watch.begin_next()
        # The name of a text that has no file, such as `compile(text, "part", "exec")`, is relative.
        if path[:1] != "<" and not os.path.exists(path):  # noqa: PTH110 - pathlib is slow
            return
        self._trace(f"{code.co_filename} was not loaded by an import")

    def _run_main(self, code: CodeType) -> bool:
        """Run the script rewritten, in place of the code that Python is about to run.

        Python calls each audit hook in turn, with nothing below it on the stack; the script is the
        next one. It ends by SystemExit, and so Python does not run the code itself.
        """
        if self._reads_own(code):
            return False
        try:
            made = self._events.rewrite(code, self._watch.begin_next)
        except Exception:  # noqa: BLE001 - it can be traced
            return False
        self._watch.run_next(_FUNCTION(made, sys.modules["__main__"].__dict__))
        return True

    def _trace(self, reason: str) -> None:
        """Trace from now on what cannot be rewritten, at the cost of all other code."""
        if not self._is_traced:
            self._is_traced = True
            self._tracer.begin()
            self._book.note("traced", reason)


def _gets_code(code: CodeType) -> bool:
    """Return whether a function gets at code that it did not make or load itself."""
    names = code.co_names
    texts = [one for one in code.co_consts if type(one) is str]  # such as for `getattr`
    if not _CODE_SOURCES.isdisjoint((*names, *texts)):
        return True
    if "f_code" not in names or len(names) > _NAMES_MAX:
        return "f_code" in names
    read, text = opmap["LOAD_ATTR"], code.co_code
    steps = [(op, arg) for op, arg in zip(text[::2], text[1::2], strict=True) if op]
    return any(
        op == read
        and names[arg] == "f_code"
        and not (after[0] == read and names[after[1]] in _CODE_FACTS)
        for (op, arg), after in pairwise(steps)
    )


def _wrap_setter(module: Any, name: str, is_ours: Any, in_python: Any) -> None:
    """Wrap a function that sets a tracer or a profiler, and the one that returns it."""
    real_set, real_get = getattr(module, name), getattr(module, name.replace("set", "get", 1))

    def filter_frames(function: Any) -> Any:
        def filtered(frame: Any, event: str, argument: Any) -> Any:
            return None if is_ours(frame) else function(frame, event, argument)

        filtered.__wrapped__ = function  # type: ignore[attr-defined]
        return filtered

    code = filter_frames(None).__code__

    def set_function(function: Any) -> None:
        real_set(filter_frames(function) if id(type(function)) in in_python else function)

    def get_function() -> Any:
        found = real_get()
        is_filtered = type(found) is _FUNCTION and found.__code__ is code
        return found.__wrapped__ if is_filtered else found

    for made, real in ((set_function, real_set), (get_function, real_get)):
        made.__name__ = made.__qualname__ = real.__name__
        made.__doc__ = real.__doc__
        setattr(module, real.__name__, made)
