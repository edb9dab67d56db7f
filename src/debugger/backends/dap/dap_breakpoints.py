"""Sends lists of breakpoints to an adapter, and converts the answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

import msgspec

from debugger.backends.base import Backend, ConditionError
from debugger.backends.dap import dap_convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.adapter_profile import AdapterProfile
from debugger.backends.dap.conversation import AdapterConversation
from debugger.backends.dap.event_dispatcher import mark_log_message
from debugger.errors import DebuggerError
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointKind, BreakpointSpec
from debugger.model.program import EvaluationPurpose, Stopped

_Location = TypeVar("_Location")


async def send_line_breakpoints(
    talk: AdapterConversation,
    profile: AdapterProfile,
    file: str,
    wanted: Sequence[Breakpoint],
    shared: Collection[int] = (),
) -> Sequence[dap.DapBreakpoint]:
    """Replace the breakpoints of a source file; the answers come in the same order.

    `shared` are the lines at which several of our breakpoints share one of the adapter's.
    """
    # In lldb-dap 19 one that was a logpoint never stops again, and in CodeLLDB 1.11 one keeps its
    # condition: where such has gone, the breakpoint is taken away first. So is one that several
    # shared, whose hits an adapter has counted for all of them.
    options = _pass_options(wanted, _requested_line) | {(line, "shared") for line in shared}
    stale = {line for line, _ in talk.sent.get(file, frozenset()) - options}
    remaining = [one for one in wanted if _requested_line(one) not in stale]
    if len(remaining) < len(wanted):
        await _request_line_breakpoints(talk, profile, file, remaining)
    talk.sent[file] = options
    return await _request_line_breakpoints(talk, profile, file, wanted)


def _requested_line(wanted: Breakpoint) -> int:
    return (wanted.at or wanted.spec).line or 1


async def _request_line_breakpoints(
    talk: AdapterConversation, profile: AdapterProfile, file: str, wanted: Sequence[Breakpoint]
) -> Sequence[dap.DapBreakpoint]:
    arguments = ask.SetBreakpointsArguments(
        source=ask.SourceReferenceArgument(path=file),
        breakpoints=tuple(
            ask.SourceBreakpointArgument(
                line=_requested_line(one),
                condition=profile.condition(one),
                hit_condition=_hit_condition(profile, one.spec),
                log_message=(
                    mark_log_message(one.id, profile.log(one.spec.log)) if one.spec.log else None
                ),
            )
            for one in wanted
        ),
    )
    body: dap.BreakpointsBody = await talk.send_request(
        "setBreakpoints", arguments, dap.BreakpointsBody
    )
    return body.breakpoints


async def send_function_breakpoints(
    talk: AdapterConversation, profile: AdapterProfile, wanted: Sequence[Breakpoint]
) -> Sequence[dap.DapBreakpoint]:
    """Replace the function breakpoints; the answers come in the same order."""
    if not wanted and not talk.client.supports_request("setFunctionBreakpoints"):
        return ()
    options = _pass_options(wanted, lambda one: (one.at or one.spec).function)
    stale = {name for name, _ in talk.sent_functions - options}
    talk.sent_functions = options
    remaining = [one for one in wanted if (one.at or one.spec).function not in stale]
    if len(remaining) < len(wanted):
        await _request_ordered_functions(talk, profile, remaining)
    return await _request_ordered_functions(talk, profile, wanted)


def _pass_options(
    wanted: Sequence[Breakpoint], location: Callable[[Breakpoint], _Location]
) -> frozenset[tuple[_Location, str]]:
    """Return the locations of the breakpoints that have options, with each option's name."""
    return frozenset(
        (location(one), name)
        for one in wanted
        for name in ("log", "condition", "hit_count")
        if getattr(one.spec, name)
    )


async def _request_ordered_functions(
    talk: AdapterConversation, profile: AdapterProfile, wanted: Sequence[Breakpoint]
) -> Sequence[dap.DapBreakpoint]:
    if profile.function_answers_are_ordered or not wanted:
        return await _request_function_breakpoints(talk, profile, wanted)
    # The answers come in the order of a hash table, without names; but a breakpoint keeps its
    # number. So the list is sent growing by one, and the number that is new is the new one's.
    answers: list[dap.DapBreakpoint] = []
    for count in range(1, len(wanted) + 1):
        known_ids = {answer.id for answer in answers}
        answers_by_id = {
            one.id: one
            for one in await _request_function_breakpoints(talk, profile, wanted[:count])
        }
        answers = [answers_by_id.get(answer.id, answer) for answer in answers]
        answers += [one for number, one in answers_by_id.items() if number not in known_ids][:1]
    return answers


async def _request_function_breakpoints(
    talk: AdapterConversation, profile: AdapterProfile, wanted: Sequence[Breakpoint]
) -> Sequence[dap.DapBreakpoint]:
    sent = [
        ask.FunctionBreakpointArgument(
            name=_sent_function_name(talk, one),
            condition=profile.condition(one),
            hit_condition=_hit_condition(profile, one.spec),
            log_message=(
                mark_log_message(one.id, profile.log(one.spec.log))
                if one.spec.log and profile.functions_log
                else None
            ),
        )
        for one in wanted
    ]
    # Two that are alike (exceptions of two types) are one to delve, and refused.
    different = list(dict.fromkeys(sent)) if profile.function_answers_are_ordered else sent
    entry = ask.FunctionBreakpointArgument(profile.entry or "")
    has_entry = stops_at_entry(talk, profile) and entry not in different
    arguments = ask.SetFunctionBreakpointsArguments(
        (*different, entry) if has_entry else tuple(different)
    )
    body: dap.BreakpointsBody = await talk.send_request(
        "setFunctionBreakpoints", arguments, dap.BreakpointsBody
    )
    talk.events.is_entry_set = True
    if _choose_ambiguous_functions(talk, profile, different, body.breakpoints):
        return await _request_function_breakpoints(talk, profile, wanted)
    if has_entry:
        talk.events.entry_id = body.breakpoints[-1].id if body.breakpoints else None
    if different is sent or len(body.breakpoints) < len(different):
        return body.breakpoints[: len(sent)]
    answers_by_request = dict(zip(different, body.breakpoints, strict=False))
    return [answers_by_request[one] for one in sent]


