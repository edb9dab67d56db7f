"""Gives the program's own code what takes the numbers of its calls, where it is found.

CPython 3.11 loads rewritten code, which also reports the hits of lines. Since 3.12 functions get
other code at their first call (see `monitored_numbers`).
"""

from __future__ import annotations

from itertools import repeat
from opcode import opmap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

_OPTIMIZED = 0x1
_CODE: Any = type((lambda: None).__code__)


class CodeNumbering:
    """The code of one process that takes numbers, and the counters of its calls."""

    def __init__(self, numbered: Any, parts: Any, hook_code: Any) -> None:
        self._numbered = numbered
        self._recorder = numbered.recorder
        self._parts = parts
        # Lets code report lines to functions: gets code with a dictionary, and returns code.
        self._hook_code = hook_code
        self.counts_all = False  # what takes no numbers itself is counted before it runs on
        self._counters: dict[int, Any] = {}  # by the identity of the program's code
        self._codes: list[CodeType] = []  # kept alive, since they are found by identity

    def is_rewritten(self, code: CodeType) -> bool:
        """Return whether a code object takes its numbers itself."""
        return id(code) in self._recorder.plain_codes

    def rewrite(self, code: CodeType, begin_main: Any = None) -> CodeType:
        """Let code take numbers, and all functions in it.

        With `begin_main`, which is called first, it is the code of a function of three arguments
        that it drops, and it ends by SystemExit (CPython 3.11).

        Raises:
            BytecodeError: It has a form that is not known.
        """
        made: CodeType = self._numbered.run_untraced(self._rewrite_tree, code)
        if begin_main is None:
            return made

        def begin() -> None:
            begin_main()
            self._numbered.trace()

        # An audit hook is not traced where a trace began before it.
        self._numbered.pause()
        return self._add(self._parts.run_as_hook(made, begin, self._parts), code)

    def _rewrite_tree(self, code: CodeType) -> CodeType:
        if code.co_nlocals and not code.co_flags & _OPTIMIZED:
            return code  # 3.12 has to know which variables are those of comprehensions
        constants = tuple(
            self._rewrite_tree(one) if type(one) is _CODE else one for one in code.co_consts
        )
        made = code.replace(co_consts=constants)
        followed, numbered = self._recorder.followed, self._numbered
        if not followed.is_own(code):
            return self._add(made, code)
        iterator = numbered.numbers.iterator
        if not code.co_flags & _OPTIMIZED or followed.needs_each_call(code):
            iterator = self._parts.SingleNumbers(iterator, numbered.meet_single).iterator
        counter = self.begin_counter(code)
        made = self._parts.add_counter(made, counter, self._parts, iterator, self._parts.NUMBER)
        if made is None:
            raise self._parts.BytecodeError("a function begins in another way")
        return self._add(self._hook_code(made, self.line_hooks(code)), code)

    def _add(self, made: CodeType, code: CodeType) -> CodeType:
        self._recorder.plain_codes[id(made)] = code
        self._codes.append(made)
        return made

    def line_hooks(self, code: CodeType) -> dict[int, Any]:
        """Return what is called at the hits of lines in calls that are not traced."""
        followed, numbered = self._recorder.followed, self._numbered
        hooks: dict[int, Any] = {}
        if code.co_flags & _OPTIMIZED:
            hooks = dict.fromkeys(followed.watched_lines(code), (numbered.meet_write,))
        line = followed.line_in(code)
        if line:
            hooks[line] = (numbered.meet_line, *hooks.get(line, ()))
        return hooks

    # -- counters ----------------------------------------------------------------------------------

    def begin_counter(self, code: CodeType) -> Any:
        """Return the counter of the calls of code, which is made if there is none yet."""
        if id(code) not in self._counters:
            self._counters[id(code)] = self._parts.make_counter()
            self._codes.append(code)
        return self._counters[id(code)]

    def counter_of(self, code: CodeType) -> Any:
        """Return what reads how often code was called; None if it has no counter."""
        plain = self._recorder.plain_codes.get(id(code), code)
        if self.counts_all and self._recorder.followed.is_own(plain):
            self.begin_counter(plain)
        counter, read = self._counters.get(id(plain)), self._parts.read_counter
        return None if counter is None else lambda: read(counter)


class _LineHook:
    """An iterator that calls functions for each one that is taken."""

    def __init__(self, acts: Any) -> None:
        self._acts = acts

    def __reduce__(self) -> Any:
        return repeat, (None,)

    def __iter__(self) -> _LineHook:
        return self

    def __next__(self) -> None:
        for act in self._acts:
            act()


class _UnwindHook:
    """What is called with an exception that leaves a call."""

    def __init__(self, act: Any) -> None:
        self._act = act

    def __reduce__(self) -> Any:
        return type, (None,)

    def __call__(self, error: BaseException) -> None:
        self._act(error)


class NumberedProgram:
    """Follows the calls of a program whose code takes their numbers, where it is loaded (3.11)."""

    def __init__(self, recorder: Any, numbered: Any, tracer: Any, parts: Any) -> None:
        # The tracer hides our frames from another tracer itself.
        hidden_from = ("setprofile",)
        numbered.numbering = numbering = CodeNumbering(numbered, parts, self._hook_code)
        self._rewritten = parts.RewrittenCalls(recorder, parts, numbering, numbered, hidden_from)
        self._numbered = numbered
        self._tracer = tracer
        self._parts = parts

    def _hook_code(self, code: CodeType, hooks: dict[int, Any]) -> CodeType:
        for line, acts in hooks.items():
            code = self._parts.add_line_hook(code, line, _LineHook(acts), self._parts)
        if self._numbered.unwinds_matter:
            hook = _UnwindHook(self._numbered.meet_unwind)
            code = self._parts.add_unwind_hook(code, hook, self._parts)
        return code

    def begin(self) -> bool:
        """Let what is imported or run from now on take numbers, and trace it at first."""
        return bool(self._rewritten.begin() and self._tracer.begin())

    def reset(self) -> None:
        """Go on as before in a forked child."""
        self._numbered.reset()

    def end(self) -> None:
        """Stop tracing this thread."""
        self._tracer.end()


def stores_parameter(code: CodeType) -> bool:
    """Return whether a function assigns to one of its parameters."""
    count = code.co_argcount + code.co_kwonlyargcount
    text, stores = code.co_code, (opmap["STORE_FAST"], opmap["DELETE_FAST"])
    return any(op in stores and arg < count for op, arg in zip(text[::2], text[1::2], strict=True))
