"""Records which statements of a Node program drop a promise that nobody ever awaits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.recorders.model import Recording
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


class DroppedPromiseRecorder:
    """Has one Node process rewrite its own scripts as it loads them (`ProcessRecorder`)."""

    # Before the program: Node's own parser of JavaScript is not accessible otherwise.
    options = ("--expose-internals", "--require", str(_BEGIN))

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = tuple(roots)
        self.found: tuple[DroppedPromise, ...] = ()

    def recording_environment(self, env: Mapping[str, str], folder: Path) -> dict[str, str]:
        """Write the order, and name it to the process."""
        written = folder / "dropped-order.json"
        order = _DroppedOrder(self._roots, str(folder / "dropped.json"))
        written.write_bytes(msgspec.json.encode(order))
        return {**env, "DEBUGGER_DROPPED_ORDER": str(written)}

    def last_words(self, pid: int) -> bool:  # noqa: ARG002 - a protocol
        """Do nothing: a process that computes hears no signal."""
        return False

    def read_recordings(
        self,
        folder: Path,
        pid: int,  # noqa: ARG002
    ) -> tuple[tuple[Recording, ...], tuple[str, ...]]:
        """Keep the statements that the process wrote; there is no recording."""
        path = folder / "dropped.json"
        if path.is_file() and path.stat().st_size <= _RESULT_MAX:
            self.found = msgspec.json.decode(path.read_bytes(), type=tuple[DroppedPromise, ...])
        return (), ()
