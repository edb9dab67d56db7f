"""Sends lists of breakpoints to an adapter, and converts the answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

import msgspec

from debugger.backends.base import Backend, ConditionFailed
from debugger.backends.dap import convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.conversation import Conversation
from debugger.backends.dap.events import log_message
from debugger.backends.dap.profile import Profile
from debugger.core.breakpoints import Bound, Breakpoint, Kind, Spec
from debugger.core.model import Purpose, Stopped
from debugger.errors import DebuggerError

_Location = TypeVar("_Location")


async def send_lines(
    talk: Conversation,
    profile: Profile,
    file: str,
    wanted: Sequence[Breakpoint],
    shared: Collection[int] = (),
) -> Sequence[dap.Breakpoint]:
    """Replace the breakpoints of a source file; the answers come in the same order.

    `shared` are the lines at which several of our breakpoints share one of the adapter's.
    """
    # In lldb-dap 19 one that was a logpoint never stops again, and in CodeLLDB 1.11 one keeps its
    # condition: where such has gone, the breakpoint is taken away first. So is one that several
    # shared, whose hits an adapter has counted for all of them.
    more = _options(wanted, _line) | {(line, "shared") for line in shared}
    stale = {line for line, _ in talk.sent.get(file, frozenset()) - more}
    kept = [one for one in wanted if _line(one) not in stale]
    if len(kept) < len(wanted):
        await _send_lines(talk, profile, file, kept)
    talk.sent[file] = more
    return await _send_lines(talk, profile, file, wanted)


def _line(wanted: Breakpoint) -> int:
    return (wanted.at or wanted.spec).line or 1


async def _send_lines(
    talk: Conversation, profile: Profile, file: str, wanted: Sequence[Breakpoint]
) -> Sequence[dap.Breakpoint]:
    arguments = ask.SetBreakpoints(
        source=ask.SourceArgument(path=file),
        breakpoints=tuple(
            ask.SourceBreakpoint(
                line=_line(one),
                condition=profile.condition(one),
                hit_condition=_hits(profile, one.spec),
                log_message=(
                    log_message(one.id, profile.log(one.spec.log)) if one.spec.log else None
                ),
            )
            for one in wanted
        ),
    )
    body: dap.BreakpointsBody = await talk.request("setBreakpoints", arguments, dap.BreakpointsBody)
    return body.breakpoints


async def send_functions(
    talk: Conversation, profile: Profile, wanted: Sequence[Breakpoint]
) -> Sequence[dap.Breakpoint]:
    """Replace the function breakpoints; the answers come in the same order."""
    if not wanted and not talk.client.can("setFunctionBreakpoints"):
        return ()
    options = _options(wanted, lambda one: (one.at or one.spec).function)
    gone = {name for name, _ in talk.sent_functions - options}
    talk.sent_functions = options
    kept = [one for one in wanted if (one.at or one.spec).function not in gone]
    if len(kept) < len(wanted):
        await _send_ordered(talk, profile, kept)
    return await _send_ordered(talk, profile, wanted)


def _options(
    wanted: Sequence[Breakpoint], location: Callable[[Breakpoint], _Location]
) -> frozenset[tuple[_Location, str]]:
    """Return the locations of the breakpoints that have options, with each option's name."""
    return frozenset(
        (location(one), name)
        for one in wanted
        for name in ("log", "condition", "hit_count")
        if getattr(one.spec, name)
    )


async def _send_ordered(
    talk: Conversation, profile: Profile, wanted: Sequence[Breakpoint]
) -> Sequence[dap.Breakpoint]:
    if profile.function_answers_are_ordered or not wanted:
        return await _send_functions(talk, profile, wanted)
    # The answers come in the order of a hash table, without names; but a breakpoint keeps its
    # number. So the list is sent growing by one, and the number that is new is the new one's.
    answers: list[dap.Breakpoint] = []
    for count in range(1, len(wanted) + 1):
        seen = {answer.id for answer in answers}
        told = {one.id: one for one in await _send_functions(talk, profile, wanted[:count])}
        answers = [told.get(answer.id, answer) for answer in answers]
        answers += [one for number, one in told.items() if number not in seen][:1]
    return answers


async def _send_functions(
    talk: Conversation, profile: Profile, wanted: Sequence[Breakpoint]
) -> Sequence[dap.Breakpoint]:
    sent = [
        ask.FunctionBreakpoint(
            name=_function_name(talk, one),
            condition=profile.condition(one),
            hit_condition=_hits(profile, one.spec),
            log_message=(
                log_message(one.id, profile.log(one.spec.log))
                if one.spec.log and profile.functions_log
                else None
            ),
        )
        for one in wanted
    ]
    # Two that are alike (exceptions of two types) are one to delve, and refused.
    different = list(dict.fromkeys(sent)) if profile.function_answers_are_ordered else sent
    entry = ask.FunctionBreakpoint(profile.entry or "")
    has_entry = stops_at_entry(talk, profile) and entry not in different
    arguments = ask.SetFunctionBreakpoints((*different, entry) if has_entry else tuple(different))
    body: dap.BreakpointsBody = await talk.request(
        "setFunctionBreakpoints", arguments, dap.BreakpointsBody
    )
    talk.events.is_entry_set = True
    if _choose_functions(talk, profile, different, body.breakpoints):
        return await _send_functions(talk, profile, wanted)
    if has_entry:
        talk.events.entry_id = body.breakpoints[-1].id if body.breakpoints else None
    if different is sent or len(body.breakpoints) < len(different):
        return body.breakpoints[: len(sent)]
    told = dict(zip(different, body.breakpoints, strict=False))
    return [told[one] for one in sent]


