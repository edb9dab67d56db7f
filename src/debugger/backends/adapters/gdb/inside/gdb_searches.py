"""Finds which functions of the program a call leads to: by a pointer, or through a library's code.

A function pointer, a virtual table, `std::function` or a closure that is given to an iterator: the
call's statement does not name the function. Its code does, once the program is at the call: direct
calls are followed through the library's functions in the program's own file, and at each call by
a register a breakpoint reads where it leads to. Run inside gdb.
"""

from __future__ import annotations

import collections
import importlib
import re
from typing import Any

gdb: Any = importlib.import_module("gdb")
snapshots: Any = importlib.import_module("gdb_snapshots")
returns: Any = importlib.import_module("gdb_returns")

_FUNCTIONS_MAX = 120  # of a library, that one call leads to
_TARGETS_MAX = 16  # functions of the program whose returns are recorded
_POINTERS_MAX = 60  # calls by a register
_HITS_MAX = 2000
_CODE_MAX = 16 << 10  # bytes of a function
_DIRECT = re.compile(r"call\w*\s+0x([0-9a-f]+)")
_INDIRECT = re.compile(
    r"call\w*\s+\*(?:%(?P<register>\w+)"
    r"|(?P<shift>-?0x[0-9a-f]+)?\(%(?P<base>\w+)(?:,%(?P<index>\w+),(?P<scale>\d))?\))"
)


class CallSearch:
    """The functions that the calls of one statement lead to."""

    def __init__(self, run: Any, plan: dict[str, Any]) -> None:
        self.run, self.plan = run, plan
        self.seen: set[int] = set()
        self.pointers = self.targets = 0
        # Where the calls that were just reached lead to: they are followed at the next stop.
        self.found: list[int] = []

    def watch_statement(self) -> None:
        """Set breakpoints at the calls of the statement.

        Raises:
            gdb.error: the code cannot be read.
        """
        block = snapshots.function_block(self.plan["caller_entry"])
        first, last = self.plan["calls"]
        for pc, text in _calls_of(block) if block is not None else ():
            if first <= gdb.find_pc_line(pc).line <= last:
                StatementCall(self, pc, text)

    def explore(self) -> None:
        """Follow the found calls to functions of the program, whose returns are then recorded."""
        waiting = collections.deque(self.found)
        self.found = []
        while waiting and len(self.seen) < _FUNCTIONS_MAX:
            entry = waiting.popleft()
            block = snapshots.function_block(entry) if entry not in self.seen else None
            self.seen.add(entry)
            if block is None or gdb.solib_name(entry):
                continue
            if not snapshots.is_library(snapshots.source_of(block.function.symtab)):
                self.targets += 1
                if self.targets <= _TARGETS_MAX:
                    returns.set_block_returns(self.run, self.plan, block)
                continue
            for pc, text in _calls_of(block):
                direct = _DIRECT.match(text)
                if direct is not None:
                    waiting.append(int(direct[1], 16))
                elif self.pointers < _POINTERS_MAX:
                    self.pointers += 1
                    PointerCall(self, pc, text)


class PointerCall(gdb.Breakpoint):  # type: ignore[misc]
    """A breakpoint at a call by a register, which reads where it leads to."""

    def __init__(self, search: CallSearch, pc: int, text: str) -> None:
        super().__init__(f"*{pc:#x}", internal=True)
        self._search, self._text, self._hits = search, text, 0

    def stop(self) -> bool:
        """Note the function that is called; stop where it is a new one, to follow it."""
        self._hits += 1
        search = self._search
        if self._hits > _HITS_MAX or search.run.is_late():
            return False
        if not self.is_of_call():
            return False
        target = _read_target(self._text)
        if not target or target in search.seen:
            return False
        search.found.append(target)
        return True

    def is_of_call(self) -> bool:
        """Return whether the call belongs to the statement: any call that it has led to may."""
        return True


class StatementCall(PointerCall):
    """A breakpoint at a call of the statement itself."""

    def is_of_call(self) -> bool:
        """Return whether the planned frame runs the statement."""
        planned = self._search.plan["caller"]
        return not planned or returns.caller_address(gdb.newest_frame()) == planned


def explore_found(run: Any) -> bool:
    """Follow the calls that were just reached; tell whether there were any."""
    found = [one for one in run.searches if one.found]
    for one in found:
        try:
            one.explore()
        except (gdb.error, RuntimeError) as error:
            run.result["notes"].append(f"not all calls were followed: {error}")
    return bool(found)


def _calls_of(block: Any) -> list[tuple[int, str]]:
    """Return the calls of a function's code: the address and the instruction of each."""
    last = min(block.end, block.start + _CODE_MAX) - 1
    code = gdb.selected_inferior().architecture().disassemble(block.start, last)
    return [(one["addr"], one["asm"]) for one in code if one["asm"].startswith("call")]


def _read_target(text: str) -> int:
    """Return the address that a call instruction leads to; 0 if it cannot be read."""
    direct = _DIRECT.match(text)
    if direct is not None:
        return int(direct[1], 16)
    indirect = _INDIRECT.match(text)
    if indirect is None:
        return 0
    frame = gdb.newest_frame()
    if indirect["register"]:
        return int(frame.read_register(indirect["register"])) % (1 << 64)
    address = int(indirect["shift"] or "0", 16)
    base = int(frame.read_register(indirect["base"])) % (1 << 64)
    if indirect["base"] == "rip":
        comment = re.search(r"#\s*0x([0-9a-f]+)", text)
        address, base = (int(comment[1], 16), 0) if comment is not None else (0, 0)
    if indirect["index"]:
        index = int(frame.read_register(indirect["index"])) % (1 << 64)
        base += index * int(indirect["scale"])
    try:
        slot = bytes(gdb.selected_inferior().read_memory((address + base) % (1 << 64), 8))
    except gdb.error:
        return 0
    return int.from_bytes(slot, "little")
