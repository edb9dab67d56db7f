"""Implements abilities behind delve: memory, registers, instructions and return values.

Facts are of delve 1.27.2 with Go 1.26 on x86-64.
"""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path

import msgspec

from debugger.backends.adapters.delve import delve_breakpoints, delve_values
from debugger.backends.dap import dap_abilities as generic
from debugger.backends.dap import dap_convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.debug_adapter import AdapterConnection
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, WatchAccess
from debugger.model.program import (
    EvaluationPurpose,
    Frame,
    Instruction,
    Register,
    RegisterGroup,
    ResumeKind,
    Stopped,
    Variable,
)

# delve's own limit of examinemem.
_READ_MAX = 1000  # bytes a command
_PAGE = 4096
_ROW = re.compile(r"^0x[0-9a-f]+:(?P<bytes>(?:\s+0x[0-9a-f]{2})+)\s*$", re.MULTILINE)
_WIDE = 8


class DelveDisassembly(generic.DapDisassembly):
    """Sends the disassemble request, also from the middle of an instruction on."""

    async def read_instructions(self, address: int, count: int) -> list[Instruction]:
        """Return `count` instructions, from the one on that contains the address."""
        try:
            return await super().read_instructions(address, count)
        except DebuggerError:
            # Delve knows the beginnings of instructions alone.
            # The instruction that ends before the next address is the one that contains this one.
            found = await self._instructions_before(address + 1, count)
            if not found:
                raise
            return found

    async def _instructions_before(self, address: int, count: int) -> list[Instruction]:
        """Return `count` instructions from the one on that ends before an address, if any."""
        arguments = {
            "memoryReference": hex(address),
            "instructionOffset": -1,
            "instructionCount": count,
        }
        try:
            body = await self._connection.send_request(
                "disassemble", arguments, dap.DisassembleBody
            )
        except DebuggerError:
            return []
        return dap_convert.to_instructions(body.instructions)


class DelveMemory:
    """Reads memory by `dlv examinemem`, and writes numbers through pointers.

    The protocol's requests reach only the strings and lists that were shown.
    """

    def __init__(self, connection: AdapterConnection) -> None:
        self._connection = connection

    async def read_memory(self, address: int, count: int) -> bytes:
        """Return the mapped bytes of a range, up to the first that is not mapped."""
        found = b""
        while len(found) < count:
            # delve fails for the whole range where any of it is not mapped.
            at = address + len(found)
            # Not over the end of a page: of what is partly mapped nothing would come.
            piece = await self._read_piece(
                at, min(count - len(found), _READ_MAX, _PAGE - at % _PAGE)
            )
            if not piece:
                break
            found += piece
        if not found and count:
            raise generic.unmapped_error(address)
        return found

    async def _read_piece(self, address: int, count: int) -> bytes:
        command = f"dlv examinemem -fmt hex -count {count} -size 1 {address:#x}"
        try:
            text = (await self._connection.evaluate(command, None, EvaluationPurpose.RAW)).value
        except DebuggerError as error:
            if error.code is not ErrorCode.EVALUATION_FAILED:
                raise
            return b""
        words = " ".join(match["bytes"] for match in _ROW.finditer(text)).split()
        return bytes(int(word, 16) for word in words)

    async def write_memory(self, address: int, data: bytes) -> None:
        """Write all of the data."""
        at = 0
        while at < len(data):
            # 8 bytes for each request, the rest one by one: each takes two round trips.
            size = _WIDE if len(data) - at >= _WIDE else 1
            number = int.from_bytes(data[at : at + size], "little")
            await self._set_number(f"(*uint{size * 8})({address + at:#x})", number)
            at += size

    async def _set_number(self, pointer: str, number: int) -> None:
        # The value behind a pointer is a variable without a name, which setVariable takes.
        arguments = ask.EvaluateArguments(pointer, "variables")
        body = await self._connection.send_request(
            "evaluate", arguments, dap.EvaluateBody, failure=ErrorCode.EVALUATION_FAILED
        )
        variable = ask.SetVariableArguments(body.variables_reference or 0, "", str(number))
        await self._connection.send_request(
            "setVariable", variable, dap.EvaluateBody, failure=ErrorCode.EVALUATION_FAILED
        )


