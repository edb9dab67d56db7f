"""Gives a program the random bytes of an earlier run, so that it does the same. Run inside gdb.

A hash table of Rust takes its keys from the system: its items, and all that is allocated after
them, lie elsewhere in each run otherwise.
"""

from __future__ import annotations

import importlib
from typing import Any

gdb: Any = importlib.import_module("gdb")

_CALLS_MAX = 1000
_BYTES_MAX = 256


class RandomCall(gdb.Breakpoint):  # type: ignore[misc]
    """A breakpoint at `getrandom`, which has the buffer's address and size as arguments."""

    def __init__(self, run: Any) -> None:
        super().__init__("-qualified -function getrandom", internal=True)
        self._run = run
        self._calls = 0
        # By the address and the stack pointer of the return: the buffer of the call.
        self.buffers: dict[tuple[int, int], int] = {}
        self._returns: set[int] = set()

    def stop(self) -> bool:
        """Wait for the return of the call."""
        frame, caller = gdb.newest_frame(), gdb.newest_frame().older()
        self._calls += 1
        if caller is None or self._calls > _CALLS_MAX:
            return False
        buffer, size = (int(frame.read_register(one)) for one in ("rdi", "rsi"))
        if 0 < size <= _BYTES_MAX:
            self.buffers[caller.pc(), int(caller.read_register("rsp"))] = buffer
            if caller.pc() not in self._returns:
                self._returns.add(caller.pc())
                RandomReturn(self._run, self, caller.pc())
        return False


class RandomReturn(gdb.Breakpoint):  # type: ignore[misc]
    """A breakpoint behind a call of `getrandom`: the bytes are there."""

    def __init__(self, run: Any, calls: RandomCall, address: int) -> None:
        super().__init__(f"*{address:#x}", internal=True)
        self._run, self._calls, self._address = run, calls, address

    def stop(self) -> bool:
        """Keep the bytes of the first run; write these in the others."""
        frame = gdb.newest_frame()
        buffer = self._calls.buffers.pop((self._address, int(frame.read_register("rsp"))), None)
        count = int(frame.read_register("rax"))
        if buffer is None or not 0 < count <= _BYTES_MAX:
            return False
        inferior = gdb.selected_inferior()
        known, seen = self._run.plan["random"], self._run.result["random"]
        content = bytes(inferior.read_memory(buffer, count))
        given = bytes.fromhex(known[len(seen)]) if len(seen) < len(known) else content
        if len(given) == count and given != content:
            inferior.write_memory(buffer, given)
        seen.append(given.hex())
        return False
