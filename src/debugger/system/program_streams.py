"""Opens the program's standard streams, writes its input and reads its output."""

from __future__ import annotations

import asyncio
import codecs
import os
import tty
from collections.abc import Callable
from pathlib import Path

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.events import OutputStream

_CHUNK = 1 << 16
# A program that writes without end must not starve the event loop.
_TURN_MAX = 1 << 17  # bytes read before others get their turn
_WRITE_S = 10.0  # seconds for the program to read its input
_QUIET_S = 0.02
_DRAIN_S = 0.5


class ProgramStreams:
    """Three files for a program to open: a FIFO to read from, two to write to.

    With `as_terminal` the output files are pseudo-terminals, so that a C program writes each line
    when it is complete instead of in blocks of 4 KiB; stdout and stderr stay separate in both
    cases. Echo and translation are off.
    """

    def __init__(
        self,
        scratch: Path,
        *,
        as_terminal: bool,
        on_output: Callable[[OutputStream, str], None],
        write_s: float = _WRITE_S,
    ) -> None:
        self._write_s = write_s
        self._on_output = on_output
        self._loop = asyncio.get_running_loop()
        self._read: dict[int, tuple[OutputStream, codecs.IncrementalDecoder]] = {}
        # Our own descriptors of the terminals, until the program has opened them.
        self._slaves: list[int] = []
        # Not a queue: who writes waits for the program to read, and others write after that.
        self._writing = asyncio.Lock()
        self._waiting: asyncio.Future[None] | None = None
        self.stdin = str(scratch / "stdin")
        os.mkfifo(self.stdin, 0o600)
        # Read and write, so that neither side waits for the other to open it.
        self._input: int | None = os.open(self.stdin, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self.stdout = (
            self._open_terminal(OutputStream.STDOUT)
            if as_terminal
            else self._make_fifo(OutputStream.STDOUT, scratch)
        )
        self.stderr = (
            self._open_terminal(OutputStream.STDERR)
            if as_terminal
            else self._make_fifo(OutputStream.STDERR, scratch)
        )

    def _open_terminal(self, stream: OutputStream) -> str:
        master, slave = os.openpty()
        # Raw: no echo, and no "\n" turned into "\r\n".
        tty.setraw(slave)
        # Kept open until the program has opened it: without a slave the master reports its end.
        self._slaves.append(slave)
        self._watch_descriptor(master, stream)
        return os.ttyname(slave)

    def _make_fifo(self, stream: OutputStream, scratch: Path) -> str:
        path = str(scratch / stream.value)
        # Opened for both: a FIFO without a writer would be at its end at once.
        os.mkfifo(path, 0o600)
        self._watch_descriptor(os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC), stream)
        return path

    def _watch_descriptor(self, descriptor: int, stream: OutputStream) -> None:
        os.set_blocking(descriptor, False)
        # A read may end within a character.
        decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._read[descriptor] = (stream, decoder)
        self._loop.add_reader(descriptor, self._read_available, descriptor)

    def _read_available(self, descriptor: int) -> int:
        """Read the pending output, up to `_TURN_MAX`; return the number of bytes."""
        stream, decoder = self._read[descriptor]
        total = 0
        # One turn of the event loop must not be spent on a single fast writer.
        while total < _TURN_MAX:
            try:
                chunk = os.read(descriptor, _CHUNK)
            except BlockingIOError:
                break
            except OSError:  # EIO: nobody has the terminal open any more
                chunk = b""
            if not chunk:
                self._close_descriptor(descriptor)
                break
            total += len(chunk)
            text = decoder.decode(chunk)
            if text:
                self._on_output(stream, text)
        return total

    def _close_descriptor(self, descriptor: int) -> None:
        stream, decoder = self._read.pop(descriptor)
        self._loop.remove_reader(descriptor)
        os.close(descriptor)
        rest = decoder.decode(b"", final=True)
        if rest:
            self._on_output(stream, rest)

    def note_opened(self) -> None:
        """Close our side of the terminals: from now on the program's end closes them."""
        for slave in self._slaves:
            os.close(slave)
        self._slaves.clear()

    @property
    def output_descriptors(self) -> list[int]:
        """The descriptors of the program's output."""
        return list(self._read)

    def read_now(self) -> None:
        """Read all pending output at once."""
        for descriptor in list(self._read):
            self._read_available(descriptor)

    async def read_to_end(self) -> None:
        """Read until the files end, or no output has come for `_QUIET_S`; bounded by `_DRAIN_S`.

        A terminal's output reaches its reader a moment after the write, so one read is not enough.
        """
        limit = self._loop.time() + _DRAIN_S
        self.note_opened()
        while self._read and self._loop.time() < limit:
            taken = sum(self._read_available(descriptor) for descriptor in list(self._read))
            if not taken and not await self._wait_readable(_QUIET_S):
                return

    async def _wait_readable(self, within: float) -> bool:
        ready = self._loop.create_future()

        def wake_reader() -> None:
            if not ready.done():
                ready.set_result(None)

        for descriptor in self._read:
            self._loop.add_reader(descriptor, wake_reader)
        try:
            async with asyncio.timeout(within):
                await ready
        except TimeoutError:
            return False
        finally:
            for descriptor in self._read:
                self._loop.add_reader(descriptor, self._read_available, descriptor)
        return True

    async def write_input(self, data: bytes) -> None:
        """Write to the program's input.

        Raises:
            DebuggerError: WRONG_STATE after its end, TIMEOUT if the program does not read.
        """
        async with self._writing:
            await self._write_some(data)

    async def _write_some(self, data: bytes) -> None:
        remaining = memoryview(data)
        limit = self._loop.time() + self._write_s
        while remaining:
            if self._input is None:
                raise DebuggerError(
                    ErrorCode.WRONG_STATE,
                    "the program's input has ended",
                    hint="debugger restart runs it again",
                )
            try:
                remaining = remaining[os.write(self._input, remaining) :]
            except BlockingIOError:
                if not await self._wait_writable(self._input, limit - self._loop.time()):
                    raise DebuggerError(
                        ErrorCode.TIMEOUT,
                        f"the program does not read its input: {len(data) - len(remaining)} of "
                        f"{len(data)} bytes were written in {self._write_s:g} s",
                        hint="debugger continue lets a stopped program read it",
                    ) from None

    async def _wait_writable(self, descriptor: int, within: float) -> bool:
        self._waiting = self._loop.create_future()
        self._loop.add_writer(descriptor, self._wake_waiter)
        try:
            async with asyncio.timeout(max(within, 0)):
                await self._waiting
        except TimeoutError:
            return False
        finally:
            self._waiting = None
            if self._input is not None:
                self._loop.remove_writer(descriptor)
        return True

    def _wake_waiter(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def end_input(self) -> None:
        """Close the program's input."""
        if self._input is not None:
            self._loop.remove_writer(self._input)
            os.close(self._input)
            self._input = None
            self._wake_waiter()

    def close(self) -> None:
        """Close all files; unread output is lost."""
        self.end_input()
        self.note_opened()
        for descriptor in list(self._read):
            self._close_descriptor(descriptor)


def require_stdio(stdio: ProgramStreams | None) -> ProgramStreams:
    """Return the streams of a program that we started.

    Raises:
        DebuggerError: NOT_SUPPORTED for an attached program.
    """
    if stdio is None:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            "the program was not started here: its input is not ours",
            hint="write to it where it was started",
        )
    return stdio
