"""Samples a program's threads: stacks by a debugger, processor time and system calls in /proc."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from msgspec import Struct

from debugger.errors import DebuggerError
from debugger.model.events import EventKind, State
from debugger.model.location import is_library
from debugger.model.program import Frame, ResumeKind, Thread
from debugger.model.thread_waits import SystemCall, kind_of
from debugger.questions.hang.hang_verdict import (
    Loop,
    LoopSample,
    ThreadActivity,
    ThreadWait,
    find_loop,
)
from debugger.questions.runner import evidence_store
from debugger.questions.runner.question_run import RunningQuestion
from debugger.session import stop_report
from debugger.session.session import Session
from debugger.system import process_info as processes
from debugger.system.descriptor_peers import blocked_on
from debugger.system.process_info import ThreadState, child_commands, command_line
from debugger.system.wait_holders import describe_file_lock

_LAST = 3  # samples that suffice for a loop that began late
LinesOf = Callable[[str], Sequence[str] | None]


class SampledFrame(Struct, frozen=True):
    """A frame of a sample; `is_own` marks user code, and `values` are its variables."""

    function: str
    file: str | None = None
    line: int | None = None
    is_own: bool = False
    values: Mapping[str, str] = {}


class SampledThread(Struct, frozen=True):
    """A thread, a goroutine or a task with its stack in each sample, innermost frame first."""

    key: str
    name: str
    noun: str = "thread"
    stacks: tuple[tuple[SampledFrame, ...], ...] = ()
    wait: ThreadWait | None = None
    cpu: float | None = None  # the part of a processor that it used
    computes: bool | None = None
    # The kernel's number of the thread; 0 where it is not known.
    native: int = 0

    @property
    def last_stack(self) -> tuple[SampledFrame, ...]:
        """The stack of the last sample."""
        return self.stacks[-1] if self.stacks else ()


def summarise_thread(one: SampledThread, lines_of: LinesOf) -> ThreadActivity:
    """Return a thread's activity, with its loop if it computes."""
    found, _ = find_lasting_loop(one.stacks, lines_of) if one.wait is None else (None, None)
    distinct = {
        tuple((each.function, each.line) for each in stack if each.is_own) for stack in one.stacks
    }
    return ThreadActivity(
        key=one.key,
        name=one.name,
        noun=one.noun,
        computes=one.computes,
        wait=one.wait,
        loop=found,
        is_moving=len(distinct) > 1 and found is None,
        is_own=any(each.is_own for each in one.last_stack) or not one.last_stack,
    )


def find_lasting_loop(
    stacks: Sequence[Sequence[SampledFrame]], lines_of: LinesOf
) -> tuple[Loop | None, SampledFrame | None]:
    """Return the loop around all stacks, or around the last ones if it began only then."""
    found = find_common_loop(stacks, lines_of)
    if found[0] is None and len(stacks) > _LAST:
        found = find_common_loop(stacks[-_LAST:], lines_of)
    return found


def find_common_loop(
    stacks: Sequence[Sequence[SampledFrame]], lines_of: LinesOf
) -> tuple[Loop | None, SampledFrame | None]:
    """Return the innermost loop around all stacks, and its frame in the last one.

    A loop that ends by itself, in a function that another loop calls, is not the endless one.
    """
    outer = [list(reversed(stack)) for stack in stacks if stack]
    if not outer:
        return None, None
    inner: tuple[Loop | None, SampledFrame | None] = (None, None)
    for depth in range(_count_common_frames(outer) - 1, -1, -1):
        frames = [stack[depth] for stack in outer]
        last = frames[-1]
        source = lines_of(last.file) if last.is_own and last.file else None
        if source is None:
            continue
        rounds = [LoopSample(one.line, one.values) for one in frames if one.line]
        found = find_loop(source, rounds)
        if found is not None and not found.has_fixed_range:
            return found, last
        if found is not None and inner[0] is None:
            inner = found, last
    return inner


def _count_common_frames(outer: Sequence[Sequence[SampledFrame]]) -> int:
    """Count the common outermost frames: the last of them may be at different lines."""
    count = 0
    for frames in zip(*outer, strict=False):
        if len({(one.function, one.file) for one in frames}) > 1:
            break
        count += 1
        if len({one.line for one in frames}) > 1:
            break
    return count


