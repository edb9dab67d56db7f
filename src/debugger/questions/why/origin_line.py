"""Finds the origin of a crash's value for one line of its answer, within a bound of time."""

from __future__ import annotations

import asyncio
import logging
import re
import shlex
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import msgspec

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.answers.frames import FrameView
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.location import CRASH, FAIL
from debugger.questions.runner.answer import Crash, FreedBlock, ValueOrigin
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import QuestionOptions
from debugger.questions.runner.question_build import build_question
from debugger.questions.runner.question_run import QuestionRun
from debugger.questions.why import (
    freed_block,
    java_trace,
    native_runs,
    node_origin,
    python_trace,
    stack_origin,
    statement_origin,
    trace_dispatch,
    traced_run,
)
from debugger.questions.why.answer import ChainEnd, LinkCertainty, LinkKind, Why, WhyLink
from debugger.questions.why.statement_origin import OriginKind
from debugger.questions.why.why_request import WhyRequest, at_go_failure, is_call, program_words
from debugger.recorders.script import script_recorder

_log = logging.getLogger(__name__)

# The runs for one line take at most this often the time of the run that crashed, …
_FACTOR = 3.0
# … which has a debugger's own start in it, as they have; a program that is slower is not run again.
_SLOW_S = 15.0
_LEAST_S = 5.0
_RUNS_S = 12.0  # three runs of a compiled program with a debugger's own start
# Kinds of crash that freed memory may lead to.
_OF_MEMORY = frozenset(
    {"null_pointer", "null_function", "bad_pointer", "non_canonical", "inaccessible", "read_only"}
    | {"bad_jump", "double_free", "heap_corruption", "abort", "assertion", "signal"}
)
_OTHERS = frozenset(
    {"python", "javascript", "go", *script_recorder.LANGUAGES}
)  # languages with a heap of their own
_FACT = re.compile(
    r"the block was freed|overflow:|underflow:|it writes past|stored by another call|two .* are one"
)
_FACTS_MAX = 2
_SHOWN = 2  # origins of one answer
_GRACE_S = 2.0  # seconds for the end of a run
_FAULT = "following it failed by a fault of the debugger; debugger daemon logs shows it"
_UNREAD = "(not read)"  # a chain's value that lay in registers
_UNSEEN_WRITE = "something that was not seen wrote"
_ABSENT_PART = re.compile(r"\Athe zero value: .* gives no (?P<part>\S+)\Z", re.DOTALL)
_NOTHING_WROTE = "nothing wrote "  # an object's variable that is not there, of Ruby and PHP
_REASONS = {
    ChainEnd.UNINITIALISED: "it was read before it was written",
    ChainEnd.LOST: "another run did not come to the same place",
    ChainEnd.BOUND: "as far as it was followed",
}


@asynccontextmanager
async def serve_crash(call: CommandCall, question: QuestionRun) -> AsyncIterator[QuestionRun]:
    """Yield the question with a debugger for the further runs of a compiled program's crash."""
    is_native = question.language not in _OTHERS and question.language != "java"
    if is_native and not question.keep and not _is_python(question):
        async with traced_run.serve_traces(call, question) as served:
            yield served
    else:
        yield question


async def add_origin(
    call: CommandCall,
    question: QuestionRun,
    options: QuestionOptions,
    answer: Crash,
    took_s: float,
    *,
    chain: java_trace.CrashChain | None = None,
) -> Crash:
    """Add the origin of the value that a crash's cause names, and the freed memory that it used.

    A value of freed memory is not followed by runs of its own: what wrote it there says little.
    `chain` is what the run to a crash of Java has shown of its value.
    """
    if question.language == "java" and not question.keep and answer.frame is not None:
        origin = await _find_java_origin(question, options, answer, took_s, chain)
        if origin is not None or answer.why is None:
            return msgspec.structs.replace(answer, why=origin, why_compared=None)
    began = asyncio.get_running_loop().time()
    freed, survey = await _find_freed_memory(call, question, answer, took_s)
    spent_s = asyncio.get_running_loop().time() - began
    if freed is None:
        return await _add_origins(
            call, question, options, answer, took_s, spent_s=spent_s, survey=survey
        )
    origin = answer.why
    if origin is not None and answer.frame is not None:
        origin = stack_origin.find_origin(origin, answer.frame, answer.callers)
        origin = _with_command(origin, _why_command(options, origin))
    return msgspec.structs.replace(answer, why=origin, why_compared=None, freed_block=freed)


