"""Checks this machine for debugging: each adapter (started), the right to trace, missing tools."""

from __future__ import annotations

import asyncio
import platform
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from debugger.backends import backend_names, select_backend
from debugger.backends.dap.conversation import AdapterConversation
from debugger.backends.dap.dap_client import AdapterLimits
from debugger.backends.dap.debug_adapter import AdapterLocation, DebugAdapter
from debugger.errors import DebuggerError, ErrorCode
from debugger.install.recipes import RECIPES
from debugger.model import answers
from debugger.model.program import Stopped
from debugger.targets import process_target

_PROBE_S = 10.0  # seconds


async def check_adapter_starts(
    adapter: DebugAdapter, found: AdapterLocation, env: Mapping[str, str], scratch_root: Path
) -> str | None:
    """Start an adapter and initialize it; return its version, if known.

    Raises:
        DebuggerError: ADAPTER_FAILED, TIMEOUT.
    """

    async def stands(stop: Stopped) -> Stopped | None:
        return stop

    scratch_root.mkdir(mode=0o700, exist_ok=True)
    async with asyncio.TaskGroup() as tasks:
        talk = AdapterConversation(
            adapter,
            found,
            sink=lambda _: None,
            scratch=select_backend.make_scratch(scratch_root),
            limits=AdapterLimits(initialize_s=_PROBE_S),
            judge=stands,
            on_child=lambda *_: None,
            tasks=tasks,
        )
        problem: DebuggerError | None = None
        capabilities: dict[str, Any] = {}
        try:
            capabilities = await talk.probe_adapter("/", env)
        except DebuggerError as error:
            problem = error  # raised here it would come out as a group of errors
        finally:
            await talk.close(kill=True)
    if problem is not None:
        raise problem
    return found.version or _adapter_version(capabilities)


def _adapter_version(capabilities: Mapping[str, Any]) -> str | None:
    version = capabilities.get("__lldb")
    text = str(version.get("version", "")) if isinstance(version, dict) else ""
    match = re.search(r"\d+(\.\d+)+", text)
    return match[0] if match else None


_CAP_SYS_PTRACE = 19


async def check_machine(
    env: Mapping[str, str],
    configured: Mapping[str, select_backend.ConfiguredAdapter],
    *,
    only: str | None,
    scratch_root: Path,
    backend: str | None = None,
    adapter: str | None = None,
) -> answers.Doctor:
    """Check everything, or one adapter; `backend` and `adapter` are the configured values.

    Raises:
        DebuggerError: USAGE for an unknown adapter, ADAPTER_NOT_FOUND or ADAPTER_FAILED if the only
        requested one does not work.
    """
    chosen = _check_backend(env, backend)
    own = (
        select_backend.OWN.get(chosen.message.partition(" ")[0]) if chosen.status == "ok" else None
    )
    needed = {adapter, own.name if own is not None else None}
    started = (
        _check_adapter(one, env, configured, scratch_root, is_needed=one.name in needed)
        for one in _checked_profiles(only, configured)
    )
    checks = list(await asyncio.gather(*started))
    if only is not None and checks[0].status != "ok":
        is_missing = checks[0].version is None and checks[0].path is None
        code = ErrorCode.ADAPTER_NOT_FOUND if is_missing else ErrorCode.ADAPTER_FAILED
        raise DebuggerError(code, f"{only}: {checks[0].message}", hint=checks[0].fix)
    if only is None:
        checks += [
            chosen,
            _check_python(),
            _check_tracing(),
            await process_target.check_simulators(env),
        ]
    return answers.Doctor(checks=tuple(checks))


def _checked_profiles(
    only: str | None, configured: Mapping[str, select_backend.ConfiguredAdapter]
) -> list[DebugAdapter]:
    """Return every adapter, those of other backends last, or the requested one."""
    known = select_backend.list_adapters(configured)
    if only is None:
        return [*known.values(), *select_backend.OWN.values()]
    for backend, own in select_backend.OWN.items():
        if only in {own.name, backend}:
            return [own]
    return [select_backend.find_named_adapter(only, known)]


