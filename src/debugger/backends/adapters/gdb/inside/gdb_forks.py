"""Reports each process that the program forks, and holds it for a debugger of its own.

Run inside gdb (seen with 16.3). A catchpoint's condition is judged while gdb still holds the new
process, and no step is lost where it does not stop. There the process gets a SIGSTOP, which it
takes as soon as gdb lets it go. The children of vfork(), posix_spawn() and clone(CLONE_VM) share
their parent's memory, where breakpoints would be the parent's: they are left alone.
"""

from __future__ import annotations

import importlib
import os
import platform
import re
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

gdb: Any = importlib.import_module("gdb")
server: Any = importlib.import_module("gdb.dap.server")
startup: Any = importlib.import_module("gdb.dap.startup")
breakpoints: Any = importlib.import_module("gdb.dap.breakpoint")

_NAME = "_debugger_forked"
_CHILD = re.compile(r"\bprocess (\d+)")
_CAP_SYS_PTRACE = 1 << 19
# System call numbers of kcmp(2), which has no function in the C library.
_KCMP = {"x86_64": 312, "aarch64": 272}
_KCMP_VM = 1
# Seconds: a fork is let go within milliseconds, unless the machine is busy.
_WAIT_S = 3.0
_LOOK_S = 0.005

_state: Any = None
_stopped: set[tuple[int, str]] = set()  # with when they began, as the system counts


class _ForkCondition(gdb.Function):  # type: ignore[misc]
    """The condition of the catchpoint: it holds never, and sees every fork."""

    def __init__(self) -> None:
        super().__init__(_NAME)
        self.number = 0

    def invoke(self) -> bool:
        """Stop the new process and tell of it."""
        # How a child gets a debugger of its own, from here to the end of this file:
        #
        # 1. gdb stops at the fork, with both processes held, and evaluates the catchpoint's
        #    condition: this function. The new pid is in the catchpoint's own description.
        # 2. A child that another gdb cannot attach to, or that shares its parent's memory, is left
        #    alone.
        # 3. The child gets a SIGSTOP, which stays pending while gdb holds it, and our side gets the
        #    event `debuggerForked`.
        # 4. The condition is false: gdb detaches from the child (detach-on-fork) and lets the
        #    parent go on. The child takes its SIGSTOP as soon as it is let go.
        # 5. Our side starts a second gdb, which waits in `await_free` until the child is stopped
        #    and has no tracer, attaches, and sends SIGCONT (`held`), which it passes on.
        # 6. If nobody comes, this gdb sends the SIGCONT at its own end (`let_go`), or our side
        #    does.
        with suppress(gdb.error, OSError, ValueError):
            pid = self._child_pid()
            if pid and _can_be_debugged(pid):
                # With the start time: a pid may be reused before the end.
                _stopped.add((pid, _start_time(pid)))
                _pass_stops()
                os.kill(pid, signal.SIGSTOP)  # after what can fail: nobody else lets it go on
                server.send_event("debuggerForked", {"systemProcessId": pid})
        return False

    def _child_pid(self) -> int:
        known = gdb.execute(f"info breakpoints {self.number}", to_string=True)
        match = _CHILD.search(known)
        return int(match[1]) if match else 0


def _pass_stops() -> None:
    """Have the new process keep its SIGSTOP: gdb takes away what the program is not to see.

    It is let go before the next event is looked at; a pause's own signal is not to be passed.
    """
    gdb.execute("handle SIGSTOP pass", to_string=True)
    gdb.post_event(lambda: gdb.execute("handle SIGSTOP nopass", to_string=True))


def _can_be_debugged(pid: int) -> bool:
    """Return whether another gdb may attach to a new process, and has its memory to itself."""
    # The user's raw commands may have changed the modes.
    is_ours = _state.is_local and _state.pid and gdb.parameter("follow-fork-mode") == "parent"
    is_let_go = is_ours and gdb.parameter("detach-on-fork")
    return bool(is_let_go and _may_attach() and not _shares_memory(pid))


def _may_attach() -> bool:
    """Return whether a process may be traced that is not below its tracer (Linux: Yama)."""
    try:
        scope = int(Path("/proc/sys/kernel/yama/ptrace_scope").read_text())
    except OSError:  # no Yama
        return True
    if scope == 0:
        return True
    mask = re.search(r"^CapEff:\s*([0-9a-f]+)", Path("/proc/self/status").read_text(), re.MULTILINE)
    # The second gdb is no ancestor of the child: scopes 1 and 2 need the capability.
    return scope < 3 and mask is not None and bool(int(mask[1], 16) & _CAP_SYS_PTRACE)  # noqa: PLR2004 - 3 is: nobody at all


def _shares_memory(pid: int) -> bool:
    """Return whether a new process has its parent's memory, by kcmp(2); False where unknown."""
    number = _KCMP.get(platform.machine())
    if number is None:
        return False
    try:
        library = importlib.import_module("ctypes").CDLL(None)
    except ImportError:
        return False
    # 0 means the same; -1 is an error, and counts as a memory of its own.
    return bool(library.syscall(number, _state.pid, pid, _KCMP_VM, 0, 0) == 0)


# -- at the other end: the debugger of such a process ----------------------------------------------


def await_free(pid: int) -> None:
    """Wait until a process has come to its SIGSTOP, and its parent's debugger has let it go.

    Raises:
        DAPException: it has ended, or is still held after a few seconds.
    """
    limit = time.monotonic() + _WAIT_S
    while not _is_free(pid):
        if time.monotonic() > limit:
            raise startup.DAPException(f"the process {pid} is held by another debugger")
        time.sleep(_LOOK_S)  # nothing tells of another process's stop


def _is_free(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/status").read_text(errors="replace")
    except OSError as error:
        raise startup.DAPException(f"the process {pid} has ended") from error
    if re.search(r"^State:\s*[ZX]", status, re.MULTILINE):
        raise startup.DAPException(f"the process {pid} has ended")
    return bool(
        re.search(r"^State:\s*T", status, re.MULTILINE)
        and re.search(r"^TracerPid:\s*0$", status, re.MULTILINE)
    )


def mark_held(pid: int) -> None:
    """Note that a process is held by us now: it needs its SIGSTOP no more."""
    # The SIGCONT ends the stop of the whole process; reported, it would be a stop of the user's.
    gdb.execute("handle SIGCONT nostop noprint pass", to_string=True)
    os.kill(pid, signal.SIGCONT)


def _start_time(pid: int) -> str:
    """Return when a process began, proc_pid_stat(5): no other has both this and its number."""
    return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[19]


def let_go() -> None:
    """Let those go on that nobody has taken, as this debugger goes."""
    for pid, began in tuple(_stopped):
        with suppress(OSError, startup.DAPException):  # it has ended
            if _start_time(pid) == began and _is_free(pid):
                os.kill(pid, signal.SIGCONT)
    _stopped.clear()


def begin(state: Any, replaced: Any) -> None:
    """Watch for forks."""
    del replaced
    global _state  # noqa: PLW0603 - there is one program
    _state = state
    state.let_go_children = let_go
    state.await_free, state.hold_child = await_free, mark_held
    forked = _ForkCondition()
    before = {one.number for one in gdb.breakpoints()}
    # A gdb that cannot watch for forks debugs all the same; the children run free.
    with breakpoints.suppress_new_breakpoint_event(), suppress(gdb.error):
        gdb.execute(f"catch fork if ${_NAME}()", to_string=True)
    made = [one.number for one in gdb.breakpoints() if one.number not in before]
    forked.number = made[0] if made else 0
