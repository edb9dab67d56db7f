"""Narrows a false invariant to a statement with hardware watchpoints on what it reads."""

from __future__ import annotations

import re
from dataclasses import replace

import msgspec

from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.debugger_words import Runtime
from debugger.model.events import State
from debugger.questions.holds.answer import BreakingStatement, FalseCheck
from debugger.questions.holds.check_window import (
    CheckWindow,
    InvariantState,
    Narrowed,
    WindowRun,
    describe_statement,
)
from debugger.questions.holds.logged_checks import lvalues_of, watched_paths
from debugger.questions.runner import question_run
from debugger.questions.who_wrote import value_writers, watched_writes
from debugger.session import stop_report

_WATCHED_MAX = 4  # the debug registers of x86-64
_STOPS_MAX = 5_000
OTHER_OBJECTS = "the false check is about other objects than the good check before"
_WORD = 8  # bytes that a debug register watches
_GO_SIZED = re.compile(
    r"\*\(\*(?:\[\]|string\b|(?P<map>map\[)).*\)\((?P<address>0x[0-9a-fA-F]+)\)\Z"
)
_CALLS = re.compile(r"(?<![\w.])(?!(?:len|cap|sizeof)\b)[A-Za-z_][\w.:>-]*\s*\(")
_SIZE_CALL = re.compile(r"(?:\.|->)size\(\)")


def can_watch(expression: str) -> bool:
    """Return whether an invariant is decided by what it names, without calls of functions."""
    return not has_calls(expression) and bool(lvalues_of(expression))


def has_calls(expression: str) -> bool:
    """Return whether an invariant calls functions other than those that tell a size."""
    return _CALLS.search(_SIZE_CALL.sub("", expression)) is not None


async def narrow_by_watching(window: CheckWindow) -> Narrowed:
    """Run to the last good check, and from there with watchpoints to the false one.

    Raises:
        DebuggerError: NOT_FOUND if the run does not come there; NOT_SUPPORTED or EVALUATION_FAILED
        if nothing can be watched.
    """
    question = replace(window.question, breakpoints=window.breakpoints())
    async with question_run.run_question(question) as run:
        there = WindowRun(run, window)
        stop = await there.reach_good_check()
        await _watch_operands(there)
        return await _follow_writes(there, stop)


async def _watch_operands(there: WindowRun) -> None:
    """Watch the variables and fields of an invariant, as many as there are registers."""
    if there.runtime is Runtime.RUBY and there.is_pinned:
        # The check itself is compared after each line.
        await _add_watchpoint(there, there.pinned(there.window.expression))
        return
    watched = 0
    problem: DebuggerError | None = None
    is_go = there.runtime is Runtime.GO
    for path in watched_paths(there.window.expression, is_go=is_go):
        text = await _watched_text(there, path)
        if not text or watched >= _WATCHED_MAX:
            continue
        try:
            await _add_watchpoint(there, text)
            watched += 1
        except DebuggerError as error:
            if error.code is ErrorCode.ADAPTER_DIED:
                raise
            problem = error
    if not watched:
        raise problem or DebuggerError(
            ErrorCode.EVALUATION_FAILED, "nothing that the invariant reads can be watched"
        )


async def _watched_text(there: WindowRun, path: str) -> str:
    """Return the expression to watch for a path; "" for one that does not fit a register."""
    if there.runtime is not Runtime.GO:
        size = await there.size_of(path)
        return path if size <= _WORD else ""
    pinned = there.address_of(path)
    # The length of a slice or a string is its second word, that of a map the first it points to.
    found = _GO_SIZED.match(pinned)
    if found is None:
        return path
    address = int(found["address"], 16)
    return f"**(**int)({address:#x})" if found["map"] else f"*(*int)({address + _WORD:#x})"


