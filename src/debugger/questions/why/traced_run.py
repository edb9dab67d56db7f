"""Runs a compiled program once under gdb, by a plan, and returns what was seen."""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import msgspec
from msgspec import Struct, field

from debugger.backends import select_backend
from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.runner.command_call import CommandCall, stdin_bytes
from debugger.questions.runner.question_run import QuestionRun
from debugger.recorders.trace_server import TraceServer

_GRACE_S = 5.0  # seconds for gdb's own start and end
_KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")


class TraceValue(Struct, frozen=True):
    """A value in the program: its text, and where it lies."""

    text: str
    type: str = ""
    # int, unsigned, pointer, float, enum, bool, array or struct.
    kind: str = "struct"
    # 0 for a value without an address.
    address: int = 0
    size: int = 0
    # Its first bytes, in hexadecimal.
    bytes: str = ""
    # Of a pointer: the size of what it points to.
    pointee: int = 0
    # Whether it is a variable's that lies in a register, or that DWARF computes.
    is_register: bool = False
    # Of a bit-field: its lowest bit in the memory, and their number. Its bytes are its number's.
    bits: tuple[int, int] | None = None
    # Of a string object: where its characters lie, and their number.
    characters: tuple[int, int] | None = None
    # Of a struct: its fields with their offsets, sizes and kinds.
    fields: Mapping[str, tuple[int, int, str]] = field(default_factory=dict)

    @property
    def number(self) -> int:
        """The first eight bytes as an unsigned number."""
        return int.from_bytes(bytes.fromhex(self.bytes)[:8], "little")

    def is_equal(self, other: TraceValue) -> bool:
        """Return whether both values have the same bytes, as far as the shorter one goes."""
        least = min(len(self.bytes), len(other.bytes))
        is_wider = not self.bytes[least:].strip("0") and not other.bytes[least:].strip("0")
        return bool(least) and self.bytes[:least] == other.bytes[:least] and is_wider


class TraceFrame(Struct, frozen=True):
    """A frame of a stack, with the values of its statement if they were read."""

    function: str
    file: str | None = None
    line: int | None = None
    pc: int = 0
    # The canonical frame address, which names the frame; 0 if unknown.
    cfa: int = 0
    library: bool = False
    module: str = ""
    # The line of the function's definition, and its first instruction; 0 if unknown or inlined.
    first_line: int = 0
    entry: int = 0
    args: tuple[str, ...] = ()
    vars: Mapping[str, TraceValue] = field(default_factory=dict)
    statement: str = ""


class TraceEvent(Struct, frozen=True):
    """A change of watched memory, a return, or a system call that read into watched memory."""

    key: str
    count: int
    sequence: int
    frames: tuple[TraceFrame, ...]
    deep: bool = True
    thread: int = 0
    thread_name: str = ""
    old: str | None = None
    new: str | None = None
    # Heap blocks of the statement's pointers: the pointer's value, the block's start and size.
    blocks: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    # Of a write by `memcpy` or `memmove`: the address that it copied from; 0 where not known.
    source: int = 0
    # Of a return: the first eight bytes of the value, in hexadecimal; a floating-point one's.
    value: str = ""
    vector: str = ""
    # Of a return: a number or a pointer, as its type shows it.
    returned: TraceValue | None = None
    # Of a system call.
    call: str | None = None
    file: str | None = None
    offset: int | None = None
    inside: int = 0
    bytes: int = 0
    descriptor: int = 0

    @property
    def own(self) -> TraceFrame | None:
        """The innermost frame of the program's own code."""
        return next((one for one in self.frames if not one.library and one.file), None)

    @property
    def library_call(self) -> str:
        """The library function that the program's own code has called; "" for its own code."""
        name = ""
        for one in self.frames:
            if not one.library and one.file:
                return name
            name = one.function
        return name


class HeapBytes(Struct, frozen=True):
    """The bytes of the main heap, and of the C library's data; compressed, in base 64."""

    start: int
    end: int
    content: str
    arena: tuple[str, ...] = ()


class CodeFunction(Struct, frozen=True):
    """A function of the program, by its code."""

    name: str
    file: str
    line: int
    # Its first instruction.
    entry: int
    # Of each direct call: the line, and the first instruction of the function that is called.
    calls: tuple[tuple[int, int], ...] = ()


class Departure(Struct, frozen=True):
    """The first part by which a value departs from the one that a failed check compared it with."""

    # What reads the part behind the value's expression, and what shows it: of a text its rest.
    path: str
    shown: str
    value: str
    other: str


