"""Defines the command that finds the code that wrote a value."""

from __future__ import annotations

import re
import shlex
from functools import partial
from typing import TYPE_CHECKING, Annotated

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.command_registry import Argument, Option, register_command
from debugger.model.debugger_words import one_line
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
    options_of,
    run_options,
)

if TYPE_CHECKING:
    from debugger.model import answers
    from debugger.questions.runner.command_call import CommandCall
    from debugger.questions.runner.question_run import QuestionRun
    from debugger.questions.who_wrote.answer import WhoWrote
    from debugger.questions.who_wrote.value_writers import WriteRequest

_COUNT_MAX = 100_000
_TIMEOUT_S = 60.0
# --until and --limit have another meaning here.
_RUN = run_options(timeout_help="seconds for each run (60)")
_LOC_HITS = refuse_options(
    {},
    help=ONE_HIT_HELP,
    also={"nth": ("--hit",), "first": ()},
    without=frozenset({"until"}),
    unlisted=ONE_HIT_NUMBERS,
)


@register_command("who-wrote", group=GROUP)
async def who_wrote(
    call: CommandCall,
    expression: Annotated[str, Argument("EXPR", "a variable, a field, an element, as at LOC")],
    words: Words = (),
    *,
    at: Annotated[
        str | None,
        Option(
            "--at", help="where to read it: FILE:LINE, FUNCTION, crash, fail or exit", metavar="LOC"
        ),
    ] = None,
    hits: Annotated[HitFilter, _LOC_HITS] = EVERY_HIT,
    until: Annotated[
        str | None, Option("--until", help="report writes after LOC only up to here", metavar="LOC")
    ] = None,
    limit: Annotated[
        int | None, Option("--limit", help="most writes before LOC, and after (1000)", metavar="N")
    ] = None,
    options: Annotated[
        QuestionOptions, run_options(timeout_help="seconds for each run (60)")
    ] = DEFAULT_RUN,
) -> answers.Answer:
    """Say which line wrote a value last before a location, and which others wrote it.

    Compiled programs are run twice, with hardware watchpoints; Python, Ruby and PHP are recorded
    once.
    Each line that wrote is shown with its number of writes, the first and the last values, and its
    callers. Without a location and a command the value is that of the session's stop.
    """
    from debugger.questions.locations import event_location
    from debugger.questions.runner.evidence_store import files_of
    from debugger.questions.runner.question_build import keep_evidence
    from debugger.questions.runner.started_command import StartedLocation, ask_also_started

    if at is None and not words and call.sessions.current is not None:
        return await _writers_at_stop(call, expression, limit, options)
    if at is None:
        # FILE:LINE is no expression: it was meant as the place.
        means_place = re.fullmatch(r"[^\s:]+:\d+", expression) is not None
        quoted = shlex.quote(expression)
        example = f"EXPR --at {quoted}" if means_place else f"{quoted} --at LOC"
        command = shlex.join(words) or "CMD"
        raise DebuggerError(
            ErrorCode.USAGE,
            "--at LOC is missing: the place at which the value is seen",
            hint=f"debugger who-wrote {example} -- {command}",
        )
    one_line(expression)
    chosen = require_one_hit("who-wrote", hits)
    _check_count("--limit", limit)
    requested = msgspec.structs.replace(options, words=words)
    if event_location.is_event(at):
        event_location.refuse_filter(shlex.join(["who-wrote", expression, "--at", at]), at, hits)

    async def ask(program: QuestionOptions, forks: tuple[int, ...]) -> WhoWrote:
        assert not forks  # a watchpoint stays with the program
        return await _writers_at_place(call, program, expression, at, chosen, until, limit)

    location = StartedLocation(at, chosen.when)
    why = msgspec.structs.replace(requested, verb="why")
    way = why.repeat_command([expression, "--at", at, *hits.options()])
    answer, notes = await ask_also_started(
        call, requested, location, ask, forked_hint=shlex.join(way)
    )
    answer = msgspec.structs.replace(answer, notes=(*notes, *answer.notes))
    again = [
        *("--at", at, *hits.options()),
        *options_of(("--until", until), ("--limit", limit)),
    ]
    return keep_evidence(
        call,
        requested.repeat_command([expression, *again]),
        answer,
        summary=answer.cause,
        files=files_of([answer.frame, *(one.frame for one in answer.writers)]),
    )


