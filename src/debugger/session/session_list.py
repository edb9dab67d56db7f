"""Stores the sessions by name, tracks the current one, and ends them."""

from __future__ import annotations

import asyncio
import logging
import os.path
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from debugger.backends.base import AttachTarget, ChildStarted, ClosedBackend, LaunchTarget
from debugger.errors import DebuggerError, ErrorCode
from debugger.model import statement
from debugger.model.events import State
from debugger.model.location import near_names
from debugger.session.group import GroupList
from debugger.session.process_tree import TimelineCursors, descendants, observe_end, root_session
from debugger.session.selection import default_name, target_program
from debugger.session.session import MakeBackend, Session
from debugger.session.session_state import is_running_program
from debugger.session.timeline import Timeline
from debugger.system.process_info import ProcessInfo, look_at

LIVE_MAX = 20
_ENDED_MAX = 20  # ended sessions that are kept
_ENDED_CHILDREN_MAX = 200  # of a program that starts processes without end
_NAME_MAX = 64  # characters
_log = logging.getLogger(__name__)


def _is_over(session: Session) -> bool:
    # One that has not begun is neither live nor over.
    return session.state is State.TERMINATED


def _target_of(parent: Session, child: ChildStarted) -> LaunchTarget | AttachTarget:
    """Return the target of a child process; its parent's program if nothing is known."""
    program, *args = child.words or (parent.target.program or "",)
    at = os.path.join(parent.target.cwd, program)
    program = at if os.path.exists(at) else program
    if isinstance(parent.target, AttachTarget):
        # The parent's own beginning is not the child's.
        return msgspec.structs.replace(
            parent.target,
            pid=child.pid,
            program=program or None,
            pause=False,
            held_entry=None,
            connects_itself=False,
        )
    if not child.words:
        return parent.target
    return msgspec.structs.replace(parent.target, program=program, module=None, args=tuple(args))