class TraceResult(Struct, frozen=True):
    """What a run has shown."""

    reached: bool = False
    hits: int = 0
    notes: tuple[str, ...] = ()
    initial: Mapping[str, str] = field(default_factory=dict)
    final: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    events: tuple[TraceEvent, ...] = ()
    frames: tuple[TraceFrame, ...] = ()
    # The number of the frame of the expression.
    frame: int = 0
    value: TraceValue | None = None
    # If set, the value is that of the part.
    departs: Departure | None = None
    error: str | None = None
    operands: Mapping[str, TraceValue | None] = field(default_factory=dict)
    region: str = ""
    block: tuple[int, int] | None = None
    # The begin and the end of the main heap; zeros without one.
    heap_range: tuple[int, int] = (0, 0)
    thread: int = 0
    thread_name: str = ""
    threads: int = 1
    signal: str | None = None
    exit_code: int | None = None
    condition_error: str | None = None
    pending: bool = False
    # By a frame's address, as text: the sequence number of its last call.
    entries: Mapping[str, int] = field(default_factory=dict)
    late: bool = False
    # Keys of lines and returns that came too often, and were not recorded to the end.
    hot: tuple[str, ...] = ()
    # Keys of watchpoints that did not watch all the time.
    partial: tuple[str, ...] = ()
    # Keys of watchpoints whose stores of an equal value were not seen to the end.
    unstored: tuple[str, ...] = ()
    # Keys of lines that have no code of their own.
    moved: tuple[str, ...] = ()
    seconds: float = 0.0
    failure: str | None = None
    heap: HeapBytes | None = None
    assigned: TraceValue | None = None
    functions: tuple[CodeFunction, ...] = ()
    # Addresses that have the bytes of the value, too: what was copied may lie there still.
    copies: tuple[int, ...] = ()
    # The random bytes that the system has given, call by call, in hexadecimal.
    random: tuple[str, ...] = ()

    def events_of(self, key: str) -> list[TraceEvent]:
        """Return the kept events of a key, in order."""
        return [one for one in self.events if one.key == key]


class WatchPlan(Struct, frozen=True):
    """Memory to watch: 1, 2, 4 or 8 bytes at an address that is a multiple of the size."""

    key: str
    address: int
    size: int
    # The first words of a heap block: of the program's own writes only those of a count of
    # references that becomes zero are events, with the key `KEY:dropped`.
    of_block: bool = False
    # Stores of the value that the memory has already are events, too: each load costs a stop.
    of_stores: bool = False
    # … until so many loads and stores: from then on changes alone are. 0 for no bound.
    uses_most: int = 0
    # Of a bit-field: its lowest bit, and their number.
    bits: tuple[int, int] | None = None
    # The bytes that the memory has at last: only changes to them have a stack.
    value: str = ""
    # Memory that has the value besides: it is dropped if it changes often.
    is_copy: bool = False
    # Of a local: its frame's address, and its function's first instruction, whose calls the plan
    # records. Where other calls change the memory very often, it is watched in these alone.
    owner: tuple[int, int] | None = None


class ReturnPlan(Struct, frozen=True):
    """A function whose returns to a frame are recorded; 0 is any frame."""

    key: str
    function: str
    caller: int = 0
    # The function of that frame.
    caller_function: str = ""
    # The source of the call, in which a lambda of that name may stand.
    file: str = ""
    # The first instructions of the function and of the one that calls it, where they are known.
    entry: int = 0
    caller_entry: int = 0
    # Whether it is recorded on the chance that the chain comes by it.
    is_site: bool = False
    # The lines that give its value, as far as its source tells.
    lines: tuple[int, ...] = ()
    # The first and the last line of a statement whose calls are followed to the functions that
    # they lead to, instead of one that is known; none without.
    calls: tuple[int, ...] = ()


class LinePlan(Struct, frozen=True):
    """A line whose executions are recorded: a write of an equal value is not seen otherwise."""

    key: str
    location: str
    # Whether it is recorded on the chance that the chain comes by it.
    is_site: bool = False
    # Only executions count at which one of these has the value, given as hexadecimal bytes.
    names: tuple[str, ...] = ()
    value: str = ""


class EndPlan(Struct, frozen=True):
    """The end of a run: a location's hit, a crash, the exit, or an event's count."""

    kind: str
    location: str = ""
    nth: int = 1
    when: str = ""
    key: str = ""
    count: int = 0


class TracePlan(Struct, frozen=True):
    """All that one run is to do."""

    end: EndPlan
    watches: tuple[WatchPlan, ...] = ()
    returns: tuple[ReturnPlan, ...] = ()
    lines: tuple[LinePlan, ...] = ()
    # Locations of functions of which the moment of each frame's last call is kept.
    entries: tuple[str, ...] = ()
    # Record system calls that read into watched memory.
    reads: bool = False
    blocks: bool = False
    expression: str = ""
    # Of each comparison of a failed check with this value: the other value, how they are compared
    # (`value`, `text`, `memory`), and the number of bytes. The first part that differs is read.
    compared: tuple[tuple[str, str, str], ...] = ()
    frame: int = 0
    # The random bytes of an earlier run, which the program is given again.
    random: tuple[str, ...] = ()
    # Return where the expression's bytes are besides, or these ones, in hexadecimal.
    finds_copies: bool = False
    copied: str = ""
    # Return the heap's bytes at the end, and the value of this second expression.
    heap: bool = False
    assigned: str = ""
    # The most functions that are returned with their calls, from the stack's on.
    calls: int = 0
    # The number of own frames of an event whose operands are read, …
    deep_frames: int = 4
    # … the number of events with a stack, …
    deep_max: int = 400
    # … and the count of a key from which on its events have a stack.
    deep_from: Mapping[str, int] = field(default_factory=dict)
    # The forks that lead to the process that is traced, each by its number among its parent's.
    forks: tuple[int, ...] = ()


