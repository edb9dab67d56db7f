"""Selects the debug adapter and the backend for a program, and builds the backend."""

from __future__ import annotations

import asyncio
import importlib.metadata
import importlib.util
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Protocol

from msgspec import Struct

from debugger.backends.adapters import configured_adapter
from debugger.backends.adapters.debugpy.debugpy_adapter import DebugpyAdapter
from debugger.backends.adapters.delve.delve_adapter import DelveAdapter
from debugger.backends.adapters.gdb.gdb_adapter import GdbAdapter
from debugger.backends.adapters.java.java_adapter import JavaAdapter
from debugger.backends.adapters.js_debug.js_adapter import JsDebugAdapter
from debugger.backends.adapters.lldb import codelldb_adapter, lldb_dap_adapter
from debugger.backends.adapters.rdbg.rdbg_adapter import RdbgAdapter
from debugger.backends.adapters.xdebug.xdebug_adapter import XdebugAdapter
from debugger.backends.backend_names import BACKENDS, DAP, FRIDA, LLDB_CLI
from debugger.backends.base import Backend, LaunchTarget, Sink
from debugger.backends.dap.dap_backend import DapBackend
from debugger.backends.dap.dap_client import AdapterLimits
from debugger.backends.dap.debug_adapter import AdapterLocation, AdapterSearch, DebugAdapter
from debugger.backends.inprocess import backend_abilities as inside
from debugger.backends.launcher_backend import LauncherBackend
from debugger.backends.lldb.command_line import cli_abilities
from debugger.backends.lldb.command_line import lldb_console as lldb
from debugger.backends.lldb.command_line.lldb_backend import ADAPTER as CONSOLE_ADAPTER
from debugger.backends.lldb.command_line.lldb_backend import LldbBackend
from debugger.backends.lldb.command_line.lldb_console import LldbLimits
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.debugger_words import ForkFollowing
from debugger.model.location import near_names

# Of several for a language the first that is installed is taken.
ADAPTERS: Mapping[str, DebugAdapter] = {
    adapter.name: adapter
    for adapter in (
        lldb_dap_adapter.LldbDapAdapter(),
        DebugpyAdapter(),
        DelveAdapter(),
        GdbAdapter(),
        codelldb_adapter.CodeLldbAdapter(),
        JsDebugAdapter(),
        JavaAdapter(),
        RdbgAdapter(),
        XdebugAdapter(),
    )
}
PYTHON_ADAPTER = DebugpyAdapter.name
_DEFAULT = "default"
# A program for the trial of the in-process engine: any that ends by itself.
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


class SelectedBackend(Struct, frozen=True):
    """A selected backend."""

    name: str = DAP
    source: str = _DEFAULT  # the option, variable or setting that selected it

    @property
    def is_explicit(self) -> bool:
        """Whether the command itself names the backend: a program that does not fit is an error."""
        return self.source == _OPTION


class LldbConsoleAdapter(lldb_dap_adapter.LldbDapAdapter):
    """LLDB's command line. It speaks no DAP: only facts, abilities and hints are used.

    An adapter, so that selection, `doctor` and the hints treat the backend as any other.
    """

    name = CONSOLE_ADAPTER
    traits = LldbBackend.traits
    install_command = "debugger setup lldb-dap --yes installs it, too"
    own_abilities = cli_abilities.ABILITIES
    request_abilities = frozenset()

    def find_installation(self, search: AdapterSearch) -> AdapterLocation | None:
        """Return the command that starts LLDB; None if it is not installed."""
        path = search.path or lldb.find_lldb(search.env)
        return AdapterLocation((path, *search.args)) if path is not None else None


class FridaAdapter(lldb_dap_adapter.LldbDapAdapter):
    """The in-process engine, which speaks no DAP either."""

    name = inside.ADAPTER
    traits = inside.TRAITS
    languages = ("c", "c++", "rust", "native")
    install_command = inside.INSTALL
    own_abilities: ClassVar = {}
    request_abilities = inside.ABLE

    def find_installation(self, search: AdapterSearch) -> AdapterLocation | None:
        """Return where Frida is; None if it or capstone is not installed."""
        del search  # it is of our own Python
        module_specs = [importlib.util.find_spec(name) for name in ("frida", "capstone")]
        if None in module_specs:
            return None
        origin = module_specs[0].origin if module_specs[0] is not None else None
        version = importlib.metadata.version("frida")
        return AdapterLocation((origin or self.name,), version=version)


BY_COMMAND_LINE = LldbConsoleAdapter()
FROM_INSIDE = FridaAdapter()

