"""Inspects a stopped program: stacks, frames, threads, locals, source.

Each function is a job of the session and raises DebuggerError: WRONG_STATE or PROGRAM_EXITED unless
the program is stopped, NOT_FOUND for what is not there, EVALUATION_FAILED, STALE_REF.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec
from msgspec import UNSET, UnsetType

from debugger.backends.abilities import ExceptionAbility, PauseAllAbility
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.answers import ExceptionInfo
from debugger.model.breakpoints import BreakpointSpec
from debugger.model.events import State
from debugger.model.program import Frame, ScopeKind, Stack, StopReason, Thread, Variable
from debugger.model.text_filters import fold_libraries
from debugger.session import own_texts, source_files, stop_report, views
from debugger.session.pointers import pointer_notes
from debugger.session.session import Session

FRAMES_MAX = 1000
FRAMES_DEFAULT = 50
_LOCALS_MAX = 200
_THREADS_MAX = 100
_TRACE_MAX = 1 << 14  # characters of an exception's own trace
_USER_LEVELS = 8  # frames in which one of the program's own is looked for
_THREADS_S = 5.0  # for the stacks of all threads, of which an adapter may be slow to read one
_NESTED_MAX = 20  # children of a value


async def frame_of(session: Session, number: int | None = None) -> Frame:
    """Return a frame by its number, or the current one."""
    session.require_state(State.STOPPED, to="show a frame")
    if number is None and session.selection.frame is not None:
        return session.selection.frame
    thread = await _selected_thread(session)
    index = number or 0
    if index < 0:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"no frame {index}: frames count from 0",
            hint="debugger backtrace",
        )
    if number is None:
        # Look where the stop's report would. A group's answer has reported it without a frame.
        if session.is_reported:
            await stop_report.select_reported_frame(session)
        else:
            await stop_report.report_stop(session, is_full=True)
        if session.selection.frame is not None:
            return session.selection.frame
    stack = await session.backend.read_stack(thread, start=index, levels=1)
    if not stack.frames:
        full = await session.backend.read_stack(thread, levels=FRAMES_MAX)
        count = len(full.frames)
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"no frame {index}: there are {count}, 0 to {count - 1}",
            hint="debugger backtrace",
        )
    return stack.frames[0]


async def _selected_thread(session: Session) -> int:
    if session.selection.thread is not None:
        return session.selection.thread
    threads = await session.backend.list_threads()
    return session.selection.complete_thread(threads[0].id if threads else 0)


async def go_to_frame(session: Session, number: int | None) -> answers.CurrentFrame:
    """Select a frame and show it."""
    frame = await frame_of(session, number)
    return await _select_frame(session, frame)


async def move_frame(session: Session, by: int) -> answers.CurrentFrame:
    """Move the selection up (to callers) or down by `count` frames."""
    now = await frame_of(session)
    if now.index + by < 0:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            "this is the innermost frame",
            hint="debugger up goes to its caller",
        )
    thread = await _selected_thread(session)
    stack = await session.backend.read_stack(thread, start=now.index + by, levels=1)
    if not stack.frames and by > 0:
        stack = await _outermost_frames(session, thread)
    if not stack.frames or stack.frames[-1].index == now.index != now.index + by:
        raise DebuggerError(
            ErrorCode.NOT_FOUND, "this is the outermost frame", hint="debugger backtrace"
        )
    return await _select_frame(session, stack.frames[-1])


async def _outermost_frames(session: Session, thread: int) -> Stack:
    """Return the end of a stack: a move beyond it stays at the outermost frame, as in gdb."""
    stack = await session.backend.read_stack(thread, levels=FRAMES_MAX)
    if stack.total is not None and stack.total > len(stack.frames):
        return await session.backend.read_stack(thread, start=stack.total - 1, levels=1)
    return stack


async def _select_frame(session: Session, frame: Frame) -> answers.CurrentFrame:
    session.selection.select_frame(frame)
    variables = await stop_report.frame_locals(session, frame)
    return answers.CurrentFrame(
        thread=await _selected_thread(session),
        frame=views.frame_view(frame),
        source=source_files.surrounding_lines(
            frame.file, frame.line, before=3, after=2, column=frame.column
        ),
        locals=tuple(
            views.variable_view(one, session.refs) for one in variables[: stop_report.LOCALS_MAX]
        ),
        locals_total=len(variables),
    )


async def frame_variables(
    session: Session,
    *,
    only_arguments: bool = False,
    number: int | None = None,
    with_scopes: bool = False,
) -> answers.Variables:
    """Show the locals, or the arguments, of the current frame, or of another one.

    The selection does not change. `with_scopes` adds the frame's other groups of variables.
    """
    frame = await frame_of(session, number)
    found = await stop_report.frame_locals(session, frame)
    if only_arguments:
        names = await session.backend.argument_names(frame)
        if names is None:
            raise DebuggerError(
                ErrorCode.NOT_SUPPORTED,
                f"{session.backend.adapter_name} does not separate arguments from locals here",
                hint="debugger locals shows both",
            )
        by_name = {one.name: one for one in reversed(found)}
        found = [by_name[name] for name in names if name in by_name]
    pointers = pointer_notes.find_pointers(found[:_LOCALS_MAX])
    explained = await pointer_notes.explain_pointers(session, pointers, frame)
    return answers.Variables(
        variables=tuple(views.variable_view(one, session.refs) for one in found[:_LOCALS_MAX]),
        total=len(found),
        frame=views.frame_view(frame),
        scopes=await _other_scopes(session, frame) if with_scopes else UNSET,
        note=UNSET if found else await _reason_for_none(session, frame),
        pointers=explained.views or UNSET,
        pointers_omitted=explained.omitted or UNSET,
        hint=await own_texts.hint_own_text(session, found[:_LOCALS_MAX], frame) or UNSET,
    )


async def _reason_for_none(session: Session, frame: Frame) -> str | UnsetType:
    """Return the backend's reason why a frame has no variables."""
    return next((one.note for one in await session.backend.read_scopes(frame) if one.note), UNSET)


