"""Which debugger drives a program, and how it is made."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from debugger.backends.base import Backend, Sink
from debugger.backends.dap.adapters import configured
from debugger.backends.dap.adapters.debugpy import profile as debugpy
from debugger.backends.dap.adapters.delve import profile as delve
from debugger.backends.dap.adapters.gdb import profile as gdb
from debugger.backends.dap.adapters.js_debug import profile as js_debug
from debugger.backends.dap.adapters.lldb import codelldb, lldb_dap
from debugger.backends.dap.backend import DapBackend
from debugger.backends.dap.conversation import Limits
from debugger.backends.dap.profile import Found, Profile, Search
from debugger.core.locate import near_names
from debugger.errors import Code, DebuggerError

# Of several for a language the first that is installed is taken.
PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        lldb_dap.PROFILE,
        debugpy.PROFILE,
        delve.PROFILE,
        gdb.PROFILE,
        codelldb.PROFILE,
        js_debug.PROFILE,
    )
}
BACKENDS = ("dap",)


class Configured(configured.Section, Protocol):
    """What the configuration says of one adapter: of ours where it is, of others all."""

    @property
    def args(self) -> tuple[str, ...]:
        """What to start it with."""


def check_backend(name: str | None) -> None:
    """Check a backend's name.

    Raises:
        DebuggerError: USAGE for an unknown one, NOT_SUPPORTED for one that is not here yet.
    """
    if name is not None and name not in BACKENDS:
        known = ", ".join(BACKENDS)
        raise DebuggerError(
            Code.USAGE, f"no backend {name!r}; there are: {known}", hint="debugger start --help"
        )


def profiles(own: Mapping[str, Configured]) -> Mapping[str, Profile]:
    """Return every adapter: ours, and those that the configuration makes of a command.

    Raises:
        DebuggerError: USAGE for a section that is neither, or that cannot be meant.
    """
    found = dict(PROFILES)
    for name, section in own.items():
        if section.command:
            found[name] = configured.profile(name, section)
        elif name not in PROFILES:
            near = near_names(name, PROFILES)
            meant = f"did you mean {near[0]}? " if near else ""
            raise DebuggerError(
                Code.USAGE,
                f"[adapters.{name}] in the configuration has no command, and is none of "
                f"{', '.join(PROFILES)}",
                hint=f"{meant}debugger config --path",
            )
    return found


def profile(name: str, known: Mapping[str, Profile] | None = None) -> Profile:
    """Return an adapter's profile by name.

    Raises:
        DebuggerError: USAGE, naming the known ones.
    """
    known = PROFILES if known is None else known
    found = known.get(name)
    if found is None:
        near = near_names(name, known)
        meant = f"did you mean {near[0]}? " if near else ""
        raise DebuggerError(
            Code.USAGE,
            f"no adapter {name!r}; there are: {', '.join(known)}",
            hint=f"{meant}debugger setup --list",
        )
    return found


def for_language(language: str) -> Profile | None:
    """Return the adapter for a language."""
    return next((one for one in PROFILES.values() if language in one.languages), None)


def for_program(
    path: str, language: str, env: Mapping[str, str], own: Mapping[str, Configured]
) -> Profile | None:
    """Return the adapter for a program, by what its name ends with, else by its language.

    Of several that fit the first that is installed is taken; without one, the first.
    """
    known = profiles(own).values()
    ending = [one for one in known if one.extensions and path.endswith(one.extensions)]
    fitting = ending or [one for one in known if language in one.languages]
    if len(fitting) > 1:
        return next((one for one in fitting if _is_here(one, env, own)), fitting[0])
    return fitting[0] if fitting else None


def _is_here(one: Profile, env: Mapping[str, str], own: Mapping[str, Configured]) -> bool:
    section = own.get(one.name)
    if section is not None and section.path is not None:
        return True  # if it is not there, that is to be told
    try:
        find(one, env, own)
    except DebuggerError:
        return False
    return True


def having(ability: type[Any]) -> str:
    """Name the adapters that have an ability."""
    return ", ".join(
        one.name for one in PROFILES.values() if ability in one.has or ability in one.abilities
    )


def find(chosen: Profile, env: Mapping[str, str], configured: Mapping[str, Configured]) -> Found:
    """Find an adapter on this machine.

    Raises:
        DebuggerError: ADAPTER_NOT_FOUND with the command that installs it.
    """
    own = configured.get(chosen.name)
    path = own.path if own is not None else None
    if path is not None and not Path(path).expanduser().exists():
        raise DebuggerError(
            Code.ADAPTER_NOT_FOUND,
            f"{chosen.name} is not at {path}, where the configuration says it is",
            hint="debugger config shows the configuration",
        )
    search = Search(
        env,
        path=str(Path(path).expanduser()) if path is not None else None,
        args=own.args if own is not None else (),
    )
    try:
        found = chosen.find(search)
    except PermissionError:  # a folder where it may be is closed to us
        found = None
    if found is None:
        raise DebuggerError(
            Code.ADAPTER_NOT_FOUND,
            f"{chosen.name} is not installed",
            hint=f"debugger setup {chosen.name} --yes"
            if chosen.name in PROFILES
            else chosen.install,
        )
    return found


def maker(
    chosen: Profile, found: Found, *, limits: Limits, scratch_root: Path
) -> Callable[[Sink, asyncio.TaskGroup], Backend]:
    """Return what makes a backend for one run; each has a scratch directory of its own."""

    def make(sink: Sink, tasks: asyncio.TaskGroup) -> Backend:
        own = scratch(scratch_root)
        return DapBackend(
            chosen, found, sink=sink, scratch=own, limits=limits, tasks=tasks, others=having
        )

    return make


def scratch(root: Path) -> Path:
    """Make a directory for one adapter; its guard removes it."""
    root.mkdir(mode=0o700, exist_ok=True)
    return Path(tempfile.mkdtemp(dir=root))
