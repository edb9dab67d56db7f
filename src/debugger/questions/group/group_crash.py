"""Finds the member of a group that fails first, and what that does to the others."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
from msgspec import UNSET

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.debugger_words import Runtime
from debugger.model.events import EventKind, State
from debugger.model.program import ResumeKind
from debugger.model.text_filters import without_traces
from debugger.questions.crash import crash_question, crash_stops
from debugger.questions.crash.crash_stops import CrashStop, CrashStops
from debugger.questions.crash.exit_calls import (
    explain_exit_call,
    explain_task_error,
    find_exit_call,
    find_task_error,
)
from debugger.questions.crash.reported_crash import explain_lines
from debugger.questions.group import group_pause
from debugger.questions.group.answer import (
    PART_BEGUN,
    PART_FAILED,
    PART_READ,
    GroupCrash,
    GroupStacks,
    MemberEnd,
    merge_ends,
)
from debugger.questions.group.error_files import ErrorFiles
from debugger.questions.group.group_question import build_group_question, name_members
from debugger.questions.group.member_stacks import (
    describe_state,
    read_exit_code,
    read_group_stacks,
)
from debugger.questions.group.worker_reports import (
    lines_of_worker,
    parse_worker_report,
)
from debugger.questions.runner import question_run
from debugger.questions.runner.answer import CallerView, Crash
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import QuestionOptions
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.session import process_tree, source_files, stop_report
from debugger.session.group import Group, Member, ask_members, drop_launcher
from debugger.session.session import Session
from debugger.session.timeline import Filters
from debugger.system import process_info

_END_S = 5.0  # seconds in which the others end after the first failure
_QUIET_S = 0.3  # seconds in which ends are reported that came together
_STOP_S = 2.0  # seconds until a member must have stopped, to have its stack read
_FILES_S = 0.2  # seconds between two looks for new members
_STOPS_MAX = 1000
_ABORT = "MPI_Abort"
LAUNCHER_BREAKS = (BreakpointSpec(function=_ABORT),)
_OUTPUT = 12  # last lines
_LINES_MAX = 500  # last lines in which a member's report is
_COMPILED = crash_question.COMPILED.replace("debugger crash ", "debugger crash --group ")
_PARTS_S = 5.0  # seconds in which the members on other hosts are read, while the failed one is held
# Of members that end together, the one with the first of these is the one to blame.
_FAULTS = frozenset({signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT})
_REQUESTS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE})
_FAULT, _STATUS, _KILLED, _ASKED = range(4)


@dataclass
class GroupRun:
    """A group that runs to its first failure: what is known of it."""

    run: RunningQuestion
    group: Group
    stops: CrashStops
    # The events of the timeline up to here have been handled.
    cursor: int = 0
    # When the last of them happened, and the first failure.
    event_ns: int = 0
    failed_ns: int | None = None
    first: Session | None = None
    # The first failure as a stop; None for a member that ended without one.
    crash: CrashStop | None = None
    # What another process says of the first failure.
    reported: Crash | None = None
    # Its stop where it is about to end all others.
    abort: answers.Stop | None = None
    others: GroupStacks | None = None
    # What the program had written when the first failure was seen.
    lines: Sequence[str] = ()
    # Those that have ended, and when, in seconds of the monotonic clock.
    ended: list[tuple[Session, float]] = field(default_factory=list)
    # What others stopped at after the first failure, by session.
    reached: dict[str, str] = field(default_factory=dict)
    files: ErrorFiles = field(default_factory=ErrorFiles)
    # A member on another host has failed.
    is_elsewhere: bool = False

    @property
    def is_stopped(self) -> bool:
        """Whether the failure is a stop: nothing comes of it before the process goes on."""
        return any(one is not None for one in (self.crash, self.abort, self.reported))


async def explain_group_crash(
    call: CommandCall, requested: QuestionOptions, *, is_part: bool = False
) -> GroupCrash:
    """Run a command to the first failure of a member, and on until the others have ended.

    A part of a job that has others on other hosts reports a failure to them (`explain_run`).

    Raises:
        DebuggerError: What starting the program raises; USAGE for what is not started.
    """
    question, name = await build_group_question(
        call, requested, crash_stops.crash_breakpoints, LAUNCHER_BREAKS
    )
    return await explain_run(call, question, name, is_part=is_part)


async def explain_run(
    call: CommandCall, question: QuestionRun, name: str, *, is_part: bool = False
) -> GroupCrash:
    """Run a group to the first failure of a member, and on until the others have ended.

    The question of a part streams PART_BEGUN, PART_FAILED at a failure, and PART_READ when it knows
    where its members are. An interruption means that a member on another host has failed; to a part
    whose own has failed, that the members on the other hosts have been read.

    Raises:
        DebuggerError: What starting the program raises.
    """
    groups = call.sessions.groups
    if is_part:
        await call.stream(f"{PART_BEGUN} {name}\n")
    # Members may come as soon as the program runs.
    begun = replace(question, on_created=lambda one: groups.add(name, one, is_main=True))
    async with question_run.run_question(begun) as run:
        found = GroupRun(run, groups.get(name), CrashStops())
        followers = [
            asyncio.create_task(name_members(run.session.timeline, found.group)),
            asyncio.create_task(_note_files(found)),
        ]
        try:
            await _run_to_failure(found)
        finally:
            for one in followers:
                one.cancel()
        found.is_elsewhere = is_part and found.first is None and run.patience.interrupted.is_set()
        failed_at = asyncio.get_running_loop().time()
        if found.first is not None:
            _take_reported_worker(found)
            found.failed_ns = found.failed_ns or found.event_ns
            found.lines = run.all_output_lines()
            if is_part:
                await call.stream(f"{PART_FAILED}\n")
        if found.first is not None or found.is_elsewhere:
            found.others = await _read_others(found, await found.group.members())
            if is_part:
                await _await_other_parts(call, run)
            if is_part or found.is_stopped:
                failed_at = asyncio.get_running_loop().time()
            await _run_to_end(found, failed_at)
        return await _build_answer(found, _find_end_s(found) or failed_at)


async def _await_other_parts(call: CommandCall, run: RunningQuestion) -> None:
    """Wait until the members on other hosts were read (bounded): what failed here is still held."""
    await call.stream(f"{PART_READ}\n")
    with suppress(TimeoutError):
        async with asyncio.timeout(_PARTS_S):
            await run.patience.interrupted.wait()
    # How the members end is awaited all the same.
    run.patience = replace(run.patience, interrupted=asyncio.Event())


async def _note_files(found: GroupRun) -> None:
    """Note where members write: engines redirect standard error some time after the start."""
    timeline = found.run.session.timeline
    while True:
        found.files.note_members(found.group.sessions())
        await timeline.wait(timeline.cursor(), {EventKind.EXIT}, _FILES_S)


async def _run_to_failure(found: GroupRun) -> None:
    """Run until a member crashes or ends badly, or all is over."""
    for _ in range(_STOPS_MAX):
        session = await _next_change(found, found.run.left_s)
        if session is None:
            return
        if session.state is State.STOPPED:
            if await _takes_crash(found, session):
                # A process that has died may be reported later than what its end leads to.
                _take_dead(found)
                return
            await _let_go_on(session)
            continue
        _note_end(found, session)
        if _blame(session) is not None and not session.traits.is_launcher:
            found.failed_ns = found.event_ns
            await _await_better(found)
            return
        if session is found.run.session:
            if _blame(session) is not None:
                # Its ranks have ended before it, and may be reported after it.
                found.failed_ns = found.event_ns
                await _await_better(found)
                if found.first is None:
                    found.first = session  # a launcher that started nothing
            return
    raise DebuggerError(
        ErrorCode.TIMEOUT,
        f"its processes stopped {_STOPS_MAX:,} times, and never for a crash",
        hint="debugger start --group PROGRAM shows for what they stop",
    )


async def _takes_crash(found: GroupRun, session: Session) -> bool:
    """Inspect a stop; tell whether it ends its process."""
    stop = await _report_stop(session)
    if stop is None:
        return False
    if _calls_abort(stop):
        found.first, found.abort = session, stop
        return True
    if not await found.stops.add_stop(found.run, stop) or not found.stops.seen[-1].is_fatal:
        return False
    found.first, found.crash = session, found.stops.seen[-1]
    return True


async def _report_stop(session: Session) -> answers.Stop | None:
    """Report a member's stop; None for one that has ended meanwhile, as its end reports."""
    try:
        return await session.run_job(lambda: stop_report.report_stop(session))
    except DebuggerError:
        return None


