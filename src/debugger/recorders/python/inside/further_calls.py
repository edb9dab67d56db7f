"""Counts the further calls of functions that are recorded no more, with sys.monitoring.

The first of them are counted by a callback. The code of a function that is called often gets a
counter of its own (see `counted_code`), where the function is found; the calls of other functions
of the same code are still counted by the callback.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

_MANY = 256  # calls, after which a function is searched for by its name
_STILL_MANY = 1_024  # calls that the callback counts, before `on_many` is called
_SEARCHED = 2_048  # so many calls after that, all functions are searched


class _CountedFunction:
    """The number of further calls of one function's code."""

    __slots__ = ("code", "count", "counter")

    def __init__(self, code: CodeType) -> None:
        self.code = code  # kept alive, since it is found by its identity
        self.count = 0  # by the callback
        self.counter: Any = None  # of the code that counts its calls itself


class FurtherCalls:
    """The further calls of all functions of a process.

    Without a free tool id nothing is counted.
    """

    def __init__(self, book: Any, parts: Any, on_many: Callable[[CodeType], None]) -> None:
        self._book = book
        self._parts = parts
        self._on_many = on_many  # called where the calls of code are many, and a callback counts
        self._monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        self._tool = -1
        self._counted: dict[int, _CountedFunction] = {}
        self._replacer: Any = parts.FunctionReplacer(self._make_code)
        self._code_parts: Any = None

    def begin(self) -> None:
        """Reserve a tool id for the callback."""
        self._tool = self._parts.claimed()
        if self._tool >= 0:
            events = self._monitoring.events
            self._parts.register_callbacks(self._tool, (events.PY_START, self._make_on_start()))

    def add(self, code: CodeType, count: int) -> None:
        """Count the calls of code from now on, besides some that were not recorded already."""
        if self._tool >= 0:
            one = self._counted.setdefault(id(code), _CountedFunction(code))
            one.count += count
            self._monitoring.set_local_events(self._tool, code, self._monitoring.events.PY_START)

    def has_made(self, code: CodeType) -> bool:
        """Return whether code counts its calls itself."""
        return bool(self._replacer.has_made(code))

    def count_all(self) -> list[tuple[CodeType, int]]:
        """Return the number of further calls of each function."""
        found = []
        for one in list(self._counted.values()):
            taken = self._parts.read_counter(one.counter) if one.counter is not None else 0
            found.append((one.code, one.count + taken))
        return found

    def reset(self) -> None:
        """Count nothing, as a forked child does, in which functions are recorded again."""
        for one in self._counted.values():
            if self._tool >= 0:
                self._monitoring.set_local_events(self._tool, one.code, 0)
        self._replacer.restore()
        self._counted.clear()

    def end(self) -> None:
        """Request no more events."""
        if self._tool >= 0:
            for one in list(self._counted.values()):
                self._monitoring.set_local_events(self._tool, one.code, 0)
            self._monitoring.free_tool_id(self._tool)
            self._tool = -1

    def leave_bytecode(self) -> None:
        """Let all code of the program be as it was: the program reads bytecode."""
        self._replacer.end()

    def _make_on_start(self) -> Any:
        counted, count_due = self._counted, self._count_due

        def on_start(code: CodeType, _offset: int) -> None:
            one = counted[id(code)]
            count = one.count = one.count + 1
            if not count % _MANY:
                count_due(one)

        return on_start

    def _count_due(self, one: _CountedFunction) -> None:
        """Give a function that is called often a counter of its own; the caller is a callback."""
        try:
            if one.count == _MANY and self._can_replace():
                frame = sys._getframe(2)  # noqa: SLF001 - there is no other way
                self._replacer.replace_running(one.code, frame)
            elif one.count == _STILL_MANY:
                self._on_many(one.code)
            elif not one.count % _SEARCHED and self._can_replace():
                often = [each for each in list(self._counted.values()) if each.count >= _SEARCHED]
                self._replacer.search(each.code for each in often)
        except Exception as error:  # noqa: BLE001 - ours, and not to become the program's
            if self._book.fault(error):
                self.end()

    def _can_replace(self) -> bool:
        if not self._parts.can_count():
            return False
        if self._code_parts is None:
            self._code_parts = self._parts.load_part("bytecode")
        return True

    def _make_code(self, code: CodeType) -> CodeType | None:
        """Return code that counts its calls itself; None if its form is not known."""
        one = self._counted[id(code)]
        if one.counter is None:
            one.counter = self._parts.make_counter()
        made: CodeType | None = self._parts.add_counter(code, one.counter, self._code_parts)
        if made is not None:
            self._book.plain_codes[id(made)] = code
        return made
