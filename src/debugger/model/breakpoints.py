"""Defines requested breakpoints, and the debugger's answers to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum

import msgspec
from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.hit_filter import HitFilter


def split_template(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a text in order, each with whether it is a bracketed expression.

    An unclosed or empty bracket is text.
    """
    message, at = "", 0
    while (start := text.find("{", at)) >= 0:
        end = _find_closing(text, start)
        inner = text[start + 1 : end].strip()
        if end >= len(text) or not inner:
            message += text[at : start + 1]
            at = start + 1
            continue
        if message + text[at:start]:
            yield message + text[at:start], False
        yield inner, True
        message, at = "", end + 1
    if message + text[at:]:
        yield message + text[at:], False


def _find_closing(text: str, start: int) -> int:
    """Return the position of the closing bracket, past inner brackets and strings."""
    depth, quote = 0, ""
    for at in range(start, len(text)):
        letter = text[at]
        if quote:
            quote = "" if letter == quote and text[at - 1] != "\\" else quote
        elif letter in "'\"`":
            quote = letter
        else:
            depth += (letter == "{") - (letter == "}")
            if not depth:
                return at
    return len(text)


MOST = 1000  # breakpoints of a session


class BreakpointKind(Enum):
    """The kind of a breakpoint: what it is set on."""

    LINE = "line"
    FUNCTION = "function"
    ADDRESS = "address"
    WATCHPOINT = "watchpoint"
    EXCEPTION = "exception"


class WatchAccess(Enum):
    """The accesses that stop at a watchpoint; a write counts only if it changes the value."""

    WRITE = "write"
    READ = "read"
    ANY = "access"


class HitRule(Struct, frozen=True):
    """The filter of a breakpoint's hits, as far as the debugger itself does not apply it."""

    hits: HitFilter
    text: str  # the filter as the user typed it
    # The locations of the filter's events.
    after: BreakpointSpec | None = None
    until: BreakpointSpec | None = None


class BreakpointSpec(Struct, frozen=True):
    """A breakpoint as the user requested it."""

    file: str | None = None
    line: int | None = None
    function: str | None = None
    address: str | None = None
    condition: str | None = None
    # N stops at the Nth hit and after, as gdb's `ignore`.
    hit_count: int | None = None
    log: str | None = None
    temporary: bool = False
    thread: int | None = None
    enabled: bool = True
    # The expression of a watchpoint, evaluated in a frame of `function`.
    watch: str | None = None
    access: WatchAccess = WatchAccess.WRITE
    # The kind of exceptions to stop at: throw, panic, or an adapter's filter name.
    catch: str | None = None
    # The only exception type that a catchpoint stops at.
    type: str | None = None
    # This many hits are logged at any rate, if the backend limits its log lines a second.
    burst: int = 0
    note: str | None = None  # what is to be said of the location that was chosen for it
    rule: HitRule | None = None
    # Of code behind other code of its line, where the adapter takes it (js-debug).
    column: int | None = None

    @property
    def kind(self) -> BreakpointKind:
        """The kind of the breakpoint."""
        if self.watch is not None:
            return BreakpointKind.WATCHPOINT
        if self.catch is not None:
            return BreakpointKind.EXCEPTION
        if self.address is not None:
            return BreakpointKind.ADDRESS
        return BreakpointKind.FUNCTION if self.function is not None else BreakpointKind.LINE


class BoundBreakpoint(Struct, frozen=True):
    """The debugger's answer about one breakpoint."""

    verified: bool
    # The debugger's own number of the breakpoint.
    backend_id: int | None = None
    file: str | None = None
    line: int | None = None
    address: str | None = None
    # The reason if it is not verified, with near lines or names.
    why: str | None = None
    nearest_lines: tuple[int, ...] = ()
    near_names: tuple[str, ...] = ()
    # Where the program defines the function, under a name that the debugger does not know.
    definition: BreakpointSpec | None = None
    # An expression that gives the watched value in any frame.
    again: str | None = None
    # The debugger has another breakpoint at this location, and accepts no second one.
    is_taken: bool = False
    function: str | None = None  # that the location is in, where the backend says so


