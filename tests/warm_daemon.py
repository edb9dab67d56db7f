"""Starts test daemons from a process that has imported Python's modules already.

A daemon's start is mostly imports, and more than a thousand tests start one. A process that holds
them all waits here, one for each worker, and is forked; from there on all is as it always is. What
a client does to start one has tests of its own, and the wheel's tests start theirs so.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from debugger import config, paths
from debugger.backends import select_backend
from debugger.backends.dap.debug_adapter import AdapterSearch
from debugger.backends.inprocess import frida_backend
from debugger.cli import commands
from debugger.daemon import daemon_process, dispatch, server
from debugger.errors import DebuggerError
from debugger.symbols.dwarf import entry_locations, return_values, scope_variables, unwinding
from warm_server import NAME, NOWHERE, find_environment_name

# Imported for those that are forked: what every daemon has, and what a program of machine code or
# the in-process debugger takes longest to import.
_IMPORTS: Final = (dispatch, server)
_LATE_IMPORTS: Final = (
    entry_locations, frida_backend, return_values, scope_variables, unwinding,
)  # fmt: skip
_SERVERS: Final = Path(__file__).with_name("warm_server.py")
_END_S: Final = 20.0
# The tests' folders have names of packages: they are not to be found later.
_BEGIN: Final = """
import sys
sys.path.append(sys.argv.pop())
import warm_daemon
sys.path.pop()
warm_daemon.main()
"""


# In the wheel's round they are started as a user's are.
_IS_WHEEL: Final = "site-packages" in Path(commands.__file__).parts
_OFFERS: Final = sys.platform == "linux" and not _IS_WHEEL


class WarmProcess:
    """The process that is forked, and how it is asked."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        # Tests run commands in threads, and all of them talk through one pipe.
        self._lock = threading.Lock()

    def hatch(self, env: Mapping[str, str]) -> None:
        """Start the daemon of a test's directory that has had none."""
        directory = Path(env[NAME])
        left = (directory / paths.SOCKET, directory / paths.STATE)
        if not _OFFERS or len(env[NAME]) != len(NOWHERE):
            return
        with self._lock:
            if not any(map(os.path.exists, left)):
                self._hatch(directory, env)

    def _hatch(self, directory: Path, env: Mapping[str, str]) -> None:
        asked = self._running()
        assert asked.stdin is not None
        assert asked.stdout is not None
        asked.stdin.write(json.dumps(dict(env)) + "\n")
        asked.stdin.flush()
        assert asked.stdout.readline() == "ready\n", f"the daemon of {directory} did not start"

    def close(self) -> None:
        """End the process; the daemons are not its children."""
        if self._process is not None:
            self._process.communicate(timeout=_END_S)
            self._process = None

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _BEGIN, str(_SERVERS.parent)],
                env={**os.environ, NAME: NOWHERE},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        return self._process


class WarmServerProcess:
    """The process whose forks are MCP servers, and what starts one of them."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._folder = ""

    def choose_command(self, words: list[str], env: Mapping[str, str]) -> list[str]:
        """Return what starts a server: a client of the process, or a server of its own."""
        if not _OFFERS or len(env.get(NAME, "")) != len(NOWHERE):
            return [sys.executable, "-m", "debugger", *words]
        if self._process is None:
            self._folder = tempfile.mkdtemp(prefix="warm-", dir="/tmp")
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(_SERVERS), f"{self._folder}/socket"],
                env={**os.environ, NAME: NOWHERE},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            assert self._process.stdout is not None
            assert self._process.stdout.readline() == "ready\n"
        return [sys.executable, "-I", "-S", str(_SERVERS), f"{self._folder}/socket", *words]

    def close(self) -> None:
        """End the process; its servers have ended with their tests."""
        if self._process is not None:
            self._process.communicate(timeout=_END_S)
            shutil.rmtree(self._folder)
            self._process = None


# One of each for all tests of a worker.
WARM_PROCESS: Final = WarmProcess()
WARM_SERVERS: Final = WarmServerProcess()


def main() -> None:
    """Fork a daemon for each line, which is its environment."""
    name_directory = find_environment_name()
    commands.load_all()
    # gdb's versions are asked once here: what they are is inherited by those that are forked.
    select_backend.ADAPTERS["gdb"].find_installation(AdapterSearch(os.environ))
    gc.freeze()
    for line in sys.stdin:
        ready, sender = os.pipe()
        child = os.fork()
        if not child:
            os.close(ready)
            become_daemon(json.loads(line), sender, name_directory)
        os.close(sender)
        os.waitpid(child, 0)
        said = os.read(ready, 100)
        os.close(ready)
        sys.stdout.write(said.decode() or "ended\n")
        sys.stdout.flush()


def become_daemon(env: dict[str, str], ready: int, name_directory: Callable[[str], object]) -> None:
    os.setsid()
    os.environ.clear()
    os.environ.update(env)
    os.environ.update(daemon_process._daemon_environment())
    name_directory(env[NAME])
    os.chdir("/")
    log = daemon_process.open_log(env[NAME])
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    os.close(nothing)
    os.close(log)
    try:
        kept = config.load_config(env).daemon
    except DebuggerError:
        kept = config.DaemonSettings()
    words = ["--directory", env[NAME], "--ready-fd", str(ready)]
    os._exit(
        daemon_process.run_daemon(
            dispatch.build_handler, idle_s=kept.idle_timeout_minutes * 60, argv=words
        )
    )
