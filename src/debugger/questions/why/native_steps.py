"""Defines what comes next in the chain of a native value: a position, memory, a return, an end."""

from __future__ import annotations

from msgspec import Struct

from debugger.questions.why.answer import ChainEnd, LinkCertainty
from debugger.questions.why.container_items import TakenItem
from debugger.questions.why.statement_origin import StatementOrigin
from debugger.questions.why.struct_parts import StructPart
from debugger.questions.why.traced_run import TraceEvent, TraceFrame, TraceValue


class ValuePosition(Struct, frozen=True):
    """The value of an expression in a frame at a moment: the next one to explain."""

    expression: str
    value: TraceValue
    frames: tuple[TraceFrame, ...]
    index: int
    certainty: LinkCertainty
    # The event whose stack this is; None for the location of the question.
    event: TraceEvent | None = None
    # The struct that the value is a field of, where it is copied as a whole.
    part: StructPart | None = None
    # Whether the event is a line that had yet to run, …
    is_ahead: bool = False
    # … and the event before which it has run; None is the run's end.
    until: TraceEvent | None = None

    @property
    def frame(self) -> TraceFrame:
        """The frame of the expression."""
        return self.frames[self.index]

    @property
    def library_call(self) -> str:
        """The library function that the frame has called at the event; "" for none.

        Below it may be members of the program's types that the compiler has made.
        """
        called = self.frames[self.index - 1] if self.index else None
        is_library = called is not None and (called.library or not called.file)
        return called.function if called is not None and is_library else ""


class MemoryTarget(Struct, frozen=True):
    """Memory whose last write before the position is to be found."""

    position: ValuePosition


class RegisterTarget(Struct, frozen=True):
    """A local in a register, whose last assignment before the position is to be found."""

    position: ValuePosition


class ReturnTarget(Struct, frozen=True):
    """A function whose return to the position's frame is to be found."""

    position: ValuePosition
    function: str
    text: str
    call: StatementOrigin | None = None
    # Whether the value was seen to be what the function returns.
    certainty: LinkCertainty = LinkCertainty.RERUN


class StoreTarget(Struct, frozen=True):
    """An item of a container: the line that put it in is to be found."""

    position: ValuePosition
    item: TakenItem
    call: StatementOrigin


class ReachedEnd(Struct, frozen=True):
    """The end of the chain, and its reason."""

    end: ChainEnd
    reason: str
    # Whether code or memory that was not seen has the value: it was not made there.
    is_opaque: bool = False


NextStep = MemoryTarget | RegisterTarget | ReturnTarget | StoreTarget | ReachedEnd | ValuePosition
