"""Reads what PHP reports of exceptions: types, messages and causes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

# Kinds of PHP's own errors, which Xdebug reports as if they were exceptions.
_ERRORS = re.compile(
    r"(?:Fatal error|Parse error|Warning|Notice|Deprecated|Recoverable fatal error|Strict standards"
    r"|Xdebug|Catchable fatal error)\Z"
)
# Those that end the program.
_FATAL = re.compile(r"(?:Recoverable |Catchable )?[Ff]atal error\Z|Parse error\Z")
# One exception of the report, in PHP's own format: each cause before what it caused.
_REPORTED = re.compile(
    r"^(?:.*?Uncaught|Next) (?P<type>[\w\\]+)(?:@anonymous\S*)?(?:: (?P<message>.*?))?"
    r"(?: in (?:(?! in )[^\n])+:\d+\nStack trace:$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_CAUSES_MAX = 8


@dataclass(frozen=True)
class Thrown:
    """What was thrown at a stop; its causes are the nearest first."""

    type: str
    message: str
    is_uncaught: bool = False
    causes: tuple[Thrown, ...] = ()


def is_own_error(kind: str) -> bool:
    """Return whether it is an error of PHP's, and no exception."""
    return _ERRORS.match(kind) is not None


def parse_fatal(kind: str, text: str) -> Thrown | None:
    """Read an error that ends the program, and is no exception, as when memory is exhausted."""
    return Thrown(kind, text, is_uncaught=True) if _FATAL.match(kind) else None


def parse_uncaught(text: str) -> Thrown | None:
    """Parse PHP's report of an exception that nobody caught.

    None for any other error.
    """
    found = [
        Thrown(match["type"], match["message"] or "", is_uncaught=True)
        for match in _REPORTED.finditer(text)
    ]
    if not found:
        return None
    *causes, last = found
    return replace(last, causes=tuple(causes[::-1][:_CAUSES_MAX]))


def describe_thrown(thrown: Thrown) -> dict[str, Any]:
    """Describe an exception with its causes as DAP does (ExceptionDetails)."""
    return _describe_chain((thrown, *thrown.causes))


def _describe_chain(chain: Sequence[Thrown]) -> dict[str, Any]:
    first, *rest = chain
    inner = {"innerException": [_describe_chain(rest)]} if rest else {}
    return {"typeName": first.type, "message": first.message, **inner}
