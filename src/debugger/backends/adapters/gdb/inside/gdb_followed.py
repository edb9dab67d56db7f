"""Follows a run into a process that the program forks. Run inside gdb."""

from __future__ import annotations

import importlib
from typing import Any

gdb: Any = importlib.import_module("gdb")


class FollowedForks:
    """The forks that lead to a process, each by its number among those of its parent.

    gdb stays with one process: at these forks it goes on with the child, and the parent runs on
    without a debugger. Watchpoints and breakpoints go along.
    """

    def __init__(self, numbers: list[int]) -> None:
        self._numbers = list(numbers)
        self._count = 0
        self._is_at_fork = False
        self._catchpoints: set[int] = set()

    def is_before_process(self) -> bool:
        """Return whether the process has yet to be forked."""
        return bool(self._numbers)

    def catch_forks(self) -> None:
        """Stop at each fork, if there is one to follow."""
        if not self._numbers:
            return
        for kind in ("fork", "vfork"):
            answer = gdb.execute(f"catch {kind}", to_string=True)  # Catchpoint 5 (fork)
            self._catchpoints.add(int(answer.split()[1]))

    def note_stop(self, event: Any) -> None:
        """Note whether a stop is one at a fork."""
        hit = event.breakpoints if isinstance(event, gdb.BreakpointEvent) else []
        self._is_at_fork = any(one.number in self._catchpoints for one in hit)

    def follow_next(self) -> bool:
        """Choose the process to go on with after a stop at a fork; tell whether it is one."""
        if not self._is_at_fork:
            return False
        self._is_at_fork = False
        self._count += 1
        is_next = self._numbers[:1] == [self._count]
        if is_next:
            self._numbers.pop(0)
            self._count = 0
        gdb.execute(f"set follow-fork-mode {'child' if is_next else 'parent'}", to_string=True)
        return True
