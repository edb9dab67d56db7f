"""Carries out `setup`: list, plan, check, install, prove."""

from __future__ import annotations

import asyncio
import errno
import glob
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from debugger.backends import choose
from debugger.backends.dap.profile import Found, Profile
from debugger.core.answers import AdapterList, AdapterView, Installation
from debugger.core.locate import near_names
from debugger.errors import Code, DebuggerError
from debugger.setup import planning, probe, settings_file
from debugger.setup.machine import Machine
from debugger.setup.placing import Place, placing
from debugger.setup.planning import Plan
from debugger.setup.recipes import RECIPES, Recipe

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclass(frozen=True)
class Setup:
    """The caller's machine and configuration.

    `reload` reads the configuration again; `sections` are what recipes write to it, by adapter.
    """

    machine: Machine
    config_file: Path
    reload: Callable[[], Mapping[str, choose.Configured]]
    sections: Mapping[str, choose.Configured]
    scratch_root: Path
    recipes: Mapping[str, Recipe] = field(default_factory=lambda: RECIPES)

    def profiles(self) -> Mapping[str, Profile]:
        """Every adapter that there is, or that there would be once it is configured."""
        return choose.profiles({**self.sections, **self.reload()})

    async def listed(self) -> AdapterList:
        """Return every adapter: whether it is here, and how it would be installed."""
        views = [self._viewed(one) for one in self.profiles().values()]
        return AdapterList(tuple(await asyncio.gather(*views)))

    async def planned(self, name: str) -> Installation:
        """Return what would be done, without doing it."""
        recipe, ready = await self._begun(name)
        if ready is not None:
            return ready
        plan = await self._plan(recipe)
        return self._told(plan, "planned", works=None if plan.problem is None else False)

    async def checked(self, name: str) -> Installation:
        """Return what would be done, and whether it would work; nothing is changed."""
        recipe, ready = await self._begun(name)
        if ready is not None:
            return ready
        plan = await self._plan(recipe)
        problem = await planning.try_out(plan, self.machine)
        return self._told(plan, "checked", works=problem is None, problem=problem)

    async def installed(self, name: str) -> Installation:
        """Install an adapter, and prove that it starts.

        Raises:
            DebuggerError: ADAPTER_NOT_FOUND where another user has to do it, or nobody can;
                ADAPTER_FAILED where it went wrong, and then nothing of it is left.
        """
        recipe, ready = await self._begun(name)
        if ready is not None:
            return ready
        await planning.learn_packages(recipe, self.machine)
        plan = await self._plan(recipe)
        if plan.problem is not None:
            raise self._refusal(plan)
        missing = planning.room_problem(plan, self.machine)
        if missing is not None:
            raise DebuggerError(
                Code.ADAPTER_FAILED,
                f"{name}: {missing}",
                hint="XDG_DATA_HOME names another directory for it",
            )
        try:
            return await self._carried_out(plan)
        except OSError as error:
            raise _failed_write(name, error) from error

    async def _plan(self, recipe: Recipe) -> Plan:
        if self._beyond(recipe) is not None:  # it is here, and the configuration has to say where
            return Plan(recipe)
        return await planning.plan(recipe, self.machine)

    # -- looking -------------------------------------------------------------------------------

    def _recipe(self, name: str) -> Recipe:
        known = self.profiles()
        if name not in known:
            near = near_names(name, known)
            meant = f"did you mean {near[0]}? " if near else ""
            raise DebuggerError(
                Code.USAGE,
                f"no adapter {name!r}; there are: {', '.join(known)}",
                hint=f"{meant}debugger setup --list",
            )
        return self.recipes.get(name) or Recipe(name)

    async def _begun(self, name: str) -> tuple[Recipe, Installation | None]:
        """Return the recipe, and the answer if there is nothing to do."""
        recipe = self._recipe(name)
        view = await self._viewed(self.profiles()[name])
        is_set = recipe.section is None or name in self.reload()
        if view.status != "installed" or self._is_outdated(recipe, view) or not is_set:
            return recipe, None
        return recipe, Installation(name, "installed", version=view.version, path=view.path)

    def _is_outdated(self, recipe: Recipe, view: AdapterView) -> bool:
        ours = self.machine.adapters / recipe.name
        is_ours = view.path is not None and Path(view.path).is_relative_to(ours)
        brought = {way.brings for way in recipe.ways if way.into_place}
        return is_ours and None not in brought and view.version not in {*brought, None}

    async def _viewed(self, profile: Profile) -> AdapterView:
        recipe = self.recipes.get(profile.name) or Recipe(profile.name)
        languages = tuple(one for one in profile.languages if one != "native")
        problem: str | None = None
        found: Found | None = None
        try:
            found = self._found(profile)
            version = await probe.start(profile, found, self.machine.env, self.scratch_root)
        except DebuggerError as error:
            problem = error.message
        else:
            path = self._path(found)
            return AdapterView(profile.name, "installed", languages, version, path)
        plan = await self._plan(recipe)
        how = f"debugger setup {profile.name} --yes"
        if plan.problem is not None:
            how = "; ".join(plan.for_others) if plan.blocked else plan.problem
        status = "missing" if found is None else "broken"
        broken = self._path(found) if found is not None else None
        return AdapterView(profile.name, status, languages, path=broken, how=how, problem=problem)

    def _found(self, profile: Profile) -> Found:
        return choose.find(profile, self.machine.env, {**self.sections, **self.reload()})

    def _path(self, found: Found) -> str:
        """Return the file that is the adapter; an interpreter may come before it."""
        ours = str(self.machine.adapters)
        return next((word for word in found.argv if word.startswith(ours)), found.argv[0])

    def _told(
        self, plan: Plan, status: str, *, works: bool | None = None, problem: str | None = None
    ) -> Installation:
        told = Installation(plan.recipe.name, status, steps=self._steps(plan))
        more = {} if works is None else {"works": works}
        why = problem or plan.problem
        return _replaced(told, **more, **({"problem": why} if why else {}))

    def _steps(self, plan: Plan) -> tuple[str, ...]:
        name = plan.recipe.name
        is_new = plan.recipe.section is not None and name not in self.reload()
        if is_new or plan.way is None:
            return (*plan.steps, f"write [adapters.{name}] to {self.config_file}")
        return plan.steps

    def _refusal(self, plan: Plan) -> DebuggerError:
        name = plan.recipe.name
        message = f"{name} cannot be installed: {plan.problem}"
        hint = f"debugger setup {name} --check"
        if plan.blocked:
            message += "\n" + "\n".join(f"  {step}" for step in plan.for_others)
            hint = f"give these commands as root, then: debugger setup {name} --yes"
        return DebuggerError(Code.ADAPTER_NOT_FOUND, message, hint=hint)

    # -- doing ---------------------------------------------------------------------------------

    async def _carried_out(self, plan: Plan) -> Installation:
        name = plan.recipe.name
        if plan.way is None:
            return await self._proved(plan, None)
        if not plan.way.into_place:
            await self._prepared(plan)
            await plan.way.install(self.machine, self.machine.adapters)
            return await self._proved(plan, None)
        with placing(self.machine.adapters, name) as place:
            await self._prepared(plan)
            await plan.way.install(self.machine, place.draft)
            place.put()
            told = await self._proved(plan, place)
            place.keep()
            return told

    async def _prepared(self, plan: Plan) -> None:
        for step in plan.before:
            await self.machine.say(f"install {step.tool.command}")
            await step.way.install(self.machine, self.machine.adapters)

    async def _proved(self, plan: Plan, place: Place | None) -> Installation:
        """Find the adapter and start it; the configuration says where it is if need be."""
        name = plan.recipe.name
        text = before = settings_file.read(self.config_file)
        if plan.recipe.section is not None and name not in self.reload():
            section = plan.recipe.section.read_text(encoding="utf-8")
            text = settings_file.with_section(text, section)
        profile = self.profiles()[name]
        path = self._path_to_write(plan.recipe, profile, place)
        if path is not None:
            text = settings_file.with_path(text, name, path)
        if text != before:
            settings_file.write(self.config_file, text)
        try:
            await self.machine.say(f"start {name}")
            found = self._found(self.profiles()[name])
            version = await probe.start(profile, found, self.machine.env, self.scratch_root)
        except BaseException:
            if text != before:
                settings_file.write(self.config_file, before)
            raise
        told = Installation(
            name,
            "installed",
            steps=self._steps(plan),
            version=version,
            path=self._path(found),
            changed=True,
        )
        return _replaced(told, config=str(self.config_file)) if text != before else told

    def _path_to_write(self, recipe: Recipe, profile: Profile, place: Place | None) -> str | None:
        try:
            self._found(profile)
        except DebuggerError as error:
            if error.code is not Code.ADAPTER_NOT_FOUND:
                raise
        else:
            return None
        if place is not None and recipe.main:
            return str(place.target / recipe.main)
        return self._beyond(recipe)

    def _beyond(self, recipe: Recipe) -> str | None:
        found = [path for pattern in recipe.beyond for path in sorted(glob.glob(pattern))]
        return found[0] if found else None


def _failed_write(name: str, error: OSError) -> DebuggerError:
    where = error.filename or "the data directory"
    if error.errno in _FULL:
        return DebuggerError(
            Code.ADAPTER_FAILED,
            f"{name}: no space left for {where}; nothing was installed",
            hint="XDG_DATA_HOME names another directory for it",
        )
    return DebuggerError(
        Code.ADAPTER_FAILED,
        f"{name}: cannot write {where}: {error.strerror}; nothing was installed",
        hint=f"debugger setup {name} --check",
    )


def _replaced(told: Installation, **more: Any) -> Installation:
    return msgspec.structs.replace(told, **more)
