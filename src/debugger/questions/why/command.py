"""Defines the command that follows a value back to its origin."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.command_registry import Argument, Option, register_command
from debugger.model.hit_filter import (
    EVERY_HIT,
    ONE_HIT_HELP,
    ONE_HIT_NUMBERS,
    HitFilter,
    is_plain_number,
    refuse_options,
    require_one_hit,
)
from debugger.questions.runner.question_arguments import (
    DEFAULT_RUN,
    GROUP,
    QuestionOptions,
    Words,
    run_options,
)

if TYPE_CHECKING:
    from debugger.model import answers
    from debugger.questions.runner.command_call import CommandCall
    from debugger.questions.runner.question_run import QuestionRun
    from debugger.questions.why.answer import Why
    from debugger.questions.why.why_request import WhyRequest

_TIMEOUT_S = 60.0
_SCRIPTS = (".py", ".js", ".go", ".rb", ".php")
# Languages in which a run counts the hits of a location, before those that follow the value.
_COUNTED = frozenset({"javascript", "java"})
_NO_VALUES = ("nil", "null", "undefined")
_WHY_HITS = refuse_options({}, help=ONE_HIT_HELP, unlisted=ONE_HIT_NUMBERS)


@register_command("why", group=GROUP)
async def why(
    call: CommandCall,
    expression: Annotated[str, Argument("EXPR", "a variable, a field, an element, as at LOC")],
    words: Words = (),
    *,
    at: Annotated[
        str | None,
        Option("--at", help="FILE:LINE, FUNCTION, crash, fail or exit", metavar="LOC"),
    ] = None,
    hits: Annotated[HitFilter, _WHY_HITS] = EVERY_HIT,
    every: Annotated[
        bool, Option("--all", help="show where each operand comes from, not only the guilty one")
    ] = False,
    options: Annotated[QuestionOptions, run_options("backend")] = DEFAULT_RUN,
) -> answers.Answer:
    """Follow a value back, link by link, to where it comes from.

    The chain ends at a constant, an input or an allocation. The program is run up to four times;
    each link is marked: seen in the run, seen in a rerun, or inferred from the source. Without a
    command the value is that of the session's stop.
    """
    from debugger.questions.runner.started_command import StartedLocation, ask_also_started
    from debugger.questions.why.why_request import check_expression, program_words

    expression = check_expression(expression)
    if not words:
        return await _trace_at_stop(call, expression, at, options.timeout, hits, shows_all=every)
    place = _require_location(at, expression)
    options = msgspec.structs.replace(options, words=words)
    again = ["--at", place, *hits.options(), *(("--all",) if every else ())]
    program = msgspec.structs.replace(options, words=program_words(words))

    async def ask(chosen: QuestionOptions, forks: tuple[int, ...]) -> Why:
        chosen = options if chosen is program else chosen
        return await _trace_at_place(call, chosen, forks, expression, place, hits, shows_all=every)

    location = StartedLocation(place, hits.when)
    answer, notes = await ask_also_started(call, program, location, ask)
    answer = msgspec.structs.replace(answer, notes=(*notes, *answer.notes))
    return _keep_answer(call, options.repeat_command([expression, *again]), answer)


async def _trace_at_place(  # noqa: PLR0917 - as they were given
    call: CommandCall,
    options: QuestionOptions,
    forks: tuple[int, ...],
    expression: str,
    place: str,
    hits: HitFilter,
    *,
    shows_all: bool,
) -> Why:
    """Follow a value from a location of a run."""
    import asyncio

    from debugger.model.location import ENDS
    from debugger.questions.locations import assigned_line, event_location
    from debugger.questions.locations.chosen_hit import explain_false_condition
    from debugger.questions.runner.question_build import build_question
    from debugger.questions.why.why_request import program_words

    loop = asyncio.get_running_loop()
    began = loop.time()
    event_name = place
    folder = options.cwd or call.cwd
    changed = program_words(options.words)
    program = msgspec.structs.replace(options, words=changed)
    if place in ENDS:
        event_location.refuse_filter(shlex.join(["why", expression, "--at", place]), place, hits)
        found = await event_location.locate_event(call, program, place)
        place, hits = found.place_from(call.cwd), HitFilter(nth=-1)
    question = await build_question(call, program)
    try:
        request, notes = await _why_request(call, program, question, expression, place, hits)
        request = msgspec.structs.replace(request, shows_all=shows_all, forks=forks)
        request = await _find_hit(call, options, program, question, request)
        request = msgspec.structs.replace(request, spent_s=loop.time() - began)
        answer = await _trace_or_find(call, options, program, question, request)
    except DebuggerError as error:
        error = assigned_line.explain_no_value("why", folder, place, expression, error)
        raise await explain_false_condition(call, program, place, hits.when, error) from error
    answer = _name_line_after(answer, folder)
    at_end = (f"--at {event_name} is the last hit of {place}",) if event_name != place else ()
    return msgspec.structs.replace(answer, notes=(*at_end, *notes, *answer.notes))


def _name_line_after(answer: Why, folder: str) -> Why:
    """Say of a value that nothing wrote that the location's own line assigns it."""
    from debugger.questions.locations.assigned_line import describe_unassigned
    from debugger.questions.why.answer import ChainEnd
    from debugger.questions.why.why_request import repeat_with

    found = None
    is_unset = answer.ended is ChainEnd.UNINITIALISED or answer.value in _NO_VALUES
    if is_unset and not answer.links:
        found = describe_unassigned(folder, answer.place, answer.expression)
    if found is None:
        return answer
    sentence, after = found
    ending = f"{sentence}: {repeat_with(answer.expression, after)}"
    return msgspec.structs.replace(answer, ended=ChainEnd.NOT_FOLLOWED, ending=ending)


