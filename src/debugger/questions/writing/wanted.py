"""Defines a request for the writes of a value: whose, and seen from which location."""

from __future__ import annotations

from dataclasses import dataclass

from debugger.core.breakpoints import Spec

HINT_WHEN = "debugger probe --at {} '{}' -- CMD shows what it was there"


@dataclass(frozen=True)
class Wanted:
    """What is asked: whose writes, seen from which place, at which of its hits, until where."""

    expression: str
    at: Spec
    place: str
    hit: int = 1
    until: Spec | None = None
    limit: int = 1000
    when: str = ""

    @property
    def met(self) -> str:
        """The place, and what is to hold there, in words."""
        return f"{self.place} with {self.when}" if self.when else self.place