async def _other_scopes(session: Session, frame: Frame) -> tuple[answers.VariableScope, ...]:
    shown = []
    for scope in await session.backend.read_scopes(frame):
        if scope.kind in {ScopeKind.LOCALS, ScopeKind.ARGUMENTS}:
            continue
        found = await session.backend.read_variables(scope.handle)
        if not found:
            continue
        views_ = tuple(views.variable_view(one, session.refs) for one in found[:_LOCALS_MAX])
        shown.append(answers.VariableScope(scope.name, views_, len(found)))
    return tuple(shown)


async def read_backtrace(
    session: Session, *, thread: int | None, limit: int | None, with_locals: bool
) -> answers.Backtrace:
    """Show a thread's stack; without a limit the text leaves out the runtime's outermost frames."""
    session.require_state(State.STOPPED, to="show the stack")
    chosen = (
        await known_thread(session, thread)
        if thread is not None
        else await _selected_thread(session)
    )
    levels = FRAMES_DEFAULT if limit is None else min(limit, FRAMES_MAX)
    stack = await session.backend.read_stack(chosen, levels=levels)
    shown = [views.frame_view(one) for one in stack.frames]
    if with_locals:
        shown = [await _with_locals(session, one) for one in stack.frames]
    selection = session.selection
    current = (
        selection.frame.index if selection.frame is not None and chosen == selection.thread else 0
    )
    return answers.Backtrace(
        thread=chosen,
        frames=tuple(shown),
        total=stack.total,
        current=current,
        note=views.lost_callers(stack.frames) or UNSET,
        own=stop_report.count_own_frames(stack) if limit is None else UNSET,
    )


async def _with_locals(session: Session, frame: Frame) -> answers.FrameView:
    found: Sequence[Variable] = []
    if frame.file is not None:
        found = await stop_report.frame_locals(session, frame)
    view = views.frame_view(frame)
    return answers.FrameView(
        index=view.index,
        function=view.function,
        file=view.file,
        line=view.line,
        column=view.column,
        address=view.address,
        module=view.module,
        locals=tuple(
            views.variable_view(one, session.refs, most=200) for one in found[:_NESTED_MAX]
        ),
    )