async def _trace_or_find(
    call: CommandCall,
    options: QuestionOptions,
    program: QuestionOptions,
    question: QuestionRun,
    request: WhyRequest,
) -> Why:
    """Follow a value, in JavaScript from the crash that only the end of the program shows."""
    from debugger.model.location import CRASH
    from debugger.questions.why import trace_dispatch

    try:
        return await trace_dispatch.trace_value(call, question, request)
    except DebuggerError as error:
        # Behind an await V8 cannot tell what nobody will catch; the end of the program does.
        is_unseen = error.code is ErrorCode.NOT_FOUND and request.event == CRASH
        if not is_unseen or question.language != "javascript":
            raise
        found = await _find_event(call, options, request)
        request = await _find_hit(call, options, program, question, found)
        return await trace_dispatch.trace_value(call, question, request)


def _require_location(at: str | None, expression: str) -> str:
    if at is None:
        raise DebuggerError(
            ErrorCode.USAGE,
            "--at LOC is missing: the place at which the value is seen",
            hint=f"debugger why {expression} --at crash -- CMD, or --at FILE:LINE",
        )
    return at


async def _why_request(  # noqa: PLR0917 - as they were given
    call: CommandCall,
    options: QuestionOptions,
    question: QuestionRun,
    expression: str,
    at: str,
    hits: HitFilter,
) -> tuple[WhyRequest, tuple[str, ...]]:
    """Return the request, and notes on the hit that a run before has chosen."""
    from debugger.questions.locations import event_location
    from debugger.questions.locations.chosen_hit import ChosenHit, find_chosen_hit
    from debugger.questions.why.why_request import RUNS_PATIENT, RUNS_USUAL, USUAL_S, WhyRequest

    is_usual = options.timeout is None
    runs_most = RUNS_USUAL if is_usual else RUNS_PATIENT
    usual_s = USUAL_S if is_usual else 0.0
    if event_location.is_event(at):
        event_location.refuse_filter(shlex.join(["why", expression, "--at", at]), at, hits)
        request = WhyRequest(expression=expression, place=at, runs_most=runs_most, usual_s=usual_s)
        return request, ()
    target = question.target
    script = target.program
    current = script if script is not None and script.endswith(_SCRIPTS) else None
    spec = call.breakpoint_spec(at, near=[target.cwd], current=current, program=script)
    chosen = require_one_hit("why", hits)
    found, runs = ChosenHit(chosen.nth or 1), 0
    # These two do not count from the last hit by themselves.
    is_later = found.number < 0 and question.language in _COUNTED
    if is_later or not is_plain_number(chosen):
        found, runs = await find_chosen_hit(call, options, at, expression, chosen), 1
    request = WhyRequest(
        expression=expression,
        place=at,
        at=msgspec.structs.replace(spec, condition=hits.when),
        nth=found.number,
        when=hits.when or "",
        runs=runs,
        runs_most=runs_most,
        usual_s=usual_s,
    )
    return request, found.notes


