"""How a session begins: its backend, its first breakpoints, and what of them did not bind."""

from __future__ import annotations

import asyncio
import os

import msgspec
from msgspec import UNSET

from debugger.backends import choose
from debugger.backends.dap.conversation import Limits
from debugger.backends.dap.profile import Profile
from debugger.backends.mapped import mapping
from debugger.commands.call import Call
from debugger.core.state import State
from debugger.errors import Code, DebuggerError
from debugger.session import views
from debugger.session.session import MakeBackend, Session
from debugger.setup import attaching, launching
from debugger.targets import command as commands

_REQUEST_MS = "XCODEBUILDMCP_DAP_REQUEST_TIMEOUT_MS"
_YES = frozenset({"1", "true", "TRUE", "yes"})
_LOOK_S = 10.0  # a host's name may take long to resolve


def with_default(call: Call, wanted: launching.Wanted) -> launching.Wanted:
    """Take the configured adapter where it fits the program."""
    name = call.config.defaults.adapter
    if wanted.adapter is not None or name is None or wanted.module is not None:
        return wanted
    choose.profile(name, choose.profiles(call.config.adapters))  # an unknown one is an error
    try:
        # A backend that was selected, and that fits, comes before the adapter of another.
        if choose.backend_of(launching.prepare(wanted)[1]) is not None:
            return wanted
        configured = msgspec.structs.replace(wanted, adapter=name)
        launching.prepare(configured)
    except DebuggerError:
        return wanted
    return configured


def machine(call: Call) -> commands.Machine:
    """Return what is on this machine for the caller's directory and environment."""
    path = call.env.get("PATH", os.defpath).split(os.pathsep)
    folders = [os.path.join(call.cwd, folder) for folder in path]
    return commands.Machine(
        call.cwd, lambda name: launching.which(name, call.env, call.cwd), folders
    )


def unmanaged(call: Call, wanted: launching.Wanted) -> launching.Wanted:
    """Take `uv run CMD` and its like for CMD in the project's environment.

    Raises:
        DebuggerError: USAGE where that environment is not known; LAUNCH_FAILED for no such CMD.
    """
    if wanted.program is None or not commands.is_managed(wanted.program, wanted.args):
        return wanted
    read = commands.read([wanted.program, *wanted.args], machine(call), verb="start")
    return msgspec.structs.replace(
        wanted,
        program=read.program if read.module is None else None,
        module=read.module,
        args=read.args,
        python=wanted.python or read.python,
        changed_env=(*(f"{name}={value}" for name, value in read.env), *wanted.changed_env),
    )


def held(call: Call) -> dict[int, str]:
    """Return which processes have a session, by their pids: a program has one debugger."""
    live = (one for one in call.sessions.listed() if one.is_live)
    return {one.pid: one.name for one in live if one.pid is not None}


async def located(wanted: attaching.Wanted, *, hint: str) -> attaching.Prepared:
    """Find what is to be attached to, within 10 s; `hint` is for when it is not found in time.

    Raises:
        DebuggerError: TIMEOUT; what preparing to attach raises.
    """
    try:
        async with asyncio.timeout(_LOOK_S):
            return await asyncio.to_thread(attaching.prepare, wanted)
    except TimeoutError:
        raise DebuggerError(
            Code.TIMEOUT,
            f"{wanted.connect or 'the process'} was not found within {_LOOK_S:g} s",
            hint=hint,
        ) from None


def maker(call: Call, profile: Profile) -> MakeBackend:
    """Return what makes a backend for a session.

    Raises:
        DebuggerError: ADAPTER_NOT_FOUND, USAGE for a source map that is none.
    """
    found = choose.find(profile, call.env, call.config.adapters)
    limits = Limits(
        initialize_s=call.config.timeouts.dap_initialize_secs,
        request_s=_request_s(call),
        logs_messages=call.config.daemon.log_dap
        or call.env.get("XCODEBUILDMCP_DAP_LOG_EVENTS", "") in _YES,
    )
    make = choose.maker(profile, found, limits=limits, scratch_root=call.scratch_root)
    return mapping(make, call.source_map())


def _request_s(call: Call) -> float:
    """Return how long a request may take: of XcodeBuildMCP's variable, or of the configuration.

    Raises:
        DebuggerError: USAGE for a variable that is no number of milliseconds.
    """
    given = call.env.get(_REQUEST_MS)
    if not given:
        return call.config.timeouts.dap_request_secs
    if not given.isdecimal() or not int(given):
        raise DebuggerError(
            Code.USAGE,
            f"{_REQUEST_MS} is a number of milliseconds above 0, not {given!r}",
            hint=f"unset {_REQUEST_MS}",
        )
    return int(given) / 1000


async def begin(call: Call, session: Session) -> None:
    """Begin a session; one that cannot begin is forgotten.

    Raises:
        DebuggerError: What starting, or attaching to, the program raises.
    """
    try:
        await session.do(session.begin)
    except DebuggerError:
        await call.sessions.close(session, kill=True)
        raise
    except asyncio.CancelledError:
        if session.state is State.IDLE:  # it has not begun, and now never will
            await call.sessions.close(session, kill=True)
        raise


def breakpoint_notes(session: Session) -> list[str]:
    """Say which breakpoints did not bind, and why, and which are elsewhere than was asked for."""
    notes = []
    for one in session.breakpoints.listed():
        view = views.breakpoint_view(one)
        if one.at is not None and one.at.note is not None and view.why_unbound is UNSET:
            notes.append(f"breakpoint {one.id}: {one.at.note}")
        relatives = session.family.relatives(session)
        if view.why_unbound is UNSET or any(each.breakpoints.hits(one.id) for each in relatives):
            continue
        choices = [*map(str, view.nearest_lines or ()), *(view.near_names or ())]
        near = f"; nearest: {', '.join(choices)}" if choices else ""
        notes.append(f"breakpoint {one.id} is pending: {view.why_unbound}{near}")
    return notes