async def _add_watchpoint(there: WindowRun, text: str) -> None:
    session = there.run.session
    frame = await there.current_frame()

    async def job() -> None:
        added = await session.binding.watching.add(
            BreakpointSpec(watch=text), session.backend, frame
        )
        if added.bound is None or not added.bound.verified:
            session.breakpoints.remove(added.id)
            raise DebuggerError(ErrorCode.EVALUATION_FAILED, f"cannot watch {text}")

    await session.run_job(job)


async def _follow_writes(there: WindowRun, stop: answers.Stop) -> Narrowed:
    """Read the invariant after each write, up to the false check."""
    state = await there.read_state()
    statement: BreakingStatement | None = None
    changes = 0
    check: FalseCheck | None = None
    for _ in range(_STOPS_MAX):
        stop = await there.run.go_on(there.run.session_of(stop))
        if stop.state != State.STOPPED.value:
            break
        now = await there.read_state()
        if not there.is_pinned and there.is_only_check(stop):
            # The values are those of this call, and the state before may be another call's.
            statement = statement if now.is_true is False else None
        elif now.is_true is False and state.is_true is not False:
            is_write = await _is_write(there, stop)
            # What is not watched was written on the way to the check: the check's line did not.
            statement = await _describe_write(there, state, now) if is_write else None
            changes += 1
        elif now.is_true:
            statement = None
        state = now if now.is_true is not None else state
        # LLDB reports a write alone where the program has come to a breakpoint, too.
        is_there = there.is_at_false_check(stop)
        is_there = is_there or (
            now.is_true is False and await there.is_on_check_line(is_false=True)
        )
        if is_there:
            if await there.is_of_other_objects():
                return Narrowed(why=OTHER_OBJECTS)
            if await there.is_false_here() is False and state.is_true:
                return Narrowed(why="a further run did not do the same: the check is true there")
            check = await there.describe_check()
            break
    narrowed = _narrowed(statement, check, changes, state)
    means = "its value after each line" if there.runtime is Runtime.RUBY else narrowed.means
    return replace(narrowed, means=means)


async def _is_write(there: WindowRun, stop: answers.Stop) -> bool:
    """Return whether a stop is directly behind a write of watched memory."""
    # delve 1.27 steps over a breakpoint without a look at the watchpoints: what the instruction
    # under it wrote is reported at the next stop, which is the other check's breakpoint.
    if there.runtime is Runtime.GO and await there.is_on_check_line():
        return False
    if not there.is_only_check(stop) or stop.watched:
        return True
    return await watched_writes.write_before_breakpoint(there.session, stop) is not None


async def _describe_write(
    there: WindowRun, before: InvariantState, after: InvariantState
) -> BreakingStatement | None:
    """Describe the write that stopped the program, whose line it has left already."""
    frames = await there.own_frames()
    if not frames:
        return None
    session = there.run.session
    frame = await there.current_frame()
    is_own = frame.function == frames[0].function
    if is_own:
        line = await session.run_job(lambda: value_writers.line_before(session, frame))
        frames[0] = msgspec.structs.replace(frames[0], line=line)
    else:
        # What comes next may be a function that was inlined there, and has written nothing.
        written = await session.run_job(lambda: stop_report.accessed_by(session, frame))
        if isinstance(written, answers.AccessView) and written.file == frames[0].file:
            is_own = True
            frames[0] = msgspec.structs.replace(frames[0], line=written.line)
    return describe_statement(frames, before, after, has_callee=not is_own)


def _narrowed(
    statement: BreakingStatement | None,
    check: FalseCheck | None,
    changes: int,
    state: InvariantState,
) -> Narrowed:
    notes = []
    if changes > 1:
        notes.append(
            f"since the last good check it became false {changes:,} times; this is the last"
        )
    if check is None and statement is not None:
        notes.append("the further run was not seen to come to the false check itself")
    why = ""
    if statement is None:
        why = "no write of what it reads made it false"
        if state.is_true is None:
            why = "it could not be read on the way to the false check"
    return Narrowed(statement, why, check, tuple(notes), means="hardware watchpoints")
