"""Follows a value of Java back, by runs in which our adapter records what gives values."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec
from msgspec import Struct

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.answers.frames import FrameView
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.events import State
from debugger.model.location import CRASH, FAIL
from debugger.model.program import EvaluationPurpose
from debugger.questions.runner import question_run
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_run import QuestionRun, RunningQuestion
from debugger.questions.who_wrote.value_writers import WriteRequest
from debugger.questions.who_wrote.watched_writes import reach_location
from debugger.questions.why.answer import (
    ChainEnd,
    LinkCertainty,
    LinkKind,
    ValueOperand,
    Why,
    WhyLink,
    chain_cause,
)
from debugger.questions.why.why_request import WhyRequest, repeat_with
from debugger.session import inspection, source_files
from debugger.session.session import Session

_RECORD = "DEBUGGER_JAVA_RECORD"
_METHOD = "the bytecode, with breakpoints and field watchpoints that record from the start"
_THROWN_MAX = 1_000  # exceptions of a test that are passed
_LEVELS = 40  # frames of an assertion's library above the test
_NOT_AGAIN = "the last run did not come to the place again"
_Site = tuple[str, str, int]  # function, file, line


class _Operand(Struct, rename="camel"):
    text: str
    value: str | None = None
    is_followed: bool = False


class _Link(Struct, rename="camel"):
    kind: str
    text: str
    frame: _Site
    stack: tuple[_Site, ...] = ()
    thread: str = ""
    is_inferred: bool = False
    old: str | None = None
    new: str | None = None
    details: tuple[str, ...] = ()
    operands: tuple[_Operand, ...] = ()


class JavaChain(Struct, rename="camel"):
    """What one run has shown of a chain, and what the next one is to record."""

    expression: str
    frame: _Site
    value: str | None = None
    links: tuple[_Link, ...] = ()
    ended: str = ChainEnd.NOT_FOLLOWED.value
    ending: str = ""
    # What the chain needs, and what it may need further back by the code.
    wanted: tuple[str, ...] = ()
    supposed: tuple[str, ...] = ()


async def trace_value(call: CommandCall, question: QuestionRun, request: WhyRequest) -> Why:
    """Run a program of the JVM, and follow the value of an expression at a location back.

    Raises:
        DebuggerError: NOT_FOUND if the location is not reached, EVALUATION_FAILED for an
        expression without a value there.
    """
    del call
    return await _trace(question, request)


@dataclass
class CrashChain:
    """What the run to a crash or a failed test itself shows of its value's chain.

    It stands for the first run, which of a test is one of the build tool's, too.
    """

    chain: JavaChain | None = None
    is_read: bool = False
    # Where it is thrown, if a library catches it: further runs stop there at all that is raised.
    thrown_at: FrameView | None = None
    # What a failed test throws: each stop at another exception would cost a further run its time.
    thrown_type: str | None = None

    async def read_once(self, run: RunningQuestion, stop: answers.Stop) -> None:
        """Follow the value of the failed instruction at the first stop; later ones change nothing.

        Raises:
            DebuggerError: What is not of the expression, as ADAPTER_DIED.
        """
        if self.is_read:
            return
        self.is_read = True
        session = run.session_of(stop)
        request = WhyRequest(expression="", place=CRASH)
        if any(one.spec.catch == "raised" for one in session.breakpoints.user_breakpoints()):
            self.thrown_at = stop.frame
        await self._read_chain(session, request, None)

    async def read_failure(self, run: RunningQuestion, stop: answers.Stop, at: FrameView) -> None:
        """Follow the value that a test looked at, where it throws what its runner catches.

        Raises:
            DebuggerError: What is not of the expression, as ADAPTER_DIED.
        """
        session = run.session_of(stop)
        number = await _find_frame(session, stop.thread or 0, (at.file, at.line))
        if number is not None:
            self.is_read = True
            specs = (one.spec for one in session.breakpoints.user_breakpoints())
            self.thrown_type = next((one.type for one in specs if one.catch == "raised"), None)
            await self._read_chain(session, WhyRequest(expression="", place=FAIL), number)

    async def _read_chain(self, session: Session, request: WhyRequest, number: int | None) -> None:
        try:
            text = await session.run_job(lambda: _read_origin(session, request, number))
        except DebuggerError as error:
            # The crash is about no value: a further run would find none either.
            if error.code is not ErrorCode.EVALUATION_FAILED:
                raise
        else:
            self.chain = msgspec.json.decode(json.loads(text), type=JavaChain)


async def trace_crash(question: QuestionRun, crash: CrashChain) -> Why | None:
    """Follow the value of a crash back, from what its own run shows; None without a value."""
    if crash.is_read and crash.chain is None:
        return None
    request = WhyRequest(expression="", place=CRASH)
    if crash.thrown_at is not None:
        spec = BreakpointSpec(file=crash.thrown_at.file, line=crash.thrown_at.line)
        request = WhyRequest(expression="", place=FAIL, at=spec)
    return await _trace(question, request, crash.chain)


async def trace_failure(question: QuestionRun, at: FrameView, failure: CrashChain) -> Why | None:
    """Run a test that fails, and follow the value that the failed instruction is about.

    Args:
        question: The run of the program.
        at: Where the test throws what its runner catches.
        failure: What the run to the failure has shown.

    Returns:
        None where the failure is about no value, by that run.

    Raises:
        DebuggerError: EVALUATION_FAILED where it is about none.
    """
    if failure.is_read and failure.chain is None:
        return None
    spec = BreakpointSpec(file=at.file, line=at.line)
    request = WhyRequest(expression="", place=FAIL, at=spec, thrown_type=failure.thrown_type)
    return await _trace(question, request, failure.chain)


async def _trace(question: QuestionRun, request: WhyRequest, first: JavaChain | None = None) -> Why:
    # Each run comes to the location anew and follows the whole chain there, through what it has
    # recorded. What was not recorded is requested for the next run: objects are compared within one
    # run only, and no link depends on two.
    began = asyncio.get_running_loop().time()
    bound_s = request.seconds_for(question.patience.seconds, 0)
    until = began - request.spent_s + bound_s
    keys = _list_keys(first, ()) if first is not None else []
    found = first
    runs, notes = request.runs + (first is not None), list[str]()
    while runs < request.runs_most and (keys or found is None):
        runs += 1
        try:
            # The time is over at once where a run is too long for it: then none is begun.
            async with asyncio.timeout_at(until if found is not None else None):
                chain = await _run_once(question, request, keys)
        except TimeoutError:
            notes.append(f"the time for further runs was over after {bound_s:.0f} s")
            break
        except DebuggerError as error:
            if found is None or error.code is not ErrorCode.NOT_FOUND:
                raise
            notes.append(_NOT_AGAIN)
            break
        if found is None:  # a build tool's run takes many seconds
            run_s = asyncio.get_running_loop().time() - began
            bound_s = request.seconds_for(question.patience.seconds, run_s)
            until = began - request.spent_s + bound_s
        found = chain
        further = _list_keys(chain, keys)
        if not further:
            break
        keys += further
    assert found is not None
    return _build_answer(request, found, runs, asyncio.get_running_loop().time() - began, notes)


def _list_keys(chain: JavaChain, known: Sequence[str]) -> list[str]:
    """Return what a further run is to record; nothing where the chain needs no more."""
    missing = [one for one in chain.wanted if one not in known]
    supposed = [one for one in chain.supposed if one not in known] if missing else []
    return list(dict.fromkeys((*missing, *supposed)))


async def _run_once(question: QuestionRun, request: WhyRequest, keys: Sequence[str]) -> JavaChain:
    """Run the program to the location, and follow the chain there."""
    at = request.at if request.at is not None else BreakpointSpec(catch="uncaught")
    is_thrown = not request.expression and request.place == FAIL
    target = question.target
    assert isinstance(target, LaunchTarget)
    env = {**target.env, _RECORD: "\n".join(keys)}
    target = msgspec.structs.replace(target, env=env)
    stops = BreakpointSpec(catch="raised", type=request.thrown_type) if is_thrown else at
    question = replace(question, target=target, breakpoints=(stops,))
    located = WriteRequest(
        expression=request.expression,
        at=at,
        place=request.place,
        hit=request.nth,
        when=request.when,
    )
    async with question_run.run_question(question) as run:
        number = request.frame or None
        if is_thrown:
            session, number = await _reach_failure(run, at)
        else:
            session = run.session_of(await reach_location(run, located))
        try:
            text = await session.run_job(lambda: _read_origin(session, request, number))
        except DebuggerError as error:
            raise _explain(error, request) from error
    return msgspec.json.decode(json.loads(text), type=JavaChain)


async def _reach_failure(run: RunningQuestion, at: BreakpointSpec) -> tuple[Session, int]:
    """Run to where a test throws, among all that is thrown; return its session and frame.

    Raises:
        DebuggerError: NOT_FOUND if nothing is thrown at the line.
    """
    stop = await run.wait_first()
    for _ in range(_THROWN_MAX):
        if stop.state != State.STOPPED.value:
            break
        session = run.session_of(stop)
        number = await _find_frame(session, stop.thread or 0, (at.file, at.line))
        if number is not None:
            return session, number
        stop = await run.go_on(session)
    raise DebuggerError(ErrorCode.NOT_FOUND, "a further run did not fail at the same line")


async def _find_frame(
    session: Session, thread: int, at: tuple[str | None, int | None]
) -> int | None:
    """Return the innermost frame of a stopped thread at a file and line; None if none is."""
    stack = await session.run_job(lambda: session.backend.read_stack(thread, levels=_LEVELS))
    return next((one.index for one in stack.frames if (one.file, one.line) == at), None)


async def _read_origin(session: Session, request: WhyRequest, number: int | None) -> str:
    frame = await inspection.frame_of(session, number)
    expression = f"$origin({request.expression})"
    found = await session.backend.evaluate(expression, frame, EvaluationPurpose.EVALUATE)
    return found.value


def _explain(error: DebuggerError, request: WhyRequest) -> DebuggerError:
    """Return the adapter's error about the expression, with a hint for the question."""
    if error.code is not ErrorCode.EVALUATION_FAILED:
        return error
    return DebuggerError(error.code, error.message, hint=repeat_with("NAME", request.place))