class DelveRegisters(generic.DapRegisters):
    """Reads the scope of registers, which is shown during the request only.

    It would cost 4 ms at each stop.
    """

    async def read_registers(self, frame: Frame) -> list[RegisterGroup]:
        """Return the groups of the frame's registers, without the blanks before their names."""
        # The setting is for all stops of the session: it is reset in any case.
        await self._connection.run_raw("config showRegisters true", None)
        try:
            groups = await super().read_registers(frame)
        finally:
            await self._connection.run_raw("config showRegisters false", None)
        return [
            msgspec.structs.replace(
                group,
                registers=tuple(Register(one.name.strip(), one.value) for one in group.registers),
            )
            for group in groups
        ]


class DelveWatchpoints(generic.DapWatchpoints):
    """Sets data breakpoints without numbers: a stop does not say which one was hit."""

    def __init__(self, connection: AdapterConnection) -> None:
        super().__init__(connection)
        self._numbered: list[BoundBreakpoint] = []

    async def set_watchpoint(self, breakpoint_: Breakpoint, frame: Frame | None) -> BoundBreakpoint:
        """Set a watchpoint for writes, or for reads and writes."""
        if breakpoint_.spec.access is WatchAccess.READ:
            raise DebuggerError(
                ErrorCode.NOT_SUPPORTED,
                "delve cannot watch for reads alone",
                hint="debugger watch EXPR --access stops at reads and writes",
            )
        place = await self._find_memory(breakpoint_.spec.watch or "", frame)
        bound = await super().set_watchpoint(breakpoint_, frame)
        if place is not None:
            address, again = place
            bound = msgspec.structs.replace(bound, address=address, again=again)
        self._numbered.append(bound)
        return msgspec.structs.replace(bound, backend_id=None)

    async def _find_memory(self, expression: str, frame: Frame | None) -> tuple[str, str] | None:
        """Return the address of an expression, and an expression for it in any frame.

        A goroutine's stack may move, and what lies on it keeps its distance from the beginning.
        """
        pointer = f"&({expression})"
        texts = (pointer, f"uintptr({pointer})", "runtime.curg.stack.lo", "runtime.curg.stack.hi")
        found = []
        for text in texts if frame is not None else ():
            try:
                found.append(await delve_values.evaluate_plain(self._connection, text, frame))
            except DebuggerError as error:
                if error.code is not ErrorCode.EVALUATION_FAILED:
                    raise
                return None
        kind = found[0].type.removeprefix("*") if found else ""
        if not kind:
            return None
        address, low, high = (_number_in(one.value) for one in found[1:])
        if not address:
            return None
        is_on_stack = low <= address < high
        place = f"runtime.curg.stack.hi - {high - address:#x}" if is_on_stack else f"{address:#x}"
        return f"{address:#x}", f'*(*"{kind}")({place})'

    async def remove_watchpoint(self, bound: BoundBreakpoint) -> None:
        """Remove the newest watchpoint on the same expression."""
        # Ours have no number: of several on one expression any may go, as they are alike.
        alike = [one for one in self._numbered if one.again == bound.again]
        if alike:
            self._numbered.remove(alike[-1])
            await super().remove_watchpoint(alike[-1])


def _number_in(text: str) -> int:
    """Return the first hexadecimal number of a value's text; 0 without one."""
    found = _HEXADECIMAL.search(text)
    return int(found[0], 16) if found is not None else 0


class DelveInstructionSteps(generic.DapInstructionSteps):
    """Steps by the instruction; delve steps into calls even where `next` is requested."""

    async def step_instruction(self, how: ResumeKind, thread: int) -> None:
        """Step one instruction; a call is stepped into or, to step over it, refused."""
        if how is ResumeKind.NEXT and await self._is_at_call(thread):
            raise DebuggerError(
                ErrorCode.NOT_SUPPORTED,
                "delve cannot step over a call by the instruction, and this is one",
                hint="debugger step --instruction goes into it; debugger next steps over the line",
            )
        await super().step_instruction(how, thread)

    async def _is_at_call(self, thread: int) -> bool:
        frames = (await self._connection.read_stack(thread, levels=1)).frames
        if not frames or frames[0].address is None:
            return False
        found = await generic.DapDisassembly(self._connection).read_instructions(
            int(frames[0].address, 16), 1
        )
        return found[0].text.upper().startswith("CALL")


