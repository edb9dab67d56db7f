"""Starts jobs of several processes, kills what they depend on, and finds what is left of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from cli_commands import Cli, marked_location, resolve_program
from debugger.system import supervisor
from process_trees import is_alive, list_sessions
from ssh_hosts import SshHost, children_of, find_processes

SUPERVISOR = Path(str(supervisor.__file__))
SOURCE = "groups/waiting.py"
PROGRAM = resolve_program(SOURCE)
MEET = marked_location(SOURCE, "meet")
STAGES = ["starting", "running", "stopped", "ending", "hang", "crash", "probe", "path"]
QUESTIONS = {
    "hang": ("--after", "60"),
    "crash": (),
    "probe": ("--at", MEET, "number"),
    "path": (),
}
# What a daemon has between commands: its own files, and the folder of the temporary ones.
_OWN_FILES = {"config.toml", "daemon.json", "daemon.lock", "daemon.log", "daemon.sock"}
# The folder of temporary files, and the cache of rewritten code.
_OWN_FILES |= {"scratch", "recorded-code"}
_LEFT_S = 60.0  # what is left for good is left then, too, and a busy machine is slow
_POOL = min(32, (os.cpu_count() or 1) + 4)  # threads that asyncio keeps for calls that block


def commands_of(pids: Iterable[int]) -> Iterator[tuple[int, int, bytes]]:
    """Return the pid, the parent and the command line of processes that have not ended."""
    for pid in filter(is_alive, pids):
        with suppress(psutil.NoSuchProcess, OSError):
            yield pid, psutil.Process(pid).ppid(), Path(f"/proc/{pid}/cmdline").read_bytes()


def _daemon_of(folder: Path) -> int | None:
    try:
        return int(json.loads((folder / "daemon.json").read_bytes())["pid"])
    except FileNotFoundError:
        return None


class Job:
    """The processes of a job and of its debugger, found by the runtime folder that they have."""

    def __init__(
        self,
        cli: Cli,
        runtime_dir: Path,
        wait_until: Callable[..., None],
        hosts: Sequence[SshHost] = (),
    ) -> None:
        self.cli = cli
        self._here = runtime_dir
        self._hosts = hosts
        self._wait_until = wait_until
        self._client: subprocess.Popen[bytes] | None = None
        self._launcher = self._worker = 0
        self._daemon: tuple[int, int, int] | None = None

    def begin(self, stage: str) -> None:
        """Bring the job to a stage of its life, with a command that is being answered then."""
        at = ("--host", ",".join(one.name for one in self._hosts)) if self._hosts else ()
        start = ("start", "--group", *at, PROGRAM)
        if stage == "starting":
            self._run_beside(*start, "--timeout", "60")
        elif stage in QUESTIONS:
            self._run_beside(
                stage, "--group", *at, *QUESTIONS[stage], "--", sys.executable, PROGRAM
            )
        elif stage == "stopped":
            self.cli(*start, "--break", MEET, check=0)
        else:
            self.cli(*start, "--no-wait", check=0)
        found: list[Any] = []

        def has_begun() -> bool:
            # Read once: a process that starts a program has no command line for a moment.
            found[:] = self._programs()
            return len(found) == max(1, len(self._hosts))

        self._wait_until(has_begun)
        self._launcher, self._worker = found[0]
        if stage == "ending":
            self._run_beside("stop")
        elif stage in {"running", "stopped"}:
            self._run_beside("await", "--timeout", "60")

    def _run_beside(self, *words: str) -> None:
        self._client = subprocess.Popen(
            [sys.executable, "-m", "debugger", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    @property
    def _there(self) -> list[Path]:
        """The runtime folders of the debugger's daemons on the machines on which the job runs."""
        above = [one.runtime_dir for one in self._hosts] or [self._here]
        return [folder for one in above for folder in one.glob("clients/*")]

    def _host_daemons(self) -> list[int]:
        folders = self._there
        return [pid for one in folders if (pid := _daemon_of(one)) is not None and is_alive(pid)]

    def _commands(self) -> list[tuple[int, int, bytes]]:
        """List the processes of the job and of its debuggers."""
        here = find_processes("DEBUGGER_RUNTIME_DIR", str(self._here))
        there = [pid for one in self._hosts for pid in one.processes()]
        return list(commands_of([*here, *there]))

    def _programs(self) -> list[tuple[int, int]]:
        """Return each launcher and its worker: a fork, which has the same command line."""
        commands = self._commands()
        known = {pid: line for pid, _, line in commands}
        return [
            (parent, pid)
            for pid, parent, line in commands
            if line.split(b"\0")[-2:-1] == [PROGRAM.encode()] and known.get(parent) == line
        ]

    def kill(self, victim: str) -> None:
        """Kill one of those that a group depends on."""
        if victim == "client":
            assert self._client is not None
            self._client.kill()
            return
        daemon = _daemon_of(self._here)
        assert daemon is not None
        pids = {
            "member": [self._worker],
            "launcher": [self._launcher],
            "supervisor": [self._find_supervisor()],
            "daemon": [daemon],
        }
        if self._hosts:  # of the last one: the others go on
            pids["ssh"] = children_of(daemon, "ssh")[-1:]
            pids["host daemon"] = self._host_daemons()[-1:]
        assert pids[victim], f"no {victim}"
        for pid in pids[victim]:
            with suppress(ProcessLookupError):  # the end of the group was faster
                os.kill(pid, signal.SIGKILL)

    def _find_supervisor(self) -> int:
        """Return the supervisor above the launcher; debugpy has one of its own between them."""
        above = psutil.Process(self._launcher).parents()
        return next(one.pid for one in above if str(SUPERVISOR) in one.cmdline())

    def end(self, victim: str, stage: str) -> None:
        """End what is left to end, and wait until nothing of the job is left."""
        if self._client is not None and stage in QUESTIONS:
            self._client.send_signal(signal.SIGINT)  # it goes on with those that live
        elif victim != "daemon":
            is_one = len(self._hosts) == 1
            name = f"waiting@{self._hosts[0].name}" if is_one else "waiting"
            self.cli("stop", "--group", name, check=None)
        if self._client is not None:
            self._client.wait(60)
            self._client = None
        after = f"after {victim} died, {stage}"
        self._await(self._processes, [], f"the end of all processes {after}")
        self._await(self._files, [], f"the end of the files {after}")
        if victim == "daemon":
            self._daemon = None
            return
        self._await(lambda: list_sessions(self.cli), {}, f"the end of the sessions {after}")
        self._await(self._excess, {}, f"the end of threads and descriptors {after}")

    def _await(self, read: Callable[[], object], value: object, what: str) -> None:
        found: list[object] = []

        def is_there() -> bool:
            found.append(read())
            return found[-1] == value

        try:
            self._wait_until(is_there, _LEFT_S, what=what)
        except BaseException as error:
            error.add_note(f"left: {found[-1]}")
            raise

    def _processes(self) -> list[bytes]:
        """Return the processes of the job and its debugger, but for daemons and connections."""
        daemons = {_daemon_of(self._here), *self._host_daemons()}
        return [
            line
            for pid, _, line in self._commands()
            if pid not in daemons and not _is_connection(line)
        ]

    def _files(self) -> list[str]:
        """Return what lies in the runtime folders and was made for a group."""
        left = []
        for folder in (self._here, *self._there):
            pid = _daemon_of(folder)
            # A daemon that was killed leaves its files to its successor.
            if pid is not None and is_alive(pid):
                left += [one for one in folder.iterdir() if one.name not in _OWN_FILES]
                left += (folder / "scratch").glob("*")
        return sorted(map(str, left))

    def _excess(self) -> dict[str, int]:
        """Return what the daemon has more of than after the first job that it ran."""
        pid = _daemon_of(self._here)
        if pid is None:
            return {}
        daemon = psutil.Process(pid)
        found = (pid, daemon.num_fds(), daemon.num_threads())
        if self._daemon is None or self._daemon[0] != pid:
            self._daemon = found
        _, descriptors, threads = self._daemon
        counts = {"descriptors": found[1] - descriptors, "threads": found[2] - threads - _POOL}
        return {name: count for name, count in counts.items() if count > 0}


def _is_connection(line: bytes) -> bool:
    """Return whether a process carries the connection to a host, which stays open for a while."""
    return line.split(b"\0")[0] == b"ssh" or b"\0connect\0--stdio\0" in line
