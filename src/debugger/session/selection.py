"""Holds the current thread and frame, and the values that the user has already seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
from msgspec import Struct

from debugger.backends.base import AttachTarget, LaunchTarget
from debugger.model.breakpoints import Breakpoint, BreakpointKind, Breakpoints, BreakpointSpec
from debugger.model.debugger_words import DebuggerTraits
from debugger.model.program import Frame, ResumeKind, Stopped, StopReason, Variable

TRAIL_MAX = 200  # steps that a second run can repeat
PATH_MAX = 2_000  # resumes of a run that are recorded
_CALLERS_MAX = 20  # frames whose values are kept while what they called is stepped through
_SHOWN_MAX = 300  # of these, with the values of the stop that was left


class Move(Struct, frozen=True):
    """A resume of the program, as far as a second run can repeat it."""

    # None stands for a way that cannot be repeated.
    how: ResumeKind | None
    # Where the stop was that was left, if its innermost frame was read.
    left: tuple[str | None, int | None] | None
    # The breakpoints at that time: the user's, and ours.
    users: tuple[BreakpointSpec, ...]
    ours: tuple[BreakpointSpec, ...]
    # The locals that the stop was reported with.
    shown: tuple[Variable, ...] = ()


class _ShownFrame(Struct, frozen=True):
    """A frame that a stop was reported in: the number of its callers, and its locals then."""

    depth: int
    identity: object
    variables: list[Variable]


@dataclass
class Selection:
    """The current thread and frame, and the values shown at earlier stops."""

    thread: int | None = None
    frame: Frame | None = None
    shown_index: int = 0  # of the frame that the stop was reported in
    stop_frame: Frame | None = None  # that frame, whichever is selected since
    file: str | None = None
    stop: Stopped | None = None
    # The identity of the shown frame, and its locals; `before` is the same of the stop before.
    shown: tuple[object, list[Variable]] = (None, [])
    before: tuple[object, list[Variable]] = (None, [])
    # The frames that were shown and have not returned, as far as is known, the outermost first.
    callers: list[_ShownFrame] = field(default_factory=list)
    # The steps since `anchor`; None stands for any other way to resume.
    trail: tuple[ResumeKind | None, ...] = ()
    # The last stop that did not end a step, with its frame and its hit counts.
    anchor: tuple[Stopped, Frame | None, tuple[int, ...]] | None = None
    # The breakpoints at the start of the run: the user's, and ours.
    begun: tuple[BreakpointSpec, ...] = ()
    begun_ours: tuple[BreakpointSpec, ...] = ()
    # The timeline's cursor there.
    begun_at: int = 0
    # The resumes since the start of the run, with one more than `PATH_MAX` at most.
    path: list[Move] = field(default_factory=list)
    # The user has set values, which a second run would not have.
    is_changed: bool = False
    # The user may have set a variable, or moved execution: the program's code does not tell
    # what is assigned.
    may_have_assigned: bool = False
    # How often values were set, or may have been: other clients show them anew.
    changes: int = 0
    # The user has typed input, which a second run would not have.
    has_read_stdin: bool = False

    def begin_run(self, breakpoints: Breakpoints, cursor: int) -> Selection:
        """Return the selection of a further run, which begins with these breakpoints."""
        users, ours = breakpoints.user_specs(), breakpoints.own_specs()
        return Selection(file=self.file, begun=users, begun_ours=ours, begun_at=cursor)

    def note_resume(
        self,
        how: ResumeKind | None,
        stop: Stopped | None,
        hits: Sequence[int],
        breakpoints: Breakpoints,
    ) -> None:
        """Record that a stop is left, and how; its frames become invalid."""
        if len(self.path) <= PATH_MAX:
            self.path.append(self._make_move(how, stop, breakpoints))
        if stop is not None and (stop.reason is not StopReason.STEP or hits):
            self.trail, self.anchor = (how,), (stop, self.frame, tuple(hits))
        elif len(self.trail) < TRAIL_MAX:
            self.trail = (*self.trail, how)
        self.frame, self.stop_frame, self.shown_index = None, None, 0

    def _make_move(
        self, how: ResumeKind | None, stop: Stopped | None, breakpoints: Breakpoints
    ) -> Move:
        is_known = stop is not None and stop.reason is not StopReason.PAUSE
        is_known = is_known and stop is not None and stop.thread == self.thread
        at = self.frame if self.frame is not None and self.frame.index == 0 else None
        is_shown = at is not None and self.stop is stop and len(self.path) < _SHOWN_MAX
        return Move(
            how=how if is_known else None,
            left=(at.file, at.line) if at is not None else None,
            users=breakpoints.user_specs(),
            ours=breakpoints.own_specs(),
            shown=tuple(self.shown[1]) if is_shown else (),
        )

    def note_shown(
        self, stop: Stopped, identity: object, variables: list[Variable], depth: int = 0
    ) -> None:
        """Record the shown values; another client may see the same stop again.

        A frame that was shown before a call of it is compared with again after the call.
        """
        if self.stop is not stop:
            self.stop = stop
            callers = [one for one in self.callers if one.depth <= depth]
            found = next((one for one in reversed(callers) if one.identity == identity), None)
            self.before = self.shown if found is None else (found.identity, found.variables)
            self.callers = [one for one in callers if one.depth < depth][-_CALLERS_MAX:]
        elif self.callers and self.callers[-1].depth == depth:
            self.callers.pop()
        self.callers.append(_ShownFrame(depth, identity, variables))
        self.shown = (identity, variables)

    def select_thread(self, thread: int | None) -> None:
        """Select a thread; its frame is not chosen yet."""
        self.thread, self.frame = thread, None

    def complete_thread(self, thread: int) -> int:
        """Select a thread where none is selected; return the selected one."""
        if self.thread is None:
            self.thread = thread
        return self.thread

    def select_frame(self, frame: Frame | None) -> None:
        """Select a frame; its file becomes the one that a bare line number means."""
        self.frame = frame
        if frame is not None and frame.file is not None:
            self.file = frame.file

    def begin_at(self, frame: Frame | None) -> None:
        """Select the frame that a stop is reported in."""
        self.frame, self.shown_index = frame, frame.index if frame is not None else 0
        self.stop_frame = None if frame is None else self.stop_frame or frame

    def note_file(self, file: str | None) -> None:
        """Record the file that a bare line number means."""
        self.file = file

    def note_assigned(self) -> None:
        """Record that the user has set a value."""
        self.is_changed = self.may_have_assigned = True
        self.changes += 1

    def note_interference(self) -> None:
        """Record that an expression may have set a variable, or that execution was moved."""
        self.may_have_assigned = True

    def note_typed_input(self) -> None:
        """Record that the user has written to the program's input."""
        self.has_read_stdin = True

    def note_evaluated(self) -> None:
        """Note that an expression may have changed much: the next stop is reported in full."""
        self.stop, self.shown, self.is_changed = None, (None, []), True
        self.callers = []
        self.changes += 1

    def note_changed(self) -> None:
        """Note that the user may have changed anything: the next stop is reported in full."""
        self.note_evaluated()
        self.may_have_assigned = True


