"""Checks that an adapter starts and answers the initialize request."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from debugger.backends import select_backend
from debugger.backends.dap.adapter_profile import AdapterLocation, AdapterProfile
from debugger.backends.dap.conversation import AdapterConversation, AdapterLimits
from debugger.errors import DebuggerError
from debugger.model.program import Stopped

_PROBE_S = 10.0  # seconds


async def check_adapter_starts(
    profile: AdapterProfile, found: AdapterLocation, env: Mapping[str, str], scratch_root: Path
) -> str | None:
    """Start an adapter and initialize it; return its version, if known.

    Raises:
        DebuggerError: ADAPTER_FAILED, TIMEOUT.
    """

    async def stands(stop: Stopped) -> Stopped | None:
        return stop

    scratch_root.mkdir(mode=0o700, exist_ok=True)
    async with asyncio.TaskGroup() as tasks:
        talk = AdapterConversation(
            profile,
            found,
            sink=lambda _: None,
            scratch=select_backend.make_scratch(scratch_root),
            limits=AdapterLimits(initialize_s=_PROBE_S),
            judge=stands,
            on_child=lambda _: None,
            tasks=tasks,
        )
        problem: DebuggerError | None = None
        capabilities: dict[str, Any] = {}
        try:
            capabilities = await talk.probe_adapter("/", env)
        except DebuggerError as error:
            problem = error  # raised here it would come out as a group of errors
        finally:
            await talk.close(kill=True)
    if problem is not None:
        raise problem
    return found.version or _adapter_version(capabilities)


def _adapter_version(capabilities: Mapping[str, Any]) -> str | None:
    told = capabilities.get("__lldb")
    text = str(told.get("version", "")) if isinstance(told, dict) else ""
    match = re.search(r"\d+(\.\d+)+", text)
    return match[0] if match else None
