"""Relates the sessions of a program and of its child processes."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from debugger.backends.base import AttachTarget, LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import Breakpoint, BreakpointSpec
from debugger.model.debugger_words import ForkFollowing, Runtime
from debugger.model.events import Event, EventKind, State
from debugger.symbols.program_file import may_fork, may_start_processes

if TYPE_CHECKING:
    from debugger.backends.base import ChildStarted
    from debugger.session.session import Session

    Job = Callable[[Session], Awaitable[object]]

# What `other_process_notes` says of sessions.
_OF_SESSIONS = re.compile(r"this is \S+, (?:a child process|a worker) of \S+\Z|stopped too: ")


class ProcessTree(Protocol):
    """The interface of the session list that a session uses."""

    def add_child(self, parent: Session, child: ChildStarted) -> None:
        """Make a session of a child process."""

    def live_children(self, parent: Session) -> list[Session]:
        """Return the sessions of child processes that still live."""

    def note_change(self) -> None:
        """Note that a session's name, program, pid or life has changed."""

    def tree_sessions(self, session: Session) -> list[Session]:
        """Return the sessions of a process tree: of a program and its child processes."""

    def count_forgotten(self, session: Session) -> int:
        """Return how many processes of a tree have ended and are no longer kept."""

    def make_current(self, session: Session) -> None:
        """Make a session the current one."""


_NAMED_MAX = 5
_STARTED = 19  # the field of proc_pid_stat(5), counted from the state
_SOON_S = 1.0  # seconds in which a new process may still get a session
_STATE_AFTER = {EventKind.STOP: State.STOPPED, EventKind.EXIT: State.TERMINATED}
_RUNS = {State.INITIALIZING, State.CONFIGURING, State.RUNNING}
# A program's end reaches its children's adapters a little later than its own.
_SETTLE_S = 0.3
_END_S = 2.0  # seconds until a process that is asked to end is killed


@dataclass
class TimelineCursors:
    """The reported positions in a process tree's timeline."""

    # Up to here events are in stop reports.
    reported: int = 0
    # Up to here output was read by `output`.
    asked: int = 0
    # Up to here events were reported as notes.
    noted: int = 0
    # Processes that were already reported to have no session.
    free: set[int] = field(default_factory=set)

    def note_reported(self, cursor: int) -> None:
        """Record that events up to a cursor were reported as notes."""
        self.noted = cursor

    def advance(self, cursor: int) -> None:
        """Record that events up to a cursor were in a report."""
        self.reported = max(self.reported, cursor)

    def advance_output(self, cursor: int) -> None:
        """Record that the output up to a cursor was read by `output`."""
        self.asked = cursor

    def note_free(self, pids: Iterable[int]) -> None:
        """Record processes that were reported to have no session."""
        self.free |= {*pids}


def ended_elsewhere(name: str) -> DebuggerError:
    """Return the error for a command whose session another command ended."""
    return DebuggerError(
        ErrorCode.NO_SESSION,
        f"the session {name} was ended by another command",
        hint="debugger sessions",
    )


def root_session(session: Session) -> Session:
    """Return the session of the tree's first program."""
    while session.parent is not None:
        session = session.parent
    return session


def find_roots(session: Session) -> list[Session]:
    """Return the sessions that share a timeline and have no parent."""
    return [one for one in session.family.tree_sessions(session) if one.parent is None]


def descendants(session: Session) -> list[Session]:
    """Return the sessions of all processes below a program."""
    found = [session]
    for one in session.family.tree_sessions(session):  # parents come before their children
        if one.parent in found:
            found.append(one)
    return found[1:]


