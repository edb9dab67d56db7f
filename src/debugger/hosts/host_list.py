"""Holds the hosts that were reached: their connections, and the sessions that live there."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import platform
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from debugger import paths
from debugger.errors import DebuggerError, ErrorCode
from debugger.hosts import host_channel
from debugger.hosts.host_address import HOSTS_MAX, HostAddress, HostTools, own_address
from debugger.hosts.host_channel import ChannelBroken, HostChannel, HostGreeting, Stream

_UNUSED_S = 60.0  # seconds after which a connection without a session is closed
_STOP_S = 3.0  # seconds for a host to end its sessions, when the daemon here ends
_LAST_S = 1.0  # seconds for the tool to end then
_CLOCK_S = 2.0  # seconds for comparing clocks
_CLOCK_READINGS = 4
_TRIES = 3  # a daemon that is just ending refuses; its successor answers
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class HostRequest:
    """A request for the daemon of a host, and who waits for its answer."""

    message: Mapping[str, Any]
    env: Mapping[str, str]  # of the tool that reaches the host
    tools: HostTools
    keep_s: float  # that sessions wait there for a connection that broke
    # It changes nothing: after a broken connection it may be sent again.
    reads_only: bool = False
    ends_daemon: bool = False
    stream: Stream | None = None
    interrupted: asyncio.Event | None = None
    on_progress: Callable[[str], None] | None = None
    # Receives the name of what has begun there, before the answer.
    on_begun: Callable[[str], None] | None = None


@dataclass
class Host:
    """A host, its connection, and what is known of its sessions from its last answer."""

    address: HostAddress
    channel: HostChannel | None = None
    daemon_pid: int | None = None
    sessions: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    current: str | None = None
    # What was lost with a daemon that ended, until it has been reported.
    lost: tuple[str, ...] = ()
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)
    unused: asyncio.TimerHandle | None = None

    @property
    def label(self) -> str:
        """The name of the host in answers."""
        return self.address.label

    @property
    def is_reached(self) -> bool:
        """Whether there is a connection."""
        return self.channel is not None and self.channel.is_open

    def forget_sessions(self) -> None:
        """Let go of sessions whose end could not be requested: they end there by themselves."""
        self.sessions, self.current = {}, None

    def note_begun(self, name: str) -> None:
        """Record a session that has begun, until the next answer says more of it."""
        self.sessions.setdefault(name, {"name": name, "is_live": True})
        self.current = name

    def note_answer(self, answer: Mapping[str, Any]) -> None:
        """Record what an answer says of the host's sessions (`Dispatcher.describe_sessions`)."""
        listed = answer.get("sessions")
        if isinstance(listed, list):
            self.sessions = {str(one.get("name")): one for one in listed if isinstance(one, dict)}
            current = answer.get("current")
            self.current = current if isinstance(current, str) else None

    def live_sessions(self) -> list[dict[str, Any]]:
        """List the live sessions, with the host of each."""
        return [{**one, "host": self.label} for one in self.sessions.values() if one.get("is_live")]


RunHere = Callable[[HostRequest], Awaitable[dict[str, Any]]]


