"""What is here to debug with: each adapter really started, the right to trace, what to install."""

from __future__ import annotations

import asyncio
import platform
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from debugger.backends import choose
from debugger.backends.dap.profile import Profile
from debugger.core import answers
from debugger.errors import Code, DebuggerError
from debugger.setup import probe, simulators
from debugger.setup.recipes import RECIPES

_CAP_SYS_PTRACE = 19


async def check(
    env: Mapping[str, str],
    configured: Mapping[str, choose.Configured],
    *,
    only: str | None,
    scratch_root: Path,
    backend: str | None = None,
    adapter: str | None = None,
) -> answers.Doctor:
    """Check everything, or one adapter; `backend` and `adapter` are what the configuration takes.

    Raises:
        DebuggerError: USAGE for an adapter that is not known, ADAPTER_NOT_FOUND or ADAPTER_FAILED
            if the only one that was asked about does not work.
    """
    chosen = _backend(env, backend)
    own = choose.OWN.get(chosen.message.partition(" ")[0]) if chosen.status == "ok" else None
    needed = {adapter, own.name if own is not None else None}
    started = (
        _adapter(one, env, configured, scratch_root, is_needed=one.name in needed)
        for one in _profiles(only, configured)
    )
    checks = list(await asyncio.gather(*started))
    if only is not None and checks[0].status != "ok":
        is_missing = checks[0].version is None and checks[0].path is None
        code = Code.ADAPTER_NOT_FOUND if is_missing else Code.ADAPTER_FAILED
        raise DebuggerError(code, f"{only}: {checks[0].message}", hint=checks[0].fix)
    if only is None:
        checks += [chosen, _python(), _tracing(), await simulators.check(env)]
    return answers.Doctor(checks=tuple(checks))


def _profiles(only: str | None, configured: Mapping[str, choose.Configured]) -> list[Profile]:
    """Return every adapter, those of other backends last, or the one that is asked about."""
    known = choose.profiles(configured)
    if only is None:
        return [*known.values(), *choose.OWN.values()]
    for backend, own in choose.OWN.items():
        if only in {own.name, backend}:
            return [own]
    return [choose.profile(only, known)]


async def _adapter(
    profile: Profile,
    env: Mapping[str, str],
    configured: Mapping[str, choose.Configured],
    scratch_root: Path,
    *,
    is_needed: bool,
) -> answers.Check:
    own = choose.backend_of(profile)
    name = own or profile.name
    maker = "lldb-dap" if own == choose.LLDB_CLI else profile.name
    fix = f"debugger setup {maker} --yes" if maker in RECIPES else profile.install
    section = configured.get(profile.name)
    if section is not None and section.path is not None:
        # What is installed elsewhere is not looked for.
        fix = f"change [adapters.{profile.name}] path: debugger config shows the file"
    version: str | None
    try:
        found = choose.find(profile, env, configured)
    except DebuggerError as error:
        status = "error" if is_needed else "warning"
        if section is not None and section.path is not None:
            fix = error.hint or fix
        return answers.Check(name=name, status=status, message=error.message, fix=fix)
    path = found.argv[0]
    try:
        if own == choose.LLDB_CLI:
            version = await choose.try_command_line(found, env, scratch_root)
        elif own == choose.FRIDA:
            version = await choose.try_inside(found, env, scratch_root)
        else:
            version = await probe.start(profile, found, env, scratch_root)
    except DebuggerError as error:
        if error.code is Code.NOT_SUPPORTED:  # here, whatever is installed
            return answers.Check(name=name, status="warning", message=error.message, path=path)
        return answers.Check(name=name, status="error", message=error.message, path=path, fix=fix)
    languages = ", ".join(language for language in profile.languages if language != "native")
    return answers.Check(
        name=name,
        status="ok",
        message=f"debugs {languages}",
        version=version,
        path=path,
    )


def _backend(env: Mapping[str, str], configured: str | None) -> answers.Check:
    """Say which backend a start without --backend takes, and why."""
    try:
        selected = choose.select(None, env, configured)
    except DebuggerError as error:
        return answers.Check(name="backend", status="error", message=error.message, fix=error.hint)
    others = ", ".join(name for name in choose.BACKENDS if name != selected.name)
    message = f"{selected.name} ({selected.source}); --backend takes {others}, too"
    return answers.Check(name="backend", status="ok", message=message)


def _python() -> answers.Check:
    return answers.Check(
        name="python",
        status="ok",
        message=f"runs the debugger, on {platform.system()} {platform.machine()}",
        version=platform.python_version(),
        path=sys.executable,
    )


def _tracing() -> answers.Check:
    """Say whether a running process can be attached to (ptrace(2), yama's ptrace_scope)."""
    scope = _read("/proc/sys/kernel/yama/ptrace_scope")
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
    match = re.search(r"^CapEff:\s*([0-9a-f]+)$", _read("/proc/self/status"), re.MULTILINE)
    return match is not None and bool(int(match[1], 16) >> number & 1)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return ""
