"""Defines the commands for breakpoints, watchpoints and exceptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import UNSET

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.breakpoints import Breakpoint, BreakpointKind, BreakpointSpec, WatchAccess
from debugger.model.command_registry import Argument, Option, register_command
from debugger.model.debugger_words import one_line
from debugger.model.events import State
from debugger.model.hit_filter import EVERY_HIT, STOP_REFUSALS, HitFilter, refuse_options
from debugger.model.program import CatchFilter
from debugger.questions.group.group_options import NO_CHOICE, GroupChoice, GroupOptions

if TYPE_CHECKING:
    from debugger.model import answers
    from debugger.questions.runner.command_call import CommandCall
    from debugger.session.session import Session

GROUP = "Breakpoints"
_REFERENCE = "stops when it is set to another one: what is put into this one is not watched"
LIVE_HITS = refuse_options(
    STOP_REFUSALS,
    help={
        "nth": "stop at the Kth hit only",
        "first": "disable it after N stops; also --limit",
    },
)
_WHICH = "from breakpoint list, or the LOC of a breakpoint"
NOUNS = {BreakpointKind.WATCHPOINT: "watchpoint", BreakpointKind.EXCEPTION: "catchpoint"}


@register_command("breakpoint add", aliases=("break", "b"), group=GROUP)
async def add(
    call: CommandCall,
    place: Annotated[
        str | None, Argument("LOC", "FILE:LINE, LINE of the current file, FUNCTION, or *0xADDR")
    ] = None,
    *,
    function: Annotated[
        str | None, Option("--function", "-f", help="stop in a function", metavar="NAME")
    ] = None,
    hits: Annotated[HitFilter, LIVE_HITS] = EVERY_HIT,
    hit_count: Annotated[
        int | None, Option("--hit-count", help="stop from the Nth hit on", metavar="N")
    ] = None,
    log: Annotated[
        str | None,
        Option("--log", help="print this and continue; {expr} is evaluated", metavar="TEXT"),
    ] = None,
    temporary: Annotated[bool, Option("--temporary", help="remove it at its first stop")] = False,
    choice: GroupOptions = NO_CHOICE,
) -> answers.Answer:
    """Set a breakpoint; one that does not bind is kept, with the reason."""
    return await add_filtered(
        call,
        place,
        hits,
        function=function,
        hit_count=hit_count,
        log=log,
        temporary=temporary,
        command="break" if log is None else "log",
        choice=choice,
    )


async def add_filtered(
    call: CommandCall,
    place: str | None,
    hits: HitFilter,
    *,
    command: str,
    function: str | None = None,
    hit_count: int | None = None,
    log: str | None = None,
    temporary: bool = False,
    choice: GroupChoice = NO_CHOICE,
) -> answers.Answer:
    """Set a breakpoint or logpoint with a filter of its hits."""
    from debugger.questions.group.group_choice import choose_members
    from debugger.questions.runner.command_call import spec_in_session
    from debugger.questions.runner.filtered_breakpoint import filter_in_session
    from debugger.session import inspection, process_tree, views

    chosen = None if choice == NO_CHOICE else await choose_members(call, choice)
    session = chosen.members[0].session if chosen is not None else call.current_session()
    session = process_tree.find_debugged(session)
    if (place is None) == (function is None):
        raise DebuggerError(
            ErrorCode.USAGE, "where? Give a LOC or --function", hint="debugger break FILE:LINE"
        )
    if hit_count is not None and hit_count < 1:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--hit-count counts from 1, not {hit_count}",
            hint="debugger break --help",
        )
    for text in (log, function):
        if text is not None:
            one_line(text)
    spec = (
        spec_in_session(call, session, place)
        if place is not None
        else BreakpointSpec(function=function)
    )
    thread = hits.thread
    if thread is not None and session.state is State.STOPPED:
        await session.run_job(lambda: inspection.known_thread(session, thread))
    spec = msgspec.structs.replace(spec, hit_count=hit_count, log=log, temporary=temporary)
    spec = filter_in_session(call, session, spec, hits, command=command)
    is_known = session.breakpoints.find_same(spec) is not None
    only = None
    if chosen is not None and chosen.is_subset:
        only = [one.session for one in chosen.members]
    added = views.breakpoint_view(await process_tree.add_breakpoint(session, spec, only=only))
    notes = ["it was set already"] if is_known else []
    notes += [*(added.notes or ()), *_unbound_events(session, added.id)]
    return msgspec.structs.replace(added, notes=tuple(notes)) if notes else added


def _unbound_events(session: Session, number: int) -> list[str]:
    """Say which events of a breakpoint's filter have no location."""
    return [
        f"--{one.event_of[1]} did not bind: {one.bound.why or 'no code there'}"
        for one in session.breakpoints.events_of(number)
        if one.event_of is not None and one.bound is not None and not one.bound.verified
    ]