class HostList:
    """The hosts of the daemon by their labels."""

    def __init__(self, run_here: RunHere) -> None:
        self._hosts: dict[str, Host] = {}
        # This machine: what runs on it of a group that reaches others. It is asked without a way.
        self.own = Host(own_address(platform.node()))
        self._run_here = run_here
        self._closing: set[asyncio.Task[None]] = set()

    def all_hosts(self) -> list[Host]:
        """Return the hosts that were reached."""
        return list(self._hosts.values())

    def host_at(self, address: HostAddress) -> Host:
        """Return a host by its address, known or new.

        Raises:
            DebuggerError: USAGE for a label that another address has, or too many hosts.
        """
        known = self._hosts.get(address.label)
        if known is not None and known.address != address:
            if known.sessions:
                raise DebuggerError(
                    ErrorCode.USAGE,
                    f"{address.label} is the name of {known.address.text} already",
                    hint="a Host of ~/.ssh/config gives this one another name",
                )
            self._close_soon(known)
            known = None
        if known is None:
            if len(self._hosts) >= HOSTS_MAX:
                self._forget_unused()
            known = self._hosts[address.label] = Host(address)
        return known

    def _forget_unused(self) -> None:
        for label, one in list(self._hosts.items()):
            if not one.sessions and (one.channel is None or not one.channel.is_busy):
                self._hosts.pop(label)
                self._close_soon(one)
                return
        raise DebuggerError(
            ErrorCode.USAGE,
            f"there are sessions on {HOSTS_MAX} hosts already",
            hint="debugger sessions lists them",
        )

    def host_of_session(self, name: str) -> Host | None:
        """Return the host of a session; None if it is no session of a host."""
        return next((one for one in self._hosts.values() if name in one.sessions), None)

    def host_in_name(self, name: str) -> Host | None:
        """Return the connected host that the name of a session ends with.

        A session that a client has begun is known there before its answer comes here, and the
        answer is lost with a client that ends: the host, not what is known of it, decides.
        """
        host = self._hosts.get(name.rpartition("@")[2]) if "@" in name else None
        return host if host is not None and host.is_reached else None

    async def connect(self, host: Host, request: HostRequest) -> HostGreeting:
        """Connect to a host that is not connected, and return what it says of itself.

        Raises:
            DebuggerError: It cannot be reached, or has another version.
        """
        async with host.opening:
            if host.channel is not None and host.channel.is_open:
                return host.channel.greeting
            if host.channel is not None:
                await host.channel.close()
                host.channel = None
            keep = ("--client", client_name(), "--keep", f"{request.keep_s:g}")
            words = ("daemon", "connect", "--stdio", *keep)
            channel = await HostChannel.open(host.address, request.tools, words, request.env)
            try:
                host_channel.check_version(
                    host.address, channel.greeting, ends_daemon=request.ends_daemon
                )
            except DebuggerError:
                await channel.close()
                raise
            if host.daemon_pid not in {None, channel.greeting.pid} and host.sessions:
                host.lost = tuple(host.sessions)
                host.sessions, host.current = {}, None
            host.daemon_pid = channel.greeting.pid
            host.channel = channel
            return channel.greeting

    async def disconnect(self, host: Host) -> None:
        """Close the connection to a host."""
        async with host.opening:
            channel, host.channel = host.channel, None
            if channel is not None:
                await channel.close()

    async def send_request(self, host: Host, request: HostRequest) -> dict[str, Any]:
        """Send a request to a host, connecting first where needed, and return the answer.

        Raises:
            DebuggerError: The host cannot be reached; the connection broke; its daemon has ended.
        """
        if host is self.own:
            answer = await self._run_here(request)
            host.note_answer(answer)
            return answer
        if host.unused is not None:
            host.unused.cancel()
            host.unused = None
        session = request.message.get("session")
        broken = ""
        for _ in range(_TRIES):
            await self.connect(host, request)
            if session in host.lost:
                raise _lost_sessions(host)
            assert host.channel is not None
            try:
                answer = await host.channel.request(
                    request.message,
                    stream=request.stream,
                    interrupted=request.interrupted,
                    on_progress=request.on_progress,
                    on_begun=_begun_listener(host, request),
                )
            except asyncio.CancelledError:
                # Its client has gone; what it has begun there is found, and ended, from here.
                self._run_apart(self._learn_sessions(host))
                raise
            except ChannelBroken as error:
                broken = str(error)
                if not request.reads_only:
                    break
                continue
            if answer.get("retry"):
                await host.channel.close()
                continue
            host.note_answer(answer)
            if request.ends_daemon and answer.get("success"):
                host.sessions, host.current = {}, None
                await self.disconnect(host)
                return answer
            self._close_when_unused(host)
            return answer
        raise _broken_connection(host, str(request.message.get("command")), broken, request.keep_s)

    async def measure_clock(self, host: Host, request: HostRequest) -> None:
        """Compare a host's clock by some short requests; what is known stays where they fail."""
        channel = host.channel
        if host is self.own or channel is None:
            return
        with contextlib.suppress(DebuggerError, ChannelBroken, TimeoutError):
            async with asyncio.timeout(_CLOCK_S):
                for _ in range(_CLOCK_READINGS):
                    await channel.request(request.message)

    async def _learn_sessions(self, host: Host) -> None:
        """Ask a host for its sessions; without one its connection is closed after a while."""
        channel = host.channel
        if channel is None:
            return
        # However late it answers; the channel gives up a host that is frozen.
        with contextlib.suppress(DebuggerError, ChannelBroken):
            known = {"command": "daemon_status", "known_as": host.label}
            host.note_answer(await channel.request(known))
        self._close_when_unused(host)

    def _run_apart(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def _close_when_unused(self, host: Host) -> None:
        if not host.sessions:
            host.unused = asyncio.get_running_loop().call_later(_UNUSED_S, self._close_soon, host)

    def _close_soon(self, host: Host) -> None:
        channel = host.channel
        if channel is None or channel.is_busy:
            return
        host.channel = None
        self._run_apart(channel.close())

    def live_sessions(self) -> list[dict[str, Any]]:
        """List the live sessions of all hosts."""
        return [each for one in self._hosts.values() for each in one.live_sessions()]

    async def close(self) -> None:
        """End the sessions of all connected hosts, and the connections (bounded)."""
        await asyncio.gather(*(self._end_host(one) for one in self._hosts.values()))
        if self._closing:
            await asyncio.wait(self._closing, timeout=_STOP_S)

    async def _end_host(self, host: Host) -> None:
        if host.unused is not None:
            host.unused.cancel()
        channel, host.channel = host.channel, None
        if channel is None:
            return  # what it still has ends when it has waited long enough
        try:
            async with asyncio.timeout(_STOP_S):
                await channel.request({"command": "daemon_stop", "known_as": host.label})
        except (DebuggerError, ChannelBroken, TimeoutError) as error:
            _log.warning("%s was not told to end: %s", host.label, error)
        host.sessions = {}
        await channel.close(_LAST_S)


def client_name() -> str:
    """Return the name by which a host knows this daemon: the same for its successor."""
    text = f"{platform.node()}:{os.getuid()}:{paths.runtime_dir()}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _begun_listener(host: Host, request: HostRequest) -> Callable[[str], None] | None:
    if request.on_begun is None:
        return None
    report = request.on_begun

    def note_begun(name: str) -> None:
        host.note_begun(name)
        report(name)

    return note_begun


def _lost_sessions(host: Host) -> DebuggerError:
    lost, host.lost = host.lost, ()
    return DebuggerError(
        ErrorCode.NO_SESSION,
        f"the daemon on {host.label} has ended; lost: session {', session '.join(lost)}",
        hint=f"{host.address.write_command('start', 'PROGRAM')}; "
        f"{host.address.write_command('daemon logs')} shows why",
    )


def _broken_connection(host: Host, command: str, reason: str, keep_s: float) -> DebuggerError:
    why = f": {reason}" if reason else ""
    return DebuggerError(
        ErrorCode.ADAPTER_DIED,
        f"the connection to {host.label} broke while it ran {command.replace('_', ' ')}{why}",
        hint=f"debugger status connects again; the sessions there are kept for {keep_s:g} s",
    )
