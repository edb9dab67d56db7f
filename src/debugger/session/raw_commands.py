"""Commands of the debugger's own: the session keeps up with what they do to the program."""

from __future__ import annotations

import msgspec

from debugger.backends.abilities import RawCommandAbility
from debugger.backends.base import AttachTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.raw_effects import RawEffect
from debugger.model.state import State
from debugger.session import command_interrupt, stepping, value_inspection
from debugger.session.session import Session
from debugger.session.stepping import WaitLimit

_INSTEAD = {
    RawEffect.DETACH: ("detach", "debugger detach ends the session and lets the program go on"),
    RawEffect.KILL: ("end", "debugger stop ends program and session"),
}


async def run_raw(
    session: Session, command: str, patience: WaitLimit, within_s: float | None
) -> answers.Raw:
    """Run a command; of one that lets the program run, report the stop that it ends with.

    Raises:
        DebuggerError: USAGE for one that takes the program from the session, and what
            `value_inspection.run_raw_command` and `command_interrupt.run_bounded` raise.
    """
    session.require_live("run a debugger command")
    effect = session.backend.find_ability(RawCommandAbility).classify_raw_command(command)
    if effect in _INSTEAD:
        verb, hint = _INSTEAD[effect]
        if effect is RawEffect.KILL and isinstance(session.target, AttachTarget):
            hint = "debugger stop --kill ends program and session"
        raise DebuggerError(
            ErrorCode.USAGE,
            f"a raw command that would {verb} the program of this session",
            hint=hint,
        )
    if effect is RawEffect.INTERRUPT and session.state is State.RUNNING:
        # gdb's protocol refuses it while the program runs, and LLDB's looks like a SIGSTOP.
        stop = await stepping.pause_program(session, patience)
        return answers.Raw(command=command, output="", stop=stop)
    cursor = session.timeline.cursor()
    was_stopped = session.state is State.STOPPED
    told = await command_interrupt.run_bounded(
        session, lambda: value_inspection.run_raw_command(session, command), within_s
    )
    if effect is not RawEffect.STEP or not was_stopped:
        return told
    stop = await stepping.wait_for_stop(session, patience, after=cursor)
    return msgspec.structs.replace(told, stop=stop)
