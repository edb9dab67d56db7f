"""Implements abilities by the protocol's optional requests, for adapters that advertise them.

An adapter's own implementation (`Profile.abilities`), by its command line for instance, goes first.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from debugger.backends import abilities
from debugger.backends.dap import convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.profile import Inside, Profile
from debugger.core.breakpoints import Access, Bound, Breakpoint
from debugger.core.model import (
    Frame,
    Instruction,
    LoadedModule,
    Register,
    RegisterGroup,
    Resume,
    ScopeKind,
    StepTarget,
)
from debugger.errors import Code, DebuggerError

_PAGE = 1 << 20
_MODULES_MAX = 1000
_SLOTS = 4


class Memory:
    """readMemory and writeMemory."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside

    async def read(self, address: int, count: int) -> bytes:
        """Return the mapped bytes of a range (DAP: ReadMemoryRequest)."""
        arguments = ask.ReadMemory(hex(address), count=min(count, _PAGE))
        body = await self._inside.request(
            "readMemory", arguments, dap.MemoryBody, failure=Code.EVALUATION_FAILED
        )
        try:
            data = base64.b64decode(body.data or "")
        except binascii.Error as error:
            raise DebuggerError(
                Code.PROTOCOL, f"the memory at {address:#x} is not base64: {error}"
            ) from error
        if not data and count:
            raise unmapped(address)
        return data[:count]

    async def write(self, address: int, data: bytes) -> None:
        """Write all of the data (DAP: WriteMemoryRequest)."""
        arguments = ask.WriteMemory(hex(address), base64.b64encode(data).decode())
        await self._inside.request(
            "writeMemory", arguments, dap.Body, failure=Code.EVALUATION_FAILED
        )


def unmapped(address: int) -> DebuggerError:
    """Build the error for memory that is not mapped."""
    return DebuggerError(
        Code.EVALUATION_FAILED,
        f"no memory is mapped at {address:#x}",
        hint="debugger print shows a pointer's value; debugger modules what is loaded",
    )


class Registers:
    """The scope of registers that an adapter may have."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside

    async def registers(self, frame: Frame) -> list[RegisterGroup]:
        """Return the groups of the frame's registers (DAP: Scope, presentationHint registers)."""
        scopes = await self._inside.scopes(frame)
        known = [one for one in scopes if one.kind is ScopeKind.REGISTERS]
        if not known:
            raise DebuggerError(
                Code.NOT_SUPPORTED, "the adapter shows no registers", hint="debugger locals"
            )
        groups: list[RegisterGroup] = []
        for scope in known:
            plain: list[Register] = []
            for one in await self._inside.fetch(scope.handle, start=None, count=None):
                if one.handle and not one.value.startswith("0x"):
                    inner = await self._inside.fetch(one.handle, start=None, count=None)
                    found = tuple(Register(each.name, each.value) for each in inner)
                    groups.append(RegisterGroup(one.name, found))
                else:
                    plain.append(Register(one.name, one.value))
            if plain:
                groups.append(RegisterGroup(scope.name, tuple(plain)))
        return groups


class Disassembly:
    """The disassemble request."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside

    async def instructions(self, address: int, count: int) -> list[Instruction]:
        """Return `count` instructions (DAP: DisassembleRequest)."""
        arguments = ask.Disassemble(hex(address), count)
        body = await self._inside.request(
            "disassemble", arguments, dap.DisassembleBody, failure=Code.EVALUATION_FAILED
        )
        found = convert.instructions(body.instructions)
        if not found:
            raise DebuggerError(
                Code.EVALUATION_FAILED, f"no code at {address:#x}", hint="debugger disassemble"
            )
        return found


class InstructionBreakpoints:
    """The setInstructionBreakpoints request."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside

    async def set_instruction_breakpoints(self, wanted: Sequence[Breakpoint]) -> list[Bound]:
        """Replace the breakpoints at addresses (DAP: SetInstructionBreakpointsRequest)."""
        arguments = ask.SetInstructionBreakpoints(
            tuple(
                ask.InstructionBreakpoint(
                    (one.at or one.spec).address or "0x0", condition=one.spec.condition
                )
                for one in wanted
            )
        )
        body = await self._inside.request(
            "setInstructionBreakpoints", arguments, dap.BreakpointsBody
        )
        return [
            convert.bound(answer, one)
            for one, answer in zip(wanted, body.breakpoints, strict=False)
        ]


class InstructionSteps:
    """Steps with the granularity of an instruction."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside

    async def step_instruction(self, how: Resume, thread: int) -> None:
        """Step into, or over calls (DAP: SteppingGranularity)."""
        command = "next" if how is Resume.NEXT else "stepIn"
        arguments = ask.Step(thread, granularity="instruction")
        if self._inside.steps is not None:
            await self._inside.steps.begin(how, thread, by_instruction=True)
        await self._inside.request(command, arguments, dap.Body)


class Modules:
    """The modules request."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside

    async def modules(self) -> list[LoadedModule]:
        """Return the loaded modules (DAP: ModulesRequest)."""
        arguments = ask.Modules(start_module=0, module_count=_MODULES_MAX)
        body = await self._inside.request("modules", arguments, dap.ModulesBody)
        return [convert.module(one) for one in body.modules[:_MODULES_MAX]]


