"""Finds the call of a function in which a location is reached, and its caller."""

from __future__ import annotations

from dataclasses import replace

import msgspec
from msgspec import Struct

from debugger.model import answers
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.program import Frame
from debugger.model.state import State
from debugger.questions.runner import question_run
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.questions.who_wrote import storage_location
from debugger.questions.who_wrote.call_arguments import ParameterNames
from debugger.questions.who_wrote.value_writers import WriteLocation
from debugger.questions.who_wrote.write_request import WriteRequest
from debugger.questions.who_wrote.writers_answer import PassedCall
from debugger.session.session import Session

_DEEP = 40
_STACK = 8
_STOPS_MAX = 20_000


class ParameterCall(Struct, frozen=True):
    """A call of a function: its number, from 1, and the hits of the place before it.

    `is_place`: the place is the function's beginning.
    """

    number: int
    hits: int
    entry: int
    is_place: bool = False


def frame_address(frame: answers.FrameView | Frame | None) -> int:
    """Return the address that a frame is at; 0 where it is not told."""
    return int((frame.address if frame is not None else None) or "0", 16)


async def passing_call(
    session: Session, expression: str, frame: Frame, thread: int
) -> PassedCall | None:
    """Return the call that gave a frame its parameter (a job); None for another expression."""
    parameters = await session.backend.argument_names(frame) or []
    if expression not in parameters:
        return None
    stack = await session.backend.read_stack(thread, levels=_DEEP)
    callers = [one for one in stack.frames if one.index > frame.index]
    sites = tuple(WriteLocation(one.function, one.file, one.line) for one in callers[:_STACK])
    return PassedCall(sites, frame.function, ParameterNames(tuple(parameters)))


async def find_last_call(
    question: QuestionRun, wanted: WriteRequest, function: str, *, place: int
) -> ParameterCall | None:
    """Run a program to what is asked, and find the call whose parameter lies at `place`.

    Nothing is watched: a parameter is written where its function begins, and of a breakpoint
    there LLDB tells nothing then. None where the place is not come to.
    """
    found: ParameterCall | None = None
    calls = hits = entry = 0
    both = (wanted.at, BreakpointSpec(function=function))
    async with question_run.run_question(replace(question, breakpoints=both)) as run:
        session = run.session
        stop = await run.wait_first()
        for _ in range(_STOPS_MAX):
            if stop.state != State.STOPPED.value:
                break
            entry = entry or _address_in(stop, function)
            if entry and _address_in(stop, function) == entry:
                calls += 1
                there = await session.run_job(
                    lambda: storage_location.place_of(session, wanted.expression)
                )
                if there in {0, place}:  # and not a call further in, or out
                    found = ParameterCall(calls, hits, entry)
            hits += 1 in stop.hit_breakpoints
            if hits >= wanted.hit:
                is_place = frame_address(stop.frame) == entry
                return found and msgspec.structs.replace(found, is_place=is_place)
            stop = await run.go_on(run.session_of(stop))
    return None


async def run_to_call(run: RunningQuestion, function: str, call: ParameterCall) -> answers.Stop:
    """Run a program to the beginning of a call, or to its end."""
    stop = await run.wait_first()
    calls = 0
    for _ in range(_STOPS_MAX):
        calls += _address_in(stop, function) == call.entry
        if stop.state != State.STOPPED.value or calls == call.number:
            break
        stop = await run.go_on(run.session_of(stop))
    return stop


def _address_in(stop: answers.Stop, function: str) -> int:
    is_in = stop.frame is not None and stop.frame.function == function
    return frame_address(stop.frame) if is_in else 0
