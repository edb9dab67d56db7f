"""Decides for each stop at a breakpoint with a filter of hits whether the stop is reported."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from debugger.model.breakpoints import Breakpoint, Breakpoints
from debugger.model.hit_selection import HitSelector, is_called_by


class RuledStop(Struct, frozen=True):
    """The breakpoints for which a stop is reported, and those that have no later hit."""

    reported: tuple[Breakpoint, ...]
    finished: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


class HitRules:
    """Applies the filters of a session's breakpoints to its stops and logged texts."""

    def __init__(self, breakpoints: Breakpoints) -> None:
        self._breakpoints = breakpoints
        self._selectors: dict[int, HitSelector[int]] = {}
        # Hits that were skipped since the last report, and in all, by breakpoint.
        self._skipped: dict[int, int] = {}
        self._skipped_in_all: dict[int, int] = {}
        # Those that had no later hit, and were disabled for it.
        self._finished: set[int] = set()

    def forget(self) -> None:
        """Start over: the program starts anew, and what had no later hit is enabled again."""
        for number in self._finished:
            known = self._breakpoints.find(number)
            if known is not None and not known.internal:
                self._breakpoints.enable(number, on=True)
        self._finished.clear()
        self._selectors.clear()
        self._skipped.clear()
        self._skipped_in_all.clear()

    def reset(self, number: int) -> None:
        """Start over with one breakpoint, which the user has enabled or disabled."""
        self._selectors.pop(number, None)
        self._finished.discard(number)

    def applies_to(self, known: Sequence[Breakpoint]) -> bool:
        """Return whether a stop at these breakpoints needs a decision."""
        return any(one.spec.rule is not None or one.event_of is not None for one in known)

    def needs_callers(self, known: Sequence[Breakpoint]) -> bool:
        """Return whether the decision needs the names of the functions on the stack."""
        return any(
            one.spec.rule is not None and one.spec.rule.hits.inside is not None for one in known
        )

    def filter_stop(
        self, known: Sequence[Breakpoint], functions: Sequence[str | None] = ()
    ) -> RuledStop:
        """Return the breakpoints for which the stop is reported; `functions` are on the stack."""
        reported, finished, notes = [], [], []
        for one in known:
            rule = one.spec.rule
            if one.event_of is not None:
                continue
            if rule is None:
                reported.append(one)
                continue
            below = rule.hits.inside
            if below is not None and not is_called_by(functions, below):
                self._skip(one.id)
                continue
            selector = self._selector(one)
            if selector.add_hit(one.id):
                reported.append(one)
                notes += self._skipped_note(one)
            else:
                self._skip(one.id)
            if selector.is_over:
                finished.append(one.id)
        for one in known:
            # After the others: a breakpoint at the event's own line was hit before it.
            if one.event_of is not None:
                finished += self._take_event(one.event_of)
        self._finished.update(finished)
        return RuledStop(tuple(reported), tuple(finished), tuple(notes))

    def takes_log(self, number: int, text: str) -> RuledStop:
        """Return the logpoint if its text is to be written."""
        known = self._breakpoints.find(number)
        if known is None or known.spec.rule is None:
            return RuledStop((known,) if known is not None else ())
        selector = self._selector(known)
        is_taken = selector.add_hit(number, text)
        if not is_taken:
            self._skip(number)
        finished = (number,) if selector.is_over else ()
        self._finished.update(finished)
        return RuledStop((known,) if is_taken else (), finished)

    def count_skipped(self, number: int) -> int:
        """Return how many hits of a breakpoint its filter has skipped."""
        return self._skipped_in_all.get(number, 0)

    def never_reported(self) -> list[str]:
        """Return a note for each breakpoint all of whose hits so far were skipped."""
        notes = []
        for one in self._breakpoints.user_breakpoints():
            count = self._skipped.get(one.id, 0)
            if one.spec.rule is not None and count and not one.hits:
                notes.append(
                    f"breakpoint {one.id} ({one.spec.rule.text}): {count:,} hits, none reported"
                )
        return notes

    def _selector(self, one: Breakpoint) -> HitSelector[int]:
        assert one.spec.rule is not None  # checked by the callers
        return self._selectors.setdefault(one.id, HitSelector(one.spec.rule.hits))

    def _take_event(self, event_of: tuple[int, str]) -> list[int]:
        owner, kind = event_of
        known = self._breakpoints.find(owner)
        if known is None or known.spec.rule is None:
            return []
        selector = self._selector(known)
        if kind == "after":
            selector.begin()
        else:
            selector.end()
        return [owner] if selector.is_over else []

    def _skip(self, number: int) -> None:
        self._skipped[number] = self._skipped.get(number, 0) + 1
        self._skipped_in_all[number] = self._skipped_in_all.get(number, 0) + 1

    def _skipped_note(self, one: Breakpoint) -> list[str]:
        count = self._skipped.pop(one.id, 0)
        if not count or one.spec.rule is None:
            return []
        hits = "1 hit" if count == 1 else f"{count:,} hits"
        of = "" if one.internal else f" of breakpoint {one.id}"
        return [f"{hits}{of} skipped before ({one.spec.rule.text})"]
