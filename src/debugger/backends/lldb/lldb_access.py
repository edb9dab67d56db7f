"""Defines the access to LLDB that the modules here need, whichever backend drives LLDB."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Protocol

from debugger.backends.base import AttachTarget, BackendEvent, LaunchTarget
from debugger.model.program import EvaluationPurpose, Frame, Stack, Stopped, Variable


class LldbAccess(Protocol):
    """Gives access to one program in LLDB."""

    @property
    def launch_target(self) -> LaunchTarget | None:
        """The launch request; None for a target that was attached to."""

    @property
    def attach_target(self) -> AttachTarget | None:
        """The attach request; None for a launched program."""

    @property
    def breakpoint_conditions(self) -> dict[int, tuple[int, str]]:
        """Our number and the condition of each breakpoint, by LLDB's number.

        A breakpoint whose condition cannot be evaluated is reported, and does not stop.
        """

    @property
    def stop_checks(self) -> list[Callable[[Stopped], Awaitable[None]]]:
        """Callbacks that run at each stop before it is reported."""

    def report_event(self, event: BackendEvent) -> None:
        """Report an event to the session."""

    async def evaluate(
        self, expression: str, frame: Frame | None, purpose: EvaluationPurpose
    ) -> Variable:
        """Evaluate an expression."""

    async def run_raw(self, command: str, frame: Frame | None) -> str:
        """Run a command of LLDB's command line and return its output."""

    async def fetch_variables(
        self, handle: int, *, start: int | None, count: int | None
    ) -> list[Variable]:
        """Return the children of a value, or a part of them, unchanged."""

    async def read_stack(self, thread: int, *, start: int = 0, levels: int = 20) -> Stack:
        """Return some frames of a thread."""


LIST = "breakpoint list"
# Each takes up to four packets to the server, within the time of a detach.
MOST = 200  # places
TIMES = 4  # the server may have set one trap so often
_PLACE = re.compile(r"\baddress = (?:\S+\[)?(0x[0-9a-f]+)")


def trap_addresses(listed: str) -> list[int]:
    """Parse `breakpoint list`: the addresses of breakpoints in the program."""
    unique = dict.fromkeys(int(one, 16) for one in _PLACE.findall(listed))
    return list(unique)[:MOST]


def removal_command(address: int) -> str:
    """Return the command that makes the server remove a trap of one byte (gdb's `z0` packet)."""
    return f"process plugin packet send z0,{address:x},1"


def is_removed(said: str) -> bool:
    """Return whether the server had a trap there."""
    return bool(re.search(r"response: OK\b", said))
