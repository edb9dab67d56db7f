"""Finds the address that a program faulted at, and its kind."""

from __future__ import annotations

import re
from pathlib import Path

from debugger.backends.abilities import RegisterAbility
from debugger.errors import DebuggerError
from debugger.model import answers, fault_address
from debugger.model.program import EvaluationPurpose, Frame, Stack
from debugger.session.session import Session
from debugger.session.session_state import is_running_program

_FAULT = re.compile(r"(?:fault address(?:: |=)|\(address )(0x[0-9a-fA-F]+)")
_NUMBER = re.compile(r"0x[0-9a-f]+|-?\d+\Z")
_NOT_CANONICAL = ("invalid address", "not canonical")  # as LLDB and the Frida engine say
_SENT = "sent by a process"  # as the Frida engine says
_SENDERS = frozenset(
    {"kill", "GI_kill", "raise", "GI_raise", "tgkill", "gsignal", "pthread_kill"}
    | {"pthread_kill_implementation", "pthread_kill_internal"}
)
_POINTERS = ("rsp", "sp", "esp")
_FAULTS = frozenset({"SIGSEGV", "SIGBUS"})


async def address_of(
    session: Session, stop: answers.Stop, stack: Stack
) -> tuple[int | None, str, str]:
    """Return the address that could not be used, its kind, and what is said of it."""
    if stop.signal not in _FAULTS:
        return None, "", ""
    described = stop.description or ""
    if await _is_sent(session, stop.signal, described, stack):
        return None, "sent", "sent by a process, perhaps by the program itself"
    match = _FAULT.search(described)
    address = int(match[1], 16) if match else await _kernel_fault_address(session, stack)
    if any(words in described for words in _NOT_CANONICAL) or (
        address == 0 and await _is_general(session, stack)
    ):
        # The processor does not tell the kernel which address it was.
        return None, "non_canonical", "not canonical, and not known"
    if address is None:
        return None, "", ""
    frame = stack.frames[0] if stack.frames else None
    is_code = frame is not None and frame.address is not None and int(frame.address, 16) == address
    pointer = None if frame is None else await _stack_pointer(session, frame)
    kind, words = fault_address.classify_address(
        address, _memory_map(session), stack=pointer, is_code=is_code
    )
    return address, "not_executable" if is_code else kind, words


async def _is_sent(session: Session, signal: str, described: str, stack: Stack) -> bool:
    """Tell whether kill or raise sent a signal: there is no address then, but the sender's pid."""
    if _SENT in described:
        return True
    code = await _evaluate_text(session, stack, "$_siginfo.si_code")
    if code is not None and code.lstrip("-").isdigit():
        return int(code) <= 0
    innermost = stack.frames[0].function if stack.frames else ""
    # LLDB says of a fault what kind it is and where; of a signal that was sent, its name alone.
    is_plain = described == f"signal {signal}" and is_running_program(session.target)
    return is_plain or (_FAULT.search(described) is None and innermost.strip("_") in _SENDERS)


async def _kernel_fault_address(session: Session, stack: Stack) -> int | None:
    """Ask gdb what LLDB says in its description."""
    # Without a cast: what is one differs in C and in Rust.
    value = await _evaluate_text(session, stack, "$_siginfo._sifields._sigfault.si_addr")
    match = _NUMBER.search(value or "")
    return int(match[0], 0) & (1 << 64) - 1 if match else None


async def _is_general(session: Session, stack: Stack) -> bool:
    """Tell whether a fault was a general protection fault: si_code is SI_KERNEL."""
    return await _evaluate_text(session, stack, "$_siginfo.si_code") == "128"


async def _evaluate_text(session: Session, stack: Stack, expression: str) -> str | None:
    if session.adapter != "gdb" or not stack.frames:
        return None
    try:
        value = await session.backend.evaluate(expression, stack.frames[0], EvaluationPurpose.PRINT)
    except DebuggerError:
        return None
    return value.value.strip()


def _memory_map(session: Session) -> list[fault_address.MemoryRegion]:
    if session.pid is None or not is_running_program(session.target):
        return []
    try:
        text = Path(f"/proc/{session.pid}/maps").read_text(errors="replace")
    except OSError:
        return []
    return fault_address.parse_memory_map(text.splitlines())


async def _stack_pointer(session: Session, frame: Frame) -> int | None:
    try:
        groups = await session.backend.find_ability(RegisterAbility).read_registers(frame)
    except DebuggerError:
        return None
    for group in groups:
        for one in group.registers:
            if one.name in _POINTERS and one.value.startswith("0x"):
                return int(one.value.split()[0], 16)
    return None
