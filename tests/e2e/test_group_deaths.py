"""Nothing of a group is left, whatever dies first, at whatever stage of its life."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from cli_commands import Cli, marked_location, resolve_program
from process_trees import is_alive, list_sessions

PROGRAM = "groups/ranks.py"
MEET = marked_location(PROGRAM, "meet")
RANKS = 2
WORDS = (resolve_program(PROGRAM), "fork", str(RANKS))
VICTIMS = ["member", "launcher", "client", "supervisor", "daemon"]  # the daemon's death last
pytestmark = pytest.mark.adapter("debugpy")


def commands_of(runtime_dir: Path) -> Iterator[tuple[int, int, bytes]]:
    """Return the processes that have this runtime folder: pid, parent and command line."""
    for folder in Path("/proc").iterdir():
        try:
            if not folder.name.isdecimal() or not is_alive(int(folder.name)):
                continue
            name = f"DEBUGGER_RUNTIME_DIR={runtime_dir}".encode()
            if name not in (folder / "environ").read_bytes().split(b"\0"):
                continue
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            yield int(folder.name), parent, (folder / "cmdline").read_bytes()
        except OSError:  # it has ended meanwhile
            continue


class Job:
    """The processes of a job and of its debugger, found by the runtime folder that they have."""

    def __init__(self, cli: Cli, runtime_dir: Path, wait_until: Callable[..., None]) -> None:
        self.cli = cli
        self._runtime_dir = runtime_dir
        self._wait_until = wait_until
        self._client: subprocess.Popen[bytes] | None = None
        self._ranks: list[int] = []

    def begin(self, *words: str) -> None:
        """Run a command beside the test, as one that is being answered."""
        self._client = subprocess.Popen(
            [sys.executable, "-m", "debugger", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def programs(self) -> list[int]:
        """Return the job's processes, the launcher first: a rank is a fork of it."""
        own = [
            (pid, parent)
            for pid, parent, line in commands_of(self._runtime_dir)
            if line.split(b"\0")[-4:-1] == [one.encode() for one in WORDS]
            and b"debugger" not in line.split(b"\0")[:3]
        ]
        pids = {pid for pid, _ in own}
        return [pid for pid, parent in sorted(own) if parent not in pids] + [
            pid for pid, parent in sorted(own) if parent in pids
        ]

    def await_ranks(self) -> None:
        """Wait until the launcher and all of its ranks are there."""
        self._wait_until(lambda: len(self.programs()) > RANKS, 60, what="the ranks")
        self._ranks = self.programs()

    def kill(self, victim: str) -> None:
        """Kill one of those that a group depends on."""
        launcher, *ranks = self._ranks
        if victim == "client":
            assert self._client is not None
            self._client.kill()
            return
        parents = {pid: parent for pid, parent, _ in commands_of(self._runtime_dir)}
        pids = {"member": ranks[0], "launcher": launcher, "supervisor": parents.get(launcher, 0)}
        state = json.loads((self._runtime_dir / "daemon.json").read_bytes())
        with suppress(ProcessLookupError):  # the end of the group was faster
            os.kill(pids.get(victim, state["pid"]), signal.SIGKILL)

    def await_end(self, victim: str, *, is_question: bool) -> None:
        """End what is left to end, and wait until no process has this runtime folder."""
        if victim != "daemon" and not is_question:
            self.cli("stop", "--group", "ranks", check=None)
        if self._client is not None:
            self._client.wait(60)
            self._client = None
        self._wait_until(lambda: self._left() == [], 30, what=f"the end after {victim}")
        if victim != "daemon":
            self._wait_until(lambda: list_sessions(self.cli) == {}, 30, what="the sessions' end")

    def _left(self) -> list[bytes]:
        """Return the processes that have the folder, other than the daemon, if it lives."""
        try:
            daemon = json.loads((self._runtime_dir / "daemon.json").read_bytes())["pid"]
        except FileNotFoundError:
            daemon = 0
        return [line for pid, _, line in commands_of(self._runtime_dir) if pid != daemon]


@pytest.mark.parametrize("stage", ["starting", "running", "stopped", "question", "ending"])
def test_nothing_is_left_whatever_dies_first(
    cli: Cli, runtime_dir: Path, wait_until: Callable[..., None], stage: str
) -> None:
    job = Job(cli, runtime_dir, wait_until)
    cli("config", check=0)
    for victim in VICTIMS:
        start = ("start", "--group", WORDS[0])
        if stage == "starting":
            job.begin(*start, "--timeout", "60", "--", *WORDS[1:])
        elif stage == "question":
            job.begin("hang", "--group", "--after", "60", "--", *WORDS)
        elif stage == "stopped":
            cli(*start, "--break", MEET, "--", *WORDS[1:], check=0)
        else:
            cli(*start, "--no-wait", "--", *WORDS[1:], check=0)
        job.await_ranks()
        if stage == "ending":
            job.begin("stop")
        elif stage in {"running", "stopped"}:
            job.begin("await", "--timeout", "60")
        job.kill(victim)
        job.await_end(victim, is_question=stage == "question")
