"""Runs a program with its blocks counted by Frida, and ends as the program does.

It is run by its path, as `counting_host.py FOLDER PROGRAM ARGS…`: FOLDER has the program's
environment, and gets its counts and the list of its binaries.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
_BLOCKS_MAX = 1_000_000
_RECORD = 64  # bytes, see block_counter.c
_LOOK_S = 0.01
_BECOME = 'read -r _ < "$0"; exec "$@"'


class _CountedProgram:
    """Starts one program, held at its beginning, and puts the counter into it."""

    def __init__(self, folder: Path, device: Any) -> None:
        self._folder = folder
        self._device = device
        self._held: list[int] = []
        self._has_become = threading.Event()
        self._binaries: list[dict[str, str]] = []

    def run_to_end(self, argv: list[str]) -> int:
        """Run the program; return its status as waitpid(2) gives it."""
        env = json.loads((self._folder / "environment.json").read_text("utf-8"))
        # A shell that waits and then becomes the program: Frida's own spawn would reap the
        # program, and its status were lost.
        go = self._folder / "go"
        os.mkfifo(go)
        child = subprocess.Popen(["/bin/sh", "-c", _BECOME, str(go), *argv], env=env)
        self._device.on("child-added", self._on_child)
        gate = self._device.attach(child.pid)
        gate.enable_child_gating()
        go.write_text("\n")
        # Not waitpid(2), which would take the stops that Frida's threads wait for.
        end = os.pidfd_open(child.pid)
        while not self._has_become.wait(_LOOK_S):
            if select.select([end], [], [], 0)[0]:  # there is no such program
                return os.waitpid(child.pid, 0)[1]
        self._count_blocks(child.pid)
        self._device.resume(child.pid)
        select.select([end], [], [])
        return os.waitpid(child.pid, 0)[1]

    def _on_child(self, child: Any) -> None:
        if child.origin == "exec":
            self._has_become.set()
        else:
            self._device.resume(child.pid)

    def _count_blocks(self, pid: int) -> None:
        counts = self._folder / "blocks"
        size = _RECORD * (_BLOCKS_MAX + 1)
        with counts.open("wb") as file:
            file.truncate(size)
        session = self._device.attach(pid)
        script = session.create_script(
            (_HERE / "block_counter.js").read_text("utf-8"), runtime="qjs"
        )
        script.on("message", self._on_message)
        script.load()
        source = (_HERE / "block_counter.c").read_text("utf-8")
        script.exports_sync.begin(str(counts), size, _BLOCKS_MAX, source)

    def _on_message(self, message: dict[str, Any], _data: bytes | None) -> None:
        if message["type"] == "send":
            self._binaries.append(message["payload"])
            (self._folder / "binaries.json").write_text(json.dumps(self._binaries))
        else:
            sys.stderr.write(f"{message.get('description', message)}\n")


def _end_helper(temporary: str) -> None:
    """End Frida's helper, which goes on in the background and would be taken for the program's."""
    for process in Path("/proc").iterdir():
        try:
            if str((process / "exe").readlink()).startswith(f"{temporary}/frida-"):
                os.kill(int(process.name), signal.SIGKILL)
        except (OSError, ValueError):  # it has ended, or is no process, or not ours
            continue


def _end_alike(status: int) -> None:
    """End this process as another did, by its exit status or its signal."""
    sys.stdout.flush()
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    # Frida's threads are not waited for: one may hang.
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def run_host() -> None:
    """Run the program that the arguments name."""
    import frida

    folder = Path(sys.argv[1])
    program = _CountedProgram(folder, frida.get_local_device())
    try:
        status = program.run_to_end(sys.argv[2:])
    except Exception as error:  # noqa: BLE001 - Frida has a dozen kinds
        (folder / "fault").write_text(f"{type(error).__name__}: {error}")
        os._exit(125)
    _end_helper(os.environ["TMPDIR"])
    _end_alike(status)


if __name__ == "__main__":
    run_host()