# The backends that speak no DAP: each drives one debugger.
OWN: Mapping[str, DebugAdapter] = {LLDB_CLI: BY_COMMAND_LINE, FRIDA: FROM_INSIDE}


def find_backend_name(adapter: DebugAdapter) -> str | None:
    """Return the backend that drives only this debugger; None for a debugger that speaks DAP."""
    return next((backend for backend, own in OWN.items() if own.name == adapter.name), None)


class ConfiguredAdapter(configured_adapter.AdapterSection, Protocol):
    """The configuration section of one adapter."""

    @property
    def args(self) -> tuple[str, ...]:
        """The adapter's extra arguments."""


def choose_backend(
    option: str | None, env: Mapping[str, str], configured: str | None
) -> SelectedBackend:
    """Select a backend by the command, the environment or the configuration; dap by default.

    Raises:
        DebuggerError: USAGE for an unknown backend, whichever names it.
    """
    # The first of these that is set decides, even if it is invalid: a typing error must not select
    # another backend.
    candidates = (
        (option, _OPTION),
        (env.get("DEBUGGER_BACKEND") or None, "DEBUGGER_BACKEND"),
        (env.get(_OTHERS) or None, _OTHERS),
        (configured, _CONFIGURED),
    )
    for word, source in candidates:
        if word is None:
            continue
        takes_aliases = source in {
            _OTHERS,
            _CONFIGURED,
        }  # as XcodeBuildMCP's own configuration has it
        name = _WORDS.get(word, word) if takes_aliases else word
        if name not in BACKENDS:
            known = (*BACKENDS, *_WORDS) if takes_aliases else BACKENDS
            raise DebuggerError(
                ErrorCode.USAGE,
                f"no backend {word!r} ({source}); there are: {', '.join(known)}",
                hint=_REMEDIES.get(source, f"unset {source}, or set it to one of them"),
            )
        return SelectedBackend(name, source)
    return SelectedBackend()


def resolve_backend_adapter(
    selected: SelectedBackend, adapter: str | None, language: str, what: str
) -> DebugAdapter | None:
    """Return the adapter of a backend other than dap; None where dap is to be used.

    A backend that was selected for all programs is ignored for a program that it cannot debug.
    `adapter` is the adapter that the command names, `what` the target as a message names it.

    Raises:
        DebuggerError: USAGE for another adapter beside the backend, NOT_SUPPORTED for a program
            that the command's own backend cannot debug.
    """
    own = OWN.get(selected.name)
    if own is None:
        return None
    # A backend that comes from the environment or the configuration gives way to the command's own
    # adapter.
    is_other = adapter not in {None, own.name}
    if is_other and selected.is_explicit:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--backend {selected.name} drives {own.name}, and --adapter says {adapter}",
            hint=f"--adapter {own.name}, or none; or --backend {DAP}",
        )
    if language not in own.languages and selected.is_explicit:
        kind = f"it is a {language} program" if language else "it is no program that is known here"
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{selected.name} cannot debug {what}: {kind}",
            hint=f"--backend {DAP}, or none, takes what can",
        )
    return own if language in own.languages and not is_other else None


def list_adapters(own: Mapping[str, ConfiguredAdapter]) -> Mapping[str, DebugAdapter]:
    """Return all adapters: the built-in ones and those of the configuration.

    Raises:
        DebuggerError: USAGE for a section that is neither, or that is invalid.
    """
    # A section with a command replaces a built-in adapter of that name.
    known = dict(ADAPTERS)
    for name, section in own.items():
        if section.command:
            known[name] = configured_adapter.SectionAdapter(name, section)
        elif name not in ADAPTERS and name not in [one.name for one in OWN.values()]:
            near = near_names(name, ADAPTERS)
            suggestion = f"did you mean {near[0]}? " if near else ""
            raise DebuggerError(
                ErrorCode.USAGE,
                f"[adapters.{name}] in the configuration has no command, and is none of "
                f"{', '.join(ADAPTERS)}",
                hint=f"{suggestion}debugger config --path",
            )
    return known


def find_named_adapter(name: str, known: Mapping[str, DebugAdapter] | None = None) -> DebugAdapter:
    """Return an adapter by name.

    Raises:
        DebuggerError: USAGE, naming the known ones.
    """
    known = ADAPTERS if known is None else known
    match = known.get(name)
    if match is None:
        near = near_names(name, known)
        suggestion = f"did you mean {near[0]}? " if near else ""
        raise DebuggerError(
            ErrorCode.USAGE,
            f"no adapter {name!r}; there are: {', '.join(known)}",
            hint=f"{suggestion}debugger setup --list",
        )
    return match


