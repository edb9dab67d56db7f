"""Follows code from an address to the beginnings of other lines that control may reach.

The rules are gdb's: a step ends where a statement of another line begins. Code in the middle of a
line, which a jump or a return may reach, is followed to its end, and its line is then the one that
is left. Inlined copies are calls: a step ends before one that another line calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from debugger.backends.inprocess.stepping.function_body import (
    Chain,
    ControlFlow,
    DecodedInstruction,
    FunctionBody,
    Line,
)
from debugger.symbols.dwarf.location_evaluation import Reader

# A bound for generated functions with huge lines. Beyond it the result is marked as not
# whole, and the plan marks every line of the function instead.
_MOST: Final = 20_000


@dataclass(frozen=True, slots=True)
class WalkState:
    """Describes control at an address: the line it comes from, and the inlined copies around."""

    address: int
    line: Line
    chain: Chain


@dataclass
class WalkResult:
    """Collects what a walk has reached: where a step ends, what is called and jumped to."""

    # Addresses where the step may end, with the number of inlined copies that begin there
    # unentered.
    ends: dict[int, int] = field(default_factory=dict)
    calls: dict[int, DecodedInstruction] = field(default_factory=dict)
    # Jumps whose target is in a register or in memory.
    jumps: dict[WalkState, DecodedInstruction] = field(default_factory=dict)
    # Targets outside of the function.
    tails: set[int] = field(default_factory=set)
    # The lines that contain a return.
    left: set[Line] = field(default_factory=set)
    # False where code could not be decoded, or the walk was too long.
    is_whole: bool = True


def walk_line(
    body: FunctionBody,
    states: Iterable[WalkState],
    read: Reader,
    *,
    enters: bool,
    arrives: bool,
) -> WalkResult:
    """Follow all paths from some states; with `arrives` the step may end at once.

    With `enters` an inlined copy that is reached is entered.
    """
    # A search over states, and not over addresses: the same instruction may be reached from
    # two lines, and ends the step for one of them only. For each state:
    #
    # 1. Outside of the function (a tail call, a jump to a shared part): noted, not followed.
    # 2. At the beginning of a statement of another line: an end of the step, not followed.
    # 3. Else the instruction is decoded. Calls are noted and skipped; a branch is followed
    #    both ways; a return notes the line that is left; an indirect jump is noted, for its
    #    target is known only when the thread comes to it (`plan_jump` then goes on from
    #    there).
    #
    # So the marks are all places where the step may end, and the thread runs at full speed
    # between them: there is no single-stepping, and other threads need not stop.
    found = WalkResult()
    waiting = list(states)
    # The state that the step begins in is no end, although its address may begin a statement:
    # the first time. A loop that comes back to it ends the step there.
    may_end = set(waiting) if not arrives else set()
    visited: set[WalkState] = set()
    while waiting:
        state = waiting.pop()
        if state in visited:
            continue
        visited.add(state)
        if len(visited) > _MOST:
            found.is_whole = False
            break
        is_first = state in may_end
        may_end.discard(state)
        if not body.contains_address(state.address):
            found.tails.add(state.address)
            continue
        hidden, now = _step_end(body, state, enters=enters)
        # `hidden` is 0 for a plain end, so it is compared with None.
        if hidden is not None and not is_first:
            found.ends[state.address] = hidden
            continue
        waiting += _follow_instruction(body, now, read, found)
    return found


def _step_end(
    body: FunctionBody, state: WalkState, *, enters: bool
) -> tuple[int | None, WalkState]:
    """Return whether a step ends here, how many copies begin here, and how it would go on."""
    # The chain says which inlined copies the step is in, outermost first. Three cases:
    #
    # - The address is in these copies and in no others: an end if a statement of another line
    #   begins.
    # - It is in more copies than the step: a call of the first of them. An end before it, if
    #   another line calls it and the copy begins here; else entered or walked through, as
    #   `enters` says.
    # - It is in fewer: the copy was left, and the walk goes on in the frame around it.
    row = body.row_at(state.address)
    if row is None or row.line is None:
        return None, state
    copies = body.enclosing_inlined(state.address)
    base = _common_copies([one.entry for one in copies], state.chain)
    state = WalkState(state.address, state.line, state.chain[:base])
    if len(copies) == base:
        # A row that is no statement has another line, but is not where a step may end: the
        # state keeps the line that it came from until a statement begins.
        if row.address == state.address and row.line != state.line:
            return (0 if row.is_stmt else None), state
        return None, WalkState(state.address, row.line, state.chain)
    called = copies[base]
    beginning = body.count_starting(state.address)
    # Control may jump into the middle of a copy (a loop's head that was moved): that is no
    # call.
    is_called_here = beginning >= len(copies) - base
    if is_called_here and called.call_line and (called.call_file, called.call_line) != state.line:
        return len(copies) - base, state
    if not enters:
        return None, state
    return min(beginning, len(copies) - base - 1), state


def _common_copies(chain: Sequence[int], other: Sequence[int]) -> int:
    """Count the copies that two chains have in common, from the outermost on."""
    count = 0
    while count < min(len(chain), len(other)) and chain[count] == other[count]:
        count += 1
    return count


def _follow_instruction(
    body: FunctionBody, now: WalkState, read: Reader, found: WalkResult
) -> list[WalkState]:
    one = body.instruction_at(now.address, read)
    if one is None:
        found.is_whole = False
        return []
    after = WalkState(one.next_address, now.line, now.chain)
    there = WalkState(one.target, now.line, now.chain) if one.target is not None else None
    match one.flow:
        case ControlFlow.ON:
            return [after]
        case ControlFlow.CALL:
            found.calls[one.address] = one
            return [after]
        case ControlFlow.BRANCH:
            return [after] if there is None else [after, there]
        case ControlFlow.JUMP if there is not None:
            return [there]
        case ControlFlow.JUMP:
            found.jumps[now] = one
        case ControlFlow.RETURN:
            found.left.add(now.line)
    return []
