"""Implements the abilities to inspect: memory, registers, code, live and returned values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import capstone

from debugger.backends import abilities
from debugger.backends.inprocess.engine.engine_events import EngineWatch
from debugger.backends.inprocess.expressions import location_nodes
from debugger.backends.inprocess.expressions.expression_evaluation import MemoryPlace, RegisterPlace
from debugger.backends.inprocess.expressions.nodes import BASIC
from debugger.backends.inprocess.inspection.evaluation import EvaluationResult
from debugger.backends.inprocess.inspection.inspector import InspectionAccess
from debugger.backends.inprocess.inspection.memory_reading import bytes_at, run_reading
from debugger.backends.inprocess.inspection.thread_stacks import (
    FrameLevel,
    general_group,
    register_groups,
)
from debugger.backends.inprocess.inspection.watch_conditions import WatchedValue
from debugger.backends.inprocess.target_access import TargetAccess
from debugger.backends.inprocess.tracing.trace_targets import is_of_system
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, WatchAccess
from debugger.model.location import near_names
from debugger.model.program import (
    EvaluationPurpose,
    Frame,
    Instruction,
    LoadedModule,
    RegisterGroup,
    Stopped,
    StopReason,
    Variable,
)
from debugger.symbols.dwarf import unwinding
from debugger.symbols.dwarf.call_frames import RSP
from debugger.symbols.dwarf.debug_types import DebugType
from debugger.symbols.dwarf.return_values import value_of
from debugger.symbols.dwarf.typed_values import TypedValue, ValueMemory
from debugger.symbols.dwarf.typed_values import ValueMemory as Reads
from debugger.symbols.dwarf.unwinding import LoadedBinary


class InProcessCalls:
    """Calls functions of the program on a paused thread."""

    def __init__(self, inspection: InspectionAccess) -> None:
        self._access = inspection

    async def call_function(
        self, function: str, arguments: Sequence[str], frame: Frame
    ) -> Variable:
        """Call a function with the values of expressions; return what it returned."""
        written = f"{function}({', '.join(arguments)})"
        return await self._access.inspector.evaluate(written, frame, EvaluationPurpose.PRINT)


class InProcessReturnValues:
    """Reads the registers of results when a function has just been left."""

    def __init__(self, inspection: InspectionAccess) -> None:
        self._access = inspection

    async def returned_value(self, stop: Stopped, frame: Frame) -> Variable | None:
        """Return the value of the function that was just left; None where it is unknown."""
        thread = stop.thread
        # Only a step ends right behind a return, with the registers untouched.
        if thread is None or stop.reason is not StopReason.STEP or frame.index:
            return None
        inspector = self._access.inspector
        named = inspector.machine.registers_by_name(thread)
        callee = inspector.stacks.returned_frame(thread, named)
        kind = _return_type(callee) if callee is not None else None
        if kind is None:
            return None
        returned = kind

        def work(memory: ValueMemory) -> TypedValue | None:
            return value_of(returned, inspector.machine.registers_by_number(thread, memory))

        value = await run_reading(self._access, work)
        return (
            await inspector.result_variable("(return)", EvaluationResult(value))
            if value is not None
            else None
        )


def _return_type(callee: unwinding.UnwoundFrame) -> DebugType | None:
    if callee.module is None or callee.entry is None:
        return None
    image = callee.module.image
    entry = image.units.find_entry(callee.entry)
    if entry is None or entry.type is None:
        return None
    own = image.functions.functions_at(callee.lookup - callee.module.load_bias)
    # A compiler may leave a result out that no caller uses: its register then holds something
    # else.
    if not all(image.results.are_kept(one) for one in own if one.entry == callee.entry):
        return None
    return image.scopes.type_of(entry.type)


_LONGEST = 15  # bytes of an instruction
_EXECUTABLE = 1


class InProcessDisassembly:
    """Decodes machine code as it was before our breakpoints."""

    def __init__(self, target: TargetAccess) -> None:
        self._access = target
        self._capstone = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
        # An address within an instruction is asked for its line, and its bytes may be no code.
        self._capstone.skipdata = True

    async def read_instructions(self, address: int, count: int) -> list[Instruction]:
        """Return so many instructions from an address on."""
        module = self._access.modules.module_at(address)
        # As many bytes as the longest instructions would take; code behind the end is not
        # returned.
        code = b""
        if module is None or _is_code(module, address):
            code = await bytes_at(self._access.engine, address, count * _LONGEST)
        found = []
        for at, size, mnemonic, operands in self._capstone.disasm_lite(code, address, count):
            start = at - address
            text = f"{mnemonic} {operands}".strip()
            found.append(self._with_location(at, text, code[start : start + size].hex()))
        if not found:
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED, f"no code at {address:#x}", hint="debugger disassemble"
            )
        return found

    def _with_location(self, address: int, text: str, code: str) -> Instruction:
        module = self._access.modules.module_at(address)
        if module is None:
            return Instruction(address, text, code)
        own = address - module.load_bias
        functions = module.image.functions.functions_at(own) if module.image.has_debug else ()
        function = functions[-1].name if functions else self._access.modules.symbol_name(address)
        place = module.image.lines.line_at(own) if module.image.has_debug else None
        if place is None or not place.line:
            return Instruction(address, text, code, function)
        return Instruction(address, text, code, function, place.file, place.line)


def _is_code(module: unwinding.LoadedBinary, address: int) -> bool:
    own = address - module.load_bias
    return any(
        one.flags & _EXECUTABLE and one.address <= own < one.address + one.size
        for one in module.image.binary.segments
    )


class InProcessJump:
    """Sets the program counter of a thread to the beginning of a line of its function."""

    is_stop_reported = False

    def __init__(self, inspection: InspectionAccess) -> None:
        self._access = inspection

    async def jump_to(self, file: str, line: int, thread: int) -> None:
        """Set a thread's program counter; nothing runs."""
        inspector = self._access.inspector
        found, _ = await inspector.stacks.unwind_thread(thread, 1)
        frame = next((one for one in found if not one.is_inlined), None)
        module = frame.module if frame is not None else None
        if frame is None or module is None or frame.entry is None:
            raise _no_code_error(f"no debug information is there where thread {thread} is")
        functions = module.image.functions.functions_at(frame.lookup - module.load_bias)
        ranges = functions[-1].ranges if functions else ()
        known = module.image.lines.find_line(file, line)
        # Within the same function alone: another one's frame would be built on this one's.
        own = [
            one.address
            for one in known.locations
            if known.line == line and any(low <= one.address < high for low, high in ranges)
        ]
        if not own:
            has_code = known.locations and known.line == line
            why = f"is not in {frame.function}, where the thread is"
            raise _no_code_error(f"{Path(file).name}:{line} {why if has_code else 'has no code'}")
        target = own[0] + module.load_bias
        await inspector.machine.set_register(thread, "rip", target.to_bytes(8, "little"))
        inspector.new_stop()


