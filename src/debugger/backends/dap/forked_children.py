"""Tracks forked processes that wait for a debugger of their own, and limits their number.

The code inside the adapter has sent them a SIGSTOP: whoever gives up on one must send SIGCONT.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from debugger.backends.base import AttachTarget, ClosedBackend, LaunchTarget


class CloseFunction(Protocol):
    """Ends an adapter, and the process with it if `kill`."""

    async def __call__(self, *, kill: bool) -> ClosedBackend:
        """End the adapter."""


# Each has an adapter of its own, and a session that stays to be seen; the rest runs free.
AT_ONCE = 16
ALTOGETHER = 200


@dataclass(eq=False)
class ForkedChild:
    """A stopped child process that waits for its debugger."""

    pid: int
    process: int  # a pidfd: signals cannot reach another process that reuses the pid
    family: ForkedChildren
    is_taken: bool = False  # its own adapter holds it, with its breakpoints

    def attach_target(self, parent: LaunchTarget | AttachTarget | None) -> AttachTarget:
        """Return the request that attaches to the process, in its parent's surroundings."""
        cwd, env = (parent.cwd, parent.env) if parent is not None else ("/", {})
        return AttachTarget(pid=self.pid, cwd=cwd, env=env)

    def make_scratch(self, parent: Path) -> Path:
        """Return a directory of the process's own, which its guard may remove."""
        # A guard removes its scratch directory at its end: a shared one would go with the first
        # child.
        return parent / f"child-{self.pid}"

    def close_function(self, close: CloseFunction) -> CloseFunction:
        """Wrap the function that closes the adapter, to kill only a process that it holds."""

        async def close_and_release(*, kill: bool) -> ClosedBackend:
            try:
                # A process whose attach failed belongs to no debugger: it goes on instead of being
                # killed.
                return await close(kill=kill and self.is_taken)
            finally:
                self.family.release_child(self)

        return close_and_release


class ForkedChildren:
    """The forked children of one process tree."""

    def __init__(self) -> None:
        self._held: set[ForkedChild] = set()
        self._count = 0

    def hold_child(self, pid: int) -> ForkedChild | None:
        """Accept a new process, or let it run on where there are too many."""
        try:
            child = ForkedChild(pid, os.pidfd_open(pid), self)
        except (AttributeError, OSError):  # no pidfd_open (Linux before 5.3), or it was killed
            with suppress(OSError):
                os.kill(pid, signal.SIGCONT)  # it was stopped for us
            return None
        self._held.add(child)
        if len(self._held) <= AT_ONCE and self._count < ALTOGETHER:
            self._count += 1
            return child
        # A program that forks without end must not start adapters without end.
        self.release_child(child)
        return None

    def release_child(self, forked: ForkedChild) -> None:
        """Let a process run on, if it lives: its adapter is done with it."""
        if forked not in self._held:
            return
        self._held.remove(forked)
        with suppress(OSError):
            # After a detach, too: the SIGSTOP may not have been taken by a tracer yet.
            signal.pidfd_send_signal(forked.process, signal.SIGCONT)
        os.close(forked.process)
