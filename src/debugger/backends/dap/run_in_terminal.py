"""Runs a program for an adapter that requests a terminal (runInTerminal)."""

from __future__ import annotations

import asyncio

from debugger.backends.base import LaunchTarget
from debugger.backends.dap import messages as dap
from debugger.backends.dap.adapter_profile import AdapterProfile, StreamFiles
from debugger.system.supervised_process import SupervisedProcess

Ending = asyncio.Future[tuple[int | None, int | None]]


async def run_in_terminal(
    profile: AdapterProfile,
    asked: dap.RunInTerminalArguments,
    launched: LaunchTarget,
    *,
    guard: SupervisedProcess,
    files: StreamFiles,
) -> tuple[int, Ending]:
    """Run the program below the guard, on our files (DAP: RunInTerminalRequest).

    Returns its pid and the future of its end.

    Raises:
        DebuggerError: LAUNCH_FAILED.
    """
    env = dict(launched.env)
    extra_environment = dict(asked.env or {})
    if profile.delegating is not None:
        extra_environment = dict(profile.delegating.environment(extra_environment))
    for key, value in extra_environment.items():
        if value is None:
            env.pop(key, None)
        else:
            env[key] = value
    return await guard.spawn_program(
        asked.args,
        cwd=asked.cwd or launched.cwd,
        env=env,
        stdio=(files.stdin, files.stdout, files.stderr),
    )
