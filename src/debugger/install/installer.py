"""Installs adapters: chooses a method for this machine, runs it, and removes what it installed."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import glob
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from debugger.backends import select_backend
from debugger.backends.dap.debug_adapter import AdapterLocation, DebugAdapter
from debugger.errors import DebuggerError, ErrorCode
from debugger.install import doctor, install_methods, settings_file
from debugger.install.caller_machine import CallerMachine
from debugger.install.install_methods import InstallMethod, SystemPackages
from debugger.install.recipes import RECIPES, InstallRecipe, RequiredTool
from debugger.model.answers import AdapterList, AdapterView, Installation
from debugger.model.location import near_names

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
    reasons: list[str] = []
    stopped: InstallPlan | None = None
    for way in recipe.ways:
        unsuited = await way.explain_unsuited(machine)
        if unsuited is not None:
            reasons.append(unsuited)
            continue
        every = (*steps, *await way.describe_steps(machine, target))
        against = problem or await way.explain_blocked(machine)
        if against is None:
            return InstallPlan(recipe, way, before, every)
        stopped = stopped or InstallPlan(recipe, way, before, every, against, blocked=True)
    if stopped is not None:
        return stopped
    why = "; ".join(dict.fromkeys(reasons)) or "nothing here can install it"
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
    needs_packages = any(isinstance(way, SystemPackages) and way.apt for way in every)
    if (
        needs_packages
        and machine.is_root
        and machine.find_command("apt-get")
        and not install_methods.has_lists()
    ):
        await install_methods.update_apt(machine)


class InstallPrefix:
    """The folder in which an adapter is built (`draft`), and its destination (`target`).

    Both are on one file system, so that a rename moves the whole folder atomically.
    """

    def __init__(self, target: Path, draft: Path) -> None:
        self.target = target
        self.draft = draft
        self._old = _old_folder(target)
        self._is_put = False

    def put_in_place(self) -> None:
        """Move the draft to its target; the previous folder is kept until `keep_new`."""
        with suppress(FileNotFoundError):
            self.target.rename(self._old)
        # Between the two renames there is no adapter; a killed setup is repaired by
        # `_clear_remains`.
        self.draft.rename(self.target)
        self._is_put = True

    def keep_new(self) -> None:
        """Make the installation permanent, and remove the previous folder."""
        self._is_put = False
        _remove_tree(self._old)

    def take_back(self) -> None:
        """Undo a `put_in_place` that was not made permanent."""
        if self._is_put:
            self._is_put = False
            _remove_tree(self.target)
        _restore_old(self.target)


@contextmanager
def open_install_prefix(folder: Path, name: str) -> Iterator[InstallPrefix]:
    """Create a draft beside an adapter's target, exclusively, and clean up afterwards.

    A killed setup leaves its draft, which the next setup removes.

    Raises:
        DebuggerError: DENIED without write permission, WRONG_STATE while another setup runs.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(folder / f".{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise DebuggerError(
            ErrorCode.DENIED,
            f"cannot write to {folder}: {error.strerror}",
            hint="XDG_DATA_HOME names another directory for it",
        ) from error
    try:
        # The kernel releases the lock when the setup dies.
        _lock_install(lock, name)
        _clear_remains(folder, name)
        place = InstallPrefix(
            folder / name, Path(tempfile.mkdtemp(prefix=f".{name}.new-", dir=folder))
        )
        # mkdtemp makes it 0o700.
        place.draft.chmod(0o755)
        try:
            yield place
        finally:
            # Nothing happens after `keep_new`.
            place.take_back()
            _remove_tree(place.draft)
    finally:
        os.close(lock)


