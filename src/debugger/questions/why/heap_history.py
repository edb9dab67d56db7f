"""Reads what happened to the heap blocks of a value: allocations, frees, overlaps."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from debugger.questions.why import native_values, statement_origin
from debugger.questions.why.answer import LinkCertainty, LinkKind, WhyLink
from debugger.questions.why.native_steps import ValuePosition
from debugger.questions.why.traced_run import TraceEvent, TraceResult, WatchPlan
from debugger.session import source_files

_WORD = 8
_BEYOND_MAX = 1 << 16  # bytes: farther away is another variable, not an overflow
_SMALL_HEAP = 1 << 20  # bytes
_DECLARATION_MAX = 80
# Functions of the C library whose first argument is what they write to, besides those that copy.
_FILLING = re.compile(r"\b(memset|bzero|v?sn?printf|fgets|gets|fread)\s*\(")
# Stands for the overlap of two blocks until their allocations are known.
OVERLAP = "overlap"


class BlockEvents(Struct, frozen=True):
    """The allocations and frees of one block, as its header words show them, in order."""

    start: int
    events: tuple[TraceEvent, ...] = ()


class HeapHistory:
    """The heap blocks that matter for a chain, and their events."""

    def __init__(self) -> None:
        # The start of the block that holds the value, its size, and the pointer's text.
        self._start = 0
        self._size = 0
        self._name = ""
        self._blocks: dict[int, BlockEvents] = {}
        # The blocks whose header words were watched.
        self._headers: set[int] = set()
        # The writer's block, whose allocation is not known at first.
        self._writer: tuple[str, int, int] | None = None
        self._address = 0
        self._range = (0, 0)
        # Whether the first value of the chain lies in the heap.
        self.is_first = False
        self.is_used = False
        # The block of the first described write whose frees and allocations were not watched.
        self._open_start = 0

    def note_survey(self, survey: TraceResult, expression: str) -> None:
        """Find the block of the value: by the heap's chunks, else by the pointer to it."""
        value = survey.value
        self._range = survey.heap_range
        if value is None or survey.region != "[heap]":
            return
        self.is_used = self.is_first = True
        self._name = _base_of(expression)
        if survey.block is not None:
            self._start, self._size = survey.block
            return
        base = survey.operands.get(self._name)
        if base is not None and base.kind == "pointer" and base.number <= value.address:
            self._start, self._size = base.number, base.pointee

    @property
    def reads_blocks(self) -> bool:
        """Whether the blocks of each write's pointers are read: a large heap takes long."""
        return self.is_used or 0 < self._range[1] - self._range[0] <= _SMALL_HEAP

    def note_position(self, position: ValuePosition) -> None:
        """Find the block of a value further back in the chain, by the pointer to it.

        The block whose overlap with the writer's is to be described stays.
        """
        address, name = position.value.address, _base_of(position.expression)
        base = position.frame.vars.get(name)
        is_known = self.holds(address)
        is_heap = self._range[0] <= address < self._range[1]
        if not is_heap or is_known or self._writer is not None:
            return
        self.is_used = True
        self._name, self._start, self._size = name, 0, 0
        if base is not None and base.kind == "pointer" and base.number <= address:
            self._start, self._size = base.number, base.pointee

    def watches_for(self, address: int, slots: int) -> list[WatchPlan]:
        """Return watchpoints of header words: the allocator writes them.

        glibc writes the size before a block that it cuts from free memory, and, of a block in a
        thread's cache, its second word at each allocation and free (malloc.c: `tcache_put`).
        """
        starts = [self._start] if self._start <= address < self._start + self._size else []
        starts += [self._writer[1]] if self._writer is not None else []
        return self._header_watches(starts, address, slots)

    def _header_watches(self, starts: Sequence[int], address: int, slots: int) -> list[WatchPlan]:
        found: list[WatchPlan] = []
        for start in starts:
            if start in self._headers or not start:
                continue
            for at in (start - _WORD, start + _WORD):
                if len(found) < slots and at != address & ~7:
                    found.append(WatchPlan(f"h{start:x}@{at:x}", at, _WORD, of_block=True))
        return found

    def read_events(
        self, result: TraceResult, watched: Mapping[str, WatchPlan]
    ) -> Mapping[int, BlockEvents]:
        """Keep what a run has shown of the header words."""
        by_start: dict[int, list[TraceEvent]] = {}
        for one in result.events:
            # Of words that the program writes often not all is known.
            if one.key in result.hot:
                continue
            plan = watched.get(one.key)
            start = int(one.key[1:].partition("@")[0], 16) if one.key.startswith("h") else 0
            if not start and plan is not None and self._start <= plan.address < self._start + 16:
                start = self._start
            if start and (native_values.is_allocation(one) or native_values.is_free(one)):
                by_start.setdefault(start, []).append(one)
        for start, events in by_start.items():
            events.sort(key=lambda one: one.sequence)
            self._blocks[start] = BlockEvents(start, tuple(events))
        hot = (one for one in result.hot if one.startswith("h"))
        self._headers.update(int(one[1:].partition("@")[0], 16) for one in hot)
        for key in watched:
            if key.startswith("h"):
                start = int(key[1:].partition("@")[0], 16)
                self._headers.add(start)
                self._blocks.setdefault(start, BlockEvents(start))
        return self._blocks

    def describe_write(
        self,
        event: TraceEvent,
        position: ValuePosition,
        blocks: Mapping[int, BlockEvents],
        before: int | None = None,
    ) -> list[str]:
        """Return what the writer's memory has to do with the value's: overlaps and frees.

        `before` is the moment of the position in the events' run; None is the run's end.
        """
        own = event.own
        if own is None:
            return []
        self.note_position(position)
        texts = []
        address = position.value.address
        name = _written_name(event, position.expression)
        block = event.blocks.get(name)
        if block is not None and _is_near_block(address, block[1], block[2]):
            self._writer, self._address = (name, block[1], block[2]), address
            texts.append(OVERLAP)
        array = _written_name(event, position.expression, kinds=("array",))
        value = own.vars.get(array)
        if value is not None:
            beyond = address - (value.address + value.size)
            if 0 <= beyond < _BEYOND_MAX:
                texts.append(
                    f"it writes past the end of {array} ({value.size} bytes), "
                    f"{beyond:,} bytes beyond it"
                )
        if self.holds(address):
            if not self._open_start and self._start not in self._headers:
                self._open_start = self._start
            texts += self._describe_life(self._start, event, blocks)
            texts += self._describe_later_free(event, blocks, before)
        return texts

    def describe_overlap(self) -> str:
        """Return what the writer's block has to do with the value's, after the last run."""
        if self._writer is None:
            return ""
        name, start, size = self._writer
        address = self._address
        mine = self._allocation_text(self._start)
        where = self._allocation_text(start)
        its = f"{name}'s block of {size} bytes" + f" (allocated {where})" * bool(where)
        owner = f"{self._name or 'the value'}'s block" + f" (allocated {mine})" * bool(mine)
        if address < start:
            return f"underflow: the write is {start - address:,} bytes before {its}; it is {owner}"
        past = address - (start + size)
        return f"overflow: {past:,} bytes past the end of {its}; what lies there is {owner}"

    def holds(self, address: int) -> bool:
        """Return whether an address lies in the block of the value."""
        return self._start <= address < self._start + max(self._size, 1)

    def _describe_life(
        self, start: int, event: TraceEvent, blocks: Mapping[int, BlockEvents]
    ) -> list[str]:
        """Return the frees and allocations of the value's block before a write."""
        found = blocks.get(start)
        before = [one for one in found.events if one.sequence < event.sequence] if found else []
        freed = [one for one in before if native_values.is_free(one)]
        allocated = [one for one in before if native_values.is_allocation(one)]
        texts = []
        if freed and not native_values.is_free(event):
            again = next((one for one in allocated if one.sequence > freed[-1].sequence), None)
            text = f"the block was freed {_event_text(freed[-1])}"
            if again is not None:
                text += f", and allocated again {_event_text(again)}"
            # The value's own memory shows frees, and only the header words allocations.
            texts += [text] if again is not None or start in self._headers else []
        return texts

    def _describe_later_free(
        self, event: TraceEvent, blocks: Mapping[int, BlockEvents], before: int | None
    ) -> list[str]:
        """Return the free of the value's block between a write and the read, if it stayed free."""
        found = blocks.get(self._start)
        later = [
            one
            for one in (found.events if found is not None else ())
            if event.sequence < one.sequence and (before is None or one.sequence < before)
        ]
        is_freed = bool(later) and native_values.is_free(later[-1])
        return [f"the block was freed since, {_event_text(later[-1])}"] if is_freed else []

    @property
    def is_life_open(self) -> bool:
        """Whether a write was described whose block's frees and allocations are not known."""
        return self._open_start != 0

    def life_watches(self, slots: int) -> list[WatchPlan]:
        """Return the watchpoints that show the frees and allocations of that block."""
        return self._header_watches([self._open_start], self._open_start, slots)

    def describe_open_life(self, event: TraceEvent) -> list[str]:
        """Return the free and the allocation before that write, once a further run has shown them.

        The run ends with the write.
        """
        last = msgspec.structs.replace(event, sequence=1 << 62)
        return self._describe_life(self._open_start, last, self._blocks)

    def allocation_link(self, address: int) -> WhyLink | None:
        """Return the link to the last allocation of the value's block."""
        found = self._blocks.get(self._start)
        if found is None or not self.holds(address):
            return None
        allocated = [one for one in found.events if native_values.is_allocation(one)]
        if not allocated or allocated[-1].own is None:
            return None
        event, own = allocated[-1], allocated[-1].own
        freed = [
            one
            for one in found.events
            if native_values.is_free(one) and one.sequence < event.sequence
        ]
        details = [f"the block was freed before, {_event_text(freed[-1])}"] if freed else []
        return WhyLink(
            LinkKind.ALLOCATED,
            LinkCertainty.RERUN,
            f"allocated by {native_values.plain_call(event.library_call)}",
            frame=native_values.frame_view(own),
            statement=own.statement,
            stack=native_values.callers_of(event.frames, event.frames.index(own)),
            details=tuple(details),
        )

    def _allocation_text(self, start: int) -> str:
        found = self._blocks.get(start)
        allocated = (
            [one for one in found.events if native_values.is_allocation(one)] if found else []
        )
        return _event_text(allocated[-1]) if allocated else ""

    def pending_watches(self, slots: int) -> list[WatchPlan]:
        """Return the watchpoints that a last run needs to find where blocks were allocated."""
        if self._writer is None or self._writer[1] in self._blocks:
            return []
        return self.watches_for(self._address, slots)


