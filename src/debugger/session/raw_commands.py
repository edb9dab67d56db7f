"""Commands of the debugger's own: the session keeps up with what they do to the program."""

from __future__ import annotations

import msgspec

from debugger.backends.abilities import RawCommands
from debugger.backends.base import Attach
from debugger.core import answers
from debugger.core.raw_effects import RawEffect
from debugger.core.state import State
from debugger.errors import Code, DebuggerError
from debugger.session import breaking, stepping, values
from debugger.session.session import Session
from debugger.session.stepping import Patience

_INSTEAD = {
    RawEffect.DETACH: ("detach", "debugger detach ends the session and lets the program go on"),
    RawEffect.KILL: ("end", "debugger stop ends program and session"),
}


async def run(
    session: Session, command: str, patience: Patience, within_s: float | None
) -> answers.Raw:
    """Run a command; of one that lets the program run, report the stop that it ends with.

    Raises:
        DebuggerError: USAGE for one that takes the program from the session, and what
            `values.raw` and `breaking.bounded` raise.
    """
    session.require_live("run a debugger command")
    effect = session.backend.ability(RawCommands).raw_effect(command)
    if effect in _INSTEAD:
        verb, hint = _INSTEAD[effect]
        if effect is RawEffect.KILL and isinstance(session.target, Attach):
            hint = "debugger stop --kill ends program and session"
        raise DebuggerError(
            Code.USAGE, f"a raw command that would {verb} the program of this session", hint=hint
        )
    if effect is RawEffect.INTERRUPT and session.state is State.RUNNING:
        # gdb's protocol refuses it while the program runs, and LLDB's looks like a SIGSTOP.
        stop = await stepping.pause(session, patience)
        return answers.Raw(command=command, output="", stop=stop)
    cursor = session.timeline.cursor()
    was_stopped = session.state is State.STOPPED
    told = await breaking.bounded(session, lambda: values.raw(session, command), within_s)
    if effect is not RawEffect.STEP or not was_stopped:
        return told
    stop = await stepping.wait(session, patience, after=cursor)
    return msgspec.structs.replace(told, stop=stop)