def _build_answer(
    request: WhyRequest, chain: JavaChain, runs: int, took_s: float, notes: Sequence[str]
) -> Why:
    links = tuple(_to_link(one) for one in chain.links)
    value = f"{chain.expression}={chain.value if chain.value is not None else '?'}"
    ending = chain.ending
    if chain.wanted:
        again = repeat_with(chain.expression, request.place, "--timeout 120")
        ending = f"after {runs} runs: {ending}; {again} makes more of them"
    return Why(
        expression=chain.expression,
        place=request.place,
        cause=chain_cause(value, links, f"{value}: {ending}"),
        value=chain.value,
        frame=_to_view(chain.frame),
        links=links,
        ended=ChainEnd(chain.ended),
        ending=ending,
        runs=runs,
        method=_METHOD,
        took_s=round(took_s, 1),
        notes=tuple(notes),
    )


def _to_link(one: _Link) -> WhyLink:
    return WhyLink(
        kind=LinkKind(one.kind),
        certainty=LinkCertainty.INFERRED if one.is_inferred else LinkCertainty.SEEN,
        text=one.text,
        frame=_to_view(one.frame),
        statement=_read_statement(one.frame),
        thread=one.thread or None,
        stack=tuple(_to_view(site, at) for at, site in enumerate(one.stack, 1)),
        old=one.old,
        new=one.new,
        details=one.details,
        operands=tuple(
            ValueOperand(each.text, each.value, each.is_followed) for each in one.operands
        ),
    )


def _to_view(site: _Site, index: int = 0) -> FrameView:
    function, file, line = site
    return FrameView(index, function, file or None, line or None)


def _read_statement(site: _Site) -> str:
    _, file, line = site
    lines = source_files.read_source(file) if file.startswith("/") else None
    return lines[line - 1].strip() if lines and 0 < line <= len(lines) else ""
