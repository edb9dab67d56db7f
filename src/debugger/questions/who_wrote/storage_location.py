"""Finds the storage of a value (stack, heap, global), and the line before a code address."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from debugger.errors import DebuggerError
from debugger.model import answers
from debugger.model.breakpoints import BoundBreakpoint
from debugger.model.program import EvaluationPurpose, Frame
from debugger.session import inspection, stop_report
from debugger.session.session import Session

_FRAMES = 40  # frames to search for the owner of an address
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_ADDR_NO_RANDOMIZE = 0x0040000  # personality(2)
_BEYOND = 64 << 20  # bytes: what is zero at first lies behind the program's file


async def line_before(session: Session, frame: Frame) -> int | None:
    """Return the line of the instruction that wrote (a job): the processor stops after it."""
    written = await stop_report.accessed_by(session, frame)
    return written.line if isinstance(written, answers.AccessView) else frame.line


async def storage_address(
    session: Session, bound: BoundBreakpoint, expression: str, frame: Frame
) -> int:
    """Return the address of a watched expression (a job); 0 if unknown."""
    text = bound.address or bound.again or ""
    if not _ADDRESS.search(text):
        try:
            place = await session.backend.evaluate(
                f"uintptr(&{expression})", frame, EvaluationPurpose.PRINT
            )
        except DebuggerError:
            return 0
        text = place.value
    return _parse_address(text)


async def place_of(session: Session, name: str) -> int:
    """Return the address of a variable of C or a similar language at a stop (a job); 0: unknown."""
    try:
        frame = await inspection.frame_of(session)
        place = await session.backend.evaluate(f"&{name}", frame, EvaluationPurpose.PRINT)
    except DebuggerError:
        return 0
    return _parse_address(place.value)


async def stack_owner(session: Session, thread: int, place: int) -> str:
    """Return the function whose frame on a thread's stack contains an address (a job)."""
    stack = await session.backend.read_stack(thread, levels=_FRAMES)
    last = stack.frames[0].function if stack.frames else ""
    for frame in stack.frames:
        try:
            value = await session.backend.evaluate("$sp", frame, EvaluationPurpose.PRINT)
        except DebuggerError:
            break
        # The stack grows down: this frame and its callers begin above.
        if _parse_address(value.value) > place:
            break
        last = frame.function
    return last


def _parse_address(text: str) -> int:
    found = _ADDRESS.search(text)
    if found:
        return int(found[0], 16)
    return int(text) if text.strip().isdecimal() else 0


def _memory_maps(pid: int | None) -> Sequence[tuple[int, int, str]]:
    try:
        lines = Path(f"/proc/{pid}/maps").read_text("utf-8", "replace").splitlines()
    except OSError:
        return ()
    found = []
    for line in lines:
        fields = line.split(maxsplit=5)
        first, _, last = fields[0].partition("-")
        found.append((int(first, 16), int(last, 16), fields[5] if len(fields) > 5 else ""))  # noqa: PLR2004
    return found


def is_in(pid: int | None, address: int, region: str) -> bool:
    """Tell whether an address is in a region of a process, by the name in its memory map."""
    return any(
        first <= address < last and name == region for first, last, name in _memory_maps(pid)
    )


def is_randomized(pid: int | None) -> bool:
    """Tell whether the system randomizes a process's addresses."""
    try:
        flags = int(Path(f"/proc/{pid}/personality").read_text("ascii"), 16)
    except (OSError, ValueError):
        return False
    return not flags & _ADDR_NO_RANDOMIZE


def is_in_program(pid: int | None, address: int) -> bool:
    """Tell whether an address is in the program's own data, at a fixed place in each run."""
    maps = _memory_maps(pid)
    own = [one for one in maps if one[2] == maps[0][2]] if maps else []
    # The heap comes next, and begins elsewhere in each run.
    is_heap = is_in(pid, address, "[heap]")
    return bool(own) and not is_heap and own[0][0] <= address < own[-1][1] + _BEYOND
