"""Speaks to `debugger dap` as an editor does, and checks each message against the schema."""

from __future__ import annotations

import functools
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import jsonschema

from debugger.backends.dap.dap_transport import MessageDecoder, encode_message

ANSWER_S = 30.0
_SCHEMA = json.loads(
    (Path(__file__).parent / "dap" / "debugAdapterProtocol.json").read_text(encoding="utf-8")
)


@functools.cache
def _validator(name: str) -> Any:
    kind = jsonschema.validators.validator_for(_SCHEMA)
    return kind({**_SCHEMA, "$ref": f"#/definitions/{name}"})


def check_message(message: Mapping[str, Any]) -> None:
    """Check a message of ours against the protocol's own schema."""
    if message["type"] == "event":
        name = message["event"]
        _validator(f"{name[0].upper()}{name[1:]}Event").validate(message)
    elif not message["success"]:
        _validator("ErrorResponse").validate(message)
    else:
        name = message["command"]
        _validator(f"{name[0].upper()}{name[1:]}Response").validate(message)


class EditorClient:
    """An editor; `answers` and `events` are kept in the order in which they came."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.messages: list[dict[str, Any]] = []
        self._arrived: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._seq = 0
        self._waiting: list[dict[str, Any]] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, command: str, **arguments: Any) -> int:
        """Send a request, and return its number."""
        self._seq += 1
        message = {"seq": self._seq, "type": "request", "command": command}
        self.send_raw(encode_message(json.dumps({**message, "arguments": arguments}).encode()))
        return self._seq

    def send_raw(self, data: bytes) -> None:
        """Send bytes."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Send a request that must succeed, and return the body of its response."""
        answer = self.answer_to(self.send(command, **arguments))
        assert answer["success"], answer
        return answer.get("body", {})

    def refused(self, command: str, **arguments: Any) -> str:
        """Send a request that must fail, and return the text of the error."""
        answer = self.answer_to(self.send(command, **arguments))
        assert not answer["success"], answer
        return str(answer["body"]["error"]["format"])

    def answer_to(self, seq: int) -> dict[str, Any]:
        """Wait for the response to a request."""
        return self._find(lambda one: one["type"] == "response" and one["request_seq"] == seq)

    def event(self, name: str, **body: Any) -> dict[str, Any]:
        """Wait for an event with these fields, and return its body."""
        return self._find(
            lambda one: (
                one["type"] == "event"
                and one["event"] == name
                and body.items() <= one.get("body", {}).items()
            )
        ).get("body", {})

    def output_so_far(self, category: str) -> str:
        """Return the output of a category that has come until now."""
        bodies = [one["body"] for one in self.messages if one.get("event") == "output"]
        return "".join(one["output"] for one in bodies if one["category"] == category)

    def set_lines(self, path: str, *lines: int) -> list[dict[str, Any]]:
        """Set the breakpoints of a file."""
        found = self.ask(
            "setBreakpoints",
            source={"path": path},
            breakpoints=[{"line": line} for line in lines],
        )
        return list(found["breakpoints"])

    def top_frame(self, thread: int) -> dict[str, Any]:
        """Return the innermost frame of a thread."""
        return dict(self.ask("stackTrace", threadId=thread, levels=1)["stackFrames"][0])

    def local_values(self, frame: int) -> dict[str, str]:
        """Return the values of the first scope of a frame, by their names."""
        first = self.ask("scopes", frameId=frame)["scopes"][0]
        found = self.ask("variables", variablesReference=first["variablesReference"])
        return {one["name"]: one["value"] for one in found["variables"]}

    def _find(self, matches: Any) -> dict[str, Any]:
        for at, message in enumerate(self._waiting):
            if matches(message):
                return self._waiting.pop(at)
        while True:
            try:
                message = self._arrived.get(timeout=ANSWER_S)
            except queue.Empty:
                raise AssertionError(f"nothing more came: {self.messages[-8:]}") from None
            if message is None:
                raise AssertionError(f"the connection ended: {self.messages[-8:]}")
            if matches(message):
                return message
            self._waiting.append(message)

    def join_reader(self) -> None:
        """Wait until all that the ended process wrote is read."""
        self._reader.join(ANSWER_S)

    def _read(self) -> None:
        assert self.process.stdout is not None
        decoder = MessageDecoder()
        while chunk := os.read(self.process.stdout.fileno(), 1 << 16):
            for body in decoder.add_bytes(chunk):
                message = json.loads(body)
                self.messages.append(message)
                self._arrived.put(message)
        self._arrived.put(None)


@contextmanager
def open_editor(
    runtime_dir: Path, *words: str, cwd: Path | None = None, **initialize: Any
) -> Iterator[EditorClient]:
    """Start `debugger dap`, initialised; at the end its messages are checked, and it must end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "debugger", *words, "dap"],
        cwd=cwd,
        env={**os.environ, "DEBUGGER_RUNTIME_DIR": str(runtime_dir)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    client = EditorClient(process)
    try:
        takes = ("supportsInvalidatedEvent", "supportsMemoryEvent", "supportsProgressReporting")
        client.ask("initialize", adapterID="debugger", **dict.fromkeys(takes, True), **initialize)
        yield client
        assert process.stdin is not None
        process.stdin.close()
        process.wait(ANSWER_S)
    finally:
        process.kill()
        process.wait()
        client.join_reader()
        for stream in (process.stdin, process.stdout):
            with suppress(BrokenPipeError):
                stream.close()  # type: ignore[union-attr]  # both are pipes
    for message in client.messages:
        check_message(message)
