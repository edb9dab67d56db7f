"""Reads what each thread of a member does, and which threads and members it waits for."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import PurePath

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.debugger_words import Runtime
from debugger.model.events import State
from debugger.model.group_merge import StackPlace
from debugger.model.location import is_library
from debugger.model.program import EvaluationPurpose, Frame, StopReason
from debugger.model.statement import join_statement
from debugger.model.thread_waits import SystemCall
from debugger.questions.group import group_pause, member_meetings, mpi_calls
from debugger.questions.group.member_meetings import MeetingFacts
from debugger.questions.group.member_stacks import (
    PlaceOf,
    describe_state,
    find_file,
    read_source_line,
    read_stopped_stacks,
)
from debugger.questions.group.member_wait import (
    CHILD,
    COMPUTES,
    ENDED,
    FAILED,
    LOCKED,
    SILENT,
    STARTING,
    STOPPED,
    WAITS,
    Blocker,
    MemberWait,
    calls_mpi,
    is_meeting_call,
)
from debugger.questions.group.mpi_calls import MpiCall
from debugger.questions.hang import goroutine_waits, native_waits, python_waits, thread_sampling
from debugger.questions.hang.hang_verdict import ThreadWait
from debugger.questions.hang.thread_sampling import (
    ProcessWatch,
    SampledThread,
    StackSample,
    watch_process,
    with_waits,
)
from debugger.session import source_files
from debugger.session.group import Group, Member
from debugger.session.session import Session
from debugger.system import process_info
from debugger.system.descriptor_peers import name_first
from debugger.system.wait_holders import HolderTable, WaitHolder, waits_forever

_MPI_LIBRARY = re.compile("/libmpi")
_SUSPENDED = "by a signal: kill -CONT {} lets it go on"
_WATCH_S = 0.3  # seconds in which the processor time of members is measured
_LOOP = "an event loop"  # of libuv, also of the one that execSync runs
_STOP_S = 2.0  # seconds until a member must have stopped
_WRAPPERS = 4  # frames of a library between the program and the function that it called
_SCRIPT_FOLDERS = {"bin", "Scripts"}
_BEGINNINGS = ("_bootstrap", "BaseProcess._bootstrap")
_JOINS = re.compile(r"(?:BaseProcess|Popen|Process|Pool|ProcessContext)\.(?:join|wait|poll)\Z")
_MPI = re.compile(r"P?MPI_")
_NAMED_PID = re.compile(r"\S+ \(pid (\d+)\)")
# Waits within a process whose end is up to its other threads.
_INNER = {"receive", "send", "condition", "tasks", "future", "lock", "group", "semaphore"}
_ASLEEP = frozenset({"S", "D"})
_LOCK_WAITS = 2  # threads at one futex
_MAIN_NAMES = {"MainThread", "the main thread", "main"}


def reports_itself(member: Member) -> bool:
    """Return whether a member's own interpreter says what it does, while it runs."""
    session = member.session
    return session.traits.runtime is Runtime.PYTHON and session.state is State.RUNNING


