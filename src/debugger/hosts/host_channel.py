"""Carries requests to the daemon of a host over one process of ssh, docker or kubectl."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from debugger import __version__
from debugger.daemon import protocol
from debugger.errors import DebuggerError, ErrorCode
from debugger.hosts.host_address import HostAddress, HostTools, build_host_command
from debugger.hosts.host_clock import HostClock, read_clock
from debugger.hosts.host_failures import (
    explain_host_failure,
    missing_tool,
    silent_host_error,
)
from debugger.hosts.host_scripts import FIND_DEBUGGER

CONNECT_S = 40.0  # seconds until the other side has greeted: ssh's own limit, and a daemon's start
REQUESTS_MAX = 256  # unanswered requests of one host
_NOISE_MAX = 200  # lines that a login shell may say before the greeting
_SAID_MAX = 16_000  # characters of standard error that are kept
_STREAM_MAX = 1_000_000  # characters that wait for a client that does not read
_QUIET_S = 20.0
_ALIVE_S = 60.0
_PING = {"command": "daemon_status"}  # which a daemon answers whatever else it does
_END_S = 3.0  # seconds for the tool to end by itself after its input is closed

Stream = Callable[[str], Awaitable[None]]


class HostGreeting(Struct, frozen=True):
    """What the other side says of itself at the beginning (`cli.host_pipe`)."""

    version: str
    daemon: str  # the version of the daemon that runs there
    pid: int  # the daemon's
    host: str
    user: str
    python: str
    system: str
    # Seconds by which the other side's clock is ahead; the message's way makes it a little less.
    clock_ahead_s: float = 0.0
    # The other side's monotonic clock, by which its events are dated.
    clock: HostClock = HostClock(0.0, 0.0, 0.0)


class ChannelBroken(Exception):
    """The connection ended before the answer came; the text says what the tool said."""


class _Pending:
    """A request that waits for its answer, and the text that its client has not read yet."""

    def __init__(self, on_begun: Callable[[str], None] | None = None) -> None:
        self.on_begun = on_begun
        self.answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self.sent_s = time.monotonic()
        self.text = ""
        self.progress = ""
        self.has_news = asyncio.Event()


class HostChannel:
    """One connection to the daemon of a host."""

    def __init__(
        self, address: HostAddress, process: asyncio.subprocess.Process, tools: HostTools
    ) -> None:
        self.address = address
        self._tools = tools
        self.greeting: HostGreeting
        self.clock: HostClock
        self._began_s = time.monotonic()
        self._process = process
        self._pending: dict[int, _Pending] = {}
        self._number = 0
        self._said = ""
        self._tasks: list[asyncio.Task[None]] = []
        self._is_open = True
        # Seconds without a word after which the other side is asked whether it lives, and in which
        # it must answer that.
        self.quiet_s = _QUIET_S
        self.alive_s = _ALIVE_S

    @classmethod
    async def open(
        cls,
        address: HostAddress,
        tools: HostTools,
        words: Sequence[str],
        env: Mapping[str, str],
        *,
        within_s: float = CONNECT_S,
    ) -> HostChannel:
        """Connect, and wait for the greeting.

        Args:
            address: The host.
            tools: What reaches it.
            words: Arguments of the debugger there.
            env: Of the tool here: ssh's agent, docker's context.
            within_s: Seconds for all of it.

        Raises:
            DebuggerError: What hinders it, with what helps; TIMEOUT.
        """
        command = build_host_command(address, tools, FIND_DEBUGGER, words)
        channel = cls(address, await start_tool(address, command, env), tools)
        channel._tasks.append(asyncio.create_task(channel._read_errors()))
        try:
            async with asyncio.timeout(within_s):
                channel.greeting = await channel._await_greeting()
                channel.clock = channel.greeting.clock
        except TimeoutError:
            await channel.close()
            raise silent_host_error(address, tools, within_s) from None
        except BaseException:
            await channel.close()
            raise
        channel._tasks.append(asyncio.create_task(channel._read_answers()))
        return channel

    @property
    def is_open(self) -> bool:
        """Whether requests can be sent."""
        return self._is_open

    @property
    def is_busy(self) -> bool:
        """Whether requests wait for answers."""
        return bool(self._pending)

    async def _await_greeting(self) -> HostGreeting:
        assert self._process.stdout is not None
        for _ in range(_NOISE_MAX):
            try:
                line = await self._process.stdout.readline()
            except ValueError:  # a line without end
                break
            if not line:
                raise await self._explain_end()
            greeting = _read_greeting(line)
            if greeting is not None:
                return _parse_greeting(self.address, greeting, self._began_s)
        raise DebuggerError(
            ErrorCode.PROTOCOL,
            f"{self.address.label} says something else than the debugger's greeting",
            hint="its login files must be silent without a terminal: ~/.bashrc, ~/.profile",
        )

    async def _explain_end(self) -> DebuggerError:
        try:
            async with asyncio.timeout(_END_S):
                status: int | None = await self._process.wait()
                # What it has said is read to its end: the reason is in the last line.
                await asyncio.wait(self._tasks[:1])
        except TimeoutError:
            status = None
        return explain_host_failure(self.address, status, self._said, tools=self._tools)

    async def request(
        self,
        message: Mapping[str, Any],
        *,
        stream: Stream | None = None,
        interrupted: asyncio.Event | None = None,
        on_progress: Callable[[str], None] | None = None,
        on_begun: Callable[[str], None] | None = None,
    ) -> dict[str, Any]:
        """Send a request and wait for its answer, handing streamed text on.

        Args:
            message: The request, without version and number.
            stream: Receives streamed text; without it the text is in the answer, as `stream`.
            interrupted: When it is set, the wait there is ended, and its answer comes.
            on_progress: Receives what the other side says of its work.
            on_begun: Receives the name of the session or group that has begun there.

        Raises:
            DebuggerError: DENIED for too many at once, PROTOCOL for one that is too long.
            ChannelBroken: The connection has ended.
        """
        if len(self._pending) >= REQUESTS_MAX:
            raise DebuggerError(
                ErrorCode.DENIED,
                f"{REQUESTS_MAX} commands run on {self.address.label} already",
                hint="wait for some of them, or cancel them",
            )
        self._number += 1
        number = self._number
        pending = self._pending[number] = _Pending(on_begun)
        interrupt = asyncio.create_task(self._cancel_when(number, interrupted))
        try:
            self._send({**message, "id": number})
            while True:
                await self._wait_for_news(pending)
                pending.has_news.clear()
                if on_progress is not None and pending.progress:
                    on_progress(pending.progress)
                if stream is not None and pending.text:
                    text, pending.text = pending.text, ""
                    await stream(text)
                if pending.answer.done() and not (stream is not None and pending.text):
                    return {**await pending.answer, "stream": pending.text}
        except asyncio.CancelledError:
            # Nobody waits any more: the other side would go on.
            self._cancel(number)
            raise
        finally:
            self._pending.pop(number, None)
            interrupt.cancel()
            if pending.answer.done() and not pending.answer.cancelled():
                pending.answer.exception()  # nobody else asks for it

    async def _wait_for_news(self, pending: _Pending) -> None:
        """Wait for a part of an answer, as long as the other side's daemon lives.

        Raises:
            DebuggerError: TIMEOUT for one that answers nothing at all: frozen, or paused.
        """
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.quiet_s):
                    await pending.has_news.wait()
                    return
            self._number += 1
            number = self._number
            ping = self._pending[number] = _Pending()
            try:
                async with asyncio.timeout(self.alive_s):
                    self._send({"id": number, **_PING, "known_as": self.address.label})
                    await asyncio.wait({ping.answer})
            except TimeoutError:
                raise self._frozen_error() from None
            finally:
                self._pending.pop(number)
                if ping.answer.done():
                    ping.answer.exception()  # nobody else asks for it

    def _frozen_error(self) -> DebuggerError:
        return DebuggerError(
            ErrorCode.TIMEOUT,
            f"{self.address.label} has answered nothing for {self.quiet_s + self.alive_s:g} s: "
            "it is frozen, or its daemon is",
            hint=f"{self.address.write_command('doctor')} asks it again",
        )

    def _send(self, message: Mapping[str, Any]) -> None:
        if not self._is_open:
            raise ChannelBroken(self._last_said())
        line = protocol.encode_message({"v": protocol.VERSION, **message})
        if len(line) > protocol.MAX_BYTES:
            raise DebuggerError(
                ErrorCode.PROTOCOL,
                f"the command has {len(line)} bytes, a message at most {protocol.MAX_BYTES}",
                hint="send less",
            )
        assert self._process.stdin is not None
        # Not awaited: what is too slow to read a request ends the connection (ServerAlive), and
        # requests are few and small.
        self._process.stdin.write(line)

    async def _cancel_when(self, number: int, interrupted: asyncio.Event | None) -> None:
        if interrupted is not None:
            await interrupted.wait()
            self._cancel(number)

    def _cancel(self, number: int) -> None:
        self._number += 1
        with contextlib.suppress(ChannelBroken, OSError):
            self._send({"id": self._number, "cancel": number})

    async def _read_answers(self) -> None:
        assert self._process.stdout is not None
        try:
            while line := await self._process.stdout.readline():
                self._take_message(protocol.decode_message(line))
        except (OSError, ValueError, protocol.MalformedMessage):
            pass  # as if it had ended: what it says cannot be read any more
        finally:
            self._is_open = False
        # What the tool says of the end comes on another pipe.
        await asyncio.wait(self._tasks[:1], timeout=_END_S)
        for pending in self._pending.values():
            if not pending.answer.done():
                pending.answer.set_exception(ChannelBroken(self._last_said()))
            pending.has_news.set()

    def _take_message(self, message: protocol.Message) -> None:
        number = message.get("id")
        pending = self._pending.get(number) if isinstance(number, int) else None
        if pending is None or pending.answer.done():
            return  # its asker has gone
        if "begun" in message:
            if pending.on_begun is not None:
                pending.on_begun(str(message["begun"]))
        elif "progress" in message:
            pending.progress = str(message["progress"])
        elif "stream" in message:
            # Of a client that does not read the end is kept: the last lines say most.
            pending.text = (pending.text + str(message["stream"]))[-_STREAM_MAX:]
        else:
            if isinstance(ticks := message.get("ticks"), float):
                self.clock = self.clock.narrow(read_clock(pending.sent_s, ticks, time.monotonic()))
            pending.answer.set_result(message)
        pending.has_news.set()

    async def _read_errors(self) -> None:
        assert self._process.stderr is not None
        while chunk := await self._process.stderr.read(4096):
            self._said = (self._said + chunk.decode("utf-8", "replace"))[-_SAID_MAX:]

    def _last_said(self) -> str:
        lines = [one.strip() for one in self._said.splitlines() if one.strip()]
        return lines[-1][:200] if lines else ""

    async def close(self, within_s: float = _END_S) -> None:
        """End the connection: the other side sees the end of its input."""
        self._is_open = False
        await end_tool(self._process, within_s)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)


async def start_tool(
    address: HostAddress, command: Sequence[str], env: Mapping[str, str]
) -> asyncio.subprocess.Process:
    """Start ssh, docker or kubectl with pipes.

    Raises:
        DebuggerError: ADAPTER_NOT_FOUND where it is not installed, or cannot be run.
    """
    try:
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=protocol.MAX_BYTES,
            cwd="/",
            # Without a terminal and a display no program of ssh's can ask for a password.
            env={**env, "LC_ALL": "C", "SSH_ASKPASS_REQUIRE": "never"},
            # Ctrl-C at a terminal is for the command, not for the connection.
            start_new_session=True,
        )
    except OSError as error:
        raise missing_tool(address.kind, command[0], error) from error


async def end_tool(process: asyncio.subprocess.Process, within_s: float = _END_S) -> None:
    """Close the tool's input, and end it if it does not end by itself."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(within_s):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def check_version(address: HostAddress, greeting: HostGreeting, *, ends_daemon: bool) -> None:
    """Refuse a debugger of another version, and a daemon that still runs with an older one.

    Raises:
        DebuggerError: PROTOCOL, with the command that mends it.
    """
    if greeting.version != __version__:
        raise DebuggerError(
            ErrorCode.PROTOCOL,
            f"{address.label} has debugger {greeting.version}, and this is {__version__}",
            hint=f"{address.write_command('setup', '--yes')} puts this one there",
        )
    if greeting.daemon != greeting.version and not ends_daemon:
        raise DebuggerError(
            ErrorCode.PROTOCOL,
            f"the daemon on {address.label} is of version {greeting.daemon}, "
            f"and the debugger there of {greeting.version}",
            hint=f"{address.write_command('daemon stop')} ends it and its sessions",
        )


def _read_greeting(line: bytes) -> Mapping[str, Any] | None:
    try:
        message = protocol.decode_message(line)
    except protocol.MalformedMessage:
        return None
    return message if message.get("greeting") == "debugger" else None


def _parse_greeting(
    address: HostAddress, message: Mapping[str, Any], began_s: float
) -> HostGreeting:
    error = message.get("error")
    if isinstance(error, dict):
        code = str(error.get("code"))
        known = code if code in ErrorCode.__members__ else ErrorCode.INTERNAL.value
        hint = address.add_to_commands(error.get("hint") or None)
        raise DebuggerError(ErrorCode(known), f"{address.label}: {error.get('message')}", hint=hint)
    texts = {
        name: str(message.get(name, ""))
        for name in ("version", "daemon", "host", "user", "python", "system")
    }
    pid, sent, ticks = message.get("pid"), message.get("time"), message.get("ticks")
    return HostGreeting(
        **texts,
        pid=pid if isinstance(pid, int) else 0,
        clock_ahead_s=sent - time.time() if isinstance(sent, float) else 0.0,
        clock=read_clock(began_s, ticks if isinstance(ticks, float) else began_s, time.monotonic()),
    )
