"""The observations of a crash, and the cause that is derived from them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from debugger.model.statement import MemoryAccess
from debugger.model.text_filters import clip_text

_NULL = re.compile(
    r"(?:\([^()]*\)\s*)?(?:0x0+(?![0-9a-fA-F])|NULL|nil|null|undefined|None|nullptr)(?:\s|$|<|\{)"
    r"|.*\bnil$"
)
_ZERO = re.compile(r"-?0(?:\.0*)?(?:u|l|ul|n)?$", re.IGNORECASE)
VALUE_MAX = 60  # characters
_SHOWN_MAX = 4  # values in the cause


class Cause(Struct, frozen=True):
    """The cause of a crash: a kind, and one line of text."""

    kind: str
    text: str
    notes: tuple[str, ...] = ()
    # The expression whose value is wrong, if the cause names one.
    culprit: str = ""
    # What a failed check compared it with, if that is no constant.
    compared_with: str = ""
    # Its value where the message alone tells it, as of a call's result.
    culprit_value: str = ""


class CrashFacts(Struct, frozen=True):
    """The observations from which a crash's cause is derived."""

    function: str
    place: str = ""
    signal: str | None = None
    exception: str | None = None
    message: str = ""
    fields: str = ""  # what the exception holds besides, as `{code: 4}`
    address: int | None = None
    # As `signals.classify_address` reports it, with `address_words`.
    address_kind: str = ""
    address_words: str = ""
    accesses: tuple[MemoryAccess, ...] = ()
    operands: tuple[str, ...] = ()
    # What its statement calls.
    called: tuple[str, ...] = ()
    # Of a failed check in several parts, the operands of the parts that decided.
    guilty: tuple[str, ...] = ()
    # Those of the assertion's whole condition.
    asserted: tuple[str, ...] = ()
    # Where the program itself raised the exception: the operands of the condition under which it
    # did, or else of the statement.
    reported: tuple[str, ...] = ()
    # What the exception complains about that this one replaced.
    replaced: str = ""
    # What an exception of Python, Ruby, PHP or JavaScript is about, by the syntax of what failed.
    suspect: str = ""
    # The values that a failed check compared, the suspect one first: of a script only an element.
    compared: tuple[str, ...] = ()
    # The calls whose results a failed check compared.
    compared_calls: tuple[str, ...] = ()
    # The call of the statement whose result was nothing, and whether its result can be followed.
    nothing_call: str = ""
    is_nothing_followed: bool = False
    # The values of expressions.
    values: Mapping[str, str] = {}
    # The end of the output.
    said: tuple[str, ...] = ()
    # The functions between the user's frame and the stop, innermost first.
    runtime: tuple[str, ...] = ()
    # A function that calls itself, and its depth.
    recursion: tuple[str, int] | None = None
    is_panic: bool = False
    # The outermost frame that the debugger gives is one of the recursion: there are more.
    is_recursion_cut: bool = False


def is_null(value: str) -> bool:
    """Return whether a value in a debugger's format is a null pointer or nothing."""
    return _NULL.match(value.strip()) is not None


def is_zero(value: str) -> bool:
    """Return whether a value in a debugger's format is the number 0."""
    return _ZERO.match(value.strip()) is not None


def format_values(facts: CrashFacts, names: Sequence[str]) -> str:
    """Format `a=1 b=2` for the expressions with known values."""
    pairs = [
        f"{one}={clip_text(facts.values[one], VALUE_MAX)}" for one in names if one in facts.values
    ]
    return " ".join(pairs[:_SHOWN_MAX])


def with_values(text: str, facts: CrashFacts, names: Sequence[str]) -> str:
    """Append the values of expressions to a sentence."""
    values = format_values(facts, names)
    return f"{text} with {values}" if values else text
