"""Decides which child processes the engine is injected into, and which run free."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from debugger.backends.frida.engine.engine import Engine
from debugger.backends.frida.engine.kin import WAIT, Process
from debugger.backends.stdio import Stdio

# Each has a session that stays to be seen; the rest runs free.
AT_ONCE = 16
ALTOGETHER = 200


class Parent(Protocol):
    """What a child has of the process that started it."""

    stdio: Stdio | None
    is_guest: bool
    env: Mapping[str, str]

    @property
    def engine(self) -> Engine:
        """The engine inside it."""


@dataclass(eq=False)
class Held:
    """A process that waits to be entered."""

    process: Process
    parent: Parent
    family: Children
    at: int

    @property
    def words(self) -> tuple[str, ...]:
        """Its program and its arguments: of a fork, its parent's."""
        try:
            told = Path(f"/proc/{self.process.pid}/cmdline").read_bytes()
        except OSError:
            return ()
        return tuple(word.decode(errors="replace") for word in told.split(b"\0")[:-1])


class Children:
    """The processes of one family that are entered."""

    def __init__(self) -> None:
        self._held: set[Held] = set()
        self._count = 0
        self._has_said = False
        # Not a queue: who is entered first is to go on first, and each has a session that waits.
        self.turn = asyncio.Lock()

    def hold(self, pid: int, parent: Parent, at: int) -> Held | None:
        """Take a new process, or let it go on where there are too many (`at`: see the event)."""
        if len(self._held) < AT_ONCE and self._count < ALTOGETHER:
            try:
                held = Held(Process(pid), parent, self, at)
            except OSError:  # it was killed
                return None
            parent.engine.tell_child(pid, WAIT, at)
            self._held.add(held)
            self._count += 1
            return held
        parent.engine.tell_child(pid, at=at)
        return None

    def refused(self) -> str | None:
        """Say, once, that some run free."""
        if self._has_said:
            return None
        self._has_said = True
        return (
            f"the program starts more than {AT_ONCE} processes at once, or {ALTOGETHER} in all: "
            "the others run free"
        )

    def release(self, held: Held) -> None:
        """Note that one has ended, or was left: another may be held."""
        self._held.discard(held)