async def read_member_waits(
    member: Member, group: Group, table: HolderTable, labels: Mapping[int, str]
) -> list[MemberWait]:
    """Read what the threads of a member do, the main one first.

    Args:
        member: Its main thread alone is read where it is stopped.
        group: The one that it is of.
        table: Who could end waits between processes.
        labels: Of all members, by pid.
    """
    session = member.session
    cwd, is_main = session.target.cwd, session is group.main
    if session.state not in {State.RUNNING, State.STOPPED}:
        return [_describe_unreadable(member, is_main=is_main)]
    if session.state is State.STOPPED:
        (stack,) = await session.run_job(lambda: read_stopped_stacks(session, every=False))
        place, call = find_own_call(stack, cwd)
        why = await session.run_job(lambda: _read_failure(session))
        return [MemberWait(member.label, STOPPED, place, call, why, is_main=is_main)]
    # The debugger's own threads wait for sockets: what they wait for is not looked up.
    watch = await watch_process(session.pid or 0, _WATCH_S, asyncio.Event(), looks_up=False)
    if watch.is_stopped and reports_itself(member):
        detail = _SUSPENDED.format(watch.pid)
        return [MemberWait(member.label, STOPPED, detail=detail, is_main=is_main)]
    if session.traits.runtime is Runtime.NODE:
        return [await _read_node_wait(member, watch, is_main=is_main)]
    facts = MeetingFacts()
    calls: dict[str, MpiCall] = {}
    threads: list[SampledThread] = []
    if reports_itself(member):
        snapshot = await python_waits.take_snapshot(session, member_meetings.MEETINGS)
        facts = member_meetings.parse_facts(snapshot.facts)
        watch = await with_waits(watch, {one.native or 0 for one in snapshot.threads})
        threads = [
            one
            for one in python_waits.merge_snapshots([snapshot], watch, cwd)
            if one.noun == "thread"
        ]
    elif session.state is State.RUNNING:
        watch = await with_waits(watch, watch.last_threads)
        threads = await _sample_by_stopping(session, watch, calls)
    threads = threads or [SampledThread("", "", native=watch.pid)]
    threads.sort(key=lambda one: one.native != watch.pid and one.name not in _MAIN_NAMES)
    reader = _WaitReader(member.label, watch, cwd, threads)
    known = [facts, *(facts.threads.get(one.key, MeetingFacts()) for one in threads[1:])]
    waits = [
        member_meetings.add_facts(reader.read_wait(one, is_main=is_main), own)
        for one, own in zip(threads, known, strict=True)
    ]
    readers = [(one.native, own.reader) for one, own in zip(threads, known, strict=True)]
    holders = await asyncio.to_thread(_find_holders, watch, readers, table)
    waits = [_add_holder(one, holders[at], labels) for at, one in enumerate(waits)]
    ranks = frozenset(labels.values())
    return [
        _add_call(one, calls[one.thread], ranks) if one.thread in calls else one for one in waits
    ]


def _describe_unreadable(member: Member, *, is_main: bool) -> MemberWait:
    """Describe a member that has ended, or whose debugger starts."""
    state = describe_state(member.session)
    if member.session.state is not State.TERMINATED:
        return MemberWait(member.label, COMPUTES, call=STARTING, detail=state, is_main=is_main)
    if state == "ended":
        return MemberWait(member.label, ENDED)
    if state == "lost":  # it may run on without its debugger
        return MemberWait(member.label, SILENT, detail=member.session.error or state)
    return MemberWait(member.label, FAILED, detail=state)


async def _read_failure(session: Session) -> str:
    """Return the exception or the signal at which a session has stopped, if it has (a job)."""
    stop = session.last_stop
    if stop is None or stop.reason not in {StopReason.EXCEPTION, StopReason.SIGNAL}:
        return ""
    if stop.signal:
        return stop.signal
    try:
        found = await session.backend.read_exception(stop)
    except DebuggerError as error:
        if error.code is not ErrorCode.NOT_SUPPORTED:
            raise
        return stop.description
    if found is None:
        return stop.description
    return f"{found.type}: {found.message}" if found.message else found.type


async def _read_node_wait(member: Member, watch: ProcessWatch, *, is_main: bool) -> MemberWait:
    """Read what the main thread of a Node process does.

    It is stopped only where it computes: one that waits would stop at its next event.
    """
    session, wait = member.session, MemberWait(member.label, WAITS, is_main=is_main)
    if not watch.is_computing(watch.pid):
        found = watch.call_of(watch.pid)
        name = found.name if found is not None else ""
        return msgspec.structs.replace(wait, call=_LOOP if name.startswith("epoll") else name)
    wait = msgspec.structs.replace(wait, kind=COMPUTES)
    async with group_pause.stop_briefly(session, _STOP_S) as is_stopped:
        if not is_stopped:
            return wait
        (stack,) = await session.run_job(lambda: read_stopped_stacks(session, every=False))
    place, call = find_own_call(stack, session.target.cwd)
    return msgspec.structs.replace(wait, place=place, call=call)


async def _sample_by_stopping(
    session: Session, watch: ProcessWatch, calls: dict[str, MpiCall]
) -> list[SampledThread]:
    """Stop a member for as long as the stacks of its threads are read, and their MPI `calls`."""
    sample = StackSample()

    async def read() -> list[SampledThread]:
        await thread_sampling.read_stacks(session, sample, valued=())
        if session.traits.runtime is Runtime.GO:
            return await goroutine_waits.merge_goroutine_samples(session, [sample])
        for number, frames in sample.frames.items():
            if (call := await _read_mpi_call(session, frames)) is not None:
                calls[str(number)] = call
        return await native_waits.merge_thread_samples(session, [sample], watch)

    async with group_pause.stop_briefly(session, _STOP_S) as is_stopped:
        return await session.run_job(read) if is_stopped else []


