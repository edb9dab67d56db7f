"""How are the writes of a value put into an answer?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from debugger.core import answers
from debugger.core.writers import Site, Write, Writer, last_before, writers
from debugger.session import source

_STACK = 3
_SPAN = 2
_VALUE = 80


def told(
    expression: str, place: str, value: str | None, writes: Sequence[Write]
) -> answers.WhoWrote:
    """Return the answer for what was seen, without what belongs to the run."""
    last = last_before(writes)
    site = last.site if last is not None else None
    before = sum(not one.is_after for one in writes)
    return answers.WhoWrote(
        expression=expression,
        place=place,
        cause=_cause(expression, place, value, last, writes),
        value=value,
        frame=_view(site) if site is not None else None,
        source=source.around(
            site.file if site else None, site.line if site else None, before=_SPAN, after=_SPAN
        ),
        writers=tuple(_writer(one) for one in writers(writes)),
        writes=before,
        later=len(writes) - before,
    )


def _cause(
    expression: str, place: str, value: str | None, last: Write | None, writes: Sequence[Write]
) -> str:
    held = f"{expression}={_short(value)}" if value is not None else expression
    if last is None:
        later = next(iter(writes), None)
        if later is None:
            return f"{held} at {place}: nothing was seen to write it"
        told = f"{_short(later.old)} → {_short(later.new)}"
        return (
            f"{held} at {place}: no write before it was seen; the first after it: {told}, "
            f"in {_where(later.site)}"
        )
    change = f"{_short(last.old)} → {_short(last.new)}"
    return f"{held} at {place} was last written: {change}, in {_where(last.site)}"


def _short(text: str | None) -> str:
    if text is None:
        return "nothing"
    return text if len(text) <= _VALUE else f"{text[:_VALUE]}…"


def _where(site: Site) -> str:
    return f"{site.function} {Path(site.file).name}:{site.line}" if site.file else site.function


def _view(site: Site, index: int = 0) -> answers.FrameView:
    return answers.FrameView(index, site.function, site.file, site.line)


def _writer(one: Writer) -> answers.WriterView:
    return answers.WriterView(
        frame=_view(one.site),
        count=one.count,
        first=one.first,
        final=one.last,
        old=one.first_write.old,
        new=one.first_write.new,
        final_old=one.last_write.old,
        final_new=one.last_write.new,
        stack=tuple(_view(each, at) for at, each in enumerate(one.stack[1 : 1 + _STACK], 1)),
        last=one.is_last,
        after=one.is_after,
        ways=one.callers,
    )
