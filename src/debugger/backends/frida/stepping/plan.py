"""Plans the marks of a step from where a thread is now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from debugger.backends.frida.dwarf.expressions import Reader, Unreadable
from debugger.backends.frida.dwarf.unwind import Modules
from debugger.backends.frida.stepping import decoding, frames
from debugger.backends.frida.stepping.body import Bodies, Body, Line, code_at
from debugger.backends.frida.stepping.decoding import Flow, Instruction
from debugger.backends.frida.stepping.entering import Destination, destination
from debugger.backends.frida.stepping.frames import Frame
from debugger.backends.frida.stepping.leaps import Leap
from debugger.backends.frida.stepping.marks import Kind, Mark
from debugger.backends.frida.stepping.walk import State, Walked, walk
from debugger.core.model import Resume

Registers = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Aim:
    """What is wished: over, into or out; `only` is the one call that is to be gone into."""

    how: Resume
    by_instruction: bool = False
    only: int | None = None

    @property
    def ends_at_once(self) -> bool:
        """Whether the step ends wherever the frame was left to, be it within a line."""
        return self.by_instruction or self.how is Resume.FINISH

    @property
    def enters(self) -> bool:
        """Whether calls are gone into."""
        return self.how is Resume.STEP or self.only is not None


@dataclass(frozen=True, slots=True)
class Plan:
    """A step's marks, for one frame; `left` are the lines that it may return from."""

    marks: tuple[Mark, ...]
    frame: Frame
    body: Body
    left: frozenset[Line] = frozenset()
    has_ended: bool = False


@dataclass(frozen=True, slots=True)
class Ground:
    """What a plan is made from: the program's binaries, functions and memory."""

    modules: Modules
    bodies: Bodies
    leaps: Sequence[Leap]
    read: Reader


def begin(aim: Aim, registers: Registers, ground: Ground, *, hidden: int = 0) -> Plan:
    """Plan a step from where a thread waits, before so many inlined copies that begin there."""
    frame = frames.frame(registers, ground.modules, ground.read)
    body = ground.bodies.at(frame.pc, ground.modules)
    if aim.by_instruction and aim.how is not Resume.FINISH:
        return Plan(tuple(_by_instruction(aim, registers, frame, ground)), frame, body)
    chain = body.chain(frame.pc)
    hidden = min(hidden, len(chain))
    chain = chain[: len(chain) - hidden]
    is_out = aim.how is Resume.FINISH
    if not body.has_lines or (is_out and not chain):
        return Plan(tuple(_out(frame, ground)), frame, body)
    state = State(frame.pc, body.line(frame.pc, hidden=hidden), chain)
    if is_out:
        # Out of an inlined copy: as over it, from the frame that it is in.
        state = State(frame.pc, None, chain[:-1])
    return _planned(aim, state, frame, registers, ground, arrives=False)


def arrive(aim: Aim, registers: Registers, ground: Ground, before: Plan | None) -> Plan:
    """Plan how a step goes on in a frame that a leap or a return has led to."""
    frame = frames.frame(registers, ground.modules, ground.read)
    body = ground.bodies.at(frame.pc, ground.modules)
    row = body.row(frame.pc)
    rule = frames.rule(frame.pc, ground.modules)
    if rule is not None and rule.is_signal and not aim.ends_at_once:
        # A handler of a signal returns through the kernel to what it has interrupted.
        return Plan(tuple(_out(frame, ground, leaps=False)), frame, body)
    if aim.ends_at_once or not body.has_lines or row is None:
        return Plan((), frame, body, has_ended=True)
    # A function that has called itself may come back into the line that it has left.
    is_same = before is not None and before.body is body and row.line in before.left
    chain = body.chain(frame.pc)
    chain = chain[: len(chain) - body.starting(frame.pc)]
    state = State(frame.pc, row.line if is_same else None, chain)
    return _planned(aim, state, frame, registers, ground, arrives=True)


def _planned(
    aim: Aim, state: State, frame: Frame, registers: Registers, ground: Ground, *, arrives: bool
) -> Plan:
    body = ground.bodies.at(frame.pc, ground.modules)
    walked = _walk(aim, body, state, ground, arrives=arrives)
    plan = Plan((), frame, body, frozenset(walked.left), has_ended=arrives)
    if arrives and frame.pc in walked.ends:
        return plan
    marks = list(_marks(aim, walked, frame, body, ground))
    # What the thread is about to do it does not come to again.
    for one in [one for one in marks if one.address == frame.pc]:
        if one.kind is Kind.CALL:
            marks += called(aim, one, registers, ground)
        elif one.kind is Kind.JUMP:
            marks += jumped(aim, one, registers, ground, plan)
    return replace(plan, marks=tuple(dict.fromkeys(marks)), has_ended=False)


def jumped(aim: Aim, mark: Mark, registers: Registers, ground: Ground, plan: Plan) -> list[Mark]:
    """Give the marks behind a jump whose target is known only now."""
    to = _target(mark, registers, ground)
    if to is None or mark.state is None:
        return []
    if not plan.body.holds(to):
        return list(_tail(to, plan.frame, ground))
    state = State(to, mark.state.line, mark.state.chain)
    walked = _walk(aim, plan.body, state, ground, arrives=True)
    return list(_marks(aim, walked, plan.frame, plan.body, ground))


def called(aim: Aim, mark: Mark, registers: Registers, ground: Ground) -> list[Mark]:
    """Give the mark in a function whose address is known only now."""
    to = _target(mark, registers, ground)
    if to is None or mark.instruction is None:
        return []
    there = destination(to, ground.modules, ground.bodies, ground.read)
    return list(_entered(aim, mark.instruction, there))