@register_command("breakpoint list", group=GROUP, reads_only=True)
async def list_breakpoints(call: CommandCall) -> answers.Answer:
    """List the breakpoints: location, state, hits."""
    from debugger.model import answers
    from debugger.session import process_tree, views

    session = call.current_session()
    watching = session.binding.watching
    shown: list[answers.BreakpointView] = []
    for one in session.breakpoints.user_breakpoints():
        view, hits = (
            views.breakpoint_view(one, watching.last_value(one.id)),
            process_tree.count_hits(session, one.id),
        )
        below = view.hits_below if hits == one.hits else UNSET
        skipped = session.hit_rules.count_skipped(one.id)
        if skipped:
            noun = "hit" if skipped == 1 else "hits"
            notes = (*(view.notes or ()), f"{skipped:,} {noun} skipped")
            view = msgspec.structs.replace(view, notes=notes)
        view = _note_members(call, session, view)
        shown.append(msgspec.structs.replace(view, hits=hits, hits_below=below))
    return answers.BreakpointList(breakpoints=tuple(shown))


def _note_members(
    call: CommandCall, session: Session, view: answers.BreakpointView
) -> answers.BreakpointView:
    """Say in which members of a group a breakpoint is, where others do without it."""
    from debugger.model.group_labels import format_members
    from debugger.session import views
    from debugger.session.group import drop_launcher

    group = call.sessions.groups.group_of(session)
    if group is None:
        return view
    members = [one for one in drop_launcher(group.known_members()) if one.session.is_live]
    enabled = [one for one in members if one.session.breakpoints.is_enabled(view.id)]
    if not enabled or len(enabled) == len(members):
        return view
    there = views.breakpoint_view(enabled[0].session.breakpoints.get(view.id))
    note = f"in {format_members(one.label for one in enabled)} only"
    return msgspec.structs.replace(there, notes=(*(view.notes or ()), note))


@register_command("breakpoint remove", group=GROUP)
async def remove_breakpoints(
    call: CommandCall,
    ids: Annotated[tuple[int | str, ...], Argument("ID", _WHICH)] = (),
    *,
    every: Annotated[bool, Option("--all", help="all, except watchpoints and catchpoints")] = False,
) -> answers.Answer:
    """Remove breakpoints."""
    from debugger.model import answers
    from debugger.session import process_tree

    session = call.current_session()
    if every == bool(ids):
        raise DebuggerError(
            ErrorCode.USAGE, "which? Give IDs or --all", hint="debugger breakpoint list"
        )
    if not every:
        found = {one.id: one for typed in ids for one in _find_breakpoints(call, session, typed)}
        chosen, others = [*found.values()], []
    else:
        listed = session.breakpoints.user_breakpoints()
        chosen = [one for one in listed if one.spec.kind not in NOUNS]
        others = [one for one in listed if one.spec.kind in NOUNS]
    for one in chosen:
        await process_tree.drop_breakpoint(session, one)
    nouns = {NOUNS.get(one.spec.kind, "breakpoint") for one in chosen}
    return answers.Removed(
        removed=tuple(one.id for one in chosen),
        noun=nouns.pop() if len(nouns) == 1 else "breakpoint",
        kept=tuple(f"{NOUNS[one.spec.kind]} {one.id}" for one in others) or UNSET,
    )


