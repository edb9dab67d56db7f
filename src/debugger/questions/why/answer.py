"""Defines the answer about the origin of a value: a chain of links, each with its certainty."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path

from msgspec import UNSET, Struct, UnsetType

from debugger.model.answers.frames import FrameView
from debugger.questions.runner.answer import ReachingCondition


class LinkKind(Enum):
    """The kinds of step from a value back to the value or the event before it."""

    # A statement wrote the value; `old` and `new` are those of the written memory or name.
    WRITTEN = "written"
    # The value is an equal value of another variable, field, element or block.
    COPIED = "copied"
    # The value was computed from `operands`.
    COMPUTED = "computed"
    # The caller passed the value as an argument.
    PASSED = "passed"
    # A called function returned the value.
    RETURNED = "returned"
    # A condition decided that the statement of the link before was reached.
    REACHED = "reached"
    # The value was read through a pointer, a reference, a container or an attribute.
    LOADED = "loaded"
    # The memory or the object was allocated.
    ALLOCATED = "allocated"
    # The memory was freed, or the object was deleted.
    FREED = "freed"
    # The last item of the container was taken out, or the item of its key; an iterator was used up.
    EMPTIED = "emptied"
    # The value came from outside: a file, a socket, an argument, the environment, the time.
    INPUT = "input"
    # The value is a literal of the source.
    CONSTANT = "constant"
    # The statement made the value undefined, or bound a name of no known earlier value.
    OTHER = "other"


class LinkCertainty(Enum):
    """How a link is known. No link is without it."""

    SEEN = "seen"  # observed in the run that reached the location
    RERUN = "rerun"  # observed in a second run of the same program
    INFERRED = "inferred"  # read from the source alone


class ChainEnd(Enum):
    """The reasons for which a chain ends."""

    CONSTANT = "constant"
    INPUT = "input"
    ALLOCATION = "allocation"
    # Memory that was read before it was written.
    UNINITIALISED = "uninitialised"
    # The most links, runs or seconds are reached.
    BOUND = "bound"
    # The last link's value comes from several operands, or from code that is not followed.
    NOT_FOLLOWED = "not followed"
    # The value at the location, or its memory, was not found again in a second run.
    LOST = "lost"


class ValueOperand(Struct, frozen=True):
    """A value that a statement reads; `is_followed` marks the one that the next link is about."""

    text: str
    value: str | None = None
    is_followed: bool = False


class WhyLink(Struct, frozen=True):
    """One step of the chain, from the value back."""

    kind: LinkKind
    certainty: LinkCertainty
    # What happened, in a few words, without the location: `overwritten by memcpy`.
    text: str
    # Where it happened; `function` of the frame is the function.
    frame: FrameView | None = None
    # The source text of the statement.
    statement: str = ""
    # The thread, if there are several: `2 "worker"`.
    thread: str | None = None
    # The callers, the nearest first.
    stack: tuple[FrameView, ...] = ()
    old: str | None = None
    new: str | None = None
    # Further facts, a sentence each, as the owner of the memory that was written.
    details: tuple[str, ...] = ()
    operands: tuple[ValueOperand, ...] = ()


# At these ends the next question is why that statement ran.
REACHED_ENDS = frozenset({ChainEnd.CONSTANT, ChainEnd.ALLOCATION, ChainEnd.NOT_FOLLOWED})


class Why(Struct, frozen=True):
    """The origin of a value that is seen at a location."""

    expression: str
    # The location as given, or the event: `crash`, `fail`, `exit`.
    place: str
    # The chain in one sentence.
    cause: str
    value: str | None = None
    # What the value was compared with by a check that failed, where it departs from it.
    other: str | None = None
    # What the value is by its bytes: text, a pattern of an allocator, an address of a block.
    meaning: str | None = None
    # Where the program stood.
    frame: FrameView | None = None
    # The event there: the signal, the exception, the assertion.
    event: str | None = None
    links: tuple[WhyLink, ...] = ()
    # The conditions by which the last link's statement was reached, the innermost first.
    reached: tuple[ReachingCondition, ...] = ()
    # Where the chain leads back to what the check itself passed: the conditions on the way there,
    # the last first.
    decided: tuple[ReachingCondition, ...] = ()
    ended: ChainEnd = ChainEnd.NOT_FOLLOWED
    # Why it ended so, and how to go on.
    ending: str | None = None
    # The number of runs of the program.
    runs: int = 1
    # The method of observation.
    method: str = ""
    # Each operand is shown with its own origin, so the text may be longer.
    shows_all: bool = False
    timed_out: bool = False
    took_s: float | None = None
    notes: tuple[str, ...] = ()
    evidence: str | UnsetType = UNSET


def chain_cause(value: str, links: Sequence[WhyLink], otherwise: str, *, nowhere: str = "") -> str:
    """Return the chain in one sentence.

    Args:
        value: The value as `EXPR=VALUE`.
        links: The chain; without links the sentence is `otherwise`.
        otherwise: What is known of a value without links.
        nowhere: What stands for the location of a link that has none.
    """
    if not links:
        return otherwise
    last = links[-1]
    where = nowhere
    if last.frame is not None and last.frame.file:
        where = f" at {Path(last.frame.file).name}:{last.frame.line}"
    return f"{value} comes from {last.text}{where}, {len(links)} links back"