def find_language_adapter(language: str) -> DebugAdapter | None:
    """Return the adapter for a language."""
    return next((one for one in ADAPTERS.values() if language in one.languages), None)


def choose_program_adapter(
    path: str,
    language: str,
    env: Mapping[str, str],
    own: Mapping[str, ConfiguredAdapter],
    type_language: str = "",
) -> DebugAdapter | None:
    """Return the adapter for a program, by the end of its file name, else by its language.

    Of several that fit, the first that is installed is taken; without one, the first. One that
    knows the types of the language goes before those that do not.
    """
    known = list_adapters(own).values()
    # A configured adapter's extensions go before languages: the user has named them.
    ending = [one for one in known if one.extensions and path.endswith(one.extensions)]
    fitting = ending or sorted(
        (one for one in known if language in one.languages),
        key=lambda one: type_language not in one.type_languages,
    )
    # Only then the search is needed, which runs programs.
    if len(fitting) > 1:
        return next((one for one in fitting if _is_installed(one, env, own)), fitting[0])
    return fitting[0] if fitting else None


def _is_installed(
    one: DebugAdapter, env: Mapping[str, str], own: Mapping[str, ConfiguredAdapter]
) -> bool:
    section = own.get(one.name)
    if section is not None and section.path is not None:
        return True  # a wrong path is an error of its own
    try:
        find_adapter(one, env, own)
    except DebuggerError:
        return False
    return True


def find_fork_follower(
    language: str, env: Mapping[str, str], own: Mapping[str, ConfiguredAdapter]
) -> str | None:
    """Return the name of an installed adapter for a language that also debugs forked processes."""
    for one in list_adapters(own).values():
        follows = one.traits.fork_following is not ForkFollowing.NEVER
        if language in one.languages and follows and _is_installed(one, env, own):
            return one.name
    return None


def adapters_with(ability: type[Any]) -> str:
    """List the adapters that have an ability, and the backends that need no adapter for it."""
    names = [
        one.name
        for one in ADAPTERS.values()
        if ability in one.request_abilities or ability in one.own_abilities
    ]
    names += [
        f"{one.name} (--backend {backend})"
        for backend, one in OWN.items()
        if ability in one.request_abilities or ability in one.own_abilities
    ]
    return ", ".join(names)


def find_adapter(
    chosen: DebugAdapter, env: Mapping[str, str], configured: Mapping[str, ConfiguredAdapter]
) -> AdapterLocation:
    """Find an adapter on this machine.

    Raises:
        DebuggerError: ADAPTER_NOT_FOUND with the command that installs it.
    """
    section = configured.get(chosen.name)
    path = section.path if section is not None else None
    if path is not None and not Path(path).expanduser().exists():
        raise DebuggerError(
            ErrorCode.ADAPTER_NOT_FOUND,
            f"{chosen.name} is not at {path}, the path in the configuration",
            hint=f"change [adapters.{chosen.name}] path: debugger config shows the file",
        )
    # The caller's environment, not the daemon's: PATH, HOME and toolchains are the user's.
    search = AdapterSearch(
        env,
        path=str(Path(path).expanduser()) if path is not None else None,
        args=section.args if section is not None else (),
    )
    try:
        location = chosen.find_installation(search)
    except PermissionError:  # a folder where it may be is closed to us
        location = None
    if location is None:
        raise DebuggerError(
            ErrorCode.ADAPTER_NOT_FOUND,
            f"{chosen.name} is not installed",
            hint=_build_install_hint(chosen),
        )
    if path is not None:
        _check_executable(chosen.name, location)
    return location


_SCRIPTED = "gdb"
_ADAPTER_OPTION = "-i"
# What runs inside it for the questions that trace a whole run.
TRACE_SCRIPT = Path(__file__).parent / "adapters" / "gdb" / "inside" / "gdb_traced_run.py"


def find_scripted_debugger(
    env: Mapping[str, str], configured: Mapping[str, ConfiguredAdapter]
) -> tuple[str, ...]:
    """Return the command of the debugger that runs `TRACE_SCRIPT`, without an adapter.

    Raises:
        DebuggerError: ADAPTER_NOT_FOUND with the command that installs it.
    """
    argv = find_adapter(find_named_adapter(_SCRIPTED), env, configured).argv
    # The words of the adapter begin with the script that adds requests to it.
    command = argv[: argv.index(_ADAPTER_OPTION) - 2] if _ADAPTER_OPTION in argv else argv
    return (*command, "-batch", "-ex", f"source {TRACE_SCRIPT}")


