"""Finds the functions of a code object, which does not know them, and gives them other code."""

from __future__ import annotations

import sys
from _weakref import ref
from time import perf_counter as clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import CodeType, FrameType
    from typing import Any

_FUNCTION: Any = type(lambda: None)
# What a decorator may hold a function in, besides objects of its own.
_STEPS = 4
_OBJECTS = 60
_PASSED_OVER = frozenset(
    map(id, (dict, type, type(sys), str, int, type(_FUNCTION.__code__), type(None)))
)
_SEARCH_SHARE = 30  # of the time, all searches may have taken one part in so many


class FunctionReplacer:
    """Gives functions other code, and the code that they had at the end."""

    def __init__(self, make_code: Callable[[CodeType], CodeType | None]) -> None:
        self._make_code = make_code  # None for code whose form is not known
        # By the identity of code that functions had: that code, which is kept alive, and the other.
        self._made: dict[int, tuple[CodeType, CodeType | None]] = {}
        self._others: dict[int, CodeType] = {}
        # Weak references to the functions that have other code, with the code that they had.
        self._functions: list[tuple[Any, CodeType]] = []
        self._is_over = False
        self._began = clock()
        self._searched = 0.0  # seconds

    def replace_running(self, code: CodeType, frame: FrameType) -> bool:
        """Give the function of a running call other code; False if it is not found by its name."""
        found = None if self._is_over else find_function(code, frame)
        if found is not None:
            self._replace(code, found)
        return found is not None

    def search(self, codes: Iterable[CodeType]) -> None:
        """Give all functions of some code objects other code, if a search is due."""
        began = clock()
        if self._is_over or self._searched * _SEARCH_SHARE > began - self._began:
            return
        by_identity = {id(code): code for code in codes}
        for found in import_gc().get_referrers(*by_identity.values()):
            if type(found) is _FUNCTION and id(found.__code__) in by_identity:
                self._replace(by_identity[id(found.__code__)], found)
        self._searched += clock() - began

    def _replace(self, code: CodeType, function: Any) -> None:
        if id(code) not in self._made:
            self._made[id(code)] = (code, self._make_code(code))
        made = self._made[id(code)][1]
        if made is not None:
            self._others[id(made)] = made
            function.__code__ = made
            self._functions.append((ref(function), code))

    def has_made(self, code: CodeType) -> bool:
        """Return whether code was made here."""
        return id(code) in self._others

    def restore(self) -> None:
        """Give all functions the code that they had."""
        for known, code in self._functions:
            function = known()
            if function is not None and id(function.__code__) in self._others:
                function.__code__ = code
        self._functions.clear()
        self._made.clear()

    def end(self) -> None:
        """Let all code be as it was, and give no function other code."""
        self._is_over = True
        self.restore()


def find_function(code: CodeType, frame: FrameType) -> Any:
    """Return the function of a running call by its name, also below decorators; None if not found.

    Args:
        code: The code of the function.
        frame: A call of it.
    """
    names = code.co_qualname.split(".")
    found: Any = frame.f_globals.get(names[0])
    for name in names[1:]:
        if not isinstance(found, type):
            return None
        # By the type's own descriptor: a metaclass may have other attributes.
        found = type.__dict__["__dict__"].__get__(found).get(name)
    for one in _objects_in(found):
        if type(one) is _FUNCTION and one.__code__ is frame.f_code:
            return one
    return None


def _objects_in(found: Any) -> Iterator[Any]:
    """Yield an object and what it refers to, a few steps deep."""
    gc = import_gc()
    level, seen = [found], 0
    for _ in range(_STEPS):
        yield from level
        seen += len(level)
        level = [
            inner
            for one in level
            if id(type(one)) not in _PASSED_OVER
            for inner in gc.get_referents(one)
        ]
        if seen + len(level) > _OBJECTS:
            break


def import_gc() -> Any:
    """Return the module, without an import that the program has not done."""
    is_known = "gc" in sys.modules
    import gc

    if not is_known:
        del sys.modules["gc"]
    return gc
