"""Sends, at the end of a step, the requests that the report of the previous stop made."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Protocol

import msgspec

from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.client import decode
from debugger.core.model import Scope, ScopeKind, Stack
from debugger.errors import DebuggerError

LEVELS = 20  # of a stack in a report
_SETTLE_S = 1.0
_SHOWN = {ScopeKind.LOCALS, ScopeKind.ARGUMENTS}

_Response = asyncio.Future[dap.Message]
_Receive = Callable[[_Response], None]


class Client(Protocol):
    """Sends the requests."""

    def post(self, command: str, arguments: msgspec.Struct) -> _Response:
        """Send a request; the future is its response."""


class ReadAhead:
    """Requests sent ahead: the stack, the scopes and the variables of the innermost frame.

    The adapter answers them while the stop is on its way to the report. They are sent only where
    the innermost frame of the previous stop was read, too: a step that nobody reports costs
    nothing.
    """

    def __init__(
        self, client: Client, scopes: Callable[[tuple[dap.Scope, ...]], list[Scope]]
    ) -> None:
        self._client = client
        self._scopes = scopes
        self._sent: list[tuple[str, msgspec.Struct, _Response, _Receive]] = []
        self._was_read = False

    def note_read(self) -> None:
        """Note that the variables of the innermost frame are read at this stop."""
        self._was_read = True

    def begin(self, thread: int, stack: Stack | None) -> None:
        """Send a report's requests, if the last stop was reported; a known `stack` is not read."""
        was_read, self._was_read = self._was_read, False
        self.forget()
        if not was_read:
            return
        with suppress(DebuggerError):  # the adapter is gone: whoever reads learns it
            if stack is None:
                self._send("stackTrace", ask.StackTrace(thread, 0, LEVELS), self._take_stack)
            elif stack.frames:
                self._send("scopes", ask.OfFrame(stack.frames[0].handle), self._take_scopes)

    async def settle(self) -> None:
        """Forget the requests, and wait for their responses (bounded).

        CodeLLDB answers requests out of order, and loses a function's return value where a request
        arrives during a step.
        """
        waited_for = [response for _, _, response, _ in self._sent if not response.done()]
        self.forget()
        if waited_for:
            await asyncio.wait(waited_for, timeout=_SETTLE_S)

    def forget(self) -> None:
        """Forget the requests: their responses may be outdated."""
        for _, _, response, receive in self._sent:
            response.remove_done_callback(receive)
        self._sent.clear()

    def take(self, command: str, arguments: object) -> _Response | None:
        """Return the response to a request that was sent ahead, once.

        Whoever takes a response makes the next request itself: nothing more is sent ahead of that
        one.
        """
        for at, (name, its, response, receive) in enumerate(self._sent):
            if name == command and its == arguments:
                del self._sent[at]
                response.remove_done_callback(receive)
                return response
        return None

    def _send(
        self, command: str, arguments: msgspec.Struct, take: Callable[[dap.Message], None]
    ) -> None:
        response = self._client.post(command, arguments)
        receive = partial(self._receive, take)
        response.add_done_callback(receive)
        self._sent.append((command, arguments, response, receive))

    def _receive(self, take: Callable[[dap.Message], None], done: _Response) -> None:
        # The event loop still calls a callback that was removed after its future was done.
        if all(response is not done for _, _, response, _ in self._sent):
            return
        if done.cancelled() or done.exception() is not None:
            return
        if done.result().success:
            with suppress(DebuggerError):  # whoever reads decodes it again, and reports it
                take(done.result())

    def _take_stack(self, message: dap.Message) -> None:
        frames = decode(message.body, dap.StackTraceBody).stack_frames
        if frames:
            self._send("scopes", ask.OfFrame(frames[0].id), self._take_scopes)

    def _take_scopes(self, message: dap.Message) -> None:
        for scope in self._scopes(decode(message.body, dap.ScopesBody).scopes):
            if scope.kind in _SHOWN:
                self._send("variables", ask.Variables(scope.handle), _ignore)


def _ignore(message: dap.Message) -> None:
    del message
