"""Begins steps of threads, and decides at each pause whether a step is over."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

from debugger.backends.inprocess.engine.engine_events import EngineBreakpoint, ThreadPaused
from debugger.backends.inprocess.inspection.memory_reading import run_reading
from debugger.backends.inprocess.stepping import step_marks
from debugger.backends.inprocess.stepping import step_plan as planning
from debugger.backends.inprocess.stepping.function_body import (
    CallDestination,
    DecodedInstruction,
    FunctionBodies,
)
from debugger.backends.inprocess.stepping.step_marks import (
    MarkKind,
    NonlocalExit,
    StepMark,
    find_exits,
    guard_at,
    mark_condition,
    mark_holds,
    random_at,
)
from debugger.backends.inprocess.stepping.step_plan import PlanContext, StepAim, StepPlan
from debugger.backends.inprocess.target_access import TargetAccess
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import Frame, ResumeKind, StepTarget
from debugger.symbols.dwarf.typed_values import ValueMemory
from debugger.symbols.dwarf.unwinding import LoadedBinaries

T = TypeVar("T")


class StepVerdict(Enum):
    """Says what a pause means for a step: its end, nothing, or another stop."""

    ENDED = "ended"
    GO_ON = "go on"
    NOT_OURS = "not ours"


@dataclass
class _ThreadStep:
    """Holds a step under way; `marks` are by the names of their sites."""

    aim: StepAim
    plan: StepPlan
    marks: dict[str, StepMark] = field(default_factory=dict)


class ThreadSteps:
    """Controls the steps of one program, at most one of each thread.

    `begin_step`, `decide_pause` and `forget_step` await the engine, so they are called one at a
    time.
    """

    def __init__(self, target: TargetAccess) -> None:
        self._access = target
        self._under_way: dict[int, _ThreadStep] = {}
        self._bodies = FunctionBodies()
        self._random = random_at(target.engine.pid)
        # With the binaries that they were found in: a library that is loaded may bring an
        # unwinder.
        self._leaps: tuple[LoadedBinaries, list[NonlocalExit]] | None = None
        self._next = 1

    async def begin_step(
        self,
        how: ResumeKind,
        thread: int,
        *,
        by_instruction: bool = False,
        target: int | None = None,
    ) -> None:
        """Resume a paused thread until the end of a step; `target` is the call to enter.

        Raises:
            DebuggerError: WRONG_STATE where the thread is not paused, NOT_SUPPORTED where there is
                nothing that the step could end at.
        """
        # A step from plan to end, in these four methods:
        #
        # 1. `begin_step` plans (step_plan.py), adds all marks as breakpoints for this thread
        #    in one order, and resumes the thread. Other threads run all the time.
        # 2. The agent checks each mark's condition in the thread itself, and pauses it only
        #    where it holds.
        # 3. `decide_pause` checks again with what only we know (the frame's address by the
        #    call frame information), and either ends the step, or adds the marks that the new
        #    registers allow (`_ends_at_mark`), or plans anew in the frame that was reached
        #    (`_go_on`).
        # 4. A breakpoint of the user's, a signal or a pause request at the same thread ends
        #    the step as well: its marks are removed, and the other stop is reported.
        #
        # The removal of marks is not awaited: a thread that reaches an old one pauses, and
        # goes on.
        await self.forget_step(thread)
        paused = self._access.paused_thread(thread)
        aim = StepAim(how, by_instruction=by_instruction, only=target)
        # Before the frame is planned: how many inlined copies begin here is in the names of
        # the sites.
        unseen = step_marks.count_hidden(paused)
        plan = await self._with_memory(
            lambda on: planning.plan_step(aim, paused.registers, on, hidden=unseen)
        )
        step = _ThreadStep(aim, plan)
        if not step.plan.marks:
            raise _endless_error(how)
        self._under_way[thread] = step
        if not await self._arm_marks(step, thread, step.plan.marks):
            del self._under_way[thread]
            raise _endless_error(how)
        self._access.engine.resume([thread])

    async def decide_pause(self, paused: ThreadPaused) -> StepVerdict:
        """Tell what a pause of a thread means for its step; nothing is resumed here.

        A step that has ended, or at whose thread something else has happened, is forgotten.
        """
        step = self._under_way.get(paused.thread)
        # A library is being loaded within the step: the thread goes on when its breakpoints
        # are set.
        if paused.reason == "module":
            return StepVerdict.GO_ON
        others = [one for one in paused.points if not step_marks.is_step(one)]
        if paused.reason != "breakpoint" or others:
            await self.forget_step(paused.thread)
            return StepVerdict.NOT_OURS
        if step is None:
            # A mark of a step that was forgotten while the thread came to it.
            return StepVerdict.GO_ON
        hit = [step.marks[one] for one in paused.points if one in step.marks]
        before = step.marks
        # Several marks may be at one address: an end is decided before a call is followed.
        for mark in sorted(hit, key=lambda one: one.kind):
            if await self._ends_at_mark(step, mark, paused):
                await self.forget_step(paused.thread)
                return StepVerdict.ENDED
            if step.marks is not before:
                break  # the step goes on in another frame
        return StepVerdict.GO_ON

    async def _ends_at_mark(self, step: _ThreadStep, mark: StepMark, paused: ThreadPaused) -> bool:
        """Test whether a step ends at a mark; where it does not, add marks for how it continues."""
        registers = paused.registers
        if not await self._with_memory(lambda on: mark_holds(mark, registers, on.modules, on.read)):
            return False
        more: list[StepMark] = []
        match mark.kind:
            case MarkKind.END | MarkKind.ENTERED:
                return True
            case MarkKind.BACK | MarkKind.LANDED:
                return await self._go_on(
                    step, paused, step.plan if mark.kind is MarkKind.BACK else None
                )
            case MarkKind.CALL:
                more = await self._with_memory(
                    lambda on: planning.plan_call(step.aim, mark, registers, on)
                )
            case MarkKind.JUMP:
                more = await self._with_memory(
                    lambda on: planning.plan_jump(step.aim, mark, registers, on, step.plan)
                )
            case MarkKind.LEAP:
                more = await self._with_memory(
                    lambda on: planning.plan_exit(step.aim, mark, registers, on, step.plan)
                )
        # A loop comes to the same call many times, and to the same target.
        known = set(step.marks.values())
        await self._arm_marks(step, paused.thread, [one for one in more if one not in known])
        return False

    async def _go_on(
        self, step: _ThreadStep, paused: ThreadPaused, before: StepPlan | None
    ) -> bool:
        """Continue a step in another frame, unless it ends there."""
        step.plan = await self._with_memory(
            lambda on: planning.plan_arrival(step.aim, paused.registers, on, before)
        )
        if step.plan.has_ended:
            return True
        # The marks of the frame that was left are for a frame's address that is no more.
        old, step.marks = step.marks, {}
        await self._disarm_marks(old)
        # Without any mark the thread would run to the program's end unseen, so the step ends
        # here.
        return not await self._arm_marks(step, paused.thread, step.plan.marks)

    async def forget_step(self, thread: int) -> None:
        """Remove a thread's step from the program, if there is one."""
        step = self._under_way.pop(thread, None)
        if step is not None:
            await self._disarm_marks(step.marks)

    async def line_calls(
        self, thread: int
    ) -> list[tuple[DecodedInstruction, CallDestination | None]]:
        """List the calls of the line that a paused thread is in."""
        registers = self._access.paused_thread(thread).registers
        return await self._with_memory(lambda on: planning.line_calls(registers, on))

    async def _with_memory(self, work: Callable[[PlanContext], T]) -> T:
        """Run a function that reads the program's code and memory."""
        return await run_reading(self._access, lambda memory: work(self._plan_context(memory)))

    def _plan_context(self, memory: ValueMemory) -> PlanContext:
        modules = self._access.modules
        # `modules` is a new object after each load: identity says whether anything has
        # changed.
        if self._leaps is None or self._leaps[0] is not modules:
            guard = guard_at(self._random, memory.read)
            self._leaps = (modules, find_exits(modules, memory.read, guard))
        return PlanContext(modules, self._bodies, self._leaps[1], memory.read)

    async def _arm_marks(self, step: _ThreadStep, thread: int, marks: Iterable[StepMark]) -> bool:
        """Add marks to the program in one order; return whether any was added."""
        orders = []
        for mark in marks:
            name = step_marks.site_name(self._next, mark.hidden)
            self._next += 1
            step.marks[name] = mark
            script = mark_condition(mark, self._access.modules)
            orders.append(
                EngineBreakpoint(id=name, address=mark.address, condition=script, thread=thread)
            )
        if not orders:
            return False
        # All at once: a step with one request for each mark took 4 to 85 ms, most of it
        # waiting.
        failed = await self._access.engine.add_breakpoints(orders)
        for name in failed:
            del step.marks[name]
        return len(failed) < len(orders)

    async def _disarm_marks(self, marks: Iterable[str]) -> None:
        try:
            await self._access.engine.remove_breakpoints(list(marks), is_awaited=False)
        except DebuggerError as error:
            # The program may end within the step; there is nothing to remove then.
            if error.code is not ErrorCode.PROGRAM_EXITED:
                raise


