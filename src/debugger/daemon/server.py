"""Who is served, and how: connections in, each request a task, one answer each."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from debugger import __version__
from debugger.daemon import protocol, transport
from debugger.daemon.handler import Handler, HandlerFactory, Publish, Reply, Request
from debugger.daemon.peer import Peer, as_answer, as_line, as_request, protocol_error, read
from debugger.daemon.process import Presence
from debugger.daemon.progress import reporting_progress
from debugger.errors import Code, DebuggerError

__all__ = ["Handler", "HandlerFactory", "Publish", "Reply", "Request", "Server"]

_log = logging.getLogger(__name__)

# Together less than a client waits for `daemon stop`, and than the process gives itself to exit.
_CLOSE_S = 6.0
_FINISH_S = 2.0
_CANCEL_S = 1.0


class Server:
    """The daemon's inside: serves until `stop`, or until nobody has needed it for `idle_s`."""

    def __init__(
        self,
        factory: HandlerFactory,
        listener: socket.socket,
        presence: Presence,
        *,
        token: str,
        idle_s: float,
    ) -> None:
        self.stopping = asyncio.Event()
        self._factory = factory
        self._listener = listener
        self._presence = presence
        self._token = token
        self._idle_s = idle_s
        self._started = time.monotonic()
        self._closed = asyncio.Event()
        self._finished = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_known = False
        self._idle: asyncio.TimerHandle | None = None
        self._held: list[int] = []

    def stop(self) -> None:
        """Begin to end: take no more requests, end the sessions, answer, leave nothing behind."""
        self.stopping.set()

    async def run(self, ready: Callable[[], None]) -> None:
        """Serve; `ready` is called when clients can connect."""
        self._handler = self._factory(self._publish)
        self._presence.publish(self._handler.sessions())
        async with asyncio.TaskGroup() as group:
            connections: set[asyncio.Task[None]] = set()

            def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                if self._finished.is_set():
                    writer.close()
                    return
                self._is_known = True
                task = group.create_task(self._serve(Peer(reader, writer)))
                connections.add(task)
                task.add_done_callback(connections.discard)

            accepting = await asyncio.start_server(
                accept, sock=self._listener, limit=protocol.MAX_BYTES, backlog=transport.BACKLOG
            )
            ready()
            _log.info("serving on %s, version %s", self._presence.address, __version__)
            self._rest()
            await self.stopping.wait()
            await self._shut_down(accepting)
            for task in connections:
                task.cancel()

    async def _shut_down(self, accepting: asyncio.Server) -> None:
        _log.info("stopping")
        if self._idle is not None:
            self._idle.cancel()
        with suppress(OSError):
            self._presence.withdraw()
        accepting.close()
        closing = asyncio.ensure_future(self._handler.close())
        done, _ = await asyncio.wait({closing}, timeout=_CLOSE_S)
        if not done:
            _log.error("the sessions did not end within %g s", _CLOSE_S)
            closing.cancel()
        elif error := closing.exception():
            _log.error("the sessions did not end well", exc_info=error)
        self._closed.set()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_FINISH_S)
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

    async def _serve(self, peer: Peer) -> None:
        try:
            if await self._admits(peer):
                await self._converse(peer)
        except Exception:  # noqa: BLE001 - the server loop
            # One connection's failure must not end the others.
            _log.exception("a connection failed")
        finally:
            peer.hang_up()

    async def _admits(self, peer: Peer) -> bool:
        if not transport.is_own_peer(peer.socket):
            _log.warning("refused a connection of another user")
            return False
        if peer.socket.family == getattr(socket, "AF_UNIX", None):
            return True
        try:
            async with asyncio.timeout(transport.CONNECT_S):
                message = await peer.receive()
        except (OSError, protocol.Malformed):
            message = None
        token = str((message or {}).get("token")).encode("utf-8", "replace")
        if hmac.compare_digest(token, self._token.encode()):
            return True
        _log.warning("refused a connection without the token")
        return False

    async def _converse(self, peer: Peer) -> None:
        async with asyncio.TaskGroup() as group:
            tasks: set[asyncio.Task[None]] = set()
            failure = None
            try:
                while (message := await peer.receive()) is not None:
                    if task := await self._take(peer, message, group):
                        tasks.add(task)
                        task.add_done_callback(tasks.discard)
            except protocol.Malformed as error:
                failure = protocol_error(f"bad message: {error}")
            except OSError:
                _log.debug("a client hung up while it was spoken to")
            for task in tasks:
                task.cancel()
        if failure is not None:
            with suppress(OSError):
                await peer.send_last(as_answer(None, Reply.failed(failure)))

    async def _take(
        self, peer: Peer, message: protocol.Message, group: asyncio.TaskGroup
    ) -> asyncio.Task[None] | None:
        try:
            wire = read(message)
            if wire.id in peer.requests:
                raise protocol_error(f"request {wire.id} is still running")
        except DebuggerError as error:
            await peer.send(as_answer(message.get("id"), Reply.failed(error)))
            return None
        if wire.cancel is not None:
            asked = peer.requests.get(wire.cancel)
            if asked is not None:
                asked.cancel_wait()
            reply = Reply(result={"cancelled": asked is not None}, text="")
            await peer.send(as_answer(wire.id, reply))
            return None
        if self.stopping.is_set():
            failure = Reply.failed(_stopped())
            await peer.send({**as_answer(wire.id, failure), "retry": True})
            return None
        request = as_request(wire, peer)
        peer.requests[wire.id] = request
        task = group.create_task(self._answer(peer, request, note=_note(wire.client)))
        self._tasks.add(task)
        self._stir()
        task.add_done_callback(self._forget)
        task.add_done_callback(lambda _: peer.requests.pop(request.id))
        return task

    async def _answer(self, peer: Peer, request: Request, *, note: str | None) -> None:
        try:
            async with reporting_progress(peer, request, self._handler):
                reply = await self._reply(peer, request)
        except asyncio.CancelledError:
            if not self.stopping.is_set():
                raise
            reply = Reply.failed(_stopped())
        answer = as_answer(request.id, reply)
        try:
            line = as_line(answer if note is None else {**answer, "note": note})
        except (TypeError, ValueError) as error:  # JSON cannot hold it
            reply = self._faulty(request, error)
            line = as_line(as_answer(request.id, reply))
        with suppress(OSError):
            await peer.send_line(line, request.id)
        if reply.stop_daemon:
            self.stop()

    async def _reply(self, peer: Peer, request: Request) -> Reply:
        words = protocol.words(request.argv) if request.argv is not None else None
        try:
            if words == ["daemon", "status"] or request.command == "daemon_status":
                return _own_reply(request, *self._status())
            if words == ["daemon", "stop"] or request.command == "daemon_stop":
                return _own_reply(request, *await self._end(peer))
            reply = await self._handler.handle(request)
            self._publish(self._handler.sessions())
        except DebuggerError as error:
            return Reply.failed(error)
        except Exception as error:  # noqa: BLE001 - the server loop
            return self._faulty(request, error)
        return reply

    def _faulty(self, request: Request, error: Exception) -> Reply:
        _log.error("a request failed: %s", request.argv or request.command, exc_info=error)
        what = f"{type(error).__name__}: {error}"
        hint = f"this is a fault of the debugger; see {self._presence.log}"
        return Reply.failed(DebuggerError(Code.INTERNAL, what, hint=hint))

    def _publish(self, sessions: Sequence[Mapping[str, Any]]) -> None:
        try:
            self._presence.publish(sessions)
        except OSError:
            # Only the note after a crash is poorer for it.
            _log.exception("could not write down the sessions")

    def _status(self) -> tuple[dict[str, Any], str]:
        sessions = self._handler.sessions()
        uptime = round(time.monotonic() - self._started, 3)
        result = {
            "running": True,
            "pid": os.getpid(),
            "version": __version__,
            "uptime_s": uptime,
            "socket": self._presence.address,
            "sessions": sessions,
        }
        held = protocol.name_sessions(sessions) or "no session"
        text = (
            f"daemon: running, pid {os.getpid()}, version {__version__}, up {uptime:.0f} s, "
            f"{held}, {self._presence.address}"
        )
        return result, text

    async def _end(self, peer: Peer) -> tuple[dict[str, Any], str]:
        ended, lost = self._handler.sessions(), self._handler.evidence()
        # Never closed by us: the client, waiting for the end of the connection, sees the process's.
        self._held.append(os.dup(peer.socket.fileno()))
        self.stop()
        await self._closed.wait()
        what = f"ended: {protocol.name_sessions(ended)}" if ended else "it held no session"
        text = f"daemon: stopped (pid {os.getpid()}); {what}"
        stay = [one["pid"] for one in ended if one.get("attached") and one["pid"] is not None]
        if stay:
            text += f"; attached to, and let go of: pid {', '.join(map(str, stay))}"
        if lost:
            text += f"; lost: evidence {', '.join(lost)}"
        return {"running": False, "pid": os.getpid(), "ended": ended, "lost": lost}, text

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not self._tasks:
            self._rest()

    def _stir(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _rest(self) -> None:
        self._stir()
        if self.stopping.is_set():
            return
        self._idle_s = self._handler.idle_s() or self._idle_s
        # Whoever started it is still on the way to its first request.
        idle_s = self._idle_s if self._is_known else max(self._idle_s, transport.CONNECT_S)
        self._idle = asyncio.get_running_loop().call_later(idle_s, self._end_if_idle)

    def _end_if_idle(self) -> None:
        if self._handler.busy():
            self._rest()
            return
        _log.info("idle for %g s", self._idle_s)
        self.stop()


def _own_reply(request: Request, result: dict[str, Any], text: str) -> Reply:
    if request.argv is not None and protocol.asks(request.argv, "--json"):
        text = json.dumps({"ok": True, "data": result})
    return Reply(result=result, text=text)


def _note(client: str | None) -> str | None:
    if client is None or client == __version__:
        return None
    return (
        f"the daemon is {'older' if _number(client) > _number(__version__) else 'newer'} "
        f"(version {__version__}) than this command ({client}); debugger daemon stop ends it and "
        "its sessions, and the next command starts the right one"
    )


def _number(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdecimal()]


def _stopped() -> DebuggerError:
    return DebuggerError(
        Code.NO_SESSION,
        "the daemon was stopped, and its sessions with it",
        hint="debugger start PROGRAM",
    )
