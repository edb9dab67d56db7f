"""Finds the last write of a value of Go, for memory that no watchpoint of another run can find."""

from __future__ import annotations

from debugger.errors import DebuggerError
from debugger.model.answers.frames import FrameView
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.who_wrote.value_writers import ValueWrite, WriteLocation, WriteRequest
from debugger.questions.why import go_trace
from debugger.questions.why.answer import LinkCertainty, WhyLink
from debugger.questions.why.why_request import WhyRequest


async def find_last_write(
    call: CommandCall, question: QuestionRun, request: WriteRequest, value: str | None
) -> ValueWrite | None:
    """Return the write before a location that gave Go's memory its value; None if none was seen.

    It is the first link of the value's chain, by the lines that may give it by the source.
    """
    followed = WhyRequest(
        request.expression,
        request.place,
        request.at,
        nth=request.hit,
        when=request.when,
        frame=request.frame,
        links=1,
    )
    try:
        found = await go_trace.trace_value(call, question, followed)
    except DebuggerError:
        return None  # the later writes are shown without it
    first = next(iter(found.links), None)
    return write_of_link(first, value) if first is not None else None


def write_of_link(link: WhyLink, value: str | None) -> ValueWrite | None:
    """Return a link that is a write of the value itself; None for any other link."""
    is_seen = link.certainty is not LinkCertainty.INFERRED
    if not is_seen or link.frame is None or link.new is None or link.new != value:
        return None
    stack = (link.frame, *link.stack)
    return ValueWrite(tuple(map(_location, stack)), link.old, link.new, None, is_after=False)


def _location(frame: FrameView) -> WriteLocation:
    return WriteLocation(frame.function, frame.file, frame.line)
