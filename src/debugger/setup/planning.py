"""Chooses an adapter's install method on this machine, and reports what stands against it."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from debugger.errors import DebuggerError
from debugger.setup import ways
from debugger.setup.machine import Machine
from debugger.setup.recipes import Recipe, Tool
from debugger.setup.ways import Packages, Way

_MB = 10**6


@dataclass(frozen=True)
class Step:
    """A package that has to come first, and the way to it."""

    tool: Tool
    way: Packages


@dataclass(frozen=True)
class Plan:
    """What would be done, in words and in deeds.

    `way` is None where there is nothing to install, or where nothing can be: `problem` says why.
    `blocked`: it could be done, but not by this user.
    """

    recipe: Recipe
    way: Way | None = None
    before: tuple[Step, ...] = ()
    steps: tuple[str, ...] = ()
    problem: str | None = None
    blocked: bool = False

    @property
    def for_others(self) -> tuple[str, ...]:
        """Which of the steps another user has to take."""
        return tuple(step for step in self.steps if step.startswith("sudo ")) or self.steps


async def plan(recipe: Recipe, machine: Machine) -> Plan:
    """Choose the first way that this user can go; else the first that another could."""
    before, steps, problem = await _tools(recipe, machine)
    target = machine.adapters / recipe.name
    seen: list[str] = []
    stopped: Plan | None = None
    for way in recipe.ways:
        unsuited = await way.unsuited(machine)
        if unsuited is not None:
            seen.append(unsuited)
            continue
        every = (*steps, *await way.steps(machine, target))
        against = problem or await way.blocked(machine)
        if against is None:
            return Plan(recipe, way, before, every)
        stopped = stopped or Plan(recipe, way, before, every, against, blocked=True)
    if stopped is not None:
        return stopped
    why = "; ".join(dict.fromkeys(seen)) or "nothing here can install it"
    return Plan(recipe, problem=why + (f"; {recipe.otherwise}" * bool(recipe.otherwise)))


async def _tools(
    recipe: Recipe, machine: Machine
) -> tuple[tuple[Step, ...], tuple[str, ...], str | None]:
    """Find what is missing of the commands that the adapter needs."""
    before: list[Step] = []
    steps: list[str] = []
    problem: str | None = None
    for tool in recipe.needs:
        if machine.which(tool.command) is not None:
            continue
        against: str | None = f"there is no {tool.command} on the PATH"
        for way in tool.ways:
            unsuited = await way.unsuited(machine)
            if unsuited is None:
                before.append(Step(tool, way))
                steps += await way.steps(machine, machine.adapters)
                against = await way.blocked(machine)
                break
        problem = problem or against
    return tuple(before), tuple(steps), problem


async def try_out(plan: Plan, machine: Machine) -> str | None:
    """Say why a plan would fail; None where everything that can be known speaks for it."""
    if plan.problem is not None or plan.way is None:
        return plan.problem
    missing = room_problem(plan, machine)
    if missing is not None:
        return missing
    try:
        for step in plan.before:
            await step.way.try_out(machine)
        if not plan.before:  # what is not there yet cannot ask for the rest
            await plan.way.try_out(machine)
    except DebuggerError as error:
        return error.message
    return None


def room_problem(plan: Plan, machine: Machine) -> str | None:
    """Say that there is no room for a plan, or no right to write."""
    if plan.way is None or not plan.way.into_place:
        return None
    folder = _nearest(machine.adapters)
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"{machine.adapters} cannot be written to"
    free = shutil.disk_usage(folder).free
    if free < plan.way.room:
        needed = f"{plan.way.room // _MB:,} MB are needed"
        return f"no space at {folder}: {needed}, {free // _MB:,} MB are free"
    return None


def _nearest(folder: Path) -> Path:
    # Not Path.exists: it raises for what lies in a closed folder.
    return next(one for one in (folder, *folder.parents) if os.path.exists(one))


async def learn_packages(recipe: Recipe, machine: Machine) -> None:
    """Let apt learn which packages there are, where it never has and one may be needed."""
    every = (*recipe.ways, *(way for tool in recipe.needs for way in tool.ways))
    is_asked = any(isinstance(way, Packages) and way.apt for way in every)
    if is_asked and machine.is_root and machine.which("apt-get") and not ways.has_lists():
        await ways.update(machine)
