"""Sends breakpoints and exception filters to an adapter, and converts the answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

import msgspec

from debugger.backends.base import Backend, ConditionError
from debugger.backends.dap import dap_convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.conversation import AdapterConversation
from debugger.backends.dap.dap_client import DapClient
from debugger.backends.dap.dap_inspection import StopValues
from debugger.backends.dap.debug_adapter import AdapterConnection, DebugAdapter
from debugger.backends.dap.event_dispatcher import BreakpointOptions, EntryStop, mark_log_message
from debugger.backends.expressions.expression_walk import NATIVE, may_need_shown
from debugger.errors import DebuggerError
from debugger.model.breakpoints import (
    BoundBreakpoint,
    Breakpoint,
    BreakpointKind,
    BreakpointSpec,
    split_template,
)
from debugger.model.program import CatchFilter, ExceptionDetails, Stopped


class DapExceptions:
    """The setExceptionBreakpoints request, by words that mean the same on every adapter.

    The filters that a adapter always sets (`exception_filters`) are sent along. An exception's type
    is checked here, at the stop: few adapters can, each in a way of its own.
    """

    def __init__(
        self, connection: AdapterConnection, adapter: DebugAdapter, client: DapClient
    ) -> None:
        self._connection = connection
        self._adapter = adapter
        self._client = client
        # Kept for the stops: what the user requested decides there whether an exception counts.
        self._requested: tuple[Breakpoint, ...] = ()
        self._judges_itself = False  # the adapter, of the types

    @property
    def catch_filters(self) -> Mapping[str, CatchFilter]:
        """The exceptions that can be caught: our words of `catch`, and the adapter's filters."""
        offered = self._client.capabilities.exception_breakpoint_filters or ()
        by_filter = {
            one.filter: CatchFilter(one.filter, one.label or one.filter, takes_type=True)
            for one in offered
        }
        # Our own words come last, and win over a filter of the adapter's that has the same name.
        ours = {
            word: by_filter[name]
            for word, name in self._adapter.catch_filters.items()
            if name in by_filter
        }
        has_types = self._adapter.reads_exception_types
        functions = {
            word: CatchFilter(name, f"calls of {name}", takes_type=has_types)
            for word, name in self._adapter.catch_functions.items()
        }
        return {**by_filter, **functions, **ours}

    def locate_word(self, spec: BreakpointSpec) -> BreakpointSpec | BoundBreakpoint:
        """Resolve a word for exceptions to a filter, or to a function to stop in."""
        word = spec.catch or ""
        function = self._adapter.catch_functions.get(word)
        # Not a filter of the adapter's: a function of the runtime that every exception goes
        # through.
        if function is not None:
            return BreakpointSpec(function=function)
        known = self.catch_filters.get(word)
        if known is None:
            return BoundBreakpoint(verified=False, why=f"{self._adapter.name} has no filter {word}")
        return BreakpointSpec(catch=known.name, type=spec.type)

    async def set_catches(self, breakpoints: Sequence[Breakpoint]) -> list[BoundBreakpoint]:
        """Replace the exception breakpoints (DAP: SetExceptionBreakpointsRequest)."""
        self._requested = tuple(breakpoints)
        answers = await self.send_filters()
        return [
            BoundBreakpoint(verified=one.verified, backend_id=one.id, why=one.message)
            for one in answers[: len(breakpoints)]
        ]

    async def send_filters(self) -> list[dap.DapBreakpoint]:
        """Send the requested and the permanent filters; return answers for the requested ones."""
        named = [(one.at or one.spec).catch or "" for one in self._requested]
        offered = self._client.capabilities.exception_breakpoint_filters or ()
        # The filters that end a program are always on: without them a crash would be an exit.
        always = [one.filter for one in offered if one.filter in self._adapter.exception_filters]
        filters = tuple(dict.fromkeys([*named, *always]))
        if not filters and not offered:
            return []
        # In Python the types are chosen inside the program, in js-debug by a condition of the
        # filter: each stop that the adapter does not make costs no round trip.
        self._judges_itself = await self._adapter.set_exception_types(
            self._connection, self._requested
        )
        conditions = self._filter_conditions(always)
        self._judges_itself |= bool(conditions)
        plain = tuple(name for name in filters if name not in conditions)
        options = tuple(ask.ExceptionFilterOptions(*one) for one in conditions.items())
        body = await self._connection.send_request(
            "setExceptionBreakpoints",
            ask.SetExceptionBreakpointsArguments(plain, options or None),
            dap.BreakpointsBody,
        )
        # Adapters may answer without breakpoints, which the protocol permits: success is then
        # enough.
        answers_by_name = dict(zip([*plain, *conditions], body.breakpoints, strict=False))
        return [answers_by_name.get(name, dap.DapBreakpoint(verified=True)) for name in named]

    def _filter_conditions(self, always: Sequence[str]) -> dict[str, str]:
        """Write the types of each filter as a condition, for an adapter that can evaluate it."""
        if not self._adapter.filters_by_condition:
            return {}
        types: dict[str, list[str | None]] = {}
        for one in self._requested:
            types.setdefault((one.at or one.spec).catch or "", []).append(one.spec.type)
        return {
            name: self._adapter.format_type_condition([one for one in some if one is not None])
            for name, some in types.items()
            if name not in always and None not in some
        }

    @property
    def needs_filter(self) -> bool:
        """Whether a stop at an exception has to be filtered by type before it is reported."""
        has_types = any(one.spec.type is not None for one in self._requested)
        return has_types and not self._judges_itself

    async def is_requested(self, stop: Stopped) -> bool:
        """Return whether an exception is of a requested type, or no types were requested.

        An uncaught exception is always reported.
        """
        types = [one.spec.type for one in self._requested if one.spec.type is not None]
        # One breakpoint without a type means all exceptions.
        if self._judges_itself or not types or len(types) < len(self._requested):
            return True
        return await self.is_of_type(stop, types)

    async def is_of_type(self, stop: Stopped, types: Sequence[str]) -> bool:
        """Return whether an exception is of one of these types, uncaught, or unknown."""
        details, mode = await self.exception_details(stop)
        # Doubt is decided for the stop: an exception that ends the program is never dropped.
        if details is None or mode in {"unhandled", "userUnhandled"}:
            return True
        # The user may write a type with its namespace or module, or without.
        names = {details.type, details.type.rpartition("::")[2], details.type.rpartition(".")[2]}
        return any(one in names for one in types)

    async def exception_details(self, stop: Stopped) -> tuple[ExceptionDetails | None, str]:
        """Return the exception, and the mode in which it stopped (DAP: ExceptionBreakMode)."""
        own = await self._adapter.read_exception(self._connection, stop)
        if own is not None:
            return own, "always"
        if not self._client.supports_request("exceptionInfo") or stop.thread is None:
            return None, ""
        body = await self._connection.send_request(
            "exceptionInfo", ask.ThreadArguments(stop.thread), dap.ExceptionInfoBody
        )
        return self._adapter.adjust_exception(dap_convert.to_exception(body)), body.break_mode or ""