def _find_breakpoints(call: CommandCall, session: Session, typed: int | str) -> list[Breakpoint]:
    """Return the breakpoint of a number, or those at a location.

    Raises:
        DebuggerError: NOT_FOUND, naming the existing ones; USAGE for a text that is no location.
    """
    from debugger.questions.runner.command_call import spec_in_session

    text = str(typed).removeprefix("#")
    if text.isdecimal() and text.isascii():
        return [session.breakpoints.get(int(text))]
    found = session.breakpoints.at_location(spec_in_session(call, session, text))
    if found:
        return found
    known = ", ".join(str(one.id) for one in session.breakpoints.user_breakpoints()) or "none"
    raise DebuggerError(
        ErrorCode.NOT_FOUND,
        f"no breakpoint at {text}; there are: {known}",
        hint="debugger breakpoint list",
    )


def _find_one(call: CommandCall, session: Session, typed: int | str) -> Breakpoint:
    """Return the only breakpoint of a number or at a location.

    Raises:
        DebuggerError: NOT_FOUND for none, USAGE for several.
    """
    first, *others = _find_breakpoints(call, session, typed)
    if not others:
        return first
    every = ", ".join(str(one.id) for one in (first, *others))
    raise DebuggerError(
        ErrorCode.USAGE, f"several breakpoints at {typed}: {every}", hint="debugger breakpoint list"
    )


@register_command("breakpoint enable", group=GROUP)
async def enable(
    call: CommandCall, number: Annotated[int | str, Argument("ID", _WHICH)]
) -> answers.Answer:
    """Enable a breakpoint."""
    from debugger.session import inspection, process_tree, views

    session = call.current_session()
    known = _find_one(call, session, number)

    async def job() -> answers.Answer:
        frame = await inspection.frame_of(session) if session.state is State.STOPPED else None
        session.hit_rules.reset(known.id)
        changed = await session.binding.enable(known.id, on=True, frame=frame)
        return views.breakpoint_view(changed)

    answer = await session.run_job(job)
    await process_tree.switch_elsewhere(session, known.id, on=True)
    return answer


@register_command("breakpoint disable", group=GROUP)
async def disable(
    call: CommandCall, number: Annotated[int | str, Argument("ID", _WHICH)]
) -> answers.Answer:
    """Disable a breakpoint without removing it."""
    from debugger.session import process_tree, views

    session = call.current_session()
    known = _find_one(call, session, number)
    session.hit_rules.reset(known.id)
    changed = await session.run_job(lambda: session.binding.enable(known.id, on=False))
    await process_tree.switch_elsewhere(session, known.id, on=False)
    return views.breakpoint_view(changed)


@register_command("breakpoint change", group=GROUP)
async def change(
    call: CommandCall,
    number: Annotated[int, Argument("ID", "from breakpoint list")],
    *,
    condition: Annotated[
        str | None,
        Option("--condition", "-c", help="stop only if this is true; '' at each hit", metavar="X"),
    ] = None,
    hit_count: Annotated[
        int | None, Option("--hit-count", help="stop from the Nth hit on; 0 from now", metavar="N")
    ] = None,
    log: Annotated[
        str | None,
        Option("--log", help="print this and continue; '' stops again", metavar="TEXT"),
    ] = None,
) -> answers.Answer:
    """Change a breakpoint's condition, hit count or message; its number, place and hits stay.

    What is not given stays as it is. Hits are counted from now on.
    """
    from debugger.session import process_tree, views

    session = call.current_session()
    known = session.breakpoints.get(number)
    given = {"condition": condition, "log": log, "hit_count": hit_count}
    changes = {name: value or None for name, value in given.items() if value is not None}
    if not changes:
        raise DebuggerError(
            ErrorCode.USAGE,
            "what? Give --condition, --hit-count or --log",
            hint=f"debugger breakpoint change {number} --condition 'n > 3'",
        )
    if hit_count is not None and hit_count < 0:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--hit-count counts from 1, not {hit_count}",
            hint="debugger breakpoint change --help",
        )
    if known.spec.kind in NOUNS:
        noun = NOUNS[known.spec.kind]
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"a {noun} cannot be changed",
            hint=f"debugger breakpoint remove {number}, and set it again",
        )
    for text in filter(None, (condition, log)):
        one_line(text)
    session.hit_rules.reset(number)
    changed = await process_tree.change_breakpoint(
        session, number, lambda spec: msgspec.structs.replace(spec, **changes)
    )
    return views.breakpoint_view(changed)