def _calls_abort(stop: answers.Stop) -> bool:
    """Return whether a member is about to end all others itself."""
    return bool(stop.stack) and stop.stack[0].function.endswith(_ABORT)


async def _await_better(found: GroupRun) -> None:
    """Wait briefly for the ends of other members, and choose the one to blame.

    The end of a job's process that is gone is awaited: on a busy machine it is reported late.
    """
    loop = asyncio.get_running_loop()
    limit, latest = loop.time() + _QUIET_S, loop.time() + _END_S
    # Without a launcher, a process that nobody has waited for is gone and not reported.
    is_job = any(one.traits.is_launcher for one in found.group.sessions())
    while found.crash is None and found.abort is None:
        members = [one for one in found.group.sessions() if one.state is not State.TERMINATED]
        is_late = is_job and not all(map(_runs, members))
        session = await _next_change(found, (latest if is_late else limit) - loop.time())
        if session is None:
            break
        if session.state is State.TERMINATED:
            _note_end(found, session)
        elif not await _takes_crash(found, session):
            await _let_go_on(session)
    _take_dead(found)


def _take_dead(found: GroupRun) -> None:
    """Take the member that has died as the first one, in place of one that stopped after it."""
    members = [one for one in found.group.sessions() if not one.traits.is_launcher]
    order = [one for one, _ in found.ended]
    blamed = [
        # The program that started the others ends after them, and in the order of the reports.
        (rank, one is found.group.main, order.index(one) if one in order else len(order), one)
        for one in members
        if (rank := _blame(one)) is not None
    ]
    if not blamed:
        return
    rank, _, _, session = min(blamed, key=lambda one: one[:3])
    # What only was asked to end did so for the one that stopped.
    if found.abort is not None or (found.crash is not None and rank == _ASKED):
        return
    if found.crash is not None:
        found.reached[found.crash.scene.stop.session] = _name_reached(found.crash.scene.stop)
    found.first, found.crash = session, None