async def _add_origins(
    call: CommandCall,
    question: QuestionRun,
    options: QuestionOptions,
    answer: Crash,
    took_s: float,
    *,
    spent_s: float,
    survey: _CrashSurvey | None = None,
) -> Crash:
    """Add the origins of a crash's value, and of what it was compared with.

    Of an exception that the program raises itself the values of the check may be right: a value
    that came out of a cache comes first.
    """
    began = asyncio.get_running_loop().time() - spent_s
    values = [one for one in (answer.why, answer.why_compared) if one is not None]
    from_cache = (None,) if answer.kind == "exception" or not values else ()
    # One recording answers for all of them.
    seconds = _seconds_left(question, took_s) - spent_s
    runs = None
    if _is_python(question) and _is_failed(question, answer) and seconds > 0:
        names = [one.expression for one in values]
        runs = python_trace.runs_at(call, _bounded(question, seconds), CRASH, names)
    found: list[ValueOrigin] = []
    for value in (*from_cache, *values):
        if len(found) == _SHOWN:
            break
        spent_s = asyncio.get_running_loop().time() - began
        one = msgspec.structs.replace(answer, why=value)
        origin = await find_crash_origin(
            call, question, options, one, took_s, spent_s=spent_s, runs=runs, survey=survey
        )
        if origin is not None and (origin.text or value is answer.why):
            found.append(origin)
            if question.language == "java":
                break  # it is of the operand that failed, whichever value is given
    first, second = [*found, None, None][:_SHOWN]
    return msgspec.structs.replace(answer, why=first, why_compared=second)


class _CrashSurvey(msgspec.Struct, frozen=True):
    """What a run to the crash of a compiled program has shown of an expression."""

    expression: str = ""
    result: traced_run.TraceResult | None = None


def _plan_survey(question: QuestionRun, answer: Crash) -> traced_run.TracePlan:
    """Return the plan of a run to the crash, which also begins the chain of the crash's value."""
    end = traced_run.EndPlan(CRASH)
    if answer.why is None or answer.frame is None:
        return traced_run.TracePlan(end)
    origin = stack_origin.find_origin(answer.why, answer.frame, answer.callers)
    if stack_origin.is_complete(origin):
        return traced_run.TracePlan(end)
    return native_runs.plan_survey(_crash_request(question, origin, answer.frame), end)


async def _find_freed_memory(
    call: CommandCall, question: QuestionRun, answer: Crash, took_s: float
) -> tuple[FreedBlock | None, _CrashSurvey]:
    """Return the freed block that a compiled program's crash used, if one is found.

    With what the run to the crash has shown of the value that the cause names.
    """
    is_native = question.language not in _OTHERS and isinstance(question.target, LaunchTarget)
    seconds = _seconds_left(question, took_s, least_s=_RUNS_S)
    if (
        not is_native
        or answer.kind not in _OF_MEMORY
        or answer.outcome != "crashed"
        or question.keep
        or seconds <= 0
    ):
        return None, _CrashSurvey()
    culprit = answer.why.expression if answer.why is not None else ""
    try:
        async with asyncio.timeout(seconds + _GRACE_S):
            plan = _plan_survey(question, answer)
            found, result = await freed_block.find_freed_block(
                call, question, culprit, answer.frame, seconds=seconds, plan=plan
            )
            return found, _CrashSurvey(plan.expression, result)
    except (TimeoutError, DebuggerError):
        return None, _CrashSurvey()  # the crash is explained without it
    except Exception:  # noqa: BLE001 - the crash itself is explained without it
        _log.exception("the freed memory of %s", culprit)
        return None, _CrashSurvey()


def _seconds_left(question: QuestionRun, took_s: float, *, least_s: float = _LEAST_S) -> float:
    """Return the seconds that further runs may take after one that crashed."""
    if took_s > _SLOW_S:
        return 0.0
    return min(max(_FACTOR * took_s, least_s), question.patience.seconds - took_s)


