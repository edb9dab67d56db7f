"""Sets exception breakpoints, and filters the stops at exceptions by type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from debugger.backends.dap import dap_convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.adapter_defaults import no_exception
from debugger.backends.dap.adapter_profile import AdapterAccess, AdapterProfile
from debugger.backends.dap.dap_client import DapClient
from debugger.model.breakpoints import BoundBreakpoint, Breakpoint, BreakpointSpec
from debugger.model.program import CatchFilter, ExceptionDetails, Stopped


class DapExceptions:
    """The setExceptionBreakpoints request, by words that mean the same on every adapter.

    The filters that a profile always sets (`exception_filters`) are sent along. An exception's type
    is checked here, at the stop: few adapters can, each in a way of its own.
    """

    def __init__(self, inside: AdapterAccess, profile: AdapterProfile, client: DapClient) -> None:
        self._inside = inside
        self._profile = profile
        self._client = client
        self._wanted: tuple[Breakpoint, ...] = ()
        self._judges_itself = False  # the adapter, of the types

    @property
    def catch_filters(self) -> Mapping[str, CatchFilter]:
        """The exceptions that can be caught: our words of `catch`, and the adapter's filters."""
        offered = self._client.capabilities.exception_breakpoint_filters or ()
        by_filter = {
            one.filter: CatchFilter(one.filter, one.label or one.filter, takes_type=True)
            for one in offered
        }
        ours = {
            word: by_filter[name]
            for word, name in self._profile.catches.items()
            if name in by_filter
        }
        has_types = self._profile.exception is not no_exception
        functions = {
            word: CatchFilter(name, f"calls of {name}", takes_type=has_types)
            for word, name in self._profile.catch_functions.items()
        }
        return {**by_filter, **functions, **ours}

    def locate_word(self, spec: BreakpointSpec) -> BreakpointSpec | BoundBreakpoint:
        """Resolve a word for exceptions to a filter, or to a function to stop in."""
        word = spec.catch or ""
        function = self._profile.catch_functions.get(word)
        if function is not None:
            return BreakpointSpec(function=function)
        known = self.catch_filters.get(word)
        if known is None:
            return BoundBreakpoint(verified=False, why=f"{self._profile.name} has no filter {word}")
        return BreakpointSpec(catch=known.name, type=spec.type)

    async def set_catches(self, wanted: Sequence[Breakpoint]) -> list[BoundBreakpoint]:
        """Replace the exception breakpoints (DAP: SetExceptionBreakpointsRequest)."""
        self._wanted = tuple(wanted)
        answers = await self.send_filters()
        return [
            BoundBreakpoint(verified=one.verified, backend_id=one.id, why=one.message)
            for one in answers[: len(wanted)]
        ]

    async def send_filters(self) -> list[dap.DapBreakpoint]:
        """Send the requested and the permanent filters; return answers for the requested ones."""
        named = [(one.at or one.spec).catch or "" for one in self._wanted]
        offered = self._client.capabilities.exception_breakpoint_filters or ()
        always = [one.filter for one in offered if one.filter in self._profile.exception_filters]
        filters = tuple(dict.fromkeys([*named, *always]))
        if not filters and not offered:
            return []
        self._judges_itself = await self._profile.catching(self._inside, self._wanted)
        conditions = self._filter_conditions(always)
        self._judges_itself |= bool(conditions)
        plain = tuple(name for name in filters if name not in conditions)
        options = tuple(ask.ExceptionFilterOptions(*one) for one in conditions.items())
        body = await self._inside.send_request(
            "setExceptionBreakpoints",
            ask.SetExceptionBreakpointsArguments(plain, options or None),
            dap.BreakpointsBody,
        )
        answers_by_name = dict(zip([*plain, *conditions], body.breakpoints, strict=False))
        return [answers_by_name.get(name, dap.DapBreakpoint(verified=True)) for name in named]

    def _filter_conditions(self, always: Sequence[str]) -> dict[str, str]:
        """Write the types of each filter as a condition, for an adapter that can evaluate it."""
        write = self._profile.type_condition
        types: dict[str, list[str | None]] = {}
        for one in self._wanted:
            types.setdefault((one.at or one.spec).catch or "", []).append(one.spec.type)
        return {
            name: write([one for one in some if one is not None])
            for name, some in types.items()
            if write is not None and name not in always and None not in some
        }

    @property
    def needs_filter(self) -> bool:
        """Whether a stop at an exception has to be filtered by type before it is reported."""
        has_types = any(one.spec.type is not None for one in self._wanted)
        return has_types and not self._judges_itself

    async def is_requested(self, stop: Stopped) -> bool:
        """Return whether an exception is of a requested type, or no types were requested.

        An uncaught exception is always reported.
        """
        types = [one.spec.type for one in self._wanted if one.spec.type is not None]
        if self._judges_itself or not types or len(types) < len(self._wanted):
            return True
        return await self.is_of_type(stop, types)

    async def is_of_type(self, stop: Stopped, types: Sequence[str]) -> bool:
        """Return whether an exception is of one of these types, uncaught, or unknown."""
        details, mode = await self.exception_details(stop)
        if details is None or mode in {"unhandled", "userUnhandled"}:
            return True
        names = {details.type, details.type.rpartition("::")[2], details.type.rpartition(".")[2]}
        return any(one in names for one in types)

    async def exception_details(self, stop: Stopped) -> tuple[ExceptionDetails | None, str]:
        """Return the exception, and the mode in which it stopped (DAP: ExceptionBreakMode)."""
        own = await self._profile.exception(self._inside, stop)
        if own is not None:
            return own, "always"
        if not self._client.supports_request("exceptionInfo") or stop.thread is None:
            return None, ""
        body = await self._inside.send_request(
            "exceptionInfo", ask.ThreadArguments(stop.thread), dap.ExceptionInfoBody
        )
        return self._profile.details(dap_convert.to_exception(body)), body.break_mode or ""
