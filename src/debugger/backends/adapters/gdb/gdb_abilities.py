"""Implements gdb's abilities by requests of our own, and runs a gdb for its version."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

from debugger.backends.dap import messages as dap
from debugger.backends.dap.adapter_profile import AdapterAccess
from debugger.errors import ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, WatchAccess
from debugger.model.program import Frame, Register, RegisterGroup

_ASK_S = 10.0


def gdb_output(gdb: str, *words: str) -> str | None:
    """Return the output and errors of `gdb -nx -batch`; None where it cannot be run."""
    try:
        found = Path(gdb).stat()
    except OSError:
        return None
    return _cached_output(gdb, found.st_mtime_ns, found.st_size, words)


@functools.lru_cache(maxsize=16)
def _cached_output(gdb: str, changed: int, size: int, words: tuple[str, ...]) -> str | None:
    del changed, size  # they only tell one file from the one that it was
    try:
        answer = subprocess.run(
            # -nx: the user's .gdbinit may print, fail or wait.
            [gdb, "-nx", "-batch", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_ASK_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout


_SLOTS = 4  # x86-64's debug registers
_ACCESS = {WatchAccess.WRITE: "write", WatchAccess.READ: "read", WatchAccess.ANY: "readWrite"}


class WatchBody(dap.DapBody, frozen=True):
    """The body of the answer to `debuggerWatch`."""

    id: int
    address: str
    again: str


class RegisterBody(dap.DapBody, frozen=True):
    """A register in the answer to `debuggerRegisters`."""

    name: str
    value: str


class GroupBody(dap.DapBody, frozen=True):
    """A group of registers in the answer to `debuggerRegisters`."""

    name: str
    registers: tuple[RegisterBody, ...]


class RegistersBody(dap.DapBody, frozen=True):
    """The body of the answer to `debuggerRegisters`."""

    groups: tuple[GroupBody, ...] = ()


class GdbWatchpoints:
    """Sets hardware watchpoints of gdb's own, on the memory that an expression names."""

    slot_count = _SLOTS

    def __init__(self, adapter: AdapterAccess) -> None:
        self._inside = adapter

    async def set_watchpoint(self, breakpoint_: Breakpoint, frame: Frame | None) -> BoundBreakpoint:
        """Set a watchpoint."""
        spec = breakpoint_.spec
        asked = {
            "expression": spec.watch or "",
            "accessType": _ACCESS[spec.access],
            "condition": spec.condition,
            "frameId": frame.handle if frame is not None else None,
        }
        body: WatchBody = await self._inside.send_request(
            "debuggerWatch", asked, WatchBody, failure=ErrorCode.EVALUATION_FAILED
        )
        return BoundBreakpoint(
            verified=True, backend_id=body.id, address=body.address, again=body.again
        )

    async def remove_watchpoint(self, bound: BoundBreakpoint) -> None:
        """Remove a watchpoint."""
        await self._inside.send_request("debuggerUnwatch", {"id": bound.backend_id}, dap.DapBody)


class GdbRegisters:
    """Reads a frame's registers, in gdb's own groups."""

    def __init__(self, adapter: AdapterAccess) -> None:
        self._inside = adapter

    async def read_registers(self, frame: Frame) -> list[RegisterGroup]:
        """Return the groups of the frame's registers."""
        body: RegistersBody = await self._inside.send_request(
            "debuggerRegisters", {"frameId": frame.handle}, RegistersBody
        )
        return [
            RegisterGroup(
                one.name, tuple(Register(each.name, each.value) for each in one.registers)
            )
            for one in body.groups
        ]


class GdbJump:
    """Sets the program counter to a line of the same function."""

    is_stop_reported = False

    def __init__(self, adapter: AdapterAccess) -> None:
        self._inside = adapter

    async def jump_to(self, file: str, line: int, thread: int) -> None:
        """Move a thread's program counter."""
        asked = {"file": file, "line": line, "threadId": thread}
        await self._inside.send_request(
            "debuggerJump", asked, dap.DapBody, failure=ErrorCode.EVALUATION_FAILED
        )