async def find_crash_origin(  # noqa: PLR0911 - one for each kind of program
    call: CommandCall,
    question: QuestionRun,
    options: QuestionOptions,
    answer: Crash,
    took_s: float,
    *,
    spent_s: float = 0.0,
    runs: python_trace.TracedRuns | None = None,
    survey: _CrashSurvey | None = None,
) -> ValueOrigin | None:
    """Return the origin of the value that a crash's cause names; None if it names none.

    What the stack shows needs no run. Otherwise the program is run again, within a few times the
    seconds that it took, and never for a process that was attached to, a core file or a kept stop.
    Further runs of Python are those of all values of the crash.
    """
    origin = answer.why
    if answer.frame is None:
        return origin
    if origin is None:
        found = await _find_cached(question, answer, runs, took_s)
        return _with_command(found, _why_command(options, found)) if found is not None else None
    origin = stack_origin.find_origin(origin, answer.frame, answer.callers)
    if question.keep and answer.session is not msgspec.UNSET:
        return _with_command(origin, ("debugger", "why", origin.expression))
    if not _is_failed(question, answer):
        return origin
    command = _why_command(options, origin)
    if stack_origin.is_complete(origin):
        return _with_command(origin, command)
    least_s = _LEAST_S if question.language in _OTHERS else _RUNS_S
    seconds = _seconds_left(question, took_s, least_s=least_s) - spent_s
    is_recorded = runs is not None and bool(runs.count) and runs.follows(origin.expression)
    if seconds <= 0 and not is_recorded:
        reason = "" if origin.text else f"it ran {took_s:.0f} s, and was not run again"
        return _with_command(msgspec.structs.replace(origin, reason=reason), command)
    request = _crash_request(question, origin, answer.frame)
    if survey is not None and survey.expression == origin.expression:
        request = msgspec.structs.replace(request, survey=survey.result)
    bounded = _bounded(question, max(seconds, 0.0))
    return await _trace_within(call, bounded, origin, command, request, runs=runs)


def _crash_request(question: QuestionRun, origin: ValueOrigin, frame: FrameView) -> WhyRequest:
    """Return the request for the origin of a value at the line of a crash."""
    place = (frame.file, frame.line) if frame.file and frame.line else None
    request = WhyRequest(expression=origin.expression, place=CRASH, failed_at=place)
    if question.language in {"javascript", *script_recorder.LANGUAGES}:
        at = BreakpointSpec(file=frame.file, line=frame.line)
        request = msgspec.structs.replace(request, at=at, nth=-1, is_thrown=True)
    return request


async def _find_java_origin(
    question: QuestionRun,
    options: QuestionOptions,
    answer: Crash,
    took_s: float,
    chain: java_trace.CrashChain | None,
) -> ValueOrigin | None:
    """Return the origin of the value that the failed instruction is about; None if it is unclear.

    The bytecode says which that is, also where the source has several of one name.
    """
    seconds = _seconds_left(question, took_s, least_s=_RUNS_S)
    # What nobody catches ends a thread, not the program.
    is_failed = answer.outcome in {"crashed", "survived"}
    if not isinstance(question.target, LaunchTarget) or not is_failed or seconds <= 0:
        return None
    chain = chain or java_trace.CrashChain()
    try:
        async with asyncio.timeout(seconds + _GRACE_S):
            found = await java_trace.trace_crash(_bounded(question, seconds), chain)
    except (TimeoutError, DebuggerError):
        return None  # the crash's own answer does not depend on it
    if found is None:
        return None
    origin = ValueOrigin(found.expression, found.value)
    summary = summarise_chain(found, origin)
    # `--at crash` does not stop at what a library catches.
    is_repeated = chain.thrown_at is None
    return _with_command(summary, _why_command(options, origin)) if is_repeated else summary


def _is_failed(question: QuestionRun, answer: Crash) -> bool:
    """Return whether a program that can be run again failed, or a thread of one in Python."""
    is_thread = answer.outcome == "survived" and _is_python(question)
    return isinstance(question.target, LaunchTarget) and (answer.outcome == "crashed" or is_thread)


