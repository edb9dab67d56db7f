"""Implements a debug session: the actor that owns a program's state, breakpoints and backend."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

from debugger.backends.abilities import TracingAbility
from debugger.backends.base import (
    AttachTarget,
    Backend,
    BackendEnded,
    BackendEvent,
    BreakpointChanged,
    CallsTraced,
    ChildStarted,
    ClosedBackend,
    ConditionError,
    LaunchTarget,
    LogpointPassed,
    NoteReported,
    OutputPrinted,
    ProcessStarted,
    ProgramAwaited,
    ProgramResumed,
    Sink,
)
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers import CrashNote
from debugger.model.breakpoints import Breakpoint, Breakpoints
from debugger.model.debugger_words import DebuggerTraits, Runtime
from debugger.model.events import OutputStream, State
from debugger.model.hit_selection import CALLERS_MAX
from debugger.model.program import (
    ExitedProgram,
    Frame,
    ResumeKind,
    Stopped,
    StopReason,
    TracedPattern,
)
from debugger.model.value_refs import ValueRefs
from debugger.session.breakpoint_binding import BreakpointBinding
from debugger.session.event_record import EventRecord
from debugger.session.hit_rules import HitRules
from debugger.session.job_worker import JobWorker
from debugger.session.pause_requests import PauseRequests
from debugger.session.process_record import ProcessRecord
from debugger.session.process_tree import (
    ProcessTree,
    TimelineCursors,
    drop_later_elsewhere,
    ended_elsewhere,
    find_writer,
    root_session,
)
from debugger.session.selection import Selection, foreign_processes, name_stop
from debugger.session.session_control import SessionControl
from debugger.session.session_state import SessionState, check_runs, is_running_program
from debugger.session.timeline import Timeline

T = TypeVar("T")

Run = Callable[[ResumeKind, int], Awaitable[None]]
_SKIPPED_IN_STEP = "the filter of this breakpoint skips this hit: a step was under way"
MakeBackend = Callable[[Sink, asyncio.TaskGroup], Backend]


class Session(SessionState):
    """A debugged program with its state, its breakpoints and its backend.

    Jobs that use the backend go through `run_job`, one at a time; `pause`, `close` and reads of the
    timeline bypass the queue. Only this object changes its state.
    """

    def __init__(
        self,
        name: str,
        *,
        target: LaunchTarget | AttachTarget,
        make_backend: MakeBackend,
        timeline: Timeline,
        cursors: TimelineCursors,
        family: ProcessTree,
        parent: Session | None = None,
    ) -> None:
        super().__init__(family)
        self.name = name
        self.target = target
        self.timeline = timeline
        self.cursors = cursors
        self.parent = parent
        self.control: SessionControl = SessionControl(
            timeline, name, above=parent.control if parent is not None else None
        )
        self.breakpoints = Breakpoints()
        self.binding = BreakpointBinding(self.breakpoints, self._write_rank)
        self.hit_rules = HitRules(self.breakpoints)
        self.refs = ValueRefs()
        self.selection = Selection()
        self.pid: int | None = None
        self.last_stop: Stopped | None = None
        self.hits: tuple[int, ...] = ()
        self.last_traces: Sequence[TracedPattern] = ()  # as they were when the program ended
        self.exited: ExitedProgram | None = None
        self.crash: CrashNote | None = None
        self.left_behind: tuple[str, ...] = ()
        self.is_reported = self.is_noted = True
        self.is_closed = False
        self.pause_requests = PauseRequests()
        self.pending_notes: list[str] = []
        # Of the last run too, so that an ended session can be described.
        self.adapter = self.backend_kind = ""
        self.traits = DebuggerTraits()
        self.make_backend = make_backend
        self.process = ProcessRecord(target)
        self._worker = JobWorker()
        self._backend: Backend | None = None
        self._is_continuing = True  # and not stepping
        # Counts starts and ends. Events of a backend that belongs to an earlier run are dropped.
        self._run = 0
        self._record = EventRecord(timeline, name, self.breakpoints)

    # -- life ----------------------------------------------------------------------------------

    async def open(self) -> None:
        """Begin to accept jobs."""
        await self._worker.open(self.name, on_failure=self._on_worker_failure)

    def _on_worker_failure(self) -> None:
        """End this session after an error of our own; the daemon and other sessions go on."""
        self.error = self.error or "an internal error; debugger daemon logs has it"
        self._change_state(State.TERMINATED)
        self._note_end(self.error)

    async def run_job(self, job: Callable[[], Awaitable[T]]) -> T:
        """Run a job in its turn (see `JobWorker.run_job`)."""
        return await self._worker.run_job(job)

    def _write_rank(self, condition: str) -> str:
        above = getattr(root_session(self).target, "env", {})
        is_python = self.traits.runtime is Runtime.PYTHON
        return self.process.write_rank(condition, self.pid, above, is_python=is_python)

    @property
    def backend(self) -> Backend:
        """The backend.

        Raises:
            DebuggerError: NO_SESSION while there is none.
        """
        if self._backend is None:
            raise DebuggerError(
                ErrorCode.NO_SESSION, "nothing runs in this session", hint="debugger restart"
            )
        return self._backend

    async def start_program(self, adopted: Backend | None = None) -> None:
        """Start the debugger and the program, set the breakpoints, and let it run (a job).

        Raises:
            DebuggerError: LAUNCH_FAILED, ADAPTER_FAILED, ADAPTER_DIED, TIMEOUT.
        """
        if self.is_closed:
            raise ended_elsewhere(self.name)
        # From here on events of the backend before are ignored (`_make_sink`).
        self._run += 1
        run, sink, backend = self._run, self._make_sink(self._run), adopted
        self._forget_the_last_run()
        self._change_state(State.INITIALIZING)
        try:
            self._backend = backend = adopted or self.make_backend(sink, self._worker.tasks)
            if adopted is not None:
                # A child's backend was made before its session.
                adopted.set_sink(sink)
                await adopted.connect_child()
            elif isinstance(self.target, LaunchTarget):
                await backend.start(self.target)
            else:
                if self.target.pause:
                    self.pause_requests.add()
                await backend.attach(self.target)
                self.pid = self.pid or self.target.pid  # delve tells none
            # Another client closed or restarted the session during the start.
            if self._run != run:
                raise ended_elsewhere(self.name)
            if self.state is State.INITIALIZING:
                self._change_state(State.CONFIGURING)
            self.adapter, self.backend_kind = backend.adapter_name, backend.backend_name
            self.traits = backend.traits
            await self.binding.send_all(backend)
            await backend.run_program()
        except DebuggerError as error:
            await self._end_failed(error, backend)
            raise
        # A stop at the entry may have arrived already.
        if self.state is State.CONFIGURING:
            self._change_state(State.RUNNING)

    def _forget_the_last_run(self) -> None:
        self.binding.forget()
        self.hit_rules.forget()
        self._is_continuing = True
        # The handles of the previous stop are invalid from here on.
        self.refs.new_stop()
        self.selection = self.selection.begin_run(self.breakpoints, self.timeline.cursor())
        self.exited = self.error = self.last_stop = self.crash = None
        self.left_behind = self.hits = ()
        self.pid = self.pid if self.parent is not None else None  # a child's is its only one
        self.pause_requests.forget()
        self.is_reported, self.is_noted = True, False

    async def _end_failed(self, error: DebuggerError, backend: Backend | None) -> None:
        self._run += 1
        self._backend = None
        if backend is not None:
            await backend.close(kill=isinstance(self.target, LaunchTarget))
        if self.is_closed:
            return
        self.error = error.message
        # The answers of the backend stay, so that an ended session can be described.
        self.binding.detach()
        self._change_state(State.TERMINATED)
        self._note_end(error.message)

    async def close(self, *, kill: bool) -> ClosedBackend:
        """End the session, bypassing the queue; jobs that hang in the backend fail.

        Never raises; bounded.
        """
        self._run += 1
        self.is_closed = True
        backend, self._backend = self._backend, None
        self.binding.detach()
        self.control.end()
        closed = ClosedBackend()
        # Children first: js-debug and debugpy reach them through the parent's adapter.
        children = self.family.live_children(self)
        await asyncio.gather(*(child.close(kill=kill) for child in children))
        if backend is not None:
            closed = await backend.close(kill=kill)
        # The end may have been recorded by the backend's own event meanwhile.
        if self.state is not State.TERMINATED:
            self._change_state(State.TERMINATED)
            self._note_end("ended" if kill else "detached")
        self.process.close()
        await self._worker.close()
        return closed

    def require_state(self, *allowed: State, to: str) -> None:
        """Check that a command fits the state; the error of an ended process names live ones."""
        if self.state is State.TERMINATED and self.error is None and self.state not in allowed:
            rest = [one.name for one in self.family.tree_sessions(self) if one.is_live]
            if rest:
                raise DebuggerError(
                    ErrorCode.PROGRAM_EXITED,
                    f"cannot {to}: the process {self.name} has ended, and {rest[0]} goes on",
                    hint=f"debugger use {rest[0]}",
                )
        # Only for the error: of a thousand members each is asked for its state.
        if self.state is State.RUNNING and self.state not in allowed:
            tree = self.family.tree_sessions(self)
            stopped = next((one.name for one in tree if one.state is State.STOPPED), None)
            if stopped is not None:
                raise DebuggerError(
                    ErrorCode.WRONG_STATE,
                    f"cannot {to}: the process {self.name} is running, and {stopped} is stopped",
                    hint=f"debugger --session {stopped} COMMAND, or debugger use {stopped}; "
                    "debugger pause stops this one",
                )
        super().require_state(*allowed, to=to)

    async def restart(self) -> int:
        """End the program and start it again with the same arguments and breakpoints (a job).

        Returns the timeline's cursor from which on events belong to the new run.
        """
        check_runs(self.target, to="restart")
        if isinstance(self.target, AttachTarget):
            raise DebuggerError(
                ErrorCode.NOT_SUPPORTED,
                "an attached program cannot be restarted",
                hint="debugger start PROGRAM runs one that can be"
                if self.pid is None or self.target.connect is not None
                else f"debugger attach {self.pid}, if it still runs; debugger start PROGRAM",
            )
        self._run += 1
        for child in self.family.live_children(self):
            await child.close(kill=True)
        backend, self._backend = self._backend, None
        if backend is not None:
            await backend.close(kill=True)
        # The new run's output must not continue the old run's last line.
        self.timeline.end_output(session=self.name)
        if self.is_live:
            self._change_state(State.TERMINATED)
        cursor = self.timeline.cursor()
        await self.start_program()
        return cursor

    # -- events --------------------------------------------------------------------------------

    def _make_sink(self, run: int) -> Sink:
        def take(event: BackendEvent) -> None:
            # What an earlier run's backend still says is none of this run's business.
            if run == self._run:
                self._on_event(event)

        return take

    def _on_event(self, event: BackendEvent) -> None:  # noqa: C901, PLR0912 - one case for each event
        match event:
            case OutputPrinted(stream, text, rank):
                writer = find_writer(self, rank)
                # A rank on another host has its session there: the line itself names it.
                writer.add_output(stream, f"{rank}| {text}" if rank and writer is self else text)
            case NoteReported(text):
                self.pending_notes.append(text)
            case LogpointPassed():
                self._on_logpoint(event)
            case Stopped():
                self._on_stopped(event)
            case ProgramResumed():
                if self.state is State.STOPPED:
                    self._leave_stop()
            case CallsTraced(passages, lost):
                self._record.add_calls(passages, lost)
            case ConditionError(number, message):
                self._record.condition_failed(number, message)
            case BreakpointChanged(bound):
                self.breakpoints.update_bound(bound)
            case ProcessStarted(pid):
                # A core file's process is gone, and its pid may be another's.
                self.pid = pid if is_running_program(self.target) else None
                self.process.note_started(self.pid)
                self.process.watch_process(pid if self.parent is not None else None)
                self.family.note_change()
            case ProgramAwaited(words):
                self.process.note_connect_words(words)
            case ChildStarted():
                self.family.add_child(self, event)
            case ExitedProgram():
                self.exited = event
            case BackendEnded(error):
                self._on_ended(error)

    def add_output(self, stream: OutputStream, text: str) -> None:
        """Record output of this session's program."""
        self._record.add_output(stream, text)

    def _on_stopped(self, stop: Stopped) -> None:
        if self.state is State.TERMINATED or self.binding.defer_stop(stop, self._on_stopped):
            return
        # The attach's own pause, or one that nobody awaits any more.
        is_unawaited = self.process.is_held or self.pause_requests.is_unexpected(stop)
        if is_unawaited:
            self.pause_requests.pass_stop()
        if is_unawaited or self.process.is_ended_by(stop):
            self._pass_stop(stop.thread or 0)
            return
        hit = [self.breakpoints.by_backend_id(number) for number in stop.hits]
        known = self.breakpoints.find_stopping([one for one in hit if one is not None])
        own = [one for one in known if one.spec.thread in {None, stop.thread}]
        if known and not own and stop.thread is not None:
            self._continue_later(stop.thread)  # every breakpoint there is for another thread
            return
        known = own or known
        known = known or self.binding.watching.find_lone(stop)
        if self.hit_rules.needs_callers(known):
            self._worker.schedule_job(
                partial(self._filter_by_callers, stop, known, self._run), on_error=self._note_error
            )
        elif self.hit_rules.applies_to(known):
            self._filter_stop(stop, known, ())
        else:
            self._enter_stop(stop, known)

    def _pass_stop(self, thread: int) -> None:
        """Resume from a stop that is none of the user's: where the program begins, or is ended."""
        self.process.release_entry()
        self._continue_later(thread)

    def _continue_later(self, thread: int) -> None:
        """Schedule that the program goes on from a stop that is not reported."""
        backend = self.backend
        self._worker.schedule_job(
            lambda: backend.resume(ResumeKind.CONTINUE, thread), on_error=self._note_error
        )

    async def _filter_by_callers(self, stop: Stopped, known: list[Breakpoint], run: int) -> None:
        """Decide on a stop by the functions on its stack (a job)."""
        if run != self._run or self.state is State.TERMINATED:
            return
        stack = await self.backend.read_stack(stop.thread or 0, levels=CALLERS_MAX)
        self._filter_stop(stop, known, [one.function for one in stack.frames])

    def _filter_stop(
        self, stop: Stopped, known: list[Breakpoint], functions: Sequence[str | None]
    ) -> None:
        """Enter a stop that a breakpoint's filter lets pass, and resume from any other."""
        ruled = self.hit_rules.filter_stop(known, functions)
        for number in ruled.finished:
            self._later_disable(number)
        if ruled.reported:
            self.pending_notes += ruled.notes
            self._enter_stop(stop, list(ruled.reported))
            return
        if not self._is_continuing or self.pause_requests.is_pending:
            # Resuming would lose the step: where it ends is not known to us.
            self.pending_notes.append(_SKIPPED_IN_STEP)
            self._enter_stop(stop, [one for one in known if one.event_of is None])
            return
        self._continue_later(stop.thread or 0)

    def _later_disable(self, number: int) -> None:
        """Schedule that a breakpoint without later hits is disabled; the program runs faster."""
        known = self.breakpoints.find(number)
        if known is not None and not known.internal and known.spec.enabled:
            disable = partial(self._disable_finished, number)
            self._worker.schedule_job(disable, on_error=self._note_error)

    async def _disable_finished(self, number: int) -> None:
        if self.is_live and self.breakpoints.find(number) is not None:
            await self.binding.enable(number, on=False)

    def _on_logpoint(self, event: LogpointPassed) -> None:
        number = event.number
        if number is None:
            self._record.add_log(event)
            return
        ruled = self.hit_rules.takes_log(number, event.text)
        for one in ruled.finished:
            self._later_disable(one)
        if ruled.reported or self.breakpoints.find(number) is None:
            self._record.add_log(event)
            self.breakpoints.record_hit(number, event.hit)

    def _enter_stop(self, stop: Stopped, known: list[Breakpoint]) -> None:
        self.count_hits([one.id for one in known if not one.internal])
        wants_entry = isinstance(self.target, LaunchTarget) and self.target.stop_on_entry
        is_pause = self.pause_requests.is_pending
        self.last_stop = name_stop(
            stop,
            known,
            is_entry=wants_entry and self.last_stop is None and not is_pause,
            is_pause=is_pause,
        )
        self.refs.new_stop()
        # The frame is chosen when the stop is reported, which needs the stack.
        self.selection.select_thread(stop.thread)
        self.is_reported = False
        self._change_state(State.STOPPED)
        self.pause_requests.end_with(self.last_stop)
        for one in self.breakpoints.all_breakpoints():
            if one.event_of is not None or one.is_lasting:
                continue
            # What was run to is run to no more, wherever it stopped.
            if one.internal or (one.spec.temporary and one.id in {hit.id for hit in known}):
                # Scheduled, because events arrive outside of the job queue.
                drop = partial(self.binding.remove, one)
                self._worker.schedule_job(drop, on_error=self._note_error)
                if not one.internal:
                    drop_later_elsewhere(self, one)
        self.crash = self._record.add_stop(self.last_stop, self.hits) or self.crash

    def drop_later(self, number: int) -> None:
        """Schedule the removal of a breakpoint that another process of the tree has removed."""
        drop = partial(self.binding.drop_number, number)
        self._worker.schedule_job(drop, on_error=self._note_error)

    def mark_reported(self) -> None:
        """Record that the stop, or the end, was reported: a later wait does not return it."""
        self.is_reported = True

    def note_crash(self, crash: CrashNote) -> None:
        """Record the details of the crash that the program has stopped at."""
        self.crash = crash

    def note_pid(self, pid: int | None) -> None:
        """Record the process of a child, which is known before the debugger reports it."""
        self.pid = pid
        self.process.watch_process(pid)

    def notice_death(self) -> None:
        """Record the end of a process that was killed while it was stopped."""
        if self.state is State.STOPPED and (found := self.process.find_death(self.pid)):
            self.exited = found
            self._on_ended(None)

    def count_hits(self, numbers: Sequence[int]) -> None:
        """Record the breakpoints of a stop, if only the stop's report can identify them."""
        self.hits = tuple(numbers)
        for number in numbers:
            self.breakpoints.record_hit(number)

    def _note_error(self, error: DebuggerError) -> None:
        self._record.add_output(OutputStream.CONSOLE, error.message)

    def _leave_stop(self, how: ResumeKind | None = None) -> None:
        self._change_state(State.RUNNING)
        self._is_continuing = how in {None, ResumeKind.CONTINUE}
        self.refs.new_stop()
        self.selection.note_resume(how, self.last_stop, self.hits, self.breakpoints)
        self.is_reported = True
        self._record.add_resumed()

    def _on_ended(self, error: str | None) -> None:
        if self.state is State.TERMINATED:
            return
        self.error = error
        self.pending_notes += self.hit_rules.never_reported()
        self.binding.detach()
        self._change_state(State.TERMINATED)
        self._later_close()

    def _later_close(self) -> None:
        """End the backend once no process of the tree needs it, then record the end."""
        run = self._run
        backend = self._backend

        async def finish() -> None:
            if backend is not None:
                with suppress(DebuggerError):  # it traces nothing
                    self.last_traces = await backend.find_ability(TracingAbility).traced_patterns()
            if not self.family.live_children(self) and backend is not None:
                closed = await backend.close(kill=True)
                if run == self._run:
                    self.left_behind = foreign_processes(closed.killed, self.pid, self.traits)
                    self._backend = None
            if run == self._run:
                self._note_end(self.error or "")

        # A task and no job: jobs in the queue may wait for this very backend.
        self._worker.tasks.create_task(finish())

    def _note_end(self, text: str) -> None:
        self.is_reported, self.is_noted = False, True
        self._record.add_end(self.exited, self.error, text)
        if self.parent is not None:
            self.parent.child_ended()

    def child_ended(self) -> None:
        """Note the end of a child process's session; an ended program may be closed now."""
        backend, is_over = self._backend, self.state is State.TERMINATED
        if is_over and backend is not None and not self.family.live_children(self):
            self._backend = None
            self._worker.tasks.create_task(backend.close(kill=True))

    # -- running -------------------------------------------------------------------------------

    async def resume(
        self, how: ResumeKind, *, thread: int | None = None, by: Run | None = None
    ) -> None:
        """Resume a stopped program (a job); `by` replaces the backend's own resume.

        Raises:
            DebuggerError: WRONG_STATE, PROGRAM_EXITED, and what the backend raises.
        """
        self.require_state(State.STOPPED, to=how.value)
        check_runs(self.target, to=how.value)
        chosen = thread if thread is not None else self.selection.thread or 0
        run = by or self.backend.resume
        # Before the request: the next stop may arrive before the request's own answer.
        is_plain = by is None and chosen == (self.selection.thread or 0)
        self._leave_stop(how if is_plain else None)
        self._is_continuing = self._is_continuing and by is None
        try:
            await run(how, chosen)
        except DebuggerError:
            # It did not run; what was shown of the stop is stale all the same.
            if self.state is State.RUNNING and self.last_stop is not None:
                self._change_state(State.STOPPED)
                self.is_reported = True
            raise

    def locate_stop(self, frame: Frame | None) -> None:
        """Record the location of the last stop in the timeline."""
        self._record.locate_stop(frame)

    def note_jump(self) -> None:
        """Record a jump: the program is at another line though nothing ran."""
        assert self.last_stop is not None
        self.refs.new_stop()
        self.selection.begin_at(None)
        self.selection.note_interference()
        self.last_stop = Stopped(StopReason.GOTO, "goto", self.selection.thread)
        self.hits = ()

    async def pause(self, by: Callable[[], Awaitable[None]] | None = None) -> None:
        """Request a stop, bypassing the queue; `by` is a request that may stop more of it.

        Raises:
            DebuggerError: WRONG_STATE, PROGRAM_EXITED.
        """
        self.require_state(State.RUNNING, *([State.STOPPED] if by else ()), to="pause")
        self.pause_requests.add()
        await (by or self.backend.pause)()
