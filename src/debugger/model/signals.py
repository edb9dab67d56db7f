"""Names signals, and classifies the address of a memory fault. Pure."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable, Sequence

from msgspec import Struct


def signal_name(number: int) -> str:
    """Return a signal's name: `SIGSEGV`; `SIG40` for one without, as most real-time ones."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


NEAR_NULL = 0x10000  # no program has anything mapped below it, by vm.mmap_min_addr
_CANONICAL = 1 << 47
_STACK_NEAR = 64 << 10  # bytes: a frame may reach so far below the stack's end
_LINE = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (....) ([0-9a-f]+) \S+ \S+ *(.*)")


class MemoryRegion(Struct, frozen=True):
    """A mapped range of memory, `start` to `end` (exclusive), with `r`, `w` and `x` in its mode."""

    start: int
    end: int
    mode: str
    name: str = ""
    # The offset in the mapped file; None where it is not known.
    offset: int | None = None


def parse_memory_map(lines: Iterable[str]) -> list[MemoryRegion]:
    """Parse a process's memory map, /proc/PID/maps (proc(5))."""
    found = []
    for line in lines:
        match = _LINE.match(line)
        if match:
            start, end, mode, offset, name = match.groups()
            found.append(
                MemoryRegion(int(start, 16), int(end, 16), mode, name.strip(), int(offset, 16))
            )
    return found


def classify_address(
    address: int, mapped: Sequence[MemoryRegion], *, stack: int | None = None, is_code: bool = False
) -> tuple[str, str]:
    """Classify a faulting address, and explain the fault.

    `stack` is the stack pointer; `is_code`: the fault was an instruction fetch.
    """
    low = _by_number(address)
    if low is not None:
        return low
    home = next((one for one in mapped if one.start <= address < one.end), None)
    if home is not None:
        return _explain_forbidden_access(home, is_code=is_code)
    if stack is not None and abs(address - stack) <= _STACK_NEAR and _ends_here(stack, mapped):
        return "stack_overflow", "beyond the stack's end"
    below = [one for one in mapped if one.end <= address]
    before = max(below, key=lambda one: one.end, default=None)
    if before is None or address - before.end >= NEAR_NULL:
        return "unmapped", "not mapped, or freed" if mapped else "not mapped"
    name = before.name.rpartition("/")[2] or "a mapped block"
    return "unmapped", f"not mapped: {address - before.end} bytes after {name}"


def _by_number(address: int) -> tuple[str, str] | None:
    if address == 0:
        return "null", "null"
    if address < NEAR_NULL:
        return "near_null", f"near null: {address} bytes from a null pointer"
    if address >= _CANONICAL:
        return "non_canonical", "no address at all: not canonical"
    return None


def _ends_here(stack: int, mapped: Sequence[MemoryRegion]) -> bool:
    """Return whether a stack pointer is at, or below, the lower end of writable memory."""
    home = next((one for one in mapped if one.start <= stack < one.end), None)
    if home is None or "w" not in home.mode:
        return True
    return stack - home.start <= _STACK_NEAR


def _explain_forbidden_access(home: MemoryRegion, *, is_code: bool) -> tuple[str, str]:
    """Return the kind of an access that the memory's mode forbids, and its text."""
    name = home.name.rpartition("/")[2]
    where = f" ({name})" if name else ""
    if is_code and "x" not in home.mode:
        return "not_executable", f"mapped{where}, but no code"
    if "w" not in home.mode and "r" in home.mode:
        return "read_only", f"read-only memory{where}"
    if "r" not in home.mode:
        is_guard = home.mode.startswith("---")
        return "inaccessible", f"inaccessible memory{where}" + ", a guard page" * is_guard
    return "mapped", f"mapped{where}: perhaps not aligned, or gone since"
