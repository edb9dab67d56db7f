"""Brings the parts of a job to one moment: where all members are when the first one fails.

Each host runs `crash --group` of its own part. One whose member has failed holds it there; the
others are interrupted, report where their members are, and only then is the failure let go on.
"""

from __future__ import annotations

import asyncio

from debugger.questions.group.answer import PART_FAILED, PART_READ


class FirstFailure:
    """What the parts of a job have reported of a failure, and the events that end their waits."""

    def __init__(self) -> None:
        self._waits: dict[str, asyncio.Event] = {}
        self._failed: set[str] = set()
        # The parts whose members' places are not known yet.
        self._unread: set[str] = set()

    @property
    def is_known(self) -> bool:
        """Whether a member of any part has failed."""
        return bool(self._failed)

    def add_part(self, label: str) -> asyncio.Event:
        """Add the part of a host; return the event that is to interrupt its question."""
        wait = self._waits[label] = asyncio.Event()
        self._unread.add(label)
        self._update()
        return wait

    def wait_of(self, label: str) -> asyncio.Event:
        """Return the event that is to interrupt a part's question."""
        return self._waits[label]

    async def take_reports(self, label: str, text: str) -> None:
        """Take what a part's question has streamed: one or several reports, each a line."""
        for line in text.splitlines():
            if line == PART_FAILED:
                self._failed.add(label)
            elif line == PART_READ:
                self._unread.discard(label)
        self._update()

    def end_part(self, label: str) -> None:
        """Go on without a part, which has answered or cannot any more."""
        self._unread.discard(label)
        self._update()

    def _update(self) -> None:
        for label, wait in self._waits.items():
            if self._failed and (label not in self._failed or not self._unread):
                wait.set()