async def all_backtraces(session: Session, *, limit: int | None) -> answers.Backtraces:
    """Show the stacks of all threads, at most 100 of them."""
    session.require_state(State.STOPPED, to="show the stacks")
    threads = await session.backend.list_threads()
    shown: list[answers.Backtrace] = []
    levels = FRAMES_DEFAULT if limit is None else min(limit, FRAMES_MAX)
    limit_s = asyncio.get_running_loop().time() + _THREADS_S
    for one in threads[:_THREADS_MAX]:
        if shown and asyncio.get_running_loop().time() > limit_s:
            break
        if one.is_running:
            shown.append(answers.Backtrace(one.id, (), None, state=State.RUNNING.value))
            continue
        stack = await _stack_of_stopped(session, one.id, levels)
        if stack is None:
            shown.append(answers.Backtrace(one.id, (), None, state=State.RUNNING.value))
            continue
        frames = tuple(views.frame_view(frame) for frame in stack.frames)
        own = stop_report.count_own_frames(stack) if limit is None else UNSET
        shown.append(answers.Backtrace(one.id, frames, stack.total, own=own))
    return answers.Backtraces(threads=tuple(shown), total=len(threads))


async def list_threads(session: Session) -> answers.Threads:
    """List the threads and their locations, at most 100 with a location."""
    session.require_state(State.STOPPED, State.RUNNING, to="list the threads")
    found = await session.backend.list_threads()
    stop_alone = paused_alone(session) is not None
    shown = []
    limit_s = asyncio.get_running_loop().time() + _THREADS_S
    for number, one in enumerate(found):
        frame = None
        in_time = asyncio.get_running_loop().time() < limit_s
        is_stopped = not one.is_running and (stop_alone or session.state is State.STOPPED)
        if is_stopped and number < _THREADS_MAX and in_time:
            stack = await _stack_of_stopped(session, one.id, _USER_LEVELS)
            is_stopped = stack is not None
            frame = _user_frame_of(stack) if stack is not None else None
        shown.append(
            answers.ThreadView(
                id=one.id,
                name=one.name[: views.NAME_MAX],
                state=(State.STOPPED if is_stopped else State.RUNNING).value,
                frame=frame,
                current=one.id == session.selection.thread,
                breakpoints=_breakpoints_of(session, one) or UNSET,
                stopped_s=round(one.stopped_s, 1) if one.stopped_s is not None else UNSET,
            )
        )
    return answers.Threads(threads=tuple(shown), total=len(found))


def _breakpoints_of(session: Session, thread: Thread) -> tuple[int, ...]:
    known = [session.breakpoints.by_backend_id(number) for number in thread.hits]
    return tuple(one.id for one in known if one is not None and not one.internal)


def paused_alone(session: Session) -> tuple[int, ...] | None:
    """Return the stopped threads, if each stops on its own; None if all stop at once."""
    try:
        return tuple(session.backend.find_ability(PauseAllAbility).waiting_threads)
    except DebuggerError:
        return None


async def _stack_of_stopped(session: Session, thread: int, levels: int) -> Stack | None:
    """Return a thread's stack; None for one that the adapter refuses, as it runs.

    elixir-ls 0.17 lists the processes of the virtual machine as threads, and stops one.
    """
    try:
        return await session.backend.read_stack(thread, levels=levels)
    except DebuggerError as error:
        if error.code is not ErrorCode.ADAPTER_FAILED or thread == session.selection.thread:
            raise
        return None


def _user_frame_of(stack: Stack) -> answers.FrameView | None:
    if not stack.frames:
        return None
    own = next((one for one in stack.frames if source_files.is_readable(one.file)), stack.frames[0])
    return views.frame_view(own)


async def choose_thread(session: Session, number: int | None) -> answers.CurrentFrame:
    """Select a thread, and show its location."""
    session.require_state(State.STOPPED, to="choose a thread")
    if number is not None:
        session.selection.select_thread(await known_thread(session, number))
    thread = await _selected_thread(session)
    if session.selection.frame is None:
        stack = await session.backend.read_stack(thread, levels=stop_report.LEVELS)
        if not stack.frames:
            raise DebuggerError(
                ErrorCode.NOT_FOUND, f"thread {thread} has no stack", hint="debugger threads"
            )
        own = next(
            (one for one in stack.frames if source_files.is_readable(one.file)), stack.frames[0]
        )
        session.selection.begin_at(own)
        return await _select_frame(session, own)
    return await _select_frame(session, session.selection.frame)


async def known_thread(session: Session, number: int) -> int:
    """Return a thread's number if such a thread exists."""
    known = [one.id for one in await session.backend.list_threads()]
    if number not in known:
        some = ", ".join(map(str, known[:10])) + (", …" if len(known) > 10 else "")  # noqa: PLR2004
        raise DebuggerError(
            ErrorCode.NOT_FOUND, f"no thread {number}; there are: {some}", hint="debugger threads"
        )
    return number


