"""Serves client connections: one task and one reply for each request."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import os
import socket
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from debugger import __version__, paths
from debugger.daemon import protocol, transport
from debugger.daemon.command_request import (
    CommandReply,
    CommandRequest,
    Handler,
    HandlerFactory,
    Publish,
)
from debugger.daemon.daemon_process import RuntimeFiles
from debugger.daemon.peer import (
    ClientPeer,
    as_answer,
    as_line,
    as_request,
    decode_request,
    protocol_error,
    reporting_progress,
)
from debugger.errors import DebuggerError, ErrorCode, full_disk_error

__all__ = ["CommandReply", "CommandRequest", "DaemonServer", "Handler", "HandlerFactory", "Publish"]

_log = logging.getLogger(__name__)

# Together less than a client waits for `daemon stop`, and than the process gives itself to exit.
_LOG_LINES = 200  # of `daemon logs`, asked for by another host
_EVIDENCE_SHOWN = 8  # numbers of lost evidence
_CLOSE_S = 6.0  # seconds for the sessions to end
_FINISH_S = 2.0  # seconds for requests to send their answers
_CANCEL_S = 1.0  # seconds for cancelled requests to end


class DaemonServer:
    """The daemon's server, which runs until `stop` or until it has been unused for `idle_s`."""

    def __init__(
        self,
        factory: HandlerFactory,
        listener: socket.socket,
        presence: RuntimeFiles,
        *,
        token: str,
        idle_s: float,
        keep_s: float | None = None,
        close_s: float = _CLOSE_S,
        finish_s: float = _FINISH_S,
    ) -> None:
        self.stopping = asyncio.Event()
        self._factory = factory
        self._listener = listener
        self._presence = presence
        self._token = token
        self._idle_s = idle_s
        # Of the daemon of another machine's: how long its sessions outlive the last connection.
        self._keep_s = keep_s
        self._close_s = close_s
        self._finish_s = finish_s
        self._started = time.monotonic()
        self._closed = asyncio.Event()
        self._finished = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        # Whether any client has connected yet.
        self._is_known = False
        self._idle: asyncio.TimerHandle | None = None
        self._abandoned: asyncio.TimerHandle | None = None
        self._held_sockets: list[int] = []

    def stop(self) -> None:
        """Begin to end: accept no more requests, end the sessions, send the replies, clean up."""
        self.stopping.set()

    async def run(self, ready: Callable[[], None]) -> None:
        """Serve requests; `ready` is called when clients can connect."""
        self._handler = self._factory(self._publish_sessions)
        self._presence.publish(self._handler.live_sessions())
        async with asyncio.TaskGroup() as group:
            connections: set[asyncio.Task[None]] = set()

            def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                # Accepted by the kernel before the listener was closed; nobody would answer it.
                if self._finished.is_set():
                    writer.close()
                    return
                self._is_known = True
                task = group.create_task(self._serve_peer(ClientPeer(reader, writer)))
                connections.add(task)
                self._stop_waiting_for_client()
                task.add_done_callback(connections.discard)
                task.add_done_callback(lambda _: self._wait_for_client(connections))

            accepting = await asyncio.start_server(
                accept, sock=self._listener, limit=protocol.MAX_BYTES, backlog=transport.BACKLOG
            )
            ready()
            _log.info("serving on %s, version %s", self._presence.address, __version__)
            self._start_idle_timer()
            self._wait_for_client(connections)
            await self.stopping.wait()
            await self._shut_down(accepting)
            for task in connections:
                task.cancel()

    async def _shut_down(self, accepting: asyncio.Server) -> None:
        _log.info("stopping")
        if self._idle is not None:
            self._idle.cancel()
        self._stop_waiting_for_client()
        with suppress(OSError):
            # First of all: a new command then starts another daemon instead of waiting for this
            # one.
            self._presence.withdraw()
        accepting.close()
        closing = asyncio.ensure_future(self._handler.close())
        # `wait`, not `wait_for`: a task that ignores its cancellation must not block the shutdown.
        done, _ = await asyncio.wait({closing}, timeout=self._close_s)
        if not done:
            _log.error("the sessions did not end within %g s", self._close_s)
            closing.cancel()
        elif error := closing.exception():
            _log.error("the sessions did not end well", exc_info=error)
        self._closed.set()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._finish_s)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_CANCEL_S)
        self._finished.set()
        # Before the connections close: a client that then finds no state knows that nobody died.
        try:
            self._presence.end()
        except (OSError, DebuggerError):
            _log.exception("could not remove the state")

    async def _serve_peer(self, peer: ClientPeer) -> None:
        try:
            if await self._admit_peer(peer):
                await self._read_requests(peer)
        except Exception:  # noqa: BLE001 - the server loop
            # One connection's failure must not end the others.
            _log.exception("a connection failed")
        finally:
            peer.hang_up()

    async def _admit_peer(self, peer: ClientPeer) -> bool:
        if not transport.is_own_peer(peer.socket):
            _log.warning("refused a connection of another user")
            return False
        # The file's permissions and the peer's credentials have decided already.
        if peer.socket.family == getattr(socket, "AF_UNIX", None):
            return True
        try:
            async with asyncio.timeout(transport.CONNECT_S):
                message = await peer.receive_message()
        except (OSError, protocol.MalformedMessage):
            message = None
        token = str((message or {}).get("token")).encode("utf-8", "replace")
        # In constant time, since every local user can connect over TCP.
        if hmac.compare_digest(token, self._token.encode()):
            return True
        _log.warning("refused a connection without the token")
        return False

    async def _read_requests(self, peer: ClientPeer) -> None:
        async with asyncio.TaskGroup() as group:
            tasks: set[asyncio.Task[None]] = set()
            failure = None
            try:
                while (message := await peer.receive_message()) is not None:
                    if task := await self._start_request(peer, message, group):
                        tasks.add(task)
                        task.add_done_callback(tasks.discard)
            except protocol.MalformedMessage as error:
                failure = protocol_error(f"bad message: {error}")
            except OSError:
                _log.debug("a client hung up while it was spoken to")
            # The client has gone, so nobody waits for these answers.
            for task in tasks:
                task.cancel()
        if failure is not None:
            with suppress(OSError):
                await peer.send_last(as_answer(None, CommandReply.from_error(failure)))

    async def _start_request(
        self, peer: ClientPeer, message: protocol.Message, group: asyncio.TaskGroup
    ) -> asyncio.Task[None] | None:
        try:
            wire = decode_request(message)
            if wire.id in peer.requests:
                raise protocol_error(f"request {wire.id} is still running")
        except DebuggerError as error:
            await peer.send_message(as_answer(message.get("id"), CommandReply.from_error(error)))
            return None
        # Answered at once, past the request that it cancels.
        if wire.cancel is not None:
            requested = peer.requests.get(wire.cancel)
            if requested is not None:
                requested.cancel_wait()
            reply = CommandReply(result={"cancelled": requested is not None}, text="")
            await peer.send_message(as_answer(wire.id, reply))
            return None
        if self.stopping.is_set():
            failure = CommandReply.from_error(_stopping_error())
            await peer.send_message({**as_answer(wire.id, failure), "retry": True})
            return None
        request = as_request(wire, peer)
        if protocol.command_words(request.argv or ())[:1] == ["dap"]:
            await self._serve_editor(peer, request, group)
            return None
        peer.requests[wire.id] = request
        task = group.create_task(
            self._answer_request(peer, request, note=_version_note(wire.client))
        )
        self._tasks.add(task)
        self._cancel_idle_timer()
        task.add_done_callback(self._on_request_done)
        task.add_done_callback(lambda _: peer.requests.pop(request.id))
        return task

    async def _serve_editor(
        self, peer: ClientPeer, request: CommandRequest, group: asyncio.TaskGroup
    ) -> None:
        """Hand the connection over to an editor's conversation, which lasts until it is closed."""
        await peer.send_message(as_answer(request.id, CommandReply(text="")))

        async def serve() -> None:
            try:
                await self._handler.serve_editor(request, *peer.hand_over())
            except DebuggerError as error:
                _log.warning("an editor was not served: %s", error.message)
            peer.hang_up()
            self._publish_sessions(self._handler.live_sessions())

        task = group.create_task(serve())
        self._tasks.add(task)
        self._cancel_idle_timer()
        task.add_done_callback(self._on_request_done)
        await asyncio.wait({task})

    async def _answer_request(
        self, peer: ClientPeer, request: CommandRequest, *, note: str | None
    ) -> None:
        try:
            if request.wants_progress:
                async with reporting_progress(peer, request, self._handler):
                    reply = await self._handle_request(peer, request)
            else:
                reply = await self._handle_request(peer, request)
        except asyncio.CancelledError:
            # Cancelled because the client has gone: there is nobody to answer.
            if not self.stopping.is_set():
                raise
            reply = CommandReply.from_error(_stopping_error())
        answer = as_answer(request.id, reply)
        if request.known_as is not None:
            answer |= self._handler.describe_sessions()
        try:
            line = as_line(answer if note is None else {**answer, "note": note})
        except (TypeError, ValueError) as error:  # JSON cannot hold it
            reply = self._internal_error(request, error)
            line = as_line(as_answer(request.id, reply))
        with suppress(OSError):
            await peer.send_line(line, request.id)
        if reply.stop_daemon:
            self.stop()

    async def _handle_request(self, peer: ClientPeer, request: CommandRequest) -> CommandReply:
        own = _own_command(request)
        try:
            if own == "daemon_status":
                return _own_reply(request, *self._daemon_status())
            if own == "daemon_stop":
                return _own_reply(request, *await self._stop_reply(peer))
            if own == "daemon_logs":
                return _own_reply(request, *_read_log(self._presence.log))
            reply = await self._handler.handle(request)
            self._publish_sessions(self._handler.live_sessions())
        except DebuggerError as error:
            return CommandReply.from_error(error)
        except Exception as error:  # noqa: BLE001 - the server loop
            return self._internal_error(request, error)
        return reply

    def _internal_error(self, request: CommandRequest, error: Exception) -> CommandReply:
        _log.error("a request failed: %s", request.argv or request.command, exc_info=error)
        what = f"{type(error).__name__}: {error}"
        hint = f"this is a fault of the debugger; see {self._presence.log}"
        if (full := full_disk_error(error)) is not None:
            return CommandReply.from_error(full)
        return CommandReply.from_error(DebuggerError(ErrorCode.INTERNAL, what, hint=hint))

    def _publish_sessions(self, sessions: Sequence[Mapping[str, Any]]) -> None:
        try:
            self._presence.publish(sessions)
        except OSError:
            # Only the note after a crash is poorer for it.
            _log.exception("could not write down the sessions")

    def _daemon_status(self) -> tuple[dict[str, Any], str]:
        sessions = self._handler.live_sessions()
        uptime = round(time.monotonic() - self._started, 3)
        result = {
            "running": True,
            "pid": os.getpid(),
            "version": __version__,
            "uptime_s": uptime,
            "socket": self._presence.address,
            "sessions": sessions,
        }
        listed = protocol.name_sessions(sessions) or "no session"
        text = (
            f"daemon: running, pid {os.getpid()}, version {__version__}, up {uptime:.0f} s, "
            f"{listed}, {self._presence.address}"
        )
        return result, text

    async def _stop_reply(self, peer: ClientPeer) -> tuple[dict[str, Any], str]:
        ended, lost = self._handler.live_sessions(), self._handler.evidence_numbers()
        # Never closed by us: the client, waiting for the end of the connection, sees the process's.
        self._held_sockets.append(os.dup(peer.socket.fileno()))
        self.stop()
        await self._closed.wait()
        what = f"ended: {protocol.name_sessions(ended)}" if ended else "it held no session"
        text = f"daemon: stopped (pid {os.getpid()}); {what}"
        stay = [one["pid"] for one in ended if one.get("attached") and one["pid"] is not None]
        if stay:
            text += f"; attached to, and let go of: pid {', '.join(map(str, stay))}"
        if lost:
            shown = lost if len(lost) <= _EVIDENCE_SHOWN else [lost[0], "…", lost[-1]]
            text += f"; lost: evidence {', '.join(shown)}"
        return {"running": False, "pid": os.getpid(), "ended": ended, "lost": lost}, text

    def _on_request_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not self._tasks:
            self._start_idle_timer()

    def _cancel_idle_timer(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _start_idle_timer(self) -> None:
        self._cancel_idle_timer()
        if self.stopping.is_set():
            return
        self._idle_s = self._handler.idle_s() or self._idle_s
        # Whoever started it is still on the way to its first request.
        idle_s = self._idle_s if self._is_known else max(self._idle_s, transport.CONNECT_S)
        self._idle = asyncio.get_running_loop().call_later(idle_s, self._end_if_idle)

    def _wait_for_client(self, connections: Collection[object]) -> None:
        """Begin to wait for another machine's daemon to come back, if this is its own."""
        if self._keep_s is None or connections or self.stopping.is_set():
            return
        # Whoever starts it connects soon. Without a session there is nothing to come back to.
        is_awaited = not self._is_known or self._handler.has_live_session()
        seconds = max(self._keep_s, transport.CONNECT_S) if is_awaited else 0.0
        self._abandoned = asyncio.get_running_loop().call_later(seconds, self._end_abandoned)

    def _stop_waiting_for_client(self) -> None:
        if self._abandoned is not None:
            self._abandoned.cancel()
            self._abandoned = None

    def _end_abandoned(self) -> None:
        _log.info("no client for %g s", self._keep_s or 0.0)
        self.stop()

    def _end_if_idle(self) -> None:
        if self._handler.has_live_session():
            self._start_idle_timer()
            return
        _log.info("idle for %g s", self._idle_s)
        self.stop()


def _own_command(request: CommandRequest) -> str | None:
    """Return the daemon's own command that is requested of this daemon, not of another host's."""
    if request.argv is None:
        return request.command
    if protocol.has_value_option(request.argv, *protocol.HOST_OPTIONS):
        return None
    return "_".join(protocol.command_words(request.argv))


def _read_log(path: str) -> tuple[dict[str, Any], str]:
    lines = paths.log_tail(path, lines=_LOG_LINES)
    return {"path": path, "lines": lines}, "".join(f"{line}\n" for line in lines)


def _own_reply(request: CommandRequest, result: dict[str, Any], text: str) -> CommandReply:
    if request.is_json or protocol.has_option(request.argv or (), "--json"):
        text = json.dumps({"ok": True, "data": result})
    return CommandReply(result=result, text=text)


def _version_note(client: str | None) -> str | None:
    if client is None or client == __version__:
        return None
    is_older = _version_numbers(client) > _version_numbers(__version__)
    return (
        f"the daemon is {'older' if is_older else 'newer'} "
        f"(version {__version__}) than this command ({client}); debugger daemon stop ends it and "
        "its sessions, and the next command starts the right one"
    )


def _version_numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdecimal()]


def _stopping_error() -> DebuggerError:
    return DebuggerError(
        ErrorCode.NO_SESSION,
        "the daemon was stopped, and its sessions with it",
        hint="debugger start PROGRAM",
    )