def _lock_install(descriptor: int, name: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise DebuggerError(
            ErrorCode.WRONG_STATE,
            f"another setup of {name} is under way",
            hint=f"when it is done: debugger setup {name} --check",
        ) from None


def _old_folder(target: Path) -> Path:
    return target.with_name(f".{target.name}.old")


def _clear_remains(folder: Path, name: str) -> None:
    """Remove the remains of a killed setup; restore the folder that it had moved away."""
    _restore_old(folder / name)
    _remove_tree(_old_folder(folder / name))
    for draft in folder.glob(f".{name}.new-*"):
        _remove_tree(draft)


def _restore_old(target: Path) -> None:
    if not target.exists():
        with suppress(FileNotFoundError):
            _old_folder(target).rename(target)


def _remove_tree(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink(missing_ok=True)
    else:
        shutil.rmtree(path, ignore_errors=True)


_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclass(frozen=True)
class AdapterSetup:
    """The setup of adapters on the caller's machine with the caller's configuration."""

    machine: CallerMachine
    config_file: Path
    # Reads the configuration again.
    reload: Callable[[], Mapping[str, select_backend.ConfiguredAdapter]]
    scratch_root: Path
    recipes: Mapping[str, InstallRecipe] = field(default_factory=lambda: RECIPES)

    def known_adapters(self) -> Mapping[str, DebugAdapter]:
        """All adapters, including those of the configuration."""
        return select_backend.list_adapters(self.reload())

    async def list_adapters(self) -> AdapterList:
        """Return every adapter with its status and its install method."""
        views = [self._adapter_view(one) for one in self.known_adapters().values()]
        return AdapterList(tuple(await asyncio.gather(*views)))

    async def plan_install(self, name: str) -> Installation:
        """Return the plan, without executing it."""
        recipe, ready = await self._begin_install(name)
        if ready is not None:
            return ready
        plan = await self._choose_plan(recipe)
        return self._installation_answer(
            plan, "planned", works=None if plan.problem is None else False
        )

    async def check_install(self, name: str) -> Installation:
        """Return the plan, and whether it would succeed; nothing is changed."""
        recipe, ready = await self._begin_install(name)
        if ready is not None:
            return ready
        plan = await self._choose_plan(recipe)
        problem = await try_out(plan, self.machine)
        return self._installation_answer(plan, "checked", works=problem is None, problem=problem)

    async def install_adapter(self, name: str) -> Installation:
        """Install an adapter, and start it as a proof.

        Raises:
            DebuggerError: ADAPTER_NOT_FOUND if another user has to do it, or nobody can;
            ADAPTER_FAILED if a step fails, and then nothing of it remains.
        """
        recipe, ready = await self._begin_install(name)
        if ready is not None:
            return ready
        await learn_packages(recipe, self.machine)
        plan = await self._choose_plan(recipe)
        if plan.problem is not None:
            raise self._refuse_plan(plan)
        missing = room_problem(plan, self.machine)
        if missing is not None:
            raise DebuggerError(
                ErrorCode.ADAPTER_FAILED,
                f"{name}: {missing}",
                hint="XDG_DATA_HOME names another directory for it",
            )
        try:
            return await self._carried_out(plan)
        except OSError as error:
            raise _failed_write(name, error) from error

    async def _choose_plan(self, recipe: InstallRecipe) -> InstallPlan:
        if (
            self._outside_installation(recipe) is not None
        ):  # it is here, and the configuration has to say where
            return InstallPlan(recipe)
        return await choose_plan(recipe, self.machine)

    # -- looking -------------------------------------------------------------------------------

    def _find_recipe(self, name: str) -> InstallRecipe:
        known = self.known_adapters()
        if name not in known:
            near = near_names(name, known)
            suggestion = f"did you mean {near[0]}? " if near else ""
            raise DebuggerError(
                ErrorCode.USAGE,
                f"no adapter {name!r}; there are: {', '.join(known)}",
                hint=f"{suggestion}debugger setup --list",
            )
        return self.recipes.get(name) or InstallRecipe(name)

    async def _begin_install(self, name: str) -> tuple[InstallRecipe, Installation | None]:
        """Return the recipe, and the answer if there is nothing to do."""
        recipe = self._find_recipe(name)
        view = await self._adapter_view(self.known_adapters()[name])
        if view.status != "installed" or self._is_outdated(recipe, view):
            return recipe, None
        return recipe, Installation(name, "installed", version=view.version, path=view.path)

    def _is_outdated(self, recipe: InstallRecipe, view: AdapterView) -> bool:
        ours = self.machine.adapters_folder / recipe.name
        is_ours = view.path is not None and Path(view.path).is_relative_to(ours)
        brought = {way.installed_version for way in recipe.ways if way.into_place}
        return is_ours and None not in brought and view.version not in {*brought, None}

    async def _adapter_view(self, adapter: DebugAdapter) -> AdapterView:
        recipe = self.recipes.get(adapter.name) or InstallRecipe(adapter.name)
        languages = tuple(one for one in adapter.languages if one != "native")
        problem: str | None = None
        found: AdapterLocation | None = None
        try:
            found = self._locate_adapter(adapter)
            version = await doctor.check_adapter_starts(
                adapter, found, self.machine.env, self.scratch_root
            )
        except DebuggerError as error:
            problem = error.message
        else:
            path = self._adapter_file(found)
            return AdapterView(adapter.name, "installed", languages, version, path)
        plan = await self._choose_plan(recipe)
        how = f"debugger setup {adapter.name} --yes"
        if plan.problem is not None:
            how = "; ".join(plan.for_others) if plan.blocked else plan.problem
        status = "missing" if found is None else "broken"
        broken = self._adapter_file(found) if found is not None else None
        return AdapterView(adapter.name, status, languages, path=broken, how=how, problem=problem)

    def _locate_adapter(self, adapter: DebugAdapter) -> AdapterLocation:
        return select_backend.find_adapter(adapter, self.machine.env, self.reload())

    def _adapter_file(self, found: AdapterLocation) -> str:
        """Return the file of the adapter; its command may begin with an interpreter."""
        ours = str(self.machine.adapters_folder)
        own = next((word for word in found.argv if word.startswith(ours)), found.argv[0])
        return found.program or own

    def _installation_answer(
        self,
        plan: InstallPlan,
        status: str,
        *,
        works: bool | None = None,
        problem: str | None = None,
    ) -> Installation:
        answer = Installation(plan.recipe.name, status, steps=self._plan_steps(plan))
        more = {} if works is None else {"works": works}
        why = problem or plan.problem
        return _already_replaced(answer, **more, **({"problem": why} if why else {}))

    def _plan_steps(self, plan: InstallPlan) -> tuple[str, ...]:
        if plan.way is None:
            return (*plan.steps, f"write [adapters.{plan.recipe.name}] to {self.config_file}")
        return plan.steps

    def _refuse_plan(self, plan: InstallPlan) -> DebuggerError:
        name = plan.recipe.name
        message = f"{name} cannot be installed: {plan.problem}"
        hint = f"debugger setup {name} --check"
        if plan.blocked:
            message += "\n" + "\n".join(f"  {step}" for step in plan.for_others)
            hint = f"give these commands as root, then: debugger setup {name} --yes"
        return DebuggerError(ErrorCode.ADAPTER_NOT_FOUND, message, hint=hint)

    # -- doing ---------------------------------------------------------------------------------

    async def _carried_out(self, plan: InstallPlan) -> Installation:
        name = plan.recipe.name
        if plan.way is None:
            return await self._prove_install(plan, None)
        if not plan.way.into_place:
            await self._prepare_install(plan)
            await plan.way.install_into(self.machine, self.machine.adapters_folder)
            return await self._prove_install(plan, None)
        with open_install_prefix(self.machine.adapters_folder, name) as place:
            await self._prepare_install(plan)
            await plan.way.install_into(self.machine, place.draft)
            place.put_in_place()
            answer = await self._prove_install(plan, place)
            place.keep_new()
            return answer

    async def _prepare_install(self, plan: InstallPlan) -> None:
        for step in plan.before:
            await self.machine.say(f"install {step.tool.command}")
            await step.way.install_into(self.machine, self.machine.adapters_folder)

    async def _prove_install(self, plan: InstallPlan, place: InstallPrefix | None) -> Installation:
        """Find the adapter and start it, with its path in the configuration if necessary."""
        name = plan.recipe.name
        text = before = settings_file.read_settings(self.config_file)
        adapter = self.known_adapters()[name]
        path = self._path_to_write(plan.recipe, adapter, place)
        if path is not None:
            text = settings_file.with_path(text, name, path)
        if text != before:
            settings_file.write_settings(self.config_file, text)
        try:
            await self.machine.say(f"start {name}")
            found = self._locate_adapter(self.known_adapters()[name])
            version = await doctor.check_adapter_starts(
                adapter, found, self.machine.env, self.scratch_root
            )
        except BaseException:
            if text != before:
                settings_file.write_settings(self.config_file, before)
            raise
        answer = Installation(
            name,
            "installed",
            steps=self._plan_steps(plan),
            version=version,
            path=self._adapter_file(found),
            changed=True,
        )
        return _already_replaced(answer, config=str(self.config_file)) if text != before else answer

    def _path_to_write(
        self, recipe: InstallRecipe, adapter: DebugAdapter, place: InstallPrefix | None
    ) -> str | None:
        try:
            self._locate_adapter(adapter)
        except DebuggerError as error:
            if error.code is not ErrorCode.ADAPTER_NOT_FOUND:
                raise
        else:
            return None
        if place is not None and recipe.main:
            return str(place.target / recipe.main)
        return self._outside_installation(recipe)

    def _outside_installation(self, recipe: InstallRecipe) -> str | None:
        found = [path for pattern in recipe.beyond for path in sorted(glob.glob(pattern))]
        return found[0] if found else None


def _failed_write(name: str, error: OSError) -> DebuggerError:
    where = error.filename or "the data directory"
    if error.errno in _FULL:
        return DebuggerError(
            ErrorCode.ADAPTER_FAILED,
            f"{name}: no space left for {where}; nothing was installed",
            hint="XDG_DATA_HOME names another directory for it",
        )
    return DebuggerError(
        ErrorCode.ADAPTER_FAILED,
        f"{name}: cannot write {where}: {error.strerror}; nothing was installed",
        hint=f"debugger setup {name} --check",
    )


def _already_replaced(installation: Installation, **more: Any) -> Installation:
    return msgspec.structs.replace(installation, **more)
