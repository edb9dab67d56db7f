"""Builds the report of a stop or an end: reason, location, source, locals, stack, output."""

from __future__ import annotations

import re

import msgspec
from msgspec import UNSET, Struct, UnsetType

from debugger.backends.abilities import DisassemblyAbility, ReturnValueAbility
from debugger.backends.base import AttachTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import answers
from debugger.model.breakpoints import BreakpointKind
from debugger.model.events import EventKind, State
from debugger.model.location import is_library
from debugger.model.program import (
    EvaluationPurpose,
    ExceptionDetails,
    ExitedProgram,
    Frame,
    ScopeKind,
    Stack,
    Stopped,
    StopReason,
    Variable,
)
from debugger.model.typescript_refusal import typescript_notes
from debugger.session import assigned_locals, crash_note, process_tree, source_files, views
from debugger.session.event_record import is_crash
from debugger.session.session import Session
from debugger.session.timeline import Filters
from debugger.system.idle_detector import IdleWait
from debugger.system.process_info import is_suspended

# What a note begins with at the end of a program.
LEFT_RUNNING = "ended what the program left running: "
LEVELS = 20  # frames of the stack
LOCALS_MAX = 50
_VALUE_MAX = 400  # characters
_OUTPUT_MAX = 20  # lines
_FAILURES_MAX = 500
_PART_MAX = 1000  # characters
_BEFORE, _AFTER = 3, 2
# Where these stop the program, nobody chose: the language's runtime may be there.
_ANYWHERE = {StopReason.EXCEPTION, StopReason.SIGNAL, StopReason.PAUSE, StopReason.WATCHPOINT}
_RETURNED = ("(return) ", "(Return Value)")
# What Rust's runtime exits with, and the function in which a panic can be stopped at.
_PANIC_STATUS = 101
_PANIC = "rust_panic"
_REPORT_LINES = 60  # of an uncaught exception, at the end of the output
# What Node exits with where an await of a module can never be settled (its documentation).
_UNSETTLED_STATUS = 13
_MODULES = (".mjs", ".js", ".mts", ".ts")
_UNSETTLED = (
    "Node ends with status 13 where a module awaits what has not settled and nothing is left that "
    "could settle it: no timer, no socket, no file"
)
_OVERFLOW = "RangeError: Maximum call stack size exceeded"
OVERFLOWED = (
    "it ended by a stack overflow, at which V8 does not stop: "
    "debugger break FUNCTION --hit-count N stops in the Nth call"
)
MISSED = (
    "it ended by an exception that the debugger did not stop at: behind an await, and in what "
    "Node loads as a module, V8 cannot tell that nothing catches it; debugger crash -- CMD "
    "finds it, and so do start --stop-on-entry, debugger catch throw and debugger continue"
)
_NODE_ENDED = re.compile(r"Node\.js v\d")
# Characters of a panic's location and message.
_PANIC_MAX = 200
_NO_VARIABLE = {"<error>"}
_NAMELESS = re.compile(r"<(?:null|anonymous)>(?: @ .*)?")


