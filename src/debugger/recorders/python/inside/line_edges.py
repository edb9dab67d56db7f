"""Finds where the lines of a function begin to run, as a tracer sees it (CPython 3.11).

An instruction begins its line only where the one that ran before it has another line, or jumped
back to it. So whether a line event is due depends on the way by which an instruction is reached.
"""

from __future__ import annotations

import opcode
from itertools import groupby
from opcode import HAVE_ARGUMENT, hasjrel, opmap, opname, stack_effect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_CACHE = opmap["CACHE"]
_EXTENDED_ARG = opmap["EXTENDED_ARG"]
_SEND = opmap["SEND"]
_BACKWARD = frozenset(op for op in hasjrel if "BACKWARD" in opname[op])
# What the next instruction does not follow.
_LEAVES = frozenset(
    opmap[name]
    for name in (
        "RETURN_VALUE", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD",
        "JUMP_BACKWARD_NO_INTERRUPT",
    )
)  # fmt: skip
_CACHES: Any = vars(opcode)["_inline_cache_entries"]
_PASSES_MAX = 8  # over code whose depths are known only from what stands behind it
_effects: dict[int, int] = {}  # by the argument and, in the lowest byte, the operation
_jump_effects: dict[int, int] = {}  # by the operation: a jump's argument is its distance


def begins_line(before: Any, line: int | None, op: int, jump: int = -1) -> bool:
    """Return whether an instruction begins its line when it is reached.

    Args:
        before: The line of the instruction that ran before it.
        line: Its own line.
        op: Its operation.
        jump: The operation of the jump by which it is reached.
    """
    return line is not None and (before != line or (jump in _BACKWARD and op != _SEND))


class UnitEdges:
    """The ways through bytecode by its units of two bytes: which of them begin a line."""

    def __init__(
        self,
        ops: bytes,
        args: bytes,
        lines: list[int | None],
        jumps: list[tuple[int, int, int]],
        handlers: Iterable[Any],
    ) -> None:
        self._ops, self._args, self._lines = ops, args, lines
        self._jumps = jumps  # the first and last unit, and the target
        self._handlers = list(handlers)  # first, last, target, depth, and a flag

    def begins_by_jump(self, unit: int, to: int) -> bool:
        """Return whether a jump begins the line of its target."""
        return begins_line(self._lines[unit], self._lines[to], self._ops[to], self._ops[unit])

    def goes_on(self, unit: int) -> bool:
        """Return whether the instruction before a unit may be followed by it."""
        unit -= 1
        while unit and self._ops[unit] == _CACHE:
            unit -= 1
        return self._ops[unit] not in _LEAVES

    def find_begins(self, body: int, changes: Iterable[int]) -> set[int]:
        """Return the units that begin their line on some way to them."""
        found = {body, *(unit for unit in changes if self.goes_on(unit))}
        found |= {to for _, unit, to in self._jumps if self.begins_by_jump(unit, to)}
        found |= {to for _, _, (to, *_), begins in self.handler_runs() if begins}
        lines = self._lines
        return {unit for unit in found if body <= unit < len(lines) and lines[unit] is not None}

    def handler_runs(self) -> Iterator[tuple[int, int, Any, bool]]:
        """Yield the parts of each handler's region, and whether errors there begin its line."""
        for first, last, *handler in self._handlers:
            line, lines = self._lines[handler[0]], self._lines[first:last]
            at = first
            for begins, units in groupby(line is not None and one != line for one in lines):
                size = len(list(units))
                yield at, at + size, handler, begins
                at += size

    def find_depths(self, body: int) -> dict[int, int]:
        """Return the number of values on the stack before each instruction that can be reached."""
        depths = {body: 0}
        for _, _, to, depth, is_numbered in self._handlers:
            depths[to] = depth + is_numbered + 1
        targets = {unit: to for _, unit, to in self._jumps}
        for _ in range(_PASSES_MAX):
            if not self._pass_over(body, targets, depths):
                break
        return depths

    def _pass_over(self, body: int, targets: dict[int, int], depths: dict[int, int]) -> bool:
        """Add depths from a unit on; True if one was found of what stands before it."""
        ops, args, caches, effects = self._ops, self._args, _CACHES, _effects
        unit = head = body  # `head`: of the instruction, with what extends its argument
        extended, end, is_behind = 0, len(ops), False
        while unit < end:
            op, arg = ops[unit], extended | args[unit]
            if op == _EXTENDED_ARG:
                extended = arg << 8
                unit += 1
                continue
            after = unit + 1 + caches[op]
            if head in depths:
                depth = depths[unit] = depths[head]
                if after not in depths and op not in _LEAVES:
                    effect = effects.get(arg << 8 | op)
                    if effect is None:
                        effect = _find_effect(op, arg)
                    depths[after] = depth + effect
                if unit in targets:
                    to = targets[unit]
                    if to not in depths:
                        depths[to] = depth + _find_jump_effect(op, arg)
                        is_behind = is_behind or to <= unit
            unit = head = after
            extended = 0
        return is_behind


def _find_effect(op: int, arg: int) -> int:
    """Return what an instruction adds to the stack, where the next one follows."""
    found = _effects[arg << 8 | op] = stack_effect(
        op, arg if op >= HAVE_ARGUMENT else None, jump=False
    )
    return found


def _find_jump_effect(op: int, arg: int) -> int:
    """Return what an instruction adds to the stack, where it jumps."""
    found = _jump_effects.get(op)
    if found is None:
        found = _jump_effects[op] = stack_effect(op, arg, jump=True)
    return found
