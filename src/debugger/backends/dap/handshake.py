"""Waits for an adapter's first event or for the response that reports a failure."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from debugger.backends.dap import messages as dap
from debugger.backends.dap.client import Client
from debugger.backends.dap.transport import Connection
from debugger.errors import Code, DebuggerError


async def first(
    client: Client,
    name: str,
    event: asyncio.Event,
    *,
    unless: asyncio.Future[dap.Message],
    doing: str,
    is_enough: bool,
    within_s: float,
) -> None:
    """Wait for an event, or for a response that reports a failure.

    Adapters answer `launch` before or after their first event. The response counts only as a
    failure until the event has come, unless `is_enough`.

    Raises:
        DebuggerError: LAUNCH_FAILED, TIMEOUT, ADAPTER_DIED.
    """
    waiter = asyncio.ensure_future(event.wait())
    try:
        pending: set[asyncio.Future[Any]] = {waiter, unless}
        async with asyncio.timeout(within_s):
            while not event.is_set() and pending:
                await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                if unless in pending and unless.done():
                    client.body(unless.result(), dap.Body, Code.LAUNCH_FAILED)
                    if is_enough:
                        return
                    pending.discard(unless)
    except TimeoutError:
        raise DebuggerError(
            Code.TIMEOUT, f"{name} did not finish {doing} within {within_s:g} s"
        ) from None
    finally:
        waiter.cancel()


async def met(
    name: str, configuration: Mapping[str, Any], address: tuple[str, int] | None
) -> Connection:
    """Connect to the address at which a child process is debugged, by the adapter's configuration.

    Raises:
        DebuggerError: NOT_SUPPORTED if the configuration has none, ADAPTER_FAILED.
    """
    match configuration.get("connect"):
        case {"port": int(port), **more}:
            return await Connection.open(str(more.get("host", "127.0.0.1")), port)
        case _ if address is not None:
            return await Connection.open(*address)
    raise DebuggerError(
        Code.NOT_SUPPORTED, f"{name} does not say where its child process is to be met"
    )