_HEXADECIMAL = re.compile(r"0x[0-9a-f]+")
# Go's internal ABI (cmd/compile/abi-internal.md): results are in these registers, in this order,
# and floating-point numbers in X0 to X14. A result that does not fit as a whole is on the stack.
_REGISTERS = ("_RAX", "_RBX", "_RCX", "_RDI", "_RSI", "_R8", "_R9", "_R10", "_R11")
_FLOATS_MAX = 15  # X0 to X14
_CALL = re.compile(r"CALL (?P<path>(?:[^\s()]*/)?)(?P<package>[\w-]+)\.(?P<name>.+)\(SB\)\Z")
_TYPE_ARGUMENTS = re.compile(r"\[.*\]")
_NUMBERS = frozenset({"int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16"})
_NUMBERS |= {"uint32", "uint64", "uintptr", "byte", "rune"}
_SPELLINGS = {"byte": "uint8", "rune": "int32"}
_FLOATS = {"float64": ("<d", 8), "float32": ("<f", 4)}
_ANY = frozenset({"any", "interface{}"})
_LOCAL_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?![\w.])")
# Words of a type that have no package.
_PREDECLARED = _NUMBERS | {"string", "bool", "error", "any", "map", "chan", "func", "interface"}
_PREDECLARED |= {"struct", "float64", "float32", "complex64", "complex128"}
_TEXT_MAX = 1024
_ELEMENTS_MAX = 64
_WORD = 8
_ITAB_TYPE = 8  # where an itab has the type (internal/abi.ITab)
_TYPE_NAME = 40  # where a type has its name (internal/abi.Type.Str)
_NAME_MAX = 1000
_EXTRA_STAR = 2  # of internal/abi.Type.TFlag: the name begins with a `*` that is not the type's
_TYPE_FLAGS = 20
_UNREAD = "unreadable"
_TYPE_BEFORE = re.compile(r"^[^\s\"]+ (?:[\w./]+ )?(?=[\[{])")  # `[1]struct main.P [...]`


class DelveReturnValues:
    """Reads the results of the call that a step has just left, in the middle of a line."""

    def __init__(self, connection: AdapterConnection) -> None:
        self._connection = connection

    async def returned_value(self, stop: Stopped, frame: Frame) -> Variable | None:
        """Return the value; None where there was no call, or one with results of other types."""
        del stop
        # The protocol has no request for return values. After a step out, a goroutine stands right
        # behind the call, in the middle of a line; the results are still in the registers. So:
        #
        # 1. Disassemble the instruction before and the one here. The one before has to be a CALL of
        #    a named function. The one here must not begin a line: at a line's beginning the program
        #    may have come another way, and the registers hold anything.
        # 2. Find the function's result types in the source of its package.
        # 3. Read the results one after the other by Go's internal ABI: each takes as many registers
        #    as its type has words (a string two, a slice three, an interface two), floating-point
        #    numbers have their own.
        # 4. The first type whose size is not known (a struct) ends the list: where the later ones
        #    are is not known either. They are named as not read.
        #
        # Registers are read as pseudo-variables (`_RAX`) of the innermost frame.
        if frame.index or frame.address is None or frame.file is None:
            return None
        try:
            call = await self._call_before(frame)
            types = await self._result_types(call, frame) if call is not None else None
            if call is None or not types:
                return None
            return await _ResultReader(self._connection, frame, call["package"]).read_results(types)
        except DebuggerError:
            return None

    async def _call_before(self, frame: Frame) -> re.Match[str] | None:
        arguments = {
            "memoryReference": frame.address,
            "instructionOffset": -1,
            "instructionCount": 2,
        }
        body = await self._connection.send_request("disassemble", arguments, dap.DisassembleBody)
        before, here = body.instructions[:2] if len(body.instructions) > 1 else (None, None)
        call = _CALL.match(before.instruction or "") if before is not None else None
        # A step to another line ends at its first instruction, which other ways may lead to.
        return None if here is None or here.location is not None else call

    async def _result_types(self, call: re.Match[str], frame: Frame) -> tuple[str, ...] | None:
        """Find the types in the source of the function that was called before."""
        name = _TYPE_ARGUMENTS.sub("", call["name"])
        for file in await self._package_files(call["package"], frame):
            found = delve_breakpoints.result_types(file, name)
            if found is not None:
                return found
        return None

    async def _package_files(self, package: str, frame: Frame) -> list[str]:
        assert frame.file is not None
        if frame.function.startswith(f"{package}."):
            return [str(one) for one in sorted(Path(frame.file).parent.glob("*.go"))]
        # A pattern, as one name of a package may be in several folders: the files are tried in
        # turn.
        command = f"dlv sources /{package}/[^/]*[.]go$"
        listed = await self._connection.evaluate(command, None, EvaluationPurpose.RAW)
        return listed.value.splitlines()


