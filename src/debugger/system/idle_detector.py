"""Decides from /proc whether an idle process tree waits for input or for connections."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct, structs

from debugger.model.thread_waits import SystemCall
from debugger.system.descriptor_peers import listening_ports, watched_descriptors
from debugger.system.process_info import ThreadState, child_commands, look_at, read_threads

INPUT, CONNECTIONS = "input", "connections"
CHECK_S = 0.5
QUIET_S = 1.0  # how long nothing may happen before a wait is reported
# A thread that sleeps wakes by itself: what it then does may be what the user waits for.
SLEEPER_S = 10.0
_PROCESSES_MAX = 64
# Shorter is a server's own polling, as Python's socketserver does it; longer a timer of Node's.
_SLEEP_MS = range(1001, 5001)
_CPU_SHARE = 0.05
_CPU_LEAST_S = 0.03
# Also stopped threads: a process in a stop is not idle.
_ACTIVE = frozenset("RDtT")
_ENDED = frozenset("ZX")
_SLEEPS = frozenset({"nanosleep", "clock_nanosleep"})
_READS = frozenset({"read", "readv", "pread64"})
_ACCEPTS = frozenset({"accept", "accept4"})
_POLL_TIMEOUT = {"poll": 2, "epoll_wait": 3, "epoll_pwait": 3}


class IdleWait(Struct, frozen=True):
    """The wait of an idle program: input on stdin (`source`), or connections (`ports`).

    `idle_s` is the time without activity.
    """

    kind: str
    pid: int
    program: str
    call: str
    source: str = ""
    ports: tuple[int, ...] = ()
    idle_s: float = 0.0


class _Snapshot(Struct, frozen=True):
    """A process tree at one moment; `waits` is None if some thread is active."""

    pids: frozenset[int]
    cpu_s: float
    waits: tuple[IdleWait, ...] | None
    has_sleeper: bool


class IdleDetector:
    """Compares a process tree with its earlier state; it is idle if nothing has happened."""

    def __init__(self, pid: int, helper_words: Sequence[str] = ()) -> None:
        self._pid = pid
        # Found in the command lines of processes that a debugger starts below the program: they
        # have sockets and pipes of their own.
        self._helper_words = helper_words
        self._since: tuple[float, _Snapshot] | None = None

    def update(self, now_s: float) -> IdleWait | None:
        """Return the tree's wait once it has been idle long enough; None until then."""
        snapshot = _take_snapshot(self._pid, self._helper_words)
        if not snapshot.waits:
            self._since = None
            return None
        if self._since is None or _is_active(self._since[1], snapshot, now_s - self._since[0]):
            self._since = now_s, snapshot
            return None
        idle_s = now_s - self._since[0]
        if idle_s < (SLEEPER_S if snapshot.has_sleeper else QUIET_S):
            return None
        return structs.replace(_merge_waits(snapshot.waits), idle_s=idle_s)


def _is_active(before: _Snapshot, after: _Snapshot, elapsed_s: float) -> bool:
    allowed_s = max(_CPU_LEAST_S, _CPU_SHARE * elapsed_s)
    kinds = {(one.kind, one.pid) for one in before.waits or ()}
    is_same = before.pids == after.pids and kinds == {
        (one.kind, one.pid) for one in after.waits or ()
    }
    return not is_same or after.cpu_s - before.cpu_s > allowed_s


def _merge_waits(waits: tuple[IdleWait, ...]) -> IdleWait:
    """Choose one wait; a server that also reads its terminal's keys counts as serving."""
    serving = [one for one in waits if one.kind == CONNECTIONS]
    if not serving:
        return waits[0]
    ports = sorted({port for one in serving for port in one.ports})
    first = serving[0]
    return IdleWait(CONNECTIONS, first.pid, first.program, first.call, ports=tuple(ports))


def _take_snapshot(root: int, helper_words: Sequence[str]) -> _Snapshot:
    stdin = _stdin_of(root)
    pids, cpu_s, has_sleeper = [], 0.0, False
    waits: list[IdleWait] = []
    for pid in _process_tree(root, helper_words):
        found = read_threads(pid)
        if not found or all(one.state in _ENDED for one in found.values()):
            continue
        pids.append(pid)
        cpu_s += sum(one.cpu_s for one in found.values())
        if any(one.state in _ACTIVE for one in found.values()):
            return _Snapshot(frozenset(pids), cpu_s, None, has_sleeper)
        has_sleeper = has_sleeper or any(_is_sleep_call(one.call) for one in found.values())
        waits += _waits_of(pid, found, stdin)
    return _Snapshot(frozenset(pids), cpu_s, tuple(waits), has_sleeper)


def _process_tree(root: int, helper_words: Sequence[str]) -> Iterator[int]:
    """Yield a process and its descendants, without those of a debug adapter."""
    pending, known = [root], {root}
    while pending and len(known) <= _PROCESSES_MAX:
        pid = pending.pop(0)
        yield pid
        for child, words in child_commands(pid).items():
            is_helper = any(own in word for word in words for own in helper_words)
            if child not in known and not is_helper:
                known.add(child)
                pending.append(child)


def _stdin_of(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/fd/0")
    except OSError:
        return ""


def _is_sleep_call(call: SystemCall | None) -> bool:
    if call is None:
        return False
    if call.name in _SLEEPS:
        return True
    if call.name in {"select", "pselect6", "poll", "ppoll"} and not _watched_count(call):
        return True  # the way in which older programs sleep
    at = _POLL_TIMEOUT.get(call.name)
    if at is None or len(call.arguments) <= at:
        return False
    return call.arguments[at] & 0xFFFFFFFF in _SLEEP_MS


def _watched_count(call: SystemCall) -> int:
    """Return the number of descriptors given to poll or select."""
    at = 1 if call.name in {"poll", "ppoll"} else 0
    return call.arguments[at] if len(call.arguments) > at else 0


def _waits_of(pid: int, found: dict[int, ThreadState], stdin: str) -> Iterator[IdleWait]:
    process = look_at(pid)
    if process is None:
        return
    # Node's inspector listens in a thread of its own; the program's sockets are the first one's.
    is_node = process.interpreter == "javascript"
    for number, one in found.items():
        if one.call is None or (is_node and number != pid):
            continue
        numbers = _descriptors_of(pid, one.call)
        if 0 in numbers and one.call.name not in _ACCEPTS and stdin == _stdin_of(pid) != "":
            yield IdleWait(INPUT, pid, process.name, one.call.name, source=stdin)
        ports = () if one.call.name in _READS else tuple(listening_ports(pid, numbers))
        if ports:
            yield IdleWait(CONNECTIONS, pid, process.name, one.call.name, ports=ports)


def _descriptors_of(pid: int, call: SystemCall) -> tuple[int, ...]:
    if call.name in _READS | _ACCEPTS:
        return call.arguments[:1]
    return tuple(watched_descriptors(pid, call))


def queued_s(pid: int) -> float:
    """Return the longest time that one of a process's threads has waited for a processor.

    The time is the second number of /proc/PID/task/TID/schedstat, in nanoseconds; 0 without it.
    """
    found = [0.0]
    for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            found.append(int(file.read_text().split()[1]) / 1e9)
        except (OSError, ValueError, IndexError):
            continue
    return max(found)
