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
    r"(?: in (?P<file>(?:(?! in )[^\n])+):(?P<line>\d+)\nStack trace:$|\Z)",
    re.MULTILINE | re.DOTALL,
)
# A call of its trace, with where it was made; functions of PHP's own have frames, too.
_CALL = re.compile(r"\n#\d+ (?P<file>[^\n]*)\((?P<line>\d+)\): (?P<function>[^\n(]+)\(")
_CAUSES_MAX = 8
_OF_HANDLER = "ErrorException"  # PHP's own class, and how frameworks name theirs


@dataclass(frozen=True)
class Thrown:
    """What was thrown at a stop; its causes are the nearest first."""

    type: str
    message: str
    is_uncaught: bool = False
    causes: tuple[Thrown, ...] = ()
    # The file and line that PHP reports for it, of what is uncaught.
    place: tuple[str, int] | None = None

    @property
    def is_of_handler(self) -> bool:
        """Whether an error handler made it of a warning, whose place it was given."""
        return self.place is not None and self.type.endswith(_OF_HANDLER)


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
    matches = list(_REPORTED.finditer(text))
    if not matches:
        return None
    places = [*(_locate_cause(match) for match in matches[:-1]), ""]
    *causes, last = (
        Thrown(match["type"], (match["message"] or "") + place, is_uncaught=True)
        for match, place in zip(matches, places, strict=True)
    )
    file, line = matches[-1]["file"], matches[-1]["line"]
    place = (file, int(line)) if file else None
    return replace(last, causes=tuple(causes[::-1][:_CAUSES_MAX]), place=place)


def _locate_cause(match: re.Match[str]) -> str:
    """Return where a cause was thrown: the function that was called elsewhere, and the line."""
    if not match["file"]:
        return ""
    place, at, function = (match["file"], match["line"]), match.end(), "{main}"
    while (call := _CALL.match(match.string, at)) is not None:
        at = match.string.find("\n", call.end())
        if (call["file"], call["line"]) != place:
            function = call["function"]
            break
    return f", in {function} {place[0].rpartition('/')[2]}:{place[1]}"


def describe_thrown(thrown: Thrown) -> dict[str, Any]:
    """Describe an exception with its causes as DAP does (ExceptionDetails)."""
    return _describe_chain((thrown, *thrown.causes))


def _describe_chain(chain: Sequence[Thrown]) -> dict[str, Any]:
    first, *rest = chain
    inner = {"innerException": [_describe_chain(rest)]} if rest else {}
    return {"typeName": first.type, "message": first.message, **inner}
