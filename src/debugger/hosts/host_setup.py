"""Puts the debugger that runs here onto a host, by ssh, docker or kubectl, and pip there."""

from __future__ import annotations

import asyncio
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from debugger import __version__
from debugger.errors import DebuggerError, ErrorCode
from debugger.hosts import own_wheel
from debugger.hosts.host_address import HostAddress, HostTools, build_host_command
from debugger.hosts.host_channel import end_tool, start_tool
from debugger.hosts.host_failures import explain_host_failure
from debugger.hosts.host_scripts import INSTALL_DEBUGGER, PROBE_PYTHON

_PROBE_S = 30.0
_INSTALL_S = 600.0  # seconds: pip may fetch all that the debugger requires
_OUTPUT_MAX = 64_000
_PYTHON = re.compile(r"debugger-setup: python (\d+\.\d+) (\S+) (\S+)")
# pip found no index, or nothing of what it looked for.
_NO_INDEX = re.compile(
    r"No matching distribution|Could not find a version|NewConnectionError|proxy"
)


class HostInstaller:
    """Installs the debugger on one host."""

    def __init__(self, address: HostAddress, tools: HostTools, env: Mapping[str, str]) -> None:
        self._address = address
        self._tools = tools
        self._env = env

    async def describe_plan(self) -> str:
        """Describe what an installation would do there; nothing is changed.

        Raises:
            DebuggerError: The host cannot be reached, or has no Python.
        """
        version, machine, _ = await self._probe_python()
        return (
            f"would install debugger {__version__} with Python {version} ({machine}) into "
            "~/.local/share/debugger-cli/host, by pip: --yes does it"
        )

    async def install(self) -> str:
        """Install the debugger; return with which Python.

        Raises:
            DebuggerError: The host cannot be reached, has no Python, no room, or no package index.
        """
        python = await self._probe_python()
        name, wheel = await asyncio.to_thread(own_wheel.build_wheel)
        try:
            await self._install_wheels({name: wheel}, is_offline=False)
        except _NoIndex as error:
            # The other side has no index; this one may have.
            wheels = await self._fetch_requirements(name, wheel, python)
            if wheels is None:
                raise self._explain_failure(error.status, error.output) from None
            await self._install_wheels(wheels, is_offline=True)
        return f"Python {python[0]} ({python[1]})"

    def _explain_failure(self, status: int | None, output: str) -> DebuggerError:
        return explain_host_failure(self._address, status, output, tools=self._tools, is_setup=True)

    async def _probe_python(self) -> tuple[str, str, str]:
        status, output = await self._run_script(PROBE_PYTHON, (), b"", _PROBE_S)
        found = _PYTHON.search(output)
        if status or found is None:
            raise self._explain_failure(status, output)
        return found[1], found[2], found[3]

    async def _install_wheels(self, wheels: Mapping[str, bytes], *, is_offline: bool) -> None:
        words = (f"{own_wheel.DISTRIBUTION}=={__version__}", "offline" if is_offline else "index")
        packed = own_wheel.pack_wheels(wheels)
        status, output = await self._run_script(INSTALL_DEBUGGER, words, packed, _INSTALL_S)
        if status == 0:
            return
        if "debugger-setup: no-pip" in output and _NO_INDEX.search(output) and not is_offline:
            raise _NoIndex(status, output)
        raise self._explain_failure(status, output)

    async def _run_script(
        self, script: str, words: tuple[str, ...], sent: bytes, within_s: float
    ) -> tuple[int | None, str]:
        """Run a script at the host; return its status and the end of what it output."""
        command = build_host_command(self._address, self._tools, script, words)
        process = await start_tool(self._address, command, self._env)
        try:
            async with asyncio.timeout(within_s):
                out, err = await process.communicate(sent)
        except TimeoutError:
            raise DebuggerError(
                ErrorCode.TIMEOUT,
                f"{self._address.label} did not finish within {within_s:g} s",
                hint=f"{self._address.write_command('setup', '--yes')} begins again",
            ) from None
        finally:
            if process.returncode is None:
                await end_tool(process)
        return process.returncode, (out + err).decode("utf-8", "replace")[-_OUTPUT_MAX:]

    async def _fetch_requirements(
        self, name: str, wheel: bytes, python: tuple[str, str, str]
    ) -> Mapping[str, bytes] | None:
        """Fetch the wheels that the host needs with the pip of this machine; None if it cannot."""
        version, machine, libc = python
        if libc != "glibc":  # the names of other platforms' wheels are not known from here
            return None
        platforms = [f"manylinux_2_{minor}_{machine}" for minor in (28, 27, 24, 17, 12, 5)]
        with tempfile.TemporaryDirectory(prefix="dbg-wheels-") as folder:
            own = Path(folder) / name
            own.write_bytes(wheel)
            options = [word for one in platforms for word in ("--platform", one)]
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "pip", "download", "--quiet", "--no-input"),
                *("--only-binary=:all:", "--python-version", version, *options),
                *("--platform", f"manylinux2014_{machine}", "--dest", folder, str(own)),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                env=dict(self._env),
            )
            try:
                async with asyncio.timeout(_INSTALL_S):
                    status = await process.wait()
            except TimeoutError:
                status = 1
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
            if status:
                return None
            return {one.name: one.read_bytes() for one in Path(folder).glob("*.whl")}


class _NoIndex(Exception):
    """pip at the host has no package index."""

    def __init__(self, status: int | None, output: str) -> None:
        super().__init__(output)
        self.status = status
        self.output = output
