"""Which debugger drives a program, and how it is made."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from debugger.backends.base import Backend, Sink
from debugger.backends.dap.adapters import debugpy, lldb_dap
from debugger.backends.dap.backend import DapBackend
from debugger.backends.dap.conversation import Limits
from debugger.backends.dap.profile import Found, Profile, Search
from debugger.core.locate import near_names
from debugger.errors import Code, DebuggerError

PROFILES: Mapping[str, Profile] = {
    profile.name: profile for profile in (lldb_dap.PROFILE, debugpy.PROFILE)
}
BACKENDS = ("dap",)


class Configured(Protocol):
    """What the configuration says of one adapter."""

    @property
    def path(self) -> str | None:
        """Where it is."""

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


def profile(name: str) -> Profile:
    """Return an adapter's profile by name.

    Raises:
        DebuggerError: USAGE, naming the known ones.
    """
    found = PROFILES.get(name)
    if found is None:
        near = near_names(name, PROFILES)
        meant = f"did you mean {near[0]}? " if near else ""
        raise DebuggerError(
            Code.USAGE,
            f"no adapter {name!r}; there are: {', '.join(PROFILES)}",
            hint=f"{meant}debugger doctor",
        )
    return found


def for_language(language: str) -> Profile | None:
    """Return the adapter for a language."""
    return next((one for one in PROFILES.values() if language in one.languages), None)


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
    found = chosen.find(search)
    if found is None:
        raise DebuggerError(
            Code.ADAPTER_NOT_FOUND,
            f"{chosen.name} is not installed",
            hint=f"install it: {chosen.install}; then: debugger doctor",
        )
    return found


def maker(
    chosen: Profile, found: Found, *, limits: Limits, scratch_root: Path
) -> Callable[[Sink, asyncio.TaskGroup], Backend]:
    """Return what makes a backend for one run; each has a scratch directory of its own."""

    def make(sink: Sink, tasks: asyncio.TaskGroup) -> Backend:
        own = scratch(scratch_root)
        return DapBackend(chosen, found, sink=sink, scratch=own, limits=limits, tasks=tasks)

    return make


def scratch(root: Path) -> Path:
    """Make a directory for one adapter; its guard removes it."""
    root.mkdir(mode=0o700, exist_ok=True)
    return Path(tempfile.mkdtemp(dir=root))