# Of our own words the one that a user most likely means, before an adapter's filters.
@register_command("watch", group=GROUP, dashes_are_words=True)
async def watch(
    call: CommandCall,
    expression: Annotated[
        str, Argument("EXPR", "a variable, a field, an element, in the current frame", words=True)
    ],
    *,
    read: Annotated[
        bool, Option("--read", help="stop when it is read; on x86 some writes stop too")
    ] = False,
    access: Annotated[bool, Option("--access", help="stop when it is read or written")] = False,
    hits: Annotated[HitFilter, LIVE_HITS] = EVERY_HIT,
) -> answers.Answer:
    """Stop when a value changes; the stop shows it before and after, and the line that wrote it."""
    from debugger.questions.runner.filtered_breakpoint import filter_in_session
    from debugger.session import inspection

    session = call.current_session()
    if read and access:
        raise DebuggerError(
            ErrorCode.USAGE, "--access is --read and writes: give one", hint="debugger watch --help"
        )
    session.require_state(State.STOPPED, to="watch")
    one_line(expression)
    how = WatchAccess.READ if read else WatchAccess.ANY if access else WatchAccess.WRITE
    spec = BreakpointSpec(watch=expression, access=how)
    spec = filter_in_session(call, session, spec, hits, command="watch")

    async def job() -> answers.Answer:
        frame = await inspection.frame_of(session)
        watching = session.binding.watching
        before = [one.id for one in watching.watchpoints()]
        added = await watching.add(spec, session.backend, frame)
        shown = breakpoint_view(session, added)
        remaining = {one.id for one in watching.watchpoints()}
        replaced = [str(number) for number in before if number not in remaining]
        notes = list(shown.notes or ())
        if replaced:
            those = ", ".join(replaced)
            notes.append(f"it takes the place of watchpoint {those}, of the same expression")
        if isinstance(shown.value, str) and shown.value.startswith(("map[", "chan ")):
            notes.append(_REFERENCE)
        return msgspec.structs.replace(shown, notes=tuple(notes)) if notes else shown

    return await session.run_job(job)


def breakpoint_view(session: Session, one: Breakpoint) -> answers.BreakpointView:
    """Show a breakpoint of any kind, a watchpoint with the value seen last."""
    from debugger.session import views

    return views.breakpoint_view(one, session.binding.watching.last_value(one.id))


def list_of_kind(session: Session, kind: BreakpointKind) -> answers.BreakpointList:
    """Show the breakpoints of one kind."""
    from debugger.model import answers

    listed = [one for one in session.breakpoints.user_breakpoints() if one.spec.kind is kind]
    return answers.BreakpointList(
        breakpoints=tuple(breakpoint_view(session, one) for one in listed)
    )


async def remove_of_kind(
    session: Session, numbers: tuple[int, ...], kind: BreakpointKind, *, every: bool, name: str
) -> answers.Removed:
    """Remove breakpoints of one kind.

    Raises:
        DebuggerError: USAGE without numbers, NOT_FOUND for one of another kind.
    """
    from debugger.model import answers
    from debugger.session import process_tree

    if every == bool(numbers):
        raise DebuggerError(
            ErrorCode.USAGE, "which? Give IDs or --all", hint=f"debugger {name} list"
        )
    known = [one for one in session.breakpoints.user_breakpoints() if one.spec.kind is kind]
    chosen = known if every else [_one_of(session, number, kind, name) for number in numbers]
    for one in chosen:
        await process_tree.drop_breakpoint(session, one)
    return answers.Removed(removed=tuple(one.id for one in chosen), noun=NOUNS[kind])