class Breakpoint(Struct, frozen=True):
    """A requested breakpoint with an id of our own, valid across restarts and adapters."""

    id: int
    spec: BreakpointSpec
    # The spec as sent, if the debugger's side moved it; None while it must not be sent.
    at: BreakpointSpec | None = None
    bound: BoundBreakpoint | None = None
    hits: int = 0
    uncounted: int = 0  # the hits there were when the debugger began to count to the hit count
    # Set by us (`until`), never listed, and removed at the next stop.
    internal: bool = False
    # An internal one that stays at a stop, and when the program starts anew.
    is_lasting: bool = False
    # It marks an event of another breakpoint's filter: that one's number, `after` or `until`.
    event_of: tuple[int, str] | None = None


def _list_key(at: BreakpointSpec) -> tuple[BreakpointKind, str | None]:
    # The functions of all files are one list.
    return at.kind, None if at.kind is BreakpointKind.FUNCTION else at.file


class Breakpoints:
    """The breakpoints of one session."""

    def __init__(self) -> None:
        self._all: dict[int, Breakpoint] = {}
        # News of breakpoints by backend id that overtook the answer to their list.
        self._early: dict[int, BoundBreakpoint] = {}
        self._next = 1
        self._next_internal = -1

    def add(
        self, spec: BreakpointSpec, *, internal: bool = False, is_lasting: bool = False
    ) -> Breakpoint:
        """Add a breakpoint, or return an identical existing one.

        Raises:
            DebuggerError: USAGE beyond 1,000 breakpoints.
        """
        same = None if internal else self.find_same(spec)
        if same is not None:
            return same
        if len(self._all) >= MOST:
            raise DebuggerError(
                ErrorCode.USAGE,
                f"there are {MOST} breakpoints already",
                hint="debugger breakpoint remove --all",
            )
        if internal:
            number, self._next_internal = self._next_internal, self._next_internal - 1
        else:
            number, self._next = self._next, self._next + 1
        breakpoint_ = Breakpoint(id=number, spec=spec, internal=internal, is_lasting=is_lasting)
        self._all[number] = breakpoint_
        self._add_events(breakpoint_)
        return breakpoint_

    def _add_events(self, breakpoint_: Breakpoint) -> None:
        rule = breakpoint_.spec.rule
        events = {"after": rule.after, "until": rule.until} if rule is not None else {}
        for kind, spec in events.items():
            if spec is not None:
                number, self._next_internal = self._next_internal, self._next_internal - 1
                self._all[number] = Breakpoint(
                    id=number, spec=spec, internal=True, event_of=(breakpoint_.id, kind)
                )

    def events_of(self, number: int) -> list[Breakpoint]:
        """Return the breakpoints that mark the events of a breakpoint's filter."""
        return [
            one
            for one in self._all.values()
            if one.event_of is not None and one.event_of[0] == number
        ]

    def find(self, number: int) -> Breakpoint | None:
        """Return a breakpoint, internal ones included; None for an unknown number."""
        return self._all.get(number)

    def adopt(self, known: Breakpoint) -> None:
        """Add a breakpoint of another process, under the same id."""
        self._all[known.id] = Breakpoint(id=known.id, spec=known.spec)
        self._add_events(self._all[known.id])
        self._next = max(self._next, known.id + 1)

    def find_same(self, spec: BreakpointSpec) -> Breakpoint | None:
        """Return the user's identical breakpoint; None if there is none."""
        return next((known for known in self.user_breakpoints() if known.spec == spec), None)

    def find_watchpoint(self, spec: BreakpointSpec) -> Breakpoint | None:
        """Return the user's watchpoint of the same expression in the same function, if any."""
        same = (spec.watch, spec.access, spec.function)
        return next(
            (
                one
                for one in self.user_breakpoints()
                if (one.spec.watch, one.spec.access, one.spec.function) == same
            ),
            None,
        )

    def get(self, number: int) -> Breakpoint:
        """Return one of the user's breakpoints.

        Raises:
            DebuggerError: NOT_FOUND, naming the existing ones.
        """
        found = self._all.get(number)
        if found is not None and not found.internal:
            return found
        known = ", ".join(str(known.id) for known in self.user_breakpoints()) or "none"
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"no breakpoint {number}; there are: {known}",
            hint="debugger breakpoint list",
        )

    def at_location(self, spec: BreakpointSpec) -> list[Breakpoint]:
        """Return the user's breakpoints that were requested at a location, or moved to its line."""
        place = (spec.file, spec.line, spec.function, spec.address)
        line = (spec.file, spec.line)
        return [
            one
            for one in self.user_breakpoints()
            if one.spec.kind not in {BreakpointKind.WATCHPOINT, BreakpointKind.EXCEPTION}
            and (
                (one.spec.file, one.spec.line, one.spec.function, one.spec.address) == place
                # A pending one is bound to no line, as a function has none.
                or (
                    spec.line is not None
                    and one.bound is not None
                    and (one.bound.file, one.bound.line) == line
                )
            )
        ]

    def remove(self, number: int) -> Breakpoint | None:
        """Remove a breakpoint; None if it was removed already."""
        return self._all.pop(number, None)

    def enable(self, number: int, *, on: bool) -> Breakpoint:
        """Enable or disable one of the user's breakpoints.

        Raises:
            DebuggerError: NOT_FOUND.
        """
        known = self.get(number)
        changed = msgspec.structs.replace(
            known,
            spec=msgspec.structs.replace(known.spec, enabled=on),
            bound=known.bound if on else None,
            uncounted=known.hits,
        )
        self._all[number] = changed
        return changed

    def change(self, number: int, change: Callable[[BreakpointSpec], BreakpointSpec]) -> Breakpoint:
        """Change what one of the user's breakpoints does at its location; its hits stay.

        Raises:
            DebuggerError: NOT_FOUND.
        """
        known = self.get(number)
        self._all[number] = msgspec.structs.replace(
            known, spec=change(known.spec), uncounted=known.hits
        )
        return self._all[number]

    def user_breakpoints(self) -> list[Breakpoint]:
        """Return the user's breakpoints in the order of their ids."""
        return sorted((b for b in self._all.values() if not b.internal), key=lambda b: b.id)

    def user_specs(self) -> tuple[BreakpointSpec, ...]:
        """Return the user's requests, in the order of the ids."""
        return tuple(one.spec for one in self.user_breakpoints())

    def own_specs(self) -> tuple[BreakpointSpec, ...]:
        """Return the requests of our own breakpoints, without those of events."""
        own = (one for one in self._all.values() if one.internal and one.event_of is None)
        return tuple(one.spec for one in own)

    def set_location(self, number: int, at: BreakpointSpec | BoundBreakpoint) -> None:
        """Record the location for sending a breakpoint, or why it cannot be sent."""
        known = self._all.get(number)
        if known is None:
            return
        if isinstance(at, BoundBreakpoint):
            changed = msgspec.structs.replace(known, at=None, bound=at)
        else:
            changed = msgspec.structs.replace(known, at=at)
        self._all[number] = changed

    def all_breakpoints(self) -> list[Breakpoint]:
        """Return all breakpoints, internal ones included."""
        return list(self._all.values())

    def same_list(self, at: BreakpointSpec) -> list[Breakpoint]:
        """Return the enabled breakpoints that share a request with this one.

        DAP replaces all breakpoints of a source, and all function breakpoints, at once.
        """
        return sorted(
            (
                one
                for one in self._all.values()
                if one.spec.enabled and one.at is not None and _list_key(one.at) == _list_key(at)
            ),
            key=lambda one: one.id,
        )

    def list_representatives(self) -> list[BreakpointSpec]:
        """Return one spec of each list to send."""
        found = {_list_key(one.at): one.at for one in self._all.values() if one.at}
        return list(found.values())

    def take_answers(self, sent: Sequence[Breakpoint], answers: Iterable[BoundBreakpoint]) -> None:
        """Store the debugger's answers to a sent list, in its order.

        A breakpoint that was removed or changed meanwhile keeps its newer state.
        """
        for requested, bound in zip(sent, answers, strict=False):
            known = self._all.get(requested.id)
            early = (
                self._early.pop(bound.backend_id, None) if bound.backend_id is not None else None
            )
            newest = bound
            if early is not None and early.verified and not bound.verified:
                newest = merge_bound(bound, early)
            if known is not None and known.at == requested.at:
                self._all[requested.id] = msgspec.structs.replace(known, bound=newest)

    def move_to_line(self, file: str, line: int) -> None:
        """Send a line's function breakpoints with those of its file from now on."""
        for one in self.all_breakpoints():
            is_there = one.bound is not None and (one.bound.file, one.bound.line) == (file, line)
            if is_there and one.at is not None and one.at.kind is BreakpointKind.FUNCTION:
                at = msgspec.structs.replace(one.at, function=None, file=file, line=line)
                self._all[one.id] = msgspec.structs.replace(one, at=at)

    def qualify_functions(self) -> bool:
        """Resolve an unbound function breakpoint to the only qualified name with that end.

        Returns whether there is such a breakpoint, to be sent again.
        """
        changed = False
        for one in self.all_breakpoints():
            at, bound = one.at, one.bound
            if at is None or not at.function or bound is None or bound.verified or at.note:
                continue
            name = at.function
            ends = (f"::{name}", f".{name}")
            matching = [near for near in bound.near_names if near.endswith(ends)]
            if len(matching) == 1:
                at = msgspec.structs.replace(at, function=matching[0], note=f"it is {matching[0]}")
                self._all[one.id] = msgspec.structs.replace(one, at=at, bound=None)
                changed = True
        return changed

    def use_definitions(self) -> list[BreakpointSpec]:
        """Move unbound function breakpoints to the lines of their definitions.

        Returns the moved ones, whose files are to be sent.
        """
        moved = []
        for one in self.all_breakpoints():
            at, there = one.at, one.bound.definition if one.bound is not None else None
            if at is None or at.kind is not BreakpointKind.FUNCTION or there is None:
                continue
            at = msgspec.structs.replace(
                at, function=None, file=there.file, line=there.line, note=there.note
            )
            self._all[one.id] = msgspec.structs.replace(one, at=at, bound=None)
            moved.append(at)
        return moved

    def update_bound(self, bound: BoundBreakpoint) -> Breakpoint | None:
        """Store a late answer for a backend id; None if the id is unknown."""
        if bound.backend_id is None:
            return None
        known = self.by_backend_id(bound.backend_id)
        if known is None:
            if len(self._early) < MOST:
                self._early[bound.backend_id] = bound
            return None
        changed = msgspec.structs.replace(known, bound=merge_bound(known.bound or bound, bound))
        self._all[known.id] = changed
        return changed

    def forget_answers(self) -> None:
        """Drop the debugger's answers and the internal breakpoints: the program starts anew."""
        self._early.clear()
        self._all = {
            one.id: Breakpoint(
                id=one.id,
                spec=one.spec,
                internal=one.internal,
                is_lasting=one.is_lasting,
                event_of=one.event_of,
            )
            for one in self._all.values()
            if not one.internal
            or one.is_lasting
            or (one.event_of is not None and one.event_of[0] > 0)
        }

    def by_backend_id(self, number: int) -> Breakpoint | None:
        """Return the breakpoint of a backend's id."""
        for known in self._all.values():
            if known.bound is not None and known.bound.backend_id == number:
                return known
        return None

    def find_stopping(self, hit: Sequence[Breakpoint]) -> list[Breakpoint]:
        """Return the breakpoints that caused a stop: not logpoints, but others at their line."""
        if not hit or any(one.spec.log is None for one in hit):
            return list(hit)
        places = {(one.bound.file, one.bound.line) for one in hit if one.bound is not None}
        return [
            one
            for one in self._all.values()
            if one.spec.enabled
            and one.spec.log is None
            and one.bound is not None
            and one.bound.verified
            and (one.bound.file, one.bound.line) in places
        ] or list(hit)

    def count_hits(self, number: int) -> int:
        """Return the number of stops at a breakpoint; 0 for an unknown one."""
        known = self._all.get(number)
        return known.hits if known is not None else 0

    def is_enabled(self, number: int) -> bool:
        """Return whether a breakpoint is set and enabled."""
        known = self._all.get(number)
        return known is not None and known.spec.enabled

    def record_hit(self, number: int, total: int | None = None) -> None:
        """Count a stop at a breakpoint; the debugger may report the `total` of its hits."""
        known = self._all.get(number)
        if known is not None:
            # One that stops from the Nth hit on was hit N times when it first stops.
            counted = max(known.hits + 1, known.uncounted + (known.spec.hit_count or 0))
            hits = max(total, known.hits) if total else counted
            self._all[number] = msgspec.structs.replace(known, hits=hits)


def merge_bound(old: BoundBreakpoint, new: BoundBreakpoint) -> BoundBreakpoint:
    """Merge news of a breakpoint, which may lack the location of an earlier answer."""
    return msgspec.structs.replace(
        new,
        file=new.file or old.file,
        line=new.line or old.line,
        address=new.address or old.address,
        function=new.function or old.function,
        again=new.again or old.again,
        why=None if new.verified else new.why or old.why,
    )


_FALSE = frozenset({"", "0", "0.0", "none", "false", "null", "nullptr", "<nil>", "nil"})


def is_true_text(value: str) -> bool:
    """Return whether a condition's value, as a debugger prints it, is true."""
    text = value.strip().lower()
    try:
        return int(text, 0) != 0
    except ValueError:
        return text not in _FALSE