def _no_code_error(why: str) -> DebuggerError:
    return DebuggerError(
        ErrorCode.EVALUATION_FAILED,
        why,
        hint="debugger source shows the function; debugger jump LINE",
    )


# Large reads go in parts of 1 MiB, each in one message.
_PART = 1 << 20


class InProcessMemory:
    """Reads memory as the program wrote it, without our breakpoints."""

    def __init__(self, target: TargetAccess) -> None:
        self._access = target

    async def read_memory(self, address: int, count: int) -> bytes:
        """Return what is mapped of so many bytes, from the first on."""
        found = b""
        while len(found) < count:
            size = min(_PART, count - len(found))
            part = await bytes_at(self._access.engine, address + len(found), size)
            found += part
            if len(part) < size:
                break
        if not found and count:
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                f"no memory is mapped at {address:#x}",
                hint="debugger print shows a pointer's value; debugger modules what is loaded",
            )
        return found

    async def write_memory(self, address: int, data: bytes) -> None:
        """Write all of it."""
        await self._access.engine.write_memory(address, data)


class InProcessRegisters:
    """Reads the registers of a frame: all of the innermost, of others the saved ones."""

    def __init__(self, inspection: InspectionAccess) -> None:
        self._access = inspection

    async def read_registers(self, frame: Frame) -> list[RegisterGroup]:
        """Return all groups of registers."""
        level = await self._access.inspector.frame_level(frame)
        # The machine's registers are the innermost frame's: of others only those that the
        # unwinder knows.
        if level.frame.index:
            return [general_group(level.known_registers)]
        paused = self._access.paused_thread(level.thread)
        named = self._access.inspector.machine.registers_by_name(level.thread)

        def work(memory: Reads) -> list[RegisterGroup]:
            return register_groups(named, paused, memory)

        return await run_reading(self._access, work)


