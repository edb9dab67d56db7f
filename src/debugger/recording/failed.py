"""What is told of a test that failed: where, with which values, and which lines made them? Pure."""

from __future__ import annotations

from msgspec import Struct

Pairs = tuple[tuple[str, str], ...]


class Gave(Struct, frozen=True):
    """A call that a line made: what it was given, what it returned from which line, its steps."""

    function: str
    file: str
    line: int
    value: str
    arguments: Pairs = ()
    steps: tuple[Step, ...] = ()


class Step(Struct, frozen=True, array_like=True):
    """A line of a call: the names that it bound, and the calls that it made."""

    line: int
    changed: Pairs = ()
    gave: tuple[Gave, ...] = ()


class FailedFrame(Struct, frozen=True):
    """A function of the program's that the failure passed through."""

    function: str
    file: str
    line: int
    locals: Pairs = ()
    steps: tuple[Step, ...] = ()


class Inside(Struct, frozen=True):
    """The library's function that it happened in."""

    function: str
    file: str
    line: int


class Failed(Struct, frozen=True, tag=True, tag_field="event"):
    """A test that failed; `phase` is setup, call, teardown or collect, `frames` innermost first."""

    runner: str
    name: str
    phase: str
    time_ns: int
    type: str
    message: str
    is_assertion: bool = False
    causes: tuple[str, ...] = ()
    frames: tuple[FailedFrame, ...] = ()
    total: int = 0
    inside: Inside | None = None
