"""Runs a program with a breakpoint at each requested address, and writes which were reached.

Standard library only, run by path: `run_once.py PROGRAM ARGUMENTS…`, with a folder in the
environment (`DEBUGGER_ONCE`) that holds the request and gets the result. Each breakpoint is removed
when it is reached, so a loop costs no more than a straight line. x86-64 Linux.

A launcher may run it in front of each of its ranks. Then the processes are told apart (`is_each`
of the request): a process that is forked gets its own breakpoints, where it has none any more.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
from array import array

FOLDER = "DEBUGGER_ONCE"
# Of a rank, which finds both by the environment of its machine.
PYTHON, SCRIPT = "DEBUGGER_ONCE_PYTHON", "DEBUGGER_ONCE_SCRIPT"
_REQUEST, _ADDRESSES, _REACHED = "request.json", "addresses", "reached"
# Requests and options of ptrace(2), from sys/ptrace.h.
_TRACEME, _CONT, _DETACH, _OPTIONS, _PEEK, _POKE = 0, 7, 17, 0x4200, 3, 6
# EXITKILL, and the events of fork, vfork, clone and exec.
_FOLLOWED = 1 << 20 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4
_EVENT_EXEC = 4
_WALL = 0x40000000
_RIP = 16 * 8  # of struct user, in sys/user.h
_BREAKPOINT = b"\xcc"
_APART = 1 << 16  # bytes between addresses that are written at once
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.ptrace.restype = ctypes.c_long
_LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def _ptrace(request: int, process: int, address: int = 0, data: int = 0) -> int:
    ctypes.set_errno(0)
    found = int(_LIBC.ptrace(request, process, address, data))
    # A word that was read may itself be -1.
    if found == -1 and ctypes.get_errno():
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return found


def _load_bias(process: int, program: str, lowest: int) -> int:
    """Return how far the program lies above its link-time addresses."""
    with open(f"/proc/{process}/maps", encoding="utf-8", errors="replace") as maps:  # noqa: PTH123
        for line in maps:
            fields = line.split(maxsplit=5)
            if fields[5:] and fields[5].rstrip("\n") == program:
                return int(fields[0].partition("-")[0], 16) - lowest
    raise OSError(f"{program} is not mapped")


class TracedLines:
    """The breakpoints in a program and in the processes that it forks."""

    def __init__(self, process: int, addresses: list[int], reached: int, *, is_each: bool) -> None:
        self._process = process
        self._reached = reached
        self._is_each = is_each
        self._addresses = addresses
        self._memories: dict[int, int] = {}
        # The original byte and the number of each address.
        self._known: dict[int, tuple[bytes, int]] = {}
        self._processes = {process}
        self._insert_all(process)

    def _insert_all(self, process: int) -> None:
        addresses, start = self._addresses, 0
        for end in range(1, len(addresses) + 1):
            # Code that lies together is read and written at once.
            if end == len(addresses) or addresses[end] - addresses[end - 1] > _APART:
                self._insert(process, addresses[start:end], start)
                start = end

    def _insert(self, process: int, addresses: list[int], number: int) -> None:
        memory = self._memory(process)
        first = addresses[0]
        code = bytearray(os.pread(memory, addresses[-1] - first + 1, first))
        for at, address in enumerate(addresses, number):
            # In a forked process some are there already.
            original = bytes(code[address - first : address - first + 1]), at
            self._known.setdefault(address, original)
        for address in addresses:
            code[address - first : address - first + 1] = _BREAKPOINT
        os.pwrite(memory, code, first)

    def _memory(self, process: int) -> int:
        if process not in self._memories:
            self._memories[process] = os.open(f"/proc/{process}/mem", os.O_RDWR)
        return self._memories[process]

    def run(self) -> int:
        """Run the program to its end; return its wait status."""
        _ptrace(_CONT, self._process)
        while True:
            process, status = os.waitpid(-1, _WALL)
            if not os.WIFSTOPPED(status):
                self._processes.discard(process)
                if process == self._process:
                    return status
                continue
            # A killed process may be gone before the request for it.
            try:
                self._go_on(process, status)
            except ProcessLookupError:
                continue

    def _go_on(self, process: int, status: int) -> None:
        number, event = status >> 8 & 0xFF, status >> 16
        if event == _EVENT_EXEC and process != self._process:
            _ptrace(_DETACH, process)  # another program, which has none of the breakpoints
            return
        is_ours = event != 0 or (number == signal.SIGTRAP and self._remove_reached(process))
        if process not in self._processes:
            self._processes.add(process)
            if self._is_each and _thread_group(process) == process:
                self._insert_all(process)
            # A new thread or process stops once, before its first instruction.
            is_ours = is_ours or number == signal.SIGSTOP
        _ptrace(_CONT, process, 0, 0 if is_ours else number)

    def _remove_reached(self, process: int) -> bool:
        address = _ptrace(_PEEK, process, _RIP) - 1
        known = self._known.get(address)
        if known is None:
            return False
        original, number = known
        # Another thread may have reached it at the same moment: to write it again does no harm.
        os.pwrite(self._memory(process), original, address)
        _ptrace(_POKE, process, _RIP, address)
        own = _thread_group(process) if self._is_each else self._process
        os.write(self._reached, array("I", [own, number]).tobytes())
        return True


def _thread_group(thread: int) -> int:
    """Return the process that a thread is of."""
    with open(f"/proc/{thread}/status", encoding="utf-8", errors="replace") as status:  # noqa: PTH123
        for line in status:
            if line.startswith("Tgid:"):
                return int(line.split()[1])
    return thread


def main() -> None:
    """Run the program, and end as it does."""
    folder, argv = os.environ.pop(FOLDER), sys.argv[1:]
    for name in (PYTHON, SCRIPT):
        os.environ.pop(name, None)
    with open(f"{folder}/{_REQUEST}", encoding="utf-8") as file:  # noqa: PTH123
        request = json.load(file)
    with open(f"{folder}/{_ADDRESSES}", "rb") as file:  # noqa: PTH123
        linked = array("Q", file.read())
    process = os.fork()
    if process == 0:
        _ptrace(_TRACEME, 0)
        os.execve(request["program"], argv, os.environ)  # noqa: S606
    _, status = os.waitpid(process, 0)
    if os.WIFSTOPPED(status):
        _ptrace(_OPTIONS, process, 0, _FOLLOWED)
        bias = _load_bias(process, request["program"], request["lowest"])
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        # Each rank has a file of its own: process and number, in turn, with its variables beside.
        reached = os.open(f"{folder}/{_REACHED}-{process}", flags, 0o600)
        if request["variables"]:
            own = {name: os.environ[name] for name in request["variables"] if name in os.environ}
            with open(f"{folder}/variables-{process}", "w", encoding="utf-8") as file:  # noqa: PTH123
                json.dump(own, file)
        lines = TracedLines(
            process, [one + bias for one in linked], reached, is_each=request["is_each"]
        )
        status = lines.run()
    if os.WIFSIGNALED(status):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status))


main()