_Location = TypeVar("_Location")


async def send_line_breakpoints(
    talk: AdapterConversation,
    adapter: DebugAdapter,
    file: str,
    breakpoints: Sequence[Breakpoint],
    shared: Collection[int] = (),
) -> Sequence[dap.DapBreakpoint]:
    """Replace the breakpoints of a source file; the answers come in the same order.

    `shared` are the lines at which several of our breakpoints share one of the adapter's.
    """
    # In lldb-dap 19 one that was a logpoint never stops again, and in CodeLLDB 1.11 one keeps its
    # condition: where such has gone, the breakpoint is taken away first. So is one that several
    # shared, whose hits an adapter has counted for all of them.
    options = _pass_options(breakpoints, _requested_line) | {(line, "shared") for line in shared}
    # Compared by option and line: a breakpoint that only gained an option is changed in place.
    stale = {line for line, _ in talk.sent.get(file, frozenset()) - options}
    remaining = [one for one in breakpoints if _requested_line(one) not in stale]
    # Removed by a list without it; the list with it then makes a new one. The protocol's lists
    # replace each other as a whole (DAP: SetBreakpointsRequest).
    if len(remaining) < len(breakpoints):
        await _request_line_breakpoints(talk, adapter, file, remaining)
    # Kept for a detach, too: the files that have breakpoints are the keys.
    talk.sent[file] = options
    return await _request_line_breakpoints(talk, adapter, file, breakpoints)


