"""Keeps LLDB's steps from being lost at breakpoints that do not stop."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePath

from msgspec import Struct
from msgspec.structs import replace

from debugger.backends import lldb_text
from debugger.backends.lldb.caught_steps import CaughtSteps
from debugger.backends.lldb.function_entries import FunctionEntries, OnMoved
from debugger.backends.lldb.lldb_common import LldbAccess
from debugger.backends.lldb_text import quote_word
from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointKind, BreakpointSpec
from debugger.model.program import Frame, ResumeKind, Stopped, StopReason

NAME = "debugger_step"
# The return address and the saved frame pointer.
_BARE = 16  # bytes between a frame's beginning and the stack pointer, where nothing else is there
_HEAD = re.compile(r"^(?P<id>\d+): (?P<rest>.*)$", re.MULTILINE)
# The last count of a line is the breakpoint's own; LLDB lists those of locations before it.
_COUNT = re.compile(r", hit count = (\d+)\b(?!.*, hit count = )")
_IGNORE = re.compile(r" Options:.* ignore: (\d+)\b")
_OWN = re.compile(r"stop reason = breakpoint [-\d. ]*(?<![\d.])-\d")
_ACTIVE = re.compile(r"Active plan stack:\n((?:\s+Element \d+: .*(?:\n|\Z))*)")


class HitCount(Struct, frozen=True):
    """A breakpoint's hits, and how many further hits are to be ignored."""

    hits: int = 0
    ignored: int = 0


def may_pass(breakpoint_: Breakpoint) -> bool:
    """Return whether the program may pass a breakpoint without a stop."""
    spec = breakpoint_.spec
    return bool(spec.condition or spec.hit_count or spec.log)


def location_words(breakpoint_: Breakpoint) -> str:
    """Write a breakpoint's location as options of `breakpoint set`."""
    location = breakpoint_.at or breakpoint_.spec
    match location.kind:
        case BreakpointKind.ADDRESS:
            return f"--address {int(location.address or '0', 16):#x}"
        case BreakpointKind.FUNCTION:
            return f"--name {quote_word(location.function or '')}"
        case _:
            return f"--file {quote_word(location.file or '')} --line {location.line or 1}"


def is_in_files(spec: BreakpointSpec, bound_file: str | None, files: Iterable[str | None]) -> bool:
    """Return whether a breakpoint is in one of the files, or may be."""
    own = bound_file or spec.file
    if own is None:
        return True
    return PurePath(own).name in {PurePath(one).name for one in files if one}


def guard_condition(stack: int | None, frame: int | None, caller: int | None) -> str:
    """Write the condition of a guard: it holds in the frame of the step and in its callers.

    The condition may hold elsewhere, too: such a stop is filtered. `stack` and `frame` are the
    stack pointer and the frame pointer where the step begins, `caller` is the stack pointer of the
    caller. Without them, and in a function that has only begun, whose stack pointer is still to go
    down, the guard always stops. The frame pointer identifies a frame that grows by arrays on the
    stack.
    """
    if stack is None or frame is None or caller is None or caller - stack <= _BARE:
        return ""
    # The stack grows down: a stack pointer at or above that of the step's frame is the frame's own
    # or a caller's. In calls from the frame it is below, so that a recursion passes the guard.
    return f"$sp >= {stack} || $fp == {frame}"


def parse_counts(text: str) -> Mapping[int, HitCount]:
    """Parse `breakpoint list`: the counts of each breakpoint."""
    hit_counts: dict[int, HitCount] = {}
    for header in _HEAD.finditer(text):
        hits, ignored = _COUNT.search(header["rest"]), _IGNORE.search(header["rest"])
        hit_counts[int(header["id"])] = HitCount(
            int(hits[1]) if hits else 0, int(ignored[1]) if ignored else 0
        )
    return hit_counts


def has_stopped(before: HitCount, after: HitCount) -> bool:
    """Return whether a breakpoint stopped the program, instead of only counting a hit."""
    # LLDB counts a hit only where the condition holds, then lowers the ignore count, and stops at
    # 0: more new hits than were to be ignored means a stop.
    return after.hits - before.hits > before.ignored


def parse_plan_count(text: str) -> int | None:
    """Parse `thread plan list`: the number of a thread's unfinished steps; None if it has ended."""
    if not text.lstrip().startswith("thread #"):
        return None
    active = _ACTIVE.search(text)
    # The first is that of any thread that runs.
    return max(0, active[1].count("Element ") - 1) if active else 0


def is_lldb_breakpoint_stop(text: str) -> bool:
    """Parse `thread info`: whether a breakpoint of LLDB's own is among those of the stop."""
    return _OWN.search(text) is not None


