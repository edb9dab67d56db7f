"""Adds abilities to gdb by requests of our own: watch, jump, show registers."""

from __future__ import annotations

from debugger.backends.dap import messages as dap
from debugger.backends.dap.profile import Inside
from debugger.core.breakpoints import Access, Bound, Breakpoint
from debugger.core.model import Frame, Register, RegisterGroup
from debugger.errors import Code

_SLOTS = 4  # x86-64's debug registers
_ACCESS = {Access.WRITE: "write", Access.READ: "read", Access.ANY: "readWrite"}


class WatchBody(dap.Body, frozen=True):
    """The answer to `debuggerWatch`."""

    id: int
    address: str
    again: str


class RegisterBody(dap.Body, frozen=True):
    """A register."""

    name: str
    value: str


class GroupBody(dap.Body, frozen=True):
    """A group of registers."""

    name: str
    registers: tuple[RegisterBody, ...]


class RegistersBody(dap.Body, frozen=True):
    """The answer to `debuggerRegisters`."""

    groups: tuple[GroupBody, ...] = ()


class Watchpoints:
    """Hardware watchpoints of gdb's own, on the memory that an expression names."""

    slots = _SLOTS

    def __init__(self, inside: Inside) -> None:
        self._inside = inside

    async def watch(self, wanted: Breakpoint, frame: Frame | None) -> Bound:
        """Set one."""
        spec = wanted.spec
        asked = {
            "expression": spec.watch or "",
            "accessType": _ACCESS[spec.access],
            "condition": spec.condition,
            "frameId": frame.handle if frame is not None else None,
        }
        body: WatchBody = await self._inside.request(
            "debuggerWatch", asked, WatchBody, failure=Code.EVALUATION_FAILED
        )
        return Bound(verified=True, backend_id=body.id, address=body.address, again=body.again)

    async def unwatch(self, bound: Bound) -> None:
        """Remove one."""
        await self._inside.request("debuggerUnwatch", {"id": bound.backend_id}, dap.Body)


class Registers:
    """A frame's registers, by gdb's own groups."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside

    async def registers(self, frame: Frame) -> list[RegisterGroup]:
        """Return the groups of the frame's registers."""
        body: RegistersBody = await self._inside.request(
            "debuggerRegisters", {"frameId": frame.handle}, RegistersBody
        )
        return [
            RegisterGroup(
                one.name, tuple(Register(each.name, each.value) for each in one.registers)
            )
            for one in body.groups
        ]


class Jump:
    """The program counter, set to a line of the same function."""

    is_reported = False

    def __init__(self, inside: Inside) -> None:
        self._inside = inside

    async def jump(self, file: str, line: int, thread: int) -> None:
        """Move a thread's program counter."""
        asked = {"file": file, "line": line, "threadId": thread}
        await self._inside.request("debuggerJump", asked, dap.Body, failure=Code.EVALUATION_FAILED)
