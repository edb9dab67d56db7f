"""Serves the page: its files, its live stream of events, its requests and commands."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from debugger.clients.session_client import NO_OVERVIEW, SessionClient, read_overview
from debugger.daemon.daemon_client import DaemonClient
from debugger.errors import DebuggerError, ErrorCode
from debugger.ui.page_guard import PageKeys

STATIC: Final = Path(__file__).parent / "static"
STREAMS_MAX: Final = 20  # pages at a time
_TICK_S: Final = 1.0  # seconds between two looks at the sessions and the evidence
_ALIVE_S: Final = 15.0  # seconds after which a silent stream says that it lives
_BODY_MAX: Final = 1 << 20
_WAITING_MAX: Final = 100
_RETRY_MS: Final = 1000
# What a page may ask of the conversation, and which commands it may run.
_REQUESTS: Final = frozenset(
    {"threads", "stackTrace", "scopes", "variables", "evaluate", "source", "exceptionInfo"}
    | {"continue", "next", "stepIn", "stepOut", "pause", "restart", "terminate"}
    | {"takeOver", "handBack", "setVariable", "setExpression"}
)
_COMMANDS: Final = frozenset(
    {"breakpoint_add", "breakpoint_remove", "breakpoint_enable", "breakpoint_disable"}
    | {"breakpoint_change", "breakpoint_list", "evidence_show", "events", "status", "backtrace"}
)
_DRAWN: Final = re.compile(r"e[1-9]\d{0,8}\Z")
# A picture is no shorter than it is: of a cut one nothing could be shown.
_PICTURE_TOKENS: Final = "1000000"


class PageStream:
    """The stream of one page: the events that wait for it, and its conversation."""

    def __init__(self) -> None:
        self.number = secrets.token_urlsafe(12)
        self.conversation: SessionClient | None = None
        self.waiting: asyncio.Queue[bytes | None] = asyncio.Queue(_WAITING_MAX)
        self.overview: Mapping[str, Any] | None = None

    async def add_event(self, name: str, data: object, number: str | None = None) -> None:
        """Add an event; wait while the page does not read."""
        await self.waiting.put(encode_event(name, data, number))

    def offer_overview(self, overview: Mapping[str, Any]) -> None:
        """Add the overview if it is new to the page; later, if the page does not read."""
        if overview != self.overview and not self.waiting.full():
            self.overview = overview
            self.waiting.put_nowait(encode_event("overview", overview))


class PageServer:
    """The page's server: any number of pages, at any sessions, of one person."""

    def __init__(self, daemon: DaemonClient, keys: PageKeys, session: str | None) -> None:
        self._daemon = daemon
        self._keys = keys
        self._session = session
        self._streams: dict[str, PageStream] = {}
        self._overview: Mapping[str, Any] = NO_OVERVIEW
        self._wake = asyncio.Event()
        self._unused_since = time.monotonic()
        self._is_ending = False

    def build_app(self) -> Starlette:
        """Build the application; `page_guard` decides who reaches it."""
        return Starlette(
            routes=[
                Route("/", self._serve_index),
                Route("/events", self._serve_events),
                Route("/request", self._serve_request, methods=["POST"]),
                Route("/command", self._serve_command, methods=["POST"]),
                Route("/picture/{number}.svg", self._serve_picture),
                Route("/picture/{number}.json", self._serve_calls),
                # Nothing above or outside the folder, whatever the path says.
                Mount("/static", StaticFiles(directory=STATIC)),
            ]
        )

    def unused_s(self) -> float:
        """Return the seconds without any page."""
        return 0.0 if self._streams else time.monotonic() - self._unused_since

    def end_streams(self) -> None:
        """End all streams: the server ends."""
        self._is_ending = True
        for one in self._streams.values():
            with suppress(asyncio.QueueFull):
                one.waiting.put_nowait(None)

    async def watch_daemon(self) -> None:
        """Look at the daemon's sessions and evidence while there are pages."""
        while True:
            await self._wake.wait()
            self._overview = await read_overview(self._daemon)
            for one in self._streams.values():
                one.offer_overview(self._overview)
            if not self._streams:
                self._wake.clear()
            await asyncio.sleep(_TICK_S)

    async def _serve_index(self, request: Request) -> Response:
        response = FileResponse(STATIC / "index.html")
        if getattr(request.state, "sets_cookie", False):
            self._keys.set_cookie(response)
        return response

    async def _serve_events(self, request: Request) -> Response:
        if len(self._streams) >= STREAMS_MAX or self._is_ending:
            return JSONResponse({"error": f"{STREAMS_MAX} pages are open already"}, 503)
        stream = PageStream()
        since = request.headers.get("last-event-id") or request.query_params.get("since") or "0"
        session = request.query_params.get("session") or self._session
        key = request.query_params.get("key") or stream.number
        return StreamingResponse(
            self._stream_events(stream, session, key=key[:100], since=since[:100]),
            media_type="text/event-stream",
        )

    async def _stream_events(
        self, stream: PageStream, session: str | None, *, key: str, since: str
    ) -> AsyncIterator[bytes]:
        self._streams[stream.number] = stream
        self._wake.set()
        filling = asyncio.ensure_future(self._fill_stream(stream, session, key=key, since=since))
        try:
            yield f"retry: {_RETRY_MS}\n\n".encode()
            while True:
                try:
                    async with asyncio.timeout(_ALIVE_S):
                        event = await stream.waiting.get()
                except TimeoutError:
                    event = b": alive\n\n"
                if event is None:
                    return
                yield event
        finally:
            filling.cancel()
            self._streams.pop(stream.number, None)
            self._unused_since = time.monotonic()
            if stream.conversation is not None:
                await stream.conversation.close()

    async def _fill_stream(
        self, stream: PageStream, session: str | None, *, key: str, since: str
    ) -> None:
        # While there was no page nobody has looked: what was seen last may have ended since.
        self._overview = await read_overview(self._daemon)
        if session is None:
            session = self._overview["current"]
        await stream.add_event("hello", {"stream": stream.number, "session": session})
        stream.offer_overview(self._overview)
        if session is None:
            return
        try:
            joined = await SessionClient.join_session(session, page_key=key, since=since)
        except DebuggerError as error:
            await stream.add_event("gone", {"session": session, "message": error.message})
            return
        stream.conversation = joined
        while (message := await joined.next_event()) is not None:
            body = message.get("body") or {}
            number = body.pop("data", None) if message["event"] == "output" else None
            await stream.add_event(message["event"], body, number)
        # The daemon, or the session, has ended; the page connects again.
        await stream.add_event("lost", {})
        await stream.waiting.put(None)

    async def _serve_request(self, request: Request) -> Response:
        try:
            given = await _read_body(request)
            command, arguments = _checked_fields(given, _REQUESTS)
            conversation = self._find_conversation(given)
            return JSONResponse({"body": await conversation.request(command, arguments)})
        except DebuggerError as error:
            return _error_response(error)

    def _find_conversation(self, given: Mapping[str, Any]) -> SessionClient:
        stream = self._streams.get(str(given.get("stream")))
        if stream is None or stream.conversation is None:
            raise DebuggerError(
                ErrorCode.NO_SESSION, "no session is followed here", hint="choose a session"
            )
        return stream.conversation

    async def _serve_command(self, request: Request) -> Response:
        try:
            given = await _read_body(request)
            command, arguments = _checked_fields(given, _COMMANDS)
            session = given.get("session")
            reply = await self._daemon.run_command(
                command, arguments, session=str(session) if session is not None else None
            )
            return JSONResponse({"body": reply.data})
        except DebuggerError as error:
            return _error_response(error)

    async def _serve_picture(self, request: Request) -> Response:
        """Serve the SVG of an answer, for an image: nothing in it can run or load anything."""
        try:
            drawing = await self._draw_answer(request)
        except DebuggerError as error:
            return _error_response(error)
        svg = str(drawing.get("svg", ""))
        if not svg:
            return JSONResponse({"error": {"message": "it has no picture"}}, 404)
        return Response(svg, media_type="image/svg+xml")

    async def _serve_calls(self, request: Request) -> Response:
        """Serve the trees of an answer's calls."""
        try:
            return JSONResponse({"body": await self._draw_answer(request)})
        except DebuggerError as error:
            return _error_response(error)

    async def _draw_answer(self, request: Request) -> Mapping[str, Any]:
        number = str(request.path_params["number"])
        if not _DRAWN.match(number):
            raise _usage_error(f"no answer {number[:60]!r}")
        words = ["--budget", _PICTURE_TOKENS, "evidence", "draw", number]
        return (await self._daemon.run_command_line(words)).data


