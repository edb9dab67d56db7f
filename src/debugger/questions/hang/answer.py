"""Defines and builds the answer about a hang, with equal stacks merged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import UNSET, Struct, UnsetType

from debugger.model import answers
from debugger.model.answers.frames import FrameView, SourceLine, VariableView
from debugger.model.answers.stops import OutputLine
from debugger.questions.hang.hang_verdict import (
    HangVerdict,
    Loop,
    ThreadActivity,
    describe_wait,
    describe_what_is_awaited,
)
from debugger.questions.hang.thread_sampling import ProcessWatch, SampledFrame, SampledThread
from debugger.session import source_files


class HangGroup(Struct, frozen=True):
    """Threads, tasks or goroutines with the same activity at the same location."""

    count: int
    names: tuple[str, ...]
    noun: str = "thread"
    # The wait, with the owner of the awaited lock.
    state: str = ""
    # The share of one processor, 0 to 1.
    cpu: float | None = None
    # The user's own frames, innermost first.
    frames: tuple[FrameView, ...] = ()
    # What the group waits for, and the indices of the groups that can end the wait, if known.
    awaits: str = ""
    owners: tuple[int, ...] = ()


class VariedView(Struct, frozen=True):
    """A variable that changed between the samples."""

    name: str
    first: str
    last: str


class LoopExitView(Struct, frozen=True):
    """A condition that would end a loop, and its operands over some turns."""

    line: int
    text: str
    # The turns that came to it; it was true in none of them, a header's was in all.
    reached: int
    values: str = ""
    is_header: bool = False


class CycleView(Struct, frozen=True):
    """A variable of a loop that comes to the same objects again."""

    name: str
    # The number of the objects; 1: it stays at one.
    period: int
    # The objects in order: #1 → #2 → #1.
    order: str
    # The statement that goes on to the next object, and what it reads there.
    line: int
    statement: str
    link: str


class LinkWriterView(Struct, frozen=True):
    """A line that sets the link by which a loop goes on, as a second run passed it."""

    file: str
    line: int
    text: str
    times: int
    # The last hit was of an object that the loop came to; else of another one of that name.
    is_seen: bool = False


class RepeatedReturnView(Struct, frozen=True):
    """A return statement of a function that was seen below a loop."""

    function: str
    file: str
    line: int
    text: str
    # The returned expression, and how far below the loop the function was seen.
    value: str
    depth: int = 0
    # How often a second run passed it; 0: not at all, or not seen yet.
    times: int = 0
    # The distinct values, the last ones.
    values: tuple[str, ...] = ()
    # After how many values they come again in the same order; 0: they do not.
    period: int = 0


class LoopView(Struct, frozen=True):
    """The loop of a busy thread: its header, the sampled lines, and the changing variables."""

    line: int
    text: str
    lines: tuple[int, ...]
    changed: tuple[VariedView, ...] = ()
    same: tuple[VariableView, ...] = ()
    # The turns that were watched one by one; 0: none.
    turns: int = 0
    exits: tuple[LoopExitView, ...] = ()
    cycle: CycleView | None = None
    writers: tuple[LinkWriterView, ...] = ()
    # What functions below a loop without an end of its own return.
    returns: tuple[RepeatedReturnView, ...] = ()


class Hang(Struct, frozen=True):
    """The explanation of a hang."""

    # deadlock, busy, moving, io, child, sleeping, waiting, running, stopped, unknown, or ended if
    # the program ended by itself.
    kind: str
    cause: str
    pid: int | None = None
    # The processor use of the whole process over `window_s`; 1 is one processor.
    cpu: float | None = None
    window_s: float = 0.0
    frame: FrameView | None = None
    source: tuple[SourceLine, ...] = ()
    loop: LoopView | None = None
    groups: tuple[HangGroup, ...] = ()
    total: int = 0
    # The number of stack samples of each thread.
    samples: int = 0
    output: tuple[OutputLine, ...] = ()
    output_total: int = 0
    exit_code: int | None = None
    exit_signal: str | None = None
    # The duration of the whole inspection.
    took_s: float | None = None
    adapter: str = ""
    notes: tuple[str, ...] = ()
    evidence: str | UnsetType = UNSET
    # The file that the answer was drawn in, if requested.
    picture: str | UnsetType = UNSET


def describe_run_end(last: answers.Stop, fault: str = "", waits: Sequence[str] = ()) -> str:
    """Describe how a program ended that did not hang; `fault` is what it raised before.

    `waits` is for what its goroutines waited then.
    """
    how = f" by signal {last.signal}" if last.signal else ""
    if not how and last.exit_code is not None:
        how = f" with status {last.exit_code}"
        if last.exit_code < 0:  # lldb-dap 19 tells so of a signal
            how = " by a signal: debugger crash -- CMD says why"
    if isinstance(last.exit_reason, str):
        how += f": {last.exit_reason}"
    if "deadlock" in fault and waits:
        return f"deadlock: {fault} {'; '.join(waits)} (it ended{how})"
    if "deadlock" in fault:
        return f"deadlock: {fault} (it ended{how}): debugger crash -- CMD says where"
    cause = f"no hang: it ended{how}"
    return f"{cause}; before, {fault}: debugger crash -- CMD says where" if fault else cause


LAST_LINES = 6  # of the output
_FRAMES = 4  # frames of a thread
_CHANGED = 6  # variables of a loop
_NAMES = 3  # threads of a group
_SPAN = 2  # lines of source on either side
_NO_WAITS = frozenset({"sleep", "loop"})  # for nothing that somebody else does
_TRIVIAL = 0.02  # of a processor: the clock that counts it is no finer


def build_hang_answer(
    verdict: HangVerdict,
    sampled: Sequence[SampledThread],
    activities: Sequence[ThreadActivity],
    *,
    place: SampledFrame | None,
    loop: Loop | None,
    outside: ProcessWatch,
) -> Hang:
    """Build the answer for a verdict, without the facts of the run."""
    names = {one.key: one.name for one in activities}
    first = {key: at for at, key in enumerate(verdict.chain)}
    ordered = sorted(sampled, key=lambda one: first.get(one.key, len(first)))
    where = f", in {_location_text(place)}" if place is not None else ""
    groups = _group_samples(ordered, names)
    return Hang(
        kind=verdict.kind,
        cause=verdict.text + where,
        pid=outside.pid,
        cpu=round(outside.processor_use, 2) if outside.processor_use is not None else None,
        window_s=round(outside.window_s, 1),
        frame=_frame_view(place) if place is not None else None,
        source=source_files.surrounding_lines(
            place.file if place else None, place.line if place else None, before=_SPAN, after=_SPAN
        ),
        loop=_loop_view(loop) if loop is not None else None,
        groups=groups,
        total=len(sampled),
    )


def _location_text(place: SampledFrame) -> str:
    name = Path(place.file).name if place.file else ""
    return f"{place.function} {name}:{place.line}" if name else place.function


def _frame_view(place: SampledFrame, index: int = 0) -> answers.FrameView:
    return answers.FrameView(index, place.function, place.file, place.line)


def _loop_view(found: Loop) -> LoopView:
    return LoopView(
        line=found.line,
        text=found.text,
        lines=found.lines,
        changed=tuple(
            VariedView(one.name, one.first, one.last) for one in found.changed[:_CHANGED]
        ),
        same=tuple(answers.VariableView(name, value) for name, value in found.same[:_CHANGED]),
    )


def _group_samples(
    sampled: Sequence[SampledThread], names: Mapping[str, str]
) -> tuple[HangGroup, ...]:
    """Merge threads with the same activity at the same location, in the given order."""
    found: dict[tuple[object, ...], HangGroup] = {}
    owners: dict[tuple[object, ...], dict[str, None]] = {}
    numbers: dict[tuple[object, ...], int] = {}
    groups: dict[str, int] = {}  # the index of each thread's group
    for one in sampled:
        frames = _frame_views(one)
        does = describe_wait(one.wait, names)
        key = (one.noun, does, tuple((each.function, each.file, each.line) for each in frames))
        group = found.get(key)
        if group is None:
            is_wait = one.wait is not None and one.wait.kind not in _NO_WAITS
            awaits = describe_what_is_awaited(one.wait) if is_wait else ""
            found[key] = HangGroup(
                1, (one.name,), one.noun, does, _processor_use(one.cpu), frames, awaits
            )
        else:
            cpu = (group.cpu or 0.0) + (_processor_use(one.cpu) or 0.0)
            found[key] = msgspec.structs.replace(
                group,
                count=group.count + 1,
                names=(*group.names, one.name)[:_NAMES],
                cpu=round(cpu, 2) or None,
            )
        groups[one.key] = numbers.setdefault(key, len(numbers))
        if one.wait is not None:
            owners.setdefault(key, {}).update(dict.fromkeys(one.wait.owners))
    return tuple(
        msgspec.structs.replace(
            group,
            owners=tuple(sorted({groups[one] for one in owners.get(key, ()) if one in groups})),
        )
        for key, group in found.items()
    )


def join_groups(every: Iterable[Sequence[HangGroup]]) -> tuple[HangGroup, ...]:
    """Join the groups of several processes; the indices of owners stay those of their groups."""
    found: list[HangGroup] = []
    for groups in every:
        first = len(found)
        found += [
            msgspec.structs.replace(one, owners=tuple(first + at for at in one.owners))
            for one in groups
        ]
    return tuple(found)


def _frame_views(one: SampledThread) -> tuple[answers.FrameView, ...]:
    own = [each for each in one.last_stack if each.is_own][:_FRAMES] or list(one.last_stack[:1])
    return tuple(_frame_view(each, at) for at, each in enumerate(own))


def _processor_use(cpu: float | None) -> float | None:
    return round(cpu, 2) if cpu is not None and cpu > _TRIVIAL else None
