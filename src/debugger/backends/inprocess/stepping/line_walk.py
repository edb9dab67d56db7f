"""Follows code from an address to the beginnings of other lines that control may reach.

The rules are gdb's: a step ends where a statement of another line begins. Code in the middle of a
line, which one may come to by a jump or a return, is gone through to its end, and its line is then
the one that is left. Inlined copies are calls: a step ends before one that another line calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from debugger.backends.inprocess.stepping.function_body import Chain, FunctionBody, Line
from debugger.backends.inprocess.stepping.instruction_decoding import (
    ControlFlow,
    DecodedInstruction,
)
from debugger.symbols.dwarf.location_evaluation import Reader

_MOST: Final = 20_000


@dataclass(frozen=True, slots=True)
class WalkState:
    """Control at an address, which has come from a line, in an inlined copy or in none."""

    address: int
    line: Line
    chain: Chain


@dataclass
class WalkResult:
    """What was come to: where a step ends, what is called and jumped to.

    `ends` are with how many inlined copies begin there, and are not gone into. `jumps` lead to
    where only their registers tell; `tails` lead out of the function; `left` are the lines that it
    returns from.
    """

    ends: dict[int, int] = field(default_factory=dict)
    calls: dict[int, DecodedInstruction] = field(default_factory=dict)
    jumps: dict[WalkState, DecodedInstruction] = field(default_factory=dict)
    tails: set[int] = field(default_factory=set)
    left: set[Line] = field(default_factory=set)
    is_whole: bool = True


def walk_line(
    body: FunctionBody,
    states: Iterable[WalkState],
    read: Reader,
    *,
    enters: bool,
    arrives: bool,
) -> WalkResult:
    """Follow all ways from some states; with `arrives` the step may end at once.

    With `enters` an inlined copy that is come to is gone into.
    """
    found = WalkResult()
    waiting = list(states)
    may_end = set(waiting) if not arrives else set()
    seen: set[WalkState] = set()
    while waiting:
        state = waiting.pop()
        if state in seen:
            continue
        seen.add(state)
        if len(seen) > _MOST:
            found.is_whole = False
            break
        is_first = state in may_end
        may_end.discard(state)
        if not body.contains_address(state.address):
            found.tails.add(state.address)
            continue
        hidden, now = _step_end(body, state, enters=enters)
        if hidden is not None and not is_first:
            found.ends[state.address] = hidden
            continue
        waiting += _follow_instruction(body, now, read, found)
    return found


def _step_end(
    body: FunctionBody, state: WalkState, *, enters: bool
) -> tuple[int | None, WalkState]:
    """Tell whether a step ends here, how many copies begin here, and how it would go on."""
    row = body.row_at(state.address)
    if row is None or row.line is None:
        return None, state
    copies = body.enclosing_inlined(state.address)
    base = _common_copies([one.entry for one in copies], state.chain)
    state = WalkState(state.address, state.line, state.chain[:base])
    if len(copies) == base:
        if row.address == state.address and row.line != state.line:
            return (0 if row.is_stmt else None), state
        return None, WalkState(state.address, row.line, state.chain)
    called = copies[base]
    beginning = body.count_starting(state.address)
    is_called_here = beginning >= len(copies) - base
    if is_called_here and called.call_line and (called.call_file, called.call_line) != state.line:
        return len(copies) - base, state
    if not enters:
        return None, state
    return min(beginning, len(copies) - base - 1), state


def _common_copies(chain: Sequence[int], other: Sequence[int]) -> int:
    """Count the copies that two places have in common, from the outermost on."""
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
