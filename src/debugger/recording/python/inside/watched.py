"""Which line changed a watched value: a variable, a field of an object, an item?

It is read at every line of the program's own code, without running any of it, and compared by its
text. What changed was written by the line that the thread ran before; where another thread ran a
line since the last look, that is not sure.
"""

from __future__ import annotations

import sys
from weakref import ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any

_HOLDERS = 16
_STACK = 12
_MISSING = object()


class Watched:
    """What is watched in one process."""

    def __init__(self, book: Any, wanted: dict[str, Any], parts: Any) -> None:
        self._book = book
        self._parts = parts
        self._root = wanted["root"]
        self._module = wanted["module"]
        self._steps = wanted["steps"]
        self._frames: list[FrameType] = []  # of the function that knows the name, innermost last
        self._places: list[tuple[Any, str]] = []  # what held the value once, and its last text
        self._last: dict[int, str | None] = {}  # by place: id of the frame, or of the holder
        self._looked: Any = None  # the thread that looked last
        self._count = 0

    # -- what the program does ---------------------------------------------------------------------

    def entered(self, thread: Any, code: CodeType, frame: FrameType) -> None:
        """Note a call: of the function that knows the name, or another."""
        self._look(thread, frame)
        if not self._module:
            book = self._book
            name = self._parts.name_of(code, self._parts.arguments(code, frame))
            is_there = book.chosen.is_asked_for(code, name)
            if is_there and not self._parts.looks_at_itself(code):
                self._frames.append(frame)
        thread.line = (code, frame.f_lineno or code.co_firstlineno)
        thread.stack.append((thread.root, 0))

    def line(self, thread: Any, code: CodeType, line: int, frame: FrameType) -> None:
        """Look at what the line before did."""
        self._look(thread, frame)
        thread.line = (code, line)

    def left(self, thread: Any, frame: FrameType) -> None:
        """Look at what a call's last line did; its caller's line goes on."""
        self._look(thread, frame)
        if thread.stack:
            thread.stack.pop()
        if self._frames and any(one is frame for one in self._frames):
            self._frames = [one for one in self._frames if one is not frame]
            self._last.pop(id(frame), None)
        back = frame.f_back
        while back is not None and not self._book.chosen.is_ours(back.f_code):
            back = back.f_back
        thread.line = (back.f_code, back.f_lineno or 0) if back is not None else (None, 0)

    # -- what is seen ------------------------------------------------------------------------------

    def _look(self, thread: Any, frame: FrameType) -> None:
        is_sure = self._looked is thread or self._looked is None
        self._looked = thread
        if self._module:
            module = sys.modules.get(self._module)
            if module is not None:
                self._compare(thread, frame, 0, module.__dict__, is_sure=is_sure)
            return
        for one in self._frames[-2:]:
            held = self._parts.variables(one.f_code, one)
            self._compare(thread, frame, id(one), held, is_sure=is_sure)
        for holder, step in list(self._places):
            value = holder()
            if value is None:
                self._places.remove((holder, step))
            else:
                text = self._text(self._step(value, ["attribute", step]))
                self._tell(thread, frame, id(value), text, is_sure=is_sure)

    def _compare(
        self, thread: Any, frame: FrameType, key: int, names: dict[str, Any], *, is_sure: bool
    ) -> None:
        value = names.get(self._root, _MISSING)
        holder: Any = None
        for step in self._steps:
            holder = value
            value = self._step(value, step)
        is_field = bool(self._steps) and self._steps[-1][0] == "attribute"
        if is_field and holder is not _MISSING and self._hold(holder, self._steps[-1][1], value):
            return
        self._tell(thread, frame, key, self._text(value), is_sure=is_sure)

    def _hold(self, holder: Any, name: str, value: Any) -> bool:
        """Follow an object for as long as it lives; False if it cannot be followed."""
        if any(one() is holder for one, _ in self._places):
            return True
        if len(self._places) >= _HOLDERS:
            return False
        try:
            weak = ref(holder)
        except TypeError:
            return False
        self._last[id(holder)] = self._text(value)
        self._places.append((weak, name))
        return True

    def _step(self, value: Any, step: list[Any]) -> Any:
        kind, key = step
        if kind == "attribute":
            there, found = self._parts.field(value, key)
            return found if there else _MISSING
        if type(value) is dict and type(key) in (str, int):
            return value.get(key, _MISSING)
        if type(value) in (list, tuple) and type(key) is int and -len(value) <= key < len(value):
            return value[key]
        return _MISSING

    def _text(self, value: Any) -> str | None:
        return None if value is _MISSING else self._book.texts(value)

    def _tell(
        self, thread: Any, frame: FrameType, key: int, text: str | None, *, is_sure: bool
    ) -> None:
        known = self._last.get(key, _MISSING)
        self._last[key] = text
        if known is _MISSING and text is None:
            self._last.pop(key)
            return
        if known == text or self._count >= self._book.limits["writes"]:
            return
        code, line = thread.line
        if code is None:
            return
        self._count += 1
        old = None if known is _MISSING else known
        book = self._book
        function = book.number(code, None)
        stack = self._stack(frame)
        book.write(["w", book.stamp(), thread.number, function, line, old, text, stack, is_sure])

    def _stack(self, frame: FrameType | None) -> list[list[int]]:
        found: list[list[int]] = []
        while frame is not None and len(found) < _STACK:
            if self._book.chosen.is_ours(frame.f_code):
                number = self._book.number(frame.f_code, None)
                found.append([number, frame.f_lineno or 0])
            frame = frame.f_back
        return found