# 1. Read the stack. The first report of a stop chooses the frame to show (`users_frame`) and
#    writes its location to the timeline.
# 2. Read the frame's locals. Debuggers list a returned value among them under a special name;
#    that one is reported separately.
# 3. Read the exception and the watched values. At a crash the crash event gets the locals,
#    once, so that they can be read after the process is gone.
# 4. `note_shown` keeps these locals for the next stops. In a frame that was shown, and has not
#    returned since, only the changed ones are displayed (`is_repeat`).
# 5. `new_output` moves the output cursor, so that each line is reported once, and `is_reported`
#    keeps a later wait from returning this stop again.
async def report_stop(
    session: Session, *, context: int | None = None, is_full: bool = False
) -> answers.Stop:
    """Build the report of a session's stop (a job).

    With `is_full` everything is reported again; otherwise, in the same frame as the last report,
    the changes.

    Raises:
        DebuggerError: WRONG_STATE, PROGRAM_EXITED, and what the backend raises.
    """
    session.require_state(State.STOPPED, to="show the stop")
    happened, thread = session.last_stop, session.selection.thread
    assert happened is not None
    stack = await session.backend.read_stack(thread if thread is not None else 0, levels=LEVELS)
    frame = _select_reported_frame(session, happened, stack, thread)
    # What needs no values is made while they are on their way.
    nearby = _surrounding_source(frame, context)
    frames = tuple(views.frame_view(one) for one in stack.frames)
    identity = _frame_identity(frame, stack, thread)
    of_family = process_tree.other_process_notes(session)
    variables, returned = await _locals_and_returned(session, happened, frame)
    exception = await _reported_exception(session, happened)
    watched = await _watched_changes(session, happened, stack)
    crash = session.crash if not is_crash(happened) else None
    await crash_note.note_crash(session, happened, stack, frame, variables)
    # After the crash note, and before the comparison with the stop before.
    is_same = _note_shown(session, happened, frame, identity, variables) and not is_full
    changed = _changed_locals(session, variables) if is_same else ()
    session.mark_reported()
    output = new_output(session)
    return answers.Stop(
        session=session.name,
        state=State.STOPPED.value,
        reason=happened.reason.value,
        raw_reason=happened.raw_reason,
        description=_describe_stop(happened),
        thread=thread,
        frame=views.frame_view(frame) if frame is not None else None,
        source=nearby,
        locals=_local_views(session, variables),
        locals_total=len(variables),
        is_repeat=is_same,
        changed=changed,
        stack=frames,
        stack_total=stack.total,
        stack_own=None if is_same else count_own_frames(stack),  # a repeated stop shows no stack
        output=output.lines,
        output_total=output.total,
        output_dropped=output.dropped,
        hit_breakpoints=session.hits,
        watched=watched,
        accessed_by=await accessed_by(session, stack.frames[0]) if watched else UNSET,
        exception=_exception_view(exception),
        signal=happened.signal,
        returned=views.variable_view(returned[0], session.refs) if returned else None,
        handled=happened.handled or UNSET,
        crash=crash or UNSET,
        notes=_stop_notes(session, happened, of_family, stack),
    )


async def select_reported_frame(session: Session) -> None:
    """Select the frame that the report of a session's stop would show (a job)."""
    happened, thread = session.last_stop, session.selection.thread
    if happened is not None:
        stack = await session.backend.read_stack(thread or 0, levels=LEVELS)
        _select_reported_frame(session, happened, stack, thread)


def _select_reported_frame(
    session: Session, happened: Stopped, stack: Stack, thread: int | None
) -> Frame | None:
    """Select the frame that a stop is reported in, and return it."""
    # Not on a second report: the user may have selected another frame.
    if session.selection.frame is None:
        shown = users_frame(stack, happened, session.target.cwd)
        session.selection.begin_at(shown)
        if thread == happened.thread:
            session.locate_stop(shown)
    return session.selection.frame


async def _locals_and_returned(
    session: Session, happened: Stopped, frame: Frame | None
) -> tuple[list[Variable], list[Variable]]:
    """Return the locals of the reported frame, and the values that a step returned."""
    variables = await _reported_locals(session, frame)
    returned = [one for one in variables if one.name.startswith(_RETURNED)]
    variables = [one for one in variables if not one.name.startswith(_RETURNED)]
    if not returned and happened.reason is StopReason.STEP and frame is not None:
        returned = await _returned_values(session, happened, frame)
    return variables, returned


def _note_shown(
    session: Session,
    happened: Stopped,
    frame: Frame | None,
    identity: _FrameIdentity | None,
    variables: list[Variable],
) -> bool:
    """Record what a report shows; return whether its frame was shown before."""
    selection, depth = session.selection, identity.depth if identity is not None else 0
    selection.note_shown(happened, identity, variables, depth)
    if frame is not None and frame.file is not None:
        selection.note_file(frame.file)
    return identity is not None and identity == selection.before[0]


