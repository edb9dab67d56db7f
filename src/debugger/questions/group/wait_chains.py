"""Follows waits from thread to thread, within and between the members of a group. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from debugger.questions.group.member_wait import (
    CHILD,
    COMPUTES,
    WAITS,
    Blocker,
    MemberWait,
    is_meeting,
)

Key = tuple[str, str]


class WaitChains:
    """The threads of all members, and which of them wait for which."""

    def __init__(self, waits: Sequence[MemberWait]) -> None:
        self._by_member: dict[str, list[MemberWait]] = {}
        for one in waits:
            self._by_member.setdefault(one.label, []).append(one)
        self._by_key = {one.key: one for one in reversed(waits)}
        self._by_native = {(one.label, one.native): one for one in waits if one.native}
        self._chosen = {label: self._choose(own) for label, own in self._by_member.items()}

    @property
    def members(self) -> list[MemberWait]:
        """What each member does: of its threads, the one that tells why it does not go on."""
        return list(self._chosen.values())

    def other_threads(self, labels: Iterable[str]) -> list[MemberWait]:
        """Return the other threads of members that are in the program's own code."""
        return [
            one
            for label in labels
            for one in self._by_member[label]
            if one is not self._chosen[label] and one.place is not None
        ]

    def find_root(self, first: MemberWait) -> MemberWait:
        """Return the thread at the end of a chain of waits, each for one thread or member."""
        path, at = [first], first
        while (blocker := self._find_only_blocker(at, path)) is not None:
            after = self._resolve(blocker)
            if after is None or after in path or (blocker.thread and blocker.is_possible):
                break
            # Which thread of a member has the lock is not known: not one that waits at a meeting,
            # if there is another.
            if is_meeting(after) and not (blocker.thread or blocker.native):
                after = next(iter(self.other_threads([after.label])), after)
            path.append(after)
            at = after
        return at

    def _find_only_blocker(self, wait: MemberWait, path: Sequence[MemberWait]) -> Blocker | None:
        """Return who alone could end a wait; None for nobody, or for several.

        Of several that have the other end of a pipe, those are left out that wait for the waiter.
        """
        others = [one for one in wait.blockers if one.thread or one.label != wait.label]
        if len(others) > 1:
            others = [one for one in others if not self._leads_back(one, path)]
        return others[0] if len(others) == 1 else None

    def _leads_back(self, blocker: Blocker, path: Sequence[MemberWait]) -> bool:
        labels, seen = {one.label for one in path}, []
        at = self._resolve(blocker)
        while at is not None and at not in seen:
            if at.label in labels:
                return True
            seen.append(at)
            at = self._resolve(at.blockers[0]) if len(at.blockers) == 1 else None
        return False

    def find_cycle(self) -> list[MemberWait]:
        """Return threads of which each waits for the next one, and the last for the first.

        Only of threads whose wait nothing can end: each that could waits for others of them.
        """
        dead = self._find_dead()
        for first in self._by_key.values():
            if first.key not in dead:
                continue
            path, at = [first], first
            while (after := self._next_dead(at)) is not None:
                if after in path:
                    return _begin_with_own(path[path.index(after) :])
                path.append(after)
                at = after
        return []

    def _next_dead(self, wait: MemberWait) -> MemberWait | None:
        # All that a dead thread waits for are dead. A lock's holder tells more than one of those
        # that have the other end of a pipe; of these a line of the program's own, and the program
        # that only joins them the least.
        def order(blocker: Blocker) -> tuple[bool, bool, bool]:
            other = self._resolve(blocker)
            has_line = other is not None and other.place is not None
            return blocker.is_possible, not has_line, other is not None and other.kind == CHILD

        return self._resolve(min(wait.blockers, key=order)) if wait.blockers else None

    def _resolve(self, blocker: Blocker) -> MemberWait | None:
        if blocker.thread:
            return self._by_key.get((blocker.label, blocker.thread))
        own = self._by_native.get((blocker.label, blocker.native)) if blocker.native else None
        return own or self._chosen.get(blocker.label)

    def _find_dead(self) -> set[Key]:
        """Return the threads that wait for good: the largest set that waits for itself alone."""
        dead = {one.key for one in self._by_key.values() if one.blockers}
        while True:
            alive = {key for key in dead if self._can_end(self._by_key[key], dead)}
            if not alive:
                return dead
            dead -= alive

    def _can_end(self, wait: MemberWait, dead: set[Key]) -> bool:
        own = self._by_member[wait.label] if wait.has_both_ends else []
        if any(one.key not in dead for one in own):
            return True
        return any(self._is_alive(one, dead) for one in wait.blockers)

    def _is_alive(self, blocker: Blocker, dead: set[Key]) -> bool:
        if blocker.is_possible and not blocker.thread:
            own = self._by_member.get(blocker.label, [])
            return not own or any(one.key not in dead for one in own)
        found = self._resolve(blocker)
        return found is None or found.key not in dead

    def _choose(self, threads: Sequence[MemberWait]) -> MemberWait:
        """Choose the thread that tells why a member does not go on.

        The main thread, or what it waits for; where that tells nothing, one that others wait for.
        """
        main, by_thread = threads[0], {one.thread: one for one in threads}
        path = [main]
        while True:
            inner = [
                by_thread[one.thread]
                for one in path[-1].blockers
                if one.label == main.label and one.thread in by_thread
            ]
            if len(inner) != 1 or inner[0] in path:
                break
            path.append(inner[0])
        last = path[-1]
        if last.kind not in {WAITS, CHILD} or is_meeting(last) or last.blockers:
            return last
        meets = [one for one in threads if one.kind == WAITS and is_meeting(one)]
        waits = [one for one in threads if any(each.label != main.label for each in one.blockers)]
        # A thread in the program's own code, beside a main one in a loop of a library, before
        # those of the library, which may wait for work.
        works = [one for one in threads if one.kind in {COMPUTES, WAITS} and one.place is not None]
        own = [one for one in waits if one.place is not None]
        works = works if last.place is None else []
        return next(iter((*meets, *own, *works, *waits)), last)


def _begin_with_own(cycle: Sequence[MemberWait]) -> list[MemberWait]:
    """Begin a cycle with a line of the program's own code, of these with the first label."""
    at = min(range(len(cycle)), key=lambda each: (cycle[each].place is None, cycle[each].key))
    return [*cycle[at:], *cycle[:at]]
