"""Parses JSON with comments and trailing commas, as editors' settings are written (JSONC). Pure."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

_DEPTH_MAX = 100
# A string is matched so that nothing inside it is taken for a comment, a comma or a bracket.
_STRING = r'"(?:[^"\\\n]|\\.)*"'
_COMMENT = re.compile(rf"{_STRING}|//[^\n]*|/\*.*?\*/", re.DOTALL)
# A comma without a value before it stays, and is refused.
_COMMA = re.compile(rf"{_STRING}|[\[{{,:]\s*,|,(?=\s*[\]}}])", re.DOTALL)
_BRACKET = re.compile(rf"{_STRING}|[\[\]{{}}]", re.DOTALL)
_NOT_LINE_END = re.compile(r"[^\n]")


class JsonSyntaxError(ValueError):
    """A text that is no JSON; its message names the line and the column."""


def parse_json_with_comments(text: str) -> Any:
    """Parse a JSON text with comments and trailing commas.

    Raises:
        JsonSyntaxError: It is anything else, or nested too deep.
    """
    # Blanks of the same length keep the lines and columns of what follows.
    plain = _COMMENT.sub(_blank_comment, text.removeprefix("\ufeff"))
    plain = _COMMA.sub(_blank_trailing_comma, plain)
    _check_depth(plain)
    try:
        return json.loads(plain, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise JsonSyntaxError(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except ValueError as error:  # a number of thousands of digits, or NaN
        raise JsonSyntaxError(str(error)[:200]) from None


def _blank_comment(match: re.Match[str]) -> str:
    found = match[0]
    return found if found.startswith('"') else _NOT_LINE_END.sub(" ", found)


def _blank_trailing_comma(match: re.Match[str]) -> str:
    return " " if match[0] == "," else match[0]


def _check_depth(plain: str) -> None:
    depth = 0
    for match in _BRACKET.finditer(plain):
        if match[0] in "[{":
            depth += 1
        elif match[0] in "]}":
            depth -= 1
        if depth > _DEPTH_MAX:
            raise JsonSyntaxError(f"nested more than {_DEPTH_MAX} deep")


def _refuse_constant(name: str) -> NoReturn:
    raise JsonSyntaxError(f"{name} is no JSON")
