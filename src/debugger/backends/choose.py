"""Selects the debug adapter and the backend for a program, and builds the backend."""

from __future__ import annotations

import asyncio
import importlib.metadata
import importlib.util
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct

from debugger.backends.base import Backend, Launch, Sink
from debugger.backends.dap.adapters import configured
from debugger.backends.dap.adapters.debugpy import profile as debugpy
from debugger.backends.dap.adapters.delve import profile as delve
from debugger.backends.dap.adapters.gdb import profile as gdb
from debugger.backends.dap.adapters.js_debug import profile as js_debug
from debugger.backends.dap.adapters.lldb import codelldb, lldb_dap
from debugger.backends.dap.backend import DapBackend
from debugger.backends.dap.conversation import Limits
from debugger.backends.dap.profile import Found, Profile, Search
from debugger.backends.frida import able as inside
from debugger.backends.lldb_cli import able
from debugger.backends.lldb_cli import find as lldb
from debugger.backends.lldb_cli.backend import ADAPTER, KIND, LldbBackend
from debugger.backends.lldb_cli.console import Limits as LldbLimits
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
DAP = DapBackend.kind
LLDB_CLI = KIND
FRIDA = inside.KIND
BACKENDS = (DAP, LLDB_CLI, FRIDA)
NAMED = f"{', '.join(BACKENDS[:-1])} or {BACKENDS[-1]}"
_DEFAULT = "default"
_SMALL = "/bin/true"
_OPTION = "--backend"
_CONFIGURED = "[defaults] backend"
_REMEDIES = {
    _OPTION: "debugger doctor shows the backend that is taken without it",
    _CONFIGURED: "debugger config --path",
}
# XcodeBuildMCP's own variable, and the words that it takes.
_OTHERS = "XCODEBUILDMCP_DEBUGGER_BACKEND"
_WORDS = {"lldb": LLDB_CLI}


class Selected(Struct, frozen=True):
    """A selected backend."""

    name: str = DAP
    source: str = _DEFAULT  # the option, variable or setting that selected it

    @property
    def is_explicit(self) -> bool:
        """Whether the command itself names the backend: a program that does not fit is an error."""
        return self.source == _OPTION


def _find_lldb(search: Search) -> Found | None:
    path = search.path or lldb.find(search.env)
    return Found((path, *search.args)) if path is not None else None


# Speaks no DAP: only the profile's name, languages, abilities and hints are used.
BY_COMMAND_LINE = replace(
    lldb_dap.PROFILE,
    name=ADAPTER,
    find=_find_lldb,
    install="debugger setup lldb-dap --yes installs it, too",
    abilities=able.ABILITIES,
    has=frozenset(),
)


def _find_frida(search: Search) -> Found | None:
    del search  # it is of our own Python
    found = [importlib.util.find_spec(name) for name in ("frida", "capstone")]
    if None in found:
        return None
    origin = found[0].origin if found[0] is not None else None
    return Found((origin or inside.ADAPTER,), version=importlib.metadata.version("frida"))


FROM_INSIDE = replace(
    lldb_dap.PROFILE,
    name=inside.ADAPTER,
    languages=("c", "c++", "rust", "native"),
    find=_find_frida,
    install=inside.INSTALL,
    abilities={},
    has=inside.ABLE,
)

# The backends that speak no DAP: each drives one debugger.
OWN: Mapping[str, Profile] = {LLDB_CLI: BY_COMMAND_LINE, FRIDA: FROM_INSIDE}


def backend_of(profile: Profile) -> str | None:
    """Return the backend that drives only this debugger; None for a debugger that speaks DAP."""
    return next((backend for backend, own in OWN.items() if own.name == profile.name), None)


class Configured(configured.Section, Protocol):
    """The configuration section of one adapter."""

    @property
    def args(self) -> tuple[str, ...]:
        """The adapter's extra arguments."""


def select(option: str | None, env: Mapping[str, str], configured: str | None) -> Selected:
    """Select a backend by the command, the environment or the configuration; dap by default.

    Raises:
        DebuggerError: USAGE for an unknown backend, whichever names it.
    """
    given = (
        (option, _OPTION),
        (env.get("DEBUGGER_BACKEND") or None, "DEBUGGER_BACKEND"),
        (env.get(_OTHERS) or None, _OTHERS),
        (configured, _CONFIGURED),
    )
    for word, source in given:
        if word is None:
            continue
        has_words = source in {_OTHERS, _CONFIGURED}  # as XcodeBuildMCP's own configuration has it
        name = _WORDS.get(word, word) if has_words else word
        if name not in BACKENDS:
            known = (*BACKENDS, *_WORDS) if has_words else BACKENDS
            raise DebuggerError(
                Code.USAGE,
                f"no backend {word!r} ({source}); there are: {', '.join(known)}",
                hint=_REMEDIES.get(source, f"unset {source}, or set it to one of them"),
            )
        return Selected(name, source)
    return Selected()


