"""How the sessions of a program and of its child processes belong together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from debugger.core.state import State
from debugger.errors import Code, DebuggerError

if TYPE_CHECKING:
    from debugger.backends.base import ChildAppeared
    from debugger.session.session import Session


class Family(Protocol):
    """What a session asks of the list that it is in."""

    def adopt(self, parent: Session, child: ChildAppeared) -> None:
        """Make a session of a child process."""

    def live_children(self, parent: Session) -> list[Session]:
        """Return the sessions of child processes that still live."""

    def changed(self) -> None:
        """Note that a session's name, program, pid or life has changed."""

    def relatives(self, session: Session) -> list[Session]:
        """Return the sessions of one family: a program's and its child processes'."""

    def use(self, session: Session) -> None:
        """Make a session the current one."""


@dataclass
class Cursors:
    """Up to where a family's timeline was told: in reports, to `output`, and as notes."""

    reported: int = 0
    asked: int = 0
    noted: int = 0


def ended_elsewhere(name: str) -> DebuggerError:
    """Return what is said to whoever was using a session that another command ended."""
    return DebuggerError(
        Code.NO_SESSION,
        f"the session {name} was ended by another command",
        hint="debugger sessions",
    )


def root(session: Session) -> Session:
    """Return the session of the program that all of this family come from."""
    while session.parent is not None:
        session = session.parent
    return session


def ends_quietly(session: Session, *, awaits_root: bool = False) -> bool:
    """Tell whether its end is no answer to a wait: a child's, while others of its family run.

    With `awaits_root` the program itself ran when the wait began: its end, which may be told after
    its last child's, is the answer.
    """
    if session.parent is None:
        return False
    return awaits_root or any(one.is_live for one in _others(session))


def member(session: Session, name: str) -> Session | None:
    """Return the session of this family with a name."""
    return next((one for one in session.family.relatives(session) if one.name == name), None)


def unreported(session: Session) -> Session | None:
    """Return a session of this family whose stop or end nobody was told of, itself first."""
    known = {State.STOPPED, State.TERMINATED}
    for one in [session, *_others(session)]:
        if not one.is_reported and one.state in known and not ends_quietly(one):
            return one
    return None


def stopped_too(session: Session) -> Session | None:
    """Return another process of this family whose stop nobody was told of."""
    for one in _others(session):
        if one.state is State.STOPPED and not one.is_reported:
            return one
    return None


def notes(session: Session) -> list[str]:
    """Say which other processes of this family are stopped."""
    return [
        f"{one.name} is stopped too: debugger use {one.name}"
        for one in _others(session)
        if one.state is State.STOPPED
    ]


def _others(session: Session) -> list[Session]:
    return [one for one in session.family.relatives(session) if one is not session]