async def list_source(
    session: Session,
    file: str | None,
    line: int | None,
    *,
    context: int,
    is_whole: bool = False,
) -> answers.Source:
    """Show the source around a line; by default around the current frame's line.

    With `is_whole` all lines of the frame's function are shown, if its text allows to find them.
    """
    function = None
    if file is None or line is None:
        frame = await frame_of(session)
        if frame.file is None or frame.line is None:
            raise DebuggerError(
                ErrorCode.NOT_FOUND,
                f"no source is known for {frame.function}",
                hint="debugger backtrace; debugger up goes to a caller",
            )
        own_text = await session.backend.read_source(frame)
        if own_text is not None and not source_files.is_readable(frame.file):
            return _from_text(own_text, frame, context)
        function = frame.function
        file, line = file or frame.file, line or frame.line
    body = source_files.function_lines(file, line, function) if is_whole and function else None
    shown, total = source_files.list_lines(file, line, context=context)
    return answers.Source(file=file, lines=body or shown, total=total, function=function)


async def function_listing(
    session: Session, spec: BreakpointSpec, *, context: int
) -> answers.Source:
    """Show the source of a function, found by the debugger as for a breakpoint (a job).

    Raises:
        DebuggerError: NOT_FOUND if it has none.
    """
    session.require_state(State.STOPPED, to="find a function")
    ours = await session.binding.add(spec, internal=True)
    await session.binding.remove(ours)
    bound = ours.bound
    if bound is None or bound.file is None or bound.line is None:
        near = ", ".join(bound.near_names) if bound is not None else ""
        why = bound.why if bound is not None else None
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            why or f"no source of {spec.function} is known",
            hint=f"names like it: {near}" if near else "debugger source FILE:LINE",
        )
    body = source_files.function_lines(bound.file, bound.line, spec.function or "")
    shown, total = source_files.list_lines(bound.file, bound.line, context=context)
    if body is not None:
        shown = tuple(msgspec.structs.replace(one, current=False) for one in body)
    return answers.Source(file=bound.file, lines=shown, total=total, function=spec.function)


def _from_text(text: str, frame: Frame, context: int) -> answers.Source:
    every = source_files.split_lines(text.encode())
    line = frame.line or 1
    first = max(1, line - context)
    return answers.Source(
        file=frame.file or "",
        lines=tuple(
            answers.SourceLine(number, every[number - 1], current=number == line)
            for number in range(first, min(len(every), line + context) + 1)
        ),
        total=len(every),
        function=frame.function,
    )


def _how_to_catch(session: Session) -> str:
    try:
        words = session.backend.find_ability(ExceptionAbility).catch_filters
    except DebuggerError:
        return "debugger context shows where it stopped"
    word = next((one for one in ("throw", "raised", "panic") if one in words), next(iter(words)))
    return f"debugger catch {word} stops at the next one"


def _last_whole_lines(trace: str) -> str:
    """Return a trace, or its last lines that fit as a whole."""
    return trace if len(trace) <= _TRACE_MAX else trace[-_TRACE_MAX:].partition("\n")[2]


async def describe_exception(session: Session) -> ExceptionInfo:
    """Describe the exception, or the signal, of the current stop in full."""
    session.require_state(State.STOPPED, to="show an exception")
    happened = session.last_stop
    details = None
    if happened is not None and happened.reason in {StopReason.EXCEPTION, StopReason.SIGNAL}:
        details = await session.backend.read_exception(happened)
    if happened is None or details is None:
        why = f"it was a {happened.reason.value}".replace("_", " ") if happened else "no stop"
        raise DebuggerError(
            ErrorCode.WRONG_STATE,
            f"the program did not stop at an exception: {why}",
            hint=_how_to_catch(session),
        )
    frame = await frame_of(session)
    trace = _last_whole_lines(details.trace)
    return ExceptionInfo(
        type=details.type[: views.NAME_MAX],
        message=views.value_text(details.message, 1 << 14),
        causes=tuple(views.value_text(one) for one in details.causes),
        trace=trace,
        summary=tuple(fold_libraries(trace.splitlines(), session.target.cwd)),
        thread=happened.thread,
        frame=views.frame_view(frame),
    )