class InProcessModules:
    """Lists the program and its libraries."""

    def __init__(self, target: TargetAccess) -> None:
        self._access = target

    async def list_modules(self) -> list[LoadedModule]:
        """Return what is loaded, the program first."""
        loaded = await self._access.engine.list_modules()
        return [
            LoadedModule(
                one.name,
                one.path,
                hex(one.base),
                symbols=_symbol_note(self._access.modules.module_at(one.base)),
            )
            for one in loaded
            if Path(one.path).is_file()
        ]


def _symbol_note(module: LoadedBinary | None) -> str | None:
    if module is None:
        return None
    if module.image.has_debug:
        return "debug information"
    return "symbols only" if next(module.image.symbols.function_names, None) is not None else "none"


_ADDRESS = re.compile(r"0[xX][0-9a-fA-F]{1,16}\Z")
_NAME = re.compile(r"[A-Za-z_][\w:]*")
_HINT = "debugger pause stops it, for locals; debugger read 0xADDR --type i32"
KINDS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64", "pointer", "char*")
_POINTERS = {"pointer": "void *", "char*": "char *", "string": "char *"}


class InProcessLiveValues:
    """Reads and writes memory of a program that runs, or has paused."""

    def __init__(self, inspection: InspectionAccess) -> None:
        self._access = inspection

    async def read_live_value(self, expression: str, *, kind: str | None = None) -> Variable:
        """Evaluate an expression over globals, or an address with a type."""
        inspector = self._access.inspector
        try:
            result = await inspector.evaluating.evaluate_result(
                self._typed_expression(expression, kind), None
            )
        except DebuggerError as error:
            raise self._explain_local(expression, error, "read") from error
        return await inspector.result_variable(expression, result)

    async def write_live_value(
        self, target: str, value: str, *, kind: str | None = None
    ) -> tuple[Variable, Variable]:
        """Write a global, or an address with a type; return the old and the new value."""
        inspector = self._access.inspector
        try:
            before, after = await inspector.assign_global(
                self._typed_expression(target, kind), value
            )
        except DebuggerError as error:
            raise self._explain_local(target, error, "write") from error
        return _rename_variable(before, target), _rename_variable(after, target)

    def _typed_expression(self, expression: str, kind: str | None) -> str:
        text = expression.strip()
        is_address = _ADDRESS.match(text) is not None
        if kind is None:
            if is_address:
                raise DebuggerError(
                    ErrorCode.USAGE,
                    "an address is read as a type",
                    hint=f"--type {' | '.join(KINDS)}",
                )
            return text
        known = _POINTERS.get(kind, kind)
        if kind not in _POINTERS and known not in BASIC:
            raise DebuggerError(
                ErrorCode.USAGE, f"no type {kind!r} is read so", hint=f"--type {' | '.join(KINDS)}"
            )
        # Typed by a pointer cast: a global of any type may be read as any other.
        place = text if is_address else f"&({text})"
        return f"*({known} *){place}"

    def _explain_local(self, expression: str, error: DebuggerError, what: str) -> DebuggerError:
        """Explain that a name is a function's local, which has no place in a running program."""
        if error.code is not ErrorCode.EVALUATION_FAILED or "in scope here" not in error.message:
            return error
        match = _NAME.search(expression)
        name = match[0] if match else expression
        if self._is_local(name):
            if what == "write":
                text = "Local variable writes require a paused breakpoint."
            else:
                text = f"{name} is a local variable: it is read at a breakpoint"
            hint = "debugger break LOC; debugger set NAME VALUE"
            return DebuggerError(ErrorCode.WRONG_STATE, text, hint=hint)
        why = self._why_absent(name)
        if why:
            return DebuggerError(ErrorCode.EVALUATION_FAILED, f"{name} is {why}", hint=_HINT)
        near = near_names(name, self._global_names())
        also = f"; near: {', '.join(near)}" if near else ""
        missing = next(
            filter(None, (one.image.why_incomplete() for one in self._own_modules())), ""
        )
        also += f"; {missing}" if missing else ""
        text = f"no global {name!r} in the program{also}"
        return DebuggerError(ErrorCode.EVALUATION_FAILED, text, hint=_HINT)

    def _why_absent(self, name: str) -> str:
        """Say why a declared global has no place while the program runs."""
        for module in self._own_modules():
            known = module.image.scopes.global_named(name)
            if known is not None:
                return known.why or location_nodes.THREAD_LOCAL
        return ""

    def _global_names(self) -> list[str]:
        found: list[str] = []
        for module in self._own_modules():
            found += module.image.scopes.global_names
        return found

    def _is_local(self, name: str) -> bool:
        return any(module.image.scopes.is_local(name) for module in self._own_modules())

    def _own_modules(self) -> Iterator[LoadedBinary]:
        modules = self._access.modules
        return (one for one in modules if one.image.has_debug and not is_of_system(one))