def name_stop(
    stop: Stopped, hit_breakpoints: Sequence[Breakpoint], *, is_entry: bool, is_pause: bool
) -> Stopped:
    """Refine a stop's reason by facts of the session: requests and hit breakpoints."""
    reason = stop.reason
    if (
        is_entry
        and not hit_breakpoints
        and reason in {StopReason.PAUSE, StopReason.BREAKPOINT, StopReason.STEP}
    ):
        reason = StopReason.ENTRY
    elif is_pause and not hit_breakpoints and reason in {StopReason.STEP, StopReason.BREAKPOINT}:
        # js-debug tells a pause as a step; lldb-dap 19 as a breakpoint, at the loader's own.
        reason = StopReason.PAUSE
    elif reason is StopReason.PAUSE and not is_pause and stop.signal is not None:
        reason = (
            StopReason.SIGNAL
        )  # LLDB tells a pause as the SIGSTOP that made it; this one is not ours
    elif reason in {StopReason.BREAKPOINT, StopReason.FUNCTION_BREAKPOINT} and hit_breakpoints:
        if all(one.internal for one in hit_breakpoints):
            reason = StopReason.GOTO
        elif all(
            one.spec.kind is BreakpointKind.EXCEPTION for one in hit_breakpoints if not one.internal
        ):
            reason = StopReason.EXCEPTION
        elif all(
            one.spec.kind is BreakpointKind.WATCHPOINT
            for one in hit_breakpoints
            if not one.internal
        ):
            reason = StopReason.WATCHPOINT
        elif all(
            one.spec.kind is BreakpointKind.FUNCTION for one in hit_breakpoints if not one.internal
        ):
            reason = StopReason.FUNCTION_BREAKPOINT
        else:
            reason = StopReason.BREAKPOINT
    is_own = reason in {StopReason.PAUSE, StopReason.ENTRY}
    return msgspec.structs.replace(stop, reason=reason, signal=None if is_own else stop.signal)


def foreign_processes(
    killed: Sequence[str], program: int | None, traits: DebuggerTraits
) -> tuple[str, ...]:
    """Drop the debugger's own processes, and the program, from the killed ones."""
    return tuple(
        one
        for one in killed
        if not one.partition(" (")[2].startswith(traits.own_programs)
        and one.partition(" (")[0] != str(program)
    )


def target_program(target: LaunchTarget | AttachTarget) -> str | None:
    """Return the target's name: a path, or `-m MODULE`."""
    if isinstance(target, LaunchTarget) and target.module:
        return f"-m {target.module}"
    return target.program


def default_name(target: LaunchTarget | AttachTarget) -> str:
    """Return a session name for a target of unknown program."""
    if isinstance(target, AttachTarget) and target.connect is not None:
        host, port = target.connect
        return f"{host}-{port}"
    return f"pid-{target.pid}" if isinstance(target, AttachTarget) else "program"


def stop_location_text(stop: Stopped | None, frame: Frame | None) -> str | None:
    """Describe the location of the last stop; None before the first."""
    if stop is None:
        return None
    at = f" in {frame.function}" if frame is not None else ""
    line = f" at {frame.file}:{frame.line}" if frame is not None and frame.file else ""
    return f"{stop.reason.value}{at}{line}"
