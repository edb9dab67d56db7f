"""Records where a value of a Node program comes from, by a rewritten copy of its own scripts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.recorders.model import Recording

_BEGIN = Path(__file__).parent / "inside" / "origin_begin.cjs"
_RESULT_MAX = 4 << 20  # bytes


class OriginPlace(Struct, frozen=True):
    """A line of a source, and its function if it is known."""

    file: str
    line: int
    function: str = ""


class OriginOperand(Struct, frozen=True):
    """A value that a statement read."""

    text: str
    value: str | None = None
    is_followed: bool = False


class OriginLink(Struct, frozen=True):
    """A link of the chain, as the program's own process found it."""

    kind: str
    certainty: str
    text: str
    frame: OriginPlace
    statement: str = ""
    stack: tuple[OriginPlace, ...] = ()
    old: str | None = None
    new: str | None = None
    details: tuple[str, ...] = ()
    operands: tuple[OriginOperand, ...] = ()


class NodeOriginOrder(Struct, frozen=True):
    """The order to the recorder: the expression, its place and hit; none of them for a crash."""

    roots: tuple[str, ...]
    expression: str = ""
    file: str = ""
    line: int = 0
    function: str = ""
    when: str = ""
    # From 1; -1 is the last hit, before the exception that nobody caught.
    nth: int = 1
    links: int = 12
    result: str = ""


class NodeOrigin(Struct, frozen=True):
    """What a recorded run found."""

    links: tuple[OriginLink, ...] = ()
    value: str | None = None
    frame: OriginPlace | None = None
    ended: str = ""
    ending: str | None = None
    # The times that the place was reached, and whether it was found in a script that ran.
    hits: int = 0
    hooked: bool = False
    # The place was reached at the requested hit.
    located: bool = False
    # The expression's error there, the condition's, and the recorder's own.
    failure: str | None = None
    condition: str | None = None
    fault: str | None = None
    # The exception that nobody caught, and where it was made.
    event: str | None = None
    crash: OriginPlace | None = None
    notes: tuple[str, ...] = ()


class NodeOriginRecorder:
    """Has one Node process rewrite its own scripts as it loads them (`ProcessRecorder`)."""

    # Before the program: Node's own parser of JavaScript is not accessible otherwise.
    options = ("--expose-internals", "--require", str(_BEGIN))

    def __init__(self, order: NodeOriginOrder) -> None:
        self._order = order
        self.found: NodeOrigin | None = None

    def recording_environment(self, env: Mapping[str, str], folder: Path) -> dict[str, str]:
        """Write the order, and name it to the process."""
        written = folder / "origin-order.json"
        order = msgspec.structs.replace(self._order, result=str(folder / "origin.json"))
        written.write_bytes(msgspec.json.encode(order))
        return {**env, "DEBUGGER_ORIGIN_ORDER": str(written)}

    def last_words(self, pid: int) -> bool:  # noqa: ARG002 - a protocol
        """Do nothing: a process that computes hears no signal."""
        return False

    def read_recordings(
        self,
        folder: Path,
        pid: int,  # noqa: ARG002
    ) -> tuple[tuple[Recording, ...], tuple[str, ...]]:
        """Keep the chain that the process wrote; there is no recording."""
        path = folder / "origin.json"
        if path.is_file() and path.stat().st_size <= _RESULT_MAX:
            self.found = msgspec.json.decode(path.read_bytes(), type=NodeOrigin)
        return (), ()
