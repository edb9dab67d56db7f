"""Records a crash in the timeline: the values and registers at its stop."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from debugger.backends.abilities import RegisterAbility
from debugger.errors import DebuggerError
from debugger.model import answers
from debugger.model.program import EvaluationPurpose, Frame, Stack, Stopped, Variable
from debugger.session import source_files, views
from debugger.session.event_record import is_crash
from debugger.session.session import Session

_ADDRESS = re.compile(r"addr(?:ess)?\b[^0-9]{0,3}(0x[0-9a-fA-F]{1,16})\b")
_ADDRESS_MASK = (1 << 64) - 1
# 0 where kill or raise sent the signal (sigaction(2): si_code <= 0); the pid is there then.
_FAULT = "$_siginfo.si_code > 0 ? (long) $_siginfo._sifields._sigfault.si_addr : -1"
_AT_AN_ADDRESS = {"SIGSEGV", "SIGBUS"}
_REGISTERS_MAX = 64
_LOCALS_MAX = 30  # locals of the crashed frame
_VALUE_MAX = 200  # characters
_CONTEXT = 2  # lines of source on either side


async def note_crash(
    session: Session,
    stop: Stopped,
    stack: Stack,
    frame: Frame | None,
    variables: Sequence[Variable],
) -> None:
    """Add details to a crash event, once (a job); `variables` are the frame's locals."""
    crash = session.crash
    if crash is None or isinstance(crash.function, str) or not is_crash(stop):
        return
    if frame is not None:
        crash = msgspec.structs.replace(
            crash,
            function=frame.function[: views.NAME_MAX],
            file=frame.file or UNSET,
            line=frame.line or UNSET,
            address=await _fault_address(session, crash, frame) or UNSET,
        )
    session.note_crash(crash)
    record: dict[str, Any] = {
        "reason": stop.reason.value,
        "raw_reason": stop.raw_reason,
        "signal": crash.signal,
        "description": crash.description,
        **({"address": crash.address} if isinstance(crash.address, str) else {}),
        "registers": await _general_registers(session, stack),
        "stack": [msgspec.to_builtins(views.frame_view(one)) for one in stack.frames],
        "locals": [_local_as_data(one) for one in variables[:_LOCALS_MAX]],
        "frame": frame.index if frame is not None else None,
        "source": [] if frame is None else _source_lines(frame),
    }
    session.timeline.amend(
        crash.seq,
        record,
        function=frame.function if frame is not None else None,
        file=frame.file if frame is not None else None,
        line=frame.line if frame is not None else None,
    )


def _source_lines(frame: Frame) -> list[dict[str, Any]]:
    lines = source_files.surrounding_lines(frame.file, frame.line, before=_CONTEXT, after=_CONTEXT)
    return [msgspec.to_builtins(line) for line in lines]


def _local_as_data(one: Variable) -> dict[str, str]:
    value = views.value_text(one.value, _VALUE_MAX)
    return {"name": one.name[: views.NAME_MAX], "value": value, "type": one.type[: views.NAME_MAX]}


async def _general_registers(session: Session, stack: Stack) -> dict[str, str]:
    """Return the innermost frame's general registers; nothing if they cannot be read."""
    if not stack.frames:
        return {}
    try:
        groups = await session.backend.find_ability(RegisterAbility).read_registers(stack.frames[0])
    except DebuggerError:
        return {}
    first = groups[0].registers if groups else ()
    return {one.name: one.value[:_VALUE_MAX] for one in first[:_REGISTERS_MAX]}


async def _fault_address(session: Session, crash: answers.CrashNote, frame: Frame) -> str | None:
    """Return the fault address from the stop's description, or from gdb, which does not give it."""
    found = _ADDRESS.search(crash.description)
    if found is not None:
        return found[1]
    if not session.traits.has_siginfo or crash.signal not in _AT_AN_ADDRESS:
        return None
    try:
        value = await session.backend.evaluate(_FAULT, frame, EvaluationPurpose.PRINT)
    except DebuggerError:
        return None
    text = value.value.strip()
    return hex(int(text) & _ADDRESS_MASK) if text.lstrip("-").isdigit() and text != "-1" else None
