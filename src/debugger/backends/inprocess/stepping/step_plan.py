"""Plans the marks of a step from where a thread is now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from debugger.backends.inprocess.stepping import instruction_decoding, step_marks
from debugger.backends.inprocess.stepping.function_body import (
    CallDestination,
    FunctionBodies,
    FunctionBody,
    Line,
    code_at,
    find_destination,
)
from debugger.backends.inprocess.stepping.instruction_decoding import (
    ControlFlow,
    DecodedInstruction,
)
from debugger.backends.inprocess.stepping.line_walk import WalkResult, WalkState, walk_line
from debugger.backends.inprocess.stepping.nonlocal_exits import NonlocalExit
from debugger.backends.inprocess.stepping.step_marks import FrameIdentity, MarkKind, StepMark
from debugger.model.program import ResumeKind
from debugger.symbols.dwarf.location_evaluation import Reader, UnreadableMemory
from debugger.symbols.dwarf.unwinding import LoadedBinaries

Registers = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class StepAim:
    """What is wished: over, into or out; `only` is the one call that is to be gone into."""

    how: ResumeKind
    by_instruction: bool = False
    only: int | None = None

    @property
    def ends_at_once(self) -> bool:
        """Whether the step ends wherever the frame was left to, be it within a line."""
        return self.by_instruction or self.how is ResumeKind.FINISH

    @property
    def enters_calls(self) -> bool:
        """Whether calls are gone into."""
        return self.how is ResumeKind.STEP or self.only is not None


@dataclass(frozen=True, slots=True)
class StepPlan:
    """A step's marks, for one frame; `left` are the lines that it may return from."""

    marks: tuple[StepMark, ...]
    frame: FrameIdentity
    body: FunctionBody
    left: frozenset[Line] = frozenset()
    has_ended: bool = False


@dataclass(frozen=True, slots=True)
class PlanContext:
    """What a plan is made from: the program's binaries, functions and memory."""

    modules: LoadedBinaries
    bodies: FunctionBodies
    leaps: Sequence[NonlocalExit]
    read: Reader


def plan_step(
    aim: StepAim, registers: Registers, ground: PlanContext, *, hidden: int = 0
) -> StepPlan:
    """Plan a step from where a thread waits, before so many inlined copies that begin there."""
    frame = step_marks.innermost_frame(registers, ground.modules, ground.read)
    body = ground.bodies.body_at(frame.pc, ground.modules)
    if aim.by_instruction and aim.how is not ResumeKind.FINISH:
        return StepPlan(tuple(_by_instruction(aim, registers, frame, ground)), frame, body)
    chain = body.inline_chain(frame.pc)
    hidden = min(hidden, len(chain))
    chain = chain[: len(chain) - hidden]
    is_out = aim.how is ResumeKind.FINISH
    if not body.has_lines or (is_out and not chain):
        return StepPlan(tuple(_caller_marks(frame, ground)), frame, body)
    state = WalkState(frame.pc, body.line_at(frame.pc, hidden=hidden), chain)
    if is_out:
        # Out of an inlined copy: as over it, from the frame that it is in.
        state = WalkState(frame.pc, None, chain[:-1])
    return _make_plan(aim, state, frame, registers, ground, arrives=False)


def plan_arrival(
    aim: StepAim, registers: Registers, ground: PlanContext, before: StepPlan | None
) -> StepPlan:
    """Plan how a step goes on in a frame that a leap or a return has led to."""
    frame = step_marks.innermost_frame(registers, ground.modules, ground.read)
    body = ground.bodies.body_at(frame.pc, ground.modules)
    row = body.row_at(frame.pc)
    rule = step_marks.frame_rules(frame.pc, ground.modules)
    if rule is not None and rule.is_signal and not aim.ends_at_once:
        # A handler of a signal returns through the kernel to what it has interrupted.
        return StepPlan(tuple(_caller_marks(frame, ground, leaps=False)), frame, body)
    if aim.ends_at_once or not body.has_lines or row is None:
        return StepPlan((), frame, body, has_ended=True)
    # A function that has called itself may come back into the line that it has left.
    is_same = before is not None and before.body is body and row.line in before.left
    chain = body.inline_chain(frame.pc)
    chain = chain[: len(chain) - body.count_starting(frame.pc)]
    state = WalkState(frame.pc, row.line if is_same else None, chain)
    return _make_plan(aim, state, frame, registers, ground, arrives=True)


