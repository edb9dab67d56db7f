"""Holds what the screen knows of its session, and says in words what it is and who acts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from debugger.output.location_text import escape_text

_TEXT_MAX = 60  # characters of an exception
_NAME_MAX = 20  # of a member


@dataclass
class ScreenState:
    """The session that is followed: what the daemon said last of it, and where it is stopped.

    A session may be several processes: a program's own and its children's, or a group's members.
    """

    session: str | None = None
    # The body of the last `session` event; None until it has come, or after the end.
    about: Mapping[str, Any] | None = None
    # The process that is shown, by its session's name: of a group the chosen member.
    member: str | None = None
    # The body of the last `stopped` event of each process that is stopped.
    stops: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    group: str | None = None  # its name, where the session is a group's
    states: dict[str, str] = field(default_factory=dict)  # of the group's members
    labels: dict[str, str] = field(default_factory=dict)  # of the group's members
    is_over: bool = False
    is_busy: bool = False  # a step was requested, and its stop has not come
    thread: int | None = None  # that was chosen
    problem: str = ""  # why no session is followed

    @property
    def stopped(self) -> Mapping[str, Any] | None:
        """The stop of the process that is shown; None while it runs."""
        return self.stops.get(self.member or "")

    @property
    def holder(self) -> Mapping[str, Any] | None:
        """Who has taken over what is shown, the process alone or all; None for nobody."""
        about = self.about or {}
        found: Mapping[str, Any] | None = self.own_holder or about.get("holder")
        return found

    @property
    def own_holder(self) -> Mapping[str, Any] | None:
        """Who has taken over the shown process alone."""
        holders: Mapping[str, Mapping[str, Any]] = (self.about or {}).get("held") or {}
        return holders.get(self.member or "")

    @property
    def acts(self) -> bool:
        """Whether the person at this screen has taken over what is shown."""
        return _is_own(self.holder)

    @property
    def acts_on_all(self) -> bool:
        """Whether the person at this screen has taken over all processes."""
        return _is_own((self.about or {}).get("holder"))

    @property
    def acts_somewhere(self) -> bool:
        """Whether the person at this screen has taken over any process."""
        holders = (self.about or {}).get("held") or {}
        return self.acts_on_all or any(_is_own(one) for one in holders.values())

    @property
    def is_live(self) -> bool:
        """Whether there is a program that runs or is stopped."""
        return self.about is not None and not self.is_over

    @property
    def program_state(self) -> str:
        """The state of the shown process, as the daemon names it."""
        known = self.states.get(self.member or "") if self.group else None
        return known or str((self.about or {}).get("state") or "")

    @property
    def is_running(self) -> bool:
        """Whether the shown process runs."""
        return self.is_live and self.stopped is None and self.program_state == "running"

    def begin(self, session: str) -> None:
        """Begin with a session of which nothing is known yet."""
        self.session, self.about, self.member = session, None, None
        self.stops = {}
        self.is_over = self.is_busy = False
        self.thread, self.problem = None, ""

    def note_running(self, session: str | None = None) -> bool:
        """Record that a process runs; tell whether it is the one that is shown."""
        session = session or self.session or ""
        self.stops.pop(session, None)
        return session == (self.member or session)

    def note_stop(self, stop: Mapping[str, Any]) -> bool:
        """Record a stop; tell whether it is shown now.

        Of a group the member in focus stays in view while it is stopped. At first it is the one
        that this screen has taken over, before it was connected again.
        """
        session = str(stop.get("session") or self.session or "")
        self.stops[session] = stop
        holders: Mapping[str, Any] = (self.about or {}).get("held") or {}
        is_held = _is_own(holders.get(session)) and not self.acts
        if self.group and session != self.member and self.member in self.stops and not is_held:
            return False
        self.show_member(session)
        return True

    def show_member(self, session: str) -> None:
        """Show a process."""
        self.member, self.is_busy, self.thread = session, False, None

    def note_states(self, states: dict[str, str]) -> bool:
        """Record the states of a group's members; tell whether the shown one has just ended."""
        self.states = states
        ended = [one for one in self.stops if states.get(one) == "terminated"]
        for one in ended:
            del self.stops[one]
        return self.member in ended

    def note_end(self) -> None:
        """Record that the program has ended."""
        self.stops, self.is_over, self.is_busy = {}, True, False

    def held_sessions(self) -> dict[str, bool]:
        """Return the processes that persons have taken over alone: whether it is this screen."""
        holders = (self.about or {}).get("held") or {}
        return {name: _is_own(one) for name, one in holders.items()}

    def forget_stop(self, stop: Mapping[str, Any]) -> None:
        """Record that the process of a stop goes on, if no later stop has come already."""
        self.stops = {name: one for name, one in self.stops.items() if one is not stop}

    def own_stops(self) -> list[Mapping[str, Any]]:
        """Return the stops of the members that this screen acts on."""
        return [self.stops[one] for one in self._own_members() if one in self.stops]

    def own_running(self) -> list[str]:
        """Return the members that this screen acts on, and that are not stopped."""
        # Their states may be older than the last stops.
        return [
            one
            for one in self._own_members()
            if one not in self.stops and self.states[one] != "terminated"
        ]

    def _own_members(self) -> list[str]:
        holders = self.held_sessions()
        return [one for one in self.states if holders.get(one, self.acts_on_all)]

    def label_of(self, session: str | None) -> str:
        """Return a member's label, or the session's name."""
        return escape_text(self.labels.get(session or "", session or ""))[:_NAME_MAX]

    def name_member(self, session: str) -> str:
        """Return the label of a group's member; "" of any other process."""
        return self.labels.get(session, "") if self.group else ""

    def describe_program(self) -> str:
        """Say what the program does."""
        if self.session is None:
            return self.problem or "no session yet: debugger start PROGRAM"
        about = self.about or {}
        if self.is_over:
            code = about.get("exit")
            end = f": status {code}" if isinstance(code, int) else f": {code}" if code else ""
            return f"ended{end}"
        text = self.program_state or self.problem or "connecting"
        if self.stopped is not None:
            is_exception = self.stopped.get("reason") == "exception"
            why = self.stopped.get("text") if is_exception else None
            text = f"stopped: {escape_text(str(why or self.stopped.get('reason')))[:_TEXT_MAX]}"
        text = "ended" if text == "terminated" else text
        return f"{self.label_of(self.member)} {text}" if self.group and self.member else text

    def describe_actor(self) -> str:
        """Say who acts."""
        if not self.is_live:
            return ""
        holder = self.holder
        if holder is None:
            return "the agent acts"
        scope = f" on {self.label_of(self.member)}" if self.own_holder else " on all"
        who = "you act" if self.acts else "another screen acts"
        return f"{who}{scope if self.group else ''}, since {holder['since']}"

    def why_not(self, action: str) -> str | None:
        """Return why an action is not possible now; None if it is."""
        if not self.is_live and action != "restart":
            return "no program runs"
        if action == "restart" and self.group and self.acts and not self.acts_on_all:
            return "a restart is of all members: take over all first (Shift+F2)"
        if not self.acts:
            return "the agent acts: take over first (F2)"
        if action in {"restart", "edit"}:
            return None
        return self._why_not_run(action)

    def _why_not_run(self, action: str) -> str | None:
        if action == "pause":
            return None if self.is_running else "the program is stopped already"
        if self.is_busy:
            return ""
        return None if self.stopped is not None else "the program runs: F6 pauses it"


def _is_own(holder: Mapping[str, Any] | None) -> bool:
    return bool(holder and holder["isThisPage"])