_LEVELS = 40  # frames of a thread
_THREADS_MAX = 200
_THREADS_S = 2.0  # seconds to read all stacks
_VALUES_S = 1.5  # of V8, a set of millions takes 15 s
_VALUED = 3  # frames of the user's own whose values are read
_VALUES = 20  # variables of a frame


@dataclass
class StackSample:
    """One sample: the threads, and the frames of each, innermost first."""

    threads: list[Thread] = field(default_factory=list)
    frames: dict[int, tuple[Frame, ...]] = field(default_factory=dict)
    places: dict[int, tuple[SampledFrame, ...]] = field(default_factory=dict)
    is_slow: bool = False  # values took too long to read


async def run_briefly(run: RunningQuestion, seconds: float) -> bool:
    """Let the program run for a moment; False if it stops or ends meanwhile."""
    timeline = run.session.timeline
    # A wait for an event, so that a program that ends is noticed at once.
    event = await timeline.wait(timeline.cursor(), {EventKind.STOP, EventKind.EXIT}, seconds)
    return event is None and run.session.state is State.RUNNING


async def stop_program(run: RunningQuestion) -> bool:
    """Stop the program; False if it does not stop soon."""
    return await run.stop_and_report() is not None and run.session.state is State.STOPPED


async def go_on(session: Session) -> None:
    """Let a stopped program run on."""
    if session.state is State.STOPPED:
        await session.run_job(lambda: session.resume(ResumeKind.CONTINUE))


async def read_stacks(
    session: Session, found: StackSample, *, valued: Sequence[int] | None
) -> None:
    """Read the stacks of a stopped program (a job), with the values of computing threads.

    `valued` are those threads; None: all whose innermost frame is the user's own. If reading values
    takes too long, the frames are kept and the sample `is_slow`.
    """
    limit = asyncio.get_running_loop().time() + _THREADS_S
    found.threads = await session.backend.list_threads()
    for one in found.threads[:_THREADS_MAX]:
        if asyncio.get_running_loop().time() > limit:
            break
        with suppress(DebuggerError):
            stack = await session.backend.read_stack(one.id, levels=_LEVELS)
            frames = tuple(each for each in stack.frames if not _is_hidden(each))
            found.frames[one.id] = frames
            innermost = frames[0].file if frames else None
            own = not is_library(innermost, session.target.cwd)
            wants = one.id in valued if valued is not None else own
            # First without values: if these take too long, the location is known all the same.
            found.places[one.id] = await _sampled_frames(session, frames, wants_values=False)
            if wants:
                try:
                    async with asyncio.timeout(_VALUES_S):
                        found.places[one.id] = await _sampled_frames(
                            session, frames, wants_values=True
                        )
                except TimeoutError:
                    found.is_slow = True
                    return


def _is_hidden(frame: Frame) -> bool:
    return frame.function.startswith("___lldb_unnamed_symbol")


def _is_unknown(value: str) -> bool:
    """Return whether a value is unknown at this line, and so cannot count as changed."""
    # V8 has `undefined` of what optimised code needs no more, whatever it was.
    return value == "undefined" or evidence_store.is_unknown(value)


async def _sampled_frames(
    session: Session, frames: Sequence[Frame], *, wants_values: bool
) -> tuple[SampledFrame, ...]:
    places = []
    remaining = _VALUED if wants_values else 0
    for one in frames:
        own = not is_library(one.file, session.target.cwd)
        known: dict[str, str] = {}
        if own and remaining:
            remaining -= 1
            with suppress(DebuggerError):
                known = {
                    each.name: evidence_store.short_view(each).value
                    for each in await stop_report.frame_locals(session, one)
                    if not evidence_store.is_dull(each) and not _is_unknown(each.value)
                }
        shown = dict(list(known.items())[:_VALUES])
        places.append(SampledFrame(one.function, one.file, one.line, own, shown))
    return tuple(places)


_LOOKS = 10  # observations of a process
_STOPPED = frozenset({"T", "t"})
_COMPUTES = 0.5  # of a processor


