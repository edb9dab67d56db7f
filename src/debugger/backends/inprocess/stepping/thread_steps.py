"""Begins a step of one thread, and decides at each pause whether it is over."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

from debugger.backends.inprocess.engine.engine_events import EngineBreakpoint, ThreadPaused
from debugger.backends.inprocess.inspection.memory_reading import run_reading
from debugger.backends.inprocess.stepping import step_marks
from debugger.backends.inprocess.stepping import step_plan as planning
from debugger.backends.inprocess.stepping.function_body import CallDestination, FunctionBodies
from debugger.backends.inprocess.stepping.instruction_decoding import DecodedInstruction
from debugger.backends.inprocess.stepping.nonlocal_exits import (
    NonlocalExit,
    find_exits,
    guard_at,
    random_at,
)
from debugger.backends.inprocess.stepping.step_marks import (
    MarkKind,
    StepMark,
    mark_condition,
    mark_holds,
)
from debugger.backends.inprocess.stepping.step_plan import PlanContext, StepAim, StepPlan
from debugger.backends.inprocess.target_access import TargetAccess
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.program import Frame, ResumeKind, StepTarget
from debugger.symbols.dwarf.typed_values import ValueMemory
from debugger.symbols.dwarf.unwinding import LoadedBinaries

T = TypeVar("T")


class StepVerdict(Enum):
    """What a pause is to a step: its end, nothing, or a stop of another's."""

    ENDED = "ended"
    GO_ON = "go on"
    NOT_OURS = "not ours"


@dataclass
class _ThreadStep:
    """A step under way; `marks` are by the names of their points."""

    aim: StepAim
    plan: StepPlan
    marks: dict[str, StepMark] = field(default_factory=dict)


class ThreadSteps:
    """The steps of one program, at most one of each thread.

    `begin_step`, `decide_pause` and `forget_step` ask the engine, so they are called one at a time.
    """

    def __init__(self, inside: TargetAccess) -> None:
        self._inside = inside
        self._under_way: dict[int, _ThreadStep] = {}
        self._bodies = FunctionBodies()
        self._random = random_at(inside.engine.pid)
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
        """Let a thread that waits run to the end of a step; `target` is the call to go into.

        Raises:
            DebuggerError: WRONG_STATE where the thread does not wait, NOT_SUPPORTED where there is
                nothing that the step could end at.
        """
        await self.forget_step(thread)
        paused = self._inside.paused_thread(thread)
        aim = StepAim(how, by_instruction=by_instruction, only=target)
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
        self._inside.engine.resume([thread])

    async def decide_pause(self, paused: ThreadPaused) -> StepVerdict:
        """Tell what a pause of a thread is to its step; nothing is resumed here.

        A step that has ended, or at whose thread something else has happened, is forgotten.
        """
        step = self._under_way.get(paused.thread)
        if paused.reason == "module":
            return StepVerdict.GO_ON
        others = [one for one in paused.points if not step_marks.is_step(one)]
        if paused.reason != "breakpoint" or others:
            await self.forget_step(paused.thread)
            return StepVerdict.NOT_OURS
        if step is None:
            # A point of a step that was forgotten while the thread came to it.
            return StepVerdict.GO_ON
        hit = [step.marks[one] for one in paused.points if one in step.marks]
        before = step.marks
        for mark in sorted(hit, key=lambda one: one.kind):
            if await self._ends_at_mark(step, mark, paused):
                await self.forget_step(paused.thread)
                return StepVerdict.ENDED
            if step.marks is not before:
                break  # the step goes on in another frame
        return StepVerdict.GO_ON

    async def _ends_at_mark(self, step: _ThreadStep, mark: StepMark, paused: ThreadPaused) -> bool:
        """Tell whether a step ends at a mark; where it does not, mark how it goes on."""
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
        known = set(step.marks.values())
        await self._arm_marks(step, paused.thread, [one for one in more if one not in known])
        return False

    async def _go_on(
        self, step: _ThreadStep, paused: ThreadPaused, before: StepPlan | None
    ) -> bool:
        """Let a step go on in another frame, unless it ends where it has come to."""
        step.plan = await self._with_memory(
            lambda on: planning.plan_arrival(step.aim, paused.registers, on, before)
        )
        if step.plan.has_ended:
            return True
        old, step.marks = step.marks, {}
        await self._disarm_marks(old)
        # Without any mark left it would run to the program's end unseen: it is told where it is.
        return not await self._arm_marks(step, paused.thread, step.plan.marks)

    async def forget_step(self, thread: int) -> None:
        """Take a thread's step out of the program, if there is one."""
        step = self._under_way.pop(thread, None)
        if step is not None:
            await self._disarm_marks(step.marks)

    async def line_calls(
        self, thread: int
    ) -> list[tuple[DecodedInstruction, CallDestination | None]]:
        """List the calls of the line that a thread waits in."""
        registers = self._inside.paused_thread(thread).registers
        return await self._with_memory(lambda on: planning.line_calls(registers, on))

    async def _with_memory(self, work: Callable[[PlanContext], T]) -> T:
        """Do what looks at the program's code and memory."""
        return await run_reading(self._inside, lambda memory: work(self._plan_context(memory)))

    def _plan_context(self, memory: ValueMemory) -> PlanContext:
        modules = self._inside.modules
        if self._leaps is None or self._leaps[0] is not modules:
            guard = guard_at(self._random, memory.read)
            self._leaps = (modules, find_exits(modules, memory.read, guard))
        return PlanContext(modules, self._bodies, self._leaps[1], memory.read)

    async def _arm_marks(self, step: _ThreadStep, thread: int, marks: Iterable[StepMark]) -> bool:
        """Put marks into the program, all at once; tell whether there are any."""
        orders = []
        for mark in marks:
            name = step_marks.site_name(self._next, mark.hidden)
            self._next += 1
            step.marks[name] = mark
            script = mark_condition(mark, self._inside.modules)
            orders.append(
                EngineBreakpoint(id=name, address=mark.address, condition=script, thread=thread)
            )
        if not orders:
            return False
        failed = await self._inside.engine.add_breakpoints(orders)
        for name in failed:
            del step.marks[name]
        return len(failed) < len(orders)

    async def _disarm_marks(self, marks: Iterable[str]) -> None:
        try:
            await self._inside.engine.remove_breakpoints(list(marks), is_awaited=False)
        except DebuggerError as error:
            if error.code is not ErrorCode.PROGRAM_EXITED:
                raise


