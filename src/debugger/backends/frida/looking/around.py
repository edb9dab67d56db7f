"""Defines what the abilities to inspect may request of the program."""

from __future__ import annotations

from typing import Protocol

from debugger.backends.frida.inside import Inside
from debugger.backends.frida.looking.looking import Looking


class Around(Inside, Protocol):
    """The program, with what looks at its frames."""

    looking: Looking