async def _read_mpi_call(session: Session, frames: Sequence[Frame]) -> MpiCall | None:
    """Read whom the MPI call is for that a stopped thread is in (a job)."""
    cwd = session.target.cwd
    _, function = find_own_call([(one.function, one.file, one.line) for one in frames], cwd)
    own = next((one for one in frames if not is_library(one.file, cwd)), None)
    if own is None or not _MPI.match(function) or not own.file or not own.line:
        return None
    lines = source_files.read_source(own.file) or ()

    async def evaluate(expression: str) -> str | None:
        try:
            found = await session.backend.evaluate(expression, own, EvaluationPurpose.PRINT)
        except DebuggerError as error:
            if error.code is not ErrorCode.EVALUATION_FAILED:
                raise
            return None  # a macro, or optimised away: the line of the source shows it
        return found.value

    statement = join_statement(lines[own.line - 1 : own.line + 3], hash_comments=False)
    return await mpi_calls.read_call(statement, function, evaluate)


def _add_call(wait: MemberWait, call: MpiCall, ranks: AbstractSet[str]) -> MemberWait:
    """Add whom an MPI call is for; it cannot end without the rank that it names."""
    if wait.kind != WAITS:
        return wait
    blockers = wait.blockers
    if str(call.awaited) in ranks - {wait.label}:
        blockers = (Blocker(str(call.awaited)),)
    name = f"{wait.call}({call.communicator})" if call.communicator else wait.call
    detail = call.text or wait.detail
    return msgspec.structs.replace(wait, call=name, detail=detail, blockers=blockers)


class _WaitReader:
    """Turns the sampled threads of one member into waits."""

    def __init__(
        self, label: str, watch: ProcessWatch, cwd: str, threads: Sequence[SampledThread]
    ) -> None:
        self._label = label
        self._watch = watch
        self._cwd = cwd
        self._threads = threads
        self._names = {one.key: one.name for one in threads}

    def read_wait(self, thread: SampledThread, *, is_main: bool) -> MemberWait:
        """Return what a thread does, and the other threads of its process that it waits for."""
        place, call = find_own_call(self._stack(thread), self._cwd)
        is_first = thread is self._threads[0]
        kind = _kind_of_wait(self._watch, thread, call)
        if kind == COMPUTES and not call and place is not None and self._polls_mpi(place.text):
            kind = WAITS
        blockers = self._find_blockers(thread, call) if kind == WAITS else ()
        by_call = self._watch.waits.get(thread.native)
        return MemberWait(
            self._label,
            kind,
            place,
            call,
            self._describe_wait(thread, by_call, blockers),
            is_main=is_main and is_first,
            blockers=blockers,
            thread=thread.key,
            name="" if is_first else _name_thread(thread.name),
            native=thread.native,
        )

    def _polls_mpi(self, text: str) -> bool:
        return calls_mpi(text) and process_info.has_library(self._watch.pid, _MPI_LIBRARY)

    def _stack(self, thread: SampledThread) -> list[PlaceOf]:
        return [
            (one.function, find_file(one.file, self._cwd) if one.file else None, one.line)
            for one in thread.last_stack
        ]

    def _find_blockers(self, thread: SampledThread, call: str) -> tuple[Blocker, ...]:
        """Return the threads of its own process that a thread waits for."""
        wait = thread.wait
        if wait is None or is_meeting_call(call):
            return ()
        if wait.owners:
            return tuple(Blocker(self._label, one) for one in wait.owners if one in self._names)
        system_call = self._watch.call_of(thread.native)
        if wait.kind not in _INNER or (system_call and not waits_forever(system_call)):
            return ()
        # Whoever fills the queue, or sets the event: a thread with code of the program's own.
        return tuple(
            Blocker(self._label, one.key, is_possible=True)
            for one in self._threads
            if one is not thread and any(each.is_own for each in one.last_stack)
        )

    def _describe_wait(
        self, thread: SampledThread, by_call: ThreadWait | None, blockers: Sequence[Blocker]
    ) -> str:
        if by_call is not None and by_call.kind == "io":
            return by_call.text
        if len(blockers) == 1 and thread.wait is not None and thread.wait.owners:
            what = "a lock that its" if thread.wait.kind in {"lock", "rwlock"} else "its"
            end = " holds" if what.startswith("a lock") else ""
            name = self._names[blockers[0].thread]
            return f"{what} {_name_thread(name)}{end}"
        return ""


