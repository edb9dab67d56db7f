"""Finds the functions of a code object, which it does not know itself."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType
    from typing import Any

_FUNCTION: Any = type(lambda: None)
# What a decorator may hold a function in, besides objects of its own.
_STEPS = 4
_OBJECTS = 60
_PASSED_OVER = (dict, type, type(sys), str, int, type(_FUNCTION.__code__), type(None))


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
            if type(one) not in _PASSED_OVER
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