def _endless_error(how: ResumeKind) -> DebuggerError:
    return DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        f"unknown where this {how.value} would end: the frame has no caller",
        hint="debugger continue, to a breakpoint",
    )


class InProcessInstructionSteps:
    """Steps by one machine instruction."""

    def __init__(self, target: TargetAccess, steps: ThreadSteps) -> None:
        self._access = target
        self._steps = steps

    async def step_instruction(self, how: ResumeKind, thread: int) -> None:
        """Step into (`ResumeKind.STEP`) or over calls (`ResumeKind.NEXT`); the stop is reported."""
        await self._steps.begin_step(how, thread, by_instruction=True)


class InProcessStepTargets:
    """Steps into one of the calls of a line."""

    def __init__(self, target: TargetAccess, steps: ThreadSteps) -> None:
        self._access = target
        self._steps = steps

    async def list_step_targets(self, frame: Frame) -> list[StepTarget]:
        """Return the calls of the current line that can be stepped into.

        The list is empty where a call's function is known only when the call is made: any may be
        meant.
        """
        thread = _thread_at(frame, self._access)
        if thread is None:
            return []
        calls = await self._steps.line_calls(thread)
        if any(there is None for _, there in calls):
            return []
        return [_step_target(one, there) for one, there in calls if there is not None]

    async def step_into_target(self, target: StepTarget, thread: int) -> None:
        """Step into one call; the stop is reported."""
        await self._steps.begin_step(ResumeKind.STEP, thread, target=target.id)


def _thread_at(frame: Frame, target: TargetAccess) -> int | None:
    """Return the thread that is paused in a frame; None for an outer frame, whose call is made."""
    if frame.index or frame.address is None:
        return None
    place = int(frame.address, 16)
    waiting = target.engine.paused_threads.values()
    return next((one.thread for one in waiting if one.registers.get("rip") == place), None)


def _step_target(one: DecodedInstruction, there: CallDestination) -> StepTarget:
    return StepTarget(id=one.address, label=there.name or one.text)
