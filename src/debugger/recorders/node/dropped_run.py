"""Records which statements of a Node program drop a promise that nobody ever awaits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.recorders.node.origin_run import RewritingRecorder
from debugger.recorders.node.source_maps import original_location

_BEGIN = Path(__file__).parent / "inside" / "dropped_begin.cjs"
_RESULT_MAX = 1 << 20  # bytes


class PromisePlace(Struct, frozen=True):
    """A location in a script that ran; `function` is empty if it has no name."""

    file: str
    line: int
    column: int
    function: str = ""

    def original(self) -> PromisePlace:
        """Return the place in the source, if the script is compiled from one."""
        found = original_location(self.file, self.line, self.column)
        return PromisePlace(*found, 0, self.function) if found is not None else self


class DroppedPromise(PromisePlace, frozen=True):
    """A statement whose value was a promise that nobody awaited to the end of the run."""

    count: int = 1
    # At the end of the run: pending, fulfilled or rejected.
    state: str = "pending"
    # The statement ends in `.then(…)` or `.finally(…)`.
    is_chained: bool = False
    made: PromisePlace | None = None


class _DroppedOrder(Struct, frozen=True):
    """The order to the recorder."""

    roots: tuple[str, ...]
    result: str


class DroppedPromiseRecorder(RewritingRecorder):
    """Records the statements that drop a promise."""

    def __init__(self, roots: Sequence[str]) -> None:
        super().__init__(_BEGIN, "dropped", result_max=_RESULT_MAX)
        self._roots = tuple(roots)
        self.found: tuple[DroppedPromise, ...] = ()

    def make_order(self, result: str) -> _DroppedOrder:
        """Return the order, with the path of the result."""
        return _DroppedOrder(self._roots, result)

    def take_result(self, result: bytes) -> None:
        """Keep the statements."""
        self.found = msgspec.json.decode(result, type=tuple[DroppedPromise, ...])