def parse_pointers(text: str) -> tuple[int | None, ...]:
    """Parse `register read` of some registers, in their order."""
    # A register of an outer frame may be unknown, and is then missing.
    values = re.findall(r"^\s+\w+ = (0x[0-9a-f]+)", text, re.MULTILINE)
    return tuple(int(one, 16) for one in values)


_NONE = HitCount()
_ENTERING = {StopReason.STEP, StopReason.BREAKPOINT, StopReason.FUNCTION_BREAKPOINT}


class InstalledBreakpoint(Struct, frozen=True):
    """A breakpoint as it was set."""

    wanted: Breakpoint
    number: int  # LLDB's
    file: str | None
    line: int | None = None
    hits: int = 0  # before it was set
    places: tuple[str, ...] = ()  # where it was moved to, as the words of a command

    @property
    def may_pass(self) -> bool:
        """Whether the program may have to pass it."""
        return may_pass(self.wanted) or self.wanted.spec.thread is not None


class LldbStep(Struct):
    """A step under way."""

    thread: int
    beneath: int  # unfinished steps of the thread beneath this one
    is_at_guard: bool = False
    armed: tuple[int, ...] = ()  # the enabled guards


class LldbSteps:
    """Keeps the steps of one program in LLDB (`dap.stop_filter.StepKeeper`).

    Before a step, each location of a breakpoint that may let the program pass, in the file of the
    frame or of its caller, gets a guard, enabled for the stepping thread only.
    At a stop, the counts of all breakpoints before and after it tell which of them stopped, and
    which the program only passed. If only guards stopped, `thread plan list` tells whether the step
    has ended there; if not, the program is continued, and LLDB goes on with its plan. The guards
    are disabled when a stop is reported, and deleted when no breakpoint is at their location.

    `logging` are the kinds of breakpoints that log without a stop; at others the program stops for
    us to log. `counts_alone`: the adapter counts hits itself, from each sending of the list on, and
    LLDB knows no hit count (CodeLLDB 1.11.8). `misplaces`: LLDB 20 misplaces breakpoints of
    functions in two parts.
    """

    def __init__(
        self,
        lldb: LldbAccess,
        *,
        logging: Collection[BreakpointKind],
        on_moved: OnMoved | None = None,
        counts_alone: bool = False,
        misplaces: bool = False,
    ) -> None:
        self._access = lldb
        self._logging = logging
        self._counts_alone = counts_alone
        self._set: dict[str, list[InstalledBreakpoint]] = {}
        self._guards: dict[str, int] = {}
        self._step: LldbStep | None = None
        self._stepping: int | None = None
        self._interrupted: int | None = None
        self._caught = CaughtSteps(lldb)
        self._entries = FunctionEntries(lldb, on_moved, misplaces=misplaces)
        self._entering: Stopped | None = None
        self._by_instruction = False
        # LLDB names all breakpoints of a location, due or not: only the counts tell which have
        # stopped.
        self._shared: Mapping[int, frozenset[int]] = {}  # those at the same location, by number
        self._counted: Mapping[int, HitCount] = {}  # as it was at the last stop, or later

    async def note_breakpoints(
        self, name: str, breakpoints: Sequence[Breakpoint], bounds: Sequence[BoundBreakpoint]
    ) -> list[BoundBreakpoint]:
        """Note a list of breakpoints that was set; `name` identifies the list.

        Returns: the location of each one.
        """
        # First, because guards are set at the moved locations, too.
        bounds = await self._entries.move_breakpoints(name, breakpoints, bounds)
        counts: Mapping[int, HitCount] = {}
        # CodeLLDB counts a breakpoint's hits from the moment the list is sent; LLDB's own count
        # goes on.
        if self._counts_alone and any(one.spec.hit_count for one in breakpoints):
            counts = await self._read_counts()
        self._set[name] = [
            InstalledBreakpoint(
                one,
                bound.backend_id,
                bound.file,
                bound.line,
                counts.get(bound.backend_id, _NONE).hits,
                tuple(self._entries.moved_locations(bound.backend_id)),
            )
            for one, bound in zip(breakpoints, bounds, strict=False)
            if bound.backend_id is not None
        ]
        was_shared, self._shared = bool(self._shared), _sharing_location(self._installed)
        if self._shared:
            self._counted = await self._read_counts()
        if was_shared != bool(self._shared):
            # While some share a location, every stop has to be filtered.
            change = (
                self._access.stop_checks.remove if was_shared else self._access.stop_checks.append
            )
            change(_ignore_stop)
        return bounds

    @property
    def _installed(self) -> list[InstalledBreakpoint]:
        return [one for some in self._set.values() for one in some]

    # -- before --------------------------------------------------------------------------------

    async def begin_step(
        self, how: ResumeKind, thread: int, *, by_instruction: bool = False
    ) -> None:
        """Prepare for a step that is about to begin: enable the guards."""
        await self.end_step()
        # LLDB 19 loses a step whose end coincides with a breakpoint that lets the program pass. If
        # that does not stop (its condition is false, its count is not reached, it only logs), the
        # thread goes on without the step, to the next stop or the program's end.
        #
        # The remedy is a guard: a second breakpoint at each such location, which always stops, for
        # the stepping thread only, in the step's frame or its callers. Whatever happens there, the
        # program stops, and the stop is judged here:
        #
        # 1. `begin_step` enables guards at the locations in the files of the frame and its caller
        #    (all locations for a step by instruction), and reads the hit counts of all breakpoints.
        # 2. `attribute_stop` reads the counts again: the difference tells which of the user's
        #    breakpoints have really stopped. If any has, it is an ordinary stop, and interrupts the
        #    step.
        # 3. If only a guard stopped, `ended_step` asks LLDB for the thread's plans: with fewer
        #    plans than the step had, it has ended, and the stop is reported as its end. Otherwise
        #    the program is continued; LLDB keeps the plan, and goes on with the step.
        # 4. `end_step`, at any reported stop, disables the guards. They are kept for the next step,
        #    and deleted when no breakpoint needs them.
        #
        # A step without such breakpoints near by costs nothing: no guard, no count.
        await self._discard_interrupted(how, thread)
        if self._entering is None:  # a prologue calls nothing that throws
            await self._caught.begin_step(how, thread)
        self._by_instruction = by_instruction
        watched = [one for one in self._installed if one.may_pass]
        if how is ResumeKind.CONTINUE or not watched:
            return
        # The step may end in its function or in the caller, right behind the call.
        frames = (await self._access.read_stack(thread, levels=2)).frames
        if not frames:
            return
        if not by_instruction:
            # An instruction may lead anywhere; a line ends in its function or in the caller.
            files = [frame.file for frame in frames]
            watched = [one for one in watched if is_in_files(_location_of(one), one.file, files)]
        if not watched:
            return
        # Before the step's own plan is pushed: a number above this one means that the step is not
        # over.
        step = LldbStep(thread, await self._count_plans(thread) or 0)
        self._counted = await self._read_counts()
        needed = dict.fromkeys(
            place for one in watched if may_pass(one.wanted) for place in _guard_locations(one)
        )
        if needed:
            await self._delete_unused_guards()
            # Into a call the stack pointer goes below the frame's own: no condition would hold
            # there.
            is_anywhere = by_instruction and how is ResumeKind.STEP
            where = "" if is_anywhere else await self._guard_condition(frames)
            # Before `_step` is set: a failure leaves no step behind.
            step.armed = await self._arm_guards(list(needed), thread, where)
        self._step = step
        # As a check it is called at each reported stop, and makes every stop go through the filter.
        self._access.stop_checks.append(self._on_stop)

    async def _discard_interrupted(self, how: ResumeKind, thread: int) -> None:
        """Discard the step that was interrupted before.

        LLDB would go on with it, also after a `continue`, which then would end as a step. The plan
        has breakpoints of its own, at which a new step would be lost in a recursion.
        """
        self._stepping = thread if how is not ResumeKind.CONTINUE else None
        interrupted, self._interrupted = self._interrupted, None
        if interrupted is None:
            return
        try:
            frames = (await self._access.read_stack(interrupted, levels=1)).frames
        except DebuggerError:
            return  # the thread has ended
        # Plan 0 is the thread's base plan: `discard 1` removes all above it.
        if frames and await self._count_plans(interrupted):
            # A frame selects its thread for the command.
            await self._access.run_raw("thread plan discard 1", frames[0])

    def note_stop(self, stop: Stopped) -> None:
        """Note a stop that is reported to the session: any but a step's interrupts the step."""
        if self._stepping is not None and stop.reason is not StopReason.STEP:
            self._interrupted = self._stepping
        self._stepping = None

    async def _guard_condition(self, frames: Sequence[Frame]) -> str:
        """Write the condition of the guards."""
        # Without a caller there is no frame to compare with: the guard always stops.
        if len(frames) == 1 or (frames[0].file or "").endswith(".swift"):
            return ""  # Swift's expressions know no registers
        caller = await self._access.run_raw("register read sp", frames[1])
        own = await self._access.run_raw("register read sp fp", frames[0])
        pointers = (*parse_pointers(own)[:2], *parse_pointers(caller)[:1])
        return guard_condition(*pointers) if len(pointers) == len(("sp", "fp", "sp")) else ""

    async def _arm_guards(self, places: Sequence[str], thread: int, where: str) -> tuple[int, ...]:
        for place in places:
            if place not in self._guards:
                # Made disabled: the modify below has to limit it to the thread first.
                words = f"breakpoint set {place} --breakpoint-name {NAME} --disable"
                text = await self._access.run_raw(words, None)
                number = lldb_text.parse_breakpoint_id(text)
                if number is None:
                    raise DebuggerError(
                        ErrorCode.ADAPTER_FAILED,
                        f"the step cannot be guarded: {lldb_text.parse_error(text) or text}",
                        hint="debugger breakpoint list; debugger breakpoint remove ID",
                    )
                self._guards[place] = number
        armed = tuple(self._guards[place] for place in places)
        numbers = " ".join(map(str, armed))
        quoted_condition = lldb_text.quote_word(where)
        await self._access.run_raw(
            f"breakpoint modify --thread-id {thread} --condition {quoted_condition} {numbers}", None
        )
        # One command for all of them: each takes a round trip.
        await self._access.run_raw(f"breakpoint enable {numbers}", None)
        return armed

    async def _delete_unused_guards(self) -> None:
        """Delete the guards of locations that have no breakpoint any more."""
        passed = [one for one in self._installed if may_pass(one.wanted)]
        used_locations = {place for one in passed for place in _guard_locations(one)}
        unused_locations = [place for place in self._guards if place not in used_locations]
        if unused_locations:
            numbers = " ".join(str(self._guards.pop(place)) for place in unused_locations)
            await self._access.run_raw(f"breakpoint delete {numbers}", None)

    # -- at a stop -----------------------------------------------------------------------------

    async def attribute_stop(self, stop: Stopped) -> Stopped | None:
        """Return a stop with the breakpoints that caused it; None if none of the user's did."""
        stop = await self._caught.end_at_landing(self._entries.attribute_stop(stop))
        if stop.handled:
            self._interrupted = stop.thread  # LLDB would go on with the step that it has lost
            return stop
        return await self._attribute_hits(stop)

    async def _attribute_hits(self, stop: Stopped) -> Stopped | None:
        step = self._step
        is_counted = step is not None or any(hit in self._shared for hit in stop.hits)
        # Other stops (a signal, a pause, the step's own end) name no breakpoint.
        if not is_counted or stop.reason not in {
            StopReason.BREAKPOINT,
            StopReason.FUNCTION_BREAKPOINT,
        }:
            return stop
        before, after = self._counted, await self._read_counts()
        self._counted = after
        known = {one.number: one for one in self._installed}
        ours = set(self._guards.values())

        def has_ended_run(number: int) -> bool:
            one = known.get(number)
            # A breakpoint of the user's raw commands: it stops as LLDB says.
            if one is None:
                return number not in ours
            spec = one.wanted.spec
            then, now = before.get(number, _NONE), after.get(number, _NONE)
            if spec.thread not in {None, stop.thread}:
                return False
            # Such a logpoint never stops; one that was moved does, for us to log.
            if spec.log is not None and not one.places and _location_of(one).kind in self._logging:
                return False
            if (
                self._counts_alone
                and not one.places
                and now.hits - one.hits < (spec.hit_count or 0)
            ):
                return False
            return has_stopped(then, now)

        # Without a step only hits at shared locations need the counts.
        shared_hits = {one for hit in stop.hits for one in self._shared.get(hit, ())}
        others = known if step is not None else [one for one in known if one in shared_hits]
        # During a step LLDB may name the guard alone: all of the user's breakpoints are checked.
        hits = tuple(one for one in dict.fromkeys((*stop.hits, *others)) if has_ended_run(one))
        if step is not None:
            step.is_at_guard = False
        if hits:
            return replace(stop, hits=hits)
        if step is None:
            return None
        step.is_at_guard = any(
            after.get(one, _NONE) != before.get(one, _NONE) for one in step.armed
        )
        # A stop without hits and without a guard is none of a breakpoint's: it is left as it is.
        return None if stop.hits or step.is_at_guard else stop

    async def ended_step(self) -> Stopped | None:
        """Return the stop of the step, if it ended where the program stopped; else None.

        LLDB has given up the step then, and would not go on with it.
        """
        step = self._step
        plan_count = await self._count_plans(step.thread) if step is not None else None
        if step is None or plan_count is None:
            return None
        # The plan is still there: the guard was in a function that the step passes, or LLDB's own
        # breakpoint stopped where it should have gone on.
        if plan_count > step.beneath:
            if not step.is_at_guard or not await self._is_at_lldb_breakpoint(step.thread):
                return None
            # LLDB 20.1 stops in an inlined function where it should go on, and would not find back.
            self._interrupted = step.thread
        return Stopped(StopReason.STEP, raw_reason="step", thread=step.thread)

    async def _is_at_lldb_breakpoint(self, thread: int) -> bool:
        frames = (await self._access.read_stack(thread, levels=1)).frames
        return bool(frames) and is_lldb_breakpoint_stop(
            await self._access.run_raw("thread info", frames[0])
        )

    async def _on_stop(self, stop: Stopped) -> None:
        del stop
        await self.end_step()

    async def end_step(self) -> None:
        """Disable the guards of the present step."""
        step, self._step = self._step, None
        if step is None:
            return
        self._access.stop_checks.remove(self._on_stop)
        if step.armed:
            numbers = " ".join(map(str, step.armed))
            await self._access.run_raw(f"breakpoint disable {numbers}", None)

    async def _count_plans(self, thread: int) -> int | None:
        return parse_plan_count(
            await self._access.run_raw(f"thread plan list --thread-id {thread}", None)
        )

    async def _read_counts(self) -> Mapping[int, HitCount]:
        counts = dict(parse_counts(await self._access.run_raw("breakpoint list", None)))
        for number, owner in self._entries.owner_numbers.items():
            # One location of the owner is disabled; the hits there are counted by ours.
            own, other = counts.get(owner, _NONE), counts.get(number, _NONE)
            counts[owner] = HitCount(own.hits + other.hits, own.ignored + other.ignored)
        return counts

    # -- into a function's body ----------------------------------------------------------------

    async def enter_body(self, stop: Stopped) -> Stopped | None:
        """Return a stop once its function's arguments are in place; None while they are not.

        The stop is withheld while the thread runs the rest of the prologue.
        """
        before, self._entering = self._entering, None
        # The second part of a stop that was withheld: the thread has run the prologue. Another
        # reason than the step's end (a breakpoint on the way, a signal) is reported instead.
        if before is not None:
            is_done = stop.reason is StopReason.STEP and stop.thread == before.thread
            return before if is_done else stop
        if stop.thread is None or stop.reason not in _ENTERING or self._is_exact_address(stop):
            return stop
        # As many frames as a report shows: it need not request them again.
        frames = (await self._access.read_stack(stop.thread)).frames
        count = await self._entries.instructions_before_body(frames[0]) if frames else 0
        if not count:
            return stop
        self._entering = stop
        # With guards, as for any step: a breakpoint within the prologue must not lose it.
        await self.begin_step(ResumeKind.NEXT, stop.thread, by_instruction=True)
        # The user did not request an instruction: the next stop is judged as one of lines.
        self._by_instruction = False
        await self._access.run_raw(f"thread step-inst-over --count {count}", frames[0])
        return None

    def _is_exact_address(self, stop: Stopped) -> bool:
        """Return whether the user requested a stop at this very instruction."""
        if stop.reason is StopReason.STEP:
            return self._by_instruction
        return any(
            one.number in stop.hits and _location_of(one).kind is BreakpointKind.ADDRESS
            for one in self._installed
        )


def _guard_locations(one: InstalledBreakpoint) -> tuple[str, ...]:
    return (location_words(one.wanted), *one.places)


def _sharing_location(known: Sequence[InstalledBreakpoint]) -> Mapping[int, frozenset[int]]:
    """Return, by number, the breakpoints that are, or may be, at the location of another one."""
    # Then any two may share a location: every stop reads the counts.
    if any(one.file is None for one in known) and len(known) > 1:
        # CodeLLDB does not report the location of a function.
        return dict.fromkeys((one.number for one in known), frozenset(one.number for one in known))
    numbers_by_line: dict[tuple[str | None, int | None], set[int]] = {}
    for one in known:
        numbers_by_line.setdefault((one.file, one.line), set()).add(one.number)
    return {
        number: frozenset(numbers)
        for numbers in numbers_by_line.values()
        if len(numbers) > 1
        for number in numbers
    }


async def _ignore_stop(stop: Stopped) -> None:
    """Do nothing: while listed as a check, it makes every stop go through the stop filter."""
    del stop


def _location_of(one: InstalledBreakpoint) -> BreakpointSpec:
    return one.wanted.at or one.wanted.spec
