"""Decides at stops what an adapter does not: which of our breakpoints is due at a site.

Breakpoints of ours that an adapter keeps as one are combined for it, and their stops told apart.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from debugger.backends.base import Backend, ConditionError, LogpointPassed, Sink
from debugger.backends.dap import messages as dap
from debugger.backends.dap.debug_adapter import DebugAdapter
from debugger.errors import DebuggerError
from debugger.model.breakpoints import (
    BoundBreakpoint,
    Breakpoint,
    BreakpointSpec,
    is_true_text,
)
from debugger.model.program import EvaluationPurpose, Frame, Stopped, StopReason

# The numbers of breakpoints that share one of the adapter's begin here; its own are smaller.
_SHARED_FROM = 1 << 30
Fill = Callable[[str, Frame], Awaitable[str]]
# Ours, for those that the adapter gives no number.
_OWN_FROM = 1 << 29
HITTING = frozenset({StopReason.BREAKPOINT, StopReason.FUNCTION_BREAKPOINT})


class _Location(Struct, frozen=True):
    """Where one of the adapter's breakpoints is."""

    number: int
    file: str | None
    line: int | None
    function: str | None

    def is_line_of(self, frame: Frame) -> bool:
        """Return whether a frame is at its line."""
        if self.file is None or frame.file is None or self.line != frame.line:
            return False
        return os.path.realpath(self.file) == os.path.realpath(frame.file)

    def is_function_of(self, frame: Frame) -> bool:
        """Return whether a frame is of its function, whose name may be the last part of another."""
        if self.function is None or not frame.function:
            return False
        name = frame.function.partition("(")[0]
        ends = (f".{self.function}", f"::{self.function}", f"#{self.function}")
        return name == self.function or name.endswith(ends)