def _changed_locals(
    session: Session, variables: list[Variable]
) -> tuple[answers.ChangedValue, ...]:
    earlier = session.selection.before[1]
    # One that came into scope without a value has not changed.
    assigned = [one for one in variables if one.value != assigned_locals.UNASSIGNED]
    return views.changed_values(earlier, assigned, session.refs, most=_VALUE_MAX)


def _local_views(session: Session, variables: list[Variable]) -> tuple[answers.VariableView, ...]:
    shown = variables[:LOCALS_MAX]
    return tuple(views.variable_view(one, session.refs, most=_VALUE_MAX) for one in shown)


def users_frame(stack: Stack, happened: Stopped, cwd: str) -> Frame | None:
    """Choose the frame to show: the innermost, or at a crash the innermost of the user's own."""
    if not stack.frames:
        return None
    innermost = stack.frames[0]
    is_here = source_files.is_readable(innermost.file)
    if happened.reason in {StopReason.STEP, StopReason.ENTRY} or (
        is_here and not innermost.is_subtle
    ):
        return innermost
    # Code that the program made of a text, in a function that the user named.
    if innermost.source_reference and happened.reason is StopReason.FUNCTION_BREAKPOINT:
        return innermost
    readable = [one for one in stack.frames if source_files.is_readable(one.file)]
    if is_here and happened.reason not in _ANYWHERE:
        return innermost
    plain = [one for one in readable if not one.is_subtle]
    own = [one for one in plain if not is_library(one.file, cwd)]
    return next(iter(own or plain or readable), innermost)


def _surrounding_source(frame: Frame | None, context: int | None) -> tuple[answers.SourceLine, ...]:
    """Return the source around a frame's line, `context` lines on either side."""
    before, after = (_BEFORE, _AFTER) if context is None else (context, context)
    return source_files.surrounding_lines(
        frame.file if frame else None,
        frame.line if frame else None,
        before=before,
        after=after,
        column=frame.column if frame else None,
    )


class _FrameIdentity(Struct, frozen=True):
    """What stays equal while the program runs on in one frame."""

    thread: int | None
    index: int
    function: str
    file: str | None
    total: int | None  # frames of the stack
    callers: tuple[tuple[str, str | None, int | None], ...]
    call: object

    @property
    def depth(self) -> int:
        """The number of frames from the outermost one to this one."""
        return (self.total or 0) - self.index


def _frame_identity(frame: Frame | None, stack: Stack, thread: int | None) -> _FrameIdentity | None:
    if frame is None:
        return None
    callers = tuple((one.function, one.file, one.line) for one in stack.frames[frame.index + 1 :])
    place = (frame.index, frame.function, frame.file)
    return _FrameIdentity(thread, *place, stack.total, callers, frame.call)


async def _returned_values(session: Session, happened: Stopped, frame: Frame) -> list[Variable]:
    try:
        value = await session.backend.find_ability(ReturnValueAbility).returned_value(
            happened, frame
        )
    except DebuggerError:
        return []
    return [value] if value is not None else []


async def _watched_changes(
    session: Session, happened: Stopped, stack: Stack
) -> tuple[answers.WatchedView, ...]:
    """Return the changed watched values; a watchpoint stop covers all that changed."""
    watching = session.binding.watching
    if not stack.frames or not watching.watchpoints():
        return ()
    changes = await watching.read_changes(happened, session.hits, session.backend, stack.frames[0])
    if happened.reason is not StopReason.WATCHPOINT:
        return ()
    if not session.hits:
        session.count_hits([one.id for one in changes])
    # What else has changed is reported too, but not where a condition did not hold.
    conditional = {one.id for one in watching.watchpoints() if one.spec.condition is not None}
    changes = tuple(one for one in changes if one.id in session.hits or one.id not in conditional)
    return tuple(
        answers.WatchedView(
            id=one.id,
            expression=one.expression,
            # Writes for which a condition did not hold came between: what was before is not known.
            previous=views.value_text(one.previous, _VALUE_MAX)
            if one.previous is not None and one.id not in conditional
            else None,
            value=views.value_text(one.value, _VALUE_MAX),
        )
        for one in changes
    )