def _endless_error(how: ResumeKind) -> DebuggerError:
    return DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        f"there is no place known where this {how.value} would end: the frame has no caller",
        hint="debugger continue, to a breakpoint",
    )


class InProcessInstructionSteps:
    """Steps by one machine instruction."""

    def __init__(self, inside: TargetAccess, steps: ThreadSteps) -> None:
        self._inside = inside
        self._steps = steps

    async def step_instruction(self, how: ResumeKind, thread: int) -> None:
        """Step into (`ResumeKind.STEP`) or over calls (`ResumeKind.NEXT`); the stop is reported."""
        await self._steps.begin_step(how, thread, by_instruction=True)


class InProcessStepTargets:
    """Steps into one of the calls of a line."""

    def __init__(self, inside: TargetAccess, steps: ThreadSteps) -> None:
        self._inside = inside
        self._steps = steps

    async def list_step_targets(self, frame: Frame) -> list[StepTarget]:
        """Return the calls that can be stepped into.

        None where a call's function is known only when it is made: any may be meant.
        """
        thread = _thread_at(frame, self._inside)
        if thread is None:
            return []
        calls = await self._steps.line_calls(thread)
        if any(there is None for _, there in calls):
            return []
        return [_step_target(one, there) for one, there in calls if there is not None]

    async def step_into_target(self, target: StepTarget, thread: int) -> None:
        """Step into one; the stop is reported."""
        await self._steps.begin_step(ResumeKind.STEP, thread, target=target.id)


def _thread_at(frame: Frame, inside: TargetAccess) -> int | None:
    """Find the thread that waits in a frame; the calls of outer ones have been made."""
    if frame.index or frame.address is None:
        return None
    place = int(frame.address, 16)
    waiting = inside.engine.paused_threads.values()
    return next((one.thread for one in waiting if one.registers.get("rip") == place), None)


def _step_target(one: DecodedInstruction, there: CallDestination) -> StepTarget:
    return StepTarget(id=one.address, label=there.name or one.text)