def _take_reported_worker(found: GroupRun) -> None:
    """Take the worker as the first one whose exception has been raised again in its driver."""
    stop = found.crash.scene.stop if found.crash is not None else None
    if stop is None or stop.exception is None:
        return
    cwd, raised = found.run.session.target.cwd, stop.exception
    workers = [one for one in found.group.sessions() if one.name != stop.session]
    reported = None
    if (report := parse_worker_report(raised.message)) is not None:
        workers = [one for one in workers if one.pid == report.pid]
        reported = explain_lines(report.lines, cwd)
        raised = (reported.exception or raised) if reported is not None else raised
    for worker in workers:
        task = find_task_error(worker, raised)
        explained = explain_task_error(task, raised, cwd) if task is not None else reported
        if explained is not None:
            found.reached[stop.session] = _name_reached(stop)
            found.first, found.crash, found.reported = worker, None, explained
            return


def _blame(session: Session) -> int | None:
    """Return the rank of how a process ended; None while it lives, and for a good end."""
    exited = session.exited
    code = read_exit_code(session)
    number = getattr(signal, exited.signal, 0) if exited is not None and exited.signal else 0
    if code is not None and code < 0:
        number = -code
    if number:
        return _FAULT if number in _FAULTS else _ASKED if number in _REQUESTS else _KILLED
    if code is None and session.state is State.TERMINATED and session.error is not None:
        # One that has lost its debugger alone goes on without it.
        return None if session.pid is not None and _runs(session) else _KILLED
    return _STATUS if code else None


def _has_ended(session: Session) -> bool:
    return session.process.read_exit_status() is not None


def _runs(session: Session) -> bool:
    """Return whether a process still runs: its end may be reported later, as on a busy machine."""
    process = process_info.look_at(session.pid) if session.pid is not None else None
    return session.pid is None or (process is not None and process.state not in {"Z", "X"})


def _note_end(found: GroupRun, session: Session) -> None:
    found.ended.append((session, found.event_ns / 1e9))


def _find_end_s(found: GroupRun) -> float | None:
    """Return when the first member ended, if its end is the failure."""
    if found.is_stopped:
        return None
    return next((at for one, at in found.ended if one is found.first), None)


async def _next_change(found: GroupRun, seconds: float) -> Session | None:
    """Return the next session that stops or ends; None at the time-out."""
    timeline, loop = found.run.session.timeline, asyncio.get_running_loop()
    limit = loop.time() + seconds
    while True:
        event = await timeline.wait(
            found.cursor,
            {EventKind.STOP, EventKind.EXIT},
            max(0.0, limit - loop.time()),
            interrupted=found.run.patience.interrupted,
        )
        if event is None:
            return None
        found.cursor, found.event_ns = event.seq, event.time_ns
        session = process_tree.find_member(found.run.session, event.session)
        if session is None:
            continue
        expected = State.STOPPED if event.kind is EventKind.STOP else State.TERMINATED
        # A stop is past where another has resumed the session since.
        if session.state is expected:
            return session


