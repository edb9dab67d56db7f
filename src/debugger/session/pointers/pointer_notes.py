"""Chooses the pointers of an answer that need an explanation, and explains them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from debugger.errors import DebuggerError
from debugger.model import answers
from debugger.model.debugger_words import Runtime
from debugger.model.pointers import asan_shadow
from debugger.model.pointers.glibc_heap import HeapContent
from debugger.model.pointers.pointer_explanation import (
    TEXT_MAX,
    PointerExplanation,
    explain_heap,
    explain_link,
    explain_symbol,
    explain_value,
    find_cut_address,
    find_tagged_address,
)
from debugger.model.program import Frame, Variable
from debugger.model.signals import MemoryRegion
from debugger.model.text_filters import clip_text
from debugger.session import views
from debugger.session.pointers import memory_layout, stack_position
from debugger.session.session import Session

NOTES_MAX = 3
_HEAPS_MAX = 4  # mappings of a core file that are searched for the heap
_POINTERS_MAX = 64  # pointers of an answer that are examined
_LINK_BITS = 8  # a link is at least the number of a page above this
_EXAMINE_S = 2.0  # a slow debugger must not delay the answer
_TEXT = re.compile(r'"(?:\\.|[^"\\])*"')
_VALUE = re.compile(r"(?:\([^()]*\)\s*)?(?:unsafe\.Pointer\()?(?:@\s*)?0x([0-9a-fA-F]{1,16})\b")
# gdb's {next = 0x…}, LLDB's {next:0x…}; short numbers may be anything.
_MEMBER = re.compile(r"([A-Za-z_]\w*)\s*[:=]\s*(?:\([^()]*\)\s*)?0x([0-9a-f]{7,16})\b")
_PLAIN = re.compile(r"[A-Za-z_$]")
_POINTER_TYPE = re.compile(r".*[*&]|.*\(.*\)|(?:unsafe\.)?[Pp]ointer|u?intptr(?:_t)?\Z|[*&].*")
_INTEGER_TYPE = re.compile(
    r"u?intptr(?:_t)?|(?:un)?signed long(?: int)?|long(?: long)?(?: unsigned)?(?: int)?|size_t"
    r"|u?int64(?:_t)?|[ui]64|[ui]size|unsigned long long(?: int)?"
)
_DECIMAL = re.compile(r"-?\d{10,20}\Z")
# Types whose values lie anywhere, and those that may be of one byte.
_UNALIGNED = re.compile(r"\b(?:\w*char|void|_?[Bb]ool|u?int8(?:_t)?|[ui]8|byte|str|\(\))\b|\(")
_MEMBER_POINTER = re.compile(r"::\s*\*")  # of C++: an offset
_WORD = 1 << 64
# What says least comes last: a local that is not set yet often is such a value.
_RANKS = {"no_address": 1, "unmapped": 1, "number": 2}
_ORDINARY = frozenset({"pattern", "text"})  # what an integer may be, too
_CUT_REGIONS = frozenset({memory_layout.HEAP, stack_position.STACK})


class ExaminedPointer(Struct, frozen=True):
    """A pointer of an answer: its name, its value, and where it was found."""

    name: str
    value: int
    # It is the answer's own subject, not one of many.
    is_subject: bool = False
    # It is an integer, which need not be meant as an address.
    is_integer: bool = False
    # The debugger's text of the value.
    shown: str = ""
    # What it points to has an alignment, by its type.
    is_aligned: bool = False


def find_pointers(
    variables: Iterable[Variable | answers.VariableView], *, subject: str | None = None
) -> list[ExaminedPointer]:
    """Return the pointers among some values and their members, in order; `subject` is one's name.

    Integers of 64 bits count only if they are the subject or of a type that is meant for addresses.
    """
    found = [each for one in variables for each in _pointers_in(one, subject)]
    unique = {(one.name, one.value): one for one in reversed(found) if one.value}
    return list(reversed(unique.values()))[:_POINTERS_MAX]


def _pointers_in(
    one: Variable | answers.VariableView, subject: str | None
) -> Iterator[ExaminedPointer]:
    text = _TEXT.sub('""', one.value)
    kind = one.type.strip()
    is_subject = one.name == subject
    match = _VALUE.match(text)
    name = one.name.strip()
    is_pointer = not kind or (
        _POINTER_TYPE.match(kind) is not None and not _MEMBER_POINTER.search(kind)
    )
    if match is not None and is_pointer:
        yield ExaminedPointer(
            name, int(match[1], 16), is_subject, shown=one.value, is_aligned=_is_aligned(kind)
        )
    elif match is not None or _DECIMAL.match(text):
        is_address = "intptr" in kind
        if (is_subject or is_address) and _INTEGER_TYPE.fullmatch(kind):
            value = int(match[1], 16) if match is not None else int(text)
            yield ExaminedPointer(name, value % _WORD, is_subject, not is_address)
    if "{" in text:
        name = name if _PLAIN.match(name) else f"({name})"
        is_deref = match is not None and is_pointer
        for member in _MEMBER.finditer(text, match.end() if match is not None else 0):
            yield ExaminedPointer(
                f"{name}{'->' if is_deref else '.'}{member[1]}", int(member[2], 16), shown=one.value
            )


def _is_aligned(kind: str) -> bool:
    return bool(kind) and _UNALIGNED.search(kind) is None


class PointerNotes(Struct, frozen=True):
    """The explained pointers of an answer, at most 3, and the names of further suspicious ones."""

    views: tuple[answers.PointerView, ...] = ()
    omitted: tuple[str, ...] = ()


_SCRIPTED = frozenset({Runtime.PYTHON, Runtime.NODE, Runtime.RUBY, Runtime.PHP})


async def explain_pointers(
    session: Session, pointers: Sequence[ExaminedPointer], frame: Frame | None
) -> PointerNotes:
    """Explain the subject and the most suspicious ones of the other pointers, at most 3 (a job).

    What cannot be read is not explained; this raises nothing.
    """
    if not pointers or session.traits.runtime in _SCRIPTED:
        return PointerNotes()
    is_rust = frame is not None and (frame.file or "").endswith(".rs")
    explainer = _PointerExplainer(session, is_rust=is_rust)
    limit = asyncio.get_running_loop().time() + _EXAMINE_S
    found: dict[int, answers.PointerView] = {}
    for one in pointers:
        if asyncio.get_running_loop().time() > limit:
            break
        if one.value in found:
            continue
        try:
            known = await explainer.explain(one)
        except DebuggerError:
            continue
        if known is not None and (known.is_suspicious or one.is_subject):
            found[one.value] = answers.PointerView(
                name=one.name[: views.NAME_MAX],
                value=hex(one.value),
                kind=known.kind,
                text=clip_text(known.text, TEXT_MAX),
            )
    subject = {one.value for one in pointers if one.is_subject}
    chosen = sorted(
        found.items(), key=lambda item: item[0] not in subject and _RANKS.get(item[1].kind, 0)
    )
    views_ = tuple(view for _, view in chosen)
    return PointerNotes(views_[:NOTES_MAX], tuple(one.name for one in views_[NOTES_MAX:]))


def _is_of_an_integer(found: PointerExplanation) -> bool:
    """Test whether an integer need not be an address to be explained: a hash is seldom all text."""
    return found.kind in _ORDINARY and not ("\\x" in found.text and found.kind == "text")


class _PointerExplainer:
    """Explains pointers of one stop; the memory map and the heap are read once, when needed."""

    def __init__(self, session: Session, *, is_rust: bool) -> None:
        self._session = session
        self._known = memory_layout.read_knowledge(session, is_rust=is_rust)
        self._heaps: dict[int, tuple[int, HeapContent | None]] = {}

    async def explain(self, pointer: ExaminedPointer) -> PointerExplanation | None:
        """Explain a pointer; None for an integer that is no address, and for what is not known."""
        found = explain_value(pointer.value, self._known)
        if pointer.is_integer:
            return found if found is not None and _is_of_an_integer(found) else None
        if found is not None and found.kind in {"unmapped", "no_address"}:
            return await self._explain_altered(pointer, found)
        if found is not None and found.kind == "number" and pointer.value >> _LINK_BITS:
            # Of a heap at a low address the links are small.
            link = await self._explain_as_link(pointer.value)
            return (link and replace(link, text=f"{found.text}, or {link.text}")) or found
        region = self._known.find_region(pointer.value)
        if found is not None or region is None:
            return found
        return await self._explain_mapped(pointer, region)

    async def _explain_altered(
        self, pointer: ExaminedPointer, found: PointerExplanation
    ) -> PointerExplanation:
        """Explain an address that is not mapped as a link, or as one with a tag, or half of one."""
        value = pointer.value
        link = await self._explain_as_link(value)
        if link is not None:
            return link
        tagged = find_tagged_address(value, self._known)
        inner = await self._explain_address(pointer, tagged) if tagged else None
        if tagged and inner is not None:
            text = f"{tagged:#x} with the tag {value >> 48:#x} above it: {inner.text}"
            return PointerExplanation("tagged", text, is_suspicious=True)
        for region in self._known.regions:
            cut = find_cut_address(value, region) if region.name in _CUT_REGIONS else None
            inner = await self._explain_address(pointer, cut) if cut else None
            if cut and inner is not None:
                text = f"{found.text}; the low 32 bits of {cut:#x}, {inner.text}"
                return PointerExplanation(found.kind, text, is_suspicious=True)
        return found

    async def _explain_address(
        self, pointer: ExaminedPointer, address: int
    ) -> PointerExplanation | None:
        region = self._known.find_region(address)
        if region is None:
            return None
        return await self._explain_mapped(
            replace(pointer, value=address, is_subject=True, shown=""), region
        )

    async def _explain_as_link(self, value: int) -> PointerExplanation | None:
        name = "" if self._known.is_core else memory_layout.HEAP
        regions = [one for one in self._known.regions if (one.name, one.mode[:2]) == (name, "rw")]
        for region in regions[:_HEAPS_MAX]:
            heap = await self._heap_in(region, region.start)
            if heap is not None:
                return explain_link(value, heap)
        return None

    async def _explain_mapped(
        self, pointer: ExaminedPointer, region: MemoryRegion
    ) -> PointerExplanation | None:
        address = pointer.value
        shadow = await self._explain_by_shadow(address)
        if shadow is not None:
            return shadow
        heap = await self._heap_in(region, address)
        if heap is not None:
            found = explain_heap(address, heap, is_aligned=pointer.is_aligned)
            if found is not None:
                return found
        # Goroutines have stacks of their own, in Go's heap.
        if not region.name.startswith("/") and self._session.traits.runtime is not Runtime.GO:
            found = await stack_position.explain_stack_address(
                self._session, address, self._known.regions, is_brief=not pointer.is_subject
            )
            if found is not None:
                return found
        if not pointer.is_subject:
            return None
        symbol = await memory_layout.find_symbol(self._session, self._known.regions, address)
        if symbol is None and not region.name and self._session.traits.runtime is Runtime.GO:
            return None  # Go's heap: anonymous memory, as nearly every pointer's
        explained = explain_symbol(address, region, symbol)
        # The debugger has named a function already: `0x… <helper>`.
        is_named = symbol is not None and explained.kind == "code" and symbol.name in pointer.shown
        return None if is_named else explained

    async def _explain_by_shadow(self, address: int) -> PointerExplanation | None:
        if not asan_shadow.has_shadow(self._known.regions):
            return None
        place = asan_shadow.shadow_address(address)
        data = await memory_layout.read_piece(self._session, place, 1)
        return asan_shadow.explain_shadow(address, data[0]) if data else None

    async def _heap_in(self, region: MemoryRegion, address: int) -> HeapContent | None:
        most = memory_layout.largest_distance(self._session)
        is_heap = memory_layout.may_be_heap(self._session, region)
        size = memory_layout.heap_size_for(region, address, most) if is_heap else 0
        if not size:
            mapped = await memory_layout.find_mapped_block(self._session, region, address)
            return HeapContent((mapped,), None, {}) if mapped is not None else None
        known = self._heaps.get(region.start)
        if known is None or known[0] < size:
            content = await memory_layout.read_heap(
                self._session, region, size, self._known.regions
            )
            known = size, content
            self._heaps[region.start] = known
        return known[1]
