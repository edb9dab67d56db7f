"""Runs a program, or the launcher that starts it, with a recording of each of its processes."""

from __future__ import annotations

from debugger.questions.recordings import counted_run
from debugger.questions.recordings.recorded_run import (
    RecordedProgram,
    record_python,
    record_script,
    unsupported_error,
)
from debugger.questions.runner import command_call
from debugger.recorders.go import go_recorder
from debugger.recorders.model import LineRecording, RecordingOrder
from debugger.recorders.native import line_recorder
from debugger.recorders.recorded_process import CompletedRun, record_run
from debugger.recorders.script import script_recorder


async def record_processes(program: RecordedProgram) -> CompletedRun:
    """Run a program with its processes apart.

    Of Python each line is recorded. In Node and Go it is counted how often lines ran; of compiled
    code it is known which lines ran.

    Raises:
        DebuggerError: NOT_SUPPORTED for a language or a program that cannot be recorded so;
            LAUNCH_FAILED.
    """
    if program.is_python:
        order = RecordingOrder(program.source_roots, lines=LineRecording.EACH)
        return await record_python(program, order, is_compared=True)
    if program.is_native and program.launch.program is not None:
        return await _record_native(program, program.launch.program)
    if program.language in script_recorder.LANGUAGES:
        order = RecordingOrder(program.source_roots, lines=LineRecording.EACH)
        return await record_script(program, order)
    if program.language not in counted_run.LANGUAGES:
        raise unsupported_error(program)
    is_go = program.language == counted_run.GO
    before = go_recorder.RANK_WORDS if is_go and program.launcher else ()
    return await counted_run.run_counted(
        program.launch,
        program.language,
        words=program.words,
        roots=program.source_roots,
        patience=program.patience,
        scratch=program.scratch,
        wrap=lambda words: program.wrap_command([*before, *words]),
    )


async def _record_native(program: RecordedProgram, file: str) -> CompletedRun:
    lines = line_recorder.NativeLines(file, program.launch.cwd)
    recorder = line_recorder.NativeLineRecorder(lines, is_each=True)
    own = [*line_recorder.RANK_WORDS, *command_call.launch_argv(program.launch)]
    try:
        return await record_run(
            program.wrap_command(own),
            recorder,
            cwd=program.launch.cwd,
            env=program.launch.env,
            stdin=await command_call.stdin_bytes(program.launch),
            timeout_s=program.patience.seconds,
            scratch_root=program.scratch,
            interrupted=program.patience.interrupted,
            idle_limits=program.patience.idle_limits,
        )
    finally:
        lines.close()
