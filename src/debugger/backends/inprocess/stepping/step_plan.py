"""Plans the marks of a step from where a thread is now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from debugger.backends.inprocess.stepping import function_body, step_marks
from debugger.backends.inprocess.stepping.function_body import (
    CallDestination,
    ControlFlow,
    DecodedInstruction,
    FunctionBodies,
    FunctionBody,
    Line,
    code_at,
    find_destination,
)
from debugger.backends.inprocess.stepping.line_walk import WalkResult, WalkState, walk_line
from debugger.backends.inprocess.stepping.step_marks import (
    FrameIdentity,
    MarkKind,
    NonlocalExit,
    StepMark,
)
from debugger.model.program import ResumeKind
from debugger.symbols.dwarf.location_evaluation import Reader, UnreadableMemory
from debugger.symbols.dwarf.unwinding import LoadedBinaries

Registers = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class StepAim:
    """Describes a requested step: over, into or out; `only` is the one call to enter."""

    how: ResumeKind
    by_instruction: bool = False
    # The address of the one call that is entered; all others are stepped over.
    only: int | None = None

    @property
    def ends_at_once(self) -> bool:
        """Whether the step ends wherever the frame was left to, even within a line."""
        return self.by_instruction or self.how is ResumeKind.FINISH

    @property
    def enters_calls(self) -> bool:
        """Whether the step enters calls."""
        return self.how is ResumeKind.STEP or self.only is not None


@dataclass(frozen=True, slots=True)
class StepPlan:
    """Holds a step's marks for one frame; `left` are the lines that it may return from."""

    marks: tuple[StepMark, ...]
    frame: FrameIdentity
    body: FunctionBody
    # The lines that the frame may return from: recursion may return into one of them.
    left: frozenset[Line] = frozenset()
    has_ended: bool = False


@dataclass(frozen=True, slots=True)
class PlanContext:
    """Holds what a plan is made from: the program's binaries, functions and memory."""

    modules: LoadedBinaries
    bodies: FunctionBodies
    leaps: Sequence[NonlocalExit]
    read: Reader


def plan_step(
    aim: StepAim, registers: Registers, ground: PlanContext, *, hidden: int = 0
) -> StepPlan:
    """Plan a step from where a thread waits; so many inlined copies begin there unentered."""
    # A step is a set of marks (breakpoints for one thread, each with a condition), planned
    # once from the code, and never a series of single steps:
    #
    # 1. Identify the frame by its canonical frame address; a recursive call of the same
    #    function, and other threads, reach the same marks and are told apart by it.
    # 2. Walk the code from here to all beginnings of other lines (`walk_line`): marks END.
    # 3. For a step into: a mark behind the prologue of each function that the line calls
    #    (ENTERED), or at the call instruction where the target is in a register (CALL).
    # 4. Where the walk may return: a mark at the caller's address (BACK) with a higher stack
    #    pointer.
    # 5. At the functions by which control may leave the frame (LEAP): exceptions and longjmp.
    #    Only one that leads to this frame, or further out, goes on to LANDED.
    # 6. The thread runs. At a mark that holds the step ends, or is planned anew
    #    (`plan_arrival`).
    #
    # Where the walk was not whole, every statement of the function gets an END.
    frame = step_marks.innermost_frame(registers, ground.modules, ground.read)
    body = ground.bodies.body_at(frame.pc, ground.modules)
    if aim.by_instruction and aim.how is not ResumeKind.FINISH:
        return StepPlan(tuple(_by_instruction(aim, registers, frame, ground)), frame, body)
    chain = body.inline_chain(frame.pc)
    hidden = min(hidden, len(chain))
    chain = chain[: len(chain) - hidden]
    is_out = aim.how is ResumeKind.FINISH
    # Code without lines has no line to end at: as in gdb, a step there runs to the caller.
    if not body.has_lines or (is_out and not chain):
        return StepPlan(tuple(_caller_marks(frame, ground)), frame, body)
    state = WalkState(frame.pc, body.line_at(frame.pc, hidden=hidden), chain)
    if is_out:
        # Out of an inlined copy: a step over the copy's call, in the frame around it. Without
        # a line, so that the first statement outside of the copy ends the step.
        state = WalkState(frame.pc, None, chain[:-1])
    return _make_plan(aim, state, frame, registers, ground, arrives=False)


def plan_arrival(
    aim: StepAim, registers: Registers, ground: PlanContext, before: StepPlan | None
) -> StepPlan:
    """Plan how a step continues in a frame that an exit or a return has led to."""
    frame = step_marks.innermost_frame(registers, ground.modules, ground.read)
    body = ground.bodies.body_at(frame.pc, ground.modules)
    # As in gdb, a step that has come into the middle of a line by a return goes on to the
    # next beginning of a statement.
    row = body.row_at(frame.pc)
    rule = step_marks.frame_rules(frame.pc, ground.modules)
    if rule is not None and rule.is_signal and not aim.ends_at_once:
        # A handler of a signal returns through the kernel to what it has interrupted.
        return StepPlan(tuple(_caller_marks(frame, ground, leaps=False)), frame, body)
    if aim.ends_at_once or not body.has_lines or row is None:
        return StepPlan((), frame, body, has_ended=True)
    # A recursive function may return into the line that the step has left: that line is then
    # the one to leave. Else the caller's line is new, and a statement of it ends the step.
    is_same = before is not None and before.body is body and row.line in before.left
    chain = body.inline_chain(frame.pc)
    # A copy that begins at the return address is about to be called, and not entered.
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
    # The frame was left to the very beginning of a statement: nothing is to run.
    if arrives and frame.pc in walked.ends:
        return plan
    marks = list(_plan_marks(aim, walked, frame, body, ground))
    # A mark at the thread's own address would not be hit: a breakpoint is passed when the
    # thread resumes. So what it would do there is done now, with the registers at hand.
    for one in [one for one in marks if one.address == frame.pc]:
        if one.kind is MarkKind.CALL:
            marks += plan_call(aim, one, registers, ground)
        elif one.kind is MarkKind.JUMP:
            marks += plan_jump(aim, one, registers, ground, plan)
    return replace(plan, marks=tuple(dict.fromkeys(marks)), has_ended=False)