class SessionList:
    """The sessions of the daemon; `on_change` is called when one starts to live or ends."""

    def __init__(self, *, on_change: Callable[[], None], timeline: Callable[[], Timeline]) -> None:
        self._sessions: dict[str, Session] = {}
        self._current: str | None = None
        self._on_change = on_change
        self._timeline = timeline
        self._adoptions: set[asyncio.Task[None]] = set()
        # Child processes that have ended and were forgotten, by their tree's timeline.
        self._forgotten: WeakKeyDictionary[Timeline, int] = WeakKeyDictionary()
        self._leaving: set[Session] = set()
        self._private: set[str] = set()
        self.groups = GroupList()
        # Of the names that are not the user's: on another machine they must differ from those here.
        self.name_suffix = ""

    @property
    def current(self) -> str | None:
        """The name of the current session."""
        return self._current

    def all_sessions(self) -> list[Session]:
        """Return all sessions, oldest first."""
        return list(self._sessions.values())

    def get(self, name: str | None) -> Session:
        """Return a session by name, or the current one.

        Raises:
            DebuggerError: NO_SESSION, naming those that exist.
        """
        chosen = name or self._current
        if chosen is None:
            raise DebuggerError(
                ErrorCode.NO_SESSION, "no debug session", hint="debugger start PROGRAM begins one"
            )
        found = self._sessions.get(chosen)
        if found is None:
            names = ", ".join(self._sessions) or "none"
            near = near_names(chosen, self._sessions)
            hint = f"debugger use {near[0]}" if near else "debugger sessions"
            raise DebuggerError(
                ErrorCode.NO_SESSION, f"no session {chosen!r}; there are: {names}", hint=hint
            )
        return found

    async def create(
        self,
        target: LaunchTarget | AttachTarget,
        make_backend: MakeBackend,
        *,
        name: str | None,
        private: str | None = None,
        joined: Session | None = None,
        parent: Session | None = None,
    ) -> Session:
        """Create a session and make it current; an ended one of the same name is replaced.

        A `private` one gets this name, or the name with a number, and never becomes current by
        itself. One that is `joined` to another shares its timeline and its breakpoints; a `parent`
        is one of these, and ends it.

        Raises:
            DebuggerError: USAGE for a name in use or a bad one, or too many sessions.
        """
        live = [one for one in self._sessions.values() if not _is_over(one)]
        roots = {id(one.timeline) for one in live if one.parent is None}
        if joined is None and len(roots) >= LIVE_MAX:
            raise DebuggerError(
                ErrorCode.USAGE,
                f"there are {LIVE_MAX} live sessions already",
                hint="debugger stop --session NAME ends one, debugger sessions lists them",
            )
        chosen = self.unused_name(private) if private else self._free_name(name, target)
        ended = self._sessions.pop(chosen, None)
        session = Session(
            chosen,
            target=target,
            make_backend=make_backend,
            timeline=self._timeline() if joined is None else joined.timeline,
            cursors=TimelineCursors() if joined is None else joined.cursors,
            family=self,
            parent=parent,
        )
        # It has its name before anything is awaited: another `start` must not take it.
        self._sessions[chosen] = session
        if private:
            self._private.add(chosen)
        else:
            self._private.discard(chosen)
            if joined is None or self._current is None:
                self._current = chosen
        try:
            if ended is not None:
                await self._remove(ended)
            await session.open()
            await self._forget_old()
            await self._forget_old_children(session)
        except asyncio.CancelledError:
            await self.close(session, kill=True)
            raise
        return session

    def _free_name(self, name: str | None, target: LaunchTarget | AttachTarget) -> str:
        if name is not None:
            is_word = name.isprintable() and name.strip() and not name.startswith("-")
            if not is_word or len(name) > _NAME_MAX:
                raise DebuggerError(
                    ErrorCode.USAGE, f"not a session's name: {name!r}", hint="debugger sessions"
                )
            if not self._is_free(name):
                raise DebuggerError(
                    ErrorCode.USAGE,
                    f"the session {name!r} is in use",
                    hint=f"debugger stop --session {name} ends it",
                )
            return name
        program = getattr(target, "module", None) or target.program
        own = program if program and not program.startswith("/proc/") else None
        return self.unused_name(Path(own).stem if own else default_name(target))

    def unused_name(self, base: str) -> str:
        """Return a name that no live session has, and none of a question."""
        base = base.removesuffix(self.name_suffix)
        number, chosen = 1, f"{base}{self.name_suffix}"
        while not self._is_free(chosen):
            number += 1
            chosen = f"{base}-{number}{self.name_suffix}"
        return chosen

    def _is_free(self, name: str) -> bool:
        known = self._sessions.get(name)
        # The question of a private one reads it after the program's end, and closes it then.
        return known is None or (_is_over(known) and not self._is_private(known))

    async def _forget_old(self) -> None:
        """Forget the programs that ended first, each with all processes of its tree or group."""
        trees: dict[Timeline, list[Session]] = {}
        for one in self._sessions.values():
            trees.setdefault(one.timeline, []).append(one)
        ended = [
            tree
            for tree in trees.values()
            if all(map(_is_over, tree)) and not any(map(self._is_private, tree))
        ]
        for tree in ended[: max(0, len(ended) - _ENDED_MAX)]:
            if self._current not in {one.name for one in tree}:
                await self._close_tree(tree)

    async def _close_tree(self, tree: Sequence[Session]) -> None:
        for one in tree:
            if one.parent is None:
                await self.close(one, kill=True)

    async def _forget_old_children(self, session: Session) -> None:
        """Forget the processes of a tree or group that ended first, without what they started."""
        tree = self.tree_sessions(session)
        parents = {one.parent for one in tree if one.parent is not None}
        ended = [one for one in tree[1:] if _is_over(one)]
        for old in ended[: max(0, len(ended) - _ENDED_CHILDREN_MAX)]:
            if old not in parents | self._leaving and old.name != self._current:
                self._forgotten[session.timeline] = self.count_forgotten(session) + 1
                self._leaving.add(old)
                try:
                    await self.close(old, kill=True)
                finally:
                    self._leaving.discard(old)

    async def close(self, session: Session, *, kill: bool) -> ClosedBackend:
        """End a session and its children, and forget them."""
        async with observe_end(session, kill=kill):
            closed = await session.close(kill=kill)
        children = descendants(session)
        # Those that had ended before still take jobs.
        await asyncio.gather(*(one.close(kill=kill) for one in children))
        for one in [session, *children]:
            self._sessions.pop(one.name, None)
            self._private.discard(one.name)
        self._close_timeline(session)
        parent = session.parent
        is_lost = self._current not in self._sessions
        if is_lost and parent is not None and not self._is_private(parent):
            self._current = parent.name
        if self._current not in self._sessions:
            known = [one for one in self._sessions.values() if not self._is_private(one)]
            live = [one.name for one in known if one.is_live]
            rest = live or [one.name for one in known]
            self._current = rest[-1] if rest else None
        self._on_change()
        return closed

    async def _remove(self, session: Session) -> None:
        """End a session that another takes the name of, and all of its group if nothing lives."""
        others = self.tree_sessions(session)
        relatives = others if all(map(_is_over, others)) else descendants(session)
        # Those that had ended before still take jobs: each has a task that waits for them.
        await asyncio.gather(*(one.close(kill=True) for one in [session, *relatives]))
        for one in relatives:
            self._sessions.pop(one.name, None)
            await one.close(kill=True)
        self._close_timeline(session)

    def _close_timeline(self, session: Session) -> None:
        """Close a timeline after the last of the sessions that share it."""
        if session.parent is None and not self.tree_sessions(session):
            session.timeline.close()

    async def close_all(self) -> list[str]:
        """End every session; return their names, children and private ones only if they lived.

        Attached programs run on.
        """
        roots = [one for one in self._sessions.values() if one.parent is None]
        names = [
            one.name
            for one in self._sessions.values()
            if one.is_live or (one.parent is None and not self._is_private(one))
        ]
        ending = (self.close(one, kill=isinstance(one.target, LaunchTarget)) for one in roots)
        await asyncio.gather(*ending)
        return names

    # -- what a session asks of its family ------------------------------------------------------

    def add_child(self, parent: Session, child: ChildStarted) -> None:
        """Create a session for a child process; it stops at the parent's breakpoints."""
        task = asyncio.create_task(self._create_child(parent, child))
        self._adoptions.add(task)
        task.add_done_callback(self._adoptions.discard)

    def start_apart(self, session: Session) -> asyncio.Task[None]:
        """Start a session, whether or not its caller goes on waiting for it."""
        task = asyncio.create_task(session.run_job(session.start_program))
        self._adoptions.add(task)
        task.add_done_callback(self._adoptions.discard)
        return task

    def name_member(self, relative: Session) -> str:
        """Return an unused name for another process of a session's tree or group."""
        number = 1
        family = root_session(relative).name
        while f"{family}.{number}" in self._sessions:
            number += 1
        return f"{family}.{number}"

    async def _create_child(self, parent: Session, child: ChildStarted) -> None:
        session = Session(
            self.name_member(parent),
            target=_target_of(parent, child),
            make_backend=lambda *_: child.backend,
            timeline=parent.timeline,
            cursors=parent.cursors,
            family=self,
            parent=parent,
        )
        # It has its name and pid before anything is awaited: others may appear at once.
        self._sessions[session.name] = session
        session.note_pid(child.pid)

        async def begin() -> None:
            # No breakpoint may come between: from here on it gets the family's.
            for breakpoint_ in parent.breakpoints.user_breakpoints():
                session.breakpoints.adopt(breakpoint_)
            await session.start_program(child.backend)

        await session.open()
        try:
            await session.run_job(begin)
        except DebuggerError as error:
            _log.warning("the child process %s: %s", session.name, error.message)
        await self._forget_old_children(parent)

    def live_children(self, parent: Session) -> list[Session]:
        """Return the sessions of child processes that still live."""
        return [one for one in self._sessions.values() if one.parent is parent and one.is_live]

    def tree_sessions(self, session: Session) -> list[Session]:
        """Return the sessions of one process tree, which share a timeline."""
        return [one for one in self._sessions.values() if one.timeline is session.timeline]

    def count_forgotten(self, session: Session) -> int:
        """Return how many processes of a tree have ended and are no longer kept."""
        return self._forgotten.get(session.timeline, 0)

    def make_current(self, session: Session) -> None:
        """Make a session current if one of its process tree was."""
        if self._is_private(session):
            return
        current = self._sessions.get(self._current or "")
        if current is None or current.timeline is session.timeline:
            self._current = session.name

    def select(self, name: str) -> Session:
        """Make a session the current one.

        Raises:
            DebuggerError: NO_SESSION.
        """
        session = self.get(name)
        self._private.discard(root_session(session).name)
        self._current = session.name
        self.groups.note_selected(session)
        return session

    def _is_private(self, session: Session) -> bool:
        return root_session(session).name in self._private

    def note_change(self) -> None:
        """Record that a session's name, program, pid or life has changed."""
        self._on_change()

    def describe_live(self) -> list[dict[str, Any]]:
        """Describe the live sessions, for a client that finds the daemon dead."""
        return [
            {
                "name": one.name,
                "program": target_program(one.target),
                "pid": one.pid,
                "attached": isinstance(one.target, AttachTarget) and one.target.core is None,
            }
            for one in self._sessions.values()
            if one.is_live
        ]


