"""Says which code objects are followed, and what is known of each."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})


class FollowedCode:
    """A code object of the program's own."""

    __slots__ = (
        *("code", "counter", "enter", "generates", "is_entry", "is_import"),
        *("is_location", "is_own", "met", "plans", "unrecorded_trace", "watched"),
    )

    def __init__(self, code: CodeType, *, is_own: bool) -> None:
        self.code = code
        self.is_own = is_own  # and not made by a library
        self.generates = False
        self.is_entry = self.is_location = self.is_import = False
        self.plans: Any = None  # of its statements, once they are needed
        self.watched = False  # it may write one of the watched names
        self.met = 0  # the calls that a trace has counted
        self.counter: Any = None  # reads how many calls were counted without a trace
        self.unrecorded_trace: Any = None  # the trace function of calls that are not recorded
        self.enter: Any = None  # handles the frame of the question's own expression

    @property
    def calls(self) -> int:
        """How often it was called."""
        return self.met if self.counter is None else self.counter()


class FollowedCodes:
    """Finds the code that is followed: the program's own, and constructors made for it."""

    def __init__(self, chosen: Any, hits: Any, windows: Any, plans: Any, parts: Any) -> None:
        self._chosen = chosen
        self._plans = plans  # of sources
        self._hits = hits
        self._windows = windows
        self._parts = parts

    def is_own(self, code: CodeType) -> bool:
        """Return whether code is the program's own, and would not notice a read of its values."""
        is_listed = code.co_name not in _COMPREHENSIONS and self._chosen.file(code.co_filename)
        return bool(is_listed) and not self._parts.looks_at_itself(code)

    def needs_each_call(self, code: CodeType) -> bool:
        """Return whether calls of code are of interest that are not recorded by their number."""
        return bool(self._hits.is_entry(code))

    def line_in(self, code: CodeType) -> int:
        """Return the location's line, if it is one of code; 0 for none."""
        return int(self._hits.line) if self._hits.has_line(code) else 0

    def watched_lines(self, code: CodeType) -> list[int]:
        """Return the lines of code whose statements may write one of the watched names."""
        watched = self._windows.watched
        if watched.isdisjoint(code.co_names):
            return []
        plans = self._parts.WatchedPlans(self._plans.of_code(code), watched)
        return sorted(line for line in self._parts.lines_of(code) if plans.get(line))

    def make(self, code: CodeType, trace: Any) -> FollowedCode | None:
        """Return what is known of code; None if it is not followed.

        Args:
            code: The code of a call that begins.
            trace: The trace function of calls that are not recorded.
        """
        is_made = code.co_filename == "<string>"
        is_made = is_made and (code.co_name == "__init__" or makes_tuple(code))
        is_own = self.is_own(code)
        if not (is_own or is_made):
            return None
        known = FollowedCode(code, is_own=is_own)
        known.generates = bool(code.co_flags & self._parts.GENERATES)
        known.is_location = self._hits.has_line(code)
        known.is_entry = self._hits.is_entry(code)
        known.watched = bool(self.watched_lines(code))
        if known.is_location or self._hits.event:
            known.unrecorded_trace = trace
        return known


def makes_tuple(code: CodeType) -> bool:
    """Return whether code is the constructor that `namedtuple` makes."""
    return code.co_name == "<lambda>" and code.co_varnames[:1] == ("_cls",)
