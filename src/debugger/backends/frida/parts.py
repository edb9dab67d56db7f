"""Implements the optional abilities for a program with the engine in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from debugger.backends import abilities
from debugger.backends.frida.looking import able as looking
from debugger.backends.frida.stepping.able import InstructionSteps, StepTargets
from debugger.backends.frida.thrown import Exceptions
from debugger.backends.frida.watched import Watchpoints

ABILITIES: Mapping[type[Any], Callable[[Any], Any]] = {
    **looking.ABILITIES,
    abilities.Exceptions: Exceptions,
    abilities.InstructionBreakpoints: lambda inside: inside,
    abilities.InstructionSteps: lambda inside: InstructionSteps(inside, inside.steps),
    abilities.PauseAll: lambda inside: inside,
    abilities.StepTargets: lambda inside: StepTargets(inside, inside.steps),
    abilities.ThreadsAlone: lambda inside: inside,
    abilities.Tracing: lambda inside: inside.tracing,
    abilities.Watchpoints: Watchpoints,
}