class Jump:
    """The gotoTargets and goto requests."""

    is_reported = True

    def __init__(self, inside: Inside) -> None:
        self._inside = inside

    async def jump(self, file: str, line: int, thread: int) -> None:
        """Move a thread's program counter (DAP: GotoRequest)."""
        where = ask.GotoTargets(ask.SourceArgument(path=file), line)
        body = await self._inside.request(
            "gotoTargets", where, dap.TargetsBody, failure=Code.EVALUATION_FAILED
        )
        if not body.targets:
            raise DebuggerError(
                Code.EVALUATION_FAILED, f"no code to jump to at line {line}", hint="debugger source"
            )
        arguments = ask.Goto(thread, body.targets[0].id)
        await self._inside.request("goto", arguments, dap.Body, failure=Code.EVALUATION_FAILED)


class StepTargets:
    """The stepInTargets request."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside

    async def step_targets(self, frame: Frame) -> list[StepTarget]:
        """Return the calls that can be stepped into (DAP: StepInTargetsRequest)."""
        body = await self._inside.request(
            "stepInTargets", ask.OfFrame(frame.handle), dap.TargetsBody
        )
        return [StepTarget(one.id, one.label) for one in body.targets]

    async def step_into(self, target: StepTarget, thread: int) -> None:
        """Step into one of the calls (DAP: StepInArguments.targetId)."""
        if self._inside.steps is not None:
            await self._inside.steps.begin(Resume.STEP, thread)
        await self._inside.request("stepIn", ask.Step(thread, target_id=target.id), dap.Body)


class ThreadsAlone:
    """Requests with singleThread."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside

    async def resume_alone(self, how: Resume, thread: int) -> None:
        """Let only this thread run (DAP: ContinueArguments.singleThread)."""
        command = {Resume.NEXT: "next", Resume.STEP: "stepIn", Resume.FINISH: "stepOut"}
        arguments = ask.Step(thread, single_thread=True)
        await self._inside.request(command.get(how, "continue"), arguments, dap.Body)


class Watchpoints:
    """Data breakpoints; the request replaces the whole list."""

    slots = _SLOTS

    def __init__(self, inside: Inside) -> None:
        self._inside = inside
        self._set: list[tuple[ask.DataBreakpoint, int | None]] = []

    async def watch(self, wanted: Breakpoint, frame: Frame | None) -> Bound:
        """Set a data breakpoint (DAP: DataBreakpointInfoRequest, SetDataBreakpointsRequest)."""
        expression = wanted.spec.watch or ""
        about = await self._inside.request(
            "dataBreakpointInfo",
            ask.DataBreakpointInfo(expression, frame_id=frame.handle if frame else None),
            dap.DataBreakpointInfoBody,
            failure=Code.EVALUATION_FAILED,
        )
        if not about.data_id:
            raise DebuggerError(
                Code.EVALUATION_FAILED,
                f"cannot watch {expression}: {about.description}",
                hint="debugger locals",
            )
        access = _ACCESS[wanted.spec.access]
        one = ask.DataBreakpoint(about.data_id, access, wanted.spec.condition)
        bound = (await self._send([*(known for known, _ in self._set), one]))[-1]
        if not bound.verified:
            # The refused one is taken out of the adapter's list again.
            await self._send([known for known, _ in self._set])
            raise DebuggerError(
                Code.EVALUATION_FAILED, bound.message or f"cannot watch {expression}"
            )
        self._set.append((one, bound.id))
        return Bound(verified=True, backend_id=bound.id, again=expression)

    async def unwatch(self, bound: Bound) -> None:
        """Remove a data breakpoint."""
        self._set = [one for one in self._set if one[1] != bound.backend_id]
        await self._send([one for one, _ in self._set])

    async def _send(self, wanted: Sequence[ask.DataBreakpoint]) -> Sequence[dap.Breakpoint]:
        body = await self._inside.request(
            "setDataBreakpoints", ask.SetDataBreakpoints(tuple(wanted)), dap.BreakpointsBody
        )
        missing = [dap.Breakpoint()] * (len(wanted) - len(body.breakpoints))
        return [*body.breakpoints, *missing]


_ACCESS = {Access.WRITE: "write", Access.READ: "read", Access.ANY: "readWrite"}


# The request, or the capability, that an adapter has to advertise.
GENERIC: Mapping[type[Any], tuple[str, Callable[[Inside], Any]]] = {
    abilities.RawCommands: ("evaluate", lambda inside: inside),
    abilities.ReturnValues: ("evaluate", lambda inside: inside),
    abilities.Memory: ("readMemory", Memory),
    abilities.Disassembly: ("disassemble", Disassembly),
    abilities.InstructionBreakpoints: ("setInstructionBreakpoints", InstructionBreakpoints),
    abilities.InstructionSteps: ("stepping granularity", InstructionSteps),
    abilities.Modules: ("modules", Modules),
    abilities.Jump: ("goto", Jump),
    abilities.StepTargets: ("stepInTargets", StepTargets),
    abilities.ThreadsAlone: ("single threads", ThreadsAlone),
    abilities.Watchpoints: ("setDataBreakpoints", Watchpoints),
}


def find(kind: type[Any], profile: Profile, inside: Inside) -> Any | None:
    """Make an ability: the adapter's own, else by the protocol's request; None without either."""
    own = profile.abilities.get(kind)
    if own is not None:
        return own(inside)
    if kind in profile.lacks:
        return None
    need = GENERIC.get(kind)
    if need is not None and inside.can(need[0]):
        return need[1](inside)
    return None
