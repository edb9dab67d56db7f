"""Implements the optional abilities for a program with the engine in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from debugger.backends import abilities
from debugger.backends.inprocess.inspection import inspection_abilities as looking
from debugger.backends.inprocess.stepping.step_abilities import (
    InProcessInstructionSteps,
    InProcessStepTargets,
)
from debugger.backends.inprocess.thrown_exceptions import InProcessExceptions
from debugger.backends.inprocess.watch_filter import FilteredWatchpoints

ABILITIES: Mapping[type[Any], Callable[[Any], Any]] = {
    **looking.ABILITIES,
    abilities.ExceptionAbility: InProcessExceptions,
    abilities.InstructionBreakpointAbility: lambda inside: inside,
    abilities.InstructionStepAbility: lambda inside: InProcessInstructionSteps(
        inside, inside.steps
    ),
    abilities.PauseAllAbility: lambda inside: inside,
    abilities.StepTargetAbility: lambda inside: InProcessStepTargets(inside, inside.steps),
    abilities.SingleThreadAbility: lambda inside: inside,
    abilities.TracingAbility: lambda inside: inside.tracing,
    abilities.WatchpointAbility: FilteredWatchpoints,
}
