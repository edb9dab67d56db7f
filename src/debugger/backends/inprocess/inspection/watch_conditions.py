"""Decides whether a watched change is reported: by condition, hit count and frame."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from debugger.backends.base import BreakpointChanged, ConditionError
from debugger.backends.inprocess.engine.engine_events import EngineBreakpoint as Point
from debugger.backends.inprocess.engine.engine_events import EngineWatch, ThreadPaused
from debugger.backends.inprocess.inspection.evaluation import EvaluationResult, ExpressionEvaluator
from debugger.backends.inprocess.inspection.thread_stacks import FrameLevel, ThreadStacks
from debugger.backends.inprocess.target_access import TargetAccess
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, BreakpointSpec
from debugger.symbols.dwarf import unwinding
from debugger.symbols.dwarf.unwinding import LoadedBinary

SCOPE_ENDED = "its frame has been left, and it is watched no more"
_MARK = "left "
# Deep recursion may lie between the frame of the variable and the thread's innermost one.
_DEEP = 4096  # frames in which one that was watched is looked for


@dataclass(slots=True)
class WatchedValue:
    """Describes one watchpoint, and the frame of its variable, if that is a local."""

    order: EngineWatch
    spec: BreakpointSpec
    bound: BoundBreakpoint
    result: EvaluationResult
    home: FrameLevel | None = None
    hits: int = 0


class WatchedValues:
    """Manages the watchpoints of a program."""

    def __init__(
        self, target: TargetAccess, stacks: ThreadStacks, evaluating: ExpressionEvaluator
    ) -> None:
        self._access = target
        self._stacks = stacks
        self._evaluating = evaluating
        self._known: dict[int, WatchedValue] = {}
        self._has_begun = False

    def watched_value(self, expression: str) -> EvaluationResult | None:
        """Return a watched value, by the expression that yields it in any frame."""
        return next(
            (one.result for one in self._known.values() if one.bound.again == expression), None
        )

    @property
    def engine_watches(self) -> list[EngineWatch]:
        """The watchpoints of the engine."""
        return [one.order for one in self._known.values()]

    async def add_watch(self, number: int, one: WatchedValue) -> None:
        """Watch a value from now on; a local until its frame is left.

        Raises:
            DebuggerError: EVALUATION_FAILED when all debug registers are in use.
        """
        # Once the agent observes threads, further watchpoints need no lock.
        if not self._has_begun:
            await self._refuse_in_loader()
        await self._access.engine.set_watch(one.order)
        self._has_begun = True
        self._known[number] = one
        if one.home is not None:
            await self._await_return(number, one.home)

    async def _refuse_in_loader(self) -> None:
        """Refuse the first watchpoint while a thread is paused in the loader, whose lock it holds.

        Frida 17.26 looks names up when it begins to observe threads; it would wait for that lock
        for ever, and all that waits for the agent with it.
        """
        for thread in self._access.engine.paused_threads:
            frames, _ = await self._stacks.unwind_thread(thread, _DEEP)
            # The innermost frame is the agent's stop; the loader is further out.
            for frame in frames[1:]:
                if frame.module is not None and _is_loader(frame.module):
                    raise DebuggerError(
                        ErrorCode.WRONG_STATE,
                        f"thread {thread} is loading a library: the first watchpoint cannot be set "
                        "meanwhile",
                        hint="debugger finish, until the library is loaded, and watch then",
                    )

    async def _await_return(self, number: int, home: FrameLevel) -> None:
        """Pause the thread where the frame returns to; that may be refused."""
        frames, _ = await self._stacks.unwind_thread(home.thread, home.frame.index + 2)
        caller = next((one for one in frames if _is_below(one, home.frame)), None)
        if caller is None or caller.module is None or home.frame.cfa is None:
            return
        # A return has taken the frame off: the stack pointer is not below its canonical
        # address. A recursive call returns to the same address with a lower one.
        condition = f"(c) => c.rsp.compare(ptr('{home.frame.cfa:#x}')) >= 0"
        point = Point(
            id=f"{_MARK}{number}", address=caller.pc, condition=condition, thread=home.thread
        )
        await self._access.engine.add_breakpoints([point])

    async def remove_watch(self, number: int) -> None:
        """Remove a watchpoint."""
        known = self._known.pop(number, None)
        if known is None:
            return
        await self._access.engine.remove_watch(known.order.id)
        if known.home is not None:
            await self._access.engine.remove_breakpoints([f"{_MARK}{number}"])

    async def must_stay_paused(self, paused: ThreadPaused) -> bool:
        """Return whether watchpoints require that a thread stays paused."""
        ours = [one for one in paused.points if one.startswith(_MARK)]
        for point in ours:
            await self._leave_frame(int(point.removeprefix(_MARK)))
        if ours and len(ours) == len(paused.points):
            return False
        if paused.reason != "watch":
            return True
        # A list and no generator: each watchpoint must count its hit, also behind the first
        # that stops.
        return any([await self._watch_counts(int(name), paused) for name, _, _ in paused.watches])

    async def _leave_frame(self, number: int) -> None:
        known = self._known.get(number)
        await self.remove_watch(number)
        if known is not None:
            bound = known.bound
            unbound = BoundBreakpoint(
                verified=False, backend_id=bound.backend_id, address=bound.address, why=SCOPE_ENDED
            )
            self._access.report_event(BreakpointChanged(unbound))

    async def _watch_counts(self, number: int, paused: ThreadPaused) -> bool:
        known = self._known.get(number)
        if known is None:
            return False
        # An exception or a longjmp leaves the frame without the breakpoint at its caller:
        # then the frame is not on the stack any more when the memory is written again.
        frames, is_whole = await self._stacks.unwind_thread(
            paused.thread, _DEEP if known.home else 1
        )
        if known.home is not None and is_whole and not _is_there(known.home, paused, frames):
            await self._leave_frame(number)
            return False
        # Debug registers are set in all threads, as a thread may be made later: others are
        # let go here.
        if known.spec.thread not in {None, paused.thread}:
            return False
        if known.spec.condition is not None:
            level = FrameLevel(paused.thread, frames[0]) if frames else None
            if not await self._condition_holds(number, known.spec.condition, level):
                return False
        known.hits += 1
        return known.hits >= (known.spec.hit_count or 1)

    async def _condition_holds(self, number: int, condition: str, level: FrameLevel | None) -> bool:
        try:
            return await self._evaluating.condition_holds(condition, level)
        except DebuggerError as error:
            self._access.report_event(ConditionError(abs(number), error.message))
            return False


def _is_below(one: unwinding.UnwoundFrame, frame: unwinding.UnwoundFrame) -> bool:
    """Return whether a frame is the one that another returns to."""
    return one.index > frame.index and one.cfa != frame.cfa


def _is_there(home: FrameLevel, paused: ThreadPaused, frames: list[unwinding.UnwoundFrame]) -> bool:
    if paused.thread != home.thread:
        return True
    if not frames or frames[0].module is None:
        return True  # in the copy of a displaced instruction, which nothing describes
    return any(one.cfa == home.frame.cfa and one.entry == home.frame.entry for one in frames)


def _is_loader(module: LoadedBinary) -> bool:
    return Path(module.image.binary.path).name.startswith("ld-")
