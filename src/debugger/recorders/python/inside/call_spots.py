"""The calls of one process that are under way, and those that share a way to their function."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

# Of the many calls without recorded lines, for which the collection of garbage would look at three
# dictionaries more each.
_NOTHING: dict[str, Any] = {}


class CallSpot:
    """A call, or several calls of the same path; `level` counts from the requested call."""

    __slots__ = (
        "began",
        "calls",
        "code",
        "count",
        "due",
        "exact",
        "first",
        "fixed",
        "id",
        "is_lined",
        "is_single",
        "kids",
        "last",
        "level",
        "line",
        "number",
        "outer",
        "owner",
        "parent",
        "passed",
        "raised",
        "sampled",
        "sizes",
        "spot",
        "steps",
        "told",
        "total",
    )

    def __init__(
        self, code: CodeType | None, parent: CallSpot | None, level: int, owner: ThreadCalls
    ) -> None:
        self.code = code
        # As a call that a hook has begun (see `hooked_calls`), it is its own node.
        self.spot = self
        self.parent = self.outer = parent
        self.level = level
        self.owner = owner
        self.kids: dict[int, Any] = {}  # by the identity of their code, which they keep alive
        self.id = 0
        self.number = 0  # of the function
        self.count = 0
        self.raised = 0
        self.total = 0.0  # seconds
        # When the call began that a hook times; 0.0 for one that is recorded by itself.
        self.began: float | None = None
        self.first = 0
        self.told = (0, 0, 0.0)
        self.is_single = False
        # Of a path that hooks count: the next call that is timed (0: each one), the first that may
        # not be, and the last that was.
        self.due = self.exact = self.sampled = 0
        self.steps = 0  # of a generator that hooks follow: its starts and resumptions; else 1
        self.is_lined = False
        # Of a call whose lines are recorded: its last line, the number of its thread's calls then,
        # the texts of its variables, and those of them that cannot change.
        self.line = self.calls = 0
        self.last: dict[str, str] = _NOTHING
        self.fixed: dict[str, Any] = _NOTHING
        self.sizes: dict[str, int] = _NOTHING  # of containers (see `compared_lines`)
        self.passed = 0

    def begin_lines(self, values: dict[str, str]) -> None:
        """Let the lines of the call be recorded; `values` are the texts of its arguments."""
        self.is_lined = True
        self.last, self.fixed, self.sizes = values, {}, {}


class ThreadCalls:
    """The running calls of one thread: the innermost node, its callers, and their start times.

    Of rewritten code the callers are not listed: each frame knows its own.
    """

    __slots__ = ("calls", "end", "is_over", "number", "root", "stack", "top")

    def __init__(self, number: int, level: int) -> None:
        self.number = number
        self.root = self.top = CallSpot(None, None, level, self)
        self.stack: list[tuple[CallSpot, float]] = []  # what is outside of it, and when it began
        self.calls = 0  # that began or went on, without those of paths that count themselves
        self.is_over = False  # of the process that forked this one
        self.end: Any = None  # a weak reference to what ends with the thread


class ThreadTable(dict):  # type: ignore[type-arg]
    """The records of threads by their identity; code objects with it stay hashable."""

    __slots__ = ()
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self is other

    def __reduce__(self) -> Any:
        """Leave nothing of us in code of the program that is sent to another process."""
        return dict, ()
