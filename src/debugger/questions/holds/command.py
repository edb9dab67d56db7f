"""Defines the command that checks invariants over a run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import Argument, Option, register_command
from debugger.model.hit_filter import EVERY_HIT, HitFilter, Refusal, refuse_options
from debugger.questions.runner.question_arguments import (
    DEBUGGED_RUN,
    DEFAULT_RUN,
    GROUP,
    QuestionOptions,
    Words,
    options_of,
)

if TYPE_CHECKING:
    from debugger.model import answers
    from debugger.questions.holds.answer import Holds
    from debugger.questions.holds.check_request import CheckRequest
    from debugger.questions.runner.command_call import CommandCall
    from debugger.questions.runner.question_run import QuestionRun

_EXPLAINED_MAX = 2  # locations that were not reached, each by a run of its own
_VALUES = "debugger probe --at LOC 'EXPR' --last N -- CMD shows its value at the last hits"
_CHECK_HITS = refuse_options(
    {
        "last": Refusal("it ends at the first check that is false", _VALUES),
        "changes": Refusal(
            "it reports the first change to false",
            "debugger probe --at LOC 'EXPR' --changes -- CMD shows each change",
        ),
    },
    help={
        "when": "only checks at which it is true; also --if, --condition, -c",
        "nth": "only the check of this number at each place",
        "first": "only the first N checks of each place; also --limit",
        "thread": "only checks of this thread",
        "after": "only checks after this hit: LOC, or 'LOC if COND'",
        "until": "only checks before this one",
    },
    # --in is a place of checks here.
    without=frozenset({"inside"}),
)


@register_command("holds", group=GROUP)
async def holds(
    call: CommandCall,
    expression: Annotated[str, Argument("EXPR", "what should be true: 'n <= len(rows)'")],
    words: Words = (),
    *,
    also: Annotated[
        tuple[str, ...],
        Option("--and", help="a further invariant, of the same run", metavar="EXPR"),
    ] = (),
    at: Annotated[
        tuple[str, ...], Option("--at", help="FILE:LINE, FUNCTION, crash or fail", metavar="LOC")
    ] = (),
    each: Annotated[
        tuple[str, ...],
        Option("--each", help="at entry and exit of functions: 'Base.*'", metavar="PATTERN"),
    ] = (),
    scopes: Annotated[
        tuple[str, ...],
        Option("--in", help="at each line and return in it", metavar="FILE|FUNCTION"),
    ] = (),
    hits: Annotated[HitFilter, _CHECK_HITS] = EVERY_HIT,
    against: Annotated[
        str | None,
        Option("--against", help="JSON or a literal, `known` in EXPR", metavar="FILE"),
    ] = None,
    options: Annotated[QuestionOptions, DEBUGGED_RUN] = DEFAULT_RUN,
) -> answers.Answer:
    """Check that an expression is true at places of a run, and find what first made it false.

    The first run checks it at each place: --at, --each, --in. A second run is followed from the
    last good check to the first false one, to the statement after which it is false. EXPR may call
    the program's functions: 'is_sorted(rows)'. At an exit, `result` is the returned value (Python).
    """
    from debugger.questions.holds.check_request import build_request, parse_expressions
    from debugger.questions.runner.question_build import build_question, keep_evidence
    from debugger.questions.runner.started_command import StartedLocation, ask_also_started

    more, words = _split_words(call, words)
    also = (*more, *also)
    expressions = parse_expressions([expression, *also])
    if hits.kept_last:
        raise DebuggerError(
            ErrorCode.USAGE,
            "holds cannot count checks from the last one: it ends at the first false one",
            hint=_VALUES,
        )
    options = msgspec.structs.replace(options, words=words)

    async def ask(program: QuestionOptions, forks: tuple[int, ...]) -> Holds:
        del forks  # it checks all processes
        question = await build_question(call, program)
        places, notes = await _resolve_events(call, program, at)
        request = build_request(
            call,
            question,
            expressions,
            at=places,
            each=each,
            scopes=scopes,
            hits=hits,
            against=against,
        )
        answer = await _check(call, program, question, request)
        answer = await _explain_no_check(call, program, request, answer)
        return msgspec.structs.replace(answer, notes=(*notes, *answer.notes))

    location = StartedLocation(at[0]) if at else StartedLocation()
    answer, notes = await ask_also_started(call, options, location, ask)
    answer = msgspec.structs.replace(answer, notes=(*notes, *answer.notes))
    again = [
        *hits.options(),
        *options_of(
            *(("--and", one) for one in also),
            *(("--at", one) for one in at),
            *(("--each", one) for one in each),
            *(("--in", one) for one in scopes),
            ("--against", against),
        ),
    ]
    return keep_evidence(
        call,
        options.repeat_command([expression, *again]),
        answer,
        summary=_evidence_summary(answer),
        files=[file for one in answer.invariants if (file := _quoted_file(one)) is not None],
    )


async def _resolve_events(
    call: CommandCall, options: QuestionOptions, at: tuple[str, ...]
) -> tuple[list[str], tuple[str, ...]]:
    """Return the lines of the crash and of the failing assertion in the place of their names."""
    from debugger.questions.locations import event_location

    event_location.refuse_ends("holds", at)
    places, notes = [], []
    for one in at:
        if not event_location.is_event(one):
            places.append(one)
            continue
        found = await event_location.locate_event(call, options, one)
        places.append(found.place_from(call.cwd))
        notes.append(f"--at {one} is {places[-1]}: {found.what}; each hit of that line is checked")
    return places, tuple(notes)


async def _explain_no_check(
    call: CommandCall, options: QuestionOptions, request: CheckRequest, answer: Holds
) -> Holds:
    """Add to an answer without checks why there were none: the filter, or places not reached."""
    from debugger.questions.locations.chosen_hit import condition_values, explain_unreached

    if answer.checks or answer.timed_out:
        return answer
    if not request.hits:
        reasons = [
            f"{one}: {why}"
            for one in answer.unreached[:_EXPLAINED_MAX]
            if not any(one in note for note in answer.notes)
            and (why := await explain_unreached(call, options, one))
        ]
        return msgspec.structs.replace(answer, notes=(*reasons, *answer.notes))
    text = shlex.join(request.hits.options())
    place = next((one.asked for one in request.places if one.spec is not None), None)
    if place is not None and request.when:
        values = await condition_values(call, options, place, request.when)
        if values:
            message = f"{place} was reached, and no check meets {text}; {values}"
            remaining = tuple(one for one in answer.unreached if one != place)
            return msgspec.structs.replace(
                answer, unreached=remaining, notes=(message, *answer.notes)
            )
    reached = [one.asked for one in request.places if one.asked not in answer.unreached]
    message = f"{', '.join(reached)} was reached, and no check meets {text}"
    return msgspec.structs.replace(answer, notes=(message, *answer.notes)) if reached else answer


def _split_words(
    call: CommandCall, words: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split further invariants from the command: they are neither a file nor a command."""
    from debugger.targets import launch_target

    for at, word in enumerate(words):
        is_setting = re.match(r"[A-Za-z_]\w*=(?!=)", word) is not None
        is_file = Path(call.cwd, word).exists()
        if is_setting or is_file or launch_target.find_on_path(word, call.env, call.cwd):
            return words[:at], words[at:]
    # None of them is there: the error about the first one is the better one.
    return (), words


