"""Holds the default hooks of an adapter profile: each changes nothing, or knows nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from debugger.backends.dap import messages as dap
from debugger.core.breakpoints import Bound, Breakpoint, Spec
from debugger.core.model import ExceptionDetails, Frame, Purpose, Stopped, Variable

if TYPE_CHECKING:
    from debugger.backends.dap.profile import Inside


async def no_arguments(inside: Inside, frame: Frame) -> list[str] | None:
    """Return None: a frame's arguments are unknown."""
    del inside, frame
    return None


async def no_explanation(inside: Inside, spec: Spec) -> Bound:
    """Return that the breakpoint did not bind, without a reason."""
    del inside, spec
    return Bound(verified=False, why="the debugger did not say why")


def no_correction(inside: Inside, spec: Spec) -> Spec | Bound:
    """Return the breakpoint's location as the user gave it."""
    del inside
    return spec


def no_choice(name: str, refusal: str) -> None:
    """Choose none of the functions that a name stands for."""
    del name, refusal


def location_of(one: Breakpoint) -> object:
    """Return the key of a breakpoint for an adapter that keeps one at each line or name."""
    at = one.at or one.spec
    return (at.line, at.function, at.catch, at.type)


def not_taken(why: str) -> None:
    """Find no location in a refusal."""
    del why


def own_condition(one: Breakpoint) -> str | None:
    """Return a breakpoint's condition as the user wrote it."""
    return one.spec.condition


async def as_they_are(inside: Inside, variables: Sequence[Variable]) -> list[Variable]:
    """Return the values unchanged."""
    del inside
    return list(variables)


async def no_page(inside: Inside, value: Variable, start: int, count: int) -> list[Variable] | None:
    """Leave paging to the adapter."""
    del inside, value, start, count
    return None


async def no_return(inside: Inside, stop: Stopped, frame: Frame) -> Variable | None:
    """Return no value: the function's value is unknown, or among the locals."""
    del inside, stop, frame
    return None


async def no_assignment(inside: Inside, target: str, value: str, frame: Frame) -> bool:
    """Leave the assignment to the protocol's requests."""
    del inside, target, value, frame
    return False


async def no_exception(inside: Inside, stop: Stopped) -> ExceptionDetails | None:
    """Return None: exceptionInfo has all that is known."""
    del inside, stop
    return None


async def no_catching(inside: Inside, wanted: Sequence[Breakpoint]) -> bool:
    """Leave exceptions to the protocol's request, and their types to the stop filter."""
    del inside, wanted
    return False


async def no_evaluation(
    inside: Inside, expression: str, frame: Frame | None, purpose: Purpose
) -> Variable | None:
    """Leave an expression to the protocol's request."""
    del inside, expression, frame, purpose
    return None


def no_failed_condition(stop: Stopped) -> str | None:
    """Return None: no stop of this adapter reports a failed condition."""
    del stop
    return None


def no_details(details: ExceptionDetails) -> ExceptionDetails:
    """Return the exception's details unchanged."""
    return details


def unknown_words(pid: int) -> tuple[str, ...]:
    """Return nothing: a child's command line is unknown."""
    del pid
    return ()


async def as_evaluated(inside: Inside, value: Variable) -> Variable:
    """Return an expression's value unchanged."""
    del inside
    return value


def as_said(problem: str) -> str:
    """Return a text unchanged."""
    return problem


def no_hint(problem: str) -> str | None:
    """Return None: nothing is known to help."""
    del problem
    return None


def same_thread(body: dap.Thread) -> dap.Thread:
    """Return a thread unchanged."""
    return body


def same_hits(count: int) -> str:
    """Return the hit count as a plain number."""
    return str(count)
