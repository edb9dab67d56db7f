"""Defines the answer of the suite: what worked of an adapter, and the first message of what not."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class SceneOutcome(Enum):
    """How a scene came out."""

    WORKS = "works"
    FAILS = "fails"
    NOT_SUPPORTED = "not supported"
    NOT_TRIED = "not tried"


class SceneView(Struct, frozen=True):
    """One scene: what was seen, or the first failing message."""

    name: str
    outcome: SceneOutcome
    detail: str = ""
    # Without it nobody can debug with the adapter.
    is_essential: bool = False
    took_s: float = 0.0


class AdapterSuite(Struct, frozen=True):
    """The scenes that were tried with an adapter."""

    adapter: str
    program: str
    scenes: tuple[SceneView, ...]

    @property
    def has_failed(self) -> bool:
        """Whether an essential scene does not work; the command's exit code is 1 then."""
        return any(
            one.is_essential and one.outcome in {SceneOutcome.FAILS, SceneOutcome.NOT_SUPPORTED}
            for one in self.scenes
        )
