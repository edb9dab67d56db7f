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
    """The page of a person: its key, when it took over (on the wall clock), and what."""

    key: str
    since: float
    session: str
    # The process alone, and not those below it.
    is_alone: bool = False

    @property
    def time_text(self) -> str:
        """The local time at which the person took over."""
        return datetime.fromtimestamp(self.since, UTC).astimezone().strftime("%H:%M:%S")


class SessionControl:
    """Who lets one process run: any client, or only one person's page.

    A process that is not held itself is held with the one `above` it, unless that is held alone. A
    page that disconnects has `grace_s` to come back; one that does nothing for `idle_s` hands back.
    Each change is an event of the timeline, by which others wait for it.
    """

    def __init__(
        self,
        timeline: Timeline,
        name: str,
        *,
        above: SessionControl | None = None,
        grace_s: float = GRACE_S,
        idle_s: float = IDLE_S,
    ) -> None:
        # Names the timeline to clients that continue reading it: a later session has another.
        self.timeline_id: str = above.timeline_id if above is not None else secrets.token_hex(4)
        self._timeline = timeline
        self._name = name
        self.above = above
        self._grace_s = grace_s
        self._idle_s = idle_s
        self._holder: ControlHolder | None = None
        self._acted = 0.0
        self._connections = 0
        self._release: asyncio.TimerHandle | None = None

    @property
    def own_holder(self) -> ControlHolder | None:
        """The page that has taken over this process itself."""
        return self._holder

    @property
    def holder(self) -> ControlHolder | None:
        """The page that has taken over, this process or those above it with all below."""
        holding = self._find_holding()
        return holding.own_holder if holding is not None else None

    def _find_holding(self) -> SessionControl | None:
        """Return the control with the holder that counts here: the nearest one that covers it."""
        at: SessionControl | None = self
        while at is not None:
            own = at.own_holder
            if own is not None and (at is self or not own.is_alone):
                return at
            at = at.above
        return None

    def take_over(self, key: str, *, is_alone: bool = False) -> None:
        """Take over, also from another page; with `is_alone` not the processes below."""
        self._acted = time.monotonic()
        known = self._holder
        if known is not None and (known.key, known.is_alone) == (key, is_alone):
            return
        self._cancel_release()
        self._connections = 1
        self._change(
            ControlHolder(key, time.time(), self._name, is_alone), "taken over by a person"
        )

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
        holding = self._find_holding()
        if holding is not None and holding is not self:
            holding.note_action(key)
            return
        if self._holder is None:
            raise DebuggerError(
                ErrorCode.DENIED, "the agent acts, and not this screen", hint="take over first"
            )
        if self._holder.key != key:
            raise DebuggerError(
                ErrorCode.DENIED, "another screen has taken over", hint="take over here first"
            )
        self._acted = time.monotonic()

    def end_idle(self) -> None:
        """Hand back for a person who has done nothing for long."""
        if self.above is not None:
            self.above.end_idle()
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
        if (holder := self.holder) is not None:
            raise _held_error(f"cannot {command}", holder)

    async def wait_handed_back(self, limit: WaitLimit) -> float:
        """Wait until nobody holds the session; return the seconds that are left.

        Raises:
            DebuggerError: DENIED when the time is up.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + limit.seconds
        while (holder := self.holder) is not None:
            remaining = deadline - loop.time()
            if remaining <= 0 or limit.interrupted.is_set():
                raise _held_error("still waiting", holder)
            event = await self._timeline.wait(
                self._timeline.cursor(),
                {EventKind.CONTROL},
                min(remaining, 1.0),
                interrupted=limit.interrupted,
            )
            if event is None:
                self.end_idle()
        return max(0.0, deadline - loop.time())

    def _change(self, holder: ControlHolder | None, text: str) -> None:
        self._holder = holder
        self._timeline.append(EventKind.CONTROL, text, session=self._name)

    def _cancel_release(self) -> None:
        if self._release is not None:
            self._release.cancel()
            self._release = None


def _held_error(what: str, holder: ControlHolder) -> DebuggerError:
    ago_s = max(0, round(time.time() - holder.since))
    return DebuggerError(
        ErrorCode.DENIED,
        f"{what}: a person took over {holder.session} at {holder.time_text}, {ago_s} s ago",
        hint="debugger await waits until it is handed back; reading commands work meanwhile",
    )
