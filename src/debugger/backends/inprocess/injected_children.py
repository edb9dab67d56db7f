"""Decides which child processes the engine is injected into, and which run free."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from debugger.backends.inprocess.engine.child_processes import WAIT, ForeignProcess
from debugger.backends.inprocess.engine.engine import Engine
from debugger.system.program_streams import ProgramStreams

# Each has a session that stays to be seen; the rest runs free.
AT_ONCE = 16
ALTOGETHER = 200


class ParentProcess(Protocol):
    """What a child has of the process that started it."""

    stdio: ProgramStreams | None
    is_guest: bool
    env: Mapping[str, str]

    @property
    def engine(self) -> Engine:
        """The engine inside it."""


@dataclass(eq=False)
class PendingChild:
    """A process that waits to be entered."""

    process: ForeignProcess
    parent: ParentProcess
    family: InjectedChildren
    at: int

    @property
    def command_words(self) -> tuple[str, ...]:
        """Its program and its arguments: of a fork, its parent's."""
        try:
            told = Path(f"/proc/{self.process.pid}/cmdline").read_bytes()
        except OSError:
            return ()
        return tuple(word.decode(errors="replace") for word in told.split(b"\0")[:-1])


class InjectedChildren:
    """The processes of one family that are entered."""

    def __init__(self) -> None:
        self._held: set[PendingChild] = set()
        self._count = 0
        self._has_said = False
        # Not a queue: who is entered first is to go on first, and each has a session that waits.
        self.turn = asyncio.Lock()

    def hold_child(self, pid: int, parent: ParentProcess, at: int) -> PendingChild | None:
        """Take a new process, or let it go on where there are too many (`at`: see the event)."""
        if len(self._held) < AT_ONCE and self._count < ALTOGETHER:
            try:
                held = PendingChild(ForeignProcess(pid), parent, self, at)
            except OSError:  # it was killed
                return None
            parent.engine.send_child_word(pid, WAIT, at)
            self._held.add(held)
            self._count += 1
            return held
        parent.engine.send_child_word(pid, at=at)
        return None

    def refusal_note(self) -> str | None:
        """Say, once, that some run free."""
        if self._has_said:
            return None
        self._has_said = True
        return (
            f"the program starts more than {AT_ONCE} processes at once, or {ALTOGETHER} in all: "
            "the others run free"
        )

    def release_child(self, held: PendingChild) -> None:
        """Note that one has ended, or was left: another may be held."""
        self._held.discard(held)
