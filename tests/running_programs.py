"""Runs processes without the debugger: programs to attach to, and their core files."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from left_out import leave_out

_SECONDS = 60.0


@contextmanager
def run_program(
    *words: str | os.PathLike[str],
    ready: str = "",
    cwd: str | os.PathLike[str] | None = None,
    stderr: int | IO[str] = subprocess.DEVNULL,
    env: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[str]]:
    """Run a program until the end of the test; it is there once it has printed its first line."""
    process = subprocess.Popen(
        [os.fspath(word) for word in words],
        cwd=cwd,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )
    try:
        if ready:
            assert process.stdout is not None
            assert ready in process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.communicate(timeout=_SECONDS)


def process_state(pid: int) -> str:
    """Return the letter of a process's state, proc_pid_stat(5); "" once it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    return text.rpartition(")")[2].split()[0]


def find_tracer(pid: int) -> int:
    """Return who traces a process; 0 for nobody."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("TracerPid:"))


def dump_core(program: Path, folder: Path) -> Path:
    """Let a program crash, and return the core file that it leaves.

    The kernel writes it where core_pattern has a plain name; else gdb does.
    """
    pattern = Path("/proc/sys/kernel/core_pattern").read_text().strip()
    if pattern == "core":
        subprocess.run(
            [str(program)],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            preexec_fn=_allow_core_files,
            timeout=_SECONDS,
            check=False,
        )
        found = sorted(folder.glob("core*"))
        if found:
            return found[0]
    gdb = shutil.which("gdb")
    if gdb is None:
        leave_out("the kernel leaves no core file here, and gdb is missing")
    target = folder / "core.gdb"
    words = [gdb, "-q", "-nx", "-batch", "-ex", "run", "-ex", f"generate-core-file {target}"]
    subprocess.run(
        [*words, str(program)], cwd=folder, capture_output=True, timeout=_SECONDS, check=True
    )
    return target


def _allow_core_files() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def find_free_port() -> int:
    """Return a port of this machine's that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


@contextmanager
def serve_clients(talk: Callable[[socket.socket], object]) -> Iterator[int]:
    """Listen at a port, given, and treat each client alike until the end of the test."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with ExitStack() as clients, suppress(OSError):
                while True:
                    talk(clients.enter_context(server.accept()[0]))

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        thread.join(_SECONDS)


def debugpy_server_command(script: str | os.PathLike[str], port: int) -> Sequence[str]:
    """Return the words that run a script with debugpy's server in it."""
    listen = ["-m", "debugpy", "--listen", f"127.0.0.1:{port}"]
    return [sys.executable, "-Xfrozen_modules=off", *listen, os.fspath(script)]


def attach_to_stop(cli: Callable[..., Any], *words: str | os.PathLike[str], **more: Any) -> Any:
    """Attach, with breakpoints, and return the first stop: what runs may be there at once."""
    answer = cli("--json", "attach", *words, check=0, **more)
    if answer.data["data"]["state"] == "running":
        answer = cli("--json", "await", "--timeout", "20", check=0)
    return answer.data["data"]


def ignored_signals(status: str) -> set[int]:
    """Return the signals that a process ignores by its `SigIgn:` line.

    Without 32 and 33: glibc keeps them for itself, so who inherits them ignored cannot change it.
    """
    mask = int(status.split()[1], 16)
    return {one for one in signal.valid_signals() if mask >> (one - 1) & 1}
