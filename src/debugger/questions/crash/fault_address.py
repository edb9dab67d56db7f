"""Reads the address of a memory fault, and tells a fault from a signal that was sent."""

from __future__ import annotations

import re

from debugger.errors import DebuggerError
from debugger.model import answers, signals
from debugger.model.program import EvaluationPurpose, Stack
from debugger.session import source_files
from debugger.session.pointers.memory_layout import read_knowledge
from debugger.session.pointers.stack_position import read_stack_pointer
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
_FAULTS = frozenset({"SIGSEGV", "SIGBUS"})


async def address_of(
    session: Session, stop: answers.Stop, stack: Stack
) -> tuple[int | None, str, str]:
    """Return the faulting address, its kind, and an explanation."""
    if stop.signal not in _FAULTS:
        return None, "", ""
    described = stop.description or ""
    if _is_stack_fault(session, stop, stack):
        return None, "non_canonical", "not canonical, and not known"
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
    pointer = None if frame is None else await read_stack_pointer(session, frame)
    regions = read_knowledge(session).regions if is_running_program(session.target) else ()
    kind, words = signals.classify_address(address, regions, stack=pointer, is_code=is_code)
    return address, "not_executable" if is_code else kind, words


def _is_stack_fault(session: Session, stop: answers.Stop, stack: Stack) -> bool:
    """Return whether an address on the stack was not canonical: that is SIGBUS on x86-64.

    LLDB describes it as a signal that was sent.
    """
    frame = stack.frames[0] if stack.frames else None
    is_plain = stop.signal == "SIGBUS" and stop.description == "signal SIGBUS"
    is_own = frame is not None and source_files.is_readable(frame.file)
    return is_plain and is_own and not session.traits.has_siginfo


async def _is_sent(session: Session, signal: str, described: str, stack: Stack) -> bool:
    """Return whether kill or raise sent a signal: it has a sender's pid then, and no address."""
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
    """Read the address from gdb, which LLDB has in its description."""
    # Without a cast: what is one differs in C and in Rust.
    value = await _evaluate_text(session, stack, "$_siginfo._sifields._sigfault.si_addr")
    match = _NUMBER.search(value or "")
    return int(match[0], 0) & (1 << 64) - 1 if match else None


async def _is_general(session: Session, stack: Stack) -> bool:
    """Return whether a fault was a general protection fault: si_code is SI_KERNEL."""
    return await _evaluate_text(session, stack, "$_siginfo.si_code") == "128"


async def _evaluate_text(session: Session, stack: Stack, expression: str) -> str | None:
    if not session.traits.has_siginfo or not stack.frames:
        return None
    try:
        value = await session.backend.evaluate(expression, stack.frames[0], EvaluationPurpose.PRINT)
    except DebuggerError:
        return None
    return value.value.strip()
