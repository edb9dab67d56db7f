"""Holds the conversation with one editor: its session, its requests one by one, and its end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from debugger.backends.base import AttachTarget
from debugger.editors.editor_channel import EditorChannel, EditorRequest
from debugger.editors.launch_progress import LaunchProgress
from debugger.editors.session_follower import PageView, SessionFollower
from debugger.editors.stop_values import EditorStopValues
from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.runner.command_call import CommandCall
from debugger.session import session_list
from debugger.session.process_tree import find_member, root_session
from debugger.session.session import Session

_log = logging.getLogger(__name__)
_CLOSE_S = 5.0  # seconds for what was begun to be ended, once the editor has gone

# A request's work; what it returns is the body of the response.
Handler = Callable[["EditorConversation", EditorRequest], Awaitable[Mapping[str, Any] | None]]


class EditorConversation:
    """One editor at one session, beside the other clients of the session.

    Requests are worked off one by one, in their order; those of `URGENT` go past the others. What
    the editor itself has started ends with it; a session that it has joined goes on.
    """

    def __init__(
        self,
        call: CommandCall,
        channel: EditorChannel,
        handlers: Mapping[str, Handler],
        urgent: Mapping[str, Handler],
    ) -> None:
        self.call = call
        self.channel = channel
        self.values = EditorStopValues()
        # Held while a response and the events around it are put in their order.
        self.order = asyncio.Lock()
        # The breakpoints that the editor itself has listed: by the file, or by their kind.
        self.listed: dict[str, list[int]] = {}
        self.follower: SessionFollower | None = None
        self.ends_program = False
        # A launch is answered once the program runs.
        self.begin: Callable[[], Awaitable[None]] | None = None
        self.is_initialized = False
        self.lines_from = 1
        self.columns_from = 1
        # What the editor said that it takes, beside what all take.
        self.takes_invalidated = False
        self.takes_memory = False
        self.progress = LaunchProgress(channel)
        self._handlers = handlers
        self._urgent = urgent
        self._session: Session | None = None
        self._page: PageView | None = None
        # Sessions that a pause has not stopped, until a note says so.
        self.not_paused: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_over = asyncio.Event()

    @property
    def session(self) -> Session:
        """The session.

        Raises:
            DebuggerError: NO_SESSION before `launch` or `attach`, and after its end.
        """
        if self._session is None:
            raise DebuggerError(
                ErrorCode.NO_SESSION, "nothing is debugged yet", hint="send launch or attach first"
            )
        return self._session

    @property
    def has_session(self) -> bool:
        """Whether there is a session."""
        return self._session is not None

    @property
    def page_key(self) -> str:
        """The key of the page that this is.

        Raises:
            DebuggerError: USAGE for an editor, which acts beside agents without taking over.
        """
        if self._page is None:
            raise DebuggerError(
                ErrorCode.USAGE, "only a page takes over", hint='attach with a "pageKey"'
            )
        return self._page.key

    def take_session(
        self, session: Session, *, ends_program: bool, page: PageView | None = None
    ) -> None:
        """Take a session; `ends_program`: it, and its program, end with the editor."""
        self._session = root_session(session)
        self.ends_program = ends_program
        self._page = page
        if page is not None:
            for one in self.every_session():
                one.control.connect_page(page.key)
        self.follower = SessionFollower(
            self._session, self.channel, self.values, self.order, page=page
        )

    def every_session(self) -> list[Session]:
        """Return the sessions of all processes: of the program, or of a group's."""
        return self.session.family.tree_sessions(self.session) or [self.session]

    def find_session(self, name: str | None) -> Session:
        """Return the session of a process by its name (a page's extension); the program's for None.

        Raises:
            DebuggerError: NOT_FOUND.
        """
        found = find_member(self.session, name) if name is not None else self.session
        if found is None:
            shown = (name or "")[:100]
            raise DebuggerError(
                ErrorCode.NOT_FOUND, f"no process {shown!r} here", hint="choose another"
            )
        return found

    def follow(self) -> None:
        """Report from now on what happens in the session."""
        assert self.follower is not None
        self.start_task(
            self.follower.run(
                takes_invalidated=self.takes_invalidated, takes_memory=self.takes_memory
            )
        )

    def start_task(self, work: Awaitable[None]) -> None:
        """Start work that ends with the conversation at the latest."""
        task = asyncio.ensure_future(_logging_failure(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def finish(self) -> None:
        """End the conversation after the present request."""
        self._is_over.set()

    async def run(self) -> None:
        """Serve the editor until it goes, or its session has ended and it says good-bye."""
        requests: asyncio.Queue[EditorRequest] = asyncio.Queue(maxsize=1000)
        self.start_task(self._work_off(requests))
        reading = asyncio.ensure_future(self._read(requests))
        over = asyncio.ensure_future(self._is_over.wait())
        try:
            await asyncio.wait({reading, over}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (reading, over, *self._tasks):
                task.cancel()
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_S):
                    await self.leave_session(ends_program=self.ends_program)

    async def leave_session(self, *, ends_program: bool) -> None:
        """Leave the session: end it with its program, let go of the process, or only go."""
        session, self._session = self._session, None
        if session is None:
            return
        if self._page is not None:
            # Of a group others live on when the one that was joined first has been let go of.
            for one in session.family.tree_sessions(session):
                one.control.disconnect_page(self._page.key)
        if session.is_closed:
            return
        sessions = self.call.sessions
        if not ends_program:
            return
        if isinstance(session.target, AttachTarget):
            await session_list.let_go(sessions, session)
        else:
            await sessions.close(session, kill=True)

    async def _read(self, requests: asyncio.Queue[EditorRequest]) -> None:
        try:
            while (request := await self.channel.receive_request(self._refuse)) is not None:
                if request.command in self._urgent:
                    self.start_task(self._answer(request, self._urgent[request.command]))
                else:
                    await requests.put(request)
        except DebuggerError as error:
            await self.note(error.message)

    def _refuse(self, text: str) -> None:
        self.start_task(self.note(text))

    async def note(self, text: str, *, category: str = "console") -> None:
        """Tell the person something; what is `important` is more than a line of output."""
        await self.channel.send_event("output", {"category": category, "output": f"{text}\n"})

    async def _work_off(self, requests: asyncio.Queue[EditorRequest]) -> None:
        while True:
            request = await requests.get()
            handler = self._handlers.get(request.command)
            if handler is None:
                error = DebuggerError(
                    ErrorCode.NOT_SUPPORTED,
                    f"unknown request: {request.command[:80]}",
                    hint="the capabilities say what there is",
                )
                await self.channel.send_error(request, error)
            else:
                await self._answer(request, handler)

    async def _answer(self, request: EditorRequest, handler: Handler) -> None:
        try:
            self._require_initialized(request)
            if self._page is not None and _is_action(request):
                self._acted_session(request).control.note_action(self._page.key)
            body = await handler(self, request)
        except DebuggerError as error:
            await self.channel.send_error(request, error)
        except Exception as error:  # noqa: BLE001 - one request's failure is not the editor's end
            _log.error("a request of an editor failed: %s", request.command, exc_info=error)
            failure = DebuggerError(
                ErrorCode.INTERNAL,
                f"{type(error).__name__}: {error}",
                hint="this is a fault of the debugger; debugger daemon logs has it",
            )
            await self.channel.send_error(request, failure)
        else:
            if body is not ANSWERED:
                await self.channel.send_response(request, body)

    def _require_initialized(self, request: EditorRequest) -> None:
        """DAP, Initialize: it comes first, and only once."""
        first = request.command == "initialize"
        if first and self.is_initialized:
            text, hint = "initialize was answered already", "go on with launch or attach"
        elif not (first or self.is_initialized or request.command == "disconnect"):
            text, hint = f"{request.command} before initialize", "send initialize first"
        else:
            return
        raise DebuggerError(ErrorCode.USAGE, text, hint=hint)

    def _acted_session(self, request: EditorRequest) -> Session:
        """Return the session that a request acts on: of its thread, its frame or its value."""
        given = request.arguments or {}
        if isinstance(name := given.get("session"), str):
            return self.find_session(name)
        if isinstance(number := given.get("threadId"), int):
            with suppress(DebuggerError):  # none: the program's own process
                return self.values.find_thread(number).session
        if isinstance(number := given.get("variablesReference"), int):
            return self.values.find_value(number).frame.session
        if isinstance(number := given.get("frameId"), int):
            return self.values.find_frame(number).session
        return self.session


def _is_action(request: EditorRequest) -> bool:
    """Return whether a request lets the program run, ends it or changes it."""
    if request.command == "evaluate":  # what is typed may change something on purpose
        return bool((request.arguments or {}).get("context", "repl") == "repl")
    return request.command in _ACTS


# What a page may only do once it has taken over.
_ACTS = frozenset({"continue", "next", "stepIn", "stepOut", "pause", "goto", "restart"}) | {
    "terminate",
    "setVariable",
    "setExpression",
}
# What a handler returns that has sent its response itself.
ANSWERED: Mapping[str, Any] = {"answered": True}


async def _logging_failure(work: Awaitable[None]) -> None:
    try:
        await work
    except asyncio.CancelledError:
        raise
    except Exception:  # noqa: BLE001 - a task's failure is in the log, and nowhere else
        _log.exception("the work for an editor failed")