def _is_python(question: QuestionRun) -> bool:
    target = question.target
    return isinstance(target, LaunchTarget) and (target.python or target.module) is not None


def _why_command(options: QuestionOptions, origin: ValueOrigin) -> tuple[str, ...]:
    """Return the command that follows a crash's value."""
    repeated = msgspec.structs.replace(options, verb="why", keep=False, backend=None)
    return tuple(repeated.repeat_command([origin.expression, "--at", CRASH]))


async def _find_cached(
    question: QuestionRun, answer: Crash, runs: python_trace.TracedRuns | None, took_s: float
) -> ValueOrigin | None:
    """Return the origin of a value that came out of a cache, where the cause names no value."""
    seconds = _seconds_left(question, took_s)
    is_kept = question.keep and answer.session is not msgspec.UNSET
    if runs is None or is_kept:
        return None
    try:
        async with asyncio.timeout(seconds + _GRACE_S):
            return await python_trace.trace_cached(runs)
    except (TimeoutError, DebuggerError):
        return None  # the crash's own answer does not depend on it


async def find_python_origin(
    call: CommandCall,
    question: QuestionRun,
    origin: ValueOrigin | None,
    frame: FrameView,
    took_s: float,
    *,
    spent_s: float,
    tests: Sequence[str] = (),
) -> ValueOrigin | None:
    """Return the origin of a failed test's value in Python; None if no more is found.

    A shared object may have been changed before. Otherwise the value is followed from the failure
    back, where no line is known that made it, or by the part that departs from the expected value.

    Args:
        call: The command's call.
        question: The run of the tests.
        origin: The value that the failure names, if it names one.
        frame: Where the test failed.
        took_s: What the tests took, once plain and once recorded.
        spent_s: What the answer has taken so far.
        tests: The only tests to run for it; none: all.
    """
    seconds = min(max(_FACTOR * took_s, _LEAST_S), question.patience.seconds - spent_s)
    # One test takes a part of that only.
    if (took_s > 2 * _SLOW_S and not tests) or seconds <= 0:
        return None
    names = [origin.expression] if origin is not None else []
    runs = python_trace.runs_at(call, _bounded(question, seconds), FAIL, names, tests)
    began = asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout(seconds + _GRACE_S):
            changed = await python_trace.trace_changed(runs, frame)
    except (TimeoutError, DebuggerError):
        changed = None  # the failure is explained without it
    seconds -= asyncio.get_running_loop().time() - began
    is_known = origin is None or (bool(origin.text) and not origin.has_parts())
    if changed is not None or origin is None or is_known or seconds <= 0:
        return changed
    request = WhyRequest(expression=origin.expression, place=FAIL)
    bounded = _bounded(question, seconds)
    found = await _trace_within(call, bounded, origin, (), request, runs=runs)
    is_new = found.other is not None if origin.text else bool(found.text or found.reason)
    return found if is_new else None


async def find_test_origin(  # noqa: PLR0917 - what a test is run again with
    call: CommandCall,
    options: QuestionOptions,
    origin: ValueOrigin,
    frame: FrameView,
    words: tuple[str, ...],
    seconds: float,
    chain: java_trace.CrashChain,
) -> ValueOrigin:
    """Follow the value of a failed test of Go, Node or Java, by `words`, which run it alone.

    What its own lines say is in `origin`; `frame` is where it failed. The bound in seconds is said
    where it is reached. Of Java, `chain` is what the run to the failure has shown.
    """
    at = BreakpointSpec(file=frame.file, line=frame.line)
    request = WhyRequest(expression=origin.expression, place=FAIL, at=at, usual_s=seconds)
    inner = msgspec.structs.replace(options, verb="why", keep=False, timeout=seconds)
    try:
        program = program_words(words)
        question = await build_question(call, msgspec.structs.replace(inner, words=program))
    except DebuggerError:
        return origin  # the test's own lines are shown without it
    if question.language == "rust" and is_call(origin.expression):
        request = WhyRequest(expression=origin.expression, place=CRASH, usual_s=seconds)
    if question.language == "javascript":
        request = msgspec.structs.replace(
            request, place=f"{frame.file}:{frame.line}", nth=-1, is_thrown=True
        )
    if question.language == "go" and frame.file is not None and frame.line is not None:
        request = at_go_failure(request, frame.index, (frame.file, frame.line))
    question = _bounded(question, seconds)
    if question.language == "java":
        return await _find_thrown_origin(question, origin, frame, chain)
    found = await _trace_within(call, question, origin, shlex.split(origin.command), request)
    # The test's own lines stay, unless a part of the value leads further.
    is_part = question.language == "go" or found.other is not None
    return found if is_part or not origin.text else origin


