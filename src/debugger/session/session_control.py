"""Records that a person has taken over a session: agents' commands then leave its program alone."""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.events import EventKind

if TYPE_CHECKING:
    from debugger.session.stepping import WaitLimit
    from debugger.session.timeline import Timeline

GRACE_S = 15.0  # seconds in which a page that was reloaded, or lost its connection, comes back
IDLE_S = 30 * 60.0  # seconds without an action of the person, after which it is handed back


@dataclass(frozen=True)
class ControlHolder:
    """The page of a person: its key, and when it took over, on the wall clock."""

    key: str
    since: float

    @property
    def time_text(self) -> str:
        """The local time at which the person took over."""
        return datetime.fromtimestamp(self.since, UTC).astimezone().strftime("%H:%M:%S")


class SessionControl:
    """Who lets the program of one process tree run: any client, or only one person's page.

    A page that disconnects has `grace_s` to come back; one that does nothing for `idle_s` hands
    back. Each change is an event of the timeline, by which others wait for it.
    """

    def __init__(
        self, timeline: Timeline, name: str, *, grace_s: float = GRACE_S, idle_s: float = IDLE_S
    ) -> None:
        # Names the timeline to clients that continue reading it: a later session has another.
        self.timeline_id = secrets.token_hex(4)
        self._timeline = timeline
        self._name = name
        self._grace_s = grace_s
        self._idle_s = idle_s
        self._holder: ControlHolder | None = None
        self._acted = 0.0
        self._connections = 0
        self._release: asyncio.TimerHandle | None = None

    @property
    def holder(self) -> ControlHolder | None:
        """The page that has taken over."""
        return self._holder

    def take_over(self, key: str) -> None:
        """Take over, also from another page."""
        self._acted = time.monotonic()
        if self._holder is not None and self._holder.key == key:
            return
        self._cancel_release()
        self._connections = 1
        self._change(ControlHolder(key, time.time()), "taken over by a person")

    def hand_back(self, key: str) -> None:
        """Hand back, if this page has taken over."""
        if self._holder is not None and self._holder.key == key:
            self._cancel_release()
            self._change(None, "handed back")

    def connect_page(self, key: str) -> None:
        """Record that a page has connected: the holder may have come back."""
        if self._holder is not None and self._holder.key == key:
            self._connections += 1
            self._cancel_release()

    def disconnect_page(self, key: str) -> None:
        """Record that a page has gone; the holder has some seconds to come back."""
        if self._holder is None or self._holder.key != key:
            return
        self._connections -= 1
        if self._connections <= 0:
            loop = asyncio.get_running_loop()
            self._cancel_release()
            self._release = loop.call_later(self._grace_s, self.hand_back, key)

    def note_action(self, key: str) -> None:
        """Check that this page has taken over, and record that its person acts.

        Raises:
            DebuggerError: DENIED.
        """
        if self._holder is None:
            raise DebuggerError(
                ErrorCode.DENIED, "the agent acts, not this page", hint="take over first"
            )
        if self._holder.key != key:
            raise DebuggerError(
                ErrorCode.DENIED, "another page has taken over", hint="take over here first"
            )
        self._acted = time.monotonic()

    def end_idle(self) -> None:
        """Hand back for a person who has done nothing for long."""
        if self._holder is not None and time.monotonic() - self._acted > self._idle_s:
            self._cancel_release()
            minutes = round(self._idle_s / 60)
            self._change(None, f"handed back: the person did nothing for {minutes} minutes")

    def end(self) -> None:
        """Forget the holder: the session has ended."""
        self._cancel_release()
        self._holder = None

    def check_agent(self, command: str) -> None:
        """Check that no person has taken over.

        Raises:
            DebuggerError: DENIED, with the way to wait for the hand-back.
        """
        self.end_idle()
        if self._holder is not None:
            raise self._held_error(f"cannot {command}")

    async def wait_handed_back(self, limit: WaitLimit) -> float:
        """Wait until nobody holds the session; return the seconds that are left.

        Raises:
            DebuggerError: DENIED when the time is up.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + limit.seconds
        while self._holder is not None:
            remaining = deadline - loop.time()
            if remaining <= 0 or limit.interrupted.is_set():
                raise self._held_error("still waiting")
            event = await self._timeline.wait(
                self._timeline.cursor(),
                {EventKind.CONTROL},
                min(remaining, 1.0),
                interrupted=limit.interrupted,
            )
            if event is None:
                self.end_idle()
        return max(0.0, deadline - loop.time())

    def _held_error(self, what: str) -> DebuggerError:
        assert self._holder is not None
        ago_s = max(0, round(time.time() - self._holder.since))
        return DebuggerError(
            ErrorCode.DENIED,
            f"{what}: a person took over {self._name} at {self._holder.time_text}, {ago_s} s ago",
            hint="debugger await waits until it is handed back; reading commands work meanwhile",
        )

    def _change(self, holder: ControlHolder | None, text: str) -> None:
        self._holder = holder
        self._timeline.append(EventKind.CONTROL, text, session=self._name)

    def _cancel_release(self) -> None:
        if self._release is not None:
            self._release.cancel()
            self._release = None
