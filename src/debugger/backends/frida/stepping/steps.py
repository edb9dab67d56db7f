"""Begins a step of one thread, and decides at each pause whether it is over."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

from debugger.backends.frida.dwarf.unwind import Modules
from debugger.backends.frida.dwarf.values import Memory
from debugger.backends.frida.engine.events import Breakpoint, Paused
from debugger.backends.frida.inside import Inside
from debugger.backends.frida.looking.memory import reading
from debugger.backends.frida.stepping import plan as planning
from debugger.backends.frida.stepping import points
from debugger.backends.frida.stepping.body import Bodies
from debugger.backends.frida.stepping.decoding import Instruction
from debugger.backends.frida.stepping.entering import Destination
from debugger.backends.frida.stepping.leaps import Leap, guard_at, leaps, random_at
from debugger.backends.frida.stepping.marks import Kind, Mark, condition, holds
from debugger.backends.frida.stepping.plan import Aim, Ground, Plan
from debugger.core.model import Resume
from debugger.errors import Code, DebuggerError

T = TypeVar("T")


class Judged(Enum):
    """What a pause is to a step: its end, nothing, or a stop of another's."""

    ENDED = "ended"
    GO_ON = "go on"
    NOT_OURS = "not ours"


@dataclass
class _Step:
    """A step under way; `marks` are by the names of their points."""

    aim: Aim
    plan: Plan
    marks: dict[str, Mark] = field(default_factory=dict)


class Steps:
    """The steps of one program, at most one of each thread.

    `begin`, `judge` and `forget` ask the engine, so they are called one at a time.
    """

    def __init__(self, inside: Inside) -> None:
        self._inside = inside
        self._under_way: dict[int, _Step] = {}
        self._bodies = Bodies()
        self._random = random_at(inside.engine.pid)
        self._leaps: tuple[Modules, list[Leap]] | None = None
        self._next = 1

    async def begin(
        self,
        how: Resume,
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
        await self.forget(thread)
        paused = self._inside.paused(thread)
        aim = Aim(how, by_instruction=by_instruction, only=target)
        unseen = points.hidden(paused)
        plan = await self._with(lambda on: planning.begin(aim, paused.registers, on, hidden=unseen))
        step = _Step(aim, plan)
        if not step.plan.marks:
            raise _endless(how)
        self._under_way[thread] = step
        if not await self._arm(step, thread, step.plan.marks):
            del self._under_way[thread]
            raise _endless(how)
        self._inside.engine.resume([thread])

    async def judge(self, paused: Paused) -> Judged:
        """Tell what a pause of a thread is to its step; nothing is resumed here.

        A step that has ended, or at whose thread something else has happened, is forgotten.
        """
        step = self._under_way.get(paused.thread)
        if paused.reason == "module":
            return Judged.GO_ON
        others = [one for one in paused.points if not points.is_step(one)]
        if paused.reason != "breakpoint" or others:
            await self.forget(paused.thread)
            return Judged.NOT_OURS
        if step is None:
            # A point of a step that was forgotten while the thread came to it.
            return Judged.GO_ON
        hit = [step.marks[one] for one in paused.points if one in step.marks]
        before = step.marks
        for mark in sorted(hit, key=lambda one: one.kind):
            if await self._ends(step, mark, paused):
                await self.forget(paused.thread)
                return Judged.ENDED
            if step.marks is not before:
                break  # the step goes on in another frame
        return Judged.GO_ON

    async def _ends(self, step: _Step, mark: Mark, paused: Paused) -> bool:
        """Tell whether a step ends at a mark; where it does not, mark how it goes on."""
        registers = paused.registers
        if not await self._with(lambda on: holds(mark, registers, on.modules, on.read)):
            return False
        more: list[Mark] = []
        match mark.kind:
            case Kind.END | Kind.ENTERED:
                return True
            case Kind.BACK | Kind.LANDED:
                return await self._go_on(
                    step, paused, step.plan if mark.kind is Kind.BACK else None
                )
            case Kind.CALL:
                more = await self._with(lambda on: planning.called(step.aim, mark, registers, on))
            case Kind.JUMP:
                more = await self._with(
                    lambda on: planning.jumped(step.aim, mark, registers, on, step.plan)
                )
            case Kind.LEAP:
                more = await self._with(
                    lambda on: planning.leapt(step.aim, mark, registers, on, step.plan)
                )
        known = set(step.marks.values())
        await self._arm(step, paused.thread, [one for one in more if one not in known])
        return False

    async def _go_on(self, step: _Step, paused: Paused, before: Plan | None) -> bool:
        """Let a step go on in another frame, unless it ends where it has come to."""
        step.plan = await self._with(
            lambda on: planning.arrive(step.aim, paused.registers, on, before)
        )
        if step.plan.has_ended:
            return True
        old, step.marks = step.marks, {}
        await self._disarm(old)
        # Without any mark left it would run to the program's end unseen: it is told where it is.
        return not await self._arm(step, paused.thread, step.plan.marks)

    async def forget(self, thread: int) -> None:
        """Take a thread's step out of the program, if there is one."""
        step = self._under_way.pop(thread, None)
        if step is not None:
            await self._disarm(step.marks)

    async def calls(self, thread: int) -> list[tuple[Instruction, Destination | None]]:
        """List the calls of the line that a thread waits in."""
        registers = self._inside.paused(thread).registers
        return await self._with(lambda on: planning.calls(registers, on))

    async def _with(self, work: Callable[[Ground], T]) -> T:
        """Do what looks at the program's code and memory."""
        return await reading(self._inside, lambda memory: work(self._ground(memory)))

    def _ground(self, memory: Memory) -> Ground:
        modules = self._inside.modules
        if self._leaps is None or self._leaps[0] is not modules:
            guard = guard_at(self._random, memory.read)
            self._leaps = (modules, leaps(modules, memory.read, guard))
        return Ground(modules, self._bodies, self._leaps[1], memory.read)

    async def _arm(self, step: _Step, thread: int, marks: Iterable[Mark]) -> bool:
        """Put marks into the program, all at once; tell whether there are any."""
        orders = []
        for mark in marks:
            name = points.name(self._next, mark.hidden)
            self._next += 1
            step.marks[name] = mark
            script = condition(mark, self._inside.modules)
            orders.append(
                Breakpoint(id=name, address=mark.address, condition=script, thread=thread)
            )
        if not orders:
            return False
        failed = await self._inside.engine.add(orders)
        for name in failed:
            del step.marks[name]
        return len(failed) < len(orders)

    async def _disarm(self, marks: Iterable[str]) -> None:
        try:
            await self._inside.engine.remove(list(marks), is_awaited=False)
        except DebuggerError as error:
            if error.code is not Code.PROGRAM_EXITED:
                raise


def _endless(how: Resume) -> DebuggerError:
    return DebuggerError(
        Code.NOT_SUPPORTED,
        f"there is no place known where this {how.value} would end: the frame has no caller",
        hint="debugger continue, to a breakpoint",
    )