def backend_profile(
    selected: Selected, adapter: str | None, language: str, what: str
) -> Profile | None:
    """Return the adapter profile of a backend other than dap; None where dap is to be used.

    A backend that was selected for all programs is ignored for a program that it cannot debug.
    `adapter` is the adapter that the command names, `what` the target as a message names it.

    Raises:
        DebuggerError: USAGE for another adapter beside the backend, NOT_SUPPORTED for a program
            that the command's own backend cannot debug.
    """
    own = OWN.get(selected.name)
    if own is None:
        return None
    is_other = adapter not in {None, own.name}
    if is_other and selected.is_explicit:
        raise DebuggerError(
            Code.USAGE,
            f"--backend {selected.name} drives {own.name}, and --adapter says {adapter}",
            hint=f"--adapter {own.name}, or none; or --backend {DAP}",
        )
    if language not in own.languages and selected.is_explicit:
        kind = f"it is a {language} program" if language else "it is no program that is known here"
        raise DebuggerError(
            Code.NOT_SUPPORTED,
            f"{selected.name} cannot debug {what}: {kind}",
            hint=f"--backend {DAP}, or none, takes what can",
        )
    return own if language in own.languages and not is_other else None


def profiles(own: Mapping[str, Configured]) -> Mapping[str, Profile]:
    """Return the profiles of all adapters: the built-in ones and those of the configuration.

    Raises:
        DebuggerError: USAGE for a section that is neither, or that is invalid.
    """
    found = dict(PROFILES)
    for name, section in own.items():
        if section.command:
            found[name] = configured.profile(name, section)
        elif name not in PROFILES and name not in [one.name for one in OWN.values()]:
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
    """Return the adapter for a program, by the end of its file name, else by its language.

    Of several that fit, the first that is installed is taken; without one, the first.
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
        return True  # a wrong path is an error of its own
    try:
        find(one, env, own)
    except DebuggerError:
        return False
    return True


def having(ability: type[Any]) -> str:
    """List the adapters that have an ability, and the backends that need no adapter for it."""
    names = [
        one.name for one in PROFILES.values() if ability in one.has or ability in one.abilities
    ]
    names += [
        f"{one.name} (--backend {backend})"
        for backend, one in OWN.items()
        if ability in one.has or ability in one.abilities
    ]
    return ", ".join(names)


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
            hint=f"change [adapters.{chosen.name}] path: debugger config shows the file",
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
            hint=_missing_hint(chosen),
        )
    if path is not None:
        _check_runs(chosen.name, found)
    return found


def _check_runs(name: str, found: Found) -> None:
    """Check that the configured path is a program that can be run."""
    path = Path(found.argv[0])
    if path.is_file() and os.access(path, os.X_OK):
        return
    problem = "is not executable" if path.is_file() else "is no file"
    way = f"chmod u+x {path}, or change" if path.is_file() else "change"
    raise DebuggerError(
        Code.ADAPTER_NOT_FOUND,
        f"{name} cannot be run: {path} {problem}",
        hint=f"{way} [adapters.{name}] path: debugger config shows the file",
    )


def _missing_hint(chosen: Profile) -> str:
    if chosen.name not in PROFILES:
        return chosen.install
    return chosen.missing_hint or f"debugger setup {chosen.name} --yes"


def maker(
    chosen: Profile, found: Found, *, limits: Limits, scratch_root: Path
) -> Callable[[Sink, asyncio.TaskGroup], Backend]:
    """Return a factory of backends for one run; each gets a scratch directory of its own."""

    def make(sink: Sink, tasks: asyncio.TaskGroup) -> Backend:
        own = scratch(scratch_root)
        if chosen.name == FROM_INSIDE.name:
            # Late, for it is an extra of its own, and slow to import.
            from debugger.backends.frida.backend import FridaBackend

            return FridaBackend(sink=sink, scratch=own, tasks=tasks, others=having)
        if chosen.name == BY_COMMAND_LINE.name:
            bounds = LldbLimits(ready_s=limits.initialize_s, answer_s=limits.request_s)
            return LldbBackend(
                found.argv, sink=sink, scratch=own, limits=bounds, tasks=tasks, others=having
            )
        return DapBackend(
            chosen, found, sink=sink, scratch=own, limits=limits, tasks=tasks, others=having
        )

    return make


async def try_command_line(found: Found, env: Mapping[str, str], scratch_root: Path) -> str:
    """Start LLDB's command line and request its version.

    Raises:
        DebuggerError: ADAPTER_FAILED, ADAPTER_DIED, TIMEOUT; NOT_SUPPORTED without Python.
    """
    async with asyncio.TaskGroup() as tasks:
        backend = LldbBackend(
            found.argv,
            sink=lambda _: None,
            scratch=scratch(scratch_root),
            limits=LldbLimits(),
            tasks=tasks,
        )
        try:
            return await backend.probe(env)
        finally:
            await backend.close(kill=True)


async def try_inside(found: Found, env: Mapping[str, str], scratch_root: Path) -> str | None:
    """Run a small program with the in-process engine; return Frida's version.

    Raises:
        DebuggerError: NOT_SUPPORTED on another system, ADAPTER_FAILED, ADAPTER_DIED, TIMEOUT.
    """
    from debugger.backends.frida.backend import FridaBackend  # as above

    async with asyncio.TaskGroup() as tasks:
        backend = FridaBackend(sink=lambda _: None, scratch=scratch(scratch_root), tasks=tasks)
        problem: DebuggerError | None = None
        try:
            await backend.start(Launch(program=_SMALL, cwd="/", env=env))
        except DebuggerError as error:
            problem = error  # raised here it would come out as a group of errors
        finally:
            await backend.close(kill=True)
    if problem is not None:
        raise problem
    return found.version


def scratch(root: Path) -> Path:
    """Make a directory for one adapter; its guard removes it."""
    root.mkdir(mode=0o700, exist_ok=True)
    return Path(tempfile.mkdtemp(dir=root))
