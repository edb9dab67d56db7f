"""Runs a program in Ruby or PHP once, with its calls and lines recorded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec import structs

from debugger.backends.base import LaunchTarget
from debugger.questions.recordings import function_lookup
from debugger.questions.runner import command_call
from debugger.recorders.model import (
    CallEntered,
    CallRaised,
    CallReturned,
    LinePassed,
    LinesSkipped,
    Recording,
    RecordingOrder,
    ValuesChanged,
)
from debugger.recorders.recorded_process import CompletedRun, record_run
from debugger.recorders.script.script_recorder import (
    ScriptRecorder,
    find_roots,
    script_command,
)
from debugger.session.stepping import WaitLimit

_FUNCTION_CALLS = 1_000  # of the function that is compared
_EVENTS = 400_000


async def run_script(
    launch: LaunchTarget,
    language: str,
    order: RecordingOrder,
    *,
    patience: WaitLimit,
    scratch: Path | None,
    wrap: Callable[[list[str]], list[str]] = list,
) -> CompletedRun:
    """Run a script recorded; of an order for functions only their calls are kept.

    Raises:
        DebuggerError: LAUNCH_FAILED.
    """
    program = str(launch.program)
    roots = find_roots(order.roots, program)
    limited = structs.replace(order, roots=roots)
    if order.functions:
        limits = structs.replace(order.limits, each=_FUNCTION_CALLS, events=_EVENTS)
        limited = structs.replace(limited, limits=limits)
    ran = await record_run(
        wrap(script_command(language, program, launch.args, launch.env)),
        ScriptRecorder.from_order(language, limited),
        cwd=launch.cwd,
        env=launch.env,
        stdin=await command_call.stdin_bytes(launch),
        timeout_s=patience.seconds,
        scratch_root=scratch,
        interrupted=patience.interrupted,
        idle_limits=patience.idle_limits,
        shown=(program, *launch.args),
    )
    found = tuple(_only_functions(one, order) for one in ran.recordings)
    return structs.replace(ran, recordings=found)


def _only_functions(recording: Recording, order: RecordingOrder) -> Recording:
    """Keep the calls of an order's functions, with their lines."""
    if not order.functions:
        return recording
    matches = [function_lookup.function_matcher(one, recording) for one in order.functions]
    functions = {
        number
        for number, one in recording.functions.items()
        if any(is_match(one) for is_match in matches)
    }
    entered = [one for one in recording.events if isinstance(one, CallEntered)]
    calls = [one.call for one in entered if one.function in functions]
    chosen = frozenset(calls[: order.most])
    of_calls = CallEntered | CallReturned | CallRaised | LinePassed | LinesSkipped | ValuesChanged
    events = tuple(
        one for one in recording.events if not isinstance(one, of_calls) or one.call in chosen
    )
    return structs.replace(recording, events=events, seen=len(calls), chosen=len(chosen))
