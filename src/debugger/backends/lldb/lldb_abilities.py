"""Reads memory, registers and machine code by LLDB's command line.

Facts are of LLDB 19.1.7.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from debugger.backends import lldb_text
from debugger.backends.lldb.lldb_common import LldbAccess
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint
from debugger.model.program import Frame, RegisterGroup, ResumeKind

_READ = 8192  # bytes a command: each takes 5 characters of an answer, which may have 64 Ki
# Bytes of one `memory write`: each is a word of the command line.
_WRITE = 512
_PARTS = " (parts)"


async def read_mapped(lldb: LldbAccess, address: int, count: int) -> bytes:
    """Return the mapped bytes of a range, up to the first that is not mapped.

    `memory read` fails as a whole where its range ends in unmapped memory, instead of returning the
    mapped part: the range is then cut at the region's end and read again.
    """
    data = b""
    while len(data) < count:
        # Whole parts first; the end of mapped memory is looked up only where one comes back short.
        position, part_size = address + len(data), min(_READ, count - len(data))
        part = await _read_chunk(lldb, position, part_size)
        if len(part) < part_size:
            # LLDB returns nothing instead of the mapped part: read again, up to the region's end.
            region = lldb_text.parse_region(
                await lldb.run_raw(f"memory region {position:#x}", None)
            )
            mapped_size = (
                min(part_size, region.end - position)
                if region is not None and region.is_readable
                else 0
            )
            again = (
                await _read_chunk(lldb, position, mapped_size)
                if mapped_size > 0 and mapped_size != part_size
                else b""
            )
            part = max(part, again, key=len)
            if len(part) < mapped_size or not part:
                return data + part
        data += part
    return data


async def _read_chunk(lldb: LldbAccess, address: int, count: int) -> bytes:
    # --force: LLDB refuses more than 1024 bytes without it.
    command = f"memory read --force --format x --size 1 --count {count} {address:#x}"
    try:
        return bytes(lldb_text.parse_memory(await lldb.run_raw(command, None)))
    except DebuggerError as error:
        if error.code is not ErrorCode.EVALUATION_FAILED:
            raise
        return b""


async def read_words(lldb: LldbAccess, address: int, count: int) -> list[int]:
    """Return pointers from memory.

    Raises:
        DebuggerError: EVALUATION_FAILED unless all of them are mapped.
    """
    data = await read_mapped(lldb, address, 8 * count)
    if len(data) < 8 * count:
        raise unmapped_error(address)
    return [
        int.from_bytes(data[offset : offset + 8], "little") for offset in range(0, len(data), 8)
    ]


def unmapped_error(address: int) -> DebuggerError:
    """Build the error for memory that is not mapped."""
    return DebuggerError(
        ErrorCode.EVALUATION_FAILED,
        f"no memory is mapped at {address:#x}",
        hint="debugger print shows a pointer's value; debugger modules what is loaded",
    )


class LldbMemory:
    """Reads and writes memory by `memory read` and `memory write`."""

    def __init__(self, lldb: LldbAccess) -> None:
        self._access = lldb

    async def read_memory(self, address: int, count: int) -> bytes:
        """Return the mapped bytes of a range, up to the first that is not mapped."""
        data = await read_mapped(self._access, address, count)
        if not data and count:
            raise unmapped_error(address)
        return data

    async def write_memory(self, address: int, data: bytes) -> None:
        """Write all of the data."""
        for start in range(0, len(data), _WRITE):
            part = " ".join(f"{byte:#04x}" for byte in data[start : start + _WRITE])
            command = f"memory write --format x --size 1 {address + start:#x} {part}"
            # A command's failure is a text: LLDB's `repl` always succeeds.
            problem = lldb_text.parse_error(await self._access.run_raw(command, None))
            if problem:
                raise DebuggerError(
                    ErrorCode.EVALUATION_FAILED,
                    f"memory at {address + start:#x} cannot be written: {problem}",
                    hint="debugger memory read shows the bytes there",
                )


class LldbRegisters:
    """Reads registers by `register read`: the main ones, and their parts in groups of their own."""

    def __init__(self, lldb: LldbAccess) -> None:
        self._access = lldb

    async def read_registers(self, frame: Frame) -> list[RegisterGroup]:
        """Return the groups of registers; an outer frame knows only some registers."""
        # `--all` lists the main registers among their parts (eax in rax): the plain command says
        # which are main.
        main_groups = lldb_text.parse_registers(await self._access.run_raw("register read", frame))
        all_groups = lldb_text.parse_registers(
            await self._access.run_raw("register read --all", frame)
        )
        names = {each.name for group in main_groups for each in group.registers}
        groups: list[RegisterGroup] = []
        for group in all_groups:
            own = tuple(each for each in group.registers if each.name in names)
            rest = tuple(each for each in group.registers if each.name not in names)
            if own:
                groups.insert(0, RegisterGroup(group.name, own))
            if rest:
                groups.append(RegisterGroup(group.name + _PARTS * bool(own), rest))
        return groups


class LldbInstructionBreakpoints:
    """Sets breakpoints by `breakpoint set --address`; a hit has LLDB's number."""

    def __init__(self, lldb: LldbAccess) -> None:
        self._access = lldb
        # By address, condition and hit count: a breakpoint that changes in one of them is set anew.
        self._set: dict[tuple[str, str | None, int | None], int] = {}

    async def set_instruction_breakpoints(
        self, breakpoints: Sequence[Breakpoint]
    ) -> list[BoundBreakpoint]:
        """Replace the breakpoints at addresses."""
        named = {_address_name(one): one for one in breakpoints}
        for name in [name for name in self._set if name not in named]:
            number = self._set.pop(name)
            self._access.breakpoint_conditions.pop(number, None)
            await self._access.run_raw(f"breakpoint delete {number}", None)
        return [await self._to_bound(name, one) for name, one in named.items()]

    async def _to_bound(
        self, name: tuple[str, str | None, int | None], one: Breakpoint
    ) -> BoundBreakpoint:
        address, condition, hit_count = name
        number = self._set.get(name)
        if number is None:
            # The address is parsed first: text from the user must not become options of the
            # command.
            words = ["breakpoint set", "--address", hex(int(address, 16))]
            words += ["--condition", lldb_text.quote_word(condition)] if condition else []
            words += ["--ignore-count", str(hit_count - 1)] if hit_count else []
            text = await self._access.run_raw(" ".join(words), None)
            number = lldb_text.parse_breakpoint_id(text)
            if number is None:
                return BoundBreakpoint(
                    verified=False, address=address, why=lldb_text.parse_error(text) or text
                )
            self._set[name] = number
        if condition is not None:
            self._access.breakpoint_conditions[number] = (one.id, condition)
        listed = await self._access.run_raw(f"breakpoint list {number}", None)
        # LLDB accepts an address without code, and never stops there.
        is_set = ", resolved = 1" in listed
        why = None if is_set else f"no code at {address}"
        return BoundBreakpoint(verified=is_set, backend_id=number, address=address, why=why)