def leapt(aim: Aim, mark: Mark, registers: Registers, ground: Ground, plan: Plan) -> list[Mark]:
    """Give the mark where a leap leads to, if that is a frame of ours or one further out."""
    leap = next((one for one in ground.leaps if one.address == mark.address), None)
    to = leap.target(registers, ground.read) if leap is not None else None
    if to is None or ground.modules.at(to) is None:
        return []
    hidden = ground.bodies.at(to, ground.modules).starting(to)
    # Out of a frame is further than within it.
    least = plan.frame.floor + (1 if aim.how is Resume.FINISH else 0)
    return [Mark(to, Kind.LANDED, cfa_least=least, hidden=hidden)]


def calls(registers: Registers, ground: Ground) -> list[tuple[Instruction, Destination | None]]:
    """List the calls of the current line, each with where it comes to, if that is known."""
    pc = registers["rip"]
    body = ground.bodies.at(pc, ground.modules)
    row = body.row(pc)
    if not body.has_lines or row is None:
        return []
    state = State(pc, row.line, body.chain(pc))
    walked = walk(body, [state], ground.read, enters=False, arrives=False)
    found: list[tuple[Instruction, Destination | None]] = []
    for one in sorted(walked.calls.values(), key=lambda one: one.address):
        to = one.target
        if to is None and one.address == pc:
            to = _target(Mark(pc, Kind.CALL, instruction=one), registers, ground)
        known = destination(to, ground.modules, ground.bodies, ground.read) if to else None
        found.append((one, known))
    return found


def _walk(aim: Aim, body: Body, state: State, ground: Ground, *, arrives: bool) -> Walked:
    enters = aim.how is Resume.STEP and aim.only is None
    return walk(body, [state], ground.read, enters=enters, arrives=arrives)


def _marks(aim: Aim, walked: Walked, frame: Frame, body: Body, ground: Ground) -> Iterator[Mark]:
    """Turn what was come to into marks; those of callers and of leaps hold in any case."""
    for address, hidden in walked.ends.items():
        yield Mark(address, Kind.END, cfa=frame.cfa, hidden=hidden)
    for state, one in walked.jumps.items():
        yield Mark(one.address, Kind.JUMP, cfa=frame.cfa, state=state, instruction=one)
    for address in sorted(walked.tails):
        yield from _tail(address, frame, ground)
    if aim.enters:
        yield from _into(aim, walked.calls.values(), frame, ground)
    yield from _out(frame, ground, leaps=bool(walked.calls or walked.tails or walked.jumps))
    if not walked.is_whole:
        # What cannot be read may come to any other line of the function.
        yield from (
            Mark(row.address, Kind.END, cfa=frame.cfa)
            for row in body.rows
            if row.is_stmt and row.line is not None and row.address != frame.pc
        )


def _into(aim: Aim, made: Iterable[Instruction], frame: Frame, ground: Ground) -> Iterator[Mark]:
    for one in made:
        if aim.only is not None and one.address != aim.only:
            continue
        if one.target is None:
            # It is looked at when it is about to be made: its registers then say where it goes.
            yield Mark(one.address, Kind.CALL, cfa=frame.cfa, instruction=one)
            continue
        there = destination(one.target, ground.modules, ground.bodies, ground.read)
        yield from _entered(aim, one, there)


def _entered(aim: Aim, one: Instruction, there: Destination) -> Iterator[Mark]:
    # A function without lines is gone over, except where it was asked for by name.
    if there.can_be_entered or aim.only == one.address:
        hidden = there.body.starting(there.inside)
        yield Mark(there.inside, Kind.ENTERED, back=one.after, hidden=hidden)


def _tail(address: int, frame: Frame, ground: Ground) -> Iterator[Mark]:
    """End in a function that takes the place of this one, if it has lines."""
    there = destination(address, ground.modules, ground.bodies, ground.read)
    if there.can_be_entered:
        yield Mark(there.address, Kind.END, cfa=frame.cfa)


def _out(frame: Frame, ground: Ground, *, leaps: bool = True) -> Iterator[Mark]:
    if frame.back is not None:
        hidden = ground.bodies.at(frame.back, ground.modules).starting(frame.back)
        yield Mark(frame.back, Kind.BACK, rsp_least=frame.floor, hidden=hidden)
    if leaps:
        for one in ground.leaps:
            yield Mark(one.address, Kind.LEAP, script=one.script(frame.rsp))


def _target(mark: Mark, registers: Registers, ground: Ground) -> int | None:
    one = mark.instruction
    if one is None or one.place is None:
        return one.target if one is not None else None
    try:
        return decoding.target(one.place, {**registers, "rip": one.after}, ground.read)
    except (KeyError, Unreadable):
        return None


def _by_instruction(aim: Aim, registers: Registers, frame: Frame, ground: Ground) -> Iterator[Mark]:
    module = ground.modules.at(frame.pc)
    one = decoding.decode(code_at(module, frame.pc, ground.read), frame.pc)
    if one is None:
        yield from _out(frame, ground)
        return
    if one.flow is Flow.CALL and aim.how is Resume.NEXT:
        yield Mark(one.after, Kind.END, rsp=frame.rsp)
        yield from _out(frame, ground)
        return
    if one.flow in {Flow.ON, Flow.TRAP, Flow.BRANCH}:
        yield Mark(one.after, Kind.END)
    if one.flow is Flow.RETURN:
        yield Mark(int.from_bytes(ground.read(frame.rsp, 8), "little"), Kind.END)
    elif one.flow in {Flow.CALL, Flow.JUMP, Flow.BRANCH}:
        to = _target(Mark(frame.pc, Kind.JUMP, instruction=one), registers, ground)
        if to is not None:
            yield Mark(to, Kind.END)
