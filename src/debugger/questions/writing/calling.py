"""Finds the call of a function in which a location is reached, and its caller."""

from __future__ import annotations

from dataclasses import replace

import msgspec
from msgspec import Struct

from debugger.core import answers
from debugger.core.breakpoints import Spec
from debugger.core.model import Frame
from debugger.core.passing import Parameters
from debugger.core.state import State
from debugger.core.writers import Site
from debugger.questions import asking
from debugger.questions.asking import Question, Run
from debugger.questions.writing import lying
from debugger.questions.writing.telling import Passed
from debugger.questions.writing.wanted import Wanted
from debugger.session.session import Session

_DEEP = 40
_STACK = 8
_STOPS_MAX = 20_000


class Call(Struct, frozen=True):
    """A call of a function: its number, from 1, and the hits of the place before it.

    `is_place`: the place is the function's beginning.
    """

    number: int
    hits: int
    entry: int
    is_place: bool = False


def address(frame: answers.FrameView | Frame | None) -> int:
    """Return the address that a frame is at; 0 where it is not told."""
    return int((frame.address if frame is not None else None) or "0", 16)


async def passed(session: Session, expression: str, frame: Frame, thread: int) -> Passed | None:
    """Return the call that gave a frame its parameter (a job); None for another expression."""
    parameters = await session.backend.arguments(frame) or []
    if expression not in parameters:
        return None
    stack = await session.backend.stack(thread, levels=_DEEP)
    callers = [one for one in stack.frames if one.index > frame.index]
    sites = tuple(Site(one.function, one.file, one.line) for one in callers[:_STACK])
    return Passed(sites, frame.function, Parameters(tuple(parameters)))


async def last(question: Question, wanted: Wanted, function: str, *, place: int) -> Call | None:
    """Run a program to what is asked, and find the call whose parameter lies at `place`.

    Nothing is watched: a parameter is written where its function begins, and of a breakpoint
    there LLDB tells nothing then. None where the place is not come to.
    """
    found: Call | None = None
    calls = hits = entry = 0
    both = (wanted.at, Spec(function=function))
    async with asking.running(replace(question, breakpoints=both)) as run:
        session = run.session
        stop = await run.first()
        for _ in range(_STOPS_MAX):
            if stop.state != State.STOPPED.value:
                break
            entry = entry or _address_in(stop, function)
            if entry and _address_in(stop, function) == entry:
                calls += 1
                there = await session.do(lambda: lying.place_of(session, wanted.expression))
                if there in {0, place}:  # and not a call further in, or out
                    found = Call(calls, hits, entry)
            hits += 1 in stop.hit_breakpoints
            if hits >= wanted.hit:
                is_place = address(stop.frame) == entry
                return found and msgspec.structs.replace(found, is_place=is_place)
            stop = await run.go_on(run.at(stop))
    return None


async def begun(run: Run, function: str, call: Call) -> answers.Stop:
    """Run a program to the beginning of a call, or to its end."""
    stop = await run.first()
    calls = 0
    for _ in range(_STOPS_MAX):
        calls += _address_in(stop, function) == call.entry
        if stop.state != State.STOPPED.value or calls == call.number:
            break
        stop = await run.go_on(run.at(stop))
    return stop


def _address_in(stop: answers.Stop, function: str) -> int:
    is_in = stop.frame is not None and stop.frame.function == function
    return address(stop.frame) if is_in else 0
