"""The smallest thing that a daemon can hold, for tests of the connection alone.

Run with `--directory …` it is the daemon; with a command's words, the client that starts it.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from debugger.cli import client
from debugger.daemon import daemon_process
from debugger.daemon.command_request import CommandReply, CommandRequest, Publish
from debugger.errors import DebuggerError, ErrorCode

DAEMON = (__file__,)
PATIENCE_S = 90.0  # a guard against a client that hangs, on whatever machine


class ToyHandler:
    """A handler whose sessions are names."""

    def __init__(self, publish: Publish) -> None:
        self._publish = publish
        self._sessions: list[dict[str, Any]] = []
        self.cancelled = asyncio.Event()

    def evidence_numbers(self) -> tuple[str, ...]:
        return ()

    def describe_progress(self, _: CommandRequest) -> str:
        return "a toy works"

    def idle_s(self) -> float | None:
        return None

    def has_live_session(self) -> bool:
        return bool(self._sessions)

    def live_sessions(self) -> list[dict[str, Any]]:
        return list(self._sessions)

    async def close(self) -> None:
        self._sessions.clear()
        self._publish(self._sessions)

    async def handle(self, request: CommandRequest) -> CommandReply:
        verb, *rest = request.argv or (request.command, *request.args.values())
        return await getattr(self, f"_{verb}")(request, rest)

    async def _echo(self, _: CommandRequest, words: list[str]) -> CommandReply:
        return CommandReply(result={"words": words}, text=" ".join(words))

    async def _cwd(self, request: CommandRequest, _: list[str]) -> CommandReply:
        return CommandReply(text=request.cwd)

    async def _env(self, request: CommandRequest, words: list[str]) -> CommandReply:
        return CommandReply(text=request.env.get(words[0], "(unset)"))

    async def _pid(self, *_: object) -> CommandReply:
        return CommandReply(text=str(os.getpid()))

    async def _open(self, _: CommandRequest, words: list[str]) -> CommandReply:
        self._sessions.append({"name": words[0], "program": f"./{words[0]}", "pid": 123})
        self._publish(self._sessions)
        return CommandReply(text=f"opened {words[0]}")

    async def _wait(self, request: CommandRequest, _: list[str]) -> CommandReply:
        await request.stream("waiting\n")
        await request.interrupted.wait()
        return CommandReply(text="still running", exit=3)

    async def _hang(self, request: CommandRequest, _: list[str]) -> CommandReply:
        await request.stream("waiting\n")
        try:
            await request.interrupted.wait()
            await request.stream("cancel seen\n")
            await asyncio.Event().wait()
        finally:
            self.cancelled.set()
        return CommandReply()

    async def _die(self, request: CommandRequest, _: list[str]) -> CommandReply:
        await request.stream("dying\n")
        os.kill(os.getpid(), signal.SIGKILL)
        return CommandReply()

    async def _fat(self, _: CommandRequest, words: list[str]) -> CommandReply:
        return CommandReply(text="x" * int(words[0]))

    async def _fail(self, *_: object) -> CommandReply:
        raise DebuggerError(ErrorCode.NOT_FOUND, "no such thing", hint="debugger status")

    async def _crash(self, *_: object) -> CommandReply:
        return CommandReply(result={"value": 1 // 0})

    async def _unsayable(self, *_: object) -> CommandReply:
        return CommandReply(result={"value": object()})

    async def _store(self, *_: object) -> CommandReply:
        with sqlite3.connect(":memory:") as known:
            known.execute("PRAGMA max_page_count=1")
            known.execute("CREATE TABLE full (one)")
        return CommandReply()

    async def _quit(self, *_: object) -> CommandReply:
        return CommandReply(text="bye", stop_daemon=True)


def run_client(
    *words: str, check: int | None = 0, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run one command as a client, bounded."""
    ran = subprocess.run(
        [sys.executable, __file__, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        **options,
    )
    assert check is None or ran.returncode == check, ran
    return ran


def start_client(*words: str, **options: Any) -> subprocess.Popen[bytes]:
    """Start a command as a client."""
    return subprocess.Popen(
        [sys.executable, __file__, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        **options,
    )


def read_line(running: subprocess.Popen[bytes]) -> str:
    """Read what a command prints next, bounded; its lines must come one at a time."""
    assert running.stdout is not None
    readable, _, _ = select.select([running.stdout], [], [], PATIENCE_S)
    assert readable, "nothing was printed"
    return running.stdout.readline().decode()


def wait_client(running: subprocess.Popen[bytes]) -> tuple[int, str, str]:
    """Wait for a command's end, bounded."""
    out, err = running.communicate(timeout=PATIENCE_S)
    return running.returncode, out.decode(), err.decode()


def list_files(directory: Path) -> set[str]:
    """Name what lies in a runtime directory, except the log and the lock."""
    return {path.name for path in directory.iterdir()} - {"daemon.log", "daemon.lock"}


def main(argv: Sequence[str]) -> int:
    """Be the daemon or a client."""
    # A shell that starts pytest in the background has it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if argv[:1] == ["--directory"]:
        return daemon_process.run_daemon(
            ToyHandler, idle_s=float(os.environ.get("TOY_IDLE_S", "60"))
        )
    return client.run_command(argv, daemon=DAEMON)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
