"""Defines the command that tries a change in a second run, beside the unchanged session."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Final

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.command_registry import Argument, Option, register_command
from debugger.model.debugger_words import one_line
from debugger.model.events import State
from debugger.model.hit_filter import EVERY_HIT, RUN_TO_REFUSALS, HitFilter, refuse_options
from debugger.questions.runner.question_arguments import GROUP, options_of

if TYPE_CHECKING:
    from debugger.model import answers
    from debugger.questions.runner.command_call import CommandCall
    from debugger.session.session import Session

_TIMEOUT_S = 60.0
_UNTIL_HITS = refuse_options(
    RUN_TO_REFUSALS,
    help={
        "when": "only hits of --until LOC at which it is true; also --if, --condition, -c",
        "nth": "run to the Kth hit of --until LOC",
    },
    without=frozenset({"until"}),
)


_CHANGE: Final = Argument("SET", "'x=3', 'a->b=0, n=1', or 'return 5'", assigns=True)


@register_command("try", group=GROUP)
async def try_(
    call: CommandCall,
    words: Annotated[tuple[str, ...], _CHANGE] = (),
    *,
    until: Annotated[
        str | None, Option("--until", help="run to here; else to the next stop", metavar="LOC")
    ] = None,
    hits: Annotated[HitFilter, _UNTIL_HITS] = EVERY_HIT,
    expect: Annotated[
        str | None, Option("--expect", help="what should be true there", metavar="EXPR")
    ] = None,
    here: Annotated[
        bool, Option("--here", help="in the session itself, which then continues from there")
    ] = False,
    timeout: Annotated[
        float | None, Option("--timeout", help="seconds to run (60)", metavar="S")
    ] = None,
) -> answers.Answer:
    """Try a change where the program is stopped: set values or return, continue, and see.

    A second run of the program is brought to the same location, changed, and ended; the session
    stays exactly where it is. The answer says whether --expect was true, with its values, and what
    the program printed.
    """
    from debugger.questions.runner.evidence_store import files_of
    from debugger.questions.runner.question_build import keep_evidence
    from debugger.questions.try_change import trial
    from debugger.questions.try_change.trial import parse_changes

    session = call.current_session()
    patience = call.wait_limit(_TIMEOUT_S if timeout is None else timeout)
    changes = parse_changes(words)
    session.require_state(State.STOPPED, to="try a change")
    if expect is not None:
        one_line(expect)
    _check_filter(hits, until, is_here=here)
    answer = await trial.try_change(
        call.sessions,
        session,
        trial.TrialRequest(
            changes=changes,
            until=_until_spec(call, session, until, hits) if until is not None else None,
            place=until,
            expression=expect,
            is_here=here,
        ),
        patience,
    )
    options = [
        *options_of(("--until", until), ("--expect", expect), ("--timeout", timeout)),
        *hits.options(),
    ]
    command = ["debugger", "--session", session.name, "try", *words, *options]
    return keep_evidence(
        call,
        [*command, "--here"] if here else command,
        answer,
        summary=answer.verdict,
        files=files_of([answer.tried_at, answer.frame]),
    )


def _check_filter(hits: HitFilter, until: str | None, *, is_here: bool) -> None:
    if hits and until is None:
        flag, value, *_ = [*hits.options(), ""]
        raise DebuggerError(
            ErrorCode.USAGE,
            f"try: {flag} chooses a hit of --until LOC, which is missing",
            hint=f"debugger try 'x=3' --until LOC {flag} {shlex.quote(value)}".rstrip(),
        )
    if hits.thread is not None and not is_here:
        raise DebuggerError(
            ErrorCode.USAGE,
            "try cannot take --thread: the second run numbers its threads anew",
            hint=f"debugger try 'x=3' --until {until} --thread {hits.thread} --here: "
            "in the session itself",
        )


def _until_spec(call: CommandCall, session: Session, until: str, hits: HitFilter) -> BreakpointSpec:
    from debugger.questions.runner.command_call import spec_in_session
    from debugger.questions.runner.filtered_breakpoint import filter_in_session

    spec = spec_in_session(call, session, until)
    return filter_in_session(call, session, spec, hits, command="try")
