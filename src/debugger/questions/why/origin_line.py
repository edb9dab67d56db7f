"""Finds the origin of a crash's value for one line of its answer, within a bound of time."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.location import CRASH
from debugger.questions.runner.answer import Crash, ValueOrigin
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import QuestionOptions
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.why import python_trace, stack_origin, trace_dispatch
from debugger.questions.why.answer import ChainEnd, LinkCertainty, LinkKind, Why, WhyLink
from debugger.questions.why.why_request import WhyRequest

# The runs for one line take at most this often the time of the run that crashed, …
_FACTOR = 3.0
# … which has a debugger's own start in it, as they have; a program that is slower is not run again.
_SLOW_S = 15.0
_LEAST_S = 2.0
# Languages in which each link needs a run or two of its own, under a slow debugger.
_BY_STACK = frozenset({"javascript"})
_GRACE_S = 2.0  # seconds for the end of a run
_REASONS = {
    ChainEnd.UNINITIALISED: "it was read before it was written",
    ChainEnd.LOST: "another run did not come to the same place",
    ChainEnd.BOUND: "as far as it was followed",
}


async def find_crash_origin(  # noqa: PLR0911 - one for each kind of program
    call: CommandCall, question: QuestionRun, options: QuestionOptions, answer: Crash, took_s: float
) -> ValueOrigin | None:
    """Return the origin of the value that a crash's cause names; None if it names none.

    What the stack shows needs no run. Otherwise the program is run again, within a few times the
    seconds that it took, and never for a process that was attached to, a core file or a kept stop.
    """
    origin = answer.why
    if answer.frame is None:
        return origin
    if origin is None:
        found = await _find_cached(call, question, answer, took_s)
        return _with_command(found, _why_command(options, found)) if found is not None else None
    origin = stack_origin.find_origin(origin, answer.frame, answer.callers)
    if question.keep and answer.session is not msgspec.UNSET:
        return _with_command(origin, ("debugger", "why", origin.expression))
    is_repeatable = isinstance(question.target, LaunchTarget) and answer.outcome == "crashed"
    if not is_repeatable:
        return origin
    is_by_stack = question.language in _BY_STACK or stack_origin.is_complete(origin)
    command = _why_command(options, origin)
    if is_by_stack:
        return _with_command(origin, command)
    seconds = _seconds_left(question, took_s)
    if seconds <= 0:
        reason = "" if origin.text else f"it ran {took_s:.0f} s, and was not run again"
        return _with_command(msgspec.structs.replace(origin, reason=reason), command)
    return await _trace_within(call, question, origin, command, seconds)


def _why_command(options: QuestionOptions, origin: ValueOrigin) -> tuple[str, ...]:
    """Return the command that follows a crash's value."""
    repeated = msgspec.structs.replace(options, verb="why", keep=False, backend=None)
    return tuple(repeated.repeat_command([origin.expression, "--at", CRASH]))


async def _find_cached(
    call: CommandCall, question: QuestionRun, answer: Crash, took_s: float
) -> ValueOrigin | None:
    """Return the origin of a value that came out of a cache, where the cause names no value."""
    target = question.target
    is_python = isinstance(target, LaunchTarget) and (target.python or target.module) is not None
    seconds = _seconds_left(question, took_s)
    is_kept = question.keep and answer.session is not msgspec.UNSET
    if not is_python or is_kept or answer.outcome != "crashed" or seconds <= 0:
        return None
    try:
        async with asyncio.timeout(seconds + _GRACE_S):
            return await python_trace.trace_cached(call, _bounded(question, seconds))
    except (TimeoutError, DebuggerError):
        return None  # the crash's own answer does not depend on it


def _seconds_left(question: QuestionRun, took_s: float) -> float:
    """Return the seconds for further runs; 0 for a program that is too slow to be run again."""
    if took_s > _SLOW_S:
        return 0.0
    return min(max(_FACTOR * took_s, _LEAST_S), question.patience.seconds - took_s)


def _bounded(question: QuestionRun, seconds: float) -> QuestionRun:
    patience = replace(question.patience, seconds=seconds)
    return replace(question, patience=patience, breakpoints=())


async def _trace_within(
    call: CommandCall,
    question: QuestionRun,
    origin: ValueOrigin,
    command: Sequence[str],
    seconds: float,
) -> ValueOrigin:
    """Follow the value by further runs; what the stack shows stays where they show nothing."""
    bounded = _bounded(question, seconds)
    request = WhyRequest(expression=origin.expression, place=CRASH)
    try:
        async with asyncio.timeout(seconds + _GRACE_S):
            found = await trace_dispatch.trace_value(call, bounded, request)
    except TimeoutError:
        found = None
    except DebuggerError as error:
        if error.code is not ErrorCode.TIMEOUT:
            return origin  # the command would fail, too
        found = None
    if found is None:
        reason = "" if origin.text else f"not found within {seconds:.0f} s"
        return _with_command(msgspec.structs.replace(origin, reason=reason), command)
    return _with_command(summarise_chain(found, origin), command)


def summarise_chain(found: Why, origin: ValueOrigin) -> ValueOrigin:
    """Return a chain's last link, as the origin of the value.

    A stack that leads as far as the chain, which then was lost, says it without another run.
    """
    links = [one for one in found.links if one.frame is not None]
    reason = _REASONS.get(found.ended, "")
    if not links or (origin.links >= len(links) and found.ended is ChainEnd.LOST):
        words = reason or found.ending or ""
        return origin if origin.text else msgspec.structs.replace(origin, reason=words)
    count = _links_of_value(links, found.value)
    last, is_end = links[count - 1], count == len(links)
    # What a further run has seen was not seen in the one that crashed.
    is_inferred = any(one.certainty is LinkCertainty.INFERRED for one in links[:count])
    certainty = LinkCertainty.INFERRED if is_inferred else LinkCertainty.RERUN
    return msgspec.structs.replace(
        origin,
        value=found.value if found.value is not None else origin.value,
        text=_link_text(last, found) if is_end else last.text,
        certainty=certainty.value,
        frame=last.frame,
        statement=last.statement,
        links=count,
        reason=reason if is_end else "",
    )


def _links_of_value(links: Sequence[WhyLink], value: str | None) -> int:
    """Return how many links have the same value: further ones are about what it was made of."""
    count = 0
    for one in links:
        if count and one.new is not None and value is not None and not _is_same(one.new, value):
            break
        count += 1
        if one.kind is LinkKind.COMPUTED:
            break
    return count


def _is_same(one: str, other: str) -> bool:
    try:
        return int(one, 0) == int(other, 0)
    except ValueError:
        return one == other


def _link_text(link: WhyLink, found: Why) -> str:
    is_literal = found.ended is ChainEnd.CONSTANT and " is a literal" in (found.ending or "")
    literal = (found.ending or "").partition(" is a literal")[0]
    return f"{link.text} ({literal})" if is_literal and literal not in link.statement else link.text


def _with_command(origin: ValueOrigin, command: Sequence[str]) -> ValueOrigin:
    return msgspec.structs.replace(origin, command=shlex.join(command))