async def _writers_at_place(  # noqa: PLR0917 - as they were given
    call: CommandCall,
    requested: QuestionOptions,
    expression: str,
    place: str,
    chosen: HitFilter,
    until: str | None,
    limit: int | None,
) -> WhoWrote:
    """Find the writers of a value at a location of a run."""
    from debugger.questions.locations import assigned_line, event_location
    from debugger.questions.locations.chosen_hit import (
        ChosenHit,
        explain_false_condition,
        find_chosen_hit,
    )
    from debugger.questions.runner.question_build import build_question

    if event_location.is_event(place):
        there = await event_location.locate_event(call, requested, place)
        place = there.place_from(call.cwd)
        chosen = HitFilter(nth=-1)
    made = await build_question(call, requested)
    found = ChosenHit(chosen.nth or 1)
    when = chosen.when
    try:
        if found.number < 0 or not is_plain_number(chosen):
            found = await find_chosen_hit(call, requested, place, expression, chosen)
        request = _write_request(
            call, made, expression, place, found.number, until, limit, when or ""
        )
        answer = await _writers_answer(call, requested, made, request)
    except DebuggerError as error:
        folder = requested.cwd or call.cwd
        error = assigned_line.explain_no_value("who-wrote", folder, place, expression, error)
        raise await explain_false_condition(call, requested, place, when, error) from error
    return msgspec.structs.replace(answer, notes=(*found.notes, *answer.notes))


async def _writers_at_stop(
    call: CommandCall, expression: str, limit: int | None, options: QuestionOptions
) -> answers.Answer:
    """Find the writers of a value at the stop of the session, whose program is run again."""
    from debugger.backends.base import LaunchTarget
    from debugger.questions.runner.command_call import launch_argv
    from debugger.questions.runner.evidence_store import files_of
    from debugger.questions.runner.question_build import keep_evidence
    from debugger.questions.runner.stopped_session import locate_stop, question_of_session
    from debugger.questions.who_wrote.value_writers import WriteRequest

    one_line(expression)
    _check_count("--limit", limit)
    session = call.current_session()
    stop = await session.run_job(lambda: locate_stop(session, verb="who-wrote"))
    seconds = options.timeout or _TIMEOUT_S
    made = await question_of_session(call, session, verb="who-wrote", seconds=seconds)
    if stop.at is None:
        program = launch_argv(made.target) if isinstance(made.target, LaunchTarget) else []
        words = shlex.join(["who-wrote", expression, "--at", stop.place, "--", *program])
        raise DebuggerError(
            ErrorCode.USAGE,
            "the value at a crash is read in a run of its own",
            hint=f"debugger {words}",
        )
    request = WriteRequest(
        expression=expression,
        at=stop.at,
        place=stop.place,
        hit=stop.nth,
        limit=limit or WriteRequest.limit,
        when=stop.when,
        frame=stop.frame,
    )
    answer = await _writers_answer(call, options, made, request)
    answer = msgspec.structs.replace(answer, notes=(*stop.notes, *answer.notes))
    return keep_evidence(
        call,
        ("debugger", "--session", session.name, "who-wrote", expression),
        answer,
        summary=answer.cause,
        files=files_of([answer.frame, *(one.frame for one in answer.writers)]),
    )


def _check_count(flag: str, number: int | None) -> None:
    if number is not None and not 1 <= number <= _COUNT_MAX:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{flag} is 1 to {_COUNT_MAX:,}, not {number}",
            hint="debugger who-wrote --help",
        )


def _write_request(  # noqa: PLR0917 - as they were given
    call: CommandCall,
    made: QuestionRun,
    expression: str,
    at: str,
    hit: int,
    until: str | None,
    limit: int | None,
    when: str,
) -> WriteRequest:
    from debugger.questions.who_wrote.value_writers import WriteRequest

    target = made.target
    script = target.program
    near = [target.cwd]
    current = (
        script
        if script is not None and script.endswith((".py", ".js", ".go", ".rb", ".php"))
        else None
    )

    def spec(words: str) -> BreakpointSpec:
        return call.breakpoint_spec(words, near=near, current=current, program=script)

    return WriteRequest(
        expression=expression,
        at=msgspec.structs.replace(spec(at), condition=when or None),
        place=at,
        hit=hit,
        until=spec(until) if until is not None else None,
        limit=limit or WriteRequest.limit,
        when=when,
    )


async def _writers_answer(
    call: CommandCall, options: QuestionOptions, made: QuestionRun, request: WriteRequest
) -> WhoWrote:
    from debugger.backends.base import LaunchTarget
    from debugger.questions.who_wrote import (
        agent_writes,
        javascript_recording,
        javascript_writes,
        php_writes,
        python_writes,
        watched_writes,
    )
    from debugger.questions.why import last_write

    target = made.target
    assert isinstance(target, LaunchTarget)  # what is run, and not attached to
    if target.python is not None and options.adapter is None:
        call.scratch_root.mkdir(mode=0o700, parents=True, exist_ok=True)
        scratch = call.scratch_root
        return await python_writes.who_wrote(target, made.patience, request, scratch=scratch)
    if made.language == "javascript":
        recorded = await javascript_recording.who_wrote(call, made, request)
        return recorded or await javascript_writes.who_wrote(made, request)
    if made.language == "php":
        return await php_writes.who_wrote(made, request)
    if made.language in agent_writes.LANGUAGES:
        return await agent_writes.who_wrote(made, request)
    is_go = made.language == "go"
    unseen = partial(last_write.find_last_write, call, made, request) if is_go else None
    return await watched_writes.who_wrote(made, request, unseen)
