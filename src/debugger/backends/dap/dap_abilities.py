"""Implements abilities by the protocol's optional requests, for adapters that advertise them.

An adapter's own implementation (`DebugAdapter.abilities`), by its command line for instance, goes
first.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from debugger.backends import abilities
from debugger.backends.dap import dap_convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.debug_adapter import AdapterConnection, DebugAdapter
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, WatchAccess
from debugger.model.program import (
    Frame,
    Instruction,
    LoadedModule,
    Register,
    RegisterGroup,
    ResumeKind,
    ScopeKind,
    StepTarget,
)

# Bytes of one readMemory: base64 of 1 MiB is well below the limit of a message.
_PAGE = 1 << 20
_SOURCES_MAX = 5000
_MODULES_MAX = 1000
# The debug registers DR0 to DR3 of x86-64.
_SLOTS = 4


class DapMemory:
    """Reads and writes memory by readMemory and writeMemory."""

    def __init__(self, connection: AdapterConnection) -> None:
        self._connection = connection

    async def read_memory(self, address: int, count: int) -> bytes:
        """Return the mapped bytes of a range (DAP: ReadMemoryRequest)."""
        # The caller reads on where less has come than it requested.
        arguments = ask.ReadMemoryArguments(hex(address), count=min(count, _PAGE))
        body = await self._connection.send_request(
            "readMemory", arguments, dap.MemoryBody, failure=ErrorCode.EVALUATION_FAILED
        )
        try:
            data = base64.b64decode(body.data or "")
        except binascii.Error as error:
            raise DebuggerError(
                ErrorCode.PROTOCOL, f"the memory at {address:#x} is not base64: {error}"
            ) from error
        # An empty answer is a success in the protocol (DAP: ReadMemoryResponse).
        if not data and count:
            raise unmapped_error(address)
        return data[:count]

    async def write_memory(self, address: int, data: bytes) -> None:
        """Write all of the data (DAP: WriteMemoryRequest)."""
        arguments = ask.WriteMemoryArguments(hex(address), base64.b64encode(data).decode())
        await self._connection.send_request(
            "writeMemory", arguments, dap.DapBody, failure=ErrorCode.EVALUATION_FAILED
        )


def unmapped_error(address: int) -> DebuggerError:
    """Build the error for memory that is not mapped."""
    return DebuggerError(
        ErrorCode.EVALUATION_FAILED,
        f"no memory is mapped at {address:#x}",
        hint="debugger print shows a pointer's value; debugger modules what is loaded",
    )


class DapRegisters:
    """Reads registers from the scope that an adapter may have for them."""

    def __init__(self, connection: AdapterConnection) -> None:
        self._connection = connection

    async def read_registers(self, frame: Frame) -> list[RegisterGroup]:
        """Return the groups of the frame's registers (DAP: Scope, presentationHint registers)."""
        scopes = await self._connection.read_scopes(frame)
        # The protocol has no request for registers, only a hint that a scope contains them.
        register_scopes = [one for one in scopes if one.kind is ScopeKind.REGISTERS]
        if not register_scopes:
            raise DebuggerError(
                ErrorCode.NOT_SUPPORTED, "the adapter shows no registers", hint="debugger locals"
            )
        groups: list[RegisterGroup] = []
        for scope in register_scopes:
            plain: list[Register] = []
            for one in await self._connection.fetch_variables(scope.handle, start=None, count=None):
                # Some scopes list groups, whose own values are no numbers; others the registers
                # themselves.
                if one.handle and not one.value.startswith("0x"):
                    inner = await self._connection.fetch_variables(
                        one.handle, start=None, count=None
                    )
                    group_registers = tuple(Register(each.name, each.value) for each in inner)
                    groups.append(RegisterGroup(one.name, group_registers))
                else:
                    plain.append(Register(one.name, one.value))
            if plain:
                groups.append(RegisterGroup(scope.name, tuple(plain)))
        return groups


class DapDisassembly:
    """Reads machine code by the disassemble request."""

    def __init__(self, connection: AdapterConnection) -> None:
        self._connection = connection

    async def read_instructions(self, address: int, count: int) -> list[Instruction]:
        """Return `count` instructions (DAP: DisassembleRequest)."""
        arguments = ask.DisassembleArguments(hex(address), count)
        body = await self._connection.send_request(
            "disassemble", arguments, dap.DisassembleBody, failure=ErrorCode.EVALUATION_FAILED
        )
        instructions = dap_convert.to_instructions(body.instructions)
        if not instructions:
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED, f"no code at {address:#x}", hint="debugger disassemble"
            )
        return instructions


