"""Defines the command that tries a change in a second run, beside the unchanged session."""

from __future__ import annotations

from typing import Annotated

from debugger.model import answers
from debugger.model.command_registry import Argument, Option, register_command
from debugger.model.debugger_words import one_line
from debugger.model.events import State
from debugger.questions.runner.command_call import CommandCall, spec_in_session
from debugger.questions.runner.evidence_store import files_of
from debugger.questions.runner.question_arguments import GROUP, Timeout, keep_evidence, options_of
from debugger.questions.try_change import trial
from debugger.questions.try_change.trial import parse_changes

_TIMEOUT_S = 60.0


@register_command("try", group=GROUP)
async def try_(
    call: CommandCall,
    words: Annotated[tuple[str, ...], Argument("SET", "'x=3', 'a->b=0, n=1', or 'return 5'")] = (),
    *,
    until: Annotated[
        str | None, Option("--until", help="run to here; else to the next stop", metavar="LOC")
    ] = None,
    expect: Annotated[
        str | None, Option("--expect", help="what should be true there", metavar="EXPR")
    ] = None,
    here: Annotated[
        bool, Option("--here", help="in the session itself, which then continues from there")
    ] = False,
    timeout: Timeout = None,
) -> answers.Answer:
    """Try a change where the program is stopped: set values or return, continue, and see.

    A second run of the program is brought to the same location, changed, and ended; the session
    stays exactly where it is. The answer says whether --expect was true, with its values, and what
    the program printed.
    """
    session = call.current_session()
    patience = call.wait_limit(_TIMEOUT_S if timeout is None else timeout)
    wanted = parse_changes(words)
    session.require_state(State.STOPPED, to="try a change")
    if expect is not None:
        one_line(expect)
    answer = await trial.try_change(
        call.sessions,
        session,
        trial.TrialRequest(
            changes=wanted,
            until=spec_in_session(call, session, until) if until is not None else None,
            place=until,
            expression=expect,
            is_here=here,
        ),
        patience,
    )
    options = options_of(("--until", until), ("--expect", expect), ("--timeout", timeout))
    said = ["debugger", "--session", session.name, "try", *words, *options]
    return keep_evidence(
        call,
        [*said, "--here"] if here else said,
        answer,
        summary=answer.verdict,
        files=files_of([answer.tried_at, answer.frame]),
    )
