"""Defines what the abilities to inspect may request of the program."""

from __future__ import annotations

from typing import Protocol

from debugger.backends.inprocess.inspection.inspector import ThreadInspector
from debugger.backends.inprocess.target_access import TargetAccess


class InspectionAccess(TargetAccess, Protocol):
    """The program, with what looks at its frames."""

    looking: ThreadInspector
