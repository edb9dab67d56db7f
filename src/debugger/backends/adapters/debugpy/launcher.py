"""Runs a Python program for debugpy, and reports its end: exit status or signal.

Run as `python -I -S launcher.py PORT -- PROGRAM ARGS...` in the place of debugpy's own launcher,
which reports a death by signal N as status 256 - N, and takes 150 ms longer to start (debugpy
1.8.22). Here a death by signal N is reported as -N. Standard library only.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

SERVER = "debugpyServer"  # what the adapter's wrapper adds to the launch arguments
# Seconds for a child Python to start, import pydevd and connect.
_CHILDREN_S = 2.0
_GENERATIONS_S = 8.0
# Seconds between two looks: no event tells of another process's child.
_LOOK_S = 0.02
_LOOPBACK = "127.0.0.1"


class LauncherChannel:
    """Carries DAP messages to and from the adapter, whose messages are requests."""

    def __init__(self, connection: socket.socket) -> None:
        self._reader: BinaryIO = connection.makefile("rb")
        self._connection = connection
        # The thread that waits for the program's end sends too.
        self._lock = threading.Lock()
        self._seq = 0

    def read_message(self) -> dict[str, Any] | None:
        """Return the next message; None at the end."""
        length = 0
        while (line := self._reader.readline()).strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        if not line:
            return None
        message: dict[str, Any] = json.loads(self._reader.read(length))
        return message

    def send_message(self, **message: Any) -> None:
        """Send a message; to an adapter that is gone nothing is sent."""
        with self._lock:
            self._seq += 1
            body = json.dumps({"seq": self._seq, **message}).encode()
            try:
                self._connection.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            except OSError:
                return

    def answer_request(self, request: dict[str, Any], problem: str | None = None) -> None:
        """Answer a request."""
        answer = {"type": "response", "request_seq": request["seq"], "command": request["command"]}
        answer["success"] = problem is None
        if problem is not None:
            answer["message"] = problem
        self.send_message(**answer, body={})


def debugpy_command(arguments: dict[str, Any], host: str, words: list[str]) -> list[str]:
    """Return the command that runs the program under debugpy's server."""
    # frozen_modules=off: what is frozen cannot be stepped into; before 3.11 it means nothing.
    found = [*arguments["python"], "-X", "frozen_modules=off", *arguments[SERVER]]
    found += ["--connect", f"{host}:{arguments['port']}"]
    if not arguments.get("subProcess", True):
        found += ["--configure-subProcess", "False"]
    token = arguments.get("adapterAccessToken")
    found += ["--adapter-access-token", token] if token else []
    return [*found, *arguments.get("debugpyArgs", ()), *words]


def run_in_group(words: list[str], env: dict[str, str]) -> int:
    """Start the program in a process group of its own; return its pid.

    Raises:
        OSError: it cannot be run.
    """
    # The pipe tells a failed exec from a program that ends at once: exec closes it (PEP 446:
    # descriptors are not inherited), so that an empty read means success.
    report, report_in_child = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            # In the child, before exec: the group exists before anybody can send it a signal.
            os.setpgid(0, 0)
            os.execvpe(words[0], words, env)  # noqa: S606 - no shell is the point
        except OSError as error:
            os.write(report_in_child, b"%d" % (error.errno or 0))
        finally:
            # Never through Python's own exit: buffers and handlers are the parent's.
            os._exit(127)
    os.close(report_in_child)
    answer = os.read(report, 16)
    os.close(report)
    if answer:
        os.waitpid(pid, 0)
        raise OSError(int(answer), os.strerror(int(answer)), words[0])
    return pid


def adopted_processes() -> set[int]:
    """Return the live processes whose parent is ours: orphans come to it.

    From proc_pid_children(5); nothing on another system than Linux.
    """
    parent = os.getppid()
    return {
        pid
        for pid in map(int, _read_text(f"/proc/{parent}/task/{parent}/children").split())
        if _read_text(f"/proc/{pid}/stat").rpartition(")")[2].split()[:1] not in ([], ["Z"])
    }


