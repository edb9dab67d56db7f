"""Reports which signal stopped a thread, and why."""

from __future__ import annotations

from debugger.backends.inprocess.engine.engine_events import ThreadPaused
from debugger.model.program import ExceptionDetails
from debugger.model.signals import signal_name
from debugger.symbols.dwarf.unwinding import LoadedBinaries

_SAYS = {
    "SIGSEGV": "Segmentation fault",
    "SIGBUS": "Bus error",
    "SIGFPE": "Arithmetic exception",
    "SIGILL": "Illegal instruction",
    "SIGABRT": "Aborted",
    "SIGTRAP": "Trace/breakpoint trap",
}
# siginfo's si_code, of each signal (sigaction(2)).
_CODES = {
    ("SIGSEGV", 1): "address not mapped",
    ("SIGSEGV", 2): "access not permitted",
    ("SIGSEGV", 128): "address not canonical, or unknown",
    ("SIGBUS", 1): "address not aligned",
    ("SIGBUS", 2): "no memory behind the address",
    ("SIGBUS", 3): "memory that failed",
    ("SIGFPE", 1): "integer division by zero",
    ("SIGFPE", 2): "integer overflow",
    ("SIGFPE", 3): "division by zero",
    ("SIGFPE", 4): "overflow",
    ("SIGFPE", 5): "underflow",
    ("SIGFPE", 6): "inexact result",
    ("SIGFPE", 7): "invalid operation",
    ("SIGILL", 1): "illegal opcode",
    ("SIGILL", 2): "illegal operand",
}
_WITH_ADDRESS = frozenset({"SIGSEGV", "SIGBUS"})
_SENT = 0  # a code of 0 or less: another process, or the program itself, has sent it
_UNKNOWN_ADDRESS = 128


def signal_reason(paused: ThreadPaused) -> str:
    """Say why a thread got its signal; "" where that is not known."""
    name = signal_name(paused.signal)
    if paused.signal_code > _SENT:
        return _CODES.get((name, paused.signal_code), "")
    if name == "SIGABRT":
        return "the program has called abort"
    return "sent by a process, perhaps by the program itself"


def signal_address(paused: ThreadPaused) -> int | None:
    """Return the address that a signal is about; None where it is about none."""
    has_one = signal_name(paused.signal) in _WITH_ADDRESS
    return paused.fault if has_one and _SENT < paused.signal_code < _UNKNOWN_ADDRESS else None


def signal_details(paused: ThreadPaused, modules: LoadedBinaries) -> ExceptionDetails | None:
    """Tell of the signal that a thread waits for; None for another reason to wait."""
    if not paused.signal:
        return None
    name = signal_name(paused.signal)
    said = _SAYS.get(name, name)
    why, at = signal_reason(paused), ""
    about = signal_address(paused)
    if about is not None:
        where = modules.symbol_name(about)
        at = f" at {about:#x}" + (f" <{where}>" if where else "")
    return ExceptionDetails(name, said + (f": {why}" if why else "") + at)
