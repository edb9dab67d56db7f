"""Asks a question about the stop of a session: its program is run again, to the same stop."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from debugger.backends.base import LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BreakpointKind, BreakpointSpec
from debugger.model.debugger_words import Runtime
from debugger.model.events import State
from debugger.model.location import CRASH
from debugger.model.program import StopReason
from debugger.questions.runner.command_call import CommandCall
from debugger.questions.runner.question_arguments import QuestionOptions
from debugger.questions.runner.question_build import build_question
from debugger.questions.runner.question_run import QuestionRun
from debugger.session import stop_report
from debugger.session.session import Session

_NUMBERS_MAX = 6  # variables whose values find the same hit again
_NAME = re.compile(r"\$?[A-Za-z_]\w*\Z")
_NUMBER = re.compile(r"-?\d{1,9}\Z")


class SessionStop(Struct, frozen=True):
    """The stop of a session, as a location that another run of its program comes to."""

    # As it is shown; `crash` for a signal or an exception, without a breakpoint.
    place: str
    at: BreakpointSpec | None = None
    nth: int = 1  # hit of the breakpoint
    when: str = ""
    frame: int = 0  # from the innermost
    # Whether the location can be another hit of the same line, with other values.
    is_surely_this: bool = True

    @property
    def notes(self) -> tuple[str, ...]:
        """What an answer reports of it."""
        if self.is_surely_this:
            return ()
        return (f"of the first hit of {self.place}: --at {self.place} --nth K chooses another",)


def not_repeatable(what: str) -> DebuggerError:
    """Build the error for a process that cannot be run again."""
    return DebuggerError(
        ErrorCode.NOT_SUPPORTED,
        f"{what} cannot be run again, and a value is followed by runs from the start",
        hint="debugger why EXPR --at LOC -- CMD",
    )


async def question_of_session(
    call: CommandCall, session: Session, *, verb: str, seconds: float
) -> QuestionRun:
    """Return a question that runs the program of a session again.

    Raises:
        DebuggerError: NOT_SUPPORTED for a program that was attached to.
    """
    target = session.target
    if not isinstance(target, LaunchTarget):
        raise not_repeatable("a process that was attached to, or a core file,")
    words = [target.python] if target.python is not None else []
    words += ["-m", target.module] if target.module is not None else [str(target.program)]
    options = QuestionOptions(verb=verb, words=(*words, *target.args), timeout=seconds)
    made = await build_question(call, options)
    # Exactly as the session was started, and not with the caller's environment of now.
    stdin = target.stdin if target.stdin is not None else "/dev/null"
    return dataclasses.replace(made, target=_replace_streams(target, stdin))


def _replace_streams(target: LaunchTarget, stdin: str) -> LaunchTarget:
    """Return the target of a second run: it does not stop at its entry, and reads a file."""
    return LaunchTarget(
        program=target.program,
        cwd=target.cwd,
        env=target.env,
        args=target.args,
        module=target.module,
        stdin=stdin,
        python=target.python,
    )


async def locate_stop(session: Session, *, verb: str) -> SessionStop:
    """Return the stop of a session (a job).

    Raises:
        DebuggerError: WRONG_STATE if it is not stopped, NOT_SUPPORTED without a source line.
    """
    session.require_state(State.STOPPED, to="follow a value")
    selection, stop = session.selection, session.last_stop
    frame = selection.frame
    chosen = frame.index if frame is not None else 0
    if stop is not None and stop.reason in {StopReason.SIGNAL, StopReason.EXCEPTION}:
        return SessionStop(CRASH, frame=chosen)
    hits = [
        one
        for one in session.breakpoints.user_breakpoints()
        if one.id in session.hits and one.spec.kind is not BreakpointKind.WATCHPOINT
    ]
    if hits:
        one = hits[0]
        spec, is_begun = one.spec, one.spec in selection.begun
        place = _line_text(spec) if spec.line is not None else str(spec.function)
        found = SessionStop(place, spec, when=spec.condition or "", frame=chosen)
        if is_begun and not spec.hit_count and spec.thread is None:
            return replace(found, nth=max(one.hits, 1))
        return await _with_values(session, found, 0)
    if frame is None or frame.file is None or frame.line is None:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            "there is no source line here to run to again",
            hint=f"debugger {verb} EXPR --at FILE:LINE -- CMD",
        )
    spec = BreakpointSpec(file=frame.file, line=frame.line)
    return await _with_values(session, SessionStop(_line_text(spec), spec), frame.index)


async def _with_values(session: Session, stop: SessionStop, index: int) -> SessionStop:
    """Return the location at which the numbers among the variables are those of a frame.

    A step may have come to any hit of its line, and a breakpoint that was set on the way has not
    counted those before.
    """
    assert stop.at is not None
    stack = await session.backend.read_stack(session.selection.thread or 0, levels=index + 1)
    frame = next((one for one in stack.frames if one.index == index), None)
    variables = await stop_report.frame_locals(session, frame) if frame is not None else []
    numbers = [
        one
        for one in variables
        if _NAME.match(one.name) and _NUMBER.match(one.value) and one.name == one.expression
    ]
    tests = [stop.when] if stop.when else []
    tests += [f"{one.name} == {one.value}" for one in numbers[:_NUMBERS_MAX]]
    word = " and " if session.traits.runtime is Runtime.PYTHON else " && "
    when = word.join(tests)
    at = replace(stop.at, condition=when or None, hit_count=None)
    return replace(stop, at=at, when=when, is_surely_this=bool(numbers))


def _line_text(spec: BreakpointSpec) -> str:
    return f"{Path(spec.file or '').name}:{spec.line}"
