"""Frames the fake adapter's messages by its own code, so that no tested code tests itself."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Json = dict[str, Any]


@dataclass(frozen=True)
class Raw:
    """Bytes to send as they are."""

    data: bytes


@dataclass(frozen=True)
class Wait:
    """A while in which the adapter is busy."""

    milliseconds: int


@dataclass(frozen=True)
class Complaint:
    """Text for the adapter's own stderr."""

    text: str


@dataclass(frozen=True)
class End:
    """The end of the adapter: an exit status, or the negative number of a signal."""

    status: int = 0


Item = Json | Raw | Wait | Complaint | End


def response(body: Json | None = None) -> Json:
    """Make a response that says success."""
    return {"type": "response", "success": True} | ({} if body is None else {"body": body})


def failure(message: str) -> Json:
    """Make a response that says why not, in both places where adapters say it."""
    error = {"id": 1, "format": message, "showUser": True}
    return {"type": "response", "success": False, "message": message, "body": {"error": error}}


def event(name: str, /, **body: object) -> Json:
    """Make an event."""
    return {"type": "event", "event": name} | ({"body": body} if body else {})


def reverse_request(command: str, /, **arguments: object) -> Json:
    """Make a request to the client."""
    return {"type": "request", "command": command, "arguments": arguments}


def is_response(item: Item) -> TypeGuard[Json]:
    """Return whether the item answers a request."""
    return isinstance(item, dict) and item["type"] == "response"


def is_event(item: Item, *names: str) -> TypeGuard[Json]:
    """Return whether the item is one of these events."""
    return isinstance(item, dict) and item["type"] == "event" and item["event"] in names


def end_process(status: int) -> None:
    """Leave at once, as adapters do that crash: nothing is closed, nobody is told."""
    if status >= 0:
        os._exit(status)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.kill(os.getpid(), -status)
    signal.pause()


def read_messages(stream: BinaryIO) -> Iterator[Json]:
    """Yield every message until the stream ends."""
    while True:
        length = 0
        while (line := stream.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not line:
            return
        yield json.loads(stream.read(length))


@dataclass
class Journal:
    """What the process has received and sent, over all its connections."""

    log: Path | None = None
    die_after: int | None = None
    sent: int = 0
    # Each TCP connection has a thread, and all of them count towards one death.
    lock: threading.Lock = field(default_factory=threading.Lock)

    def received(self, message: Json) -> None:
        """Append a request to the log as one JSON line."""
        if self.log and message.get("type") == "request":
            with self.lock, self.log.open("a", encoding="utf-8") as log:
                log.write(json.dumps(message) + "\n")

    def count(self) -> None:
        """Count a sent message, and die of the last one."""
        with self.lock:
            self.sent += 1
        self.die_if_due()

    def die_if_due(self) -> None:
        """Die like a killed process if as many messages were sent as were granted."""
        if self.die_after is not None and self.sent >= self.die_after:
            end_process(-signal.SIGKILL)


@dataclass
class Outlet:
    """The way out of one connection; numbers the messages."""

    stream: BinaryIO
    journal: Journal
    seq: int = 0

    def perform(self, item: Item) -> None:
        """Send the item, or do what it stands for."""
        match item:
            case Raw(data):
                self._write(data)
            case Wait(milliseconds):
                # Not a wait for anything: the adapter plays a slow one.
                time.sleep(milliseconds / 1000)
            case Complaint(text):
                sys.stderr.write(text)
                sys.stderr.flush()
            case End(status):
                end_process(status)
            case _:
                self.seq += 1
                content = json.dumps({"seq": self.seq} | item).encode()
                self._write(b"Content-Length: %d\r\n\r\n%s" % (len(content), content))
                self.journal.count()

    def _write(self, data: bytes) -> None:
        self.stream.write(data)
        self.stream.flush()