@asynccontextmanager
async def observe_end(session: Session, *, kill: bool) -> AsyncIterator[None]:
    """Wait for the end of a process that is being ended (bounded), or kill it.

    The supervisor ends a started program with all its processes. It does not end an attached one,
    and debugpy only requests the end of a child.
    """
    is_guarded = session.parent is None and isinstance(session.target, LaunchTarget)
    is_elsewhere = isinstance(session.target, AttachTarget) and session.target.connect is not None
    if not kill or is_guarded or is_elsewhere or not session.is_live or session.pid is None:
        yield
        return
    try:
        # A descriptor of the process, because its pid may be reused after the end (Linux 5.3).
        process = os.pidfd_open(session.pid)
    except (AttributeError, OSError):  # no Linux; or it has gone
        yield
        return
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    # A pidfd becomes readable when its process ends.
    loop.add_reader(process, over.set)
    try:
        yield
        try:
            async with asyncio.timeout(_END_S):
                await over.wait()
        except TimeoutError:
            with suppress(OSError):
                signal.pidfd_send_signal(process, signal.SIGKILL)
    finally:
        loop.remove_reader(process)
        os.close(process)


def ends_quietly(session: Session, *, awaits_root: bool = False) -> bool:
    """Return whether a session's end is no answer to a wait: a child's, while others still run.

    With `awaits_root` the first program ran when the wait began: its end is the answer, even if it
    is reported after its last child's.
    """
    if session.parent is None:
        return False
    if awaits_root or not root_session(session).is_noted:  # the program's end is told at any moment
        return True
    return any(one.is_live for one in _other_sessions(session))


def ends_wait(event: Event, happened: Session, *, awaits_root: bool) -> bool:
    """Return whether an event of a session ends a wait."""
    if event.kind is EventKind.EXIT and ends_quietly(happened, awaits_root=awaits_root):
        return False
    # Else it went on, or ended, whose event comes; or somebody else started it again.
    return happened.state is _STATE_AFTER[event.kind]


def session_to_report(
    event: Event, happened: Session, resumed: Session, *, awaits_root: bool
) -> Session | None:
    """Return the session to report for an event of one of a tree; None if the wait goes on."""
    if ends_wait(event, happened, awaits_root=awaits_root):
        return whose_end(happened)
    # What another process stopped for meanwhile is the next stop after the resumed one's end.
    is_over = happened is resumed and resumed.state is State.TERMINATED
    return stopped_too(resumed) if is_over else None


def whose_end(session: Session) -> Session:
    """Return the session whose end to report: the first program's, if that is unreported."""
    program = root_session(session)
    is_over = session.state is program.state is State.TERMINATED
    return program if is_over and program.is_noted and not program.is_reported else session


def find_member(session: Session, name: str) -> Session | None:
    """Return the session of this process tree with a name."""
    return next((one for one in session.family.tree_sessions(session) if one.name == name), None)


def find_unreported(session: Session) -> Session | None:
    """Return a session with an unreported stop or end, this one first."""
    for one in [session, *_other_sessions(session)]:
        is_over = one.state is State.TERMINATED and not ends_quietly(one)
        if not one.is_reported and (one.state is State.STOPPED or is_over):
            return one
    return None


def find_writer(session: Session, rank: str) -> Session:
    """Return the session of the rank that wrote a line of a launcher's output."""
    if rank:
        for one in reversed(session.family.tree_sessions(session)):
            if one.process.rank == rank:
                return one
    return session


def find_debugged(session: Session) -> Session:
    """Return a session, or in place of a launcher's a live one of what it has started."""
    if not session.traits.is_launcher:
        return session
    others = [one for one in _other_sessions(session) if one.is_live]
    return next((one for one in others if not one.traits.is_launcher), session)


def stopped_too(session: Session) -> Session | None:
    """Return another process of the tree with an unreported stop."""
    for one in _other_sessions(session):
        if one.state is State.STOPPED and not one.is_reported:
            return one
    return None


def is_of_sessions(note: str) -> bool:
    """Return whether a note only names sessions, which is of no use after a question's end."""
    return _OF_SESSIONS.match(note) is not None


