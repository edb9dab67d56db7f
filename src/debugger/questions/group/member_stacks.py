"""Reads the stacks of a group's members, stopped or running, and reduces them to their own code."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.debugger_words import Runtime
from debugger.model.events import State
from debugger.model.group_merge import MemberStack, StackPlace, merge_stacks, order_members
from debugger.model.location import is_library
from debugger.model.program import Stack
from debugger.model.signals import signal_name
from debugger.questions.group.answer import GroupStacks, MergedState
from debugger.questions.hang import python_waits
from debugger.questions.hang.python_waits import PythonSnapshot
from debugger.session import source_files
from debugger.session.group import Group, Member, ask_members, drop_launcher, is_started
from debugger.session.session import Session

STACKS_S = 3.0  # seconds until a member must have reported its stack
_LEVELS = 60  # frames of a stack that are compared
_LIBRARY_FRAMES = 3  # of a stack without any code of the program's own
_TEXT_MAX = 80  # characters of a source line
# Where a process of multiprocessing begins, or a thread: frames before it are not its own.
_BEGINNINGS = ("_bootstrap", "_bootstrap_inner")
_STARTS = "its debugger starts"
_RUNS = "running; only a stop shows its stack: debugger pause"

PlaceOf = tuple[str, str | None, int | None]


async def read_group_stacks(
    group: Group, members: Sequence[Member], *, by: str, every: bool
) -> GroupStacks:
    """Merge the stacks of members; a Python process reports its stack while it runs, too."""
    live = [one for one in drop_launcher(members) if one.session.is_live]
    found, silent = await ask_members(
        live, lambda one: read_member_stacks(one, group, every=every), STACKS_S
    )
    stacks = [stack for stacks in found.values() for stack in stacks]
    return GroupStacks(
        group=group.name,
        total=len(members),
        states=merge_states(members),
        branches=merge_stacks(stacks, by),
        by=by,
        silent=tuple(silent),
        notes=tuple(group.describe_omitted()),
    )


async def read_member_stacks(member: Member, group: Group, *, every: bool) -> list[MemberStack]:
    """Return the stack of a member's current or main thread; with `every` of all threads.

    Raises:
        DebuggerError: WRONG_STATE for a running process that is not Python's.
    """
    session = member.session
    if session.state is State.STOPPED:
        stacks = await session.run_job(lambda: read_stopped_stacks(session, every=every))
        state = "stopped"
    elif session.traits.runtime is Runtime.PYTHON and session.state is State.RUNNING:
        snapshot = await python_waits.take_snapshot(session)
        if not is_started(group):
            # Nothing of ours stays in a process that is only attached to.
            await python_waits.remove_snapshot_code(session)
        places = snapshot_places(snapshot, session.target.cwd, every=every)
        stacks = [_without_class(one) for one in places]
        state = "running"
    elif session.state is State.RUNNING:
        raise DebuggerError(ErrorCode.WRONG_STATE, _RUNS, hint="debugger pause")
    else:
        raise DebuggerError(ErrorCode.WRONG_STATE, _STARTS, hint="debugger await")
    cwd = session.target.cwd
    return [MemberStack(member.label, state, reduce_stack(one, cwd)) for one in stacks if one]


async def read_stopped_stacks(session: Session, *, every: bool) -> list[list[PlaceOf]]:
    """Read the stacks of a stopped session, innermost frame first (a job)."""
    threads = [session.selection.thread or 0]
    if every:
        threads = [one.id for one in await session.backend.list_threads()]
    stacks: list[Stack] = [await session.backend.read_stack(one, levels=_LEVELS) for one in threads]
    return [[(one.function, one.file, one.line) for one in stack.frames] for stack in stacks]


def snapshot_places(snapshot: PythonSnapshot, cwd: str, *, every: bool) -> list[list[PlaceOf]]:
    """Return the stacks of a snapshot, innermost frame first; the main thread's is the first.

    Python names the file of a script as it was started: a relative path is below `cwd`.
    """
    threads = snapshot.threads if every else snapshot.threads[:1]
    return [
        [(frame.function, find_file(frame.file, cwd), frame.line or None) for frame in one.frames]
        for one in threads
    ]


def find_file(file: str, cwd: str) -> str:
    """Return the absolute path of a file that a process names; names in brackets are unchanged."""
    path = f"{cwd}/{file}"
    return path if not file.startswith(("/", "<")) and source_files.is_readable(path) else file


def _without_class(stack: Sequence[PlaceOf]) -> list[PlaceOf]:
    # Of a stopped process the debugger reports the name without its class.
    return [(function.rpartition(".")[2], file, line) for function, file, line in stack]


def reduce_stack(
    stack: Sequence[PlaceOf], cwd: str, read_line: Callable[[str, int], str] | None = None
) -> tuple[StackPlace, ...]:
    """Reduce a stack (innermost first) to the program's own frames and the call that they are in.

    Returns the outermost frame first. The innermost own frame has the text of its line.
    """
    end = next((at for at, one in enumerate(stack) if one[0] in _BEGINNINGS), len(stack))
    since = list(stack[:end])
    own = [at for at, one in enumerate(since) if not is_library(one[1], cwd)]
    if not own:
        return tuple(StackPlace(*one) for one in reversed(since[:_LIBRARY_FRAMES]))
    innermost = own[0]
    # The library's function that the program has called, and the one that it is in.
    inner = [at for at in dict.fromkeys([innermost - 1, 0]) if 0 <= at < innermost]
    chosen = [*reversed(own), *sorted(inner, reverse=True)]
    places = []
    for at in chosen:
        function, file, line = since[at]
        text = (
            (read_line or read_source_line)(file, line) if at == innermost and file and line else ""
        )
        places.append(StackPlace(function, file, line, text))
    return tuple(places)


def read_source_line(file: str, line: int) -> str:
    """Return a line of a source file, shortened; "" where it cannot be read."""
    lines = source_files.read_source(file) or ()
    return lines[line - 1].strip()[:_TEXT_MAX] if 0 < line <= len(lines) else ""


def merge_states(members: Sequence[Member]) -> tuple[MergedState, ...]:
    """Return the states of members, and who is in each."""
    by_state: dict[str, list[str]] = {}
    for one in members:
        by_state.setdefault(describe_state(one.session), []).append(one.label)
    return tuple(MergedState(state, order_members(labels)) for state, labels in by_state.items())


def read_exit_code(session: Session) -> int | None:
    """Return the exit status of a member, or minus a signal's number; None if not known."""
    code = session.exited.code if session.exited is not None else None
    # debugpy does not know how a forked process has ended, a lost debugger does not tell, and
    # LLDB 14 to 19 give the number of a signal that nobody can stop at (SIGKILL) as the status.
    known = session.process.read_exit_status() if code is None or code > 0 else None
    return known if known is not None else code


def describe_state(session: Session) -> str:
    """Return the state of a member in a few words: how it ended, if it has."""
    if session.state is not State.TERMINATED:
        return str(session.state.value)
    exited = session.exited
    if exited is not None and exited.signal:
        return f"ended by {exited.signal}"
    code = read_exit_code(session)
    if code is None and session.error is not None:
        return "lost"
    if code is not None and code < 0:
        return f"ended by {signal_name(-code)}"
    return f"ended with status {code}" if code else "ended"