def _rename_variable(one: Variable, name: str) -> Variable:
    return Variable(name, one.value, one.type, one.handle, one.indexed, one.named, one.expression)


_SIZES = (1, 2, 4, 8)
_RED_ZONE = 128  # below the stack pointer (System V ABI, 3.2.2)
# The processor has none for reading alone.
_ACCESS = {WatchAccess.WRITE: "w", WatchAccess.READ: "r", WatchAccess.ANY: "rw"}


class InProcessWatchpoints:
    """Sets hardware watchpoints in all threads, with negative numbers (breakpoints: positive)."""

    slot_count = 4

    def __init__(self, inspection: InspectionAccess) -> None:
        self._access = inspection

    async def set_watchpoint(self, breakpoint_: Breakpoint, frame: Frame | None) -> BoundBreakpoint:
        """Set a watchpoint on the memory of an expression's value."""
        inspector = self._access.inspector
        expression = (breakpoint_.spec.watch or "").strip()
        level = await inspector.frame_level(frame) if frame is not None else None
        result = await inspector.evaluating.evaluate_result(expression, level)
        place = result.evaluated.place if result.evaluated is not None else None
        address = result.value.address
        # A debug register watches addresses; a variable in a register has none.
        if isinstance(place, RegisterPlace):
            raise _not_watched_error(
                f"{expression} is in register {place.name}: memory alone can be watched"
            )
        if address is None:
            why = result.value.problem or "a value without a place"
            raise _not_watched_error(f"{expression} cannot be watched: it is {why}")
        size = result.value.type.size
        # A bit field: the byte that its first bit is in.
        if isinstance(place, MemoryPlace) and place.bits is not None:
            address, size = address + place.bits[0] // 8, 1
        if size not in _SIZES:
            raise _not_watched_error(
                f"{expression} has {size} bytes, and a watchpoint 1, 2, 4 or 8"
            )
        # The processor masks the lowest bits of the address (Intel SDM 3B, 17.2.5): it would
        # watch another one.
        if address % size:
            raise _not_watched_error(
                f"{expression} at {address:#x} is not aligned to its {size} bytes"
            )
        # Negative, so that a watch's name is never a breakpoint's number.
        number = -breakpoint_.id
        order = EngineWatch(
            id=str(number),
            address=address,
            size=size,
            access=_ACCESS[breakpoint_.spec.access],
            # The processor traps after each write, also of the same value: only a new one is
            # a change. For reads it knows no mode of their own.
            changes=breakpoint_.spec.access is WatchAccess.WRITE,
        )
        # The same expression may mean another variable in another frame, or run.
        again = f"*({result.value.type.name} *){address:#x}"
        bound = BoundBreakpoint(verified=True, backend_id=number, address=hex(address), again=again)
        home = level if level is not None and _is_in_frame(address, level) else None
        await inspector.watches.add_watch(
            number, WatchedValue(order, breakpoint_.spec, bound, result, home)
        )
        return bound

    async def remove_watchpoint(self, bound: BoundBreakpoint) -> None:
        """Remove a watchpoint."""
        if bound.backend_id is not None:
            await self._access.inspector.watches.remove_watch(bound.backend_id)


def _is_in_frame(address: int, level: FrameLevel) -> bool:
    """Return whether an address is in a frame's part of the stack."""
    frame = level.frame
    return frame.cfa is not None and frame.registers.get(RSP, 0) - _RED_ZONE <= address < frame.cfa


def _not_watched_error(why: str) -> DebuggerError:
    return DebuggerError(
        ErrorCode.EVALUATION_FAILED,
        why,
        hint="watch one of its members or elements; debugger print shows them",
    )


ABILITIES: Mapping[type[Any], Callable[[Any], Any]] = {
    abilities.CallAbility: InProcessCalls,
    abilities.DisassemblyAbility: InProcessDisassembly,
    abilities.JumpAbility: InProcessJump,
    abilities.LiveValueAbility: InProcessLiveValues,
    abilities.MemoryAbility: InProcessMemory,
    abilities.ModuleAbility: InProcessModules,
    abilities.RegisterAbility: InProcessRegisters,
    abilities.ReturnValueAbility: InProcessReturnValues,
    abilities.WatchpointAbility: InProcessWatchpoints,
}
