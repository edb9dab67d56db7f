"""Waits for an adapter's first event or for the response that reports a failure."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from debugger.backends.dap import messages as dap
from debugger.backends.dap.dap_client import DapClient
from debugger.backends.dap.dap_transport import TcpConnection
from debugger.errors import DebuggerError, ErrorCode


async def wait_for_first(
    client: DapClient,
    name: str,
    event: asyncio.Event,
    *,
    unless: asyncio.Future[dap.DapMessage],
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
                    client.decode_body(unless.result(), dap.DapBody, ErrorCode.LAUNCH_FAILED)
                    if is_enough:
                        return
                    pending.discard(unless)
    except TimeoutError:
        raise DebuggerError(
            ErrorCode.TIMEOUT, f"{name} did not finish {doing} within {within_s:g} s"
        ) from None
    finally:
        waiter.cancel()


async def connect_child(
    name: str, configuration: Mapping[str, Any], address: tuple[str, int] | None
) -> TcpConnection:
    """Connect to the address at which a child process is debugged, by the adapter's configuration.

    Raises:
        DebuggerError: NOT_SUPPORTED if the configuration has none, ADAPTER_FAILED.
    """
    match configuration.get("connect"):
        case {"port": int(port), **more}:
            return await TcpConnection.open_connection(str(more.get("host", "127.0.0.1")), port)
        case _ if address is not None:
            return await TcpConnection.open_connection(*address)
    raise DebuggerError(
        ErrorCode.NOT_SUPPORTED, f"{name} does not say where its child process is to be met"
    )
