"""Finds the freed heap block that a crash used, and who freed it, by further runs."""

from __future__ import annotations

import asyncio
import base64
import re
import zlib
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from debugger.model.answers.frames import FrameView
from debugger.model.pointers.glibc_heap import (
    HeapBlock,
    HeapContent,
    find_first_chunk,
    parse_heap,
)
from debugger.questions.runner.answer import FreedBlock
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.why import native_values, statement_origin
from debugger.questions.why.traced_run import (
    EndPlan,
    HeapBytes,
    TraceEvent,
    TraceFrame,
    TracePlan,
    TraceResult,
    TraceValue,
    WatchPlan,
    run_traced,
)
from debugger.session import source_files

_WORD = 8
_FRAMES = 14  # own frames of a free whose operands are read
_SHOWN = 8
_DROPPED = ":dropped"
_CALLERS = 3  # frames above the crash whose calls are searched for the pointer
_LEAST_S = 1.0
_LAST = 24  # events of a run whose stack is read
_STACK = 8 << 20  # bytes


class UsedBlock(Struct, frozen=True):
    """A freed block that a frame of the crash points to."""

    name: str
    frame: TraceFrame
    index: int
    pointer: int
    block: HeapBlock


class BlockEnd(Struct, frozen=True):
    """The last free of a block, and the end of its last reference before, if that was seen."""

    freed: TraceEvent
    dropped: TraceEvent | None = None


async def find_freed_block(
    call: CommandCall, question: QuestionRun, culprit: str, *, seconds: float
) -> FreedBlock | None:
    """Return the freed block that the crash used, and its end; None if it used none.

    Raises:
        DebuggerError: What a traced run raises.
    """
    # 1. A run to the crash: which pointers of its statements lead to blocks of glibc's free lists.
    # 2. A run with the block's first words watched: the allocator writes them at a free. The last
    #    free before the crash is the one that matters, as the block is in a list now.
    #    A count of references in these words that became zero before is the block's real end.
    # 3. A run with the memory watched from which the freed pointer was read: who put it there.
    return await _BlockSearch(call, question, seconds).find(culprit)


class _BlockSearch:
    """The runs about one block."""

    def __init__(self, call: CommandCall, question: QuestionRun, seconds: float) -> None:
        self._call, self._question = call, question
        self._until = asyncio.get_running_loop().time() + seconds

    async def find(self, culprit: str) -> FreedBlock | None:
        survey = await self._run(TracePlan(EndPlan("crash"), heap=True))
        used = find_used_block(survey, culprit) if survey.reached else None
        if used is None:
            return None
        found = FreedBlock(
            used.name,
            hex(used.pointer),
            native_values.frame_view(used.frame, used.index),
            used.block.size,
        )
        watches = _header_watches(used.block.start)
        end = await self._find_end(watches)
        if end is None:
            return found
        found = msgspec.structs.replace(
            found,
            freed=_own_frames(end.freed.frames),
            dropped=_own_frames(end.dropped.frames) if end.dropped is not None else (),
        )
        return await self._add_holder(found, used, watches, end)

    async def _find_end(self, watches: tuple[WatchPlan, ...]) -> BlockEnd | None:
        """Find the last free of the block before the crash."""
        plan = TracePlan(EndPlan("crash"), watches, deep_frames=_FRAMES, deep_max=_LAST)
        result = await self._run(plan)
        if result.reached and not all(one.deep for one in result.events):
            # A block that was used often: of its first events alone the stack was read.
            late = {
                key: max(count - _LAST // len(result.counts), 1)
                for key, count in result.counts.items()
            }
            result = await self._run(msgspec.structs.replace(plan, deep_from=late))
        return _end_of_block(result)

    async def _add_holder(
        self, found: FreedBlock, used: UsedBlock, watches: tuple[WatchPlan, ...], end: BlockEnd
    ) -> FreedBlock:
        """Add the memory that held the pointer which was freed or dropped last, and its writer."""
        freed, last = end.freed, end.dropped or end.freed
        holder = _find_holder(last.frames, used.block)
        if holder is None:
            return found
        name, value = holder
        slot = native_values.watch_plan("slot", value.address, _WORD)
        until = EndPlan("event", key=freed.key, count=freed.count)
        never = {key: 1 << 62 for one in watches for key in (one.key, one.key + _DROPPED)}
        result = await self._run(TracePlan(until, (*watches, slot), deep_frames=1, deep_from=never))
        before = _sequence_of(result, last)
        writes = [one for one in result.events_of(slot.key) if one.sequence < before]
        own = writes[-1].own if writes and result.reached else None
        if own is None:
            return found
        stored = _own_frames(writes[-1].frames)
        return msgspec.structs.replace(found, holder=name, stored=stored, statement=own.statement)

    async def _run(self, plan: TracePlan) -> TraceResult:
        seconds = self._until - asyncio.get_running_loop().time()
        if seconds < _LEAST_S:
            return TraceResult(late=True)
        return await run_traced(self._call, self._question, plan, seconds=seconds)


def find_used_block(survey: TraceResult, culprit: str) -> UsedBlock | None:
    """Return the freed block that the crash's statement, or a call above it, leads to."""
    heap = read_heap(survey.heap) if survey.heap is not None else None
    if heap is None:
        return None
    for index, frame, name, value in _used_pointers(survey.frames, culprit):
        block = heap.find_block(value.number) if value.kind == "pointer" else None
        if block is not None and block.freed_in:
            return UsedBlock(name, frame, index, value.number, block)
    return None


def _used_pointers(
    frames: Sequence[TraceFrame], culprit: str
) -> Iterator[tuple[int, TraceFrame, str, TraceValue]]:
    """Return the pointers that matter: of the statement, of what it was assigned from, of calls."""
    own = [(at, one) for at, one in enumerate(frames) if not one.library and one.file]
    for number, (at, frame) in enumerate(own[: _CALLERS + 1]):
        texts = [frame.statement]
        if not number:
            texts += _assignments(frame, culprit)
        names = [name for name in frame.vars if any(_is_named(name, one) for one in texts)]
        arguments = [name for name in frame.args if name in frame.vars] if not number else []
        for name in dict.fromkeys([*names, *arguments]):
            yield at, frame, name, frame.vars[name]


def _assignments(frame: TraceFrame, culprit: str) -> list[str]:
    """Return what the lines of the frame's function above its own assign to the culprit."""
    base = re.split(r"->|\.|\[", culprit.lstrip("*(&"))[0]
    lines = source_files.read_source(frame.file) if frame.file and base else None
    if lines is None or not frame.line:
        return []
    pattern = re.compile(rf"(?<![\w.>]){re.escape(base)}\s*=(?!=)")
    return [
        statement_origin.origin_of_assignment(one, base).text
        for one in lines[max(frame.first_line - 1, 0) : frame.line]
        if pattern.search(one)
    ]


def _is_named(name: str, text: str) -> bool:
    plain = r"\s*".join(re.escape(one) for one in re.findall(r"\w+|\W", name))
    return re.search(rf"(?<![\w.>]){plain}(?!\w)", text) is not None


def read_heap(packed: HeapBytes) -> HeapContent | None:
    """Return the blocks of a heap whose bytes a run has returned."""
    content = _unpack(packed.content)
    offset = find_first_chunk(content)
    if offset is None:
        return None
    data = [_unpack(one) for one in packed.arena]
    return parse_heap(packed.start + offset, packed.end, content[offset:], data)


def _unpack(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))