_RESTART = "debugger restart"
_OVER = frozenset("ZX")


@dataclass(frozen=True)
class ProcessFate:
    """The fate of an attached program after the session: whether it runs on, and notes."""

    goes_on: bool
    notes: tuple[str, ...] = ()


async def let_go(sessions: SessionList, session: Session) -> ProcessFate:
    """End a session and leave its program running."""
    was_live = session.is_live
    closed = await sessions.close(session, kill=False)
    if not is_running_program(session.target):
        return ProcessFate(goes_on=False)
    if not was_live:
        return ProcessFate(goes_on=False, notes=("the program had ended before",))
    pid = session.pid
    if not _is_on_this_machine(session) or pid is None:
        return ProcessFate(goes_on=True, notes=closed.notes)
    found = _find_living(pid)
    if found is None:
        return ProcessFate(goes_on=False, notes=(f"process {pid} has ended meanwhile",))
    if found.state == "T":
        note = f"a signal has stopped it: kill -CONT {pid}"
        return ProcessFate(goes_on=True, notes=(*closed.notes, note))
    return ProcessFate(goes_on=True, notes=closed.notes)


async def kill_attached(sessions: SessionList, session: Session) -> ProcessFate:
    """End a session and the process that it was attached to."""
    was_live, pid = session.is_live, session.pid
    await sessions.close(session, kill=True)
    if not was_live:
        return ProcessFate(goes_on=False, notes=("the program had ended before",))
    if not _is_on_this_machine(session) or pid is None:
        note = "its debugger was asked to kill the program; whether it did is not known here"
        return ProcessFate(goes_on=False, notes=(note,))
    if _find_living(pid) is not None:
        return ProcessFate(goes_on=True, notes=(f"process {pid} could not be killed",))
    return ProcessFate(goes_on=False, notes=(f"process {pid} was killed",))


