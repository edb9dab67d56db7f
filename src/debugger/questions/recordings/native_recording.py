"""Records the lines of a native program: chooses the recorder, and runs the program with it."""

from __future__ import annotations

import importlib.util
import platform
import struct
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import structs

from debugger.backends import backend_names
from debugger.errors import DebuggerError, ErrorCode
from debugger.questions.recordings import counted_run, recorded_run
from debugger.questions.recordings.recorded_run import RecordedProgram, RecordedRun
from debugger.questions.recordings.traced_run import own_sources
from debugger.questions.runner import command_call
from debugger.recorders.native.line_recorder import NativeLineRecorder, NativeLines
from debugger.recorders.native.native_recorder import NativeRecorder
from debugger.recorders.recorded_process import CompletedRun, record_run
from debugger.symbols import elf_headers
from debugger.symbols.elf_headers import NotElfError

_HEAD = 1 << 16  # bytes
_LINES_ONLY = (
    "which lines ran is known, and not how often: Frida, which counts them, cannot run this "
    "program, or is not installed (debugger doctor)"
)


def can_count(program: str) -> bool:
    """Return whether Frida can translate a program: one for this machine, with a loader."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return False
    if importlib.util.find_spec(backend_names.FRIDA) is None:
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


def native_recorders(
    program: str, cwd: str, env: Mapping[str, str], folder: Path, *, needs_counts: bool
) -> Iterator[NativeRecorder | NativeLineRecorder]:
    """Yield the recorders of a native program, the best one first; the next one is its fallback.

    Counts of blocks show branches and how often a line ran: Frida translates the program for them.
    Breakpoints that are removed when they are reached show which lines ran, and nothing more, but
    need nothing installed, cost little, follow forked processes, and take static programs. Where
    counts are not needed, they are all there is to try.

    Raises:
        DebuggerError: NOT_SUPPORTED where no line of the program's own sources is known, or here.
    """
    if needs_counts and can_count(program) and (sources := own_sources(program, cwd)):
        yield NativeRecorder(folder, env, sources)
    yield NativeLineRecorder(NativeLines(program, cwd))


async def record_native(program: RecordedProgram) -> RecordedRun | None:
    """Run a program with its lines counted, or else recorded; None where neither is possible.

    Raises:
        DebuggerError: LAUNCH_FAILED if it cannot be run.
    """
    launch = program.launch
    if launch.program is None:
        return None
    with tempfile.TemporaryDirectory(prefix="native-", dir=program.scratch) as folder:
        try:
            recorders = native_recorders(
                launch.program, launch.cwd, launch.env, Path(folder), needs_counts=True
            )
            for recorder in recorders:
                ran = await _run_recorder(program, recorder)
                if not ran.faults and ran.recordings[0].functions:
                    return _to_run(program, recorder, ran)
        except DebuggerError as error:
            if error.code is not ErrorCode.NOT_SUPPORTED:
                raise
    return None


async def _run_recorder(
    program: RecordedProgram, recorder: NativeRecorder | NativeLineRecorder
) -> CompletedRun:
    launch = program.launch
    return await record_run(
        recorder.command_line(program.launch_argv),
        recorder,
        cwd=launch.cwd,
        env=launch.env,
        stdin=await command_call.stdin_bytes(launch),
        timeout_s=program.patience.seconds,
        scratch_root=program.scratch,
        interrupted=program.patience.interrupted,
        idle_limits=program.patience.idle_limits,
        shown=program.launch_argv,
    )


def _to_run(
    program: RecordedProgram, recorder: NativeRecorder | NativeLineRecorder, ran: CompletedRun
) -> RecordedRun:
    if ran.is_timed_out:
        # With its host the program itself was left, and Frida's helper.
        ran = structs.replace(ran, killed=())
    own = ran.recordings[0]
    view = recorded_run.recorded_run_view(program, ran, own)
    if isinstance(recorder, NativeLineRecorder):
        view = structs.replace(view, notes=(*view.notes, _LINES_ONLY))
    return RecordedRun(own, ran.recordings, view, counted_run.COUNTED)
