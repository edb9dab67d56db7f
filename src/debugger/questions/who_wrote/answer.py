"""Defines and builds the answer about the writes of a value."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import UNSET, Struct, UnsetType, structs

from debugger.model import answers
from debugger.model.answers.frames import FrameView, SourceLine
from debugger.model.statement import join_statement
from debugger.model.text_filters import clip_text
from debugger.questions.who_wrote.value_writers import (
    ParameterNames,
    ValueWrite,
    WriteLocation,
    WritingLine,
    call_of,
    group_writes,
    last_before,
)
from debugger.session import source_files


class WriterView(Struct, frozen=True):
    """A line that wrote `count` times, with its first and last write and their numbers."""

    frame: FrameView
    count: int
    first: int
    final: int
    old: str | None
    new: str | None
    final_old: str | None
    final_new: str | None
    stack: tuple[FrameView, ...] = ()
    # This line made the last write before the location.
    last: bool = False
    # This line wrote after the location.
    after: bool = False
    # The number of different callers' lines, and of threads.
    ways: int = 1
    threads: int = 1


class WhoWrote(Struct, frozen=True):
    """The writes of a value that is seen at a location."""

    expression: str
    place: str
    cause: str
    # The value at the location.
    value: str | None = None
    frame: FrameView | None = None
    source: tuple[SourceLine, ...] = ()
    at: FrameView | None = None
    writers: tuple[WriterView, ...] = ()
    # The writes before the location; `later` counts those after it.
    writes: int = 0
    later: int = 0
    # The method of observation.
    method: str = ""
    adapter: str = ""
    timed_out: bool = False
    took_s: float | None = None
    notes: tuple[str, ...] = ()
    evidence: str | UnsetType = UNSET


_STACK = 3  # callers of a write
_SPAN = 2  # lines of source on either side
_VALUE = 80  # characters
_CALL = 160  # characters
_SAME = "a write of the value that it has already is not seen"
_HASHES = (".py", ".pyw")


class PassedCall(Struct, frozen=True):
    """The call that gave a parameter its value: the caller first, with the function's names."""

    stack: tuple[WriteLocation, ...]
    function: str
    parameters: ParameterNames


def build_writers_answer(
    expression: str,
    place: str,
    value: str | None,
    writes: Sequence[ValueWrite],
    passed: PassedCall | None = None,
    *,
    misses_same: bool = False,
    is_partial: bool = False,
) -> WhoWrote:
    """Build the answer from the writes, without the facts of the run.

    `passed` is the call that gave an unwritten parameter its value. `misses_same`: a write of an
    equal value was not recorded. `is_partial`: the recording ended before the location.
    """
    last = last_before(writes)
    site = last.location if last is not None else None
    cause = _write_cause(expression, place, value, writes, misses_same=misses_same)
    if last is None and passed is not None and passed.stack:
        site = passed.stack[0]
        cause = _argument_given(expression, value, passed)
    before = sum(not one.is_after for one in writes)
    if is_partial and last is not None:
        cause = (
            f"{_name_value(expression, value)} at {place}: only the first {before:,} writes before "
            f"it were seen, the last of these {_describe_write(last)}"
        )
    writers = (_writer_view(one) for one in group_writes(writes))
    return WhoWrote(
        expression=expression,
        place=place,
        cause=cause,
        value=value,
        frame=_frame_view(site) if site is not None else None,
        source=source_files.surrounding_lines(
            site.file if site else None, site.line if site else None, before=_SPAN, after=_SPAN
        ),
        writers=tuple(structs.replace(one, last=one.last and not is_partial) for one in writers),
        writes=before,
        later=len(writes) - before,
    )


def _write_cause(
    expression: str,
    place: str,
    value: str | None,
    writes: Sequence[ValueWrite],
    *,
    misses_same: bool,
) -> str:
    text = _name_value(expression, value)
    last = last_before(writes)
    if last is not None:
        return f"{text} at {place} was last written: {_describe_write(last)}"
    later = next(iter(writes), None)
    if later is not None:
        return (
            f"{text} at {place}: no {'change' if misses_same else 'write'} before it was seen; "
            f"the first after it: {_describe_write(later)}"
        )
    if misses_same:
        return f"{text} at {place}: nothing was seen to change it; {_SAME}"
    return f"{text} at {place}: nothing was seen to write it"


def _name_value(expression: str, value: str | None) -> str:
    return f"{expression}={_shorten_text(value)}" if value is not None else expression


def _describe_write(write: ValueWrite) -> str:
    change = f"{_shorten_text(write.old)} → {_shorten_text(write.new)}"
    return f"{change}, in {_location_text(write.location)}"


def _argument_given(expression: str, value: str | None, passed: PassedCall) -> str:
    """Return the call that passed a parameter, and the argument."""
    site = passed.stack[0]
    current = f"{expression}={_shorten_text(value)}"
    lines = source_files.read_source(site.file) if site.file and site.line else None
    if lines is None or not site.line or site.line > len(lines):
        return f"{current} was passed by {_location_text(site)}"
    is_hash = str(site.file).endswith(_HASHES)
    text = join_statement(lines[site.line - 1 : site.line + 4], hash_comments=is_hash)
    call = call_of(text, passed.function, expression, passed.parameters, unpacks=is_hash)
    place, message = f"{Path(str(site.file)).name}:{site.line}", clip_text(call.text, _CALL)
    if call.left_out:
        return f"{current} is its default, as the call at {place} does not give it: {message}"
    if call.argument is None:
        return f"{current} came with the call at {place}: {message}"
    argument = f" as {clip_text(call.argument, _CALL)}" * (call.argument != expression)
    return f"{current} was passed at {place}{argument}: {message}"


def _shorten_text(text: str | None) -> str:
    if text is None:
        return "nothing"
    return text if len(text) <= _VALUE else f"{text[:_VALUE]}…"


def _location_text(site: WriteLocation) -> str:
    return f"{site.function} {Path(site.file).name}:{site.line}" if site.file else site.function


def _frame_view(site: WriteLocation, index: int = 0) -> answers.FrameView:
    return answers.FrameView(index, site.function, site.file, site.line or None)


def _writer_view(one: WritingLine) -> WriterView:
    return WriterView(
        frame=_frame_view(one.site),
        count=one.count,
        first=one.first,
        final=one.last,
        old=one.first_write.old,
        new=one.first_write.new,
        final_old=one.last_write.old,
        final_new=one.last_write.new,
        stack=tuple(_frame_view(each, at) for at, each in enumerate(one.stack[1 : 1 + _STACK], 1)),
        last=one.is_last,
        after=one.is_after,
        ways=one.callers,
        threads=one.threads,
    )