def encode_event(name: str, data: object, number: str | None = None) -> bytes:
    """Encode a server-sent event (HTML, 9.2.6); JSON in ASCII has no line ends."""
    head = f"id: {number}\n" if number is not None else ""
    return f"{head}event: {name}\ndata: {json.dumps(data)}\n\n".encode("ascii")


async def _read_body(request: Request) -> dict[str, Any]:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _BODY_MAX:
            raise _usage_error(f"more than {_BODY_MAX} bytes")
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise _usage_error("not JSON") from None
    if not isinstance(found, dict):
        raise _usage_error("not an object")
    return found


def _checked_fields(given: Mapping[str, Any], known: frozenset[str]) -> tuple[str, dict[str, Any]]:
    """Return the command and its arguments, if it is one of those that a page may send."""
    command, arguments = given.get("command"), given.get("arguments") or {}
    if not isinstance(command, str) or command not in known:
        raise _usage_error(f"no command {str(command)[:60]!r} here")
    if not isinstance(arguments, dict) or not isinstance(given.get("session"), str | None):
        raise _usage_error("the arguments are no object, or the session is no text")
    return command, arguments


def _usage_error(message: str) -> DebuggerError:
    return DebuggerError(ErrorCode.USAGE, message, hint="reload the page")


def _error_response(error: DebuggerError) -> Response:
    body = {"code": error.code.value, "message": error.message, "hint": error.hint}
    status = 400 if error.code is ErrorCode.USAGE else 409
    return JSONResponse({"error": body}, status)