def find_locked(member: Member) -> MemberWait | None:
    """Describe a Python member that does not answer because compiled code has its lock.

    Its debugger's threads wait for the interpreter, all at the same futex, and another one runs.
    """
    session = member.session
    if session.pid is None or not reports_itself(member):
        return None
    threads = process_info.read_threads(session.pid)
    calls = [one.call for one in threads.values() if one.state in _ASLEEP and one.call is not None]
    waits = Counter(one.arguments[:1] for one in calls if one.name == "futex")
    first = threads.get(session.pid)
    if first is None or first.state in _ASLEEP or max(waits.values(), default=0) < _LOCK_WAITS:
        return None
    return MemberWait(member.label, WAITS, call=LOCKED)


def _name_thread(name: str) -> str:
    if name in _MAIN_NAMES:
        return "main thread"
    return name if name.startswith(("thread ", "goroutine ")) else f"thread {name}"


def _kind_of_wait(watch: ProcessWatch, thread: SampledThread, call: str) -> str:
    if _MPI.match(call):
        return WAITS  # it polls: it uses the processor, and gets nowhere
    if watch.is_computing(thread.native):
        return COMPUTES
    wait = watch.waits.get(thread.native)
    return CHILD if _JOINS.search(call) or (wait and wait.kind == "child") else WAITS


def _find_holders(
    watch: ProcessWatch, readers: Sequence[tuple[int, int | None]], table: HolderTable
) -> list[WaitHolder | None]:
    """Return who could end the wait of each thread, given where the queue is read that it fills."""
    found: list[WaitHolder | None] = []
    for thread, reader in readers:
        call = watch.call_of(thread)
        if reader is not None:
            found.append(table.find_reader(watch.pid, reader))
        else:
            found.append(_find_holder(watch.pid, call, table) if call is not None else None)
    return found


def _find_holder(pid: int, call: SystemCall, table: HolderTable) -> WaitHolder | None:
    if call.name == "wait4" and call.arguments:
        # The process that it waits for; without one (-1) it waits for any.
        child = call.arguments[0] & 0xFFFFFFFF
        return WaitHolder((child,)) if 0 < child < 1 << 31 else None
    return table.find_holder(pid, call)


def _add_holder(
    wait: MemberWait, holder: WaitHolder | None, labels: Mapping[int, str]
) -> MemberWait:
    """Add who could end a wait between processes, and name members in its text."""

    def name(found: re.Match[str]) -> str:
        label = labels.get(int(found[1]))
        return f"member {label}" if label is not None else found[0]

    wait = msgspec.structs.replace(wait, detail=_NAMED_PID.sub(name, wait.detail))
    # A process that is no member may end the wait, whatever the members do.
    if holder is None or not all(one in labels for one in holder.pids):
        return wait
    members = [labels[one] for one in holder.pids]
    blockers = [
        Blocker(one, native=holder.thread, is_possible=holder.is_possible) for one in members
    ]
    detail = wait.detail
    if holder.what:
        detail = f"{holder.what} that member {members[0]} holds"
    elif "member " not in detail:
        # The text of a pipe names its holders.
        named = name_first([f"member {one}" for one in members])
        detail = f"{detail}, {holder.end} held by {named}" if detail else named
    return msgspec.structs.replace(
        wait, blockers=tuple(blockers), detail=detail, has_both_ends=holder.has_both_ends
    )


def _is_console_script(function: str, file: str | None) -> bool:
    """Return whether a frame is of the script that an installation makes for a command (celery)."""
    path = PurePath(file or "")
    return function == "<module>" and not path.suffix and path.parent.name in _SCRIPT_FOLDERS


def find_own_call(stack: Sequence[PlaceOf], cwd: str) -> tuple[StackPlace | None, str]:
    """Return the innermost frame of the program's own code, and the library function it called.

    A library may put wrappers around its functions, as torch.distributed does to log exceptions.
    """
    end = next((at for at, one in enumerate(stack) if one[0] in _BEGINNINGS), len(stack))
    for at, (function, file, line) in enumerate(stack[:end]):
        if not (is_library(file, cwd) or _is_console_script(function, file)):
            text = read_source_line(file, line) if file and line else ""
            # Of a stopped process the debugger reports the name without its class.
            name = function.rpartition(".")[2]
            called = [one[0] for one in reversed(stack[max(0, at - _WRAPPERS) : at])]
            call = next(filter(is_meeting_call, called), called[0] if called else "")
            return StackPlace(name, file, line, text), call
    return None, stack[0][0] if stack else ""
