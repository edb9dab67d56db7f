"""The quirks of real adapters that the fake one can show, by name, in one table."""

from __future__ import annotations

from dap_quirks import answers, ends, faults, start, stops
from dap_quirks.table import QUIRKS, Quirk, UnknownQuirkError, activate, answer, prepare

__all__ = [
    "QUIRKS",
    "Quirk",
    "UnknownQuirkError",
    "activate",
    "answer",
    "answers",
    "ends",
    "faults",
    "prepare",
    "start",
    "stops",
]
