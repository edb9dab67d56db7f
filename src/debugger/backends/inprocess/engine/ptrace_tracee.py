"""Traces one thread (ptrace(2)) until it has become another program, then leaves it.

All of it from one thread of ours: the tracer is that one alone.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import struct
from collections.abc import Mapping
from contextlib import suppress
from enum import Enum, auto
from typing import Final

_SEIZE, _INTERRUPT, _LISTEN = 0x4206, 0x4207, 0x4208
_CONT, _CALL, _DETACH, _GET, _SET = 7, 24, 17, 12, 13
_OPTIONS: Final = 1 << 4 | 1  # of PTRACE_SETOPTIONS: TRACEEXEC, TRACESYSGOOD
_OURS: Final = 0x4000_0000 | 0x2000_0000  # __WALL, __WNOTHREAD: what this thread traces
_AT_CALL: Final = signal.SIGTRAP | 0x80
_EVENT_EXEC, _EVENT_STOP = 4, 128
_STOPS: Final = (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
# As user_regs_struct of sys/user.h has them.
_NAMES: Final = (
    *("r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx"),
    *("rsi", "rdi", "orig_rax", "rip", "cs", "eflags", "rsp", "ss", "fs_base", "gs_base"),
    *("ds", "es", "fs", "gs"),
)
_REGISTERS: Final = struct.Struct(f"<{len(_NAMES)}Q")
_LIBC: Final = ctypes.CDLL(None, use_errno=True)
_SYSCALL_AND_TRAP: Final = b"\x0f\x05\xcc"
_MMAP: Final = 9
_NONE: Final = (1 << 64) - 1  # of a descriptor, and of a system call that is to be made again
_ERRORS: Final = (1 << 64) - 4096


class TraceeStop(Enum):
    """Why it stands."""

    HELD = auto()
    CALL = auto()  # a system call begins, or ends
    SIGNAL = auto()
    EXEC = auto()
    END = auto()


class Tracee:
    """A thread that is traced; an exec changes its number to that of its process."""

    def __init__(self, thread: int) -> None:
        """Seize it; it runs on.

        Raises:
            OSError: it has gone, is traced already, or may not be traced.
        """
        self.pid = thread
        # Which it stands at, and which reaches it when it goes on.
        self.signal = 0
        self._stands = False
        self._ptrace_request(_SEIZE, 0, _OPTIONS)

    def stop_thread(self) -> TraceeStop:
        """Stop it where it is."""
        self._ptrace_request(_INTERRUPT)
        return self._wait_for_stop()

    def continue_thread(self, *, to_call: bool = False) -> TraceeStop:
        """Let it go on to a signal, an exec or its end, and `to_call` to a system call's ends."""
        number, self.signal = self.signal, 0
        self._ptrace_request(_CALL if to_call else _CONT, 0, number)
        return self._wait_for_stop()

    def detach_thread(self) -> None:
        """Trace it no longer."""
        if self._stands:
            with suppress(OSError):  # it was killed
                self._ptrace_request(_DETACH, 0, self.signal)

    def _wait_for_stop(self) -> TraceeStop:
        self._stands = False
        while True:
            self.pid, status = os.waitpid(-1, _OURS)
            if not os.WIFSTOPPED(status):
                return TraceeStop.END
            event, number = status >> 16, status >> 8 & 0xFF
            if event == _EVENT_STOP and number in _STOPS:
                self._ptrace_request(_LISTEN)  # stopped as a job is, until it is continued
                continue
            self._stands = True
            if event:
                return TraceeStop.EXEC if event == _EVENT_EXEC else TraceeStop.HELD
            if number == _AT_CALL:
                return TraceeStop.CALL
            self.signal = number
            return TraceeStop.SIGNAL

    def _ptrace_request(self, request: int, address: int = 0, value: int = 0) -> None:
        words = (ctypes.c_long(request), ctypes.c_long(self.pid), ctypes.c_void_p(address))
        if _LIBC.ptrace(*words, ctypes.c_void_p(value)) == -1:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    def read_registers(self) -> dict[str, int]:
        """Return its registers."""
        room = ctypes.create_string_buffer(_REGISTERS.size)
        self._ptrace_request(_GET, 0, ctypes.addressof(room))
        return dict(zip(_NAMES, _REGISTERS.unpack(room.raw), strict=True))

    def set_registers(self, values: Mapping[str, int]) -> None:
        """Set its registers."""
        room = ctypes.create_string_buffer(_REGISTERS.pack(*(values[name] for name in _NAMES)))
        self._ptrace_request(_SET, 0, ctypes.addressof(room))

    def read_memory(self, address: int, count: int) -> bytes:
        """Read its memory; fewer bytes where it ends."""
        memory = os.open(f"/proc/{self.pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.pread(memory, count, address)
        finally:
            os.close(memory)

    def write_memory(self, address: int, data: bytes) -> None:
        """Write its memory, its code too."""
        memory = os.open(f"/proc/{self.pid}/mem", os.O_RDWR | os.O_CLOEXEC)
        try:
            os.pwrite(memory, data, address)
        finally:
            os.close(memory)

    def map_page(self) -> int:
        """Have it map a page that may be written and run; return its address, 0 where it ended.

        It has to stand where a system call ends.

        Raises:
            OSError: the kernel does not allow it.
        """
        before = self.read_registers()
        at = before["rip"]
        code = self.read_memory(at, len(_SYSCALL_AND_TRAP))
        self.write_memory(at, _SYSCALL_AND_TRAP)
        call = {"rax": _MMAP, "rdi": 0, "rsi": mmap.PAGESIZE, "rdx": 7, "r10": 0x22, "r8": _NONE}
        self.set_registers({**before, **call, "r9": 0, "orig_rax": _NONE})
        while (
            stop := self.continue_thread()
        ) is not TraceeStop.END and self.signal != signal.SIGTRAP:
            pass
        if stop is TraceeStop.END:
            return 0
        self.signal = 0
        page = self.read_registers()["rax"]
        self.write_memory(at, code)
        self.set_registers({**before, "orig_rax": _NONE})
        if page >= _ERRORS:
            number = (1 << 64) - page
            raise OSError(number, os.strerror(number))
        return page