class BreakpointSites:
    """The breakpoint sites of one program, and those whose stops are filtered here.

    A site is filtered where several of our breakpoints share it, and where an adapter that we have
    not tried does not claim an option: it would leave the option out without a word, and stop at
    every hit (bash-dap 0.3, netcoredbg 3.1). Such an adapter need not name the breakpoints of a
    stop either: they are found by the location. A function breakpoint with a file is filtered too:
    the protocol's has a name only.
    """

    def __init__(
        self,
        backend: Backend,
        adapter: DebugAdapter,
        sink: Sink,
        claims: Callable[[], dap.AdapterCapabilities],
    ) -> None:
        self._backend = backend
        self._adapter = adapter
        self._sink = sink
        self._claims = claims
        self._locations: dict[str, list[_Location]] = {}  # by the list: a file, "" for functions
        self._members: dict[int, tuple[Breakpoint, ...]] = {}  # by the adapter's number
        self._counts: dict[int, int] = {}  # hits of those that have a hit count, by our number

    def __bool__(self) -> bool:
        return bool(self._members)

    def group_by_site(self, breakpoints: Sequence[Breakpoint]) -> list[tuple[Breakpoint, ...]]:
        """Group a list's breakpoints by the adapter's breakpoint that stands for them."""
        groups: dict[object, list[Breakpoint]] = {}
        for one in breakpoints:
            # An adapter keeps one breakpoint of those for which this key is equal: a second one
            # would replace the first, or be refused.
            groups.setdefault(self._adapter.site_key(one), []).append(one)
        return [tuple(members) for members in groups.values()]

    def is_filtered(self, members: Sequence[Breakpoint]) -> bool:
        """Return whether the stops at a site are filtered here."""
        first = members[0]
        return len(members) > 1 or _names_file(first) or self._has_unclaimed_option(first.spec)

    def _has_unclaimed_option(self, spec: BreakpointSpec) -> bool:
        if not self._adapter.claims_breakpoint_options:
            return False
        claimed = self._claims()
        return bool(
            (spec.condition and not claimed.supports_conditional_breakpoints)
            # "How many hits are ignored" (DAP: SourceBreakpoint.hitCondition), which some adapters
            # follow (elixir-ls 0.17), where others stop at the hit of this number.
            or spec.hit_count
            or (spec.log and not claimed.supports_log_points)
        )

    def breakpoint_to_send(self, members: Sequence[Breakpoint]) -> Breakpoint:
        """Return the breakpoint that is sent for those of a site."""
        first = members[0]
        if not self.is_filtered(members):
            # Hits that were counted while the site was shared are not counted again by the adapter.
            remaining_hits = (first.spec.hit_count or 0) - self._counts.get(first.id, 0)
            count = remaining_hits if remaining_hits > 1 else None
            return replace(first, spec=replace(first.spec, hit_count=count))
        # A filtered site stops always; which member is due is decided in `filter_stop`.
        plain = replace(first.spec, condition=None, hit_count=None, log=None, thread=None)
        return replace(first, spec=plain)

    def breakpoint_for_steps(self, members: Sequence[Breakpoint]) -> Breakpoint:
        """Return a site's breakpoint for LLDB's step keeper: one that the program may pass.

        The condition "1" tells the step keeper to stop where the arguments are in place: the site's
        own conditions are evaluated at its stops.
        """
        sent = self.breakpoint_to_send(members)
        if not self.is_filtered(members) or all(_always_stops(one) for one in members):
            return sent
        return replace(sent, spec=replace(sent.spec, condition="1"))

    def to_member_bounds(
        self, members: Sequence[Breakpoint], answer: BoundBreakpoint
    ) -> list[BoundBreakpoint]:
        """Note the answer for a site; return one answer for each of its members."""
        number = answer.backend_id
        if not self.is_filtered(members):
            if number is not None:
                self._members.pop(number, None)
            return [answer]
        # Without a number a stop cannot name the site: all members show the same answer.
        if number is None:
            return [answer] * len(members)
        self._members[number] = tuple(members)
        for one in members:
            if one.spec.hit_count:
                self._counts.setdefault(one.id, one.hits)
        return [replace(answer, backend_id=_SHARED_FROM + one.id) for one in members]

    def bounds_of_members(
        self,
        breakpoints: Sequence[Breakpoint],
        groups: Sequence[Sequence[Breakpoint]],
        answers: Sequence[BoundBreakpoint],
    ) -> list[BoundBreakpoint]:
        """Note the answers for the sites of a list; return one answer for each breakpoint."""
        by_id: dict[int, BoundBreakpoint] = {}
        for members, answer in zip(groups, answers, strict=True):
            each = self.to_member_bounds(members, answer)
            by_id |= {one.id: its for one, its in zip(members, each, strict=True)}
        return [by_id[one.id] for one in breakpoints]

    def to_member_news(self, news: BoundBreakpoint) -> list[BoundBreakpoint]:
        """Convert a change of one of the adapter's breakpoints to changes of its members."""
        for name, known in self._locations.items():
            self._locations[name] = [
                replace(one, line=news.line)
                if one.number == news.backend_id and one.file and news.line
                else one
                for one in known
            ]
        members = self._members.get(news.backend_id) if news.backend_id is not None else None
        if members is None:
            return [news]
        return [replace(news, backend_id=_SHARED_FROM + one.id) for one in members]

    def note_bounds(
        self, name: str, breakpoints: Sequence[Breakpoint], bounds: Sequence[BoundBreakpoint]
    ) -> list[BoundBreakpoint]:
        """Note where the adapter's breakpoints of a list are; return them, each with a number.

        `name` is the list's file, "" for functions.
        """
        if not self._adapter.claims_breakpoint_options:
            return list(bounds)
        numbered = [
            bound if bound.backend_id is not None else replace(bound, backend_id=_OWN_FROM + one.id)
            for one, bound in zip(breakpoints, bounds, strict=True)
        ]
        self._locations[name] = [
            _Location(bound.backend_id or 0, at.file, bound.line or at.line, at.function)
            for at, bound in (
                (one.at or one.spec, its) for one, its in zip(breakpoints, numbered, strict=True)
            )
        ]
        return numbered

    async def complete_hits(self, stop: Stopped) -> Stopped:
        """Return a breakpoint's stop with the breakpoints at its location, if it names none."""
        if stop.hits or stop.reason not in HITTING or not self._locations or stop.thread is None:
            return stop
        frames = (await self._backend.read_stack(stop.thread, levels=1)).frames
        if not frames:
            return stop
        known = [one for some in self._locations.values() for one in some]
        at_line = [one.number for one in known if one.is_line_of(frames[0])]
        found = at_line or [one.number for one in known if one.is_function_of(frames[0])]
        return replace(stop, hits=tuple(found))

    async def filter_stop(self, stop: Stopped, fill: Fill) -> Stopped | None:
        """Return a stop with the breakpoints that it is for; None where it is for none.

        Texts of logpoints are written on the way.
        """
        shared = [number for number in stop.hits if number in self._members]
        if not shared or stop.thread is None:
            return stop
        # Conditions are those of the innermost frame, as the adapter itself would evaluate them.
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
        if _names_file(one) and not _is_same_file(spec.file or "", frame.file or ""):
            return False
        # The order matters: a hit counts only where thread and condition fit, as in gdb.
        if spec.thread not in {None, thread}:
            return False
        if not await self._condition_holds(one, frame):
            return False
        if not spec.hit_count:
            return True
        count = self._counts[one.id] = self._counts.get(one.id, 0) + 1
        return count >= spec.hit_count

    async def _condition_holds(self, one: Breakpoint, frame: Frame) -> bool:
        condition = self._adapter.format_condition(one)
        if condition is None:
            return True
        try:
            expression = self._adapter.format_truth(condition)
            result = await self._backend.evaluate(expression, frame, EvaluationPurpose.PRINT)
        except DebuggerError as error:
            # Reported, and no stop: a condition that fails in one frame of thousands would stop
            # each time.
            self._sink(ConditionError(one.id, f"{one.spec.condition}: {error.message}"))
            return False
        return is_true_text(result.value)


def _always_stops(one: Breakpoint) -> bool:
    spec = one.spec
    has_option = spec.condition or spec.hit_count or spec.log or spec.thread is not None
    return not has_option and not _names_file(one)


def _names_file(one: Breakpoint) -> bool:
    # As it is sent: most adapters send a function of a file as its line.
    at = one.at or one.spec
    return at.function is not None and at.file is not None


def _is_same_file(requested: str, path: str) -> bool:
    if not Path(requested).is_absolute():
        return f"/{path}".endswith(f"/{requested}")
    if Path(requested).exists() and Path(path).exists():
        return os.path.realpath(requested) == os.path.realpath(path)
    # Sources of an archive, and those of another machine, are compared by their names.
    return Path(requested).name == Path(path).name
