"""The process that holds Frida: orders come in by stdin, answers and events go out by stdout.

It is a process of its own so that what Frida may do (hang, die, leave threads and files behind)
ends with it; the guard of the session ends it.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import frida
from debugger.backends.frida.engine.frames import Unpacker, pack

_CHUNK = 1 << 16
_UNMAPPED_S = 3.0
_LOOK_S = 0.002


class Host:
    """One Frida device, the processes that were attached to, and at most one script in each."""

    def __init__(self) -> None:
        # Not stdout: what anybody prints must not get between the messages.
        self._out = os.dup(1)
        os.dup2(2, 1)
        # Frida's thread and ours both write.
        self._writing = threading.Lock()
        self._device: Any = frida.get_local_device()
        self._device.on("child-added", self._child_added)
        self._sessions: dict[int, Any] = {}
        self._scripts: dict[int, Any] = {}
        self._children: list[Any] = []

    def emit(self, message: dict[str, Any]) -> None:
        """Write one message whole."""
        left = memoryview(pack(message))
        with self._writing:
            while left:
                left = left[os.write(self._out, left) :]

    def run(self) -> None:
        """Obey until there is nobody left to."""
        unpacker = Unpacker()
        while chunk := os.read(0, _CHUNK):
            for order in unpacker.feed(chunk):
                self._obey(order)

    def _obey(self, order: dict[str, Any]) -> None:
        reply = {"event": "done", "id": order["id"]}
        try:
            getattr(self, f"do_{order['op']}")(order)
        # Frida has a dozen exceptions of its own, and raises ValueError and OSError besides; what
        # went wrong is said to who has asked.
        except Exception as error:  # noqa: BLE001
            reply |= {"error": str(error), "kind": type(error).__name__}
        self.emit(reply)

    def do_attach(self, order: dict[str, Any]) -> None:
        """Attach to a process; `gate` holds what it forks or becomes."""
        pid = order["pid"]
        session = self._device.attach(pid)
        self._sessions[pid] = session
        session.on("detached", lambda reason, _crash: self._detached(pid, session, str(reason)))
        if order["gate"]:
            session.enable_child_gating()

    def do_load(self, order: dict[str, Any]) -> None:
        """Load the agent into a process."""
        pid = order["pid"]
        script = self._sessions[pid].create_script(order["source"], runtime="qjs")
        script.on("message", lambda message, data: self._message(pid, script, message, data))
        self._scripts[pid] = script
        script.load()

    def do_post(self, order: dict[str, Any]) -> None:
        """Hand a message to the agent."""
        self._scripts[order["pid"]].post(order["message"], order.get("data"))

    def do_resume(self, order: dict[str, Any]) -> None:
        """Let a held process go on."""
        self._device.resume(order["pid"])

    def do_release(self, order: dict[str, Any]) -> None:
        """Let a held child go on.

        Frida 17.26: a forked child that is resumed at once sometimes waits for ever, and one that
        is left while it ends sometimes dies of it. One that was entered, and never left, lives.
        """
        pid = order["pid"]
        self._children.append(self._device.attach(pid))
        self._device.resume(pid)

    def do_detach(self, order: dict[str, Any]) -> None:
        """Leave a process."""
        pid = order["pid"]
        script = self._scripts.pop(pid, None)
        if script is not None:
            script.unload()
        session = self._sessions.pop(pid, None)
        if session is not None:
            session.detach()
            _await_unmapped(pid)

    def _message(self, pid: int, script: Any, message: Any, data: bytes | None) -> None:
        if message["type"] == "send" and message["payload"].get("type") == "last":
            # At once: a program that ends must not wait for us to be read.
            script.post({"type": "last"})
        self.emit({"event": "message", "pid": pid, "message": message, "data": data})

    def _detached(self, pid: int, session: Any, reason: str) -> None:
        if self._sessions.get(pid) is session:
            self.emit({"event": "detached", "pid": pid, "reason": reason})

    def _child_added(self, child: Any) -> None:
        self.emit(
            {
                "event": "child",
                "pid": child.pid,
                "parent": child.parent_pid,
                "origin": child.origin,
                "path": child.path,
            }
        )


def _await_unmapped(pid: int) -> None:
    """Wait until Frida's code is out of a process: that comes after the answer to a detach.

    Frida 17.26: in one detach of some hundreds its own threads wait for each other for ever, and
    the code stays. Nothing leads there any more, so the program is none the worse for it.
    """
    limit = time.monotonic() + _UNMAPPED_S
    # Nothing tells of it but the list of what is mapped.
    while "frida-agent" in _maps(pid) and time.monotonic() < limit:
        threading.Event().wait(_LOOK_S)


def _maps(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


if __name__ == "__main__":
    Host().run()
    sys.stdout.flush()
    # Frida's threads are not waited for.
    os._exit(0)