async def run_traced(
    call: CommandCall, question: QuestionRun, plan: TracePlan, *, seconds: float
) -> TraceResult:
    """Run the program once, and return what was seen.

    Raises:
        DebuggerError: ADAPTER_NOT_FOUND without gdb, LAUNCH_FAILED if it cannot be run, TIMEOUT if
        not even gdb's own answer came in time.
    """
    result = await _run_debugger(call, question, plan, seconds=seconds)
    if result is None and plan.lines:
        # gdb 16.3 fails at some lines of inlined code: "Recursive internal problem".
        without = msgspec.structs.replace(plan, lines=())
        result = await _run_debugger(call, question, without, seconds=seconds)
        if result is not None:
            unknown = (*result.hot, *(one.key for one in plan.lines))
            result = msgspec.structs.replace(result, hot=unknown)
    if result is None:
        raise DebuggerError(
            ErrorCode.LAUNCH_FAILED,
            "gdb ended without an answer",
            hint="debugger doctor checks gdb; debugger who-wrote EXPR --at LOC -- CMD",
        )
    return result


@asynccontextmanager
async def serve_traces(call: CommandCall, question: QuestionRun) -> AsyncIterator[QuestionRun]:
    """Yield the question with a debugger that all its traced runs share, unless it has one.

    Raises:
        DebuggerError: What the body raises.
    """
    target = question.target
    if question.tracer is not None or not isinstance(target, LaunchTarget):
        yield question
        return
    stdin = await stdin_bytes(target)

    def build_command(folder: Path) -> tuple[Sequence[str], Mapping[str, str]]:
        located = select_backend.find_scripted_debugger(call.env, call.config.adapters)
        return located, _debugger_environment(call, folder, str(target.program))

    failure: Exception | None = None
    async with asyncio.TaskGroup() as tasks:
        server = TraceServer(
            tasks,
            call.scratch_root,
            question.patience.interrupted,
            build_command,
            stdin=stdin,
            shown=(str(target.program), *target.args),
        )
        try:
            yield replace(question, tracer=server)
        except Exception as error:  # noqa: BLE001 - raised below, with no group around it
            failure = error
        finally:
            await server.end()
    if failure is not None:
        raise failure


async def _run_debugger(
    call: CommandCall, question: QuestionRun, plan: TracePlan, *, seconds: float
) -> TraceResult | None:
    """Return the result of one run under gdb; None if that ended without one."""
    target = question.target
    assert isinstance(target, LaunchTarget)
    if re.search(r"[\x00-\x1f]", f"{target.program}{target.cwd}"):
        raise DebuggerError(
            ErrorCode.USAGE,
            "a control character in the path of the program or of its folder",
            hint="debugger crash -- ./program runs it by another name",
        )
    call.scratch_root.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="why-", dir=call.scratch_root))
    try:
        result, planned = folder / "result.json", folder / "plan.json"
        planned.write_bytes(msgspec.json.encode(_plan_data(target, plan, str(result), seconds)))
        async with serve_traces(call, question) as served:
            assert served.tracer is not None
            is_over = await served.tracer.run_plan(planned, timeout_s=seconds + _GRACE_S)
        return await asyncio.to_thread(_read_result, result, is_timed_out=not is_over)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _plan_data(
    target: LaunchTarget, plan: TracePlan, result: str, seconds: float
) -> dict[str, object]:
    return {
        **msgspec.to_builtins(plan),
        "program": target.program,
        "cwd": target.cwd,
        "args": list(target.args),
        "env": dict(target.env),
        "result": result,
        "seconds": seconds,
    }


def _debugger_environment(call: CommandCall, folder: Path, program: str) -> dict[str, str]:
    """Return gdb's own environment: the program's is part of the plan."""
    variables = {name: call.env[name] for name in _KEPT_VARIABLES if name in call.env}
    return {
        **variables,
        # gdb starts the program by this shell, and the user's may read files of its own.
        "SHELL": "/bin/sh",
        "DEBUGGER_WHY_SERVED": str(folder),
        "DEBUGGER_WHY_PROGRAM": program,
        "DEBUGGER_WHY_FOLDER": str(select_backend.TRACE_SCRIPT.parent),
    }


def _read_result(path: Path, *, is_timed_out: bool) -> TraceResult | None:
    try:
        found = msgspec.json.decode(path.read_bytes(), type=TraceResult)
    except OSError:
        return TraceResult(late=True) if is_timed_out else None
    if found.failure is not None:
        raise DebuggerError(
            ErrorCode.LAUNCH_FAILED,
            f"the traced run failed: {found.failure}",
            hint="debugger who-wrote EXPR --at LOC -- CMD goes another way",
        )
    return found