def _address_name(breakpoint_: Breakpoint) -> tuple[str, str | None, int | None]:
    spec = breakpoint_.spec
    return ((breakpoint_.at or spec).address or "0x0", spec.condition, spec.hit_count)


class LldbInstructionSteps:
    """Steps by `thread step-inst`."""

    def __init__(self, lldb: LldbAccess) -> None:
        self._access = lldb

    async def step_instruction(self, how: ResumeKind, thread: int) -> None:
        """Step into, or over calls."""
        frames = (await self._access.read_stack(thread, levels=1)).frames
        command = "thread step-inst-over" if how is ResumeKind.NEXT else "thread step-inst"
        # A frame selects its thread, which then steps.
        problem = lldb_text.parse_error(
            await self._access.run_raw(command, next(iter(frames), None))
        )
        if problem:
            raise DebuggerError(ErrorCode.ADAPTER_FAILED, problem, hint="debugger status")


class LldbJump:
    """Moves by `thread jump`, to the address at which the line begins in the function."""

    is_stop_reported = False

    def __init__(self, lldb: LldbAccess) -> None:
        self._access = lldb

    async def jump_to(self, file: str, line: int, thread: int) -> None:
        """Move a thread's program counter."""
        frames = (await self._access.read_stack(thread, levels=1)).frames
        program_counter = frames[0].address if frames else None
        if program_counter is None:
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED, "the thread is nowhere", hint="debugger threads"
            )
        words = f"source info --file {lldb_text.quote_word(file)} --line {line} --end-line {line}"
        starts = lldb_text.parse_line_addresses(await self._access.run_raw(words, frames[0]), line)
        text = await self._access.run_raw(
            f"image lookup --verbose --address {program_counter}", frames[0]
        )
        start, end = lldb_text.parse_function_range(text) or (0, 0)
        # A line may have code in several functions, as of a template or an inlined function.
        own = [address for address in starts if start <= address < end]
        if not own:
            why = (
                f"is not in {frames[0].function}, where the thread is" if starts else "has no code"
            )
            raise DebuggerError(
                ErrorCode.EVALUATION_FAILED,
                f"{Path(file).name}:{line} {why}",
                hint="debugger source shows the function",
            )
        command = f"thread jump --address {own[0]:#x}"
        problem = lldb_text.parse_error(await self._access.run_raw(command, frames[0]))
        if problem:
            raise DebuggerError(ErrorCode.EVALUATION_FAILED, problem, hint="debugger source")
