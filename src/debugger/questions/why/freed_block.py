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
from debugger.sources.function_span import find_span

_WORD = 8
_FRAMES = 14  # own frames of a free whose operands are read
_SHOWN = 8
_DROPPED = ":dropped"
_SLOT = "s"  # begins the keys of memory that holds the pointer
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
    # Memory of the program that holds the pointer.
    slots: tuple[int, ...] = ()


class BlockEnd(Struct, frozen=True):
    """The free of a block, and the end of its last reference before, if that was seen."""

    freed: TraceEvent
    dropped: TraceEvent | None = None
    # The allocation that got the block since, and its free.
    reused: TraceEvent | None = None
    freed_again: TraceEvent | None = None


async def find_freed_block(
    call: CommandCall,
    question: QuestionRun,
    culprit: str,
    at: FrameView | None,
    *,
    seconds: float,
    plan: TracePlan,
) -> tuple[FreedBlock | None, TraceResult]:
    """Return the freed block that the crash used, and its end, with what the first run has shown.

    None instead of a block if it used none. `plan` is the first run's, to the crash: it may serve
    another purpose, too.

    Raises:
        DebuggerError: What a traced run raises.
    """
    # 1. A run to the crash: which pointers of its statements lead to blocks of glibc's free lists.
    # 2. A run with the block's first words watched: the allocator writes them at a free. The first
    #    free after the pointer was stored is the one that matters, else the last one: the block is
    #    in a list now. A count of references in these words that became zero before is the block's
    #    real end.
    # 3. A run with the memory watched from which the freed pointer was read: who put it there.
    return await _BlockSearch(call, question, seconds).find(culprit, at, plan)


