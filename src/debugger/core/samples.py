"""Summarises several samples of one thread's stack. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from debugger.core.hangs import Activity, Wait
from debugger.core.loops import Loop, Round, loop

_LAST = 3
LinesOf = Callable[[str], Sequence[str] | None]


class Place(Struct, frozen=True):
    """A frame of a sample; `is_own`: it is of the user's code, and `values` are its variables."""

    function: str
    file: str | None = None
    line: int | None = None
    is_own: bool = False
    values: Mapping[str, str] = {}


class Sampled(Struct, frozen=True):
    """A thread, a goroutine or a task with its stack in each sample, innermost frame first."""

    key: str
    name: str
    noun: str = "thread"
    stacks: tuple[tuple[Place, ...], ...] = ()
    wait: Wait | None = None
    cpu: float | None = None  # the part of a processor that it used
    computes: bool | None = None

    @property
    def last(self) -> tuple[Place, ...]:
        """The stack in the last sample."""
        return self.stacks[-1] if self.stacks else ()


def activity(one: Sampled, lines_of: LinesOf) -> Activity:
    """Return what a thread does, with the loop that it is in where it computes."""
    found, _ = lasting(one.stacks, lines_of) if one.wait is None else (None, None)
    distinct = {
        tuple((each.function, each.line) for each in stack if each.is_own) for stack in one.stacks
    }
    return Activity(
        key=one.key,
        name=one.name,
        noun=one.noun,
        computes=one.computes,
        wait=one.wait,
        loop=found,
        is_moving=len(distinct) > 1 and found is None,
    )


def lasting(
    stacks: Sequence[Sequence[Place]], lines_of: LinesOf
) -> tuple[Loop | None, Place | None]:
    """Return the loop that all stacks are in, else the last ones: it may have begun only then."""
    found = looping(stacks, lines_of)
    if found[0] is None and len(stacks) > _LAST:
        found = looping(stacks[-_LAST:], lines_of)
    return found


def looping(
    stacks: Sequence[Sequence[Place]], lines_of: LinesOf
) -> tuple[Loop | None, Place | None]:
    """Return the innermost loop that all stacks are in, and its frame in the last one.

    One that ends by itself, in a function that another loop calls, is not the one that does not.
    """
    outer = [list(reversed(stack)) for stack in stacks if stack]
    if not outer:
        return None, None
    inner: tuple[Loop | None, Place | None] = (None, None)
    for depth in range(_shared(outer) - 1, -1, -1):
        frames = [stack[depth] for stack in outer]
        last = frames[-1]
        source = lines_of(last.file) if last.is_own and last.file else None
        if source is None:
            continue
        rounds = [Round(one.line, one.values) for one in frames if one.line]
        found = loop(source, rounds)
        if found is not None and not found.ends:
            return found, last
        if found is not None and inner[0] is None:
            inner = found, last
    return inner


def _shared(outer: Sequence[Sequence[Place]]) -> int:
    """Count the outermost frames that are the same calls: the last may be at different lines."""
    count = 0
    for frames in zip(*outer, strict=False):
        if len({(one.function, one.file) for one in frames}) > 1:
            break
        count += 1
        if len({one.line for one in frames}) > 1:
            break
    return count