def _requested_line(breakpoint_: Breakpoint) -> int:
    return (breakpoint_.at or breakpoint_.spec).line or 1


async def _request_line_breakpoints(
    talk: AdapterConversation, adapter: DebugAdapter, file: str, breakpoints: Sequence[Breakpoint]
) -> Sequence[dap.DapBreakpoint]:
    arguments = ask.SetBreakpointsArguments(
        source=ask.SourceReferenceArgument(path=file),
        breakpoints=tuple(
            ask.SourceBreakpointArgument(
                line=_requested_line(one),
                condition=adapter.format_condition(one),
                hit_condition=_hit_condition(adapter, one.spec),
                log_message=(
                    # The mark brings the number of the breakpoint back with the text: output events
                    # have none.
                    mark_log_message(one.id, adapter.format_log(one.spec.log))
                    if one.spec.log and _adapter_logs(adapter, one)
                    else None
                ),
            )
            for one in breakpoints
        ),
        lines=tuple(_requested_line(one) for one in breakpoints),
    )
    body: dap.BreakpointsBody = await talk.send_request(
        "setBreakpoints", arguments, dap.BreakpointsBody
    )
    return body.breakpoints


async def send_function_breakpoints(
    talk: AdapterConversation, adapter: DebugAdapter, breakpoints: Sequence[Breakpoint]
) -> Sequence[dap.DapBreakpoint]:
    """Replace the function breakpoints; the answers come in the same order."""
    if not breakpoints and not talk.client.supports_request("setFunctionBreakpoints"):
        return ()
    options = _pass_options(breakpoints, lambda one: (one.at or one.spec).function)
    stale = {name for name, _ in talk.replace_sent_functions(options) - options}
    remaining = [one for one in breakpoints if (one.at or one.spec).function not in stale]
    if len(remaining) < len(breakpoints):
        await _request_ordered_functions(talk, adapter, remaining)
    return await _request_ordered_functions(talk, adapter, breakpoints)


def _pass_options(
    breakpoints: Sequence[Breakpoint], location: Callable[[Breakpoint], _Location]
) -> frozenset[tuple[_Location, str]]:
    """Return the locations of the breakpoints that have options, with each option's name."""
    return frozenset(
        (location(one), name)
        for one in breakpoints
        for name in ("log", "condition", "hit_count")
        if getattr(one.spec, name)
    )


async def _request_ordered_functions(
    talk: AdapterConversation, adapter: DebugAdapter, breakpoints: Sequence[Breakpoint]
) -> Sequence[dap.DapBreakpoint]:
    if adapter.function_answers_are_ordered or not breakpoints:
        return await _request_function_breakpoints(talk, adapter, breakpoints)
    # The answers come in the order of a hash table, without names; but a breakpoint keeps its
    # number. So the list is sent growing by one, and the number that is new is the new one's.
    answers: list[dap.DapBreakpoint] = []
    # Quadratic in the requests, for lists of a few functions.
    for count in range(1, len(breakpoints) + 1):
        known_ids = {answer.id for answer in answers}
        answers_by_id = {
            one.id: one
            for one in await _request_function_breakpoints(talk, adapter, breakpoints[:count])
        }
        answers = [answers_by_id.get(answer.id, answer) for answer in answers]
        # In each turn one number at most can be new.
        answers += [one for number, one in answers_by_id.items() if number not in known_ids][:1]
    return answers


