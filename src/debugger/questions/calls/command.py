"""Defines the command that reports single calls of a function, line by line."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.command_registry import Argument, Option, register_command
from debugger.model.hit_filter import (
    EVERY_HIT,
    HitEvent,
    HitFilter,
    refuse_options,
    require_one_condition,
)
from debugger.questions.runner.question_arguments import (
    DEFAULT_RUN,
    GROUP,
    RECORDED_RUN,
    QuestionOptions,
    Words,
    options_of,
)

if TYPE_CHECKING:
    from debugger.model import answers
    from debugger.questions.calls.answer import Calls
    from debugger.questions.recordings.recorded_run import RecordedProgram
    from debugger.questions.recordings.stepped_calls import CallFilter
    from debugger.questions.runner.command_call import CommandCall

_CALL_HITS = refuse_options(
    {},
    help={
        "when": "only calls for which it is true at entry; also --if, --condition, -c",
        "nth": "the call of this number: 3, last, -2",
        "last": "only the last N calls",
        "changes": "only calls whose arguments differ from the call before",
        "thread": "only calls of this thread",
        "inside": "only calls below a call of this function",
    },
    without=frozenset({"first"}),
    takes_thread_names=True,
)
_Limit = Annotated[
    int | None,
    Option(
        "--limit", help="calls shown line by line (3); also --first", metavar="N", also=("--first",)
    ),
]


@register_command("calls", group=GROUP)
async def calls(
    call: CommandCall,
    function: Annotated[str, Argument("FUNC", "a function, 'Class.*', or FILE:LINE in it")],
    words: Words = (),
    *,
    hits: Annotated[HitFilter, _CALL_HITS] = EVERY_HIT,
    depth: Annotated[
        int, Option("--depth", help="levels of nested calls to show (1)", metavar="N")
    ] = 1,
    limit: _Limit = None,
    options: Annotated[QuestionOptions, RECORDED_RUN] = DEFAULT_RUN,
) -> answers.Answer:
    """Run a command, and show calls of a function line by line: what changed, what was called.

    For each call: its arguments, the lines that ran with what they changed and the calls they made,
    the branches taken, and the returned value or exception. Loop iterations are folded: the first
    and the last of each way through the loop, and what varies.
    """
    from debugger.questions.calls import calls_question as questions
    from debugger.questions.recordings.saved_runs import recorded_programs
    from debugger.questions.runner.question_build import keep_evidence

    requested = msgspec.structs.replace(options, words=words)
    (program,) = await recorded_programs(call, requested)
    when = require_one_condition("calls", hits) or ""
    filtered = _call_filter(call, program, hits)
    nth = hits.nth
    if hits.kept_last:
        is_filtered = bool(when or filtered.hits)
        nth = await _first_of_last(program, function, hits, limit, is_filtered=is_filtered)
    notes: tuple[str, ...] = (program.note,) if program.note else ()
    if program.is_python and (hits.after or hits.until):
        filtered, notes = await _numbered_calls(call, requested, function, hits)
    record = partial(
        questions.record_calls,
        function=function,
        nth=nth,
        when=when,
        depth=depth,
        limit=hits.last or limit,
        filtered=filtered,
    )
    recording = _record_also_started(call, requested, program, record)
    answer = await _explain_no_call(call, requested, function, when, recording)
    answer = msgspec.structs.replace(answer, notes=(*notes, *answer.notes))
    shown = options_of(("--depth", depth if depth != 1 else None), ("--limit", limit))
    return keep_evidence(
        call,
        requested.repeat_command([function, *hits.options(), *shown]),
        answer,
        summary=_evidence_summary(answer),
        files=[one.file for one in answer.lives],
    )


async def _record_also_started(
    call: CommandCall,
    requested: QuestionOptions,
    program: RecordedProgram,
    record: Callable[[RecordedProgram], Awaitable[Calls]],
) -> Calls:
    """Record calls of a program, or with none those of the processes that it starts."""
    from debugger.questions.recordings.saved_runs import recorded_programs
    from debugger.questions.runner import started_processes

    try:
        return await record(program)
    except DebuggerError as error:
        if error.code is not ErrorCode.NOT_FOUND or program.question is None:
            raise
        following = await started_processes.follow_started(call, requested, program.question)
        if following is None:
            raise
        (again,) = await recorded_programs(call, following)
        try:
            # Of what is started no calls are traced.
            answer = await record(msgspec.structs.replace(again, traced=None))
        except DebuggerError:
            raise error from None
    notes = (*answer.notes, started_processes.follower_note(following))
    return msgspec.structs.replace(answer, notes=notes)


async def _explain_no_call(
    call: CommandCall,
    options: QuestionOptions,
    function: str,
    when: str,
    recording: Awaitable[Calls],
) -> Calls:
    """Return the recorded calls, or with none the values that the condition had."""
    from debugger.questions.locations.chosen_hit import condition_values

    try:
        answer = await recording
    except DebuggerError as error:
        is_unmet = error.code is ErrorCode.NOT_FOUND and when
        values = await condition_values(call, options, function, when) if is_unmet else ""
        if not values:
            raise
        text = f"no call of {function} meets --when {shlex.quote(when)}; {values}"
        raise DebuggerError(error.code, text, hint=error.hint) from error
    if answer.lives or not when:
        return answer
    values = await condition_values(call, options, function, when)
    notes = (*answer.notes, values) if values else answer.notes
    return msgspec.structs.replace(answer, notes=notes)


async def _first_of_last(
    program: RecordedProgram,
    function: str,
    hits: HitFilter,
    limit: int | None,
    *,
    is_filtered: bool,
) -> int:
    """Return the number of the first of the last calls, by a run before."""
    from debugger.questions.calls import calls_question as questions

    if limit is not None and hits.last is not None:
        raise DebuggerError(
            ErrorCode.USAGE,
            "--last and --limit exclude each other: each chooses calls by number",
            hint="give one of them",
        )
    return await questions.number_from_end(
        program, function, hits.kept_last, is_filtered=is_filtered
    )


def _call_filter(call: CommandCall, program: RecordedProgram, hits: HitFilter) -> CallFilter:
    """Return the filter without its condition and its numbers, with its events' locations."""
    from debugger.questions.recordings.stepped_calls import CallFilter

    launch = program.launch
    near = [launch.cwd, *([str(Path(launch.program).parent)] if launch.program else [])]

    def located(event: HitEvent | None) -> BreakpointSpec | None:
        if event is None:
            return None
        spec = call.breakpoint_spec(
            event.place, near=near, current=launch.program, program=launch.program
        )
        return msgspec.structs.replace(spec, condition=event.when)

    rest = msgspec.structs.replace(hits, conditions=(), nth=None, first=None, last=None)
    return CallFilter(rest, located(hits.after), located(hits.until))


async def _numbered_calls(
    call: CommandCall, options: QuestionOptions, function: str, hits: HitFilter
) -> tuple[CallFilter, tuple[str, ...]]:
    """Return the numbers of the calls that a filter with events chooses, by a run before."""
    from debugger.output.location_text import format_count
    from debugger.questions.locations.chosen_hit import find_chosen_numbers
    from debugger.questions.recordings.stepped_calls import CallFilter

    chosen = msgspec.structs.replace(hits, nth=None, conditions=())
    numbers = await find_chosen_numbers(call, options, function, chosen)
    text = shlex.join(chosen.options())
    note = f"{text}: {format_count(len(numbers), 'call')} of {function}, by a run before"
    return CallFilter(numbers=numbers), (note,)


def _evidence_summary(answer: Calls) -> str:
    first = answer.lives[0] if answer.lives else None
    if first is None:
        return f"{answer.function}: {answer.seen:,} calls, none of them meant"
    ended = first.error if first.error is not None else first.value
    return f"{answer.function}: {answer.seen:,} calls, #{first.number} gave {ended}"
