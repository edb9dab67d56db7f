"""How fast is an adapter by itself: a client that does no more than the protocol asks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

WRAPPER = "backends/adapters/debugpy/run_adapter.py"


def command(adapter: str) -> list[str]:
    """Return how an adapter is started: as the debugger itself starts it, or a file by Node."""
    if adapter.endswith(".js"):
        return ["node", adapter]
    import debugger  # the installed package: where its wrapper lies

    if adapter == "debugpy":
        return [sys.executable, "-I", str(Path(debugger.__file__).parent / WRAPPER)]
    from debugger.backends.adapters.lldb.lldb_dap_adapter import LldbDapAdapter
    from debugger.backends.dap.debug_adapter import AdapterSearch

    found = LldbDapAdapter().find_installation(AdapterSearch(os.environ))
    assert found is not None, "lldb-dap is not installed"
    return list(found.argv)


class Bare:
    """A synchronous DAP client; one message at a time."""

    def __init__(self, adapter: str) -> None:
        self.process = subprocess.Popen(
            command(adapter),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.children: list[subprocess.Popen[bytes]] = []
        self.events: list[dict[str, Any]] = []
        self.seq = 0
        self.watchdog = threading.Timer(60, self.process.kill)
        self.watchdog.start()

    def send(self, **message: Any) -> int:
        """Send a message; return its number."""
        self.seq += 1
        body = json.dumps({"seq": self.seq, **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()
        return self.seq

    def read(self) -> dict[str, Any]:
        """Read one message; run what the adapter asks to be run."""
        assert self.process.stdout is not None
        length = 0
        while (line := self.process.stdout.readline()) != b"\r\n":
            if not line:
                raise EOFError("the adapter ended")
            if line.lower().startswith(b"content-length"):
                length = int(line.split(b":")[1])
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        if message["type"] == "request" and message["command"] == "runInTerminal":
            asked = message["arguments"]
            child = subprocess.Popen(
                asked["args"],
                cwd=asked.get("cwd"),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=os.environ | {k: v for k, v in (asked.get("env") or {}).items() if v},
            )
            self.children.append(child)
            self.send(
                type="response",
                request_seq=message["seq"],
                success=True,
                command="runInTerminal",
                body={"processId": child.pid},
            )
        if message["type"] == "event":
            self.events.append(message)
        return message

    def ask(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Send a request and return its response's body."""
        seq = self.send(type="request", command=name, arguments=arguments)
        return self.response(seq)

    def response(self, seq: int) -> dict[str, Any]:
        """Read up to the response to a request."""
        while True:
            message = self.read()
            if message["type"] == "response" and message["request_seq"] == seq:
                assert message["success"], message
                return message.get("body") or {}

    def event(self, name: str) -> dict[str, Any]:
        """Read up to an event, or take one that came already."""
        while True:
            for message in self.events:
                if message["event"] == name:
                    self.events.remove(message)
                    return message.get("body") or {}
            self.read()

    def start(self, launch: dict[str, Any], file: str, line: int) -> int:
        """Run a program to a breakpoint; return the thread."""
        self.ask(
            "initialize",
            adapterID="bench",
            linesStartAt1=True,
            columnsStartAt1=True,
            pathFormat="path",
            supportsRunInTerminalRequest=True,
        )
        launched = self.send(type="request", command="launch", arguments=launch)
        self.event("initialized")
        self.ask("setBreakpoints", source={"path": file}, breakpoints=[{"line": line}])
        self.ask("configurationDone")
        del launched
        thread: int = self.event("stopped")["threadId"]
        return thread

    def look(self, thread: int) -> None:
        """Ask what a stop's report asks: the stack, the scopes, the locals."""
        stack = self.ask("stackTrace", threadId=thread, startFrame=0, levels=20)
        scopes = self.ask("scopes", frameId=stack["stackFrames"][0]["id"])
        self.ask("variables", variablesReference=scopes["scopes"][0]["variablesReference"])

    def close(self) -> None:
        """End adapter and program."""
        self.watchdog.cancel()
        self.process.kill()
        self.process.wait()
        for child in self.children:
            child.kill()
            child.wait()
