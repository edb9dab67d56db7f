"""One function per command, grouped by what it asks about."""

from __future__ import annotations

import importlib

_MODULES = (
    "life",
    "attach",
    "breakpoints",
    "running",
    "watching",
    "catching",
    "looking",
    "machine",
    "live",
    "output",
    "questions",
    "hang",
    "who_wrote",
    "test",
    "try_",
    "probe",
    "path",
    "calls",
    "diff",
    "runs",
    "system",
    "setup",
)


def load() -> None:
    """Register all commands."""
    for name in _MODULES:
        importlib.import_module(f"debugger.commands.{name}")
