"""Runs a program once with its lines counted (Node, Go, Java), or with values followed (Node)."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.go_test_words import test_arguments
from debugger.model.location import parse_location
from debugger.paths import runtime_dir
from debugger.questions.path.answer import LineCount
from debugger.questions.recordings import java_run
from debugger.questions.recordings.function_lookup import line_text
from debugger.questions.runner import command_call
from debugger.questions.runner.command_call import CommandCall, stdin_bytes
from debugger.questions.runner.question_run import QuestionRun
from debugger.recorders.go import go_recorder as go
from debugger.recorders.model import (
    PartCounts,
    RecordedFunction,
    Recording,
    RecordingNote,
    RecordingWindow,
    has_begun,
    has_ended,
)
from debugger.recorders.native.native_recorder import BLOCKS
from debugger.recorders.node.node_recorder import NodeRecorder
from debugger.recorders.node.origin_run import NodeOrigin, NodeOriginOrder, NodeOriginRecorder
from debugger.recorders.node.v8_ranges import WindowMarks, find_window_marks
from debugger.recorders.recorded_process import (
    CompletedRun,
    ProcessRecorder,
    record_run,
    roots_of,
)
from debugger.session.stepping import WaitLimit
from debugger.sources import project_files
from debugger.system.node_options import split_options

COUNTED = "counted"
_SCRIPTS = "node-scripts"  # in the runtime directory: what the recorder has rewritten
JAVASCRIPT, GO, JAVA = "javascript", "go", "java"
LANGUAGES = frozenset({JAVASCRIPT, GO, JAVA})
NOTE = (
    "only counts are known of {}: not who called whom, in which order, with what; "
    "debugger probe --at FUNC 'EXPR, EXPR' -- CMD tells values"
)
_BETWEEN = {
    JAVASCRIPT: "of the thread that came there alone",
    GO: "with what other goroutines ran meanwhile",
    JAVA: "with what other threads ran meanwhile",
}
_NAMES = {JAVASCRIPT: "JavaScript", GO: "Go", JAVA: "Java", BLOCKS: "native code"}
_LINES = 60  # parts of a function


async def run_counted(
    launch: LaunchTarget,
    language: str,
    *,
    words: Sequence[str],
    roots: Sequence[str],
    patience: WaitLimit,
    scratch: Path | None,
    window: RecordingWindow | None = None,
    wrap: Callable[[list[str]], list[str]] = list,
) -> CompletedRun:
    """Run a program with counters; with a window, only that part of the run is reported.

    `wrap` puts the words of a launcher in front of the program.

    Raises:
        DebuggerError: NOT_SUPPORTED for a built program of Go; LAUNCH_FAILED.
    """
    assert launch.program is not None
    stdin = await command_call.stdin_bytes(launch)
    with tempfile.TemporaryDirectory(prefix="counted-", dir=scratch) as folder:
        argv: list[str]
        env: Mapping[str, str] = launch.env
        recorder: ProcessRecorder
        if language == JAVASCRIPT:
            marks = (
                await asyncio.to_thread(find_window_marks, window, roots)
                if window is not None
                else None
            )
            argv, env = await asyncio.to_thread(node_command, launch)
            recorder = make_node_recorder(roots, marks)
        elif language == JAVA:
            argv, recorder = await java_run.prepare_java(launch, Path(folder), patience, window)
        else:
            argv, recorder = await _build_go(launch, words, patience, Path(folder), window)
        return await record_run(
            wrap(argv),
            recorder,
            cwd=launch.cwd,
            env=env,
            stdin=stdin,
            timeout_s=patience.seconds,
            scratch_root=scratch,
            interrupted=patience.interrupted,
            idle_limits=patience.idle_limits,
        )


def make_node_recorder(roots: Sequence[str], marks: WindowMarks | None = None) -> NodeRecorder:
    """Return a recorder that keeps rewritten scripts in the daemon's own folder."""
    return NodeRecorder(roots, marks, cache=Path(runtime_dir()) / _SCRIPTS)


def node_command(launch: LaunchTarget) -> tuple[list[str], Mapping[str, str]]:
    """Return the command line and the environment that run a script.

    Raises:
        DebuggerError: LAUNCH_FAILED if Node is not installed.
    """
    node = _find_node(launch)
    # Node takes some options on its command line only, such as those that choose tests.
    allowed, others = split_options(launch.env.get("NODE_OPTIONS") or "", node, launch.env)
    env = {**launch.env, "NODE_OPTIONS": allowed} if others else launch.env
    return [node, *others, str(launch.program), *launch.args], env