class DapInstructionBreakpoints:
    """Sets breakpoints at addresses by setInstructionBreakpoints."""

    def __init__(self, connection: AdapterConnection) -> None:
        self._connection = connection

    async def set_instruction_breakpoints(
        self, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        """Replace the breakpoints at addresses (DAP: SetInstructionBreakpointsRequest)."""
        arguments = ask.SetInstructionBreakpointsArguments(
            tuple(
                ask.InstructionBreakpointArgument(
                    (one.at or one.spec).address or "0x0", condition=one.spec.condition
                )
                for one in breakpoints
            )
        )
        body = await self._connection.send_request(
            "setInstructionBreakpoints", arguments, dap.BreakpointsBody
        )
        return [
            dap_convert.to_bound(answer, one)
            for one, answer in zip(breakpoints, body.breakpoints, strict=False)
        ]


class DapInstructionSteps:
    """Steps with the granularity of an instruction."""

    def __init__(self, connection: AdapterConnection) -> None:
        self._connection = connection

    async def step_instruction(self, how: ResumeKind, thread: int) -> None:
        """Step into, or over calls (DAP: SteppingGranularity)."""
        command = "next" if how is ResumeKind.NEXT else "stepIn"
        arguments = ask.StepArguments(thread, granularity="instruction")
        if self._connection.step_keeper is not None:
            # Each way to begin a step has to go through the step keeper: LLDB would lose the step.
            await self._connection.step_keeper.begin_step(how, thread, by_instruction=True)
        await self._connection.send_request(command, arguments, dap.DapBody)


class DapModules:
    """Lists modules by the modules request."""

    def __init__(self, connection: AdapterConnection) -> None:
        self._connection = connection

    async def list_modules(self) -> list[LoadedModule]:
        """Return the loaded modules (DAP: ModulesRequest)."""
        arguments = ask.ModulesArguments(start_module=0, module_count=_MODULES_MAX)
        body = await self._connection.send_request("modules", arguments, dap.ModulesBody)
        return [dap_convert.to_module(one) for one in body.modules[:_MODULES_MAX]]


class DapLoadedSources:
    """Lists sources by the loadedSources request."""

    def __init__(self, connection: AdapterConnection) -> None:
        self._connection = connection

    async def list_loaded_sources(self) -> list[str]:
        """Return the paths of the loaded sources (DAP: LoadedSourcesRequest)."""
        body = await self._connection.send_request(
            "loadedSources", ask.NoArguments(), dap.LoadedSourcesBody
        )
        return [one.path for one in body.sources[:_SOURCES_MAX] if one.path]


class DapJump:
    """Moves the program counter by gotoTargets and goto."""

    is_stop_reported = True

    def __init__(self, connection: AdapterConnection) -> None:
        self._connection = connection

    async def jump_to(self, file: str, line: int, thread: int) -> None:
        """Move a thread's program counter (DAP: GotoRequest)."""
        # Two requests: targets have numbers of the adapter's, valid for this stop only.
        where = ask.GotoTargetsArguments(ask.SourceReferenceArgument(path=file), line)
        body = await self._connection.send_request(
            "gotoTargets", where, dap.TargetsBody, failure=ErrorCode.EVALUATION_FAILED
        )
        if not body.targets:
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                f"no code to jump to at line {line}",
                hint="debugger source",
            )
        arguments = ask.GotoArguments(thread, body.targets[0].id)
        await self._connection.send_request(
            "goto", arguments, dap.DapBody, failure=ErrorCode.EVALUATION_FAILED
        )


class DapStepTargets:
    """Steps into a chosen call by stepInTargets."""

    def __init__(self, connection: AdapterConnection) -> None:
        self._connection = connection

    async def list_step_targets(self, frame: Frame) -> list[StepTarget]:
        """Return the calls that can be stepped into (DAP: StepInTargetsRequest)."""
        body = await self._connection.send_request(
            "stepInTargets", ask.FrameArguments(frame.handle), dap.TargetsBody
        )
        return [StepTarget(one.id, one.label) for one in body.targets]

    async def step_into_target(self, target: StepTarget, thread: int) -> None:
        """Step into one of the calls (DAP: StepInArguments.targetId)."""
        if self._connection.step_keeper is not None:
            await self._connection.step_keeper.begin_step(ResumeKind.STEP, thread)
        await self._connection.send_request(
            "stepIn", ask.StepArguments(thread, target_id=target.id), dap.DapBody
        )


class DapSingleThread:
    """Resumes one thread by requests with singleThread."""

    def __init__(self, connection: AdapterConnection) -> None:
        self._connection = connection

    async def resume_single_thread(self, how: ResumeKind, thread: int) -> None:
        """Let only this thread run (DAP: ContinueArguments.singleThread)."""
        # singleThread is an argument of these three and of continue, and ignored by adapters
        # without the capability: `GENERIC` asks for it first.
        command = {ResumeKind.NEXT: "next", ResumeKind.STEP: "stepIn", ResumeKind.FINISH: "stepOut"}
        arguments = ask.StepArguments(thread, single_thread=True)
        await self._connection.send_request(command.get(how, "continue"), arguments, dap.DapBody)