async def _find_thrown_origin(
    question: QuestionRun, origin: ValueOrigin, frame: FrameView, chain: java_trace.CrashChain
) -> ValueOrigin:
    """Follow the value that a failed test of Java looked at, where the bytecode names it."""
    try:
        async with asyncio.timeout(question.patience.seconds + _GRACE_S):
            found = await java_trace.trace_failure(question, frame, chain)
    except (TimeoutError, DebuggerError):
        found = None
    if found is None:  # the test's own lines are shown without it
        return origin
    is_same = found.expression == origin.expression
    return summarise_chain(found, origin if is_same else ValueOrigin(found.expression, found.value))


def _bounded(question: QuestionRun, seconds: float) -> QuestionRun:
    patience = replace(question.patience, seconds=seconds)
    return replace(question, patience=patience, breakpoints=())


async def _trace_within(
    call: CommandCall,
    question: QuestionRun,
    origin: ValueOrigin,
    command: Sequence[str],
    request: WhyRequest,
    *,
    runs: python_trace.TracedRuns | None = None,
) -> ValueOrigin:
    """Follow the value by further runs; what the stack shows stays where they show nothing."""
    seconds = question.patience.seconds
    try:
        async with asyncio.timeout(seconds + _GRACE_S):
            found = await _trace_once(call, question, request, runs)
    except TimeoutError:
        found = None
    except DebuggerError as error:
        if error.code is not ErrorCode.TIMEOUT:
            return origin  # the command would fail, too
        found = None
    except Exception:  # noqa: BLE001 - the crash itself is explained without it
        _log.exception("the origin of %s", origin.expression)
        return msgspec.structs.replace(origin, reason=_FAULT)
    if found is None:
        what = "followed further" if origin.text else "found"
        reason = f"not {what} within {seconds:.0f} s"
        return _with_command(msgspec.structs.replace(origin, reason=reason), command)
    is_recorded = question.language in {"python", "javascript"}
    origin = summarise_chain(found, origin, is_recorded=is_recorded)
    return _with_command(origin, command)


async def _trace_once(
    call: CommandCall,
    question: QuestionRun,
    request: WhyRequest,
    runs: python_trace.TracedRuns | None,
) -> Why | None:
    """Follow the value at a crash; of JavaScript by the one way that needs a single run."""
    if runs is not None and runs.follows(request.expression):
        return trace_dispatch.add_conditions(
            await python_trace.trace_value(call, question, request, runs)
        )
    if question.language != "javascript":
        return await trace_dispatch.trace_value(call, question, request)
    found, _ = await node_origin.trace_value(call, question, request)
    return trace_dispatch.add_conditions(found) if found is not None else None


