"""Splits an expression's text into tokens. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

from debugger.backends.inprocess.expressions.syntax_tree import expression_error, fault_at

LENGTH_MAX = 4_000  # characters


class TokenKind(Enum):
    """The sorts of tokens."""

    NAME = auto()
    REGISTER = auto()
    INTEGER = auto()
    REAL = auto()
    CHARACTER = auto()
    TEXT = auto()
    MARK = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class Token:
    """One token: what was written (of strings: what it means) and where."""

    sort: TokenKind
    text: str
    at: int


_WORD = r"(?:r\#)?[^\W\d]\w*"
# A template with its arguments, before one of its members; a file, before one of its statics.
_PART = rf"{_WORD}(?:<(?:[^<>()&|=]|<[^<>()&|=]*>)*>(?=\s*::))?"
_IN_FILE = r"(?:[\w./+-]*\w\.(?:c|cc|cpp|cxx|C|h|hh|hpp|rs)|'[\w./+-]+\.\w+')\s*::\s*"
_TOKEN = re.compile(
    rf"""
    (?P<space>[ \t]+)
  | (?P<static>{_IN_FILE}{_PART}(?:\s*::\s*~?{_PART})*)
  | (?P<real>(?:\d[\d_]*\.\d[\d_]*(?:[eE][+-]?\d+)?|\d[\d_]*[eE][+-]?\d+
             |\d[\d_]*\.(?![\w.]))(?:_?f32|_?f64|[fFlL])?(?!\w))
  | (?P<integer>\d\w*)
  | (?P<text>(?:u8|[LuUb])?(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'))
  | (?P<register>\$\w+)
  | (?P<name>(?:::\s*)?{_PART}(?:\s*::\s*~?{_PART})*)
  | (?P<mark>===|!==|<<=|>>=|->|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|[-+*/%&|^]=
             |[-+*/%<>!~&|^?:.,()\[\]=])
    """,
    re.VERBOSE,
)
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|([0-7]{1,3})|(.))"
)
_MEANS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}
_UNICODE_END = 0x110000
_SURROGATES = range(0xD800, 0xE000)


def split_tokens(text: str) -> list[Token]:
    """Split a text into tokens, with an END at its end.

    Raises:
        DebuggerError: EVALUATION_FAILED, saying where.
    """
    if len(text) > LENGTH_MAX:
        raise expression_error(
            f"an expression of {len(text):,} characters; at most {LENGTH_MAX:,} are read"
        )
    found = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise fault_at(text, at, _explain_letter(text[at]))
        sort = match.lastgroup
        if sort != "space":
            found.append(_make_token(text, sort or "", match[0], at))
        at = match.end()
    found.append(Token(TokenKind.END, "", len(text)))
    return found


def _explain_letter(letter: str) -> str:
    if letter in "\"'":
        return "a string that is not closed"
    if letter == "$":
        return "a register's name is missing"
    return f"{letter!r} has no meaning in an expression"


def _make_token(text: str, sort: str, said: str, at: int) -> Token:
    if sort == "text":
        return _quoted_token(text, said, at)
    if sort in {"name", "static"}:
        said = re.sub(r"\s*(::|[<>,*])\s*", r"\1", said)
        return Token(TokenKind.NAME, said.strip().replace("r#", ""), at)
    return Token(TokenKind[sort.upper()], said, at)


def _quoted_token(text: str, said: str, at: int) -> Token:
    prefix, quote, _ = re.split("([\"'])", said, maxsplit=1)
    body = said[len(prefix) + 1 : -1]

    def means(match: re.Match[str]) -> str:
        digits = match[1] or match[2] or match[3]
        code = int(digits, 16) if digits else int(match[4], 8) if match[4] else None
        if code is None:
            return _MEANS.get(match[5], match[5])
        if code >= _UNICODE_END or code in _SURROGATES:
            raise fault_at(text, at, f"{match[0]} is no character")
        return chr(code)

    letters = _ESCAPE.sub(means, body)
    is_one = quote == "'" and len(letters) == 1
    return Token(TokenKind.CHARACTER if is_one else TokenKind.TEXT, letters, at)
