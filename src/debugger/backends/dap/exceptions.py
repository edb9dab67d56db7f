"""Sets exception breakpoints, and filters the stops at exceptions by type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from debugger.backends.dap import convert
from debugger.backends.dap import messages as dap
from debugger.backends.dap import requests as ask
from debugger.backends.dap.client import Client
from debugger.backends.dap.defaults import no_exception
from debugger.backends.dap.profile import Inside, Profile
from debugger.core.breakpoints import Bound, Breakpoint, Spec
from debugger.core.model import Catch, ExceptionDetails, Stopped


class Exceptions:
    """The setExceptionBreakpoints request, by words that mean the same on every adapter.

    The filters that a profile always sets (`exception_filters`) are sent along. An exception's type
    is checked here, at the stop: few adapters can, each in a way of its own.
    """

    def __init__(self, inside: Inside, profile: Profile, client: Client) -> None:
        self._inside = inside
        self._profile = profile
        self._client = client
        self._wanted: tuple[Breakpoint, ...] = ()
        self._judges_itself = False  # the adapter, of the types

    @property
    def catches(self) -> Mapping[str, Catch]:
        """The exceptions that can be caught: our words of `catch`, and the adapter's filters."""
        offered = self._client.capabilities.exception_breakpoint_filters or ()
        by_filter = {
            one.filter: Catch(one.filter, one.label or one.filter, takes_type=True)
            for one in offered
        }
        ours = {
            word: by_filter[name]
            for word, name in self._profile.catches.items()
            if name in by_filter
        }
        has_types = self._profile.exception is not no_exception
        functions = {
            word: Catch(name, f"calls of {name}", takes_type=has_types)
            for word, name in self._profile.catch_functions.items()
        }
        return {**by_filter, **functions, **ours}

    def place(self, spec: Spec) -> Spec | Bound:
        """Resolve a word for exceptions to a filter, or to a function to stop in."""
        word = spec.catch or ""
        function = self._profile.catch_functions.get(word)
        if function is not None:
            return Spec(function=function)
        known = self.catches.get(word)
        if known is None:
            return Bound(verified=False, why=f"{self._profile.name} has no filter {word}")
        return Spec(catch=known.name, type=spec.type)

    async def set_catches(self, wanted: Sequence[Breakpoint]) -> list[Bound]:
        """Replace the exception breakpoints (DAP: SetExceptionBreakpointsRequest)."""
        self._wanted = tuple(wanted)
        answers = await self.send()
        return [
            Bound(verified=one.verified, backend_id=one.id, why=one.message)
            for one in answers[: len(wanted)]
        ]

    async def send(self) -> list[dap.Breakpoint]:
        """Send the requested and the permanent filters; return answers for the requested ones."""
        named = [(one.at or one.spec).catch or "" for one in self._wanted]
        offered = self._client.capabilities.exception_breakpoint_filters or ()
        always = [one.filter for one in offered if one.filter in self._profile.exception_filters]
        filters = tuple(dict.fromkeys([*named, *always]))
        if not filters and not offered:
            return []
        self._judges_itself = await self._profile.catching(self._inside, self._wanted)
        conditions = self._conditions(always)
        self._judges_itself |= bool(conditions)
        plain = tuple(name for name in filters if name not in conditions)
        options = tuple(ask.FilterOptions(*one) for one in conditions.items())
        body = await self._inside.request(
            "setExceptionBreakpoints",
            ask.SetExceptionBreakpoints(plain, options or None),
            dap.BreakpointsBody,
        )
        told = dict(zip([*plain, *conditions], body.breakpoints, strict=False))
        return [told.get(name, dap.Breakpoint(verified=True)) for name in named]

    def _conditions(self, always: Sequence[str]) -> dict[str, str]:
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
    def judges(self) -> bool:
        """Whether a stop at an exception has to be filtered by type before it is reported."""
        has_types = any(one.spec.type is not None for one in self._wanted)
        return has_types and not self._judges_itself

    async def stands(self, stop: Stopped) -> bool:
        """Return whether an exception is of a requested type, or no types were requested.

        An uncaught exception is always reported.
        """
        types = [one.spec.type for one in self._wanted if one.spec.type is not None]
        if self._judges_itself or not types or len(types) < len(self._wanted):
            return True
        return await self.is_one_of(stop, types)

    async def is_one_of(self, stop: Stopped, types: Sequence[str]) -> bool:
        """Return whether an exception is of one of these types, uncaught, or unknown."""
        details, mode = await self.details(stop)
        if details is None or mode in {"unhandled", "userUnhandled"}:
            return True
        names = {details.type, details.type.rpartition("::")[2], details.type.rpartition(".")[2]}
        return any(one in names for one in types)

    async def details(self, stop: Stopped) -> tuple[ExceptionDetails | None, str]:
        """Return the exception, and the mode in which it stopped (DAP: ExceptionBreakMode)."""
        own = await self._profile.exception(self._inside, stop)
        if own is not None:
            return own, "always"
        if not self._client.can("exceptionInfo") or stop.thread is None:
            return None, ""
        body = await self._inside.request(
            "exceptionInfo", ask.OfThread(stop.thread), dap.ExceptionInfoBody
        )
        return self._profile.details(convert.exception(body)), body.break_mode or ""
