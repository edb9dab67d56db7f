"""Runs Frida in a process of its own: orders come by stdin, answers and events go by stdout.

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
# Of some hundreds of detaches one never finishes (`_await_left`), so this is a bound that is
# met.
_UNMAPPED_S = 3.0
_LOOK_S = 0.002
_FIELDS = 5  # access, offset, device, inode and name


class FridaHost:
    """Holds Frida's device, the sessions with processes, and at most one script in each."""

    def __init__(self) -> None:
        # The pipe gets a number of its own, and 1 becomes stderr: what Frida or a library
        # prints must not get between the messages.
        self._out = os.dup(1)
        os.dup2(2, 1)
        # Frida's thread and ours both write.
        self._writing = threading.Lock()
        self._device: Any = frida.get_local_device()
        # Frida calls back on a thread of its own, as it does for "message" and "detached".
        self._device.on("child-added", self._child_added)
        self._sessions: dict[int, Any] = {}
        self._scripts: dict[int, Any] = {}
        # Where Frida's code is; what a child has of its parent's is not ours to take out.
        self._brought: dict[int, set[int]] = {}
        self._lost: dict[int, threading.Event] = {}
        self._execs = ExecTracker(self.emit_message, self._await_lost)

    def emit_message(self, message: dict[str, Any]) -> None:
        """Write one whole message to the engine."""
        remaining = memoryview(pack_message(message))
        with self._writing:
            while remaining:
                remaining = remaining[os.write(self._out, remaining) :]

    def run_orders(self) -> None:
        """Carry out orders until the pipe is closed."""
        unpacker = MessageUnpacker()
        while chunk := os.read(0, _CHUNK):
            # One after the other, so an attach that hangs holds up all. The engine's time-out
            # then says so, and the session's end kills this process.
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
        """Attach to a process; `gate` holds what the process forks or becomes.

        Frida 17.26: of the children that a gated process forks while its agent speaks, some die of
        it, and some wait for ever. So only a process without an agent is gated.
        """
        pid = order["pid"]
        before = _frida_mappings(pid)
        session = self._device.attach(pid)
        self._execs.follow_process(pid)
        # A forked child has copies of its parent's agent already; those stay mapped at a
        # detach.
        self._brought[pid] = _frida_mappings(pid) - before
        self._sessions[pid], self._lost[pid] = session, threading.Event()
        # With the session in the closure: after an exec the same pid has a second session,
        # and the end of the first one must not be taken for its end.
        session.on("detached", lambda reason, _crash: self._on_detached(pid, session, str(reason)))
        if order["gate"]:
            session.enable_child_gating()

    def do_load(self, order: dict[str, Any]) -> None:
        """Load the agent into a process."""
        pid = order["pid"]
        # QuickJS beats V8 in nearly every hook test (frida 17.25).
        script = self._sessions[pid].create_script(order["source"], runtime="qjs")
        script.on("message", lambda message, data: self._on_message(pid, script, message, data))
        self._scripts[pid] = script
        script.load()

    def do_post(self, order: dict[str, Any]) -> None:
        """Hand a message to the agent in a process."""
        self._scripts[order["pid"]].post(order["message"], order.get("data"))

    def do_resume(self, order: dict[str, Any]) -> None:
        """Resume a process that gating holds."""
        self._device.resume(order["pid"])

    def do_detach(self, order: dict[str, Any]) -> None:
        """Unload the agent from a process, and detach from it."""
        pid = order["pid"]
        # First: while a thread is traced by us, Frida cannot borrow it to unload its code.
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
            # Not the engine's matter: the thread waits at its exec, and ptrace is here.
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
    """Wait until Frida's code is out of a process, which comes after the answer to a detach.

    At last Frida borrows a thread to unmap its loader, and that thread dies if this process ends
    meanwhile. Frida 17.26: in one detach of some hundreds its own threads wait for each other for
    ever, and the code stays mapped. Nothing leads there any more, so the program does not suffer.
    """
    limit = time.monotonic() + _UNMAPPED_S
    # No event tells of it. The mappings go first, and a tracer that is still there is Frida
    # itself.
    while time.monotonic() < limit:
        ranges = [one for one, _ in _list_mappings(pid)]
        is_there = any(low <= at < high for low, high in ranges for at in brought)
        if not is_there and not _is_traced(pid):
            return
        threading.Event().wait(_LOOK_S)


def _frida_mappings(pid: int) -> set[int]:
    """Return the addresses of Frida's code: its agent, and its loader, which has no name."""
    return {
        low
        for (low, _), (access, *_, name) in _list_mappings(pid)
        if "frida-agent" in name or (access == "rwxp" and not name)
    }


def _list_mappings(pid: int) -> list[tuple[tuple[int, int], list[str]]]:
    """List the mappings of a process: their bounds, and the other fields of proc_pid_maps(5)."""
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
    # Frida's threads are not waited for: one may hang, and its exit handlers with it.
    os._exit(0)