def other_process_notes(session: Session) -> list[str]:
    """Return notes on the tree's other stopped processes, and on those without a session."""
    notes = []
    if session.parent is not None:
        kind = "a child process" if session.pid is not None else "a worker"
        notes.append(f"this is {session.name}, {kind} of {session.parent.name}")
    stopped = [one.name for one in _other_sessions(session) if one.state is State.STOPPED]
    if stopped:
        more = f" and {len(stopped) - _NAMED_MAX} more" * (len(stopped) > _NAMED_MAX)
        names = ", ".join(stopped[:_NAMED_MAX])
        notes.append(f"stopped too: {names}{more}: debugger use {stopped[0]}")
    return notes + _uncontrolled_processes(session)


def still_running(session: Session) -> tuple[str, ...]:
    """Return the names of the tree's other running sessions."""
    return tuple(one.name for one in _other_sessions(session) if one.state in _RUNS)


def _uncontrolled_processes(session: Session) -> list[str]:
    """Return a note on the program's child processes without a session, once for each.

    LLDB follows the parent at a fork; debugpy does not reach through a shell; gdb leaves alone a
    child that shares its parent's memory, and one that it could not attach to.
    """
    traits = session.traits
    if traits.is_launcher:
        return []  # its members are processes below it, and have sessions as they start
    known = {one.pid for one in session.family.tree_sessions(session) if one.error is None}
    # Reported once for all sessions of the tree, hence in the shared cursors.
    known |= session.cursors.free
    has_process = session.pid is not None and session.is_live
    found = session.process.list_children(session.pid or 0) if has_process else {}
    free = {
        pid: words
        for pid, words in found.items()
        # What has not become a session yet is debugpy's own start of it; js-debug has a watchdog.
        if pid not in known
        if not any(own in word for word in words for own in traits.helper_words)
        if not _is_process_stopped(pid)
        if not (traits.fork_following is ForkFollowing.SOON and _is_new(pid))
    }
    if not free:
        return []
    session.cursors.note_free(free)
    named = [f"{pid} ({Path(words[0]).name})" for pid, words in free.items() if words]
    if not named:
        return []
    more = f" and {len(named) - _NAMED_MAX} more" * (len(named) > _NAMED_MAX)
    way = "; --adapter gdb follows a fork" if traits.fork_following is ForkFollowing.NEVER else ""
    return [f"not debugged, started by the program: {', '.join(named[:_NAMED_MAX])}{more}{way}"]


def describe_unseen(session: Session) -> str:
    """Say which processes of a compiled program its debugger does not see; "" if it sees all."""
    target, traits = session.target, session.traits
    path = target.program if isinstance(target, LaunchTarget) else None
    if path is None or traits.is_launcher or traits.runtime not in {Runtime.NATIVE, Runtime.GO}:
        return ""
    # The Frida engine, which follows them soon, also follows the programs that are started.
    if traits.fork_following is ForkFollowing.SOON or not may_start_processes(path):
        return ""
    is_fork = traits.fork_following is ForkFollowing.NEVER and may_fork(path)
    what = "what it forks" if is_fork else "the programs that it starts"
    if traits.runtime is Runtime.GO:
        return f"{session.adapter} does not see {what}: debug a command of theirs by itself"
    by = "--backend frida does, and --adapter gdb" if is_fork else "--backend frida does"
    return f"{session.adapter} does not see {what}: {by}"


def _is_new(pid: int) -> bool:
    """Return whether a process started just now, so that a session may still follow."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return True  # it has ended
    # The name in parentheses may contain blanks and parentheses.
    began_s = int(stat.rpartition(")")[2].split()[_STARTED]) / os.sysconf("SC_CLK_TCK")
    return time.clock_gettime(time.CLOCK_BOOTTIME) - began_s < _SOON_S


def _is_process_stopped(pid: int) -> bool:
    """Return whether a process is stopped, by its debugger or before one has attached."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[:1] in (["t"], ["T"])


