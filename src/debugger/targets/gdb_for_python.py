"""Which gdb enters a Python process: debugpy injects its server with the one on its PATH."""

from __future__ import annotations

import functools
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from debugger.backends.adapters.gdb.gdb_version import gdb_output
from debugger.errors import DebuggerError, ErrorCode
from debugger.paths import data_dir

_TRIAL = ("set startup-with-shell off", "starti", "print $xmm0.v4_int32[0] = 2")
_FAILURE = "Couldn't write"
_BY_HAND = (
    "or start the program with python -m debugpy --listen 5678 APP.py, "
    "then: debugger attach --connect localhost:5678"
)


def with_tracer(env: Mapping[str, str]) -> Mapping[str, str]:
    """Return an environment whose PATH has what debugpy 1.8.22 enters a process by.

    That is gdb, or LLDB on macOS. Of the gdb on the PATH and the one that `debugger setup`
    installs, the first is taken that can call a function in a process on this machine.

    Raises:
        DebuggerError: ADAPTER_NOT_FOUND.
    """
    tool = "lldb" if sys.platform == "darwin" else "gdb"
    path = env.get("PATH", os.defpath)
    ours = f"{data_dir(env)}/adapters/gdb"
    on_path = shutil.which(tool, path=path)
    if on_path is not None and _can_call(on_path):
        return env
    own = shutil.which(tool, path=ours)
    if own is not None and _can_call(own):
        return {**env, "PATH": f"{ours}{os.pathsep}{path}"}
    if on_path is None:
        raise DebuggerError(
            ErrorCode.ADAPTER_NOT_FOUND,
            f"debugpy needs {tool} to enter a running process, and it is not on the PATH",
            hint=f"install {tool}; {_BY_HAND}",
        )
    raise DebuggerError(
        ErrorCode.ADAPTER_NOT_FOUND,
        f"{on_path} cannot write the registers of this processor: "
        "a process that debugpy entered with it would die",
        hint=f"debugger setup gdb; {_BY_HAND}",
    )


def _can_call(gdb: str) -> bool:
    """Tell whether a gdb can call a function in a process.

    gdb 13 cannot where the processor has AMX: it gives the kernel too little of the extended
    registers, the call fails half done, and the process dies of it.
    """
    if sys.platform == "darwin" or not _has_large_registers():
        return True
    # It writes a register of a process of its own.
    words = (word for order in _TRIAL for word in ("-ex", order))
    answer = gdb_output(gdb, *words, sys.executable)
    return answer is None or _FAILURE not in answer  # else the attach itself will say


@functools.cache
def _has_large_registers() -> bool:
    try:
        return " amx_tile" in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False


__all__ = ["with_tracer"]
