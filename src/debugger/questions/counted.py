"""How is a program run once with its functions and lines counted, in Node and in Go?"""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from debugger.backends.base import Launch
from debugger.core import answers
from debugger.errors import Code, DebuggerError
from debugger.questions import launched
from debugger.questions.places import line_text
from debugger.recording.go import recorder as go
from debugger.recording.model import Counted, Function, Recording
from debugger.recording.node.recorder import InNode
from debugger.recording.run import Ran, record
from debugger.session.stepping import Patience
from debugger.targets import gopackage

COUNTED = "counted"
JAVASCRIPT, GO = "javascript", "go"
LANGUAGES = frozenset({JAVASCRIPT, GO})
NOTE = (
    "only counts are known of {}: not who called whom, in which order, with what; "
    "debugger probe --at FUNC 'EXPR, EXPR' -- CMD tells values"
)
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
) -> Ran:
    """Run a program with counters.

    Raises:
        DebuggerError: NOT_SUPPORTED for a built program of Go; LAUNCH_FAILED.
    """
    assert launch.program is not None
    stdin = await launched.given(launch)
    if language == JAVASCRIPT:
        node = shutil.which("node", path=launch.env.get("PATH"))
        if node is None:
            raise DebuggerError(Code.LAUNCH_FAILED, "there is no node", hint="put node on the PATH")
        return await record(
            [node, launch.program, *launch.args],
            InNode(roots),
            cwd=launch.cwd,
            env=launch.env,
            stdin=stdin,
            timeout_s=patience.seconds,
            scratch_root=scratch,
            interrupted=patience.interrupted,
        )
    target = gopackage.target(launch.program)
    if target.mode == "exec":
        raise DebuggerError(
            Code.NOT_SUPPORTED,
            f"{Path(launch.program).name} is built without counters: they need its source",
            hint=f"debugger path -- go run PACKAGE {shlex.join(words[1:])}".rstrip(),
        )
    with tempfile.TemporaryDirectory(prefix="go-", dir=scratch) as folder:
        built = await go.build(
            target,
            Path(folder),
            env=launch.env,
            timeout_s=patience.seconds,
            interrupted=patience.interrupted,
        )
        is_test = target.mode == "test"
        given = gopackage.test_arguments(launch.args) if is_test else launch.args
        return await record(
            [built.program, *given],
            built,
            cwd=launch.cwd,
            env=launch.env,
            stdin=stdin,
            timeout_s=patience.seconds,
            scratch_root=scratch,
            interrupted=patience.interrupted,
        )


def note(recording: Recording) -> str:
    """Say what is not known of a program that was counted."""
    return NOTE.format(_NAMES.get(recording.process.language, "this language"))


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