class _BlockSearch:
    """The runs about one block."""

    def __init__(self, call: CommandCall, question: QuestionRun, seconds: float) -> None:
        self._call, self._question = call, question
        self._until = asyncio.get_running_loop().time() + seconds

    async def find(
        self, culprit: str, at: FrameView | None, plan: TracePlan
    ) -> tuple[FreedBlock | None, TraceResult]:
        # The memory that the culprit was read from, with which another call began.
        assigned = _assigned_at(at, culprit) if at is not None else []
        text = assigned[-1] if assigned else ""
        survey = await self._run(msgspec.structs.replace(plan, heap=True, assigned=text))
        used = find_used_block(survey, culprit) if survey.reached else None
        return await self._describe(used) if used is not None else None, survey

    async def _describe(self, used: UsedBlock) -> FreedBlock:
        found = FreedBlock(
            used.name,
            hex(used.pointer),
            native_values.frame_view(used.frame, used.index),
            used.block.size,
        )
        watches = _header_watches(used.block.start)
        end = await self._find_end(used, watches)
        if end is None:
            return found
        found = msgspec.structs.replace(
            found,
            freed=_own_frames(end.freed.frames),
            dropped=_frames_of(end.dropped),
            reused=_frames_of(end.reused),
            freed_again=_frames_of(end.freed_again),
        )
        return await self._add_holder(found, used, watches, end)

    async def _find_end(self, used: UsedBlock, watches: tuple[WatchPlan, ...]) -> BlockEnd | None:
        """Find the free of the block, and what became of it before the crash."""
        slots = tuple(
            native_values.watch_plan(f"{_SLOT}{at:x}", at, _WORD, content=_pointer_bytes(used))
            for at in used.slots
        )
        plan = TracePlan(EndPlan("crash"), (*watches, *slots), deep_frames=_FRAMES, deep_max=_LAST)
        result = await self._run(plan)
        headers = [one for one in result.events if not one.key.startswith(_SLOT)]
        if result.reached and not all(one.deep for one in headers):
            # A block that was used often: of its first events alone the stack was read.
            stored = stored_at(result, used)
            late = {
                key: _first_after(result, key, stored)
                if stored
                else max(count - _LAST // len(watches), 1)
                for key, count in result.counts.items()
                if not key.startswith(_SLOT)
            }
            result = await self._run(msgspec.structs.replace(plan, deep_from=late))
        return end_of_block(result, stored_at(result, used))

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
    pointers = list(_used_pointers(survey.frames, culprit))
    for index, frame, name, value in pointers:
        block = heap.find_block(value.number) if value.kind == "pointer" else None
        if block is not None and block.freed_in:
            named = [one for _, _, _, one in pointers]
            named += [survey.assigned] if survey.assigned is not None else []
            slots = [one for one in named if one.number == value.number]
            lasting = [one.address for one in slots if _is_lasting(one, block, survey.frames)]
            chosen = tuple(dict.fromkeys((*lasting[:1], *lasting[-1:])))
            return UsedBlock(name, frame, index, value.number, block, chosen)
    return _find_indirect_block(heap, survey.frames)


def _find_indirect_block(heap: HeapContent, frames: Sequence[TraceFrame]) -> UsedBlock | None:
    """Return the freed block to which a reference, an iterator or a view of the statement leads."""
    for at, frame in enumerate(frames):
        if frame.library or not frame.file:
            continue
        # `view` says more than `view[8]`.
        for name, value in sorted(frame.vars.items(), key=lambda one: len(one[0])):
            if value.kind == "pointer" or not _is_named(name, frame.statement):
                continue
            for pointer in _pointers_within(value):
                block = heap.find_block(pointer)
                if block is not None and block.freed_in:
                    return UsedBlock(name, frame, at, pointer, block)
        break  # of a caller's statement it would be what another call uses
    return None


def _pointers_within(value: TraceValue) -> list[int]:
    """Return where a value lies, which is what a reference refers to, and the words of a small one.

    An iterator is one pointer, and a view of a text or an array a pointer and a length.
    """
    words = []
    if value.kind == "struct" and value.size in {_WORD, 2 * _WORD}:
        content = bytes.fromhex(value.bytes)
        words = [
            int.from_bytes(content[at : at + _WORD], "little")
            for at in range(0, len(content), _WORD)
        ]
    return [one for one in (value.address, *words) if one]


def _is_lasting(value: TraceValue, block: HeapBlock, frames: Sequence[TraceFrame]) -> bool:
    """Return whether a pointer lies outside of its block, and in no memory that other calls use."""
    own = [one.cfa for one in frames if not one.library and one.file]
    below = own[-2] if len(own) > 1 else 0  # of the functions that the outermost one has called
    is_inside = block.start <= value.address < block.start + block.size
    is_reused = below - _STACK < value.address < below
    is_pointer = value.kind == "pointer" and bool(value.address)
    return is_pointer and not is_inside and not is_reused


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
    lines = source_files.read_source(frame.file) if frame.file else None
    if lines is None or not frame.line:
        return []
    return _assigned_texts(lines[max(frame.first_line - 1, 0) : frame.line], culprit)


def _assigned_at(at: FrameView, culprit: str) -> list[str]:
    """Return what the lines of a frame's function, down to its own, assign to the culprit."""
    lines = source_files.read_source(at.file) if at.file else None
    if lines is None or at.file is None or not at.line:
        return []
    span = find_span(at.file, lines, at.line, at.function)
    return _assigned_texts(lines[span[0] - 1 : at.line], culprit) if span else []


def _assigned_texts(lines: Sequence[str], culprit: str) -> list[str]:
    base = re.split(r"->|\.|\[", culprit.lstrip("*(&"))[0]
    pattern = re.compile(rf"(?<![\w.>]){re.escape(base)}\s*=(?!=)")
    return [
        statement_origin.origin_of_assignment(one, base).text
        for one in lines
        if base and pattern.search(one)
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


def stored_at(result: TraceResult, used: UsedBlock) -> int:
    """Return the moment at which the pointer came to where it lies at the crash; 0 if unknown."""
    pointer = _pointer_bytes(used)
    moments = [
        max(
            (one.sequence for one in result.events_of(f"{_SLOT}{at:x}") if one.new == pointer),
            default=0,
        )
        for at in used.slots
    ]
    return min((one for one in moments if one), default=0)


def _pointer_bytes(used: UsedBlock) -> str:
    return used.pointer.to_bytes(_WORD, "little").hex()


def _first_after(result: TraceResult, key: str, moment: int) -> int:
    """Return the count of a key's first event after a moment; the last one's if none is later."""
    counts = [one.count for one in result.events_of(key) if one.sequence > moment]
    return min(counts, default=result.counts.get(key, 1))


def end_of_block(result: TraceResult, stored: int) -> BlockEnd | None:
    """Return the end of the block that a pointer led to, by the events of its first words.

    Args:
        result: The run to the crash.
        stored: The moment at which the pointer was stored; 0 if that is not known.
    """
    seen = [one for one in result.events if not one.key.startswith(_SLOT)]
    frees = [one for one in seen if native_values.is_free(one) and one.own is not None]
    frees.sort(key=lambda one: one.sequence)
    if not result.reached or not frees:
        return None
    later = [one for one in frees if one.sequence > stored] if stored else []
    freed = later[0] if later else frees[-1]
    again = [
        one for one in seen if one.sequence > freed.sequence and native_values.is_allocation(one)
    ]
    reused = min(again, key=lambda one: one.sequence, default=None)
    is_freed_again = reused is not None and frees[-1].sequence > reused.sequence
    end = BlockEnd(freed, reused=reused, freed_again=frees[-1] if is_freed_again else None)
    return msgspec.structs.replace(end, dropped=_dropped_before(seen, freed))


def _dropped_before(seen: Sequence[TraceEvent], freed: TraceEvent) -> TraceEvent | None:
    """Return the end of the last reference of a block before its free, if that was seen."""
    # One free writes both words.
    others = [one for one in seen if one.frames and not one.key.endswith(_DROPPED)]
    earlier = [one.sequence for one in others if one.sequence < freed.sequence - 1]
    dropped = [
        one
        for one in seen
        if one.key.endswith(_DROPPED)
        and max(earlier, default=0) < one.sequence < freed.sequence
        and one.own is not None
    ]
    return dropped[-1] if dropped else None


def _frames_of(event: TraceEvent | None) -> tuple[FrameView, ...]:
    return _own_frames(event.frames) if event is not None else ()


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
