"""Tries a change at a stop in a second run; the session stays where it is."""

from __future__ import annotations

from typing import Annotated

from debugger.commands.asking import GROUP, Timeout, kept, options_of
from debugger.commands.breakpoints import spec_of
from debugger.commands.call import Call
from debugger.core import answers
from debugger.core.command import Arg, Opt, command
from debugger.core.state import State
from debugger.core.trying import changes
from debugger.core.words import one_line
from debugger.questions.evidence import files_of
from debugger.questions.trying import trying

_TIMEOUT_S = 60.0


@command("try", group=GROUP)
async def try_(
    call: Call,
    words: Annotated[tuple[str, ...], Arg("SET", "'x=3', 'a->b=0, n=1', or 'return 5'")] = (),
    *,
    until: Annotated[
        str | None, Opt("--until", help="run to here; else to the next stop", metavar="LOC")
    ] = None,
    expect: Annotated[
        str | None, Opt("--expect", help="what should be true there", metavar="EXPR")
    ] = None,
    here: Annotated[
        bool, Opt("--here", help="in the session itself, which then goes on from there")
    ] = False,
    timeout: Timeout = None,
) -> answers.Answer:
    """Try a change where the program is stopped: set values, or return, go on, and see.

    A second run of the program is brought to the same place, changed, and ended; the session stays
    exactly where it is. Tells whether what was expected held, with its values, and what the program
    wrote.
    """
    session = call.session()
    patience = call.patience(_TIMEOUT_S if timeout is None else timeout)
    wanted = changes(words)
    session.require(State.STOPPED, to="try a change")
    if expect is not None:
        one_line(expect)
    answer = await trying.tried(
        call.sessions,
        session,
        trying.Wanted(
            changes=wanted,
            until=spec_of(call, session, until) if until is not None else None,
            place=until,
            expression=expect,
            is_here=here,
        ),
        patience,
    )
    options = options_of(("--until", until), ("--expect", expect), ("--timeout", timeout))
    said = ["debugger", "--session", session.name, "try", *words, *options]
    return kept(
        call,
        [*said, "--here"] if here else said,
        answer,
        summary=answer.verdict,
        files=files_of([answer.tried_at, answer.frame]),
    )