def _find_node(launch: LaunchTarget) -> str:
    """Return the program of Node.

    Raises:
        DebuggerError: LAUNCH_FAILED if it is not installed.
    """
    node = shutil.which("node", path=launch.env.get("PATH"))
    if node is None:
        raise DebuggerError(
            ErrorCode.LAUNCH_FAILED, "node is not installed", hint="put node on the PATH"
        )
    return node


async def _build_go(
    launch: LaunchTarget,
    words: Sequence[str],
    patience: WaitLimit,
    folder: Path,
    window: RecordingWindow | None,
) -> tuple[list[str], go.GoRecorder]:
    """Build a Go program with counters; return its command line."""
    assert launch.program is not None
    target = project_files.find_go_target(launch.program)
    if target.mode == "exec":
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{Path(launch.program).name} is built without counters: they need its source",
            hint=_source_command(launch.program, words[1:]),
        )
    built = await go.build_with_counters(
        target,
        folder,
        env=launch.env,
        timeout_s=patience.seconds,
        interrupted=patience.interrupted,
        window=window,
    )
    is_test = target.mode == "test"
    given = test_arguments(launch.args) if is_test else launch.args
    return [built.program, *given], built


def _source_command(program: str, args: Sequence[str]) -> str:
    """Return the command that counts a Go program, or a package's tests, from the source."""
    if not program.endswith(project_files.TEST_PROGRAM):
        return f"debugger path -- go run PACKAGE {shlex.join(args)}".rstrip()
    own = [f"-{one[len('-test.') :]}" if one.startswith("-test.") else one for one in args]
    return f"debugger path -- go test ./PACKAGE {shlex.join(own)}".rstrip()


def counting_note(recording: Recording) -> str:
    """Return a note on the limits of a counted run."""
    return NOTE.format(_NAMES.get(recording.process.language, "this language"))


def first_process(recordings: Sequence[Recording]) -> Recording:
    """Return the process to report.

    It is the first process that reached the window, else the first that ran any of the program's
    own code.
    """
    ran = next((one for one in recordings if one.functions), recordings[0])
    return next((one for one in recordings if has_begun(one)), ran)


def explain_window(recording: Recording, start: str, to: str) -> list[str] | None:
    """Describe the counted window; None if the program never reached its start."""
    if not has_begun(recording):
        return None
    if has_ended(recording):
        language = _BETWEEN.get(recording.process.language, "")
        return [f"counted from where {start} begins to where {to} does, {language}"]
    if any(isinstance(one, RecordingNote) and one.kind == "silent" for one in recording.events):
        return []  # how far it came is not known
    how = "passed" if parse_location(to).line else "called"
    return [f"{to} was not {how} after {start}: what follows is to the end"]


def line_counts(recording: Recording, function: RecordedFunction) -> tuple[LineCount, ...]:
    """Return the execution counts of a function's lines, and of the parts within lines."""
    return tuple(
        LineCount(
            one.line, one.times, line_text(function.file, one.line, one.column, one.to), one.column
        )
        for event in recording.events
        if isinstance(event, PartCounts) and event.function == function.number
        for one in event.parts[:_LINES]
    )


def node_roots(launch: LaunchTarget) -> tuple[str, ...]:
    """Return the folders of the program's own scripts, by their real paths."""
    roots = roots_of((str(launch.program), *launch.args), launch.cwd)
    return tuple(dict.fromkeys(os.path.realpath(one) for one in roots))


async def run_node_origin(
    call: CommandCall, question: QuestionRun, launch: LaunchTarget, order: NodeOriginOrder
) -> NodeOrigin:
    """Run the program once, recorded.

    Raises:
        DebuggerError: LAUNCH_FAILED without Node, TIMEOUT.
    """
    recorder = NodeOriginRecorder(order)
    call.scratch_root.mkdir(mode=0o700, parents=True, exist_ok=True)
    patience = question.patience
    argv, env = await asyncio.to_thread(node_command, launch)
    ran: CompletedRun = await record_run(
        argv,
        recorder,
        cwd=launch.cwd,
        env=env,
        stdin=await stdin_bytes(launch),
        timeout_s=patience.seconds,
        scratch_root=call.scratch_root,
        interrupted=patience.interrupted,
        idle_limits=patience.idle_limits,
        shown=(str(launch.program), *launch.args),
    )
    if recorder.found is None and ran.is_timed_out:
        raise describe_unreached(patience)
    return recorder.found or NodeOrigin()


def describe_unreached(patience: WaitLimit) -> DebuggerError:
    """Return the error of a recorded run that ended, by its time or by its user, before a place."""
    is_cut = patience.interrupted.is_set()
    when = "before the run was interrupted" if is_cut else f"in {patience.seconds:.0f} s, recorded"
    return DebuggerError(
        ErrorCode.TIMEOUT,
        f"the place was not reached {when}",
        hint="debugger why --timeout 300 EXPR --at LOC -- CMD",
    )
