"""Finds a simulator, and the process of an app there, by `xcrun simctl`.

The device list is JSON, grouped by runtime. The processes come from `launchctl list` in the
simulator, one line each: pid or `-`, status, label. An app's label is its bundle id, or since iOS
11 `UIKitApplication:BUNDLE_ID[…][…]`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import signal
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.location import near_names

XCRUN_S = 30.0  # the first call after a start of the machine starts CoreSimulator
_AGAIN_S = 0.25  # seconds between two looks for an app
_END_S = 5.0  # seconds to collect a killed xcrun
_SHOWN = 300  # characters of xcrun's last output
_NAMES_MAX = 10
_UDID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_RUNTIME = "com.apple.CoreSimulator.SimRuntime."
LIST = "xcrun simctl list devices available"


class SimulatorDevice(Struct, frozen=True):
    """A simulator; `runtime` is like `iOS-18-0`, `state` like `Booted` or `Shutdown`."""

    udid: str
    name: str
    runtime: str = ""
    state: str = ""
    is_available: bool = True


class _DeviceRecord(Struct, frozen=True, rename="camel"):
    """A device in simctl's listing."""

    udid: str
    name: str
    state: str = ""
    is_available: bool = True


class _DeviceListing(Struct, frozen=True):
    """The device listing of simctl."""

    devices: dict[str, list[_DeviceRecord]]


# --- pure: what was told -------------------------------------------------------------------------


def is_udid(word: str) -> bool:
    """Return whether a word is a simulator's identifier, as opposed to a name."""
    return _UDID.fullmatch(word) is not None


def parse_devices(text: str) -> list[SimulatorDevice]:
    """Parse the devices of `xcrun simctl list devices -j`.

    Raises:
        DebuggerError: PROTOCOL for malformed output.
    """
    try:
        listing = msgspec.json.decode(text, type=_DeviceListing)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise DebuggerError(
            ErrorCode.PROTOCOL, f"Failed to parse simulator list: {error}", hint=f"{LIST} -j"
        ) from error
    return [
        SimulatorDevice(
            udid=one.udid,
            name=one.name,
            runtime=runtime.removeprefix(_RUNTIME),
            state=one.state,
            is_available=one.is_available,
        )
        for runtime, devices in listing.devices.items()
        for one in devices
    ]


def choose_device(name: str, known: Sequence[SimulatorDevice]) -> SimulatorDevice:
    """Return the device of a name or an identifier; among several the booted one.

    Raises:
        DebuggerError: NOT_FOUND, with near names; USAGE if several match, which it lists.
    """
    named = [one for one in known if name in {one.name, one.udid}]
    found = [one for one in named if one.is_available]
    if not found and named:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"Simulator '{name}' exists but is not available",
            hint="Xcode > Settings > Components installs its runtime; "
            "xcrun simctl list devices shows why",
        )
    if not found:
        near = near_names(name, sorted({one.name for one in known if one.is_available}))
        there_is = f"; there is {', '.join(near)}" if near else ""
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"Simulator '{name}' not found{there_is}",
            hint=f"{LIST} lists them",
        )
    booted = [one for one in found if one.state == "Booted"]
    if len(found) > 1 and len(booted) != 1:
        shown = [f"  {one.udid}  {one.runtime}  {one.state}" for one in found[:_NAMES_MAX]]
        if len(found) > _NAMES_MAX:
            shown.append(f"  and {len(found) - _NAMES_MAX} more")
        lines = [f"{len(found)} simulators are called '{name}':", *shown]
        raise DebuggerError(
            ErrorCode.USAGE, "\n".join(lines), hint=f"give the identifier: {found[0].udid}"
        )
    return booted[0] if booted else found[0]


def pid_of(bundle_id: str, listed: str) -> int | None:
    """Return an app's process in the output of `launchctl list`; None if it does not run.

    Raises:
        DebuggerError: USAGE if several run.
    """
    rows = [line.split(None, 2) for line in listed.splitlines()]
    pids = {
        int(row[0])
        for row in rows
        if len(row) == 3  # noqa: PLR2004 - pid, status, label
        and row[0].isascii()
        and row[0].isdecimal()
        and _is_app(row[2].strip(), bundle_id)
    }
    pids.discard(0)
    if len(pids) > 1:
        shown = ", ".join(map(str, sorted(pids)[:_NAMES_MAX]))
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{len(pids)} processes run of {bundle_id}: {shown}",
            hint="give the pid",
        )
    return pids.pop() if pids else None


def _is_app(label: str, bundle_id: str) -> bool:
    return label == bundle_id or label.startswith(f"UIKitApplication:{bundle_id}[")


# --- at the edge: xcrun --------------------------------------------------------------------------


