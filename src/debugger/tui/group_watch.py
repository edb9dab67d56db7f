"""Looks at the members of a group when something has changed, a few times a second at most."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from debugger.errors import DebuggerError
from debugger.tui.group_members import GroupMember
from debugger.tui.session_watch import RunCommand

_AGAIN_S: Final = 0.5  # seconds between two looks

# Shows the members as they are now.
ShowMembers = Callable[[Sequence[GroupMember]], Awaitable[None]]


@dataclass(frozen=True)
class GroupFound:
    """The group that a session belongs to, and the states of its members by session."""

    name: str
    states: dict[str, str] = field(default_factory=dict)


def find_group(overview: Mapping[str, Any], session: str | None) -> GroupFound | None:
    """Find the group of a session in what the daemon said of all; None for a single program."""
    for one in overview["groups"]:
        if session in one["sessions"]:
            states = {
                each["session"]: each["state"]
                for each in overview["sessions"]
                if each["session"] in one["sessions"]
            }
            return GroupFound(one["group"], states)
    return None


def list_choices(overview: Mapping[str, Any]) -> list[str]:
    """List the sessions that can be chosen: of a group the first, which leads to all."""
    members = {name for one in overview["groups"] for name in one["sessions"]}
    firsts = {one["sessions"][0] for one in overview["groups"] if one["sessions"]}
    names = [str(one["session"]) for one in overview["sessions"]]
    return [one for one in names if one not in members or one in firsts]


class GroupWatch:
    """The members of the group that is followed, as they were last seen."""

    def __init__(self, run_command: RunCommand, show: ShowMembers) -> None:
        self._run_command = run_command
        self._show = show
        self._is_stale = False
        self._is_loading = False
        self.group: str | None = None
        self.members: list[GroupMember] = []

    def follow(self, group: str | None) -> bool:
        """Follow a group, or none; tell whether that is another one than before."""
        is_other = group != self.group
        if is_other:
            self.group, self.members = group, []
        return is_other

    async def look(self) -> None:
        """Look at the members; while that is being done, once more is enough for all changes."""
        self._is_stale = True
        if self._is_loading:
            return
        self._is_loading = True
        try:
            while self._is_stale and self.group is not None:
                self._is_stale = False
                group = self.group
                found = await self._run_command("status", {"group": group})
                if group == self.group:
                    self.members = [GroupMember.from_answer(one) for one in found["members"]]
                    await self._show(self.members)
                await asyncio.sleep(_AGAIN_S)
        except DebuggerError:
            pass  # it has ended, or the connection: both are shown above all
        finally:
            self._is_loading = False
