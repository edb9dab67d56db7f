"""Narrows a false invariant to a statement by steps, for one that calls the program's functions.

Each run goes to the last good check, repeats the steps of the run before, and steps over lines
until the invariant is false. If that line called a function, the next run steps into it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from debugger.model import answers
from debugger.model.answers.frames import FrameView
from debugger.model.debugger_words import Runtime
from debugger.model.events import State
from debugger.model.program import ResumeKind
from debugger.questions.holds.answer import BreakingStatement, FalseCheck
from debugger.questions.holds.check_window import (
    CheckWindow,
    Narrowed,
    WindowRun,
    describe_statement,
)
from debugger.questions.holds.watched_narrowing import OTHER_OBJECTS, has_calls
from debugger.questions.runner import question_run
from debugger.session import stepping
from debugger.session.stepping import WaitLimit

RUNS_MAX = 6
_STEPS_MAX = 400  # of one run, without the repeated ones
_STEP_S = 10.0
_STOPS_MAX = 5_000
_CALL = re.compile(r"[\w>)\]]\s*\(")
_BEGAN_FALSE = "it was false already when the call of the false check began"
_OTHER_THREADS = "other threads ran at the same time: one of them may have made it false"
_LIMIT = f"more than {_STEPS_MAX} lines ran between the last good check and the false one"


@dataclass
class _SteppedRun:
    """What one run found: its steps up to the false state, and the states around the last one."""

    steps: list[ResumeKind] = field(default_factory=list)
    statement: BreakingStatement | None = None
    check: FalseCheck | None = None
    has_entered: bool = False  # a function of the line to step into
    is_at_check: bool = False  # it has come to the false check
    began_false: bool = False  # it was false where the call of the check began
    has_threads: bool = False  # others ran during the last step
    why: str = ""


async def narrow_by_stepping(window: CheckWindow) -> Narrowed:
    """Step from the last good check to the statement after which the invariant is false.

    Raises:
        DebuggerError: NOT_FOUND if a run does not come to the last good check again.
    """
    prefix: list[ResumeKind] = []
    found: _SteppedRun | None = None
    runs = 0
    enters = False
    while runs < RUNS_MAX:
        runs += 1
        now = await _step_run(window, prefix, enters=enters)
        if now.statement is None or (enters and not now.has_entered):
            break
        found = now
        if (enters and now.began_false) or not _CALL.search(now.statement.text):
            break
        # The last step is the one that made it false: the next run goes into its call instead.
        prefix, enters = now.steps[:-1], True
    if found is not None and found.began_false:
        return Narrowed(why=_BEGAN_FALSE, runs=runs)
    if found is None:
        return Narrowed(why=now.why or "no line that was stepped over made it false", runs=runs)
    notes: tuple[str, ...] = ("it was false there first: whether it was true again is not known",)
    if found.has_threads:
        notes = (*notes, _OTHER_THREADS)
    if runs == RUNS_MAX and found.statement is not None and _CALL.search(found.statement.text):
        notes = (*notes, f"after {RUNS_MAX} runs its calls were not followed further")
    return Narrowed(found.statement, "", found.check, notes, runs, means="steps")


async def _step_run(
    window: CheckWindow, prefix: Sequence[ResumeKind], *, enters: bool
) -> _SteppedRun:
    question = replace(window.question, breakpoints=window.breakpoints())
    async with question_run.run_question(question) as run:
        there = WindowRun(run, window)
        stop = await there.reach_good_check()
        # Java's adapter passes a breakpoint in a function that the invariant calls.
        is_java = there.runtime is Runtime.JAVA
        if not is_java and (there.is_pinned or has_calls(window.expression)):
            await there.disable_breakpoints()
        # Otherwise a step over a call stops at the false check in it, where the values are read.
        for how in prefix:
            stop = await _step(there, how)
            there.is_at_false_check(stop)
        found = _SteppedRun(list(prefix))
        found = await _step_to_false(there, stop, found, enters=enters)
        if is_java and there.is_pinned and found.statement is not None:
            await _compare_objects(there, found)
        return found


async def _compare_objects(there: WindowRun, found: _SteppedRun) -> None:
    """Go on to the false check: it must be about the objects that were kept at the good one."""
    for _ in range(_STOPS_MAX):
        if found.is_at_check:
            if await there.is_of_other_objects():
                found.statement, found.why = None, OTHER_OBJECTS
            return
        stop = await there.run.go_on(there.session)
        if stop.state != State.STOPPED.value:
            found.statement, found.why = None, "a further run did not come to the false check again"
            return
        found.is_at_check = there.is_at_false_check(stop)


async def _step_to_false(
    there: WindowRun, stop: answers.Stop, found: _SteppedRun, *, enters: bool
) -> _SteppedRun:
    """Step over lines until the invariant is false, first into a function if requested."""
    state = await there.read_state()
    at, frames = await _position(there)
    depth, line = at, frames[0].line if frames else None
    if state.is_true is None and enters:
        # Before the call, in which it was false in the run before, its variables may not be.
        state = replace(state, is_true=True)
    elif state.is_true is None:
        found.why = "it cannot be evaluated away from its check"
        return found
    is_in_call = state.is_in_call
    for _ in range(_STEPS_MAX):
        # In the line whose calls are followed each of them is entered.
        is_there = enters and at == depth and bool(frames) and frames[0].line == line
        how = ResumeKind.STEP if is_there else ResumeKind.NEXT
        before = frames
        stop = await _step(there, how)
        found.steps.append(how)
        found.is_at_check = there.is_at_false_check(stop)
        if stop.state != State.STOPPED.value:
            found.why = "the program ended on the way to the false check"
            return found
        at, frames = await _position(there)
        found.has_entered = found.has_entered or (enters and at > depth)
        now = await there.read_state()
        was_in_call, is_in_call = is_in_call, now.is_in_call
        if now.is_true is False and state.is_true:
            found.began_false = not was_in_call
            found.statement = describe_statement(before, state, now) if before else None
            found.has_threads = await _has_threads(there)
            return found
        if enters and at <= depth and frames and frames[0].line != line:
            return found  # the line is over
        state = now if now.is_true is not None else state
    found.why = _LIMIT
    return found


async def _has_threads(there: WindowRun) -> bool:
    """Return whether a native program has several threads; runtimes have some of their own."""
    if there.runtime is not Runtime.NATIVE:
        return False
    return len(await there.session.run_job(there.session.backend.list_threads)) > 1


async def _step(there: WindowRun, how: ResumeKind) -> answers.Stop:
    session = there.run.session
    limit = WaitLimit(min(_STEP_S, there.run.left_s), there.run.patience.interrupted)
    return await stepping.step_times(session, how, 1, limit)


async def _position(there: WindowRun) -> tuple[int, list[FrameView]]:
    """Return the depth of the stack, and its own frames."""
    frames = await there.own_frames()
    return await there.stack_depth(), frames
