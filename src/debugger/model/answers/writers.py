"""What is answered to who wrote a value: the last writer, and all of them."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from debugger.model.answers.frames import FrameView, SourceLine


class WriterView(Struct, frozen=True):
    """A line that wrote; of its `count` writes the first and the last are told, with their numbers.

    `last` marks the one that wrote last before the place, `after` one that wrote after it; `ways`
    counts from how many callers' lines it came.
    """

    frame: FrameView
    count: int
    first: int
    final: int
    old: str | None
    new: str | None
    final_old: str | None
    final_new: str | None
    stack: tuple[FrameView, ...] = ()
    last: bool = False
    after: bool = False
    ways: int = 1


class WhoWrote(Struct, frozen=True):
    """Who wrote a value that is seen at a place.

    `value` is what it is there; `writes` counts those before the place, `later` those after it.
    `method` says how it was watched.
    """

    expression: str
    place: str
    cause: str
    value: str | None = None
    frame: FrameView | None = None
    source: tuple[SourceLine, ...] = ()
    at: FrameView | None = None
    writers: tuple[WriterView, ...] = ()
    writes: int = 0
    later: int = 0
    method: str = ""
    adapter: str = ""
    timed_out: bool = False
    took_s: float | None = None
    notes: tuple[str, ...] = ()
    evidence: str | UnsetType = UNSET
