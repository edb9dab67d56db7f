"""Records where a value of a Node program comes from, by a rewritten copy of its own scripts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.recorders.model import Recording
from debugger.system.node_options import with_preloaded

_BEGIN = Path(__file__).parent / "inside" / "origin_begin.cjs"
# Stops a program at its end, where its names are known still.
EXIT_BEGIN = str(Path(__file__).parent / "inside" / "exit_begin.cjs")
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


class OriginWrite(Struct, frozen=True):
    """A write of the expression; an old value of None is not known."""

    frame: OriginPlace
    stack: tuple[OriginPlace, ...] = ()
    statement: str = ""
    old: str | None = None
    new: str | None = None


class OriginHistory(Struct, frozen=True):
    """The last writes of a variable or a property before the place."""

    writes: tuple[OriginWrite, ...] = ()
    # Earlier ones that were not kept.
    dropped: int = 0
    # The last write gave the value that was read.
    is_last: bool = True


class OriginChange(Struct, frozen=True):
    """A statement between two hits of a line after which the expressions had changed."""

    # The numbers of the hits, from 1.
    first: int
    second: int
    frame: OriginPlace
    statement: str
    # The run of the statement since the first hit that changed it, and all of its runs.
    run: int
    runs: int
    before: str | None = None
    after: str | None = None
    # Nothing changed it further before the second hit.
    is_final: bool = False
    # The arguments that a loop chose, the function that was called, and where the first argument
    # comes from.
    operands: tuple[OriginOperand, ...] = ()
    called: OriginPlace | None = None
    source: OriginPlace | None = None


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
    # The line is where the program crashed: any of its statements may be the one that failed.
    is_thrown: bool = False
    links: int = 12
    # Find what changes the expressions between the hits, which `expression` is a list of.
    is_changes: bool = False
    # List the writes of the expression, too.
    is_history: bool = False
    result: str = ""


class NodeOrigin(Struct, frozen=True):
    """What a recorded run found."""

    links: tuple[OriginLink, ...] = ()
    value: str | None = None
    # The part of the expression by which its value failed a check, as `.pages[1].slice(13)`, and
    # what the other value has there; then `value` is that of the part.
    part: str = ""
    other: str | None = None
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
    changes: tuple[OriginChange, ...] = ()
    # None for an expression that is neither a variable nor a property with a value of its own.
    history: OriginHistory | None = None
    notes: tuple[str, ...] = ()


class RewritingRecorder:
    """Has Node processes rewrite their own scripts as they load them (`ProcessRecorder`).

    A process gets an order in a file, which a variable names, and writes a result of at most
    `result_max` bytes. There is no recording beside it.
    """

    def __init__(self, begin: Path, name: str, *, result_max: int) -> None:
        self._begin = begin
        self._name = name
        self._result_max = result_max

    def make_order(self, result: str) -> Struct:
        """Return the order, with the path of the result."""
        raise NotImplementedError

    def take_result(self, result: bytes) -> None:
        """Keep what the process wrote."""
        raise NotImplementedError

    def recording_environment(self, env: Mapping[str, str], folder: Path) -> dict[str, str]:
        """Write the order, and name it to the process."""
        written, result = folder / f"{self._name}-order.json", folder / f"{self._name}.json"
        written.write_bytes(msgspec.json.encode(self.make_order(str(result))))
        options = with_preloaded(str(self._begin), env.get("NODE_OPTIONS") or "")
        order = f"DEBUGGER_{self._name.upper()}_ORDER"
        return {**env, order: str(written), "NODE_OPTIONS": options}

    def last_words(self, pid: int) -> bool:  # noqa: ARG002 - a protocol
        """Do nothing: a process that computes hears no signal."""
        return False

    def read_recordings(
        self,
        folder: Path,
        pid: int,  # noqa: ARG002
    ) -> tuple[tuple[Recording, ...], tuple[str, ...]]:
        """Take what the process wrote."""
        path = folder / f"{self._name}.json"
        if path.is_file() and path.stat().st_size <= self._result_max:
            self.take_result(path.read_bytes())
        return (), ()


class NodeOriginRecorder(RewritingRecorder):
    """Records where one value comes from."""

    def __init__(self, order: NodeOriginOrder) -> None:
        super().__init__(_BEGIN, "origin", result_max=_RESULT_MAX)
        self._order = order
        self.found: NodeOrigin | None = None

    def make_order(self, result: str) -> NodeOriginOrder:
        """Return the order, with the path of the result."""
        return msgspec.structs.replace(self._order, result=result)

    def take_result(self, result: bytes) -> None:
        """Keep the chain."""
        self.found = msgspec.json.decode(result, type=NodeOrigin)
