"""Defines the command that reports single calls of a function, line by line."""

from __future__ import annotations

from typing import Annotated

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.command_registry import Argument, Option, register_command
from debugger.model.hit_filter import (
    EVERY_HIT,
    HitFilter,
    Refusal,
    refuse_options,
    require_one_condition,
)
from debugger.questions.calls import calls_question as questions
from debugger.questions.calls.answer import Calls
from debugger.questions.recordings.saved_runs import recorded_programs
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import (
    DEFAULT_RUN,
    GROUP,
    RECORDED_RUN,
    QuestionOptions,
    Words,
    keep_evidence,
    options_of,
)

_BY_PROBE = "probe --at FUNCTION EXPR takes it, and shows the number of each hit for --nth"
_CALL_HITS = refuse_options(
    {
        "changes": Refusal("calls are shown with all that they change", _BY_PROBE),
        "thread": Refusal("calls are numbered over all threads", _BY_PROBE),
        "inside": Refusal("calls are recorded from wherever they come", _BY_PROBE),
        "after": Refusal("calls are chosen by number or condition", _BY_PROBE),
        "until": Refusal("calls are chosen by number or condition", _BY_PROBE),
    },
    help={
        "when": "only calls for which it is true at entry; also --if, --condition, -c",
        "nth": "the call of this number: 3, last, -2",
        "last": "only the last N calls",
    },
    without=frozenset({"first"}),
)


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
    limit: Annotated[
        int | None,
        Option(
            "--limit",
            help="calls shown line by line (3); also --first",
            metavar="N",
            also=("--first",),
        ),
    ] = None,
    options: Annotated[QuestionOptions, RECORDED_RUN] = DEFAULT_RUN,
) -> answers.Answer:
    """Run a command, and show calls of a function line by line: what changed, what was called.

    For each call: its arguments, the lines that ran with what they changed and the calls they made,
    the branches taken, and the returned value or exception. Loop iterations are folded: the first
    and the last of each way through the loop, and what varies.
    """
    requested = msgspec.structs.replace(options, words=words)
    (program,) = await recorded_programs(call, requested)
    when = require_one_condition("calls", hits) or ""
    nth = hits.nth
    if hits.kept_last:
        if limit is not None and hits.last is not None:
            raise DebuggerError(
                ErrorCode.USAGE,
                "--last and --limit exclude each other: each chooses calls by number",
                hint="give one of them",
            )
        nth = await questions.number_from_end(program, function, when, hits.kept_last)
    answer = await questions.record_calls(
        program, function, nth=nth, when=when, depth=depth, limit=hits.last or limit
    )
    again = [
        *hits.options(),
        *options_of(("--depth", depth if depth != 1 else None), ("--limit", limit)),
    ]
    return keep_evidence(
        call,
        requested.repeat_command([function, *again]),
        answer,
        summary=_evidence_summary(answer),
        files=[one.file for one in answer.lives],
    )


def _evidence_summary(answer: Calls) -> str:
    first = answer.lives[0] if answer.lives else None
    if first is None:
        return f"{answer.function}: {answer.seen:,} calls, none of them meant"
    ended = first.error if first.error is not None else first.value
    return f"{answer.function}: {answer.seen:,} calls, #{first.number} gave {ended}"
