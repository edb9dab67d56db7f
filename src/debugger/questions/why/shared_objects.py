"""Describes shared objects: values out of a cache, and those that another owner's code changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from debugger.model.answers.frames import FrameView
from debugger.questions.runner.answer import ValueOrigin
from debugger.questions.why.answer import LinkCertainty
from debugger.questions.why.origin_records import OriginLinkRecord, OriginRecord, statement_at
from debugger.session import source_files

_SOURCE_MAX = 2_000_000  # characters of a file that is parsed for the end of a statement
_Place = tuple[str, str, int]


def places_of(write: OriginLinkRecord) -> Iterator[_Place]:
    """Yield the places of a write: its own, and those of its callers."""
    if write.place is not None:
        yield write.place
    yield from write.stack


def describe_cache(links: Sequence[OriginLinkRecord], read: OriginLinkRecord, place: _Place) -> str:
    """Say which call stored a value that a later call of its function read, and by which key.

    Args:
        links: All links of the record.
        read: The link of the statement that read the value.
        place: The place of the write, in the same function.
    """
    text = f"stored by another call of {place[1]}, {Path(place[0]).name}:{place[2]}"
    key = _describe_key(links, read)
    return f"{text}, {key}" if key else text


def _describe_key(links: Sequence[OriginLinkRecord], read: OriginLinkRecord) -> str:
    key = _key_of(links, read)
    if key is None or key.place is None:
        return ""
    first, last = statement_lines(key.place)
    lines = f"{first}-{last}" if last > first else f"{first}"
    where = f"{Path(key.place[0]).name}:{lines}"
    return f"under an equal {key.name}, {where}: {statement_at(key.place)}"


def _key_of(links: Sequence[OriginLinkRecord], read: OriginLinkRecord) -> OriginLinkRecord | None:
    """Return the link of the key by which a statement read an item; None if it is not known."""
    if read.how != "copy" or len(read.sources) < 2 or read.sources[1][1] < 0:  # noqa: PLR2004
        return None
    return links[read.sources[1][1]]


def statement_lines(place: _Place) -> tuple[int, int]:
    """Return the first and the last line of the statement at a line."""
    line = place[2]
    lines = source_files.read_source(place[0]) or ()
    if sum(map(len, lines)) > _SOURCE_MAX:
        return line, line
    try:
        tree = ast.parse("\n".join(one.rstrip("\r\n") for one in lines))
    except (SyntaxError, ValueError, RecursionError):
        return line, line
    ends = [
        one.end_lineno or line
        for one in ast.walk(tree)
        if isinstance(one, (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return)) and one.lineno == line
    ]
    return line, max(ends, default=line)


def find_cached_origin(record: OriginRecord) -> ValueOrigin | None:
    """Return the origin of the first value of the running calls that came out of a cache."""
    for one in record.cached:
        if min(one.link, one.read, one.write) < 0:
            continue
        link, read, write = (record.links[at] for at in (one.link, one.read, one.write))
        place = next(
            (each for each in places_of(write) if read.place and each[:2] == read.place[:2]), None
        )
        if place is None:
            continue
        # The object that was read is the one that was stored, whatever else ran in between.
        is_inferred = read.inferred or write.inferred
        return ValueOrigin(
            expression=one.name,
            value=link.value,
            text="from a cache: stored by another call",
            certainty=(LinkCertainty.INFERRED if is_inferred else LinkCertainty.RERUN).value,
            frame=FrameView(0, place[1], place[0], place[2]),
            statement=statement_at(place),
            reason=_describe_key(record.links, read),
        )
    return None


def find_changed_origin(record: OriginRecord) -> ValueOrigin | None:
    """Return the origin of a change in place, made through another reference to the object."""
    changed = record.changed
    if changed is None or min(changed.write, changed.owner) < 0:
        return None
    write, owner = record.links[changed.write], record.links[changed.owner]
    if write.place is None or owner.place is None:
        return None
    places = (write.place, *write.stack)
    callers = " < ".join(f"{Path(one[0]).name}:{one[2]}" for one in places)
    is_inferred = write.inferred or owner.inferred
    return ValueOrigin(
        expression=changed.path,
        text=f"the same object as {owner.name}, set",
        certainty=(LinkCertainty.INFERRED if is_inferred else LinkCertainty.SEEN).value,
        frame=FrameView(0, owner.place[1], owner.place[0], owner.place[2]),
        statement=statement_at(owner.place),
        reason=f"and changed through it: {callers}",
    )


def describe_change(record: OriginRecord) -> tuple[str, ...]:
    """Say what changed a shared object in place, as a note; empty without such a change."""
    found = find_changed_origin(record)
    if found is None or found.frame is None or found.frame.file is None:
        return ()
    place = f"{Path(found.frame.file).name}:{found.frame.line}"
    text = f"{found.expression} is {found.text} at {place} `{found.statement}` [{found.certainty}]"
    return (f"{text}, {found.reason}",)