async def accessed_by(session: Session, frame: Frame) -> answers.AccessView | UnsetType:
    """Return the line of the instruction before a frame's address (a job).

    A watchpoint stops after the instruction that wrote, which is often in the next line already.
    """
    if session.traits.access_expression is not None:
        return await _reported_access(session, session.traits.access_expression, frame)
    if frame.address is None:
        return UNSET
    try:
        ability = session.backend.find_ability(DisassemblyAbility)
        found = await ability.read_instructions(int(frame.address, 16) - 1, 1)
    except DebuggerError:
        return UNSET
    if not found or found[0].file is None or found[0].line is None:
        return UNSET
    return answers.AccessView(found[0].function, found[0].file, found[0].line)


async def _reported_access(
    session: Session, expression: str, frame: Frame
) -> answers.AccessView | UnsetType:
    """Return the watched access by the debugger's own expression: function, file and line."""
    try:
        found = await session.backend.evaluate(expression, frame, EvaluationPurpose.EVALUATE)
        function, file, line = msgspec.json.decode(found.value, type=str).split("\n")
    except (DebuggerError, ValueError):
        return UNSET  # no access is known: the frame's own line is reported
    return answers.AccessView(function, file, int(line))


def count_own_frames(stack: Stack) -> int:
    """Count the frames up to the outermost with source; all of them if none has source."""
    readable = [at for at, one in enumerate(stack.frames) if source_files.is_readable(one.file)]
    return readable[-1] + 1 if readable else len(stack.frames)


def _describe_stop(happened: Stopped) -> str | None:
    text = happened.description or happened.text
    return text if text and happened.reason in {StopReason.SIGNAL, StopReason.EXCEPTION} else None


async def _reported_locals(session: Session, frame: Frame | None) -> list[Variable]:
    """Return the locals of the reported frame, which need not be the innermost."""
    if frame is None:
        return []
    try:
        return await frame_locals(session, frame)
    except DebuggerError as error:
        if error.code is not ErrorCode.ADAPTER_FAILED:
            raise
        # Of a function that waits, js-debug knows the place, and not the values. netcoredbg 3.1
        # refuses those of the runtime's own frames, in which a pause may stop.
        if frame.index == 0:
            why = error.message.removeprefix("error: ")
            session.pending_notes.append(f"its values cannot be read: {why}")
        return []


async def frame_locals(session: Session, frame: Frame) -> list[Variable]:
    """Return a frame's arguments and locals (a job); innermost shadows come last."""
    found: list[Variable] = []
    for scope in await session.backend.read_scopes(frame):
        if scope.kind in {ScopeKind.LOCALS, ScopeKind.ARGUMENTS}:
            found += await session.backend.read_variables(scope.handle)
    shown = [one for one in found if not is_no_variable(one)]
    return await assigned_locals.mark_unassigned(session, frame, shown)


def is_no_variable(one: Variable) -> bool:
    """Return whether an entry of LLDB's variables is no variable of the program.

    lldb-dap 19 lists such entries in a function without debug information; of Rust's library LLDB
    lists parameters without a name, and others without a size.
    """
    is_unreadable = one.value.startswith("<error") and _NAMELESS.fullmatch(one.name) is not None
    return is_unreadable or one.name in _NO_VARIABLE


async def _reported_exception(session: Session, happened: Stopped) -> ExceptionDetails | None:
    if happened.reason not in {StopReason.EXCEPTION, StopReason.SIGNAL} or happened.thread is None:
        return None
    try:
        return await session.backend.read_exception(happened)
    except DebuggerError:
        return None


