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
from debugger.backends.inprocess.engine.exec_tracking import ExecTracker, read_becoming
from debugger.backends.inprocess.engine.message_frames import MessageUnpacker, pack_message

_CHUNK = 1 << 16
_UNMAPPED_S = 3.0
_LOOK_S = 0.002
_FIELDS = 5  # access, offset, device, inode and name


class FridaHost:
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
        # Where Frida's code is; what a child has of its parent's is not ours to take out.
        self._brought: dict[int, set[int]] = {}
        self._lost: dict[int, threading.Event] = {}
        self._execs = ExecTracker(self.emit_message, self._await_lost)

    def emit_message(self, message: dict[str, Any]) -> None:
        """Write one message whole."""
        left = memoryview(pack_message(message))
        with self._writing:
            while left:
                left = left[os.write(self._out, left) :]

    def run_orders(self) -> None:
        """Obey until there is nobody left to."""
        unpacker = MessageUnpacker()
        while chunk := os.read(0, _CHUNK):
            for order in unpacker.add_bytes(chunk):
                self._run_order(order)

    def _run_order(self, order: dict[str, Any]) -> None:
        reply = {"event": "done", "id": order["id"]}
        try:
            getattr(self, f"do_{order['op']}")(order)
        # Frida has a dozen exceptions of its own, and raises ValueError and OSError besides; what
        # went wrong is said to who has asked.
        except Exception as error:  # noqa: BLE001
            reply |= {"error": str(error), "kind": type(error).__name__}
        self.emit_message(reply)

    def do_attach(self, order: dict[str, Any]) -> None:
        """Attach to a process; `gate` holds what it forks or becomes.

        Frida 17.26: of the children that a process forks while its agent speaks, gated, some die of
        it, and some wait for ever. So only a process without an agent is.
        """
        pid = order["pid"]
        before = _frida_mappings(pid)
        session = self._device.attach(pid)
        self._execs.follow_process(pid)
        self._brought[pid] = _frida_mappings(pid) - before
        self._sessions[pid], self._lost[pid] = session, threading.Event()
        session.on("detached", lambda reason, _crash: self._on_detached(pid, session, str(reason)))
        if order["gate"]:
            session.enable_child_gating()

    def do_load(self, order: dict[str, Any]) -> None:
        """Load the agent into a process."""
        pid = order["pid"]
        script = self._sessions[pid].create_script(order["source"], runtime="qjs")
        script.on("message", lambda message, data: self._on_message(pid, script, message, data))
        self._scripts[pid] = script
        script.load()

    def do_post(self, order: dict[str, Any]) -> None:
        """Hand a message to the agent."""
        self._scripts[order["pid"]].post(order["message"], order.get("data"))

    def do_resume(self, order: dict[str, Any]) -> None:
        """Let a held process go on."""
        self._device.resume(order["pid"])

    def do_detach(self, order: dict[str, Any]) -> None:
        """Leave a process."""
        pid = order["pid"]
        self._execs.leave_process(pid)
        script = self._scripts.pop(pid, None)
        if script is not None:
            script.unload()
        session = self._sessions.pop(pid, None)
        if session is not None:
            session.detach()
            _await_left(pid, self._brought.pop(pid, set()))

    def _on_message(self, pid: int, script: Any, message: Any, data: bytes | None) -> None:
        match message:
            case {"type": "send", "payload": {"type": "last"}}:
                # At once: a program that ends must not wait for us to be read.
                script.post({"type": "last"})
            case {"type": "send", "payload": {"type": "execs"} as payload}:
                self._execs.let_go(read_becoming(pid, payload))
                return
        self.emit_message({"event": "message", "pid": pid, "message": message, "data": data})

    def _on_detached(self, pid: int, session: Any, reason: str) -> None:
        if self._sessions.get(pid) is session:
            self._lost[pid].set()
            self.emit_message({"event": "detached", "pid": pid, "reason": reason})

    def _await_lost(self, pid: int, seconds: float) -> None:
        lost = self._lost.get(pid)
        if lost is not None:
            lost.wait(seconds)

    def _child_added(self, child: Any) -> None:
        self.emit_message(
            {
                "event": "child",
                "pid": child.pid,
                "parent": child.parent_pid,
                "origin": child.origin,
                "path": child.path,
            }
        )


def _await_left(pid: int, brought: set[int]) -> None:
    """Wait until Frida is out of a process: that comes after the answer to a detach.

    Last it borrows a thread to unmap its loader, who dies of it if we end meanwhile. Frida 17.26:
    in one detach of some hundreds its own threads wait for each other for ever, and the code
    stays. Nothing leads there any more, so the program is none the worse for it.
    """
    limit = time.monotonic() + _UNMAPPED_S
    # Nothing tells of it but what is mapped, and who traces.
    while time.monotonic() < limit:
        ranges = [one for one, _ in _list_mappings(pid)]
        is_there = any(low <= at < high for low, high in ranges for at in brought)
        if not is_there and not _is_traced(pid):
            return
        threading.Event().wait(_LOOK_S)


def _frida_mappings(pid: int) -> set[int]:
    """Find where Frida's code may be: its agent, and its loader, which has no name."""
    return {
        low
        for (low, _), (access, *_, name) in _list_mappings(pid)
        if "frida-agent" in name or (access == "rwxp" and not name)
    }


def _list_mappings(pid: int) -> list[tuple[tuple[int, int], list[str]]]:
    """List what is mapped: from where to where, and the other fields of proc_pid_maps(5)."""
    try:
        maps = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    found = []
    for line in maps.splitlines():
        place, *rest = line.split(maxsplit=5)
        low, high = (int(one, 16) for one in place.split("-"))
        found.append(((low, high), rest if len(rest) == _FIELDS else [*rest, ""]))
    return found


def _is_traced(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return "TracerPid:\t0\n" not in status


if __name__ == "__main__":
    FridaHost().run_orders()
    sys.stdout.flush()
    # Frida's threads are not waited for.
    os._exit(0)
