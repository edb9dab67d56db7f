"""Holds the default hooks of an adapter profile: each changes nothing, or knows nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from debugger.backends.dap import messages as dap
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec
from debugger.model.program import EvaluationPurpose, ExceptionDetails, Frame, Stopped, Variable

if TYPE_CHECKING:
    from debugger.backends.dap.adapter_profile import AdapterAccess


async def no_arguments(inside: AdapterAccess, frame: Frame) -> list[str] | None:
    """Return None: a frame's arguments are unknown."""
    del inside, frame
    return None


async def no_explanation(inside: AdapterAccess, spec: BreakpointSpec) -> BoundBreakpoint:
    """Return that the breakpoint did not bind, without a reason."""
    del inside, spec
    return BoundBreakpoint(verified=False, why="the debugger did not say why")


def no_correction(inside: AdapterAccess, spec: BreakpointSpec) -> BreakpointSpec | BoundBreakpoint:
    """Return the breakpoint's location as the user gave it."""
    del inside
    return spec


def no_chosen_function(name: str, refusal: str) -> None:
    """Choose none of the functions that a name stands for."""
    del name, refusal


def breakpoint_location_key(one: Breakpoint) -> object:
    """Return the key of a breakpoint for an adapter that keeps one at each line or name."""
    location = one.at or one.spec
    return (location.line, location.function, location.catch, location.type)


def no_taken_location(why: str) -> None:
    """Find no location in a refusal."""
    del why


def user_condition(one: Breakpoint) -> str | None:
    """Return a breakpoint's condition as the user wrote it."""
    return one.spec.condition


async def unchanged_values(inside: AdapterAccess, variables: Sequence[Variable]) -> list[Variable]:
    """Return the values unchanged."""
    del inside
    return list(variables)


async def no_own_page(
    inside: AdapterAccess, value: Variable, start: int, count: int
) -> list[Variable] | None:
    """Leave paging to the adapter."""
    del inside, value, start, count
    return None


async def no_return_value(inside: AdapterAccess, stop: Stopped, frame: Frame) -> Variable | None:
    """Return no value: the function's value is unknown, or among the locals."""
    del inside, stop, frame
    return None


async def no_assignment(inside: AdapterAccess, target: str, value: str, frame: Frame) -> bool:
    """Leave the assignment to the protocol's requests."""
    del inside, target, value, frame
    return False


async def no_exception(inside: AdapterAccess, stop: Stopped) -> ExceptionDetails | None:
    """Return None: exceptionInfo has all that is known."""
    del inside, stop
    return None


async def no_catching(inside: AdapterAccess, wanted: Sequence[Breakpoint]) -> bool:
    """Leave exceptions to the protocol's request, and their types to the stop filter."""
    del inside, wanted
    return False


async def no_evaluation(
    inside: AdapterAccess, expression: str, frame: Frame | None, purpose: EvaluationPurpose
) -> Variable | None:
    """Leave an expression to the protocol's request."""
    del inside, expression, frame, purpose
    return None


def no_failed_condition(stop: Stopped) -> str | None:
    """Return None: no stop of this adapter reports a failed condition."""
    del stop
    return None


def unchanged_exception(details: ExceptionDetails) -> ExceptionDetails:
    """Return the exception's details unchanged."""
    return details


def unknown_command_line(pid: int) -> tuple[str, ...]:
    """Return nothing: a child's command line is unknown."""
    del pid
    return ()


async def unchanged_value(inside: AdapterAccess, value: Variable) -> Variable:
    """Return an expression's value unchanged."""
    del inside
    return value


def unchanged_text(problem: str) -> str:
    """Return a text unchanged."""
    return problem


def no_launch_hint(problem: str) -> str | None:
    """Return None: nothing is known to help."""
    del problem
    return None


def unchanged_thread(body: dap.DapThread) -> dap.DapThread:
    """Return a thread unchanged."""
    return body


def plain_hit_count(count: int) -> str:
    """Return the hit count as a plain number."""
    return str(count)
