"""Combines our breakpoints that an adapter keeps as one, and filters the stops there.

Most adapters keep one breakpoint for a line or a function: a second one at the same location
replaces the first, or is refused. So those at one location are sent as one that always stops; their
conditions, hit counts and log texts are evaluated here, at each stop.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from msgspec.structs import replace

from debugger.backends.base import Backend, ConditionError, LogpointPassed, Sink
from debugger.backends.dap.adapter_profile import AdapterProfile
from debugger.errors import DebuggerError
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint
from debugger.model.program import EvaluationPurpose, Frame, Stopped

# The numbers of breakpoints that share one of the adapter's begin here; its own are smaller.
_SHARED_FROM = 1 << 30
_FALSE = frozenset({"", "0", "0.0", "none", "false", "null", "nullptr", "<nil>", "nil"})
Fill = Callable[[str, Frame], Awaitable[str]]


class SharedSites:
    """The breakpoint sites of one program that several of our breakpoints share."""

    def __init__(self, backend: Backend, profile: AdapterProfile, sink: Sink) -> None:
        self._backend = backend
        self._profile = profile
        self._sink = sink
        self._members: dict[int, tuple[Breakpoint, ...]] = {}  # by the adapter's number
        self._counts: dict[int, int] = {}  # hits of those that have a hit count, by our number

    def __bool__(self) -> bool:
        return bool(self._members)

    def group_by_site(self, wanted: Sequence[Breakpoint]) -> list[tuple[Breakpoint, ...]]:
        """Group a list's breakpoints by the adapter's breakpoint that stands for them."""
        groups: dict[object, list[Breakpoint]] = {}
        for one in wanted:
            groups.setdefault(self._profile.site(one), []).append(one)
        return [tuple(members) for members in groups.values()]

    def is_shared(self, members: Sequence[Breakpoint]) -> bool:
        """Return whether the stops at a site are filtered here."""
        return len(members) > 1

    def breakpoint_to_send(self, members: Sequence[Breakpoint]) -> Breakpoint:
        """Return the breakpoint that is sent for those of a site."""
        first = members[0]
        if not self.is_shared(members):
            # Hits that were counted while the site was shared are not counted again by the adapter.
            remaining_hits = (first.spec.hit_count or 0) - self._counts.get(first.id, 0)
            count = remaining_hits if remaining_hits > 1 else None
            return replace(first, spec=replace(first.spec, hit_count=count))
        plain = replace(first.spec, condition=None, hit_count=None, log=None, thread=None)
        return replace(first, spec=plain)

    def breakpoint_for_steps(self, members: Sequence[Breakpoint]) -> Breakpoint:
        """Return a site's breakpoint for LLDB's step keeper: one that the program may pass.

        The condition "1" tells the step keeper to stop where the arguments are in place: the site's
        own conditions are evaluated at its stops.
        """
        sent = self.breakpoint_to_send(members)
        if not self.is_shared(members) or all(_always_stops(one) for one in members):
            return sent
        return replace(sent, spec=replace(sent.spec, condition="1"))

    def to_member_bounds(
        self, members: Sequence[Breakpoint], answer: BoundBreakpoint
    ) -> list[BoundBreakpoint]:
        """Note the answer for a site; return one answer for each of its members."""
        number = answer.backend_id
        if not self.is_shared(members):
            if number is not None:
                self._members.pop(number, None)
            return [answer]
        if number is None:
            return [answer] * len(members)
        self._members[number] = tuple(members)
        for one in members:
            if one.spec.hit_count:
                self._counts.setdefault(one.id, one.hits)
        return [replace(answer, backend_id=_SHARED_FROM + one.id) for one in members]

    def to_member_news(self, news: BoundBreakpoint) -> list[BoundBreakpoint]:
        """Convert a change of one of the adapter's breakpoints to changes of its members."""
        members = self._members.get(news.backend_id) if news.backend_id is not None else None
        if members is None:
            return [news]
        return [replace(news, backend_id=_SHARED_FROM + one.id) for one in members]

    async def filter_stop(self, stop: Stopped, fill: Fill) -> Stopped | None:
        """Return a stop with the breakpoints that it is for; None where it is for none.

        Texts of logpoints are written on the way.
        """
        shared = [number for number in stop.hits if number in self._members]
        if not shared or stop.thread is None:
            return stop
        frame = (await self._backend.read_stack(stop.thread, levels=1)).frames[0]
        hits = [number for number in stop.hits if number not in self._members]
        for number in shared:
            for one in self._members[number]:
                if not await self._is_hit(one, stop.thread, frame):
                    continue
                if one.spec.log is None:
                    hits.append(_SHARED_FROM + one.id)
                else:
                    self._sink(LogpointPassed(one.id, await fill(one.spec.log, frame), stop.thread))
        return replace(stop, hits=tuple(hits)) if hits else None

    async def _is_hit(self, one: Breakpoint, thread: int, frame: Frame) -> bool:
        spec = one.spec
        if spec.thread not in {None, thread}:
            return False
        if not await self._condition_holds(one, frame):
            return False
        if not spec.hit_count:
            return True
        count = self._counts[one.id] = self._counts.get(one.id, 0) + 1
        return count >= spec.hit_count

    async def _condition_holds(self, one: Breakpoint, frame: Frame) -> bool:
        condition = self._profile.condition(one)
        if condition is None:
            return True
        try:
            expression = self._profile.truth(condition)
            result = await self._backend.evaluate(expression, frame, EvaluationPurpose.PRINT)
        except DebuggerError as error:
            self._sink(ConditionError(one.id, f"{one.spec.condition}: {error.message}"))
            return False
        return is_true_text(result.value)


def is_true_text(value: str) -> bool:
    """Return whether a condition's value, as a debugger prints it, is true."""
    text = value.strip().lower()
    try:
        return int(text, 0) != 0
    except ValueError:
        return text not in _FALSE


def _always_stops(one: Breakpoint) -> bool:
    spec = one.spec
    return not (spec.condition or spec.hit_count or spec.log or spec.thread is not None)
