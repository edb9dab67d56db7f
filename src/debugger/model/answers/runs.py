"""What the question after the saved runs is answered with."""

from __future__ import annotations

from msgspec import Struct


class SavedRun(Struct, frozen=True):
    """A run that was saved: by which question, of what, and which of its sources changed since."""

    name: str
    verb: str
    command: str
    cwd: str
    time: str
    exit_code: int | None = None
    exit_signal: str | None = None
    bytes: int = 0
    changed: tuple[str, ...] = ()


class SavedRuns(Struct, frozen=True):
    """The runs that are saved, oldest first."""

    runs: tuple[SavedRun, ...]