async def wait_for_child_ends(session: Session) -> None:
    """Wait briefly for the ends of child processes after their program's end."""
    timeline = session.timeline
    limit = asyncio.get_running_loop().time() + _SETTLE_S
    while True:
        # Taken before the states are read: an end in between wakes the wait at once.
        cursor = timeline.cursor()
        remaining = limit - asyncio.get_running_loop().time()
        ending = [one for one in _other_sessions(session) if one.state is State.RUNNING]
        if not ending or remaining <= 0:
            return
        await timeline.wait(cursor, {EventKind.EXIT}, remaining)


def note_ends(session: Session) -> None:
    """Mark the earlier ends in the tree as reported, together with this one."""
    for one in _other_sessions(session):
        if one.state is State.TERMINATED and one.error is None:
            one.is_reported = True


def find_running(session: Session) -> Session:
    """Return a session, or if it has ended another of its tree that still runs."""
    if session.state is not State.TERMINATED:
        return session
    return next((one for one in _other_sessions(session) if one.state in _RUNS), session)


def is_ending(session: Session) -> bool:
    """Return whether a session has ended and the tree still has an end to report."""
    return session.state is State.TERMINATED and any(
        one.state is State.TERMINATED and not one.is_noted
        for one in [session, *_other_sessions(session)]
    )


def _other_sessions(session: Session) -> list[Session]:
    return [one for one in session.family.tree_sessions(session) if one is not session]


# -- breakpoints are a family's: each process has all of them, under the same numbers -----------


async def add_breakpoint(
    session: Session, spec: BreakpointSpec, *, only: Container[Session] | None = None
) -> Breakpoint:
    """Add a breakpoint in a program and in all running processes of its tree.

    With `only` it is disabled in all others, and in their child processes.

    Raises:
        DebuggerError: What the backend raises; then no process has it.
    """
    made = await session.run_job(lambda: session.binding.add(spec))
    disabled = msgspec.structs.replace(made, spec=msgspec.structs.replace(made.spec, enabled=False))
    await _in_the_others(
        session,
        lambda one: one.binding.adopt(made if only is None or one in only else disabled),
    )
    return made


async def drop_breakpoint(session: Session, known: Breakpoint) -> None:
    """Remove a breakpoint in all processes."""
    await session.run_job(lambda: session.binding.remove(known))
    await _in_the_others(session, lambda one: one.binding.drop_number(known.id))


async def switch_elsewhere(session: Session, number: int, *, on: bool) -> None:
    """Enable or disable a breakpoint in the other processes."""
    await _in_the_others(session, lambda one: one.binding.enable(number, on=on))


async def change_breakpoint(
    session: Session, number: int, change: Callable[[BreakpointSpec], BreakpointSpec]
) -> Breakpoint:
    """Change what a breakpoint does at its location, in all processes.

    Raises:
        DebuggerError: NOT_FOUND, and what the backend raises; then no process has the change.
    """
    changed = await session.run_job(lambda: session.binding.change(number, change))
    await _in_the_others(session, lambda one: one.binding.change(number, change))
    return changed


def drop_later_elsewhere(session: Session, known: Breakpoint) -> None:
    """Remove a temporary breakpoint in the other processes after a stop at it."""
    for one in _sharing_sessions(session):
        one.drop_later(known.id)


def count_hits(session: Session, number: int) -> int:
    """Count the hits of a breakpoint in all processes."""
    return sum(one.breakpoints.count_hits(number) for one in [session, *_other_sessions(session)])


async def _in_the_others(session: Session, job: Job) -> None:
    async def turn(one: Session) -> None:
        # One that ends meanwhile needs it no more.
        with suppress(DebuggerError):
            await one.run_job(lambda: job(one))

    await asyncio.gather(*(turn(one) for one in _sharing_sessions(session)))


def _sharing_sessions(session: Session) -> list[Session]:
    """Return the other sessions with breakpoints: live ones, and the program, for a restart."""
    return [one for one in _other_sessions(session) if one.is_live or one.parent is None]
