"""Reads memory, registers and machine code by LLDB's command line.

Facts are of LLDB 19.1.7.
"""

from __future__ import annotations

from collections.abc import Sequence

from debugger.backends import lldb_text
from debugger.backends.lldb.inside import Inside
from debugger.core.breakpoints import Bound, Breakpoint
from debugger.core.model import Frame, RegisterGroup, Resume
from debugger.errors import Code, DebuggerError

_READ = 8192  # bytes a command: each takes 5 characters of an answer, which may have 64 Ki
_WRITE = 512
_PARTS = " (parts)"


async def read(inside: Inside, address: int, count: int) -> bytes:
    """Return the mapped bytes of a range, up to the first that is not mapped.

    `memory read` fails as a whole where its range ends in unmapped memory, instead of returning the
    mapped part: the range is then cut at the region's end and read again.
    """
    found = b""
    while len(found) < count:
        at, wanted = address + len(found), min(_READ, count - len(found))
        part = await _read(inside, at, wanted)
        if len(part) < wanted:
            # LLDB returns nothing instead of the mapped part: read again, up to the region's end.
            told = lldb_text.region(await inside.raw(f"memory region {at:#x}", None))
            rest = min(wanted, told.end - at) if told is not None and told.is_readable else 0
            again = await _read(inside, at, rest) if rest > 0 and rest != wanted else b""
            part = max(part, again, key=len)
            if len(part) < rest or not part:
                return found + part
        found += part
    return found


async def _read(inside: Inside, address: int, count: int) -> bytes:
    command = f"memory read --force --format x --size 1 --count {count} {address:#x}"
    try:
        return bytes(lldb_text.memory(await inside.raw(command, None)))
    except DebuggerError as error:
        if error.code is not Code.EVALUATION_FAILED:
            raise
        return b""


async def words(inside: Inside, address: int, count: int) -> list[int]:
    """Return pointers from memory.

    Raises:
        DebuggerError: EVALUATION_FAILED unless all of them are mapped.
    """
    data = await read(inside, address, 8 * count)
    if len(data) < 8 * count:
        raise unmapped(address)
    return [int.from_bytes(data[at : at + 8], "little") for at in range(0, len(data), 8)]


def unmapped(address: int) -> DebuggerError:
    """Build the error for memory that is not mapped."""
    return DebuggerError(
        Code.EVALUATION_FAILED,
        f"no memory is mapped at {address:#x}",
        hint="debugger print shows a pointer's value; debugger modules what is loaded",
    )


class Memory:
    """`memory read` and `memory write`."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside

    async def read(self, address: int, count: int) -> bytes:
        """Return the mapped bytes of a range, up to the first that is not mapped."""
        found = await read(self._inside, address, count)
        if not found and count:
            raise unmapped(address)
        return found

    async def write(self, address: int, data: bytes) -> None:
        """Write all of the data."""
        for start in range(0, len(data), _WRITE):
            part = " ".join(f"{byte:#04x}" for byte in data[start : start + _WRITE])
            command = f"memory write --format x --size 1 {address + start:#x} {part}"
            problem = lldb_text.error(await self._inside.raw(command, None))
            if problem:
                raise DebuggerError(
                    Code.EVALUATION_FAILED,
                    f"memory at {address + start:#x} cannot be written: {problem}",
                    hint="debugger memory read shows what is there",
                )


class Registers:
    """`register read`: the main registers, and their parts in groups of their own."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside

    async def registers(self, frame: Frame) -> list[RegisterGroup]:
        """Return the groups of registers; an outer frame knows only some registers."""
        whole = lldb_text.registers(await self._inside.raw("register read", frame))
        every = lldb_text.registers(await self._inside.raw("register read --all", frame))
        names = {each.name for group in whole for each in group.registers}
        groups: list[RegisterGroup] = []
        for group in every:
            own = tuple(each for each in group.registers if each.name in names)
            rest = tuple(each for each in group.registers if each.name not in names)
            if own:
                groups.insert(0, RegisterGroup(group.name, own))
            if rest:
                groups.append(RegisterGroup(group.name + _PARTS * bool(own), rest))
        return groups