def _function_name(talk: Conversation, one: Breakpoint) -> str:
    name = (one.at or one.spec).function or ""
    return talk.chosen_functions.get(name, name)


def _choose_functions(
    talk: Conversation,
    profile: Profile,
    sent: Sequence[ask.FunctionBreakpoint],
    answers: Sequence[dap.Breakpoint],
) -> bool:
    """Store the functions that ambiguous names stand for; return whether there are any."""
    chosen = {
        one.name: name
        for one, answer in zip(sent, answers, strict=False)
        if not answer.verified
        and (name := profile.choose_function(one.name, answer.message or "")) is not None
    }
    talk.chosen_functions |= chosen
    return bool(chosen)


async def bounds(
    backend: Backend,
    talk: Conversation,
    profile: Profile,
    wanted: Sequence[Breakpoint],
    answers: Sequence[dap.Breakpoint],
) -> list[Bound]:
    """Convert the adapter's answers, with the reason for each breakpoint that did not bind."""
    found: list[Bound] = []
    thrown: dict[int, set[str | None]] = {}
    logs: dict[int, tuple[int, str]] = {}
    for one, answer in zip(wanted, answers, strict=False):
        bound = await _explained(backend, profile, convert.bound(answer, one), one)
        found.append(bound)
        if bound.backend_id is not None:
            talk.events.conditions.pop(bound.backend_id, None)
            talk.events.logs.pop(bound.backend_id, None)
        if bound.backend_id is not None and one.spec.catch is not None:
            thrown.setdefault(bound.backend_id, set()).add(one.spec.type)
        if bound.backend_id is not None and one.spec.log and not _logs(profile, one):
            logs[bound.backend_id] = (one.id, one.spec.log)
        if bound.backend_id is not None and one.spec.condition is not None:
            talk.events.conditions[bound.backend_id] = (one.id, one.spec.condition)
    talk.events.thrown |= thrown
    talk.events.logs |= logs
    missing = Bound(verified=False, why="the adapter did not answer for it")
    return found + [missing] * (len(wanted) - len(found))


async def _explained(backend: Backend, profile: Profile, bound: Bound, wanted: Breakpoint) -> Bound:
    taken = profile.taken(bound.why) if bound.why and not bound.verified else None
    if taken is not None:
        file, line = taken
        return msgspec.structs.replace(bound, file=file, line=line, is_taken=True)
    said = profile.refusal(bound.why) if bound.why else None
    if bound.verified or said:
        return msgspec.structs.replace(bound, why=said)
    explained = await backend.explain(wanted.at or wanted.spec)
    return msgspec.structs.replace(
        bound,
        why=explained.why,
        nearest_lines=explained.nearest_lines,
        near_names=explained.near_names,
    )


def stops_at_entry(talk: Conversation, profile: Profile) -> bool:
    """Return whether a breakpoint of ours has yet to stop the program at its entry."""
    is_wanted = talk.launched is not None and talk.launched.stop_on_entry
    return profile.entry is not None and is_wanted and not talk.events.is_entered


def needs_entry(talk: Conversation, profile: Profile) -> bool:
    """Return whether the entry breakpoint has yet to be set."""
    return stops_at_entry(talk, profile) and not talk.events.is_entry_set


def _logs(profile: Profile, wanted: Breakpoint) -> bool:
    """Return whether the adapter itself logs there; the protocol has that for lines only."""
    kind = (wanted.at or wanted.spec).kind
    return kind is Kind.LINE or (kind is Kind.FUNCTION and profile.functions_log)


def _hits(profile: Profile, spec: Spec) -> str | None:
    return profile.hit_condition(spec.hit_count) if spec.hit_count else None


async def failed_conditions(
    backend: Backend, stop: Stopped, conditions: Mapping[int, tuple[int, str]]
) -> dict[int, ConditionFailed]:
    """Return, by the adapter's number, why conditions of hit breakpoints cannot be evaluated.

    lldb-dap 19 stops where a condition cannot be evaluated, and reports the problem in an output
    event before or after the stop; evaluating the condition again is the only way to know.
    """
    known = {hit: conditions[hit] for hit in stop.hits if hit in conditions}
    if not known or stop.thread is None:
        return {}
    failures: dict[int, ConditionFailed] = {}
    try:
        frame = (await backend.stack(stop.thread, levels=1)).frames[0]
    except (DebuggerError, IndexError):
        return {}
    for hit, (number, condition) in known.items():
        try:
            await backend.evaluate(condition, frame, Purpose.PRINT)
        except DebuggerError as error:
            failures[hit] = ConditionFailed(number, f"{condition}: {error.message}")
    return failures