async def _let_go_on(session: Session) -> None:
    async def resume() -> None:
        if session.state is State.STOPPED:
            await session.resume(ResumeKind.CONTINUE)

    with suppress(DebuggerError):  # it has ended meanwhile, as its end reports
        await session.run_job(resume)


async def _read_others(found: GroupRun, members: Sequence[Member]) -> GroupStacks:
    """Read where the other members are; one that is not Python's is stopped for it."""
    live = [
        one
        for one in drop_launcher(members)
        if one.session.is_live and one.session is not found.first
    ]
    compiled = [
        one
        for one in live
        if one.session.state is State.RUNNING and one.session.traits.runtime is not Runtime.PYTHON
    ]
    await ask_members(
        compiled, lambda one: group_pause.pause_session(one.session, _STOP_S), _STOP_S + 1
    )
    try:
        answer = await read_group_stacks(found.group, live, by="line", every=False)
    finally:
        # Their stops are ours, and no change that is still to be handled.
        await ask_members(compiled, lambda one: _let_go_on(one.session), _STOP_S)
    # One that has ended meanwhile is among the ends.
    gone = {one.label for one in live if not one.session.is_live or _has_ended(one.session)}
    silent = tuple(one for one in answer.silent if one.label not in gone)
    return msgspec.structs.replace(answer, silent=silent)


async def _run_to_end(found: GroupRun, failed_at: float) -> None:
    """Let the failed member go on to its end, and see how the others end."""
    loop = asyncio.get_running_loop()
    limit = failed_at + max(_END_S, min(_END_S * 2, found.run.left_s))
    if found.run.session.state is State.TERMINATED:  # it has ended with the one that failed
        limit = loop.time() + _QUIET_S
    stopped = [one for one in found.group.every_session() if one.state is State.STOPPED]
    await asyncio.gather(*map(_let_go_on, stopped))
    while (session := await _next_change(found, limit - loop.time())) is not None:
        if session.state is State.STOPPED:
            await _note_reached(found, session)
            await _let_go_on(session)
            continue
        _note_end(found, session)
        if session is found.run.session:
            limit = min(limit, loop.time() + _QUIET_S)


async def _note_reached(found: GroupRun, session: Session) -> None:
    """Note the exception or the signal that another member stops at after the failure."""
    stop = await _report_stop(session)
    if stop is None or session is found.first:
        return
    if crash_stops.may_be_a_crash(stop):
        found.reached[session.name] = _name_reached(stop)


def _name_reached(stop: answers.Stop) -> str:
    return stop.exception.type if stop.exception is not None else stop.signal or "stopped"


async def _build_answer(found: GroupRun, failed_at: float) -> GroupCrash:
    members = await found.group.members()
    labels = {one.session.name: one.label for one in members}
    run = found.run
    first = "" if found.first is None else labels.get(found.first.name, found.first.name)
    return GroupCrash(
        group=found.group.name,
        total=len(members),
        member=first,
        how=_describe_first(found),
        crash=_describe_crash(found),
        others=found.others,
        ends=_merge_ends(found, labels, failed_at)
        if found.first is not None or found.is_elsewhere
        else (),
        timed_out=found.first is None and not found.is_elsewhere and run.session.is_live,
        failed_ns=found.failed_ns if found.first is not None else None,
        blame=_blame_first(found),
    )


def _blame_first(found: GroupRun) -> int:
    if found.crash is not None:
        stop = found.crash.scene.stop
        number = getattr(signal, stop.signal, None) if stop.signal is not None else None
        return _FAULT if number in _FAULTS else _STATUS
    known = _blame(found.first) if found.first is not None else None
    return _STATUS if known is None else known


def _describe_first(found: GroupRun) -> str:
    if found.first is None:
        return ""
    if found.abort is not None:
        return _describe_abort(found.abort).cause or ""
    if found.reported is not None:
        return found.reported.cause or ""
    if found.crash is not None:
        return found.crash.cause.text or ""
    return describe_state(found.first)


