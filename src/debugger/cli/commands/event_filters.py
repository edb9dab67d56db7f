"""Parses the filters of `events`: kinds, times, durations, returned values."""

from __future__ import annotations

import difflib
import re
import time

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.events import EventKind
from debugger.session.timeline import Filters, ReturnedCondition, number_of

_AGO = re.compile(r"-([0-9]{1,9}(?:\.[0-9]{1,9})?)(ms|s|m)?")
_LASTING = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(ns|us|µs|μs|ms|s|m)")
_UNITS = {"ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9, "m": 6e10, None: 1e9}
_COMPARED = re.compile(r"(<=|>=|!=|==|<|>|=)\s*(.*)", re.DOTALL)
_PATTERN = re.compile(r"[*?\[]")
_HINT = "debugger events --help"


def parse_filters(
    *,
    kinds: tuple[str, ...] = (),
    function: str | None = None,
    file: str | None = None,
    text: str | None = None,
    thread: int | None = None,
    returned: str | None = None,
    min_duration: str | None = None,
    max_duration: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> Filters:
    """Return the filters that are asked for; of `since` and `until` those that are times.

    Raises:
        DebuggerError: USAGE for words that mean nothing.
    """
    least = _parse_duration("--min-duration", min_duration)
    most = _parse_duration("--max-duration", max_duration)
    if least is not None and most is not None and least > most:
        raise _usage_error(f"no duration is at least {min_duration} and at most {max_duration}")
    since_ns = None if since is None else _parse_ago(since)
    until_ns = None if until is None else _parse_ago(until)
    if since_ns is not None and until_ns is not None and since_ns > until_ns:
        raise _usage_error(f"no time is after {since} and up to {until}: -9s is before -1s")
    return Filters(
        kinds={_parse_kind(name) for name in kinds} or None,
        function=function,
        file=file,
        text=text,
        thread=thread,
        returned=None if returned is None else _parse_returned(returned),
        min_duration_ns=least,
        max_duration_ns=most,
        since_ns=since_ns,
        until_ns=until_ns,
    )


def parse_event_number(option: str, words: str | None) -> int | None:
    """Return the event's number that is meant; None where it is a time, or nothing.

    Raises:
        DebuggerError: USAGE for what is neither.
    """
    if words is None or _parse_ago(words) is not None:
        return None
    if re.fullmatch(r"[0-9]{1,18}", words):
        return int(words)
    raise DebuggerError(
        ErrorCode.USAGE,
        f"{option} is an event's number or -5s, not {words!r}",
        hint="debugger events",
    )


def _usage_error(message: str) -> DebuggerError:
    return DebuggerError(ErrorCode.USAGE, message, hint=_HINT)


def _parse_kind(name: str) -> EventKind:
    try:
        return EventKind(name)
    except ValueError:
        names = [kind.value for kind in EventKind]
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"debugger events --kind {near[0]}" if near else "debugger events"
        known = ", ".join(names)
        raise DebuggerError(
            ErrorCode.USAGE, f"no kind of event {name!r}; there are: {known}", hint=hint
        ) from None


def _parse_ago(words: str) -> int | None:
    """Return the time of the clock so long ago; None for what is no such time."""
    relative = _AGO.fullmatch(words)
    if relative is None:
        return None
    return time.monotonic_ns() - int(float(relative[1]) * _UNITS[relative[2]])


def _parse_duration(option: str, words: str | None) -> int | None:
    if words is None:
        return None
    found = _LASTING.fullmatch(words.strip())
    if found is None:
        raise _usage_error(f"{option} is a time like 5ms (ns, us, ms, s, m), not {words!r}")
    return round(float(found[1]) * _UNITS[found[2]])


def _parse_returned(words: str) -> ReturnedCondition:
    """Return a comparison (`<0`, `!=0`, `=5`), a value that is to be equal, or a pattern."""
    compared = _COMPARED.fullmatch(words)
    if compared is None:
        value = _parse_number(words)
        if value is not None:
            return ReturnedCondition("=", value)
        return ReturnedCondition("like" if _PATTERN.search(words) else "=", words)
    operator, right = compared[1].replace("==", "="), compared[2]
    value = _parse_number(right)
    if value is not None:
        return ReturnedCondition(operator, value)
    if operator in {"=", "!="} and right:
        return ReturnedCondition(operator, right)
    raise _usage_error(
        f"--returned {operator} takes a number, not {right!r}; "
        "a value that begins so is --returned '=VALUE'"
    )


def _parse_number(words: str) -> int | float | None:
    """Return the number that words are, as a whole."""
    return number_of(words.strip()) if len(words.split()) == 1 else None
