"""Checks that an adapter starts and answers."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from debugger.backends import choose
from debugger.backends.dap.conversation import Conversation, Limits
from debugger.backends.dap.profile import Found, Profile
from debugger.core.model import Stopped
from debugger.errors import DebuggerError

_PROBE_S = 10.0


async def start(
    profile: Profile, found: Found, env: Mapping[str, str], scratch_root: Path
) -> str | None:
    """Start an adapter really and initialize it; return its version where it is known.

    Raises:
        DebuggerError: ADAPTER_FAILED, TIMEOUT.
    """

    async def stands(stop: Stopped) -> Stopped | None:
        return stop

    scratch_root.mkdir(mode=0o700, exist_ok=True)
    async with asyncio.TaskGroup() as tasks:
        talk = Conversation(
            profile,
            found,
            sink=lambda _: None,
            scratch=choose.scratch(scratch_root),
            limits=Limits(initialize_s=_PROBE_S),
            judge=stands,
            on_child=lambda _: None,
            tasks=tasks,
        )
        problem: DebuggerError | None = None
        capabilities: dict[str, Any] = {}
        try:
            capabilities = await talk.probe("/", env)
        except DebuggerError as error:
            problem = error  # raised here it would come out as a group of errors
        finally:
            await talk.close(kill=True)
    if problem is not None:
        raise problem
    return found.version or _version(capabilities)


def _version(capabilities: Mapping[str, Any]) -> str | None:
    told = capabilities.get("__lldb")
    text = str(told.get("version", "")) if isinstance(told, dict) else ""
    match = re.search(r"\d+(\.\d+)+", text)
    return match[0] if match else None