def fit_hint(error: DebuggerError, session: Session, command: str) -> DebuggerError:
    """Replace a hint that does not help after a command's expression or the program's end.

    An attached program cannot be started again by us, and of several processes others may still
    run.
    """
    if error.code is ErrorCode.EVALUATION_FAILED:
        hint = statement.choose_hint(error.message, error.hint, command)
        return DebuggerError(error.code, error.message, hint=hint)
    if error.hint is None or _RESTART not in error.hint:
        return error
    relatives = session.family.tree_sessions(session)
    running = [one.name for one in relatives if one is not session and one.is_live]
    if running:
        hint = f"debugger use {running[0]}: it still runs"
    elif isinstance(session.target, AttachTarget):
        hint = _attach_again(session, session.target)
    else:
        return error
    return DebuggerError(error.code, error.message, hint=hint)


def _attach_again(session: Session, target: AttachTarget) -> str:
    if target.core is not None:
        return f"debugger attach --core {target.core}"
    if target.connect is not None:
        host, port = target.connect
        return f"debugger attach --connect {host}:{port}, if the server still listens"
    if session.pid is not None and _find_living(session.pid) is not None:
        return f"debugger attach {session.pid}"
    return "it was attached to, and has ended: debugger start PROGRAM starts one"


def _is_on_this_machine(session: Session) -> bool:
    return not (isinstance(session.target, AttachTarget) and session.target.connect is not None)


def _find_living(pid: int) -> ProcessInfo | None:
    found = look_at(pid)
    return None if found is None or found.state in _OVER else found
