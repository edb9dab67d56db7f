"""Defines the engine's events and requests, by address and number alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec


class EngineBreakpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Describes an address, and what happens there: a condition, a record, a pause.

    Code in JavaScript is an expression for a function of the registers, which are pointers (`(c) =>
    c.rbp.sub(20).readS32() > 3`); it is compiled once.
    """

    # The name in all reports; the owner's prefix tells breakpoints, steps and watches apart.
    id: str
    address: int
    # JavaScript; true lets the hit count.
    condition: str | None = None
    # JavaScript; its result, which must fit in JSON, is recorded.
    log: str | None = None
    # C with `int predicate(const unsigned long long *frame)`, for lines that are too hot for
    # JavaScript; the frame is that of code/enter.S. After a negative answer `condition`
    # decides.
    native: str | None = None
    # C with `int values(const unsigned long long *frame, unsigned long long *words)`: writes
    # the `width` words of a record instead of the result of `log`. 0 means that `native` is
    # false, a negative number that `condition` and `log` decide.
    record: str | None = None
    width: int = 0
    pauses: bool = True
    # The first `ignore` hits do nothing, then every `every`-th does.
    ignore: int = 0
    every: int = 1
    # The hits of all points of a group are counted together.
    group: str | None = None
    # Bounds the records of a second; 0 is no bound. Unused records are saved, up to `burst`.
    rate: int = 0
    burst: int = 0
    temporary: bool = False
    thread: int | None = None
    # The return address's offset from a register, rsp or rbp: it identifies the agent's own
    # calls.
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
    # breakpoint, pause, watch, crash or module.
    reason: str
    registers: Mapping[str, int]
    time: float
    # The order in which the agent has reported it, among all records and pauses.
    sequence: int
    vectors: int = 0
    # The points that stop there, and which hit of the first one it is.
    points: tuple[str, ...] = ()
    hits: int = 0
    # Name, old and new content of each watchpoint that has changed.
    watches: tuple[tuple[str, bytes, bytes], ...] = ()
    # Of a crash: the signal, si_code and si_addr of its siginfo.
    signal: int = 0
    signal_code: int = 0
    fault: int = 0
    # Of a pause for a module: where it was mapped.
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
