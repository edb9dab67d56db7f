"""Holds a process that becomes another program by exec, where the new program begins."""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import stat
import struct
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Any, Final

from debugger.backends.inprocess.engine.child_processes import FREE, write_process
from debugger.backends.inprocess.engine.machine_code import ARRIVE
from debugger.backends.inprocess.engine.preflight import check_library, check_program
from debugger.errors import DebuggerError

# Numbers of ptrace(2) requests, from sys/ptrace.h. SEIZE and not ATTACH: the thread gets no
# SIGSTOP, which the program could see, and group stops can be told from others (LISTEN).
_SEIZE, _INTERRUPT, _LISTEN = 0x4206, 0x4207, 0x4208
_CONT, _CALL, _DETACH, _GET, _SET = 7, 24, 17, 12, 13
_OPTIONS: Final = 1 << 4 | 1  # of PTRACE_SETOPTIONS: TRACEEXEC, TRACESYSGOOD
_OURS: Final = 0x4000_0000 | 0x2000_0000  # __WALL, __WNOTHREAD: what this thread traces
# With TRACESYSGOOD a stop at a system call has bit 7 set, so it is no SIGTRAP of the
# program's.
_AT_CALL: Final = signal.SIGTRAP | 0x80
# In bits 16 and up of the wait status: PTRACE_EVENT_EXEC, PTRACE_EVENT_STOP.
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
# syscall; int3
# The trap gives control back as soon as the system call has been made.
_SYSCALL_AND_TRAP: Final = b"\x0f\x05\xcc"
_MMAP: Final = 9
_NONE: Final = (1 << 64) - 1  # of a descriptor, and of a system call that is to be made again
# The kernel returns -errno as the word itself, from -4095 on.
_ERRORS: Final = (1 << 64) - 4096


class TraceeStop(Enum):
    """Says why a traced thread has stopped."""

    HELD = auto()
    CALL = auto()  # a system call begins, or ends
    SIGNAL = auto()
    EXEC = auto()
    END = auto()