def _sent_function_name(talk: AdapterConversation, one: Breakpoint) -> str:
    name = (one.at or one.spec).function or ""
    return talk.chosen_functions.get(name, name)


def _choose_ambiguous_functions(
    talk: AdapterConversation,
    profile: AdapterProfile,
    sent: Sequence[ask.FunctionBreakpointArgument],
    answers: Sequence[dap.DapBreakpoint],
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


async def to_bounds(
    backend: Backend,
    talk: AdapterConversation,
    profile: AdapterProfile,
    wanted: Sequence[Breakpoint],
    answers: Sequence[dap.DapBreakpoint],
) -> list[BoundBreakpoint]:
    """Convert the adapter's answers, with the reason for each breakpoint that did not bind."""
    results: list[BoundBreakpoint] = []
    thrown: dict[int, set[str | None]] = {}
    logs: dict[int, tuple[int, str]] = {}
    for one, answer in zip(wanted, answers, strict=False):
        bound = await _explain_bound(backend, profile, dap_convert.to_bound(answer, one), one)
        results.append(bound)
        if bound.backend_id is not None:
            talk.events.conditions.pop(bound.backend_id, None)
            talk.events.logs.pop(bound.backend_id, None)
        if bound.backend_id is not None and one.spec.catch is not None:
            thrown.setdefault(bound.backend_id, set()).add(one.spec.type)
        if bound.backend_id is not None and one.spec.log and not _adapter_logs(profile, one):
            logs[bound.backend_id] = (one.id, one.spec.log)
        if bound.backend_id is not None and one.spec.condition is not None:
            talk.events.conditions[bound.backend_id] = (one.id, one.spec.condition)
    talk.events.thrown |= thrown
    talk.events.logs |= logs
    missing = BoundBreakpoint(verified=False, why="the adapter did not answer for it")
    return results + [missing] * (len(wanted) - len(results))


async def _explain_bound(
    backend: Backend, profile: AdapterProfile, bound: BoundBreakpoint, wanted: Breakpoint
) -> BoundBreakpoint:
    taken = profile.taken(bound.why) if bound.why and not bound.verified else None
    if taken is not None:
        file, line = taken
        return msgspec.structs.replace(bound, file=file, line=line, is_taken=True)
    refusal = profile.refusal(bound.why) if bound.why else None
    if bound.verified or refusal:
        return msgspec.structs.replace(bound, why=refusal)
    explained = await backend.explain_unbound(wanted.at or wanted.spec)
    return msgspec.structs.replace(
        bound,
        why=explained.why,
        nearest_lines=explained.nearest_lines,
        near_names=explained.near_names,
    )


def stops_at_entry(talk: AdapterConversation, profile: AdapterProfile) -> bool:
    """Return whether a breakpoint of ours has yet to stop the program at its entry."""
    is_requested = talk.launched is not None and talk.launched.stop_on_entry
    return profile.entry is not None and is_requested and not talk.events.is_entered


def needs_entry_breakpoint(talk: AdapterConversation, profile: AdapterProfile) -> bool:
    """Return whether the entry breakpoint has yet to be set."""
    return stops_at_entry(talk, profile) and not talk.events.is_entry_set


def _adapter_logs(profile: AdapterProfile, wanted: Breakpoint) -> bool:
    """Return whether the adapter itself logs there; the protocol has that for lines only."""
    kind = (wanted.at or wanted.spec).kind
    return kind is BreakpointKind.LINE or (
        kind is BreakpointKind.FUNCTION and profile.functions_log
    )


def _hit_condition(profile: AdapterProfile, spec: BreakpointSpec) -> str | None:
    return profile.hit_condition(spec.hit_count) if spec.hit_count else None


async def find_failed_conditions(
    backend: Backend, stop: Stopped, conditions: Mapping[int, tuple[int, str]]
) -> dict[int, ConditionError]:
    """Return, by the adapter's number, why conditions of hit breakpoints cannot be evaluated.

    lldb-dap 19 stops where a condition cannot be evaluated, and reports the problem in an output
    event before or after the stop; evaluating the condition again is the only way to know.
    """
    hit_conditions = {hit: conditions[hit] for hit in stop.hits if hit in conditions}
    if not hit_conditions or stop.thread is None:
        return {}
    failures: dict[int, ConditionError] = {}
    try:
        frame = (await backend.read_stack(stop.thread, levels=1)).frames[0]
    except (DebuggerError, IndexError):
        return {}
    for hit, (number, condition) in hit_conditions.items():
        try:
            await backend.evaluate(condition, frame, EvaluationPurpose.PRINT)
        except DebuggerError as error:
            failures[hit] = ConditionError(number, f"{condition}: {error.message}")
    return failures
