"""Summarises several samples of one thread's stack. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from debugger.questions.hang.hang_verdict import (
    Loop,
    LoopSample,
    ThreadActivity,
    ThreadWait,
    find_loop,
)

_LAST = 3  # samples that suffice for a loop that began late
LinesOf = Callable[[str], Sequence[str] | None]


class SampledFrame(Struct, frozen=True):
    """A frame of a sample; `is_own` marks user code, and `values` are its variables."""

    function: str
    file: str | None = None
    line: int | None = None
    is_own: bool = False
    values: Mapping[str, str] = {}


class SampledThread(Struct, frozen=True):
    """A thread, a goroutine or a task with its stack in each sample, innermost frame first."""

    key: str
    name: str
    noun: str = "thread"
    stacks: tuple[tuple[SampledFrame, ...], ...] = ()
    wait: ThreadWait | None = None
    cpu: float | None = None  # the part of a processor that it used
    computes: bool | None = None

    @property
    def last_stack(self) -> tuple[SampledFrame, ...]:
        """The stack of the last sample."""
        return self.stacks[-1] if self.stacks else ()


def summarise_thread(one: SampledThread, lines_of: LinesOf) -> ThreadActivity:
    """Return a thread's activity, with its loop if it computes."""
    found, _ = find_lasting_loop(one.stacks, lines_of) if one.wait is None else (None, None)
    distinct = {
        tuple((each.function, each.line) for each in stack if each.is_own) for stack in one.stacks
    }
    return ThreadActivity(
        key=one.key,
        name=one.name,
        noun=one.noun,
        computes=one.computes,
        wait=one.wait,
        loop=found,
        is_moving=len(distinct) > 1 and found is None,
    )


def find_lasting_loop(
    stacks: Sequence[Sequence[SampledFrame]], lines_of: LinesOf
) -> tuple[Loop | None, SampledFrame | None]:
    """Return the loop around all stacks, or around the last ones if it began only then."""
    found = find_common_loop(stacks, lines_of)
    if found[0] is None and len(stacks) > _LAST:
        found = find_common_loop(stacks[-_LAST:], lines_of)
    return found


def find_common_loop(
    stacks: Sequence[Sequence[SampledFrame]], lines_of: LinesOf
) -> tuple[Loop | None, SampledFrame | None]:
    """Return the innermost loop around all stacks, and its frame in the last one.

    A loop that ends by itself, in a function that another loop calls, is not the endless one.
    """
    outer = [list(reversed(stack)) for stack in stacks if stack]
    if not outer:
        return None, None
    inner: tuple[Loop | None, SampledFrame | None] = (None, None)
    for depth in range(_count_common_frames(outer) - 1, -1, -1):
        frames = [stack[depth] for stack in outer]
        last = frames[-1]
        source = lines_of(last.file) if last.is_own and last.file else None
        if source is None:
            continue
        rounds = [LoopSample(one.line, one.values) for one in frames if one.line]
        found = find_loop(source, rounds)
        if found is not None and not found.has_fixed_range:
            return found, last
        if found is not None and inner[0] is None:
            inner = found, last
    return inner


def _count_common_frames(outer: Sequence[Sequence[SampledFrame]]) -> int:
    """Count the common outermost frames: the last of them may be at different lines."""
    count = 0
    for frames in zip(*outer, strict=False):
        if len({(one.function, one.file) for one in frames}) > 1:
            break
        count += 1
        if len({one.line for one in frames}) > 1:
            break
    return count