class InstructionBreakpoints:
    """`breakpoint set --address`; a hit has LLDB's number, as that of any breakpoint."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside
        self._set: dict[tuple[str, str | None, int | None], int] = {}

    async def set_instruction_breakpoints(self, wanted: Sequence[Breakpoint]) -> list[Bound]:
        """Replace the breakpoints at addresses."""
        named = {_name(one): one for one in wanted}
        for name in [name for name in self._set if name not in named]:
            number = self._set.pop(name)
            self._inside.conditions.pop(number, None)
            await self._inside.raw(f"breakpoint delete {number}", None)
        return [await self._bound(name, one) for name, one in named.items()]

    async def _bound(self, name: tuple[str, str | None, int | None], one: Breakpoint) -> Bound:
        address, condition, hit_count = name
        number = self._set.get(name)
        if number is None:
            words = ["breakpoint set", "--address", hex(int(address, 16))]
            words += ["--condition", lldb_text.quoted(condition)] if condition else []
            words += ["--ignore-count", str(hit_count - 1)] if hit_count else []
            text = await self._inside.raw(" ".join(words), None)
            number = lldb_text.breakpoint_id(text)
            if number is None:
                return Bound(verified=False, address=address, why=lldb_text.error(text) or text)
            self._set[name] = number
        if condition is not None:
            self._inside.conditions[number] = (one.id, condition)
        listed = await self._inside.raw(f"breakpoint list {number}", None)
        is_set = ", resolved = 1" in listed
        why = None if is_set else f"no code at {address}"
        return Bound(verified=is_set, backend_id=number, address=address, why=why)


def _name(wanted: Breakpoint) -> tuple[str, str | None, int | None]:
    spec = wanted.spec
    return ((wanted.at or spec).address or "0x0", spec.condition, spec.hit_count)


class InstructionSteps:
    """`thread step-inst`."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside

    async def step_instruction(self, how: Resume, thread: int) -> None:
        """Step into, or over calls."""
        frames = (await self._inside.stack(thread, levels=1)).frames
        command = "thread step-inst-over" if how is Resume.NEXT else "thread step-inst"
        # A frame selects its thread, which then steps.
        problem = lldb_text.error(await self._inside.raw(command, next(iter(frames), None)))
        if problem:
            raise DebuggerError(Code.ADAPTER_FAILED, problem, hint="debugger status")


class Jump:
    """`thread jump`, to the address at which the line begins in the function."""

    is_reported = False

    def __init__(self, inside: Inside) -> None:
        self._inside = inside

    async def jump(self, file: str, line: int, thread: int) -> None:
        """Move a thread's program counter."""
        frames = (await self._inside.stack(thread, levels=1)).frames
        here = frames[0].address if frames else None
        if here is None:
            raise DebuggerError(
                Code.EVALUATION_FAILED, "the thread is nowhere", hint="debugger threads"
            )
        words = f"source info --file {lldb_text.quoted(file)} --line {line} --end-line {line}"
        starts = lldb_text.line_addresses(await self._inside.raw(words, frames[0]), line)
        text = await self._inside.raw(f"image lookup --verbose --address {here}", frames[0])
        start, end = lldb_text.function_range(text) or (0, 0)
        # A line may have code in several functions, as of a template or an inlined function.
        own = [address for address in starts if start <= address < end]
        if not own:
            why = f"is not in {frames[0].function}" if starts else "has no code"
            raise DebuggerError(
                Code.EVALUATION_FAILED,
                f"line {line} {why}, where the thread is",
                hint="debugger source shows the function",
            )
        command = f"thread jump --address {own[0]:#x}"
        problem = lldb_text.error(await self._inside.raw(command, frames[0]))
        if problem:
            raise DebuggerError(Code.EVALUATION_FAILED, problem, hint="debugger source")
