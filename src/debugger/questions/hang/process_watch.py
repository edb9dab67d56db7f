"""Reads without a debugger what a process's threads do: processor time, system calls."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from debugger.model.thread_waits import SystemCall, kind_of
from debugger.questions.hang.hang_verdict import ThreadWait
from debugger.system import thread_states as processes
from debugger.system.descriptor_peers import blocked_on
from debugger.system.process_info import child_commands, command_line
from debugger.system.thread_states import ThreadState

_LOOKS = 10
_STOPPED = frozenset({"T", "t"})


@dataclass(frozen=True)
class ProcessWatch:
    """Several looks at a process, over some time."""

    pid: int
    looks: Sequence[Mapping[int, ThreadState]]
    window_s: float
    waits: Mapping[int, ThreadWait] = field(default_factory=dict)

    @property
    def first_threads(self) -> Mapping[int, ThreadState]:
        """The threads at the first look."""
        return self.looks[0]

    @property
    def last_threads(self) -> Mapping[int, ThreadState]:
        """The threads at the last look."""
        return self.looks[-1]

    def is_computing(self, thread: int) -> bool:
        """Tell whether a thread wanted a processor at most looks, though others may have had it."""
        states = [look[thread].state for look in self.looks if thread in look]
        return bool(states) and states.count("R") > len(states) / 2

    @property
    def any_computes(self) -> bool:
        """Whether some thread wanted a processor."""
        return any(self.is_computing(one) for one in self.last_threads)

    def cpu_of(self, thread: int) -> float | None:
        """Return what part of a processor a thread used; None where it is not known."""
        then, now = self.first_threads.get(thread), self.last_threads.get(thread)
        if then is None or now is None or not self.window_s:
            return None
        return max(0.0, (now.cpu_s - then.cpu_s) / self.window_s)

    @property
    def processor_use(self) -> float | None:
        """What all threads used together; 1 is one processor."""
        used = [self.cpu_of(one) for one in self.last_threads]
        return sum(one or 0.0 for one in used) if used else None

    def call_of(self, thread: int) -> SystemCall | None:
        """Return the system call that a thread stays in."""
        then, now = self.looks[len(self.looks) // 2].get(thread), self.last_threads.get(thread)
        if then is None or now is None or then.call is None or now.call is None:
            return None
        return now.call if then.call.name == now.call.name else None

    @property
    def is_stopped(self) -> bool:
        """Whether a signal, or another debugger, has stopped all of it."""
        return bool(self.last_threads) and all(
            one.state in _STOPPED for one in self.last_threads.values()
        )


async def watch_process(pid: int, window_s: float, interrupted: asyncio.Event) -> ProcessWatch:
    """Look at a process for a while; what its system calls wait for is looked up meanwhile."""
    loop = asyncio.get_running_loop()
    looks, began = [processes.read_threads(pid)], loop.time()
    for _ in range(_LOOKS):
        with suppress(TimeoutError):
            async with asyncio.timeout(window_s / _LOOKS):
                await interrupted.wait()
        looks.append(processes.read_threads(pid))
    took_s = loop.time() - began
    waits = await asyncio.to_thread(_thread_waits, pid, looks[-1])
    return ProcessWatch(pid, looks, took_s, waits)


def _thread_waits(pid: int, threads: Mapping[int, ThreadState]) -> dict[int, ThreadWait]:
    found = {}
    for number, one in threads.items():
        wait = wait_of(pid, one.call) if one.call is not None else None
        if wait is not None:
            found[number] = wait
    return found


def wait_of(pid: int, call: SystemCall) -> ThreadWait | None:
    """Say what a system call waits for."""
    kind = kind_of((), call)
    if kind == "io":
        return ThreadWait("io", blocked_on(pid, call))
    if kind == "child":
        return ThreadWait("child", _awaited_child(pid, call))
    if kind == "sleep":
        return ThreadWait("sleep")
    return ThreadWait(kind) if kind else None


def _awaited_child(pid: int, call: SystemCall) -> str:
    found = child_commands(pid)
    wanted = call.arguments[0] if call.arguments and call.name == "wait4" else 0
    chosen = {wanted: found[wanted]} if wanted in found else found
    own = command_line(pid)
    # A fork has its parent's command line, which under a debugger is the debugger's, too.
    told = [
        f"{number} ({'forked by it' if words == own else ' '.join(words)[:60]})"
        for number, words in list(chosen.items())[:3]
    ]
    return f"its child {', '.join(told)}" if told else "a child process"