def _one_of(session: Session, number: int, kind: BreakpointKind, name: str) -> Breakpoint:
    every = {one.id: one for one in session.breakpoints.user_breakpoints()}
    found = every.get(number)
    if found is None:
        ids = ", ".join(str(one.id) for one in every.values() if one.spec.kind is kind)
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"no {NOUNS[kind]} {number}; there are: {ids or 'none'}",
            hint=f"debugger {name} list",
        )
    if found.spec.kind is not kind:
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"{number} is a breakpoint of another kind",
            hint=f"debugger breakpoint remove {number}",
        )
    return found


@register_command("watch list", group=GROUP, reads_only=True)
async def list_watchpoints(call: CommandCall) -> answers.Answer:
    """List the watchpoints and the values seen last."""
    return list_of_kind(call.current_session(), BreakpointKind.WATCHPOINT)


@register_command("watch remove", group=GROUP)
async def remove_watchpoints(
    call: CommandCall,
    ids: Annotated[tuple[int, ...], Argument("ID", "from watch list")] = (),
    *,
    every: Annotated[bool, Option("--all", help="all of them")] = False,
) -> answers.Answer:
    """Remove watchpoints."""
    return await remove_of_kind(
        call.current_session(), ids, BreakpointKind.WATCHPOINT, every=every, name="watch"
    )


_WORDS = ("throw", "raised", "panic", "uncaught")


@register_command("catch", group=GROUP)
async def catch(
    call: CommandCall,
    what: Annotated[
        str, Argument("WHAT", "throw, catch, panic, raised, uncaught, or a filter of the adapter's")
    ],
    kind: Annotated[str | None, Argument("TYPE", "only exceptions of this type")] = None,
) -> answers.Answer:
    """Stop at a thrown exception; the stop names its type, message and causes."""
    from debugger.backends.abilities import ExceptionAbility
    from debugger.model.location import near_names
    from debugger.session import process_tree, views

    session = call.current_session()
    session.require_live("catch exceptions")
    for text in (what, kind):
        if text is not None:
            one_line(text)
    known = session.backend.find_ability(ExceptionAbility).catch_filters
    found = known.get(what)
    if found is None:
        near = near_names(what, known)
        suggestion = f"did you mean {near[0]}? " if near else ""
        raise DebuggerError(
            ErrorCode.NOT_FOUND,
            f"{session.adapter} has no {what!r} to catch; there are: {', '.join(known)}",
            hint=f"{suggestion}debugger catch {near[0] if near else _usual_filters(known)}",
        )
    if kind is not None and not found.takes_type:
        raise DebuggerError(
            ErrorCode.NOT_SUPPORTED,
            f"{session.adapter} cannot catch {what} by type",
            hint=f"debugger catch {what}",
        )
    spec = BreakpointSpec(catch=what, type=kind)
    return views.breakpoint_view(await process_tree.add_breakpoint(session, spec))


def _usual_filters(known: Mapping[str, CatchFilter]) -> str:
    return next(word for word in (*_WORDS, *known) if word in known)


@register_command("catch list", group=GROUP, reads_only=True)
async def list_catchpoints(call: CommandCall) -> answers.Answer:
    """List the catchpoints."""
    return list_of_kind(call.current_session(), BreakpointKind.EXCEPTION)


@register_command("catch remove", group=GROUP)
async def remove_catchpoints(
    call: CommandCall,
    ids: Annotated[tuple[int, ...], Argument("ID", "from catch list")] = (),
    *,
    every: Annotated[bool, Option("--all", help="all of them")] = False,
) -> answers.Answer:
    """Remove catchpoints."""
    return await remove_of_kind(
        call.current_session(), ids, BreakpointKind.EXCEPTION, every=every, name="catch"
    )
