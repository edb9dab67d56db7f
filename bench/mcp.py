"""What does the MCP server add to what it stands on, and what does its listing cost a model?

    python bench/mcp.py [--json]

Three answers: its start, to the first listing, against an interpreter that does no more than import
the SDK; the tokens (4 characters each) of the listing and the instructions, for each toolset; and
the time that a tool's call takes beyond the same command on the daemon's socket. What is compared
is measured in turns.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from run import PY_PROGRAM, Daemon, once, turns

TOOLSETS = ("core", "xcodebuildmcp", "all")
STARTS = 9
CALLS = 400
CHARACTERS = 4  # of a token
BARE = "import mcp.server.lowlevel.server, mcp.server.stdio"


class Server:
    """A server's process, spoken to over its standard streams."""

    def __init__(self, daemon: Daemon, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "debugger", "mcp", *words],
            env=daemon.env,
            cwd=daemon.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.number = 0
        self.told = self.ask(
            "initialize",
            protocolVersion="2025-11-25",
            capabilities={},
            clientInfo={"name": "bench", "version": "1"},
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: dict[str, Any]) -> None:
        """Write one message."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request, and return its result."""
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        assert answer["id"] == self.number, answer
        found: dict[str, Any] = answer["result"]
        return found

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool."""
        told = self.ask("tools/call", name=name, arguments=arguments)
        assert not told.get("isError"), told
        return told

    def close(self) -> None:
        """Let it end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(10)
        assert self.process.stdout is not None
        self.process.stdout.close()


def tokens(value: Any) -> float:
    """Return how many tokens a value takes in a conversation."""
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    return len(text) / CHARACTERS


def quantiles(taken: list[float]) -> tuple[float, float]:
    """Return the median and the 95th percentile."""
    return statistics.median(taken), statistics.quantiles(taken, n=20)[-1]


def measure_start(daemon: Daemon) -> dict[str, float]:
    """Measure the way to the first listing, and to the end of the process after it."""

    def bare() -> None:
        subprocess.run([sys.executable, "-c", BARE], env=daemon.env, check=True)

    def ours() -> None:
        server = Server(daemon)
        server.ask("tools/list")
        server.close()

    bare()
    ours()
    bare_ms, ours_ms = turns(STARTS, bare, ours)
    return {"sdk_import_ms": bare_ms, "listing_ms": ours_ms, "listing_ratio": ours_ms / bare_ms}


def measure_listings(daemon: Daemon) -> dict[str, float]:
    """Measure what each toolset's listing costs a conversation."""
    figures: dict[str, float] = {}
    for name in TOOLSETS:
        server = Server(daemon, "--toolset", name)
        listed = server.ask("tools/list")["tools"]
        figures[f"{name}.tools"] = len(listed)
        figures[f"{name}.listing_tokens"] = tokens(listed)
        # What most clients show to the model.
        shown = [
            {key: one[key] for key in ("name", "description", "inputSchema")} for one in listed
        ]
        figures[f"{name}.shown_tokens"] = tokens(shown)
        figures[f"{name}.instructions_tokens"] = tokens(server.told.get("instructions", ""))
        server.close()
    return figures


def measure_calls(daemon: Daemon) -> dict[str, float]:
    """Measure what a call takes beyond the same command on the socket."""
    server = Server(daemon)
    program = str(daemon.folder / "work.py")
    server.call("debug_launch", command=program, breakpoints=[f"{program}:4"])
    pairs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "status": (lambda: daemon.ask("status"), lambda: server.call("debug_session")),
        "print": (
            lambda: daemon.ask("eval", "n"),
            lambda: server.call("debug_evaluate", expression="n"),
        ),
        "next": (
            lambda: daemon.ask("next"),
            lambda: server.call("debug_continue", action="step-over"),
        ),
    }
    figures = {}
    for name, (bare, ours) in pairs.items():
        taken = [(once(bare), once(ours)) for _ in range(CALLS)]
        bare_median, bare_late = quantiles([one for one, _ in taken])
        ours_median, ours_late = quantiles([one for _, one in taken])
        figures[f"{name}.socket_ms"] = bare_median
        figures[f"{name}.added_ms"] = ours_median - bare_median
        figures[f"{name}.added_p95_ms"] = ours_late - bare_late
    server.call("debug_session", action="stop")
    server.close()
    return figures


def main() -> None:
    """Measure, and print a table or one JSON object."""
    with tempfile.TemporaryDirectory(prefix="bench-", dir="/tmp") as name:
        folder = Path(name)
        (folder / "work.py").write_text(PY_PROGRAM)
        daemon = Daemon(folder)
        begun = time.monotonic()
        figures = measure_listings(daemon) | measure_start(daemon) | measure_calls(daemon)
        figures["whole_s"] = time.monotonic() - begun
        daemon.run("stop", "--all")
    if "--json" in sys.argv:
        print(json.dumps(figures))
        return
    for key, value in figures.items():
        print(f"{key:32} {value:10.2f}")


if __name__ == "__main__":
    os.environ.pop("DEBUGGER_SESSION", None)
    main()