def _exception_view(details: ExceptionDetails | None) -> answers.ExceptionView | None:
    if details is None:
        return None
    return answers.ExceptionView(
        type=details.type[:200],
        message=views.value_text(details.message, 1000),
        causes=tuple(views.value_text(cause, 300) for cause in details.causes),
        part=details.part if details.part and len(details.part) <= _PART_MAX else UNSET,
    )


def new_output(session: Session) -> answers.Output:
    """Return the process tree's output since the last report: the first lines, and the last."""
    timeline = session.timeline
    cursors = session.cursors
    page = timeline.lines(since=cursors.reported)
    cursors.advance(page.next)
    shown = page.lines
    if len(shown) > _OUTPUT_MAX:
        shown = [*shown[:3], *shown[3 - _OUTPUT_MAX :]]
    return answers.Output(
        lines=tuple(answers.OutputLine(one.stream.value, one.text, one.seq) for one in shown),
        dropped=page.dropped,
        total=len(page.lines),
    )


def _stop_notes(
    session: Session, happened: Stopped, of_family: list[str], stack: Stack
) -> tuple[str, ...]:
    led = f"an exception led here: {happened.handled}" if happened.handled else ""
    lost = views.lost_callers(stack.frames)
    return tuple(filter(None, [led, *_notes_at_stop(session), *of_family, lost]))


def _notes_at_stop(session: Session) -> tuple[str, ...]:
    """Return notes beside the stop: the backend's own, and failed conditions."""
    notes = list(session.pending_notes)
    session.pending_notes.clear()
    page = session.timeline.events(
        Filters(kinds={EventKind.CONDITION_ERROR}),
        since=session.cursors.noted,
        limit=_FAILURES_MAX,
        newest=True,
    )
    session.cursors.note_reported(session.timeline.cursor())
    failures: dict[object, str] = {}
    for event in page.events:
        first = event.text.strip().splitlines()[0] if event.text.strip() else ""
        failures[event.data.get("breakpoint")] = first
    for number, problem in failures.items():
        which = f"of breakpoint {number} " if number else ""
        notes.append(f"the condition {which}could not be evaluated: {problem}")
    if page.total > len(failures):
        notes.append(f"conditions failed {page.total}x: debugger events --kind condition_error")
    return tuple(notes)


def report_end(session: Session) -> answers.Stop:
    """Report the end of the program: exit status or signal, output, and unmet breakpoints.

    Raises:
        DebuggerError: ADAPTER_DIED if the debugger was lost, LAUNCH_FAILED if it never ran.
    """
    session.mark_reported()
    if session.error is not None:
        raise DebuggerError(
            ErrorCode.ADAPTER_DIED, session.error, hint="debugger restart starts it again"
        )
    output = new_output(session)
    exited = session.exited or ExitedProgram()
    listed = session.breakpoints.user_breakpoints()
    enabled = [one for one in listed if one.spec.enabled]
    # One that a child process stopped at need not have bound in the program itself.
    unbound = [
        one
        for one in enabled
        if not (one.bound and one.bound.verified) and not _tree_hits(session, one.id)
    ]
    # Few adapters say which of what is caught has stopped the program.
    counted = (one for one in enabled if one.spec.kind is not BreakpointKind.EXCEPTION)
    met = [one for one in counted if one not in unbound]
    notes = (*_notes_at_stop(session), *process_tree.other_process_notes(session))
    never_hit = [one for one in met if not _tree_hits(session, one.id)]
    if (unbound or never_hit) and (unseen := process_tree.describe_unseen(session)):
        notes += (unseen,)
    if exited.doubt is not None:
        notes += (exited.doubt,)
    if session.left_behind:
        those = ", ".join(session.left_behind[:5])
        notes += (f"{LEFT_RUNNING}{those}",)
    panic = _rust_panic(session) if exited.code == _PANIC_STATUS else None
    if panic is not None and not any(one.spec.function == _PANIC for one in listed):
        notes += (f"a panic ended it{panic}: debugger break {_PANIC}, then debugger restart",)
    if exited.code and (missed := _missed_exception(session)):
        notes += (missed,)
    if exited.code == _UNSETTLED_STATUS and _is_module(session):
        notes += (_UNSETTLED,)
    return answers.Stop(
        session=session.name,
        state=State.TERMINATED.value,
        reason=StopReason.EXIT.value,
        raw_reason="exited",
        exit_code=exited.code,
        exit_reason=exited.reason or UNSET,
        signal=exited.signal,
        output=output.lines,
        output_total=output.total,
        output_dropped=output.dropped,
        unbound=tuple(views.breakpoint_view(one) for one in unbound),
        never_hit=tuple(map(views.breakpoint_view, never_hit)),
        crash=session.crash or UNSET,
        left_running=process_tree.still_running(session),
        notes=notes,
    )