class _ResultReader:
    """Reads the results of one call in their order; each result uses up registers."""

    def __init__(self, connection: AdapterConnection, frame: Frame, package: str) -> None:
        self._connection = connection
        self._frame = frame
        self._package = package
        self._memory = DelveMemory(connection)
        self._used = 0
        self._floats_used = 0

    async def read_results(self, types: tuple[str, ...]) -> Variable | None:
        """Return the value; several results are one text, which names those that are not read."""
        values: list[Variable] = []
        for kind in types:
            value = await self._read_result(kind)
            # The order of the registers is fixed: a result of unknown size hides all later ones.
            if value is None:  # nor is it known where those behind it are
                break
            values.append(value)
        if not values or len(types) == 1:
            return values[0] if values else None
        missing = [f"({kind}: not read)" for kind in types[len(values) :]]
        shown = ", ".join([*(one.value for one in values), *missing])
        return Variable("", shown, f"({', '.join(types)})")

    async def _read_result(self, kind: str) -> Variable | None:
        """Read one result; None for a type whose registers are not known."""
        if kind in _FLOATS:
            return await self._read_float(kind)
        if kind in _NUMBERS or kind == "bool":
            return await self._read_integer(kind)
        if kind.startswith(("*", "map[", "chan ", "<-chan ", "func(")):
            return await self._read_pointer(kind)
        if kind.startswith("[]"):
            return await self._read_slice(kind)
        if kind == "error" or kind in _ANY:
            return await self._read_interface(kind)
        return await self._read_string() if kind == "string" else None

    async def _read_integer(self, kind: str) -> Variable:
        name = "uint8" if kind == "bool" else _SPELLINGS.get(kind, kind)
        value = await delve_values.plain_value(
            self._connection, f"{name}({self._next_register()})", self._frame
        )
        if kind == "bool":
            return Variable("", "true" if value.value == "1" else "false", kind)
        return value

    def _next_register(self) -> str:
        if self._used == len(_REGISTERS):
            raise _unknown_error("it has more results than registers")
        self._used += 1
        return _REGISTERS[self._used - 1]

    async def _read_word(self) -> int:
        value = await delve_values.plain_value(
            self._connection, f"uintptr({self._next_register()})", self._frame
        )
        return int(value.value, 16)

    async def _read_float(self, kind: str) -> Variable:
        if self._floats_used == _FLOATS_MAX:
            raise _unknown_error("it has more results than registers")
        name = f"_XMM{self._floats_used}"
        self._floats_used += 1
        shown = await delve_values.evaluate_plain(self._connection, name, self._frame)
        form, size = _FLOATS[kind]
        try:  # as its bytes are in memory
            content = bytes.fromhex(shown.value.strip('"'))
            (number,) = struct.unpack_from(form, content[:size])
        except (ValueError, struct.error) as error:
            raise _unknown_error("a register is not read") from error
        return Variable("", f"{number:.15g}" if size == _WORD else f"{number:.7g}", kind)

    async def _read_string(self) -> Variable:
        # A string is a pointer and a length.
        start, size = await self._read_word(), await self._read_word()
        shown = min(size, _TEXT_MAX)
        text = (
            (await self._memory.read_memory(start, shown)).decode(errors="replace") if size else ""
        )
        rest = f"...+{size - shown} more" if shown < size else ""
        return Variable("", json.dumps(text, ensure_ascii=False) + rest, "string")

    async def _read_slice(self, kind: str) -> Variable:
        start, size, _capacity = (
            await self._read_word(),
            await self._read_word(),
            await self._read_word(),
        )
        if not start:
            return Variable("", f"{kind} nil", kind)
        shown = min(size, _ELEMENTS_MAX)
        element = self._qualify_type(kind.removeprefix("[]"))
        # As an array of the first elements: delve reads and writes it in one request.
        values = await self._value_behind(f"[{shown}]{element}", start) if shown else "[]"
        rest = f"...+{size - shown} more" if shown < size else ""
        # Of a generic function the source names type parameters, which are no types.
        message = f"{values}{rest}" if values else "elements not read"
        return Variable("", f"{kind} len: {size}, {message}", kind)

    async def _read_pointer(self, kind: str) -> Variable:
        address = await self._read_word()
        if not address:
            return Variable("", f"{kind} nil", kind)
        shown = f"{address:#x}"
        if kind.startswith("*"):
            shown += " " + await self._value_behind(self._qualify_type(kind[1:]), address)
            return Variable("", shown.rstrip(), kind)
        return Variable("", f"{kind} at {shown}", kind)

    async def _read_interface(self, kind: str) -> Variable:
        # An interface is a table (`error`: an itab, which points to the type; `any`: the type
        # itself) and a pointer to the value.
        description, data = await self._read_word(), await self._read_word()
        if not description:
            return Variable("", f"{kind} nil", kind)
        if kind == "error":
            description = await self._read_number(description + _ITAB_TYPE, _WORD)
        name = await self._type_name(description)
        if name.startswith("*"):
            value = "*" + await self._value_behind(name[1:], data)
        else:
            value = await self._value_behind(name, data)
        return Variable("", f"{kind}({name}) {value}".rstrip(" *"), kind)

    async def _type_name(self, address: int) -> str:
        """Return the name of a type in Go's runtime."""
        types = await delve_values.plain_value(
            self._connection, "uintptr(runtime.firstmoduledata.types)", self._frame
        )
        # Names are offsets from the beginning of the module's types (internal/abi: NameOff).
        offset = await self._read_number(address + _TYPE_NAME, 4)
        content = await self._memory.read_memory(int(types.value, 16) + offset, _NAME_MAX)
        # internal/abi.Name: a byte of flags, the length as a varint, the bytes. The varint has one
        # byte, or two from 128 on; a longer name is cut.
        size, begin = content[1] & 0x7F, 2
        if content[1] & 0x80:
            size, begin = size | content[2] << 7, 3
        name = content[begin : begin + size].decode(errors="replace")
        flags = await self._read_number(address + _TYPE_FLAGS, 1)
        return name[1:] if flags & _EXTRA_STAR else name

    async def _read_number(self, address: int, size: int) -> int:
        return int.from_bytes(await self._memory.read_memory(address, size), "little")

    async def _value_behind(self, kind: str, address: int) -> str:
        """Return the value at an address, without its type; "" where it is not known."""
        expression = f"*(*{kind})({address:#x})"
        try:
            value = (
                await delve_values.evaluate_plain(self._connection, expression, self._frame)
            ).value
        except DebuggerError:
            return ""
        return "" if value.startswith(f"({_UNREAD}") else _TYPE_BEFORE.sub("", value)

    def _qualify_type(self, kind: str) -> str:
        """Add the function's package to the names of its own types, as delve writes them."""

        def named(match: re.Match[str]) -> str:
            return match[0] if match[0] in _PREDECLARED else f"{self._package}.{match[0]}"

        return _LOCAL_NAME.sub(named, kind)


def _unknown_error(why: str) -> DebuggerError:
    return DebuggerError(
        ErrorCode.EVALUATION_FAILED, why, hint="debugger next shows what got the results"
    )
