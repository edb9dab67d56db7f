"""Prepares a program of the JVM for a run in which its lines are counted."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.events import OutputStream
from debugger.paths import data_dir
from debugger.recorders.java import java_recorder
from debugger.recorders.java.java_recorder import JavaRecorder
from debugger.recorders.model import RecordingWindow
from debugger.recorders.recorded_process import Unrecorded, record_run
from debugger.session.stepping import WaitLimit
from debugger.sources import java_command, java_project
from debugger.system import java_build_tool, java_home
from debugger.system.java_home import JavaHome

_MESSAGE_LINES = 6  # lines of a compiler's message


async def prepare_java(
    launch: LaunchTarget,
    folder: Path,
    patience: WaitLimit,
    window: RecordingWindow | None = None,
) -> tuple[list[str], JavaRecorder]:
    """Return the command line of a program whose JVM counts, and what reads its counts.

    Raises:
        DebuggerError: LAUNCH_FAILED without a JDK, for a source that does not compile, or what
            cannot be run.
    """
    assert launch.program is not None
    jdk = java_home.find_jdk(launch.env)
    if jdk is None:
        raise DebuggerError(
            ErrorCode.LAUNCH_FAILED,
            "no JDK is installed, 17 or later",
            hint="debugger setup java --yes",
        )
    agent = await _find_agent(jdk, launch, folder, patience)
    modules = [*await asyncio.to_thread(java_project.list_modules, launch.cwd), launch.cwd]
    if java_build_tool.is_build_tool(launch.program):
        recorder = JavaRecorder(agent, folder, jars=(), modules=modules, window=window)
        words = java_build_tool.words_with_option(launch.program, launch.args, recorder.option)
        return words, recorder
    command = java_command.parse_program(launch.program, launch.args, launch.cwd)
    classes = str(folder / "classes")
    if command.source is not None:
        words = command.compile_words(str(jdk.path / "bin" / "javac"), classes)
        what = f"{Path(command.source).name} does not compile"
        await _compile(words, launch, folder, patience, what)
        modules.insert(0, command.source_root)
    jars = command.list_own_jars(launch.cwd)
    recorder = JavaRecorder(agent, folder, jars=jars, modules=modules, window=window)
    java, *words = command.words(java_home.choose_java(launch.program, launch.env), classes)
    return [java, recorder.option, *words], recorder


async def _find_agent(
    jdk: JavaHome, launch: LaunchTarget, folder: Path, patience: WaitLimit
) -> Path:
    """Return the agent's jar; it is compiled once for each JDK."""
    cache = Path(data_dir(launch.env), "compiled", "java")
    jar = java_recorder.agent_file(cache, jdk.path)
    if not jar.is_file():
        classes = folder / "agent"
        words = java_recorder.compile_words(str(jdk.path / "bin" / "javac"), classes)
        await _compile(words, launch, folder, patience, "the agent that counts does not compile")
        await asyncio.to_thread(java_recorder.pack_agent, classes, jar)
    with suppress(OSError):  # a file system that is read only
        os.utime(jar.parent)
    return jar


async def _compile(
    words: Sequence[str], launch: LaunchTarget, folder: Path, patience: WaitLimit, problem: str
) -> None:
    ran = await record_run(
        words,
        Unrecorded(),
        cwd=launch.cwd,
        env=launch.env,
        timeout_s=patience.seconds,
        scratch_root=folder,
        interrupted=patience.interrupted,
    )
    if ran.is_timed_out or ran.status != 0:
        errors = ran.joined_output(OutputStream.STDERR).splitlines()
        why = "it takes too long" if ran.is_timed_out else "; ".join(errors[:_MESSAGE_LINES])
        raise DebuggerError(
            ErrorCode.LAUNCH_FAILED,
            f"{problem}: {why}",
            hint="javac names what to mend in the same words",
        )
