"""Plays a debug adapter whose program starts many ranks, each with a connection of its own.

    python bench/fake_ranks.py PORT

It speaks the Debug Adapter Protocol on a port of this machine, to any client of it. The program's
session launches `PROGRAM COUNT`: so many processes that sleep, each with its RANK, and for each a
request for a session of its own (`startDebugging`). Who attaches to a rank gets one thread that
runs until it is paused, two frames, and the values of `rank` and `step`. One rank is one line
behind the others. All of it is one process, so that a thousand ranks cost the machine little.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

HOST: Final = "127.0.0.1"
SOURCE: Final = """import ranks


def take_step(rank, step):
    if step == 119:
        ranks.save()
    return ranks.reduce(step)


def work(rank):
    for step in range(1000):
        take_step(rank, step)
"""
_LAGGARD_LINE, _MEETING_LINE, _WORK_LINE = 6, 7, 12
_SLEEP: Final = ("sleep", "3600")
_MAIN: Final = -1
Json = dict[str, Any]


def laggard_of(count: int) -> int:
    """Return the rank that is behind the others."""
    return count // 2


@dataclass
class Job:
    """The program, and the processes of its ranks."""

    program: str = ""
    count: int = 0
    processes: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start_rank(self, rank: int) -> int:
        """Start the process of a rank; return its pid."""
        environment = {**os.environ, "RANK": str(rank)}
        self.processes[rank] = subprocess.Popen(_SLEEP, env=environment)
        return self.processes[rank].pid

    def end_rank(self, rank: int) -> None:
        """End the process of a rank; with the program all of them."""
        for number in list(self.processes) if rank == _MAIN else [rank]:
            process = self.processes.pop(number, None)
            if process is not None:
                process.kill()
                process.wait()


class Conversation:
    """One client's connection, for the program or for a rank."""

    def __init__(
        self, job: Job, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._job = job
        self._reader, self._writer = reader, writer
        self._rank = _MAIN
        self._last_seq = 0
        self._answers: Mapping[str, Callable[[Json], Json]] = {
            "initialize": lambda _: {"supportsConfigurationDoneRequest": True},
            "launch": self._launch,
            "attach": self._attach,
            "threads": lambda _: {"threads": [{"id": 1, "name": "main"}]},
            "stackTrace": lambda _: {"stackFrames": self._stack(), "totalFrames": 2},
            "scopes": lambda _: {"scopes": [{"name": "Locals", "variablesReference": 1}]},
            "variables": lambda _: {"variables": self._variables()},
            "evaluate": self._evaluate,
        }
        self._events: Mapping[str, Callable[[], None]] = {
            "launch": partial(self._send_event, "initialized"),
            "attach": partial(self._send_event, "initialized"),
            "configurationDone": self._begin,
            "pause": partial(self._send_event, "stopped", reason="pause", threadId=1),
            "disconnect": self._end,
            "terminate": self._end,
        }

    async def serve(self) -> None:
        """Answer requests until the client closes the connection."""
        while (message := await self._read_message()) is not None:
            if message["type"] != "request":
                continue
            command = message["command"]
            answer = self._answers.get(command)
            body: Json = {}
            error = ""
            try:
                body = answer(message.get("arguments") or {}) if answer is not None else {}
            except LookupError as found:
                error = str(found)
            self._send(
                type="response",
                request_seq=message["seq"],
                command=command,
                success=not error,
                message=error,
                body=body,
            )
            if (event := self._events.get(command)) is not None:
                event()
            await self._writer.drain()
        self._writer.close()

    async def _read_message(self) -> Json | None:
        try:
            header = await self._reader.readuntil(b"\r\n\r\n")
            size = int(header.partition(b":")[2])
            found: Json = json.loads(await self._reader.readexactly(size))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        return found

    def _send(self, **message: Any) -> None:
        self._last_seq += 1
        body = json.dumps({"seq": self._last_seq, **message}).encode()
        self._writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def _send_event(self, event: str, **body: Any) -> None:
        self._send(type="event", event=event, body=body)

    def _launch(self, arguments: Json) -> Json:
        self._job.program, self._job.count = arguments["program"], int(arguments["args"][0])
        return {}

    def _attach(self, arguments: Json) -> Json:
        self._rank = int(arguments["rank"])
        return {}

    def _begin(self) -> None:
        if self._rank != _MAIN:
            return
        self._send_event("process", name="ranks", systemProcessId=os.getpid())
        for rank in range(self._job.count):
            configuration = {"rank": rank, "subProcessId": self._job.start_rank(rank)}
            self._send(
                type="request",
                command="startDebugging",
                arguments={"request": "attach", "configuration": configuration},
            )

    def _end(self) -> None:
        self._job.end_rank(self._rank)
        self._send_event("terminated")

    def _stack(self) -> list[Json]:
        is_behind = self._rank == laggard_of(self._job.count)
        line = _LAGGARD_LINE if is_behind else _MEETING_LINE
        places = (("take_step", line), ("work", _WORK_LINE))
        source = {"path": self._job.program}
        return [
            {"id": at, "name": name, "line": number, "column": 1, "source": source}
            for at, (name, number) in enumerate(places, 1)
        ]

    def _values(self) -> Mapping[str, str]:
        is_behind = self._rank == laggard_of(self._job.count)
        return {"rank": str(self._rank), "step": str(119 if is_behind else 120)}

    def _variables(self) -> list[Json]:
        values = self._values().items()
        return [{"name": name, "value": value, "variablesReference": 0} for name, value in values]

    def _evaluate(self, arguments: Json) -> Json:
        return {"result": self._values()[arguments["expression"]], "variablesReference": 0}


async def serve(port: int) -> None:
    """Serve clients until the process is ended."""
    job = Job()

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await Conversation(job, reader, writer).serve()

    async with await asyncio.start_server(converse, HOST, port, backlog=1024) as server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
