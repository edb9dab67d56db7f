"""Chooses an adapter's install method on this machine, and reports what prevents it."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from debugger.errors import DebuggerError
from debugger.install import install_methods
from debugger.install.caller_machine import CallerMachine
from debugger.install.install_methods import InstallMethod, SystemPackages
from debugger.install.recipes import InstallRecipe, RequiredTool

_MB = 10**6


@dataclass(frozen=True)
class RequiredPackage:
    """A package that must be installed first, and its install method."""

    tool: RequiredTool
    way: SystemPackages


@dataclass(frozen=True)
class InstallPlan:
    """The steps of an installation, for display and for execution."""

    recipe: InstallRecipe
    # None if there is nothing to install, or no method: `problem` gives the reason.
    way: InstallMethod | None = None
    before: tuple[RequiredPackage, ...] = ()
    steps: tuple[str, ...] = ()
    problem: str | None = None
    # The installation is possible, but not for this user.
    blocked: bool = False

    @property
    def for_others(self) -> tuple[str, ...]:
        """The steps that another user has to take."""
        return tuple(step for step in self.steps if step.startswith("sudo ")) or self.steps


async def choose_plan(recipe: InstallRecipe, machine: CallerMachine) -> InstallPlan:
    """Choose the first method that this user can use; else the first that another could."""
    before, steps, problem = await _missing_tools(recipe, machine)
    target = machine.adapters_folder / recipe.name
    seen: list[str] = []
    stopped: InstallPlan | None = None
    for way in recipe.ways:
        unsuited = await way.explain_unsuited(machine)
        if unsuited is not None:
            seen.append(unsuited)
            continue
        every = (*steps, *await way.describe_steps(machine, target))
        against = problem or await way.explain_blocked(machine)
        if against is None:
            return InstallPlan(recipe, way, before, every)
        stopped = stopped or InstallPlan(recipe, way, before, every, against, blocked=True)
    if stopped is not None:
        return stopped
    why = "; ".join(dict.fromkeys(seen)) or "nothing here can install it"
    return InstallPlan(recipe, problem=why + (f"; {recipe.otherwise}" * bool(recipe.otherwise)))


async def _missing_tools(
    recipe: InstallRecipe, machine: CallerMachine
) -> tuple[tuple[RequiredPackage, ...], tuple[str, ...], str | None]:
    """Return the missing commands that the adapter needs."""
    before: list[RequiredPackage] = []
    steps: list[str] = []
    problem: str | None = None
    for tool in recipe.needs:
        if machine.find_command(tool.command) is not None:
            continue
        against: str | None = f"there is no {tool.command} on the PATH"
        for way in tool.ways:
            unsuited = await way.explain_unsuited(machine)
            if unsuited is None:
                before.append(RequiredPackage(tool, way))
                steps += await way.describe_steps(machine, machine.adapters_folder)
                against = await way.explain_blocked(machine)
                break
        problem = problem or against
    return tuple(before), tuple(steps), problem


async def try_out(plan: InstallPlan, machine: CallerMachine) -> str | None:
    """Return why a plan would fail; None if every available check succeeds."""
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


def room_problem(plan: InstallPlan, machine: CallerMachine) -> str | None:
    """Return that there is too little space for a plan, or no permission to write."""
    if plan.way is None or not plan.way.into_place:
        return None
    folder = _nearest_folder(machine.adapters_folder)
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"{machine.adapters_folder} cannot be written to"
    free = shutil.disk_usage(folder).free
    if free < plan.way.required_bytes:
        needed = f"{plan.way.required_bytes // _MB:,} MB are needed"
        return f"no space at {folder}: {needed}, {free // _MB:,} MB are free"
    return None


def _nearest_folder(folder: Path) -> Path:
    # Not Path.exists: it raises for what lies in a closed folder.
    return next(one for one in (folder, *folder.parents) if os.path.exists(one))


async def learn_packages(recipe: InstallRecipe, machine: CallerMachine) -> None:
    """Update apt's lists, if it has none and a package may be needed."""
    every = (*recipe.ways, *(way for tool in recipe.needs for way in tool.ways))
    is_asked = any(isinstance(way, SystemPackages) and way.apt for way in every)
    if (
        is_asked
        and machine.is_root
        and machine.find_command("apt-get")
        and not install_methods.has_lists()
    ):
        await install_methods.update_apt(machine)
