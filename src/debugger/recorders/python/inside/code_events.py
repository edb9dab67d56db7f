"""Rewrites the program's own code, so that it reports its events itself (CPython 3.11).

Functions of which no more calls are followed get other code where they are found, and then run
nearly as fast as without us.
"""

from __future__ import annotations

import sys
from _weakref import ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_OPTIMIZED = 0x1
_GENERATES = 0x20 | 0x80 | 0x200  # generators and coroutines
_NO_CALLS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})


class CodeEvents:
    """The rewritten code of a process, its hooks, and the lines that it executed."""

    def __init__(self, book: Any, parts: Any) -> None:
        self._book = book
        self._parts = parts
        self.codes: dict[int, CodeType] = {}  # the plain code, by its identity
        self._calls: Any = parts.HookedCalls(book, parts, self)
        self._hooks: dict[int, Any] = {}  # by the identity of the plain code
        self._numbered: list[Any] = []  # hooks, by the number of their code
        self._rewritten: list[CodeType] = []  # kept alive, since they are found by identity
        # The numbers of executed lines, in order.
        self._hits: Any = parts.LineHits() if book.lines == "hit" else None
        self._faster: list[Any] = []  # hooks of functions that have faster code
        self._cache: Any = parts.CodeCache(book.code_folder)
        self._is_over = False

    def __reduce__(self) -> Any:
        """Leave nothing of us in code of the program that is sent to another process."""
        return dict, ()

    def end(self) -> None:
        """Report nothing any more."""
        self._is_over = True
        for hooks in self._hooks.values():
            hooks.close()

    def stop_calls(self, code: CodeType) -> None:
        """Report only the lines of a function, and the number of its calls."""
        hooks = self._hooks[id(code)]
        hooks.close_calls()
        function = hooks.function() if hooks.function is not None else None
        if function is not None and function.__code__ is hooks.faster:
            self.collect_lines()
            made = self._put_hooks(hooks, is_counted=False, is_first=False)
            function.__code__ = hooks.uncounted = self._keep_code(made, code)

    def count_further(self, key: int) -> None:
        """Count a call that is not followed, and that reported its start."""
        next(self._hooks[key].further)

    def end_budget(self, code: CodeType, left: int) -> None:
        """Let only so many more calls of a function report their starts."""
        hooks = self._hooks[id(code)]
        hooks.budget.__setstate__(max(self._book.limits["followed"] - left, 0))

    def begin_lines(self, spot: Any) -> None:
        """Report the lines of a call that is recorded by itself, and drop those of later calls."""
        hooks = self._hooks[id(spot.code)]
        if spot.is_lined:
            hooks.begin_lines(spot)
        elif not (spot.is_single or hooks.is_past_lines):
            # No more calls of the function are recorded by themselves.
            hooks.is_past_lines = True
            self.make_faster(spot.code)

    def end_lines(self, spot: Any) -> None:
        """Report no more lines of a call."""
        self._hooks[id(spot.code)].end_lines(spot)

    def further_calls(self) -> list[tuple[CodeType, int]]:
        """Return the number of calls of each function that is followed no more, after that."""
        hooks = [self._hooks[key] for key in list(self._book.stopped) if key in self._hooks]
        return [(one.code, one.further_calls) for one in hooks]

    def make_faster(self, code: CodeType) -> None:
        """Let further calls of a running function pass over executed lines, and most hooks."""
        hooks, function = self._hooks[id(code)], None
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - there is no other way
        while frame is not None and self._book.plain_code(frame) is not code:
            frame = frame.f_back
        if frame is not None and hooks.faster is None:
            function = self._parts.find_function(code, frame)
        if function is not None:
            self.collect_lines()
            hooks.faster = self._keep_code(self._put_hooks(hooks, is_first=False), code)
            function.__code__ = hooks.faster
            hooks.function = ref(function)
            self._faster.append(hooks)

    def collect_lines(self) -> None:
        """Report the lines that were executed for the first time since the last call."""
        if self._hits:
            found = self._hits[:]
            del self._hits[: len(found)]
            for one in found:
                number, line = self._parts.split_line_number(one)
                self._book.hit(self._numbered[number].code, line, None)

    def reset(self) -> None:
        """Report everything once more, as a forked child does."""
        if self._hits:
            self._hits.clear()
        for hooks in self._hooks.values():
            hooks.open()
        for hooks in self._faster:
            if hooks.function is None:
                continue  # two threads have made it faster at once
            function = hooks.function()
            if function is not None and function.__code__ in (hooks.faster, hooks.uncounted):
                function.__code__ = hooks.rewritten
            hooks.faster = hooks.uncounted = hooks.function = None
        self._faster.clear()

    def _put_hooks(self, hooks: Any, begin_main: Any = None, **options: bool) -> CodeType:
        parts = self._parts
        if begin_main is None and not hooks.code.co_flags & _GENERATES:
            made: CodeType = parts.CodeSplicer(hooks, parts, **options).splice()
        else:
            made = parts.CodeRewriter(hooks, parts, **options).rewrite(begin_main)
        return made

    def _keep_code(self, made: CodeType, code: CodeType) -> CodeType:
        self._rewritten.append(made)
        self._book.plain_codes[id(made)] = code
        return made

    def is_rewritten(self, code: CodeType) -> bool:
        """Return whether a code object reports its events itself."""
        return id(code) in self._book.plain_codes

    def rewrite(self, code: CodeType, begin_main: Any = None) -> CodeType:
        """Rewrite a module's code, with all functions in it.

        Raises:
            BytecodeError: It has a form that is not known.
        """
        known = self._cache.open_module(code, self._book.lines, is_main=begin_main is not None)
        made = self._rewrite_tree(code, known, begin_main)
        known.close()
        return made

    def _rewrite_tree(self, code: CodeType, known: Any, begin_main: Any = None) -> CodeType:
        kind, constants = type(code), code.co_consts
        if kind in map(type, constants):
            constants = tuple(
                [self._rewrite_tree(one, known) if type(one) is kind else one for one in constants]
            )
        name = code.co_name
        if not (code.co_flags & _OPTIMIZED and name not in _NO_CALLS) and name != "<module>":
            if constants is code.co_consts:
                return code
            return self._keep_code(code.replace(co_consts=constants), code)
        hooks = self._add_hooks(code, constants)
        if begin_main is not None:
            made = self._put_hooks(hooks, begin_main)
        else:
            made = known.restore(hooks)
            if made is None:
                made = self._put_hooks(hooks)
                known.keep(hooks, made)
        hooks.rewritten = made
        if self._is_over:
            hooks.close()
        return self._keep_code(made, code)

    def _add_hooks(self, code: CodeType, constants: tuple[Any, ...]) -> Any:
        hooks = self._hooks[id(code)] = self._parts.CodeHooks(
            code,
            constants,
            self._calls.make_hooks(code),
            self._hits,
            followed=self._book.limits["followed"],
            number=len(self._numbered),
        )
        self._numbered.append(hooks)
        self.codes[id(code)] = code
        return hooks
