"""Runs a Node program whose own scripts record where values come from."""

from __future__ import annotations

import os

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.recordings.counted_run import find_node
from debugger.questions.runner.command_call import CommandCall, stdin_bytes
from debugger.questions.runner.question_run import QuestionRun
from debugger.recorders.node.origin_run import NodeOrigin, NodeOriginOrder, NodeOriginRecorder
from debugger.recorders.recorded_process import CompletedRun, record_run, roots_of


def node_roots(launch: LaunchTarget) -> tuple[str, ...]:
    """Return the folders of the program's own scripts, by their real paths."""
    roots = roots_of((str(launch.program), *launch.args), launch.cwd)
    return tuple(dict.fromkeys(os.path.realpath(one) for one in roots))


async def run_node_origin(
    call: CommandCall, question: QuestionRun, launch: LaunchTarget, order: NodeOriginOrder
) -> NodeOrigin:
    """Run the program once, recorded.

    Raises:
        DebuggerError: LAUNCH_FAILED without Node, TIMEOUT.
    """
    recorder = NodeOriginRecorder(order)
    call.scratch_root.mkdir(mode=0o700, parents=True, exist_ok=True)
    patience = question.patience
    ran: CompletedRun = await record_run(
        [find_node(launch), *recorder.options, str(launch.program), *launch.args],
        recorder,
        cwd=launch.cwd,
        env=launch.env,
        stdin=await stdin_bytes(launch),
        timeout_s=patience.seconds,
        scratch_root=call.scratch_root,
        interrupted=patience.interrupted,
        idle_limits=patience.idle_limits,
        shown=(str(launch.program), *launch.args),
    )
    if recorder.found is None and ran.is_timed_out:
        raise DebuggerError(
            ErrorCode.TIMEOUT,
            f"the place was not reached in {patience.seconds:.0f} s, recorded",
            hint="debugger why --timeout 300 EXPR --at LOC -- CMD",
        )
    return recorder.found or NodeOrigin()
