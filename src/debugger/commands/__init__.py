"""One function per command, grouped by what it asks about."""

from __future__ import annotations

import importlib

_MODULES = ("life", "breakpoints", "running", "looking", "output", "system")


def load() -> None:
    """Register all commands."""
    for name in _MODULES:
        importlib.import_module(f"debugger.commands.{name}")
