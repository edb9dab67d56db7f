"""Refuses programs that would die of an injected agent, each with a reason."""

from __future__ import annotations

import platform
import shlex
import struct
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from debugger.errors import DebuggerError, ErrorCode
from debugger.symbols import elf_headers
from debugger.symbols.elf_headers import NotElfError

_SECCOMP_STRICT = "1"
# Signal 5, from bit 0 on.
_SIGTRAP_BIT = 1 << 4
_OTHER_BACKEND = "debugger start PROGRAM --adapter gdb stays outside of it"


def check_machine() -> None:
    """Refuse machines that the engine's machine code is not for.

    Raises:
        DebuggerError: NOT_SUPPORTED.
    """
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"the frida backend is for Linux on x86-64, and this is {platform.system()} on "
            f"{platform.machine()}",
            hint=_OTHER_BACKEND,
        )
    # enter.S saves the vector registers by xsave64 around each call of the agent.
    if not _has_xsave():
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED, "this processor has no XSAVE", hint=_OTHER_BACKEND
        )


def _has_xsave() -> bool:
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return True
    return " xsave " in flags.replace("\n", " ")


def check_program(path: str, *, pid: int | None = None) -> None:
    """Refuse a file that Frida cannot enter without killing it; a process's file by its `pid`.

    Raises:
        DebuggerError: LAUNCH_FAILED, NOT_SUPPORTED.
    """
    try:
        with Path(path).open("rb") as file:
            head = file.read(1 << 16)
    except OSError as error:
        raise DebuggerError(
            ErrorCode.LAUNCH_FAILED,
            f"{path} cannot be read: {error.strerror}",
            hint="debugger start PROGRAM, with the path of an existing file",
        ) from error
    outside = _outside_text("start", path) if pid is None else _outside_text("attach", pid)
    try:
        header = elf_headers.parse_header(head)
    except (NotElfError, struct.error):
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{path} is not an ELF program",
            hint="debugger start PROGRAM, with the binary itself, not with a script that runs it",
        ) from None
    if not header.is_64 or header.machine != elf_headers.MACHINE_X86_64:
        raise DebuggerError(ErrorCode.NOT_SUPPORTED, f"{path} is not for x86-64", hint=outside)
    # Without PT_INTERP there is no loader: Frida's spawn fails, and an attach kills the
    # program by SIGABRT (frida 17.25).
    segments = elf_headers.read_segments(lambda at, size: head[at : at + size], header)
    if not any(one.kind == elf_headers.INTERPRETER for one in segments):
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{path} is linked statically, and has no loader by which the engine could enter it",
            hint=outside,
        )


def _outside_text(verb: str, target: object) -> str:
    return f"debugger {verb} {shlex.quote(str(target))} --adapter gdb stays outside of it"


def check_process(pid: int) -> None:
    """Refuse processes that attaching would kill, or that we may not touch.

    Raises:
        DebuggerError: NOT_FOUND, DENIED, NOT_SUPPORTED.
    """
    proc = Path(f"/proc/{pid}")
    if not proc.is_dir():
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"there is no process {pid}",
            hint="debugger attach PID, of a process that lives",
        )
    try:
        maps = (proc / "maps").read_text(encoding="utf-8", errors="replace")
        program = (proc / "exe").readlink()
    except PermissionError as error:
        raise _denied_error(pid) from error
    except OSError as error:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"process {pid} is a thread of the kernel, or has just ended",
            hint="debugger attach PID, of a program that lives",
        ) from error
    check_program(f"/proc/{pid}/exe", pid=pid)
    check_library(pid, maps, str(program))
    # Two agents would patch the same code, and each would restore what the other wrote.
    if "frida-agent" in maps:
        raise DebuggerError(
            ErrorCode.WRONG_STATE,
            f"Frida is inside process {pid} already",
            hint="debugger sessions shows whether it is one of ours",
        )
    # The kernel kills a thread that raises a blocked SIGTRAP itself. Later the agent keeps
    # the signal out of masks (agent/70_handlers.js), but it cannot change a thread that runs
    # elsewhere.
    blocked = blocking_threads(pid)
    if blocked:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"threads {', '.join(map(str, blocked))} of process {pid} have SIGTRAP blocked, and "
            f"a breakpoint would kill them",
            hint=_outside_text("attach", pid),
        )
    status = _process_status(proc / "status")
    check_state(pid, status)
    tracer = status.get("TracerPid", "0")
    # A process has one tracer, and Frida needs ptrace to get in.
    if tracer != "0":
        raise DebuggerError(
            ErrorCode.WRONG_STATE,
            f"process {pid} is being debugged by process {tracer}",
            hint="debugger sessions shows whether it is one of ours",
        )


def still_loading(pid: int) -> DebuggerError:
    """Return the error for a process whose dynamic loader does not come to an end."""
    return DebuggerError(
        ErrorCode.WRONG_STATE,
        f"process {pid} is still being loaded: its dynamic loader has not finished",
        hint=_outside_text("attach", pid),
    )


def check_library(pid: int, maps: str, program: str) -> None:
    """Refuse a process that its map (proc_pid_maps(5)) shows without a C library.

    Raises:
        DebuggerError: NOT_SUPPORTED.
    """
    # musl's loader and C library are one file.
    if "libc.so" not in maps and "libc-" not in maps and "ld-musl" not in maps:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"process {pid} ({program}) has no C library: injection would end it",
            hint=_outside_text("attach", pid),
        )


def check_state(pid: int, status: Mapping[str, str]) -> None:
    """Refuse a process that its status (proc_pid_status(5)) shows stopped, or without system calls.

    Raises:
        DebuggerError: WRONG_STATE, NOT_SUPPORTED.
    """
    # Frida would wake it by SIGCONT, and nobody could stop it again as it was.
    if status.get("State", "").startswith("T"):
        raise DebuggerError(
            ErrorCode.WRONG_STATE,
            f"process {pid} was stopped by a signal; injection would continue it",
            hint=f"kill -CONT {pid} lets it run first; debugger attach {pid} --adapter gdb stays "
            "outside",
        )
    # The thread that Frida borrows makes system calls: mmap alone would kill it. Filters
    # (mode 2) may let it pass, so they are not refused.
    if status.get("Seccomp", "0") == _SECCOMP_STRICT:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"process {pid} may only read, write and exit (seccomp): injection would end it",
            hint=_outside_text("attach", pid),
        )


def blocking_threads(pid: int) -> list[int]:
    """List the threads that have SIGTRAP blocked: a breakpoint kills such a thread."""
    found = []
    for task in sorted(Path(f"/proc/{pid}/task").glob("*")):
        blocked = int(_process_status(task / "status").get("SigBlk", "0"), 16)
        if blocked & _SIGTRAP_BIT:
            found.append(int(task.name))
    return found


def _process_status(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}


def _denied_error(pid: int) -> DebuggerError:
    scope = "0"
    with suppress(OSError):
        scope = Path("/proc/sys/kernel/yama/ptrace_scope").read_text(encoding="ascii").strip()
    because = f" (kernel.yama.ptrace_scope is {scope})" if scope != "0" else ""
    return DebuggerError(
        ErrorCode.DENIED,
        f"no permission to inject into process {pid}{because}",
        hint="debugger start runs the program itself, which needs no such right",
    )
