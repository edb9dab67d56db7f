"""Defines the engine's events and requests, by address and number alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec


class EngineBreakpoint(msgspec.Struct, frozen=True, kw_only=True):
    """What is to happen at an address.

    `condition` and `log` are JavaScript expressions for a function of the registers, which are
    pointers (`(c) => c.rbp.sub(20).readS32() > 3`), made once; what `log` returns JSON must hold.
    `native` is C with a function `int predicate(const unsigned long long *frame)`, for lines that
    are too hot for JavaScript; its frame is that of code/enter.S. A negative answer of it means
    that `condition` is to be asked. `record` is C, too, with a function `int values(const unsigned
    long long *frame, unsigned long long *words)`, which writes the `width` words that a record
    then has instead of what `log` returns; 0 of it means that `native` does not hold, a negative
    number that `condition` and `log` are to be asked. The first `ignore` hits do nothing, then
    every `every`-th does; those of all points of a `group` are counted together. `rate` bounds the
    records of a second; 0 is no bound. What of it was not used is saved, up to `burst` records.
    `caller` is how far above which register, rsp or rbp, the return address is: it tells the
    agent's own calls.
    """

    id: str
    address: int
    condition: str | None = None
    log: str | None = None
    native: str | None = None
    record: str | None = None
    width: int = 0
    pauses: bool = True
    ignore: int = 0
    every: int = 1
    group: str | None = None
    rate: int = 0
    burst: int = 0
    temporary: bool = False
    thread: int | None = None
    caller: tuple[str, int] | None = None


class EngineWatch(msgspec.Struct, frozen=True, kw_only=True):
    """A hardware watchpoint: `access` is r, w or rw; with `changes` only a new value counts."""

    id: str
    address: int
    size: int = 8
    access: str = "w"
    changes: bool = True


class TracedFunction(msgspec.Struct, frozen=True, kw_only=True):
    """A function whose calls and returns are told; the number is the caller's own.

    `texts` has a bit for each of the first six integer arguments that points to text; `has_room`
    says that nothing leads into the first bytes, behind the very first (`wide.has_room`).
    """

    id: int
    address: int
    texts: int = 0
    has_room: bool = False


class EngineModule(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is mapped as code."""

    name: str
    path: str
    base: int
    size: int


class EngineThread(msgspec.Struct, frozen=True, kw_only=True):
    """A thread of the program, none of ours."""

    id: int
    name: str
    is_paused: bool


class HitTally(msgspec.Struct, frozen=True, kw_only=True):
    """How often a point was hit, and how many of its records there was no room for."""

    hits: int
    dropped: int


class EngineEvent(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What happened; `time` is in µs of CLOCK_MONOTONIC, where the program is the witness."""


class ThreadPaused(EngineEvent, frozen=True, kw_only=True):
    """A thread waits: at points, by request, at a watched change, for a crash, in a dlopen.

    `vectors` is where its FXSAVE image lies.
    """

    thread: int
    reason: str
    registers: Mapping[str, int]
    time: float
    sequence: int
    vectors: int = 0
    points: tuple[str, ...] = ()
    hits: int = 0
    watches: tuple[tuple[str, bytes, bytes], ...] = ()
    signal: int = 0
    signal_code: int = 0
    fault: int = 0
    base: int = 0


class RecordLogged(EngineEvent, frozen=True, kw_only=True):
    """A point's record: what its `log` returned, or as a tuple the words of its `record`."""

    point: str
    thread: int
    hits: int
    values: Any
    time: float
    sequence: int


class EngineConditionFailed(EngineEvent, frozen=True, kw_only=True):
    """A condition or a template raised: nothing was paused or logged."""

    point: str
    thread: int
    text: str
    time: float
    sequence: int


class CallsRecorded(EngineEvent, frozen=True, kw_only=True):
    """Calls and returns of traced functions, in order; `lost` had no room.

    They come by the thousand: `data` holds them as machine code wrote them, each an
    `agent_messages.CALL_RECORD`.
    """

    data: bytes
    lost: int = 0


class FunctionCalled(EngineEvent, frozen=True, kw_only=True):
    """A traced function was entered: its six integer argument registers, raw.

    `reals` are the lower halves of xmm0 and xmm1.
    """

    function: int
    thread: int
    arguments: tuple[int, ...]
    time: float
    reals: tuple[int, int] = (0, 0)
    texts: bytes = b""


class FunctionReturned(EngineEvent, frozen=True, kw_only=True):
    """A traced function returned; `took` is in µs."""

    function: int
    thread: int
    value: int
    took: float
    time: float
    second: int = 0
    reals: tuple[int, int] = (0, 0)


class RecordsDropped(EngineEvent, frozen=True, kw_only=True):
    """Records for which there was no room."""

    records: int = 0
    calls: int = 0


class ModuleLoaded(EngineEvent, frozen=True, kw_only=True):
    """A library was mapped while the program ran."""

    module: EngineModule


class ModuleUnloaded(EngineEvent, frozen=True, kw_only=True):
    """A library was unmapped while the program ran, with the points that stood in it."""

    base: int
    size: int


class EngineChildAppeared(EngineEvent, frozen=True, kw_only=True):
    """A process that the program forked, or that became another by exec in its memory.

    It waits: for a word at `at`, or for that of its parent's (`kin`) where that is 0. `why` says
    that it runs free, and why.
    """

    pid: int
    parent: int
    at: int = 0
    why: str | None = None


class ProgramReplaced(EngineEvent, frozen=True, kw_only=True):
    """The program is another by exec: it waits for a word at `at`, or runs free, and `why`."""

    at: int
    why: str | None = None


class EngineExited(EngineEvent, frozen=True, kw_only=True):
    """The program ended: its status, or the signal that killed it; neither is known of a guest."""

    status: int | None = None
    signal: int | None = None


class EngineLost(EngineEvent, frozen=True, kw_only=True):
    """The engine is no longer inside the program."""

    reason: str


class AgentFailed(EngineEvent, frozen=True, kw_only=True):
    """A mistake of the agent's own."""

    text: str