def _header_watches(start: int) -> tuple[WatchPlan, ...]:
    """Watch the block's two words that a free writes.

    A fastbin's link is in the first word; the tcache has its mark in the second one.
    """
    return tuple(WatchPlan(f"h{at:x}", at, _WORD, of_block=True) for at in (start, start + _WORD))


def _end_of_block(result: TraceResult) -> BlockEnd | None:
    frees = [one for one in result.events if native_values.is_free(one) and one.own is not None]
    frees.sort(key=lambda one: one.sequence)
    if not result.reached or not frees:
        return None
    freed = frees[-1]
    # One free writes both words.
    others = [one for one in result.events if one.frames and not one.key.endswith(_DROPPED)]
    earlier = [one.sequence for one in others if one.sequence < freed.sequence - 1]
    dropped = [
        one
        for one in result.events
        if one.key.endswith(_DROPPED)
        and max(earlier, default=0) < one.sequence < freed.sequence
        and one.own is not None
    ]
    return BlockEnd(freed, dropped[-1] if dropped else None)


def _own_frames(frames: Sequence[TraceFrame]) -> tuple[FrameView, ...]:
    own = [one for one in frames if not one.library and one.file]
    return tuple(native_values.frame_view(one, at) for at, one in enumerate(own))[:_SHOWN]


def _find_holder(frames: Sequence[TraceFrame], block: HeapBlock) -> tuple[str, TraceValue] | None:
    """Return the memory, outside of the stack, that the outermost frame read the pointer from."""
    found = None
    bottom = max((one.cfa for one in frames), default=0)
    for frame in frames:
        for name, value in frame.vars.items():
            is_pointer = value.number == block.start and value.size >= _WORD
            is_local = 0 <= bottom - value.address < _STACK
            is_inside = block.start <= value.address < block.start + block.size
            is_named = _is_named(name, frame.statement)
            if is_pointer and value.address and not is_local and not is_inside and is_named:
                found = name, value
                break
    return found


def _sequence_of(result: TraceResult, event: TraceEvent) -> int:
    """Return the moment of an event of another run; that run's end if it did not happen."""
    found = [
        one.sequence for one in result.events if (one.key, one.count) == (event.key, event.count)
    ]
    return found[0] if found else 1 << 62
