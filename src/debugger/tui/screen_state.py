"""Holds what the screen knows of its session, and says in words what it is and who acts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from debugger.output.location_text import escape_text

_TEXT_MAX = 60  # characters of an exception


@dataclass
class ScreenState:
    """The session that is followed: what the daemon said last of it, and where it is stopped."""

    session: str | None = None
    # The body of the last `session` event; None until it has come, or after the end.
    about: Mapping[str, Any] | None = None
    stopped: Mapping[str, Any] | None = None  # the body of the `stopped` event
    is_over: bool = False
    is_busy: bool = False  # a step was requested, and its stop has not come
    thread: int | None = None  # that was chosen
    problem: str = ""  # why no session is followed

    @property
    def acts(self) -> bool:
        """Whether the person at this screen has taken over."""
        holder = (self.about or {}).get("holder")
        return bool(holder and holder["isThisPage"])

    @property
    def is_live(self) -> bool:
        """Whether there is a program that runs or is stopped."""
        return self.about is not None and not self.is_over

    @property
    def is_running(self) -> bool:
        """Whether the program runs."""
        return self.is_live and self.stopped is None and (self.about or {})["state"] == "running"

    def begin(self, session: str) -> None:
        """Begin with a session of which nothing is known yet."""
        self.session, self.about, self.stopped = session, None, None
        self.is_over = self.is_busy = False
        self.problem = ""

    def note_running(self) -> None:
        """Record that the program runs."""
        self.stopped = None

    def note_stop(self, stop: Mapping[str, Any]) -> None:
        """Record a stop."""
        self.stopped, self.is_busy = stop, False

    def note_end(self) -> None:
        """Record that the program has ended."""
        self.stopped, self.is_over, self.is_busy = None, True, False

    def describe_program(self) -> str:
        """Say what the program does."""
        if self.session is None:
            return self.problem or "no session yet: debugger start PROGRAM"
        about = self.about or {}
        if self.is_over:
            code = about.get("exit")
            end = f": status {code}" if isinstance(code, int) else f": {code}" if code else ""
            return f"ended{end}"
        if self.stopped is not None:
            is_exception = self.stopped.get("reason") == "exception"
            text = self.stopped.get("text") if is_exception else None
            return f"stopped: {escape_text(str(text or self.stopped.get('reason')))[:_TEXT_MAX]}"
        return str(about.get("state") or self.problem or "connecting")

    def describe_actor(self) -> str:
        """Say who acts."""
        holder = (self.about or {}).get("holder")
        if not self.is_live:
            return ""
        if self.acts:
            return f"you act, since {holder['since']}" if holder else ""
        return f"another screen acts, since {holder['since']}" if holder else "the agent acts"

    def why_not(self, action: str) -> str | None:
        """Return why an action is not possible now; None if it is."""
        if not self.is_live and action != "restart":
            return "no program runs"
        if not self.acts:
            return "the agent acts: take over first (F2)"
        if action == "pause":
            return None if self.is_running else "the program is stopped already"
        if action == "restart":
            return None
        if self.is_busy:
            return ""
        return None if self.stopped is not None else "the program runs: F6 pauses it"
