"""Runs a program once with its functions and lines counted, in Node and in Go."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from debugger.backends.base import Launch
from debugger.core import answers
from debugger.core.locate import parse
from debugger.errors import Code, DebuggerError
from debugger.questions import launched
from debugger.questions.places import line_text
from debugger.recording.go import recorder as go
from debugger.recording.model import Counted, Function, Noted, Recording
from debugger.recording.node.marks import found
from debugger.recording.node.recorder import InNode
from debugger.recording.run import Ran, record
from debugger.recording.window import Window, has_begun, has_ended
from debugger.session.stepping import Patience
from debugger.targets import gopackage

COUNTED = "counted"
JAVASCRIPT, GO = "javascript", "go"
LANGUAGES = frozenset({JAVASCRIPT, GO})
NOTE = (
    "only counts are known of {}: not who called whom, in which order, with what; "
    "debugger probe --at FUNC 'EXPR, EXPR' -- CMD tells values"
)
_BETWEEN = {
    JAVASCRIPT: "of the thread that came there alone",
    GO: "with what other goroutines ran meanwhile",
}
_NAMES = {JAVASCRIPT: "JavaScript", GO: "Go"}
_LINES = 60


async def run(
    launch: Launch,
    language: str,
    *,
    words: Sequence[str],
    roots: Sequence[str],
    patience: Patience,
    scratch: Path | None,
    window: Window | None = None,
) -> Ran:
    """Run a program with counters; with a window, what is told is of that part of the run.

    Raises:
        DebuggerError: NOT_SUPPORTED for a built program of Go; LAUNCH_FAILED.
    """
    assert launch.program is not None
    stdin = await launched.given(launch)
    with tempfile.TemporaryDirectory(prefix="counted-", dir=scratch) as folder:
        argv: list[str]
        recorder: InNode | go.InGo
        if language == JAVASCRIPT:
            marks = await asyncio.to_thread(found, window, roots) if window is not None else None
            argv = [_node(launch), launch.program, *launch.args]
            recorder = InNode(roots, marks)
        else:
            argv, recorder = await _built(launch, words, patience, Path(folder), window)
        return await record(
            argv,
            recorder,
            cwd=launch.cwd,
            env=launch.env,
            stdin=stdin,
            timeout_s=patience.seconds,
            scratch_root=scratch,
            interrupted=patience.interrupted,
            idle_limits=patience.idle_limits,
        )


def _node(launch: Launch) -> str:
    node = shutil.which("node", path=launch.env.get("PATH"))
    if node is None:
        raise DebuggerError(Code.LAUNCH_FAILED, "there is no node", hint="put node on the PATH")
    return node


async def _built(
    launch: Launch,
    words: Sequence[str],
    patience: Patience,
    folder: Path,
    window: Window | None,
) -> tuple[list[str], go.InGo]:
    """Build a program of Go with counters; return how it is run."""
    assert launch.program is not None
    target = gopackage.target(launch.program)
    if target.mode == "exec":
        raise DebuggerError(
            Code.NOT_SUPPORTED,
            f"{Path(launch.program).name} is built without counters: they need its source",
            hint=f"debugger path -- go run PACKAGE {shlex.join(words[1:])}".rstrip(),
        )
    built = await go.build(
        target,
        folder,
        env=launch.env,
        timeout_s=patience.seconds,
        interrupted=patience.interrupted,
        window=window,
    )
    is_test = target.mode == "test"
    given = gopackage.test_arguments(launch.args) if is_test else launch.args
    return [built.program, *given], built


def note(recording: Recording) -> str:
    """Say what is not known of a program that was counted."""
    return NOTE.format(_NAMES.get(recording.process.language, "this language"))


def first(recordings: Sequence[Recording]) -> Recording:
    """Return the process that is reported.

    It is the first that came to where the counting begins, else the first in which anything of
    the program's own ran.
    """
    ran = next((one for one in recordings if one.functions), recordings[0])
    return next((one for one in recordings if has_begun(one)), ran)


def between(recording: Recording, start: str, to: str) -> list[str] | None:
    """Say what is counted between two places; None where the program never came to the first."""
    if not has_begun(recording):
        return None
    if has_ended(recording):
        language = _BETWEEN.get(recording.process.language, "")
        return [f"counted from where {start} begins to where {to} does, {language}"]
    if any(isinstance(one, Noted) and one.kind == "silent" for one in recording.events):
        return []  # how far it came is not known
    how = "passed" if parse(to).line else "called"
    return [f"{to} was not {how} after {start}: what follows is to the end"]


def lines(recording: Recording, function: Function) -> tuple[answers.LineCount, ...]:
    """Tell how often each line of a function ran, and what begins within lines."""
    return tuple(
        answers.LineCount(
            one.line, one.times, line_text(function.file, one.line, one.column, one.to), one.column
        )
        for event in recording.events
        if isinstance(event, Counted) and event.function == function.number
        for one in event.parts[:_LINES]
    )