def _is_near_block(address: int, start: int, size: int) -> bool:
    """Return whether an address is outside of a block, and as near as an overflow goes."""
    is_inside = start <= address < start + size
    return not is_inside and start - _BEYOND_MAX < address < start + size + _BEYOND_MAX


def _event_text(event: TraceEvent) -> str:
    own = event.own
    if own is None:
        return "by a library"
    return f"in {own.function} at {Path(own.file or '?').name}:{own.line}"


def _base_of(expression: str) -> str:
    """Return the pointer through which an expression reads: `a->b` of `a->b->c`."""
    dereferenced = re.match(r"\(\*(\w+)\)\.", expression)
    if dereferenced:
        return dereferenced[1]
    match = re.match(r"^(.*?)(?:->|\.)\w+$|^(.*)\[[^\[\]]*\]$|^\*(.*)$", expression)
    inner = re.match(r"^(.*)->[^>]*$", expression)
    if inner:
        return inner[1]
    return next((one for one in match.groups() if one), "") if match else ""


def _written_name(
    event: TraceEvent, target: str, kinds: Sequence[str] = ("pointer", "array")
) -> str:
    """Return the pointer or array through which a statement writes; "" if it is not known."""
    own = event.own
    if own is None:
        return ""
    copy = native_values.COPYING.search(own.statement) or _FILLING.search(own.statement)
    call = statement_origin.call_in_statement(own.statement, copy[1]) if copy is not None else None
    if call is not None and call.arguments:
        text = call.arguments[0]
    elif event.library_call:
        return ""
    else:
        text = statement_origin.assigned_target(own.statement, target)
    names = [one for one in {**own.vars} if _is_written_through(text, one)]
    is_any = "pointer" in kinds
    pointers = [
        one for one in names if own.vars[one].kind in kinds or (is_any and one in event.blocks)
    ]
    # `p + 4` is in the block of `p`.
    in_blocks = [one for one in pointers if one in event.blocks]
    return max(in_blocks or pointers, key=len, default="")


def _is_written_through(text: str, name: str) -> bool:
    """Return whether a target is in what a name is or points to, not behind a further pointer."""
    found = re.search(rf"(?<![\w.>]){re.escape(name)}(?!\w)", text)
    if found is None:
        return False
    behind = text[found.end() :]
    return behind.count("->") <= (0 if behind.startswith("[") else 1)


def find_declaration(name: str, file: str | None) -> str:
    """Return `, FILE:LINE TEXT` of a global's definition in a file; nothing if not found."""
    lines = source_files.read_source(file) if file else None
    plain = re.escape(re.split(r"[.\[]|->", name)[0])
    for number, text in enumerate(lines or (), 1):
        if re.match(rf"^[A-Za-z_][\w\s*&:<>,]*\b{plain}\b\s*(?:\[[^\]]*\])*\s*(?:=|;|:)", text):
            return f", {Path(str(file)).name}:{number}: {text.strip()[:_DECLARATION_MAX]}"
    return ""