class Tracee:
    """Traces one thread by ptrace; an exec changes its number to that of its process.

    All requests must come from the operating system thread that has seized it (ptrace(2)).
    """

    def __init__(self, thread: int) -> None:
        """Seize the thread, which runs on.

        Raises:
            OSError: it has gone, is traced already, or may not be traced.
        """
        self.pid = thread
        # The signal that the thread has stopped at. It is delivered when the thread goes on,
        # unless it is set to 0 before.
        self.signal = 0
        self._stands = False
        self._ptrace_request(_SEIZE, 0, _OPTIONS)

    def stop_thread(self) -> TraceeStop:
        """Stop the thread where it is."""
        self._ptrace_request(_INTERRUPT)
        return self._wait_for_stop()

    def continue_thread(self, *, to_call: bool = False) -> TraceeStop:
        """Resume until a signal, an exec, the end or, `to_call`, either end of a system call."""
        number, self.signal = self.signal, 0
        self._ptrace_request(_CALL if to_call else _CONT, 0, number)
        return self._wait_for_stop()

    def detach_thread(self) -> None:
        """Stop tracing the thread."""
        # PTRACE_DETACH fails with ESRCH on a thread that runs; one that has ended needs none.
        if self._stands:
            with suppress(OSError):  # it was killed
                self._ptrace_request(_DETACH, 0, self.signal)

    def _wait_for_stop(self) -> TraceeStop:
        self._stands = False
        while True:
            # Any child of this thread, and not `self.pid`: after the exec of a thread that
            # was not the leader, the status comes with the number of the process.
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
        """Return the registers of the stopped thread."""
        room = ctypes.create_string_buffer(_REGISTERS.size)
        self._ptrace_request(_GET, 0, ctypes.addressof(room))
        return dict(zip(_NAMES, _REGISTERS.unpack(room.raw), strict=True))

    def set_registers(self, values: Mapping[str, int]) -> None:
        """Set the registers of the stopped thread."""
        room = ctypes.create_string_buffer(_REGISTERS.pack(*(values[name] for name in _NAMES)))
        self._ptrace_request(_SET, 0, ctypes.addressof(room))

    def read_memory(self, address: int, count: int) -> bytes:
        """Read memory of the process; fewer bytes where the mapping ends."""
        memory = os.open(f"/proc/{self.pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.pread(memory, count, address)
        finally:
            os.close(memory)

    def write_memory(self, address: int, data: bytes) -> None:
        """Write memory of the process, read-only code included."""
        memory = os.open(f"/proc/{self.pid}/mem", os.O_RDWR | os.O_CLOEXEC)
        try:
            os.pwrite(memory, data, address)
        finally:
            os.close(memory)

    def map_page(self) -> int:
        """Map a writable and executable page in the process; return its address, 0 at its end.

        The thread must stand where a system call ends.

        Raises:
            OSError: the kernel does not allow it.
        """
        # The thread itself must make the system call, so the code at its rip becomes
        # `syscall; int3` for a moment. Nobody else runs in the process: the exec has ended
        # all other threads.
        before = self.read_registers()
        at = before["rip"]
        code = self.read_memory(at, len(_SYSCALL_AND_TRAP))
        self.write_memory(at, _SYSCALL_AND_TRAP)
        # mmap(0, 4096, READ|WRITE|EXEC, PRIVATE|ANONYMOUS, -1, 0). orig_rax = -1 says that no
        # system call is under way, or the kernel would subtract two from rip to restart one
        # (-ERESTARTSYS).
        call = {"rax": _MMAP, "rdi": 0, "rsi": mmap.PAGESIZE, "rdx": 7, "r10": 0x22, "r8": _NONE}
        self.set_registers({**before, **call, "r9": 0, "orig_rax": _NONE})
        while (
            stop := self.continue_thread()
        ) is not TraceeStop.END and self.signal != signal.SIGTRAP:
            pass
        if stop is TraceeStop.END:
            return 0
        # The trap was ours: nothing is to be delivered.
        self.signal = 0
        page = self.read_registers()["rax"]
        self.write_memory(at, code)
        self.set_registers({**before, "orig_rax": _NONE})
        if page >= _ERRORS:
            number = (1 << 64) - page
            raise OSError(number, os.strerror(number))
        return page


# A Python thread of the host follows each exec; beyond this number processes run free.
AT_ONCE: Final = 64
_LOST_S: Final = 5.0
_LEAVE_S: Final = 3.0
# The data that ends arrive.S: the word to wait for, the process, the program's entry, where
# AT_ENTRY is on the stack, the host's process id.
_ARRIVE_END: Final = struct.Struct("<iiQQQ")  # the end of ARRIVE
# Keys of the auxiliary vector (getauxval(3)).
_AT_ENTRY, _AT_RANDOM = 9, 25
_STACK_MAX: Final = 1 << 24  # more than the pointers to all words and variables can be
_STRANGE: Final = "its stack does not begin as the kernel writes it"
# It makes no other system calls, between the word that it waits for and its exec, than its wait's.
_CALLS_MAX: Final = 16
_EXECS: Final = (59, 322)  # execve, execveat
_ENTERED: Final = (1 << 64) - 38  # what a system call's answer is where it begins: -ENOSYS
# BINPRM_BUF_SIZE of Linux 5.1 and later is 256 bytes: the kernel reads no more of a #! line.
# It follows an interpreter that is itself a script up to five times (execve(2)).
_SCRIPTS_MAX: Final = 5  # as many as the kernel reads
_HEAD: Final = 256
_PATH_MAX: Final = 4096
# A set-user-ID program that is traced runs without its rights, so the user would see it fail.
_GAINS: Final = stat.S_ISUID | stat.S_ISGID


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingExec:
    """Describes a thread that waits at its exec for a word in memory of its `parent`.

    `path`, an address, and `descriptor` are as execveat(2) has them. The process may be the parent.
    """

    parent: int
    pid: int
    thread: int
    word: int
    path: int
    descriptor: int


def read_becoming(parent: int, payload: Mapping[str, Any]) -> PendingExec:
    """Parse a pending exec as the agent writes it."""
    return PendingExec(
        parent=parent,
        pid=payload["process"],
        thread=payload["thread"],
        word=int(payload["word"], 16),
        path=int(payload["path"], 16),
        descriptor=payload["descriptor"],
    )


class ExecTracker:
    """Follows processes from their exec to the new program's beginning, and holds them there."""

    # An exec takes all of Frida's agent with it, and gating a process that has an agent is
    # not safe (`FridaHost.do_attach`). So the way into the new program is ours, by ptrace,
    # for some milliseconds:
    #
    # 1. The agent's hook at execve & co. writes down the thread and waits
    #    (agent/65_children.js, `hold_exec`); `let_go` starts a thread here.
    # 2. Seize the waiting thread, then send it the word: it goes on into its system call
    #    (`_has_become`). If the exec fails, detach and forget it.
    # 3. At the exec's end the new image is mapped, and nothing of it has run. Map a page, put
    #    arrive.S there, and make AT_ENTRY in the auxiliary vector point to that page
    #    (`_prepare_entry`).
    # 4. Detach only when the page's code has been reached: the loader has done its work then,
    #    and libc is there to inject into. arrive.S tells by SIGURG, which is ignored by
    #    default.
    # 5. Report {"event": "became"} with the address of the word that the process now waits
    #    for; `Engine.follow` enters it and sends FOLLOWED, or FREE is sent.
    #
    # Every wait has a bound: arrive.S goes on by itself after 10 s, or when the host has
    # died.
    def __init__(
        self, emit: Callable[[dict[str, Any]], None], await_lost: Callable[[int, float], None]
    ) -> None:
        self._emit = emit
        # Waits until Frida knows that its agent in a process has gone with the old program.
        # Before that a second attach to the same process would find the old session.
        self._await_lost = await_lost
        self._under_way: list[PendingExec] = []
        self._parents_gone: set[int] = set()
        # Guards both fields: the threads here change them, and so does who detaches.
        self._change = threading.Condition()

    def let_go(self, one: PendingExec) -> None:
        """Let a process go on into its exec, and hold it where the other program begins."""
        with self._change:
            has_room = len(self._under_way) < AT_ONCE
            if has_room:
                self._under_way.append(one)
        # A thread for each, because ptrace binds a tracee to the operating system thread that
        # seized it.
        if has_room:
            threading.Thread(target=self._follow_exec, args=(one,), daemon=True).start()
        else:
            _let_go(one)
            self._report_replaced(one, 0, f"more than {AT_ONCE} processes become others at once")

    def follow_process(self, parent: int) -> None:
        """Follow the execs of a process again, which has been attached to."""
        with self._change:
            self._parents_gone.discard(parent)

    def leave_process(self, parent: int) -> None:
        """Follow no more execs of a process; wait until none of its threads is traced (bounded)."""
        with self._change:
            # A thread has one tracer at a time, and Frida borrows one to unload itself.
            self._parents_gone.add(parent)
            self._change.wait_for(
                lambda: all(one.parent != parent for one in self._under_way), _LEAVE_S
            )

    def _follow_exec(self, one: PendingExec) -> None:
        at = 0
        why: str | None = "it could not be traced"
        try:
            at, why = self._hold_at_start(one)
        except OSError as error:
            why = error.strerror or str(error)
        finally:
            with self._change:
                self._under_way.remove(one)
                self._change.notify_all()
                is_left = one.parent in self._parents_gone
            # Whoever detached meanwhile will not follow it: let it run.
            if is_left and at:
                _send_word(one.pid, at)
            elif not is_left:
                self._report_replaced(one, at, why)

    def _hold_at_start(self, one: PendingExec) -> tuple[int, str | None]:
        # Before its exec, which ends what Frida has in it.
        self._emit({"event": "becoming", "pid": one.parent, "child": one.pid})
        try:
            gains = _privileged_file(one)
            if gains is not None:
                return 0, f"{gains} gives rights to who runs it, and gives none to who is debugged"
            tracee = Tracee(one.thread)
            # Stopped before the word is sent. Else the exec could be over before the thread
            # is traced.
            stop = tracee.stop_thread()
        finally:
            _let_go(one)  # from its exec on, what is there is another's
        try:
            if stop is TraceeStop.END or not _has_become(tracee):
                return 0, None
            at, why = _wait_at_start(tracee)
        finally:
            tracee.detach_thread()
        # The report lets the engine attach again, so Frida must have noticed the end of its
        # first session by then.
        if one.pid == one.parent:
            self._await_lost(one.pid, _LOST_S)
        return at, why

    def _report_replaced(self, one: PendingExec, at: int, why: str | None) -> None:
        fields = {"pid": one.parent, "child": one.pid, "at": at, "why": why}
        self._emit({"event": "became", **fields})


def _let_go(one: PendingExec) -> None:
    _send_word(one.pid, one.word)


def _send_word(pid: int, at: int) -> None:
    with suppress(OSError):  # it has gone
        write_process(pid, [(at, struct.pack("<i", FREE))])


def _has_become(tracee: Tracee) -> bool:
    """Let a thread go to its exec; tell whether the exec succeeded."""
    for _ in range(_CALLS_MAX):
        stop = tracee.continue_thread(to_call=True)
        if stop in {TraceeStop.EXEC, TraceeStop.END}:
            return stop is TraceeStop.EXEC
        if stop is TraceeStop.CALL:
            # A system call stops twice, at its beginning (rax is -ENOSYS) and at its end. An
            # exec that has an end without an EXEC stop before it has failed, and the program
            # goes on in its own code.
            registers = tracee.read_registers()
            if registers["orig_rax"] in _EXECS and registers["rax"] != _ENTERED:
                return False
    return False


def _wait_at_start(tracee: Tracee) -> tuple[int, str | None]:
    """Make a process wait where its program begins, if it may be entered.

    Returns:
        The address of the word that it waits for and None, or 0 and why it may not be injected.
    """
    exe = Path(f"/proc/{tracee.pid}/exe")
    program, at = str(exe.readlink()), 0
    try:
        # By /proc/PID/exe, as the path may mean another file in the process's own root.
        check_program(str(exe))
        at = _arrive_at_entry(tracee)
        if at:
            # The loader has run by now, so a C library is mapped, if the program has one.
            check_library(tracee.pid, exe.with_name("maps").read_text(errors="replace"), program)
    except DebuggerError as error:
        if at:
            _send_word(tracee.pid, at)
        return 0, error.message.replace(str(exe), program)
    return at, None


def _arrive_at_entry(tracee: Tracee) -> int:
    """Run a process to its entry point; return the address of its word, or 0 at its end."""
    page = _prepare_entry(tracee)
    while page:
        stop = tracee.continue_thread()
        if stop is TraceeStop.END:
            return 0
        if stop is TraceeStop.EXEC:  # by a library, when it was loaded
            page = _prepare_entry(tracee)
        # By where the thread is, too: the program's libraries may get a SIGURG of their own.
        elif tracee.signal == signal.SIGURG and page <= tracee.read_registers()["rip"] < page + len(
            ARRIVE
        ):
            tracee.signal = 0  # it was for us
            return page + len(ARRIVE) - _ARRIVE_END.size
    return 0


def _prepare_entry(tracee: Tracee) -> int:
    """Make AT_ENTRY lead to arrive.S in a page of our own; return its address, or 0 at the end."""
    # After the EXEC stop comes the end of the system call itself: only there may registers be
    # changed and a system call be made in the tracee's name.
    while (stop := tracee.continue_thread(to_call=True)) is not TraceeStop.CALL:
        if stop is TraceeStop.END:
            return 0
    page = tracee.map_page()
    if page:
        at, entry = _find_at_entry(tracee)
        # arrive.S puts the right entry back into AT_ENTRY first: the program may read it by
        # getauxval.
        arguments = _ARRIVE_END.pack(0, tracee.pid, entry, at, os.getpid())
        tracee.write_memory(page, ARRIVE[: -_ARRIVE_END.size] + arguments)
        tracee.write_memory(at, struct.pack("<Q", page))
    return page


def _find_at_entry(tracee: Tracee) -> tuple[int, int]:
    """Return where the value of AT_ENTRY is on the stack, and the value."""
    # The kernel has copied the vector to the stack, above argv and envp, whose number is not
    # bounded: so the bytes that /proc shows are searched for. AT_RANDOM points above the
    # vector.
    raw = Path(f"/proc/{tracee.pid}/auxv").read_bytes()
    known = dict(struct.iter_unpack("<QQ", raw))
    if not known.keys() >= {_AT_ENTRY, _AT_RANDOM}:
        raise OSError(_STRANGE)
    entry, low = struct.pack("<QQ", _AT_ENTRY, known[_AT_ENTRY]), tracee.read_registers()["rsp"]
    at = tracee.read_memory(low, min(known[_AT_RANDOM] - low, _STACK_MAX)).find(raw.rstrip(b"\0"))
    if at < 0:
        raise OSError(_STRANGE)
    return low + at + raw.index(entry) + 8, known[_AT_ENTRY]


def _privileged_file(one: PendingExec) -> str | None:
    """Return the file that would give the process more rights: the program, or its interpreter."""
    # The path is the process's own: its root may be another (chroot), and so may be its
    # directory.
    root = Path(f"/proc/{one.pid}/root")
    where = f"/proc/{one.pid}/cwd" if one.descriptor < 0 else f"/proc/{one.pid}/fd/{one.descriptor}"
    name = _read_text(one.pid, one.path)
    path = root / name.lstrip("/") if name.startswith("/") else Path(where) / name
    for _ in range(_SCRIPTS_MAX):
        try:
            mode = path.stat().st_mode
            if not stat.S_ISREG(mode):
                return None
            if mode & _GAINS or "security.capability" in os.listxattr(path):
                return name or str(path)
            with path.open("rb") as file:
                head = file.read(_HEAD)
        except OSError:
            return None
        words = head[2:].partition(b"\n")[0].split()
        if not head.startswith(b"#!") or not words:
            return None
        name = os.fsdecode(words[0])
        path = root / name.lstrip("/")
    return None


def _read_text(pid: int, address: int) -> str:
    memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.fsdecode(os.pread(memory, _PATH_MAX, address).partition(b"\0")[0])
    finally:
        os.close(memory)
