"""Keeps LLDB's steps from being lost at breakpoints that do not stop."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from debugger.backends import lldb_text
from debugger.backends.lldb import guards
from debugger.backends.lldb.entries import Entries, OnMoved
from debugger.backends.lldb.inside import Inside
from debugger.core.breakpoints import Bound, Breakpoint, Kind, Spec
from debugger.core.model import Frame, Reason, Resume, Stopped
from debugger.errors import Code, DebuggerError

_NONE = guards.Count()
_ENTERING = {Reason.STEP, Reason.BREAKPOINT, Reason.FUNCTION_BREAKPOINT}


class Known(Struct, frozen=True):
    """A breakpoint as it was set."""

    wanted: Breakpoint
    number: int  # LLDB's
    file: str | None
    line: int | None = None
    hits: int = 0  # before it was set
    places: tuple[str, ...] = ()  # where it was moved to, as the words of a command

    @property
    def is_watched(self) -> bool:
        """Whether the program may have to pass it."""
        return guards.passes(self.wanted) or self.wanted.spec.thread is not None


class Step(Struct):
    """A step under way."""

    thread: int
    beneath: int  # unfinished steps of the thread beneath this one
    is_at_guard: bool = False
    armed: tuple[int, ...] = ()  # the enabled guards


class Steps:
    """Keeps the steps of one program in LLDB (`dap.steps`).

    Before a step, each location of a breakpoint that may let the program pass, in the file of the
    frame or of its caller, gets a guard (see `guards`), enabled for the stepping thread only. At a
    stop, the counts of all breakpoints before and after it tell which of them stopped, and which
    the program only passed. If only guards stopped, `thread plan list` tells whether the step has
    ended there; if not, the program is continued, and LLDB goes on with its plan. The guards are
    disabled when a stop is reported, and deleted when no breakpoint is at their location.

    `logging` are the kinds of breakpoints that log without a stop; at others the program stops for
    us to log. `counts_alone`: the adapter counts hits itself, from each sending of the list on, and
    LLDB knows no hit count (CodeLLDB 1.11.8). `misplaces`: LLDB 20 misplaces breakpoints of
    functions in two parts.
    """

    def __init__(
        self,
        inside: Inside,
        *,
        logging: Collection[Kind],
        on_moved: OnMoved | None = None,
        counts_alone: bool = False,
        misplaces: bool = False,
    ) -> None:
        self._inside = inside
        self._logging = logging
        self._counts_alone = counts_alone
        self._set: dict[str, list[Known]] = {}
        self._guards: dict[str, int] = {}
        self._step: Step | None = None
        self._stepping: int | None = None
        self._interrupted: int | None = None
        self._entries = Entries(inside, on_moved, misplaces=misplaces)
        self._entering: Stopped | None = None
        self._by_instruction = False
        self._shared: Mapping[int, frozenset[int]] = {}  # those at the same location, by number
        self._counted: Mapping[int, guards.Count] = {}  # as it was at the last stop, or later

    async def note(
        self, name: str, wanted: Sequence[Breakpoint], bounds: Sequence[Bound]
    ) -> list[Bound]:
        """Note a list of breakpoints that was set; `name` identifies the list.

        Returns: the location of each one.
        """
        bounds = await self._entries.move(name, wanted, bounds)
        counts: Mapping[int, guards.Count] = {}
        if self._counts_alone and any(one.spec.hit_count for one in wanted):
            counts = await self._counts()
        self._set[name] = [
            Known(
                one,
                bound.backend_id,
                bound.file,
                bound.line,
                counts.get(bound.backend_id, _NONE).hits,
                tuple(self._entries.places(bound.backend_id)),
            )
            for one, bound in zip(wanted, bounds, strict=False)
            if bound.backend_id is not None
        ]
        was_shared, self._shared = bool(self._shared), _shared(self._known)
        if self._shared:
            self._counted = await self._counts()
        if was_shared != bool(self._shared):
            # While some share a location, every stop has to be filtered.
            change = self._inside.checks.remove if was_shared else self._inside.checks.append
            change(_nothing)
        return bounds

    @property
    def _known(self) -> list[Known]:
        return [one for some in self._set.values() for one in some]

    # -- before --------------------------------------------------------------------------------

    async def begin(self, how: Resume, thread: int, *, by_instruction: bool = False) -> None:
        """Prepare for a step that is about to begin: enable the guards."""
        await self.over()
        await self._forget(how, thread)
        self._by_instruction = by_instruction
        watched = [one for one in self._known if one.is_watched]
        if how is Resume.CONTINUE or not watched:
            return
        frames = (await self._inside.stack(thread, levels=2)).frames
        if not frames:
            return
        if not by_instruction:
            # An instruction may lead anywhere; a line ends in its function or in the caller.
            files = [frame.file for frame in frames]
            watched = [one for one in watched if guards.is_in(_at(one), one.file, files)]
        if not watched:
            return
        step = Step(thread, await self._plans(thread) or 0)
        self._counted = await self._counts()
        needed = dict.fromkeys(
            place for one in watched if guards.passes(one.wanted) for place in _places(one)
        )
        if needed:
            await self._clear()
            is_anywhere = by_instruction and how is Resume.STEP
            where = "" if is_anywhere else await self._where(frames)
            step.armed = await self._arm(list(needed), thread, where)
        self._step = step
        self._inside.checks.append(self._told)

    async def _forget(self, how: Resume, thread: int) -> None:
        """Discard the step that was interrupted before.

        LLDB would go on with it, also after a `continue`, which then would end as a step. The plan
        has breakpoints of its own, at which a new step would be lost in a recursion.
        """
        self._stepping = thread if how is not Resume.CONTINUE else None
        interrupted, self._interrupted = self._interrupted, None
        if interrupted is None:
            return
        try:
            frames = (await self._inside.stack(interrupted, levels=1)).frames
        except DebuggerError:
            return  # the thread has ended
        if frames and await self._plans(interrupted):
            # A frame selects its thread for the command.
            await self._inside.raw("thread plan discard 1", frames[0])

    def told(self, stop: Stopped) -> None:
        """Note a stop that is reported to the session: any but a step's interrupts the step."""
        if self._stepping is not None and stop.reason is not Reason.STEP:
            self._interrupted = self._stepping
        self._stepping = None

    async def _where(self, frames: Sequence[Frame]) -> str:
        """Write the condition of the guards."""
        if len(frames) == 1 or (frames[0].file or "").endswith(".swift"):
            return ""  # Swift's expressions know no registers
        caller = await self._inside.raw("register read sp", frames[1])
        own = await self._inside.raw("register read sp fp", frames[0])
        told = (*guards.pointers(own)[:2], *guards.pointers(caller)[:1])
        return guards.condition(*told) if len(told) == len(("sp", "fp", "sp")) else ""

    async def _arm(self, places: Sequence[str], thread: int, where: str) -> tuple[int, ...]:
        for place in places:
            if place not in self._guards:
                words = f"breakpoint set {place} --breakpoint-name {guards.NAME} --disable"
                text = await self._inside.raw(words, None)
                number = lldb_text.breakpoint_id(text)
                if number is None:
                    raise DebuggerError(
                        Code.ADAPTER_FAILED,
                        f"the step cannot be guarded: {lldb_text.error(text) or text}",
                        hint="debugger breakpoint list; debugger breakpoint remove ID",
                    )
                self._guards[place] = number
        armed = tuple(self._guards[place] for place in places)
        numbers = " ".join(map(str, armed))
        quoted = lldb_text.quoted(where)
        await self._inside.raw(
            f"breakpoint modify --thread-id {thread} --condition {quoted} {numbers}", None
        )
        await self._inside.raw(f"breakpoint enable {numbers}", None)
        return armed

    async def _clear(self) -> None:
        """Delete the guards of locations that have no breakpoint any more."""
        passed = [one for one in self._known if guards.passes(one.wanted)]
        kept = {place for one in passed for place in _places(one)}
        gone = [place for place in self._guards if place not in kept]
        if gone:
            numbers = " ".join(str(self._guards.pop(place)) for place in gone)
            await self._inside.raw(f"breakpoint delete {numbers}", None)

    # -- at a stop -----------------------------------------------------------------------------

    async def judged(self, stop: Stopped) -> Stopped | None:
        """Return a stop with the breakpoints that caused it; None if none of the user's did."""
        stop = self._entries.attribute(stop)
        step = self._step
        is_counted = step is not None or any(hit in self._shared for hit in stop.hits)
        if not is_counted or stop.reason not in {Reason.BREAKPOINT, Reason.FUNCTION_BREAKPOINT}:
            return stop
        before, after = self._counted, await self._counts()
        self._counted = after
        known = {one.number: one for one in self._known}
        ours = set(self._guards.values())

        def has_stopped(number: int) -> bool:
            one = known.get(number)
            if one is None:
                return number not in ours
            spec = one.wanted.spec
            then, now = before.get(number, _NONE), after.get(number, _NONE)
            if spec.thread not in {None, stop.thread}:
                return False
            if spec.log is not None and not one.places and _at(one).kind in self._logging:
                return False
            if (
                self._counts_alone
                and not one.places
                and now.hits - one.hits < (spec.hit_count or 0)
            ):
                return False
            return guards.has_stopped(then, now)

        # Without a step only hits at shared locations need the counts.
        near = {one for hit in stop.hits for one in self._shared.get(hit, ())}
        others = known if step is not None else [one for one in known if one in near]
        hits = tuple(one for one in dict.fromkeys((*stop.hits, *others)) if has_stopped(one))
        if step is not None:
            step.is_at_guard = False
        if hits:
            return replace(stop, hits=hits)
        if step is None:
            return None
        step.is_at_guard = any(
            after.get(one, _NONE) != before.get(one, _NONE) for one in step.armed
        )
        return None if stop.hits or step.is_at_guard else stop

    async def ended(self) -> Stopped | None:
        """Return the stop of the step, if it ended where the program stopped; else None.

        LLDB has given up the step then, and would not go on with it.
        """
        step = self._step
        left = await self._plans(step.thread) if step is not None else None
        if step is None or left is None:
            return None
        if left > step.beneath:
            if not step.is_at_guard or not await self._is_at_own(step.thread):
                return None
            # LLDB 20.1 stops in an inlined function where it should go on, and would not find back.
            self._interrupted = step.thread
        return Stopped(Reason.STEP, raw_reason="step", thread=step.thread)

    async def _is_at_own(self, thread: int) -> bool:
        frames = (await self._inside.stack(thread, levels=1)).frames
        return bool(frames) and guards.is_own(await self._inside.raw("thread info", frames[0]))

    async def _told(self, stop: Stopped) -> None:
        del stop
        await self.over()

    async def over(self) -> None:
        """Disable the guards of the present step."""
        step, self._step = self._step, None
        if step is None:
            return
        self._inside.checks.remove(self._told)
        if step.armed:
            numbers = " ".join(map(str, step.armed))
            await self._inside.raw(f"breakpoint disable {numbers}", None)

    async def _plans(self, thread: int) -> int | None:
        return guards.plans(await self._inside.raw(f"thread plan list --thread-id {thread}", None))

    async def _counts(self) -> Mapping[int, guards.Count]:
        counts = dict(guards.counts(await self._inside.raw("breakpoint list", None)))
        for number, owner in self._entries.owners.items():
            # One location of the owner is disabled; the hits there are counted by ours.
            own, other = counts.get(owner, _NONE), counts.get(number, _NONE)
            counts[owner] = guards.Count(own.hits + other.hits, own.ignored + other.ignored)
        return counts

    # -- into a function's body ----------------------------------------------------------------

    async def enter(self, stop: Stopped) -> Stopped | None:
        """Return a stop once its function's arguments are in place; None while they are not.

        The stop is withheld while the thread runs the rest of the prologue.
        """
        before, self._entering = self._entering, None
        if before is not None:
            is_done = stop.reason is Reason.STEP and stop.thread == before.thread
            return before if is_done else stop
        if stop.thread is None or stop.reason not in _ENTERING or self._is_by_address(stop):
            return stop
        # As many frames as a report shows: it need not request them again.
        frames = (await self._inside.stack(stop.thread)).frames
        count = await self._entries.left(frames[0]) if frames else 0
        if not count:
            return stop
        self._entering = stop
        await self.begin(Resume.NEXT, stop.thread, by_instruction=True)
        self._by_instruction = False
        await self._inside.raw(f"thread step-inst-over --count {count}", frames[0])
        return None

    def _is_by_address(self, stop: Stopped) -> bool:
        """Return whether the user requested a stop at this very instruction."""
        if stop.reason is Reason.STEP:
            return self._by_instruction
        return any(one.number in stop.hits and _at(one).kind is Kind.ADDRESS for one in self._known)


def _places(one: Known) -> tuple[str, ...]:
    return (guards.place(one.wanted), *one.places)


def _shared(known: Sequence[Known]) -> Mapping[int, frozenset[int]]:
    """Return, by number, the breakpoints that are, or may be, at the location of another one."""
    if any(one.file is None for one in known) and len(known) > 1:
        # CodeLLDB does not report the location of a function.
        return dict.fromkeys((one.number for one in known), frozenset(one.number for one in known))
    found: dict[tuple[str | None, int | None], set[int]] = {}
    for one in known:
        found.setdefault((one.file, one.line), set()).add(one.number)
    return {
        number: frozenset(numbers)
        for numbers in found.values()
        if len(numbers) > 1
        for number in numbers
    }


async def _nothing(stop: Stopped) -> None:
    """Do nothing: while listed as a check, it makes every stop go through the stop filter."""
    del stop


def _at(one: Known) -> Spec:
    return one.wanted.at or one.wanted.spec
