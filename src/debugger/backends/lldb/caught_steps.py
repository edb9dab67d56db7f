"""Ends a step of LLDB where an exception is caught that left the stepped function."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from debugger.backends.lldb import lldb_exceptions
from debugger.backends.lldb.lldb_common import LldbAccess
from debugger.backends.lldb_text import quote_word
from debugger.errors import DebuggerError
from debugger.model.program import ResumeKind, Stopped, StopReason

_SCRIPT = str(Path(__file__).with_name("lldb_caught.py"))
_HITTING = {StopReason.BREAKPOINT, StopReason.FUNCTION_BREAKPOINT}
_LANDED = re.compile(r"landed (\d+) (\S+) ([\d ]+)")


class CaughtSteps:
    """Watches the exceptions of one program's steps, by `lldb_caught` inside LLDB.

    A step that an exception has left is none of LLDB's any more: its plan is to be discarded.
    """

    def __init__(self, lldb: LldbAccess) -> None:
        self._access = lldb
        self._is_loaded = False
        self._thread: int | None = None  # of the last step that was watched
        self._is_idle = False  # nothing catches in this program

    async def begin_step(self, how: ResumeKind, thread: int) -> None:
        """Watch the exceptions of a step that is about to begin; none while a program runs."""
        if how is ResumeKind.CONTINUE:
            is_watching, self._thread, self._is_idle = self._thread is not None, None, False
            if is_watching:
                await self._access.run_raw("debugger-unwatch-catches", None)
        elif not self._is_idle:
            with suppress(DebuggerError):  # an LLDB without Python steps as it does
                await self._watch(how, thread)

    async def _watch(self, how: ResumeKind, thread: int) -> None:
        if not self._is_loaded:
            await self._access.run_raw(f"command script import {quote_word(_SCRIPT)}", None)
            self._is_loaded = True
        command = f"debugger-watch-catches {thread} {how.value}"
        answer = await self._access.run_raw(command, None)
        self._thread = thread if "watched" in answer else None
        # A library that is loaded later brings the functions that catch.
        self._is_idle = self._thread is None

    async def end_at_landing(self, stop: Stopped) -> Stopped:
        """Return the stop of a step that ended where an exception was caught; else the stop."""
        if self._thread is None or stop.thread != self._thread or stop.reason not in _HITTING:
            return stop
        landed = _LANDED.search(await self._access.run_raw("debugger-show-landing", None))
        if landed is None:
            return stop
        hits = tuple(one for one in stop.hits if one != int(landed[1]))
        if hits:  # a breakpoint of the user's is there, too
            return replace(stop, hits=hits)
        addresses = [int(one) for one in landed[3].split()]
        handled = await (
            lldb_exceptions.describe_caught_panic(self._access, *addresses)
            if landed[2] == "rust"
            else lldb_exceptions.describe_caught(self._access, stop.thread, *addresses)
        )
        return replace(stop, reason=StopReason.STEP, raw_reason="step", hits=(), handled=handled)