class DapWatchpoints:
    """Sets data breakpoints; the request replaces the whole list."""

    slot_count: int | None = _SLOTS

    def __init__(self, connection: AdapterConnection) -> None:
        self._connection = connection
        self._set: list[tuple[ask.DataBreakpointArgument, int | None]] = []

    async def set_watchpoint(self, breakpoint_: Breakpoint, frame: Frame | None) -> BoundBreakpoint:
        """Set a data breakpoint (DAP: DataBreakpointInfoRequest, SetDataBreakpointsRequest)."""
        expression = breakpoint_.spec.watch or ""
        # The adapter turns the expression into a dataId, which is opaque (DAP:
        # DataBreakpointInfoResponse).
        info = await self._connection.send_request(
            "dataBreakpointInfo",
            ask.DataBreakpointInfoArguments(expression, frame_id=frame.handle if frame else None),
            dap.DataBreakpointInfoBody,
            failure=ErrorCode.EVALUATION_FAILED,
        )
        if not info.data_id:
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                f"cannot watch {expression}: {info.description}",
                hint="debugger locals",
            )
        access = _ACCESS[breakpoint_.spec.access]
        one = ask.DataBreakpointArgument(info.data_id, access, breakpoint_.spec.condition)
        # The request replaces the whole list; the new one comes last, and so does its answer.
        bound = (await self._send_watchpoints([*(known for known, _ in self._set), one]))[-1]
        if not bound.verified:
            # The refused one is taken out of the adapter's list again.
            # Otherwise each later list would contain it, and be refused as well.
            await self._send_watchpoints([known for known, _ in self._set])
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED, bound.message or f"cannot watch {expression}"
            )
        self._set.append((one, bound.id))
        return BoundBreakpoint(verified=True, backend_id=bound.id, again=expression)

    async def remove_watchpoint(self, bound: BoundBreakpoint) -> None:
        """Remove a data breakpoint."""
        self._set = [one for one in self._set if one[1] != bound.backend_id]
        await self._send_watchpoints([one for one, _ in self._set])

    async def _send_watchpoints(
        self, requested: Sequence[ask.DataBreakpointArgument]
    ) -> Sequence[dap.DapBreakpoint]:
        body = await self._connection.send_request(
            "setDataBreakpoints",
            ask.SetDataBreakpointsArguments(tuple(requested)),
            dap.BreakpointsBody,
        )
        missing = [dap.DapBreakpoint()] * (len(requested) - len(body.breakpoints))
        return [*body.breakpoints, *missing]


_ACCESS = {WatchAccess.WRITE: "write", WatchAccess.READ: "read", WatchAccess.ANY: "readWrite"}


# The request, or the capability, that an adapter has to advertise.
GENERIC: Mapping[type[Any], tuple[str, Callable[[AdapterConnection], Any]]] = {
    abilities.RawCommandAbility: ("evaluate", lambda access: access),
    abilities.ReturnValueAbility: ("evaluate", lambda access: access),
    abilities.MemoryAbility: ("readMemory", DapMemory),
    abilities.DisassemblyAbility: ("disassemble", DapDisassembly),
    abilities.InstructionBreakpointAbility: (
        "setInstructionBreakpoints",
        DapInstructionBreakpoints,
    ),
    abilities.InstructionStepAbility: ("stepping granularity", DapInstructionSteps),
    abilities.ModuleAbility: ("modules", DapModules),
    abilities.JumpAbility: ("goto", DapJump),
    abilities.StepTargetAbility: ("stepInTargets", DapStepTargets),
    abilities.SingleThreadAbility: ("single threads", DapSingleThread),
    abilities.WatchpointAbility: ("setDataBreakpoints", DapWatchpoints),
}


def find_ability(
    kind: type[Any], adapter: DebugAdapter, connection: AdapterConnection
) -> Any | None:
    """Make an ability: the adapter's own, else by the protocol's request; None without either."""
    own = adapter.own_abilities.get(kind)
    # The adapter's own way goes first, even where it advertises the request: lldb-dap's own ways
    # exist because its requests crash or say too little.
    if own is not None:
        return own(connection)
    if kind in adapter.broken_abilities:
        return None
    # An ability that an adapter advertises but that fails is in `broken_abilities`.
    need = GENERIC.get(kind)
    if need is not None and connection.supports_request(need[0]):
        return need[1](connection)
    return None