def _read_text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - faster to start
            return file.read()
    except OSError:
        return ""


class DebugpyLauncher:
    """Runs one program for one adapter."""

    def __init__(self, channel: LauncherChannel, host: str, words: list[str]) -> None:
        self._channel = channel
        self._host = host
        self._words = words
        self._pid = 0
        self._earlier_processes: set[int] = set()  # the processes that ran before the program
        self._ended = threading.Event()
        self._is_ending = threading.Event()

    def serve_requests(self) -> None:
        """Answer the adapter's requests until the adapter or the program is gone."""
        while (request := self._channel.read_message()) is not None:
            if request.get("command") == "launch":
                self._launch_program(request)
                continue
            if request.get("type") != "request":
                continue
            self._channel.answer_request(request)
            if request["command"] == "terminate":
                self._is_ending.set()
                self._kill_program()

    def _launch_program(self, request: dict[str, Any]) -> None:
        arguments = request["arguments"]
        changed = {**os.environ, **(arguments.get("env") or {})}
        env = {name: value for name, value in changed.items() if value is not None}
        # Taken before the program starts: what is there now is none of its children.
        self._earlier_processes = adopted_processes()
        try:
            self._pid = run_in_group(debugpy_command(arguments, self._host, self._words), env)
        except OSError as error:
            self._channel.answer_request(request, f"cannot run {error.filename}: {error.strerror}")
            return
        body = {"systemProcessId": self._pid, "name": arguments.get("processName") or "python"}
        body |= {"isLocalProcess": True, "startMethod": "launch"}
        self._channel.send_message(type="event", event="process", body=body)
        self._channel.answer_request(request)
        threading.Thread(target=self._reap_children, daemon=True).start()

    def _reap_children(self) -> None:
        # The end of a program, in its order:
        #
        # 1. waitpid: only this thread waits, and only for this pid.
        # 2. `_ended` is set: from here on the pid may be reused, and is no longer killed.
        # 3. Children that are left get up to 2 s to report themselves, each generation of a daemon
        #    anew, 8 s in all.
        # 4. `exited` with the status, or minus the signal, which `DebugpyAdapter.parse_exit`
        #    expects.
        # 5. `terminated`: with it the adapter ends the session.
        status = os.waitpid(self._pid, 0)[1]
        self._ended.set()
        self._await_the_children()
        code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        self._channel.send_message(type="event", event="exited", body={"exitCode": code})
        self._channel.send_message(type="event", event="terminated")

    def _await_the_children(self) -> None:
        """Give the processes that the program has left time to become sessions (bounded).

        A child Python has to start before it reports itself to the adapter; once the end is
        reported and no child is known, the session ends. Of a daemon each generation gets the time.
        """
        reported: set[int] = set()
        begun = renewed = time.monotonic()
        while not self._is_ending.wait(_LOOK_S):
            remaining = adopted_processes() - self._earlier_processes
            if remaining - reported:
                reported |= remaining
                renewed = time.monotonic()
            # A daemon forks twice: each new process starts the 2 s anew, within the total.
            limit = min(renewed + _CHILDREN_S, begun + _GENERATIONS_S)
            if not (remaining or self._has_group()) or time.monotonic() > limit:
                return

    def _has_group(self) -> bool:
        try:
            os.killpg(self._pid, 0)
        except OSError:
            return False
        return True

    def _kill_program(self) -> None:
        if self._pid and not self._ended.is_set():
            try:
                # The group, for children that the program has not moved elsewhere.
                os.killpg(self._pid, signal.SIGKILL)
            except OSError:
                return


def run_launcher(argv: list[str]) -> None:
    """Connect to the adapter and serve it; ends when it closes the connection."""
    host, _, port = argv[1].rpartition(":")
    connection = socket.create_connection((host or _LOOPBACK, int(port)))
    DebugpyLauncher(LauncherChannel(connection), host or _LOOPBACK, argv[3:]).serve_requests()


if __name__ == "__main__":
    run_launcher(sys.argv)
