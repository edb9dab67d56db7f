"""Reports to a terminal's user that a command still runs, while it takes long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from debugger.daemon import protocol
from debugger.daemon.handler import CommandRequest, Handler
from debugger.daemon.peer import ClientPeer

_FIRST_S = 2.0
_EACH_S = 1.0


@asynccontextmanager
async def reporting_progress(
    peer: ClientPeer, request: CommandRequest, handler: Handler
) -> AsyncIterator[None]:
    """Report every second what goes on, from the second second on, if the request wants that."""
    if not request.wants_progress:
        yield
        return
    task = asyncio.create_task(_report_progress(peer, request, handler))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])  # nothing of it comes after the answer


async def _report_progress(peer: ClientPeer, request: CommandRequest, handler: Handler) -> None:
    loop, over = asyncio.get_running_loop(), asyncio.Event()
    began, wait_s = loop.time(), _FIRST_S
    command = next(iter(protocol.command_words(request.argv or ())), "")
    while True:
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                await over.wait()
        wait_s = _EACH_S
        said = f"{command}: {loop.time() - began:.0f} s"
        if activity := handler.describe_progress(request):
            said += f", {activity}"
        try:
            await peer.send_message({"id": request.id, "progress": said})
        except OSError:
            return