async def _check_adapter(
    adapter: DebugAdapter,
    env: Mapping[str, str],
    configured: Mapping[str, select_backend.ConfiguredAdapter],
    scratch_root: Path,
    *,
    is_needed: bool,
) -> answers.Check:
    own = select_backend.find_backend_name(adapter)
    name = own or adapter.name
    maker = "lldb-dap" if own == backend_names.LLDB_CLI else adapter.name
    fix = f"debugger setup {maker} --yes" if maker in RECIPES else adapter.install_command
    section = configured.get(adapter.name)
    if section is not None and section.path is not None:
        # What is installed elsewhere is not looked for.
        fix = f"change [adapters.{adapter.name}] path: debugger config shows the file"
    version: str | None
    try:
        found = select_backend.find_adapter(adapter, env, configured)
    except DebuggerError as error:
        status = "error" if is_needed else "warning"
        if section is not None and section.path is not None:
            fix = error.hint or fix
        return answers.Check(name=name, status=status, message=error.message, fix=fix)
    path = found.program or found.argv[0]
    try:
        if own == backend_names.LLDB_CLI:
            version = await select_backend.try_lldb_cli(found, env, scratch_root)
        elif own == backend_names.FRIDA:
            version = await select_backend.try_frida(found, env, scratch_root)
        else:
            version = await check_adapter_starts(adapter, found, env, scratch_root)
    except DebuggerError as error:
        if error.code is ErrorCode.NOT_SUPPORTED:  # here, whatever is installed
            return answers.Check(name=name, status="warning", message=error.message, path=path)
        return answers.Check(name=name, status="error", message=error.message, path=path, fix=fix)
    languages = ", ".join(language for language in adapter.languages if language != "native")
    return answers.Check(
        name=name,
        status="ok",
        message=f"debugs {languages}",
        version=version,
        path=path,
    )


def _check_backend(env: Mapping[str, str], configured: str | None) -> answers.Check:
    """Report the backend of a start without --backend, and the reason."""
    try:
        selected = select_backend.choose_backend(None, env, configured)
    except DebuggerError as error:
        return answers.Check(name="backend", status="error", message=error.message, fix=error.hint)
    others = ", ".join(name for name in backend_names.BACKENDS if name != selected.name)
    message = f"{selected.name} ({selected.source}); --backend takes {others}, too"
    return answers.Check(name="backend", status="ok", message=message)


def _check_python() -> answers.Check:
    return answers.Check(
        name="python",
        status="ok",
        message=f"runs the debugger, on {platform.system()} {platform.machine()}",
        version=platform.python_version(),
        path=sys.executable,
    )


def _check_tracing() -> answers.Check:
    """Report whether a running process can be attached to (ptrace(2), yama's ptrace_scope)."""
    scope = _read_text("/proc/sys/kernel/yama/ptrace_scope")
    has_right = _has_capability(_CAP_SYS_PTRACE)
    if scope in {"", "0"} or (has_right and scope != "3"):
        message = "programs can be started and attached to"
        return answers.Check(name="ptrace", status="ok", message=message)
    if scope == "3":
        return answers.Check(
            name="ptrace",
            status="error",
            message="yama forbids all tracing (ptrace_scope 3); only a reboot changes it",
        )
    return answers.Check(
        name="ptrace",
        status="warning",
        message=f"programs can be started, but not attached to: yama's ptrace_scope is {scope}",
        fix="sudo sysctl kernel.yama.ptrace_scope=0",
    )


def _has_capability(number: int) -> bool:
    match = re.search(r"^CapEff:\s*([0-9a-f]+)$", _read_text("/proc/self/status"), re.MULTILINE)
    return match is not None and bool(int(match[1], 16) >> number & 1)


def _read_text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return ""
