"""Sends log messages to a client, at the level that it requests."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final, get_args
from weakref import WeakKeyDictionary

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server

from debugger.mcp.tool_call import ClientMemory

_LEVELS: Final[tuple[types.LoggingLevel, ...]] = get_args(types.LoggingLevel)
_FROM_FIRST: Final[types.LoggingLevel] = "info"
_LOGGER: Final = "debugger"

_Said = list[tuple[types.LoggingLevel, str]]
# What is said while a request is served is for the client that sent it. The daemon is started in
# a thread, which inherits this.
_said: ContextVar[_Said | None] = ContextVar("said", default=None)

Context = ServerRequestContext[Any]


def log_note(text: str) -> None:
    """Send a note to the served client, and to standard error."""
    if sys.stderr is not None:
        sys.stderr.write(f"note: {text}\n")
    _send_log("warning", text)


class FailureHandler(logging.Handler):
    """A logging handler that sends our own errors to the client."""

    def emit(self, record: logging.LogRecord) -> None:
        """Send one log record."""
        _send_log("error" if record.levelno >= logging.ERROR else "warning", record.getMessage())


def _send_log(level: types.LoggingLevel, text: str) -> None:
    if (said := _said.get()) is not None:
        said.append((level, text))


def add_to(server: Server[Any], memory_of: Callable[[Context], ClientMemory]) -> None:
    """Enable log messages in a server; each client chooses its level."""
    levels: WeakKeyDictionary[ClientMemory, types.LoggingLevel] = WeakKeyDictionary()

    async def set_level(context: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
        levels[memory_of(context)] = params.level
        return types.EmptyResult()

    async def tell(ctx: Context, call_next: CallNext) -> HandlerResult:
        said: _Said = []
        token = _said.set(said)
        try:
            return await call_next(ctx)
        finally:
            _said.reset(token)
            least = _LEVELS.index(levels.get(memory_of(ctx), _FROM_FIRST)) if said else 0
            for level, text in said:
                if _LEVELS.index(level) >= least:
                    # Before the answer: after it a request's stream is closed. The SDK holds back
                    # what a client of 2026-07-28 did not ask for.
                    await ctx.session.send_log_message(
                        level, text, _LOGGER, related_request_id=ctx.request_id
                    )

    # Not by the constructor, which calls it deprecated: clients that ask for it are still there.
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
    server.middleware.append(tell)