def plan_jump(
    aim: StepAim, mark: StepMark, registers: Registers, ground: PlanContext, plan: StepPlan
) -> list[StepMark]:
    """Plan the marks behind a jump whose target is known only now."""
    to = _mark_target(mark, registers, ground)
    if to is None or mark.state is None:
        return []
    # Out of the function: a tail call through a register.
    if not plan.body.contains_address(to):
        return list(_tail_call_marks(to, plan.frame, ground))
    state = WalkState(to, mark.state.line, mark.state.chain)
    # A case of a switch begins with a statement of its own: the step may end at the target
    # itself.
    walked = _walk_line(aim, plan.body, state, ground, arrives=True)
    return list(_plan_marks(aim, walked, plan.frame, plan.body, ground))


def plan_call(
    aim: StepAim, mark: StepMark, registers: Registers, ground: PlanContext
) -> list[StepMark]:
    """Plan the mark in a function whose address is known only now."""
    to = _mark_target(mark, registers, ground)
    if to is None or mark.instruction is None:
        return []
    there = find_destination(to, ground.modules, ground.bodies, ground.read)
    return list(_entry_marks(aim, mark.instruction, there))


def plan_exit(
    aim: StepAim, mark: StepMark, registers: Registers, ground: PlanContext, plan: StepPlan
) -> list[StepMark]:
    """Plan the mark where an exit leads, if that is this frame or one further out."""
    leap = next((one for one in ground.leaps if one.address == mark.address), None)
    to = leap.find_target(registers, ground.read) if leap is not None else None
    if to is None or ground.modules.module_at(to) is None:
        return []
    hidden = ground.bodies.body_at(to, ground.modules).count_starting(to)
    # A step out must leave the frame: a handler in the same function does not end it.
    least = plan.frame.stack_floor + (1 if aim.how is ResumeKind.FINISH else 0)
    return [StepMark(to, MarkKind.LANDED, cfa_least=least, hidden=hidden)]


def line_calls(
    registers: Registers, ground: PlanContext
) -> list[tuple[DecodedInstruction, CallDestination | None]]:
    """List the calls of the current line, each with its destination, if that is known."""
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
    """Turn the result of a walk into marks; those of callers and exits are always needed."""
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
        # Code that cannot be decoded may lead to any other line of the function.
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
            # The mark is at the call itself: when the thread reaches it, the registers say
            # where it leads.
            yield StepMark(one.address, MarkKind.CALL, cfa=frame.cfa, instruction=one)
            continue
        there = find_destination(one.target, ground.modules, ground.bodies, ground.read)
        yield from _entry_marks(aim, one, there)


def _entry_marks(
    aim: StepAim, one: DecodedInstruction, there: CallDestination
) -> Iterator[StepMark]:
    # A function without lines is stepped over, except where the user has named this call.
    if there.can_be_entered or aim.only == one.address:
        hidden = there.body.count_starting(there.body_address)
        yield StepMark(there.body_address, MarkKind.ENTERED, back=one.next_address, hidden=hidden)


def _tail_call_marks(address: int, frame: FrameIdentity, ground: PlanContext) -> Iterator[StepMark]:
    """End in a function that takes the place of this one, if it has lines."""
    # With this frame's address: a tail call reuses the stack of the frame that it ends.
    there = find_destination(address, ground.modules, ground.bodies, ground.read)
    if there.can_be_entered:
        yield StepMark(there.address, MarkKind.END, cfa=frame.cfa)


def _caller_marks(
    frame: FrameIdentity, ground: PlanContext, *, leaps: bool = True
) -> Iterator[StepMark]:
    # By the stack pointer and not by the frame's address: the caller may be code without call
    # frame information, and recursion is told apart by "not lower than this frame's end".
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
        return function_body.find_target(
            one.place, {**registers, "rip": one.next_address}, ground.read
        )
    except (KeyError, UnreadableMemory):
        return None


def _by_instruction(
    aim: StepAim, registers: Registers, frame: FrameIdentity, ground: PlanContext
) -> Iterator[StepMark]:
    module = ground.modules.module_at(frame.pc)
    one = function_body.decode_instruction(code_at(module, frame.pc, ground.read), frame.pc)
    if one is None:
        yield from _caller_marks(frame, ground)
        return
    # A recursive callee passes the next address with a lower stack pointer, hence `rsp`.
    if one.flow is ControlFlow.CALL and aim.how is ResumeKind.NEXT:
        yield StepMark(one.next_address, MarkKind.END, rsp=frame.rsp)
        yield from _caller_marks(frame, ground)
        return
    # A trap: the signal's handler, if the program has one, may go on behind it.
    if one.flow in {ControlFlow.ON, ControlFlow.TRAP, ControlFlow.BRANCH}:
        yield StepMark(one.next_address, MarkKind.END)
    # At the return itself the address is at rsp, whatever the frame looked like before.
    if one.flow is ControlFlow.RETURN:
        yield StepMark(int.from_bytes(ground.read(frame.rsp, 8), "little"), MarkKind.END)
    elif one.flow in {ControlFlow.CALL, ControlFlow.JUMP, ControlFlow.BRANCH}:
        to = _mark_target(StepMark(frame.pc, MarkKind.JUMP, instruction=one), registers, ground)
        if to is not None:
            yield StepMark(to, MarkKind.END)