def summarise_chain(found: Why, origin: ValueOrigin, *, is_recorded: bool = True) -> ValueOrigin:
    """Return a chain's last link, as the origin of the value.

    A stack that leads as far as the chain, which then was lost, says it without another run.

    Args:
        found: The chain.
        origin: What is known of the value without it.
        is_recorded: Whether the program recorded the values itself: then all links are of a part.
    """
    links = [one for one in found.links if one.frame is not None]
    reason = _REASONS.get(found.ended, "")
    if not links or (origin.links >= len(links) and found.ended is ChainEnd.LOST):
        ending = found.ending or ""
        words = ending if ending.startswith(_NOTHING_WROTE) else reason or ending
        return origin if origin.text else msgspec.structs.replace(origin, reason=words)
    # Of a recorded part the last link says where it was made. Where memory was watched, the links
    # go on to what it was computed from.
    is_part = found.other is not None
    made = next((one.new for one in links if one.new is not None), None) if is_part else found.value
    count = len(links) if is_part and is_recorded else _links_of_value(links, made)
    if origin.links > count:  # the stack leads further
        is_bound = found.ended is ChainEnd.BOUND
        return msgspec.structs.replace(origin, reason=reason if is_bound else origin.reason)
    last, is_end = links[count - 1], count == len(links)
    certainties = {_in_crash(one) for one in links[:count]}
    is_inferred = LinkCertainty.INFERRED in certainties
    certainty = LinkCertainty.INFERRED if is_inferred else LinkCertainty.RERUN
    return msgspec.structs.replace(
        origin,
        expression=origin.expression if is_part else found.expression,
        part=found.expression.removeprefix(origin.expression) if found.other is not None else "",
        value=origin.value if found.value in {None, _UNREAD} and origin.value else found.value,
        text=_link_text(last, found) if is_end else last.text,
        certainty=certainty.value,
        frame=last.frame,
        statement=last.statement,
        links=count,
        reason=reason if is_end else "",
        earlier=tuple(one.frame for one in links[count:] if one.frame is not None),
        earliest=links[-1].text if len(links) > count else "",
        reached=found.reached if is_end or _is_decided(links) else (),
        decided=found.decided if is_end else (),
        other=found.other,
        details=_facts_of(links),
    )


def _facts_of(links: Sequence[WhyLink]) -> tuple[str, ...]:
    """Return what the links tell of memory that was freed or overrun, and of shared objects."""
    found = (detail for one in links for detail in one.details if _FACT.match(detail))
    return tuple(dict.fromkeys(found))[:_FACTS_MAX]


def _in_crash(link: WhyLink) -> LinkCertainty:
    """Return a link's certainty for the run that crashed, which is not the one that saw it."""
    is_inferred = link.certainty is LinkCertainty.INFERRED
    return LinkCertainty.INFERRED if is_inferred else LinkCertainty.RERUN


def _links_of_value(links: Sequence[WhyLink], value: str | None) -> int:
    """Return how many links have the same value: further ones are about what it was made of."""
    count = 0
    for one in links:
        if one.kind is LinkKind.REACHED:
            break
        # A write that comes later has another value by its nature.
        is_other = one.new is not None and value is not None and not _is_same(one.new, value)
        if count and is_other and one.kind is not LinkKind.OTHER:
            break
        count += 1
        if one.kind in {LinkKind.COMPUTED, LinkKind.EMPTIED} or _returns_computed(one):
            break
    return count


def _is_decided(links: Sequence[WhyLink]) -> bool:
    """Return whether the chain goes on to what decided that the value was returned."""
    return any(one.kind is LinkKind.REACHED for one in links)


def _returns_computed(link: WhyLink) -> bool:
    """Return whether a `return` computes the value: links behind it are of its operands."""
    if link.kind is not LinkKind.RETURNED or not link.statement.startswith("return "):
        return False
    origin = statement_origin.classify_expression(link.statement.removeprefix("return "))
    return origin.kind is OriginKind.COMPUTED


def _is_same(one: str, other: str) -> bool:
    try:
        return int(one, 0) == int(other, 0)
    except ValueError:
        return one == other


def _link_text(link: WhyLink, found: Why) -> str:
    """Return a last link's text with what its end adds: a literal, a key that was not there."""
    ending = found.ending or ""
    if _UNSEEN_WRITE in ending:
        return f"{link.text}, but {_UNSEEN_WRITE} {found.value} since"
    absent = _ABSENT_PART.search(ending)
    if absent is not None:
        return f"{link.text}, which gives no {absent['part']}: the zero value"
    is_literal = found.ended is ChainEnd.CONSTANT and " is a literal" in (found.ending or "")
    literal = (found.ending or "").partition(" is a literal")[0]
    return f"{link.text} ({literal})" if is_literal and literal not in link.statement else link.text


def _with_command(origin: ValueOrigin, command: Sequence[str]) -> ValueOrigin:
    return msgspec.structs.replace(origin, command=shlex.join(command))
