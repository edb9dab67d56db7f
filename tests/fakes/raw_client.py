"""A client that speaks with an adapter message by message, without the debugger's code."""

from __future__ import annotations

import contextlib
import json
import queue
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

ADAPTER = Path(__file__).with_name("dap_adapter.py")
# Seconds that any single message, or the end of the adapter, may take.
PATIENCE = 20.0
_LONGEST = 64 * 2**20

Json = dict[str, Any]
Item = Json | bytes


def words_of(items: Iterable[Item]) -> list[str]:
    """Shorten messages: `next` is a response, `!next` a failure, `(stopped)` an event."""
    return [_word(item) for item in items]


def _word(item: Item) -> str:
    if isinstance(item, bytes):
        return "garbage"
    if item["type"] == "event":
        return f"({item['event']})"
    if item["type"] == "request":
        return f"?{item['command']}"
    return item["command"] if item["success"] else f"!{item['command']}"


class RawClient:
    """The client's end of one connection; `seen` keeps what came, in its order.

    Bytes that are no message are kept as bytes, line by line.
    """

    def __init__(
        self,
        incoming: IO[bytes],
        outgoing: IO[bytes],
        *,
        process: subprocess.Popen[bytes] | None = None,
    ) -> None:
        self.process = process
        self.seen: list[Item] = []
        self._incoming, self._outgoing = incoming, outgoing
        self._arrived: queue.SimpleQueue[Item | None] = queue.SimpleQueue()
        self._seq = 0
        self._reader = threading.Thread(target=self._receive, daemon=True)
        self._reader.start()

    @classmethod
    @contextmanager
    def started(cls, *arguments: str) -> Iterator[RawClient]:
        """Start the fake adapter on pipes; it is killed at the end if it still runs."""
        process = subprocess.Popen(
            [sys.executable, str(ADAPTER), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdin
        assert process.stdout
        assert process.stderr
        peer = cls(process.stdout, process.stdin, process=process)
        try:
            yield peer
        finally:
            process.kill()
            process.wait(PATIENCE)
            peer.hang_up()
            # The end of the pipe comes with the death of the process; only then may it be closed.
            peer._reader.join(PATIENCE)
            process.stdout.close()
            process.stderr.close()

    @classmethod
    @contextmanager
    def connected(cls, connection: socket.socket) -> Iterator[RawClient]:
        """Speak over a socket, and close it at the end."""
        with (
            connection,
            connection.makefile("rb") as incoming,
            connection.makefile("wb") as outgoing,
        ):
            peer = cls(incoming, outgoing)
            try:
                yield peer
            finally:
                # Closing alone would not wake the reader.
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
                peer._reader.join(PATIENCE)

    def send(self, command: str, /, **arguments: object) -> int:
        """Send a request and give its number."""
        self._write({"type": "request", "command": command, "arguments": arguments})
        return self._seq

    def reply(self, request: Json, /, **body: object) -> None:
        """Answer a request of the adapter with success."""
        answer = {"request_seq": request["seq"], "command": request["command"], "body": body}
        self._write({"type": "response", "success": True} | answer)

    def ask(self, command: str, /, **arguments: object) -> Json:
        """Send a request and wait for its response."""
        number = self.send(command, **arguments)
        return self.until(lambda item: item.get("request_seq") == number)

    def until_event(self, name: str) -> Json:
        """Wait for the next event of this name, and give its body."""
        body: Json = self.until(lambda item: item.get("event") == name).get("body", {})
        return body

    def until(self, is_wanted: Callable[[Json], bool]) -> Json:
        """Wait for the next message that is wanted.

        Raises: AssertionError: It does not come, or the adapter ends before.
        """
        while (item := self.read()) is not None:
            if isinstance(item, dict) and is_wanted(item):
                return item
        raise AssertionError(f"the adapter has ended after {words_of(self.seen)}")

    def read(self) -> Item | None:
        """Wait for the next message or line of garbage; None is the end."""
        try:
            item = self._arrived.get(timeout=PATIENCE)
        except queue.Empty:
            raise AssertionError(f"silence after {words_of(self.seen)}") from None
        if item is not None:
            self.seen.append(item)
        return item

    def rest(self) -> list[Item]:
        """Say no more, and give what comes until the adapter ends."""
        self.hang_up()
        return self.drain()

    def drain(self) -> list[Item]:
        """Give what comes until the adapter ends of itself."""
        return list(iter(self.read, None))

    def ended(self) -> int:
        """Wait for the end of the process and give its status, negative for a signal."""
        assert self.process
        return self.process.wait(PATIENCE)

    def hang_up(self) -> None:
        """Close the way to the adapter."""
        with contextlib.suppress(OSError):
            self._outgoing.close()

    def events(self, name: str) -> list[Json]:
        """Give the bodies of the events of this name that came so far."""
        return [
            item.get("body", {})
            for item in self.seen
            if isinstance(item, dict) and item.get("event") == name
        ]

    def begin(
        self,
        *words: str,
        lines: Iterable[int] = (),
        breakpoints: Iterable[Json] = (),
        client: Json | None = None,
        **launch: object,
    ) -> list[str]:
        """Go from `initialize` to the first stop or the end, and tell what came."""
        self.start(*words, client=client, **launch)
        wanted = [*({"line": line} for line in lines), *breakpoints]
        self.send("setBreakpoints", source={"path": "/imaginary/main.c"}, breakpoints=wanted)
        self.send("configurationDone")
        return self.settle()

    def start(self, *words: str, client: Json | None = None, **launch: object) -> None:
        """Initialize, and send `launch` without waiting for its response."""
        self.ask("initialize", adapterID="fake", **client or {})
        self.send("launch", **{"program": "/imaginary/main.c", "args": words} | launch)

    def settle(self) -> list[str]:
        """Tell what came so far, when all that was sent is dealt with."""
        self.ask("threads")
        return words_of(self.seen)[:-1]

    def _write(self, message: Json) -> None:
        self._seq += 1
        content = json.dumps({"seq": self._seq} | message).encode()
        # A dead adapter shows in what is read.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._outgoing.write(b"Content-Length: %d\r\n\r\n%s" % (len(content), content))
            self._outgoing.flush()

    def _receive(self) -> None:
        with contextlib.suppress(ConnectionError):
            while line := self._incoming.readline():
                self._arrived.put(self._message(line))
        self._arrived.put(None)

    def _message(self, line: bytes) -> Item:
        name, _, length = line.partition(b":")
        if name != b"Content-Length" or int(length) > _LONGEST:
            return line
        self._incoming.readline()
        content = self._incoming.read(int(length))
        try:
            message: Json = json.loads(content)
        except json.JSONDecodeError:
            return content
        return message