async def _request_function_breakpoints(
    talk: AdapterConversation, adapter: DebugAdapter, breakpoints: Sequence[Breakpoint]
) -> Sequence[dap.DapBreakpoint]:
    sent = [
        ask.FunctionBreakpointArgument(
            name=_sent_function_name(talk, one),
            condition=adapter.format_condition(one),
            hit_condition=_hit_condition(adapter, one.spec),
            log_message=(
                mark_log_message(one.id, adapter.format_log(one.spec.log))
                if one.spec.log and _adapter_logs(adapter, one)
                else None
            ),
        )
        for one in breakpoints
    ]
    # Two that are alike (exceptions of two types) are one to delve, and refused.
    different = list(dict.fromkeys(sent)) if adapter.function_answers_are_ordered else sent
    # The entry breakpoint goes along in the user's list, since each list replaces the one before.
    # It is left out once the program has stopped there.
    entry = ask.FunctionBreakpointArgument(adapter.entry_function or "")
    has_entry = stops_at_entry(talk, adapter) and entry not in different
    arguments = ask.SetFunctionBreakpointsArguments(
        (*different, entry) if has_entry else tuple(different)
    )
    body: dap.BreakpointsBody = await talk.send_request(
        "setFunctionBreakpoints", arguments, dap.BreakpointsBody
    )
    # Also where no entry was added: the user's own breakpoint is at that function.
    talk.events.note_entry_request()
    # Delve refuses a name that two functions have. The list is sent again with the chosen names; it
    # ends, since a chosen name is not ambiguous.
    if _choose_ambiguous_functions(talk, adapter, different, body.breakpoints):
        return await _request_function_breakpoints(talk, adapter, breakpoints)
    if has_entry:
        talk.events.note_entry_breakpoint(body.breakpoints[-1].id if body.breakpoints else None)
    if different is sent or len(body.breakpoints) < len(different):
        return body.breakpoints[: len(sent)]
    answers_by_request = dict(zip(different, body.breakpoints, strict=False))
    return [answers_by_request[one] for one in sent]


def _sent_function_name(talk: AdapterConversation, one: Breakpoint) -> str:
    name = (one.at or one.spec).function or ""
    return talk.chosen_functions.get(name, name)


def _choose_ambiguous_functions(
    talk: AdapterConversation,
    adapter: DebugAdapter,
    sent: Sequence[ask.FunctionBreakpointArgument],
    answers: Sequence[dap.DapBreakpoint],
) -> bool:
    """Store the functions that ambiguous names stand for; return whether there are any."""
    chosen = {
        one.name: name
        for one, answer in zip(sent, answers, strict=False)
        if not answer.verified
        and (name := adapter.choose_function(one.name, answer.message or "")) is not None
    }
    talk.chosen_functions.update(chosen)
    return bool(chosen)


async def to_bounds(
    backend: Backend,
    talk: AdapterConversation,
    adapter: DebugAdapter,
    breakpoints: Sequence[Breakpoint],
    answers: Sequence[dap.DapBreakpoint],
) -> list[BoundBreakpoint]:
    """Convert the adapter's answers, with the reason for each breakpoint that did not bind."""
    results: list[BoundBreakpoint] = []
    options: dict[int, BreakpointOptions] = {}
    for one, answer in zip(breakpoints, answers, strict=False):
        bound = await _explain_bound(backend, adapter, dap_convert.to_bound(answer, one), one)
        results.append(bound)
        if bound.backend_id is not None:
            before = options.get(bound.backend_id, BreakpointOptions())
            options[bound.backend_id] = _options_of(one, before, adapter)
    # The dispatcher decides by these whether a stop is doubtful, without a request.
    talk.events.replace_options(options)
    # An answer for each request: the session matches them by position.
    missing = BoundBreakpoint(verified=False, why="the adapter did not answer for it")
    return results + [missing] * (len(breakpoints) - len(results))


