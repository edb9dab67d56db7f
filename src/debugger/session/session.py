"""One debug session: the actor that owns a program's state, breakpoints, refs and backend."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

from debugger.backends.abilities import Tracing
from debugger.backends.base import (
    Attach,
    Backend,
    ChildAppeared,
    Closed,
    ConditionFailed,
    Ended,
    Event,
    Launch,
    Logged,
    Noted,
    Passed,
    Printed,
    Rebound,
    Resumed,
    Sink,
    Started,
)
from debugger.core.answers import Crashed
from debugger.core.breakpoints import Breakpoint, Breakpoints
from debugger.core.events import Stream
from debugger.core.model import Exited, Frame, Reason, Resume, Stopped, Traced
from debugger.core.refs import Refs
from debugger.core.state import State
from debugger.errors import Code, DebuggerError
from debugger.session.binding import Binding
from debugger.session.family import Cursors, Family, drop_later_elsewhere, ended_elsewhere
from debugger.session.look import Look, named, strangers
from debugger.session.record import Record
from debugger.session.standing import Standing, check_runs, runs
from debugger.session.worker import Worker
from debugger.timeline import Timeline

T = TypeVar("T")

Run = Callable[[Resume, int], Awaitable[None]]
MakeBackend = Callable[[Sink, asyncio.TaskGroup], Backend]


class Session(Standing):
    """A program being debugged.

    Jobs that talk to the backend go through `do`, one at a time; `pause`, `close` and reads of the
    timeline go past them. Only this object changes its state.
    """

    def __init__(
        self,
        name: str,
        *,
        target: Launch | Attach,
        make_backend: MakeBackend,
        timeline: Timeline,
        cursors: Cursors,
        family: Family,
        parent: Session | None = None,
    ) -> None:
        super().__init__(family)
        self.name = name
        self.target = target
        self.timeline = timeline
        self.cursors = cursors
        self.parent = parent
        self.breakpoints = Breakpoints()
        self.binding = Binding(self.breakpoints)
        self.refs = Refs()
        self.look = Look()
        self.pid: int | None = None
        self.last_stop: Stopped | None = None
        self.hits: tuple[int, ...] = ()
        self.last_traces: Sequence[Traced] = ()  # as they were when the program ended
        self.exited: Exited | None = None
        self.crash: Crashed | None = None
        self.left_behind: tuple[str, ...] = ()
        self.is_reported = self.is_noted = True
        self.is_closed = False
        self.pauses = 0
        self.pending_notes: list[str] = []
        # Of the last run too, so that an ended session can be described.
        self.adapter = self.backend_kind = ""
        self.make_backend = make_backend
        self._worker = Worker()
        self._backend: Backend | None = None
        self._run = 0
        self._record = Record(timeline, name, self.breakpoints)

    # -- life ----------------------------------------------------------------------------------

    async def open(self) -> None:
        """Begin to take jobs."""
        await self._worker.open(self.name, on_failure=self._broken)

    def _broken(self) -> None:
        """Note a fault of ours: it ends this session, not the daemon and the others."""
        self.error = self.error or "an internal error; debugger daemon logs has it"
        self._set(State.TERMINATED)
        self._note_end(self.error)

    async def do(self, job: Callable[[], Awaitable[T]]) -> T:
        """Do a job when its turn comes (see Worker.do)."""
        return await self._worker.do(job)

    @property
    def backend(self) -> Backend:
        """The backend.

        Raises:
            DebuggerError: NO_SESSION while there is none.
        """
        if self._backend is None:
            raise DebuggerError(
                Code.NO_SESSION, "nothing runs in this session", hint="debugger restart"
            )
        return self._backend

    async def begin(self, adopted: Backend | None = None) -> None:
        """Start the debugger and the program, set the breakpoints, and let it run (a job).

        Raises:
            DebuggerError: LAUNCH_FAILED, ADAPTER_FAILED, ADAPTER_DIED, TIMEOUT.
        """
        if self.is_closed:
            raise ended_elsewhere(self.name)
        self._run += 1
        run, sink, backend = self._run, self._sink(self._run), adopted
        self._forget_the_last_run()
        self._set(State.INITIALIZING)
        try:
            self._backend = backend = adopted or self.make_backend(sink, self._worker.tasks)
            if adopted is not None:
                adopted.report_to(sink)
                await adopted.connect()
            elif isinstance(self.target, Launch):
                await backend.start(self.target)
            else:
                self.pauses += int(self.target.pause)
                await backend.attach(self.target)
                self.pid = self.pid or self.target.pid  # delve tells none
            if self._run != run:
                raise ended_elsewhere(self.name)
            if self.state is State.INITIALIZING:
                self._set(State.CONFIGURING)
            self.adapter, self.backend_kind = backend.adapter, backend.kind
            await self.binding.send_all(backend)
            await backend.run()
        except DebuggerError as error:
            await self._fail(error, backend)
            raise
        if self.state is State.CONFIGURING:
            self._set(State.RUNNING)

    def _forget_the_last_run(self) -> None:
        self.binding.forget()
        self.refs.new_stop()
        self.look = Look(file=self.look.file, begun=self.breakpoints.specs())
        self.exited = self.error = self.last_stop = self.crash = None
        self.left_behind = self.hits = ()
        self.pid = self.pid if self.parent is not None else None  # a child's is its only one
        self.pauses = 0
        self.is_reported, self.is_noted = True, False

    async def _fail(self, error: DebuggerError, backend: Backend | None) -> None:
        self._run += 1
        self._backend = None
        if backend is not None:
            await backend.close(kill=isinstance(self.target, Launch))
        if self.is_closed:
            return
        self.error = error.message
        self.binding.detach()
        self._set(State.TERMINATED)
        self._note_end(error.message)

    async def close(self, *, kill: bool) -> Closed:
        """End the session, past the queue; what hangs in it fails.

        Never raises; bounded.
        """
        self._run += 1
        self.is_closed = True
        backend, self._backend = self._backend, None
        self.binding.detach()
        closed = Closed()
        for child in self.family.live_children(self):
            await child.close(kill=kill)
        if backend is not None:
            closed = await backend.close(kill=kill)
        if self.state is not State.TERMINATED:
            self._set(State.TERMINATED)
            self._note_end("ended" if kill else "detached")
        await self._worker.close()
        return closed

    def require(self, *allowed: State, to: str) -> None:
        """Check that a command fits the state; of an ended process name those that go on."""
        if self.state is State.TERMINATED and self.error is None and self.state not in allowed:
            rest = [one.name for one in self.family.relatives(self) if one.is_live]
            if rest:
                raise DebuggerError(
                    Code.PROGRAM_EXITED,
                    f"cannot {to}: the process {self.name} has ended, and {rest[0]} goes on",
                    hint=f"debugger use {rest[0]}",
                )
        stopped = [one.name for one in self.family.relatives(self) if one.state is State.STOPPED]
        if self.state is State.RUNNING and self.state not in allowed and stopped:
            raise DebuggerError(
                Code.WRONG_STATE,
                f"cannot {to}: the process {self.name} is running, and {stopped[0]} is stopped",
                hint=f"debugger --session {stopped[0]} COMMAND, or debugger use {stopped[0]}; "
                "debugger pause stops this one",
            )
        super().require(*allowed, to=to)

    async def restart(self) -> int:
        """End the program and start it again with the same arguments and breakpoints (a job).

        Returns the timeline's cursor from which on events are the new run's.
        """
        check_runs(self.target, to="restart")
        if isinstance(self.target, Attach):
            raise DebuggerError(
                Code.NOT_SUPPORTED,
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
        self.timeline.end_output(session=self.name)
        if self.is_live:
            self._set(State.TERMINATED)
        cursor = self.timeline.cursor()
        await self.begin()
        return cursor

    # -- events --------------------------------------------------------------------------------

    def _sink(self, run: int) -> Sink:
        def take(event: Event) -> None:
            # What an earlier run's backend still says is none of this run's business.
            if run == self._run:
                self._take(event)

        return take

    def _take(self, event: Event) -> None:  # noqa: C901, PLR0912 - one case for each event
        match event:
            case Printed(stream, text):
                self._record.printed(stream, text)
            case Noted(text):
                self.pending_notes.append(text)
            case Logged(number, hit=hit):
                self._record.logged(event)
                if number is not None:
                    self.breakpoints.hit(number, hit)
            case Stopped():
                self._stopped(event)
            case Resumed():
                if self.state is State.STOPPED:
                    self._left_stop()
            case Passed(passages, lost):
                self._record.passed(passages, lost)
            case ConditionFailed(number, message):
                self._record.condition_failed(number, message)
            case Rebound(bound):
                self.breakpoints.update(bound)
            case Started(pid):
                # A core file's process is gone, and its pid may be another's.
                self.pid = pid if runs(self.target) else None
                self.family.changed()
            case ChildAppeared():
                self.family.adopt(self, event)
            case Exited():
                self.exited = event
            case Ended(error):
                self._ended(error)

    def _stopped(self, stop: Stopped) -> None:
        if self.state is State.TERMINATED:
            return
        hit = [self.breakpoints.by_backend_id(number) for number in stop.hits]
        known = self.breakpoints.stopping([one for one in hit if one is not None])
        if known and self._is_for_other_threads(known, stop):
            return
        known = [one for one in known if one.spec.thread in {None, stop.thread}] or known
        self.count_hits([one.id for one in known if not one.internal])
        wants_entry = isinstance(self.target, Launch) and self.target.stop_on_entry
        self.last_stop = named(
            stop,
            known,
            is_entry=wants_entry and self.last_stop is None and not self.pauses,
            is_pause=self.pauses > 0,
        )
        self.refs.new_stop()
        self.look.thread, self.look.frame = stop.thread, None
        self.is_reported = False
        self._set(State.STOPPED)
        self.pauses = 0
        for one in self.breakpoints.every():
            # What was run to is run to no more, wherever it stopped.
            if one.internal or (one.spec.temporary and one.id in {hit.id for hit in known}):
                drop = partial(self.binding.drop, one)
                self._worker.later(drop, on_error=self._complain)
                if not one.internal:
                    drop_later_elsewhere(self, one)
        self.crash = self._record.stop(self.last_stop, self.hits) or self.crash

    def drop_later(self, number: int) -> None:
        """Stop wanting a breakpoint that is wanted no more in another process of the family."""
        drop = partial(self.binding.drop_number, number)
        self._worker.later(drop, on_error=self._complain)

    def count_hits(self, numbers: Sequence[int]) -> None:
        """Note what a stop was for, where only its report can tell."""
        self.hits = tuple(numbers)
        for number in numbers:
            self.breakpoints.hit(number)

    def _is_for_other_threads(self, hit: list[Breakpoint], stop: Stopped) -> bool:
        """Go on where every breakpoint that was hit is for another thread."""
        if stop.thread is None or any(one.spec.thread in {None, stop.thread} for one in hit):
            return False
        thread, backend = stop.thread, self.backend
        self._worker.later(lambda: backend.resume(Resume.CONTINUE, thread), on_error=self._complain)
        return True

    def _complain(self, error: DebuggerError) -> None:
        self._record.printed(Stream.CONSOLE, error.message)

    def _left_stop(self, how: Resume | None = None) -> None:
        self._set(State.RUNNING)
        self.refs.new_stop()
        self.look.left(how, self.last_stop, self.hits)
        self.is_reported = True
        self._record.resumed()

    def _ended(self, error: str | None) -> None:
        if self.state is State.TERMINATED:
            return
        self.error = error
        self.binding.detach()
        self._set(State.TERMINATED)
        self._later_close()

    def _later_close(self) -> None:
        """End the backend once nothing of its family needs it, then tell of the end."""
        run = self._run
        backend = self._backend

        async def finish() -> None:
            if backend is not None:
                with suppress(DebuggerError):  # it traces nothing
                    self.last_traces = await backend.ability(Tracing).traces()
            if not self.family.live_children(self) and backend is not None:
                closed = await backend.close(kill=True)
                if run == self._run:
                    self.left_behind = strangers(closed.killed, self.pid)
                    self._backend = None
            if run == self._run:
                self._note_end(self.error or "")

        self._worker.tasks.create_task(finish())

    def _note_end(self, text: str) -> None:
        self.is_reported, self.is_noted = False, True
        self._record.ended(self.exited, self.error, text)
        if self.parent is not None:
            self.parent.child_ended()

    def child_ended(self) -> None:
        """Note that a child process's session ended: an ended program may be closed now."""
        backend, is_over = self._backend, self.state is State.TERMINATED
        if is_over and backend is not None and not self.family.live_children(self):
            self._backend = None
            self._worker.tasks.create_task(backend.close(kill=True))

    # -- running -------------------------------------------------------------------------------

    async def resume(
        self, how: Resume, *, thread: int | None = None, by: Run | None = None
    ) -> None:
        """Let a stopped program run (a job), `by` another way than the backend's own resume.

        Raises:
            DebuggerError: WRONG_STATE, PROGRAM_EXITED, and what the backend raises.
        """
        self.require(State.STOPPED, to=how.value)
        check_runs(self.target, to=how.value)
        chosen = thread if thread is not None else self.look.thread or 0
        run = by or self.backend.resume
        self._left_stop(how if by is None else None)
        try:
            await run(how, chosen)
        except DebuggerError:
            # It did not run; what was shown of the stop is stale all the same.
            if self.state is State.RUNNING and self.last_stop is not None:
                self._set(State.STOPPED)
                self.is_reported = True
            raise

    def locate_stop(self, frame: Frame | None) -> None:
        """Note in the timeline where the last stop was."""
        self._record.locate_stop(frame)

    def moved(self) -> None:
        """Note that the program is elsewhere though nothing ran: a jump."""
        assert self.last_stop is not None
        self.refs.new_stop()
        self.look.frame, self.look.shown_index = None, 0
        self.last_stop = Stopped(Reason.GOTO, "goto", self.look.thread)
        self.hits = ()

    async def pause(self, by: Callable[[], Awaitable[None]] | None = None) -> None:
        """Ask a program to stop, past the queue; `by` another way, which may stop more of it.

        Raises:
            DebuggerError: WRONG_STATE, PROGRAM_EXITED.
        """
        self.require(State.RUNNING, *([State.STOPPED] if by else ()), to="pause")
        self.pauses += 1
        await (by or self.backend.pause)()