def find_xcrun(env: Mapping[str, str]) -> str:
    """Return the path of xcrun.

    Raises:
        DebuggerError: ADAPTER_NOT_FOUND without Xcode.
    """
    found = shutil.which("xcrun", path=env.get("PATH", os.defpath))
    if found is None:
        raise DebuggerError(
            ErrorCode.ADAPTER_NOT_FOUND,
            "xcrun is not on the PATH: simulators need macOS with Xcode",
            hint="debugger attach PID takes a process of this machine; on macOS: "
            "xcode-select --install",
        )
    return found


async def list_devices(
    env: Mapping[str, str], *, limit_s: float = XCRUN_S
) -> list[SimulatorDevice]:
    """List the available simulators.

    Raises:
        DebuggerError: ADAPTER_NOT_FOUND, ADAPTER_FAILED, TIMEOUT, PROTOCOL.
    """
    words = ("simctl", "list", "devices", "available", "-j")
    return parse_devices(await _run_xcrun(env, words, limit_s=limit_s))


async def find_device(
    env: Mapping[str, str], name: str, *, limit_s: float = XCRUN_S
) -> SimulatorDevice:
    """Return the requested simulator; an identifier is not looked up.

    Raises:
        DebuggerError: As `list_devices` and `choose_device`.
    """
    find_xcrun(env)
    if is_udid(name):
        return SimulatorDevice(udid=name, name=name)
    return choose_device(name, await list_devices(env, limit_s=limit_s))


async def app_process(
    env: Mapping[str, str], udid: str, bundle_id: str, *, limit_s: float = XCRUN_S
) -> int:
    """Return the pid of an app on a simulator.

    Raises:
        DebuggerError: NOT_FOUND if it does not run, and as `list_devices`.
    """
    pid = await _listed_pid(env, udid, bundle_id, limit_s=limit_s)
    if pid is None:
        raise _not_running(udid, bundle_id)
    return pid


async def wait_for_app(
    env: Mapping[str, str],
    udid: str,
    bundle_id: str,
    *,
    seconds: float,
    interrupted: asyncio.Event,
    limit_s: float = XCRUN_S,
) -> int:
    """Wait until an app runs on a simulator, and return its pid.

    Raises:
        DebuggerError: TIMEOUT if it does not start in time, and as `list_devices`.
    """
    clock = asyncio.get_running_loop().time
    end = clock() + seconds
    while True:
        pid = await _listed_pid(env, udid, bundle_id, limit_s=limit_s)
        if pid is not None:
            return pid
        if clock() >= end or interrupted.is_set():
            raise _not_running(udid, bundle_id, f" within {seconds:g} s")
        # Nothing tells of a process that begins there; the pause ends with the user's patience.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(_AGAIN_S, max(0.0, end - clock()))):
                await interrupted.wait()


def _not_running(udid: str, bundle_id: str, when: str = "") -> DebuggerError:
    return DebuggerError(
        ErrorCode.TIMEOUT if when else ErrorCode.NOT_FOUND,
        f"No running process found for {bundle_id} on simulator {udid}{when}",
        hint=f"xcrun simctl launch {udid} {bundle_id} starts it",
    )


async def _listed_pid(
    env: Mapping[str, str], udid: str, bundle_id: str, *, limit_s: float
) -> int | None:
    words = ("simctl", "spawn", udid, "launchctl", "list")
    return pid_of(bundle_id, await _run_xcrun(env, words, limit_s=limit_s))


async def _run_xcrun(env: Mapping[str, str], words: Sequence[str], *, limit_s: float) -> str:
    """Run xcrun to its end, and return its output.

    Raises:
        DebuggerError: ADAPTER_NOT_FOUND, ADAPTER_FAILED with the end of its output, TIMEOUT.
    """
    shown = " ".join(("xcrun", *words))
    try:
        running = await asyncio.create_subprocess_exec(
            find_xcrun(env),
            *words,
            env=dict(env),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,  # it may start others, which must end with it
        )
    except (OSError, ValueError) as error:
        raise DebuggerError(
            ErrorCode.ADAPTER_FAILED, f"{shown}: {error}", hint="xcode-select -p shows which Xcode"
        ) from error
    try:
        async with asyncio.timeout(limit_s):
            out, problem = await running.communicate()
    except TimeoutError:
        raise DebuggerError(
            ErrorCode.TIMEOUT, f"{shown} did not end within {limit_s:g} s", hint="try it in a shell"
        ) from None
    finally:
        await _kill_process(running)
    if running.returncode:
        text = problem.decode(errors="replace").strip() or f"exit status {running.returncode}"
        raise DebuggerError(
            ErrorCode.ADAPTER_FAILED, f"{shown}: {text[-_SHOWN:]}", hint=f"{LIST} lists them"
        )
    return out.decode(errors="replace")


async def _kill_process(running: asyncio.subprocess.Process) -> None:
    """Kill a process that did not end, with its children."""
    if running.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(running.pid, signal.SIGKILL)
    # What was killed ends; but what it started elsewhere may hold its pipes.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_END_S):
            await running.wait()