def _describe_crash(found: GroupRun) -> Crash:
    run = found.run
    last = (
        stop_report.report_end(run.session)
        if run.session.state is State.TERMINATED
        else stop_report.report_running(run.session, waited_s=None)
    )
    if found.crash is not None:
        crash = crash_question.build_crash_answer(run, [found.crash], last, [], waits=False)
    elif found.abort is not None:
        crash = _describe_abort(found.abort)
    elif found.reported is not None:
        crash = found.reported
    elif found.first is None:
        crash = crash_question.build_no_crash_answer(run, last, run.read_output(), [])
    else:
        crash = _describe_end(found, found.first)
    notes = tuple(one for one in crash.notes if not one.startswith("it was in "))
    return msgspec.structs.replace(crash, session=UNSET, notes=notes)


def _describe_abort(stop: answers.Stop) -> Crash:
    """Describe where a member ends all others: in the frame that is shown, of its own code."""
    own = stop.frame or stop.stack[0]
    where = f" {Path(own.file).name}:{own.line}" if own.file else ""
    source = source_files.failure_lines(own.file, own.line) if own.file and own.line else ()
    callers = tuple(
        CallerView(one) for one in stop.stack if one.index > own.index and one.file is not None
    )
    return Crash(
        outcome="crashed",
        cause=f"{stop.stack[0].function} called by {own.function}{where}",
        kind="abort",
        frame=own,
        source=source,
        callers=callers,
    )


def _describe_end(found: GroupRun, session: Session) -> Crash:
    """Describe the end of a member without a stop: by a report that it has written before."""
    is_its_own = _blame(session) in {_FAULT, _STATUS}
    # An engine may print a worker's lines later; the worker's name is on them.
    own = (
        found.files.lines_of(session)
        or lines_of_worker(found.run.all_output_lines(), session.pid)
        or _lines_of_rank(session)
        or found.lines
    )
    reported = explain_lines(own, session.target.cwd) if is_its_own else None
    if reported is not None and reported.exception is not None:
        task = find_task_error(session, reported.exception)
        if task is not None:
            reported = explain_task_error(task, reported.exception, session.target.cwd)
    if (call := find_exit_call(session)) is not None:
        reported = explain_exit_call(call, session.target.cwd)
    crash = reported or Crash(outcome="crashed", cause=_describe_state(session))
    output = found.run.read_output()
    shown, traces = without_traces(output.lines, [])
    notes = [*crash.notes]
    of_job = found.run.session.exited
    if reported is None and session is not found.run.session and of_job and of_job.reason:
        notes.append(f"the launcher wrote: {of_job.reason}")
    # A signal that the process has sent to itself is no fault of compiled code.
    is_fault = _blame(session) == _FAULT and call is None
    if is_fault and session.traits.runtime is Runtime.PYTHON:
        notes.append(_COMPILED)
    return msgspec.structs.replace(
        crash,
        adapter=session.adapter,
        output=shown[-_OUTPUT:],
        traces_left_out=traces,
        output_total=output.total,
        output_dropped=output.dropped,
        notes=tuple(notes),
    )


def _lines_of_rank(session: Session) -> list[str]:
    """Return what a rank wrote last, of a launcher that names the rank of each line."""
    filters = Filters(kinds={EventKind.OUTPUT}, sessions={session.name})
    page = session.timeline.events(filters, limit=_LINES_MAX, newest=True)
    return [one.text for one in page.events]


def _describe_state(session: Session) -> str:
    """Describe how a member ended; of a launcher with what it says about it.

    Of one whose debugger was lost, why: its process may have ended for that alone.
    """
    message = session.error or (session.exited.reason if session.exited is not None else None)
    return f"{describe_state(session)}: {message}" if message else describe_state(session)


def _merge_ends(found: GroupRun, labels: dict[str, str], failed_at: float) -> tuple[MemberEnd, ...]:
    """Return how the others ended after the first failure, those that end alike together."""
    by_end: dict[str, list[tuple[str, float]]] = {}
    ended = {one.name for one, _ in found.ended}
    for session, at in found.ended:
        if session is found.first or session.name not in labels or _blame(session) is None:
            continue
        how, reached = describe_state(session), found.reached.get(session.name)
        entry = (labels[session.name], max(0.0, at - failed_at))
        by_end.setdefault(f"{reached}, then {how}" if reached else how, []).append(entry)
    for session in found.group.sessions():
        if session.name in labels and session.name not in ended and session is not found.first:
            how = "runs on" if _runs(session) else "ended"
            by_end.setdefault(how, []).append((labels[session.name], 0.0))
    return merge_ends(by_end)
