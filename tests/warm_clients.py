"""Runs commands of tests in forks of a process that has imported the thin client already.

A client lives 35 ms, most of it Python's own start, and the tests run ten thousand. A process that
has imported it waits here, one for each worker, and is forked for each command; from there on all
is as it always is. What the client does from its start on has tests of its own, which start it as
a user does, as do the wheel's tests.
"""

from __future__ import annotations

import array
import json
import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from debugger.cli import client
from warm_server import NAME, NOWHERE, REQUEST_MAX

_SERVERS: Final = Path(__file__).with_name("warm_server.py")
_IS_WHEEL: Final = "site-packages" in Path(client.__file__).parts
_OFFERS: Final = sys.platform == "linux" and not _IS_WHEEL
# What Python reads of the environment when it starts, and the fork does not.
_START_VARIABLES: Final = ("PYTHON", "LC_", "LANG")
_CHUNK: Final = 1 << 16


def _start_variables(env: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in env.items() if name.startswith(_START_VARIABLES)}


class WarmClients:
    """The process that is forked for commands, and how one is run."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._folder = ""
        self._env = dict(os.environ)  # before a test has changed it
        # Tests run commands in threads.
        self._lock = threading.Lock()

    def run_command(
        self, words: Sequence[str], cwd: str, env: Mapping[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in a fork where that is as a process of its own."""
        if not self._can_fork(cwd, env):
            return start_client(words, cwd, env, timeout)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, REQUEST_MAX)
            connection.connect(f"{self._folder}/socket")
            request = json.dumps({"words": list(words), "env": dict(env), "cwd": cwd}).encode()
            streams = _send_request(connection, request)
            try:
                out, err = _read_streams(streams, time.monotonic() + timeout)
            except TimeoutError:
                connection.send(str(int(signal.SIGKILL)).encode())
                raise subprocess.TimeoutExpired(["debugger", *words], timeout) from None
            finally:
                for stream in streams:
                    os.close(stream)
            status = int(connection.recv(100))
        return subprocess.CompletedProcess(["debugger", *words], status, out, err)

    def _can_fork(self, cwd: str, env: Mapping[str, str]) -> bool:
        if not _OFFERS or len(env.get(NAME, "")) != len(NOWHERE) or not os.path.isdir(cwd):
            return False
        with self._lock:
            if self._process is None:
                self._start()
        return _start_variables(self._env) == _start_variables(env)

    def _start(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="warm-", dir="/tmp")
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(_SERVERS), "--clients", f"{self._folder}/socket"],
            env={**self._env, NAME: NOWHERE},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    def close(self) -> None:
        """End the process; its clients have ended with their tests."""
        if self._process is not None:
            self._process.communicate(timeout=20)
            shutil.rmtree(self._folder)
            self._process = None


def start_client(
    words: Sequence[str], cwd: str, env: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "debugger", *words],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="backslashreplace",
        timeout=timeout,
        check=False,
    )


def _send_request(connection: socket.socket, request: bytes) -> list[int]:
    """Send a command with its standard streams; return where its output and errors are read."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    (out, out_end), (err, err_end) = os.pipe(), os.pipe()
    fds = array.array("i", (nothing, out_end, err_end))
    connection.sendmsg([request], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
    for descriptor in fds:
        os.close(descriptor)
    return [out, err]


def _read_streams(streams: Sequence[int], deadline: float) -> list[str]:
    """Read streams to their ends; raise TimeoutError after the deadline."""
    read = dict.fromkeys(streams, b"")
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(deadline - time.monotonic(), 0))
            if not ready:
                raise TimeoutError
            for key, _ in ready:
                chunk = os.read(key.fd, _CHUNK)
                read[key.fd] += chunk
                if not chunk:
                    selector.unregister(key.fd)
    # As text mode reads a pipe.
    texts = [read[stream].decode("utf-8", "backslashreplace") for stream in streams]
    return [text.replace("\r\n", "\n").replace("\r", "\n") for text in texts]


# One for all tests of a worker.
WARM_CLIENTS: Final = WarmClients()