async def _find_event(
    call: CommandCall, options: QuestionOptions, request: WhyRequest
) -> WhyRequest:
    """Return the request for the last hit of the line that an event happens at."""
    from debugger.model.location import FAIL
    from debugger.questions.locations import event_location
    from debugger.questions.why.why_request import at_go_failure

    found = await event_location.locate_event(call, options, request.place)
    spec = BreakpointSpec(file=found.file, line=found.line)
    runs = request.runs + 1
    if request.event == FAIL and options.words[:2] == ("go", "test"):
        request = msgspec.structs.replace(request, runs=runs)
        return at_go_failure(request, found.frame, (found.file, found.line))
    return msgspec.structs.replace(request, at=spec, nth=-1, is_thrown=True, runs=runs)


async def _find_hit(
    call: CommandCall,
    options: QuestionOptions,
    program: QuestionOptions,
    question: QuestionRun,
    request: WhyRequest,
) -> WhyRequest:
    """Return the request with the line of a failed test, and the number of a last hit.

    Python's recorder and gdb find both in their own runs.
    """
    from debugger.model.location import CRASH, FAIL
    from debugger.questions.locations.chosen_hit import find_chosen_hit
    from debugger.questions.why.why_request import is_call
    from debugger.recorders.script import script_recorder

    if question.language == "python":
        return request
    if request.event == FAIL and question.language == "rust" and is_call(request.expression):
        return msgspec.structs.replace(request, place=CRASH)
    is_script = question.language in script_recorder.LANGUAGES
    if request.event == FAIL or (is_script and request.event == CRASH):
        request = await _find_event(call, options, request)
    at = request.at
    if request.is_last and at is not None and question.language in _COUNTED:
        place = f"{at.file}:{at.line}"
        hits = HitFilter(nth=request.nth)
        found = await find_chosen_hit(call, program, place, request.expression, hits)
        request = msgspec.structs.replace(request, nth=found.number, runs=request.runs + 1)
    return request


async def _trace_at_stop(
    call: CommandCall,
    expression: str,
    at: str | None,
    timeout: float | None,
    hits: HitFilter,
    *,
    shows_all: bool,
) -> answers.Answer:
    """Follow a value at the stop of the session, whose program is run again."""
    from debugger.questions.runner.stopped_session import locate_stop, question_of_session
    from debugger.questions.why import trace_dispatch
    from debugger.questions.why.why_request import USUAL_S, WhyRequest

    if at is not None:
        raise DebuggerError(
            ErrorCode.USAGE,
            "--at LOC needs the command to run",
            hint=f"debugger why {expression} --at {at} -- CMD; at a stop: debugger why EXPR",
        )
    if hits:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{hits.options()[0]} chooses a hit of --at LOC, and the session's stop is one already",
            hint=f"debugger why {shlex.quote(expression)}",
        )
    session = call.current_session()
    stop = await session.run_job(lambda: locate_stop(session, verb="why"))
    request = WhyRequest(
        expression=expression,
        place=stop.place,
        at=stop.at,
        nth=stop.nth,
        when=stop.when,
        frame=stop.frame,
        shows_all=shows_all,
        usual_s=USUAL_S if timeout is None else 0.0,
    )
    question = await question_of_session(call, session, verb="why", seconds=timeout or _TIMEOUT_S)
    answer = await trace_dispatch.trace_value(call, question, request)
    answer = msgspec.structs.replace(answer, notes=(*stop.notes, *answer.notes))
    every = ("--all",) if shows_all else ()
    again = ("debugger", "--session", session.name, "why", expression, *every)
    return _keep_answer(call, again, answer)


def _keep_answer(call: CommandCall, again: tuple[str, ...], answer: Why) -> Why:
    from debugger.questions.runner.evidence_store import files_of
    from debugger.questions.runner.question_build import keep_evidence

    frames = [answer.frame, *(one.frame for one in answer.links)]
    return keep_evidence(
        call, again, answer, summary=answer.cause, files=files_of([one for one in frames if one])
    )
