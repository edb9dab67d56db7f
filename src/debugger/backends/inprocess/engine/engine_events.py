"""Defines the engine's events and requests, by address and number alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec


class EngineBreakpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Describes an address, and what happens there.

    `condition` and `log` are JavaScript expressions for a function of the registers, which are
    pointers (`(c) => c.rbp.sub(20).readS32() > 3`), made once; the result of `log` must fit in
    JSON. `native` is C with a function `int predicate(const unsigned long long *frame)`, for lines
    that are too hot for JavaScript; its frame is that of code/enter.S. After a negative answer
    `condition` decides. `record` is C, too, with a function `int values(const unsigned long long
    *frame, unsigned long long *words)`, which writes the `width` words of a record instead of the
    result of `log`; 0 means that `native` is false, a negative number that `condition` and `log`
    decide. The first `ignore` hits do nothing, then every `every`-th does; those of all points of a
    `group` are counted together. `rate` bounds the records of a second; 0 is no bound. Unused
    records are saved, up to `burst`. `caller` is the return address's offset from which register,
    rsp or rbp: it identifies the agent's own calls.
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
    """Describes a hardware watchpoint: `access` is r, w or rw; `changes` ignores equal values."""

    id: str
    address: int
    size: int = 8
    access: str = "w"
    changes: bool = True


class TracedFunction(msgspec.Struct, frozen=True, kw_only=True):
    """Describes a function whose calls and returns are recorded; the number is the caller's own.

    `texts` has a bit for each of the first six integer arguments that points to text; `has_room`
    says that no branch leads into the first bytes, behind the very first (`patch_sites.has_room`).
    """

    id: int
    address: int
    texts: int = 0
    has_room: bool = False


class EngineModule(msgspec.Struct, frozen=True, kw_only=True):
    """Describes a file that is mapped as code."""

    name: str
    path: str
    base: int
    size: int


class EngineThread(msgspec.Struct, frozen=True, kw_only=True):
    """Describes a thread of the program; Frida's own are not listed."""

    id: int
    name: str
    is_paused: bool


class HitTally(msgspec.Struct, frozen=True, kw_only=True):
    """Counts the hits of a point, and the records that were dropped."""

    hits: int
    dropped: int


class EngineEvent(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Reports what happened; `time` is in µs of CLOCK_MONOTONIC, measured in the program."""


class ThreadPaused(EngineEvent, frozen=True, kw_only=True):
    """Reports that a thread waits: at points, by request, for a watch, a crash, or a dlopen.

    `vectors` is the address of its FXSAVE image.
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
    """Reports a point's record: the result of its `log`, or the words of its `record` (a tuple)."""

    point: str
    thread: int
    hits: int
    values: Any
    time: float
    sequence: int


class EngineConditionFailed(EngineEvent, frozen=True, kw_only=True):
    """Reports that a condition or a template raised: nothing was paused or logged."""

    point: str
    thread: int
    text: str
    time: float
    sequence: int


class CallsRecorded(EngineEvent, frozen=True, kw_only=True):
    """Reports calls and returns of traced functions, in order; `lost` were dropped.

    They come by the thousand: `data` holds them as machine code wrote them, each an
    `agent_messages.CALL_RECORD`.
    """

    data: bytes
    lost: int = 0


class FunctionCalled(EngineEvent, frozen=True, kw_only=True):
    """Reports that a traced function was entered: its six integer argument registers, raw.

    `reals` are the lower halves of xmm0 and xmm1.
    """

    function: int
    thread: int
    arguments: tuple[int, ...]
    time: float
    reals: tuple[int, int] = (0, 0)
    texts: bytes = b""


class FunctionReturned(EngineEvent, frozen=True, kw_only=True):
    """Reports that a traced function returned; `took` is in µs."""

    function: int
    thread: int
    value: int
    took: float
    time: float
    second: int = 0
    reals: tuple[int, int] = (0, 0)


class RecordsDropped(EngineEvent, frozen=True, kw_only=True):
    """Reports that records were dropped."""

    records: int = 0
    calls: int = 0


class ModuleLoaded(EngineEvent, frozen=True, kw_only=True):
    """Reports that a library was mapped while the program ran."""

    module: EngineModule


class ModuleUnloaded(EngineEvent, frozen=True, kw_only=True):
    """Reports that a library was unmapped while the program ran, with the points in it."""

    base: int
    size: int


class EngineChildAppeared(EngineEvent, frozen=True, kw_only=True):
    """Reports a process that the program forked, or that became another by exec in its memory.

    It waits for a word at `at`, or at its parent's address (`child_processes`) where that is 0.
    `why` says that it runs without the agent, and the reason.
    """

    pid: int
    parent: int
    at: int = 0
    why: str | None = None


class ProgramReplaced(EngineEvent, frozen=True, kw_only=True):
    """Reports that an exec replaced the program: it waits for a word at `at`, or runs free."""

    at: int
    why: str | None = None


class EngineExited(EngineEvent, frozen=True, kw_only=True):
    """Reports the program's end: its status, or the signal; neither may be known of a guest."""

    status: int | None = None
    signal: int | None = None


class EngineLost(EngineEvent, frozen=True, kw_only=True):
    """Reports that the engine is no longer inside the program."""

    reason: str


class AgentFailed(EngineEvent, frozen=True, kw_only=True):
    """Reports an error of the agent's own."""

    text: str