def _make_plan(
    aim: StepAim,
    state: WalkState,
    frame: FrameIdentity,
    registers: Registers,
    ground: PlanContext,
    *,
    arrives: bool,
) -> StepPlan:
    body = ground.bodies.body_at(frame.pc, ground.modules)
    walked = _walk_line(aim, body, state, ground, arrives=arrives)
    plan = StepPlan((), frame, body, frozenset(walked.left), has_ended=arrives)
    if arrives and frame.pc in walked.ends:
        return plan
    marks = list(_plan_marks(aim, walked, frame, body, ground))
    # What the thread is about to do it does not come to again.
    for one in [one for one in marks if one.address == frame.pc]:
        if one.kind is MarkKind.CALL:
            marks += plan_call(aim, one, registers, ground)
        elif one.kind is MarkKind.JUMP:
            marks += plan_jump(aim, one, registers, ground, plan)
    return replace(plan, marks=tuple(dict.fromkeys(marks)), has_ended=False)


def plan_jump(
    aim: StepAim, mark: StepMark, registers: Registers, ground: PlanContext, plan: StepPlan
) -> list[StepMark]:
    """Give the marks behind a jump whose target is known only now."""
    to = _mark_target(mark, registers, ground)
    if to is None or mark.state is None:
        return []
    if not plan.body.contains_address(to):
        return list(_tail_call_marks(to, plan.frame, ground))
    state = WalkState(to, mark.state.line, mark.state.chain)
    walked = _walk_line(aim, plan.body, state, ground, arrives=True)
    return list(_plan_marks(aim, walked, plan.frame, plan.body, ground))


def plan_call(
    aim: StepAim, mark: StepMark, registers: Registers, ground: PlanContext
) -> list[StepMark]:
    """Give the mark in a function whose address is known only now."""
    to = _mark_target(mark, registers, ground)
    if to is None or mark.instruction is None:
        return []
    there = find_destination(to, ground.modules, ground.bodies, ground.read)
    return list(_entry_marks(aim, mark.instruction, there))


def plan_exit(
    aim: StepAim, mark: StepMark, registers: Registers, ground: PlanContext, plan: StepPlan
) -> list[StepMark]:
    """Give the mark where a leap leads to, if that is a frame of ours or one further out."""
    leap = next((one for one in ground.leaps if one.address == mark.address), None)
    to = leap.find_target(registers, ground.read) if leap is not None else None
    if to is None or ground.modules.module_at(to) is None:
        return []
    hidden = ground.bodies.body_at(to, ground.modules).count_starting(to)
    # Out of a frame is further than within it.
    least = plan.frame.stack_floor + (1 if aim.how is ResumeKind.FINISH else 0)
    return [StepMark(to, MarkKind.LANDED, cfa_least=least, hidden=hidden)]


def line_calls(
    registers: Registers, ground: PlanContext
) -> list[tuple[DecodedInstruction, CallDestination | None]]:
    """List the calls of the current line, each with where it comes to, if that is known."""
    pc = registers["rip"]
    body = ground.bodies.body_at(pc, ground.modules)
    row = body.row_at(pc)
    if not body.has_lines or row is None:
        return []
    state = WalkState(pc, row.line, body.inline_chain(pc))
    walked = walk_line(body, [state], ground.read, enters=False, arrives=False)
    found: list[tuple[DecodedInstruction, CallDestination | None]] = []
    for one in sorted(walked.calls.values(), key=lambda one: one.address):
        to = one.target
        if to is None and one.address == pc:
            to = _mark_target(StepMark(pc, MarkKind.CALL, instruction=one), registers, ground)
        known = find_destination(to, ground.modules, ground.bodies, ground.read) if to else None
        found.append((one, known))
    return found


def _walk_line(
    aim: StepAim, body: FunctionBody, state: WalkState, ground: PlanContext, *, arrives: bool
) -> WalkResult:
    enters = aim.how is ResumeKind.STEP and aim.only is None
    return walk_line(body, [state], ground.read, enters=enters, arrives=arrives)


