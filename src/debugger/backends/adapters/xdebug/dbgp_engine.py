"""Talks to one PHP request that Xdebug debugs: a command, then its answer."""

from __future__ import annotations

import asyncio
import os
import signal
import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence
from contextlib import suppress

from debugger.backends.adapters.xdebug import dbgp_values as dbgp
from debugger.backends.adapters.xdebug import interrupts
from debugger.backends.dap.dap_transport import find_peer

# The protocol's feature names (section 7.2); children and data are of one property.
_FEATURES = {
    "notify_ok": "1",
    "resolved_breakpoints": "1",
    "breakpoint_details": "1",
    "breakpoint_include_return_value": "1",
    "extended_properties": "0",
    "max_depth": "3",
    "max_children": "100",
    "max_data": "1024",
    "show_hidden": "0",
}


class EngineError(Exception):
    """A command that Xdebug refuses, with its own words."""


class DbgpEngine:
    """One connection of Xdebug's. It answers only while PHP is stopped."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        on_notify: Callable[[ET.Element], None],
    ) -> None:
        self._reader = reader
        self._writer = writer
        self.on_notify = on_notify
        self._decoder = dbgp.PacketDecoder()
        self._packets: list[ET.Element] = []
        self._number = 0
        self._ahead: dict[str, ET.Element] = {}  # answers to commands that were sent ahead
        self._lock = asyncio.Lock()
        self.over = asyncio.Event()  # the request has ended
        self.pid = find_peer(writer)

    async def begin(self) -> bool:
        """Read the first packet, and set the features; tell whether it is Xdebug."""
        first = await self._read_packet()
        if first is not None:
            features = [f"feature_set -n {name} -v {value}" for name, value in _FEATURES.items()]
            with suppress(EngineError):
                await self.run("eval", interrupts.INSTALL_HANDLER, ahead=features)
            self._ahead.clear()
            self.pid = self.pid or int(first.get("appid") or 0)
        return first is not None

    def interrupt(self) -> None:
        """Make PHP, which runs, stop at its next statement.

        Raises:
            EngineError: It has no handler for that.
        """
        if not interrupts.send_interrupt(self.pid):
            raise EngineError(
                "Xdebug stops PHP that runs only with the extension pcntl: set a breakpoint"
            )

    async def run(
        self, command: str, data: str | None = None, *, ahead: Sequence[str] = ()
    ) -> ET.Element | None:
        """Run a command; None once PHP is gone.

        The commands of `ahead`, which are likely to follow, are sent in one write with this one,
        and their answers wait for the calls that ask for them.

        Raises:
            EngineError: Xdebug refuses it.
        """
        async with self._lock:
            packet = self._ahead.pop(command, None)
            if packet is None:
                packet = await self._exchange(command, data, ahead)
        if packet is not None and (problem := dbgp.read_error(packet)) is not None:
            raise EngineError(problem)
        return packet

    async def _exchange(
        self, command: str, data: str | None, ahead: Sequence[str]
    ) -> ET.Element | None:
        # Everything else may change what the program's values are.
        if not command.startswith("breakpoint_"):
            self._ahead.clear()
        texts = [self._encode(command, data), *(self._encode(one) for one in ahead)]
        number = self._number - len(ahead)
        with suppress(OSError):
            self._writer.write(b"".join(texts))
            await self._writer.drain()
        packet = await self._read_answer(number)
        for following in ahead:
            number += 1
            if packet is None or (answer := await self._read_answer(number)) is None:
                break
            self._ahead[following] = answer
        return packet

    def _encode(self, command: str, data: str | None = None) -> bytes:
        self._number += 1
        name, _, options = command.partition(" ")
        return dbgp.encode_command(name, self._number, options, data)

    async def _read_answer(self, number: int) -> ET.Element | None:
        while (packet := await self._read_packet()) is not None:
            if packet.get("transaction_id") == str(number):
                break
            self.on_notify(packet)
        return packet

    def close(self) -> None:
        """Close the connection: PHP goes on without a debugger."""
        self._writer.close()
        self.over.set()

    def end_process(self) -> None:
        """End PHP, if it is connected by a socket that only a program of ours knows."""
        if find_peer(self._writer):
            with suppress(OSError):
                os.kill(self.pid, signal.SIGKILL)

    async def _read_packet(self) -> ET.Element | None:
        while not self._packets:
            try:
                chunk = await self._reader.read(1 << 16)
            except OSError:
                chunk = b""
            if not chunk:
                return None
            self._packets += self._decoder.add_bytes(chunk)
        return self._packets.pop(0)