def _check_executable(name: str, found: AdapterLocation) -> None:
    """Check that the configured path is a program that can be run."""
    path = Path(found.argv[0])
    if path.is_file() and os.access(path, os.X_OK):
        return
    problem = "is not executable" if path.is_file() else "is no file"
    remedy = f"chmod u+x {path}, or change" if path.is_file() else "change"
    raise DebuggerError(
        ErrorCode.ADAPTER_NOT_FOUND,
        f"{name} cannot be run: {path} {problem}",
        hint=f"{remedy} [adapters.{name}] path: debugger config shows the file",
    )


def _build_install_hint(chosen: DebugAdapter) -> str:
    if chosen.name not in ADAPTERS:
        return chosen.install_command
    return chosen.missing_hint or f"debugger setup {chosen.name} --yes"


def backend_maker(
    chosen: DebugAdapter, found: AdapterLocation, *, limits: AdapterLimits, scratch_root: Path
) -> Callable[[Sink, asyncio.TaskGroup], Backend]:
    """Return a factory of backends for one run; each gets a scratch directory of its own."""

    def make_backend(sink: Sink, tasks: asyncio.TaskGroup) -> Backend:
        # For each run a new one, made at the last moment: its guard removes it.
        scratch_directory = make_scratch(scratch_root)
        if chosen.name == FROM_INSIDE.name:
            # Late, for it is an extra of its own, and slow to import.
            from debugger.backends.inprocess.frida_backend import FridaBackend

            return FridaBackend(
                sink=sink, scratch=scratch_directory, tasks=tasks, others=adapters_with
            )
        if chosen.name == BY_COMMAND_LINE.name:
            bounds = LldbLimits(ready_s=limits.initialize_s, answer_s=limits.request_s)
            return LldbBackend(
                found.argv,
                sink=sink,
                scratch=scratch_directory,
                limits=bounds,
                tasks=tasks,
                others=adapters_with,
            )
        return DapBackend(
            chosen,
            found,
            sink=sink,
            scratch=scratch_directory,
            limits=limits,
            tasks=tasks,
            others=adapters_with,
        )

    return make_backend


def launcher_maker(scratch_root: Path) -> Callable[[Sink, asyncio.TaskGroup], Backend]:
    """Return a factory of backends for the launcher of a job."""

    def make(sink: Sink, tasks: asyncio.TaskGroup) -> Backend:
        return LauncherBackend(sink, tasks, scratch=make_scratch(scratch_root))

    return make


async def try_lldb_cli(found: AdapterLocation, env: Mapping[str, str], scratch_root: Path) -> str:
    """Start LLDB's command line and request its version.

    Raises:
        DebuggerError: ADAPTER_FAILED, ADAPTER_DIED, TIMEOUT; NOT_SUPPORTED without Python.
    """
    async with asyncio.TaskGroup() as tasks:
        backend = LldbBackend(
            found.argv,
            sink=lambda _: None,
            scratch=make_scratch(scratch_root),
            limits=LldbLimits(),
            tasks=tasks,
        )
        try:
            # A start is the test: an LLDB without Python, or with a broken one, starts and cannot
            # be driven.
            return await backend.probe_version(env)
        finally:
            await backend.close(kill=True)


async def try_frida(
    found: AdapterLocation, env: Mapping[str, str], scratch_root: Path
) -> str | None:
    """Run a small program with the in-process engine; return Frida's version.

    Raises:
        DebuggerError: NOT_SUPPORTED on another system, ADAPTER_FAILED, ADAPTER_DIED, TIMEOUT.
    """
    from debugger.backends.inprocess.frida_backend import FridaBackend  # as above

    async with asyncio.TaskGroup() as tasks:
        backend = FridaBackend(sink=lambda _: None, scratch=make_scratch(scratch_root), tasks=tasks)
        problem: DebuggerError | None = None
        try:
            await backend.start(LaunchTarget(program=_SMALL, cwd="/", env=env))
        except DebuggerError as error:
            problem = error  # raised here it would come out as a group of errors
        finally:
            await backend.close(kill=True)
    if problem is not None:
        raise problem
    return found.version


def make_scratch(root: Path) -> Path:
    """Make a directory for one adapter; its guard removes it."""
    # Pipes with the program's data are in it.
    root.mkdir(mode=0o700, exist_ok=True)
    return Path(tempfile.mkdtemp(dir=root))
