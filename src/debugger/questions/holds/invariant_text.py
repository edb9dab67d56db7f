"""Splits the text of an invariant: its operands, and the names that it reads. Pure."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

from debugger.errors import DebuggerError, ErrorCode

OPERANDS_MAX = 6  # of one invariant
_LITERAL = re.compile(
    r"(?:[-+]?[\d.][\w.]*|0x[\da-fA-F]+|\"[^\"]*\"|'[^']*'|None|True|False|true|false|null|nil"
    r"|nullptr|NULL|undefined)\Z"
)
# Longer ones first. `->` is no comparison, and `<` of a template is not told apart.
_BETWEEN = re.compile(
    r"&&|\|\||===|!==|==|!=|<=|>=|<<|>>|->|<|>|\band\b|\bor\b|\bnot\s+in\b|\bin\b|\bis\s+not\b"
    r"|\bis\b"
)
_OPERATORS = frozenset({"->", "<<", ">>"})  # a part of an operand
_CALL = re.compile(r"(?P<name>[A-Za-z_$][\w$.:]*(?:->\w+)*)\s*\((?P<given>.*)\)\Z", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_ARROW = re.compile(r"(?:\(([^()]*)\)|(?<![\w$.])([A-Za-z_$][\w$]*))\s*=>")
_STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")
_WORDS = frozenset(
    {"and", "or", "not", "in", "is", "if", "else", "for", "lambda", "None", "True", "False"}
    | {"true", "false", "null", "nil", "nullptr", "NULL", "undefined", "sizeof", "typeof", "new"}
    | {"instanceof", "await", "async", "const", "let", "var", "unsigned", "signed", "int", "long"}
    | {"char", "short", "float", "double", "bool", "struct", "void", "known", "result"}
)
_OPENING, _CLOSING = "([{", ")]}"


def split_operands(text: str) -> tuple[str, ...]:
    """Return the operands of an invariant, without literals: `a.n <= len(b)` gives both sides.

    Of a call alone, such as `is_sorted(x)`, they are its arguments, or the object of a method.
    """
    found: list[str] = []
    for part in _split_operators(text):
        one = _strip_outer(part)
        if not one:
            continue
        if one != part.strip() and len(list(_split_operators(one))) > 1:
            found += split_operands(one)
        elif not _LITERAL.match(one):
            found.append(one)
    if len(found) == 1 and (called := _CALL.match(found[0])) is not None:
        # A function that is passed says nothing by its value.
        passed = [one for one in _split_at(called["given"], ",") if one and "=>" not in one]
        given = [one for one in passed if not _LITERAL.match(one)]
        owner = re.split(r"\.|->|::", called["name"])[:-1]
        found = given or ([found[0][: called.end("name")].rpartition(".")[0]] if owner else [])
    shown = [name for one in found for name in (root_names(one) if " for " in one else (one,))]
    return tuple(dict.fromkeys(one for one in shown if one and one != "known"))[:OPERANDS_MAX]


def _split_operators(text: str) -> Iterator[str]:
    """Split at the comparisons and connectives outside of brackets and quotes."""
    start = 0
    for at, end in _outer_matches(text):
        yield text[start:at]
        start = end
    yield text[start:]


def _outer_matches(text: str) -> Iterator[tuple[int, int]]:
    depth, at = 0, 0
    while at < len(text):
        quoted = _STRING.match(text, at)
        if quoted is not None:
            at = quoted.end()
            continue
        letter = text[at]
        depth += (letter in _OPENING) - (letter in _CLOSING)
        found = _BETWEEN.match(text, at) if not depth else None
        if found is not None and (not text[at].isalpha() or not _is_in_word(text, at)):
            if found[0] not in _OPERATORS:
                yield at, found.end()
            at = found.end()
            continue
        at += 1


def _is_in_word(text: str, at: int) -> bool:
    return at > 0 and (text[at - 1].isalnum() or text[at - 1] in "_$.")


def _split_at(text: str, comma: str) -> list[str]:
    found, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in _OPENING) - (letter in _CLOSING)
        if letter == comma and not depth:
            found.append(text[start:at].strip())
            start = at + 1
    return [*found, text[start:].strip()]


def _strip_outer(text: str) -> str:
    """Remove a negation and the brackets around an operand."""
    one = text.strip()
    while True:
        before = one
        one = re.sub(r"\A(?:not\b|!(?!=))\s*", "", one).strip()
        if one.startswith("(") and one.endswith(")") and _closes_at_end(one):
            one = one[1:-1].strip()
        if one == before:
            return one


def _closes_at_end(text: str) -> bool:
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter in _OPENING) - (letter in _CLOSING)
        if not depth:
            return at == len(text) - 1
    return False


def root_names(text: str) -> tuple[str, ...]:
    """Return the names that an invariant reads, without fields, functions and keywords.

    Parameters of its own arrow functions are none.
    """
    plain = _STRING.sub(lambda match: " " * len(match[0]), text)
    own = {name for one in _ARROW.finditer(plain) for name in _NAME.findall(one[1] or one[2])}
    found: dict[str, None] = {}
    for match in _NAME.finditer(plain):
        before = plain[: match.start()].rstrip()
        after = plain[match.end() :].lstrip()
        is_field = before.endswith((".", "->", "::")) or before[-1:].isdigit() * bool(
            plain[match.start() - 1 : match.start()].isalnum()
        )
        if not is_field and not after.startswith(("(", "::")) and match[0] not in _WORDS | own:
            found[match[0]] = None
    return tuple(found)


def check_invariant(text: str, *, is_python: bool) -> None:
    """Check that a text can be an invariant.

    Raises:
        DebuggerError: USAGE.
    """
    hint = "one whole expression of Python: 'self.count == len(self.items)'"
    if not is_python:
        return
    try:
        ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError) as error:
        message = getattr(error, "msg", None) or error
        raise DebuggerError(
            ErrorCode.USAGE, f"{text!r} is not a Python expression: {message}", hint=hint
        ) from error


def parse_known_value(text: str, file: str) -> object:
    """Parse a known good value: JSON, or one Python literal.

    Raises:
        DebuggerError: USAGE.
    """
    try:
        value: object = json.loads(text)
    except ValueError:
        try:
            value = ast.literal_eval(text.strip())
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise DebuggerError(
                ErrorCode.USAGE,
                f"{file} is neither JSON nor one literal",
                hint="write the known good value as JSON: [1, 2, 3]",
            ) from error
    return value
