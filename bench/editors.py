"""How much does an editor wait for the door, beside the debug adapter itself?

    python bench/editors.py [STEPS]

One program is stepped through twice in each round, by `debugger dap` and by debugpy's own adapter,
with what an editor asks after each stop: `next`, then stackTrace, scopes and variables. Printed are
the medians of both in milliseconds, their ratio, and what the door adds.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import bare

STEPS = 200
ROUNDS = 3
PROGRAM = """\
def work(n):
    total = 0
    for i in range(n):
        total += i
        square = i * i
    return total


work(10_000_000)
"""
LINE = 4


class Editor:
    """The least editor: it sends a request and reads messages until what it waits for."""

    def __init__(self, words: list[str], env: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._seq = 0
        self._waiting: list[dict[str, Any]] = []

    def send(self, command: str, **arguments: Any) -> int:
        """Send a request."""
        self._seq += 1
        message = {"seq": self._seq, "type": "request", "command": command, "arguments": arguments}
        body = json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()
        return self._seq

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Send a request, and return the body of its response."""
        seq = self.send(command, **arguments)
        answer = self.find(lambda one: one.get("request_seq") == seq)
        assert answer["success"], answer
        body: dict[str, Any] = answer.get("body") or {}
        return body

    def event(self, name: str) -> dict[str, Any]:
        """Wait for an event."""
        body: dict[str, Any] = self.find(lambda one: one.get("event") == name).get("body") or {}
        return body

    def find(self, matches: Any) -> dict[str, Any]:
        """Wait for a message; others are kept for later."""
        for at, message in enumerate(self._waiting):
            if matches(message):
                return self._waiting.pop(at)
        while True:
            message = self._read()
            if matches(message):
                return message
            if message["type"] != "event" or message["event"] in {"initialized", "stopped"}:
                self._waiting.append(message)

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while (line := self.process.stdout.readline().strip()) or not length:
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message


def measure_steps(editor: Editor, program: Path, steps: int) -> float:
    """Return the median seconds of a step with all that is asked after it."""
    editor.ask("initialize", adapterID="bench", linesStartAt1=True, pathFormat="path")
    launched = editor.send("launch", program=str(program), console="internalConsole")
    editor.event("initialized")
    editor.ask("setBreakpoints", source={"path": str(program)}, breakpoints=[{"line": LINE}])
    editor.ask("configurationDone")
    editor.find(lambda one: one.get("request_seq") == launched)
    thread = editor.event("stopped")["threadId"]
    editor.ask("setBreakpoints", source={"path": str(program)}, breakpoints=[])
    taken = []
    for _ in range(steps):
        began = time.perf_counter()
        editor.ask("next", threadId=thread)
        editor.event("stopped")
        frame = editor.ask("stackTrace", threadId=thread, levels=20)["stackFrames"][0]["id"]
        scope = editor.ask("scopes", frameId=frame)["scopes"][0]["variablesReference"]
        editor.ask("variables", variablesReference=scope)
        taken.append(time.perf_counter() - began)
    editor.ask("disconnect", terminateDebuggee=True)
    assert editor.process.stdin is not None
    editor.process.stdin.close()
    editor.process.wait(20)
    return statistics.median(taken)


def main() -> None:
    """Measure both in turns, and print the best of each."""
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else STEPS
    with tempfile.TemporaryDirectory(prefix="dbg-") as folder:
        program = Path(folder) / "steps.py"
        program.write_text(PROGRAM)
        env = {**os.environ, "DEBUGGER_RUNTIME_DIR": str(Path(folder) / "run")}
        ways = {
            "door": [sys.executable, "-m", "debugger", "dap"],
            "adapter": bare.command("debugpy"),
        }
        best = dict.fromkeys(ways, float("inf"))
        for _ in range(ROUNDS):
            for name, words in ways.items():
                best[name] = min(best[name], measure_steps(Editor(words, env), program, steps))
        stop = [sys.executable, "-m", "debugger", "daemon", "stop"]
        subprocess.run(stop, env=env, capture_output=True, timeout=60, check=False)
    door, adapter = best["door"] * 1000, best["adapter"] * 1000
    print(f"adapter {adapter:.2f} ms, door {door:.2f} ms")
    print(f"editor_ratio {door / adapter:.2f}, editor_added {door - adapter:.2f} ms")


if __name__ == "__main__":
    main()
