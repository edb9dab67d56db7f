"""Holds a program at its first instruction until a debugger has it.

A process that is about to become the program by exec is traced by a helper for as long as the exec
takes. The helper replaces the program's first instruction by a jump to itself, and lets go: the
process goes round there, without a tracer and without a signal, and any debugger can attach to it
as to any running process. Once it has, the instruction is put back (`release_entry`).

Standard library only, as the client runs this. Linux on x86-64 and AArch64; ptrace(2), proc(5).
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SEIZE, _CONT, _DETACH, _GETREGSET, _INTERRUPT = 0x4206, 7, 17, 0x4204, 0x4207
_TRACE_EXEC = 0x10  # PTRACE_O_TRACEEXEC
_EVENT_EXEC, _EVENT_STOP = 4, 128
_NT_PRSTATUS = 1
_REGISTERS_MAX = 1024  # bytes
_SIGTRAP = 5
# A jump to itself, and where the program counter is in the general registers (struct
# user_regs_struct, struct user_pt_regs).
_LOOPS = {"x86_64": (b"\xeb\xfe", 16 * 8), "aarch64": (b"\x00\x00\x00\x14", 32 * 8)}
_PR_SET_PTRACER = 0x59616D61
_ANY_TRACER = -1
_TRACER_S = 10.0  # seconds until another tracer must have gone
_AGAIN_S = 0.02


def is_supported() -> bool:
    """Return whether programs can be held on this machine."""
    return sys.platform == "linux" and os.uname().machine in _LOOPS


def allow_any_tracer() -> None:
    """Let any process of the same user trace this one: Yama allows ancestors alone (prctl(2))."""
    _library().prctl(_PR_SET_PTRACER, _ANY_TRACER, 0, 0, 0)


def trace_exec(pid: int) -> None:
    """Begin to trace a process, to see it exec.

    Raises:
        OSError: It cannot be traced.
    """
    _request(_SEIZE, pid, 0, _TRACE_EXEC)


def hold_after_exec(pid: int) -> tuple[int, bytes] | None:
    """Wait for the exec of a traced process, hold the program, and stop tracing.

    Returns the address of the first instruction and its bytes; None if the process ended instead.

    Raises:
        OSError: The program cannot be changed; the process goes on.
    """
    while True:
        _, status = os.waitpid(pid, 0)
        if not os.WIFSTOPPED(status):
            return None
        event, signal = status >> 16, os.WSTOPSIG(status)
        if event == _EVENT_EXEC:
            break
        # A signal on its way to the process goes on to it; a group stop is left.
        _request(_CONT, pid, 0, 0 if event == _EVENT_STOP else signal)
    try:
        return _write_loop(pid)
    finally:
        _request(_DETACH, pid, 0, 0)


def _write_loop(pid: int) -> tuple[int, bytes]:
    loop, at = _LOOPS[os.uname().machine]
    address = int.from_bytes(_read_registers(pid)[at : at + 8], sys.byteorder)
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
        memory.seek(address)
        code = memory.read(len(loop))
        memory.seek(address)
        memory.write(loop)
    return address, code


def release_entry(pid: int, address: int, code: bytes) -> bool:
    """Put the first instruction back; return whether the program was held there.

    The process is stopped, by its debugger or by `release_running`: another processor could read
    one byte of the jump and one of the instruction.

    Raises:
        OSError: The process has ended, or cannot be changed.
    """
    loop, _ = _LOOPS.get(os.uname().machine, (b"", 0))
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
        memory.seek(address)
        if len(code) != len(loop) or memory.read(len(loop)) != loop:
            return False
        memory.seek(address)
        memory.write(code)
    return True


def release_running(pid: int, address: int, code: bytes) -> None:
    """Stop a held process, put its first instruction back, and let it run.

    Waits for a debugger that is going away, for a time.

    Raises:
        OSError: The process has ended, or another debugger keeps it.
    """
    limit = time.monotonic() + _TRACER_S
    while True:
        try:
            _request(_SEIZE, pid, 0, 0)
            break
        except PermissionError:
            if time.monotonic() > limit:
                raise
            time.sleep(_AGAIN_S)  # nothing tells of the end of another tracer
    _request(_INTERRUPT, pid, 0, 0)
    os.waitpid(pid, 0)
    try:
        release_entry(pid, address, code)
    finally:
        _request(_DETACH, pid, 0, 0)


def _read_registers(pid: int) -> bytes:
    import ctypes  # the client's other commands do without it

    class Vector(ctypes.Structure):
        _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))

    buffer = ctypes.create_string_buffer(_REGISTERS_MAX)
    vector = Vector(ctypes.addressof(buffer), _REGISTERS_MAX)
    _request(_GETREGSET, pid, _NT_PRSTATUS, ctypes.addressof(vector))
    return buffer.raw[: vector.length]


def _library() -> Any:
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    library.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
    library.ptrace.restype = ctypes.c_long
    return library


def _request(request: int, pid: int, address: int, data: int) -> None:
    import ctypes

    if _library().ptrace(request, pid, address, data) == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
