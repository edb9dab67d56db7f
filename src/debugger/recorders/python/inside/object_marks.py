"""Numbers the objects that a probe sees, and finds where a list leaves the pattern it starts with.

Standard library only: it runs inside the recorded program.
"""

from __future__ import annotations

import weakref
from array import array
from typing import Any

OBJECTS_MAX = 1000
_SCANNED_MAX = 10_000
_STARTS = 4  # elements that show a pattern
# Values without an identity of their own, and those that a program makes once.
_PLAIN = frozenset(
    map(id, (int, float, complex, bool, str, bytes, type(None), range, slice, tuple, frozenset))
) | frozenset(map(id, (type, type(len), type(lambda: None), type(weakref))))
_ARRAYS = frozenset(map(id, (list, tuple, array)))


class ObjectMarks:
    """The objects so far. One that has ended is never taken for another at its address.

    An object is known by a weak reference; a list, a dict or another one that allows none is strong
    alive as long as the program, at most `OBJECTS_MAX` of them.
    """

    def __init__(self) -> None:
        # By id: the number, a weak reference, or else the object itself.
        self._known: dict[int, tuple[int, Any, Any]] = {}
        self._count = 0
        self.is_full = False

    def number_of(self, value: Any) -> int:
        """Return the number of an object, from 1; 0 for a plain value, or once there are many."""
        if id(type(value)) in _PLAIN:
            return 0
        number, weak, strong = self._known.get(id(value), (0, None, None))
        if number and (strong is value or (weak is not None and weak() is value)):
            return number
        if self._count >= OBJECTS_MAX:
            self.is_full = True
            return 0
        self._count += 1
        weak, strong = None, None
        try:
            weak = weakref.ref(value)
        except TypeError:
            strong = value
        self._known[id(value)] = self._count, weak, strong
        return self._count


def find_departure(value: Any) -> str:
    """Return the element by which a sequence of whole numbers leaves its pattern; "" without one.

    The pattern is one number, or one step from each element to the next.
    """
    if id(type(value)) not in _ARRAYS or len(value) <= _STARTS:
        return ""
    start = value[:_STARTS]
    if any(type(one) is not int for one in start):
        return ""
    step = start[1] - start[0]
    if any(start[at + 1] - start[at] != step for at in range(_STARTS - 1)):
        return ""
    last = start[-1]
    for at in range(_STARTS, min(len(value), _SCANNED_MAX)):
        one = value[at]
        if type(one) is not int or one - last != step:
            shown = str(one) if type(one) is int and abs(one) < 1 << 64 else type(one).__name__
            return f"[{at}] = {shown} after {last}"
        last = one
    return ""
