"""Queues the threads that have stopped, reports one stop at a time, and orders steps among them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Protocol

from debugger.backends.inprocess.engine.engine_events import ThreadPaused
from debugger.backends.inprocess.stepping.function_body import CallDestination, DecodedInstruction
from debugger.backends.inprocess.stepping.thread_steps import StepVerdict, ThreadSteps
from debugger.backends.inprocess.target_access import TargetAccess
from debugger.errors import DebuggerError
from debugger.model.program import ResumeKind, Stopped, StopReason

# A step may never end while a thread whose stop is not yet reported holds a lock. After this
# time the other stop is reported in spite of the step.
STEP_FIRST_S = 1.0
# Of a pause of all threads: one that waits in an uninterruptible system call pauses when it
# returns.
GATHER_S = 2.0


class ThreadControl(Protocol):
    """Resumes threads, and requests pauses."""

    def resume(self, threads: Iterable[int] | None = None) -> list[int]:
        """Resume paused threads."""

    async def pause(self, threads: Iterable[int] | None = None) -> list[int]:
        """Request a pause of threads."""


class ThreadHost(Protocol):
    """Owns the engine whose threads are queued."""

    @property
    def engine(self) -> ThreadControl:
        """The engine inside the program."""


class StopQueue:
    """Queues stops; `tell` reports one to the session, `holds` says whether it still counts."""

    # Threads pause independently, the session sees one stop at a time. Each paused thread is
    # in one of:
    #
    # - `_waiting`: its stop is not reported yet; the thread stays paused, even while others
    #   run.
    # - `_told`: its stop was reported, and it waits for `go_on`.
    # - `_gathered`: paused for a pause of all threads; one stop is reported for all of them.
    # - `_late`: asked for in such a pause, and not there in time. It joins the reported ones.
    #
    # A pause request is answered by any stop: where a breakpoint comes first, the thread that
    # was asked goes on when it pauses. While a thread steps, other stops wait for the step's
    # end (at most STEP_FIRST_S), so that `next` shows the next line and not another thread's
    # breakpoint.
    def __init__(
        self,
        host: ThreadHost,
        *,
        tell: Callable[[Stopped], None],
        holds: Callable[[Stopped], bool],
    ) -> None:
        self._host = host
        self._tell = tell
        self._holds = holds
        self._reported: set[int] = set()
        self._waiting: list[Stopped] = []
        self._is_shown = False
        self._requested: set[int] = set()
        self._gathering: set[int] | None = None
        self._gathered: set[int] = set()
        self._late: set[int] = set()
        self._stepping: int | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.last: int | None = None

    @property
    def waiting_threads(self) -> list[int]:
        """The threads whose stop is not reported yet."""
        return [one.thread for one in self._waiting if one.thread is not None]

    # --- stops ---

    def add_stop(self, stop: Stopped) -> None:
        """Queue the stop of one thread: it is reported now, or when its turn comes."""
        assert stop.thread is not None
        if stop.reason is StopReason.PAUSE and self._is_gathered(stop.thread):
            return
        if stop.reason is StopReason.PAUSE and stop.thread in self._late:
            self._reported.add(stop.thread)
            return
        if stop.reason is StopReason.PAUSE and stop.thread not in self._requested:
            # The pause was requested, and meanwhile another thread has stopped, which was the
            # answer.
            self._host.engine.resume([stop.thread])
            return
        if stop.thread == self._stepping:
            self._forget_step()
            # The step's own end comes first, whatever waits.
            self._waiting.insert(0, stop)
        else:
            self._waiting.append(stop)
        self._show_next()

    def _is_gathered(self, thread: int) -> bool:
        if self._gathering is None or thread not in self._gathering:
            return False
        self._gathered.add(thread)
        self._gathering.discard(thread)
        if not self._gathering:
            self._show_gathered()
        return True

    def _show_next(self) -> None:
        """Report the next stop, if none is reported and no step is under way."""
        if self._gathering is not None:
            # A thread with a stop of its own is paused, too: its stop is reported after the
            # common one.
            self._gathering -= set(self.waiting_threads)
            if not self._gathering:
                self._show_gathered()
            return
        while self._waiting and not self._is_shown and self._timer is None:
            stop = self._waiting.pop(0)
            assert stop.thread is not None
            # While it waited the breakpoint may have been removed, or the process may have
            # ended.
            if self._holds(stop):
                self._reported.add(stop.thread)
                self._show_stop(stop)
            else:
                self._host.engine.resume([stop.thread])

    def _show_stop(self, stop: Stopped) -> None:
        self._is_shown = True
        self._requested.clear()
        self.last = stop.thread
        self._tell(stop)

    def clear_stops(self) -> None:
        """Forget all stops: there is no program any more."""
        self._forget_step()
        self._waiting.clear()
        self._reported.clear()

    # --- requests ---

    def go_on(self) -> None:
        """Resume the threads whose stop was reported; the next stop is then reported at once."""
        # Only these: a thread whose stop nobody has seen must not run past its breakpoint.
        going, self._reported = self._reported, set()
        self._is_shown = False
        self._late.clear()
        self._forget_step()
        self._host.engine.resume(going)
        self._show_next()

    def go_on_alone(self, thread: int) -> None:
        """Resume one thread; the others whose stop was reported stay paused."""
        self._leave_queue(thread)
        self._host.engine.resume([thread])
        self._show_next()

    def note_step(self, thread: int) -> None:
        """Note that a step of a thread begins: stops that wait are reported after it."""
        self._leave_queue(thread)
        self._forget_step()
        self._stepping = thread
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(STEP_FIRST_S, self._step_is_late)

    def stepped_in_vain(self, thread: int) -> None:
        """Note that a step did not begin: the thread is where it was."""
        self._forget_step()
        self._reported.add(thread)
        self._is_shown = True

    def _leave_queue(self, thread: int) -> None:
        self._reported.discard(thread)
        self._waiting = [one for one in self._waiting if one.thread != thread]
        self._is_shown = False

    def _step_is_late(self) -> None:
        self._timer = None
        self._show_next()

    def _forget_step(self) -> None:
        self._stepping = None
        self._forget_timer()

    def _forget_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def pause_one(self, candidates: Iterable[int]) -> None:
        """Request a pause of one thread, the first without a pending request."""
        order = list(candidates)
        # One in an uninterruptible system call does not answer: the next request goes to
        # another.
        fresh = [one for one in order if one not in self._requested] or order
        for thread in fresh:
            self._requested.add(thread)
            # One that has been asked already is not asked again, but will be told of.
            await self._host.engine.pause([thread])
            return

    async def pause_all(self, threads: Iterable[int]) -> None:
        """Request a pause of all threads; one stop is reported when they have, or after a while."""
        requested = set(threads)
        # Set before the request: threads pause while it is awaited.
        self._gathering = set(requested)
        self._gathered = set()
        self._forget_step()
        self._timer = asyncio.get_running_loop().call_later(GATHER_S, self._show_gathered)
        going = set(await self._host.engine.pause(requested))
        if self._gathering is not None:
            # A thread that was asked before pauses all the same, though the engine does not
            # count it again.
            self._gathering &= going | self._requested
            self._show_next()

    def _show_gathered(self) -> None:
        self._forget_timer()
        self._late |= self._gathering or set()
        self._gathering = None
        found, self._gathered = self._gathered, set()
        if not found:
            self._show_next()
            return
        # A stop is reported in any case, as the user waits for one: while another is shown,
        # it names the same thread, so that the selection does not move.
        thread = self.last if self._is_shown or self.last in found else min(found)
        self._reported |= found
        self._show_stop(Stopped(StopReason.PAUSE, "pause", thread))


class StepTurns:
    """Begins the user's steps, and judges the pauses that the engine reports, one at a time."""

    def __init__(self, target: TargetAccess, stops: StopQueue) -> None:
        self._host = target
        self._stops = stops
        self._steps = ThreadSteps(target)
        self._under_way: set[int] = set()
        # A lock and no queue: both the user's call and the reader of events wait for an
        # answer.
        self._turn = asyncio.Lock()

    async def begin_step(
        self,
        how: ResumeKind,
        thread: int,
        *,
        by_instruction: bool = False,
        target: int | None = None,
    ) -> None:
        """Begin a step (`ThreadSteps.begin_step`); where it fails, the thread stays where it is."""
        self._host.paused_thread(thread)
        self._stops.note_step(thread)
        try:
            async with self._turn:
                self._under_way.add(thread)
                await self._steps.begin_step(
                    how, thread, by_instruction=by_instruction, target=target
                )
        except DebuggerError:
            self._stops.stepped_in_vain(thread)
            raise

    async def decide_pause(self, paused: ThreadPaused) -> StepVerdict:
        """Tell what a pause means for its thread's step (`ThreadSteps.decide_pause`)."""
        async with self._turn:
            judged = await self._steps.decide_pause(paused)
        if judged is not StepVerdict.GO_ON:
            self._under_way.discard(paused.thread)
        return judged

    async def forget_steps(self) -> None:
        """Forget the steps that another stop has interrupted, as the user has continued."""
        async with self._turn:
            for thread in list(self._under_way):
                await self._steps.forget_step(thread)
            self._under_way.clear()

    async def line_calls(
        self, thread: int
    ) -> list[tuple[DecodedInstruction, CallDestination | None]]:
        """List the calls of the line that a paused thread is in."""
        async with self._turn:
            return await self._steps.line_calls(thread)