def _plan_marks(
    aim: StepAim, walked: WalkResult, frame: FrameIdentity, body: FunctionBody, ground: PlanContext
) -> Iterator[StepMark]:
    """Turn what was come to into marks; those of callers and of leaps hold in any case."""
    for address, hidden in walked.ends.items():
        yield StepMark(address, MarkKind.END, cfa=frame.cfa, hidden=hidden)
    for state, one in walked.jumps.items():
        yield StepMark(one.address, MarkKind.JUMP, cfa=frame.cfa, state=state, instruction=one)
    for address in sorted(walked.tails):
        yield from _tail_call_marks(address, frame, ground)
    if aim.enters_calls:
        yield from _call_marks(aim, walked.calls.values(), frame, ground)
    yield from _caller_marks(
        frame, ground, leaps=bool(walked.calls or walked.tails or walked.jumps)
    )
    if not walked.is_whole:
        # What cannot be read may come to any other line of the function.
        yield from (
            StepMark(row.address, MarkKind.END, cfa=frame.cfa)
            for row in body.rows
            if row.is_stmt and row.line is not None and row.address != frame.pc
        )


def _call_marks(
    aim: StepAim, made: Iterable[DecodedInstruction], frame: FrameIdentity, ground: PlanContext
) -> Iterator[StepMark]:
    for one in made:
        if aim.only is not None and one.address != aim.only:
            continue
        if one.target is None:
            # It is looked at when it is about to be made: its registers then say where it goes.
            yield StepMark(one.address, MarkKind.CALL, cfa=frame.cfa, instruction=one)
            continue
        there = find_destination(one.target, ground.modules, ground.bodies, ground.read)
        yield from _entry_marks(aim, one, there)


def _entry_marks(
    aim: StepAim, one: DecodedInstruction, there: CallDestination
) -> Iterator[StepMark]:
    # A function without lines is gone over, except where it was asked for by name.
    if there.can_be_entered or aim.only == one.address:
        hidden = there.body.count_starting(there.body_address)
        yield StepMark(there.body_address, MarkKind.ENTERED, back=one.next_address, hidden=hidden)


def _tail_call_marks(address: int, frame: FrameIdentity, ground: PlanContext) -> Iterator[StepMark]:
    """End in a function that takes the place of this one, if it has lines."""
    there = find_destination(address, ground.modules, ground.bodies, ground.read)
    if there.can_be_entered:
        yield StepMark(there.address, MarkKind.END, cfa=frame.cfa)


def _caller_marks(
    frame: FrameIdentity, ground: PlanContext, *, leaps: bool = True
) -> Iterator[StepMark]:
    if frame.back is not None:
        hidden = ground.bodies.body_at(frame.back, ground.modules).count_starting(frame.back)
        yield StepMark(frame.back, MarkKind.BACK, rsp_least=frame.stack_floor, hidden=hidden)
    if leaps:
        for one in ground.leaps:
            yield StepMark(one.address, MarkKind.LEAP, script=one.exit_condition(frame.rsp))


def _mark_target(mark: StepMark, registers: Registers, ground: PlanContext) -> int | None:
    one = mark.instruction
    if one is None or one.place is None:
        return one.target if one is not None else None
    try:
        return instruction_decoding.find_target(
            one.place, {**registers, "rip": one.next_address}, ground.read
        )
    except (KeyError, UnreadableMemory):
        return None


def _by_instruction(
    aim: StepAim, registers: Registers, frame: FrameIdentity, ground: PlanContext
) -> Iterator[StepMark]:
    module = ground.modules.module_at(frame.pc)
    one = instruction_decoding.decode_instruction(code_at(module, frame.pc, ground.read), frame.pc)
    if one is None:
        yield from _caller_marks(frame, ground)
        return
    if one.flow is ControlFlow.CALL and aim.how is ResumeKind.NEXT:
        yield StepMark(one.next_address, MarkKind.END, rsp=frame.rsp)
        yield from _caller_marks(frame, ground)
        return
    if one.flow in {ControlFlow.ON, ControlFlow.TRAP, ControlFlow.BRANCH}:
        yield StepMark(one.next_address, MarkKind.END)
    if one.flow is ControlFlow.RETURN:
        yield StepMark(int.from_bytes(ground.read(frame.rsp, 8), "little"), MarkKind.END)
    elif one.flow in {ControlFlow.CALL, ControlFlow.JUMP, ControlFlow.BRANCH}:
        to = _mark_target(StepMark(frame.pc, MarkKind.JUMP, instruction=one), registers, ground)
        if to is not None:
            yield StepMark(to, MarkKind.END)