@dataclass(frozen=True)
class ProcessWatch:
    """Several observations of a process in /proc over some time."""

    pid: int
    looks: Sequence[Mapping[int, ThreadState]]
    window_s: float
    waits: Mapping[int, ThreadWait] = field(default_factory=dict)

    @property
    def first_threads(self) -> Mapping[int, ThreadState]:
        """The threads at the first observation."""
        return self.looks[0]

    @property
    def last_threads(self) -> Mapping[int, ThreadState]:
        """The threads at the last observation."""
        return self.looks[-1]

    def is_computing(self, thread: int) -> bool:
        """Return whether a thread was runnable at most observations, even without a processor."""
        states = [sample[thread].state for sample in self.looks if thread in sample]
        return bool(states) and states.count("R") > len(states) / 2

    @property
    def any_computes(self) -> bool:
        """Whether a thread was computing, or all together: a goroutine changes its thread."""
        is_one = any(self.is_computing(one) for one in self.last_threads)
        return is_one or (self.processor_use or 0.0) > _COMPUTES

    def cpu_of(self, thread: int) -> float | None:
        """Return a thread's share of a processor; None if unknown."""
        then, now = self.first_threads.get(thread), self.last_threads.get(thread)
        if then is None or now is None or not self.window_s:
            return None
        return max(0.0, (now.cpu_s - then.cpu_s) / self.window_s)

    @property
    def processor_use(self) -> float | None:
        """The processor use of all threads; 1 is one processor."""
        used = [self.cpu_of(one) for one in self.last_threads]
        return sum(one or 0.0 for one in used) if used else None

    def call_of(self, thread: int) -> SystemCall | None:
        """Return the system call that a thread stays in."""
        # The second half is enough: the thread may have come to its wait during the first.
        then, now = self.looks[len(self.looks) // 2].get(thread), self.last_threads.get(thread)
        if then is None or now is None or then.call is None or now.call is None:
            return None
        return now.call if then.call.name == now.call.name else None

    @property
    def is_stopped(self) -> bool:
        """Whether a signal, or another debugger, has stopped the whole process."""
        return bool(self.last_threads) and all(
            one.state in _STOPPED for one in self.last_threads.values()
        )


async def watch_process(
    pid: int, window_s: float, interrupted: asyncio.Event, *, looks_up: bool = True
) -> ProcessWatch:
    """Observe a process for a while, and look up the waits of its system calls.

    Without `looks_up` these are unknown until `with_waits`.
    """
    loop = asyncio.get_running_loop()
    looks, began = [processes.read_threads(pid)], loop.time()
    for _ in range(_LOOKS):
        with suppress(TimeoutError):
            async with asyncio.timeout(window_s / _LOOKS):
                await interrupted.wait()
        looks.append(processes.read_threads(pid))
    took_s = loop.time() - began
    watch = ProcessWatch(pid, looks, took_s)
    return await with_waits(watch, watch.last_threads) if looks_up else watch


async def with_waits(watch: ProcessWatch, threads: Collection[int]) -> ProcessWatch:
    """Look up the waits of some threads' system calls."""
    chosen = {number: one for number, one in watch.last_threads.items() if number in threads}
    # In a thread, because the look-up of pipes and sockets reads /proc of all processes.
    return replace(watch, waits=await asyncio.to_thread(_thread_waits, watch.pid, chosen))


def _thread_waits(pid: int, threads: Mapping[int, ThreadState]) -> dict[int, ThreadWait]:
    found = {}
    for number, one in threads.items():
        wait = wait_of(pid, one.call) if one.call is not None else None
        if wait is not None:
            found[number] = wait
    return found


def wait_of(pid: int, call: SystemCall) -> ThreadWait | None:
    """Describe the wait of a system call."""
    kind = kind_of((), call)
    if kind == "io":
        return ThreadWait("io", blocked_on(pid, call))
    if kind == "child":
        return ThreadWait("child", _awaited_child(pid, call))
    if kind == "sleep":
        return ThreadWait("sleep")
    if kind == "file lock":
        return ThreadWait(kind, describe_file_lock(pid, call))
    return ThreadWait(kind) if kind else None


def _awaited_child(pid: int, call: SystemCall) -> str:
    found = child_commands(pid)
    requested = call.arguments[0] if call.arguments and call.name == "wait4" else 0
    chosen = {requested: found[requested]} if requested in found else found
    own = command_line(pid)
    # A fork has its parent's command line, which under a debugger is the debugger's, too.
    texts = [
        f"{number} ({'forked by it' if words == own else ' '.join(words)[:60]})"
        for number, words in list(chosen.items())[:3]
    ]
    return f"its child {', '.join(texts)}" if texts else "a child process"