def _options_of(
    one: Breakpoint, before: BreakpointOptions, adapter: DebugAdapter
) -> BreakpointOptions:
    """Return the options of an adapter's breakpoint; `before` are those of others with its number.

    Several types at one function share a number: they are gathered, not replaced.
    """
    spec = one.spec
    has_log = bool(spec.log) and not _adapter_logs(adapter, one)
    return BreakpointOptions(
        condition=(one.id, spec.condition) if spec.condition is not None else None,
        log=(one.id, spec.log) if spec.log and has_log else before.log,
        thrown=before.thrown | ({spec.type} if spec.catch is not None else frozenset()),
    )


async def _explain_bound(
    backend: Backend, adapter: DebugAdapter, bound: BoundBreakpoint, breakpoint_: Breakpoint
) -> BoundBreakpoint:
    taken = adapter.parse_taken_location(bound.why) if bound.why and not bound.verified else None
    if taken is not None:
        file, line = taken
        return msgspec.structs.replace(bound, file=file, line=line, is_taken=True)
    refusal = adapter.shorten_refusal(bound.why) if bound.why else None
    # A reason that the adapter shortens to None is one that `explain` can say better.
    if bound.verified or refusal:
        return msgspec.structs.replace(bound, why=refusal)
    explained = await backend.explain_unbound(breakpoint_.at or breakpoint_.spec)
    return msgspec.structs.replace(
        bound,
        why=explained.why,
        nearest_lines=explained.nearest_lines,
        near_names=explained.near_names,
        definition=explained.definition,
    )


def stops_at_entry(talk: AdapterConversation, adapter: DebugAdapter) -> bool:
    """Return whether a breakpoint of ours has yet to stop the program at its entry."""
    is_requested = talk.launched is not None and talk.launched.stop_on_entry
    is_passed = talk.events.entry is EntryStop.PASSED
    return adapter.entry_function is not None and is_requested and not is_passed


def needs_entry_breakpoint(talk: AdapterConversation, adapter: DebugAdapter) -> bool:
    """Return whether the entry breakpoint has yet to be set."""
    return stops_at_entry(talk, adapter) and talk.events.entry is EntryStop.UNSET


def _adapter_logs(adapter: DebugAdapter, breakpoint_: Breakpoint) -> bool:
    """Return whether the adapter itself logs there; the protocol has that for lines only."""
    spec = breakpoint_.at or breakpoint_.spec
    if not NATIVE.isdisjoint(adapter.languages):
        expressions = [
            part for part, is_one in split_template(breakpoint_.spec.log or "") if is_one
        ]
        expressions += [breakpoint_.spec.condition] if breakpoint_.spec.condition else []
        if any(may_need_shown(one, spec.file) for one in expressions):
            return False
    return spec.kind is BreakpointKind.LINE or (
        spec.kind is BreakpointKind.FUNCTION and adapter.logs_at_functions
    )


def _hit_condition(adapter: DebugAdapter, spec: BreakpointSpec) -> str | None:
    return adapter.format_hit_count(spec.hit_count) if spec.hit_count else None


async def find_undue_conditions(
    values: StopValues, stacks: Backend, stop: Stopped, conditions: Mapping[int, tuple[int, str]]
) -> dict[int, ConditionError | None]:
    """Return the hits, by the adapter's number, that are not due by their condition.

    Each with why the condition cannot be evaluated, or None where it is false.

    lldb-dap 19 stops where a condition cannot be evaluated, and reports the problem in an output
    event before or after the stop; evaluating the condition again is the only way to know.
    """
    hit_conditions = {hit: conditions[hit] for hit in stop.hits if hit in conditions}
    if not hit_conditions or stop.thread is None:
        return {}
    undue: dict[int, ConditionError | None] = {}
    try:
        # One frame for all conditions: the stop is in the innermost one.
        frame = (await stacks.read_stack(stop.thread, levels=1)).frames[0]
    except (DebuggerError, IndexError):
        return {}
    for hit, (number, condition) in hit_conditions.items():
        try:
            if not await values.condition_holds(condition, frame):
                undue[hit] = None
        except DebuggerError as error:
            undue[hit] = ConditionError(number, f"{condition}: {error.message}")
    return undue