def _rust_panic(session: Session) -> str | None:
    """Return the location and message of a Rust panic; None if there was none.

    A debugger does not stop at a panic without a breakpoint. With RUST_BACKTRACE the message is not
    among the last lines.
    """
    lines = [one.text for one in session.timeline.lines(since=0).lines]
    for at in range(len(lines) - 1, -1, -1):
        _, found, where = lines[at].partition("panicked at ")
        if found:
            text = lines[at + 1].strip() if at + 1 < len(lines) else ""
            return f" ({where.strip().rstrip(':')}: {text})"[:_PANIC_MAX]
    return None


def _is_module(session: Session) -> bool:
    return (session.target.program or "").endswith(_MODULES)


def _missed_exception(session: Session) -> str | None:
    """Explain why the debugger did not stop at the exception that ended Node, if it did not."""
    every = [session, *session.family.tree_sessions(session)]
    stops = [one.last_stop for one in every]
    if any(one is not None and one.reason is StopReason.EXCEPTION for one in stops):
        return None
    lines = [one.text for one in session.timeline.lines(since=0).lines][-_REPORT_LINES:]
    if not any(_NODE_ENDED.match(one) for one in lines):
        return None
    if any(_OVERFLOW in one for one in lines):
        return OVERFLOWED
    return next(iter(typescript_notes(lines)), MISSED)


def _tree_hits(session: Session, number: int) -> int:
    """Count the hits of a breakpoint in a program and its child processes."""
    relatives = [session, *session.family.tree_sessions(session)]
    return sum(one.breakpoints.count_hits(number) for one in relatives)


def report_running(
    session: Session, *, waited_s: float | None, waiting_for: IdleWait | None = None
) -> answers.Stop:
    """Report that the program still runs, after a wait of `waited_s` seconds or without one.

    `waiting_for` is the wait of an idle program.
    """
    output = new_output(session)
    notes = (*_notes_at_stop(session), *process_tree.other_process_notes(session))
    if session.pid is not None and is_suspended(session.pid):
        notes += (f"a stop signal has suspended it: kill -CONT {session.pid} lets it go on",)
    return answers.Stop(
        session=session.name,
        state=State.RUNNING.value,
        output=output.lines,
        output_total=output.total,
        output_dropped=output.dropped,
        timed_out=waited_s is not None,
        waited_s=waited_s,
        waiting=_waiting_of(session, waiting_for) if waiting_for is not None else UNSET,
        crash=session.crash or UNSET,
        notes=notes,
    )


def _waiting_of(session: Session, found: IdleWait) -> answers.IdleReason:
    # The stdin of a program that was attached to is not ours to write to.
    is_attached = isinstance(session.target, AttachTarget)
    return waiting_view(found, source=found.source if is_attached else "")


def waiting_view(found: IdleWait, *, source: str = "") -> answers.IdleReason:
    """Describe the wait of an idle program; `source` is the origin of its input."""
    return answers.IdleReason(
        kind=found.kind,
        pid=found.pid,
        program=found.program,
        call=found.call,
        ports=found.ports,
        source=source or UNSET,
    )
