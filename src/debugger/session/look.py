"""What a stop is called, and what the user looks at and has been shown of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from debugger.backends.base import Attach, Launch
from debugger.core.breakpoints import Breakpoint, Kind, Spec
from debugger.core.model import Frame, Reason, Resume, Stopped, Variable

TRAIL_MAX = 200


@dataclass
class Look:
    """What the user looks at: a thread and a frame, and what was shown of the last two stops.

    `shown` and `before` are a frame's identity and its locals. `trail` has the steps since the
    last stop that was no step's, which was `anchor`, with its frame and hits; one that is None was
    another way to go on. `begun` are the breakpoints with which the run began.
    `was_changed`, `was_fed`: a second run has not what was set, or typed, in it.
    """

    thread: int | None = None
    frame: Frame | None = None
    shown_index: int = 0  # of the frame that the stop was reported in
    file: str | None = None
    stop: Stopped | None = None
    shown: tuple[object, list[Variable]] = (None, [])
    before: tuple[object, list[Variable]] = (None, [])
    trail: tuple[Resume | None, ...] = ()
    anchor: tuple[Stopped, Frame | None, tuple[int, ...]] | None = None
    begun: tuple[Spec, ...] = ()
    was_changed: bool = False
    was_fed: bool = False

    def left(self, how: Resume | None, stop: Stopped | None, hits: Sequence[int]) -> None:
        """Note that a stop is being left, and how; its frames are none any more."""
        if stop is not None and (stop.reason is not Reason.STEP or hits):
            self.trail, self.anchor = (how,), (stop, self.frame, tuple(hits))
        elif len(self.trail) < TRAIL_MAX:
            self.trail = (*self.trail, how)
        self.frame, self.shown_index = None, 0

    def show(self, stop: Stopped, identity: object, variables: list[Variable]) -> None:
        """Note what is being shown; of the same stop it may be shown again, to somebody else."""
        if self.stop is not stop:
            self.stop, self.before = stop, self.shown
        self.shown = (identity, variables)

    def changed_anything(self) -> None:
        """Note that the user may have changed anything: the next stop is told in full."""
        self.stop, self.shown, self.was_changed = None, (None, []), True


def named(stop: Stopped, hit: Sequence[Breakpoint], *, is_entry: bool, is_pause: bool) -> Stopped:
    """Name a stop's reason by what only the session knows: what was asked for, what was hit."""
    reason = stop.reason
    if is_entry and not hit and reason in {Reason.PAUSE, Reason.BREAKPOINT, Reason.STEP}:
        reason = Reason.ENTRY
    elif is_pause and not hit and reason in {Reason.STEP, Reason.BREAKPOINT}:
        # js-debug tells a pause as a step; lldb-dap 19 as a breakpoint, at the loader's own.
        reason = Reason.PAUSE
    elif reason is Reason.PAUSE and not is_pause and stop.signal is not None:
        reason = (
            Reason.SIGNAL
        )  # LLDB tells a pause as the SIGSTOP that made it; this one is not ours
    elif reason in {Reason.BREAKPOINT, Reason.FUNCTION_BREAKPOINT} and hit:
        if all(one.internal for one in hit):
            reason = Reason.GOTO
        elif all(one.spec.kind is Kind.EXCEPTION for one in hit if not one.internal):
            reason = Reason.EXCEPTION
        elif all(one.spec.kind is Kind.WATCHPOINT for one in hit if not one.internal):
            reason = Reason.WATCHPOINT
        elif all(one.spec.kind is Kind.FUNCTION for one in hit if not one.internal):
            reason = Reason.FUNCTION_BREAKPOINT
        else:
            reason = Reason.BREAKPOINT
    is_own = reason in {Reason.PAUSE, Reason.ENTRY}
    return msgspec.structs.replace(stop, reason=reason, signal=None if is_own else stop.signal)


_DEBUGGERS = ("lldb", "debugserver", "gdb", "dlv", "node", "codelldb", "python")


def strangers(killed: Sequence[str], program: int | None) -> tuple[str, ...]:
    """Leave out the debugger's own processes, and the program, from those that were killed."""
    return tuple(
        one
        for one in killed
        if not one.partition(" (")[2].startswith(_DEBUGGERS)
        and one.partition(" (")[0] != str(program)
    )


def program_of(target: Launch | Attach) -> str | None:
    """Return what is debugged: a path, or `-m MODULE`."""
    if isinstance(target, Launch) and target.module:
        return f"-m {target.module}"
    return target.program


def unnamed(target: Launch | Attach) -> str:
    """Name what is debugged where its program is not known."""
    if isinstance(target, Attach) and target.connect is not None:
        host, port = target.connect
        return f"{host}-{port}"
    return f"pid-{target.pid}" if isinstance(target, Attach) else "program"


def place_of(stop: Stopped | None, frame: Frame | None) -> str | None:
    """Say where a program stopped last, in a few words; None before it has."""
    if stop is None:
        return None
    at = f" in {frame.function}" if frame is not None else ""
    line = f" at {frame.file}:{frame.line}" if frame is not None and frame.file else ""
    return f"{stop.reason.value}{at}{line}"
