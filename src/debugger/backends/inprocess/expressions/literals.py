"""Parses numbers, characters and strings of an expression. Pure."""

from __future__ import annotations

import re

from debugger.backends.inprocess.expressions import syntax_tree
from debugger.backends.inprocess.expressions.syntax_tree import Tree, fault_at
from debugger.backends.inprocess.expressions.tokens import Token, TokenKind

_INTEGER = re.compile(
    r"(?:0[xX](?P<x>[0-9a-fA-F_]+?)|0[bB](?P<b>[01_]+?)|0[oO](?P<o>[0-7_]+?)|(?P<d>\d[\d_]*?))"
    r"_?(?P<kind>[uU](?:ll|LL|[lL])?|(?:ll|LL|[lL])[uU]?|[ui](?:8|16|32|64|size))?\Z"
)
_BASES = {"x": 16, "b": 2, "o": 8, "d": 10}
_WIDEST = 1 << 64


def parse_literal(text: str, token: Token) -> Tree | None:
    """Read a token; None where it is no literal.

    Raises:
        DebuggerError: EVALUATION_FAILED.
    """
    match token.sort:
        case TokenKind.INTEGER:
            return _parse_integer(text, token)
        case TokenKind.REAL:
            plain = re.sub(r"_?(f32|f64|[fFlL])\Z", "", token.text).replace("_", "")
            return syntax_tree.RealTree(
                float(plain), token.text.endswith(("f", "F", "f32")), token.at
            )
        case TokenKind.CHARACTER:
            return syntax_tree.CharacterTree(ord(token.text), token.at)
        case TokenKind.TEXT:
            return syntax_tree.TextTree(token.text, token.at)
        case TokenKind.REGISTER:
            return syntax_tree.RegisterTree(token.text[1:], token.at)
    return None


def _parse_integer(text: str, token: Token) -> Tree:
    match = _INTEGER.match(token.text)
    if match is None:
        raise fault_at(text, token.at, f"{token.text!r} is no number")
    base, digits = next((base, match[base]) for base in _BASES if match[base])
    digits = digits.replace("_", "")
    if base == "d" and len(digits) > 1 and digits[0] == "0" and digits.strip("0"):
        raise fault_at(
            text,
            token.at,
            f"{token.text!r} is octal in C and decimal in Rust: write 0o{digits[1:]} or "
            f"{digits.lstrip('0')}",
        )
    value = int(digits, _BASES[base]) if digits else _WIDEST
    if value >= _WIDEST:
        raise fault_at(text, token.at, f"{token.text!r} does not fit in 64 bits")
    return syntax_tree.IntegerTree(value, (match["kind"] or "").lower(), base == "d", token.at)
