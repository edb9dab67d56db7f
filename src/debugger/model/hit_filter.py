"""Defines the filter of hits that commands share: its value, its options, their meaning. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

import msgspec
from msgspec import Struct

from debugger.errors import DebuggerError, ErrorCode
from debugger.model.command_registry import Option, OptionGroup, Parameter
from debugger.model.debugger_words import one_line

COUNT_MAX = 1_000_000
LAST_MAX = 1000  # hits kept in memory until the run has ended
_CONDITIONAL = re.compile(r"(?P<place>\S.*?)\s+if\s+(?P<when>\S.*)\Z")


class HitEvent(Struct, frozen=True):
    """A location that begins or ends the hits that count, with an optional condition."""

    place: str
    when: str | None = None

    @property
    def text(self) -> str:
        """The event as a user types it."""
        return self.place if self.when is None else f"{self.place} if {self.when}"


class HitFilter(Struct, frozen=True):
    """Which hits of a location count.

    A hit is tested in this order: thread, `inside`, `after` and `until`, condition, change; `nth`,
    `first` and `last` number the hits that are left.
    """

    conditions: tuple[str, ...] = ()  # one, or one for each location
    nth: int | None = None  # negative: counted from the last hit, -1
    first: int | None = None
    last: int | None = None
    changes: bool = False  # only hits at which a value differs from the hit before
    thread: int | None = None
    thread_name: str = ""  # in place of a number
    inside: str | None = None  # only below a call of this function
    after: HitEvent | None = None
    until: HitEvent | None = None

    @property
    def when(self) -> str | None:
        """The condition for all locations."""
        return self.conditions[0] if self.conditions else None

    @property
    def kept_last(self) -> int:
        """The number of last hits to keep until the end of the run; 0 where none need be kept."""
        if self.last is not None:
            return self.last
        return -self.nth if self.nth is not None and self.nth < 0 else 0

    def __bool__(self) -> bool:
        """Return whether the filter can omit a hit."""
        return self != HitFilter()

    def options(self) -> list[str]:
        """Return the options that repeat the filter on a command line."""
        events = (("--after", self.after), ("--until", self.until))
        pairs: list[tuple[str, object]] = [
            *(("--when", text) for text in self.conditions),
            ("--nth", "last" if self.nth == -1 else self.nth),
            ("--first", self.first),
            ("--last", self.last),
            ("--thread", self.thread_name or self.thread),
            ("--in", self.inside),
            *((flag, event.text) for flag, event in events if event is not None),
        ]
        words = [word for flag, one in pairs if one is not None for word in (flag, str(one))]
        return [*words, "--changes"] if self.changes else words


EVERY_HIT = HitFilter()


def parse_nth(text: str) -> int:
    """Parse the number of a hit: `3`, `last`, `-2`.

    Raises:
        DebuggerError: USAGE.
    """
    words = text.strip().lower().replace(",", "")
    if words in {"last", "first"}:
        return -1 if words == "last" else 1
    digits = words.removeprefix("#").removeprefix("-")
    number = int(digits) if digits.isdecimal() and len(digits) < len(str(COUNT_MAX)) + 1 else 0
    is_from_end = "-" in words
    if not 1 <= number <= (LAST_MAX if is_from_end else COUNT_MAX):
        raise DebuggerError(
            ErrorCode.USAGE,
            f"--nth counts from 1 to {COUNT_MAX:,}, or -1 (last) to -{LAST_MAX:,}, not {text!r}",
            hint="--nth 3 is the third hit, --nth last the last, --nth -2 the one before it",
        )
    return -number if is_from_end else number


def parse_event(text: str) -> HitEvent:
    """Parse an event: a location, or `LOC if CONDITION`.

    Raises:
        DebuggerError: USAGE.
    """
    one_line(text)
    words = text.strip()
    matched = _CONDITIONAL.match(words)
    if matched is None:
        return HitEvent(words)
    return HitEvent(matched["place"], matched["when"].strip())


def build_hit_filter(
    command: str,
    *,
    when: tuple[str, ...] = (),
    nth: str | None = None,
    first: int | None = None,
    last: int | None = None,
    changes: bool = False,
    thread: str | int | None = None,
    inside: str | None = None,
    after: str | None = None,
    until: str | None = None,
) -> HitFilter:
    """Build the filter from the values of its options.

    Raises:
        DebuggerError: USAGE for a value that is out of range, and for options that exclude
            each other.
    """
    counted = {"--nth": nth, "--first": first, "--last": last}
    given = [flag for flag, one in counted.items() if one is not None]
    if len(given) > 1:
        retained = f"{given[0]} {counted[given[0]]}"
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{command}: {' and '.join(given)} exclude each other: each chooses hits by number",
            hint=f"give one of them: {retained}",
        )
    for flag, number, most in (("--first", first, COUNT_MAX), ("--last", last, LAST_MAX)):
        if number is not None and not 1 <= number <= most:
            raise DebuggerError(
                ErrorCode.USAGE,
                f"{flag} is 1 to {most:,}, not {number}",
                hint=f"{flag} 3 is three hits",
            )
    thread = "" if thread is None else str(thread).strip()
    is_number = re.fullmatch(r"-?\d+", thread) is not None
    if is_number and int(thread) < 0:  # js-debug's main thread is 0
        raise DebuggerError(
            ErrorCode.USAGE,
            f"no thread has the number {thread}",
            hint="a row's thread number is shown where several threads hit",
        )
    for text in (*when, *filter(None, (inside,))):
        one_line(text)
    return HitFilter(
        conditions=when,
        nth=parse_nth(nth) if nth is not None else None,
        first=first,
        last=last,
        changes=changes,
        thread=int(thread) if is_number else None,
        thread_name="" if is_number else thread,
        inside=inside.strip() if inside is not None else None,
        after=parse_event(after) if after is not None else None,
        until=parse_event(until) if until is not None else None,
    )


_MANY = tuple[str, ...]
_OPTIONS: tuple[tuple[str, Any, Any, Option], ...] = (
    (
        "when",
        _MANY,
        (),
        Option(
            "--when",
            help="only hits at which it is true; also --if, --condition, -c",
            metavar="COND",
            also=("--if", "--condition", "--cond", "-c"),
        ),
    ),
    ("nth", str | None, None, Option("--nth", help="only this hit: 3, last, -2", metavar="K")),
    (
        "first",
        int | None,
        None,
        Option(
            "--first",
            help="only the first N hits, then end; also --limit",
            metavar="N",
            also=("--limit",),
        ),
    ),
    ("last", int | None, None, Option("--last", help="only the last N hits", metavar="N")),
    (
        "changes",
        bool,
        False,
        Option("--changes", help="only hits at which a value differs from the hit before"),
    ),
    (
        "thread",
        str | None,
        None,
        Option(
            "--thread",
            help="only of this thread: its number or its name",
            metavar="N",
        ),
    ),
    (
        "inside",
        str | None,
        None,
        Option("--in", help="only hits below a call of this function", metavar="FUNCTION"),
    ),
    (
        "after",
        str | None,
        None,
        Option("--after", help="only hits after this one: LOC, or 'LOC if COND'", metavar="EVENT"),
    ),
    (
        "until",
        str | None,
        None,
        Option("--until", help="only hits before this one", metavar="EVENT"),
    ),
)
HIT_OPTIONS = OptionGroup(
    tuple(Parameter(name, kind, default, about) for name, kind, default, about in _OPTIONS),
    build_hit_filter,
)
Hits = Annotated[HitFilter, HIT_OPTIONS]


def refuse_thread_name(hits: HitFilter) -> None:
    """Reject a thread's name, for what knows threads by their numbers alone.

    Raises:
        DebuggerError: USAGE.
    """
    if hits.thread_name:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"no thread is known here by its name ({hits.thread_name})",
            hint="give its number, which debugger threads or a row of probe shows",
        )


class Refusal(Struct, frozen=True):
    """Why a command cannot take an option of the filter, and what to use instead."""

    reason: str
    hint: str


_WHOLE_RUN = "probe --at LOC EXPR --last N -- CMD shows the last hits of a whole run"
FUTURE_UNKNOWN = Refusal("the program's future is not known", _WHOLE_RUN)
NO_CALLERS = Refusal(
    "a logpoint does not show its callers",
    "break LOC --in FUNCTION stops there; probe --in FUNCTION shows values of a run",
)
# The refusals of a command that runs to one hit.
RUN_TO_REFUSALS = {
    "last": FUTURE_UNKNOWN,
    "first": Refusal("it stops once", "--nth K runs to the Kth hit"),
    "changes": Refusal("it compares no values", "watch EXPR stops when a value changes"),
}
# The refusals of a breakpoint, which stops a running program.
STOP_REFUSALS = {
    "last": FUTURE_UNKNOWN,
    "changes": Refusal(
        "a breakpoint has no values to compare",
        "watch EXPR stops when a value changes; probe --changes shows a run's changes",
    ),
}


def refuse_options(
    refused: Mapping[str, Refusal],
    *,
    help: Mapping[str, str] | None = None,  # noqa: A002 - the field's standard word
    also: Mapping[str, tuple[str, ...]] | None = None,
    without: frozenset[str] = frozenset(),
    unlisted: frozenset[str] = frozenset(),
    takes_thread_names: bool = False,
) -> OptionGroup:
    """Return the filter's options for a command that cannot take some of them.

    Those are understood, and refused with the reason. `help` replaces help texts, and `also`
    spellings that are understood and not listed. `without` names options that the command has
    under the same spelling with another meaning; `unlisted` are taken, and not in the help. Where
    threads are known by their numbers alone, a name is none.
    """
    texts, spellings = help or {}, also or {}
    parameters = []
    for one in (each for each in HIT_OPTIONS.parameters if each.name not in without):
        about = one.about
        assert isinstance(about, Option)
        is_number = one.name == "thread" and not takes_thread_names
        usual = "only of this thread: its number" if is_number else about.help
        changed = about.changed(
            help=texts.get(one.name, usual),
            also=spellings.get(one.name, about.also),
            is_hidden=one.name in refused or one.name in unlisted,
        )
        parameters.append(replace(one, about=changed, type=int | None if is_number else one.type))
    flags = {one.name: one.about.flags[0] for one in parameters if isinstance(one.about, Option)}

    def build(command: str, **given: Any) -> HitFilter:
        for name, value in given.items():
            if name in refused and value not in {None, False, ()}:
                raise DebuggerError(
                    ErrorCode.USAGE,
                    f"{command} cannot take {flags[name]}: {refused[name].reason}",
                    hint=refused[name].hint,
                )
        return build_hit_filter(command, **given)

    return OptionGroup(tuple(parameters), build)


def require_one_condition(command: str, hits: HitFilter) -> str | None:
    """Return the filter's only condition.

    Raises:
        DebuggerError: USAGE for several conditions.
    """
    if len(hits.conditions) > 1:
        raise DebuggerError(
            ErrorCode.USAGE,
            f"{command} takes one condition, not {len(hits.conditions)}",
            hint="join them in the program's language: --when 'a > 1 and b' or 'a > 1 && b'",
        )
    return hits.when


# The help of a command that explains the value at one hit.
ONE_HIT_HELP = {
    "when": "only hits of LOC at which it is true; also --if, --condition, -c",
    "nth": "at this hit of LOC: 3, last, -2 (1)",
}
# What it takes as the number of that hit: --first 1, --last 1.
ONE_HIT_NUMBERS = frozenset({"first", "last"})


def is_plain_number(hits: HitFilter) -> bool:
    """Return whether a filter is the number of a hit, with a condition at most."""
    return hits == HitFilter(conditions=hits.conditions, nth=hits.nth)


def require_one_hit(command: str, hits: HitFilter) -> HitFilter:
    """Return the filter with the number of the one hit that it chooses, the first by default.

    Raises:
        DebuggerError: USAGE for several conditions, and for a number of hits.
    """
    require_one_condition(command, hits)
    for flag, number, sign in (("--first", hits.first, ""), ("--last", hits.last, "-")):
        if number is not None and number > 1:
            raise DebuggerError(
                ErrorCode.USAGE,
                f"{command} explains the value at one hit, and {flag} {number} are {number}",
                hint=f"--nth {sign}{number} is one of them: debugger {command} EXPR --at LOC "
                f"--nth {sign}{number} -- CMD",
            )
    nth = -1 if hits.last is not None else hits.nth or 1
    return msgspec.structs.replace(hits, nth=nth, first=None, last=None)
