"""Measures what the debugger adds to what it stands on, as ratios of one run, with their aims.

    python bench/run.py [--json]

Each pair is measured in turns, so that what else the machine does falls on both.

- `status_ratio`: `debugger daemon status` over a Python that does nothing.
- `help_ratio`: `debugger probe --help` over a Python that imports click.
- `ADAPTER.start_ratio`: from `start` to the report of the first stop, over a client that speaks
  to the adapter itself and asks for the same stop's stack and locals.
- `ADAPTER.next_added_ms`: a `next` with its report, less the same client's.
- `flood_ratio`: what a million lines of output take, over `script`, which reads the same terminal;
  less, on both sides, what the program takes with one line. `flood_whole_ratio` is with the start.
"""

from __future__ import annotations

import json
import os
import select
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from bare import Bare

LINES = 1_000_000
C_PROGRAM = """#include <stdio.h>
static int work(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += i;
        sum ^= 1;
    }
    return sum;
}
int main(void) { return work(100000) & 1; }
"""
PY_PROGRAM = """def work(n):
    total = 0
    for i in range(n):
        total += i
        total ^= 1
    return total
work(100000)
"""
FLOOD = """#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words) {
    for (long i = 0, lines = atol(words[1]); i < lines; i++) printf("line %ld\\n", i);
    return 0;
}
"""
BREAK = {"lldb-dap": 5, "debugpy": 4}
AIMS = {
    "status_ratio": 1.5,
    "help_ratio": 2.0,
    "start_ratio": 1.15,
    "next_added_ms": 2.0,
    "flood_ratio": 1.1,
}
FLOODS = 3
ANSWER_S = 120.0  # seconds until a command must have ended


def once(action: Callable[[], object]) -> float:
    """Return how many milliseconds an action takes."""
    begun = time.perf_counter()
    action()
    return (time.perf_counter() - begun) * 1000


def turns(count: int, *actions: Callable[[], object]) -> list[float]:
    """Return the median of each action, measured in turns."""
    taken = [[once(action) for action in actions] for _ in range(count)]
    return [statistics.median(column) for column in zip(*taken, strict=True)]


