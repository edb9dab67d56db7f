"""Runs a program for an adapter that requests a terminal (runInTerminal)."""

from __future__ import annotations

import asyncio

from debugger.backends.base import Launch
from debugger.backends.dap import messages as dap
from debugger.backends.dap.profile import Files, Profile
from debugger.backends.guarded import Guarded

Ending = asyncio.Future[tuple[int | None, int | None]]


async def run(
    profile: Profile, asked: dap.RunInTerminal, launched: Launch, *, guard: Guarded, files: Files
) -> tuple[int, Ending]:
    """Run the program below the guard, on our files (DAP: RunInTerminalRequest).

    Returns its pid and the future of its end.

    Raises:
        DebuggerError: LAUNCH_FAILED.
    """
    env = dict(launched.env)
    more = dict(asked.env or {})
    if profile.delegating is not None:
        more = dict(profile.delegating.environment(more))
    for key, value in more.items():
        if value is None:
            env.pop(key, None)
        else:
            env[key] = value
    return await guard.spawn(
        asked.args,
        cwd=asked.cwd or launched.cwd,
        env=env,
        stdio=(files.stdin, files.stdout, files.stderr),
    )
