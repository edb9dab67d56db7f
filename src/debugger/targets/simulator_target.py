"""Finds the app on a simulator to attach to, and checks for available simulators."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping

from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.system import simulator

WAIT_S = 60.0
_CHECK_S = 15.0
_WAY = "debugger attach --simulator NAME --bundle-id ID"
_ID_MAX = 255


class SimulatorApp(Struct, frozen=True):
    """An app's process on a simulator: the simulator's identifier, and the pid."""

    udid: str
    pid: str
    note: str


class SimulatorRequest(Struct, frozen=True):
    """The arguments of an `attach` command: the simulator, and an app's bundle id or a pid.

    `wait_s` is the time to wait for the app to run; None: no wait.
    """

    simulator: str | None
    bundle_id: str | None = None
    pid: str | None = None
    wait_s: float | None = None


async def find_app(
    env: Mapping[str, str], request: SimulatorRequest, interrupted: asyncio.Event
) -> SimulatorApp:
    """Return the requested process.

    Raises:
        DebuggerError: USAGE, NOT_FOUND, TIMEOUT; ADAPTER_NOT_FOUND without Xcode; ADAPTER_FAILED.
    """
    _check_request(request)
    assert request.simulator is not None
    device = await simulator.find_device(env, request.simulator)
    if request.bundle_id is None:
        assert request.pid is not None
        return SimulatorApp(device.udid, request.pid, f"on simulator {_device_name(device)}")
    if request.wait_s is None:
        pid = await simulator.app_process(env, device.udid, request.bundle_id)
    else:
        pid = await simulator.wait_for_app(
            env, device.udid, request.bundle_id, seconds=request.wait_s, interrupted=interrupted
        )
    return SimulatorApp(
        device.udid,
        str(pid),
        f"{request.bundle_id} on simulator {_device_name(device)} is process {pid}",
    )


def _device_name(device: simulator.SimulatorDevice) -> str:
    return device.udid if device.name == device.udid else f"{device.name} ({device.udid})"


def _check_request(request: SimulatorRequest) -> None:
    """Check the arguments before anything is run."""
    if not request.simulator:
        raise DebuggerError(ErrorCode.USAGE, "on which simulator?", hint=_WAY)
    if request.bundle_id is not None and request.pid is not None:
        raise DebuggerError(
            ErrorCode.USAGE, "bundleId and pid are mutually exclusive. Provide only one.", hint=_WAY
        )
    if request.bundle_id is None and request.pid is None:
        raise DebuggerError(ErrorCode.USAGE, "Provide either bundleId or pid to attach.", hint=_WAY)
    if request.bundle_id is None:
        if request.wait_s is not None:
            raise DebuggerError(
                ErrorCode.USAGE,
                "waitFor is only valid when attaching by bundleId. "
                "For PID attach, omit waitFor or set it to false.",
                hint=_WAY,
            )
        return
    is_word = request.bundle_id.isprintable() and not set(request.bundle_id) & set(" []")
    if not is_word or not 0 < len(request.bundle_id) <= _ID_MAX:
        raise DebuggerError(
            ErrorCode.USAGE, f"not a bundle id: {request.bundle_id[:60]!r}", hint=_WAY
        )


async def check_simulators(env: Mapping[str, str]) -> answers.Check:
    """Check for simulators, for `doctor`."""
    try:
        path = simulator.find_xcrun(env)
    except DebuggerError as error:
        if sys.platform == "darwin":
            return _check_result("warning", error.message, fix="xcode-select --install")
        return _check_result("ok", "none here: they need macOS with Xcode")
    try:
        found = await simulator.list_devices(env, limit_s=_CHECK_S)
    except DebuggerError as error:
        return _check_result("error", error.message, path=path, fix=error.hint)
    usable = [one for one in found if one.is_available]
    booted = [one.name for one in usable if one.state == "Booted"]
    if not usable:
        return _check_result(
            "warning", "none is installed", path=path, fix="xcodebuild -downloadPlatform iOS"
        )
    running = f", booted: {', '.join(booted)}" if booted else ", none is booted"
    return _check_result("ok", f"{len(usable)} can be used{running}", path=path)


def _check_result(
    status: str, message: str, *, path: str | None = None, fix: str | None = None
) -> answers.Check:
    return answers.Check(name="simulators", status=status, message=message, path=path, fix=fix)
