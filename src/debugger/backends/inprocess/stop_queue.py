"""Queues the threads that have stopped, reports one stop at a time, and orders steps among them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Protocol

from debugger.backends.inprocess.engine.engine_events import ThreadPaused
from debugger.backends.inprocess.stepping.function_body import CallDestination
from debugger.backends.inprocess.stepping.instruction_decoding import DecodedInstruction
from debugger.backends.inprocess.stepping.thread_steps import StepVerdict, ThreadSteps
from debugger.backends.inprocess.target_access import TargetAccess
from debugger.errors import DebuggerError
from debugger.model.program import ResumeKind, Stopped, StopReason

# A step may never end while a thread that waits to be told of holds a lock: then it is told.
STEP_FIRST_S = 1.0
GATHER_S = 2.0


class ThreadControl(Protocol):
    """What lets threads go on, and asks them to pause."""

    def resume(self, threads: Iterable[int] | None = None) -> list[int]:
        """Let paused threads go on."""

    async def pause(self, threads: Iterable[int] | None = None) -> list[int]:
        """Ask threads to pause."""


class ThreadHost(Protocol):
    """What has the threads."""

    @property
    def engine(self) -> ThreadControl:
        """The engine inside the program."""


class StopQueue:
    """The queue of stops; `tell` shows one to the session, `holds` says whether it still counts."""

    def __init__(
        self,
        inside: ThreadHost,
        *,
        tell: Callable[[Stopped], None],
        holds: Callable[[Stopped], bool],
    ) -> None:
        self._inside = inside
        self._tell = tell
        self._holds = holds
        self._told: set[int] = set()
        self._waiting: list[Stopped] = []
        self._is_shown = False
        self._asked: set[int] = set()
        self._gathering: set[int] | None = None
        self._gathered: set[int] = set()
        self._late: set[int] = set()
        self._stepping: int | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.last: int | None = None

    @property
    def waiting_threads(self) -> list[int]:
        """The threads that wait to be told of."""
        return [one.thread for one in self._waiting if one.thread is not None]

    # --- what comes in ---

    def add_stop(self, stop: Stopped) -> None:
        """Take the stop of one thread: it is shown now, or when its turn comes."""
        assert stop.thread is not None
        if stop.reason is StopReason.PAUSE and self._is_gathered(stop.thread):
            return
        if stop.reason is StopReason.PAUSE and stop.thread in self._late:
            self._told.add(stop.thread)
            return
        if stop.reason is StopReason.PAUSE and stop.thread not in self._asked:
            # It was asked for, and meanwhile another thread has stopped: that was the answer.
            self._inside.engine.resume([stop.thread])
            return
        if stop.thread == self._stepping:
            self._forget_step()
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
        """Show the next stop, if nothing is shown and no step is waited for."""
        if self._gathering is not None:
            # It stands still, too, and is told of after all have been.
            self._gathering -= set(self.waiting_threads)
            if not self._gathering:
                self._show_gathered()
            return
        while self._waiting and not self._is_shown and self._timer is None:
            stop = self._waiting.pop(0)
            assert stop.thread is not None
            if self._holds(stop):
                self._told.add(stop.thread)
                self._show_stop(stop)
            else:
                self._inside.engine.resume([stop.thread])

    def _show_stop(self, stop: Stopped) -> None:
        self._is_shown = True
        self._asked.clear()
        self.last = stop.thread
        self._tell(stop)

    def clear_stops(self) -> None:
        """Forget all: there is no program any more."""
        self._forget_step()
        self._waiting.clear()
        self._told.clear()

    # --- what is asked for ---

    def go_on(self) -> None:
        """Let the threads go on whose stop has been told; then the next is told at once."""
        going, self._told = self._told, set()
        self._is_shown = False
        self._late.clear()
        self._forget_step()
        self._inside.engine.resume(going)
        self._show_next()

    def go_on_alone(self, thread: int) -> None:
        """Let one thread go on; the others that were told of stay."""
        self._leave_queue(thread)
        self._inside.engine.resume([thread])
        self._show_next()

    def note_step(self, thread: int) -> None:
        """Note that a step of a thread begins: who waits already is told of after it."""
        self._leave_queue(thread)
        self._forget_step()
        self._stepping = thread
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(STEP_FIRST_S, self._step_is_late)

    def stepped_in_vain(self, thread: int) -> None:
        """Note that a step did not begin: the thread stands where it was."""
        self._forget_step()
        self._told.add(thread)
        self._is_shown = True

    def _leave_queue(self, thread: int) -> None:
        self._told.discard(thread)
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
        """Ask one thread to pause, the first that was not asked yet."""
        order = list(candidates)
        fresh = [one for one in order if one not in self._asked] or order
        for thread in fresh:
            self._asked.add(thread)
            # One that has been asked already is not asked again, but will be told of.
            await self._inside.engine.pause([thread])
            return

    async def pause_all(self, threads: Iterable[int]) -> None:
        """Ask all threads to pause; one stop is told when they have, or after a while."""
        wanted = set(threads)
        self._gathering = set(wanted)
        self._gathered = set()
        self._forget_step()
        self._timer = asyncio.get_running_loop().call_later(GATHER_S, self._show_gathered)
        going = set(await self._inside.engine.pause(wanted))
        if self._gathering is not None:
            # One that was asked before will be told of all the same.
            self._gathering &= going | self._asked
            self._show_next()

    def _show_gathered(self) -> None:
        self._forget_timer()
        self._late |= self._gathering or set()
        self._gathering = None
        found, self._gathered = self._gathered, set()
        if not found:
            self._show_next()
            return
        # Whoever asked while a stop was shown waits to be told, too: of the thread that was shown.
        thread = self.last if self._is_shown or self.last in found else min(found)
        self._told |= found
        self._show_stop(Stopped(StopReason.PAUSE, "pause", thread))


class StepTurns:
    """The steps of one program, begun by the user and judged as the engine tells of pauses."""

    def __init__(self, inside: TargetAccess, stops: StopQueue) -> None:
        self._inside = inside
        self._stops = stops
        self._steps = ThreadSteps(inside)
        self._under_way: set[int] = set()
        # Not a queue: the user's call waits for its answer, and so does the reader of events.
        self._turn = asyncio.Lock()

    async def begin_step(
        self,
        how: ResumeKind,
        thread: int,
        *,
        by_instruction: bool = False,
        target: int | None = None,
    ) -> None:
        """Begin a step (see Steps.begin); where it cannot, the thread stays where it is."""
        self._inside.paused_thread(thread)
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
        """Tell what a pause is to its thread's step (see Steps.judge)."""
        async with self._turn:
            judged = await self._steps.decide_pause(paused)
        if judged is not StepVerdict.GO_ON:
            self._under_way.discard(paused.thread)
        return judged

    async def forget_steps(self) -> None:
        """Give up the steps that another stop has interrupted: the user has gone on."""
        async with self._turn:
            for thread in list(self._under_way):
                await self._steps.forget_step(thread)
            self._under_way.clear()

    async def line_calls(
        self, thread: int
    ) -> list[tuple[DecodedInstruction, CallDestination | None]]:
        """List the calls of the line that a thread waits in."""
        async with self._turn:
            return await self._steps.line_calls(thread)