def _quoted_file(one: msgspec.Struct) -> str | None:
    found = getattr(one, "made_false_by", None)
    return found.frame.file if found is not None else None


def _evidence_summary(answer: Holds) -> str:
    first = answer.invariants[0]
    return f"{first.expression}: {first.outcome.value}, {first.true:,} times true"


async def _check(
    call: CommandCall, options: QuestionOptions, question: QuestionRun, request: CheckRequest
) -> Holds:
    from debugger.backends.base import LaunchTarget
    from debugger.questions.holds import recorded_checks
    from debugger.questions.holds.adapter_checks import check_by_debugger

    is_free = options.adapter is None and options.backend is None
    if isinstance(question.target, LaunchTarget) and question.language == "python" and is_free:
        return await recorded_checks.check_recorded(
            question, request, scratch_root=call.scratch_root
        )
    free_question = await _question_inside(call, options) if is_free else None
    return await check_by_debugger(question, request, free_question=free_question)


async def _question_inside(call: CommandCall, options: QuestionOptions) -> QuestionRun | None:
    """Return the program for the engine inside of it; None where it cannot be used."""
    from debugger.backends import backend_names, select_backend
    from debugger.questions.runner.question_build import build_question

    own = select_backend.OWN[backend_names.FRIDA]
    has_default = call.config.defaults.adapter is not None or call.config.defaults.backend
    if has_default or call.env.get("DEBUGGER_BACKEND"):
        return None
    try:
        select_backend.find_adapter(own, call.env, call.config.adapters)
        chosen = msgspec.structs.replace(options, backend=backend_names.FRIDA)
        return await build_question(call, chosen)
    except DebuggerError:
        return None
