"""Reads a child process's pipe within the event-loop turn in which its bytes come.

asyncio's streams take two turns more for each message, and a step exchanges seven messages.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

_CHUNK = 1 << 16


class PipeReader:
    """The read end of a pipe that has no other reader."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._is_in_use = False
        self._is_closing = False

    async def read_chunk(self) -> bytes:
        """Return the bytes that came; none at the pipe's end."""
        chunks: list[bytes] = []

        def keep_chunk(chunk: bytes) -> bool:
            chunks.append(chunk)
            return False

        await self._wait_for_bytes(keep_chunk)
        return b"".join(chunks)

    async def forward_chunks(self, take: Callable[[bytes], None]) -> None:
        """Pass each chunk to `take` until the pipe ends; an exception of `take` is raised here."""

        def forward_chunk(chunk: bytes) -> bool:
            take(chunk)
            return True

        await self._wait_for_bytes(forward_chunk)

    async def _wait_for_bytes(self, take: Callable[[bytes], bool]) -> None:
        """Call `take` with each chunk until it returns False, or the pipe ends."""
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()

        def read_available() -> None:
            if ended.done():  # and its waiter has not removed this reader yet
                return
            try:
                chunk = os.read(self._descriptor, _CHUNK)
            except BlockingIOError:
                return
            except OSError:
                chunk = b""
            try:
                goes_on = bool(chunk) and take(chunk)
            except Exception as error:  # noqa: BLE001 - raised where it is awaited
                ended.set_exception(error)
                return
            if not goes_on:
                ended.set_result(None)

        self._is_in_use = True
        loop.add_reader(self._descriptor, read_available)
        try:
            await ended
        finally:
            loop.remove_reader(self._descriptor)
            self._is_in_use = False
            # `close` came during the read, and left the descriptor open for it.
            if self._is_closing:
                self.close()

    def close(self) -> None:
        """Close the pipe, or leave that to the read under way."""
        self._is_closing = True
        if not self._is_in_use and self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
