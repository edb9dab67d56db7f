"""Runs a native program once with the lines and branches of its own functions counted."""

from __future__ import annotations

import importlib.util
import platform
import struct
import tempfile
from pathlib import Path

from msgspec import structs

from debugger.backends import select_backend
from debugger.questions.recordings import counted_run, recorded_run
from debugger.questions.recordings.recorded_run import RecordedProgram, RecordedRun
from debugger.questions.recordings.traced_run import own_sources
from debugger.questions.runner import command_call
from debugger.recorders.native.native_recorder import NativeRecorder
from debugger.recorders.recorded_process import record_run
from debugger.symbols import elf_headers
from debugger.symbols.elf_headers import NotElfError

_HEAD = 1 << 16  # bytes


def can_count(program: str) -> bool:
    """Tell whether Frida can translate a program: one for this machine, with a loader."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return False
    if importlib.util.find_spec(select_backend.FRIDA) is None:
        return False
    try:
        with Path(program).open("rb") as file:
            head = file.read(_HEAD)
        header = elf_headers.parse_header(head)
        if not header.is_64 or header.machine != elf_headers.MACHINE_X86_64:
            return False
        segments = elf_headers.read_segments(lambda at, size: head[at : at + size], header)
    except (NotElfError, OSError, struct.error):
        return False
    return any(one.kind == elf_headers.INTERPRETER for one in segments)


async def run_native_counted(program: RecordedProgram) -> RecordedRun | None:
    """Run a program with its blocks counted; None where that is not possible, and it did not run.

    Raises:
        DebuggerError: LAUNCH_FAILED if it cannot be run.
    """
    launch = program.launch
    if launch.program is None or not can_count(launch.program):
        return None
    sources = own_sources(launch.program, launch.cwd)
    if not sources:
        return None
    stdin = await command_call.stdin_bytes(launch)
    with tempfile.TemporaryDirectory(prefix="blocks-", dir=program.scratch) as folder:
        recorder = NativeRecorder(Path(folder), launch.env, sources)
        ran = await record_run(
            recorder.host_argv(program.launch_argv),
            recorder,
            cwd=launch.cwd,
            env=launch.env,
            stdin=stdin,
            timeout_s=program.patience.seconds,
            scratch_root=program.scratch,
            interrupted=program.patience.interrupted,
            idle_limits=program.patience.idle_limits,
            shown=program.launch_argv,
        )
    if ran.faults or not ran.recordings[0].functions:
        return None
    if ran.is_timed_out:
        # With its host the program itself was left, and Frida's helper.
        ran = structs.replace(ran, killed=())
    own = ran.recordings[0]
    view = recorded_run.recorded_run_view(program, ran, own)
    return RecordedRun(own, ran.recordings, view, counted_run.COUNTED)
