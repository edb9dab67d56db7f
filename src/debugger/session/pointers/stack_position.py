"""Finds the thread, the frame and the variable that an address on a stack belongs to.

A frame reaches from its stack pointer to its caller's. Below the innermost frame, and below the 128
bytes that it may use without moving the stack pointer (x86-64 psABI: the red zone), is what calls
have left that returned.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress

from debugger.backends.abilities import RegisterAbility
from debugger.errors import DebuggerError
from debugger.model.pointers.pointer_explanation import PointerExplanation
from debugger.model.program import EvaluationPurpose, Frame
from debugger.model.signals import MemoryRegion
from debugger.session import stop_report
from debugger.session.session import Session

STACK = "[stack]"
_RED_ZONE = 128
_FRAMES = 24
_DEEP = 200  # frames that are read to find a thread's first function
_FIRST_FUNCTIONS = frozenset({"start", "main", "clone", "clone3", "start_thread"})
_THREADS = 16
_VARIABLES = 48  # whose addresses are read
_POINTERS = ("rsp", "sp", "esp")
_ADDRESS = re.compile(r"0x([0-9a-f]+)")
_NUMBER = re.compile(r"\d+")


async def read_stack_pointer(session: Session, frame: Frame) -> int | None:
    """Return a frame's stack pointer (a job); None if it is not known."""
    try:
        groups = await session.backend.find_ability(RegisterAbility).read_registers(frame)
    except DebuggerError:
        return None
    for group in groups:
        for one in group.registers:
            if one.name in _POINTERS and one.value.startswith("0x"):
                return int(one.value.split()[0], 16)
    return None


async def explain_stack_address(
    session: Session, address: int, regions: Sequence[MemoryRegion], *, is_brief: bool
) -> PointerExplanation | None:
    """Explain an address on the stack of a thread (a job); None if it is surely on none.

    With `is_brief` only the current thread's stack is examined, and for what has returned.
    """
    region = next((one for one in regions if one.start <= address < one.end), None)
    if region is None or not region.mode.startswith("rw"):
        return None
    current = session.selection.thread
    threads = [] if current is None else [current]
    if not is_brief:
        with suppress(DebuggerError):
            found = await session.backend.list_threads()
            threads += [one.id for one in found if one.id != current and not one.is_running]
    for thread in threads[:_THREADS]:
        with suppress(DebuggerError):
            frames = (await session.backend.read_stack(thread, levels=1)).frames
            lowest = await read_stack_pointer(session, frames[0]) if frames else None
            if lowest is None or not region.start <= lowest < region.end:
                continue
            is_below = address < lowest - _RED_ZONE and _is_whole_stack(region, regions)
            if is_below and await _begins_a_thread(session, thread):
                text = f"on the stack of thread {thread}, below its innermost frame: "
                return PointerExplanation(
                    "returned", f"{text}of a call that has returned", is_suspicious=True
                )
            if is_brief:
                return None
            if address < lowest:
                return await _explain_below(session, thread, frames[0], (lowest, address))
            frames = (await session.backend.read_stack(thread, levels=_FRAMES)).frames
            return await _explain_in_frames(session, thread, frames, (lowest, address))
    return None


async def _explain_below(
    session: Session, thread: int, frame: Frame, span: tuple[int, int]
) -> PointerExplanation:
    """Explain an address below a thread's stack pointer."""
    lowest, address = span
    # The variables of a function that calls nothing may lie there.
    is_near = address >= lowest - _RED_ZONE
    if is_near and (variable := await _find_variable(session, frame, address)):
        return _stack_explanation(thread, frame, variable)
    if is_near:
        # A function that calls nothing may have values there, which need not be variables.
        place = f"{lowest - address:,} bytes below frame #0 {frame.function[:60]}"
        text = f"on the stack of thread {thread}, {place}, in none of its variables"
        return PointerExplanation(
            "below_stack", f"{text}: perhaps of a call that has returned", is_suspicious=True
        )
    text = f"in the mapping of thread {thread}'s stack, {lowest - address:,} bytes"
    return PointerExplanation("below_stack", f"{text} below it")


async def _begins_a_thread(session: Session, thread: int) -> bool:
    """Return whether a thread is on its own stack, and not on that of a coroutine in its memory."""
    frames = (await session.backend.read_stack(thread, levels=_DEEP)).frames
    return bool(frames) and frames[-1].function.strip("_") in _FIRST_FUNCTIONS


def _is_whole_stack(region: MemoryRegion, regions: Sequence[MemoryRegion]) -> bool:
    """Check whether a mapping begins where a stack may end: the main one, or above a guard page."""
    if region.name == STACK:
        return True
    return any(one.end == region.start and one.mode.startswith("---") for one in regions)


async def _explain_in_frames(
    session: Session, thread: int, frames: Sequence[Frame], span: tuple[int, int]
) -> PointerExplanation | None:
    """Explain an address at or above the innermost stack pointer, by the frame that it is in."""
    low, address = span
    for at, frame in enumerate(frames):
        outer = frames[at + 1] if at + 1 < len(frames) else None
        high = await read_stack_pointer(session, outer) if outer is not None else None
        if high is not None and address >= high >= low:
            low = high
            continue
        # Where the outermost frame ends is not known: only its variables are sure.
        variable = await _find_variable(session, frame, address)
        if not variable and (high is None or high < low):
            return None
        return _stack_explanation(thread, frame, variable)
    return None


def _stack_explanation(thread: int, frame: Frame, variable: str) -> PointerExplanation:
    where = f"frame #{frame.index} {frame.function[:60]}"
    place = f"{variable} in {where}" if variable else f"in {where}"
    return PointerExplanation("stack", f"on the stack of thread {thread}: {place}")


async def _find_variable(session: Session, frame: Frame, address: int) -> str:
    """Return the variable that an address is in; "" if the debugger does not tell its bounds."""
    best: tuple[int, str] | None = None
    with suppress(DebuggerError):
        names = [one.name for one in await stop_report.frame_locals(session, frame)]
        for name in [one for one in dict.fromkeys(names) if one.isidentifier()][:_VARIABLES]:
            start = await _evaluate_number(session, f"&{name}", frame, _ADDRESS)
            # A name that is declared twice is that of the inner variable.
            is_below = start is not None and start <= address and names.count(name) == 1
            if is_below and start is not None and (best is None or start > best[0]):
                best = start, name
    if best is None:
        return ""
    start, name = best
    if start == address:
        return f"start of {name}"
    size = await _evaluate_number(session, f"sizeof({name})", frame, _NUMBER)
    if size is None or address >= start + size:
        return ""
    return f"{address - start:,} bytes into {name} ({size:,} bytes)"


async def _evaluate_number(
    session: Session, expression: str, frame: Frame, pattern: re.Pattern[str]
) -> int | None:
    try:
        value = await session.backend.evaluate(expression, frame, EvaluationPurpose.PRINT)
    except DebuggerError:
        return None
    match = pattern.search(value.value)
    if match is None:
        return None
    return int(match[1], 16) if pattern is _ADDRESS else int(match[0])