class Daemon:
    """The debugger under test: its command line, and one connection to its daemon.

    As a context it ends the daemon with all sessions, and waits until its process has gone: only
    then its folder can be removed.
    """

    def __init__(self, folder: Path, *, config: str = "none.toml") -> None:
        self.folder = folder
        self.env = os.environ | {
            "DEBUGGER_RUNTIME_DIR": str(folder / "run"),
            "DEBUGGER_CONFIG": str(folder / config),
        }
        self.env.pop("PYTHONDONTWRITEBYTECODE", None)
        self.run("config")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(ANSWER_S)
        self.socket.connect(str(folder / "run" / "daemon.sock"))
        self.answers = self.socket.makefile("rb")
        self.number = 0

    def __enter__(self) -> Self:
        """Return this daemon."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the daemon; one that stays is said, and no error of its own hides another."""
        try:
            process = os.pidfd_open(self.pid())
            self.run("stop", "--all")
            self.socket.close()
            if not select.select([process], [], [], ANSWER_S)[0]:
                print(f"the daemon in {self.folder} does not end", file=sys.stderr)
            os.close(process)
        except (OSError, ValueError) as error:
            print(f"the daemon in {self.folder}: {error!r}", file=sys.stderr)

    def run(self, *words: str) -> str:
        """Run a command as a user does.

        Raises:
            TimeoutError: It does not end.
        """
        argv = [sys.executable, "-m", "debugger", *words]
        try:
            done = subprocess.run(
                argv,
                env=self.env,
                cwd=self.folder,
                capture_output=True,
                text=True,
                check=False,
                timeout=ANSWER_S,
            )
        except subprocess.TimeoutExpired as error:
            raise TimeoutError(f"debugger {' '.join(words)}: no end in {ANSWER_S:g} s") from error
        return done.stdout

    def pid(self) -> int:
        """Return the daemon's process."""
        pid: int = json.loads(self.run("--json", "daemon", "status"))["data"]["pid"]
        return pid

    def ask(self, *words: str) -> dict[str, Any]:
        """Run a command over the open connection, without a client's start."""
        self.number += 1
        request = {
            "v": 1,
            "id": self.number,
            "argv": list(words),
            "cwd": str(self.folder),
            "env": dict(self.env),
            "result": False,
        }
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        answer: dict[str, Any] = json.loads(self.answers.readline())
        assert answer["success"], answer
        return answer

    def cpu_ms(self, pid: int) -> float:
        """Return the processor time that the daemon has used; proc_pid_schedstat(5)."""
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e6

    def memory_mb(self) -> float:
        """Return the daemon's resident memory."""
        for line in Path(f"/proc/{self.pid()}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
        return 0.0


def launch(adapter: str, program: str) -> dict[str, Any]:
    """Return a bare launch with the settings that make an adapter fast."""
    if adapter == "debugpy":
        return {
            "program": program,
            "console": "integratedTerminal",
            "python": [sys.executable],
            "justMyCode": False,
            "cwd": str(Path(program).parent),
            "args": [],
        }
    from debugger.backends.base import LaunchTarget
    from debugger.backends.lldb import lldb_common

    return {
        "program": program,
        "args": [],
        "cwd": str(Path(program).parent),
        "initCommands": lldb_common.build_init_commands(
            LaunchTarget(program, cwd="/", env={})
        ),  # the same settings on both sides
        "enableAutoVariableSummaries": True,
    }


def measure_adapter(daemon: Daemon, adapter: str, program: str, source: str) -> dict[str, float]:
    """Measure one adapter bare, and through the daemon."""
    line, place = BREAK[adapter], f"{source}:{BREAK[adapter]}"

    def start_bare() -> None:
        bare = Bare(adapter)
        bare.look(bare.start(launch(adapter, program), source, line))
        bare.close()

    # The same Python on both sides: the one on the PATH may be slower to start, or a script.
    python = ("--python", sys.executable) if adapter == "debugpy" else ()

    def start_ours() -> None:
        daemon.ask("start", program, "--break", place, *python)

    start = turns(7, start_bare, start_ours, lambda: daemon.ask("stop"))
    bare = Bare(adapter)
    thread = bare.start(launch(adapter, program), source, line)
    first = daemon.ask("start", program, "--break", place, *python)["text"]
    bare.ask("setBreakpoints", source={"path": source}, breakpoints=[])
    daemon.ask("breakpoint", "remove", "--all")

    def next_bare() -> None:
        bare.ask("next", threadId=thread)
        bare.event("stopped")
        bare.look(thread)

    step = turns(200, next_bare, lambda: daemon.ask("next"))
    again = daemon.ask("next")["text"]
    (evaluate,) = turns(200, lambda: daemon.ask("print", "n"))
    bare.close()
    daemon.ask("stop")
    return {
        "start_ratio": start[1] / start[0],
        "stop_ms": start[2],
        "next_ratio": step[1] / step[0],
        "next_added_ms": step[1] - step[0],
        "print_ms": evaluate,
        "first_stop_chars": len(first),
        "repeated_stop_chars": len(again),
    }


def measure_flood(daemon: Daemon, program: str) -> dict[str, float]:
    """Measure a flood of output, and the same program with one line of it."""

    def ours(lines: int) -> Callable[[], object]:
        return lambda: daemon.ask("start", program, "--", str(lines))

    def drained(lines: int) -> Callable[[], object]:
        words = ["/usr/bin/script", "-qec", f"{program} {lines}", "/dev/null"]
        return lambda: subprocess.run(words, stdout=subprocess.DEVNULL, check=True)

    ours_ms, bare_ms = turns(FLOODS, ours(LINES), drained(LINES))
    our_least, bare_least = turns(FLOODS, ours(1), drained(1))
    return {
        "flood_ratio": (ours_ms - our_least) / (bare_ms - bare_least),
        "flood_whole_ratio": ours_ms / bare_ms,
    }


def print_figures(figures: Mapping[str, float], aims: Mapping[str, float]) -> None:
    """Print figures with their aims; with `--json`, as one object."""
    if "--json" in sys.argv:
        print(json.dumps(figures))
        return
    for key, value in figures.items():
        aim = aims.get(key.rpartition(".")[2])
        print(f"{key:32} {value:10.2f}" + (f"   (at most {aim})" if aim else ""))


def main() -> None:
    """Measure, and print a table or one JSON object."""
    with tempfile.TemporaryDirectory(prefix="bench-", dir="/tmp") as name:
        folder = Path(name)
        for stem, text in (("work", C_PROGRAM), ("flood", FLOOD)):
            (folder / f"{stem}.c").write_text(text)
            subprocess.run(
                ["/usr/bin/gcc", "-g", "-O0", "-o", folder / stem, folder / f"{stem}.c"], check=True
            )
        (folder / "work.py").write_text(PY_PROGRAM)
        daemon = Daemon(folder)
        figures: dict[str, Any] = {"idle_mb": daemon.memory_mb()}

        def status() -> None:
            daemon.run("daemon", "status")

        def nothing() -> None:
            subprocess.run([sys.executable, "-c", "pass"], env=daemon.env, check=True)

        def show_help() -> None:
            daemon.run("probe", "--help")

        def import_click() -> None:
            subprocess.run([sys.executable, "-c", "import click"], env=daemon.env, check=True)

        status()
        show_help()
        bare_ms, status_ms, click_ms, help_ms = turns(40, nothing, status, import_click, show_help)
        figures["status_ratio"] = status_ms / bare_ms
        figures["help_ratio"] = help_ms / click_ms
        for adapter, program, source in (
            ("lldb-dap", "work", "work.c"),
            ("debugpy", "work.py", "work.py"),
        ):
            found = measure_adapter(daemon, adapter, str(folder / program), str(folder / source))
            figures |= {f"{adapter}.{key}": value for key, value in found.items()}

        figures |= measure_flood(daemon, str(folder / "flood"))
        figures["after_flood_mb"] = daemon.memory_mb()
        daemon.run("stop", "--all")
    print_figures(figures, AIMS)


if __name__ == "__main__":
    main()
